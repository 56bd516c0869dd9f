//! A run under Vdbench's name: what happens is turned into its console and its pages.

use std::io;
use std::sync::Arc;

use dialects::vdbench::announced_with_rate;
use dialects::vdbench::output::{
    AnchorPart, Ending, LunSeen, Moment, Output, Report, TreeSeen, Words,
};
use dialects::vdbench::run::{Run, Work};
use record::{HostShareRecord, IoErrorRecord, JobRecord, Note, NoteSeverity, Record};
use runner::{Control, RunEvent, TREE_INCOMPLETE, TreePart, VALIDATED};
use units::system_text;

use super::errors::Errors;
use super::folder::{Folder, RECORD};
use super::monitor::{Monitor, MonitorRequest};
use crate::{clock, stream};

/// What is printed, and where.
pub(super) struct VdbenchSession {
    report: Report,
    folder: Folder,
    runs: Vec<Run>,
    /// Position of the first step's run.
    first: usize,
    /// Passes before this one.
    n_passes: u64,
    /// The console's reader is gone.
    is_unread: bool,
    /// Records are printed, and the console goes where messages are.
    prints_records: bool,
    control: Arc<Control>,
    monitor: Option<Monitor>,
    /// Hosts of which one may be another machine run the steps.
    is_remote: bool,
    /// The monitored file ended everything.
    is_ended_by_user: bool,
    /// Why everything ends before its time.
    abort_reason: Option<String>,
    words: Words,
    errors: Errors,
}

impl VdbenchSession {
    pub(super) fn new(report: Report, folder: Folder, runs: Vec<Run>, words: Words) -> Self {
        VdbenchSession {
            words,
            errors: Errors::default(),
            report,
            folder,
            runs,
            first: 0,
            n_passes: 0,
            is_unread: false,
            prints_records: false,
            control: Arc::default(),
            monitor: None,
            is_remote: false,
            is_ended_by_user: false,
            abort_reason: None,
        }
    }

    /// Prints records in place of the console, which goes to where messages are.
    pub(super) fn print_records(&mut self, prints: bool) {
        self.prints_records = prints;
    }

    /// Watches a file for wishes, and passes on what ends runs.
    pub(super) fn obey(&mut self, monitor: Option<Monitor>, control: Arc<Control>) {
        (self.monitor, self.control) = (monitor, control);
    }

    /// Runs are made by other hosts: none of them can be ended alone.
    pub(super) fn set_remote(&mut self, is_remote: bool) {
        self.is_remote = is_remote;
    }

    /// Returns why everything ended before its time, if a result was the reason.
    pub(super) fn abort_reason(&self) -> Option<String> {
        self.abort_reason.clone()
    }

    /// Returns whether the monitored file ended everything.
    pub(super) fn is_ended_by_user(&self) -> bool {
        self.is_ended_by_user
    }

    /// Begins to run them, from this one on, for the n-th time.
    pub(super) fn begin(&mut self, first: usize, n_passes: u64) {
        (self.first, self.n_passes) = (first, n_passes);
    }

    /// Returns the full path of the output directory.
    pub(super) fn folder_path(&self) -> String {
        self.folder.full_path()
    }

    /// Opens the pages.
    pub(super) fn open(&mut self, is_simulation: bool) {
        let output = self.report.open(&clock::moment(), is_simulation);
        self.write(&output);
    }

    /// Reports that everything is ready to run.
    pub(super) fn connected(&mut self) {
        let output = self.report.connected(&clock::moment());
        self.write(&output);
    }

    /// Prints a text on the console and in the log.
    pub(super) fn print(&mut self, text: &str, is_error: bool) {
        let output = self.report.message(&clock::moment(), text, is_error);
        self.write(&output);
    }

    /// Writes a text to the log only.
    pub(super) fn log(&mut self, text: &str) {
        let output = self.report.log_line(&clock::moment(), text);
        self.write(&output);
    }

    /// Writes to the log of errors why everything ends; the console has it in its last line.
    pub(super) fn log_error(&mut self, text: &str) {
        let output = self.report.error_line(&clock::moment(), text);
        self.write(&output);
    }

    /// Reports what was found of storage definitions.
    pub(super) fn luns(&mut self, luns: &[LunSeen]) {
        let output = self.report.luns(&clock::moment(), luns);
        self.write(&output);
    }

    /// Returns a message in the words of parameter files.
    pub(super) fn in_its_words(&self, text: &str) -> String {
        self.words.message(text)
    }

    /// Prints the list of a simulation.
    pub(super) fn simulation(&mut self, list: &str) {
        let output = self.report.simulation(&clock::moment(), list);
        self.write(&output);
    }

    /// Takes in what happens.
    pub(super) fn event(&mut self, event: &RunEvent<'_>) {
        let now = clock::moment();
        let output = match event {
            RunEvent::StepStarted { step_idx, rate_iops, .. } => {
                self.start(*step_idx as usize, *rate_iops)
            }
            RunEvent::StepSkipped { name, reason, .. } => {
                let text = format!("RD={name} is left out: {reason}");
                self.report.message(&now, &self.words.message(&text), false)
            }
            RunEvent::CommandEnded { command, output, ok, .. } => {
                let how = if *ok { "ended" } else { "failed" };
                let text = format!("command {how}: {command}\n{}", output.trim_end());
                self.report.message(&now, &text, !ok)
            }
            RunEvent::IoError(error) => self.failed(&now, error),
            RunEvent::StepEnded { jobs, .. } => {
                let mut output = self.report.end_run(&now, &jobs.iter().collect::<Vec<_>>());
                output.abort = output.abort.map(|why| self.failure(jobs, &why));
                let counts = self.errors.end(&self.words);
                if !counts.is_empty() {
                    self.write(&self.report.message(&now, &counts.join("\n"), true));
                }
                output
            }
            RunEvent::Tree { incomplete, .. } => {
                if let Some(text) = incomplete {
                    let text = format!("warning: {}", self.words.message(text));
                    self.write(&self.report.message(&now, &text, false));
                }
                self.tree(event)
            }
            RunEvent::TreeMade { anchor, part } => {
                self.report.made(&now, anchor, anchor_part(*part))
            }
            RunEvent::OtherTree { anchor, n_files, n_folders } => {
                let text = format!(
                    "anchor={anchor}: {n_files} files and {n_folders} folders of another structure \
                     are removed first"
                );
                self.report.message(&now, &text, false)
            }
            // Printed at the start.
            RunEvent::Note(note) if note.code == TREE_INCOMPLETE => return,
            RunEvent::SeriesSoFar(so_far) => {
                if self.report.leaves_out_this() {
                    self.report.leave_out(so_far.records());
                }
                return;
            }
            RunEvent::StatusAsked(_) => self.report.so_far(&now),
            RunEvent::Interval(interval) => {
                self.obey_monitor();
                self.report.interval(&now, interval)
            }
            RunEvent::Note(note) if note.code == VALIDATED => {
                self.report.message(&now, &in_words_of_validation(&note.message), false)
            }
            RunEvent::Note(note) if note.severity != NoteSeverity::Info => self.note(&now, note),
            RunEvent::Note(_)
            | RunEvent::StepReady { .. }
            | RunEvent::Layout { .. }
            | RunEvent::Paused { .. }
            | RunEvent::Status(_)
            | RunEvent::JobsSoFar(_)
            | RunEvent::Report(_) => return,
        };
        self.write(&output);
    }

    /// Returns why a run failed: for what one of its jobs met, or as a whole.
    pub(super) fn failure(&self, jobs: &[JobRecord], why: &str) -> String {
        match jobs.iter().find(|job| job.error_message == why) {
            Some(job) => self.words.failure(&job.name, why),
            None => self.words.message(why),
        }
    }

    /// Reports what is there of a tree.
    fn tree(&mut self, event: &RunEvent<'_>) -> Output {
        let RunEvent::Tree {
            anchor,
            n_files,
            n_folders,
            size_bytes,
            n_opened,
            opened_bytes,
            is_start,
            ..
        } = event
        else {
            return Output::default();
        };
        let seen = TreeSeen {
            n_files: *n_files,
            n_folders: *n_folders,
            bytes: *size_bytes,
            n_opened: Some(*n_opened),
            opened_bytes: *opened_bytes,
        };
        self.report.tree(anchor, &seen, *is_start)
    }

    /// Reports what puts numbers in doubt, or failed.
    fn note(&mut self, now: &Moment, note: &Note) -> Output {
        let is_error = note.severity == NoteSeverity::Error;
        let text = self.words.message(&note.message);
        let text = if is_error { text } else { format!("warning: {text}") };
        self.report.message(now, &text, is_error)
    }

    /// Reports of a failed operation: all of them in the log of errors, the first of each kind
    /// everywhere.
    fn failed(&mut self, now: &Moment, error: &IoErrorRecord) -> Output {
        self.report.count_error();
        match self.errors.count(error, &self.words) {
            None => Output::default(),
            Some(said) if said.is_first => self.report.message(now, &said.text, true),
            Some(said) => self.report.error_line(now, &said.text),
        }
    }

    /// Does what the monitored file asks for.
    fn obey_monitor(&mut self) {
        let Some(request) = self.monitor.as_mut().and_then(Monitor::request) else { return };
        let text = match request {
            MonitorRequest::EndRun if self.is_remote => {
                "On other hosts a run is not ended alone: `end_vdbench` ends all."
            }
            MonitorRequest::EndRun => {
                self.control.request_step_end();
                "User requested early shutdown of this run."
            }
            MonitorRequest::EndAll => {
                self.is_ended_by_user = true;
                self.control.request_stop();
                "User requested early Vdbench termination."
            }
        };
        let output = self.report.requested(&clock::moment(), text);
        self.write(&output);
    }

    fn start(&mut self, step_idx: usize, rate_iops: Option<f64>) -> Output {
        let run_idx = self.first + step_idx;
        let Some(run) = self.runs.get(run_idx) else { return Output::default() };
        let announced = match rate_iops {
            Some(rate_iops) => announced_with_rate(run, rate_iops.round() as u64),
            None => run.announced.clone(),
        };
        let bytes = lun_bytes(run);
        self.report.start_run(&clock::moment(), run_idx, &announced, rate_iops, bytes)
    }

    /// Returns why a whole record failed, with the failed operations of all workers of its step.
    pub(super) fn failure_of(&self, record: &Record) -> String {
        let Some(failed) = record.jobs.iter().find(|job| job.error_errno != 0) else {
            let lost = |host: &HostShareRecord| {
                let reason = &host.lost.as_ref()?.reason;
                Some(format!("host={} was lost: {reason}", host.name))
            };
            if let Some(why) = record.hosts.iter().find_map(lost) {
                return why;
            }
            return self.failure(&record.jobs, "the run failed");
        };
        let why = &failed.error_message;
        // Of several workers, it counts those of one.
        let is_digit = |c: char| c.is_ascii_digit();
        let Some(rest) = why.trim_start_matches(is_digit).strip_prefix(" I/Os failed") else {
            return self.failure(&record.jobs, why);
        };
        let of_step = record.jobs.iter().filter(|job| job.step_idx == failed.step_idx);
        let n_errors: u64 = of_step.map(|job| job.n_errors).sum();
        self.words.failure(&failed.name, &format!("{n_errors} operations failed{rest}"))
    }

    /// Writes the record of a pass next to the pages. What cannot be written is reported: in a line
    /// where the run store has it under a number, else it follows on the console, so that it is not
    /// lost.
    pub(super) fn keep(&mut self, record: &Record, stored: Option<i64>) -> io::Result<()> {
        let name = match self.n_passes {
            0 => format!("{RECORD}.json"),
            n => format!("{RECORD}-{:03}.json", n + 1),
        };
        let text = record.to_json();
        if self.prints_records {
            stream::print(&text)?;
        }
        let Err(error) = self.folder.put(&name, &text) else { return Ok(()) };
        // What could not be written is reported below, a page that could not be before.
        let _ = self.folder.note(&name, &error);
        let path = self.folder.full_path();
        if self.prints_records {
            stream::print_message(&format!(
                "error: cannot write `{path}/{name}`: {}\n",
                system_text(&error)
            ));
            return Ok(());
        }
        if let Some(number) = stored {
            stream::print_message(&format!(
                "error: cannot write `{path}/{name}`: {}; the record is in the run store: \
                 `plimsoll show {number} --json`\n",
                system_text(&error)
            ));
            return Ok(());
        }
        stream::print_message(&format!(
            "error: cannot write `{path}/{name}`: {}; the record follows here\n",
            system_text(&error)
        ));
        stream::print(&text)
    }

    /// Returns how everything ends: what cannot be read later was no success.
    pub(super) fn unless_broken(&self, ending: Ending) -> Ending {
        match (self.broken(), ending) {
            (Some(problem), Ending::Complete | Ending::Simulated) => {
                Ending::Aborted(problem.to_owned())
            }
            (_, ending) => ending,
        }
    }

    /// Ends everything.
    pub(super) fn close(&mut self, ending: &Ending) {
        let output = self.report.close(&clock::moment(), ending);
        self.write(&output);
    }

    /// Returns what could not be written first, if anything.
    pub(super) fn broken(&self) -> Option<&str> {
        self.folder.broken()
    }

    fn write(&mut self, output: &Output) {
        if self.prints_records {
            stream::print_message(&output.console);
        } else if !self.is_unread && !output.console.is_empty() {
            self.is_unread = stream::print(&output.console).is_err();
        }
        if let Some(why) = &output.abort {
            self.abort_reason = Some(why.clone());
            self.control.request_stop();
        }
        let added = self.folder.add(&output.pages).or(self.folder.replace(&output.whole));
        if let Some(problem) = added {
            stream::print_message(&format!(
                "error: {problem}\nhint: the run goes on, and the console shows its results\n"
            ));
        }
    }
}

/// Returns which part of an anchor Vdbench's line names.
fn anchor_part(part: TreePart) -> AnchorPart {
    match part {
        TreePart::Anchor => AnchorPart::Anchor,
        TreePart::Folders => AnchorPart::Folders,
        TreePart::Files => AnchorPart::Files,
    }
}

/// Returns how Vdbench says that all blocks are as they were written.
fn in_words_of_validation(text: &str) -> String {
    text.replace("blocks", "key blocks").replace("total amount", "Total amount")
}

/// Returns the size of all storage definitions of a run, as far as it is known.
fn lun_bytes(run: &Run) -> Option<u64> {
    let sds = match &run.work {
        Work::Raw(raw) => &raw.sds,
        Work::SdFormat(format) => &format.sds,
        Work::Files(_) | Work::Format(_) => return None,
    };
    let size = |lun: &str| std::fs::metadata(lun).ok().map(|found| found.len());
    let sizes = sds.iter().map(|sd| sd.size_bytes.or_else(|| size(&sd.lun)));
    sizes.sum::<Option<u64>>().filter(|bytes| *bytes > 0)
}
