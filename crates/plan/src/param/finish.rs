//! What follows from several parameters together, once all are lowered.

use crate::workload::Distribution;
use crate::{Direction, IoPriority, Job};

/// Completes a job after its parameters were lowered: takes away what was described but not
/// switched on, and fills in what follows from other parameters.
///
/// It never fails and calling it twice changes nothing more. Contradictions are the dialect's to
/// report, because only it knows what was written where.
pub fn finish(job: &mut Job) {
    if job.limits.steady.is_some_and(|steady| steady.window_ns == 0) {
        job.limits.steady = None;
    }
    if job.load.latency_target.is_some_and(|target| target.target_ns == 0) {
        job.load.latency_target = None;
    }
    if job.load.flow.is_some_and(|flow| flow.weight == 0) {
        job.load.flow = None;
    }
    match &job.load.rate_periods {
        Some(periods) if periods.periods.is_empty() => job.load.rate_periods = None,
        Some(periods) if job.load.rate_total_iops.is_none() => {
            job.load.rate_total_iops = Some(periods.rate_max());
        }
        _ => {}
    }
    // Without a schedule nothing is late.
    job.load.rate_closed &= job.load.rate_total_iops.is_some();
    if job.workload.hit_area.is_some_and(|hits| hits.len_bytes == 0) {
        job.workload.hit_area = None;
    }
    job.files.direct |= job.files.atomic;
    job.files.invalidate &= !job.files.pre_read;
    for dir in Direction::ALL {
        if job.engine.priority_pct[dir] > 0 && job.engine.priority_class[dir] == 0 {
            job.engine.priority_class[dir] = IoPriority::REAL_TIME;
        }
    }
    finish_zones(job);
    finish_random_walk(job);
    let think = &mut job.load.think;
    think.spin_ns = think.spin_ns.min(think.pause_ns);
    let prefixes = [
        &mut job.logs.bandwidth,
        &mut job.logs.iops,
        &mut job.logs.latency,
        &mut job.logs.histogram,
    ];
    for prefix in prefixes.into_iter().flatten().filter(|prefix| prefix.is_empty()) {
        prefix.clone_from(&job.name);
    }
}

fn finish_zones(job: &mut Job) {
    if let Some(zones) = &mut job.workload.strided {
        if zones.zone_size_bytes == 0 {
            job.workload.strided = None;
        } else if zones.zone_range_bytes == 0 {
            zones.zone_range_bytes = zones.zone_size_bytes;
        }
    }
}

/// A block is visited once per pass only where every block is equally likely and offsets fall on
/// block boundaries.
fn finish_random_walk(job: &mut Job) {
    let workload = &mut job.workload;
    let skewed = workload.distribution.iter().any(|(_, spread)| *spread != Distribution::Uniform);
    let shifted = workload.block_align.iter().any(|(dir, align)| {
        align.is_some_and(|align_bytes| align_bytes != workload.block_size[dir].min())
    });
    if skewed || shifted {
        workload.no_repeats = false;
    }
}
