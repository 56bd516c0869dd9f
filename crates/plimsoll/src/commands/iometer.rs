//! `plimsoll iometer`: Iometer's command line, and results as it writes them.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

use clap::builder::PossibleValuesParser;
use dialects::iometer::{Config, ResultLayout, read_config, results};
use dialects::{Likeness, find_dialect};
use plan::Plan;
use record::Record;

use crate::clock;
use crate::exit::Failure;
use crate::sink::Sink;

/// Behave as Iometer in batch mode: run a test configuration, append to its results
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// `/c CONFIG /r RESULTS`, or the two files in this order; then any options of `plimsoll run`,
    /// such as `--remap`. `/t`, `/p` and `/m` are for programs on other machines: they are left
    /// out.
    #[arg(value_name = "ARGS", trailing_var_arg = true, allow_hyphen_values = true)]
    #[arg(required = true)]
    pub(super) args: Vec<OsString>,
}

const EXAMPLES: &str = "\
It is `plimsoll run CONFIG --iometer-results RESULTS`, whose exit code it has.

Examples:
  plimsoll iometer /c config.icf /r results.csv --remap 'C:=/mnt/data'
  plimsoll iometer config.icf results.csv --remap '8: \"PHYSICALDRIVE\"=/dev/sdb'
  plimsoll iometer /c config.icf /r results.csv --iometer-version 2008.06.18

What is run, and what differs, is in docs/iometer.md.";

/// Returns the command line of `plimsoll run` that does the same, without the program's name.
pub(super) fn as_run(args: &[OsString]) -> Result<Vec<OsString>, Failure> {
    let mut files: [Option<OsString>; 2] = [None, None];
    let mut rest = Vec::new();
    let mut words = args.iter();
    while let Some(word) = words.next() {
        let text = word.to_string_lossy();
        let letter = match text.as_bytes() {
            [b'/', letter] => Some(letter.to_ascii_lowercase()),
            _ => None,
        };
        match letter {
            Some(letter @ (b'c' | b'r' | b't' | b'p' | b'm')) => {
                let value = words.next().ok_or_else(|| {
                    Failure::wrong_use(format!("`{text}` has no value"))
                        .hint("`plimsoll iometer --help` shows the command line")
                })?;
                match letter {
                    b'c' => files[0] = Some(value.clone()),
                    b'r' => files[1] = Some(value.clone()),
                    // How long programs on other machines are waited for, and how they are found.
                    _ => {}
                }
            }
            // What is none of Iometer's, and all behind it, is for `run`.
            _ if text.starts_with('-') && text != "-" => {
                rest.push(word.clone());
                rest.extend(words.by_ref().cloned());
            }
            _ => {
                let Some(file) = files.iter_mut().find(|file| file.is_none()) else {
                    let text = format!("`{text}` is one argument too many");
                    return Err(Failure::wrong_use(text)
                        .hint("write /c CONFIG /r RESULTS, and options of `plimsoll run` behind"));
                };
                *file = Some(word.clone());
            }
        }
    }
    let [Some(config), Some(results)] = files else {
        return Err(Failure::wrong_use("a configuration and a file for the results are needed")
            .hint("write `plimsoll iometer /c CONFIG /r RESULTS`"));
    };
    let mut run = vec![OsString::from("run"), config];
    run.extend([OsString::from("--iometer-results"), results]);
    run.extend(rest);
    Ok(run)
}

/// Results as Iometer writes them.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Results")]
pub(super) struct IometerArgs {
    /// Append the results of a test configuration to FILE as Iometer writes them, for readers of
    /// its results.csv.
    #[arg(long, value_name = "FILE", help_heading = "Iometer")]
    iometer_results: Option<String>,

    /// The version of Iometer whose columns are written.
    #[arg(long, value_name = "VERSION", help_heading = "Iometer", default_value = "1.1.0")]
    #[arg(requires = "iometer_results")]
    #[arg(value_parser = PossibleValuesParser::new(ResultLayout::WORDS.map(|(word, _)| word)))]
    iometer_version: String,
}

impl IometerArgs {
    /// Opens the file for the results of a plan, where one is wanted: whatever keeps it from being
    /// written is reported before the run, and nothing is changed yet.
    pub(super) fn open(
        &self,
        plan: &Plan,
        wanted: &[String],
        is_read_only: bool,
    ) -> Result<Option<ResultsFile>, Failure> {
        let Some(path) = &self.iometer_results else { return Ok(None) };
        let iometer = find_dialect("iometer");
        let is_own = |text: &str| {
            iometer.is_some_and(|iometer| iometer.likeness(text) == Likeness::Declared)
        };
        let [source] = &plan.sources[..] else {
            return Err(Failure::wrong_use("`--iometer-results` is for one test configuration"));
        };
        if !is_own(&source.text) {
            let text = format!("`{}` is no test configuration of Iometer", source.name);
            return Err(Failure::wrong_use(text).hint(
                "`--iometer-results` writes results of those; `plimsoll export` those of any run",
            ));
        }
        let (config, _) = read_config(&source.text);
        let layout = ResultLayout::WORDS.iter().find(|(word, _)| *word == self.iometer_version);
        let layout = layout.map_or(ResultLayout::V110, |(_, layout)| *layout);
        let sink = Sink::open_to_add(path, plan, is_read_only)?;
        refuse_another(Path::new(path))?;
        Ok(Some(ResultsFile { sink, config, wanted: wanted.to_vec(), layout }))
    }
}

/// Refuses to add to a file that holds something else.
fn refuse_another(path: &Path) -> Result<(), Failure> {
    let is_file = fs::metadata(path).is_ok_and(|facts| facts.is_file());
    let head = || -> io::Result<Vec<u8>> {
        let mut head = Vec::new();
        File::open(path)?.take(HEAD.len() as u64).read_to_end(&mut head)?;
        Ok(head)
    };
    if !is_file {
        return Ok(());
    }
    let head = head().map_err(|error| {
        let error = units::system_text(&error);
        Failure::wrong_use(format!("cannot add results to `{}`: {error}", path.display()))
    })?;
    if HEAD.as_bytes().starts_with(&head) {
        return Ok(());
    }
    let text = format!("`{}` holds something else than results of Iometer", path.display());
    Err(Failure::wrong_use(text).hint("name a new file: results are appended to it"))
}

/// What results begin with.
const HEAD: &str = "'Test Type";

/// A file of results.
#[derive(Debug)]
pub(super) struct ResultsFile {
    sink: Sink,
    config: Config,
    wanted: Vec<String>,
    layout: ResultLayout,
}

impl ResultsFile {
    /// Appends what a run of the configuration came to.
    pub(super) fn append(&mut self, record: &Record) -> Result<(), Failure> {
        let text =
            results(&self.config, &self.wanted, record, self.layout, &clock::local_millisecond);
        Ok(self.sink.write(&text)?)
    }
}
