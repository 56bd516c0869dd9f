//! The NFS program: hands calls out, and carries out those on names.

use std::path::Path;
use std::sync::Arc;

use nfs3_types::nfs3::fattr3;
use rustix::fs::{FileType, OFlags, RenameFlags};
use rustix::io::Errno;

use super::answer::{Answer, Origin};
use super::arguments::{CreateMode, EntryName, NfsRequest, Special, Wanted};
use super::attributes::status;
use super::call::Call;
use super::files::Child;
use super::reply::{
    Body, Failure, NAME_BYTES_MAX, accepted, attributes_after, changes, failed, ok, pack, wire,
    word,
};
use super::server::Server;
use super::{data, folders, info, repeated};
use crate::lock::lock;
use crate::tree::{Changes, Identity, NewKind, Node};

/// Mode of what is made without one.
const MODE: u32 = 0o644;
const FOLDER_MODE: u32 = 0o755;
const LINK_MODE: u32 = 0o777;

/// `NFS3ERR_BADTYPE`.
const BAD_TYPE: u32 = 10_007;

/// Carries out a call.
pub(super) fn nfs(
    server: &Arc<Server>,
    call: &Call<'_>,
    asked: &NfsRequest<'_>,
    origin: Origin,
    answer: Answer,
) {
    match *asked {
        NfsRequest::Read { file, offset, count } => {
            data::read(server, file, (offset, count), origin, answer);
        }
        NfsRequest::Write { file, offset, stable, data } => {
            data::write(server, file, (offset, data), stable, origin, answer);
        }
        NfsRequest::Commit(file) => data::commit(server, file, origin, answer),
        NfsRequest::Null
        | NfsRequest::Getattr(_)
        | NfsRequest::Setattr { .. }
        | NfsRequest::Lookup(_)
        | NfsRequest::Access { .. }
        | NfsRequest::Readlink(_)
        | NfsRequest::Create(..)
        | NfsRequest::Mkdir(..)
        | NfsRequest::Symlink(..)
        | NfsRequest::Mknod(..)
        | NfsRequest::Remove(_)
        | NfsRequest::Rmdir(_)
        | NfsRequest::Rename { .. }
        | NfsRequest::Link { .. }
        | NfsRequest::Readdir { .. }
        | NfsRequest::Readdirplus { .. }
        | NfsRequest::Fsstat(_)
        | NfsRequest::Fsinfo(_)
        | NfsRequest::Pathconf(_) => answer.send(once(server, call, asked, origin)),
    }
}

/// Answers a call that takes no modelled time. One that comes again and must not happen twice is
/// answered as it was.
fn once(server: &Server, call: &Call<'_>, asked: &NfsRequest<'_>, origin: Origin) -> Vec<u8> {
    if !asked.is_once() {
        return answer_to(server, call.xid, asked, origin);
    }
    let key = repeated::key(origin, call.xid, call.procedure, call.arguments.rest());
    if let Some(answer) = lock(&server.repeated).find(key) {
        return answer;
    }
    let message = answer_to(server, call.xid, asked, origin);
    lock(&server.repeated).keep(key, message.clone());
    message
}

/// Carries out a call that takes no modelled time, and returns its answer.
fn answer_to(server: &Server, xid: u32, asked: &NfsRequest<'_>, origin: Origin) -> Vec<u8> {
    let mut message = accepted(xid);
    match carry_out(server, asked, origin, &mut message) {
        Ok(()) => message,
        Err(Failure::File(error)) => failed(xid, Body::of(asked), status(error)),
        Err(Failure::Status(status)) => failed(xid, Body::of(asked), status),
    }
}

fn carry_out(
    server: &Server,
    asked: &NfsRequest<'_>,
    origin: Origin,
    message: &mut Vec<u8>,
) -> Result<(), Failure> {
    match *asked {
        NfsRequest::Null => Ok(()),
        NfsRequest::Getattr(file) => info::getattr(server, file, message),
        NfsRequest::Setattr { file, ref wanted, guard } => {
            info::setattr(server, file, (wanted, guard), &origin.caller, message)
        }
        NfsRequest::Access { file, asked } => {
            info::access(server, file, asked, &origin.caller, message)
        }
        NfsRequest::Fsstat(file) => info::fsstat(server, file, message),
        NfsRequest::Fsinfo(file) => info::fsinfo(server, file, message),
        NfsRequest::Pathconf(file) => info::pathconf(server, file, message),
        NfsRequest::Readlink(file) => info::readlink(server, file, message),
        NfsRequest::Readdir { folder, behind, count } => {
            folders::readdir(server, folder, (behind, count), message)
        }
        NfsRequest::Readdirplus { folder, behind, count } => {
            folders::readdirplus(server, folder, (behind, count), message)
        }
        NfsRequest::Lookup(place) => lookup(server, place, message),
        NfsRequest::Create(place, ref how) => create(server, place, how, origin, message),
        NfsRequest::Mkdir(place, wanted) => {
            let mode = wanted.changes.mode.unwrap_or(FOLDER_MODE);
            make(server, place, (NewKind::Folder, mode), origin, message)
        }
        NfsRequest::Symlink(place, target) => {
            let kind = NewKind::Link(Path::new(target));
            make(server, place, (kind, LINK_MODE), origin, message)
        }
        NfsRequest::Mknod(place, Special::Made(kind, wanted)) => {
            let mode = wanted.changes.mode.unwrap_or(MODE) & 0o7777;
            let mode = server.trust.mode(kind, mode);
            let made = (NewKind::Special(0), kind.as_raw_mode() | mode);
            make(server, place, made, origin, message)
        }
        // A device of the server is nothing that a client should make.
        NfsRequest::Mknod(_, Special::Device) => Err(Errno::PERM.into()),
        NfsRequest::Mknod(_, Special::Other) => Err(Failure::Status(BAD_TYPE)),
        NfsRequest::Remove(place) => remove(server, place, false, message),
        NfsRequest::Rmdir(place) => remove(server, place, true, message),
        NfsRequest::Rename { from, to } => rename(server, from, to, message),
        NfsRequest::Link { file, to } => link(server, file, to, message),
        NfsRequest::Read { .. } | NfsRequest::Write { .. } | NfsRequest::Commit(_) => {
            Err(Errno::INVAL.into())
        }
    }
}

impl Server {
    /// Finds the folder that a name is in.
    fn folder(&self, place: EntryName<'_>) -> Result<Arc<Node>, Failure> {
        if place.name.len() > NAME_BYTES_MAX as usize {
            return Err(Errno::NAMETOOLONG.into());
        }
        let folder = self.files.node(place.folder)?;
        if folder.kind != FileType::Directory {
            return Err(Errno::NOTDIR.into());
        }
        Ok(folder)
    }

    pub(super) fn attributes_of(&self, node: &Node) -> Option<fattr3> {
        node.stat().ok().map(|stat| self.attributes(node, &stat))
    }

    /// Writes the answer for a file that was made in a folder.
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
    fn finish(&self, node: &Node, wanted: &Wanted, origin: Origin) -> Result<(), Errno> {
        if let Some(size) = wanted.size.filter(|_| node.kind == FileType::RegularFile) {
            self.machine.truncate(node, &node.open(OFlags::WRONLY)?, size)?;
        }
        let changes = Changes { mode: None, ..wanted.changes };
        let changes = self.trust.changes(node, &origin.caller, &changes)?;
        self.machine.tree().change(node, &changes)?;
        Ok(())
    }
}

fn identity(origin: Origin) -> Identity {
    Identity { uid: origin.caller.uid, gid: origin.caller.gid }
}

fn lookup(server: &Server, place: EntryName<'_>, message: &mut Vec<u8>) -> Result<(), Failure> {
    let folder = server.folder(place)?;
    let (handle, node) = if place.name == "." {
        (server.files.handle_of(&folder)?, Arc::clone(&folder))
    } else if place.name == ".." {
        let parent = server.files.parent(&folder)?;
        (server.files.handle_of(&parent)?, parent)
    } else {
        let child = server.machine.tree().lookup(&folder, place.name)?;
        (server.files.keep(&child)?, child.0)
    };
    ok(message);
    pack(message, &wire(handle));
    attributes_after(message, server.attributes_of(&node).as_ref());
    attributes_after(message, server.attributes_of(&folder).as_ref());
    Ok(())
}

fn create(
    server: &Server,
    place: EntryName<'_>,
    how: &CreateMode,
    origin: Origin,
    message: &mut Vec<u8>,
) -> Result<(), Failure> {
    let folder = server.folder(place)?;
    let wanted = match *how {
        CreateMode::Unchecked(wanted) | CreateMode::Guarded(wanted) => wanted,
        CreateMode::Exclusive(atime, mtime) => Wanted {
            changes: Changes { atime: Some(atime), mtime: Some(mtime), ..Changes::default() },
            size: None,
        },
    };
    let tree = server.machine.tree();
    server.machine.alive()?;
    let mode = server.trust.mode(FileType::RegularFile, wanted.changes.mode.unwrap_or(MODE));
    let child = match tree.create(&folder, place.name, mode, identity(origin)) {
        Ok((child, _file)) => {
            server.finish(&child.0, &wanted, origin)?;
            child
        }
        Err(Errno::EXIST) => {
            let child = tree.lookup(&folder, place.name)?;
            let is_fine = match how {
                CreateMode::Unchecked(_) => child.0.kind == FileType::RegularFile,
                CreateMode::Guarded(_) => false,
                CreateMode::Exclusive(atime, mtime) => {
                    (child.1.st_atime, child.1.st_mtime) == (atime.tv_sec, mtime.tv_sec)
                }
            };
            // Kept whatever comes of it, so that its lookup is counted.
            server.files.keep(&child)?;
            if !is_fine {
                return Err(Errno::EXIST.into());
            }
            if let (CreateMode::Unchecked(_), Some(_)) = (how, wanted.size) {
                let wanted = Wanted { changes: Changes::default(), ..wanted };
                server.finish(&child.0, &wanted, origin)?;
            }
            tree.lookup(&folder, place.name)?
        }
        Err(error) => return Err(error.into()),
    };
    server.made(message, &child, &folder)
}

/// Makes what is no regular file.
fn make(
    server: &Server,
    place: EntryName<'_>,
    (kind, mode): (NewKind<'_>, u32),
    origin: Origin,
    message: &mut Vec<u8>,
) -> Result<(), Failure> {
    let folder = server.folder(place)?;
    let tree = server.machine.tree();
    let child = tree.make(&folder, place.name, kind, mode, identity(origin))?;
    server.made(message, &child, &folder)
}

fn remove(
    server: &Server,
    place: EntryName<'_>,
    is_folder: bool,
    message: &mut Vec<u8>,
) -> Result<(), Failure> {
    let folder = server.folder(place)?;
    let tree = server.machine.tree();
    if is_folder {
        let child = tree.lookup(&folder, place.name)?;
        server.files.keep(&child)?;
        tree.rmdir(&folder, place.name)?;
        server.files.removed(&child.0);
    } else if let Some(node) = tree.unlink(&folder, place.name)? {
        server.files.removed(&node);
    }
    ok(message);
    changes(message, server.attributes_of(&folder).as_ref());
    Ok(())
}

fn rename(
    server: &Server,
    from: EntryName<'_>,
    to: EntryName<'_>,
    message: &mut Vec<u8>,
) -> Result<(), Failure> {
    let (folder, to_folder) = (server.folder(from)?, server.folder(to)?);
    let (place, to_place) = ((&*folder, from.name), (&*to_folder, to.name));
    let replaced = server.machine.tree().rename(place, to_place, RenameFlags::empty())?;
    if let Some(node) = replaced {
        server.files.removed(&node);
    }
    ok(message);
    changes(message, server.attributes_of(&folder).as_ref());
    changes(message, server.attributes_of(&to_folder).as_ref());
    Ok(())
}

fn link(
    server: &Server,
    file: &[u8],
    to: EntryName<'_>,
    message: &mut Vec<u8>,
) -> Result<(), Failure> {
    let node = server.files.node(file)?;
    let folder = server.folder(to)?;
    let child = server.machine.tree().link(&node, &folder, to.name)?;
    server.files.keep(&child)?;
    ok(message);
    attributes_after(message, server.attributes_of(&node).as_ref());
    changes(message, server.attributes_of(&folder).as_ref());
    Ok(())
}
