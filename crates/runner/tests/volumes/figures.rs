//! Published figures come out: sizes and queue depths of one P30.

use crate::bench::{Bench, close, iops, one_p30};

/// Checks the rate of one P30, random reads at a depth with blocks of so many KiB.
#[track_caller]
fn check_size(block_kib: u64, expected: f64) {
    let record = Bench::new(one_p30()).run(&format!(
        "[j]\nfilename=/mnt/p30/f\nsize=10g\nrw=randread\nbs={block_kib}k\nnumjobs=1\n\
         ioengine=libaio\ndirect=1\niodepth=64\nramp_time=2\nruntime=12\ntime_based=1\n"
    ));
    close(&format!("{block_kib} KiB"), iops(&record.jobs[0]), expected, 0.02);
}

#[test]
fn small_blocks_are_limited_by_iops() {
    check_size(8, 5000.0);
    check_size(32, 5000.0);
}

#[test]
fn large_blocks_are_limited_by_bytes() {
    check_size(64, 3200.0);
    check_size(1024, 200.0);
}

/// Checks rate and mean latency of one P30 at a queue depth.
#[track_caller]
fn check_depth(depth: u32, expected_iops: f64, expected_ms: f64) {
    let record = Bench::new(one_p30()).run(&format!(
        "[j]\nfilename=/mnt/p30/f\nsize=10g\nrw=randread\nbs=8k\nioengine=libaio\ndirect=1\n\
         iodepth={depth}\nramp_time=2\nruntime=12\ntime_based=1\n"
    ));
    let job = &record.jobs[0];
    close(&format!("IOPS at depth {depth}"), iops(job), expected_iops, 0.02);
    let mean_ms = job.dirs.read.lat.mean_ns().unwrap() / 1e6;
    close(&format!("latency at depth {depth}"), mean_ms, expected_ms, 0.02);
}

#[test]
fn latency_follows_the_queue_depth() {
    check_depth(1, 1000.0, 1.0);
    check_depth(4, 4000.0, 1.0);
    check_depth(5, 5000.0, 1.0);
    check_depth(16, 5000.0, 3.2);
    check_depth(128, 5000.0, 25.6);
}

#[test]
fn an_open_load_counts_from_the_intended_start() {
    let bench = Bench::new(one_p30());
    let job = |rate: u32| {
        bench.run(&format!(
            "[j]\nfilename=/mnt/p30/f\nsize=10g\nrw=randread\nbs=8k\nioengine=libaio\ndirect=1\n\
             iodepth=512\nrate_iops={rate}\nruntime=20\ntime_based=1\n"
        ))
    };
    let record = job(4000);
    close("below the cap", iops(&record.jobs[0]), 4000.0, 0.01);
    let response = record.jobs[0].dirs.read.response.clone().unwrap();
    close("response below the cap", response.mean_ns().unwrap() / 1e6, 1.0, 0.02);
    let record = job(10_000);
    close("above the cap", iops(&record.jobs[0]), 5000.0, 0.02);
    let response = record.jobs[0].dirs.read.response.clone().unwrap();
    // Half of 200,000 are served by the end: the last of them was due at 10 s, 10 s before.
    close("response above the cap", response.max_ns().unwrap() as f64 / 1e9, 10.0, 0.05);
}
