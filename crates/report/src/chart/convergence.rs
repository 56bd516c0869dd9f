//! Steady state after SNIA: rounds, the window, its mean, its limits and the fitted line.

use analysis::sampled::{PIECES_MAX, per_s, usual_ms};
use analysis::series;
use analysis::steady::{SNIA_ROUNDS_MAX, Steadiness, SteadyRule, WindowTest, assess};
use record::{Figure, StepValidity, Verdict};
use units::{format_iops, format_percent};

use super::over_time::Source;
use crate::axis;
use crate::spec::{ChartSpec, Colour, DashStyle, Marker, Rule, Series, Span, SpanKind};
use crate::table::{Cell, Table};
use crate::thin::{Seconds, start_s, total};

/// The rate of a run as means of rounds, and the window that was judged.
struct Rounds {
    /// Seconds of a round.
    length_s: f64,
    means: Vec<f64>,
    /// The rounds of the window.
    window: std::ops::Range<usize>,
    is_steady: bool,
    /// What the check of the record said, where it did not pass.
    why: Option<String>,
    rule: SteadyRule,
}

/// Draws the rounds of a run of one step; none where there are fewer than a window has, or where
/// the record says that it could not be judged.
pub(crate) fn chart(source: &Source<'_>) -> Option<ChartSpec> {
    let [step] = source.steps else { return None };
    let seconds = Seconds::of(source.record, usize::MAX);
    let measured = samples(&seconds);
    let judged = source.record.validity.iter().find(|it| it.step_idx == step.idx);
    let gate = judged.and_then(|judged| judged.gate("steady"));
    if gate.is_some_and(|gate| gate.verdict == Verdict::NotAssessed) {
        return None;
    }
    let judged = judged.and_then(|judged| Rounds::of_record(&measured, judged));
    let rounds = judged.or_else(|| Rounds::of(&measured))?;
    let test = WindowTest::of(&rounds.means[rounds.window.clone()], &rounds.rule)?;
    let numbers: Vec<f64> = (1..=rounds.means.len()).map(|round| round as f64).collect();
    let values = Series {
        name: "IOPS of a round".to_owned(),
        colour: Colour::Of(0),
        marker: Some(Marker::Circle),
        is_line: true,
        x: numbers.clone(),
        y: rounds.means.iter().map(|mean| Some(round3(*mean))).collect(),
        ..Series::default()
    };
    Some(ChartSpec {
        id: format!("{}-steady", source.id),
        title: "Steady state".to_owned(),
        about: verdict(&rounds, &test),
        height_px: 300,
        x: axis::numbers("round", numbers.len()),
        y: axis::iops(),
        series: vec![values, fit(&rounds, &test)],
        spans: vec![span(&rounds)],
        rules: limits(&test),
        cells: None,
        notes: vec![note(&rounds, &test)],
        source: source.line.to_owned(),
        thinned: None,
        table: table(&rounds),
    })
}

/// A rate that held for a while.
struct Sample {
    start_s: f64,
    length_s: f64,
    iops: f64,
}

/// Returns the rate after the ramp in pieces of about the usual length: a long interval is cut into
/// several, so that rounds of as many pieces are equally long.
fn samples(seconds: &Seconds<'_>) -> Vec<Sample> {
    let measured = || seconds.intervals.iter().filter(|it| !it.ramp);
    let usual_ms = usual_ms(measured().map(|it| it.length_ms)).max(1) as f64;
    let pieces = measured().flat_map(|it| {
        let n = (it.length_ms as f64 / usual_ms).round().clamp(1.0, PIECES_MAX);
        let length_s = it.length_ms as f64 / 1000.0 / n;
        let iops = per_s(it, total(it, |dir| dir.n_ios));
        (0..n as usize).map(move |idx| Sample {
            start_s: start_s(it) + idx as f64 * length_s,
            length_s,
            iops,
        })
    });
    pieces.collect()
}

impl Rounds {
    /// Cuts a run into the rounds by which its record judged it, before and after the window too.
    fn of_record(measured: &[Sample], judged: &StepValidity) -> Option<Self> {
        let (from_ms, to_ms) = judged.window_ms?;
        let n_rounds = judged.rule.n_rounds.max(2) as usize;
        let inside = |it: &Sample| {
            let end_ms = (it.start_s + it.length_s) * 1000.0;
            it.start_s * 1000.0 >= from_ms as f64 - 1.0 && end_ms <= to_ms as f64 + 1.0
        };
        let n_inside = measured.iter().filter(|it| inside(it)).count();
        let first = measured.iter().position(inside)?;
        let len = n_inside / n_rounds;
        if len == 0 {
            return None;
        }
        // Rounds before the window end where it begins.
        let n_before = first / len;
        let start = first - n_before * len;
        let rounds = measured[start..].chunks_exact(len);
        let gate = judged.gate("steady")?;
        Some(Rounds {
            length_s: length_s(&measured[first..first + len]),
            means: rounds.map(mean).collect(),
            window: n_before..n_before + n_rounds,
            is_steady: gate.verdict == Verdict::Passed,
            why: match gate.verdict {
                Verdict::Passed | Verdict::NotAssessed => None,
                Verdict::Failed => Some(format!("Not steady: {}.", gate.reason)),
            },
            rule: SteadyRule {
                n_rounds,
                range_pct: judged.rule.range_pct,
                slope_pct: judged.rule.slope_pct,
            },
        })
    }

    /// Cuts a run without checks into at most as many rounds as SNIA's test takes.
    fn of(measured: &[Sample]) -> Option<Self> {
        let len = measured.len().div_ceil(SNIA_ROUNDS_MAX).max(1);
        let means: Vec<f64> = measured.chunks_exact(len).map(mean).collect();
        let rule = SteadyRule::default();
        let (from, is_steady) = match assess(&[&means], &rule) {
            Steadiness::Steady { from_round, .. } => (from_round, true),
            Steadiness::NotSteady { .. } => (means.len() - rule.n_rounds, false),
            Steadiness::NotAssessed { .. } => return None,
        };
        let window = from..from + rule.n_rounds;
        Some(Rounds {
            length_s: length_s(&measured[..len]),
            means,
            window,
            is_steady,
            why: None,
            rule,
        })
    }
}

fn mean(round: &[Sample]) -> f64 {
    let n_ios: f64 = round.iter().map(|it| it.iops * it.length_s).sum();
    n_ios / length_s(round).max(1e-3)
}

fn length_s(round: &[Sample]) -> f64 {
    round.iter().map(|it| it.length_s).sum()
}

fn verdict(rounds: &Rounds, test: &WindowTest) -> String {
    let mean = format_iops(test.mean);
    let (first, last) = (rounds.window.start + 1, rounds.window.end);
    if rounds.is_steady {
        return format!("Rounds {first} to {last} are steady at {mean} IOPS.");
    }
    let why = rounds.why.as_deref().unwrap_or("Not steady.");
    format!("{why} Rounds {first} to {last} have {mean} IOPS on average.")
}

fn note(rounds: &Rounds, test: &WindowTest) -> String {
    let of_mean = |part: f64| format_percent(part / test.mean);
    format!(
        "A round is the mean of {:.0} s. In the window values lie {} apart (limit {} %), and \
         the fitted line changes by {} (limit {} %; slope {:.1} IOPS per round).",
        rounds.length_s,
        of_mean(test.range),
        rounds.rule.range_pct,
        of_mean(test.excursion),
        rounds.rule.slope_pct,
        test.slope,
    )
}

fn table(rounds: &Rounds) -> Table {
    let table = Table::new(&[("round", "round")]).figures(&[Figure::Iops]);
    let mut table = table.and(&[("in the window", "is_in")]);
    for (idx, mean) in rounds.means.iter().enumerate() {
        let is_in = if rounds.window.contains(&idx) { "yes" } else { "no" };
        let number = Cell::count(idx as u64 + 1);
        table.rows.push(vec![number, Cell::iops(*mean), Cell::text(is_in)]);
    }
    table
}

fn span(rounds: &Rounds) -> Span {
    let (text, kind) = if rounds.is_steady {
        ("steady window", SpanKind::Kept)
    } else {
        ("window that was judged", SpanKind::Left)
    };
    Span {
        from: rounds.window.start as f64 + 0.5,
        to: rounds.window.end as f64 + 0.5,
        text: text.to_owned(),
        kind,
    }
}

/// The mean of the window, and 10 % above and below.
fn limits(test: &WindowTest) -> Vec<Rule> {
    let rule = |factor: f64, text: &str, dash| Rule {
        is_across: true,
        at: round3(test.mean * factor),
        text: text.to_owned(),
        colour: Colour::Plain,
        dash,
    };
    vec![
        rule(1.1, "mean + 10 %", DashStyle::Dot),
        rule(1.0, "mean", DashStyle::Dash),
        rule(0.9, "mean − 10 %", DashStyle::Dot),
    ]
}

/// The least-squares line through the window.
fn fit(rounds: &Rounds, test: &WindowTest) -> Series {
    let window = &rounds.means[rounds.window.clone()];
    let middle = (window.len() - 1) as f64 / 2.0;
    let mean = series::mean(window).unwrap_or(test.mean);
    let ends = [0, window.len() - 1];
    let at = |idx: &usize| Some(round3(mean + test.slope * (*idx as f64 - middle)));
    Series {
        name: "fitted line".to_owned(),
        colour: Colour::Of(1),
        dash: DashStyle::Dash,
        is_line: true,
        x: ends.iter().map(|idx| (rounds.window.start + idx + 1) as f64).collect(),
        y: ends.iter().map(at).collect(),
        ..Series::default()
    }
}

fn round3(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}
