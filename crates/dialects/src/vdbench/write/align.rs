//! What the places of I/O are multiples of.

use plan::workload::{BlockSize, Workload};
use plan::{Direction, Job, job_fields};

use super::writer::Writer;

impl Writer {
    /// Adds what places of I/O on a storage definition are multiples of, where that is not implied.
    ///
    /// With sizes of a range, Vdbench wants it to be their distance.
    pub(super) fn alignment(&mut self, job: &Job, line: &mut String) {
        let workloads: Vec<&Workload> = job.workloads().collect();
        let distances: Vec<u32> = workloads.iter().filter_map(|it| size_distance(it)).collect();
        let asked: Vec<u32> = workloads.iter().filter_map(|it| own_alignment(it)).collect();
        let align = distances.first().or(asked.first()).copied();
        // What says nothing is aligned to its smallest size.
        let random = workloads.iter().filter(|it| it.access.random);
        let implied = random.map(|it| {
            own_alignment(it).unwrap_or_else(|| it.block_size[written_direction(it)].min())
        });
        let mut all = distances.iter().chain(&asked).copied().chain(implied);
        if align.is_some() && all.any(|other| Some(other) != align) {
            self.lose(
                job_fields![workload.block_align],
                "places that are aligned in more than one way: `align` is one per lun",
            );
        }
        if let Some(bytes) = align {
            self.say(line, job_fields![workload.block_align], format_args!(",align={bytes}"));
        }
    }
}

/// Returns the direction whose sizes and places are written.
pub(super) fn written_direction(workload: &Workload) -> Direction {
    if workload.access.read { Direction::Read } else { Direction::Write }
}

/// Returns the distance between the sizes of a workload that takes any between two.
fn size_distance(workload: &Workload) -> Option<u32> {
    match workload.block_size[written_direction(workload)] {
        BlockSize::Range { min, .. } => Some(min),
        BlockSize::Stepped { step, .. } => Some(step),
        BlockSize::Fixed(_) | BlockSize::Split(_) | BlockSize::Weighted(_) => None,
    }
}

/// Returns what a workload aligns its places to.
fn own_alignment(workload: &Workload) -> Option<u32> {
    workload.block_align[written_direction(workload)]
}
