//! How much a text looks like one of a dialect's: one scale for every dialect.

/// How much a text looks like one of a dialect's. The larger is the likelier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Likeness {
    /// What every text of the dialect has is not there.
    None,
    /// It is, and the dialect would know so many percent of the first lines, 1..=100.
    Share(u8),
    /// The text names the dialect itself: no share of another one is more than that.
    Declared,
}

impl Likeness {
    /// Returns the likeness of a text of which so many percent are known.
    pub(crate) fn of_pct(pct: u8) -> Self {
        assert!(pct <= 100, "{pct} % of the lines are known");
        if pct == 0 { Likeness::None } else { Likeness::Share(pct) }
    }
}

/// Most lines that are looked at; comments and empty ones do not count.
pub(crate) const LINES_MAX: usize = 400;

/// Returns the share of known lines in percent, 0 where there are no lines.
pub(crate) fn pct(n_known: usize, n_lines: usize) -> u8 {
    (n_known.min(n_lines) * 100 / n_lines.max(1)) as u8
}
