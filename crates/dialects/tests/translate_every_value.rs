//! Every parameter there is, with one value after the other, in other words: it comes back, or a
//! loss says that it does not.

mod support;

use std::collections::{BTreeMap, BTreeSet};

use dialects::vdbench::lower::{Context, step};
use dialects::vdbench::{self, Options};
use dialects::{Translation, fio, native};
use plan::files::Size;
use plan::load::Rate;
use plan::param::{self, AccessValue, Kind, Param, Support, Value};
use plan::verify::PatternPart;
use plan::workload::{Access, BlockSize, Distribution};
use plan::{EngineKind, IoPriority, Job, PerDir, Plan, PriorityShare, Step};
use proptest::prelude::*;
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

fn samples(param: &Param) -> Vec<Value> {
    let text = |word: &str| Value::Str(word.to_owned());
    let word = |name: &str, argument: Option<&str>| {
        Value::Words(vec![(name.to_owned(), argument.map(str::to_owned))])
    };
    match param.kind {
        Kind::Flag | Kind::Bool => vec![Value::Bool(true), Value::Bool(false)],
        Kind::Int { min, max } => {
            [min, max.min(4096), 7].map(|n| Value::Int(n.clamp(min, max))).to_vec()
        }
        Kind::IntPerDir { min, max } => {
            [7, 512, 16384].map(|n| Value::IntPerDir(PerDir::all(Some(n.clamp(min, max))))).to_vec()
        }
        Kind::Size { percent, .. } => {
            let mut sizes = vec![Value::Size(Size::Bytes(1 << 20))];
            sizes.extend(percent.then_some(Value::Size(Size::Percent(30))));
            sizes
        }
        Kind::SizeRange => vec![Value::SizeRange(4096, 8192), Value::SizeRange(1 << 20, 1 << 20)],
        Kind::Time(_) => vec![Value::TimeNs(7_000_000_000), Value::TimeNs(1_500_000_000)],
        Kind::TimeRange(_) => vec![Value::TimeRangeNs(1, 5), Value::TimeNs(3)],
        Kind::TimePerDir(_) => vec![Value::TimePerDirNs(PerDir::all(Some(7)))],
        Kind::Float { min, max } => {
            [min.midpoint(max), 2.5, 33.3].map(|x| Value::Float(x.clamp(min, max))).to_vec()
        }
        Kind::FloatList { .. } => vec![Value::Floats(vec![50.0, 99.5])],
        Kind::Enum(choices) => choices.iter().map(|it| Value::Choice(it.name)).collect(),
        Kind::Str => match param.name {
            "engine" => ["psync", "libaio", "mmap", "null", "pvsync2"].map(text).to_vec(),
            _ => vec![text("some")],
        },
        Kind::OptionalStr => vec![text("prefix")],
        Kind::PathList => vec![Value::Paths(vec!["/mnt/b".to_owned(), "/mnt/c".to_owned()])],
        Kind::NumberList => vec![Value::Numbers(vec![0, 3])],
        Kind::Access => {
            let of = |access, postfix| Value::Access(AccessValue { access, postfix });
            let random = Access { random: true, ..Access::READ };
            let write = Access { read: false, write: true, ..Access::READ };
            let mixed = Access { write: true, ..random };
            vec![of(random, Some(8)), of(write, None), of(mixed, None), of(Access::READ, Some(512))]
        }
        Kind::BlockRange => {
            vec![Value::BlockSizes(PerDir::all(Some(BlockSize::Range { min: 4096, max: 16384 })))]
        }
        Kind::BlockSplit => {
            let parts = vec![(4096, 25), (65536, 75)];
            vec![Value::BlockSizes(PerDir::all(Some(BlockSize::Split(parts))))]
        }
        Kind::Distribution => {
            let zipf = Distribution::Zipf { theta: 1.2, centre: None };
            vec![Value::Distribution(PerDir::all(zipf))]
        }
        Kind::Pattern { .. } => vec![Value::Pattern(vec![PatternPart::Bytes(vec![0xde])])],
        Kind::PrioritySplit => {
            let priority = IoPriority::new(1, 2, 3);
            let share = PriorityShare { block_bytes: Some(4096), pct: 50, priority };
            vec![Value::PrioritySplit(PerDir::all(Some(vec![share])))]
        }
        Kind::Words => match param.name {
            "file_service" => vec![word("roundrobin", Some("8")), word("random", None)],
            "sync_file_range" => vec![word("write", Some("32"))],
            "block_size_weights" => vec![word("4096", Some("3"))],
            "dedupe_hot_sets" => vec![word("12", Some("100"))],
            "memory" => vec![word("mmap", Some("/mnt/pmem"))],
            "rate_periods" => vec![word("100", Some("2"))],
            _ => vec![word("iops", Some("5%"))],
        },
    }
}

/// A job that both languages can say without a loss.
fn base(access: &str) -> Job {
    let text = format!(
        "[j]\nfilename=/mnt/a/f\nsize=64m\nbs=8k\nrw={access}\nnorandommap\ndirect=1\n\
         ioengine=io_uring\niodepth=4\ntime_based\nruntime=5\n"
    );
    let read = fio::parse_text("t", &text, &fio::Wishes::default(), &MapHost::default());
    assert!(!read.has_errors(), "{}", all_shown(&read.diagnostics));
    let mut job = read.plan.jobs().next().expect("one").clone();
    job.options.clear();
    job
}

fn plan_of(job: &Job) -> Plan {
    Plan { steps: vec![Step { jobs: vec![job.clone()], ..Step::default() }], ..Plan::default() }
}

fn texts(job: &Job) -> BTreeMap<&'static str, String> {
    param::written(job).into_iter().map(|(param, text)| (param.name, text)).collect()
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

/// Says which of the values that were set neither came back nor are told of.
fn silent(set: &[&str], was: &Job, back: Option<&Job>, losses: &[String]) -> Vec<String> {
    let was = texts(was);
    let is = back.map(texts).unwrap_or_default();
    // All parameters of duplicates share one sentence.
    let is_told = |name: &str| {
        let is_of = |loss: &String| {
            loss.contains(&format!("`{name}="))
                || (name.starts_with("dedupe_") && loss.contains("duplicates by place"))
        };
        losses.iter().any(is_of)
    };
    let names = set.iter().filter(|name| was.get(*name) != is.get(*name));
    names.filter(|name| !is_told(name)).map(|name| (*name).to_owned()).collect()
}

/// Lowers values into a job; `None` where they make no job of it.
fn with(access: &str, values: &[(&'static Param, Value)]) -> Option<Job> {
    let mut job = base(access);
    for (param, value) in values {
        let before = job.clone();
        (param.lower)(&mut job, value).ok()?;
        if job == before {
            return None;
        }
    }
    Some(job)
}

fn check(access: &str, values: &[(&'static Param, Value)]) {
    let Some(job) = with(access, values) else { return };
    let set: Vec<&str> = values.iter().map(|(param, _)| param.name).collect();
    let plan = plan_of(&job);
    let own = native::write(&plan).text;
    let read = native::parse_text("t", &own, &fio::Wishes::default(), &MapHost::default());
    if read.has_errors() {
        // Values that do not go together.
        return;
    }
    let job_back = |mut job: Job| {
        job.options.clear();
        job
    };
    // What takes no effect is left out of a plan when it is read.
    let job = read.plan.jobs().next().cloned().map(job_back).expect("one");
    let plan = plan_of(&job);
    let again = native::write(&plan).text;
    let read = native::parse_text("t", &again, &fio::Wishes::default(), &MapHost::default());
    let back = read.plan.jobs().next().cloned().map(job_back).expect("one");
    assert!(back == job, "{again}");

    let usual: BTreeSet<String> =
        vdbench::write(&plan_of(&base(access))).losses.into_iter().collect();
    let Translation { text, losses, .. } = vdbench::write(&plan);
    let shown = format!("{set:?}\n{own}\n{text}\n{losses:#?}");
    let is_left_out = losses.iter().any(|loss| loss.contains("is left out"));
    let is_refused = losses.iter().any(|loss| loss.starts_with("Vdbench does not take it"));
    let is_beyond_sense = set.iter().any(|name| REFUSED.contains(name));
    assert!(!is_refused || is_beyond_sense, "{shown}");
    if !is_left_out && !is_refused {
        let back = read_vdbench(&text);
        let mut silent = silent(&set, &job, back.first(), &losses);
        silent.retain(|name| !REWORDED.contains(&name.as_str()));
        // On a sequential walk no place is drawn, and none repeats.
        let draws = job.workload.access.random;
        silent.retain(|name| name != "repeats_allowed" || draws);
        // What is as usual in fio is as usual in Vdbench.
        let was = texts(&job);
        silent.retain(|name| was.contains_key(name.as_str()) || name != "engine");
        // A sentence may cover several values; a value alone has one of its own.
        let n_told = losses.iter().filter(|loss| !usual.contains(*loss)).count();
        assert!(silent.is_empty() || n_told > 0, "{silent:?} {shown}");
    }
    assert!(text.contains("lun=") || is_left_out, "{shown}");
    // What moves nothing, or works on names, never becomes reads and writes.
    let kind = job.engine.kind;
    assert!(is_left_out || kind != EngineKind::Null && !kind.is_of_names(), "{shown}");

    let Translation { text, losses, .. } = fio::write(&plan);
    let read = fio::parse_text("t", &text, &fio::Wishes::default(), &MapHost::default());
    let shown = format!("{set:?}\n{text}\n{losses:#?}\n{}", all_shown(&read.diagnostics));
    assert!(!read.has_errors(), "{shown}");
    let back = read.plan.jobs().next();
    let mut silent = silent(&set, &job, back, &losses);
    // fio has a rate for each direction.
    let is_same_rate = match (rate(back), job.load.rate_total_iops) {
        (Some(is), Some(was)) => (is - was).abs() <= 2e-3 * was,
        (is, was) => is == was,
    };
    silent.retain(|name| name != "rate_total_iops" || !is_same_rate);
    // Alone, a share of progress is all of it; and one direction has one place.
    let is_mixed = job.workload.access.is_mixed();
    silent.retain(|name| name != "flow_weight" && (name != "one_cursor" || is_mixed));
    assert!(silent.is_empty() || !losses.is_empty(), "{silent:?} {shown}");
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
    let mut n_checked = 0;
    for param in param::all().filter(|param| runs(param)) {
        for value in samples(param) {
            for access in ["randread", "randwrite", "rw"] {
                check(access, &[(param, value.clone())]);
                n_checked += 1;
            }
        }
    }
    assert!(n_checked > 600, "{n_checked}");
}

fn any_value() -> impl Strategy<Value = (&'static Param, Value)> {
    let params: Vec<&'static Param> =
        param::all().filter(|param| runs(param) && !samples(param).is_empty()).collect();
    (proptest::sample::select(params), any::<proptest::sample::Index>()).prop_map(|(param, idx)| {
        let values = samples(param);
        let value = values[idx.index(values.len())].clone();
        (param, value)
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn values_together_are_said_or_listed(
        access in proptest::sample::select(&["randread", "randwrite", "rw", "write"][..]),
        values in proptest::collection::vec(any_value(), 1..4),
    ) {
        let names: BTreeSet<&str> = values.iter().map(|(param, _)| param.name).collect();
        if names.len() == values.len() {
            check(access, &values);
        }
    }
}
