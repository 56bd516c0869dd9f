//! Small jobs from the file to the result.

mod common;

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use common::Sandbox;

/// A job that takes a fraction of a second.
const JOB: &str = "[global]\nsize=256k\nbs=4k\n[one]\nrw=randrw\n[two]\nstonewall\nrw=read\n";

#[test]
fn run_prints_a_table() {
    let outcome = Sandbox::new().run(JOB);
    let table = outcome.success();
    for part in ["one: 1 worker", "two: 1 worker", "IOPS", "p99", "read", "write"] {
        assert!(table.contains(part), "`{part}` is missing in\n{table}");
    }
    assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
    assert_eq!(outcome.stderr, "", "nothing is wrong");
}

#[test]
fn run_prints_a_record() {
    let sandbox = Sandbox::new();
    sandbox.write("job.fio", JOB);
    let outcome = sandbox.plimsoll(&["run", "--json", "job.fio"]);
    let record = record::Record::from_json(outcome.success()).expect("a record");
    assert_eq!(record.outcome, record::Outcome::Complete);
    let names: Vec<&str> = record.jobs.iter().map(|job| job.name.as_str()).collect();
    assert_eq!(names, ["one", "two"]);
    assert_eq!(record.jobs[0].n_ios(), 64, "every block once");
    assert_eq!(record.jobs[1].dirs.read.io_bytes, 256 << 10);
    assert_eq!(record.command[1..], ["run", "--json", "job.fio"]);
}

#[test]
fn run_prints_fios_json() {
    let sandbox = Sandbox::new();
    sandbox.write("job.fio", JOB);
    let outcome = sandbox.plimsoll(&["run", "--fio-json", "job.fio"]);
    let page: serde_json::Value = serde_json::from_str(outcome.success()).expect("JSON");
    assert_eq!(page["jobs"][1]["jobname"], "two");
    assert_eq!(page["jobs"][1]["read"]["total_ios"], 64);
}

#[test]
fn a_result_in_a_file_leaves_the_table() {
    let sandbox = Sandbox::new();
    sandbox.write("job.fio", JOB);
    let outcome = sandbox.plimsoll(&["run", "job.fio", "--json", "--output", "result.json"]);
    assert!(outcome.success().contains("one: 1 worker"));
    let text = std::fs::read_to_string(sandbox.path("result.json")).expect("the result");
    record::Record::from_json(&text).expect("a record");
}

#[test]
fn set_and_remap_change_a_file_without_editing_it() {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.path("scratch")).expect("the folder is ours");
    sandbox.write("job.fio", "[a]\ndirectory=/mnt/nosuch\nsize=1g\n");
    let args =
        ["run", "job.fio", "--remap", "/mnt/nosuch=./scratch", "--set", "size=64k", "--json"];
    let outcome = sandbox.plimsoll(&args);
    let record = record::Record::from_json(outcome.success()).expect("a record");
    assert_eq!(record.jobs[0].dirs.read.io_bytes, 64 << 10);
    assert_eq!(record.jobs[0].targets, ["./scratch/a.0.0"]);
    let sizes = record.jobs[0].options.iter().filter(|(name, _)| name == "size");
    assert_eq!(sizes.map(|(_, value)| value.as_str()).collect::<Vec<_>>(), ["64k"]);
}

#[test]
fn a_job_comes_in_through_a_pipe() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.command(Path::new(env!("CARGO_BIN_EXE_plimsoll")));
    command.args(["run", "-", "--json"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("the binary was built");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(b"[piped]\nsize=64k\nioengine=null\n").expect("it reads");
    drop(stdin);
    let output = child.wait_with_output().expect("it ends");
    let text = String::from_utf8(output.stdout).expect("text");
    assert_eq!(record::Record::from_json(&text).expect("a record").jobs[0].name, "piped");
}

/// As a shell passes `<(command)`. A command looks at a file for its language, then reads it.
#[test]
fn a_pipe_with_a_name_is_read_once() {
    let sandbox = Sandbox::new();
    let fio = "[piped]\nsize=64k\nioengine=null\n";
    let vdbench = "sd=a,lun=data,size=12k\nwd=w,sd=a\nrd=r,wd=w,iorate=9,elapsed=2,interval=1\n";
    sandbox.write("data", "twelve kbyte".repeat(1024));
    for (args, text, expected) in [
        (&["run", "--json"][..], fio, "\"piped\""),
        (&["check"], fio, "piped"),
        (&["translate", "--to", "toml"], fio, "piped"),
        (&["vdbench", "-s", "-o", "out", "-f"], vdbench, "RD=r"),
    ] {
        let mut command = sandbox.command(Path::new(env!("CARGO_BIN_EXE_plimsoll")));
        let mut child = command
            .args(args)
            .arg("/dev/stdin")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary was built");
        child.stdin.take().expect("a pipe").write_all(text.as_bytes()).expect("it reads");
        let output = child.wait_with_output().expect("it ends");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let more = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains(expected), "{args:?}: {said}{more}");
    }
}

#[test]
fn a_closed_pipe_is_no_error() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.command(Path::new(env!("CARGO_BIN_EXE_plimsoll")));
    let mut child = command
        .args(["explain", "--all"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary was built");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

/// Runs a command whose reader has gone before the first byte, and returns its exit code.
fn code_without_reader(command: &mut Command) -> Option<i32> {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    command.stdout(writer).stderr(Stdio::null()).status().expect("the binary was built").code()
}

#[test]
fn a_closed_pipe_does_not_hide_how_the_run_went() {
    let sandbox = Sandbox::new();
    sandbox.write("fine.fio", "[a]\nsize=64k\nioengine=null\n");
    sandbox.write("fails.fio", "[a]\nsize=64k\nrw=write\nverify=md5\nfilename=/dev/full\n");
    let run = |args: &[&str]| {
        code_without_reader(sandbox.command(Path::new(env!("CARGO_BIN_EXE_plimsoll"))).args(args))
    };
    for (job, code) in [("fine.fio", 0), ("fails.fio", 1)] {
        assert_eq!(run(&["run", "--no-progress", job]), Some(code), "{job}");
        assert_eq!(run(&["run", "--no-progress", "--json", job]), Some(code), "{job}");
        assert_eq!(run(&["fio", job]), Some(code), "{job} under fio's name");
        assert_eq!(run(&["fio", "--output-format=json", job]), Some(code), "{job}, fio's JSON");
    }
}

#[test]
fn a_refused_run_leaves_an_earlier_result_alone() {
    let sandbox = Sandbox::new();
    sandbox.write("job.fio", "[a]\nioengine=null\nsize=64k\n");
    // Neither size nor file: known only once the target was looked at.
    sandbox.write("refused.fio", "[a]\nrw=read\nfilename=none\n");
    let earlier = "an earlier result, longer than what any table holds\n".repeat(1000);
    sandbox.write("out", &earlier);
    let text = |name: &str| std::fs::read_to_string(sandbox.path(name)).ok();
    for mode in [&["run", "--no-progress"][..], &["fio"]] {
        let run = |job, out| {
            let output = format!("--output={out}");
            sandbox.plimsoll(&[mode, &[output.as_str(), job]].concat())
        };
        assert_ne!(run("refused.fio", "out").code, 0);
        assert_eq!(text("out").as_deref(), Some(earlier.as_str()), "{mode:?}");
        assert_ne!(run("refused.fio", "new").code, 0);
        assert_eq!(text("new"), None, "{mode:?} leaves an empty file");
        assert_ne!(run("job.fio", "none/out").code, 0);
        run("job.fio", "new").success();
        assert!(text("new").is_some_and(|text| text.contains("IOPS")), "{mode:?}");
        std::fs::remove_file(sandbox.path("new")).expect("it is there");
    }
    sandbox.plimsoll(&["run", "--no-progress", "--output=out", "job.fio"]).success();
    assert!(text("out").is_some_and(|text| !text.contains("earlier")));
    sandbox.plimsoll(&["run", "--no-progress", "--output=/dev/null", "job.fio"]).success();
}

#[test]
fn an_interrupted_run_reports_what_it_measured() {
    let sandbox = Sandbox::new();
    sandbox.write("job.fio", "[a]\nsize=64k\nioengine=null\ntime_based\nruntime=60\n");
    // Ctrl-C, and a terminal that is lost.
    for signal in [rustix::process::Signal::INT, rustix::process::Signal::HUP] {
        // Below `nohup`, a program ignores the second one.
        let mut command = sandbox.command(Path::new("/usr/bin/env"));
        command.args(["--default-signal", env!("CARGO_BIN_EXE_plimsoll")]);
        command.args(["run", "job.fio", "--json", "--progress", "--status-interval", "100ms"]);
        let (code, text) = interrupt_at_first_line(&mut command, signal);
        assert_eq!(code, Some(130));
        let record = record::Record::from_json(&text).expect("a record");
        assert_eq!(record.outcome, record::Outcome::Interrupted);
        assert!(record.jobs[0].n_ios() > 0);
    }
}

/// Sends a signal once the first line of progress is there.
fn interrupt_at_first_line(
    command: &mut Command,
    signal: rustix::process::Signal,
) -> (Option<i32>, String) {
    use std::io::{BufRead, BufReader};
    let piped = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().expect("the binary was built");
    let mut progress = BufReader::new(child.stderr.take().expect("a pipe"));
    let mut line = String::new();
    progress.read_line(&mut line).expect("a line");
    assert!(line.contains("IOPS"), "{line}");
    let pid = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw);
    rustix::process::kill_process(pid.expect("a process"), signal).expect("it runs");
    // Both are read to their ends at once: neither pipe fills, and neither is closed.
    let rest = std::thread::spawn(move || std::io::copy(&mut progress, &mut std::io::sink()));
    let output = child.wait_with_output().expect("it ends");
    rest.join().expect("no panic").expect("a pipe");
    (output.status.code(), String::from_utf8(output.stdout).expect("text"))
}

#[test]
fn the_demo_leaves_nothing_behind() {
    let sandbox = Sandbox::new();
    let outcome = sandbox.plimsoll(&["demo", "--runtime", "50ms", "--size", "4m", "--no-progress"]);
    let table = outcome.success();
    for job in ["small-read:", "small-read-deep:", "database-mix:", "large-read:"] {
        assert!(table.contains(job), "{job} is missing in\n{table}");
    }
    let left = std::fs::read_dir(sandbox.path(".")).expect("the folder is ours").count();
    assert_eq!(left, 0);
}

#[test]
fn the_demo_prints_its_job_file() {
    let sandbox = Sandbox::new();
    let job = sandbox.plimsoll(&["demo", "--print"]);
    sandbox.write("mine.fio", job.success());
    let plan = sandbox.plimsoll(&["check", "mine.fio"]);
    assert!(plan.success().starts_with("4 steps, 4 groups, 4 jobs, 4 workers\n"));
}

#[test]
fn a_result_that_cannot_be_written_is_a_failure_and_follows_all_the_same() {
    let sandbox = Sandbox::new();
    sandbox.write("job.fio", JOB);
    let outcome = sandbox.plimsoll(&["run", "--json", "--output", "/dev/full", "job.fio"]);
    assert_eq!(outcome.code, 1, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("cannot write to `/dev/full`"), "{}", outcome.stderr);
    assert_eq!(outcome.stderr.matches("error:").count(), 1, "{}", outcome.stderr);
    assert!(outcome.stdout.contains("plimsoll.record/1"));
}

/// Neither by its result nor by a record of its I/O, whether it is there or not.
#[test]
fn a_target_is_not_replaced_by_a_result() {
    let sandbox = Sandbox::new();
    sandbox.write("there", vec![7; 65_536]);
    std::os::unix::fs::symlink(sandbox.path("there"), sandbox.path("link")).expect("ours");
    for (target, output) in [("there", "./there"), ("there", "link"), ("new", "new")] {
        sandbox.write("job.fio", format!("[a]\nrw=read\nsize=64k\nfilename={target}\n"));
        for command in ["run", "fio"] {
            let outcome = sandbox.plimsoll(&[command, "--output", output, "job.fio"]);
            assert_ne!(outcome.code, 0, "{command} {output}");
            assert!(outcome.stderr.contains("is a target of a job"), "{}", outcome.stderr);
            let record = format!("[a]\nrw=read\nsize=64k\nfilename={target}\n");
            sandbox.write("record.fio", format!("{record}write_iolog={output}\n"));
            let outcome = sandbox.plimsoll(&[command, "record.fio"]);
            assert_ne!(outcome.code, 0, "{command} {output}");
            assert!(outcome.stderr.contains("record-on-target"), "{}", outcome.stderr);
        }
    }
    let there = std::fs::read(sandbox.path("there")).expect("it is there");
    assert_eq!(there, vec![7; 65_536]);
    assert!(!sandbox.path("new").exists());
}

#[test]
fn no_result_goes_to_a_block_device() {
    let sandbox = Sandbox::new();
    sandbox.write("image", vec![7; 1 << 20]);
    sandbox.write("data", vec![7; 65_536]);
    let losetup = |args: &[&std::ffi::OsStr]| {
        let output = std::process::Command::new("losetup").args(args).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let image = sandbox.path("image");
    let Some(device) = losetup(&["--find".as_ref(), "--show".as_ref(), image.as_ref()]) else {
        testing::skipped!("no loop devices here");
        return;
    };
    sandbox.write("job.fio", "[a]\nrw=read\nsize=64k\nfilename=data\n");
    sandbox.plimsoll_keeping(&["run", "--no-progress", "job.fio"]);
    let to_device = |args: &[&str]| sandbox.plimsoll_keeping(&[args, &[&device]].concat());
    let record = format!("--set=write_iolog={device}");
    let outcomes = [
        to_device(&["run", "job.fio", "--output"]),
        to_device(&["run", "--json", "job.fio", "--output"]),
        to_device(&["run", "job.fio", "--store"]),
        to_device(&["fio", "job.fio", "--output"]),
        to_device(&["report", "1", "-o"]),
        to_device(&["export", "1", "--format", "csv", "-o"]),
        to_device(&["translate", "job.fio", "--to", "vdbench", "--output"]),
        sandbox.plimsoll(&["run", "job.fio", &record]),
    ];
    let _ = losetup(&["--detach".as_ref(), device.as_ref()]);
    let what_is_there = std::fs::read(&image).expect("it is there");
    assert!(what_is_there.iter().all(|byte| *byte == 7), "something was written");
    for (idx, outcome) in outcomes.iter().enumerate() {
        assert_ne!(outcome.code, 0, "{idx}: {}", outcome.stderr);
    }
}

#[test]
fn a_job_file_is_not_replaced_by_its_result() {
    let sandbox = Sandbox::new();
    sandbox.write("job.fio", JOB);
    let link = sandbox.path("link");
    std::os::unix::fs::symlink(sandbox.path("job.fio"), &link).expect("ours");
    for output in ["job.fio", "./job.fio", "link"] {
        let outcome = sandbox.plimsoll(&["run", "--output", output, "job.fio"]);
        assert_eq!(outcome.code, 2, "{}", outcome.stderr);
        assert!(outcome.stderr.contains("is what this command reads"), "{}", outcome.stderr);
        let outcome = sandbox.fio(&[&format!("--output={output}"), "job.fio"]);
        assert_eq!(outcome.code, 1, "{}", outcome.stderr);
        assert_eq!(std::fs::read_to_string(sandbox.path("job.fio")).expect("ours"), JOB);
    }
}

#[test]
fn no_input_is_replaced_by_a_result() {
    let sandbox = Sandbox::new();
    let design = "[[volume]]\nmount = \"/data\"\ndisk = \"P30\"\ncache = \"None\"\n";
    sandbox.plimsoll(&["suite", "new", "mine", "--from", "quick"]).success();
    sandbox.write("own.toml", design);
    sandbox.write("up.fio", "[a]\nrw=read\nsize=64k\nfilename=/data/f\nruntime=1\n");
    sandbox.write("record", "fio version 2 iolog\n");
    sandbox.write("data", vec![7; 1 << 20]);
    let replay = "--set=read_iolog=record";
    for (name, args) in [
        ("own.toml", &["bench", "--on", "own.toml", "--virtual", "--report"][..]),
        ("own.toml", &["bench", "--on", "own.toml", "--virtual", "--json", "--output"]),
        ("mine.toml", &["bench", "data", "--suite", "mine.toml", "--report"]),
        ("own.toml", &["run", "up.fio", "--on", "own.toml", "--virtual", "--json", "--output"]),
        ("own.toml", &["curve", "--on", "own.toml", "--virtual", "--json", "--output"]),
        ("up.fio", &["translate", "up.fio", "--to", "toml", "-o"]),
        ("up.fio", &["run", "up.fio", "--on", "own.toml", "--virtual", "--output"]),
        ("record", &["run", "up.fio", replay, "--output"]),
        ("data", &["bench", "data", "--report"]),
    ] {
        let before = std::fs::read(sandbox.path(name)).expect("it is there");
        let outcome = sandbox.plimsoll(&[args, &[name]].concat());
        assert_eq!(outcome.code, 2, "{args:?}: {}", outcome.stderr);
        assert!(outcome.stderr.contains("is what this command reads"), "{}", outcome.stderr);
        let there = std::fs::read(sandbox.path(name)).expect("it is there");
        assert!(there == before, "{args:?}");
    }
}

#[test]
fn a_store_that_is_named_and_cannot_keep_the_run_is_a_failure() {
    let sandbox = Sandbox::new();
    sandbox.write("job.fio", JOB);
    sandbox.write("nostore", "text");
    let outcome = sandbox.plimsoll(&["run", "--store", "nostore/runs.db", "job.fio"]);
    // 3 where the host is too busy for the figures to count, which goes before.
    assert!(matches!(outcome.code, 1 | 3), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("the run is not stored"), "{}", outcome.stderr);
    assert!(outcome.stdout.contains("one: 1 worker"), "{}", outcome.stdout);
    let usual = sandbox
        .command(Path::new(env!("CARGO_BIN_EXE_plimsoll")))
        .env("PLIMSOLL_STORE", "nostore/runs.db")
        .args(["run", "job.fio"])
        .output()
        .expect("it runs");
    assert!(matches!(usual.status.code(), Some(0 | 3)), "{:?}", usual.status);
}
