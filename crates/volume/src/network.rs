//! Calls in flight: each client of a network volume has so many slots, and no more.

use crate::cap::CapId;
use crate::lanes::Lanes;
use crate::layout::ClientPlace;
use crate::slab::Fifo;

/// The slots of one client.
#[derive(Clone, Debug)]
struct Slots {
    /// How many there are; `None` is without limit.
    limit: Option<(u32, CapId)>,
    n_used: u32,
    waiting: Fifo,
    /// Sum over time of the slots in use, slots × nanoseconds, until `since_ns`.
    busy: u128,
    since_ns: u64,
}

/// The slots of all clients.
#[derive(Clone, Debug)]
pub(crate) struct SlotTable {
    clients: Vec<Slots>,
}

impl SlotTable {
    pub(crate) fn new(clients: &[ClientPlace]) -> SlotTable {
        let slots = |client: &ClientPlace| Slots {
            limit: client.slots,
            n_used: 0,
            waiting: Fifo::EMPTY,
            busy: 0,
            since_ns: 0,
        };
        SlotTable { clients: clients.iter().map(slots).collect() }
    }

    /// Takes a slot for a call, or lets it wait for one. Returns whether it has one.
    pub(crate) fn take(&mut self, lanes: &mut Lanes, piece: u32, now_ns: u64) -> bool {
        let client = usize::from(lanes.pieces[piece].disk);
        let slots = &mut self.clients[client];
        if slots.limit.is_some_and(|(n_slots, _)| slots.n_used >= n_slots) {
            slots.waiting.push(&mut lanes.pieces, piece);
            return false;
        }
        slots.count(now_ns);
        slots.n_used += 1;
        if let Some((_, cap)) = slots.limit {
            lanes.caps[cap].count();
        }
        true
    }

    /// Gives a call's slot back. Ask who is next then.
    pub(crate) fn give_back(&mut self, client: u16, now_ns: u64) {
        let slots = &mut self.clients[usize::from(client)];
        assert!(slots.n_used > 0, "client {client} gives a slot back that no call has");
        slots.count(now_ns);
        slots.n_used -= 1;
    }

    /// Gives a free slot, if there is one, to the call that waits for it longest.
    pub(crate) fn next(&mut self, lanes: &mut Lanes, client: u16, now_ns: u64) -> Option<u32> {
        let slots = &mut self.clients[usize::from(client)];
        let (n_slots, cap) = slots.limit?;
        if slots.n_used >= n_slots {
            return None;
        }
        slots.count(now_ns);
        let next = slots.waiting.pop(&lanes.pieces)?;
        slots.n_used += 1;
        let piece = &mut lanes.pieces[next];
        piece.held_by = cap;
        piece.held_ns = now_ns - piece.since_ns;
        let cap = &mut lanes.caps[cap];
        cap.held(piece.since_ns, now_ns);
        cap.count();
        Some(next)
    }

    /// Takes other numbers of slots; calls that have one keep it.
    pub(crate) fn change(&mut self, clients: &[ClientPlace]) {
        let (n_now, n_then) = (self.clients.len(), clients.len());
        assert_eq!(n_now, n_then, "{n_now} clients become {n_then}");
        for (slots, client) in self.clients.iter_mut().zip(clients) {
            slots.limit = client.slots;
        }
    }

    /// Returns how many calls wait for a slot.
    pub(crate) fn n_waiting(&self, client: usize) -> u32 {
        self.clients[client].waiting.len()
    }

    /// Returns the mean share of the slots that were in use since the start.
    pub(crate) fn share(&self, cap: CapId, start_ns: u64, now_ns: u64) -> f64 {
        let of_cap = |slots: &&Slots| slots.limit.is_some_and(|(_, id)| id == cap);
        let Some(slots) = self.clients.iter().find(of_cap) else { return 0.0 };
        let mut slots = slots.clone();
        let since_ns = slots.since_ns.max(start_ns);
        assert!(now_ns >= since_ns, "slots of {since_ns} ns are asked for {now_ns} ns");
        slots.count(now_ns);
        let n_slots = slots.limit.map_or(1, |(n_slots, _)| n_slots);
        let all = u128::from(n_slots) * u128::from(now_ns - start_ns);
        if all == 0 { 0.0 } else { slots.busy as f64 / all as f64 }
    }

    /// Drops everything that is on its way.
    pub(crate) fn clear(&mut self, now_ns: u64) {
        for slots in &mut self.clients {
            slots.count(now_ns);
            slots.n_used = 0;
            slots.waiting = Fifo::EMPTY;
        }
    }
}

impl Slots {
    fn count(&mut self, now_ns: u64) {
        self.busy += u128::from(self.n_used) * u128::from(now_ns - self.since_ns);
        self.since_ns = now_ns;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_given_back_by_those_who_have_them() {
        let mut clients = vec![ClientPlace::at(0, 0)];
        clients[0].slots = Some((4, CapId(0)));
        let mut table = SlotTable::new(&clients);
        table.clear(5_000);
        testing::check_wrong_calls(&[
            ("one too many", "client 0 gives a slot back that no call has", &|| {
                table.clone().give_back(0, 6_000);
            }),
            ("another client", "1 clients become 2", &|| {
                table.clone().change(&[clients.clone(), clients.clone()].concat());
            }),
            ("a look back", "slots of 5000 ns are asked for 4999 ns", &|| {
                _ = table.share(CapId(0), 0, 4_999);
            }),
            ("a look before the start", "slots of 7000 ns are asked for 6000 ns", &|| {
                _ = table.share(CapId(0), 7_000, 6_000);
            }),
        ]);
    }
}
