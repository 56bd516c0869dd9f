//! Which operation comes next: direction, file, place and length.

use pattern::PatternError;
use pattern::files::FilePicker;
use pattern::mix::Mix;
use pattern::offsets::{Extent, Offsets, Region};
use plan::Direction;
use plan::op::OpKind;

use crate::replaying::Replaying;

use crate::spec::WorkerSpec;

/// An operation without slot and time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chosen {
    pub(crate) kind: OpKind,
    pub(crate) file_idx: u32,
    pub(crate) offset: u64,
    pub(crate) len: u32,
    /// When it was due, under a rate.
    pub(crate) intended_ns: Option<u64>,
    /// Of a read that verifies: what it must find.
    pub(crate) check: Option<BlockCheck>,
}

/// What a block must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlockCheck {
    /// Number of the write that put it there.
    pub(crate) number: u64,
    /// It was trimmed since.
    pub(crate) trimmed: bool,
}

impl Chosen {
    /// Makes an operation of the workload.
    #[inline]
    pub(crate) fn new(kind: OpKind, file_idx: u32, offset: u64, len: u32) -> Self {
        Chosen { kind, file_idx, offset, len, intended_ns: None, check: None }
    }

    /// Makes a sync of a whole file.
    pub(crate) fn sync(kind: OpKind, file_idx: u32) -> Self {
        Chosen::new(kind, file_idx, 0, 0)
    }
}

/// Most operations chosen at once: what engines take in one call.
const BATCH_MAX: usize = 32;

/// The sequence of operations of one worker, without their times.
#[derive(Debug)]
pub(crate) struct Source {
    mix: Mix,
    pending: Option<Direction>,
    files: Files,
    amount_bytes: u64,
    bytes_chosen: u64,
    n_ios_max: u64,
    n_chosen: u64,
    kinds: [OpKind; 3],
    /// The region ends a pass even if the amount is not reached: sequential I/O with steps, unless
    /// the job says how much or how long (fio `io_size`, `time_based`).
    ends_with_region: bool,
    /// Files done in this pass since an operation was last chosen: all done means a new pass.
    n_fruitless: usize,
    /// What [`Source::take_batch`] chose.
    batch: [Extent; BATCH_MAX],
    batch_kind: OpKind,
    /// Longest operation.
    len_max: u64,
}

#[derive(Debug)]
enum Files {
    /// One file: nothing to pick.
    One(Box<Offsets>),
    Many {
        offsets: Vec<Offsets>,
        picker: FilePicker,
    },
    /// What was recorded.
    Replay(Replaying),
    /// One operation per file.
    Whole {
        n_files: u32,
        next_idx: u32,
    },
}

impl Source {
    pub(crate) fn new(spec: &WorkerSpec) -> Result<Self, PatternError> {
        let job = &spec.job;
        let workload = &job.workload;
        let n_files = spec.files.len() as u32;
        let is_whole = job.engine.kind.is_file_operation();
        let files = if is_whole {
            Files::Whole { n_files, next_idx: 0 }
        } else if let Some(replaying) = Replaying::new(workload, spec.worker_idx, n_files)? {
            Files::Replay(replaying)
        } else {
            let mut offsets = Vec::with_capacity(spec.files.len());
            for (file_idx, file) in spec.files.iter().enumerate() {
                let region = Region { start_bytes: file.offset_bytes, len_bytes: file.len_bytes };
                offsets.push(Offsets::new(workload, region, spec.seed, file_idx as u32)?);
            }
            match offsets.len() {
                0 => return Err(PatternError::NoFiles),
                1 => Files::One(Box::new(offsets.remove(0))),
                _ => {
                    let service = job.files.service;
                    let picker =
                        FilePicker::new(service, job.files.ios_per_file, n_files, spec.seed)?;
                    Files::Many { offsets, picker }
                }
            }
        };
        // A trim is followed by its write when it completes, not by the mix.
        let mut access = workload.access;
        if access.trim_then_write {
            access.write = false;
            access.trim_then_write = false;
        }
        let sizes = &workload.block_size;
        let len_max = sizes.read.max().max(sizes.write.max()).max(sizes.trim.max());
        Ok(Source {
            mix: Mix::new(access, workload.read_pct, spec.seed),
            pending: None,
            files,
            amount_bytes: spec.amount_bytes,
            bytes_chosen: 0,
            n_ios_max: job.limits.n_ios_max.unwrap_or(u64::MAX),
            n_chosen: 0,
            kinds: kinds(spec),
            ends_with_region: !workload.access.random
                && job.files.io_size.is_none()
                && !job.limits.time_based,
            n_fruitless: 0,
            batch: [Extent::default(); BATCH_MAX],
            batch_kind: OpKind::Read,
            len_max: u64::from(len_max.max(1)),
        })
    }

    pub(crate) fn n_files(&self) -> u32 {
        match &self.files {
            Files::One(_) => 1,
            Files::Many { offsets, .. } => offsets.len() as u32,
            Files::Whole { n_files, .. } => *n_files,
            Files::Replay(replaying) => replaying.n_files(),
        }
    }

    /// Says whether operations are due at recorded times.
    pub(crate) fn is_timed(&self) -> bool {
        matches!(&self.files, Files::Replay(replaying) if replaying.is_timed())
    }

    /// Returns when the next operation is due, if that was recorded.
    #[inline]
    pub(crate) fn due_ns(&mut self, now_ns: u64) -> Option<u64> {
        match &mut self.files {
            Files::Replay(replaying) => replaying.due_ns(now_ns),
            _ => None,
        }
    }

    /// Takes the next operation if it is a recorded sync, which belongs to no direction.
    #[inline]
    pub(crate) fn take_sync(&mut self) -> Option<Chosen> {
        match &mut self.files {
            Files::Replay(replaying) => replaying.take_sync(),
            _ => None,
        }
    }

    /// Says whether the pass has chosen all its I/O.
    #[inline]
    pub(crate) fn is_done(&self) -> bool {
        match &self.files {
            Files::Whole { n_files, next_idx } => next_idx == n_files,
            Files::Replay(replaying) => replaying.is_done() || self.n_chosen >= self.n_ios_max,
            _ => self.bytes_chosen >= self.amount_bytes || self.n_chosen >= self.n_ios_max,
        }
    }

    /// Returns the direction of the next operation; the same one until it is taken.
    #[inline]
    pub(crate) fn direction(&mut self) -> Direction {
        if let Some(dir) = self.pending {
            return dir;
        }
        let dir = match &self.files {
            Files::Replay(replaying) => replaying.direction(),
            _ => self.mix.next(),
        };
        self.pending = Some(dir);
        dir
    }

    /// Chooses operations of a worker with one file and one direction, at most `n_max`. Returns how
    /// many, for [`Source::of_batch`]: none for any other worker, and none or fewer where a pass
    /// ends.
    #[inline]
    pub(crate) fn take_batch(&mut self, n_max: usize) -> usize {
        let (Files::One(offsets), Some(dir)) = (&mut self.files, self.mix.only()) else { return 0 };
        // Lengths may vary: as many as fit into the amount whatever they turn out to be.
        let n_by_bytes = self.amount_bytes.saturating_sub(self.bytes_chosen) / self.len_max;
        let n_left = self.n_ios_max.saturating_sub(self.n_chosen).min(n_by_bytes);
        let n_asked = n_left.min(n_max as u64).min(BATCH_MAX as u64) as usize;
        let n_ops = offsets.fill(dir, &mut self.batch[..n_asked]);
        let bytes: u64 = self.batch[..n_ops].iter().map(|extent| u64::from(extent.len)).sum();
        self.bytes_chosen += bytes;
        self.n_chosen += n_ops as u64;
        self.batch_kind = self.kinds[dir as usize];
        self.pending = None;
        n_ops
    }

    /// Returns an operation of those last chosen by [`Source::take_batch`].
    #[inline]
    pub(crate) fn of_batch(&self, idx: usize) -> Chosen {
        let Extent { offset, len } = self.batch[idx];
        Chosen::new(self.batch_kind, 0, offset, len)
    }

    /// Chooses the next operation in a direction; `None` when no file has any left to choose.
    #[inline]
    pub(crate) fn take(&mut self, dir: Direction) -> Option<Chosen> {
        if self.pending == Some(dir) {
            self.pending = None;
        }
        let kind = self.kinds[dir as usize];
        if let Files::One(offsets) = &mut self.files {
            let extent = match offsets.next(dir) {
                Some(extent) => extent,
                None if self.ends_with_region => return None,
                None => {
                    // More I/O than the region holds: go over it again, in another order.
                    offsets.restart(dir);
                    offsets.next(dir)?
                }
            };
            return Some(self.count(Chosen::new(kind, 0, extent.offset, extent.len)));
        }
        self.take_of_many(dir, kind)
    }

    fn take_of_many(&mut self, dir: Direction, kind: OpKind) -> Option<Chosen> {
        let chosen = match &mut self.files {
            Files::One(_) => return None,
            Files::Replay(replaying) => replaying.take()?,
            Files::Whole { n_files, next_idx } => {
                if next_idx == n_files {
                    return None;
                }
                *next_idx += 1;
                Chosen::new(kind, *next_idx - 1, 0, 0)
            }
            Files::Many { offsets, picker } => loop {
                let Some(file_idx) = picker.next() else {
                    self.n_fruitless += 1;
                    if self.n_fruitless > 1 || self.ends_with_region {
                        return None;
                    }
                    for file in offsets.iter_mut() {
                        file.next_pass();
                    }
                    picker.restart();
                    continue;
                };
                if let Some(extent) = offsets[file_idx as usize].next(dir) {
                    break Chosen::new(kind, file_idx, extent.offset, extent.len);
                }
                picker.finish(file_idx);
            },
        };
        self.n_fruitless = 0;
        Some(self.count(chosen))
    }

    #[inline]
    fn count(&mut self, chosen: Chosen) -> Chosen {
        self.bytes_chosen += u64::from(chosen.len);
        self.n_chosen += 1;
        chosen
    }

    /// Starts another pass over the amount.
    pub(crate) fn restart(&mut self) {
        self.bytes_chosen = 0;
        self.n_chosen = 0;
        self.n_fruitless = 0;
        match &mut self.files {
            Files::One(offsets) => offsets.next_pass(),
            Files::Many { offsets, picker } => {
                for file in offsets {
                    file.next_pass();
                }
                picker.restart();
            }
            Files::Whole { next_idx, .. } => *next_idx = 0,
            Files::Replay(replaying) => replaying.restart(),
        }
    }
}

/// What an operation of each direction is, by engine.
fn kinds(spec: &WorkerSpec) -> [OpKind; 3] {
    use plan::EngineKind::{DirCreate, DirDelete, DirStat, FileCreate, FileDelete, FileStat};
    match spec.job.engine.kind {
        FileCreate => [OpKind::Create; 3],
        FileStat | DirStat => [OpKind::Stat; 3],
        FileDelete => [OpKind::Delete; 3],
        DirCreate => [OpKind::Mkdir; 3],
        DirDelete => [OpKind::Rmdir; 3],
        _ => [OpKind::Read, OpKind::Write, OpKind::Trim],
    }
}
