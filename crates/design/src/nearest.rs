//! What comes nearest to a need that nothing carries.

use crate::market::Market;
use crate::need::{Need, NeedError};
use crate::rank::Ranked;
use crate::search::{Options, search};

/// Least part of a need that is looked for.
const PART_MIN: f64 = 1e-6;

/// Steps of halving: the part is found to a millionth.
const N_STEPS: usize = 20;

/// What comes nearest.
#[derive(Clone, Debug, PartialEq)]
pub enum Nearest {
    /// A design that carries this part of all I/Os that are asked.
    Part {
        /// The part, below 1.
        part: f64,
        /// The design, the best of those that carry as much.
        design: Box<Ranked>,
    },
    /// No machine has as many processors or as much memory.
    Machine {
        /// Most processors of any machine; `None` where none is known.
        vcpus_max: Option<f64>,
        /// Most memory, GiB.
        memory_gib_max: Option<f64>,
    },
    /// Not even a trickle of it: capacity, latency or places for disks.
    Nothing,
}

/// Looks for the design that carries the largest part of the I/Os.
pub fn nearest(market: &Market<'_>, need: &Need, options: &Options) -> Result<Nearest, NeedError> {
    let one = Options { n_kept: 1, ..*options };
    let of = |part: f64| {
        let found = search(market, &need.times(part), &one)?;
        Ok(found.designs.into_iter().next())
    };
    let Some(mut design) = of(PART_MIN)? else {
        return Ok(without_machine(market, need, &one)?.unwrap_or(Nearest::Nothing));
    };
    let (mut low, mut high) = (PART_MIN, 1.0);
    for _ in 0..N_STEPS {
        let middle = f64::midpoint(low, high);
        match of(middle)? {
            Some(better) => (low, design) = (middle, better),
            None => high = middle,
        }
    }
    let part = (low * (1.0 + design.headroom) / (1.0 + options.headroom)).clamp(low, high);
    Ok(Nearest::Part { part, design: Box::new(design) })
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
