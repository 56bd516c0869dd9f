//! What a user sees at the end of a run.

use std::collections::BTreeMap;

use hist::Histogram;
use record::{
    DirRecord, DiskRecord, Figures, GateRecord, Interval, IntervalDir, JobRecord,
    LatencyTargetRecord, Note, NoteSeverity, Outcome, PerDirRecord, Record, SteadyRecord,
    StepValidity, SuiteRecord, SuiteRowRecord, Verdict,
};

use super::summary;

const SECOND_NS: u64 = 1_000_000_000;

fn histogram(parts: &[(u64, u64)]) -> Histogram {
    let mut hist = Histogram::new();
    for (latency_ns, n) in parts {
        hist.record_n(*latency_ns, *n);
    }
    hist
}

fn direction(n_ios: u64, block_bytes: u64, typical_ns: u64) -> DirRecord {
    let tail = n_ios / 200;
    let latency = histogram(&[(typical_ns, n_ios - tail), (typical_ns * 9, tail)]);
    DirRecord {
        io_bytes: n_ios * block_bytes,
        n_ios,
        runtime_ns: 10 * SECOND_NS,
        clat: latency.clone(),
        lat: latency,
        ..DirRecord::default()
    }
}

fn job(name: &str) -> JobRecord {
    JobRecord {
        name: name.to_owned(),
        n_workers: 4,
        engine: "io_uring".to_owned(),
        engine_used: "uring".to_owned(),
        queue_depth: 32,
        targets: vec!["/dev/nvme1n1".to_owned()],
        options: vec![("rw".to_owned(), "randrw".to_owned())],
        runtime_ns: 40 * SECOND_NS,
        cpu_user_ns: 4 * SECOND_NS,
        cpu_system_ns: 12 * SECOND_NS,
        context_switches: 1_250_000,
        dirs: PerDirRecord {
            read: direction(2_800_000, 8192, 305_000),
            write: direction(1_200_000, 8192, 252_000),
            ..PerDirRecord::default()
        },
        ..JobRecord::default()
    }
}

fn record(jobs: Vec<JobRecord>) -> Record {
    Record {
        plimsoll_version: "0.1.0".to_owned(),
        elapsed_ns: 12 * SECOND_NS + 345_000_000,
        jobs,
        ..Record::default()
    }
}

fn note(severity: NoteSeverity, message: &str) -> Note {
    Note { severity, code: "x".to_owned(), message: message.to_owned() }
}

fn seconds(step_idx: u32, n_ios: &[u64]) -> Vec<Interval> {
    let interval = |(idx, n_ios): (usize, &u64)| Interval {
        step_idx,
        end_ms: 1000 * (idx as u64 + 1),
        length_ms: 1000,
        ramp: idx == 0,
        dirs: PerDirRecord {
            read: IntervalDir { n_ios: *n_ios, ..IntervalDir::default() },
            ..PerDirRecord::default()
        },
        ..Interval::default()
    };
    n_ios.iter().enumerate().map(interval).collect()
}

/// Prints a record, and checks what holds for all of them.
fn print(record: &Record) -> String {
    let text = summary(record);
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "longer than 80 columns: {line}");
        assert_eq!(line.trim_end(), line, "blanks at the end");
    }
    assert!(text.ends_with('\n'));
    text
}

fn gate(name: &str, verdict: Verdict, reason: &str) -> GateRecord {
    GateRecord {
        name: name.to_owned(),
        verdict,
        reason: reason.to_owned(),
        next_step: (verdict == Verdict::Failed).then(|| "do something about it".to_owned()),
        figures: BTreeMap::new(),
    }
}

#[test]
fn what_the_checks_said_comes_first() {
    let mut record = record(vec![job("oltp")]);
    let mut gates = vec![
        gate("errors", Verdict::Passed, "no operation failed"),
        gate("steady", Verdict::NotAssessed, "5 s are too short"),
        gate("littles-law", Verdict::Passed, "off by nothing"),
    ];
    record.validity = vec![StepValidity { gates: gates.clone(), ..StepValidity::default() }];
    let text = print(&record);
    let expected = "checks passed: errors, littles-law; not assessed: steady\n\n";
    assert!(text.starts_with(expected), "{text}");
    let long = "client-bound: a worker was busy for 99.0 % (limit 95.0 %); the host was busy for \
                98.0 % (limit 95.0 %)";
    gates[2] = gate("page-cache", Verdict::Failed, "the page cache was used");
    gates.push(gate("generator", Verdict::Failed, long));
    record.validity = vec![StepValidity { gates: gates.clone(), ..StepValidity::default() }];
    let text = print(&record);
    assert!(text.starts_with("invalid: generator: client-bound: a worker was busy"), "{text}");
    let order = [
        "next: do something",
        "caution: page-cache: the page cache was used",
        "next: do something",
        "checks passed: errors; not assessed: steady\n\n",
    ];
    let mut rest = text.as_str();
    for part in order {
        let (_, after) = rest.split_once(part).unwrap_or_else(|| panic!("no `{part}`: {text}"));
        rest = after;
    }
    // Of several steps the first is named.
    let of_step = |step_idx| StepValidity { step_idx, gates: gates.clone(), ..Default::default() };
    record.validity = vec![of_step(0), of_step(1), of_step(2)];
    assert!(print(&record).starts_with("invalid: generator (step 1 and 2 more): "));
}

#[test]
fn one_job() {
    let mut record = record(vec![job("oltp")]);
    record.intervals = seconds(0, &[90_000, 398_000, 401_000, 402_000, 399_000]);
    record.disks = vec![DiskRecord {
        name: "nvme1n1".to_owned(),
        read_ios: 2_800_000,
        write_ios: 1_100_000,
        write_merges: 100_000,
        read_ticks_ms: 910_000,
        write_ticks_ms: 280_000,
        util_pct: 99.97,
        ..DiskRecord::default()
    }];
    insta::assert_snapshot!(print(&record), @r"
                   IOPS    MiB/s      mean       p50       p99     p99.9       max
    oltp: 4 workers x depth 32, io_uring, randrw 8 KiB, /dev/nvme1n1
      read        280 k     2188    317 µs    305 µs    305 µs   2.74 ms   2.75 ms
      write       120 k      938    262 µs    252 µs    252 µs   2.27 ms   2.27 ms
      moved     30.5 GiB in 10s, with 120 of 128 I/Os in flight on average
      cpu       10.0 % user, 30.0 % system, 4.00 µs per I/O; 1.25 M context switches
    per second: 398 k to 402 k IOPS, standard deviation 0.5 %

    disk nvme1n1: 100.0 % busy, 2.80 M reads at 325 µs, 1.10 M writes at 255 µs
      (+100 k merged)
    ");
}

/// A rate of 500 IOPS, and a second in which nothing completed.
#[test]
fn a_stall_under_a_rate() {
    let mut job = job("steady500");
    job.n_workers = 1;
    job.queue_depth = 1;
    job.dirs.write = DirRecord::default();
    job.dirs.read = direction(2_500, 4096, 110_000);
    job.dirs.read.response = Some(histogram(&[(120_000, 2_000), (600_000_000, 500)]));
    job.sync = histogram(&[(1_500_000, 25)]);
    job.runtime_ns = 10 * SECOND_NS;
    job.cpu_user_ns = SECOND_NS / 100;
    job.cpu_system_ns = SECOND_NS / 50;
    job.context_switches = 2_531;
    let mut record = record(vec![job]);
    record.notes = vec![
        note(NoteSeverity::Info, "the seed was drawn: 1234567"),
        note(
            NoteSeverity::Warning,
            "the rate was not held: 250.0 of 500 IOPS were offered in the worst second, so that \
             response times say more than service times",
        ),
    ];
    insta::assert_snapshot!(print(&record), @r"
    warning: the rate was not held: 250.0 of 500 IOPS were offered in the worst
      second, so that response times say more than service times
    note: the seed was drawn: 1234567

                   IOPS    MiB/s      mean       p50       p99     p99.9       max
    steady500: 1 worker x depth 1, io_uring, randrw 4 KiB, /dev/nvme1n1
      read          250     0.98    114 µs    110 µs    110 µs    989 µs    990 µs
       response                     120 ms    120 µs    600 ms    600 ms    600 ms
      sync         2.50            1.50 ms   1.50 ms   1.50 ms   1.50 ms   1.50 ms
      moved     9.77 MiB in 10s, with 0.03 of 1 I/Os in flight on average
      cpu       0.1 % user, 0.2 % system, 12.0 µs per I/O; 2531 context switches
    ");
}

#[test]
fn a_run_shorter_than_a_tick_of_the_cpu_clock_has_no_cpu_time_per_io() {
    let mut short = job("short");
    (short.cpu_user_ns, short.cpu_system_ns) = (0, 0);
    let text = print(&record(vec![short]));
    assert!(text.contains("cpu       0.0 % user, 0.0 % system; 1.25 M context switches"), "{text}");
}

#[test]
fn a_killed_run_has_no_cpu_time() {
    let mut killed = job("killed");
    (killed.cpu_user_ns, killed.cpu_system_ns, killed.context_switches) = (0, 0, 0);
    killed.lacks_cpu = true;
    let text = print(&record(vec![killed]));
    assert!(text.contains("moved ") && !text.contains("cpu "), "{text}");
}

#[test]
fn what_made_ready_without_io_has_no_rate() {
    let row = SuiteRowRecord {
        label: "trim all".to_owned(),
        preparation: true,
        steps: vec![0],
        figures: Figures::default(),
        sync: Figures::default(),
        measured_ns: 0,
        verdict: "invalid".to_owned(),
        reason: String::new(),
    };
    let mut record = record(vec![job("ready")]);
    let (name, title) = ("own".to_owned(), "one row".to_owned());
    record.suite = Some(SuiteRecord { name, title, rows: vec![row], ..SuiteRecord::default() });
    let text = print(&record);
    assert!(text.contains("made ready: trim all (invalid)\n"), "{text}");
}

#[test]
fn several_steps_and_jobs() {
    let mut fill = job("fill");
    fill.dirs.read = DirRecord::default();
    fill.dirs.write = direction(100_000, 1 << 20, 1_900_000);
    fill.options = vec![("rw".to_owned(), "write".to_owned())];
    let mut index = job("index");
    let mut logs = job("a name that is so long that it must be a mistake");
    index.step_idx = 1;
    logs.step_idx = 1;
    logs.dirs.read = DirRecord::default();
    logs.dirs.write = direction(1_000, 123_456, 2_700_000);
    logs.targets = vec!["/srv/a/directory/deep/down/log.0".to_owned(), "b".to_owned()];
    insta::assert_snapshot!(print(&record(vec![fill, index, logs])), @r"
    step 1
                   IOPS    MiB/s      mean       p50       p99     p99.9       max
    fill: 4 workers x depth 32, io_uring, write 1 MiB, /dev/nvme1n1
      write      10.0 k    10000   1.98 ms   1.90 ms   1.90 ms   17.1 ms   17.1 ms
      moved     97.7 GiB in 10s, with 19.8 of 128 I/Os in flight on average
      cpu       10.0 % user, 30.0 % system, 160 µs per I/O; 1.25 M context switches

    step 2
                   IOPS    MiB/s      mean       p50       p99     p99.9       max
    index: 4 workers x depth 32, io_uring, randrw 8 KiB, /dev/nvme1n1
      read        280 k     2188    317 µs    305 µs    305 µs   2.74 ms   2.75 ms
      write       120 k      938    262 µs    252 µs    252 µs   2.27 ms   2.27 ms
      moved     30.5 GiB in 10s, with 120 of 128 I/Os in flight on average
      cpu       10.0 % user, 30.0 % system, 4.00 µs per I/O; 1.25 M context switches
    a name that is so lon...: 4 workers x depth 32, io_uring, randrw mean 121 KiB
      write         100     11.8   2.81 ms   2.70 ms   2.70 ms   24.3 ms   24.3 ms
      moved     118 MiB in 10s, with 0.28 of 128 I/Os in flight on average
      cpu       10.0 % user, 30.0 % system, 16.0 ms per I/O; 1.25 M context switches
    total of 8 workers
      read        280 k     2188    317 µs    305 µs    305 µs   2.74 ms   2.75 ms
      write       120 k      949    264 µs    252 µs    252 µs   2.27 ms   24.3 ms
    ");
}

#[test]
fn errors_targets_and_steady_state() {
    let mut broken = job("broken");
    broken.error_errno = 5;
    broken.error_message =
        "read of 8192 B at offset 1099511627776 of /dev/nvme1n1: input/output error".to_owned();
    broken.dirs.read.errors.insert(5, 3);
    broken.dirs.write.errors.insert(999, 1);
    let mut search = job("search");
    search.engine_used =
        "aio, since the kernel forbids io_uring here (kernel.io_uring_disabled)".to_owned();
    search.latency_target = Some(LatencyTargetRecord {
        target_ns: 2_500_000,
        window_ns: SECOND_NS,
        percentile: 99.9,
        queue_depth: 17,
        met: true,
    });
    search.steady = Some(SteadyRecord {
        criterion_text: "iops_slope:0.3%".to_owned(),
        window_ns: 60 * SECOND_NS,
        attained: false,
        criterion: 0.7215,
        deviation_max: 0.0,
        slope: 0.0,
        iops: Vec::new(),
        bandwidth_kib_s: Vec::new(),
        latency_ns: Vec::new(),
    });
    let mut record = record(vec![broken, search]);
    record.outcome = Outcome::Failed;
    insta::assert_snapshot!(print(&record), @r"
    failed after 12.345s: 1 failed job

                   IOPS    MiB/s      mean       p50       p99     p99.9       max
    broken: 4 workers x depth 32, io_uring, randrw 8 KiB, /dev/nvme1n1
      read        280 k     2188    317 µs    305 µs    305 µs   2.74 ms   2.75 ms
      write       120 k      938    262 µs    252 µs    252 µs   2.27 ms   2.27 ms
      moved     30.5 GiB in 10s, with 120 of 128 I/Os in flight on average
      cpu       10.0 % user, 30.0 % system, 4.00 µs per I/O; 1.25 M context switches
      errors    3 x EIO (input/output error) on read
      errors    1 x error 999 on write
      failed    read of 8192 B at offset 1099511627776 of /dev/nvme1n1: input/output
                error
    search: 4 workers x depth 32, io_uring, randrw 8 KiB, /dev/nvme1n1
      read        280 k     2188    317 µs    305 µs    305 µs   2.74 ms   2.75 ms
      write       120 k      938    262 µs    252 µs    252 µs   2.27 ms   2.27 ms
      engine    aio, since the kernel forbids io_uring here
                (kernel.io_uring_disabled)
      moved     30.5 GiB in 10s, with 120 of 128 I/Os in flight on average
      cpu       10.0 % user, 30.0 % system, 4.00 µs per I/O; 1.25 M context switches
      target    99.9 % within 2.50 ms up to depth 17
      steady    iops_slope:0.3% not attained: 0.722 %
    total of 8 workers
      read        560 k     4375    317 µs    305 µs    305 µs   2.74 ms   2.75 ms
      write       240 k     1875    262 µs    252 µs    252 µs   2.27 ms   2.27 ms
    ");
}

#[test]
fn latency_that_was_not_measured() {
    let mut fast = job("fast");
    fast.dirs.read.lat = Histogram::new();
    fast.dirs.write.lat = Histogram::new();
    fast.dirs.write.clat = Histogram::new();
    insta::assert_snapshot!(print(&record(vec![fast])), @r"
                   IOPS    MiB/s      mean       p50       p99     p99.9       max
    fast: 4 workers x depth 32, io_uring, randrw 8 KiB, /dev/nvme1n1
      read clat   280 k     2188    317 µs    305 µs    305 µs   2.74 ms   2.75 ms
      write       120 k      938         -         -         -         -         -
      moved     30.5 GiB in 10s
      cpu       10.0 % user, 30.0 % system, 4.00 µs per I/O; 1.25 M context switches
    ");
}

#[test]
fn an_interrupted_run_without_any_io() {
    let mut idle = JobRecord { name: "idle".to_owned(), n_workers: 1, ..JobRecord::default() };
    idle.queue_depth = 1;
    let mut record = record(vec![idle]);
    record.outcome = Outcome::Interrupted;
    insta::assert_snapshot!(print(&record), @r"
    interrupted after 12.345s, before anything was measured

                   IOPS    MiB/s      mean       p50       p99     p99.9       max
    idle: 1 worker x depth 1
      no I/O
    ");
}

#[test]
fn nothing_at_all() {
    assert_eq!(print(&record(Vec::new())), "nothing was measured\n");
}

/// Thousands of workers without group reporting must not bury the total.
#[test]
fn many_entries_are_cut() {
    let jobs = (0..2_000).map(|idx| job(&format!("job{idx}"))).collect();
    let text = print(&record(jobs));
    assert!(text.contains("\n... and 1988 more entries, in the total below and in the record\n"));
    assert!(text.contains("\ntotal of 8000 workers\n"));
    assert!(text.lines().count() < 100, "{} lines", text.lines().count());
}

/// A record that was read from a file can hold any numbers.
#[test]
fn numbers_at_their_limits() {
    let mut job = job("wide");
    job.step_idx = u32::MAX;
    job.n_workers = u32::MAX;
    job.queue_depth = u32::MAX;
    job.dirs.read.io_bytes = u64::MAX;
    job.dirs.read.n_ios = u64::MAX;
    job.dirs.read.runtime_ns = 1;
    job.runtime_ns = u64::MAX;
    job.cpu_user_ns = u64::MAX;
    job.context_switches = u64::MAX;
    let disk = DiskRecord { read_ios: u64::MAX, read_ticks_ms: u64::MAX, ..Default::default() };
    let mut record = record(vec![job.clone(), job]);
    record.elapsed_ns = u64::MAX;
    record.disks = vec![disk];
    record.intervals = seconds(u32::MAX, &[u64::MAX; 5]);
    assert!(summary(&record).contains("wide"));
}
