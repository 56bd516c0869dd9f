//! How files come, are shared and go.

use std::os::unix::fs::MetadataExt;

use crate::bench::{Bench, command, n_ios};
use record::Outcome;
use runner::{Control, RunEvent};

#[test]
fn files_are_removed_at_the_end_of_their_job() {
    let bench = Bench::new();
    let record =
        bench.run("[a]\ndirectory=@\nnrfiles=3\nsize=48k\nunlink=1\n[b]\nfilename=@/g\nsize=4k\n");
    assert_eq!(record.outcome, Outcome::Complete);
    assert!((0..3).all(|n| !bench.exists(&format!("a.0.{n}"))));
    assert!(bench.exists("g"), "the other job's file stays");
}

#[test]
fn each_pass_makes_its_files_anew() {
    for engine in ["psync", "libaio", "io_uring"] {
        let bench = Bench::new();
        let record = bench.run(&format!(
            "[a]\nfilename=@/n\nsize=64k\nrw=write\nunlink_each_loop=1\nloops=3\niodepth=4\n\
             ioengine={engine}\n"
        ));
        assert_eq!(record.jobs[0].error_message, "", "{engine}");
        assert_eq!(n_ios(&record.jobs[0]), 48, "{engine}");
        assert!(bench.exists("n"), "{engine}: those of the last pass stay");
    }
}

#[test]
fn files_to_look_at_or_to_remove_have_their_size_and_their_bytes() {
    for engine in ["filestat", "filedelete"] {
        let bench = Bench::new();
        let made = |name: &str| {
            let facts = std::fs::metadata(bench.path(name)).unwrap();
            (facts.len(), facts.blocks() > 0)
        };
        let job = format!("ioengine={engine}\ncreate_only=1\ncreate_fsync=1\n");
        let record = bench.run(&format!("[a]\n{job}directory=@\nnrfiles=2\nfilesize=10000\n"));
        assert_eq!(record.outcome, Outcome::Complete, "{engine}");
        assert_eq!([made("a.0.0"), made("a.0.1")], [(10_000, true); 2], "{engine}");
        bench.run(&format!("[b]\n{job}filename=@/b\nsize=64k\nrw=write\nfallocate=truncate\n"));
        assert_eq!(made("b"), (64 << 10, false), "{engine}: nothing is written for a writer");
        // What is there stays as it is.
        bench.file("c", 4);
        bench.run(&format!("[c]\n{job}filename=@/c\nsize=64k\n"));
        assert_eq!(made("c").0, 4 << 10, "{engine}");
        bench.run(&format!("[d]\n{job}filename=@/d\n"));
        assert_eq!(made("d"), (0, false), "{engine}: no size, no bytes");
    }
}

#[test]
fn what_is_appended_through_a_mapping_is_laid_out_before() {
    let bench = Bench::new();
    bench.file("f", 64);
    let record = bench.run("[a]\nioengine=mmap\nrw=write\nfile_append=1\nfilename=@/f\nsize=32k\n");
    assert_eq!(record.jobs[0].error_message, "");
    assert_eq!(record.jobs[0].dirs.write.io_bytes, 32 << 10);
    assert_eq!(std::fs::metadata(bench.path("f")).unwrap().len(), 96 << 10);
}

#[test]
fn a_read_that_reserves_space_may_write_to_its_file() {
    let bench = Bench::new();
    let record = bench.run("[a]\nioengine=falloc\nrw=read\nfilename=@/n\nsize=64k\n");
    assert_eq!(record.jobs[0].error_message, "");
    assert_eq!(n_ios(&record.jobs[0]), 16);
}

#[test]
fn found_files_are_all_used_and_nothing_is_made() {
    let bench = Bench::new();
    bench.file("d/x", 64);
    bench.file("d/e/y", 32);
    let record = bench.run("[a]\nopendir=@/d\n");
    assert_eq!(record.jobs[0].dirs.read.io_bytes, 96 << 10);
    assert_eq!(record.jobs[0].targets.len(), 2);
    let findings = bench.refusal("[a]\nopendir=@/nowhere\n");
    assert!(findings[0].message.contains("cannot read the folder"), "{findings:?}");
    std::fs::create_dir(bench.path("empty")).unwrap();
    let findings = bench.refusal("[a]\nopendir=@/empty\n");
    assert!(findings[0].message.contains("finds no files"), "{findings:?}");
}

#[test]
fn an_interrupted_layout_does_not_look_complete_and_is_completed_later() {
    let bench = Bench::new();
    let job = "[a]\nfilename=@/n\nsize=32m\nbs=1m\n";
    let control = Control::new();
    let mut n_seen = 0;
    let record = bench.run_with(job, &control, &mut |event| {
        if let RunEvent::Layout { done_bytes, total_bytes, is_last, .. } = event {
            assert!(done_bytes <= total_bytes && !is_last);
            n_seen += 1;
            if n_seen == 5 {
                control.request_stop();
            }
        }
    });
    assert_eq!(record.outcome, Outcome::Interrupted);
    assert_eq!(n_ios(&record.jobs[0]), 0);
    assert_eq!(std::fs::metadata(bench.path("n")).unwrap().len(), 5 << 20);
    let mut first_total = None;
    let record = bench.run_with(job, &Control::new(), &mut |event| {
        if let RunEvent::Layout { total_bytes, .. } = event {
            first_total.get_or_insert(total_bytes);
        }
    });
    assert_eq!(first_total, Some(27 << 20), "only the rest is written");
    assert_eq!(record.jobs[0].dirs.read.io_bytes, 32 << 20);
}

#[test]
fn workers_take_turns_on_a_locked_file() {
    let bench = Bench::new();
    bench.file("f", 256);
    for lock in ["exclusive", "readwrite"] {
        for engine in ["psync", "io_uring"] {
            let record = bench.run(&format!(
                "[a]\nfilename=@/f\nrw=randrw\nlockfile={lock}\nnumjobs=4\niodepth=4\n\
                 ioengine={engine}\n"
            ));
            let total: u64 = record.jobs.iter().map(n_ios).sum();
            assert_eq!((total, record.outcome), (256, Outcome::Complete), "{lock} {engine}");
        }
    }
}

#[test]
fn a_device_is_filled_and_that_is_no_error() {
    let bench = Bench::new();
    let folder = bench.path("small");
    std::fs::create_dir(&folder).unwrap();
    let at = folder.to_str().unwrap();
    if command(&["mount", "-t", "tmpfs", "-o", "size=1m", "none", at]).is_none() {
        testing::skipped!("nothing can be mounted here");
        return;
    }
    let filled = bench.run("[a]\nfilename=@/small/n\nrw=write\nfill_device=1\nsize=1g\n");
    let _ = std::fs::remove_file(folder.join("n"));
    let full = bench.run(
        "[a]\nfilename=@/small/n\nrw=write\nsize=4m\nfallocate=none\n[b]\nioengine=null\nsize=1m\n",
    );
    command(&["umount", at]).expect("it was mounted");
    assert_eq!((filled.jobs[0].error_errno, filled.outcome), (0, Outcome::Complete));
    assert_eq!(filled.jobs[0].dirs.write.io_bytes, 1 << 20);
    assert_eq!((full.jobs[0].error_errno, full.outcome), (libc::ENOSPC, Outcome::Failed));
    assert!(full.jobs[0].error_message.contains("No space left"), "{full:?}");
    assert_eq!(full.jobs[0].dirs.write.io_bytes, 1 << 20, "what fitted is reported");
    assert_eq!((full.jobs[1].error_errno, n_ios(&full.jobs[1])), (0, 256));
}

#[test]
fn a_later_job_knows_what_an_earlier_one_makes() {
    let bench = Bench::new();
    let record = bench.run(
        "[a]\nfilename=@/n\nrw=write\nsize=64k\nbuffer_pattern=0x42\n\
         [b]\nstonewall\nfilename=@/n\n",
    );
    assert_eq!(record.jobs[1].dirs.read.io_bytes, 64 << 10);
    assert!(std::fs::read(bench.path("n")).unwrap().iter().all(|byte| *byte == 0x42));
}

#[test]
fn reading_a_sparse_file_is_remarked_on() {
    let bench = Bench::new();
    let file = std::fs::File::create(bench.path("f")).unwrap();
    file.set_len(1 << 20).unwrap();
    let record = bench.run("[a]\nfilename=@/f\n");
    assert!(record.notes.iter().any(|note| note.code == "target-sparse"), "{:?}", record.notes);
    bench.file("g", 1024);
    let record = bench.run("[a]\nfilename=@/g\n");
    assert!(record.notes.is_empty(), "{:?}", record.notes);
}

#[test]
fn space_is_reserved_as_asked() {
    for (mode, size, has_space) in
        [("none", 0, false), ("truncate", 1 << 20, false), ("native", 1 << 20, true)]
    {
        let bench = Bench::new();
        bench.run(&format!(
            "[a]\nfilename=@/n\nsize=1m\nrw=write\nnumber_ios=0\nio_size=4k\noffset=0\n\
             fallocate={mode}\n"
        ));
        let facts = std::fs::metadata(bench.path("n")).unwrap();
        assert_eq!(facts.len().max(4096), size.max(4096), "{mode}");
        assert_eq!(facts.blocks() * 512 >= 1 << 20, has_space, "{mode}");
    }
}

#[test]
fn a_new_file_is_written_through_a_mapping_however_space_is_reserved() {
    for fallocate in ["none", "native", "posix", "keep", "truncate"] {
        let bench = Bench::new();
        let record = bench.run(&format!(
            "[j]\nioengine=mmap\nfilename=@/new\nrw=write\nsize=256k\nbs=4k\n\
             fallocate={fallocate}\n"
        ));
        let job = &record.jobs[0];
        assert_eq!((job.error_message.as_str(), n_ios(job)), ("", 64), "{fallocate}");
        let bytes = std::fs::read(bench.path("new")).expect("it was made");
        assert!(bytes.len() == 256 << 10 && bytes.iter().any(|byte| *byte != 0), "{fallocate}");
    }
}

#[test]
fn workers_that_walk_together_write_every_block_once() {
    let bench = Bench::new();
    let mut plan = bench.plan(
        "[a]\nfilename=@/n\nsize=16m\nbs=4k\nrw=write\nioengine=io_uring\niodepth=4\nnumjobs=3\n\
         group_reporting=1\ntime_based=1\nruntime=60\nfallocate=none\n",
    );
    let job = &mut plan.steps[0].jobs[0];
    (job.load.walks_together, job.workload.ends_with_region) = (true, true);
    let options = runner::RunOptions::default();
    let record = runner::run(&plan, &options, &Control::new(), &mut |_| {}).expect("it runs");
    assert_eq!(record.outcome, Outcome::Complete);
    assert_eq!(record.jobs.iter().map(n_ios).sum::<u64>(), 4096);
    let bytes = std::fs::read(bench.path("n")).expect("it was made");
    assert_eq!(bytes.len(), 16 << 20);
    assert!(bytes.chunks(4096).all(|block| block.iter().any(|byte| *byte != 0)));
    assert!(record.elapsed_ns < 50_000_000_000, "it ends with the region");
}

#[test]
fn a_share_of_a_size_is_that_of_each_file() {
    let bench = Bench::new();
    let record = bench.run("[a]\nrw=write\nbs=4k\nfilename=@/f\nfilesize=512k\nsize=50%\n");
    assert_eq!(n_ios(&record.jobs[0]), 64);
    assert_eq!(std::fs::metadata(bench.path("f")).expect("it was made").len(), 256 << 10);
}
