//! The way back: which parameters, with which values, make a job.

use super::entry::{Param, Support, Value};
use super::index::{all, apply_rank};
use crate::Job;

/// A parameter with its value in a job.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The parameter.
    pub param: &'static Param,
    /// Its value.
    pub value: Value,
    /// The value as one would write it in a fio job file of the job's `kb_base`.
    pub text: String,
}

/// Returns the parameters whose values are not as usual, in the order in which they are to be
/// lowered.
///
/// Lowering them into [`Job::default`] makes the same job, but for what no parameter says: its
/// name, its group, its options as once written, and what only native plans have.
pub fn settings(job: &Job) -> Vec<Setting> {
    let takes_effect =
        |param: &&Param| matches!(param.support, Support::Full | Support::NoEffect(_));
    let mut params: Vec<&'static Param> = all().filter(takes_effect).collect();
    params.sort_by_key(|param| apply_rank(param));
    let mut made = Job { name: job.name.clone(), ..Job::default() };
    let mut settings = Vec::new();
    for param in params {
        let Some(value) =
            (param.get)(job).filter(|value| (param.get)(&made).as_ref() != Some(value))
        else {
            continue;
        };
        // What a job says is in its range; else it is still said, and a reader tells.
        let _ = (param.lower)(&mut made, &value);
        let text = param.text(&value, job.reporting.kb_base);
        settings.push(Setting { param, value, text });
    }
    settings
}
