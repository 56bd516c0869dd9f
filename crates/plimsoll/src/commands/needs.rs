//! `plimsoll needs`: what an application asks for, as a checklist and as a job.

mod interview;
mod page;
mod text;

use std::io::{self, IsTerminal};
use std::path::Path;

use ::needs::{Needs, checklists, requirements};
use dialects::{Loader, Request, find_dialect};
use plan::job::Source;
use rustix::io::Errno;

use super::{foreign, translate};
use crate::diagnostics::{self, Texts};
use crate::exit::{Exit, Failure};
use crate::loader::HostLoader;
use crate::result_file::{self, ResultFile, not_written};
use crate::sink::Sink;
use crate::stream;

/// Show what an application asks for as a checklist, write it as a job, or create a file of needs
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The file of needs, as `plimsoll capture` or a person wrote it; `-` is the standard input.
    #[arg(value_name = "NEEDS", required_unless_present_any = ["new", "template"])]
    file: Option<String>,

    /// Ask for them on the terminal, each question with its default explained, and write the file.
    #[arg(long, conflicts_with_all = ["file", "template"])]
    new: bool,

    /// Print a file with every key explained, to be filled in by hand.
    #[arg(long, conflicts_with = "file")]
    template: bool,

    /// Write the checklist as Markdown or as a page, or the load as a job.
    #[arg(long = "as", value_name = "FORM", value_enum, conflicts_with_all = ["new", "template"])]
    form: Option<Form>,

    /// Of a job: only this phase (normal, peak or off-peak), or `series`, the samples beside the
    /// file. May be repeated.
    #[arg(long, value_name = "NAME", requires = "form")]
    section: Vec<String>,

    /// Print the checklist and what a design must carry as JSON (`plimsoll.checklist/1`).
    #[arg(long, conflicts_with_all = ["form", "new", "template"])]
    json: bool,

    /// Write to this file instead of the standard output; `--new` then does not ask for one.
    #[arg(short, long, value_name = "FILE")]
    output: Option<String>,
}

/// A form of needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Form {
    /// A job file of fio.
    Fio,
    /// A parameter file of Vdbench.
    Vdbench,
    /// A plan of Plimsoll's own.
    Plan,
    /// The checklist in Markdown.
    Markdown,
    /// The checklist as a self-contained page.
    Html,
}

impl Form {
    /// Returns the word for the language of jobs that it is; none for checklists.
    fn language(self) -> Option<&'static str> {
        match self {
            Form::Fio => Some("fio"),
            Form::Vdbench => Some("vdbench"),
            Form::Plan => Some("toml"),
            Form::Markdown | Form::Html => None,
        }
    }
}

const EXAMPLES: &str = "\
The rows are the 15 of the checklist for application performance, at the 50th,
90th and 99th percentile. `-` means not counted; each row shows how sure it is.
Jobs run at the rates that a design must carry: the percentile that the file
names, with growth, and a peak of twice the normal load where no peak is stated.

Examples:
  plimsoll needs needs.toml
  plimsoll needs --new -o needs.toml
  plimsoll needs --template > needs.toml
  plimsoll needs needs.toml --as html -o needs.html
  plimsoll needs needs.toml --as fio --section peak -o peak.fio
  plimsoll run needs.toml --on design.toml --virtual";

/// Runs the command.
pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    if args.new {
        return new(args.output.as_deref());
    }
    if args.template {
        return write(args.output.as_deref(), interview::TEMPLATE);
    }
    let name = args.file.as_deref().unwrap_or("-");
    if let Some(language) = args.form.and_then(Form::language) {
        return job(name, language, args);
    }
    let needs = read(name)?;
    let lists = checklists(&needs);
    let text = match args.form {
        Some(Form::Markdown) => text::markdown(&needs, &lists, &requirements(&needs)),
        Some(_) => page::html(&needs, &lists),
        None if args.json => text::json(&needs, &lists, &requirements(&needs)),
        None => text::plain(&needs, &lists, &requirements(&needs)),
    };
    write(args.output.as_deref(), &text)
}

/// What makes a file of needs.
const MAKES: &str = "`plimsoll capture` writes one, and `plimsoll needs --new`";

/// Refuses what looks like another file of this program's, or like a log.
fn refuse_others(name: &str, text: &str) -> Result<(), Failure> {
    let is_line = |wanted: &[&str]| text.lines().any(|line| wanted.contains(&line.trim_end()));
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or("");
    let is_toml = first.starts_with(['#', '[']) || first.contains('=');
    let wrong =
        |what: &str, hint: String| Err(Failure::wrong_use(format!("`{name}` {what}")).hint(hint));
    if first.trim_end() == ::needs::SERIES_HEAD {
        let text = "holds the samples beside a file of needs";
        return wrong(text, "name the file of needs, which has `series = ..` for them".to_owned());
    }
    if is_line(&["[vm]", "[[promise]]"]) && !::needs::declares(text) {
        let hint = format!("{MAKES}; `plimsoll limits {name}` shows what a design can do");
        return wrong("is a design, not a file of needs", hint);
    }
    if !first.is_empty() && !is_toml {
        let hint = format!("a log, trace or export is read by `plimsoll capture --from {name}`");
        return wrong("is not a file of needs", hint);
    }
    Ok(())
}

/// Returns the text of a file of needs, which may have mistakes.
pub(super) fn text(name: &str) -> Result<String, Failure> {
    let bytes = HostLoader.read(name).map_err(|error| {
        let text = format!("cannot read needs `{name}`: {error}");
        Failure::wrong_use(text).hint(MAKES)
    })?;
    foreign::refuse(name, &bytes, "a file of needs")?;
    let text = String::from_utf8(bytes)
        .map_err(|_| Failure::wrong_use(format!("needs `{name}` is not text")))?;
    refuse_others(name, &text)?;
    Ok(text)
}

/// Reads a file of needs. Mistakes are printed and end the command.
pub(super) fn read(name: &str) -> Result<Needs, Failure> {
    let text = text(name)?;
    let (needs, findings) = ::needs::parse(&text);
    let sources = [Source { name: name.to_owned(), text }];
    let shown: Vec<&plan::Diagnostic> = findings.iter().collect();
    diagnostics::print_all(&shown, Texts { sources: &sources, command_line: "" });
    needs.ok_or_else(|| Failure::silent(Exit::WrongUse))
}

fn write(output: Option<&str>, text: &str) -> Result<Exit, Failure> {
    let mut sink = Sink::open(output)?;
    Exit::Fine.once(sink.write(text))
}

/// Writes the load as a job in a language.
fn job(name: &str, language: &str, args: &Args) -> Result<Exit, Failure> {
    let (Some(needs), Some(to)) = (find_dialect("needs"), find_dialect(language)) else {
        return Err(Failure::wrong_use("no such language"));
    };
    let files = [name.to_owned()];
    let request = Request {
        files: &files,
        sections: &args.section,
        overrides: &dialects::Overrides::default(),
        all_hosts_local: false,
        is_to_run: false,
    };
    let understood = needs.read(&request, &HostLoader);
    translate::write(understood, to, args.output.as_deref())
}

/// Asks for needs on the terminal, and writes them.
fn new(output: Option<&str>) -> Result<Exit, Failure> {
    if !io::stdin().is_terminal() {
        stream::print_message(&format!("{}\n", interview::TEMPLATE));
        let text = "`--new` asks questions on a terminal, and standard input is not one";
        return Err(Failure::wrong_use(text)
            .hint("write the file above by hand: `plimsoll needs --template > needs.toml` is it"));
    }
    let path = Path::new(output.unwrap_or("needs.toml"));
    // Before anything is asked: no answer is to be lost.
    if path.symlink_metadata().is_ok() {
        return Err(not_written(path, &Errno::EXIST.into()));
    }
    ResultFile::open(path).map_err(|error| not_written(path, &error))?;
    let stdin = io::stdin();
    let mut ask = |question: &str| {
        stream::print_message(question);
        let mut line = String::new();
        match stdin.read_line(&mut line) {
            Ok(0) | Err(_) => None,
            Ok(_) => Some(line.trim().to_owned()),
        }
    };
    let Some(answers) = interview::interview(&mut ask) else {
        return Err(Failure::wrong_use("not all questions were answered"));
    };
    let text = answers.to_toml();
    if let Err(error) = result_file::write_new(path, text.as_bytes()) {
        // The answers are there, at least.
        let _is_shown = stream::print(&text);
        return Err(not_written(path, &error));
    }
    let path = path.display();
    stream::print_message(&format!("{path} is written: `plimsoll needs {path}` shows it\n"));
    Ok(Exit::Fine)
}
