//! What was written and must be read back.
//!
//! The log is a named exception to the rule that memory does not grow with the run: 16 bytes per
//! write as long as no block is written twice, about 50 where that may happen.

use plan::op::FileIdx;
use std::collections::{BTreeMap, VecDeque};

/// A write to be read back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteRecord {
    /// Offset in the file, bytes.
    pub offset: u64,
    /// Position among the worker's writes, from 0.
    pub number_io: u64,
    /// Length in bytes, at least 1.
    pub len: u32,
    /// File.
    pub file: FileIdx,
    /// The block was trimmed since.
    pub trimmed: bool,
}

/// The writes of one worker that are not verified yet.
///
/// Writes are recorded when they are issued, in the order of their numbers: of two writes to the
/// same bytes the one issued last counts, and the earlier one is forgotten as a whole, as in fio.
/// Without overwriting, blocks come out in the order they were written; otherwise by file and
/// offset, which is fio's order too.
#[derive(Clone, Debug)]
pub struct WriteLog {
    entries: Entries,
    /// Number of the first write in the list, from which the others count.
    base_number_io: u64,
    n_forgotten: usize,
}

#[derive(Clone, Debug)]
enum Entries {
    /// In the order of writing. Never two for the same bytes.
    List(VecDeque<Packed>),
    /// By place. Never two for the same bytes.
    Tree(BTreeMap<(FileIdx, u64), Placed>),
}

/// 16 bytes per write. A length of 0 is a write that was forgotten.
#[derive(Clone, Copy, Debug)]
struct Packed {
    offset_low: u32,
    offset_high: u16,
    file: u16,
    number_io: u32,
    /// The top bit says that the block was trimmed.
    len: u32,
}

#[derive(Clone, Copy, Debug)]
struct Placed {
    number_io: u64,
    len: u32,
    trimmed: bool,
}

const TRIMMED: u32 = 1 << 31;

impl Packed {
    /// Packs a record; `None` when a field is out of range (offsets from 256 TiB, files from
    /// 65,536, lengths from 2 GiB, 2^32 writes).
    fn of(record: &WriteRecord, base_number_io: u64) -> Option<Self> {
        let number_io = record.number_io.checked_sub(base_number_io)?;
        (record.len < TRIMMED).then_some(())?;
        Some(Packed {
            offset_low: record.offset as u32,
            offset_high: u16::try_from(record.offset >> 32).ok()?,
            file: u16::try_from(record.file.0).ok()?,
            number_io: u32::try_from(number_io).ok()?,
            len: record.len | if record.trimmed { TRIMMED } else { 0 },
        })
    }

    fn unpack(self, base_number_io: u64) -> WriteRecord {
        WriteRecord {
            offset: u64::from(self.offset_high) << 32 | u64::from(self.offset_low),
            number_io: base_number_io + u64::from(self.number_io),
            len: self.len & !TRIMMED,
            file: FileIdx(u32::from(self.file)),
            trimmed: self.len & TRIMMED != 0,
        }
    }
}

impl WriteLog {
    /// Creates an empty log; `may_overwrite` as in [`Checks`](super::Checks).
    pub fn new(may_overwrite: bool) -> Self {
        let entries = if may_overwrite {
            Entries::Tree(BTreeMap::new())
        } else {
            Entries::List(VecDeque::new())
        };
        WriteLog { entries, base_number_io: 0, n_forgotten: 0 }
    }

    /// Returns the number of writes to be read back.
    pub fn len(&self) -> usize {
        match &self.entries {
            Entries::List(list) => list.len() - self.n_forgotten,
            Entries::Tree(tree) => tree.len(),
        }
    }

    /// Returns whether nothing is to be read back.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.n_forgotten = 0;
        match &mut self.entries {
            Entries::List(list) => list.clear(),
            Entries::Tree(tree) => tree.clear(),
        }
    }

    /// Notes a write. Numbers must ascend from call to call.
    ///
    /// # Panics
    /// If they do not.
    pub fn record(&mut self, record: WriteRecord) {
        if record.len == 0 {
            return;
        }
        match &mut self.entries {
            Entries::List(list) => {
                if list.is_empty() {
                    self.base_number_io = record.number_io;
                }
                let last = list.back().map(|last| self.base_number_io + u64::from(last.number_io));
                let ascends = last.is_none_or(|last| last < record.number_io);
                assert!(ascends, "writes are noted in the order of their numbers");
                if let Some(packed) = Packed::of(&record, self.base_number_io) {
                    list.push_back(packed);
                } else {
                    self.grow_into_tree();
                    self.record(record);
                }
            }
            Entries::Tree(tree) => {
                remove_overlapping(tree, record.file, record.offset, record.len);
                let WriteRecord { number_io, len, trimmed, .. } = record;
                let placed = Placed { number_io, len, trimmed };
                tree.insert((record.file, record.offset), placed);
            }
        }
    }

    /// Forgets a write that failed or whose fate is unknown, so that its bytes may be anything.
    ///
    /// What it replaced stays forgotten. Returns whether it was there to be forgotten.
    pub fn forget(&mut self, record: &WriteRecord) -> bool {
        let base_number_io = self.base_number_io;
        match &mut self.entries {
            Entries::List(list) => {
                let found =
                    find(list, record.number_io, base_number_io).filter(|packed| packed.len != 0);
                let Some(packed) = found else { return false };
                packed.len = 0;
                self.n_forgotten += 1;
                true
            }
            Entries::Tree(tree) => {
                let key = (record.file, record.offset);
                let found = tree.get(&key).is_some_and(|it| it.number_io == record.number_io);
                found && tree.remove(&key).is_some()
            }
        }
    }

    /// Notes that the block of a write was trimmed. Returns whether it was still to be read back.
    pub fn mark_trimmed(&mut self, record: &WriteRecord) -> bool {
        let base_number_io = self.base_number_io;
        match &mut self.entries {
            Entries::List(list) => {
                let found =
                    find(list, record.number_io, base_number_io).filter(|packed| packed.len != 0);
                let Some(packed) = found else { return false };
                packed.len |= TRIMMED;
                true
            }
            Entries::Tree(tree) => {
                let found = tree.get_mut(&(record.file, record.offset));
                let Some(placed) = found.filter(|it| it.number_io == record.number_io) else {
                    return false;
                };
                placed.trimmed = true;
                true
            }
        }
    }

    /// Takes the next write to be read back that is no longer in flight.
    ///
    /// `in_flight` returns whether the write with a number has not completed. In the order of
    /// writing one write in flight holds back those after it; in the order of places it is passed
    /// over.
    pub fn take(&mut self, mut in_flight: impl FnMut(u64) -> bool) -> Option<WriteRecord> {
        match &mut self.entries {
            Entries::List(list) => {
                while list.front().is_some_and(|packed| packed.len == 0) {
                    list.pop_front();
                    self.n_forgotten -= 1;
                }
                let record = list.front()?.unpack(self.base_number_io);
                if in_flight(record.number_io) {
                    return None;
                }
                list.pop_front();
                Some(record)
            }
            Entries::Tree(tree) => {
                let (&key, &placed) =
                    tree.iter().find(|(_, placed)| !in_flight(placed.number_io))?;
                tree.remove(&key);
                Some(placed.at(key))
            }
        }
    }

    /// Iterates over the writes to be read back, in the order of [`WriteLog::take`].
    pub fn iter(&self) -> impl Iterator<Item = WriteRecord> + '_ {
        let (list, tree) = match &self.entries {
            Entries::List(list) => (Some(list), None),
            Entries::Tree(tree) => (None, Some(tree)),
        };
        let listed = list.into_iter().flatten().filter(|packed| packed.len != 0);
        let placed = tree.into_iter().flatten();
        listed
            .map(|packed| packed.unpack(self.base_number_io))
            .chain(placed.map(|(&key, placed)| placed.at(key)))
    }

    /// Goes over to the tree, which holds any value.
    fn grow_into_tree(&mut self) {
        let tree = self
            .iter()
            .map(|WriteRecord { offset, number_io, len, file, trimmed }| {
                ((file, offset), Placed { number_io, len, trimmed })
            })
            .collect();
        self.entries = Entries::Tree(tree);
        self.n_forgotten = 0;
    }
}

impl Placed {
    fn at(self, (file, offset): (FileIdx, u64)) -> WriteRecord {
        let Placed { number_io, len, trimmed } = self;
        WriteRecord { offset, number_io, len, file, trimmed }
    }
}

/// Finds a write by its number; the list ascends by it.
fn find(list: &mut VecDeque<Packed>, number_io: u64, base_number_io: u64) -> Option<&mut Packed> {
    let relative = u32::try_from(number_io.checked_sub(base_number_io)?).ok()?;
    let idx = list.binary_search_by_key(&relative, |packed| packed.number_io).ok()?;
    list.get_mut(idx)
}

/// Removes what lies in the given bytes, wholly or in part.
fn remove_overlapping(
    tree: &mut BTreeMap<(FileIdx, u64), Placed>,
    file: FileIdx,
    offset: u64,
    len: u32,
) {
    let end = offset.saturating_add(u64::from(len));
    // Entries do not overlap each other, so going down from the end stops at the first one that
    // ends before the start.
    while let Some((&key, placed)) = tree.range((file, 0)..(file, end)).next_back()
        && key.1.saturating_add(u64::from(placed.len)) > offset
    {
        tree.remove(&key);
    }
}
