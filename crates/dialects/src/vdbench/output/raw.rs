//! Rows of raw workloads, in both layouts.
//!
//! What Vdbench calls response time is the service time here: from the choice of an I/O to its
//! completion.

use record::CpuShares;

use super::number::{column, fixed};
use super::stats::RowStats;
use crate::vdbench::run::FileOperation::{Read, Write};

/// Which columns rows and flatfiles have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// Those of 5.03 to 5.04.06: one maximum.
    V503,
    /// Those of 5.04.07: maxima of reads and of writes.
    #[default]
    V507,
}

/// What a megabyte is in reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Megabyte {
    /// 1024 * 1024 bytes.
    #[default]
    Binary,
    /// 1000 * 1000 bytes (`-mb`).
    Decimal,
}

impl Megabyte {
    /// Returns its bytes.
    pub fn bytes(self) -> f64 {
        match self {
            Megabyte::Binary => 1024.0 * 1024.0,
            Megabyte::Decimal => 1e6,
        }
    }

    fn heading(self) -> &'static str {
        match self {
            Megabyte::Binary => "1024**2",
            Megabyte::Decimal => "1000**2",
        }
    }
}

/// The figures of a row. Times are milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RawFigures {
    /// I/Os per second.
    pub rate_iops: f64,
    /// Megabytes per second.
    pub mb_s: f64,
    /// Mean size of an I/O, bytes.
    pub bytes_per_io: u64,
    /// Reads, percent of all I/Os.
    pub read_pct: f64,
    /// Mean response time.
    pub resp_ms: f64,
    /// The same of reads.
    pub read_resp_ms: f64,
    /// The same of writes.
    pub write_resp_ms: f64,
    /// Largest response time.
    pub resp_ms_max: f64,
    /// The same of reads.
    pub read_ms_max: f64,
    /// The same of writes.
    pub write_ms_max: f64,
    /// Standard deviation of the response time.
    pub resp_ms_std: f64,
    /// The same of reads.
    pub read_ms_std: f64,
    /// The same of writes.
    pub write_ms_std: f64,
    /// I/Os outstanding on average: rate times response time.
    pub queue_depth: f64,
    /// Processors; `None` prints zeros.
    pub cpu: Option<CpuShares>,
}

impl RawFigures {
    /// Derives the figures from the sums.
    pub fn of(row: &RowStats, megabyte: Megabyte) -> Self {
        let (reads, writes, data) = (row.op(Read), row.op(Write), row.data());
        let rate_iops = row.per_s(data.n as f64);
        RawFigures {
            rate_iops,
            mb_s: row.per_s(data.bytes as f64) / megabyte.bytes(),
            bytes_per_io: data.bytes.checked_div(data.n).unwrap_or(0),
            read_pct: row.read_pct(),
            resp_ms: data.response_ms(),
            read_resp_ms: reads.response_ms(),
            write_resp_ms: writes.response_ms(),
            resp_ms_max: data.response_ms_max(),
            read_ms_max: reads.response_ms_max(),
            write_ms_max: writes.response_ms_max(),
            resp_ms_std: data.response_ms_std(),
            read_ms_std: reads.response_ms_std(),
            write_ms_std: writes.response_ms_std(),
            queue_depth: rate_iops * data.response_ms() / 1000.0,
            cpu: row.cpu,
        }
    }
}

/// Returns the two lines above rows, the first with a date such as `Nov 21, 2026`.
pub fn raw_header(layout: Layout, date: &str, megabyte: Megabyte) -> String {
    let mb = megabyte.heading();
    match layout {
        Layout::V503 => format!(
            "{date}  interval        i/o   MB/sec   bytes   read     resp     read    write     \
             resp     resp queue  cpu%  cpu%\n                             rate  {mb}     i/o    \
             pct     time     resp     resp      max   stddev depth sys+u   sys\n"
        ),
        Layout::V507 => format!(
            "{date}    interval        i/o   MB/sec   bytes   read     resp     read    write     \
             read    write     resp  queue  cpu%  cpu%\n                               rate  \
             {mb}     i/o    pct     time     resp     resp      max      max   stddev  depth \
             sys+u   sys\n"
        ),
    }
}

/// Returns a row, with a clock such as `01:15:27.021` and the number of the interval or `avg_2-5`.
///
/// A label that is too long takes more columns: a blank always stands before it.
pub fn raw_row(layout: Layout, clock: &str, label: &str, figures: &RawFigures) -> String {
    let label_width = match layout {
        Layout::V503 => 10,
        Layout::V507 => 12,
    };
    let label_width = label_width.max(label.len() + 1);
    let cpu = figures.cpu.unwrap_or_default();
    let mut row = format!("{clock}{label:>label_width$}");
    match layout {
        Layout::V503 => {
            push(&mut row, &columns_503(figures));
            push(&mut row, &[column(figures.queue_depth, 5, 1)]);
        }
        Layout::V507 => push(&mut row, &columns_507(figures)),
    }
    push(&mut row, &[column(cpu.user_pct + cpu.system_pct, 5, 1), column(cpu.system_pct, 5, 1)]);
    row.push('\n');
    row
}

/// Returns the columns that rows of 5.04.06 and tables of skew share.
fn columns_503(figures: &RawFigures) -> [String; 9] {
    [
        column(figures.rate_iops, 10, 2),
        column(figures.mb_s, 8, 2),
        format!("{:>7}", figures.bytes_per_io),
        column(figures.read_pct, 6, 2),
        column(figures.resp_ms, 8, 3),
        column(figures.read_resp_ms, 8, 3),
        column(figures.write_resp_ms, 8, 3),
        column(figures.resp_ms_max, 8, 3),
        column(figures.resp_ms_std, 8, 3),
    ]
}

fn columns_507(figures: &RawFigures) -> [String; 11] {
    [
        column(figures.rate_iops, 10, 1),
        column(figures.mb_s, 8, 2),
        format!("{:>7}", figures.bytes_per_io),
        column(figures.read_pct, 6, 2),
        column(figures.resp_ms, 8, 3),
        column(figures.read_resp_ms, 8, 3),
        column(figures.write_resp_ms, 8, 3),
        column(figures.read_ms_max, 8, 2),
        column(figures.write_ms_max, 8, 2),
        column(figures.resp_ms_std, 8, 3),
        column(figures.queue_depth, 6, 1),
    ]
}

fn push(row: &mut String, columns: &[String]) {
    for column in columns {
        row.push(' ');
        row.push_str(column);
    }
}

/// The share of a workload in a run, percent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Skew {
    /// Asked for.
    pub requested_pct: f64,
    /// What it was.
    pub observed_pct: f64,
}

/// Deviations below this are not shown, percent.
const SKEW_DELTA_MIN: f64 = 0.10;

impl Skew {
    /// Returns how much was missing; negative where there was too much.
    pub fn delta_pct(self) -> f64 {
        self.requested_pct - self.observed_pct
    }
}

/// Returns the two heading lines of a table in skew.html. `what` is such as `SD:`, `width` the
/// columns of names.
pub fn raw_skew_header(
    what: &str,
    width: usize,
    megabyte: Megabyte,
    has_skew: bool,
) -> [String; 2] {
    let mb = megabyte.heading();
    let mut lines = [
        format!(
            "{:width$}        i/o   MB/sec   bytes   read     resp     read    write     resp     \
             resp queue ",
            ""
        ),
        format!(
            "{what:<width$}       rate  {mb}     i/o    pct     time     resp     resp      max   \
             stddev depth "
        ),
    ];
    if has_skew {
        lines[0].push_str("      skew     skew    skew ");
        lines[1].push_str(" requested observed   delta ");
    }
    lines
}

/// Name of the last line of tables in skew.html.
pub(super) const TOTAL: &str = "Total";

/// Returns a line of a table in skew.html, with so many columns for the name.
pub fn raw_skew_row(name: &str, width: usize, figures: &RawFigures, skew: Option<Skew>) -> String {
    let mut row = format!("{name:<width$}");
    push(&mut row, &columns_503(figures));
    push(&mut row, &[column(figures.queue_depth, 5, 1)]);
    let Some(skew) = skew else {
        row.push(' ');
        return row;
    };
    let pct = |value: f64, width: usize| format!("{:>width$}%", fixed(value, 2));
    row.push_str(&pct(skew.requested_pct, 10));
    row.push_str(&pct(skew.observed_pct, 8));
    if skew.delta_pct().abs() > SKEW_DELTA_MIN {
        row.push_str(&pct(skew.delta_pct(), 7));
    } else if name != TOTAL {
        row.push(' ');
    }
    row
}
