//! Command lines of diskspd, as scripts have them: what threads do to targets, with which caches,
//! for how long.
//!
//! A [script] is split into commands; those that call diskspd are read by the table of its
//! [options] into a [command], and each becomes a [step](lower) of a plan: a job for each target,
//! since threads and outstanding I/Os count per target.
//!
//! What options mean is as in diskspd 2.2 and in diskspd for Linux; what is left to the host (drive
//! letters, shares, numbers of disks) is mapped by `--remap`.
//!
//! Tests: `tests/diskspd.rs`.

mod command;
mod lower;
mod measured;
mod options;
mod script;
mod text;
mod xml;

use plan::{Plan, Severity, Span};
use record::Record;

use crate::{Dialect, Likeness, Loader, Parsed, ReadPlan, Request, Translation};
use crate::{foreign, native};
use command::Command;
use measured::Measured;
use script::Use;

/// The language of diskspd's command lines.
#[derive(Clone, Copy, Debug)]
pub struct Diskspd;

impl Dialect for Diskspd {
    fn name(&self) -> &'static str {
        "diskspd"
    }

    fn about(&self) -> &'static str {
        "Scripts with command lines of diskspd"
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
        if foreign::calls_diskspd(text) { Likeness::Declared } else { Likeness::None }
    }

    fn read(&self, request: &Request<'_>, loader: &dyn Loader) -> ReadPlan {
        let mut all = Parsed::default();
        let (variables, files) = request.variables(loader);
        for path in &files {
            let parsed = Parsed::of_wide_file(path, "script", loader, |text| {
                lower::parse_text(path, text, &variables, request, loader)
            });
            native::join(&mut all, parsed);
        }
        ReadPlan::of(all)
    }

    fn can_write(&self) -> bool {
        false
    }

    fn write(&self, _plan: &Plan) -> Translation {
        let mut translation = Translation::default();
        translation.lose("command lines of diskspd are read, and not written yet");
        translation
    }
}

/// Returns a script that calls diskspd with these words.
pub fn script_of(words: &[String]) -> String {
    let words = words.iter().map(|word| script::quoted(word));
    let all: Vec<String> = ["diskspd".to_owned()].into_iter().chain(words).collect();
    format!("{}\n", all.join(" "))
}

/// Returns what the first call of a script asks for, as the tool prints it: where that is all that
/// it asks for, with `-Rp`, and it has no mistake.
pub fn profile(script: &str) -> Option<String> {
    let command = first_call(script).filter(|command| command.is_profile_only.is_some())?;
    Some(if command.is_xml { xml::profile(&command) } else { text::profile(&command) })
}

/// Returns the results of the first call of a script as the tool prints them, in text or in XML.
/// `stamp` prints a moment, milliseconds since 1970, as `2026/11/27 02:49:00`, in UTC; `size_of`
/// returns the bytes of a file or device. Nothing, where the script has a mistake.
pub fn results(
    script: &str,
    record: &Record,
    stamp: &dyn Fn(u64) -> String,
    size_of: &dyn Fn(&str) -> Option<u64>,
) -> String {
    let Some(command) = first_call(script) else { return String::new() };
    let measured = Measured::of(&command, record, size_of);
    if command.is_xml {
        xml::results(&command, &measured, stamp)
    } else {
        text::results(&command, &measured, stamp)
    }
}

/// Returns the first call of diskspd in a script; none where that has a mistake.
fn first_call(script: &str) -> Option<Command> {
    let commands = script::commands(script, &[]);
    let calls = commands.iter().filter_map(|it| match it.of_diskspd() {
        Use::Call(words) => Some(options::read(words, Span::default())),
        Use::Unread(_) | Use::Other => None,
    });
    let (command, findings) = calls.into_iter().next()?;
    findings.iter().all(|it| it.severity < Severity::Error).then_some(command)
}
