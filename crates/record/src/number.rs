//! Numbers as JSON has them.

use serde::{Deserialize, Deserializer};

/// Reads a number; null stands for one that is not finite.
pub(crate) fn number_or_null<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or(f64::NAN))
}
