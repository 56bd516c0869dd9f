//! The lines of a flatfile: columns by their names, values by their lines.

use super::ResultError;

/// What Vdbench writes where it does not know a value, or where several hold.
const UNKNOWN: [&str; 2] = ["n/a", "NaN"];

/// A flatfile: the names of its columns, and its rows.
pub(super) struct Table<'t> {
    heading: usize,
    names: Vec<&'t str>,
    rows: Vec<(usize, Vec<&'t str>)>,
}

/// Returns whether a line names columns.
pub(super) fn is_heading(line: &str) -> bool {
    let has = |name: &str| line.split_whitespace().any(|word| word == name);
    !line.starts_with(['*', '<']) && has("Run") && has("Interval")
}

impl<'t> Table<'t> {
    /// Takes a flatfile apart. Lines that begin with `*` explain, and `<` is the page's own.
    pub(super) fn new(text: &'t str) -> Result<Self, ResultError> {
        let lines = text.lines().enumerate().map(|(idx, line)| (idx + 1, line));
        let mut lines =
            lines.filter(|(_, line)| !line.trim().is_empty() && !line.starts_with(['*', '<']));
        let words = |line: &'t str| line.split_whitespace().collect::<Vec<&'t str>>();
        let heading = lines.next().filter(|(_, line)| is_heading(line));
        let (heading, names) = heading.ok_or(ResultError::NoHeading)?;
        let names = words(names);
        let mut rows = Vec::new();
        for (line, text) in lines {
            let words = words(text);
            if words.len() != names.len() {
                let (n_found, n_named) = (words.len(), names.len());
                return Err(ResultError::Values { line, n_found, heading, n_named });
            }
            rows.push((line, words));
        }
        Ok(Table { heading, names, rows })
    }

    pub(super) fn has(&self, column: &str) -> bool {
        self.names.contains(&column)
    }

    pub(super) fn names(&self) -> &[&'t str] {
        &self.names
    }

    /// Checks that columns are there.
    pub(super) fn need(&self, columns: &[&'static str]) -> Result<(), ResultError> {
        match columns.iter().find(|column| !self.has(column)) {
            Some(column) => Err(ResultError::NoColumn { line: self.heading, column }),
            None => Ok(()),
        }
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = Cells<'_, 't>> {
        self.rows.iter().map(|(line, words)| Cells { table: self, line: *line, words })
    }
}

/// A row.
pub(super) struct Cells<'a, 't> {
    pub(super) table: &'a Table<'t>,
    line: usize,
    words: &'a [&'t str],
}

impl<'t> Cells<'_, 't> {
    /// Returns what stands in a column, `None` where there is no such column.
    pub(super) fn text(&self, column: &str) -> Option<&'t str> {
        let idx = self.table.names.iter().position(|name| *name == column)?;
        Some(self.words[idx])
    }

    /// Returns a number from 0 up, `None` where it is not known.
    pub(super) fn number(&self, column: &str) -> Result<Option<f64>, ResultError> {
        let known = self.text(column).filter(|text| !UNKNOWN.contains(text));
        let Some(text) = known else { return Ok(None) };
        let number = text.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0);
        number.map(Some).ok_or_else(|| self.wrong(column, "a number from 0 up, or `n/a`"))
    }

    /// Returns a number from 0 up; 0 where nothing was measured.
    pub(super) fn amount(&self, column: &str) -> Result<f64, ResultError> {
        Ok(self.number(column)?.unwrap_or(0.0))
    }

    /// Returns a share from a percentage.
    pub(super) fn share(&self, column: &str) -> Result<f64, ResultError> {
        let percent = self.amount(column)?;
        if percent > 100.0 {
            return Err(self.wrong(column, "a percentage from 0 to 100"));
        }
        Ok(percent / 100.0)
    }

    /// Reports that a value is not what belongs there.
    pub(super) fn wrong(&self, column: &str, wanted: &'static str) -> ResultError {
        let found = self.text(column).unwrap_or_default().to_owned();
        ResultError::Value { line: self.line, column: column.to_owned(), found, wanted }
    }
}
