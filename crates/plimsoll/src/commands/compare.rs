//! `plimsoll compare`: is one run, or set of runs, better or worse than another?

mod interleave;
mod json;
mod markdown;
mod metrics;
mod text;
mod words;

use analysis::compare::Verdict;
use analysis::sets::{Row, SetComparison, SetOptions};
use analysis::whole::compare_records;
use export::Run;
use record::Record;

use self::interleave::Pairs;
use self::metrics::MetricChoice;
use super::keep::StoreArgs;
use super::several;
use crate::exit::{Exit, Failure};
use crate::stream;

/// Compare two runs, or two sets of runs
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The runs before the change: one or several. With --interleave, the arguments of `plimsoll
    /// run`.
    baseline: String,

    /// The runs after the change, in the same form.
    candidate: String,

    /// Measure first: run both in turn, in PAIRS pairs in random order, and compare them pair by
    /// pair. Twelve pairs find a loss of 5 % nine times of ten where runs vary by 2 %; below six,
    /// runs are not compared pair by pair.
    #[arg(long, value_name = "PAIRS")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=interleave::PAIRS_MAX))]
    interleave: Option<u32>,

    /// With --interleave: name of the runs, as NAME-baseline and NAME-candidate.
    #[arg(long, value_name = "NAME", requires = "interleave", value_parser = super::keep::label)]
    name: Option<String>,

    /// Exit with code 4 if a figure is shown to be worse, and may be worse by PCT or more.
    #[arg(long, value_name = "PCT", value_parser = share)]
    fail_if_worse: Option<f64>,

    /// With --fail-if-worse: how to end where no figure can be judged, `pass` with code 0
    /// or `fail` with code 3.
    #[arg(
        long,
        value_name = "END",
        requires = "fail_if_worse",
        value_enum,
        default_value = "pass"
    )]
    cannot_tell: Undecided,

    /// Only this figure: iops, mib/s, mean, p50, p95, p99 or p99.9, of one direction as
    /// `read:p99`; may be given several times.
    #[arg(long, value_name = "FIGURE")]
    metric: Vec<MetricChoice>,

    /// Smallest difference that matters; 5%, or what --fail-if-worse says. It decides between "no
    /// difference" and "cannot tell".
    #[arg(long, value_name = "PCT", value_parser = share)]
    effect: Option<f64>,

    /// Probability with which an interval holds the true ratio.
    #[arg(long, value_name = "PCT", default_value = "95%", value_parser = probability)]
    confidence: f64,

    /// Compare although the runs did different I/O.
    #[arg(long)]
    anyway: bool,

    /// Print the comparison as JSON (`plimsoll.comparison/1`).
    #[arg(long)]
    json: bool,

    /// Print it as Markdown, as a pull request shows it.
    #[arg(long, conflicts_with = "json")]
    markdown: bool,

    #[command(flatten)]
    store: StoreArgs,
}

/// How a comparison ends in CI that can tell nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Undecided {
    /// With code 0: nothing is shown to be worse.
    Pass,
    /// With code 3: nothing is shown to be as good.
    Fail,
}

const EXAMPLES: &str = "\
Examples:
  plimsoll compare last~1 last
  plimsoll compare before after --fail-if-worse 5%
  plimsoll compare tag:old tag:new --metric iops --metric read:p99
  plimsoll compare 1..6 7..12 --json
  plimsoll compare main branch --fail-if-worse 5% --markdown >> comment.md
  plimsoll compare fio-output.json last --anyway
  plimsoll compare --interleave 12 -- job.fio 'job.fio --set iodepth=8'
  plimsoll compare --interleave 12 --fail-if-worse 5% -- \\
    'job.fio --remap /mnt=/mnt/old' 'job.fio --remap /mnt=/mnt/new'

Runs are named by their number, `last`, `last~N`, `12..17`, `tag:NAME`, or
their name: all runs of that name, or of a pattern as 'night*'. A file may
stand for a run: a record (`--json`), fio's JSON, or a folder of them; Vdbench's
flatfile.html, or its output directory. Several are joined by commas:
`3,5,tag:night`.

With --interleave each side is what `plimsoll run` takes, in quotes where it
has options. All runs are stored; Ctrl-C compares the pairs that are complete.

Exit codes: 0 nothing is shown to be worse by what --fail-if-worse says, 4
something is, 3 nothing could be judged and --cannot-tell is `fail`, 2 wrong
use, or other I/O was done, 1 a run of --interleave failed, 130 interrupted.";

/// Runs the command.
pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let Some(n_pairs) = args.interleave else {
        let baseline = several::find(&args.baseline, &args.store)?;
        let candidate = several::find(&args.candidate, &args.store)?;
        return judge(args, baseline, candidate).map(|(exit, _)| exit);
    };
    let measured = interleave::measure(args, n_pairs)?;
    let Pairs { baseline, candidate, names: [one, other], is_interrupted } = measured;
    // What may differ between the sides is refused for runs that are compared later.
    let (exit, is_alike) = judge(args, baseline, candidate)?;
    let anyway = if is_alike { "" } else { " --anyway" };
    stream::remark("", &format!("to see it again: plimsoll compare {one} {other}{anyway}"));
    Ok(if is_interrupted { Exit::Interrupted } else { exit })
}

/// Compares two sets, prints what came of it, and says how to end, and whether both did the same
/// I/O.
fn judge(args: &Args, baseline: Vec<Run>, candidate: Vec<Run>) -> Result<(Exit, bool), Failure> {
    check_kinds(&baseline, &candidate)?;
    let effect_min = args.effect.or(args.fail_if_worse.filter(|limit| *limit > 0.0));
    let defaults = SetOptions::default();
    let options = SetOptions {
        coverage: args.confidence,
        effect_min: effect_min.unwrap_or(defaults.effect_min),
    };
    let mut found = compare_all(&baseline, &candidate, &options);
    // With --interleave both sides are compared whatever differs; the differences are printed.
    let is_alike = found.is_alike();
    if !is_alike && !args.anyway && args.interleave.is_none() {
        return Err(text::unlike(&found));
    }
    if !args.metric.is_empty() {
        found.rows.retain(|row| args.metric.iter().any(|wanted| wanted.is(row)));
    }
    if found.rows.is_empty() {
        return Err(Failure::wrong_use("the runs have no figure in common"));
    }
    let (limit, undecided) = (args.fail_if_worse, args.cannot_tell);
    let judged = Judged { baseline, candidate, found, limit, undecided, options };
    let text = match (args.json, args.markdown) {
        (true, _) => json::json(&judged),
        (_, true) => markdown::markdown(&judged),
        _ => text::text(&judged),
    };
    judged.exit().once(stream::print(&text)).map(|exit| (exit, is_alike))
}

/// Curves are compared with curves, and suites with suites.
fn check_kinds(baseline: &[Run], candidate: &[Run]) -> Result<(), Failure> {
    let kind = |run: &Run| match (&run.record.suite, &run.record.curve) {
        (Some(_), _) => "a suite",
        (None, Some(_)) => "a load curve",
        (None, None) => "a single run",
    };
    let mut runs = baseline.iter().chain(candidate);
    let Some(first) = runs.next() else { return Ok(()) };
    match runs.find(|run| kind(run) != kind(first)) {
        None => Ok(()),
        Some(other) => {
            let (one, two) = (called(first), called(other));
            let message = format!("{one} is {}, and {two} is {}", kind(first), kind(other));
            Err(Failure::wrong_use(message).hint("compare runs of one kind"))
        }
    }
}

fn compare_all(baseline: &[Run], candidate: &[Run], options: &SetOptions) -> SetComparison {
    compare_records(&records(baseline), &records(candidate), options)
}

fn records(runs: &[Run]) -> Vec<&Record> {
    runs.iter().map(|run| &run.record).collect()
}

/// A comparison with all that is printed of it.
struct Judged {
    baseline: Vec<Run>,
    candidate: Vec<Run>,
    found: SetComparison,
    /// From which loss on it fails.
    limit: Option<f64>,
    /// How it ends where nothing can be said.
    undecided: Undecided,
    options: SetOptions,
}

impl Judged {
    /// Returns the figures that fail.
    fn failing(&self) -> Vec<&Row> {
        let Some(limit) = self.limit else { return Vec::new() };
        let fails = |row: &&Row| row.comparison.fails(limit, row.figure.better());
        self.found.rows.iter().filter(fails).collect()
    }

    fn is_decided(&self) -> bool {
        self.found.rows.iter().any(|row| row.comparison.verdict != Verdict::CannotTell)
    }

    fn exit(&self) -> Exit {
        if self.limit.is_none() {
            Exit::Fine
        } else if !self.failing().is_empty() {
            Exit::Missed
        } else if self.is_decided() || self.undecided == Undecided::Pass {
            Exit::Fine
        } else {
            Exit::Invalid
        }
    }
}

/// Returns what a run is called in a sentence.
fn called(run: &Run) -> String {
    match (run.id, run.name.as_str()) {
        (Some(id), "") => format!("run {id}"),
        (Some(id), name) => format!("run {id} (`{name}`)"),
        (None, name) => format!("`{name}`"),
    }
}

/// Parses a probability in percent: nothing holds with none, and nothing for sure.
fn probability(text: &str) -> Result<f64, String> {
    let found = share(text).ok().filter(|share| *share > 0.0);
    found.ok_or_else(|| "expected a percentage above 0 and below 100, such as 95%".to_owned())
}

/// Parses a share in percent.
fn share(text: &str) -> Result<f64, String> {
    let number = text.trim().trim_end_matches('%').trim_end();
    match number.parse::<f64>() {
        Ok(percent) if (0.0..100.0).contains(&percent) => Ok(percent / 100.0),
        _ => Err("expected a percentage from 0 to below 100, such as 5%".to_owned()),
    }
}
