//! Calls made by hand, and their answers as bytes.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use super::{MOUNT, Served};

pub(crate) const NFS: u32 = 100_003;
pub(crate) const MOUNT_PROGRAM: u32 = 100_005;

pub(crate) fn connect(served: &Served) -> TcpStream {
    let stream = TcpStream::connect(served.export.address()).expect("a connection");
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a timeout");
    stream
}

pub(crate) fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_be_bytes()).collect()
}

/// A call with `AUTH_SYS` of root.
pub(crate) fn call(program: u32, procedure: u32, arguments: &[u8]) -> Vec<u8> {
    call_as(0, program, procedure, arguments)
}

/// A call with `AUTH_SYS` of a user, and a group of the same number.
pub(crate) fn call_as(user: u32, program: u32, procedure: u32, arguments: &[u8]) -> Vec<u8> {
    let head = [77, 0, 2, program, 3, procedure, 1, 20, 0, 0, user, user, 0, 0, 0];
    [&words(&head), arguments].concat()
}

pub(crate) fn send(stream: &mut TcpStream, message: &[u8]) -> std::io::Result<()> {
    stream.write_all(&(1 << 31 | message.len() as u32).to_be_bytes())?;
    stream.write_all(message)
}

/// Reads one answer; `None` when the connection ends.
pub(crate) fn answer(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let mut mark = [0; 4];
    stream.read_exact(&mut mark).ok()?;
    let mut message = vec![0; (u32::from_be_bytes(mark) & !(1 << 31)) as usize];
    stream.read_exact(&mut message).ok()?;
    Some(message)
}

pub(crate) fn ask(served: &Served, message: &[u8]) -> Option<Vec<u8>> {
    let mut stream = connect(served);
    send(&mut stream, message).ok()?;
    answer(&mut stream)
}

pub(crate) fn opaque(bytes: &[u8]) -> Vec<u8> {
    let mut packed = words(&[bytes.len() as u32]);
    packed.extend_from_slice(bytes);
    packed.resize(packed.len().next_multiple_of(4), 0);
    packed
}

/// Mounts, and returns the root's handle as a call brings it.
pub(crate) fn root(served: &Served) -> Vec<u8> {
    let arguments = opaque(MOUNT.as_bytes());
    let answer = ask(served, &call(MOUNT_PROGRAM, 1, &arguments)).expect("an answer");
    assert_eq!(answer[24..28], [0; 4], "mounted");
    opaque(&answer[32..48])
}
