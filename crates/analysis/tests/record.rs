//! What a record alone tells: series, points, checks; and what mount options cost.

use analysis::alike::{DifferenceKind, differences};
use analysis::compare::{BetterWhen, RunOrder};
use analysis::gates::{StepSeries, mount_remarks, of_step, worst_backlog};
use analysis::metric::{Compared, Waited, of_jobs, run_order};
use analysis::sampled::{evened, sample_s};
use analysis::steady::SteadyRule;
use analysis::{GateName, GateVerdict, Point, Rules, assess};
use hist::Histogram;
use plan::param::{Param, ValueKind, all};
use proptest::prelude::*;
use record::{
    ArrivalsRecord, ChangingRateRecord, DirRecord, EmulationRecord, EngineQueueRecord,
    EngineRecord, Figure, HostRecord, HostShareRecord, Interval, IntervalDir, IntervalLatency,
    IntervalResponse, JobRecord, PerDirRecord, Record, StepConditions, Verdict,
};

const S_NS: u64 = 1_000_000_000;

fn latencies(n: u64, ns: u64) -> Histogram {
    let mut hist = Histogram::new();
    hist.record_n(ns, n);
    hist
}

/// A worker that reads 1,000 times a second for 100 s at a depth of 2, each in 2 ms.
fn worker() -> JobRecord {
    let n_ios = 100_000;
    let read = DirRecord {
        n_ios,
        io_bytes: n_ios * 4096,
        runtime_ns: 100 * S_NS,
        clat: latencies(n_ios, 1_990_000),
        lat: latencies(n_ios, 2_000_000),
        ..DirRecord::default()
    };
    JobRecord {
        n_workers: 1,
        queue_depth: 2,
        runtime_ns: 100 * S_NS,
        cpu_user_ns: 10 * S_NS,
        cpu_system_ns: 20 * S_NS,
        dirs: PerDirRecord { read, ..PerDirRecord::default() },
        ..JobRecord::default()
    }
}

fn p99(ns: u64) -> IntervalLatency {
    IntervalLatency::each(|figure| (figure == Figure::P99).then_some(ns))
}

fn second(end_s: u64, length_ms: u64, n_ios: u64) -> Interval {
    let read = IntervalDir {
        n_ios,
        io_bytes: n_ios * 4096,
        latency: p99(2_000_000),
        ..IntervalDir::default()
    };
    Interval {
        step_idx: 0,
        end_ms: end_s * 1000,
        length_ms,
        ramp: end_s <= 10,
        dirs: PerDirRecord { read, ..PerDirRecord::default() },
        ..Interval::default()
    }
}

/// Two such workers, with a ramp of 10 s and a short last interval.
fn run() -> Record {
    let mut intervals: Vec<Interval> = (1..=110).map(|s| second(s, 1000, 2_000)).collect();
    intervals.push(second(111, 20, 1));
    Record {
        plimsoll_version: "0.1.0".to_owned(),
        elapsed_ns: 110 * S_NS,
        host: HostRecord { kernel: "Linux 6.1".to_owned(), ..HostRecord::default() },
        jobs: vec![worker(), worker()],
        intervals,
        ..Record::default()
    }
}

#[test]
fn a_series_has_neither_ramp_nor_rest() {
    let series = StepSeries::of(&run(), 0);
    assert_eq!(series.iops, [2_000.0; 100]);
    assert_eq!(series.bytes_per_s, [2_000.0 * 4096.0; 100]);
    assert_eq!(series.service_p99_ns, [vec![2e6; 100]]);
    assert_eq!((series.waited_p99_ns, series.is_response), (vec![vec![2e6; 100]], false));
    assert!((series.sample_s - 1.0).abs() < 1e-12);
    assert_eq!(StepSeries::of(&run(), 1).iops, Vec::<f64>::new());
}

/// A host that pauses makes one second long: it counts for as long as it lasted, and the seconds
/// around it stay seconds.
#[test]
fn a_long_interval_is_several_samples_and_joins_no_others() {
    let mut record = run();
    // 4.6 s in which 600 were done, in place of the 50th second.
    record.intervals[49].length_ms = 4_600;
    record.intervals[49].dirs.read.n_ios = 600;
    let series = StepSeries::of(&record, 0);
    assert_eq!(series.iops.len(), 99 + 5);
    let slow: Vec<f64> = series.iops.iter().copied().filter(|iops| *iops < 1_999.0).collect();
    assert_eq!(slow.len(), 5);
    assert!(slow.iter().all(|iops| (iops - 600.0 / 4.6).abs() < 1.0), "{slow:?}");
    assert!((series.sample_s - 1.0).abs() < 0.005, "{}", series.sample_s);
}

/// Counts are neither lost nor doubled, whatever the lengths.
#[test]
fn evened_intervals_hold_what_the_others_held() {
    let check = |lengths_ms: &[u64], n_expected: usize| {
        let all: Vec<Interval> = lengths_ms.iter().map(|ms| second(99, *ms, ms * 7 / 3)).collect();
        let even = evened(&all.iter().collect::<Vec<_>>());
        let sum = |all: &[Interval], of: fn(&Interval) -> u64| all.iter().map(of).sum::<u64>();
        assert_eq!(even.len(), n_expected, "{lengths_ms:?}");
        for of in [|it: &Interval| it.length_ms, |it: &Interval| it.dirs.read.n_ios] {
            assert_eq!(sum(&even, of), sum(&all, of), "{lengths_ms:?}");
        }
    };
    check(&[1_000, 1_000, 3_000], 5);
    check(&[500, 500, 1_000, 1_000], 3);
    check(&[1_001, 999, 1_000, 4_600, 1_000], 9);
    check(&[20], 1);
    assert!(evened(&[]).is_empty());
}

/// Seconds for two hours, then intervals that are as long again whenever the step is as old again.
#[test]
fn a_simulated_year_is_no_sample_for_each_second() {
    let mut all: Vec<Interval> = (0..7_200).map(|_| second(99, 1_000, 1_000)).collect();
    for doubled in 1..=12 {
        all.extend((0..3_600).map(|_| second(99, 1_000 << doubled, 1_000 << doubled)));
    }
    let even = evened(&all.iter().collect::<Vec<_>>());
    assert!((10_000..=20_000).contains(&even.len()), "{}", even.len());
    assert!(even.iter().all(|it| it.dirs.read.n_ios == it.length_ms));
    let total_s = sample_s(&even) * even.len() as f64;
    assert!((total_s - (7_200.0 + 3_600.0 * 8_190.0)).abs() < 1.0, "{total_s}");
}

/// An open load of so many per second for so long, of which so many were done.
fn offered(rate_iops: f64, length_s: f64, n_done: u64, latency_ns: u64) -> Option<Verdict> {
    let mut job = worker();
    job.runtime_ns = (length_s * 1e9) as u64;
    job.dirs.read.n_ios = n_done;
    job.dirs.read.lat = latencies(n_done, latency_ns);
    let backlog_end = (rate_iops * length_s) as u64 - n_done;
    let spacing = "even".to_owned();
    let offered_iops = rate_iops;
    job.arrivals =
        Some(ArrivalsRecord { offered_iops, spacing, backlog_end, ..ArrivalsRecord::default() });
    let record = Record { jobs: vec![job], ..Record::default() };
    let judged = assess(&record, &Rules::default());
    judged[0].gate(GateName::Offered.as_str()).map(|gate| gate.verdict)
}

/// Returns the verdicts and reasons on a step whose rate changed, and was not followed from a
/// moment on if there is one.
fn judged_changing(behind_since_ns: Option<u64>) -> Vec<(String, Verdict, String, Option<String>)> {
    let mut record = run();
    for job in &mut record.jobs {
        let offered_iops = job.n_ios() as f64 / job.runtime_ns as f64 * 1e9;
        let changing = ChangingRateRecord { delay_ns_max: 9_700_000_000, behind_since_ns };
        job.arrivals = Some(ArrivalsRecord {
            offered_iops,
            spacing: "even".to_owned(),
            changing: Some(changing),
            ..ArrivalsRecord::default()
        });
    }
    let steps = assess(&record, &Rules::default());
    let gates = steps[0].gates.iter();
    gates.map(|it| (it.name.clone(), it.verdict, it.reason.clone(), it.next_step.clone())).collect()
}

/// What was done in the end is as much as was asked for; a longer run of the same has no one level
/// either.
#[test]
fn a_rate_that_changes_is_judged_at_all_times_and_has_no_level() {
    let of = |behind_since_ns, name: GateName| {
        let mut gates = judged_changing(behind_since_ns).into_iter();
        let found = gates.find(|(it, ..)| it == name.as_str());
        let (_, verdict, reason, next_step) = found.expect("it is judged");
        (verdict, reason, next_step)
    };
    assert_eq!(of(None, GateName::Offered).0, Verdict::Passed);
    let (verdict, reason, _) = of(Some(20_000_000_000), GateName::Offered);
    assert_eq!(verdict, Verdict::Failed);
    let expected = "not carried from 20 s on: operations waited up to 10 s to be begun";
    assert_eq!(reason, expected);
    let (verdict, reason, next_step) = of(None, GateName::Steady);
    let expected = "the rate that was asked for changed: there is no one level to be steady";
    assert_eq!((verdict, &*reason, next_step), (Verdict::NotAssessed, expected, None));
}

/// Far too little is said after a second; what a moment's delay may leave undone only when the
/// time is long.
#[test]
fn a_rate_that_is_missed_by_far_is_reported_in_a_short_run() {
    for length_s in [0.3, 1.0, 3.0, 9.0] {
        let done = |share: f64| (100_000.0 * length_s * share) as u64;
        assert_eq!(offered(1e5, length_s, done(0.1), 100_000), Some(Verdict::Failed));
        assert_eq!(offered(1e5, length_s, done(0.99), 100_000), Some(Verdict::Passed));
    }
    // The last fifth of a second is missing.
    assert_eq!(offered(1_000.0, 1.0, 800, 100_000), Some(Verdict::NotAssessed));
    assert_eq!(offered(1_000.0, 1.0, 600, 100_000), Some(Verdict::Failed));
    assert_eq!(offered(1_000.0, 12.0, 11_000, 100_000), Some(Verdict::Failed));
    // What takes half a second is still in flight for so long.
    assert_eq!(offered(100.0, 2.0, 150, 500_000_000), Some(Verdict::NotAssessed));
}

/// Clones of a job share its rate; a job of its own has a rate of its own, however small.
#[test]
fn a_sum_hides_no_job_that_missed_its_rate() {
    let judged = |jobs: &[(&str, f64, u64)]| {
        let job = |(name, offered_iops, n_done): &(&str, f64, u64)| {
            let mut job = worker();
            job.name = (*name).to_owned();
            job.runtime_ns = 20 * S_NS;
            job.dirs.read.n_ios = *n_done;
            let offered_iops = *offered_iops;
            let spacing = "even".to_owned();
            job.arrivals = Some(ArrivalsRecord { offered_iops, spacing, ..Default::default() });
            job
        };
        let record = Record { jobs: jobs.iter().map(job).collect(), ..Record::default() };
        let gate = assess(&record, &Rules::default())[0].gate(GateName::Offered.as_str()).cloned();
        gate.map(|gate| (gate.verdict, gate.reason)).expect("a rate was asked for")
    };
    let data = ("data", 10_000.0, 200_000);
    let (verdict, reason) = judged(&[data, ("log", 500.0, 8_800)]);
    let expected = "`log`: 88.0 % of 500 IOPS were achieved (limit 95 %)";
    assert_eq!((verdict, &*reason), (Verdict::Failed, expected));
    let (verdict, reason) = judged(&[data, ("data", 500.0, 8_800)]);
    assert_eq!((verdict, &*reason), (Verdict::Passed, "99.4 % of 10500 IOPS were achieved"));
    // One operation in seven is due at the end, or not.
    assert_eq!(judged(&[data, ("rare", 0.35, 6)]).0, Verdict::Passed);
}

/// A run that was stopped in its ramp, in real and in virtual time: operations waited, and nothing
/// was measured.
#[test]
fn a_rate_is_not_judged_of_what_was_not_measured() {
    let open = |runtime_ns: u64, n_ios: u64| {
        let mut job = worker();
        (job.runtime_ns, job.dirs.read.n_ios) = (runtime_ns, n_ios);
        job.arrivals = Some(ArrivalsRecord {
            offered_iops: 1_000.0,
            spacing: "even".to_owned(),
            backlog_end: if runtime_ns > 0 { 0 } else { 500 },
            ..ArrivalsRecord::default()
        });
        job
    };
    let judged = |jobs: Vec<JobRecord>, time: &str| {
        let emulation = EmulationRecord { time: time.to_owned(), ..EmulationRecord::default() };
        let record = Record { jobs, emulation: Some(emulation), ..Record::default() };
        let step = assess(&record, &Rules::default()).remove(0);
        let gate = step.gate(GateName::Offered.as_str()).expect("a rate was asked for").clone();
        (gate.verdict, gate.reason, worst_backlog(&record, 0))
    };
    for time in ["virtual", "real"] {
        let (verdict, reason, backlog) = judged(vec![open(0, 0)], time);
        assert_eq!((verdict, &*reason), (Verdict::NotAssessed, "nothing was measured"), "{time}");
        assert_eq!(backlog, None, "{time}");
        // Beside one that was measured, and carried.
        let (verdict, reason, backlog) = judged(vec![open(0, 0), open(20 * S_NS, 20_000)], time);
        assert_eq!((verdict, &*reason), (Verdict::Passed, "100.0 % of 1000 IOPS were achieved"));
        assert_eq!(backlog.map(|it| it.end), Some(0), "{time}");
        // Nothing done in a measured time is a rate that was missed.
        assert_eq!(judged(vec![open(20 * S_NS, 0)], time).0, Verdict::Failed, "{time}");
    }
}

/// What waits under a rate is what its users see, whatever the target takes.
#[test]
fn under_a_rate_it_is_response_times_that_must_be_steady() {
    let mut record = run();
    for (idx, interval) in record.intervals.iter_mut().enumerate() {
        let waited_ns = 3_000_000 + 20_000 * idx as u64;
        interval.dirs.read.response = IntervalResponse::of(&latencies(100, waited_ns));
    }
    let series = StepSeries::of(&record, 0);
    assert_eq!(series.service_p99_ns, [vec![2e6; 100]]);
    assert!(series.is_response);
    let waited_ns = &series.waited_p99_ns[0];
    assert!(waited_ns[99] > 1.5 * waited_ns[0], "{waited_ns:?}");
    let gates = of_step(&record, 0, false, &SteadyRule::default());
    let steady = gates.iter().find(|gate| gate.name == GateName::Steady).expect("it is judged");
    assert_eq!(steady.verdict, GateVerdict::Failed);
    assert!(steady.reason.starts_with("response p99 varied by "), "{}", steady.reason);
}

#[test]
fn a_point_adds_workers_up() {
    let point = Point::of_closed(&run(), 0).unwrap();
    assert_eq!((point.queue_depth, point.offered_iops), (Some(4), None));
    assert!((point.achieved_iops - 2_000.0).abs() < 1e-9);
    assert!((point.bytes_per_s - 2_000.0 * 4096.0).abs() < 1e-6);
    assert_eq!(point.latency.count(), 200_000);
    assert_eq!(point.latency.max_ns(), Some(1_990_000));
    assert_eq!(Point::of_closed(&run(), 1), None);
    // An open load is judged by response times, which this one has none of.
    assert_eq!(Point::of_open(&run(), 0, 2_000.0), None);
    let mut open = run();
    for job in &mut open.jobs {
        job.dirs.read.response = Some(latencies(100_000, 5_000_000));
    }
    let point = Point::of_open(&open, 0, 2_000.0).unwrap();
    assert_eq!(point.latency.max_ns(), Some(5_000_000));
    assert_eq!((point.queue_depth, point.offered_iops), (None, Some(2_000.0)));
}

/// Changes a good record, and returns the checks that do not pass any more.
fn trips(change: impl FnOnce(&mut Record)) -> Vec<(GateName, GateVerdict)> {
    let mut record = run();
    change(&mut record);
    let gates = of_step(&record, 0, true, &SteadyRule::default());
    let tripped = gates.iter().filter(|gate| gate.verdict != GateVerdict::Passed);
    tripped.map(|gate| (gate.name, gate.verdict)).collect()
}

#[test]
fn each_fault_trips_its_own_check() {
    use GateVerdict::Failed;
    assert_eq!(trips(|_| {}), []);
    assert_eq!(trips(|record| record.jobs[0].n_errors = 3), [(GateName::Errors, Failed)]);
    assert_eq!(
        trips(|record| {
            let late = record.intervals.iter_mut().filter(|interval| interval.end_ms > 60_000);
            late.for_each(|interval| interval.dirs.read.n_ios = 1_000);
        }),
        [(GateName::Steady, Failed)]
    );
    assert_eq!(
        trips(|record| {
            let late = record.intervals.iter_mut().filter(|interval| interval.end_ms > 60_000);
            late.for_each(|interval| interval.dirs.read.latency = p99(9_000_000));
        }),
        [(GateName::Steady, Failed)]
    );
    assert_eq!(trips(|record| record.jobs[1].queue_depth = 8), [(GateName::QueueDepth, Failed)]);
    assert_eq!(
        trips(|record| record.jobs[1].cpu_system_ns = 90 * S_NS),
        [(GateName::Generator, Failed)]
    );
}

#[test]
fn nothing_done_is_never_a_pass() {
    let gates = of_step(&run(), 7, true, &SteadyRule::default());
    assert!(gates.iter().all(|gate| gate.verdict == GateVerdict::Unknown), "{gates:?}");
}

/// A run that was stopped in its ramp: blocks were touched, and nothing was measured.
#[test]
fn caches_are_not_judged_of_a_run_that_measured_nothing() {
    let mut record = run();
    record.host.memory_bytes = 1 << 30;
    record.conditions =
        vec![StepConditions { touched_bytes: Some(4096), ..StepConditions::default() }];
    record.jobs.iter_mut().for_each(|job| job.is_direct = Some(false));
    let verdict = |record: &Record, name: &str| {
        let gates = assess(record, &Rules { cache_bytes: Some(1 << 30), ..Rules::default() });
        let gate = gates[0].gates.iter().find(|gate| gate.name == name).expect("it is judged");
        (gate.verdict, gate.reason.clone())
    };
    for name in ["page-cache", "footprint"] {
        assert_eq!(verdict(&record, name).0, Verdict::Failed, "{name}");
    }
    record.jobs.iter_mut().for_each(|job| job.dirs = PerDirRecord::default());
    for name in ["page-cache", "footprint"] {
        let (verdict, reason) = verdict(&record, name);
        assert_eq!((verdict, &*reason), (Verdict::NotAssessed, "nothing was measured"), "{name}");
    }
}

/// What keeps a queue full is another thing for each kind of queue, whatever its engine is called.
#[test]
fn the_advice_on_a_queue_that_is_not_full_is_that_of_its_engine() {
    let advice = |change: fn(&mut JobRecord)| {
        let mut record = run();
        for job in &mut record.jobs {
            (job.queue_depth, job.in_flight_mean, job.is_direct) = (8, Some(2.0), Some(false));
            change(job);
        }
        let steps = assess(&record, &Rules::default());
        let gate = steps[0].gates.iter().find(|gate| gate.name == GateName::QueueDepth.as_str());
        gate.and_then(|gate| gate.next_step.clone()).expect("the depth was missed")
    };
    let sync = advice(|job| job.engine = "psync".to_owned());
    assert!(sync.contains("ends an operation before it begins the next"), "{sync}");
    let aio = advice(|job| job.engine = "posixaio".to_owned());
    assert!(aio.contains("add direct=1"), "{aio}");
    let own = advice(|job| {
        let queue = EngineQueueRecord::Own;
        job.engine_traits = Some(EngineRecord { is_idle: false, queue });
    });
    assert!(own.contains("too slowly"), "{own}");
}

/// A rate that changes is not among the rates that were offered, but its operations have moments
/// at which they were due.
#[test]
fn a_load_at_a_rate_that_changes_keeps_no_depth() {
    let assessed = |has_rate: bool| {
        let mut record = run();
        for job in &mut record.jobs {
            (job.queue_depth, job.in_flight_mean) = (1024, Some(2.0));
            job.dirs.read.response = has_rate.then(|| latencies(100_000, 2_000_000));
        }
        let steps = assess(&record, &Rules::default());
        steps[0].gates.iter().any(|gate| gate.name == GateName::QueueDepth.as_str())
    };
    assert!(assessed(false) && !assessed(true));
}

/// Where CPU time was not counted, none is no sign of an idle generator.
#[test]
fn cpu_time_that_was_not_counted_is_not_judged() {
    assert_eq!(trips(|record| record.jobs[1].lacks_cpu = true), []);
    let tripped = trips(|record| record.jobs.iter_mut().for_each(|job| job.lacks_cpu = true));
    assert_eq!(tripped, [(GateName::Generator, GateVerdict::Unknown)]);
}

/// Workers that sleep between operations wait for a processor that has halted, where all are idle;
/// where others are at work they wait for these.
#[test]
fn a_wake_up_on_an_idle_host_is_no_wait_for_others() {
    let is_spoiled = |busy: f64, wait_us: u64| {
        let mut record = run();
        for job in &mut record.jobs {
            (job.n_cpu_slices, job.cpu_wait_ns) = (10_000, 10_000 * wait_us * 1_000);
            job.dirs.read.n_ios = 10_000;
            job.dirs.read.lat = latencies(10_000, 120_000);
        }
        record.conditions = vec![StepConditions {
            host_busy_share: Some(busy),
            own_busy_share: Some(0.02),
            host_steal_share: Some(0.0),
            ..StepConditions::default()
        }];
        let validity = assess(&record, &Rules::default());
        let gate = validity[0].gate(GateName::Generator.as_str()).expect("it is judged");
        gate.verdict == Verdict::Failed
    };
    assert!(!is_spoiled(0.02, 69), "it wakes up");
    assert!(is_spoiled(0.02, 400), "something else has the processor for that long");
    assert!(is_spoiled(0.5, 100), "others are at work");
}

/// A host that its own processors held back is hidden in the mean over all: it is named.
#[test]
fn the_worst_host_decides() {
    let host = |name: &str, record: Record| HostShareRecord {
        name: name.to_owned(),
        record,
        ..HostShareRecord::default()
    };
    let mut busy = run();
    busy.jobs.iter_mut().for_each(|job| job.cpu_user_ns = 90 * S_NS);
    busy.conditions = vec![StepConditions {
        host_busy_share: Some(1.0),
        own_busy_share: Some(1.0),
        host_steal_share: Some(0.0),
        ..StepConditions::default()
    }];
    busy.host.n_cpus = 2;
    let generator = |record: &Record| {
        let validity = assess(record, &Rules::default());
        let gate = validity[0].gate(GateName::Generator.as_str()).unwrap().clone();
        (gate.verdict, gate.reason)
    };
    let (alone, reason) = generator(&busy);
    assert_eq!(alone, Verdict::Failed, "{reason}");
    let hosts = vec![host("vm1", run()), host("vm2", busy), host("vm3", run())];
    let whole = Record { hosts, ..run() };
    assert_eq!(generator(&whole), (Verdict::Failed, format!("`vm2`: {reason}")));
    let quiet = Record { hosts: vec![host("vm1", run()), host("vm3", run())], ..run() };
    assert_eq!(generator(&quiet).0, generator(&run()).0);
    // One that came to nothing has no part to judge.
    let absent = Record { hosts: vec![host("vm0", Record::default())], ..quiet.clone() };
    assert_eq!(assess(&absent, &Rules::default())[0].gate("generator"), None);
}

/// What one of several hosts did not carry is little in the sum.
#[test]
fn a_sum_hides_no_host_that_missed_its_rate() {
    let of_host = |n_done: u64| {
        let mut job = worker();
        (job.runtime_ns, job.dirs.read.n_ios) = (20 * S_NS, n_done);
        let (offered_iops, spacing) = (1_000.0, "even".to_owned());
        job.arrivals = Some(ArrivalsRecord { offered_iops, spacing, ..Default::default() });
        Record { jobs: vec![job], ..Record::default() }
    };
    let judged = |done: [u64; 3]| {
        let parts = done.map(of_host);
        let jobs = parts.iter().flat_map(|part| part.jobs.clone()).collect();
        let hosts = parts.into_iter().enumerate().map(|(idx, record)| HostShareRecord {
            name: format!("vm{}", idx + 1),
            record,
            ..HostShareRecord::default()
        });
        let record = Record { jobs, hosts: hosts.collect(), ..Record::default() };
        let gate = assess(&record, &Rules::default())[0].gate(GateName::Offered.as_str()).cloned();
        gate.map(|gate| (gate.verdict, gate.reason)).expect("a rate was asked for")
    };
    let (verdict, reason) = judged([20_000, 17_400, 20_000]);
    let expected = "`vm2`: 87.0 % of 1000 IOPS were achieved (limit 95 %)";
    assert_eq!((verdict, &*reason), (Verdict::Failed, expected));
    let (verdict, reason) = judged([20_000, 19_600, 20_000]);
    assert_eq!((verdict, &*reason), (Verdict::Passed, "99.3 % of 3000 IOPS were achieved"));
}

#[track_caller]
fn check_mount(file_system: &str, options: &str, expected: &[(&str, &str)]) {
    let found = mount_remarks(file_system, options, 65_536);
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for (remark, (option, cost)) in found.iter().zip(expected) {
        assert_eq!(remark.option, *option);
        assert!(remark.cost.contains(cost), "{remark:?}");
    }
}

#[test]
fn mount_options_and_what_they_cost() {
    let good = "rw,vers=3,rsize=262144,wsize=262144,hard,proto=tcp,nconnect=8";
    check_mount("nfs", good, &[]);
    check_mount("nfs4", "rw,rsize=262144,wsize=262144", &[("nconnect", "one TCP connection")]);
    check_mount(
        "nfs",
        "rsize=4096,noac,soft,nconnect=4,sync",
        &[
            ("rsize=4096", "takes 16 calls"),
            ("noac", "not cached"),
            ("soft", "an error instead"),
            ("sync", "stable storage"),
        ],
    );
    check_mount("ext4", "rw,relatime,discard", &[("discard", "discard at once")]);
    check_mount("xfs", "rw,nobarrier", &[("nobarrier", "not durable")]);
    check_mount("ext4", "rw,relatime", &[]);
    let small = mount_remarks("nfs", "rsize=32768,nconnect=8", 4_096);
    assert!(small[0].cost.contains("read-ahead"), "{small:?}");
}

#[test]
fn figures_to_compare() {
    let of = |record: &Record| of_jobs(&record.jobs.iter().collect::<Vec<_>>(), Waited::FromIssue);
    let found = of(&run());
    let names: Vec<String> =
        found.iter().map(|it| format!("{} {}", it.dir, it.figure.metric())).collect();
    let expected = [
        " iops",
        " bytes_per_s",
        "read iops",
        "read bytes_per_s",
        "read mean_ns",
        "read p50_ns",
        "read p95_ns",
        "read p99_ns",
        "read p99_9_ns",
    ];
    assert_eq!(names, expected);
    assert!((found[0].value - 2_000.0).abs() < 1e-9);
    assert!((found[4].value - 1_990_000.0).abs() < 1e-9);
    let better = |metric: &str| {
        Compared::all().find(|it| it.name() == metric).expect("it is compared").better()
    };
    assert_eq!((better("iops"), better("mean_ns")), (BetterWhen::Higher, BetterWhen::Lower));
    assert_eq!(
        (better("bytes_per_s"), better("second_p99_ns")),
        (BetterWhen::Higher, BetterWhen::Lower)
    );
    // Ten operations must lie beyond a percentile.
    let mut short = run();
    for job in &mut short.jobs {
        job.dirs.read.n_ios = 500;
        job.dirs.read.clat = latencies(500, 1_990_000);
    }
    let thin = of(&short).into_iter().filter(|it| it.thin.is_some());
    let thin: Vec<&str> = thin.map(|it| it.figure.metric()).collect();
    assert_eq!(thin, ["p99_9_ns"], "1,000 operations have one beyond 99.9 %");
}

#[test]
fn the_order_of_runs() {
    let check = |baseline: &[u64], candidate: &[u64], order| {
        assert_eq!(run_order(baseline, candidate), order, "{baseline:?} {candidate:?}");
    };
    check(&[1, 2, 3, 4], &[5, 6, 7, 8], RunOrder::Blocks);
    check(&[5, 6, 7, 8], &[1, 2, 3, 4], RunOrder::Blocks);
    check(&[1, 4, 5, 8], &[2, 3, 6, 7], RunOrder::Pairs);
    check(&[1, 3, 5], &[2, 4, 6], RunOrder::Pairs);
    check(&[1, 2, 5, 6], &[3, 4, 7, 8], RunOrder::Mixed);
    // One run was not kept: what follows makes no pairs.
    check(&[1, 4, 5, 8], &[2, 3, 7], RunOrder::Mixed);
    check(&[4, 1, 5, 8], &[2, 3, 6, 7], RunOrder::Mixed);
    check(&[7, 7, 7], &[7, 7, 7], RunOrder::Blocks);
    check(&[1], &[2], RunOrder::Blocks);
    check(&[1, 2, 3, 4, 5, 12, 13, 14], &[6, 7, 8, 9, 10, 11], RunOrder::Blocks);
}

/// Returns in what a changed record differs from the good one.
fn differs(change: impl FnOnce(&mut Record)) -> Vec<(DifferenceKind, String)> {
    let mut other = run();
    change(&mut other);
    differences(&run(), &other).into_iter().map(|found| (found.kind, found.what)).collect()
}

#[test]
fn unlike_runs_say_what_differs() {
    use DifferenceKind::{Surroundings, Workload};
    let option = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(differs(|_| {}), []);
    let found = differs(|record| {
        record.host.kernel = "Linux 6.12".to_owned();
        record.global_options.push(option("bs", "8k"));
        record.jobs[0].options.push(option("runtime", "60"));
        record.jobs[0].queue_depth = 4;
        record.started_unix_ms = 1;
    });
    let expected = [
        (Workload, "bs"),
        (Workload, "iodepth"),
        (Surroundings, "kernel"),
        (Surroundings, "runtime"),
    ];
    assert_eq!(found, expected.map(|(kind, what)| (kind, what.to_owned())));
    let fewer = differs(|record| record.jobs.truncate(1));
    assert_eq!(fewer, [(Workload, "workers".to_owned())]);
}

/// The parameters of fio that have a usual value.
fn usual() -> Vec<&'static Param> {
    all().filter(|param| !param.fio.is_empty() && !param.default.is_empty()).collect()
}

fn written(param: &Param, value: &str) -> (String, String) {
    (param.fio[0].to_owned(), value.to_owned())
}

proptest! {
    #[test]
    fn a_usual_value_means_the_same_written_or_not(
        chosen in prop::sample::subsequence(usual(), 0..40),
        is_global in any::<bool>(),
    ) {
        let found = differs(|record| {
            let options = chosen.iter().map(|param| written(param, param.default));
            if is_global {
                record.global_options.extend(options);
            } else {
                record.jobs[0].options.extend(options);
            }
        });
        prop_assert_eq!(found, []);
    }

    #[test]
    fn another_value_is_another_workload_where_it_says_what_is_done(
        param in prop::sample::select(usual()),
    ) {
        let other = match param.kind {
            ValueKind::Bool if param.default == "1" => "0",
            ValueKind::Bool => "1",
            ValueKind::Int { .. } => "7777",
            _ => return Ok(()),
        };
        let found = differs(|record| record.jobs[0].options.push(written(param, other)));
        let kind = if param.is_load {
            DifferenceKind::Workload
        } else {
            DifferenceKind::Surroundings
        };
        // How many workers there are, and how deep, is taken from what they did.
        let is_done = ["numjobs", "iodepth"].contains(&param.fio[0]);
        let expected = [(kind, param.fio[0].to_owned())];
        prop_assert_eq!(found.as_slice(), if is_done { &[] } else { &expected[..] });
    }
}

#[test]
fn a_flag_is_set_without_a_value_and_logs_are_no_workload() {
    let option = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let found = differs(|record| {
        record.jobs[0].options.push(option("norandommap", ""));
        record.jobs[0].options.push(option("write_hist_log", "h"));
        record.jobs[0].options.push(option("log_hist_msec", "100"));
        record.jobs[0].options.push(option("not_known", "1"));
    });
    let expected = [
        (DifferenceKind::Workload, "norandommap"),
        (DifferenceKind::Workload, "not_known"),
        (DifferenceKind::Surroundings, "log_hist_msec"),
        (DifferenceKind::Surroundings, "write_hist_log"),
    ];
    assert_eq!(found, expected.map(|(kind, what)| (kind, what.to_owned())));
}
