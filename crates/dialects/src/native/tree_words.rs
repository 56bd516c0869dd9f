//! Words of `[step.job.tree]`, and what they stand for.

use plan::tree::{FileIo, SelectFilter, SelectOrder};

/// How I/O goes through a file. One that is removed first is always walked from its start.
pub(super) const IO: [(&str, FileIo); 5] = [
    ("random", FileIo::Random { shared: false }),
    ("random_shared", FileIo::Random { shared: true }),
    ("sequential", FileIo::Sequential { nonzero: false, delete: false }),
    ("sequential_nonzero", FileIo::Sequential { nonzero: true, delete: false }),
    ("sequential_delete", FileIo::Sequential { nonzero: false, delete: true }),
];

/// Which file comes next; midpoints as where none is written.
pub(super) const ORDERS: [(&str, SelectOrder); 5] = [
    ("random", SelectOrder::Random),
    ("sequential", SelectOrder::Seq),
    ("sequential_nonzero", SelectOrder::SeqNz),
    ("poisson", SelectOrder::Poisson(3.0)),
    ("skewed", SelectOrder::Skewed(3.0)),
];

/// Which files are taken at all.
pub(super) const FILTERS: [(&str, SelectFilter); 4] = [
    ("any", SelectFilter::Any),
    ("empty", SelectFilter::Empty),
    ("full", SelectFilter::Full),
    ("not_full", SelectFilter::NotFull),
];

/// Returns the word of a table for a value.
pub(super) fn word_for<T>(words: &[(&'static str, T)], is_it: impl Fn(&T) -> bool) -> &'static str {
    words.iter().find(|(_, it)| is_it(it)).map_or("", |(word, _)| word)
}
