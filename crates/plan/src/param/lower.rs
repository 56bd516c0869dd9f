//! Helpers of the lowering functions: typed access to a [`Value`], and setting a field from it.
//!
//! A value whose variant does not fit the entry's kind is a mistake of the dialect, not of the
//! user; it is still an error and never a panic.

use super::{AccessValue, Category, Choice, Kind, Param, Support, TimeUnit, Value};
use crate::files::Size;
use crate::verify::PatternPart;
use crate::{Job, PerDir};

/// What an entry has unless it says otherwise; each table writes `..BASE`. Its `lower` changes
/// nothing, for entries that shape the plan, have no effect, or come later.
pub(crate) const BASE: Param = Param {
    name: "",
    fio: &[],
    vdbench: "",
    category: Category::General,
    kind: Kind::Str,
    default: "",
    short: "",
    long: "",
    support: Support::Full,
    lower: |_, _| Ok(()),
};

/// Any count that fits 32 bits.
pub(crate) const COUNT: Kind = Kind::Int { min: 0, max: u32::MAX as i64 };
/// A count of at least one.
pub(crate) const COUNT_FROM_1: Kind = Kind::Int { min: 1, max: u32::MAX as i64 };
/// I/Os in flight per worker. Each takes memory at the start, and no kernel takes more from one
/// program: `fs.aio-max-nr` is 65,536, a ring of `io_uring` has 32,768 entries.
pub(crate) const DEPTH: Kind = Kind::Int { min: 1, max: 1 << 20 };
/// Generated files of a worker, whose names are held in memory: a few GB of them.
pub(crate) const FILES: Kind = Kind::Int { min: 1, max: 1 << 24 };
/// Any non-negative number.
pub(crate) const NUMBER: Kind = Kind::Int { min: 0, max: i64::MAX };
/// A share in percent.
pub(crate) const PERCENT: Kind = Kind::Int { min: 0, max: 100 };
/// Any non-negative number per direction.
pub(crate) const NUMBER_PER_DIR: Kind = Kind::IntPerDir { min: 0, max: i64::MAX };
/// A region: bytes, percent or zones.
pub(crate) const REGION: Kind = Kind::Size { percent: true, zones: true };
/// A duration whose bare number counts seconds.
pub(crate) const SECONDS: Kind = Kind::Time(TimeUnit::Seconds);
/// A duration whose bare number counts microseconds.
pub(crate) const MICROSECONDS: Kind = Kind::Time(TimeUnit::Microseconds);

/// Makes a choice with other spellings.
pub(crate) const fn word(
    name: &'static str,
    aliases: &'static [&'static str],
    help: &'static str,
) -> Choice {
    Choice { name, aliases, help }
}

/// Stores the value, or passes the error on.
pub(crate) fn set<T>(slot: &mut T, value: Result<T, String>) -> Result<(), String> {
    *slot = value?;
    Ok(())
}

/// Stores the value as given, or passes the error on.
pub(crate) fn set_some<T>(slot: &mut Option<T>, value: Result<T, String>) -> Result<(), String> {
    *slot = Some(value?);
    Ok(())
}

/// Stores the number of each direction that was given, converted by `convert`.
pub(crate) fn set_dirs<T>(
    slots: &mut PerDir<T>,
    value: &Value,
    convert: impl Fn(i64) -> Result<T, String>,
) -> Result<(), String> {
    let Value::IntPerDir(given) = value else {
        return Err(mismatch("numbers per direction", value));
    };
    for (dir, number) in given.iter() {
        if let Some(number) = *number {
            slots[dir] = convert(number)?;
        }
    }
    Ok(())
}

/// Narrows a number, or says that it does not fit.
pub(crate) fn narrow<T: TryFrom<i64>>(number: i64) -> Result<T, String> {
    T::try_from(number).map_err(|_| format!("{number} is out of range"))
}

/// Reads a decimal number inside a word list.
pub(crate) fn number<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.trim().parse().map_err(|_| format!("`{text}` is not a number, or out of range"))
}

fn mismatch(expected: &str, value: &Value) -> String {
    format!("expected {expected}, got {value:?}")
}

impl Value {
    pub(crate) fn bool(&self) -> Result<bool, String> {
        match self {
            Value::Bool(on) => Ok(*on),
            other => Err(mismatch("yes or no", other)),
        }
    }

    pub(crate) fn int<T: TryFrom<i64>>(&self) -> Result<T, String> {
        match self {
            Value::Int(number) => narrow(*number),
            other => Err(mismatch("a number", other)),
        }
    }

    pub(crate) fn size(&self) -> Result<Size, String> {
        match self {
            Value::Size(size) => Ok(*size),
            other => Err(mismatch("a size", other)),
        }
    }

    /// Returns a size that must be in bytes, because nothing is there to take a share of.
    pub(crate) fn bytes(&self) -> Result<u64, String> {
        match self.size()? {
            Size::Bytes(bytes) => Ok(bytes),
            Size::Percent(_) | Size::Zones(_) => {
                Err("a share or a count of zones is not possible here; write bytes".to_owned())
            }
        }
    }

    pub(crate) fn size_range(&self) -> Result<(u64, u64), String> {
        match self {
            Value::SizeRange(min, max) => Ok((*min, *max)),
            other => Err(mismatch("a range of sizes", other)),
        }
    }

    pub(crate) fn time_ns(&self) -> Result<u64, String> {
        match self {
            Value::TimeNs(ns) => Ok(*ns),
            other => Err(mismatch("a duration", other)),
        }
    }

    pub(crate) fn time_range_ns(&self) -> Result<(u64, u64), String> {
        match self {
            Value::TimeRangeNs(min, max) => Ok((*min, *max)),
            Value::TimeNs(ns) => Ok((*ns, *ns)),
            other => Err(mismatch("a duration or a range", other)),
        }
    }

    pub(crate) fn float(&self) -> Result<f64, String> {
        match self {
            Value::Float(number) => Ok(*number),
            other => Err(mismatch("a fraction", other)),
        }
    }

    pub(crate) fn floats(&self) -> Result<Vec<f64>, String> {
        match self {
            Value::Floats(numbers) => Ok(numbers.clone()),
            other => Err(mismatch("a list of fractions", other)),
        }
    }

    pub(crate) fn choice(&self) -> Result<&'static str, String> {
        match self {
            Value::Choice(name) => Ok(name),
            other => Err(mismatch("a word", other)),
        }
    }

    /// Returns what the chosen word stands for.
    pub(crate) fn pick<T: Copy>(&self, meanings: &[(&str, T)]) -> Result<T, String> {
        let name = self.choice()?;
        let found = meanings.iter().find(|(word, _)| *word == name);
        found.map(|(_, meaning)| *meaning).ok_or_else(|| format!("unknown word `{name}`"))
    }

    pub(crate) fn text(&self) -> Result<String, String> {
        match self {
            Value::Str(text) => Ok(text.clone()),
            other => Err(mismatch("text", other)),
        }
    }

    /// Returns the text, or nothing where none was written.
    pub(crate) fn text_or_empty(&self) -> Result<String, String> {
        match self {
            Value::Absent => Ok(String::new()),
            other => other.text(),
        }
    }

    pub(crate) fn paths(&self) -> Result<Vec<String>, String> {
        match self {
            Value::Paths(paths) => Ok(paths.clone()),
            other => Err(mismatch("paths", other)),
        }
    }

    pub(crate) fn numbers(&self) -> Result<Vec<u32>, String> {
        match self {
            Value::Numbers(numbers) => Ok(numbers.clone()),
            other => Err(mismatch("a list of numbers", other)),
        }
    }

    pub(crate) fn access(&self) -> Result<AccessValue, String> {
        match self {
            Value::Access(access) => Ok(*access),
            other => Err(mismatch("directions", other)),
        }
    }

    pub(crate) fn pattern(&self) -> Result<Vec<PatternPart>, String> {
        match self {
            Value::Pattern(parts) => Ok(parts.clone()),
            other => Err(mismatch("a pattern", other)),
        }
    }

    pub(crate) fn words(&self) -> Result<&[(String, Option<String>)], String> {
        match self {
            Value::Words(words) => Ok(words),
            other => Err(mismatch("words", other)),
        }
    }

    /// Returns the only word and what stood behind its colon.
    pub(crate) fn one_word(&self) -> Result<(&str, Option<&str>), String> {
        match self.words()? {
            [(word, argument)] => Ok((word, argument.as_deref())),
            words => Err(format!("expected one word, got {}", words.len())),
        }
    }

    /// Stores what was given for each direction of `PrioritySplit`.
    pub(crate) fn set_priority_split(&self, job: &mut Job) -> Result<(), String> {
        let Value::PrioritySplit(given) = self else {
            return Err(mismatch("sizes with shares and priorities", self));
        };
        for (dir, shares) in given.iter() {
            if let Some(shares) = shares {
                job.engine.priority_split[dir].clone_from(shares);
            }
        }
        Ok(())
    }

    /// Stores what was given for each direction of `BlockRange` or `BlockSplit`.
    pub(crate) fn set_block_sizes(&self, job: &mut Job) -> Result<(), String> {
        let Value::BlockSizes(given) = self else {
            return Err(mismatch("block sizes", self));
        };
        for (dir, sizes) in given.iter() {
            if let Some(sizes) = sizes {
                job.workload.block_size[dir] = sizes.clone();
            }
        }
        Ok(())
    }
}
