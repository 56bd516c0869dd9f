//! `plimsoll curve`: load lines of volumes whose limits are known.

mod common;
#[path = "common/loop_device.rs"]
mod loop_device;

use std::path::Path;

use common::{Outcome, Sandbox};
use loop_device::LoopDevice;
use record::{CurveRecord, Figure, Lever, Record, SearchEnd};

/// A disk of 1 TiB whose latency does not vary, so that its load line can be computed.
const P30: &str = "\
edition = \"2018\"

[[volume]]
mount = \"/mnt/p30\"
disk = \"P30\"
cache = \"None\"
latency = \"1ms\"
";
/// Its cap.
const P30_IOPS: f64 = 5_000.0;
/// The time over which its cap evens out.
const WINDOW_S: f64 = 0.05;

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("p30.toml", P30);
    sandbox
}

#[track_caller]
fn record(outcome: &Outcome) -> Record {
    Record::from_json(outcome.success()).expect("a record")
}

#[track_caller]
fn curve(sandbox: &Sandbox, args: &[&str]) -> CurveRecord {
    let args = [&["curve", "--json", "--no-progress"], args].concat();
    record(&sandbox.plimsoll(&args)).curve.expect("a curve")
}

#[track_caller]
fn check_line(curve: &CurveRecord, truth: f64) {
    let line = &curve.line;
    assert_eq!(line.end, SearchEnd::Bracketed, "{line:?}");
    let load = line.load.expect("a line");
    assert!((load / truth - 1.0).abs() <= 0.02, "{load}, and the truth is {truth}");
    assert!(line.n_probes <= 12, "{} probes", line.n_probes);
    assert!(line.dips.is_empty(), "{:?}", line.dips);
}

#[test]
fn fixed_arrivals_are_carried_up_to_the_cap() {
    let args = ["/mnt/p30", "--on", "p30.toml", "--virtual", "--arrivals", "fixed"];
    let curve = curve(&sandbox(), &[&args[..], &["--time", "30s"]].concat());
    check_line(&curve, P30_IOPS);
    assert_eq!(curve.lever, Lever::Rate);
    assert_eq!(curve.arrivals.as_deref(), Some("fixed"));
    let on_curve = curve.points.iter().filter(|point| point.purpose == "curve").count();
    assert!((8..=10).contains(&on_curve), "{on_curve} points");
    // Below the cap nothing waits.
    let overall_ms = curve.overall_response_ns.expect("a curve") / 1e6;
    assert!((overall_ms - 1.0).abs() < 0.02, "{overall_ms}");
}

/// The largest Poisson rate whose 99th percentile is 10 ms behind a bucket that holds a window's
/// worth of tokens: waiting times by a recursion over arrivals that shares nothing with the volume.
fn poisson_truth() -> f64 {
    let p99_s = |rate: f64| {
        let (mut state, mut level, mut free_s, mut now_s) = (7_u64, 0.0_f64, 0.0_f64, 0.0_f64);
        let mut filled_s = 0.0_f64;
        let mut latencies: Vec<f64> = Vec::new();
        for _ in 0..1_000_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let unit = ((state >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
            now_s += -unit.ln() / rate;
            // In order: none leaves before the one ahead.
            let mut leave_s = now_s.max(free_s);
            level = (level + (leave_s - filled_s) * P30_IOPS).min(P30_IOPS * WINDOW_S);
            if level < 0.0 {
                leave_s += -level / P30_IOPS;
                level = 0.0;
            }
            (filled_s, free_s) = (leave_s, leave_s);
            level -= 1.0;
            latencies.push(leave_s - now_s + 0.001);
        }
        latencies.sort_by(f64::total_cmp);
        latencies[latencies.len() / 100 * 99]
    };
    let (mut low, mut high) = (4_000.0, 5_000.0);
    for _ in 0..8 {
        let middle = f64::midpoint(low, high);
        if p99_s(middle) > 0.010 { high = middle } else { low = middle }
    }
    f64::midpoint(low, high)
}

#[test]
fn poisson_arrivals_are_carried_as_far_as_their_bursts_allow() {
    let args = ["/mnt/p30", "--on", "p30.toml", "--virtual", "--limit", "p99 < 10ms"];
    let curve = curve(&sandbox(), &[&args[..], &["--points", "0"]].concat());
    check_line(&curve, poisson_truth());
    assert_eq!(curve.arrivals.as_deref(), Some("poisson"));
}

#[test]
fn a_closed_sweep_begins_with_the_best_latency() {
    let args = ["/mnt/p30", "--on", "p30.toml", "--virtual", "--closed", "--time", "10s"];
    let found = curve(&sandbox(), &[&args[..], &["--limit", "mean < 3ms"]].concat());
    assert_eq!(found.lever, Lever::QueueDepth);
    let first = &found.points[0];
    assert!((first.load - 1.0).abs() < f64::EPSILON, "{first:?}");
    let mean_ns = first.figures.get(Figure::Mean).expect("it was measured");
    assert!((mean_ns / 1e6 - 1.0).abs() < 0.01, "{first:?}");
    // 5,000 a second at 3 ms: 15 in flight; from 5 on more of them only wait longer.
    let depth = found.line.load.expect("a line");
    assert!((14.0..=15.0).contains(&depth), "{depth}");
    let rate = found.line.achieved_iops.expect("a rate");
    assert!((rate / P30_IOPS - 1.0).abs() < 0.01, "{rate}");
}

/// Four workers hold 4, 8, 12 in flight: the 5 that carry 5,000 at 1 ms cannot be measured.
#[test]
fn steps_of_several_in_flight_are_reported() {
    let args = ["curve", "--on", "p30.toml", "--virtual", "--closed", "--time", "2s"];
    let more = ["--points", "4", "--no-progress", "--no-store"];
    let reported = |more: &[&str]| {
        let outcome = sandbox().plimsoll(&[&args[..], more].concat());
        outcome.success().split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let coarse = reported(&[&more[..], &["--workers", "4"]].concat());
    let expected = "1 ms: 4.00 k IOPS, 31.3 MiB/s (8 in flight, the next load measured, carry \
                    5.00 k at 1.60 ms)";
    assert!(coarse.contains(expected), "{coarse}");
    let fine = reported(&more);
    assert!(fine.contains("1 ms: 5.00 k IOPS, 39.1 MiB/s;"), "{fine}");
    assert!(!fine.contains("the next load"), "{fine}");
}

#[test]
fn both_paths_of_a_machine_have_their_own_line() {
    let design = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/designs/ds14.toml");
    let design = design.to_str().expect("text");
    let short = ["--virtual", "--time", "2s", "--arrivals", "fixed", "--points", "0"];
    for (mount, more, truth) in [
        ("/mnt/nocache", &["--rw", "randwrite"][..], 50_000.0),
        ("/mnt/readcache", &["--cache", "warm"][..], 64_000.0),
    ] {
        let args = [&[mount, "--on", design, "--limit", "p99 < 50ms"], &short[..], more].concat();
        check_line(&curve(&Sandbox::new(), &args), truth);
    }
}

#[test]
fn a_folder_is_measured_and_left_as_it_was() {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.path("volume")).expect("a folder");
    let short = ["--size", "4m", "--time", "200ms", "--ramp", "0s", "--points", "2"];
    let few = ["--repeat", "1", "--rate-max", "1000", "--arrivals", "fixed"];
    let easy = ["--limit", "p50 < 30s and achieved > 1%"];
    let args = [&["curve", "volume", "--no-progress"], &short[..], &few, &easy].concat();
    let outcome = sandbox.plimsoll(&args);
    let text = outcome.stdout;
    // Which it is, a busy machine decides.
    assert!(text.contains("load line: "), "{text}{}", outcome.stderr);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let left = std::fs::read_dir(sandbox.path("volume")).expect("it is there").count();
    assert_eq!(left, 0, "the scratch file is removed");
}

#[test]
fn a_curve_is_kept_and_shown_again() {
    let sandbox = sandbox();
    let store = sandbox.path("runs.db");
    let store = store.to_str().expect("text");
    let args = ["curve", "/mnt/p30", "--on", "p30.toml", "--virtual", "--time", "2s"];
    let made = sandbox.plimsoll(&[&args[..], &["--store", store, "--no-progress"]].concat());
    let shown = sandbox.plimsoll(&["show", "--store", store]);
    let line = made.success().lines().find(|line| line.starts_with("load line: ")).expect("a line");
    assert!(shown.success().contains(line), "{}", shown.stdout);
}

#[test]
fn what_cannot_be_swept_says_why() {
    let sandbox = sandbox();
    sandbox.write("two.fio", "[a]\nsize=1m\nrw=read\n[b]\nstonewall\nsize=1m\nrw=read\n");
    let precious = "precious".repeat(4096);
    sandbox.write("data", &precious);
    for (args, said) in [
        (&["two.fio"][..], "a curve needs jobs of one step, and these have 2"),
        (&["data", "--rw", "randwrite"], "`data` exists and would be overwritten"),
        (&["nothing"], "name a folder, a device or a file"),
        (&[".", "--limit", "p99 < 2"], "p99"),
        (&[".", "--closed", "--limit", "achieved > 95%"], "needs an open load"),
    ] {
        let outcome = sandbox.plimsoll(&[&["curve"], args].concat());
        let mistake = outcome.mistake();
        assert!(mistake.contains(said), "{mistake}");
        assert_eq!(outcome.code, 2, "{mistake}");
    }
    let data = std::fs::read(sandbox.path("data")).expect("it is there");
    assert_eq!(data, precious.as_bytes());
}

/// A job file is asked about a device as a device is that is named itself.
#[test]
fn a_job_that_writes_to_a_device_wants_to_be_allowed_to() {
    let sandbox = sandbox();
    let precious = "precious".repeat(1 << 17);
    sandbox.write("disk", &precious);
    let Some(device) = LoopDevice::new(&sandbox.path("disk")) else { return };
    let path = device.path();
    let file = |name: &str, rw: &str| {
        sandbox.write(name, format!("[a]\nfilename={path}\nrw={rw}\nbs=4k\n"));
    };
    file("writes.fio", "randwrite");
    file("reads.fio", "randread");
    let short = ["--time", "200ms", "--ramp", "0s", "--points", "0", "--no-progress"];
    let few = ["--repeat", "1", "--rate-max", "1000", "--arrivals", "fixed"];
    let easy = ["--limit", "p50 < 30s and achieved > 1%"];
    let run = |args: &[&str]| sandbox.plimsoll(&[&["curve"], args, &short, &few, &easy].concat());
    let of_device = run(&[path, "--rw", "randwrite"]).mistake();
    assert!(of_device.contains(&format!("`{path}` exists and would be overwritten")));
    assert_eq!(run(&["writes.fio"]).mistake(), of_device);
    let forbidden = run(&["writes.fio", "--readonly"]).mistake();
    assert!(forbidden.contains("error[read-only-run]: job `a` writes to"), "{forbidden}");
    let disk = || std::fs::read(sandbox.path("disk")).expect("it is there");
    // What is found in so short a time does not matter.
    assert_ne!(run(&["reads.fio"]).code, 2);
    assert!(disk() == precious.as_bytes(), "nothing is written");
    assert_ne!(run(&["writes.fio", "--overwrite"]).code, 2);
    assert!(disk() != precious.as_bytes(), "it is written");
}

/// One curve on each side: at a load that both have, their seconds tell.
#[test]
fn two_curves_are_compared_by_the_seconds_of_their_points() {
    let sandbox = sandbox();
    sandbox.write("slow.toml", P30.replace("1ms", "2ms"));
    for (design, name) in [("p30.toml", "before"), ("slow.toml", "after")] {
        let args = ["curve", "/mnt/p30", "--on", design, "--virtual", "--time", "30s"];
        let more = ["--limit", "p50 < 50ms", "--points", "0", "--store", "kept.db"];
        let args = [&args[..], &more, &["--name", name, "--no-progress"]].concat();
        assert_eq!(sandbox.plimsoll(&args).code, 0);
    }
    let args = ["compare", "before", "after", "--json", "--store", "kept.db", "--anyway"];
    let found = sandbox.plimsoll(&args);
    let found: serde_json::Value = serde_json::from_str(found.success()).expect("JSON");
    let verdict = |figure: &str| {
        let rows = found["rows"].as_array().expect("rows").iter();
        let mut rows = rows.filter(|row| row["step"] == "at load 1000" && row["figure"] == figure);
        let row = rows.next().unwrap_or_else(|| panic!("{figure} at 1000: {found}"));
        assert_eq!(row["basis"], "seconds");
        row["verdict"].as_str().expect("a verdict").to_owned()
    };
    assert_eq!(verdict("second_p50_ns"), "worse");
    assert_eq!(verdict("second_p99_ns"), "worse");
    assert_eq!(verdict("iops"), "no_difference_shown");
    // The lines themselves need repeats, and it says how many.
    let line = &found["rows"][0];
    assert_eq!(line["verdict"], "cannot_tell");
    assert!(line["reason"].as_str().is_some_and(|it| it.contains("each end 8 times")), "{line}");
}

/// The answer about a rate is part of the result, with what was achieved at all.
#[test]
fn a_rate_that_is_asked_about_is_answered_in_the_record() {
    let args = ["/mnt/p30", "--on", "p30.toml", "--virtual", "--closed", "--time", "2s"];
    let args = [&args[..], &["--depth-max", "16", "--target-iops", "20000"]].concat();
    let target = curve(&sandbox(), &args).target.expect("an answer");
    assert_eq!(target.depth, 20);
    assert!((target.highest_iops / P30_IOPS - 1.0).abs() < 0.01, "{target:?}");
    let text = sandbox().plimsoll(&[&["curve", "--no-progress"], &args[..]].concat());
    assert!(text.success().contains("20.0 k IOPS take 20 I/Os in flight"), "{}", text.stdout);
    let none = sandbox().plimsoll(&["curve", "/mnt/p30", "--on", "p30.toml", "--time", "0s"]);
    assert!(none.mistake().contains("measures nothing"));
}

/// A mistake is one error, in words of this command.
#[track_caller]
fn check_mistake(sandbox: &Sandbox, args: &[&str], expected: &str) {
    let found = sandbox.plimsoll(&[&["curve"], args].concat()).mistake();
    assert!(found.starts_with(&format!("error: {expected}")), "{found}");
    assert_eq!(found.matches("error").count(), 1, "{found}");
}

#[test]
fn files_that_cannot_be_measured_are_refused_in_words_of_the_command() {
    let sandbox = sandbox();
    sandbox.write("empty", "");
    sandbox.write("tiny", "abc");
    sandbox.write("some", vec![b'x'; 64 << 10]);
    check_mistake(&sandbox, &["empty"], "`empty` is empty\n");
    check_mistake(&sandbox, &["tiny"], "`tiny` has 3 B, and I/Os of 8.00 KiB are to be measured\n");
    check_mistake(
        &sandbox,
        &["some", "--size", "1m"],
        "`some` has 64.0 KiB, and `--size` says 1.00",
    );
    check_mistake(
        &sandbox,
        &[".", "--size", "4k"],
        "`--size` 4.00 KiB is less than an I/O of 8.00",
    );
    check_mistake(&sandbox, &[".", "--start", "10", "--rate-max", "1"], "`--start 10` is above");
    check_mistake(&sandbox, &[".", "--start", "0"], "invalid value '0' for '--start <IOPS>'");
}

/// `--rate-max` alone moves the first rate, too.
#[test]
fn a_search_may_end_below_the_usual_first_rate() {
    let args = ["/mnt/p30", "--on", "p30.toml", "--virtual", "--rate-max", "500", "--points", "0"];
    let found = curve(&sandbox(), &args);
    assert_eq!((found.line.end, found.line.load), (SearchEnd::NothingFailed, Some(500.0)));
}

/// All loads of a P30 below its cap have the same latency: nothing bends, and the interval says how
/// sure it is, 95 % at least.
#[test]
fn a_level_curve_has_no_bend() {
    let sandbox = sandbox();
    let args = ["/mnt/p30", "--on", "p30.toml", "--virtual"];
    let found = curve(&sandbox, &args);
    assert_eq!(found.knees, None);
    let interval = found.line.interval.expect("a line has one");
    assert!(interval.coverage >= 0.95, "{interval:?}");
    let text = sandbox.plimsoll(&[&["curve", "--no-progress"], &args[..]].concat());
    assert!(!text.success().contains("it bends"), "{}", text.stdout);
}

/// The folder of a file of Vdbench is none of this host where the volume is emulated, and each
/// search has draws of its own, which its record names.
#[test]
fn a_file_of_vdbench_has_a_line_on_an_emulated_volume() {
    let sandbox = sandbox();
    sandbox.write(
        "x.parm",
        "sd=sd1,lun=/mnt/p30/not-here/file,size=4g,threads=8,openflags=o_direct\n\
         wd=wd1,sd=sd1,xfersize=4k,rdpct=100\nrd=run1,wd=wd1,iorate=1000,elapsed=5,interval=1\n",
    );
    let seeds: Vec<String> = (0..2)
        .map(|_| {
            let args = ["x.parm", "--on", "p30.toml", "--virtual", "--points", "0", "--time", "2s"];
            let args = [&["curve", "--json", "--no-progress"], &args[..]].concat();
            let record = record(&sandbox.plimsoll(&args));
            let line = record.curve.as_ref().and_then(|curve| curve.line.load).expect("a line");
            assert!((line / P30_IOPS - 1.0).abs() < 0.1, "{line}");
            let options = &record.jobs[0].options;
            let seed = options.iter().find(|(name, _)| name == "randseed");
            seed.map(|(_, value)| value.clone()).expect("the seed is shown")
        })
        .collect();
    assert_ne!(seeds[0], seeds[1]);
}
