//! The NFS program: hands calls out, and carries out those on names.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use engine::nfs::xdr::{Flaw, Reader};
use nfs3_types::nfs3::{NFS_PROGRAM, fattr3, nfs_fh3};
use nfs3_types::xdr_codec::{Opaque, Pack};
use rustix::fs::{FileType, OFlags, RenameFlags, Timespec};
use rustix::io::Errno;

use super::attributes::{Wanted, status};
use super::call::{self, Call, Refusal};
use super::connection::{Answer, Origin};
use super::data::HANDLE_BYTES_MAX;
use super::files::{Child, Handle};
use super::{Server, data, folders, info, repeated};
use crate::pacer::lock;
use crate::tree::{Changes, Identity, NewKind, Node};

/// Longest name, as nearly everywhere.
pub(super) const NAME_BYTES_MAX: u32 = 255;
/// Longest target of a symbolic link.
const PATH_BYTES_MAX: usize = 4096;
/// Mode of what is made without one.
const MODE: u32 = 0o644;

/// Why a call brings no results.
#[derive(Clone, Copy, Debug)]
pub(super) enum Failure {
    /// Its arguments cannot be read.
    Arguments,
    /// What it asks for cannot be done.
    File(Errno),
    /// As a number that only NFS has.
    Status(u32),
}

impl From<Flaw> for Failure {
    fn from(_: Flaw) -> Self {
        Failure::Arguments
    }
}

impl From<Errno> for Failure {
    fn from(error: Errno) -> Self {
        Failure::File(error)
    }
}

/// What follows the status of a call that failed; all attributes are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Body {
    /// Nothing.
    Empty,
    /// Attributes of one file.
    Attributes,
    /// Changes of one file.
    Changes,
    /// Both.
    AttributesAndChanges,
    /// Changes of two files.
    TwoChanges,
}

impl Body {
    fn n_words(self) -> usize {
        match self {
            Body::Empty => 0,
            Body::Attributes => 1,
            Body::Changes => 2,
            Body::AttributesAndChanges => 3,
            Body::TwoChanges => 4,
        }
    }

    fn of(procedure: NFS_PROGRAM) -> Body {
        use NFS_PROGRAM::{
            NFSPROC3_COMMIT, NFSPROC3_CREATE, NFSPROC3_GETATTR, NFSPROC3_LINK, NFSPROC3_MKDIR,
            NFSPROC3_MKNOD, NFSPROC3_NULL, NFSPROC3_REMOVE, NFSPROC3_RENAME, NFSPROC3_RMDIR,
            NFSPROC3_SETATTR, NFSPROC3_SYMLINK, NFSPROC3_WRITE,
        };
        match procedure {
            NFSPROC3_NULL | NFSPROC3_GETATTR => Body::Empty,
            NFSPROC3_SETATTR | NFSPROC3_WRITE | NFSPROC3_CREATE | NFSPROC3_MKDIR
            | NFSPROC3_SYMLINK | NFSPROC3_MKNOD | NFSPROC3_REMOVE | NFSPROC3_RMDIR
            | NFSPROC3_COMMIT => Body::Changes,
            NFSPROC3_RENAME => Body::TwoChanges,
            NFSPROC3_LINK => Body::AttributesAndChanges,
            _ => Body::Attributes,
        }
    }
}

impl Answer {
    /// Answers that what was asked for cannot be done.
    pub(super) fn failed(self, body: Body, error: Errno) {
        let message = failed(self.xid, body, status(error));
        self.send(message);
    }
}

fn failed(xid: u32, body: Body, status: u32) -> Vec<u8> {
    let mut message = call::accepted(xid);
    word(&mut message, status);
    for _ in 0..body.n_words() {
        word(&mut message, 0);
    }
    message
}

pub(super) fn word(message: &mut Vec<u8>, word: u32) {
    message.extend_from_slice(&word.to_be_bytes());
}

pub(super) fn pack(message: &mut Vec<u8>, results: &impl Pack) {
    super::mount::pack(message, results);
}

/// Says that it was done.
pub(super) fn ok(message: &mut Vec<u8>) {
    word(message, 0);
}

/// Tells the attributes of a file, where they are known.
pub(super) fn attributes_after(message: &mut Vec<u8>, attributes: Option<&fattr3>) {
    word(message, u32::from(attributes.is_some()));
    if let Some(attributes) = attributes {
        pack(message, attributes);
    }
}

/// Tells the attributes of a file that a call changed. Those from before are left out: others may
/// change the file at the same time.
pub(super) fn changes(message: &mut Vec<u8>, after: Option<&fattr3>) {
    word(message, 0);
    attributes_after(message, after);
}

/// Carries out a call. Gives the answer back for a call that is refused.
pub(super) fn nfs(
    server: &Arc<Server>,
    call: &Call<'_>,
    origin: Origin,
    answer: Answer,
) -> Result<(), (Refusal, Answer)> {
    let Ok(procedure) = NFS_PROGRAM::try_from(call.procedure) else {
        return Err((Refusal::Procedure, answer));
    };
    server.watch_crashes();
    let data_call = match procedure {
        NFS_PROGRAM::NFSPROC3_READ => data::read,
        NFS_PROGRAM::NFSPROC3_WRITE => data::write,
        NFS_PROGRAM::NFSPROC3_COMMIT => data::commit,
        _ => {
            let message = named(server, call, procedure, origin);
            return match message {
                Ok(message) => {
                    answer.send(message);
                    Ok(())
                }
                Err(refusal) => Err((refusal, answer)),
            };
        }
    };
    data_call(server, call.arguments, origin, answer)
        .map_err(|(_, answer)| (Refusal::Arguments, answer))
}

/// Carries out a call that takes no modelled time, and returns its answer.
fn named(
    server: &Server,
    call: &Call<'_>,
    procedure: NFS_PROGRAM,
    origin: Origin,
) -> Result<Vec<u8>, Refusal> {
    use NFS_PROGRAM as P;
    let is_once = matches!(
        procedure,
        P::NFSPROC3_SETATTR
            | P::NFSPROC3_CREATE
            | P::NFSPROC3_MKDIR
            | P::NFSPROC3_SYMLINK
            | P::NFSPROC3_MKNOD
            | P::NFSPROC3_REMOVE
            | P::NFSPROC3_RMDIR
            | P::NFSPROC3_RENAME
            | P::NFSPROC3_LINK
    );
    let key = repeated::key(origin, call.xid, call.procedure, call.arguments.rest());
    if is_once && let Some(answer) = lock(&server.repeated).find(key) {
        return Ok(answer);
    }
    let mut message = call::accepted(call.xid);
    let arguments = call.arguments;
    let done = match procedure {
        P::NFSPROC3_NULL => Ok(()),
        P::NFSPROC3_GETATTR => info::getattr(server, arguments, &mut message),
        P::NFSPROC3_SETATTR => info::setattr(server, arguments, &mut message),
        P::NFSPROC3_ACCESS => info::access(server, arguments, &origin.caller, &mut message),
        P::NFSPROC3_FSSTAT => info::fsstat(server, arguments, &mut message),
        P::NFSPROC3_FSINFO => info::fsinfo(server, arguments, &mut message),
        P::NFSPROC3_PATHCONF => info::pathconf(server, arguments, &mut message),
        P::NFSPROC3_READLINK => info::readlink(server, arguments, &mut message),
        P::NFSPROC3_READDIR => folders::readdir(server, arguments, &mut message),
        P::NFSPROC3_READDIRPLUS => folders::readdirplus(server, arguments, &mut message),
        P::NFSPROC3_LOOKUP => lookup(server, arguments, &mut message),
        P::NFSPROC3_CREATE => create(server, arguments, origin, &mut message),
        P::NFSPROC3_MKDIR => mkdir(server, arguments, origin, &mut message),
        P::NFSPROC3_SYMLINK => symlink(server, arguments, origin, &mut message),
        P::NFSPROC3_MKNOD => mknod(server, arguments, origin, &mut message),
        P::NFSPROC3_REMOVE => remove(server, arguments, false, &mut message),
        P::NFSPROC3_RMDIR => remove(server, arguments, true, &mut message),
        P::NFSPROC3_RENAME => rename(server, arguments, &mut message),
        P::NFSPROC3_LINK => link(server, arguments, &mut message),
        P::NFSPROC3_READ | P::NFSPROC3_WRITE | P::NFSPROC3_COMMIT => Err(Failure::Arguments),
    };
    let body = Body::of(procedure);
    let message = match done {
        Ok(()) => message,
        Err(Failure::Arguments) => return Err(Refusal::Arguments),
        Err(Failure::File(error)) => failed(call.xid, body, status(error)),
        Err(Failure::Status(status)) => failed(call.xid, body, status),
    };
    if is_once {
        lock(&server.repeated).keep(key, message.clone());
    }
    Ok(message)
}

/// A name in a folder.
struct Place<'a> {
    folder: Arc<Node>,
    name: &'a OsStr,
}

impl Server {
    /// Reads a handle and finds its file.
    pub(super) fn file(&self, arguments: &mut Reader<'_>) -> Result<Arc<Node>, Failure> {
        let handle = arguments.opaque(HANDLE_BYTES_MAX, "handle")?;
        Ok(self.files.node(handle)?)
    }

    fn place<'a>(&self, arguments: &mut Reader<'a>) -> Result<Place<'a>, Failure> {
        let handle = arguments.opaque(HANDLE_BYTES_MAX, "handle")?;
        let name = arguments.opaque(PATH_BYTES_MAX, "name")?;
        if name.len() > NAME_BYTES_MAX as usize {
            return Err(Errno::NAMETOOLONG.into());
        }
        let folder = self.files.node(handle)?;
        if folder.kind != FileType::Directory {
            return Err(Errno::NOTDIR.into());
        }
        Ok(Place { folder, name: OsStr::from_bytes(name) })
    }

    pub(super) fn attributes_of(&self, node: &Node) -> Option<fattr3> {
        node.stat().ok().map(|stat| self.attributes(node, &stat))
    }

    /// Tells of a file that was made in a folder.
    fn made(&self, message: &mut Vec<u8>, child: &Child, folder: &Node) -> Result<(), Failure> {
        let handle = self.files.keep(child)?;
        ok(message);
        word(message, 1);
        pack(message, &wire(handle));
        attributes_after(message, self.attributes_of(&child.0).as_ref());
        changes(message, self.attributes_of(folder).as_ref());
        Ok(())
    }

    /// Sets what a new file was to have beside its mode.
    fn finish(&self, node: &Node, wanted: &Wanted) -> Result<(), Errno> {
        if let Some(size) = wanted.size.filter(|_| node.kind == FileType::RegularFile) {
            self.machine.truncate(node, &node.open(OFlags::WRONLY)?, size)?;
        }
        let changes = Changes { mode: None, ..wanted.changes };
        self.machine.tree().change(node, &changes)?;
        Ok(())
    }
}

pub(super) fn wire(handle: Handle) -> nfs_fh3 {
    nfs_fh3 { data: Opaque::owned(handle.to_vec()) }
}

fn identity(origin: Origin) -> Identity {
    Identity { uid: origin.caller.uid, gid: origin.caller.gid }
}

fn lookup(
    server: &Server,
    mut arguments: Reader<'_>,
    message: &mut Vec<u8>,
) -> Result<(), Failure> {
    let Place { folder, name } = server.place(&mut arguments)?;
    let tree = server.machine.tree();
    let (handle, node) = if name == "." {
        (server.files.handle_of(&folder)?, Arc::clone(&folder))
    } else if name == ".." {
        let parent = server.files.parent(&folder)?;
        (server.files.handle_of(&parent)?, parent)
    } else {
        let child = tree.lookup(&folder, name)?;
        (server.files.keep(&child)?, child.0)
    };
    ok(message);
    pack(message, &wire(handle));
    attributes_after(message, server.attributes_of(&node).as_ref());
    attributes_after(message, server.attributes_of(&folder).as_ref());
    Ok(())
}

/// How CREATE treats a file that is there.
enum How {
    Unchecked(Wanted),
    Guarded(Wanted),
    /// By times that stand for the caller's own number, so that a repeated call is known.
    Exclusive(Timespec, Timespec),
}

fn create(
    server: &Server,
    mut arguments: Reader<'_>,
    origin: Origin,
    message: &mut Vec<u8>,
) -> Result<(), Failure> {
    let Place { folder, name } = server.place(&mut arguments)?;
    let seconds = |seconds: u32| Timespec { tv_sec: i64::from(seconds), tv_nsec: 0 };
    let how = match arguments.u32()? {
        0 => How::Unchecked(Wanted::read(&mut arguments)?),
        1 => How::Guarded(Wanted::read(&mut arguments)?),
        2 => How::Exclusive(seconds(arguments.u32()?), seconds(arguments.u32()?)),
        _ => return Err(Failure::Arguments),
    };
    let wanted = match how {
        How::Unchecked(wanted) | How::Guarded(wanted) => wanted,
        How::Exclusive(atime, mtime) => Wanted {
            changes: Changes { atime: Some(atime), mtime: Some(mtime), ..Changes::default() },
            size: None,
        },
    };
    let tree = server.machine.tree();
    server.machine.alive()?;
    let mode = wanted.changes.mode.unwrap_or(MODE);
    let child = match tree.create(&folder, name, mode, identity(origin)) {
        Ok((child, _file)) => {
            server.finish(&child.0, &wanted)?;
            child
        }
        Err(Errno::EXIST) => {
            let child = tree.lookup(&folder, name)?;
            let is_fine = match how {
                How::Unchecked(_) => child.0.kind == FileType::RegularFile,
                How::Guarded(_) => false,
                How::Exclusive(atime, mtime) => {
                    (child.1.st_atime, child.1.st_mtime) == (atime.tv_sec, mtime.tv_sec)
                }
            };
            // Kept whatever comes of it, so that its lookup is counted.
            server.files.keep(&child)?;
            if !is_fine {
                return Err(Errno::EXIST.into());
            }
            if let (How::Unchecked(_), Some(_)) = (&how, wanted.size) {
                server.finish(&child.0, &Wanted { changes: Changes::default(), ..wanted })?;
            }
            tree.lookup(&folder, name)?
        }
        Err(error) => return Err(error.into()),
    };
    server.made(message, &child, &folder)
}

fn mkdir(
    server: &Server,
    mut arguments: Reader<'_>,
    origin: Origin,
    message: &mut Vec<u8>,
) -> Result<(), Failure> {
    let Place { folder, name } = server.place(&mut arguments)?;
    let wanted = Wanted::read(&mut arguments)?;
    let mode = wanted.changes.mode.unwrap_or(0o755);
    let tree = server.machine.tree();
    let child = tree.make(&folder, name, NewKind::Folder, mode, identity(origin))?;
    server.made(message, &child, &folder)
}

fn symlink(
    server: &Server,
    mut arguments: Reader<'_>,
    origin: Origin,
    message: &mut Vec<u8>,
) -> Result<(), Failure> {
    let Place { folder, name } = server.place(&mut arguments)?;
    let _wanted = Wanted::read(&mut arguments)?;
    let target = arguments.opaque(PATH_BYTES_MAX, "target")?;
    let kind = NewKind::Link(Path::new(OsStr::from_bytes(target)));
    let child = server.machine.tree().make(&folder, name, kind, 0o777, identity(origin))?;
    server.made(message, &child, &folder)
}

fn mknod(
    server: &Server,
    mut arguments: Reader<'_>,
    origin: Origin,
    message: &mut Vec<u8>,
) -> Result<(), Failure> {
    const BLOCK: u32 = 3;
    const CHARACTER: u32 = 4;
    const SOCKET: u32 = 6;
    const PIPE: u32 = 7;
    let Place { folder, name } = server.place(&mut arguments)?;
    let kind = match arguments.u32()? {
        SOCKET => FileType::Socket,
        PIPE => FileType::Fifo,
        // A device of the server is nothing that a client should make.
        BLOCK | CHARACTER => return Err(Errno::PERM.into()),
        _ => return Err(Failure::Status(10_007)),
    };
    let wanted = Wanted::read(&mut arguments)?;
    let mode = kind.as_raw_mode() | (wanted.changes.mode.unwrap_or(MODE) & 0o7777);
    let tree = server.machine.tree();
    let child = tree.make(&folder, name, NewKind::Special(0), mode, identity(origin))?;
    server.made(message, &child, &folder)
}

fn remove(
    server: &Server,
    mut arguments: Reader<'_>,
    is_folder: bool,
    message: &mut Vec<u8>,
) -> Result<(), Failure> {
    let Place { folder, name } = server.place(&mut arguments)?;
    let tree = server.machine.tree();
    if is_folder {
        let child = tree.lookup(&folder, name)?;
        server.files.keep(&child)?;
        tree.rmdir(&folder, name)?;
        server.files.removed(&child.0);
    } else if let Some(node) = tree.unlink(&folder, name)? {
        server.files.removed(&node);
    }
    ok(message);
    changes(message, server.attributes_of(&folder).as_ref());
    Ok(())
}

fn rename(
    server: &Server,
    mut arguments: Reader<'_>,
    message: &mut Vec<u8>,
) -> Result<(), Failure> {
    let from = server.place(&mut arguments)?;
    let to = server.place(&mut arguments)?;
    let (place, to_place) = ((&*from.folder, from.name), (&*to.folder, to.name));
    let replaced = server.machine.tree().rename(place, to_place, RenameFlags::empty())?;
    if let Some(node) = replaced {
        server.files.removed(&node);
    }
    ok(message);
    changes(message, server.attributes_of(&from.folder).as_ref());
    changes(message, server.attributes_of(&to.folder).as_ref());
    Ok(())
}

fn link(server: &Server, mut arguments: Reader<'_>, message: &mut Vec<u8>) -> Result<(), Failure> {
    let node = server.file(&mut arguments)?;
    let Place { folder, name } = server.place(&mut arguments)?;
    let child = server.machine.tree().link(&node, &folder, name)?;
    server.files.keep(&child)?;
    ok(message);
    attributes_after(message, server.attributes_of(&node).as_ref());
    changes(message, server.attributes_of(&folder).as_ref());
    Ok(())
}
