//! Lines of a job file: what each is, and where its parts lie.

use plan::Span;

/// What one line says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Line<'a> {
    /// `[name]`.
    Section(Piece<'a>),
    /// `include PATH`.
    Include(Piece<'a>),
    /// `key=value` or `key`.
    Option(Piece<'a>, Option<Piece<'a>>),
}

/// A part of a line and where it lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece<'a> {
    pub(super) text: &'a str,
    pub(super) span: Span,
}

/// Iterates over the lines that say something: comments and blank lines are left out.
///
/// A comment starts at the first `;` and then at the first `#` of a line, even within quotes. A
/// section's name is all between the opening bracket and the last character, as fio takes it.
pub(super) fn lines(source_idx: u32, text: &str) -> impl Iterator<Item = ScannedLine<'_>> {
    let mut start = 0;
    let lines = text.split_inclusive('\n').enumerate();
    lines.filter_map(move |(line_idx, raw)| {
        let at = LinePosition { source_idx, line: line_idx as u32 + 1, start, raw };
        start += raw.len();
        at.scan()
    })
}

/// A line that says something, and the two oddities that deserve a warning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ScannedLine<'a> {
    pub(super) line: Line<'a>,
    /// A comment sign within quotes cut the value short.
    pub(super) cut_in_quotes: bool,
    /// A section header does not end in `]`.
    pub(super) unclosed: bool,
}

#[derive(Clone, Copy)]
struct LinePosition<'a> {
    source_idx: u32,
    line: u32,
    start: usize,
    raw: &'a str,
}

impl<'a> LinePosition<'a> {
    fn scan(self) -> Option<ScannedLine<'a>> {
        let raw = self.raw.strip_prefix('\u{feff}').unwrap_or(self.raw);
        let before = raw.split(';').next().unwrap_or_default();
        let before = before.split('#').next().unwrap_or_default();
        let said = before.trim();
        if said.is_empty() {
            return None;
        }
        if let Some(header) = said.strip_prefix('[') {
            let last = header.char_indices().next_back().map_or(0, |(at, _)| at);
            return Some(ScannedLine {
                line: Line::Section(self.piece(&header[..last])),
                cut_in_quotes: false,
                unclosed: !header.ends_with(']'),
            });
        }
        let cut = before.len() < raw.trim_end().len();
        let quote_open = said.matches('"').count() % 2 == 1;
        let line = match include_path(said) {
            Some(path) => Line::Include(self.piece(path)),
            None => match said.split_once('=') {
                Some((key, value)) => {
                    Line::Option(self.piece(key.trim()), Some(self.piece(value.trim())))
                }
                None => Line::Option(self.piece(said), None),
            },
        };
        Some(ScannedLine { line, cut_in_quotes: cut && quote_open, unclosed: false })
    }

    /// Locates a slice of this line.
    fn piece(self, text: &'a str) -> Piece<'a> {
        let at = text.as_ptr() as usize - self.raw.as_ptr() as usize;
        let column = self.raw[..at].chars().count() as u32 + 1;
        let bytes = self.start + at..self.start + at + text.len();
        Piece {
            text,
            span: Span { source_idx: Some(self.source_idx), line: self.line, column, bytes },
        }
    }
}

/// Returns the path of an `include` line; fio takes `include PATH` and `include=PATH`.
fn include_path(said: &str) -> Option<&str> {
    let rest = said.strip_prefix("include")?;
    let path = rest.strip_prefix(|c: char| c == '=' || c.is_whitespace())?;
    Some(path.trim())
}
