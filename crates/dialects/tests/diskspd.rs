//! Command lines of diskspd: what is read of scripts, what options come to, and what is refused.

use dialects::{FilesOnly, Overrides, ReadPlan, Request, find_dialect, likeliest};
use plan::files::{Size, SyncMode};
use plan::job::{Part, PartRegion};
use plan::verify::PatternPart;
use plan::workload::Distribution;
use plan::{Diagnostic, EngineKind, Job, Plan, Severity};

const REQUEST: Request<'static> = Request {
    files: &[],
    sections: &[],
    overrides: &Overrides { set: Vec::new(), remap: Vec::new(), load: None },
    all_hosts_local: false,
    is_to_run: true,
};

/// Reads a script, with `NAME=VALUE` behind it.
fn read_with(text: &str, values: &[&str], request: Request<'_>) -> ReadPlan {
    let loader = FilesOnly(|path: &str| match path {
        "a.cmd" => Ok(text.as_bytes().to_vec()),
        "/data/words.bin" => Ok(b"plimsoll".to_vec()),
        "empty.bin" => Ok(Vec::new()),
        _ => Err(dialects::LoadError::NotFound),
    });
    let files: Vec<String> =
        ["a.cmd"].iter().chain(values).map(|word| (*word).to_owned()).collect();
    let diskspd = find_dialect("diskspd").expect("it is a language");
    diskspd.read(&Request { files: &files, ..request }, &loader)
}

fn findings(read: &ReadPlan) -> Vec<Diagnostic> {
    [&read.parsed.diagnostics[..], &read.parsed.refusals].concat()
}

/// Returns the jobs of a script that has no mistake.
#[track_caller]
fn jobs_of(text: &str) -> Vec<Job> {
    let read = read_with(text, &[], REQUEST);
    let errors = findings(&read);
    assert!(errors.iter().all(|it| it.severity != Severity::Error), "{text}: {errors:?}");
    read.parsed.plan.jobs().cloned().collect()
}

#[track_caller]
fn job_of(options: &str) -> Job {
    let jobs = jobs_of(&format!("diskspd {options} -c1G /mnt/a/f\n"));
    let [job] = &jobs[..] else { panic!("{options}: {jobs:?}") };
    job.clone()
}

#[test]
fn a_script_is_recognised_by_a_line_that_calls_it() {
    let of = |text: &str| likeliest(text).map(dialects::Dialect::name);
    assert_eq!(of("@echo off\r\nrem one\r\nC:\\x\\DiskSpd.exe -b8K C:\\f\r\n"), Some("diskspd"));
    assert_eq!(of("& \"$dir\\diskspd.exe\" -d10 x"), Some("diskspd"));
    assert_eq!(of("[job]\nrw=read\n; as diskspd -r does\n"), Some("fio"));
}

/// What the tool does without an option.
#[test]
fn defaults_are_those_of_the_tool() {
    let job = job_of("");
    assert_eq!(job.engine.kind, EngineKind::Uring);
    assert!(!job.files.direct && job.files.sync == SyncMode::None && !job.files.invalidate);
    let limits = &job.limits;
    assert_eq!((limits.ramp_ns, limits.runtime_ns), (5_000_000_000, Some(10_000_000_000)));
    assert!(limits.time_based);
    assert_eq!((job.n_workers, job.load.queue_depth), (1, 2));
    assert_eq!(job.workload.block_size.read.min(), 65_536);
    let access = job.workload.access;
    assert_eq!((access.read, access.write, access.random), (true, false, false));
    assert_eq!((job.files.size, job.workload.seed), (Some(Size::Bytes(1 << 30)), 0));
    assert!(!job.workload.seed_varies);
}

#[test]
fn a_line_of_the_field_is_what_it_says() {
    let job = job_of("-b8K -d300 -o32 -t4 -r -w30 -L -Z1G -Sh -W0 -D500");
    assert_eq!((job.n_workers, job.load.queue_depth), (4, 32));
    assert_eq!((job.limits.ramp_ns, job.limits.runtime_ns), (0, Some(300_000_000_000)));
    let work = &job.workload;
    assert!(work.access.read && work.access.write && work.access.random && !work.no_repeats);
    assert_eq!((work.read_pct, work.block_size.read.min()), (70.0, 8192));
    assert_eq!(work.block_align.read, Some(8192));
    assert!(job.files.direct && job.files.sync == SyncMode::Dsync);
    assert_eq!(job.reporting.iops_sample_ms, 500);
}

#[test]
fn caches_are_as_asked_for() {
    let of = |options: &str| {
        let job = job_of(options);
        (job.files.direct, job.files.sync)
    };
    assert_eq!(of("-Sb"), (false, SyncMode::None));
    assert_eq!(of("-S"), (true, SyncMode::None));
    assert_eq!(of("-Su"), (true, SyncMode::None));
    assert_eq!(of("-h"), (true, SyncMode::Dsync));
    assert_eq!(of("-Suw"), (true, SyncMode::Dsync));
    assert_eq!(of("-Swu"), (true, SyncMode::Dsync));
    assert_eq!(of("-Sbw"), (false, SyncMode::Dsync));
    assert_eq!(of("-Sr"), (true, SyncMode::None));
    // As diskspd for Linux opens: O_DIRECT, O_SYNC.
    assert_eq!(of("-Sd"), (true, SyncMode::None));
    assert_eq!(of("-Sds"), (true, SyncMode::Sync));
    assert_eq!(of("-xk -Sh"), (true, SyncMode::Sync));
    assert_eq!(job_of("-Sm").engine.kind, EngineKind::Mmap);
    assert_eq!(job_of("-xk").engine.kind, EngineKind::Aio);
}

#[test]
fn sizes_and_places_count_from_the_target() {
    let of = |options: &str| {
        let job = jobs_of(&format!("diskspd {options} /dev/sdz\n")).remove(0);
        (job.files.offset, job.files.size)
    };
    let bytes = |n: u64| Size::Bytes(n);
    assert_eq!(of("-b4K -B1M"), (bytes(1 << 20), None));
    assert_eq!(of("-B1M:2m"), (bytes(1 << 20), Some(bytes(2 << 20))));
    // The end counts from the start of the target, not from that of I/O.
    assert_eq!(of("-B1M -f3M"), (bytes(1 << 20), Some(bytes(2 << 20))));
    // Blocks, wherever their size is written.
    assert_eq!(of("-f8b -b4K"), (bytes(0), Some(bytes(32_768))));
    assert_eq!(of("-b1K -f10240"), (bytes(0), Some(bytes(10_240))));
}

#[test]
fn sequential_io_has_a_stride() {
    let of = |options: &str| job_of(options).workload.sequential_step_bytes;
    assert_eq!(of("-s"), 0);
    assert_eq!(of("-b4K -s64K"), 61_440);
    assert_eq!(of("-b64K -s4K"), -61_440);
    // Threads that share a walk are one worker, divided.
    let job = job_of("-si -t4 -o8");
    assert_eq!((job.n_workers, job.load.queue_depth), (1, 32));
    assert_eq!((job.load.spreads, job.load.spread_workers_max), (true, Some(4)));
    // With -p each I/O in flight has its own walk.
    let job = job_of("-p -t2 -o8");
    assert_eq!((job.n_workers, job.load.queue_depth), (16, 1));
    // Threads at different places are jobs.
    let jobs = jobs_of("diskspd -T256M -t4 -c1G /mnt/a/f\n");
    let places: Vec<_> = jobs.iter().map(|job| (job.files.offset, job.files.size)).collect();
    let mib = |n: u64| Size::Bytes(n << 20);
    let expected = [(0, 1024), (256, 768), (512, 512), (768, 256)];
    assert_eq!(places, expected.map(|(at, size)| (mib(at), Some(mib(size)))));
}

#[test]
fn random_io_is_aligned_mixed_and_spread() {
    let job = job_of("-b64K -r4K -rs30");
    let work = &job.workload;
    assert_eq!((work.block_align.write, work.random_pct.read), (Some(4096), 30.0));
    let spread = |options: &str| job_of(options).workload.distribution.read;
    // The example of the tool's help: the rest of the I/O goes to the rest of the target.
    let zones = vec![(90, 10), (0, 10), (5, 20), (5, 60)];
    assert_eq!(spread("-r -rdpct90/10:0/10:5/20"), Distribution::Zoned(zones));
    let (mib, rest) = (100 << 20, 924 << 20);
    assert_eq!(spread("-r -rdabs90/100M"), Distribution::ZonedAbs(vec![(90, mib), (10, rest)]));
}

#[test]
fn threads_may_be_counted_over_all_targets() {
    let jobs = jobs_of("diskspd -F4 -o8 -xk //a /b/c /b/d\n");
    let seen: Vec<_> = jobs.iter().map(|it| (it.n_workers, it.load.queue_depth)).collect();
    assert_eq!(seen, [(4, 8); 3]);
    let jobs = jobs_of("diskspd -F4 -O8 -c1G /b/c /b/d\n");
    let [job] = &jobs[..] else { panic!("{jobs:?}") };
    assert_eq!((job.n_workers, job.load.queue_depth, job.files.names.len()), (4, 8, 2));
    assert_eq!(job.files.size, Some(Size::Bytes(2 << 30)));
}

#[test]
fn rates_pauses_processors_and_contents() {
    // Per thread and target.
    assert_eq!(job_of("-t4 -g1000i").load.rate_total_iops, Some(4_000.0));
    assert_eq!(job_of("-b8K -t2 -g4096").load.rate_total_iops, Some(1_000.0));
    let think = job_of("-i100 -j20").load.think;
    assert_eq!((think.pause_ns, think.every_ios), (20_000_000, 100));
    let cpus = |options: &str| job_of(options).process.cpus;
    assert_eq!(cpus("-t2 -a0,2,4"), [0, 2]);
    assert_eq!(cpus("-t8 -ag0,1,3"), [1, 3]);
    assert!(job_of("-w100 -Z").buffers.zero);
    assert_eq!(job_of("-w100 -Zr").buffers.refill, Some(true));
    assert!(!job_of("-w100").buffers.pattern.is_empty());
    assert!(job_of("-w100 -Z20M").buffers.pattern.is_empty());
    assert!(job_of("-z").workload.seed_varies);
    assert_eq!(job_of("-z17").workload.seed, 17);
}

/// A file is made in full before it is worked on, of bytes that are counted, or of zeros.
#[test]
fn a_file_that_is_made_is_written_before() {
    let counted = [PatternPart::Bytes((0..=255).collect())];
    let job = job_of("-w100");
    assert!(job.files.overwrite && job.buffers.pattern == counted);
    let job = job_of("-Z1M");
    assert!(!job.files.overwrite && job.buffers.pattern == counted);
    assert!(job_of("-Z").buffers.zero);
    // One that is there keeps what it holds.
    let job = |options: &str| jobs_of(&format!("diskspd {options} /m/a")).swap_remove(0);
    assert!(job("").buffers.pattern.is_empty() && !job("-w100 -f1M").files.overwrite);
}

/// With one slash a file of the root would be an option; it is that file nevertheless. A mix of
/// reads alone writes nothing.
#[test]
fn a_file_is_written_where_it_was_and_as_often() {
    let diskspd = find_dialect("diskspd").expect("it is a language");
    let mut plan = read_with("diskspd -d1 -w50 -r -c1M /m/a", &[], REQUEST).parsed.plan;
    plan.jobs_mut().for_each(|job| job.files.names = vec!["/a".to_owned()]);
    let check = |plan: &Plan, expected: &str| {
        let to = diskspd.write(plan);
        assert!(to.text.contains(expected) && to.losses.is_empty(), "{} {:?}", to.text, to.losses);
    };
    check(&plan, " -w50 ");
    check(&plan, " //a\n");
    plan.jobs_mut().for_each(|job| job.workload.read_pct = 100.0);
    check(&plan, " -w0 ");
    plan.jobs_mut().for_each(|job| job.workload.read_pct = 99.6);
    assert!(diskspd.write(&plan).text.contains(" -w1 "));
    plan.jobs_mut().for_each(|job| (job.workload.read_pct, job.files.overwrite) = (0.0, true));
    check(&plan, " -w100 ");
}

/// The file is read where it is mapped to, and one that only reads would need is not.
#[test]
fn what_is_written_comes_from_a_file() {
    let overrides = Overrides {
        remap: [("C:\\x", "/data"), ("F:", "/mnt")]
            .map(|(from, to)| (from.to_owned(), to.to_owned()))
            .to_vec(),
        ..Overrides::default()
    };
    let read = |line: &str| read_with(line, &[], Request { overrides: &overrides, ..REQUEST });
    let asked = read("diskspd -w100 -b4K -Z20K,C:\\x\\words.bin -c1M F:\\f F:\\g");
    assert_eq!(findings(&asked).iter().map(|it| it.code).collect::<Vec<_>>(), [""; 0]);
    let jobs: Vec<&Job> = asked.parsed.plan.jobs().collect();
    assert_eq!(
        jobs.iter().map(|job| &*job.files.names[0]).collect::<Vec<_>>(),
        ["/mnt/f", "/mnt/g"]
    );
    for job in jobs {
        assert_eq!(job.buffers.pattern, [PatternPart::Bytes(b"plimsoll".to_vec())]);
        assert_eq!(job.buffers.pattern_source_bytes, 20_480);
    }
    // As the tool, which makes no buffer of what is written where nothing is.
    let idle = &jobs_of("diskspd -Z20M,nowhere.bin /m/a")[0];
    assert_eq!(idle.buffers.pattern, []);
    // The name is not in a plan, and a line cannot say the bytes.
    let written = find_dialect("diskspd").expect("it is a language").write(&asked.parsed.plan);
    assert!(written.losses.iter().any(|loss| loss.contains("`pattern=")), "{:?}", written.losses);
}

/// A line is a step, whatever calls the program and wherever its output goes.
#[test]
fn scripts_are_split_as_shells_do() {
    let text = "\u{feff}@echo off\r\n\
        rem diskspd -b1K is no line\r\n\
        :: nor is this: diskspd -b1K\r\n\
        # nor diskspd -b1K\r\n\
        cd C:\\diskspd\r\n\
        \r\n\
        @diskspd -b1K -c1M /m/one > one.txt 2>&1\r\n\
        \"C:\\Program Files\\diskspd.exe\" -b2K -c1M \"/m/t w o\" | more\r\n\
        & .\\diskspd.exe `-b3K -c1M '/m/three'; diskspd /b4K -c1M /m/four # the fourth\r\n\
        PS C:\\tools> .\\diskspd -b5K ^\r\n  -c1M `\r\n  /m/five\r\n\
        $r = & diskspd -b6K -c1M /m/six>>six.txt && start /wait diskspd -b7K -c1M /m/seven\r\n";
    let read = read_with(text, &[], REQUEST);
    let seen: Vec<(u32, &str, &str)> = read
        .parsed
        .plan
        .steps
        .iter()
        .map(|step| {
            let job = &step.jobs[0];
            let kib = job.workload.block_size.read.min() >> 10;
            (kib, &*step.name, &*job.files.names[0])
        })
        .collect();
    let expected = [
        (1, "-b1K -c1M", "/m/one"),
        (2, "-b2K -c1M", "/m/t w o"),
        (3, "-b3K -c1M", "/m/three"),
        (4, "/b4K -c1M", "/m/four"),
        (5, "-b5K -c1M", "/m/five"),
        (6, "-b6K -c1M", "/m/six"),
        (7, "-b7K -c1M", "/m/seven"),
    ];
    assert_eq!(seen, expected, "{:?}", read.parsed.diagnostics);
    let codes: Vec<_> = read.parsed.diagnostics.iter().map(|it| (it.severity, it.code)).collect();
    assert_eq!(codes, [(Severity::Note, "left-out"); 2], "{:?}", read.parsed.diagnostics);
}

#[test]
fn variables_are_set_behind_the_file() {
    let text = "diskspd.exe -h `-t$t -b$($b)k -o%DEPTH% -c1M ${dir}/f-%%i\n";
    let values = ["T=4", "b=8", "DEPTH=16", "dir=/mnt/a", "i=1"];
    let read = read_with(text, &values, REQUEST);
    let job = read.parsed.plan.jobs().next().cloned().expect("a job");
    assert_eq!((job.n_workers, job.load.queue_depth), (4, 16), "{:?}", findings(&read));
    assert_eq!(job.workload.block_size.read.min(), 8192);
    assert_eq!(job.files.names, ["/mnt/a/f-1"]);
    let unset = read_with(text, &[], REQUEST);
    let errors = findings(&unset);
    assert!(errors.iter().all(|it| it.code == "unset-variable"), "{errors:?}");
    let helps: Vec<&str> = errors.iter().map(|it| &*it.help[0]).collect();
    let set = |name: &str| format!("set it behind the file: `{name}=VALUE`");
    assert_eq!(helps, ["t", "b", "DEPTH", "dir", "i"].map(set));
}

#[test]
fn targets_of_windows_are_mapped() {
    let text = "diskspd -c1M c:\\x\\f.dat\ndiskspd -f1M #1 \\\\srv\\c$\\g.dat Y: f.dat\n";
    let unmapped = read_with(text, &[], REQUEST).parsed.refusals;
    let helps: Vec<&str> = unmapped.iter().map(|it| &*it.help[0]).collect();
    let expected = ["C:=/mnt/data", "#1=/dev/sdX", "\\\\srv\\c$=/mnt/data", "Y:=/dev/sdX"];
    assert_eq!(helps, expected.map(|it| format!("say where it is: `--remap '{it}'`")));
    assert!(unmapped.iter().all(|it| it.severity == Severity::Error));
    let looked_at = read_with(text, &[], Request { is_to_run: false, ..REQUEST }).parsed.refusals;
    assert!(looked_at.iter().all(|it| it.severity == Severity::Warning), "{looked_at:?}");
    let remap = [("c:", "/mnt/c"), ("#1", "/dev/sdz"), ("\\\\srv\\c$", "/mnt/s"), ("y:", "/y")];
    let remap = remap.map(|(from, to)| (from.to_owned(), to.to_owned())).to_vec();
    let overrides = Overrides { remap, ..Overrides::default() };
    let read = read_with(text, &[], Request { overrides: &overrides, ..REQUEST });
    let names: Vec<&str> = read.parsed.plan.jobs().map(|job| &*job.files.names[0]).collect();
    assert_eq!(names, ["/mnt/c/x/f.dat", "/dev/sdz", "/mnt/s/g.dat", "/y", "f.dat"]);
}

/// Checks the first mistake of a line.
#[track_caller]
fn check_mistake(line: &str, code: &str, column: u32, message: &str) {
    let text = format!("@echo off\n{line}\n");
    let read = read_with(&text, &[], REQUEST);
    let errors: Vec<_> =
        findings(&read).into_iter().filter(|it| it.severity == Severity::Error).collect();
    let [finding] = &errors[..] else { panic!("{line}: {errors:?}") };
    let at = finding.span.as_ref().map(|span| (span.line, span.column));
    assert_eq!((finding.code, at), (code, Some((2, column))), "{line}: {finding:?}");
    assert!(finding.message.contains(message), "{line}: {finding:?}");
}

#[test]
fn mistakes_have_places() {
    check_mistake("diskspd -t10 -1 /m/f", "unknown-option", 14, "no option `-1`");
    check_mistake("diskspd --help /m/f", "unknown-option", 9, "no option `--help`");
    check_mistake("diskspd -d60s /m/f", "bad-value", 9, "`60s` is no whole number");
    check_mistake("diskspd -o /m/f", "bad-value", 9, "a number is missing");
    check_mistake("diskspd -w101 /m/f", "bad-value", 9, "`101` is not from 0 to 100");
    check_mistake("diskspd -b4X /m/f", "bad-value", 9, "`X` is no unit");
    check_mistake("diskspd -c99999999T /m/f", "bad-value", 9, "too large");
    check_mistake("diskspd -rdpct90/10:x /m/f -r", "bad-value", 9, "`x` is no share");
    check_mistake("diskspd -Sq /m/f", "bad-value", 9, "`q` says nothing of caching");
    check_mistake("diskspd -Rhtml /m/f", "bad-value", 9, "`html` is no form");
    check_mistake("diskspd -Lx /m/f", "bad-value", 9, "nothing stands behind it");
    check_mistake("diskspd -ag1,0 /m/f", "bad-value", 9, "only `g0`");
    check_mistake("diskspd /data /m/f", "bad-value", 9, "`ata` is no whole number");
    check_mistake("diskspd -b4K -d9", "no-target", 1, "no target is named");
    check_mistake("diskspd -b4K <file>", "placeholder", 14, "to be filled in");
    check_mistake("diskspd -b4K (dir x?.dat)", "shell-expression", 14, "no shell runs here");
    check_mistake("diskspd -b4K *1", "placeholder", 14, "target of a profile");
    check_mistake("diskspd -b4K \"/m/f", "missing-quote", 14, "not closed");
    check_mistake("for /L %i in (1,1,3) do diskspd -b4K /m/f", "unread-call", 1, "by `for`");
    check_mistake("diskspd -Xa.xml /m/f", "file-unreadable", 9, "cannot read profile `a.xml`");
    check_mistake("diskspd -ysgo /m/f", "only-on-windows", 9, "event of Windows");
}

#[test]
fn options_that_do_not_go_together_are_refused() {
    check_mistake("diskspd -F2 -t4 /m/f", "conflict", 13, "`-F` is the number of all");
    check_mistake("diskspd -i100 /m/f", "conflict", 9, "burst without a pause");
    check_mistake("diskspd -j100 /m/f", "conflict", 9, "pause without a burst");
    check_mistake("diskspd -g9i -x /m/f", "conflict", 9, "completion routines");
    check_mistake("diskspd -F2 -O4 -g9i /m/f", "conflict", 17, "`-g` is for each target");
    check_mistake("diskspd -r -T1M -t2 /m/f", "conflict", 12, "`-T` is for sequential");
    check_mistake("diskspd -r -si -t2 /m/f", "conflict", 12, "`-si` is sequential");
    check_mistake("diskspd -si -T1M -t2 /m/f", "conflict", 13, "`-si` is one walk");
    check_mistake("diskspd -T1M /m/f", "conflict", 9, "several threads");
    check_mistake("diskspd -T1G -t3 -c2G /m/f", "conflict", 9, "the last thread begins");
    check_mistake("diskspd -rdpct50/50 /m/f", "conflict", 9, "this is sequential");
    check_mistake("diskspd -r -rdpct50/100 /m/f", "bad-value", 12, "50 % of the I/O has no part");
    check_mistake("diskspd -r -rdpct100/50 /m/f", "bad-value", 12, "50 % of the target is left");
    check_mistake("diskspd -h -Sw /m/f", "conflict", 12, "what another option says");
    check_mistake("diskspd -Sm -Su /m/f", "conflict", 13, "goes through the cache");
    check_mistake("diskspd -Z4K /m/f", "conflict", 9, "smaller than an I/O");
    check_mistake("diskspd -n -a0,1 /m/f", "conflict", 12, "`-n` binds no thread");
    check_mistake("diskspd -B1M -f1M /m/f", "too-small", 14, "no I/O of 65536 bytes fits");
    check_mistake("diskspd -B1M:1M -f4M /m/f", "bad-value", 17, "the end is given twice");
    check_mistake("diskspd -c1G #1", "conflict", 14, "`#1` is a disk");
}

#[test]
fn what_is_not_run_is_refused_and_can_be_looked_at() {
    for (line, code) in [
        ("diskspd -d0 -c1M /m/f", "no-run-time"),
        ("diskspd -Rpxml -c1M /m/f", "profile-only"),
        ("diskspd -Sm -Nv -c1M /m/f", "only-on-windows"),
        ("diskspd -w9 -Z1M,a.bin -c1M /m/f", "file-unreadable"),
        ("diskspd -w9 -Z1M,empty.bin -c1M /m/f", "file-unreadable"),
        ("diskspd -r -rdabs50/1G /m/f", "unknown-size"),
    ] {
        let refusals = read_with(line, &[], REQUEST).parsed.refusals;
        let of = |it: &Diagnostic| (it.severity, it.code, it.help.is_empty());
        assert!(refusals.iter().map(of).any(|it| it == (Severity::Error, code, false)), "{line}");
        let looked_at = Request { is_to_run: false, ..REQUEST };
        let refusals = read_with(line, &[], looked_at).parsed.refusals;
        assert!(refusals.iter().all(|it| it.severity < Severity::Error), "{line}: {refusals:?}");
    }
}

#[test]
fn slips_of_the_field_get_a_hint() {
    let help = |line: &str, code: &str| {
        let read = read_with(line, &[], REQUEST);
        let found = findings(&read).into_iter().find(|it| it.code == code);
        found.map(|it| it.help.join(" ")).unwrap_or_default()
    };
    assert!(help("diskspd -t10 -1 f", "unknown-option").contains("`-o1`"));
    assert!(help("diskspd -G9i f", "unknown-option").contains("-g<"));
    assert!(help("diskspd -c1M -W0 f", "likely-slip").contains("`-w0`"));
    assert_eq!(help("diskspd -c1M -W0 -w9 f", "likely-slip"), "");
    assert!(help("diskspd -c1M -t4 /m/f", "several-walks").contains("`-si`"));
    assert!(help("diskspd -c1M /m/f -d9", "option-behind-target").contains("options first"));
}

#[test]
fn all_mistakes_are_reported_at_once() {
    let text = "diskspd -1 -bX f\ndiskspd -w200\n\ndiskspd -i4 g\n";
    let read = read_with(text, &[], REQUEST);
    let places: Vec<_> = read
        .parsed
        .diagnostics
        .iter()
        .filter(|it| it.severity == Severity::Error)
        .map(|it| it.span.as_ref().map_or((0, 0), |span| (span.line, span.column)))
        .collect();
    assert_eq!(places, [(1, 12), (1, 9), (2, 9), (2, 1), (4, 9)]);
    assert_eq!(read.parsed.plan.jobs().count(), 0);
}

#[test]
fn a_section_is_a_line() {
    let text = "diskspd -b4K -c1M f\ndiskspd -b8K -c1M f\n";
    let read = |name: &str| {
        let sections = [name.to_owned()];
        read_with(text, &[], Request { sections: &sections, ..REQUEST }).parsed
    };
    for name in ["2", "-b8K -c1M"] {
        let steps = read(name).plan.steps;
        assert_eq!(steps.iter().map(|step| &*step.name).collect::<Vec<_>>(), ["-b8K -c1M"]);
    }
    assert_eq!(read("3").diagnostics[0].code, "unknown-section");
}

/// Cut anywhere, changed anywhere: mistakes, and no panic.
#[test]
fn no_text_is_a_panic() {
    let text = "diskspd -b8K -a0,g0,1 -B1M:2M -rdpct9/9:1/91 -r4K -rs9 -Sh -g9i -i1 -j1 -Z1G,f \
        \"C:\\a b\" '#1' $x ${y} $($z) %v% %%w <f> (d) `q ^\n -W1 > o 2>&1 | m\n";
    for at in (0..text.len()).filter(|at| text.is_char_boundary(*at)) {
        let _ = read_with(&text[..at], &[], REQUEST);
        for other in ["'", "\"", "$", "%", "^", "(", "\n", "\\", "99999999999999999999", "é"] {
            let _ = read_with(&format!("{}{other}{}", &text[..at], &text[at + 1..]), &[], REQUEST);
        }
    }
}

/// Lines that are written as they were read, but for the order of options.
const SAYABLE: &[&str] = &[
    "diskspd -b8K -d60 -W1 -t4 -o32 -w30 -r -Sh -c10G -Z1M -L /m/a /m/b",
    "diskspd -b64K -d300 -o16 -w100 -Su -c1G -L -D250 /m/log",
    "diskspd -b4K -r4K -rs30 -w50 -Sw -fr -B1M -c8M -Zr -z7 -g500i -t2 /m/a",
    "diskspd -b4K -s64K -Su -f1G -i10 -j5 -l -I1 -a0,1 -t2 /dev/sdz",
    "diskspd -r -rdpct90/10:10/90 -Sm -o1 -c1G -w100 -Z -W0 '/m/with blanks'",
    "diskspd -r -rdabs90/1G:10/1G -c2G -z /m/a\ndiskspd -w100 -c1G /m/b",
];

#[test]
fn what_is_read_is_written_again() {
    let diskspd = find_dialect("diskspd").expect("it is a language");
    let plain = |read: &ReadPlan| {
        let jobs = read.parsed.plan.jobs();
        jobs.map(|job| Job { options: Vec::new(), ..job.clone() }).collect::<Vec<_>>()
    };
    for text in SAYABLE {
        let read = read_with(text, &[], REQUEST);
        let written = diskspd.write(&read.parsed.plan);
        assert_eq!(written.losses, [""; 0], "{text}\n{}", written.text);
        let again = read_with(&written.text, &[], REQUEST);
        assert_eq!(plain(&read), plain(&again), "{text}\n{}", written.text);
    }
}

/// Parts of a storage definition, as those of Vdbench: of a file that is as large as ever, of a
/// device, and of one whose size is not said, where what writes is left out.
#[test]
fn a_part_of_a_target_is_written() {
    let diskspd = find_dialect("diskspd").expect("it is a language");
    let written = |target: &str, size: Option<u64>, walk: &str, region| {
        let line = format!("diskspd -d1 -b4K {walk} -c1G /m/a");
        let mut plan = read_with(&line, &[], REQUEST).parsed.plan;
        for job in plan.jobs_mut() {
            let workload = job.workload.clone();
            job.parts = vec![Part { workload, region, ..Part::default() }];
            job.files.names = vec![target.to_owned()];
            job.files.size = size.map(Size::Bytes);
        }
        diskspd.write(&plan)
    };
    let gib = 1 << 30;
    let check = |target, size, region, expected: &str| {
        let to = written(target, size, "-r -w100", region);
        assert!(to.text.contains(expected) && to.losses.is_empty(), "{} {:?}", to.text, to.losses);
    };
    check("/m/a", Some(gib), PartRegion::Pct(0.0, 25.0), " -c1G -f256M ");
    check("/m/a", Some(gib), PartRegion::Pct(25.0, 100.0), " -B256M -c1G ");
    check("/m/a", Some(gib), PartRegion::Bytes(1 << 20, 3 << 20), " -B1M -c1G -f3M ");
    check("/dev/sdx", Some(gib), PartRegion::Pct(50.0, 75.0), " -B512M -f768M ");
    check("/dev/sdx", None, PartRegion::Bytes(1 << 20, 3 << 20), " -B1M -f3M ");
    let unknown = |walk| written("/dev/sdx", None, walk, PartRegion::Pct(50.0, 75.0));
    let writes = unknown("-r -w100");
    assert!(writes.is_empty() && writes.losses[0].contains("would write elsewhere"));
    let reads = unknown("-r");
    assert!(!reads.is_empty() && reads.losses.iter().any(|it| it.contains("takes all")));
    let around = written("/m/a", Some(gib), "-r -w100", PartRegion::Pct(50.0, 150.0));
    assert!(around.is_empty(), "{}", around.text);
}

/// A file is made as large as it is said to be; a device has its size.
#[test]
fn a_file_in_shared_memory_is_made() {
    let diskspd = find_dialect("diskspd").expect("it is a language");
    let check = |target: &str, expected: &str| {
        let mut plan = read_with("diskspd -d1 -c1G /m/a", &[], REQUEST).parsed.plan;
        plan.jobs_mut().for_each(|job| job.files.names = vec![target.to_owned()]);
        let text = diskspd.write(&plan).text;
        assert!(text.contains(expected), "{text}");
    };
    check("/dev/shm/f", " -c1G ");
    check("/dev/sdx", " -f1G ");
}

/// Why command lines of the field are refused, by their number in the list; all others are run.
const REFUSED: [(usize, &str); 12] = [
    (7, "unset-variable"),
    (8, "unset-variable"),
    (9, "unset-variable"),
    (10, "unset-variable"),
    (11, "unset-variable"),
    (12, "unset-variable"),
    (23, "unknown-option"),
    // A burst without a pause, which the tool refuses, too.
    (26, "conflict"),
    // No target, and a profile is asked for.
    (30, "no-target"),
    (42, "placeholder"),
    (43, "unset-variable"),
    (47, "unset-variable"),
];

/// Returns the command lines of the field.
fn lines_of_the_field() -> Option<Vec<String>> {
    let corpus = testing::corpus("", "diskspd.txt")?;
    let list = std::fs::read_to_string(corpus.join("diskspd.txt")).expect("a list");
    let lines = list.lines().filter(|line| !line.starts_with('#'));
    Some(lines.filter_map(|line| Some(line.split('\t').nth(3)?.to_owned())).collect())
}

#[test]
fn command_lines_of_the_field_are_read_or_refused_for_a_reason() {
    let Some(lines) = lines_of_the_field() else { return };
    for (idx, line) in lines.iter().enumerate() {
        let read = read_with(line, &[], Request { is_to_run: false, ..REQUEST });
        let errors: Vec<_> =
            findings(&read).into_iter().filter(|it| it.severity == Severity::Error).collect();
        let refused = REFUSED.iter().find(|(number, _)| *number == idx + 1);
        match refused {
            Some((_, code)) => {
                assert!(
                    errors.iter().any(|it| it.code == *code),
                    "{}: {line}: {errors:?}",
                    idx + 1
                );
            }
            None => assert_eq!(errors, [], "{}: {line}", idx + 1),
        }
    }
    assert_eq!(lines.len(), 48);
}
