//! One connection: reads calls, hands them out, writes answers as they come.

use std::io::{self, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use engine::nfs::record::RECORD_BYTES_MAX;

use super::Server;
use super::call::{self, Question};
use super::{mount, names};
use crate::overhead;
use crate::pacer::{Arrival, lock};

/// Bytes read from the socket at once.
const READ_BYTES: usize = 256 << 10;

/// Bit of a fragment's mark that says that it is the record's last.
pub(super) const LAST: u32 = 1 << 31;

/// Calls in flight, limited.
#[derive(Debug)]
struct Slots {
    n_free: Mutex<u16>,
    freed: Condvar,
}

/// Where the answer of a call goes. Answers once, from any thread; a call that is dropped without
/// one frees its slot.
pub(super) struct Answer {
    answers: Sender<(Vec<u8>, Slot)>,
    slot: Slot,
    pub(super) xid: u32,
}

/// A slot that is taken.
struct Slot(Arc<Slots>);

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
    pub(super) caller: call::Caller,
    pub(super) arrival: Arrival,
}

/// Serves a connection to its end.
pub(super) fn run(server: &Arc<Server>, opened: &super::Opened, client: u16) {
    let stream = &opened.stream;
    let slots = Arc::new(Slots { n_free: Mutex::new(server.slots(client)), freed: Condvar::new() });
    let (answers, to_write) = channel();
    let Ok(out) = stream.try_clone() else { return };
    let writer = std::thread::Builder::new().name("nfs-answer".to_owned());
    let Ok(writer) = writer.spawn(move || write_all(&out, &to_write)) else { return };
    let mut input = BufReader::with_capacity(READ_BYTES, stream);
    while let Ok(message) = record(&mut input) {
        opened.used();
        let made_ns = server.machine.pacer().overhead().made_ns();
        // The connections of a client are one program's, which takes the next free one.
        let arrival = Arrival { made_ns, program: Some(u64::from(client)) };
        let Ok(call) = call::read(&message) else { break };
        let answer = Answer { answers: answers.clone(), slot: take(&slots), xid: call.xid };
        if server.machine.pacer().overhead().is_being_measured() {
            overhead::answer(server.machine.pacer(), move || {
                answer.send(vec![0; overhead::ANSWER_BYTES]);
            });
            continue;
        }
        let caller = server.trust.taken_for(call.caller);
        let origin = Origin { client, caller, arrival };
        match call.question(&mut { call.arguments }) {
            Ok(Question::Nfs(asked)) => names::nfs(server, &call, &asked, origin, answer),
            Ok(Question::Mount(asked)) => answer.send(mount::mount(server, call.xid, asked)),
            Ok(Question::Portmap(asked)) => answer.send(mount::portmap(server, call.xid, asked)),
            Err(refusal) => answer.send(call::refused(call.xid, refusal)),
        }
    }
    // Ends the writer once the answers that are due have been written.
    drop(answers);
    let _ = stream.shutdown(std::net::Shutdown::Read);
    let _ = writer.join();
}

/// Waits for a free slot.
fn take(slots: &Arc<Slots>) -> Slot {
    let n_free = lock(&slots.n_free);
    let waited = slots.freed.wait_while(n_free, |n_free| *n_free == 0);
    *waited.unwrap_or_else(PoisonError::into_inner) -= 1;
    Slot(Arc::clone(slots))
}

/// Reads one record, of any number of fragments.
pub(super) fn record(input: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut message = Vec::new();
    loop {
        let mut mark = [0; 4];
        input.read_exact(&mut mark)?;
        let mark = u32::from_be_bytes(mark);
        let len = mark & !LAST;
        if message.len() as u64 + u64::from(len) > u64::from(RECORD_BYTES_MAX) {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let n_read = input.by_ref().take(u64::from(len)).read_to_end(&mut message)?;
        if n_read < len as usize {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if mark & LAST != 0 {
            return Ok(message);
        }
    }
}

/// Writes answers until there is nothing that could send any more, or the client is gone.
fn write_all(stream: &TcpStream, answers: &Receiver<(Vec<u8>, Slot)>) {
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
