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
    }
    violations
}

/// Returns whether what stands at an offset is no later part of a longer path.
fn starts_afresh(line: &str, at: usize) -> bool {
    !line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '.')
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
