//! How names of the catalogue are compared.

/// Returns the candidates that look most like `name`, nearest first; none when nothing is near.
///
/// Case, blanks, dashes, underscores and a leading `Standard_` do not count.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    units::nearest_by(name, candidates, key)
}

/// Returns how a name is looked up: lower case, without a leading `Standard_`.
pub(crate) fn key(name: &str) -> String {
    let lower = name.trim().to_lowercase();
    lower.strip_prefix("standard_").map_or(lower.clone(), ToOwned::to_owned)
}
