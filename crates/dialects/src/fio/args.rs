//! fio's command line into switches and sections, as `getopt_long_only` takes it.

use plan::param::{self, ValueKind, find_fio};
use plan::{Diagnostic, Span};

use super::read::read_job_file;
use super::switches::{Arity, ClientFile, SWITCHES, Switch, Switches, find_switch};
use crate::Loader;
use crate::sections::{Input, Part, RawOption, Section};

/// Reads fio's arguments (without the program's name) and the job files they name.
///
/// Long options may have one dash or two, may be cut to an unambiguous prefix, and take a value
/// behind `=` or as the next argument. `--name` starts a job; options before the first are defaults
/// of all. Other arguments are job files, which run after the jobs of the command line. Spans have
/// no source: they point into the arguments joined by blanks.
pub fn read_args(args: &[String], loader: &dyn Loader) -> (Switches, Input) {
    let mut reader = ArgReader {
        args,
        next: 0,
        offset: 0,
        column: 1,
        switches: Switches::default(),
        input: Input::default(),
        sections: Vec::new(),
        job_files: Vec::new(),
    };
    reader.all();
    let ArgReader { switches, mut input, sections, job_files, .. } = reader;
    input.parts.push(Part { is_file: false, sections });
    for path in &job_files {
        read_job_file(path, &mut input, loader);
    }
    (switches, input)
}

struct ArgReader<'a> {
    args: &'a [String],
    next: usize,
    /// Where the next argument starts in the joined arguments, in bytes.
    offset: usize,
    /// The same in characters, from 1.
    column: u32,
    switches: Switches,
    input: Input,
    sections: Vec<Section>,
    job_files: Vec<String>,
}

/// What the name of a long option stands for.
#[derive(Clone, Copy)]
enum Long {
    Switch(&'static Switch),
    Option(&'static str, Arity),
}

impl ArgReader<'_> {
    fn take(&mut self) -> Option<(String, Span)> {
        let arg = self.args.get(self.next)?.clone();
        let bytes = self.offset..self.offset + arg.len();
        let span = Span { source_idx: None, line: 1, column: self.column, bytes };
        self.next += 1;
        self.offset += arg.len() + 1;
        self.column += arg.chars().count() as u32 + 1;
        Some((arg, span))
    }

    fn all(&mut self) {
        while let Some((arg, span)) = self.take() {
            if arg == "--" {
                while let Some((path, _)) = self.take() {
                    self.job_files.push(path);
                }
            } else if arg.len() > 1 && arg.starts_with('-') {
                self.long(&arg, span);
            } else if arg.is_empty() {
                let finding = Diagnostic::error("empty-argument", "an argument is empty");
                self.input.report(finding.at(span));
            } else {
                self.job_files.push(arg);
            }
        }
    }

    fn long(&mut self, arg: &str, span: Span) {
        let body = arg.strip_prefix("--").unwrap_or(&arg[1..]);
        let (name, value) = match body.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (body, None),
        };
        let Some(long) = self.find(name, &span) else {
            // The value of an unknown option would otherwise be taken for a job file.
            let is_bare = value.is_none()
                && self
                    .args
                    .get(self.next)
                    .is_some_and(|next| !next.starts_with('-') && !next.contains(['.', '/']));
            if is_bare {
                self.take();
            }
            return;
        };
        let full = match long {
            Long::Switch(switch) => switch.name,
            Long::Option(name, _) => name,
        };
        let arity = match long {
            Long::Switch(switch) => switch.arity,
            Long::Option(_, arity) => arity,
        };
        let skip = arg.len() - value.map_or(0, str::len);
        let value_span = Span {
            column: span.column + arg[..skip].chars().count() as u32,
            bytes: span.bytes.start + skip..span.bytes.end,
            ..span.clone()
        };
        let (value, value_span) = match (arity, value) {
            (Arity::None, Some(value)) => {
                let text = format!("`--{full}` takes no value, but `{value}` is given");
                let finding = Diagnostic::error("unexpected-value", text).at(value_span);
                self.input.report(finding.help(format!("write `--{full}`")));
                return;
            }
            (Arity::Required, None) => {
                let Some((next, next_span)) = self.take() else {
                    self.missing(full, span);
                    return;
                };
                if next.starts_with("--") {
                    let text = format!("`{next}` is taken as the value of `--{full}`, as fio does");
                    let finding = Diagnostic::warning("swallowed-option", text);
                    let help = format!("write the value behind `=`: `--{full}=...`");
                    self.input.report(finding.at(next_span.clone()).help(help));
                }
                (Some(next), next_span)
            }
            (_, value) => (value.map(str::to_owned), value_span),
        };
        if arity == Arity::Required && value.as_deref() == Some("") {
            self.missing(full, value_span);
            return;
        }
        match long {
            Long::Switch(switch) => self.switch(switch, value.as_deref(), value_span),
            Long::Option(name, _) => self.option(name, value, span, value_span),
        }
    }

    fn missing(&mut self, name: &str, span: Span) {
        let text = format!("`--{name}` needs a value");
        let finding = Diagnostic::error("missing-value", text).at(span);
        let expected = find_fio(name).map(|param| super::value::expected(param.kind));
        self.input.report(match expected {
            Some(expected) => finding.help(expected),
            None => finding.help(format!("write `--{name}=VALUE`")),
        });
    }

    fn switch(&mut self, switch: &Switch, value: Option<&str>, span: Span) {
        if let Err(text) = switch.apply(&mut self.switches, value.unwrap_or_default()) {
            self.input.report(Diagnostic::error("bad-switch", text).at(span));
        } else if switch.name == "client" {
            self.client_files();
        }
    }

    /// Takes the job files behind `--client`: they are of that one alone.
    fn client_files(&mut self) {
        while self.args.get(self.next).is_some_and(|arg| !arg.starts_with('-') && !arg.is_empty()) {
            let Some((path, _)) = self.take() else { return };
            if let Some(client) = self.switches.clients.last_mut() {
                client.files.push(ClientFile::Sent(path));
            }
        }
    }

    fn option(&mut self, name: &str, value: Option<String>, key_span: Span, value_span: Span) {
        if name == "name" {
            let name = value.clone().unwrap_or_default();
            let is_global = name.starts_with("global");
            let span = value_span.clone();
            self.sections.push(Section { name, span, is_global, options: Vec::new() });
        }
        if self.sections.is_empty() {
            // Options before the first `--name` are defaults of all jobs.
            self.sections.push(Section {
                name: String::new(),
                span: key_span.clone(),
                is_global: true,
                options: Vec::new(),
            });
        }
        if let Some(section) = self.sections.last_mut() {
            let key = name.to_owned();
            let undefined = Vec::new();
            section.options.push(RawOption {
                key,
                value,
                key_span,
                value_span,
                is_ours: false,
                undefined,
            });
        }
    }

    /// Finds a switch or job option by its name or an unambiguous prefix.
    fn find(&mut self, name: &str, span: &Span) -> Option<Long> {
        match name {
            "h" => return find_switch("help").map(Long::Switch),
            "v" => return find_switch("version").map(Long::Switch),
            _ => {}
        }
        if let Some(switch) = find_switch(name) {
            return Some(Long::Switch(switch));
        }
        if let Some(found) = find_fio(name) {
            let full = found.fio.iter().find(|known| **known == name)?;
            return Some(Long::Option(full, arity(found.kind)));
        }
        let mut candidates: Vec<(&'static str, Long)> = Vec::new();
        for switch in SWITCHES.iter().filter(|switch| switch.name.starts_with(name)) {
            candidates.push((switch.name, Long::Switch(switch)));
        }
        for known in param::all().filter(|known| known.engines.is_empty()) {
            for full in known.fio.iter().filter(|full| full.starts_with(name)) {
                candidates.push((full, Long::Option(full, arity(known.kind))));
            }
        }
        candidates.sort_by_key(|(name, _)| *name);
        match candidates.as_slice() {
            [(_, long)] => return Some(*long),
            [] => self.unknown(name, span),
            _ => {
                let names: Vec<String> =
                    candidates.iter().take(6).map(|(name, _)| format!("`--{name}`")).collect();
                let text = format!("`--{name}` is ambiguous: it could be {}", names.join(", "));
                self.input.report(Diagnostic::error("ambiguous-option", text).at(span.clone()));
            }
        }
        None
    }

    fn unknown(&mut self, name: &str, span: &Span) {
        let text = format!("unknown option `--{name}`");
        let mut finding = Diagnostic::error("unknown-option", text).at(span.clone());
        let switches = SWITCHES.iter().map(|switch| switch.name);
        let plain = |name: &str| name.replace(['-', '_'], "").to_lowercase();
        let alike = switches.filter(|switch| plain(switch) == plain(name));
        let near: Vec<String> = alike
            .chain(param::suggest(name, param::Names::Fio))
            .map(|near| format!("`--{near}`"))
            .collect();
        if !near.is_empty() {
            finding = finding.help(format!("did you mean {}?", near.join(" or ")));
        }
        self.input.report(finding);
    }
}

/// Only flags may stand without a value on the command line.
fn arity(kind: ValueKind) -> Arity {
    if kind == ValueKind::Flag { Arity::Optional } else { Arity::Required }
}
