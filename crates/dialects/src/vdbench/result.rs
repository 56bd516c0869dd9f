//! Results of Vdbench, read back: the `flatfile.html` of an output directory.
//!
//! A row of averages (`avg_2-5`) becomes a job in a step of its own, rows of intervals become the
//! run over time; those that an average leaves out are its ramp. Vdbench's response time counts
//! from the submission: it is our service time. What the page does not say stays unknown:
//! percentiles, least latencies, the host. Targets and the plan come from the parameter file that
//! Vdbench copies beside it (`parmfile.html`).
//!
//! Columns are found by their names, as versions differ in their number and order. Facts come from
//! output of Vdbench 5.04.07. Tests: `tests/vdbench_result.rs`.

mod figures;
mod job;
mod parameters;
mod table;

use plan::Plan;
use record::{Interval, Note, NoteSeverity, Outcome, Record, StepRecord};

use self::figures::{FlatfileKind, Label, Line};
use self::parameters::Parameters;
use self::table::Table;

/// The page of an output directory that is read.
pub const FLATFILE: &str = "flatfile.html";

/// The page beside it that holds the parameter file.
pub const PARMFILE: &str = "parmfile.html";

/// A result of Vdbench.
#[derive(Clone, Debug, PartialEq)]
pub struct VdbenchResult {
    /// What it says.
    pub record: Record,
    /// What the parameter file asks for; `None` without one, or where it cannot be read.
    pub plan: Option<Plan>,
}

/// Why a text is no result that can be read. Lines count from 1.
#[derive(Debug, thiserror::Error)]
pub enum ResultError {
    /// No line names columns.
    #[error(
        "no line names the columns (`tod`, `Run`, `Interval` and so on): it is cut off, or no \
         flatfile.html of Vdbench"
    )]
    NoHeading,
    /// A column is missing without which there are no figures.
    #[error("line {line} names the columns, and `{column}` is not among them")]
    NoColumn {
        /// Line of the names.
        line: usize,
        /// The column.
        column: &'static str,
    },
    /// A line has not one value for each column.
    #[error(
        "line {line} has {n_found} values, and line {heading} names {n_named} columns: it is cut \
         off or was changed"
    )]
    Values {
        /// The line.
        line: usize,
        /// Values in it.
        n_found: usize,
        /// Line of the names.
        heading: usize,
        /// Columns.
        n_named: usize,
    },
    /// A value is none that can stand there.
    #[error("line {line}: `{column}` is `{found}`, expected {wanted}")]
    Value {
        /// The line.
        line: usize,
        /// The column.
        column: String,
        /// What stands there.
        found: String,
        /// What belongs there.
        wanted: &'static str,
    },
    /// Nothing was averaged.
    #[error(
        "no run has a row of averages (`avg_2-5`) over an interval: Vdbench was stopped before the \
         first run ended, or its runs have one interval only"
    )]
    NoAverage,
}

/// Returns whether a text looks like the flatfile of Vdbench.
pub fn is_result(text: &str) -> bool {
    text.starts_with("<title>Vdbench") || text.lines().any(table::is_heading)
}

/// Reads a flatfile. `parameters` is the page with the parameter file, where there is one.
pub fn read_result(flatfile: &str, parameters: Option<&str>) -> Result<VdbenchResult, ResultError> {
    let table = Table::new(flatfile)?;
    let kind = FlatfileKind::of(&table)?;
    let lines = table.rows().map(|cells| Line::new(kind, &cells));
    let lines = lines.collect::<Result<Vec<Line>, ResultError>>()?;
    let mut parameters = Parameters::new(parameters);
    let mut record = Record { plimsoll_version: TOOL.to_owned(), ..Record::default() };
    record.notes.push(note(
        NoteSeverity::Info,
        "imported",
        "Vdbench measured this; host and clock are not known".to_owned(),
    ));
    let mut clock = Clock::default();
    for run in runs(&lines) {
        add(&mut record, run, &mut parameters, &mut clock);
    }
    if record.jobs.is_empty() {
        return Err(ResultError::NoAverage);
    }
    record.started_unix_ms = clock.started_unix_ms;
    for job in &mut record.jobs {
        job.started_unix_ms += clock.started_unix_ms;
    }
    record.elapsed_ns = clock.now_ms.saturating_mul(NS_PER_MS);
    last_notes(&mut record, &lines, &parameters);
    Ok(VdbenchResult { record, plan: parameters.plan })
}

/// What wrote the result. The page does not say its version.
pub const TOOL: &str = "Vdbench";

const NS_PER_MS: u64 = 1_000_000;

const DAY_MS: u64 = 86_400_000;

/// Time since the first run began, from times of day.
#[derive(Default)]
#[expect(clippy::struct_field_names, reason = "a time has its unit in its name")]
struct Clock {
    started_unix_ms: u64,
    of_day_ms: Option<u64>,
    now_ms: u64,
}

impl Clock {
    /// Goes on to the end of a row's interval.
    fn advance(&mut self, line: &Line, interval_ms: u64) {
        match self.of_day_ms {
            None => {
                self.now_ms = interval_ms;
                let ended = line.unix_ms.unwrap_or(0);
                self.started_unix_ms = ended.saturating_sub(interval_ms);
            }
            Some(before_ms) => self.now_ms += (line.of_day_ms + DAY_MS - before_ms) % DAY_MS,
        }
        self.of_day_ms = Some(line.of_day_ms);
    }
}

/// Returns the lines of each run: intervals, and the average that ends them.
fn runs(lines: &[Line]) -> impl Iterator<Item = &[Line]> {
    lines.chunk_by(|line, next| match (line.label, next.label) {
        (Label::Average { .. }, _) => false,
        (Label::Interval(_), Label::Average { .. }) => line.run == next.run,
        (Label::Interval(idx), Label::Interval(next_idx)) => line.run == next.run && next_idx > idx,
    })
}

/// Adds a run to the record, or says why it is left out.
fn add(record: &mut Record, lines: &[Line], parameters: &mut Parameters, clock: &mut Clock) {
    let Some((last, intervals)) = lines.split_last() else { return };
    let settings = parameters.next_run(&last.run);
    let Label::Average { first, last: end } = last.label else {
        record.outcome = Outcome::Interrupted;
        let text = format!(
            "run `{}` has no row of averages, since Vdbench was stopped in it: it is left out",
            last.run
        );
        return record.notes.push(note(NoteSeverity::Warning, "left_out", text));
    };
    let interval_ms = interval_ms(intervals).or(settings.interval_ms).unwrap_or(1000);
    let started_ms = clock.now_ms;
    let step_idx = record.jobs.len() as u32;
    let mut of_run = Vec::with_capacity(intervals.len());
    for line in intervals {
        clock.advance(line, interval_ms);
        let Label::Interval(idx) = line.label else { continue };
        of_run.push(Interval {
            step_idx,
            end_ms: clock.now_ms,
            length_ms: interval_ms,
            ramp: !(first..=end).contains(&idx),
            n_hosts: None,
            dirs: job::interval(line, interval_ms),
            series: Vec::new(),
            cpu: line.cpu,
            host: None,
        });
    }
    let n_averaged = (u64::from(end) + 1).saturating_sub(u64::from(first));
    if n_averaged == 0 || intervals.is_empty() {
        let text = format!(
            "run `{}` has no interval that Vdbench averages (`{}`): it is left out",
            last.run, last.label_text
        );
        return record.notes.push(note(NoteSeverity::Info, "left_out", text));
    }
    let averaged_ms = n_averaged.saturating_mul(interval_ms);
    let first_ms = clock.now_ms.saturating_sub(averaged_ms);
    let mut job = job::job(last, settings, averaged_ms);
    (job.step_idx, job.group_id) = (step_idx, step_idx);
    job.started_unix_ms = first_ms;
    let name = last.run.clone();
    let ended_ms = clock.now_ms;
    record.steps.push(StepRecord { step_idx, name, started_ms, ended_ms, ..StepRecord::default() });
    record.jobs.push(job);
    record.intervals.extend(of_run);
}

/// Returns the length of intervals from the times of their ends; `None` of a single one. It is in
/// whole seconds, and the middle of the differences is not moved by a row that came late.
fn interval_ms(intervals: &[Line]) -> Option<u64> {
    let apart =
        intervals.windows(2).map(|two| (two[1].of_day_ms + DAY_MS - two[0].of_day_ms) % DAY_MS);
    let mut apart: Vec<u64> = apart.collect();
    apart.sort_unstable();
    let middle = apart.get(apart.len() / 2)?;
    Some(((middle + 500) / 1000).max(1) * 1000)
}

fn note(severity: NoteSeverity, code: &str, message: String) -> Note {
    Note { severity, code: code.to_owned(), message }
}

/// Adds what is to be known of the figures.
fn last_notes(record: &mut Record, lines: &[Line], parameters: &Parameters) {
    let mut put =
        |severity, code, message: String| record.notes.push(note(severity, code, message));
    put(
        NoteSeverity::Info,
        "no_histogram",
        "flatfile.html has no percentiles: means, largest values and standard deviations are known"
            .to_owned(),
    );
    let mixed = lines.iter().find(|line| line.has_sizes_mixed && line.label.is_average());
    if let Some(line) = mixed {
        let text = format!(
            "reads and writes of run `{}` are not of one size, and flatfile.html has their mean \
             only: it counts for both",
            line.run
        );
        put(NoteSeverity::Warning, "mixed_sizes", text);
    }
    if let Some(why) = &parameters.why_not {
        put(NoteSeverity::Info, "no_targets", format!("{why}: what was worked on is not known"));
    }
    let first = lines.first();
    if first.is_some_and(|line| line.unix_ms.is_none()) {
        let text = "the page has no column `timestamp`: the day of the run is not known";
        put(NoteSeverity::Info, "no_date", text.to_owned());
    }
    if let Some(zone) = first.and_then(|line| line.zone_unknown.as_ref()) {
        let text = format!("the time zone `{zone}` is not known: UTC is assumed");
        put(NoteSeverity::Info, "unknown_zone", text);
    }
}
