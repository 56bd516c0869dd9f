//! `plimsoll export`: runs in the forms that other programs read.

use std::fs;
use std::path::Path;

use analysis::GateName;
use analysis::assess::RowsWorth;
use clap::ValueEnum;
use dialects::fio::output::{COMPAT_VERSION, JsonOptions, json};
use export::{Judge, Run, csv, markdown, parquet, table};

use super::keep::StoreArgs;
use super::several;
use crate::exit::{Exit, Failure};
use crate::inputs;
use crate::result_file::{self, not_written};
use crate::{clock, stream};

/// Write runs as CSV, Parquet, Markdown or JSON
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The runs.
    #[arg(default_value = "last")]
    runs: Vec<String>,

    /// The form; by the ending of --output unless given.
    #[arg(long, value_name = "FORM")]
    format: Option<Format>,

    /// Write to FILE. With `--format json`, FILE is a folder that gets one file per run.
    #[arg(short, long, value_name = "FILE")]
    output: Option<String>,

    #[command(flatten)]
    store: StoreArgs,
}

/// The forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// One table: summaries, latencies and intervals (docs/export.md names its columns).
    Csv,
    /// The same table for DuckDB, pandas and others.
    Parquet,
    /// A table for a pull request.
    Md,
    /// The record.
    Json,
    /// fio's JSON.
    FioJson,
}

const EXAMPLES: &str = "\
Examples:
  plimsoll export --format md
  plimsoll export tag:nightly --output nightly.parquet
  plimsoll export 12..17 --format csv | head
  plimsoll export 'before*' --format json --output records/

Runs are named by their number, `last`, `last~N`, `12..17`, `tag:NAME`, or
their name: all runs of that name, or of a pattern as 'night*'. A file may
stand for a run: a record (`--json`), fio's JSON, or a folder of them; Vdbench's
flatfile.html, or its output directory.";

/// What Markdown asks of a run's checks.
const JUDGE: Judge = Judge {
    invalidates: GateName::invalidates_by_name,
    suite_verdict: |suite| RowsWorth::of(suite).verdict(suite.indicative),
};

/// Runs the command.
pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let output = args.output.as_deref();
    let Some(format) = args.format.or_else(|| output.and_then(by_ending)) else {
        return Err(Failure::wrong_use("the format is not clear")
            .hint("give --format csv, parquet, md, json or fio-json"));
    };
    let mut runs = Vec::new();
    for text in &args.runs {
        runs.extend(several::find(text, &args.store)?);
    }
    let bytes = match format {
        Format::Csv => csv(&table(&runs)).into_bytes(),
        Format::Md => markdown(&runs, &JUDGE).into_bytes(),
        Format::Parquet if output.is_none() && stream::stdout_columns().is_some() => {
            return Err(Failure::wrong_use("Parquet cannot be printed on a terminal")
                .hint("write it to a file: --output FILE"));
        }
        Format::Parquet => parquet(&table(&runs)),
        Format::Json | Format::FioJson => {
            return one_each(&runs, output, |run| of_run(run, format));
        }
    };
    write(output, &bytes)
}

fn by_ending(path: &str) -> Option<Format> {
    let ending = Path::new(path).extension()?.to_str()?;
    Format::from_str(ending, true).ok()
}

fn of_run(run: &Run, format: Format) -> String {
    if format == Format::Json {
        return run.record.to_json();
    }
    let now = clock::report_time();
    json(&run.record, JsonOptions { plus: true, version: COMPAT_VERSION, now })
}

/// Writes a text per run: one to a file or standard output, several into a folder.
fn one_each(
    runs: &[Run],
    output: Option<&str>,
    text: impl Fn(&Run) -> String,
) -> Result<Exit, Failure> {
    let is_folder = output.is_some_and(|path| path.ends_with('/') || Path::new(path).is_dir());
    if let ([run], false) = (runs, is_folder) {
        return write(output, text(run).as_bytes());
    }
    let Some(folder) = output else {
        let message = format!("{} runs do not fit into one JSON text", runs.len());
        return Err(Failure::wrong_use(message)
            .hint("name a folder, which gets a file per run: --output FOLDER"));
    };
    let folder = Path::new(folder);
    let made = result_file::refuse_among_devices(&folder.join("run.json"));
    let made = made.and_then(|()| fs::create_dir_all(folder));
    made.map_err(|error| not_written(folder, &error))?;
    for (idx, run) in runs.iter().enumerate() {
        let path = folder.join(file_name(run, idx));
        inputs::refuse(&path)?;
        result_file::write(&path, text(run).as_bytes())
            .map_err(|error| not_written(&path, &error))?;
    }
    let n_files =
        if runs.len() == 1 { "1 file".to_owned() } else { format!("{} files", runs.len()) };
    stream::print_message(&format!("wrote {n_files} into {}\n", folder.display()));
    Ok(Exit::Fine)
}

/// Returns a file's name for a run: its number, and its name as far as files can have it.
fn file_name(run: &Run, idx: usize) -> String {
    let number = run.id.unwrap_or(idx as i64 + 1);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let name: String =
        run.name.chars().map(|c| if is_plain(c) { c } else { '-' }).take(64).collect();
    let name = name.trim_matches(['-', '.']).trim_end_matches(".json");
    if name.is_empty() { format!("run-{number}.json") } else { format!("{name}-{number}.json") }
}

fn write(output: Option<&str>, bytes: &[u8]) -> Result<Exit, Failure> {
    let Some(path) = output else { return Exit::Fine.once(stream::print_bytes(bytes)) };
    inputs::refuse(Path::new(path))?;
    let written = result_file::write(Path::new(path), bytes);
    written.map_err(|error| not_written(Path::new(path), &error))?;
    stream::print_message(&format!("wrote {path} ({})\n", units::format_bytes(bytes.len() as u64)));
    Ok(Exit::Fine)
}
