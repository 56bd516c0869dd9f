//! How much a text looks like one of a dialect's: one scale for `sniff` of every dialect.
//!
//! 0 is a text without what every text of the dialect has; else it is the share of the first lines,
//! in percent, that the dialect would know. So the dialect with the larger number is the likelier
//! one, and 100 has nothing in it that speaks against.

/// Most lines that are looked at; comments and empty ones do not count.
pub(crate) const LINES_MAX: usize = 400;

/// Returns the share of known lines in percent, 0 where there are no lines.
pub(crate) fn pct(n_known: usize, n_lines: usize) -> u8 {
    (n_known.min(n_lines) * 100 / n_lines.max(1)) as u8
}
