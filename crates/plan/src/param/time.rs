//! Names and order of jobs, and when they start and stop.

use units::fio::{self, KbBase, SizeRules};

use super::entry::{Choice, Param, Support, TimeUnit, Value, ValueKind};
use super::error::ValueError;
use super::fields::{
    Above0, BASE, COUNT, COUNT_FROM_1, Codec, NUMBER, Ns, NsRange, Plain, SECONDS, Word, choices,
    field, idle_word, meaning, number, part, unknown_word, word_for, words,
};
use crate::job::ExitAll;
use crate::load::{SteadyMetric, SteadyState};
use crate::{Job, job_field};

pub(super) static GENERAL: &[Param] = &[
    Param {
        name: "name",
        is_load: false,
        fio: &["name"],
        kind: ValueKind::Str,
        short: "name of the job",
        long: "Names the job in results and in generated file names. In a file it replaces the \
               section's name; on the command line it starts a new job.",
        ..BASE
    },
    Param {
        name: "description",
        is_load: false,
        fio: &["description"],
        kind: ValueKind::Str,
        short: "text that is stored with the results",
        long: "Free text for the reader of the results.",
        ..field!(description)
    },
    Param {
        name: "include",
        fio: &["include"],
        kind: ValueKind::Str,
        short: "insert the options of another file",
        long: "Only in a job file: puts the options of another file in this place. The name is \
               relative to the current folder, or else to the file that includes it. The other \
               file must not hold sections.",
        ..BASE
    },
    Param {
        name: "n_workers",
        fio: &["numjobs"],
        diskspd: &["-t", "-F", "ThreadsPerFile", "ThreadCount"],
        kind: COUNT_FROM_1,
        default: "1",
        short: "workers, each a clone of the job",
        long: "Runs this many workers with the same settings. Each has its own generated files, \
               its own stream of random numbers and its own queue; named files are shared. \
               Results are per worker unless `group_reporting` is set. A run takes 65,536 workers \
               over all its jobs at most.",
        ..field!(n_workers)
    },
    Param {
        name: "worker_name",
        is_load: false,
        fio: &["comm"],
        kind: ValueKind::Str,
        short: "name of the process of the job",
        long: "In fio, renames the process, for tools such as top.",
        support: Support::NoEffect("workers are threads named after their job"),
        ..BASE
    },
    Param {
        name: "profile",
        fio: &["profile"],
        kind: ValueKind::Str,
        short: "a built-in test in place of jobs",
        long: "fio carries two fixed tests, act and tiobench, that generate their own jobs.",
        support: Support::Later("write the jobs that the profile stands for"),
        ..BASE
    },
];

pub(super) static PARAMS: &[Param] = &[
    Param {
        name: "runtime",
        is_load: false,
        fio: &["runtime", "timeout"],
        vdbench: "rd.elapsed",
        diskspd: &["-d", "Duration"],
        iometer: &["Run Time"],
        kind: SECONDS,
        default: "0",
        short: "upper limit of the measured time",
        long: "Ends the job after this time even when the amount of I/O is not done; with \
               `time_based` it runs for exactly this time. The ramp comes on top. A bare number \
               counts seconds; 0 is no limit.",
        ..field!(limits.runtime_ns, Ns)
    },
    Param {
        name: "time_based",
        is_load: false,
        fio: &["time_based"],
        kind: ValueKind::Flag,
        short: "start over until the runtime ends",
        long: "Repeats the amount of I/O until `runtime` is over, instead of ending when the \
               amount is done. Without a runtime it does nothing.",
        ..field!(limits.time_based)
    },
    Param {
        name: "loops",
        fio: &["loops"],
        kind: COUNT,
        default: "1",
        short: "passes over the amount of I/O",
        long: "Does the whole job this many times, including its verification; 0 is taken as 1.",
        lower: |job, v| {
            let loops: u32 = v.int()?;
            job.limits.loops = loops.max(1);
            Ok(())
        },
        get: |job| Plain::get(&job.limits.loops),
        field: Some(job_field!(limits.loops)),
        ..BASE
    },
    Param {
        name: "n_ios_max",
        fio: &["number_ios"],
        kind: NUMBER,
        default: "0",
        short: "stop after this many I/Os",
        long: "Ends the job when this many I/Os were issued, if nothing else ends it before. It \
               never makes a job longer. 0 is no limit.",
        ..field!(limits.n_ios_max, Above0)
    },
    Param {
        name: "ramp_time",
        is_load: false,
        fio: &["ramp_time"],
        vdbench: "rd.warmup",
        diskspd: &["-W", "Warmup"],
        iometer: &["Ramp Up Time"],
        kind: SECONDS,
        default: "0",
        short: "runs, not recorded, before the measured time",
        long: "Lets caches, queues and the device settle: I/O runs as later, but nothing counts. \
               It comes on top of `runtime`. A bare number counts seconds.",
        ..field!(limits.ramp_ns, Ns)
    },
    Param {
        name: "ramp_size_bytes",
        is_load: false,
        fio: &["ramp_size"],
        kind: NUMBER,
        default: "0",
        short: "runs, not recorded, until this much is done",
        long: "As `ramp_time`, but ends after an amount of I/O, in bytes. 0 is off.",
        ..field!(limits.ramp_bytes)
    },
    Param {
        name: "start_delay",
        fio: &["startdelay"],
        kind: ValueKind::TimeRange(TimeUnit::Seconds),
        default: "0",
        short: "wait before the start",
        long: "Delays the start of the job. With a range (`5-30`) each worker draws its own \
               delay, so that they do not start in step. A bare number counts seconds.",
        ..field!(limits.start_delay_ns, NsRange)
    },
    Param {
        name: "barrier",
        fio: &["stonewall", "wait_for_previous"],
        kind: ValueKind::Flag,
        short: "wait until all jobs above have ended",
        long: "Starts a new step: this job and those below start when everything above has \
               ended. It also starts a new reporting group.",
        ..BASE
    },
    Param {
        name: "new_group",
        fio: &["new_group"],
        kind: ValueKind::Flag,
        short: "start a new reporting group",
        long: "With `group_reporting`: this job and those below get a result of their own, but \
               start together with those above.",
        ..BASE
    },
    Param {
        name: "wait_for",
        fio: &["wait_for"],
        kind: ValueKind::Str,
        short: "start when the named job has ended",
        long: "Waits for all workers of one earlier job, which must have a unique name, instead \
               of for everything above.",
        ..field!(wait_for)
    },
    Param {
        name: "steady_criterion",
        is_load: false,
        fio: &["steadystate", "ss"],
        kind: ValueKind::Words,
        default: "iops_slope:0.01%",
        short: "when the job counts as steady",
        long: "`iops`, `bw` or `lat` watch the largest deviation from the mean, with `_slope` \
               appended the slope of a regression line. The limit follows a colon, in the \
               metric's unit (bytes per second: `bw:10m`) or in percent of its mean. Takes \
               effect with `steady_window`; the job ends when it is steady.",
        lower: lower_steady,
        get: get_steady,
        field: Some(job_field!(limits.steady)),
        ..BASE
    },
    Param {
        name: "steady_window",
        is_load: false,
        fio: &["steadystate_duration", "ss_dur"],
        kind: SECONDS,
        default: "0",
        short: "window in which the job must be steady",
        long: "Length of the rolling window; 0 switches the criterion off. It must be a multiple \
               of the check interval. A bare number counts seconds.",
        ..part!(limits.steady, steady, window_ns, Ns)
    },
    Param {
        name: "steady_ramp",
        is_load: false,
        fio: &["steadystate_ramp_time", "ss_ramp"],
        kind: SECONDS,
        default: "0",
        short: "wait before the steady state is judged",
        long: "Leaves out the first part of the run, for example the time in which a cache \
               fills. A bare number counts seconds.",
        ..part!(limits.steady, steady, ramp_ns, Ns)
    },
    Param {
        name: "steady_check_interval",
        is_load: false,
        fio: &["steadystate_check_interval", "ss_interval"],
        kind: SECONDS,
        default: "1",
        short: "time between two checks of the steady state",
        long: "Interval of the samples that the criterion is computed from; at least one second, \
               and the same for all jobs of a run. A bare number counts seconds.",
        ..part!(limits.steady, steady, check_interval_ns, Ns)
    },
    Param {
        name: "exit_all",
        fio: &["exitall"],
        kind: ValueKind::Flag,
        short: "the first job that ends also ends the others",
        long: "Ends the jobs that `exit_what` names, as soon as this one has ended.",
        lower: |job, v| {
            if v.bool()? && job.errors.exit_all == ExitAll::Itself {
                job.errors.exit_all = ExitAll::Group;
            }
            Ok(())
        },
        get: |job| Some(Value::Bool(job.errors.exit_all != ExitAll::Itself)),
        field: Some(job_field!(errors.exit_all)),
        ..BASE
    },
    Param {
        name: "exit_what",
        fio: &["exit_what"],
        kind: ValueKind::Enum(const { &choices(&EXIT_WHAT) }),
        default: "group",
        short: "which jobs end with the first one",
        long: "With `exit_all`, and without effect otherwise: the job's reporting group, its \
               step, or everything.",
        lower: |job, v| {
            let reach = meaning(&EXIT_WHAT, v)?;
            if job.errors.exit_all != ExitAll::Itself {
                job.errors.exit_all = reach;
            }
            Ok(())
        },
        get: |job| word_for(&EXIT_WHAT, &job.errors.exit_all),
        field: Some(job_field!(errors.exit_all)),
        ..BASE
    },
    Param {
        name: "clock_source",
        is_load: false,
        fio: &["clocksource"],
        kind: ValueKind::Enum(CLOCKS),
        short: "clock that times are read from",
        long: "In fio, chooses between the time stamp counter and system calls.",
        support: Support::NoEffect(
            "the time stamp counter is used where the kernel trusts it, \
                                     and the record says so",
        ),
        ..BASE
    },
    Param {
        name: "clock_cpu",
        is_load: false,
        fio: &["gtod_cpu"],
        kind: COUNT,
        short: "CPU of a thread that only reads the clock",
        long: "In fio, one thread reads the clock for all workers, which then pay less and \
               measure more coarsely.",
        support: Support::NoEffect(
            "reading the clock is cheap here and each worker reads its \
                                     own",
        ),
        ..BASE
    },
    Param {
        name: "start_clock",
        is_load: false,
        fio: &["job_start_clock_id"],
        kind: COUNT,
        default: "0",
        short: "clock of the start time in the results",
        long: "In fio, chooses the clock for the time stamp of the job's start.",
        support: Support::NoEffect("the start is always given in wall-clock time"),
        ..BASE
    },
];

const EXIT_WHAT: [Word<ExitAll>; 3] = words!(ExitAll {
    Group => ("group", &[], "jobs of the same reporting group"),
    Step => ("stonewall", &[], "jobs of the same step"),
    All => ("all", &[], "all jobs"),
    ; Itself
});

const CLOCKS: &[Choice] = &[
    idle_word("gettimeofday", "system call, microseconds"),
    idle_word("clock_gettime", "system call, nanoseconds"),
    idle_word("cpu", "time stamp counter"),
];

/// Returns the word for what must be steady: a metric, or the slope of a regression line through
/// it.
fn criterion(metric: SteadyMetric, by_slope: bool) -> &'static str {
    let [level, slope] = match metric {
        SteadyMetric::Iops => ["iops", "iops_slope"],
        SteadyMetric::Bandwidth => ["bw", "bw_slope"],
        SteadyMetric::Latency => ["lat", "lat_slope"],
    };
    if by_slope { slope } else { level }
}

/// Returns what may have to be steady, each with its word.
fn criteria() -> impl Iterator<Item = (&'static str, SteadyMetric, bool)> {
    let metrics: [SteadyMetric; 3] = units::all_of!(SteadyMetric: Iops, Bandwidth, Latency);
    let both =
        |metric| [false, true].map(|by_slope| (criterion(metric, by_slope), metric, by_slope));
    metrics.into_iter().flat_map(both)
}

fn get_steady(job: &Job) -> Option<Value> {
    let steady = job.limits.steady?;
    let word = criterion(steady.metric, steady.by_slope);
    let unit = if steady.limit_is_pct { "%" } else { "" };
    Some(Value::of_word(word, Some(format!("{}{unit}", steady.limit))))
}

fn lower_steady(job: &mut Job, value: &Value) -> Result<(), ValueError> {
    let (word, limit) = value.one_word()?;
    let known = criteria().find(|(name, ..)| *name == word);
    let unknown = || unknown_word(word, criteria().map(|(name, ..)| name));
    let (_, metric, by_slope) = known.ok_or_else(unknown)?;
    let limit = limit.ok_or(ValueError::Lacks { part: "its limit", example: "iops:5%" })?;
    let (digits, limit_is_pct) = match limit.strip_suffix('%') {
        Some(digits) => (digits, true),
        None => (limit, false),
    };
    let limit: f64 = match (number(digits), metric) {
        // Bytes per second, as a size is written.
        (Err(unread), SteadyMetric::Bandwidth) if !limit_is_pct => {
            let kb_base = match job.reporting.kb_base {
                1000 => KbBase::K1000,
                _ => KbBase::K1024,
            };
            let size = fio::parse_size(digits.trim(), SizeRules { kb_base });
            size.map_err(|_| unread)?.value as f64
        }
        (limit, _) => limit?,
    };
    if !limit.is_finite() || limit < 0.0 {
        return Err(ValueError::unfit(&limit, "the limit", "0 or more"));
    }
    let steady = steady(job);
    *steady = SteadyState { metric, by_slope, limit, limit_is_pct, ..*steady };
    Ok(())
}

/// Returns the job's criterion, made if there was none; `finish` removes it without a window.
fn steady(job: &mut Job) -> &mut SteadyState {
    job.limits.steady.get_or_insert(SteadyState {
        metric: SteadyMetric::Iops,
        by_slope: true,
        limit: 0.01,
        limit_is_pct: true,
        window_ns: 0,
        ramp_ns: 0,
        check_interval_ns: 1_000_000_000,
    })
}
