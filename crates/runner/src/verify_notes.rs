//! What a user should know about verification before the numbers.

use std::collections::BTreeMap;
use std::path::Path;

use plan::Job;
use plan::verify::VerifyPolicy;
use record::NoteSeverity;

use crate::bind::{BoundStep, BoundWorker};
use crate::verify_state;
use crate::worker_event::WorkerResult;

/// A note for the record: severity, code, text.
pub(crate) type NoteParts = (NoteSeverity, &'static str, String);

/// Returns what is to be said about the jobs of a step, each thing once.
pub(crate) fn of_step(step: &BoundStep) -> Vec<NoteParts> {
    let first_of_job = step.workers.iter().filter(|worker| worker.worker_idx == 0);
    let mut notes: Vec<NoteParts> =
        first_of_job.flat_map(|worker| of_job(&worker.job, worker.files.len())).collect();
    notes.extend(shared_target(step));
    notes
}

fn of_job(job: &Job, n_files: usize) -> Vec<NoteParts> {
    let (name, verify) = (&job.name, &job.verify);
    let writes = job.workload.access.write;
    let mut notes = Vec::new();
    if verify.method.is_none() {
        return notes;
    }
    if verify.policy == VerifyPolicy::Fsynced && writes && n_files > 1 {
        let text = format!(
            "`{name}` has {n_files} files, and a sync covers one of them: its verify state covers \
             nothing; use one file per job, or `verify_policy=completed`"
        );
        notes.push((NoteSeverity::Warning, "verify-fsynced-files", text));
    }
    if verify.state_load && !verify_state::is_wanted(job) {
        let text = format!(
            "`{name}` writes anew, so `verify_state_load` has no effect: set `verify_only` to \
             verify an earlier run"
        );
        notes.push((NoteSeverity::Warning, "verify-state-unused", text));
    }
    notes
}

/// Returns what is to be said of a worker that has ended.
pub(crate) fn of_result(job: &Job, result: &WorkerResult) -> Vec<NoteParts> {
    let mut notes = Vec::new();
    if result.bad_blocks.n_blocks() > 0 {
        notes.push((NoteSeverity::Error, "verify-failed", result.bad_blocks.text()));
    }
    if result.n_unverified > 0 && result.failure.is_none() {
        let text = format!(
            "`{}` ended before {} blocks that it wrote were read back",
            job.name, result.n_unverified
        );
        // A time that ends within a pass is what was asked for.
        let is_asked = job.repeats_for_a_time();
        let severity = if is_asked { NoteSeverity::Info } else { NoteSeverity::Warning };
        notes.push((severity, "verify-incomplete", text));
    }
    notes
}

/// Says so when several workers write the same bytes, one of which verifies its own.
fn shared_target(step: &BoundStep) -> Option<NoteParts> {
    let mut regions: BTreeMap<&Path, Vec<(u64, u64)>> = BTreeMap::new();
    let writers = |worker: &&BoundWorker| worker.job.modifies() && !worker.job.verify.verify_only;
    let verifies = |worker: &BoundWorker| worker.job.verify.method.is_some();
    if !step.workers.iter().filter(writers).any(verifies) {
        return None;
    }
    for file in step.workers.iter().filter(writers).flat_map(|worker| &worker.files) {
        regions
            .entry(&file.path)
            .or_default()
            .push((file.region.offset_bytes, file.needed_bytes()));
    }
    regions.into_iter().find_map(|(path, mut regions)| {
        regions.sort_unstable();
        let overlap = regions.windows(2).any(|pair| pair[1].0 < pair[0].1);
        overlap.then(|| {
            let text = format!(
                "several workers write the same bytes of `{}`: each may find blocks of another \
                 and call them bad",
                path.display()
            );
            (NoteSeverity::Warning, "verify-shared", text)
        })
    })
}
