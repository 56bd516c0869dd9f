//! Fields of an object. One that is absent, or `nan`, is zero or empty; one of another kind than
//! fio writes is reported with its place, since a zero made of it would pass for a measurement.

use serde_json::Value;

use super::ResultError;

/// An object of the file, and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Fields<'a> {
    of: &'a Value,
    path: String,
}

impl<'a> Fields<'a> {
    /// Takes an object, or what is absent.
    pub(super) fn new(of: &'a Value, path: String) -> Result<Self, ResultError> {
        let found = Self { of, path };
        if of.is_object() || of.is_null() {
            return Ok(found);
        }
        Err(found.wrong("", "an object"))
    }

    /// Returns an object within it.
    pub(super) fn object(&self, key: &str) -> Result<Self, ResultError> {
        Self::new(&self.of[key], self.path_of(key))
    }

    /// Returns the names of its fields and what they hold.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (&'a String, &'a Value)> + use<'a> {
        self.of.as_object().into_iter().flatten()
    }

    /// Returns whether a field has a value.
    pub(super) fn has(&self, key: &str) -> bool {
        !self.of[key].is_null()
    }

    /// Returns a whole number from 0 up.
    pub(super) fn count<T: TryFrom<u64> + Default>(&self, key: &str) -> Result<T, ResultError> {
        let value = &self.of[key];
        if value.is_null() {
            return Ok(T::default());
        }
        let count = whole(value).and_then(|count| T::try_from(count).ok());
        count.ok_or_else(|| self.wrong(key, "a whole number from 0 up"))
    }

    /// Returns a list of such numbers.
    pub(super) fn counts(&self, key: &str) -> Result<Vec<u64>, ResultError> {
        match &self.of[key] {
            Value::Null => Ok(Vec::new()),
            Value::Array(list) => {
                let list: Option<Vec<u64>> = list.iter().map(whole).collect();
                list.ok_or_else(|| self.wrong(key, "whole numbers from 0 up"))
            }
            _ => Err(self.wrong(key, "a list")),
        }
    }

    /// Returns a number.
    pub(super) fn number(&self, key: &str) -> Result<f64, ResultError> {
        let value = &self.of[key];
        if value.is_null() {
            return Ok(0.0);
        }
        value.as_f64().ok_or_else(|| self.wrong(key, "a number"))
    }

    /// Returns a number from 0 up.
    pub(super) fn amount(&self, key: &str) -> Result<f64, ResultError> {
        let number = self.number(key)?;
        if number >= 0.0 { Ok(number) } else { Err(self.wrong(key, "a number from 0 up")) }
    }

    /// Returns a text.
    pub(super) fn text(&self, key: &str) -> Result<&'a str, ResultError> {
        match &self.of[key] {
            Value::Null => Ok(""),
            value => value.as_str().ok_or_else(|| self.wrong(key, "a text")),
        }
    }

    /// Checks that fields have values.
    pub(super) fn need(&self, keys: &[&str]) -> Result<(), ResultError> {
        match keys.iter().find(|key| !self.has(key)) {
            Some(key) => Err(self.wrong(key, "a number")),
            None => Ok(()),
        }
    }

    /// Reports that a field, or with no key the whole, is not what it should be.
    pub(super) fn wrong(&self, key: &str, wanted: &str) -> ResultError {
        let value = if key.is_empty() { self.of } else { &self.of[key] };
        let found = match value {
            Value::Null => "missing or not a number".to_owned(),
            Value::Array(_) => "a list".to_owned(),
            Value::Object(_) => "an object".to_owned(),
            value => value.to_string(),
        };
        ResultError::Field { path: self.path_of(key), found, wanted: wanted.to_owned() }
    }

    fn path_of(&self, key: &str) -> String {
        match (self.path.is_empty(), key.is_empty()) {
            (true, _) => key.to_owned(),
            (false, true) => self.path.clone(),
            (false, false) => format!("{}.{key}", self.path),
        }
    }
}

/// Reads a whole number; some versions print them with decimals.
fn whole(value: &Value) -> Option<u64> {
    /// Above it an f64 does not tell whole numbers apart.
    const EXACT_MAX: f64 = 9_007_199_254_740_992.0;
    value.as_u64().or_else(|| {
        let number = value.as_f64()?;
        let is_whole = number.fract() == 0.0 && (0.0..=EXACT_MAX).contains(&number);
        is_whole.then_some(number as u64)
    })
}
