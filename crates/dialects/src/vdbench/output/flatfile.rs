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
pub struct RunSettings {
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

/// Columns that every flatfile begins with, behind the time of day.
const FIRST: [(&str, &str); 2] = [
    ("Run", "name of the run (rd=)"),
    ("Interval", "number of the interval, or the first and last one of an average"),
];

/// A column of processors: its name, what it means, and which share of them it is.
type CpuColumn = (&'static str, &'static str, fn(&CpuShares) -> f64);

/// Columns that every flatfile ends with.
const CPU: [CpuColumn; 5] = [
    ("cpu_used", "processors, percent: user and kernel", |it| it.user_pct + it.system_pct),
    ("cpu_user", "processors, percent: user", |it| it.user_pct),
    ("cpu_kernel", "processors, percent: kernel", |it| it.system_pct),
    ("cpu_wait", "processors, percent: waiting for I/O", |it| it.wait_pct),
    ("cpu_idle", "processors, percent: idle", |it| it.idle_pct),
];

/// What stands in a column; `None` where it is unknown.
enum Value {
    Number(Option<f64>),
    Count(Option<i64>),
}
use Value::{Count, Number};

/// A column of raw workloads: its name, what it means, and what stands there.
type RawColumn = (&'static str, &'static str, fn(&RunSettings, &RawFigures) -> Value);

/// Columns of raw workloads between those of all flatfiles.
const RAW: [RawColumn; 25] = [
    ("reqrate", "I/Os per second asked for; 9999988 is max, 9999977 is curve", |asked, _| {
        Number(Some(asked.reqrate))
    }),
    ("rate", "I/Os per second", |_, it| Number(Some(it.rate_iops))),
    ("MB/sec", "megabytes per second", |_, it| Number(Some(it.mb_s))),
    ("bytes/io", "mean transfer size", |_, it| Number(Some(it.bytes_per_io as f64))),
    ("read%", "percent of reads", |_, it| Number(Some(it.read_pct))),
    ("resp", "mean response time, milliseconds", |_, it| Number(Some(it.resp_ms))),
    ("read_resp", "mean response time of reads", |_, it| Number(Some(it.read_resp_ms))),
    ("write_resp", "mean response time of writes", |_, it| Number(Some(it.write_resp_ms))),
    ("resp_max", "largest response time", |_, it| Number(Some(it.resp_ms_max))),
    ("read_max", "largest response time of reads", |_, it| Number(Some(it.read_ms_max))),
    ("write_max", "largest response time of writes", |_, it| Number(Some(it.write_ms_max))),
    ("resp_std", "standard deviation of the response time", |_, it| Number(Some(it.resp_ms_std))),
    ("read_std", "standard deviation of the response time of reads", |_, it| {
        Number(Some(it.read_ms_std))
    }),
    ("write_std", "standard deviation of the response time of writes", |_, it| {
        Number(Some(it.write_ms_std))
    }),
    ("xfersize", "transfer size asked for", |asked, _| Count(asked.xfersize.map(|n| n as i64))),
    ("threads", "threads per SD asked for", |asked, _| Count(asked.threads)),
    ("rdpct", "percent of reads asked for", |asked, _| Number(asked.rdpct)),
    ("rhpct", "percent of read hits asked for", |asked, _| Number(asked.rhpct)),
    ("whpct", "percent of write hits asked for", |asked, _| Number(asked.whpct)),
    ("seekpct", "percent of random I/O asked for", |asked, _| Number(asked.seekpct)),
    ("lunsize", "size of all luns, GiB", |asked, _| {
        Number(asked.lun_bytes.map(|bytes| bytes as f64 / (1_u64 << 30) as f64))
    }),
    ("version", "not used", |_, _| Number(None)),
    ("compratio", "compression asked for", |asked, _| Number(asked.compratio)),
    ("dedupratio", "deduplication asked for", |asked, _| Number(asked.dedupratio)),
    ("queue_depth", "I/Os outstanding on average: rate times response time", |_, it| {
        Number(Some(it.queue_depth))
    }),
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

/// Returns the explanation and the heading of a raw flatfile.
pub fn raw_flatfile_head(layout: Layout) -> String {
    let own = raw_columns(layout).map(|(name, text, _)| (name, text));
    let cpu = CPU.iter().map(|(name, text, _)| (*name, *text));
    let columns = FIRST.into_iter().chain(own).chain(cpu);
    let columns: Vec<(String, &str)> =
        columns.map(|(name, text)| (name.to_owned(), text)).collect();
    match layout {
        Layout::V507 => head_507(&columns),
        Layout::V503 => {
            let mut names = vec!["tod"];
            names.extend(columns.iter().map(|(name, _)| name.as_str()));
            format!("{}{}", explanation(&columns), line_503(&names))
        }
    }
}

fn head_507(columns: &[(String, &str)]) -> String {
    let names: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
    let names = names.join(" ");
    format!("{}{:>12} {:>23} {names} \n", explanation(columns), "tod", "timestamp")
}

fn raw_columns(layout: Layout) -> impl Iterator<Item = RawColumn> {
    RAW.into_iter().filter(move |(name, ..)| layout == Layout::V507 || !ONLY_507.contains(name))
}

/// Returns the explanation and the heading of a file system's flatfile.
pub fn file_flatfile_head() -> String {
    let own = [
        ("Xfersize", "mean transfer size"),
        ("Threads", "threads asked for, where forthreads= does"),
        ("Reqrate", "operations per second asked for; 9999988 is max, 9999977 is curve"),
    ];
    let named = |(name, text): (&str, &'static str)| (name.to_owned(), text);
    let mut columns: Vec<(String, &str)> = FIRST.into_iter().chain(own).map(named).collect();
    columns.extend(OF_OPERATION.map(|(name, text)| (capital(name), text)));
    let data = [
        ("MB/sec", "megabytes per second"),
        ("MB_read", "megabytes read per second"),
        ("MB_write", "megabytes written per second"),
    ];
    columns.extend(data.map(named));
    for name in file_operations() {
        columns.extend(OF_OPERATION.map(|(of, text)| (format!("{name}_{of}"), text)));
    }
    let contents =
        [("Compratio", "compression asked for"), ("Dedupratio", "deduplication asked for")];
    columns.extend(contents.map(named));
    columns.extend(CPU.map(|(name, text, _)| named((name, text))));
    head_507(&columns)
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
    asked: &RunSettings,
    figures: &RawFigures,
) -> String {
    let number: fn(f64) -> String = match layout {
        Layout::V507 => short,
        Layout::V503 => |value| fixed(value, 4),
    };
    let mut words = vec![asked.run.clone(), label_of(layout, label)];
    words.extend(raw_columns(layout).map(|(_, _, value)| value(asked, figures).word(number)));
    words.extend(cpu_words(figures.cpu, number));
    match layout {
        Layout::V507 => format!("{} {} {} \n", now.clock(), now.stamp(), words.join(" ")),
        Layout::V503 => {
            let clock = now.clock();
            let mut all = vec![clock.as_str()];
            all.extend(words.iter().map(String::as_str));
            line_503(&all)
        }
    }
}

impl Value {
    fn word(self, number: fn(f64) -> String) -> String {
        let word = match self {
            Number(value) => value.map(number),
            Count(value) => value.map(|count| count.to_string()),
        };
        word.unwrap_or_else(|| NOT_KNOWN.to_owned())
    }
}

const NOT_KNOWN: &str = "n/a";

/// Averages have a second blank before them in 5.04.07.
fn label_of(layout: Layout, label: &str) -> String {
    match layout {
        Layout::V507 if label.starts_with("avg_") => format!(" {label}"),
        Layout::V503 | Layout::V507 => label.to_owned(),
    }
}

fn cpu_words(cpu: Option<CpuShares>, number: fn(f64) -> String) -> [String; 5] {
    CPU.map(|(_, _, share)| Number(cpu.as_ref().map(share)).word(number))
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
    asked: &RunSettings,
    figures: &FileFigures,
) -> String {
    let mut values = vec![
        asked.run.clone(),
        label_of(Layout::V507, label),
        figures.bytes_per_io.to_string(),
        Count(asked.threads).word(short),
        short(asked.reqrate),
    ];
    values.extend(op_values(figures.requested));
    let data = [figures.mb_s, figures.mb_read_s, figures.mb_write_s];
    values.extend(data.map(short));
    for &operation in &OPERATIONS[..N_FILE_OPERATIONS] {
        values.extend(op_values(figures.op(operation)));
    }
    values.extend([asked.compratio, asked.dedupratio].map(|ratio| Number(ratio).word(short)));
    values.extend(cpu_words(figures.cpu, short));
    format!("{} {} {} \n", now.clock(), now.stamp(), values.join(" "))
}

fn op_values(op: OpFigures) -> [String; 6] {
    [op.rate, op.rate_std, op.rate_max, op.resp_ms, op.resp_ms_std, op.resp_ms_max].map(short)
}

const _: () = assert!(matches!(OPERATIONS[N_FILE_OPERATIONS - 1], FileOperation::Access));
