//! Vdbench's raw workloads issue what their definitions say: parameter file, lowering and worker
//! together, on a device in virtual time.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::sync::Arc;

use dialects::NO_HOST;
use dialects::vdbench::lower::{Context, step};
use dialects::vdbench::{Lun, Options, parse_text, sd_format};
use plan::op::{Completion, Op, OpKind};
use plan::{EngineKind, Job, Plan, Step};
use runner::{Control, RunOptions};
use worker::{Decision, FileRegion, Meters, NoData, Worker, WorkerSpec};

const SD_BYTES: u64 = 1 << 30;
const LATENCY_NS: u64 = 1_000_000;

/// Parses a file and lowers all its runs.
#[track_caller]
fn steps(text: &str) -> Vec<Step> {
    let parsed = parse_text("parmfile", text, &Options::default(), &NO_HOST);
    assert_eq!((parsed.diagnostics, parsed.refusals), (vec![], vec![]));
    let mut findings = Vec::new();
    let context =
        Context { curve_step_idx: Some(0), first_group_id: 0, loader: &NO_HOST, sources: &[] };
    let steps = parsed.runs.iter().map(|run| step(run, context, &mut findings)).collect();
    assert_eq!(findings, []);
    steps
}

/// Runs a job's worker on a device that completes everything after a millisecond, and returns what
/// it issued. Time is virtual.
fn drive(job: &Job) -> Vec<Op> {
    let meters = Meters::of(job);
    let spec = WorkerSpec {
        worker_idx: 0,
        seed: pattern::derive(job.workload.seed, pattern::Stream::Worker, 0),
        files: vec![FileRegion { offset_bytes: 0, len_bytes: SD_BYTES }],
        amount_bytes: SD_BYTES,
        batch_max: 32,
        job: Arc::new(job.clone()),
    };
    let mut worker = Worker::new(&spec, meters).expect("the job fits the region");
    let (mut now_ns, mut seen) = (0, Vec::new());
    let mut in_flight: VecDeque<(u64, Completion)> = VecDeque::new();
    let mut ops = Vec::new();
    while let Decision::Exchange { min, until_ns } = worker.next(now_ns, &mut ops, &mut NoData) {
        worker.submitted(now_ns, &ops);
        in_flight.extend(ops.iter().map(|op| (now_ns + LATENCY_NS, Completion::whole(op))));
        seen.extend_from_slice(&ops);
        let min = (min as usize).min(in_flight.len());
        let due_ns = min.checked_sub(1).map(|last| in_flight[last].0);
        now_ns = match (due_ns, until_ns) {
            (Some(due_ns), Some(until_ns)) => now_ns.max(due_ns.min(until_ns)),
            (Some(due_ns), None) => now_ns.max(due_ns),
            (None, Some(until_ns)) if in_flight.is_empty() => now_ns.max(until_ns),
            _ => now_ns,
        };
        let n_due = in_flight.iter().take_while(|it| it.0 <= now_ns).count();
        let done: Vec<Completion> = in_flight.drain(..n_due).map(|it| it.1).collect();
        worker.complete(now_ns, ops.len(), &done, &mut NoData);
        assert!(seen.len() < 10_000_000, "the worker does not end");
    }
    seen
}

/// Returns what one workload definition issues on one storage definition in ten seconds at a
/// depth of ten: 100,000 I/Os unless it ends before.
#[track_caller]
fn issue(wd: &str) -> Vec<Op> {
    issue_on("", wd)
}

#[track_caller]
fn issue_on(sd: &str, wd: &str) -> Vec<Op> {
    let text = format!(
        "sd=sd1,lun=/tmp/made-up,size=1g,threads=10{sd}\nwd=wd1,sd=sd1{wd}\n\
         rd=rd1,wd=wd1,iorate=max,elapsed=10,interval=1\n"
    );
    let steps = steps(&text);
    assert_eq!((steps.len(), steps[0].jobs.len()), (1, 1));
    drive(&steps[0].jobs[0])
}

fn share_pct(ops: &[Op], is_counted: impl Fn(&Op) -> bool) -> f64 {
    ops.iter().filter(|op| is_counted(op)).count() as f64 / ops.len() as f64 * 100.0
}

#[track_caller]
fn assert_near(got: f64, expected: f64, tolerance: f64) {
    assert!((got - expected).abs() <= tolerance, "{got}, not {expected}");
}

/// Returns the share of I/Os that neither go on where the one before ended nor start over.
fn seek_pct(ops: &[Op]) -> f64 {
    let is_seek = |pair: &&[Op]| {
        let end = pair[0].offset + u64::from(pair[0].len);
        pair[1].offset != end && !(pair[1].offset == 0 && end == SD_BYTES)
    };
    ops.windows(2).filter(is_seek).count() as f64 / (ops.len() - 1) as f64 * 100.0
}

#[test]
fn the_queue_is_as_deep_as_there_are_threads() {
    assert_near(issue("").len() as f64, 100_000.0, 10.0);
    assert_near(issue_on(",threads=3", "").len() as f64, 30_000.0, 3.0);
}

#[test]
fn so_many_percent_read() {
    for rdpct in [0.0, 1.0, 50.0, 70.0, 100.0] {
        let ops = issue(&format!(",rdpct={rdpct}"));
        assert_near(share_pct(&ops, |op| op.kind == OpKind::Read), rdpct, 0.6);
        assert!(ops.iter().all(|op| matches!(op.kind, OpKind::Read | OpKind::Write)));
    }
}

#[test]
fn so_many_percent_seek() {
    for seekpct in [0.0, 20.0, 50.0, 100.0] {
        for rdpct in [100, 60] {
            let ops = issue(&format!(",seekpct={seekpct},rdpct={rdpct},xfersize=8k"));
            assert_near(seek_pct(&ops), seekpct, 0.6);
        }
    }
    assert_near(seek_pct(&issue(",seekpct=random")), 100.0, 0.1);
    let ops = issue(",seekpct=seq,xfersize=64k");
    assert!(ops.iter().enumerate().all(|(k, op)| op.offset == k as u64 * 65_536 % SD_BYTES));
}

/// Fractions count, as Vdbench compares a random fraction with them.
#[test]
fn fractions_of_a_percent_seek() {
    assert_near(seek_pct(&issue(",seekpct=87.5")), 87.5, 0.4);
}

#[test]
fn a_sequential_walk_starts_elsewhere_or_ends() {
    let ops = issue(",seekpct=seqnz,xfersize=1m");
    assert!(ops[0].offset > 0);
    assert_near(seek_pct(&ops), 0.0, 0.0);
    assert!(ops.len() > 90_000);
    let once = issue(",seekpct=eof,xfersize=1m");
    assert!(once.iter().map(|op| op.offset).eq((0..1024).map(|k| k << 20)));
}

#[test]
fn sizes_have_their_shares_and_places_are_multiples_of_them() {
    let ops = issue(",xfersize=(4k,10,8k,60,64k,30),seekpct=100,rdpct=50");
    for (len, pct) in [(4096, 10.0), (8192, 60.0), (65_536, 30.0)] {
        assert_near(share_pct(&ops, |op| op.len == len), pct, 0.6);
    }
    assert!(ops.iter().all(|op| op.offset.is_multiple_of(op.len.into())));
    let thirds = issue(",xfersize=(4k,33.3,8k,33.3,16k,33.4)");
    assert_near(share_pct(&thirds, |op| op.len == 4096), 33.3, 0.6);
    let range = issue_on(",align=4k", ",xfersize=(4k,32k,4k)");
    for len in (4096..=32_768).step_by(4096) {
        assert_near(share_pct(&range, |op| op.len == len), 12.5, 0.5);
    }
    assert!(range.iter().all(|op| op.offset.is_multiple_of(4096)));
}

#[test]
fn ranges_bound_where_it_goes() {
    let gib = SD_BYTES as f64;
    let bounds = |ops: &[Op]| {
        let low = ops.iter().map(|op| op.offset).min().unwrap_or(0) as f64;
        let high = ops.iter().map(|op| op.offset + u64::from(op.len)).max().unwrap_or(0) as f64;
        (low / gib * 100.0, high / gib * 100.0)
    };
    let (low, high) = bounds(&issue(",range=(40,60)"));
    assert!(low >= 39.99 && high <= 60.0 && low < 40.1 && high > 59.9, "{low} {high}");
    let (low, high) = bounds(&issue_on(",range=(10,20)", ""));
    assert!(low >= 9.99 && high <= 20.0 && low < 10.1 && high > 19.9, "{low} {high}");
    let wrapped = issue(",range=(90,110)");
    let is_outside = |op: &Op| {
        let at = op.offset as f64 / gib;
        (0.1..0.8999).contains(&at)
    };
    assert_near(share_pct(&wrapped, is_outside), 0.0, 0.0);
    assert_near(share_pct(&wrapped, |op| op.offset < SD_BYTES / 2), 50.0, 0.8);
    let bytes = issue(",range=(100m,200m)");
    let mib = |n: u64| n << 20;
    assert!(bytes.iter().all(|op| (mib(100)..mib(200)).contains(&op.offset)));
}

#[test]
fn hits_go_to_the_hit_area() {
    for (rhpct, whpct) in [(50.0, 0.0), (20.0, 80.0), (100.0, 100.0)] {
        let ops =
            issue_on(",hitarea=8m", &format!(",rdpct=60,rhpct={rhpct},whpct={whpct},xfersize=8k"));
        for (kind, pct) in [(OpKind::Read, rhpct), (OpKind::Write, whpct)] {
            let of_kind: Vec<Op> = ops.iter().filter(|op| op.kind == kind).copied().collect();
            assert_near(share_pct(&of_kind, |op| op.offset < 8 << 20), pct, 0.9);
        }
    }
}

#[test]
fn strides_go_forward() {
    let ops = issue(",stride=(1m,1m),xfersize=4k,seekpct=100");
    let gaps: Vec<u64> = ops
        .windows(2)
        .filter(|pair| pair[1].offset > 0)
        .map(|pair| pair[1].offset - pair[0].offset - u64::from(pair[0].len))
        .collect();
    assert!(gaps.len() > 90_000 && gaps.iter().all(|gap| *gap == 1 << 20));
}

#[test]
fn poisson_and_hot_bands_lean_to_the_front() {
    let ops = issue(",seekpct=(poisson,3)");
    let below =
        |ops: &[Op], share: f64| share_pct(ops, |op| (op.offset as f64) < SD_BYTES as f64 * share);
    // (1 - e^(-3x)) / (1 - e^-3) at a third.
    assert_near(below(&ops, 1.0 / 3.0), 66.52, 0.7);
    let ops = issue(",hotband=(0,100)");
    assert_near(below(&ops, 0.1), 46.4, 0.7);
    let ops = issue(",hotband=(50,60)");
    assert_near(below(&ops, 0.5), 0.0, 0.0);
    assert_near(below(&ops, 0.51), 46.4, 0.7);
    assert_near(below(&ops, 0.6), 100.0, 0.0);
}

#[test]
fn streams_keep_to_their_parts() {
    let ops = issue(",seekpct=0,streams=4,xfersize=64k");
    let part = SD_BYTES / 4;
    for (k, op) in ops.iter().enumerate() {
        let (stream, turn) = (k as u64 % 4, k as u64 / 4);
        assert_eq!(op.offset, stream * part + turn * 65_536 % part);
    }
}

#[test]
fn skew_divides_what_is_issued() {
    let text = "sd=sd1,lun=/tmp/made-up,size=1g,threads=10\n\
                wd=wd1,sd=sd1,skew=70,xfersize=4k\nwd=wd2,sd=sd1,skew=25,xfersize=8k,rdpct=0\n\
                wd=wd3,sd=sd1,skew=5,xfersize=64k\n\
                rd=rd1,wd=wd*,iorate=max,elapsed=10,interval=1\n";
    let ops = drive(&steps(text)[0].jobs[0]);
    for (len, pct) in [(4096, 70.0), (8192, 25.0), (65_536, 5.0)] {
        assert_near(share_pct(&ops, |op| op.len == len), pct, 0.05);
    }
    let is_wrong = |op: &Op| (op.len == 8192) != (op.kind == OpKind::Write);
    assert_near(share_pct(&ops, is_wrong), 0.0, 0.0);
}

#[test]
fn rates_of_workloads_that_use_up_the_runs_leave_nothing_to_others() {
    let text = "sd=sd1,lun=/tmp/made-up,size=1g,threads=10\n\
                wd=wd1,sd=sd1,iorate=500,priority=1,xfersize=4k\n\
                wd=wd2,sd=sd1,priority=2,xfersize=8k\n\
                rd=rd1,wd=wd*,iorate=(300,500),elapsed=10,interval=1,distribution=deterministic\n";
    let parsed = parse_text("parmfile", text, &Options::default(), &NO_HOST);
    let codes: Vec<&str> = parsed.diagnostics.iter().map(|found| found.code).collect();
    assert_eq!(codes, ["rates-above-run"]);
    let context =
        Context { curve_step_idx: None, first_group_id: 0, loader: &NO_HOST, sources: &[] };
    for run in &parsed.runs {
        let ops = drive(&step(run, context, &mut Vec::new()).jobs[0]);
        let rate = if run.name == "rd1" && run.loops[0].1 == "300" { 300.0 } else { 500.0 };
        assert_near(ops.len() as f64, rate * 10.0, 2.0);
        assert_near(share_pct(&ops, |op| op.len == 4096), 100.0, 0.0);
    }
}

#[test]
fn a_rate_is_met() {
    for distribution in ["exponential", "uniform", "deterministic"] {
        let text = format!(
            "sd=sd1,lun=/tmp/made-up,size=1g,threads=10\nwd=wd1,sd=sd1,rdpct=70\n\
             rd=rd1,wd=wd1,iorate=2000,elapsed=10,interval=1,distribution={distribution}\n"
        );
        let ops = drive(&steps(&text)[0].jobs[0]);
        // Drawn gaps of 20,000 I/Os add up to within 2.5 %, four deviations.
        assert_near(ops.len() as f64, 20_000.0, 600.0);
    }
}

#[test]
fn two_runs_are_alike_and_two_targets_are_not() {
    let text = "sd=default,size=1g\nsd=sd1,lun=/tmp/a\nsd=sd2,lun=/tmp/b\nwd=wd1,sd=sd*\n\
                rd=rd1,wd=wd1,iorate=1000,elapsed=2,interval=1\n";
    let once = steps(text);
    let again = steps(text);
    assert_eq!(once, again);
    let places = |job: &Job| -> Vec<u64> { drive(job).iter().map(|op| op.offset).collect() };
    assert_eq!(places(&once[0].jobs[0]), places(&again[0].jobs[0]));
    assert_ne!(places(&once[0].jobs[0]), places(&once[0].jobs[1]));
}

#[test]
fn every_size_of_a_loop_is_issued() {
    let text = "sd=sd1,lun=/tmp/made-up,size=1g,threads=4\nwd=wd1,sd=sd1\n\
                rd=rd1,wd=wd1,iorate=max,elapsed=2,interval=1,\
                forxfersize=(1k-16k,d),forthreads=(1,2)\n";
    let mut n_by_size: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for step in steps(text) {
        let ops = drive(&step.jobs[0]);
        assert!(ops.iter().all(|op| op.len == ops[0].len));
        n_by_size.entry(ops[0].len).or_default().push(ops.len());
    }
    let expected = [1024, 2048, 4096, 8192, 16_384];
    assert!(n_by_size.keys().copied().eq(expected));
    assert!(n_by_size.values().all(|counts| counts[..] == [2000, 4000]), "{n_by_size:?}");
}

/// Runs steps on real files, one I/O at a time, and returns the bytes written.
#[track_caller]
fn run(folder: &std::path::Path, mut steps: Vec<Step>) -> u64 {
    for job in steps.iter_mut().flat_map(|step| &mut step.jobs) {
        (job.engine.kind, job.engine.name) = (EngineKind::Sync, "psync".to_owned());
    }
    let plan = Plan { steps, ..Plan::default() };
    let options = RunOptions {
        aux_dir: Some(folder.to_owned()),
        log_dir: Some(folder.to_owned()),
        ..RunOptions::default()
    };
    let record = runner::run(&plan, &options, &Control::new(), &mut |_| {}).expect("it can run");
    let errors: Vec<_> = record.jobs.iter().filter(|job| job.error_errno != 0).collect();
    assert!(errors.is_empty(), "{errors:?}");
    record.jobs.iter().map(|job| job.dirs.write.io_bytes).sum()
}

#[test]
fn a_volume_of_two_files_is_written_once_to_its_end() {
    let folder = tempfile::tempdir().expect("a folder");
    let files = [folder.path().join("a"), folder.path().join("b")];
    for file in &files {
        std::fs::write(file, vec![0; 1 << 20]).expect("ours");
    }
    let text = format!(
        "concatenatesds=yes\nsd=default,size=1m\nsd=sd1,lun={}\nsd=sd2,lun={}\n\
         wd=wd1,sd=*,threads=1,rdpct=0,seekpct=eof,xfersize=64k\n\
         rd=rd1,wd=wd1,iorate=max,elapsed=20,interval=1\n",
        files[0].display(),
        files[1].display()
    );
    assert_eq!(run(folder.path(), steps(&text)), 2 << 20);
    for file in &files {
        let bytes = std::fs::read(file).expect("ours");
        assert_eq!(bytes.len(), 1 << 20);
        assert!(bytes.chunks(4096).all(|block| block.iter().any(|byte| *byte != 0)));
    }
}

#[test]
fn a_missing_file_is_written_with_as_many_duplicates_as_asked() {
    const N_BLOCKS: usize = 2048;
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("v1");
    let text = format!(
        "dedupratio=4,dedupunit=4k\nsd=sd1,lun={},size=8m\nwd=wd1,sd=sd1\n\
         rd=rd1,wd=wd1,iorate=max,elapsed=2,interval=1\n",
        file.display()
    );
    let parsed = parse_text("parmfile", &text, &Options::default(), &NO_HOST);
    let format = sd_format(&parsed, &|_| Lun::Missing).expect("there is something to write");
    let mut findings = Vec::new();
    let context =
        Context { curve_step_idx: None, first_group_id: 0, loader: &NO_HOST, sources: &[] };
    let step = step(&format, context, &mut findings);
    assert_eq!((findings, step.jobs.len()), (vec![], 1));
    assert_eq!(run(folder.path(), vec![step]), 8 << 20);
    let bytes = std::fs::read(&file).expect("ours");
    assert_eq!(bytes.len(), N_BLOCKS * 4096);
    let different: HashSet<&[u8]> = bytes.chunks(4096).collect();
    let ratio = N_BLOCKS as f64 / different.len() as f64;
    assert_near(ratio, 4.0, 0.5);
}
