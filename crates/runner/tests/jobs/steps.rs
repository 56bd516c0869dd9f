//! Steps of jobs that mix several workloads, with commands, pauses and rates around them.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use plan::job::{Part, PartRegion, RateOf};
use plan::workload::{Access, BlockSize};
use plan::{PerDir, Plan, Step};
use record::{Outcome, Record};
use runner::{Control, DetailedIntervals, RunEvent, RunOptions};

use crate::bench::{Bench, n_ios};

/// Makes the plan of one job on one file of 4 MiB, which `change` may change.
fn plan(bench: &Bench, change: impl FnOnce(&mut plan::Job)) -> Plan {
    let text = "[sd1]\nfilename=@/v1\nsize=4m\nioengine=psync\nbs=4k\nrw=randread\n";
    let mut plan = bench.plan(text);
    plan.jobs_mut().for_each(|job| job.load.queue_depth = 4);
    change(&mut plan.steps[0].jobs[0]);
    plan
}

fn part(name: &str, weight: f64, access: Access, block_bytes: u32) -> Part {
    let mut part = Part { name: name.to_owned(), weight, ..Part::default() };
    part.workload.access = Access { random: true, ..access };
    part.workload.block_size = PerDir::all(BlockSize::Fixed(block_bytes));
    part
}

const WRITE: Access = Access { read: false, write: true, ..Access::READ };

#[test]
fn a_job_of_parts_reports_each_of_them() {
    let bench = Bench::new();
    let plan = plan(&bench, |job| {
        let mut low = part("low", 3.0, Access::READ, 4096);
        low.region = PartRegion::Pct(0.0, 50.0);
        job.parts = vec![low, part("all", 1.0, WRITE, 65536)];
        job.n_workers = 2;
        job.reporting.group_reporting = true;
        job.limits.n_ios_max = Some(1000);
        job.files.io_size = Some(plan::files::Size::Bytes(1 << 40));
    });
    let record = bench.run_plan(&plan, |_| {}, &mut |_| {});
    let job = &record.jobs[0];
    assert_eq!((job.error_errno, job.n_workers), (0, 2), "{}", job.error_message);
    let names: Vec<_> = job.series.iter().map(|it| (it.part.as_str(), it.op.as_str())).collect();
    assert_eq!(names, [("low", "read"), ("all", "write")]);
    let [low, all] = &job.series[..] else { panic!("two series") };
    assert_eq!(low.n_ios + all.n_ios, 2000);
    assert!(low.n_ios.abs_diff(1500) <= 8, "{}", low.n_ios);
    assert_eq!((low.io_bytes, all.io_bytes), (low.n_ios * 4096, all.n_ios * 65536));
    assert_eq!((low.n_ios, all.n_ios), (job.dirs.read.n_ios, job.dirs.write.n_ios));
    assert_eq!(
        (low.lat.clone(), all.lat.clone()),
        (job.dirs.read.lat.clone(), job.dirs.write.lat.clone())
    );
}

#[test]
fn files_are_laid_out_in_turn() {
    let bench = Bench::new();
    let text = "[a]\nfilename=@/v1\nsize=4m\nioengine=psync\nbs=64k\nrw=read\n\
                [b]\nstonewall\nfilename=@/v2\nsize=4m\nioengine=psync\nbs=64k\nrw=read\n";
    let plan = bench.plan(text);
    let in_turn = |options: &mut RunOptions| {
        (options.waits_for_turn, options.waits_for_start) = (true, true);
    };
    // No turn comes: nothing is made until the end is asked for.
    let (control, is_waiting) = (Control::new(), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_waiting.load(Relaxed) {
                control.wait_for_stop(Duration::from_millis(1));
            }
            control.request_stop();
        });
        bench.run_controlled(&plan, in_turn, &control, &mut |event| {
            is_waiting.fetch_or(matches!(event, RunEvent::StepStarted { .. }), Relaxed);
        });
    });
    assert!(!bench.exists("v1"));
    // The turn for a step comes when the one before has begun.
    let control = Control::new();
    control.lay_out_step(0);
    let record = bench.run_controlled(&plan, in_turn, &control, &mut |event| {
        if let RunEvent::StepReady { step_idx } = event {
            assert_eq!(bench.exists("v2"), step_idx == 1, "each at its turn");
            control.start_step(step_idx, 0);
            control.lay_out_step(step_idx + 1);
        }
    });
    assert_eq!(record.outcome, Outcome::Complete);
    assert_eq!(record.jobs.iter().map(n_ios).collect::<Vec<_>>(), [64, 64]);
}

/// A plan of named steps, each with the one job of [`plan`] for so many milliseconds.
fn steps(bench: &Bench, names: &[&str], ms: u64) -> Plan {
    let mut plan = plan(bench, |job| {
        job.parts = vec![part("wd1", 1.0, Access::READ, 4096)];
        job.limits.runtime_ns = Some(ms * 1_000_000);
        job.limits.time_based = true;
    });
    let step = plan.steps.remove(0);
    let named = |name: &&str| Step { name: (*name).to_owned(), ..step.clone() };
    plan.steps = names.iter().map(named).collect();
    plan
}

fn n_reads(record: &Record, step_idx: u32) -> u64 {
    let of_step = record.jobs.iter().filter(|job| job.step_idx == step_idx);
    of_step.map(|job| job.dirs.read.n_ios).sum()
}

#[test]
fn points_of_a_curve_run_at_their_share_of_the_maximum() {
    let bench = Bench::new();
    let mut plan = steps(&bench, &["max", "p10", "p0", "p20"], 300);
    for (idx, pct) in [(1, 10.0), (2, 1e-9), (3, 20.0)] {
        let round_up = (1000, 100, 10);
        let (rate_min_iops, stop_above_ns) = (10, None);
        let rate_of =
            RateOf { step_idx: 0, pct, round_up, rate_min_iops, stop_above_ns, after_ns: 0 };
        plan.steps[idx].rate_of = Some(rate_of);
    }
    let mut reported = Vec::new();
    let record = bench.run_plan(&plan, |_| {}, &mut |event| match event {
        RunEvent::StepStarted { name, rate_iops, .. } => {
            reported.push((name.to_owned(), rate_iops.is_some()));
        }
        RunEvent::StepSkipped { name, .. } => reported.push((format!("not {name}"), false)),
        _ => {}
    });
    let expected = [("max", false), ("p10", true), ("not p0", false), ("not p20", false)];
    assert_eq!(reported, expected.map(|(name, rated)| (name.to_owned(), rated)));
    let names: Vec<_> =
        record.steps.iter().map(|it| (it.name.as_str(), it.skipped.is_some())).collect();
    assert_eq!(names, [("max", false), ("p10", false), ("p0", true), ("p20", true)]);
    // A tenth of what was possible is possible, but for pauses of a busy machine, caught up with.
    let asked = record.steps[1].rate_iops.expect("a rate") * 0.3;
    let (achieved, most) = (n_reads(&record, 1) as f64, asked + 1.0);
    assert!(achieved <= most && achieved > asked * 0.2, "{achieved} of {asked}");
    assert!(asked >= n_reads(&record, 0) as f64 * 0.02, "{asked}");
    assert!(record.notes.iter().any(|note| note.code == "step-skipped"));
    assert_eq!(record.outcome, Outcome::Complete);
}

#[test]
fn a_step_pauses_and_runs_its_commands_where_that_is_allowed() {
    let bench = Bench::new();
    let mut plan = steps(&bench, &["rd1"], 50);
    let file = bench.path("made");
    plan.steps[0].pause_ns = 200_000_000;
    plan.steps[0].exec_before = vec![format!("echo made; touch {}", file.display())];
    plan.steps[0].exec_after = vec!["echo no >&2; false".to_owned()];
    let refusal = bench.refusal_of(&plan);
    assert_eq!(refusal.iter().map(|it| it.code).collect::<Vec<_>>(), ["commands-not-allowed"]);
    assert!(!bench.exists("made"));
    let (mut outputs, mut n_pauses) = (Vec::new(), 0);
    let record =
        bench.run_plan(&plan, |options| options.allow_commands = true, &mut |event| match event {
            RunEvent::CommandEnded { output, ok, .. } => outputs.push((output.to_owned(), ok)),
            RunEvent::Paused { .. } => n_pauses += 1,
            _ => {}
        });
    assert_eq!(outputs, [("made\n".to_owned(), true), ("no\n".to_owned(), false)]);
    assert!(bench.exists("made") && n_pauses > 0 && record.steps[0].started_ms >= 200);
    assert!(record.notes.iter().any(|note| note.code == "command-failed"));
}

#[test]
fn a_step_ends_when_its_jobs_have_moved_enough_together() {
    let bench = Bench::new();
    let mut plan = steps(&bench, &["rd1"], 60_000);
    let mut second = plan.steps[0].jobs[0].clone();
    second.name = "sd2".to_owned();
    plan.steps[0].jobs.push(second);
    plan.steps[0].amount_max.read_bytes = 64 << 20;
    let record = bench.run_plan(&plan, |_| {}, &mut |_| {});
    let moved: u64 = record.jobs.iter().map(|job| job.dirs.read.io_bytes).sum();
    assert!(moved >= 64 << 20 && record.elapsed_ns < 50_000_000_000, "{moved}");
    assert_eq!(record.outcome, Outcome::Complete);
}

#[test]
fn detailed_intervals_add_up_to_what_the_step_did() {
    let bench = Bench::new();
    let mut plan = steps(&bench, &["rd1"], 500);
    plan.steps[0].jobs[0].parts.push(part("wd2", 1.0, WRITE, 8192));
    plan.steps[0].jobs[0].n_workers = 2;
    let detailed = DetailedIntervals { interval_ns: 100_000_000, cpu: true };
    let set = |options: &mut runner::RunOptions| options.detailed_intervals = Some(detailed);
    let mut reported = Vec::new();
    let record = bench.run_plan(&plan, set, &mut |event| match event {
        RunEvent::SeriesSoFar(so_far) => reported.push(so_far.records()),
        RunEvent::Interval(_) => assert!(!reported.is_empty(), "reported before"),
        _ => {}
    });
    let n_intervals = record.intervals.len();
    assert_eq!(reported.len(), n_intervals);
    assert!((1..=5).contains(&n_intervals), "{n_intervals}");
    for (part, op) in [("wd1", "read"), ("wd2", "write")] {
        let rows = record.intervals.iter().flat_map(|it| &it.series);
        let rows: Vec<_> = rows.filter(|row| row.part == part).collect();
        assert!(
            rows.len() == n_intervals && rows.iter().all(|row| row.op == op && row.job == "sd1")
        );
        let all = record.jobs.iter().flat_map(|job| &job.series).filter(|it| it.part == part);
        let (mut n_ios, mut bytes, mut sum_ns, mut max_ns) = (0, 0, 0, 0);
        for series in all {
            n_ios += series.n_ios;
            bytes += series.io_bytes;
            sum_ns += series.lat.sum_ns();
            max_ns = max_ns.max(series.lat.max_ns().unwrap_or(0));
        }
        assert_eq!(rows.iter().map(|row| row.n_ios).sum::<u64>(), n_ios);
        assert_eq!(rows.iter().map(|row| row.io_bytes).sum::<u64>(), bytes);
        assert_eq!(rows.iter().map(|row| u128::from(row.latency_ns_sum)).sum::<u128>(), sum_ns);
        assert_eq!(rows.iter().map(|row| row.latency_ns_max).max(), Some(max_ns));
        assert!(n_ios > 0);
        let reported: Vec<_> =
            reported.iter().flatten().filter(|(_, it)| it.part == part).collect();
        assert!(reported.is_sorted_by_key(|(_, it)| it.lat.count()));
        let (job, last) = reported.last().expect("listed");
        let seen = (job.as_str(), last.op.as_str(), last.n_ios, last.io_bytes, last.lat.sum_ns());
        assert_eq!(seen, ("sd1", op, n_ios, bytes, sum_ns));
    }
    assert!(record.intervals.iter().all(|it| it.cpu.is_some()));
}

#[test]
fn a_step_goes_on_after_errors_until_they_are_too_many() {
    let bench = Bench::new();
    // The file is cut while it is read: what lies behind its new end moves nothing.
    let run = |n_errors_max| {
        let path = bench.file("v1", 4096);
        let mut plan = steps(&bench, &["rd1", "rd2"], 400);
        plan.jobs_mut().for_each(|job| job.errors.n_errors_max = Some(n_errors_max));
        plan.jobs_mut().for_each(|job| job.load.rate_total_iops = Some(1000.0));
        let mut n_reported = 0;
        let record = bench.run_plan(&plan, |_| {}, &mut |event| match event {
            RunEvent::Status(_) => {
                let file = std::fs::File::options().write(true).open(&path).expect("ours");
                file.set_len(4 << 10).expect("ours");
            }
            RunEvent::IoError(error) => {
                assert_eq!((error.job.as_str(), error.len), ("sd1", 4096));
                n_reported += 1;
            }
            _ => {}
        });
        (record, n_reported)
    };
    let (record, n_reported) = run(5);
    assert_eq!((record.outcome, record.steps.len()), (Outcome::Failed, 1));
    assert_eq!((record.steps[0].io_errors.len(), n_reported), (5, 5));
    let (record, n_reported) = run(1 << 40);
    assert_eq!((record.outcome, record.steps.len()), (Outcome::Complete, 2));
    assert!(n_reported > 5 && record.jobs[0].n_errors > 5, "{n_reported}");
    assert!(record.jobs[0].series[0].n_failed == record.jobs[0].n_errors);
}

/// What reports intervals may wait for a slow disk: it must find all that ended meanwhile.
#[test]
fn a_late_reporter_loses_no_interval() {
    let bench = Bench::new();
    let plan =
        bench.plan("[a]\nioengine=null\nsize=1g\nrate_iops=1000\ntime_based\nruntime=1500ms\n");
    let detailed = DetailedIntervals { interval_ns: 100_000_000, cpu: false };
    let set = |options: &mut runner::RunOptions| options.detailed_intervals = Some(detailed);
    let blocked = std::time::Duration::from_secs(1);
    let mut is_first = true;
    let mut n_reported = 0;
    let record = bench.run_plan(&plan, set, &mut |event| {
        if let RunEvent::Interval(_) = event {
            n_reported += 1;
            if std::mem::take(&mut is_first) {
                std::thread::sleep(blocked);
            }
        }
    });
    let longest_ms = record.intervals.iter().map(|it| it.length_ms).max();
    assert!(longest_ms.is_some_and(|ms| ms < 1000), "{:?}", record.intervals);
    assert_eq!(record.intervals.len(), n_reported);
    let counted: u64 = record.intervals.iter().map(|it| it.dirs.read.n_ios).sum();
    assert_eq!(counted, n_ios(&record.jobs[0]));
}
