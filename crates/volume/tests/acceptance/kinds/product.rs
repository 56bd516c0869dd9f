//! Designs as a user writes them, and what the product answers.

use volume::CapKind;
use volume::limits::{Bound, CapUse, Done, Flow, Load, alone, remedies_among, together};

use crate::rig::{Rig, S, Stream};

pub(crate) use volume::Design;

pub(crate) const KIB: u64 = 1024;
pub(crate) const MIB: u64 = 1 << 20;
pub(crate) const TIB: f64 = 1_099_511_627_776.0;
pub(crate) const MB: f64 = 1e6;
pub(crate) const MS: f64 = 1e-3;

/// Size of I/Os where I/Os are counted, and where bytes are.
pub(crate) const SMALL: u64 = 8 * KIB;
pub(crate) const LARGE: u64 = 256 * KIB;

/// In flight where the depth shall not bind.
pub(crate) const DEEP: usize = 1024;

/// Reads a design.
#[track_caller]
pub(crate) fn parse(toml: &str) -> Design {
    let (design, findings) = volume::design::parse(toml);
    design.unwrap_or_else(|| panic!("{findings:?}\n{toml}"))
}

/// Returns a design of an edition: what stands at its top, a machine's keys if it has one, and the
/// keys of each volume. Volumes are mounted at /v0, /v1 and so on.
#[track_caller]
pub(crate) fn design(top: &str, machine: &str, volumes: &[String]) -> Design {
    let mut toml = format!("{top}\n");
    if !machine.is_empty() {
        toml.push_str(&format!("[vm]\n{machine}\n"));
    }
    for (idx, volume) in volumes.iter().enumerate() {
        toml.push_str(&format!("[[volume]]\nmount='/v{idx}'\n{volume}\n"));
    }
    parse(&toml)
}

/// A design of docs/designs.
pub(crate) fn ds14() -> Design {
    parse(include_str!("../../../../../docs/designs/ds14.toml"))
}

/// Keys of a volume of equal disks.
pub(crate) fn disks(disk: &str, count: u64, cache: &str) -> String {
    format!("disk='{disk}'\ncount={count}\ncache='{cache}'")
}

/// Reads of a size, as many as it takes.
pub(crate) fn reads(size_bytes: u64) -> Load {
    Load::new(size_bytes, 1.0)
}

pub(crate) fn writes(size_bytes: u64) -> Load {
    Load::new(size_bytes, 0.0)
}

/// Reads that all hit.
pub(crate) fn hits(size_bytes: u64) -> Load {
    Load { hit_ratio: 1.0, ..reads(size_bytes) }
}

pub(crate) fn at_depth(load: Load, queue_depth: u64) -> Load {
    Load { queue_depth: Some(queue_depth as u32), ..load }
}

pub(crate) fn flow(volume: u16, load: Load, demand: Option<f64>) -> Flow {
    Flow { volume, load, demand }
}

/// What `limits` says of one load on the first volume.
pub(crate) fn first(design: &Design, load: &Load) -> Done {
    alone(design, 0, load)
}

/// What `limits --demand` says of one need of the first volume.
pub(crate) fn need(design: &Design, load: Load, demand: f64) -> Done {
    together(design, &[flow(0, load, Some(demand))]).pop().expect("one answer")
}

/// Returns a cap on the way, and what it leaves.
#[track_caller]
pub(crate) fn cap(done: &Done, kind: CapKind) -> (&CapUse, f64) {
    let found = done.caps.iter().find(|(cap, _)| cap.bound == Bound::Cap(kind));
    let (cap, left) = found.unwrap_or_else(|| panic!("no {kind:?} in {done:?}"));
    (cap, *left)
}

/// Returns what the caps leave to a load, which may be more than it asks for.
#[track_caller]
pub(crate) fn left(done: &Done) -> f64 {
    done.caps.first().expect("a cap").1
}

/// Returns what binds, or where a need is met what would bind first.
#[track_caller]
pub(crate) fn binds_first(done: &Done) -> Bound {
    match done.binds {
        Bound::Nothing => done.first().expect("a cap").bound,
        bound => bound,
    }
}

pub(crate) fn is_met(done: &Done) -> bool {
    done.binds == Bound::Nothing
}

/// Returns the number that stands in the change which `limits` advises for a need, or without one
/// to reach the next cap: that of `4 x P30` for ` x P30`, of `5 in flight` for ` in flight`.
#[track_caller]
pub(crate) fn advised(design: &Design, load: Load, demand: Option<f64>, what: &str) -> u64 {
    let found = remedies_among(design, &[flow(0, load, demand)], 0);
    let enough = |remedy: &&volume::limits::Remedy| remedy.is_enough != Some(false);
    let mut numbers = found.iter().filter(enough).filter_map(|remedy| {
        let number = remedy.change.strip_suffix(what)?;
        number.parse().ok()
    });
    numbers.next().unwrap_or_else(|| panic!("no `{what}` in {found:?}"))
}

/// Reads and writes within the first GiB of a volume, which is warm.
pub(crate) fn within_a_gib(queue_depth: usize, size_bytes: u64) -> Stream {
    Stream { warm_bytes: 1 << 30, ..Stream::new(queue_depth, size_bytes) }
}

/// Runs streams on volumes of which the first GiB is warm where they are cached.
pub(crate) fn warmed(design: &Design, streams: Vec<Stream>) -> Rig {
    let mut rig = Rig::new(design, streams);
    for idx in 0..design.volumes.len() {
        rig.system.warm(idx as u16, 0, 1 << 30);
    }
    rig.run(2 * S).reset();
    rig.run(10 * S);
    rig
}
