//! A provisioned cloud volume as a pure function of time: its caps, credits, cache, stripe and
//! latency.
//!
//! A [`Design`] says what is provisioned: a virtual machine, and volumes made of disks or of a
//! network file service. It is read from TOML ([`design`]) with every limit looked up in the
//! catalogue, so that what remains is numbers with their origin.
//!
//! Never here: a clock, I/O, and between the first and the last operation an allocation per I/O.

pub mod design;
pub mod io;

pub use design::{CacheMode, Cap, Design, Limit};
pub use io::{CapId, Done, Io, IoKind};
