//! Whole runs that write logs: what is in them must add up to what the record says.

use std::fs;
use std::path::Path;

use plan::files::Size;
use plan::load::{Rate, SteadyMetric, SteadyState};
use plan::{EngineKind, Job, PerDir, Plan, Step};
use record::Record;
use runner::{Control, RunOptions};

const MIB: u64 = 1 << 20;

fn null_job(name: &str) -> Job {
    let mut job = Job { name: name.to_owned(), ..Job::default() };
    job.engine.kind = EngineKind::Null;
    job.files.size = Some(Size::Bytes(8 * MIB));
    job
}

/// Runs each list of jobs as a step, with logs in `folder`.
fn run(steps: Vec<Vec<Job>>, folder: &Path, bandwidth_log: Option<&str>) -> Record {
    let steps = steps.into_iter().map(|jobs| Step { jobs, ..Step::default() }).collect();
    let plan = Plan { steps, ..Plan::default() };
    let options = RunOptions {
        aux_dir: Some(folder.to_owned()),
        log_dir: Some(folder.to_owned()),
        bandwidth_log: bandwidth_log.map(str::to_owned),
        ..RunOptions::default()
    };
    runner::run(&plan, &options, &Control::new(), &mut |_| {}).expect("the plan can run")
}

/// Reads a log as rows of numbers.
fn rows(folder: &Path, name: &str) -> Vec<Vec<u64>> {
    let text = fs::read_to_string(folder.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
    let row = |line: &str| line.split(", ").map(|word| word.parse().unwrap()).collect();
    text.lines().map(row).collect()
}

#[test]
fn every_io_is_in_every_log_of_its_worker() {
    let folder = tempfile::tempdir().unwrap();
    let logged = |name: &str, n_workers: u32| {
        let mut job = null_job(name);
        job.n_workers = n_workers;
        job.load.queue_depth = 4;
        job.logs.bandwidth = Some("x".to_owned());
        job.logs.iops = Some("x".to_owned());
        job.logs.latency = Some("x".to_owned());
        job.logs.offset = true;
        job
    };
    let record = run(vec![vec![logged("a", 2)], vec![logged("b", 1)]], folder.path(), None);
    assert_eq!(record.notes.iter().filter(|note| note.code == "log-incomplete").count(), 0);
    for number in 1..=3 {
        for kind in ["bw", "iops", "slat", "clat", "lat"] {
            let rows = rows(folder.path(), &format!("x_{kind}.{number}.log"));
            let offsets: Vec<u64> = rows.iter().map(|row| row[4]).collect();
            let expected: Vec<u64> = (0..8 * MIB / 4096).map(|idx| idx * 4096).collect();
            assert_eq!(offsets, expected, "{kind} of worker {number}");
            assert!(rows.iter().all(|row| row[2] == 0 && row[3] == 4096 && row[5] == 0));
        }
    }
    assert!(!folder.path().join("x_lat.4.log").exists());
}

#[test]
fn windows_and_histograms_add_up_to_the_record() {
    let folder = tempfile::tempdir().unwrap();
    let mut job = null_job("w");
    job.workload.access.random = true;
    job.load.rate = PerDir { read: Some(Rate::Iops(4000)), ..PerDir::default() };
    job.limits.runtime_ns = Some(250_000_000);
    job.limits.time_based = true;
    job.logs.iops = Some("w".to_owned());
    job.logs.latency = Some("w".to_owned());
    job.logs.window_ms = 100;
    job.logs.histogram = Some("w".to_owned());
    job.logs.histogram_window_ms = 100;
    let record = run(vec![vec![job]], folder.path(), Some(""));
    let n_ios = record.jobs[0].dirs.read.n_ios;
    let iops = rows(folder.path(), "w_iops.1.log");
    assert_eq!(iops[..2].iter().map(|row| row[0]).collect::<Vec<_>>(), [100, 200]);
    assert_eq!(iops.len(), 3, "the rest is half a window");
    let rest_s = (iops[2][0] - 200) as f64 / 1000.0;
    let counted = (iops[0][1] + iops[1][1]) as f64 * 0.1 + iops[2][1] as f64 * rest_s;
    assert!((counted - n_ios as f64).abs() <= 8.0, "{counted} of {n_ios}");
    assert_eq!(rows(folder.path(), "w_clat.1.log").len(), 3);
    let histograms = rows(folder.path(), "w_clat_hist.1.log");
    assert!(histograms.iter().all(|row| row.len() == 3 + 1856));
    assert_eq!(histograms.iter().flat_map(|row| &row[3..]).sum::<u64>(), n_ios);
    assert!(folder.path().join("agg-read_bw.log").exists());
}

#[test]
fn a_log_that_cannot_be_written_fails_its_job_before_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let mut job = null_job("x");
    job.logs.bandwidth = Some("no/folder/x".to_owned());
    let record = run(vec![vec![job]], folder.path(), None);
    let job = &record.jobs[0];
    assert_eq!((job.error_errno, job.dirs.read.n_ios), (2, 0));
    assert!(job.error_message.contains("no/folder/x_bw.1.log"), "{}", job.error_message);
}

#[test]
fn a_steady_group_ends_before_its_time() {
    let folder = tempfile::tempdir().unwrap();
    let mut job = null_job("s");
    job.n_workers = 2;
    job.reporting.group_reporting = true;
    job.load.rate = PerDir { read: Some(Rate::Iops(1000)), ..PerDir::default() };
    job.limits.runtime_ns = Some(60_000_000_000);
    job.limits.time_based = true;
    job.limits.steady = Some(SteadyState {
        metric: SteadyMetric::Iops,
        by_slope: false,
        limit: 50.0,
        limit_is_pct: true,
        window_ns: 600_000_000,
        ramp_ns: 100_000_000,
        check_interval_ns: 200_000_000,
    });
    let record = run(vec![vec![job]], folder.path(), None);
    let job = &record.jobs[0];
    let steady = job.steady.as_ref().expect("it was asked for");
    assert!(steady.attained, "{steady:?}");
    assert_eq!(steady.iops.len(), 3);
    assert!(steady.iops.iter().all(|iops| (1000..=3000).contains(iops)), "{steady:?}");
    let runtime_ms = job.dirs.read.runtime_ns / 1_000_000;
    assert!((690..10_000).contains(&runtime_ms), "{runtime_ms} ms");
}

#[test]
fn compressed_logs_hold_the_same_lines() {
    let folder = tempfile::tempdir().unwrap();
    let mut job = null_job("z");
    job.logs.iops = Some("z".to_owned());
    job.logs.compressed = true;
    job.logs.offset = true;
    run(vec![vec![job]], folder.path(), None);
    let packed = fs::read(folder.path().join("z_iops.1.log.fz")).unwrap();
    let text = dialects::fio::output::packed_log::unpack(&packed).unwrap();
    let offsets: Vec<u64> =
        text.lines().map(|line| line.split(", ").nth(4).unwrap().parse().unwrap()).collect();
    assert_eq!(offsets, (0..8 * MIB / 4096).map(|idx| idx * 4096).collect::<Vec<u64>>());
}
