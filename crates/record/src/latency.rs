//! JSON form of a latency histogram: the compact text of `hist`, and figures for people beside it.
//!
//! Only `histogram` is read back. The figures beside it are derived, so they cannot contradict it;
//! they are there for `jq` and for eyes. All but `n` are null when nothing was recorded.

use hist::Histogram;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What is written for one histogram.
#[derive(Serialize)]
struct Written {
    n: u64,
    min_ns: Option<u64>,
    mean_ns: Option<f64>,
    stdev_ns: Option<f64>,
    p50_ns: Option<u64>,
    p90_ns: Option<u64>,
    p95_ns: Option<u64>,
    p99_ns: Option<u64>,
    p99_9_ns: Option<u64>,
    p99_99_ns: Option<u64>,
    max_ns: Option<u64>,
    histogram: String,
}

/// What is read of it.
#[derive(Deserialize)]
struct Read {
    histogram: String,
}

impl Written {
    fn of(hist: &Histogram) -> Self {
        Written {
            n: hist.count(),
            min_ns: hist.min_ns(),
            mean_ns: hist.mean_ns(),
            stdev_ns: hist.stdev_ns(),
            p50_ns: hist.quantile(0.5),
            p90_ns: hist.quantile(0.9),
            p95_ns: hist.quantile(0.95),
            p99_ns: hist.quantile(0.99),
            p99_9_ns: hist.quantile(0.999),
            p99_99_ns: hist.quantile(0.9999),
            max_ns: hist.max_ns(),
            histogram: hist.encode_text(),
        }
    }
}

impl Read {
    fn histogram<E: serde::de::Error>(&self) -> Result<Histogram, E> {
        Histogram::decode_text(&self.histogram).map_err(E::custom)
    }
}

/// Writes a histogram.
pub(crate) fn serialize<S: Serializer>(hist: &Histogram, to: S) -> Result<S::Ok, S::Error> {
    Written::of(hist).serialize(to)
}

/// Reads a histogram.
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Histogram, D::Error> {
    Read::deserialize(from)?.histogram()
}

/// The same for a histogram that may be absent (null).
pub(crate) mod optional {
    use super::{Deserialize, Deserializer, Histogram, Read, Serialize, Serializer, Written};

    /// Writes a histogram or null.
    #[expect(clippy::ref_option, reason = "serde calls it with a reference to the field")]
    pub(crate) fn serialize<S: Serializer>(
        hist: &Option<Histogram>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        hist.as_ref().map(Written::of).serialize(to)
    }

    /// Reads a histogram or null.
    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Histogram>, D::Error> {
        Option::<Read>::deserialize(from)?.map(|read| read.histogram()).transpose()
    }
}
