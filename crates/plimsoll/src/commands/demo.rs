//! `plimsoll demo`: the main job on a scratch file that is made and removed.

use std::path::PathBuf;

use dialects::{LowerOptions, Overrides, fio};

use super::execute::{self, ResultArgs, SafetyArgs};
use super::input;
use super::scratch::{Purpose, Scratch};
use crate::exit::{Exit, Failure};
use crate::loader::HostLoader;
use crate::{env, stream};

/// Run four short jobs on a scratch file that is made and removed; about 30 seconds
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Folder for the scratch file; the current one unless given, or $TMPDIR where that cannot be
    /// written to.
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,

    /// Size of the scratch file.
    #[arg(long, value_name = "SIZE", default_value = "512m", value_parser = units::parse_bytes)]
    size: u64,

    /// Time for each of the four jobs.
    #[arg(long, value_name = "TIME", default_value = "6s", value_parser = units::parse_duration)]
    runtime: std::time::Duration,

    /// Print the job file instead of running it.
    #[arg(long)]
    print: bool,

    #[command(flatten)]
    result: ResultArgs,
}

const EXAMPLES: &str = "\
Examples:
  plimsoll demo
  plimsoll demo --dir /mnt/volume --size 8g
  plimsoll demo --print > mine.fio";

/// The job file.
const JOB_FILE: &str = include_str!("../demo.fio");
/// Jobs in it, one after another.
const N_JOBS: u32 = 4;
/// What the scratch folder is for; the job file has the name of the file in it.
const PURPOSE: Purpose = Purpose {
    command: "demo",
    file_name: "plimsoll-demo.scratch",
    other_folder: "plimsoll demo --dir DIR",
    size_option: "plimsoll demo --size ",
};

/// Runs the command.
pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    if args.print {
        stream::print(JOB_FILE)?;
        return Ok(Exit::Fine);
    }
    let tmp = || env::TMPDIR.get().unwrap_or_else(|| "/tmp".to_owned());
    let anywhere = || vec![PathBuf::from("."), PathBuf::from(tmp())];
    let places = args.dir.clone().map_or_else(anywhere, |dir| vec![dir]);
    let scratch = Scratch::make(&places, PURPOSE)?;
    scratch.check_space(args.size, 1)?;
    let mut set = vec![
        ("directory".to_owned(), plan::escape_path(&scratch.dir().to_string_lossy())),
        ("size".to_owned(), args.size.to_string()),
        ("runtime".to_owned(), format!("{}us", args.runtime.as_micros())),
    ];
    if !scratch.takes_direct() {
        stream::print_message(
            "note: the file system refuses direct I/O: these numbers are those of the page cache\n\
             hint: name a folder on a disk: plimsoll demo --dir DIR\n",
        );
        set.push(("direct".to_owned(), "0".to_owned()));
    }
    let total = units::format_duration(args.runtime * N_JOBS);
    stream::print_message(&format!(
        "demo: {N_JOBS} jobs on a scratch file of {} in {}, {total} in all\n",
        units::format_bytes(args.size),
        scratch.dir().display()
    ));
    let overrides = Overrides { set, ..Overrides::default() };
    let wishes = LowerOptions { overrides: Some(&overrides), ..LowerOptions::default() };
    let parsed = fio::parse_text("demo.fio", JOB_FILE, &wishes, &HostLoader);
    input::print_findings(&parsed)?;
    execute::run(&parsed.plan, None, &args.result, SafetyArgs::default())
}
