//! No result, log or store becomes a file in /dev, whichever option names it.

mod common;
#[path = "common/iometer.rs"]
mod iometer;

use std::path::Path;

use common::{Outcome, Sandbox};
use iometer::CONFIG;

/// A sandbox with what the commands read, and a name of no device.
fn sandbox() -> (Sandbox, String) {
    let job = "[x]\nioengine=null\nrw=read\nsize=1m\n";
    let sandbox = Sandbox::with_runs(job);
    sandbox.write("data", vec![b'x'; 2 << 20]);
    sandbox.write("flat", "Run Interval rate\nrd1 1 50.0\n");
    sandbox
        .write("p30.toml", "[[volume]]\nmount = \"/mnt/p30\"\ndisk = \"P30\"\ncache = \"None\"\n");
    let page = "sd=a,lun=data,size=64k\nwd=w,sd=a,rdpct=100\n\
                rd=r,wd=w,iorate=max,elapsed=2,interval=1\n";
    sandbox.write("p.parm", page);
    (sandbox, format!("/dev/plimsoll-test-{}", std::process::id()))
}

#[track_caller]
fn check(outcome: &Outcome, args: &[&str], path: &str) {
    // As words: the modes of other tools break their lines.
    let said = outcome.stdout.clone() + &outcome.stderr;
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_ne!(outcome.code, 0, "{args:?}: {said}");
    assert!(said.contains("only devices belong in /dev"), "{args:?}: {said}");
    assert!(!Path::new(path).exists(), "{args:?} made `{path}`");
}

#[test]
fn results_are_refused_there() {
    let (sandbox, path) = sandbox();
    let path = path.as_str();
    sandbox.write("needs.toml", sandbox.plimsoll(&["needs", "--template"]).success());
    sandbox.write("config.icf", CONFIG);
    let folder = format!("{path}/all/");
    for args in [
        &["run", "job.fio", "--output", path][..],
        &["run", "job.fio", "--store", path],
        &["curve", "data", "--output", path],
        &["bench", "data", "--output", path],
        &["bench", "data", "--report", path],
        &["report", "one", "-o", path],
        &["export", "one", "--format", "csv", "-o", path],
        &["export", "one", "two", "--format", "json", "-o", &folder],
        &["translate", "p.parm", "--to", "fio", "--output", path],
        &["provision", "p30.toml", "--as", "fstab", "-o", path],
        &["design", "needs.toml", "--region", "westeurope", "-o", path],
        &["capture", "--for", "1s", "-o", path],
        &["run", "config.icf", "--remap", "C:=.", "--iometer-results", path],
        &["iometer", "/c", "config.icf", "/r", path, "--remap", "C:=."],
        &["vdbench", "-f", "p.parm", "-o", path],
        &["vdbench", "-f", "p.parm", "-o", &format!("{path}+")],
        &["vdbench", "parse", "-i", "flat", "-o", path],
        &["demo", "--dir", "/dev"],
        &["bench", "/dev"],
    ] {
        check(&sandbox.plimsoll_keeping(args), args, path);
    }
    let args = ["--output", path, "job.fio"];
    check(&sandbox.fio(&args), &args, path);
}

#[test]
fn logs_and_the_like_are_refused_there() {
    let (sandbox, path) = sandbox();
    let job = "--name=x --ioengine=null --size=64k";
    for option in [
        format!("--write_bw_log={path}"),
        format!("--write_iolog={path}"),
        format!("--bandwidth-log={path}"),
        format!("--aux-path={path} --rw=write --verify=crc32c"),
    ] {
        let line = format!("{job} {option}");
        let args: Vec<&str> = line.split(' ').collect();
        let outcome = sandbox.fio(&args);
        check(&outcome, &args, &path);
        assert!(!Path::new(&format!("{path}_bw.1.log")).exists());
        assert!(!Path::new(&format!("{path}_bw.log")).exists());
    }
}

/// Of Vdbench, of a plan, and of a unit of load, whose processes have trees of their own.
#[test]
fn trees_are_refused_there() {
    let (sandbox, path) = sandbox();
    let page = |anchor: &str| {
        format!(
            "fsd=f,anchor={anchor},depth=1,width=1,files=2,size=4k\nfwd=w,fsd=f,operation=read\n\
             rd=r,fwd=w,fwdrate=10,format=yes,elapsed=2,interval=1\n"
        )
    };
    sandbox.write("t.parm", page(&path));
    let parents = format!("create_anchors=yes\n{}", page(&format!("{path}/a/b")));
    sandbox.write("parents.parm", parents);
    let schema = "schema = \"plimsoll.plan/1\"";
    sandbox.write(
        "tree.toml",
        format!(
            "{schema}\n[[step]]\n[[step.job]]\nname = \"a\"\n[step.job.tree]\n\
             anchor = \"{path}\"\nfiles = 2\n[step.job.tree.format]\ncreate = true\n"
        ),
    );
    sandbox.write(
        "unit.toml",
        format!(
            "{schema}\n[unit]\nname = \"set\"\nanchor = \"{path}\"\nruntime = \"1s\"\n\
             [[unit.component]]\nname = \"a\"\nread_sizes = \"4KiB\"\n[unit.component.mix]\n\
             read = 100\n[unit.component.files]\nfiles_per_folder = 2\nsizes = \"4KiB\"\n"
        ),
    );
    for args in [
        &["vdbench", "-f", "t.parm", "-o", "out"][..],
        &["vdbench", "-f", "parents.parm", "-o", "out"],
        &["run", "t.parm", "--no-progress"],
        &["run", "tree.toml", "--no-progress"],
        &["run", "unit.toml", "--no-progress"],
    ] {
        check(&sandbox.plimsoll(args), args, &path);
    }
    // Before any of the steps runs.
    let page = format!(
        "fsd=g,anchor=good,depth=1,width=1,files=2,size=4k\n\
         fsd=f,anchor={path},depth=1,width=1,files=2,size=4k\n\
         fwd=v,fsd=g,operation=read\nfwd=w,fsd=f,operation=read\n\
         rd=q,fwd=v,fwdrate=10,format=yes,elapsed=2,interval=1\n\
         rd=r,fwd=w,fwdrate=10,format=yes,elapsed=2,interval=1\n"
    );
    sandbox.write("later.parm", page);
    let args = ["vdbench", "-f", "later.parm", "-o", "out"];
    check(&sandbox.plimsoll(&args), &args, &path);
    assert!(!sandbox.path("good").exists(), "a step ran before the one that cannot");
}

/// What is there and takes what is written is no file that would be made.
#[test]
fn devices_and_open_files_are_written_to() {
    let (sandbox, _) = sandbox();
    for path in ["/dev/null", "/dev/stdout", "/dev/fd/1"] {
        let outcome = sandbox.plimsoll(&["run", "job.fio", "--no-progress", "--output", path]);
        let is_shown = path != "/dev/null";
        assert_eq!(outcome.success().contains("null"), is_shown, "{path}: {}", outcome.stdout);
    }
    let null = ["--name=x", "--ioengine=null", "--size=64k", "--write_iolog=/dev/null"];
    sandbox.fio(&null).success();
}
