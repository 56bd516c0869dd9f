//! I/O that a pool of threads issues (`io_submit_mode=offload`): what it is for, and the same jobs
//! by the real fio where that is installed.
#![expect(clippy::print_stderr, reason = "figures, and what was skipped")]

#[path = "common/against.rs"]
mod against;
mod common;
#[path = "common/slow_device.rs"]
mod slow_device;

use std::process::Command;
use std::time::Duration;

use against::{ours, real_fio};
use common::{Sandbox, outcome};
use serde_json::Value;
use slow_device::SlowDevice;

/// How long one read of the device takes.
const READ: Duration = Duration::from_millis(20);

/// Runs reads at 200 per second for 2 s, by our program as `fio`.
fn rate_on(device: &SlowDevice, words: &[&str]) -> Value {
    let filename = format!("--filename={}", device.file().display());
    let sandbox = Sandbox::new();
    let base = ["--output-format=json", "--name=a", "--ioengine=psync", "--rw=randread"];
    let load = ["--bs=4k", "--size=16m", "--iodepth=16", "--rate_iops=200", "--runtime=2"];
    let more = ["--time_based", &filename];
    let outcome = sandbox.fio(&[&base[..], &load, &more, words].concat());
    serde_json::from_str(outcome.success()).expect("JSON")
}

#[test]
fn a_rate_holds_where_each_submission_blocks() {
    let Some(device) = SlowDevice::mount(|_| READ) else { return };
    let n_ios = |page: &Value| page["jobs"][0]["read"]["total_ios"].as_u64().expect("a count");
    // 50 reads of 20 ms fit into a second one after another: 100 in the time, and one that is in
    // flight at its end.
    let inline = rate_on(&device, &[]);
    eprintln!("of 400 reads: inline {}", n_ios(&inline));
    assert!(n_ios(&inline) <= 101, "{} reads of 20 ms in 2 s", n_ios(&inline));
    for arrivals in ["--rate_process=linear", "--rate_process=poisson"] {
        let pool = rate_on(&device, &["--io_submit_mode=offload", arrivals]);
        let n_pool = n_ios(&pool);
        eprintln!("of 400 reads: offload, {arrivals} {n_pool}");
        // A busy machine does less, but not as little as one thread at its best. Poisson arrivals
        // vary: 400 with a standard deviation of 20.
        assert!((120..=500).contains(&n_pool), "{arrivals}: {n_pool} of 400 reads");
        let read = &pool["jobs"][0]["read"];
        let min_ns = read["lat_ns"]["min"].as_u64().expect("a latency");
        assert!(min_ns >= READ.as_nanos() as u64, "{min_ns} ns, less than the device takes");
        assert_eq!(read["lat_ns"]["N"].as_u64(), Some(n_pool));
    }
}

/// Jobs that both programs run; `f` holds 4 MiB. Depths that the real fio survives.
const JOBS: &[&str] = &[
    "--filename=f --rw=read --bs=16k --ioengine=psync",
    "--filename=f --rw=randread --bs=4k --ioengine=psync --iodepth=2",
    "--filename=f --rw=randread --bs=4k --ioengine=pvsync --iodepth=2",
    "--filename=g --size=2m --rw=write --bs=64k --ioengine=psync --iodepth=2",
    "--filename=f --rw=randread --bs=4k --io_size=400k --ioengine=mmap",
    "--filename=f --rw=randread --bs=4k --ioengine=libaio --direct=1 --iodepth=2",
    "--filename=f --rw=randread --bs=4k --ioengine=io_uring --iodepth=2",
    "--filename=f --rw=randwrite --bs=4k --ioengine=psync --iodepth=2 --serialize_overlap=1",
    "--filename=f --rw=randread --bs=8k --ioengine=psync --rate_iops=2000 --rate_process=poisson",
    "--size=1m --rw=read --ioengine=null --iodepth=2",
];

/// Runs the real fio; `None` where it hangs, as it does with this option now and then.
fn theirs(sandbox: &Sandbox, words: &[&str]) -> Option<Value> {
    let fio = real_fio()?;
    let mut command: Command = sandbox.command("timeout".as_ref());
    // As threads, so that all of it ends with one signal.
    command.args(["-s", "KILL", "5"]).arg(fio).args(words).arg("--thread");
    let output = command.output().ok()?;
    if !output.status.success() {
        testing::skipped!("fio hangs or fails with {words:?}");
        return None;
    }
    serde_json::from_slice(&output.stdout).ok()
}

#[test]
fn the_counts_are_those_of_fio() {
    for job in JOBS {
        let sandbox = Sandbox::new();
        sandbox.write("f", vec![1; 4 << 20]);
        let base = ["--output-format=json", "--name=a", "--io_submit_mode=offload"];
        let words: Vec<&str> = base.into_iter().chain(job.split(' ')).collect();
        let ours = outcome(sandbox.command(&ours(&sandbox)).args(&words));
        let ours: Value = serde_json::from_str(ours.success()).expect("JSON");
        let job_of = |page: &Value| page["jobs"][0].clone();
        for dir in ["read", "write"] {
            let dir = &job_of(&ours)[dir];
            assert_eq!(dir["total_ios"], dir["lat_ns"]["N"], "{job}: every I/O has its latency");
        }
        let Some(theirs) = theirs(&sandbox, &words) else { continue };
        for dir in ["read", "write"] {
            for key in ["total_ios", "io_bytes", "short_ios", "drop_ios"] {
                assert_eq!(
                    job_of(&ours)[dir][key],
                    job_of(&theirs)[dir][key],
                    "{job}: {dir} {key}"
                );
            }
        }
        assert_eq!(job_of(&ours)["error"], job_of(&theirs)["error"], "{job}");
        let keys = |page: &Value| {
            let object = job_of(page)["read"].as_object().cloned().unwrap_or_default();
            object.keys().cloned().collect::<Vec<_>>()
        };
        assert_eq!(keys(&ours), keys(&theirs), "{job}");
    }
}

#[test]
fn what_was_written_by_a_pool_verifies() {
    let sandbox = Sandbox::new();
    let base = ["--name=a", "--filename=f", "--size=4m", "--rw=randwrite", "--bs=4k"];
    let load = ["--iodepth=8", "--io_submit_mode=offload", "--verify=crc32c", "--do_verify=1"];
    for more in [&[][..], &["--norandommap", "--serialize_overlap=1"], &["--loops=2"]] {
        for engine in ["--ioengine=psync", "--ioengine=mmap", "--ioengine=libaio"] {
            let outcome = sandbox.fio(&[&base[..], &load, more, &[engine]].concat());
            outcome.success();
        }
    }
}

#[test]
fn locks_between_workers_do_not_stop_a_pool() {
    let sandbox = Sandbox::new();
    let base = ["--output-format=json", "--name=a", "--filename=f", "--size=1m", "--rw=randrw"];
    let load = ["--bs=4k", "--iodepth=4", "--numjobs=3", "--lockfile=readwrite"];
    let more = ["--io_submit_mode=offload", "--serialize_overlap=1", "--group_reporting"];
    let outcome = sandbox.fio(&[&base[..], &load, &more].concat());
    let page: Value = serde_json::from_str(outcome.success()).expect("JSON");
    let n_ios = |dir: &str| page["jobs"][0][dir]["total_ios"].as_u64().expect("a count");
    assert_eq!(n_ios("read") + n_ios("write"), 3 * 256);
}
