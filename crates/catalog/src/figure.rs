//! A published number with all that is known about it.

use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;

use crate::column::Unit;
use crate::exactness::Exactness;

/// Where figures come from.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Source {
    /// Short name, as tables use it.
    pub key: String,
    /// The document.
    pub title: String,
    /// Under which terms the document is; its figures are facts.
    pub licence: String,
    /// Date of the document, as it says itself; `undated` if it does not.
    pub date: String,
}

/// One published number.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Figure {
    /// The number as published.
    pub value: f64,
    /// Its unit as published.
    pub unit: Unit,
    /// The same in operations per second, bytes per second, bytes, seconds, nanoseconds of latency
    /// or a plain count, whichever the unit calls for; rounded to a whole number.
    pub per_s: u64,
    /// How well it is known.
    pub exactness: Exactness,
    /// Where it comes from.
    #[serde(serialize_with = "key_of")]
    pub source: Arc<Source>,
}

fn key_of<S: serde::Serializer>(source: &Arc<Source>, out: S) -> Result<S::Ok, S::Error> {
    out.serialize_str(&source.key)
}

impl Figure {
    /// Reads a cell: a number, with `~` before it for about, `>` for more than, `=` for derived,
    /// and `*BYTES` behind it where the bytes of a unit are known.
    pub(crate) fn read(
        cell: &str,
        unit: Unit,
        unit_bytes: Option<u64>,
        source: &Arc<Source>,
    ) -> Result<Self, String> {
        let (mark, rest) = Exactness::of_mark(cell);
        let (number, bytes) = match rest.split_once('*') {
            Some((number, bytes)) => {
                let bytes =
                    bytes.parse().map_err(|_| format!("`{bytes}` is not a whole number"))?;
                (number, Some(bytes))
            }
            None => (rest, unit_bytes),
        };
        let not_a_number = || format!("`{cell}` is not a number from 0 to 10^15");
        let value: f64 = number.trim().parse().map_err(|_| not_a_number())?;
        let scale = bytes.unwrap_or(unit.scale());
        if !(0.0..=1e15).contains(&value) || value * scale as f64 > 9e18 {
            return Err(not_a_number());
        }
        let exactness = mark.unwrap_or(match unit.exactness() {
            Exactness::UnitUnclear if bytes.is_some() => Exactness::Exact,
            of_unit => of_unit,
        });
        let per_s = (value * scale as f64).round() as u64;
        Ok(Figure { value, unit, per_s, exactness, source: Arc::clone(source) })
    }

    /// Returns the date of its source.
    pub fn date(&self) -> &str {
        &self.source.date
    }

    /// Returns where [`Figure::per_s`] may truly lie. One value for what is exact; up to 4.9 %
    /// wide where "MB/s" is unclear. What is about, more than or derived gives its own value: how
    /// far off it may be is not known.
    pub fn range(&self) -> RangeInclusive<u64> {
        let most = match self.exactness {
            Exactness::UnitUnclear => (self.value * f64::from(1 << 20)).round() as u64,
            Exactness::RoundedDown => self.per_s + self.unit.scale() - 1,
            Exactness::Exact | Exactness::About | Exactness::AtLeast | Exactness::Derived => {
                self.per_s
            }
        };
        self.per_s..=most.max(self.per_s)
    }

    /// Returns the text of a cell that reads as this figure.
    pub fn cell(&self) -> String {
        let mark = self.exactness.mark();
        let is_unclear = self.unit.exactness() == Exactness::UnitUnclear;
        let is_known = is_unclear && self.exactness == Exactness::Exact;
        let bytes = (self.per_s as f64 / self.value).round();
        let bytes = if is_known { format!("*{bytes}") } else { String::new() };
        format!("{mark}{}{bytes}", self.value)
    }
}

impl fmt::Display for Figure {
    /// Prints number and unit as published, with thousands apart: `50,000 IOPS`, `~4,500 MiB/s`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // That a figure was worked out its notes say.
        let mark = if self.exactness == Exactness::Derived { "" } else { self.exactness.mark() };
        write!(f, "{mark}{}", grouped(self.value))?;
        let unit = self.unit.as_str();
        if unit.is_empty() { Ok(()) } else { write!(f, " {unit}") }
    }
}

/// Prints a number with commas between thousands.
fn grouped(value: f64) -> String {
    let text = value.to_string();
    let fraction = text.find('.').map_or("", |at| &text[at..]);
    format!("{}{fraction}", units::format_count(value as u64))
}
