//! The columns of the table.

use std::sync::LazyLock;

use record::Figure;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// Text.
    Text,
    /// A whole number, not negative.
    Whole,
    /// A number.
    Number,
    /// True or false.
    Flag,
}

impl Value {
    /// Returns whether it can stand in a column of this kind; nothing can in all.
    pub(crate) fn fits(&self, kind: ColumnKind) -> bool {
        match self {
            Value::None => true,
            Value::Text(_) => kind == ColumnKind::Text,
            Value::Whole(_) => kind == ColumnKind::Whole,
            Value::Number(_) => kind == ColumnKind::Number,
            Value::Flag(_) => kind == ColumnKind::Flag,
        }
    }
}

/// One column.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Its name, with the unit.
    pub name: &'static str,
    /// What it holds.
    pub kind: ColumnKind,
    /// What it means, a sentence.
    pub doc: &'static str,
}

/// One cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Not known, or without meaning in this row.
    None,
    /// Text.
    Text(String),
    /// A whole number.
    Whole(u64),
    /// A number.
    Number(f64),
    /// True or false.
    Flag(bool),
}

const fn column(name: &'static str, kind: ColumnKind, doc: &'static str) -> Column {
    Column { name, kind, doc }
}

/// All columns, in order: the figures are the last. Every one may be empty.
pub static COLUMNS: LazyLock<Vec<Column>> = LazyLock::new(|| {
    let of = |figure: &Figure| Column {
        name: figure.field(),
        kind: if figure.is_whole() { ColumnKind::Whole } else { ColumnKind::Number },
        doc: figure.doc(),
    };
    FIRST.into_iter().chain(Figure::ALL.iter().map(of)).collect()
});

/// Those of what a row is of, and what was done.
const FIRST: [Column; 17] = [
    column("run_id", ColumnKind::Whole, "Number of the run in its store; empty for a file."),
    column("run", ColumnKind::Text, "Name of the run, or of its file."),
    column("started_unix_ms", ColumnKind::Whole, "Start of the run, after the Unix epoch."),
    column(
        "part",
        ColumnKind::Text,
        "`summary`, `latency`, `histogram` or `interval`: what the row is.",
    ),
    column("step_idx", ColumnKind::Whole, "Step, from 0."),
    column("step", ColumnKind::Text, "Name of the step, where it has one."),
    column("job", ColumnKind::Text, "Name of the job; empty for all jobs together."),
    column("n_workers", ColumnKind::Whole, "Workers in the row; in `summary` only."),
    column(
        "dir",
        ColumnKind::Text,
        "`read`, `write`, `trim`, `sync` (fsync and its like), or the name of a file operation.",
    ),
    column(
        "latency",
        ColumnKind::Text,
        "What the latencies count: `total`, `service`, `submit` or `response`. Intervals have the \
         median, p99 and largest one, or the mean; a row of `histogram` the lowest and highest of \
         its bucket.",
    ),
    column("start_ms", ColumnKind::Whole, "Start of an interval, after the start of the run."),
    column("end_ms", ColumnKind::Whole, "Its end."),
    column(
        "is_ramp",
        ColumnKind::Flag,
        "Whether the interval lies in the ramp, which no figure counts.",
    ),
    column(
        "is_warm_up",
        ColumnKind::Flag,
        "Whether it begins in the warm-up that was found or given, which figures count and \
         steadiness does not; empty where none was looked for.",
    ),
    column(
        "n_ios",
        ColumnKind::Whole,
        "Operations completed; in `latency` and `histogram` those with this latency.",
    ),
    column("io_bytes", ColumnKind::Whole, "Bytes moved."),
    column("n_errors", ColumnKind::Whole, "Operations that failed; in `summary` only."),
];
