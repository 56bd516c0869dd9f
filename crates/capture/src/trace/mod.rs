//! Readers of traces, and what they have in common: a meter that single I/Os are given to.
//!
//! A trace of any length takes the memory of what it is about: devices, processes, and I/Os in
//! flight, each with a limit.

pub(crate) mod biosnoop;
pub(crate) mod blkparse;
pub(crate) mod iolog;
mod meter;
mod table;

/// Reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Direction {
    Read,
    Write,
    /// Counted, and nothing else.
    Discard,
}

impl Direction {
    /// Reads the letters of Linux: `R`, `WS`, `RA`, `FWFS`, `DS`; none where nothing is moved.
    pub(crate) fn of_letters(letters: &[u8]) -> Option<Direction> {
        letters.iter().find_map(|letter| match letter {
            b'R' => Some(Direction::Read),
            b'W' => Some(Direction::Write),
            b'D' => Some(Direction::Discard),
            _ => None,
        })
    }
}
