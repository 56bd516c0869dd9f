//! What a step and the thread that lays out its files send each other.

use std::path::PathBuf;
use std::sync::Arc;

use plan::Job;

/// How far the layout of a step is.
pub(crate) struct LayoutProgress {
    /// The job that needs the file.
    pub(crate) job: Arc<Job>,
    pub(crate) path: PathBuf,
    /// Bytes written of all files of the step that are written.
    pub(crate) done_bytes: u64,
    pub(crate) total_bytes: u64,
    /// The file is complete.
    pub(crate) is_last: bool,
}
