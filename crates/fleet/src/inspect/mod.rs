//! Looking at hosts before a run: an agent on each says what its host is and what a plan would find
//! there, and the controller judges it.
//!
//! [`Inspection`] is the controller's side as a state machine, as [`crate::controller`] is that of
//! a run; [`inspect`] connects it to hosts; [`judge`] says what to do about what was found.

mod drive;
mod facts;
mod judge;
mod state;

pub use drive::{Checkup, inspect};
pub use facts::{
    ClockReading, HostFacts, LimitFacts, LinkFacts, LoadFacts, TargetFacts, ThereFacts,
};
pub use judge::{CLOCK_ERROR_NS_MAX, Finding, Severity, is_shared, judge};
pub use state::{HostReport, Inspection, Transfer};
