//! Runs the workers of one step: builds them, starts them together, watches them, collects them.

use std::sync::Arc;
use std::sync::mpsc::channel;

use record::{LOG_FAILED, NoteSeverity};
use units::system_text;

use worker::SharedWalks;

use crate::amount::{AmountShare, Moved};
use crate::bind::BoundStep;
use crate::claims::Claims;
use crate::context::{StepContext, StepOutcome};
use crate::event::RunEvent;
use crate::file_locks::FileLocks;
use crate::logs::{LogSetup, LogWriter};
use crate::overlaps::Overlaps;
use crate::prepare::{self, WaitsForOthers};
use crate::running::{Running, flow_groups};
use crate::seat::{Seat, SeatState, Shared};
use crate::tree::StepTrees;
use crate::verify_notes;
use crate::watch::{Channel, watch};

/// Runs a step to its end.
pub(crate) fn run_step(
    context: &StepContext<'_>,
    step: &BoundStep,
    on_event: &mut dyn FnMut(RunEvent<'_>),
) -> StepOutcome {
    let channel: Channel = channel();
    let _listening = context.control.listen(channel.0.clone());
    let mut setup = match context.volumes {
        None => prepare::step(context, step, on_event),
        Some(_) => step.workers.iter().map(|_| None).collect(),
    };
    debug_assert_eq!(setup.len(), step.workers.len(), "each worker is prepared, or failed to be");
    let mut trees = StepTrees::prepare(step, context.control);
    trees.report(true, on_event);
    let mut flows = flow_groups(step);
    let locks = FileLocks::new(step);
    let overlaps = Overlaps::new(step);
    let moved = Moved::new(context.amount_max);
    let claims = Arc::new(Claims::new(context.options));
    let mut logs =
        LogSetup::new(context.clock, context.zero_unix_ms, context.log_dir(), step.workers.len());
    let mut seats = Vec::with_capacity(step.workers.len());
    let mut walks = SharedWalks::default();
    for (idx, bound) in step.workers.iter().enumerate() {
        if bound.worker_idx == 0 {
            // The first of the next job.
            walks = SharedWalks::default();
        }
        let (tree, tree_error) = trees.seat_of(bound);
        let mut seat = Seat::new(bound, setup[idx].take().or(tree_error));
        if context.options.detailed_intervals.is_some() {
            seat.count_by_series();
        }
        // Interrupted while files were laid out or workers made: no more start.
        let starts = !context.control.is_stopped();
        if starts && seat.setup_error.is_none() && !bound.job.files.create_only {
            let waits = WaitsForOthers { locks: locks.of(bound), ranges: overlaps.of(bound) };
            let amount = moved.as_ref().map(|moved| AmountShare::new(moved, &seat.meters));
            let (flow, claims) = (flows.remove(&idx), Arc::clone(&claims));
            let shared = Shared { walks: &mut walks, flow, waits, tree, amount, claims };
            if let Err(error) = seat.spawn(context, idx, shared, &mut logs, channel.0.clone()) {
                seat.setup_error = Some(error);
            }
        }
        seats.push(seat);
    }
    // Of workers that do not start: the others of their flow would wait for them.
    drop(flows);
    let mut running = Running::new(context, seats, context.clock.now_ns());
    running.notes = verify_notes::of_step(step);
    let logs = start_logs(&mut running, logs);
    let mut formats = trees.formats();
    let mut each_turn = || trees.let_formats_make();
    watch(&mut running, &channel, &mut each_turn, &mut |event| {
        if matches!(event, RunEvent::Status(_) | RunEvent::Interval(_)) {
            formats.report(on_event);
        }
        on_event(event);
    });
    running.notes.extend(logs.into_iter().flat_map(LogWriter::finish));
    join_threads(&mut running);
    trees.let_formats_make();
    formats.report(on_event);
    trees.report(false, on_event);
    running.notes.extend(trees.close());
    note_caps(&mut running);
    running.into_outcome(context.clock.now_ns())
}

/// Starts the writer of the logs, or says why there will be none.
fn start_logs(running: &mut Running<'_>, logs: LogSetup) -> Option<LogWriter> {
    logs.start().unwrap_or_else(|error| {
        let text = format!("no logs are written: {}", system_text(error));
        running.notes.push((NoteSeverity::Error, LOG_FAILED, text));
        None
    })
}

/// Share of the latency by which completions of emulated volumes may be late: the accuracy that is
/// promised of them.
const LATE_SHARE_MAX: f64 = 0.03;

/// Adds to the results which caps of emulated volumes held the workers, and says so where this host
/// was too busy to keep their time.
fn note_caps(running: &mut Running<'_>) {
    let context = running.context;
    let Some(volumes) = &context.volumes else { return };
    let mut late_share_max: f64 = 0.0;
    for (idx, seat) in running.seats.iter_mut().enumerate() {
        let Some(result) = &mut seat.result else { continue };
        let number = context.n_workers_before + idx as u32;
        if let Some((caps, late_share)) = volumes.caps_of(seat.bound, number) {
            result.caps = Some(caps);
            late_share_max = late_share_max.max(late_share);
        }
    }
    if late_share_max > LATE_SHARE_MAX {
        let text = format!(
            "completions were late by up to {:.0} % of their modelled latency, because this host \
             was busy: the volume is better than these numbers; run with --virtual, or slower \
             with --time-scale 10",
            late_share_max * 100.0
        );
        running.notes.push((NoteSeverity::Error, "late-completions", text));
    }
}

/// Takes leave of the threads of workers that have ended.
fn join_threads(running: &mut Running<'_>) {
    for seat in &mut running.seats {
        // A thread that has sent its result, or its panic, has nothing left to do but return.
        if seat.state == SeatState::Ended
            && let Some(thread) = seat.thread.take()
        {
            let _returned = thread.join();
        }
    }
}
