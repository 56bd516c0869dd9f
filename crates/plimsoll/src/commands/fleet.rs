//! `plimsoll fleet`: hosts and their agents before a run.

mod check;
mod manifest;

use std::path::PathBuf;

use fleet::token::Token;

use super::dial_in::no_token;
use crate::exit::{Exit, Failure};
use crate::stream;

/// Look at other hosts before a run, and prepare agents on them
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Look at hosts before a run: clocks, mounts, free space, limits, links, and what differs
    Check(check::CheckArgs),
    /// Make the secret that lets agents dial in: a file that only its owner can use
    Token(TokenArgs),
    /// Print what makes Kubernetes start the agents: a Job, for `kubectl apply -f -`
    Manifest(manifest::ManifestArgs),
}

#[derive(Debug, clap::Args)]
struct TokenArgs {
    /// The file. One that is there stays as it is.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

const EXAMPLES: &str = "\
Examples:
  plimsoll fleet check --hosts vm[1-8] nfs.fio
  plimsoll fleet token -o t
  plimsoll fleet manifest --image registry/plimsoll --agents 24 --join 10.0.0.5:7420";

/// Runs the command.
pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    match &args.action {
        Action::Check(args) => check::run(args),
        Action::Token(args) => {
            Token::create(&args.output).map_err(|error| no_token(&error))?;
            let file = args.output.display();
            stream::print_message(&format!(
                "made the token `{file}`: the controller and its agents need this file\n"
            ));
            Ok(Exit::Fine)
        }
        Action::Manifest(args) => manifest::run(args),
    }
}
