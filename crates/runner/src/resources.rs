//! What the workers of a step work with, once it is prepared: their trees and logs, and what they
//! share. Makes the workers.

use std::sync::Arc;
use std::sync::mpsc::Sender;

use record::{LOG_FAILED, NoteSeverity};
use units::system_text;
use worker::SharedWalks;

use crate::amount::{AmountShare, Moved};
use crate::bind::BoundStep;
use crate::event::RunEvent;
use crate::file_locks::FileLocks;
use crate::logs::{LogSetup, LogWriter};
use crate::overlaps::Overlaps;
use crate::preparation::Prepared;
use crate::prepare::WaitsForOthers;
use crate::running::{Running, flow_groups};
use crate::seat::Shared;
use crate::setup_error::SetupError;
use crate::step_event::StepEvent;
use crate::tree::{Formats, StepTrees};

/// What the workers of a step work with; nothing before it is prepared.
#[derive(Default)]
pub(crate) struct StepResources {
    pub(crate) trees: StepTrees,
    pub(crate) formats: Formats,
    pub(crate) logs: Option<LogWriter>,
}

impl StepResources {
    /// Makes the workers of a step that is prepared, unless the run is to end. Without a prepared
    /// step none can work, nor can those of later ones.
    pub(crate) fn make_workers(
        running: &mut Running<'_>,
        step: &BoundStep,
        prepared: Result<Prepared, SetupError>,
        events: &Sender<StepEvent>,
        on_event: &mut dyn FnMut(RunEvent<'_>),
    ) -> Self {
        match prepared {
            Ok(Prepared { errors, trees }) => {
                trees.report(true, on_event);
                for (seat, error) in running.seats.iter_mut().zip(errors) {
                    seat.setup_error = error;
                }
                let logs = start_workers(running, step, &trees, events);
                let (formats, logs) = (trees.formats(), start_logs(running, logs));
                StepResources { trees, formats, logs }
            }
            Err(error) => {
                running.stop_all = true;
                for seat in &mut running.seats {
                    seat.setup_error = Some(error.clone());
                }
                StepResources::default()
            }
        }
    }
}

/// Starts the threads of the workers that can start. Returns their logs.
fn start_workers(
    running: &mut Running<'_>,
    step: &BoundStep,
    trees: &StepTrees,
    events: &Sender<StepEvent>,
) -> LogSetup {
    let context = running.context;
    let n_workers = running.seats.len();
    let claims = &running.claims;
    let mut flows = flow_groups(step);
    let locks = FileLocks::new(step);
    let overlaps = Overlaps::new(step);
    let moved = Moved::new(context.amount_max);
    let mut logs = LogSetup::new(context.clock, context.zero_unix_ms, context.log_dir(), n_workers);
    let mut walks = SharedWalks::default();
    for (idx, seat) in running.seats.iter_mut().enumerate() {
        let bound = seat.bound;
        if bound.worker_idx == 0 {
            // The first of the next job.
            walks = SharedWalks::default();
        }
        let (tree, tree_error) = trees.seat_of(bound);
        seat.setup_error = seat.setup_error.take().or(tree_error);
        // Interrupted while files were laid out or workers made: no more start.
        let starts = !context.control.is_stopped();
        if starts && seat.setup_error.is_none() && !bound.job.files.create_only {
            let waits = WaitsForOthers { locks: locks.of(bound), ranges: overlaps.of(bound) };
            let amount = moved.as_ref().map(|moved| AmountShare::new(moved, &seat.meters));
            let (flow, claims) = (flows.remove(&idx), Arc::clone(claims));
            let shared = Shared { walks: &mut walks, flow, waits, tree, amount, claims };
            if let Err(error) = seat.spawn(context, idx, shared, &mut logs, events.clone()) {
                seat.setup_error = Some(error);
            }
        }
    }
    running.stop_all |= context.control.is_stopped();
    // Flows of workers that do not start end here: the others would wait for them.
    logs
}

/// Starts the writer of the logs, or says why there will be none.
fn start_logs(running: &mut Running<'_>, logs: LogSetup) -> Option<LogWriter> {
    logs.start().unwrap_or_else(|error| {
        let text = format!("no logs are written: {}", system_text(error));
        running.notes.push((NoteSeverity::Error, LOG_FAILED, text));
        None
    })
}
