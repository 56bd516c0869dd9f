//! Job files and what changes them: the arguments that `run` and `check` share.

use clap::ValueEnum;
use dialects::fio::{self, Overrides, Parsed, Wishes};
use dialects::{Foreign, Loader, native, vdbench};
use plan::{Diagnostic, Severity};

use super::vdbench::{self as vdbench_command, Understood, Wanted};
use crate::diagnostics::{self, Texts};
use crate::exit::{Exit, Failure};
use crate::loader::HostLoader;

/// Job files and changes to them.
#[derive(Clone, Debug, Default, clap::Args)]
pub(super) struct InputArgs {
    /// Job files; `-` is the standard input. Each further file starts when the one before has
    /// ended. With Vdbench's files, NAME=VALUE is what `$NAME` stands for.
    #[arg(value_name = "FILE", required = true)]
    pub(super) files: Vec<String>,

    /// Replace the path prefix A by B in every job; may be repeated, the first that fits counts.
    #[arg(long, value_name = "A=B", value_parser = pair)]
    pub(super) remap: Vec<(String, String)>,

    /// Set a parameter in every job, as if written last; any name that `plimsoll explain` knows.
    #[arg(long, value_name = "KEY=VALUE", value_parser = setting)]
    pub(super) set: Vec<(String, String)>,

    /// Take only this section of the job files; may be repeated.
    #[arg(long, value_name = "NAME")]
    pub(super) section: Vec<String>,

    /// Language of the files, where it cannot be told from their content.
    #[arg(long, value_enum)]
    pub(super) dialect: Option<Dialect>,

    /// Of Vdbench's files: every host is this one.
    #[arg(long)]
    pub(super) all_hosts_local: bool,
}

/// What files come to.
#[derive(Debug)]
pub(super) struct Input {
    /// The plan, and what was found.
    pub(super) parsed: Parsed,
    /// The runs of Vdbench's files, as a simulation lists them.
    pub(super) runs: Option<String>,
    /// Vdbench's files in plain form.
    pub(super) plain: Option<String>,
}

/// A language of job files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Dialect {
    /// Job files of fio.
    Fio,
    /// Parameter files of Vdbench.
    Vdbench,
    /// Plans of Plimsoll's own.
    Toml,
}

impl Input {
    fn of(parsed: Parsed) -> Self {
        Input { parsed, runs: None, plain: None }
    }
}

/// Says whether a variable may have this name.
fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Splits `A=B` of `--remap`.
pub(super) fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((from, to)) if !from.is_empty() && !to.is_empty() => {
            Ok((from.to_owned(), to.to_owned()))
        }
        _ => Err("write OLD=NEW, for example /mnt/data=./scratch".to_owned()),
    }
}

/// Splits `KEY=VALUE` of `--set`; a flag may stand without value.
pub(super) fn setting(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').unwrap_or((text, ""));
    if key.trim().is_empty() {
        return Err("write KEY=VALUE, for example runtime=10s".to_owned());
    }
    Ok((key.trim().to_owned(), value.trim().to_owned()))
}

impl InputArgs {
    /// Parses the files, to be looked at or to be run.
    pub(super) fn parse(&self, is_to_run: bool) -> Input {
        let mistakes = self.foreign_files();
        if !mistakes.is_empty() {
            return Input::of(Parsed { diagnostics: mistakes, ..Parsed::default() });
        }
        match self.language() {
            Dialect::Fio => return Input::of(self.parse_fio()),
            Dialect::Toml => return Input::of(self.parse_native()),
            Dialect::Vdbench => {}
        }
        let (variables, files) = self.variables();
        let wanted = Wanted {
            files: &files,
            variables: &variables,
            set: &self.set,
            remap: &self.remap,
            all_hosts_local: self.all_hosts_local,
            is_to_run,
        };
        let Understood { parsed, runs, plain } = vdbench_command::input(&wanted);
        Input { parsed, runs: Some(runs), plain: Some(plain) }
    }

    /// Names the files that are in no language that is read, unless one is named.
    fn foreign_files(&self) -> Vec<Diagnostic> {
        let files = self.files.iter().filter(|_| self.dialect.is_none());
        let foreign = files.filter_map(|name| {
            let bytes = (name != "-").then(|| HostLoader.read(name).ok()).flatten()?;
            Some(Foreign::tell(&bytes)?.mistake(name))
        });
        foreign.collect()
    }

    /// Tells `NAME=VALUE` from files; what exists is a file.
    fn variables(&self) -> (Vec<(String, String)>, Vec<String>) {
        let (mut variables, mut files) = (Vec::new(), Vec::new());
        for word in &self.files {
            match word.split_once('=') {
                Some((name, value)) if is_name(name) && !HostLoader.is_file(word) => {
                    variables.push((name.to_owned(), value.to_owned()));
                }
                _ => files.push(word.clone()),
            }
        }
        (variables, files)
    }

    /// Returns the language that the files are in: the one told, or the one that the first of
    /// them looks more like.
    fn language(&self) -> Dialect {
        if let Some(dialect) = self.dialect {
            return dialect;
        }
        let (_, files) = self.variables();
        let first = files.first().filter(|name| *name != "-");
        let text = first.and_then(|name| HostLoader.read(name).ok()).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        if native::sniff(&text) > 0 {
            return Dialect::Toml;
        }
        let is_vdbench = vdbench::sniff(&text) > fio::sniff(&text);
        if is_vdbench { Dialect::Vdbench } else { Dialect::Fio }
    }

    /// Parses plans of our own; each further one runs when the one before has ended.
    fn parse_native(&self) -> Parsed {
        let overrides = Overrides { set: self.set.clone(), remap: self.remap.clone() };
        let wishes =
            Wishes { sections: &self.section, readonly: false, overrides: Some(&overrides) };
        native::parse_files(&self.files, &wishes, &HostLoader)
    }

    fn parse_fio(&self) -> Parsed {
        let overrides = Overrides { set: self.set.clone(), remap: self.remap.clone() };
        let wishes =
            Wishes { sections: &self.section, readonly: false, overrides: Some(&overrides) };
        let mut parsed = fio::parse_files(&self.files, &wishes, &HostLoader);
        for finding in &mut parsed.diagnostics {
            // fio takes an unset variable for nothing, which turns `${DIR}/f` into `/f`.
            if finding.code == "undefined-variable" {
                finding.severity = Severity::Error;
                finding.help.push("one that shall be empty must be set, to nothing".to_owned());
            }
        }
        if self.dialect.is_none() && parsed.has_errors() {
            parsed.diagnostics.extend(self.foreign(&parsed));
        }
        parsed
    }

    /// Says which of the files do not look like job files at all, which explains their mistakes.
    fn foreign(&self, parsed: &Parsed) -> Vec<Diagnostic> {
        let is_named = |name: &String| self.files.contains(name);
        let sources = parsed.plan.sources.iter().filter(|source| is_named(&source.name));
        let foreign = sources.filter(|source| fio::sniff(&source.text) == 0);
        let foreign = foreign.filter(|source| !source.text.trim().is_empty());
        foreign
            .map(|source| {
                let text = format!("`{}` does not look like a fio job file", source.name);
                Diagnostic::note("unknown-dialect", text)
                    .help("a job file has a `[section]` for each job, with `option=value` lines")
                    .help(
                        "Vdbench's parameter files are told by `sd=` or `fsd=` and `rd=` lines, \
                           plans of our own by `schema = \"plimsoll.plan/1\"`; `--dialect` names \
                           the language",
                    )
            })
            .collect()
    }
}

/// Shows everything that is to be said about the files. An error ends the command with code 2.
pub(super) fn tell(parsed: &Parsed) -> Result<(), Failure> {
    let texts = Texts { sources: &parsed.plan.sources, command_line: "" };
    let findings = findings(parsed);
    diagnostics::tell(&findings, texts);
    if findings.iter().any(|finding| finding.severity == Severity::Error) {
        return Err(Failure::silent(Exit::WrongUse));
    }
    Ok(())
}

/// Returns mistakes of the text and reasons why it cannot run, in the order of the text.
pub(super) fn findings(parsed: &Parsed) -> Vec<&Diagnostic> {
    let mut findings: Vec<&Diagnostic> =
        parsed.diagnostics.iter().chain(&parsed.refusals).collect();
    findings.sort_by_key(|finding| {
        let span = finding.span.as_ref();
        span.map_or((u32::MAX, 0, 0), |span| (span.source_idx.unwrap_or(0), span.line, span.column))
    });
    findings
}
