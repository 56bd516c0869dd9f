//! A language of workload files: how one is recognised, read and written. Programs go through
//! [`DIALECTS`](crate::DIALECTS) and need not know which there are.

use plan::{Diagnostic, Plan, Severity};

use crate::foreign;
use crate::loader::FILE_BYTES_MAX;
use crate::{Likeness, LoadError, Loader, LowerOptions, Overrides, Translation};

/// What every language does.
pub trait Dialect: Sync + Send {
    /// Returns the word that chooses it on a command line.
    fn name(&self) -> &'static str;

    /// Returns what its files are, as a sentence without its stop: `Job files of fio`.
    fn about(&self) -> &'static str;

    /// Returns what one of its files is, within a sentence: `a job file of fio`.
    fn file(&self) -> &'static str;

    /// Returns what a user sees its files by.
    fn signs(&self) -> &'static str;

    /// Returns what a line begins with that means nothing.
    fn comment(&self) -> char;

    /// Returns how much a text looks like one of its own.
    fn likeness(&self, text: &str) -> Likeness;

    /// Reads files that run one after another.
    fn read(&self, request: &Request<'_>, loader: &dyn Loader) -> ReadPlan;

    /// Returns whether plans are written in it.
    fn can_write(&self) -> bool {
        true
    }

    /// Puts remarks in front of a text of it, as comments.
    fn annotate(&self, text: &str, remarks: &[String]) -> String {
        let mark = self.comment();
        let mut annotated: String =
            remarks.iter().map(|remark| format!("{mark} {remark}\n")).collect();
        if !remarks.is_empty() {
            annotated.push('\n');
        }
        annotated + text
    }

    /// Writes a plan. What is said otherwise than in the plan, or not at all, is listed.
    fn write(&self, plan: &Plan) -> Translation;
}

impl std::fmt::Debug for dyn Dialect {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl PartialEq for dyn Dialect {
    /// Names are unique.
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

/// What is to be read, and what changes it.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Paths as a command line has them: where a language has variables, `NAME=VALUE` that is no
    /// file sets one.
    pub files: &'a [String],
    /// Sections to take; empty is all.
    pub sections: &'a [String],
    /// Values and paths that replace what is written.
    pub overrides: &'a Overrides,
    /// Hosts that are named are all this one.
    pub all_hosts_local: bool,
    /// The plan is to be run here and now; else it is to be looked at.
    pub is_to_run: bool,
}

impl<'a> LowerOptions<'a> {
    /// Returns what a request asks for.
    pub(crate) fn of(request: &Request<'a>) -> Self {
        let overrides = Some(request.overrides);
        LowerOptions { sections: request.sections, readonly: false, overrides }
    }
}

impl Request<'_> {
    /// Distinguishes variables from files; what exists is a file.
    pub(crate) fn variables(&self, loader: &dyn Loader) -> (Vec<(String, String)>, Vec<String>) {
        let (mut variables, mut files) = (Vec::new(), Vec::new());
        for word in self.files {
            match word.split_once('=') {
                Some((name, value)) if is_name(name) && !loader.is_file(word) => {
                    variables.push((name.to_owned(), value.to_owned()));
                }
                _ => files.push(word.clone()),
            }
        }
        (variables, files)
    }

    /// Returns the first of the files, by which the language of all is recognised.
    pub fn first_file(&self, loader: &dyn Loader) -> Option<String> {
        self.variables(loader).1.into_iter().next()
    }
}

/// Returns whether a variable may have this name.
fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// A plan, and what is to be said about it.
#[derive(Clone, Debug, Default)]
pub struct Parsed {
    /// The jobs without mistakes.
    pub plan: Plan,
    /// Mistakes, warnings and notes, in the order of the text. With an error, fio's `--parse-only`
    /// fails too.
    pub diagnostics: Vec<Diagnostic>,
    /// Why the plan cannot run although it parses: contradictions between options, engines and
    /// options that are not built in, no job at all. A run is refused, `--parse-only` is not.
    pub refusals: Vec<Diagnostic>,
}

impl Parsed {
    /// Reads a file of text as `parse` does; the path `-` is the standard input. `what` it is to be
    /// is said where it cannot be read.
    pub(crate) fn of_file(
        path: &str,
        what: &str,
        loader: &dyn Loader,
        parse: impl FnOnce(&str) -> Parsed,
    ) -> Parsed {
        let text = loader.read(path).and_then(|bytes| {
            String::from_utf8(bytes).map_err(|_| LoadError::Failed("it is not UTF-8".to_owned()))
        });
        match text {
            Ok(text) => parse(&text),
            Err(error) => Self::unreadable(path, what, &error),
        }
    }

    /// Reads files of text that a program of Windows may have written, one after another.
    pub(crate) fn of_wide_files(
        paths: &[String],
        what: &str,
        loader: &dyn Loader,
        parse: impl Fn(&str, &str) -> Parsed,
    ) -> ReadPlan {
        let mut all = Parsed::default();
        for path in paths {
            let parsed = match wide_text(path, loader) {
                Ok(text) => parse(path, &text),
                Err(error) => Self::unreadable(path, what, &error),
            };
            all.append(parsed);
        }
        ReadPlan::of(all)
    }

    /// Adds what runs after the rest.
    pub(crate) fn append(&mut self, next: Parsed) {
        let Parsed { mut plan, mut diagnostics, mut refusals } = next;
        let n_sources = self.plan.sources.len() as u32;
        let spans = diagnostics.iter_mut().chain(&mut refusals);
        for source_idx in spans.filter_map(|finding| finding.span.as_mut()?.source_idx.as_mut()) {
            *source_idx += n_sources;
        }
        let n_steps = self.plan.steps.len() as u32;
        let n_groups = self.plan.jobs().map(|job| job.group_id + 1).max().unwrap_or(0);
        for step in &mut plan.steps {
            if let Some(rate_of) = &mut step.rate_of {
                rate_of.step_idx += n_steps;
            }
            for job in &mut step.jobs {
                job.group_id += n_groups;
            }
        }
        self.plan.sources.append(&mut plan.sources);
        self.plan.steps.append(&mut plan.steps);
        self.diagnostics.append(&mut diagnostics);
        self.refusals.append(&mut refusals);
    }

    fn unreadable(path: &str, what: &str, error: &LoadError) -> Parsed {
        let text = format!("cannot read {what} `{path}`: {error}");
        let diagnostics = vec![Diagnostic::error("file-unreadable", text)];
        Parsed { diagnostics, ..Parsed::default() }
    }

    /// Returns whether the text itself holds an error.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|finding| finding.severity == Severity::Error)
    }
}

/// Returns the text of a file that a program of Windows may have written: in UTF-8 or UTF-16.
pub(crate) fn wide_text(path: &str, loader: &dyn Loader) -> Result<String, LoadError> {
    let bytes = loader.read(path)?;
    if bytes.len() > FILE_BYTES_MAX {
        let mib = FILE_BYTES_MAX >> 20;
        return Err(LoadError::Failed(format!("it is larger than {mib} MiB")));
    }
    Ok(foreign::text(&bytes).into_owned())
}

/// What files come to.
#[derive(Clone, Debug, Default)]
pub struct ReadPlan {
    /// The plan, and what was found.
    pub parsed: Parsed,
    /// The runs as the language's own tool lists them, where it does.
    pub listing: Option<String>,
    /// The files in plain form; where there is none, the plan in the language's words is that.
    pub plain: Option<PlainForm>,
    /// Seeds are drawn anew in each run, as the language's own tool does.
    pub draws_anew: bool,
}

/// Files in plain form: a definition per line, nothing to include or to substitute.
#[derive(Clone, Debug, Default)]
pub struct PlainForm {
    /// The word for the language that they are in, and stay in.
    pub language: &'static str,
    /// The text, and what the language's own tool makes otherwise of it.
    pub translation: Translation,
}

impl ReadPlan {
    /// Holds a plan, and nothing that only its language has.
    pub fn of(parsed: Parsed) -> Self {
        ReadPlan { parsed, ..ReadPlan::default() }
    }
}
