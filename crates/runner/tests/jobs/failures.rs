//! What goes wrong during a run: each failure ends its job with a word on it, and no other job.

use crate::bench::{Bench, command, n_ios};
use record::Outcome;
use runner::{Control, RunEvent};

/// Two jobs that would run for long; the first one ends at once by itself or by failing.
fn with_endless(bench: &Bench, first: &str, options: &str) -> (i32, Outcome) {
    let endless = "ioengine=null\nsize=1g\nruntime=30\ntime_based\nthinktime=1ms\n";
    let job = format!("[first]\n{first}{options}[endless]\n{endless}");
    let record = bench.run(&job);
    assert!(record.elapsed_ns < 20_000_000_000, "the other job was ended, too");
    (record.jobs[1].error_errno, record.outcome)
}

#[test]
fn the_end_of_one_job_may_end_others() {
    let bench = Bench::new();
    bench.file("f", 64);
    let fine = "filename=@/f\n";
    for reach in ["group", "stonewall", "all"] {
        let options = format!("exitall\nexit_what={reach}\n");
        assert_eq!(with_endless(&bench, fine, &options), (0, Outcome::Complete), "{reach}");
    }
    let failing = "filename=@/f\nmax_latency=1ns\n";
    assert_eq!(with_endless(&bench, failing, "exitall_on_error\n"), (0, Outcome::Failed));
}

#[test]
fn a_latency_above_the_maximum_ends_its_job() {
    let bench = Bench::new();
    bench.file("f", 64);
    let record = bench.run("[a]\nfilename=@/f\nmax_latency=1ns\n[b]\nfilename=@/f\n");
    assert_eq!((record.jobs[0].error_errno, n_ios(&record.jobs[1])), (libc::ETIMEDOUT, 16));
    assert!(record.jobs[0].error_message.contains("max_latency"));
}

#[test]
fn a_rate_below_the_minimum_ends_its_job() {
    let bench = Bench::new();
    let slow = "ioengine=null\nsize=1g\nruntime=20\nthinktime=5ms\nrate_cycle=100\n";
    for minimum in ["rate_iops_min=100000", "rate_min=1g"] {
        let record = bench.run(&format!("[a]\n{slow}{minimum}\n"));
        assert_eq!((record.jobs[0].error_errno, record.outcome), (libc::EIO, Outcome::Failed));
        assert!(record.jobs[0].error_message.contains("the rate fell below"));
    }
    let record = bench.run("[a]\nioengine=null\nsize=64m\nrate_iops_min=10\nrate_cycle=100\n");
    assert_eq!(record.jobs[0].error_errno, 0);
}

#[test]
fn a_read_beyond_the_end_is_an_error_with_its_place() {
    let bench = Bench::new();
    bench.file("f", 64);
    let cut = "exec_prerun=truncate -s 30000 @/f\n";
    let record = bench.run(&format!("[a]\nfilename=@/f\n{cut}"));
    let job = &record.jobs[0];
    assert_eq!((job.error_errno, job.dirs.read.short_ios), (libc::EIO, 1));
    assert!(job.error_message.contains("offset 30000 of"), "{}", job.error_message);
    assert_eq!(n_ios(job), 7);
}

/// A loop device on a file of this many MiB.
struct Loop(String);

impl Loop {
    fn new(bench: &Bench, mib: usize) -> Option<Loop> {
        let file = bench.file("disk", mib << 10);
        Some(Loop(command(&["losetup", "--show", "-f", file.to_str()?])?))
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        command(&["losetup", "-d", &self.0]);
    }
}

#[test]
fn a_device_that_fails_ends_its_job_and_no_other() {
    let bench = Bench::new();
    let Some(device) = Loop::new(&bench, 4) else {
        testing::skipped!("no loop device can be made here");
        return;
    };
    bench.file("f", 64);
    // What is below the device vanishes: reads of it fail with EIO.
    let cut = "exec_prerun=truncate -s 1m @/disk\n";
    for engine in ["psync", "libaio", "io_uring"] {
        let job = format!(
            "[a]\nfilename={}\ndirect=1\nioengine={engine}\niodepth=4\n{cut}[b]\nfilename=@/f\n",
            device.0
        );
        let record = bench.run(&job);
        let (failed, fine) = (&record.jobs[0], &record.jobs[1]);
        assert_eq!((failed.error_errno, record.outcome), (libc::EIO, Outcome::Failed), "{engine}");
        assert!(failed.error_message.contains(&device.0), "{}", failed.error_message);
        assert_eq!((fine.error_errno, n_ios(fine)), (0, 16));
        let record = bench
            .run(&format!("{}continue_on_error=all\n", job.replace("[b]\nfilename=@/f\n", "")));
        let job = &record.jobs[0];
        assert_eq!(record.outcome, Outcome::Complete, "{engine} {}", job.error_message);
        assert_eq!(n_ios(job) + job.n_errors, 1024);
        assert_eq!(job.dirs.read.errors[&libc::EIO], job.n_errors);
        assert_eq!(job.error_errno, libc::EIO, "the first error is reported");
    }
    let record = bench
        .run(&format!("[a]\nfilename={}\ndirect=1\nignore_error=EIO\nerror_dump=1\n", device.0));
    let reported = record.notes.iter().filter(|note| note.code == "io-error").count() as u64;
    assert_eq!(reported, record.jobs[0].n_errors.min(1000), "each is reported");
    let note = record.notes.iter().find(|note| note.code == "io-error").expect("some");
    assert!(note.message.contains("read of 4096 B at offset 1048576 of"), "{note:?}");
    assert_eq!((record.outcome, record.jobs[0].n_errors > 0), (Outcome::Complete, true));
}

#[test]
fn a_read_only_target_fails_its_job_and_no_other() {
    let bench = Bench::new();
    let folder = bench.path("ro");
    std::fs::create_dir(&folder).unwrap();
    let at = folder.to_str().unwrap();
    if command(&["mount", "-t", "tmpfs", "-o", "ro", "none", at]).is_none() {
        testing::skipped!("nothing can be mounted here");
        return;
    }
    let record = bench
        .run("[a]\nfilename=@/ro/n\nrw=write\nsize=4k\n[b]\nfilename=@/n\nrw=write\nsize=4k\n");
    command(&["umount", at]).expect("it was mounted");
    let errors: Vec<_> = record.jobs.iter().map(|job| job.error_errno).collect();
    assert_eq!((record.outcome, errors), (Outcome::Failed, vec![libc::EROFS, 0]));
    assert!(record.jobs[0].error_message.contains("read-only"), "{record:?}");
}

#[test]
fn a_second_request_to_stop_does_not_wait() {
    let bench = Bench::new();
    let control = Control::new();
    let job = "[a]\nioengine=null\nsize=1g\nruntime=20\ntime_based\nthinktime=1ms\n";
    let record = bench.run_with(job, &control, &mut |event| {
        if matches!(event, RunEvent::Status(_)) {
            control.request_stop();
        }
    });
    assert_eq!(record.outcome, Outcome::Interrupted);
    assert!(n_ios(&record.jobs[0]) > 0, "what was measured is there");
}

#[test]
fn a_worker_that_is_left_at_once_has_what_it_had_counted() {
    let bench = Bench::new();
    let control = Control::new();
    let job = "[a]\nioengine=null\nsize=1g\nruntime=20\ntime_based\nthinktime=1ms\n";
    let record = bench.run_with(job, &control, &mut |event| {
        if matches!(event, RunEvent::Status(_)) {
            control.request_stop();
            control.request_stop();
        }
    });
    let job = &record.jobs[0];
    assert_eq!((record.outcome, job.error_errno), (Outcome::Interrupted, libc::ECANCELED));
    assert!(job.error_message.starts_with("stopped at once"), "{}", job.error_message);
    assert!(n_ios(job) > 0 && job.runtime_ns > 0, "{} I/Os in {} ns", n_ios(job), job.runtime_ns);
}
