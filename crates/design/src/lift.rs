//! The cheapest single change that lifts what binds a design.
//!
//! One machine, the disks of one volume, its host cache or its stripe unit is another one; all else
//! stays. What is changed must carry more than the design does, of everything that is asked: of
//! caps that are equally tight none is lifted alone. Each change is written as a file and judged,
//! the cheapest first.

use volume::limits::Bound;
use volume::{CacheMode, CapKind};

use crate::candidate::{Candidate, Month, VolumeContext};
use crate::group::{Caps, Classes, Limits};
use crate::judge::{Judged, judge};
use crate::make;
use crate::market::Market;
use crate::need::{Need, VolumeUse};
use crate::on_local;
use crate::price::Price;
use crate::rank::{ChosenDisks, Ranked};
use crate::reject::lacks_places;
use crate::search::{Options, chosen_of};
use crate::uses::{ROUNDING, times};

/// Part by which more must be carried: less is rounding.
const GAIN_MIN: f64 = 0.001;

/// Stripe units that are tried.
const TRIED_CHUNKS_BYTES: [u64; 5] = [64 << 10, 128 << 10, 256 << 10, 512 << 10, 1 << 20];

/// What is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Changed {
    /// The host cache of a volume, by its position.
    Cache(usize),
    /// The stripe unit of a volume.
    StripeUnit(usize),
    /// Type, number, size or limits of the disks of a volume.
    Disks(usize),
    /// The machine.
    Machine,
}

/// A change that lifts what binds.
#[derive(Clone, Debug, PartialEq)]
pub struct Lift {
    /// What is changed.
    pub changed: Changed,
    /// The design with the change. Its headroom is that of the design before.
    pub ranked: Ranked,
}

/// Returns the cheapest single change of a design that was found after which it carries more;
/// `None` where none does, or nothing binds. Settings stand before what is bought at the same
/// price.
pub fn cheapest_lift(
    market: &Market<'_>,
    need: &Need,
    ranked: &Ranked,
    options: &Options,
) -> Option<Lift> {
    let design = make::parse(market, need, ranked)?;
    let judged = judge(&design, need);
    if !judged.headroom().is_finite() {
        return None;
    }
    let asked = more(need, &judged);
    let search = LiftSearch { market, need, asked: &asked, ranked, judged: &judged, options };
    let mut all: Vec<Lift> = Vec::new();
    for volume in 0..ranked.volumes.len() {
        all.extend(search.settings(volume));
        all.extend(search.disks(volume));
    }
    all.extend(search.machines());
    // Stable: a setting stands before what costs the same.
    all.sort_by_key(|lift| (lift.ranked.price, matches!(lift.changed, Changed::Machine)));
    all.into_iter().find(|lift| search.is_carried(&lift.ranked))
}

/// Returns a little more than a design carries of a need.
pub(crate) fn more(need: &Need, judged: &Judged) -> Need {
    need.times((1.0 + judged.headroom()) * (1.0 + GAIN_MIN))
}

struct LiftSearch<'a, 'e> {
    market: &'a Market<'e>,
    need: &'a Need,
    /// A little more than the design carries.
    asked: &'a Need,
    ranked: &'a Ranked,
    judged: &'a Judged,
    options: &'a Options,
}

impl LiftSearch<'_, '_> {
    fn is_carried(&self, ranked: &Ranked) -> bool {
        let design = make::parse(self.market, self.asked, ranked);
        design.is_some_and(|design| judge(&design, self.asked).is_met())
    }

    /// Returns the design with other disks of a volume; `None` where the machine takes no such.
    fn with(&self, changed: Changed, volume: usize, chosen: ChosenDisks) -> Option<Lift> {
        let limits = self.limits()?;
        let mut ranked = self.ranked.clone();
        ranked.n_parts =
            (ranked.n_parts + n_attached(&chosen)) - n_attached(&ranked.volumes[volume]);
        ranked.volumes[volume] = chosen;
        let caps = self.caps(limits, &ranked)?;
        if lacks_places(self.market, &ranked.volumes, limits).is_some() {
            return None;
        }
        ranked.price = ranked.machine_price + of_disks(&ranked);
        ranked.price.is_open |= is_open(limits, caps);
        Some(Lift { changed, ranked })
    }

    /// Returns the other settings of a volume.
    fn settings(&self, volume: usize) -> Vec<Lift> {
        let own = &self.ranked.volumes[volume];
        let mut all = Vec::new();
        let modes: &[CacheMode] = if self.options.allows_write_back {
            &[CacheMode::None, CacheMode::ReadOnly, CacheMode::ReadWrite]
        } else {
            &[CacheMode::None, CacheMode::ReadOnly]
        };
        let may_cache = self.need.volumes[volume].may_cache() && self.has_cache();
        let is_taken = |mode: &&CacheMode| **mode == CacheMode::None || may_cache;
        for &cache in modes.iter().filter(is_taken).filter(|mode| **mode != own.cache) {
            let chosen = ChosenDisks { cache, ..own.clone() };
            all.extend(self.with(Changed::Cache(volume), volume, chosen));
        }
        let is_striped = own.n_disks > 1;
        for chunk_bytes in
            TRIED_CHUNKS_BYTES.into_iter().filter(|it| is_striped && *it != own.chunk_bytes)
        {
            let chosen = ChosenDisks { chunk_bytes, ..own.clone() };
            all.extend(self.with(Changed::StripeUnit(volume), volume, chosen));
        }
        all
    }

    /// Returns whether the machine has a host cache whose limits are known.
    fn has_cache(&self) -> bool {
        let limits = self.limits();
        let caps = limits.and_then(|limits| self.caps(limits, self.ranked));
        caps.is_some_and(|caps| caps.cache_bytes.is_some())
    }

    fn is_cached(&self) -> bool {
        self.ranked.volumes.iter().any(|it| it.cache != CacheMode::None)
    }

    /// Returns the limits of the machine.
    fn limits(&self) -> Option<&Limits> {
        let is_own = |name: &str| name == self.ranked.machine;
        let mut groups = self.market.groups.iter();
        let group = groups.find(|group| group.machines.iter().any(|it| is_own(&it.name)))?;
        Some(&group.limits)
    }

    /// Returns the caps that a machine has for the types of disk of a design; `None` where it takes
    /// no such.
    fn caps<'l>(&self, limits: &'l Limits, ranked: &Ranked) -> Option<&'l Caps> {
        let class = |it: &ChosenDisks| {
            let mut kinds = self.market.kinds.iter();
            kinds.find(|kind| kind.sku.name == it.disk).map_or(0, |kind| 1 << kind.class)
        };
        let classes: Classes = ranked.volumes.iter().map(class).fold(0, |all, one| all | one);
        limits.caps.iter().find(|caps| caps.sets.contains(&classes))
    }

    /// Returns the least disks of each type that carry more of a volume.
    fn disks(&self, volume: usize) -> Vec<Lift> {
        let own = &self.ranked.volumes[volume];
        let Some(limits) = self.limits() else { return Vec::new() };
        let others = self.ranked.volumes.iter().map(n_attached).sum::<u32>() - n_attached(own);
        let n_disks_max = limits.n_disks_max.unwrap_or(self.market.n_disks_max);
        let month = Month::of(&self.need.volumes[volume], self.market.terms.month_hours);
        let cache = own.cache;
        let hit_ratio = match cache {
            CacheMode::None => 0.0,
            CacheMode::ReadOnly | CacheMode::ReadWrite => self.judged.hit_ratios[volume],
        };
        let context = VolumeContext { need: self.asked, volume, cache, hit_ratio, month };
        let mut found = context.candidates(self.market, n_disks_max.saturating_sub(others));
        let may_be_lost = context.volume().usage == VolumeUse::Temp && cache == CacheMode::None;
        let machine = self.market.machine(&self.ranked.machine);
        if let Some(idx) = machine.and_then(|it| it.local).filter(|_| may_be_lost) {
            let (local, caps) = (self.market.locals.get(idx), self.caps(limits, self.ranked));
            let mut on_local = on_local::candidates(&context, local, self.market);
            let is_open = caps.is_none_or(|caps| on_local::is_open(local, caps));
            for candidate in &mut on_local {
                candidate.price.is_open |= is_open;
            }
            found.extend(on_local);
        }
        let chosen = |candidate: &Candidate| chosen_of(self.market, candidate);
        let lift = |candidate| self.with(Changed::Disks(volume), volume, chosen(candidate));
        found.iter().filter_map(lift).collect()
    }

    /// Returns the other machines that take the disks.
    fn machines(&self) -> Vec<Lift> {
        let mut all = Vec::new();
        for group in &self.market.groups {
            let limits = &group.limits;
            if lacks_places(self.market, &self.ranked.volumes, limits).is_some() {
                continue;
            }
            let Some(caps) = self.caps(limits, self.ranked) else { continue };
            // Of a cached path that is not known nothing is expected.
            let is_unknown = self.is_cached() && caps.cache_bytes.is_none();
            if is_unknown || !self.may_carry(caps) {
                continue;
            }
            for machine in group.machines.iter().filter(|it| it.name != self.ranked.machine) {
                let asked =
                    [(self.need.vcpus, machine.vcpus), (self.need.memory_gib, machine.memory_gib)];
                let is_short = |(least, has): &(Option<f64>, Option<f64>)| {
                    least.zip(*has).is_some_and(|(least, has)| has < least * (1.0 - ROUNDING))
                };
                let is_unknown =
                    |(least, has): &(Option<f64>, Option<f64>)| least.is_some() && has.is_none();
                let local = machine.local.map(|idx| self.market.locals.get(idx));
                let is_on_local = self.ranked.volumes.iter().any(ChosenDisks::is_local);
                if asked.iter().any(is_short) || is_on_local && local.is_none() {
                    continue;
                }
                let mut machine_price = machine.price;
                machine_price.is_open |= asked.iter().any(is_unknown);
                let mut price = machine_price + of_disks(self.ranked);
                let local = local.filter(|_| is_on_local);
                let is_unknown = local.is_some_and(|local| on_local::is_open(local, caps));
                price.is_open |= is_unknown || is_open(limits, caps);
                let name = machine.name.clone();
                let mut own = self.ranked.clone();
                for chosen in own.volumes.iter_mut().filter(|it| it.is_local()) {
                    chosen.size_bytes =
                        local.map_or(chosen.size_bytes, |local| local.disk.size_bytes);
                }
                let interface = machine.interface;
                let ranked = Ranked { machine: name, interface, machine_price, price, ..own };
                all.push(Lift { changed: Changed::Machine, ranked });
            }
        }
        all
    }

    /// Returns whether the uncached path of a machine carries more than the design does, as far as
    /// its sustained rates and bursts say. A host cache of another size has other hits.
    fn may_carry(&self, caps: &Caps) -> bool {
        if self.is_cached() {
            return true;
        }
        let factor = (1.0 + self.judged.headroom()) * (1.0 + GAIN_MIN);
        let kinds = [CapKind::VmUncachedIops, CapKind::VmUncachedBytes];
        let carries = |(idx, kind): (usize, CapKind)| {
            let of_phases = self.judged.phases.iter().flat_map(|phase| &phase.caps);
            let own = of_phases.filter(|it| it.cap.bound == Bound::Cap(kind));
            let used = own.map(|it| it.used / (1.0 + it.leeway)).fold(0.0, f64::max);
            let most = caps.credits[idx].map_or(caps.per_s[idx], |credits| credits.burst);
            times(most, used * factor) >= 1.0 - ROUNDING
        };
        kinds.into_iter().enumerate().all(carries)
    }
}

/// Returns what all disks of a design cost.
fn of_disks(ranked: &Ranked) -> Price {
    ranked.volumes.iter().fold(Price::default(), |sum, it| sum + it.price)
}

/// Says whether a limit of a machine is not known.
fn is_open(limits: &Limits, caps: &Caps) -> bool {
    caps.is_open || limits.n_disks_max.is_none()
}

/// Returns how many disks are attached.
fn n_attached(chosen: &ChosenDisks) -> u32 {
    if chosen.is_local() { 0 } else { chosen.n_disks }
}
