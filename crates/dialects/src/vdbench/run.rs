//! Runs: what a parameter file comes to after defaults, wildcards, loops and overrides.
//!
//! Sizes are bytes, times nanoseconds, percentages 0..=100 unless said otherwise.

use plan::op::OpKind;

pub use super::findings::SourceRange;

pub use plan::job::AmountMax;
pub use plan::load::{Arrivals, RatePeriod, RatePeriods};
/// `openflags`: `o_dsync`, `o_rsync` and `o_sync` all mean `O_DSYNC`.
pub use plan::tree::TreeOpen as OpenFlags;
pub use plan::tree::{FileIo, FileSizes, Select, SelectFilter, SelectOrder, StopAfter};
pub use plan::verify::{DedupeSets, FlipFlop, SetCount};

/// Returns what opens a file as both want it: it is opened once for all.
pub(super) fn joined(one: OpenFlags, other: OpenFlags) -> OpenFlags {
    OpenFlags {
        direct: one.direct || other.direct,
        dsync: one.dsync || other.dsync,
        fsync_on_close: one.fsync_on_close || other.fsync_on_close,
        raw_bits: one.raw_bits | other.raw_bits,
    }
}

/// One run of a run definition: what Vdbench announces with `Starting RD=`.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Name as announced: of the definition with what its clones and points add, such as
    /// `run4_sd1` or `run2_(10%)`; `format_for_rd1` and `SD_format` are made for the user.
    pub name: String,
    /// Name of the definition as written.
    pub rd: String,
    /// The announcement behind `Starting ` or `Simulating `, such as
    /// `RD=rd1; I/O rate: 500; elapsed=5; For loops: None`.
    pub announced: String,
    /// The same as listed by a simulation: an iorate list shows its first rate there.
    pub simulated: String,
    /// Loop values in nesting order, as printed: `("xfersize", "4k")`.
    pub loops: Vec<(String, String)>,
    /// The rate asked for.
    pub rate: Rate,
    /// Shares between workloads are kept (`Controlled`).
    pub controlled: bool,
    /// Measured time; `None` lasts until the work is done (formats).
    pub elapsed_ns: Option<u64>,
    /// Time before it that is not counted.
    pub warmup_ns: u64,
    /// Time between rows of results.
    pub interval_ns: u64,
    /// Pause before the run.
    pub pause_ns: u64,
    /// Ends the run after this much data.
    pub maxdata: AmountMax,
    /// Spacing of I/Os under a rate.
    pub arrivals: Arrivals,
    /// How the rate, then the largest, changes within the run (`distribution=variable`).
    pub rate_periods: Option<RatePeriods>,
    /// Commands around the run: `startcmd`, `endcmd`.
    pub commands: Vec<Command>,
    /// Contents of written data.
    pub contents: Contents,
    /// After how many failed I/Os everything ends (`data_errors`); and after how many seconds.
    pub data_errors: Option<(u64, Option<u64>)>,
    /// What is done.
    pub work: Work,
}

/// The rate of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rate {
    /// As fast as it goes.
    Max,
    /// As fast as it goes, to find the maximum of a curve: what follows refers to it.
    CurveMax,
    /// A share of the maximum found by the last [`Rate::CurveMax`], rounded as
    /// [`curve_rate_iops`] does.
    CurvePoint {
        /// Percent of the maximum, above 0.
        pct: f64,
        /// The curve ends when the mean response of a point is above this.
        stop_above_ns: Option<u64>,
    },
    /// I/Os (of files: operations) per second, over everything.
    Iops(f64),
}

/// How a curve's rates are rounded up: above the first to a multiple of the second, else to one of
/// the third.
pub const CURVE_ROUND_UP: (u64, u64, u64) = (1000, 100, 10);

/// Returns the rate of a curve's point: a share of the maximum, rounded up by [`CURVE_ROUND_UP`].
/// Vdbench: 50 % of 828 is 420, 70 % is 580.
pub fn curve_rate_iops(max_iops: f64, pct: f64) -> u64 {
    let share = (max_iops.max(0.0).trunc() as u64).saturating_mul(pct as u64) / 100;
    let (limit, above, below) = CURVE_ROUND_UP;
    share.next_multiple_of(if share > limit { above } else { below })
}

/// When a command runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandTime {
    /// Before the run.
    Start,
    /// After the run.
    End,
}

/// A command around a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// When.
    pub time: CommandTime,
    /// The command line for a shell; `$output` stands for the output directory.
    pub text: String,
    /// Where its output goes: `cons`, `sum` or `log`; empty as Vdbench chooses.
    pub output: String,
}

with_defaults! {
    /// Contents of written data.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Contents {
        /// How many times smaller the data compresses, 1.0 is incompressible.
        pub compratio: f64 = 1.0,
        /// How many times smaller the data deduplicates, 1.0 is not at all.
        pub dedupratio: f64 = 1.0,
        /// Bytes of a block for deduplication; 0 where not asked for.
        pub dedupunit_bytes: u64 = 0,
        /// Sets of equal blocks: a number, or a percentage of the blocks.
        pub dedupsets: SetCount = SetCount::Pct(5.0),
        /// Duplicates that change when they are written again (`dedupflipflop`).
        pub dedupflipflop: FlipFlop = FlipFlop::None,
        /// Sets of known size at the target's start: how many, and how many blocks each
        /// (`deduphotsets`).
        pub deduphotsets: Vec<(u32, u32)> = Vec::new(),
        /// File whose bytes are written over and over (`pattern=`).
        pub pattern_file: Option<String> = None,
    }
}

/// What a run does.
#[derive(Clone, Debug, PartialEq)]
pub enum Work {
    /// I/O on storage definitions.
    Raw(RawWork),
    /// Operations on the files of file system definitions.
    Files(FileWork),
    /// Writes storage definitions that are files and missing or short (`SD_format`).
    SdFormat(SdFormat),
    /// Makes, completes or removes file structures (`format_for_`).
    Format(FormatWork),
}

/// I/O on storage definitions.
#[derive(Clone, Debug, PartialEq)]
pub struct RawWork {
    /// Every storage definition in use, in order of definition.
    pub sds: Vec<Sd>,
    /// Workloads in the order of the run definition.
    pub wds: Vec<Wd>,
}

/// A storage definition with what the run overrides.
#[derive(Clone, Debug, PartialEq)]
pub struct Sd {
    /// Name.
    pub name: String,
    /// Host label, `localhost` where none was given.
    pub host: String,
    /// File or device.
    pub lun: String,
    /// Size; `None` is what is there.
    pub size_bytes: Option<u64>,
    /// I/Os at a time, for all workloads together; 0 where other hosts have all of them.
    pub threads: u32,
    /// Processes of its host.
    pub n_slaves: u32,
    /// They share the threads, since they were asked for (`jvms=`, `-m`); else one has them all.
    pub is_shared: bool,
    /// Part of the lun in use.
    pub range: Option<Span>,
    /// Bytes from the start that cache hits go to.
    pub hitarea_bytes: u64,
    /// Added to every place.
    pub offset_bytes: u64,
    /// Places are multiples of this; 0 is the transfer size.
    pub align_bytes: u64,
    /// Duplicates of its own, in place of what the run's contents say; a ratio of 1 is none.
    pub dedup: Option<DedupeSets>,
    /// How it is opened.
    pub open: OpenFlags,
    /// Folder of its journal.
    pub journal: Option<String>,
    /// Where it is defined.
    pub place: SourceRange,
}

/// A part of a target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Span {
    /// Percent of the size; above 100 it goes on at the start (at most 200).
    Pct(f64, f64),
    /// First byte and the one behind the last.
    Bytes(u64, u64),
}

/// A workload definition with what the run overrides.
#[derive(Clone, Debug, PartialEq)]
pub struct Wd {
    /// Name; of a run without workload definitions the run definition's.
    pub name: String,
    /// Positions in [`RawWork::sds`] of the storage definitions it works on.
    pub sds: Vec<usize>,
    /// Percent of reads.
    pub rdpct: f64,
    /// Transfer sizes.
    pub xfersize: Xfersize,
    /// Where it goes next.
    pub seek: Seek,
    /// Percent of reads that go to the hit area.
    pub rhpct: f64,
    /// Percent of writes that go to the hit area.
    pub whpct: f64,
    /// Part of each storage definition in use.
    pub range: Option<Span>,
    /// A part that is used more, in percent of the size, most at its low end.
    pub hotband_pct: Option<(f64, f64)>,
    /// Skipped after each I/O: drawn between the two, bytes.
    pub stride_bytes: Option<(u64, u64)>,
    /// Share of the I/Os, percent; those of all workloads add up to 100.
    pub skew_pct: f64,
    /// A rate of its own, whatever the run's.
    pub iorate_iops: Option<f64>,
    /// Priority, 1 is the highest; `None` where it has none.
    pub priority: Option<u32>,
    /// Sequential streams at once, each on its own part.
    pub streams: Option<u32>,
    /// Threads of its own, with `concatenatesds`.
    pub threads: Option<u32>,
    /// The storage definitions form one volume (`concatenatesds`).
    pub concatenate: bool,
}

/// Transfer sizes.
#[derive(Clone, Debug, PartialEq)]
pub enum Xfersize {
    /// One.
    Fixed(u32),
    /// Sizes and their shares in percent.
    Split(Vec<(u32, f64)>),
    /// Any multiple of the alignment between the two.
    Range {
        /// Smallest.
        min: u32,
        /// Largest.
        max: u32,
        /// Sizes are multiples of this.
        align: u32,
    },
}

impl Xfersize {
    /// Makes it of one size, or of sizes and percentages in turn.
    pub(super) fn of(sizes: &[f64]) -> Self {
        match sizes {
            [] => Xfersize::Fixed(4096),
            // Of a single pair nothing is left to choose.
            [size] | [size, _] => Xfersize::Fixed(*size as u32),
            pairs => {
                let pairs = pairs.chunks_exact(2);
                Xfersize::Split(pairs.map(|pair| (pair[0] as u32, pair[1])).collect())
            }
        }
    }
}

/// Where a workload goes next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Seek {
    /// So many percent of the I/Os go somewhere else; 100 is random, 0 sequential.
    Pct(f64),
    /// Sequential, over and over (`seq`, 0).
    Seq,
    /// Sequential, not starting at the beginning (`seqnz`).
    SeqNz,
    /// Sequential until the end; the workload is done then (`eof`).
    Eof,
    /// Random, spread by a Poisson distribution with this midpoint (`poisson`).
    Poisson(f64),
}

/// Writing of storage definitions before the first run.
#[derive(Clone, Debug, PartialEq)]
pub struct SdFormat {
    /// What is to be written.
    pub sds: Vec<Sd>,
    /// Transfer size, 128 KiB unless `formatxfersize` says otherwise.
    pub xfersize_bytes: u32,
}

/// Operations on files.
#[derive(Clone, Debug, PartialEq)]
pub struct FileWork {
    /// Structures in use.
    pub fsds: Vec<Fsd>,
    /// Workloads.
    pub fwds: Vec<Fwd>,
}

/// A file system definition with what the run overrides.
#[derive(Clone, Debug, PartialEq)]
pub struct Fsd {
    /// Name.
    pub name: String,
    /// Folder that holds the structure.
    pub anchor: String,
    /// Missing folders above the anchor are made (`create_anchors`).
    pub create_parents: bool,
    /// Levels of folders, at least 1.
    pub depth: u32,
    /// Folders per folder, at least 1.
    pub width: u32,
    /// Files per folder that has any.
    pub files: u64,
    /// Files are in the lowest folders only (`distribution=bottom`), else in all.
    pub bottom_only: bool,
    /// File sizes.
    pub sizes: FileSizes,
    /// Use only as many files as hold this; 0 is all.
    pub total_bytes: u64,
    /// Work on a random part of the files that holds this; 0 is all.
    pub working_set_bytes: u64,
    /// Several hosts use it: each every n-th file.
    pub shared: bool,
    /// `printf` masks of file and folder names; `None` as 5.04.07 makes them.
    pub mask: Option<(String, String)>,
    /// How files are opened.
    pub open: OpenFlags,
}

/// A file system workload definition with what the run overrides.
#[derive(Clone, Debug, PartialEq)]
pub struct Fwd {
    /// Name; of a run without workload definitions the run definition's, with the operation.
    pub name: String,
    /// Position in [`FileWork::fsds`]; a definition over several structures is listed once each.
    pub fsd: usize,
    /// Host label.
    pub host: String,
    /// Processes of that host (`jvms=`), one of which does all that is done there in a structure.
    pub n_slaves: u32,
    /// Structure that `copy` and `move` go to.
    pub target: Option<usize>,
    /// What is done.
    pub operation: FileOperation,
    /// Percent of reads, for a mix of reads and writes on each file; `None` is the operation alone.
    pub rdpct: Option<f64>,
    /// How a file is read and written.
    pub fileio: FileIo,
    /// Which file is next.
    pub fileselect: Select,
    /// Transfer sizes.
    pub xfersize: Xfersize,
    /// Threads, for this entry alone.
    pub threads: u32,
    /// Leave a file after so many I/Os; `None` as Vdbench does.
    pub stopafter: Option<StopAfter>,
    /// Share of the operations, percent.
    pub skew_pct: f64,
    /// How files are opened, beside the structure's flags.
    pub open: OpenFlags,
}

/// Operations on files and folders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FileOperation {
    /// Makes folders.
    Mkdir,
    /// Removes folders.
    Rmdir,
    /// Makes files.
    Create,
    /// Removes files.
    Delete,
    /// Opens and closes files.
    Open,
    /// Closes files that were opened.
    Close,
    /// Reads files.
    Read,
    /// Writes files.
    Write,
    /// Asks for access rights.
    Access,
    /// Reads metadata.
    Getattr,
    /// Writes metadata.
    Setattr,
    /// Copies files to another structure.
    Copy,
    /// Moves files to another structure.
    Move,
}

impl FileOperation {
    /// Returns the operation of ours that it is.
    pub fn kind(self) -> OpKind {
        match self {
            FileOperation::Mkdir => OpKind::Mkdir,
            FileOperation::Rmdir => OpKind::Rmdir,
            FileOperation::Create => OpKind::Create,
            FileOperation::Delete => OpKind::Delete,
            FileOperation::Open => OpKind::Open,
            FileOperation::Close => OpKind::Close,
            FileOperation::Read => OpKind::Read,
            FileOperation::Write => OpKind::Write,
            FileOperation::Access => OpKind::Access,
            FileOperation::Getattr => OpKind::Stat,
            FileOperation::Setattr => OpKind::Setattr,
            FileOperation::Copy => OpKind::Copy,
            FileOperation::Move => OpKind::Move,
        }
    }
}

/// What a format does before a run of files.
#[derive(Clone, Debug, PartialEq)]
pub struct FormatWork {
    /// Structures.
    pub fsds: Vec<Fsd>,
    /// Label of the host of each: the first that works on it.
    pub hosts: Vec<String>,
    /// So many of the last of them are only copied or moved to: they need folders and no files.
    pub n_targets: usize,
    /// What is there is removed first (`yes`, `clean`).
    pub clean: bool,
    /// Folders and files are made (all but `(clean,only)`).
    pub create: bool,
    /// What is there is kept and completed (`restart`).
    pub restart: bool,
    /// Only folders are made (`directories`).
    pub directories_only: bool,
    /// It ends after the run's elapsed time (`limited`).
    pub limited: bool,
    /// Threads for each structure (`fwd=format,threads=`).
    pub threads: u32,
    /// Processes of the host (`jvms=`), among which structures are dealt out.
    pub n_slaves: u32,
    /// Transfer size (`fwd=format,xfersize=`).
    pub xfersize_bytes: u32,
    /// How files are opened.
    pub open: OpenFlags,
}
