//! Vdbench's files with `hd=` on other hosts. A program in ssh's place starts the agents here;
//! where there is a real sshd, it does so over ssh.

mod common;
#[path = "common/sshd.rs"]
mod sshd;

use std::os::unix::fs::PermissionsExt as _;

use common::{Outcome, Sandbox};
use record::{JobRecord, Record};
use sshd::Sshd;

/// Takes ssh's arguments, and runs the command on this host. `closed` does not answer.
const SSH: &str = r#"#!/bin/sh
while [ "$1" != -- ]; do shift; done
if [ "$2" = closed ]; then
    echo "ssh: connect to host closed port 22: Connection refused" >&2
    exit 255
fi
shift 2
exec sh -c "$*"
"#;

fn sandbox(text: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("a.parm", text.replace("DIR", &sandbox.path("").to_string_lossy()));
    sandbox.write("ssh", SSH);
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(sandbox.path("ssh"), mode).expect("it is ours");
    sandbox
}

/// Runs the file through a client.
fn run_by(sandbox: &Sandbox, ssh: &str, more: &[&str]) -> Outcome {
    let args = ["vdbench", "-f", "a.parm", "-o", "out", "--ssh", ssh];
    sandbox.plimsoll(&[&args[..], more].concat())
}

fn run(sandbox: &Sandbox, more: &[&str]) -> Outcome {
    let ssh = sandbox.path("ssh").to_string_lossy().into_owned();
    run_by(sandbox, &ssh, more)
}

fn page(sandbox: &Sandbox, name: &str) -> String {
    let path = sandbox.path(&format!("out/{name}"));
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn record(sandbox: &Sandbox) -> Record {
    Record::from_json(&page(sandbox, "plimsoll.json")).expect("a record")
}

/// The rates of the averages of a page, I/Os per second, as `grep avg` shows them.
fn averages(sandbox: &Sandbox, name: &str) -> Vec<f64> {
    let page = page(sandbox, name);
    let lines = page.lines().filter_map(|line| line.split_once("avg_"));
    lines
        .map(|(_, rest)| rest.split_whitespace().nth(1).expect("a rate").parse().expect("one"))
        .collect()
}

/// The rates that were asked for, within an eighth: I/Os come at random, and this host may be busy.
#[track_caller]
fn check_rates(what: &str, found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len(), "{what}: {found:?}");
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() <= expected / 8.0, "{what}: {found} for {expected}");
    }
}

/// Two hosts with a path each for one storage definition, and one of their own; the second run is
/// on the second host alone.
const TWO: &str = "\
hd=default,shell=ssh
hd=h1,system=HOST1
hd=h2,system=HOST2
sd=default,size=1m,threads=2
sd=sd1,host=h1,lun=DIR/one,host=h2,lun=DIR/two
sd=sd2,host=h2,lun=DIR/three
wd=wd1,sd=sd1,xf=4k,rdpct=50
wd=wd2,sd=sd2,xf=4k,rdpct=100
rd=rd1,wd=wd1,iorate=2000,elapsed=3,interval=1
rd=rd2,wd=wd2,iorate=1000,elapsed=3,interval=1
rd=rd3,wd=wd*,iorate=3000,elapsed=3,interval=1
";

/// What two hosts did of it.
#[track_caller]
fn check_two(sandbox: &Sandbox) {
    for file in ["one", "two", "three"] {
        let found = std::fs::metadata(sandbox.path(file)).expect("it was written first");
        assert_eq!(found.len(), 1 << 20, "{file}");
    }
    let record = record(sandbox);
    let names: Vec<&str> = record.hosts.iter().map(|host| &*host.name).collect();
    assert_eq!(names, ["h1", "h2"]);
    let steps = |record: &Record, job: &str| -> Vec<u32> {
        let of_job = record.jobs.iter().filter(|it| it.name == job);
        of_job.map(|it| it.step_idx).collect()
    };
    assert_eq!(steps(&record, "sd1/h1"), [0, 1, 3]);
    assert_eq!(steps(&record.hosts[0].record, "sd2"), Vec::<u32>::new(), "it is the other one's");
    assert_eq!(steps(&record.hosts[1].record, "sd2"), [0, 2, 3]);
    // Of the writing of the files first; then the runs.
    let tail = |name: &str, n: usize| {
        let all = averages(sandbox, name);
        all[all.len() - n..].to_vec()
    };
    check_rates("all", &tail("summary.html", 3), &[2000.0, 1000.0, 3000.0]);
    check_rates("h1", &tail("h1.html", 2), &[1000.0, 750.0]);
    check_rates("h2", &tail("h2.html", 3), &[1000.0, 1000.0, 2250.0]);
    let n_ios: u64 = record.jobs.iter().map(JobRecord::n_ios).sum();
    let of_hosts = record.hosts.iter().flat_map(|host| &host.record.jobs).map(JobRecord::n_ios);
    assert_eq!(n_ios, of_hosts.sum::<u64>());
    let flat = page(sandbox, "flatfile.html");
    assert!(flat.lines().any(|line| line.contains(" rd2 ")), "{flat}");
    assert!(page(sandbox, "logfile.html").contains("on "), "the hosts are named");
    assert!(page(sandbox, "summary.html").contains("Vdbench execution completed successfully"));
}

#[test]
fn two_hosts_do_what_the_file_gives_each() {
    let text = TWO.replace("HOST1", "a.invalid").replace("HOST2", "b.invalid");
    let sandbox = sandbox(&text);
    run(&sandbox, &[]).success();
    check_two(&sandbox);
}

#[test]
fn two_real_servers_do_what_the_file_gives_each() {
    let sandbox = sandbox("");
    let Some(one) = Sshd::start(&sandbox) else { return };
    let Some(two) = Sshd::start_in(&sandbox, "two_server", "exec \"$@\"") else { return };
    let text = TWO.replace("HOST1", &one.host()).replace("HOST2", &two.host());
    sandbox.write("a.parm", text.replace("DIR", &sandbox.path("").to_string_lossy()));
    run_by(&sandbox, &sshd::client(&sandbox), &[]).success();
    check_two(&sandbox);
}

#[test]
fn this_host_does_its_part_beside_others() {
    let text = "hd=default,shell=ssh\nhd=localhost\nhd=far,system=a.invalid\n\
                sd=sd1,host=*,lun=DIR/data,size=1m,threads=4\nwd=wd1,sd=sd1,xf=4k\n\
                rd=rd1,wd=wd1,iorate=1000,elapsed=3,interval=1\n";
    let sandbox = sandbox(text);
    run(&sandbox, &[]).success();
    let record = record(&sandbox);
    let names: Vec<&str> = record.hosts.iter().map(|host| &*host.name).collect();
    assert_eq!(names, ["localhost", "far"]);
    let all = averages(&sandbox, "summary.html");
    check_rates("all", &all[all.len() - 1..], &[1000.0]);
}

#[test]
fn structures_are_formatted_before_other_hosts_use_them() {
    let text = "hd=default,shell=ssh\nhd=h1,system=a.invalid\nhd=h2,system=b.invalid\n\
                fsd=fsd1,anchor=DIR/tree,depth=2,width=2,files=20,size=8k,shared=yes\n\
                fwd=fwd1,fsd=fsd1,host=(h2,h1),operation=read,xfersize=4k,fileio=sequential,\n\
                fileselect=random,threads=2\n\
                rd=rd1,fwd=fwd1,fwdrate=500,format=restart,elapsed=3,interval=1\n";
    let sandbox = sandbox(text);
    run(&sandbox, &[]).success();
    let record = record(&sandbox);
    let hosts: Vec<Vec<u32>> = record
        .hosts
        .iter()
        .map(|host| host.record.jobs.iter().map(|job| job.step_idx).collect())
        .collect();
    assert_eq!(hosts, [vec![1], vec![0, 1]], "the first that works on it formats");
    let all = averages(&sandbox, "summary.html");
    check_rates("all", &all[all.len() - 1..], &[500.0]);
}

#[test]
fn a_host_that_does_not_answer_is_named() {
    let text = TWO.replace("HOST1", "closed").replace("HOST2", "b.invalid");
    let sandbox = sandbox(&text);
    let refused = run(&sandbox, &[]);
    assert_eq!(refused.code, 157, "{}", refused.stderr);
    let words = "hd=h1: ssh: connect to host closed port 22: Connection refused";
    assert!(refused.stderr.contains(words), "{}", refused.stderr);
    assert!(!sandbox.path("out").exists(), "nothing was begun");
}

#[test]
fn a_file_that_a_host_lacks_is_named_with_its_host() {
    let text = "hd=h1,system=a.invalid,shell=ssh\nsd=sd1,lun=/nowhere/there,size=1m\nwd=wd1,sd=*\n\
                rd=rd1,wd=wd1,iorate=9,elapsed=2,interval=1\n";
    let sandbox = sandbox(text);
    let refused = run(&sandbox, &[]);
    assert_eq!(refused.code, 157);
    let words = "sd=sd1 on host=h1: the folder of `/nowhere/there` is not";
    assert!(refused.stderr.contains(words), "{}", refused.stderr);
}

#[test]
fn commands_do_not_run_on_other_hosts() {
    let text = TWO.replace("HOST1", "a.invalid").replace("HOST2", "b.invalid");
    let sandbox = sandbox(&text.replace("rd=rd1,", "rd=rd1,startcmd=\"touch began\","));
    let refused = run(&sandbox, &["--allow-commands"]);
    assert_eq!(refused.code, 157);
    assert!(refused.stderr.contains("startcmd"), "{}", refused.stderr);
    assert!(!sandbox.path("began").exists());
}
