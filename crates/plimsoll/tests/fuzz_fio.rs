//! Random job files, run by the real fio and by us, beside each other: the same exit status, jobs,
//! options, amounts, files left behind and logs. Seeds are fixed here; `cargo xtask fuzz-fio` takes
//! fresh ones. What differs on purpose stands in docs/fio-compatibility.md; [`expected`] has it.

#![expect(clippy::print_stdout, reason = "a job that differs is shown")]

#[path = "common/against.rs"]
mod against;
mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;

use against::{NEWER, drop_options_without_value, jobs, ours, real_fio, shape};
use common::Sandbox;

/// Jobs of the ordinary test run: as many as take some 20 s.
const N_FIXED: u64 = 40;

/// Random numbers: SplitMix64 (Steele, Lea and Flood, 2014).
struct Draw(u64);

impl Draw {
    fn number(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % below
    }

    fn chance(&mut self, pct: u64) -> bool {
        self.number(100) < pct
    }

    fn of<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.number(items.len() as u64) as usize]
    }
}

/// A job file with what is compared of it.
struct Job {
    text: String,
    format: &'static str,
    /// Amounts follow from the file alone, by job.
    is_fixed: bool,
    /// Reads and writes are drawn: their sum is fixed, not each.
    is_mixed: bool,
    /// Sizes are drawn, too.
    has_sizes: bool,
    /// A size that is no multiple of the block, where I/Os may repeat: fio goes beyond it. Or
    /// more to verify than there is: fio stops.
    has_rest: bool,
}

const ENGINES: [&str; 8] =
    ["psync", "sync", "pvsync", "pvsync2", "libaio", "io_uring", "mmap", "null"];
const WALKS: [&str; 6] = ["read", "write", "randread", "randwrite", "rw", "randrw"];

/// Options that change neither amounts nor what is left, each with an engine-free meaning.
const PLAIN: [&str; 31] = [
    "norandommap",
    "randrepeat=0",
    "randseed=77",
    "end_fsync=1",
    "fsync=8",
    "fdatasync=5",
    "fallocate=none",
    "fallocate=keep",
    "fallocate=posix",
    "invalidate=0",
    "percentile_list=50:99:99.9",
    "lat_percentiles=1",
    "clat_percentiles=0",
    "disable_lat=1",
    "disable_slat=1",
    "disable_clat=1",
    "gtod_reduce=1",
    "unified_rw_reporting=1",
    "zero_buffers",
    "refill_buffers",
    "buffer_compress_percentage=40",
    "dedupe_percentage=25",
    "buffer_pattern=0xdeadbeef",
    "thinktime=200\nthinktime_blocks=8",
    "description=one of many",
    "continue_on_error=all",
    "ignore_error=EAGAIN",
    "random_distribution=zipf:1.2",
    "lockfile=readwrite",
    "overwrite=1",
    "create_serialize=0",
];

/// Options that end or shape the amount, which both count alike.
const SHAPING: [&str; 12] = [
    "loops=2",
    "number_ios=9",
    "io_size=100k",
    "io_size=50%",
    "offset=64k",
    "nrfiles=3",
    "nrfiles=2\nfile_service_type=random",
    "nrfiles=2\nfile_service_type=sequential",
    "numjobs=2",
    "numjobs=3",
    "unlink=1",
    "create_on_open=1",
];

const LOGS: [&str; 7] = [
    "write_bw_log=%",
    "write_iops_log=%",
    "write_lat_log=%",
    "write_lat_log=%\nlog_avg_msec=100",
    "write_bw_log=%\nwrite_lat_log=%\nlog_offset=1",
    "write_iops_log=%\nper_job_logs=0",
    "write_hist_log=%\nlog_hist_msec=100",
];

fn section(draw: &mut Draw, idx: u64, job: &mut Job) {
    let walk = draw.of(&WALKS);
    let engine = draw.of(&ENGINES);
    let _ = write!(job.text, "[j{idx}]\nrw={walk}\nioengine={engine}\n");
    let size = draw.of(&["64k", "256k", "300k", "1000k", "1m", "5000k"]);
    let _ = writeln!(job.text, "size={size}");
    let block =
        draw.of(&["bs=4k", "bs=4k", "bs=8k", "bs=12k", "bs=512", "bs=4k,8k", "bsrange=4k-16k"]);
    // The real one maps whole pages.
    let block = if engine == "mmap" && block == "bs=512" { "bs=4k" } else { block };
    let is_sized = block.contains("range") || block.contains(',');
    job.has_sizes |= is_sized;
    let from = job.text.len();
    job.is_mixed |= walk.ends_with("rw");
    let _ = writeln!(job.text, "{block}");
    if walk.ends_with("rw") && draw.chance(50) {
        let _ = writeln!(job.text, "rwmixread={}", draw.of(&[0, 10, 70, 100]));
    }
    if matches!(engine, "libaio" | "io_uring" | "null") && draw.chance(60) {
        let _ = writeln!(job.text, "iodepth={}", draw.of(&[2, 4, 16]));
    }
    if engine == "libaio" && block == "bs=4k" && size != "300k" && draw.chance(50) {
        job.text.push_str("direct=1\n");
    }
    if draw.chance(20) {
        let rate = draw.of(&["rate_iops=1000", "rate_iops=2000,1000", "rate=20m", "rate=,30m"]);
        let _ = writeln!(job.text, "{rate}");
    }
    if walk.ends_with("write") && engine != "null" && !is_sized && draw.chance(25) {
        let method = draw.of(&["crc32c", "md5", "xxhash", "sha256", "crc64"]);
        let _ = writeln!(job.text, "verify={method}");
        if draw.chance(30) {
            job.text.push_str(draw.of(&["do_verify=0\n", "verify_fatal=1\n", "verify_async=2\n"]));
        }
    }
    let mut keys = BTreeSet::new();
    for _ in 0..draw.number(5) {
        // What fio does not take, or fails of, and we do not: see the page.
        let is_taken = |option: &str| match option {
            "create_on_open=1" => walk.ends_with("write"),
            _ => true,
        };
        let option = if draw.chance(60) { draw.of(&PLAIN) } else { draw.of(&SHAPING) };
        if is_taken(option) && keys.insert(option.split('=').next().unwrap_or_default()) {
            let _ = writeln!(job.text, "{option}");
        }
    }
    if draw.chance(30) {
        let _ = writeln!(job.text, "{}", draw.of(&LOGS).replace('%', &format!("log{idx}")));
    }
    let text = &job.text[from..];
    let repeats = walk == "rw" || text.contains("norandommap") || text.contains("zipf");
    let is_divided = text.contains("nrfiles");
    let goes_on = text.contains("verify=") && text.contains("io_size=100k") && size == "64k";
    job.has_rest |= goes_on;
    job.has_rest |= is_divided && text.contains("io_size=100k");
    job.has_rest |= repeats && (block == "bs=12k" || size == "300k" || is_divided);
    if draw.chance(8) {
        job.text.push_str("time_based\nruntime=1\n");
        job.is_fixed = false;
    }
}

/// Makes the job file of a seed.
fn job_of(seed: u64) -> Job {
    let mut draw = Draw(seed);
    let format = draw.of(&["json", "json", "json", "json+", "terse", "normal"]);
    let mut job = Job {
        text: String::new(),
        format,
        is_fixed: true,
        is_mixed: false,
        has_sizes: false,
        has_rest: false,
    };
    // Where some jobs of a group ask for it and others do not, fio adds an entry without name.
    if draw.chance(25) {
        job.text.push_str("[global]\ngroup_reporting=1\n");
    }
    for idx in 0..draw.of(&[1, 1, 2, 3]) {
        if idx > 0 {
            let order = draw.of(&["", "stonewall\n", "new_group\n", "wait_for=j0\n"]);
            section(&mut draw, idx, &mut job);
            job.text.push_str(order);
        } else {
            section(&mut draw, idx, &mut job);
        }
    }
    job
}

/// What a program left.
#[derive(Debug)]
struct Left {
    code: i32,
    stdout: String,
    stderr: String,
    /// Sizes of the files that are no logs, by name.
    files: BTreeMap<String, u64>,
    /// Of each log, how many fields its first line has; 0 where it is empty.
    logs: BTreeMap<String, usize>,
}

fn run(program: &Path, job: &Job) -> Left {
    let sandbox = Sandbox::new();
    sandbox.write("job.fio", &job.text);
    let mut command = sandbox.command(program);
    command.args(["--disk_util=0", &format!("--output-format={}", job.format), "job.fio"]);
    let output = command.stdin(Stdio::null()).output().expect("it runs");
    let (mut files, mut logs) = (BTreeMap::new(), BTreeMap::new());
    for entry in std::fs::read_dir(sandbox.path("")).expect("ours").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let len = entry.metadata().map_or(0, |facts| facts.len());
        if Path::new(&name).extension().is_some_and(|end| end == "log") {
            let text = std::fs::read_to_string(entry.path()).unwrap_or_default();
            logs.insert(name, text.lines().next().map_or(0, |line| line.split(',').count()));
        } else if name != "job.fio" && Path::new(&name).extension().is_none_or(|end| end != "state")
        {
            files.insert(name, len);
        }
    }
    Left {
        code: output.status.code().unwrap_or(KILLED),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        files,
        logs,
    }
}

/// The exit code of a program that a signal ended.
const KILLED: i32 = -1;

/// I/Os and bytes of a job by direction.
fn amounts(job: &Value) -> [(u64, u64); 3] {
    ["read", "write", "trim"].map(|dir| {
        let number = |key: &str| job[dir][key].as_u64().unwrap_or(0);
        (number("total_ios"), number("io_bytes"))
    })
}

fn compare_json(job: &Job, fio: &Left, ours: &Left, differ: &mut Vec<String>) {
    let parsed = [fio, ours].map(|left| {
        let from = left.stdout.find('{').unwrap_or(0);
        serde_json::from_str::<Value>(&left.stdout[from..])
    });
    let [Ok(fio), Ok(mut ours)] = parsed else {
        differ.push("the JSON of one is none".to_owned());
        return;
    };
    drop_options_without_value(&mut ours);
    let mut note = |what: &str, fio: &dyn std::fmt::Debug, ours: &dyn std::fmt::Debug| {
        differ.push(format!("{what}: fio {fio:?}, ours {ours:?}"));
    };
    let of = |page: &Value, key: &str| -> Vec<Value> {
        jobs(page).map(|job| job[key].clone()).collect()
    };
    for key in ["jobname", "groupid", "error", "desc"] {
        if of(&fio, key) != of(&ours, key) {
            note(key, &of(&fio, key), &of(&ours, key));
        }
    }
    let options = |page: &Value| -> Vec<Value> {
        let plain = |mut options: Value| {
            if let Some(options) = options.as_object_mut() {
                options.retain(|_, value| value != "");
            }
            options
        };
        of(page, "job options").into_iter().map(plain).collect()
    };
    if options(&fio) != options(&ours) {
        note("job options", &options(&fio), &options(&ours));
    }
    let keys = |page: &Value| {
        let mut types = BTreeMap::new();
        shape("", page, &mut types);
        let is_value = |path: &str| path.contains("job options") || path.ends_with("bins.NS");
        types
            .into_keys()
            .filter(|path| !is_value(path) && !NEWER.contains(&path.as_str()))
            .collect::<BTreeSet<String>>()
    };
    let (theirs, mut own) = (keys(&fio), keys(&ours));
    if of(&fio, "sync").iter().all(|sync| sync["lat_ns"]["N"].as_u64().unwrap_or(0) == 0) {
        // The sync after the last write, which fio leaves out, was the only one.
        let of_samples = ["jobs.sync.lat_ns.percentile", "jobs.sync.lat_ns.bins"];
        own.retain(|path| !of_samples.iter().any(|head| path.starts_with(head)));
    }
    let only = |one: &BTreeSet<String>, other: &BTreeSet<String>| -> Vec<String> {
        one.difference(other).cloned().collect()
    };
    // With few I/Os a mix may draw one direction only, and the other then has no percentiles.
    let busy_of = |page: &Value| -> Vec<[bool; 3]> {
        jobs(page).map(|job| amounts(job).map(|it| it.0 > 0)).collect()
    };
    if theirs != own && (!job.is_mixed || busy_of(&fio) == busy_of(&ours)) {
        note("keys", &only(&theirs, &own), &only(&own, &theirs));
    }
    for (fio, ours) in jobs(&fio).zip(jobs(&ours)) {
        compare_amounts(job, amounts(fio), amounts(ours), differ);
    }
}

/// Compares I/Os and bytes by direction, as far as they follow from the job file.
fn compare_amounts(
    job: &Job,
    fio: [(u64, u64); 3],
    ours: [(u64, u64); 3],
    differ: &mut Vec<String>,
) {
    let sum = |amounts: &[(u64, u64); 3]| amounts.iter().map(|it| it.1).sum::<u64>();
    let busy = |amounts: &[(u64, u64); 3]| amounts.map(|it| it.0 > 0);
    let is_same = match (job.is_fixed && !job.has_rest, job.is_mixed, job.has_sizes) {
        (true, false, false) => fio == ours,
        (true, true, false) => sum(&fio) == sum(&ours),
        _ => true,
    };
    if !is_same {
        differ.push(format!("amounts: fio {fio:?}, ours {ours:?}"));
    }
    // With few I/Os a mix may draw one direction only.
    let n = fio.iter().map(|it| it.0).sum::<u64>();
    if (n > 60 || !job.is_mixed) && busy(&fio) != busy(&ours) {
        differ.push(format!("directions: fio {fio:?}, ours {ours:?}"));
    }
}

fn compare_terse(fio: &Left, ours: &Left, differ: &mut Vec<String>) {
    let fields = |left: &Left| -> Vec<(usize, Vec<String>)> {
        let lines = left.stdout.lines().filter(|line| line.starts_with("3;"));
        // Version, program, name, group, error.
        let head = |line: &str| line.split(';').skip(2).take(3).map(str::to_owned).collect();
        lines.map(|line| (line.split(';').count(), head(line))).collect()
    };
    let (theirs, own) = (fields(fio), fields(ours));
    if theirs != own {
        differ.push(format!("terse lines: fio {theirs:?}, ours {own:?}"));
    }
}

/// Compares the beginnings of lines: what a script looks for.
fn compare_normal(job: &Job, fio: &Left, ours: &Left, differ: &mut Vec<String>) {
    let heads = |left: &Left| -> Vec<String> {
        let head = |line: &str| {
            let line = line.trim_start();
            let end = line.find([':', '=', '(']).unwrap_or(0);
            // fio up to 3.39 has no syncfs.
            line[..end].trim_end().trim_end_matches("/syncfs").to_owned()
        };
        let is_head = |head: &String| {
            let known = [
                "read",
                "write",
                "trim",
                "slat",
                "clat",
                "lat",
                "bw",
                "iops",
                "cpu",
                "IO depths",
                "submit",
                "complete",
                "issued rwts",
                "latency",
                "READ",
                "WRITE",
                "Run status group 0",
                "Run status group 1",
                "fsync/fdatasync/sync_file_range",
                "sync percentiles",
                "mixed",
                "Description",
                "errors",
            ];
            known.contains(&head.as_str()) || head.starts_with('j')
        };
        // fio reports the layout of each clone, and of files that need none.
        let lines = left.stdout.lines().filter(|line| !line.contains("Laying out"));
        let mut heads: Vec<String> = lines.map(head).filter(is_head).collect();
        // The scale of latencies, and so how many lines they take, depends on the machine.
        heads.retain(|head| head != "lat");
        // Samples of bandwidth need half a second.
        heads.retain(|head| head != "bw" && head != "iops");
        // With few I/Os a mix may draw one direction only.
        let of_a_direction = ["read", "write", "slat", "clat", "READ", "WRITE"];
        heads.retain(|head| !(job.is_mixed && of_a_direction.contains(&head.as_str())));
        // fio calls all lines of a group MIXED where one of its jobs is.
        let is_unified = job.text.contains("unified_rw_reporting");
        heads.retain(|head| !(is_unified && (head == "READ" || head == "WRITE")));
        heads
    };
    let (theirs, mut own) = (heads(fio), heads(ours));
    let is_of_syncs = |head: &String| head.starts_with("fsync/") || head == "sync percentiles";
    if !theirs.iter().any(is_of_syncs) {
        // The sync after the last write, which fio leaves out, was the only one.
        own.retain(|head| !is_of_syncs(head));
    }
    if theirs != own {
        differ.push(format!("lines: fio {theirs:?}, ours {own:?}"));
    }
}

/// Runs a job in both; returns what differs and is not expected to.
fn differences(fio: &Path, ours: &Path, job: &Job) -> Vec<String> {
    let (theirs, own) = (run(fio, job), run(ours, job));
    let mut differ = Vec::new();
    // fio refuses what differs within a group; here each job has its own.
    if theirs.stderr.contains("fio: lat_percentiles in job") && own.code == 0 {
        return Vec::new();
    }
    // fio itself died, of a mapping beyond the end of a file: an error is what is left to give.
    if theirs.code == KILLED && own.code != KILLED && own.code != 0 {
        return Vec::new();
    }
    if theirs.code != own.code {
        differ.push(format!(
            "exit: fio {}, ours {}\n--- fio: {}\n--- ours: {}",
            theirs.code, own.code, theirs.stderr, own.stderr
        ));
        return expected(job, differ);
    }
    if theirs.code == 0 {
        match job.format {
            "terse" => compare_terse(&theirs, &own, &mut differ),
            "normal" => compare_normal(job, &theirs, &own, &mut differ),
            _ => compare_json(job, &theirs, &own, &mut differ),
        }
        if theirs.files != own.files {
            differ.push(format!("files: fio {:?}, ours {:?}", theirs.files, own.files));
        }
        // A short run has nothing but final values, which fio loses: its log may be empty.
        let is_same_log = |(name, n_theirs): (&String, &usize)| {
            *n_theirs == 0 || own.logs.get(name) == Some(n_theirs)
        };
        if !theirs.logs.keys().eq(own.logs.keys()) || !theirs.logs.iter().all(is_same_log) {
            differ.push(format!("logs: fio {:?}, ours {:?}", theirs.logs, own.logs));
        }
    }
    expected(job, differ)
}

/// Takes away what differs on purpose, with the row of docs/fio-compatibility.md that says why.
fn expected(job: &Job, mut differ: Vec<String>) -> Vec<String> {
    let has = |word: &str| job.text.contains(word);
    // Which files are made, and how long they become, is a matter of which I/Os come.
    differ.retain(|what| !(what.starts_with("files") && has("create_on_open")));
    differ
}

fn check(seed: u64, fio: &Path, ours: &Path) -> bool {
    let job = job_of(seed);
    let differ = differences(fio, ours, &job);
    if !differ.is_empty() {
        println!("seed {seed}, {}:\n{}", job.format, job.text);
        for what in &differ {
            println!("  {what}");
        }
        println!();
    }
    differ.is_empty()
}

#[test]
fn random_jobs_do_the_same_in_fio() {
    let Some(fio) = real_fio() else { return };
    #[expect(clippy::disallowed_methods, reason = "a test's own options")]
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let first = number("PLIMSOLL_FUZZ_SEED").unwrap_or(0);
    let n_jobs = number("PLIMSOLL_FUZZ_JOBS").unwrap_or(N_FIXED);
    let sandbox = Sandbox::new();
    let ours = ours(&sandbox);
    let bad =
        (first..first.saturating_add(n_jobs)).filter(|seed| !check(*seed, fio, &ours)).count();
    assert_eq!(bad, 0, "of {n_jobs} jobs from seed {first} on");
}
