//! fio's log files: their names and lines.
//!
//! Lines are appended to a buffer that the caller keeps, so that a log can be streamed while a
//! run goes on: no allocation once the buffer has grown to a line's length.

use std::fmt::{self, Write};

use hist::FIO_N_BINS;
use plan::Direction;

/// What a log holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LogKind {
    /// Bandwidth, KiB/s.
    Bandwidth,
    /// Operations: 1 per line, or operations per second of a window.
    Iops,
    /// Total latency, nanoseconds.
    Lat,
    /// Completion latency, nanoseconds.
    Clat,
    /// Submission latency, nanoseconds.
    Slat,
    /// Histograms of completion latency.
    ClatHistogram,
}

impl LogKind {
    /// Returns the part of the file's name that says what it holds.
    ///
    /// The manual says `hist` for the histograms; fio writes `clat_hist`, and readers ask for that.
    pub fn suffix(self) -> &'static str {
        match self {
            LogKind::Bandwidth => "bw",
            LogKind::Iops => "iops",
            LogKind::Lat => "lat",
            LogKind::Clat => "clat",
            LogKind::Slat => "slat",
            LogKind::ClatHistogram => "clat_hist",
        }
    }
}

/// Returns the name of a log file.
///
/// `worker_number` counts all workers of the plan from 1; without it (`per_job_logs=0`) all write
/// to one file.
pub fn file_name(prefix: &str, kind: LogKind, worker_number: Option<u32>) -> String {
    let suffix = kind.suffix();
    match worker_number {
        Some(number) => format!("{prefix}_{suffix}.{number}.log"),
        None => format!("{prefix}_{suffix}.log"),
    }
}

/// Returns the name of the log of `--bandwidth-log`, which holds one direction of all jobs.
pub fn aggregate_file_name(prefix: Option<&str>, dir: Direction) -> String {
    format!("{}-{}_bw.log", prefix.unwrap_or("agg"), dir.name())
}

/// Which columns a log has beside the five that are always there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct LogColumns {
    /// The largest value of the window after the mean (`log_window_value=both`).
    pub value_max: bool,
    /// Offset (`log_offset`).
    pub offset: bool,
    /// Priority as class and level in hexadecimal (`log_prio`), instead of high or not.
    pub priority: bool,
    /// Time of issue (`log_issue_time`).
    pub issue_time: bool,
}

/// One line: an operation, or a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// Milliseconds since the start of the job (or the Unix epoch, as the job asks for).
    pub time_ms: u64,
    /// In the unit of the log's kind.
    pub value: u64,
    /// Largest value of a window.
    pub value_max: u64,
    /// Direction.
    pub dir: Direction,
    /// Size of the operation in bytes; 0 for a window.
    pub block_bytes: u64,
    /// Offset in bytes; 0 for a window.
    pub offset_bytes: u64,
    /// Priority as the kernel takes it: class in the upper three bits of sixteen, level below.
    pub priority: u16,
    /// When it was issued, nanoseconds; 0 except in the logs of completion and submission.
    pub issue_time_ns: u64,
}

/// Priority class whose members count as of high priority: real time.
const CLASS_REAL_TIME: u16 = 1;

/// Appends a line with its newline.
///
/// Columns: time, value, largest value, direction (0 read, 1 write, 2 trim), size, offset,
/// priority, issue time. `to` is a `String` or anything else that takes text.
pub fn line(to: &mut impl Write, entry: &LogLine, columns: LogColumns) -> fmt::Result {
    let mut row = Row::new();
    row.number(entry.time_ms);
    row.column(entry.value);
    if columns.value_max {
        row.column(entry.value_max);
    }
    row.column(entry.dir as u64);
    row.column(entry.block_bytes);
    if columns.offset {
        row.column(entry.offset_bytes);
    }
    if columns.priority {
        row.hexadecimal_column(entry.priority);
    } else {
        row.column(u64::from(entry.priority >> 13 == CLASS_REAL_TIME));
    }
    if columns.issue_time {
        row.column(entry.issue_time_ns);
    }
    row.bytes(b"\n");
    to.write_str(row.text())
}

/// A line in the making, written at once. Digits are made by hand: per I/O and log there is a line,
/// and `write!` takes several times as long.
struct Row {
    text: [u8; ROW_BYTES],
    len: usize,
}

/// The longest line: six numbers of 20 digits, a direction, a priority, separators, a newline.
const ROW_BYTES: usize = 160;

impl Row {
    fn new() -> Self {
        Row { text: [0; ROW_BYTES], len: 0 }
    }

    #[inline]
    fn bytes(&mut self, bytes: &[u8]) {
        self.text[self.len..self.len + bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len();
    }

    #[inline]
    fn number(&mut self, mut number: u64) {
        let n_digits = number.checked_ilog10().unwrap_or(0) as usize + 1;
        for digit in self.text[self.len..self.len + n_digits].iter_mut().rev() {
            *digit = b'0' + (number % 10) as u8;
            number /= 10;
        }
        self.len += n_digits;
    }

    #[inline]
    fn column(&mut self, number: u64) {
        self.bytes(b", ");
        self.number(number);
    }

    fn hexadecimal_column(&mut self, number: u16) {
        self.bytes(b", 0x");
        for shift in [12, 8, 4, 0] {
            self.bytes(&[b"0123456789abcdef"[usize::from(number >> shift & 15)]]);
        }
    }

    fn text(&self) -> &str {
        str::from_utf8(&self.text[..self.len]).expect("digits and separators are ASCII")
    }
}

/// Appends a line of a histogram log with its newline: time, direction, size, counts.
///
/// `bins` are the counts of one interval: `hist`'s 1856 bins of fio's, or those after
/// `hist::coarsen_fio_bins`. Readers expect every column, empty ones too.
///
/// # Panics
/// If these are not all bins of a coarseness.
pub fn histogram_line(
    to: &mut impl Write,
    time_ms: u64,
    dir: Direction,
    block_bytes: u64,
    bins: &[u64],
) -> fmt::Result {
    let is_whole = (0..=6).any(|coarseness| bins.len() == FIO_N_BINS >> coarseness);
    assert!(is_whole, "a line of a histogram log has {} bins", bins.len());
    write!(to, "{time_ms}, {}, {block_bytes}", dir as u8)?;
    for count in bins {
        write!(to, ", {count}")?;
    }
    to.write_char('\n')
}
