//! Which jobs of a plan that is refused cannot start, each alone on this host. Nothing is looked at
//! again: what was found out about the whole plan tells it.

use std::collections::HashSet;

use plan::{Diagnostic, Job, Plan, Severity, Step};

use crate::bind::{bind, job_paths};
use crate::control::Control;
use crate::facts::Facts;
use crate::options::RunOptions;
use crate::{read_only, targets};

/// Returns the positions of the jobs with a mistake among these.
pub(crate) fn refused(of_jobs: &[(usize, Diagnostic)]) -> HashSet<usize> {
    let errors = of_jobs.iter().filter(|(_, finding)| finding.severity == Severity::Error);
    errors.map(|(job_idx, _)| *job_idx).collect()
}

/// Returns the number of workers of the jobs that cannot start; 0 unless it is asked for. `unread`
/// are those, by position, whose records or folders cannot be read.
pub(crate) fn n_workers(
    plan: &Plan,
    facts: &Facts,
    unread: &HashSet<usize>,
    options: &RunOptions,
) -> u64 {
    if !options.counts_refused {
        return 0;
    }
    let can_start = |job: &Job| {
        if job_paths(job).any(|path| facts.is_unreadable(&path)) {
            return false;
        }
        let step = Step { jobs: vec![job.clone()], ..Step::default() };
        let plan = Plan { steps: vec![step], ..Plan::default() };
        let control = Control::new();
        let (bound, mut findings) = bind(&plan, facts, 0, &control);
        findings.append(&mut targets::check(&bound, facts, options, &control));
        if options.read_only {
            findings.extend(read_only::check(&plan, &bound, facts, options));
        }
        findings.iter().all(|finding| finding.severity != Severity::Error)
    };
    let jobs = plan.jobs().enumerate();
    let refused = jobs.filter(|(job_idx, job)| unread.contains(job_idx) || !can_start(job));
    refused.map(|(_, job)| u64::from(job.n_workers)).sum()
}
