//! Calls that take modelled time: reading, writing, making durable.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use engine::nfs::xdr::padding;
use nfs3_types::nfs3::stable_how;
use rustix::io::Errno;
use volume::IoKind;

use super::answer::{Answer, Origin};
use super::server::Server;
use super::{attributes, reply};
use crate::pacer::{Outcome, Request};
use crate::store::Opened;
use crate::tree::Node;

/// Shows clients whether the server lost writes that were not yet durable. A killed process loses
/// none, since they are in the backing; so it changes only with a crash of the emulated machine,
/// however many processes have served it since.
const VERIFIER: u64 = 0x706c_696d_736f_6c00;

/// A file that a call is on.
struct Target {
    node: Arc<Node>,
    opened: Arc<Opened>,
}

impl Server {
    fn verifier(&self) -> u64 {
        VERIFIER.wrapping_add(self.machine.n_crashes())
    }

    fn target(&self, handle: &[u8]) -> Result<Target, Errno> {
        let node = self.files.node(handle)?;
        let opened = self.files.opened(&node)?;
        Ok(Target { node, opened })
    }

    /// Writes to the backing.
    fn store(&self, target: &Target, offset: u64, data: &[u8]) -> Result<(), Errno> {
        let store = self.machine.tree().store(&target.node)?;
        let end = offset.checked_add(data.len() as u64);
        end.filter(|end| i64::try_from(*end).is_ok()).ok_or(Errno::FBIG)?;
        store
            .write(&target.opened.file, &target.node.occupied, data, offset)
            .map_err(|error| crate::machine::errno(&error))
    }

    /// Has the model say when something on a file is done.
    fn pace(
        &self,
        target: &Target,
        origin: Origin,
        (kind, offset, len): (IoKind, u64, u64),
        reply: impl FnOnce(Result<(), Errno>) + Send + 'static,
    ) {
        let Some(volume) = target.node.volume else { return reply(Err(Errno::ROFS)) };
        let Ok(store) = self.machine.tree().store(&target.node) else {
            return reply(Err(Errno::ROFS));
        };
        let extents = match kind {
            IoKind::Flush | IoKind::Call => {
                vec![crate::extent::Extent { address: 0, len_bytes: 0 }]
            }
            IoKind::Read | IoKind::Write | IoKind::WriteThrough | IoKind::Trim => {
                store.extents(target.node.ino, offset, len)
            }
        };
        let request =
            Request { kind, volume, client: origin.client, extents, arrival: origin.arrival };
        let reply = move |outcome| {
            reply(match outcome {
                Outcome::Done => Ok(()),
                Outcome::Lost => Err(Errno::IO),
            });
        };
        self.machine.pacer().submit(request, Box::new(reply));
    }
}

/// READ.
pub(super) fn read(
    server: &Arc<Server>,
    file: &[u8],
    (offset, count): (u64, u32),
    origin: Origin,
    answer: Answer,
) {
    let target = match server.target(file) {
        Ok(target) => target,
        Err(error) => return answer.failed(reply::Body::Attributes, error),
    };
    let count = count.min(server.facts(target.node.volume).transfer_bytes);
    let send = {
        let (server, node) = (Arc::clone(server), Arc::clone(&target.node));
        move |data: Result<Vec<u8>, Errno>| match data {
            Ok(data) => server.send_data(&node, offset, &data, answer),
            Err(error) => answer.failed(reply::Body::Attributes, error),
        }
    };
    if !server.facts(target.node.volume).is_network {
        let place = (offset, count);
        server.machine.read(&target.node, &target.opened, place, origin.arrival, send);
        return;
    }
    match read_at(&target.opened.file, offset, count) {
        // At the end of the file no volume is asked.
        Ok(data) if data.is_empty() => send(Ok(data)),
        Ok(data) => {
            let what = (IoKind::Read, offset, data.len() as u64);
            server.pace(&target, origin, what, move |done| send(done.map(|()| data)));
        }
        Err(error) => send(Err(error)),
    }
}

impl Server {
    fn send_data(&self, node: &Node, offset: u64, data: &[u8], answer: Answer) {
        let Ok(stat) = node.stat() else {
            return answer.failed(reply::Body::Attributes, Errno::STALE);
        };
        let mut message = reply::accepted(answer.xid);
        message.reserve(data.len() + 128);
        let n = data.len() as u32;
        let is_end = offset.saturating_add(u64::from(n)) >= stat.st_size as u64;
        reply::ok(&mut message);
        reply::attributes_after(&mut message, Some(&self.attributes(node, &stat)));
        for word in [n, u32::from(is_end), n] {
            reply::word(&mut message, word);
        }
        message.extend_from_slice(data);
        message.extend_from_slice(&[0; 3][..padding(data.len())]);
        answer.send(message);
    }

    pub(super) fn attributes(
        &self,
        node: &Node,
        stat: &rustix::fs::Stat,
    ) -> nfs3_types::nfs3::fattr3 {
        attributes::of(self.machine.tree().number(node.ino), node, stat)
    }
}

/// WRITE.
pub(super) fn write(
    server: &Arc<Server>,
    file: &[u8],
    (offset, data): (u64, &[u8]),
    stable: u32,
    origin: Origin,
    answer: Answer,
) {
    let target = match server.target(file) {
        Ok(target) => target,
        Err(error) => return answer.failed(reply::Body::Changes, error),
    };
    let n_bytes = data.len() as u32;
    let is_sync = stable != stable_how::UNSTABLE as u32;
    let send = server.changed(&target, answer, vec![n_bytes, stable]);
    if data.is_empty() {
        return send(Ok(()));
    }
    if origin.caller.uid != 0
        && let Err(error) = target.node.drop_privileges()
    {
        return send(Err(error));
    }
    if !server.facts(target.node.volume).is_network {
        let (place, how) = ((offset, data), (is_sync, origin.arrival));
        let send = move |written: Result<u32, Errno>| send(written.map(|_| ()));
        server.machine.write(&target.node, &target.opened, place, how, send);
        return;
    }
    match server.store(&target, offset, data) {
        Ok(()) => {
            let kind = if is_sync { IoKind::WriteThrough } else { IoKind::Write };
            server.pace(&target, origin, (kind, offset, u64::from(n_bytes)), send);
        }
        Err(error) => send(Err(error)),
    }
}

/// COMMIT.
pub(super) fn commit(server: &Arc<Server>, file: &[u8], origin: Origin, answer: Answer) {
    let target = match server.target(file) {
        Ok(target) => target,
        Err(error) => return answer.failed(reply::Body::Changes, error),
    };
    let send = server.changed(&target, answer, Vec::new());
    if server.facts(target.node.volume).is_network {
        server.pace(&target, origin, (IoKind::Flush, 0, 0), send);
    } else {
        server.machine.flush(&target.node, origin.arrival, send);
    }
}

impl Server {
    /// Returns what answers a call that changes a file: attributes, `words`, verifier.
    fn changed(
        self: &Arc<Self>,
        target: &Target,
        answer: Answer,
        words: Vec<u32>,
    ) -> impl FnOnce(Result<(), Errno>) + Send + use<> {
        let (server, node) = (Arc::clone(self), Arc::clone(&target.node));
        // As of before it is done: a crash between that and the answer takes it back.
        let verifier = self.verifier();
        move |done| match done {
            Ok(()) => {
                let mut message = reply::accepted(answer.xid);
                reply::ok(&mut message);
                reply::changes(&mut message, server.attributes_of(&node).as_ref());
                for word in words {
                    reply::word(&mut message, word);
                }
                message.extend_from_slice(&verifier.to_be_bytes());
                answer.send(message);
            }
            Err(error) => answer.failed(reply::Body::Changes, error),
        }
    }
}

/// Reads what there is of a range.
fn read_at(file: &File, offset: u64, len: u32) -> Result<Vec<u8>, Errno> {
    let size = file.metadata().map_err(|error| crate::machine::errno(&error))?.len();
    let mut data = vec![0; u64::from(len).min(size.saturating_sub(offset)) as usize];
    let mut n_read = 0;
    while n_read < data.len() {
        match file.read_at(&mut data[n_read..], offset + n_read as u64) {
            Ok(0) => break,
            Ok(n) => n_read += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(crate::machine::errno(&error)),
        }
    }
    data.truncate(n_read);
    Ok(data)
}
