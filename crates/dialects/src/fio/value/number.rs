//! Whole numbers, sizes, times and fractions, alone, in ranges and per direction.

use plan::PerDir;
use plan::files::Size;
use plan::param::{TimeUnit, Value};
use units::fio::{self, SizeOrPercentOrZones, SizeRules};
use units::{Parsed, UnitError};

use super::Reading;

/// Puts a unit error into the words of a value's message.
fn phrase(error: &UnitError) -> String {
    format!("is not valid: {error}")
}

impl Reading<'_> {
    /// A flag with a number behind it: zero is off.
    pub(super) fn flag(&mut self, text: &str) -> Result<bool, String> {
        let number = fio::parse_integer(text, self.rules());
        let number = number.map_err(|_| "is not 1 or 0; write the option alone to set it")?;
        Ok(self.take(number) != 0)
    }

    /// A whole number within both ends.
    pub(super) fn int(&mut self, text: &str, min: i64, max: i64) -> Result<i64, String> {
        let text = text.trim();
        // fio takes `rwmixread=50%`; a share may well be written so.
        let bare = if max == 100 { text.strip_suffix('%').unwrap_or(text) } else { text };
        let number = fio::parse_integer(bare, self.rules()).map_err(|error| phrase(&error))?;
        let number = self.take(number);
        match number {
            _ if number < min => Err(format!("is out of range: the smallest is {min}")),
            _ if number > max => Err(format!("is out of range: the largest is {max}")),
            _ => Ok(number),
        }
    }

    /// Bytes, percent or zones.
    pub(super) fn size(&mut self, text: &str, percent: bool, zones: bool) -> Result<Size, String> {
        let size = fio::parse_size_or_percent_or_zones(text.trim(), self.rules());
        match self.take(size.map_err(|error| phrase(&error))?) {
            SizeOrPercentOrZones::Bytes(bytes) => Ok(Size::Bytes(bytes)),
            SizeOrPercentOrZones::Percent(share) if percent => Ok(Size::Percent(share)),
            SizeOrPercentOrZones::Percent(_) => Err("may not be a percentage; write bytes".into()),
            SizeOrPercentOrZones::Zones(count) if zones => Ok(Size::Zones(u64::from(count))),
            SizeOrPercentOrZones::Zones(_) => Err("may not count zones; write bytes".into()),
        }
    }

    /// Bytes, or a range of bytes.
    pub(super) fn size_range(&mut self, text: &str) -> Result<(u64, u64), String> {
        if text.contains(['-', ':']) && !text.starts_with(['-', '(']) {
            let range = fio::parse_range(text, self.rules()).map_err(|error| phrase(&error))?;
            return Ok(self.take(range));
        }
        let size = fio::parse_size(text.trim(), self.rules()).map_err(|error| phrase(&error))?;
        let bytes = self.take(size);
        Ok((bytes, bytes))
    }

    /// A duration in nanoseconds.
    pub(super) fn time_ns(&mut self, text: &str, unit: TimeUnit) -> Result<u64, String> {
        let time = time_ns(text.trim(), unit, self.rules())?;
        Ok(self.take(time))
    }

    /// A duration, or a range of two.
    pub(super) fn time_range_ns(&mut self, text: &str, unit: TimeUnit) -> Result<Value, String> {
        let Some((low, high)) = text.split_once('-').or_else(|| text.split_once(':')) else {
            return self.time_ns(text, unit).map(|ns| Value::TimeRangeNs(ns, ns));
        };
        let low_ns = self.time_ns(low, unit)?;
        let high_ns = if high.trim().is_empty() { low_ns } else { self.time_ns(high, unit)? };
        Ok(Value::TimeRangeNs(low_ns.min(high_ns), low_ns.max(high_ns)))
    }

    /// One value for all directions, or one each for reads, writes and trims.
    ///
    /// Two values give trims the second; an empty place, and all behind a trailing comma, keep what
    /// was there. A colon or a dash separates as a comma does, which fio does not say.
    pub(super) fn per_dir<T: Copy>(
        &mut self,
        text: &str,
        mut one: impl FnMut(&mut Self, &str) -> Result<T, String>,
    ) -> Result<PerDir<Option<T>>, String> {
        let parts: Vec<&str> = if text.contains(',') {
            text.split(',').collect()
        } else if let Some(at) = text.find([':', '-']).filter(|at| *at > 0 && !text.contains('(')) {
            let warning = "gives reads the first number and writes and trims the second; write a \
                           comma between them, or bsrange for a range of block sizes";
            self.warnings.push(warning.to_owned());
            vec![&text[..at], &text[at + 1..]]
        } else {
            vec![text]
        };
        if parts.len() > 3 {
            self.warnings.push("gives more than three numbers; the rest is ignored".to_owned());
        }
        let mut given = Vec::new();
        for part in parts.iter().take(3).map(|part| part.trim()) {
            given.push(if part.is_empty() { None } else { Some(one(self, part)?) });
        }
        match given.as_slice() {
            [all] => Ok(PerDir::all(*all)),
            [read, write] => Ok(PerDir { read: *read, write: *write, trim: *write }),
            [read, write, trim] => Ok(PerDir { read: *read, write: *write, trim: *trim }),
            _ => Err("is empty".to_owned()),
        }
        .and_then(|dirs| {
            let is_empty = dirs.iter().all(|(_, value)| value.is_none());
            if is_empty { Err("gives no number".to_owned()) } else { Ok(dirs) }
        })
    }
}

/// A duration in nanoseconds, with its oddities.
pub(super) fn time_ns(text: &str, unit: TimeUnit, rules: SizeRules) -> Result<Parsed<u64>, String> {
    let (parsed, ns_per_unit) = match unit {
        TimeUnit::Seconds => (fio::parse_time(text, fio::TimeUnit::Seconds), 1000),
        TimeUnit::Microseconds => (fio::parse_time(text, fio::TimeUnit::Microseconds), 1000),
        TimeUnit::Milliseconds => (fio::parse_size(text, rules), 1_000_000),
    };
    let parsed = parsed.map_err(|error| phrase(&error))?;
    let ns = parsed.value.checked_mul(ns_per_unit);
    let ns = ns.ok_or_else(|| "is too long: the longest is 584 years".to_owned())?;
    Ok(parsed.map(|_| ns))
}

/// A fraction within both ends.
pub(super) fn float(text: &str, min: f64, max: f64) -> Result<f64, String> {
    let number: f64 = text.trim().parse().map_err(|_| format!("is not a number: `{text}`"))?;
    if !number.is_finite() || number < min || number > max {
        return Err(format!("is out of range: expected {min} to {max}"));
    }
    Ok(number)
}

/// Fractions separated by colons.
pub(super) fn floats(text: &str, n_max: usize, min: f64, max: f64) -> Result<Vec<f64>, String> {
    if text.contains(',') {
        return Err("holds a comma; separate the numbers by colons (`50:99:99.9`)".to_owned());
    }
    let count = text.split(':').count();
    if count > n_max {
        return Err(format!("lists {count} numbers; the most is {n_max}"));
    }
    text.split(':').map(|part| float(part, min, max)).collect()
}
