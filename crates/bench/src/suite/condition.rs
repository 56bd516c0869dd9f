//! What must hold of a measurement, such as `p99 < 2ms` or `iops > 50`.

use std::fmt;

use analysis::LatencyFigure;
use analysis::limit::{Comparison, Limit, LimitError, Piece, pieces};

/// One thing that must hold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Condition {
    /// A figure of the latency is below this.
    Latency {
        /// Which one: under a rate of the response time, else of the service time.
        figure: LatencyFigure,
        /// Nanoseconds.
        ns_max: u64,
        /// Of what makes writes durable (`fsync`, `fdatasync`), and not of the I/Os.
        is_of_sync: bool,
    },
    /// So many I/Os per second at least.
    Iops(f64),
    /// So many bytes per second at least.
    BytesPerS(f64),
}

/// Why a text is no condition.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ConditionError {
    /// It is no limit of a latency.
    #[error(transparent)]
    Limit(#[from] LimitError),
    /// It is a rate, and not one of at least a number.
    #[error("column {column}: {what}")]
    Rate {
        /// Where, from 1, in characters.
        column: usize,
        /// What is wrong, and what to write instead.
        what: String,
    },
    /// It limits something else.
    #[error("column {column}: write a limit of a latency, such as `p99 < 2ms`")]
    NoLatency {
        /// Where, from 1, in characters.
        column: usize,
    },
}

impl Condition {
    /// Reads conditions with commas between, such as `sync p99 < 10ms, iops > 50`.
    ///
    /// # Errors
    /// With the first mistake, where it is, and what to write instead.
    pub fn parse_all(text: &str) -> Result<Vec<Condition>, ConditionError> {
        pieces(text).into_iter().map(Self::parse).collect()
    }

    /// Reads one: a limit, or a rate, which is a least one with `=`, `>` and `>=` alike.
    pub(super) fn parse(piece: Piece<'_>) -> Result<Condition, ConditionError> {
        let Comparison { name, sign, value } = piece.comparison();
        let unit = name.text.to_lowercase();
        if let "iops" | "mb_s" | "mib_s" = &*unit {
            let rate = |column, what| ConditionError::Rate { column, what };
            if !matches!(sign.text, "=" | ">" | ">=" | "=>" | "≥") || value.text.is_empty() {
                return Err(rate(name.column(), format!("write how much: `{unit} > 100`")));
            }
            let read = if unit == "iops" { count(value.text) } else { above_0(value.text) };
            let number = read.map_err(|what| rate(value.column(), what))?;
            return Ok(match &*unit {
                "iops" => Condition::Iops(number),
                "mb_s" => Condition::BytesPerS(number * 1e6),
                _ => Condition::BytesPerS(number * f64::from(1 << 20)),
            });
        }
        let (is_of_sync, limit) =
            piece.behind("sync").map_or((false, piece), |limit| (true, limit));
        match Limit::read(limit)? {
            Limit::Latency { figure, ns_max } => {
                Ok(Condition::Latency { figure, ns_max, is_of_sync })
            }
            Limit::Achieved { .. } => Err(ConditionError::NoLatency { column: limit.column() }),
        }
    }

    /// Returns whether both limit the same figure of the latency.
    pub(super) fn is_of_figure_of(&self, other: &Condition) -> bool {
        match (self, other) {
            (
                Condition::Latency { figure, is_of_sync, .. },
                Condition::Latency { figure: other, is_of_sync: of_sync, .. },
            ) => figure == other && is_of_sync == of_sync,
            (Condition::Latency { .. } | Condition::Iops(_) | Condition::BytesPerS(_), _) => false,
        }
    }

    /// Returns what is required, in the unit of the record.
    pub(super) fn bound(&self) -> f64 {
        match self {
            Condition::Latency { ns_max, .. } => *ns_max as f64,
            Condition::Iops(least) | Condition::BytesPerS(least) => *least,
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Condition::Latency { figure, ns_max, is_of_sync } => {
                let of = if *is_of_sync { "sync " } else { "" };
                write!(f, "{of}{}", Limit::Latency { figure: *figure, ns_max: *ns_max })
            }
            Condition::Iops(least) => write!(f, "IOPS >= {}", trimmed(*least)),
            Condition::BytesPerS(least) => write!(f, "MB/s >= {}", trimmed(least / 1e6)),
        }
    }
}

/// Prints a number with two decimals at most.
pub(super) fn trimmed(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Reads a number above 0, which may be a fraction.
fn above_0(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite() && *number > 0.0);
    number.ok_or_else(|| format!("`{text}`: expected a number above 0"))
}

/// Reads one that may also be a count such as `16k`.
fn count(text: &str) -> Result<f64, String> {
    if text.parse::<f64>().is_ok() {
        return above_0(text);
    }
    match units::parse_count(text).map_err(|error| error.to_string())? {
        0 => Err(format!("`{text}`: expected a number above 0")),
        count => Ok(count as f64),
    }
}
