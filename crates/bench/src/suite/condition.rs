//! What must hold of a measurement, such as `p99 < 2ms` or `iops > 50`.

use std::fmt;

use analysis::{LatencyFigure, Limit, Limits};

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

impl Condition {
    /// Reads conditions with commas between, such as `sync p99 < 10ms, iops > 50`.
    ///
    /// # Errors
    /// With what is wrong and what to write instead.
    pub fn parse_all(text: &str) -> Result<Vec<Condition>, String> {
        text.split(',').map(|part| Self::parse(part.trim())).collect()
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

    pub(super) fn parse(text: &str) -> Result<Condition, String> {
        let rate = |least: &str| {
            positive(least.trim_start_matches('=').trim())
                .ok_or_else(|| format!("`{text}`: expected a number above 0 behind `>`"))
        };
        if let Some((name, least)) = text.split_once('>') {
            return match name.trim() {
                "iops" => rate(least).map(Condition::Iops),
                "mb_s" => rate(least).map(|mb_s| Condition::BytesPerS(mb_s * 1e6)),
                _ => Err(format!("`{text}`: `iops` and `mb_s` may be more than a number")),
            };
        }
        let (is_of_sync, limit) = match text.strip_prefix("sync ") {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let limits = limit.parse::<Limits>().map_err(|errors| {
            errors.first().map_or(String::new(), |error| format!("`{text}`: {}", error.mistake))
        })?;
        match limits.all.as_slice() {
            [Limit::Latency { figure, ns_max }] => {
                Ok(Condition::Latency { figure: *figure, ns_max: *ns_max, is_of_sync })
            }
            _ => Err(format!("`{text}`: write a latency such as `p99 < 2ms`")),
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

/// Reads a number above 0.
pub(super) fn positive(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite() && *number > 0.0)
}
