//! Whole runs that verify: what is good passes, what is bad is named, and a later run goes by what
//! an earlier one left.

use std::fs;
use std::path::Path;

use plan::files::Size;
use plan::verify::{PatternPart, VerifyMethod, VerifyPolicy};
use plan::workload::BlockSize;
use plan::{EngineKind, Job, PerDir, Plan, Step};
use record::{JobRecord, Record};
use runner::{Control, RunOptions};

const KIB: u64 = 1 << 10;
const EILSEQ: i32 = 84;

/// A job that writes 256 KiB in blocks of 4 KiB and reads them back.
fn writer(folder: &Path) -> Job {
    let mut job = Job { name: "w".to_owned(), ..Job::default() };
    job.engine.kind = EngineKind::Sync;
    job.workload.access.read = false;
    job.workload.access.write = true;
    job.files.names = vec![folder.join("vf").display().to_string()];
    job.files.size = Some(Size::Bytes(256 * KIB));
    job.verify.method = Some(VerifyMethod::Crc32c);
    job
}

/// The same, reading what an earlier job wrote.
fn reader(folder: &Path) -> Job {
    let mut job = writer(folder);
    job.workload.access.read = true;
    job.workload.access.write = false;
    job
}

fn run_steps(folder: &Path, steps: Vec<Vec<Job>>, control: &Control) -> Record {
    let steps = steps.into_iter().map(|jobs| Step { jobs, ..Step::default() }).collect();
    let plan = Plan { steps, ..Plan::default() };
    let options = RunOptions { aux_dir: Some(folder.to_owned()), ..RunOptions::default() };
    runner::run(&plan, &options, control, &mut |_| {}).expect("the plan can run")
}

fn run(folder: &Path, job: Job) -> Record {
    run_steps(folder, vec![vec![job]], &Control::new())
}

fn only(record: &Record) -> &JobRecord {
    let [job] = &record.jobs[..] else { panic!("one job: {:?}", record.jobs.len()) };
    job
}

#[track_caller]
fn check_good(record: &Record) {
    for job in &record.jobs {
        assert_eq!((job.error_errno, job.error_message.as_str()), (0, ""), "{}", job.name);
    }
}

#[track_caller]
fn check_note(record: &Record, code: &str, part: &str) {
    let note = record.notes.iter().find(|note| note.code == code);
    let note = note.unwrap_or_else(|| panic!("no `{code}` in {:?}", record.notes));
    assert!(note.message.contains(part), "{}", note.message);
}

fn spoil(folder: &Path, at: usize) {
    let path = folder.join("vf");
    let mut bytes = fs::read(&path).unwrap();
    bytes[at] ^= 0xff;
    fs::write(path, bytes).unwrap();
}

#[test]
fn every_method_reads_back_what_it_wrote_in_every_way() {
    let folder = tempfile::tempdir().unwrap();
    for (idx, method) in VerifyMethod::ALL.into_iter().enumerate() {
        let mut job = writer(folder.path());
        job.verify.method = Some(method);
        job.verify.pattern = match idx % 3 {
            _ if matches!(method, VerifyMethod::Pattern | VerifyMethod::PatternHeader) => {
                vec![PatternPart::Bytes(vec![1, 2, 3]), PatternPart::Offset]
            }
            0 => vec![PatternPart::Offset],
            _ => Vec::new(),
        };
        job.verify.interval_bytes = if idx % 2 == 0 { 1024 } else { 0 };
        job.verify.header_offset_bytes = if idx % 4 == 0 { 64 } else { 0 };
        job.workload.access.random = idx % 5 != 0;
        job.workload.access.read = idx % 6 == 1;
        job.verify.backlog = if idx % 3 == 1 { 16 } else { 0 };
        job.verify.n_threads = if idx % 4 == 3 { 2 } else { 0 };
        if idx % 7 == 2 {
            job.workload.block_size = PerDir::all(BlockSize::Range { min: 2048, max: 16384 });
        }
        job.engine.kind = if idx % 2 == 0 { EngineKind::Sync } else { EngineKind::Aio };
        job.load.queue_depth = 8;
        let record = run(folder.path(), job.clone());
        check_good(&record);
        assert!(only(&record).dirs.read.n_ios > 0, "{method:?}");
        job.verify.verify_only = true;
        let again = run(folder.path(), job);
        check_good(&again);
        assert_eq!(again.jobs[0].dirs.write.io_bytes, 0);
        assert!(again.jobs[0].dirs.read.n_ios > 0, "{method:?}");
    }
}

#[test]
fn a_later_step_reads_what_an_earlier_one_wrote() {
    let folder = tempfile::tempdir().unwrap();
    let mut first = writer(folder.path());
    first.verify.do_verify = false;
    let steps = vec![vec![first], vec![reader(folder.path())]];
    let record = run_steps(folder.path(), steps, &Control::new());
    check_good(&record);
    assert_eq!(record.jobs[0].dirs.read.n_ios, 0);
    assert_eq!(record.jobs[1].dirs.read.n_ios, 64);
}

/// Spoils the third block, reads all, and returns the record.
fn find_spoiled(folder: &Path, change: impl Fn(&mut Job)) -> Record {
    check_good(&run(folder, writer(folder)));
    spoil(folder, 2 * 4096 + 1000);
    let mut job = reader(folder);
    change(&mut job);
    run(folder, job)
}

/// fio's words for the spoiled block.
fn message(folder: &Path) -> String {
    format!(
        "crc32c: verify failed at file {} offset 8192, length 4096 \
         (requested block: offset=8192, length=4096, flags=8)",
        folder.join("vf").display()
    )
}

#[test]
fn a_bad_block_fails_the_job_in_fios_words() {
    for n_threads in [0, 3] {
        let folder = tempfile::tempdir().unwrap();
        let record = find_spoiled(folder.path(), |job| job.verify.n_threads = n_threads);
        let job = only(&record);
        assert_eq!(job.error_errno, EILSEQ);
        let wanted = format!(
            "the block at offset 8192 of `{}` fails verification",
            folder.path().join("vf").display()
        );
        assert_eq!(job.error_message, wanted);
        check_note(&record, "verify-failed", &message(folder.path()));
        assert_eq!(record.outcome, record::Outcome::Failed);
        assert_eq!(job.dirs.read.n_ios, 64, "the rest is looked at");
    }
}

#[test]
fn a_job_may_go_on_after_a_bad_block() {
    for n_threads in [0, 3] {
        let folder = tempfile::tempdir().unwrap();
        let record = find_spoiled(folder.path(), |job| {
            job.verify.n_threads = n_threads;
            job.errors.continue_verify = true;
        });
        assert_eq!((only(&record).error_errno, only(&record).n_errors), (EILSEQ, 1));
        check_note(&record, "verify-failed", &message(folder.path()));
    }
}

#[test]
fn a_fatal_bad_block_ends_the_job() {
    let folder = tempfile::tempdir().unwrap();
    let record = find_spoiled(folder.path(), |job| job.verify.fatal = true);
    assert_eq!((only(&record).error_errno, only(&record).dirs.read.n_ios), (EILSEQ, 3));
}

#[test]
fn bad_intervals_are_dumped_beside_what_was_expected() {
    let folder = tempfile::tempdir().unwrap();
    let record = find_spoiled(folder.path(), |job| {
        job.verify.dump = true;
        job.verify.interval_bytes = 1024;
    });
    // The interval is that of the blocks as written: one header per 4 KiB.
    check_note(&record, "verify-failed", "bad header length 4096, wanted 1024");

    let record = find_spoiled(folder.path(), |job| job.verify.dump = true);
    check_note(&record, "verify-failed", "received data dumped as");
    let received = fs::read(folder.path().join("vf.8192.received")).unwrap();
    let expected = fs::read(folder.path().join("vf.8192.expected")).unwrap();
    let differing: Vec<usize> = (0..4096).filter(|&at| received[at] != expected[at]).collect();
    assert_eq!((received.len(), expected.len(), differing), (4096, 4096, vec![1000]));
}

#[test]
fn a_dump_replaces_nothing_where_writing_is_forbidden() {
    let folder = tempfile::tempdir().unwrap();
    check_good(&run(folder.path(), writer(folder.path())));
    spoil(folder.path(), 2 * 4096 + 1000);
    let path = |what: &str| folder.path().join(format!("vf.8192.{what}"));
    fs::write(path("received"), "precious").unwrap();
    let mut job = reader(folder.path());
    job.verify.dump = true;
    let plan = Plan { steps: vec![Step { jobs: vec![job], ..Step::default() }], ..Plan::default() };
    let options = RunOptions {
        aux_dir: Some(folder.path().to_owned()),
        read_only: true,
        ..RunOptions::default()
    };
    let record = runner::run(&plan, &options, &Control::new(), &mut |_| {}).unwrap();
    check_note(&record, "verify-failed", "cannot dump received data as");
    assert_eq!(fs::read(path("received")).unwrap(), b"precious");
    assert_eq!(fs::read(path("expected")).unwrap().len(), 4096);
}

#[test]
fn many_bad_blocks_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("vf"), vec![0; 256 << 10]).unwrap();
    let record = run(folder.path(), reader(folder.path()));
    assert!(only(&record).error_message.starts_with("64 blocks fail verification, the first"));
    check_note(&record, "verify-failed", "\nand 48 more bad blocks");
    let note = record.notes.iter().find(|note| note.code == "verify-failed").unwrap();
    assert_eq!(note.message.lines().count(), 17);
}

#[test]
fn an_interrupted_run_leaves_a_state_that_restricts_the_next() {
    for policy in [VerifyPolicy::Completed, VerifyPolicy::Fsynced] {
        let folder = tempfile::tempdir().unwrap();
        let mut job = writer(folder.path());
        job.workload.access.random = true;
        job.workload.seed_varies = true;
        job.verify.policy = policy;
        job.durability.fsync_every = 7;
        job.limits.n_ios_max = Some(20);
        job.verify.do_verify = false;
        check_good(&run(folder.path(), job.clone()));
        assert!(folder.path().join("local-w-0-verify.state").exists());

        job.limits.n_ios_max = None;
        job.verify.do_verify = true;
        job.verify.verify_only = true;
        job.verify.state_load = true;
        let record = run(folder.path(), job.clone());
        check_good(&record);
        // The last fsync was issued when 14 writes had completed.
        let n_blocks = if policy == VerifyPolicy::Completed { 20 } else { 14 };
        assert_eq!(only(&record).dirs.read.n_ios, n_blocks);

        let mut read = reader(folder.path());
        read.workload = plan::workload::Workload { access: read.workload.access, ..job.workload };
        read.workload.access.random = true;
        read.verify.state_load = true;
        let record = run(folder.path(), read);
        check_good(&record);
        assert_eq!(only(&record).dirs.read.n_ios, n_blocks);
    }
}

#[test]
fn a_stopped_run_saves_its_state_and_says_what_is_open() {
    let folder = tempfile::tempdir().unwrap();
    let mut job = writer(folder.path());
    job.load.rate = PerDir { write: Some(plan::load::Rate::Iops(100)), ..PerDir::default() };
    job.limits.runtime_ns = Some(100_000_000);
    let record = run(folder.path(), job);
    check_good(&record);
    check_note(&record, "verify-incomplete", "`w` ended before ");
    assert!(folder.path().join("local-w-0-verify.state").exists());
}

#[test]
fn a_state_that_cannot_be_used_is_an_error_with_a_next_step() {
    let folder = tempfile::tempdir().unwrap();
    check_good(&run(folder.path(), writer(folder.path())));
    let state = folder.path().join("local-w-0-verify.state");
    let good = fs::read(&state).unwrap();
    let mut damaged = good.clone();
    damaged[30] ^= 1;
    let cases: [(Option<&[u8]>, &str); 4] = [
        (None, "write first with `verify_state_save=1`"),
        (Some(&damaged), "its checksum does not match; drop `verify_state_load`"),
        (Some(&good[..40]), "B long instead of"),
        (Some(b"\x05\0\0\0\0\0\0\0................"), "written by fio (version 5)"),
    ];
    for (bytes, wanted) in cases {
        match bytes {
            Some(bytes) => fs::write(&state, bytes).unwrap(),
            None => fs::remove_file(&state).unwrap(),
        }
        let mut job = reader(folder.path());
        job.verify.state_load = true;
        let record = run(folder.path(), job);
        let job = only(&record);
        assert!(job.error_message.contains(wanted), "{}", job.error_message);
        assert!(job.error_errno != 0 && job.dirs.read.n_ios == 0);
    }
}

#[test]
fn trimmed_blocks_read_back_as_zeros() {
    let folder = tempfile::tempdir().unwrap();
    let mut job = writer(folder.path());
    job.workload.trim_pct = 25;
    job.workload.trim_backlog = 4;
    let record = run(folder.path(), job);
    check_good(&record);
    assert_eq!((only(&record).dirs.trim.n_ios, only(&record).dirs.read.n_ios), (16, 64));
    let bytes = fs::read(folder.path().join("vf")).unwrap();
    let n_zero = bytes.chunks(4096).filter(|block| block.iter().all(|byte| *byte == 0)).count();
    assert_eq!(n_zero, 16);
}

#[test]
fn workers_verify_their_own_files() {
    let folder = tempfile::tempdir().unwrap();
    let mut job = writer(folder.path());
    job.files.names.clear();
    job.files.directories = vec![folder.path().display().to_string()];
    (job.n_workers, job.files.n_files, job.limits.loops) = (3, 2, 2);
    job.workload.access.random = true;
    job.workload.no_repeats = false;
    job.files.io_size = Some(Size::Bytes(512 * KIB));
    let record = run(folder.path(), job);
    check_good(&record);
    assert!(!record.notes.iter().any(|note| note.code == "verify-shared"));
    assert!(folder.path().join("local-w-2-verify.state").exists());
}

#[test]
fn notes_say_what_verification_cannot_do() {
    let folder = tempfile::tempdir().unwrap();
    let mut job = writer(folder.path());
    job.n_workers = 2;
    job.verify.do_verify = false;
    job.verify.state_load = true;
    let record = run(folder.path(), job);
    check_note(&record, "verify-shared", "several workers write the same bytes");
    check_note(&record, "verify-state-unused", "set `verify_only`");

    let mut job = writer(folder.path());
    job.files.names.push(folder.path().join("other").display().to_string());
    job.verify.policy = VerifyPolicy::Fsynced;
    check_note(&run(folder.path(), job), "verify-fsynced-files", "has 2 files");
}

#[test]
fn nothing_is_checked_where_nothing_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let mut job = writer(folder.path());
    job.engine.kind = EngineKind::Null;
    check_good(&run(folder.path(), job));
}

#[test]
fn verifying_threads_need_cpus_that_are_there() {
    let folder = tempfile::tempdir().unwrap();
    let mut job = writer(folder.path());
    job.verify.n_threads = 2;
    job.verify.thread_cpus = vec![0];
    check_good(&run(folder.path(), job.clone()));
    job.verify.thread_cpus = vec![1000];
    let record = run(folder.path(), job);
    assert!(only(&record).error_message.contains("check `verify_async_cpus`"));
}
