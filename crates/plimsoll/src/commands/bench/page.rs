//! The page of charts that a suite ends with.

use std::path::Path;

use export::Run;
use record::{PublishedRecord, Record, SuiteRecord};
use report::{Reference, Runs, Subject};
use units::system_text;

use super::super::report as command;
use crate::exit::{Exit, Failure};
use crate::sink::Sink;
use crate::{clock, result_file, stream};

/// Writes the page to the file that is named, or to one with the suite's name and the time. If none
/// is named and none can be written, a note is printed, which is no failure.
pub(super) fn write(record: &Record, named: Option<&str>, is_json: bool) -> Result<(), Failure> {
    let Some(suite) = &record.suite else { return Ok(()) };
    let usual = || {
        let moment = clock::local_minute(record.started_unix_ms).replace([' ', ':'], "-");
        let name = |more: &str| format!("plimsoll-{}-{moment}{more}.html", suite.name);
        // Several that end within a minute leave each other's page alone.
        let numbered = (2_u32..).map(|n| name(&format!("-{n}")));
        let mut names = std::iter::once(name("")).chain(numbered);
        names.find(|name| !Path::new(name).exists()).unwrap_or_else(|| name(""))
    };
    match named {
        Some("none") => Ok(()),
        None if is_json => Ok(()),
        // Measured it is, whatever becomes of the page.
        Some(path) => command::write(Path::new(path), &report::page(&subject(record, suite)))
            .map_err(|failure| failure.with(Exit::RunFailed)),
        None => {
            let path = usual();
            let page = report::page(&subject(record, suite));
            match result_file::write(Path::new(&path), page.as_bytes()) {
                Ok(()) => stream::print_message(&format!("charts: {path}\n")),
                Err(error) => stream::print_message(&format!(
                    "note: no charts: cannot write `{path}`: {}\n\
                     hint: --report FILE writes them elsewhere, --report none turns them off\n",
                    system_text(&error)
                )),
            }
            Ok(())
        }
    }
}

/// Refuses a page that cannot be written, before the run that it would be of.
pub(super) fn check(named: Option<&str>, is_read_only: bool) -> Result<(), Failure> {
    // What is opened and not written to stays as it was.
    Sink::open_of_run(named.filter(|path| *path != "none"), is_read_only).map(drop)
}

fn subject(record: &Record, suite: &SuiteRecord) -> Subject {
    let run = Run { id: None, name: suite.name.clone(), record: record.clone() };
    Subject {
        title: format!("{}: {}", suite.name, suite.title),
        runs: Runs::Parts(vec![run]),
        references: suite.published.iter().map(|it| reference(it, suite)).collect(),
        written: clock::local_minute(clock::report_time().unix_ms),
        ..Subject::default()
    }
}

fn reference(published: &PublishedRecord, suite: &SuiteRecord) -> Reference {
    let PublishedRecord { label, on, source, .. } = published;
    let document = suite.sources.iter().find(|known| known.id == *source);
    let document = document.map_or("", |known| known.document.as_str());
    Reference {
        what: label.clone(),
        published: published.published_words(),
        measured: published.here_words(),
        source: format!("{document}; on {on}"),
    }
}
