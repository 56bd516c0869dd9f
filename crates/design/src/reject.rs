//! Rejection not a cheaper one: what comes next to a design at a lower price, and what rejects it.

use volume::limits::Bound;

use crate::group::Limits;
use crate::judge::{Judged, judge};
use crate::kind::chunk_bytes;
use crate::make;
use crate::market::Market;
use crate::need::Need;
use crate::price::Price;
use crate::rank::{ChosenDisks, Ranked};
use crate::search::Options;
use crate::uses::ROUNDING;

/// What rejects a design.
#[derive(Clone, Debug, PartialEq)]
pub enum Rejection {
    /// A cap carries less than the load on it.
    Cap {
        /// Phase.
        phase: String,
        /// The cap, such as `disk_iops`.
        cap: Bound,
        /// Whose it is: `3 x P30`.
        whose: String,
        /// What it carries per second.
        carries: f64,
        /// The load on it per second.
        asked: f64,
    },
    /// A volume is too small.
    Capacity {
        /// Where it is mounted.
        mount: String,
        /// What it has, GiB.
        has_gib: f64,
        /// What is asked, GiB.
        asked_gib: f64,
    },
    /// A volume's latency is too long.
    Latency {
        /// Where it is mounted.
        mount: String,
        /// What it has, milliseconds.
        has_ms: f64,
        /// What is asked, milliseconds.
        asked_ms: f64,
    },
    /// The machine has too few processors.
    Vcpus {
        /// What it has.
        has: f64,
    },
    /// The machine has too little memory.
    Memory {
        /// What it has, GiB.
        has_gib: f64,
    },
    /// It has fewer places for disks.
    Places {
        /// Places that it has.
        has: u32,
        /// Disks of the design.
        asked: u32,
    },
    /// It takes no premium disks.
    Premium,
    /// It takes none of this type, or none with this host cache.
    Disks,
    /// It has no such local disks.
    LocalDisks,
}

/// A design that is cheaper and rejected.
#[derive(Clone, Debug, PartialEq)]
pub struct Rejected {
    /// What is other than in the design: `Standard_D4s_v3`, `3 x P30 at /mnt/data`.
    pub change: String,
    /// What it would cost.
    pub price: Price,
    /// What rejects it, the worst first.
    pub why: Rejection,
}

/// Returns, for a design that was found, the dearest of the cheaper ones that differ in one thing:
/// the machine, the number of disks, the type of disk.
pub fn rejected(
    market: &Market<'_>,
    need: &Need,
    ranked: &Ranked,
    options: &Options,
) -> Vec<Rejected> {
    let asked = need.times(1.0 + options.headroom);
    let search = RejectionSearch { market, need: &asked, ranked };
    let mut all = search.machines(N_EACH);
    for volume in 0..ranked.volumes.len() {
        all.extend(search.fewer(volume));
        all.extend(search.types(volume, N_EACH));
    }
    all
}

/// Most that are returned of each sort.
const N_EACH: usize = 3;

struct RejectionSearch<'a, 'e> {
    market: &'a Market<'e>,
    need: &'a Need,
    ranked: &'a Ranked,
}

impl RejectionSearch<'_, '_> {
    /// Looks at cheaper machines with the same disks, the dearest first.
    fn machines(&self, n_most: usize) -> Vec<Rejected> {
        let machines = self.market.groups.iter();
        let machines =
            machines.flat_map(|group| group.machines.iter().map(move |it| (&group.limits, it)));
        // Of machines whose memory or processors are not known too, the price alone counts.
        let own = Price { is_open: false, ..self.ranked.machine_price };
        let is_cheaper = |price: Price| price < own && price.is_unpriced == own.is_unpriced;
        let mut cheaper: Vec<_> = machines.filter(|(_, it)| is_cheaper(it.price)).collect();
        cheaper.sort_by_key(|(_, machine)| std::cmp::Reverse(machine.price));
        let mut found = Vec::new();
        for (limits, machine) in cheaper {
            if found.len() == n_most {
                break;
            }
            let (name, interface) = (machine.name.clone(), machine.interface);
            let design = Ranked { machine: name, interface, ..self.ranked.clone() };
            let price = machine.price + self.of_disks();
            let short = |least: Option<f64>, has: Option<f64>| {
                has.filter(|has| least.is_some_and(|least| *has < least * (1.0 - ROUNDING)))
            };
            let is_on_local = design.volumes.iter().any(ChosenDisks::is_local);
            let lacks_local = is_on_local && machine.local.is_none();
            let why = if lacks_local {
                Some(Rejection::LocalDisks)
            } else if let Some(why) = lacks_places(self.market, &self.ranked.volumes, limits) {
                Some(why)
            } else if let Some(has) = short(self.need.vcpus, machine.vcpus) {
                Some(Rejection::Vcpus { has })
            } else if let Some(has_gib) = short(self.need.memory_gib, machine.memory_gib) {
                Some(Rejection::Memory { has_gib })
            } else {
                self.why(&design)
            };
            found.extend(why.map(|why| Rejected { change: machine.name.clone(), price, why }));
        }
        found
    }

    /// Looks at one disk fewer.
    fn fewer(&self, volume: usize) -> Option<Rejected> {
        let chosen = &self.ranked.volumes[volume];
        if chosen.n_disks < 2 || chosen.is_sized || chosen.is_local() {
            return None;
        }
        let price = Price {
            micro_usd: chosen.price.micro_usd / u64::from(chosen.n_disks)
                * u64::from(chosen.n_disks - 1),
            ..chosen.price
        };
        self.instead(volume, ChosenDisks { n_disks: chosen.n_disks - 1, price, ..chosen.clone() })
    }

    /// Looks at as many disks of cheaper tiers of the family, the dearest first.
    fn types(&self, volume: usize, n_most: usize) -> Vec<Rejected> {
        let own = &self.ranked.volumes[volume];
        let family = |name: &str| self.market.edition.disk(name).map(catalog::Disk::family);
        let of_family = family(&own.disk);
        let is_tier = |kind: &&crate::kind::DiskKind<'_>| {
            !kind.sku.is_free() && Some(kind.sku.family()) == of_family
        };
        let tiers = self.market.kinds.iter().filter(is_tier);
        let mut cheaper: Vec<ChosenDisks> = tiers
            .filter_map(|kind| {
                let one =
                    crate::bill::disks(&kind.disk, self.market.terms.mb_bytes, self.market.edition);
                let storage = catalog::cost::Storage { count: own.n_disks, ..one.ok()? };
                let price = self.market.price(storage);
                let is_cheaper = price < own.price && price.is_unpriced == own.price.is_unpriced;
                is_cheaper.then(|| ChosenDisks {
                    disk: kind.sku.name.clone(),
                    size_bytes: kind.disk.size_bytes,
                    is_sized: false,
                    iops: None,
                    throughput: None,
                    cache: own.cache,
                    n_disks: own.n_disks,
                    chunk_bytes: chunk_bytes(&self.need.volumes[volume]),
                    price,
                })
            })
            .collect();
        cheaper.sort_by_key(|chosen| std::cmp::Reverse(chosen.price));
        let found = cheaper.into_iter().filter_map(|chosen| self.instead(volume, chosen));
        found.take(n_most).collect()
    }

    fn instead(&self, volume: usize, chosen: ChosenDisks) -> Option<Rejected> {
        let mount = &self.need.volumes[volume].mount;
        let change = match chosen.n_disks {
            1 => format!("{} at {mount}", chosen.disk),
            n_disks => format!("{n_disks} x {} at {mount}", chosen.disk),
        };
        let mut design = self.ranked.clone();
        design.volumes[volume] = chosen;
        let why = self.why(&design)?;
        let disks = design.volumes.iter().fold(Price::default(), |sum, it| sum + it.price);
        Some(Rejected { change, price: self.ranked.machine_price + disks, why })
    }

    fn of_disks(&self) -> Price {
        self.ranked.volumes.iter().fold(Price::default(), |sum, it| sum + it.price)
    }

    /// Returns what rejects a design; `None` if nothing does.
    fn why(&self, ranked: &Ranked) -> Option<Rejection> {
        match make::parse(self.market, self.need, ranked) {
            None => Some(Rejection::Disks),
            Some(design) => why(&judge(&design, self.need), self.need),
        }
    }
}

/// Says whether a machine takes fewer disks than volumes have, or none of premium types.
pub(crate) fn lacks_places(
    market: &Market<'_>,
    volumes: &[ChosenDisks],
    limits: &Limits,
) -> Option<Rejection> {
    let remote = || volumes.iter().filter(|it| !it.is_local());
    let kind = |name: &str| market.kinds.iter().find(|kind| kind.sku.name == name);
    let needs_premium = |it: &ChosenDisks| kind(&it.disk).is_some_and(|kind| kind.needs_premium);
    if !limits.takes_premium && remote().any(needs_premium) {
        return Some(Rejection::Premium);
    }
    let fits = |it: &ChosenDisks| {
        kind(&it.disk).is_none_or(|kind| {
            let is_in = |set: &crate::group::Classes| set & (1 << kind.class) != 0;
            limits.caps.iter().flat_map(|caps| &caps.sets).any(is_in)
                && (limits.is_nitro || kind.fits_without_nitro(it.iops))
        })
    };
    if !remote().all(fits) {
        return Some(Rejection::Disks);
    }
    let asked: u32 = remote().map(|it| it.n_disks).sum();
    limits.n_disks_max.filter(|has| *has < asked).map(|has| Rejection::Places { has, asked })
}

/// Returns what rejects a design that was judged, the worst first; `None` if it carries the need.
pub(crate) fn why(judged: &Judged, need: &Need) -> Option<Rejection> {
    if let Some((idx, asked_gib, has_gib)) = judged.too_small.first() {
        let mount = need.volumes[*idx].mount.clone();
        return Some(Rejection::Capacity { mount, has_gib: *has_gib, asked_gib: *asked_gib });
    }
    if let Some((idx, asked_ms, has_ms)) = judged.too_slow.first() {
        let mount = need.volumes[*idx].mount.clone();
        return Some(Rejection::Latency { mount, has_ms: *has_ms, asked_ms: *asked_ms });
    }
    let (phase, tightest) = judged.tightest().filter(|(_, it)| it.headroom() < -ROUNDING)?;
    Some(Rejection::Cap {
        phase: phase.phase.clone(),
        cap: tightest.cap.bound,
        whose: tightest.cap.name.clone(),
        carries: tightest.cap.per_s,
        asked: tightest.used,
    })
}

impl Judged {
    /// Returns what rejects the design; `None` if it carries the need.
    pub fn why_not(&self, need: &Need) -> Option<Rejection> {
        why(self, need)
    }
}
