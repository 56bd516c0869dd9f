//! A run that may change nothing: every way of changing is refused before anything starts, and
//! nothing has changed then.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use plan::Diagnostic;
use runner::{Control, RunError, RunOptions};

use super::bench::{Bench, n_ios};

/// Returns all that lies in a folder, with the bytes of the files.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("ours") {
            let path = entry.expect("ours").path();
            let is_dir = path.is_dir();
            found.insert(path.clone(), (!is_dir).then(|| std::fs::read(&path).expect("ours")));
            if is_dir {
                folders.push(path);
            }
        }
    }
    found
}

fn read_only(bench: &Bench, text: &str) -> Result<record::Record, Vec<Diagnostic>> {
    let options = RunOptions {
        aux_dir: Some(bench.path("")),
        create_parents: true,
        allow_commands: true,
        read_only: true,
        ..RunOptions::default()
    };
    runner::run(&bench.plan(text), &options, &Control::new(), &mut |_| {})
        .map_err(|RunError::Refused { findings, .. }| findings)
}

/// Runs a job on a file `f` of 8 KiB and a folder `d` that may not be changed. `@` is the folder
/// of both; the first message is to be this.
#[track_caller]
fn refused(options: &str, expected: &str) {
    let bench = Bench::new();
    bench.file("f", 8);
    std::fs::create_dir(bench.path("d")).expect("ours");
    let before = contents(&bench.path(""));
    let text = format!("[j]\nsize=8k\nbs=4k\n{options}\n");
    let findings = read_only(&bench, &text).expect_err("it changes something");
    let shown = findings[0].message.replace(bench.path("").to_str().expect("text"), "@/");
    assert_eq!(shown, format!("job `j` {expected}, and writing is forbidden here"));
    assert!(!findings[0].help.is_empty());
    assert_eq!(contents(&bench.path("")), before, "something has changed");
}

#[test]
fn io_that_changes_is_refused_with_every_engine() {
    let engines =
        ["psync", "sync", "vsync", "pvsync", "pvsync2", "libaio", "io_uring", "posixaio", "mmap"];
    for engine in engines.into_iter().filter(|engine| *engine != "posixaio") {
        let write = format!("ioengine={engine}\nfilename=@/f\nrw=randwrite");
        refused(&write, "writes to `@/f`");
        refused(&format!("ioengine={engine}\nfilename=@/f\nrw=rw"), "writes to `@/f`");
    }
    refused("ioengine=psync\nfilename=@/f\nrw=trim", "trims `@/f`");
    refused(
        "ioengine=falloc\nfilename=@/f\nrw=read",
        "reserves or frees space of `@/f` (ioengine=falloc)",
    );
    refused(
        "ioengine=ftruncate\nfilename=@/f\nrw=write",
        "sets the size of `@/f` (ioengine=ftruncate)",
    );
}

#[test]
fn operations_on_whole_files_are_refused() {
    refused("ioengine=filecreate\nfilename=@/n\nrw=read", "creates `@/n` (ioengine=filecreate)");
    refused("ioengine=filedelete\nfilename=@/f\nrw=read", "removes `@/f` (ioengine=filedelete)");
    refused("ioengine=dircreate\nfilename=@/n\nrw=read", "creates `@/n` (ioengine=dircreate)");
    refused("ioengine=dirdelete\nfilename=@/d\nrw=read", "removes `@/d` (ioengine=dirdelete)");
    refused("ioengine=filestat\nfilename=@/n\nrw=read", "makes `@/n`, which is missing");
}

#[test]
fn what_is_done_around_the_io_is_refused() {
    refused("filename=@/f\nrw=read\nunlink=1", "removes `@/f` (unlink=1)");
    refused("filename=@/f\nrw=read\nunlink_each_loop=1", "removes `@/f` (unlink_each_loop=1)");
    refused("filename=@/f\nrw=read\nexec_prerun=touch @/x", "runs `touch @/x`");
    refused("filename=@/f\nrw=read\nexec_postrun=touch @/x", "runs `touch @/x`");
    refused("ioengine=null\nfilename=@/n\nrw=read\nexec_prerun=touch @/x", "runs `touch @/x`");
    refused("filename=@/f\nrw=read\nioscheduler=none", "sets `ioscheduler=none`");
}

#[test]
fn files_are_neither_made_nor_extended() {
    refused("filename=@/n\nrw=read", "makes `@/n`, which is missing");
    refused("filename=@/new/n\nrw=read", "makes `@/new/n`, which is missing");
    refused("directory=@/d\nrw=randread\nnrfiles=2", "makes `@/d/j.0.0`, which is missing");
    refused("filename=@/n\nrw=read\ncreate_only=1", "makes `@/n`, which is missing");
    refused("filename=@/n\nrw=read\ncreate_on_open=1", "makes `@/n`, which is missing");
    refused("filename=@/f\nrw=read\nsize=64k", "extends `@/f` from 8192 to 65536 B");
    refused(
        "filename=@/f\nrw=read\nsize=64k\nfallocate=none",
        "extends `@/f` from 8192 to 65536 B",
    );
}

#[test]
fn logs_do_not_go_where_the_plan_measures() {
    refused(
        "directory=@/d\nfilename=../f\nrw=read\nwrite_lat_log=@/d/lat",
        "writes files of `write_lat_log` into `@/d`, a target",
    );
}

#[test]
fn a_step_that_runs_commands_is_refused() {
    let bench = Bench::new();
    bench.file("f", 8);
    let mut plan = bench.plan("[j]\nfilename=@/f\nrw=read\n");
    plan.steps[0].exec_after = vec![format!("touch {}", bench.path("x").display())];
    let options = RunOptions { read_only: true, allow_commands: true, ..RunOptions::default() };
    let Err(RunError::Refused { findings, .. }) =
        runner::run(&plan, &options, &Control::new(), &mut |_| {})
    else {
        panic!("it ran");
    };
    assert!(findings[0].message.starts_with("step `` runs `touch "), "{}", findings[0].message);
    assert!(!bench.exists("x"));
}

#[test]
fn what_only_reads_runs() {
    let bench = Bench::new();
    bench.file("f", 8);
    let before = contents(&bench.path(""));
    for options in [
        "ioengine=psync\nrw=read",
        "ioengine=libaio\nrw=randread\niodepth=4",
        "ioengine=mmap\nrw=read",
        "ioengine=psync\nrw=read\nfsync=1\nend_fsync=1\nfsync_on_close=1",
        "ioengine=psync\nrw=read\ncreate_only=1",
        "ioengine=psync\nrw=read\ncreate_on_open=1\nopenfiles=1",
        "ioengine=filestat\nrw=read",
    ] {
        let text = format!("[j]\nfilename=@/f\nsize=8k\nbs=4k\n{options}\n");
        let record = read_only(&bench, &text).expect("it only reads");
        assert_eq!(record.outcome, record::Outcome::Complete, "{options}");
        assert_eq!(record.jobs[0].error_message, "", "{options}");
        let is_run = !options.contains("create_only");
        assert_eq!(n_ios(&record.jobs[0]) > 0, is_run, "{options}");
        assert_eq!(contents(&bench.path("")), before, "{options}");
    }
}
