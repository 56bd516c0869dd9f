//! Reads typed values out of TOML, and collects findings with line and column: the one reader of
//! every file of ours that people write. [`quoted`] writes a string as it is read here.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::ops::Range;
use std::time::Duration;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::{Diagnostic, Severity, Span};

/// A value and where it stands.
pub type Located<T> = (T, Range<usize>);

/// Most findings that are kept: a binary file would have one per byte.
const FINDINGS_MAX: usize = 100;

/// Code of what is no TOML.
const SYNTAX: &str = "syntax";

/// Reads a text of TOML: `read` is given the keys of its root. Returns what `read` made of them,
/// unless a finding is an error, and all findings in the order of their places.
///
/// Where a line is no TOML, what may follow from it is left out: the line's other mistakes, and
/// keys that are missing or stand in no table that has them.
pub fn read_toml<T>(
    text: &str,
    read: impl FnOnce(Keys<'_>, &mut Findings<'_>) -> T,
) -> (Option<T>, Vec<Diagnostic>) {
    let mut findings = Findings::new(text);
    let (root, errors) = DeTable::parse_recoverable(text);
    for error in errors {
        let at = error.span().unwrap_or(0..0);
        findings.error(SYNTAX, &at, error.message().lines().collect::<Vec<_>>().join(", "));
    }
    let made = read(Keys::new(root.get_ref(), 0..0), &mut findings);
    let (mut findings, has_error) = findings.finish();
    drop_what_follows_from_syntax(&mut findings);
    (Some(made).filter(|_| !has_error), findings)
}

/// Writes a text as a string of TOML, in one line.
pub fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            c if c.is_control() => {
                let _ = write!(quoted, "\\u{:04X}", c as u32);
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// Of a line that cannot be read the first mistake is reported. What seems to be missing may stand
/// there, and the head of a table to which keys belong.
fn drop_what_follows_from_syntax(findings: &mut Vec<Diagnostic>) {
    let line = |finding: &Diagnostic| finding.span.as_ref().map(|span| span.line);
    let is_syntax = |finding: &Diagnostic| finding.code == SYNTAX;
    let unread: BTreeSet<_> = findings.iter().filter(|one| is_syntax(one)).map(line).collect();
    if unread.is_empty() {
        return;
    }
    let mut reported = BTreeSet::new();
    findings.retain(|finding| match line(finding) {
        line if unread.contains(&line) => is_syntax(finding) && reported.insert(line),
        _ => !matches!(finding.code, "missing-key" | "unknown-key"),
    });
}

/// Collects findings about one text.
pub struct Findings<'a> {
    text: &'a str,
    source_idx: u32,
    /// Places from which others are counted, one for each line and more where that is long.
    marks: Vec<Mark>,
    list: Vec<Diagnostic>,
}

/// A place in a text.
#[derive(Clone, Copy)]
struct Mark {
    at: usize,
    line: u32,
    column: u32,
}

/// Bytes of a line that are counted at most.
const MARK_BYTES: usize = 4096;

impl<'a> Findings<'a> {
    /// Makes an empty collection about a text, source 0 of its plan or design.
    pub fn new(text: &'a str) -> Self {
        Self::of(text, 0)
    }

    /// The same about another source of a plan.
    pub fn of(text: &'a str, source_idx: u32) -> Self {
        let mut here = Mark { at: 0, line: 1, column: 1 };
        let mut marks = vec![here];
        for (at, c) in text.char_indices() {
            if at >= marks[marks.len() - 1].at + MARK_BYTES {
                marks.push(Mark { at, ..here });
            }
            if c == '\n' {
                here = Mark { at: at + 1, line: here.line.saturating_add(1), column: 1 };
                marks.push(here);
            } else {
                here.column = here.column.saturating_add(1);
            }
        }
        Findings { text, source_idx, marks, list: Vec::new() }
    }

    /// Adds an error.
    pub fn error(&mut self, code: &'static str, at: &Range<usize>, text: impl Into<String>) {
        self.add(Diagnostic::error(code, text), at);
    }

    /// Adds a warning.
    pub fn warn(&mut self, code: &'static str, at: &Range<usize>, text: impl Into<String>) {
        self.add(Diagnostic::warning(code, text), at);
    }

    /// Adds a finding at a place.
    pub fn add(&mut self, finding: Diagnostic, at: &Range<usize>) {
        if self.list.len() < FINDINGS_MAX {
            let span = self.span(at);
            self.list.push(finding.at(span));
        }
    }

    /// Returns whether this was added.
    pub fn has(&self, finding: &Diagnostic) -> bool {
        self.list.contains(finding)
    }

    /// Returns the findings in the order of their places, and whether there is an error.
    pub fn finish(mut self) -> (Vec<Diagnostic>, bool) {
        self.list.sort_by_key(|finding| finding.span.as_ref().map_or(0, |span| span.bytes.start));
        let has_error = self.has_error();
        (self.list, has_error)
    }

    /// Returns whether any finding so far is an error.
    pub fn has_error(&self) -> bool {
        self.list.iter().any(|finding| finding.severity == Severity::Error)
    }

    /// Returns a place with its line and column.
    pub fn span(&self, at: &Range<usize>) -> Span {
        let mut start = at.start.min(self.text.len());
        while !self.text.is_char_boundary(start) {
            start -= 1;
        }
        let n_before = self.marks.partition_point(|mark| mark.at <= start).max(1);
        let mark = self.marks[n_before - 1];
        let n_chars = self.text[mark.at..start].chars().count() as u32;
        Span {
            source_idx: Some(self.source_idx),
            line: mark.line,
            column: mark.column.saturating_add(n_chars),
            bytes: start..at.end.clamp(start, self.text.len()),
        }
    }
}

/// The keys of one table. Each is asked for once; a key that was not asked for is a mistake.
pub struct Keys<'a> {
    table: &'a DeTable<'a>,
    /// Where the table stands.
    pub at: Range<usize>,
    asked: Vec<&'static str>,
}

impl<'a> Keys<'a> {
    /// Makes the keys of a table that stands at `at`.
    pub fn new(table: &'a DeTable<'a>, at: Range<usize>) -> Self {
        Keys { table, at, asked: Vec::new() }
    }

    /// Returns a key's value.
    pub fn get(&mut self, name: &'static str) -> Option<&'a Spanned<DeValue<'a>>> {
        if !self.asked.contains(&name) {
            self.asked.push(name);
        }
        self.table.iter().find(|(key, _)| key.get_ref() == name).map(|(_, value)| value)
    }

    /// Returns a key's text.
    pub fn text(
        &mut self,
        name: &'static str,
        findings: &mut Findings<'_>,
    ) -> Option<Located<&'a str>> {
        let value = self.get(name)?;
        match value.get_ref() {
            DeValue::String(text) => Some((text, value.span())),
            other => {
                wrong_type(findings, name, other, &value.span(), "text in quotes");
                None
            }
        }
    }

    /// Returns a key's texts: one, or a list of them.
    pub fn texts(
        &mut self,
        name: &'static str,
        findings: &mut Findings<'_>,
    ) -> Vec<Located<&'a str>> {
        let Some(value) = self.get(name) else { return Vec::new() };
        let values = match value.get_ref() {
            DeValue::Array(values) => &values[..],
            _ => std::slice::from_ref(value),
        };
        let mut texts = Vec::new();
        for value in values {
            match value.get_ref() {
                DeValue::String(text) => texts.push((&**text, value.span())),
                other => {
                    let expected = "text in quotes, or a list of such";
                    wrong_type(findings, name, other, &value.span(), expected);
                }
            }
        }
        texts
    }

    /// Returns a key's yes or no.
    pub fn flag(&mut self, name: &'static str, findings: &mut Findings<'_>) -> bool {
        let Some(value) = self.get(name) else { return false };
        match value.get_ref() {
            DeValue::Boolean(flag) => *flag,
            other => {
                wrong_type(findings, name, other, &value.span(), "true or false");
                false
            }
        }
    }

    /// Returns a key's count: a whole number, or text such as `"50k"`.
    pub fn count(
        &mut self,
        name: &'static str,
        findings: &mut Findings<'_>,
    ) -> Option<Located<u64>> {
        let value = self.get(name)?;
        let at = value.span();
        let count = match value.get_ref() {
            DeValue::Integer(digits) => u64::from_str_radix(digits.as_str(), digits.radix())
                .map_err(|_| format!("`{}` is not a whole number above zero", digits.as_str())),
            DeValue::String(text) => units::parse_count(text).map_err(|error| error.to_string()),
            other => {
                wrong_type(findings, name, other, &at, "a whole number");
                return None;
            }
        };
        ok_or_report(count, name, &at, findings)
    }

    /// Returns a key's number of bytes: text such as `"1TiB"`.
    pub fn bytes(
        &mut self,
        name: &'static str,
        findings: &mut Findings<'_>,
    ) -> Option<Located<u64>> {
        let (text, at) =
            self.unit_text(name, "a size with its unit, such as \"1TiB\"", findings)?;
        let bytes = units::parse_bytes(text).map_err(|error| error.to_string());
        ok_or_report(bytes, name, &at, findings)
    }

    /// Returns a key's bytes per second: text such as `"200MB/s"`, `"1GiB/s"` or `"8000Mb/s"`.
    pub fn rate(
        &mut self,
        name: &'static str,
        findings: &mut Findings<'_>,
    ) -> Option<Located<u64>> {
        let expected = "a rate with its unit, such as \"200MB/s\" or \"8000Mb/s\"";
        let (text, at) = self.unit_text(name, expected, findings)?;
        if text.trim_end().ends_with(|c: char| c.is_ascii_digit() || c == '.') {
            let text = format!("`{name}`: `{text}` has no unit, expected {expected}");
            findings.error("bad-value", &at, text);
            return None;
        }
        // A card's "Mb/s" are bits, as everywhere in networking.
        let bits = text.trim_end().strip_suffix("b/s");
        let rate = match bits {
            Some(start) => units::parse_rate(&format!("{start}bit/s")),
            None => units::parse_rate(text),
        };
        ok_or_report(rate.map_err(|error| error.to_string()), name, &at, findings)
    }

    /// Returns a key's duration.
    pub fn duration(
        &mut self,
        name: &'static str,
        findings: &mut Findings<'_>,
    ) -> Option<Located<Duration>> {
        let expected = "a time with its unit, such as \"1ms\"";
        let (text, at) = self.unit_text(name, expected, findings)?;
        let duration = units::parse_duration(text).map_err(|error| error.to_string());
        ok_or_report(duration, name, &at, findings)
    }

    /// Returns a key's number with a fraction.
    pub fn number(
        &mut self,
        name: &'static str,
        findings: &mut Findings<'_>,
    ) -> Option<Located<f64>> {
        let value = self.get(name)?;
        let at = value.span();
        let digits = match value.get_ref() {
            DeValue::Float(digits) => digits.as_str(),
            DeValue::Integer(digits) => digits.as_str(),
            other => {
                wrong_type(findings, name, other, &at, "a number");
                return None;
            }
        };
        let number = digits.parse::<f64>().ok().filter(|number| number.is_finite());
        let number = number.ok_or_else(|| format!("`{digits}` is not a number"));
        ok_or_report(number, name, &at, findings)
    }

    /// Returns a key's list of numbers.
    pub fn numbers(&mut self, name: &'static str, findings: &mut Findings<'_>) -> Option<Vec<f64>> {
        let value = self.get(name)?;
        let numbers = match value.get_ref() {
            DeValue::Array(values) => {
                values.iter().map(|value| number(value.get_ref())).collect::<Option<Vec<f64>>>()
            }
            _ => None,
        };
        if numbers.is_none() {
            let expected = "a list of numbers, such as [0, 50]";
            wrong_type(findings, name, value.get_ref(), &value.span(), expected);
        }
        numbers
    }

    /// Returns a key's table.
    pub fn table(&mut self, name: &'static str, findings: &mut Findings<'_>) -> Option<Keys<'a>> {
        let value = self.get(name)?;
        match value.get_ref() {
            DeValue::Table(table) => Some(Keys::new(table, value.span())),
            other => {
                wrong_type(findings, name, other, &value.span(), "a table");
                None
            }
        }
    }

    /// Returns the tables of `[[name]]`.
    pub fn tables(&mut self, name: &'static str, findings: &mut Findings<'_>) -> Vec<Keys<'a>> {
        let Some(value) = self.get(name) else { return Vec::new() };
        let mut tables = Vec::new();
        match value.get_ref() {
            DeValue::Array(values) => {
                for value in values {
                    match value.get_ref() {
                        DeValue::Table(table) => tables.push(Keys::new(table, value.span())),
                        other => wrong_type(findings, name, other, &value.span(), "a table"),
                    }
                }
            }
            other => {
                let expected = format!("a list of tables: write [[{name}]]");
                wrong_type(findings, name, other, &value.span(), &expected);
            }
        }
        tables
    }

    /// Returns whether the table has no key at all.
    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    /// Returns the keys that were not asked for, with their places and values, in the order of the
    /// text.
    pub fn rest(&self) -> Vec<(Located<&'a str>, &'a Spanned<DeValue<'a>>)> {
        let all = self.table.iter().map(|(key, value)| ((&**key.get_ref(), key.span()), value));
        let mut rest: Vec<_> = all.filter(|((name, _), _)| !self.asked.contains(name)).collect();
        rest.sort_by_key(|((_, at), _)| at.start);
        rest
    }

    /// Reports every key that was not asked for.
    pub fn finish(self, findings: &mut Findings<'_>) {
        for key in self.table.keys() {
            let name: &str = key.get_ref();
            if self.asked.contains(&name) {
                continue;
            }
            let near = units::nearest(name, self.asked.iter().copied());
            let mut finding = Diagnostic::error("unknown-key", format!("unknown key `{name}`"));
            finding = match near.first() {
                Some(near) => finding.help(format!("did you mean `{near}`?")),
                None => finding.help(format!("known here: {}", self.asked.join(", "))),
            };
            findings.add(finding, &key.span());
        }
    }

    fn unit_text(
        &mut self,
        name: &'static str,
        expected: &str,
        findings: &mut Findings<'_>,
    ) -> Option<Located<&'a str>> {
        let value = self.get(name)?;
        match value.get_ref() {
            DeValue::String(text) => Some((text, value.span())),
            other => {
                wrong_type(findings, name, other, &value.span(), expected);
                None
            }
        }
    }
}

/// Returns a value as a finite number.
fn number(value: &DeValue<'_>) -> Option<f64> {
    let digits = match value {
        DeValue::Float(digits) => digits.as_str(),
        DeValue::Integer(digits) => digits.as_str(),
        _ => return None,
    };
    digits.parse::<f64>().ok().filter(|number| number.is_finite())
}

fn wrong_type(
    findings: &mut Findings<'_>,
    name: &str,
    found: &DeValue<'_>,
    at: &Range<usize>,
    expected: &str,
) {
    let kind = found.type_str();
    findings.error("wrong-type", at, format!("`{name}` is of type {kind}, expected {expected}"));
}

fn ok_or_report<T>(
    value: Result<T, String>,
    name: &str,
    at: &Range<usize>,
    findings: &mut Findings<'_>,
) -> Option<Located<T>> {
    match value {
        Ok(value) => Some((value, at.clone())),
        Err(why) => {
            findings.error("bad-value", at, format!("`{name}`: {why}"));
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quoted_text_is_read_as_it_was() {
        let all: String = (0..0x180).filter_map(char::from_u32).collect();
        for text in ["", "a b", "it's \"so\"", "c:\\new\n\tline\r", "\u{7f}\u{85}\u{2028}", &all] {
            let line = format!("key = {}", quoted(text));
            assert!(!line.contains('\n'), "{line}");
            let (read, findings) = read_toml(&line, |mut keys, findings| {
                keys.text("key", findings).map(|(text, _)| text.to_owned())
            });
            assert_eq!(read.flatten().as_deref(), Some(text), "{findings:?}");
        }
    }
}
