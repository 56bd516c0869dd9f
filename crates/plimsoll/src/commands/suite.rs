//! `plimsoll suite`: lists benchmark procedures, shows what they would do, and creates new ones.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use bench::suite::change::Changes;
use bench::suite::jobs::{self, Site};
use bench::suite::steps::Order;
use bench::suite::{
    BUILT_IN, DEFAULT, End, Size, Step, Suite, built_in, labels, need, parse, steps,
};
use dialects::fio::Fio;
use dialects::vdbench::Vdbench;
use dialects::{Dialect as _, Loader, LowerOptions, ReadPlan, find_dialect};
use plan::Severity;
use plan::job::Source;
use units::system_text;

use super::curve::composite::BeginArgs;
use super::foreign;
use super::input;
use super::translate;
use crate::diagnostics::{self, Texts};
use crate::exit::{Exit, Failure};
use crate::loader::HostLoader;
use crate::result_file::{self, not_written};
use crate::stream;
use crate::summary::{fit, wrap};

/// List, show or create benchmark procedures
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// List all suites
    List,
    /// Print what a suite would do: every step, its settings, and the total time
    Show(ShowArgs),
    /// Write a suite of your own, starting from an existing one
    New(NewArgs),
    /// Measure a composite workload with more and more units of load
    Begin(Box<BeginArgs>),
}

#[derive(Debug, clap::Args)]
struct ShowArgs {
    /// The suite: a name or a file.
    suite: String,

    #[command(flatten)]
    changes: ChangeArgs,

    /// Print the suite's file.
    #[arg(long, conflicts_with_all = ["json", "fio", "form"])]
    toml: bool,

    /// Print the steps as a job file of fio: `--as fio`.
    #[arg(long, conflicts_with_all = ["json", "form"])]
    fio: bool,

    /// Print the steps in the words of a tool. A procedure of many machines is written with all of
    /// them for Vdbench.
    #[arg(long = "as", value_name = "LANGUAGE", value_parser = input::writer_parser())]
    #[arg(conflicts_with = "json")]
    form: Option<String>,

    /// Print the steps as JSON (`plimsoll.suite-plan/1`).
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
struct NewArgs {
    /// Its name; the file is NAME.toml.
    name: String,

    /// The suite to start from.
    #[arg(long, value_name = "SUITE", default_value = DEFAULT)]
    from: String,
}

const EXAMPLES: &str = "\
Examples:
  plimsoll suite list
  plimsoll suite show quick
  plimsoll suite show anf-2019 --as vdbench > anf-2019.parm
  plimsoll suite show anf-linux-regular --set time=10s --scale 0.1
  plimsoll suite new nightly --from io-size
  plimsoll suite begin eda --at /mnt/vol --from 10 --to 100 --steps 10
  plimsoll bench /mnt/volume --suite nightly.toml";

/// What of a suite is changed.
#[derive(Clone, Debug, Default, clap::Args)]
pub(super) struct ChangeArgs {
    /// Set a parameter of the suite: size, time, ramp, bs, read_pct, iodepth, jobs, connections,
    /// warm_up_time, fill_time, fills, limit, point_time, probes_max. Several values with colons
    /// between make as many steps; may be repeated, or have commas between.
    #[arg(long, value_name = "KEY=VALUE", value_delimiter = ',', value_parser = input::setting)]
    set: Vec<(String, String)>,

    /// Shorten all sizes and times in proportion; the result says so.
    #[arg(long, value_name = "F", value_parser = scale)]
    scale: Option<f64>,

    /// Measure each step N times, in mixed order; from six on there is an interval of 95 %.
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1000))]
    repeat: u32,

    /// Seed of the order of repeats.
    #[arg(long, value_name = "N", default_value = "1", value_parser = units::parse_count)]
    seed: u64,
}

fn scale(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(scale) if (1e-6..=1.0).contains(&scale) && scale > 0.0 => Ok(scale),
        _ => Err("expected a share above 0 and up to 1, such as 0.1".to_owned()),
    }
}

/// A suite with what is changed of it.
pub(super) struct ChosenSuite {
    pub(super) suite: Suite,
    pub(super) changes: Changes,
    pub(super) order: Order,
    /// Its file.
    text: String,
}

impl ChangeArgs {
    /// Returns the changes, and how often and in which order steps are taken.
    pub(super) fn parts(&self) -> (Changes, Order) {
        let changes = Changes { set: self.set.clone(), scale: self.scale };
        (changes, Order { n_repeats: self.repeat, seed: self.seed })
    }
}

/// Finds a suite by its name or file, and changes it.
pub(super) fn choose(name: &str, args: &ChangeArgs) -> Result<ChosenSuite, Failure> {
    let (suite, text) = read(name)?;
    let (changes, order) = args.parts();
    let suite = changes.apply(suite).map_err(|error| Failure::wrong_use(error.to_string()))?;
    Ok(ChosenSuite { suite, changes, order, text })
}

/// Reads a suite. Mistakes are printed and end the command.
fn read(name: &str) -> Result<(Suite, String), Failure> {
    let text = match built_in(name) {
        Some(text) => text.to_owned(),
        None => load(name)?,
    };
    let (suite, findings) = parse(&text);
    let sources = [Source { name: name.to_owned(), text: text.clone() }];
    let shown: Vec<&plan::Diagnostic> = findings.iter().collect();
    diagnostics::print_all(&shown, Texts { sources: &sources, command_line: "" });
    let is_wrong = findings.iter().any(|finding| finding.severity == Severity::Error);
    match suite.filter(|_| !is_wrong) {
        Some(suite) => Ok((suite, text)),
        None => Err(Failure::silent(Exit::WrongUse)),
    }
}

fn load(name: &str) -> Result<String, Failure> {
    let is_path = name.contains('/') || name.contains('.') || Path::new(name).exists();
    if !is_path {
        let names: Vec<&str> = BUILT_IN.iter().map(|(name, _)| *name).collect();
        let failure = Failure::wrong_use(format!("there is no suite `{name}`"));
        let near = units::nearest(name, names.iter().copied());
        return Err(match near.first() {
            Some(near) => failure.hint(format!("did you mean `{near}`?")),
            None => failure.hint("`plimsoll suite list` lists all; or name a file"),
        });
    }
    let bytes = HostLoader.read(name).map_err(|error| {
        Failure::wrong_use(format!("cannot read suite `{name}`: {}", system_text(&error)))
    })?;
    foreign::refuse(name, &bytes, "a suite")?;
    String::from_utf8(bytes).map_err(|_| Failure::wrong_use(format!("suite `{name}` is not text")))
}

/// Runs the command.
pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let text = match &args.action {
        Action::List => list()?,
        Action::Show(args) if args.form.is_some() => return show_as(args),
        Action::Show(args) => show(args)?,
        Action::New(args) => return new(args),
        Action::Begin(args) => return args.run(),
    };
    Exit::Fine.once(stream::print(&text))
}

fn list() -> Result<String, Failure> {
    let mut text = String::new();
    for (name, _) in BUILT_IN {
        let (suite, _) = read(name)?;
        let all = steps(&suite, &Order::default());
        let time = suite.time_words(&all, false);
        text.push_str(&wrap(&format!("{name:<18} {}", suite.title), 19, 80));
        let _ = writeln!(text, "{:<18} {} steps, {time}", "", all.len());
    }
    Ok(text)
}

fn duration(ns: u64) -> String {
    units::format_duration(Duration::from_nanos(ns))
}

fn show(args: &ShowArgs) -> Result<String, Failure> {
    let ChosenSuite { suite, order, text, .. } = choose(&args.suite, &args.changes)?;
    let all = steps(&suite, &order);
    if args.toml {
        return Ok(text);
    }
    if args.fio {
        return Ok(fio(&suite, &all));
    }
    Ok(if args.json { json(&suite, &all) } else { plan_text(&suite, &all) })
}

/// Prints the steps in the words of a tool.
fn show_as(args: &ShowArgs) -> Result<Exit, Failure> {
    let ChosenSuite { suite, order, .. } = choose(&args.suite, &args.changes)?;
    let all = steps(&suite, &order);
    let named = args.form.as_deref().and_then(find_dialect);
    let to = named.ok_or_else(|| Failure::wrong_use("no such language"))?;
    if let Some(layout) = &suite.layout
        && to.name() == Vdbench.name()
    {
        let text = bench::suite::vdbench::parameter_file(layout, &suite.prepare, &all);
        return Exit::Fine.once(stream::print(&text));
    }
    let text = fio(&suite, &all);
    if to.name() == Fio.name() {
        return Exit::Fine.once(stream::print(&text));
    }
    let parsed =
        dialects::fio::parse_text(&suite.name, &text, &LowerOptions::default(), &HostLoader);
    translate::write(ReadPlan::of(parsed), to, None)
}

fn fio(suite: &Suite, all: &[Step]) -> String {
    let size_bytes = match suite.prepare.size {
        Size::Auto { max_bytes } | Size::Bytes(max_bytes) => max_bytes,
    };
    let site = |place: &str| Site {
        place: place.to_owned(),
        file: match place {
            "" => "plimsoll-bench.scratch".to_owned(),
            place => format!("{place}/plimsoll-bench.scratch"),
        },
        export: None,
        size_bytes,
        takes_direct: true,
    };
    let mut sites: Vec<Site> = suite.places.iter().map(|place| site(&place.name)).collect();
    if sites.is_empty() {
        sites.push(site(""));
    }
    jobs::job_file(all, &sites)
}

fn plan_text(suite: &Suite, all: &[Step]) -> String {
    const COLUMNS: usize = 80;
    let mut text = wrap(&format!("{}: {}", suite.name, suite.title), 2, COLUMNS);
    if suite.is_indicative {
        text.push_str("its verdict is called indicative: it is too short for more\n");
    }
    for source in &suite.sources {
        text.push_str(&wrap(&format!("source: {}", source_words(source)), 2, COLUMNS));
    }
    for place in &suite.places {
        text.push_str(&wrap(&format!("place {}: {}", place.name, place.what), 2, COLUMNS));
    }
    text.push('\n');
    for line in prepare_words(suite) {
        text.push_str(&wrap(&line, 2, COLUMNS));
    }
    let asked = need::targets(suite, all);
    for (idx, step) in all.iter().enumerate() {
        let kind = if step.is_preparation { "  prepares" } else { "" };
        let ends = match step.end {
            End::Time => duration(step.time_ns),
            End::Pass => format!("a pass, {} at most", duration(step.time_ns)),
            End::Steady { .. } => format!("until steady, {} at most", duration(step.time_ns)),
        };
        let ramp = match step.ramp_ns {
            0 => String::new(),
            ns => format!("{} + ", duration(ns)),
        };
        let _ = writeln!(text, "{:>4}  {:<30} {ramp}{ends}{kind}", idx + 1, fit(&step.label, 30));
        text.push_str(&wrap(&format!("      {}", step.in_words()), 8, COLUMNS));
        for question in asked.iter().filter(|it| it.label == step.label) {
            let line = format!("      target: {} ({})", question.text, question.source);
            text.push_str(&wrap(&line, 8, COLUMNS));
        }
    }
    if let Some(rounds) = &suite.rounds {
        let line = format!(
            "rounds of all of these, {} at most, until `{}` is steady over {}",
            rounds.n_max, rounds.tracked, rounds.window
        );
        text.push_str(&wrap(&line, 2, COLUMNS));
    }
    if let Some(curve) = &suite.curve {
        let line = format!(
            "{}: {} {}, {}; {} measurements at most of {} + {}",
            curve.name,
            curve.access.as_str(),
            labels::block(curve.block_bytes),
            curve.limits,
            curve.search_options().n_taken_max(),
            duration(curve.time.ramp_ns),
            duration(curve.time.measured_ns),
        );
        text.push_str(&wrap(&line, 2, COLUMNS));
    }
    let _ = writeln!(text, "\n{} steps, {}", all.len(), suite.time_words(all, false));
    let n_published: usize = suite.parts.iter().map(|part| part.published.len()).sum();
    if n_published > 0 {
        let _ = writeln!(text, "{n_published} published figures to compare with");
    }
    text
}

fn prepare_words(suite: &Suite) -> Vec<String> {
    let prepare = &suite.prepare;
    let size = match prepare.size {
        Size::Auto { max_bytes } => {
            format!("as much as fits, up to {}", units::format_bytes(max_bytes))
        }
        Size::Bytes(bytes) => units::format_bytes(bytes),
    };
    let mut lines = vec![format!("works on: {size}")];
    if prepare.purge {
        lines.push("purge: everything is discarded first, where that is safe".to_owned());
    }
    if prepare.n_fills > 0 {
        let block = labels::block(prepare.fill_block_bytes);
        let passes = if prepare.n_fills == 1 { "once" } else { "twice" };
        let passes = match prepare.n_fills {
            1 | 2 => passes.to_owned(),
            n => format!("{n} times"),
        };
        let most = prepare.fill_time_ns.map_or(String::new(), |ns| {
            format!("; ends after {} with what is written by then", duration(ns))
        });
        lines.push(format!("fill: written {passes}, sequentially, {block} at a time{most}"));
    }
    lines
}

/// Returns a source in words.
fn source_words(source: &bench::suite::Source) -> String {
    let mut text = source.document.clone();
    for part in [&source.date, &source.section, &source.url] {
        if !part.is_empty() {
            let _ = write!(text, ", {part}");
        }
    }
    text
}

fn json(suite: &Suite, all: &[Step]) -> String {
    let steps: Vec<serde_json::Value> = all
        .iter()
        .map(|step| {
            let loads: Vec<serde_json::Value> = step.loads.iter().map(load_json).collect();
            serde_json::json!({
                "label": step.label,
                "preparation": step.is_preparation,
                "repeat_idx": step.repeat_idx,
                "ramp_ns": step.ramp_ns,
                "time_ns": step.time_ns,
                "until": match step.end {
                    End::Time => "time",
                    End::Pass => "pass",
                    End::Steady { .. } => "steady",
                },
                "loads": loads,
            })
        })
        .collect();
    let value = serde_json::json!({
        "schema": "plimsoll.suite-plan/1",
        "name": suite.name,
        "title": suite.title,
        "indicative": suite.is_indicative,
        "time_max_ns": suite.time_max_ns(all),
        "steps": steps,
    });
    format!("{value:#}\n")
}

fn load_json(load: &bench::suite::StepLoad) -> serde_json::Value {
    serde_json::json!({
        "place": load.place,
        "rw": load.access.as_str(),
        "bs_bytes": load.block_bytes,
        "read_pct": load.read_pct,
        "iodepth": load.depth,
        "jobs": load.workers,
        "direct": load.is_direct,
        "durable": labels::durable(load.durable),
        "rate_iops": load.rate_iops,
        "size_bytes": load.size_bytes,
        "connections": load.connections,
    })
}

fn new(args: &NewArgs) -> Result<Exit, Failure> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if args.name.is_empty() || !args.name.chars().all(is_plain) {
        let message = format!("`{}` is not a valid name: use letters, digits, - and _", args.name);
        return Err(Failure::wrong_use(message));
    }
    if built_in(&args.name).is_some() {
        let message = format!("`{}` is the name of an existing suite", args.name);
        return Err(Failure::wrong_use(message).hint("choose another name"));
    }
    let (_, text) = read(&args.from)?;
    let mut is_named = false;
    let lines = text.lines().map(|line| {
        let is_name = !is_named && line.starts_with("name = ");
        is_named |= is_name;
        if is_name { format!("name = \"{}\"\n", args.name) } else { format!("{line}\n") }
    });
    let text: String = lines.collect();
    let path = format!("{}.toml", args.name);
    let written = result_file::write_new(Path::new(&path), text.as_bytes());
    written.map_err(|error| not_written(Path::new(&path), &error))?;
    stream::print_message(&format!(
        "{path} begins as `{}`: plimsoll bench DIR --suite {path}\n",
        args.from
    ));
    Ok(Exit::Fine)
}
