//! What a worker reports, as lines of its logs. Pure.

use std::path::PathBuf;

use dialects::fio::iolog::{self, FileAction};
use dialects::fio::output::log::{LogColumns, LogKind, LogLine, line};
use plan::report::{LogValue, Logs};
use plan::{Direction, IoPriority, Job};
use worker::LogEvent;

/// The kinds a worker's events are turned into, in the order in which they are handled.
pub(super) const KINDS: [LogKind; 5] =
    [LogKind::Bandwidth, LogKind::Iops, LogKind::Slat, LogKind::Clat, LogKind::Lat];

/// Bandwidth and IOPS of a last window are logged from this share of a window on. Below, a rate is
/// that of a single batch and says nothing.
const REST_MIN: u64 = 10;

/// How the lines of one worker look.
#[derive(Clone, Copy, Debug)]
pub(super) struct LineStyle {
    columns: LogColumns,
    value: LogValue,
    window_ns: u64,
    /// Of I/Os without one of their own.
    priority: IoPriority,
    /// Submission is a step of its own.
    has_slat: bool,
    /// Bandwidth is measured.
    has_bandwidth: bool,
}

impl LineStyle {
    pub(super) fn new(job: &Job) -> Self {
        let Logs { value, offset, priority, issue_time, window_ms, .. } = job.logs;
        let columns =
            LogColumns { value_max: value == LogValue::Both, offset, priority, issue_time };
        LineStyle {
            columns,
            value,
            window_ns: u64::from(window_ms) * 1_000_000,
            priority: job.process.priority(),
            has_slat: job.has_submission_latency(),
            has_bandwidth: !job.reporting.disable_bandwidth,
        }
    }

    /// Adds the line of an event to a log of `kind`, if it has one there. Times of the log are
    /// `zero_ms` later than those of the event.
    #[inline]
    pub(super) fn put(&self, to: &mut String, kind: LogKind, event: &LogEvent, zero_ms: u64) {
        let is_measured = match kind {
            LogKind::Slat => self.has_slat,
            LogKind::Bandwidth => self.has_bandwidth,
            LogKind::Iops | LogKind::Clat | LogKind::ClatHistogram | LogKind::Lat => true,
        };
        if !is_measured {
            return;
        }
        let entry = match *event {
            LogEvent::Io { .. } => Some(self.io(kind, event, zero_ms)),
            LogEvent::Window { .. } => self.window(kind, event, zero_ms),
            LogEvent::Issue { .. } => None,
        };
        if let Some(entry) = entry {
            line(to, &entry, self.columns).expect("a string takes every text");
        }
    }

    #[inline]
    fn io(&self, kind: LogKind, event: &LogEvent, zero_ms: u64) -> LogLine {
        let LogEvent::Io { at_ns, dir, len, offset, slat_ns, clat_ns, lat_ns, priority, .. } =
            *event
        else {
            return empty(Direction::Read, 0);
        };
        let priority = if priority == IoPriority::NONE { self.priority } else { priority };
        let (value, has_issue_time) = match kind {
            LogKind::Bandwidth => (io_bandwidth(len, clat_ns), false),
            LogKind::Iops => (1, false),
            LogKind::Slat => (slat_ns, true),
            LogKind::Clat | LogKind::ClatHistogram => (clat_ns, true),
            LogKind::Lat => (lat_ns, false),
        };
        LogLine {
            value,
            value_max: value,
            block_bytes: u64::from(len),
            offset_bytes: offset,
            issue_time_ns: if has_issue_time { at_ns.saturating_sub(clat_ns) } else { 0 },
            priority: priority.bits(),
            ..empty(dir, zero_ms + at_ns / 1_000_000)
        }
    }

    fn window(&self, kind: LogKind, event: &LogEvent, zero_ms: u64) -> Option<LogLine> {
        let LogEvent::Window { at_ns, length_ns, dir, n_ios, bytes, latencies } = *event else {
            return None;
        };
        let is_rest = length_ns < self.window_ns / REST_MIN;
        let (value, value_max) = match kind {
            LogKind::Bandwidth | LogKind::Iops if is_rest => return None,
            LogKind::Bandwidth => both(per_second(bytes, length_ns) / 1024),
            LogKind::Iops => both(per_second(n_ios, length_ns)),
            LogKind::Slat => self.of_window(latencies[0], n_ios),
            LogKind::Clat | LogKind::ClatHistogram => self.of_window(latencies[1], n_ios),
            LogKind::Lat => self.of_window(latencies[2], n_ios),
        };
        Some(LogLine { value, value_max, ..empty(dir, zero_ms + at_ns / 1_000_000) })
    }

    /// Returns value and largest value of a window.
    fn of_window(&self, (sum_ns, max_ns): (u64, u64), n_ios: u64) -> (u64, u64) {
        let mean_ns = (sum_ns + n_ios / 2) / n_ios.max(1);
        (if self.value == LogValue::Max { max_ns } else { mean_ns }, max_ns)
    }
}

/// A line without anything in it. That of a window stays without size, place and priority, as in
/// fio: its I/Os may differ in them.
fn empty(dir: Direction, time_ms: u64) -> LogLine {
    LogLine {
        time_ms,
        value: 0,
        value_max: 0,
        dir,
        block_bytes: 0,
        offset_bytes: 0,
        priority: 0,
        issue_time_ns: 0,
    }
}

/// Bandwidth of one operation as fio logs it: thousands of bytes per second of completion latency.
///
/// Windows hold KiB/s. fio mixes the two, and readers know it so.
fn io_bandwidth(len: u32, clat_ns: u64) -> u64 {
    (u64::from(len) * 1_000_000).checked_div(clat_ns).unwrap_or(0)
}

fn per_second(amount: u64, length_ns: u64) -> u64 {
    let rate = u128::from(amount) * 1_000_000_000 / u128::from(length_ns.max(1));
    u64::try_from(rate).unwrap_or(u64::MAX)
}

fn both(value: u64) -> (u64, u64) {
    (value, value)
}

/// Adds what a record of issued operations starts with.
pub(super) fn put_record_start(to: &mut String, targets: &[PathBuf]) {
    to.push_str(iolog::HEADER);
    for action in [FileAction::Add, FileAction::Open] {
        put_files(to, 0, targets, action);
    }
}

/// Adds what a record ends with.
pub(super) fn put_record_end(to: &mut String, at_us: u64, targets: &[PathBuf]) {
    put_files(to, at_us, targets, FileAction::Close);
}

fn put_files(to: &mut String, at_us: u64, targets: &[PathBuf], action: FileAction) {
    for target in targets {
        iolog::write_file(to, at_us, &target.to_string_lossy(), action)
            .expect("a string takes every text");
    }
}

/// Adds the line of an issued operation.
#[inline]
pub(super) fn put_issue(to: &mut String, event: &LogEvent, targets: &[PathBuf]) {
    let LogEvent::Issue { at_ns, kind, file_idx, offset, len } = *event else { return };
    let Some(target) = targets.get(file_idx as usize) else { return };
    iolog::write_op(to, at_ns / 1000, &target.to_string_lossy(), kind, offset, len)
        .expect("a string takes every text");
}
