//! Steps, jobs that mix workloads, and detailed intervals, in virtual time.

use plan::job::{Part, RateOf};
use plan::load::Flow;
use plan::workload::{Access, BlockSize};
use plan::{PerDir, Plan, Step};
use record::{Outcome, Record};
use runner::{Control, DetailedIntervals, RunError, RunEvent};

use crate::bench::{Bench, close, one_p30, plan};

const S: u64 = 1_000_000_000;

fn part(name: &str, weight: f64, access: Access, block_bytes: u32) -> Part {
    let mut part = Part { name: name.to_owned(), weight, ..Part::default() };
    part.workload.access = Access { random: true, ..access };
    part.workload.block_size = PerDir::all(BlockSize::Fixed(block_bytes));
    part
}

const WRITE: Access = Access { read: false, write: true, ..Access::READ };

/// Steps with these names, each of one job at depth 16 for some seconds: 3 reads of 4 KiB to a
/// write of 8 KiB.
fn steps(names: &[&str], seconds: u64) -> Plan {
    let mut plan = plan(
        "[sd1]\nfilename=/mnt/p30/f\nsize=1g\nrw=randread\nioengine=libaio\ndirect=1\niodepth=16\n",
    );
    let mut step = plan.steps.remove(0);
    let job = &mut step.jobs[0];
    job.parts = vec![part("wd1", 3.0, Access::READ, 4096), part("wd2", 1.0, WRITE, 8192)];
    job.limits.runtime_ns = Some(seconds * S);
    job.limits.time_based = true;
    let named = |name: &&str| Step { name: (*name).to_owned(), ..step.clone() };
    plan.steps = names.iter().map(named).collect();
    plan
}

#[track_caller]
fn run(plan: &Plan) -> Record {
    let detailed = DetailedIntervals { interval_ns: 2 * S, cpu: true };
    let set = |options: &mut runner::RunOptions| options.detailed_intervals = Some(detailed);
    Bench::new(one_p30()).try_plan(plan, set).expect("it can run")
}

/// Runs three steps of 100 s that do one operation a second, so that hardly anything happens but
/// intervals, and asks for `wish` when the first step has run for 3 s. Returns for how many seconds
/// each step ran.
#[track_caller]
fn seconds_where(wish: fn(&Control)) -> (Outcome, Vec<u64>) {
    let mut plan = steps(&["a", "b", "c"], 100);
    let jobs = plan.steps.iter_mut().flat_map(|step| &mut step.jobs);
    jobs.for_each(|job| job.load.rate_total_iops = Some(1.0));
    let control = Control::new();
    let record = Bench::new(one_p30()).try_plan_with(&plan, |_| {}, &control, &mut |event| {
        if matches!(event, RunEvent::Interval(it) if it.step_idx == 0 && it.end_ms == 3_000) {
            wish(&control);
        }
    });
    let record = record.expect("it can run");
    let steps = record.steps.iter().map(|step| (step.ended_ms - step.started_ms) / 1_000);
    (record.outcome, steps.collect())
}

/// The next one is run whole.
#[test]
fn a_step_is_ended_where_that_is_asked_for() {
    let ended = seconds_where(Control::request_step_end);
    assert_eq!(ended, (Outcome::Complete, vec![3, 100, 100]));
    assert_eq!(seconds_where(|_| {}), (Outcome::Complete, vec![100; 3]));
}

#[test]
fn a_run_is_ended_where_that_is_asked_for() {
    assert_eq!(seconds_where(Control::request_stop), (Outcome::Interrupted, vec![3]));
    let at_once = |control: &Control| (0..2).for_each(|_| control.request_stop());
    assert_eq!(seconds_where(at_once), (Outcome::Interrupted, vec![3]));
}

/// Returns operations of a step in a kind of operation.
fn n_ios(record: &Record, step_idx: u32, op: &str) -> u64 {
    let jobs = record.jobs.iter().filter(|job| job.step_idx == step_idx);
    let series = jobs.flat_map(|job| &job.series).filter(|series| series.op == op);
    series.map(|series| series.n_ios).sum()
}

#[test]
fn a_curve_goes_from_the_maximum_of_the_volume() {
    let mut plan = steps(&["max", "p50", "p10"], 10);
    for (step, pct) in plan.steps.iter_mut().skip(1).zip([50.0, 10.0]) {
        let (round_up, rate_min_iops, stop_above_ns) = ((1000, 100, 10), 10, None);
        let after_ns = 2 * S;
        step.rate_of =
            Some(RateOf { step_idx: 0, pct, round_up, rate_min_iops, stop_above_ns, after_ns });
        step.pause_ns = 5 * S;
    }
    let record = run(&plan);
    close(
        "the most",
        (n_ios(&record, 0, "read") + n_ios(&record, 0, "write")) as f64,
        50_000.0,
        0.01,
    );
    let rates: Vec<f64> = record.steps.iter().filter_map(|step| step.rate_iops).collect();
    assert!(
        (2500.0..=2600.0).contains(&rates[0]) && (500.0..=510.0).contains(&rates[1]),
        "{rates:?}"
    );
    for step_idx in [1, 2] {
        let asked = rates[step_idx as usize - 1] * 10.0;
        let (reads, writes) = (n_ios(&record, step_idx, "read"), n_ios(&record, step_idx, "write"));
        assert!(((reads + writes) as f64 - asked).abs() <= 1.0, "{reads} + {writes}, not {asked}");
        assert!(reads.abs_diff(3 * writes) <= 24, "{reads} reads, {writes} writes");
        let (before, step) =
            (&record.steps[step_idx as usize - 1], &record.steps[step_idx as usize]);
        assert_eq!(step.started_ms - before.ended_ms, 5000);
    }
}

#[test]
fn intervals_begin_with_the_ramp_and_add_up() {
    let mut plan = steps(&["rd1"], 10);
    plan.steps[0].jobs[0].limits.ramp_ns = 4 * S;
    let record = run(&plan);
    let ramps: Vec<bool> = record.intervals.iter().map(|it| it.ramp).collect();
    assert_eq!(ramps, [true, true, false, false, false, false, false]);
    for op in ["read", "write"] {
        let measured = record.intervals.iter().filter(|it| !it.ramp).flat_map(|it| &it.series);
        let rows: Vec<_> = measured.filter(|row| row.op == op).collect();
        let n_rows: u64 = rows.iter().map(|row| row.n_ios).sum();
        // What completes at the very moment the ramp ends is on either side of it.
        assert!(n_rows.abs_diff(n_ios(&record, 0, op)) <= 16, "{n_rows}");
        for row in rows {
            let mean_ns = row.latency_ns_sum as f64 / row.n_ios as f64;
            let mean_ns2 = row.latency_ns2_sum / row.n_ios as f64;
            assert!(
                mean_ns2 >= mean_ns * mean_ns * 0.999_999 && row.latency_ns_max as f64 >= mean_ns
            );
        }
    }
    assert!(record.intervals.iter().all(|it| it.cpu.is_none()), "no processor works here");
}

#[test]
fn a_step_ends_soon_after_its_amount() {
    let mut plan = steps(&["rd1"], 3600);
    plan.steps[0].amount_max.write_bytes = 100 << 20;
    let record = run(&plan);
    let written: u64 = record.jobs[0].dirs.write.io_bytes;
    // A quarter of 5,000 per second writes 10 KiB in a millisecond; 16 are in flight.
    let beyond = written - (100 << 20);
    assert!(beyond <= 40 * 8192, "{beyond} B beyond the amount");
}

#[test]
fn jobs_of_a_flow_keep_their_shares() {
    let mut plan = steps(&["rd1"], 60);
    let jobs = &mut plan.steps[0].jobs;
    let mut second = jobs[0].clone();
    "sd2".clone_into(&mut second.name);
    second.files.names = vec!["/mnt/p30/g".to_owned()];
    jobs.push(second);
    for (job, weight) in jobs.iter_mut().zip([900, 100]) {
        job.load.flow = Some(Flow { id: 1, weight, sleep_ns: 0, slack_ios: 2000 });
    }
    let record = run(&plan);
    let n: Vec<u64> =
        record.jobs.iter().map(|it| it.series.iter().map(|s| s.n_ios).sum()).collect();
    assert!(n[0].abs_diff(9 * n[1]) <= 9 * 2000 + 32 && n[0] + n[1] > 250_000, "{n:?}");
}

#[test]
fn commands_are_refused_in_virtual_time() {
    let mut plan = steps(&["rd1"], 1);
    plan.steps[0].exec_after = vec!["sync".to_owned()];
    let refused = Bench::new(one_p30()).try_plan(&plan, |options| options.allow_commands = true);
    let Err(RunError::Refused { findings, .. }) = refused else { panic!("it ran") };
    assert!(findings.iter().any(|finding| finding.code == "virtual-command"));
}

#[test]
fn the_intervals_of_a_simulated_month_fit_into_memory() {
    // One read a minute, so that the test is short; the intervals follow the time alone.
    let text = "[j]\nfilename=/mnt/p30/f\nsize=1g\nrw=randread\nioengine=libaio\ndirect=1\n\
                thinktime=60s\ntime_based=1\nruntime=30d\n";
    let record = Bench::new(one_p30()).run(text);
    let days_s: u64 = 30 * 24 * 3600;
    close("reads", record.jobs[0].n_ios() as f64, days_s as f64 / 60.0, 0.01);
    let lengths: Vec<u64> = record.intervals.iter().map(|it| it.length_ms).collect();
    assert!(lengths[..7200].iter().all(|&length_ms| length_ms == 1000));
    assert!(lengths.len() < 7200 + 9 * 3600 + 1, "{}", lengths.len());
    let full = &lengths[..lengths.len() - 1];
    assert!(full.windows(2).all(|pair| pair[1] == pair[0] || pair[1] == 2 * pair[0]));
    let n_ios: u64 = record.intervals.iter().map(|it| it.dirs.read.n_ios).sum();
    // A last interval of less than a tenth says nothing and is left out.
    assert!(record.jobs[0].n_ios() - n_ios <= lengths[lengths.len() - 2] / 60_000 / 10 + 1);
}
