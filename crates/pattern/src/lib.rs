//! Seeded generators of a workload: where each I/O goes, how long it is, in which direction, when
//! it is due, to which file, and what it writes.
//!
//! Operation `k` of a worker is a function of (version, plan, seed, worker, `k`): every decision
//! has its own stream of random numbers ([`rng::Stream`]), so that neither the size of batches nor
//! an unrelated setting changes what comes out. Seed a worker with
//! `rng::derive(workload.seed, Stream::Worker, worker_idx)`.
//!
//! Never here: I/O, a clock, the environment; no allocation after construction but by the log of
//! writes to be verified and the map of a journal; no panic on any input. Amounts, loops, rates and
//! limits of time belong to `worker`.
//!
//! Tests: `tests/`, one file per module (`sizes.rs` also has `mix`); speed: `benches/pattern.rs`.

pub mod arrivals;
pub mod contents;
pub mod deck;
pub mod distribution;
pub mod error;
pub mod files;
pub mod journal;
pub mod map;
pub mod mix;
pub mod offsets;
pub mod periods;
pub mod permutation;
pub mod rng;
pub mod sizes;
pub mod tree;
pub mod verify;

pub use arrivals::Arrivals;
pub use contents::{Contents, ContentsSpec, Refresh};
pub use deck::Deck;
pub use error::PatternError;
pub use files::FilePicker;
pub use mix::Mix;
pub use offsets::{Cursor, Division, Extent, Offsets, Region};
pub use periods::Periods;
pub use permutation::Permutation;
pub use rng::{Chance, Rng, Stream, derive};
pub use sizes::Sizes;
