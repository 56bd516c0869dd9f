//! One load from many hosts: a controller, and an agent on each host.
//!
//! An agent runs its part of a plan by whatever [`serve::Runs`] gives it, and sends what it
//! measures as frames, each with what is new. The controller brings all to one start, adds the
//! frames up, and makes one record of them. Both are state machines without I/O or clock
//! ([`controller`], [`agent`], [`relay`] between them, [`lobby`] for agents that come by
//! themselves, and [`inspect`] before a run); `net` and `launch` carry bytes and start programs.
//!
//! Never here: how a load is run (that is `runner`), text for people (`plimsoll`).
//!
//! Tests: `tests/`, beside the modules for the parts.

pub mod agent;
pub mod clock;
pub mod controller;
mod crew;
pub mod frame;
pub mod hosts;
pub mod inspect;
pub mod intervals;
pub mod launch;
pub mod ledger;
mod live;
pub mod lobby;
pub mod merge;
pub mod net;
pub mod relay;
pub mod run;
pub mod serve;
pub mod stops;
pub mod token;
pub mod version;
#[rustfmt::skip]
#[allow(missing_docs, unreachable_pub, clippy::all, clippy::pedantic, reason = "generated")]
pub mod wire;

/// Version of the protocol. An agent of another major version is refused; the minor one rises with
/// every message or field that is new.
pub const PROTOCOL_MAJOR: u32 = 1;
/// See [`PROTOCOL_MAJOR`].
pub const PROTOCOL_MINOR: u32 = 8;

/// Reads the clock that starts are agreed on in: `CLOCK_MONOTONIC`, nanoseconds.
pub fn monotonic_ns() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    // It starts near zero at boot; both parts are never negative.
    time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned()
}
