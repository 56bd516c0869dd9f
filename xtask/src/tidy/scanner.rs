//! Just enough of Rust's grammar for `tidy`: what is code, where functions and tests lie.
//!
//! It is a lexer with a brace counter, not a parser: it tells code from comments, strings and
//! character literals, and finds the extent of an item. A full parser was rejected, because it
//! takes longer to build than all other checks take to run, and these rules need no more.

use std::ops::Range;

/// A source file with everything but code blanked out.
pub(super) struct Source {
    /// Code only: comments and the contents of literals are spaces, line ends are kept. Offsets
    /// are those of the original text.
    code: String,
    /// Byte offset at which each line starts.
    line_starts: Vec<usize>,
    /// Items that exist only in tests, as byte ranges.
    test_items: Vec<Range<usize>>,
    /// The texts in the attributes of serde, with their offsets.
    serde_texts: Vec<(usize, String)>,
}

/// A function with a body.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Function<'a> {
    /// Its name.
    pub(super) name: &'a str,
    /// The line its signature starts on, from 1.
    pub(super) line: usize,
    /// Lines from `fn` to the closing brace, both included.
    pub(super) n_lines: usize,
}

impl Source {
    /// Scans a file's text.
    pub(super) fn new(text: &str) -> Self {
        let code = mask(text);
        let line_starts =
            std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        let test_items = test_items(&code);
        let serde_texts = serde_texts(text, &code);
        Self { code, line_starts, test_items, serde_texts }
    }

    /// Returns the code, without comments and literals.
    pub(super) fn code(&self) -> &str {
        &self.code
    }

    /// Returns what stands in quotes in the attributes of serde, and where: functions and modules
    /// of this crate among them, as in `#[serde(with = "crate::a::b")]`.
    pub(super) fn serde_texts(&self) -> impl Iterator<Item = (usize, &str)> {
        self.serde_texts.iter().map(|(at, text)| (*at, text.as_str()))
    }

    /// Returns the line of a byte offset, from 1.
    pub(super) fn line_of(&self, offset: usize) -> usize {
        self.line_starts.partition_point(|start| *start <= offset)
    }

    /// Returns whether an offset lies in an item that exists only in tests.
    pub(super) fn in_test(&self, offset: usize) -> bool {
        self.test_items.iter().any(|item| item.contains(&offset))
    }

    /// Returns whether a function that starts on this line, from 1, exists only in tests.
    pub(super) fn line_in_test(&self, line: usize) -> bool {
        let start = self.line_starts[line - 1];
        let indent = self.code[start..].len() - self.code[start..].trim_start().len();
        self.in_test(start + indent)
    }

    /// Returns every attribute that changes a lint's level within the file, and where.
    pub(super) fn lint_attributes(&self) -> Vec<(usize, &str)> {
        ["#[allow(", "#![allow(", "#[expect(", "#![expect("]
            .iter()
            .flat_map(|open| self.code.match_indices(open))
            .map(|(at, open)| {
                let bracket_at = at + open.find('[').expect("every attribute has a bracket");
                (at, &self.code[at..bracket_end(&self.code, bracket_at)])
            })
            .collect()
    }

    /// Returns the names of the modules that exist only in tests and lie in a file of their own.
    pub(super) fn test_modules(&self) -> Vec<&str> {
        self.test_items
            .iter()
            .filter_map(|item| {
                let item = self.code[item.clone()].strip_suffix(';')?;
                let (before, name) = item.rsplit_once(char::is_whitespace)?;
                before.trim_end().ends_with("mod").then_some(name)
            })
            .collect()
    }

    /// Returns every function that has a body, in the order they start.
    pub(super) fn functions(&self) -> Vec<Function<'_>> {
        let mut functions = Vec::new();
        for at in self.words("fn") {
            let rest = &self.code[at + 2..];
            let name_at = at + 2 + (rest.len() - rest.trim_start().len());
            let name = identifier(&self.code[name_at..]);
            if name.is_empty() {
                continue; // the type `fn(u8)`, or a macro's `fn $name`
            }
            let end = item_end(&self.code, name_at);
            if self.code[..end].ends_with('}') {
                let line = self.line_of(at);
                functions.push(Function { name, line, n_lines: self.line_of(end - 1) - line + 1 });
            }
        }
        functions
    }

    /// Returns where a word stands in the code, whole words only. It may be a path or a macro
    /// call: `Instant::now`, `dbg!`.
    pub(super) fn words<'a>(&'a self, word: &'a str) -> impl Iterator<Item = usize> + 'a {
        whole_words(&self.code, word)
    }

    /// Returns which modules of the standard library the code names, and where: by a path
    /// `std::fs::read` as well as by `use std::{fs, io}`.
    pub(super) fn std_modules(&self) -> Vec<(usize, &str)> {
        let mut found = Vec::new();
        for at in self.words("std::") {
            let rest_at = at + "std::".len();
            match self.code[rest_at..].strip_prefix('{') {
                Some(_) => found.extend(self.group_members(rest_at)),
                None => found.push((at, identifier(&self.code[rest_at..]))),
            }
        }
        found
    }

    /// Returns the first names of a `{a, b::c, d::{e}}` group that opens at `open_at`.
    fn group_members(&self, open_at: usize) -> Vec<(usize, &str)> {
        let mut members = Vec::new();
        let mut depth = 0;
        let mut expects_name = false;
        for (offset, byte) in self.code.bytes().enumerate().skip(open_at) {
            match byte {
                b'{' => {
                    depth += 1;
                    expects_name = depth == 1;
                }
                b'}' => {
                    depth -= 1;
                    if depth == 0 {
                        break;
                    }
                }
                b',' => expects_name = depth == 1,
                byte if byte.is_ascii_whitespace() => {}
                _ if expects_name => {
                    members.push((offset, identifier(&self.code[offset..])));
                    expects_name = false;
                }
                _ => {}
            }
        }
        members
    }
}

/// Returns the offsets of a word in a text, where no longer identifier surrounds it.
pub(super) fn whole_words<'a>(text: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    text.match_indices(word).map(|(at, _)| at).filter(move |at| {
        let before = text[..*at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        let joins_before = word.starts_with(is_identifier) && before.is_some_and(is_identifier);
        let joins_after = word.ends_with(is_identifier) && after.is_some_and(is_identifier);
        !joins_before && !joins_after
    })
}

pub(super) fn is_identifier(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

/// Returns the identifier a text starts with, which may be empty.
pub(super) fn identifier(text: &str) -> &str {
    &text[..text.find(|c| !is_identifier(c)).unwrap_or(text.len())]
}

/// Returns the offset after the item that starts at `start`: after its `;`, or after the brace
/// that closes its first block.
fn item_end(code: &str, start: usize) -> usize {
    let mut depth = 0_usize;
    // Braces in brackets belong to the signature, as in `-> [u8; { 4 }]`.
    let mut bracket_depth = 0_usize;
    for (offset, byte) in code.bytes().enumerate().skip(start) {
        match byte {
            b'(' | b'[' if depth == 0 => bracket_depth += 1,
            b')' | b']' if depth == 0 => bracket_depth = bracket_depth.saturating_sub(1),
            b';' if depth == 0 && bracket_depth == 0 => return offset + 1,
            b'{' if bracket_depth == 0 => depth += 1,
            b'}' if bracket_depth == 0 => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return offset + 1;
                }
            }
            _ => {}
        }
    }
    code.len()
}

/// Returns the items behind `#[cfg(test)]` and behind `#[test]`.
fn test_items(code: &str) -> Vec<Range<usize>> {
    let mut items: Vec<Range<usize>> = Vec::new();
    for (start, _) in code.match_indices("#[") {
        let attribute_end = bracket_end(code, start + 1);
        let attribute = &code[start + 2..attribute_end - 1];
        let is_test = attribute.trim() == "test"
            || (attribute.starts_with("cfg(")
                && !attribute.contains("not(")
                && whole_words(attribute, "test").next().is_some());
        if is_test && !items.iter().any(|item| item.contains(&start)) {
            items.push(start..item_end(code, attributes_end(code, attribute_end)));
        }
    }
    items
}

/// Returns the texts in the attributes of serde. A text and its code have the same offsets.
fn serde_texts(text: &str, code: &str) -> Vec<(usize, String)> {
    let mut texts = Vec::new();
    for (start, _) in code.match_indices("#[") {
        let end = bracket_end(code, start + 1);
        if whole_words(&code[start..end], "serde(").next().is_none() {
            continue;
        }
        let mut at = start;
        while let Some(found) = text[at..end].find('"') {
            let quoted = quoted_len(&text[at + found..end], '"');
            let inside = text[at + found..at + found + quoted].trim_matches('"');
            texts.push((at + found + 1, inside.to_owned()));
            at += found + quoted;
        }
    }
    texts
}

/// Returns the offset after further attributes, at which the item itself starts.
fn attributes_end(code: &str, mut at: usize) -> usize {
    loop {
        let rest = code[at..].trim_start();
        if !rest.starts_with("#[") {
            return at;
        }
        at = bracket_end(code, code.len() - rest.len() + 1);
    }
}

/// Returns the offset after the bracket that closes the one at `open_at`.
fn bracket_end(code: &str, open_at: usize) -> usize {
    let mut depth = 0_usize;
    for (offset, byte) in code.bytes().enumerate().skip(open_at) {
        match byte {
            b'[' => depth += 1,
            b']' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return offset + 1;
                }
            }
            _ => {}
        }
    }
    code.len()
}

/// Blanks comments and the contents of literals. Length and line ends stay as they are.
fn mask(text: &str) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let (kept, blanked) = token(rest, masked.chars().next_back());
        masked.push_str(&rest[..kept]);
        for c in rest[kept..kept + blanked].chars() {
            let blank = if c == '\n' { '\n' } else { ' ' };
            masked.extend(std::iter::repeat_n(blank, c.len_utf8()));
        }
        at += kept + blanked;
    }
    masked
}

/// Returns the contents of all literals in plain quotes, as they are written, with their offsets.
pub(super) fn literals(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let (kept, blanked) = token(rest, text[..at].chars().next_back());
        if kept == 0 && rest.starts_with('"') {
            found.push((at, rest[1..blanked].trim_end_matches('"')));
        }
        at += kept + blanked;
    }
    found
}

/// Returns how many bytes of the next token are code to keep, and how many after them to blank.
fn token(rest: &str, previous: Option<char>) -> (usize, usize) {
    if rest.starts_with("//") {
        return (0, rest.find('\n').unwrap_or(rest.len()));
    }
    if rest.starts_with("/*") {
        return (0, block_comment_len(rest));
    }
    // A prefix as in `br"` counts only where it is no end of a longer word.
    if !previous.is_some_and(is_identifier)
        && let Some(len) = raw_string_len(rest)
    {
        return (0, len);
    }
    if rest.starts_with('"') {
        return (0, quoted_len(rest, '"'));
    }
    if rest.starts_with('\'') {
        return match char_literal_len(rest) {
            0 => (1, 0), // a lifetime
            len => (0, len),
        };
    }
    (rest.chars().next().map_or(0, char::len_utf8), 0)
}

fn block_comment_len(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let mut depth = 0_usize;
    let mut at = 0;
    while at < bytes.len() {
        match &bytes[at..] {
            [b'/', b'*', ..] => {
                depth += 1;
                at += 2;
            }
            [b'*', b'/', ..] => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    return at;
                }
            }
            _ => at += 1,
        }
    }
    rest.len()
}

/// Returns the length of a raw string with its prefix, or none when there is none.
fn raw_string_len(rest: &str) -> Option<usize> {
    let body = ["r", "br", "cr"].iter().find_map(|prefix| rest.strip_prefix(prefix))?;
    let n_hashes = body.len() - body.trim_start_matches('#').len();
    let contents = body[n_hashes..].strip_prefix('"')?;
    let close = format!("\"{}", "#".repeat(n_hashes));
    let end = contents.find(&close).map_or(contents.len(), |end| end + close.len());
    Some(rest.len() - contents.len() + end)
}

/// Returns the length of a literal with escapes, from its opening to its closing quote.
fn quoted_len(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (offset, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return offset + 1,
            _ => {}
        }
    }
    rest.len()
}

/// Returns the length of a character literal, or 0 where the quote starts a lifetime.
fn char_literal_len(rest: &str) -> usize {
    let mut chars = rest.chars().skip(1);
    match (chars.next(), chars.next()) {
        (Some('\\'), _) => quoted_len(rest, '\''),
        (Some(c), Some('\'')) => c.len_utf8() + 2,
        _ => 0,
    }
}
