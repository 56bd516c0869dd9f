//! `Miscellaneous statistics:` below a run of files: what was done how often, warmup included.

use super::number::thousands;
use super::stats::{OPERATIONS, RowStats};
use crate::vdbench::run::FileOperation::{
    self, Access, Close, Copy, Create, Delete, Getattr, Mkdir, Move, Open, Rmdir, Setattr,
};

/// What was done since a run began.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counters {
    length_ns: u64,
    /// In the order of [`OPERATIONS`].
    n: [u64; OPERATIONS.len()],
    /// Opens by workloads that write.
    n_write_opens: u64,
}

/// Names as Vdbench prints them, and what they mean.
const LINES: [(&str, &str, FileOperation); 10] = [
    ("FILE_CREATES", "Files created:", Create),
    ("DIRECTORY_CREATES", "Directories created:", Mkdir),
    ("FILE_DELETES", "Files deleted:", Delete),
    ("DIRECTORY_DELETES", "Directories removed:", Rmdir),
    ("FILE_CLOSES", "Close requests:", Close),
    ("GET_ATTR", "Attributes read:", Getattr),
    ("SET_ATTR", "Attributes written:", Setattr),
    ("ACCESS", "Access rights asked for:", Access),
    ("FILE_COPIES", "Files copied:", Copy),
    ("FILE_MOVES", "Files moved:", Move),
];

impl Counters {
    /// Lets time pass.
    pub fn pass(&mut self, length_ns: u64) {
        self.length_ns = self.length_ns.saturating_add(length_ns);
    }

    /// Adds operations; `writes` says that they are those of a workload that writes.
    pub fn add(&mut self, operation: FileOperation, n: u64, writes: bool) {
        let counts = OPERATIONS.iter().zip(&mut self.n);
        for (_, count) in counts.filter(|(known, _)| **known == operation) {
            *count = count.saturating_add(n);
        }
        if operation == Open && writes {
            self.n_write_opens = self.n_write_opens.saturating_add(n);
        }
    }

    fn of(&self, operation: FileOperation) -> u64 {
        let counts = OPERATIONS.iter().zip(&self.n).find(|(known, _)| **known == operation);
        counts.map_or(0, |(_, count)| *count)
    }

    /// Returns the lines of what occurred.
    pub fn lines(&self) -> Vec<String> {
        let time = RowStats::new(self.length_ns, None);
        let (made, rest) = LINES.split_at(4);
        let counted =
            |&(name, text, op): &(&'static str, &'static str, _)| (name, text, self.of(op));
        let n_read_opens = self.of(Open).saturating_sub(self.n_write_opens);
        let opens = [
            ("READ_OPENS", "Files opened for read activity:", n_read_opens),
            ("WRITE_OPENS", "Files opened for write activity:", self.n_write_opens),
        ];
        let all = made.iter().map(counted).chain(opens).chain(rest.iter().map(counted));
        all.filter(|(_, _, n)| *n > 0)
            .map(|(name, text, n)| misc_line(name, text, n, time.per_s(n as f64)))
            .collect()
    }
}

/// Returns a line of these statistics.
pub fn misc_line(name: &str, text: &str, n: u64, per_s: f64) -> String {
    format!("{name:<20}{text:<40}{:>11}{:>11}/sec", thousands(n), thousands(per_s as u64))
}
