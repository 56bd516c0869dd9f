//! How much of a design a need fills, and by what.

use crate::judge::Judged;
use crate::market::Market;
use crate::need::Need;
use crate::netapp;
use crate::rank::Ranked;

/// What a need takes of a design.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// A cap, in a phase.
    Cap {
        /// Name of the cap: `disk_iops`.
        cap: &'static str,
        /// Whose it is: `3 x P30`.
        whose: String,
    },
    /// The capacity of a volume.
    Capacity {
        /// Where it is mounted.
        mount: String,
    },
    /// Processors.
    Vcpus,
    /// Memory.
    Memory,
}

/// The largest share that a need takes of any part of a design.
#[derive(Clone, Debug, PartialEq)]
pub struct Filled {
    /// Of what.
    pub part: Part,
    /// The share: 1 is all of it.
    pub share: f64,
}

/// Returns which part of a design a need fills most; `None` where it asks for nothing that is
/// known of the design.
pub fn filled(
    market: &Market<'_>,
    need: &Need,
    ranked: &Ranked,
    judged: &Judged,
) -> Option<Filled> {
    let bytes = ranked.volumes.iter().map(|chosen| chosen.capacity_bytes() as f64);
    let gib = bytes.map(|bytes| bytes / f64::from(1 << 30));
    most(market, need, (&ranked.machine, gib), judged)
}

/// Returns the same of a design with network volumes.
pub(crate) fn filled_network(
    market: &Market<'_>,
    need: &Need,
    ranked: &netapp::Ranked,
    judged: &Judged,
) -> Option<Filled> {
    let gib = ranked.volumes.iter().map(|chosen| chosen.quota_gib as f64);
    most(market, need, (&ranked.machine, gib), judged)
}

/// Returns which part is filled most, for a machine and the capacities of volumes, GiB.
fn most(
    market: &Market<'_>,
    need: &Need,
    (machine, has_gib): (&str, impl Iterator<Item = f64>),
    judged: &Judged,
) -> Option<Filled> {
    let mut all: Vec<Filled> = Vec::new();
    let caps = judged.phases.iter().flat_map(|phase| &phase.caps);
    all.extend(caps.filter(|it| it.used > 0.0).map(|it| {
        let (cap, whose) = (it.cap.bound.name(), it.cap.name.clone());
        Filled { part: Part::Cap { cap, whose }, share: it.share() }
    }));
    for (volume, has_gib) in need.volumes.iter().zip(has_gib) {
        let part = Part::Capacity { mount: volume.mount.clone() };
        all.push(Filled { part, share: volume.capacity_gib / has_gib });
    }
    if let Some(size) = market.machine(machine) {
        let figures = [
            (Part::Vcpus, need.vcpus.zip(size.vcpus)),
            (Part::Memory, need.memory_gib.zip(size.memory_gib)),
        ];
        let of = |(part, pair): (Part, Option<(f64, f64)>)| {
            pair.map(|(asked, has)| Filled { part, share: asked / has })
        };
        all.extend(figures.into_iter().filter_map(of));
    }
    let is_asked = |it: &Filled| it.share.is_finite() && it.share > 0.0;
    all.into_iter().filter(is_asked).max_by(|a, b| a.share.total_cmp(&b.share))
}
