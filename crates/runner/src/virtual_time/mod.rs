//! Runs the workers of a step in virtual time: a loop over the events of the volumes, the workers
//! and the clock of the record, on one thread. Nothing waits; what a worker is given as the time is
//! the time of the event.
//!
//! The workers are those of a real run, and so is all that follows from their ends
//! ([`crate::running`]). What a thread would spend on issuing and reaping I/O takes no time here.

mod driver;
mod lane;
mod wakeups;
mod world;

use std::sync::Arc;

use worker::Worker;

use crate::bind::BoundStep;
use crate::context::{StepContext, StepOutcome};
use crate::event::RunEvent;
use crate::logs::LogSetup;
use crate::running::{Running, flow_groups};
use crate::seat::{Seat, SeatState};
use crate::setup_error::SetupError;
use crate::tree::{StepTrees, TreeSeat};
use crate::verify_notes;

use driver::Driver;
use lane::Lane;
pub(crate) use world::World;

/// Runs a step to its end.
pub(crate) fn run_step(
    context: &StepContext<'_>,
    step: &BoundStep,
    world: &mut World,
    on_event: &mut dyn FnMut(RunEvent<'_>),
) -> StepOutcome {
    let n_workers = step.workers.len();
    let depth_max = step.workers.iter().map(|bound| bound.job.load.queue_depth).max();
    let mut logs = LogSetup::new(context.clock, context.zero_unix_ms, context.log_dir(), n_workers)
        .with_room(depth_max.unwrap_or(1) as usize);
    let trees = StepTrees::emulated(step, &mut world.trees);
    let mut flows = flow_groups(step);
    let mut seats = Vec::with_capacity(n_workers);
    let mut lanes = Vec::with_capacity(n_workers);
    for (idx, bound) in step.workers.iter().enumerate() {
        let mut seat = Seat::new(bound);
        if context.options.detailed_intervals.is_some() {
            seat.count_by_series();
        }
        let number = context.n_workers_before + idx as u32;
        (seat.tree, seat.setup_error) = trees.seat_of(bound);
        let mut lane = None;
        if !bound.job.files.create_only && seat.setup_error.is_none() {
            let worker = seat.build(context, number, flows.remove(&idx), &mut logs);
            match worker.and_then(|(worker, _)| on_tree(worker, seat.tree.as_ref())) {
                Ok(worker) => {
                    let places = world.placement.of(bound);
                    lane = Some(Lane::new(idx, bound, worker, places, world));
                    seat.state = SeatState::Waiting;
                }
                Err(error) => seat.setup_error = Some(error),
            }
        }
        seats.push(seat);
        lanes.push(lane);
    }
    // Of workers that do not start: the others of their flow would wait for them.
    drop(flows);
    let mut running = Running::new(context, seats, world.now_ns);
    running.notes = verify_notes::of_step(step);
    Driver::new(world, lanes).run(&mut running, &mut logs.inline(), on_event);
    running.into_outcome(world.now_ns)
}

/// Gives a worker its part of its job's tree, if there is one.
fn on_tree(mut worker: Worker, tree: Option<&TreeSeat>) -> Result<Worker, SetupError> {
    if let Some(tree) = tree {
        worker
            .join_tree(Arc::clone(&tree.shared))
            .map_err(|error| SetupError { errno: libc::EINVAL, message: error.to_string() })?;
    }
    Ok(worker)
}
