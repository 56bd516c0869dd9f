//! Which host does what: `hd=`, `host=` and wildcards come to jobs at hosts, one rule per case.

mod support;

use dialects::vdbench::output::{host_labels, job_names};
use dialects::vdbench::run::{Run, Work};
use dialects::vdbench::{Options, parse_text, remote_finding, unreachable_hosts, used_hosts};
use support::vdbench::kind;
use support::{MapHost, all_shown};

const HOSTS: &str = "hd=default,shell=ssh,user=me\nhd=h1,system=10.0.0.1\nhd=h2,system=10.0.0.2\n\
                     hd=other,system=10.0.0.3\n";

/// Returns the jobs of a run with their hosts; of storage definitions with threads and files, too.
fn jobs(run: &Run) -> String {
    let at = job_names(run).into_iter().zip(host_labels(run));
    let at: Vec<String> = at.map(|(job, host)| format!("{job} at {host}")).collect();
    let Work::Raw(work) = &run.work else { return at.join(", ") };
    let sds = work.sds.iter().map(|sd| format!(" {} {}", sd.threads, sd.lun));
    let with = at.into_iter().zip(sds).map(|(at, sd)| at + &sd);
    with.collect::<Vec<_>>().join(", ")
}

/// These definitions behind the hosts come to these jobs, run by run.
#[track_caller]
fn check(text: &str, expected: &[&str]) {
    let parsed = kind(&format!("{HOSTS}{text}"));
    assert!(!parsed.has_errors(), "{}", all_shown(&parsed.diagnostics));
    let found: Vec<String> = parsed.runs.iter().map(jobs).collect();
    assert_eq!(found, expected, "{text}");
}

const RAW: &str = "wd=w1,sd=*,xf=4k\nrd=r1,wd=w1,iorate=100,elapsed=4\n";

#[test]
fn hosts_of_storage_definitions() {
    for (sds, expected) in [
        // Without `host=` every host has it, and the threads are spread.
        (
            "sd=sd1,lun=/a,threads=8\n",
            "sd1/h1 at h1 3 /a, sd1/h2 at h2 3 /a, sd1/other at other 2 /a",
        ),
        ("sd=sd1,host=h2,lun=/a\n", "sd1 at h2 8 /a"),
        ("sd=sd1,hd=h2,lun=/a\n", "sd1 at h2 8 /a"),
        ("sd=sd1,host=(h1,other),lun=/a\n", "sd1/h1 at h1 4 /a, sd1/other at other 4 /a"),
        ("sd=sd1,host=h*,lun=/a\n", "sd1/h1 at h1 4 /a, sd1/h2 at h2 4 /a"),
        // An address names a host, too.
        ("sd=sd1,host=10.0.0.2,lun=/a\n", "sd1 at h2 8 /a"),
        // Pairs: another path on each.
        ("sd=sd1,host=h1,lun=/a,host=h2,lun=/b\n", "sd1/h1 at h1 4 /a, sd1/h2 at h2 4 /b"),
        (
            "sd=sd1,lun=/a,host=h1,lun=/b,host=(h2,other)\n",
            "sd1/h1 at h1 3 /a, sd1/h2 at h2 3 /b, sd1/other at other 2 /b",
        ),
        (
            "sd=default,host=h2\nsd=sd1,lun=/a\nsd=sd2,host=h1,lun=/b\n",
            "sd1 at h2 8 /a, sd2 at h1 8 /b",
        ),
        (
            "sd=sd_$host,host=$host,lun=/v#host\n",
            "sd_h1 at h1 8 /v0, sd_h2 at h2 8 /v1, sd_other at other 8 /v2",
        ),
    ] {
        check(&format!("{sds}{RAW}"), &[expected]);
    }
}

#[test]
fn hosts_of_workload_definitions() {
    let sds = "sd=sd1,host=h*,lun=/a\nsd=sd2,host=(h2,other),lun=/b\n";
    for (wds, expected) in [
        (
            "wd=w1,sd=*\n",
            "sd1/h1 at h1 4 /a, sd1/h2 at h2 4 /a, sd2/h2 at h2 4 /b, sd2/other at other 4 /b",
        ),
        ("wd=w1,sd=*,host=h2\n", "sd1 at h2 8 /a, sd2 at h2 8 /b"),
        ("wd=w1,sd=*,host=(h1,other)\n", "sd1 at h1 8 /a, sd2 at other 8 /b"),
        ("wd=w1,sd=*,host=h*\n", "sd1/h1 at h1 4 /a, sd1/h2 at h2 4 /a, sd2 at h2 8 /b"),
        // Sequential work on a storage definition stays on one host.
        ("wd=w1,sd=sd1,seekpct=seq\n", "sd1 at h1 8 /a"),
        ("wd=w1,sd=sd1,host=h1\nwd=w2,sd=sd2,host=other\n", "sd1 at h1 8 /a, sd2 at other 8 /b"),
    ] {
        check(&format!("{sds}{wds}rd=r1,wd=w*,iorate=100,elapsed=4\n"), &[expected]);
    }
}

#[test]
fn runs_choose_among_storage_definitions() {
    let text = "sd=sd1,host=h1,lun=/a\nsd=sd2,host=h2,lun=/b\nwd=w1,sd=*\n\
                rd=r1,wd=w1,sd=sd2,iorate=9,elapsed=4\nrd=r2,wd=w1,sd=single,iorate=9,elapsed=4\n";
    check(text, &["sd2 at h2 8 /b", "sd1 at h1 8 /a", "sd2 at h2 8 /b"]);
    let parsed = kind(&format!("{HOSTS}{text}"));
    let used: Vec<&str> = used_hosts(&parsed).iter().map(|host| host.label.as_str()).collect();
    assert_eq!(used, ["h1", "h2"]);
}

#[test]
fn hosts_of_structures() {
    let fsds = "fsd=fsd1,anchor=/a,depth=1,width=1,files=9,size=8k\n\
                fsd=fsd2,anchor=/b,depth=1,width=1,files=9,size=8k\n";
    let rd = "rd=r1,fwd=*,fwdrate=max,elapsed=4,format=";
    // Each structure is formatted by the host that works on it.
    let fwds = "fwd=f1,fsd=fsd1,host=h2,operation=read\nfwd=f2,fsd=fsd2,host=h1,operation=read\n";
    check(
        &format!("{fsds}{fwds}{rd}yes\n"),
        &["format/fsd1 at h2, format/fsd2 at h1", "f1 at h2, f2 at h1"],
    );
    // One that hosts share by the first of them.
    let shared = fsds.replace("size=8k", "size=8k,shared=yes");
    let fwds = "fwd=f1,fsd=fsd1,host=(h2,other),operation=read,threads=2\n";
    check(
        &format!("{shared}{fwds}{rd}restart\n"),
        &["format at h2", "f1/read at h2, f1/read/2 at other"],
    );
    // What files are only copied to, by the host that copies.
    let fwds = "fwd=f1,fsd=fsd2,target=fsd1,host=other,operation=copy\n";
    check(
        &format!("{fsds}{fwds}{rd}yes\n"),
        &["format/fsd2 at other, format/fsd1 at other", "f1 at other"],
    );
}

/// Returns what is said of hosts that are not reached.
fn unreachable(hosts: &str, options: &Options) -> String {
    let text = format!("{hosts}sd=sd1,host=*,lun=/a\n{RAW}");
    all_shown(&unreachable_hosts(&parse_text("t", &text, options, &MapHost::default())))
}

#[test]
fn other_hosts_are_reached_by_ssh() {
    let kind = Options::default();
    let help = "write `shell=ssh` into `hd=default`; `--set shell=ssh` does as much | \
                `--all-hosts-local` runs everything on this host";
    for (hosts, expected) in [
        ("hd=h1,system=10.0.0.1,shell=ssh\n", String::new()),
        ("hd=localhost\n", String::new()),
        ("hd=h1,system=127.0.0.1,shell=vdbench\n", String::new()),
        (
            "hd=h1,system=10.0.0.1\nhd=h2,system=10.0.0.2\n",
            format!(
                "error no-ssh 1:4 other hosts are reached by ssh alone, not by `shell=rsh`, which \
                 is what Vdbench takes where none is written: `h1`, `h2` | {help}"
            ),
        ),
        (
            "hd=default,shell=vdbench\nhd=localhost\nhd=h1,system=10.0.0.1\n",
            format!(
                "error no-ssh 3:4 other hosts are reached by ssh alone, not by `shell=vdbench`, \
                 whose port takes commands from whoever reaches it: `h1` | {help}"
            ),
        ),
    ] {
        assert_eq!(unreachable(hosts, &kind), expected, "{hosts}");
    }
    let set = Options { set: vec![("shell".to_owned(), "ssh".to_owned())], ..kind.clone() };
    assert_eq!(unreachable("hd=h1,system=10.0.0.1\nhd=h2,system=b,shell=rsh\n", &set), "");
    let local = Options { all_hosts_local: true, ..kind };
    assert_eq!(unreachable("hd=h1,system=10.0.0.1\n", &local), "");
}

#[test]
fn a_port_is_no_part_of_a_name() {
    let host =
        MapHost { unknown_hosts: vec![".far".to_owned(), ":22".to_owned()], ..MapHost::default() };
    let text = format!("hd=h1,system=near:22,shell=ssh\nsd=sd1,host=*,lun=/a\n{RAW}");
    let parsed = parse_text("t", &text, &Options::default(), &host);
    assert_eq!(all_shown(&parsed.diagnostics), "");
    assert_eq!(parsed.hosts[0].system, "near:22");
    let found = remote_finding(&parsed).expect("it is another host");
    assert_eq!(found.message, "the file runs on other hosts: `h1`");
    assert!(parse_text("t", &text, &Options::compat(), &host).has_errors());
}
