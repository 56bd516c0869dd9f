//! Figures as fields of JSON objects. Each kind of object has names of its own for them, which
//! records of before have, too; what is not known is left out.

use std::borrow::Cow;
use std::marker::PhantomData;

use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::{Figure, Figures};

/// What figures are called in a kind of objects; for `#[serde(flatten, with = "..")]`.
pub(crate) trait Fields {
    /// Returns the name of a figure.
    fn name(figure: Figure) -> Cow<'static, str>;

    /// Writes what is known.
    fn serialize<T: InJson, S: Serializer>(figures: &Figures<T>, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        for figure in Figure::ALL {
            if let Some(value) = figures.get(*figure) {
                map.serialize_entry(&Self::name(*figure), &value.in_json(*figure))?;
            }
        }
        map.end()
    }

    /// Reads what is there.
    fn deserialize<'de, T, D>(from: D) -> Result<Figures<T>, D::Error>
    where
        T: Copy + Deserialize<'de>,
        D: Deserializer<'de>,
        Self: Sized,
    {
        from.deserialize_map(Reader(PhantomData::<(Self, T)>))
    }
}

/// A value of a figure.
pub(crate) trait InJson: Copy {
    type Json: Serialize;

    /// Returns it as JSON has it.
    fn in_json(self, of: Figure) -> Self::Json;
}

impl InJson for f64 {
    type Json = Value;

    fn in_json(self, of: Figure) -> Value {
        if of.is_whole() { Value::from(self.round() as u64) } else { Value::from(self) }
    }
}

struct Reader<F, T>(PhantomData<(F, T)>);

impl<'de, F: Fields, T: Copy + Deserialize<'de>> Visitor<'de> for Reader<F, T> {
    type Value = Figures<T>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("figures by their names")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Figures<T>, M::Error> {
        let mut figures = Figures::default();
        while let Some(key) = map.next_key::<Cow<'de, str>>()? {
            match Figure::ALL.iter().find(|figure| F::name(**figure) == key) {
                Some(figure) => figures = figures.with(*figure, map.next_value::<Option<T>>()?),
                None => _ = map.next_value::<IgnoredAny>()?,
            }
        }
        Ok(figures)
    }
}

/// Those of a run or a step.
enum OfRun {}

impl Fields for OfRun {
    fn name(figure: Figure) -> Cow<'static, str> {
        figure.field().into()
    }
}

impl Serialize for Figures {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        OfRun::serialize(self, to)
    }
}

impl<'de> Deserialize<'de> for Figures {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        OfRun::deserialize(from)
    }
}

/// Those of a point of a load curve: `achieved_iops`, `bytes_per_s`, `latency_p99_ns`.
pub(crate) enum OfPoint {}

impl Fields for OfPoint {
    fn name(figure: Figure) -> Cow<'static, str> {
        if figure == Figure::Iops { "achieved_iops".into() } else { OfRow::name(figure) }
    }
}

/// Those of a row of a suite: `iops`, `bytes_per_s`, `latency_p99_ns`.
pub(crate) enum OfRow {}

impl Fields for OfRow {
    fn name(figure: Figure) -> Cow<'static, str> {
        let metric = figure.metric();
        if figure.is_rate() { metric.into() } else { format!("latency_{metric}").into() }
    }
}

/// Those of what made writes durable in a row of a suite: `sync_p99_ns`.
pub(crate) enum OfSync {}

impl Fields for OfSync {
    fn name(figure: Figure) -> Cow<'static, str> {
        format!("sync_{}", figure.metric()).into()
    }
}
