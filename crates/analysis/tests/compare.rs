//! Comparisons: what they say of equal volumes, of a loss, and of too little.

mod common;

use analysis::compare::{
    BetterWhen, CompareOptions, Comparison, RunOrder, Verdict, compare, compare_intervals,
};
use analysis::stats::Interval;
use common::Noise;

fn options(order: RunOrder) -> CompareOptions {
    CompareOptions { order, ..CompareOptions::new(BetterWhen::Higher) }
}

/// IOPS of a run of half a minute: its own level, and seconds that resemble each other.
fn run_iops(noise: &mut Noise, level: f64) -> f64 {
    let samples = noise.correlated(30, 0.5);
    level * (1.0 + 0.03 * samples.iter().sum::<f64>() / samples.len() as f64)
}

/// How the runs of both sets were taken.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Taken {
    /// One set after the other.
    Blocks,
    /// In pairs, the order within each by chance: as `compare --interleave` takes them.
    Pairs,
}

/// What the host did meanwhile.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Host {
    /// Levels of neighbouring runs resemble each other by so much (lag-1 autocorrelation).
    Alike(f64),
    /// The level rises by a tenth from the first run to the last.
    Warms,
    /// The level jumps by a tenth in the middle.
    Jumps,
}

/// Both sets, as levels around 5,000: runs vary by 2 %.
fn pair(noise: &mut Noise, taken: Taken, host: Host, n: usize, ratio: f64) -> [Vec<f64>; 2] {
    let n_runs = 2 * n;
    let alike = if let Host::Alike(autocorrelation) = host { autocorrelation } else { 0.0 };
    let levels = noise.correlated(n_runs, alike);
    let mut sets = [Vec::new(), Vec::new()];
    let mut is_candidate_first = false;
    for (idx, level) in levels.iter().enumerate() {
        let is_candidate = match taken {
            Taken::Blocks => idx >= n,
            Taken::Pairs => {
                if idx % 2 == 0 {
                    is_candidate_first = noise.unit() < 0.5;
                }
                is_candidate_first == (idx % 2 == 0)
            }
        };
        let place = match host {
            Host::Alike(_) => 1.0,
            Host::Warms => 1.0 + 0.1 * idx as f64 / n_runs as f64,
            Host::Jumps => {
                if idx > n {
                    1.1
                } else {
                    1.0
                }
            }
        };
        let own = if is_candidate { ratio } else { 1.0 };
        let level = 5_000.0 * (1.0 + 0.02 * level) * place * own;
        sets[usize::from(is_candidate)].push(run_iops(noise, level));
    }
    sets
}

/// What is said of equal sets, and of ones with a loss of 5 %: shares of the pairs of sets.
#[derive(Clone, Copy, Debug)]
struct Rates {
    equal_worse: f64,
    equal_better: f64,
    equal_untold: f64,
    loss_worse: f64,
    loss_fails: f64,
}

const N_COMPARED: u64 = 1_000;

/// Pairs that docs/compare.md advises: two more than find a loss of 5 % on a host that stands
/// still, since a jump of the host spoils the pair that it falls into.
const N_ADVISED: usize = 12;

fn rates(taken: Taken, host: Host, n: usize) -> Rates {
    let order = match taken {
        Taken::Blocks => RunOrder::Blocks,
        Taken::Pairs => RunOrder::Pairs,
    };
    let compared = |ratio: f64| -> Vec<Comparison> {
        let of_seed = |seed| {
            let [from, to] = pair(&mut Noise::new(seed), taken, host, n, ratio);
            compare(&from, &to, &options(order))
        };
        (0..N_COMPARED).map(of_seed).collect()
    };
    let share = |found: &[Comparison], is_it: &dyn Fn(&Comparison) -> bool| {
        found.iter().filter(|found| is_it(found)).count() as f64 / N_COMPARED as f64
    };
    let says = |found: &[Comparison], verdict| share(found, &|found| found.verdict == verdict);
    let (equal, loss) = (compared(1.0), compared(0.95));
    Rates {
        equal_worse: says(&equal, Verdict::Worse),
        equal_better: says(&equal, Verdict::Better),
        equal_untold: says(&equal, Verdict::CannotTell),
        loss_worse: says(&loss, Verdict::Worse),
        loss_fails: share(&loss, &|found| found.fails(0.05, BetterWhen::Higher)),
    }
}

/// The table of docs/compare.md, from this build.
fn table() -> String {
    let hosts = [
        ("runs vary independently", Host::Alike(0.0)),
        ("neighbouring runs resemble each other by 0.5", Host::Alike(0.5)),
        ("by 0.8", Host::Alike(0.8)),
        ("the host gets faster by a tenth, evenly", Host::Warms),
        ("it gets faster by a tenth in the middle", Host::Jumps),
    ];
    let mut text = String::from(
        "| the host | order | runs of each | equal: called worse | called better | cannot tell | \
         loss of 5 %: found | ends with 4 |\n|---|---|---:|---:|---:|---:|---:|---:|\n",
    );
    for (name, host) in hosts {
        for (taken, word) in [(Taken::Blocks, "one set after the other"), (Taken::Pairs, "pairs")] {
            for n in [6, N_ADVISED] {
                let of = rates(taken, host, n);
                let equal = [of.equal_worse, of.equal_better, of.equal_untold];
                let shares = equal.into_iter().chain([of.loss_worse, of.loss_fails]);
                let shares: Vec<String> = shares.map(|it| format!("{:.1} %", it * 100.0)).collect();
                text.push_str(&format!("| {name} | {word} | {n} | {} |\n", shares.join(" | ")));
            }
        }
    }
    text
}

/// What the documentation says of the rates of mistakes is what this build does. The table to put
/// there is in the failure.
#[test]
fn the_documented_rates_are_those_of_this_build() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/compare.md");
    let docs = std::fs::read_to_string(path).expect("the documentation lies beside the crates");
    let table = table();
    assert!(docs.contains(&table), "docs/compare.md lacks this table:\n{table}");
}

/// Two equal volumes may be called different in one of twenty pairs, half of them worse. The limit
/// leaves room for the chance of 1,000 pairs.
#[test]
fn pairs_raise_no_false_alarm_whatever_the_host_does() {
    for host in [Host::Alike(0.0), Host::Alike(0.5), Host::Alike(0.8), Host::Warms, Host::Jumps] {
        for n in [6, 15] {
            let found = rates(Taken::Pairs, host, n);
            let worst = found.equal_worse.max(found.equal_better);
            assert!(worst <= 0.04, "{host:?}, {n}: {found:?}");
        }
    }
}

#[test]
fn the_advised_pairs_find_a_loss_of_5_pct_whatever_the_host_does() {
    for host in [Host::Alike(0.0), Host::Alike(0.5), Host::Alike(0.8), Host::Warms, Host::Jumps] {
        let found = rates(Taken::Pairs, host, N_ADVISED);
        assert!(found.loss_worse >= 0.9 && found.loss_fails >= 0.9, "{host:?}: {found:?}");
    }
}

/// One set after the other holds what it promises as long as neighbours are not much alike.
#[test]
fn blocks_raise_few_false_alarms() {
    for alike in [0.0, 0.5] {
        for n in [6, N_ADVISED] {
            let found = rates(Taken::Blocks, Host::Alike(alike), n);
            let worst = found.equal_worse.max(found.equal_better);
            assert!(worst <= 0.045, "{alike}, {n}: {found:?}");
        }
    }
    assert!(rates(Taken::Blocks, Host::Alike(0.0), N_ADVISED).loss_worse >= 0.9);
}

/// What is said to be detectable is found nine times of ten, and not much more.
#[test]
fn a_detectable_difference_is_found_nine_times_of_ten() {
    let order = RunOrder::Pairs;
    let host = Host::Alike(0.3);
    let mut of_equal: Vec<f64> = (0..400)
        .filter_map(|seed| {
            let [from, to] = pair(&mut Noise::new(seed), Taken::Pairs, host, 10, 1.0);
            compare(&from, &to, &options(order)).detectable
        })
        .collect();
    of_equal.sort_by(f64::total_cmp);
    let detectable = of_equal[of_equal.len() / 2];
    let n_found = (1_000..2_000)
        .filter(|seed| {
            let ratio = 1.0 / (1.0 + detectable);
            let [from, to] = pair(&mut Noise::new(*seed), Taken::Pairs, host, 10, ratio);
            compare(&from, &to, &options(order)).verdict == Verdict::Worse
        })
        .count();
    assert!((800..=970).contains(&n_found), "{detectable}: {n_found} of 1000");
}

const STEADY: [f64; 6] = [100.0, 101.0, 99.0, 100.5, 99.5, 100.2];

fn scaled(by: f64) -> Vec<f64> {
    STEADY.iter().map(|value| value * by).collect()
}

#[track_caller]
fn check(from: &[f64], to: &[f64], better: BetterWhen, verdict: Verdict, reason: &str) {
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
    check(&STEADY, &scaled(0.9), BetterWhen::Higher, Verdict::Worse, "-10.0 %");
    check(&STEADY, &scaled(0.9), BetterWhen::Lower, Verdict::Better, "-10.0 %");
    check(&STEADY, &scaled(1.1), BetterWhen::Higher, Verdict::Better, "+10.0 %");
    check(&STEADY, &scaled(1.1), BetterWhen::Lower, Verdict::Worse, "+10.0 %");
    check(&STEADY, &STEADY, BetterWhen::Higher, Verdict::NoDifferenceShown, "less than 5 %");
    // Shown, and smaller than what is printed of it.
    let (even, less) = ([5_000.0; 6], [4_999.0, 4_999.1, 4_999.2, 4_999.3, 4_999.4, 4_999.5]);
    check(&even, &less, BetterWhen::Higher, Verdict::NoDifferenceShown, "less than 5 %");
    check(&even, &less.map(|it| it - 5.0), BetterWhen::Higher, Verdict::Worse, "-0.1 %");
}

#[test]
fn too_few_runs_cannot_tell() {
    let needed = "take at least 4 of each";
    check(&[100.0], &[50.0], BetterWhen::Higher, Verdict::CannotTell, needed);
    check(&STEADY[..3], &[50.0, 51.0, 49.0], BetterWhen::Higher, Verdict::CannotTell, needed);
    check(&STEADY[..4], &scaled(0.5)[..4], BetterWhen::Higher, Verdict::Worse, "-50");
    check(&STEADY, &[], BetterWhen::Higher, Verdict::CannotTell, "no run");
    check(&STEADY, &[0.0; 6], BetterWhen::Higher, Verdict::CannotTell, "no ratio");
    check(&[f64::NAN; 6], &STEADY, BetterWhen::Higher, Verdict::CannotTell, "no ratio");
}

#[test]
fn wide_intervals_say_how_many_runs_would_tell() {
    let wild = [100.0, 140.0, 75.0, 120.0, 60.0, 110.0];
    let mut noise = Noise::new(7);
    let order = RunOrder::Mixed;
    let options = CompareOptions { order, ..CompareOptions::new(BetterWhen::Higher) };
    let found = compare(&wild, &STEADY, &options);
    assert_eq!(found.verdict, Verdict::CannotTell);
    let n = found.n_runs_needed.unwrap();
    assert!(n > 6 && found.reason.contains(&format!("about {n} runs")), "{found:?}");
    // What is asked for would do: sets that vary alike, one of them 5 % lower.
    let stdev = analysis::series::stdev(&wild).unwrap() / 100.0;
    let mut set = |level: f64| -> Vec<f64> {
        (0..n).map(|_| level * (stdev * noise.normal()).exp()).collect()
    };
    let n_reported = (0..100)
        .filter(|_| {
            let (from, to) = (set(100.0), set(95.0));
            compare(&from, &to, &options).verdict == Verdict::Worse
        })
        .count();
    assert!(n_reported >= 50, "{n} runs of each tell {n_reported} of 100");
}

#[test]
fn failing_takes_a_shown_loss_of_the_limit() {
    let fails = |by: f64, limit: f64| {
        let found = compare(&STEADY, &scaled(by), &options(RunOrder::Mixed));
        found.fails(limit, BetterWhen::Higher)
    };
    assert!(fails(0.9, 0.05));
    assert!(fails(0.9, 0.1), "a loss of 10 % is not known to be less");
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
    for (idx, order) in [RunOrder::Mixed, RunOrder::Pairs].iter().cycle().take(200).enumerate() {
        let n = 6 + idx % 4;
        let [from, to] = pair(&mut noise, Taken::Pairs, Host::Alike(0.0), n, 0.97);
        let there = compare(&from, &to, &options(*order));
        let back = compare(&to, &from, &options(*order));
        let (there, back) = (there.interval.unwrap(), back.interval.unwrap());
        assert!((there.low * back.high - 1.0).abs() < 1e-9);
        assert!((there.high * back.low - 1.0).abs() < 1e-9);
    }
}
