//! One worker as a state machine: what it issues next, when, and what it makes of completions.
//!
//! A [`Worker`] is given the time and what completed; it answers with operations and how long to
//! wait ([`Decision`]). It holds all load semantics (closed and open load, rates, think time,
//! passes, verification order) exactly once, so the same worker runs on a thread against the kernel
//! or in virtual time against an emulated volume.
//!
//! Never here: a clock, a system call, a buffer's bytes (those go through [`Data`]), and between
//! start and end an allocation or a lock.
//!
//! The way in: [`Worker::next`] and [`Worker::complete`] (`worker.rs`, and the folder of that
//! name); `source.rs` chooses the operations, `gate.rs` says when, `paths.rs` by which way,
//! `keeping.rs` holds the state of a worker, `meters.rs` counts.
//!
//! Tests: `tests/`, which drive a worker in virtual time.

mod chosen;
mod data;
mod errors;
mod flow;
mod gate;
mod keeping;
mod latency_target;
mod log;
mod meters;
#[cfg(test)]
mod misuse;
mod occupancy;
mod pace;
mod paths;
mod pending;
mod raising;
mod series;
mod slots;
mod source;
mod spec;
mod together;
mod touched;
mod tree;
mod trimming;
mod verifying;
mod worker;

pub use data::{Data, LateFailures, NoData, ReadFacts, WriteFacts};
pub use errors::{ErrorBudget, ErrorsSeen, Failure, FailureKind, IoError};
pub use flow::FlowGroup;
pub use log::{LogEvent, LogSender};
pub use meters::{DirMeters, Meters, PriorityMeters};
pub use occupancy::{ArrivalCounts, BEHIND_NS, LATE_NS, offered_iops};
pub use series::{Series, SeriesMeters, SeriesName};
pub use spec::{FileRegion, WorkerSpec};
pub use together::SharedWalks;
pub use touched::Touched;
pub use tree::{
    CompleteParts, DoneOf, FileFlags, FormatStatus, Stuck, TreeCounts, TreeJob, TreeState,
};
pub use worker::{Decision, Phase, Swap, Worker};
