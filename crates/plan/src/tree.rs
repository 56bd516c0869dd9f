//! Work on a tree of folders and files below one folder, the anchor.
//!
//! A tree is described, not listed: how deep, how wide, how many files of which sizes. Which folder
//! or file has which number, path and size follows from that (`pattern::tree`), so that a million
//! files cost no list. The names and most operations are those of Vdbench.

use crate::op::{OpClass, OpKind};
use crate::workload::BlockSize;

/// Most files or folders of a tree: their numbers and a mark for a second tree fit 32 bits.
pub const ENTRIES_MAX: u64 = (1 << 31) - 1;

/// Most levels of folders: the path of one more does not fit the kernel's 4,096 bytes.
pub const DEPTH_MAX: u32 = 340;

/// Marks the number of a file or folder as one of the job's second tree; see [`TreeWork::target`].
pub const IN_TARGET: u32 = 1 << 31;

/// Name masks of Vdbench 5.04.07: of a file by its number, of a folder by its level and its
/// position in the folder above, both from 1.
pub const DEFAULT_MASKS: (&str, &str) = ("vdb_f%04d.file", "vdb.%d_%d.dir");

/// Name of the engine of every job that works on a tree, for reports.
pub const ENGINE_NAME: &str = "tree";

/// Default seed of sizes and of the part in use; one for all, so that the same definition is the
/// same tree in every run. It is that of Vdbench, whose trees are ours.
pub const DEFAULT_SEED: u64 = 0;

/// Sizes of files.
#[derive(Clone, Debug, PartialEq)]
pub enum FileSizes {
    /// All the same, bytes.
    Fixed(u64),
    /// Sizes in bytes and their shares in percent, which add up to 100.
    Split(Vec<(u64, f64)>),
    /// Drawn evenly between a half and one and a half of this mean, rounded as Vdbench does: sizes
    /// from 10 MiB on to 1 MiB; else to 100 KiB with a mean from 1 MiB on, to 10 KiB with one from
    /// 100 KiB on, and to 1 KiB below that.
    Average(u64),
}

impl FileSizes {
    /// Returns a size that no file exceeds, bytes.
    pub fn bytes_max(&self) -> u64 {
        match self {
            FileSizes::Fixed(bytes) => *bytes,
            // One and a half of the mean, rounded to 1 MiB at most.
            FileSizes::Average(bytes) => (bytes + bytes / 2).saturating_add(1 << 20),
            FileSizes::Split(parts) => parts.iter().map(|part| part.0).max().unwrap_or(0),
        }
    }

    /// Returns the mean size in bytes.
    pub fn mean_bytes(&self) -> f64 {
        match self {
            FileSizes::Fixed(bytes) | FileSizes::Average(bytes) => *bytes as f64,
            FileSizes::Split(parts) => {
                let shares: f64 = parts.iter().map(|part| part.1).sum();
                let sum: f64 = parts.iter().map(|part| part.0 as f64 * part.1).sum();
                if shares > 0.0 { sum / shares } else { 0.0 }
            }
        }
    }
}

/// A tree of folders and files.
#[derive(Clone, Debug, PartialEq)]
pub struct TreeSpec {
    /// Name in messages.
    pub name: String,
    /// Folder that holds it.
    pub anchor: String,
    /// Missing folders above the anchor are made. Of trees of workers ([`TreeSpec::own`]) that is
    /// the anchor of all of them; those between it and each tree are always made.
    pub create_parents: bool,
    /// Levels of folders, at least 1.
    pub depth: u32,
    /// Folders per folder, at least 1.
    pub width: u32,
    /// Files per folder that has any.
    pub files: u64,
    /// Files are in the lowest folders only, else in all.
    pub bottom_only: bool,
    /// So many of the folders that may have files, the last of them, have none: they can be removed
    /// and made.
    pub bare_folders: u32,
    /// Sizes of the files.
    pub sizes: FileSizes,
    /// `printf` mask of file names, with one number; see [`DEFAULT_MASKS`].
    pub file_mask: String,
    /// `printf` mask of folder names, with two numbers.
    pub folder_mask: String,
    /// Use only so many of the files, evenly spread; 0 is all. With `total_bytes` those count.
    pub used_files: u64,
    /// Use only a part of the files that holds this, drawn from the seed as Vdbench draws it; 0 is
    /// all.
    pub total_bytes: u64,
    /// Work on a part of those that holds this, drawn likewise; 0 is all.
    pub working_set_bytes: u64,
    /// Position among so many hosts that share the tree: each uses every n-th file.
    pub share: (u32, u32),
    /// Seed of sizes and of the part in use.
    pub seed: u64,
    /// Each worker of the job has such a tree of its own; `None` is one tree for all of them.
    pub own: Option<OwnTrees>,
}

/// Trees of workers that work apart from each other, each below a folder of its own: one for each
/// instance of a component in each unit of load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnTrees {
    /// Name of the unit, such as `jobset`.
    pub unit: String,
    /// Name of the component, such as `frontend`.
    pub component: String,
    /// Instances of the component in a unit, at least 1.
    pub n_per_unit: u32,
}

impl OwnTrees {
    /// Returns the folder of a worker's tree below the job's anchor: `jobset-0003/frontend-1`.
    fn folder(&self, worker_idx: u32) -> String {
        let OwnTrees { unit, component, n_per_unit } = self;
        let n_per_unit = (*n_per_unit).max(1);
        let (unit_idx, instance) = (worker_idx / n_per_unit, worker_idx % n_per_unit);
        format!("{unit}-{:04}/{component}-{}", unit_idx + 1, instance + 1)
    }
}

impl Default for TreeSpec {
    fn default() -> Self {
        TreeSpec {
            name: String::new(),
            anchor: String::new(),
            create_parents: false,
            depth: 1,
            width: 1,
            files: 10,
            bottom_only: true,
            bare_folders: 0,
            sizes: FileSizes::Fixed(4096),
            file_mask: DEFAULT_MASKS.0.to_owned(),
            folder_mask: DEFAULT_MASKS.1.to_owned(),
            used_files: 0,
            total_bytes: 0,
            working_set_bytes: 0,
            share: (0, 1),
            seed: DEFAULT_SEED,
            own: None,
        }
    }
}

impl TreeSpec {
    /// Returns the tree of one of a job's workers.
    #[must_use]
    pub fn of_worker(&self, worker_idx: u32) -> TreeSpec {
        let Some(own) = &self.own else { return self.clone() };
        let anchor = format!("{}/{}", self.anchor.trim_end_matches('/'), own.folder(worker_idx));
        TreeSpec { anchor, create_parents: true, own: None, ..self.clone() }
    }

    /// Returns the number of folders, without the anchor; `None` above [`ENTRIES_MAX`] or
    /// [`DEPTH_MAX`].
    ///
    /// # Panics
    /// If it has no level, or a folder has none below.
    pub fn n_folders(&self) -> Option<u64> {
        let (depth, width) = (self.depth, self.width);
        assert!(depth > 0, "a tree of {depth} levels");
        assert!(width > 0, "a tree of {width} folders in each");
        if self.depth > DEPTH_MAX {
            return None;
        }
        let mut n_folders = 0_u64;
        let mut of_level = 1_u64;
        for _ in 0..depth {
            of_level = of_level.checked_mul(u64::from(width))?;
            n_folders = n_folders.checked_add(of_level).filter(|n| *n <= ENTRIES_MAX)?;
        }
        Some(n_folders)
    }

    /// Returns the number of files; `None` above [`ENTRIES_MAX`].
    pub fn n_files(&self) -> Option<u64> {
        let n_folders = self.n_folders()?;
        let with_files = if self.bottom_only {
            u64::from(self.width).checked_pow(self.depth)?
        } else {
            n_folders
        };
        let with_files = with_files.saturating_sub(u64::from(self.bare_folders));
        with_files.checked_mul(self.files).filter(|n| *n <= ENTRIES_MAX)
    }

    /// Returns the bytes that all files are expected to hold; `None` above [`ENTRIES_MAX`] files.
    pub fn expected_bytes(&self) -> Option<f64> {
        Some(self.n_files()? as f64 * self.sizes.mean_bytes())
    }
}

/// How files are opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TreeOpen {
    /// Past the page cache (`O_DIRECT`).
    pub direct: bool,
    /// Writes are durable when they return (`O_DSYNC`).
    pub dsync: bool,
    /// Made durable before closing (`fsync`).
    pub fsync_on_close: bool,
    /// Further bits for `open(2)`.
    pub raw_bits: u32,
}

/// What a job does in a tree.
#[derive(Clone, Debug, PartialEq)]
pub struct TreeWork {
    /// The tree.
    pub tree: TreeSpec,
    /// Tree that files are copied or moved to.
    pub target: Option<TreeSpec>,
    /// How files are opened.
    pub open: TreeOpen,
    /// What is done.
    pub activity: Activity,
    /// How the next of several tasks is chosen.
    pub mixing: Mixing,
}

/// How the next of several tasks is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mixing {
    /// Drawn by weight, each by itself.
    #[default]
    Drawn,
    /// Dealt: all of a shuffled deck, in which each task has its share, then of the next one. Over
    /// each deck the shares are exact, so that creating and removing files keep pace.
    Dealt,
}

/// Kinds of work in a tree.
#[derive(Clone, Debug, PartialEq)]
pub enum Activity {
    /// Operations. Several are mixed in one stream per worker, in proportion to their weights.
    Operations(Vec<TreeTask>),
    /// Makes, completes or removes the tree.
    Format(Format),
}

/// One kind of operation and what it is applied to.
#[derive(Clone, Debug, PartialEq)]
pub struct TreeTask {
    /// Name in results; empty where a job has only one.
    pub name: String,
    /// Share of the operations, in proportion to the other tasks' weights, above 0.
    pub weight: f64,
    /// What is done and counted. Opening, closing and creating that it takes are counted by
    /// themselves and belong to no rate.
    pub operation: OpKind,
    /// With `operation` read or write: each I/O is a read with this chance, percent; `None` is the
    /// operation alone.
    pub read_pct: Option<f64>,
    /// How a file is read and written.
    pub io: FileIo,
    /// Which file or folder is next.
    pub select: Select,
    /// Random places are more often at the start of a file; `None` is anywhere.
    pub hot_places: Option<Locality>,
    /// Bytes per I/O.
    pub block_size: BlockSize,
    /// When a file is left for the next; `None` at its end, or after random I/Os for as many bytes
    /// as it has.
    pub stop_after: Option<StopAfter>,
    /// What leads to a write, and is not counted.
    pub before: Before,
    /// With `operation` mkdir: a folder that exists and is empty is removed first, which is not
    /// counted. So folders can be made without end.
    pub recycles: bool,
}

impl Default for TreeTask {
    fn default() -> Self {
        TreeTask {
            name: String::new(),
            weight: 1.0,
            operation: OpKind::Read,
            read_pct: None,
            io: FileIo::Random { shared: false },
            select: Select::default(),
            hot_places: None,
            block_size: BlockSize::Fixed(4096),
            stop_after: None,
            before: Before::Nothing,
            recycles: false,
        }
    }
}

/// What leads to a write of an open file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Before {
    /// Nothing.
    #[default]
    Nothing,
    /// What is there is read.
    ReadsPlace,
    /// All of another file of the same size is read.
    ReadsOther,
    /// As many bytes are cut off the file's end, where they are written then. So files can be
    /// written at their end for ever.
    CutsEnd,
}

/// How a file is read and written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileIo {
    /// Anywhere, in multiples of the I/O's size.
    Random {
        /// Several workers may work on the same file.
        shared: bool,
    },
    /// From its start, or a random place, to its end.
    Sequential {
        /// Starts at a random place.
        nonzero: bool,
        /// A file is removed before it is written again.
        delete: bool,
    },
}

/// Which file is next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Select {
    /// What the next file is drawn by.
    pub order: SelectOrder,
    /// Each file once, then the task is done.
    pub once: bool,
    /// Which files are considered.
    pub filter: SelectFilter,
}

impl Default for Select {
    fn default() -> Self {
        Select { order: SelectOrder::Random, once: false, filter: SelectFilter::Any }
    }
}

/// What the next file is drawn by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SelectOrder {
    /// Any.
    Random,
    /// One after the other from the first, over all workers of the job.
    Seq,
    /// One after the other from a random one.
    SeqNz,
    /// By a Poisson distribution with this midpoint; see `pattern::tree::Selector`.
    Poisson(f64),
    /// More often those at the front, with this midpoint.
    Skewed(f64),
    /// A share of all draws is among the first of them, and the rest among the others.
    Hot(Locality),
}

/// A share of operations that goes to a share of files, or of a file: in both, evenly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Locality {
    /// Share of the operations, percent, from above 0 to 100.
    pub ops_pct: f64,
    /// Share of what they go to, percent, from above 0 to 100.
    pub of_pct: f64,
}

impl Locality {
    /// Returns how many of `n` the share is, one at least.
    pub fn n_hot(&self, n: u64) -> u64 {
        let n_hot = (n as f64 * self.of_pct / 100.0).round() as u64;
        n_hot.clamp(1, n.max(1))
    }
}

/// Which files are considered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SelectFilter {
    /// All.
    Any,
    /// Those that are there, whatever they hold: none is made to be written.
    Present,
    /// Those that hold nothing.
    Empty,
    /// Those with their whole size.
    Full,
    /// Those that are there without their whole size.
    NotFull,
}

/// When a file is left for the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StopAfter {
    /// After so many I/Os; 0 is never before its end.
    Ios(u64),
    /// After I/Os for so many percent of its size.
    Pct(f64),
}

/// Makes, completes or removes a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// What is there is removed first.
    pub clean: bool,
    /// Folders and files are made.
    pub create: bool,
    /// Only folders are made.
    pub folders_only: bool,
    /// Bytes per write.
    pub block_bytes: u32,
}

impl TreeWork {
    /// Returns the work of one of a job's workers.
    #[must_use]
    pub fn of_worker(&self, worker_idx: u32) -> TreeWork {
        let target = self.target.as_ref().map(|target| target.of_worker(worker_idx));
        TreeWork { tree: self.tree.of_worker(worker_idx), target, ..self.clone() }
    }

    /// Returns whether the work changes anything below the anchor.
    pub fn modifies(&self) -> bool {
        match &self.activity {
            Activity::Format(_) => true,
            Activity::Operations(tasks) => tasks.iter().any(TreeTask::modifies),
        }
    }

    /// Returns the largest I/O in bytes, 0 where there is none.
    pub fn block_size_max(&self) -> u32 {
        match &self.activity {
            Activity::Format(format) => format.block_bytes,
            Activity::Operations(tasks) => {
                tasks.iter().map(|task| task.block_size.max()).max().unwrap_or(0)
            }
        }
    }
}

impl TreeTask {
    /// Returns whether the task changes anything below the anchor.
    pub fn modifies(&self) -> bool {
        self.operation.modifies() || self.read_pct.is_some_and(|pct| pct < 100.0)
    }

    /// Returns whether the task moves bytes of files.
    pub fn moves_bytes(&self) -> bool {
        match self.operation {
            // What is cut off is written again.
            OpKind::Truncate => true,
            operation => matches!(operation.class(), OpClass::Bytes(_)),
        }
    }

    /// Returns whether the task takes two files of the same size, or a name for one.
    pub fn takes_two(&self) -> bool {
        self.operation == OpKind::Rename || self.before == Before::ReadsOther
    }
}
