//! `plimsoll translate`: a workload file in the words of another tool.

use std::fmt::Write;

use clap::ValueEnum;
use dialects::{NoHost, Translation, fio, native, vdbench};
use plan::job::Source;
use plan::{Diagnostic, Plan, Severity};

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
const OF_THIS_MACHINE: [&str; 3] = ["missing-size", "missing-folder", "remote-hosts"];

/// Findings about what does not run, and does not keep the rest from being said in other words.
const LEFT_OUT: [&str; 4] = ["no-mount", "no-reset", "no-validation", "no-variable-rate"];

/// Runs the command.
pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let Input { mut parsed, plain, runs } = args.input.parse(false);
    parsed.refusals.retain(|finding| !OF_THIS_MACHINE.contains(&finding.code));
    let left_out = parsed.refusals.extract_if(.., |finding| LEFT_OUT.contains(&finding.code));
    let left_out: Vec<Diagnostic> = left_out.collect();
    input::tell(&parsed)?;
    let is_plain = args.to == To::Vdbench && plain.is_some();
    let (mut translation, mark) = match (args.to, plain) {
        (To::Fio, _) => (fio::write(&parsed.plan), '#'),
        (To::Vdbench, Some(text)) => {
            let losses = kinder_forms(&text, &runs.unwrap_or_default(), &parsed.plan);
            (Translation { text, losses, ..Translation::default() }, '*')
        }
        (To::Vdbench, None) => (vdbench::write(&parsed.plan), '*'),
        (To::Toml, _) => (native::write(&parsed.plan), '#'),
    };
    if !is_plain && !translation.is_empty() {
        // What the plan does not hold is lost for every language but the file's own.
        let losses = left_out.iter().map(|finding| loss(finding, &parsed.plan.sources));
        translation.losses.splice(0..0, losses);
    }
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

/// Returns what Vdbench itself does not take of a file in plain form, or takes otherwise.
fn kinder_forms(text: &str, runs: &str, plan: &Plan) -> Vec<String> {
    let theirs = vdbench::parse_text("text", text, &vdbench::Options::compat(), &NoHost);
    if theirs.has_errors() {
        let errors = theirs.diagnostics.iter().filter(|it| it.severity == Severity::Error);
        return errors.map(|it| format!("Vdbench does not take it: {}", it.message)).collect();
    }
    let mut losses = Vec::new();
    if vdbench::simulation(&theirs) != runs {
        losses.push("Vdbench makes other runs of it: see the warnings".to_owned());
    }
    let of_runs = theirs.runs.iter().flat_map(|run| &run.commands);
    let known: Vec<&str> =
        of_runs.chain(&theirs.settings.commands).map(|command| command.text.as_str()).collect();
    let ours = plan.steps.iter().flat_map(|step| step.exec_before.iter().chain(&step.exec_after));
    for command in ours.filter(|command| !known.contains(&command.as_str())) {
        let loss = format!("Vdbench reads another command than `{command}`");
        if !losses.contains(&loss) {
            losses.push(loss);
        }
    }
    losses
}

/// Says what is left out, and where it stands.
fn loss(finding: &Diagnostic, sources: &[Source]) -> String {
    let place = finding.span.as_ref().and_then(|span| {
        let source = sources.get(span.source_idx? as usize)?;
        Some(format!(" ({}:{})", source.name, span.line))
    });
    format!("{}{}", finding.message, place.unwrap_or_default())
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
