//! What a worker itself costs per operation: `cargo bench -p worker`, or for one case by
//! instructions `perf stat -e instructions:u target/release/deps/cost-* CASE`.
//!
//! Each operation completes 10 us after it was chosen, all of a batch together. Not included: the
//! engine, the clock, the bytes.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]
#![expect(clippy::disallowed_methods, reason = "a benchmark measures time")]

use std::sync::Arc;
use std::time::Instant;

use plan::Job;
use plan::load::Rate;
use plan::op::Completion;
use worker::{Decision, FileRegion, Meters, NoData, Worker, WorkerSpec};

/// Bytes of the region: 64 Mi blocks.
const REGION_BYTES: u64 = 4096 << 26;

/// A case: what it is called, what it changes of random 4 KiB reads at depth 32, and how many
/// operations it takes.
type Case = (&'static str, fn(&mut Job), u64);

const CASES: &[Case] = &[
    ("read", |_| {}, 20_000_000),
    ("mixed", |job| job.workload.access.write = true, 10_000_000),
    ("rate", |job| job.load.rate.read = Some(Rate::Iops(3_000_000)), 10_000_000),
    ("depth1", |job| job.load.queue_depth = 1, 10_000_000),
];

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    println!("{:10} {:>10}", "case", "ns per op");
    for (name, change, n_ops) in CASES {
        if wanted.is_empty() || wanted.iter().any(|case| case == name) {
            println!("{name:10} {:10.1}", run(*change, *n_ops));
        }
    }
}

/// Returns nanoseconds per operation.
fn run(change: fn(&mut Job), n_ops: u64) -> f64 {
    let mut job = Job::default();
    job.engine.kind = plan::EngineKind::Uring;
    job.workload.access.random = true;
    job.load.queue_depth = 32;
    job.limits.n_ios_max = Some(n_ops);
    change(&mut job);
    let meters = Meters::of(&job);
    let files = vec![FileRegion { offset_bytes: 0, len_bytes: REGION_BYTES }];
    let job = Arc::new(job);
    let spec =
        WorkerSpec { job, worker_idx: 0, seed: 7, files, amount_bytes: u64::MAX, batch_max: 32 };
    let mut worker = Worker::new(&spec, meters).expect("a job that fits");
    let (mut ops, mut done) = (Vec::with_capacity(32), Vec::with_capacity(32));
    let start = Instant::now();
    let mut now_ns = 1;
    while let Decision::Exchange { until_ns, .. } = worker.next(now_ns, &mut ops, &mut NoData) {
        worker.submitted(now_ns, &ops);
        now_ns = if ops.is_empty() { until_ns.unwrap_or(now_ns) } else { now_ns + 10_000 };
        done.clear();
        done.extend(ops.iter().map(|op| Completion { slot: op.slot, result: op.len as i32 }));
        worker.complete(now_ns, ops.len(), &done, &mut NoData);
    }
    start.elapsed().as_nanos() as f64 / n_ops as f64
}
