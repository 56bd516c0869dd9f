//! How values are written: as one would in a fio job file. It follows from the value alone, and
//! from the parameter's unit.

use super::entry::{AccessValue, Param, Value};
use super::workload::access_word;
use crate::files::{Size, escape_path};
use crate::verify::PatternPart;
use crate::workload::{BlockSize, Distribution, fio_normal_parameter_pct};
use crate::{IoPriority, PerDir, PriorityShare};

impl Param {
    /// Writes a value of the parameter as one would in a fio job file whose `k` is `kb_base` bytes.
    ///
    /// # Panics
    /// If `k` is neither 1000 nor 1024, or the value a walk that no word means.
    pub fn text(&self, value: &Value, kb_base: u32) -> String {
        assert!(matches!(kb_base, 1000 | 1024), "`{}` is written with a k of {kb_base}", self.name);
        let printer = Printer { has_suffixes: kb_base == 1024 };
        let counts_bytes = matches!(self.unit(), "bytes" | "bytes/s");
        let number = |number: &i64| match u64::try_from(*number) {
            Ok(bytes) if counts_bytes => printer.bytes(bytes),
            _ => number.to_string(),
        };
        match value {
            Value::Bool(on) => u8::from(*on).to_string(),
            Value::Int(it) => number(it),
            Value::IntPerDir(dirs) => per_dir(dirs, number),
            Value::Size(size) => printer.size(*size),
            Value::SizeRange(min, max) => printer.range(*min, *max),
            Value::TimeNs(ns) => time(*ns),
            Value::TimeRangeNs(min, max) if min == max => time(*min),
            Value::TimeRangeNs(min, max) => format!("{}-{}", time(*min), time(*max)),
            Value::TimePerDirNs(dirs) => per_dir(dirs, |ns| time(*ns)),
            Value::Float(number) => number.to_string(),
            Value::Floats(numbers) => list(numbers, ":", f64::to_string),
            Value::Choice(word) => (*word).to_owned(),
            Value::Str(text) => text.clone(),
            Value::Absent => String::new(),
            Value::Paths(paths) => list(paths, ":", |path| escape_path(path)),
            Value::Numbers(numbers) => list(numbers, ",", u32::to_string),
            Value::Access(access) => walk(*access),
            Value::BlockSizes(dirs) => per_dir(dirs, |size| printer.block_size(size)),
            Value::PrioritySplit(dirs) => {
                per_dir(dirs, |shares| list(shares, ":", |share| printer.share(share)))
            }
            Value::Distribution(dirs) => {
                per_dir(&dirs.clone().map(Some), |spread| printer.spread(spread))
            }
            Value::Pattern(parts) => list(parts, "", pattern_part),
            Value::Words(words) => list(words, ",", |(word, argument)| match argument {
                Some(argument) => format!("{word}:{argument}"),
                None => word.clone(),
            }),
        }
    }
}

/// How sizes are written. Where a job counts in 1000s, suffixes mean something else and none is
/// written.
#[derive(Clone, Copy)]
struct Printer {
    has_suffixes: bool,
}

impl Printer {
    /// Writes bytes with the largest binary suffix that leaves a whole number.
    fn bytes(self, bytes: u64) -> String {
        let units = [(1_u64 << 40, "t"), (1 << 30, "g"), (1 << 20, "m"), (1 << 10, "k")];
        let fits = |unit: u64| self.has_suffixes && bytes > 0 && bytes.is_multiple_of(unit);
        match units.iter().find(|(unit, _)| fits(*unit)) {
            Some((unit, suffix)) => format!("{}{suffix}", bytes / unit),
            None => bytes.to_string(),
        }
    }

    fn size(self, size: Size) -> String {
        match size {
            Size::Bytes(bytes) => self.bytes(bytes),
            Size::Percent(pct) => format!("{pct}%"),
            Size::Zones(zones) => format!("{zones}z"),
        }
    }

    fn range(self, min: u64, max: u64) -> String {
        if min == max {
            return self.bytes(min);
        }
        format!("{}-{}", self.bytes(min), self.bytes(max))
    }

    fn block_size(self, size: &BlockSize) -> String {
        match size {
            BlockSize::Fixed(bytes) => self.bytes((*bytes).into()),
            BlockSize::Range { min, max } | BlockSize::Stepped { min, max, .. } => {
                format!("{}-{}", self.bytes((*min).into()), self.bytes((*max).into()))
            }
            BlockSize::Split(parts) => {
                list(parts, ":", |(size, pct)| format!("{}/{pct}", self.bytes((*size).into())))
            }
            BlockSize::Weighted(parts) => {
                list(parts, ",", |(size, weight)| format!("{size}:{weight}"))
            }
        }
    }

    fn share(self, share: &PriorityShare) -> String {
        let size = share.block_bytes.map(|bytes| self.bytes(bytes.into())).unwrap_or_default();
        let priority = share.priority;
        let (class, level, hint) = (priority.class(), priority.level(), priority.hint());
        if priority == IoPriority::NONE {
            return format!("{size}/{}", share.pct);
        }
        let hint = if hint > 0 { format!("/{hint}") } else { String::new() };
        format!("{size}/{}/{class}/{level}{hint}", share.pct)
    }

    fn spread(self, spread: &Distribution) -> String {
        let at = |centre: &Option<f64>| centre.map(|at| format!(":{at}")).unwrap_or_default();
        match spread {
            Distribution::Uniform => "random".to_owned(),
            Distribution::Zipf { theta, centre } => format!("zipf:{theta}{}", at(centre)),
            Distribution::Pareto { h, centre } => format!("pareto:{h}{}", at(centre)),
            Distribution::Normal { deviation_pct, centre } => {
                format!("normal:{}{}", fio_normal_parameter_pct(*deviation_pct), at(centre))
            }
            Distribution::Zoned(zones) => {
                format!("zoned:{}", list(zones, ":", |(share, region)| format!("{share}/{region}")))
            }
            Distribution::ZonedAbs(zones) => {
                let zone = |(share, bytes): &(u8, u64)| format!("{share}/{}", self.bytes(*bytes));
                format!("zoned_abs:{}", list(zones, ":", zone))
            }
            Distribution::Sequence(blocks) => {
                format!("sequence:{}", list(blocks, ",", u64::to_string))
            }
            // Parameters of their own say these.
            Distribution::Exponential { mean } => format!("exponential:{mean}"),
            Distribution::Power { exponent } => format!("power:{exponent}"),
        }
    }
}

/// Joins a list.
fn list<T>(values: &[T], between: &str, text: impl Fn(&T) -> String) -> String {
    values.iter().map(text).collect::<Vec<_>>().join(between)
}

/// Writes one value where all directions have the same, else one for each, empty where none is.
fn per_dir<T: PartialEq>(dirs: &PerDir<Option<T>>, text: impl Fn(&T) -> String) -> String {
    let all = [&dirs.read, &dirs.write, &dirs.trim];
    let n_texts = if all.iter().all(|it| *it == all[0]) { 1 } else { all.len() };
    list(&all[..n_texts], ",", |it| it.as_ref().map(&text).unwrap_or_default())
}

/// Writes a duration with its unit, so that no default unit matters.
fn time(ns: u64) -> String {
    match ns {
        ns if ns.is_multiple_of(1_000_000_000) => format!("{}s", ns / 1_000_000_000),
        ns if ns.is_multiple_of(1_000_000) => format!("{}ms", ns / 1_000_000),
        ns => format!("{}us", ns / 1000),
    }
}

fn walk(AccessValue { access, postfix }: AccessValue) -> String {
    let word = access_word(access);
    assert!(word.is_some(), "no word means the walk {access:?}");
    let word = word.unwrap_or_default();
    postfix.map_or_else(|| word.to_owned(), |number| format!("{word}:{number}"))
}

/// Writes bytes of a pattern in hexadecimal digits.
fn pattern_part(part: &PatternPart) -> String {
    match part {
        PatternPart::Offset => "%o".to_owned(),
        PatternPart::Bytes(bytes) => {
            bytes.iter().fold("0x".to_owned(), |text, byte| format!("{text}{byte:02x}"))
        }
    }
}
