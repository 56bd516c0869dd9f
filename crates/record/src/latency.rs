//! JSON form of a latency histogram: the compact text of `hist`, and figures for people beside it.
//!
//! Only `histogram` is read back. The figures beside it are derived, so they cannot contradict it;
//! they are there for `jq` and for eyes. All but `n` are null when nothing was recorded.

use hist::Histogram;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::figures_json::InJson as _;
use crate::{Figure, Figures, Latency};

/// What is written for one histogram.
struct Written<'a>(&'a Histogram);

/// What is read of it.
#[derive(Deserialize)]
struct Read {
    histogram: String,
}

impl Serialize for Written<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Written(hist) = *self;
        let figures = Figures::of(&Latency::Measured(hist));
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("n", &hist.count())?;
        for figure in Figure::latencies() {
            let value = figures.get(figure).map(|value| value.in_json(figure));
            map.serialize_entry(figure.metric(), &value)?;
        }
        map.serialize_entry("stdev_ns", &hist.stdev_ns())?;
        map.serialize_entry("histogram", &hist.encode_text())?;
        map.end()
    }
}

impl Read {
    fn histogram<E: serde::de::Error>(&self) -> Result<Histogram, E> {
        Histogram::decode_text(&self.histogram).map_err(E::custom)
    }
}

/// Writes a histogram.
pub(crate) fn serialize<S: Serializer>(hist: &Histogram, to: S) -> Result<S::Ok, S::Error> {
    Written(hist).serialize(to)
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
        hist.as_ref().map(Written).serialize(to)
    }

    /// Reads a histogram or null.
    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Histogram>, D::Error> {
        Option::<Read>::deserialize(from)?.map(|read| read.histogram()).transpose()
    }
}
