//! When workers start and end, and how they share the time.

use crate::bench::{Bench, n_ios};
use record::Outcome;

#[test]
fn a_job_waits_for_another() {
    let bench = Bench::new();
    bench.file("f", 64);
    let record = bench.run(
        "[a]\nioengine=null\nsize=64k\nthinktime=5ms\n[b]\nwait_for=a\nfilename=@/f\n\
         [c]\nstonewall\nfilename=@/f\n",
    );
    let ends = |idx: usize| {
        let job = &record.jobs[idx];
        (job.started_unix_ms, job.started_unix_ms + job.runtime_ns / 1_000_000)
    };
    assert!(ends(1).0 >= ends(0).0 + 75, "{:?}", (ends(0), ends(1)));
    assert!(ends(2).0 >= ends(1).1);
    assert_eq!(record.outcome, Outcome::Complete);
}

#[test]
fn a_start_is_delayed_between_its_bounds() {
    let bench = Bench::new();
    let record = bench.run(
        "[now]\nioengine=null\nsize=4k\n[later]\nioengine=null\nsize=4k\nnumjobs=4\n\
         startdelay=50ms-100ms\n",
    );
    let start = record.jobs[0].started_unix_ms;
    let delays: Vec<u64> = record.jobs[1..].iter().map(|job| job.started_unix_ms - start).collect();
    // A busy host may start them late.
    assert!(delays.iter().all(|ms| *ms >= 49), "{delays:?}");
    assert!(delays.iter().any(|ms| *ms < 2_000), "{delays:?}");
}

#[test]
fn a_ramp_is_not_counted() {
    let bench = Bench::new();
    let record = bench.run(
        "[a]\nioengine=null\nsize=1g\nruntime=200ms\nramp_time=200ms\ntime_based\nrate_iops=1000\n\
         [b]\nioengine=null\nsize=1m\nramp_size=512k\n",
    );
    let job = &record.jobs[0];
    // 400 with the ramp. A busy host may end the job before the last is issued.
    assert!((100..=212).contains(&n_ios(job)), "{}", n_ios(job));
    assert!(job.runtime_ns / 1_000_000 >= 190, "{}", job.runtime_ns);
    assert!(n_ios(&record.jobs[1]) <= 128 + 64, "{}", n_ios(&record.jobs[1]));
}

#[test]
fn a_pause_may_be_spent_spinning() {
    let bench = Bench::new();
    let job = "ioengine=null\nsize=80k\nthinktime=10ms\n";
    let record = bench.run(&format!("[sleeps]\n{job}[spins]\n{job}thinktime_spin=8ms\n"));
    let cpu_ns = |idx: usize| record.jobs[idx].cpu_user_ns + record.jobs[idx].cpu_system_ns;
    // A spin ends by the clock, so that on a busy host it gets a part of a processor only.
    assert!(cpu_ns(0) < 50_000_000, "{}", cpu_ns(0));
    assert!(cpu_ns(1) > 2 * cpu_ns(0), "{} {}", cpu_ns(0), cpu_ns(1));
}

#[test]
fn rates_hold_for_each_direction_of_a_mix() {
    let bench = Bench::new();
    let record = bench.run(
        "[a]\nioengine=null\nsize=1g\nrw=randrw\nruntime=500ms\ntime_based\nrate_iops=2000,500\n\
         [b]\nioengine=null\nsize=1g\nruntime=500ms\ntime_based\nrate_iops=2000\n\
         rate_process=poisson\n",
    );
    let (reads, writes) = (record.jobs[0].dirs.read.n_ios, record.jobs[0].dirs.write.n_ios);
    // A busy host may end a job before the last are issued.
    assert!((500..=1005).contains(&reads) && writes <= 255, "{reads} {writes}");
    assert!(reads.abs_diff(4 * writes) <= 40, "{reads} {writes}");
    let poisson = n_ios(&record.jobs[1]);
    assert!((425..=1150).contains(&poisson), "{poisson}");
}

#[test]
fn workers_of_a_flow_keep_their_proportion() {
    let bench = Bench::new();
    let job = "ioengine=null\nsize=1g\nruntime=300ms\ntime_based\nthinktime=200us\n";
    let record = bench.run(&format!("[one]\n{job}flow=1\n[three]\n{job}flow=3\n"));
    let ratio = n_ios(&record.jobs[1]) as f64 / n_ios(&record.jobs[0]) as f64;
    assert!((2.8..=3.2).contains(&ratio), "{ratio}");
}

/// Its time ends a run in which it would wait for ever.
#[test]
fn a_member_of_a_flow_that_does_not_start_holds_no_other() {
    let bench = Bench::new();
    bench.file("f", 4096);
    let record = bench.run(
        "[a]\nfilename=@/f\nflow=1\nruntime=20s\n[b]\nfilename=@/g\nsize=64k\nflow=1\n\
         create_only=1\n",
    );
    assert_eq!([&record.jobs[0], &record.jobs[1]].map(n_ios), [1024, 0]);
}

#[test]
fn hundreds_of_workers_share_a_file() {
    let bench = Bench::new();
    bench.file("f", 64);
    let record = bench.run("[a]\nfilename=@/f\nnumjobs=300\ngroup_reporting\n");
    assert_eq!((record.jobs.len(), n_ios(&record.jobs[0])), (1, 300 * 16));
}

#[test]
fn what_fio_only_mumbles_is_in_the_record() {
    let bench = Bench::new();
    bench.file("f", 64);
    let record = bench.run("[a]\nfilename=@/f\nioengine=libaio\niodepth=4\n");
    assert!(record.notes.iter().any(|note| note.code == "aio-buffered"), "{:?}", record.notes);
    let plan = bench.plan("[a]\nfilename=@/f\nioengine=io_uring\niodepth=4\n");
    let options = runner::RunOptions { forbid_uring: true, ..Default::default() };
    let record =
        runner::run(&plan, &options, &runner::Control::new(), &mut |_| {}).expect("it can run");
    let note = record.notes.iter().find(|note| note.code == "engine-replaced").expect("a note");
    assert!(note.message.contains("in place of io_uring"), "{note:?}");
}

#[test]
fn no_more_completions_are_taken_at_a_time_than_the_job_says() {
    #[track_caller]
    fn check(engine: &str, options: &str, complete_class: usize) {
        let bench = Bench::new();
        bench.file("f", 4096);
        let text =
            format!("[a]\nfilename=@/f\nrw=randread\niodepth=32\nioengine={engine}\n{options}");
        let record = bench.run(&text);
        let job = &record.jobs[0];
        assert_eq!(n_ios(job), 1024, "{engine}, {options}");
        let classes = &job.complete_batches;
        let n_calls: u64 = classes.iter().sum();
        assert_eq!(classes[complete_class], n_calls, "{engine}, {options}: {classes:?}");
        // Refilled at once, whatever is still to be taken: once it is full, it is so at each
        // submission.
        let n_on_the_way = if options.contains("iodepth_batch=") { 0 } else { 31 };
        let levels = job.depth_levels;
        assert_eq!(levels[5], 1024 - n_on_the_way, "{engine}, {options}: {levels:?}");
    }
    // What completed together was kept, and counts as in flight.
    for engine in ["null", "libaio", "io_uring"] {
        check(engine, "iodepth_batch_complete_max=1", 1);
        check(engine, "iodepth_batch_complete_min=1", 1);
        check(engine, "iodepth_batch=32\niodepth_batch_complete=32", 4);
    }
}
