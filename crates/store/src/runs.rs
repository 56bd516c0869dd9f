//! Runs in a list, and one run in full.

use std::collections::{BTreeMap, BTreeSet};

use analysis::assess::Standing;
use record::{
    CurvePointRecord, CurveRecord, Figure, Figures, JobRecord, NeedRecord, Note, NoteSeverity,
    Outcome, Record, SuiteRecord,
};
use rusqlite::{Row, params};

use crate::series::unpack;
use crate::{Store, StoreError, owner};

/// What became of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It goes on now.
    Running,
    /// It did all that its plan says.
    Complete,
    /// It was stopped, or its program was killed; what was measured until then is there.
    Interrupted,
    /// A part of it failed.
    Failed,
    /// Hosts of it were lost on the way.
    Partial,
}

impl State {
    const ALL: [State; 5] = units::all_of!(State: Running, Complete, Interrupted, Failed, Partial);

    /// Returns the word for it.
    pub fn word(self) -> &'static str {
        match self {
            State::Running => "running",
            State::Complete => "complete",
            State::Interrupted => "interrupted",
            State::Failed => "failed",
            State::Partial => "partial",
        }
    }
}

/// Figures of a run as a whole: all jobs, all directions, after the ramp. Those of a run of several
/// steps are in [`Totals::steps`]: neither rates nor percentiles of steps have a mean.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Totals {
    /// Jobs.
    pub n_jobs: u32,
    /// What a run of one step came to. The latency is the response time where everything has a
    /// rate, else the total latency; of imported runs whose file has only that, the service time.
    /// None is known where the parts know different ones.
    #[serde(flatten)]
    pub figures: Figures,
    /// Steps that were measured.
    pub n_steps: u32,
    /// What each of several steps came to, the first [`STEPS_MAX`], or each need; empty of a run of
    /// one step, of a load curve and of a suite.
    pub steps: Vec<StepFigures>,
    /// Remarks that weigh on the figures.
    pub n_warnings: u32,
    /// The verdict on the run, a word of [`Standing`]; empty where an earlier version kept it.
    pub standing: String,
}

/// Steps of a run whose figures a list has. A list is there to find a run; its record has all.
pub const STEPS_MAX: usize = 64;

/// One of several steps, or a need.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct StepFigures {
    /// Its name, or its number from 1; of a need its words.
    pub name: String,
    /// Of a need, whether it is met: `met`, `not met` or `cannot tell`; else empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub verdict: String,
    /// What it came to.
    #[serde(flatten)]
    pub figures: Figures,
}

/// The file that an imported run was read from.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Source {
    /// Its path, as it was given.
    pub path: String,
    /// SHA-256 of its contents, hexadecimal.
    pub sha256: String,
    /// Program that wrote it, with its version, such as `fio-3.33`.
    pub tool: String,
}

/// One run in a list.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct RunRow {
    /// Its number in this store.
    pub id: i64,
    /// What the user calls it; may be empty.
    pub name: String,
    /// What it measured, in a line; empty where the command says it.
    pub about: String,
    /// What the user wrote about it.
    pub note: String,
    /// Words to find it by, sorted.
    pub tags: Vec<String>,
    /// Start, milliseconds since the Unix epoch.
    pub started_unix_ms: u64,
    /// Length with preparation, nanoseconds; of a run under way, until its last report.
    pub elapsed_ns: u64,
    /// What became of it.
    pub state: State,
    /// The command and its arguments, as typed.
    pub command: Vec<String>,
    /// Its figures.
    #[serde(flatten)]
    pub totals: Totals,
    /// Where it was read from; `None` for a run that was measured here.
    pub source: Option<Source>,
}

/// Which runs are listed. The newest come first.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Only those with all of these tags.
    pub tags: Vec<String>,
    /// Only those that have this in their name, in what they measured, or in their command.
    pub text: String,
    /// At most this many; 0 for all.
    pub n_max: u32,
}

/// Columns of a row, in the order that [`row`] reads.
const COLUMNS: &str = "id, name, note, started_unix_ms, elapsed_ns, state, owner, command, n_jobs,
    figures, n_warnings,
    (SELECT group_concat(tag, char(31) ORDER BY tag) FROM tags WHERE run_id = id),
    source_path, source_sha256, source_tool, n_steps, steps, standing, about";

impl Store {
    /// Lists runs, the newest first.
    pub fn runs(&self, filter: &Filter) -> Result<Vec<RunRow>, StoreError> {
        let tags = serde_json::to_string(&filter.tags).unwrap_or_default();
        let n_max = if filter.n_max == 0 { -1 } else { i64::from(filter.n_max) };
        let mut ask = self.db.prepare(&format!(
            "SELECT {COLUMNS} FROM runs
             WHERE NOT EXISTS (
                    SELECT 1 FROM json_each(?1) AS wanted WHERE NOT EXISTS (
                        SELECT 1 FROM tags WHERE run_id = runs.id AND tag = wanted.value))
                AND (instr(name, ?2) OR instr(about, ?2) OR instr(command, ?2))
             ORDER BY id DESC LIMIT ?3"
        ))?;
        let rows = ask.query_map(params![tags, filter.text, n_max], row)?;
        rows.map(|row| row.map_err(StoreError::from)).collect()
    }

    /// Returns one run, by its number.
    pub fn run(&self, id: i64) -> Result<Option<RunRow>, StoreError> {
        let mut ask = self.db.prepare(&format!("SELECT {COLUMNS} FROM runs WHERE id = ?1"))?;
        let mut rows = ask.query_map([id], row)?;
        rows.next().transpose().map_err(StoreError::from)
    }

    /// Lists the runs for which a condition on [`COLUMNS`] holds, the oldest first.
    pub(crate) fn runs_where(
        &self,
        condition: &str,
        params: impl rusqlite::Params,
    ) -> Result<Vec<RunRow>, StoreError> {
        let text = format!("SELECT {COLUMNS} FROM runs WHERE {condition} ORDER BY id");
        let mut ask = self.db.prepare(&text)?;
        let rows = ask.query_map(params, row)?;
        rows.map(|row| row.map_err(StoreError::from)).collect()
    }

    /// Returns the run that was read from a file with this hash.
    pub fn of_source(&self, sha256: &str) -> Result<Option<RunRow>, StoreError> {
        Ok(self.runs_where("source_sha256 = ?1", [sha256])?.pop())
    }

    /// Returns a run's record with all its intervals. Of a run that was cut off it is the last
    /// that was kept, as interrupted; `None` if it ended before there was one.
    pub fn record(&self, id: i64) -> Result<Option<Record>, StoreError> {
        let damaged = |what: String| StoreError::Damaged { id, what };
        let ask = "SELECT record FROM records WHERE run_id = ?1";
        let packed: Vec<u8> = self.db.query_row(ask, [id], |row| row.get(0))?;
        if packed.is_empty() {
            return Ok(None);
        }
        let json = unpack(&packed).map_err(damaged)?;
        let text = String::from_utf8(json).map_err(|error| damaged(error.to_string()))?;
        let mut record = Record::from_json(&text).map_err(|error| damaged(error.to_string()))?;
        record.intervals = self.intervals(id)?;
        let is_cut_off = self.run(id)?.is_some_and(|run| run.state == State::Interrupted);
        if is_cut_off && record.outcome == Outcome::Complete {
            record.outcome = Outcome::Interrupted;
        }
        Ok(Some(record))
    }

    /// Returns the plan that a run was made from, in the native language; empty where an imported
    /// file does not say it.
    pub fn plan(&self, id: i64) -> Result<String, StoreError> {
        let ask = "SELECT plan FROM records WHERE run_id = ?1";
        Ok(self.db.query_row(ask, [id], |row| row.get(0))?)
    }
}

fn row(row: &Row<'_>) -> rusqlite::Result<RunRow> {
    let word: String = row.get(5)?;
    let owner: String = row.get(6)?;
    let state = State::ALL.into_iter().find(|state| state.word() == word);
    let state = match state.unwrap_or(State::Interrupted) {
        State::Running if !owner::is_alive(&owner) => State::Interrupted,
        state => state,
    };
    let command: String = row.get(7)?;
    let figures: String = row.get(9)?;
    let tags: Option<String> = row.get(11)?;
    let steps: String = row.get(16)?;
    Ok(RunRow {
        id: row.get(0)?,
        name: row.get(1)?,
        about: row.get(18)?,
        note: row.get(2)?,
        tags: tags.map_or_else(Vec::new, |all| all.split('\x1f').map(str::to_owned).collect()),
        started_unix_ms: row.get::<_, i64>(3)?.cast_unsigned(),
        elapsed_ns: row.get::<_, i64>(4)?.cast_unsigned(),
        state,
        command: serde_json::from_str(&command).unwrap_or_default(),
        totals: Totals {
            n_jobs: row.get(8)?,
            // Empty where nothing is known.
            figures: serde_json::from_str(&figures).unwrap_or_default(),
            n_steps: row.get(15)?,
            // Empty where there is one.
            steps: serde_json::from_str(&steps).unwrap_or_default(),
            n_warnings: row.get(10)?,
            standing: row.get(17)?,
        },
        source: source(row)?,
    })
}

fn source(row: &Row<'_>) -> rusqlite::Result<Option<Source>> {
    let Some(sha256) = row.get(13)? else { return Ok(None) };
    let text = |idx| row.get::<_, Option<String>>(idx).map(Option::unwrap_or_default);
    Ok(Some(Source { path: text(12)?, sha256, tool: text(14)? }))
}

impl Totals {
    /// Adds a record's jobs up, step by step. Of a load curve it is the load line; of needs what
    /// each was measured to get; of another suite nothing, since its steps do different things.
    pub fn of(record: &Record) -> Totals {
        let totals = Totals::without_figures(record);
        if let Some(curve) = &record.curve {
            return Totals { figures: of_line(curve), ..totals };
        }
        if let Some(suite) = &record.suite {
            return Totals { steps: of_needs(suite), ..totals };
        }
        let mut steps: BTreeMap<u32, Vec<&JobRecord>> = BTreeMap::new();
        for job in &record.jobs {
            steps.entry(job.step_idx).or_default().push(job);
        }
        if steps.len() < 2 {
            let figures = steps.values().next().map(|jobs| Figures::of_step(jobs));
            return Totals { figures: figures.unwrap_or_default(), ..totals };
        }
        let named = |(step_idx, jobs): (&u32, &Vec<&JobRecord>)| StepFigures {
            name: step_name(record, *step_idx),
            verdict: String::new(),
            figures: Figures::of_step(jobs),
        };
        let steps = steps.iter().take(STEPS_MAX).map(named).collect();
        Totals { steps, ..totals }
    }

    fn without_figures(record: &Record) -> Totals {
        let weighs = |note: &&Note| note.severity != NoteSeverity::Info;
        Totals {
            n_jobs: record.jobs.len() as u32,
            n_steps: record.jobs.iter().map(|job| job.step_idx).collect::<BTreeSet<_>>().len()
                as u32,
            n_warnings: record.notes.iter().filter(weighs).count() as u32,
            standing: Standing::of(record).word().to_owned(),
            ..Totals::default()
        }
    }
}

/// Returns the needs of the user's own, each with its answer and the figures that decided it.
fn of_needs(suite: &SuiteRecord) -> Vec<StepFigures> {
    let own = suite.needs.iter().filter(|need| need.source.is_empty());
    let of_need = |need: &NeedRecord| StepFigures {
        name: need.need.clone(),
        verdict: need.verdict.words().to_owned(),
        figures: need.figures,
    };
    own.take(STEPS_MAX).map(of_need).collect()
}

fn step_name(record: &Record, step_idx: u32) -> String {
    let known = record.steps.iter().find(|step| step.step_idx == step_idx);
    let named = known.map(|step| step.name.clone()).filter(|name| !name.is_empty());
    named.unwrap_or_else(|| (u64::from(step_idx) + 1).to_string())
}

/// Returns the load line, with the latencies of its first point.
fn of_line(curve: &CurveRecord) -> Figures {
    let is_line = |point: &&CurvePointRecord| point.passed && Some(point.load) == curve.line.load;
    let point = curve.points.iter().find(is_line).map(|point| point.figures);
    let rates = [(Figure::Iops, curve.line_iops()), (Figure::BytesPerS, curve.line.bytes_per_s)];
    rates.into_iter().fold(point.unwrap_or_default(), |all, (figure, rate)| all.with(figure, rate))
}
