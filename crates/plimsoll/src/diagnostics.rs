//! Diagnostics as people read them: message, place with the line underlined, and what to do.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use plan::job::Source;
use plan::{Diagnostic, Severity, Span};
use record::NoteSeverity;

use crate::fill::fill;
use crate::stream;

/// Most bytes of a line that are shown around a place: a line of a binary file has no end.
const LINE_BYTES_MAX: usize = 4096;

/// Fewest columns for a message, however narrow the terminal.
const MESSAGE_COLUMNS_MIN: usize = 30;

/// Texts that spans point into.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Texts<'a> {
    /// Files, by position.
    pub(crate) sources: &'a [Source],
    /// The arguments joined by blanks, for spans without a source.
    pub(crate) command_line: &'a str,
}

/// Messages that were printed until now.
static PRINTED: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Returns whether a diagnostic or note with this message was printed where standard output is
/// read, too.
pub(crate) fn was_printed_there(message: &str) -> bool {
    let printed = PRINTED.lock().unwrap_or_else(PoisonError::into_inner);
    stream::are_one_place() && printed.iter().any(|it| it == message)
}

/// Prints a note of a run on standard error, while it goes on.
pub(crate) fn print_note(severity: NoteSeverity, message: &str) {
    let head = match severity {
        NoteSeverity::Info => "note: ",
        NoteSeverity::Warning => "warning: ",
        NoteSeverity::Error => "error: ",
    };
    stream::remark(head, message);
    let mut printed = PRINTED.lock().unwrap_or_else(PoisonError::into_inner);
    printed.push(message.to_owned());
}

/// Prints diagnostics to standard error, and how many errors there are if more than one.
pub(crate) fn print_all(findings: &[&Diagnostic], texts: Texts<'_>) {
    let renderer = if stream::stderr_has_colour() { Renderer::styled() } else { Renderer::plain() };
    let width = stream::stderr_width();
    let renderer = renderer.term_width(width);
    for finding in findings {
        stream::print_message(&render(finding, texts, &renderer, width));
    }
    let mut printed = PRINTED.lock().unwrap_or_else(PoisonError::into_inner);
    printed.extend(findings.iter().map(|finding| finding.message.clone()));
    drop(printed);
    // That there are more than are shown is none itself.
    let is_error = |it: &&&Diagnostic| it.severity == Severity::Error && it.code != "more-errors";
    let n_errors = findings.iter().filter(is_error).count();
    if n_errors > 1 {
        stream::print_message(&format!("{n_errors} errors\n"));
    }
}

/// Returns a diagnostic without colour on one line: `file:line:column: message`.
pub(crate) fn one_line(finding: &Diagnostic, texts: Texts<'_>) -> String {
    let Some(span) = finding.span.as_ref().filter(|span| span.line > 0) else {
        return finding.message.clone();
    };
    let source = span.source_idx.and_then(|idx| texts.sources.get(idx as usize));
    match source {
        Some(source) => {
            format!("{}:{}:{}: {}", source.name, span.line, span.column, finding.message)
        }
        None => finding.message.clone(),
    }
}

/// Returns a diagnostic with its place, ending in an empty line.
fn render(finding: &Diagnostic, texts: Texts<'_>, renderer: &Renderer, width: usize) -> String {
    let (level, word) = match finding.severity {
        Severity::Note => (Level::NOTE, "note"),
        Severity::Warning => (Level::WARNING, "warning"),
        Severity::Error => (Level::ERROR, "error"),
    };
    let place = finding.span.as_ref().and_then(|span| SourceLine::find(span, texts));
    let before = word.len() + finding.code.len() + "[]: ".len();
    let title = level.primary_title(wrap(&finding.message, width, before)).id(finding.code);
    let mut group = match &place {
        Some(place) => title.element(
            Snippet::source(place.line.as_str())
                .path(place.name)
                .line_start(place.line_number)
                .annotation(AnnotationKind::Primary.span(place.range.clone())),
        ),
        None => annotate_snippets::Group::with_title(title),
    };
    for help in &finding.help {
        let before = digits(place.as_ref()) + " = help: ".len();
        group = group.element(Level::HELP.message(wrap(help, width, before)));
    }
    format!("{}\n\n", renderer.render(&[group]).trim_end())
}

/// Breaks a text at blanks so that it fits behind `before` columns on each line.
fn wrap(text: &str, width: usize, before: usize) -> String {
    let columns = width.saturating_sub(before).max(MESSAGE_COLUMNS_MIN);
    fill("", text, columns).trim_end_matches('\n').to_owned()
}

/// Returns the columns of a line number in the margin.
fn digits(place: Option<&SourceLine<'_>>) -> usize {
    place.map_or(1, |place| place.line_number.to_string().len())
}

/// The line that a span stands in.
struct SourceLine<'a> {
    name: &'a str,
    line_number: usize,
    line: String,
    /// Bytes of the line.
    range: Range<usize>,
}

impl<'a> SourceLine<'a> {
    /// Finds the line, cut where it is long. `None` for a span without a place.
    fn find(span: &Span, texts: Texts<'a>) -> Option<Self> {
        if span.line == 0 {
            return None;
        }
        let (name, text) = match span.source_idx {
            Some(idx) => {
                let source = texts.sources.get(idx as usize)?;
                (source.name.as_str(), source.text.as_str())
            }
            None => ("<command line>", texts.command_line),
        };
        let at = boundary(text, span.bytes.start);
        let from = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
        let to = text[at..].find('\n').map_or(text.len(), |newline| at + newline);
        let until = boundary(text, span.bytes.end).clamp(at, to);
        let from = boundary(text, from.max(at.saturating_sub(LINE_BYTES_MAX / 2)));
        let to = boundary(text, to.min(from + LINE_BYTES_MAX)).max(at);
        let until = until.min(to);
        // Control characters would move the cursor, and each must stay as wide as it was.
        let plain = |c: char| if c.is_ascii_control() && c != '\t' { ' ' } else { c };
        Some(SourceLine {
            name,
            line_number: span.line as usize,
            line: text[from..to].chars().map(plain).collect(),
            range: at - from..until - from,
        })
    }
}

/// Returns the nearest character boundary at or before the offset.
fn boundary(text: &str, offset: usize) -> usize {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}
