//! A list of what the program says: every text of the product with a sentence or a part of one in
//! it, to be read as a user would who knows storage and not this program.

use super::scanner::{Source, literals};
use super::{File, read_tree};
use crate::workspace;

use anyhow::Result;

/// Fewest words of a message: what is shorter is a name, a unit or a key.
const WORDS_MIN: usize = 3;

/// What stands before a text that no user sees.
const UNSEEN: [&str; 5] = ["assert", ".expect(", "reason =", "panic!(", "unreachable!("];

/// Prints all messages by crate and place, or those with one of some words.
pub(crate) fn messages(words: &[&str]) -> Result<()> {
    let packages = workspace::packages()?;
    let mut n_messages = 0_usize;
    for file in &read_tree(&packages)? {
        for (line, text) in of_file(file) {
            let lower = text.to_lowercase();
            if words.is_empty() || words.iter().any(|word| lower.contains(&word.to_lowercase())) {
                println!("{}:{line}: {text}", file.path.display());
                n_messages += 1;
            }
        }
    }
    println!("{n_messages} messages");
    Ok(())
}

/// Returns the messages of a source of the product, with the lines on which they start.
fn of_file(file: &File) -> Vec<(usize, String)> {
    let Some(source) = &file.source else { return Vec::new() };
    if !file.path.starts_with("crates") || file.is_test {
        return Vec::new();
    }
    let is_seen = |at: usize| !source.in_test(at) && !is_unseen(source, at);
    let found = literals(&file.text).into_iter().filter(|(at, _)| is_seen(*at));
    let said = found.map(|(at, text)| (source.line_of(at), unescaped(text)));
    said.filter(|(_, text)| is_message(text)).collect()
}

/// Returns whether the statement around a text is one of the program about itself.
fn is_unseen(source: &Source, at: usize) -> bool {
    let before = &source.code()[..at];
    let start = before.rfind([';', '{', '}']).map_or(0, |end| end + 1);
    UNSEEN.iter().any(|what| before[start..].contains(what))
}

fn is_message(text: &str) -> bool {
    let is_word = |word: &&str| word.chars().any(char::is_lowercase);
    text.split_whitespace().filter(is_word).count() >= WORDS_MIN
}

/// Returns a literal on one line: lines that it joins are joined, and others have ` / ` between.
fn unescaped(text: &str) -> String {
    let mut lines = Vec::new();
    let joined = text.replace("\\n\\\n", "\\n");
    for line in joined.split("\\\n").flat_map(|part| part.trim_start().split("\\n")) {
        lines.push(line);
    }
    let breaks = joined.contains("\\n");
    let text = lines.join(if breaks { " / " } else { "" });
    text.replace("\\\"", "\"").split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[track_caller]
    fn check(code: &str, expected: &[(usize, &str)]) {
        let file = File::new(Path::new("crates/plan/src/a.rs"), code.to_owned(), &[]);
        let found = of_file(&file);
        let found: Vec<(usize, &str)> = found.iter().map(|(at, text)| (*at, &**text)).collect();
        assert_eq!(found, expected, "{code}");
    }

    #[test]
    fn what_a_user_reads_is_listed() {
        check("fn f() { g(\"cannot open\"); }", &[]);
        check("fn f() { g(\"cannot open the file\"); }", &[(1, "cannot open the file")]);
        let joined = "fn f() {\n    g(\"it is \\\n       of \\\"two\\\" lines\");\n}";
        check(joined, &[(2, "it is of \"two\" lines")]);
        check("#[error(\"no such disk: `{0}`\")]\nstruct E;", &[(1, "no such disk: `{0}`")]);
    }

    #[test]
    fn what_the_program_says_of_itself_is_not() {
        check("fn f() { assert!(a, \"this is never so\"); }", &[]);
        check("fn f() { a.expect(\"this is never so\"); }", &[]);
        check("// the \"words of a comment\" here\nfn f() {}", &[]);
        check("#[cfg(test)]\nmod tests { fn f() { g(\"words of a test\"); } }", &[]);
    }
}
