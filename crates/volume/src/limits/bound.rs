//! What can hold a rate back.

use std::fmt;

use crate::cap::{CapCount, CapKind};

/// What holds a rate back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Bound {
    /// Nothing: all that was asked for is achieved.
    Nothing,
    /// A cap of the design.
    Cap(CapKind),
    /// I/Os in flight: with no more of them, latency sets the rate.
    QueueDepth,
}

impl Bound {
    /// Returns the name as it stands in JSON and in tables.
    pub fn name(self) -> &'static str {
        match self {
            Bound::Nothing => "none",
            Bound::Cap(kind) => kind.name(),
            Bound::QueueDepth => "queue_depth",
        }
    }

    /// Returns what it counts. I/Os in flight are slots; nothing counts operations.
    pub fn counts(self) -> CapCount {
        match self {
            Bound::Nothing => CapCount::Units,
            Bound::Cap(kind) => kind.traits().counts,
            Bound::QueueDepth => CapCount::Slots,
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Returns how much larger a cap is than the need: 0.25 is a quarter more, below 0 it does not fit.
pub fn headroom(cap: f64, need: f64) -> f64 {
    cap / need - 1.0
}
