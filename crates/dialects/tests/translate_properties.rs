//! Random jobs in other words: what comes back is what was said, and the rest is listed as lost.

mod support;

use std::collections::BTreeSet;

use dialects::vdbench::lower::{Context, step};
use dialects::vdbench::{self, Options};
use dialects::{LowerOptions, Translation, fio, native};
use plan::files::{Size, SyncMode};
use plan::job::PartRegion;
use plan::load::Rate;
use plan::workload::BlockSize;
use plan::{Job, Plan};
use proptest::prelude::*;
use support::{MapHost, all_shown, difference};

/// What becomes of an option in Vdbench's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// It comes back, or the loss that has this word says why not.
    Returns(&'static str),
    /// It is listed, by our name.
    Lost(&'static str),
    /// The job is left out.
    LeavesOut,
    /// The job is left out if it writes, else it is listed, by our name.
    LeavesOutWrites(&'static str),
}

use Fate::{LeavesOut, LeavesOutWrites, Lost, Returns};

/// Options of fio. Of those with the same key one at most stands in a job.
const MENU: &[(&str, Fate)] = &[
    ("bs=8k", Returns("")),
    ("bs=8k,16k", Returns("sizes that differ")),
    ("bsrange=4k-16k", Returns("")),
    ("bssplit=4k/25:64k/75", Returns("")),
    ("iodepth=8", Returns("")),
    ("iodepth=3", Returns("")),
    ("numjobs=3", Returns("")),
    ("nrfiles=3", Returns("I/Os in flight")),
    ("direct=1", Returns("")),
    ("sync=sync", Returns("")),
    ("sync=dsync", Returns("")),
    ("size=25%", Returns("")),
    ("size=48m", Returns("")),
    ("rwmixread=70", Returns("")),
    ("rate_iops=100", Returns("")),
    ("rate=4m", Returns("a rate in bytes")),
    ("runtime=7", Returns("")),
    ("runtime=1500ms", Returns("whole seconds")),
    ("ramp_time=3", Returns("")),
    ("percentage_random=50", Returns("")),
    ("description=some words", Returns("")),
    ("exec_prerun=echo a", Returns("")),
    ("exec_postrun=echo \"b\"", Returns("quotes")),
    // Of a depth that is no other than 1.
    ("ioengine=psync\niodepth=8", Returns("")),
    ("ioengine=libaio", Returns("")),
    ("ioengine=mmap", Lost("engine")),
    ("filesize=1m-10m", Lost("file_size_bytes")),
    ("verify=crc32c", Lost("verify")),
    ("loops=3", Lost("loops")),
    ("thinktime=100", Lost("think_time")),
    ("io_size=1m", Lost("io_size")),
    ("fsync=4", Lost("fsync_every")),
    ("end_fsync=1", Lost("end_fsync")),
    ("unlink=1", Lost("unlink")),
    ("randseed=7", Lost("seed")),
    ("zero_buffers", Lost("zero")),
    ("dedupe_percentage=30", Lost("dedupe_pct")),
    ("iodepth_low=1", Lost("queue_depth_low")),
    ("number_ios=10", Lost("n_ios_max")),
    ("startdelay=3", Lost("start_delay")),
    ("max_latency=1s", Lost("latency_max")),
    ("nice=5", Lost("nice")),
    ("lockfile=exclusive", Lost("lock_file")),
    ("ioengine=null", LeavesOut),
    ("ioengine=falloc", LeavesOut),
    ("ioengine=ftruncate", LeavesOut),
    ("ioengine=filecreate", LeavesOut),
    ("ioengine=filestat", LeavesOut),
    ("ioengine=filedelete", LeavesOut),
    ("offset_increment=1m", LeavesOutWrites("offset_increment")),
    ("zonemode=strided\nzonesize=1m\nzoneskip=3m", LeavesOutWrites("zone_skip_bytes")),
    ("filename_format=x.$jobnum.$filenum", LeavesOutWrites("file_name_format")),
    ("file_append=1", LeavesOutWrites("append")),
    ("create_only=1", LeavesOutWrites("create_only")),
    ("offset=50%", Returns("offset")),
    ("offset=2m", Returns("offset")),
];

const WALKS: [&str; 6] = ["read", "write", "rw", "randread", "randwrite", "randrw"];

fn key(option: &str) -> &str {
    option.split('=').next().unwrap_or_default()
}

/// A job of some options, without two that say the same.
fn text_of(walk: &str, chosen: &[(&str, Fate)]) -> String {
    let has = |name: &str| chosen.iter().any(|(option, _)| key(option) == name);
    let mut text = format!("[j]\nrw={walk}\ntime_based\n");
    for (name, usual) in
        [("size", "64m"), ("directory", "/mnt/a"), ("runtime", "5"), ("ioengine", "io_uring")]
    {
        if !has(name) {
            text += &format!("{name}={usual}\n");
        }
    }
    if has("size") && chosen.iter().any(|(option, _)| *option == "size=25%") && !has("filesize") {
        text += "filesize=64m\n";
    }
    for (option, _) in chosen {
        text += option;
        text.push('\n');
    }
    text
}

fn any_choice() -> impl Strategy<Value = (&'static str, Vec<(&'static str, Fate)>)> {
    let options = proptest::collection::vec(proptest::sample::select(MENU), 0..5);
    (proptest::sample::select(&WALKS[..]), options).prop_map(|(walk, options)| {
        let mut keys = BTreeSet::new();
        (walk, options.into_iter().filter(|(option, _)| keys.insert(key(option))).collect())
    })
}

fn parse_fio(text: &str) -> Option<Plan> {
    let read = fio::parse_text("t", text, &LowerOptions::default(), &MapHost::default());
    // Some options do not go together; which is not the question here.
    (!read.has_errors()).then_some(read.plan)
}

fn meaning(plan: &Plan) -> Vec<Vec<Job>> {
    let plain = |job: &Job| Job { options: Vec::new(), ..job.clone() };
    plan.steps.iter().map(|step| step.jobs.iter().map(plain).collect()).collect()
}

/// Reads a parameter file back.
fn parse_vdbench(text: &str) -> Result<Plan, String> {
    let host = MapHost::default();
    let parsed = vdbench::parse_text("t", text, &Options::default(), &host);
    if parsed.has_errors() {
        return Err(all_shown(&parsed.diagnostics));
    }
    let mut findings = Vec::new();
    let context = Context { curve_step_idx: None, first_group_id: 0, loader: &host, sources: &[] };
    let steps = parsed.runs.iter().map(|run| step(run, context, &mut findings)).collect();
    Ok(Plan { steps, ..Plan::default() })
}

/// What a job does to one file, as far as Vdbench can say it: by the word that a loss has of it.
#[derive(Clone, Debug, PartialEq)]
struct Effect {
    path: String,
    from: String,
    to: String,
    read_pct: f64,
    sizes: (u32, u32),
    random_pct: f64,
    depth: u32,
    direct: bool,
    sync: SyncMode,
    runtime_ns: Option<u64>,
    ramp_ns: u64,
    exec_before: Vec<String>,
    exec_after: Vec<String>,
}

/// Rates of both directions go before the mix.
fn read_pct(job: &Job) -> f64 {
    let access = job.access();
    let rate = |dir| match (job.load.rate[dir], &job.workload.block_size[dir]) {
        (Some(Rate::Iops(iops)), _) => Some(iops as f64),
        (Some(Rate::Bytes(bytes)), BlockSize::Fixed(size)) => Some(bytes as f64 / f64::from(*size)),
        _ => None,
    };
    let rates = (rate(plan::Direction::Read), rate(plan::Direction::Write));
    match (access.read, access.write) {
        (true, true) if matches!(rates, (Some(_), Some(_))) => {
            let (read, write) = (rates.0.unwrap_or(0.0), rates.1.unwrap_or(0.0));
            100.0 * read / (read + write)
        }
        (true, true) => job.workload.read_pct,
        (true, _) => 100.0,
        _ => 0.0,
    }
}

fn sizes(size: &BlockSize) -> (u32, u32) {
    (size.min(), size.max())
}

fn bytes(size: Size) -> String {
    match size {
        Size::Bytes(bytes) => bytes.to_string(),
        Size::Percent(pct) => format!("{pct}%"),
        Size::Zones(zones) => format!("{zones}z"),
    }
}

/// What a job of fio does, worked out from the job alone.
fn effects_of_fio(job: &Job) -> Vec<Effect> {
    let n_luns = job.n_workers * job.files.n_files;
    let one_each = job.engine.kind.is_synchronous();
    let depth = if one_each { 1 } else { job.load.queue_depth } * job.n_workers;
    let own_bytes = job.files.file_size_bytes.map(|(_, max)| max);
    let (from, to) = match (job.files.offset, job.files.size) {
        (Size::Percent(from), Some(Size::Percent(pct))) => {
            (format!("{from}%"), format!("{}%", (from + pct).min(100)))
        }
        (Size::Percent(from), _) => (format!("{from}%"), "100%".to_owned()),
        (from, Some(Size::Percent(pct))) => (bytes(from), format!("{pct}%")),
        (Size::Bytes(from), Some(Size::Bytes(size))) => {
            let size = own_bytes.unwrap_or(size / u64::from(job.files.n_files));
            (from.to_string(), (from + size).to_string())
        }
        (from, size) => (bytes(from), size.map(bytes).unwrap_or_default()),
    };
    let dir = if job.access().read { plan::Direction::Read } else { plan::Direction::Write };
    let random = job.workload.access.random;
    let effect = |worker: u32, file: u32| Effect {
        path: format!("/mnt/a/j.{worker}.{file}"),
        from: from.clone(),
        to: to.clone(),
        read_pct: read_pct(job),
        sizes: sizes(&job.workload.block_size[dir]),
        random_pct: if random { job.workload.random_pct[dir] } else { 0.0 },
        depth: depth / n_luns,
        direct: job.files.direct,
        sync: job.files.sync,
        runtime_ns: job.limits.runtime_ns,
        ramp_ns: job.limits.ramp_ns,
        exec_before: job.process.exec_before.iter().cloned().collect(),
        exec_after: job.process.exec_after.iter().cloned().collect(),
    };
    let workers = 0..job.n_workers;
    workers
        .flat_map(|worker| (0..job.files.n_files).map(move |file| (worker, file)))
        .map(|(worker, file)| effect(worker, file))
        .collect()
}

/// What the jobs of a parameter file do.
fn effects_of_vdbench(plan: &Plan) -> Vec<Effect> {
    let mut effects: Vec<Effect> = plan
        .steps
        .iter()
        .flat_map(|step| step.jobs.iter().map(move |job| (step, job)))
        .map(|(step, job)| {
            let [part] = &job.parts[..] else { panic!("one workload: {:?}", job.parts) };
            let (from, to) = match (part.region, job.files.offset, job.files.size) {
                (PartRegion::Pct(from, 100.0), ..) if from > 0.0 => {
                    (format!("{from}%"), "100%".to_owned())
                }
                (PartRegion::Pct(from, to), Size::Bytes(0), _) if from > 0.0 => {
                    (format!("{from}%"), format!("{to}%"))
                }
                (PartRegion::Pct(_, to), from, _) => (bytes(from), format!("{to}%")),
                (_, Size::Bytes(from), Some(Size::Bytes(size))) => {
                    (from.to_string(), (from + size).to_string())
                }
                (_, from, size) => (bytes(from), size.map(bytes).unwrap_or_default()),
            };
            let workload = &part.workload;
            Effect {
                path: job.files.names.join(":"),
                from,
                to,
                read_pct: workload.read_pct,
                sizes: sizes(&workload.block_size.read),
                random_pct: if workload.access.random { workload.random_pct.read } else { 0.0 },
                depth: job.load.queue_depth,
                direct: job.files.direct,
                sync: job.files.sync,
                runtime_ns: job.limits.runtime_ns,
                ramp_ns: job.limits.ramp_ns,
                exec_before: step.exec_before.clone(),
                exec_after: step.exec_after.clone(),
            }
        })
        .collect();
    effects.sort_by(|one, other| one.path.cmp(&other.path));
    effects
}

/// Returns what differs between two effects, by the words of which one stands in a loss.
fn differing(was: &Effect, is: &Effect) -> Vec<&'static [&'static str]> {
    let depth: &[&str] = &["I/Os in flight"];
    let time: &[&str] = &["whole seconds"];
    let places: &[&str] = &["offset", "size", "zone"];
    let all = [
        (was.path == is.path, &["file_name"] as &[&str]),
        (was.from == is.from && was.to == is.to, places),
        (
            (was.read_pct - is.read_pct).abs() < 0.01,
            &["a rate of reads or of writes", "share of reads"],
        ),
        (was.sizes == is.sizes, &["size"]),
        ((was.random_pct - is.random_pct).abs() < 0.01, &["random"]),
        (was.depth == is.depth, depth),
        (was.direct == is.direct, &["direct"]),
        (was.sync == is.sync, &["sync"]),
        (was.runtime_ns == is.runtime_ns, time),
        (was.ramp_ns == is.ramp_ns, time),
        (was.exec_before == is.exec_before, &["startcmd="]),
        (was.exec_after == is.exec_after, &["endcmd="]),
    ];
    all.into_iter().filter(|(same, _)| !same).map(|(_, words)| words).collect()
}

fn names(losses: &[String], word: &str) -> bool {
    losses.iter().any(|loss| loss.contains(word))
}

/// Rate of the one job, I/Os per second over all workers.
fn rate(job: &Job) -> Option<f64> {
    let of_dir = |dir| match job.load.rate[dir]? {
        Rate::Iops(iops) => Some(iops as f64),
        Rate::Bytes(bytes) => Some(bytes as f64 / f64::from(job.workload.block_size[dir].min())),
    };
    let sum: Option<f64> = job.issued_directions().map(of_dir).sum();
    sum.map(|sum| sum * f64::from(job.n_workers))
}

fn check_vdbench(text: &str, job: &Job, chosen: &[(&str, Fate)]) {
    let plan = parse_fio(text).expect("it was read");
    let Translation { text: written, losses, .. } = vdbench::write(&plan);
    let shown = format!("{text}\n{written}\n{losses:#?}");
    let writes = job.modifies();
    let left_out = chosen.iter().any(|(option, fate)| match fate {
        LeavesOut => true,
        LeavesOutWrites(_) => writes,
        Returns("offset") => names(&losses, "is left out") && writes && option.contains('%'),
        Returns(_) | Lost(_) => false,
    });
    let mixes_places = names(&losses, "is left out");
    if left_out || mixes_places {
        assert!(mixes_places, "{shown}");
        assert!(!written.contains("lun="), "{shown}");
        return;
    }
    for (option, fate) in chosen {
        if let Lost(name) | LeavesOutWrites(name) = fate {
            let param = plan::param::find(name).expect("a parameter");
            let key = param.fio.first().unwrap_or(name);
            assert!(names(&losses, &format!("`{key}=")), "`{option}`: {shown}");
        }
    }
    let back = parse_vdbench(&written).unwrap_or_else(|found| panic!("{shown}\n{found}"));
    let (was, is) = (effects_of_fio(job), effects_of_vdbench(&back));
    assert_eq!(was.len(), is.len(), "{shown}");
    for (was, is) in was.iter().zip(&is) {
        for words in differing(was, is) {
            let is_listed = words.iter().any(|word| names(&losses, word));
            assert!(is_listed, "{words:?}: {was:#?}\n{is:#?}\n{shown}");
        }
    }
    let mut comes_back = was == is;
    let rate_back: Option<f64> = back.jobs().map(|job| job.load.rate_total_iops).sum();
    let is_same = match (rate(job), rate_back) {
        (None, None) => true,
        (Some(was), Some(is)) => (was - is).abs() <= 0.01 * was,
        _ => false,
    };
    assert!(is_same || names(&losses, "rate"), "{:?} {rate_back:?} {shown}", rate(job));
    comes_back &= is_same;
    // Of several it is not known which of them did not come back.
    if let [(option, Returns(word))] = chosen {
        let is_said = !word.is_empty() && names(&losses, word);
        assert!(comes_back || is_said, "`{option}`: {was:#?}\n{is:#?}\n{shown}");
    }
}

fn check(walk: &str, chosen: &[(&'static str, Fate)]) {
    let text = text_of(walk, chosen);
    let Some(plan) = parse_fio(&text) else { return };
    let host = MapHost::default();
    let own = native::write(&plan);
    let read = native::parse_text("t", &own.text, &LowerOptions::default(), &host);
    assert!(!read.has_errors(), "{}\n{}", own.text, all_shown(&read.diagnostics));
    let (was, is) = (meaning(&plan), meaning(&read.plan));
    assert!(was == is && own.losses.is_empty(), "{text}\n{}", difference(&was, &is));
    let written = fio::write(&plan);
    let again = parse_fio(&written.text).unwrap_or_else(|| panic!("{}", written.text));
    let is = meaning(&again);
    assert!(was == is && written.losses.is_empty(), "{text}\n{}", difference(&was, &is));
    let job = plan.jobs().next().expect("a job");
    check_vdbench(&text, job, chosen);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn what_is_not_said_is_listed((walk, chosen) in any_choice()) {
        check(walk, &chosen);
    }
}

#[test]
fn each_option_alone_is_said_or_listed() {
    for walk in WALKS {
        for option in MENU {
            check(walk, std::slice::from_ref(option));
        }
    }
}

/// The word of a loss that an option may have is said of some job.
#[test]
fn each_word_of_a_loss_is_said() {
    let is_said = |option: &(&'static str, Fate), word: &str| {
        let beside = MENU.iter().filter(|other| key(other.0) != key(option.0));
        let alone = std::iter::once(vec![*option]);
        alone.chain(beside.map(|other| vec![*option, *other])).any(|chosen| {
            WALKS.iter().any(|walk| {
                let plan = parse_fio(&text_of(walk, &chosen));
                plan.is_some_and(|plan| names(&vdbench::write(&plan).losses, word))
            })
        })
    };
    let is_stale = |option: &&(&'static str, Fate)| match option.1 {
        Returns(word) => !word.is_empty() && !is_said(option, word),
        Lost(_) | LeavesOut | LeavesOutWrites(_) => false,
    };
    let stale: Vec<_> = MENU.iter().filter(is_stale).collect();
    assert!(stale.is_empty(), "{stale:?}");
}

/// Options of which each alone can be read.
#[test]
fn the_menu_can_be_read() {
    for option in MENU {
        let read = WALKS.iter().any(|walk| parse_fio(&text_of(walk, &[*option])).is_some());
        assert!(read, "{option:?}");
    }
}
