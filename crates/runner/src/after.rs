//! What comes after the last I/O of a worker: its files are made durable or removed, and its
//! command runs. None of it is measured.

use engine::{Engine, EngineError};

use crate::process::Surroundings;
use crate::worker_event::Signals;

/// Ends a worker's work. `failed` says that it has failed already: then nothing is made durable.
///
/// Returns what could not be made durable, which is an error of the job, and remarks.
pub(crate) fn finish(
    surroundings: &Surroundings,
    engine: &mut dyn Engine,
    failed: bool,
    signals: &Signals,
) -> (Option<EngineError>, Vec<String>) {
    let job = surroundings.job.as_ref();
    let mut remarks = Vec::new();
    let mut error = None;
    if job.durability.end_syncfs && job.modifies() && !failed {
        error = engine.sync_file_systems().err();
    }
    // Files that are to be durable when they are closed are so now, or never.
    if let Err(problem) = engine.close_files()
        && !failed
    {
        error.get_or_insert(problem);
    }
    if let Err(problem) = surroundings.after(signals) {
        remarks.push(format!("after job `{}`: {problem}", job.name));
    }
    if job.files.unlink
        && let Err(problem) = engine.remove_files()
    {
        remarks.push(problem.to_string());
    }
    (error, remarks)
}
