//! The columns of the table.

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Text.
    Text,
    /// A whole number, not negative.
    Whole,
    /// A number.
    Number,
    /// True or false.
    Flag,
}

/// One column.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Its name, with the unit.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
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

const fn column(name: &'static str, kind: Kind, doc: &'static str) -> Column {
    Column { name, kind, doc }
}

/// All columns, in order. Every one may be empty.
pub const COLUMNS: [Column; 28] = [
    column("run_id", Kind::Whole, "Number of the run in its store; empty for a file."),
    column("run", Kind::Text, "Name of the run, or of its file."),
    column("started_unix_ms", Kind::Whole, "Start of the run, after the Unix epoch."),
    column("part", Kind::Text, "`summary`, `latency`, `histogram` or `interval`: what the row is."),
    column("step_idx", Kind::Whole, "Step, from 0."),
    column("step", Kind::Text, "Name of the step, where it has one."),
    column("job", Kind::Text, "Name of the job; empty for all jobs together."),
    column("n_workers", Kind::Whole, "Workers in the row; in `summary` only."),
    column(
        "dir",
        Kind::Text,
        "`read`, `write`, `trim`, `sync` (fsync and its like), or the name of a file operation.",
    ),
    column(
        "latency",
        Kind::Text,
        "What the latencies count: `total`, `service`, `submit` or `response`.",
    ),
    column("start_ms", Kind::Whole, "Start of an interval, after the start of the run."),
    column("end_ms", Kind::Whole, "Its end."),
    column("is_ramp", Kind::Flag, "Whether the interval lies in the ramp, which no figure counts."),
    column(
        "is_warm_up",
        Kind::Flag,
        "Whether it begins in the warm-up that was found or told, which figures count and \
         steadiness does not; empty where none was looked for.",
    ),
    column(
        "n_ios",
        Kind::Whole,
        "Operations completed; in `latency` and `histogram` those with this latency.",
    ),
    column("io_bytes", Kind::Whole, "Bytes moved."),
    column("n_errors", Kind::Whole, "Operations that failed; in `summary` only."),
    column("rate_iops", Kind::Number, "Operations per second."),
    column("rate_bytes_per_s", Kind::Number, "Bytes per second."),
    column("latency_ns_mean", Kind::Number, "Mean of the latency."),
    column(
        "latency_ns_min",
        Kind::Whole,
        "Smallest latency; in `histogram` the lowest of the bucket.",
    ),
    column("latency_ns_p50", Kind::Whole, "Median."),
    column("latency_ns_p90", Kind::Whole, "90th percentile; not of intervals."),
    column("latency_ns_p95", Kind::Whole, "95th percentile; not of intervals."),
    column("latency_ns_p99", Kind::Whole, "99th percentile."),
    column("latency_ns_p99_9", Kind::Whole, "99.9th percentile; not of intervals."),
    column("latency_ns_p99_99", Kind::Whole, "99.99th percentile; not of intervals."),
    column(
        "latency_ns_max",
        Kind::Whole,
        "Largest latency; in `histogram` the highest of the bucket.",
    ),
];
