//! Progress in proportion (`flow`): workers with the same flow id keep their I/O counts in the
//! ratio of their weights.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use plan::load::Flow;

/// Marks a member that has ended or cannot go on now, and holds no other back.
const ENDED: u64 = u64::MAX;

/// Resolution of a member's progress; I/Os times this, divided by the weight.
const SCALE: u64 = 1 << 20;

/// One worker's membership in a flow. It leaves the flow when it is dropped.
#[derive(Debug)]
pub struct FlowGroup {
    /// I/Os per member, scaled by its weight.
    members: Arc<Vec<AtomicU64>>,
    own_idx: usize,
    weight: u64,
    /// What is left of a whole unit of progress, in parts of the weight: nothing drifts.
    rest: Cell<u64>,
    own: Cell<u64>,
    /// Progress that a member may be ahead of the slowest.
    slack: u64,
    /// It could do nothing the last time that it tried.
    is_excused: Cell<bool>,
    /// Progress up to which the others, who only go on, are known not to be too far behind.
    limit: Cell<u64>,
}

impl FlowGroup {
    /// Makes the memberships of a flow, in order.
    ///
    /// # Panics
    /// If one is of another flow, or has no weight.
    pub fn members(flows: &[Flow]) -> Vec<FlowGroup> {
        let is_one = flows.windows(2).all(|pair| pair[0].id == pair[1].id);
        assert!(is_one, "the members of a flow have its number");
        let members: Arc<Vec<AtomicU64>> =
            Arc::new(flows.iter().map(|_| AtomicU64::new(0)).collect());
        let member = |(own_idx, flow): (usize, &Flow)| {
            assert!(flow.weight > 0, "a member of flow {} has no weight", flow.id);
            let weight = u64::from(flow.weight);
            FlowGroup {
                members: Arc::clone(&members),
                own_idx,
                weight,
                rest: Cell::new(0),
                own: Cell::new(0),
                is_excused: Cell::new(false),
                slack: u64::from(flow.slack_ios.max(1)) * SCALE / weight,
                limit: Cell::new(0),
            }
        };
        flows.iter().enumerate().map(member).collect()
    }

    /// Returns whether this worker is further ahead of another one than it may be.
    ///
    /// The others are looked at only when what is known of them does not say so any more: with a
    /// slack of 2000 hardly ever.
    #[inline]
    pub(crate) fn is_ahead(&self) -> bool {
        self.own.get() > self.limit.get() && self.is_ahead_of_others()
    }

    #[cold]
    fn is_ahead_of_others(&self) -> bool {
        let others = self.members.iter().enumerate().filter(|(idx, _)| *idx != self.own_idx);
        let slowest = others.map(|(_, other)| other.load(Relaxed)).min().unwrap_or(ENDED);
        self.limit.set(slowest.saturating_add(self.slack));
        self.own.get() > self.limit.get()
    }

    /// Counts as many I/Os as the worker may issue now, at most `n_max`, and returns how many.
    #[inline]
    pub(crate) fn take(&self, n_max: usize) -> usize {
        let mut n_taken = 0;
        while n_taken < n_max && !self.is_ahead() {
            self.advance();
            n_taken += 1;
        }
        n_taken
    }

    /// Counts one issued I/O.
    #[inline]
    pub(crate) fn advance(&self) {
        if self.is_excused.get() {
            self.come_back();
        }
        let scaled = SCALE + self.rest.get();
        self.rest.set(scaled % self.weight);
        self.own.set(self.own.get() + scaled / self.weight);
        self.members[self.own_idx].store(self.own.get(), Relaxed);
    }

    /// Holds no other back until the next I/O: what the worker needs is held by the others, who
    /// would wait for it forever.
    pub(crate) fn excuse(&self) {
        self.is_excused.set(true);
        self.members[self.own_idx].store(ENDED, Relaxed);
    }

    /// Continues from the progress of the slowest of the others. Missed I/Os are not made up for,
    /// because all others would have to wait meanwhile.
    #[cold]
    fn come_back(&self) {
        self.is_excused.set(false);
        let others = self.members.iter().enumerate().filter(|(idx, _)| *idx != self.own_idx);
        let at_work = others.map(|(_, other)| other.load(Relaxed)).filter(|it| *it != ENDED);
        if let Some(slowest) = at_work.min() {
            self.own.set(self.own.get().max(slowest));
        }
    }

    /// Leaves the flow.
    pub(crate) fn end(&self) {
        self.members[self.own_idx].store(ENDED, Relaxed);
    }
}

impl Drop for FlowGroup {
    /// A worker that could not start, or whose engine failed, must not hold up the others.
    fn drop(&mut self) {
        self.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flows(weights: &[u32], slack_ios: u32) -> Vec<FlowGroup> {
        let flow = |weight: &u32| Flow { id: 1, weight: *weight, sleep_ns: 0, slack_ios };
        FlowGroup::members(&weights.iter().map(flow).collect::<Vec<_>>())
    }

    /// Lets the members go in turn as often as they may, and returns what each did.
    fn go(members: &[FlowGroup], n_rounds: usize) -> Vec<u64> {
        let mut n = vec![0; members.len()];
        for _ in 0..n_rounds {
            for (member, n) in members.iter().zip(&mut n) {
                if !member.is_ahead() {
                    member.advance();
                    *n += 1;
                }
            }
        }
        n
    }

    #[test]
    fn progress_is_in_proportion_within_the_slack() {
        #[track_caller]
        fn check(weights: &[u32], slack_ios: u32) {
            let n = go(&flows(weights, slack_ios), 100_000);
            let of_weight = |idx: usize| n[idx] as f64 / f64::from(weights[idx]);
            let lowest = (0..n.len()).map(of_weight).fold(f64::MAX, f64::min);
            for idx in 0..n.len() {
                let ahead_ios = (of_weight(idx) - lowest) * f64::from(weights[idx]);
                assert!(ahead_ios <= f64::from(slack_ios) + 2.0, "{weights:?}: {n:?}");
            }
        }
        check(&[1, 1], 1);
        check(&[90, 10], 1);
        check(&[66_667, 33_333], 1);
        check(&[1000, 333, 7], 16);
        check(&[3, 1], 2000);
    }

    #[test]
    fn a_member_that_cannot_go_on_holds_none_and_comes_back_among_the_others() {
        let members = flows(&[1, 1, 1], 8);
        members[2].excuse();
        let n = go(&members[..2], 1000);
        assert!(n.iter().all(|n| *n >= 992), "{n:?}");
        members[2].advance();
        let n = go(&members, 1000);
        assert!(n.iter().all(|n| *n >= 984), "{n:?}");
        // All excused: whoever comes first goes on from where it was.
        members.iter().for_each(FlowGroup::excuse);
        assert!(!members[0].is_ahead());
        members[0].advance();
    }

    #[test]
    fn a_member_that_stands_still_holds_the_others_at_the_slack() {
        let mut members = flows(&[1, 1], 2000);
        let first = members.remove(0);
        let mut n = 0;
        while !first.is_ahead() {
            first.advance();
            n += 1;
        }
        assert_eq!(n, 2001);
        members.clear();
        assert!(!first.is_ahead(), "the other has left");
    }
}
