//! An emulated volume served to other programs: as a mounted folder (FUSE) and as an NFSv3 export.
//!
//! `pacer` puts real time around the model (`volume`), `backing` and `store` keep the data,
//! `machine` joins them, and `fuse` is the mount. Programs see real files behind the caps, the
//! cache and the latency of a design; `control` is how the command changes them while they run.
//!
//! Never here: figures of a design or how they compose (`volume`), anything printed (`plimsoll`).
//!
//! Tests: `tests/`, over real mounts; they say so and pass where none can be made.

pub mod backing;
pub mod clock;
pub mod control;
mod durable;
pub mod extent;
mod fuse;
pub mod holders;
mod lock;
mod loops;
pub mod machine;
#[cfg(test)]
mod misuse;
pub mod mount;
pub mod nfs;
mod overhead;
pub mod pacer;
mod priority;
pub mod server;
pub mod status;
mod store;
mod tree;
mod waits;
