//! The calls in flight, and the operations that they are parts of.
//!
//! An operation larger than the server's transfer size is several calls, and completes with the
//! last of them. All memory is reserved at the start.

use plan::Direction;
use plan::op::{BufId, Completion, FileIdx, Op, OpClass};

use super::reply::{Answer, Question};

/// Calls that may be in flight at most: a limit of ours, so that a small transfer size and a large
/// block cannot ask for gigabytes of bookkeeping (one call is 64 bytes).
pub(super) const CALLS_MAX: usize = 1 << 20;

/// One call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    /// Its number on the wire. The lower bits are its position here.
    pub(super) xid: u32,
    /// What is asked.
    pub(super) question: Question,
    /// The connection it goes over.
    pub(super) connection: u16,
    /// In flight or queued; otherwise the place is free.
    pub(super) is_live: bool,
    pub(super) file: FileIdx,
    pub(super) slot: u32,
    /// First byte in the file.
    pub(super) offset: u64,
    /// Bytes still to move.
    pub(super) len: u32,
    pub(super) buf: BufId,
    /// Where in the buffer the bytes are.
    pub(super) buf_at: u32,
    /// Where in the operation the bytes are.
    pub(super) at: u32,
}

/// What is known of the operation of a slot so far.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    n_left: u32,
    /// Bytes moved without a gap, once no call is left.
    moved_bytes: u32,
    /// Position and number of the first error.
    error: Option<(u32, i32)>,
}

/// What a call's answer leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// The call is over.
    Over,
    /// A part is missing: the call has a new number and is to be sent again.
    Again,
}

/// Calls and slots of one engine.
pub(super) struct Calls {
    all: Vec<Call>,
    free: Vec<u32>,
    slots: Vec<Slot>,
    /// Operations that are done and not yet returned.
    pub(super) completed: Vec<Completion>,
    n_live: usize,
    /// Upper bits of the next number.
    sequence: u32,
    index_bits: u32,
}

impl Calls {
    /// Reserves memory for `n_calls` calls of `n_slots` operations. `seed` makes the numbers differ
    /// from those of other clients and earlier runs, which a server may remember.
    pub(super) fn new(n_calls: usize, n_slots: usize, seed: u32) -> Calls {
        assert!(n_slots > 0, "{n_calls} calls are reserved for no operation");
        assert!((n_slots..=CALLS_MAX).contains(&n_calls), "{n_calls} calls for {n_slots} slots");
        let index_bits = usize::BITS - n_calls.next_power_of_two().leading_zeros();
        let empty = Call {
            xid: 0,
            question: Question::Other,
            connection: 0,
            is_live: false,
            file: FileIdx(0),
            slot: 0,
            offset: 0,
            len: 0,
            buf: BufId(0),
            buf_at: 0,
            at: 0,
        };
        Calls {
            all: vec![empty; n_calls],
            free: (0..n_calls as u32).rev().collect(),
            slots: vec![Slot::default(); n_slots],
            completed: Vec::with_capacity(n_slots),
            n_live: 0,
            sequence: seed,
            index_bits,
        }
    }

    /// Returns the number of calls in flight or queued.
    pub(super) fn n_live(&self) -> usize {
        self.n_live
    }

    pub(super) fn get(&self, index: u32) -> &Call {
        &self.all[index as usize]
    }

    /// Returns the live calls of a connection.
    pub(super) fn of_connection(&self, connection: u16) -> impl Iterator<Item = u32> {
        let calls = (0..).zip(&self.all);
        calls
            .filter(move |(_, call)| call.is_live && call.connection == connection)
            .map(|(index, _)| index)
    }

    /// Finds the live call of a number.
    pub(super) fn find(&self, xid: u32) -> Option<u32> {
        let index = xid & ((1 << self.index_bits) - 1);
        let call = self.all.get(index as usize)?;
        (call.is_live && call.xid == xid).then_some(index)
    }

    /// Completes an operation without a call.
    pub(super) fn complete(&mut self, slot: u32, result: i32) {
        self.completed.push(Completion { slot, result });
    }

    /// Starts the operation of a slot as `n_calls` calls, which are made next.
    pub(super) fn start(&mut self, op: &Op, n_calls: u32) {
        let moved_bytes = if op.kind.is_sync() { 0 } else { op.len };
        self.slots[op.slot as usize] = Slot { n_left: n_calls, moved_bytes, error: None };
    }

    /// Makes the call for `len` bytes of an operation, `at` bytes into it. `None` when there is no
    /// room, which the reservation rules out.
    pub(super) fn make(&mut self, op: &Op, at: u32, len: u32, connection: u16) -> Option<u32> {
        let index = self.free.pop()?;
        let xid = self.next_xid(index);
        let question = match op.kind.class() {
            OpClass::Bytes(Direction::Read) => Question::Read,
            OpClass::Bytes(Direction::Write) => Question::Write,
            // Of the others only these two are started.
            OpClass::File => Question::GetAttr,
            OpClass::Sync(_) | OpClass::Bytes(Direction::Trim) => Question::Commit,
        };
        self.all[index as usize] = Call {
            xid,
            question,
            connection,
            is_live: true,
            file: op.file,
            slot: op.slot,
            offset: op.offset + u64::from(at),
            len,
            buf: op.buf,
            buf_at: op.buf_offset_bytes + at,
            at,
        };
        self.n_live += 1;
        Some(index)
    }

    /// Takes the answer of a call.
    pub(super) fn answer(&mut self, index: u32, answer: Answer) -> Next {
        let call = self.all[index as usize];
        match answer {
            Answer::Refused { errno } => self.fail(call, errno),
            Answer::Read { count, eof } if count < call.len => {
                if !eof && count > 0 {
                    return self.again(index, count);
                }
                self.end_short(call, count);
            }
            Answer::Write { count: 0, .. } if call.len > 0 => self.fail(call, libc::EIO),
            Answer::Write { count, .. } if count < call.len => return self.again(index, count),
            Answer::Read { .. }
            | Answer::Write { .. }
            | Answer::Commit { .. }
            | Answer::GetAttr { .. }
            | Answer::Accepted => {}
        }
        self.end(index);
        Next::Over
    }

    /// Ends a call with an error of ours.
    pub(super) fn end_with(&mut self, index: u32, errno: i32) {
        let call = self.all[index as usize];
        self.fail(call, errno);
        self.end(index);
    }

    /// Goes on behind `count` bytes, under a new number: the old one has its answer.
    fn again(&mut self, index: u32, count: u32) -> Next {
        let xid = self.next_xid(index);
        let call = &mut self.all[index as usize];
        call.xid = xid;
        call.offset += u64::from(count);
        call.len -= count;
        call.buf_at += count;
        call.at += count;
        Next::Again
    }

    fn fail(&mut self, call: Call, errno: i32) {
        let slot = &mut self.slots[call.slot as usize];
        if slot.error.is_none_or(|(at, _)| call.at < at) {
            slot.error = Some((call.at, errno));
        }
    }

    /// The file ends within the call.
    fn end_short(&mut self, call: Call, count: u32) {
        let slot = &mut self.slots[call.slot as usize];
        slot.moved_bytes = slot.moved_bytes.min(call.at + count);
    }

    fn end(&mut self, index: u32) {
        let call = &mut self.all[index as usize];
        call.is_live = false;
        let slot_index = call.slot;
        self.free.push(index);
        self.n_live -= 1;
        let slot = &mut self.slots[slot_index as usize];
        slot.n_left -= 1;
        if slot.n_left == 0 {
            let result = slot.error.map_or(slot.moved_bytes as i32, |(_, errno)| -errno);
            self.complete(slot_index, result);
        }
    }

    fn next_xid(&mut self, index: u32) -> u32 {
        self.sequence = self.sequence.wrapping_add(1);
        self.sequence << self.index_bits | index
    }
}

#[cfg(test)]
mod tests {
    use plan::IoPriority;

    use plan::op::OpKind;

    use super::*;

    fn op(kind: OpKind, len: u32) -> Op {
        Op {
            offset: 1000,
            len,
            file: FileIdx(0),
            slot: 0,
            buf: BufId(0),
            buf_offset_bytes: 0,
            kind,
            priority: IoPriority::NONE,
        }
    }

    /// Makes a read of 30 bytes as three calls, answers them in the order given (call, answer), and
    /// compares the result.
    #[track_caller]
    fn check(answers: &[(usize, Answer)], expected: i32) {
        let mut calls = Calls::new(3, 1, 0);
        let op = op(OpKind::Read, 30);
        calls.start(&op, 3);
        let made: Vec<u32> =
            (0..3).map(|n| calls.make(&op, n * 10, 10, 0).expect("room")).collect();
        for (n, (call, answer)) in answers.iter().enumerate() {
            let is_last = n + 1 == answers.len();
            assert_eq!(calls.answer(made[*call], *answer), Next::Over);
            assert_eq!(calls.completed.is_empty(), !is_last);
        }
        assert_eq!(calls.completed, [Completion { slot: 0, result: expected }]);
        assert_eq!(calls.n_live(), 0);
    }

    #[test]
    fn each_operation_has_a_call() {
        let new = |n_calls, n_slots| drop(Calls::new(n_calls, n_slots, 0));
        testing::check_wrong_calls(&[
            ("no operations", "2 calls are reserved for no operation", &|| new(2, 0)),
            ("fewer calls", "2 calls for 3 slots", &|| new(2, 3)),
            ("more than are numbered", "1048577 calls for 1 slots", &|| new(CALLS_MAX + 1, 1)),
        ]);
    }

    const WHOLE: Answer = Answer::Read { count: 10, eof: false };

    #[test]
    fn an_operation_ends_with_its_last_call() {
        check(&[(2, WHOLE), (0, WHOLE), (1, WHOLE)], 30);
    }

    #[test]
    fn the_end_of_the_file_makes_it_short() {
        let none = Answer::Read { count: 0, eof: true };
        check(&[(2, none), (1, Answer::Read { count: 4, eof: true }), (0, WHOLE)], 14);
    }

    #[test]
    fn the_first_error_by_position_counts() {
        let refused = |errno| Answer::Refused { errno };
        check(&[(2, refused(5)), (1, refused(28)), (0, WHOLE)], -28);
    }

    #[test]
    fn a_partial_answer_asks_for_the_rest_under_a_new_number() {
        let mut calls = Calls::new(1, 1, 0);
        let op = op(OpKind::Write, 10);
        calls.start(&op, 1);
        let index = calls.make(&op, 0, 10, 0).expect("room");
        let before = *calls.get(index);
        let partial = Answer::Write { count: 4, is_unstable: true, verifier: 0 };
        assert_eq!(calls.answer(index, partial), Next::Again);
        let after = *calls.get(index);
        assert_eq!((after.offset, after.len, after.buf_at), (1004, 6, 4));
        assert_ne!(after.xid, before.xid);
        assert_eq!(calls.find(before.xid), None);
        assert_eq!(calls.find(after.xid), Some(index));
    }
}
