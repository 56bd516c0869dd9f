//! What was done with an open file, from its opening to its closing: which operations of a mix it
//! comes to.

use dialects::MixOp;

use super::files::FileIdx;
use super::program::{Program, Sizes, add_all};

/// Most bytes that a mapping counts for: which of its pages are touched, no call shows.
pub(super) const MAPPED_BYTES_MAX: u64 = 128 << 10;

/// How a file was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Manner {
    pub(super) is_append: bool,
    pub(super) is_direct: bool,
    pub(super) is_dsync: bool,
    /// It was made, or cut to nothing.
    pub(super) is_new: bool,
}

/// An open file.
#[derive(Debug, Default)]
pub(super) struct OpenFile {
    /// None for what does not count.
    pub(super) file: Option<FileIdx>,
    pub(super) path: String,
    /// The program that opened it, by its place.
    pub(super) program: usize,
    pub(super) manner: Manner,
    /// Where the next transfer begins that names no place.
    pub(super) at_bytes: u64,
    pub(super) is_synced: bool,
    pub(super) is_listed: bool,
    pub(super) is_copied_to: bool,
    reads: Transfers,
    writes: Transfers,
    appends: Sizes,
    rewrites: Sizes,
    last_read: Option<(u64, u64)>,
    has_read_to_end: bool,
    /// Locks, mappings and the like, which were counted at once.
    pub(super) n_others: u64,
}

/// Transfers in one direction.
#[derive(Debug, Default)]
struct Transfers {
    n: u64,
    sizes: Sizes,
    begins_at_0: bool,
    end_bytes: u64,
    /// Those in a row up to now.
    run_len: u64,
    /// Those that one before or behind is adjacent to.
    n_in_row: u64,
    n_alone: u64,
}

impl Transfers {
    fn add(&mut self, at_bytes: u64, len_bytes: u64) {
        if self.n > 0 && at_bytes == self.end_bytes {
            self.run_len += 1;
        } else {
            self.end_run();
            self.run_len = 1;
            self.begins_at_0 |= self.n == 0 && at_bytes == 0;
        }
        self.end_bytes = at_bytes.saturating_add(len_bytes);
        self.n += 1;
        *self.sizes.entry(len_bytes).or_default() += 1;
    }

    fn end_run(&mut self) {
        match self.run_len {
            0 => {}
            1 => self.n_alone += 1,
            n => self.n_in_row += n,
        }
        self.run_len = 0;
    }

    /// Takes one back, which was part of another operation.
    fn take_back(&mut self, len_bytes: u64) {
        self.end_run();
        let count = if self.n_alone > 0 { &mut self.n_alone } else { &mut self.n_in_row };
        *count = count.saturating_sub(1);
        if let Some(n) = self.sizes.get_mut(&len_bytes) {
            *n = n.saturating_sub(1);
        }
    }

    fn is_one_from_0(&self) -> bool {
        self.begins_at_0 && self.n_alone == 1 && self.n_in_row == 0
    }
}

impl OpenFile {
    /// Begins one; `program` opened it.
    pub(super) fn new(file: Option<FileIdx>, path: String, program: usize, manner: Manner) -> Self {
        OpenFile { file, path, program, manner, ..OpenFile::default() }
    }

    /// Notes that bytes were read; `asked_bytes` were asked for.
    pub(super) fn read(&mut self, at_bytes: u64, len_bytes: u64, asked_bytes: Option<u64>) {
        self.has_read_to_end |= asked_bytes.is_some_and(|asked| len_bytes < asked);
        if len_bytes > 0 {
            self.reads.add(at_bytes, len_bytes);
            self.last_read = Some((at_bytes, len_bytes));
        }
    }

    /// Notes that bytes were written; the file has `size_bytes`, where that is known.
    pub(super) fn write(&mut self, at_bytes: u64, len_bytes: u64, size_bytes: Option<u64>) {
        if len_bytes == 0 {
            return;
        }
        let is_behind = size_bytes.is_some_and(|size| size > 0 && at_bytes >= size);
        if self.last_read.take() == Some((at_bytes, len_bytes)) {
            self.reads.take_back(len_bytes);
            *self.rewrites.entry(len_bytes).or_default() += 1;
        } else if !self.manner.is_new && (self.manner.is_append || is_behind) {
            *self.appends.entry(len_bytes).or_default() += 1;
        } else {
            self.writes.add(at_bytes, len_bytes);
        }
    }

    /// Counts what it came to. `size_bytes` are the bytes of the file, where they are known.
    pub(super) fn count(mut self, program: &mut Program, size_bytes: Option<u64>) {
        self.reads.end_run();
        self.writes.end_run();
        let is_whole = self.has_read_to_end || size_bytes == Some(self.reads.end_bytes);
        if self.reads.is_one_from_0() && is_whole {
            program.count(MixOp::ReadFile, 1);
            add_all(&mut program.whole_read_sizes, self.reads.sizes);
        } else {
            program.count(MixOp::Read, self.reads.n_in_row);
            program.count(MixOp::RandomRead, self.reads.n_alone);
            add_all(&mut program.read_sizes, self.reads.sizes);
        }
        let writes = self.writes.n + sum(&self.appends) + sum(&self.rewrites);
        if self.writes.is_one_from_0() && self.manner.is_new {
            program.count(MixOp::WriteFile, 1);
            add_all(&mut program.whole_write_sizes, self.writes.sizes);
        } else {
            program.count(MixOp::Write, self.writes.n_in_row);
            program.count(MixOp::RandomWrite, self.writes.n_alone);
            add_all(&mut program.write_sizes, self.writes.sizes);
        }
        program.count(MixOp::Append, sum(&self.appends));
        program.count(MixOp::Rmw, sum(&self.rewrites));
        add_all(&mut program.write_sizes, self.appends);
        add_all(&mut program.write_sizes, self.rewrites);
        program.count(MixOp::CopyFile, u64::from(self.is_copied_to));
        program.count(MixOp::Readdir, u64::from(self.is_listed));
        let moves = self.reads.n + writes > 0;
        program.n_opened_only += u64::from(
            !(moves
                || self.is_copied_to
                || self.is_listed
                || self.n_others > 0
                || self.manner.is_new),
        );
        program.n_moving += u64::from(moves);
        program.n_direct += u64::from(moves && self.manner.is_direct);
        program.n_written += u64::from(writes > 0);
        program.n_dsync += u64::from(writes > 0 && self.manner.is_dsync);
        program.n_synced += u64::from(writes > 0 && self.is_synced);
    }
}

fn sum(sizes: &Sizes) -> u64 {
    sizes.values().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Transfers as `r0+4` or `w4+4`, in a file of 12 bytes.
    #[track_caller]
    fn check(is_new: bool, transfers: &str, expected: &[(MixOp, u64)]) {
        let mut opened =
            OpenFile { manner: Manner { is_new, ..Manner::default() }, ..OpenFile::default() };
        for transfer in transfers.split_whitespace() {
            let (at, len) = transfer[1..].split_once('+').unwrap();
            let (at, len) = (at.parse().unwrap(), len.parse().unwrap());
            match &transfer[..1] {
                "r" => opened.read(at, len, Some(4)),
                _ => opened.write(at, len, (!is_new).then_some(12)),
            }
        }
        let mut program = Program::default();
        opened.count(&mut program, (!is_new).then_some(12));
        let found: Vec<(MixOp, u64)> = program.ops.into_iter().collect();
        assert_eq!(found, expected, "{transfers}");
    }

    #[test]
    fn transfers_become_operations() {
        check(false, "r0+4 r4+4 r8+4", &[(MixOp::Read, 3)]);
        check(false, "r4+4 r0+4 r8+4", &[(MixOp::RandomRead, 3)]);
        check(false, "r0+4", &[(MixOp::RandomRead, 1)]);
        // The end of the file came with it.
        check(false, "r0+3", &[(MixOp::ReadFile, 1)]);
        check(false, "r0+4 r4+0", &[(MixOp::ReadFile, 1)]);
        check(false, "r0+4 r4+4 r0+4", &[(MixOp::Read, 2), (MixOp::RandomRead, 1)]);
        check(true, "w0+4", &[(MixOp::WriteFile, 1)]);
        check(true, "w0+4 w4+4", &[(MixOp::Write, 2)]);
        check(false, "w0+4", &[(MixOp::RandomWrite, 1)]);
        check(false, "w12+4", &[(MixOp::Append, 1)]);
        check(false, "r4+4 w4+4", &[(MixOp::Rmw, 1)]);
        check(false, "r4+4 w8+4", &[(MixOp::RandomRead, 1), (MixOp::RandomWrite, 1)]);
    }
}
