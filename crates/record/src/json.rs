//! JSON form of a [`Record`], versioned by [`SCHEMA`].
//!
//! Written pretty, in the order of the fields. Every histogram is an object with its compact text
//! under `histogram` and derived figures beside it (`n`, `p99_ns`, ...), which are ignored on
//! reading, as are fields that this version does not know.

use serde::Deserialize;

use crate::{Record, SCHEMA};

/// Why a text is not a record.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The text is not JSON, or ends early.
    #[error("not JSON: {source}")]
    Syntax {
        /// What is wrong, with line and column.
        source: serde_json::Error,
    },
    /// The text is JSON of something else: no object with a text `schema`.
    #[error("not a record: expected an object whose `schema` is `{SCHEMA}`")]
    NotARecord,
    /// A record of another version.
    #[error("record has schema `{found}`, but this program reads `{SCHEMA}`")]
    Schema {
        /// The schema it names.
        found: String,
    },
    /// A field is missing or has the wrong type, or a histogram contradicts itself.
    #[error("record of schema `{SCHEMA}` is damaged: {source}")]
    Field {
        /// Which field, with line and column.
        source: serde_json::Error,
    },
}

/// The one field that every version of the schema has.
#[derive(Deserialize)]
struct Head {
    schema: String,
}

impl Record {
    /// Returns the record as pretty JSON with a final newline.
    ///
    /// A number that JSON cannot hold (not finite) becomes null, and NaN when read back.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self)
            .expect("every map key is a number or text, and writing to memory does not fail");
        text.push('\n');
        text
    }

    /// Reads what [`Record::to_json`] wrote.
    pub fn from_json(text: &str) -> Result<Self, ReadError> {
        let head: Head = serde_json::from_str(text).map_err(|source| {
            if source.is_data() { ReadError::NotARecord } else { ReadError::Syntax { source } }
        })?;
        if head.schema != SCHEMA {
            return Err(ReadError::Schema { found: head.schema });
        }
        serde_json::from_str(text).map_err(|source| ReadError::Field { source })
    }
}
