//! What a step is given by the run around it, and what it gives back.

use std::path::Path;
use std::sync::Arc;

use plan::job::AmountMax;
use record::{Interval, IoErrorRecord, JobRecord, NoteSeverity, StepConditions};
use worker::ErrorBudget;

use crate::clock::Clock;
use crate::control::Control;
use crate::emulation::SharedVolumes;
use crate::journal::Journal;
use crate::options::RunOptions;
use crate::so_far::RunSoFar;

/// What a step needs to know of the run around it.
pub(crate) struct StepContext<'a> {
    pub(crate) step_idx: u32,
    pub(crate) n_steps: u32,
    pub(crate) clock: Clock,
    pub(crate) zero_unix_ms: u64,
    pub(crate) options: &'a RunOptions,
    pub(crate) control: &'a Control,
    /// Number of workers in the steps before.
    pub(crate) n_workers_before: u32,
    /// Errors that its workers survive together.
    pub(crate) errors: ErrorBudget,
    /// What its jobs move together at most.
    pub(crate) amount_max: AmountMax,
    /// Emulated volumes that the workers' threads work on.
    pub(crate) volumes: Option<SharedVolumes>,
    /// Where writes are written down, if they are.
    pub(crate) journal: Option<Arc<Journal>>,
    /// The steps before.
    pub(crate) so_far: &'a RunSoFar<'a>,
}

impl StepContext<'_> {
    /// Returns the folder for logs and what commands print; empty is the current one.
    pub(crate) fn log_dir(&self) -> &Path {
        self.options.log_dir.as_deref().unwrap_or(Path::new(""))
    }

    /// Returns the folder for verify state files.
    pub(crate) fn aux_dir(&self) -> &Path {
        self.options.aux_dir.as_deref().unwrap_or(Path::new(""))
    }
}

/// What came of a step.
#[derive(Default)]
pub(crate) struct StepOutcome {
    pub(crate) jobs: Vec<JobRecord>,
    pub(crate) intervals: Vec<Interval>,
    pub(crate) conditions: StepConditions,
    pub(crate) notes: Vec<(NoteSeverity, &'static str, String)>,
    /// Failed operations, as far as they are kept.
    pub(crate) io_errors: Vec<IoErrorRecord>,
    pub(crate) stop_all: bool,
    /// A worker could not start or failed.
    pub(crate) failed: bool,
}
