//! One connection: reads calls, hands them out, writes answers as they come.

use std::io::BufReader;
use std::sync::mpsc::channel;
use std::sync::{Arc, Condvar, Mutex};

use super::answer::{Answer, Origin, Slots, take, write_all};
use super::call::{self, Question};
use super::record::record;
use super::reply::refused;
use super::server::{Opened, Server};
use super::{mount, names};
use crate::overhead;
use crate::pacer::Arrival;

/// Bytes read from the socket at once.
const READ_BYTES: usize = 256 << 10;

/// Serves a connection to its end.
pub(super) fn run(server: &Arc<Server>, opened: &Opened, client: u16) {
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
            server.machine.pacer().answer_probe(move || {
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
            Err(refusal) => answer.send(refused(call.xid, refusal)),
        }
    }
    // Ends the writer once the answers that are due have been written.
    drop(answers);
    let _ = stream.shutdown(std::net::Shutdown::Read);
    let _ = writer.join();
}
