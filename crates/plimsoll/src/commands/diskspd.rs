//! `plimsoll diskspd`, and the program under the name `diskspd`: diskspd's command line, and
//! results as it prints them.

use std::ffi::OsString;
use std::fs;

use dialects::{Overrides, diskspd};
use record::{EmulationRecord, Record};

use crate::exit::{Exit, Failure};
use crate::loader::ReadOnce;
use crate::{clock, stream};

/// Behave as diskspd: run its command line, print its results
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// diskspd's options and targets; then any options of `plimsoll run`, such as `--remap`.
    #[arg(value_name = "ARGS", trailing_var_arg = true, allow_hyphen_values = true)]
    #[arg(required = true)]
    pub(super) args: Vec<OsString>,
}

const EXAMPLES: &str = "\
A link named `diskspd` to this program does the same. Exit codes are those of
`plimsoll run`.

Examples:
  plimsoll diskspd -b8K -d60 -o32 -t4 -r -w30 -Sh -L -c10G /mnt/data/test.dat
  plimsoll diskspd -b64K -d60 -Su -Rxml 'F:\\test.dat' --remap F:=/mnt/data
  plimsoll diskspd -Xprofile.xml -d60 /mnt/data/test.dat
  ln -s $(which plimsoll) /usr/local/bin/diskspd

What each option comes to, and what differs, is in docs/diskspd.md.";

/// What stands for the name of a file that holds the command line.
const NAME: &str = "the command line";

/// A command line of diskspd that is run in the place of files.
#[derive(Clone, Debug)]
pub(super) struct CommandLine {
    /// The file that would hold it.
    script: String,
    /// The host with that file, and with the profiles as they were when it began.
    pub(super) loader: ReadOnce,
}

/// Returns the command line that runs it, without the program's name, and the command line itself.
/// None where nothing is run: what it asks for was printed.
pub(super) fn as_run(args: &[OsString]) -> Result<Option<(Vec<OsString>, CommandLine)>, Failure> {
    let is_ours = |arg: &OsString| arg.as_encoded_bytes().starts_with(b"--");
    let n_own = args.iter().position(is_ours).unwrap_or(args.len());
    let (own, ours) = args.split_at(n_own);
    let mut words = Vec::new();
    for arg in own {
        let Some(word) = arg.to_str() else {
            let text = format!("`{}` is not UTF-8", arg.to_string_lossy());
            return Err(Failure::wrong_use(text));
        };
        words.push(word.to_owned());
    }
    let script = diskspd::script_of(&words);
    let loader = ReadOnce::default().with_file(NAME, script.as_bytes().to_vec());
    if let Some(text) = diskspd::profile(&script, &Overrides::default(), &loader) {
        stream::print(&text)?;
        return Ok(None);
    }
    let mut run = vec![OsString::from("run"), OsString::from(NAME)];
    run.extend(ours.iter().cloned());
    Ok(Some((run, CommandLine { script, loader })))
}

impl CommandLine {
    /// Prints what a run of it came to, as diskspd does. A reader that has seen enough is no
    /// failure.
    pub(super) fn print(&self, overrides: &Overrides, record: &Record) -> Result<(), Failure> {
        let size_of = |path: &str| {
            let found = fs::metadata(path).ok()?;
            (found.is_file() && record.emulation.is_none()).then_some(found.len())
        };
        let stamp = &clock::utc_second;
        let Self { script, loader } = self;
        let text = diskspd::results(script, overrides, loader, record, stamp, &size_of);
        let emulation = record.emulation.as_ref();
        if let Some(constant) = emulation.and_then(EmulationRecord::constant_latency) {
            stream::remark("note: ", &constant);
        }
        Exit::Fine.once(stream::print(&text)).map(drop)
    }
}
