//! Copies and moves of whole files from one tree to another.

use std::os::fd::AsRawFd;

use plan::op::{Op, OpKind};

use super::OnTree;
use crate::named::{self, NameOptions, open};
use crate::{Arena, call};

impl OnTree {
    /// Copies a file to the same place in the second tree, with the job's block size. A file that
    /// is there is written anew.
    pub(super) fn copy(&mut self, op: &Op, arena: &Arena) -> i32 {
        let (mut path, mut other_path) =
            (std::mem::take(&mut self.path), std::mem::take(&mut self.other_path));
        let result = self.copy_with(op, arena, &mut path, &mut other_path);
        (self.path, self.other_path) = (path, other_path);
        result
    }

    fn copy_with(&self, op: &Op, arena: &Arena, path: &mut Vec<u8>, to: &mut Vec<u8>) -> i32 {
        let Some(second) = &self.second else { return -libc::EBADF };
        let target = op.file.0 % second.tree.n_files().max(1);
        let extra = self.access.durability() | libc::O_CLOEXEC | libc::O_NOFOLLOW;
        let from = match open(self.first.at(false, op.file.0, path), libc::O_RDONLY | extra, 0) {
            Ok(fd) => fd,
            Err(result) => return result,
        };
        let flags = libc::O_WRONLY | libc::O_CREAT | libc::O_TRUNC | extra;
        let to = match open(second.at(false, target, to), flags, 0o644) {
            Ok(fd) => fd,
            Err(result) => return result,
        };
        let block_bytes = self.access.copy_bytes.clamp(1, arena.buffer_bytes().max(1));
        let mut offset = 0;
        loop {
            let piece = Op { len: block_bytes, buf_offset_bytes: 0, ..*op };
            let memory = arena.memory(&piece);
            let n_read = call::pread(from.as_raw_fd(), memory, block_bytes, offset);
            if n_read <= 0 {
                if n_read < 0 {
                    return n_read;
                }
                break;
            }
            let mut n_written = 0;
            while n_written < n_read {
                let len = (n_read - n_written) as u32;
                let rest = Op { buf_offset_bytes: n_written as u32, len, ..piece };
                let (memory, at) = (arena.memory(&rest), offset + n_written as u64);
                match call::pwrite(to.as_raw_fd(), memory, len, at) {
                    result if result < 0 => return result,
                    0 => return -libc::ENOSPC,
                    result => n_written += result,
                }
            }
            offset += n_read as u64;
        }
        if self.access.open.fsync_on_close {
            // SAFETY: the call takes no memory.
            return call::retry(|| unsafe { libc::fsync(to.as_raw_fd()) } as isize);
        }
        0
    }

    /// Moves a file: renames it, or copies and removes it where the trees are on different file
    /// systems.
    pub(super) fn move_file(&mut self, op: &Op, arena: &Arena) -> i32 {
        let (mut path, mut other_path) =
            (std::mem::take(&mut self.path), std::mem::take(&mut self.other_path));
        let result = match &self.second {
            Some(second) => {
                let target = op.file.0 % second.tree.n_files().max(1);
                let from = self.first.at(false, op.file.0, &mut path);
                let to = second.at(false, target, &mut other_path);
                // SAFETY: both names end with NUL and outlive the call.
                call::retry(|| unsafe {
                    libc::renameat(from.folder, from.path, to.folder, to.path) as isize
                })
            }
            None => -libc::EBADF,
        };
        (self.path, self.other_path) = (path, other_path);
        if result != -libc::EXDEV {
            return result;
        }
        match self.copy(op, arena) {
            0 => {
                let from = self.first.at(false, op.file.0, &mut self.path);
                named::carry_out(OpKind::Delete, from, NameOptions::IN_TREE)
            }
            failed => failed,
        }
    }
}
