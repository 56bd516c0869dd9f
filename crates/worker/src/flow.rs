//! Progress in proportion (`flow`): workers with the same flow id keep their I/O counts in the
//! ratio of their weights.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// Marks a member that has ended and holds nobody back.
const ENDED: u64 = u64::MAX;

/// One worker's membership in a flow.
#[derive(Clone, Debug)]
pub struct FlowGroup {
    /// I/Os per member, scaled by its weight.
    members: Arc<Vec<AtomicU64>>,
    own_idx: usize,
    weight: u64,
}

/// Resolution of a member's progress; I/Os times this, divided by the weight.
const SCALE: u64 = 1 << 20;

impl FlowGroup {
    /// Makes the memberships of a flow from the members' weights, in order.
    pub fn members(weights: &[u32]) -> Vec<FlowGroup> {
        let members: Arc<Vec<AtomicU64>> =
            Arc::new(weights.iter().map(|_| AtomicU64::new(0)).collect());
        weights
            .iter()
            .enumerate()
            .map(|(own_idx, weight)| FlowGroup {
                members: Arc::clone(&members),
                own_idx,
                weight: u64::from((*weight).max(1)),
            })
            .collect()
    }

    /// Says whether this worker is ahead of another one by more than one step.
    pub(crate) fn is_ahead(&self) -> bool {
        let own = self.members[self.own_idx].load(Relaxed);
        let step = SCALE / self.weight;
        self.members.iter().enumerate().any(|(idx, other)| {
            let other = other.load(Relaxed);
            idx != self.own_idx && other != ENDED && own > other.saturating_add(step)
        })
    }

    /// Counts one issued I/O.
    pub(crate) fn advance(&self) {
        let own = &self.members[self.own_idx];
        own.store(own.load(Relaxed) + SCALE / self.weight, Relaxed);
    }

    /// Leaves the flow.
    pub(crate) fn end(&self) {
        self.members[self.own_idx].store(ENDED, Relaxed);
    }
}
