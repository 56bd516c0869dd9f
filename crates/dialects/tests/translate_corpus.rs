//! Files of the field in the words of another tool, and from there back or on: what comes back is
//! what was said, or a loss says that it does not.
//!
//! Every file of the corpus is read, written in every language, read from there, and written in
//! every language again. Two plans are compared by what they do to each file, step by step: how
//! much is in flight, which share is read, how large, how random, where, how long and how fast.
//! Skipped where the corpus is absent.
#![expect(clippy::print_stdout, reason = "a test says how much it compared")]

mod support;

use std::collections::{BTreeMap, BTreeSet};

use dialects::{DIALECTS, Dialect, Loader, Overrides, Request, Translation, find_dialect};
use plan::files::{Size, SyncMode};
use plan::job::PartRegion;
use plan::load::Rate;
use plan::op::OpKind;
use plan::tree::{Activity, TreeWork};
use plan::workload::{BlockSize, Workload};
use plan::{Direction, Job, Plan};
use support::{FolderHost, MapHost, all_shown, difference};

/// Files of a plan beyond which it is left to tests of single jobs.
const FILES_MAX: usize = 64;

/// Reads a file, to be looked at. None where its language takes it not, or no jobs are in it.
fn read(dialect: &dyn Dialect, host: &dyn Loader, file: &str) -> Result<Plan, String> {
    let request = Request {
        files: &[file.to_owned()],
        sections: &[],
        overrides: &Overrides::default(),
        all_hosts_local: true,
        is_to_run: false,
    };
    let parsed = dialect.read(&request, host).parsed;
    let is_read = !parsed.has_errors() && parsed.plan.jobs().next().is_some();
    if is_read { Ok(parsed.plan) } else { Err(all_shown(&parsed.diagnostics)) }
}

/// What is done to a file at one time.
#[derive(Clone, Debug, PartialEq)]
struct Effect {
    depth: f64,
    read_pct: f64,
    mean_bytes: [f64; 2],
    random_pct: f64,
    rate: Option<f64>,
    region: String,
    direct: bool,
    sync: SyncMode,
    runtime_ns: Option<u64>,
    ramp_ns: u64,
}

/// Returns the files of a job, each once.
fn names(job: &Job) -> Vec<String> {
    let folder = job.files.directories.first().map(|it| it.trim_end_matches('/'));
    let below = |name: String| match folder {
        Some(folder) if !name.starts_with('/') => format!("{folder}/{name}"),
        _ => name,
    };
    let worker = |idx| (0..job.files.n_files).map(move |file| (idx, file));
    let own = (0..job.n_workers).flat_map(worker);
    let job_name = job.name.replace('/', "_");
    let own = own.map(|(worker, file)| format!("{job_name}.{worker}.{file}"));
    let named = job.files.names.iter().cloned();
    let all: Vec<String> = if job.files.names.is_empty() { own.collect() } else { named.collect() };
    let all: BTreeSet<String> = all.into_iter().map(below).collect();
    // Another slash before it names the same file.
    all.into_iter().map(|name| name.replace("//", "/")).collect()
}

fn mean(work: &Workload, dir: Direction) -> f64 {
    match &work.block_size[dir] {
        BlockSize::Range { min, max } => f64::midpoint(f64::from(*min), f64::from(*max)),
        size => size.mean(),
    }
}

/// Which part of each file, in one wording of several that come to the same.
fn region(job: &Job) -> String {
    let part = job.parts.iter().map(|it| it.region).find(|it| *it != PartRegion::Whole);
    let n = match job.files.names.len() {
        0 => job.files.n_files as usize,
        n_names => n_names,
    };
    let size = match (job.files.file_size_bytes, job.files.size) {
        (Some((_, max)), _) => Some(Size::Bytes(max)),
        (None, Some(Size::Bytes(bytes))) => Some(Size::Bytes(bytes / n as u64)),
        (None, size) => size,
    };
    let (from, to) = match (job.files.offset, size, part) {
        (Size::Bytes(0), Some(Size::Percent(to)), None) => (Size::Percent(0), f64::from(to)),
        (Size::Percent(from), None, None) => (Size::Percent(from), 100.0),
        (Size::Percent(from), Some(Size::Percent(pct)), None) => {
            (Size::Percent(from), f64::from((from + pct).min(100)))
        }
        (Size::Bytes(0), None, Some(PartRegion::Pct(from, to))) => (Size::Percent(from as u8), to),
        (Size::Bytes(0), None, None) => (Size::Percent(0), 100.0),
        (offset, size, part) => return format!("from {offset:?} on {size:?}, of which {part:?}"),
    };
    format!("from {from:?} to {to} %")
}

fn effect(job: &Job) -> Effect {
    let n_files = names(job).len() as f64;
    let parts: Vec<(f64, &Workload)> = if job.parts.is_empty() {
        vec![(1.0, &job.workload)]
    } else {
        job.parts.iter().map(|part| (part.weight, &part.workload)).collect()
    };
    let (mut n, mut bytes, mut n_random) = ([0.0; 2], [0.0; 2], 0.0);
    for (weight, work) in &parts {
        let drawn = work.drawn();
        let read = match (drawn.read, drawn.write) {
            (true, true) => work.read_pct / 100.0,
            (is_read, _) => f64::from(u8::from(is_read)),
        };
        for (idx, dir, share) in [(0, Direction::Read, read), (1, Direction::Write, 1.0 - read)] {
            let ios = weight * share;
            n[idx] += ios;
            bytes[idx] += ios * mean(work, dir);
            let pct = work.random_pct[dir] / f64::from(work.ios_per_draw.max(1));
            n_random += if work.access.random { ios * pct } else { 0.0 };
        }
    }
    let mean_of = |idx: usize| if n[idx] > 0.0 { bytes[idx] / n[idx] } else { 0.0 };
    let depth = if job.issues_one_at_a_time() { 1 } else { job.load.queue_depth };
    Effect {
        depth: f64::from(depth) * f64::from(job.n_workers) / n_files,
        read_pct: 100.0 * n[0] / (n[0] + n[1]),
        mean_bytes: [mean_of(0), mean_of(1)],
        random_pct: n_random / (n[0] + n[1]),
        rate: rate(job).map(|it| it / n_files),
        region: region(job),
        direct: job.files.direct,
        sync: job.files.sync,
        runtime_ns: job.limits.runtime_ns,
        ramp_ns: job.limits.ramp_ns,
    }
}

/// I/Os per second of all workers, directions and parts of a job.
fn rate(job: &Job) -> Option<f64> {
    let of = |dir| match job.load.rate[dir]? {
        Rate::Iops(iops) => Some(iops as f64),
        Rate::Bytes(bytes) => Some(bytes as f64 / mean(&job.workload, dir)),
    };
    let sum: Option<f64> = job.issued_directions().map(of).sum();
    let parts: Option<f64> = job.parts.iter().map(|part| part.rate_iops).sum();
    let parts = parts.filter(|_| !job.parts.is_empty());
    job.load.rate_total_iops.or(parts).or(sum.map(|it| it * f64::from(job.n_workers)))
}

/// What is done to each file, one step after the other. Jobs that do the same to a file at the same
/// time are one.
fn effects(plan: &Plan) -> BTreeMap<String, Vec<Effect>> {
    let mut all: BTreeMap<String, Vec<Effect>> = BTreeMap::new();
    for step in &plan.steps {
        let mut of_step: BTreeMap<String, Vec<Effect>> = BTreeMap::new();
        let bytes = |job: &&Job| job.tree.is_none() && (job.access().read || job.access().write);
        for job in step.jobs.iter().filter(bytes) {
            for name in names(job) {
                of_step.entry(name).or_default().push(effect(job));
            }
        }
        for (name, parts) in of_step {
            all.entry(name).or_default().extend(added_up(parts));
        }
    }
    all
}

fn added_up(parts: Vec<Effect>) -> Vec<Effect> {
    let mut kinds: Vec<Effect> = Vec::new();
    for part in parts {
        let is_like = |it: &&mut Effect| {
            Effect { depth: part.depth, rate: part.rate, ..(*it).clone() } == part
        };
        match kinds.iter_mut().find(is_like) {
            Some(kind) => {
                kind.depth += part.depth;
                kind.rate = kind.rate.zip(part.rate).map(|(one, other)| one + other);
            }
            None => kinds.push(part),
        }
    }
    kinds
}

/// Returns what differs, each with the parameters of which one is lost then.
fn differing(was: &Effect, is: &Effect) -> Vec<(&'static str, &'static [&'static str])> {
    let near = |was: f64, is: f64| (was - is).abs() <= 0.011 + 0.002 * was.abs();
    let is_rate = match (was.rate, is.rate) {
        (Some(was), Some(is)) => near(was, is),
        (was, is) => was.is_none() && is.is_none(),
    };
    let is_size = (0..2).all(|idx| near(was.mean_bytes[idx], is.mean_bytes[idx]));
    let all: [(&str, bool, &[&str]); 10] = [
        ("depth", near(was.depth, is.depth), &["queue_depth", "n_workers"]),
        ("mix", near(was.read_pct, is.read_pct), &["read_pct", "access", "rate", "rate_iops"]),
        ("size", is_size, &["block_size_bytes", "block_size_split", "block_size_range"]),
        ("random", near(was.random_pct, is.random_pct), &["access", "random_pct"]),
        ("rate", is_rate, &["rate", "rate_iops", "rate_total_iops"]),
        ("region", was.region == is.region, &["offset", "size", "file_size_bytes"]),
        ("direct", was.direct == is.direct, &["direct"]),
        ("sync", was.sync == is.sync, &["sync"]),
        ("runtime", was.runtime_ns == is.runtime_ns, &["runtime"]),
        ("ramp", was.ramp_ns == is.ramp_ns, &["ramp_time"]),
    ];
    all.into_iter().filter(|it| !it.1).map(|it| (it.0, it.2)).collect()
}

/// Returns whether a loss has one of these words.
fn says(to: &Translation, words: &[&str]) -> bool {
    to.losses.iter().any(|loss| words.iter().any(|word| loss.contains(word)))
}

/// Checks that what one plan does is what the other does, or is lost. Returns how many effects were
/// compared.
fn compare(
    from: &str,
    was_plan: &Plan,
    is_plan: &Plan,
    to: &Translation,
    silent: &mut Vec<String>,
) -> usize {
    let (was, is) = (effects(was_plan), effects(is_plan));
    let is_renamed = to.lost.contains("file_names") || says(to, &["file names"]);
    let mut n = 0;
    for (name, was) in &was {
        let Some(is) = is.get(name) else {
            if !is_renamed && !says(to, &["left out"]) {
                silent.push(format!("{from}: {name} is gone: {:?}", to.losses));
            }
            continue;
        };
        if was.len() != is.len() {
            // Points of a curve, jobs with a queue each, lines one after another.
            if !says(to, &["left out", "queues of their own", "one after another"]) {
                let (was, is) = (was.len(), is.len());
                silent.push(format!("{from}: {name}: {was} kinds, then {is}: {:?}", to.losses));
            }
            continue;
        }
        for (was, is) in was.iter().zip(is) {
            n += 1;
            let found = differing(was, is);
            let mut found = found.iter().filter(|it| !it.1.iter().any(|it| to.lost.contains(it)));
            if let Some((what, _)) = found.next() {
                let losses = &to.losses;
                silent.push(format!("{from}: {name}: {what}: {was:?}\n  {is:?}\n  {losses:?}"));
            }
        }
    }
    n += compare_trees(from, [was_plan, is_plan], to, silent);
    let is_new = |name: &&String| !was.contains_key(*name) && !is_renamed;
    silent.extend(is.keys().filter(is_new).map(|name| format!("{from}: {name} is new")));
    n
}

/// Checks that jobs on trees of files come back with their trees and what is done there, or that it
/// is said why not.
fn compare_trees(
    from: &str,
    plans: [&Plan; 2],
    to: &Translation,
    silent: &mut Vec<String>,
) -> usize {
    let [was, is] =
        plans.map(|plan| plan.jobs().filter(|job| job.tree.is_some()).collect::<Vec<_>>());
    if was.len() != is.len() {
        if !says(to, &["left out", "trees"]) {
            silent.push(format!("{from}: {} jobs on trees, then {}", was.len(), is.len()));
        }
        return 0;
    }
    for (was, is) in was.iter().zip(&is) {
        let (own, back) = (plain_tree(was), plain_tree(is));
        if own != back {
            let found = difference(&own, &back);
            silent.push(format!("{from}: {}: {found}{:?}", was.name, to.losses));
        }
    }
    was.len()
}

/// Returns the work on a tree in one wording of several that come to the same: no name of the tree
/// for messages, and reads for a chance of 1 of them.
fn plain_tree(job: &Job) -> Option<TreeWork> {
    let mut work = job.tree.clone()?;
    work.tree.name.clear();
    work.target.iter_mut().for_each(|tree| tree.name.clear());
    if let Activity::Operations(tasks) = &mut work.activity {
        for task in tasks.iter_mut().filter(|task| task.operation == OpKind::Read) {
            task.read_pct = task.read_pct.filter(|pct| *pct < 100.0);
        }
    }
    Some(work)
}

/// Writes a plan in every language, reads it from there, and does so again.
fn chain(from: &str, plan: &Plan, n_left: u32, silent: &mut Vec<String>) -> usize {
    let mut n = 0;
    for dialect in DIALECTS.iter().copied().filter(|it| it.can_write()) {
        let from = format!("{from} > {}", dialect.name());
        let to = dialect.write(plan);
        if to.is_empty() {
            if to.losses.is_empty() {
                silent.push(format!("{from}: nothing is written"));
            }
            continue;
        }
        match read(dialect, &MapHost::of_files(&[("jobs", &to.text)]), "jobs") {
            Ok(back) => {
                n += compare(&from, plan, &back, &to, silent);
                n += if n_left > 0 { chain(&from, &back, n_left - 1, silent) } else { 0 };
            }
            Err(found) => silent.push(format!("{from}: {}\n{found}", to.text)),
        }
    }
    n
}

/// Returns the plans of a folder of the corpus, by file.
fn plans(language: &str, folder: &str, ext: &str) -> Option<Vec<(String, Plan)>> {
    let path = testing::corpus(folder, "index.tsv")?;
    let names = testing::names_in(&path).into_iter().filter(|it| it.ends_with(ext));
    // As the verdicts of the corpus have it.
    let host = MapHost { env_all: Some("1m".to_owned()), ..MapHost::default() };
    let host = FolderHost { path: path.clone(), host };
    let dialect = find_dialect(language).expect("a language");
    let plan = |name: String| Some((name.clone(), read(dialect, &host, &name).ok()?));
    Some(names.filter_map(plan).collect())
}

#[track_caller]
fn check(plans: &[(String, Plan)], n_plans_min: usize, n_min: usize) {
    let n_files = |plan: &Plan| {
        let of = |job: &Job| (job.n_workers * job.files.n_files) as usize + job.files.names.len();
        plan.jobs().map(of).sum::<usize>()
    };
    let small: Vec<_> = plans.iter().filter(|(_, plan)| n_files(plan) <= FILES_MAX).collect();
    let mut silent = Vec::new();
    let n: usize = small.iter().map(|(name, plan)| chain(name, plan, 1, &mut silent)).sum();
    println!("{} plans, {n} times something is done to a file", small.len());
    assert!(silent.is_empty(), "{} silent losses:\n{}", silent.len(), silent.join("\n"));
    assert!(small.len() >= n_plans_min && n >= n_min, "{} plans, {n}", small.len());
}

#[test]
fn job_files_of_fio() {
    let Some(plans) = plans("fio", "fio", ".fio") else { return };
    check(&plans, 100, 1000);
}

#[test]
fn parameter_files_of_vdbench() {
    let Some(plans) = plans("vdbench", "vdbench", ".parm") else { return };
    check(&plans, 50, 1000);
}

#[test]
fn configurations_of_iometer() {
    let Some(plans) = plans("iometer", "iometer", ".icf") else { return };
    check(&plans, 10, 100);
}

#[test]
fn command_lines_of_diskspd() {
    let Some(path) = testing::corpus("", "diskspd.txt") else { return };
    let list = std::fs::read_to_string(path.join("diskspd.txt")).expect("a list");
    let dialect = find_dialect("diskspd").expect("a language");
    let plan = |line: &str| {
        let line = line.split('\t').nth(3)?;
        let plan = read(dialect, &MapHost::of_files(&[("jobs", line)]), "jobs").ok()?;
        Some((line.to_owned(), plan))
    };
    let plans: Vec<(String, Plan)> = list.lines().filter_map(plan).collect();
    check(&plans, 30, 500);
}
