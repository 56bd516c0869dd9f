//! What must not happen: nothing of others is touched, and every obstacle has a clear message.

use plan::Plan;
use plan::op::OpKind;
use plan::tree::{Activity, Format, TreeSpec};
use record::Record;
use runner::{Control, RunEvent, RunOptions, TREE_INCOMPLETE, TreePart};

use crate::bench::{Bench, FORMAT, OnDisk, fine, n_done, plan, run, task};

/// Checks that a format is refused with such words, and that the file of others is still there.
#[track_caller]
fn refused(bench: &Bench, format: Format, words: &str) {
    let record = bench.format(format);
    let message = &record.jobs[0].error_message;
    assert!(message.contains(words), "{message}");
}

#[test]
fn what_is_not_of_the_tree_is_left_alone_and_reported() {
    let bench = Bench::new();
    fine(&bench.format(FORMAT));
    let kept = [bench.anchor().join("mine.txt"), bench.anchor().join("vdb.1_1.dir/other")];
    for path in &kept {
        std::fs::write(path, "kept").unwrap();
    }
    let record = bench.format(Format { create: false, ..FORMAT });
    fine(&record);
    for path in &kept {
        assert_eq!(std::fs::read_to_string(path).unwrap(), "kept");
    }
    assert_eq!(bench.on_disk(), OnDisk { n_folders: 1, n_files: 2, bytes: 8 });
    let notes: Vec<&str> = record.notes.iter().map(|note| note.message.as_str()).collect();
    assert!(notes.iter().any(|note| note.contains("1 folders were not removed")), "{notes:?}");
    assert!(notes.iter().any(|note| note.contains("holds 1 things that are not")), "{notes:?}");
    // The rest of it can be made again around them.
    fine(&bench.format(FORMAT));
    assert_eq!(bench.on_disk().n_files, 34);
}

#[test]
fn a_folder_that_was_not_made_by_a_format_is_not_cleaned() {
    let bench = Bench::new();
    std::fs::create_dir_all(bench.anchor().join("vdb.1_1.dir")).unwrap();
    std::fs::write(bench.anchor().join("vdb.1_1.dir/precious"), "kept").unwrap();
    refused(&bench, FORMAT, "no vdb_control.file says that they were made for it");
    std::fs::write(bench.anchor().join("vdb_control.file"), "of another program").unwrap();
    refused(&bench, FORMAT, "was made by another program");
    std::fs::write(bench.anchor().join("vdb_control.file"), "plimsoll tree 1\ndepth=2").unwrap();
    refused(&bench, FORMAT, "numbered files in another order than Vdbench does");
    assert_eq!(bench.on_disk().n_files, 1);
}

#[test]
fn a_part_without_a_control_file_is_not_said_to_be_completed_by_a_format() {
    let bench = Bench::new();
    fine(&bench.format(FORMAT));
    std::fs::remove_dir_all(bench.anchor().join("vdb.1_2.dir/vdb.2_1.dir")).unwrap();
    let remark = || {
        let record = bench.run(vec![bench.task(task(OpKind::Stat), 5)]);
        let notes = record.notes.iter().map(|note| note.message.clone());
        notes.filter(|message| message.contains("is not complete")).collect::<String>()
    };
    assert!(remark().contains("(format=restart) completes it"), "{}", remark());
    std::fs::remove_file(bench.anchor().join("vdb_control.file")).unwrap();
    let reported = remark();
    assert!(
        reported.contains("no format touches them") && !reported.contains("restart"),
        "{reported}"
    );
    refused(&bench, Format { clean: false, ..FORMAT }, "says that they were made for it");
}

#[test]
fn anchors_that_cannot_be_are_refused() {
    let bench = Bench::new();
    let with = |anchor: &str| Bench {
        dir: tempfile::tempdir().unwrap(),
        spec: TreeSpec { anchor: anchor.to_owned(), ..bench.spec.clone() },
    };
    refused(&with("/"), FORMAT, "is the root of all files");
    refused(&with("/tmp/../"), FORMAT, "is the root of all files");
    let file = bench.dir.path().join("file");
    std::fs::write(&file, "kept").unwrap();
    refused(&with(&file.display().to_string()), FORMAT, "is not a folder");
    let link = bench.dir.path().join("link");
    std::os::unix::fs::symlink("/tmp", &link).unwrap();
    refused(&with(&link.display().to_string()), FORMAT, "is a symbolic link");
    let deep = bench.dir.path().join("a/b/c");
    refused(&with(&deep.display().to_string()), FORMAT, "`create_parents = true` in a plan");
    let deep = with(&deep.display().to_string());
    let spec = TreeSpec { create_parents: true, ..deep.spec.clone() };
    fine(&Bench { spec, ..deep }.format(FORMAT));
}

#[test]
fn a_link_in_place_of_a_folder_leads_nowhere() {
    let bench = Bench::new();
    fine(&bench.format(FORMAT));
    let outside = tempfile::tempdir().unwrap();
    std::fs::create_dir(outside.path().join("vdb.2_1.dir")).unwrap();
    let precious = outside.path().join("vdb.2_1.dir/vdb_f0000.file");
    std::fs::write(&precious, "kept").unwrap();
    let folder = bench.anchor().join("vdb.1_1.dir");
    std::fs::remove_dir_all(&folder).unwrap();
    std::os::unix::fs::symlink(outside.path(), &folder).unwrap();
    refused(&bench, FORMAT, "`vdb.1_1.dir` below the anchor is not a folder");
    assert_eq!(std::fs::read_to_string(&precious).unwrap(), "kept");
}

#[test]
fn a_damaged_control_file_is_reported() {
    let bench = Bench::new();
    fine(&bench.format(FORMAT));
    let control = bench.anchor().join("vdb_control.file");
    let text = std::fs::read_to_string(&control).unwrap().replace("= 31", "= 30");
    std::fs::write(&control, text).unwrap();
    refused(&bench, FORMAT, "is damaged");
}

#[test]
fn work_without_files_says_what_is_missing() {
    let bench = Bench::new();
    let record = bench.run(vec![bench.task(task(OpKind::Read), 100)]);
    let message = &record.jobs[0].error_message;
    assert!(message.contains("does not exist, and nothing here makes it"), "{message}");
    assert!(!bench.anchor().exists());
    std::fs::create_dir(bench.anchor()).unwrap();
    let record = bench.run(vec![bench.task(task(OpKind::Read), 100)]);
    let expected = "read: tree `fsd1` has no file that is written in full, and nothing in this \
                    step makes one: 0 of its 32 files exist, 0 are full; let a format make the \
                    tree first";
    assert_eq!(record.jobs[0].error_message, expected);
    // A filter that nothing passes, while there are files: tries end.
    fine(&bench.format(FORMAT));
    let mut of_empty = task(OpKind::Stat);
    of_empty.select.filter = plan::tree::SelectFilter::Empty;
    let record = bench.run(vec![bench.task(of_empty, 100)]);
    let message = &record.jobs[0].error_message;
    assert!(message.contains("10000 tries in a row") || message.contains("tries in a row"));
}

/// A file system of one MiB fills up: the run fails with the file's name, and what was made is
/// removed by the next format.
#[test]
fn a_full_disk_is_reported_and_cleaned() {
    let bench = Bench::new();
    std::fs::create_dir(bench.anchor()).unwrap();
    let mounted = std::process::Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=128k", "tmpfs", &bench.spec.anchor])
        .output();
    if !mounted.is_ok_and(|output| output.status.success()) {
        testing::skipped!("no right to mount a tmpfs");
        return;
    }
    let _unmount = Unmount(&bench.spec.anchor);
    let mut made = Vec::new();
    let job = bench.job("format", 3, Activity::Format(FORMAT));
    let record = reported(&plan(vec![job]), &mut |part| made.push(part));
    // Not all could be written, but all could be made.
    assert_eq!(made, [TreePart::Folders, TreePart::Files]);
    let is_early = |note: &record::Note| {
        note.code == TREE_INCOMPLETE && note.message.contains("but its file system has 1")
    };
    assert!(record.notes.iter().any(is_early), "{:?}", record.notes);
    let failed = record.jobs.iter().find(|job| job.error_errno != 0).unwrap();
    let message = &failed.error_message;
    assert!(message.contains("vdb_f00") && message.contains("no space left"), "{message}");
    let record = bench.format(Format { create: false, ..FORMAT });
    let job = fine(&record);
    assert_eq!((n_done(job, OpKind::Delete), n_done(job, OpKind::Rmdir)), (32, 6));
    let readonly =
        std::process::Command::new("mount").args(["-o", "remount,ro", &bench.spec.anchor]).status();
    if readonly.is_ok_and(|status| status.success()) {
        refused(&bench, FORMAT, "mounted read-only");
        let below = format!("{}/below", bench.spec.anchor);
        let below = Bench { spec: TreeSpec { anchor: below, ..bench.spec.clone() }, ..bench };
        let hint = "Read-only file system; the file system is mounted read-only: name another \
                    directory";
        refused(&below, FORMAT, hint);
    }
}

/// Runs a plan, and hands on which parts of trees are reported to be there.
fn reported(plan: &Plan, made: &mut dyn FnMut(TreePart)) -> Record {
    runner::run(plan, &RunOptions::default(), &Control::new(), &mut |event| {
        if let RunEvent::TreeMade { part, .. } = event {
            made(part);
        }
    })
    .unwrap()
}

#[test]
fn a_format_says_each_part_once() {
    let bench = Bench::new();
    let parts = |format: Format| {
        let mut made = Vec::new();
        let job = bench.job("format", 3, Activity::Format(format));
        fine(&reported(&plan(vec![job]), &mut |part| made.push(part)));
        made
    };
    let restart = Format { clean: false, ..FORMAT };
    let folders = Format { folders_only: true, ..FORMAT };
    let removal = Format { create: false, ..FORMAT };
    assert_eq!(parts(FORMAT), [TreePart::Anchor, TreePart::Folders, TreePart::Files]);
    assert_eq!(parts(FORMAT), [TreePart::Folders, TreePart::Files]);
    assert_eq!(parts(restart), [TreePart::Folders, TreePart::Files]);
    assert_eq!(parts(folders), [TreePart::Folders]);
    assert_eq!(parts(removal), []);
}

/// Unmounts a folder when the test ends, however it ends.
struct Unmount<'a>(&'a str);

impl Drop for Unmount<'_> {
    fn drop(&mut self) {
        let _gone = std::process::Command::new("umount").args(["-l", self.0]).status();
    }
}

#[test]
fn two_structures_in_one_anchor_are_refused() {
    let bench = Bench::new();
    let spec = TreeSpec { name: "fsd2".into(), width: 5, ..bench.spec.clone() };
    let other = Bench { dir: tempfile::tempdir().unwrap(), spec };
    let jobs = vec![bench.task(task(OpKind::Mkdir), 10), other.task(task(OpKind::Mkdir), 10)];
    let record = run(jobs).unwrap();
    let messages: Vec<&str> = record.jobs.iter().map(|job| job.error_message.as_str()).collect();
    assert!(messages[1].contains("trees `fsd1` and `fsd2` differ"), "{messages:?}");
}
