//! Plans as test configurations of Iometer: what is written is read back, and the rest is listed.

mod support;

use dialects::iometer::{Config, read_config};
use dialects::{
    FilesOnly, LowerOptions, Overrides, Parsed, Request, Translation, find_dialect, fio, likeliest,
};
use plan::workload::BlockSize;
use plan::{Direction, Job, PerDir, Plan, Severity};
use proptest::prelude::*;
use support::{MapHost, all_shown};

const ICF: &str = "iometer";

/// Reads a text, to be looked at.
fn read(language: &str, text: &str) -> Parsed {
    let request = Request {
        files: &["jobs".to_owned()],
        sections: &[],
        overrides: &Overrides::default(),
        all_hosts_local: true,
        is_to_run: false,
    };
    let host = FilesOnly(|_: &str| Ok(text.as_bytes().to_vec()));
    find_dialect(language).expect("a language").read(&request, &host).parsed
}

#[track_caller]
fn plan_of(language: &str, text: &str) -> Plan {
    let parsed = read(language, text);
    let findings = [&parsed.diagnostics[..], &parsed.refusals].concat();
    let is_fine = findings.iter().all(|it| it.severity != Severity::Error);
    assert!(is_fine, "{text}\n{}", all_shown(&findings));
    parsed.plan
}

#[track_caller]
fn of_fio(text: &str) -> Plan {
    let parsed = fio::parse_text("t", text, &LowerOptions::default(), &MapHost::default());
    assert!(!parsed.has_errors(), "{}", all_shown(&parsed.diagnostics));
    parsed.plan
}

fn write(plan: &Plan) -> Translation {
    find_dialect(ICF).expect("a language").write(plan)
}

/// Writes a plan, and returns it in Iometer's words and with what is lost.
#[track_caller]
fn written(plan: &Plan) -> (Config, Vec<String>) {
    let Translation { text, losses, .. } = write(plan);
    let (config, findings) = read_config(&text);
    assert!(findings.is_empty(), "{text}\n{}", all_shown(&findings));
    let is_sound = |line: &str| line.starts_with(['\'', '\t', 'V']) && line.len() < 200;
    assert!(text.lines().all(is_sound), "{text}");
    (config, losses)
}

/// Lists the lines of each access specification, by its name.
fn specs(config: &Config) -> Vec<(&str, Vec<[u32; 7]>)> {
    let lines = |spec: &dialects::iometer::AccessSpec| {
        let of = |it: &dialects::iometer::AccessLine| {
            let (share, reads, random) = (it.share_pct, it.read_pct, it.random_pct);
            let pcts = [share, reads, random].map(u32::from);
            [it.size_bytes, pcts[0], pcts[1], pcts[2], it.delay_ms, it.burst, it.align_bytes]
        };
        spec.lines.iter().map(of).collect()
    };
    config.specs.iter().map(|spec| (&*spec.name, lines(spec))).collect()
}

/// A worker: its name, outstanding I/Os, targets and specifications.
type Listed<'a> = (&'a str, u32, Vec<&'a str>, Vec<&'a str>);

fn workers(config: &Config) -> Vec<Listed<'_>> {
    let workers = config.managers.iter().flat_map(|manager| &manager.workers);
    let listed = workers.map(|it| {
        let targets = it.targets.iter().map(|target| &*target.name).collect();
        let specs = it.specs.iter().map(|(name, _)| &**name).collect();
        (&*it.name, it.queue_depth, targets, specs)
    });
    listed.collect()
}

const COMMON: &str = "[global]\nioengine=io_uring\ndirect=1\nnorandommap\ntime_based\nruntime=90\n\
                      ramp_time=5\nrandrepeat=0\nallow_file_create=0\n";

#[test]
fn a_job_on_a_device_is_a_worker_and_nothing_is_lost() {
    let text = "[oltp, night]\nfilename=/dev/sdb\nrw=randrw\nrwmixread=67\nbs=8k\nblockalign=4k\n\
                iodepth=32\nsize=1m\noffset=32k\n";
    let (config, losses) = written(&of_fio(&format!("{COMMON}{text}")));
    assert_eq!(losses, [""; 0]);
    assert_eq!((config.test.run_time_s, config.test.ramp_up_s), (90, 5));
    let line = [8192, 100, 67, 100, 0, 1, 4096];
    assert_eq!(specs(&config), [("oltp; night", vec![line])]);
    assert_eq!(workers(&config), [("oltp, night", 32, vec!["sdb"], vec!["oltp; night"])]);
    let worker = &config.managers[0].workers[0];
    assert_eq!((worker.size_sectors, worker.start_sector, worker.seed), (2048, 64, None));
}

#[test]
fn sizes_are_lines_with_shares() {
    let text = "[mix]\nfilename=/dev/sdb\nrw=randrw\nrwmixread=70\n\
                bssplit=4k/25:64k/75,8k/50:512/50\n";
    let (config, losses) = written(&of_fio(&format!("{COMMON}{text}")));
    let line = |size, share, reads, align| [size, share, reads, 100, 0, 1, align];
    let lines = vec![
        line(4096, 17, 100, 4096),
        line(65536, 53, 100, 4096),
        line(8192, 15, 0, 512),
        line(512, 15, 0, 512),
    ];
    assert_eq!(specs(&config), [("mix", lines)]);
    // 17.5 and 52.5 %.
    assert_eq!(losses, ["shares of I/O (`mix`): Iometer has whole percents"]);
    let whole = text.replace("25:64k/75", "30:64k/70").replace("rwmixread=70", "rwmixread=50");
    let (_, losses) = written(&of_fio(&format!("{COMMON}{whole}")));
    assert_eq!(losses, [""; 0]);
    // 4,096 sizes are 100 lines, each for those up to it.
    let range = "[r]\nfilename=/dev/sdb\nrw=randread\nbsrange=4k-16m\n";
    let (config, losses) = written(&of_fio(&format!("{COMMON}{range}")));
    let [(_, lines)] = &specs(&config)[..] else { panic!("one") };
    assert_eq!((lines.len(), lines[99][0]), (100, 16 << 20));
    assert!(losses.iter().any(|loss| loss.starts_with("sizes (`r`): 100 ")), "{losses:?}");
}

/// Lines of one walk go on from one place in the tool, which is not so here.
#[test]
fn where_lines_go_on_is_listed() {
    let text = "[mix]\nfilename=/dev/sdb\nrw=read\nbssplit=4k/25:64k/75\n";
    let (_, losses) = written(&of_fio(&format!("{COMMON}{text}")));
    let [loss] = &losses[..] else { panic!("{losses:?}") };
    assert!(loss.starts_with("where sequential I/O of several lines goes on (`mix`)"), "{loss}");
}

#[test]
fn steps_are_specifications_one_after_another() {
    let text = "[warm]\nfilename=/dev/sdb\nrw=write\nbs=1m\niodepth=2\n\
                [read]\nstonewall\nfilename=/dev/sdb\nrw=randread\nbs=8k\niodepth=8\n\
                [log]\nfilename=/dev/sdc\nrw=write\nbs=4k\niodepth=1\n\
                [scan]\nstonewall\nfilename=/dev/sdb\nrw=read\nbs=1m\niodepth=2\n";
    let plan = of_fio(&format!("{COMMON}{text}"));
    let (config, losses) = written(&plan);
    assert_eq!(losses, [""; 0]);
    let expected: [Listed<'_>; 3] = [
        ("Worker 1", 2, vec!["sdb"], vec!["warm", "Idle", "scan"]),
        ("read", 8, vec!["sdb"], vec!["Idle", "read"]),
        ("log", 1, vec!["sdc"], vec!["Idle", "log"]),
    ];
    assert_eq!(workers(&config), expected);
    let Translation { text, .. } = write(&plan);
    let back = plan_of(ICF, &text);
    assert_eq!(run_list(&back), run_list(&plan));
    // Names come back, too.
    let names: Vec<&str> = back.steps.iter().map(|step| &*step.name).collect();
    assert_eq!(names, ["warm", "read + log", "scan"]);
    assert_eq!(write(&back).text, text);
}

#[test]
fn times_are_those_of_the_longest() {
    let text = "[a]\nfilename=/dev/sdb\nruntime=1500ms\n[b]\nfilename=/dev/sdc\nruntime=7\n\
                [c]\nfilename=/dev/sdd\nrw=write\nruntime=7\ntime_based=0\n";
    let (config, losses) = written(&of_fio(&format!("{COMMON}{text}")));
    assert_eq!(config.test.run_time_s, 7);
    let has = |words: &str| losses.iter().any(|loss| loss.contains(words));
    assert!(has("`runtime=1500ms`): Iometer has 7s") && has("no `time_based`"), "{losses:?}");
    let (config, losses) = written(&of_fio("[a]\nfilename=/dev/sdb\nsize=1g\n"));
    assert_eq!(config.test.run_time_s, 60);
    assert!(losses.iter().any(|loss| loss.starts_with("no `runtime`")), "{losses:?}");
}

#[test]
fn several_workers_and_targets() {
    let text = "[j]\nfilename=/dev/sdb:/dev/sdc\nrw=randread\nbs=8k\niodepth=7\nnumjobs=2\n";
    let (config, losses) = written(&of_fio(&format!("{COMMON}{text}")));
    let targets = || vec!["sdb", "sdc"];
    let expected: [Listed<'_>; 2] =
        [("j", 3, targets(), vec!["j"]), ("j 2", 3, targets(), vec!["j"])];
    assert_eq!(workers(&config), expected);
    let [loss] = &losses[..] else { panic!("{losses:?}") };
    assert!(loss.starts_with("7 I/Os in flight over 2 targets (`j`)"), "{loss}");
}

/// A folder has one file, which is as large as those that it stands for.
#[test]
fn files_are_those_of_folders() {
    let text = "[j]\ndirectory=/mnt/a\nsize=64m\nnrfiles=2\nnumjobs=2\nrw=randread\niodepth=4\n";
    let (config, losses) = written(&of_fio(&format!("{COMMON}{text}")));
    let expected: [Listed<'_>; 2] =
        [("j", 4, vec!["/mnt/a"], vec!["j"]), ("j 2", 4, vec!["/mnt/a"], vec!["j"])];
    assert_eq!(workers(&config), expected);
    assert_eq!(config.managers[0].workers[0].size_sectors * 512, 128 << 20);
    let [loss] = &losses[..] else { panic!("{losses:?}") };
    assert_eq!(
        loss,
        "file names: a folder has one file in Iometer, `/mnt/a/iobw.tst`, in place of \
         `/mnt/a/j.0.0` and 3 more, and as large as all of them"
    );
    let unsized_file = format!("{COMMON}[j]\nfilename=/mnt/a/f\nrw=randread\n");
    let (_, losses) = written(&of_fio(&unsized_file));
    assert!(losses.iter().any(|loss| loss.contains("fills the drive")), "{losses:?}");
}

/// Files of one folder that several jobs work on are parts of its one file; what two jobs share, or
/// work on in several steps, is one part.
#[test]
fn files_of_one_folder_lie_behind_each_other() {
    let text = "[a]\nfilename=/mnt/a/one\nsize=10m\nrw=randread\n\
                [b]\nfilename=/mnt/a/two\nsize=6145k\noffset=1m\nrw=randwrite\n\
                [c]\nfilename=/mnt/b/three\nsize=3m\nrw=randread\n\
                [d]\nstonewall\nfilename=/mnt/a/four:/mnt/b/four\nsize=4m\nrw=randread\niodepth=2\n\
                [e]\nfilename=/mnt/a/one\nsize=10m\nrw=read\n";
    let (config, losses) = written(&of_fio(&format!("{COMMON}{text}")));
    let of = |it: &dialects::iometer::Worker| {
        let targets: Vec<&str> = it.targets.iter().map(|target| &*target.name).collect();
        (targets.join(" "), it.start_sector * 512, it.size_sectors * 512)
    };
    let places: Vec<_> = config.managers[0].workers.iter().map(of).collect();
    let (kib, mib) = (1_u64 << 10, 1_u64 << 20);
    // 10 MiB, 1 MiB more, and 6,145 KiB, up to a whole page.
    let end_of_b = 17 * mib + 4 * kib;
    let expected = [
        ("/mnt/a", 0, 10 * mib),
        ("/mnt/a", 11 * mib, 6145 * kib),
        ("/mnt/b", 0, 3 * mib),
        ("/mnt/a /mnt/b", end_of_b, 2 * mib),
    ];
    assert_eq!(places, expected.map(|(name, start, size)| (name.to_owned(), start, size)));
    let has = |words: &str| losses.iter().any(|loss| loss.contains(words));
    assert!(has("from byte 10485760 on, behind those of other jobs, in place of `/mnt/a/two`"));
    assert!(!has("in the same place"), "{losses:?}");
    // How far the first one goes is not said.
    let text = "[a]\nfilename=/mnt/a/one\nrw=randread\n\
                [b]\nfilename=/mnt/a/two\nsize=6m\nrw=randread\n";
    let (_, losses) = written(&of_fio(&format!("{COMMON}{text}")));
    let has = |words: &str| losses.iter().any(|loss| loss.contains(words));
    assert!(has("`/mnt/a/two` and of others in the same place"), "{losses:?}");
}

/// Where it works is nothing to guess: such jobs are left out, each with its reason.
#[test]
fn what_would_work_elsewhere_is_left_out() {
    for (options, why) in [
        ("filename=f1\nsize=1m\n", "is in no folder that Iometer knows"),
        ("filename=/dev/disk/by-id/nvme.1\n", "Iometer has no name for"),
        ("filename=/dev/sdb\nsize=25%\nrw=write\n", "would write elsewhere"),
        ("filename=/dev/sdb\noffset=100\nsize=1m\nrw=write\n", "would write elsewhere"),
        ("filename=/mnt/a [b]/f\nsize=1m\n", "for another"),
        ("filename=/dev/sdb\nrw=trim\n", "Iometer has no trims"),
        ("filename=/dev/sdb\nsize=1m\nioengine=null\n", "does no I/O on bytes"),
    ] {
        let Translation { text, losses, .. } = write(&of_fio(&format!("{COMMON}[j]\n{options}")));
        let is_told =
            losses.iter().any(|it| it.starts_with("`j` is left out: ") && it.contains(why));
        assert!(text.is_empty() && is_told, "{options}{text}{losses:?}");
    }
}

#[test]
fn names_stay_apart() {
    let job = |name: &str, bs: &str| format!("[{name}]\nstonewall\nfilename=/dev/sdb\nbs={bs}\n");
    let long = "x".repeat(150);
    let text = [
        job("a", "4k"),
        job("a", "8k"),
        job("a", "4k"),
        job("Idle", "4k"),
        job("'b", "4k"),
        job(&long, "4k"),
        job(&long, "8k"),
    ];
    let (config, _) = written(&of_fio(&format!("{COMMON}{}", text.concat())));
    let names: Vec<&str> = config.specs.iter().map(|spec| &*spec.name).collect();
    let (first, second) = ("x".repeat(127), format!("{} (2)", "x".repeat(123)));
    assert_eq!(names, ["a", "a (2)", "Idle (2)", "b", &first, &second]);
    assert_eq!(workers(&config).len(), 1);
}

/// The tool reads a version in the first line, and no line of 200 bytes or more.
#[test]
fn what_is_lost_stands_below_the_version() {
    let long = "y".repeat(300);
    let remarks = ["lost: a word ".repeat(30), format!("lost: {long} z"), "lost: b".to_owned()];
    let Translation { text, .. } = write(&of_fio(&format!("{COMMON}[j]\nfilename=/dev/sdb\n")));
    let annotated = find_dialect(ICF).expect("a language").annotate(&text, &remarks);
    assert!(annotated.starts_with("Version 1.1.0 \n' lost: a word lost: "), "{annotated}");
    assert!(annotated.contains("\n' lost: b\n'TEST SETUP"), "{annotated}");
    assert!(annotated.lines().all(|line| line.len() < 200), "{annotated}");
    assert_eq!(run_list(&plan_of(ICF, &annotated)), run_list(&plan_of(ICF, &text)));
    assert_eq!(likeliest(&annotated), find_dialect(ICF));
}

/// What a job does to one target, as a list says it.
fn effect(job: &Job) -> Vec<String> {
    let mut kinds: Vec<String> = Vec::new();
    let weights: f64 = job.parts.iter().map(|part| part.weight).sum();
    let of_parts = job.parts.iter().map(|part| (part.weight / weights, &part.workload));
    let own = job.parts.is_empty().then_some((1.0, &job.workload));
    for (share, work) in of_parts.chain(own) {
        let access = work.access;
        let (random, align) = if access.random {
            (work.random_pct, work.block_align)
        } else {
            (PerDir::all(0.0), PerDir::all(None))
        };
        for dir in work.drawn().issued() {
            let reads = if access.is_mixed() { work.read_pct / 100.0 } else { 1.0 };
            let of_dir = match dir {
                Direction::Read => share * reads,
                Direction::Write if access.is_mixed() => share * (1.0 - reads),
                Direction::Write | Direction::Trim => share,
            };
            let least = work.block_size[dir].min();
            let align = align[dir].or(access.random.then_some(least));
            let (random, size) = (random[dir], &work.block_size[dir]);
            kinds.push(format!("{of_dir:.4} {dir:?} {size:?} {random} {align:?}"));
        }
    }
    kinds.sort();
    kinds
}

/// Lists what is done to which target in each run.
fn run_list(plan: &Plan) -> Vec<Vec<String>> {
    let of_job = |job: &Job| {
        let files = &job.files;
        let (depth, think) = (job.load.queue_depth, &job.load.think);
        let data = if job.modifies() { format!("{:?}", job.buffers) } else { String::new() };
        format!(
            "{:?} {:?} {:?} {depth} {:?} {} {think:?} {data} {:?}",
            files.names,
            files.offset,
            files.size,
            job.limits.runtime_ns,
            job.limits.ramp_ns,
            effect(job)
        )
    };
    let of_step = |step: &plan::Step| {
        let mut jobs: Vec<String> = step.jobs.iter().map(of_job).collect();
        jobs.sort();
        jobs
    };
    plan.steps.iter().map(of_step).collect()
}

/// Files of others come back as they were, but for what is listed.
#[test]
fn files_of_the_field_come_back() {
    let Some(corpus) = testing::corpus("iometer", "index.tsv") else { return };
    let index = std::fs::read_to_string(corpus.join("index.tsv")).expect("a list");
    let (mut n_written, mut n_steps) = (0, 0);
    for row in index.lines().skip(1) {
        let name = row.split('\t').next().expect("a name");
        let bytes = std::fs::read(corpus.join(name)).expect("a file");
        let plan = read(ICF, &String::from_utf8_lossy(&bytes)).plan;
        let Translation { text, losses, .. } = write(&plan);
        if plan.steps.is_empty() {
            assert!(text.is_empty(), "{name}: {text}");
            continue;
        }
        assert!(!text.is_empty(), "{name}: {losses:?}");
        let back = plan_of(ICF, &text);
        assert_eq!(run_list(&back), run_list(&plan), "{name}: {losses:?}\n{text}");
        let is_known = |loss: &String| loss.starts_with("where sequential I/O of several lines");
        assert!(losses.iter().all(is_known), "{name}: {losses:?}");
        // Nothing changes any more.
        assert_eq!(write(&back).text, text, "{name}");
        (n_written, n_steps) = (n_written + 1, n_steps + plan.steps.len());
    }
    assert!(n_written >= 20 && n_steps >= n_written, "{n_written} files, {n_steps} steps");
}

/// 384 runs come back as 384.
#[test]
fn cycling_comes_back_run_by_run() {
    let jobs: String = (0..4)
        .map(|n| format!("[s{n}]\nstonewall\nfilename=/dev/sdb\nrw=randread\nbs={}k\n", 4 << n))
        .collect();
    let text = write(&of_fio(&format!("{COMMON}{jobs}"))).text;
    let target = |name: &str| format!("'Target\n\t{name}\n'Target type\n\tDISK\n'End target\n");
    let text = text
        .replace("NORMAL", "CYCLE_OUTSTANDING_IOS_AND_TARGETS")
        .replace("1          1          1          LINEAR", "1 128 2 EXPONENTIAL")
        .replace(&target("sdb"), &["sdb", "sdc", "sdd"].map(target).concat());
    let plan = plan_of(ICF, &text);
    assert_eq!(plan.steps.len(), 4 * 3 * 8);
    let Translation { text, losses, .. } = write(&plan);
    assert_eq!(losses, [""; 0]);
    assert_eq!(run_list(&plan_of(ICF, &text)), run_list(&plan));
}

/// A job in a random wording, on a device.
fn any_job() -> impl Strategy<Value = String> {
    let walks = &["read", "write", "rw", "randread", "randwrite", "randrw"][..];
    let sizes = &["bs=8k", "bs=4k,64k", "bsrange=4k-64k", "bssplit=4k/30:16k/70,8k/5:512/95"][..];
    let more = &[
        "percentage_random=30",
        "rwmixread=70",
        "rwmixread=0",
        "iodepth=16",
        "numjobs=3",
        "thinktime=2ms\nthinktime_blocks=8",
        "refill_buffers",
        "buffer_pattern=0x55",
        "randseed=77",
        "blockalign=512",
        "size=1m\noffset=64k",
        "runtime=30",
        "ramp_time=9",
        "stonewall",
    ][..];
    let more = proptest::sample::subsequence(more, 0..6);
    (proptest::sample::select(walks), proptest::sample::select(sizes), 0..3_usize, more).prop_map(
        |(walk, sizes, device, more)| {
            let device = ["sdb", "sdc", "nvme0n1"][device];
            let more = more.join("\n");
            format!("[j]\nfilename=/dev/{device}\nrw={walk}\n{sizes}\n{more}\n")
        },
    )
}

/// Jobs that are counted come one by one.
fn one_by_one(mut plan: Plan) -> Plan {
    for step in &mut plan.steps {
        let alone = |job: Job| {
            let n_workers = job.n_workers as usize;
            std::iter::repeat_n(Job { n_workers: 1, ..job }, n_workers)
        };
        step.jobs = std::mem::take(&mut step.jobs).into_iter().flat_map(alone).collect();
    }
    plan
}

/// Counts how the sizes of a direction are spread, and returns shares by size and direction.
fn shares(job: &Job) -> Vec<(String, f64)> {
    let mut shares: Vec<(String, f64)> = Vec::new();
    let weights: f64 = job.parts.iter().map(|part| part.weight).sum();
    let of_parts = job.parts.iter().map(|part| (part.weight / weights, &part.workload));
    let own = job.parts.is_empty().then_some((1.0, &job.workload));
    for (share, work) in of_parts.chain(own) {
        for dir in work.drawn().issued() {
            let of_dir = match (work.drawn().is_mixed(), dir) {
                (false, _) => 1.0,
                (true, Direction::Read) => work.read_pct / 100.0,
                (true, Direction::Write | Direction::Trim) => 1.0 - work.read_pct / 100.0,
            };
            for (size, of_size) in sizes(&work.block_size[dir]) {
                let key = format!("{dir:?} {size}");
                let ios = share * of_dir * of_size;
                match shares.iter_mut().find(|it| it.0 == key) {
                    Some(known) => known.1 += ios,
                    None => shares.push((key, ios)),
                }
            }
        }
    }
    shares.sort_by(|one, other| one.0.cmp(&other.0));
    shares
}

fn sizes(size: &BlockSize) -> Vec<(u32, f64)> {
    match size {
        BlockSize::Fixed(size) => vec![(*size, 1.0)],
        BlockSize::Range { min, max } => {
            let n = max / min;
            (1..=n).map(|k| (k * min, 1.0 / f64::from(n))).collect()
        }
        BlockSize::Split(parts) => parts.iter().map(|it| (it.0, f64::from(it.1) / 100.0)).collect(),
        BlockSize::Weighted(_) | BlockSize::Stepped { .. } => panic!("{size:?} is not drawn"),
    }
}

/// Returns the jobs of a step by what they do but for their sizes, each with its sizes.
fn by_target(step: &plan::Step) -> Vec<(String, Vec<(String, f64)>)> {
    let of_job = |job: &Job| {
        let files = &job.files;
        let random = |work: &plan::workload::Workload| {
            if work.access.random { work.random_pct.read } else { 0.0 }
        };
        let random: f64 = job.workloads().map(random).fold(0.0, f64::max);
        let think = &job.load.think;
        let data = if job.modifies() {
            // A pattern is written again and again, filled in anew or not.
            let refill = job.buffers.refill.filter(|_| job.buffers.pattern.is_empty());
            format!("{refill:?} {:?}", job.buffers.pattern)
        } else {
            String::new()
        };
        let key = format!(
            "{:?} {:?} {:?} {} {random} {think:?} {data}",
            files.names, files.offset, files.size, job.load.queue_depth
        );
        (key, shares(job))
    };
    let mut jobs: Vec<_> = step.jobs.iter().map(of_job).collect();
    jobs.sort_by(|one, other| one.partial_cmp(other).expect("numbers"));
    jobs
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 200,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// Steps, targets, sizes, shares and depths come back; shares within a percent each, and times
    /// as the longest.
    #[test]
    fn what_was_said_comes_back(jobs in proptest::collection::vec(any_job(), 1..5)) {
        let plan = of_fio(&format!("{COMMON}{}", jobs.concat()));
        let Translation { text, losses, .. } = write(&plan);
        let shown = format!("{}\n{text}\n{losses:#?}", jobs.concat());
        let back = plan_of(ICF, &text);
        let has = |word: &str| losses.iter().any(|loss| loss.contains(word));
        prop_assert!(!has("is left out"), "{}", shown);
        let was = one_by_one(plan);
        prop_assert_eq!(was.steps.len(), back.steps.len(), "{}", shown);
        let longest = was.jobs().filter_map(|job| job.limits.runtime_ns).max();
        for (was, is) in was.steps.iter().zip(&back.steps) {
            let differs = was.jobs.iter().any(|job| job.limits.runtime_ns != longest);
            prop_assert!(!differs || has("`runtime="), "{}", shown);
            prop_assert!(is.jobs.iter().all(|job| job.limits.runtime_ns == longest), "{}", shown);
            let (was, is) = (by_target(was), by_target(is));
            prop_assert_eq!(was.len(), is.len(), "{}", shown);
            for (was, is) in was.iter().zip(&is) {
                prop_assert_eq!(&was.0, &is.0, "{}", shown);
                prop_assert_eq!(was.1.len(), is.1.len(), "{}", shown);
                for (was, is) in was.1.iter().zip(&is.1) {
                    prop_assert_eq!(&was.0, &is.0, "{}", shown);
                    let off = (was.1 - is.1).abs();
                    let is_near = off < 1e-6 || off < 0.0101 && has("whole percents");
                    prop_assert!(is_near, "{} {}: {}", was.1, is.1, shown);
                }
            }
        }
    }
}

/// Workloads that Vdbench mixes on a queue are lines of one specification.
#[test]
fn workloads_on_one_queue_are_lines() {
    let text = "sd=sd1,lun=/dev/sdb,threads=8,openflags=o_direct\n\
                wd=wd1,sd=sd1,xfersize=8k,rdpct=75,skew=60\n\
                wd=wd2,sd=sd1,xfersize=64k,rdpct=100,seekpct=0,skew=40\n\
                rd=rd1,wd=wd*,iorate=max,elapsed=30,interval=1\n";
    let plan = plan_of("vdbench", text);
    let (config, losses) = written(&plan);
    let lines = vec![[8192, 60, 75, 100, 0, 1, 8192], [65536, 40, 100, 0, 0, 1, 0]];
    assert_eq!(specs(&config), [("rd1", lines)]);
    assert_eq!(workers(&config), [("sd1", 8, vec!["sdb"], vec!["rd1"])]);
    let has = |words: &str| losses.iter().any(|loss| loss.contains(words));
    assert!(has("where sequential I/O of several lines goes on"), "{losses:?}");
    let paced = text.replace("iorate=max", "iorate=500");
    let (_, losses) = written(&plan_of("vdbench", &paced));
    let is_told = losses.iter().any(|loss| loss.contains("rate") && loss.contains("500"));
    assert!(is_told, "{losses:?}");
}
