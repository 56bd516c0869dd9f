//! A run under Vdbench's name: what happens is turned into its console and its pages.

use std::io;
use std::sync::Arc;

use dialects::vdbench::announced_with_rate;
use dialects::vdbench::output::{Ending, Output, Report, TreeSeen};
use dialects::vdbench::run::{Run, Work};
use record::{IoErrorRecord, NoteSeverity, Record};
use runner::{Control, RunEvent};

use super::folder::Folder;
use super::monitor::{Monitor, Wish};
use crate::{clock, stream};

/// Name of the record beside the pages, without its ending.
const RECORD: &str = "plimsoll";

/// What is printed, and where.
pub(super) struct Session {
    report: Report,
    folder: Folder,
    runs: Vec<Run>,
    /// Position of the first step's run.
    first: usize,
    /// Passes before this one.
    n_passes: u64,
    /// Nobody reads the console any more.
    is_unread: bool,
    control: Arc<Control>,
    monitor: Option<Monitor>,
    /// The monitored file ended everything.
    is_ended_by_user: bool,
    /// Why everything ends before its time.
    abort_reason: Option<String>,
}

impl Session {
    pub(super) fn new(report: Report, folder: Folder, runs: Vec<Run>) -> Self {
        Session {
            report,
            folder,
            runs,
            first: 0,
            n_passes: 0,
            is_unread: false,
            control: Arc::default(),
            monitor: None,
            is_ended_by_user: false,
            abort_reason: None,
        }
    }

    /// Watches a file for wishes, and passes on what ends runs.
    pub(super) fn obey(&mut self, monitor: Option<Monitor>, control: Arc<Control>) {
        (self.monitor, self.control) = (monitor, control);
    }

    /// Returns why everything ended before its time, if a result was the reason.
    pub(super) fn abort_reason(&self) -> Option<String> {
        self.abort_reason.clone()
    }

    /// Says whether the monitored file ended everything.
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

    /// Says that everything is ready to run.
    pub(super) fn connected(&mut self) {
        let output = self.report.connected(&clock::moment());
        self.write(&output);
    }

    /// Tells something on the console and in the log.
    pub(super) fn tell(&mut self, text: &str, is_error: bool) {
        let output = self.report.message(&clock::moment(), text, is_error);
        self.write(&output);
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
                self.report.message(&now, &format!("RD={name} is left out: {reason}"), false)
            }
            RunEvent::CommandEnded { command, output, ok, .. } => {
                let how = if *ok { "ended" } else { "failed" };
                let text = format!("command {how}: {command}\n{}", output.trim_end());
                self.report.message(&now, &text, !ok)
            }
            RunEvent::IoError(error) => {
                self.report.count_error();
                self.report.message(&now, &io_error(error), true)
            }
            RunEvent::StepEnded { jobs, .. } => {
                self.report.end_run(&now, &jobs.iter().collect::<Vec<_>>())
            }
            RunEvent::Tree { anchor, n_files, n_folders, size_bytes, is_start } => {
                let (n_files, n_folders, bytes) = (*n_files, *n_folders, *size_bytes);
                let seen = TreeSeen { n_files, n_folders, bytes, ..TreeSeen::default() };
                self.report.tree(anchor, &seen, *is_start)
            }
            RunEvent::Interval(interval) => {
                self.look();
                self.report.interval(&now, interval)
            }
            RunEvent::Note(note) if note.severity != NoteSeverity::Info => {
                let is_error = note.severity == NoteSeverity::Error;
                self.report.message(&now, &note.message, is_error)
            }
            _ => return,
        };
        self.write(&output);
    }

    /// Looks into the monitored file.
    fn look(&mut self) {
        let Some(wish) = self.monitor.as_ref().and_then(Monitor::wish) else { return };
        let text = match wish {
            Wish::EndRun => {
                self.control.request_step_end();
                "User requested early shutdown of this run."
            }
            Wish::EndAll => {
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

    /// Keeps the record of a pass beside the pages.
    pub(super) fn keep(&mut self, record: &Record) -> io::Result<()> {
        let name = match self.n_passes {
            0 => format!("{RECORD}.json"),
            n => format!("{RECORD}-{:03}.json", n + 1),
        };
        let text = record.to_json();
        let Err(error) = self.folder.put(&name, &text) else { return Ok(()) };
        let path = self.folder.full_path();
        stream::tell(&format!(
            "error: cannot write `{path}/{name}`: {error}; the record follows here\n"
        ));
        stream::print(&text)
    }

    /// Ends everything.
    pub(super) fn close(&mut self, ending: &Ending) {
        let output = self.report.close(&clock::moment(), ending);
        self.write(&output);
    }

    /// Says whether all that was to be written was written.
    pub(super) fn is_whole(&self) -> bool {
        !self.folder.is_broken()
    }

    fn write(&mut self, output: &Output) {
        if !self.is_unread && !output.console.is_empty() {
            self.is_unread = stream::print(&output.console).is_err();
        }
        if let Some(why) = &output.abort {
            self.abort_reason = Some(why.clone());
            self.control.request_stop();
        }
        let added = self.folder.add(&output.pages).or(self.folder.replace(&output.whole));
        if let Some(problem) = added {
            stream::tell(&format!(
                "error: {problem}\nhint: the run goes on, and the console shows its results\n"
            ));
        }
    }
}

/// Returns a failed I/O as a line.
fn io_error(error: &IoErrorRecord) -> String {
    let IoErrorRecord { job, target, op, offset, len, errno, .. } = error;
    let why = io::Error::from_raw_os_error(*errno);
    format!("{op} of {len} bytes at {offset} of {target} ({job}) failed: {why}")
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
