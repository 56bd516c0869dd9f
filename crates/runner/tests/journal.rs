//! Whole runs with a journal: what is there is called new, and what is not is named.

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use plan::files::Size;
use plan::workload::BlockSize;
use plan::{EngineKind, Job, PerDir, Plan, Step};
use record::Record;
use runner::{
    Control, ExistingJournal, JournalError, RunError, RunOptions, SectorContent, Validation,
    Verdict, Verification, VerifyOptions, verify_journal,
};

const KIB: u64 = 1 << 10;
const EILSEQ: i32 = 84;

fn validation(journal: Option<PathBuf>) -> Validation {
    let (is_ahead, reads_back) = (journal.is_some(), journal.is_none());
    Validation { journal, is_ahead, existing: ExistingJournal::Refuse, reads_back }
}

/// A folder with a file, and the journal of it.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Place(tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A job that writes 512 KiB twice in random order, 8 blocks of 4 KiB at once.
    fn writer(&self) -> Job {
        let mut job = Job { name: "w".to_owned(), ..Job::default() };
        job.engine.kind = EngineKind::Aio;
        job.load.queue_depth = 8;
        job.workload.access.read = false;
        job.workload.access.write = true;
        job.workload.access.random = true;
        job.files.names = vec![self.path("f").display().to_string()];
        job.files.size = Some(Size::Bytes(512 * KIB));
        job.limits.loops = 2;
        job
    }

    fn reader(&self) -> Job {
        let mut job = self.writer();
        "r".clone_into(&mut job.name);
        job.workload.access.read = true;
        job.workload.access.write = false;
        job
    }

    fn try_run(&self, steps: Vec<Vec<Job>>) -> Result<Record, RunError> {
        let steps = steps.into_iter().map(|jobs| Step { jobs, ..Step::default() }).collect();
        let plan = Plan { steps, ..Plan::default() };
        let validation = Some(validation(Some(self.path("j"))));
        let options = RunOptions { validation, ..RunOptions::default() };
        runner::run(&plan, &options, &Control::new(), &mut |_| {})
    }

    #[track_caller]
    fn run(&self, steps: Vec<Vec<Job>>) -> Record {
        let record = self.try_run(steps).expect("the plan can run");
        for job in &record.jobs {
            assert_eq!((job.error_errno, job.error_message.as_str()), (0, ""), "{}", job.name);
        }
        record
    }

    fn verify(&self) -> Result<Verification, JournalError> {
        verify_journal(&self.path("j"), &VerifyOptions::default(), &Control::new())
    }

    #[track_caller]
    fn verified(&self) -> Verification {
        self.verify().expect("a journal")
    }

    /// Changes bytes of the file.
    fn change(&self, at: u64, bytes: &[u8]) {
        let file = fs::File::options().write(true).open(self.path("f")).unwrap();
        file.write_all_at(bytes, at).unwrap();
    }

    fn read(&self, at: u64, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        fs::File::open(self.path("f")).unwrap().read_exact_at(&mut bytes, at).unwrap();
        bytes
    }
}

/// Counts of a target: known, new, old, lost, torn.
fn counts(found: &Verification) -> (u64, u64, u64, u64, u64) {
    let [it] = &found.targets[..] else { panic!("one target: {found:?}") };
    (it.n_known, it.n_new, it.n_old + it.n_torn_in_flight, it.n_lost, it.n_torn)
}

#[test]
fn what_was_written_in_any_way_is_there() {
    for (idx, kind) in [EngineKind::Uring, EngineKind::Aio, EngineKind::Sync, EngineKind::Mmap]
        .into_iter()
        .enumerate()
    {
        let place = Place::new();
        let mut job = place.writer();
        job.engine.kind = kind;
        job.n_workers = 1 + idx as u32 % 3;
        job.files.direct = idx == 1;
        job.load.offload = idx == 2;
        if idx % 2 == 1 {
            job.workload.access.read = true;
            job.workload.block_size = PerDir::all(BlockSize::Range { min: 4096, max: 65_536 });
        }
        place.run(vec![vec![job.clone()], vec![place.reader()]]);
        let found = place.verified();
        let (n_known, n_new, ..) = counts(&found);
        assert!(found.is_good() && n_known == n_new && n_known > 64, "{kind:?}: {found:?}");
        assert!(found.findings.is_empty() && found.runs.len() == 1, "{found:?}");
    }
}

/// Several workers and jobs, which write and read the same few blocks.
#[test]
fn blocks_that_many_workers_want_are_written_one_after_the_other() {
    let place = Place::new();
    let mut job = place.writer();
    job.workload.access.read = true;
    job.workload.block_size = PerDir::all(BlockSize::Range { min: 4096, max: 16_384 });
    job.files.size = Some(Size::Bytes(64 * KIB));
    job.files.io_size = Some(Size::Bytes(2048 * KIB));
    job.n_workers = 3;
    let mut other = job.clone();
    (other.name, other.engine.kind) = ("other".to_owned(), EngineKind::Sync);
    let record = place.run(vec![vec![job, other]]);
    assert!(record.jobs.iter().all(|job| job.dirs.write.n_ios > 0 && job.dirs.read.n_ios > 0));
    assert!(place.verified().is_good());
}

#[test]
fn what_is_not_there_is_lost_or_torn() {
    let place = Place::new();
    place.run(vec![vec![place.writer()]]);
    let n = 128;
    assert_eq!(counts(&place.verified()), (n, n, 0, 0, 0));
    // One sector that was never written, one byte, a block of another place, a block of before.
    place.change(4096 + 512, &[0; 512]);
    place.change(3 * 4096 + 1000, b"x");
    let other = place.read(9 * 4096, 4096);
    place.change(5 * 4096, &other);
    place.change(7 * 4096, &[0; 4096]);
    let found = place.verified();
    assert_eq!(counts(&found), (n, n - 4, 0, 2, 2));
    let said: Vec<_> = found
        .findings
        .iter()
        .map(|it| {
            assert!(it.judged.is_bad() && it.state.written == 2, "{it:?}");
            let last = it.last.expect("the journal says when");
            assert!(!last.is_latest && last.run == found.runs[0], "{last:?}");
            (it.offset / 4096, it.judged.verdict, it.judged.found.expect("something else"))
        })
        .collect();
    assert_eq!(said[0], (1, Verdict::Torn, (1, SectorContent::Plain)));
    assert_eq!(said[1], (3, Verdict::Torn, (1, SectorContent::Damaged)));
    assert!(
        matches!(said[2], (5, Verdict::Lost, (0, SectorContent::Misplaced(_, 36_864)))),
        "{said:?}"
    );
    assert_eq!(said[3], (7, Verdict::Lost, (0, SectorContent::Plain)));
}

#[test]
fn a_block_of_an_earlier_generation_is_lost() {
    let place = Place::new();
    let mut once = place.writer();
    once.limits.loops = 1;
    let step = |job: &Job| vec![job.clone()];
    let mut keep = once.clone();
    // Between the steps a block is put aside, and put back after them.
    let (kept, target) = (place.path("kept"), place.path("f"));
    let copy = |from: &Path, to: &Path| format!("cp {} {}", from.display(), to.display());
    keep.process.exec_before = Some(copy(&target, &kept));
    let plan = Plan {
        steps: vec![
            Step { jobs: step(&once), ..Step::default() },
            Step { jobs: vec![keep], ..Step::default() },
        ],
        ..Plan::default()
    };
    let options = RunOptions {
        validation: Some(validation(Some(place.path("j")))),
        allow_commands: true,
        log_dir: Some(place.path("")),
        ..RunOptions::default()
    };
    runner::run(&plan, &options, &Control::new(), &mut |_| {}).expect("it runs");
    assert!(place.verified().is_good());
    let before = fs::read(kept).unwrap();
    place.change(6 * 4096, &before[6 * 4096..7 * 4096]);
    let found = place.verified();
    assert_eq!(counts(&found), (128, 127, 0, 1, 0));
    let [finding] = &found.findings[..] else { panic!("{found:?}") };
    let (0, SectorContent::Written(stamp)) = finding.judged.found.unwrap() else {
        panic!("{finding:?}")
    };
    assert_eq!((finding.state.written, stamp.generation), (2, 1));
}

#[test]
fn a_read_of_what_is_not_there_fails_with_its_place() {
    let place = Place::new();
    let mut spoil = place.reader();
    let command = "dd if=/dev/zero bs=4096 seek=4 count=1 conv=notrunc of=";
    spoil.process.exec_before = Some(format!("{command}{}", place.path("f").display()));
    let plan = Plan {
        steps: [vec![place.writer()], vec![spoil]]
            .into_iter()
            .map(|jobs| Step { jobs, ..Step::default() })
            .collect(),
        ..Plan::default()
    };
    let options = RunOptions {
        validation: Some(validation(None)),
        allow_commands: true,
        log_dir: Some(place.path("")),
        ..RunOptions::default()
    };
    let record = runner::run(&plan, &options, &Control::new(), &mut |_| {}).expect("it runs");
    assert_eq!(record.jobs[1].error_errno, EILSEQ);
    let note = record.notes.iter().find(|note| note.code == "verify-failed").expect("a note");
    let expected = "the block at offset 16384 is lost: expected generation 2, found nothing that";
    assert!(note.message.contains(expected), "{}", note.message);
}

#[test]
fn a_journal_is_not_written_over() {
    let place = Place::new();
    fs::write(place.path("j"), "mine").unwrap();
    let Err(RunError::Refused { findings, .. }) = place.try_run(vec![vec![place.writer()]]) else {
        panic!("it ran")
    };
    assert_eq!(findings[0].code, "journal-exists");
    assert_eq!(fs::read(place.path("j")).unwrap(), b"mine");
    assert!(!place.path("f").exists(), "nothing was laid out");
}

#[test]
fn a_torn_journal_says_what_stands_before() {
    let place = Place::new();
    place.run(vec![vec![place.writer()]]);
    let whole = fs::read(place.path("j")).unwrap();
    for cut in [1, 17, 41, 100] {
        fs::write(place.path("j"), &whole[..whole.len() - cut]).unwrap();
        let found = place.verified();
        // The last acknowledgements are gone: those blocks were in flight, as far as it knows.
        assert!(found.is_good() && found.torn_bytes > 0, "{cut}: {found:?}");
        assert!(!found.findings.is_empty() && found.findings.len() <= 16, "{cut}: {found:?}");
    }
    // What is behind a torn end is none of its frames.
    fs::write(place.path("j"), [&whole[..], b"PLJ1 and more PLJ"].concat()).unwrap();
    assert_eq!(place.verified().torn_bytes, 17);
}

#[test]
fn a_damaged_journal_is_no_torn_one() {
    let place = Place::new();
    place.run(vec![vec![place.writer()]]);
    let whole = fs::read(place.path("j")).unwrap();
    let mut damaged = whole.clone();
    damaged[whole.len() / 2] ^= 1;
    fs::write(place.path("j"), &damaged).unwrap();
    assert!(matches!(place.verify(), Err(JournalError::Damaged { .. })));
    for other in [&b""[..], b"#!/bin/sh\n", &whole[1..], &whole[..30]] {
        fs::write(place.path("j"), other).unwrap();
        assert!(matches!(place.verify(), Err(JournalError::NotJournal { .. })), "{other:?}");
    }
    fs::remove_file(place.path("j")).unwrap();
    assert!(matches!(place.verify(), Err(JournalError::Io { .. })));
}

#[test]
fn a_target_that_is_gone_or_elsewhere_is_said() {
    let place = Place::new();
    place.run(vec![vec![place.writer()]]);
    fs::rename(place.path("f"), place.path("g")).unwrap();
    let found = place.verified();
    assert_eq!((found.n_unreadable(), found.is_good()), (128, false));
    let text = |name| place.path(name).display().to_string();
    let remap = vec![(text("f"), text("g"))];
    let options = VerifyOptions { remap };
    let found = verify_journal(&place.path("j"), &options, &Control::new()).unwrap();
    assert!(found.is_good());
    // A file that is too short lost its end.
    fs::File::options().write(true).open(place.path("g")).unwrap().set_len(500 * KIB).unwrap();
    let found = verify_journal(&place.path("j"), &options, &Control::new()).unwrap();
    assert_eq!(counts(&found), (128, 125, 0, 3, 0));
}

#[test]
fn what_cannot_be_validated_is_refused() {
    #[track_caller]
    fn check(change: impl FnOnce(&mut Job), code: &str, part: &str) {
        let place = Place::new();
        let mut job = place.writer();
        change(&mut job);
        let refused = place.try_run(vec![vec![job]]);
        let Err(RunError::Refused { findings, .. }) = refused else { panic!("it ran") };
        let found = findings.iter().find(|it| it.code == code).expect("it is named");
        assert!(found.message.contains(part), "{}", found.message);
        assert!(!place.path("j").exists() && !place.path("f").exists());
    }
    check(|job| job.workload.access.trim = true, "validate-cannot", "trims");
    check(|job| job.engine.kind = EngineKind::Null, "validate-cannot", "moves no data");
    check(|job| job.files.unlink = true, "validate-cannot", "removes its files");
    let method = plan::verify::VerifyMethod::Crc32c;
    check(|job| job.verify.method = Some(method), "validate-cannot", "has `verify`");
    let odd = PerDir::all(BlockSize::Fixed(5000));
    check(|job| job.workload.block_size = odd, "validate-block-size", "multiples of 5000 B");
    check(|job| job.workload.block_unaligned = true, "validate-cannot", "any length");
}
