//! How names of the catalogue are compared.

use std::cmp::Reverse;

/// Returns the candidates that look most like `name`, nearest first; none when nothing is near.
///
/// Case, blanks, dashes, underscores and a leading `Standard_` do not count.
/// Where no letter may be wrong, names of the same letters with another number count: `P80` for
/// `P99`. Where there is none, names with the same beginning up to a figure do: `c5.large` for
/// `c5.giant`.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let candidates: Vec<&str> = candidates.into_iter().collect();
    let near = units::nearest_by(name, candidates.iter().copied(), key);
    let near = if near.is_empty() { of_other_number(name, &candidates) } else { near };
    if near.is_empty() { of_same_begin(name, candidates) } else { near }
}

/// Returns the names that begin as a name does, those with most of it first. A letter alone is
/// no beginning.
fn of_same_begin<'a>(name: &str, candidates: Vec<&'a str>) -> Vec<&'a str> {
    let wanted = key(name);
    let n_same = |candidate: &str| {
        let key = key(candidate);
        let pairs = wanted.chars().zip(key.chars());
        let n_same = pairs.take_while(|(a, b)| a == b).count();
        let has_figure = wanted.chars().take(n_same).any(|c| c.is_ascii_digit());
        if has_figure { n_same } else { 0 }
    };
    let mut near: Vec<(usize, &str)> =
        candidates.into_iter().map(|name| (n_same(name), name)).filter(|near| near.0 > 1).collect();
    near.sort_by_key(|(n_same, name)| (Reverse(*n_same), name.len()));
    near.into_iter().take(NUMBERS_MAX).map(|(_, name)| name).collect()
}

/// Most names of another number, or of the same beginning, that are suggested.
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
