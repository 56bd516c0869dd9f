//! Load lines and needs of several hosts together. A program in ssh's place starts the agents here.

mod common;
#[path = "common/export.rs"]
mod export;

use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use common::{Outcome, Sandbox};
use export::Export;
use record::{CurvePointRecord, LineVerdict, Record};
use rustix::process::{Pid, Signal, kill_process};

/// Takes ssh's arguments, and runs the command on this host; writes down who was called, and the
/// process that the agent will be. Of the host `gone` a file says from when on it does not answer.
const SSH: &str = r#"#!/bin/sh
while [ $# -gt 0 ]; do
    case "$1" in
        --) host=$2; shift 2; break;;
        -o|-p|-l) shift 2;;
        *) shift;;
    esac
done
echo "$host" >>"$FLEET_TMP.calls"
if [ "$host" = gone ] && [ -e "$FLEET_TMP.gone" ]; then
    echo "ssh: connect to host gone port 22: No route to host" >&2
    exit 255
fi
echo $$ >"$FLEET_TMP.$host.pid"
TMPDIR="$FLEET_TMP"
export TMPDIR
exec sh -c "exec $*"
"#;

/// A job that no host is the limit of.
const JOB: &str = "[a]\nioengine=null\nrw=randread\nbs=4k\nsize=1g\nrate_iops=100\n";

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("job.fio", JOB);
    sandbox.write("ssh", SSH);
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(sandbox.path("ssh"), mode).expect("it is ours");
    for folder in ["tmp", "shared"] {
        std::fs::create_dir(sandbox.path(folder)).expect("it is ours");
    }
    sandbox
}

fn command(sandbox: &Sandbox, args: &[&str]) -> Command {
    let ssh = sandbox.path("ssh").to_string_lossy().into_owned();
    let mut command = sandbox.command(Path::new(env!("CARGO_BIN_EXE_plimsoll")));
    command.env("FLEET_TMP", sandbox.path("tmp"));
    command.args(args).args(["--ssh", &ssh]);
    command
}

fn run(sandbox: &Sandbox, args: &[&str]) -> Outcome {
    common::outcome(command(sandbox, args).arg("--no-progress"))
}

/// Who was called, in order.
fn calls(sandbox: &Sandbox) -> Vec<String> {
    let text = std::fs::read_to_string(sandbox.path("tmp.calls")).expect("a call");
    let mut calls: Vec<String> = text.lines().map(str::to_owned).collect();
    calls.sort();
    calls
}

/// A few points up to a rate that the job carries.
const POINTS: [&str; 12] = [
    "curve",
    "job.fio",
    "--start",
    "100",
    "--rate-max",
    "400",
    "--time",
    "1s",
    "--ramp",
    "500ms",
    "--points",
    "2",
];

fn n_ios(record: &Record, step_idx: u32) -> u64 {
    let jobs = record.jobs.iter().filter(|job| job.step_idx == step_idx);
    jobs.map(record::JobRecord::n_ios).sum()
}

#[test]
fn the_points_of_a_line_are_measured_by_the_same_agents() {
    let sandbox = sandbox();
    let outcome = run(&sandbox, &[&POINTS[..], &["--hosts", "a,b", "--json"]].concat());
    // A host that others keep busy is no answer.
    assert!(matches!(outcome.code, 0 | 3), "{}", outcome.stderr);
    let record = Record::from_json(&outcome.stdout).expect("a record");
    let curve = record.curve.as_ref().expect("a curve");
    assert!(curve.points.len() >= 3, "{:?}", curve.points);
    assert_eq!(calls(&sandbox), ["a", "b"], "each was called once");
    if outcome.code == 0 {
        assert_eq!(curve.line.verdict(), LineVerdict::Above(400.0), "{:?}", curve.line);
    }
    for point in &curve.points {
        // The rate is divided: each host has half of it.
        let of_host = |host: &record::HostShareRecord| n_ios(&host.record, point.step_idx);
        let shares: Vec<u64> = record.hosts.iter().map(of_host).collect();
        assert_eq!(shares.iter().sum::<u64>(), n_ios(&record, point.step_idx));
        let [a, b] = shares[..] else { panic!("two hosts: {shares:?}") };
        assert!(a > 0 && a.abs_diff(b) <= a / 10, "{shares:?}");
    }
}

/// Runs a command, and sends the agent of the host `b` a signal once a second of both is shown.
fn run_harmed(sandbox: &Sandbox, args: &[&str], harm: &dyn Fn(Pid)) -> (Outcome, Record) {
    let shown = ["--progress", "--status-interval", "100ms"];
    let mut child = command(sandbox, &[args, &shown].concat())
        .args(["--json", "--output", "result.json"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary was built");
    let mut said =
        BufReader::new(child.stderr.take().expect("a pipe")).lines().map_while(Result::ok);
    assert!(said.any(|line| line.contains("IOPS")), "a second of the hosts is shown");
    let hosts = args[args.iter().position(|it| *it == "--hosts").expect("hosts") + 1];
    let last = hosts.split(',').next_back().expect("a host");
    let pid = std::fs::read_to_string(sandbox.path(&format!("tmp.{last}.pid")));
    let pid = pid.expect("it was called").trim().parse().expect("a number");
    harm(Pid::from_raw(pid).expect("not 0"));
    let stderr = said.collect::<Vec<_>>().join("\n");
    let code = child.wait().expect("it is ours").code().expect("no signal");
    let json = std::fs::read_to_string(sandbox.path("result.json")).expect("the result");
    let record = Record::from_json(&json).expect("a record");
    (Outcome { code, stdout: String::new(), stderr }, record)
}

/// The points that count for nothing because of a host, and why.
fn void_by<'a>(record: &'a Record, host: &str) -> Vec<&'a str> {
    let points = record.curve.iter().flat_map(|curve| &curve.points);
    let reasons = points.filter_map(|point: &CurvePointRecord| point.void.as_deref());
    reasons.filter(|reason| reason.contains(&format!("`{host}`"))).collect()
}

#[test]
fn a_host_that_is_killed_is_called_again_and_its_point_repeated() {
    let sandbox = sandbox();
    let args = [&POINTS[..], &["--hosts", "a,b"]].concat();
    let kill = |pid| kill_process(pid, Signal::KILL).expect("it is ours");
    let (outcome, record) = run_harmed(&sandbox, &args, &kill);
    assert!(matches!(outcome.code, 0 | 3), "{}", outcome.stderr);
    assert_eq!(calls(&sandbox), ["a", "b", "b"], "{}", outcome.stderr);
    let void = void_by(&record, "b");
    assert!(void.iter().any(|why| why.starts_with("`b` was lost: ")), "{void:?}");
    assert_eq!(record.outcome, record::Outcome::Complete, "the other points have both");
    if outcome.code == 0 {
        let line = &record.curve.as_ref().expect("a curve").line;
        assert_eq!(line.verdict(), LineVerdict::Above(400.0), "{line:?}");
    }
    assert_eq!(testing::names_in(&sandbox.path("tmp")), Vec::<String>::new());
}

#[test]
fn a_host_that_stands_still_gives_the_same_line_or_none() {
    let sandbox = sandbox();
    let args = [&POINTS[..], &["--hosts", "a,b"]].concat();
    let stop = |pid| kill_process(pid, Signal::STOP).expect("it is ours");
    let (outcome, record) = run_harmed(&sandbox, &args, &stop);
    assert!(matches!(outcome.code, 0 | 3), "{}", outcome.stderr);
    let void = void_by(&record, "b");
    let said = "`b` was lost: nothing came from it for 10 s";
    assert!(void.contains(&said), "{void:?}: {}", outcome.stderr);
    if outcome.code == 0 {
        let line = &record.curve.as_ref().expect("a curve").line;
        assert_eq!(line.verdict(), LineVerdict::Above(400.0), "{line:?}");
    }
    assert_eq!(calls(&sandbox), ["a", "b", "b"], "another agent of it came");
}

#[test]
fn a_host_that_does_not_come_back_ends_the_search_with_what_there_is() {
    let sandbox = sandbox();
    let args = [&POINTS[..], &["--hosts", "a,gone"]].concat();
    let kill = |pid| {
        sandbox.write("tmp.gone", "");
        kill_process(pid, Signal::KILL).expect("it is ours");
    };
    let (outcome, record) = run_harmed(&sandbox, &args, &kill);
    assert_eq!(outcome.code, 3, "{}", outcome.stderr);
    let line = &record.curve.as_ref().expect("a curve").line;
    let said = "`gone`: ssh: connect to host gone port 22: No route to host";
    assert!(matches!(line.verdict(), LineVerdict::CannotTell(_)), "{line:?}");
    assert_eq!(line.why_not(), said);
    assert!(record.notes.iter().any(|note| note.message.contains(said)), "{:?}", record.notes);
}

#[test]
fn a_loss_can_be_the_end_and_fewer_hosts_are_none() {
    let sandbox = sandbox();
    let args = [&POINTS[..], &["--on-loss", "abort", "--hosts", "a,b"]].concat();
    let kill = |pid| kill_process(pid, Signal::KILL).expect("it is ours");
    let (outcome, record) = run_harmed(&sandbox, &args, &kill);
    assert_eq!(outcome.code, 3, "{}", outcome.stderr);
    assert_eq!(calls(&sandbox), ["a", "b"]);
    let line = &record.curve.as_ref().expect("a curve").line;
    assert!(line.why_not().starts_with("`b` was lost after "), "{line:?}");
    let outcome = run(&sandbox, &[&POINTS[..], &["--on-loss", "1", "--hosts", "a,b"]].concat());
    assert_eq!(outcome.code, 2, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("goes on with fewer hosts"), "{}", outcome.stderr);
}

/// 400 I/Os a second, whoever asks.
const VOLUME: &str = "\
[vm]
size = \"DS13\"
uncached = { iops = 400, throughput = \"200MB/s\" }
[[volume]]
mount = \"/mnt/v\"
disk = \"P30\"
cache = \"None\"
";

#[test]
fn two_hosts_find_what_the_volume_that_they_share_carries() {
    let sandbox = sandbox();
    let export = Export::start(&sandbox, VOLUME);
    let url = export.url("/mnt/v");
    let job = format!(
        "[a]\nioengine=nfs\n{}\nfilename=data\nrw=randread\nbs=8k\nsize=16m\nrate_iops=100\n",
        url.trim_start_matches('-')
    );
    sandbox.write("job.fio", job);
    let what = ["curve", "job.fio", "--hosts", "a,b", "--limit", "p90 < 50ms", "--json"];
    let sweep = ["--start", "200", "--arrivals", "fixed", "--time", "2s", "--ramp", "500ms"];
    let few = ["--points", "0", "--repeat", "2", "--tolerance", "5"];
    let outcome = run(&sandbox, &[&what[..], &sweep, &few].concat());
    let record = Record::from_json(&outcome.stdout).expect("a record");
    let line = &record.curve.as_ref().expect("a curve").line;
    assert_eq!(calls(&sandbox), ["a", "b"]);
    if outcome.code == 3 {
        // Others were busy, and it says so: of the line, or of a point.
        let has_reason = matches!(line.verdict(), LineVerdict::CannotTell(_));
        assert!(!has_reason || !line.why_not().is_empty(), "{line:?}");
        let is_spoiled = record.validity.iter().any(|step| !step.is_valid);
        assert!(has_reason || is_spoiled, "{line:?}");
        return;
    }
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    let interval = line.interval.as_ref().expect("an interval");
    // A short point takes what the cap had saved, a tenth of a second of it, and ends with as much
    // in its queue.
    assert!(interval.low <= 440.0 && interval.high >= 390.0, "{line:?}");
    assert!(line.load.is_some_and(|load| (360.0..=440.0).contains(&load)), "{line:?}");
}

#[test]
fn a_need_is_one_of_all_hosts() {
    let sandbox = sandbox();
    let what = ["bench", "shared", "--set", "size=4m,time=1s,ramp=500ms", "--report", "none"];
    let need = ["--need", "iops=100,p50<5s", "--hosts", "a,b", "--json"];
    let outcome = run(&sandbox, &[&what[..], &need].concat());
    assert!(matches!(outcome.code, 0 | 3), "{}", outcome.stderr);
    let record = Record::from_json(&outcome.stdout).expect("a record");
    let suite = record.suite.as_ref().expect("a suite");
    let [need] = &suite.needs[..] else { panic!("one need: {:?}", suite.needs) };
    let expected = if outcome.code == 0 { "met" } else { "cannot tell" };
    assert_eq!(need.verdict.words(), expected, "{need:?}");
    let labels: Vec<&str> = suite.rows.iter().map(|row| &*row.label).collect();
    assert_eq!(labels[0], "fill");
    let written: Vec<u64> =
        record.hosts.iter().map(|host| host.record.jobs[0].dirs.write.io_bytes).collect();
    assert_eq!(written.iter().sum::<u64>(), 4 << 20, "{written:?}");
    let last = record.steps.len() as u32 - 1;
    let shares: Vec<u64> = record.hosts.iter().map(|host| n_ios(&host.record, last)).collect();
    assert!(shares.iter().all(|n| (20..=80).contains(n)), "each has half of it: {shares:?}");
    assert_eq!(calls(&sandbox), ["a", "b"]);
    assert_eq!(testing::names_in(&sandbox.path("shared")), Vec::<String>::new());
    let args = ["--need", "iops=100", "--scale-out", "1,2", "--hosts", "a,b"];
    let outcome = run(&sandbox, &[&what[..], &args].concat());
    assert_eq!(outcome.code, 2, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("cannot be used with"), "{}", outcome.stderr);
}
