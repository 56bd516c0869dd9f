//! Data validation with a journal: every write is written down before it is issued and after it has
//! completed, every block says which write it is of, and every read is compared.
//!
//! What a journal and a block say is in `pattern::journal`. Here: which targets a run has
//! (`targets.rs`), what its workers share (`shared.rs`), the file that is written ahead (`log.rs`),
//! the layer around each worker's engine (`layer.rs`), and reading back: a journal (`replayed.rs`)
//! and the targets that it is of (`verification.rs`).
//!
//! A run without validation has no layer: nothing on the path of its I/O asks.

mod layer;
mod log;
mod replayed;
mod shared;
mod targets;
mod verification;

pub(crate) use layer::{Journaled, WorkerJournal};
pub(crate) use shared::{Journal, JournalClock};
pub(crate) use targets::refusals;

pub use replayed::JournalError;
pub use verification::{
    BlockFinding, LastWrite, TargetVerification, Verification, VerifyOptions, verify_journal,
};
