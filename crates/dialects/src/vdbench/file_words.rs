//! Words of `fileio=` and `fileselect=`, and what they stand for. Of several that mean the same,
//! the first is written.

use super::run::{FileIo, SelectFilter, SelectOrder};

/// What `fileio=` takes: two words, which may be cut short, the second of which may be missing.
pub(super) const FILE_IO: [(&str, &str, FileIo); 9] = [
    ("random", "", FileIo::Random { shared: false }),
    ("random", "shared", FileIo::Random { shared: true }),
    ("sequential", "", FileIo::Sequential { nonzero: false, delete: false }),
    ("seq", "delete", FileIo::Sequential { nonzero: false, delete: true }),
    ("sequential", "delete", FileIo::Sequential { nonzero: false, delete: true }),
    ("sequentialnz", "", FileIo::Sequential { nonzero: true, delete: false }),
    ("seqnz", "", FileIo::Sequential { nonzero: true, delete: false }),
    ("sequentialnz", "delete", FileIo::Sequential { nonzero: true, delete: true }),
    ("seqnz", "delete", FileIo::Sequential { nonzero: true, delete: true }),
];

/// What a word of `fileselect=` sets.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum SelectWord {
    Order(SelectOrder),
    Once,
    Filter(SelectFilter),
}

/// The midpoint where none is written.
pub(super) const MIDPOINT: f64 = 3.0;

/// The words of `fileselect=`.
pub(super) const SELECT: [(&str, SelectWord); 11] = [
    ("random", SelectWord::Order(SelectOrder::Random)),
    ("seq", SelectWord::Order(SelectOrder::Seq)),
    ("sequential", SelectWord::Order(SelectOrder::Seq)),
    ("seqnz", SelectWord::Order(SelectOrder::SeqNz)),
    ("sequentialnz", SelectWord::Order(SelectOrder::SeqNz)),
    ("skewed", SelectWord::Order(SelectOrder::Skewed(MIDPOINT))),
    ("poisson", SelectWord::Order(SelectOrder::Poisson(MIDPOINT))),
    ("once", SelectWord::Once),
    ("empty", SelectWord::Filter(SelectFilter::Empty)),
    ("full", SelectWord::Filter(SelectFilter::Full)),
    ("notfull", SelectWord::Filter(SelectFilter::NotFull)),
];

/// So many words at the front of [`SELECT`] may be cut short.
pub(super) const N_SELECT_SHORT: usize = 5;
