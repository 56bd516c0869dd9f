//! Calls that come twice: a client that lost its connection sends again what had no answer. What
//! must not happen twice (a removal, a creation) is answered as it was the first time.

use std::collections::{HashMap, VecDeque};

use super::answer::Origin;

/// Answers that are remembered: above what all slots of a few clients hold.
const ANSWERS_MAX: usize = 4096;

/// What tells calls apart: client, number, and a checksum of what is asked.
type Key = (u16, u32, u64);

/// The last answers of calls that must not happen twice.
#[derive(Debug, Default)]
pub(super) struct Repeated {
    answers: HashMap<Key, Vec<u8>>,
    order: VecDeque<Key>,
}

/// Returns what a call is known by.
pub(super) fn key(origin: Origin, xid: u32, procedure: u32, arguments: &[u8]) -> Key {
    // Two calls with one number from one client are rare, and only they must differ.
    let call = procedure.to_le_bytes().into_iter().chain(arguments.iter().copied());
    (origin.client, xid, units::fnv1a(call))
}

impl Repeated {
    /// Returns the answer that a call had.
    pub(super) fn find(&self, key: Key) -> Option<Vec<u8>> {
        self.answers.get(&key).cloned()
    }

    /// Remembers an answer.
    pub(super) fn keep(&mut self, key: Key, answer: Vec<u8>) {
        if self.order.len() >= ANSWERS_MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.answers.remove(&oldest);
        }
        self.order.push_back(key);
        self.answers.insert(key, answer);
    }
}
