//! Names that look alike, for "did you mean".

/// Most names that are suggested: a hint, not a list to read.
const SUGGESTIONS_MAX: usize = 3;

/// Longest name that is compared; longer ones are compared by their start.
const CHARS_MAX: usize = 64;

/// Returns the candidates that look most like `name`, nearest first; none when nothing is near.
///
/// What counts of a name is what `key` leaves of it, as [`letters`] has it.
pub fn nearest_by<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
    key: impl Fn(&str) -> String,
) -> Vec<&'a str> {
    let of = |name: &str| letters(&key(name));
    nearest_of(&of(name), candidates.into_iter().map(|name| (name, of(name))))
}

/// The same where all of a name counts.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    nearest_by(name, candidates, str::to_owned)
}

/// The same for candidates whose [`letters`] are known: each with its own.
///
/// # Panics
/// If `wanted` is a name as it was typed, and not its [`letters`]: nothing would look like it.
pub fn nearest_of<'a>(
    wanted: &str,
    candidates: impl Iterator<Item = (&'a str, impl AsRef<str>)>,
) -> Vec<&'a str> {
    assert!(letters(wanted) == wanted, "`{wanted}` is compared before it is cut to its letters");
    let n_wanted = wanted.chars().count();
    if n_wanted == 0 {
        return Vec::new();
    }
    // A third of the letters may be wrong: more finds names that have nothing to do with it.
    let distance_max = (n_wanted / 3).max(1);
    let wanted_bits = bits(wanted);
    let mut near: Vec<(usize, usize, &str)> = Vec::new();
    for (candidate, word) in candidates {
        let word = word.as_ref();
        let starts_with = n_wanted >= 3 && word.starts_with(wanted);
        let n_letters = word.chars().count();
        // A mistyped name is compared with a thousand others: most are ruled out at a glance.
        let is_far = n_letters.abs_diff(n_wanted) > distance_max
            || apart(wanted_bits, bits(word)) > distance_max;
        if is_far && !starts_with {
            continue;
        }
        let distance = strsim::osa_distance(wanted, word);
        if distance <= distance_max || starts_with {
            near.push((distance, n_letters, candidate));
        }
    }
    near.sort_unstable();
    near.dedup();
    near.into_iter().map(|(_, _, name)| name).take(SUGGESTIONS_MAX).collect()
}

/// Returns what counts of a name: its letters in lower case, without blanks, dashes and
/// underscores, and no more than 64.
pub fn letters(name: &str) -> String {
    let counting = name.chars().filter(|c| !matches!(c, '-' | '_' | ' '));
    counting.flat_map(char::to_lowercase).take(CHARS_MAX).collect()
}

/// Returns a bit for each letter of a word; some share one.
fn bits(word: &str) -> u64 {
    word.chars().fold(0, |bits, c| bits | 1 << (u32::from(c) % 64))
}

/// Returns how many changes one word needs at least to become the other: one for each letter that
/// only one of them has.
fn apart(one: u64, other: u64) -> usize {
    let lacks = |a: u64, b: u64| (a & !b).count_ones() as usize;
    lacks(one, other).max(lacks(other, one))
}
