//! Calls as bytes: the head of each, with its record mark. The data of a write are not copied; they
//! follow from where they are.

use nfs3_types::nfs3::{NFS_PROGRAM, PROGRAM, VERSION, stable_how};
use nfs3_types::rpc::RPC_VERSION_2;

use super::calls::Call;
use super::record;
use super::reply::Question;
use super::xdr::{Writer, padding};

/// Longest head of a call in bytes: mark, call, credential, handle and arguments, rounded up.
pub(super) const HEAD_BYTES_MAX: usize = 256;

/// Longest handle of a file (RFC 1813, section 2.4).
pub(super) const HANDLE_BYTES_MAX: usize = 64;

/// The name in credentials that tells a server's administrator who calls.
const MACHINE: &[u8] = b"plimsoll";

/// A file on the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Handle {
    bytes: [u8; HANDLE_BYTES_MAX],
    len: u8,
}

impl Default for Handle {
    fn default() -> Self {
        Handle { bytes: [0; HANDLE_BYTES_MAX], len: 0 }
    }
}

impl Handle {
    /// Takes a handle of at most [`HANDLE_BYTES_MAX`] bytes.
    pub(super) fn new(bytes: &[u8]) -> Option<Handle> {
        let mut handle = Handle { bytes: [0; HANDLE_BYTES_MAX], len: bytes.len() as u8 };
        handle.bytes.get_mut(..bytes.len())?.copy_from_slice(bytes);
        Some(handle)
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}

/// The caller (`AUTH_SYS`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Caller {
    pub(super) uid: u32,
    pub(super) gid: u32,
}

/// Writes the head of a call up to its arguments; `xid` and procedure are the caller's.
pub(super) fn call_head(writer: &mut Writer<'_>, xid: u32, program: [u32; 3], caller: Caller) {
    const CALL: u32 = 0;
    const AUTH_NONE: u32 = 0;
    const AUTH_SYS: u32 = 1;
    let [program, version, procedure] = program;
    for word in [xid, CALL, RPC_VERSION_2, program, version, procedure, AUTH_SYS] {
        writer.u32(word);
    }
    // Stamp, name, user, group, no further groups.
    writer.u32((4 + 4 + MACHINE.len() + padding(MACHINE.len()) + 12) as u32);
    writer.u32(0);
    writer.opaque(MACHINE);
    for word in [caller.uid, caller.gid, 0, AUTH_NONE, 0] {
        writer.u32(word);
    }
}

/// Writes the head of a call on a file. Returns its length in bytes, the record mark included; for
/// a write, `call.len` bytes of data and their padding follow.
pub(super) fn file_call(
    buffer: &mut [u8; HEAD_BYTES_MAX],
    call: &Call,
    handle: &Handle,
    stable: stable_how,
    caller: Caller,
) -> usize {
    let procedure = match call.question {
        Question::Read => NFS_PROGRAM::NFSPROC3_READ,
        Question::Write => NFS_PROGRAM::NFSPROC3_WRITE,
        Question::GetAttr | Question::Other => NFS_PROGRAM::NFSPROC3_GETATTR,
        Question::Commit => NFS_PROGRAM::NFSPROC3_COMMIT,
    };
    let mut writer = Writer::new(buffer);
    writer.u32(0);
    call_head(&mut writer, call.xid, [PROGRAM, VERSION, procedure as u32], caller);
    writer.opaque(handle.as_bytes());
    let mut data_bytes = 0;
    if matches!(call.question, Question::Read | Question::Write | Question::Commit) {
        writer.u64(call.offset);
        writer.u32(call.len);
    }
    if call.question == Question::Write {
        writer.u32(stable as u32);
        writer.u32(call.len);
        data_bytes = call.len as usize + padding(call.len as usize);
    }
    let len = writer.len();
    writer.set_u32(0, record::mark(len - 4 + data_bytes));
    len
}
