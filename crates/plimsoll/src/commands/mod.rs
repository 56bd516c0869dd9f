//! One file per command.

mod agent;
mod bench;
mod capture;
mod catalog;
mod check;
mod compare;
mod completion;
mod confirm;
mod curve;
mod demo;
mod design;
mod dial_in;
mod diskspd;
mod execute;
mod existing;
mod explain;
mod explained;
mod export;
mod fio;
mod fleet;
mod follow;
mod foreign;
mod guide;
mod hosts;
mod hosts_load;
mod import;
mod input;
mod iometer;
mod judge;
mod keep;
mod limits;
mod man;
mod needs;
mod on;
mod on_needs;
mod own_tables;
mod provision;
mod reference;
mod regions;
mod rehearse;
mod report;
mod run;
mod runs;
mod scratch;
mod seed;
mod several;
mod show;
mod subject;
mod suite;
mod translate;
mod validate;
mod vdbench;
mod verify;
mod welcome;

use std::ffi::OsString;
use std::path::Path;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::built;
use crate::exit::{Exit, Failure};

/// Finds out how much I/O a disk, array or cloud volume carries.
#[derive(Debug, Parser)]
#[command(name = "plimsoll", version, about, after_help = EXIT_CODES, max_term_width = 100)]
#[command(disable_help_subcommand = true, long_version = built::in_full())]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXIT_CODES: &str = "\
Exit codes: 0 success, 1 the run failed, 2 wrong use or a mistake in a file,
3 measured but not to be trusted, 4 worse than allowed or a need is not met,
130 interrupted (Ctrl-C, SIGTERM, or a terminal that is lost). In the modes of
fio and Vdbench they are those of that tool.";

#[derive(Debug, Subcommand)]
enum Command {
    Run(Box<run::Args>),
    Bench(bench::Args),
    Curve(curve::Args),
    Suite(suite::Args),
    Demo(demo::Args),
    Runs(runs::Args),
    Show(show::Args),
    Compare(compare::Args),
    Report(report::Args),
    Export(export::Args),
    Import(import::Args),
    Check(check::Args),
    Verify(verify::Args),
    Translate(translate::Args),
    Explain(explain::Args),
    Catalog(catalog::Args),
    Limits(limits::Args),
    Design(design::Args),
    Capture(capture::Args),
    Needs(needs::Args),
    Rehearse(rehearse::Args),
    Provision(provision::Args),
    Confirm(confirm::Args),
    Agent(agent::Args),
    Fleet(fleet::Args),
    Fio(fio::Args),
    Vdbench(vdbench::Args),
    Iometer(iometer::Args),
    Diskspd(diskspd::Args),
    Reference(reference::Args),
    Man(man::Args),
    Completion(completion::Args),
}

/// Runs the command that the arguments name. The first argument is the program's own name: through
/// a link named `fio`, `vdbench` or `diskspd` the program is that one.
pub(crate) fn dispatch(args: &[OsString]) -> Result<Exit, Failure> {
    let program = args.first().map(Path::new).and_then(Path::file_name);
    if program.is_some_and(|name| name == "fio") {
        return fio::run(&args[1..]);
    }
    if program.is_some_and(|name| name == "vdbench") {
        return vdbench::run(&args[1..]);
    }
    if program.is_some_and(|name| name == "diskspd") {
        let command = [OsString::from("plimsoll"), OsString::from("diskspd")];
        return dispatch(&[&command[..], &args[1..]].concat());
    }
    match args.get(1) {
        None => return welcome::run(),
        Some(command) if command == "fio" => return fio::run(&args[2..]),
        Some(command) if command == "vdbench" => return vdbench::run(&args[2..]),
        Some(command) if command == "help" => return dispatch(&as_option(args)),
        Some(_) => {}
    }
    match parse(args)? {
        Ok(command) => perform(command, args),
        Err(exit) => Ok(exit),
    }
}

/// Reads the arguments. Help, and the mistakes of them, are printed: then it is how that ends.
fn parse(args: &[OsString]) -> Result<Result<Command, Exit>, Failure> {
    let matches = definition().try_get_matches_from(args);
    let error = match matches.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => return Ok(Ok(cli.command)),
        Err(error) => error,
    };
    let typed: Vec<String> = args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect();
    if let Some(failure) = guide::answer(&error, &typed, &definition()) {
        return Err(failure);
    }
    // Help and version go to standard output, mistakes to standard error.
    let _ = error.print();
    Ok(Err(if error.use_stderr() { Exit::WrongUse } else { Exit::Fine }))
}

/// Runs the command that the arguments name.
fn perform(command: Command, args: &[OsString]) -> Result<Exit, Failure> {
    match command {
        Command::Run(args) => run::run(&args),
        Command::Bench(args) => bench::run(&args),
        Command::Suite(args) => suite::run(&args),
        Command::Curve(args) => curve::run(&args),
        Command::Demo(args) => demo::run(&args),
        Command::Runs(args) => runs::run(&args),
        Command::Show(args) => show::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Export(args) => export::run(&args),
        Command::Import(args) => import::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Verify(args) => verify::run(&args),
        Command::Translate(args) => translate::run(&args),
        Command::Explain(args) => explain::run(&args),
        Command::Catalog(args) => catalog::run(&args),
        Command::Limits(args) => limits::run(&args),
        Command::Design(args) => design::run(&args),
        Command::Capture(args) => capture::run(&args),
        Command::Needs(args) => needs::run(&args),
        Command::Rehearse(args) => rehearse::run(&args),
        Command::Provision(args) => provision::run(&args),
        Command::Confirm(args) => confirm::run(&args),
        Command::Agent(args) => agent::run(&args),
        Command::Fleet(args) => fleet::run(&args),
        Command::Fio(args) => fio::run(&args.args),
        Command::Vdbench(args) => vdbench::run(&args.args),
        Command::Iometer(words) => {
            let run = iometer::as_run(&words.args)?;
            dispatch(&[&args[..1], &run[..]].concat())
        }
        Command::Diskspd(words) => {
            let Some((run, line)) = diskspd::as_run(&words.args)? else { return Ok(Exit::Fine) };
            match parse(&[&args[..1], &run[..]].concat())? {
                Ok(Command::Run(args)) => run::run_line(*args, line),
                // Behind `run` is no other command.
                Ok(_) => Ok(Exit::WrongUse),
                Err(exit) => Ok(exit),
            }
        }
        Command::Reference(args) => reference::run(&args),
        Command::Man(args) => man::run(&args),
        Command::Completion(args) => completion::run(&args),
    }
}

/// Returns `plimsoll COMMAND --help` for `plimsoll help COMMAND`.
fn as_option(args: &[OsString]) -> Vec<OsString> {
    let program = args[..1].iter();
    program.chain(&args[2..]).cloned().chain([OsString::from("--help")]).collect()
}

/// Returns the definition of all commands and arguments, for completion, the reference
/// and manual pages.
fn definition() -> clap::Command {
    with_negative_numbers(Cli::command())
}

/// Lets every command take `-1` for a value, so that the reader of the value reports what is wrong
/// with
/// it.
fn with_negative_numbers(command: clap::Command) -> clap::Command {
    command.allow_negative_numbers(true).mut_subcommands(with_negative_numbers)
}
