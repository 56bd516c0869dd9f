//! From runs to steps of a plan: what all runs have in common.
//!
//! `lower_raw` makes the jobs of storage definitions, `lower_files` those of file structures.

use plan::job::RateOf;
use plan::{Diagnostic, Job, Severity, Step};

pub use super::context::Context;

use super::output::job_names;
use super::run::{CURVE_ROUND_UP, Command, CommandTime, Rate, Run, Work};
use super::{lower_files, lower_raw};
use crate::devices::is_device;

/// Below this rate a curve ends, I/Os per second.
const CURVE_RATE_MIN_IOPS: u64 = 10;

/// Turns a run into a step, whose jobs have the names of [`job_names`], which tell them apart. What
/// cannot run, and what runs otherwise than written, is added to `findings`; with an error there,
/// the step is not whole.
///
/// `$output` in commands is left as it is.
pub fn step(run: &Run, context: Context<'_>, findings: &mut Vec<Diagnostic>) -> Step {
    let mut jobs = match &run.work {
        Work::Raw(_) | Work::SdFormat(_) => lower_raw::jobs(run, context, findings),
        Work::Files(_) | Work::Format(_) => lower_files::jobs(run, context, findings),
    };
    for (job, group_id) in jobs.iter_mut().zip(context.first_group_id..) {
        job.group_id = group_id;
    }
    let names = job_names(run);
    // With a mistake some jobs are missing, and nothing runs. Else the names are theirs: by them
    // pages find what each job did.
    let is_whole = names.len() == jobs.len();
    assert!(is_whole || has_errors(findings), "{}: {} jobs, {names:?}", run.name, jobs.len());
    if is_whole {
        jobs.iter_mut().zip(names).for_each(|(job, name)| job.name = name);
    }
    Step {
        name: run.name.clone(),
        jobs,
        pause_ns: run.pause_ns,
        exec_before: texts_at(CommandTime::Start, &run.commands).collect(),
        exec_after: texts_at(CommandTime::End, &run.commands).collect(),
        rate_of: rate_of(run, context, findings),
        amount_max: run.maxdata,
    }
}

/// Lets jobs make the files that a run writes first (`SD_format`), which others have no word for.
pub(super) fn let_files_be_made<'a>(jobs: impl IntoIterator<Item = &'a mut Job>) {
    for job in jobs {
        let files = &mut job.files;
        let has_device = files.names.iter().any(|name| is_device(name));
        files.allow_create |= files.size.is_some() && !files.concatenate && !has_device;
    }
}

fn has_errors(findings: &[Diagnostic]) -> bool {
    findings.iter().any(|finding| finding.severity == Severity::Error)
}

/// Returns the command lines that are for this time.
pub fn texts_at(time: CommandTime, commands: &[Command]) -> impl Iterator<Item = String> {
    let at_time = commands.iter().filter(move |command| command.time == time);
    at_time.map(|command| command.text.clone())
}

/// Returns what the rate of a curve's point is a share of.
fn rate_of(run: &Run, context: Context<'_>, findings: &mut Vec<Diagnostic>) -> Option<RateOf> {
    let Rate::CurvePoint { pct, stop_above_ns } = run.rate else { return None };
    let Some(step_idx) = context.curve_step_idx else {
        let message = format!("run `{}` is a point of a curve that has no maximum", run.name);
        findings.push(Diagnostic::error("curve-without-maximum", message));
        return None;
    };
    Some(RateOf {
        step_idx,
        pct,
        round_up: CURVE_ROUND_UP,
        rate_min_iops: CURVE_RATE_MIN_IOPS,
        stop_above_ns,
        // As in the averages, which are those of rows: a warmup's rows are none of theirs.
        after_ns: if run.warmup_ns == 0 { run.interval_ns } else { 1 },
    })
}
