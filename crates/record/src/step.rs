//! The steps of a run, where they have names.

use serde::{Deserialize, Serialize};

/// One step.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct StepRecord {
    /// Step, from 0.
    pub step_idx: u32,
    /// Its name.
    pub name: String,
    /// Start of its workers (of a step that was left out: when that was found), milliseconds after
    /// the start of the run.
    pub started_ms: u64,
    /// When everything of it had ended, milliseconds after the start of the run.
    pub ended_ms: u64,
    /// Rate that followed from another step, I/Os per second over all jobs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_iops: Option<f64>,
    /// Why it was left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skipped: Option<String>,
    /// Operations that failed, of jobs with a limit to their errors; the first
    /// [`IO_ERRORS_MAX`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub io_errors: Vec<IoErrorRecord>,
}

/// Failed operations kept per step: enough to see a pattern.
pub const IO_ERRORS_MAX: usize = 1000;

/// One failed operation.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct IoErrorRecord {
    /// Name of the job.
    pub job: String,
    /// File or device.
    pub target: String,
    /// Kind of operation, as in [`crate::SeriesRecord::op`].
    pub op: String,
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub len: u32,
    /// Error number.
    pub errno: i32,
    /// When it was seen, milliseconds after the start of the run.
    pub at_ms: u64,
}
