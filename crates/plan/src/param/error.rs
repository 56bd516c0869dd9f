//! What is wrong with a value that a parameter is given.

/// Why a parameter does not take a value.
///
/// Displayed, each is a phrase that goes on where "value `x` of `y`" stops, and says what to write
/// instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ValueError {
    /// The value's variant does not belong to the entry's kind: a mistake of the dialect.
    #[error("was read as {found}, and {expected} was expected")]
    WrongKind {
        /// What the kind stands for.
        expected: &'static str,
        /// The value.
        found: String,
    },
    /// Text that is no number, or one that the parameter has no room for.
    #[error("holds `{text}`, which is no number, or one out of range")]
    NotANumber {
        /// The text.
        text: String,
    },
    /// A word that the parameter does not know.
    #[error("holds the unknown word `{word}`; expected one of {}", known.join(", "))]
    UnknownWord {
        /// The word.
        word: String,
        /// Those that it knows.
        known: Vec<&'static str>,
    },
    /// More or fewer words than one.
    #[error("holds {n_words} words; write one")]
    NotOneWord {
        /// How many there are.
        n_words: usize,
    },
    /// A part of the value that makes no sense in its place.
    #[error("has {found} as {place}; write {expected}")]
    Unfit {
        /// The part.
        found: String,
        /// What it stands for, with its article.
        place: &'static str,
        /// What makes sense there.
        expected: &'static str,
    },
    /// A part that is left out.
    #[error("lacks {part}; write it as in `{example}`")]
    Lacks {
        /// The part, with its article.
        part: &'static str,
        /// A value that has it.
        example: &'static str,
    },
    /// Too many of something.
    #[error("has more than {n_max} {parts}")]
    TooMany {
        /// What they are.
        parts: &'static str,
        /// Most that may be.
        n_max: usize,
    },
    /// What the value asks for is not built in.
    #[error("asks for {what}, which is not supported yet; {instead}")]
    NotSupported {
        /// What it asks for.
        what: &'static str,
        /// What to write instead.
        instead: &'static str,
    },
    /// An address that is none.
    #[error("{0}")]
    Address(String),
}

impl ValueError {
    /// Reports that a part of a value makes no sense in its place.
    pub(super) fn unfit(
        found: &impl ToString,
        place: &'static str,
        expected: &'static str,
    ) -> ValueError {
        ValueError::Unfit { found: found.to_string(), place, expected }
    }
}
