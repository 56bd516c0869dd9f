//! From an operation to an entry of the submission queue.

use std::os::fd::RawFd;

use io_uring::squeue::{Entry, Flags};
use io_uring::{opcode, types};
use plan::job::EngineSpec;
use plan::op::{Op, OpClass, OpKind, SyncScope};
use plan::{Direction, IoPriority};

use crate::files::FileKind;
use crate::without_data::without_data;
use crate::{Arena, BuildOptions, FileTable};

/// `BLOCK_URING_CMD_DISCARD` of `linux/blkdev.h`, `_IO(0x12, 0)`. Linux 6.12.
const BLOCK_DISCARD: u32 = 0x1200;

/// What became of an operation.
pub(super) enum Encoded {
    /// An entry for the queue.
    Entry(Entry),
    /// It has been carried out already, with this result.
    Done(i32),
}

/// Makes entries from operations.
pub(super) struct Encoder {
    pub(super) arena: Arena,
    pub(super) files: FileTable,
    /// Entries name files by their position in the table.
    pub(super) fixed_files: bool,
    /// The arena is registered in regions of this many bytes.
    pub(super) region_bytes: Option<usize>,
    /// Devices take discards through the ring.
    pub(super) discard_command: bool,
    /// The ring polls, and so takes only reads and writes.
    polls: bool,
    read_flags: i32,
    write_flags: i32,
    force_async: u32,
    until_async: u32,
    /// Priority of operations without one of their own.
    usual_priority: IoPriority,
    sync_file_range_flags: u32,
}

impl Encoder {
    pub(super) fn new(
        spec: &EngineSpec,
        files: FileTable,
        arena: Arena,
        options: &BuildOptions,
    ) -> Encoder {
        let (read_flags, write_flags) = crate::rwf_flags(spec, options);
        Encoder {
            arena,
            files,
            fixed_files: false,
            region_bytes: None,
            discard_command: false,
            polls: spec.poll,
            read_flags,
            write_flags,
            force_async: spec.force_async,
            until_async: spec.force_async,
            usual_priority: options.priority,
            sync_file_range_flags: options.sync_file_range_flags,
        }
    }

    /// Makes the entry of an operation, or carries it out where the ring cannot.
    #[inline]
    pub(super) fn encode(&mut self, op: &Op) -> Encoded {
        if !matches!(op.kind, OpKind::Read | OpKind::Write) {
            return self.encode_other(op);
        }
        let fd = match self.descriptor(op) {
            Ok(fd) => types::Fd(fd),
            Err(result) => return Encoded::Done(result),
        };
        let memory = self.arena.memory(op);
        let (len, offset) = (op.len, op.offset);
        let is_read = op.kind == OpKind::Read;
        let flags = if is_read { self.read_flags } else { self.write_flags };
        let io_priority = self.io_priority(op);
        let entry = match (self.region_bytes, is_read) {
            (Some(region_bytes), true) => {
                let region = self.region(op, region_bytes);
                opcode::ReadFixed::new(fd, memory, len, region)
                    .offset(offset)
                    .rw_flags(flags)
                    .ioprio(io_priority)
                    .build()
            }
            (Some(region_bytes), false) => {
                let region = self.region(op, region_bytes);
                opcode::WriteFixed::new(fd, memory, len, region)
                    .offset(offset)
                    .rw_flags(flags)
                    .ioprio(io_priority)
                    .build()
            }
            (None, true) => opcode::Read::new(fd, memory, len)
                .offset(offset)
                .rw_flags(flags)
                .ioprio(io_priority)
                .build(),
            (None, false) => opcode::Write::new(fd, memory, len)
                .offset(offset)
                .rw_flags(flags)
                .ioprio(io_priority)
                .build(),
        };
        Encoded::Entry(entry.flags(self.entry_flags()).user_data(user_data(op.slot, 0)))
    }

    /// Syncs, trims and operations on whole files.
    fn encode_other(&mut self, op: &Op) -> Encoded {
        let kind = self.files.kind(op.file);
        let can_trim =
            kind == FileKind::Regular || (kind == FileKind::Block && self.discard_command);
        let through_ring = !self.polls
            && match op.kind.class() {
                OpClass::Sync(_) => true,
                OpClass::Bytes(Direction::Trim) => can_trim,
                OpClass::Bytes(Direction::Read | Direction::Write) | OpClass::File => false,
            };
        if !through_ring {
            let result = without_data(&mut self.files, op, self.sync_file_range_flags);
            return Encoded::Done(result);
        }
        let fd = match self.descriptor(op) {
            Ok(fd) => types::Fd(fd),
            Err(result) => return Encoded::Done(result),
        };
        let entry = match op.kind.class() {
            OpClass::Sync(SyncScope::All) => opcode::Fsync::new(fd).build(),
            OpClass::Sync(SyncScope::Data) => {
                opcode::Fsync::new(fd).flags(types::FsyncFlags::DATASYNC).build()
            }
            OpClass::Sync(SyncScope::Range) => opcode::SyncFileRange::new(fd, op.len)
                .offset(op.offset)
                .flags(self.sync_file_range_flags)
                .build(),
            // Trims; nothing else came this far.
            OpClass::Bytes(_) | OpClass::File if kind == FileKind::Block => {
                discard(fd, op.offset, u64::from(op.len))
            }
            OpClass::Bytes(_) | OpClass::File => opcode::Fallocate::new(fd, u64::from(op.len))
                .offset(op.offset)
                .mode(libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE)
                .build(),
        };
        let is_trim = op.kind == OpKind::Trim;
        let mut flags = self.entry_flags();
        if is_trim && kind == FileKind::Block {
            // Tried without waiting first, it fails with EOPNOTSUPP on devices whose driver cannot
            // do that (zram), and the kernel does not try again.
            flags |= Flags::ASYNC;
        }
        let len = if is_trim { op.len } else { 0 };
        Encoded::Entry(entry.flags(flags).user_data(user_data(op.slot, len)))
    }

    /// Returns what an entry names the file by.
    #[inline]
    fn descriptor(&mut self, op: &Op) -> Result<RawFd, i32> {
        if self.fixed_files { Ok(op.file.0 as RawFd) } else { self.files.fd(op.file) }
    }

    #[inline]
    fn region(&self, op: &Op, region_bytes: usize) -> u16 {
        (op.buf.0 as usize * self.arena.stride_bytes() / region_bytes) as u16
    }

    #[inline]
    fn entry_flags(&mut self) -> Flags {
        let mut flags = Flags::empty();
        if self.fixed_files {
            // An entry whose descriptor is a position is made like any other, plus this flag.
            flags |= Flags::FIXED_FILE;
        }
        if self.force_async > 0 {
            self.until_async -= 1;
            if self.until_async == 0 {
                self.until_async = self.force_async;
                flags |= Flags::ASYNC;
            }
        }
        flags
    }

    #[inline]
    fn io_priority(&self, op: &Op) -> u16 {
        let has_own = op.priority != IoPriority::NONE;
        if has_own { op.priority.bits() } else { self.usual_priority.bits() }
    }
}

/// Makes a discard of a block device. The kernel takes the start where other entries have the
/// address of their memory, and the length in the first half of the command.
pub(super) fn discard(fd: types::Fd, offset: u64, len: u64) -> Entry {
    let mut command = [0; 16];
    command[..8].copy_from_slice(&len.to_ne_bytes());
    opcode::UringCmd16::new(fd, BLOCK_DISCARD).addr(Some(offset)).cmd(command).build()
}

/// Packs a slot, and the length to report for a call that moves no bytes.
#[inline]
fn user_data(slot: u32, len: u32) -> u64 {
    u64::from(len) << 32 | u64::from(slot)
}

/// The inverse of [`user_data`].
#[inline]
pub(super) fn from_user_data(user_data: u64) -> (u32, i32) {
    (user_data as u32, (user_data >> 32) as i32)
}
