//! What a worker itself costs per operation: `cargo bench -p worker`, or `-- CASE ...` for some. A
//! number sets the operations of a case: `valgrind --tool=callgrind target/release/deps/cost-*
//! read 1000000` counts instructions where the processor does not say.
//!
//! Each operation completes 10 us after it was chosen, all of a batch together. Not included: the
//! engine, the clock, the bytes. The cases with `part` are those of the same name as Vdbench's
//! files come to: one workload or two with shares, counted each for itself.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]
#![expect(clippy::disallowed_methods, reason = "a benchmark measures time")]

use std::sync::Arc;
use std::time::Instant;

use plan::job::Part;
use plan::load::Rate;
use plan::op::Completion;
use plan::workload::{BlockSize, Workload};
use plan::{Job, PerDir};
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
    ("sizes", |job| job.workload.block_size = sizes(), 10_000_000),
    ("sizes-repeats", sizes_repeats, 10_000_000),
    ("sequential", |job| job.workload.access.random = false, 10_000_000),
    ("part-read", |job| job.parts = vec![part(job, 1.0)], 10_000_000),
    ("part-mixed", |job| part_of(job, |it| it.access.write = true), 10_000_000),
    ("part-sizes", |job| part_of(job, |it| it.block_size = sizes()), 10_000_000),
    ("part-sizes-aligned", part_sizes_aligned, 10_000_000),
    ("part-sequential", |job| part_of(job, |it| it.access.random = false), 10_000_000),
    ("part-rate", part_at_rate, 10_000_000),
    ("parts", |job| job.parts = vec![part(job, 70.0), part(job, 30.0)], 10_000_000),
    ("parts-mixed", parts_mixed, 10_000_000),
];

fn sizes() -> PerDir<BlockSize> {
    PerDir::all(BlockSize::Split(vec![(4096, 60), (8192, 30), (65_536, 10)]))
}

fn part(job: &Job, weight: f64) -> Part {
    Part { weight, workload: job.workload.clone(), ..Part::default() }
}

fn part_of(job: &mut Job, change: fn(&mut Workload)) {
    change(&mut job.workload);
    job.parts = vec![part(job, 1.0)];
}

/// As fio draws them with `norandommap`.
fn sizes_repeats(job: &mut Job) {
    (job.workload.block_size, job.workload.no_repeats) = (sizes(), false);
}

/// As Vdbench places I/Os: at multiples of their own lengths.
fn part_sizes_aligned(job: &mut Job) {
    part_of(job, |it| {
        it.block_size = sizes();
        (it.aligned_to_length, it.no_repeats, it.one_cursor) = (true, false, true);
    });
}

fn part_at_rate(job: &mut Job) {
    job.parts = vec![part(job, 1.0)];
    job.load.rate_total_iops = Some(3e6);
}

fn parts_mixed(job: &mut Job) {
    job.workload.access.write = true;
    job.parts = vec![part(job, 70.0), part(job, 30.0)];
}

fn main() {
    let args = std::env::args().skip(1).filter(|arg| arg != "--bench");
    let (numbers, wanted): (Vec<_>, Vec<_>) = args.partition(|arg| arg.parse::<u64>().is_ok());
    let n_ops_set: Option<u64> = numbers.first().and_then(|arg| arg.parse().ok());
    println!("{:18} {:>10}", "case", "ns per op");
    for (name, change, n_ops) in CASES {
        if wanted.is_empty() || wanted.iter().any(|case| case == name) {
            println!("{name:18} {:10.1}", run(*change, n_ops_set.unwrap_or(*n_ops)));
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
