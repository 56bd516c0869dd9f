//! The same job by the real fio and by ours: what is measured in time.
//!
//! Latencies of a device that is slow by a known amount, rates, stalls, what submission costs.
//! A busy machine makes a run worse and never better, so a bound may be missed by some rounds and
//! must be met by one. Without fio, FUSE or strace on this machine a test says that it was
//! skipped.
#![expect(clippy::print_stderr, reason = "figures for docs/accuracy.md, and what was skipped")]

#[path = "common/against.rs"]
mod against;
mod common;
#[path = "common/slow_device.rs"]
mod slow_device;

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use against::{ProgramOutput, both, quantile, real_fio, signal, tally};
use common::Sandbox;
use serde_json::Value;
use slow_device::SlowDevice;

const MIB: f64 = 1024.0 * 1024.0;

/// How often a bound may be missed by a machine that does other things too.
const N_ROUNDS: usize = 5;

/// Puts this test's thread and what it starts before the machine's other work, where allowed.
///
/// For tests that mostly sleep. A raised niceness was not enough: groups share the processors
/// evenly, whatever the niceness within them.
fn come_first() {
    let tid = rustix::thread::gettid().as_raw_nonzero().to_string();
    let mut command = Command::new("chrt");
    command.args(["--fifo", "--pid", "1", &tid]).stdout(Stdio::null()).stderr(Stdio::null());
    let _or_not = command.status();
}

/// Tests that need a processor for themselves run one at a time.
static BUSY: Mutex<()> = Mutex::new(());

/// Repeats a measurement until it meets its bound; the last complaint is the test's.
#[track_caller]
fn within_rounds(mut measure: impl FnMut() -> Result<(), String>) {
    let mut complaints = Vec::new();
    for _ in 0..N_ROUNDS {
        match measure() {
            Ok(()) => return,
            Err(complaint) => complaints.push(complaint),
        }
    }
    panic!("in none of {N_ROUNDS} rounds:\n{}", complaints.join("\n"));
}

fn near(what: &str, value: f64, wanted: f64, share: f64) -> Result<(), String> {
    if (value / wanted - 1.0).abs() <= share {
        return Ok(());
    }
    Err(format!("{what}: {value}, wanted {wanted} within {} %", share * 100.0))
}

/// One read in 25 is slow, so that the 99th percentile has a known place too.
fn slow_at_times(offset: u64) -> Duration {
    Duration::from_millis(if (offset / 4096) % 25 == 7 { 40 } else { 10 })
}

/// Exact quantiles of the total latencies that a run logged.
fn logged_quantiles_ns(said: &ProgramOutput) -> [u64; 2] {
    let counts = tally(said.log("lat").iter().map(|line| line.latency_ns));
    [50.0, 99.0].map(|share| quantile(&counts, share))
}

/// Checks that a run reports the quantiles that its log has.
fn reports_what_it_logged(said: &ProgramOutput, logged_ns: [u64; 2]) -> Result<(), String> {
    for (key, exact) in ["50.000000", "99.000000"].into_iter().zip(logged_ns) {
        let reported = said.number(&format!("/read/lat_ns/percentile/{key}"));
        // Half a bucket of fio's histogram.
        near(said.who, reported, exact as f64, 0.008)?;
    }
    Ok(())
}

#[test]
fn a_slow_device_has_the_latency_that_fio_sees() {
    come_first();
    let Some(device) = SlowDevice::mount(slow_at_times) else { return };
    let filename = format!("--filename={}", device.file().display());
    for engine in ["psync", "libaio", "io_uring"] {
        // What other work adds differs from round to round: the least of each is the device's.
        let mut least_ns = [[u64::MAX; 2]; 2];
        within_rounds(|| {
            let sandbox = Sandbox::new();
            let engine = format!("--ioengine={engine}");
            let args = ["--name=a", &filename, &engine, "--rw=read", "--bs=4k", "--number_ios=100"];
            let more = ["--size=16m", "--lat_percentiles=1", "--percentile_list=50:99"];
            let logs = ["--write_lat_log={logs}", "--log_offset=1"];
            let args = [&args[..], &more, &logs].concat();
            let Some(both) = both(&sandbox, &args) else { return Ok(()) };
            for (said, least_ns) in both.iter().zip(&mut least_ns) {
                let logged_ns = logged_quantiles_ns(said);
                eprintln!("{engine}: {} has p50 and p99 {logged_ns:?} ns", said.who);
                reports_what_it_logged(said, logged_ns)?;
                for (least_ns, logged_ns) in least_ns.iter_mut().zip(logged_ns) {
                    *least_ns = logged_ns.min(*least_ns);
                }
            }
            let [fio_ns, our_ns] = least_ns;
            for (place, due_ns) in [10_000_000, 40_000_000].into_iter().enumerate() {
                assert!(our_ns[place] >= due_ns, "{engine}: {our_ns:?} ns, less than it takes");
                near(&engine, our_ns[place] as f64, fio_ns[place] as f64, 0.02)?;
            }
            Ok(())
        });
    }
}

/// Checks the rate that was reached in each direction against what was asked for, for both.
#[track_caller]
fn held(words: &[&str], per_s: &[(&str, f64)], share: f64) {
    let _alone = BUSY.lock().unwrap_or_else(PoisonError::into_inner);
    within_rounds(|| {
        let base = ["--name=a", "--size=64m", "--ioengine=null", "--time_based"];
        let args = [&base[..], words].concat();
        let Some(both) = both(&Sandbox::new(), &args) else { return Ok(()) };
        for said in both {
            for (pointer, wanted) in per_s {
                let reached = said.number(pointer);
                eprintln!("{words:?}: {} {pointer} {reached}, wanted {wanted}", said.who);
                if said.who == "plimsoll" {
                    near(&format!("{words:?} {pointer}"), reached, *wanted, share)?;
                }
            }
        }
        Ok(())
    });
}

#[test]
fn rates_are_held_within_half_a_percent() {
    let four_k = "--bs=4k";
    let iops = "/read/iops";
    held(
        &["--rw=randread", four_k, "--rate_iops=2000", "--runtime=2"],
        &[(iops, 2000.0), ("/read/bw_bytes", 2000.0 * 4096.0)],
        0.005,
    );
    held(
        &["--rw=randread", four_k, "--rate_iops=50000", "--runtime=1", "--iodepth=4"],
        &[(iops, 50_000.0)],
        0.005,
    );
    // Poisson arrivals of 2 s vary by a percent; both draw from fixed seeds.
    held(
        &["--rw=randread", four_k, "--rate_iops=5000", "--rate_process=poisson", "--runtime=2"],
        &[(iops, 5000.0)],
        0.03,
    );
}

#[test]
fn each_direction_of_a_mix_holds_its_rate() {
    held(
        &["--rw=randrw", "--rwmixread=70", "--bs=4k", "--rate_iops=2000,500", "--runtime=1"],
        &[("/read/iops", 2000.0), ("/write/iops", 500.0)],
        0.005,
    );
    held(
        &["--rw=randrw", "--bs=8k", "--rate=16m,4m", "--runtime=1"],
        &[("/read/bw_bytes", 16.0 * MIB), ("/write/bw_bytes", 4.0 * MIB)],
        0.005,
    );
}

/// A rate of 500 per second for 5 s, stopped for one second in between.
const STALLED: &str = "[stalled]\nioengine=null\nsize=64m\nbs=4k\nrw=randread\nrate_iops=500\n\
                       time_based\nruntime=5\n";

/// A number of the first job's reads in our record.
fn of_reads(record: &Value, pointer: &str) -> f64 {
    let reads = &record["jobs"][0]["dirs"]["read"];
    reads.pointer(pointer).and_then(Value::as_f64).unwrap_or_else(|| panic!("{pointer}: {reads}"))
}

#[test]
fn a_stall_shows_in_the_response_time() {
    come_first();
    let sandbox = Sandbox::new();
    sandbox.write("stalled.fio", STALLED);
    let mut command = sandbox.command(Path::new(env!("CARGO_BIN_EXE_plimsoll")));
    command.args(["run", "--json", "--no-progress", "stalled.fio"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
    std::thread::sleep(Duration::from_secs(2));
    signal("STOP", child.id());
    std::thread::sleep(Duration::from_secs(1));
    signal("CONT", child.id());
    let output = child.wait_with_output().expect("it ends");
    let record: Value = serde_json::from_slice(&output.stdout).expect("our record");
    let p90_ns = of_reads(&record, "/response/p90_ns");
    assert!((300e6..600e6).contains(&p90_ns), "p90 {p90_ns} ns of 500 late among 2500");
    let max_ns = of_reads(&record, "/response/max_ns");
    assert!(max_ns > 950e6, "the first one that was due waited for a second: {max_ns} ns");
    let n_ios = of_reads(&record, "/response/n");
    assert!((2480.0..=2501.0).contains(&n_ios), "{n_ios}: every one that was due was done");
}

#[test]
fn submission_and_completion_add_up_to_the_whole() {
    let sandbox = Sandbox::new();
    for engine in ["io_uring", "libaio", "null"] {
        let engine = format!("--ioengine={engine}");
        let args = ["--output-format=json", "--name=a", "--filename=f", "--size=4m", &engine];
        let load = ["--rw=randread", "--bs=4k", "--iodepth=8", "--direct=1"];
        let page: Value = serde_json::from_str(sandbox.fio(&[&args[..], &load].concat()).success())
            .expect("JSON");
        let read = &page["jobs"][0]["read"];
        let mean = |kind: &str| read[kind]["mean"].as_f64().expect("a mean");
        let difference = mean("slat_ns") + mean("clat_ns") - mean("lat_ns");
        assert!(difference.abs() <= 1.0, "{engine}: {difference} ns are missing in {read}");
        assert_eq!(read["slat_ns"]["N"], read["lat_ns"]["N"]);
    }
}

#[test]
fn what_goes_one_at_a_time_is_timed_one_at_a_time() {
    let sandbox = Sandbox::new();
    for batch in ["--iodepth_batch=1", "--iodepth_batch=16"] {
        let args = ["--output-format=json", "--name=a", "--filename=f", "--size=4m", batch];
        let load = ["--rw=randread", "--bs=4k", "--ioengine=psync", "--iodepth=32", "--loops=20"];
        let page: Value = serde_json::from_str(sandbox.fio(&[&args[..], &load].concat()).success())
            .expect("JSON");
        let read = &page["jobs"][0]["read"];
        let n = read["lat_ns"]["N"].as_f64().expect("a count");
        let busy_ms = n * read["lat_ns"]["mean"].as_f64().expect("a mean") / 1e6;
        let runtime_ms = read["runtime"].as_f64().expect("a time") + 1.0;
        assert!(busy_ms <= runtime_ms, "{batch}: {n} reads took {busy_ms} of {runtime_ms} ms");
    }
}

/// One read after another from the page cache: nothing but the way into the kernel and back.
const CACHED: [&str; 9] = [
    "--name=a",
    "--filename=f",
    "--size=4m",
    "--ioengine=io_uring",
    "--rw=randread",
    "--bs=4k",
    "--invalidate=0",
    "--norandommap",
    "--number_ios=1000",
];

#[test]
fn a_completion_is_never_faster_than_the_device() {
    let sandbox = Sandbox::new();
    sandbox.write("f", vec![1; 4 << 20]);
    let more = [&CACHED[..], &["--io_size=1g", "--percentile_list=50"]].concat();
    let Some([fio, ours]) = both(&sandbox, &more) else { return };
    let p50 = |said: &ProgramOutput| said.number("/read/clat_ns/percentile/50.000000");
    eprintln!("clat p50 of a cached read: fio {} ns, ours {} ns", p50(&fio), p50(&ours));
    assert!(p50(&ours) >= 200.0, "no read of 4 KiB takes {} ns", p50(&ours));
    assert!(ours.number("/read/clat_ns/min") >= 100.0, "{}", ours.number("/read/clat_ns/min"));
}

/// Counts the calls of `io_uring_enter` of a program; `None` where it cannot be traced.
fn n_enters(sandbox: &Sandbox, program: &Path) -> Option<u64> {
    let mut command = sandbox.command(Path::new("strace"));
    command.args(["-f", "-qq", "-e", "trace=io_uring_enter", "-o", "calls"]).arg(program);
    // Direct, so that an I/O has not ended when the call that submits it returns.
    command.args(CACHED).args(["--io_size=1g", "--direct=1", "--output=report"]);
    command.stdout(Stdio::null());
    let worked = command.stderr(Stdio::null()).status().is_ok_and(|status| status.success());
    if !worked {
        testing::skipped!("strace is missing or may not trace");
        return None;
    }
    let calls = std::fs::read_to_string(sandbox.path("calls")).expect("strace writes it");
    // A call that another thread's line interrupts has a second line, `<... resumed>`.
    Some(calls.lines().filter(|line| line.contains("io_uring_enter(")).count() as u64)
}

#[test]
fn one_system_call_per_io_at_depth_one() {
    let sandbox = Sandbox::new();
    sandbox.write("f", vec![1; 4 << 20]);
    let Some(ours) = n_enters(&sandbox, &against::ours(&sandbox)) else { return };
    assert!((1000..=1050).contains(&ours), "{ours} calls for 1000 I/Os");
    if let Some(theirs) = real_fio().and_then(|fio| n_enters(&sandbox, fio)) {
        eprintln!("calls for 1000 I/Os: fio {theirs}, ours {ours}");
    }
}
