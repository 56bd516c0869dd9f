//! The text of an option's value into a [`Value`], one reader per [`ValueKind`].
//!
//! Errors are phrases that go on where "value `x` of `y` " stops; warnings are sentences of their
//! own.

mod number;
mod pattern;
mod priority;
mod text;
mod workload;

use plan::param::{TimeUnit, Value, ValueKind};
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
    pub(super) fn value(&mut self, kind: ValueKind, text: Option<&str>) -> Result<Value, String> {
        let text = match (kind, text) {
            (ValueKind::Flag, None) => return Ok(Value::Bool(true)),
            (ValueKind::OptionalStr, None | Some("")) => return Ok(Value::Absent),
            (_, None | Some("")) => return Err(format!("is missing; {}", expected(kind))),
            (_, Some(text)) => text,
        };
        match kind {
            ValueKind::Flag => self.flag(text).map(Value::Bool),
            ValueKind::Bool => self.int(text, 0, 1).map(|on| Value::Bool(on == 1)),
            ValueKind::Int { min, max } => self.int(text, min, max).map(Value::Int),
            ValueKind::IntPerDir { min, max } => self
                .per_dir(text, |reading, text| reading.int(text, min, max))
                .map(Value::IntPerDir),
            ValueKind::Size { percent, zones } => self.size(text, percent, zones).map(Value::Size),
            ValueKind::SizeRange => {
                self.size_range(text).map(|(min, max)| Value::SizeRange(min, max))
            }
            ValueKind::Time(unit) => self.time_ns(text, unit).map(Value::TimeNs),
            ValueKind::TimeRange(unit) => self.time_range_ns(text, unit),
            ValueKind::TimePerDir(unit) => self
                .per_dir(text, |reading, text| reading.time_ns(text, unit))
                .map(Value::TimePerDirNs),
            ValueKind::Float { min, max } => number::float(text, min, max).map(Value::Float),
            ValueKind::FloatList { n_max, min, max } => {
                number::floats(text, n_max, min, max).map(Value::Floats)
            }
            ValueKind::Enum(choices) => text::choice(text, choices).map(Value::Choice),
            ValueKind::Str | ValueKind::OptionalStr => {
                Ok(Value::Str(text::unquoted(text).to_owned()))
            }
            ValueKind::PathList => text::paths(text).map(Value::Paths),
            ValueKind::NumberList => text::numbers(text).map(Value::Numbers),
            ValueKind::Access => self.access(text).map(Value::Access),
            ValueKind::BlockRange => self.block_ranges(text).map(Value::BlockSizes),
            ValueKind::BlockSplit => self.block_splits(text).map(Value::BlockSizes),
            ValueKind::PrioritySplit => self.priority_splits(text).map(Value::PrioritySplit),
            ValueKind::Distribution => self.distribution(text).map(Value::Distribution),
            ValueKind::Pattern { offset } => self.pattern(text, offset).map(Value::Pattern),
            ValueKind::Words => Ok(Value::Words(text::words(text))),
        }
    }
}

/// Reads a duration outside of a job, such as a switch's; nanoseconds.
pub(super) fn duration_ns(text: &str, unit: TimeUnit) -> Result<u64, String> {
    number::time_ns(text, unit, SizeRules::default()).map(|parsed| parsed.value)
}

/// Returns what a value of this kind looks like.
pub(super) fn expected(kind: ValueKind) -> String {
    match (kind, kind.form()) {
        (ValueKind::Enum(choices), _) => format!("write one of {}", text::choice_names(choices)),
        (_, (form, "")) => format!("write {form}"),
        (_, (form, examples)) => format!("write {form}, such as `{examples}`"),
    }
}
