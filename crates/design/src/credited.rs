//! Which caps of a design carry a need on burst credits, by the series that was captured.
//!
//! Those are caps of disks, and of the machine that the volumes share.

use volume::design::{Backing, Burst, Limit};
use volume::limits::credit::{Credits, Levels};
use volume::limits::{Bound, CapUse, Done, Flow, Scope, path, together};
use volume::{CapKind, Design};

use crate::need::{Demand, Need, PhaseNeed, SERIES_PHASE};
use crate::uses::{ROUNDING, times};

/// What credits do for a need.
#[derive(Clone, Debug, Default)]
pub(crate) struct Credited {
    /// Caps with credits, and how often they carry what is asked.
    caps: Vec<(Bound, Scope, String, f64)>,
    /// Volumes and phases that the series covers.
    covered: Vec<(u16, String)>,
    /// The design with those bursts alone that carry the need; `None` without a series.
    bursting: Option<Design>,
}

impl Credited {
    /// Looks at every cap of the disks of each volume, and at those of the machine.
    pub(crate) fn new(design: &Design, need: &Need, hit_ratios: &[f64]) -> Self {
        let mut credited = Credited::default();
        let Some(demand) = &need.series else { return credited };
        let names = need.phases();
        for idx in 0..need.volumes.len() {
            let known = names.iter().filter(|name| need.is_covered(name, idx));
            let known = known.copied().chain([SERIES_PHASE]);
            credited.covered.extend(known.map(|name| (idx as u16, name.to_owned())));
        }
        let flows = names.iter().map(|name| need.flows(name, hit_ratios));
        let of_phases: Vec<Vec<CapSum>> = flows.map(|flows| sums(design, &flows)).collect();
        let of_io = sums(design, &series_flows(demand, hit_ratios, |_| 1.0));
        for sum in of_phases.iter().flatten().chain(&of_io) {
            let cap = &sum.cap;
            let Some(credits) = cap.credits else { continue };
            if credited.times(cap).is_some() {
                continue;
            }
            let of = |sums: &[CapSum]| {
                let found = sums.iter().find(|known| known.cap.is_same(cap));
                found.map_or(Vec::new(), |found| found.by_volume.clone())
            };
            // What several volumes share is covered where the loads of all of them are.
            let is_covered = |name: &str| match cap.scope {
                Scope::Volume(idx) => need.is_covered(name, usize::from(idx)),
                Scope::Machine | Scope::Pool(_) | Scope::Clients => {
                    (0..need.volumes.len()).all(|idx| need.is_covered(name, idx))
                }
            };
            let phase = |(name, sums): (&&str, &Vec<CapSum>)| {
                (of(sums).iter().map(|it| it.1).sum(), is_covered(name))
            };
            let on_credits = BurstCap {
                credits,
                window_s: design.bucket_window_ns as f64 / 1e9,
                demand,
                per_io: of(&of_io),
                phases: names.iter().zip(&of_phases).map(phase).collect(),
            };
            let times = on_credits.times();
            credited.caps.push((cap.bound, cap.scope, cap.name.clone(), times));
        }
        credited.bursting = Some(credited.bursting(design));
        credited
    }

    /// Returns how many times its load the credits of a cap carry; `None` without any.
    pub(crate) fn times(&self, cap: &CapUse) -> Option<f64> {
        let mut caps = self.caps.iter();
        let key = (cap.bound, cap.scope, &cap.name);
        caps.find(|(bound, scope, name, _)| (*bound, *scope, name) == key).map(|it| it.3)
    }

    /// Returns what comes of the loads of a phase, with the credits that carry the need.
    pub(crate) fn done(&self, design: &Design, phase: &str, flows: &[Flow]) -> Vec<Done> {
        let Some(bursting) = &self.bursting else { return together(design, flows) };
        let is_covered = |volume: u16| self.covered.iter().any(|it| *it == (volume, phase.into()));
        let mut flows = flows.to_vec();
        for flow in &mut flows {
            flow.load.with_credits = is_covered(flow.volume);
        }
        together(bursting, &flows)
    }

    fn bursting(&self, design: &Design) -> Design {
        let mut design = design.clone();
        let carries = |kind: CapKind, scope: Scope| {
            let mut caps = self.caps.iter().filter(|it| (it.0, it.1) == (Bound::Cap(kind), scope));
            caps.all(|it| it.3 >= 1.0 - ROUNDING)
        };
        for (idx, volume) in design.volumes.iter_mut().enumerate() {
            let Backing::Disks(stripe) = &mut volume.backing else { continue };
            let scope = Scope::Volume(idx as u16);
            let has_iops = carries(CapKind::DiskIops, scope);
            let has_bytes = carries(CapKind::DiskBytes, scope);
            for disk in &mut stripe.disks {
                keep(&mut disk.cap.iops, has_iops);
                keep(&mut disk.write_iops, has_iops);
                keep(&mut disk.cap.bytes, has_bytes);
            }
        }
        if let Some(vm) = &mut design.vm {
            for (cap, kinds) in [
                (&mut vm.uncached, [CapKind::VmUncachedIops, CapKind::VmUncachedBytes]),
                (&mut vm.cached, [CapKind::VmCachedIops, CapKind::VmCachedBytes]),
            ] {
                keep(&mut cap.iops, carries(kinds[0], Scope::Machine));
                keep(&mut cap.bytes, carries(kinds[1], Scope::Machine));
            }
            if let Some(cap) = &mut vm.cached_write {
                keep(&mut cap.iops, false);
                keep(&mut cap.bytes, false);
            }
            keep(&mut vm.egress, false);
        }
        for client in &mut design.clients {
            keep(&mut client.egress, false);
        }
        design
    }
}

/// Takes the burst from a limit whose credits do not carry the need; one without an end stays.
fn keep(limit: &mut Option<Limit>, is_kept: bool) {
    let Some(limit) = limit else { return };
    limit.burst = limit.burst.filter(|Burst { bucket, .. }| is_kept || bucket.is_none());
}

/// What loads ask of a cap per second, by volume.
#[derive(Clone, Debug)]
pub(crate) struct CapSum {
    pub(crate) cap: CapUse,
    pub(crate) by_volume: Vec<(usize, f64)>,
}

/// Returns what an I/O of each volume of a series is, at rates by volume.
pub(crate) fn series_flows(
    demand: &Demand,
    hit_ratios: &[f64],
    iops: impl Fn(usize) -> f64,
) -> Vec<Flow> {
    let of_volume = |(idx, load): (usize, &Option<PhaseNeed>)| {
        let load = load.as_ref().map(|load| PhaseNeed { iops: iops(idx), ..load.clone() });
        load.map_or(Vec::new(), |load| load.flows(idx as u16, hit_ratios[idx]))
    };
    demand.loads.iter().enumerate().flat_map(of_volume).collect()
}

/// Returns what loads ask of every cap.
pub(crate) fn sums(design: &Design, flows: &[Flow]) -> Vec<CapSum> {
    let mut all: Vec<CapSum> = Vec::new();
    for flow in flows {
        let volume = usize::from(flow.volume);
        for cap in path::caps(design, flow.volume, &flow.load) {
            let used = flow.demand.unwrap_or(0.0) * cap.per_io;
            let at = all.iter().position(|known| known.cap.is_same(&cap)).unwrap_or(all.len());
            if at == all.len() {
                all.push(CapSum { cap, by_volume: Vec::new() });
            }
            let by_volume = &mut all[at].by_volume;
            match by_volume.iter_mut().find(|(known, _)| *known == volume) {
                Some((_, sum)) => *sum += used,
                None => by_volume.push((volume, used)),
            }
        }
    }
    all
}

/// A cap with credits, and what is asked of it.
#[derive(Clone, Debug)]
pub(crate) struct BurstCap<'a> {
    pub(crate) credits: Credits,
    pub(crate) window_s: f64,
    pub(crate) demand: &'a Demand,
    /// What an I/O of the series takes of it, by volume.
    pub(crate) per_io: Vec<(usize, f64)>,
    /// What each phase asks per second, and whether the series covers all of it. For other loads it
    /// is not known how long they last: they are carried at the sustained rate.
    pub(crate) phases: Vec<(f64, bool)>,
}

/// Most halvings in which a factor is found.
const N_HALVINGS: usize = 60;

/// Part of a factor to which it is found: far below the least difference that ranks.
const FACTOR_STEP: f64 = 1e-12;

impl BurstCap<'_> {
    /// Returns how many times all that is asked the rates carry, however long credits last.
    fn times_max(&self) -> f64 {
        let Credits { base, burst, .. } = self.credits;
        let of = |(used, covered): &(f64, bool)| times(if *covered { burst } else { base }, *used);
        self.phases.iter().map(of).fold(f64::INFINITY, f64::min)
    }

    fn carries_series(&self, factor: f64) -> bool {
        let mut levels = Levels::new(self.credits.base, Some(self.credits), self.window_s);
        let mut short_s = 0.0;
        self.demand.asked(&self.per_io).all(|(asked, span_s)| {
            if !levels.pass(asked * factor, span_s) {
                short_s += span_s;
            }
            self.demand.may_be_short(short_s)
        })
    }

    /// Returns whether credits carry what is asked.
    pub(crate) fn holds(&self) -> bool {
        self.times_max() >= 1.0 - ROUNDING && self.carries_series(1.0)
    }

    /// Returns the most times that what is asked is carried on credits.
    pub(crate) fn times(&self) -> f64 {
        let most = self.times_max();
        if most.is_infinite() || self.carries_series(most) {
            return most;
        }
        let (mut low, mut high) = (0.0, most);
        for _ in 0..N_HALVINGS {
            if high - low <= low * FACTOR_STEP {
                break;
            }
            let middle = f64::midpoint(low, high);
            *(if self.carries_series(middle) { &mut low } else { &mut high }) = middle;
        }
        low
    }
}
