//! Places in parameter files, and what was found there.

use plan::job::Source;
use plan::{Diagnostic, Severity, Span};

/// Most errors, and most warnings, that are kept: more are of no use at once.
const FINDINGS_MAX: usize = 200;

/// Where something is written: a part of a source. By default it stands in no file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SourceRange {
    source_idx: u32,
    start: u32,
    end: u32,
}

impl Default for SourceRange {
    fn default() -> Self {
        SourceRange::NONE
    }
}

impl SourceRange {
    /// Of what stands in no file: command lines, defaults.
    pub(super) const NONE: SourceRange = SourceRange { source_idx: u32::MAX, start: 0, end: 0 };

    pub(super) fn new(source_idx: u32, start: usize, end: usize) -> Self {
        SourceRange { source_idx, start: start as u32, end: end.max(start) as u32 }
    }

    /// Returns whether both stand in the same file, this one later.
    pub(super) fn is_behind(self, other: SourceRange) -> bool {
        self.source_idx == other.source_idx && self.start >= other.start
    }

    /// Returns other bytes of the same source.
    pub(super) fn bytes(self, start: usize, end: usize) -> SourceRange {
        if self == SourceRange::NONE { self } else { SourceRange::new(self.source_idx, start, end) }
    }

    /// Puts a finding here.
    pub(super) fn of(self, finding: Diagnostic, sources: &[Source]) -> Diagnostic {
        match self.span(sources) {
            Some(span) => finding.at(span),
            None => finding,
        }
    }

    /// Returns line, column and bytes; `None` of what stands in no file.
    pub(super) fn span(self, sources: &[Source]) -> Option<Span> {
        let text = &sources.get(self.source_idx as usize)?.text;
        let mut start = (self.start as usize).min(text.len());
        while !text.is_char_boundary(start) {
            start -= 1;
        }
        let mut end = (self.end as usize).clamp(start, text.len());
        while !text.is_char_boundary(end) {
            end += 1;
        }
        let before = &text[..start];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        Some(Span {
            source_idx: Some(self.source_idx),
            line: before.bytes().filter(|byte| *byte == b'\n').count() as u32 + 1,
            column: before[line_start..].chars().count() as u32 + 1,
            bytes: start..end,
        })
    }
}

/// Sources, and all that was found in them.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) sources: Vec<Source>,
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) refusals: Vec<Diagnostic>,
    /// Errors, those that were not kept among them.
    pub(super) n_errors: usize,
    n_warnings: usize,
}

impl Findings {
    pub(super) fn error(
        &mut self,
        place: SourceRange,
        code: &'static str,
        message: impl Into<String>,
    ) {
        self.report(place, Diagnostic::error(code, message));
    }

    /// Reports an error with what to write instead.
    pub(super) fn error_help(
        &mut self,
        place: SourceRange,
        code: &'static str,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.report(place, Diagnostic::error(code, message).help(help));
    }

    pub(super) fn warning(
        &mut self,
        place: SourceRange,
        code: &'static str,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.report(place, Diagnostic::warning(code, message).help(help));
    }

    /// Reports what is understood and cannot run; each message once.
    pub(super) fn refuse(
        &mut self,
        place: SourceRange,
        code: &'static str,
        message: impl Into<String>,
    ) {
        let finding = self.placed(place, Diagnostic::error(code, message));
        let is_known = self.refusals.iter().any(|other| other.message == finding.message);
        if !is_known && self.refusals.len() < FINDINGS_MAX {
            self.refusals.push(finding);
        }
    }

    /// Reports a finding; once, however many runs come upon it.
    pub(super) fn report(&mut self, place: SourceRange, finding: Diagnostic) {
        let is_error = finding.severity == Severity::Error;
        let n_of_kind = if is_error { &mut self.n_errors } else { &mut self.n_warnings };
        if *n_of_kind >= FINDINGS_MAX {
            // Its line is not looked for: a long text may be full of them.
            *n_of_kind += 1;
            return;
        }
        let finding = place.of(finding, &self.sources);
        if !self.diagnostics.contains(&finding) {
            *n_of_kind += 1;
            self.diagnostics.push(finding);
        }
    }

    /// Reports that there is too much of something, once.
    pub(super) fn too_many(&mut self, place: SourceRange, what: &str, max: usize) {
        let message = format!("more than {max} {what}");
        if self.diagnostics.iter().all(|other| other.message != message) {
            self.error_help(place, "too-many", message, "write fewer, or split the file");
        }
    }

    /// Says of how many findings nothing is said, if there are such.
    pub(super) fn report_others(&mut self) {
        let is_error = |it: &&Diagnostic| it.severity == Severity::Error;
        let n_errors_said = self.diagnostics.iter().filter(is_error).count();
        let n_warnings_said = self.diagnostics.len() - n_errors_said;
        if self.n_errors > FINDINGS_MAX {
            let n_more = self.n_errors - n_errors_said;
            let message = format!("{n_more} more errors are not shown");
            let help = "correct those that are shown first; what the runs come to is not looked at";
            self.diagnostics.push(Diagnostic::error("more-errors", message).help(help));
        }
        if self.n_warnings > FINDINGS_MAX {
            let n_more = self.n_warnings - n_warnings_said;
            let message = format!("{n_more} more warnings are not shown");
            self.diagnostics.push(Diagnostic::warning("more-warnings", message));
        }
    }

    /// Returns whether there is an error from this place up to another, or to the end of its
    /// source.
    pub(super) fn has_error_within(&self, from: SourceRange, to: Option<SourceRange>) -> bool {
        let end = to.map_or(u32::MAX, |to| to.start) as usize;
        let is_within = |span: &Span| {
            span.source_idx == Some(from.source_idx)
                && (from.start as usize..end).contains(&span.bytes.start)
        };
        let errors = self.diagnostics.iter().filter(|it| it.severity == Severity::Error);
        errors.filter_map(|it| it.span.as_ref()).any(is_within)
    }

    /// Drops of what was found behind the first `n_known` all that may only follow from those:
    /// warnings, and mistakes of a kind that their line has already.
    pub(super) fn drop_consequences(&mut self, n_known: usize) {
        let found = self.diagnostics.split_off(n_known.min(self.diagnostics.len()));
        let line = |it: &Diagnostic| it.span.as_ref().map(|span| (span.source_idx, span.line));
        for finding in found {
            let is_like = |it: &Diagnostic| it.code == finding.code && line(it) == line(&finding);
            if finding.severity == Severity::Error && !self.diagnostics.iter().any(is_like) {
                self.diagnostics.push(finding);
            }
        }
    }

    /// Returns whether so much is wrong that looking on is of no use.
    pub(super) fn is_hopeless(&self) -> bool {
        self.n_errors >= FINDINGS_MAX
    }

    fn placed(&self, place: SourceRange, finding: Diagnostic) -> Diagnostic {
        place.of(finding, &self.sources)
    }
}
