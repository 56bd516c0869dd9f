//! How much of a volume is used: what was provisioned is all there is.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// The bytes of a volume, used and free. Counts what files occupy, as `du` does, so a sparse file
/// costs what was written to it.
#[derive(Debug)]
pub(crate) struct Space {
    capacity: AtomicU64,
    used: AtomicU64,
}

impl Space {
    /// Makes the space of a volume of which some is used.
    pub(crate) fn new(capacity: u64, used: u64) -> Self {
        Space { capacity: AtomicU64::new(capacity), used: AtomicU64::new(used) }
    }

    /// Returns the provisioned bytes.
    pub(crate) fn capacity(&self) -> u64 {
        self.capacity.load(Relaxed)
    }

    /// Returns the used bytes.
    pub(crate) fn used(&self) -> u64 {
        self.used.load(Relaxed)
    }

    /// Changes the provisioned bytes. May be less than what is used: then nothing more fits.
    pub(crate) fn resize(&self, capacity: u64) {
        self.capacity.store(capacity, Relaxed);
    }

    /// Takes bytes for a write that is about to happen; says whether they are there.
    pub(crate) fn reserve(&self, bytes: u64) -> bool {
        let take = |used: u64| used.checked_add(bytes).filter(|&used| used <= self.capacity());
        self.used.fetch_update(Relaxed, Relaxed, take).is_ok()
    }

    /// Corrects the count: `bytes` were counted, `occupied` it is.
    pub(crate) fn correct(&self, counted: u64, occupied: u64) {
        let correct = |used: u64| Some((used + occupied).saturating_sub(counted));
        let _ = self.used.fetch_update(Relaxed, Relaxed, correct);
    }
}
