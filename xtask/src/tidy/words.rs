//! Words that must not reach the repository, in code, comments and documents.

use super::scanner::whole_words;
use super::{File, Violation};

/// A word and why it is refused. The words are spelt in two parts, so that this file is tidy.
const WORDS: [(&str, &str); 7] = [
    (concat!("FIX", "ME"), "do it now, or open an issue"),
    (concat!("XX", "X"), "do it now, or open an issue"),
    (concat!("TO", "DO"), "do it now, or open an issue"),
    (concat!("assis", "tant"), "the text speaks about the product, not about who wrote it"),
    (concat!("/wo", "rk/"), "a path of one machine: take it from an argument or a variable"),
    (concat!("/ro", "ot/"), "a path of one machine: take it from an argument or a variable"),
    (concat!("/tmp/tar", "get"), "a path of one machine: take it from an argument or a variable"),
];

/// Words of English that readers from other countries stumble over, and what to write instead.
/// Both spellings of the first letter count; names in quotes and the user `nobody` do not.
const ENGLISH: [(&str, &str); 8] = [
    (concat!("to", "ld"), "say what is reported, shown, named or given"),
    (concat!("no", "body"), "say what is not known, not stated or not done"),
    (concat!("any", "body"), "name the reader, worker or program that is meant"),
    (concat!("vo", "uch"), "say what is guaranteed, checked or covered"),
    (concat!("vo", "uches"), "say what is guaranteed, checked or covered"),
    (concat!("me", "nd"), "write `repair` or `correct`"),
    (concat!("me", "nds"), "write `repair` or `correct`"),
    (concat!("me", "nded"), "write `repair` or `correct`"),
];

/// The only place from which dependencies come.
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// Checks one text file.
pub(super) fn check(file: &File) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (line_idx, line) in file.text.lines().enumerate() {
        for (word, instead) in WORDS {
            if whole_words(line, word).any(|at| starts_afresh(line, at)) {
                violations.push(file.violation(line_idx + 1, format!("`{word}`: {instead}")));
            }
        }
        let lower = line.to_ascii_lowercase();
        for (word, instead) in ENGLISH {
            if whole_words(&lower, word).any(|at| is_prose(line, at)) {
                violations.push(file.violation(line_idx + 1, format!("`{word}`: {instead}")));
            }
        }
    }
    violations
}

/// Returns whether what stands at an offset is no later part of a longer path.
fn starts_afresh(line: &str, at: usize) -> bool {
    !line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '.')
}

/// Returns whether a word at an offset belongs to a sentence: not to a name in quotes, a constant
/// or the name of a user.
fn is_prose(line: &str, at: usize) -> bool {
    let (before, word) = line.split_at(at);
    let is_name = before.ends_with(['`', '"', '_', '/']) || before.ends_with("user ");
    !is_name && word.chars().nth(1).is_some_and(char::is_lowercase)
}

/// Checks that a lock file takes packages only from the public registry.
pub(super) fn check_lock(file_name: &str, text: &str) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (line_idx, line) in text.lines().enumerate() {
        let Some(source) = line.strip_prefix("source = ") else { continue };
        if source.trim_matches('"') != REGISTRY {
            let message = format!("dependency from {source}: take it from crates.io");
            violations.push(Violation { path: file_name.into(), line: line_idx + 1, message });
        }
    }
    violations
}
