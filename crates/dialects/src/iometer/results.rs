//! Results as Iometer writes them. Programs that read them go by the number of a column, so lines,
//! columns and their order are those of the tool.

use std::fmt::Write as _;

use hist::Histogram;
use record::{DirRecord, JobRecord, Record};

use super::config::{
    AccessLine, AccessSpec, Assigned, Config, Manager, Rows, SPEC_HEAD, TestType, Worker, number_of,
};
use super::sequence::{JobOfRun, measured};

/// Whose columns are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ResultLayout {
    /// Those of 1.1.0: MiB and MB a second, and counts of 21 classes of latency.
    #[default]
    V110,
    /// Those of 2008.06.18: one unit, MiB a second under the name of MBps, and no classes.
    V2008,
}

impl ResultLayout {
    /// All of them with the versions that they are named after.
    pub const WORDS: [(&'static str, ResultLayout); 2] =
        [("1.1.0", ResultLayout::V110), ("2008.06.18", ResultLayout::V2008)];

    fn version(self) -> &'static str {
        let found = Self::WORDS.iter().find(|(_, it)| *it == self);
        found.map_or("", |(version, _)| version)
    }
}

/// Columns before the rates of bytes.
const COLUMNS_HEAD: &str = "'Target Type,Target Name,Access Specification Name,# Managers,\
    # Workers,# Disks,IOps,Read IOps,Write IOps,";

/// Columns behind them.
const COLUMNS_TAIL: &str = "Transactions per Second,Connections per Second,\
    Average Response Time,Average Read Response Time,Average Write Response Time,\
    Average Transaction Time,Average Connection Time,Maximum Response Time,\
    Maximum Read Response Time,Maximum Write Response Time,Maximum Transaction Time,\
    Maximum Connection Time,Errors,Read Errors,Write Errors,Bytes Read,Bytes Written,Read I/Os,\
    Write I/Os,Connections,Transactions per Connection,Total Raw Read Response Time,\
    Total Raw Write Response Time,Total Raw Transaction Time,Total Raw Connection Time,\
    Maximum Raw Read Response Time,Maximum Raw Write Response Time,Maximum Raw Transaction Time,\
    Maximum Raw Connection Time,Total Raw Run Time,Starting Sector,Maximum Size,Queue Depth,\
    % CPU Utilization,% User Time,% Privileged Time,% DPC Time,% Interrupt Time,Processor Speed,\
    Interrupts per Second,CPU Effectiveness,Packets/Second,Packet Errors,\
    Segments Retransmitted/Second";

/// Classes of latency: the columns' names, and the bound that a class stays below, microseconds.
const CLASSES: [(&str, u64); 20] = [
    ("0 to 50 uS", 50),
    ("50 to 100 uS", 100),
    ("100 to 200 uS", 200),
    ("200 to 500 uS", 500),
    ("0.5 to 1 mS", 1_000),
    ("1 to 2 mS", 2_000),
    ("2 to 5 mS", 5_000),
    ("5 to 10 mS", 10_000),
    ("10 to 15 mS", 15_000),
    ("15 to 20 mS", 20_000),
    ("20 to 30 mS", 30_000),
    ("30 to 50 mS", 50_000),
    ("50 to 100 mS", 100_000),
    ("100 to 200 mS", 200_000),
    ("200 to 500 mS", 500_000),
    ("0.5 to 1 S", 1_000_000),
    ("1 to 2 s", 2_000_000),
    ("2 to 4.7 s", 4_700_000),
    ("4.7 to 5 s", 5_000_000),
    ("5 to 10 s", 10_000_000),
];

/// The last class, of what is above the bounds of all others.
const CLASS_ABOVE: &str = " >= 10 s";

/// What stands for a setting that is not the same of all, and for connections that are not counted.
const AMBIGUOUS: &str = "-1";

/// Ticks of the clock that raw times count: they are nanoseconds.
const TICKS_PER_S: f64 = 1e9;

/// Returns the results of a run of a configuration, or of those of its access specifications that
/// are `wanted`; empty is all. `stamp` prints a moment, milliseconds since 1970, as a local
/// `2026-11-27 02:49:00:123`. Runs of which nothing was measured are left out.
pub fn results(
    config: &Config,
    wanted: &[String],
    record: &Record,
    layout: ResultLayout,
    stamp: &dyn Fn(u64) -> String,
) -> String {
    let mut text = String::new();
    let number = number_of(&TestType::WORDS, &config.test.test_type);
    // A comma would be another column.
    let description = config.test.description.replace(',', "-");
    let _ = writeln!(text, "'Test Type,Test Description\n{number},{description}");
    let _ = writeln!(text, "'Version\n{}", layout.version());
    let _ = writeln!(text, "'Time Stamp\n{}", stamp(record.started_unix_ms));
    for (step_idx, run) in measured(config, wanted).enumerate() {
        let of_step = record.jobs.iter().filter(|job| job.step_idx as usize == step_idx);
        let jobs: Vec<Measured<'_>> = run
            .jobs
            .iter()
            .zip(of_step)
            .map(|(site, job)| Measured { config, site, queue_depth: run.queue_depth, job })
            .collect();
        if jobs.iter().all(|it| it.job.runtime_ns == 0) {
            continue;
        }
        specs(config, &jobs, &mut text);
        rows(config.test.rows, record, &jobs, layout, &mut text);
        let ends = jobs.iter().map(|it| it.job.started_unix_ms + it.job.runtime_ns / 1_000_000);
        let _ = writeln!(text, "'Time Stamp\n{}", stamp(ends.max().unwrap_or(0)));
    }
    text.push_str("'End Test\n");
    text
}

/// A job with where it stands in the configuration.
#[derive(Clone, Copy)]
struct Measured<'a> {
    config: &'a Config,
    site: &'a JobOfRun,
    queue_depth: Option<u32>,
    job: &'a JobRecord,
}

impl<'a> Measured<'a> {
    fn manager(&self) -> &'a Manager {
        &self.config.managers[self.site.manager_idx]
    }

    fn worker(&self) -> &'a Worker {
        &self.manager().workers[self.site.worker_idx]
    }

    fn settings(&self) -> [String; 3] {
        let worker = self.worker();
        let depth = self.queue_depth.unwrap_or(worker.queue_depth);
        [worker.start_sector.to_string(), worker.size_sectors.to_string(), depth.to_string()]
    }
}

/// Writes the access specifications of a run.
fn specs(config: &Config, jobs: &[Measured<'_>], text: &mut String) {
    text.push_str("'Access specifications\n");
    let mut names: Vec<&str> = Vec::new();
    for name in jobs.iter().map(|it| &*it.site.spec) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    for spec in names.iter().filter_map(|name| config.spec(name)) {
        let AccessSpec { name, assigned, lines } = spec.as_ref();
        let assigned = number_of(&Assigned::WORDS, assigned);
        let _ = writeln!(text, "{SPEC_HEAD}{name},{assigned}");
        text.push_str(AccessLine::HEAD);
        for line in lines {
            let _ = writeln!(text, "{},", line.columns());
        }
    }
    text.push_str("'End access specifications\n");
}

/// Writes the columns' names, and the rows of a run.
fn rows(
    wanted: Rows,
    record: &Record,
    jobs: &[Measured<'_>],
    layout: ResultLayout,
    text: &mut String,
) {
    text.push_str("'Results\n");
    text.push_str(COLUMNS_HEAD);
    text.push_str(match layout {
        ResultLayout::V110 => {
            "MiBps (Binary),Read MiBps (Binary),Write MiBps (Binary),MBps (Decimal),\
             Read MBps (Decimal),Write MBps (Decimal),"
        }
        ResultLayout::V2008 => "MBps,Read MBps,Write MBps,",
    });
    text.push_str(COLUMNS_TAIL);
    if layout == ResultLayout::V110 {
        for (name, _) in CLASSES {
            let _ = write!(text, ",{name}");
        }
        let _ = write!(text, ",{CLASS_ABOVE}");
    }
    text.push('\n');
    let n_cpus = record.host.n_cpus.max(1);
    let managers = grouped(jobs, |it| it.site.manager_idx);
    let all_workers: usize = managers.iter().map(|own| n_workers(own)).sum();
    let counts = [managers.len().to_string(), all_workers.to_string(), jobs.len().to_string()];
    let all = Row { kind: RowKind::All, name: "All", counts, jobs, n_cpus };
    all.write(layout, text);
    if wanted >= Rows::OfManagers {
        for own in &managers {
            rows_of_manager(wanted, own, n_cpus, layout, text);
        }
    }
}

fn n_workers(jobs: &[Measured<'_>]) -> usize {
    grouped(jobs, |it| it.site.worker_idx).len()
}

/// Writes the rows of a manager: its own, those of its processors, and of its workers, each with
/// its targets.
fn rows_of_manager(
    wanted: Rows,
    own: &[Measured<'_>],
    n_cpus: u32,
    layout: ResultLayout,
    text: &mut String,
) {
    let counts = [String::new(), n_workers(own).to_string(), own.len().to_string()];
    let name = &*own[0].manager().name;
    Row { kind: RowKind::Manager, name, counts, jobs: own, n_cpus }.write(layout, text);
    for cpu in 0..n_cpus {
        let name = &format!("CPU {cpu}");
        let counts = Default::default();
        Row { kind: RowKind::Processor, name, counts, jobs: &[], n_cpus }.write(layout, text);
    }
    if wanted < Rows::OfWorkers {
        return;
    }
    for own in grouped(own, |it| it.site.worker_idx) {
        let counts = [String::new(), String::new(), own.len().to_string()];
        let name = &*own[0].worker().name;
        Row { kind: RowKind::Worker, name, counts, jobs: &own, n_cpus }.write(layout, text);
        for job in own.iter().filter(|_| wanted >= Rows::OfTargets) {
            let name = &*job.worker().targets[job.site.target_idx].name;
            let (counts, jobs) = (Default::default(), std::slice::from_ref(job));
            Row { kind: RowKind::Disk, name, counts, jobs, n_cpus }.write(layout, text);
        }
    }
}

/// Splits jobs where a number of theirs changes.
fn grouped<'a>(
    jobs: &[Measured<'a>],
    of: impl Fn(&Measured<'a>) -> usize,
) -> Vec<Vec<Measured<'a>>> {
    jobs.chunk_by(|a, b| of(a) == of(b)).map(<[_]>::to_vec).collect()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum RowKind {
    All,
    Manager,
    Processor,
    Worker,
    Disk,
}

impl RowKind {
    fn word(self) -> &'static str {
        match self {
            RowKind::All => "ALL",
            RowKind::Manager => "MANAGER",
            RowKind::Processor => "PROCESSOR",
            RowKind::Worker => "WORKER",
            RowKind::Disk => "DISK",
        }
    }

    /// Returns whether its access specification is written.
    fn has_spec(self) -> bool {
        match self {
            RowKind::All | RowKind::Manager | RowKind::Worker => true,
            RowKind::Processor | RowKind::Disk => false,
        }
    }

    /// Returns whether its sums are written, in ticks.
    fn has_raw(self) -> bool {
        match self {
            RowKind::Manager | RowKind::Worker | RowKind::Disk => true,
            RowKind::All | RowKind::Processor => false,
        }
    }

    /// Returns whether sectors and queue depth are written.
    fn has_settings(self) -> bool {
        match self {
            RowKind::All | RowKind::Manager | RowKind::Worker => true,
            RowKind::Processor | RowKind::Disk => false,
        }
    }

    /// Returns whether processor time is written.
    fn has_cpu(self) -> bool {
        match self {
            RowKind::All | RowKind::Manager => true,
            RowKind::Processor | RowKind::Worker | RowKind::Disk => false,
        }
    }
}

/// A row of the results.
struct Row<'a> {
    kind: RowKind,
    name: &'a str,
    /// Managers, workers and disks, where they are written.
    counts: [String; 3],
    jobs: &'a [Measured<'a>],
    n_cpus: u32,
}

/// What one direction, or both, came to.
#[derive(Default)]
struct Sum {
    iops: f64,
    bytes_per_s: f64,
    n_ios: u64,
    n_bytes: u64,
    n_errors: u64,
    latency: Histogram,
}

impl Sum {
    fn add(&mut self, dir: &DirRecord, seconds: f64) {
        if seconds > 0.0 {
            self.iops += dir.n_ios as f64 / seconds;
            self.bytes_per_s += dir.io_bytes as f64 / seconds;
        }
        self.n_ios += dir.n_ios;
        self.n_bytes += dir.io_bytes;
        self.n_errors += dir.errors.values().sum::<u64>();
        // What one call submits and ends has its time in the total latency alone.
        self.latency.merge(if dir.clat.is_empty() { &dir.lat } else { &dir.clat });
    }

    fn mean_ms(&self) -> f64 {
        self.latency.mean_ns().unwrap_or(0.0) / 1e6
    }

    fn max_ms(&self) -> f64 {
        self.latency.max_ns().unwrap_or(0) as f64 / 1e6
    }
}

/// Returns the cells behind the counts of a row of which nothing is known.
fn blank(layout: ResultLayout) -> Vec<String> {
    let (n_rates, n_classes) = match layout {
        ResultLayout::V110 => (6, CLASSES.len() + 1),
        ResultLayout::V2008 => (3, 0),
    };
    vec![String::new(); 3 + n_rates + COLUMNS_TAIL.split(',').count() + n_classes]
}

impl Row<'_> {
    fn write(&self, layout: ResultLayout, text: &mut String) {
        let cells =
            if self.kind == RowKind::Processor { blank(layout) } else { self.cells(layout) };
        let spec = if self.kind.has_spec() { self.common(|it| it.site.spec.clone()) } else { None };
        let _ = write!(text, "{},{},{}", self.kind.word(), self.name, spec.unwrap_or_default());
        for cell in self.counts.iter().chain(&cells) {
            let _ = write!(text, ",{cell}");
        }
        text.push('\n');
    }

    /// Returns what all jobs have in common.
    fn common(&self, of: impl Fn(&Measured<'_>) -> String) -> Option<String> {
        let mut all = self.jobs.iter().map(of);
        let first = all.next()?;
        all.all(|it| it == first).then_some(first)
    }

    /// Returns the cells behind the counts.
    fn cells(&self, layout: ResultLayout) -> Vec<String> {
        let (mut read, mut write, mut both) = (Sum::default(), Sum::default(), Sum::default());
        let mut seconds_max = 0.0_f64;
        for job in self.jobs.iter().map(|it| it.job) {
            let seconds = job.runtime_ns as f64 / 1e9;
            seconds_max = seconds_max.max(seconds);
            read.add(&job.dirs.read, seconds);
            write.add(&job.dirs.write, seconds);
            both.add(&job.dirs.read, seconds);
            both.add(&job.dirs.write, seconds);
        }
        let of_each = |of: fn(&Sum) -> f64| [of(&both), of(&read), of(&write)];
        let decimals = |cells: &mut Vec<String>, values: &[f64]| {
            cells.extend(values.iter().map(|value| format!("{value:.6}")));
        };
        let mut cells = Vec::new();
        decimals(&mut cells, &of_each(|it| it.iops));
        decimals(&mut cells, &of_each(|it| it.bytes_per_s / 1_048_576.0));
        if layout == ResultLayout::V110 {
            decimals(&mut cells, &of_each(|it| it.bytes_per_s / 1e6));
        }
        // Each I/O is a transaction, and no connection is made.
        decimals(&mut cells, &[both.iops, 0.0]);
        decimals(&mut cells, &of_each(Sum::mean_ms));
        decimals(&mut cells, &[both.mean_ms(), 0.0]);
        decimals(&mut cells, &of_each(Sum::max_ms));
        decimals(&mut cells, &[both.max_ms(), 0.0]);
        cells.extend([both.n_errors, read.n_errors, write.n_errors].map(|n| n.to_string()));
        let counts = [read.n_bytes, write.n_bytes, read.n_ios, write.n_ios, 0];
        cells.extend(counts.map(|n| n.to_string()));
        cells.push(AMBIGUOUS.to_owned());
        cells.extend(self.raw([&read, &write, &both], seconds_max));
        let setting = |idx: usize| self.common(|it| it.settings()[idx].clone());
        let settings = (0..3).map(|idx| {
            if self.kind.has_settings() {
                setting(idx).unwrap_or_else(|| AMBIGUOUS.to_owned())
            } else {
                String::new()
            }
        });
        cells.extend(settings);
        cells.extend(self.cpu(both.iops, seconds_max));
        if layout == ResultLayout::V110 {
            let below = |idx: usize| both.latency.count_below(CLASSES[idx].1 * 1_000);
            let of_class = |idx: usize| below(idx) - if idx > 0 { below(idx - 1) } else { 0 };
            cells.extend((0..CLASSES.len()).map(|idx| of_class(idx).to_string()));
            cells.push((both.latency.count() - below(CLASSES.len() - 1)).to_string());
        }
        cells
    }

    /// Returns sums and maxima of response times, and the time of the run, in ticks.
    fn raw(&self, [read, write, both]: [&Sum; 3], seconds: f64) -> Vec<String> {
        if !self.kind.has_raw() {
            return vec![String::new(); 9];
        }
        let sums = [read, write, both].map(|it| it.latency.sum_ns().to_string());
        let maxima = [read, write, both].map(|it| it.latency.max_ns().unwrap_or(0).to_string());
        let none = || ["0".to_owned()];
        let run_time = [format!("{:.0}", seconds * TICKS_PER_S)];
        sums.into_iter().chain(none()).chain(maxima).chain(none()).chain(run_time).collect()
    }

    /// Returns processor time, which is that of the workers as a share of all processors; the speed
    /// of the clock that raw times count; and what is known of the network: nothing.
    fn cpu(&self, iops: f64, seconds: f64) -> Vec<String> {
        let speed = || format!("{TICKS_PER_S:.6}");
        if !self.kind.has_cpu() {
            let mut cells = vec![String::new(); 11];
            cells[5] = speed();
            return cells;
        }
        let all_ns = f64::from(self.n_cpus) * seconds * 1e9;
        let pct = |of: fn(&JobRecord) -> u64| {
            let ns: u64 = self.jobs.iter().map(|it| of(it.job)).sum();
            if all_ns > 0.0 { 100.0 * ns as f64 / all_ns } else { 0.0 }
        };
        let (user, system) = (pct(|job| job.cpu_user_ns), pct(|job| job.cpu_system_ns));
        let effect = if user + system > 0.0 { iops / (user + system) } else { 0.0 };
        let shares = [user + system, user, system, 0.0, 0.0].map(|it| format!("{it:.6}"));
        let speed = if self.kind == RowKind::All { String::new() } else { speed() };
        let rest = [0.0, effect, 0.0, 0.0, 0.0].map(|it| format!("{it:.6}"));
        shares.into_iter().chain([speed]).chain(rest).collect()
    }
}
