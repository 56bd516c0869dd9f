//! What parsing a number can say beside the number.

/// A number and what was odd about its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parsed<T> {
    /// The value, as the dialect means the text.
    pub value: T,
    /// Where the value is not what a reader would expect; empty for plain text.
    pub warnings: Vec<UnitWarning>,
}

impl<T> Parsed<T> {
    /// Returns the same warnings with another value.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Parsed<U> {
        Parsed { value: change(self.value), warnings: self.warnings }
    }
}

/// Why a value is not what its text looks like.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnitWarning {
    /// Decimals, and any unit after them, have no effect.
    #[error("`{ignored}` is ignored: the number ends at its decimal point")]
    FractionCut {
        /// The text without effect.
        ignored: String,
    },
    /// Text after the number or its unit has no effect.
    #[error("`{ignored}` is ignored")]
    GarbageIgnored {
        /// The text without effect.
        ignored: String,
    },
    /// `kib` and its like mean powers of 1000 where `k` means 1024.
    #[error("`{unit}` counts in powers of 1000 with kb_base=1024; write `{plain}` for 1024")]
    InvertedUnit {
        /// The unit as written.
        unit: String,
        /// The unit that means the other base.
        plain: char,
    },
    /// `ki` and its like mean the same as `k`.
    #[error("`{unit}` counts as `{plain}`")]
    PlainPrefix {
        /// The unit as written.
        unit: String,
        /// The unit it counts as.
        plain: char,
    },
    /// A number written in hexadecimal takes no unit.
    #[error("`{ignored}` is ignored: a hexadecimal number takes no unit")]
    HexUnit {
        /// The text without effect.
        ignored: String,
    },
    /// A time has a unit that fio does not know, so it counts as microseconds.
    #[error("`{suffix}` is not a time unit of fio, so the number counts as microseconds")]
    CountsAsMicroseconds {
        /// The text after the digits.
        suffix: String,
    },
    /// A time expression for an option in seconds is cut to whole seconds.
    #[error("{cut_us} us are cut off: this time counts in whole seconds")]
    CutToSeconds {
        /// What is cut off, in microseconds.
        cut_us: u64,
    },
    /// fio computes this expression in 32 bits and gets another value.
    #[error("fio itself computes this in 32 bits and gets another value")]
    Beyond32Bits,
    /// The limits of a range were exchanged.
    #[error("the range is given from high to low")]
    Swapped,
}

/// Why text is not a number of the kind asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnitError {
    /// There is no text.
    #[error("a number is missing")]
    Empty,
    /// The text does not start with a number.
    #[error("`{text}` is not a number")]
    NotANumber {
        /// The text.
        text: String,
    },
    /// The value does not fit.
    #[error("`{text}` is too large")]
    TooLarge {
        /// The text.
        text: String,
    },
    /// The value is below zero.
    #[error("`{text}` is negative")]
    Negative {
        /// The text.
        text: String,
    },
    /// A percentage where only a plain number makes sense.
    #[error("`{text}` is a percentage, and a plain number is needed here")]
    PercentNotAllowed {
        /// The text.
        text: String,
    },
    /// A percentage above 100.
    #[error("`{text}` is more than 100%")]
    PercentRange {
        /// The text.
        text: String,
    },
    /// A number of zones (`5z`) where only a plain number makes sense, or a malformed one.
    #[error("`{text}` is not a number of zones, such as `5z`, or zones make no sense here")]
    Zones {
        /// The text.
        text: String,
    },
    /// A range lacks its separator.
    #[error("`{text}` is not a range, such as `4k-8k`")]
    NotARange {
        /// The text.
        text: String,
    },
    /// An arithmetic expression in parentheses is malformed.
    #[error("`{text}` is not an expression: {what}")]
    Expression {
        /// The text.
        text: String,
        /// What is wrong.
        what: &'static str,
    },
    /// The unit is unknown.
    #[error("`{unit}` in `{text}` is not a unit here; use {expected}")]
    UnknownUnit {
        /// The text.
        text: String,
        /// The part taken as unit.
        unit: String,
        /// The units that fit.
        expected: &'static str,
    },
    /// The number has no unit, and needs one.
    #[error("`{text}` has no unit; use {expected}")]
    MissingUnit {
        /// The text.
        text: String,
        /// The units that fit.
        expected: &'static str,
    },
}
