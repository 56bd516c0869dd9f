//! What is wrong with an input, where, and what to write instead.

use std::borrow::Cow;

/// A place in one input text. Lines and columns count from 1; columns count characters.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Span {
    /// Position of the text in [`crate::Plan::sources`]; `None` for the command line.
    pub source_idx: Option<u32>,
    /// Line, from 1.
    pub line: u32,
    /// First column, from 1.
    pub column: u32,
    /// Byte range within the source text (for the command line: within the joined arguments).
    pub bytes: std::ops::Range<usize>,
}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing; the plan means what was written.
    Note,
    /// The plan runs, but perhaps not as its author thought.
    Warning,
    /// Nothing runs.
    Error,
}

/// One finding about an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// Stable short name for scripts, such as `unknown-option` or `value-out-of-range`.
    pub code: &'static str,
    /// One sentence: the thing, the value, the expectation. Lower case, no final full stop.
    pub message: String,
    /// Where, if the finding has a place.
    pub span: Option<Span>,
    /// What to do next, each a sentence.
    pub help: Vec<String>,
}

impl Diagnostic {
    /// Makes an error without place or help.
    ///
    /// # Panics
    /// If the code is no word of small letters and dashes, or there is no message; so do those
    /// that make warnings and notes.
    pub fn error(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, code, message)
    }

    /// Makes a warning without place or help.
    pub fn warning(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, code, message)
    }

    /// Makes a note without place or help.
    pub fn note(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(Severity::Note, code, message)
    }

    fn new(severity: Severity, code: &'static str, message: impl Into<String>) -> Self {
        let message = with_short_quotes(message.into());
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let is_code = !code.is_empty() && code.chars().all(is_plain);
        assert!(is_code, "`{message}` has the code `{code}`");
        assert!(!message.is_empty(), "`{code}` has no message");
        Diagnostic { severity, code, message, span: None, help: Vec::new() }
    }

    /// Adds the place.
    #[must_use]
    pub fn at(mut self, span: Span) -> Self {
        self.span = Some(span);
        self
    }

    /// Adds a next step.
    ///
    /// # Panics
    /// If it says nothing.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        let help = with_short_quotes(help.into());
        assert!(!help.is_empty(), "the help of `{}` says nothing", self.code);
        self.help.push(help);
        self
    }
}

/// Most characters of a text that are shown.
const SHOWN_CHARS_MAX: usize = 200;

/// Cuts the middle out of a text that is longer than a reader looks at.
pub fn shortened(text: &str) -> Cow<'_, str> {
    const HALF: usize = SHOWN_CHARS_MAX / 2;
    let starts = text.char_indices().map(|(at, _)| at);
    let (Some(head), Some(tail)) = (starts.clone().nth(HALF), starts.rev().nth(HALF - 1)) else {
        return text.into();
    };
    if text[head..].chars().nth(HALF).is_none() {
        return text.into();
    }
    format!("{}...{}", &text[..head], &text[tail..]).into()
}

/// Shortens what a message quotes: between backquotes stands what a user wrote, of any length.
fn with_short_quotes(message: String) -> String {
    if message.len() <= SHOWN_CHARS_MAX {
        return message;
    }
    let pieces = message.split('`').enumerate();
    let shown = |(idx, piece)| if idx % 2 == 0 { Cow::from(piece) } else { shortened(piece) };
    pieces.map(shown).collect::<Vec<_>>().join("`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_quotations_are_cut_in_their_middle() {
        let value = format!("{}{}", "é".repeat(100), "z".repeat(101));
        let shown = format!("{}...{}", "é".repeat(100), "z".repeat(100));
        let finding = Diagnostic::error("bad-value", format!("value `{value}` of `size` is odd"));
        assert_eq!(finding.message, format!("value `{shown}` of `size` is odd"));
        let finding = finding.help(format!("not `{value}`"));
        assert_eq!(finding.help, [format!("not `{shown}`")]);
    }

    #[test]
    fn what_fits_stays_as_it_is() {
        for text in ["", "a", &"x".repeat(200), &"é".repeat(200)] {
            assert_eq!(shortened(text), text);
        }
        let prose = "a long message without any quotation ".repeat(10);
        assert_eq!(Diagnostic::note("x", prose.clone()).message, prose);
    }
}
