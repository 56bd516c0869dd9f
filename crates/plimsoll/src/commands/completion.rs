//! `plimsoll completion`: scripts that complete commands, options and parameter names in a shell.

use clap::builder::PossibleValuesParser;
use clap_complete::{Shell, generate};
use plan::param;

use crate::exit::{Exit, Failure};
use crate::stream;

/// Print a script that completes commands and parameter names in a shell
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The shell.
    #[arg(value_enum)]
    shell: Shell,
}

const EXAMPLES: &str = "\
Examples:
  plimsoll completion bash > ~/.local/share/bash-completion/completions/plimsoll
  plimsoll completion zsh > ~/.zfunc/_plimsoll
  plimsoll completion fish > ~/.config/fish/completions/plimsoll.fish";

/// Runs the command.
pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let words = param::completion_words();
    let settings: Vec<String> = words.iter().map(|word| format!("{word}=")).collect();
    let add_settings = |command: clap::Command| {
        command.mut_arg("set", |arg| arg.value_parser(PossibleValuesParser::new(settings.clone())))
    };
    let mut command = super::definition()
        .mut_subcommand("run", add_settings)
        .mut_subcommand("check", add_settings)
        .mut_subcommand("explain", |command| {
            command.mut_arg("names", |arg| arg.value_parser(PossibleValuesParser::new(words)))
        });
    let mut script = Vec::new();
    generate(args.shell, &mut command, "plimsoll", &mut script);
    stream::print(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Fine)
}
