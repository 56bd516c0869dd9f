//! JSON as fio lays it out: two spaces, a space on both sides of the colon, six decimals.
//!
//! `serde_json` is not used for this: it prints `1.0` where fio prints `1.000000`, and readers that
//! take the text apart line by line rely on the spaces.

use std::fmt::Write as _;

use super::text::finite;

/// Writes one document.
pub(super) struct Document {
    text: String,
    depth: usize,
    /// Nothing was written yet on this level.
    is_first: bool,
}

impl Document {
    /// Writes an object at the top, and returns it with a final newline.
    pub(super) fn write(fill: impl FnOnce(&mut Self)) -> String {
        let mut document = Document { text: String::new(), depth: 0, is_first: true };
        document.nested('{', '}', fill);
        document.text.push('\n');
        document.text
    }

    /// Adds a whole number.
    pub(super) fn int(&mut self, key: &str, value: impl Into<i128>) {
        self.key(key);
        let _ = write!(self.text, "{}", value.into());
    }

    /// Adds a number with six decimals. One that is not finite is 0: JSON has no other way.
    pub(super) fn float(&mut self, key: &str, value: f64) {
        self.key(key);
        let _ = write!(self.text, "{:.6}", finite(value));
    }

    /// Adds a text.
    pub(super) fn string(&mut self, key: &str, value: &str) {
        self.key(key);
        self.quoted(value);
    }

    /// Adds an object.
    pub(super) fn object(&mut self, key: &str, fill: impl FnOnce(&mut Self)) {
        self.key(key);
        self.nested('{', '}', fill);
    }

    /// Adds an array of objects.
    pub(super) fn objects<T>(
        &mut self,
        key: &str,
        items: impl IntoIterator<Item = T>,
        mut fill: impl FnMut(&mut Self, T),
    ) {
        self.key(key);
        self.nested('[', ']', |array| {
            for item in items {
                array.separate();
                array.nested('{', '}', |object| fill(object, item));
            }
        });
    }

    /// Adds an array of whole numbers.
    pub(super) fn ints(&mut self, key: &str, values: impl IntoIterator<Item = u64>) {
        self.key(key);
        self.nested('[', ']', |array| {
            for value in values {
                array.separate();
                let _ = write!(array.text, "{value}");
            }
        });
    }

    fn nested(&mut self, open: char, close: char, fill: impl FnOnce(&mut Self)) {
        self.text.push(open);
        self.depth += 1;
        self.is_first = true;
        fill(self);
        self.depth -= 1;
        self.is_first = false;
        self.new_line();
        self.text.push(close);
    }

    fn key(&mut self, key: &str) {
        self.separate();
        self.quoted(key);
        self.text.push_str(" : ");
    }

    fn separate(&mut self) {
        if !self.is_first {
            self.text.push(',');
        }
        self.is_first = false;
        self.new_line();
    }

    fn new_line(&mut self) {
        self.text.push('\n');
        for _ in 0..self.depth {
            self.text.push_str("  ");
        }
    }

    /// Writes a text in quotes. fio leaves control characters as they are, which is not JSON.
    fn quoted(&mut self, value: &str) {
        self.text.push('"');
        for character in value.chars() {
            match character {
                '"' | '\\' => self.text.extend(['\\', character]),
                '\n' => self.text.push_str("\\n"),
                '\r' => self.text.push_str("\\r"),
                '\t' => self.text.push_str("\\t"),
                '\0'..' ' => {
                    let _ = write!(self.text, "\\u{:04x}", character as u32);
                }
                _ => self.text.push(character),
            }
        }
        self.text.push('"');
    }
}
