//! `plimsoll rehearse set`: another disk, level, quota or cache mode while programs run.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use plan::job::Source;
use plan::{Diagnostic, Severity};
use serve::control::Command;
use units::format_bytes;
use volume::Design;
use volume::design::{Catalog, parse_with};

use super::changes::{changes, warnings};
use super::edit::{Edit, apply};
use super::{ask, resolved};
use crate::clock::Stopwatch;
use crate::commands::on::read_design;
use crate::commands::own_tables::CatalogArgs;
use crate::diagnostics::{self, Texts};
use crate::exit::{Exit, Failure};
use crate::fill::fill;
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

    /// Folder with tables of your own, which take precedence over the built-in ones; those that the
    /// volumes
    /// were begun with unless given.
    #[arg(long, value_name = "DIR")]
    catalog: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Waiting I/Os continue under the new caps. If a cache mode changes, data that are
only in the old cache go to the disks at once, and the command waits for that.
The number of disks of a volume, their columns and chunks cannot change. The
disks of a stripe are equal: --disk, --size, --iops and --throughput are per
disk and apply to all of them.

Examples:
  plimsoll rehearse set /mnt/p30 --disk P40
  plimsoll rehearse set /mnt/anf --level Ultra --quota 4TiB
  plimsoll rehearse set /mnt/ds14 --volume /mnt/nocache --cache-mode ReadOnly
  plimsoll rehearse set /mnt/ds14 --design bigger.toml
  plimsoll rehearse set /mnt/ds14 --vm ZZ8 --catalog my-tables";

/// Runs the command.
pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let path = resolved(&args.path)?;
    let in_force = ask(&path, &Command::Design)?;
    // Where only one volume is mounted, it is the one that is meant.
    let volume = args.volume.as_deref().or(in_force["only"].as_str());
    let before = tables_in_force(&in_force)?;
    let after = match &args.catalog {
        None => Arc::clone(&before),
        own => CatalogArgs { catalog: own.clone() }.load()?,
    };
    let in_force = in_force["design"].as_str().unwrap_or_default();
    let mut dropped = Vec::new();
    let text = match &args.design {
        Some(name) => read_design(name, &after)?.1,
        None if args.edit.is_empty() && args.catalog.is_none() => {
            return Err(Failure::wrong_use("nothing to change was named")
                .hint("for example: --disk P40, --quota 4TiB, --cache-mode ReadOnly"));
        }
        None => {
            let edited = apply(&args.edit, volume, in_force, &after)?;
            check(&edited.text, &after)?;
            dropped = edited.dropped;
            edited.text
        }
    };
    let designs = (parse_with(in_force, &before).0, parse_with(&text, &after).0);
    let tables = args.catalog.is_some().then(|| after.own_tables().to_vec());
    ask(&path, &Command::Change { design: text, tables })?;
    print_changes(designs, &dropped)?;
    write_back(&path)?;
    Ok(Exit::Fine)
}

/// Returns the catalogue that the server reads designs with. A server of an earlier version does
/// not name its tables, and has the built-in ones.
fn tables_in_force(answer: &serde_json::Value) -> Result<Arc<Catalog>, Failure> {
    let unread = |why: String| {
        let text = format!("the tables of the serving process cannot be read: {why}");
        Failure::wrong_use(text).with(Exit::RunFailed)
    };
    let tables: Option<Vec<(String, String)>> = serde_json::from_value(answer["tables"].clone())
        .map_err(|error| unread(error.to_string()))?;
    match tables {
        Some(tables) if !tables.is_empty() => {
            let words = |errors: Vec<catalog::CatalogError>| {
                unread(errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
            };
            Catalog::with(tables).map(Arc::new).map_err(words)
        }
        _ => Ok(Catalog::built_in().clone()),
    }
}

/// Returns what has changed, and what a provider would say to it.
fn print_changes(
    designs: (Option<Design>, Option<Design>),
    dropped: &[&str],
) -> Result<(), Failure> {
    let (Some(old), Some(new)) = designs else {
        return Ok(stream::print("changed\n")?);
    };
    let mut text = String::new();
    for change in changes(&old, &new) {
        text.push_str(&fill("changed ", &change, COLUMNS));
    }
    if text.is_empty() {
        "nothing changed: the design has these values already\n".clone_into(&mut text);
    }
    stream::print(&text)?;
    if !dropped.is_empty() {
        let keys = dropped.join(", ");
        let note = format!("{keys} of the earlier type dropped: the new type does not take it");
        stream::print_message(&fill("note: ", &note, COLUMNS));
    }
    for warning in warnings(&old, &new) {
        stream::print_message(&fill("warning: ", &warning, COLUMNS));
    }
    Ok(())
}

/// Waits until what only the earlier cache had is on the disks, as a provider does before it
/// changes a cache. Ctrl-C ends the waiting and not the writing.
fn write_back(path: &Path) -> Result<(), Failure> {
    let left = || -> Result<u64, Failure> {
        let report = ask(path, &Command::Status)?;
        let volumes = report["volumes"].as_array().into_iter().flatten();
        Ok(volumes.filter_map(|volume| volume["leaving_bytes"].as_u64()).sum())
    };
    let waiting = Stopwatch::start();
    let first = left()?;
    let mut next_said = Duration::ZERO;
    let mut n_bytes = first;
    while n_bytes > 0 {
        if waiting.elapsed() >= next_said {
            let bytes = format_bytes(n_bytes);
            let text = format!("only the earlier cache has {bytes}: going to the disks\n");
            stream::print_message(&text);
            next_said = waiting.elapsed() + TELL_EVERY;
        }
        std::thread::sleep(ASK_EVERY);
        n_bytes = left()?;
    }
    if first > 0 {
        let text = format!("{}, which only the earlier cache had, ", format_bytes(first));
        stream::print(&format!("{text}is on the disks\n"))?;
    }
    Ok(())
}

/// Columns of the messages.
const COLUMNS: usize = 80;

/// How often the remaining amount is queried.
const ASK_EVERY: Duration = Duration::from_millis(100);

/// How often it is printed.
const TELL_EVERY: Duration = Duration::from_secs(2);

/// Shows what is wrong with a changed design, line by line.
fn check(text: &str, catalog: &Arc<Catalog>) -> Result<(), Failure> {
    let (_, findings) = parse_with(text, catalog);
    let is_error = |finding: &&Diagnostic| finding.severity == Severity::Error;
    let errors: Vec<&Diagnostic> = findings.iter().filter(is_error).collect();
    if errors.is_empty() {
        return Ok(());
    }
    let sources = [Source { name: "changed design".to_owned(), text: text.to_owned() }];
    diagnostics::print_all(&errors, Texts { sources: &sources, command_line: "" });
    Err(Failure::silent(Exit::WrongUse))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn tables_that_cannot_be_read_are_no_built_in_ones() {
        for none in [json!({}), json!({ "tables": [] })] {
            assert!(Arc::ptr_eq(&tables_in_force(&none).unwrap(), Catalog::built_in()));
        }
        for bad in [json!({ "tables": "x" }), json!({ "tables": [["vms.csv"]] })] {
            assert!(tables_in_force(&bad).is_err(), "{bad}");
        }
    }
}
