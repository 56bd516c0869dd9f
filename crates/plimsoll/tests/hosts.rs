//! One load from several hosts. A program in ssh's place starts the agents here; where there is a
//! real sshd, it does so over ssh.

mod common;
#[path = "common/sshd.rs"]
mod sshd;
#[path = "common/watch.rs"]
mod watch;

use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use common::{Outcome, Sandbox};
use record::Record;
use rustix::fs::inotify::WatchFlags;
use rustix::process::{Pid, Signal, kill_process};
use sshd::Sshd;
use watch::Watch;

/// Takes ssh's arguments, and runs the command on this host with a temporary folder of its own.
/// The host `closed` does not answer, `slow` is called and says nothing, on `mute` no agent comes
/// of the program that is there; of `doomed` the process above the agent is written down.
const SSH: &str = r#"#!/bin/sh
while [ $# -gt 0 ]; do
    case "$1" in
        --) host=$2; shift 2; break;;
        -o|-p|-l) shift 2;;
        *) shift;;
    esac
done
if [ "$host" = mute ]; then
    echo plimsoll-have
    echo "sh: 1: plimsoll: Exec format error" >&2
    exit 126
fi
if [ "$host" = slow ]; then
    touch "$FLEET_TMP.called"
    exec cat
fi
if [ "$host" = closed ]; then
    echo "ssh: connect to host closed port 22: Connection refused" >&2
    exit 255
fi
TMPDIR="$FLEET_TMP"
export TMPDIR
if [ "$host" = doomed ]; then
    exec 3<&0
    sh -c "$*" <&3 3<&- &
    echo $! >"$FLEET_TMP.pid"
    exec 3<&- <&- >&-
    wait
    exit 255
fi
exec sh -c "$*"
"#;

/// A job of 100 operations a second and worker.
const JOB: &str = "[a]\nioengine=null\nrw=randread\nbs=4k\nsize=1g\ntime_based\nruntime=2\n\
                   rate_iops=100\nnumjobs=2\ngroup_reporting\n";

fn sandbox(job: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("job.fio", job);
    sandbox.write("ssh", SSH);
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(sandbox.path("ssh"), mode).expect("it is ours");
    std::fs::create_dir(sandbox.path("tmp")).expect("it is ours");
    sandbox
}

fn command(sandbox: &Sandbox, args: &[&str]) -> Command {
    command_of(sandbox, &["run", "job.fio"], args)
}

fn command_of(sandbox: &Sandbox, what: &[&str], args: &[&str]) -> Command {
    let ssh = sandbox.path("ssh").to_string_lossy().into_owned();
    let mut command = sandbox.command(Path::new(env!("CARGO_BIN_EXE_plimsoll")));
    command.env("FLEET_TMP", sandbox.path("tmp"));
    command.args(what).args(["--ssh", &ssh]).args(args);
    command
}

fn run(sandbox: &Sandbox, args: &[&str]) -> Outcome {
    common::outcome(command(sandbox, args).arg("--no-progress"))
}

/// Nothing of an agent is left on its host.
#[track_caller]
fn is_clean(sandbox: &Sandbox) {
    assert_eq!(testing::names_in(&sandbox.path("tmp")), Vec::<String>::new());
}

#[test]
fn three_hosts_do_what_three_hosts_do() {
    let sandbox = sandbox(JOB);
    let outcome = run(&sandbox, &["--hosts", "a,b[1-2]", "--json"]);
    let record = Record::from_json(outcome.success()).expect("a record");
    let names: Vec<&str> = record.hosts.iter().map(|host| &*host.name).collect();
    assert_eq!(names, ["a", "b1", "b2"]);
    // Two workers with a rate of 100 for two seconds, on each; counted by each.
    let of_host: Vec<u64> = record.hosts.iter().map(|host| host.record.jobs[0].n_ios()).collect();
    assert!(of_host.iter().all(|n| (380..=400).contains(n)), "{of_host:?}");
    let [all] = &record.jobs[..] else { panic!("one job: {:?}", record.jobs) };
    assert_eq!(all.n_ios(), of_host.iter().sum::<u64>());
    assert_eq!(all.dirs.read.lat.count(), all.n_ios(), "histograms are whole");
    assert_eq!(all.n_workers, 6);
    let of_intervals: u64 = record.intervals.iter().map(|it| it.dirs.read.n_ios).sum();
    assert_eq!(of_intervals, all.n_ios());
    assert!(record.intervals.iter().all(|it| it.n_hosts == Some(3)), "all the time");
    assert!(record.hosts.iter().all(|host| host.starts.len() == 1), "each began once");
    is_clean(&sandbox);
}

#[test]
fn lines_of_json_say_what_each_host_did() {
    // What a host's processors did is known from its second whole second on.
    let sandbox = sandbox(&JOB.replace("runtime=2", "runtime=5"));
    let args = ["--hosts", "a,b[1-2]", "--json", "--json-stream=lines.json"];
    let record = Record::from_json(run(&sandbox, &args).success()).expect("a record");
    let text = std::fs::read_to_string(sandbox.path("lines.json")).expect("lines");
    let lines: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("an object")).collect();
    assert_eq!(lines[0]["hosts"], serde_json::json!(["a", "b1", "b2"]));
    for share in &record.hosts {
        let hosts = lines.iter().filter_map(|line| line["hosts"].as_array()).flatten();
        let own = hosts.filter(|host| host["host"] == share.name);
        let jobs = own.filter_map(|host| host["jobs"].as_array()).flatten();
        let jobs: Vec<_> = jobs.collect();
        let ops = jobs.iter().filter_map(|job| job["ops"].as_array()).flatten();
        let n_ios: u64 = ops.filter_map(|op| op["n_ios"].as_u64()).sum();
        assert_eq!(n_ios, share.record.jobs[0].n_ios(), "{}", share.name);
        assert!(jobs.iter().any(|job| job["n_in_flight"].is_u64()), "{}", share.name);
        let hosts = lines.iter().filter_map(|line| line["hosts"].as_array()).flatten();
        let mut busy = hosts.filter(|host| host["host"] == share.name);
        assert!(busy.any(|host| host["cpu"]["busy_share"].is_f64()), "{}", share.name);
        let seconds = share.record.intervals.iter().map(|it| it.host.as_ref());
        let now = seconds.collect::<Option<Vec<_>>>().expect("of every second");
        assert!(now.iter().all(|it| it.n_in_flight.contains_key("a")), "{now:?}");
        assert!(now.iter().all(|it| it.load.is_some_and(|load| load.busy_share <= 1.0)), "{now:?}");
    }
    assert!(record.intervals.iter().all(|it| it.host.is_none()), "of each, not of all");
    assert_eq!(lines.last().expect("a line")["kind"], "end");
}

#[test]
fn files_are_each_hosts_own() {
    let sandbox = sandbox("[a]\nrw=write\nbs=4k\nsize=64k\nfilename=data\n");
    // Both are this host: the one file is written twice, and every block by each.
    let outcome = run(&sandbox, &["--hosts", "a,b", "--json"]);
    let record = Record::from_json(outcome.success()).expect("a record");
    assert_eq!(record.jobs[0].dirs.write.io_bytes, 2 * (64 << 10));
    assert_eq!(std::fs::metadata(sandbox.path("data")).expect("written").len(), 64 << 10);
}

/// The blocks of a file that are not empty.
fn written(sandbox: &Sandbox) -> Vec<usize> {
    let bytes = std::fs::read(sandbox.path("data")).expect("it is there");
    let blocks = bytes.chunks(4096).enumerate();
    blocks.filter(|(_, block)| block.iter().any(|it| *it != 0)).map(|(idx, _)| idx).collect()
}

#[test]
fn a_divided_load_touches_what_one_host_touches() {
    let job = "[a]\nrw=randwrite\nbs=4k\nsize=1m\nfilename=data\nnumber_ios=100\nrandrepeat=1\n";
    let touched = |args: &[&str]| {
        let sandbox = sandbox(job);
        sandbox.write("data", vec![0; 1 << 20]);
        let outcome = run(&sandbox, &[args, &["--json"]].concat());
        (Record::from_json(outcome.success()).expect("a record"), written(&sandbox))
    };
    let (alone, of_one) = touched(&["--hosts", "a"]);
    assert_eq!((alone.jobs[0].n_ios(), of_one.len()), (100, 100));
    let (record, of_three) = touched(&["--hosts", "a,b,c", "--split"]);
    assert_eq!(of_three, of_one);
    let of_host: Vec<u64> = record.hosts.iter().map(|host| host.record.jobs[0].n_ios()).collect();
    assert_eq!(of_host, [34, 33, 33]);
    // Without it each host does the whole, with random numbers of its own.
    let (record, of_each) = touched(&["--hosts", "a,b,c"]);
    assert_eq!(record.jobs[0].n_ios(), 300);
    assert!(of_each.len() > 150, "{} blocks", of_each.len());
}

#[test]
fn a_divided_load_reads_every_block_of_a_new_file_once() {
    let sandbox = sandbox("[a]\nrw=randread\nbs=4k\nsize=1m\nfilename=data\n");
    let outcome = run(&sandbox, &["--hosts", "a,b,c", "--split", "--json"]);
    let record = Record::from_json(outcome.success()).expect("a record");
    assert_eq!(record.jobs[0].n_ios(), 256, "every block is read once");
    assert_eq!(written(&sandbox).len(), 256, "and was laid out");
}

#[test]
fn files_of_a_divided_load_are_laid_out_by_one_host() {
    // What takes a while to write, so that hosts would meet; the second step has a file of its own.
    let job = "[global]\nrw=randread\nbs=1m\nsize=64m\nnumber_ios=3\n[a]\nfilename=data\n\
               [b]\nstonewall\nfilename=more\n";
    let sandbox = sandbox(job);
    let shown = ["--progress", "--status-interval", "100ms"];
    let args = [&["--hosts", "a,b,c", "--split", "--json"], &shown[..]].concat();
    let outcome = common::outcome(&mut command(&sandbox, &args));
    let record = Record::from_json(outcome.success()).expect("a record");
    assert_eq!(record.jobs.len(), 2);
    let lines = outcome.stderr.lines().filter(|line| line.starts_with("laying out"));
    let laid_out: Vec<&str> = lines.collect();
    assert!(!laid_out.is_empty(), "{}", outcome.stderr);
    assert!(laid_out.iter().all(|line| line.ends_with("  on 1 host")), "{}", outcome.stderr);
}

#[test]
fn a_curve_of_several_hosts_is_of_all_and_leaves_nothing() {
    let sandbox = sandbox(JOB);
    let args = ["--hosts", "a,b", "--closed", "--depth-max", "2", "--time", "300ms", "--json"];
    let few = ["--points", "0", "--probes-max", "2", "--ramp", "0s", "--no-progress"];
    let folder = sandbox.path("shared");
    std::fs::create_dir(&folder).expect("it is ours");
    let what = ["curve", "shared", "--size", "1m"];
    let outcome = common::outcome(command_of(&sandbox, &what, &args).args(few));
    // Whether a line is found is the disk's affair.
    assert!(matches!(outcome.code, 0 | 3), "{}", outcome.stderr);
    let record = Record::from_json(&outcome.stdout).expect("a record");
    let n_points = record.curve.as_ref().map_or(0, |curve| curve.points.len());
    assert!(n_points > 0, "{}", outcome.stderr);
    let names: Vec<&str> = record.hosts.iter().map(|host| &*host.name).collect();
    assert_eq!(names, ["a", "b"]);
    let n_ios = |record: &Record| record.jobs.iter().map(record::JobRecord::n_ios).sum::<u64>();
    let of_hosts: u64 = record.hosts.iter().map(|host| n_ios(&host.record)).sum();
    assert_eq!(of_hosts, n_ios(&record), "each step of each host is there once");
    let of_host = |it: &record::HostShareRecord| it.record.steps.len();
    assert!(record.hosts.iter().all(|host| of_host(host) == record.steps.len()));
    assert_eq!(testing::names_in(&folder), Vec::<String>::new());
    is_clean(&sandbox);
}

/// A suite of one short step of reads.
const SUITE: &str = "\
schema = \"plimsoll.suite/1\"
name = \"mine\"
title = \"mine\"
[prepare]
size = \"4m\"
[[part]]
name = \"reads\"
rw = \"randread\"
time = \"500ms\"
ramp = \"0s\"
";

#[test]
fn a_suite_is_measured_by_the_first_hosts_of_a_list() {
    let sandbox = sandbox(JOB);
    sandbox.write("mine.toml", SUITE);
    let folder = sandbox.path("shared");
    std::fs::create_dir(&folder).expect("it is ours");
    let what = ["bench", "shared", "--suite", "mine.toml"];
    let bench = |args: &[&str]| {
        let hosts = ["--hosts", "a,b,c", "--report", "none", "--no-progress"];
        common::outcome(&mut command_of(&sandbox, &what, &[&hosts[..], args].concat()))
    };
    let outcome = bench(&["--scale-out", "3,1", "--json", "--output", "result.json"]);
    // So short a step is not always steady.
    assert!(matches!(outcome.code, 0 | 3), "{}", outcome.stderr);
    let json = std::fs::read_to_string(sandbox.path("result.json")).expect("the result");
    let record = Record::from_json(&json).expect("a record");
    let suite = record.suite.as_ref().expect("a suite");
    let [reads] = &suite.scale_out[..] else { panic!("one step: {:?}", suite.scale_out) };
    let n_hosts: Vec<u32> = reads.points.iter().map(|point| point.n_hosts).collect();
    assert_eq!((&*reads.label, n_hosts), ("reads", vec![1, 3]));
    let labels: Vec<&str> = suite.rows.iter().map(|row| &*row.label).collect();
    assert_eq!(labels, ["fill", "reads, 1 host", "reads, 3 hosts"]);
    // The fill and the first step are the first host's alone.
    let steps_of = |host: &record::HostShareRecord| -> Vec<u32> {
        host.record.jobs.iter().map(|job| job.step_idx).collect()
    };
    let steps: Vec<Vec<u32>> = record.hosts.iter().map(steps_of).collect();
    assert_eq!(steps, [vec![0, 1, 2], vec![2], vec![2]]);
    for point in &reads.points {
        let [min, median, max] = [point.host_iops_min, point.host_iops_median, point.host_iops_max];
        assert!(0.0 < min && min <= median && median <= max, "{point:?}");
        assert!(0 < point.first_done_ns && point.first_done_ns <= point.last_done_ns);
        assert_ne!(point.why, "");
    }
    assert!(outcome.stdout.contains("speed-up"), "{}", outcome.stdout);
    let longest = outcome.stdout.lines().map(|line| line.chars().count()).max();
    assert!(longest <= Some(80), "{}", outcome.stdout);
    assert_eq!(testing::names_in(&folder), Vec::<String>::new());
    is_clean(&sandbox);
    for (args, said) in [
        (&["--scale-out", "2,4"][..], "`--scale-out 4` wants more hosts than the 3 named"),
        (&["--need", "iops=5,p99<2s"], ""),
        (&["more"], "with `--hosts` one target is measured"),
        (&["--on", "p30.toml", "--virtual"], ""),
    ] {
        let outcome = bench(args);
        assert_eq!(outcome.code, 2, "{args:?}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(said), "{args:?}: {}", outcome.stderr);
    }
}

#[test]
fn what_cannot_be_divided_is_refused() {
    let sandbox = sandbox(&JOB.replace("rate_iops=100", "rate_iops=2"));
    let outcome = run(&sandbox, &["--hosts", "a,b,c", "--split"]);
    assert_eq!(outcome.code, 2, "{}", outcome.stderr);
    let said = "job `a` has a rate of 2, too low for 3 hosts";
    assert!(outcome.stderr.contains(said), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("leave out --split"), "{}", outcome.stderr);
}

#[test]
fn a_host_that_does_not_answer_ends_it_in_sshs_words() {
    let sandbox = sandbox(JOB);
    let outcome = run(&sandbox, &["--hosts", "a,closed"]);
    assert_eq!(outcome.code, 1);
    assert_eq!(outcome.stdout, "");
    let said = "error: `closed`: ssh: connect to host closed port 22: Connection refused";
    assert!(outcome.stderr.contains(said), "{}", outcome.stderr);
    is_clean(&sandbox);
}

#[test]
fn an_agent_that_does_not_come_up_is_told_of_at_once() {
    let sandbox = sandbox(JOB);
    let outcome = run(&sandbox, &["--hosts", "a,mute"]);
    assert_eq!(outcome.code, 1);
    let said = "error: `mute`: sh: 1: plimsoll: Exec format error";
    assert!(outcome.stderr.contains(said), "{}", outcome.stderr);
    is_clean(&sandbox);
}

#[test]
fn an_interrupt_before_all_have_come_is_one() {
    let sandbox = sandbox(JOB);
    let watch = Watch::new(&sandbox.path(""), WatchFlags::CREATE);
    let child = command(&sandbox, &["--hosts", "slow"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary was built");
    let called = sandbox.path("tmp.called");
    assert!(watch.wait_until(std::time::Duration::from_mins(2), || called.exists()));
    let pid = Pid::from_raw(child.id().cast_signed()).expect("not 0");
    kill_process(pid, Signal::INT).expect("it is ours");
    let output = child.wait_with_output().expect("it is ours");
    let stderr = String::from_utf8(output.stderr).expect("text");
    assert_eq!(output.status.code(), Some(130), "{stderr}");
    assert!(stderr.contains("stopped before all hosts had come"), "{stderr}");
}

#[test]
fn more_hosts_than_open_files_are_refused_with_what_to_do() {
    let sandbox = sandbox(JOB);
    let mut limited = Command::new("sh");
    let ssh = sandbox.path("ssh").to_string_lossy().into_owned();
    limited.args(["-c", "ulimit -n 64; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_plimsoll")]);
    limited.args(["run", "job.fio", "--no-progress", "--ssh", &ssh, "--hosts", "a[1-40]"]);
    limited.current_dir(sandbox.path("")).env("PLIMSOLL_STORE", "");
    let outcome = common::outcome(&mut limited);
    assert_eq!(outcome.code, 1, "{}", outcome.stderr);
    let said = "40 hosts need 260 open files, and this process may have 64";
    assert!(outcome.stderr.contains(said), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("ulimit -Hn 260"), "{}", outcome.stderr);
}

#[test]
fn what_to_do_about_a_loss_is_for_hosts() {
    let sandbox = sandbox(JOB);
    let outcome = sandbox.plimsoll(&["run", "job.fio", "--on-loss", "abort"]);
    assert_eq!(outcome.code, 2, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("--hosts"), "{}", outcome.stderr);
    let outcome = run(&sandbox, &["--hosts", "a,b", "--on-loss", "3"]);
    assert_eq!(outcome.code, 2, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("more hosts than the 2 named"), "{}", outcome.stderr);
}

#[test]
fn what_a_host_cannot_run_is_said_with_its_name() {
    let sandbox = sandbox("[a]\nrw=write\nbs=4k\nsize=64k\nfilename=data\n");
    let outcome = run(&sandbox, &["--hosts", "a,b", "--readonly"]);
    assert_eq!(outcome.code, 1, "{}", outcome.stderr);
    // Of both, or of the one that said it first: it ends the other.
    let is_said = |host: &str| outcome.stderr.contains(&format!("error: `{host}`: job `a` writes"));
    assert!(is_said("a") || is_said("b"), "{}", outcome.stderr);
    assert!(!sandbox.path("data").exists(), "nothing was changed");
    is_clean(&sandbox);
}

#[test]
fn what_judges_one_host_is_refused() {
    let sandbox = sandbox(JOB);
    let outcome = run(&sandbox, &["--hosts", "a", "--until-steady=1m"]);
    assert_eq!(outcome.code, 2, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("`--until-steady` judges one host"), "{}", outcome.stderr);
}

#[test]
fn a_host_that_is_lost_leaves_what_it_had_sent() {
    let sandbox = sandbox(&JOB.replace("runtime=2", "runtime=8"));
    let shown = ["--progress", "--status-interval", "100ms"];
    let args = [&["--hosts", "a,doomed", "--json", "--output", "result.json"], &shown[..]].concat();
    let mut child = command(&sandbox, &args)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary was built");
    let mut said =
        BufReader::new(child.stderr.take().expect("a pipe")).lines().map_while(Result::ok);
    let is_measured = said.any(|line| line.contains("IOPS"));
    assert!(is_measured, "a second of both hosts is shown");
    kill_agent(&sandbox.path("tmp.pid"));
    let rest: Vec<String> = said.collect();
    let status = child.wait().expect("it is ours");
    assert_eq!(status.code(), Some(3), "partial: {rest:?}");
    let json = std::fs::read_to_string(sandbox.path("result.json")).expect("the result");
    let record = Record::from_json(&json).expect("a record");
    assert_eq!(record.outcome, record::Outcome::Partial);
    let [whole, lost] = &record.hosts[..] else { panic!("two hosts") };
    assert_eq!(whole.lost, None);
    let loss = lost.lost.as_ref().expect("it was killed");
    let (n_whole, n_lost) = (whole.record.jobs[0].n_ios(), lost.record.jobs[0].n_ios());
    assert!((1500..=1600).contains(&n_whole), "{n_whole} of 1600");
    assert!(n_lost > 0 && n_lost < n_whole, "{n_lost} until {} ms", loss.since_ms);
    assert_eq!(record.jobs[0].n_ios(), n_whole + n_lost);
    let n_hosts: Vec<u32> = record.intervals.iter().filter_map(|it| it.n_hosts).collect();
    assert!(n_hosts.contains(&2) && n_hosts.contains(&1), "{n_hosts:?}");
    is_clean(&sandbox);
}

/// Kills the agent below the process that a file names: the last of a row of children.
fn kill_agent(file: &Path) {
    let shell = std::fs::read_to_string(file).expect("the agent was started");
    let mut pid = shell.trim().to_owned();
    loop {
        let below = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
        match below.expect("it lives").split_whitespace().next() {
            Some(child) => child.clone_into(&mut pid),
            None => break,
        }
    }
    let pid = Pid::from_raw(pid.parse().expect("a number")).expect("not 0");
    kill_process(pid, Signal::KILL).expect("it is ours");
}

#[test]
fn mistakes_of_the_list_have_their_place() {
    let sandbox = sandbox(JOB);
    sandbox.write("hosts.txt", "vm1\nvm[2-3],vm2\n");
    for (list, place) in [
        ("vm1,vm[5-3]", "--hosts:1:5: `vm[5-3]`: 5 is more than 3"),
        ("vm[5-3],[a:$(cmd)]", "--hosts:1:9: `[a:$(cmd)]`: `a:$(cmd)` is no IPv6 address"),
        ("@hosts.txt", "hosts.txt:2:9: `vm2` is named twice"),
        ("@missing.txt", "cannot read the hosts of `missing.txt`"),
    ] {
        let outcome = run(&sandbox, &["--hosts", list]);
        assert_eq!(outcome.code, 2, "{}", outcome.stderr);
        assert!(outcome.stderr.contains(place), "{}", outcome.stderr);
    }
}

#[test]
fn a_real_sshd_starts_the_agents() {
    let sandbox = sandbox(JOB);
    let Some(sshd) = Sshd::start(&sandbox) else { return };
    let (ssh, host) = (sshd::client(&sandbox), sshd.host());
    let args = ["run", "job.fio", "--no-progress", "--json", "--hosts", &host, "--ssh", &ssh];
    let outcome = sandbox.plimsoll(&args);
    let record = Record::from_json(outcome.success()).expect("a record");
    let [only] = &record.hosts[..] else { panic!("one host") };
    assert_eq!(only.name, host);
    assert!((380..=400).contains(&record.jobs[0].n_ios()), "{}", record.jobs[0].n_ios());
    // Another key is refused, in ssh's words.
    std::fs::remove_file(sandbox.path("key")).expect("it is ours");
    std::fs::remove_file(sandbox.path("key.pub")).expect("it is ours");
    let refused = sandbox.plimsoll(&args);
    assert_eq!(refused.code, 1, "{}", refused.stderr);
    assert!(refused.stderr.contains("Permission denied"), "{}", refused.stderr);
}
