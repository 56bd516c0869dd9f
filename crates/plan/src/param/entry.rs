//! What an entry of the registry is made of, and the values of parameters.

use super::error::ValueError;
use crate::files::Size;
use crate::verify::PatternPart;
use crate::workload::{Access, BlockSize, Distribution};
use crate::{Job, PerDir, PriorityShare};

/// One parameter.
#[derive(Debug)]
pub struct Param {
    /// Our name, in the house's words, unit last where it has one.
    pub name: &'static str,
    /// fio's name and then its aliases; empty when fio has none.
    pub fio: &'static [&'static str],
    /// Vdbench's name as `SECTION.parameter`, or empty.
    pub vdbench: &'static str,
    /// The options of diskspd that say it, and the elements of its profiles.
    pub diskspd: &'static [&'static str],
    /// Iometer's words for it: of its window, and of its test configurations.
    pub iometer: &'static [&'static str],
    /// The engines of fio that know it; empty where it is an option of every job.
    pub engines: &'static [&'static str],
    /// What values it takes.
    pub kind: ValueKind,
    /// The default as one would write it in a fio job file; empty is none.
    pub default: &'static str,
    /// One line, lower case, no full stop.
    pub short: &'static str,
    /// A paragraph: meaning, unit, interactions, what differs from fio.
    pub long: &'static str,
    /// It says what I/O is done. The others say where, for how long, or what is measured, printed
    /// and permitted: runs that differ in them alone can be compared.
    pub is_load: bool,
    /// Whether it works, and if not what to do.
    pub support: Support,
    /// Changes the job as the value says. Returns what is wrong with the value otherwise.
    pub lower: fn(&mut Job, &Value) -> Result<(), ValueError>,
    /// Returns the value that a job has; `None` where it says nothing of it, or another parameter
    /// does. Lowering it again changes nothing.
    pub get: fn(&Job) -> Option<Value>,
    /// The field of the job that it says; `None` where it changes none. Of several fields, one that
    /// no other parameter says.
    pub field: Option<Field>,
}

/// A field of a job: the value that a parameter says, or several, each in its way. Who says the
/// field in another language has answered for all of them.
///
/// Made by [`job_field!`](crate::job_field), so that there is one.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Where it is in a job: `workload.block_size`.
    pub path: &'static str,
    /// Which part of it, where a job may lack it as a whole: `weight` of `load.flow`.
    pub part: Option<&'static str>,
    /// Returns whether two jobs have the same there.
    pub is_same: fn(&Job, &Job) -> bool,
}

impl Field {
    /// Returns whether the other is this one, or a part of it.
    pub fn covers(&self, other: &Field) -> bool {
        self.path == other.path && (self.part.is_none() || self.part == other.part)
    }
}

/// Names a field of a job, or a part of one that a job may lack: `job_field!(files.direct)`,
/// `job_field!(load.flow?.weight)`.
#[macro_export]
macro_rules! job_field {
    ($($name:ident).+) => {
        $crate::param::Field {
            path: stringify!($($name).+),
            part: None,
            is_same: |one, other| PartialEq::eq(&one.$($name).+, &other.$($name).+),
        }
    };
    ($($name:ident).+ ? . $part:ident) => {
        $crate::param::Field {
            path: stringify!($($name).+),
            part: Some(stringify!($part)),
            is_same: |one, other| {
                let (one, other) = (&one.$($name).+, &other.$($name).+);
                one.as_ref().map(|it| &it.$part) == other.as_ref().map(|it| &it.$part)
            },
        }
    };
}

/// Names several fields of a job.
#[macro_export]
macro_rules! job_fields {
    ($($($name:ident).+ $(? . $part:ident)?),+ $(,)?) => {
        &[$($crate::job_field!($($name).+ $(? . $part)?)),+]
    };
}

/// Chapter of the reference, which follows from the table that an entry stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Category {
    /// Name and description.
    General,
    /// Files, devices, sizes.
    Target,
    /// Mix, sizes, addressing.
    Workload,
    /// Engines and their switches.
    Engine,
    /// Depth, rate, think time.
    Load,
    /// Start, stop, order.
    Time,
    /// Contents of buffers.
    Buffers,
    /// Verification.
    Verify,
    /// Zoned devices.
    Zones,
    /// CPU, memory, priorities.
    Process,
    /// Results.
    Report,
    /// Log files.
    Logs,
    /// Errors.
    Errors,
    /// Replay of recorded I/O.
    Replay,
}

/// Grammar of a value. A dialect has one parser per kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ValueKind {
    /// May stand without value, which is true.
    Flag,
    /// 0 or 1.
    Bool,
    /// Whole number; size suffixes are accepted. Both ends included.
    Int {
        /// Smallest.
        min: i64,
        /// Largest.
        max: i64,
    },
    /// Whole number per direction (`4k,8k,`); both ends included.
    IntPerDir {
        /// Smallest.
        min: i64,
        /// Largest.
        max: i64,
    },
    /// Bytes, percent (`50%`) or zones (`4z`).
    Size {
        /// Percent is allowed.
        percent: bool,
        /// Zones are allowed.
        zones: bool,
    },
    /// `min-max` of bytes, or one value for both.
    SizeRange,
    /// Duration; the unit counts when none is written.
    Time(TimeUnit),
    /// Duration, or a range of two.
    TimeRange(TimeUnit),
    /// Duration per direction.
    TimePerDir(TimeUnit),
    /// Fraction.
    Float {
        /// Smallest.
        min: f64,
        /// Largest.
        max: f64,
    },
    /// Fractions separated by colons.
    FloatList {
        /// Most entries.
        n_max: usize,
        /// Smallest.
        min: f64,
        /// Largest.
        max: f64,
    },
    /// One of these.
    Enum(&'static [Choice]),
    /// Text.
    Str,
    /// Text that may be left out (`write_bw_log`).
    OptionalStr,
    /// Paths separated by colons, `\:` is a colon.
    PathList,
    /// Numbers and ranges separated by commas (`0,5,8-15`).
    NumberList,
    /// `read`, `randrw`, … with a postfix (`rw=randread:8`).
    Access,
    /// Smallest and largest block size per direction (`bsrange`).
    BlockRange,
    /// Block sizes and shares per direction (`bssplit`).
    BlockSplit,
    /// Shares of raised priority by block size, per direction (`64k/25/1/1:64k/75/3/2`).
    PrioritySplit,
    /// Random distribution with parameters, per direction where zoned.
    Distribution,
    /// Bytes of a fill pattern.
    Pattern {
        /// `%o` is allowed.
        offset: bool,
    },
    /// Word with an optional number behind a colon (`roundrobin:8`, `zipf:1.2`, `write:32`), or
    /// several joined by commas; the lowering reads them.
    Words,
}

/// Unit of a duration without suffix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeUnit {
    /// Seconds.
    Seconds,
    /// Milliseconds.
    Milliseconds,
    /// Microseconds.
    Microseconds,
}

/// A word that a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice {
    /// The word.
    pub name: &'static str,
    /// Other spellings.
    pub aliases: &'static [&'static str],
    /// What it means, one line.
    pub help: &'static str,
}

/// The words that follow `rw`, and what stands behind the colon.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AccessValue {
    /// The walk.
    pub access: Access,
    /// Number behind the colon: I/Os per draw for random walks, bytes for sequential ones.
    pub postfix: Option<i64>,
}

/// A parsed value. The variant follows from the entry's [`ValueKind`].
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `Flag`, `Bool`.
    Bool(bool),
    /// `Int`.
    Int(i64),
    /// `IntPerDir`: `None` keeps what was there.
    IntPerDir(PerDir<Option<i64>>),
    /// `Size`.
    Size(Size),
    /// `SizeRange`, bytes.
    SizeRange(u64, u64),
    /// `Time`, nanoseconds.
    TimeNs(u64),
    /// `TimeRange`, nanoseconds.
    TimeRangeNs(u64, u64),
    /// `TimePerDir`, nanoseconds.
    TimePerDirNs(PerDir<Option<u64>>),
    /// `Float`.
    Float(f64),
    /// `FloatList`, as written.
    Floats(Vec<f64>),
    /// `Enum`: the choice's name.
    Choice(&'static str),
    /// `Str`; `OptionalStr` with a value.
    Str(String),
    /// `OptionalStr` without a value.
    Absent,
    /// `PathList`.
    Paths(Vec<String>),
    /// `NumberList`, expanded.
    Numbers(Vec<u32>),
    /// `Access`.
    Access(AccessValue),
    /// `BlockRange`, `BlockSplit`: `None` keeps what was there.
    BlockSizes(PerDir<Option<BlockSize>>),
    /// `PrioritySplit`: `None` keeps what was there.
    PrioritySplit(PerDir<Option<Vec<PriorityShare>>>),
    /// `Distribution`.
    Distribution(PerDir<Distribution>),
    /// `Pattern`.
    Pattern(Vec<PatternPart>),
    /// `Words`: each word with what stood behind its colon.
    Words(Vec<(String, Option<String>)>),
}

/// Whether a parameter works here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Support {
    /// Works as documented.
    Full,
    /// Accepted, and without effect by design; says why.
    NoEffect(&'static str),
    /// Parsed, then refused with this reason and next step; comes in a later version.
    Later(&'static str),
    /// The same, but left out with a warning, because a run means the same without it: a hint to
    /// the kernel, or a detail of what is refused itself.
    Hint(&'static str),
    /// Belongs to engines that are not built in.
    NeedsEngine,
    /// Removed from fio itself; says what to write instead.
    Removed(&'static str),
}
