//! `plimsoll curve`: the response-time curve of a volume and its load line.

pub(super) mod composite;

use std::ops::RangeInclusive;
use std::time::Duration;

use analysis::search::{PointOrder, SearchOptions};
use analysis::{LatencyFigure, Limit, Limits};
use bench::lever::Time;
use bench::workers::Workers;
use bench::{Advice, Lever, Sweep, SweepOptions};
use clap::ValueEnum;
use plan::Plan;
use plan::load::Arrivals;
use record::Outcome;
use runner::{Emulation, RunOptions};

use self::composite::{Task, UnitsArgs};
use super::dial_in::{DialInArgs, Source};
use super::execute::{self, ResultArgs, SafetyArgs, Session};
use super::hosts::HostsArgs;
use super::hosts_load::{HostsLoad, refuse_fewer};
use super::on::OnArgs;
use super::subject::{RunsOn, Subject, SubjectArgs};
use crate::exit::{Exit, Failure};
use crate::sink::Sink;
use crate::summary;

/// Find the load line: the most I/O a volume carries before latency breaks a limit
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    #[command(flatten)]
    subject: SubjectArgs,
    #[command(flatten)]
    sweep: SweepArgs,
    #[command(flatten)]
    units: UnitsArgs,
    #[command(flatten)]
    on: OnArgs,
    #[command(flatten)]
    hosts: HostsArgs,
    #[command(flatten)]
    dial_in: DialInArgs,
    #[command(flatten)]
    result: ResultArgs,
    #[command(flatten)]
    safety: SafetyArgs,
}

const EXAMPLES: &str = "\
Examples:
  plimsoll curve /mnt/volume --limit 'p99 < 2ms'
  plimsoll curve /mnt/volume --rw randrw --read-pct 70 --bs 4k --size 16g
  plimsoll curve /dev/nvme1n1 --closed --depth-max 256 --target-iops 20000
  plimsoll curve job.fio --on ds14.toml --virtual --limit 'p99.9 < 20ms'
  plimsoll curve --on p30.toml --virtual --arrivals fixed
  plimsoll curve eda --at /mnt/vol --load-from 10 --load-max 100 --steps 10
  plimsoll curve /mnt/vol --hosts vm[1-8] --limit 'p99 < 2ms'

An open load offers a rate whatever completes, and counts latency from when
each I/O was due: a stall shows in full. A closed one (--closed) keeps so many
I/Os in flight. A limit is a figure, `<` and a time: p50, p99, p99.9, median,
mean, max; or `achieved > 95%` of the offered rate. Several are joined by
`and`.

A composite workload (`[unit]` of a plan, or `eda`) is measured with more and
more units of load. A point is carried where all achieve 95 % of their rate and
each process 75 %, and a limit is one more condition.

With --hosts, or --agents that dial in, hosts drive the volume together, each
with its part of the rate, and have the folder in common. --closed counts per
worker and host. A point in which a host is late, disturbed or lost counts for
nothing and is measured again; a host that is lost is called again.";

/// How the load is turned up.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "The sweep")]
struct SweepArgs {
    /// The limits that a load must keep to count as carried; `p99 < 10ms` unless given, and of a
    /// composite workload none.
    #[arg(long, value_name = "LIMIT", value_parser = limits)]
    limit: Option<Limits>,

    /// Raise the I/Os in flight instead of the rate, starting with one per worker.
    #[arg(long)]
    closed: bool,

    /// How the I/Os of an open load are spaced.
    #[arg(long, value_enum, default_value = "poisson", conflicts_with = "closed")]
    arrivals: Spacing,

    /// Most I/Os in flight per worker under an open load; those due beyond it wait, and the wait
    /// counts.
    #[arg(long, value_name = "N", default_value_t = 256, conflicts_with = "closed")]
    #[arg(value_parser = clap::value_parser!(u32).range(IN_FLIGHT))]
    in_flight: u32,

    /// Most I/Os in flight per worker in a closed sweep.
    #[arg(long, value_name = "N", default_value_t = 256, requires = "closed")]
    #[arg(value_parser = clap::value_parser!(u32).range(IN_FLIGHT))]
    depth_max: u32,

    /// Print how many I/Os in flight this rate takes at the best latency: rate x latency.
    #[arg(long, value_name = "IOPS", requires = "closed", value_parser = rate)]
    target_iops: Option<u64>,

    /// First rate to try, I/Os per second; 1000 unless given, or `--rate-max` where that is less.
    #[arg(long, value_name = "IOPS", conflicts_with = "closed", value_parser = rate)]
    start: Option<u64>,

    /// Try no rate above this.
    #[arg(long, value_name = "IOPS", conflicts_with = "closed", value_parser = rate)]
    rate_max: Option<u64>,

    /// Time measured per point; 5s unless given, and 2m in virtual time; of a composite workload
    /// what its file says.
    #[arg(long, value_name = "TIME", value_parser = units::parse_duration)]
    time: Option<Duration>,

    /// Time before it that is not measured; 1s unless given, of a composite workload what its file
    /// says.
    #[arg(long, value_name = "TIME", value_parser = units::parse_duration)]
    ramp: Option<Duration>,

    /// Points of the curve up to the line.
    #[arg(long, value_name = "N", default_value_t = 10)]
    #[arg(value_parser = clap::value_parser!(u32).range(0..=1000))]
    points: u32,

    /// Measurements of each end of the line, at least.
    #[arg(long, value_name = "N", default_value_t = 3)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=100))]
    repeat: u32,

    /// How near to each other the ends must be, percent of the load.
    #[arg(long, value_name = "PERCENT", default_value_t = 1.0, value_parser = tolerance)]
    tolerance: f64,

    /// Order of the curve's points; it matters where something heats up or fills.
    #[arg(long, value_enum, default_value = "ascending")]
    order: Order,

    /// Most measurements to find the line; those of the curve and its controls are extra.
    #[arg(long, value_name = "N", default_value_t = 60)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=10_000))]
    probes_max: u32,
}

/// Spacing of intended starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Spacing {
    /// Evenly: the gentlest load at this rate.
    Fixed,
    /// At random, as many independent users do.
    Poisson,
}

/// Order of the curve's points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Order {
    /// From the lowest load up.
    Ascending,
    /// From the line down.
    Descending,
    /// Mixed, in the same order each time.
    Shuffled,
}

/// I/Os in flight per worker.
const IN_FLIGHT: RangeInclusive<i64> = 1..=bench::lever::IN_FLIGHT_MAX as i64;

/// Seed of a shuffled order.
const ORDER_SEED: u64 = 1;

fn limits(text: &str) -> Result<Limits, String> {
    text.parse::<Limits>().map_err(|errors| {
        let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
        errors.join("; ")
    })
}

/// The limit of p99 unless one is given.
const USUAL_NS: u64 = 10_000_000;

/// Time before a point that is not measured, unless given.
const RAMP: Duration = Duration::from_secs(1);

/// First rate of a search.
const START_IOPS: u64 = 1000;

/// Largest rate of a search.
const RATE_MAX_IOPS: u64 = 1_000_000_000;

fn rate(text: &str) -> Result<u64, String> {
    match units::parse_count(text).map_err(|error| error.to_string())? {
        rate @ 1..=RATE_MAX_IOPS => Ok(rate),
        _ => Err(format!("expected 1 to {RATE_MAX_IOPS} I/Os per second")),
    }
}

fn tolerance(text: &str) -> Result<f64, String> {
    let text = text.trim().trim_end_matches('%');
    let percent: f64 = text.parse().map_err(|_| "expected percent, such as 1".to_owned())?;
    if (0.01..=50.0).contains(&percent) {
        return Ok(percent);
    }
    Err("expected 0.01 to 50 percent".to_owned())
}

impl SweepArgs {
    fn options(&self, plan: &Plan, is_virtual: bool, workers: Workers) -> SweepOptions {
        let (lever, search) = if self.closed {
            (Lever::closed(plan), SearchOptions::depth(self.depth_max))
        } else {
            let arrivals = match self.arrivals {
                Spacing::Fixed => Arrivals::Linear,
                Spacing::Poisson => Arrivals::Poisson,
            };
            let rate_max = self.rate_max.unwrap_or(RATE_MAX_IOPS);
            let start = self.start.unwrap_or(START_IOPS.min(rate_max));
            let search =
                SearchOptions { max: rate_max as f64, ..SearchOptions::rate(start as f64) };
            (Lever::Rate { arrivals, in_flight_max: self.in_flight }, search)
        };
        let search = SearchOptions {
            tolerance: self.tolerance / 100.0,
            n_repeats: self.repeat,
            n_curve_points: self.points,
            n_probes_max: self.probes_max,
            order: match self.order {
                Order::Ascending => PointOrder::Ascending,
                Order::Descending => PointOrder::Descending,
                Order::Shuffled => PointOrder::Shuffled { seed: ORDER_SEED },
            },
            ..search
        };
        let usual = Duration::from_secs(if is_virtual { 120 } else { 5 });
        let time = Time {
            measured_ns: units::nanoseconds(self.time.unwrap_or(usual)).max(1),
            ramp_ns: units::nanoseconds(self.ramp.unwrap_or(RAMP)),
        };
        SweepOptions { lever, limits: self.limits(), search, time, workers, advice: Advice::CURVE }
    }

    /// Returns the limits of a load of which one is turned up.
    fn limits(&self) -> Limits {
        let usual = Limit::Latency { figure: LatencyFigure::Percentile(99.0), ns_max: USUAL_NS };
        self.limit.clone().unwrap_or_else(|| Limits { all: vec![usual] })
    }
}

/// Runs the command.
pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    check(&args.sweep)?;
    if let Some(loads) = composite::asked(&args.units)? {
        return of_units(args, loads);
    }
    let emulation = args.on.emulation_of_many()?;
    let is_virtual = emulation.as_ref().is_some_and(Emulation::is_virtual);
    let runs_on = runs_on(args, emulation.as_ref());
    if let Some(name) = args.subject.named().filter(|name| composite::built_in(name).is_some()) {
        return Err(composite::needs_units(name));
    }
    let subject = Subject::new(&args.subject, runs_on, args.safety.readonly)?;
    composite::refuse(subject.plan(), args.subject.named().unwrap_or_default())?;
    let (output, is_read_only) = (args.result.output.as_deref(), args.safety.readonly);
    let mut sink = Sink::open_beside(output, subject.plan(), is_read_only)?;
    let options = execute::options(emulation, &args.result, args.safety);
    let source = args.dial_in.source(&args.hosts, &options)?;
    if source.is_some() {
        refuse_fewer(&args.hosts)?;
    }
    let launcher = source.map(Source::open).transpose()?;
    let hosts = launcher.as_ref().map(|it| HostsLoad::new(&args.hosts, it, &options));
    let mut hosts = hosts.transpose()?;
    let sweep_options = args.sweep.options(subject.plan(), is_virtual, args.subject.issuers());
    let mut sweep = Sweep::new(subject.plan().clone(), sweep_options)
        .map_err(|error| Failure::wrong_use(error.to_string()))?;
    let how = if args.sweep.closed { "closed, " } else { "" };
    let about = format!("{}, {how}{}", subject.about(), args.sweep.limits());
    let mut session = Session::begin_series(subject.plan(), &options, &args.result, &about)?;
    session.print_progress(&format!("the load line for {}\n", sweep.limits()));
    let ended = search(&mut sweep, &mut session, hosts.as_mut(), &options);
    if let (Some(hosts), Some(removal)) = (&mut hosts, subject.removal())
        && sweep.n_measured() > 0
    {
        hosts.remove(&removal);
    }
    drop(hosts);
    ended?;
    let Some(mut record) = sweep.finish() else {
        return Err(Failure::wrong_use("nothing was measured").with(Exit::RunFailed));
    };
    if session.is_stopped() && record.outcome == Outcome::Complete {
        record.outcome = Outcome::Interrupted;
    }
    if let Some(target_iops) = args.sweep.target_iops
        && let Some(curve) = &mut record.curve
    {
        bench::outcome::add_target(curve, target_iops as f64);
    }
    let is_kept = session.finish(&record);
    Ok(execute::print(&record, &args.result, &mut sink)?.if_kept(is_kept))
}

/// Measures a composite workload with these numbers of units.
fn of_units(args: &Args, loads: Vec<u32>) -> Result<Exit, Failure> {
    let Some(workload) = args.subject.named() else {
        let text = "`--load-max` counts the units of a composite workload, and none is named";
        return Err(Failure::wrong_use(text).hint("name a plan with `[unit]`, or `eda`"));
    };
    if args.hosts.hosts.is_some() || args.dial_in.is_given() {
        let text = "units of load are turned up on this host only";
        return Err(Failure::wrong_use(text).hint("`plimsoll run` takes a load on several hosts"));
    }
    composite::measure(&Task {
        workload,
        at: args.units.at.as_deref(),
        loads,
        time: args.sweep.time,
        ramp: args.sweep.ramp,
        limits: args.sweep.limit.clone().unwrap_or_default(),
        changes: args.subject.changes(),
        on: &args.on,
        result: &args.result,
        safety: args.safety,
    })
}

/// Reports what the arguments of a sweep contradict each other in.
fn check(args: &SweepArgs) -> Result<(), Failure> {
    if args.time.is_some_and(|time| time.is_zero()) {
        return Err(Failure::wrong_use("`--time 0s` measures nothing"));
    }
    if let (Some(start), Some(rate_max)) = (args.start, args.rate_max)
        && start > rate_max
    {
        let message = format!("`--start {start}` is above `--rate-max {rate_max}`");
        return Err(Failure::wrong_use(message));
    }
    Ok(())
}

/// Measures point after point, until the search has its answer or nothing more can be measured.
fn search(
    sweep: &mut Sweep,
    session: &mut Session,
    mut hosts: Option<&mut HostsLoad<'_>>,
    options: &RunOptions,
) -> Result<(), Failure> {
    while let Some(next) = sweep.next_point() {
        let measured = match &mut hosts {
            Some(hosts) => hosts.measure(session, &next.plan),
            None => Ok(session.measure(&next.plan, options)?),
        };
        let record = match measured {
            Ok(record) => record,
            Err(error) if next.idx == 0 => return Err(error.failure()),
            // What was measured is not lost with it.
            Err(error) => {
                if !session.is_stopped() {
                    sweep.abandon(error.words());
                }
                break;
            }
        };
        let outcome = record.outcome;
        let Some(point) = sweep.take(record) else { break };
        session.print_progress(&summary::point_line(&point));
        if session.is_due()
            && let Some(record) = sweep.record()
        {
            session.keep(&record);
        }
        // A point without a host counts for nothing; the next one is with all again.
        if !matches!(outcome, Outcome::Complete | Outcome::Partial) || session.is_stopped() {
            break;
        }
    }
    Ok(())
}

/// Returns what carries the load, or where it comes from.
fn runs_on<'a>(args: &Args, emulation: Option<&'a Emulation>) -> RunsOn<'a> {
    match emulation {
        Some(emulation) => RunsOn::Emulated(emulation),
        None if args.hosts.hosts.is_some() || args.dial_in.is_given() => RunsOn::Hosts,
        None => RunsOn::ThisHost,
    }
}
