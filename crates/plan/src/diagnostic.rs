//! What is wrong with an input, where, and what to write instead.

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
        Diagnostic { severity, code, message: message.into(), span: None, help: Vec::new() }
    }

    /// Adds the place.
    #[must_use]
    pub fn at(mut self, span: Span) -> Self {
        self.span = Some(span);
        self
    }

    /// Adds a next step.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }
}
