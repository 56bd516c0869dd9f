//! What comes after the last I/O of a worker: its files are made durable or removed, and its
//! command runs. None of it is measured.

use engine::{Engine, EngineError};

use crate::process::Surroundings;

/// Ends a worker's work. `failed` says that it has failed already: then nothing is made durable.
///
/// Returns what could not be made durable, which is an error of the job, and remarks.
pub(crate) fn finish(
    surroundings: &Surroundings,
    engine: &mut dyn Engine,
    failed: bool,
) -> (Option<EngineError>, Vec<String>) {
    let job = surroundings.job.as_ref();
    let mut remarks = Vec::new();
    let mut error = None;
    if job.durability.end_syncfs && job.modifies() && !failed {
        error = engine.sync_file_systems().err();
    }
    if let Err(problem) = surroundings.after() {
        remarks.push(format!("after job `{}`: {problem}", job.name));
    }
    if (job.files.unlink || job.files.unlink_each_loop)
        && let Err(problem) = engine.remove_files()
    {
        remarks.push(problem.to_string());
    }
    (error, remarks)
}
