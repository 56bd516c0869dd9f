//! Keywords: which one an abbreviation stands for.
//!
//! Vdbench takes the first keyword of a section that begins with what was written. The tables of
//! the sections are in that order.

/// A keyword, or other names of the same one.
#[derive(Clone, Copy, Debug)]
pub(super) enum Name {
    /// May be abbreviated.
    Any(&'static str),
    /// Must be written in full.
    Full(&'static str),
    /// Every keyword that begins so.
    Stem(&'static str),
}

impl Name {
    fn fits(self, written: &str) -> bool {
        match self {
            Name::Any(name) => name.starts_with(written),
            Name::Full(name) => name == written,
            Name::Stem(stem) => written.starts_with(stem),
        }
    }

    fn text(self) -> &'static str {
        match self {
            Name::Any(name) | Name::Full(name) | Name::Stem(name) => name,
        }
    }
}

/// A section's keywords, in order.
pub(super) type Table<K> = [(Name, K)];

/// Returns what a keyword stands for.
pub(super) fn find<K: Copy>(table: &Table<K>, written: &str) -> Option<K> {
    table.iter().find(|(name, _)| name.fits(written)).map(|(_, key)| *key)
}

/// Returns the full name of a keyword; `None` where what was written is all there is.
pub(super) fn name<K: Copy>(table: &Table<K>, written: &str) -> Option<&'static str> {
    let (name, _) = table.iter().find(|(name, _)| name.fits(written))?;
    match name {
        Name::Any(name) | Name::Full(name) => Some(name),
        Name::Stem(_) => None,
    }
}

/// Returns what a keyword written in full stands for.
pub(super) fn find_full<K: Copy>(table: &Table<K>, written: &str) -> Option<K> {
    table.iter().find(|(name, _)| name.text() == written).map(|(_, key)| *key)
}

/// Returns the keyword that was most likely meant.
pub(super) fn nearest<K>(table: &Table<K>, written: &str) -> Option<&'static str> {
    let names = table.iter().map(|(name, _)| name.text());
    units::nearest(written, names).first().copied()
}

/// Returns all names of a section, beginnings of names among them.
#[cfg(test)]
pub(super) fn names<K>(table: &Table<K>) -> Vec<&'static str> {
    table.iter().map(|(name, _)| name.text()).collect()
}
