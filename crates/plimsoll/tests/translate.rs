//! `translate`: a workload file in the words of another tool.

mod common;

use common::Sandbox;

const RAW: &str = "\
sd=sd1,lun=f1,size=8m,threads=4
wd=wd1,sd=sd1,xfersize=8k,rdpct=70,skew=75
wd=wd2,sd=sd1,xfersize=(4k,50,8k,50),rdpct=0,seekpct=0,skew=25
rd=rd1,wd=wd*,iorate=200,elapsed=4,interval=1,warmup=2
";

const FILES: &str = "\
fsd=fsd1,anchor=tree,depth=2,width=2,files=4,size=8k
fwd=fwd1,fsd=fsd1,operation=read,xfersize=4k,fileio=sequential,fileselect=random,threads=2
rd=rd1,fwd=fwd1,fwdrate=100,format=no,elapsed=4,interval=1
";

const FIO: &str = "\
[read]
filename=f1
size=8m
rw=randread
bs=8k
iodepth=8
ioengine=libaio
runtime=4
time_based
[write]
stonewall
filename=f1
size=8m
rw=randwrite
bs=4k
rate_iops=500
runtime=4
time_based
";

/// Translates a file and returns the text.
#[track_caller]
fn translate(sandbox: &Sandbox, file: &str, to: &str) -> String {
    let done = sandbox.plimsoll(&["translate", file, "--to", to]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    done.stdout
}

/// Returns the plan of a file as `check` shows it, without the file's name.
#[track_caller]
fn plan(sandbox: &Sandbox, file: &str) -> serde_json::Value {
    let done = sandbox.plimsoll(&["check", file, "--json"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let mut page: serde_json::Value = serde_json::from_str(&done.stdout).expect("JSON");
    let steps = page["steps"].as_array_mut().expect("a list");
    for job in steps.iter_mut().flat_map(|step| step["jobs"].as_array_mut().expect("a list")) {
        job["options"] = serde_json::Value::Null;
    }
    page["steps"].take()
}

#[test]
fn a_plan_of_our_own_means_what_the_file_meant() {
    for (name, text) in [("a.parm", RAW), ("b.parm", FILES), ("c.fio", FIO)] {
        let sandbox = Sandbox::new();
        std::fs::write(sandbox.path(name), text).expect("a file");
        let toml = translate(&sandbox, name, "toml");
        std::fs::write(sandbox.path("plan.toml"), &toml).expect("a file");
        assert_eq!(plan(&sandbox, "plan.toml"), plan(&sandbox, name), "{toml}");
    }
}

#[test]
fn a_job_file_becomes_a_parameter_file_that_is_accepted() {
    let sandbox = Sandbox::new();
    std::fs::write(sandbox.path("c.fio"), FIO).expect("a file");
    let parm = translate(&sandbox, "c.fio", "vdbench");
    std::fs::write(sandbox.path("c.parm"), &parm).expect("a file");
    let done = sandbox.plimsoll(&["vdbench", "--compat", "5.04.07", "-s", "-f", "c.parm"]);
    assert_eq!(done.code, 0, "{parm}\n{}{}", done.stdout, done.stderr);
    assert!(done.stdout.contains("RD=rd1; I/O rate: Uncontrolled MAX; elapsed=4"), "{parm}");
    assert!(done.stdout.contains("RD=rd2; I/O rate: 500; elapsed=4"), "{}", done.stdout);
}

#[test]
fn what_only_this_program_reads_is_written_as_vdbench_takes_it() {
    let sandbox = Sandbox::new();
    let text = "sd=sd08,lun=/tmp/a, size=1m\nsd=sd09,lun=/tmp/b,size=1m\n\
                sd=sd10,lun=/tmp/c,size=1m\nwd=wd1,sd=(sd08-sd10)\n\
                rd=r1,wd=wd1,iorate=100,elapsed=2,interval=1,seekpct=(0,100)\n";
    let accepted = |text: &str, losses: &str| {
        sandbox.write("k.parm", text);
        let done = sandbox.plimsoll(&["translate", "k.parm", "--to", "vdbench", "-o", "t.parm"]);
        assert_eq!(done.code, 0, "{}", done.stderr);
        let lost = done.stderr.lines().filter(|line| line.starts_with("lost: "));
        assert_eq!(lost.collect::<Vec<_>>().join("\n"), losses);
        let compat = ["vdbench", "--compat", "5.04.07", "-s", "-f", "t.parm", "-o", "out"];
        sandbox.plimsoll(&compat).code == 0
    };
    assert!(accepted(text, ""));
    let command = text.replace("iorate=", "startcmd=(\"echo (a)\",cons),iorate=");
    assert!(accepted(&command, "lost: Vdbench reads another command than `echo (a)`"));
    let host = "hd=h1,system=localhost\nfsd=f1,anchor=/tmp/a\nfwd=w1,fsd=f1,host=h*\n\
                rd=r1,fwd=w1,fwdrate=9,elapsed=2,interval=1\n";
    assert!(!accepted(
        host,
        "lost: Vdbench does not take it: unable to locate host h* (no wildcards allowed)"
    ));
}

#[test]
fn what_is_lost_is_listed() {
    let sandbox = Sandbox::new();
    std::fs::write(sandbox.path("a.parm"), RAW).expect("a file");
    let done = sandbox.plimsoll(&["translate", "a.parm", "--to", "fio", "-o", "a.fio"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(
        done.stderr.contains("lost: 2 workloads mixed on one queue (`sd1`)"),
        "{}",
        done.stderr
    );
    let text = std::fs::read_to_string(sandbox.path("a.fio")).expect("a file");
    assert!(text.starts_with("# lost: "), "{text}");
    let done = sandbox.plimsoll(&["check", "a.fio"]);
    assert_eq!(done.code, 0, "{text}\n{}", done.stderr);
}

/// Vdbench writes a missing file of known size before the first run; in other words the job does.
#[test]
fn what_a_format_would_make_is_made_by_the_job() {
    let sandbox = Sandbox::new();
    let text = RAW.replace("elapsed=4,interval=1,warmup=2", "elapsed=2,interval=1");
    std::fs::write(sandbox.path("a.parm"), text).expect("a file");
    for (to, file) in [("toml", "plan.toml"), ("fio", "job.fio")] {
        let text = translate(&sandbox, "a.parm", to);
        std::fs::write(sandbox.path(file), text).expect("a file");
        let done = sandbox.plimsoll(&["run", file, "--set", "runtime=200ms"]);
        // On a busy host what was measured is called invalid.
        assert!(matches!(done.code, 0 | 3), "{to}: {}{}", done.stdout, done.stderr);
        let made = sandbox.path("f1");
        assert_eq!(std::fs::metadata(&made).expect("it was made").len(), 8 << 20, "{to}");
        std::fs::remove_file(made).expect("it is ours");
    }
}
