//! How names of the catalogue are compared.

/// Returns the candidates that look most like `name`, nearest first; none when nothing is near.
///
/// Case, blanks, dashes, underscores and a leading `Standard_` do not count.
/// Where no letter may be wrong, names of the same letters with another number count: `P80` for
/// `P99`.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let candidates: Vec<&str> = candidates.into_iter().collect();
    let near = units::nearest_by(name, candidates.iter().copied(), key);
    if near.is_empty() { of_other_number(name, &candidates) } else { near }
}

/// Most names of another number that are told.
const NUMBERS_MAX: usize = 3;

fn of_other_number<'a>(name: &str, candidates: &[&'a str]) -> Vec<&'a str> {
    let split = |name: &str| {
        let key = key(name);
        let n_letters = key.find(|c: char| !c.is_ascii_alphabetic())?;
        let number: u64 = key[n_letters..].parse().ok()?;
        (n_letters > 0).then(|| (key[..n_letters].to_owned(), number))
    };
    let Some((letters, number)) = split(name) else { return Vec::new() };
    let mut others: Vec<(u64, &str)> = candidates
        .iter()
        .filter_map(|candidate| Some((split(candidate)?, *candidate)))
        .filter(|((other, _), _)| *other == letters)
        .map(|((_, other), candidate)| (other.abs_diff(number), candidate))
        .collect();
    others.sort_unstable();
    others.into_iter().take(NUMBERS_MAX).map(|(_, candidate)| candidate).collect()
}

/// Returns how a name is looked up: lower case, without a leading `Standard_`.
pub(crate) fn key(name: &str) -> String {
    let lower = name.trim().to_lowercase();
    lower.strip_prefix("standard_").map_or(lower.clone(), ToOwned::to_owned)
}
