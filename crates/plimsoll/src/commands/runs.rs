//! `plimsoll runs`: what the run store holds.

use std::borrow::Cow;

use analysis::assess::Standing;
use record::{Figure, Figures, NeedVerdict};
use store::{Filter, FindError, RunRow, RunSelector, State, StepFigures, Totals};

use super::keep::{self, StoreArgs, failure};
use crate::exit::{Exit, Failure};
use crate::summary::Columns;
use crate::{clock, stream};

/// List the stored runs, or name, tag, annotate and delete them
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub(super) struct Args {
    #[command(subcommand)]
    action: Option<Action>,

    #[command(flatten)]
    list: ListArgs,
}

#[derive(Debug, Default, clap::Args)]
struct ListArgs {
    #[command(flatten)]
    store: StoreArgs,

    /// Only runs with this tag; may be given several times.
    #[arg(long, value_name = "TAG")]
    tag: Vec<String>,

    /// Only runs with TEXT in their name, their command or what they measured.
    #[arg(long = "match", value_name = "TEXT", default_value = "", hide_default_value = true)]
    text: String,

    /// At most N runs, the newest.
    #[arg(short = 'n', long = "number", value_name = "N", default_value_t = 20)]
    n_max: u32,

    /// All runs.
    #[arg(long, conflicts_with = "n_max")]
    all: bool,

    /// Print the list as JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Give a run a name
    Name(ChangeArgs),
    /// Write a note about a run; it replaces the present one
    Note(ChangeArgs),
    /// Add a tag to a run
    Tag(ChangeArgs),
    /// Take a tag from a run
    Untag(ChangeArgs),
    /// Delete runs
    Delete(DeleteArgs),
}

#[derive(Debug, clap::Args)]
struct ChangeArgs {
    /// The run: its number, its name, `last`, or `last~N`.
    run: RunSelector,
    /// What to give it.
    text: String,
    #[command(flatten)]
    store: StoreArgs,
}

#[derive(Debug, clap::Args)]
struct DeleteArgs {
    /// The runs: numbers, names, `last`, or `last~N`.
    #[arg(required = true)]
    runs: Vec<RunSelector>,
    #[command(flatten)]
    store: StoreArgs,
}

const EXAMPLES: &str = "\
Examples:
  plimsoll runs
  plimsoll runs --tag nightly -n 5
  plimsoll runs name last before-the-firmware
  plimsoll runs tag 12 nightly
  plimsoll runs --all --json

The word before a name says how the run ended if it is not complete, what its
checks found (`invalid`, `cannot tell` or `caution`), or whether the needs of a
bench are met (`met`, `not met` or `cannot tell`). `plimsoll show N` says why.";

/// Runs the command.
pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    match &args.action {
        None => list(&args.list),
        Some(Action::Delete(args)) => delete(args),
        Some(Action::Name(args)) => {
            // Nothing takes the name away.
            if !args.text.is_empty() {
                keep::label(&args.text).map_err(Failure::wrong_use)?;
            }
            change(args, |store, run, text| store.rename(run.id, text))
        }
        Some(Action::Note(args)) => change(args, |store, run, text| store.note(run.id, text)),
        Some(Action::Tag(args)) => {
            keep::label(&args.text).map_err(Failure::wrong_use)?;
            change(args, |store, run, text| store.tag(run.id, text))
        }
        Some(Action::Untag(args)) => change(args, |store, run, text| {
            if !store.untag(run.id, text)? {
                stream::print_message(&format!("run {} has no tag `{text}`\n", run.id));
            }
            Ok(())
        }),
    }
}

fn list(args: &ListArgs) -> Result<Exit, Failure> {
    let store = args.store.open()?;
    let n_max = if args.all { 0 } else { args.n_max };
    let filter = Filter { tags: args.tag.clone(), text: args.text.clone(), n_max };
    let runs = store.runs(&filter).map_err(failure)?;
    if args.json {
        let text = serde_json::to_string_pretty(&runs).map_err(failure)?;
        return Exit::Fine.once(stream::print(&format!("{text}\n")));
    }
    if runs.is_empty() {
        stream::print_message("no runs\n");
        return Ok(Exit::Fine);
    }
    Exit::Fine.once(stream::print(&table(&runs, stream::stdout_columns())))
}

/// Lays runs out, a line each. On a terminal of `columns` a long line is cut at its end; elsewhere
/// it stays whole, for `grep`.
fn table(runs: &[RunRow], columns: Option<usize>) -> String {
    let mut text = format!(
        "{:>5}  {:<16}{}  {}\n",
        "run",
        "started",
        OF_RUN.heads(),
        "name, or what it measured"
    );
    let mut put = |line: &str| {
        text.push_str(&cut(line.trim_end(), columns));
        text.push('\n');
    };
    for run in runs {
        let totals = &run.totals;
        let started = clock::local_minute(run.started_unix_ms);
        let head = format!("{:>5}  {started:<16}", run.id);
        put(&row(&head, &totals.figures, &format!("{}{}{}", state(run), what(run), label(run))));
        let shown = totals.steps.iter().take(STEPS_SHOWN_MAX);
        let n_shown = shown.len();
        for step in shown {
            let name = match step.verdict.as_str() {
                "" => format!("step {}", step.name),
                verdict => format!("{verdict}: {}", step.name),
            };
            put(&row(&" ".repeat(head.len()), &step.figures, &format!("  {name}")));
        }
        // A need may take several steps.
        let n_all =
            if has_needs(&totals.steps) { totals.steps.len() } else { totals.n_steps as usize };
        let n_more = n_all.saturating_sub(n_shown);
        if n_shown > 0 && n_more > 0 {
            let rest = format!("  {n_more} more: plimsoll show {}", run.id);
            put(&row(&" ".repeat(head.len()), &Figures::default(), &rest));
        }
    }
    text
}

/// Figures of a run.
const OF_RUN: Columns = Columns { figures: Figure::OF_RUN, iops: 10, mib_s: 10, latency: 10 };

/// Steps of a run that a list shows; `--json` has more, `show` all.
const STEPS_SHOWN_MAX: usize = 8;

fn row(head: &str, figures: &Figures, label: &str) -> String {
    format!("{head}{}  {label}", OF_RUN.row(figures, "-"))
}

/// Cuts a line so that it does not break on a terminal of `columns`.
fn cut(line: &str, columns: Option<usize>) -> Cow<'_, str> {
    match columns {
        Some(columns) if line.chars().count() > columns => {
            line.chars().take(columns.saturating_sub(1)).chain(['…']).collect()
        }
        _ => line.into(),
    }
}

/// Returns how a run ended if it is not just complete, or that it was imported; and what its checks
/// found.
fn state(run: &RunRow) -> String {
    let sound = Standing::Sound.word();
    match (run.state, run.totals.standing.as_str()) {
        (State::Complete, standing) => {
            let imported = if run.source.is_some() { "imported: " } else { "" };
            let mut words = Vec::new();
            if !run.totals.steps.is_empty() && run.totals.steps.iter().all(is_met) {
                words.push(NeedVerdict::Met.words());
            }
            if !standing.is_empty() && standing != sound {
                words.push(standing);
            }
            let words: String = words.into_iter().map(|word| format!("{word}: ")).collect();
            format!("{imported}{words}")
        }
        (other, _) => format!("{}: ", other.word()),
    }
}

fn is_met(step: &StepFigures) -> bool {
    step.verdict == NeedVerdict::Met.words()
}

/// Returns what the figures are of, where it is not the one step of a run. Neither rates nor
/// percentiles of steps have a mean.
fn what(run: &RunRow) -> String {
    let Totals { figures, n_steps, steps, .. } = &run.totals;
    let has_figures = figures.get(Figure::Iops).is_some();
    match run.command.get(1).map_or("", String::as_str) {
        "curve" | "bench" if has_figures => "load line: ".to_owned(),
        "curve" => "no load line: ".to_owned(),
        _ if steps.is_empty() && (has_figures || *n_steps < 2) => String::new(),
        _ if has_needs(steps) => needs(steps.len()),
        _ => format!("{n_steps} steps: "),
    }
}

/// Returns whether these are needs, and not steps.
fn has_needs(steps: &[StepFigures]) -> bool {
    steps.iter().any(|step| !step.verdict.is_empty())
}

/// Returns how many needs a run answers.
fn needs(n: usize) -> String {
    if n == 1 { "1 need: ".to_owned() } else { format!("{n} needs: ") }
}

/// Returns what identifies a run for its user: its name and tags, or else what it measured or its
/// arguments.
fn label(run: &RunRow) -> String {
    let tags = run.tags.iter().map(|tag| format!(" #{tag}")).collect::<String>();
    let name = if run.name.is_empty() { &run.about } else { &run.name };
    let own = if name.is_empty() {
        // Without the program and the command, and the folders of files: `show` has them.
        let args: Vec<&str> = run.command.iter().skip(2).map(|arg| last_of_path(arg)).collect();
        match run.command.get(1) {
            Some(command) if args.is_empty() => command.clone(),
            _ => args.join(" "),
        }
    } else {
        // That hides the arguments, and with them that nothing real was measured.
        let on = on(&run.command).map_or(String::new(), |on| format!(" (on {})", last_of_path(on)));
        format!("{name}{on}")
    };
    format!("{own}{tags}")
}

/// Returns the design of a run on emulated volumes.
fn on(command: &[String]) -> Option<&str> {
    let mut args = command.iter();
    args.find_map(|arg| match arg.strip_prefix("--on") {
        Some("") => Some(None),
        Some(rest) => rest.strip_prefix('=').map(Some),
        None => None,
    })?
    .or_else(|| args.next().map(String::as_str))
}

fn last_of_path(arg: &str) -> &str {
    if arg.contains(['=', ' ']) {
        return arg;
    }
    arg.trim_end_matches('/').rsplit_once('/').map_or(arg, |(_, last)| last)
}

fn change(
    args: &ChangeArgs,
    act: impl FnOnce(&store::Store, &RunRow, &str) -> Result<(), store::StoreError>,
) -> Result<Exit, Failure> {
    let store = args.store.open()?;
    let run = store.find(&args.run).map_err(not_found)?;
    act(&store, &run, &args.text).map_err(failure)?;
    Ok(Exit::Fine)
}

fn delete(args: &DeleteArgs) -> Result<Exit, Failure> {
    let store = args.store.open()?;
    // All are found before one goes: `last` means the same for each.
    let runs: Result<Vec<RunRow>, _> = args.runs.iter().map(|which| store.find(which)).collect();
    for run in runs.map_err(not_found)? {
        store.delete(run.id).map_err(failure)?;
        let label = label(&run);
        let what = if label.is_empty() { String::new() } else { format!(" ({label})") };
        stream::print_message(&format!("deleted run {}{what}\n", run.id));
    }
    Ok(Exit::Fine)
}

/// Reports why a run was not found.
pub(super) fn not_found(error: FindError) -> Failure {
    failure(error)
}
