//! Runs are kept, found again, and survive the program that made them.

mod common;

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use common::{Outcome, Sandbox, outcome};
use serde_json::Value;

const JOB: &str = "[quick]\nioengine=null\nrw=randread\nsize=64m\nnumber_ios=2000\n";

/// Runs a command with a store in the sandbox.
fn plimsoll(sandbox: &Sandbox, args: &[&str]) -> Outcome {
    outcome(command(sandbox).args(args))
}

fn command(sandbox: &Sandbox) -> Command {
    let mut command = sandbox.command(Path::new(env!("CARGO_BIN_EXE_plimsoll")));
    command.env("PLIMSOLL_STORE", sandbox.path("kept/runs.db"));
    command
}

fn list(sandbox: &Sandbox) -> Vec<Value> {
    let listed = plimsoll(sandbox, &["runs", "--all", "--json"]);
    assert_eq!(listed.code, 0, "{}", listed.stderr);
    serde_json::from_str(&listed.stdout).unwrap()
}

#[test]
fn a_run_is_kept_listed_and_shown_as_it_was_printed() {
    let sandbox = Sandbox::new();
    sandbox.write("quick.fio", JOB);
    let args = ["run", "--no-progress", "--name", "first", "--tag", "night", "quick.fio"];
    let run = plimsoll(&sandbox, &args);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let shown = plimsoll(&sandbox, &["show", "first"]);
    let (head, rest) = shown.stdout.split_once("\n\n").unwrap();
    assert!(head.starts_with("run 1, complete, ") && head.ends_with(", first #night"), "{head}");
    assert_eq!(rest, run.stdout);
    let json = plimsoll(&sandbox, &["show", "--json"]).stdout;
    let record: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(record["jobs"][0]["dirs"]["read"]["n_ios"], 2000);
    let plan = plimsoll(&sandbox, &["show", "1", "--plan"]).stdout;
    sandbox.write("again.toml", &plan);
    let again = plimsoll(&sandbox, &["run", "--no-progress", "again.toml"]);
    again.success();
    let table = plimsoll(&sandbox, &["runs"]).stdout;
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines.len(), 3, "{table}");
    assert!(lines[1].contains("again.toml") && lines[2].ends_with("first #night"), "{table}");
    assert_eq!(list(&sandbox)[1]["rate_iops"].as_f64().map(|rate| rate > 0.0), Some(true));
}

#[test]
fn what_was_refused_or_is_not_wanted_is_not_kept() {
    let sandbox = Sandbox::new();
    sandbox.write("quick.fio", JOB);
    let none = plimsoll(&sandbox, &["runs"]);
    assert_eq!(none.code, 2);
    assert!(none.stderr.starts_with("error: there is no run store at "), "{}", none.stderr);
    let done = plimsoll(&sandbox, &["run", "--no-progress", "--no-store", "quick.fio"]);
    assert!(matches!(done.code, 0 | 3), "{}", done.stderr);
    assert!(!sandbox.path("kept").exists());
    sandbox.write("bad.fio", "[a]\nfilename=/nowhere/at/all\nrw=read\nsize=1m\n");
    assert_eq!(plimsoll(&sandbox, &["run", "--no-progress", "bad.fio"]).code, 2);
    assert!(list(&sandbox).is_empty());
}

#[test]
fn a_store_that_was_asked_for_and_fails_ends_with_1_after_the_figures() {
    let sandbox = Sandbox::new();
    sandbox.write("quick.fio", JOB);
    sandbox.write("text", "no database, but long enough for the head of one".repeat(9));
    let text = sandbox.path("text");
    let args = ["run", "--no-progress", "--store", text.to_str().unwrap(), "quick.fio"];
    let run = plimsoll(&sandbox, &args);
    assert_eq!(run.code, 1);
    assert!(run.stderr.starts_with("warning: the run is not stored: "), "{}", run.stderr);
    assert!(run.stdout.contains("quick"), "{}", run.stdout);
}

/// Whichever command measured: who asks for a store does not read its absence as success.
#[test]
fn a_store_that_was_asked_for_reaches_every_exit_code() {
    let sandbox = Sandbox::new();
    sandbox
        .write("p30.toml", "[[volume]]\nmount = \"/mnt/p30\"\ndisk = \"P30\"\ncache = \"None\"\n");
    sandbox.write("data", vec![b'x'; 1 << 20]);
    let page = "sd=a,lun=data,size=1m\nwd=w,sd=a,rdpct=100\n\
                rd=r,wd=w,iorate=50,elapsed=2,interval=1\n";
    sandbox.write("p.parm", page);
    let on = ["--on", "p30.toml", "--virtual", "--no-progress", "--scale", "0.1"];
    let store = ["--store", "/proc/runs.db"];
    for (args, code) in [
        ([&["bench", "--report", "none"], &on[..], &store].concat(), 1),
        ([&["vdbench", "-f", "p.parm", "-o", "out"], &store[..]].concat(), 157),
    ] {
        let outcome = sandbox.plimsoll(&args);
        assert!(outcome.stderr.contains("the run is not stored"), "{args:?}: {}", outcome.stderr);
        assert_eq!(outcome.code, code, "{args:?}: {}{}", outcome.stdout, outcome.stderr);
    }
}

/// A disk that fills up under the store: the figures come out, and what is there stays readable.
#[test]
fn a_store_on_a_full_disk_loses_nothing() {
    let sandbox = Sandbox::new();
    sandbox.write("quick.fio", JOB);
    std::fs::create_dir(sandbox.path("disk")).unwrap();
    let script = r#"set -e
        mount -t tmpfs -o size=200k none disk || exit 77
        "$0" run --no-progress --store disk/runs.db --name before quick.fio >/dev/null
        head -c 1m /dev/zero >disk/rest 2>/dev/null || true
        ! "$0" run --no-progress --store disk/runs.db --name after quick.fio
        "$0" runs --store disk/runs.db
        "$0" show before --store disk/runs.db >/dev/null
        ! "$0" runs tag before kept --store disk/runs.db"#;
    let mut unshare = sandbox.command(Path::new("unshare"));
    unshare.args(["--mount", "--map-root-user", "--propagation", "private", "sh", "-c"]);
    let run = match unshare.args([script, env!("CARGO_BIN_EXE_plimsoll")]).output() {
        Ok(run) if run.stderr.starts_with(b"unshare") || run.status.code() == Some(77) => {
            return testing::skipped!("{}", String::from_utf8_lossy(&run.stderr));
        }
        Err(error) => return testing::skipped!("no unshare here: {error}"),
        Ok(run) => run,
    };
    let (stdout, stderr) =
        (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    assert!(run.status.success(), "{stdout}{stderr}");
    assert!(stdout.contains("quick: 1 worker"), "{stdout}");
    // A run so short may have a caution before its name.
    assert!(stdout.contains(" before\n"), "{stdout}");
    let lines: Vec<&str> = stderr.lines().collect();
    let full = "the disk of the run store disk/runs.db is full: make room there \
                (what was kept before is still there)";
    assert_eq!(lines[0], format!("warning: the run is not stored: {full}"), "{stderr}");
    assert_eq!(lines.last(), Some(&format!("error: {full}").as_str()), "{stderr}");
}

#[test]
fn a_killed_run_is_there_as_interrupted() {
    let sandbox = Sandbox::new();
    let job =
        "[long]\nioengine=null\nrw=randread\nsize=64m\ntime_based\nruntime=60\nrate_iops=1k\n";
    sandbox.write("long.fio", job);
    let mut child = command(&sandbox).args(["run", "--no-progress", "long.fio"]).spawn().unwrap();
    let state = || Some(list(&sandbox).first()?["state"].as_str()?.to_owned());
    while !sandbox.path("kept/runs.db").exists() || state().is_none() {
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(state().as_deref(), Some("running"));
    // What was measured is there from the first second on.
    while list(&sandbox)[0]["rate_iops"].is_null() {
        std::thread::sleep(Duration::from_millis(50));
    }
    // The first record may come before the first interval has ended.
    let kept = || {
        let record = plimsoll(&sandbox, &["export", "--format", "json"]);
        serde_json::from_str::<Value>(&record.stdout).unwrap_or_default()
    };
    while kept()["intervals"].as_array().is_none_or(Vec::is_empty) {
        std::thread::sleep(Duration::from_millis(50));
    }
    child.kill().unwrap();
    assert_eq!(child.wait().unwrap().signal(), Some(9));
    assert_eq!(state().as_deref(), Some("interrupted"));
    let shown = plimsoll(&sandbox, &["show", "last"]);
    assert!(shown.stdout.contains("long: 1 worker"), "{} {}", shown.stdout, shown.stderr);
    // What was not counted is not shown as none.
    assert!(!shown.stdout.contains("context switches"), "{}", shown.stdout);
    let record = plimsoll(&sandbox, &["export", "--format", "json"]);
    let record: Value = serde_json::from_str(&record.stdout).unwrap();
    assert_eq!(record["outcome"], "interrupted");
    assert!(!record["intervals"].as_array().unwrap().is_empty());
}

#[test]
fn runs_get_names_tags_and_notes_and_are_deleted() {
    let sandbox = Sandbox::new();
    sandbox.write("quick.fio", JOB);
    for _ in 0..2 {
        let done = plimsoll(&sandbox, &["run", "--no-progress", "quick.fio"]);
        assert!(matches!(done.code, 0 | 3), "{}", done.stderr);
    }
    for args in [
        &["runs", "name", "last", "after"][..],
        &["runs", "tag", "after", "x"],
        &["runs", "note", "2", "with the new firmware"],
    ] {
        let done = plimsoll(&sandbox, args);
        assert_eq!((done.code, done.stderr.as_str()), (0, ""), "{args:?}");
    }
    let deleted = plimsoll(&sandbox, &["runs", "delete", "last~1"]);
    let expected = "deleted run 1 (--no-progress quick.fio)\n";
    assert_eq!((deleted.code, deleted.stderr.as_str()), (0, expected));
    let runs = list(&sandbox);
    assert_eq!(runs.len(), 1);
    assert_eq!((&runs[0]["name"], &runs[0]["tags"][0]), (&"after".into(), &"x".into()));
    let shown = plimsoll(&sandbox, &["show"]).stdout;
    assert!(shown.contains(", after, with the new firmware #x\n"), "{shown}");
    let none = plimsoll(&sandbox, &["show", "afte"]);
    assert_eq!(none.code, 2);
    assert!(none.stderr.contains("but there is `after`"), "{}", none.stderr);
}

#[test]
fn a_named_run_on_emulated_volumes_is_marked() {
    let sandbox = Sandbox::new();
    let job = "[j]\nioengine=psync\nrw=randread\nbs=4k\nsize=1m\nnumber_ios=100\n";
    sandbox.write("job.fio", format!("{job}filename=/mnt/p30/f\n"));
    let design = "[[volume]]\nmount = \"/mnt/p30\"\ndisk = \"P30\"\ncache = \"None\"\n";
    sandbox.write("p30.toml", design);
    let run = ["run", "job.fio", "--no-progress", "--virtual", "--name", "rwtest"];
    plimsoll(&sandbox, &[&run[..], &["--on", "p30.toml"]].concat()).success();
    plimsoll(&sandbox, &[&run[..], &["--on=p30.toml"]].concat()).success();
    let table = plimsoll(&sandbox, &["runs"]).stdout;
    let n_marked = table.lines().filter(|line| line.ends_with("rwtest (on p30.toml)")).count();
    assert_eq!(n_marked, 2, "{table}");
}

/// Two depths one after the other: what lies between them was never measured.
#[test]
fn steps_are_listed_apart() {
    let sandbox = Sandbox::new();
    let common = "[global]\nrw=randread\nbs=4k\nsize=64m\nruntime=2\ntime_based\n\
                  ioengine=io_uring\ndirect=1\nfilename=/mnt/p30/f\n";
    let jobs = format!("{common}[one]\niodepth=1\n[many]\nstonewall\niodepth=128\n");
    sandbox.write("two.fio", jobs);
    let design = "[[volume]]\nmount = \"/mnt/p30\"\ndisk = \"P30\"\ncache = \"None\"\n";
    sandbox.write("p30.toml", design);
    let run = ["run", "two.fio", "--no-progress", "--on", "p30.toml", "--virtual"];
    let done = plimsoll(&sandbox, &run);
    assert!(matches!(done.code, 0 | 3), "{}", done.stderr);
    let table = plimsoll(&sandbox, &["runs"]).stdout;
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines.len(), 4, "{table}");
    assert!(lines[1].contains("2 steps: ") && !lines[1].contains(" k "), "{table}");
    let rates: Vec<f64> = list(&sandbox)[0]["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| step["rate_iops"].as_f64().unwrap())
        .collect();
    assert!(rates[0] < 1_100.0 && rates[1] > 4_900.0, "{rates:?}");
    assert!(lines[2].ends_with("step 1") && lines[3].ends_with("step 2"), "{table}");
}

/// What speaks against a run stands before its name, the worse word where there are two.
#[test]
fn what_a_run_comes_to_is_listed() {
    let sandbox = Sandbox::new();
    let design = "[[volume]]\nmount = \"/mnt/p30\"\ndisk = \"P30\"\ncache = \"None\"\n";
    sandbox.write("p30.toml", design);
    let job = |rate: u32| {
        format!(
            "[j]\nrw=randread\nbs=4k\nsize=64m\nruntime=20\ntime_based\nioengine=io_uring\n\
             direct=1\nfilename=/mnt/p30/f\niodepth=64\nrate_iops={rate}\n"
        )
    };
    sandbox.write("carried.fio", job(1_000));
    sandbox.write("missed.fio", job(6_000));
    let on = ["--on", "p30.toml", "--virtual", "--no-progress"];
    let run = |args: &[&str]| plimsoll(&sandbox, &[args, &on].concat()).code;
    assert_eq!(run(&["run", "carried.fio", "--name", "carried"]), 0);
    assert_eq!(run(&["run", "missed.fio", "--name", "missed"]), 3);
    assert_eq!(run(&["curve", "--points", "0", "--name", "line"]), 0);
    let few = ["curve", "--points", "0", "--probes-max", "2", "--name", "open"];
    assert_eq!(run(&few), 3);
    let need = ["bench", "--need", "iops=9000", "--report", "none", "--name", "need"];
    assert_eq!(run(&need), 4);
    assert_eq!(run(&["curve", "--points", "0", "--rw", "randrw", "--bs", "4k"]), 0);
    let standings: Vec<Value> = list(&sandbox).iter().map(|run| run["standing"].clone()).collect();
    assert_eq!(standings, ["sound", "not met", "cannot tell", "sound", "invalid", "sound"]);
    let table = plimsoll(&sandbox, &["runs"]).stdout;
    for (line, end) in table.lines().skip(1).zip([
        "  load line: /mnt/p30: randrw 50 % reads 4.00 KiB, p99 < 10ms (on p30.toml)",
        "  not met: 1 need: need (on p30.toml)",
        "    not met: iops=9000",
        "  cannot tell: no load line: open (on p30.toml)",
        "  load line: line (on p30.toml)",
        "  invalid: missed (on p30.toml)",
        "  carried (on p30.toml)",
    ]) {
        assert!(line.ends_with(end), "`{end}` is not the end of: {table}");
    }
    let need = table.lines().nth(3).expect("the need's line");
    assert_eq!(need.split_whitespace().take(3).collect::<Vec<_>>(), ["5.00", "k", "39.1"]);
}

/// Each need has its answer and its rates, and the run says that all are met.
#[test]
fn needs_are_listed_with_their_answers() {
    let sandbox = Sandbox::new();
    let design = "[[volume]]\nmount = \"/mnt/p30\"\ndisk = \"P30\"\ncache = \"None\"\n";
    sandbox.write("p30.toml", design);
    let needs = ["--need", "iops=1000,p99<20ms", "--need", "mb_s=100,bs=1m,seq"];
    let on = ["--on", "p30.toml", "--virtual", "--no-progress", "--report", "none"];
    plimsoll(&sandbox, &[&["bench"], &needs[..], &on].concat()).success();
    let table = plimsoll(&sandbox, &["runs"]).stdout;
    let lines: Vec<&str> = table.lines().collect();
    assert!(
        lines[1].contains("  met: 2 needs: ") && lines[1].ends_with("(on p30.toml)"),
        "{table}"
    );
    assert!(lines[2].ends_with("  met: iops=1000,p99<20ms"), "{table}");
    assert!(lines[3].ends_with("  met: mb_s=100,bs=1m,seq"), "{table}");
    let listed = &list(&sandbox)[0]["steps"];
    for (idx, rate_iops) in [(0, 1_000.0), (1, 95.37)] {
        let step = &listed[idx];
        let found = step["rate_iops"].as_f64().expect("it was measured");
        assert!((found / rate_iops - 1.0).abs() < 0.1, "{listed}");
        assert_eq!(step["verdict"], "met");
    }
}
