//! Rows of file system workloads: the layout is the same in all versions.

use record::CpuShares;

use super::number::squeezed;
use super::raw::Megabyte;
use super::stats::{OPERATIONS, OpStats, RowStats, Totals, operation_name};
use crate::vdbench::run::FileOperation::{self, Access, Copy, Move, Read, Setattr, Write};

/// The figures of a row. Times are milliseconds, rates per second.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FileFigures {
    /// What the user asked for.
    pub requested: OpFigures,
    /// Processors; `None` prints zeros.
    pub cpu: Option<CpuShares>,
    /// Reads, percent of reads and writes.
    pub read_pct: f64,
    /// Megabytes per second.
    pub mb_s: f64,
    /// Megabytes read per second.
    pub mb_read_s: f64,
    /// Megabytes written per second.
    pub mb_write_s: f64,
    /// Mean transfer size, bytes.
    pub bytes_per_io: u64,
    /// Figures by operation, in the order of [`OPERATIONS`].
    pub ops: Vec<OpFigures>,
}

/// The figures of one kind of operation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OpFigures {
    /// Operations per second.
    pub rate: f64,
    /// Mean response time.
    pub resp_ms: f64,
    /// Standard deviation of the rates of intervals; 0 in one interval.
    pub rate_std: f64,
    /// Largest rate of an interval; 0 in one interval.
    pub rate_max: f64,
    /// Standard deviation of the response time.
    pub resp_ms_std: f64,
    /// Largest response time.
    pub resp_ms_max: f64,
}

impl OpFigures {
    fn of(stats: &OpStats, row: &RowStats) -> Self {
        OpFigures {
            rate: row.per_s(stats.n as f64),
            resp_ms: stats.response_ms(),
            rate_std: 0.0,
            rate_max: 0.0,
            resp_ms_std: stats.response_ms_std(),
            resp_ms_max: stats.response_ms_max(),
        }
    }
}

impl FileFigures {
    /// Derives the figures of an interval.
    pub fn of(row: &RowStats, megabyte: Megabyte) -> Self {
        let data = row.data();
        let mb_s = |stats: &OpStats| row.per_s(stats.bytes as f64) / megabyte.bytes();
        FileFigures {
            requested: OpFigures::of(&row.requested, row),
            cpu: row.cpu,
            read_pct: row.read_pct(),
            mb_s: mb_s(&data),
            mb_read_s: mb_s(row.op(Read)),
            mb_write_s: mb_s(row.op(Write)),
            bytes_per_io: data.bytes.checked_div(data.n).unwrap_or(0),
            ops: OPERATIONS.iter().map(|&op| OpFigures::of(row.op(op), row)).collect(),
        }
    }

    /// Derives the figures of a run, with how its intervals spread.
    pub fn of_run(totals: &Totals, megabyte: Megabyte) -> Self {
        let mut figures = FileFigures::of(totals.sums(), megabyte);
        for (op, &operation) in figures.ops.iter_mut().zip(&OPERATIONS) {
            op.rate_std = totals.rate_std(operation);
            op.rate_max = totals.rate_max(operation);
        }
        figures
    }

    /// Returns the figures of one kind of operation.
    pub fn op(&self, operation: FileOperation) -> OpFigures {
        let position = OPERATIONS.iter().position(|known| *known == operation);
        position.and_then(|idx| self.ops.get(idx)).copied().unwrap_or_default()
    }
}

/// Columns that every row of operations has, behind reads and writes.
const USUAL: [FileOperation; 6] = [
    FileOperation::Mkdir,
    FileOperation::Rmdir,
    FileOperation::Create,
    FileOperation::Open,
    FileOperation::Close,
    FileOperation::Delete,
];
/// Columns of operations that are there only in runs that use them.
const EXTRA: [FileOperation; 5] = [FileOperation::Getattr, Setattr, Access, Copy, Move];

/// Returns the operations with columns of their own in a run that uses these.
pub fn file_columns(used: &[FileOperation]) -> Vec<FileOperation> {
    let extra = EXTRA.into_iter().filter(|operation| used.contains(operation));
    USUAL.into_iter().chain(extra).collect()
}

/// Returns the two lines above rows, the first with a date such as `Nov 21, 2026`.
pub fn file_header(date: &str, columns: &[FileOperation]) -> String {
    let mut first = format!(
        "{date} ..Interval.. .ReqstdOps... ...cpu%...  read ....read..... ....write.... \
         ..mb/sec... mb/sec .xfer.."
    );
    let mut second =
        "                            rate   resp total  sys   pct   rate   resp   rate   \
                      resp  read write  total    size"
            .to_owned();
    push_headings(&mut first, &mut second, columns);
    format!("{first}\n{second}\n")
}

/// Returns the two heading lines of a table in skew.html. `what` is such as `FSD:`.
pub fn file_skew_header(what: &str, columns: &[FileOperation]) -> [String; 2] {
    let mut first =
        "              .ReqstdOps...  read ....read..... ....write.... ..mb/sec... mb/sec \
                     .xfer.."
            .to_owned();
    let mut second = format!(
        "{what:<13}   rate   resp   pct   rate   resp   rate   resp  read write  total    size"
    );
    push_headings(&mut first, &mut second, columns);
    [first, second]
}

fn push_headings(first: &mut String, second: &mut String, columns: &[FileOperation]) {
    for &operation in columns {
        first.push_str(&format!(" {:.^12}", operation_name(operation)));
        second.push_str("  rate   resp");
    }
}

/// Returns a row, with a clock such as `01:15:27.021` and the number of the interval or `avg_2-5`.
pub fn file_row(
    clock: &str,
    label: &str,
    figures: &FileFigures,
    columns: &[FileOperation],
) -> String {
    let cpu = figures.cpu.unwrap_or_default();
    let mut row = format!("{clock} {label:>12}");
    push(&mut row, figures.requested.rate, 6, 1);
    push(&mut row, figures.requested.resp_ms, 6, 3);
    push(&mut row, cpu.user_pct + cpu.system_pct, 5, 1);
    push(&mut row, cpu.system_pct, 4, 2);
    push_rest(&mut row, figures, columns);
    row.push('\n');
    row
}

/// Returns a line of a table in skew.html.
pub fn file_skew_row(name: &str, figures: &FileFigures, columns: &[FileOperation]) -> String {
    let mut row = format!("{name:<13}");
    push(&mut row, figures.requested.rate, 6, 1);
    push(&mut row, figures.requested.resp_ms, 6, 3);
    push_rest(&mut row, figures, columns);
    row
}

fn push_rest(row: &mut String, figures: &FileFigures, columns: &[FileOperation]) {
    push(row, figures.read_pct, 5, 1);
    for operation in [Read, Write] {
        push(row, figures.op(operation).rate, 6, 1);
        push(row, figures.op(operation).resp_ms, 6, 3);
    }
    push(row, figures.mb_read_s, 5, 2);
    push(row, figures.mb_write_s, 5, 2);
    push(row, figures.mb_s, 6, 2);
    push(row, figures.bytes_per_io as f64, 7, 0);
    for &operation in columns {
        push(row, figures.op(operation).rate, 5, 1);
        push(row, figures.op(operation).resp_ms, 6, 3);
    }
}

fn push(row: &mut String, value: f64, width: usize, n_decimals: usize) {
    row.push(' ');
    row.push_str(&squeezed(value, width, n_decimals));
}

/// Returns the rows of standard deviations and of maxima below the averages of `2-5`: blank where
/// an operation did not occur.
pub fn file_spread_rows(
    clock: &str,
    intervals: &str,
    figures: &FileFigures,
    columns: &[FileOperation],
) -> [String; 2] {
    let std = |op: OpFigures| (op.rate_std, op.resp_ms_std);
    let max = |op: OpFigures| (op.rate_max, op.resp_ms_max);
    [
        spread_row(clock, &format!("std_{intervals}"), figures, columns, std),
        spread_row(clock, &format!("max_{intervals}"), figures, columns, max),
    ]
}

fn spread_row(
    clock: &str,
    label: &str,
    figures: &FileFigures,
    columns: &[FileOperation],
    of: fn(OpFigures) -> (f64, f64),
) -> String {
    let mut row = format!("{clock} {label:>12}{:31}", "");
    let cell = |row: &mut String, operation: FileOperation, width: usize| {
        let op = figures.op(operation);
        if op.rate == 0.0 {
            row.push_str(&" ".repeat(width + 8));
            return;
        }
        let (rate, resp_ms) = of(op);
        push(row, rate, width, 1);
        push(row, resp_ms, 6, 3);
    };
    cell(&mut row, Read, 6);
    cell(&mut row, Write, 6);
    row.push_str(&" ".repeat(27));
    for &operation in columns {
        cell(&mut row, operation, 5);
    }
    row.push('\n');
    row
}
