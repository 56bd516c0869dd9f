//! Suites: benchmark procedures as readable files, with what others published of them.
//!
//! [`parse`] reads one and returns every mistake with its place; [`BUILT_IN`] holds ours. A suite
//! is made of parts, whose lists (block sizes, mixes, depths) multiply into steps ([`steps`]).
//! [`changed`](change) applies what a user sets, [`jobs`] writes the steps as jobs, and
//! [`rows`] turns the record of a run into rows with medians and verdicts, and [`dividing`] says
//! which of them want more workers.

pub mod change;
mod check;
pub mod condition;
pub mod dividing;
pub mod jobs;
pub mod labels;
pub mod need;
pub mod published;
mod read;
mod read_part;
pub mod rounds;
pub mod rows;
pub mod steps;
pub mod vdbench;

pub use change::{ChangeError, Changes};
pub use need::Need;
pub use read::parse;
pub use steps::{Step, StepLoad, steps};

use analysis::search::{PointOrder, SearchOptions};
use record::PublishedUnit;

use crate::lever::Time;

/// Name and version of the form; the first key of every file.
pub const SCHEMA: &str = "plimsoll.suite/1";

/// Largest size of anything, bytes: an exbibyte.
pub(super) const BYTES_MAX: u64 = 1 << 60;

/// The suite that is measured unless another one is named.
pub const DEFAULT: &str = "quick";

/// The suites of the project: name and text.
pub const BUILT_IN: [(&str, &str); 13] = [
    (DEFAULT, include_str!("../suites/quick.toml")),
    ("io-size", include_str!("../suites/io-size.toml")),
    ("scale-up", include_str!("../suites/scale-up.toml")),
    ("anf-2019", include_str!("../suites/anf-2019.toml")),
    ("anf-linux-regular", include_str!("../suites/anf-linux-regular.toml")),
    ("anf-regular", include_str!("../suites/anf-regular.toml")),
    ("anf-large", include_str!("../suites/anf-large.toml")),
    ("premium-storage", include_str!("../suites/premium-storage.toml")),
    ("snia-iops", include_str!("../suites/snia-iops.toml")),
    ("postgresql", include_str!("../suites/postgresql.toml")),
    ("mysql", include_str!("../suites/mysql.toml")),
    ("sqlserver", include_str!("../suites/sqlserver.toml")),
    ("etcd", include_str!("../suites/etcd.toml")),
];

/// Returns the text of a suite of the project.
pub fn built_in(name: &str) -> Option<&'static str> {
    BUILT_IN.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// A benchmark procedure.
#[derive(Clone, Debug, PartialEq)]
pub struct Suite {
    /// What it is called on a command line.
    pub name: String,
    /// One line about it.
    pub title: String,
    /// More about it; may be empty.
    pub about: String,
    /// Too short for more than a first look.
    pub is_indicative: bool,
    /// Where the procedure and the published figures come from.
    pub sources: Vec<Source>,
    /// What it works on; one place without a name where the suite names none.
    pub places: Vec<SuitePlace>,
    /// How many machines and files the procedure was published with.
    pub layout: Option<Layout>,
    /// What is made ready before anything is measured.
    pub prepare: Prepare,
    /// What is measured, in order.
    pub parts: Vec<Part>,
    /// The load curve at the end.
    pub curve: Option<CurvePart>,
    /// The parts are repeated as rounds until a figure is steady.
    pub rounds: Option<Rounds>,
}

/// A document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// How parts of the suite name it.
    pub id: String,
    /// Its title.
    pub document: String,
    /// When it was written, as it says itself; may be empty.
    pub date: String,
    /// The part of it that is meant; may be empty.
    pub section: String,
    /// Where it is; may be empty.
    pub url: String,
}

/// Something to work on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SuitePlace {
    /// How parts of the suite name it.
    pub name: String,
    /// What it should be, for people.
    pub what: String,
    /// Whether a host cache should stand in front of it.
    pub is_cached: Option<bool>,
}

/// The machines and files of a procedure that was published of many machines; the suite itself is
/// one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Machines.
    pub n_machines: u32,
    /// Files of each machine, one of each mount.
    pub n_files: u32,
    /// Bytes per file.
    pub file_bytes: u64,
}

/// Size of what is worked on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// As the free space and the memory suggest, up to so many bytes.
    Auto {
        /// At most.
        max_bytes: u64,
    },
    /// So many bytes.
    Bytes(u64),
}

/// What is made ready before anything is measured, in every place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prepare {
    /// Bytes per place.
    pub size: Size,
    /// Discards what is there before.
    pub purge: bool,
    /// How often everything is written; 0 leaves it to be laid out.
    pub n_fills: u32,
    /// Bytes per write of the fill.
    pub fill_block_bytes: u64,
    /// Writes in flight.
    pub fill_depth: u32,
    /// The fill ends then, and what is written is what is worked on.
    pub fill_time_ns: Option<u64>,
}

impl Default for Prepare {
    fn default() -> Self {
        Prepare {
            size: Size::Auto { max_bytes: 8 << 30 },
            purge: false,
            n_fills: 1,
            fill_block_bytes: 1 << 20,
            fill_depth: 8,
            fill_time_ns: None,
        }
    }
}

/// Walks and directions, by fio's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Sequential reads.
    Read,
    /// Sequential writes.
    Write,
    /// Sequential reads and writes.
    ReadWrite,
    /// Random reads.
    RandRead,
    /// Random writes.
    RandWrite,
    /// Random reads and writes.
    RandReadWrite,
}

impl Access {
    /// All of them, with their names.
    pub const ALL: [(&'static str, Access); 6] = units::all_of!(
        Access:
        "read" => Read,
        "write" => Write,
        "rw" => ReadWrite,
        "randread" => RandRead,
        "randwrite" => RandWrite,
        "randrw" => RandReadWrite,
    );

    /// Returns its name.
    pub fn as_str(self) -> &'static str {
        Self::ALL.iter().find(|(_, access)| *access == self).map_or("", |(name, _)| name)
    }

    /// Returns whether it is sequential.
    pub fn is_sequential(self) -> bool {
        matches!(self, Access::Read | Access::Write | Access::ReadWrite)
    }

    /// Returns whether it only reads.
    pub fn is_read(self) -> bool {
        matches!(self, Access::Read | Access::RandRead)
    }

    /// Returns whether it reads and writes.
    pub fn is_mixed(self) -> bool {
        matches!(self, Access::ReadWrite | Access::RandReadWrite)
    }
}

/// A pattern, or a family of them: lists of more than one value multiply.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// What it is called in tables.
    pub name: String,
    /// Makes ready for what follows, and is no result.
    pub is_preparation: bool,
    /// Kind of I/O.
    pub access: Access,
    /// Bytes per I/O.
    pub block_bytes: Vec<u64>,
    /// Shares of reads of a mix, percent.
    pub read_pct: Vec<f64>,
    /// I/Os in flight per worker.
    pub depths: Vec<u32>,
    /// Workers.
    pub workers: Vec<u32>,
    /// Connections to an NFS server, where the target is an export; empty: as it is.
    pub connections: Vec<u32>,
    /// Past the page cache.
    pub is_direct: bool,
    /// When what is written is made durable.
    pub durable: Durable,
    /// Name of the place; empty is the first.
    pub place: String,
    /// I/Os per second at most, of each worker.
    pub rate_iops: Option<u64>,
    /// Bytes at the beginning of the place that are worked on; `None` is all of it.
    pub size_bytes: Option<u64>,
    /// Several loads at once in place of one; each has what the part says unless it says
    /// otherwise, and one value of everything.
    pub loads: Vec<PartLoad>,
    /// Not measured.
    pub ramp_ns: u64,
    /// Measured; with another end the longest time.
    pub time_ns: u64,
    /// What ends it.
    pub end: End,
    /// What others measured.
    pub published: Vec<Published>,
    /// What others ask of a disk, which its steps are judged by.
    pub targets: Vec<Target>,
}

/// A choice of each of a part's lists.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Bytes per I/O.
    pub block_bytes: u64,
    /// Share of reads, percent.
    pub read_pct: f64,
    /// I/Os in flight per worker.
    pub depth: u32,
    /// Workers.
    pub workers: u32,
    /// Connections.
    pub connections: Option<u32>,
}

/// When what is written is made durable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durable {
    /// Whenever the system does it.
    #[default]
    Whenever,
    /// By `fsync` after so many writes.
    Fsync(u32),
    /// By `fdatasync` after so many writes.
    Fdatasync(u32),
    /// When each write returns, data and metadata (`O_SYNC`).
    EachWhole,
    /// When each write returns, data (`O_DSYNC`).
    Each,
}

/// What others ask of a disk.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// What must hold.
    pub conditions: Vec<condition::Condition>,
    /// The document, by its id.
    pub source: String,
}

/// One of several loads at once.
#[derive(Clone, Debug, PartialEq)]
pub struct PartLoad {
    /// What it is called.
    pub name: String,
    /// Kind of I/O.
    pub access: Access,
    /// Bytes per I/O.
    pub block_bytes: u64,
    /// I/Os in flight per worker.
    pub depth: u32,
    /// Workers.
    pub workers: u32,
    /// When what it writes is made durable.
    pub durable: Durable,
    /// Name of the place; empty is the first.
    pub place: String,
    /// I/Os per second at most, of each worker.
    pub rate_iops: Option<u64>,
    /// Bytes at the beginning of the place that are worked on; `None` is all of it.
    pub size_bytes: Option<u64>,
}

/// What ends a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum End {
    /// Its time.
    Time,
    /// Everything was visited once, or its time.
    Pass,
    /// The rate is steady: over a window a fitted line rises or falls by so much at most. Or its
    /// time.
    Steady {
        /// Length of the window.
        window_ns: u64,
        /// Rise or fall over the window, percent of the mean.
        excursion_pct: f64,
    },
}

/// Whether a published figure is one value or a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// About this.
    About,
    /// More than this.
    Above,
}

/// A figure that others published: for reference, and never a mark to pass.
#[derive(Clone, Debug, PartialEq)]
pub struct Published {
    /// Of which steps of the part: their block size.
    pub block_bytes: Option<u64>,
    /// Their share of reads.
    pub read_pct: Option<f64>,
    /// Their I/Os in flight.
    pub depth: Option<u32>,
    /// Their connections.
    pub connections: Option<u32>,
    /// What it is.
    pub figure: PublishedFigure,
    /// Its value.
    pub value: f64,
    /// One value or a bound.
    pub bound: Bound,
    /// What it was measured on.
    pub on: String,
    /// The document, by its id.
    pub source: String,
}

/// Which figure was published.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PublishedFigure {
    /// I/Os per second.
    Iops,
    /// MiB per second (2^20).
    MibPerS,
    /// MB per second (10^6).
    MbPerS,
}

impl PublishedFigure {
    /// All of them, with their keys.
    pub const ALL: [(&'static str, PublishedFigure); 3] = units::all_of!(
        PublishedFigure:
        "iops" => Iops,
        "mib_per_s" => MibPerS,
        "mb_per_s" => MbPerS,
    );

    /// Returns its unit.
    pub fn unit(self) -> PublishedUnit {
        match self {
            PublishedFigure::Iops => PublishedUnit::Iops,
            PublishedFigure::MibPerS => PublishedUnit::MibPerS,
            PublishedFigure::MbPerS => PublishedUnit::MbPerS,
        }
    }
}

/// The load curve.
#[derive(Clone, Debug, PartialEq)]
pub struct CurvePart {
    /// What it is called.
    pub name: String,
    /// Kind of I/O.
    pub access: Access,
    /// Bytes per I/O.
    pub block_bytes: u64,
    /// Share of reads of a mix, percent.
    pub read_pct: f64,
    /// Workers.
    pub workers: u32,
    /// Name of the place; empty is the first.
    pub place: String,
    /// What a load must keep, such as `p99 < 10ms`.
    pub limits: analysis::Limits,
    /// First rate to try.
    pub start_iops: u64,
    /// I/Os in flight at most, per worker.
    pub in_flight_max: u32,
    /// Per point.
    pub time: Time,
    /// Points up to the line.
    pub n_points: u32,
    /// Measurements of each end of the line.
    pub n_repeats: u32,
    /// Width of the bracket, as a share of the load.
    pub tolerance: f64,
    /// Most measurements to find the line.
    pub n_probes_max: u32,
}

/// Share of the first rate that is still tried where it breaks the limits: with fewer I/Os in a
/// point its percentiles say nothing.
const RATE_MIN_SHARE: f64 = 1.0 / 16.0;

impl CurvePart {
    /// Returns how to search.
    pub fn search_options(&self) -> SearchOptions {
        SearchOptions {
            tolerance: self.tolerance,
            n_repeats: self.n_repeats,
            n_curve_points: self.n_points,
            n_probes_max: self.n_probes_max,
            order: PointOrder::Ascending,
            min: (self.start_iops as f64 * RATE_MIN_SHARE).max(1.0),
            ..SearchOptions::rate(self.start_iops as f64)
        }
    }

    /// Returns the longest time that the curve takes.
    pub fn time_max_ns(&self) -> u64 {
        let point_ns = self.time.measured_ns.saturating_add(self.time.ramp_ns);
        u64::from(self.search_options().n_taken_max()).saturating_mul(point_ns)
    }
}

/// Rounds until a figure is steady.
#[derive(Clone, Debug, PartialEq)]
pub struct Rounds {
    /// At most.
    pub n_max: u32,
    /// Rounds in which it must be steady.
    pub window: u32,
    /// Label of the step whose I/Os per second are watched.
    pub tracked: String,
}

impl Suite {
    /// Returns the name of the place that a part means.
    pub fn place_of<'a>(&'a self, name: &'a str) -> &'a str {
        if name.is_empty() { self.places.first().map_or("", |place| &place.name) } else { name }
    }
}
