//! Requests that no kernel would send.
//!
//! Among the random ones is left out what `fuser` takes for granted and the kernel keeps: that a
//! message is as long as it says, and that the data of `WRITE`, `SETXATTR`, `IOCTL` and
//! `BATCH_FORGET` are as long as those requests say. Such a message ends the loop that read it, out
//! of our reach; what it does not end is tested by itself.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use fuser::{BackgroundSession, Config, Session, SessionACL};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socketpair,
};
use volume::design::Design;

use super::Volumes;
use crate::backing::Backing;
use crate::machine::{Machine, MachineOptions};

/// Length of a request's header (`fuse_in_header`).
const HEADER: usize = 40;

const GETATTR: u32 = 3;
const WRITE: u32 = 16;
const SETXATTR: u32 = 21;
const IOCTL: u32 = 39;
const BATCH_FORGET: u32 = 42;
const INIT: u32 = 26;
const DESTROY: u32 = 38;

/// Calls of the protocol, and some that it has not.
const OPCODES: u64 = 60;

/// The kernel's end of a connection.
struct Kernel {
    socket: OwnedFd,
    unique: u64,
    seed: u64,
}

impl Kernel {
    fn dice(&mut self, n: u64) -> u64 {
        self.seed ^= self.seed << 13;
        self.seed ^= self.seed >> 7;
        self.seed ^= self.seed << 17;
        self.seed % n
    }

    fn ask(&mut self, opcode: u32, node: u64, body: &[u8]) -> u64 {
        self.unique += 2;
        let mut request = ((HEADER + body.len()) as u32).to_le_bytes().to_vec();
        request.extend(opcode.to_le_bytes());
        request.extend(self.unique.to_le_bytes());
        request.extend(node.to_le_bytes());
        request.resize(HEADER, 0);
        request.extend(body);
        send(&self.socket, &request, SendFlags::empty()).expect("the server listens");
        self.unique
    }

    /// Returns the error of the next answer to a request; drops answers to others.
    fn answer(&self, unique: u64) -> i32 {
        let mut answer = vec![0; 1 << 21];
        loop {
            let (n_bytes, _) = recv(&self.socket, &mut answer[..], RecvFlags::empty())
                .expect("the server answers");
            assert!(n_bytes >= 16, "the server has ended");
            if answer[8..16] == unique.to_le_bytes() {
                return i32::from_le_bytes(answer[4..8].try_into().expect("four bytes"));
            }
        }
    }

    /// Drops the answers that have come.
    fn drain(&self) {
        let mut answer = vec![0; 1 << 21];
        loop {
            match recv(&self.socket, &mut answer[..], RecvFlags::DONTWAIT) {
                Ok((1.., _)) => {}
                Err(Errno::AGAIN) => return,
                other => panic!("the server has ended: {other:?}"),
            }
        }
    }

    /// A body of numbers that are small, huge or arbitrary, and of text that is a name or is not.
    fn body(&mut self) -> Vec<u8> {
        let mut body = Vec::new();
        for _ in 0..self.dice(9) {
            let number = match self.dice(4) {
                0 => u64::MAX >> self.dice(3),
                1 => self.seed,
                _ => self.dice(5),
            };
            body.extend(number.to_le_bytes());
        }
        let names: [&[u8]; 6] = [b"a\0", b"b\0a\0", b"..\0", b"a/b\0", b"\0", b"no end"];
        let idx = self.dice(names.len() as u64) as usize;
        body.extend(names[idx]);
        body.truncate(body.len() - self.dice(8).min(body.len() as u64) as usize);
        body
    }
}

/// A machine that is served to a kernel that the test plays.
struct Served {
    machine: Arc<Machine>,
    kernel: Kernel,
    session: BackgroundSession,
    _folder: tempfile::TempDir,
}

fn serve() -> Served {
    let folder = tempfile::tempdir().expect("a folder");
    let text = "[[volume]]\nmount = \"/a\"\ndisk = \"P30\"\n";
    let design: Design = volume::design::parse(text).0.expect("a design");
    let options =
        MachineOptions { design_text: text.to_owned(), design, only: None, is_cache_warm: false };
    let backing = Backing::open(&folder.path().join("backing")).expect("a backing");
    let machine = Machine::start(options, backing).expect("a machine");
    let (kernel, session) = connect(&machine);
    Served { machine, kernel, session, _folder: folder }
}

/// Connects a kernel that the test plays.
fn connect(machine: &Arc<Machine>) -> (Kernel, BackgroundSession) {
    let kind = SocketType::SEQPACKET;
    let (socket, served) = socketpair(AddressFamily::UNIX, kind, SocketFlags::CLOEXEC, None)
        .expect("a pair of sockets");
    let mut kernel = Kernel { socket, unique: 0, seed: 0x5eed };
    let mut init = [7_u32, 40, 1 << 17, 0].map(u32::to_le_bytes).concat();
    init.resize(64, 0);
    let unique = kernel.ask(INIT, 0, &init);
    let volumes = Volumes::new(Arc::clone(machine));
    let session = Session::from_fd(volumes, served, SessionACL::All, Config::default());
    let session = session.and_then(Session::spawn).expect("a session");
    assert_eq!(kernel.answer(unique), 0);
    (kernel, session)
}

#[test]
fn no_request_ends_the_server() {
    let Served { mut kernel, session, _folder, .. } = serve();
    for _ in 0..5_000 {
        let opcode = match kernel.dice(OPCODES) as u32 {
            WRITE | SETXATTR | IOCTL | BATCH_FORGET | DESTROY => u32::MAX,
            opcode => opcode,
        };
        let node = if kernel.dice(4) > 0 { 1 } else { kernel.seed };
        let body = kernel.body();
        kernel.ask(opcode, node, &body);
        kernel.drain();
    }
    let unique = kernel.ask(GETATTR, 1, &[0; 16]);
    assert_eq!(kernel.answer(unique), 0);
    kernel.ask(DESTROY, 0, &[]);
    session.join().expect("an orderly end");
}

/// A message that the library cannot decode, which no kernel sends, ends the mount with an error:
/// neither the process nor the machine with its data.
#[test]
fn what_cannot_be_decoded_ends_the_mount_only() {
    let Served { machine, kernel, session, _folder } = serve();
    let (mut old_kernel, mut old_session) = (kernel, session);
    for opcode in [None, Some(SETXATTR), Some(IOCTL)] {
        match opcode {
            None => {
                let sent = send(&old_kernel.socket, &[1; 20], SendFlags::empty());
                sent.expect("the server listens");
            }
            Some(opcode) => {
                old_kernel.ask(opcode, 1, &[0xff; 24]);
            }
        }
        // Where it is only refused, the end of the connection ends the loop.
        drop(old_kernel);
        let _ = old_session.join();
        let (mut kernel, session) = connect(&machine);
        let unique = kernel.ask(GETATTR, 1, &[0; 16]);
        assert_eq!(kernel.answer(unique), 0, "{opcode:?}");
        (old_kernel, old_session) = (kernel, session);
    }
    drop(old_kernel);
    let _ = old_session.join();
}
