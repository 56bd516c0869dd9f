//! Runs one step: prepares it, starts its workers together, watches them, collects them.

use std::sync::Arc;
use std::sync::mpsc::channel;

use record::NoteSeverity;

use crate::bind::BoundStep;
use crate::context::{StepContext, StepOutcome};
use crate::event::RunEvent;
use crate::logs::LogWriter;
use crate::running::Running;
use crate::seat::{Seat, SeatState};
use crate::verify_notes;
use crate::watch::{Channel, watch};

/// Runs a step to its end.
pub(crate) fn run_step(
    context: &StepContext<'_>,
    step: &Arc<BoundStep>,
    on_event: &mut dyn FnMut(RunEvent<'_>),
) -> StepOutcome {
    let channel: Channel = channel();
    let _listening = context.control.listen(channel.0.clone());
    let seats = step.workers.iter().map(|bound| {
        let mut seat = Seat::new(bound);
        if context.options.detailed_intervals.is_some() {
            seat.count_by_series();
        }
        seat
    });
    let mut running = Running::new(context, seats.collect(), context.clock.now_ns());
    running.notes = verify_notes::of_step(step);
    let mut resources = watch(&mut running, &channel, step, on_event);
    running.notes.extend(resources.logs.take().into_iter().flat_map(LogWriter::finish));
    join_threads(&mut running);
    resources.trees.let_formats_make();
    resources.formats.report(on_event);
    resources.trees.report(false, on_event);
    running.notes.extend(resources.trees.close());
    note_caps(&mut running);
    running.into_outcome(context.clock.now_ns())
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
            "completions were late by up to {} of their modelled latency, because this host \
             was busy: the volume is better than these numbers; run with --virtual, or slower \
             with --time-scale 10",
            units::format_percent_whole(late_share_max)
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
