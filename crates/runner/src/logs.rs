//! fio's log files, written while the run goes on.
//!
//! [`LogSetup`] opens the files of a step and gives each worker its end of a bounded channel; one
//! thread ([`LogWriter`]) turns what comes into lines. Memory does not grow with the length of the
//! run: a worker that outruns the writer is held back, and the record says how often.
//!
//! `lines.rs` says what a line holds, `file.rs` survives full disks, `histograms.rs` watches the
//! workers' histograms. Names and line formats are `dialects::fio::output::log`'s.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use dialects::fio::output::log::{LogColumns, LogKind, LogLine};
use dialects::fio::output::log::{aggregate_file_name, file_name, line};
use dialects::fio::output::packed_log;
use plan::{Direction, Job};
use record::{Interval, LOG_FAILED, LOG_INCOMPLETE, NoteSeverity};
use units::system_text;
use worker::{LogEvent, LogSender, Meters};

use crate::clock::Clock;
use crate::options::RunOptions;
use crate::setup_error::SetupError;

use file::LogFile;
use histograms::HistogramLog;
use lines::{KINDS, LineStyle};

mod file;
mod histograms;
mod lines;
#[cfg(test)]
mod tests;

/// Events that all channels of a step hold together: 12 MiB.
const EVENTS_MAX: usize = 1 << 17;

/// Events that one channel holds: 8 ms at two million I/Os per second.
const CHANNEL_EVENTS: (usize, usize) = (64, 1 << 14);

/// Bytes of text that all files of a step collect together before they write.
const TEXT_BYTES: usize = 16 << 20;

/// Bytes of text that one file collects.
const FILE_TEXT_BYTES: (usize, usize) = (4 << 10, 64 << 10);

/// The writer looks for events this often when few come, and at the slowest.
const NAP: (Duration, Duration) = (Duration::from_micros(200), Duration::from_millis(4));

/// Text waits no longer than this, so that a log can be followed and survives a crash.
const FLUSH_NS: u64 = 1_000_000_000;

/// Something the record should tell, as [`crate::step::StepOutcome`] takes it.
type Finding = (NoteSeverity, &'static str, String);

/// A log file that cannot be opened.
#[derive(Debug, thiserror::Error)]
#[error("cannot write log `{}`: {}", path.display(), system_text(error))]
pub(crate) struct LogError {
    path: PathBuf,
    /// What the system said.
    #[source]
    error: std::io::Error,
}

impl From<LogError> for SetupError {
    fn from(error: LogError) -> Self {
        let errno = error.error.raw_os_error().unwrap_or(libc::EIO);
        SetupError { errno, message: error.to_string() }
    }
}

/// The logs of a step before its workers start.
pub(crate) struct LogSetup {
    clock: Clock,
    zero_unix_ms: u64,
    folder: PathBuf,
    channel_events: usize,
    file_text_bytes: usize,
    by_path: HashMap<PathBuf, usize>,
    files: Vec<LogFile>,
    inputs: Vec<Input>,
}

/// What one worker sends, and where it goes.
struct Input {
    /// The channel, if the job has a log that needs it.
    events: Option<Receiver<LogEvent>>,
    /// Positions of the files of [`KINDS`].
    files: [Option<usize>; KINDS.len()],
    style: LineStyle,
    histograms: Option<(HistogramLog, usize)>,
    meters: Arc<Meters>,
    /// Unix time of the clock's zero for logs whose times count from the epoch.
    epoch_ms: Option<u64>,
    n_stalls: Arc<AtomicU64>,
    /// Record of the operations issued.
    record: Option<IssueRecord>,
}

/// Where the operations that a worker issues are recorded.
struct IssueRecord {
    /// Position of the file.
    file: usize,
    /// The worker's files.
    targets: Vec<PathBuf>,
    /// Time of the last operation, from the start of the worker.
    last_us: u64,
}

impl LogSetup {
    /// Makes the logs of a step of `n_workers`. Relative names are below `folder`; `zero_unix_ms`
    /// is the Unix time of the clock's zero.
    pub(crate) fn new(clock: Clock, zero_unix_ms: u64, folder: &Path, n_workers: usize) -> Self {
        let n_workers = n_workers.max(1);
        let share = |total: usize, (min, max): (usize, usize)| (total / n_workers).clamp(min, max);
        LogSetup {
            clock,
            zero_unix_ms,
            folder: folder.to_owned(),
            channel_events: share(EVENTS_MAX, CHANNEL_EVENTS),
            file_text_bytes: share(TEXT_BYTES / KINDS.len(), FILE_TEXT_BYTES),
            by_path: HashMap::new(),
            files: Vec::new(),
            inputs: Vec::new(),
        }
    }

    /// Opens the logs of a worker. Returns the worker's end, if it has logs that need one.
    ///
    /// `number` counts the workers of the plan from 1; `targets` are the worker's files.
    ///
    /// # Errors
    /// If a file cannot be opened: better now than after hours.
    pub(crate) fn add(
        &mut self,
        job: &Job,
        number: u32,
        meters: &Arc<Meters>,
        targets: &[PathBuf],
    ) -> Result<Option<LogSender>, LogError> {
        assert!(number > 0, "workers of `{}` have logs from 1 on", job.name);
        let mut files = [None; KINDS.len()];
        for (file, kind) in files.iter_mut().zip(KINDS) {
            *file = self.open(job, kind, number)?;
        }
        let histogram_file = self.open(job, LogKind::ClatHistogram, number)?;
        let n_stalls = Arc::new(AtomicU64::new(0));
        let record = match &job.logs.write_replay {
            Some(name) => Some(self.open_record(name, targets)?),
            None => None,
        };
        let has_logs = files.iter().any(Option::is_some);
        let (sender, events) = if has_logs || record.is_some() {
            let (sender, events) = sync_channel(self.channel_events);
            let window_ns = u64::from(job.logs.window_ms) * 1_000_000;
            let sender = LogSender::new(sender, window_ns, Arc::clone(&n_stalls));
            let sender = if record.is_some() { sender.with_issues(has_logs) } else { sender };
            (Some(sender), Some(events))
        } else {
            (None, None)
        };
        let histograms = HistogramLog::new(job, meters).zip(histogram_file);
        if events.is_some() || histograms.is_some() {
            self.inputs.push(Input {
                events,
                files,
                style: LineStyle::new(job),
                histograms,
                meters: Arc::clone(meters),
                epoch_ms: job.logs.unix_epoch.then_some(self.zero_unix_ms),
                n_stalls,
                record,
            });
        }
        Ok(sender)
    }

    /// Returns the position of a file, opened if it was not yet; `None` if the job wants none.
    fn open(&mut self, job: &Job, kind: LogKind, number: u32) -> Result<Option<usize>, LogError> {
        let Some(name) = name(job, kind, number) else { return Ok(None) };
        let path = self.folder.join(name);
        self.open_path(path, !job.logs.per_worker, job.logs.compressed).map(Some)
    }

    fn open_path(&mut self, path: PathBuf, append: bool, packed: bool) -> Result<usize, LogError> {
        if let Some(idx) = self.by_path.get(&path) {
            return Ok(*idx);
        }
        let file = LogFile::open(&path, append, self.file_text_bytes)
            .map_err(|error| LogError { path: path.clone(), error })?;
        let file = if packed { file.packed() } else { file };
        self.by_path.insert(path, self.files.len());
        self.files.push(file);
        Ok(self.files.len() - 1)
    }

    /// Opens the record of a worker's operations. As with fio, what is there is kept.
    fn open_record(&mut self, name: &str, targets: &[PathBuf]) -> Result<IssueRecord, LogError> {
        let file = self.open_path(self.folder.join(name), true, false)?;
        let targets = targets.to_vec();
        self.files[file].add(|text| lines::put_record_start(text, &targets));
        Ok(IssueRecord { file, targets, last_us: 0 })
    }

    /// Makes room for what a worker sends before [`InlineLogs::pump`] is called: two events for
    /// each of `n_in_flight` operations, and what ends windows.
    #[must_use]
    pub(crate) fn with_room(mut self, n_in_flight: usize) -> Self {
        self.channel_events = self.channel_events.max(4 * n_in_flight + 256);
        self
    }

    /// Writes on the thread of the caller, if there is anything to write.
    pub(crate) fn inline(self) -> Option<InlineLogs> {
        if self.inputs.is_empty() {
            return None;
        }
        Some(InlineLogs {
            writing: Writing {
                clock: self.clock,
                inputs: self.inputs,
                files: self.files,
                batch_events: self.channel_events,
                closing: Arc::default(),
                flushed_ns: 0,
            },
        })
    }

    /// Starts the writer, if there is anything to write.
    ///
    /// # Errors
    /// If the system has no thread for it.
    pub(crate) fn start(self) -> std::io::Result<Option<LogWriter>> {
        if self.inputs.is_empty() {
            return Ok(None);
        }
        let closing = Arc::new(AtomicBool::new(false));
        let writing = Writing {
            clock: self.clock,
            inputs: self.inputs,
            files: self.files,
            batch_events: self.channel_events,
            closing: Arc::clone(&closing),
            flushed_ns: self.clock.now_ns(),
        };
        let thread = std::thread::Builder::new()
            .name("log-writer".to_owned())
            .spawn(move || writing.run())?;
        Ok(Some(LogWriter { thread, closing }))
    }
}

/// Returns the log files of a job's worker, which counts from 1 over the plan: the option that asks
/// for each, and its name.
pub(crate) fn names(job: &Job, number: u32) -> Vec<(&'static str, String)> {
    let of_kind = |kind| Some((option(kind), name(job, kind, number)?));
    KINDS.into_iter().chain([LogKind::ClatHistogram]).filter_map(of_kind).collect()
}

fn option(kind: LogKind) -> &'static str {
    match kind {
        LogKind::Bandwidth => "write_bw_log",
        LogKind::Iops => "write_iops_log",
        LogKind::Lat | LogKind::Clat | LogKind::Slat => "write_lat_log",
        LogKind::ClatHistogram => "write_hist_log",
    }
}

/// Returns the name of a worker's log of a kind, if the job wants that log.
fn name(job: &Job, kind: LogKind, number: u32) -> Option<String> {
    let number = job.logs.per_worker.then_some(number);
    let suffix = if job.logs.compressed { packed_log::SUFFIX } else { "" };
    prefix(job, kind).map(|prefix| file_name(prefix, kind, number) + suffix)
}

/// Returns the prefix of a job's log of a kind, if the job wants that log.
fn prefix(job: &Job, kind: LogKind) -> Option<&str> {
    let (logs, reporting) = (&job.logs, &job.reporting);
    let (prefix, is_measured) = match kind {
        LogKind::Bandwidth => (&logs.bandwidth, true),
        LogKind::Iops => (&logs.iops, true),
        LogKind::Lat => (&logs.latency, !reporting.disable_lat),
        LogKind::Clat => (&logs.latency, !reporting.disable_clat),
        LogKind::Slat => (&logs.latency, !reporting.disable_slat),
        // Empty where nothing is measured, as fio has it.
        LogKind::ClatHistogram => (&logs.histogram, true),
    };
    let prefix = prefix.as_deref().filter(|_| is_measured)?;
    Some(if prefix.is_empty() { &job.name } else { prefix })
}

/// The thread that writes the logs of a step.
pub(crate) struct LogWriter {
    thread: JoinHandle<Vec<Finding>>,
    closing: Arc<AtomicBool>,
}

impl LogWriter {
    /// Writes what has been sent until now and ends. Returns what the record should tell.
    ///
    /// Workers that still run lose nothing but further lines.
    pub(crate) fn finish(self) -> Vec<Finding> {
        self.closing.store(true, Release);
        self.thread.thread().unpark();
        self.thread.join().unwrap_or_else(|_| {
            vec![(NoteSeverity::Error, LOG_FAILED, "the writer of the logs panicked".to_owned())]
        })
    }
}

/// The logs of a step that are written between two acts of its workers, in virtual time.
pub(crate) struct InlineLogs {
    writing: Writing,
}

impl InlineLogs {
    /// A histogram log looks this often whether its worker has begun to measure.
    const LOOK_NS: u64 = 50_000_000;

    /// Writes what has been sent.
    pub(crate) fn pump(&mut self) {
        self.writing.sweep();
    }

    /// Does what is due by the time. Returns when to come back.
    pub(crate) fn tick(&mut self, now_ns: u64) -> u64 {
        let due_ns = self.writing.tick_histograms(now_ns);
        let has_histograms = self.writing.inputs.iter().any(|input| input.histograms.is_some());
        if has_histograms { due_ns.min(now_ns + Self::LOOK_NS) } else { due_ns }
    }

    /// Writes the rest. Returns what the record should tell.
    pub(crate) fn finish(mut self, now_ns: u64) -> Vec<Finding> {
        self.writing.sweep();
        self.writing.finish(now_ns)
    }
}

/// What the writer's thread owns.
struct Writing {
    clock: Clock,
    inputs: Vec<Input>,
    files: Vec<LogFile>,
    /// Events taken from one worker before the next has its turn: a full channel.
    batch_events: usize,
    closing: Arc<AtomicBool>,
    flushed_ns: u64,
}

impl Writing {
    fn run(mut self) -> Vec<Finding> {
        let mut nap = NAP.0;
        loop {
            // Read first: what was sent before the request to close is then seen below.
            let closing = self.closing.load(Acquire);
            let n_events = self.sweep();
            let now_ns = self.clock.now_ns();
            let due_ns = self.tick_histograms(now_ns);
            if closing {
                return self.finish(now_ns);
            }
            if now_ns >= self.flushed_ns + FLUSH_NS {
                self.files.iter_mut().for_each(LogFile::flush);
                self.flushed_ns = now_ns;
            }
            nap = if n_events > 0 { NAP.0 } else { (nap * 2).min(NAP.1) };
            let until_due = Duration::from_nanos(due_ns.saturating_sub(now_ns));
            std::thread::park_timeout(nap.min(until_due));
        }
    }

    /// Writes what has come. Returns the number of events.
    fn sweep(&mut self) -> usize {
        let mut n_events = 0;
        for input in &mut self.inputs {
            let Some(events) = &input.events else { continue };
            let zero_ms = zero_ms(input.epoch_ms, &input.meters);
            for event in events.try_iter().take(self.batch_events) {
                n_events += 1;
                if let (LogEvent::Issue { at_ns, .. }, Some(record)) = (&event, &mut input.record) {
                    record.last_us = at_ns / 1000;
                    let file = &mut self.files[record.file];
                    file.add(|text| lines::put_issue(text, &event, &record.targets));
                    continue;
                }
                for (file, kind) in input.files.iter().zip(KINDS) {
                    let Some(idx) = *file else { continue };
                    self.files[idx].add(|text| input.style.put(text, kind, &event, zero_ms));
                }
            }
        }
        n_events
    }

    /// Ends the intervals of histogram logs that are over. Returns when the next one will be.
    fn tick_histograms(&mut self, now_ns: u64) -> u64 {
        let mut next_ns = u64::MAX;
        for input in &mut self.inputs {
            let zero_ms = zero_ms(input.epoch_ms, &input.meters);
            if let Some((log, idx)) = &mut input.histograms
                && let Some(due_ns) = log.tick(now_ns, zero_ms, &mut self.files[*idx])
            {
                next_ns = next_ns.min(due_ns);
            }
        }
        next_ns
    }

    fn finish(mut self, now_ns: u64) -> Vec<Finding> {
        let mut findings = Vec::new();
        let mut n_stalls = 0;
        for input in &mut self.inputs {
            n_stalls += input.n_stalls.load(Relaxed);
            let zero_ms = zero_ms(input.epoch_ms, &input.meters);
            if let Some(IssueRecord { file, targets, last_us }) = &input.record {
                self.files[*file].add(|text| lines::put_record_end(text, *last_us, targets));
            }
            if let Some((log, idx)) = &mut input.histograms {
                log.put(now_ns, zero_ms, &mut self.files[*idx]);
            }
        }
        if n_stalls > 0 {
            let text = format!(
                "workers waited {n_stalls} times for their logs to be written, so the load was \
                 lower than asked for; a window (`log_avg_msec`) makes logs cheap"
            );
            findings.push((NoteSeverity::Warning, "log-slow", text));
        }
        let problems = self.files.into_iter().filter_map(LogFile::finish);
        findings.extend(problems.map(|text| (NoteSeverity::Error, LOG_INCOMPLETE, text)));
        findings
    }
}

/// Returns what is added to times since the measured start of a worker.
fn zero_ms(epoch_ms: Option<u64>, meters: &Meters) -> u64 {
    match (epoch_ms, meters.measured_since_ns.load(Relaxed)) {
        (Some(epoch_ms), since_ns) if since_ns != u64::MAX => epoch_ms + since_ns / 1_000_000,
        _ => 0,
    }
}

/// Writes the logs of the whole run's bandwidth (fio `--bandwidth-log`) if they are wanted: one per
/// direction, with a line per interval. Returns what the record should tell.
pub(crate) fn bandwidth_logs(options: &RunOptions, intervals: &[Interval]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (dir, path) in bandwidth_log_paths(options) {
        let problem = match LogFile::open(&path, false, FILE_TEXT_BYTES.1) {
            Ok(mut file) => {
                for interval in intervals.iter().filter(|interval| !interval.ramp) {
                    file.add(|text| put_bandwidth(text, dir, interval));
                }
                file.finish()
            }
            Err(error) => Some(LogError { path, error }.to_string()),
        };
        findings.extend(problem.map(|text| (NoteSeverity::Error, LOG_INCOMPLETE, text)));
    }
    findings
}

/// Returns the paths of these logs; none where they are not wanted.
pub(crate) fn bandwidth_log_paths(options: &RunOptions) -> Vec<(Direction, PathBuf)> {
    let Some(prefix) = options.bandwidth_log.as_deref() else { return Vec::new() };
    let prefix = Some(prefix).filter(|prefix| !prefix.is_empty());
    let folder = options.log_dir.as_deref().unwrap_or(Path::new(""));
    let path = |dir| folder.join(aggregate_file_name(prefix, dir));
    Direction::ALL.into_iter().map(|dir| (dir, path(dir))).collect()
}

fn put_bandwidth(to: &mut String, dir: Direction, interval: &Interval) {
    let dirs = &interval.dirs;
    let of_dir = match dir {
        Direction::Read => &dirs.read,
        Direction::Write => &dirs.write,
        Direction::Trim => &dirs.trim,
    };
    let value = of_dir.io_bytes.saturating_mul(1000) / interval.length_ms.max(1) / 1024;
    let entry = LogLine {
        time_ms: interval.end_ms,
        value,
        value_max: value,
        dir,
        block_bytes: 0,
        offset_bytes: 0,
        priority: 0,
        issue_time_ns: 0,
    };
    line(to, &entry, LogColumns::default()).expect("a string takes every text");
}
