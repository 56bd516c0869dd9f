//! Two sets of runs, figure by figure.

mod common;

use std::slice::from_ref;

use analysis::alike::DifferenceKind;
use analysis::compare::{CompareOptions, Verdict, compare_series};
use analysis::sampled::Sampled;
use analysis::sets::{Basis, Row, SetOptions, compare_sets};
use analysis::whole::compare_records;
use common::Noise;
use record::{
    CurvePointRecord, CurveRecord, Figure, Figures, Interval, IntervalDir, IntervalLatency,
    JobRecord, ListedLatencies, ListedLatency, LoadLineRecord, PerDirRecord, Record,
};

const N_SECONDS: u64 = 60;

/// A figure of seconds that are equally long.
fn even(samples: &[f64]) -> Sampled {
    Sampled::from(samples)
}

/// A run of one job of reads: `iops`, each in `latency_ns`, with seconds that vary by 1 %.
fn run(iops: f64, latency_ns: f64, seed: u64) -> Record {
    let mut noise = Noise::new(seed);
    let mut record = empty(seed);
    let mut job = JobRecord { name: "oltp".to_owned(), n_workers: 1, ..JobRecord::default() };
    job.options = vec![("bs".to_owned(), "4k".to_owned())];
    for second in 1..=N_SECONDS {
        let n_ios = (iops * (1.0 + 0.01 * noise.normal())) as u64;
        let ns = (latency_ns * (1.0 + 0.02 * noise.normal())) as u64;
        let read = &mut job.dirs.read;
        read.n_ios += n_ios;
        read.io_bytes += n_ios * 4096;
        read.clat.record_n(ns, n_ios - n_ios / 50);
        read.clat.record_n(ns * 4, n_ios / 50);
        record.intervals.push(interval(second, n_ios, ns));
    }
    job.dirs.read.runtime_ns = N_SECONDS * 1_000_000_000;
    record.jobs = vec![job];
    record
}

fn interval(second: u64, n_ios: u64, ns: u64) -> Interval {
    let read = IntervalDir {
        n_ios,
        io_bytes: n_ios * 4096,
        latency: IntervalLatency::each(|figure| {
            let place = Figure::OF_INTERVAL.iter().position(|it| *it == figure).unwrap();
            Some(ns * [1, 4, 5][place])
        }),
        ..IntervalDir::default()
    };
    Interval {
        step_idx: 0,
        end_ms: second * 1000,
        length_ms: 1000,
        ramp: false,
        dirs: PerDirRecord { read, ..PerDirRecord::default() },
        ..Interval::default()
    }
}

fn empty(seed: u64) -> Record {
    Record {
        plimsoll_version: "0.1.0".to_owned(),
        started_unix_ms: seed * 1000,
        ..Record::default()
    }
}

fn set(n: u64, iops: f64, seed: u64) -> Vec<Record> {
    let mut noise = Noise::new(seed);
    let level = |noise: &mut Noise| iops * (1.0 + 0.01 * noise.normal());
    (0..n).map(|idx| run(level(&mut noise), 1e9 / iops, seed + idx)).collect()
}

#[track_caller]
fn row<'a>(rows: &'a [Row], dir: &str, figure: &str) -> &'a Row {
    let found = rows.iter().find(|row| row.dir == dir && row.figure.name() == figure);
    found.unwrap_or_else(|| panic!("{dir} {figure} in {rows:#?}"))
}

fn figures(rows: &[Row]) -> Vec<String> {
    rows.iter().map(|row| row.figure.name()).collect()
}

#[test]
fn repeats_are_compared_figure_by_figure() {
    let found = compare_sets(&set(6, 5000.0, 1), &set(6, 4500.0, 100), &SetOptions::default());
    assert!(found.is_alike(), "{:?}", found.differences);
    let expected = ["iops", "bytes_per_s", "mean_ns", "p50_ns", "p95_ns", "p99_ns", "p99_9_ns"];
    assert_eq!(figures(&found.rows), expected);
    for (figure, ratio) in [("iops", 0.9), ("bytes_per_s", 0.9), ("p50_ns", 1.0 / 0.9)] {
        let row = row(&found.rows, "read", figure);
        assert_eq!((row.basis, row.comparison.verdict), (Basis::Runs, Verdict::Worse), "{row:?}");
        assert!((row.comparison.ratio.unwrap() - ratio).abs() < 0.02, "{row:?}");
    }
}

/// A percentile that a few operations decide is an accident, on whichever side they are few.
#[test]
fn a_percentile_of_too_few_operations_is_undecided() {
    let (long, short) = (set(6, 500.0, 1), set(6, 50.0, 100));
    for (from, to) in [(&long, &short), (&short, &long)] {
        let found = compare_sets(from, to, &SetOptions::default());
        let expected = ["iops", "bytes_per_s", "mean_ns", "p50_ns", "p95_ns", "p99_ns", "p99_9_ns"];
        assert_eq!(figures(&found.rows), expected);
        assert_ne!(row(&found.rows, "read", "p99_ns").comparison.verdict, Verdict::CannotTell);
        let thin = &row(&found.rows, "read", "p99_9_ns").comparison;
        assert_eq!((thin.verdict, thin.ratio, thin.n_baseline), (Verdict::CannotTell, None, 6));
        let fewest = short.iter().map(|run| run.jobs[0].dirs.read.n_ios).min().unwrap();
        let expected = format!(
            "a run has {fewest} operations; 10000 are needed for 10 of them to lie beyond this \
             percentile: measure at least 4 times as long"
        );
        assert_eq!(thin.reason, expected);
    }
}

fn curve_of_one_point(seed: u64) -> CurveRecord {
    let point = CurvePointRecord {
        load: 100.0,
        figures: Figures::default()
            .with(Figure::Iops, 100.0)
            .with(Figure::Mean, 1e6)
            .with(Figure::P99, 2e6 + seed as f64),
        ..CurvePointRecord::default()
    };
    let line = LoadLineRecord { load: Some(100.0), ..LoadLineRecord::default() };
    CurveRecord { points: vec![point], line, ..CurveRecord::default() }
}

/// So is that of a curve's points, whose operations are those of their steps.
#[test]
fn a_percentile_of_a_point_with_too_few_operations_is_undecided() {
    let curves = |n_ios: u64| -> Vec<Record> {
        let of_run = |seed: u64| {
            let mut record = run(100.0, 1e6, seed);
            record.jobs[0].dirs.read.n_ios = n_ios;
            record.curve = Some(curve_of_one_point(seed));
            record
        };
        (1..=4).map(of_run).collect()
    };
    let p99 = |from: u64, to: u64| {
        let found = compare_records(&curves(from), &curves(to), &SetOptions::default());
        let is_p99 = |row: &&Row| row.step == "at load 100" && row.figure.name() == "p99_ns";
        found.rows.iter().find(is_p99).expect("a row").comparison.clone()
    };
    assert_eq!(p99(5_000, 5_000).verdict, Verdict::NoDifferenceShown);
    let thin = p99(5_000, 500);
    assert_eq!((thin.verdict, thin.ratio), (Verdict::CannotTell, None));
    assert!(thin.reason.starts_with("a run has 500 operations; 1000 are needed"), "{thin:?}");
}

#[test]
fn one_run_each_is_compared_by_its_seconds() {
    let options = SetOptions::default();
    let found = compare_sets(&[run(5000.0, 2e5, 1)], &[run(4500.0, 2e5, 2)], &options);
    let iops = row(&found.rows, "read", "iops");
    assert_eq!((iops.basis, iops.comparison.verdict), (Basis::Seconds, Verdict::Worse));
    let p99 = row(&found.rows, "read", "second_p99_ns");
    assert_eq!(p99.comparison.verdict, Verdict::NoDifferenceShown, "{p99:?}");
    // What seconds cannot show is not claimed, and what would be needed is said.
    let mean = row(&found.rows, "read", "mean_ns");
    assert_eq!((mean.basis, mean.comparison.verdict), (Basis::Runs, Verdict::CannotTell));
    assert!(mean.comparison.reason.contains("take at least 4 of each"), "{mean:?}");
}

/// Seconds that resemble their neighbours count for less; an equal pair is rarely called worse.
#[test]
fn equal_runs_are_rarely_called_worse_however_their_seconds_hang_together() {
    const N_PAIRS: u64 = 1_000;
    let options = CompareOptions::new(analysis::compare::BetterWhen::Higher);
    let series = |seed| -> Sampled {
        let noise = Noise::new(seed).correlated(120, 0.5);
        even(&noise.iter().map(|value| 1000.0 * (1.0 + 0.02 * value)).collect::<Vec<f64>>())
    };
    let is_worse = |seed: &u64| {
        let found = compare_series(&series(2 * seed), &series(2 * seed + 1), &options);
        found.verdict == Verdict::Worse
    };
    let share = (0..N_PAIRS).filter(is_worse).count() as f64 / N_PAIRS as f64;
    assert!(share <= 0.06, "{share} of equal pairs are called worse");
}

#[test]
fn too_short_a_run_cannot_tell() {
    let options = CompareOptions::new(analysis::compare::BetterWhen::Higher);
    let found = compare_series(&even(&[1.0, 2.0, 3.0]), &even(&[1.0, 2.0, 3.0]), &options);
    assert_eq!(found.verdict, Verdict::CannotTell);
    assert!(found.reason.starts_with("too few seconds"), "{}", found.reason);
    let none = compare_series(&even(&[0.0; 60]), &even(&[1.0; 60]), &options);
    assert_eq!((none.verdict, none.ratio), (Verdict::CannotTell, None));
    let same = compare_series(&even(&[5.0; 60]), &even(&[5.0; 60]), &options);
    assert_eq!(same.verdict, Verdict::NoDifferenceShown, "{same:?}");
}

fn differs(change: impl Fn(&mut Record)) -> Vec<(DifferenceKind, String)> {
    let (from, mut to) = (run(100.0, 2e5, 1), run(100.0, 2e5, 1));
    change(&mut to);
    let found = compare_sets(&[from], &[to], &SetOptions::default());
    found.differences.into_iter().map(|found| (found.kind, found.what)).collect()
}

#[test]
fn values_that_mean_the_same_are_no_difference() {
    let option = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(differs(|record| record.jobs[0].options = vec![option("bs", "4096")]), []);
    assert_eq!(differs(|record| record.jobs[0].options.clear()), [], "4k is the default");
    assert_eq!(differs(|record| record.jobs[0].options.push(option("direct", "0"))), []);
    assert_eq!(differs(|record| record.jobs[0].name = "other".to_owned()), [], "the only job");
    assert_eq!(differs(|record| record.host.name = "there".to_owned()), [], "one is not known");
    let found = differs(|record| record.jobs[0].options = vec![option("bs", "8k")]);
    assert_eq!(found, [(DifferenceKind::Workload, "bs".to_owned())]);
    let found = differs(|record| record.jobs[0].n_workers = 2);
    assert_eq!(found, [(DifferenceKind::Workload, "workers".to_owned())]);
}

#[test]
fn jobs_are_matched_by_name_and_added_up() {
    let two = |names: [&str; 2]| {
        let mut record = run(100.0, 2e5, 1);
        record.jobs.push(record.jobs[0].clone());
        for (job, name) in record.jobs.iter_mut().zip(names) {
            name.clone_into(&mut job.name);
        }
        record
    };
    let found = compare_sets(&[two(["a", "b"])], &[two(["b", "a"])], &SetOptions::default());
    assert!(found.is_alike(), "{:?}", found.differences);
    let jobs: Vec<&str> = found.rows.iter().map(|row| row.job.as_str()).collect();
    assert!(jobs.starts_with(&[""]) && jobs.contains(&"a") && jobs.contains(&"b"), "{jobs:?}");
    let total = row(&found.rows, "read", "iops");
    assert!((total.comparison.ratio.unwrap() - 1.0).abs() < 1e-9);
    assert_eq!((total.job.as_str(), total.basis), ("", Basis::Seconds));
    // The seconds do not tell one job from the other.
    let a = found.rows.iter().find(|row| row.job == "a").unwrap();
    assert_eq!(a.basis, Basis::Runs);
    let found = compare_sets(&[two(["a", "b"])], &[two(["a", "c"])], &SetOptions::default());
    let what: Vec<&str> = found.differences.iter().map(|found| found.what.as_str()).collect();
    assert_eq!(what, ["job `b`", "job `c`"]);
    assert!(found.rows.iter().all(|row| row.job != "b"));
}

#[test]
fn a_set_that_is_not_of_one_kind_is_reported() {
    let mut set = set(4, 100.0, 1);
    set[2].jobs[0].queue_depth = 9;
    set[3].host.kernel = "other".to_owned();
    let found = compare_sets(&set, &set[..1], &SetOptions::default());
    assert!(!found.is_alike());
    let what: Vec<&str> = found.differences.iter().map(|found| found.what.as_str()).collect();
    assert_eq!(what, ["iodepth within the baseline"]);
}

#[test]
fn listed_percentiles_are_compared_as_far_as_they_are_known() {
    let imported = |p99: u64, percentiles: &[f64]| {
        let mut record = run(1000.0, 2e5, 1);
        record.intervals.clear();
        let read = &mut record.jobs[0].dirs.read;
        read.clat = hist::Histogram::new();
        let clat = ListedLatency {
            n: read.n_ios,
            mean_ns: 1000.0,
            percentiles: percentiles.iter().map(|percentile| (*percentile, p99)).collect(),
            ..ListedLatency::default()
        };
        read.listed = Some(ListedLatencies { clat: Some(clat), ..ListedLatencies::default() });
        record
    };
    let from = imported(2_000, &[50.0, 99.0]);
    let to = imported(3_000, &[50.0, 99.0]);
    let found = compare_sets(from_ref(&from), from_ref(&to), &SetOptions::default());
    assert_eq!(figures(&found.rows), ["iops", "bytes_per_s", "mean_ns", "p50_ns", "p99_ns"]);
    let p99 = &row(&found.rows, "read", "p99_ns").comparison;
    assert_eq!(p99.verdict, Verdict::CannotTell);
    assert!((p99.ratio.unwrap() - 1.5).abs() < 1e-9);
    let many = |record: &Record| vec![record.clone(); 4];
    let found = compare_sets(&many(&from), &many(&to), &SetOptions::default());
    assert_eq!(row(&found.rows, "read", "p99_ns").comparison.verdict, Verdict::Worse);
    // A percentile that one side does not list has no ratio.
    let bare = imported(3_000, &[50.0]);
    let found = compare_sets(&[from], &[bare], &SetOptions::default());
    let p99 = &row(&found.rows, "read", "p99_ns").comparison;
    assert_eq!(
        (p99.ratio, p99.reason.as_str()),
        (None, "the results of the candidate do not contain it")
    );
}

/// Runs of 40 s: an equal pair is rarely called worse, and for most pairs a verdict is given.
#[track_caller]
fn check_short_runs(autocorrelation: f64, reported_min: f64) {
    const N_PAIRS: u64 = 1_000;
    let options = CompareOptions::new(analysis::compare::BetterWhen::Higher);
    let series = |seed| -> Sampled {
        let noise = Noise::new(seed).correlated(40, autocorrelation);
        even(&noise.iter().map(|value| 1000.0 * (1.0 + 0.02 * value)).collect::<Vec<f64>>())
    };
    let verdicts: Vec<Verdict> = (0..N_PAIRS)
        .map(|seed| compare_series(&series(2 * seed), &series(2 * seed + 1), &options).verdict)
        .collect();
    let share = |of: &dyn Fn(&Verdict) -> bool| {
        verdicts.iter().filter(|verdict| of(verdict)).count() as f64 / N_PAIRS as f64
    };
    let worse = share(&|verdict| *verdict == Verdict::Worse);
    assert!(worse <= 0.06, "{worse} of equal pairs are called worse");
    let reported = share(&|verdict| *verdict != Verdict::CannotTell);
    assert!(reported >= reported_min, "{reported} of pairs are decided");
}

#[test]
fn runs_of_forty_seconds_are_decided() {
    check_short_runs(0.0, 0.95);
    check_short_runs(0.3, 0.95);
    check_short_runs(0.6, 0.8);
}

#[test]
fn a_short_run_says_how_long_it_should_be() {
    let options = CompareOptions::new(analysis::compare::BetterWhen::Higher);
    // A slow wave: each second is nearly the one before.
    let wave = |phase: f64| -> Sampled {
        let second = |at| 1000.0 + 50.0 * (f64::from(at) / 8.0 + phase).sin();
        even(&(0..40).map(second).collect::<Vec<f64>>())
    };
    let found = compare_series(&wave(0.0), &wave(1.0), &options);
    assert_eq!(found.verdict, Verdict::CannotTell);
    assert!(found.reason.contains("measure for 11"), "{}", found.reason);
}

/// In virtual time one seed gives one run, whenever it is made; another seed makes another one,
/// also where all its I/Os took the same.
#[test]
fn copies_of_a_run_count_once() {
    let made = |iops: f64, seed: u64, at: u64| {
        let mut record = run(iops, 1e6, 7);
        record.started_unix_ms = at;
        record.jobs[0].started_unix_ms = at;
        record.jobs[0].seed = seed;
        record
    };
    let six = |iops: f64, seed: fn(u64) -> u64| -> Vec<Record> {
        (0..6).map(|idx| made(iops, seed(idx), 1000 * (1 + idx))).collect()
    };
    let compared = |seed: fn(u64) -> u64| {
        compare_records(&six(5000.0, seed), &six(4500.0, seed), &SetOptions::default())
    };
    let copies = compared(|_| 1);
    let basis = row(&copies.rows, "read", "iops").basis;
    assert_eq!(basis, Basis::Seconds, "one run stands on each side");
    let reported = |name: &str| {
        format!("5 of the 6 runs of the {name} are copies of another one, and do not count")
    };
    assert_eq!(copies.remarks, [reported("baseline"), reported("candidate")]);
    assert!(copies.differences.is_empty(), "{:?}", copies.differences);
    let others = compared(|idx| idx);
    assert_eq!(row(&others.rows, "read", "iops").basis, Basis::Runs);
    assert!(others.remarks.is_empty(), "{:?}", others.remarks);
}

/// It is worth a note, and no difference.
#[test]
fn what_stands_on_both_sides_is_said() {
    let made = |seed: u64| {
        let mut record = run(5000.0, 1e6, 7);
        record.jobs[0].seed = seed;
        record
    };
    let remarks = |from: &[u64], to: &[u64]| {
        let side = |seeds: &[u64]| seeds.iter().map(|seed| made(*seed)).collect::<Vec<Record>>();
        let found = compare_records(&side(from), &side(to), &SetOptions::default());
        assert!(found.differences.is_empty(), "{:?}", found.differences);
        found.remarks
    };
    assert_eq!(remarks(&[1], &[1]), ["the candidate is a measurement of the baseline itself"]);
    let two_of_three = "2 of the 3 measurements of the candidate are the baseline's";
    assert_eq!(remarks(&[1, 2, 4], &[2, 3, 1]), [two_of_three]);
    assert!(remarks(&[1], &[2]).is_empty());
}

/// Makes the interval at `idx` longer: the host paused, and nothing completed meanwhile. What comes
/// after is later by as much.
fn paused(mut record: Record, idx: usize, by_ms: u64) -> Record {
    record.intervals[idx].length_ms += by_ms;
    for interval in &mut record.intervals[idx..] {
        interval.end_ms += by_ms;
    }
    record.jobs[0].dirs.read.runtime_ns += by_ms * 1_000_000;
    record
}

/// A run says of itself what it did, however long one of its seconds was.
#[track_caller]
fn check_long_second(by_ms: u64, idx: usize) {
    let record = paused(run(630.0, 2e5, 1), idx, by_ms);
    let rate = record.jobs[0].dirs.read.rate_iops();
    let found = compare_sets(from_ref(&record), from_ref(&record), &SetOptions::default());
    let iops = &row(&found.rows, "read", "iops").comparison;
    assert_eq!((iops.baseline_median, iops.candidate_median), (Some(rate), Some(rate)));
    assert!(iops.interval.unwrap().contains(1.0), "{iops:?}");
    // A pause that matters leaves the rate doubtful; a long second by itself does not.
    if by_ms < 1_000 {
        assert_eq!(iops.verdict, Verdict::NoDifferenceShown, "{iops:?}");
    }
    // Beside a run without: the rate differs by what the pause took, 60 s of 60 s and the pause.
    let even = run(630.0, 2e5, 1);
    let found = compare_sets(&[even], &[record], &SetOptions::default());
    let ratio = row(&found.rows, "read", "iops").comparison.ratio.unwrap();
    let expected = 60_000.0 / (60_000 + by_ms) as f64;
    assert!((ratio - expected).abs() < 1e-3, "{ratio} for {expected}");
    let p99 = &row(&found.rows, "read", "second_p99_ns").comparison;
    assert!((p99.ratio.unwrap() - 1.0).abs() < 0.01, "{p99:?}");
}

#[test]
fn a_long_second_weighs_as_long_as_it_was_and_no_other_is_lost() {
    for idx in [0, 30, 58, 59] {
        check_long_second(110, idx);
        check_long_second(151, idx);
        check_long_second(1_650, idx);
        check_long_second(2_000, idx);
    }
}

/// A last second that the end cut off is not compared; the same within the run is.
#[test]
fn only_a_last_interval_that_was_cut_off_is_left_out() {
    let lengths = |change: &dyn Fn(&mut Record)| {
        let mut record = run(1000.0, 2e5, 1);
        change(&mut record);
        let found = analysis::sampled::measured(&record, 0);
        found.iter().map(|it| it.length_ms).sum::<u64>()
    };
    assert_eq!(lengths(&|_| ()), 60_000);
    assert_eq!(lengths(&|record| record.intervals[59].length_ms = 300), 59_000);
    assert_eq!(lengths(&|record| record.intervals[59].length_ms = 950), 59_950);
    assert_eq!(lengths(&|record| record.intervals[20].length_ms = 300), 59_300);
    assert_eq!(lengths(&|record| record.intervals[20].length_ms = 3_000), 62_000);
    assert_eq!(lengths(&|record| record.intervals[0].ramp = true), 59_000);
}

#[track_caller]
fn check_sampled(figures: &[(u64, f64)], mean: f64, samples: &[f64]) {
    let found = Sampled::of(figures);
    assert!((found.mean - mean).abs() < 1e-9, "{found:?}");
    assert_eq!(found.samples, samples);
}

#[test]
fn samples_stand_for_equal_times() {
    check_sampled(&[(1000, 4.0), (1000, 6.0)], 5.0, &[4.0, 6.0]);
    check_sampled(&[(1000, 4.0), (1110, 4.0), (998, 4.0)], 4.0, &[4.0, 4.0, 4.0]);
    check_sampled(&[(1000, 8.0), (3000, 0.0), (1000, 2.0)], 2.0, &[8.0, 0.0, 0.0, 0.0, 2.0]);
    check_sampled(&[(1000, 1.0), (400, 1.0), (600, 6.0), (1000, 1.0)], 2.0, &[1.0, 4.0, 1.0]);
    check_sampled(&[], 0.0, &[]);
    check_sampled(&[(0, 1.0)], 1.0, &[1.0]);
    // A made-up record takes no memory.
    let endless = Sampled::of(&[(1, 1.0), (1, 1.0), (u64::MAX, 1.0)]);
    assert_eq!(endless.samples.len(), 2 + 3600);
}
