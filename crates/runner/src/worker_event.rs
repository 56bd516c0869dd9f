//! What a step and the threads of its workers send each other.

use std::sync::atomic::{AtomicBool, AtomicU32};

use engine::{EngineError, Usage};
use pattern::verify::VerifyState;
use worker::{ArrivalCounts, ErrorsSeen, Failure, IoError};

use crate::setup_error::SetupError;
use crate::verify_check::BadBlocks;

/// What a worker thread sends to the step that started it.
pub(crate) enum WorkerEvent {
    /// It is ready to start, or has failed to become so.
    Ready { idx: usize, error: Option<SetupError> },
    /// An operation failed, for a job that asks to hear of each.
    Error { text: String },
    /// An operation failed, of a job with a limit to its errors.
    IoError { idx: usize, error: IoError },
    /// It has ended.
    Ended { idx: usize, result: Box<WorkerResult> },
    /// Its thread is gone without a result: a fault of this program, in its own words.
    Panicked { idx: usize, message: String },
}

/// What is left of a worker when it has ended.
#[derive(Default)]
pub(crate) struct WorkerResult {
    pub(crate) failure: Option<Failure>,
    /// An error of the engine rather than of an operation.
    pub(crate) engine_error: Option<EngineError>,
    pub(crate) engine_used: String,
    /// It ran because the host refuses the engine that was asked for.
    pub(crate) stands_in: bool,
    pub(crate) tid: u32,
    pub(crate) started_ns: u64,
    pub(crate) measured_ns: u64,
    pub(crate) ended_ns: u64,
    /// When the last operation completed.
    pub(crate) last_done_ns: u64,
    pub(crate) usage: Usage,
    pub(crate) samples: [[hist::Stats; 3]; 2],
    /// Operations in flight times nanoseconds.
    pub(crate) in_flight_ns: Option<u64>,
    /// How an open load was kept up with.
    pub(crate) kept: ArrivalCounts,
    pub(crate) latency_target: Option<(plan::load::LatencyTarget, u32)>,
    pub(crate) errors: ErrorsSeen,
    pub(crate) first_ignored_errno: Option<i32>,
    /// Blocks found bad, in words.
    pub(crate) bad_blocks: BadBlocks,
    /// Blocks that were written and should have been read back.
    pub(crate) n_unverified: usize,
    /// What was written, if it is to be saved for a later run.
    pub(crate) verify_state: Option<VerifyState>,
    /// What else the user should know, in words.
    pub(crate) remarks: Vec<String>,
    /// Which caps of emulated volumes held it.
    pub(crate) caps: Option<record::CapsRecord>,
}

/// What the step shares with a worker thread.
#[derive(Debug, Default)]
pub(crate) struct Signals {
    /// The worker may start.
    pub(crate) go: AtomicBool,
    /// The worker must end.
    pub(crate) stop: AtomicBool,
    /// How often the run was interrupted from outside.
    pub(crate) n_interrupts: AtomicU32,
}
