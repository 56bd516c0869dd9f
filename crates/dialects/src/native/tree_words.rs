//! Words of `[step.job.tree]`, and what they stand for.

use plan::tree::{Before, FileIo, Locality, SelectFilter, SelectOrder};

/// How I/O goes through a file. One that is removed first is always walked from its start.
pub(super) const IO: [(&str, FileIo); 5] = [
    ("random", FileIo::Random { shared: false }),
    ("random_shared", FileIo::Random { shared: true }),
    ("sequential", FileIo::Sequential { nonzero: false, delete: false }),
    ("sequential_nonzero", FileIo::Sequential { nonzero: true, delete: false }),
    ("sequential_delete", FileIo::Sequential { nonzero: false, delete: true }),
];

/// Which file comes next; midpoints as where none is written.
pub(super) const ORDERS: [(&str, SelectOrder); 6] = [
    ("random", SelectOrder::Random),
    ("sequential", SelectOrder::Seq),
    ("sequential_nonzero", SelectOrder::SeqNz),
    ("poisson", SelectOrder::Poisson(3.0)),
    ("skewed", SelectOrder::Skewed(3.0)),
    ("hot", SelectOrder::Hot(Locality { ops_pct: 80.0, of_pct: 20.0 })),
];

/// Which files are taken at all.
pub(super) const FILTERS: [(&str, SelectFilter); 5] = units::all_of!(
    SelectFilter:
    "any" => Any,
    "present" => Present,
    "empty" => Empty,
    "full" => Full,
    "not_full" => NotFull,
);

/// What leads to a write.
pub(super) const BEFORE: [(&str, Before); 4] = units::all_of!(
    Before:
    "nothing" => Nothing,
    "read" => ReadsPlace,
    "read_other" => ReadsOther,
    "cut" => CutsEnd,
);

/// Returns the word for what leads to a write.
pub fn before_word(before: Before) -> &'static str {
    word_for(&BEFORE, |it| *it == before)
}

/// Returns the word for how I/O goes through a file.
pub fn io_word(io: FileIo) -> &'static str {
    let io = match io {
        FileIo::Sequential { delete: true, .. } => {
            FileIo::Sequential { nonzero: false, delete: true }
        }
        io @ (FileIo::Random { .. } | FileIo::Sequential { .. }) => io,
    };
    word_for(&IO, |it| *it == io)
}

/// Returns the words for which file comes next: its order, and the midpoint or the shares of one
/// that has them.
pub fn order_words(order: SelectOrder) -> String {
    let kind = std::mem::discriminant(&order);
    let word = word_for(&ORDERS, |it| std::mem::discriminant(it) == kind);
    match order {
        SelectOrder::Random | SelectOrder::Seq | SelectOrder::SeqNz => word.to_owned(),
        SelectOrder::Poisson(midpoint) | SelectOrder::Skewed(midpoint) => {
            format!("{word} {midpoint}")
        }
        SelectOrder::Hot(locality) => format!("{word} {}", locality_words(locality)),
    }
}

/// Returns the words for a share of operations and what it goes to: `90/10`.
pub fn locality_words(Locality { ops_pct, of_pct }: Locality) -> String {
    format!("{ops_pct}/{of_pct}")
}

/// Returns the word for which files are taken at all.
pub fn filter_word(filter: SelectFilter) -> &'static str {
    word_for(&FILTERS, |it| *it == filter)
}

fn word_for<T>(words: &[(&'static str, T)], is_it: impl Fn(&T) -> bool) -> &'static str {
    words.iter().find(|(_, it)| is_it(it)).expect("each has a word").0
}
