//! Names that look alike, for "did you mean".

/// Most names that are suggested.
const SUGGESTIONS_MAX: usize = 4;

/// Longest name that is compared; longer ones are compared by their start.
const CHARS_MAX: usize = 64;

/// Returns the candidates that look most like `name`, nearest first; none when nothing is near.
///
/// What counts of a name is what `key` leaves of it, in lower case and without blanks, dashes and
/// underscores.
pub fn nearest_by<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
    key: impl Fn(&str) -> String,
) -> Vec<&'a str> {
    let letters = |name: &str| -> Vec<char> {
        let key = key(name).to_lowercase();
        key.chars().filter(|c| !matches!(c, '-' | '_' | ' ')).take(CHARS_MAX).collect()
    };
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

/// The same where all of a name counts.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    nearest_by(name, candidates, str::to_owned)
}

/// Counts insertions, deletions, replacements and swaps of neighbours from one word to the other.
pub fn edit_distance(from: &[char], to: &[char]) -> usize {
    // Three rows for all: a mistyped name is compared with a thousand others.
    let mut before = vec![0; to.len() + 1];
    let mut above: Vec<usize> = (0..=to.len()).collect();
    let mut row = before.clone();
    for (i, a) in from.iter().enumerate() {
        row[0] = i + 1;
        for (j, b) in to.iter().enumerate() {
            let replaced = above[j] + usize::from(a != b);
            let mut least = replaced.min(above[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *a == to[j - 1] && from[i - 1] == *b {
                least = least.min(before[j - 1] + 1);
            }
            row[j + 1] = least;
        }
        std::mem::swap(&mut before, &mut above);
        std::mem::swap(&mut above, &mut row);
    }
    above[to.len()]
}
