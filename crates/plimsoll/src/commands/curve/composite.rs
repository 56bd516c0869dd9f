//! The curve of a composite workload: point after point with more units of load.

use std::path::Path;
use std::time::Duration;

use analysis::Limits;
use bench::UnitsSweep;
use bench::composite::{POINTS_MAX, loads};
use clap::{Args as _, Command, Id};
use dialects::ReadPlan;
use plan::Plan;
use plan::tree::Activity;
use record::Outcome;
use runner::{Emulation, RunOptions};

use super::{SweepArgs, limits};
use crate::commands::execute::{self, ResultArgs, SafetyArgs, Session};
use crate::commands::input::{self, InputArgs};
use crate::commands::on::OnArgs;
use crate::commands::subject::{Changes, SubjectArgs};
use crate::exit::{Exit, Failure};
use crate::loader::ReadOnce;
use crate::sink::Sink;
use crate::summary;

/// Composite workloads that come with the program, by name.
const BUILT_IN: [(&str, &str); 1] =
    [("eda", include_str!("../../../../../docs/workloads/eda.toml"))];

/// Points unless given.
const STEPS: u32 = 10;

/// Arguments of the sweep and the subject that composite workloads have as well.
const OF_UNITS: [&str; 6] = ["target", "remap", "set", "limit", "time", "ramp"];

/// Returns the arguments that are not for composite workloads: all others of the sweep and the
/// subject, and other hosts.
fn not_of_units() -> Vec<Id> {
    let command = SweepArgs::augment_args(SubjectArgs::augment_args(Command::new("curve")));
    let all = command.get_arguments().map(|arg| arg.get_id().clone());
    let others = all.filter(|id| !OF_UNITS.contains(&id.as_str()));
    others.chain([Id::from("hosts")]).collect()
}

/// How many units of load.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Units of load of a composite workload")]
pub(super) struct UnitsArgs {
    /// Measure a composite workload (`[unit]` of a plan, or `eda`) with up to N units, in so many
    /// points as `--steps` says.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=LOAD_MAX))]
    #[arg(conflicts_with_all = not_of_units())]
    pub(super) load_max: Option<u32>,

    /// Units of the first point; `--load-max` divided by the points unless given.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=LOAD_MAX))]
    #[arg(requires = "load_max")]
    pub(super) load_from: Option<u32>,

    /// Points at equal distances, as far as whole units allow; 10 unless given.
    #[arg(long, value_name = "N", requires = "load_max")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=i64::from(POINTS_MAX)))]
    pub(super) steps: Option<u32>,

    /// Folder for the units' folder, in place of the one that the file names.
    #[arg(long, value_name = "DIR", requires = "load_max")]
    pub(super) at: Option<String>,
}

/// Most units of load.
const LOAD_MAX: i64 = 9999;

/// `plimsoll suite begin`: the same under the words of the field.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = BEGIN_EXAMPLES)]
pub(in crate::commands) struct BeginArgs {
    /// The workload: `eda`, or a plan with `[unit]`.
    workload: String,

    /// Folder for the units' folder, in place of the one that the file names.
    #[arg(long, value_name = "DIR")]
    at: Option<String>,

    /// Units of the first point; `--to` divided by the points unless given.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=LOAD_MAX))]
    from: Option<u32>,

    /// Units of the last point.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=LOAD_MAX))]
    to: u32,

    /// Points at equal distances, as far as whole units allow.
    #[arg(long, value_name = "N", default_value_t = STEPS)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=i64::from(POINTS_MAX)))]
    steps: u32,

    /// Time measured per point, in place of the file's.
    #[arg(long, value_name = "TIME", value_parser = units::parse_duration)]
    time: Option<Duration>,

    /// Time before it that is not measured, in place of the file's.
    #[arg(long, value_name = "TIME", value_parser = units::parse_duration)]
    ramp: Option<Duration>,

    /// Further limits that a point must keep, such as 'mean < 2ms'.
    #[arg(long, value_name = "LIMIT", value_parser = limits)]
    limit: Option<Limits>,

    #[command(flatten)]
    on: OnArgs,
    #[command(flatten)]
    result: ResultArgs,
    #[command(flatten)]
    safety: SafetyArgs,
}

const BEGIN_EXAMPLES: &str = "\
Examples:
  plimsoll suite begin eda --at /mnt/vol --from 10 --to 100 --steps 10
  plimsoll suite begin eda --to 20 --on pool.toml --virtual
  plimsoll suite begin mine.toml --to 50 --limit 'mean < 2ms'

The same as `plimsoll curve eda --at /mnt/vol --load-from 10 --load-max 100
--steps 10`.";

impl BeginArgs {
    /// Runs the command.
    pub(in crate::commands) fn run(&self) -> Result<Exit, Failure> {
        measure(&Task {
            workload: &self.workload,
            at: self.at.as_deref(),
            loads: loads_of(self.from, self.to, self.steps)?,
            time: self.time,
            ramp: self.ramp,
            limits: self.limit.clone().unwrap_or_default(),
            changes: (&[], &[]),
            on: &self.on,
            result: &self.result,
            safety: self.safety,
        })
    }
}

/// What is measured.
pub(super) struct Task<'a> {
    pub(super) workload: &'a str,
    /// Folder for the units' folder.
    pub(super) at: Option<&'a str>,
    /// Units of the points.
    pub(super) loads: Vec<u32>,
    pub(super) time: Option<Duration>,
    pub(super) ramp: Option<Duration>,
    /// What a point must keep besides its rates.
    pub(super) limits: Limits,
    pub(super) changes: Changes<'a>,
    pub(super) on: &'a OnArgs,
    pub(super) result: &'a ResultArgs,
    pub(super) safety: SafetyArgs,
}

/// Returns the units of the points.
pub(super) fn loads_of(from: Option<u32>, max: u32, steps: u32) -> Result<Vec<u32>, Failure> {
    let from = from.unwrap_or_else(|| (max / steps).max(1));
    let loads = loads(from, max, steps);
    if loads.is_empty() {
        let text = format!("the curve would begin with {from} units and end with {max}");
        return Err(Failure::wrong_use(text).hint("begin with fewer"));
    }
    Ok(loads)
}

/// Returns the units of the points of these arguments; `None` where none are asked for.
pub(super) fn asked(args: &UnitsArgs) -> Result<Option<Vec<u32>>, Failure> {
    let Some(max) = args.load_max else { return Ok(None) };
    loads_of(args.load_from, max, args.steps.unwrap_or(STEPS)).map(Some)
}

/// Refuses a composite workload where its units are not given, and what is measured otherwise.
pub(super) fn refuse(plan: &Plan, target: &str) -> Result<(), Failure> {
    if anchor(plan).is_some() { Err(needs_units(target)) } else { Ok(()) }
}

/// Returns that a composite workload needs a number of units.
pub(super) fn needs_units(target: &str) -> Failure {
    let text = format!("`{target}` is a composite workload, whose load is a number of units");
    Failure::wrong_use(text).hint("say up to how many: --load-max 10")
}

/// Returns the text of a workload that comes with the program. A file of its name stands before it.
pub(super) fn built_in(name: &str) -> Option<&'static str> {
    let found = BUILT_IN.iter().find(|(known, _)| *known == name);
    found.filter(|_| !Path::new(name).exists()).map(|(_, text)| *text)
}

/// Returns the folder that holds the units; `None` of other workloads.
fn anchor(plan: &Plan) -> Option<&str> {
    let trees = plan.jobs().filter_map(|job| job.tree.as_ref());
    let mut measured = trees.filter(|work| matches!(work.activity, Activity::Operations(_)));
    measured.find(|work| work.tree.own.is_some()).map(|work| &*work.tree.anchor)
}

impl Task<'_> {
    /// Returns the name of the file, and where it is read.
    fn file(&self) -> (String, ReadOnce) {
        match built_in(self.workload) {
            Some(text) => {
                let name = format!("{}.toml", self.workload);
                let read = ReadOnce::default().with_file(&name, text.as_bytes().to_vec());
                (name, read)
            }
            None => (self.workload.to_owned(), ReadOnce::default()),
        }
    }

    /// Reads the workload with this many units. `moved` says which folder takes the place of which.
    fn plan(&self, n_units: u32, moved: Option<(String, String)>) -> Result<Plan, Failure> {
        let (name, read) = self.file();
        let (remap, set) = self.changes;
        let micros = |time: Duration| format!("{}us", time.as_micros());
        let times = [("runtime", self.time), ("ramp_time", self.ramp)];
        let times = times
            .into_iter()
            .filter_map(|(key, time)| time.map(|time| (key.to_owned(), micros(time))));
        let input = InputArgs {
            files: vec![name],
            remap: remap.iter().cloned().chain(moved).collect(),
            set: set.iter().cloned().chain(times).collect(),
            load: Some(n_units),
            ..InputArgs::default()
        };
        let ReadPlan { mut parsed, .. } = input.parse_read(&read, true);
        if self.on.is_given() {
            input::leave_out(&mut parsed, &input::ABOUT_FOLDERS);
        }
        input::print_findings(&parsed)?;
        Ok(parsed.plan)
    }

    /// Returns the folder of the units in the file, and the one to take in its place.
    fn moved(&self, emulation: Option<&Emulation>) -> Result<Option<(String, String)>, Failure> {
        let plan = self.plan(self.loads[0], None)?;
        let Some(anchor) = anchor(&plan) else {
            let text = format!("`{}` is no composite workload", self.workload);
            return Err(Failure::wrong_use(text).hint("`[unit]` of a plan defines one"));
        };
        let volumes = emulation.map_or(&[][..], |emulation| &emulation.design.volumes);
        let is_on_one = volumes.iter().any(|it| Path::new(anchor).starts_with(&it.mount));
        let at = match (self.at, volumes) {
            (Some(at), _) => at,
            // The only volume there is.
            (None, [only]) if !is_on_one => &only.mount,
            (None, _) => return Ok(None),
        };
        let folder = Path::new(anchor).file_name().unwrap_or("units".as_ref());
        let there = Path::new(at).join(folder).to_string_lossy().into_owned();
        Ok(Some((anchor.to_owned(), there)))
    }
}

/// Measures the curve, and prints it.
pub(super) fn measure(task: &Task<'_>) -> Result<Exit, Failure> {
    if task.time.is_some_and(|time| time.is_zero()) {
        return Err(Failure::wrong_use("`--time 0s` measures nothing"));
    }
    let emulation = task.on.emulation_of_many()?;
    let moved = task.moved(emulation.as_ref())?;
    let options = execute::options(emulation, task.result, task.safety);
    // What keeps the largest load from running is known before an hour was spent on the others.
    let largest = task.plan(task.loads.last().copied().unwrap_or(1), moved.clone())?;
    execute::check_plan(&largest, &options)?;
    let mut sink =
        Sink::open_beside(task.result.output.as_deref(), &largest, task.safety.readonly)?;
    let (first, last) = (task.loads[0], task.loads[task.loads.len() - 1]);
    let about = format!("{}: {first} to {last} units", task.workload);
    let mut session = Session::begin_series(&largest, &options, task.result, &about)?;
    let mut sweep = UnitsSweep::new(task.loads.clone(), task.limits.clone());
    points(task, &mut sweep, &mut session, &options, moved.as_ref())?;
    let Some(mut record) = sweep.record() else {
        return Err(Failure::wrong_use("nothing was measured").with(Exit::RunFailed));
    };
    if session.is_stopped() && record.outcome == Outcome::Complete {
        record.outcome = Outcome::Interrupted;
    }
    let is_kept = session.finish(&record);
    Ok(execute::print(&record, task.result, &mut sink)?.if_kept(is_kept))
}

/// Measures point after point.
fn points(
    task: &Task<'_>,
    sweep: &mut UnitsSweep,
    session: &mut Session,
    options: &RunOptions,
    moved: Option<&(String, String)>,
) -> Result<(), Failure> {
    while let Some(n_units) = sweep.next_load() {
        let plan = task.plan(n_units, moved.cloned())?;
        let record = match session.measure(&plan, options) {
            Ok(record) => record,
            Err(error) if sweep.n_measured() == 0 => return Err(error),
            // What was measured is not lost with it.
            Err(_) => {
                sweep.abandon("a run was refused");
                break;
            }
        };
        let outcome = record.outcome;
        let Some(point) = sweep.take(record) else { break };
        session.print_progress(&summary::units_line(&point));
        if session.is_due()
            && let Some(record) = sweep.record()
        {
            session.keep(&record);
        }
        if outcome != Outcome::Complete || session.is_stopped() {
            break;
        }
    }
    Ok(())
}
