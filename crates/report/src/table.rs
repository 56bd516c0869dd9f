//! The figures behind a chart: as people read them, and as CSV.

use record::{Figure, Figures};
use serde_json::Value;

/// A table.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Table {
    /// Its columns.
    pub columns: Vec<Column>,
    /// Its rows, each with a cell per column.
    pub rows: Vec<Vec<Cell>>,
}

/// A column.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// What people read.
    pub head: String,
    /// Name with its unit last, for programs.
    pub name: String,
}

/// A cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Words.
    Text(String),
    /// A number: its value in the unit of the column's name, and as it is shown.
    Number(f64, String),
    /// There is none.
    Nothing,
}

impl Table {
    /// Makes an empty table of columns given as (head, name).
    pub fn new(columns: &[(&str, &str)]) -> Self {
        Table::default().and(columns)
    }

    /// Adds columns given as (head, name).
    #[must_use]
    pub fn and(mut self, columns: &[(&str, &str)]) -> Self {
        for (head, name) in columns {
            self.add_column(*head, *name);
        }
        self
    }

    /// Adds columns of figures.
    #[must_use]
    pub fn figures(mut self, of: &[Figure]) -> Self {
        for figure in of {
            self.add_column(figure.head(), figure.name());
        }
        self
    }

    /// Removes the columns in which every row is empty or has no text.
    pub fn remove_empty_columns(&mut self) {
        let is_empty = |cell: &Cell| match cell {
            Cell::Nothing => true,
            Cell::Text(text) => text.is_empty(),
            Cell::Number(..) => false,
        };
        for column in (0..self.columns.len()).rev() {
            if self.rows.iter().all(|row| is_empty(&row[column])) {
                self.columns.remove(column);
                self.rows.iter_mut().for_each(|row| drop(row.remove(column)));
            }
        }
    }

    /// Adds a column. The rows are for the caller to fill.
    ///
    /// A name that another column has is numbered: runs of one name may stand side by side, and
    /// programs find a column by its name.
    pub fn add_column(&mut self, head: impl Into<String>, name: impl Into<String>) {
        let (first, mut n) = (name.into(), 1);
        let mut name = first.clone();
        while self.columns.iter().any(|column| column.name == name) {
            n += 1;
            name = format!("{first}_{n}");
        }
        self.columns.push(Column { head: head.into(), name });
    }

    /// Checks that every row has a cell per column. `what` is the table's own name.
    ///
    /// # Panics
    /// If one has not.
    pub(crate) fn must_be_whole(&self, what: &str) {
        let n_columns = self.columns.len();
        for (idx, row) in self.rows.iter().enumerate() {
            let n = row.len();
            assert!(n == n_columns, "row {idx} of `{what}` has {n} cells of {n_columns}");
        }
    }

    /// Returns the table as RFC 4180 has it, with values at full precision.
    ///
    /// # Panics
    /// If a row has more or fewer cells than there are columns.
    pub fn csv(&self) -> String {
        self.must_be_whole("csv");
        let mut text = String::new();
        let names: Vec<&str> = self.columns.iter().map(|column| column.name.as_str()).collect();
        text.push_str(&names.join(","));
        text.push_str("\r\n");
        for row in &self.rows {
            let cells: Vec<String> = row.iter().map(Cell::csv).collect();
            text.push_str(&cells.join(","));
            text.push_str("\r\n");
        }
        text
    }

    /// Returns the table as Markdown, with what people read.
    ///
    /// # Panics
    /// If a row has more or fewer cells than there are columns.
    pub fn markdown(&self) -> String {
        self.must_be_whole("markdown");
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let heads = self.columns.iter().map(|column| export::escaped(&column.head));
        let is_number = |idx: usize| self.rows.iter().any(|row| row[idx].is_number());
        let rules = (0..self.columns.len()).map(|idx| if is_number(idx) { "---:" } else { "---" });
        let mut text = line(heads.collect());
        text.push_str(&line(rules.map(str::to_owned).collect()));
        for row in &self.rows {
            text.push_str(&line(row.iter().map(|it| export::escaped(it.as_shown())).collect()));
        }
        text
    }

    /// Returns the rows as JSON, an object each, with values at full precision.
    ///
    /// # Panics
    /// If a row has more or fewer cells than there are columns.
    pub fn json(&self) -> Value {
        self.must_be_whole("json");
        let object = |row: &Vec<Cell>| {
            let pairs = self.columns.iter().zip(row);
            Value::Object(pairs.map(|(of, cell)| (of.name.clone(), cell.json())).collect())
        };
        self.rows.iter().map(object).collect()
    }
}

impl Cell {
    /// Makes a cell of words.
    pub fn text(text: impl Into<String>) -> Self {
        Cell::Text(text.into())
    }

    /// A figure.
    pub fn figure(figure: Figure, value: Option<f64>) -> Self {
        match value.filter(|value| value.is_finite()) {
            Some(value) => Cell::Number(figure.in_unit(value), figure.shown(value)),
            None => Cell::Nothing,
        }
    }

    /// Figures, a cell each.
    pub fn figures(figures: &Figures, of: &[Figure]) -> Vec<Self> {
        of.iter().map(|figure| Self::figure(*figure, figures.get(*figure))).collect()
    }

    /// A rate of I/Os.
    pub fn iops(iops: impl Into<Option<f64>>) -> Self {
        Self::figure(Figure::Iops, iops.into())
    }

    /// A rate of bytes, in MiB/s.
    pub fn mib_per_s(bytes_per_s: impl Into<Option<f64>>) -> Self {
        Self::figure(Figure::BytesPerS, bytes_per_s.into())
    }

    /// A latency in nanoseconds.
    pub fn latency_ns(latency_ns: impl Into<Option<u64>>) -> Self {
        match latency_ns.into() {
            Some(ns) => Cell::Number(ns as f64, units::format_latency_ns(ns)),
            None => Cell::Nothing,
        }
    }

    /// A plain number, with as many decimals when shown; what is rounded to nothing has no sign.
    pub fn number(value: impl Into<Option<f64>>, decimals: usize) -> Self {
        Self::shown(value.into(), |value| {
            let text = format!("{value:.decimals$}");
            let is_nothing = text.bytes().all(|byte| matches!(byte, b'-' | b'0' | b'.'));
            if is_nothing { text.trim_start_matches('-').to_owned() } else { text }
        })
    }

    /// A count.
    pub fn count(count: u64) -> Self {
        Cell::Number(count as f64, count.to_string())
    }

    fn shown(value: Option<f64>, show: impl Fn(f64) -> String) -> Self {
        match value.filter(|value| value.is_finite()) {
            Some(value) => Cell::Number(value, show(value)),
            None => Cell::Nothing,
        }
    }

    /// Returns what people read.
    pub fn as_shown(&self) -> &str {
        match self {
            Cell::Text(text) | Cell::Number(_, text) => text,
            Cell::Nothing => "–",
        }
    }

    /// Returns whether it stands at the right.
    pub fn is_number(&self) -> bool {
        !matches!(self, Cell::Text(_))
    }

    fn csv(&self) -> String {
        match self {
            Cell::Number(value, _) => value.to_string(),
            Cell::Nothing => String::new(),
            Cell::Text(text) => {
                let text = export::plain_cell(text);
                if text.contains(['"', ',', '\n', '\r']) {
                    format!("\"{}\"", text.replace('"', "\"\""))
                } else {
                    text.into_owned()
                }
            }
        }
    }

    fn json(&self) -> Value {
        match self {
            Cell::Number(value, _) => Value::from(*value),
            Cell::Nothing => Value::Null,
            Cell::Text(text) => Value::from(text.as_str()),
        }
    }
}
