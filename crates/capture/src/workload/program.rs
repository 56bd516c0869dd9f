//! What the processes of one program did.

use std::collections::{BTreeMap, BTreeSet};

use dialects::MixOp;

use super::files::FileIdx;

/// Bytes of a transfer, and how many there were.
pub(super) type Sizes = BTreeMap<u64, u64>;

/// Counts of a program.
#[derive(Debug, Default)]
pub(super) struct Program {
    pub(super) name: String,
    pub(super) ops: BTreeMap<MixOp, u64>,
    /// Of transfers within files, and those of whole files.
    pub(super) read_sizes: Sizes,
    pub(super) write_sizes: Sizes,
    pub(super) whole_read_sizes: Sizes,
    pub(super) whole_write_sizes: Sizes,
    /// The files that it worked on.
    pub(super) files: BTreeSet<FileIdx>,
    /// Times that a file was opened and nothing done with it.
    pub(super) n_opened_only: u64,
    /// Open files that bytes were moved of, and those of them with O_DIRECT.
    pub(super) n_moving: u64,
    pub(super) n_direct: u64,
    /// Open files that were written, those of them with O_DSYNC or O_SYNC, and those that were
    /// synchronised before they were closed.
    pub(super) n_written: u64,
    pub(super) n_dsync: u64,
    pub(super) n_synced: u64,
    /// Processes, and how long they lived together, nanoseconds.
    pub(super) n_processes: u64,
    pub(super) lived_ns: u64,
}

impl Program {
    pub(super) fn count(&mut self, op: MixOp, n: u64) {
        if n > 0 {
            *self.ops.entry(op).or_default() += n;
        }
    }

    /// Adds the time that a process lived.
    pub(super) fn live(&mut self, ns: u64) {
        self.lived_ns = self.lived_ns.saturating_add(ns);
    }

    pub(super) fn n_ops(&self) -> u64 {
        self.ops.values().sum()
    }

    /// Adds the counts of another program.
    pub(super) fn add(&mut self, other: Program) {
        let Program {
            name: _,
            ops,
            read_sizes,
            write_sizes,
            whole_read_sizes,
            whole_write_sizes,
            mut files,
            n_opened_only,
            n_moving,
            n_direct,
            n_written,
            n_dsync,
            n_synced,
            n_processes,
            lived_ns,
        } = other;
        for (op, n) in ops {
            self.count(op, n);
        }
        add_all(&mut self.read_sizes, read_sizes);
        add_all(&mut self.write_sizes, write_sizes);
        add_all(&mut self.whole_read_sizes, whole_read_sizes);
        add_all(&mut self.whole_write_sizes, whole_write_sizes);
        self.files.append(&mut files);
        self.n_opened_only += n_opened_only;
        self.n_moving += n_moving;
        self.n_direct += n_direct;
        self.n_written += n_written;
        self.n_dsync += n_dsync;
        self.n_synced += n_synced;
        self.n_processes += n_processes;
        self.live(lived_ns);
    }
}

/// Adds the counts of some sizes to those of others.
pub(super) fn add_all(to: &mut Sizes, sizes: Sizes) {
    for (size, n) in sizes.into_iter().filter(|(_, n)| *n > 0) {
        *to.entry(size).or_default() += n;
    }
}
