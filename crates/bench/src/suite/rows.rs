//! The record of a suite: a row per step, the median of its repeats, and what others published.

use analysis::stats::median_interval;
use analysis::{GateName, Point, series};
use hist::Histogram;
use record::{
    Figures, IntervalRecord, Latency, Record, StepPurpose, SuiteFigureRecord, SuiteRecord,
    SuiteRowRecord, SuiteSourceRecord, SuiteStepRecord, Verdict,
};

use super::change::{ChangeError, Changes};
use super::check::{Check, checks};
use super::need::{self, Need, Question};
use super::steps::Order;
use super::{Rounds, Source, Step, Suite, published, rounds};

/// Probability with which an interval holds the median.
const COVERAGE: f64 = 0.95;

/// A suite as it is run.
#[derive(Clone, Debug, PartialEq)]
pub struct Running {
    /// With all changes.
    pub suite: Suite,
    /// The changes.
    pub changes: Changes,
    /// Order of the steps.
    pub order: Order,
    /// Its steps in that order; of one round.
    pub steps: Vec<Step>,
    /// What each step of the record so far was for.
    pub taken: Vec<SuiteStepRecord>,
    /// What the watched step of each round came to.
    pub tracked_iops: Vec<f64>,
    /// What the steps must answer: needs, and targets of the suite.
    pub questions: Vec<Question>,
}

impl Running {
    /// Begins: nothing is measured yet.
    pub fn new(suite: Suite, changes: Changes, order: Order) -> Self {
        let steps = super::steps(&suite, &order);
        let questions = need::targets(&suite, &steps);
        let (taken, tracked_iops) = (Vec::new(), Vec::new());
        Running { suite, changes, order, steps, taken, tracked_iops, questions }
    }

    /// Begins to measure needs, in place of what a suite asks for.
    pub fn for_needs(needs: &[Need], changes: Changes, order: Order) -> Result<Self, ChangeError> {
        let suite = changes.apply(need::suite(needs))?;
        let running = Running::new(suite, changes, order);
        let questions = need::questions(needs, &running.steps);
        Ok(Running { questions, ..running })
    }

    /// Returns the label of a step that an answer wants measured once more.
    pub fn wanted(&self, record: &Record) -> Option<&str> {
        let wants = |it: &&Question| it.wants_more(record, &self.steps_of(&it.label));
        self.questions.iter().find(wants).map(|it| it.label.as_str())
    }

    /// Returns the steps of the record that measured a label.
    pub fn steps_of(&self, label: &str) -> Vec<u32> {
        let measures = |it: &&SuiteStepRecord| it.purpose == StepPurpose::Measure;
        let own = self.taken.iter().filter(|it| it.label == label).filter(measures);
        own.map(|step| step.step_idx).collect()
    }

    /// Returns whether a step of the record is a result to be judged: a measurement that counts, or
    /// a point of the curve, of which the one at its line is. What makes ready is none.
    pub fn is_result(&self, step_idx: u32) -> bool {
        let mut own = self.taken.iter().filter(|it| it.step_idx == step_idx);
        own.any(|it| match it.purpose {
            StepPurpose::Measure | StepPurpose::Curve => true,
            StepPurpose::Prepare | StepPurpose::Workers => false,
        })
    }

    /// Leaves measurements of a label out of its row: they were made with another number of workers
    /// than the one that is kept.
    pub fn set_aside(&mut self, label: &str, is_out: impl Fn(u32) -> bool) {
        let measures = |it: &&mut SuiteStepRecord| it.purpose == StepPurpose::Measure;
        let own = self.taken.iter_mut().filter(|it| it.label == label).filter(measures);
        for step in own.filter(|it| is_out(it.step_idx)) {
            step.purpose = StepPurpose::Workers;
        }
    }

    /// Notes what steps of the record were for, which are now its last.
    pub fn took(&mut self, step_idx: u32, label: &str, purpose: StepPurpose, repeat_idx: u32) {
        self.taken.push(SuiteStepRecord { step_idx, label: label.to_owned(), purpose, repeat_idx });
    }

    /// Takes what the watched step of a round came to, I/Os per second.
    pub fn end_round(&mut self, iops: f64) -> rounds::Verdict {
        let Some(rounds) = &self.suite.rounds else { return rounds::Verdict::GiveUp };
        self.tracked_iops.push(iops);
        rounds::judge(rounds, &self.tracked_iops)
    }

    /// Returns the suite's part of a record that holds the steps so far.
    pub fn recorded(&self, record: &Record) -> SuiteRecord {
        let rows = self.rows(record);
        let Suite { name, title, is_indicative, sources, .. } = &self.suite;
        SuiteRecord {
            name: name.clone(),
            title: title.clone(),
            indicative: *is_indicative,
            scale: self.changes.scale,
            changed: self.changes.set.clone(),
            n_repeats: self.order.n_repeats,
            order_seed: (self.order.n_repeats > 1).then_some(self.order.seed),
            sources: sources.iter().map(source).collect(),
            steps: self.taken.clone(),
            published: published::recorded(&self.suite, &self.steps, &rows),
            rows,
            needs: self
                .questions
                .iter()
                .map(|it| it.answer(record, &self.steps_of(&it.label)))
                .collect(),
            scale_out: Vec::new(),
            rounds: self.suite.rounds.as_ref().map(|it| rounds::recorded(it, &self.tracked_iops)),
        }
    }

    /// Returns the rows of what was measured, in the order of the suite.
    fn rows(&self, record: &Record) -> Vec<SuiteRowRecord> {
        let mut labels: Vec<(&str, bool)> = Vec::new();
        let fills = self.taken.iter().filter(|step| step.purpose == StepPurpose::Prepare);
        for step in fills {
            if self.steps.iter().all(|known| known.label != step.label) {
                labels.push((&step.label, true));
            }
        }
        // As the suite has them, in whatever order they were measured.
        let once = super::steps(&self.suite, &Order { n_repeats: 1, ..self.order });
        let place = |label: &str| once.iter().position(|step| step.label == label);
        let own = self.steps.iter().map(|step| (step.label.as_str(), step.is_preparation));
        let mut own: Vec<(&str, bool)> = own.collect();
        own.sort_by_key(|(label, _)| place(label));
        labels.append(&mut own);
        let mut seen = std::collections::BTreeSet::new();
        labels.retain(|(label, _)| seen.insert(*label));
        let rows = labels
            .into_iter()
            .filter_map(|(label, is_preparation)| self.row(record, label, is_preparation));
        rows.collect()
    }

    fn row(&self, record: &Record, label: &str, is_preparation: bool) -> Option<SuiteRowRecord> {
        let steps: Vec<u32> = self.counted(label).collect();
        let points: Vec<Point> =
            steps.iter().filter_map(|idx| Point::of_step(record, *idx)).collect();
        if points.is_empty() {
            return None;
        }
        let measured = record.jobs.iter().filter(|job| steps.contains(&job.step_idx));
        let (verdict, reason) = verdict(record, &steps, is_preparation);
        Some(SuiteRowRecord {
            label: label.to_owned(),
            preparation: is_preparation,
            figures: medians(&points.iter().map(Point::figures).collect::<Vec<_>>()),
            sync: sync(record, &steps),
            measured_ns: steps
                .iter()
                .map(|idx| {
                    let of_step = measured.clone().filter(|job| job.step_idx == *idx);
                    of_step.map(|job| job.runtime_ns).max().unwrap_or(0)
                })
                .fold(0, u64::saturating_add),
            steps,
            verdict,
            reason,
        })
    }

    /// Returns the steps of the record that count for a row: of rounds those of the steady window,
    /// else of the last one.
    fn counted(&self, label: &str) -> impl Iterator<Item = u32> {
        let n_rounds = self.tracked_iops.len() as u32;
        let window = self.suite.rounds.as_ref().map(|rounds: &Rounds| {
            match rounds::judge(rounds, &self.tracked_iops) {
                rounds::Verdict::Steady(from) => from..from + rounds.window,
                rounds::Verdict::GoOn | rounds::Verdict::GiveUp => {
                    n_rounds.saturating_sub(rounds.window)..u32::MAX
                }
            }
        });
        let own = self.taken.iter();
        let own =
            own.filter(move |step| step.label == label && step.purpose != StepPurpose::Workers);
        let counts = move |step: &&SuiteStepRecord| {
            step.purpose == StepPurpose::Prepare
                || window.as_ref().is_none_or(|window| window.contains(&step.repeat_idx))
        };
        own.filter(counts).map(|step| step.step_idx)
    }
}

/// Returns the latencies of what made writes durable, the medians of the steps; none where nothing
/// did.
fn sync(record: &Record, steps: &[u32]) -> Figures<SuiteFigureRecord> {
    let of_step = |step_idx: &u32| {
        let mut all = Histogram::new();
        for job in record.jobs.iter().filter(|job| job.step_idx == *step_idx) {
            all.merge(&job.sync);
        }
        Figures::of(&Latency::Measured(&all))
    };
    medians(&steps.iter().map(of_step).collect::<Vec<_>>())
}

/// Returns each figure's median over repeats; none of one that no repeat has.
fn medians(repeats: &[Figures]) -> Figures<SuiteFigureRecord> {
    Figures::each(|figure| {
        let values: Vec<f64> = repeats.iter().filter_map(|it| it.get(figure)).collect();
        (!values.is_empty()).then(|| figure_of(&values))
    })
}

fn source(source: &Source) -> SuiteSourceRecord {
    SuiteSourceRecord {
        id: source.id.clone(),
        document: source.document.clone(),
        date: source.date.clone(),
        section: source.section.clone(),
        url: source.url.clone(),
    }
}

fn figure_of(values: &[f64]) -> SuiteFigureRecord {
    let interval = median_interval(values, COVERAGE).map(|it| IntervalRecord {
        low: it.low,
        high: it.high,
        coverage: it.coverage,
    });
    SuiteFigureRecord { median: series::median(values).unwrap_or(0.0), interval }
}

/// All checks, the weightiest first: what spoils a result, then those that are shown with the run.
const WEIGHTIEST_FIRST: [GateName; 13] = units::all_of!(
    GateName:
    Errors, Generator, SharedDisk, Little, PageCache, QueueDepth, Offered, Credits, WriteCache,
    Steady, Footprint, SocketBuffers, MountOptions,
);

/// Returns whether a step wrote only, and made every write durable by a call.
fn makes_all_durable(record: &Record, step_idx: u32) -> bool {
    let mut jobs = record.jobs.iter().filter(|job| job.step_idx == step_idx);
    jobs.all(|job| {
        let n_writes = job.dirs.write.n_ios;
        n_writes > 0 && job.dirs.read.n_ios == 0 && job.sync.count() + 1 >= n_writes
    })
}

fn row_verdict(name: GateName) -> String {
    name.row_verdict().unwrap_or(name.as_str()).to_owned()
}

/// Returns what the checks of a row's steps say: the weightiest that failed in any of them.
fn verdict(record: &Record, steps: &[u32], is_preparation: bool) -> (String, String) {
    let checks: Vec<Check> = steps.iter().flat_map(|idx| checks(record, *idx)).collect();
    let with = |name: GateName, verdict: Verdict| {
        checks.iter().find(|check| check.name == name.as_str() && check.verdict == verdict)
    };
    if is_preparation {
        let steady = record.jobs.iter().filter(|job| steps.contains(&job.step_idx));
        let steady: Vec<bool> =
            steady.filter_map(|job| job.steady.as_ref()).map(|steady| steady.attained).collect();
        let (word, reason) = match (with(GateName::Errors, Verdict::Failed), steady.as_slice()) {
            (Some(check), _) => ("errors", check.reason.as_str()),
            (None, []) => ("done", ""),
            (None, all) if all.iter().all(|it| *it) => ("steady", ""),
            _ => ("not steady", ""),
        };
        return (word.to_owned(), reason.to_owned());
    }
    let is_durable = steps.iter().all(|step_idx| makes_all_durable(record, *step_idx));
    for name in WEIGHTIEST_FIRST {
        // What returns when it is on the disk was not answered by memory.
        if is_durable && name == GateName::PageCache {
            continue;
        }
        if let (Some(word), Some(check)) = (name.row_verdict(), with(name, Verdict::Failed)) {
            return (word.to_owned(), check.reason.clone());
        }
    }
    if let Some(check) = checks.iter().find(|check| check.is_borrowed) {
        let name = GateName::ALL.into_iter().find(|name| check.name == name.as_str());
        return (row_verdict(name.unwrap_or(GateName::Credits)), check.reason.clone());
    }
    match with(GateName::Steady, Verdict::NotAssessed) {
        Some(check) => ("not assessed".to_owned(), check.reason.clone()),
        None => ("valid".to_owned(), String::new()),
    }
}
