//! How a parameter's value and a field of a job become each other: what `get` and `lower` of an
//! entry are made of. Each enumeration is one table of words and what they stand for.
//!
//! A value whose variant does not fit the entry's kind is a mistake of the dialect, not of the
//! user; it is still an error and never a panic.

use super::entry::{AccessValue, Choice, Param, Support, TimeUnit, Value, ValueKind};
use super::error::ValueError;
use crate::files::Size;
use crate::load::Rate;
use crate::nfs::NfsUrl;
use crate::verify::PatternPart;
use crate::workload::BlockSize;
use crate::{Direction, PerDir};

/// What an entry has unless it says otherwise; each ends with `..BASE`, or with [`field`] and its
/// like. It changes nothing and says nothing, for entries that shape the plan, have no effect, or
/// come later.
pub(crate) const BASE: Param = Param {
    name: "",
    fio: &[],
    vdbench: "",
    diskspd: &[],
    iometer: &[],
    engines: &[],
    kind: ValueKind::Str,
    default: "",
    short: "",
    long: "",
    is_load: true,
    support: Support::Full,
    lower: |_, _| Ok(()),
    get: |_| None,
    field: None,
};

/// Any count that fits 32 bits.
pub(crate) const COUNT: ValueKind = ValueKind::Int { min: 0, max: u32::MAX as i64 };
/// A count of at least one.
pub(crate) const COUNT_FROM_1: ValueKind = ValueKind::Int { min: 1, max: u32::MAX as i64 };
/// I/Os in flight per worker. Each takes memory at the start, and no kernel takes more from one
/// program: `fs.aio-max-nr` is 65,536, a ring of `io_uring` has 32,768 entries.
pub(crate) const DEPTH: ValueKind = ValueKind::Int { min: 1, max: 1 << 20 };
/// Generated files of a worker, whose names are held in memory: a few GB of them.
pub(crate) const FILES: ValueKind = ValueKind::Int { min: 1, max: 1 << 24 };
/// Any non-negative number.
pub(crate) const NUMBER: ValueKind = ValueKind::Int { min: 0, max: i64::MAX };
/// A share in percent.
pub(crate) const PERCENT: ValueKind = ValueKind::Int { min: 0, max: 100 };
/// Any non-negative number per direction.
pub(crate) const NUMBER_PER_DIR: ValueKind = ValueKind::IntPerDir { min: 0, max: i64::MAX };
/// A region: bytes, percent or zones.
pub(crate) const REGION: ValueKind = ValueKind::Size { percent: true, zones: true };
/// A duration whose bare number counts seconds.
pub(crate) const SECONDS: ValueKind = ValueKind::Time(TimeUnit::Seconds);
/// A duration whose bare number counts microseconds.
pub(crate) const MICROSECONDS: ValueKind = ValueKind::Time(TimeUnit::Microseconds);

// --- Words --------------------------------------------------------------------------------------

/// A word that a parameter takes, and what it stands for.
#[derive(Clone, Copy)]
pub(crate) struct Word<T> {
    choice: Choice,
    meaning: T,
}

impl<T: Copy> Word<T> {
    /// Returns the word itself.
    pub(crate) fn name(&self) -> &'static str {
        self.choice.name
    }

    /// Returns what it stands for.
    pub(crate) fn meaning(&self) -> T {
        self.meaning
    }
}

/// Makes a word, its other spellings, what it means in words, and what it stands for.
pub(crate) const fn word<T: Copy>(
    name: &'static str,
    aliases: &'static [&'static str],
    help: &'static str,
    meaning: T,
) -> Word<T> {
    Word { choice: Choice { name, aliases, help }, meaning }
}

/// Makes a word of a parameter that changes nothing.
pub(crate) const fn idle_word(name: &'static str, help: &'static str) -> Choice {
    Choice { name, aliases: &[], help }
}

/// Returns the words of a table.
pub(crate) const fn choices<T: Copy, const N: usize>(words: &[Word<T>; N]) -> [Choice; N] {
    let mut choices = [words[0].choice; N];
    let mut idx = 1;
    while idx < N {
        choices[idx] = words[idx].choice;
        idx += 1;
    }
    choices
}

/// Returns what the chosen word stands for.
pub(crate) fn meaning<T: Copy>(words: &[Word<T>], value: &Value) -> Result<T, ValueError> {
    meaning_of(words, value.choice()?)
}

/// Returns what a word stands for.
pub(crate) fn meaning_of<T: Copy>(words: &[Word<T>], name: &str) -> Result<T, ValueError> {
    let is_it = |word: &&Word<T>| word.choice.name == name || word.choice.aliases.contains(&name);
    let found = words.iter().find(is_it).map(|word| word.meaning);
    found.ok_or_else(|| unknown_word(name, words.iter().map(|word| word.choice.name)))
}

/// Reports that a word is none of these.
pub(crate) fn unknown_word(
    word: &str,
    known: impl IntoIterator<Item = &'static str>,
) -> ValueError {
    ValueError::UnknownWord { word: word.to_owned(), known: known.into_iter().collect() }
}

/// Returns the first word that stands for this; `None` where none does.
pub(crate) fn word_for<T: PartialEq>(words: &[Word<T>], meaning: &T) -> Option<Value> {
    let found = words.iter().find(|word| word.meaning == *meaning)?;
    Some(Value::Choice(found.choice.name))
}

/// Makes the table of words of an enum: each of its values with the word, other words for it and
/// what it does; behind a semicolon those that have none here. A value that is missing does not
/// compile.
macro_rules! words {
    ($name:ident {
        $($value:ident => ($word:expr, $aliases:expr, $help:expr),)+
        $(; $($wordless:ident),+)?
    }) => {{
        const _: fn($name) = |value| match value {
            $($name::$value => (),)+
            $($($name::$wordless => (),)+)?
        };
        [$($crate::param::fields::word($word, $aliases, $help, $name::$value)),+]
    }};
}
pub(crate) use words;

/// Makes an entry for a field whose values are the words of a table.
macro_rules! choice {
    ($($name:ident).+, $words:ident) => {
        $crate::param::entry::Param {
            kind: $crate::param::entry::ValueKind::Enum(
                const { &$crate::param::fields::choices(&$words) },
            ),
            get: |job| $crate::param::fields::word_for(&$words, &job.$($name).+),
            lower: |job, value| {
                job.$($name).+ = $crate::param::fields::meaning(&$words, value)?;
                Ok(())
            },
            field: Some($crate::job_field!($($name).+)),
            ..$crate::param::fields::BASE
        }
    };
}
pub(crate) use choice;

// --- Fields -------------------------------------------------------------------------------------

/// How a field of type `T` and the value of a parameter are made of each other.
pub(crate) trait Codec<T> {
    /// Returns what the field says; `None` where it says nothing.
    fn get(field: &T) -> Option<Value>;
    /// Returns the field that the value makes, or what is wrong with the value.
    fn read(value: &Value) -> Result<T, ValueError>;
}

/// Sets a field as the value says.
pub(crate) fn put<W: Codec<T>, T>(field: &mut T, value: &Value) -> Result<(), ValueError> {
    *field = W::read(value)?;
    Ok(())
}

/// Makes an entry for a field of the job: as it stands, or by another codec.
macro_rules! field {
    ($($name:ident).+) => {
        $crate::param::fields::field!($($name).+, $crate::param::fields::Plain)
    };
    ($($name:ident).+, $codec:ty) => {
        $crate::param::entry::Param {
            get: |job| <$codec as $crate::param::fields::Codec<_>>::get(&job.$($name).+),
            lower: |job, value| $crate::param::fields::put::<$codec, _>(&mut job.$($name).+, value),
            field: Some($crate::job_field!($($name).+)),
            ..$crate::param::fields::BASE
        }
    };
}
pub(crate) use field;

/// Makes an entry for a field of a part that a job may lack; `make` returns the part, new where
/// there was none.
macro_rules! part {
    ($($part:ident).+, $make:ident, $name:ident) => {
        $crate::param::fields::part!($($part).+, $make, $name, $crate::param::fields::Plain)
    };
    ($($part:ident).+, $make:ident, $name:ident, $codec:ty) => {
        $crate::param::entry::Param {
            get: |job| {
                let part = job.$($part).+.as_ref()?;
                <$codec as $crate::param::fields::Codec<_>>::get(&part.$name)
            },
            lower: |job, value| {
                $crate::param::fields::put::<$codec, _>(&mut $make(job).$name, value)
            },
            field: Some($crate::job_field!($($part).+?.$name)),
            ..$crate::param::fields::BASE
        }
    };
}
pub(crate) use part;

/// Makes an entry for a field per direction, each made of a number.
macro_rules! dirs {
    ($($name:ident).+, $codec:ty) => {
        $crate::param::entry::Param {
            get: |job| $crate::param::fields::get_dirs::<$codec, _>(&job.$($name).+),
            lower: |job, value| {
                $crate::param::fields::put_dirs::<$codec, _>(&mut job.$($name).+, value)
            },
            field: Some($crate::job_field!($($name).+)),
            ..$crate::param::fields::BASE
        }
    };
}
pub(crate) use dirs;

/// Returns the number of each direction; `None` where none has one.
pub(crate) fn get_dirs<W: Codec<T>, T>(fields: &PerDir<T>) -> Option<Value> {
    let number = |dir| match W::get(&fields[dir]) {
        Some(Value::Int(number)) => Some(number),
        _ => None,
    };
    let numbers = given(number);
    numbers.map(Value::IntPerDir)
}

/// Sets the directions that were given.
pub(crate) fn put_dirs<W: Codec<T>, T>(
    fields: &mut PerDir<T>,
    value: &Value,
) -> Result<(), ValueError> {
    let Value::IntPerDir(given) = value else {
        return Err(mismatch("numbers per direction", value));
    };
    for (dir, number) in given.iter() {
        if let Some(number) = *number {
            fields[dir] = W::read(&Value::Int(number))?;
        }
    }
    Ok(())
}

/// Returns what each direction has; `None` where none has any.
pub(crate) fn given<T>(of: impl Fn(Direction) -> Option<T>) -> Option<PerDir<Option<T>>> {
    let dirs = PerDir {
        read: of(Direction::Read),
        write: of(Direction::Write),
        trim: of(Direction::Trim),
    };
    let has_any = dirs.iter().any(|(_, it)| it.is_some());
    has_any.then_some(dirs)
}

/// Sets the directions that were given.
pub(crate) fn put_given<T: Clone>(fields: &mut PerDir<T>, given: &PerDir<Option<T>>) {
    for (dir, it) in given.iter() {
        if let Some(it) = it {
            fields[dir].clone_from(it);
        }
    }
}

// --- Codecs -------------------------------------------------------------------------------------

/// The field is the value. Nothing in it, or an empty list, says nothing.
pub(crate) struct Plain;

macro_rules! plain {
    ($type:ty, $read:ident, |$field:ident| $get:expr) => {
        impl Codec<$type> for Plain {
            fn get($field: &$type) -> Option<Value> {
                $get
            }
            fn read(value: &Value) -> Result<$type, ValueError> {
                value.$read()
            }
        }
    };
}

plain!(bool, bool, |on| Some(Value::Bool(*on)));
plain!(i8, int, |number| Some(Value::Int((*number).into())));
plain!(u8, int, |number| Some(Value::Int((*number).into())));
plain!(u16, int, |number| Some(Value::Int((*number).into())));
plain!(u32, int, |number| Some(Value::Int((*number).into())));
// No parameter takes more than 63 bits.
plain!(u64, int, |number| Some(Value::Int((*number).try_into().unwrap_or(i64::MAX))));
plain!(f64, float, |number| Some(Value::Float(*number)));
plain!(Size, size, |size| Some(Value::Size(*size)));
plain!((u64, u64), size_range, |range| Some(Value::SizeRange(range.0, range.1)));
plain!(String, text, |text| Some(Value::Str(text.clone())));
plain!(Vec<String>, paths, |paths| some(paths).map(Value::Paths));
plain!(Vec<u32>, numbers, |numbers| some(numbers).map(Value::Numbers));
plain!(Vec<PatternPart>, pattern, |parts| some(parts).map(Value::Pattern));
plain!(NfsUrl, nfs_url, |url| Some(Value::Str(url.to_string())));

impl<T> Codec<Option<T>> for Plain
where
    Plain: Codec<T>,
{
    fn get(field: &Option<T>) -> Option<Value> {
        Plain::get(field.as_ref()?)
    }
    fn read(value: &Value) -> Result<Option<T>, ValueError> {
        Plain::read(value).map(Some)
    }
}

/// Returns the entries of a list that has any.
pub(crate) fn some<T: Clone>(list: &[T]) -> Option<Vec<T>> {
    (!list.is_empty()).then(|| list.to_vec())
}

/// The field says the opposite.
pub(crate) struct Opposite;

impl Codec<bool> for Opposite {
    fn get(field: &bool) -> Option<Value> {
        Some(Value::Bool(!field))
    }
    fn read(value: &Value) -> Result<bool, ValueError> {
        value.bool().map(|on| !on)
    }
}

/// A number above 0; 0 is none.
pub(crate) struct Above0;

impl Codec<u8> for Above0 {
    fn get(field: &u8) -> Option<Value> {
        Plain::get(field).filter(|_| *field > 0)
    }
    fn read(value: &Value) -> Result<u8, ValueError> {
        value.int()
    }
}

impl<T> Codec<Option<T>> for Above0
where
    Plain: Codec<T>,
{
    fn get(field: &Option<T>) -> Option<Value> {
        Plain::get(field.as_ref()?)
    }
    fn read(value: &Value) -> Result<Option<T>, ValueError> {
        if value.int::<i64>()? == 0 { Ok(None) } else { Plain::read(value).map(Some) }
    }
}

/// A duration in nanoseconds; where a job may lack it, 0 is none.
pub(crate) struct Ns;

impl Codec<u64> for Ns {
    fn get(field: &u64) -> Option<Value> {
        Some(Value::TimeNs(*field))
    }
    fn read(value: &Value) -> Result<u64, ValueError> {
        value.time_ns()
    }
}

impl Codec<Option<u64>> for Ns {
    fn get(field: &Option<u64>) -> Option<Value> {
        field.map(Value::TimeNs)
    }
    fn read(value: &Value) -> Result<Option<u64>, ValueError> {
        value.time_ns().map(|ns| (ns > 0).then_some(ns))
    }
}

/// Two durations in nanoseconds, or one for both.
pub(crate) struct NsRange;

impl Codec<(u64, u64)> for NsRange {
    fn get(field: &(u64, u64)) -> Option<Value> {
        Some(Value::TimeRangeNs(field.0, field.1))
    }
    fn read(value: &Value) -> Result<(u64, u64), ValueError> {
        value.time_range_ns()
    }
}

/// A size that must be in bytes, because nothing is there to take a share of.
pub(crate) struct InBytes;

impl Codec<u64> for InBytes {
    fn get(field: &u64) -> Option<Value> {
        Some(Value::Size(Size::Bytes(*field)))
    }
    fn read(value: &Value) -> Result<u64, ValueError> {
        match value.size()? {
            Size::Bytes(bytes) => Ok(bytes),
            Size::Percent(pct) => Err(ValueError::unfit(&format!("{pct}%"), "a size", "bytes")),
            Size::Zones(n) => Err(ValueError::unfit(&format!("{n}z"), "a size", "bytes")),
        }
    }
}

/// A duration in nanoseconds, as a number of units of so many.
pub(crate) struct UnitsOf<const NS: u64>;

impl<const NS: u64> Codec<u64> for UnitsOf<NS> {
    fn get(field: &u64) -> Option<Value> {
        Plain::get(&(field / NS))
    }
    fn read(value: &Value) -> Result<u64, ValueError> {
        value.int::<u64>().map(|units| units.saturating_mul(NS))
    }
}

impl<const NS: u64> Codec<Option<u64>> for UnitsOf<NS> {
    fn get(field: &Option<u64>) -> Option<Value> {
        <Self as Codec<u64>>::get(field.as_ref()?)
    }
    fn read(value: &Value) -> Result<Option<u64>, ValueError> {
        <Self as Codec<u64>>::read(value).map(Some)
    }
}

/// A share, percent, that has no fraction: another parameter says those that have.
pub(crate) struct WholePct;

impl Codec<f64> for WholePct {
    fn get(field: &f64) -> Option<Value> {
        (field.fract() == 0.0).then_some(Value::Int(*field as i64))
    }
    fn read(value: &Value) -> Result<f64, ValueError> {
        value.int::<u8>().map(f64::from)
    }
}

/// A share, percent, that has a fraction.
pub(crate) struct FinePct;

impl Codec<f64> for FinePct {
    fn get(field: &f64) -> Option<Value> {
        (field.fract() != 0.0).then_some(Value::Float(*field))
    }
    fn read(value: &Value) -> Result<f64, ValueError> {
        value.float()
    }
}

/// One size for all I/Os of a direction, bytes.
pub(crate) struct FixedSize;

impl Codec<BlockSize> for FixedSize {
    fn get(field: &BlockSize) -> Option<Value> {
        match field {
            BlockSize::Fixed(bytes) => Plain::get(bytes),
            BlockSize::Range { .. }
            | BlockSize::Stepped { .. }
            | BlockSize::Split(_)
            | BlockSize::Weighted(_) => None,
        }
    }
    fn read(value: &Value) -> Result<BlockSize, ValueError> {
        value.int().map(BlockSize::Fixed)
    }
}

/// A rate in bytes per second; 0 is none.
pub(crate) struct BytesPerS;

impl Codec<Option<Rate>> for BytesPerS {
    fn get(field: &Option<Rate>) -> Option<Value> {
        match field {
            Some(Rate::Bytes(bytes)) => Plain::get(bytes),
            Some(Rate::Iops(_)) | None => None,
        }
    }
    fn read(value: &Value) -> Result<Option<Rate>, ValueError> {
        value.int().map(|bytes| (bytes > 0).then_some(Rate::Bytes(bytes)))
    }
}

/// A rate in I/Os per second; 0 is none.
pub(crate) struct IosPerS;

impl Codec<Option<Rate>> for IosPerS {
    fn get(field: &Option<Rate>) -> Option<Value> {
        match field {
            Some(Rate::Iops(iops)) => Plain::get(iops),
            Some(Rate::Bytes(_)) | None => None,
        }
    }
    fn read(value: &Value) -> Result<Option<Rate>, ValueError> {
        value.int().map(|iops| (iops > 0).then_some(Rate::Iops(iops)))
    }
}

/// Text that may be left out where the parameter stands, which is an empty one.
pub(crate) struct TextOrNone;

impl Codec<Option<String>> for TextOrNone {
    fn get(field: &Option<String>) -> Option<Value> {
        let text = field.as_ref()?;
        Some(if text.is_empty() { Value::Absent } else { Value::Str(text.clone()) })
    }
    fn read(value: &Value) -> Result<Option<String>, ValueError> {
        match value {
            Value::Absent => Ok(Some(String::new())),
            other => other.text().map(Some),
        }
    }
}

// --- Values -------------------------------------------------------------------------------------

/// Narrows a number, or says that it does not fit.
pub(crate) fn narrow<T: TryFrom<i64>>(number: i64) -> Result<T, ValueError> {
    T::try_from(number).map_err(|_| ValueError::NotANumber { text: number.to_string() })
}

/// Reads a decimal number inside a word list.
pub(crate) fn number<T: std::str::FromStr>(text: &str) -> Result<T, ValueError> {
    text.trim().parse().map_err(|_| ValueError::NotANumber { text: text.to_owned() })
}

/// Reports that a value's variant does not fit the entry's kind.
pub(crate) fn mismatch(expected: &'static str, value: &Value) -> ValueError {
    ValueError::WrongKind { expected, found: format!("{value:?}") }
}

/// Makes a function that returns what is in one variant of a value.
macro_rules! variant {
    ($name:ident, $variant:ident, $type:ty, $expected:literal) => {
        pub(crate) fn $name(&self) -> Result<$type, ValueError> {
            match self {
                Value::$variant(it) => Ok(it.clone()),
                other => Err(mismatch($expected, other)),
            }
        }
    };
}

impl Value {
    variant!(bool, Bool, bool, "yes or no");
    variant!(size, Size, Size, "a size");
    variant!(time_ns, TimeNs, u64, "a duration");
    variant!(float, Float, f64, "a fraction");
    variant!(floats, Floats, Vec<f64>, "a list of fractions");
    variant!(choice, Choice, &'static str, "a word");
    variant!(text, Str, String, "text");
    variant!(paths, Paths, Vec<String>, "paths");
    variant!(numbers, Numbers, Vec<u32>, "a list of numbers");
    variant!(access, Access, AccessValue, "directions");
    variant!(pattern, Pattern, Vec<PatternPart>, "a pattern");
}

impl Value {
    pub(crate) fn int<T: TryFrom<i64>>(&self) -> Result<T, ValueError> {
        match self {
            Value::Int(number) => narrow(*number),
            other => Err(mismatch("a number", other)),
        }
    }

    pub(crate) fn size_range(&self) -> Result<(u64, u64), ValueError> {
        match self {
            Value::SizeRange(min, max) => Ok((*min, *max)),
            other => Err(mismatch("a range of sizes", other)),
        }
    }

    pub(crate) fn time_range_ns(&self) -> Result<(u64, u64), ValueError> {
        match self {
            Value::TimeRangeNs(min, max) => Ok((*min, *max)),
            Value::TimeNs(ns) => Ok((*ns, *ns)),
            other => Err(mismatch("a duration or a range", other)),
        }
    }

    fn nfs_url(&self) -> Result<NfsUrl, ValueError> {
        NfsUrl::parse(&self.text()?).map_err(ValueError::Address)
    }

    pub(crate) fn words(&self) -> Result<&[(String, Option<String>)], ValueError> {
        match self {
            Value::Words(words) => Ok(words),
            other => Err(mismatch("words", other)),
        }
    }

    /// Returns the only word and what stood behind its colon.
    pub(crate) fn one_word(&self) -> Result<(&str, Option<&str>), ValueError> {
        match self.words()? {
            [(word, argument)] => Ok((word, argument.as_deref())),
            words => Err(ValueError::NotOneWord { n_words: words.len() }),
        }
    }

    /// Makes one word, and what stands behind its colon.
    pub(crate) fn of_word(word: &str, argument: Option<String>) -> Value {
        Value::Words(vec![(word.to_owned(), argument)])
    }

    /// Makes pairs of a word and what stands behind its colon; `None` of none.
    pub(crate) fn of_pairs<A: ToString, B: ToString>(
        pairs: impl IntoIterator<Item = (A, B)>,
    ) -> Option<Value> {
        let word = |(word, argument): (A, B)| (word.to_string(), Some(argument.to_string()));
        let words: Vec<_> = pairs.into_iter().map(word).collect();
        (!words.is_empty()).then_some(Value::Words(words))
    }
}
