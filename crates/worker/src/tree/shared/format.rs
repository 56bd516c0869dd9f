//! Makes, completes or removes a tree, by all workers of a job together.
//!
//! Five passes, one after the other: files are removed, then folders from the lowest level up;
//! folders are made level by level, then files, then they are written. In each pass the workers
//! take the next number from a common count, so that nothing is listed and nothing is done twice.
//!
//! Where a tree of another structure is removed first, its removal must be written down before
//! anything is made: the workers wait until then.

use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicI32, AtomicU64};

use plan::op::OpKind;
use plan::tree::{Activity, Format, IN_TARGET};

use pattern::tree::InUse;

use super::TreeJob;
use crate::tree::state::{FileFlags, TreeState};
use crate::tree::{ENOTEMPTY, Next, TreeOp, Verdict};

/// Turns taken at once, two for each entry that is passed over, so that a request to stop is heard
/// within a millisecond.
const N_TURNS_MAX: u32 = 8192;

/// It is not yet known that the tree may be made.
const NOT_YET: i32 = -1;

/// One walk over all files or folders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pass {
    RemoveFiles,
    RemoveFolders,
    MakeFolders,
    MakeFiles,
    WriteFiles,
}

const PASSES: [Pass; 5] =
    [Pass::RemoveFiles, Pass::RemoveFolders, Pass::MakeFolders, Pass::MakeFiles, Pass::WriteFiles];

/// How far the passes are.
#[derive(Debug, Default)]
pub(crate) struct FormatProgress {
    taken: [AtomicU64; PASSES.len()],
    done: [AtomicU64; PASSES.len()],
    /// Bytes of files that are as they shall be, and that all shall have.
    done_bytes: AtomicU64,
    total_bytes: u64,
    /// Whether the tree may be made where another one is removed first: [`NOT_YET`], 0, or the
    /// error number for which it may not.
    may_make: AtomicI32,
}

/// How much of something is done, and how much there is to do.
pub type DoneOf = (u64, u64);

/// How far a format is. What it does not do has nothing to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FormatStatus {
    /// Files and folders that were looked at to be removed.
    pub removed: DoneOf,
    /// Folders that are there.
    pub folders: DoneOf,
    /// Files that have their whole size.
    pub files: DoneOf,
    /// What these files hold, in bytes, and what is written of others.
    pub bytes: DoneOf,
    /// Steps of the work: each file and folder, once for each time that it is touched.
    pub entries: DoneOf,
}

impl FormatStatus {
    /// Adds the progress of another job.
    #[must_use]
    pub fn and(self, other: FormatStatus) -> FormatStatus {
        let sum = |a: DoneOf, b: DoneOf| (a.0 + b.0, a.1 + b.1);
        FormatStatus {
            removed: sum(self.removed, other.removed),
            folders: sum(self.folders, other.folders),
            files: sum(self.files, other.files),
            bytes: sum(self.bytes, other.bytes),
            entries: sum(self.entries, other.entries),
        }
    }
}

impl FormatProgress {
    pub(crate) fn new(total_bytes: u64, replaces_another: bool) -> Self {
        let may_make = if replaces_another { NOT_YET } else { 0 };
        FormatProgress {
            total_bytes,
            may_make: AtomicI32::new(may_make),
            ..FormatProgress::default()
        }
    }

    pub(crate) fn has_removed(&self, job: &TreeJob) -> bool {
        let removals = [Pass::RemoveFiles, Pass::RemoveFolders];
        let is_through =
            |pass: &Pass| self.done[*pass as usize].load(Acquire) >= pass.n_entries(job);
        // A pass is through with what failed, too.
        let (n_files, ..) = Pass::RemoveFiles.tree(job).0.counts();
        removals.iter().all(is_through) && n_files == 0
    }

    pub(crate) fn let_make(&self, errno: i32) {
        assert!(errno >= 0, "a format is refused for error {errno}");
        let before = self.may_make.swap(errno, Release);
        assert_eq!(before, NOT_YET, "a format that waits for no leave is given one");
    }

    /// Returns what a worker does instead of making something, which others decide about.
    fn instead_of_making(&self, job: &TreeJob) -> Option<Next> {
        match self.may_make.load(Acquire) {
            0 => None,
            NOT_YET if self.has_removed(job) => Some(Next::Later),
            // What could not be removed stays, and nothing is made beside it.
            NOT_YET => Some(Next::Done),
            errno => Some(Next::Refused(errno)),
        }
    }

    pub(crate) fn status(&self, job: &TreeJob) -> Option<FormatStatus> {
        let Activity::Format(format) = &job.work.activity else { return None };
        let mut status = FormatStatus::default();
        for pass in PASSES.iter().filter(|pass| pass.is_part_of(*format)) {
            let (done, total) = (self.done[*pass as usize].load(Acquire), pass.n_entries(job));
            let part = match pass {
                Pass::RemoveFiles | Pass::RemoveFolders => &mut status.removed,
                Pass::MakeFolders => &mut status.folders,
                // Files are made and then written: only then are they done.
                Pass::MakeFiles => &mut (0, 0),
                Pass::WriteFiles => &mut status.files,
            };
            *part = (part.0 + done, part.1 + total);
            status.entries = (status.entries.0 + done, status.entries.1 + total);
        }
        status.bytes = (self.done_bytes.load(Relaxed).min(self.total_bytes), self.total_bytes);
        Some(status)
    }

    pub(crate) fn made_whole(&self, job: &TreeJob) -> CompleteParts {
        let Activity::Format(format) = &job.work.activity else { return CompleteParts::default() };
        let is_through = |pass: Pass| {
            let is_done = self.done[pass as usize].load(Acquire) >= pass.n_entries(job);
            pass.is_part_of(*format) && is_done
        };
        // A pass is through with what failed, too.
        let (n_files, _, n_folders) = job.state.counts();
        CompleteParts {
            folders: is_through(Pass::MakeFolders)
                && n_folders >= u64::from(job.state.tree().n_folders()),
            files: is_through(Pass::MakeFiles) && n_files >= u64::from(job.in_use.len()),
        }
    }
}

/// Which parts of a tree are there as a format was to make them. What it does not make is not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CompleteParts {
    /// All folders.
    pub folders: bool,
    /// All files that are in use, written or not.
    pub files: bool,
}

/// Returns the bytes that a job's format leaves in files.
pub(crate) fn bytes_to_make(activity: &Activity, state: &TreeState, in_use: &InUse) -> u64 {
    match activity {
        Activity::Format(format) if Pass::WriteFiles.is_part_of(*format) => {
            let sizes = (0..in_use.len()).map(|place| state.tree().size_bytes(in_use.file(place)));
            sizes.fold(0, u64::saturating_add)
        }
        Activity::Operations(_) | Activity::Format(_) => 0,
    }
}

impl Pass {
    fn is_part_of(self, format: Format) -> bool {
        match self {
            Pass::RemoveFiles | Pass::RemoveFolders => format.clean,
            Pass::MakeFolders => format.create,
            Pass::MakeFiles | Pass::WriteFiles => format.create && !format.folders_only,
        }
    }

    fn is_removal(self) -> bool {
        matches!(self, Pass::RemoveFiles | Pass::RemoveFolders)
    }

    fn is_of_folders(self) -> bool {
        matches!(self, Pass::RemoveFolders | Pass::MakeFolders)
    }

    /// Returns the tree that the pass walks over, and the mark of its numbers.
    fn tree(self, job: &TreeJob) -> (&Arc<TreeState>, u32) {
        match (&job.second, self) {
            (Some(old), pass) if pass.is_removal() => (old, IN_TARGET),
            _ => (&job.state, 0),
        }
    }

    fn n_entries(self, job: &TreeJob) -> u64 {
        let (state, _) = self.tree(job);
        if self.is_of_folders() {
            return u64::from(state.tree().n_folders());
        }
        match self {
            Pass::RemoveFiles => u64::from(state.tree().n_files()),
            Pass::RemoveFolders | Pass::MakeFolders | Pass::MakeFiles | Pass::WriteFiles => {
                u64::from(job.in_use.len())
            }
        }
    }

    /// Returns the number of the entry at a place of the walk.
    fn entry(self, job: &TreeJob, place: u64) -> u32 {
        let (state, _) = self.tree(job);
        match self {
            // From the last one, which is in the lowest level, to the first.
            Pass::RemoveFolders => state.tree().n_folders() - 1 - place as u32,
            Pass::RemoveFiles | Pass::MakeFolders => place as u32,
            Pass::MakeFiles | Pass::WriteFiles => job.in_use.file(place as u32),
        }
    }

    /// Returns how many entries must be done before this one may be begun: those of the levels
    /// before it.
    fn n_before(self, state: &TreeState, entry: u32) -> u64 {
        let tree = state.tree();
        let level = |folder| tree.level(tree.level_of(folder));
        match self {
            Pass::MakeFolders => u64::from(level(entry).start),
            Pass::RemoveFolders => u64::from(tree.n_folders() - level(entry).end),
            Pass::RemoveFiles | Pass::MakeFiles | Pass::WriteFiles => 0,
        }
    }

    /// Returns whether anything is to be done for the entry.
    fn concerns(self, state: &TreeState, entry: u32) -> bool {
        match self {
            Pass::RemoveFiles => state.file(entry).exists,
            Pass::RemoveFolders => state.has_folder(entry),
            Pass::MakeFolders => !state.has_folder(entry),
            Pass::MakeFiles => !state.file(entry).exists,
            Pass::WriteFiles => !state.file(entry).is_full,
        }
    }
}

/// One worker's part in a format.
#[derive(Debug)]
pub(crate) struct FormatWorker {
    format: Format,
    pass_idx: usize,
    /// Entry that is being worked on or waits for its level.
    entry: Option<u32>,
    stage: Stage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The entry has not been begun.
    Begin,
    /// Its file is open and written up to here.
    Write(u64),
    /// Its file is to be closed.
    Close,
}

impl FormatWorker {
    pub(crate) fn new(format: Format) -> Self {
        FormatWorker { format, pass_idx: 0, entry: None, stage: Stage::Begin }
    }

    /// Returns whether the next operation only ends what was asked for.
    pub(crate) fn is_ending(&self) -> bool {
        self.stage == Stage::Close
    }

    pub(crate) fn next(&mut self, job: &TreeJob) -> Next {
        for _ in 0..N_TURNS_MAX {
            let Some(&pass) = PASSES.get(self.pass_idx) else { return Next::Done };
            if !pass.is_part_of(self.format) {
                self.pass_idx += 1;
                continue;
            }
            if !pass.is_removal()
                && let Some(instead) = job.format.instead_of_making(job)
            {
                return instead;
            }
            let (state, mark) = pass.tree(job);
            if let Some(entry) = self.entry {
                // An entry that needs nothing waits for its level, too: it would be counted as one
                // of a level before.
                let n_done = job.format.done[pass as usize].load(Acquire);
                if n_done < pass.n_before(state, entry) {
                    return Next::Later;
                }
                if self.stage != Stage::Begin || pass.concerns(state, entry) {
                    return self.operation(state, pass, entry, mark);
                }
                if pass == Pass::WriteFiles {
                    job.format.done_bytes.fetch_add(state.tree().size_bytes(entry), Relaxed);
                }
                self.end_entry(job, pass);
                continue;
            }
            let n_entries = pass.n_entries(job);
            let place = job.format.taken[pass as usize].fetch_add(1, AcqRel);
            if place < n_entries {
                self.entry = Some(pass.entry(job, place));
            } else if job.format.done[pass as usize].load(Acquire) < n_entries {
                return Next::Later;
            } else {
                self.pass_idx += 1;
            }
        }
        Next::Later
    }

    /// Returns the next operation on an entry.
    fn operation(&self, state: &TreeState, pass: Pass, entry: u32, mark: u32) -> Next {
        let makes_files = self.format.create && !self.format.folders_only;
        let whole = |kind, is_asked| Next::Op(TreeOp::whole(kind, entry | mark, is_asked, 0));
        match (pass, self.stage) {
            (Pass::RemoveFiles, _) => whole(OpKind::Delete, !self.format.create),
            (Pass::RemoveFolders, _) => whole(OpKind::Rmdir, !self.format.create),
            (Pass::MakeFolders, _) => whole(OpKind::Mkdir, !makes_files),
            (Pass::MakeFiles, _) => whole(OpKind::Create, false),
            (Pass::WriteFiles, Stage::Begin) => whole(OpKind::Open, false),
            (Pass::WriteFiles, Stage::Close) => whole(OpKind::Close, false),
            (Pass::WriteFiles, Stage::Write(offset)) => {
                let room = state.tree().size_bytes(entry) - offset;
                let len = u64::from(self.format.block_bytes.max(1)).min(room) as u32;
                let kind = OpKind::Write;
                Next::Op(TreeOp { kind, entry, offset, len, is_asked: true, task: 0 })
            }
        }
    }

    pub(crate) fn completed(&mut self, job: &TreeJob, op: &TreeOp, errno: i32) -> Verdict {
        let (Some(&pass), Some(entry)) = (PASSES.get(self.pass_idx), self.entry) else {
            return Verdict::Done;
        };
        let (state, _) = pass.tree(job);
        if errno != 0 {
            let is_left = op.kind == OpKind::Rmdir && errno == ENOTEMPTY;
            if is_left {
                state.note_left();
            }
            if op.kind == OpKind::Write {
                let partly = FileFlags { exists: true, has_data: true, is_full: false };
                state.set_file(entry, partly);
                self.stage = Stage::Close;
            } else {
                self.end_entry(job, pass);
            }
            return if is_left { Verdict::Tolerated } else { Verdict::Failed };
        }
        let size_bytes = state.file_bytes(pass.is_of_folders(), entry);
        match op.kind {
            OpKind::Delete => state.set_file(entry, FileFlags::of_size(None, 0)),
            OpKind::Create => state.set_file(entry, FileFlags::of_size(Some(0), size_bytes)),
            OpKind::Mkdir => state.set_folder(entry, true),
            OpKind::Rmdir => state.set_folder(entry, false),
            OpKind::Open => {
                state.set_opened(entry);
                self.stage = Stage::Write(0);
                return Verdict::Done;
            }
            OpKind::Write => {
                let end = op.offset + u64::from(op.len);
                job.format.done_bytes.fetch_add(u64::from(op.len), Relaxed);
                if end < size_bytes {
                    self.stage = Stage::Write(end);
                } else {
                    state.set_file(entry, FileFlags::of_size(Some(size_bytes), size_bytes));
                    self.stage = Stage::Close;
                }
                return Verdict::Done;
            }
            OpKind::Read
            | OpKind::Trim
            | OpKind::Fsync
            | OpKind::Fdatasync
            | OpKind::SyncFileRange
            | OpKind::Stat
            | OpKind::Close
            | OpKind::Access
            | OpKind::Setattr
            | OpKind::Chmod
            | OpKind::NegStat
            | OpKind::Lock
            | OpKind::Truncate
            | OpKind::Rename
            | OpKind::Readdir
            | OpKind::Statfs
            | OpKind::Pathconf
            | OpKind::MapRead
            | OpKind::MapWrite
            | OpKind::Copy
            | OpKind::Move => {}
        }
        self.end_entry(job, pass);
        Verdict::Done
    }

    fn end_entry(&mut self, job: &TreeJob, pass: Pass) {
        self.entry = None;
        self.stage = Stage::Begin;
        job.format.done[pass as usize].fetch_add(1, AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use pattern::tree::Tree;
    use plan::tree::{Mixing, TreeOpen, TreeSpec, TreeWork};

    use super::*;

    /// A format of two folders with two folders each, of which those by these numbers are there,
    /// and its workers.
    fn format_of_two_levels<const N: usize>(
        format: Format,
        there: &[u32],
    ) -> (TreeJob, [FormatWorker; N]) {
        let spec = TreeSpec { depth: 2, width: 2, files: 1, ..TreeSpec::default() };
        let state = TreeState::new(Tree::new(&spec).unwrap());
        for folder in there {
            state.set_folder(*folder, true);
        }
        let in_use = InUse::new(state.tree(), &spec).unwrap();
        let activity = Activity::Format(format);
        let open = TreeOpen::default();
        let mixing = Mixing::default();
        let work = TreeWork { tree: spec, target: None, open, activity, mixing };
        let job = TreeJob::new(work, (Arc::new(state), in_use), None, 1);
        (job, std::array::from_fn(|_| FormatWorker::new(format)))
    }

    /// Returns the folder that a worker makes or removes next; `None` where it waits.
    fn next_folder(worker: &mut FormatWorker, job: &TreeJob) -> Option<(OpKind, u32)> {
        match worker.next(job) {
            Next::Op(op) => Some((op.kind, op.entry)),
            Next::Later => None,
            other => panic!("{other:?}"),
        }
    }

    const MAKE: Format =
        Format { clean: false, create: true, folders_only: true, block_bytes: 4096 };
    const REMOVE: Format = Format { clean: true, create: false, ..MAKE };

    /// The first level is not made before all of it is, however much of the second is there.
    #[test]
    fn folders_that_are_there_count_for_their_own_level() {
        let (job, [mut a, mut b, mut c]) = format_of_two_levels(MAKE, &[1, 3]);
        assert_eq!(next_folder(&mut a, &job), Some((OpKind::Mkdir, 0)));
        assert_eq!(next_folder(&mut b, &job), None, "2 is below 0");
        assert_eq!(next_folder(&mut c, &job), None, "3 is there, and 4 is below 0");
        a.completed(&job, &TreeOp::whole(OpKind::Mkdir, 0, true, 0), 0);
        assert_eq!(next_folder(&mut b, &job), Some((OpKind::Mkdir, 2)));
        assert_eq!(next_folder(&mut c, &job), Some((OpKind::Mkdir, 4)));
    }

    #[test]
    fn folders_that_are_gone_count_for_their_own_level() {
        let (job, [mut a, mut b]) = format_of_two_levels(REMOVE, &[0, 2]);
        // 5, 4 and 3 are gone.
        assert_eq!(next_folder(&mut a, &job), Some((OpKind::Rmdir, 2)));
        assert_eq!(next_folder(&mut b, &job), None, "1 is gone, and 0 is above 2");
        a.completed(&job, &TreeOp::whole(OpKind::Rmdir, 2, true, 0), 0);
        assert_eq!(next_folder(&mut a, &job), Some((OpKind::Rmdir, 0)));
    }

    #[test]
    fn a_format_that_waits_for_leave_is_given_it_once() {
        let waiting = || FormatProgress::new(0, true);
        testing::check_wrong_calls(&[
            ("twice", "a format that waits for no leave is given one", &|| {
                let format = waiting();
                format.let_make(0);
                format.let_make(0);
            }),
            ("one that need not wait", "a format that waits for no leave is given one", &|| {
                FormatProgress::new(0, false).let_make(0);
            }),
            ("no error", "a format is refused for error -5", &|| waiting().let_make(-5)),
        ]);
    }
}
