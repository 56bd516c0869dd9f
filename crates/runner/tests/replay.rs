//! Whole runs that record their I/O, and replay it.

use std::fs;
use std::path::Path;

use plan::files::Size;
use plan::{EngineKind, Job, Plan, Step};
use record::Record;
use runner::{Control, RunError, RunOptions};

fn run(jobs: Vec<Job>, folder: &Path) -> Result<Record, RunError> {
    let plan = Plan { steps: vec![Step { jobs, ..Step::default() }], ..Plan::default() };
    let options = RunOptions {
        aux_dir: Some(folder.to_owned()),
        log_dir: Some(folder.to_owned()),
        ..RunOptions::default()
    };
    runner::run(&plan, &options, &Control::new(), &mut |_| {})
}

/// A job of 16 random reads and writes with syncs in two files of `folder`.
fn job(name: &str, folder: &Path) -> Job {
    let mut job = Job { name: name.to_owned(), ..Job::default() };
    job.engine.kind = EngineKind::Sync;
    job.files.directories = vec![folder.to_str().unwrap().to_owned()];
    job.files.n_files = 2;
    job.files.size = Some(Size::Bytes(16 * 4096));
    job.workload.access.random = true;
    job.workload.access.write = true;
    job.durability.fsync_every = 3;
    job
}

fn replaying(name: &str, record: &Path) -> Job {
    let mut job = Job { name: name.to_owned(), ..Job::default() };
    job.engine.kind = EngineKind::Sync;
    job.logs.read_replay = vec![record.to_str().unwrap().to_owned()];
    job
}

/// Returns the operations of a record without their times.
fn operations(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("fio version 3 iolog"));
    let without_time = |line: &str| line.split_once(' ').unwrap().1.to_owned();
    let is_operation = |line: &String| line.split(' ').count() == 4;
    lines.map(without_time).filter(is_operation).collect()
}

#[test]
fn a_recorded_run_is_replayed_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let mut first = job("first", folder.path());
    first.logs.write_replay = Some("first.log".to_owned());
    let made = run(vec![first], folder.path()).unwrap();
    let recorded = operations(&folder.path().join("first.log"));
    let n_syncs = recorded.iter().filter(|line| line.contains(" sync ")).count();
    assert_eq!(recorded.len() - n_syncs, 16);
    assert!(n_syncs > 0);
    let first_file = folder.path().join("first.0.0");
    assert!(recorded.iter().any(|line| line.starts_with(first_file.to_str().unwrap())));

    let mut again = replaying("again", &folder.path().join("first.log"));
    again.logs.write_replay = Some("again.log".to_owned());
    let replayed = run(vec![again], folder.path()).unwrap();
    // Reading a record wins over writing one.
    assert!(!folder.path().join("again.log").exists());
    assert!(replayed.notes.iter().any(|note| note.code == "record-unused"));
    assert_eq!(replayed.jobs[0].sync.count(), n_syncs as u64);
    for (made, replayed) in [
        (&made.jobs[0].dirs.read, &replayed.jobs[0].dirs.read),
        (&made.jobs[0].dirs.write, &replayed.jobs[0].dirs.write),
    ] {
        assert_eq!((made.n_ios, made.io_bytes), (replayed.n_ios, replayed.io_bytes));
    }
}

#[test]
fn a_record_that_cannot_be_replayed_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        replaying(name, &path)
    };
    let jobs = vec![
        replaying("absent", &folder.path().join("absent.log")),
        file("broken", b"fio version 3 iolog\n1 f fold 0 4096\n"),
        file("old", b"read 0 4096\n"),
        file("trace", &[7, 0x74, 0x61, 0x65, 0, 0, 0, 0]),
        replaying("endless", Path::new("/dev/zero")),
    ];
    let Err(RunError::Refused { findings, .. }) = run(jobs, folder.path()) else {
        panic!("the run was not refused");
    };
    let codes: Vec<&str> = findings.iter().map(|finding| finding.code).collect();
    // Nothing else is said about them: without its record a job means nothing.
    let (unreadable, invalid) = ("replay-unreadable", "replay-invalid");
    assert_eq!(codes, [unreadable, invalid, invalid, invalid, unreadable], "{findings:?}");
    assert!(findings[1].message.contains("line 2 names an unknown action"), "{findings:?}");
    assert!(findings[2].message.ends_with("expected version 2 or 3"), "{findings:?}");
    assert!(findings[3].help[0].contains("blkparse"), "{findings:?}");
    let of_device = "job `endless` cannot replay `/dev/zero`: it is a device, not a file";
    assert_eq!(findings[4].message, of_device);
}

#[test]
fn where_writing_is_forbidden_only_reads_are_replayed() {
    let folder = tempfile::tempdir().unwrap();
    let (target, record) = (folder.path().join("target"), folder.path().join("mixed.log"));
    fs::write(&target, [7; 8192]).unwrap();
    let name = target.to_str().unwrap();
    let text = format!("fio version 2 iolog\n{name} write 0 4096\n{name} read 4096 4096\n");
    fs::write(&record, text).unwrap();
    let plan = |job: Job| Plan {
        steps: vec![Step { jobs: vec![job], ..Step::default() }],
        ..Plan::default()
    };
    let run_read_only = |job: Job| {
        let options = RunOptions { read_only: true, ..RunOptions::default() };
        runner::run(&plan(job), &options, &Control::new(), &mut |_| {})
    };
    let replayed = run_read_only(replaying("mixed", &record)).unwrap();
    let dirs = &replayed.jobs[0].dirs;
    assert_eq!((dirs.read.n_ios, dirs.write.n_ios), (1, 0));
    assert!(
        replayed.notes.iter().any(|note| note.message.contains("leaves out 1 writes and trims"))
    );
    assert_eq!(fs::read(&target).unwrap(), [7; 8192]);

    let mut only_writes = replaying("mixed", &record);
    only_writes.logs.replay.skip[0] = true;
    let Err(RunError::Refused { findings, .. }) = run_read_only(only_writes) else {
        panic!("the run was not refused");
    };
    assert!(findings.iter().any(|finding| finding.message.contains("nothing but writes")));
}
