//! `plimsoll catalog import`.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use ::catalog::import::{self, ImportError, RejectedRow, TableDiff, TableKind, TableRow};
use serde_json::json;
use units::{plural, system_text};

use super::{CatalogChoice, text};
use crate::exit::{Exit, Failure};
use crate::limited::{self, TABLE_BYTES_MAX};
use crate::result_file::{self, not_written};
use crate::stream;

/// Most lines of one kind that are printed; JSON has all.
const LINES_MAX: usize = 40;

/// Turn a published table into rows, and say what they change
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// CSV, a Markdown page with tables, or Go source of azuredisk-csi-driver; `-` reads from
    /// standard input.
    file: PathBuf,

    #[command(flatten)]
    which: CatalogChoice,

    /// Folder that the rows are written to; use it with --catalog from then on.
    #[arg(long, value_name = "DIR", requires_all = ["source", "date"])]
    write: Option<PathBuf>,

    /// The document that the table is from.
    #[arg(long)]
    source: Option<String>,

    /// Date of the document: a day, a month or a year, such as 2026-03-01, 2026-03 or 2026.
    #[arg(long, value_parser = date)]
    date: Option<String>,

    /// Take rows that contradict what is known or are hard to believe, too.
    #[arg(long)]
    accept: bool,

    /// Print the result as JSON (`plimsoll.import/1`).
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
A row is rejected if it
- contradicts a known figure: other IOPS, or a throughput more than 5 % off
- has a new figure that is implausible: more than 10 times the largest or less
  than a tenth of the smallest known one, or IOPS and throughput that give I/Os
  below 512 B or above 4 MiB
- has a price of more than 10 times, or less than a tenth of, the known one.

A CSV file has disks or machine sizes, prices (`name`, `usd`, `per`, perhaps
`region`), or network volumes (`scope`, `parameter`, `value`, `unit`). Of rows
with several dates (`date`) the newest counts; prices that differ and have no
date are rejected. Of rows of several editions (`edition`) the one that agrees
with the known figures is taken. Prices may be of a `quantity`, and per month
where known ones are per hour (744 or 730 hours). The built-in catalogue never
changes: --write puts the rows into a folder of your own.

Examples:
  plimsoll catalog import dsv5-series.md
  plimsoll catalog import azure_skus_map.go
  plimsoll catalog import sizes.csv --write ~/catalogue --source 'price list' --date 2026-03-01
  plimsoll catalog show D2s_v9 --catalog ~/catalogue";

/// Takes a day, a month or a year that the calendar has.
fn date(text: &str) -> Result<String, String> {
    let day = match text.len() {
        4 => format!("{text}-01-01"),
        7 => format!("{text}-01"),
        _ => text.to_owned(),
    };
    let is_plain = day.len() == 10 && day.bytes().all(|it| it.is_ascii_digit() || it == b'-');
    match day.parse::<jiff::civil::Date>() {
        Ok(_) if is_plain => Ok(text.to_owned()),
        _ => Err("expected a date such as 2026-03-01, 2026-03 or 2026".to_owned()),
    }
}

/// Runs the command.
pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let text = read(&args.file)?;
    let catalog = args.which.load()?;
    let edition = args.which.edition(&catalog)?;
    let read = import::read(&text).map_err(|error| {
        let failure = Failure::wrong_use(format!("`{}`: {error}", args.file.display()));
        match error {
            ImportError::NoTable => failure
                .hint(
                    "CSV needs a column `name`, `tier`, `type`, `instance_type`, `item` or `scope`",
                )
                .hint("Markdown needs a table with a column `Size`")
                .hint("Go source needs literals of NodeInfo or DiskSkuInfo"),
            ImportError::OtherKind { help, .. } => failure.hint(help),
        }
    })?;
    let (form, ignored) = (read.form, read.ignored.clone());
    let diff = import::compare(read, edition, args.accept);
    let page = if args.json {
        as_json(&diff, &ignored)
    } else {
        as_text(&diff, &form.to_string(), &ignored)
    };
    let shown = stream::print(&page);
    if let Some(dir) = &args.write {
        let written = write(dir, args, &diff)?;
        stream::print_message(&format!("wrote {}\n", written.join(", ")));
    }
    let is_partial = !diff.rejected.is_empty();
    let exit = if is_partial { Exit::Invalid } else { Exit::Fine };
    exit.once(shown)
}

fn read(path: &Path) -> Result<String, Failure> {
    let bytes = limited::read(path, TABLE_BYTES_MAX).map_err(|error| {
        Failure::wrong_use(format!("cannot read `{}`: {}", path.display(), system_text(&error)))
    })?;
    String::from_utf8(bytes)
        .map_err(|_| Failure::wrong_use(format!("`{}` is not text in UTF-8", path.display())))
}

fn as_text(diff: &TableDiff, form: &str, ignored: &[String]) -> String {
    let mut page = format!(
        "{} of {form}: {} new, {} as known, {} rejected; {} changed\n",
        plural(diff.n_lines, "row"),
        diff.new.len(),
        diff.n_same,
        diff.rejected.len(),
        plural(diff.changed.len() + diff.repriced.len(), "figure"),
    );
    let n_merged = diff.n_lines.saturating_sub(diff.n_read + diff.left_out.len());
    if n_merged > 0 {
        let _ = writeln!(page, "{} with a name that other rows have, too", plural(n_merged, "row"));
    }
    if !ignored.is_empty() {
        page.push_str(&text::wrapped("not kept: ", &ignored.join("; ")));
    }
    let reported = |row: &RejectedRow| {
        text::wrapped(&format!("  line {}  {}  ", row.line, row.name), &row.why)
    };
    put(&mut page, "rejected", diff.rejected.iter().map(reported));
    let doubted = diff.doubted.iter().map(|doubt| {
        let head = format!("  line {}  {}  ", doubt.line, doubt.name);
        text::wrapped(&head, &format!("{}: {} {}", doubt.column, doubt.figure, doubt.why))
    });
    put(&mut page, "warnings: implausible", doubted);
    let changed = diff.changed.iter().map(|change| {
        let before = change.before.as_ref().map_or("unknown".to_owned(), ToString::to_string);
        let what = change.property.replace('_', " ");
        let head = format!("  {}  ", change.name);
        text::wrapped(&head, &format!("{what}: {before} -> {}", change.after))
    });
    put(&mut page, "changed", changed);
    let repriced = diff.repriced.iter().map(|it| {
        let region = if it.region.is_empty() { String::new() } else { format!(", {}", it.region) };
        let text = format!("per {}{region}: {} -> {} USD", it.per, it.before_usd, it.after_usd);
        text::wrapped(&format!("  {}  ", it.name), &text)
    });
    put(&mut page, "prices changed", repriced);
    put(&mut page, "left out", diff.left_out.iter().map(reported));
    let new = diff.new.iter().map(|row| {
        let figures = row.cells.iter().filter(|(column, _)| **column != "cloud");
        let cells: Vec<String> = figures.map(|(column, cell)| format!("{column} {cell}")).collect();
        text::wrapped(&format!("  {}  ", row.name), &format!("{}{}", whose(row), cells.join(", ")))
    });
    put(&mut page, "new", new);
    page
}

/// Returns what a row is about, and whose it is: `disk of Azure: `.
fn whose(row: &TableRow) -> String {
    let kind = match row.kind {
        TableKind::Disks => "disk",
        TableKind::Vms => "machine",
        TableKind::Prices => "price",
        TableKind::Network => return String::new(),
    };
    let cloud = row.cells.get("cloud").map_or(String::new(), |cloud| format!(" of {cloud}"));
    format!("{kind}{cloud}: ")
}

fn put(page: &mut String, title: &str, lines: impl ExactSizeIterator<Item = String>) {
    let n_lines = lines.len();
    if n_lines == 0 {
        return;
    }
    let _ = writeln!(page, "\n{title}");
    page.extend(lines.take(LINES_MAX));
    if n_lines > LINES_MAX {
        let _ = writeln!(page, "  and {} more: --json has all", n_lines - LINES_MAX);
    }
}

fn as_json(diff: &TableDiff, ignored: &[String]) -> String {
    let reported = |rows: &[RejectedRow]| -> Vec<_> {
        let row = |row: &RejectedRow| json!({ "line": row.line, "name": row.name, "why": row.why });
        rows.iter().map(row).collect()
    };
    let repriced: Vec<_> = diff
        .repriced
        .iter()
        .map(|it| {
            json!({
                "name": it.name,
                "per": it.per,
                "region": it.region,
                "before_usd": it.before_usd,
                "after_usd": it.after_usd,
            })
        })
        .collect();
    let changed: Vec<_> = diff
        .changed
        .iter()
        .map(|change| {
            json!({
                "name": change.name,
                "property": change.property,
                "before": change.before.as_ref().map(ToString::to_string),
                "after": change.after.to_string(),
            })
        })
        .collect();
    let warnings: Vec<_> = diff
        .doubted
        .iter()
        .map(|doubt| {
            json!({
                "line": doubt.line,
                "name": doubt.name,
                "column": doubt.column,
                "figure": doubt.figure.to_string(),
                "why": doubt.why,
            })
        })
        .collect();
    let new = diff.new.iter();
    let new: Vec<_> = new
        .map(|row| json!({ "name": row.name, "kind": row.kind.as_str(), "cells": row.cells }))
        .collect();
    let page = json!({
        "schema": "plimsoll.import/1",
        "n_lines": diff.n_lines,
        "n_read": diff.n_read,
        "n_same": diff.n_same,
        "rejected": reported(&diff.rejected),
        "left_out": reported(&diff.left_out),
        "repriced": repriced,
        "warnings": warnings,
        "changed": changed,
        "new": new,
        "ignored": ignored,
    });
    format!("{page:#}\n")
}

/// Writes the rows that were taken, and their source, into a user's folder.
fn write(dir: &Path, args: &Args, diff: &TableDiff) -> Result<Vec<String>, Failure> {
    let stem = args.file.file_stem().and_then(|stem| stem.to_str()).unwrap_or("table");
    let key: String = stem
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '_' { c.to_ascii_lowercase() } else { '-' })
        .collect();
    let key = key.trim_matches('-');
    let key = if key.is_empty() { "table" } else { key };
    let edition = &args.which.edition;
    let kinds = units::all_of!(TableKind: Disks, Vms, Prices, Network);
    let table = |kind: TableKind| {
        let path = dir.join(edition).join(format!("{}-{key}.csv", kind.as_str()));
        import::table(&diff.taken, kind, key).map(|table| (path, table))
    };
    let mut files: Vec<(PathBuf, String)> = kinds.into_iter().filter_map(table).collect();
    if files.is_empty() {
        return Err(Failure::wrong_use("no row was accepted, so nothing is written"));
    }
    let path = dir.join("sources.csv");
    let title = args.source.as_deref().unwrap_or("");
    let date = args.date.as_deref().unwrap_or("");
    let sources = import::with_source(&known_sources(&path)?, key, title, date);
    // A source without figures does no harm; figures without their source are no catalogue.
    save(&path, &sources)?;
    for (path, table) in &files {
        save(path, table)?;
    }
    files.push((path, sources));
    Ok(files.iter().map(|(path, _)| path.display().to_string()).collect())
}

/// Returns what a file of sources has, if there is one. It holds the words of a user's, so what
/// cannot be read is not replaced.
fn known_sources(path: &Path) -> Result<String, Failure> {
    let is_missing =
        |error: &io::Error| matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory);
    if fs::metadata(path).is_err_and(|error| is_missing(&error)) {
        return Ok(String::new());
    }
    read(path).map_err(|failure| failure.hint("nothing was written: repair the file, or move it"))
}

fn save(path: &Path, text: &str) -> Result<(), Failure> {
    let parent = path.parent().unwrap_or(Path::new("."));
    let saved = result_file::refuse_among_devices(path)
        .and_then(|()| fs::create_dir_all(parent))
        .and_then(|()| result_file::write(path, text.as_bytes()));
    saved.map_err(|error| not_written(path, &error).with(Exit::RunFailed))
}
