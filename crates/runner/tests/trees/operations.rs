//! Each operation: its counts agree with what is on disk.

use plan::op::OpKind;
use plan::tree::{FileIo, Select, SelectFilter, SelectOrder, StopAfter, TreeSpec, TreeTask};

use crate::bench::{Bench, FORMAT, OnDisk, fine, n_done, on_disk, sequential, task};

fn once(operation: OpKind) -> TreeTask {
    let select = Select { order: SelectOrder::Seq, once: true, ..Select::default() };
    TreeTask { select, ..task(operation) }
}

/// A tree that is made and emptied again by operations alone.
#[test]
fn a_tree_is_made_and_removed_by_operations() {
    let bench = Bench::new();
    let run = |task: TreeTask| {
        let record = bench.run(vec![bench.task(task.clone(), u64::MAX)]);
        n_done(fine(&record), task.operation)
    };
    assert_eq!(run(task(OpKind::Mkdir)), 6);
    assert_eq!(bench.on_disk(), OnDisk { n_folders: 6, n_files: 0, bytes: 0 });
    assert_eq!(run(task(OpKind::Create)), 32);
    assert_eq!(bench.on_disk(), OnDisk { n_folders: 6, n_files: 32, bytes: 0 });
    assert_eq!(run(task(OpKind::Delete)), 32);
    assert_eq!(bench.on_disk(), OnDisk { n_folders: 6, n_files: 0, bytes: 0 });
    assert_eq!(run(task(OpKind::Rmdir)), 6);
    assert_eq!(bench.on_disk(), OnDisk { n_folders: 0, n_files: 0, bytes: 0 });
}

#[test]
fn files_are_looked_at_and_touched() {
    let bench = Bench::new();
    fine(&bench.format(FORMAT));
    let before = bench.on_disk();
    for operation in [OpKind::Stat, OpKind::Setattr, OpKind::Access] {
        let record = bench.run(vec![bench.task(once(operation), u64::MAX)]);
        let job = fine(&record);
        assert_eq!((n_done(job, operation), job.series.len()), (32, 1), "{operation:?}");
        assert_eq!(job.dirs.read.n_ios, 32);
    }
    for operation in [OpKind::Open, OpKind::Close] {
        let record = bench.run(vec![bench.task(once(operation), u64::MAX)]);
        let job = fine(&record);
        assert_eq!((n_done(job, OpKind::Open), n_done(job, OpKind::Close)), (32, 32));
        assert_eq!(job.dirs.read.n_ios, 32, "either is asked for, not both");
    }
    assert_eq!(bench.on_disk(), before);
}

#[test]
fn files_are_read_from_start_to_end() {
    let bench = Bench::new();
    fine(&bench.format(FORMAT));
    let read = TreeTask { select: once(OpKind::Read).select, ..sequential(OpKind::Read) };
    let record = bench.run(vec![bench.task(read, u64::MAX)]);
    let job = fine(&record);
    let bytes = bench.on_disk().bytes;
    assert_eq!(job.dirs.read.io_bytes, bytes);
    assert_eq!(n_done(job, OpKind::Read), bytes / 4096);
    assert_eq!((n_done(job, OpKind::Open), n_done(job, OpKind::Close)), (32, 32));
}

#[test]
fn files_are_written_where_there_are_none() {
    let bench = Bench::new();
    fine(&bench.run(vec![bench.task(task(OpKind::Mkdir), u64::MAX)]));
    let write = TreeTask { select: once(OpKind::Write).select, ..sequential(OpKind::Write) };
    let record = bench.run(vec![bench.task(write, u64::MAX)]);
    let job = fine(&record);
    let there = bench.on_disk();
    assert_eq!((there.n_files, there.bytes), (32, job.dirs.write.io_bytes));
    assert_eq!((n_done(job, OpKind::Create), n_done(job, OpKind::Open)), (32, 32));
    // They can be read now.
    let read = TreeTask { select: once(OpKind::Read).select, ..sequential(OpKind::Read) };
    let record = bench.run(vec![bench.task(read, u64::MAX)]);
    assert_eq!(fine(&record).dirs.read.io_bytes, there.bytes);
}

#[test]
fn files_are_removed_before_they_are_written_again() {
    let bench = Bench::new();
    fine(&bench.format(FORMAT));
    let before = bench.on_disk();
    let io = FileIo::Sequential { nonzero: false, delete: true };
    let record = bench.run(vec![bench.task(TreeTask { io, ..once(OpKind::Write) }, u64::MAX)]);
    let job = fine(&record);
    assert_eq!((n_done(job, OpKind::Delete), n_done(job, OpKind::Create)), (32, 32));
    assert_eq!(bench.on_disk(), before);
}

#[test]
fn a_file_is_left_after_so_many_ios() {
    let bench = Bench::new();
    fine(&bench.format(FORMAT));
    let stop_after = Some(StopAfter::Ios(20));
    let mixed = TreeTask { read_pct: Some(50.0), stop_after, ..task(OpKind::Read) };
    let record = bench.run(vec![bench.task(mixed, 4000)]);
    let job = fine(&record);
    let (reads, writes) = (n_done(job, OpKind::Read), n_done(job, OpKind::Write));
    assert_eq!((reads + writes, n_done(job, OpKind::Open)), (4000, 200));
    // A fair coin falls on one side 1,800 to 2,200 times of 4,000 but once in 10^9 runs.
    assert!(reads.abs_diff(2000) < 200, "{reads}");
    let half = TreeTask { stop_after: Some(StopAfter::Pct(50.0)), ..once(OpKind::Read) };
    let record = bench.run(vec![bench.task(half, u64::MAX)]);
    assert_eq!(fine(&record).dirs.read.io_bytes, bench.on_disk().bytes / 2);
}

#[test]
fn only_files_that_pass_the_filter_are_taken() {
    let bench = Bench::new();
    fine(&bench.format(FORMAT));
    let of = |filter| {
        let select = Select { filter, ..once(OpKind::Stat).select };
        let record = bench.run(vec![bench.task(TreeTask { select, ..task(OpKind::Stat) }, 1000)]);
        n_done(fine(&record), OpKind::Stat)
    };
    assert_eq!((of(SelectFilter::Full), of(SelectFilter::Empty)), (32, 0));
    // Ten files are made anew and stay empty.
    fine(&bench.run(vec![bench.task(task(OpKind::Delete), 10)]));
    fine(&bench.run(vec![bench.task(task(OpKind::Create), 10)]));
    assert_eq!((of(SelectFilter::Full), of(SelectFilter::Empty)), (22, 10));
    assert_eq!((of(SelectFilter::NotFull), of(SelectFilter::Any)), (10, 32));
}

#[test]
fn files_are_copied_and_moved_to_another_tree() {
    let bench = Bench::new();
    fine(&bench.format(FORMAT));
    let source = bench.on_disk();
    let target = TreeSpec {
        name: "fsd2".into(),
        anchor: bench.dir.path().join("target").display().to_string(),
        ..bench.spec.clone()
    };
    let target_bench = Bench { dir: tempfile::tempdir().unwrap(), spec: target.clone() };
    fine(&target_bench.run(vec![target_bench.task(task(OpKind::Mkdir), u64::MAX)]));
    let to_target = |operation| {
        let mut job = bench.task(once(operation), u64::MAX);
        job.tree.as_mut().unwrap().target = Some(target.clone());
        job
    };
    let record = bench.run(vec![to_target(OpKind::Copy)]);
    assert_eq!(n_done(fine(&record), OpKind::Copy), 32);
    assert_eq!((bench.on_disk(), on_disk(&target_bench.anchor())), (source, source));
    let record = bench.run(vec![to_target(OpKind::Move)]);
    assert_eq!(n_done(fine(&record), OpKind::Move), 32);
    assert_eq!(bench.on_disk(), OnDisk { n_files: 0, bytes: 0, ..source });
    assert_eq!(on_disk(&target_bench.anchor()), source);
}

/// Makers, removers, readers and writers at once, and what is left agrees with the counts.
#[test]
fn many_operations_at_once_keep_the_counts() {
    let bench = Bench::new();
    fine(&bench.format(FORMAT));
    let before = bench.on_disk();
    let mut jobs: Vec<_> = [OpKind::Create, OpKind::Delete, OpKind::Stat, OpKind::Mkdir]
        .map(|operation| bench.job(operation.name(), 2, activity(task(operation))))
        .into();
    jobs.push(bench.job("write", 2, activity(sequential(OpKind::Write))));
    jobs.push(bench.job("rmdir", 1, activity(task(OpKind::Rmdir))));
    for job in &mut jobs {
        job.limits.runtime_ns = Some(500_000_000);
    }
    let record = bench.run(jobs);
    fine(&record);
    let n = |kind| record.jobs.iter().map(|job| n_done(job, kind)).sum::<u64>() as i64;
    let there = bench.on_disk();
    let made = n(OpKind::Create) - n(OpKind::Delete);
    assert_eq!(there.n_files as i64, before.n_files as i64 + made);
    let made = n(OpKind::Mkdir) - n(OpKind::Rmdir);
    assert_eq!(there.n_folders as i64, before.n_folders as i64 + made);
    // The control file knows the same: a format that completes makes what is missing.
    let restart = plan::tree::Format { clean: false, ..FORMAT };
    let record = bench.format(restart);
    let made = n_done(fine(&record), OpKind::Create);
    assert_eq!(made as usize, 32 - there.n_files);
    assert_eq!(bench.on_disk(), before);
}

fn activity(task: TreeTask) -> plan::tree::Activity {
    plan::tree::Activity::Operations(vec![task])
}
