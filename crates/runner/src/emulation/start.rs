//! The volumes before the first step, and the plan as it is run on them.

use std::sync::Arc;

use plan::Plan;
use volume::{Start, System, SystemOptions};

use super::placement::Placement;
use super::spec::Emulation;
use crate::bind::{BoundPlan, BoundStep};

/// Makes the volumes as they are before the first step: with `--cache warm`, the plan's files are
/// in the host caches.
pub(crate) fn start_system(
    emulation: &Emulation,
    placement: &Placement,
    bound: &BoundPlan,
) -> System {
    let design = &emulation.design;
    let options = SystemOptions {
        n_waiting_max: n_in_flight_max(bound),
        start: Start::Cold,
        seed: design.seed,
    };
    let mut system = System::new(design, &options);
    // Its time begins with the run's, not with the first I/O.
    system.poll(0, &mut Vec::new());
    if emulation.is_warm {
        for place in placement.all() {
            system.warm(place.volume, place.base_bytes, place.len_bytes);
        }
    }
    system
}

/// Returns the most operations that workers of one step have in flight.
fn n_in_flight_max(bound: &BoundPlan) -> usize {
    let of_step = |step: &Arc<BoundStep>| {
        step.workers.iter().map(|worker| worker.job.load.queue_depth.max(1) as usize).sum::<usize>()
    };
    bound.steps.iter().map(of_step).max().unwrap_or(0).max(1)
}

/// Returns the plan as it is run: workers need no batches where a call costs nothing, so every
/// completion is taken as it comes.
pub(crate) fn without_batches(plan: &Plan) -> Plan {
    let mut plan = plan.clone();
    for job in plan.jobs_mut() {
        job.load.complete_min.get_or_insert(1);
    }
    plan
}
