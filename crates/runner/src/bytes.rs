//! The bytes behind a worker's operations: fills what is written, checks what is read.

use std::path::PathBuf;
use std::sync::Arc;

use engine::Engine;
use pattern::verify::{BlockFacts, Verifier, VerifyConfigError};
use pattern::{Contents, ContentsSpec, Refresh};
use plan::Job;
use plan::op::{BufId, Op};
use plan::tree::IN_TARGET;
use units::system_text;
use worker::{Data, LateFailures, ReadFacts, WriteFacts};

use crate::verify_check::{BadBlocks, Checker, Dumps, EILSEQ};
use crate::verify_pool::CheckPool;

/// Why the contents of a job cannot be made or checked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FillerError {
    /// The settings do not fit together.
    #[error(transparent)]
    Config(#[from] VerifyConfigError),
    /// Verifying threads cannot be started.
    #[error(
        "cannot start the threads of `verify_async`: {}; check `verify_async_cpus`",
        system_text(.0)
    )]
    Threads(#[from] std::io::Error),
}

/// Fills and checks the buffers of one worker.
#[derive(Debug)]
pub(crate) struct Filler {
    job: Arc<Job>,
    contents: Contents,
    refresh: Refresh,
    checker: Option<Arc<Checker>>,
    pool: Option<CheckPool>,
    /// Verified blocks compress as the job asks; otherwise they are random or the pattern.
    sealed_contents: bool,
    /// Distance of a tree's files from each other if contents depend on the place; else 0.
    spacing_bytes: u64,
    worker_number: u16,
    bad: BadBlocks,
}

impl Filler {
    /// Makes the filler of a worker. `targets` names its files; blocks found bad are dumped as
    /// `dumps` says if the job asks for it.
    ///
    /// # Errors
    /// When the job's blocks cannot be verified as it asks.
    pub(crate) fn new(
        job: &Arc<Job>,
        spec: ContentsSpec,
        worker_number: u16,
        targets: Vec<PathBuf>,
        dumps: Dumps,
    ) -> Result<Self, FillerError> {
        let contents = Contents::from_buffers(&job.buffers, spec);
        let verify = &job.verify;
        let mut checker = None;
        let mut pool = None;
        if verify.method.is_some() {
            let verifier = Verifier::new(verify, BlockFacts::of(&job.workload))?;
            let dumps = verify.dump.then_some(dumps);
            let shared = Arc::new(Checker::new(verifier, targets, dumps));
            if verify.n_threads > 0 {
                let shared = Arc::clone(&shared);
                pool = Some(CheckPool::start(shared, verify.n_threads, &verify.thread_cpus)?);
            }
            checker = Some(shared);
        }
        Ok(Filler {
            refresh: contents.refresh(),
            contents,
            checker,
            pool,
            sealed_contents: job.buffers.compress_pct.is_some() && verify.pattern.is_empty(),
            spacing_bytes: spacing_bytes(job),
            worker_number,
            bad: BadBlocks::default(),
            job: Arc::clone(job),
        })
    }

    /// Returns whether operations need this filler at all once the buffers are filled.
    pub(crate) fn is_needed(&self) -> bool {
        self.checker.is_some() || (self.job.access().write && self.refresh != Refresh::Never)
    }

    /// Fills every buffer before the run.
    pub(crate) fn fill_all(&self, engine: &mut dyn Engine) {
        if !self.job.access().write {
            return;
        }
        let arena = engine.arena();
        for buf_idx in 0..arena.n_buffers() {
            let len = arena.buffer_bytes();
            // SAFETY: nothing has been handed over yet.
            let buf = unsafe { arena.slice_mut(BufId(buf_idx), len) };
            self.contents.fill(buf, u64::from(buf_idx) * u64::from(len), 0);
        }
    }

    /// Waits for the verifying threads and returns the blocks found bad, in words.
    pub(crate) fn finish(&mut self) -> BadBlocks {
        if let Some(pool) = self.pool.take() {
            self.bad.append(pool.finish());
        }
        std::mem::take(&mut self.bad)
    }

    fn write(&self, block: &mut [u8], op: &Op, facts: WriteFacts) {
        let Some(checker) = &self.checker else {
            let place = op.offset + u64::from(op.file.0 & !IN_TARGET) * self.spacing_bytes;
            match self.refresh {
                Refresh::Never => {}
                Refresh::Scramble => self.contents.scramble(block, place, facts.number),
                Refresh::Fill => self.contents.fill(block, place, facts.number),
            }
            return;
        };
        let header = pattern::verify::WriteFacts {
            offset: op.offset,
            seed: facts.seed,
            number_io: facts.number,
            time_s: (facts.at_ns / 1_000_000_000) as u32,
            time_ns: (facts.at_ns % 1_000_000_000) as u32,
            worker: self.worker_number,
        };
        if self.sealed_contents {
            self.contents.fill(block, op.offset, facts.number);
            checker.verifier().seal(block, &header);
        } else {
            checker.verifier().stamp(block, &header);
        }
    }

    fn check(&mut self, block: &[u8], op: &Op, facts: ReadFacts) -> Result<(), i32> {
        let Some(checker) = &self.checker else { return Ok(()) };
        if self.job.engine.kind.is_idle() {
            // Nothing was read.
            return Ok(());
        }
        if let Some(pool) = &self.pool {
            pool.submit(block, op, facts);
            return Ok(());
        }
        if checker.check(block, op, facts, &mut self.bad) { Ok(()) } else { Err(EILSEQ) }
    }
}

/// Returns the distance at which files of a tree lie one behind the other for duplicates that
/// depend on the place: their mean size in whole blocks. 0 where nothing does.
fn spacing_bytes(job: &Job) -> u64 {
    let (Some(work), Some(sets)) = (&job.tree, &job.buffers.dedupe_sets) else { return 0 };
    let unit_bytes = u64::from(sets.unit_bytes.max(1));
    (work.tree.sizes.mean_bytes() as u64).next_multiple_of(unit_bytes)
}

/// A filler with the engine whose buffers it works on.
pub(crate) struct Bytes<'a> {
    pub(crate) engine: &'a mut dyn Engine,
    pub(crate) filler: &'a mut Filler,
}

impl Data for Bytes<'_> {
    #[inline]
    fn write(&mut self, op: &Op, facts: WriteFacts) {
        // SAFETY: the buffer is that of the operation's slot, and the operation is about to be
        // handed over.
        let block = unsafe { self.engine.arena().slice_mut(op.buf, op.len) };
        self.filler.write(block, op, facts);
    }

    fn check(&mut self, op: &Op, facts: ReadFacts) -> Result<(), i32> {
        // SAFETY: the operation has completed, and its slot is not taken again before the check.
        let block = unsafe { self.engine.arena().slice(op.buf, op.len) };
        self.filler.check(block, op, facts)
    }

    #[inline]
    fn late_failures(&mut self, all: bool) -> LateFailures {
        self.filler.pool.as_ref().map_or_else(LateFailures::default, |pool| pool.late_failures(all))
    }
}
