//! The table of cases.

use serde_json::Value;

/// One row of `data/acceptance.csv`.
#[derive(Clone, Debug, serde::Deserialize)]
pub(crate) struct Case {
    pub(crate) id: String,
    pub(crate) source: String,
    pub(crate) lines: String,
    pub(crate) kind: String,
    pub(crate) check: String,
    /// Allowed deviation of every number; 0 asks for equality in the digits given.
    pub(crate) tolerance_pct: Option<f64>,
    /// Names of [`volume::limits::Bound`], parallel to the answers.
    pub(crate) binds: String,
    /// The case in words.
    pub(crate) what: String,
    #[serde(deserialize_with = "json")]
    pub(crate) input: Value,
    #[serde(deserialize_with = "json")]
    pub(crate) expect: Value,
    /// What the source prints where it differs from `expect`; else null.
    #[serde(deserialize_with = "json")]
    pub(crate) printed: Value,
    /// How it is worked out, or what to know about it.
    pub(crate) note: String,
}

fn json<'de, D: serde::Deserializer<'de>>(source: D) -> Result<Value, D::Error> {
    let text = <String as serde::Deserialize>::deserialize(source)?;
    if text.is_empty() {
        return Ok(Value::Null);
    }
    serde_json::from_str(&text).map_err(serde::de::Error::custom)
}

/// Reads the table.
pub(crate) fn read() -> Vec<Case> {
    let text = include_str!("../data/acceptance.csv");
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    reader.deserialize().map(|row| row.expect("a row of the table")).collect()
}

impl Case {
    /// Returns a part of the input, which the table must have.
    #[track_caller]
    pub(crate) fn get(&self, key: &str) -> &Value {
        self.input.get(key).unwrap_or_else(|| panic!("{}: no `{key}` in the input", self.id))
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        self.input.get(key).is_some()
    }

    #[track_caller]
    pub(crate) fn num(&self, key: &str) -> f64 {
        number(self.get(key))
    }

    /// Returns a number that may be absent.
    pub(crate) fn opt(&self, key: &str) -> Option<f64> {
        self.input.get(key).map(number)
    }

    /// Returns a list of numbers; a single number is a list of one.
    #[track_caller]
    pub(crate) fn nums(&self, key: &str) -> Vec<f64> {
        numbers(self.get(key))
    }

    #[track_caller]
    pub(crate) fn text(&self, key: &str) -> &str {
        self.get(key).as_str().expect("text")
    }

    #[track_caller]
    pub(crate) fn list(&self, key: &str) -> &[Value] {
        self.get(key).as_array().expect("a list")
    }
}

#[track_caller]
pub(crate) fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

#[track_caller]
pub(crate) fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(values) => values.iter().map(number).collect(),
        value => vec![number(value)],
    }
}
