//! Operations under way, and the order of writes that a flush waits for.

use super::System;
use crate::cap::CapId;
use crate::io::{Io, IoKind, Stations};
use crate::slab::{Fifo, Linked, NIL};

/// An operation that was submitted and is not done.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operation {
    pub(crate) id: u64,
    /// Pieces that are not done.
    pub(crate) n_left: u32,
    pub(crate) volume: u16,
    pub(crate) client: u16,
    pub(crate) held_by: CapId,
    pub(crate) held_ns: u64,
    pub(crate) stations: Stations,
    /// Whether a flush waits for it.
    pub(crate) is_write: bool,
    /// Number of the write, or of the next one for a flush.
    pub(crate) number: u64,
    /// When a flush was submitted.
    since_ns: u64,
    /// Writes of the same volume submitted just before and after that are not done.
    older: u32,
    next: u32,
}

impl Operation {
    pub(crate) fn new(io: &Io) -> Operation {
        Operation {
            id: io.id,
            n_left: 0,
            volume: io.volume,
            client: io.client,
            held_by: CapId::NONE,
            held_ns: 0,
            stations: Stations::default(),
            is_write: !matches!(io.kind, IoKind::Read | IoKind::Flush | IoKind::Call),
            number: 0,
            since_ns: 0,
            older: NIL,
            next: NIL,
        }
    }
}

impl Linked for Operation {
    fn next(&self) -> u32 {
        self.next
    }

    fn set_next(&mut self, next: u32) {
        self.next = next;
    }
}

/// Writes and flushes of one volume.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    n_writes: u64,
    /// Writes that are not done.
    oldest: u32,
    newest: u32,
    /// Flushes that wait for some of them.
    flushes: Fifo,
    /// Number of the newest of them.
    flush_number: u64,
}

impl Order {
    pub(crate) fn new() -> Order {
        Order { n_writes: 0, oldest: NIL, newest: NIL, flushes: Fifo::EMPTY, flush_number: 0 }
    }

    /// Returns the number before which a flush waits for every write; 0 if none waits.
    pub(crate) fn flush_number(&self) -> u64 {
        if self.flushes.first().is_some() { self.flush_number } else { 0 }
    }

    /// Returns how many flushes wait.
    pub(crate) fn n_flushes(&self) -> u32 {
        self.flushes.len()
    }

    /// Returns the number of the next write.
    pub(crate) fn next_number(&self) -> u64 {
        self.n_writes
    }

    /// Forgets all that is under way.
    pub(crate) fn clear(&mut self) {
        *self = Order { n_writes: self.n_writes, ..Order::new() };
    }
}

impl System {
    /// Puts a write at the end of its volume's order.
    pub(crate) fn note_write(&mut self, idx: u32, volume: u16) {
        let order = &mut self.orders[usize::from(volume)];
        let operation = &mut self.operations[idx];
        operation.number = order.n_writes;
        order.n_writes += 1;
        operation.older = order.newest;
        match order.newest {
            NIL => order.oldest = idx,
            newest => self.operations[newest].next = idx,
        }
        order.newest = idx;
    }

    /// Takes a write that is done out of the order, and completes the flushes that waited for it.
    pub(crate) fn forget_write(&mut self, idx: u32, volume: u16) {
        let Operation { older, next, .. } = self.operations[idx];
        let order = &mut self.orders[usize::from(volume)];
        match next {
            NIL => order.newest = older,
            next => self.operations[next].older = older,
        }
        match older {
            NIL => order.oldest = next,
            older => self.operations[older].next = next,
        }
        if older == NIL && order.flushes.first().is_some() {
            self.complete_flushes(volume);
        }
    }

    /// Takes a flush in.
    pub(crate) fn submit_flush(&mut self, idx: u32, volume: u16) {
        let order = &mut self.orders[usize::from(volume)];
        if order.flushes.first().is_none() {
            self.host.begin_to_blame(volume);
        }
        self.operations[idx].number = order.n_writes;
        self.operations[idx].since_ns = self.now_ns;
        order.flush_number = order.n_writes;
        order.flushes.push(&mut self.operations, idx);
        self.write_behind(volume);
        self.complete_flushes(volume);
    }

    /// Completes every flush that has nothing left to wait for.
    pub(crate) fn complete_flushes(&mut self, volume: u16) {
        loop {
            let order = &self.orders[usize::from(volume)];
            let Some(flush) = order.flushes.first() else { return };
            let number = self.operations[flush].number;
            if order.oldest != NIL && self.operations[order.oldest].number < number {
                return;
            }
            if self.host.dirty.oldest_number(volume).is_some_and(|oldest| oldest < number) {
                return;
            }
            self.orders[usize::from(volume)].flushes.pop(&self.operations);
            let wait_ns = self.now_ns - self.operations[flush].since_ns;
            if let Some((cap, held_ns)) = self.host.blame(volume, wait_ns) {
                self.operations[flush].held_by = cap;
                self.operations[flush].held_ns = held_ns;
            }
            self.end_flush(flush, volume);
        }
    }
}
