//! What could carry one volume: for each type of disk the least that does.
//!
//! A tier (such as P30) gets the fewest disks that carry it: more disks cost more and load the
//! machine no less. A type whose size or limits are chosen gets, for each number of disks, the
//! smallest size and limits: the price rises with each of them, and the free part is free for each
//! disk. A candidate is left out where another one of its type costs no more, takes no more disk
//! slots and takes no more of the machine.

use catalog::cost::Storage;
use volume::design::{Disk, Limit, Provisioned};
use volume::limits::{Flow, path};
use volume::{CacheMode, Design};

use crate::bill;
use crate::credited::BurstCap;
use crate::kind::{DiskKind, chunk_bytes};
use crate::market::Market;
use crate::need::{Demand, Need, PhaseNeed, VolumeNeed};
use crate::price::Price;
use crate::uses::{CapUses, N_MACHINE, N_OWN, Probe, ROUNDING, times};

/// Disks that carry the load of a volume.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    /// Position of the type in the market; `None` for disks of the machine itself.
    pub(crate) kind: Option<usize>,
    /// Disks that are attached.
    pub(crate) n_disks: u32,
    /// Disks of the machine itself.
    pub(crate) n_local: u32,
    pub(crate) cache: CacheMode,
    pub(crate) chunk_bytes: u64,
    pub(crate) size_bytes: u64,
    /// Operations of each disk, where they are chosen.
    pub(crate) iops: Option<u64>,
    /// Bytes per second of each disk, where they are chosen.
    pub(crate) throughput: Option<u64>,
    pub(crate) price: Price,
    /// How often the disks' own caps hold what is asked; at least 1.
    pub(crate) times: f64,
    /// What is taken of the machine's caps, by phase.
    pub(crate) uses: Vec<[f64; N_MACHINE]>,
    /// What an I/O of the captured series takes of them.
    pub(crate) per_io: [f64; N_MACHINE],
    /// Of a type that a machine has something once for: whether these disks have it, or those of a
    /// volume before.
    pub(crate) has_base: Option<bool>,
}

impl Candidate {
    /// Returns whether nothing speaks for another one of the same type and cache mode.
    fn beats(&self, other: &Candidate) -> bool {
        let rank = |it: &Candidate| (it.price.is_open, it.price.is_unpriced);
        let is_as_cheap = rank(self) == rank(other) && self.price <= other.price;
        let is_as_good = self.price < other.price || self.times >= other.times;
        let uses = |it: &Candidate| it.uses.iter().chain([&it.per_io]).flatten().copied().collect();
        let (own, others): (Vec<f64>, Vec<f64>) = (uses(self), uses(other));
        is_as_cheap
            && is_as_good
            && self.n_disks <= other.n_disks
            && own.iter().zip(&others).all(|(own, other)| own <= other)
    }
}

/// How a volume is looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VolumeContext<'a> {
    /// The load of all volumes; for names of phases.
    pub(crate) need: &'a Need,
    /// Position of the volume.
    pub(crate) volume: usize,
    pub(crate) cache: CacheMode,
    /// Share of reads at random places that hit.
    pub(crate) hit_ratio: f64,
    /// Operations of the volume in a month, by size of the pieces that are billed.
    pub(crate) month: Month,
}

/// What a volume does in a month, where operations are billed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Month {
    /// I/Os.
    pub(crate) ios: f64,
    /// Bytes of each.
    pub(crate) size_bytes: u64,
}

/// Pieces in which Standard HDD bills operations (disk types page).
const HDD_PIECE_BYTES: u64 = 16 << 10;

impl Month {
    /// Returns what a volume does in a month of so many hours: its first phase for all of them.
    pub(crate) fn of(volume: &VolumeNeed, month_hours: f64) -> Self {
        volume.phases.first().map_or(Month::default(), |usual| Month {
            ios: usual.iops * month_hours * 3600.0,
            size_bytes: usual.size_bytes,
        })
    }

    /// Returns the operations that are billed for each of so many disks of a type.
    fn operations(self, kind: &DiskKind<'_>, n_disks: u32) -> f64 {
        let piece = match kind.sku.family() {
            "Standard HDD" => Some(HDD_PIECE_BYTES),
            _ => kind.disk.io_unit_bytes,
        };
        let pieces = volume::limits::size::io_units(self.size_bytes, piece);
        self.ios * pieces as f64 / f64::from(n_disks)
    }
}

/// The load of one disk type: loads by phase, for a disk alone and for one of several.
pub(crate) struct DiskLoads {
    alone: Vec<CapUses>,
    striped: Vec<CapUses>,
    /// What an I/O of the captured series takes, alone and striped.
    ios: [CapUses; 2],
    /// I/Os per second of the series that caps without credits must carry.
    series_iops: f64,
    /// Phases that the series covers.
    is_covered: Vec<bool>,
}

impl VolumeContext<'_> {
    pub(crate) fn volume(&self) -> &VolumeNeed {
        &self.need.volumes[self.volume]
    }

    /// Returns every candidate, by type, the cheapest first.
    pub(crate) fn candidates(&self, market: &Market<'_>, n_disks_max: u32) -> Vec<Candidate> {
        let chunk_bytes = chunk_bytes(self.volume());
        let mut known: Vec<(&Disk, DiskLoads)> = Vec::new();
        let mut all: Vec<Candidate> = Vec::new();
        for (idx, kind) in market.kinds.iter().enumerate() {
            if self.cache != CacheMode::None && !kind.may_cache {
                continue;
            }
            let at = known.iter().position(|(disk, _)| counts_alike(disk, &kind.disk));
            let at = at.unwrap_or_else(|| {
                known.push((&kind.disk, self.asked(&kind.frame, &kind.disk, chunk_bytes)));
                known.len() - 1
            });
            let asked = &known[at].1;
            let most_ms = self.volume().latency_ms_max.unwrap_or(f64::INFINITY);
            if self.latency_s(&kind.frame, &kind.disk, chunk_bytes) * 1e3
                > most_ms * (1.0 + ROUNDING)
            {
                continue;
            }
            let fit = Fit { context: self, frame: &kind.frame, asked };
            let maker = CandidateMaker { fit, market, kind, idx, chunk_bytes, n_disks_max };
            if kind.sku.has_machine_base() {
                // Each beats those of its own sort alone: which one there may be is not known yet.
                all.extend(unbeaten(maker.all(Some(true))));
                if self.volume > 0 {
                    all.extend(unbeaten(maker.all(Some(false))));
                }
                continue;
            }
            let made = maker.all(None);
            let of_kind = unbeaten(made.clone());
            // What beats another one must not be what some machines do not take.
            if of_kind.iter().any(|it| !kind.fits_without_nitro(it.iops)) {
                let fits = |it: &Candidate| kind.fits_without_nitro(it.iops);
                all.extend(unbeaten(made.into_iter().filter(fits).collect()));
                all.extend(of_kind.into_iter().filter(|it| !fits(it)));
            } else {
                all.extend(of_kind);
            }
        }
        all.sort_by_key(|it| it.price);
        all
    }

    fn flows(&self) -> Vec<Vec<Flow>> {
        let of = |name: &str| {
            let phases = self.volume().phases.iter().filter(|phase| phase.phase == name);
            phases.flat_map(|phase| phase.flows(0, self.hit_ratio)).collect()
        };
        self.need.phases().into_iter().map(of).collect()
    }

    pub(crate) fn asked(&self, frame: &Design, disk: &Disk, chunk_bytes: u64) -> DiskLoads {
        let uses = |is_striped| {
            let mut probe = Probe::new(frame, disk, is_striped, chunk_bytes, self.cache);
            let of_phase = |flows: Vec<Flow>| {
                let mut sum = CapUses::default();
                for flow in &flows {
                    sum.add(&probe.uses(flow));
                }
                sum
            };
            self.flows().into_iter().map(of_phase).collect()
        };
        let series = self.need.series.as_ref();
        let load = series.and_then(|series| series.loads[self.volume].as_ref());
        let io = |is_striped| {
            let mut probe = Probe::new(frame, disk, is_striped, chunk_bytes, self.cache);
            let mut sum = CapUses::default();
            let one = load.map(|load| PhaseNeed { iops: 1.0, ..load.clone() });
            for flow in one.iter().flat_map(|one| one.flows(0, self.hit_ratio)) {
                sum.add(&probe.uses(&flow));
            }
            sum
        };
        let is_covered = |name: &str| self.need.is_covered(name, self.volume);
        let is_covered = self.need.phases().into_iter().map(is_covered).collect();
        let sustained = |series: &Demand| series.sustained(&[(self.volume, 1.0)]);
        DiskLoads {
            alone: uses(false),
            striped: uses(true),
            ios: [io(false), io(true)],
            series_iops: series.map_or(0.0, sustained),
            is_covered,
        }
    }

    /// Returns the longest mean latency of any phase without load, seconds.
    pub(crate) fn latency_s(&self, frame: &Design, disk: &Disk, chunk_bytes: u64) -> f64 {
        let probe = Probe::new(frame, disk, false, chunk_bytes, self.cache);
        let of_phase = |flows: Vec<Flow>| {
            let rates: f64 = flows.iter().filter_map(|flow| flow.demand).sum();
            let weighed =
                flows.iter().map(|flow| flow.demand.unwrap_or(0.0) * probe.latency_s(flow));
            if rates > 0.0 { weighed.sum::<f64>() / rates } else { 0.0 }
        };
        self.flows().into_iter().map(of_phase).fold(0.0, f64::max)
    }
}

/// Returns whether I/Os cost the same of two types' caps.
fn counts_alike(a: &Disk, b: &Disk) -> bool {
    let key = |disk: &Disk| {
        let known = [&disk.cap.iops, &disk.cap.bytes, &disk.write_iops].map(Option::is_some);
        (disk.io_unit_bytes, disk.merging, disk.write_costs, known)
    };
    key(a) == key(b)
}

/// Leaves out what another one beats.
fn unbeaten(all: Vec<Candidate>) -> Vec<Candidate> {
    let mut kept: Vec<Candidate> = Vec::new();
    for candidate in all {
        if kept.iter().any(|known| known.beats(&candidate)) {
            continue;
        }
        kept.retain(|known| !candidate.beats(known));
        kept.push(candidate);
    }
    kept
}

/// The limits of one disk: operations, writes where they have one of their own, bytes.
pub(crate) type OwnLimits<'a> = [Option<&'a Limit>; N_OWN];

/// Returns the limits of a disk.
pub(crate) fn limits_of(disk: &Disk) -> OwnLimits<'_> {
    [disk.cap.iops.as_ref(), disk.write_iops.as_ref(), disk.cap.bytes.as_ref()]
}

/// Says how many disks of one kind carry what is asked of a volume.
#[derive(Clone, Copy)]
pub(crate) struct Fit<'a> {
    pub(crate) context: &'a VolumeContext<'a>,
    /// A design with one such disk.
    pub(crate) frame: &'a Design,
    pub(crate) asked: &'a DiskLoads,
}

/// Makes the candidates of one type.
struct CandidateMaker<'a, 'e> {
    fit: Fit<'a>,
    market: &'a Market<'e>,
    kind: &'a DiskKind<'e>,
    idx: usize,
    chunk_bytes: u64,
    n_disks_max: u32,
}

const GIB: u64 = 1 << 30;

impl Fit<'_> {
    pub(crate) fn uses(&self, n_disks: u32) -> &[CapUses] {
        if n_disks > 1 { &self.asked.striped } else { &self.asked.alone }
    }

    /// Returns what an I/O of the captured series takes.
    pub(crate) fn per_io(&self, n_disks: u32) -> &CapUses {
        &self.asked.ios[usize::from(n_disks > 1)]
    }

    /// Returns how many times their load so many disks carry.
    pub(crate) fn times(&self, disk: OwnLimits<'_>, n_disks: u32) -> f64 {
        let of_cap = |(sustained, on_credits): (f64, Option<BurstCap<'_>>)| {
            on_credits.map_or(sustained, |it| it.times().max(sustained))
        };
        self.own(disk, n_disks).map(of_cap).into_iter().fold(f64::INFINITY, f64::min)
    }

    fn fits(&self, disk: OwnLimits<'_>, n_disks: u32) -> bool {
        self.own(disk, n_disks).into_iter().all(|(sustained, on_credits)| {
            sustained >= 1.0 - ROUNDING || on_credits.is_some_and(|it| it.holds())
        })
    }

    /// Returns, for each of the disks' own caps, how often it holds what is asked at its sustained
    /// rate, and its credits where there are some and a series was captured.
    fn own(&self, limits: OwnLimits<'_>, n_disks: u32) -> [(f64, Option<BurstCap<'_>>); N_OWN] {
        let n = f64::from(n_disks);
        let uses = self.uses(n_disks);
        std::array::from_fn(|cap| {
            let limit = limits[cap];
            let per_s = limit.map_or(f64::INFINITY, |limit| n * limit.per_s as f64);
            let of_phase = |uses: &CapUses| times(per_s, uses.own[cap]);
            let of_series = times(per_s, self.per_io(n_disks).own[cap] * self.asked.series_iops);
            let sustained = uses.iter().map(of_phase).fold(of_series, f64::min);
            let demand = self.context.need.series.as_ref();
            let on_credits = demand.zip(limit).and_then(|(demand, limit)| {
                let used = uses.iter().map(|uses| uses.own[cap]);
                Some(BurstCap {
                    credits: path::credits(n, limit)?,
                    window_s: self.frame.bucket_window_ns as f64 / 1e9,
                    demand,
                    per_io: vec![(self.context.volume, self.per_io(n_disks).own[cap])],
                    phases: used.zip(self.asked.is_covered.iter().copied()).collect(),
                })
            });
            (sustained, on_credits)
        })
    }

    fn capacity_bytes(&self) -> u64 {
        (self.context.volume().capacity_gib * GIB as f64).ceil() as u64
    }

    /// Returns the fewest disks that hold and carry what is asked; `None` where the most do not.
    pub(crate) fn fewest(&self, disk: &Disk, n_disks_max: u32) -> Option<u32> {
        let limits = limits_of(disk);
        let of_capacity = self.capacity_bytes().div_ceil(disk.size_bytes.max(1)).max(1);
        if of_capacity == 1 && self.fits(limits, 1) {
            return Some(1);
        }
        let (first, last) = (of_capacity.max(2), u64::from(n_disks_max));
        let fits = |n_disks: u64| self.fits(limits, n_disks as u32);
        least_of(first, last, fits).map(|n_disks| n_disks as u32)
    }
}

impl CandidateMaker<'_, '_> {
    /// Returns the least of each number of disks. `has_base` says whether they have what a machine
    /// has once for all disks of their type, where it has something.
    fn all(&self, has_base: Option<bool>) -> Vec<Candidate> {
        let terms = &self.market.terms;
        let made: Vec<Candidate> =
            match Provisioned::of(self.market.edition, terms.mb_bytes, self.kind.sku) {
                None => self.tier().into_iter().collect(),
                Some(kit) => {
                    let kit_of = |n_disks| match has_base {
                        Some(true) => kit.with_machine_base(n_disks),
                        Some(false) | None => kit.clone(),
                    };
                    let of = |n_disks| self.least(&kit_of(n_disks), n_disks);
                    (1..=self.n_disks_max).filter_map(of).collect()
                }
            };
        made.into_iter().map(|it| Candidate { has_base, ..it }).collect()
    }

    /// Returns the fewest disks of a tier.
    fn tier(&self) -> Option<Candidate> {
        let disk = &self.kind.disk;
        let n_disks = self.fit.fewest(disk, self.n_disks_max)?;
        Some(self.candidate(disk, n_disks, None, None))
    }

    /// Returns so many disks of a type with the least size and limits that carry what is asked.
    ///
    /// Each limit that is not chosen follows from the size, or from the one other limit that is
    /// chosen, and grows with it. So there is a least of each.
    fn least(&self, kit: &Provisioned<'_>, n_disks: u32) -> Option<Candidate> {
        let n = u64::from(n_disks);
        let capacity = self.fit.capacity_bytes().div_ceil(n).max(kit.size_min()).div_ceil(GIB);
        let (first_gib, last_gib) = (capacity.max(1), kit.size_max() / GIB);
        let largest = last_gib * GIB;
        let fits = |size_bytes, iops, throughput| {
            let figures = kit.figures(size_bytes, iops, throughput);
            figures.is_some_and(|(cap, write_iops)| {
                let limits = [cap.iops.as_ref(), write_iops.as_ref(), cap.bytes.as_ref()];
                self.fit.fits(limits, n_disks)
            })
        };
        let throughput = self.least_throughput(kit, n_disks);
        // Of operations as many as are asked, as allow the throughput, or as it follows from.
        let iops = match kit.iops_range(largest) {
            None => None,
            Some(range) => {
                let of_throughput = throughput.and_then(|bytes| kit.iops_for(bytes)).unwrap_or(0);
                let first = self.share(0, n_disks).max(of_throughput).max(*range.start());
                let last = *range.end();
                let is_enough = |iops: u64| fits(largest, Some(iops), throughput);
                Some(least_of(first, last, is_enough)?)
            }
        };
        let is_enough = |gib: u64| {
            let is_allowed =
                |iops: u64| kit.iops_range(gib * GIB).is_none_or(|range| iops <= *range.end());
            iops.is_none_or(is_allowed) && fits(gib * GIB, iops, throughput)
        };
        let size_bytes = least_of(first_gib, last_gib, is_enough)? * GIB;
        let (cap, write_iops) = kit.figures(size_bytes, iops, throughput)?;
        let disk = Disk { cap, write_iops, size_bytes, ..self.kind.disk.clone() };
        Some(self.candidate(&disk, n_disks, iops, throughput))
    }

    /// Returns the largest load on one of their own caps for each of so many disks.
    fn share(&self, cap_idx: usize, n_disks: u32) -> u64 {
        let of_series = self.fit.per_io(n_disks).own[cap_idx] * self.fit.asked.series_iops;
        let of_phases = self.fit.uses(n_disks).iter().map(|uses| uses.own[cap_idx]);
        let most = of_phases.fold(of_series, f64::max);
        (most * (1.0 - ROUNDING) / f64::from(n_disks)).ceil() as u64
    }

    /// Returns the least throughput, in whole units of the type, where it is chosen.
    fn least_throughput(&self, kit: &Provisioned<'_>, n_disks: u32) -> Option<u64> {
        let range = kit.throughput_range(kit.size_max(), None)?;
        let unit = kit.throughput_unit().max(1);
        let asked = self.share(2, n_disks).div_ceil(unit) * unit;
        Some(asked.max(*range.start()))
    }

    fn candidate(
        &self,
        disk: &Disk,
        n_disks: u32,
        iops: Option<u64>,
        throughput: Option<u64>,
    ) -> Candidate {
        let storage = bill::disks(disk, self.market.terms.mb_bytes, self.market.edition);
        let operations = self.fit.context.month.operations(self.kind, n_disks);
        let storage = storage.map(|one| Storage { count: n_disks, operations, ..one });
        let unsold = Price { is_unpriced: true, ..Price::default() };
        let mut price = storage.map_or(unsold, |storage| self.market.price(storage));
        price.is_open = !self.kind.is_known();
        Candidate {
            kind: Some(self.idx),
            n_disks,
            n_local: 0,
            cache: self.fit.context.cache,
            chunk_bytes: self.chunk_bytes,
            size_bytes: disk.size_bytes,
            iops,
            throughput,
            price,
            times: self.fit.times(limits_of(disk), n_disks),
            uses: self.fit.uses(n_disks).iter().map(|uses| uses.machine).collect(),
            per_io: self.fit.per_io(n_disks).machine,
            has_base: None,
        }
    }
}

/// Returns the least number of a range from which on something holds; `None` if it does not at the
/// end.
fn least_of(first: u64, last: u64, holds: impl Fn(u64) -> bool) -> Option<u64> {
    if first > last || !holds(last) {
        return None;
    }
    let (mut least, mut most) = (first, last);
    while least < most {
        let middle = least + (most - least) / 2;
        if holds(middle) {
            most = middle;
        } else {
            least = middle + 1;
        }
    }
    Some(least)
}
