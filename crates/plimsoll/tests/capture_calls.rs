//! `plimsoll capture --as workload` beside the real strace: what it counts is what a program did.

mod common;

use std::collections::BTreeMap;
use std::path::Path;

use common::{Outcome, Sandbox, outcome};
use serde_json::Value;

/// Runs a command in a folder of the sandbox under strace.
fn traced(sandbox: &Sandbox, command: &[&str]) -> Option<Outcome> {
    if !Path::new("/usr/bin/strace").exists() {
        testing::skipped!("no strace: `apt-get install strace`");
        return None;
    }
    let mut strace = sandbox.command(Path::new("/usr/bin/strace"));
    strace.args(["-f", "-ttt", "-y", "-o", "app.strace"]).args(command);
    let run = outcome(&mut strace);
    if run.stderr.contains("Operation not permitted") {
        testing::skipped!("strace may not trace here");
        return None;
    }
    Some(run)
}

fn captured(sandbox: &Sandbox, below: &str) -> Value {
    let args = ["capture", "--from", "app.strace", "--as", "workload", "--below", below, "--json"];
    serde_json::from_str(sandbox.plimsoll(&args).success()).expect("JSON")
}

/// Returns how often each operation was done, over all programs.
fn counts(workload: &Value) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for component in workload["components"].as_array().expect("components") {
        for (op, n) in component["counted"].as_object().expect("operations") {
            *counts.entry(op.clone()).or_default() += n.as_u64().expect("a count");
        }
    }
    counts
}

/// Forty files are made and removed, twenty looked for in vain, ten renamed, one appended to.
#[test]
fn what_a_program_did_is_counted() {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.path("d")).expect("it is ours");
    let script = "cd d; for i in 0 1 2 3; do for j in 0 1 2 3 4 5 6 7 8 9; do \
                  echo x > f$i$j; done; done; \
                  for i in 0 1 2 3 4 5 6 7 8 9; do [ -e no$i ]; [ -d no$i ]; done; \
                  for i in 0 1 2 3 4; do echo y >> f00; done; \
                  for i in 0 1 2 3 4 5 6 7 8 9; do mv f1$i g$i; done; rm f* g*";
    let Some(run) = traced(&sandbox, &["/bin/sh", "-c", script]) else { return };
    assert_eq!(run.code, 0, "{}", run.stderr);
    let workload = captured(&sandbox, "d");
    let counts = counts(&workload);
    let expected = [
        ("create", 40),
        ("write_file", 40),
        ("neg_stat", 20),
        ("append", 5),
        ("rename", 10),
        ("unlink", 40),
    ];
    for (op, n) in expected {
        assert_eq!(counts.get(op), Some(&n), "{op} in {counts:?}");
    }
}

/// What a composite workload does is captured from its run: the same mix, sizes and pace.
#[test]
fn a_workload_is_captured_from_its_own_run() {
    let sandbox = Sandbox::new();
    let unit = "schema = \"plimsoll.plan/1\"\n[unit]\nname = \"set\"\nanchor = \"d\"\n\
        runtime = \"2s\"\n[[unit.component]]\nname = \"a\"\nrate = 200\nread_sizes = \"4KiB\"\n\
        write_sizes = \"2KiB\"\n[unit.component.mix]\nrandom_read = 40\nrandom_write = 20\n\
        stat = 20\nneg_stat = 10\naccess = 5\nappend = 5\n[unit.component.files]\nfolders = 4\n\
        files_per_folder = 10\nsizes = \"16KiB\"\n";
    sandbox.write("unit.toml", unit);
    sandbox.plimsoll(&["run", "unit.toml", "--no-progress"]);
    let command = [env!("CARGO_BIN_EXE_plimsoll"), "run", "unit.toml", "--no-progress"];
    if traced(&sandbox, &command).is_none() {
        return;
    }
    let workload = captured(&sandbox, "d/set-0001");
    let counts = counts(&workload);
    let n = |op: &str| counts.get(op).map_or(0.0, |n| *n as f64);
    // Beside its load the run looks at its tree, so that only what moves bytes is alone in there.
    let all = n("random_read") / 0.4;
    assert!(all > 100.0, "{counts:?}");
    for (op, share) in [("random_write", 0.2), ("append", 0.05)] {
        let ratio = n(op) / all / share;
        assert!((0.9..1.1).contains(&ratio), "{op}: {ratio} in {counts:?}");
    }
    for (op, share) in [("stat", 0.2), ("neg_stat", 0.1), ("access", 0.05)] {
        assert!(n(op) > 0.9 * share * all, "{op} in {counts:?}");
    }
}

#[test]
fn the_plan_is_written_and_runs() {
    let sandbox = Sandbox::new();
    let trace = "7 1795812569.0 execve(\"/opt/app\", [\"app\"], 0x7 /* 1 var */) = 0\n\
        7 1795812569.1 openat(AT_FDCWD, \"/d/a\", O_RDONLY) = 3\n\
        7 1795812569.2 pread64(3, \"\", 4096, 8192) = 4096\n\
        7 1795812569.3 close(3) = 0\n7 1795812570.0 stat(\"/d/b\", {st_size=5}) = 0\n";
    sandbox.write("app.strace", trace);
    let args = ["capture", "--from", "app.strace", "--as", "workload", "-o", "mine.toml"];
    let outcome = sandbox.plimsoll(&args);
    let table = outcome.success();
    assert!(table.contains("app") && table.contains("random_read 50%"), "{table}");
    assert!(outcome.stderr.contains("next: plimsoll run mine.toml"), "{}", outcome.stderr);
    let disk = "[[volume]]\nmount = \"/mnt/vol\"\ndisk = \"P30\"\ncache = \"None\"\n";
    sandbox.write("p30.toml", disk);
    let run = ["run", "mine.toml", "--on", "p30.toml", "--virtual", "--no-progress", "--json"];
    let record = record::Record::from_json(sandbox.plimsoll(&run).success()).expect("a record");
    assert_eq!(record.outcome, record::Outcome::Complete);
}

#[test]
fn mistakes_say_what_to_do() {
    let sandbox = Sandbox::new();
    sandbox.write("app.strace", "7 1795812569.1 stat(\"/d/b\", {st_size=5}) = 0\n");
    sandbox.write("vm.log", "procs\n r b swpd free buff cache si so bi bo in cs us sy id wa st\n");
    for (args, words) in [
        (&["--from", "app.strace"][..], "add `--as workload`"),
        (&["--from", "vm.log", "--as", "workload"], "strace -f -ttt"),
        (
            &["--from", "app.strace", "--as", "workload", "--phase", "peak=9:00-17:00"],
            "about needs",
        ),
        (&["--from", "app.strace", "--below", "d"], "add `--as workload`"),
        (&["--from", "app.strace", "--as", "workload", "--below", "/none"], "below the folders"),
        (&["--from", "app.strace", "--as", "workload", "-o", "app.strace"], "is an input"),
    ] {
        let outcome = sandbox.plimsoll(&[&["capture"], args].concat());
        assert_eq!(outcome.code, 2, "{args:?}: {}", outcome.stderr);
        let said = outcome.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains(words), "{args:?}: {said}");
    }
}
