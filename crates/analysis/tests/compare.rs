//! Comparisons: what they say of equal volumes, of a loss, and of too little.

mod common;

use analysis::compare::{Better, CompareOptions, RunOrder, Verdict, compare, compare_intervals};
use analysis::stats::Interval;
use common::Noise;

fn options(order: RunOrder) -> CompareOptions {
    CompareOptions { order, ..CompareOptions::new(Better::Higher) }
}

/// IOPS of a run of half a minute: its own level, and seconds that resemble each other.
fn run_iops(noise: &mut Noise, level: f64) -> f64 {
    let samples = noise.correlated(30, 0.5);
    level * (1.0 + 0.03 * samples.iter().sum::<f64>() / samples.len() as f64)
}

/// Both sets of one pair, as levels around 1: between-run variation 2 %.
#[derive(Clone, Copy)]
enum Drift {
    /// Levels are independent; seconds within a run resemble each other.
    Within,
    /// Levels of neighbouring runs resemble each other too; the sets were taken A B B A.
    Mixed,
    /// The same, one set after the other.
    Blocks,
}

fn pair(noise: &mut Noise, drift: Drift, n: usize, ratio: f64) -> (Vec<f64>, Vec<f64>) {
    let levels: Vec<f64> = match drift {
        Drift::Within => (0..2 * n).map(|_| noise.normal()).collect(),
        Drift::Mixed | Drift::Blocks => noise.correlated(2 * n, 0.5),
    };
    let (mut from, mut to) = (Vec::new(), Vec::new());
    for (idx, level) in levels.iter().enumerate() {
        let is_baseline = match drift {
            Drift::Mixed => matches!(idx % 4, 0 | 3),
            _ => idx < n,
        };
        let level = 5_000.0 * (1.0 + 0.02 * level);
        if is_baseline {
            from.push(run_iops(noise, level));
        } else {
            to.push(run_iops(noise, level * ratio));
        }
    }
    (from, to)
}

/// Returns the share of seeded pairs that are said to be worse.
fn share_worse(drift: Drift, n: usize, ratio: f64) -> f64 {
    const N_PAIRS: u64 = 2_000;
    let order = match drift {
        Drift::Mixed => RunOrder::Mixed,
        Drift::Within | Drift::Blocks => RunOrder::Blocks,
    };
    let n_worse = (0..N_PAIRS)
        .filter(|seed| {
            let (from, to) = pair(&mut Noise::new(*seed), drift, n, ratio);
            compare(&from, &to, &options(order)).verdict == Verdict::Worse
        })
        .count();
    n_worse as f64 / N_PAIRS as f64
}

/// Two equal volumes may be called different in one of twenty pairs, half of them worse. The limit
/// leaves room for the chance of 2,000 pairs.
#[track_caller]
fn check_false_alarms(drift: Drift) {
    let share = share_worse(drift, 10, 1.0);
    assert!(share <= 0.06, "{share} of equal pairs are called worse");
}

#[test]
fn equal_volumes_are_rarely_called_worse() {
    check_false_alarms(Drift::Within);
}

#[test]
fn drift_between_runs_raises_no_alarm_in_mixed_order() {
    check_false_alarms(Drift::Mixed);
}

#[test]
fn drift_between_runs_raises_no_alarm_in_blocks() {
    check_false_alarms(Drift::Blocks);
}

#[test]
fn a_loss_of_5_pct_is_found_with_ten_runs() {
    let share = share_worse(Drift::Within, 10, 0.95);
    assert!(share >= 0.9, "only {share} of losses found");
}

#[test]
fn mixed_order_finds_a_loss_despite_drift() {
    let share = share_worse(Drift::Mixed, 10, 0.95);
    assert!(share >= 0.9, "only {share} of losses found");
}

const STEADY: [f64; 6] = [100.0, 101.0, 99.0, 100.5, 99.5, 100.2];

fn scaled(by: f64) -> Vec<f64> {
    STEADY.iter().map(|value| value * by).collect()
}

#[track_caller]
fn check(from: &[f64], to: &[f64], better: Better, verdict: Verdict, reason: &str) {
    let order = RunOrder::Mixed;
    let found = compare(from, to, &CompareOptions { order, ..CompareOptions::new(better) });
    assert_eq!(found.verdict, verdict, "{found:?}");
    assert!(found.reason.contains(reason), "{}", found.reason);
    if let (Some(ratio), Some(interval)) = (found.ratio, found.interval) {
        assert!(interval.contains(ratio), "{found:?}");
    }
}

#[test]
fn the_verdict_knows_which_way_is_better() {
    check(&STEADY, &scaled(0.9), Better::Higher, Verdict::Worse, "-10.0 %");
    check(&STEADY, &scaled(0.9), Better::Lower, Verdict::Better, "-10.0 %");
    check(&STEADY, &scaled(1.1), Better::Higher, Verdict::Better, "+10.0 %");
    check(&STEADY, &scaled(1.1), Better::Lower, Verdict::Worse, "+10.0 %");
    check(&STEADY, &STEADY, Better::Higher, Verdict::NoDifferenceShown, "less than 5 %");
    // Shown, and smaller than what is printed of it.
    let (even, less) = ([5_000.0; 6], [4_999.0, 4_999.1, 4_999.2, 4_999.3, 4_999.4, 4_999.5]);
    check(&even, &less, Better::Higher, Verdict::NoDifferenceShown, "less than 5 %");
    check(&even, &less.map(|it| it - 5.0), Better::Higher, Verdict::Worse, "-0.1 %");
}

#[test]
fn too_few_runs_cannot_tell() {
    let needed = "take at least 4 of each";
    check(&[100.0], &[50.0], Better::Higher, Verdict::CannotTell, needed);
    check(&STEADY[..3], &[50.0, 51.0, 49.0], Better::Higher, Verdict::CannotTell, needed);
    check(&STEADY[..4], &scaled(0.5)[..4], Better::Higher, Verdict::Worse, "-50");
    check(&STEADY, &[], Better::Higher, Verdict::CannotTell, "no run");
    check(&STEADY, &[0.0; 6], Better::Higher, Verdict::CannotTell, "no ratio");
    check(&[f64::NAN; 6], &STEADY, Better::Higher, Verdict::CannotTell, "no ratio");
}

#[test]
fn wide_intervals_say_how_many_runs_would_tell() {
    let wild = [100.0, 140.0, 75.0, 120.0, 60.0, 110.0];
    let mut noise = Noise::new(7);
    let order = RunOrder::Mixed;
    let options = CompareOptions { order, ..CompareOptions::new(Better::Higher) };
    let found = compare(&wild, &STEADY, &options);
    assert_eq!(found.verdict, Verdict::CannotTell);
    let n = found.n_runs_needed.unwrap();
    assert!(n > 6 && found.reason.contains(&format!("about {n} runs")), "{found:?}");
    // What is asked for would do: sets that vary alike, one of them 5 % lower.
    let stdev = analysis::series::stdev(&wild).unwrap() / 100.0;
    let mut set = |level: f64| -> Vec<f64> {
        (0..n).map(|_| level * (stdev * noise.normal()).exp()).collect()
    };
    let n_told = (0..100)
        .filter(|_| {
            let (from, to) = (set(100.0), set(95.0));
            compare(&from, &to, &options).verdict == Verdict::Worse
        })
        .count();
    assert!(n_told >= 50, "{n} runs of each tell {n_told} of 100");
}

#[test]
fn failing_takes_a_shown_loss_of_the_limit() {
    let fails = |by: f64, limit: f64| {
        let found = compare(&STEADY, &scaled(by), &options(RunOrder::Mixed));
        found.fails(limit, Better::Higher)
    };
    assert!(fails(0.9, 0.05));
    assert!(!fails(0.9, 0.15), "a loss of 10 % is below 15 %");
    assert!(!fails(1.1, 0.05), "a gain is no loss");
    assert!(!fails(1.0, 0.0));
}

#[test]
fn load_lines_are_compared_by_their_brackets() {
    let line = |load: f64, width: f64, coverage| {
        (load, Interval { low: load, high: load * (1.0 + width), coverage })
    };
    let judge = |from, to| compare_intervals(from, to, &options(RunOrder::Blocks));
    let sure = |load| line(load, 0.01, 0.98);
    assert_eq!(judge(sure(5_000.0), sure(4_700.0)).verdict, Verdict::Worse);
    assert_eq!(judge(sure(5_000.0), sure(5_300.0)).verdict, Verdict::Better);
    assert_eq!(judge(sure(5_000.0), sure(4_980.0)).verdict, Verdict::NoDifferenceShown);
    let wide = judge(line(5_000.0, 0.2, 0.98), sure(5_300.0));
    assert_eq!(wide.verdict, Verdict::CannotTell);
    let unsure = judge(line(5_000.0, 0.01, 0.5), sure(2_500.0));
    assert_eq!(unsure.verdict, Verdict::CannotTell);
    assert!(unsure.reason.contains("measure each end 8 times"), "{}", unsure.reason);
    assert!((unsure.ratio.unwrap() - 0.5).abs() < 1e-9);
    let none = judge(line(0.0, 0.01, 0.98), sure(2_500.0));
    assert_eq!((none.verdict, none.ratio), (Verdict::CannotTell, None));
}

#[test]
fn comparing_the_other_way_round_gives_the_inverse() {
    let mut noise = Noise::new(3);
    for _ in 0..200 {
        let (from, to) = pair(&mut noise, Drift::Within, 7, 0.97);
        let there = compare(&from, &to, &options(RunOrder::Mixed));
        let back = compare(&to, &from, &options(RunOrder::Mixed));
        let (there, back) = (there.interval.unwrap(), back.interval.unwrap());
        assert!((there.low * back.high - 1.0).abs() < 1e-9);
        assert!((there.high * back.low - 1.0).abs() < 1e-9);
    }
}
