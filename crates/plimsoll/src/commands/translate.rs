//! `plimsoll translate`: a workload file in the words of another tool.

use dialects::{Dialect, ReadPlan, find_dialect};
use plan::Diagnostic;
use plan::job::Source;

use super::input::{self, InputArgs};
use crate::exit::{Exit, Failure};
use crate::sink::Sink;
use crate::stream;

/// Write workload files in the words of another tool, and list what it cannot say
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    #[command(flatten)]
    input: InputArgs,

    /// Language to write; nothing is lost in plans of Plimsoll's own.
    #[arg(long, value_parser = input::writer_parser())]
    to: String,

    /// Write to this file instead of the standard output.
    #[arg(long, short, value_name = "FILE")]
    output: Option<String>,
}

const EXAMPLES: &str = "\
What the other language cannot express is listed in comments at the top of the
text, and on standard error. Vdbench's files to vdbench are written in plain
form: a definition per line and keywords in full, with nothing to include or
substitute.

Examples:
  plimsoll translate fioread.ini --to vdbench -o fioread.parm
  plimsoll translate vnet1-RndRead-workload --to fio
  plimsoll translate oltp.fio --to iometer -o oltp.icf
  plimsoll translate nightly.fio --to toml > nightly.toml";

/// Findings about what does not run, and does not keep the rest from being said in other words.
const LEFT_OUT: [&str; 4] = ["no-mount", "no-reset", "no-validation", "no-variable-rate"];

/// Runs the command.
pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let to = find_dialect(&args.to).ok_or_else(|| Failure::wrong_use("no such language"))?;
    write(args.input.parse(false), to, args.output.as_deref())
}

/// Writes what was read in the words of a tool, with what is lost.
pub(super) fn write(
    understood: ReadPlan,
    to: &dyn Dialect,
    output: Option<&str>,
) -> Result<Exit, Failure> {
    let ReadPlan { mut parsed, plain, .. } = understood;
    // What is said about this host is not about the file.
    input::leave_out(&mut parsed, &input::ABOUT_THIS_HOST);
    input::leave_out(&mut parsed, &["remote-hosts", "no-ssh"]);
    let left_out = parsed.refusals.extract_if(.., |finding| LEFT_OUT.contains(&finding.code));
    let left_out: Vec<Diagnostic> = left_out.collect();
    input::print_findings(&parsed)?;
    // What is written in the files' own language needs no plan between.
    let plain = plain.filter(|it| it.language == to.name()).map(|it| it.translation);
    let is_plain = plain.is_some();
    let mut translation = plain.unwrap_or_else(|| to.write(&parsed.plan));
    if !is_plain && !translation.is_empty() {
        // What the plan does not hold is lost for every language but the file's own.
        let losses = left_out.iter().map(|finding| loss(finding, &parsed.plan.sources));
        translation.losses.splice(0..0, losses);
    }
    if translation.is_empty() {
        let failure = Failure::wrong_use("nothing of this can be written in that language");
        return Err(translation.losses.iter().fold(failure, Failure::hint));
    }
    let mut sink = Sink::open(output)?;
    let remarks: Vec<String> =
        translation.losses.iter().map(|loss| format!("lost: {loss}")).collect();
    let written = sink.write(&to.annotate(&translation.text, &remarks));
    for remark in remarks {
        stream::print_message(&format!("{remark}\n"));
    }
    Exit::Fine.once(written)
}

/// Returns what is left out, and where it stands.
fn loss(finding: &Diagnostic, sources: &[Source]) -> String {
    let place = finding.span.as_ref().and_then(|span| {
        let source = sources.get(span.source_idx? as usize)?;
        Some(format!(" ({}:{})", source.name, span.line))
    });
    format!("{}{}", finding.message, place.unwrap_or_default())
}
