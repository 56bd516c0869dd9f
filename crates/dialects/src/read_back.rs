//! What writers share that read back what they write: whatever of a job does not come back is lost,
//! and so is what comes with it, unless the I/O is the same.

use plan::files::{Fadvise, Size};
use plan::job::{AmountMax, PartRegion};
use plan::param::Field;
use plan::{EngineKind, EngineWork, Job, Severity, Step, job_field, job_fields};

use crate::translation::{Translation, Values};
use crate::{Overrides, Parsed, Request};

/// What a tool says to what there is around the jobs of a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StepLosses {
    /// The step is a point of a curve, and left out.
    pub(crate) curve: &'static str,
    /// Commands run before or after it.
    pub(crate) commands: &'static str,
    /// There is a pause before it.
    pub(crate) pause: &'static str,
    /// It ends after an amount.
    pub(crate) amount: &'static str,
}

/// Lists what is lost around the jobs of a step. Returns whether these are written.
pub(crate) fn around_step(step: &Step, losses: &StepLosses, to: &mut Translation) -> bool {
    let Step { name: _, jobs: _, pause_ns, exec_before, exec_after, rate_of, amount_max } = step;
    if rate_of.is_some() {
        to.lose(losses.curve);
        return false;
    }
    if !(exec_before.is_empty() && exec_after.is_empty()) {
        to.lose_fields(job_fields![process.exec_before, process.exec_after], losses.commands);
    }
    if *pause_ns > 0 {
        to.lose(losses.pause);
    }
    if *amount_max != AmountMax::default() {
        to.lose(losses.amount);
    }
    true
}

/// Returns why a tool that reads and writes bytes leaves out the jobs of an engine.
pub(crate) fn why_no_bytes(kind: EngineKind, tool: &str) -> Option<String> {
    match kind.traits().work {
        EngineWork::Bytes | EngineWork::MappedBytes => None,
        EngineWork::Nothing | EngineWork::Space(_) | EngineWork::Names(_) => {
            Some(format!("its engine does no I/O on bytes, and {tool} would read and write"))
        }
        EngineWork::ServerBytes => Some(format!(
            "its engine reaches a server by itself, and {tool} works on mounted files"
        )),
    }
}

/// Returns the one job of a text, as `parse` reads it, or why the tool does not take it.
pub(crate) fn one_job(
    tool: &str,
    parse: impl FnOnce(&Request<'_>) -> Parsed,
) -> Result<Job, String> {
    let parsed = parse(&Request {
        files: &[],
        sections: &[],
        overrides: &Overrides::default(),
        all_hosts_local: false,
        is_to_run: false,
    });
    let mut findings = parsed.diagnostics.iter().chain(&parsed.refusals);
    if let Some(error) = findings.find(|it| it.severity == Severity::Error) {
        return Err(format!("{tool} does not take it: {}", error.message));
    }
    let mut jobs = parsed.plan.steps.into_iter().flat_map(|step| step.jobs);
    match (jobs.next(), jobs.next()) {
        (Some(job), None) => Ok(job),
        (_, _) => Err(format!("{tool} does not take it: it is not one job")),
    }
}

/// Returns the fields of a job without which its I/O is the same whatever the tool: those that say
/// how completions are taken, and those of what the job does not do.
pub(crate) fn without_effect(own: &Job) -> Vec<Field> {
    let access = own.workload.access;
    let is_random_only =
        access.random && own.workload.random_pct.iter().all(|(_, pct)| *pct >= 100.0);
    let is_by_access = own.files.fadvise == Fadvise::ByAccess;
    same(&[
        // Completions are taken in another way.
        (job_field!(engine.name), !own.engine.kind.is_mapped()),
        (job_field!(engine.gives_way), true),
        (job_field!(load.spreads), true),
        (job_field!(workload.one_cursor), !access.is_mixed() || is_random_only),
        (job_field!(workload.read_pct), !access.is_mixed()),
        (job_field!(files.invalidate), own.files.direct || !access.read),
        (job_field!(files.fadvise), own.files.direct || is_by_access),
        (job_field!(files.allow_create), true),
        (job_field!(description), true),
        (job_field!(buffers.zero), !access.write),
        (job_field!(buffers.refill), !access.write),
        (job_field!(buffers.pattern), !access.write),
        (job_field!(buffers.scramble), !access.write),
    ])
}

/// Returns those fields without which the I/O is the same.
pub(crate) fn same(fields: &[(Field, bool)]) -> Vec<Field> {
    fields.iter().filter(|(_, is_same)| *is_same).map(|(field, _)| *field).collect()
}

/// Settles the values without which the I/O is the same.
pub(crate) fn settle(fields: &[Field], values: &mut Values, to: &mut Translation) {
    values.answered(fields);
    to.do_without(fields);
}

/// Returns why a job that writes is left out: the tool cannot say where, and would write elsewhere.
pub(crate) fn why_elsewhere(job: &Job, values: &Values, tool: &str) -> Option<String> {
    let it = values.open().find(|it| it.param.says_where()).filter(|_| job.modifies())?;
    Some(format!(
        "{tool} cannot say `{}={}`, and would write elsewhere",
        it.param.fio_name(),
        it.text
    ))
}

/// Lists what the tool has where the job leaves things as usual. What is still open is lost for
/// whichever parameter says it; its losses are the caller's to list.
pub(crate) fn lose_others(values: &Values, tool: &str, to: &mut Translation) {
    for it in values.open().chain(values.others()) {
        // Other parameters may say the same field.
        to.do_without(it.param.field.as_slice());
    }
    values.lose_others(tool, to);
}

/// Narrows a job to the part of its files that all of its workloads have.
///
/// # Errors
/// Why a job that writes is left out: the tool would write elsewhere.
pub(crate) fn narrow(
    job: &Job,
    own: &mut Job,
    tool: &str,
    to: &mut Translation,
) -> Result<(), String> {
    let regions = || job.parts.iter().map(|part| part.region);
    let Some(first) = regions().find(|it| *it != PartRegion::Whole) else { return Ok(()) };
    let bytes = match (first, own.files.size) {
        (PartRegion::Bytes(from, to), _) => Some((from, to)),
        (PartRegion::Pct(from, to), Some(Size::Bytes(size))) if to <= 100.0 => {
            let at = |pct: f64| (size as f64 * pct / 100.0).round() as u64;
            Some((at(from), at(to)))
        }
        (PartRegion::Pct(..) | PartRegion::Whole, _) => None,
    };
    match (bytes.filter(|_| regions().all(|it| it == first)), own.files.offset) {
        (Some((from, end)), Size::Bytes(offset)) => {
            own.files.offset = Size::Bytes(offset.saturating_add(from));
            own.files.size = Some(Size::Bytes(end.saturating_sub(from)));
            to.do_without(job_fields![files.offset, files.size]);
            Ok(())
        }
        (_, _) if job.modifies() => {
            let why = "its workloads have parts of a target, and";
            Err(format!("{why} {tool} would write elsewhere"))
        }
        (_, _) => {
            to.lose_fields(
                job_fields![files.offset, files.size],
                format!("parts of a target that are worked on (`{}`): {tool} takes all", job.name),
            );
            Ok(())
        }
    }
}
