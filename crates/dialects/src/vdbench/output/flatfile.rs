//! flatfile.html: one line per interval and one per run, columns by name.

use std::fmt::Write as _;

use record::CpuShares;

use super::files::{FileFigures, OpFigures};
use super::number::{fixed, short};
use super::raw::{Layout, RawFigures};
use super::stats::OPERATIONS;
use super::time::Moment;
use crate::vdbench::run::FileOperation;

/// What 5.04.07 prints for threads that differ.
pub(super) const THREADS_DIFFER: i64 = -1;

/// What a run asked for, as far as columns show it; `None` where values are mixed or unknown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Asked {
    /// Name of the run.
    pub run: String,
    /// The rate, with codes for rates without a number: see [`reqrate`].
    pub reqrate: f64,
    /// Transfer size, bytes.
    pub xfersize: Option<u64>,
    /// Threads; -1 where storage definitions have unlike numbers of them.
    pub threads: Option<i64>,
    /// Percent of reads.
    pub rdpct: Option<f64>,
    /// Percent of reads that go to the hit area.
    pub rhpct: Option<f64>,
    /// Percent of writes that go to the hit area.
    pub whpct: Option<f64>,
    /// Percent of I/Os that go somewhere else.
    pub seekpct: Option<f64>,
    /// Size of all storage definitions, bytes.
    pub lun_bytes: Option<u64>,
    /// How many times smaller data compresses.
    pub compratio: Option<f64>,
    /// How many times smaller data deduplicates.
    pub dedupratio: Option<f64>,
}

/// Returns the codes of `iorate=max` and `iorate=curve` in a flatfile.
pub fn reqrate(layout: Layout, is_curve: bool) -> f64 {
    match (layout, is_curve) {
        (Layout::V507, false) => 9_999_988.0,
        (Layout::V507, true) => 9_999_977.0,
        (Layout::V503, false) => 999_988.0,
        (Layout::V503, true) => 999_977.0,
    }
}

/// Columns of raw workloads with what they mean. The first two are the time of day.
const RAW: [(&str, &str); 32] = [
    ("Run", "name of the run (rd=)"),
    ("Interval", "number of the interval, or the first and last one of an average"),
    ("reqrate", "I/Os per second asked for; 9999988 is max, 9999977 is curve"),
    ("rate", "I/Os per second"),
    ("MB/sec", "megabytes per second"),
    ("bytes/io", "mean transfer size"),
    ("read%", "percent of reads"),
    ("resp", "mean response time, milliseconds"),
    ("read_resp", "mean response time of reads"),
    ("write_resp", "mean response time of writes"),
    ("resp_max", "largest response time"),
    ("read_max", "largest response time of reads"),
    ("write_max", "largest response time of writes"),
    ("resp_std", "standard deviation of the response time"),
    ("read_std", "standard deviation of the response time of reads"),
    ("write_std", "standard deviation of the response time of writes"),
    ("xfersize", "transfer size asked for"),
    ("threads", "threads per SD asked for"),
    ("rdpct", "percent of reads asked for"),
    ("rhpct", "percent of read hits asked for"),
    ("whpct", "percent of write hits asked for"),
    ("seekpct", "percent of random I/O asked for"),
    ("lunsize", "size of all luns, GiB"),
    ("version", "not used"),
    ("compratio", "compression asked for"),
    ("dedupratio", "deduplication asked for"),
    ("queue_depth", "I/Os outstanding on average: rate times response time"),
    ("cpu_used", "processors, percent: user and kernel"),
    ("cpu_user", "processors, percent: user"),
    ("cpu_kernel", "processors, percent: kernel"),
    ("cpu_wait", "processors, percent: waiting for I/O"),
    ("cpu_idle", "processors, percent: idle"),
];
/// Columns that layout 503 does not have.
const ONLY_507: [&str; 4] = ["read_max", "write_max", "read_std", "write_std"];

/// Figures of each operation of a file system workload.
const OF_OPERATION: [(&str, &str); 6] = [
    ("rate", "per second"),
    ("rate_std", "per second, standard deviation over intervals"),
    ("rate_max", "per second, largest of an interval"),
    ("resp", "mean response time, milliseconds"),
    ("resp_std", "standard deviation of the response time"),
    ("resp_max", "largest response time"),
];
/// Operations with columns of their own.
const N_FILE_OPERATIONS: usize = 11;

const CPU: [&str; 5] = ["cpu_used", "cpu_user", "cpu_kernel", "cpu_wait", "cpu_idle"];

/// Returns the explanation and the heading of a raw flatfile.
pub fn raw_flatfile_head(layout: Layout) -> String {
    let columns: Vec<(String, &str)> =
        raw_columns(layout).map(|(name, text)| (name.to_owned(), text)).collect();
    let names: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
    let heading = match layout {
        Layout::V507 => format!("{:>12} {:>23} {} \n", "tod", "timestamp", names.join(" ")),
        Layout::V503 => line_503(&[&["tod"], names.as_slice()].concat()),
    };
    format!("{}{heading}", explanation(&columns))
}

fn raw_columns(layout: Layout) -> impl Iterator<Item = (&'static str, &'static str)> {
    RAW.into_iter().filter(move |(name, _)| layout == Layout::V507 || !ONLY_507.contains(name))
}

/// Returns the explanation and the heading of a file system's flatfile.
pub fn file_flatfile_head() -> String {
    let mut columns: Vec<(String, &str)> = [
        ("Run", "name of the run (rd=)"),
        ("Interval", "number of the interval, or the first and last one of an average"),
        ("Xfersize", "mean transfer size"),
        ("Threads", "not used"),
        ("Reqrate", "operations per second asked for; 9999988 is max, 9999977 is curve"),
    ]
    .map(|(name, text)| (name.to_owned(), text))
    .to_vec();
    columns.extend(OF_OPERATION.map(|(name, text)| (capital(name), text)));
    let data = [
        ("MB/sec", "megabytes per second"),
        ("MB_read", "megabytes read per second"),
        ("MB_write", "megabytes written per second"),
    ];
    columns.extend(data.map(|(name, text)| (name.to_owned(), text)));
    for name in file_operations() {
        columns.extend(OF_OPERATION.map(|(of, text)| (format!("{name}_{of}"), text)));
    }
    columns.push(("Compratio".to_owned(), "compression asked for"));
    columns.push(("Dedupratio".to_owned(), "deduplication asked for"));
    let cpu = raw_columns(Layout::V507).filter(|(name, _)| CPU.contains(name));
    columns.extend(cpu.map(|(name, text)| (name.to_owned(), text)));
    let names: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
    let names = names.join(" ");
    format!("{}{:>12} {:>23} {names} \n", explanation(&columns), "tod", "timestamp")
}

fn file_operations() -> impl Iterator<Item = String> {
    OPERATIONS[..N_FILE_OPERATIONS].iter().map(|&op| capital(super::stats::operation_name(op)))
}

fn capital(name: &str) -> String {
    let (first, rest) = name.split_at(1);
    format!("{}{rest}", first.to_uppercase())
}

fn explanation(columns: &[(String, &str)]) -> String {
    let mut text = "*\n* Results as columns of text, one line per interval and one per run.\n\
                    * Lines that start with `*` explain; the first other line names the columns.\n\
                    * Find columns by their names: their number and order differ.\n*\n"
        .to_owned();
    for (name, meaning) in columns {
        let _ = writeln!(text, "* {name:<16}: {meaning}");
    }
    text.push_str("* 'n/a'           : unknown, or different values at once\n* \n");
    text
}

/// Returns a line of a raw flatfile. The label is the number of the interval or `avg_2-5`.
pub fn raw_flatfile_row(
    layout: Layout,
    now: &Moment,
    label: &str,
    asked: &Asked,
    figures: &RawFigures,
) -> String {
    let number: fn(f64) -> String = match layout {
        Layout::V507 => short,
        Layout::V503 => |value| fixed(value, 4),
    };
    let mut values = vec![asked.run.clone(), label_of(layout, label), number(asked.reqrate)];
    values.extend(raw_measured(layout, figures).map(number));
    values.extend(raw_asked(asked, number));
    values.push(number(figures.queue_depth));
    values.extend(cpu_values(figures.cpu, number));
    match layout {
        Layout::V507 => format!("{} {} {} \n", now.clock(), now.stamp(), values.join(" ")),
        Layout::V503 => {
            let clock = now.clock();
            let mut words = vec![clock.as_str()];
            words.extend(values.iter().map(String::as_str));
            line_503(&words)
        }
    }
}

fn raw_measured(layout: Layout, figures: &RawFigures) -> impl Iterator<Item = f64> {
    let RawFigures { rate_iops, mb_s, read_pct, resp_ms, read_resp_ms, write_resp_ms, .. } =
        *figures;
    let start = [
        rate_iops,
        mb_s,
        figures.bytes_per_io as f64,
        read_pct,
        resp_ms,
        read_resp_ms,
        write_resp_ms,
    ];
    let (max, std) = (figures.resp_ms_max, figures.resp_ms_std);
    let rest = match layout {
        Layout::V503 => vec![max, std],
        Layout::V507 => vec![
            max,
            figures.read_ms_max,
            figures.write_ms_max,
            std,
            figures.read_ms_std,
            figures.write_ms_std,
        ],
    };
    start.into_iter().chain(rest)
}

fn raw_asked(asked: &Asked, number: fn(f64) -> String) -> [String; 10] {
    let known = |value: Option<f64>| value.map_or_else(|| NOT_KNOWN.to_owned(), number);
    let count =
        |value: Option<u64>| value.map_or_else(|| NOT_KNOWN.to_owned(), |value| value.to_string());
    let gib = asked.lun_bytes.map(|bytes| bytes as f64 / (1024.0 * 1024.0 * 1024.0));
    [
        count(asked.xfersize),
        asked.threads.map_or_else(|| NOT_KNOWN.to_owned(), |threads| threads.to_string()),
        known(asked.rdpct),
        known(asked.rhpct),
        known(asked.whpct),
        known(asked.seekpct),
        known(gib),
        NOT_KNOWN.to_owned(),
        known(asked.compratio),
        known(asked.dedupratio),
    ]
}

const NOT_KNOWN: &str = "n/a";

/// Averages have a second blank before them in 5.04.07.
fn label_of(layout: Layout, label: &str) -> String {
    match layout {
        Layout::V507 if label.starts_with("avg_") => format!(" {label}"),
        _ => label.to_owned(),
    }
}

fn cpu_values(cpu: Option<CpuShares>, number: fn(f64) -> String) -> Vec<String> {
    match cpu {
        None => vec![NOT_KNOWN.to_owned(); CPU.len()],
        Some(CpuShares { user_pct, system_pct, wait_pct, idle_pct }) => {
            let shares = [user_pct + system_pct, user_pct, system_pct, wait_pct, idle_pct];
            shares.map(number).to_vec()
        }
    }
}

/// Returns a line with every column right-aligned in ten places.
fn line_503(words: &[&str]) -> String {
    let mut line = String::new();
    for word in words {
        let _ = write!(line, "{word:>10} ");
    }
    line.push('\n');
    line
}

/// Returns a line of a file system's flatfile.
pub fn file_flatfile_row(
    now: &Moment,
    label: &str,
    asked: &Asked,
    figures: &FileFigures,
) -> String {
    let mut values = vec![
        asked.run.clone(),
        label_of(Layout::V507, label),
        figures.bytes_per_io.to_string(),
        NOT_KNOWN.to_owned(),
        short(asked.reqrate),
    ];
    values.extend(op_values(figures.requested));
    let data = [figures.mb_s, figures.mb_read_s, figures.mb_write_s];
    values.extend(data.map(short));
    for &operation in &OPERATIONS[..N_FILE_OPERATIONS] {
        values.extend(op_values(figures.op(operation)));
    }
    let known = |value: Option<f64>| value.map_or_else(|| NOT_KNOWN.to_owned(), short);
    values.extend([known(asked.compratio), known(asked.dedupratio)]);
    values.extend(cpu_values(figures.cpu, short));
    format!("{} {} {} \n", now.clock(), now.stamp(), values.join(" "))
}

fn op_values(op: OpFigures) -> [String; 6] {
    [op.rate, op.rate_std, op.rate_max, op.resp_ms, op.resp_ms_std, op.resp_ms_max].map(short)
}

const _: () = assert!(matches!(OPERATIONS[N_FILE_OPERATIONS - 1], FileOperation::Access));
