//! One task of a worker: picks a file or folder and walks it through an operation.

use pattern::rng::{Chance, Rng, Stream, derive};
use pattern::tree::Selector;
use pattern::{PatternError, Sizes};
use plan::op::OpKind;
use plan::tree::{Before, FileIo, SelectFilter, StopAfter, TreeTask};

use super::shared::TreeJob;
use super::state::{FileFlags, Refused};
use super::traits::{TaskTraits, TreeIo, WorksOn};
use super::{ENOTEMPTY, Next, Stuck, TreeOp, Verdict};

/// Files or folders tried in a row that did not fit before the work is given up, as in Vdbench.
const N_TRIED_MAX: u32 = 10_000;

/// Tried at once, before the worker hears whether it shall stop.
const N_TRIED_AT_ONCE: u32 = 64;

/// One task of one worker.
#[derive(Debug)]
pub(super) struct Task {
    idx: u16,
    spec: TreeTask,
    selector: Selector,
    /// The folder of position 0.
    first_folder: u32,
    sizes: Sizes,
    reads: Chance,
    /// Chance of a random place in the hot part of a file.
    hot: Option<Chance>,
    rng: Rng,
    stage: Stage,
    /// What is held.
    held: Option<HeldEntry>,
    /// Position whose turn it was while another worker held its file.
    awaited: Option<u32>,
    /// Tried in a row without one that fits.
    n_tried: u32,
}

/// A file or folder that is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct HeldEntry {
    entry: u32,
    is_shared: bool,
    flags: FileFlags,
    /// The folder of the file is kept from being removed.
    is_pinned: bool,
    /// The file of the second tree that is held, too.
    target: Option<u32>,
    /// The file, or the free name for one, that is held beside it in the same tree.
    other: Option<u32>,
}

/// What comes next for what is held.
#[derive(Clone, Copy, Debug)]
enum Stage {
    /// Nothing is held.
    Pick,
    /// An operation on the other file.
    Other(OtherStep),
    /// An operation without bytes.
    Do(OpKind),
    /// I/O on the open file.
    Io(IoProgress),
}

/// How far the other file is read, before this one is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OtherStep {
    Open,
    Read,
    Close {
        /// It was read: the write follows.
        was_read: bool,
    },
}

/// How far the I/O on a file is.
#[derive(Clone, Copy, Debug)]
struct IoProgress {
    size_bytes: u64,
    next_byte: u64,
    n_ios: u64,
    bytes: u64,
    /// The next transfer, where something on the open file leads to it.
    planned: Option<Planned>,
}

/// A transfer that is chosen before what leads to it.
#[derive(Clone, Copy, Debug)]
struct Planned {
    offset: u64,
    len: u32,
    /// What leads to it is done.
    is_next: bool,
}

/// What picking came to.
enum Picked {
    Yes(HeldEntry),
    Later,
    Over,
    Stuck(Box<Stuck>),
}

impl Task {
    pub(super) fn new(
        job: &TreeJob,
        idx: u16,
        spec: &TreeTask,
        worker_seed: u64,
    ) -> Result<Self, PatternError> {
        let is_folder = spec.operation.is_on_folder();
        let state = &job.state;
        let n_folders = state.tree().n_folders();
        // Where there are folders without files, those are removed and made.
        let n_bare = job.work.tree.bare_folders.min(n_folders);
        let is_of_bare = n_bare > 0 && TaskTraits::of(spec.operation).works_on != WorksOn::Folder;
        let first_folder = if is_of_bare { n_folders - n_bare } else { 0 };
        let n = if is_folder { n_folders - first_folder } else { job.in_use.len() };
        let job_seed = derive(job.seed, Stream::Part, u64::from(idx));
        let worker_seed = derive(worker_seed, Stream::Part, u64::from(idx));
        let select = spec.select;
        let draws = TaskTraits::of(spec.operation).draws;
        let reads = if draws == Some(TreeIo::Writes) { 0.0 } else { 100.0 };
        Ok(Task {
            idx,
            first_folder,
            selector: Selector::new(select.order, select.once, n, job_seed, worker_seed),
            sizes: Sizes::new(&spec.block_size, false, worker_seed, 0)?,
            reads: Chance::from_pct(spec.read_pct.unwrap_or(reads)),
            hot: spec.hot_places.map(|hot| Chance::from_pct(hot.ops_pct)),
            rng: Rng::for_stream(worker_seed, Stream::Offset, 0),
            spec: spec.clone(),
            stage: Stage::Pick,
            held: None,
            awaited: None,
            n_tried: 0,
        })
    }

    pub(super) fn weight(&self) -> f64 {
        self.spec.weight.max(0.0)
    }

    pub(super) fn spec(&self) -> &TreeTask {
        &self.spec
    }

    fn works_on(&self) -> WorksOn {
        TaskTraits::of(self.spec.operation).works_on
    }

    /// Returns whether the next operation only ends what was asked for: it waits for no rate.
    pub(super) fn is_ending(&self) -> bool {
        match (self.stage, self.spec.operation) {
            (Stage::Do(OpKind::Open), OpKind::Create) => true,
            (Stage::Do(OpKind::Close), operation) => operation != OpKind::Close,
            (Stage::Io(IoProgress { planned: Some(planned), .. }), OpKind::Truncate) => {
                planned.is_next
            }
            (Stage::Pick | Stage::Other(_) | Stage::Do(_) | Stage::Io(_), _) => false,
        }
    }

    /// Returns whether a file or folder is held.
    pub(super) fn is_at_work(&self) -> bool {
        self.held.is_some()
    }

    /// Holds the next file or folder, if none is held. Returns why not.
    pub(super) fn prepare(&mut self, job: &TreeJob) -> Option<Next> {
        if !matches!(self.stage, Stage::Pick) {
            return None;
        }
        match self.pick(job) {
            Picked::Yes(held) => {
                job.begin(self.idx);
                self.stage = match self.spec.before {
                    Before::ReadsOther => Stage::Other(OtherStep::Open),
                    Before::Nothing | Before::ReadsPlace | Before::CutsEnd => {
                        Stage::Do(self.first_kind(held.flags))
                    }
                };
                self.held = Some(held);
                None
            }
            Picked::Later => Some(Next::Later),
            Picked::Over => Some(Next::Done),
            Picked::Stuck(stuck) => Some(Next::Stuck(stuck)),
        }
    }

    /// Returns whether it does nothing to open files but what is asked for.
    pub(super) fn does_io(&self) -> bool {
        let is_plain = self.spec.before == Before::Nothing;
        is_plain && matches!(self.spec.operation, OpKind::Read | OpKind::Write)
    }

    /// Returns the next operation where a file is open.
    #[inline]
    pub(super) fn next_io(&mut self) -> Option<TreeOp> {
        let (Stage::Io(place), Some(held)) = (self.stage, &self.held) else { return None };
        let entry = held.entry;
        Some(self.io(entry, place))
    }

    /// Returns the next operation.
    #[inline]
    pub(super) fn next(&mut self, job: &TreeJob) -> Next {
        if let Some(why) = self.prepare(job) {
            return why;
        }
        let Some(held) = self.held else { return Next::Later };
        match self.stage {
            Stage::Pick => Next::Later,
            Stage::Other(step) => Next::Op(self.on_other(job, held, step)),
            Stage::Do(kind) => {
                let is_asked = kind == self.spec.operation;
                let op = TreeOp::whole(kind, held.entry, is_asked, self.idx);
                // Of a file that is renamed, the number of its new name.
                let other = held.other.filter(|_| kind == OpKind::Rename);
                Next::Op(TreeOp { offset: other.map_or(0, u64::from), ..op })
            }
            Stage::Io(place) => Next::Op(self.io(held.entry, place)),
        }
    }

    /// Returns what is done next with the other file.
    fn on_other(&self, job: &TreeJob, held: HeldEntry, step: OtherStep) -> TreeOp {
        let entry = held.other.unwrap_or(held.entry);
        let (kind, len) = match step {
            OtherStep::Open => (OpKind::Open, 0),
            OtherStep::Read => (OpKind::Read, clamped(job.state.tree().size_bytes(entry))),
            OtherStep::Close { .. } => (OpKind::Close, 0),
        };
        TreeOp { len, ..TreeOp::whole(kind, entry, false, self.idx) }
    }

    /// Returns what is done first with what is held.
    fn first_kind(&self, flags: FileFlags) -> OpKind {
        match self.spec.operation {
            // Of a folder: it is there.
            OpKind::Mkdir if flags.exists => OpKind::Rmdir,
            OpKind::Write if !flags.exists => OpKind::Create,
            OpKind::Write if self.removes_first(flags) => OpKind::Delete,
            kind if TaskTraits::of(kind).opens => OpKind::Open,
            kind => kind,
        }
    }

    /// Returns whether a file is removed before it is written: as in Vdbench, one that was left
    /// before its end is gone on with instead.
    fn removes_first(&self, flags: FileFlags) -> bool {
        matches!(self.spec.io, FileIo::Sequential { delete: true, .. })
            && (flags.is_full || self.spec.stop_after == Some(StopAfter::Ios(0)))
    }

    fn is_sequential(&self) -> bool {
        matches!(self.spec.io, FileIo::Sequential { .. })
    }

    /// Chooses the next I/O on an open file.
    #[inline]
    fn io(&mut self, entry: u32, place: IoProgress) -> TreeOp {
        if let Some(planned) = place.planned {
            return self.planned_io(entry, planned);
        }
        let kind = match TaskTraits::of(self.spec.operation).draws {
            Some(TreeIo::Itself) => self.spec.operation,
            Some(TreeIo::Reads | TreeIo::Writes) if self.rng.chance(self.reads) => OpKind::Read,
            Some(TreeIo::Reads | TreeIo::Writes) => OpKind::Write,
            None => unreachable!("what a task does on an open file is drawn or planned"),
        };
        let (offset, len) = if self.is_sequential() {
            let room = place.size_bytes - place.next_byte;
            (place.next_byte, self.sizes.next(u64::MAX).min(clamped(room)))
        } else {
            self.random_place(place.size_bytes)
        };
        TreeOp { kind, entry, offset, len, is_asked: true, task: self.idx }
    }

    /// Returns a transfer that something leads to, or what leads to it.
    fn planned_io(&self, entry: u32, planned: Planned) -> TreeOp {
        let Planned { offset, len, is_next } = planned;
        let kind = match self.spec.before {
            _ if is_next => OpKind::Write,
            Before::ReadsPlace => OpKind::Read,
            Before::Nothing | Before::ReadsOther | Before::CutsEnd => OpKind::Truncate,
        };
        let len = if kind == OpKind::Truncate { 0 } else { len };
        let is_asked = kind == self.spec.operation;
        TreeOp { kind, entry, offset, len, is_asked, task: self.idx }
    }

    /// Chooses a transfer that something on the open file leads to.
    fn plan(&mut self, size_bytes: u64) -> Option<Planned> {
        let cuts = self.spec.before == Before::CutsEnd || self.spec.operation == OpKind::Truncate;
        if cuts {
            let len = self.sizes.next(u64::MAX).min(clamped(size_bytes));
            return Some(Planned { offset: size_bytes - u64::from(len), len, is_next: false });
        }
        if self.spec.before != Before::ReadsPlace {
            return None;
        }
        let (offset, len) = self.random_place(size_bytes);
        Some(Planned { offset, len, is_next: false })
    }

    /// Draws where in a file of this size an I/O is, and how long.
    fn random_place(&mut self, size_bytes: u64) -> (u64, u32) {
        let len = self.sizes.next(u64::MAX).min(clamped(size_bytes));
        let n_blocks = (size_bytes / u64::from(len.max(1))).max(1);
        (self.block(n_blocks) * u64::from(len), len)
    }

    /// Draws a block of a file that has so many.
    fn block(&mut self, n_blocks: u64) -> u64 {
        let (Some(chance), Some(hot)) = (self.hot, self.spec.hot_places) else {
            return self.rng.bounded(n_blocks);
        };
        let n_hot = hot.n_hot(n_blocks);
        if self.rng.chance(chance) || n_hot == n_blocks {
            return self.rng.bounded(n_hot);
        }
        n_hot + self.rng.bounded(n_blocks - n_hot)
    }

    /// Takes what became of the last operation: its error number, 0 for none.
    pub(super) fn completed(&mut self, job: &TreeJob, op: &TreeOp, errno: i32) -> Verdict {
        let Some(held) = self.held else { return Verdict::Done };
        if errno != 0 {
            return self.failed(job, op, held, errno);
        }
        self.n_tried = 0;
        match self.stage {
            Stage::Io(_) => self.advance(job, op),
            Stage::Other(step) => self.after_other(job, held, step),
            Stage::Pick | Stage::Do(_) => self.after(job, op.kind, held),
        }
        Verdict::Done
    }

    /// Goes on after an operation that did nothing, or not all.
    fn failed(&mut self, job: &TreeJob, op: &TreeOp, held: HeldEntry, errno: i32) -> Verdict {
        // What a failed write left of the file is unknown.
        if op.kind == OpKind::Write && !held.flags.is_full {
            job.state.set_file(held.entry, FileFlags { has_data: true, ..held.flags });
        }
        let is_read = matches!(op.kind, OpKind::Read | OpKind::MapRead);
        match self.stage {
            // What lies behind a place that cannot be read may be readable.
            Stage::Io(_) if is_read && self.spec.before == Before::Nothing => self.advance(job, op),
            Stage::Io(_) => {
                self.note_cut(job, op, held);
                self.stage = Stage::Do(OpKind::Close);
            }
            Stage::Other(OtherStep::Read) => {
                self.stage = Stage::Other(OtherStep::Close { was_read: false });
            }
            Stage::Pick | Stage::Do(_) | Stage::Other(_) => self.let_go(job),
        }
        if op.kind == OpKind::Rmdir && errno == ENOTEMPTY {
            job.state.note_left();
            self.n_tried += 1;
            return Verdict::Tolerated;
        }
        Verdict::Failed
    }

    /// Notes that a file that was cut has not got its end back.
    fn note_cut(&self, job: &TreeJob, op: &TreeOp, held: HeldEntry) {
        let Stage::Io(IoProgress { planned: Some(planned), .. }) = self.stage else { return };
        if self.spec.before != Before::ReadsPlace && planned.is_next {
            let whole_bytes = job.state.tree().size_bytes(held.entry);
            job.state.set_file(held.entry, FileFlags::of_size(Some(op.offset), whole_bytes));
        }
    }

    /// Goes on after an operation on the other file.
    fn after_other(&mut self, job: &TreeJob, held: HeldEntry, step: OtherStep) {
        self.stage = match step {
            OtherStep::Open => {
                job.state.set_opened(held.other.unwrap_or(held.entry));
                Stage::Other(OtherStep::Read)
            }
            OtherStep::Read => Stage::Other(OtherStep::Close { was_read: true }),
            OtherStep::Close { was_read: true } => Stage::Do(self.first_kind(held.flags)),
            OtherStep::Close { was_read: false } => {
                self.let_go(job);
                return;
            }
        };
    }

    /// Goes on after an operation without bytes.
    fn after(&mut self, job: &TreeJob, kind: OpKind, mut held: HeldEntry) {
        let state = &job.state;
        let is_write = self.spec.operation == OpKind::Write;
        let size_bytes = || state.tree().size_bytes(held.entry);
        let mut next = None;
        match kind {
            OpKind::Create => {
                held.flags = FileFlags::of_size(Some(0), size_bytes());
                state.set_file(held.entry, held.flags);
                // As Vdbench, which counts an open and a close for a file that it makes.
                let opens = is_write || self.spec.operation == OpKind::Create;
                next = opens.then_some(Stage::Do(OpKind::Open));
            }
            OpKind::Delete => {
                held.flags = FileFlags::of_size(None, 0);
                if is_write {
                    // Stays in the folder, which must not go before the file is made again.
                    state.pin_anyway(held.entry);
                    held.is_pinned = true;
                    next = Some(Stage::Do(OpKind::Create));
                }
                state.set_file(held.entry, held.flags);
            }
            OpKind::Mkdir => state.set_folder(held.entry, true),
            OpKind::Rmdir => {
                state.set_folder(held.entry, false);
                let is_made_anew = self.spec.operation == OpKind::Mkdir;
                next = is_made_anew.then_some(Stage::Do(OpKind::Mkdir));
            }
            OpKind::Open => {
                job.state.set_opened(held.entry);
                next = Some(if self.spec.moves_bytes() {
                    Stage::Io(self.start_place(job, held, size_bytes()))
                } else if self.spec.operation == OpKind::Lock {
                    Stage::Do(OpKind::Lock)
                } else {
                    Stage::Do(OpKind::Close)
                });
            }
            OpKind::Lock => next = Some(Stage::Do(OpKind::Close)),
            OpKind::Rename => Self::after_rename(job, held),
            OpKind::Copy | OpKind::Move => Self::after_copy(job, kind, held),
            OpKind::Read
            | OpKind::Write
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
            | OpKind::Truncate
            | OpKind::Readdir
            | OpKind::Statfs
            | OpKind::Pathconf
            | OpKind::MapRead
            | OpKind::MapWrite => {}
        }
        self.held = Some(held);
        match next {
            Some(stage) => self.stage = stage,
            None => self.let_go(job),
        }
    }

    fn after_rename(job: &TreeJob, held: HeldEntry) {
        if let Some(other) = held.other {
            job.state.set_file(other, held.flags);
            job.state.set_file(held.entry, FileFlags::of_size(None, 0));
        }
    }

    fn after_copy(job: &TreeJob, kind: OpKind, held: HeldEntry) {
        if let (Some(second), Some(target)) = (&job.second, held.target) {
            let bytes = job.state.tree().size_bytes(held.entry);
            let whole_bytes = second.tree().size_bytes(target);
            second.set_file(target, FileFlags::of_size(Some(bytes), whole_bytes));
        }
        if kind == OpKind::Move {
            job.state.set_file(held.entry, FileFlags::of_size(None, 0));
        }
    }

    /// Chooses where I/O on an opened file begins. As in Vdbench, one that is left before its end
    /// is gone on with the next time, and `seqnz` counts for files of their whole size alone.
    fn start_place(&mut self, job: &TreeJob, held: HeldEntry, size_bytes: u64) -> IoProgress {
        let nonzero = matches!(self.spec.io, FileIo::Sequential { nonzero: true, .. });
        let step = u64::from(self.spec.block_size.max().max(1));
        let next_byte = if nonzero && held.flags.is_full {
            self.rng.bounded(size_bytes.div_ceil(step)) * step
        } else if self.is_sequential() && held.flags.has_data {
            Some(job.left_at(held.entry)).filter(|byte| *byte < size_bytes).unwrap_or(0)
        } else {
            0
        };
        IoProgress { size_bytes, next_byte, n_ios: 0, bytes: 0, planned: self.plan(size_bytes) }
    }

    /// Goes on after an I/O.
    fn advance(&mut self, job: &TreeJob, op: &TreeOp) {
        let (Stage::Io(mut place), Some(mut held)) = (self.stage, self.held) else { return };
        if let Some(planned) = place.planned.as_mut().filter(|planned| !planned.is_next) {
            planned.is_next = true;
            self.stage = Stage::Io(place);
            return;
        }
        place.planned = self.plan(place.size_bytes);
        place.n_ios += 1;
        place.bytes += u64::from(op.len);
        let is_sequential = self.is_sequential();
        let mut is_over = self.is_enough(&place);
        if is_sequential {
            place.next_byte = op.offset + u64::from(op.len);
            is_over |= place.next_byte >= place.size_bytes;
            job.leave_at(held.entry, place.next_byte);
        }
        if op.kind == OpKind::Write && !held.flags.is_full {
            let end = op.offset + u64::from(op.len);
            let is_full = end >= place.size_bytes;
            held.flags = FileFlags { exists: true, has_data: true, is_full };
            job.state.set_file(held.entry, held.flags);
            self.held = Some(held);
        }
        self.stage = if is_over { Stage::Do(OpKind::Close) } else { Stage::Io(place) };
    }

    /// Returns whether a file is left for the next.
    fn is_enough(&self, place: &IoProgress) -> bool {
        match self.spec.stop_after {
            Some(StopAfter::Ios(n_ios)) => n_ios > 0 && place.n_ios >= n_ios,
            Some(StopAfter::Pct(pct)) => {
                place.bytes as f64 >= place.size_bytes as f64 * pct.max(0.0) / 100.0
            }
            None => !self.is_sequential() && place.bytes >= place.size_bytes,
        }
    }

    /// Lets go of what is held.
    fn let_go(&mut self, job: &TreeJob) {
        self.stage = Stage::Pick;
        let Some(held) = self.held.take() else { return };
        let state = &job.state;
        match self.works_on() {
            // One that is made anew was held as a folder that is there.
            WorksOn::MissingFolder if held.flags.exists => state.release_folder(held.entry),
            WorksOn::MissingFolder => state.release_missing_folder(held.entry),
            WorksOn::EmptyFolder => state.release_folder(held.entry),
            WorksOn::Folder => state.unpin_folder(held.entry),
            WorksOn::MissingFile | WorksOn::File | WorksOn::FullFile | WorksOn::WrittenFile => {
                if held.is_pinned {
                    state.unpin_folder(state.tree().folder_of(held.entry));
                }
                state.release_file(held.entry, held.is_shared);
                if let Some(other) = held.other {
                    if self.spec.operation == OpKind::Rename {
                        state.unpin_folder(state.tree().folder_of(other));
                    }
                    state.release_file(other, false);
                }
                if let (Some(second), Some(target)) = (&job.second, held.target) {
                    second.unpin_folder(second.tree().folder_of(target));
                    second.release_file(target, false);
                }
            }
        }
    }

    fn pick(&mut self, job: &TreeJob) -> Picked {
        for nth in 0..N_TRIED_AT_ONCE {
            let Some(position) = self.position(job, nth > 0) else { return Picked::Over };
            match self.hold(job, position) {
                Ok(held) => return Picked::Yes(held),
                Err(Refused::Busy) => {
                    if self.spec.select.once {
                        self.awaited = Some(position);
                        return Picked::Later;
                    }
                }
                // Where each comes once, one that does not fit has had its turn.
                Err(Refused::Unfit) if self.spec.select.once => {}
                Err(Refused::Unfit) => self.n_tried += 1,
            }
            if self.n_tried > 0 && self.n_tried.is_multiple_of(N_TRIED_AT_ONCE) {
                break;
            }
        }
        self.without_luck(job)
    }

    /// Decides what to do when nothing that fits was found.
    fn without_luck(&mut self, job: &TreeJob) -> Picked {
        let works_on = self.works_on();
        let makes_files = works_on == WorksOn::WrittenFile && self.is_sequential();
        // Any folder may be empty, and made anew.
        let recycles = self.spec.recycles && job.state.there().n_folders > 0;
        let has_work =
            recycles || job.state.has_work(works_on, self.spec.select.filter, makes_files);
        if !has_work && !job.state.is_awaited(works_on.suppliers()) {
            return if job.has_begun(self.idx) { Picked::Over } else { self.stuck(job, 0) };
        }
        if self.n_tried >= N_TRIED_MAX {
            return self.stuck(job, self.n_tried);
        }
        Picked::Later
    }

    /// Reports that nothing can be done, and what there is.
    fn stuck(&self, job: &TreeJob, n_tried: u32) -> Picked {
        Picked::Stuck(Box::new(Stuck {
            operation: self.spec.operation,
            filter: self.spec.select.filter,
            n_tried,
            there: job.state.there(),
            target: job.second.as_ref().map(|second| second.there()),
        }))
    }

    /// Returns the position that is tried next, `again` in place of one that did not fit; `None`
    /// when each has had its turn.
    fn position(&mut self, job: &TreeJob, again: bool) -> Option<u32> {
        if let Some(position) = self.awaited.take() {
            return Some(position);
        }
        if self.selector.is_empty() {
            return None;
        }
        if !self.selector.takes_turns() {
            let selector = &mut self.selector;
            return Some(if again { selector.draw_again() } else { selector.draw() });
        }
        let turns = &job.turns[usize::from(self.idx)];
        let turn = turns.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        (!self.spec.select.once || turn < self.selector.len()).then(|| self.selector.at_turn(turn))
    }

    /// Returns whether others may work on the same file: never where it comes or goes.
    fn may_share(&self) -> bool {
        let may_share = TaskTraits::of(self.spec.operation).may_share;
        may_share && self.spec.io == FileIo::Random { shared: true }
    }

    /// Holds what is at a position, if it fits.
    fn hold(&mut self, job: &TreeJob, position: u32) -> Result<HeldEntry, Refused> {
        let state = &job.state;
        let no_file = FileFlags::of_size(None, 0);
        let of_folder = HeldEntry {
            entry: self.first_folder + position,
            is_shared: false,
            flags: no_file,
            is_pinned: false,
            target: None,
            other: None,
        };
        match self.works_on() {
            WorksOn::Folder => {
                return state.pin_folder(of_folder.entry).map(|()| of_folder);
            }
            WorksOn::MissingFolder => {
                let held = state.hold_missing_folder(of_folder.entry).map(|()| of_folder);
                if !self.spec.recycles || held != Err(Refused::Unfit) {
                    return held;
                }
                let flags = FileFlags { exists: true, ..no_file };
                let of_folder = HeldEntry { flags, ..of_folder };
                return state.hold_empty_folder(of_folder.entry).map(|()| of_folder);
            }
            WorksOn::EmptyFolder => {
                return state.hold_empty_folder(of_folder.entry).map(|()| of_folder);
            }
            WorksOn::MissingFile | WorksOn::File | WorksOn::FullFile | WorksOn::WrittenFile => {}
        }
        let entry = job.in_use.file(position);
        if self.spec.moves_bytes() && state.tree().size_bytes(entry) == 0 {
            return Err(Refused::Unfit);
        }
        let is_shared = self.may_share();
        let flags = state.hold_file(entry, is_shared, |flags| self.fits(flags))?;
        let mut held =
            HeldEntry { entry, is_shared, flags, is_pinned: false, target: None, other: None };
        if !flags.exists {
            if let Err(refused) = state.pin_folder(state.tree().folder_of(entry)) {
                state.release_file(entry, is_shared);
                return Err(refused);
            }
            held.is_pinned = true;
        }
        if matches!(self.spec.operation, OpKind::Copy | OpKind::Move) {
            held.target = match hold_target(job, entry) {
                Ok(target) => target,
                Err(refused) => {
                    state.release_file(entry, is_shared);
                    return Err(refused);
                }
            };
        }
        if self.spec.takes_two() {
            held.other = self.hold_other(job, entry);
            if held.other.is_none() {
                state.release_file(entry, is_shared);
                return Err(Refused::Unfit);
            }
        }
        Ok(held)
    }

    /// Holds another file of the same size that is written in full; of a file that is renamed, a
    /// name that is free.
    fn hold_other(&mut self, job: &TreeJob, entry: u32) -> Option<u32> {
        let state = &job.state;
        let size_bytes = state.tree().size_bytes(entry);
        let is_renamed = self.spec.operation == OpKind::Rename;
        for _ in 0..N_TRIED_AT_ONCE {
            let other = job.in_use.file(self.rng.bounded(u64::from(job.in_use.len())) as u32);
            if other == entry || state.tree().size_bytes(other) != size_bytes {
                continue;
            }
            let fits = |flags: FileFlags| if is_renamed { !flags.exists } else { flags.is_full };
            if state.hold_file(other, false, fits).is_err() {
                continue;
            }
            if is_renamed && state.pin_folder(state.tree().folder_of(other)).is_err() {
                state.release_file(other, false);
                continue;
            }
            return Some(other);
        }
        None
    }

    /// Returns whether an operation can be done on such a file.
    fn fits(&self, flags: FileFlags) -> bool {
        let FileFlags { exists, has_data, is_full } = flags;
        let is_mixed = self.spec.read_pct.is_some_and(|pct| pct > 0.0);
        let of_operation = match self.works_on() {
            WorksOn::MissingFile => !exists,
            WorksOn::FullFile => is_full,
            WorksOn::WrittenFile if is_mixed => is_full,
            WorksOn::WrittenFile => self.is_sequential() || exists,
            WorksOn::File | WorksOn::Folder | WorksOn::MissingFolder | WorksOn::EmptyFolder => {
                exists
            }
        };
        of_operation
            && match self.spec.select.filter {
                SelectFilter::Any => true,
                SelectFilter::Present => exists,
                // One that is missing is both, as in Vdbench; whether it may be missing is the
                // operation's word.
                SelectFilter::Empty => !has_data,
                SelectFilter::Full => is_full,
                SelectFilter::NotFull => !is_full,
            }
    }
}

/// Holds the file of the second tree that one is copied or moved to.
fn hold_target(job: &TreeJob, file: u32) -> Result<Option<u32>, Refused> {
    let Some(second) = &job.second else { return Ok(None) };
    let n_files = second.tree().n_files();
    if n_files == 0 {
        return Err(Refused::Unfit);
    }
    let target = file % n_files;
    second.hold_file(target, false, |_| true)?;
    if let Err(refused) = second.pin_folder(second.tree().folder_of(target)) {
        second.release_file(target, false);
        return Err(refused);
    }
    Ok(Some(target))
}

fn clamped(bytes: u64) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}
