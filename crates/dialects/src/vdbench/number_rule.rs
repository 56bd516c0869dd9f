//! Values that Vdbench takes and that make no sense. The kind mode refuses them.

/// What a number must be.
#[derive(Clone, Copy, Debug)]
pub(super) struct NumberRule {
    min: f64,
    max: f64,
    is_whole: bool,
    multiple_of: f64,
    /// The largest amount, of either sign, that any mode takes, and how it is written: beyond it
    /// Vdbench takes another number without a word, or crashes.
    limit: (f64, &'static str),
    /// Behind `write `.
    wanted: &'static str,
}

const ANY: NumberRule = NumberRule {
    min: 0.0,
    max: f64::MAX,
    is_whole: false,
    multiple_of: 0.0,
    limit: (f64::MAX, ""),
    wanted: "a number",
};

/// Whatever it is.
pub(super) const FREE: NumberRule = NumberRule { min: f64::MIN, ..ANY };

/// What signed integers of 32 bits hold.
const INT_LIMIT: (f64, &str) = (2_147_483_647.0, "2147483647");

/// The longest time, and how it is written.
pub(super) const TIME_MAX_S: u64 = 315_360_000;
const TIME_LIMIT: (f64, &str) = (TIME_MAX_S as f64, "315360000 seconds (ten years)");

pub(super) const PERCENT: NumberRule =
    NumberRule { max: 100.0, wanted: "a percentage, from 0 to 100", ..ANY };
pub(super) const SEEK: NumberRule = NumberRule {
    min: -1.0,
    max: 100.0,
    wanted: "a percentage, from 0 (sequential) to 100 (random), or -1 for eof",
    ..ANY
};
pub(super) const COMPRESSION: NumberRule = NumberRule {
    min: f64::MIN_POSITIVE,
    max: 100.0,
    wanted: "a percentage above 0, up to 100",
    ..ANY
};
pub(super) const COUNT: NumberRule = NumberRule {
    min: 1.0,
    is_whole: true,
    limit: INT_LIMIT,
    wanted: "a whole number, 1 or more",
    ..ANY
};
/// Each has memory and a turn of its own: a hundred thousand are far more than any device takes.
pub(super) const THREADS: NumberRule =
    NumberRule { limit: (THREADS_MAX as f64, "100000"), ..COUNT };
/// The most that one definition, and that all of a run together may have.
pub(super) const THREADS_MAX: u64 = 100_000;
pub(super) const SECONDS: NumberRule = NumberRule {
    is_whole: true,
    limit: TIME_LIMIT,
    wanted: "whole seconds; `m` behind it makes them minutes, `h` hours",
    ..ANY
};
/// A time that must be above 0.
pub(super) const DURATION: NumberRule = NumberRule { min: 1.0, ..SECONDS };
pub(super) const BYTES: NumberRule =
    NumberRule { wanted: "bytes, with k, m, g or t behind the number", ..ANY };
pub(super) const SIZE: NumberRule =
    NumberRule { min: 1.0, wanted: "bytes above 0, with k, m, g or t behind the number", ..ANY };
pub(super) const XFERSIZE: NumberRule = NumberRule { limit: INT_LIMIT, ..SIZE };
pub(super) const SECTORS: NumberRule = NumberRule {
    min: 512.0,
    multiple_of: 512.0,
    limit: INT_LIMIT,
    wanted: "a multiple of 512 bytes, such as 4k",
    ..ANY
};
pub(super) const ABOVE_ZERO: NumberRule =
    NumberRule { min: f64::MIN_POSITIVE, wanted: "a number above 0", ..ANY };
pub(super) const RATE: NumberRule =
    NumberRule { limit: INT_LIMIT, wanted: "a number above 0, or max", ..ABOVE_ZERO };
/// A rate of a list, which may be a share of another, or seconds.
pub(super) const RATE_OF_LIST: NumberRule = NumberRule { min: f64::MIN, ..RATE };
pub(super) const RATIO: NumberRule = NumberRule { min: 1.0, wanted: "a ratio, 1 or more", ..ANY };

impl NumberRule {
    fn holds(&self, number: f64) -> bool {
        number >= self.min
            && number <= self.max
            && (!self.is_whole || number.fract() == 0.0)
            && (self.multiple_of == 0.0 || number % self.multiple_of == 0.0)
    }

    /// Returns what to write in place of a number that makes no sense, in the kind mode, or that no
    /// mode takes.
    pub(super) fn instead_of(&self, number: f64, is_kind: bool) -> Option<String> {
        let (limit, limit_written) = self.limit;
        let is_within = number.abs() <= limit;
        if is_within && (!is_kind || self.holds(number)) {
            None
        } else if limit_written.is_empty() || is_within {
            Some(self.wanted.to_owned())
        } else {
            Some(format!("{}, at most {limit_written}", self.wanted))
        }
    }
}
