//! Fields of an object, read kindly: one that is absent is zero, or empty.

use serde_json::Value;

pub(super) fn int(of: &Value, key: &str) -> u64 {
    let value = &of[key];
    // Some versions print whole numbers with decimals.
    value.as_u64().unwrap_or_else(|| value.as_f64().map_or(0, |value| value.max(0.0) as u64))
}

pub(super) fn float(of: &Value, key: &str) -> f64 {
    of[key].as_f64().unwrap_or(0.0)
}

pub(super) fn text(of: &Value, key: &str) -> String {
    of[key].as_str().unwrap_or_default().to_owned()
}
