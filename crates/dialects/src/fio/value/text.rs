//! Words, paths and lists.

use plan::param::Choice;

/// Highest entry of a number list. CPU and node numbers lie far below; the limit keeps
/// `0-4000000000` from filling the memory.
const LIST_NUMBER_MAX: u32 = 65_535;

/// Takes one pair of quotes away.
pub(super) fn unquoted(text: &str) -> &str {
    let inner = |quote| text.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
    inner('"').or_else(|| inner('\'')).unwrap_or(text)
}

/// Finds the word among the choices; case counts.
pub(super) fn choice(text: &str, choices: &'static [Choice]) -> Result<&'static str, String> {
    let is_meant = |choice: &&Choice| choice.name == text || choice.aliases.contains(&text);
    if let Some(found) = choices.iter().find(is_meant) {
        return Ok(found.name);
    }
    if text.len() != unquoted(text).len() {
        return Err("is in quotes; write the word without".to_owned());
    }
    Err(format!("is not known; expected one of {}", choice_names(choices)))
}

/// Lists the words of an enumeration.
pub(super) fn choice_names(choices: &[Choice]) -> String {
    let names: Vec<&str> = choices.iter().map(|choice| choice.name).collect();
    names.join(", ")
}

/// Paths separated by colons; a backslash makes a colon part of the path.
pub(super) fn paths(text: &str) -> Result<Vec<String>, String> {
    let mut paths = vec![String::new()];
    let mut letters = unquoted(text).chars().peekable();
    while let Some(letter) = letters.next() {
        let last = paths.len() - 1;
        match letter {
            '\\' if letters.peek() == Some(&':') => {
                letters.next();
                paths[last].push(':');
            }
            ':' => paths.push(String::new()),
            _ => paths[last].push(letter),
        }
    }
    paths.retain(|path| !path.is_empty());
    if paths.is_empty() {
        return Err("names no path".to_owned());
    }
    Ok(paths)
}

/// Numbers and ranges separated by commas, expanded.
pub(super) fn numbers(text: &str) -> Result<Vec<u32>, String> {
    let one = |part: &str| -> Result<u32, String> {
        let number = part.trim().parse::<u32>().ok().filter(|number| *number <= LIST_NUMBER_MAX);
        number.ok_or_else(|| format!("is not a list such as `0,5,8-15`: `{part}` is no number"))
    };
    let mut numbers = Vec::new();
    for part in unquoted(text).split(',').filter(|part| !part.trim().is_empty()) {
        match part.split_once('-') {
            Some((low, high)) => {
                let (low, high) = (one(low)?, one(high)?);
                if low > high {
                    return Err(format!("holds the range `{part}`, which runs downwards"));
                }
                numbers.extend(low..=high);
            }
            None => numbers.push(one(part)?),
        }
        numbers.sort_unstable();
        numbers.dedup();
    }
    if numbers.is_empty() {
        return Err("holds no number".to_owned());
    }
    Ok(numbers)
}

/// Words joined by commas, each perhaps with something behind a colon.
pub(super) fn words(text: &str) -> Vec<(String, Option<String>)> {
    let word = |part: &str| match part.split_once(':') {
        Some((word, argument)) => (word.trim().to_owned(), Some(argument.trim().to_owned())),
        None => (part.trim().to_owned(), None),
    };
    unquoted(text).split(',').map(word).collect()
}
