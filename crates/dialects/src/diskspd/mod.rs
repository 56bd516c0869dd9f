//! Command lines of diskspd, as scripts have them, and its profiles in XML: what threads do to
//! targets, with which caches, for how long.
//!
//! A [script] is split into commands; those that [call](calls) diskspd are read by the table of its
//! [options] into [commands](command), of which the targets of a [profile] have one each. A time
//! span is a [step](lower) of a plan, with a job for each [target](sites), since threads and
//! outstanding I/Os count per target.
//!
//! What options mean is as in diskspd 2.2 and in diskspd for Linux; what is left to the host (drive
//! letters, shares, numbers of disks) is mapped by `--remap`.
//!
//! Tests: `tests/diskspd.rs`, `tests/diskspd_profiles.rs`.

mod calls;
mod command;
mod lower;
mod measured;
mod options;
mod profile;
mod script;
mod sites;
mod text;
mod write;
mod xml;

use plan::{Plan, Severity};
use record::Record;

use crate::foreign;
use crate::{Dialect, Likeness, Loader, Overrides, Parsed, ReadPlan, Request, Translation};
use calls::{Files, ReadScript};
use command::TimeSpan;
use measured::Measured;

/// The language of diskspd's command lines and profiles.
#[derive(Clone, Copy, Debug)]
pub struct Diskspd;

impl Dialect for Diskspd {
    fn name(&self) -> &'static str {
        "diskspd"
    }

    fn about(&self) -> &'static str {
        "Scripts with command lines of diskspd, and its profiles in XML"
    }

    fn file(&self) -> &'static str {
        "a script that calls diskspd"
    }

    fn signs(&self) -> &'static str {
        "a script that calls diskspd has a line such as `diskspd -b8K -d60 FILE`"
    }

    fn comment(&self) -> char {
        '#'
    }

    fn likeness(&self, text: &str) -> Likeness {
        let is_it = foreign::calls_diskspd(text) || foreign::is_diskspd_profile(text);
        if is_it { Likeness::Declared } else { Likeness::None }
    }

    fn read(&self, request: &Request<'_>, loader: &dyn Loader) -> ReadPlan {
        let (variables, files) = request.variables(loader);
        Parsed::of_wide_files(&files, "script", loader, |path, text| {
            lower::parse_text(path, text, &variables, request, loader)
        })
    }

    fn write(&self, plan: &Plan) -> Translation {
        write::write(plan)
    }
}

/// Returns a script that calls diskspd with these words.
pub fn script_of(words: &[String]) -> String {
    let words = words.iter().map(|word| script::quoted(word));
    let all: Vec<String> = ["diskspd".to_owned()].into_iter().chain(words).collect();
    format!("{}\n", all.join(" "))
}

/// Returns what a script of one call asks for, as the tool prints it: where that is all that it
/// asks for, with `-Rp`, and it has no mistake.
pub fn profile(script: &str, overrides: &Overrides, loader: &dyn Loader) -> Option<String> {
    let time_spans = time_spans(script, overrides, loader)?;
    let whole = time_spans.first()?.whole();
    whole.is_profile_only.as_ref()?;
    let is_xml = whole.is_xml == Some(true);
    Some(if is_xml { xml::profile(&time_spans) } else { text::profile(&time_spans) })
}

/// Returns the results of a script of one call as the tool prints them, in text or in XML. `stamp`
/// prints a moment, milliseconds since 1970, as `2026/11/27 02:49:00`, in UTC; `size_of` returns
/// the bytes of a file or device. Nothing, where the script has a mistake.
pub fn results(
    script: &str,
    overrides: &Overrides,
    loader: &dyn Loader,
    record: &Record,
    stamp: &dyn Fn(u64) -> String,
    size_of: &dyn Fn(&str) -> Option<u64>,
) -> String {
    let Some(time_spans) = time_spans(script, overrides, loader) else { return String::new() };
    let with_step = |it: TimeSpan| {
        let step = record.steps.iter().find(|step| step.name == it.step_name())?;
        Some((Measured::of(&it, step.step_idx, record, size_of), it))
    };
    let (all, time_spans): (Vec<Measured<'_>>, Vec<TimeSpan>) =
        time_spans.into_iter().filter_map(with_step).unzip();
    let Some(first) = time_spans.first() else { return String::new() };
    let is_xml = first.whole().is_xml == Some(true);
    if is_xml {
        xml::results(&time_spans, &all, stamp)
    } else {
        text::results(&time_spans, &all, stamp)
    }
}

/// Returns what a script asks for; none where that has a mistake.
fn time_spans(script: &str, overrides: &Overrides, loader: &dyn Loader) -> Option<Vec<TimeSpan>> {
    let files = Files { overrides, loader };
    let ReadScript { time_spans, findings, .. } = calls::read("", script, &[], &[], files);
    findings.iter().all(|it| it.severity < Severity::Error).then_some(time_spans)
}
