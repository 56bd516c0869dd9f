//! Golden lines in every mode, files that fail, and the writer's end.

use std::fs;
use std::sync::mpsc::SyncSender;

use plan::report::LogValue;
use plan::{EngineKind, IoPriority, Job};

use super::*;

const IO: LogEvent = LogEvent::Io {
    at_ns: 2_612_000,
    dir: Direction::Write,
    len: 8192,
    offset: 24576,
    slat_ns: 632,
    clat_ns: 36205,
    lat_ns: 36837,
    file_idx: 0,
    priority: IoPriority::NONE,
};

const WINDOW: LogEvent = LogEvent::Window {
    at_ns: 500_000_000,
    length_ns: 500_000_000,
    dir: Direction::Read,
    n_ios: 1001,
    bytes: 1001 * 4096,
    latencies: [(1001 * 100, 150), (1001 * 7 + 700, 90), (1001 * 107 + 300, 240)],
};

/// A window's last part.
fn rest(length_ns: u64) -> LogEvent {
    LogEvent::Window {
        at_ns: 1_000_000_000 + length_ns,
        length_ns,
        dir: Direction::Trim,
        n_ios: 3,
        bytes: 3072,
        latencies: [(3, 1), (6, 3), (9, 4)],
    }
}

fn job(change: impl FnOnce(&mut Job)) -> Job {
    let mut job = Job { name: "job".to_owned(), ..Job::default() };
    job.engine.kind = EngineKind::Uring;
    change(&mut job);
    job
}

/// Compares the lines of bandwidth, IOPS, slat, clat and lat.
#[track_caller]
fn check(change: impl FnOnce(&mut Job), event: &LogEvent, expected: [&str; 5]) {
    let style = LineStyle::new(&job(change));
    let lines = KINDS.map(|kind| {
        let mut text = String::new();
        style.put(&mut text, kind, event, 0);
        text.trim_end_matches('\n').to_owned()
    });
    assert_eq!(lines, expected);
}

/// The figures are those of a run of fio 3.33: an I/O of 8 KiB with clat 36205 ns is logged there
/// as bandwidth 226267.
#[test]
fn each_io_is_a_line() {
    let expected = [
        "2, 226267, 1, 8192, 0",
        "2, 1, 1, 8192, 0",
        "2, 632, 1, 8192, 0",
        "2, 36205, 1, 8192, 0",
        "2, 36837, 1, 8192, 0",
    ];
    check(|_| {}, &IO, expected);
    check(|job| job.logs.value = LogValue::Max, &IO, expected);
}

#[test]
fn every_column_has_its_switch() {
    let all = |job: &mut Job| {
        job.logs.value = LogValue::Both;
        job.logs.offset = true;
        job.logs.priority = true;
        job.logs.issue_time = true;
        job.process.io_priority_class = 2;
        job.process.io_priority = 4;
    };
    check(
        all,
        &IO,
        [
            "2, 226267, 226267, 1, 8192, 24576, 0x4004, 0",
            "2, 1, 1, 1, 8192, 24576, 0x4004, 0",
            "2, 632, 632, 1, 8192, 24576, 0x4004, 2575795",
            "2, 36205, 36205, 1, 8192, 24576, 0x4004, 2575795",
            "2, 36837, 36837, 1, 8192, 24576, 0x4004, 0",
        ],
    );
    let LogEvent::Io { at_ns, dir, len, offset, slat_ns, clat_ns, lat_ns, file_idx, .. } = IO
    else {
        panic!("an I/O")
    };
    let priority = IoPriority::new(1, 2, 3);
    let raised =
        LogEvent::Io { at_ns, dir, len, offset, slat_ns, clat_ns, lat_ns, file_idx, priority };
    check(
        all,
        &raised,
        [
            "2, 226267, 226267, 1, 8192, 24576, 0x201a, 0",
            "2, 1, 1, 1, 8192, 24576, 0x201a, 0",
            "2, 632, 632, 1, 8192, 24576, 0x201a, 2575795",
            "2, 36205, 36205, 1, 8192, 24576, 0x201a, 2575795",
            "2, 36837, 36837, 1, 8192, 24576, 0x201a, 0",
        ],
    );
    let real_time = |job: &mut Job| job.process.io_priority_class = 1;
    check(
        real_time,
        &IO,
        [
            "2, 226267, 1, 8192, 1",
            "2, 1, 1, 8192, 1",
            "2, 632, 1, 8192, 1",
            "2, 36205, 1, 8192, 1",
            "2, 36837, 1, 8192, 1",
        ],
    );
}

#[test]
fn windows_hold_rates_and_rounded_means() {
    let windows = |value: LogValue| {
        move |job: &mut Job| {
            job.logs.window_ms = 500;
            job.logs.value = value;
        }
    };
    let rates = ["500, 8008, 0, 0, 0", "500, 2002, 0, 0, 0"];
    check(
        windows(LogValue::Average),
        &WINDOW,
        [rates[0], rates[1], "500, 100, 0, 0, 0", "500, 8, 0, 0, 0", "500, 107, 0, 0, 0"],
    );
    check(
        windows(LogValue::Max),
        &WINDOW,
        [rates[0], rates[1], "500, 150, 0, 0, 0", "500, 90, 0, 0, 0", "500, 240, 0, 0, 0"],
    );
    check(
        windows(LogValue::Both),
        &WINDOW,
        [
            "500, 8008, 8008, 0, 0, 0",
            "500, 2002, 2002, 0, 0, 0",
            "500, 100, 150, 0, 0, 0",
            "500, 8, 90, 0, 0, 0",
            "500, 107, 240, 0, 0, 0",
        ],
    );
}

#[test]
fn a_rate_of_a_moment_is_not_logged() {
    let window = |job: &mut Job| job.logs.window_ms = 500;
    let latencies = ["1060, 1, 2, 0, 0", "1060, 2, 2, 0, 0", "1060, 3, 2, 0, 0"];
    let [slat, clat, lat] = latencies;
    check(window, &rest(60_000_000), ["1060, 50, 2, 0, 0", "1060, 50, 2, 0, 0", slat, clat, lat]);
    let latencies = latencies.map(|line| line.replace("1060", "1040"));
    let [slat, clat, lat] = latencies.each_ref().map(String::as_str);
    check(window, &rest(40_000_000), ["", "", slat, clat, lat]);
}

#[test]
fn a_synchronous_engine_has_no_submission_to_log() {
    let expected = [
        "2, 226267, 1, 8192, 0",
        "2, 1, 1, 8192, 0",
        "",
        "2, 36205, 1, 8192, 0",
        "2, 36837, 1, 8192, 0",
    ];
    check(|job| job.engine.kind = EngineKind::Sync, &IO, expected);
}

#[test]
fn an_io_without_duration_has_no_bandwidth() {
    let io = LogEvent::Io {
        at_ns: 0,
        dir: Direction::Read,
        len: u32::MAX,
        offset: 0,
        slat_ns: 0,
        clat_ns: 0,
        lat_ns: 0,
        file_idx: 0,
        priority: IoPriority::NONE,
    };
    check(
        |_| {},
        &io,
        [
            "0, 0, 0, 4294967295, 0",
            "0, 1, 0, 4294967295, 0",
            "0, 0, 0, 4294967295, 0",
            "0, 0, 0, 4294967295, 0",
            "0, 0, 0, 4294967295, 0",
        ],
    );
}

/// Logs of one step in a folder of their own.
struct Step {
    folder: tempfile::TempDir,
    setup: LogSetup,
    meters: Arc<Meters>,
}

impl Step {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = Clock::start_monotonic();
        let setup = LogSetup::new(clock, 1_795_234_104_000, folder.path(), 2);
        Step { folder, setup, meters: Meters::new() }
    }

    /// Adds a worker whose events the test sends itself.
    fn add(&mut self, job: &Job, number: u32) -> SyncSender<LogEvent> {
        self.setup.add(job, number, &self.meters, &[]).unwrap();
        let (sender, events) = sync_channel(1000);
        self.setup.inputs.last_mut().unwrap().events = Some(events);
        sender
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.folder.path().join(name)).unwrap()
    }

    /// Names of the files, sorted.
    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

fn finish(setup: LogSetup) -> Vec<Finding> {
    setup.start().unwrap().unwrap().finish()
}

#[test]
fn files_are_named_as_fio_names_them() {
    let mut step = Step::new();
    let all = job(|job| {
        job.logs.bandwidth = Some(String::new());
        job.logs.iops = Some("x".to_owned());
        job.logs.latency = Some("x".to_owned());
        job.logs.histogram = Some("x".to_owned());
    });
    step.add(&all, 3);
    let fewer = job(|job| {
        job.logs.latency = Some("y".to_owned());
        job.reporting.disable_slat = true;
        job.reporting.disable_lat = true;
    });
    step.add(&fewer, 12);
    assert_eq!(
        step.names(),
        [
            "job_bw.3.log",
            "x_clat.3.log",
            "x_clat_hist.3.log",
            "x_iops.3.log",
            "x_lat.3.log",
            "x_slat.3.log",
            "y_clat.12.log",
        ]
    );
}

#[test]
fn workers_may_share_a_file_which_is_continued() {
    let mut step = Step::new();
    fs::write(step.folder.path().join("x_iops.log"), "before\n").unwrap();
    let job = job(|job| {
        job.logs.iops = Some("x".to_owned());
        job.logs.per_worker = false;
    });
    for number in 1..=2 {
        step.add(&job, number).send(IO).unwrap();
    }
    let Step { folder, setup, .. } = step;
    assert_eq!(finish(setup), []);
    let text = fs::read_to_string(folder.path().join("x_iops.log")).unwrap();
    assert_eq!(text, "before\n2, 1, 1, 8192, 0\n2, 1, 1, 8192, 0\n");
}

#[test]
fn times_count_from_the_epoch_if_asked_for() {
    let mut step = Step::new();
    step.meters.measured_since_ns.store(7_000_000, Relaxed);
    let job = job(|job| {
        job.logs.iops = Some("x".to_owned());
        job.logs.unix_epoch = true;
    });
    step.add(&job, 1).send(IO).unwrap();
    let setup = std::mem::replace(&mut step.setup, Step::new().setup);
    assert_eq!(finish(setup), []);
    assert_eq!(step.read("x_iops.1.log"), "1795234104009, 1, 1, 8192, 0\n");
}

#[test]
fn a_worker_without_logs_has_no_channel() {
    let mut step = Step::new();
    let sender = step.setup.add(&Job::default(), 1, &step.meters, &[]).unwrap();
    assert!(sender.is_none());
    assert!(step.setup.start().unwrap().is_none());
}

#[test]
fn a_full_disk_is_reported_and_ends_nothing() {
    let mut step = Step::new();
    let target = step.folder.path().join("x_bw.1.log");
    std::os::unix::fs::symlink("/dev/full", target).unwrap();
    let job = job(|job| {
        job.logs.bandwidth = Some("x".to_owned());
        job.logs.iops = Some("x".to_owned());
    });
    let sender = step.add(&job, 1);
    for _ in 0..10 {
        sender.send(IO).unwrap();
    }
    let setup = std::mem::replace(&mut step.setup, Step::new().setup);
    let findings = finish(setup);
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_eq!(findings[0].1, "log-incomplete");
    assert!(findings[0].2.contains("No space left on device"), "{}", findings[0].2);
    assert!(findings[0].2.ends_with("10 lines are lost"), "{}", findings[0].2);
    assert_eq!(step.read("x_iops.1.log").lines().count(), 10, "the other log is whole");
}

#[test]
fn a_file_that_cannot_be_opened_is_an_error_before_the_run() {
    let mut step = Step::new();
    let job = job(|job| job.logs.bandwidth = Some("no/such/folder/x".to_owned()));
    let error = step.setup.add(&job, 1, &step.meters, &[]).unwrap_err();
    assert!(error.to_string().contains("no/such/folder/x_bw.1.log`: No such file"), "{error}");
}

#[test]
fn workers_that_go_on_do_not_hold_up_the_end() {
    let mut step = Step::new();
    let sender = step.add(&job(|job| job.logs.iops = Some("x".to_owned())), 1);
    sender.send(IO).unwrap();
    let setup = std::mem::replace(&mut step.setup, Step::new().setup);
    assert_eq!(finish(setup), []);
    assert_eq!(step.read("x_iops.1.log").lines().count(), 1);
    assert!(sender.send(IO).is_err(), "the channel is closed");
}

/// Takes the columns of a line of a histogram log.
fn columns(line: &str) -> Vec<u64> {
    line.split(", ").map(|column| column.parse().unwrap()).collect()
}

#[test]
fn histograms_are_differences_and_the_last_interval_counts() {
    let mut step = Step::new();
    let job = job(|job| {
        job.logs.histogram = Some("x".to_owned());
        job.logs.histogram_window_ms = 1;
        job.logs.histogram_coarseness = 1;
    });
    step.setup.add(&job, 1, &step.meters, &[]).unwrap();
    let Input { histograms, .. } = &mut step.setup.inputs[0];
    let (log, idx) = histograms.as_mut().unwrap();
    let file = &mut step.setup.files[*idx];
    assert_eq!(log.tick(5_000_000, 0, file), None, "nothing has started");
    step.meters.measured_since_ns.store(6_000_000, Relaxed);
    assert_eq!(log.tick(6_000_000, 0, file), Some(7_000_000));
    step.meters.dirs[0].clat.record_n(10, 4);
    step.meters.dirs[1].clat.record(127);
    assert_eq!(log.tick(7_000_000, 0, file), Some(8_000_000));
    assert_eq!(log.tick(9_500_000, 0, file), Some(10_000_000), "nothing to say");
    step.meters.dirs[0].clat.record_n(11, 3);
    log.put(9_600_000, 100, file);
    file.flush();
    let text = step.read("x_clat_hist.1.log");
    let lines: Vec<_> = text.lines().map(columns).collect();
    let heads: Vec<_> = lines.iter().map(|line| &line[..3]).collect();
    assert_eq!(heads, [[1, 0, 4096], [1, 1, 4096], [103, 0, 4096]]);
    assert!(lines.iter().all(|line| line.len() == 3 + 1856 / 2));
    assert_eq!((lines[0][3 + 5], lines[1][3 + 63], lines[2][3 + 5]), (4, 1, 3));
    assert_eq!(lines.iter().map(|line| line[3..].iter().sum::<u64>()).sum::<u64>(), 8);
}

#[test]
fn bandwidth_of_the_whole_run() {
    let folder = tempfile::tempdir().unwrap();
    let interval = |end_ms: u64, ramp: bool, read: u64| Interval {
        step_idx: 0,
        end_ms,
        length_ms: 500,
        ramp,
        dirs: record::PerDirRecord {
            read: record::interval::IntervalDir { io_bytes: read << 20, ..Default::default() },
            ..Default::default()
        },
        ..Interval::default()
    };
    let intervals = [interval(500, true, 9), interval(1000, false, 1), interval(1500, false, 3)];
    let options = |prefix: &str, folder: &Path| RunOptions {
        bandwidth_log: Some(prefix.to_owned()),
        log_dir: Some(folder.to_owned()),
        ..RunOptions::default()
    };
    assert_eq!(bandwidth_logs(&options("", folder.path()), &intervals), []);
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    assert_eq!(read("agg-read_bw.log"), "1000, 2048, 0, 0, 0\n1500, 6144, 0, 0, 0\n");
    assert_eq!(read("agg-trim_bw.log"), "1000, 0, 2, 0, 0\n1500, 0, 2, 0, 0\n");
    let nowhere = folder.path().join("none");
    assert_eq!(bandwidth_logs(&options("x", &nowhere), &intervals).len(), 3);
    assert_eq!(bandwidth_logs(&RunOptions::default(), &intervals), []);
}
