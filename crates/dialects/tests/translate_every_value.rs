//! Every parameter there is, with one value after the other, in other words: it comes back, or a
//! loss says that it does not.

#[path = "../../plan/tests/samples/mod.rs"]
mod samples;
mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU32, Ordering};

use dialects::vdbench::lower::{Context, step};
use dialects::vdbench::{self, Options};
use dialects::{FilesOnly, LowerOptions, Overrides, Request, Translation};
use dialects::{find_dialect, fio, native};
use plan::files::{Fileset, Size};
use plan::job::{Part, PartRegion};
use plan::load::{Load, Rate};
use plan::op::OpKind;
use plan::param::{self, Category, Param, Setting, Support, Value, ValueKind};
use plan::tree::{
    Activity, FileIo, FileSizes, SelectFilter, SelectOrder, StopAfter, TreeOpen, TreeSpec, TreeTask,
};
use plan::workload::{BlockSize, Distribution, Workload};
use plan::{Direction, EngineKind, Job, PerDir, Plan, Step};
use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestRunner};
use samples::samples;
use support::{MapHost, all_shown};

/// Parameters that say one thing together: where one of them is lost, what they come to is.
const TOGETHER: &[&[&str]] = &[
    &[
        "access",
        "random_pct",
        "random_share_pct",
        "read_pct",
        "read_share_pct",
        "block_align_bytes",
    ],
    &["rate", "rate_iops", "rate_total_iops", "read_pct", "read_share_pct"],
    &["queue_depth", "n_workers"],
    &["directories", "file_names", "file_size_bytes", "n_files", "offset", "size"],
    &["compress_pct", "compress_ratio"],
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

/// Reads a parameter file back, each job with the workload of its one part where that works.
fn read_vdbench(text: &str) -> Vec<Job> {
    let one_part = |mut job: Job| {
        if let Some(part) = job.parts.pop() {
            job.workload = part.workload;
            job.load.rate_total_iops = job.load.rate_total_iops.or(part.rate_iops);
            if let PartRegion::Pct(from, to) = part.region {
                job.files.offset = Size::Percent(from as u8);
                job.files.size = Some(Size::Percent((to - from) as u8));
            }
        }
        job
    };
    steps_of_vdbench(text).into_iter().flat_map(|step| step.jobs).map(one_part).collect()
}

/// Reads the steps of a parameter file.
fn steps_of_vdbench(text: &str) -> Vec<Step> {
    let host = MapHost::default();
    let parsed = vdbench::parse_text("t", text, &Options::default(), &host);
    assert!(!parsed.has_errors(), "{text}\n{}", all_shown(&parsed.diagnostics));
    let context = Context { curve_step_idx: None, first_group_id: 0, loader: &host, sources: &[] };
    parsed.runs.iter().map(|run| step(run, context, &mut Vec::new())).collect()
}

/// Returns the commands around steps, and those around their jobs: Vdbench has both around runs.
fn commands(steps: &[Step]) -> [BTreeSet<&String>; 2] {
    let before = steps.iter().flat_map(|step| {
        step.exec_before
            .iter()
            .chain(step.jobs.iter().filter_map(|job| job.process.exec_before.as_ref()))
    });
    let after = steps.iter().flat_map(|step| {
        step.exec_after
            .iter()
            .chain(step.jobs.iter().filter_map(|job| job.process.exec_after.as_ref()))
    });
    [before.collect(), after.collect()]
}

/// Returns a job in one wording of several that come to the same, so that what still differs does
/// something else.
fn plain(job: &Job) -> Job {
    let mut job = job.clone();
    plain_rates(&mut job);
    plain_threads(&mut job);
    plain_places(&mut job.files);
    plain_workload(&mut job.workload);
    // Data that compresses by a share compress so many times; two decimals are said. What is read
    // was written by others.
    let pct = job.buffers.compress_pct.take().filter(|pct| *pct > 0).map(f64::from);
    let ratio = job.buffers.compress_ratio.or(pct.map(|pct| 100.0 / (100.0 - pct).max(4.0)));
    let ratio = ratio.map(|it| (it * 100.0).round() / 100.0);
    job.buffers.compress_ratio = ratio.filter(|it| *it > 1.0 && job.access().write);
    // See `commands`.
    (job.process.exec_before, job.process.exec_after) = (None, None);
    job
}

/// Counts the files that are storage definitions of their own, of which the first is looked at.
fn n_luns(job: &Job) -> u32 {
    if job.tree.is_some() { 1 } else { job.files.names.len().max(1) as u32 }
}

/// Rates of directions and workers are one rate, and a mix. Without a rate nothing has a time to
/// arrive at.
fn plain_rates(job: &mut Job) {
    let rate = |dir| match job.load.rate[dir]? {
        Rate::Iops(iops) => Some(iops as f64),
        Rate::Bytes(bytes) => Some(bytes as f64 / job.workload.block_size[dir].mean()),
    };
    let (read, write) = (rate(Direction::Read), rate(Direction::Write));
    let sum: Option<f64> = job.issued_directions().map(rate).sum();
    let total = job.load.rate_total_iops.or(sum.map(|sum| sum * f64::from(job.n_workers)));
    if let (None, Some(read), Some(write)) = (job.load.rate_total_iops, read, write)
        && job.workload.access.is_mixed()
    {
        job.workload.read_pct = 100.0 * read / (read + write);
    }
    job.load.rate = PerDir::all(None);
    job.load.rate_total_iops = total.map(|total| total / f64::from(n_luns(job)));
    if total.is_none() {
        job.load.arrivals = Load::default().arrivals;
    }
    // Rates of periods are in proportion to the largest, which stands for the rate.
    if let Some(periods) = &mut job.load.rate_periods {
        let largest = periods.rate_max();
        let share = |rate: f64| (100.0 * rate / largest).round();
        periods.periods.iter_mut().for_each(|it| it.rate = share(it.rate));
    }
}

/// Workers and their depths are threads, of which each file has as many.
fn plain_threads(job: &mut Job) {
    let depth = if job.issues_one_at_a_time() { 1 } else { job.load.queue_depth };
    job.load.queue_depth = (depth * job.n_workers / n_luns(job)).max(1);
    job.n_workers = 1;
}

/// A job's size is that of each of its files. The first is looked at.
fn plain_places(files: &mut Fileset) {
    let n_files = files.names.len().max(1) as u64;
    files.names.truncate(1);
    if let [folder] = &files.directories[..] {
        for name in files.names.iter_mut().filter(|name| !name.starts_with('/')) {
            *name = format!("{}/{name}", folder.trim_end_matches('/'));
        }
        files.directories.clear();
    }
    files.n_files = 1;
    files.size = match (files.file_size_bytes.take(), files.size) {
        (Some((_, max)), _) => Some(Size::Bytes(max)),
        (None, Some(Size::Bytes(bytes))) => Some(Size::Bytes(bytes / n_files)),
        (None, size) => size,
    };
    match (files.offset, files.size) {
        (Size::Bytes(0), Some(Size::Percent(_))) => files.offset = Size::Percent(0),
        (Size::Percent(from), None) => files.size = Some(Size::Percent(100 - from)),
        _ => {}
    }
}

/// A direction that is not issued has no share, size or place of its own.
fn plain_workload(workload: &mut Workload) {
    let drawn = workload.drawn();
    (workload.access.read, workload.access.write) = (drawn.read, drawn.write);
    // Vdbench takes whole percents, and a mix stays one.
    workload.read_pct =
        if drawn.is_mixed() { workload.read_pct.round().clamp(1.0, 99.0) } else { 50.0 };
    let dir = if drawn.read { Direction::Read } else { Direction::Write };
    let n_per_draw = f64::from(std::mem::replace(&mut workload.ios_per_draw, 1).max(1));
    let random_pct =
        if workload.access.random { workload.random_pct[dir] / n_per_draw } else { 0.0 };
    workload.access.random = random_pct > 0.0;
    if !workload.access.random {
        workload.distribution = PerDir::all(Distribution::Uniform);
    }
    for other in Direction::ALL.into_iter().filter(|other| *other != dir) {
        if drawn.issued().all(|issued| issued != other) {
            workload.block_size[other] = workload.block_size[dir].clone();
            workload.block_align[other] = workload.block_align[dir];
            workload.distribution[other] = workload.distribution[dir].clone();
        }
    }
    workload.random_pct = PerDir::all(if random_pct > 0.0 { random_pct } else { 100.0 });
    for other in Direction::ALL {
        // What says nothing is aligned to its smallest size.
        let least = workload.block_size[other].min();
        let align = workload.block_align[other].unwrap_or(least);
        workload.block_align[other] = workload.access.random.then_some(align);
        workload.block_size[other] = plain_size(&workload.block_size[other]);
    }
}

/// One of several sizes that are equal is that size; shares are in hundredths of a percent.
fn plain_size(size: &BlockSize) -> BlockSize {
    let shares = |parts: Vec<(u32, f64)>| {
        let total: f64 = parts.iter().map(|part| part.1).sum();
        let share = |weight: f64| (1e4 * weight / total).round() as u32;
        match parts[..] {
            [(bytes, _)] => BlockSize::Fixed(bytes),
            _ => BlockSize::Weighted(parts.iter().map(|it| (it.0, share(it.1))).collect()),
        }
    };
    match size {
        BlockSize::Range { min, max } | BlockSize::Stepped { min, max, .. } if min == max => {
            BlockSize::Fixed(*min)
        }
        BlockSize::Fixed(bytes) => BlockSize::Fixed(*bytes),
        BlockSize::Range { min, max } => BlockSize::Stepped { min: *min, max: *max, step: *min },
        BlockSize::Stepped { .. } => size.clone(),
        BlockSize::Split(parts) => shares(parts.iter().map(|it| (it.0, f64::from(it.1))).collect()),
        BlockSize::Weighted(parts) => {
            shares(parts.iter().map(|it| (it.0, f64::from(it.1))).collect())
        }
    }
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
    check_diskspd(&plan_of(&job), &set);
    check_iometer(&plan_of(&job), &set);
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

/// Returns what of a job is silently gone or new in Vdbench's words.
fn silent_of_vdbench(
    job: &Job,
    back: Option<&Job>,
    lost: &BTreeSet<&'static str>,
) -> Vec<&'static str> {
    let (was, mut is) = (plain(job), back.map(plain));
    if let Some(is) = &mut is {
        // Two decimals of a rate and of a share are said.
        let is_near = |was: f64, is: f64| (was - is).abs() <= (was.abs() * 2e-3).max(0.011);
        let rates = (was.load.rate_total_iops, is.load.rate_total_iops);
        if let (Some(was_iops), Some(is_iops)) = rates
            && is_near(was_iops, is_iops)
        {
            is.load.rate_total_iops = Some(was_iops);
        }
        if is_near(was.workload.random_pct.read, is.workload.random_pct.read) {
            is.workload.random_pct = was.workload.random_pct;
        }
    }
    let mut silent = silent(&was, is.as_ref(), lost);
    silent.retain(|name| {
        let mut groups = TOGETHER.iter().filter(|group| group.contains(name));
        !groups.any(|group| group.iter().any(|other| lost.contains(other)))
    });
    // Files are made where they have a size, and seeds follow from names.
    let was = settings(&was);
    silent.retain(|name| was.contains_key(name) || !["allow_create", "seed"].contains(name));
    // On a sequential walk no place is drawn, and none repeats.
    let draws = job.workload.access.random;
    silent.retain(|name| *name != "repeats_allowed" || draws);
    silent
}

fn check_vdbench(job: &Job, set: &[&str]) {
    let Translation { text, losses, lost } = vdbench::write(&plan_of(job));
    let shown = format!("{set:?}\n{text}\n{losses:#?}");
    let is_left_out = losses.iter().any(|loss| loss.contains("is left out"));
    let is_refused = losses.iter().any(|loss| loss.starts_with("Vdbench does not take it"));
    let is_beyond_sense = set.iter().any(|name| REFUSED.contains(name));
    assert!(!is_refused || is_beyond_sense, "{shown}");
    if !is_left_out && !is_refused {
        let silent = silent_of_vdbench(job, read_vdbench(&text).first(), &lost);
        assert!(silent.is_empty(), "{silent:?} {shown}");
        let (was, is) = (&plan_of(job).steps, &steps_of_vdbench(&text));
        for (name, (was, is)) in ["exec_before", "exec_after"]
            .into_iter()
            .zip(commands(was).into_iter().zip(commands(is)))
        {
            assert!(was == is || lost.contains(name), "{name}: {shown}");
        }
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
    let silent = silent_of_fio(job, read.plan.jobs().next(), &lost);
    assert!(silent.is_empty(), "{silent:?} {shown}");
}

/// Reads what a language has written back.
fn read_back(language: &str, text: &str) -> Vec<Job> {
    let request = Request {
        files: &["jobs".to_owned()],
        sections: &[],
        overrides: &Overrides::default(),
        all_hosts_local: false,
        is_to_run: false,
    };
    let host = FilesOnly(|_: &str| Ok(text.as_bytes().to_vec()));
    let read = find_dialect(language).expect("a language").read(&request, &host).parsed;
    assert!(!read.has_errors(), "{text}\n{}", all_shown(&read.diagnostics));
    read.plan.jobs().cloned().collect()
}

/// Each job has a line, which says of it what the losses do not, or is left out.
fn check_diskspd(plan: &Plan, set: &[&str]) {
    let Translation { text, losses, lost } =
        find_dialect("diskspd").expect("a language").write(plan);
    let shown = format!("{set:?}\n{text}\n{losses:#?}");
    let back = if text.contains("diskspd ") { read_back("diskspd", &text) } else { Vec::new() };
    for job in plan.jobs() {
        let is = back.iter().find(|it| it.files.names.first() == job.files.names.first());
        let is_left_out = losses.iter().any(|loss| loss.contains("is left out"));
        assert!(is.is_some() || is_left_out, "{}: {shown}", job.name);
        if is.is_some() {
            let silent = silent_of_vdbench(job, is, &lost);
            assert!(silent.is_empty(), "{}: {silent:?} {shown}", job.name);
        }
    }
}

/// Each job has workers, which say of it what the losses do not, or is left out.
fn check_iometer(plan: &Plan, set: &[&str]) {
    // Files would be others, whatever they are called; devices have their names.
    let mut plan = plan.clone();
    for name in plan.jobs_mut().flat_map(|job| &mut job.files.names) {
        *name = name.replace("/mnt/a/f", "/dev/sdb").replace("/mnt/a/g", "/dev/sdc");
    }
    let Translation { text, losses, lost } =
        find_dialect("iometer").expect("a language").write(&plan);
    let shown = format!("{set:?}\n{text}\n{losses:#?}");
    let back = if text.is_empty() { Vec::new() } else { read_back("iometer", &text) };
    for job in plan.jobs() {
        let is = workers_on(job.files.names.first(), &back);
        let is_left_out = losses.iter().any(|loss| loss.contains("is left out"));
        let is_renamed = losses.iter().any(|loss| loss.starts_with("file names"));
        assert!(is.is_some() || is_left_out || is_renamed, "{}: {shown}", job.name);
        if is.is_some() {
            let silent = silent_of_vdbench(&with_weights(job), is.as_ref(), &lost);
            assert!(silent.is_empty(), "{}: {silent:?} {shown}", job.name);
        }
    }
}

/// Returns a job with sizes that are equally likely as so many with a weight each.
fn with_weights(job: &Job) -> Job {
    let mut job = job.clone();
    for dir in Direction::ALL {
        let size = &mut job.workload.block_size[dir];
        let step = match size {
            BlockSize::Range { min, .. } => *min,
            BlockSize::Stepped { step, .. } => *step,
            BlockSize::Fixed(_) | BlockSize::Split(_) | BlockSize::Weighted(_) => continue,
        };
        let (min, max) = (size.min(), size.max());
        let sizes = (min / step + 1..).map(|n| n * step).take_while(|size| *size <= max);
        let sizes: Vec<(u32, u32)> = std::iter::once(min).chain(sizes).map(|it| (it, 1)).collect();
        // More are not written each by itself, which is listed.
        if sizes.len() <= 100 {
            *size = BlockSize::Weighted(sizes);
        }
    }
    job
}

/// Returns what all workers together do to a target.
fn workers_on(name: Option<&String>, jobs: &[Job]) -> Option<Job> {
    let mut workers = jobs.iter().filter(|job| job.files.names.first() == name);
    let mut all = one_workload(workers.next()?);
    for worker in workers {
        assert_eq!(one_workload(worker).workload, all.workload, "{jobs:#?}");
        all.load.queue_depth += worker.load.queue_depth;
    }
    Some(all)
}

/// Returns a job in which one workload has the sizes and shares of all.
fn one_workload(job: &Job) -> Job {
    let mut one = Job { parts: Vec::new(), ..job.clone() };
    let Some(first) = job.parts.first() else { return one };
    one.workload = Workload { seed: job.workload.seed, ..first.workload.clone() };
    let mut sizes: PerDir<Vec<(u32, u32)>> = PerDir::all(Vec::new());
    let mut n: PerDir<f64> = PerDir::all(0.0);
    let mut n_random: PerDir<f64> = PerDir::all(0.0);
    for part in &job.parts {
        let work = &part.workload;
        let of_reads = match (work.access.read, work.access.write) {
            (true, true) => work.read_pct / 100.0,
            (is_read, _) => f64::from(u8::from(is_read)),
        };
        let shares = [(Direction::Read, of_reads), (Direction::Write, 1.0 - of_reads)];
        for (dir, share) in shares.into_iter().filter(|(_, share)| *share > 0.0) {
            let ios = part.weight * share;
            sizes[dir].push((work.block_size[dir].max(), (ios * 1e4).round() as u32));
            n[dir] += ios;
            n_random[dir] += if work.access.random { ios * work.random_pct[dir] } else { 0.0 };
        }
    }
    let all = &mut one.workload;
    (all.access.read, all.access.write) = (n.read > 0.0, n.write > 0.0);
    all.access.random = n_random.read + n_random.write > 0.0;
    all.read_pct = 100.0 * n.read / (n.read + n.write);
    for dir in [Direction::Read, Direction::Write].into_iter().filter(|dir| n[*dir] > 0.0) {
        all.block_size[dir] = BlockSize::Weighted(std::mem::take(&mut sizes[dir]));
        all.random_pct[dir] = n_random[dir] / n[dir];
    }
    one
}

/// Returns what of a job is silently gone or new in fio's words.
fn silent_of_fio(
    job: &Job,
    back: Option<&Job>,
    lost: &BTreeSet<&'static str>,
) -> Vec<&'static str> {
    let mut silent = silent(job, back, lost);
    // fio has a rate for each direction.
    let is_same_rate = match (rate(back), job.load.rate_total_iops) {
        (Some(is), Some(was)) => (is - was).abs() <= 2e-3 * was,
        (is, was) => is == was,
    };
    silent.retain(|name| !["rate_total_iops", "rate_iops"].contains(name) || !is_same_rate);
    // Alone, a share of progress is all of it; one stream is none.
    let is_one = job.workload.n_streams <= 1;
    silent.retain(|name| *name != "flow_weight" && (*name != "n_streams" || !is_one));
    silent
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

/// Another job, on a file of its own.
fn other() -> Job {
    let mut other = Job { name: "k".to_owned(), ..base("randread") };
    other.files.names = vec!["/mnt/a/g".to_owned()];
    other
}

/// Plans of both jobs: in one step, in either order, and one step after the other.
fn plans_beside(job: &Job) -> [Plan; 3] {
    let plan = |steps: Vec<Vec<Job>>| {
        let steps = steps.into_iter().map(|jobs| Step { jobs, ..Step::default() }).collect();
        Plan { steps, ..Plan::default() }
    };
    let later = Job { group_id: 1, ..job.clone() };
    let (job, other) = (job.clone(), other());
    [
        plan(vec![vec![job.clone(), other.clone()]]),
        plan(vec![vec![other.clone(), job]]),
        plan(vec![vec![other], vec![later]]),
    ]
}

/// What one job says is not taken for what the other one does.
fn check_beside(access: &str, values: &[(&'static Param, Value)]) -> bool {
    let (job, set) = with(access, values);
    let Some(job) = check_native(&job, &set).filter(|_| !set.is_empty()) else { return false };
    for plan in plans_beside(&job) {
        let Translation { text, losses, lost } = vdbench::write(&plan);
        let shown = format!("{set:?}\n{text}\n{losses:#?}");
        if !losses.iter().any(|loss| loss.starts_with("Vdbench does not take it")) {
            let back = read_vdbench(&text);
            for job in plan.jobs().filter(|job| text.contains(&job.files.names.concat())) {
                let is = back.iter().find(|it| it.files.names.first() == job.files.names.first());
                let mut silent = silent_of_vdbench(job, is, &lost);
                // What one job alone is in holds it back by nothing.
                let is_alone = back.iter().filter(|it| it.load.flow.is_some()).count() == 1;
                silent.retain(|name| !(is_alone && name.starts_with("flow_")));
                assert!(silent.is_empty(), "{}: {silent:?} {shown}", job.name);
            }
        }
        check_diskspd(&plan, &set);
        check_iometer(&plan, &set);
        let Translation { text, losses, lost } = fio::write(&plan);
        let read = fio::parse_text("t", &text, &LowerOptions::default(), &MapHost::default());
        let shown = format!("{set:?}\n{text}\n{losses:#?}\n{}", all_shown(&read.diagnostics));
        assert!(!read.has_errors(), "{shown}");
        for (job, is) in plan.jobs().zip(read.plan.jobs()) {
            let silent = silent_of_fio(job, Some(is), &lost);
            assert!(silent.is_empty(), "{}: {silent:?} {shown}", job.name);
        }
    }
    true
}

#[test]
fn each_value_is_that_of_its_job() {
    let mut n_checked = 0;
    for param in param::all().filter(|param| runs(param)) {
        for value in samples(param) {
            n_checked += usize::from(check_beside("randwrite", &[(param, value.clone())]));
        }
    }
    assert!(n_checked > 150, "{n_checked}");
}

/// Reads the jobs of a parameter file as they are, with their parts and trees.
fn jobs_of_vdbench(text: &str) -> Vec<Job> {
    steps_of_vdbench(text).into_iter().flat_map(|step| step.jobs).collect()
}

/// Returns a job that does what one part does.
fn alone(job: &Job, part: &Part) -> Job {
    Job { workload: part.workload.clone(), parts: Vec::new(), ..job.clone() }
}

/// A job of two parts, of which the second has the values. Each part has its own, in Vdbench's
/// words, and in fio's where they become jobs.
fn check_part(access: &str, values: &[(&'static Param, Value)]) -> bool {
    let (changed, set) = with(access, values);
    let plain = base("randread");
    let part = |name: &str, job: &Job| Part {
        name: name.to_owned(),
        workload: job.workload.clone(),
        ..Part::default()
    };
    let parts = vec![part("p", &plain), part("q", &changed)];
    let job = Job { parts, ..plain };
    if set.is_empty() || read_native(&native::write(&plan_of(&job)).text).is_none() {
        return false;
    }
    let of_part = |name: &&'static str| {
        param::find(name).is_some_and(|param| param.category() == Category::Workload)
    };
    let Translation { text, losses, lost } = vdbench::write(&plan_of(&job));
    let shown = format!("{set:?}\n{text}\n{losses:#?}");
    let is_left_out = losses.iter().any(|loss| loss.contains("is left out"));
    let is_refused = losses.iter().any(|loss| loss.starts_with("Vdbench does not take it"));
    if !is_left_out && !is_refused {
        let back = jobs_of_vdbench(&text).swap_remove(0);
        assert_eq!(back.parts.len(), 2, "{shown}");
        for (was, is) in job.parts.iter().zip(&back.parts) {
            let (was, is) = (alone(&job, was), alone(&back, is));
            let mut silent = silent_of_vdbench(&was, Some(&is), &lost);
            silent.retain(of_part);
            assert!(silent.is_empty(), "{silent:?} {shown}");
        }
    }
    let Translation { text, losses, lost } = fio::write(&plan_of(&job));
    let read = fio::parse_text("t", &text, &LowerOptions::default(), &MapHost::default());
    let shown = format!("{set:?}\n{text}\n{losses:#?}\n{}", all_shown(&read.diagnostics));
    assert!(!read.has_errors(), "{shown}");
    for (was, is) in job.parts.iter().zip(read.plan.jobs()) {
        let mut silent = silent_of_fio(&alone(&job, was), Some(is), &lost);
        silent.retain(of_part);
        assert!(silent.is_empty(), "{silent:?} {shown}");
    }
    true
}

#[test]
fn each_value_is_that_of_its_part() {
    let mut n_checked = 0;
    for param in param::all().filter(|it| runs(it) && it.category() == Category::Workload) {
        for value in samples(param) {
            for access in ["randread", "randwrite"] {
                n_checked += usize::from(check_part(access, &[(param, value.clone())]));
            }
        }
    }
    assert!(n_checked > 20, "{n_checked}");
}

/// A job on a tree of files that both readers know.
fn on_tree() -> Job {
    let text = "fsd=f,anchor=/mnt/a,depth=2,width=2,files=4,size=64k\n\
                fwd=w,fsd=f,operation=read,threads=3,xfersize=8k\n\
                rd=r,fwd=w,fwdrate=100,elapsed=5,interval=1\n";
    jobs_of_vdbench(text).swap_remove(0)
}

/// Values of a job on a tree: those come back that are not lost, and the tree does.
#[test]
fn each_value_of_a_job_on_a_tree_is_said_or_listed() {
    let mut n_checked = 0;
    for param in param::all().filter(|it| runs(it) && it.category() != Category::Workload) {
        for value in samples(param) {
            let base = on_tree();
            let mut job = base.clone();
            if (param.lower)(&mut job, &value).is_err() || job == base {
                continue;
            }
            param::finish(&mut job);
            let Some(job) = read_native(&native::write(&plan_of(&job)).text) else { continue };
            n_checked += 1;
            let Translation { text, losses, lost } = vdbench::write(&plan_of(&job));
            let shown = format!("{}\n{text}\n{losses:#?}", param.name);
            let is_unwritten =
                |loss: &String| loss.contains("is left out") || loss.starts_with("Vdbench does");
            if losses.iter().any(is_unwritten) {
                continue;
            }
            let back = jobs_of_vdbench(&text).swap_remove(0);
            let silent = silent_of_vdbench(&job, Some(&back), &lost);
            assert!(silent.is_empty(), "{silent:?} {shown}");
            assert!(back.tree == job.tree, "{shown}");
        }
    }
    assert!(n_checked > 150, "{n_checked}");
}

/// What is done in a tree comes back, unless a loss says that it does not: each with the words of
/// its loss.
#[test]
fn each_field_of_a_tree_is_said_or_listed() {
    type Change = fn(&mut TreeSpec, &mut TreeTask, &mut TreeOpen);
    let changes: [(Option<&str>, Change); 24] = [
        (None, |tree, _, _| tree.create_parents = true),
        (None, |tree, _, _| tree.depth = 3),
        (None, |tree, _, _| tree.width = 5),
        (None, |tree, _, _| tree.files = 9),
        (None, |tree, _, _| tree.bottom_only = false),
        (None, |tree, _, _| tree.sizes = FileSizes::Average(1 << 20)),
        (Some("shares of file sizes finer"), |tree, _, _| {
            tree.sizes = FileSizes::Split(vec![(4096, 33.333), (8192, 66.667)]);
        }),
        (Some("names of files that do not begin"), |tree, _, _| {
            "x%d".clone_into(&mut tree.file_mask);
        }),
        (None, |tree, _, _| "vdb_%d_%d.dir".clone_into(&mut tree.folder_mask)),
        (None, |tree, _, _| tree.total_bytes = 128 << 10),
        (None, |tree, _, _| tree.working_set_bytes = 128 << 10),
        (Some("the seed of the structure"), |tree, _, _| tree.seed = 7),
        (None, |_, task, _| {
            (task.operation, task.block_size) = (OpKind::Stat, BlockSize::Fixed(4096));
        }),
        (None, |_, task, _| task.operation = OpKind::Write),
        (Some("a mix of reads and writes"), |_, task, _| task.read_pct = Some(30.0)),
        (None, |_, task, _| task.io = FileIo::Random { shared: false }),
        (None, |_, task, _| task.io = FileIo::Random { shared: true }),
        (None, |_, task, _| task.io = FileIo::Sequential { nonzero: true, delete: false }),
        (None, |_, task, _| task.select.once = true),
        (None, |_, task, _| task.select.order = SelectOrder::Poisson(2.0)),
        (None, |_, task, _| task.select.filter = SelectFilter::Empty),
        (Some("stopafter=12.345"), |_, task, _| task.stop_after = Some(StopAfter::Pct(12.345))),
        (None, |_, _, open| open.direct = true),
        (Some("further flags of open(2)"), |_, _, open| open.raw_bits = 0o4000),
    ];
    for (idx, (lost, change)) in changes.into_iter().enumerate() {
        let mut job = on_tree();
        let work = job.tree.as_mut().expect("it is on one");
        let Activity::Operations(tasks) = &mut work.activity else { panic!("operations") };
        change(&mut work.tree, &mut tasks[0], &mut work.open);
        let Translation { text, losses, .. } = vdbench::write(&plan_of(&job));
        let shown = format!("change {idx} {:#?}\n{text}\n{losses:#?}", job.tree);
        let Some(words) = lost else {
            let back = jobs_of_vdbench(&text).swap_remove(0);
            assert!(losses.is_empty() && back.tree == job.tree, "{shown}\n{:#?}", back.tree);
            continue;
        };
        assert!(losses.len() == 1 && losses[0].contains(words), "{shown}");
    }
}
