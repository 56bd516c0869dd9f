//! Records as rows of one table.

use record::{
    DIRECTIONS, DirRecord, Figure, Figures, Interval, IntervalLatency, JobRecord, Latency, Record,
};

use crate::columns::{COLUMNS, Column, Value};

/// A record with what it is called.
#[derive(Clone, Debug)]
pub struct Run {
    /// Its number in a store.
    pub id: Option<i64>,
    /// Its name, or that of its file.
    pub name: String,
    /// What came out.
    pub record: Record,
}

/// Rows with a value per column of [`COLUMNS`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// The rows.
    pub rows: Vec<Vec<Value>>,
}

impl Table {
    /// Checks that it is whole before it is written: other programs find columns by their place.
    ///
    /// # Panics
    /// If a row is not as wide as [`COLUMNS`], or a cell holds what its column cannot.
    pub(crate) fn must_be_whole(&self) {
        for (idx, row) in self.rows.iter().enumerate() {
            let (n_cells, n_columns) = (row.len(), COLUMNS.len());
            assert!(n_cells == n_columns, "row {idx} has {n_cells} cells of {n_columns}");
            for (cell, Column { name, kind, .. }) in row.iter().zip(COLUMNS.iter()) {
                assert!(
                    cell.fits(*kind),
                    "row {idx} has {cell:?} as `{name}`, of the kind {kind:?}"
                );
            }
        }
    }
}

/// Returns all rows of some runs, run by run: summaries, latencies, histograms, intervals.
///
/// # Panics
/// If a run has a number that no store gives.
pub fn table(runs: &[Run]) -> Table {
    let mut table = Table::default();
    for run in runs {
        assert!(
            run.id.is_none_or(|id| id > 0),
            "the run `{}` has the number {:?}",
            run.name,
            run.id
        );
        let record = &run.record;
        for job in &record.jobs {
            for (dir, result) in job.dirs.iter().filter(|(_, dir)| dir.n_ios > 0) {
                table.rows.push(summary(run, job, dir, result).cells);
            }
        }
        for job in &record.jobs {
            for (dir, result) in job.dirs.iter() {
                put_latencies(&mut table, run, job, dir, kinds(result));
            }
            put_latencies(&mut table, run, job, "sync", syncs(job));
        }
        for job in &record.jobs {
            for (dir, result) in job.dirs.iter() {
                put_histograms(&mut table, run, job, dir, kinds(result));
            }
            put_histograms(&mut table, run, job, "sync", syncs(job));
        }
        put_intervals(&mut table, run);
    }
    table
}

/// A row in the making.
struct Row {
    cells: Vec<Value>,
}

impl Row {
    fn new(run: &Run, part: &str, step_idx: u32) -> Self {
        let steps = &run.record.steps;
        let step = steps.iter().find(|step| step.step_idx == step_idx);
        let mut row = Row { cells: vec![Value::None; COLUMNS.len()] };
        row.whole("run_id", run.id.and_then(|id| u64::try_from(id).ok()));
        row.text("run", &run.name);
        row.whole("started_unix_ms", Some(run.record.started_unix_ms));
        row.text("part", part);
        row.whole("step_idx", Some(u64::from(step_idx)));
        row.text("step", step.map_or("", |step| step.name.as_str()));
        row
    }

    fn put(&mut self, column: &str, value: Value) {
        let place = COLUMNS.iter().position(|known| known.name == column);
        self.cells[place.expect("columns are named in this crate")] = value;
    }

    fn text(&mut self, column: &str, text: &str) {
        if !text.is_empty() {
            self.put(column, Value::Text(text.to_owned()));
        }
    }

    fn whole(&mut self, column: &str, value: Option<u64>) {
        self.put(column, value.map_or(Value::None, Value::Whole));
    }

    fn number(&mut self, column: &str, value: Option<f64>) {
        let value = value.filter(|value| value.is_finite());
        self.put(column, value.map_or(Value::None, Value::Number));
    }

    fn figures(&mut self, figures: &Figures) {
        for figure in Figure::ALL.iter().copied() {
            match figures.get(figure) {
                Some(value) if figure.is_whole() => self.whole(figure.field(), Some(value as u64)),
                value => self.number(figure.field(), value),
            }
        }
    }

    fn interval_latency(&mut self, kind: &str, latency: &IntervalLatency) {
        self.text("latency", kind);
        for figure in Figure::OF_INTERVAL {
            self.whole(figure.field(), latency.ns(*figure));
        }
    }
}

fn summary(run: &Run, job: &JobRecord, dir: &str, result: &DirRecord) -> Row {
    let mut row = Row::new(run, "summary", job.step_idx);
    row.text("job", &job.name);
    row.whole("n_workers", Some(u64::from(job.n_workers)));
    row.text("dir", dir);
    row.whole("n_ios", Some(result.n_ios));
    row.whole("io_bytes", Some(result.io_bytes));
    row.whole("n_errors", Some(result.errors.values().sum()));
    let (is_total, latency) = result.shown_latency();
    row.text("latency", if is_total { "total" } else { "service" });
    row.figures(&Figures::of(&latency).with_rates(result));
    row
}

/// Returns the kinds of latency that are known of a direction.
fn kinds(result: &DirRecord) -> impl Iterator<Item = (&'static str, Latency<'_>)> {
    let response = result.response.as_ref().map(Latency::Measured);
    let kinds = [
        ("total", Some(result.total_latency())),
        ("service", Some(result.service_latency())),
        ("submit", Some(result.submit_latency())),
        ("response", response),
    ];
    let known = kinds.into_iter().filter_map(|(kind, latency)| Some((kind, latency?)));
    known.filter(|(_, latency)| !latency.is_empty())
}

/// Returns the latency of fsync and its like, where there were such calls.
fn syncs(job: &JobRecord) -> impl Iterator<Item = (&'static str, Latency<'_>)> {
    Some(("total", job.sync_latency())).into_iter().filter(|(_, latency)| !latency.is_empty())
}

/// Puts a row per bucket that is not empty.
fn put_histograms<'a>(
    table: &mut Table,
    run: &Run,
    job: &JobRecord,
    dir: &str,
    kinds: impl Iterator<Item = (&'static str, Latency<'a>)>,
) {
    for (kind, latency) in kinds {
        let Latency::Measured(hist) = latency else { continue };
        for (low_ns, high_ns, count) in hist.iter_nonempty() {
            let mut row = Row::new(run, "histogram", job.step_idx);
            row.text("job", &job.name);
            row.text("dir", dir);
            row.text("latency", kind);
            row.whole("n_ios", Some(count));
            row.whole("latency_ns_min", Some(low_ns));
            row.whole("latency_ns_max", Some(high_ns));
            table.rows.push(row.cells);
        }
    }
}

fn put_latencies<'a>(
    table: &mut Table,
    run: &Run,
    job: &JobRecord,
    dir: &str,
    kinds: impl Iterator<Item = (&'static str, Latency<'a>)>,
) {
    for (kind, latency) in kinds {
        let mut row = Row::new(run, "latency", job.step_idx);
        row.text("job", &job.name);
        row.text("dir", dir);
        row.whole("n_ios", Some(latency.count()));
        row.text("latency", kind);
        row.figures(&Figures::of(&latency));
        table.rows.push(row.cells);
    }
}

fn put_intervals(table: &mut Table, run: &Run) {
    let intervals = &run.record.intervals;
    // A direction that is used has a row for each second, also for those without I/O.
    let is_used = DIRECTIONS.map(|name| {
        let is_in =
            |it: &Interval| it.dirs.iter().any(|(dir, counts)| dir == name && counts.n_ios > 0);
        intervals.iter().any(is_in)
    });
    let warm_ups = run.record.warm_up_ends_ms();
    let of_interval = |interval: &Interval, dir: &str, counts| {
        let mut row = of_interval(run, interval, dir, counts);
        if let Some(end_ms) = warm_ups.get(&interval.step_idx) {
            let start_ms = interval.end_ms.saturating_sub(interval.length_ms);
            row.put("is_warm_up", Value::Flag(!interval.ramp && start_ms < *end_ms));
        }
        row
    };
    for interval in intervals {
        for ((dir, counts), is_used) in interval.dirs.iter().zip(is_used) {
            if is_used {
                let mut row = of_interval(interval, dir, Some((counts.n_ios, counts.io_bytes)));
                row.interval_latency("total", &counts.latency);
                table.rows.push(row.cells);
                if let Some(response) = &counts.response {
                    // Its operations are those of the row above, and must not be counted twice.
                    let mut row = of_interval(interval, dir, None);
                    row.interval_latency("response", &response.latency);
                    table.rows.push(row.cells);
                }
            }
        }
        for series in &interval.series {
            let mut row = of_interval(interval, &series.op, Some((series.n_ios, series.io_bytes)));
            row.text("job", &series.job);
            row.text("latency", "total");
            if series.n_ios > 0 {
                let mean_ns = series.latency_ns_sum as f64 / series.n_ios as f64;
                row.number("latency_ns_mean", Some(mean_ns));
                row.whole("latency_ns_max", Some(series.latency_ns_max));
            }
            table.rows.push(row.cells);
        }
    }
}

/// Makes a row of an interval with its operations and bytes, if these stand in it.
fn of_interval(run: &Run, interval: &Interval, dir: &str, counts: Option<(u64, u64)>) -> Row {
    let mut row = Row::new(run, "interval", interval.step_idx);
    let length_ms = interval.length_ms;
    let rate = |count: u64| (length_ms > 0).then(|| count as f64 * 1000.0 / length_ms as f64);
    row.text("dir", dir);
    row.whole("start_ms", Some(interval.end_ms.saturating_sub(length_ms)));
    row.whole("end_ms", Some(interval.end_ms));
    row.put("is_ramp", Value::Flag(interval.ramp));
    if let Some((n_ios, io_bytes)) = counts {
        row.whole("n_ios", Some(n_ios));
        row.whole("io_bytes", Some(io_bytes));
        row.number("rate_iops", rate(n_ios));
        row.number("rate_bytes_per_s", rate(io_bytes));
    }
    row
}
