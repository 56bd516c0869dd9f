//! Formats: what they make, complete and remove.

use std::os::unix::process::ExitStatusExt;

use plan::op::OpKind;
use plan::tree::{Activity, FileSizes, Format, TreeSpec};
use runner::{Control, RunEvent, RunOptions};

use crate::bench::{Bench, FORMAT, OnDisk, fine, n_done, plan, run, task};

const RESTART: Format = Format { clean: false, ..FORMAT };
const REMOVE: Format = Format { create: false, ..FORMAT };

#[test]
fn a_format_makes_and_removes_the_whole_tree() {
    let bench = Bench::new();
    let record = bench.format(FORMAT);
    let job = fine(&record);
    let there = bench.on_disk();
    assert_eq!((there.n_folders, there.n_files), (6, 32));
    assert_eq!(there.bytes, job.dirs.write.io_bytes);
    let counts =
        [OpKind::Mkdir, OpKind::Create, OpKind::Open, OpKind::Close].map(|kind| n_done(job, kind));
    assert_eq!(counts, [6, 32, 32, 32]);
    let control = std::fs::read_to_string(bench.anchor().join("vdb_control.file")).unwrap();
    let expected = "depth 2\nwidth 2\nfiles 8\ndist  bottom\nsize  ";
    assert!(control.starts_with("when  end ") && control.contains(expected), "{control}");
    let expected = "directory status 6\ny\ny\ny\ny\ny\ny\nfile status 32\nf\n= 31\nchecksum: ";
    assert!(control.contains(expected), "{control}");
    // Again: removed first.
    let record = bench.format(FORMAT);
    let job = fine(&record);
    assert_eq!((n_done(job, OpKind::Delete), n_done(job, OpKind::Rmdir)), (32, 6));
    assert_eq!(bench.on_disk(), there);
    let record = bench.format(REMOVE);
    assert_eq!(fine(&record).dirs.read.n_ios, 38, "what is asked for is removing");
    assert_eq!(bench.on_disk(), OnDisk { n_folders: 0, n_files: 0, bytes: 0 });
    assert_eq!(std::fs::read_dir(bench.anchor()).unwrap().count(), 0, "the control file is gone");
}

#[test]
fn a_format_completes_what_is_missing() {
    let bench = Bench::new();
    fine(&bench.format(FORMAT));
    let whole = bench.on_disk();
    let folder = bench.anchor().join("vdb.1_2.dir/vdb.2_1.dir");
    std::fs::remove_dir_all(&folder).unwrap();
    let record = bench.format(RESTART);
    let job = fine(&record);
    assert_eq!((n_done(job, OpKind::Mkdir), n_done(job, OpKind::Create)), (1, 8));
    assert_eq!(bench.on_disk(), whole);
}

#[test]
fn a_format_sees_what_others_removed() {
    let bench = Bench::new();
    fine(&bench.format(FORMAT));
    let whole = bench.on_disk();
    let folder = bench.anchor().join("vdb.1_2.dir/vdb.2_1.dir");
    let remove_one = || {
        let first = std::fs::read_dir(&folder).unwrap().next().unwrap().unwrap();
        std::fs::remove_file(first.path()).unwrap();
    };
    remove_one();
    assert_eq!(n_done(fine(&bench.format(RESTART)), OpKind::Create), 1);
    assert_eq!(bench.on_disk(), whole);
    remove_one();
    assert_eq!(n_done(fine(&bench.format(FORMAT)), OpKind::Delete), 31);
    assert_eq!(bench.on_disk(), whole);
}

#[test]
fn only_folders_are_made_where_that_is_asked_for() {
    let bench = Bench::new();
    let record = bench.format(Format { folders_only: true, ..FORMAT });
    assert_eq!(fine(&record).dirs.read.n_ios, 6);
    assert_eq!(bench.on_disk(), OnDisk { n_folders: 6, n_files: 0, bytes: 0 });
}

#[test]
fn another_structure_replaces_the_old_one_only_when_asked() {
    let bench = Bench::new();
    fine(&bench.format(FORMAT));
    let spec = TreeSpec { width: 3, sizes: FileSizes::Fixed(4096), ..bench.spec.clone() };
    let other = Bench { dir: tempfile::tempdir().unwrap(), spec };
    let message = &other.format(RESTART).jobs[0].error_message;
    assert!(message.contains("it has depth=2 width=2"), "{message}");
    assert!(message.contains("depth=2 width=3 files=8 distribution=bottom sizes=4096"));
    assert!(message.contains("format=yes removes it"), "{message}");
    let record = other.format(FORMAT);
    let job = fine(&record);
    let counts = [OpKind::Delete, OpKind::Rmdir, OpKind::Mkdir, OpKind::Create];
    assert_eq!(counts.map(|kind| n_done(job, kind)), [32, 6, 12, 72], "what lay there counts");
    assert_eq!(other.on_disk(), OnDisk { n_folders: 12, n_files: 72, bytes: 72 * 4096 });
    assert!(control(&other).contains("\nwidth 3\n"), "{}", control(&other));
    let record = bench.format(REMOVE);
    assert_eq!(fine(&record).dirs.read.n_ios, 84, "what is asked for is removing");
    assert_eq!(std::fs::read_dir(bench.anchor()).unwrap().count(), 0, "the control file is gone");
}

fn control(bench: &Bench) -> String {
    std::fs::read_to_string(bench.anchor().join("vdb_control.file")).unwrap()
}

/// Returns a bench with another structure in the same anchor.
fn reshaped(bench: &Bench) -> Bench {
    let spec = TreeSpec { width: 3, files: 2, ..bench.spec.clone() };
    Bench { dir: tempfile::tempdir().unwrap(), spec }
}

#[test]
fn a_structure_is_known_until_all_of_it_is_removed() {
    let bench = Bench::new();
    fine(&bench.format(FORMAT));
    let other = reshaped(&bench);
    let stop = Control::new();
    let plan = plan(vec![other.job("format", 3, Activity::Format(FORMAT))]);
    let mut seen = Vec::new();
    let stopped = runner::run(&plan, &RunOptions::default(), &stop, &mut |event| {
        if let RunEvent::OtherTree { n_files, n_folders, .. } = event {
            seen.push((n_files, n_folders));
            stop.request_stop();
        }
    });
    drop(stopped);
    assert_eq!(seen, [(32, 6)]);
    assert!(control(&bench).contains("depth 2\nwidth 2\nfiles 8\n"), "{}", control(&bench));
    let left = bench.on_disk();
    let record = other.format(FORMAT);
    let n_deleted = n_done(fine(&record), OpKind::Delete);
    assert_eq!(n_deleted, left.n_files as u64);
    assert_eq!((other.on_disk().n_folders, other.on_disk().n_files), (12, 18));
}

#[test]
fn what_others_put_into_another_structure_stays() {
    let bench = Bench::new();
    fine(&bench.format(FORMAT));
    let theirs = bench.anchor().join("vdb.1_1.dir/notes.txt");
    std::fs::write(&theirs, "mine").unwrap();
    let other = reshaped(&bench);
    let record = other.format(FORMAT);
    assert_eq!(n_done(fine(&record), OpKind::Mkdir), 11, "one folder of theirs is there");
    let notes: Vec<&str> = record.notes.iter().map(|note| note.message.as_str()).collect();
    assert!(notes.iter().any(|note| note.contains("1 folders were not removed")), "{notes:?}");
    assert_eq!((other.on_disk().n_folders, other.on_disk().n_files), (12, 19));
    assert_eq!(std::fs::read(&theirs).unwrap(), b"mine");
}

#[test]
fn a_structure_is_replaced_by_one_format_that_is_alone() {
    let bench = Bench::new();
    fine(&bench.format(FORMAT));
    let other = reshaped(&bench);
    let format = |name| other.job(name, 1, Activity::Format(FORMAT));
    let record = other.run(vec![format("one"), format("two")]);
    let message = &record.jobs[1].error_message;
    assert!(message.contains("as another job of the same step does"), "{message}");
    let record = bench.run(vec![
        bench.job("format", 1, Activity::Format(FORMAT)),
        bench.task(task(OpKind::Stat), 2),
    ]);
    let message = &record.jobs[0].error_message;
    assert!(message.contains("must be a step of its own"), "{message}");
}

/// A format in a process of its own, which the test below kills.
#[test]
fn format_to_be_killed() {
    let Ok(anchor) = std::env::var("PLIMSOLL_TEST_KILLED_ANCHOR") else { return };
    let bench = killed_bench(&anchor);
    drop(run(vec![bench.job("format", 3, Activity::Format(FORMAT))]));
}

fn killed_bench(anchor: &str) -> Bench {
    let bench = Bench::new();
    let spec = TreeSpec { files: 200_000, anchor: anchor.to_owned(), ..bench.spec.clone() };
    Bench { spec: TreeSpec { depth: 1, width: 2, ..spec }, ..bench }
}

#[test]
fn a_format_that_was_killed_is_completed() {
    let dir = tempfile::tempdir().unwrap();
    let anchor = dir.path().join("root").display().to_string();
    let mut child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "formats::format_to_be_killed"])
        .env("PLIMSOLL_TEST_KILLED_ANCHOR", &anchor)
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    // In the middle of making files: 400,000 take seconds on any machine.
    let last = dir.path().join("root/vdb.1_1.dir/vdb_f1000.file");
    let started = std::time::Instant::now();
    while !last.exists() && started.elapsed().as_secs() < 60 {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    child.kill().unwrap();
    let status = child.wait().unwrap();
    assert_eq!(status.signal(), Some(9), "killed while it worked");
    // Fewer files are enough to show it: the rest would take the test long.
    let bench = killed_bench(&anchor);
    let there = bench.on_disk();
    assert!(there.n_files > 1000 && there.n_files < 400_000, "{there:?}");
    let smaller = Bench {
        dir: tempfile::tempdir().unwrap(),
        spec: TreeSpec { total_bytes: 40_000_000, ..bench.spec.clone() },
    };
    let record = smaller.format(RESTART);
    let job = fine(&record);
    assert!(n_done(job, OpKind::Open) > 1000, "files that were not written in full");
    let control = std::fs::read_to_string(bench.anchor().join("vdb_control.file")).unwrap();
    assert!(control.starts_with("when  end "), "{}", &control[..300]);
    assert!(control.contains("directory status 2\ny\ny\nfile status "), "{}", &control[..300]);
    fine(&bench.format(REMOVE));
    assert_eq!(bench.on_disk(), OnDisk { n_folders: 0, n_files: 0, bytes: 0 });
}
