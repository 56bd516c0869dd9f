//! A machine's volumes as a mounted folder.
//!
//! Every read and write of a program comes here: files are opened for direct I/O, so that no page
//! cache hides the caps. (A mapped file has one; its misses and write-backs come here.) A request
//! is stamped when it is read from the kernel, less the overhead that a request takes to here and
//! back ([`overhead`]); its data are moved at once, and the answer is sent when the model says.
//! Names and attributes take no modelled time.
//!
//! No request ends the server: numbers that were never given out are `ESTALE` or `EBADF`, names
//! that are none `EINVAL`, and what the protocol has and we have not `ENOSYS`.

mod convert;
mod handles;
#[cfg(test)]
mod malformed;

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::Ordering::{Acquire, Relaxed};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use fuser::{
    BsdFileFlags, FileHandle, Filesystem, FopenFlags, Generation, INodeNo, InitFlags, KernelConfig,
    LockOwner, OpenFlags, RenameFlags, ReplyAttr, ReplyCreate, ReplyData, ReplyDirectory,
    ReplyEmpty, ReplyEntry, ReplyLseek, ReplyOpen, ReplyStatfs, ReplyWrite, ReplyXattr, Request,
    TimeOrNow, WriteFlags,
};
use rustix::fs::{FallocateFlags, FileType, OFlags, SeekFrom, Stat, getxattr, seek};
use rustix::io::Errno;

use crate::lock::lock;
use crate::machine::Machine;
use crate::overhead;
use crate::pacer::Arrival;
use crate::store::Opened;
use crate::tree::{Changes, Identity, LENT_RIGHTS, NewKind, Node};
use handles::{Handle, Handles};

/// How long the kernel may remember names and attributes. Only a crash changes them besides, and
/// the kernel learns of it.
const REMEMBERED: Duration = Duration::from_secs(1);

/// Returns how long the kernel may remember these attributes. A write by another user takes setuid
/// and setgid away, and the kernel does not know that it did.
fn remembered(stat: &Stat) -> Duration {
    let is_file = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
    let lends = stat.st_mode & LENT_RIGHTS != 0;
    if is_file && lends { Duration::ZERO } else { REMEMBERED }
}

/// Requests that the kernel keeps in flight without a thread that waits for each (asynchronous
/// I/O). Above the depth of any sensible job; each may hold 1 MiB.
const BACKGROUND_MAX: u16 = 1024;

/// Largest read or write of one request: what the kernel allows by default.
const TRANSFER_MAX_BYTES: u32 = 1 << 20;

/// Block that `statfs` counts in.
const BLOCK_BYTES: u64 = 4096;

/// Longest name, as nearly everywhere.
const NAME_MAX: u32 = 255;

/// An attribute that only we know, to measure the overhead with: there need be no file.
const OVERHEAD_NAME: &str = "user.plimsoll.overhead";

/// The file system.
#[derive(Debug)]
pub(crate) struct Volumes {
    machine: Arc<Machine>,
    handles: Handles,
}

type Answer<T> = Result<T, Errno>;

impl Volumes {
    pub(crate) fn new(machine: Arc<Machine>) -> Self {
        Volumes { machine, handles: Handles::default() }
    }

    /// Returns a file, unless the machine has crashed.
    fn node(&self, number: INodeNo) -> Answer<Arc<Node>> {
        self.machine.alive()?;
        self.machine.tree().node(number.0)
    }

    /// Returns when a request that is read now came, and of which thread.
    fn arrival(&self, request: &Request) -> Arrival {
        // What the kernel does by itself has no number.
        let program = Some(u64::from(request.pid())).filter(|pid| *pid != 0);
        Arrival { made_ns: self.machine.pacer().overhead().made_ns(), program }
    }

    fn attributes(&self, node: &Node, stat: &Stat) -> fuser::FileAttr {
        convert::attributes(self.machine.tree().number(node.ino), stat)
    }

    fn entry(&self, child: Answer<(Arc<Node>, Stat)>, reply: ReplyEntry) {
        match child {
            Ok((node, stat)) => {
                reply.entry(&remembered(&stat), &self.attributes(&node, &stat), Generation(0));
            }
            Err(error) => reply.error(convert::error(error)),
        }
    }

    fn make(
        &self,
        request: &Request,
        (parent, name): (INodeNo, &OsStr),
        kind: NewKind<'_>,
        mode: u32,
    ) -> Answer<(Arc<Node>, Stat)> {
        let parent = self.node(parent)?;
        self.machine.tree().make(&parent, name, kind, mode, identity(request))
    }

    /// Opens a file for data. For writing it is opened for both, as what a write replaces may have
    /// to be read.
    fn opened(&self, node: &Node, flags: i32) -> Answer<Opened> {
        let flags = OFlags::from_bits_retain(flags as u32);
        let is_write = flags.intersects(OFlags::WRONLY | OFlags::RDWR);
        let file = match node.open(if is_write { OFlags::RDWR } else { OFlags::RDONLY }) {
            Err(Errno::ACCESS) if is_write => node.open(OFlags::WRONLY),
            file => file,
        }?;
        let is_sync = flags.intersects(OFlags::SYNC | OFlags::DSYNC);
        Ok(Opened::new(file, is_sync, self.machine.n_crashes()))
    }

    fn open_file(&self, number: INodeNo, flags: i32) -> Answer<FileHandle> {
        let node = self.node(number)?;
        if node.kind != FileType::RegularFile {
            return Err(Errno::INVAL);
        }
        let opened = self.opened(&node, flags)?;
        node.n_open.fetch_add(1, Relaxed);
        Ok(self.handles.insert(Handle::File(node, opened)))
    }

    fn set_attributes(
        &self,
        number: INodeNo,
        size: Option<u64>,
        handle: Option<FileHandle>,
        changes: &Changes,
    ) -> Answer<(Arc<Node>, Stat)> {
        let node = self.node(number)?;
        if size.is_some() && node.kind != FileType::RegularFile {
            return Err(Errno::INVAL);
        }
        if let Some(size) = size {
            let handle = handle.and_then(|number| self.handles.get(number).ok());
            match handle.as_deref() {
                Some(Handle::File(_, opened)) => {
                    self.machine.truncate(&node, &opened.file, size)?;
                }
                _ => self.machine.truncate(&node, &node.open(OFlags::WRONLY)?, size)?,
            }
        }
        let stat = self.machine.tree().change(&node, changes)?;
        Ok((node, stat))
    }

    fn list(&self, handle: FileHandle, offset: u64, reply: &mut ReplyDirectory) -> Answer<()> {
        self.machine.alive()?;
        let handle = self.handles.get(handle)?;
        let Handle::Folder(node, entries) = &*handle else { return Err(Errno::NOTDIR) };
        let entries = {
            let mut entries = lock(entries);
            if offset == 0 {
                *entries = Arc::new(self.machine.tree().list(node)?);
            }
            Arc::clone(&entries)
        };
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        for (entry, next) in entries.iter().skip(start).zip(offset.saturating_add(1)..) {
            let name = OsStr::from_bytes(entry.name.to_bytes());
            if reply.add(INodeNo(entry.number), next, convert::kind(entry.kind), name) {
                break;
            }
        }
        Ok(())
    }

    fn seek_in(&self, handle: FileHandle, offset: i64, whence: i32) -> Answer<i64> {
        self.machine.alive()?;
        let handle = self.handles.get(handle)?;
        let Handle::File(_, opened) = &*handle else { return Err(Errno::ISDIR) };
        let offset = u64::try_from(offset).map_err(|_| Errno::NXIO)?;
        let wanted = match whence {
            SEEK_DATA => SeekFrom::Data(offset),
            SEEK_HOLE => SeekFrom::Hole(offset),
            _ => return Err(Errno::INVAL),
        };
        let found = seek(&opened.file, wanted)?;
        i64::try_from(found).map_err(|_| Errno::OVERFLOW)
    }

    fn removed(&self, node: Answer<Option<Arc<Node>>>, reply: ReplyEmpty) {
        match node {
            Ok(node) => {
                if let Some(node) = node {
                    self.machine.release(&node);
                }
                reply.ok();
            }
            Err(error) => reply.error(convert::error(error)),
        }
    }
}

/// `lseek`'s names for the next data and the next hole.
const SEEK_DATA: i32 = 3;
const SEEK_HOLE: i32 = 4;

fn identity(request: &Request) -> Identity {
    Identity { uid: request.uid(), gid: request.gid() }
}

fn empty(outcome: Answer<()>, reply: ReplyEmpty) {
    match outcome {
        Ok(()) => reply.ok(),
        Err(error) => reply.error(convert::error(error)),
    }
}

/// Answers with an extended attribute, or with its length to one who asks for that.
fn extended(value: Answer<Vec<u8>>, size: u32, reply: ReplyXattr) {
    match value {
        Ok(value) if size == 0 => reply.size(value.len() as u32),
        Ok(value) if value.len() <= size as usize => reply.data(&value),
        Ok(_) => reply.error(fuser::Errno::ERANGE),
        Err(error) => reply.error(convert::error(error)),
    }
}

impl Filesystem for Volumes {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> std::io::Result<()> {
        // What the kernel has not, is done without.
        let _ = config.set_max_write(TRANSFER_MAX_BYTES);
        let _ = config.set_max_readahead(TRANSFER_MAX_BYTES);
        let _ = config.set_max_background(BACKGROUND_MAX);
        let wanted = [
            InitFlags::FUSE_ASYNC_DIO,
            InitFlags::FUSE_DIRECT_IO_ALLOW_MMAP,
            InitFlags::FUSE_PARALLEL_DIROPS,
        ];
        for flag in wanted {
            let _ = config.add_capabilities(flag);
        }
        Ok(())
    }

    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let parent = self.node(parent);
        self.entry(parent.and_then(|parent| self.machine.tree().lookup(&parent, name)), reply);
    }

    fn forget(&self, _: &Request, number: INodeNo, n_lookups: u64) {
        if let Some(node) = self.machine.tree().forget(number.0, n_lookups) {
            self.machine.release(&node);
        }
    }

    fn getattr(&self, _: &Request, number: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        let found = self.node(number).and_then(|node| node.stat().map(|stat| (node, stat)));
        match found {
            Ok((node, stat)) => reply.attr(&remembered(&stat), &self.attributes(&node, &stat)),
            Err(error) => reply.error(convert::error(error)),
        }
    }

    fn setattr(
        &self,
        _: &Request,
        number: INodeNo,
        mode: Option<u32>,
        uid: Option<u32>,
        gid: Option<u32>,
        size: Option<u64>,
        atime: Option<TimeOrNow>,
        mtime: Option<TimeOrNow>,
        _: Option<SystemTime>,
        handle: Option<FileHandle>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let (atime, mtime) = (atime.map(convert::timespec), mtime.map(convert::timespec));
        let changes = Changes { mode, uid, gid, atime, mtime };
        match self.set_attributes(number, size, handle, &changes) {
            Ok((node, stat)) => reply.attr(&remembered(&stat), &self.attributes(&node, &stat)),
            Err(error) => reply.error(convert::error(error)),
        }
    }

    fn readlink(&self, _: &Request, number: INodeNo, reply: ReplyData) {
        match self.node(number).and_then(|node| self.machine.tree().readlink(&node)) {
            Ok(target) => reply.data(target.as_os_str().as_bytes()),
            Err(error) => reply.error(convert::error(error)),
        }
    }

    fn mknod(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _: u32,
        device: u32,
        reply: ReplyEntry,
    ) {
        let kind = NewKind::Special(u64::from(device));
        self.entry(self.make(request, (parent, name), kind, mode), reply);
    }

    fn mkdir(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _: u32,
        reply: ReplyEntry,
    ) {
        self.entry(self.make(request, (parent, name), NewKind::Folder, mode), reply);
    }

    fn symlink(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        target: &Path,
        reply: ReplyEntry,
    ) {
        self.entry(self.make(request, (parent, name), NewKind::Link(target), 0o777), reply);
    }

    fn unlink(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        let parent = self.node(parent);
        let removed = parent.and_then(|parent| self.machine.tree().unlink(&parent, name));
        self.removed(removed, reply);
    }

    fn rmdir(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        let parent = self.node(parent);
        empty(parent.and_then(|parent| self.machine.tree().rmdir(&parent, name)), reply);
    }

    fn rename(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        to_parent: INodeNo,
        to_name: &OsStr,
        flags: RenameFlags,
        reply: ReplyEmpty,
    ) {
        let flags = rustix::fs::RenameFlags::from_bits_retain(flags.bits());
        let renamed = self.node(parent).and_then(|parent| {
            let to_parent = self.node(to_parent)?;
            self.machine.tree().rename((&parent, name), (&to_parent, to_name), flags)
        });
        self.removed(renamed, reply);
    }

    fn link(&self, _: &Request, number: INodeNo, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let linked = self.node(number).and_then(|node| {
            let parent = self.node(parent)?;
            self.machine.tree().link(&node, &parent, name)
        });
        self.entry(linked, reply);
    }

    fn create(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _: u32,
        flags: i32,
        reply: ReplyCreate,
    ) {
        let created = self
            .node(parent)
            .and_then(|parent| self.machine.tree().create(&parent, name, mode, identity(request)));
        match created {
            Ok(((node, stat), file)) => {
                let flags_given = OFlags::from_bits_retain(flags as u32);
                let is_sync = flags_given.intersects(OFlags::SYNC | OFlags::DSYNC);
                let attributes = self.attributes(&node, &stat);
                node.n_open.fetch_add(1, Relaxed);
                let opened = Opened::new(file, is_sync, self.machine.n_crashes());
                let handle = self.handles.insert(Handle::File(node, opened));
                reply.created(&remembered(&stat), &attributes, Generation(0), handle, FILE_FLAGS);
            }
            Err(error) => reply.error(convert::error(error)),
        }
    }

    fn open(&self, _: &Request, number: INodeNo, flags: OpenFlags, reply: ReplyOpen) {
        match self.open_file(number, flags.0) {
            Ok(handle) => reply.opened(handle, FILE_FLAGS),
            Err(error) => reply.error(convert::error(error)),
        }
    }

    fn read(
        &self,
        request: &Request,
        _: INodeNo,
        handle: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let arrival = self.arrival(request);
        match self.handles.get(handle).as_deref() {
            Ok(Handle::File(node, opened)) => {
                let send = move |data: Answer<Vec<u8>>| match data {
                    Ok(data) => reply.data(&data),
                    Err(error) => reply.error(convert::error(error)),
                };
                self.machine.read(node, opened, (offset, size), arrival, send);
            }
            Ok(Handle::Folder(..)) => reply.error(fuser::Errno::EISDIR),
            Err(error) => reply.error(convert::error(*error)),
        }
    }

    fn write(
        &self,
        request: &Request,
        _: INodeNo,
        handle: FileHandle,
        offset: u64,
        data: &[u8],
        write_flags: WriteFlags,
        flags: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let arrival = self.arrival(request);
        match self.handles.get(handle).as_deref() {
            Ok(Handle::File(node, opened)) => {
                let flags = OFlags::from_bits_retain(flags.0 as u32);
                let is_sync = opened.is_sync || flags.intersects(OFlags::SYNC | OFlags::DSYNC);
                // The kernel says whose writes take setuid and setgid away.
                if write_flags.contains(WriteFlags::FUSE_WRITE_KILL_SUIDGID)
                    && let Err(error) = node.drop_privileges()
                {
                    return reply.error(convert::error(error));
                }
                let send = move |written: Answer<u32>| match written {
                    Ok(n_bytes) => reply.written(n_bytes),
                    Err(error) => reply.error(convert::error(error)),
                };
                self.machine.write(node, opened, (offset, data), (is_sync, arrival), send);
            }
            Ok(Handle::Folder(..)) => reply.error(fuser::Errno::EISDIR),
            Err(error) => reply.error(convert::error(*error)),
        }
    }

    fn release(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        _: OpenFlags,
        _: Option<LockOwner>,
        _: bool,
        reply: ReplyEmpty,
    ) {
        if let Some(Handle::File(node, _)) = self.handles.remove(handle).as_deref() {
            node.n_open.fetch_sub(1, Relaxed);
            self.machine.release(node);
        }
        reply.ok();
    }

    fn fsync(
        &self,
        request: &Request,
        number: INodeNo,
        handle: FileHandle,
        _: bool,
        reply: ReplyEmpty,
    ) {
        let arrival = self.arrival(request);
        // As the kernel reports data that it could not write: once per open file.
        if let Ok(Handle::File(node, opened)) = self.handles.get(handle).as_deref()
            && self.machine.alive().is_ok()
            && opened.has_lost(node.lost_at.load(Acquire))
        {
            reply.error(fuser::Errno::EIO);
            return;
        }
        match self.node(number) {
            Ok(node) => self.machine.flush(&node, arrival, move |end| empty(end, reply)),
            Err(error) => reply.error(convert::error(error)),
        }
    }

    fn fsyncdir(
        &self,
        request: &Request,
        number: INodeNo,
        handle: FileHandle,
        is_data_only: bool,
        reply: ReplyEmpty,
    ) {
        self.fsync(request, number, handle, is_data_only, reply);
    }

    fn opendir(&self, _: &Request, number: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        match self.node(number) {
            Ok(node) if node.kind == FileType::Directory => {
                let folder = Handle::Folder(node, Mutex::default());
                reply.opened(self.handles.insert(folder), FopenFlags::empty());
            }
            Ok(_) => reply.error(fuser::Errno::ENOTDIR),
            Err(error) => reply.error(convert::error(error)),
        }
    }

    fn readdir(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        match self.list(handle, offset, &mut reply) {
            Ok(()) => reply.ok(),
            Err(error) => reply.error(convert::error(error)),
        }
    }

    fn releasedir(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        _: OpenFlags,
        reply: ReplyEmpty,
    ) {
        self.handles.remove(handle);
        reply.ok();
    }

    fn statfs(&self, _: &Request, number: INodeNo, reply: ReplyStatfs) {
        let node = self.machine.tree().node(number.0);
        let volume = node.ok().and_then(|node| node.volume);
        let stores = self.machine.stores();
        let shown = match volume {
            Some(volume) => stores.get(usize::from(volume)..=usize::from(volume)),
            None => Some(stores),
        };
        let shown = shown.unwrap_or_default();
        let capacity: u64 = shown.iter().map(|store| store.space.capacity() / BLOCK_BYTES).sum();
        let used: u64 = shown.iter().map(|store| store.space.used().div_ceil(BLOCK_BYTES)).sum();
        let free = capacity.saturating_sub(used);
        // Files are not limited; tools that print a share want some number.
        let n_files = u64::from(u32::MAX);
        let block = BLOCK_BYTES as u32;
        reply.statfs(capacity, free, free, n_files, n_files, block, NAME_MAX, block);
    }

    fn setxattr(
        &self,
        _: &Request,
        number: INodeNo,
        name: &OsStr,
        value: &[u8],
        flags: i32,
        _: u32,
        reply: ReplyEmpty,
    ) {
        let set = self
            .node(number)
            .and_then(|node| self.machine.tree().set_xattr(&node, name, value, flags as u32));
        empty(set, reply);
    }

    fn getxattr(&self, _: &Request, number: INodeNo, name: &OsStr, size: u32, reply: ReplyXattr) {
        if name == OVERHEAD_NAME && self.machine.pacer().overhead().is_being_measured() {
            let value = vec![0; overhead::ANSWER_BYTES];
            let send = move || extended(Ok(value), size, reply);
            return self.machine.pacer().answer_probe(send);
        }
        let node = self.node(number);
        extended(node.and_then(|node| node.xattr(name)), size, reply);
    }

    fn listxattr(&self, _: &Request, number: INodeNo, size: u32, reply: ReplyXattr) {
        let node = self.node(number);
        extended(node.and_then(|node| node.xattr_names()), size, reply);
    }

    fn removexattr(&self, _: &Request, number: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        let node = self.node(number);
        empty(node.and_then(|node| self.machine.tree().remove_xattr(&node, name)), reply);
    }

    fn fallocate(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        offset: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        let allocated = self.handles.get(handle).and_then(|handle| match &*handle {
            Handle::File(node, opened) => {
                let mode = FallocateFlags::from_bits_retain(mode as u32);
                self.machine.allocate(node, opened, (offset, length), mode)
            }
            Handle::Folder(..) => Err(Errno::BADF),
        });
        empty(allocated, reply);
    }

    fn lseek(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        offset: i64,
        whence: i32,
        reply: ReplyLseek,
    ) {
        match self.seek_in(handle, offset, whence) {
            Ok(offset) => reply.offset(offset),
            Err(error) => reply.error(convert::error(error)),
        }
    }
}

/// Direct, so that the page cache does not answer; parallel, so that several writes to one file
/// are in flight at once.
const FILE_FLAGS: FopenFlags =
    FopenFlags::FOPEN_DIRECT_IO.union(FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES);

/// Measures the overhead of requests to a mount.
pub(crate) fn measure_way(machine: &Machine, mount: &Path) {
    let mut value = [0; overhead::ANSWER_BYTES];
    machine
        .pacer()
        .overhead()
        .measure(|| getxattr(mount, OVERHEAD_NAME, &mut value).ok().map(drop));
}

/// Makes the kernel drop what it has cached of all files.
pub(crate) fn forget_cached(machine: &Machine, notifier: &fuser::Notifier) {
    for number in machine.tree().numbers() {
        // An error means that the kernel has released the file meanwhile.
        let _ = notifier.inval_inode(INodeNo(number), 0, 0);
    }
}
