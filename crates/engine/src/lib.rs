//! Carries out operations: the [`Engine`] trait and its implementations over the kernel's
//! interfaces, the buffers they use ([`arena`]), and the files they work on ([`files`]).
//!
//! An engine decides nothing about load: it takes operations that a worker chose, hands them to the
//! kernel, and returns what completed. It has no clock: the caller stamps around
//! [`Engine::exchange`], and hands in the clock of emulated volumes.
//!
//! Never here: rates, patterns, histograms.
//!
//! Tests: beside each engine, and `tests/` for the behaviour all engines share.

pub mod arena;
pub mod devices;
pub mod files;
pub mod layout;
pub mod mounts;
pub mod nfs;
pub mod probe;
pub mod tree;
pub mod volume;

mod aio;
mod call;
mod choose;
mod engine;
mod error;
mod fileop;
mod layer;
mod mapped;
mod named;
mod null;
mod offload;
mod one_by_one;
mod options;
mod part_file;
mod share;
mod signatures;
mod space;
mod sync;
mod uring;
mod usage;
mod without_data;

pub use arena::{Arena, ArenaSpec, MemoryKind};
pub use choose::build;
pub use engine::{Engine, Wait, batch_max};
pub use error::EngineError;
pub use files::{FileKind, FileSpec, FileTable, OpenFlags, TablePolicy};
pub use layer::Layer;
pub use layout::{LayoutSpec, layout};
pub use offload::{MakeEngine, offload};
pub use options::BuildOptions;
pub(crate) use options::rwf_flags;
pub use part_file::PartFile;
pub use probe::{
    DirectAlign, FileInUse, FileUse, TargetFacts, WriteRisk, claim, device_users, files_in_use,
    inspect, probe,
};
pub use signatures::{Contents, ContentsKind};
pub use uring::refusal as uring_refusal;
pub use usage::Usage;
