//! How many I/Os a second of wall time carries in virtual time: `cargo bench -p runner`. Workers,
//! volumes with their latency distribution, histograms and attribution, all on one thread. And how
//! late completions are where time passes.
//!
//! The best of the rounds is what the program can do, the median what the machine let it do. A
//! fixed loop is timed before each round, so that figures of different machines can be compared.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]
#![expect(clippy::disallowed_methods, reason = "a benchmark measures time")]

use std::sync::Arc;
use std::time::Instant;

use dialects::LowerOptions;
use dialects::NO_HOST;
use dialects::fio::parse_text;
use engine::Usage;
use record::Record;
use runner::{Control, EmulatedTime, Emulation, RunOptions};

const P30: &str = include_str!("../../../docs/designs/p30.toml");
const DS14: &str = include_str!("../../../docs/designs/ds14.toml");

/// One disk behind a host cache that it does not fit into.
const BEHIND_CACHE: &str = "\
edition = \"2018\"

[vm]
size = \"DS14\"

[[volume]]
mount = \"/mnt/p30\"
disk = \"P30\"
cache = \"ReadOnly\"
";

/// A cache so small that from early on each block takes the place of another.
const SMALL_CACHE: &str = "\
[vm]
uncached = { iops = 50000, throughput = \"512MB/s\" }
cached = { iops = 64000, throughput = \"512MB/s\" }
cache = \"8GiB\"

[[volume]]
mount = \"/mnt/p30\"
disk = \"P30\"
cache = \"ReadOnly\"
";

/// Random writes on ten striped disks and random reads of a cached one, at the same time.
const STRIPE_AND_CACHE: &str = "\
[global]
bs=8k
ioengine=libaio
direct=1
size=30g
iodepth=128
time_based=1
runtime=60
[write]
directory=/mnt/nocache
rw=randwrite
[read]
directory=/mnt/readcache
rw=randread
";

/// One disk whose latency does not vary, so that what is above it is ours.
const CONSTANT: &str = "\
[[volume]]
mount = \"/mnt/p30\"
disk = \"P30\"
cache = \"None\"
latency = \"1ms\"
";

const ROUNDS: usize = 9;

/// Steps of the loop that tells how fast the machine is, and how many it does side by side: a
/// multiplication and two more operations each.
const CALIBRATION_STEPS: u64 = 100_000_000;
const N_SIDE_BY_SIDE: usize = 6;

/// Returns a job file of one job with these options, apart by blanks: direct I/O for a fixed time.
fn job(options: &str) -> String {
    let options = options.replace(' ', "\n");
    format!("[j]\nioengine=libaio\ndirect=1\ntime_based=1\n{options}\n")
}

fn main() {
    // `cargo bench` passes `--bench`; what else comes is part of a name.
    let wanted: Vec<String> =
        std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let one_disk = |rest: &str| job(&format!("directory=/mnt/p30 rw=randread bs=8k {rest}"));
    let stripe = "directory=/mnt/nocache size=100g rw=randwrite bs=8k iodepth=128 runtime=60";
    let warm_up = "directory=/mnt/readcache size=200g rw=randread bs=1m iodepth=128 runtime=2h";
    // A range larger than the cache, which takes in what it holds as it is asked for: hits and
    // misses come in turns from the first read to the last. Then twice what the small cache holds.
    let cases = [
        ("P30, depth 32", P30, one_disk("size=100g iodepth=32 runtime=1200"), false),
        (
            "P30 behind ReadOnly, cold",
            BEHIND_CACHE,
            one_disk("size=1000g iodepth=32 runtime=1200"),
            false,
        ),
        (
            "P30 behind ReadOnly, full",
            SMALL_CACHE,
            one_disk("size=16g iodepth=32 runtime=900"),
            true,
        ),
        ("10-disk stripe, depth 128", DS14, job(stripe), false),
        ("10-disk stripe and a warm cache", DS14, STRIPE_AND_CACHE.to_owned(), true),
        ("2 h of warm-up at 1 MiB", DS14, job(warm_up), false),
    ];
    println!(
        "{:31} {:>8} {:>7} {:>9} {:>9} {:>9} {:>9} {:>8} {:>8}",
        "of 9 rounds, in millions",
        "I/Os",
        "best s",
        "best /s",
        "median /s",
        "worst /s",
        "per CPU s",
        "steps/s",
        "median"
    );
    for (name, design, jobs, is_warm) in cases {
        if !wanted.is_empty() && !wanted.iter().any(|part| name.contains(part.as_str())) {
            continue;
        }
        let mut rounds: Vec<Round> = (0..ROUNDS).map(|_| round(design, &jobs, is_warm)).collect();
        rounds.sort_by(|a, b| a.wall_s.total_cmp(&b.wall_s));
        let [best, median, worst] = [0, ROUNDS / 2, ROUNDS - 1].map(|idx| rounds[idx]);
        let per = |seconds: f64| best.n_ios as f64 / seconds / 1e6;
        println!(
            "{name:31} {:>8.2} {:>7.2} {:>9.2} {:>9.2} {:>9.2} {:>9.2} {:>8.0} {:>8.0}",
            per(1.0),
            best.wall_s,
            per(best.wall_s),
            per(median.wall_s),
            per(worst.wall_s),
            per(median.cpu_s),
            best.steps_per_s / 1e6,
            median.steps_per_s / 1e6
        );
    }
    if wanted.is_empty() || wanted.iter().any(|part| "real time".contains(part.as_str())) {
        print_lateness();
    }
}

/// Returns the steps per second of a loop of integers that knows no memory.
fn calibrate() -> f64 {
    let start = Instant::now();
    let mut values = std::hint::black_box([1_u64; N_SIDE_BY_SIDE]);
    for _ in 0..CALIBRATION_STEPS / N_SIDE_BY_SIDE as u64 {
        for value in &mut values {
            *value = (*value ^ (*value >> 29)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        }
    }
    std::hint::black_box(values);
    CALIBRATION_STEPS as f64 / start.elapsed().as_secs_f64()
}

/// Runs one I/O at a time in real time, and prints by how much the latencies exceed the model's.
fn print_lateness() {
    let one_at_a_time = "directory=/mnt/p30 size=1g rw=randread bs=8k iodepth=1 runtime=10";
    let record = run(CONSTANT, &job(one_at_a_time), false, EmulatedTime::Real(1.0));
    let latency = &record.jobs[0].dirs.read.lat;
    let above = |share: f64| latency.quantile(share).unwrap_or(0) as f64 / 1000.0 - 1000.0;
    println!(
        "real time, depth 1: above 1 ms, in us: p50 {:.1}, p99 {:.1}, p99.9 {:.1}, max {:.1}",
        above(0.5),
        above(0.99),
        above(0.999),
        above(1.0)
    );
}

/// What one run took. The CPU time tells what a core of its own would do on a machine that is busy
/// with other things.
#[derive(Clone, Copy)]
struct Round {
    n_ios: u64,
    wall_s: f64,
    cpu_s: f64,
    /// Of the loop beside it.
    steps_per_s: f64,
}

/// Runs the jobs once in virtual time.
fn round(design: &str, jobs: &str, is_warm: bool) -> Round {
    let steps_per_s = calibrate();
    let (start, usage) = (Instant::now(), Usage::of_thread());
    let record = run(design, jobs, is_warm, EmulatedTime::Virtual);
    let usage = Usage::of_thread().since(usage);
    Round {
        n_ios: n_ios(&record),
        wall_s: start.elapsed().as_secs_f64(),
        cpu_s: (usage.user_ns + usage.system_ns) as f64 / 1e9,
        steps_per_s,
    }
}

fn run(design: &str, jobs: &str, is_warm: bool, time: EmulatedTime) -> Record {
    let (design, findings) = volume::design::parse(design);
    let design = design.unwrap_or_else(|| panic!("{findings:?}"));
    let plan = parse_text("bench.fio", jobs, &LowerOptions::default(), &NO_HOST).plan;
    let emulation = Emulation {
        changes: Vec::new(),
        design: Arc::new(design),
        design_hash: String::new(),
        is_warm,
        time,
        notes: Vec::new(),
    };
    let options = RunOptions { emulation: Some(emulation), ..RunOptions::default() };
    runner::run(&plan, &options, &Control::new(), &mut |_| {}).expect("it runs")
}

fn n_ios(record: &Record) -> u64 {
    record.jobs.iter().map(record::JobRecord::n_ios).sum()
}
