//! What was written, before it means anything: sections and options with their places. Job files
//! of fio, plans of our own and needs all become these; [`crate::fio`] gives them their meaning.

use plan::job::Source;
use plan::{Diagnostic, Severity, Span};

/// Texts and command line as written.
#[derive(Clone, Debug, Default)]
pub struct Input {
    /// The texts read, in the order of reading.
    pub sources: Vec<Source>,
    /// Mistakes found so far.
    pub diagnostics: Vec<Diagnostic>,
    /// The command line's sections, then each job file's.
    pub(crate) parts: Vec<Part>,
    /// How many were found. Those beyond [`DIAGNOSTICS_MAX`] are not kept.
    pub(crate) found: FoundCounts,
}

/// How many findings there were.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FoundCounts {
    pub(crate) n_errors: usize,
    /// Warnings and notes.
    pub(crate) n_others: usize,
}

/// The sections of the command line or of one job file with all it includes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Part {
    pub(crate) is_file: bool,
    pub(crate) sections: Vec<Section>,
}

/// One section.
#[derive(Clone, Debug)]
pub(crate) struct Section {
    pub(crate) name: String,
    pub(crate) span: Span,
    /// Changes the defaults of later sections instead of making a job.
    pub(crate) is_global: bool,
    pub(crate) options: Vec<RawOption>,
}

/// One option as written.
#[derive(Clone, Debug)]
pub(crate) struct RawOption {
    pub(crate) key: String,
    /// After substitution; `None` when nothing was written behind the name.
    pub(crate) value: Option<String>,
    pub(crate) key_span: Span,
    pub(crate) value_span: Span,
    /// The key is one of our names, not fio's.
    pub(crate) is_ours: bool,
    /// Variables in the value that are not set.
    pub(crate) undefined: Vec<String>,
}

/// Most errors that are kept, and most warnings: a user corrects the file long before, and a large
/// file that is not a job file at all must not fill the memory with them.
pub(crate) const DIAGNOSTICS_MAX: usize = 200;

impl RawOption {
    /// Makes an option by one of our names, where a language has said it at `span` in its own way.
    pub(crate) fn ours(key: &str, value: Option<String>, span: &Span) -> Self {
        RawOption {
            key: key.to_owned(),
            value,
            key_span: span.clone(),
            value_span: span.clone(),
            is_ours: true,
            undefined: Vec::new(),
        }
    }
}

impl Input {
    pub(crate) fn report(&mut self, diagnostic: Diagnostic) {
        let n_of_kind = match diagnostic.severity {
            Severity::Error => &mut self.found.n_errors,
            Severity::Warning | Severity::Note => &mut self.found.n_others,
        };
        *n_of_kind += 1;
        if *n_of_kind <= DIAGNOSTICS_MAX {
            self.diagnostics.push(diagnostic);
        }
    }

    /// Returns whether so many mistakes were found that looking for more is of no use. Warnings are
    /// none: what is doubtful runs.
    pub(crate) fn is_hopeless(&self) -> bool {
        self.found.n_errors > DIAGNOSTICS_MAX
    }

    /// Returns whether an error was found.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|finding| finding.severity == Severity::Error)
    }
}
