//! The lines of a configuration: keys, which begin with an apostrophe, and the values below them.

use plan::Span;

/// A piece of the text, without blanks around it.
#[derive(Clone, Debug)]
pub(super) struct Piece<'a> {
    pub(super) text: &'a str,
    pub(super) span: Span,
}

/// A line that says something.
#[derive(Clone, Debug)]
pub(super) enum Line<'a> {
    /// What follows is this; without the apostrophe.
    Key(Piece<'a>),
    /// A value; it may be empty.
    Value(Piece<'a>),
}

/// Splits a text into its lines. An apostrophe and a blank begin a comment, which names columns.
pub(super) fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    let mut at = 0;
    text.split_inclusive('\n').enumerate().filter_map(move |(idx, raw)| {
        let whole = Piece {
            text: raw,
            span: Span {
                source_idx: Some(0),
                line: idx as u32 + 1,
                column: 1,
                bytes: at..at + raw.len(),
            },
        };
        at += raw.len();
        let line = whole.trimmed(raw.trim_start_matches('\u{feff}'));
        match line.text.strip_prefix('\'') {
            Some(rest) if rest.is_empty() || rest.starts_with(char::is_whitespace) => None,
            Some(rest) => Some(Line::Key(line.trimmed(rest))),
            None => Some(Line::Value(line)),
        }
    })
}

impl<'a> Piece<'a> {
    /// Returns a part of this piece, without blanks around it.
    fn trimmed(&self, part: &'a str) -> Piece<'a> {
        let part = part.trim();
        // Both are slices of one text.
        let from = part.as_ptr() as usize - self.text.as_ptr() as usize;
        let bytes = self.span.bytes.start + from..self.span.bytes.start + from + part.len();
        let column = self.span.column + self.text[..from].chars().count() as u32;
        Piece { text: part, span: Span { column, bytes, ..self.span.clone() } }
    }

    /// Splits it at commas.
    pub(super) fn fields(&self) -> Vec<Piece<'a>> {
        self.text.split(',').map(|field| self.trimmed(field)).collect()
    }

    /// Splits it at blanks.
    pub(super) fn words(&self) -> Vec<Piece<'a>> {
        self.text.split_whitespace().map(|word| self.trimmed(word)).collect()
    }

    /// Splits it at its last comma.
    pub(super) fn split_last(&self) -> Option<(Piece<'a>, Piece<'a>)> {
        let (head, last) = self.text.rsplit_once(',')?;
        Some((self.trimmed(head), self.trimmed(last)))
    }

    /// Splits it at its first comma.
    pub(super) fn split_first(&self) -> Option<(Piece<'a>, Piece<'a>)> {
        let (first, rest) = self.text.split_once(',')?;
        Some((self.trimmed(first), self.trimmed(rest)))
    }

    /// Returns whether it begins with these words, in whatever case.
    pub(super) fn starts_with(&self, words: &str) -> bool {
        self.text.get(..words.len()).is_some_and(|head| head.eq_ignore_ascii_case(words))
    }

    /// Returns whether it is these words, in whatever case.
    pub(super) fn is(&self, words: &str) -> bool {
        self.text.eq_ignore_ascii_case(words)
    }
}
