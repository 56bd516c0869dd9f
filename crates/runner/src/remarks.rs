//! What a reader of the numbers should know about the plan on this host, before it runs.
//!
//! Pure, like `bind.rs`: nothing is looked at here.

use engine::{FileKind, TargetFacts};
use plan::{Diagnostic, Job};

use crate::bind::{BoundFile, BoundPlan};
use crate::facts::Facts;
use crate::findings::{FILES_SHOWN_MAX, Findings};

/// A file with less than this of 16 parts allocated is called sparse. The rest covers compression
/// and what file systems store beside the contents.
const ALLOCATED_SIXTEENTHS: u64 = 15;

/// Returns remarks on the bound plan, each once.
pub(crate) fn of(bound: &BoundPlan, facts: &Facts) -> Vec<Diagnostic> {
    let mut findings = Findings::default();
    for worker in bound.workers() {
        let job = worker.job.as_ref();
        findings.extend(without_runtime(job));
        findings.extend(buffered_aio(job));
        let files = worker.files.iter().filter(|_| !job.engine.kind.is_idle());
        files
            .filter_map(|file| sparse(job, file, facts.get(&file.path)))
            .take(FILES_SHOWN_MAX + 1)
            .for_each(|finding| findings.add_of_file(&job.name, finding));
    }
    findings.into_shown()
}

/// Returns the remarks that do not depend on this host, each once.
pub(crate) fn on_volumes(bound: &BoundPlan) -> Vec<Diagnostic> {
    let mut findings = Findings::default();
    findings.extend(bound.workers().filter_map(|worker| without_runtime(&worker.job)));
    findings.into_shown()
}

fn without_runtime(job: &Job) -> Option<Diagnostic> {
    let limits = &job.limits;
    (limits.time_based && limits.runtime_ns.is_none()).then(|| {
        let text =
            format!("job `{}` is time_based and has no runtime: it ends by amount", job.name);
        Diagnostic::warning("time-based-without-runtime", text)
    })
}

/// Some engines, such as native AIO, block in the submission unless the I/O is direct.
fn buffered_aio(job: &Job) -> Option<Diagnostic> {
    let waits = job.engine.kind.traits().waits_unless_direct;
    let blocks = waits && !job.files.direct && job.load.queue_depth > 1;
    blocks.then(|| {
        let text = format!(
            "job `{}` uses {} without direct=1: the kernel then works on one I/O at a time, \
             whatever the iodepth",
            job.name, job.engine.name
        );
        Diagnostic::note("aio-buffered", text)
    })
}

/// Reading holes measures the file system, not the device.
fn sparse(job: &Job, file: &BoundFile, facts: Option<&TargetFacts>) -> Option<Diagnostic> {
    let facts = facts.filter(|facts| facts.kind == FileKind::Regular)?;
    let reads = job.access().read && !job.engine.kind.is_of_names();
    let expected = facts.size_bytes / 16 * ALLOCATED_SIXTEENTHS;
    if !reads || file.region.len_bytes == 0 {
        return None;
    }
    let (allocated, written, size) = (facts.allocated_bytes, facts.written_bytes, facts.size_bytes);
    let path = file.path.display();
    let text = if allocated < expected {
        format!(
            "`{path}` is sparse, {allocated} of {size} B are on the device: reads of the holes do \
             not reach it"
        )
    } else if written < expected {
        format!(
            "{written} of the {size} B of `{path}` were ever written: reads of the rest do not \
             reach the device; remove the file to have all of it written"
        )
    } else {
        return None;
    };
    Some(Diagnostic::warning("target-sparse", text))
}
