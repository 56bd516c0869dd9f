//! The state of a run as the page's tables have it: texts, in the order in which they stand.

use std::collections::BTreeMap;

use record::{Figure, Record};
use serde_json::{Value, json};
use units::{format_duration, format_iops, format_latency_ns, format_mib_s, format_percent};

use crate::counts::{Counts, OpName};
use crate::line;
use crate::model::{HostNow, JobNow, Live};

/// Most rows of a table: of more hosts or jobs those stand there that matter most.
const ROWS_MAX: usize = 200;

/// Says where the run stands, in one line.
pub(crate) fn headline(live: &Live) -> String {
    let (step, last) = (live.step(), live.last());
    let of_steps = if step.n_steps > 1 {
        let name = if step.name.is_empty() { String::new() } else { format!(" ({})", step.name) };
        format!("step {} of {}{name}, ", step.step_idx + 1, step.n_steps)
    } else {
        String::new()
    };
    let elapsed_s = last.map_or(0, |last| last.end_ms / 1000);
    let elapsed = format_duration(std::time::Duration::from_secs(elapsed_s));
    let ramp = if last.is_some_and(|last| last.ramp) { ", ramp: not counted" } else { "" };
    match (live.outcome(), last) {
        (Some(outcome), _) => format!("ran for {elapsed}, {}", line::outcome(outcome)),
        (None, None) => "preparing".to_owned(),
        (None, Some(_)) => format!("{of_steps}running for {elapsed}{ramp}"),
    }
}

/// Returns all but the charts.
pub(crate) fn state(live: &Live) -> Value {
    let figures = figures(live, &all_hosts(live));
    let figure = |(name, value): &(String, String)| json!({"name": name, "value": value});
    let of_jobs = live.jobs();
    let many = live.hosts().len() > 1;
    json!({
        "is_over": live.outcome().is_some(),
        "headline": headline(live),
        "figures": figures.iter().map(figure).collect::<Vec<_>>(),
        "jobs": jobs(of_jobs.iter().map(|(name, job)| (*name, job))).json(),
        "hosts": if many { hosts(live.hosts()).json() } else { Value::Null },
        "notes": live.notes().iter().map(|note| &note.message).collect::<Vec<_>>(),
    })
}

/// A table: texts by row.
#[derive(Debug)]
pub(crate) struct Grid {
    pub(crate) heads: &'static [&'static str],
    /// Columns from the first on that are no numbers.
    pub(crate) n_texts: usize,
    /// The last column is a text, too.
    pub(crate) ends_in_text: bool,
    /// Columns that a narrow terminal has.
    pub(crate) n_narrow: usize,
    pub(crate) rows: Vec<Vec<String>>,
}

impl Grid {
    fn json(&self) -> Value {
        let Grid { heads, n_texts, rows, .. } = self;
        let shown = &rows[..rows.len().min(ROWS_MAX)];
        json!({"heads": heads, "n_texts": n_texts, "rows": shown, "n_rows": rows.len()})
    }
}

/// Returns what stands at the top: rates of the last second by the intervals, which go on in a
/// ramp, and latencies of all that was done.
pub(crate) fn figures(live: &Live, all: &Counts) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    let mut put = |name: &str, value: String| found.push((name.to_owned(), value));
    if let Some(last) = live.last() {
        let seconds = (last.length_ms as f64 / 1000.0).max(1e-3);
        for (name, dir) in last.dirs.iter().filter(|(_, dir)| dir.n_ios > 0) {
            put(&format!("{name} IOPS"), format_iops(dir.n_ios as f64 / seconds));
            put(&format!("{name} MiB/s"), format_mib_s(dir.io_bytes as f64 / seconds));
        }
    }
    let waited = all.waited();
    for (name, quantile) in [("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999), ("max", 1.0)] {
        if let Some(ns) = waited.quantile(quantile) {
            put(name, format_latency_ns(ns));
        }
    }
    let jobs = || live.hosts().iter().flat_map(|host| host.jobs.values());
    if jobs().any(|job| job.n_in_flight.is_some()) {
        let n: u64 = jobs().filter_map(|job| job.n_in_flight).sum();
        put("in flight", n.to_string());
    }
    if let Some(delay_ns) = all.start_delay_ns_mean() {
        put("late by", format_latency_ns(delay_ns as u64));
    }
    let n_errors: u64 = live.hosts().iter().map(|it| it.errors().values().sum::<u64>()).sum();
    if n_errors > 0 {
        put("errors", n_errors.to_string());
    }
    if let [HostNow { load: Some(load), .. }] = live.hosts() {
        put("CPU busy", format_percent(load.busy_share));
        put("by this", format_percent(load.own_share));
    }
    found
}

/// Returns what all hosts did together in the last second.
pub(crate) fn all_hosts(live: &Live) -> Counts {
    let mut all = Counts::default();
    live.hosts().iter().for_each(|host| all.add(&host.last()));
    all
}

const JOB_HEADS: [&str; 11] = [
    "job",
    "",
    "IOPS",
    "MiB/s",
    "p50",
    "p99",
    "max",
    "so far IOPS",
    "so far p50",
    "so far p99",
    "so far max",
];

/// Returns the jobs of all hosts together: the last second, and the step so far.
pub(crate) fn jobs<'a>(jobs: impl Iterator<Item = (&'a str, &'a JobNow)>) -> Grid {
    let mut rows = Vec::new();
    for (name, job) in jobs {
        for (op, now) in &job.ops {
            let mut row = vec![name.to_owned(), op_words(op)];
            row.extend(rates(&now.last));
            row.extend(latencies(&now.last));
            row.push(rates(&now.so_far)[0].clone());
            row.extend(latencies(&now.so_far));
            rows.push(row);
        }
    }
    Grid { heads: &JOB_HEADS, n_texts: 2, ends_in_text: false, n_narrow: 7, rows }
}

/// Returns the jobs of a record, as far as they are results of operations.
pub(crate) fn of_record(record: &Record) -> Value {
    let mut all: BTreeMap<(u32, &str, OpName), Counts> = BTreeMap::new();
    for job in &record.jobs {
        for (op, counts) in Counts::of_job(job) {
            all.entry((job.step_idx, &job.name, op)).or_default().add(&counts);
        }
    }
    let row = |((_, job, op), counts): (&(u32, &str, OpName), &Counts)| {
        let mut row = vec![(*job).to_owned(), op_words(op), counts.n_ios.to_string()];
        row.extend(rates(counts));
        row.extend(latencies(counts));
        row
    };
    let heads = &["job", "", "operations", "IOPS", "MiB/s", "p50", "p99", "max"];
    let rows = all.iter().map(row).collect();
    Grid { heads, n_texts: 2, ends_in_text: false, n_narrow: 8, rows }.json()
}

fn op_words(op: &OpName) -> String {
    if op.part.is_empty() { op.op.clone() } else { format!("{} {}", op.part, op.op) }
}

fn rates(counts: &Counts) -> [String; 2] {
    let figures = counts.figures();
    let shown = |figure| figures.shown(figure).unwrap_or_default();
    [shown(Figure::Iops), shown(Figure::BytesPerS)]
}

fn latencies(counts: &Counts) -> [String; 3] {
    let waited = counts.waited();
    [0.5, 0.99, 1.0].map(|q| waited.quantile(q).map(format_latency_ns).unwrap_or_default())
}

const HOST_HEADS: [&str; 9] =
    ["host", "IOPS", "MiB/s", "p50", "p99", "max", "CPU", "errors", "state"];

/// Returns the hosts, the one farthest from the others first.
pub(crate) fn hosts(hosts: &[HostNow]) -> Grid {
    let mut all: Vec<(&HostNow, Counts)> = hosts.iter().map(|host| (host, host.last())).collect();
    sort_by_imbalance(&mut all);
    let row = |(host, last): &(&HostNow, Counts)| {
        let mut row = vec![host.name.clone()];
        row.extend(rates(last));
        row.extend(latencies(last));
        row.push(host.load.map_or(String::new(), |it| format_percent(it.busy_share)));
        row.push(host.errors().values().sum::<u64>().to_string());
        row.push(host.lost.clone().map_or(String::new(), |why| format!("lost: {why}")));
        row
    };
    let rows = all.iter().map(row).collect();
    Grid { heads: &HOST_HEADS, n_texts: 1, ends_in_text: true, n_narrow: 9, rows }
}

/// Orders hosts: lost ones first, then by how far their rate is from the median, as a ratio.
fn sort_by_imbalance(hosts: &mut [(&HostNow, Counts)]) {
    let mut rates: Vec<u64> = hosts.iter().map(|(_, last)| last.n_ios).collect();
    rates.sort_unstable();
    let median = rates.get(rates.len() / 2).copied().unwrap_or(0).max(1) as f64;
    let distance = |last: &Counts| (last.n_ios.max(1) as f64 / median).ln().abs();
    hosts.sort_by(|(a, of_a), (b, of_b)| {
        let lost = b.lost.is_some().cmp(&a.lost.is_some());
        lost.then(distance(of_b).total_cmp(&distance(of_a))).then(a.name.cmp(&b.name))
    });
}
