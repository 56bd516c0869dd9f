//! `plimsoll run`: runs job files.

use super::execute::{self, ResultArgs, SafetyArgs};
use super::input::{self, InputArgs};
use super::on::OnArgs;
use crate::exit::{Exit, Failure};

/// Run job files and print what came out
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    on: OnArgs,
    #[command(flatten)]
    result: ResultArgs,
    #[command(flatten)]
    safety: SafetyArgs,
}

const EXAMPLES: &str = "\
Examples:
  plimsoll run fiowrite.ini
  plimsoll run fiowrite.ini --remap /mnt/nocache=./scratch --set runtime=10s
  plimsoll run fioread.ini --on ds14.toml --virtual --cache warm
  plimsoll run vnet1-RndRead-workload --remap /mnt/vdb1=./v1 --set elapsed=10
  plimsoll run nightly.fio --json --output nightly.json
  sed s/4k/8k/ small.fio | plimsoll run -";

/// Runs the command.
pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let parsed = args.input.parse(true).parsed;
    input::tell(&parsed)?;
    let emulation = args.on.emulation()?;
    execute::run(&parsed.plan, emulation, &args.result, args.safety)
}
