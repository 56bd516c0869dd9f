//! Job files and what changes them: the arguments that `run` and `check` share.

use clap::builder::{PossibleValue, PossibleValuesParser};
use dialects::{
    DIALECTS, Dialect, Foreign, Likeness, Loader, Overrides, Parsed, ReadPlan, Request,
    find_dialect, likeliest,
};
use plan::job::Source;
use plan::{Diagnostic, Severity};

use super::diskspd::CommandLine;
use super::on;
use crate::diagnostics::{self, Texts};
use crate::exit::{Exit, Failure};
use crate::loader::ReadOnce;

/// Findings about files and folders of this host, which say nothing of others.
pub(super) const ABOUT_THIS_HOST: [&str; 2] = ["missing-size", "missing-folder"];

/// Those that say nothing where no file is touched, as on emulated volumes.
pub(super) const ABOUT_FOLDERS: [&str; 1] = ["missing-folder"];

/// Leaves out what is about this host, where the jobs run elsewhere.
pub(super) fn leave_out(parsed: &mut Parsed, codes: &[&str]) {
    parsed.refusals.retain(|finding| !codes.contains(&finding.code));
}

/// Job files and changes to them.
#[derive(Clone, Debug, Default, clap::Args)]
pub(super) struct InputArgs {
    /// Job files; `-` is the standard input. Several files run one after another. With files of
    /// Vdbench and scripts that call diskspd, NAME=VALUE sets `$NAME`.
    #[arg(value_name = "FILE", required = true)]
    pub(super) files: Vec<String>,

    /// Replace the path prefix A by B in every job; may be repeated; the first match applies.
    #[arg(long, value_name = "A=B", value_parser = pair)]
    pub(super) remap: Vec<(String, String)>,

    /// Set a parameter in every job, as if written last; any name that `plimsoll explain` knows.
    #[arg(long, value_name = "KEY=VALUE", value_parser = setting)]
    pub(super) set: Vec<(String, String)>,

    /// Units of load of a composite workload (`[unit]` of a plan), in place of what it says.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) load: Option<u32>,

    /// Take only this section of the job files; may be repeated.
    #[arg(long, value_name = "NAME")]
    pub(super) section: Vec<String>,

    /// Language of the files, where their content does not show it.
    #[arg(long, value_parser = dialect_parser())]
    pub(super) dialect: Option<String>,

    /// Run everything in Vdbench's files on this host.
    #[arg(long)]
    pub(super) all_hosts_local: bool,

    /// What stands for the files.
    #[arg(skip)]
    pub(super) command_line: Option<CommandLine>,
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
    pub(super) fn parse(&self, is_to_run: bool) -> ReadPlan {
        let Some(line) = &self.command_line else {
            return self.parse_read(&ReadOnce::default(), is_to_run);
        };
        self.parse_read(&line.loader, is_to_run)
    }

    /// Parses files that were read.
    pub(super) fn parse_read(&self, loader: &ReadOnce, is_to_run: bool) -> ReadPlan {
        let mistakes = self.foreign_files(loader);
        if !mistakes.is_empty() {
            return ReadPlan::of(Parsed { diagnostics: mistakes, ..Parsed::default() });
        }
        let overrides = self.overrides();
        let request = Request {
            files: &self.files,
            sections: &self.section,
            overrides: &overrides,
            all_hosts_local: self.all_hosts_local,
            is_to_run,
        };
        let dialect = self.language(&request, loader);
        let mut understood = dialect.read(&request, loader);
        let parsed = &mut understood.parsed;
        if self.load.is_some() && dialect != find_dialect("toml").unwrap_or(dialect) {
            let text = "`--load` counts the units of a composite workload, and this has none";
            let finding = Diagnostic::error("no-unit", text);
            parsed.diagnostics.push(finding.help("`[unit]` of a plan defines one"));
        }
        if self.dialect.is_none() && parsed.has_errors() {
            parsed.diagnostics.extend(self.unlike(dialect, &parsed.plan.sources));
        }
        understood
    }

    /// Returns what is to be put in the place of what the files say.
    pub(super) fn overrides(&self) -> Overrides {
        Overrides { set: self.set.clone(), remap: self.remap.clone(), load: self.load }
    }

    /// Names the files that are in no language that is read, unless one is named.
    fn foreign_files(&self, loader: &ReadOnce) -> Vec<Diagnostic> {
        let files = self.files.iter().filter(|_| self.dialect.is_none());
        files.filter_map(|name| foreign(name, &loader.read(name).ok()?)).collect()
    }

    /// Returns the language that was named.
    pub(super) fn named_language(&self) -> Option<&'static dyn Dialect> {
        find_dialect(self.dialect.as_deref()?)
    }

    /// Returns the language that the files are in: the one named, or the one that the first of
    /// them looks most like.
    fn language(&self, request: &Request<'_>, loader: &ReadOnce) -> &'static dyn Dialect {
        let by_look = || {
            let text = loader.read(&request.first_file(loader)?).unwrap_or_default();
            likeliest(&dialects::foreign::text(&text))
        };
        self.named_language().or_else(by_look).unwrap_or(DIALECTS[0])
    }

    /// Returns which of the files do not look like their language at all, which explains their
    /// mistakes.
    fn unlike(&self, dialect: &dyn Dialect, sources: &[Source]) -> Vec<Diagnostic> {
        let is_unlike = |source: &&Source| {
            let text = &source.text;
            self.files.contains(&source.name)
                && dialect.likeness(text) == Likeness::None
                && !text.trim().is_empty()
        };
        let unlike = sources.iter().filter(is_unlike).map(|source| {
            let text = format!("`{}` does not look like {}", source.name, dialect.file());
            let note = Diagnostic::note("unknown-dialect", text);
            let note = DIALECTS.iter().fold(note, |note, it| note.help(it.signs()));
            note.help("`--dialect` names the language")
        });
        unlike.collect()
    }
}

/// Returns the diagnostic for a file that is in no language of jobs, by its content.
pub(super) fn foreign(name: &str, bytes: &[u8]) -> Option<Diagnostic> {
    let foreign = Foreign::recognise(bytes).filter(|it| !it.is_dialect());
    let foreign = foreign.map(|it| it.mistake(name));
    foreign.or_else(|| on::design_in_place_of_a_job(name, &String::from_utf8_lossy(bytes)))
}

/// Reads the name of a language.
pub(super) fn dialect_parser() -> PossibleValuesParser {
    let value = |it: &&dyn Dialect| PossibleValue::new(it.name()).help(it.about());
    PossibleValuesParser::new(DIALECTS.iter().map(value))
}

/// Reads the name of a language that jobs are written in.
pub(super) fn writer_parser() -> PossibleValuesParser {
    let value = |it: &&dyn Dialect| PossibleValue::new(it.name()).help(it.about());
    PossibleValuesParser::new(DIALECTS.iter().filter(|it| it.can_write()).map(value))
}

/// Shows everything that is to be said about the files. An error ends the command with code 2.
pub(super) fn print_findings(parsed: &Parsed) -> Result<(), Failure> {
    let texts = Texts { sources: &parsed.plan.sources, command_line: "" };
    let findings = findings(parsed);
    diagnostics::print_all(&findings, texts);
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
