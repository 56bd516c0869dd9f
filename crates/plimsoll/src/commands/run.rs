//! `plimsoll run`: runs job files.

use std::path::PathBuf;

use dialects::ReadPlan;
use fleet::run::Fleet;
use plan::Plan;
use record::Record;
use runner::RunOptions;

use super::dial_in::DialInArgs;
use super::diskspd::CommandLine;
use super::execute::{self, ResultArgs, SafetyArgs};
use super::hosts::{ELSEWHERE, HostsArgs};
use super::input::{self, InputArgs};
use super::iometer::IometerArgs;
use super::judge::JudgeArgs;
use super::on::OnArgs;
use super::seed;
use super::validate::ValidateArgs;
use crate::exit::{Exit, Failure};

/// Run job files and print what came out
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    #[command(flatten)]
    input: InputArgs,
    /// Seed of all draws. Vdbench's files draw a new one for each run, which its record has; it
    /// repeats that run. Jobs of fio set theirs with `randseed`.
    #[arg(long, value_name = "N", value_parser = units::parse_count)]
    seed: Option<u64>,

    #[command(flatten)]
    on: OnArgs,
    #[command(flatten)]
    hosts: HostsArgs,
    #[command(flatten)]
    dial_in: DialInArgs,

    /// With --hosts or --agents: divide the load, so that together the hosts do what one would do
    /// alone. Each issues every Nth operation, and rates are divided; files are shared ones, such
    /// as on NFS.
    #[arg(long, requires = ELSEWHERE)]
    split: bool,

    /// With --agents: keep what comes from them in this file until the record is kept. Where the
    /// controller is killed, the same command takes the run back.
    #[arg(long, value_name = "FILE", requires = "agents")]
    resume: Option<PathBuf>,

    #[command(flatten)]
    result: ResultArgs,
    #[command(flatten)]
    iometer: IometerArgs,
    #[command(flatten)]
    validate: ValidateArgs,
    #[command(flatten)]
    safety: SafetyArgs,
    #[command(flatten)]
    judge: JudgeArgs,
}

const EXAMPLES: &str = "\
Examples:
  plimsoll run fiowrite.ini
  plimsoll run fiowrite.ini --remap /mnt/nocache=./scratch --set runtime=10s
  plimsoll run fioread.ini --on ds14.toml --virtual --cache warm
  plimsoll run vnet1-RndRead-workload --remap /mnt/vdb1=./v1 --set elapsed=10
  plimsoll run fiowrite.ini --until-steady=20m --steady-range 10
  plimsoll run nfs.fio --hosts vm1,vm[2-8]
  plimsoll run nfs.fio --agents 24 --listen 10.0.0.5:7420 --token-file t
  plimsoll run nightly.fio --json --output nightly.json
  plimsoll run nightly.fio --validate --journal /var/tmp/nightly.journal
  plimsoll run nightly.fio --watch :7421
  plimsoll run nightly.fio --json-stream | jq 'select(.kind == \"second\") | .dirs'
  sed s/4k/8k/ small.fio | plimsoll run -";

impl Args {
    /// Returns whether all draws are repeated from a seed that is given.
    pub(super) fn has_seed(&self) -> bool {
        self.seed.is_some()
    }
}

/// Reports everything that would keep the command from running; nothing is run.
pub(super) fn check(args: &Args) -> Result<(), Failure> {
    let (plan, options) = prepared(args)?;
    execute::check(&plan, &options, &args.result)
}

/// Reads the files.
fn parse(args: &Args) -> ReadPlan {
    let mut read = args.input.parse(true);
    if args.hosts.hosts.is_some() || args.dial_in.is_given() {
        input::leave_out(&mut read.parsed, &input::ABOUT_THIS_HOST);
    } else if args.on.is_given() {
        input::leave_out(&mut read.parsed, &input::ABOUT_FOLDERS);
    }
    read
}

/// Runs a command line of diskspd in the place of files, and prints its results in their place.
pub(super) fn run_line(mut args: Args, line: CommandLine) -> Result<Exit, Failure> {
    args.input.command_line = Some(line);
    args.input.dialect = Some("diskspd".to_owned());
    args.result.is_quiet = true;
    run(&args)
}

/// Runs the command.
pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let (plan, options) = prepared(args)?;
    let is_elsewhere = args.hosts.hosts.is_some() || args.dial_in.is_given();
    // Elsewhere each host does the same with its own journal.
    if args.validate.is_recovery() && !is_elsewhere {
        execute::check(&plan, &options, &args.result)?;
        if let Some(exit) = args.validate.recover()? {
            return Ok(exit);
        }
    }
    let fleet = args.dial_in.fleet(&args.hosts, &plan, &options, args.split)?;
    let fleet = fleet.map(|fleet| Fleet { ledger: args.resume.clone(), ..fleet });
    let mut results = args.iometer.open(&plan, &args.input.section, options.read_only)?;
    let mut then = |record: &Record| {
        if let Some(line) = &args.input.command_line {
            line.print(&args.input.overrides(), record)?;
        }
        match &mut results {
            Some(results) => results.append(record),
            None => Ok(()),
        }
    };
    let (result, rules) = (&args.result, &args.judge.rules());
    match fleet {
        Some(fleet) => {
            let exit = execute::run_on_hosts(&fleet, &plan, &options, result, rules, &mut then)?;
            if let Some(file) = &args.resume {
                // The record is kept. What cannot be removed stays.
                let _ = std::fs::remove_file(file);
            }
            Ok(exit)
        }
        None => execute::run_judged(&plan, &options, result, rules, &mut then),
    }
}

/// Returns what is to be run, and how.
fn prepared(args: &Args) -> Result<(Plan, RunOptions), Failure> {
    let ReadPlan { mut parsed, draws_anew, .. } = parse(args);
    input::print_findings(&parsed)?;
    if let Some(seed) = args.seed.or_else(|| draws_anew.then(seed::drawn)) {
        seed::set(&mut parsed.plan, seed);
    }
    let emulation = args.on.emulation()?;
    if let Some(emulation) = &emulation {
        super::on_needs::fit(&mut parsed.plan, &emulation.design);
    }
    let until_steady = args.judge.apply(&mut parsed.plan);
    let options = execute::options(emulation, &args.result, args.safety);
    let validation = args.validate.validation(args.split, args.safety.readonly)?;
    Ok((parsed.plan, RunOptions { until_steady, validation, ..options }))
}
