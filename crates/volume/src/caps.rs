//! The caps of a system. Those that an operation is held by together stand side by side, so that
//! asking them is a walk along a row.

use std::ops::{Index, IndexMut};

use crate::cap::{Cap, CapId, Demand};

/// A few caps: those of one lane, or of one gate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CapSet {
    ids: [CapId; CapSet::N_MAX],
    n: u16,
    /// Where the first of them stands.
    start: u16,
    /// Not before any of them is ready: where this has come, none need be asked.
    ready_ns: u64,
}

impl CapSet {
    /// A service lane has most: quota, operations, and three ceilings.
    const N_MAX: usize = 6;
    pub(crate) const EMPTY: CapSet =
        CapSet { ids: [CapId::NONE; CapSet::N_MAX], n: 0, start: 0, ready_ns: 0 };

    /// Adds a cap. Line the caps up before the set is used.
    pub(crate) fn push(&mut self, id: CapId) {
        self.ids[usize::from(self.n)] = id;
        self.n += 1;
        self.ready_ns = u64::MAX;
    }
}

/// All caps.
#[derive(Clone, Debug, Default)]
pub(crate) struct Caps {
    row: Vec<Cap>,
    /// Where each cap stands, by its position in the design.
    places: Vec<u16>,
}

impl Caps {
    /// Adds a cap, in no set yet.
    pub(crate) fn push(&mut self, mut cap: Cap) -> CapId {
        let id = CapId(self.places.len() as u16);
        cap.id = id;
        self.places.push(self.row.len() as u16);
        self.row.push(cap);
        id
    }

    /// Puts the caps of each set side by side. No cap is in two of them.
    pub(crate) fn line_up<'a>(&mut self, sets: impl Iterator<Item = &'a mut CapSet>) {
        let mut ranks = vec![u16::MAX; self.row.len()];
        let mut n = 0;
        for set in sets {
            set.start = n;
            for id in &set.ids[..usize::from(set.n)] {
                let rank = &mut ranks[usize::from(id.0)];
                assert!(*rank == u16::MAX, "cap {} is in two sets", id.0);
                *rank = n;
                n += 1;
            }
        }
        self.row.sort_by_key(|cap| ranks[usize::from(cap.id.0)]);
        for (place, cap) in self.row.iter().enumerate() {
            self.places[usize::from(cap.id.0)] = place as u16;
        }
    }

    #[inline]
    fn of(&self, set: &CapSet) -> &[Cap] {
        &self.row[usize::from(set.start)..][..usize::from(set.n)]
    }

    /// Returns whether all of a set let an operation go now.
    #[inline]
    pub(crate) fn are_ready(&self, set: &CapSet, demand: Demand, now_ns: u64) -> bool {
        let is_ready = |cap: &Cap| cap.ready_ns() <= now_ns || cap.cost(demand) == 0;
        set.ready_ns <= now_ns || self.of(set).iter().all(is_ready)
    }

    /// Returns when all of a set let an operation go, not before `now_ns`, and the last of them.
    #[inline]
    pub(crate) fn ready(&self, set: &CapSet, demand: Demand, now_ns: u64) -> (u64, CapId) {
        let mut last = (now_ns, CapId::NONE);
        if set.ready_ns > now_ns {
            for cap in self.of(set) {
                if cap.ready_ns() > last.0 && cap.cost(demand) > 0 {
                    last = (cap.ready_ns(), cap.id);
                }
            }
        }
        last
    }

    /// Lets an operation go that all of a set are ready for.
    #[expect(clippy::inline_always, reason = "a call costs as much as what it does for two caps")]
    #[inline(always)]
    pub(crate) fn take(&mut self, set: &mut CapSet, demand: Demand, now_ns: u64) {
        let mut ready_ns = 0;
        for cap in &mut self.row[usize::from(set.start)..][..usize::from(set.n)] {
            let cost = cap.cost(demand);
            if cost > 0 {
                cap.take(cost, now_ns);
            }
            ready_ns = cap.ready_ns().max(ready_ns);
        }
        set.ready_ns = ready_ns;
    }

    /// Returns a cap; `None` for [`CapId::NONE`].
    #[inline]
    pub(crate) fn get_mut(&mut self, id: CapId) -> Option<&mut Cap> {
        let place = *self.places.get(usize::from(id.0))?;
        self.row.get_mut(usize::from(place))
    }

    /// Counts time from `now_ns` on. Nothing has gone before it.
    pub(crate) fn begin(&mut self, now_ns: u64) {
        self.row.iter_mut().for_each(|cap| cap.begin(now_ns));
    }
}

impl Index<CapId> for Caps {
    type Output = Cap;

    fn index(&self, id: CapId) -> &Cap {
        &self.row[usize::from(self.places[usize::from(id.0)])]
    }
}

impl IndexMut<CapId> for Caps {
    fn index_mut(&mut self, id: CapId) -> &mut Cap {
        &mut self.row[usize::from(self.places[usize::from(id.0)])]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cap::Measure;
    use crate::design::Limit;

    #[test]
    fn no_cap_is_in_two_sets() {
        let limit = Limit { per_s: 100, burst: None, origin: "test".to_owned() };
        let mut caps = Caps::default();
        let ids = [0; 2].map(|_| caps.push(Cap::new(&limit, Measure::OPS, 1_000, 0)));
        let mut sets = [CapSet::EMPTY; 2];
        sets[0].push(ids[0]);
        sets[1].push(ids[1]);
        caps.line_up(sets.iter_mut());
        sets[1].push(ids[0]);
        testing::check_wrong_calls(&[("a cap of both", "cap 0 is in two sets", &|| {
            caps.clone().line_up(sets.clone().iter_mut());
        })]);
    }
}
