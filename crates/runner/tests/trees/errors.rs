//! Operations that fail: which are survived, and what they do to the run.

use plan::op::OpKind;
use plan::tree::{Select, SelectOrder};
use plan::{Job, Step};
use record::{Outcome, Record};
use runner::{Control, RunError, RunOptions};

use crate::bench::{Bench, FORMAT, fine, plan, run, sequential, task};

/// A tree whose files were cut behind the back of whoever made it: reads of them move nothing.
fn cut() -> Bench {
    let bench = Bench::new();
    fine(&bench.format(FORMAT));
    for folder in ["vdb.1_1.dir", "vdb.1_2.dir"] {
        for below in ["vdb.2_1.dir", "vdb.2_2.dir"] {
            for file in std::fs::read_dir(bench.anchor().join(folder).join(below)).unwrap() {
                let file = std::fs::File::options().write(true).open(file.unwrap().path());
                file.unwrap().set_len(0).unwrap();
            }
        }
    }
    bench
}

/// Reads every file once, surviving so many errors.
fn reading(bench: &Bench, n_errors_max: u64) -> Job {
    let select = Select { order: SelectOrder::Seq, once: true, ..Select::default() };
    let mut job = bench.task(plan::tree::TreeTask { select, ..sequential(OpKind::Read) }, 1 << 40);
    job.errors.n_errors_max = Some(n_errors_max);
    job
}

/// Runs jobs one after another, each in a step of its own with a name.
fn run_steps(jobs: Vec<Job>) -> Record {
    let mut all = plan(jobs);
    let jobs = std::mem::take(&mut all.steps[0].jobs);
    let step = |job: Job| Step { name: job.name.clone(), jobs: vec![job], ..Step::default() };
    all.steps = jobs.into_iter().map(step).collect();
    runner::run(&all, &RunOptions::default(), &Control::new(), &mut |_| {}).unwrap()
}

#[test]
fn failed_reads_are_survived_until_they_are_too_many() {
    let bench = cut();
    let record = run_steps(vec![reading(&bench, 5)]);
    assert_eq!(record.outcome, Outcome::Failed);
    let errors = &record.steps[0].io_errors;
    assert!((5..=6).contains(&errors.len()), "two workers, and one may be at work: {errors:?}");
    assert!(errors[0].target.contains(".file"), "{}", errors[0].target);
    // 32 files of 8 or 16 KiB by 4 KiB.
    let record = run_steps(vec![reading(&bench, 1000)]);
    assert_eq!(record.outcome, Outcome::Complete);
    let n_blocks = pattern::tree::Tree::new(&bench.spec).unwrap().total_bytes() / 4096;
    assert_eq!(record.jobs[0].n_errors, n_blocks, "each block is tried, not each file");
}

#[test]
fn errors_that_were_survived_fail_the_run_in_the_end_if_asked_to() {
    let bench = cut();
    let mut first = reading(&bench, 1000);
    let record = run_steps(vec![first.clone(), bench.task(task(OpKind::Stat), 10)]);
    assert_eq!((record.outcome, record.steps.len()), (Outcome::Complete, 2));
    first.errors.fails_in_the_end = true;
    let record = run_steps(vec![first, bench.task(task(OpKind::Stat), 10)]);
    assert_eq!((record.outcome, record.steps.len()), (Outcome::Failed, 1));
    assert!(record.jobs[0].n_errors > 30);
    assert!(record.notes.iter().any(|note| note.code == "operations-failed"), "{:?}", record.notes);
}

#[test]
fn a_run_ends_when_the_last_error_is_long_ago() {
    let bench = cut();
    let mut first = reading(&bench, 1000);
    first.errors.quiet_ns = Some(50_000_000);
    // It would go on for an hour.
    let mut other = bench.task(task(OpKind::Stat), 1 << 40);
    other.limits.n_ios_max = None;
    other.limits.runtime_ns = Some(3600 * 1_000_000_000);
    let record = run(vec![first, other]).unwrap();
    assert_eq!(record.outcome, Outcome::Failed);
    let reported = record.notes.iter().any(|note| note.message.contains("the last more than"));
    assert!(reported, "{:?}", record.notes);
}

#[test]
fn what_fails_to_open_ends_the_run_at_once() {
    let bench = cut();
    std::fs::remove_dir_all(bench.anchor().join("vdb.1_1.dir/vdb.2_1.dir")).unwrap();
    std::fs::create_dir(bench.anchor().join("vdb.1_1.dir/vdb.2_1.dir")).unwrap();
    let record = run(vec![reading(&bench, 1000)]).unwrap();
    assert_eq!(record.outcome, Outcome::Failed);
    let message = record.jobs.iter().map(|job| job.error_message.as_str());
    assert!(
        message.clone().any(|text| text.contains("open of `")),
        "{:?}",
        message.collect::<Vec<_>>()
    );
}

#[test]
fn a_run_that_only_reads_refuses_what_changes_a_tree() {
    let bench = Bench::new();
    fine(&bench.format(FORMAT));
    let options = RunOptions { read_only: true, ..RunOptions::default() };
    let run = |job: Job| runner::run(&plan(vec![job]), &options, &Control::new(), &mut |_| {});
    let before = bench.on_disk();
    for operation in [OpKind::Mkdir, OpKind::Rmdir, OpKind::Create, OpKind::Delete, OpKind::Write] {
        let Err(RunError::Refused { findings, .. }) = run(bench.task(task(operation), 10)) else {
            panic!("{operation:?} is not refused");
        };
        let name = operation.name();
        let expected = format!(
            "job `{name}` does `{name}` below `{}`, and writing is forbidden here",
            bench.spec.anchor
        );
        assert_eq!(findings[0].message, expected);
    }
    let Err(RunError::Refused { findings, .. }) =
        run(bench.job("f", 1, plan::tree::Activity::Format(FORMAT)))
    else {
        panic!("a format is not refused");
    };
    assert!(findings[0].message.starts_with("job `f` does `format` below"));
    for operation in [OpKind::Read, OpKind::Stat, OpKind::Open] {
        fine(&run(bench.task(task(operation), 10)).unwrap());
    }
    assert_eq!(bench.on_disk(), before);
}
