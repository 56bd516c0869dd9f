//! What the workers of a run share: the state of all blocks, who works on which, and the log.
//!
//! One lock, which a worker takes twice for each batch. It is not held while the log is made
//! durable: one worker does that for all that wait, and what others append meanwhile goes with the
//! next.

use std::collections::HashSet;
use std::io;
use std::path::Path;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use engine::EngineError;
use pattern::journal::{BlockMap, Change, ChangeKind, Header, Stamp};
use plan::Diagnostic;
use units::system_text;

use super::log::{Log, Writer};
use super::replayed::{Replayed, header, replay};
use super::targets::{Targets, of_earlier};
use super::verification::{Verification, VerifyOptions, settle, verify};
use crate::bind::{BoundPlan, BoundWorker};
use crate::clock::Clock;
use crate::control::Control;
use crate::options::{ExistingJournal, Validation};

/// Longest time between two looks at whether blocks that others work on are free.
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// The clock of a run, and what the wall's read when it began.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JournalClock {
    pub(crate) clock: Clock,
    pub(crate) zero_unix_ms: u64,
}

impl JournalClock {
    fn now_us(&self) -> u64 {
        self.zero_unix_ms * 1000 + self.clock.now_ns() / 1000
    }
}

/// The journal of a run, or only its state where no file is asked for.
#[derive(Debug)]
pub(crate) struct Journal {
    shared: Mutex<Shared>,
    /// Blocks were given back.
    freed: Condvar,
    /// The log was made durable.
    synced: Condvar,
    header: Header,
    targets: Targets,
    runs: HashSet<u64>,
    run: u64,
    /// What is about to be written is durable in the log before.
    is_ahead: bool,
    time: JournalClock,
}

/// What the lock is for.
#[derive(Debug)]
pub(super) struct Shared {
    maps: Vec<BlockMap>,
    claims: Vec<Claim>,
    /// Counts when blocks were given back.
    n_freed: u64,
    log: Option<Log>,
    /// Error number of the first write of the log that failed: nothing is written after it.
    failed: Option<i32>,
    /// What is said with the next append.
    changes: Vec<Change>,
}

/// Blocks of a target that a worker works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Claim {
    pub(super) target: u32,
    /// First block.
    pub(super) first: u64,
    /// The block behind the last.
    pub(super) end: u64,
    pub(super) is_write: bool,
}

/// Blocks that get the same generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BlockRun {
    pub(super) first: u64,
    pub(super) n_blocks: u16,
    pub(super) generation: u16,
}

impl Journal {
    /// Begins the journal of a run.
    ///
    /// # Errors
    /// Why it cannot be kept.
    pub(crate) fn begin(
        validation: &Validation,
        bound: &BoundPlan,
        time: JournalClock,
        run: u64,
    ) -> Result<Self, Diagnostic> {
        let mut targets = Targets::of(bound);
        let mut known = Replayed::default();
        let earlier = validation.journal.as_ref().filter(|_| validation.existing.is_gone_on_with());
        if let Some(path) = earlier {
            known = continued(path, validation.existing, &mut targets)?;
        }
        let mut runs = known.header.runs;
        runs.push(run);
        let header = Header { runs: runs.clone(), targets: targets.all.clone() };
        let mut maps = known.maps;
        maps.resize(header.targets.len(), BlockMap::default());
        let time_us = time.now_us();
        let log = validation.journal.as_ref().map(|path| {
            let writer = Writer { run, time_us };
            let is_replaced = match validation.existing {
                ExistingJournal::Continue | ExistingJournal::ContinueSame => true,
                ExistingJournal::Replace => is_journal(path),
                ExistingJournal::Refuse => false,
            };
            let put = if is_replaced { Log::replace } else { Log::create };
            let log = put(path, &header, &maps, writer);
            log.map_err(|error| cannot_begin(path, &error))
        });
        Ok(Journal {
            shared: Mutex::new(Shared {
                maps,
                claims: Vec::new(),
                n_freed: 0,
                log: log.transpose()?,
                failed: None,
                changes: Vec::new(),
            }),
            freed: Condvar::new(),
            synced: Condvar::new(),
            runs: runs.into_iter().collect(),
            header,
            targets,
            run,
            is_ahead: validation.is_ahead,
            time,
        })
    }

    /// Reads all that was written and says what became of it. When the workers have ended.
    pub(crate) fn read_back(&self, control: &Control) -> Verification {
        let maps = std::mem::take(&mut self.lock().maps);
        let header = self.header.clone();
        let known = Replayed { header, maps, ..Replayed::default() };
        verify(&known, &VerifyOptions::default(), control)
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        // The state is consistent between any two of its changes, also after a panic.
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the numbers of a worker's files.
    pub(super) fn targets_of(&self, worker: &BoundWorker) -> Vec<u32> {
        self.targets.of_worker(worker)
    }

    /// Returns where a target is.
    pub(super) fn path_of(&self, target: u32) -> &str {
        self.header.targets.get(target as usize).map_or("", |target| &target.path)
    }

    /// Returns bytes of a block, and blocks, of a target.
    pub(super) fn extent_of(&self, target: u32) -> Option<(u32, u64)> {
        let target = self.header.targets.get(target as usize)?;
        Some((target.block_bytes, target.n_blocks))
    }

    /// Returns whether a run wrote with this journal.
    pub(super) fn is_own(&self, run: u64) -> bool {
        self.runs.contains(&run)
    }

    /// Returns what a worker stamps a block of a target with.
    pub(super) fn stamp(&self, worker: u32, target: u32, block_bytes: u32) -> Stamp {
        let time_us = self.time.now_us();
        Stamp { run: self.run, worker, time_us, target, generation: 0, block_bytes }
    }

    /// Lets a worker take blocks: `take` is asked for each operation that waits, and what it
    /// returns was taken. Returns once the log says durably what is about to be written, where that
    /// is asked for.
    ///
    /// # Errors
    /// When the log cannot be written. The worker must issue nothing then.
    pub(super) fn take(&self, take: impl FnOnce(&mut Shared)) -> Result<(), EngineError> {
        let mut shared = self.lock();
        Self::check(&shared)?;
        take(&mut shared);
        let has_changed = self.append(&mut shared)?;
        let n_appended = shared.log.as_ref().map_or(0, |log| log.n_appended);
        if has_changed && self.is_ahead {
            self.await_durable(shared, n_appended)?;
        }
        Ok(())
    }

    /// Takes blocks back from a worker.
    ///
    /// # Errors
    /// When the log cannot be written.
    pub(super) fn give_back(&self, give: impl FnOnce(&mut Shared)) -> Result<(), EngineError> {
        let mut shared = self.lock();
        give(&mut shared);
        shared.n_freed += 1;
        let appended = self.append(&mut shared).map(drop);
        drop(shared);
        self.freed.notify_all();
        appended
    }

    /// Waits until blocks were given back since `n_freed`, for a short while. Returns the count.
    pub(super) fn await_freed(&self, n_freed: u64) -> Result<u64, EngineError> {
        let shared = self.lock();
        Self::check(&shared)?;
        let is_same = |shared: &mut Shared| shared.n_freed == n_freed;
        let waited = self.freed.wait_timeout_while(shared, LOOK_AGAIN, is_same);
        Ok(waited.unwrap_or_else(PoisonError::into_inner).0.n_freed)
    }

    /// Reads what is known of blocks.
    pub(super) fn look<T>(&self, look: impl FnOnce(&Shared) -> T) -> T {
        look(&self.lock())
    }

    fn check(shared: &Shared) -> Result<(), EngineError> {
        match shared.failed {
            Some(errno) => Err(failure(shared, errno)),
            None => Ok(()),
        }
    }

    /// Appends the changes that have gathered; says whether there were any.
    fn append(&self, shared: &mut Shared) -> Result<bool, EngineError> {
        let Shared { maps, log, changes, failed, .. } = shared;
        let Some(log) = log.as_mut().filter(|_| !changes.is_empty()) else {
            changes.clear();
            return Ok(false);
        };
        let writer = Writer { run: self.run, time_us: self.time.now_us() };
        let mut appended = match failed {
            Some(errno) => Err(io::Error::from_raw_os_error(*errno)),
            None => log.append(changes, writer),
        };
        changes.clear();
        if appended.is_ok() && log.is_grown(maps) {
            appended = log.rewrite(&self.header, maps, writer);
        }
        if let Err(error) = appended {
            let errno = error.raw_os_error().unwrap_or(libc::EIO);
            *failed = Some(errno);
            return Err(failure(shared, errno));
        }
        Ok(true)
    }

    /// Waits until an append is durable: makes it so, or waits for who does.
    fn await_durable<'a>(
        &'a self,
        mut shared: MutexGuard<'a, Shared>,
        number: u64,
    ) -> Result<(), EngineError> {
        loop {
            Self::check(&shared)?;
            let Some(log) = &mut shared.log else { return Ok(()) };
            if log.n_durable >= number {
                return Ok(());
            }
            if log.is_syncing {
                let waited = self.synced.wait(shared);
                shared = waited.unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            log.is_syncing = true;
            let (file, n_appended) = (log.file(), log.n_appended);
            drop(shared);
            let synced = file.sync_data();
            shared = self.lock();
            if let Some(log) = &mut shared.log {
                log.is_syncing = false;
                if synced.is_ok() {
                    log.n_durable = log.n_durable.max(n_appended);
                }
            }
            if let Err(error) = synced {
                shared.failed.get_or_insert(error.raw_os_error().unwrap_or(libc::EIO));
            }
            self.synced.notify_all();
        }
    }
}

impl Shared {
    /// Returns whether blocks are free for a worker: several may read them, or one write.
    pub(super) fn is_free(&self, wanted: Claim) -> bool {
        !self.claims.iter().any(|held| {
            held.target == wanted.target
                && held.first < wanted.end
                && wanted.first < held.end
                && (held.is_write || wanted.is_write)
        })
    }

    /// Takes blocks. Those to be written get their next generations, which are added to `runs`.
    pub(super) fn claim(&mut self, claim: Claim, runs: &mut Vec<BlockRun>) {
        self.claims.push(claim);
        let Some(map) = self.maps.get_mut(claim.target as usize).filter(|_| claim.is_write) else {
            return;
        };
        let n_before = runs.len();
        for block in claim.first..claim.end {
            let generation = map.next(block);
            map.writing(block, generation);
            match runs.last_mut().filter(|run| run.generation == generation) {
                Some(run) if runs_on(run, block) => run.n_blocks += 1,
                _ => runs.push(BlockRun { first: block, n_blocks: 1, generation }),
            }
        }
        self.note(ChangeKind::Writing, claim.target, &runs[n_before..]);
    }

    /// Gives up what is known of a target's blocks from one on, before they are.
    pub(super) fn forget(&mut self, target: u32, first: u64) {
        let Some(map) = self.maps.get_mut(target as usize) else { return };
        if !map.knows_from(first) {
            return;
        }
        let generation = map.forget(first);
        if self.log.is_some() {
            let kind = ChangeKind::Forgotten;
            self.changes.push(Change { kind, target, first, n_blocks: 0, generation });
        }
    }

    /// Notes that blocks were written.
    pub(super) fn written(&mut self, target: u32, runs: &[BlockRun]) {
        let Some(map) = self.maps.get_mut(target as usize) else { return };
        for run in runs {
            for block in run.first..run.first + u64::from(run.n_blocks) {
                map.written(block, run.generation);
            }
        }
        self.note(ChangeKind::Written, target, runs);
    }

    fn note(&mut self, kind: ChangeKind, target: u32, runs: &[BlockRun]) {
        if self.log.is_some() {
            let change = |run: &BlockRun| {
                let BlockRun { first, n_blocks, generation } = *run;
                Change { kind, target, first, n_blocks, generation }
            };
            self.changes.extend(runs.iter().map(change));
        }
    }

    /// Gives blocks back.
    pub(super) fn release(&mut self, claim: Claim) {
        if let Some(idx) = self.claims.iter().position(|held| *held == claim) {
            self.claims.swap_remove(idx);
        }
    }

    /// Returns what is known of a block.
    pub(super) fn state(&self, target: u32, block: u64) -> pattern::journal::BlockState {
        self.maps.get(target as usize).map(|map| map.state(block)).unwrap_or_default()
    }

    /// Counts when blocks were given back.
    pub(super) fn n_freed(&self) -> u64 {
        self.n_freed
    }
}

/// Returns why nothing is written any more.
fn failure(shared: &Shared, errno: i32) -> EngineError {
    let path = shared.log.as_ref().map_or(Path::new(""), Log::path);
    let source = io::Error::from_raw_os_error(errno);
    EngineError::File { action: "write the journal", path: path.display().to_string(), source }
}

/// Returns whether a block follows a run that can take one more.
fn runs_on(run: &BlockRun, block: u64) -> bool {
    run.n_blocks < u16::MAX && run.first + u64::from(run.n_blocks) == block
}

/// Reads a journal that a run goes on with, and settles what was in flight.
fn continued(
    path: &Path,
    existing: ExistingJournal,
    targets: &mut Targets,
) -> Result<Replayed, Diagnostic> {
    of_earlier(path, existing, targets)?;
    let refuse = |text: String| Diagnostic::error("journal-cannot-go-on", text);
    let mut known = replay(path, &mut |_| {}).map_err(|error| {
        refuse(error.to_string()).help("begin a new journal, under another name")
    })?;
    settle(&mut known).map_err(|line| {
        let help = format!("look at all that is lost: plimsoll verify {}", path.display());
        refuse(line).help(help)
    })?;
    Ok(known)
}

/// Returns whether a file is a journal, or what is left where one was about to begin.
fn is_journal(path: &Path) -> bool {
    let is_empty = std::fs::metadata(path).is_ok_and(|it| it.is_file() && it.len() == 0);
    is_empty || header(path).is_ok()
}

fn cannot_begin(path: &Path, error: &io::Error) -> Diagnostic {
    let shown = path.display();
    if error.kind() == io::ErrorKind::AlreadyExists {
        let text = format!("`{shown}` is there already, and a journal is not written over");
        return Diagnostic::error("journal-exists", text)
            .help(format!("look at what it says: plimsoll verify {shown}"))
            .help("then remove it, or name another file");
    }
    let text = format!("cannot keep the journal `{shown}`: {}", system_text(error));
    Diagnostic::error("journal-cannot", text)
        .help("name a file on a disk that has room, and not on one that is measured")
}
