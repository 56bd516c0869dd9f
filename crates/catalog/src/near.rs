//! Names that look alike, for "did you mean".

/// Most names that are suggested.
const SUGGESTIONS_MAX: usize = 4;

/// Longest name that is compared; longer ones are compared by their start.
const CHARS_MAX: usize = 64;

/// Returns the candidates that look most like `name`, nearest first; none when nothing is near.
///
/// Case, blanks, dashes, underscores and a leading `Standard_` do not count.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let wanted = letters(name);
    if wanted.is_empty() {
        return Vec::new();
    }
    // A third of the letters may be wrong: more finds names that have nothing to do with it.
    let distance_max = (wanted.len() / 3).max(1);
    let mut near: Vec<(usize, usize, &str)> = Vec::new();
    for candidate in candidates {
        let word = letters(candidate);
        let starts_with = word.starts_with(&wanted) && wanted.len() >= 3;
        if !starts_with && word.len().abs_diff(wanted.len()) > distance_max {
            continue;
        }
        let distance = edit_distance(&wanted, &word);
        if distance <= distance_max || starts_with {
            near.push((distance, word.len(), candidate));
        }
    }
    near.sort_unstable();
    near.dedup();
    near.into_iter().map(|(_, _, name)| name).take(SUGGESTIONS_MAX).collect()
}

/// Returns how a name is looked up: lower case, without a leading `Standard_`.
pub(crate) fn key(name: &str) -> String {
    let lower = name.trim().to_lowercase();
    lower.strip_prefix("standard_").map_or(lower.clone(), ToOwned::to_owned)
}

fn letters(name: &str) -> Vec<char> {
    key(name).chars().filter(|c| !matches!(c, '-' | '_' | ' ')).take(CHARS_MAX).collect()
}

/// Counts insertions, deletions, replacements and swaps of neighbours from one word to the other.
fn edit_distance(from: &[char], to: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, b) in to.iter().enumerate() {
            let replaced = above[j] + usize::from(a != b);
            let mut least = replaced.min(above[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *a == to[j - 1] && from[i - 1] == *b {
                least = least.min(before[j - 1] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut above, row);
    }
    above[to.len()]
}
