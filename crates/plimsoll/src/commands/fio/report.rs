//! What a run prints, where and in which order, as fio does.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io;

use dialects::fio::output::{
    COMPAT_VERSION, JsonOptions, TerseVersion, json, layout_line, normal, start_lines, terse,
};
use dialects::fio::{Format, Switches};
use plan::files::Size;
use plan::{Diagnostic, Plan, Severity};
use record::{JobRecord, Note, NoteSeverity, Record};
use runner::RunEvent;

use super::eta::Eta;
use crate::clock;
use crate::diagnostics::{self, Texts};
use crate::sink::Sink;
use crate::stream;

/// A run under fio's name.
pub(super) struct FioSession<'a> {
    switches: &'a Switches,
    plan: &'a Plan,
    sink: Sink,
    eta: Option<Eta<'a>>,
    /// Jobs whose layout was reported.
    laid_out: BTreeSet<String>,
    has_said_signal: bool,
    /// What comes before a report, for a file: both are written at once, so that an earlier result
    /// is replaced by a whole one.
    held: String,
    /// The first failure to write; later events are then of no use.
    broken: io::Result<()>,
}

impl<'a> FioSession<'a> {
    pub(super) fn new(switches: &'a Switches, plan: &'a Plan, sink: Sink) -> Self {
        let is_normal = switches.formats.contains(&Format::Normal);
        let eta =
            Eta::wanted(switches, is_normal || !sink.is_stdout()).then(|| Eta::new(switches, plan));
        FioSession {
            switches,
            plan,
            sink,
            eta,
            laid_out: BTreeSet::new(),
            has_said_signal: false,
            held: String::new(),
            broken: Ok(()),
        }
    }

    /// Prints what comes before the run, or holds it for the first report. A reader that has gone
    /// does not keep the run from being made.
    pub(super) fn start(&mut self, findings: &[&Diagnostic], texts: Texts<'_>) -> io::Result<()> {
        if !self.is_normal() {
            return Ok(());
        }
        let mut text = String::new();
        for finding in findings {
            let level = match finding.severity {
                Severity::Note => "note",
                Severity::Warning | Severity::Error => "warning",
            };
            let _ = writeln!(text, "fio: {level}: {}", diagnostics::one_line(finding, texts));
        }
        text.push_str(&start_lines(self.plan, COMPAT_VERSION));
        if !self.sink.is_stdout() {
            self.held = text;
            return Ok(());
        }
        match self.sink.write(&text) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.broken = Err(error);
                Ok(())
            }
            written => written,
        }
    }

    /// Reports a signal, once.
    pub(super) fn signal(&mut self, signal: Option<i32>) {
        let Some(signal) = signal.filter(|_| !self.has_said_signal) else { return };
        self.has_said_signal = true;
        if self.is_normal() {
            self.write(&format!("\nfio: terminating on signal {signal}\n"));
        }
    }

    /// Takes an event of the run.
    pub(super) fn event(&mut self, event: &RunEvent<'_>) {
        match event {
            RunEvent::Note(note) => match note.severity {
                NoteSeverity::Error => stream::print_message(&note_line(note)),
                NoteSeverity::Warning | NoteSeverity::Info if self.is_normal() => {
                    self.write(&note_line(note));
                }
                NoteSeverity::Warning | NoteSeverity::Info => {}
            },
            RunEvent::Layout { job, total_bytes, .. } => {
                if self.is_normal() && self.laid_out.insert((*job).to_owned()) {
                    let line = layout(self.plan, job, *total_bytes);
                    self.write(&line);
                }
            }
            RunEvent::Status(status) => {
                if let Some(eta) = &mut self.eta {
                    eta.show(status);
                }
            }
            RunEvent::StepEnded { .. } => {
                if let Some(eta) = &mut self.eta {
                    eta.step_ended();
                }
            }
            RunEvent::Report(record) | RunEvent::StatusAsked(record) => {
                if self.broken.is_ok() {
                    self.broken = self.report(record);
                }
            }
            // What only plans of other dialects have leads to notes.
            RunEvent::StepStarted { .. }
            | RunEvent::StepReady { .. }
            | RunEvent::StepSkipped { .. }
            | RunEvent::Paused { .. }
            | RunEvent::Tree { .. }
            | RunEvent::TreeMade { .. }
            | RunEvent::OtherTree { .. }
            | RunEvent::CommandEnded { .. }
            | RunEvent::IoError(_)
            | RunEvent::JobsSoFar(_)
            | RunEvent::SeriesSoFar(_)
            | RunEvent::Interval(_) => {}
        }
    }

    /// Prints the reports.
    pub(super) fn finish(&mut self, record: &Record) -> io::Result<()> {
        if let Some(eta) = &mut self.eta {
            eta.clear();
        }
        failures(record).for_each(|line| stream::print_message(&line));
        let asked = |kind: &str| self.switches.debug.iter().any(|word| word == kind);
        if self.is_normal() && (asked("random") || asked("all")) {
            self.write(&seed_lines(record));
        }
        std::mem::replace(&mut self.broken, Ok(()))?;
        self.report(record)
    }

    /// Prints one report in every format asked for: terse, then JSON, then normal.
    fn report(&mut self, record: &Record) -> io::Result<()> {
        let now = clock::report_time();
        let has = |format| self.switches.formats.contains(&format);
        let version = TerseVersion::from_number(u32::from(self.switches.terse_version));
        let terse_text = terse(record, version.unwrap_or(TerseVersion::V3), COMPAT_VERSION);
        let mut text = std::mem::take(&mut self.held);
        if has(Format::Terse) || self.switches.append_terse {
            text.push_str(&terse_text);
        }
        if has(Format::Json) || has(Format::JsonPlus) {
            let plus = has(Format::JsonPlus);
            text.push_str(&json(record, JsonOptions { plus, version: COMPAT_VERSION, now }));
        }
        if has(Format::Normal) {
            text.push_str(&normal(record, now));
        }
        self.sink.write(&text)
    }

    fn is_normal(&self) -> bool {
        self.switches.formats.contains(&Format::Normal)
    }

    fn write(&mut self, text: &str) {
        if !self.sink.is_stdout() {
            self.held.push_str(text);
        } else if self.broken.is_ok() {
            self.broken = self.sink.write(text);
        }
    }
}

/// Returns the line about a job's layout.
pub(in crate::commands) fn layout(plan: &Plan, name: &str, total_bytes: u64) -> String {
    let Some(job) = plan.jobs().find(|job| job.name == name) else {
        return layout_line(name, 1, total_bytes);
    };
    let n_files = match job.files.names.len() {
        0 => u64::from(job.files.n_files),
        n_names => n_names as u64,
    };
    let size_bytes = match job.files.size {
        Some(Size::Bytes(bytes)) => bytes,
        Some(Size::Percent(_) | Size::Zones(_)) | None => total_bytes,
    };
    layout_line(name, n_files, size_bytes)
}

/// Returns the line of a note.
pub(in crate::commands) fn note_line(note: &Note) -> String {
    let level = match note.severity {
        NoteSeverity::Error => "",
        NoteSeverity::Warning => "warning: ",
        NoteSeverity::Info => "note: ",
    };
    format!("fio: {level}{}\n", note.message)
}

/// Returns a line for each job that has failed, unless a note says why.
pub(super) fn failures(record: &Record) -> impl Iterator<Item = String> {
    let is_noted = |job: &&JobRecord| {
        record.notes.iter().any(|note| {
            note.severity == NoteSeverity::Error && note.message.contains(&job.error_message)
        })
    };
    let failed = record.jobs.iter().filter(|job| job.error_errno != 0);
    let unsaid = failed.filter(move |job| !is_noted(job));
    unsaid.map(|job| format!("fio: {}: {}\n", job.name, job.error_message))
}

/// Returns what `--debug=random` prints: the seed of each entry, from which all its random numbers
/// come. The layout is fio's, which has a seed for every use.
fn seed_lines(record: &Record) -> String {
    let mut text = String::new();
    for job in &record.jobs {
        let prefix = format!("random   {:<6}", job.pid);
        let _ = writeln!(text, "{prefix} FIO_RAND_NR_OFFS=1\n{prefix} rand_seeds[0]={}", job.seed);
    }
    text
}
