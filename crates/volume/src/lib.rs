//! A provisioned cloud volume as a pure function of time: its caps, credits, cache, stripe and
//! latency.
//!
//! A [`Design`] says what is provisioned: a virtual machine, and volumes made of disks or of a
//! network file service. It is read from TOML ([`design`]) with every limit looked up in the
//! catalogue, so that what remains is numbers with their origin.
//!
//! A [`System`] is a design at work: [`System::submit`] takes an operation in, [`System::poll`]
//! says what completed when, and which cap held it. The same code serves a simulation in virtual
//! time, an engine, a file system and a network export.
//!
//! Never here: a clock, I/O, and between the first and the last operation an allocation per I/O.
//! Rates are kept in whole numbers, so nothing drifts.
//!
//! Tests: `tests/`; speed: `benches/system.rs`.

mod bucket;
mod cache;
mod cap;
mod caps;
mod extents;
mod lanes;
mod latency;
mod layout;
mod load;
#[cfg(test)]
mod misuse;
mod network;
mod queue;
mod slab;
mod stripe;
mod system;
mod unit;

pub mod design;
pub mod errata;
pub mod io;
pub mod limits;

pub use cap::{
    CapCount, CapDirection, CapId, CapInfo, CapKind, CapStation, CapTraits, CapUsage, Credits,
};
pub use design::{CacheMode, Cap, Design, Limit};
pub use io::{Done, Io, IoKind, Stations};
pub use system::{
    CacheStatus, CapStatus, ChangeError, DirtyLevel, Promise, Start, Status, System, SystemOptions,
    VolumeStatus,
};
