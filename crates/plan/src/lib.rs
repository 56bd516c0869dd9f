//! The nouns that go into a run: [`Plan`], [`Step`], [`Job`] and what they are made of, the
//! operations a worker issues ([`op`]), and the registry of every parameter ([`param`]).
//!
//! A plan is what a user meant, in one vocabulary, whichever tool's file it was written in. It
//! holds no open file, no measured size and no time of day: `runner` binds it to a host.
//!
//! Never here: reading files, the environment or a clock. A plan with mistakes is described by
//! [`Diagnostic`]s, all at once.
//!
//! Tests: beside each module in `src`, and the registry's table tests in `tests/`.

pub mod change;
pub mod diagnostic;
pub mod dir;
pub mod engine;
mod errno;
pub mod files;
pub mod job;
pub mod keys;
pub mod load;
#[cfg(test)]
mod misuse;
pub mod nfs;
pub mod op;
pub mod param;
pub mod priority;
pub mod rates;
pub mod replay;
pub mod report;
pub mod tree;
pub mod verify;
pub mod workload;

pub use diagnostic::{Diagnostic, Severity, Span, shortened};
pub use dir::{Direction, PerDir};
pub use engine::{EngineKind, EngineQueue, EngineWork, NameOp, SpaceCall};
pub use errno::Errno;
pub use files::escape_path;
pub use job::{EngineSpec, Job, Plan, Step};
pub use priority::{IoPriority, PriorityShare};
