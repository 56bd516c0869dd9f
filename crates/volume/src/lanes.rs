//! Lanes: where operations wait, first come, first served, until all caps before them let them go.
//!
//! A lane has caps of its own (a disk's) and leads to a gate with caps that several lanes share
//! (the machine's). The first operation of a lane leaves when its own caps and the gate's are
//! ready, all at the same moment, and takes from all of them. Lanes whose own caps are ready stand
//! at the gate and share what it lets through: of the cap that holds them each gets as much as the
//! others, of operations or of bytes, in large or small operations. A lane that needs less than an
//! equal share gets it all, and the others share the rest.
//!
//! The order is that of start-time fair queueing (Goyal, Vin and Cheng, SIGCOMM 1996): a lane's
//! operation starts where its last one ended, in time of the cap, but not before the one that left
//! last; the earliest start is next, and of equal ones who came first.

use crate::cache::GroupSpot;
use crate::cap::{CapId, Demand};
use crate::caps::{CapSet, Caps};
use crate::io::Stations;
use crate::queue::TimeQueue;
use crate::slab::{Fifo, Linked, NIL, Slab};

/// Marks a piece that is an operation: one that no other waits for and that is not split has no
/// more to it than its piece.
pub(crate) const WHOLE: u32 = NIL - 1;

/// A part of an operation on its way: what one disk, or one call, does of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    pub(crate) next: u32,
    /// The operation that it belongs to; [`NIL`] for what the system does by itself, [`WHOLE`] for
    /// a piece that is an operation.
    pub(crate) parent: u32,
    /// Of one that is an operation: its name, see [`crate::Io::id`]. Of a write of the cache's own:
    /// number of the first write that came too late for it.
    pub(crate) id: u64,
    /// First byte, on the volume.
    pub(crate) offset_bytes: u64,
    pub(crate) len_bytes: u32,
    pub(crate) demand: Demand,
    /// When it joined the lane it is in.
    pub(crate) since_ns: u64,
    /// Its longest wait so far, and for what.
    pub(crate) held_ns: u64,
    pub(crate) held_by: CapId,
    pub(crate) stations: Stations,
    pub(crate) disk: u16,
    pub(crate) volume: u16,
    pub(crate) task: Task,
    /// Where the cache will hold what a read missed.
    pub(crate) spot: GroupSpot,
}

/// What is to be done about a piece beyond completing it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    /// Nothing.
    Plain,
    /// A read that missed the cache: what it read is held from now on.
    Fill,
    /// A write that is done once the cache has it.
    Behind,
    /// A write on a write-back cache that is done once the disk has it.
    Through,
    /// A write of the cache's own, of what was dirty.
    Leave,
    /// A call that makes durable what was written before (COMMIT): the volume's caps, which count
    /// reads and writes, do not count it.
    Commit,
}

impl Linked for Piece {
    fn next(&self) -> u32 {
        self.next
    }

    fn set_next(&mut self, next: u32) {
        self.next = next;
    }
}

/// What a lane leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// The host cache.
    Cache,
    /// A disk.
    Disk,
    /// The network, from a client.
    Egress,
    /// A volume of a network file service.
    Service,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Empty,
    /// Until its own caps are ready.
    Timed,
    AtGate,
}

/// What became of a piece that joined a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LaneResult {
    /// It is past the lane and its gate.
    Passed(Role),
    /// It is the first in the lane. Call `leave` for the lane's gate next.
    First,
    /// It waits behind others.
    Behind,
}

#[derive(Clone, Debug)]
pub(crate) struct Lane {
    pub(crate) role: Role,
    pub(crate) own: CapSet,
    pub(crate) gate: u32,
    waiting: Fifo,
    state: State,
    /// Since when the first piece waits for what it waits for.
    since_ns: u64,
    /// How long it waited for the lane's own caps.
    own_wait_ns: u64,
    /// What held the first pieces last, longer than anything else.
    held_by: CapId,
    /// The next lane at the gate.
    next: u32,
    /// Where the first piece stands in the gate's order, and where the last one that left ended:
    /// nanoseconds of the cap that held it.
    starts_ns: u64,
    ended_ns: u64,
}

impl Lane {
    pub(crate) fn new(role: Role, gate: u32) -> Lane {
        Lane {
            role,
            own: CapSet::EMPTY,
            gate,
            waiting: Fifo::EMPTY,
            state: State::Empty,
            since_ns: 0,
            own_wait_ns: 0,
            held_by: CapId::NONE,
            next: NIL,
            starts_ns: 0,
            ended_ns: 0,
        }
    }
}

impl Linked for Lane {
    fn next(&self) -> u32 {
        self.next
    }

    fn set_next(&mut self, next: u32) {
        self.next = next;
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Gate {
    pub(crate) shared: CapSet,
    /// Lanes whose turn comes, in order of their starts.
    lanes: Fifo,
    /// Start of the piece that left last among several lanes.
    started_ns: u64,
    is_timed: bool,
    held_by: CapId,
}

impl Gate {
    pub(crate) fn new() -> Gate {
        Gate {
            shared: CapSet::EMPTY,
            lanes: Fifo::EMPTY,
            started_ns: 0,
            is_timed: false,
            held_by: CapId::NONE,
        }
    }
}

/// Marks the name of a gate's timer.
const GATE: u32 = 1 << 31;

/// All lanes, gates and caps.
#[derive(Clone, Debug)]
pub(crate) struct Lanes {
    pub(crate) pieces: Slab<Piece>,
    pub(crate) caps: Caps,
    pub(crate) all: Slab<Lane>,
    pub(crate) gates: Vec<Gate>,
    timers: TimeQueue,
}

impl Lanes {
    pub(crate) fn new(n_pieces: usize) -> Lanes {
        Lanes {
            pieces: Slab::with_capacity(n_pieces),
            caps: Caps::default(),
            all: Slab::with_capacity(0),
            gates: Vec::new(),
            timers: TimeQueue::with_capacity(0),
        }
    }

    /// Reserves what timers need, once all lanes and gates are there.
    pub(crate) fn reserve_timers(&mut self) {
        self.timers = TimeQueue::with_capacity(self.all.len() + self.gates.len());
    }

    /// Puts the caps of each lane and of each gate side by side, once all are set.
    pub(crate) fn line_up_caps(&mut self) {
        let own = self.all.iter_mut().map(|lane| &mut lane.own);
        let shared = self.gates.iter_mut().map(|gate| &mut gate.shared);
        self.caps.line_up(own.chain(shared));
    }

    #[inline]
    pub(crate) fn next_ns(&self) -> u64 {
        self.timers.next_ns()
    }

    /// Takes a piece in: past all caps, if nothing holds it, else at the end of the lane.
    #[inline]
    pub(crate) fn join(&mut self, lane_idx: u32, piece: u32, now_ns: u64) -> LaneResult {
        let lane = &mut self.all[lane_idx];
        self.pieces[piece].since_ns = now_ns;
        if lane.state == State::Empty {
            return self.join_empty(lane_idx, piece, now_ns);
        }
        lane.waiting.push(&mut self.pieces, piece);
        LaneResult::Behind
    }

    /// Takes a piece into a lane in which nothing waits.
    #[inline(never)]
    fn join_empty(&mut self, lane_idx: u32, piece: u32, now_ns: u64) -> LaneResult {
        let lane = &mut self.all[lane_idx];
        let demand = self.pieces[piece].demand;
        let gate = &mut self.gates[lane.gate as usize];
        if gate.lanes.first().is_none()
            && self.caps.are_ready(&lane.own, demand, now_ns)
            && self.caps.are_ready(&gate.shared, demand, now_ns)
        {
            self.caps.take(&mut gate.shared, demand, now_ns);
            self.caps.take(&mut lane.own, demand, now_ns);
            return LaneResult::Passed(lane.role);
        }
        lane.waiting.push(&mut self.pieces, piece);
        self.step_up(lane_idx, now_ns);
        LaneResult::First
    }

    /// Handles the timer that is due at `now_ns`, if there is one. Returns the gate at which
    /// something may leave now, and what has left already.
    #[expect(clippy::inline_always, reason = "a call would pass its result through memory")]
    #[inline(always)]
    pub(crate) fn due(&mut self, now_ns: u64) -> Option<(u32, Option<(u32, Role)>)> {
        let name = self.timers.pop_until(now_ns)?;
        if name & GATE != 0 {
            self.gates[(name & !GATE) as usize].is_timed = false;
            return Some((name & !GATE, None));
        }
        let lane = &mut self.all[name];
        let (since_ns, held_by) = (lane.since_ns, lane.held_by);
        lane.own_wait_ns = now_ns - since_ns;
        lane.since_ns = now_ns;
        let gate_idx = lane.gate;
        if let Some(cap) = self.caps.get_mut(held_by) {
            cap.held(since_ns, now_ns);
        }
        let gate = &mut self.gates[gate_idx as usize];
        let demand = lane.waiting.first().map(|piece| self.pieces[piece].demand)?;
        if gate.lanes.first().is_none() && self.caps.are_ready(&gate.shared, demand, now_ns) {
            self.caps.take(&mut gate.shared, demand, now_ns);
            let gate_held_by = gate.held_by;
            return Some((gate_idx, Some(self.let_go(name, gate_held_by, demand, now_ns))));
        }
        self.stand_at_gate(name);
        Some((gate_idx, None))
    }

    /// Returns whether lanes stand at a gate.
    #[inline]
    pub(crate) fn has_waiting(&self, gate_idx: u32) -> bool {
        self.gates[gate_idx as usize].lanes.first().is_some()
    }

    /// Lets the next piece go whose turn it is at a gate, if it may go now.
    #[inline]
    pub(crate) fn leave(&mut self, gate_idx: u32, now_ns: u64) -> Option<(u32, Role)> {
        let gate = &mut self.gates[gate_idx as usize];
        let lane_idx = gate.lanes.first()?;
        if gate.is_timed {
            return None;
        }
        let demand = self.pieces[self.all[lane_idx].waiting.first()?].demand;
        let (ready_ns, cap) = self.caps.ready(&gate.shared, demand, now_ns);
        if ready_ns > now_ns {
            gate.held_by = cap;
            gate.is_timed = true;
            self.timers.push(ready_ns, GATE | gate_idx);
            return None;
        }
        if gate.lanes.len() > 1 {
            self.charge(gate_idx, lane_idx, demand);
        }
        let gate = &mut self.gates[gate_idx as usize];
        gate.lanes.pop(&self.all);
        self.caps.take(&mut gate.shared, demand, now_ns);
        let gate_held_by = gate.held_by;
        Some(self.let_go(lane_idx, gate_held_by, demand, now_ns))
    }

    /// Notes what a lane that goes before others takes of the cap that holds them.
    #[inline(never)]
    fn charge(&mut self, gate_idx: u32, lane_idx: u32, demand: Demand) {
        let gate = &mut self.gates[gate_idx as usize];
        let lane = &mut self.all[lane_idx];
        gate.started_ns = lane.starts_ns;
        let took_ns = self.caps.get_mut(gate.held_by).map_or(0, |cap| cap.time_ns(demand));
        lane.ended_ns = lane.starts_ns.saturating_add(took_ns);
    }

    /// Takes the first piece out of its lane, and notes what it waited for.
    #[expect(clippy::inline_always, reason = "a call costs a fifth of what it does")]
    #[inline(always)]
    fn let_go(
        &mut self,
        lane_idx: u32,
        gate_held_by: CapId,
        demand: Demand,
        now_ns: u64,
    ) -> (u32, Role) {
        let lane = &mut self.all[lane_idx];
        // As of when it came to be the first: what its caps took in since then is not cut off.
        self.caps.take(&mut lane.own, demand, lane.since_ns - lane.own_wait_ns);
        let gate_wait_ns = now_ns - lane.since_ns;
        if gate_wait_ns > 0 {
            if gate_wait_ns > lane.own_wait_ns {
                lane.held_by = gate_held_by;
            }
            if let Some(cap) = self.caps.get_mut(gate_held_by) {
                cap.held(lane.since_ns, now_ns);
            }
        }
        let (role, held_by) = (lane.role, lane.held_by);
        let piece_idx = lane.waiting.pop(&self.pieces).unwrap_or(NIL);
        let piece = &mut self.pieces[piece_idx];
        let waited_ns = now_ns - piece.since_ns;
        if waited_ns > piece.held_ns {
            piece.held_ns = waited_ns;
            piece.held_by = held_by;
        }
        self.step_up(lane_idx, now_ns);
        (piece_idx, role)
    }

    /// Sees what a lane's first piece waits for.
    #[expect(clippy::inline_always, reason = "a call costs a fifth of what it does")]
    #[inline(always)]
    fn step_up(&mut self, lane_idx: u32, now_ns: u64) {
        let lane = &mut self.all[lane_idx];
        let Some(piece) = lane.waiting.first() else {
            lane.state = State::Empty;
            return;
        };
        lane.since_ns = now_ns;
        lane.own_wait_ns = 0;
        let demand = self.pieces[piece].demand;
        let (ready_ns, cap) = self.caps.ready(&lane.own, demand, now_ns);
        if ready_ns > now_ns {
            lane.held_by = cap;
            lane.state = State::Timed;
            self.timers.push(ready_ns, lane_idx);
        } else {
            self.stand_at_gate(lane_idx);
        }
    }

    #[inline]
    fn stand_at_gate(&mut self, lane_idx: u32) {
        let lane = &mut self.all[lane_idx];
        lane.state = State::AtGate;
        let gate = &mut self.gates[lane.gate as usize];
        lane.starts_ns = lane.ended_ns.max(gate.started_ns);
        gate.lanes.push_in_order(&mut self.all, lane_idx, |lane| lane.starts_ns);
    }

    /// Returns what holds a lane now, and how many pieces wait in it.
    pub(crate) fn waiting_at(&self, lane_idx: u32) -> (CapId, u32) {
        let lane = &self.all[lane_idx];
        let held_by = match lane.state {
            State::AtGate => self.gates[lane.gate as usize].held_by,
            State::Empty | State::Timed => lane.held_by,
        };
        (held_by, lane.waiting.len())
    }

    /// Forgets what every lane waits for and looks again: the caps have changed.
    pub(crate) fn look_again(&mut self, now_ns: u64) {
        self.timers.clear();
        for gate in &mut self.gates {
            gate.lanes = Fifo::EMPTY;
            gate.is_timed = false;
            gate.started_ns = 0;
        }
        for lane_idx in 0..self.all.len() as u32 {
            self.all[lane_idx].ended_ns = 0;
            self.step_up(lane_idx, now_ns);
        }
    }

    /// Drops everything that is on its way.
    pub(crate) fn clear(&mut self, now_ns: u64) {
        self.pieces.clear();
        for lane_idx in 0..self.all.len() as u32 {
            self.all[lane_idx].waiting = Fifo::EMPTY;
        }
        self.look_again(now_ns);
    }
}
