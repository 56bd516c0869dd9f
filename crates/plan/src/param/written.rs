//! The way back: which parameters, written how, make a job.
//!
//! What has few values is found by trying: the value that changes nothing is the job's. What
//! counts or names something is read from the job's field, in [`text_of`].

use super::text_of::text_of;
use super::{AccessValue, Kind, Param, Support, Value, all, apply_rank};
use crate::Job;
use crate::workload::Access;

/// Returns the parameters that differ from their defaults, each as one would write it in a fio job
/// file, in the order in which they are to be lowered.
///
/// Lowering them into [`Job::default`] makes the same job, but for what no parameter says: its
/// name, its group, its options as once written, and what only native plans have.
pub fn written(job: &Job) -> Vec<(&'static Param, String)> {
    let mut params: Vec<&'static Param> = all().filter(|param| is_lowered(param.support)).collect();
    params.sort_by_key(|param| apply_rank(param));
    let mut made = Job { name: job.name.clone(), ..Job::default() };
    let mut written = Vec::new();
    for param in params {
        let candidates = candidates(param, job);
        if candidates.is_empty() {
            let text = text_of(param.name, job);
            if let Some(text) =
                text.filter(|text| text_of(param.name, &made).as_ref() != Some(text))
            {
                written.push((param, text));
            }
            continue;
        }
        let found = candidates.into_iter().find(|(value, _)| changed(param, job, value).is_none());
        if let Some((value, text)) = found
            && let Some(after) = changed(param, &made, &value)
        {
            made = after;
            written.push((param, text));
        }
    }
    written
}

/// Says whether a parameter's value stands in the job.
fn is_lowered(support: Support) -> bool {
    matches!(support, Support::Full | Support::NoEffect(_))
}

/// Returns the job with a value lowered into it, if that makes another job of it.
fn changed(param: &Param, job: &Job, value: &Value) -> Option<Job> {
    let mut after = job.clone();
    (param.lower)(&mut after, value).ok()?;
    (after != *job).then_some(after)
}

/// Returns all values of a parameter that has few, with their texts; none for the others.
fn candidates(param: &Param, job: &Job) -> Vec<(Value, String)> {
    match param.kind {
        Kind::Bool | Kind::Flag => {
            [true, false].map(|on| (Value::Bool(on), u8::from(on).to_string())).into()
        }
        Kind::Enum(choices) => choices
            .iter()
            .map(|choice| (Value::Choice(choice.name), choice.name.to_owned()))
            .collect(),
        Kind::Access => walks(job),
        _ => Vec::new(),
    }
}

/// The walks, by fio's names, with the job's number behind the colon.
fn walks(job: &Job) -> Vec<(Value, String)> {
    let workload = &job.workload;
    let postfix = if workload.access.random {
        Some(i64::from(workload.ios_per_draw)).filter(|n| *n != 1)
    } else {
        Some(workload.sequential_step_bytes).filter(|step| *step != 0)
    };
    let behind = postfix.map(|number| format!(":{number}")).unwrap_or_default();
    let name = |access: Access| {
        let walk = match (access.read, access.write, access.trim) {
            (true, true, _) => "rw",
            (_, true, true) => "trimwrite",
            (_, true, _) => "write",
            (_, _, true) => "trim",
            _ => "read",
        };
        if access.random { format!("rand{walk}{behind}") } else { format!("{walk}{behind}") }
    };
    let access = workload.access;
    vec![(Value::Access(AccessValue { access, postfix }), name(access))]
}
