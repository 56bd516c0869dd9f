//! Test configurations of Iometer: what is read, the runs in the tool's order, and their plans.

use dialects::iometer::{
    ActiveWorker, Config, ResultLayout, Run, TestType, measured, read_config, results, runs,
};
use dialects::{FilesOnly, Overrides, ReadPlan, Request, find_dialect, likeliest};
use plan::workload::BlockSize;
use plan::{Plan, Severity};
use record::{JobRecord, Record};

/// A configuration whose parts can be replaced.
#[derive(Clone)]
struct Icf {
    test_type: &'static str,
    cycling: [&'static str; 3],
    specs: String,
    managers: String,
}

/// Writes an access specification.
fn spec(name: &str, lines: &[&str]) -> String {
    let mut text = format!(
        "'Access specification name,default assignment\n\t{name},NONE\n\
         'size,% of size,% reads,% random,delay,burst,align,reply\n"
    );
    for line in lines {
        text.push_str(&format!("\t{line}\n"));
    }
    text
}

/// Writes a worker.
fn worker(name: &str, depth: u32, specs: &[&str], targets: &[&str]) -> String {
    let targets: String = targets
        .iter()
        .map(|target| format!("'Target\n\t{target}\n'Target type\n\tDISK\n'End target\n"))
        .collect();
    let specs: String = specs.iter().map(|spec| format!("\t{spec}\n")).collect();
    format!(
        "'Worker\n\t{name}\n'Worker type\n\tDISK\n'Default target settings for worker\n\
         'Number of outstanding IOs,test connection rate,transactions per connection\n\
         \t{depth},DISABLED,1\n'Disk maximum size,starting sector\n\t2048,64\n\
         'End default target settings for worker\n'Assigned access specs\n{specs}\
         'End assigned access specs\n'Target assignments\n{targets}'End target assignments\n\
         'End worker\n"
    )
}

fn manager(id: u32, address: &str, workers: &[String]) -> String {
    format!(
        "'Manager ID, manager name\n\t{id},HOST{id}\n'Manager network address\n\t{address}\n{}\
         'End manager\n",
        workers.concat()
    )
}

impl Icf {
    fn new(specs: &[String], managers: &[String]) -> Self {
        Icf {
            test_type: "NORMAL",
            cycling: ["1 1 LINEAR", "1 1 LINEAR", "1 8 2 EXPONENTIAL"],
            specs: specs.concat(),
            managers: managers.concat(),
        }
    }

    fn text(&self) -> String {
        let Icf { test_type, cycling: [workers, targets, depths], specs, managers } = self;
        format!(
            "Version 1.1.0 \n'TEST SETUP ====\n'Test Description\n\tnightly\n'Run Time\n\
             '\thours      minutes    seconds\n\t0          1          30\n'Ramp Up Time (s)\n\t5\n\
             'Default Disk Workers to Spawn\n\tNUMBER_OF_CPUS\n'Record Results\n\tALL\n\
             'Worker Cycling\n'\tstart      step       step type\n\t{workers}\n'Disk Cycling\n\
             '\tstart      step       step type\n\t{targets}\n'Queue Depth Cycling\n\
             '\tstart      end        step       step type\n\t{depths}\n'Test Type\n\t{test_type}\n\
             'END test setup\n'RESULTS DISPLAY ====\n'Bar chart 1 statistic\n\tTotal I/Os\n\
             'END results display\n'ACCESS SPECIFICATIONS ====\n{specs}\
             'END access specifications\n'MANAGER LIST ====\n{managers}'END manager list\n\
             Version 1.1.0 \n"
        )
    }
}

const OLTP: &str = "8192,100,67,100,0,1,4096,0";

fn simple() -> Icf {
    let workers = [worker("W", 4, &["OLTP"], &["sdb"])];
    Icf::new(&[spec("OLTP", &[OLTP])], &[manager(1, "localhost", &workers)])
}

/// Reads a text to run it.
fn read_with(text: &str, sections: &[String], overrides: &Overrides) -> ReadPlan {
    read(text, Request { sections, overrides, ..REQUEST })
}

fn read(text: &str, request: Request<'_>) -> ReadPlan {
    let loader = FilesOnly(|_: &str| Ok(text.as_bytes().to_vec()));
    let files = ["a.icf".to_owned()];
    let iometer = find_dialect("iometer").expect("it is a language");
    iometer.read(&Request { files: &files, ..request }, &loader)
}

const REQUEST: Request<'static> = Request {
    files: &[],
    sections: &[],
    overrides: &Overrides { set: Vec::new(), remap: Vec::new(), load: None },
    all_hosts_local: false,
    is_to_run: true,
};

#[track_caller]
fn plan_of(text: &str) -> Plan {
    let read = read(text, REQUEST);
    let findings = [&read.parsed.diagnostics[..], &read.parsed.refusals].concat();
    assert!(findings.iter().all(|it| it.severity != Severity::Error), "{findings:?}");
    read.parsed.plan
}

#[test]
fn a_configuration_is_recognised_by_its_sections() {
    let of = |text: &str| likeliest(text).map(dialects::Dialect::name);
    assert_eq!(of(&simple().text()), Some("iometer"));
    assert_eq!(of(&simple().text().replace('\n', "\r\n").to_lowercase()), Some("iometer"));
    assert_eq!(of("[job]\nrw=read\n; 'TEST SETUP is Iometer's\n"), Some("fio"));
}

#[test]
fn a_worker_on_a_disk_is_a_job() {
    let plan = plan_of(&simple().text());
    assert_eq!(plan.steps.len(), 1);
    assert_eq!(plan.steps[0].name, "OLTP");
    let [job] = &plan.steps[0].jobs[..] else { panic!("{:?}", plan.steps) };
    assert_eq!((&*job.name, &job.files.names[..]), ("W", &["/dev/sdb".to_owned()][..]));
    assert!(job.files.direct && job.limits.time_based);
    assert_eq!(job.limits.runtime_ns, Some(90_000_000_000));
    assert_eq!(job.limits.ramp_ns, 5_000_000_000);
    assert_eq!(job.load.queue_depth, 4);
    // Sectors of 512 bytes: 2048 of them from the 64th on.
    assert_eq!(job.files.size, Some(plan::files::Size::Bytes(1 << 20)));
    assert_eq!(job.files.offset, plan::files::Size::Bytes(32 << 10));
    let work = &job.workload;
    assert!(work.access.read && work.access.write && work.access.random && work.one_cursor);
    assert_eq!((work.read_pct, work.block_size.read.clone()), (67.0, BlockSize::Fixed(8192)));
    assert_eq!((work.block_align.write, work.no_repeats), (Some(4096), false));
    assert!(work.seed_varies);
}

/// A line of a specification is a part with its own mix; together they have its shares.
#[test]
fn lines_of_a_specification_are_parts() {
    let lines = ["512,10,100,0,0,1,0,0", "4096,60,50,100,0,1,0,0", "65536,30,0,25,0,1,512,0"];
    let workers = [worker("W", 2, &["Mix"], &["sdb", "sdc"])];
    let icf = Icf::new(&[spec("Mix", &lines)], &[manager(1, "127.0.0.1", &workers)]);
    let plan = plan_of(&icf.text());
    let [first, second] = &plan.steps[0].jobs[..] else { panic!("two targets") };
    assert_eq!((&*first.name, &*second.name), ("W: sdb", "W: sdc"));
    let seen: Vec<_> = first
        .parts
        .iter()
        .map(|part| {
            let work = &part.workload;
            (part.weight, work.access.random, work.random_pct.read, work.block_size.read.min())
        })
        .collect();
    assert_eq!(
        seen,
        [(10.0, false, 100.0, 512), (60.0, true, 100.0, 4096), (30.0, true, 25.0, 65536)]
    );
    assert_eq!(first.parts[1].workload.block_align.read, Some(512));
    assert_eq!(first.parts, second.parts);
}

#[test]
fn pauses_seeds_and_patterns_are_taken() {
    let line = "4096,100,0,0,20,8,0,0";
    let workers = [worker("W", 1, &["Bursts"], &["/mnt/data [ext4]"])];
    let icf = Icf::new(&[spec("Bursts", &[line])], &[manager(1, "", &workers)]);
    let text = icf.text().replace("\t1,DISABLED,1\n", "\t1,DISABLED,1,ENABLED,77\n");
    let plan = plan_of(&text.replace("\t2048,64\n", "\t2048,64,2\n"));
    let job = plan.jobs().next().expect("one");
    assert_eq!((job.load.think.pause_ns, job.load.think.every_ios), (20_000_000, 8));
    assert_eq!((job.workload.seed, job.workload.seed_varies), (77, false));
    assert_eq!(job.files.names, ["/mnt/data/iobw.tst"]);
    assert_eq!(job.buffers.refill, Some(true));
}

/// Each worker goes through its own list; one with a shorter list idles at the end.
#[test]
fn workers_go_through_their_specifications_together() {
    let specs = [spec("A", &[OLTP]), spec("B", &[OLTP])];
    let workers = [
        worker("one", 1, &["A", "B", "Default"], &["sdb"]),
        worker("two", 1, &["B", "Idle"], &["sdc"]),
    ];
    let plan = plan_of(&Icf::new(&specs, &[manager(1, "localhost", &workers)]).text());
    let seen: Vec<(&str, Vec<&str>)> = plan
        .steps
        .iter()
        .map(|step| (&*step.name, step.jobs.iter().map(|job| &*job.name).collect()))
        .collect();
    let both = vec!["one", "two"];
    assert_eq!(seen, [("A + B", both), ("B", vec!["one"]), ("Default", vec!["one"])]);
    let built_in = &plan.steps[2].jobs[0].workload;
    assert_eq!((built_in.read_pct, built_in.block_size.read.min()), (67.0, 2048));
}

/// Lists runs as `depth: targets of each worker`, those of different managers with a bar between.
fn listed(icf: &Icf) -> Vec<String> {
    let (config, findings) = read_config(&icf.text());
    assert_eq!(findings, []);
    let of = |run: Run| {
        let mut text = run.queue_depth.map_or(String::new(), |depth| format!("{depth}: "));
        let mut last = 0;
        for ActiveWorker { manager_idx, worker_idx, n_targets } in run.workers.iter() {
            text.push_str(if *manager_idx > last { " | " } else { "" });
            last = *manager_idx;
            text.push_str(&format!("{}{n_targets}", ["a", "b", "c"][*worker_idx]));
        }
        text
    };
    runs(&config).map(of).collect()
}

#[track_caller]
fn check_runs(test_type: &'static str, cycling: [&'static str; 3], expected: &[&str]) {
    // Two managers: one with workers of three targets and one, the other of two.
    let first =
        [worker("a", 1, &["OLTP"], &["sda", "sdb", "sdc"]), worker("b", 1, &["OLTP"], &["sdd"])];
    let second = [worker("a", 1, &["OLTP"], &["sde", "sdf"])];
    let managers = [manager(1, "localhost", &first), manager(2, "localhost", &second)];
    let icf = Icf::new(&[spec("OLTP", &[OLTP])], &managers);
    assert_eq!(listed(&Icf { test_type, cycling, ..icf }), expected, "{test_type}");
}

const ONES: [&str; 3] = ["1 1 LINEAR", "1 1 LINEAR", "1 8 2 EXPONENTIAL"];

#[test]
fn each_test_type_has_its_runs() {
    check_runs("NORMAL", ONES, &["a3b1 | a2"]);
    check_runs("CYCLE_TARGETS", ONES, &["a1b1 | a1", "a2b1 | a2", "a3b1 | a2"]);
    check_runs("cycle_workers", ONES, &["a3 | a2", "a3b1 | a2"]);
    let depths = ["1: a3b1 | a2", "2: a3b1 | a2", "4: a3b1 | a2", "8: a3b1 | a2"];
    check_runs("CYCLE_OUTSTANDING_IOS", ONES, &depths);
    let linear = ["1 1 LINEAR", "1 1 LINEAR", "3 9 4 LINEAR"];
    check_runs("6", linear, &["3: a3b1 | a2", "7: a3b1 | a2"]);
    let parallel = ["a1 | a1", "a2 | a2", "a3 | a2", "a3b1 | a2"];
    check_runs("INCREMENT_TARGETS_PARALLEL", ONES, &parallel);
    let serial = ["a1", "a2", "a3", "a3b1", "a3b1 | a1", "a3b1 | a2"];
    check_runs("INCREMENT_TARGETS_SERIAL", ONES, &serial);
    let exponential = ["1 1 LINEAR", "1 2 EXPONENTIAL", "1 1 1 LINEAR"];
    check_runs("INCREMENT_TARGETS_SERIAL", exponential, &["a1", "a2", "a3b1", "a3b1 | a2"]);
    let inner = ["a1 | a1", "a2 | a2", "a3 | a2", "a1b1 | a1", "a2b1 | a2", "a3b1 | a2"];
    check_runs("CYCLE_WORKERS_AND_TARGETS", ONES, &inner);
    let both = ["1: a1b1 | a1", "4: a1b1 | a1", "1: a3b1 | a2", "4: a3b1 | a2"];
    check_runs(
        "CYCLE_OUTSTANDING_IOS_AND_TARGETS",
        ["1 1 LINEAR", "1 3 LINEAR", "1 4 4 EXPONENTIAL"],
        &both,
    );
    // What does not grow ends.
    check_runs("CYCLE_TARGETS", ["1 1 LINEAR", "2 1 EXPONENTIAL", "1 1 1 LINEAR"], &["a2b1 | a2"]);
}

/// The example of the tool's own documents: 16 specifications, three targets per worker in steps of
/// one, 1 to 128 outstanding by doubling.
#[test]
fn outstanding_and_targets_multiply() {
    let names: Vec<String> = (0..16).map(|idx| format!("S{idx}")).collect();
    let specs: Vec<String> = names.iter().map(|name| spec(name, &[OLTP])).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let workers = [
        worker("a", 1, &names, &["sda", "sdb", "sdc"]),
        worker("b", 1, &names, &["sdd", "sde", "sdf"]),
    ];
    let icf = Icf {
        test_type: "CYCLE_OUTSTANDING_IOS_AND_TARGETS",
        cycling: ["1 1 LINEAR", "1 1 LINEAR", "1 128 2 EXPONENTIAL"],
        ..Icf::new(&specs, &[manager(1, "localhost", &workers)])
    };
    assert_eq!(listed(&icf).len(), 384);
    let plan = plan_of(&icf.text());
    assert_eq!((plan.steps.len(), plan.jobs().count()), (384, 16 * 8 * (2 + 4 + 6)));
    assert_eq!(plan.steps[1].name, "S0, 2 outstanding, 2 targets");
}

#[test]
fn targets_of_windows_are_mapped() {
    let targets = ["C:", "8: \"PHYSICALDRIVE\""];
    let workers = [worker("W", 1, &["OLTP"], &targets)];
    let icf = Icf::new(&[spec("OLTP", &[OLTP])], &[manager(1, "localhost", &workers)]);
    let unmapped = read(&icf.text(), REQUEST).parsed.refusals;
    let helps: Vec<&str> = unmapped.iter().map(|it| &*it.help[0]).collect();
    let expected = [
        "say where it is: `--remap 'C:=/mnt/data'`",
        "say where it is: `--remap '8: \"PHYSICALDRIVE\"=/dev/sdX'`",
    ];
    assert_eq!(helps, expected);
    assert!(unmapped.iter().all(|it| it.severity == Severity::Error));
    let looked_at = read(&icf.text(), Request { is_to_run: false, ..REQUEST }).parsed.refusals;
    assert!(looked_at.iter().all(|it| it.severity == Severity::Warning), "{looked_at:?}");
    let remap = [("C:", "/mnt/c"), ("8: \"PHYSICALDRIVE\"", "/dev/sdz")];
    let remap = remap.map(|(from, to)| (from.to_owned(), to.to_owned())).to_vec();
    let read = read_with(&icf.text(), &[], &Overrides { remap, ..Overrides::default() });
    assert_eq!((&read.parsed.diagnostics[..], &read.parsed.refusals[..]), (&[][..], &[][..]));
    let names: Vec<&str> = read.parsed.plan.jobs().map(|job| &*job.files.names[0]).collect();
    assert_eq!(names, ["/mnt/c/iobw.tst", "/dev/sdz"]);
}

/// Every mistake is reported with its place.
#[test]
fn mistakes_have_places() {
    for (from, to, code, line, message) in [
        ("\t8192,100,67", "\t8192,90,67", "bad-total", 33, "add up to 90 %, not 100 %"),
        ("\t8192,100,67", "\t8192,100,67%", "bad-value", 34, "`67%` is no whole number from 0"),
        ("\t8192,100,67,100,0,1,4096,0", "\t8192,100,67", "bad-value", 34, "were expected"),
        (",4096,0\n", ",4096,512\n", "unsupported-reply", 34, "replies are for network"),
        ("OLTP,NONE", "OLTP;NONE", "bad-name", 32, "a name, a comma, and NONE"),
        (
            "\tOLTP\n'End",
            "\tOLPT\n'End",
            "unknown-specification",
            52,
            "no access specification `OLPT`",
        ),
        ("\tNORMAL", "\tNORMALLY", "bad-value", 24, "`NORMALLY` is no test type"),
        ("1          30", "1 m", "bad-value", 7, "`m` is no whole number from 0"),
        ("\t4,DISABLED", "\t0,DISABLED", "bad-value", 47, "`0` is no whole number from 1 to 65536"),
        ("\t2048,64", "\t2048,64,7", "bad-value", 49, "`7` is no data pattern"),
        ("1 8 2 EXPONENTIAL", "1 8 2 LOG", "bad-value", 22, "LINEAR or EXPONENTIAL"),
        ("1 8 2 EXPONENTIAL", "1 8 EXPONENTIAL", "bad-value", 22, "start, end, step"),
        ("'END manager list\n", "", "missing-end", 63, "the text ends before `'END manager list`"),
    ] {
        let text = simple().text();
        assert!(text.contains(from), "{from}");
        let read = read(&text.replacen(from, to, 1), REQUEST);
        let found: Vec<_> =
            read.parsed.diagnostics.iter().filter(|it| it.severity == Severity::Error).collect();
        let [finding] = found[..] else { panic!("{from} -> {to}: {found:?}") };
        let at = finding.span.as_ref().map_or(0, |span| span.line);
        assert_eq!((finding.code, at), (code, line), "{to}: {finding:?}");
        assert!(finding.message.contains(message), "{finding:?}");
        assert_eq!(read.parsed.plan.jobs().count(), 0);
    }
}

#[test]
fn all_mistakes_are_reported_at_once() {
    let text = simple().text().replace("\tNORMAL", "\tX").replace(",67,", ",670,");
    let read = read(&text.replace("\t4,DIS", "\t-4,DIS"), REQUEST);
    let lines: Vec<u32> =
        read.parsed.diagnostics.iter().filter_map(|it| Some(it.span.as_ref()?.line)).collect();
    assert_eq!(lines, [24, 34, 47]);
}

#[track_caller]
fn check_refused(text: &str, code: &str) {
    let read = read(text, REQUEST);
    let refusals = read.parsed.refusals;
    assert!(refusals.iter().any(|it| it.code == code && !it.help.is_empty()), "{refusals:?}");
}

#[test]
fn what_cannot_be_run_is_refused_and_can_be_looked_at() {
    let text = simple().text();
    check_refused(&text.replace("\tDISK\n'Default", "\tNETWORK,TCP\n'Default"), "network-worker");
    check_refused(&text.replace("\tlocalhost", "\t10.0.0.9"), "remote-hosts");
    check_refused(&text.replace("1          30", "0 0"), "no-run-time");
    check_refused(&Icf { managers: String::new(), ..simple() }.text(), "no-worker");
    check_refused(&text.replace("\tOLTP\n'End", "'End"), "no-specification");
    let here = Request { all_hosts_local: true, ..REQUEST };
    assert_eq!(read(&text.replace("\tlocalhost", "\t10.0.0.9"), here).parsed.refusals, []);
}

#[test]
fn a_section_is_an_access_specification() {
    let specs = [spec("A", &[OLTP]), spec("B", &[OLTP])];
    let workers = [worker("W", 1, &["A", "B"], &["sdb"])];
    let text = Icf::new(&specs, &[manager(1, "localhost", &workers)]).text();
    let read = |name: &str| read_with(&text, &[name.to_owned()], &Overrides::default()).parsed;
    let steps = read("B").plan.steps;
    assert_eq!(steps.iter().map(|step| &*step.name).collect::<Vec<_>>(), ["B"]);
    assert_eq!(read("C").diagnostics[0].code, "unknown-specification");
}

/// Cut anywhere, changed anywhere: mistakes, and no panic.
#[test]
fn no_text_is_a_panic() {
    let text = simple().text();
    for at in 0..text.len() {
        let _ = read(&text[..at], REQUEST);
        for other in ["'", ",", "\n", "999999999999999999999", "é"] {
            let _ = read(&format!("{}{other}{}", &text[..at], &text[at + 1..]), REQUEST);
        }
    }
}

fn count(config: &Config, of: impl Fn(&dialects::iometer::Worker) -> usize) -> usize {
    config.managers.iter().flat_map(|manager| &manager.workers).map(of).sum()
}

/// What is counted in the files of others is what their list says.
#[test]
fn files_of_the_field_have_their_counts() {
    let Some(corpus) = testing::corpus("iometer", "index.tsv") else { return };
    let index = std::fs::read_to_string(corpus.join("index.tsv")).expect("a list");
    let mut n_files = 0;
    for row in index.lines().skip(1) {
        let cells: Vec<&str> = row.split('\t').collect();
        let text = std::fs::read(corpus.join(cells[0])).expect("a file");
        let text = String::from_utf8_lossy(&text);
        let (config, findings) = read_config(&text);
        let n_errors = findings.iter().filter(|it| it.severity == Severity::Error).count();
        assert_eq!(n_errors, 0, "{}: {findings:?}", cells[0]);
        let n_lines: usize = config.specs.iter().map(|spec| spec.lines.len()).sum();
        let longest = config.managers.iter().flat_map(|manager| &manager.workers);
        let seen = [
            config.specs.len(),
            n_lines,
            config.managers.len(),
            count(&config, |_| 1),
            count(&config, |worker| worker.targets.len()),
        ];
        let expected: Vec<usize> =
            cells[3..8].iter().map(|cell| cell.parse().expect("a number")).collect();
        assert_eq!(seen[..], expected[..], "{}", cells[0]);
        let n_specs = longest.map(|worker| worker.specs.len()).max().unwrap_or(0);
        assert_eq!(n_specs.to_string(), cells[9], "{}", cells[0]);
        let word = TestType::WORDS.iter().find(|(_, it)| *it == config.test.test_type);
        assert_eq!(word.map(|(word, _)| *word), Some(cells[8]), "{}", cells[0]);
        n_files += 1;
    }
    assert_eq!(n_files, 26);
}

/// A job of one second, of reads that take a time, and one write of twice that.
fn job(step_idx: u32, n_reads: u64, latency_ns: u64) -> JobRecord {
    let mut job = JobRecord { step_idx, runtime_ns: S_NS, ..JobRecord::default() };
    (job.cpu_user_ns, job.cpu_system_ns, job.started_unix_ms) = (S_NS / 10, S_NS / 5, 5_000);
    let read = &mut job.dirs.read;
    (read.n_ios, read.io_bytes) = (n_reads, n_reads * 4096);
    read.clat.record_n(latency_ns, n_reads);
    read.errors.insert(5, 2);
    let write = &mut job.dirs.write;
    (write.n_ios, write.io_bytes) = (1, 1_000_000);
    write.clat.record(2 * latency_ns);
    job
}

const S_NS: u64 = 1_000_000_000;

/// What is printed of a moment.
fn stamp(unix_ms: u64) -> String {
    format!("at {unix_ms}")
}

fn cells_of<'a>(text: &'a str, kind: &str) -> Vec<Vec<&'a str>> {
    let rows = text.lines().map(|line| line.split(',').collect::<Vec<&str>>());
    rows.filter(|cells| cells[0] == kind).collect()
}

/// Columns are found by their number, as programs do that read such files.
#[test]
fn results_have_their_figures_in_the_columns_of_the_tool() {
    let workers = [worker("W", 4, &["OLTP"], &["sdb", "C: \"data\""])];
    let icf = Icf::new(&[spec("OLTP", &[OLTP])], &[manager(1, "localhost", &workers)]);
    let (config, _) = read_config(&icf.text());
    let jobs = vec![job(0, 1_000, 1_500_000), job(0, 3_000, 60_000)];
    let mut record = Record { jobs, started_unix_ms: 1_000, ..Record::default() };
    record.host.n_cpus = 2;
    let text = results(&config, &[], &record, ResultLayout::V110, &stamp);
    for kind in ["ALL", "MANAGER", "PROCESSOR", "WORKER", "DISK"] {
        let rows = cells_of(&text, kind);
        let n_rows = if kind == "PROCESSOR" || kind == "DISK" { 2 } else { 1 };
        assert_eq!(rows.len(), n_rows, "{kind}");
        assert!(rows.iter().all(|cells| cells.len() == 80), "{kind}: {rows:?}");
    }
    let all = &cells_of(&text, "ALL")[0];
    assert_eq!(all[1..6], ["All", "OLTP", "1", "1", "2"]);
    // IOPS, then MiB and MB a second; reads and writes behind each.
    assert_eq!(all[6..9], ["4002.000000", "4000.000000", "2.000000"]);
    assert_eq!(all[10], "15.625000");
    assert_eq!((all[13], all[14]), ("16.384000", "2.000000"));
    assert_eq!((all[15], all[16]), ("4002.000000", "0.000000"));
    // Milliseconds: (1,000 x 1.5 + 3,000 x 0.06) / 4,000 of reads, the largest of a write.
    let number = |cell: &str| cell.parse::<f64>().expect("a number");
    assert!((number(all[18]) / 0.42 - 1.0).abs() < 0.01, "{}", all[18]);
    assert_eq!((all[23], all[24]), ("1.500000", "3.000000"));
    assert_eq!(all[27..36], ["4", "4", "0", "16384000", "2000000", "4000", "2", "0", "-1"]);
    assert!(all[36..45].iter().all(|cell| cell.is_empty()), "{all:?}");
    assert_eq!(all[45..48], ["64", "2048", "4"]);
    // 0.3 s of each of two workers' seconds, on two processors.
    assert_eq!(all[48..51], ["30.000000", "10.000000", "20.000000"]);
    assert_eq!(all[55], "133.400000");
    // 50 to 100 us, 100 to 200 us, 1 to 2 ms, 2 to 5 ms.
    assert_eq!((all[60], all[61], all[64], all[65]), ("3000", "1", "1000", "1"));
    let disk = &cells_of(&text, "DISK")[1];
    assert_eq!((disk[1], disk[2], disk[6], disk[47]), ("C: \"data\"", "", "3001.000000", ""));
    assert_eq!(disk[44], "1000000000");
    let old = results(&config, &[], &record, ResultLayout::V2008, &stamp);
    let all = &cells_of(&old, "ALL")[0];
    assert_eq!((all.len(), all[10], all[12]), (56, "15.625000", "4002.000000"));
    assert!(old.contains("'Version\n2008.06.18\n'Time Stamp\nat 1000\n'Access specifications\n"));
    assert!(old.ends_with("'Time Stamp\nat 6000\n'End Test\n"), "{old}");
}

/// A configuration chooses the rows of its results, by a word or its number. With a file to write
/// to, NONE is all of them, as in the tool.
#[test]
fn results_have_the_rows_that_are_chosen() {
    let workers = [worker("W", 4, &["OLTP"], &["sdb", "sdc"]), worker("V", 1, &["OLTP"], &["sdd"])];
    let icf = Icf::new(&[spec("OLTP", &[OLTP])], &[manager(1, "localhost", &workers)]);
    let mut record = Record { jobs: vec![job(0, 10, 1000); 3], ..Record::default() };
    record.host.n_cpus = 2;
    let kinds = ["ALL", "MANAGER", "PROCESSOR", "WORKER", "DISK"];
    for (choice, expected) in [
        ("ALL", [1, 1, 2, 2, 3]),
        ("no_targets", [1, 1, 2, 2, 0]),
        ("NO_WORKERS", [1, 1, 2, 0, 0]),
        ("NO_MANAGERS", [1, 0, 0, 0, 0]),
        ("NONE", [1, 1, 2, 2, 3]),
        ("1", [1, 1, 2, 2, 0]),
    ] {
        let text =
            icf.text().replace("'Record Results\n\tALL", &format!("'Record Results\n\t{choice}"));
        let (config, findings) = read_config(&text);
        assert!(findings.is_empty(), "{choice}: {findings:?}");
        let text = results(&config, &[], &record, ResultLayout::V110, &stamp);
        assert_eq!(kinds.map(|kind| cells_of(&text, kind).len()), expected, "{choice}");
        // Counts are of all, whichever are written.
        assert_eq!(cells_of(&text, "ALL")[0][3..6], ["1", "2", "3"], "{choice}");
    }
    let wrong = icf.text().replace("'Record Results\n\tALL", "'Record Results\n\tSOME");
    let (_, findings) = read_config(&wrong);
    assert_eq!(findings[0].message, "`SOME` is no choice of results");
}

/// Rows of runs that were not reached are left out.
#[test]
fn results_of_a_run_that_was_stopped_end_earlier() {
    let workers = [worker("W", 4, &["OLTP", "Default"], &["sdb"])];
    let icf = Icf::new(&[spec("OLTP", &[OLTP])], &[manager(1, "localhost", &workers)]);
    let (config, _) = read_config(&icf.text());
    let one = Record { jobs: vec![job(0, 10, 1000)], ..Record::default() };
    let both = Record { jobs: vec![job(0, 10, 1000), job(1, 10, 1000)], ..Record::default() };
    let specs = |record: &Record, wanted: &[String]| {
        let text = results(&config, wanted, record, ResultLayout::V110, &stamp);
        cells_of(&text, "ALL").iter().map(|cells| cells[2].to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(specs(&one, &[]), ["OLTP"]);
    assert_eq!(specs(&both, &[]), ["OLTP", "Default"]);
    assert_eq!(specs(&one, &["Default".to_owned()]), ["Default"]);
}

/// Results of the tool's own runs, of which names, counts and errors were kept.
#[test]
fn results_have_the_form_of_the_tool() {
    let Some(corpus) = testing::corpus("iometer", "index.tsv") else { return };
    let mut n_compared = 0;
    for name in testing::names_in(&corpus) {
        let Some(stem) = name.strip_suffix(".icf") else { continue };
        let golden = std::fs::read_to_string(corpus.join(format!("golden/{stem}.golden.txt")));
        // One has no specification, and no results therefore.
        let Some(golden) =
            golden.ok().and_then(|it| it.strip_prefix("RUN EXIT=0\n").map(str::to_owned))
        else {
            continue;
        };
        let text = std::fs::read(corpus.join(&name)).expect("a file");
        let (config, _) = read_config(&String::from_utf8_lossy(&text));
        let n_jobs: usize = measured(&config, &[]).map(|run| run.jobs.len()).sum();
        let mut quiet = job(0, 100, 1000);
        quiet.dirs.read.errors.clear();
        let mut record = Record { jobs: vec![quiet; n_jobs], ..Record::default() };
        record.host.n_cpus = 32;
        let text = results(&config, &[], &record, ResultLayout::V110, &|_| "<TS>".to_owned());
        let lines = text.lines().map(|line| match line.split(',').collect::<Vec<&str>>()[..] {
            [kind, ..] if !["ALL", "MANAGER", "PROCESSOR", "WORKER", "DISK"].contains(&kind) => {
                line.to_owned()
            }
            ref cells => {
                let is_above = cells[6].parse::<f64>().is_ok_and(|iops| iops > 0.0);
                let is_above = if is_above { "True" } else { "False" };
                format!("ROW {} ERR={} IOPS>0={is_above}", cells[..6].join(","), cells[27])
            }
        });
        let seen: Vec<String> = lines.collect();
        assert_eq!(seen, golden.lines().collect::<Vec<&str>>(), "{name}");
        n_compared += 1;
    }
    assert_eq!(n_compared, 12);
}
