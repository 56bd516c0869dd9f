//! What is drawn is what the record holds: every point, every gap, every stall.

#![expect(clippy::float_cmp, reason = "what is drawn is what was measured, to the last bit")]

mod common;

use common::{dir, histogram, job, of_curve, of_seconds, of_steps, run, second};
use record::{
    Binds, DirRecord, Figure, Figures, GateRecord, Interval, IntervalResponse, Record,
    ScaleOutPointRecord, ScaleOutRecord, SeriesRecord, StepPurpose, StepValidity,
    SuiteFigureRecord, SuiteRecord, SuiteRowRecord, SuiteStepRecord, Verdict,
};
use report::{ChartSpec, Scale, Series, Set, SpanKind, Subject, Thinned, charts};

fn charts_of(run: export::Run) -> Vec<ChartSpec> {
    charts(&Subject::of_run(run))
}

#[track_caller]
fn chart<'a>(charts: &'a [ChartSpec], id: &str) -> &'a ChartSpec {
    let ids: Vec<&str> = charts.iter().map(|chart| chart.id.as_str()).collect();
    charts.iter().find(|chart| chart.id == id).unwrap_or_else(|| panic!("no {id} in {ids:?}"))
}

#[track_caller]
fn series<'a>(chart: &'a ChartSpec, name: &str) -> &'a Series {
    let names: Vec<&str> = chart.series.iter().map(|series| series.name.as_str()).collect();
    let found = chart.series.iter().find(|series| series.name == name);
    found.unwrap_or_else(|| panic!("no {name} in {names:?}"))
}

#[test]
fn every_second_is_a_point_with_its_own_figures() {
    let seconds: Vec<Interval> = (0..60).map(|n| second(n, 1000 + n, 200_000 + n * 1000)).collect();
    let charts = charts_of(of_seconds(seconds.clone()));
    let iops = chart(&charts, "r1-iops");
    let reads = series(iops, "reads");
    assert_eq!(reads.x, (1..=60).map(f64::from).collect::<Vec<_>>());
    let expected: Vec<_> = seconds.iter().map(|it| Some(it.dirs.read.n_ios as f64)).collect();
    assert_eq!(reads.y, expected);
    assert_eq!(iops.n_drawn(), 60);
    assert_eq!((iops.thinned, reads.ends.len()), (None, 0));
    let p99 = series(chart(&charts, "r1-latency"), "read p99");
    let expected: Vec<_> =
        seconds.iter().map(|it| it.dirs.read.latency.ns(Figure::P99).map(|ns| ns as f64)).collect();
    assert_eq!(p99.y, expected);
    assert_eq!(iops.table.rows.len(), 60, "the table has what is drawn");
}

#[test]
fn a_second_without_io_has_a_rate_of_zero_and_no_latency() {
    let seconds = (0..10).map(|n| second(n, if n == 4 { 0 } else { 500 }, 100_000)).collect();
    let charts = charts_of(of_seconds(seconds));
    assert_eq!(series(chart(&charts, "r1-iops"), "reads").y[4], Some(0.0));
    assert_eq!(series(chart(&charts, "r1-latency"), "read p50").y[4], None);
}

#[test]
fn what_was_not_sampled_is_a_gap_and_not_zero() {
    let seconds = (0..10).chain(30..40).map(|n| second(n, 500, 100_000)).collect();
    let charts = charts_of(of_seconds(seconds));
    let reads = series(chart(&charts, "r1-iops"), "reads");
    assert_eq!(reads.y.iter().filter(|y| y.is_none()).count(), 1);
    let gap = reads.y.iter().position(Option::is_none).unwrap();
    assert_eq!((reads.x[gap - 1], reads.x[gap], reads.x[gap + 1]), (10.0, 30.0, 31.0));
    assert!(reads.y.iter().flatten().all(|y| *y == 500.0));
}

#[test]
fn a_stall_of_one_second_in_hours_stays_visible() {
    for length in [3600, 20_000] {
        for stalled in [0, 1, 1799, 3599] {
            let slow = |n| if n == stalled { (0, 0) } else { (800, 300_000) };
            let mut seconds: Vec<Interval> = (0..length)
                .map(|n| {
                    let (n_ios, ns) = slow(n);
                    second(n, n_ios, ns)
                })
                .collect();
            let after = stalled as usize + 1;
            if after < seconds.len() {
                seconds[after] = second(stalled + 1, 800, 3_000_000_000);
            }
            let charts = charts_of(of_seconds(seconds));
            let iops = chart(&charts, "r1-iops");
            let reads = series(iops, "reads");
            assert!(reads.x.len() <= 400, "{} points", reads.x.len());
            let thinned = Thinned { n_samples: length as usize, n_points: reads.x.len() };
            assert_eq!(iops.thinned, Some(thinned));
            assert!(iops.notes[0].contains(&format!("{length} seconds")), "{:?}", iops.notes);
            let lowest = reads.ends.iter().flatten().map(|ends| ends.0).fold(f64::MAX, f64::min);
            assert_eq!(lowest, 0.0, "stall at {stalled} of {length}");
            if after < length as usize {
                let max = series(chart(&charts, "r1-latency"), "read max");
                assert!(max.y.contains(&Some(3e9)), "stall at {stalled} of {length}");
            }
            // What was carried is the same, however few points say it.
            let table = &iops.table;
            let n: f64 = table.rows.iter().map(|row| number(&row[1])).sum();
            assert_eq!(n, length as f64);
        }
    }
}

/// Makes second `at` longer by so much: nothing completes meanwhile, and what follows is later.
fn paused(seconds: &mut [Interval], at: usize, by_ms: u64) {
    seconds[at].length_ms += by_ms;
    for second in &mut seconds[at..] {
        second.end_ms += by_ms;
    }
}

/// A pause of the host makes one interval longer than the others: it is drawn as long as it was,
/// and no other is lost.
#[track_caller]
fn check_pause(by_ms: u64, at: usize) {
    let mut seconds: Vec<Interval> = (0..40).map(|n| second(n, 800, 300_000)).collect();
    paused(&mut seconds, at, by_ms);
    let end_s = seconds[at].end_ms as f64 / 1000.0;
    let charts = charts_of(of_seconds(seconds));
    let iops = chart(&charts, "r1-iops");
    let reads = series(iops, "reads");
    let slow = 800.0 * 1000.0 / (1000 + by_ms) as f64;
    let found = reads.x.iter().zip(&reads.y).find(|(x, _)| **x == end_s).expect("its end");
    assert!((found.1.unwrap() - slow).abs() < 1e-3, "{found:?}");
    // The others are what they were, at their own time.
    assert_eq!(reads.y.iter().filter(|y| **y == Some(800.0)).count(), 39);
    assert_eq!(reads.x.last(), Some(&(40.0 + by_ms as f64 / 1000.0)));
    assert_eq!(iops.table.rows.len(), 40);
    let is_long = by_ms >= 500;
    let is_flat = reads.x.iter().zip(&reads.y).any(|(x, y)| *x == at as f64 && *y == *found.1);
    assert_eq!(is_flat, is_long, "{:?}", reads.x);
    assert_eq!(iops.notes.iter().any(|note| note.starts_with("A flat stretch")), is_long);
    for id in ["r1-bytes", "r1-latency", "r1-heat", "r1-steady"] {
        chart(&charts, id);
    }
    let heat = chart(&charts, "r1-heat").cells.as_ref().unwrap();
    let counted: f64 = heat.values.iter().flatten().flatten().sum();
    assert_eq!(counted, 40.0 * 800.0, "every operation is in a cell");
    assert_eq!(heat.x.len(), 41);
}

#[test]
fn a_long_interval_is_drawn_as_long_as_it_was_and_hides_no_other() {
    for at in [0, 1, 20, 39] {
        for by_ms in [110, 151, 1_650, 2_000] {
            check_pause(by_ms, at);
        }
    }
}

#[test]
fn a_short_run_with_a_stall_is_drawn() {
    let mut seconds: Vec<Interval> = (0..8).map(|n| second(n, 800, 300_000)).collect();
    paused(&mut seconds, 3, 2_000);
    let charts = charts_of(of_seconds(seconds));
    assert_eq!(series(chart(&charts, "r1-iops"), "reads").x.len(), 9);
}

fn number(cell: &report::Cell) -> f64 {
    match cell {
        report::Cell::Number(value, _) => *value,
        other => panic!("{other:?} is no number"),
    }
}

#[test]
fn points_do_not_mix_ramp_and_measurement_or_steps() {
    let mut seconds: Vec<Interval> = (0..2000).map(|n| second(n, 100, 100_000)).collect();
    for (n, interval) in seconds.iter_mut().enumerate() {
        interval.ramp = n < 3;
        interval.step_idx = u32::from(n >= 1003);
        interval.dirs.read.n_ios = if n < 3 { 10 } else { 100 * u64::from(n >= 1003) + 100 };
    }
    let charts = charts_of(of_seconds(seconds));
    let iops = chart(&charts, "r1-iops");
    let reads = series(iops, "reads");
    let mut levels: Vec<i64> = reads.y.iter().flatten().map(|y| *y as i64).collect();
    levels.dedup();
    assert_eq!(levels, [10, 100, 200]);
    let ramp = iops.spans.iter().find(|span| span.text == "ramp").unwrap();
    assert_eq!((ramp.from, ramp.to, ramp.kind), (0.0, 3.0, SpanKind::Left));
}

#[test]
fn warm_up_and_steady_window_are_those_of_the_record() {
    let mut run = of_seconds((0..120).map(|n| second(n, 500, 100_000)).collect());
    let gate = |verdict| GateRecord {
        name: "steady".to_owned(),
        verdict,
        reason: String::new(),
        next_step: None,
        figures: std::collections::BTreeMap::new(),
    };
    let mut judged = StepValidity {
        warm_up_ms: Some(20_000),
        window_ms: Some((20_000, 120_000)),
        gates: vec![gate(Verdict::Passed)],
        ..StepValidity::default()
    };
    judged.rule.n_rounds = 5;
    judged.rule.range_pct = 20.0;
    judged.rule.slope_pct = 10.0;
    run.record.validity = vec![judged];
    let all = charts_of(run.clone());
    let spans = &chart(&all, "r1-iops").spans;
    let found: Vec<_> = spans.iter().map(|it| (it.text.as_str(), it.from, it.to)).collect();
    assert_eq!(found, [("warm-up", 0.0, 20.0), ("steady", 20.0, 120.0)]);
    let rounds = chart(&all, "r1-steady");
    assert_eq!(rounds.series[0].y, vec![Some(500.0); 6], "one round of 20 s before the window");
    assert_eq!((rounds.spans[0].from, rounds.spans[0].to), (1.5, 6.5));
    assert_eq!(series(rounds, "fitted line").x, [2.0, 6.0]);
    run.record.validity[0].gates = vec![gate(Verdict::Failed)];
    run.record.validity[0].gates[0].reason = "response p99 rose by 40.0 %".to_owned();
    let charts = charts_of(run);
    let about = &chart(&charts, "r1-steady").about;
    assert!(about.starts_with("Not steady: response p99 rose by 40.0 %. Rounds 2 to"), "{about}");
    let spans = &chart(&charts, "r1-iops").spans;
    assert!(spans.iter().all(|span| span.kind != SpanKind::Kept), "not steady, not shaded");
}

#[test]
fn the_heat_map_holds_every_operation() {
    let seconds: Vec<Interval> = (0..500)
        .map(|n| second(n, 40 + n % 7, if n == 250 { 2_000_000_000 } else { 150_000 + n * 700 }))
        .collect();
    let n_ios: u64 = seconds.iter().map(|it| it.dirs.read.n_ios).sum();
    let charts = charts_of(of_seconds(seconds));
    let heat = chart(&charts, "r1-heat");
    let cells = heat.cells.as_ref().unwrap();
    let drawn: f64 = cells.values.iter().flatten().flatten().sum();
    assert_eq!(drawn, n_ios as f64);
    assert!(cells.values.iter().all(|row| row.len() == cells.x.len() - 1));
    assert_eq!(cells.values.len(), cells.y.len() - 1);
    assert!(cells.x.windows(2).all(|pair| pair[0] < pair[1]), "columns follow on each other");
    assert!(cells.y.windows(2).all(|pair| pair[0] < pair[1]), "rows follow on each other");
    let highest = cells.values.last().unwrap();
    assert_eq!(highest.iter().flatten().count(), 1, "the one slow second");
    assert!(cells.values.iter().flatten().all(|value| *value != Some(0.0)), "empty is no colour");
}

#[test]
fn a_record_without_counts_has_no_heat_map() {
    let mut run = of_seconds((0..10).map(|n| second(n, 5, 1000)).collect());
    for interval in &mut run.record.intervals {
        interval.dirs.read.latency_counts = record::LatencyCounts::default();
    }
    assert!(charts_of(run).iter().all(|chart| chart.cells.is_none()));
}

#[test]
fn percentiles_end_in_the_slowest_operation() {
    let latencies = histogram((1..=100_000).map(|n| n * 1000));
    let mut read = dir(100_000, 4096, 10, latencies.clone());
    read.response = Some(histogram((1..=100_000).map(|n| n * 2000)));
    let record =
        Record { jobs: vec![job("a", 0, read, DirRecord::default())], ..Record::default() };
    let charts = charts_of(run("a", record));
    let plot = chart(&charts, "r1-percentiles-0");
    let service = series(plot, "read service time");
    assert_eq!(service.y.last(), Some(&Some(1e8)));
    assert_eq!(service.texts.last().unwrap(), "max");
    let at_99 = service.x.iter().position(|x| (x - 100.0).abs() < 1e-6).unwrap();
    assert_eq!(service.y[at_99], latencies.quantile(0.99).map(|ns| ns as f64));
    assert_eq!(series(plot, "read response time").y.last(), Some(&Some(2e8)));
    assert_eq!(plot.x.scale, Scale::Log);
    let ticks: Vec<&str> = plot.x.ticks.iter().map(|tick| tick.text.as_str()).collect();
    assert_eq!(ticks, ["0 %", "90 %", "99 %", "99.9 %", "99.99 %", "99.999 %"]);
}

#[test]
fn a_curve_has_its_points_its_limit_and_its_line() {
    let points = [
        (1000.0, 1000.0, 2_000_000),
        (2000.0, 1999.0, 3_000_000),
        (4000.0, 3990.0, 9_000_000),
        (4100.0, 4010.0, 30_000_000),
        (8000.0, 4020.0, 900_000_000),
    ];
    let charts = charts_of(of_curve(&points, 3));
    let curve = chart(&charts, "r1-curve");
    assert_eq!(charts[0].id, "r1-curve", "it is the first picture");
    for name in ["mean", "p50", "p99", "p99.9", "max"] {
        let line = series(curve, name);
        assert_eq!(line.y.iter().flatten().count(), points.len(), "{name}");
        assert_eq!(line.hollow, [3, 4], "{name}");
        assert_eq!(line.x, [1000.0, 1999.0, 3990.0, 4010.0, 4020.0], "{name}");
    }
    assert_eq!(series(curve, "p99").y[2], Some(9e6));
    assert!(series(curve, "p99").texts[3].contains("p99 too slow"));
    let across: Vec<_> = curve.rules.iter().filter(|rule| rule.is_across).collect();
    assert_eq!((across.len(), across[0].at, across[0].text.as_str()), (1, 1e7, "p99 < 10 ms"));
    let upright: Vec<f64> =
        curve.rules.iter().filter(|rule| !rule.is_across).map(|rule| rule.at).collect();
    assert_eq!(upright, [4000.0]);
    assert!(curve.rules.iter().any(|rule| rule.text == "load line 4000"), "{:?}", curve.rules);
    assert_eq!((curve.spans[0].from, curve.spans[0].to), (4000.0, 4100.0));
    assert_eq!(curve.table.rows.len(), points.len());
}

/// A probe at twenty times the load, a hundred seconds slow, is in the table and not in the way.
#[test]
fn an_overload_does_not_set_the_axes() {
    let kept = [(1000.0, 1000.0, 2_000_000), (4000.0, 4000.0, 4_000_000)];
    let broken = [(5000.0, 4900.0, 20_000_000), (90_000.0, 9000.0, 100_000_000_000)];
    let charts = charts_of(of_curve(&[kept, broken].concat(), 2));
    let drawn = chart(&charts, "r1-curve");
    let (_, high_ns) = drawn.y.range.expect("latencies have a range");
    assert!((20e6..1e9).contains(&high_ns), "what just broke is in: {high_ns}");
    let (low, high) = drawn.x.range.expect("it is cut");
    assert!(low == 0.0 && (4900.0..9000.0).contains(&high), "{low} {high}");
    assert_eq!(series(drawn, "p99").x.len(), 4, "all points are there");
    assert_eq!(drawn.table.rows.len(), 4);
    assert!(drawn.notes[0].starts_with("One point lies far beyond"), "{:?}", drawn.notes);
    // Without one, nothing is cut.
    let charts = charts_of(of_curve(&[&kept[..], &broken[..1]].concat(), 2));
    let drawn = chart(&charts, "r1-curve");
    assert_eq!(drawn.x.range, None);
    assert!(!drawn.notes.iter().any(|note| note.contains("far beyond")), "{:?}", drawn.notes);
}

#[test]
fn repeats_of_a_load_are_a_band() {
    let points = [
        (1000.0, 1000.0, 2_000_000),
        (4000.0, 4000.0, 4_000_000),
        (4000.0, 3990.0, 9_000_000),
        (4000.0, 4010.0, 5_000_000),
        (6000.0, 5000.0, 50_000_000),
    ];
    let charts = charts_of(of_curve(&points, 4));
    let drawn = chart(&charts, "r1-curve");
    let p99: Vec<&Series> = drawn.series.iter().filter(|it| it.name == "p99").collect();
    let [points, line] = p99.as_slice() else { panic!("{} series", p99.len()) };
    assert_eq!((points.is_line, points.x.len(), points.hollow.as_slice()), (false, 5, &[4][..]));
    assert!(line.is_line && line.marker.is_none());
    assert_eq!(line.x, [1000.0, 4000.0, 5000.0], "the rate at a load is the median");
    let ends: Vec<(f64, f64)> = line.ends.iter().flatten().copied().collect();
    let near = |ns: f64, ms: f64| (ns / 1e6 / ms - 1.0).abs() < 0.01;
    assert_eq!(ends.len(), 3, "the band goes through every load");
    assert!(near(ends[0].0, 2.0) && near(ends[0].1, 2.0), "one measurement is its own: {ends:?}");
    assert!(near(ends[1].0, 4.0) && near(ends[1].1, 9.0), "{ends:?}");
    assert!(near(line.y[1].unwrap(), 5.0), "{:?}", line.y);
}

/// A sentence that says which values differ, and then by how much.
#[test]
fn a_comparison_says_both_values() {
    let subject = Subject::of_sets(vec![set("before", 100, 6), set("after", 80, 6)]);
    let page = report::json(&subject);
    let answer: serde_json::Value = serde_json::from_str(&page).unwrap();
    let sentence = answer["answer"].as_str().unwrap();
    assert!(sentence.starts_with("after against before: worse; "), "{sentence}");
    assert!(sentence.contains(" → ") && sentence.contains(", −20.0 %"), "{sentence}");
}

/// A set is as valid as its worst run.
#[test]
fn every_run_of_a_set_is_judged() {
    let mut after = set("after", 100, 6);
    after.runs[4].record.outcome = record::Outcome::Interrupted;
    let page = report::page(&Subject::of_sets(vec![set("before", 100, 6), after]));
    assert!(page.contains("1 of 6 runs are invalid or failed"), "the fifth is");
    assert!(page.contains("Interrupted: this is what was measured until then."));
}

/// The page says why there is nothing on it.
#[test]
fn a_failed_run_says_why() {
    let mut run = of_seconds(Vec::new());
    run.record.outcome = record::Outcome::Failed;
    let job = &mut run.record.jobs[0];
    job.dirs.read = DirRecord::default();
    job.error_errno = 11;
    job.error_message = "cannot set up libaio: EAGAIN (fs.aio-max-nr)".to_owned();
    let page = report::page(&Subject::of_run(run));
    let why = "job oltp: cannot set up libaio: EAGAIN (fs.aio-max-nr)";
    assert!(page.contains(&format!("Nothing was measured: {why}.")));
    assert!(page.contains(&format!("A part of the run failed: {why}.")));
}

#[test]
fn coarse_steps_of_a_closed_sweep_are_reported() {
    let mut run = of_curve(&[(4.0, 4000.0, 1_000_000), (8.0, 5000.0, 1_600_000)], 1);
    let curve = run.record.curve.as_mut().unwrap();
    curve.lever = record::Lever::QueueDepth;
    curve.carried = vec![record::CarriedRecord {
        latency_mean_ns: 1_000_000,
        state: record::CarriedState::Reached,
        rate_iops: Some(4000.0),
        bytes_per_s: Some(4000.0 * 8192.0),
    }];
    for (point, mean_ns) in curve.points.iter_mut().zip([1e6, 1.6e6]) {
        point.figures = point.figures.with(Figure::Mean, mean_ns);
    }
    let mut fine = run.clone();
    let expected = "Between 4 and 8 in flight nothing was measured: what is carried at a mean of \
                    1 ms is known no finer than between 4.00 k and 5.00 k IOPS";
    let reported = |run| chart(&charts_of(run), "r1-curve").notes.join(" ");
    let notes = reported(run);
    assert!(notes.contains(expected), "{notes}");
    fine.record.curve.as_mut().unwrap().points[1].load = 5.0;
    let notes = reported(fine);
    assert!(!notes.contains("no finer"), "{notes}");
}

#[test]
fn the_scalability_law_ends_where_the_measurement_does() {
    let mut run = of_curve(&[(1.0, 100.0, 1000), (4.0, 300.0, 2000), (16.0, 500.0, 9000)], 2);
    let curve = run.record.curve.as_mut().unwrap();
    curve.lever = record::Lever::QueueDepth;
    curve.scalability = Some(record::ScalabilityRecord {
        rate_iops_of_one: 100.0,
        contention: 0.05,
        coherency: 0.01,
        peak_depth: 9.7,
        peak_interval: record::IntervalRecord { low: 8.0, high: 12.0, coverage: 0.95 },
    });
    let charts = charts_of(run);
    let depth = chart(&charts, "r1-depth");
    let law = series(depth, "scalability law");
    assert_eq!((law.x[0], *law.x.last().unwrap()), (1.0, 16.0));
    assert_eq!(law.y[0], Some(100.0));
    assert_eq!((depth.spans[0].from, depth.spans[0].to), (8.0, 12.0));
    let by_little = series(chart(&charts, "r1-curve"), "scalability law");
    assert_eq!((by_little.x[0], by_little.y[0]), (100.0, Some(1e7)), "1 in flight / 100 IOPS");
}

#[test]
fn steps_that_span_sizes_and_mixes_make_a_matrix() {
    let shapes =
        [(4096, 100, 900), (4096, 70, 700), (4096, 0, 300), (65536, 100, 200), (65536, 0, 90)];
    let charts = charts_of(of_steps(&shapes));
    assert_eq!(charts[0].id, "steps");
    let matrix = chart(&charts, "size-mix-random");
    assert_eq!(matrix.x.categories, ["0 %", "70 %", "100 %"]);
    assert_eq!(matrix.y.categories, ["4 KiB", "64 KiB"]);
    let cells = matrix.cells.as_ref().unwrap();
    let expected =
        vec![vec![Some(300.0), Some(700.0), Some(900.0)], vec![Some(90.0), None, Some(200.0)]];
    assert_eq!(cells.values, expected);
    assert_eq!(cells.texts[1], ["90.0", "", "200"], "a number in each cell, nothing in a gap");
    let mix = chart(&charts, "mix-random");
    assert_eq!(series(mix, "64 KiB").y, [Some(90.0), None, Some(200.0)]);
}

/// A format beside one load is no matrix.
#[test]
fn a_matrix_of_empty_cells_is_none() {
    let charts = charts_of(of_steps(&[(131_072, 0, 1500), (8192, 70, 900), (8192, 70, 2000)]));
    assert!(charts.iter().all(|chart| !chart.id.starts_with("size-mix")), "half of it is empty");
}

/// Makes steps of one job take so long each, in milliseconds.
fn with_latencies(mut run: export::Run, latencies_ms: &[u64]) -> export::Run {
    for (job, ms) in run.record.jobs.iter_mut().zip(latencies_ms) {
        for dir in [&mut job.dirs.read, &mut job.dirs.write] {
            dir.lat = histogram([*ms * 1_000_000, *ms * 3_000_000]);
            dir.clat = dir.lat.clone();
        }
    }
    run
}

/// A curve of Vdbench: the same I/O at rising loads, beside a format, in no order.
#[test]
fn steps_of_one_kind_at_several_loads_are_a_curve() {
    let steps = [(131_072, 0, 1500), (8192, 70, 5000), (8192, 70, 500), (8192, 70, 4990)];
    let charts = charts_of(with_latencies(of_steps(&steps), &[1, 2, 1, 9]));
    assert_eq!(charts[0].id, "loads", "the first picture of the page");
    let drawn = &charts[0];
    assert!(drawn.about.contains("8 KiB random, 70 % reads"), "{}", drawn.about);
    let p99 = series(drawn, "p99");
    // By what is in flight: 0.5, 10 and 45 times two, though the last rate is no higher.
    assert_eq!(p99.x, [500.0, 5000.0, 4990.0]);
    let near = |y: Option<f64>, ms: f64| (y.unwrap() / 1e6 / ms - 1.0).abs() < 0.01;
    assert!(p99.y.iter().zip([3.0, 6.0, 27.0]).all(|(y, ms)| near(*y, ms)), "{:?}", p99.y);
    let names: Vec<&str> = drawn.series.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["mean", "p50", "p99", "p99.9", "max"]);
    assert_eq!((drawn.n_drawn(), drawn.table.rows.len()), (15, 3), "the format is not in it");
}

#[test]
fn several_kinds_at_several_loads_are_a_line_each() {
    let of_size = |block: u64| [500, 1000, 2000].map(|iops| (block, 100, iops));
    let run = of_steps(&[of_size(8192), of_size(65_536)].concat());
    let charts = charts_of(with_latencies(run, &[1, 1, 2, 4, 4, 6]));
    let drawn = chart(&charts, "loads");
    assert_eq!(series(drawn, "8 KiB random reads").x, [500.0, 1000.0, 2000.0]);
    assert_eq!(series(drawn, "64 KiB random reads").x, [500.0, 1000.0, 2000.0]);
}

/// Vdbench's steps have no word for the order.
#[test]
fn a_kind_without_an_order_is_named_by_its_mix() {
    let mut run = of_steps(&[(8192, 70, 500), (8192, 70, 1000), (8192, 70, 2000)]);
    for job in &mut run.record.jobs {
        job.options.retain(|(name, _)| name != "rw");
    }
    let charts = charts_of(run);
    let about = &chart(&charts, "loads").about;
    assert_eq!(about, "Latency over the rate of 8 KiB, 70 % reads.");
}

/// One load measured again and again is none.
#[test]
fn repeats_of_one_step_are_no_curve() {
    let steps = [(8192, 100, 1000), (8192, 100, 1010), (8192, 100, 990)];
    let charts = charts_of(with_latencies(of_steps(&steps), &[2, 2, 2]));
    assert!(charts.iter().all(|chart| chart.id != "loads"));
}

#[test]
fn an_order_given_for_all_jobs_holds_for_each() {
    let mut run = of_steps(&[(4096, 100, 10), (4096, 0, 9), (8192, 100, 8), (8192, 0, 7)]);
    for job in &mut run.record.jobs {
        job.options.retain(|(name, _)| name != "rw");
    }
    run.record.global_options = vec![("rw".to_owned(), "readwrite".to_owned())];
    chart(&charts_of(run), "size-mix-sequential");
}

#[test]
fn steps_that_span_depths_and_workers_make_a_matrix() {
    let mut run =
        of_steps(&[(4096, 100, 100), (4096, 100, 200), (4096, 100, 150), (4096, 100, 390)]);
    for (job, (depth, workers)) in run.record.jobs.iter_mut().zip([(1, 1), (8, 1), (1, 4), (8, 4)])
    {
        (job.queue_depth, job.n_workers) = (depth, workers);
    }
    let charts = charts_of(run);
    let matrix = chart(&charts, "depth-jobs-random");
    assert_eq!(
        (&matrix.x.categories[..], &matrix.y.categories[..]),
        (&["1".to_owned(), "8".to_owned()][..], &["1".to_owned(), "4".to_owned()][..])
    );
    let cells = matrix.cells.as_ref().unwrap();
    assert_eq!(cells.values, [[Some(100.0), Some(200.0)], [Some(150.0), Some(390.0)]]);
}

fn set(name: &str, factor: u64, n_runs: u64) -> Set {
    let one = |n: u64| {
        let mut run = of_seconds(
            (0..30).map(|at| second(at, 1000 * factor + n * 3 + at % 5, 90_000)).collect(),
        );
        run.record.started_unix_ms = n * 1000;
        run
    };
    Set { name: name.to_owned(), runs: (0..n_runs).map(one).collect() }
}

#[test]
fn a_comparison_shows_ratios_with_their_intervals() {
    let charts = charts(&Subject::of_sets(vec![set("before", 1, 6), set("after", 2, 6)]));
    let ratios = chart(&charts, "ratios");
    assert_eq!(charts[0].id, "ratios");
    let better = series(ratios, "better");
    let at = ratios.y.categories.iter().position(|name| name == "read IOPS").unwrap();
    let point = better.y.iter().position(|y| *y == Some(at as f64)).unwrap();
    assert!((better.x[point] - 99.0).abs() < 2.0, "{}", better.x[point]);
    let (low, high) = better.ends[point].unwrap();
    assert!(low > 95.0 && low <= better.x[point] && better.x[point] <= high, "{low} {high}");
    let drawn: usize = ratios.series.iter().map(|series| series.x.len()).sum();
    let reported =
        ratios.table.rows.iter().filter(|row| matches!(row[4], report::Cell::Number(..))).count();
    assert_eq!(drawn, reported, "every ratio of the table is drawn");
    let (left, right) = ratios.x.range.expect("an axis of its own");
    assert!(left < 0.0 && right > high, "no difference and the largest have room");
    assert_eq!(chart(&charts, "compared-rates").series.len(), 2);
}

#[test]
fn too_few_runs_have_a_ratio_without_an_interval() {
    let charts = charts(&Subject::of_sets(vec![set("before", 1, 2), set("after", 2, 2)]));
    let ratios = chart(&charts, "ratios");
    let undecided = series(ratios, "cannot tell");
    assert!(!undecided.ends.is_empty() && undecided.ends.iter().all(Option::is_none));
}

#[test]
fn runs_of_other_io_are_reported_first() {
    let mut after = set("after", 2, 6);
    for run in &mut after.runs {
        run.record.jobs[0].options = vec![("bs".to_owned(), "64k".to_owned())];
    }
    let subject = Subject::of_sets(vec![set("before", 1, 6), after]);
    let data: serde_json::Value = serde_json::from_str(&report::json(&subject)).unwrap();
    assert!(data["answer"].as_str().unwrap().contains("did other I/O"), "{}", data["answer"]);
}

#[test]
fn time_begins_with_the_first_sample() {
    let charts = charts_of(of_seconds((100..160).map(|n| second(n, 10, 1000)).collect()));
    let time = &chart(&charts, "r1-iops").x;
    assert_eq!(time.range, Some((100.0, 160.0)));
    assert!(time.ticks.iter().all(|tick| tick.at >= 100.0), "{:?}", time.ticks);
}

#[test]
fn under_an_open_load_seconds_show_the_response_time() {
    let seconds = (0..10).map(|n| {
        let mut interval = second(n, 100, 200_000);
        let waited = histogram([1_000_000, 3_000_000_000 + n]);
        interval.dirs.read.response = IntervalResponse::of(&waited);
        interval
    });
    let charts = charts_of(of_seconds(seconds.collect()));
    let latency = chart(&charts, "r1-latency");
    assert_eq!(latency.title, "Response time over time");
    assert_eq!(latency.y.title, "response time");
    assert!(latency.notes.iter().any(|note| note.contains("was due")), "{:?}", latency.notes);
    assert!(series(latency, "read p99").y.iter().all(|y| y.unwrap() > 2.9e9), "not 200 us");
    let heat = chart(&charts, "r1-heat");
    assert_eq!(heat.title, "Response time heat map");
    let counted: f64 = heat.cells.iter().flat_map(|it| it.values.iter().flatten().flatten()).sum();
    assert_eq!(counted, 20.0);
}

#[test]
fn an_axis_of_latencies_that_are_all_the_same_has_marks() {
    for ns in [1, 700, 3_200_000, 99_000_000_000] {
        let charts = charts_of(of_seconds((0..5).map(|n| second(n, 500, ns)).collect()));
        let axis = &chart(&charts, "r1-latency").y;
        let (low, high) = axis.range.unwrap();
        assert!(low < ns as f64 && (ns as f64) < high, "{ns}");
        assert!(axis.ticks.len() >= 2, "{ns}: {:?}", axis.ticks);
    }
}

#[test]
fn steps_of_unlike_depth_or_cache_are_not_drawn_as_one() {
    let shapes = [(4096, 100, 900), (4096, 0, 300), (8192, 100, 800), (8192, 0, 200)];
    let mut run = of_steps(&shapes);
    let mut cached = of_steps(&shapes.map(|(block, reads, iops)| (block, reads, iops * 9)));
    for job in &mut cached.record.jobs {
        (job.step_idx, job.is_direct) = (job.step_idx + 4, Some(false));
    }
    run.record.jobs.append(&mut cached.record.jobs);
    let charts = charts_of(run);
    let cells = |id: &str| chart(&charts, id).cells.clone().unwrap().values;
    assert_eq!(cells("size-mix-random")[0], [Some(300.0), Some(900.0)]);
    assert_eq!(cells("size-mix-random-2")[0], [Some(2700.0), Some(8100.0)]);
    let title = &chart(&charts, "size-mix-random-2").title;
    assert!(title.ends_with("1 worker x depth 16, through the page cache"), "{title}");
}

#[test]
fn a_mix_is_what_was_asked_for() {
    let mut run = of_steps(&[(4096, 50, 900), (8192, 50, 800), (16384, 50, 700)]);
    for (idx, job) in run.record.jobs.iter_mut().enumerate() {
        let block = job.dirs.read.io_bytes / job.dirs.read.n_ios;
        job.dirs.read.n_ios += 400 * idx as u64;
        job.dirs.read.io_bytes += 400 * idx as u64 * block;
    }
    let charts = charts_of(run);
    let sizes = chart(&charts, "sizes");
    assert_eq!(sizes.series.len(), 1, "one mix, however the coins fell");
    assert_eq!(sizes.series[0].name, "random, 50 % reads");
}

#[test]
fn a_suite_over_hosts_shows_how_it_grew_and_who_lagged() {
    let mut run = of_steps(&[(4096, 100, 900)]);
    let point = |n_hosts: u32, speed_up: f64, of_host: [f64; 3], binds: Binds| {
        let [host_iops_min, host_iops_median, host_iops_max] = of_host;
        ScaleOutPointRecord {
            n_hosts,
            row: format!("reads, {n_hosts}"),
            speed_up: Some(speed_up),
            host_iops_min,
            host_iops_median,
            host_iops_max,
            first_done_ns: 30_000_000_000,
            last_done_ns: 41_000_000_000,
            binds,
            why: "4 hosts did 1.02 times what 2 hosts did".to_owned(),
        }
    };
    let of_step = |label: &str, points: Vec<ScaleOutPointRecord>| ScaleOutRecord {
        label: label.to_owned(),
        points,
    };
    let grew = vec![
        point(2, 1.0, [4000.0, 5000.0, 6000.0], Binds::Load),
        point(4, 1.02, [2000.0, 2550.0, 3100.0], Binds::Volume),
    ];
    let at_one = vec![point(2, 1.0, [1.0, 1.0, 1.0], Binds::Unknown)];
    run.record.suite = Some(SuiteRecord {
        name: "quick".to_owned(),
        title: "a first look".to_owned(),
        n_repeats: 1,
        rows: vec![SuiteRowRecord {
            label: "reads, 4".to_owned(),
            preparation: false,
            steps: vec![0],
            figures: Figures::default()
                .with(Figure::Iops, SuiteFigureRecord { median: 10_200.0, interval: None }),
            sync: Figures::default(),
            measured_ns: 1,
            verdict: "valid".to_owned(),
            reason: String::new(),
        }],
        scale_out: vec![of_step("reads", grew), of_step("once", at_one)],
        ..SuiteRecord::default()
    });
    let subject = Subject::of_run(run);
    let charts = charts(&subject);
    let growth = chart(&charts, "r1-scale-out");
    let names: Vec<&str> = growth.series.iter().map(|it| &*it.name).collect();
    assert_eq!(names, ["reads", "as the hosts"], "one number of hosts is no growth");
    assert_eq!(growth.series[0].x, [2.0, 4.0]);
    assert_eq!(growth.series[0].y, [Some(1.0), Some(1.02)]);
    assert_eq!(growth.series[1].y, [Some(1.0), Some(2.0)]);
    assert_eq!(growth.notes, ["Not drawn: 1 step; the table has all."]);
    assert_eq!(growth.table.rows.len(), 3);
    let page = report::page(&subject);
    let html = page.split("<script").next().unwrap();
    for text in ["Growth with the hosts", "10.2 k", "1.02", "3.10 k", "30.0 s", "41.0 s", "volume"]
    {
        assert!(html.contains(text), "{text}");
    }
}

/// A suite of a fill and two measurements, of which the second was not steady.
fn of_suite() -> export::Run {
    let mut run = of_steps(&[(4096, 100, 900), (8192, 100, 800), (8192, 100, 700)]);
    let figure = |median: f64| SuiteFigureRecord { median, interval: None };
    let row = |label: &str, step: u32, iops: f64, verdict: &str| SuiteRowRecord {
        label: label.to_owned(),
        preparation: label == "fill",
        steps: vec![step],
        figures: Figures::default()
            .with(Figure::Iops, figure(iops))
            .with(Figure::BytesPerS, figure(iops * 4096.0))
            .with(Figure::P50, figure(1e6))
            .with(Figure::P99, figure(2e6)),
        sync: Figures::default().with(Figure::P50, figure(3e6)).with(Figure::P99, figure(20e6)),
        measured_ns: 1,
        verdict: verdict.to_owned(),
        reason: String::new(),
    };
    run.record.suite = Some(SuiteRecord {
        name: "quick".to_owned(),
        title: "a first look".to_owned(),
        indicative: true,
        n_repeats: 1,
        rows: vec![
            row("fill", 0, 1.0, "valid"),
            row("reads", 1, 800.0, "valid"),
            row("more reads", 2, 700.0, "not steady"),
        ],
        steps: [
            (0, "fill", StepPurpose::Prepare),
            (1, "reads", StepPurpose::Measure),
            (2, "more reads", StepPurpose::Measure),
        ]
        .map(|(step_idx, label, purpose)| SuiteStepRecord {
            step_idx,
            label: label.to_owned(),
            purpose,
            repeat_idx: 0,
        })
        .into(),
        ..SuiteRecord::default()
    });
    run
}

#[test]
fn a_suite_is_a_row_per_measurement_with_its_verdict() {
    let mut run = of_suite();
    run.record.intervals = (0..9)
        .map(|n| Interval { step_idx: n as u32 / 3, ..second(n, if n < 3 { 9000 } else { 9 }, 9) })
        .collect();
    let subject = Subject::of_run(run);
    let charts = charts(&subject);
    let suite = chart(&charts, "r1-suite");
    assert_eq!(suite.series[0].x, [800.0, 700.0], "what makes ready is no result");
    assert_eq!(suite.series[0].hollow, [1]);
    let page = report::page(&subject);
    let html = page.split("<script").next().unwrap();
    for text in [
        "Verdict: indicative; short runs",
        "more reads",
        "not steady",
        "Indicative: short runs",
        "reads, made durable in",
        "20.0 ms",
        "<dt>most I/Os, reads</dt>",
    ] {
        assert!(html.contains(text), "{text}");
    }
    let over_time = chart(&charts, "r1-iops");
    assert_eq!(series(over_time, "reads").y.iter().flatten().count(), 6, "without the fill");
    let is_named = |note: &String| note.starts_with("Without what made ready: ");
    assert!(over_time.notes.iter().any(is_named), "{:?}", over_time.notes);
    assert_eq!(over_time.rules.len(), 2);
}

/// Latency stands beside the rates, a row for each measurement.
#[test]
fn a_suite_shows_latencies() {
    let charts = charts_of(of_suite());
    let latencies = chart(&charts, "r1-suite-latency");
    assert_eq!(latencies.y.categories, ["reads", "more reads"]);
    assert_eq!(
        (&series(latencies, "p50").x[..], &series(latencies, "p99").x[..]),
        (&[1e6, 1e6][..], &[2e6, 2e6][..])
    );
    assert_eq!(series(latencies, "p99").hollow, [1]);
}

#[test]
fn points_beyond_the_load_line_do_not_make_it_doubtful() {
    let gate = |verdict| GateRecord {
        name: "offered".to_owned(),
        verdict,
        reason: "31 % were achieved".to_owned(),
        next_step: None,
        figures: std::collections::BTreeMap::default(),
    };
    let page = |second| {
        let mut run = of_curve(
            &[
                (1000.0, 1000.0, 1_000_000),
                (2000.0, 2000.0, 2_000_000),
                (9000.0, 5000.0, 9_000_000),
            ],
            2,
        );
        let verdicts = [Verdict::Passed, second, Verdict::Failed];
        for (idx, verdict) in verdicts.into_iter().enumerate() {
            run.record.validity.push(StepValidity {
                step_idx: idx as u32,
                gates: vec![gate(verdict)],
                ..StepValidity::default()
            });
        }
        report::page(&Subject::of_run(run))
    };
    assert!(page(Verdict::Passed).contains("Valid: every check passed."));
    let doubtful = page(Verdict::Failed);
    assert!(doubtful.contains("Invalid: 31 % were achieved."));
}

/// Operations of several kinds, with their number and time in microseconds.
fn operations(kinds: &[(&str, &str, u64, u64)]) -> Vec<SeriesRecord> {
    let of = |(part, op, n_ios, us): &(&str, &str, u64, u64)| SeriesRecord {
        part: (*part).to_owned(),
        op: (*op).to_owned(),
        n_ios: *n_ios,
        io_bytes: if *op == "read" { n_ios * 4096 } else { 0 },
        lat: histogram(std::iter::repeat_n(us * 1000, *n_ios as usize)),
        ..SeriesRecord::default()
    };
    kinds.iter().map(of).collect()
}

#[test]
fn a_tree_shows_its_operations() {
    let mut run = of_seconds((0..10).map(|n| second(n, 300, 100_000)).collect());
    let mut second_job = run.record.jobs[0].clone();
    run.record.jobs[0].series =
        operations(&[("", "getattr", 1000, 20), ("", "read", 2000, 400), ("", "open", 50, 70)]);
    second_job.series = operations(&[("", "getattr", 1000, 40)]);
    let window_s = second_job.runtime_ns as f64 / 1e9;
    run.record.jobs.push(second_job);
    let charts = charts_of(run.clone());
    let shown = chart(&charts, "r1-operations-0");
    // By number, and of equal numbers in the order of the record; both jobs together.
    let names = ["getattr, 49.4 %", "read, 49.4 %", "open, 1.2 %"];
    assert_eq!(shown.y.categories, names);
    assert_eq!(series(shown, "max").x, [40_000.0, 400_000.0, 70_000.0]);
    let mean = series(shown, "mean");
    assert_eq!((mean.x[0], mean.y.as_slice()), (30_000.0, &[Some(0.0), Some(1.0), Some(2.0)][..]));
    assert_eq!(shown.notes.len(), 1, "{:?}", shown.notes);
    assert!((number(&shown.table.rows[0][4]) - 2000.0 / window_s).abs() < 1e-6);
    assert!((number(&shown.table.rows[1][5]) - 2000.0 / 256.0 / window_s).abs() < 1e-6);
    assert_eq!(shown.table.rows[0][5], report::Cell::Nothing, "a getattr moves nothing");
    // One kind alone is no mix.
    run.record.jobs.truncate(1);
    run.record.jobs[0].series = operations(&[("", "read", 9, 9)]);
    assert!(charts_of(run.clone()).iter().all(|chart| !chart.id.contains("operations")));
    // Parts of a mix are kept apart.
    run.record.jobs[0].series =
        operations(&[("small", "read", 9, 9), ("large", "read", 3, 9), ("large", "write", 1, 9)]);
    let charts = charts_of(run);
    let names = ["small: read, 69.2 %", "large: read, 23.1 %", "large: write, 7.7 %"];
    assert_eq!(chart(&charts, "r1-operations-0").y.categories, names);
}
