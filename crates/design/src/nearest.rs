//! What comes nearest to a need that nothing carries.

use crate::group::Limits;
use crate::kind::DiskKind;
use crate::market::Market;
use crate::need::{Need, NeedError};
use crate::rank::Ranked;
use crate::search::{Options, search};

/// Least part of a need that is looked for.
const PART_MIN: f64 = 1e-6;

/// Steps of halving, of the number of times that one is the other: the part is found to a
/// millionth of itself.
const N_STEPS: usize = 24;

/// Of what the nearest design has too little.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lack {
    /// I/Os.
    Ios,
    /// Capacity: not even few I/Os are carried with all of it.
    Capacity,
    /// Speed: nothing answers within the latency that is asked, even without load.
    Latency,
}

/// What comes nearest.
#[derive(Clone, Debug, PartialEq)]
pub enum Nearest {
    /// A design that has a part of what is asked.
    Part {
        /// Of what.
        of: Lack,
        /// The part, below 1: of all I/Os, of the capacity of each volume, or the latency that is
        /// asked as a part of what it has.
        part: f64,
        /// The design, the best of those that have as much.
        design: Box<Ranked>,
    },
    /// No machine has as many processors or as much memory.
    Machine {
        /// Most processors of any machine; `None` where none is known.
        vcpus_max: Option<f64>,
        /// Most memory, GiB.
        memory_gib_max: Option<f64>,
    },
    /// No machine can have any of the disks attached.
    Refused,
    /// Not even a trickle of it: several of capacity, latency, machine and places for disks.
    Nothing {
        /// The part of the capacity that there is where nothing else is asked; `None` for all.
        capacity: Option<f64>,
        /// The latency that is asked, as a part of what there is where nothing else is asked;
        /// `None` where there is as little.
        latency: Option<f64>,
    },
}

impl Lack {
    /// Returns a need of which only a part of this is asked.
    fn reduced(self, need: &Need, part: f64) -> Need {
        if self == Lack::Ios {
            return need.times(part);
        }
        let mut need = need.clone();
        for volume in &mut need.volumes {
            match self {
                Lack::Ios => {}
                Lack::Capacity => volume.capacity_gib *= part,
                Lack::Latency => volume.latency_ms_max = volume.latency_ms_max.map(|ms| ms / part),
            }
        }
        need
    }
}

/// Looks for the design that carries the largest part of the I/Os; where capacity or latency is
/// what nothing has, for the one that comes nearest to that. One with a limit that is not known is
/// none of them while there is another: such a limit never counts as enough.
pub fn nearest(market: &Market<'_>, need: &Need, options: &Options) -> Result<Nearest, NeedError> {
    let one = Options { n_kept: 1, ..*options };
    if let Some(found) = known_first(Lack::Ios, market, need, &one)? {
        return Ok(found);
    }
    if let Some(found) = without_machine(market, need, &one)? {
        return Ok(found);
    }
    for of in [Lack::Latency, Lack::Capacity] {
        for ios in [1.0, PART_MIN] {
            if let Some(found) = known_first(of, market, &need.times(ios), &one)? {
                return Ok(found);
            }
        }
    }
    if !takes_any(market) {
        return Ok(Nearest::Refused);
    }
    let capacity = alone(Lack::Capacity, market, need, &one)?;
    Ok(Nearest::Nothing { capacity, latency: alone(Lack::Latency, market, need, &one)? })
}

/// Returns the part of one thing that there is where nothing else is asked; `None` if that is all.
fn alone(
    of: Lack,
    market: &Market<'_>,
    need: &Need,
    options: &Options,
) -> Result<Option<f64>, NeedError> {
    let mut alone = Need { vcpus: None, memory_gib: None, ..need.times(PART_MIN) };
    for volume in &mut alone.volumes {
        match of {
            Lack::Latency => volume.capacity_gib *= PART_MIN,
            Lack::Ios | Lack::Capacity => volume.latency_ms_max = None,
        }
    }
    if !search(market, &alone, options)?.designs.is_empty() {
        return Ok(None);
    }
    Ok(match part_of(of, market, &alone, options)? {
        Some(Nearest::Part { part, .. }) => Some(part),
        Some(_) | None => Some(0.0),
    })
}

/// Returns whether a machine can have a disk attached, or one of its own.
fn takes_any(market: &Market<'_>) -> bool {
    let is_taken = |kind: &DiskKind<'_>| {
        let takes = |limits: &Limits| {
            let mut sets = limits.caps.iter().flat_map(|caps| &caps.sets);
            let has_place = limits.takes_premium || !kind.needs_premium;
            has_place && sets.any(|set| set & (1 << kind.class) != 0)
        };
        market.groups.iter().any(|group| takes(&group.limits))
    };
    market.kinds.is_empty() || market.kinds.iter().any(is_taken)
}

/// The same as [`part_of()`], of the designs of which all is known, if there are any.
fn known_first(
    of: Lack,
    market: &Market<'_>,
    need: &Need,
    options: &Options,
) -> Result<Option<Nearest>, NeedError> {
    let known = Options { is_known_only: true, ..*options };
    match part_of(of, market, need, &known)? {
        Some(found) => Ok(Some(found)),
        None if options.is_known_only => Ok(None),
        None => part_of(of, market, need, options),
    }
}

/// Looks for the design that has the largest part of one thing.
fn part_of(
    of: Lack,
    market: &Market<'_>,
    need: &Need,
    options: &Options,
) -> Result<Option<Nearest>, NeedError> {
    let with = |part: f64| {
        let found = search(market, &of.reduced(need, part), options)?;
        Ok(found.designs.into_iter().next())
    };
    let Some(mut design) = with(PART_MIN)? else { return Ok(None) };
    let (mut low, mut high) = (PART_MIN, 1.0);
    for _ in 0..N_STEPS {
        let middle = (low * high).sqrt();
        match with(middle)? {
            Some(better) => (low, design) = (middle, better),
            None => high = middle,
        }
    }
    let part = match of {
        Lack::Ios => (low * (1.0 + design.headroom) / (1.0 + options.headroom)).clamp(low, high),
        Lack::Capacity | Lack::Latency => low,
    };
    Ok(Some(Nearest::Part { of, part, design: Box::new(design) }))
}

/// Returns whether it is the machine that is missing.
fn without_machine(
    market: &Market<'_>,
    need: &Need,
    options: &Options,
) -> Result<Option<Nearest>, NeedError> {
    let any = Need { vcpus: None, memory_gib: None, ..need.times(PART_MIN) };
    if search(market, &any, options)?.designs.is_empty() {
        return Ok(None);
    }
    let machines = || market.groups.iter().flat_map(|group| &group.machines);
    let most = |of: fn(&crate::group::MachineSize) -> Option<f64>| {
        machines().filter_map(of).max_by(f64::total_cmp)
    };
    let vcpus_max = most(|machine| machine.vcpus);
    let memory_gib_max = most(|machine| machine.memory_gib);
    Ok(Some(Nearest::Machine { vcpus_max, memory_gib_max }))
}
