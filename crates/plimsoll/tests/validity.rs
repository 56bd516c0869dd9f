//! What the command says about a run's validity: in its first lines, in its JSON, in the store, and
//! by its exit code. On emulated volumes in virtual time, whose truth is known.

mod common;
#[path = "common/loop_device.rs"]
mod loop_device;

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use common::{Outcome, Sandbox};
use loop_device::LoopDevice;
use record::{GateRecord, Record, Verdict};

/// A disk with figures of its own, at /mnt/v.
fn disk(figures: &str) -> String {
    format!(
        "name = \"a disk\"\n[[volume]]\nmount = \"/mnt/v\"\nlatency = \"1ms\"\n\
         disk = {{ size = \"1TiB\", throughput = \"200MB/s\", {figures} }}\n"
    )
}

/// Random reads of 8 KiB for a minute, with these lines more.
fn job(more: &str) -> String {
    format!(
        "[j]\ndirectory=/mnt/v\nsize=20g\nrw=randread\nbs=8k\nioengine=libaio\ndirect=1\n\
         iodepth=32\ntime_based=1\nruntime=60\n{more}\n"
    )
}

fn sandbox(design: &str, more: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("disk.toml", design);
    sandbox.write("job.fio", job(more));
    sandbox
}

fn run(sandbox: &Sandbox, more: &[&str]) -> Outcome {
    let args = ["run", "job.fio", "--on", "disk.toml", "--virtual", "--no-progress"];
    sandbox.plimsoll(&[&args[..], more].concat())
}

#[track_caller]
fn record(sandbox: &Sandbox, more: &[&str]) -> Record {
    let outcome = run(sandbox, &[&["--json"], more].concat());
    Record::from_json(&outcome.stdout).unwrap_or_else(|error| panic!("{error}: {}", outcome.stderr))
}

#[track_caller]
fn gate<'a>(record: &'a Record, name: &str) -> &'a GateRecord {
    record.validity[0].gate(name).unwrap_or_else(|| panic!("no {name}: {:?}", record.validity))
}

/// Checks the first lines of a summary, and that all lines fit.
#[track_caller]
fn check_head(text: &str, expected: &[&str]) {
    let head: Vec<&str> = text.lines().take(expected.len()).collect();
    assert_eq!(head, expected, "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
fn a_run_that_passes_says_so_in_a_line() {
    let outcome = run(&sandbox(&disk("iops = 5000"), ""), &[]);
    let expected =
        ["checks passed: errors, steady, queue-depth, generator, littles-law, footprint", ""];
    check_head(outcome.success(), &expected);
    let short = run(&sandbox(&disk("iops = 5000"), "runtime=5"), &[]);
    let expected = [
        "checks passed: errors, queue-depth, generator, littles-law, footprint; not",
        "  assessed: steady",
    ];
    check_head(short.success(), &expected);
}

#[test]
fn a_rate_that_is_not_carried_makes_a_run_invalid() {
    let sandbox = sandbox(&disk("iops = 5000"), "rate_iops=6000");
    let store = ["--store", "runs.db"];
    let outcome = run(&sandbox, &store);
    assert_eq!(outcome.code, 3, "{}", outcome.stdout);
    let lines: Vec<&str> = outcome.stdout.lines().collect();
    assert!(lines[0].starts_with("invalid: offered: 83."), "{}", outcome.stdout);
    let has_next = lines.iter().any(|line| line.contains("next: lower the rate"));
    assert!(has_next, "{}", outcome.stdout);
    // What is kept says the same, without judging anew.
    let shown = sandbox.plimsoll(&[&["show"], &store[..]].concat());
    assert!(shown.success().contains(lines[0]), "{}", shown.stdout);
    let shown = sandbox.plimsoll(&[&["show", "--json"], &store[..]].concat());
    let kept = Record::from_json(shown.success()).expect("a record");
    assert_eq!(gate(&kept, "offered").verdict, Verdict::Failed);
    assert!(!kept.validity[0].is_valid);
}

#[test]
fn a_limit_that_changes_in_the_middle_is_a_caution() {
    let sandbox = sandbox(&disk("iops = 5000"), "runtime=120");
    sandbox.write("less.toml", disk("iops = 3500"));
    let change = ["--then", "60s=less.toml"];
    let outcome = run(&sandbox, &change);
    let text = outcome.success();
    assert!(text.starts_with("caution: steady: "), "{text}");
    assert!(
        text.contains("next: measure longer (`plimsoll run --until-steady` finds how long)"),
        "{text}"
    );
    let at_s = gate(&record(&sandbox, &change), "steady").figure("change_at_s");
    assert!(at_s.is_some_and(|at_s| (58.0..=62.0).contains(&at_s)), "{at_s:?}");
    // The same with limits wide enough.
    let wide = ["--steady-range", "60", "--steady-slope", "60"];
    let outcome = run(&sandbox, &[&change[..], &wide].concat());
    assert!(outcome.success().starts_with("checks passed: errors, steady"), "{}", outcome.stdout);
    let late = record(&sandbox, &[&change[..], &["--steady-window", "40s"]].concat());
    assert_eq!(gate(&late, "steady").verdict, Verdict::Passed);
    assert_eq!(late.validity[0].window_ms, Some((80_000, 120_000)));
    let mistake = run(&sandbox, &["--then", "60s=nothing.toml"]);
    assert_eq!((mistake.code, mistake.stdout.as_str()), (2, ""));
}

/// A tier of the catalogue: 2,300 IOPS, 3,500 for half an hour from full credits.
#[test]
fn burst_credits_end_where_they_should() {
    let design = "edition = \"current\"\n[[volume]]\nmount = \"/mnt/v\"\ndisk = \"P20\"\n";
    let sandbox = sandbox(design, "size=400g");
    let short = record(&sandbox, &[]);
    let credits = gate(&short, "credits");
    assert_eq!(credits.verdict, Verdict::NotAssessed);
    assert!(credits.reason.contains("credits possible"), "{}", credits.reason);
    assert!(credits.figure("lasts_s").is_some_and(|s| (1_795.0..=1_805.0).contains(&s)));
    let long = record(&sandbox, &["--set", "runtime=3600"]);
    let credits = gate(&long, "credits");
    assert_eq!(credits.verdict, Verdict::Failed);
    let fell_at_s = credits.figure("fell_at_s").expect("it fell");
    assert!((1_795.0..=1_805.0).contains(&fell_at_s), "{fell_at_s}");
}

/// 2,000 reads per second for 10 s, and a volume that stands still for three of them.
#[test]
fn a_stall_shows_in_the_response_time_and_not_in_the_service_time() {
    let more = "runtime=10\nrate_iops=2000\niodepth=128";
    let sandbox = sandbox(&disk("iops = 100000"), more);
    sandbox.write("still.toml", disk("iops = 1"));
    let record = record(&sandbox, &["--then", "4s=still.toml", "--then", "7s=disk.toml"]);
    let read = &record.jobs[0].dirs.read;
    let response = read.response.as_ref().expect("there was a rate");
    assert!((19_990..=20_000).contains(&response.count()), "{}", response.count());
    let seconds = |ns: Option<u64>| ns.expect("there are latencies") as f64 / 1e9;
    for (share, expected) in [(0.9, 2.0), (0.99, 2.9), (0.999, 2.99)] {
        let found = seconds(response.quantile(share));
        assert!((found - expected).abs() < 0.03, "{share}: {found} s, not {expected}");
    }
    let p99_s = seconds(read.clat.quantile(0.99));
    // 128 in flight at 200 MB/s, while it catches up.
    assert!((p99_s - 0.00525).abs() < 0.0002, "service p99 is {p99_s} s");
    let p50_s = seconds(read.clat.quantile(0.5));
    assert!((p50_s - 0.001).abs() < 0.00002, "service p50 is {p50_s} s");
    let arrivals = record.jobs[0].arrivals.as_ref().expect("there was a rate");
    assert_eq!(arrivals.n_late, 0, "the volume stood still, not the generator");
    assert!(arrivals.start_delay_ns_mean.is_some_and(|ns| ns > 0.4e9));
}

#[test]
fn a_run_goes_on_until_it_is_steady() {
    let sandbox = sandbox(&disk("iops = 5000"), "");
    let until = ["--until-steady=5m", "--steady-window", "20s"];
    let outcome = run(&sandbox, &until);
    assert!(outcome.success().contains("steady after 20 s\n"), "{}", outcome.stdout);
    // Slower and faster every few seconds until the time is over.
    sandbox.write("less.toml", disk("iops = 2000"));
    let changes: Vec<String> = (0..12)
        .flat_map(|n| {
            let (less, more) = (10 * n + 5, 10 * n + 10);
            [
                "--then".to_owned(),
                format!("{less}s=less.toml"),
                "--then".to_owned(),
                format!("{more}s=disk.toml"),
            ]
        })
        .collect();
    let changes: Vec<&str> = changes.iter().map(String::as_str).collect();
    let until = ["--until-steady=90s", "--steady-window", "14s", "--steady-rounds", "7"];
    let outcome = run(&sandbox, &[&until[..], &changes].concat());
    assert_eq!(outcome.code, 3, "{}", outcome.stdout);
    let expected = "invalid: it did not become steady in 90 s\n";
    assert!(outcome.stdout.contains(expected), "{}", outcome.stdout);
}

/// Another program reads the same disk: what was measured is not what the disk carries, and nothing
/// else in the figures says so.
#[test]
fn others_who_use_the_disk_make_a_run_invalid() {
    let sandbox = Sandbox::new();
    sandbox.write("image", []);
    let image = std::fs::File::options().write(true).open(sandbox.path("image"));
    image.and_then(|image| image.set_len(64 << 20)).expect("ours");
    let Some(device) = LoopDevice::new(&sandbox.path("image")) else { return };
    let job = |bs: &str, runtime: &str| {
        let device = device.path();
        format!(
            "[j]\nfilename={device}\nrw=read\nbs={bs}\nioengine=psync\ndirect=1\ntime_based\n\
             runtime={runtime}\n"
        )
    };
    sandbox.write("job.fio", job("4k", "1500ms"));
    sandbox.write("others.fio", job("1m", "60"));
    let measure = || {
        let outcome = sandbox.plimsoll(&["run", "job.fio", "--json", "--no-progress"]);
        let record = Record::from_json(&outcome.stdout).unwrap_or_else(|e| panic!("{e}"));
        (gate(&record, "shared-disk").clone(), outcome.code, record)
    };
    let (alone, _, record) = measure();
    assert_eq!(alone.verdict, Verdict::Passed, "{}", alone.reason);
    let disk_use = record.conditions[0].disk_use.as_ref().expect("the kernel counts it");
    assert_eq!(disk_use.disks, [device.name()]);
    assert_eq!(disk_use.read.own_bytes, record.jobs[0].io_bytes(), "every byte is ours");
    let mut others = sandbox.command(Path::new(env!("CARGO_BIN_EXE_plimsoll")));
    let quiet = others.args(["run", "others.fio"]).stdout(Stdio::null()).stderr(Stdio::null());
    let mut others = quiet.spawn().expect("it starts");
    // It is at work once the device has read more.
    let stat = format!("/sys/block/{}/stat", device.name());
    let counted = || std::fs::read_to_string(&stat).expect("it is there");
    let before = counted();
    for _ in 0..600 {
        if counted() != before {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_ne!(counted(), before, "the other program reads nothing");
    let (beside, code, record) = measure();
    others.kill().and_then(|()| others.wait()).expect("it runs");
    assert_eq!((beside.verdict, code), (Verdict::Failed, 3), "{}", beside.reason);
    assert!(beside.reason.contains("others used the disk (read "), "{}", beside.reason);
    let disk_use = record.conditions[0].disk_use.as_ref().expect("the kernel counts it");
    assert_eq!(disk_use.read.own_bytes, record.jobs[0].io_bytes(), "only ours is ours");
}

/// A job that pauses keeps no queue full, wherever its think time stands; one of 0 is no pause.
#[test]
fn a_job_that_pauses_is_asked_for_no_queue_depth() {
    let sandbox = sandbox(&disk("iops = 5000"), "");
    for (global, own, is_judged) in [
        ("", "", true),
        ("thinktime=5ms", "", false),
        ("", "thinktime=5ms", false),
        ("thinktime=5ms", "thinktime=0", true),
    ] {
        let text = job(own);
        sandbox.write("job.fio", format!("[global]\n{global}\n{text}"));
        let record = record(&sandbox, &[]);
        let gates: Vec<&str> = record.validity[0].gates.iter().map(|gate| &*gate.name).collect();
        assert_eq!(gates.contains(&"queue-depth"), is_judged, "{global}, {own}: {gates:?}");
    }
}
