//! Lines around a run: before it, during it, and in its log files.

use dialects::fio::output::log::{
    LogColumns, LogKind, LogLine, aggregate_file_name, file_name, histogram_line, line,
};
use dialects::fio::output::{
    COMPAT_VERSION, EtaStatus, JobState, eta_line, layout_line, start_lines,
};
use plan::workload::{Access, BlockSize};
use plan::{Direction, Job, PerDir, Plan, Step};

const MIXED: Access =
    Access { read: true, write: true, trim: false, random: false, trim_then_write: false };

fn plan_of(jobs: Vec<Job>) -> Plan {
    Plan { steps: vec![Step { jobs, ..Step::default() }], ..Plan::default() }
}

#[test]
fn what_is_printed_before_a_run() {
    let mut first = Job { name: "a".to_owned(), n_workers: 2, ..Job::default() };
    first.workload.access = Access { random: true, ..MIXED };
    first.workload.block_size.write = BlockSize::Range { min: 8192, max: 1 << 20 };
    first.engine.name = "libaio".to_owned();
    first.load.queue_depth = 4;
    let mut second = Job { name: "b".to_owned(), group_id: 1, ..Job::default() };
    second.workload.block_size_by_pattern = true;
    second.process.thread = true;
    let expected = "\
a: (g=0): rw=randrw, bs=(R) 4096B-4096B, (W) 8192B-1024KiB, (T) 4096B-4096B, \
ioengine=libaio, iodepth=4
...
b: (g=1): rw=read, bs=(R) 4096B-4096B, (W) 4096B-4096B, bs_is_seq_rand, ioengine=psync, iodepth=1
fio-3.42
Starting 1 thread and 2 processes
";
    assert_eq!(start_lines(&plan_of(vec![first, second]), COMPAT_VERSION), expected);
}

#[track_caller]
fn check_start(n_threads: u32, n_processes: u32, expected: &str) {
    let job = |thread, n_workers| {
        let mut job = Job { n_workers, ..Job::default() };
        job.process.thread = thread;
        job
    };
    let jobs = [job(true, n_threads), job(false, n_processes)];
    let jobs = jobs.into_iter().filter(|job| job.n_workers > 0).collect();
    let text = start_lines(&plan_of(jobs), COMPAT_VERSION);
    assert_eq!(text.lines().last(), Some(expected));
}

#[test]
fn workers_are_counted_as_threads_and_processes() {
    check_start(0, 1, "Starting 1 process");
    check_start(0, 2, "Starting 2 processes");
    check_start(1, 0, "Starting 1 thread");
    check_start(3, 0, "Starting 3 threads");
    check_start(2, 1, "Starting 2 threads and 1 process");
}

#[test]
fn every_walk_has_fios_word() {
    let word = |read, write, trim, random| {
        let access = Access { read, write, trim, random, trim_then_write: write && trim };
        let mut job = Job::default();
        job.workload.access = access;
        let text = start_lines(&plan_of(vec![job]), COMPAT_VERSION);
        text.split("rw=").nth(1).unwrap().split(',').next().unwrap().to_owned()
    };
    assert_eq!(word(true, false, false, false), "read");
    assert_eq!(word(false, true, false, false), "write");
    assert_eq!(word(true, true, false, false), "rw");
    assert_eq!(word(false, false, true, true), "randtrim");
    assert_eq!(word(false, true, true, true), "randtrimwrite");
    assert_eq!(word(true, false, false, true), "randread");
}

#[test]
fn files_being_laid_out() {
    assert_eq!(layout_line("z", 1, 4 << 20), "z: Laying out IO file (1 file / 4MiB)\n");
    assert_eq!(layout_line("z", 2, 4 << 20), "z: Laying out IO files (2 files / total 4MiB)\n");
}

fn status(states: &[JobState]) -> EtaStatus<'_> {
    EtaStatus {
        n_running: 1,
        n_files_open: 1,
        states,
        rate_limits_bytes: None,
        rate_limits_iops: None,
        done_pct: Some(24.84),
        rate_bytes: PerDir { read: 21_495_808, write: 24_641_536, trim: 0 },
        rate_iops: PerDir { read: 82, write: 94, trim: 0 },
        left_s: Some(91),
        kb_base: 1024,
        unit_base: 0,
        last_length: 0,
        columns: None,
    }
}

#[test]
fn the_status_line() {
    let states = [JobState::Done, JobState::Running(MIXED)];
    assert_eq!(
        eta_line(&status(&states)),
        "Jobs: 1 (f=1): [_(1),M(1)][24.8%][r=20.5MiB/s,w=23.5MiB/s][r=82,w=94 IOPS][eta 01m:31s]\r"
    );
    let rated = EtaStatus {
        rate_limits_iops: Some((0, 2000)),
        done_pct: None,
        left_s: None,
        rate_bytes: PerDir::default(),
        rate_iops: PerDir::default(),
        ..status(&states)
    };
    assert_eq!(eta_line(&rated), "Jobs: 1 (f=1), 0-2000 IOPS: [_(1),M(1)][-.-%][eta --]\r");
    let narrow = |columns| eta_line(&EtaStatus { columns: Some(columns), ..rated.clone() });
    assert_eq!(narrow(60), eta_line(&rated), "it fits");
    assert_eq!(narrow(45), "Jobs: 1 (f=1): [_(1),M(1)][-.-%][eta --]\r");
    assert_eq!(narrow(35), "Jobs: 1 (f=1): [-.-%][eta --]\r");
    assert_eq!(narrow(25), "Jobs: 1: [-.-%][eta --]\r");
    let over = EtaStatus { n_running: 0, n_files_open: 0, last_length: 20, ..status(&states) };
    assert_eq!(eta_line(&over), "Jobs: 0 (f=0)       \r");
}

#[test]
fn states_are_counted_in_runs() {
    use JobState::{NotCreated, Ramp, Running};
    let write = Access { read: false, random: true, ..MIXED };
    let states = [Ramp, Running(write), Running(write), NotCreated, NotCreated, NotCreated];
    assert!(eta_line(&status(&states)).contains(": [/(1),w(2),P(3)][24.8%]"));
}

#[track_caller]
fn check_left(left_s: u64, expected: &str) {
    let line = eta_line(&EtaStatus { left_s: Some(left_s), ..status(&[]) });
    assert!(line.ends_with(&format!("[eta {expected}]\r")), "{line}");
}

#[test]
fn time_left_has_hours_and_days_when_needed() {
    check_left(0, "00m:00s");
    check_left(3_600, "01h:00m:00s");
    check_left(86_400 + 61, "01d:00h:01m:01s");
}

#[test]
fn log_files_have_fios_names() {
    assert_eq!(file_name("out/x", LogKind::Bandwidth, Some(1)), "out/x_bw.1.log");
    assert_eq!(file_name("x", LogKind::ClatHistogram, Some(12)), "x_clat_hist.12.log");
    assert_eq!(file_name("x", LogKind::Slat, None), "x_slat.log");
    assert_eq!(aggregate_file_name(None, Direction::Write), "agg-write_bw.log");
    assert_eq!(aggregate_file_name(Some("p"), Direction::Read), "p-read_bw.log");
}

#[track_caller]
fn check_line(entry: &LogLine, columns: LogColumns, expected: &str) {
    let mut text = String::new();
    line(&mut text, entry, columns).unwrap();
    assert_eq!(text, format!("{expected}\n"));
}

#[test]
fn log_lines_have_the_columns_asked_for() {
    let entry = LogLine {
        time_ms: 7,
        value: 174_687,
        value_max: 200_000,
        dir: Direction::Write,
        block_bytes: 4096,
        offset_bytes: 8192,
        priority: 0x2004,
        issue_time_ns: 99,
    };
    let none = LogColumns::default();
    check_line(&LogLine { priority: 0, ..entry }, none, "7, 174687, 1, 4096, 0");
    check_line(&entry, none, "7, 174687, 1, 4096, 1");
    check_line(&LogLine { priority: 0x4000, ..entry }, none, "7, 174687, 1, 4096, 0");
    let all = LogColumns { value_max: true, offset: true, priority: true, issue_time: true };
    check_line(&entry, all, "7, 174687, 200000, 1, 4096, 8192, 0x2004, 99");
    let n = u64::MAX;
    let longest = LogLine {
        time_ms: n,
        value: n,
        value_max: n,
        dir: Direction::Trim,
        block_bytes: n,
        offset_bytes: n,
        priority: u16::MAX,
        issue_time_ns: n,
    };
    check_line(&longest, all, &format!("{n}, {n}, {n}, 2, {n}, {n}, 0xffff, {n}"));
    let smallest = LogLine { time_ms: 0, value: 0, block_bytes: 0, priority: 0, ..longest };
    check_line(&smallest, none, "0, 0, 2, 0, 0");
}

#[test]
fn histogram_lines_have_every_column() {
    let mut text = String::new();
    let mut latencies = hist::Histogram::new();
    latencies.record_n(3, 5);
    histogram_line(&mut text, 1010, Direction::Read, 4096, &latencies.to_fio_bins()).unwrap();
    assert!(text.starts_with("1010, 0, 4096, 0, 0, 0, 5, 0, "));
    assert_eq!(text.split(", ").count(), 3 + 1856);
    assert!(text.ends_with(", 0\n"));
}
