//! `plimsoll reference`: the pages of docs/reference, made from the code.

use std::fmt::Write as _;
use std::path::PathBuf;

use crate::exit::{Exit, Failure};
use crate::result_file::{self, not_written};
use crate::{env, stream};

/// Print a page of the reference as Markdown, or write all of them
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The page.
    #[arg(value_enum, default_value = "parameters")]
    page: Page,

    /// Write all pages to this folder instead.
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  plimsoll reference > parameters.md
  plimsoll reference commands
  plimsoll reference --dir docs/reference";

/// A page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Page {
    /// Every parameter of a job.
    Parameters,
    /// Every command with its options.
    Commands,
    /// Every environment variable.
    Environment,
}

impl Page {
    const ALL: [(&'static str, Page); 3] = units::all_of!(
        Page:
        "parameters.md" => Parameters,
        "commands.md" => Commands,
        "environment.md" => Environment,
    );

    fn text(self) -> String {
        match self {
            Page::Parameters => plan::param::reference_markdown(),
            Page::Commands => commands(),
            Page::Environment => environment(),
        }
    }
}

/// Runs the command.
pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let Some(dir) = &args.dir else {
        stream::print(&args.page.text())?;
        return Ok(Exit::Fine);
    };
    for (name, page) in Page::ALL {
        let path = dir.join(name);
        let written = result_file::write(&path, page.text().as_bytes());
        written.map_err(|error| not_written(&path, &error))?;
        stream::print(&format!("{}\n", path.display()))?;
    }
    Ok(Exit::Fine)
}

fn commands() -> String {
    let mut page = String::from("# Commands\n\nGenerated from the program's own help.\n");
    let mut definition = super::definition().term_width(80);
    // Only a built definition knows each command's full name and its help options.
    definition.build();
    for command in commands_of(&definition) {
        let name = command.get_bin_name().unwrap_or_else(|| command.get_name());
        let help = trim_lines(&command.clone().render_long_help().to_string());
        let _ = write!(page, "\n## {name}\n\n```text\n{help}\n```\n");
    }
    page
}

/// Returns a command with all below it, each before its own.
pub(super) fn commands_of(command: &clap::Command) -> Vec<&clap::Command> {
    let below = command.get_subcommands().flat_map(commands_of);
    std::iter::once(command).chain(below).collect()
}

fn environment() -> String {
    let mut page = String::from(
        "# Environment variables\n\nGenerated from the code. Job files read any variable by \
         `${NAME}`.\n\n| variable | effect |\n|---|---|\n",
    );
    for variable in env::ALL {
        let _ = writeln!(page, "| `{}` | {} |", variable.name, variable.doc);
    }
    page
}

fn trim_lines(text: &str) -> String {
    text.trim_end().lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}
