//! The question answered: one sentence, and the figures that belong to it.

use analysis::assess::is_invalid_row;
use analysis::compare::{Comparison, Verdict};
use analysis::sets::Row;
use export::Run;
use record::{
    CarriedState, CurveRecord, Lever, LineVerdict, NeedConditionRecord, NeedRecord, Record,
    SuiteRecord, SuiteRowRecord, load_words,
};
use units::{format_latency_ns, format_percent, format_percent_whole, plural};

use crate::chart::comparison::{CandidateSide, labelled};
use crate::suite;
use crate::validity::{self, State};
use crate::view::{Step, results};
use crate::words::{difference, round_latency, volume};

/// What the first screen says.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) sentence: String,
    pub(crate) figures: Vec<Figure>,
    pub(crate) state: State,
    /// The verdict of the checks, or of the comparison.
    pub(crate) verdict: String,
}

/// One figure.
#[derive(Clone, Debug)]
pub(crate) struct Figure {
    pub(crate) name: String,
    pub(crate) value: String,
    pub(crate) unit: String,
}

impl Figure {
    fn new(name: &str, value: String, unit: &str) -> Self {
        Figure { name: name.to_owned(), value, unit: unit.to_owned() }
    }

    /// A rate.
    fn rate(name: &str, figure: record::Figure, value: f64) -> Self {
        Figure::new(name, figure.shown(value), figure.head())
    }

    /// A latency, its unit apart.
    fn latency(name: &str, ns: u64) -> Self {
        let text = format_latency_ns(ns);
        let (value, unit) = text.split_once(' ').unwrap_or((&text, ""));
        Figure::new(name, value.to_owned(), unit)
    }
}

/// Answers for one run.
pub(crate) fn of_run(run: &Run) -> Answer {
    let record = &run.record;
    let validity = validity::of(record);
    let needs = record.suite.as_ref().and_then(|suite| Some((suite, suite::answer(suite)?)));
    let (sentence, figures) = match (needs, &record.curve, &record.suite) {
        (Some((suite, sentence)), ..) => (sentence, need_figures(suite)),
        (None, Some(curve), _) => (of_curve(record, curve), curve_figures(curve)),
        (None, None, Some(suite)) => of_suite(record, suite),
        (None, None, None) => of_steps(record),
    };
    let mut verdict = validity.verdict;
    if record.emulation.as_ref().is_some_and(|it| it.constant_latency().is_some()) {
        verdict.push_str(" Latency without load is assumed constant.");
    }
    Answer { sentence, figures, state: validity.state, verdict }
}

fn of_curve(record: &Record, curve: &CurveRecord) -> String {
    let (volume, limits) = (volume(record), limits_words(&curve.limits));
    let line = &curve.line;
    match line.verdict() {
        LineVerdict::Line(load) => {
            format!(
                "{volume} carries {}{} with {limits}.",
                curve.line_words(load, false),
                between(curve)
            )
        }
        LineVerdict::Above(load) => {
            format!(
                "{volume} carries more than {}: nothing broke {limits}.",
                curve.line_words(load, false)
            )
        }
        LineVerdict::Below => {
            let lowest = curve.lowest_words();
            format!("{volume} does not keep {limits}: even {lowest} break it.")
        }
        LineVerdict::CannotTell(_) | LineVerdict::Unfinished => {
            let why = line.why_not();
            let between = between(curve);
            format!("{volume}: cannot tell how much it carries with {limits}: {why}{between}.")
        }
    }
}

/// The interval of the load line, with its probability; empty where there is none.
fn between(curve: &CurveRecord) -> String {
    let Some(interval) = curve.line.interval else { return String::new() };
    let (low, high) = (load_words(interval.low), load_words(interval.high));
    let unit = match curve.lever {
        Lever::Rate => String::new(),
        lever @ (Lever::QueueDepth | Lever::Workers | Lever::Units) => format!(" {}", lever.unit()),
    };
    if interval.coverage > 0.0 {
        let share = format_percent(interval.coverage);
        return format!(" (at least {share} sure: {low} to {high}{unit})");
    }
    format!(" ({low} to {high}{unit})")
}

/// Limits with blanks between numbers and units.
fn limits_words(limits: &str) -> String {
    let Ok(parsed) = limits.parse::<analysis::Limits>() else { return limits.to_owned() };
    let word = |limit: &analysis::Limit| match limit {
        analysis::Limit::Latency { figure, ns_max } => {
            format!("{figure} below {}", round_latency(*ns_max as f64))
        }
        analysis::Limit::Achieved { share_min } => {
            format!("at least {} of the load achieved", format_percent_whole(*share_min))
        }
    };
    parsed.all.iter().map(word).collect::<Vec<_>>().join(" and ")
}

fn curve_figures(curve: &CurveRecord) -> Vec<Figure> {
    let mut figures = Vec::new();
    if let Some(rate) = curve.rate_words() {
        figures.push(Figure::new("load line", rate, record::Figure::Iops.head()));
    }
    if let Some(bytes_per_s) = curve.line.bytes_per_s {
        figures.push(Figure::rate("that is", record::Figure::BytesPerS, bytes_per_s));
    }
    for carried in curve.carried.iter().filter(|it| it.state == CarriedState::Reached).take(2) {
        if let Some(rate) = carried.rate_iops {
            let name = format!("at {} mean", round_latency(carried.latency_mean_ns as f64));
            figures.push(Figure::rate(&name, record::Figure::Iops, rate));
        }
    }
    if let Some(ns) = curve.overall_response_ns {
        figures.push(Figure::latency("mean over the curve", ns.round() as u64));
    }
    figures
}

/// Returns what decided about each need that has an answer.
fn need_figures(suite: &SuiteRecord) -> Vec<Figure> {
    let is_one_of_many = suite.needs.len() > 1;
    let figure = |need: &NeedRecord| {
        let is_broken = |it: &&NeedConditionRecord| it.is_kept == Some(false);
        let decided = need.conditions.iter().find(is_broken).or(need.conditions.first())?;
        let shown = decided.shown().filter(|_| decided.is_kept.is_some())?;
        let (value, unit) = shown.rsplit_once(' ').unwrap_or((&shown, ""));
        let place = if is_one_of_many { format!("{}: ", need.label) } else { String::new() };
        Some(Figure::new(&format!("{place}{}", decided.condition), value.to_owned(), unit))
    };
    suite.needs.iter().filter_map(figure).take(FIGURES_MAX).collect()
}

/// Figures at the top of a page at most.
const FIGURES_MAX: usize = 4;

/// Answers by the rows of a suite: those that count, unless none does.
fn of_suite(record: &Record, suite: &SuiteRecord) -> (String, Vec<Figure>) {
    use record::Figure::{BytesPerS, Iops};
    let mut rows: Vec<&SuiteRowRecord> =
        suite.rows.iter().filter(|row| !row.preparation && row.medians().iops() > 0.0).collect();
    if rows.iter().any(|row| !is_invalid_row(row)) {
        rows.retain(|row| !is_invalid_row(row));
    }
    if rows.is_empty() {
        return (nothing_measured(record), Vec::new());
    }
    let ((iops, of_iops), (rate, of_rate)) = (most(&rows, Iops), most(&rows, BytesPerS));
    let place = match of_iops {
        Some(label) => format!(" in {label}"),
        None => String::new(),
    };
    let sentence = format!(
        "{} did {}; the most I/Os{place}: {iops} {}.",
        volume(record),
        plural(rows.len(), "measurement"),
        Iops.head()
    );
    let named = |name: &str, label: Option<&str>| match label {
        Some(label) => format!("{name}, {label}"),
        None => name.to_owned(),
    };
    let figures = vec![
        Figure::new(&named("most I/Os", of_iops), iops, Iops.head()),
        Figure::new(&named("most throughput", of_rate), rate, BytesPerS.head()),
    ];
    (sentence, figures)
}

/// Returns the largest figure of some rows as it is shown, and the row that has it; none where it
/// is shown of several.
fn most<'a>(rows: &[&'a SuiteRowRecord], figure: record::Figure) -> (String, Option<&'a str>) {
    let of = |row: &SuiteRowRecord| row.medians().get(figure).unwrap_or(0.0);
    let largest = figure.shown(rows.iter().map(|row| of(row)).fold(0.0, f64::max));
    let mut with = rows.iter().filter(|row| figure.shown(of(row)) == largest);
    let first = with.next().map(|row| row.label.as_str());
    let is_shared = with.next().is_some();
    (largest, first.filter(|_| !is_shared))
}

fn of_steps(record: &Record) -> (String, Vec<Figure>) {
    let steps = results(record);
    let with_io: Vec<&Step<'_>> = steps.iter().filter(|step| step.figures().iops() > 0.0).collect();
    match with_io.as_slice() {
        [] => (nothing_measured(record), Vec::new()),
        [only] => (sentence(record, only), step_figures(only)),
        many => {
            let iops = |step: &Step<'_>| step.figures().iops();
            let best = many.iter().max_by(|a, b| iops(a).total_cmp(&iops(b)));
            let best = best.unwrap_or(&many[0]);
            let sentence = format!(
                "{} did {}; the most I/Os in {}: {} IOPS.",
                volume(record),
                plural(many.len(), "step"),
                best.name,
                record::Figure::Iops.shown(iops(best)),
            );
            (sentence, step_figures(best))
        }
    }
}

/// Reports that there are no figures, and why.
fn nothing_measured(record: &Record) -> String {
    match validity::failures(record).first() {
        Some(why) => format!("Nothing was measured: {why}."),
        None => "Nothing was measured.".to_owned(),
    }
}

fn sentence(record: &Record, step: &Step<'_>) -> String {
    use record::Figure::{P50, P99};
    let figures = step.figures();
    let did = format!("{} did {}", volume(record), figures.rates_shown());
    match (figures.shown(P50), figures.shown(P99)) {
        (Some(p50), Some(p99)) => {
            format!("{did}; half of the I/Os took at most {p50}, and 99 of 100 at most {p99}.")
        }
        _ => format!("{did}."),
    }
}

fn step_figures(step: &Step<'_>) -> Vec<Figure> {
    let (of, kind) = (step.figures(), step.latencies().kind.word());
    let figure = |figure: &record::Figure| {
        let (value, name) = (of.get(*figure)?, figure.called());
        Some(if figure.is_rate() {
            Figure::rate(name, *figure, value)
        } else {
            Figure::latency(&format!("{name} {kind}"), value.round() as u64)
        })
    };
    record::Figure::OF_ANSWER.iter().filter_map(figure).collect()
}

/// Returns a row's values before and after.
fn both(row: &Row) -> String {
    let Comparison { baseline_median, candidate_median, .. } = &row.comparison;
    let shown =
        |value: Option<f64>| value.map_or("-".to_owned(), |value| row.figure.figure().shown(value));
    format!("{} → {}", shown(*baseline_median), shown(*candidate_median))
}

/// Returns how a row changed, in percent.
fn change(row: &Row) -> String {
    row.comparison.ratio.map_or(String::new(), difference)
}

/// Answers for a comparison: what is shown, of the first candidate.
pub(crate) fn of_comparison(against: &[CandidateSide<'_>], baseline: &str) -> Answer {
    let Some(first) = against.first() else {
        return Answer {
            sentence: "There is nothing to compare.".to_owned(),
            figures: Vec::new(),
            state: State::Unknown,
            verdict: String::new(),
        };
    };
    let rows = &first.found.rows;
    let with = |verdict| rows.iter().filter(move |row| row.comparison.verdict == verdict);
    let (n_worse, n_better) = (with(Verdict::Worse).count(), with(Verdict::Better).count());
    let n_same = with(Verdict::NoDifferenceShown).count();
    let name = &first.candidate.name;
    let (state, verdict) = match (n_worse, n_better) {
        (0, 0) if n_same == rows.len() && n_same > 0 => (State::Good, "no difference shown"),
        (0, 0) if n_same > 0 => (State::Unknown, "no difference shown, as far as the runs tell"),
        (0, 0) => (State::Unknown, "cannot tell"),
        (0, _) => (State::Good, "better"),
        (_, 0) => (State::Bad, "worse"),
        _ => (State::Unknown, "better in some figures, worse in others"),
    };
    let mut sentence = format!("{name} against {baseline}: {verdict}.");
    let mut shown: Vec<(String, &Row)> = labelled(&first.found)
        .into_iter()
        .filter(|(_, row)| row.comparison.ratio.is_some())
        .collect();
    // What the verdict rests on comes first, the largest of it before all; but for the load line,
    // which is what a curve is for. Beyond it latencies grow as long as a point lasts.
    let carrying = if n_worse > 0 { Verdict::Worse } else { Verdict::Better };
    let weight = |(label, row): &(String, &Row)| {
        let Comparison { ratio, verdict, .. } = &row.comparison;
        match *verdict == carrying {
            true if label.starts_with("load line") => f64::INFINITY,
            true => ratio.unwrap_or(1.0).ln().abs(),
            false => -1.0,
        }
    };
    shown.sort_by(|a, b| weight(b).total_cmp(&weight(a)));
    if let Some((label, row)) = shown.first() {
        let (values, change) = (both(row), change(row));
        sentence = format!("{name} against {baseline}: {verdict}; {label} {values}, {change}.");
    }
    let figures = shown.iter().map(|(label, row)| Figure::new(label, both(row), &change(row)));
    if !first.found.is_alike() {
        return Answer {
            sentence: format!(
                "{name} and {baseline} did other I/O: they say nothing about the storage."
            ),
            figures: figures.take(FIGURES_MAX).collect(),
            state: State::Bad,
            verdict: "Not alike; what differs is below.".to_owned(),
        };
    }
    let counted = format!(
        "{} better, {} worse, {} without a difference, {} without an answer.",
        n_better,
        n_worse,
        n_same,
        rows.len() - n_better - n_worse - n_same
    );
    let figures = figures.take(FIGURES_MAX).collect();
    Answer { sentence, figures, state, verdict: counted }
}
