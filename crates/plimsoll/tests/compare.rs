//! Runs are compared: by repeats, by their seconds, and only where it makes sense.

mod common;

use std::path::Path;

use common::Sandbox;
use record::{
    Figure, GateRecord, HostRecord, Interval, IntervalDir, IntervalLatency, JobRecord,
    PerDirRecord, Record, StepValidity, Verdict as GateVerdict,
};
use serde_json::Value;

const N_SECONDS: u64 = 40;

/// A run of reads at about this rate; figures vary with the seed by a percent or two.
fn record(iops: u64, seed: u64) -> Record {
    let mut job = JobRecord { name: "oltp".to_owned(), n_workers: 1, ..JobRecord::default() };
    job.options = vec![("bs".to_owned(), "4k".to_owned())];
    let mut intervals = Vec::new();
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut share = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / (1_u64 << 24) as f64 - 0.5
    };
    let level = 1.0 + 0.02 * share();
    for second in 1..=N_SECONDS {
        let n_ios = (iops as f64 * level * (1.0 + 0.02 * share())) as u64;
        let ns = (1e9 / iops as f64 / level * (1.0 + 0.02 * share())) as u64;
        let read = &mut job.dirs.read;
        (read.n_ios, read.io_bytes) = (read.n_ios + n_ios, read.io_bytes + n_ios * 4096);
        read.clat.record_n(ns, n_ios - n_ios / 50);
        read.clat.record_n(ns * 3, n_ios / 50);
        intervals.push(interval(second, n_ios, ns));
    }
    job.dirs.read.lat = job.dirs.read.clat.clone();
    job.dirs.read.runtime_ns = N_SECONDS * 1_000_000_000;
    Record {
        plimsoll_version: "0.1.0".to_owned(),
        started_unix_ms: 1_700_000_000_000 + seed * 60_000,
        elapsed_ns: N_SECONDS * 1_000_000_000,
        host: HostRecord { kernel: "Linux 6.1".to_owned(), ..HostRecord::default() },
        jobs: vec![job],
        intervals,
        ..Record::default()
    }
}

fn interval(second: u64, n_ios: u64, ns: u64) -> Interval {
    let read = IntervalDir {
        n_ios,
        io_bytes: n_ios * 4096,
        latency: IntervalLatency::each(|it| Some(if it == Figure::P50 { ns } else { ns * 3 })),
        ..IntervalDir::default()
    };
    Interval {
        step_idx: 0,
        end_ms: second * 1000,
        length_ms: 1000,
        ramp: false,
        dirs: PerDirRecord { read, ..PerDirRecord::default() },
        ..Interval::default()
    }
}

/// Writes runs into a folder of the sandbox.
fn write(sandbox: &Sandbox, folder: &str, runs: &[Record]) {
    std::fs::create_dir_all(sandbox.path(folder)).unwrap();
    for (idx, run) in runs.iter().enumerate() {
        sandbox.write(&format!("{folder}/{idx}.json"), run.to_json());
    }
}

fn set(iops: u64, seeds: std::ops::Range<u64>) -> Vec<Record> {
    seeds.map(|seed| record(iops, seed)).collect()
}

/// Every line fits a terminal of 80 columns.
#[track_caller]
fn fits(text: &str) {
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
}

#[test]
fn a_loss_is_found_with_repeats_and_fails() {
    let sandbox = Sandbox::new();
    write(&sandbox, "before", &set(5000, 1..7));
    write(&sandbox, "after", &set(4500, 7..13));
    let found =
        sandbox.plimsoll_keeping(&["compare", "./before", "./after", "--fail-if-worse", "5%"]);
    assert_eq!(found.code, 4, "{}{}", found.stdout, found.stderr);
    fits(&found.stdout);
    assert!(found.stdout.starts_with("baseline   6 runs: "), "{}", found.stdout);
    assert!(
        found.stdout.contains("\nfails      worse, by 5 % or more as measured: oltp read IOPS, ")
    );
    let iops = found.stdout.lines().find(|line| line.contains("IOPS")).unwrap();
    assert!(iops.ends_with("worse"), "{iops}");
    // A loss that is smaller than allowed passes, and so does a gain.
    let args = ["compare", "./before", "./after", "--fail-if-worse", "15%", "--metric", "iops"];
    let passes = sandbox.plimsoll_keeping(&args);
    assert_eq!(passes.code, 0, "{}", passes.stdout);
    assert!(passes.stdout.ends_with("passes     nothing is shown to be worse by 15 % or more\n"));
    let gain =
        sandbox.plimsoll_keeping(&["compare", "./after", "./before", "--fail-if-worse", "5%"]);
    assert_eq!(gain.code, 0, "{}", gain.stdout);
    // For a pull request, what came of it first.
    let args = ["compare", "./before", "./after", "--fail-if-worse", "5%", "--markdown"];
    let page = sandbox.plimsoll_keeping(&args);
    assert_eq!(page.code, 4, "{}", page.stderr);
    let at = |text: &str| page.stdout.find(text).unwrap_or_else(|| panic!("{}", page.stdout));
    assert!(
        at("- **fails**: worse, by 5 % or more as measured: oltp read IOPS")
            < at("| of | I/O | figure |")
    );
    let n_cells = |line: &str| line.matches(" | ").count();
    let rows: Vec<&str> = page.stdout.lines().filter(|line| line.starts_with("| oltp")).collect();
    assert!(rows.iter().all(|row| n_cells(row) == 7), "{}", page.stdout);
    assert!(rows.iter().any(|row| row.contains("| IOPS |") && row.ends_with("| worse |")));
    // What a pass is worth is said beside it.
    assert!(passes.stdout.contains("\nfinds      changes of "), "{}", passes.stdout);
    // Without a limit a comparison is no verdict for CI.
    assert_eq!(sandbox.plimsoll_keeping(&["compare", "./before", "./after"]).code, 0);
}

#[test]
fn one_run_each_is_compared_by_its_seconds_and_says_so() {
    let sandbox = Sandbox::new();
    write(&sandbox, "runs", &[record(5000, 1), record(4500, 2)]);
    let args = ["compare", "runs/0.json", "runs/1.json", "--fail-if-worse", "5%", "--json"];
    let found = sandbox.plimsoll_keeping(&args);
    assert_eq!(found.code, 4, "{}{}", found.stdout, found.stderr);
    let json: Value = serde_json::from_str(&found.stdout).unwrap();
    assert_eq!(json["schema"], "plimsoll.comparison/1");
    let row = |figure: &str| {
        let rows = json["rows"].as_array().unwrap();
        rows.iter().find(|row| row["figure"] == figure).unwrap_or(&Value::Null).clone()
    };
    assert_eq!(row("iops")["basis"], "seconds");
    assert_eq!(row("second_p99_ns")["basis"], "seconds");
    assert_eq!(
        (&row("mean_ns")["basis"], &row("mean_ns")["n_runs_needed"]),
        (&"runs".into(), &4.into())
    );
    let text = sandbox.plimsoll_keeping(&args[..3]).stdout;
    fits(&text);
    assert!(text.contains("one run on each side: intervals come from its seconds"), "{text}");
    assert!(text.contains("take at least 4 of"), "{text}");
}

#[test]
fn an_invalid_run_says_so() {
    let sandbox = Sandbox::new();
    let mut stopped = record(10_000, 2);
    stopped.validity = vec![StepValidity { is_valid: false, ..StepValidity::default() }];
    write(&sandbox, "a", &[record(10_000, 1)]);
    write(&sandbox, "b", &[stopped]);
    for form in [&[][..], &["--markdown"]] {
        let outcome = sandbox.plimsoll_keeping(&[&["compare", "./a", "./b"], form].concat());
        let text = outcome.stdout.replace('\\', "");
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let said = "invalid: its figures are not what was asked for; see `plimsoll show`";
        assert!(text.contains(said), "{text}");
        assert_eq!(text.matches("invalid").count(), 1, "{text}");
    }
}

#[test]
fn runs_in_doubt_say_why_once_for_all_of_them() {
    let sandbox = Sandbox::new();
    let in_doubt = |seed: u64| {
        let mut record = record(10_000, seed);
        let gate = |name: &str, reason: String| GateRecord {
            name: name.to_owned(),
            verdict: GateVerdict::Failed,
            reason,
            next_step: None,
            figures: std::collections::BTreeMap::new(),
        };
        let gates = vec![
            gate("generator", format!("the host was busy for {}.0 %", 90 + seed)),
            gate("queue-depth", "32 asked for, 1.00 kept".to_owned()),
        ];
        record.validity = vec![StepValidity { is_valid: false, gates, ..StepValidity::default() }];
        record
    };
    write(&sandbox, "a", &[record(10_000, 1), record(10_000, 2)]);
    write(&sandbox, "b", &[in_doubt(3), in_doubt(4)]);
    let text = sandbox.plimsoll_keeping(&["compare", "./a", "./b"]).stdout;
    fits(&text);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let all = "2 of 2 runs: invalid: generator, as in `./b/0.json`: the host was busy for 93.0 %";
    assert!(text.contains(all), "{text}");
    let depth = "2 of 2 runs: caution: queue-depth, as in `./b/0.json`: 32 asked for, 1.00 kept";
    assert!(text.contains(depth), "{text}");
}

#[test]
fn cannot_tell_passes_unless_it_is_to_fail() {
    let sandbox = Sandbox::new();
    let short = |seed| {
        let mut run = record(5000, seed);
        run.intervals.truncate(3);
        run
    };
    write(&sandbox, "runs", &[short(1), short(2)]);
    let args = ["compare", "runs/0.json", "runs/1.json", "--fail-if-worse", "5"];
    let found = sandbox.plimsoll_keeping(&args);
    assert_eq!(found.code, 0, "{}", found.stdout);
    let line = found.stdout.lines().find(|line| line.starts_with("passes")).unwrap();
    assert!(line.contains("no figure could be judged"), "{line}");
    let args = [&args[..], &["--cannot-tell", "fail"]].concat();
    let found = sandbox.plimsoll_keeping(&args);
    assert_eq!(found.code, 3, "{}", found.stdout);
    assert!(found.stdout.contains("\nfails      no figure could be judged"), "{}", found.stdout);
    assert_eq!(sandbox.plimsoll_keeping(&args[..3]).code, 0);
}

#[test]
fn unlike_runs_are_refused_unless_allowed() {
    let sandbox = Sandbox::new();
    let mut other = record(5000, 2);
    other.jobs[0].options = vec![("bs".to_owned(), "8k".to_owned())];
    other.jobs[0].queue_depth = 32;
    other.host.kernel = "Linux 6.12".to_owned();
    write(&sandbox, "runs", &[record(5000, 1), other]);
    let mut args = vec!["compare", "runs/0.json", "runs/1.json"];
    let refused = sandbox.plimsoll_keeping(&args).mistake();
    let expected = "error: these runs did not do the same I/O, so a comparison says nothing about \
                    the storage: bs: 4k -> 8k; iodepth: 0 -> 32\n\n\
                    hint: `--anyway` compares them nevertheless\nexit code 2\n";
    assert_eq!(refused, expected);
    args.push("--anyway");
    let found = sandbox.plimsoll_keeping(&args);
    assert_eq!(found.code, 0, "{}", found.stderr);
    for line in ["differs    bs: 4k -> 8k", "differs    kernel: Linux 6.1 -> Linux 6.12"] {
        assert!(found.stdout.contains(line), "{}", found.stdout);
    }
}

#[test]
fn sets_are_named_by_name_tag_and_numbers() {
    let sandbox = Sandbox::new();
    write(&sandbox, "before", &set(5000, 1..5));
    write(&sandbox, "after", &set(5000, 5..9));
    let import = |folder: &str| {
        let args = ["import", folder, "--name", folder, "--tag", &format!("t-{folder}")];
        sandbox.plimsoll_keeping(&args).success().to_owned()
    };
    assert!(import("before").starts_with("run 1: before/0.json, plimsoll 0.1.0\nrun 2: "));
    import("after");
    let whole = sandbox.plimsoll_keeping(&["compare", "before", "after"]);
    assert!(whole.stdout.contains("no difference"), "{}{}", whole.stdout, whole.stderr);
    for sets in [["tag:t-before", "tag:t-after"], ["1..4", "5..8"], ["1,2,3,4", "5,6,7..8"]] {
        let found = sandbox.plimsoll_keeping(&["compare", sets[0], sets[1]]);
        assert_eq!(found.stdout, whole.stdout, "{sets:?}");
    }
    let reported = sandbox.plimsoll_keeping(&["compare", "befor", "after"]).mistake();
    assert!(reported.contains("no run is called `befor`, but there is `before`"), "{reported}");
    let reported = sandbox.plimsoll_keeping(&["compare", "1", "2", "--metric", "p98"]).mistake();
    assert!(reported.contains("`p98` is not a figure; there are iops, mib/s, "), "{reported}");
    let reported =
        sandbox.plimsoll_keeping(&["compare", "1", "2", "--fail-if-worse", "x"]).mistake();
    assert!(reported.contains("expected a percentage"), "{reported}");
}

/// The real thing: a volume that got slower, in virtual time.
#[test]
fn a_volume_that_got_slower_is_found() {
    let sandbox = Sandbox::new();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/designs/p30.toml");
    let design = example.to_str().unwrap();
    let job = |depth: u32| {
        format!(
            "[read]\ndirectory=/mnt/p30\nsize=4g\nrw=randread\nioengine=libaio\ndirect=1\nbs=4k\n\
             iodepth={depth}\ntime_based\nruntime=20\nramp_time=1\n"
        )
    };
    sandbox.write("deep.fio", job(64));
    sandbox.write("flat.fio", job(1));
    for name in ["deep", "flat"] {
        let file = format!("{name}.fio");
        let args = ["run", &file, "--on", design, "--virtual", "--no-progress", "--name", name];
        sandbox.plimsoll_keeping(&args).success();
    }
    let reported = sandbox.plimsoll_keeping(&["compare", "deep", "flat"]).mistake();
    assert!(reported.contains("iodepth: 64 -> 1"), "{reported}");
    let args = ["compare", "deep", "flat", "--anyway", "--fail-if-worse", "5%", "--metric", "iops"];
    let found = sandbox.plimsoll_keeping(&args);
    assert_eq!(found.code, 4, "{}", found.stdout);
    let same = sandbox.plimsoll_keeping(&["compare", "deep", "deep", "--metric", "iops"]);
    assert!(same.stdout.contains("no difference"), "{}", same.stdout);
}

/// Both in turn, on emulated volumes in virtual time: all is kept, and compared pair by pair.
#[test]
fn both_sides_are_measured_in_turn() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "job.fio",
        "[read]\ndirectory=/mnt/data\nsize=4g\nrw=randread\nioengine=libaio\ndirect=1\nbs=4k\n\
         iodepth=64\ntime_based\nruntime=12\n",
    );
    for disk in ["P30", "P20"] {
        let design = format!("[[volume]]\nmount = \"/mnt/data\"\ndisk = \"{disk}\"\n");
        sandbox.write(&format!("{disk}.toml"), design);
    }
    let side = |disk: &str| format!("job.fio --on {disk}.toml --virtual");
    let compare = |candidate: &str, args: &[&str]| {
        let (from, to) = (side("P30"), side(candidate));
        let head = ["compare", "--interleave", "6", "--metric", "iops", "--fail-if-worse", "5%"];
        sandbox.plimsoll_keeping(&[&head[..], args, &["--", &from, &to]].concat())
    };
    let found = compare("P20", &["--name", "disks"]);
    assert_eq!(found.code, 4, "{}{}", found.stdout, found.stderr);
    assert!(found.stderr.contains("candidate: 3.50 k IOPS"), "{}", found.stderr);
    assert!(found.stdout.starts_with("baseline   6 runs: "), "{}", found.stdout);
    let again = ["compare", "disks-baseline", "disks-candidate", "--metric", "iops", "--anyway"];
    let again = sandbox.plimsoll_keeping(&again);
    assert_eq!(again.code, 0, "{}", again.stderr);
    assert!(again.stdout.contains("worse"), "{}", again.stdout);
    // Equal ones turn nothing red.
    let found = compare("P30", &[]);
    assert_eq!(found.code, 0, "{}{}", found.stdout, found.stderr);
    assert!(found.stdout.contains("6 runs: "), "{}", found.stdout);
}

/// A language that has no parameter for the seed, and a seed that a side says itself.
#[test]
fn files_of_vdbench_are_measured_in_turn() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "x.parm",
        "sd=sd1,lun=/mnt/data/file,size=4g,threads=8,openflags=o_direct\n\
         wd=wd1,sd=sd1,xfersize=4k,rdpct=100\nrd=run1,wd=wd1,iorate=max,elapsed=2,interval=1\n",
    );
    sandbox.write("p30.toml", "[[volume]]\nmount = \"/mnt/data\"\ndisk = \"P30\"\n");
    let side = "x.parm --on p30.toml --virtual";
    let seeded = format!("{side} --seed 7");
    let found = sandbox.plimsoll_keeping(&["compare", "--interleave", "2", "--", side, &seeded]);
    assert!(matches!(found.code, 0 | 3), "{}{}", found.stdout, found.stderr);
    assert!(found.stderr.contains("pair 2 of 2, candidate"), "{}", found.stderr);
}

#[test]
fn a_side_that_cannot_run_is_reported_before_anything_runs() {
    let sandbox = Sandbox::new();
    sandbox.write("good.fio", "[a]\nioengine=null\nrw=read\nsize=1m\n");
    sandbox.write("bad.fio", "[a]\nioengine=null\nrw=raed\nsize=1m\n");
    let reported = |side: &str| {
        let args = ["compare", "--interleave", "2", "--", "good.fio", side];
        let found = sandbox.plimsoll_keeping(&args);
        assert_eq!(found.code, 2, "{}", found.stdout);
        assert!(!found.stderr.contains("pair 1"), "{}", found.stderr);
        found.stderr
    };
    assert!(reported("bad.fio").contains("raed"));
    assert!(reported("'good.fio").contains("a quote (') is not closed"));
    assert!(reported("good.fio --nonsense").contains("`plimsoll run` does not accept it"));
    assert!(reported("good.fio --no-store").contains("cannot be given for one side"));
    assert!(reported("missing.fio").contains("missing.fio"));
    assert!(reported("-").contains("standard input"));
    // What is known only with the files, the host and the permissions.
    sandbox.write("commands.fio", "[a]\nioengine=null\nrw=read\nsize=1m\nexec_prerun=true\n");
    sandbox.write("reads.fio", "[a]\nioengine=psync\nrw=read\nsize=1m\nfilename=data\n");
    assert!(reported("commands.fio").contains("--allow-commands"));
    assert!(reported("commands.fio --readonly --allow-commands").contains("read-only-run"));
    assert!(reported("reads.fio --readonly").contains("read-only-layout"));
    assert!(!sandbox.path("data").exists());
    assert!(reported("good.fio --output good.fio").contains("is what this command reads"));
    assert!(reported("good.fio --output missing/x.json").contains("missing/x.json"));
    let runs = sandbox.plimsoll_keeping(&["runs"]);
    assert!(!runs.stdout.contains("pairs-"), "{}", runs.stdout);
}

#[test]
fn runs_are_named_for_a_comparison_only_where_both_sides_have_some() {
    let sandbox = Sandbox::new();
    sandbox.write("good.fio", "[a]\nioengine=null\nrw=read\nsize=1m\n");
    // Whether the command succeeds is known only when it has run.
    sandbox.write("fails.fio", "[a]\nioengine=null\nrw=read\nsize=1m\nexec_prerun=false\n");
    let side = "fails.fio --allow-commands";
    let found = sandbox.plimsoll_keeping(&["compare", "--interleave", "1", "--", "good.fio", side]);
    assert_eq!(found.code, 1, "{}", found.stderr);
    assert!(found.stderr.contains("candidate: the run failed"), "{}", found.stderr);
    assert!(!found.stderr.contains("runs that were measured"), "{}", found.stderr);
}

/// A P20 carries 3,500 IOPS on credits and 2,300 after them: a loss to that is more than it looks.
#[test]
fn a_rate_on_credits_is_in_doubt() {
    let sandbox = Sandbox::new();
    let job = "[a]\nfilename=/mnt/volume/f\nsize=8g\nrw=randread\nbs=8k\niodepth=64\n\
               ioengine=libaio\ndirect=1\nruntime=60\ntime_based\n";
    sandbox.write("j.fio", job);
    for disk in ["P30", "P20"] {
        let run = ["run", "j.fio", "--on", disk, "--virtual", "--name", disk, "--no-progress"];
        sandbox.plimsoll_keeping(&run).success();
    }
    let outcome = sandbox.plimsoll_keeping(&["compare", "P30", "P20"]);
    let words: Vec<&str> = outcome.success().split_ascii_whitespace().collect();
    let text = words.join(" ");
    let doubt = "candidate run 2 (`P20`) caution: credits: credits possible: 3500 IOPS are above";
    assert!(text.contains(doubt), "{text}");
    assert_eq!(text.matches("caution").count(), 1, "{text}");
}
