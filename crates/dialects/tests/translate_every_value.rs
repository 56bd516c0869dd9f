//! Every parameter there is, with one value after the other, in other words: it comes back, or a
//! loss says that it does not.

#[path = "../../plan/tests/samples/mod.rs"]
mod samples;
mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU32, Ordering};

use dialects::vdbench::lower::{Context, step};
use dialects::vdbench::{self, Options};
use dialects::{LowerOptions, Translation, fio, native};
use plan::load::Rate;
use plan::param::{self, Param, Setting, Support, Value, ValueKind};
use plan::{EngineKind, Job, Plan, Step};
use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestRunner};
use samples::samples;
use support::{MapHost, all_shown};

/// Parameters that come back in other words: the same job, said otherwise. What they make of it is
/// compared in `translate_properties`, and in `vdbench_translate` by the words.
const REWORDED: &[&str] = &[
    "access",
    "arrivals",
    "block_align_bytes",
    "block_size_bytes",
    "block_size_range",
    "block_size_split",
    "block_size_step_bytes",
    "block_size_weights",
    "compress_pct",
    "compress_ratio",
    "description",
    "directories",
    "distribution",
    "even_gaps",
    "exec_after",
    "exec_before",
    "exponential_mean",
    "file_names",
    "file_size_bytes",
    "n_files",
    "n_streams",
    "n_workers",
    "offset",
    "power_exponent",
    "queue_depth",
    "random_pct",
    "random_share_pct",
    "rate",
    "rate_iops",
    "rate_total_iops",
    "read_pct",
    "read_share_pct",
    "seed_repeats",
    "size",
];

/// Parameters with values that Vdbench refuses: more streams than threads, and sizes and places
/// that are no whole sectors.
const REFUSED: &[&str] = &[
    "n_streams",
    "block_align_bytes",
    "block_size_bytes",
    "block_size_step_bytes",
    "block_size_weights",
];

/// A job that both languages can say without a loss.
fn base(access: &str) -> Job {
    let text = format!(
        "[j]\nfilename=/mnt/a/f\nsize=64m\nbs=8k\nrw={access}\nnorandommap\ndirect=1\n\
         ioengine=io_uring\niodepth=4\ntime_based\nruntime=5\n"
    );
    let read = fio::parse_text("t", &text, &LowerOptions::default(), &MapHost::default());
    assert!(!read.has_errors(), "{}", all_shown(&read.diagnostics));
    let mut job = read.plan.jobs().next().expect("one").clone();
    job.options.clear();
    job
}

fn plan_of(job: &Job) -> Plan {
    Plan { steps: vec![Step { jobs: vec![job.clone()], ..Step::default() }], ..Plan::default() }
}

/// Values by the names of their parameters.
fn settings(job: &Job) -> BTreeMap<&'static str, Setting> {
    param::settings(job).into_iter().map(|it| (it.param.name, it)).collect()
}

/// Reads a parameter file back, each job with the workload of its one part.
fn read_vdbench(text: &str) -> Vec<Job> {
    let host = MapHost::default();
    let parsed = vdbench::parse_text("t", text, &Options::default(), &host);
    assert!(!parsed.has_errors(), "{text}\n{}", all_shown(&parsed.diagnostics));
    let context = Context { curve_step_idx: None, first_group_id: 0, loader: &host, sources: &[] };
    let steps = parsed.runs.iter().map(|run| step(run, context, &mut Vec::new()));
    let alone = |mut job: Job| {
        if let Some(part) = job.parts.pop() {
            job.workload = part.workload;
        }
        job
    };
    steps.flat_map(|step| step.jobs).map(alone).collect()
}

/// Reads a plan of our own back; `None` where its values do not go together.
fn read_native(text: &str) -> Option<Job> {
    let read = native::parse_text("t", text, &LowerOptions::default(), &MapHost::default());
    let mut job = read.plan.jobs().next().filter(|_| !read.has_errors())?.clone();
    job.options.clear();
    Some(job)
}

/// Returns the parameters whose values neither came back, or came where there was none, nor are
/// among the lost.
fn silent(was: &Job, back: Option<&Job>, lost: &BTreeSet<&'static str>) -> Vec<&'static str> {
    let was = settings(was);
    let is = back.map(settings).unwrap_or_default();
    let value = |it: Option<&Setting>| it.map(|it| it.value.clone());
    let differs = |name: &&&'static str| value(was.get(*name)) != value(is.get(*name));
    let names: BTreeSet<&'static str> = was.keys().chain(is.keys()).copied().collect();
    names.iter().filter(differs).copied().filter(|name| !lost.contains(name)).collect()
}

/// Lowers values into a job, but for those that it does not take or that change nothing. Returns
/// the names of those that it takes, too.
fn with(access: &str, values: &[(&'static Param, Value)]) -> (Job, Vec<&'static str>) {
    let mut job = base(access);
    let mut set = Vec::new();
    for (param, value) in values {
        let mut changed = job.clone();
        if (param.lower)(&mut changed, value).is_ok() && changed != job {
            job = changed;
            set.push(param.name);
        }
    }
    param::finish(&mut job);
    (job, set)
}

/// Returns whether the values make a job, which then has been checked.
fn check(access: &str, values: &[(&'static Param, Value)]) -> bool {
    let (job, set) = with(access, values);
    let Some(job) = check_native(&job, &set).filter(|_| !set.is_empty()) else { return false };
    check_vdbench(&job, &set);
    check_fio(&job, &set);
    true
}

/// What a reader of plans makes of values that follow from others.
const FOLLOWING: &[&str] = &["complete_max", "time_based"];

/// A plan of our own holds everything. Returns what comes back, without what takes no effect.
fn check_native(job: &Job, set: &[&str]) -> Option<Job> {
    let text = native::write(&plan_of(job)).text;
    let back = read_native(&text)?;
    let mut silent = silent(job, Some(&back), &BTreeSet::new());
    silent.retain(|name| !FOLLOWING.contains(name));
    assert!(silent.is_empty(), "{silent:?} of {set:?}\n{text}");
    let again = native::write(&plan_of(&back)).text;
    assert!(read_native(&again).as_ref() == Some(&back), "{again}");
    Some(back)
}

fn check_vdbench(job: &Job, set: &[&str]) {
    let Translation { text, losses, lost } = vdbench::write(&plan_of(job));
    let shown = format!("{set:?}\n{text}\n{losses:#?}");
    let is_left_out = losses.iter().any(|loss| loss.contains("is left out"));
    let is_refused = losses.iter().any(|loss| loss.starts_with("Vdbench does not take it"));
    let is_beyond_sense = set.iter().any(|name| REFUSED.contains(name));
    assert!(!is_refused || is_beyond_sense, "{shown}");
    if !is_left_out && !is_refused {
        let back = read_vdbench(&text);
        let mut silent = silent(job, back.first(), &lost);
        silent.retain(|name| !REWORDED.contains(name));
        // Files are made where they have a size, and seeds follow from names.
        let was = settings(job);
        silent.retain(|name| was.contains_key(name) || !["allow_create", "seed"].contains(name));
        // On a sequential walk no place is drawn, and none repeats.
        let draws = job.workload.access.random;
        silent.retain(|name| *name != "repeats_allowed" || draws);
        assert!(silent.is_empty(), "{silent:?} {shown}");
    }
    assert!(text.contains("lun=") || is_left_out || is_refused, "{shown}");
    assert!(text.is_empty() || !is_refused, "{shown}");
    // What moves nothing, or works on names, never becomes reads and writes.
    let kind = job.engine.kind;
    assert!(is_left_out || kind != EngineKind::Null && !kind.is_of_names(), "{shown}");
}

fn check_fio(job: &Job, set: &[&str]) {
    let Translation { text, losses, lost } = fio::write(&plan_of(job));
    let read = fio::parse_text("t", &text, &LowerOptions::default(), &MapHost::default());
    let shown = format!("{set:?}\n{text}\n{losses:#?}\n{}", all_shown(&read.diagnostics));
    assert!(!read.has_errors(), "{shown}");
    assert!(!losses.iter().any(|loss| loss.contains("has no option for it")), "{shown}");
    let back = read.plan.jobs().next();
    let mut silent = silent(job, back, &lost);
    // fio has a rate for each direction.
    let is_same_rate = match (rate(back), job.load.rate_total_iops) {
        (Some(is), Some(was)) => (is - was).abs() <= 2e-3 * was,
        (is, was) => is == was,
    };
    silent.retain(|name| !["rate_total_iops", "rate_iops"].contains(name) || !is_same_rate);
    // Alone, a share of progress is all of it; one stream is none.
    let is_one = job.workload.n_streams <= 1;
    silent.retain(|name| *name != "flow_weight" && (*name != "n_streams" || !is_one));
    assert!(silent.is_empty(), "{silent:?} {shown}");
}

/// Returns the rate of all directions and workers together.
fn rate(job: Option<&Job>) -> Option<f64> {
    let job = job?;
    let of = |dir| match job.load.rate[dir]? {
        Rate::Iops(iops) => Some(iops as f64),
        Rate::Bytes(_) => None,
    };
    let sum: Option<f64> = job.issued_directions().map(of).sum();
    Some(sum? * f64::from(job.n_workers))
}

fn runs(param: &Param) -> bool {
    matches!(param.support, Support::Full | Support::NoEffect(_))
}

#[test]
fn each_value_of_each_parameter_is_said_or_listed() {
    let (mut n_values, mut n_checked) = (0, 0);
    for param in param::all().filter(|param| runs(param)) {
        for value in samples(param) {
            for access in ["randread", "randwrite", "rw"] {
                n_checked += usize::from(check(access, &[(param, value.clone())]));
                n_values += 1;
            }
        }
    }
    // Of the rest most are as usual, and some need others.
    assert!(n_values > 900 && n_checked > n_values / 2, "{n_checked} of {n_values}");
}

/// A value of a parameter: one of the samples, or a number from its range that is not too large.
fn any_value() -> impl Strategy<Value = (&'static Param, Value)> {
    let params: Vec<&'static Param> = param::all().filter(|param| runs(param)).collect();
    let draw = (any::<proptest::sample::Index>(), 0.0..1.0_f64, any::<bool>());
    (proptest::sample::select(params), draw).prop_map(|(param, (idx, share, is_sample))| {
        let samples = samples(param);
        let sample = samples[idx.index(samples.len())].clone();
        let value = match param.kind {
            _ if is_sample => sample,
            ValueKind::Int { min, max } => {
                let span = (max.min(4096).max(min) - min) as f64;
                Value::Int(min + (span * share) as i64)
            }
            ValueKind::Float { min, max } => {
                let number = min + (max.min(1e4) - min) * share;
                Value::Float(((number * 100.0).round() / 100.0).clamp(min, max))
            }
            ValueKind::Time(_) => Value::TimeNs((share * 1e7) as u64 * 1000),
            _ => sample,
        };
        (param, value)
    })
}

/// Plans of random values, the same in each run.
#[test]
fn values_together_are_said_or_listed() {
    let config = ProptestConfig {
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(0x5eed),
        ..ProptestConfig::default()
    };
    let (n_cases, n_checked) = (config.cases, AtomicU32::new(0));
    let access = proptest::sample::select(&["randread", "randwrite", "rw", "write"][..]);
    let values = proptest::collection::vec(any_value(), 1..6);
    let found = TestRunner::new(config).run(&(access, values), |(access, values)| {
        n_checked.fetch_add(u32::from(check(access, &values)), Ordering::Relaxed);
        Ok(())
    });
    found.unwrap_or_else(|error| panic!("{error}"));
    let n_checked = n_checked.into_inner();
    assert!(n_checked > n_cases / 4, "{n_checked} of {n_cases}");
}
