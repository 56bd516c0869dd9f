//! `plimsoll man`: a manual page for every command, made from its help.

use std::io;
use std::path::PathBuf;

use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};

use super::reference::commands_of;
use crate::exit::{Exit, Failure};
use crate::result_file::{self, not_written};
use crate::stream;

/// Print the manual page of a command, or write all of them
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The command; without one, the page that lists them all.
    #[arg(value_name = "COMMAND")]
    command: Vec<String>,

    /// Write all pages to this folder instead.
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    dir: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  plimsoll man bench | man -l -
  plimsoll man suite show > plimsoll-suite-show.1
  plimsoll man --dir ~/.local/share/man/man1";

/// What a section of examples begins with, in the help.
const EXAMPLES_HEAD: &str = "Examples:\n";

/// Runs the command.
pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let mut definition = super::definition();
    // Only a built definition knows each command's full name and its help options.
    definition.build();
    let Some(dir) = &args.dir else {
        let mut command = &definition;
        for name in &args.command {
            command = command.find_subcommand(name).ok_or_else(|| {
                Failure::wrong_use(format!("no command `plimsoll {}`", args.command.join(" ")))
                    .hint("`plimsoll help` lists them")
            })?;
        }
        stream::print(&page(command)?)?;
        return Ok(Exit::Fine);
    };
    for command in commands_of(&definition) {
        let path = dir.join(format!("{}.1", name_of(command)));
        let written = result_file::write(&path, page(command)?.as_bytes());
        written.map_err(|error| not_written(&path, &error))?;
        stream::print(&format!("{}\n", path.display()))?;
    }
    Ok(Exit::Fine)
}

/// Returns the name of a command's page: `plimsoll-suite-show`.
fn name_of(command: &clap::Command) -> &str {
    command.get_display_name().unwrap_or_else(|| command.get_name())
}

/// Returns a command's page.
fn page(command: &clap::Command) -> io::Result<String> {
    let man = Man::new(command.clone())
        .source(concat!("plimsoll ", env!("CARGO_PKG_VERSION")))
        .manual("Plimsoll");
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page)?;
    }
    rest(command).to_writer(&mut page)?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}

/// Returns what follows the options: lines that stay as they are, and where to read on.
fn rest(command: &clap::Command) -> Roff {
    let mut roff = Roff::new();
    let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let (notes, examples) = after.split_once(EXAMPLES_HEAD).unwrap_or((&after, ""));
    for (head, text) in [("NOTES", notes), ("EXAMPLES", examples)] {
        if text.trim().is_empty() {
            continue;
        }
        roff.control("SH", [head]);
        roff.control("nf", []);
        for line in text.trim_end().lines() {
            roff.text([roman(line.strip_prefix("  ").unwrap_or(line))]);
        }
        roff.control("fi", []);
    }
    if let Some((above, _)) = name_of(command).rsplit_once('-') {
        roff.control("SH", ["SEE ALSO"]);
        roff.text([roman(format!("{above}(1)"))]);
    }
    roff
}
