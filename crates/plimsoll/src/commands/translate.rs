//! `plimsoll translate`: a workload file in the words of another tool.

use std::fmt::Write;

use clap::ValueEnum;
use dialects::{Translation, fio, native, vdbench};

use super::input::{self, Input, InputArgs};
use crate::exit::{Exit, Failure};
use crate::stream::{self, Sink};

/// Write workload files in the words of another tool, and list what it cannot say
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    #[command(flatten)]
    input: InputArgs,

    /// Language to write.
    #[arg(long, value_enum)]
    to: To,

    /// Write to this file instead of the standard output.
    #[arg(long, short, value_name = "FILE")]
    output: Option<String>,
}

/// A language that plans are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum To {
    /// A job file of fio.
    Fio,
    /// A parameter file of Vdbench.
    Vdbench,
    /// A plan of Plimsoll's own, in TOML: nothing is lost.
    Toml,
}

const EXAMPLES: &str = "\
What the other language cannot say stands in comments at the top of the text,
and on standard error. Vdbench's files to vdbench are written in plain form: a
definition per line and keywords in full, with nothing to include or substitute.

Examples:
  plimsoll translate fioread.ini --to vdbench -o fioread.parm
  plimsoll translate vnet1-RndRead-workload --to fio
  plimsoll translate nightly.fio --to toml > nightly.toml";

/// Findings that say something of this machine, and nothing of the file.
const OF_THIS_MACHINE: [&str; 2] = ["missing-size", "remote-hosts"];

/// Runs the command.
pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let Input { mut parsed, plain, .. } = args.input.parse(false);
    parsed.refusals.retain(|finding| !OF_THIS_MACHINE.contains(&finding.code));
    input::tell(&parsed)?;
    let (translation, mark) = match (args.to, plain) {
        (To::Fio, _) => (fio::write(&parsed.plan), '#'),
        (To::Vdbench, Some(plain)) => (Translation { text: plain, losses: Vec::new() }, '*'),
        (To::Vdbench, None) => (vdbench::write(&parsed.plan), '*'),
        (To::Toml, _) => (native::write(&parsed.plan), '#'),
    };
    if translation.is_empty() {
        let failure = Failure::wrong_use("nothing of this can be said in that language");
        return Err(translation.losses.iter().fold(failure, Failure::hint));
    }
    let mut sink = Sink::open(args.output.as_deref())?;
    let written = sink.write(&with_losses(&translation, mark));
    for loss in &translation.losses {
        stream::tell(&format!("lost: {loss}\n"));
    }
    Exit::Fine.once(written)
}

/// Puts what is lost in front of the text.
fn with_losses(translation: &Translation, mark: char) -> String {
    let mut text = String::new();
    for loss in &translation.losses {
        let _ = writeln!(text, "{mark} lost: {loss}");
    }
    if !text.is_empty() {
        text.push('\n');
    }
    text + &translation.text
}
