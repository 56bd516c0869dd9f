//! Job files into sections: comments, includes, variables.

use plan::job::Source;
use plan::{Diagnostic, Span};

use super::scan::{Line, Piece, ScannedLine, lines};
use super::vars::substitute;
use crate::loader::FILE_BYTES_MAX;
use crate::sections::{Input, Part, RawOption, Section};
use crate::{Foreign, LoadError, Loader};

/// Deepest nesting of includes; loops through differently written paths end here.
const INCLUDE_DEPTH_MAX: usize = 32;
/// Most includes of one job file: files that include one another twice grow as powers of two.
const INCLUDES_MAX: usize = 1000;
/// Longest section name that fio keeps, in characters.
const SECTION_NAME_CHARS_MAX: usize = 255;

/// Reads the job file and all it includes, and appends its sections to `input`.
///
/// The path `-` is the standard input. Mistakes go to `input.diagnostics`.
pub(super) fn read_job_file(path: &str, input: &mut Input, loader: &dyn Loader) {
    if let Some(text) = load(path, path, None, input, loader) {
        read_job_text(path, text, input, loader);
    }
}

/// Reads a job file's text, as [`read_job_file`] does; `name` stands for its path.
pub(super) fn read_job_text(name: &str, text: String, input: &mut Input, loader: &dyn Loader) {
    let mut reader = Reader {
        input,
        loader,
        part: Part { is_file: true, sections: Vec::new() },
        chain: Vec::new(),
        n_includes: 0,
    };
    reader.text(name, text);
    let part = reader.part;
    input.parts.push(part);
}

struct Reader<'a> {
    input: &'a mut Input,
    loader: &'a dyn Loader,
    part: Part,
    /// Paths of the files being read, outermost first.
    chain: Vec<String>,
    n_includes: usize,
}

impl Reader<'_> {
    fn text(&mut self, name: &str, text: String) {
        let source_idx = self.input.sources.len() as u32;
        self.input.sources.push(Source { name: name.to_owned(), text: String::new() });
        self.chain.push(name.to_owned());
        if text.trim().is_empty() {
            let finding = Diagnostic::warning("empty-file", format!("job file `{name}` is empty"));
            self.input.report(finding.at(Span { line: 1, column: 1, ..whole(source_idx) }));
        }
        for scanned in lines(source_idx, &text) {
            if !self.line(scanned) || self.input.is_hopeless() {
                break;
            }
        }
        self.chain.pop();
        self.input.sources[source_idx as usize].text = text;
    }

    /// Takes a line in. Returns whether to go on with this file.
    fn line(&mut self, scanned: ScannedLine<'_>) -> bool {
        match scanned.line {
            Line::Section(name) => return self.section(&name, scanned.unclosed),
            Line::Include(path) => self.include(&path),
            Line::Option(key, value) => {
                if scanned.cut_in_quotes {
                    let text = "a `;` or `#` starts a comment even within quotes; the value ends \
                                before it";
                    let finding = Diagnostic::warning("comment-in-quotes", text);
                    self.input.report(finding.at(value.as_ref().unwrap_or(&key).span.clone()));
                }
                self.option(&key, value);
            }
        }
        true
    }

    fn section(&mut self, name: &Piece<'_>, unclosed: bool) -> bool {
        if let [.., including, _] = self.chain.as_slice() {
            let text = format!(
                "section `[{}]` stands in a file that `{including}` includes; an included file may \
                 only hold options",
                name.text
            );
            self.input.report(Diagnostic::error("section-in-include", text).at(name.span.clone()));
            return false;
        }
        if unclosed {
            let text = format!(
                "section header does not end in `]`; its name is read as `{}`, as fio does",
                name.text
            );
            self.input.report(Diagnostic::warning("unclosed-section", text).at(name.span.clone()));
        }
        self.part.sections.push(Section {
            name: name.text.chars().take(SECTION_NAME_CHARS_MAX).collect(),
            span: name.span.clone(),
            is_global: name.text.starts_with("global"),
            options: Vec::new(),
        });
        true
    }

    fn option(&mut self, key: &Piece<'_>, value: Option<Piece<'_>>) {
        let Some(section) = self.part.sections.last_mut() else {
            let text = format!("option `{}` stands before the first section", key.text);
            let finding = Diagnostic::error("option-outside-section", text).at(key.span.clone());
            self.input.report(finding.help("write `[global]` or a job's `[name]` above it"));
            return;
        };
        let value_span = value.as_ref().map_or(&key.span, |value| &value.span).clone();
        let done = value.map(|value| substitute(value.text, self.loader));
        let (mut undefined, mut problem) = (Vec::new(), None);
        let value = done.map(|done| {
            (undefined, problem) = (done.undefined, done.problem);
            done.text
        });
        if let (Some(problem), Some(text)) = (problem, &value) {
            let text = format!("value `{text}` of `{}` {problem}", key.text);
            let finding = Diagnostic::error("not-an-expression", text).at(value_span.clone());
            let help = "a value with `$pagesize`, `$mb_memory` or `$ncpus` and one of `+ - * /` is \
                        computed, as fio does";
            self.input.report(finding.help(help));
            return;
        }
        for name in &undefined {
            let text = format!("environment variable `{name}` is not set; it stands for nothing");
            let finding = Diagnostic::warning("undefined-variable", text).at(value_span.clone());
            self.input.report(finding.help(format!("set it: `{name}=... plimsoll ...`")));
        }
        let key_span = key.span.clone();
        let key = key.text.to_owned();
        section.options.push(RawOption {
            key,
            value,
            key_span,
            value_span,
            is_ours: false,
            undefined,
        });
    }

    fn include(&mut self, path: &Piece<'_>) {
        if self.part.sections.is_empty() {
            let text = format!("`include {}` stands before the first section", path.text);
            let finding = Diagnostic::error("option-outside-section", text).at(path.span.clone());
            self.input.report(finding.help("write `[global]` above it"));
            return;
        }
        let chain = || format!("{} -> {}", self.chain.join(" -> "), path.text);
        let refusal = if self.chain.iter().any(|open| same_file(open, path.text)) {
            Some(("include-loop", format!("include loop: {}", chain())))
        } else if self.chain.len() > INCLUDE_DEPTH_MAX {
            let text = format!("includes nest deeper than {INCLUDE_DEPTH_MAX}: {}", chain());
            Some(("include-loop", text))
        } else if self.n_includes >= INCLUDES_MAX {
            Some(("too-many-includes", format!("more than {INCLUDES_MAX} includes")))
        } else {
            None
        };
        if let Some((code, text)) = refusal {
            self.input.report(Diagnostic::error(code, text).at(path.span.clone()));
            return;
        }
        self.n_includes += 1;
        let beside = self.chain.last().and_then(|open| folder(open)).map(|folder| {
            if path.text.starts_with('/') { path.text.to_owned() } else { join(folder, path.text) }
        });
        // The current directory comes first, then the including file's folder.
        let found = match &beside {
            Some(beside) if self.loader.read(path.text) == Err(LoadError::NotFound) => beside,
            _ => path.text,
        };
        if self.chain.iter().any(|open| same_file(open, found)) {
            let text = format!("include loop: {}", chain());
            self.input.report(Diagnostic::error("include-loop", text).at(path.span.clone()));
            return;
        }
        let span = Some(path.span.clone());
        if let Some(text) = load(found, path.text, span, self.input, self.loader) {
            self.text(found, text);
        }
    }
}

/// Loads and decodes a file; mistakes go to `input`. `shown` is the path as the user wrote it.
fn load(
    path: &str,
    shown: &str,
    span: Option<Span>,
    input: &mut Input,
    loader: &dyn Loader,
) -> Option<String> {
    let finding = match loader.read(path) {
        Ok(bytes) => match (Foreign::recognise(&bytes), decode(bytes)) {
            (Some(foreign), _) => foreign.mistake(shown),
            (None, Ok((text, is_utf8))) => {
                if !is_utf8 {
                    let text = format!("`{shown}` is not UTF-8; it is read as Latin-1");
                    input.report(Diagnostic::warning("not-utf8", text));
                }
                return Some(text);
            }
            (None, Err((code, problem))) => Diagnostic::error(code, format!("`{shown}` {problem}"))
                .help("name a fio job file: text with `[sections]` and `option=value` lines"),
        },
        Err(LoadError::NotFound) if span.is_none() => Diagnostic::error(
            "file-unreadable",
            format!("cannot read job file `{shown}`: no such file"),
        )
        .help("an argument that is no option and no option's value names a job file"),
        Err(error) => {
            let text = format!("cannot read job file `{shown}`: {error}");
            Diagnostic::error("file-unreadable", text)
        }
    };
    input.report(match span {
        Some(span) => finding.at(span),
        None => finding,
    });
    None
}

/// Decodes a job file. A text that is not UTF-8 is taken as Latin-1, because fio takes any byte and
/// old comments hold such; the second part of the result says so.
fn decode(bytes: Vec<u8>) -> Result<(String, bool), (&'static str, String)> {
    if bytes.len() > FILE_BYTES_MAX {
        let mib = FILE_BYTES_MAX >> 20;
        let text = format!("holds more than a job file may ({mib} MiB)");
        return Err(("file-too-large", text));
    }
    let is_control = |byte: &u8| byte.is_ascii_control() && !b"\t\n\r\x0b\x0c\x1b".contains(byte);
    if let Some(at) = bytes.iter().position(is_control) {
        let text = format!("is not text: byte {at} is {:#04x}", bytes[at]);
        return Err(("binary-file", text));
    }
    Ok(match String::from_utf8(bytes) {
        Ok(text) => (text, true),
        Err(error) => (error.as_bytes().iter().map(|&byte| char::from(byte)).collect(), false),
    })
}

fn whole(source_idx: u32) -> Span {
    Span { source_idx: Some(source_idx), ..Span::default() }
}

fn folder(path: &str) -> Option<&str> {
    path.rsplit_once('/').map(|(folder, _)| folder)
}

fn join(folder: &str, name: &str) -> String {
    format!("{folder}/{name}")
}

/// Compares two paths by their text, without `.` components.
fn same_file(a: &str, b: &str) -> bool {
    let plain = |path: &str| -> Vec<String> {
        path.split('/').filter(|part| *part != ".").map(str::to_owned).collect()
    };
    plain(a) == plain(b)
}
