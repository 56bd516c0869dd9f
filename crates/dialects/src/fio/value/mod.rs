//! The text of an option's value into a [`Value`], one reader per [`Kind`].
//!
//! Errors are phrases that go on where "value `x` of `y` " stops; warnings are sentences of their
//! own.

mod number;
mod pattern;
mod priority;
mod text;
mod workload;

use plan::param::{Kind, TimeUnit, Value};
use units::UnitWarning;
use units::fio::{KbBase, SizeRules};

use crate::Loader;

/// What reading a value needs, and the oddities it met.
pub(super) struct Reading<'a> {
    pub(super) kb_base: KbBase,
    pub(super) loader: &'a dyn Loader,
    /// What is odd about the value, each a phrase for `value ... of ...: PHRASE`.
    pub(super) warnings: Vec<String>,
}

impl<'a> Reading<'a> {
    pub(super) fn new(kb_base: u32, loader: &'a dyn Loader) -> Self {
        let kb_base = if kb_base == 1000 { KbBase::K1000 } else { KbBase::K1024 };
        Reading { kb_base, loader, warnings: Vec::new() }
    }

    fn rules(&self) -> SizeRules {
        SizeRules { kb_base: self.kb_base }
    }

    /// Keeps the warnings of a parsed number and returns its value.
    fn take<T>(&mut self, parsed: units::Parsed<T>) -> T {
        // `4ki` is 4096 unless kb_base says otherwise: what everyone means.
        let is_odd = |warning: &&UnitWarning| {
            self.kb_base == KbBase::K1000 || !matches!(warning, UnitWarning::PlainPrefix { .. })
        };
        let odd = parsed.warnings.iter().filter(is_odd);
        self.warnings.extend(odd.map(ToString::to_string));
        parsed.value
    }

    /// Reads the text by its kind; `None` is an option without a value.
    pub(super) fn value(&mut self, kind: Kind, text: Option<&str>) -> Result<Value, String> {
        let text = match (kind, text) {
            (Kind::Flag, None) => return Ok(Value::Bool(true)),
            (Kind::OptionalStr, None | Some("")) => return Ok(Value::Absent),
            (_, None | Some("")) => return Err(format!("is missing; {}", expected(kind))),
            (_, Some(text)) => text,
        };
        match kind {
            Kind::Flag => self.flag(text).map(Value::Bool),
            Kind::Bool => self.int(text, 0, 1).map(|on| Value::Bool(on == 1)),
            Kind::Int { min, max } => self.int(text, min, max).map(Value::Int),
            Kind::IntPerDir { min, max } => self
                .per_dir(text, |reading, text| reading.int(text, min, max))
                .map(Value::IntPerDir),
            Kind::Size { percent, zones } => self.size(text, percent, zones).map(Value::Size),
            Kind::SizeRange => self.size_range(text).map(|(min, max)| Value::SizeRange(min, max)),
            Kind::Time(unit) => self.time_ns(text, unit).map(Value::TimeNs),
            Kind::TimeRange(unit) => self.time_range_ns(text, unit),
            Kind::TimePerDir(unit) => self
                .per_dir(text, |reading, text| reading.time_ns(text, unit))
                .map(Value::TimePerDirNs),
            Kind::Float { min, max } => number::float(text, min, max).map(Value::Float),
            Kind::FloatList { n_max, min, max } => {
                number::floats(text, n_max, min, max).map(Value::Floats)
            }
            Kind::Enum(choices) => text::choice(text, choices).map(Value::Choice),
            Kind::Str | Kind::OptionalStr => Ok(Value::Str(text::unquoted(text).to_owned())),
            Kind::PathList => text::paths(text).map(Value::Paths),
            Kind::NumberList => text::numbers(text).map(Value::Numbers),
            Kind::Access => self.access(text).map(Value::Access),
            Kind::BlockRange => self.block_ranges(text).map(Value::BlockSizes),
            Kind::BlockSplit => self.block_splits(text).map(Value::BlockSizes),
            Kind::PrioritySplit => self.priority_splits(text).map(Value::PrioritySplit),
            Kind::Distribution => self.distribution(text).map(Value::Distribution),
            Kind::Pattern { offset } => self.pattern(text, offset).map(Value::Pattern),
            Kind::Words => Ok(Value::Words(text::words(text))),
        }
    }
}

/// Reads a duration outside of a job, such as a switch's; nanoseconds.
pub(super) fn duration_ns(text: &str, unit: TimeUnit) -> Result<u64, String> {
    number::time_ns(text, unit, SizeRules::default()).map(|parsed| parsed.value)
}

/// Says what a value of this kind looks like.
pub(super) fn expected(kind: Kind) -> String {
    let text = match kind {
        Kind::Flag => "write the option alone, or 1 or 0 behind `=`",
        Kind::Bool => "write 1 or 0",
        Kind::Int { .. } => "write a whole number",
        Kind::IntPerDir { .. } => {
            "write a whole number, or one each for reads, writes and trims (`4k,8k,4k`)"
        }
        Kind::Size { percent: true, .. } => "write bytes (`4g`) or a percentage (`50%`)",
        Kind::Size { .. } => "write bytes (`4g`)",
        Kind::SizeRange => "write bytes (`4k`) or a range (`4k-64k`)",
        Kind::Time(_) | Kind::TimePerDir(_) => "write a number with us, ms, s, m, h or d (`30s`)",
        Kind::TimeRange(_) => "write a time (`30s`) or a range (`10s-30s`)",
        Kind::Float { .. } => "write a number",
        Kind::FloatList { .. } => "write numbers separated by colons (`50:99:99.9`)",
        Kind::Enum(choices) => {
            return format!("write one of {}", text::choice_names(choices));
        }
        Kind::Str | Kind::OptionalStr => "write some text",
        Kind::PathList => "write one or more paths separated by colons",
        Kind::NumberList => "write numbers and ranges separated by commas (`0,5,8-15`)",
        Kind::Access => "write one of read, write, randread, randwrite, rw, randrw, trim",
        Kind::BlockRange => "write the smallest and largest block size (`4k-64k`)",
        Kind::BlockSplit => "write block sizes with shares (`4k/60:64k/40`)",
        Kind::PrioritySplit => {
            "write block sizes with shares, perhaps with class and level (`64k/25/1/1:4k/10`)"
        }
        Kind::Distribution => "write one of random, zipf:1.2, pareto:0.2, normal:20, zoned:...",
        Kind::Pattern { .. } => "write bytes as `0xdeadface`, `-12`, `\"text\"` or `'file'`",
        Kind::Words => "write a word, perhaps with a number behind a colon",
    };
    text.to_owned()
}
