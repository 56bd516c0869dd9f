//! How well a published number is known, and the mark that says so in a cell.

/// How well a figure is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Exactness {
    /// Published in a unit that means one thing, or its bytes are known from elsewhere.
    Exact,
    /// Published in "MB/s", which may be 10^6, 1,024,000 or 2^20 bytes; taken as 10^6.
    UnitUnclear,
    /// Published rounded down to whole units.
    RoundedDown,
    /// Published as "about", or measured.
    About,
    /// Published as "more than".
    AtLeast,
    /// Not published: worked out from published figures, as the item's notes say.
    Derived,
}

impl Exactness {
    /// Returns what stands before the number in a cell; nothing where the unit says the rest.
    pub(crate) fn mark(self) -> &'static str {
        match self {
            Exactness::About => "~",
            Exactness::AtLeast => ">",
            Exactness::Derived => "=",
            Exactness::Exact | Exactness::UnitUnclear | Exactness::RoundedDown => "",
        }
    }

    /// Takes the mark off a cell, and returns what it means.
    pub(crate) fn of_mark(cell: &str) -> (Option<Self>, &str) {
        let marked = [Exactness::About, Exactness::AtLeast, Exactness::Derived];
        let found = marked.iter().find_map(|it| Some((Some(*it), cell.strip_prefix(it.mark())?)));
        found.unwrap_or((None, cell))
    }
}
