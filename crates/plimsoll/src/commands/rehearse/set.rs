//! `plimsoll rehearse set`: another disk, level, quota or cache mode while programs run.

use std::path::PathBuf;

use plan::job::Source;
use plan::{Diagnostic, Severity};
use serve::control::Command;

use super::edit::{Edit, apply};
use super::{ask, resolved};
use crate::commands::on::read_design;
use crate::diagnostics::{self, Texts};
use crate::exit::{Exit, Failure};
use crate::stream;

/// Change disks, levels, quotas or cache modes while the volumes are in use
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Mount point.
    #[arg(value_name = "MOUNT")]
    path: PathBuf,

    /// Volume to change, by its mount path in the design, where there are several.
    #[arg(long, value_name = "PATH")]
    volume: Option<String>,

    #[command(flatten)]
    edit: Edit,

    /// Take a whole new design for the same volumes.
    #[arg(long, value_name = "DESIGN", conflicts_with_all = Edit::NAMES)]
    design: Option<String>,
}

const EXAMPLES: &str = "\
I/Os that wait go on under the new caps.

Examples:
  plimsoll rehearse set /mnt/p30 --disk P40
  plimsoll rehearse set /mnt/anf --level Ultra --quota 4TiB
  plimsoll rehearse set /mnt/ds14 --volume /mnt/data --cache-mode ReadOnly
  plimsoll rehearse set /mnt/ds14 --design bigger.toml";

/// Runs the command.
pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let path = resolved(&args.path)?;
    let text = match &args.design {
        Some(name) => read_design(name)?.1,
        None if args.edit.is_empty() => {
            return Err(Failure::wrong_use("nothing to change was named")
                .hint("for example: --disk P40, --quota 4TiB, --cache-mode ReadOnly"));
        }
        None => {
            let in_force = ask(&path, &Command::Design)?;
            let text = in_force["design"].as_str().unwrap_or_default();
            let text = apply(&args.edit, args.volume.as_deref(), text)?;
            check(&text)?;
            text
        }
    };
    ask(&path, &Command::Change { design: text })?;
    stream::print("changed\n")?;
    Ok(Exit::Fine)
}

/// Shows what is wrong with a changed design, line by line.
fn check(text: &str) -> Result<(), Failure> {
    let (_, findings) = volume::design::parse(text);
    let is_error = |finding: &&Diagnostic| finding.severity == Severity::Error;
    let errors: Vec<&Diagnostic> = findings.iter().filter(is_error).collect();
    if errors.is_empty() {
        return Ok(());
    }
    let sources = [Source { name: "changed design".to_owned(), text: text.to_owned() }];
    diagnostics::tell(&errors, Texts { sources: &sources, command_line: "" });
    Err(Failure::silent(Exit::WrongUse))
}
