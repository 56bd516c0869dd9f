//! Data that several hosts write, validated by each with a journal of its own: a program in ssh's
//! place runs the agents here, each host in a folder of its own.

mod common;
#[allow(dead_code, reason = "a part is used here")]
#[path = "common/journal_reader.rs"]
mod journal_reader;

use std::fs;
use std::os::unix::fs::{FileExt as _, PermissionsExt as _};
use std::path::Path;
use std::process::Stdio;

use common::{Outcome, Sandbox};
use journal_reader::{Journal, said};
use rustix::process::{Pid, Signal, kill_process};

/// Takes ssh's arguments, and runs the command in the host's folder. The agent's process is written
/// down.
const SSH: &str = r#"#!/bin/sh
while [ "$1" != -- ]; do shift; done
host=$2
shift 2
cd "$ROOT/$host" || exit 255
exec 3<&0
sh -c "$*" <&3 3<&- &
echo $! >pid
exec 3<&- <&- >&-
wait
"#;

/// Writes 256 blocks in disorder, again and again.
const JOB: &str = "[w]\nioengine=psync\nfilename=f\nrw=randrw\nbs=4k\nsize=1m\ntime_based\n\
                   runtime=RUNTIME\nrate_iops=500\n";

fn sandbox(runtime: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("job.fio", JOB.replace("RUNTIME", runtime));
    sandbox.write("ssh", SSH);
    let mode = fs::Permissions::from_mode(0o755);
    fs::set_permissions(sandbox.path("ssh"), mode).unwrap();
    for host in ["one", "two"] {
        fs::create_dir(sandbox.path(host)).unwrap();
    }
    sandbox
}

fn command(sandbox: &Sandbox, args: &[&str]) -> std::process::Command {
    let mut command = sandbox.command(Path::new(env!("CARGO_BIN_EXE_plimsoll")));
    command.env("ROOT", sandbox.path(""));
    let ssh = sandbox.path("ssh").to_string_lossy().into_owned();
    command.args(args).args(["--ssh", &ssh]);
    command
}

const RUN: [&str; 8] =
    ["run", "job.fio", "--no-progress", "--hosts", "one,two", "--validate", "--journal", "j-$host"];

fn run(sandbox: &Sandbox, more: &[&str]) -> Outcome {
    common::outcome(&mut command(sandbox, &[&RUN[..], more].concat()))
}

/// Verifies what a host wrote, and checks that it is what our own reader finds. Returns how many
/// blocks are known.
#[track_caller]
fn verified(sandbox: &Sandbox, host: &str, file: &str, journal: &str, code: i32) -> usize {
    let folder = sandbox.path(host);
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_plimsoll"));
    command.current_dir(&folder).args(["verify", journal, "--json"]);
    let outcome = common::outcome(&mut command);
    let own = Journal::read(&folder.join(journal));
    let words = own.judge(&folder.join(file));
    assert_eq!((said(&outcome.stdout), outcome.code), (words, code), "{}", outcome.stderr);
    own.blocks.len()
}

#[test]
fn each_host_keeps_a_journal_of_what_it_writes() {
    let sandbox = sandbox("1");
    run(&sandbox, &[]).success();
    for host in ["one", "two"] {
        assert!(verified(&sandbox, host, "f", &format!("j-{host}"), 0) > 100, "{host}");
    }
    // A journal that is there is not written over.
    let again = run(&sandbox, &[]);
    assert!(again.code == 1 && again.stderr.contains("j-one"), "{}", again.stderr);
    run(&sandbox, &["--journal-recover"]).success();
    assert_eq!(Journal::read(&sandbox.path("two/j-two")).runs.len(), 2, "it is gone on with");
}

/// Writes over a block that was acknowledged, as somebody else would. Returns its offset.
fn overwrite_one(sandbox: &Sandbox, file: &str, journal: &str) -> u64 {
    let known = Journal::read(&sandbox.path(journal));
    let (block, _) = known.blocks.iter().find(|(_, state)| state.0 > 0).unwrap();
    let file = fs::File::options().write(true).open(sandbox.path(file)).unwrap();
    file.write_all_at(&[7; 4096], block * 4096).unwrap();
    block * 4096
}

#[test]
fn a_host_whose_blocks_are_lost_keeps_all_from_writing() {
    let sandbox = sandbox("1");
    run(&sandbox, &[]).success();
    let before = fs::read(sandbox.path("two/j-two")).unwrap();
    let offset = overwrite_one(&sandbox, "one/f", "one/j-one");
    let outcome = run(&sandbox, &["--journal-recover"]);
    let expected = format!("offset {offset} is lost");
    assert!(outcome.code == 1 && outcome.stderr.contains(&expected), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("`one`: 1 of "), "{}", outcome.stderr);
    assert_eq!(fs::read(sandbox.path("two/j-two")).unwrap(), before, "nothing was written");
}

/// Without a journal each host reads back what it has written.
#[test]
fn what_hosts_wrote_is_read_back() {
    let sandbox = sandbox("1");
    let args = &RUN[..RUN.len() - 2];
    let outcome = common::outcome(&mut command(&sandbox, &[args, &["--json"]].concat()));
    let record = record::Record::from_json(outcome.success()).unwrap();
    let of_host = |host: &record::HostShareRecord| {
        let note = host.record.notes.iter().find(|note| note.code == "validated");
        note.map(|note| note.message.clone()).unwrap_or_default()
    };
    for host in &record.hosts {
        let message = of_host(host);
        let counts = message.strip_prefix("total amount of blocks read and validated: ");
        let (n_blocks, rest) = counts.and_then(|it| it.split_once(';')).expect("it was read");
        assert!(n_blocks.parse::<u64>().unwrap() > 100, "{message}");
        assert_eq!(rest, " blocks marked in error: 0");
    }
}

#[test]
fn a_killed_agent_loses_nothing_that_was_acknowledged() {
    let sandbox = sandbox("60");
    let mut command = command(&sandbox, &RUN);
    let mut run = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    for host in ["one", "two"] {
        let journal = sandbox.path(host).join(format!("j-{host}"));
        while fs::metadata(&journal).map_or(0, |facts| facts.len()) < 20_000 {
            assert!(run.try_wait().unwrap().is_none(), "the run has ended");
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        let pid = fs::read_to_string(sandbox.path(host).join("pid")).unwrap();
        kill_all_below(pid.trim().parse().unwrap());
    }
    run.wait().unwrap();
    for host in ["one", "two"] {
        assert!(verified(&sandbox, host, "f", &format!("j-{host}"), 0) > 50, "{host}");
    }
}

/// Kills a process and all below it.
fn kill_all_below(pid: i32) {
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
    for child in children.unwrap_or_default().split_whitespace() {
        kill_all_below(child.parse().unwrap());
    }
    // It may have ended with the one above it.
    let _ = kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL);
}

#[test]
fn blocks_that_several_hosts_write_are_refused() {
    let sandbox = sandbox("1");
    let outcome = run(&sandbox, &["--split"]);
    let expected = "`--split` has several write to the same blocks";
    assert!(outcome.code == 2 && outcome.stderr.contains(expected), "{}", outcome.stderr);
}

/// Two hosts with a storage definition each.
const PARM: &str = "hd=default,shell=ssh\nhd=h1,system=one\nhd=h2,system=two\n\
                    sd=default,size=1m,threads=2,journal=jnl\n\
                    sd=sd1,host=h1,lun=LUN1\nsd=sd2,host=h2,lun=LUN2\n\
                    wd=wd1,sd=sd*,xf=4k,rdpct=40\n\
                    rd=rd1,wd=wd1,iorate=400,elapsed=2,interval=1\n";

fn vdbench(sandbox: &Sandbox, args: &[&str]) -> Outcome {
    let all = [&["vdbench", "-f", "parm", "-o", "out"], args].concat();
    common::outcome(&mut command(sandbox, &all))
}

#[test]
fn vdbench_files_with_other_hosts_are_validated() {
    let sandbox = sandbox("1");
    for host in ["one", "two"] {
        fs::create_dir(sandbox.path(host).join("jnl")).unwrap();
    }
    sandbox.write("parm", PARM.replace("LUN1", "f1").replace("LUN2", "f2"));
    let done = vdbench(&sandbox, &["-v"]);
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    let line = "on each host: Total amount of key blocks read and validated: 256; ";
    assert!(done.stdout.contains(line), "{}", done.stdout);
    for args in [["-j"], ["-jr"]] {
        assert_eq!(vdbench(&sandbox, &args).code, 0);
        for (folder, file, label) in [("one", "f1", "h1"), ("two", "f2", "h2")] {
            let journal = format!("jnl/plimsoll-{label}.jnl");
            assert!(verified(&sandbox, folder, file, &journal, 0) > 50, "{label}");
        }
    }
    // What is lost on one host ends it.
    let offset = overwrite_one(&sandbox, "two/f2", "two/jnl/plimsoll-h2.jnl");
    let outcome = vdbench(&sandbox, &["-jr"]);
    let said = outcome.stdout + &outcome.stderr;
    assert!(outcome.code == 157 && said.contains(&format!("offset {offset} is lost")), "{said}");
    assert!(said.contains("h2") && !said.contains("Starting RD=rd1"), "{said}");
    let only = vdbench(&sandbox, &["-jro"]);
    assert!(only.code == 157 && only.stderr.contains("plimsoll verify"), "{}", only.stderr);
}

#[test]
fn a_lun_of_two_hosts_is_not_validated() {
    let sandbox = sandbox("1");
    let text = PARM.replace("system=two", "system=one").replace("LUN1", "f").replace("LUN2", "f");
    sandbox.write("parm", text);
    let outcome = vdbench(&sandbox, &["-v"]);
    let expected = "`f` is used by h1, h2: no host knows what another wrote";
    assert!(outcome.code == 157 && outcome.stderr.contains(expected), "{}", outcome.stderr);
    assert!(!sandbox.path("one/f").exists(), "nothing was written");
}
