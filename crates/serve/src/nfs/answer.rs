//! Answers on their way to a connection, and the slots that their calls hold until then.

use std::io::{self, Write};
use std::net::TcpStream;
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use super::caller::Caller;
use super::record::LAST;
use crate::lock::lock;
use crate::pacer::Arrival;

/// Calls in flight, limited.
#[derive(Debug)]
pub(super) struct Slots {
    pub(super) n_free: Mutex<u16>,
    pub(super) freed: Condvar,
}

/// Where the answer of a call goes. Answers once, from any thread; a call that is dropped without
/// one frees its slot.
pub(super) struct Answer {
    pub(super) answers: Sender<(Vec<u8>, Slot)>,
    pub(super) slot: Slot,
    pub(super) xid: u32,
}

/// A slot that is taken.
pub(super) struct Slot(Arc<Slots>);

impl Drop for Slot {
    fn drop(&mut self) {
        *lock(&self.0.n_free) += 1;
        self.0.freed.notify_one();
    }
}

impl Answer {
    /// Sends the answer. Does not wait.
    pub(super) fn send(self, message: Vec<u8>) {
        // Without a reader the connection is gone.
        let _ = self.answers.send((message, self.slot));
    }
}

/// What a call comes with besides its arguments.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin {
    pub(super) client: u16,
    pub(super) caller: Caller,
    pub(super) arrival: Arrival,
}

/// Waits for a free slot.
pub(super) fn take(slots: &Arc<Slots>) -> Slot {
    let n_free = lock(&slots.n_free);
    let waited = slots.freed.wait_while(n_free, |n_free| *n_free == 0);
    *waited.unwrap_or_else(PoisonError::into_inner) -= 1;
    Slot(Arc::clone(slots))
}

/// Writes answers until there is nothing that could send any more, or the client is gone.
pub(super) fn write_all(stream: &TcpStream, answers: &Receiver<(Vec<u8>, Slot)>) {
    let mut stream = io::BufWriter::with_capacity(64 << 10, stream);
    while let Ok(first) = answers.recv() {
        let mut next = Some(first);
        while let Some((message, slot)) = next {
            let mark = LAST | message.len() as u32;
            let written =
                stream.write_all(&mark.to_be_bytes()).and_then(|()| stream.write_all(&message));
            drop(slot);
            if written.is_err() {
                return;
            }
            // What is there already goes out together.
            next = answers.try_recv().ok();
        }
        if stream.flush().is_err() {
            return;
        }
    }
}
