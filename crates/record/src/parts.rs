//! What each worker of a step had of the caps that several met.

use std::collections::BTreeMap;

use crate::{CapCountRecord, CapDirectionRecord, CapRecord, DirRecord, JobRecord, PerDirRecord};

/// Notes in the entries of one step's workers what each had of the caps that several met.
///
/// # Panics
/// If they are not of one step.
pub fn compare_parts(workers: &mut [JobRecord]) {
    if let Some((first, others)) = workers.split_first() {
        let (one, other) = (first.step_idx, others.iter().find(|it| it.step_idx != first.step_idx));
        let other = other.map(|it| it.step_idx);
        assert!(other.is_none(), "workers of the steps {one} and {other:?} share no cap");
    }
    let mut all: BTreeMap<String, BTreeMap<String, Turns>> = BTreeMap::new();
    for worker in &*workers {
        let Some(caps) = &worker.caps else { continue };
        for cap in &caps.caps {
            let of_cap = all.entry(cap.name.clone()).or_default();
            let turns = of_cap.entry(caps.mounts()).or_default();
            turns.n_workers += 1.0;
            turns.taken += taken_of(worker, cap);
            turns.n_lanes = caps.n_lanes();
            turns.at_disks = caps.at_disks(cap);
        }
    }
    for worker in workers {
        let Some(mut caps) = worker.caps.take() else { continue };
        let mounts = caps.mounts();
        let part = |cap: &CapRecord| {
            let of_cap = all.get(&cap.name)?;
            let own = of_cap.get(&mounts)?;
            let is_at_disks = of_cap.values().all(|turns| turns.at_disks.is_some());
            let amount =
                |turns: &Turns| turns.at_disks.filter(|_| is_at_disks).unwrap_or(turns.taken);
            let total: f64 = of_cap.values().map(amount).sum();
            let n_lanes: f64 = of_cap.values().map(|turns| turns.n_lanes).sum();
            let of_volume = amount(own) / own.n_lanes * n_lanes / total;
            let within = taken_of(worker, cap) * own.n_workers / own.taken;
            Some(of_volume * within).filter(|part| part.is_finite())
        };
        let parts: Vec<f64> = caps.caps.iter().map(|cap| part(cap).unwrap_or(1.0)).collect();
        let has_written = worker.dirs.write.n_ios > 0;
        for (cap, part) in caps.caps.iter_mut().zip(parts) {
            cap.part = part;
            cap.is_behind_cache &= has_written;
        }
        caps.settle();
        worker.caps = Some(caps);
    }
}

/// What the workers on one volume, or on the same volumes, had of a cap.
#[derive(Default)]
struct Turns {
    n_workers: f64,
    /// I/Os or bytes that they took by themselves.
    taken: f64,
    /// What goes to the volume's disks per second, where the cap is of what goes there: that is
    /// other than what was taken where a cache stands before them.
    at_disks: Option<f64>,
    /// Lines in which I/Os wait for their turn, each of which gets as much as the others: one per
    /// disk.
    n_lanes: f64,
}

/// Returns what a worker took of a cap, in I/Os or bytes.
fn taken_of(worker: &JobRecord, cap: &CapRecord) -> f64 {
    let PerDirRecord { read, write, trim } = &worker.dirs;
    let dirs: &[&DirRecord] = match cap.direction() {
        CapDirectionRecord::Reads => &[read],
        CapDirectionRecord::Writes => &[write],
        CapDirectionRecord::Both => &[read, write, trim],
    };
    // A call that takes a slot is an I/O.
    let counts_ios = match cap.traits().counts {
        CapCountRecord::Operations | CapCountRecord::Slots => true,
        CapCountRecord::Bytes => false,
    };
    dirs.iter().map(|dir| if counts_ios { dir.n_ios } else { dir.io_bytes } as f64).sum()
}
