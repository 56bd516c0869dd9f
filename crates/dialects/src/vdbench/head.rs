//! What every definition of a file has.

use super::findings::SourceRange;

/// What every definition has.
#[derive(Clone, Debug)]
pub(super) struct Head {
    /// `default` is that of what others have that say nothing else.
    pub(super) name: String,
    /// Where it begins.
    pub(super) place: SourceRange,
    /// The keywords that it has.
    pub(super) written: Vec<&'static str>,
}

impl Default for Head {
    fn default() -> Self {
        Head::named("default")
    }
}

impl Head {
    /// Makes that of a definition which stands in no file.
    pub(super) fn named(name: &str) -> Self {
        Head { name: name.to_owned(), place: SourceRange::NONE, written: Vec::new() }
    }

    pub(super) fn is_default(&self) -> bool {
        self.name == "default"
    }

    /// Returns whether a keyword is written in the definition.
    pub(super) fn has(&self, key: &str) -> bool {
        self.written.contains(&key)
    }
}
