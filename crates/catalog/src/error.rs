//! What can be wrong with a table.

/// One mistake in one table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}:{line}: {what}")]
pub struct CatalogError {
    /// The table.
    pub path: String,
    /// Line, from 1.
    pub line: u64,
    /// The thing, the value, the expectation.
    pub what: String,
}

impl CatalogError {
    pub(crate) fn new(path: &str, line: u64, what: impl Into<String>) -> Self {
        CatalogError { path: path.to_owned(), line, what: what.into() }
    }
}
