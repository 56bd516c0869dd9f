//! Units of load of a composite workload: gates, and a curve against published results.

use analysis::{Limits, Rules, assess, composite};
use bench::UnitsSweep;
use bench::composite::loads;
use hist::Histogram;
use record::{
    ArrivalsRecord, CarriedState, DirRecord, JobRecord, LineVerdict, OfUnitRecord, Outcome,
    PerDirRecord, Record, UnitsRecord,
};

const SECONDS: u64 = 10;

/// What the processes of a component did.
#[derive(Clone, Copy)]
struct Did {
    name: &'static str,
    rate: f64,
    share: f64,
    mean_ns: u64,
}

/// One process of a run, or several in one entry.
fn job(n_units: u32, n_workers: u32, did: Did) -> JobRecord {
    let rate = did.rate * f64::from(n_workers);
    let n_ios = (rate * did.share * SECONDS as f64).round() as u64;
    let mut latency = Histogram::new();
    latency.record_n(did.mean_ns, n_ios);
    let read = DirRecord {
        n_ios,
        io_bytes: n_ios * 16_384,
        runtime_ns: SECONDS * 1_000_000_000,
        clat: latency.clone(),
        lat: latency.clone(),
        response: Some(latency),
        ..DirRecord::default()
    };
    JobRecord {
        name: did.name.to_owned(),
        step_idx: 1,
        n_workers,
        runtime_ns: SECONDS * 1_000_000_000 * u64::from(n_workers),
        of_unit: Some(OfUnitRecord { unit: "jobset".to_owned(), n_units, rate: Some(did.rate) }),
        arrivals: Some(ArrivalsRecord {
            offered_iops: rate,
            spacing: "even".to_owned(),
            ..ArrivalsRecord::default()
        }),
        dirs: PerDirRecord { read, ..PerDirRecord::default() },
        ..JobRecord::default()
    }
}

/// A run of these processes, judged, after a step in which files were laid out.
fn run(jobs: Vec<JobRecord>) -> Record {
    let layout = JobRecord { n_workers: 1, runtime_ns: 1, ..JobRecord::default() };
    let jobs = [vec![layout], jobs].concat();
    let mut record = Record { jobs, ..Record::default() };
    record.validity = assess(&record, &Rules::default());
    record.units = composite::units(&record);
    record
}

/// Three front-end processes and two back-end ones, which achieve these shares of their rates.
fn jobset(front: [f64; 3], back: [f64; 2]) -> UnitsRecord {
    let front = front.map(|share| Did { name: "front", rate: 100.0, share, mean_ns: 1_000_000 });
    let back = back.map(|share| Did { name: "back", rate: 75.0, share, mean_ns: 4_000_000 });
    let all = front.into_iter().chain(back);
    let mut units = run(all.map(|did| job(1, 1, did)).collect()).units;
    assert_eq!(units.len(), 1, "the layout is none");
    units.remove(0)
}

#[track_caller]
fn check_gates(front: [f64; 3], back: [f64; 2], broken: &[&str]) {
    let units = jobset(front, back);
    assert_eq!(units.broken, broken);
    assert_eq!(units.holds(), Some(broken.is_empty()));
}

#[test]
fn the_rates_of_processes_of_components_and_of_all_are_judged() {
    check_gates([1.0; 3], [1.0; 2], &[]);
    // 300 + 142.5 of 450: 98.3 %, and 95 % of the back end.
    check_gates([1.0; 3], [0.95; 2], &[]);
    // 435 of 450 is enough, 285 of 300 too, and 70 % of one process is not.
    check_gates([1.0, 1.0, 0.9], [1.0, 1.0], &[]);
    check_gates(
        [1.0, 1.15, 0.7],
        [1.0, 1.0],
        &["`front`: one process achieved 70.0 % of its rate (limit 75 %)"],
    );
    // A volume that carries 72 %.
    check_gates(
        [0.72; 3],
        [0.72; 2],
        &[
            "72.0 % of 450 operations/s were achieved (limit 95 %)",
            "`front`: 72.0 % of 300 operations/s were achieved (limit 95 %)",
            "`front`: one process achieved 72.0 % of its rate (limit 75 %)",
            "`back`: 72.0 % of 150 operations/s were achieved (limit 95 %)",
            "`back`: one process achieved 72.0 % of its rate (limit 75 %)",
        ],
    );
    // 300 + 129 of 450 are 95.3 %: 30.1 % in place of 33.3 % are 9.8 % apart.
    check_gates(
        [1.0; 3],
        [0.86; 2],
        &[
            "`back`: 86.0 % of 150 operations/s were achieved (limit 95 %)",
            "`back` did 30.1 % of all operations, 33.3 % were asked for: 9.8 % apart (limit 5 %)",
        ],
    );
}

#[test]
fn components_have_their_figures() {
    let units = jobset([1.0, 1.0, 0.9], [1.0, 1.0]);
    assert_eq!((&*units.unit, units.n_units, units.step_idx), ("jobset", 1, 1));
    let [front, back] = &*units.components else { panic!("{:?}", units.components) };
    assert_eq!((&*front.name, front.n_processes, front.asked_iops), ("front", 3, Some(300.0)));
    assert_eq!((&*back.name, back.n_processes, back.asked_iops), ("back", 2, Some(150.0)));
    assert!((front.figures.iops() - 290.0).abs() < 1e-9);
    assert!((units.all.figures.iops() - 440.0).abs() < 1e-9);
    assert_eq!(front.process_share_min, Some(0.9));
    assert!((back.done_part - 150.0 / 440.0).abs() < 1e-9);
    assert!((back.asked_part.expect("all have rates") - 1.0 / 3.0).abs() < 1e-9);
}

/// NetApp AFF A90, 8 nodes (res2024q3): job sets, and mean latency in microseconds.
const A90: [(u32, u64); 10] = [
    (810, 400),
    (1620, 400),
    (2430, 400),
    (3240, 500),
    (4050, 600),
    (4860, 800),
    (5670, 1100),
    (6480, 1500),
    (7290, 2600),
    (8100, 4900),
];

/// Runs the published curve; from `from` units on, this share of the rate is achieved.
fn a90(from: u32, share: f64, limits: &str) -> Record {
    let limits =
        if limits.is_empty() { Limits::default() } else { limits.parse().expect("limits") };
    let mut sweep = UnitsSweep::new(loads(810, 8100, 10), limits);
    while let Some(n_units) = sweep.next_load() {
        let (_, mean_us) = A90.iter().find(|it| it.0 == n_units).expect("equal distances");
        let share = if n_units >= from { share } else { 1.0 };
        let did = Did { name: "one", rate: 450.0, share, mean_ns: mean_us * 1000 };
        sweep.take(run(vec![job(n_units, n_units, did)])).expect("it was asked for");
    }
    sweep.record().expect("it has points")
}

#[test]
fn a_published_curve_has_its_response_time_and_its_loads_at_1_and_2_ms() {
    let record = a90(u32::MAX, 1.0, "");
    let curve = record.curve.as_ref().expect("a curve");
    assert_eq!(curve.points.len(), 10);
    assert!(curve.points.iter().all(|point| point.passed), "{:?}", curve.points);
    let response = curve.overall_response_ns.expect("ten points");
    assert!((response / 1e6 - 1.172_222).abs() < 1e-5, "{response}");
    // 1 ms lies two thirds of the way from 4860 to 5670 job sets of 450 operations per second, and
    // 2 ms five elevenths of the way from 6480 to 7290.
    let [at_1, at_2] = &*curve.carried else { panic!("{:?}", curve.carried) };
    for (at, job_sets) in [(at_1, 5400.0), (at_2, 6480.0 + 810.0 * 5.0 / 11.0)] {
        let rate = at.rate_iops.expect("reached");
        assert!((rate - job_sets * 450.0).abs() < 1.0, "{rate}");
        assert!((at.bytes_per_s.expect("the same") - rate * 16_384.0).abs() < 2e4);
        assert_eq!(at.state, CarriedState::Reached);
    }
    assert_eq!(curve.line.verdict(), LineVerdict::Above(8100.0));
    assert_eq!(record.outcome, Outcome::Complete);
    // Of each point the measured step is left, with one entry for each component.
    assert_eq!((record.steps.len(), record.jobs.len(), record.units.len()), (10, 10, 10));
    let steps: Vec<u32> = record.units.iter().map(|units| units.step_idx).collect();
    assert_eq!(steps, (0..10).collect::<Vec<u32>>());
}

#[test]
fn points_without_their_rates_are_no_part_of_the_figures() {
    let record = a90(7290, 0.9, "");
    let curve = record.curve.as_ref().expect("a curve");
    assert_eq!(curve.line.verdict(), LineVerdict::Line(6480.0));
    assert_eq!(curve.line.first_fail, Some(7290.0));
    let response = curve.overall_response_ns.expect("eight points");
    assert!((response / 1e6 - 0.678_571).abs() < 1e-5, "{response}");
    let [at_1, at_2] = &*curve.carried else { panic!("{:?}", curve.carried) };
    assert!((at_1.rate_iops.expect("reached") - 2_430_000.0).abs() < 1.0);
    assert_eq!(at_2.state, CarriedState::Above);
    let shown = curve.sentences().join("\n");
    assert!(shown.contains("2 ms: not reached"), "{shown}");
}

#[test]
fn a_further_limit_ends_the_line_and_not_the_curve() {
    let record = a90(u32::MAX, 1.0, "mean < 2ms");
    let curve = record.curve.as_ref().expect("a curve");
    assert_eq!(curve.line.verdict(), LineVerdict::Line(6480.0));
    assert_eq!(curve.line.broken, ["mean 2.600ms, not < 2ms"]);
    assert!((curve.overall_response_ns.expect("ten points") / 1e6 - 1.172_222).abs() < 1e-5);
    assert_eq!(a90(1, 0.5, "").curve.expect("a curve").line.verdict(), LineVerdict::Below);
}

#[test]
fn a_run_that_was_cut_short_says_nothing() {
    let mut sweep = UnitsSweep::new(vec![1, 2], Limits::default());
    let did = Did { name: "one", rate: 450.0, share: 1.0, mean_ns: 1000 };
    sweep.take(run(vec![job(1, 1, did)])).expect("it was asked for");
    let cut = Record { outcome: Outcome::Interrupted, ..run(vec![job(2, 2, did)]) };
    let point = sweep.take(cut).expect("it was asked for");
    assert_eq!(point.void.as_deref(), Some("it was cut short"));
    let curve = sweep.record().and_then(|record| record.curve).expect("a curve");
    assert!(matches!(curve.line.verdict(), LineVerdict::CannotTell(_)), "{:?}", curve.line);
    assert_eq!(curve.line.load, Some(1.0));
}

#[test]
fn loads_are_at_equal_distances_as_far_as_they_are_whole() {
    assert_eq!(loads(10, 100, 10), [10, 20, 30, 40, 50, 60, 70, 80, 90, 100]);
    assert_eq!(loads(1, 10, 4), [1, 4, 7, 10]);
    assert_eq!(loads(1, 3, 10), [1, 2, 3]);
    assert_eq!(loads(5, 5, 3), [5]);
    assert_eq!(loads(1, 7, 1), [7]);
    assert!(loads(8, 7, 3).is_empty());
}
