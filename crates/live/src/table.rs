//! The state of a run as the page's tables have it: texts, in the order in which they stand.

use std::collections::BTreeMap;

use record::{Figure, Figures, Record};
use serde_json::{Value, json};
use units::{format_duration, format_latency_ns, format_percent};

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

/// The head of a column, and how the column is shown.
#[derive(Debug)]
pub(crate) struct Head {
    pub(crate) text: String,
    /// It stands over words; the others stand over numbers.
    pub(crate) is_of_words: bool,
    /// Only a wide terminal has the column. Such columns stand last.
    pub(crate) is_wide: bool,
}

/// A column of a table with rows `R`: its head, and what stands below it.
struct Column<R> {
    head: Head,
    cell: Box<dyn Fn(&R) -> String>,
}

impl<R> Column<R> {
    fn words(text: &str, cell: impl Fn(&R) -> String + 'static) -> Self {
        let head = Head { text: text.to_owned(), is_of_words: true, is_wide: false };
        Column { head, cell: Box::new(cell) }
    }

    fn number(text: &str, cell: impl Fn(&R) -> String + 'static) -> Self {
        let head = Head { text: text.to_owned(), is_of_words: false, is_wide: false };
        Column { head, cell: Box::new(cell) }
    }

    /// A column for each figure; empty where a row does not have it.
    fn figures(
        figures: &'static [Figure],
        of: impl Fn(&R) -> &Figures + Copy + 'static,
    ) -> impl Iterator<Item = Self> {
        let cell = move |row: &R, figure| of(row).shown(figure).unwrap_or_default();
        figures
            .iter()
            .map(move |figure| Column::number(figure.head(), move |row| cell(row, *figure)))
    }

    fn so_far(mut self) -> Self {
        self.head = Head { text: format!("so far {}", self.head.text), is_wide: true, ..self.head };
        self
    }
}

/// A table: texts by row.
#[derive(Debug)]
pub(crate) struct Grid {
    pub(crate) heads: Vec<Head>,
    pub(crate) rows: Vec<Vec<String>>,
}

impl Grid {
    fn new<R>(columns: Vec<Column<R>>, rows: impl Iterator<Item = R>) -> Self {
        let row = |row: R| columns.iter().map(|column| (column.cell)(&row)).collect();
        let rows = rows.map(row).collect();
        Grid { heads: columns.into_iter().map(|column| column.head).collect(), rows }
    }

    fn json(&self) -> Value {
        let Grid { heads, rows } = self;
        let n_texts = heads.iter().take_while(|head| head.is_of_words).count();
        let heads: Vec<&str> = heads.iter().map(|head| head.text.as_str()).collect();
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
            for (figure, n) in [(Figure::Iops, dir.n_ios), (Figure::BytesPerS, dir.io_bytes)] {
                put(&format!("{name} {}", figure.head()), figure.shown(n as f64 / seconds));
            }
        }
    }
    let waited = all.waited_figures();
    for figure in Figure::OF_LIVE.iter().filter(|it| !it.is_rate()) {
        if let Some(latency) = waited.shown(*figure) {
            put(figure.head(), latency);
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

/// A row of jobs.
struct JobRow {
    job: String,
    op: String,
    last: Figures,
    so_far: Figures,
}

/// Returns the jobs of all hosts together: the last second, and the step so far.
pub(crate) fn jobs<'a>(jobs: impl Iterator<Item = (&'a str, &'a JobNow)>) -> Grid {
    let rows = jobs.flat_map(|(name, job)| {
        job.ops.iter().map(|(op, now)| JobRow {
            job: name.to_owned(),
            op: op_words(op),
            last: now.last.waited_figures(),
            so_far: now.so_far.waited_figures(),
        })
    });
    let mut columns = vec![
        Column::words("job", |row: &JobRow| row.job.clone()),
        Column::words("", |row: &JobRow| row.op.clone()),
    ];
    columns.extend(Column::figures(Figure::OF_LIVE_SECOND, |row: &JobRow| &row.last));
    columns.extend(
        Column::figures(Figure::OF_LIVE_STEP, |row: &JobRow| &row.so_far).map(Column::so_far),
    );
    Grid::new(columns, rows)
}

/// A row of the jobs of a record.
struct ResultRow {
    job: String,
    op: String,
    n_ios: u64,
    figures: Figures,
}

/// Returns the jobs of a record, as far as they are results of operations.
pub(crate) fn of_record(record: &Record) -> Value {
    let mut all: BTreeMap<(u32, &str, OpName), Counts> = BTreeMap::new();
    for job in &record.jobs {
        for (op, counts) in Counts::of_job(job) {
            all.entry((job.step_idx, &job.name, op)).or_default().add(&counts);
        }
    }
    let rows = all.iter().map(|((_, job, op), counts)| ResultRow {
        job: (*job).to_owned(),
        op: op_words(op),
        n_ios: counts.n_ios,
        figures: counts.waited_figures(),
    });
    let mut columns = vec![
        Column::words("job", |row: &ResultRow| row.job.clone()),
        Column::words("", |row: &ResultRow| row.op.clone()),
        Column::number("operations", |row: &ResultRow| row.n_ios.to_string()),
    ];
    columns.extend(Column::figures(Figure::OF_LIVE_SECOND, |row: &ResultRow| &row.figures));
    Grid::new(columns, rows).json()
}

fn op_words(op: &OpName) -> String {
    if op.part.is_empty() { op.op.clone() } else { format!("{} {}", op.part, op.op) }
}

/// A row of hosts.
struct HostRow {
    name: String,
    last: Figures,
    busy: String,
    n_errors: u64,
    state: String,
}

/// Returns the hosts, the one farthest from the others first.
pub(crate) fn hosts(hosts: &[HostNow]) -> Grid {
    let mut all: Vec<(&HostNow, Counts)> = hosts.iter().map(|host| (host, host.last())).collect();
    sort_by_imbalance(&mut all);
    let rows = all.iter().map(|(host, last)| HostRow {
        name: host.name.clone(),
        last: last.waited_figures(),
        busy: host.load.map_or(String::new(), |it| format_percent(it.busy_share)),
        n_errors: host.errors().values().sum(),
        state: host.lost.clone().map_or(String::new(), |why| format!("lost: {why}")),
    });
    let mut columns = vec![Column::words("host", |row: &HostRow| row.name.clone())];
    columns.extend(Column::figures(Figure::OF_LIVE_SECOND, |row: &HostRow| &row.last));
    columns.extend([
        Column::number("CPU", |row: &HostRow| row.busy.clone()),
        Column::number("errors", |row: &HostRow| row.n_errors.to_string()),
        Column::words("state", |row: &HostRow| row.state.clone()),
    ]);
    Grid::new(columns, rows)
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
