//! `plimsoll fleet check`: looks at hosts before a run.

mod json;
mod text;

use std::sync::Arc;

use dialects::Dialect as _;
use dialects::native::Native;
use fleet::controller::News;
use fleet::inspect::{Checkup, Severity, inspect, judge};
use fleet::wire::{Assignment, Inspect};
use runner::{Control, RunOptions, Stop};

use super::super::hosts::{self, HostsArgs, Teller};
use super::super::input::{self, InputArgs};
use crate::exit::{Exit, Failure};
use crate::progress::{Progress, ProgressMode};
use crate::signals::Signals;
use crate::stream;

/// The arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct CheckArgs {
    /// Job files, in any language that `run` takes: each host says where their targets lie, whether
    /// there is room for them, and what would keep them from running.
    #[arg(value_name = "JOB")]
    jobs: Vec<String>,

    /// The hosts, called over ssh as `run --hosts` does: `vm1,vm[2-8]`, or `@FILE` with a host per
    /// line.
    #[arg(long, value_name = "HOSTS", required = true)]
    hosts: String,

    /// The ssh client, with arguments of its own; ssh unless given.
    #[arg(long, value_name = "COMMAND")]
    ssh: Option<String>,

    /// Look at this folder, file or device on each host; may be repeated.
    #[arg(long, value_name = "PATH")]
    path: Vec<String>,

    /// Replace the path prefix A by B in every job; may be repeated; the first match applies.
    #[arg(long, value_name = "A=B", value_parser = input::pair, requires = "jobs")]
    remap: Vec<(String, String)>,

    /// Set a parameter in every job, as if written last; any name that `plimsoll explain` knows.
    #[arg(long, value_name = "KEY=VALUE", value_parser = input::setting, requires = "jobs")]
    set: Vec<(String, String)>,

    /// Language of the files, where their content does not show it.
    #[arg(long, value_parser = input::dialect_parser(), requires = "jobs")]
    dialect: Option<String>,

    /// Print all that was found as JSON (`plimsoll.fleet-check/1`).
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  plimsoll fleet check --hosts vm1,vm[2-8]
  plimsoll fleet check --hosts @hosts.txt --path /mnt/vol
  plimsoll fleet check --hosts vm[1-8] nfs.fio
  plimsoll fleet check --hosts vm[1-8] nfs.fio --json | jq '.findings[].message'

Exit codes: 0 all can be used (cautions may be listed), 1 a host cannot be
reached, 4 the job cannot run on a host, 3 it would run, but its result would be
in doubt: clocks are not known well enough for a common start, or a folder is
shared by some hosts only.";

/// Runs the command.
pub(super) fn run(args: &CheckArgs) -> Result<Exit, Failure> {
    let request = Inspect { assignment: assignment(args)?, paths: args.path.clone() };
    let called = HostsArgs::over_ssh(&args.hosts, args.ssh.as_deref());
    let Some((ssh, hosts)) = called.called(&RunOptions::default())? else {
        return Err(Failure::wrong_use("`--hosts` names no host"));
    };
    let control = Arc::new(Control::new());
    let _signals = Signals::listen(&control)?;
    let stops = hosts::stops_of(&control);
    let mut progress = Progress::new(ProgressMode::Auto, None);
    let mut teller = Teller::default();
    let checkup = Checkup { ssh, hosts, request };
    let found = inspect(&checkup, &stops, &mut |news: &News, names| {
        teller.tell(news, names, &mut progress);
    });
    progress.print("");
    drop(progress);
    let reports = found.map_err(hosts::failure)?;
    if control.stop() != Stop::No {
        return Err(
            Failure::wrong_use("stopped before all hosts had answered").with(Exit::Interrupted)
        );
    }
    let findings = judge(&reports);
    let exit = match findings.first().map(|worst| worst.severity) {
        Some(Severity::Unreachable) => Exit::RunFailed,
        Some(Severity::Unfit) => Exit::Missed,
        Some(Severity::Doubt) => Exit::Invalid,
        Some(Severity::Caution) | None => Exit::Fine,
    };
    let shown =
        if args.json { json::of(&reports, &findings, exit) } else { text::of(&reports, &findings) };
    exit.once(stream::print(&shown))
}

/// Returns the part of each host; `None` without a job.
fn assignment(args: &CheckArgs) -> Result<Option<Assignment>, Failure> {
    if args.jobs.is_empty() {
        return Ok(None);
    }
    let input = InputArgs {
        files: args.jobs.clone(),
        remap: args.remap.clone(),
        set: args.set.clone(),
        dialect: args.dialect.clone(),
        ..InputArgs::default()
    };
    let mut parsed = input.parse(true).parsed;
    input::leave_out(&mut parsed, &input::ABOUT_THIS_HOST);
    input::print_findings(&parsed)?;
    let plan_toml = Native.write(&parsed.plan).text;
    Ok(Some(Assignment { plan_toml, n_hosts: 1, ..Assignment::default() }))
}
