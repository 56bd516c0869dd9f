//! What an application asks of its storage: logs, traces and counters in, needs out.
//!
//! [`read()`] takes a log of any [`Format`] as a stream and gives [`Event`]s one at a time: samples
//! of devices and of the host, what a trace has in addition, and notes. [`live`] makes the same of
//! the texts that the kernel shows in /proc. A [`Collector`] keeps them, within a limit, and
//! [`needs_of`] computes the needs from them: percentiles per phase and volume, each figure with a
//! label (measured, estimated or assumed) and its source. A trace of calls becomes a [`Workload`],
//! through a [`CallTrace`].
//!
//! Never here: opening files and reading clocks. Callers pass in what they opened and when it was.
//! Nor does this crate consider which machine or disk carries a need.
//!
//! Tests: `tests/`, one file per family of formats. Speed: `cargo bench -p capture`.

mod cloud;
mod collect;
mod context;
mod facts;
mod figures;
mod format;
mod lengths;
mod lines;
pub mod live;
mod number;
mod read;
mod sample;
mod sizes;
mod time;
mod trace;
mod workload;

pub use collect::{
    Captured, CapturedVolume, Collector, CountedKind, SAMPLES_MAX, Source, SourceNote,
};
pub use facts::{Bursts, DirectionFacts, TraceFacts};
pub use figures::{EmptyPhase, MissedPhase, NoIo, Phases, check_phases, needs_of, series_csv};
pub use format::Format;
pub use lines::{ReadError, Watched};
pub use read::{Options, UnknownFormat, read, recognise};
pub use sample::{Capacity, ClockKind, Event, Flow, HostSample, NS_PER_S, Note, NoteKind, Sample};
pub use sizes::SizeCounts;
pub use time::{DateOrder, iso};
pub use workload::{CallTrace, Component, MountCounts, Scope, Workload};
