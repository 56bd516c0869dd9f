//! Composite workloads from the file to the result.

mod common;

use std::collections::BTreeMap;

use common::Sandbox;

/// Two components, whose files are small.
const UNIT: &str = r#"schema = "plimsoll.plan/1"
[unit]
name = "set"
anchor = "load"
runtime = "1s"

[[unit.component]]
name = "front"
instances = 2
rate = 50
read_sizes = "4KiB"

[unit.component.mix]
stat = 60
random_read = 30
create = 5
unlink = 5

[unit.component.files]
folders = 2
files_per_folder = 10
sizes = "16KiB"

[[unit.component]]
name = "back"
rate = 25
read_sizes = "64KiB"
write_sizes = "64KiB"

[unit.component.mix]
read = 50
write = 50

[unit.component.files]
folders = 1
files_per_folder = 4
sizes = "256KiB"
"#;

#[test]
fn check_shows_processes_rates_and_data_of_a_load() {
    let sandbox = Sandbox::new();
    sandbox.write("unit.toml", UNIT);
    let outcome = sandbox.plimsoll(&["check", "unit.toml", "--load", "10"]);
    let page = outcome.success();
    let words = page.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "10 units of set, 30 processes, files of 1.63 MiB each, 16.3 MiB in all",
        "10 units of set, 30 processes, 1250 operations per second",
        "20 processes, 2 for each of 10 units of set, 50 operations per second each, 1000 in all",
        "getattr, files at random (60 %)",
    ] {
        assert!(words.contains(part), "`{part}` is missing in\n{page}");
    }
}

#[test]
fn a_load_runs_on_files_and_on_emulated_volumes() {
    let sandbox = Sandbox::new();
    sandbox.write("unit.toml", UNIT);
    let outcome = sandbox.plimsoll(&["run", "unit.toml", "--load", "2", "--json"]);
    let record = record::Record::from_json(outcome.success()).expect("a record");
    let measured: Vec<_> = record.jobs.iter().filter(|job| job.step_idx == 1).collect();
    let names: Vec<&str> = measured.iter().map(|job| job.name.as_str()).collect();
    assert_eq!(names, ["front", "front", "front", "front", "back", "back"]);
    assert!(sandbox.path("load/set-0002/front-2").is_dir());

    sandbox.write(
        "p30.toml",
        "name = \"one\"\n[[volume]]\nmount = \"/mnt/p30\"\ndisk = \"P30\"\ncache = \"None\"\n",
    );
    let remap = ["--remap", "load=/mnt/p30", "--on", "p30.toml", "--virtual", "--json"];
    let args = ["run", "unit.toml", "--load", "2", "--set", "runtime=100s"];
    let outcome = sandbox.plimsoll(&[&args[..], &remap[..]].concat());
    let record = record::Record::from_json(outcome.success()).expect("a record");
    let of = |name: &str| -> u64 {
        let jobs = record.jobs.iter().filter(|job| job.step_idx == 1 && job.name == name);
        jobs.map(record::JobRecord::n_ios).sum()
    };
    assert!(of("front").abs_diff(20_000) < 100, "{}", of("front"));
    assert!(of("back").abs_diff(5_000) < 50, "{}", of("back"));
    let [units] = &*record.units else { panic!("{:?}", record.units) };
    assert_eq!((units.holds(), units.n_units, units.components.len()), (Some(true), 2, 2));
    assert_eq!(units.all.asked_iops, Some(250.0));
    let least = units.all.process_share_min.expect("each process has a rate");
    assert!((least - 1.0).abs() < 0.01, "{least}");

    let outcome = sandbox.plimsoll(&[&args[..], &remap[..5]].concat());
    let page = outcome.success().split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "2 units of set, 6 processes",
        "front 4 200 200",
        "back 2 50 50",
        "all 6 250 250",
        "rates: achieved (95 % in all and of each component, 75 % of each process); parts",
    ] {
        assert!(page.contains(part), "`{part}` is missing in\n{}", outcome.stdout);
    }
}

/// Nine operations of ten are on the files of two of twenty folders, and three random reads of four
/// in the first eighth of a file: counted by strace, which sees what the kernel is asked for.
#[test]
fn locality_is_what_the_kernel_sees() {
    if !std::path::Path::new("/usr/bin/strace").exists() {
        testing::skipped!("no strace: `apt-get install strace`");
        return;
    }
    let sandbox = Sandbox::new();
    let unit = "schema = \"plimsoll.plan/1\"\n[unit]\nname = \"set\"\nanchor = \"load\"\n\
                runtime = \"4s\"\n[[unit.component]]\nname = \"hot\"\nrate = 1000\n\
                read_sizes = \"4KiB\"\nlocality = \"90/10\"\nlocality_in_files = \"75/12.5\"\n\
                [unit.component.mix]\nstat = 50\nrandom_read = 50\n\
                [unit.component.files]\nfolders = 20\nfiles_per_folder = 5\nsizes = \"128KiB\"\n";
    sandbox.write("unit.toml", unit);
    sandbox.plimsoll(&["run", "unit.toml", "--set", "runtime=1s"]).success();
    let mut strace = sandbox.command(std::path::Path::new("/usr/bin/strace"));
    strace.args(["-f", "-y", "-s0", "-e", "trace=/stat.*,openat,pread64", "-o", "calls"]);
    strace.arg(env!("CARGO_BIN_EXE_plimsoll")).args(["run", "unit.toml", "--no-progress"]);
    let run = common::outcome(&mut strace);
    if run.stderr.contains("Operation not permitted") {
        testing::skipped!("strace may not trace here");
        return;
    }
    let calls = std::fs::read_to_string(sandbox.path("calls")).expect("strace wrote it");
    let of_files = calls.lines().filter(|line| line.contains("load/set-0001/hot-1"));
    let (mut n_ops, mut n_hot, mut n_reads, mut n_front) = (0_u32, 0, 0, 0);
    for line in of_files.filter(|line| line.contains("vdb.1_") && line.contains(".file")) {
        let folder = line.split("vdb.1_").nth(1).and_then(|rest| rest.split('.').next());
        let folder: u32 = folder.and_then(|digits| digits.parse().ok()).expect(line);
        if let Some((_, args)) = line.split_once("pread64(") {
            // Its place stands where it ends, without the file.
            if args.contains("<unfinished") {
                continue;
            }
            n_reads += 1;
            let offset = args.split(", ").nth(3).and_then(|rest| rest.split(')').next());
            let offset: u32 = offset.and_then(|digits| digits.parse().ok()).expect(line);
            n_front += u32::from(offset < 16 << 10);
        } else {
            n_ops += 1;
            n_hot += u32::from(folder <= 2);
        }
    }
    // Each file is looked at once before the run, of which ten are in two folders.
    (n_ops, n_hot) = (n_ops - 100, n_hot - 10);
    assert!(n_ops > 1000 && n_reads > 500, "{n_ops} operations, {n_reads} reads");
    let pct = |part: u32, all: u32| f64::from(part) * 100.0 / f64::from(all);
    assert!((pct(n_hot, n_ops) - 90.0).abs() < 3.0, "{n_hot} of {n_ops}");
    assert!((pct(n_front, n_reads) - 75.0).abs() < 6.0, "{n_front} of {n_reads}");
}

#[test]
fn a_load_that_means_nothing_is_refused() {
    let sandbox = Sandbox::new();
    sandbox.write("unit.toml", UNIT);
    sandbox.write("job.fio", "[a]\nsize=64k\n");
    for (args, expected) in [
        (["check", "unit.toml", "--load", "0"], "0 is not in 1.."),
        (["check", "unit.toml", "--load", "10000"], "`--load` is at most 9999"),
        (["check", "job.fio", "--load", "2"], "`--load` counts the units of a composite workload"),
    ] {
        let outcome = sandbox.plimsoll(&args);
        assert_eq!(outcome.code, 2, "{args:?}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(expected), "{args:?}: {}", outcome.stderr);
    }
}

/// A disk without bursts: 5,000 operations per second.
const P30: &str =
    "name = \"one\"\n[[volume]]\nmount = \"/mnt/p30\"\ndisk = \"P30\"\ncache = \"None\"\n";

#[test]
fn a_curve_over_units_finds_the_most_that_an_emulated_disk_carries() {
    let sandbox = Sandbox::new();
    sandbox.write("unit.toml", UNIT);
    sandbox.write("p30.toml", P30);
    // Of a unit 30 random reads and 25 transfers of the back end go to the disk each second, and 10
    // creates and removals do not: 40 and 80 units fit into 5,000, 120 do not.
    let args = ["curve", "unit.toml", "--load-from", "40", "--load-max", "120", "--steps", "3"];
    let on = ["--on", "p30.toml", "--virtual", "--time", "20s", "--ramp", "1s", "--no-progress"];
    let outcome = sandbox.plimsoll(&[&args[..], &on[..], &["--json"]].concat());
    let record = record::Record::from_json(outcome.success()).expect("a record");
    let curve = record.curve.as_ref().expect("a curve");
    assert_eq!(curve.line.verdict(), record::LineVerdict::Line(80.0), "{:?}", curve.points);
    assert_eq!(curve.points.len(), 3);
    let carried = curve.points[1].figures.iops();
    assert!((carried - 80.0 * 125.0).abs() < 50.0, "{carried}");
    let asked = record.units.iter().map(|units| units.all.asked_iops.expect("rates"));
    assert_eq!(asked.collect::<Vec<f64>>(), [5000.0, 10_000.0, 15_000.0]);
    assert_eq!(record.jobs.len(), 6, "one entry for each component and point");
    assert!(curve.overall_response_ns.is_some());

    let outcome = sandbox.plimsoll(&[&args[..], &on[..]].concat());
    let page = outcome.success().split_whitespace().collect::<Vec<_>>().join(" ");
    for part in ["at 80 units with achieved > 95 %", "2 ms:", "asked/s", "mean latency over the"] {
        assert!(page.contains(part), "`{part}` is missing in\n{}", outcome.stdout);
    }
    // Not even the first point.
    let begin = ["suite", "begin", "unit.toml", "--from", "200", "--to", "200"];
    let outcome = sandbox.plimsoll(&[&begin[..], &on[..]].concat());
    assert_eq!(outcome.code, 4, "{}{}", outcome.stdout, outcome.stderr);
}

#[test]
fn a_closed_load_makes_nothing_up() {
    let sandbox = Sandbox::new();
    sandbox.write("p30.toml", P30);
    let run = |pacing: &str, load: &str| {
        let rate = |rate: u32| format!("rate = {rate}\n");
        let paced = |rate: u32| format!("rate = {rate}\npacing = \"{pacing}\"\n");
        let text = UNIT.replace(&rate(50), &paced(50)).replace(&rate(25), &paced(25));
        sandbox.write("paced.toml", text);
        let args = ["run", "paced.toml", "--load", load, "--remap", "load=/mnt/p30", "--json"];
        let on = ["--on", "p30.toml", "--virtual", "--set", "runtime=20s", "--no-progress"];
        let outcome = sandbox.plimsoll(&[&args[..], &on[..]].concat());
        let record = record::Record::from_json(&outcome.stdout).expect("a record");
        let units = record.units[0].clone();
        let mean_ms = units.all.figures.get(record::Figure::Mean).expect("it was busy") / 1e6;
        (outcome.code, units.all.achieved_share.expect("it has rates"), mean_ms)
    };
    // A load that fits is the same, whether what is late is made up or not.
    for pacing in ["open", "closed"] {
        let (code, share, _) = run(pacing, "2");
        assert!(code == 0 && (share - 1.0).abs() < 0.01, "{pacing}: {code}, {share}");
    }
    // 120 units ask for 6,600 operations of 5,000: response times are those of a backlog, or no
    // longer than the 360 processes make the queue.
    let (open_code, open_share, open_ms) = run("open", "120");
    let (closed_code, closed_share, closed_ms) = run("closed", "120");
    assert_eq!((open_code, closed_code), (3, 3), "shares {open_share} and {closed_share}");
    assert!(closed_share < 0.95 && open_share < 0.95, "{open_share}, {closed_share}");
    assert!(open_ms > 500.0 && closed_ms < 100.0, "{open_ms} ms, {closed_ms} ms");
}

#[test]
fn a_curve_over_units_measures_real_folders() {
    let sandbox = Sandbox::new();
    sandbox.write("unit.toml", UNIT);
    std::fs::create_dir(sandbox.path("there")).expect("the sandbox is ours");
    let begin = ["suite", "begin", "unit.toml", "--at", "there", "--to", "2", "--steps", "2"];
    let outcome = sandbox.plimsoll(&[&begin[..], &["--no-progress", "--json"]].concat());
    // On a busy host a point may say nothing, which is no fault of the command.
    assert!([0, 3].contains(&outcome.code), "{}", outcome.stderr);
    let record = record::Record::from_json(&outcome.stdout).expect("a record");
    let curve = record.curve.expect("a curve");
    let loads: std::collections::BTreeSet<u32> =
        curve.points.iter().map(|point| point.load as u32).collect();
    assert_eq!(loads.into_iter().collect::<Vec<u32>>(), [1, 2]);
    assert!(sandbox.path("there/load/set-0002/front-2").is_dir());
    for units in &record.units {
        let processes: Vec<u32> = units.components.iter().map(|it| it.n_processes).collect();
        assert_eq!(processes, [2 * units.n_units, units.n_units]);
    }
}

#[test]
fn a_curve_over_units_says_what_it_needs() {
    let sandbox = Sandbox::new();
    sandbox.write("unit.toml", UNIT);
    sandbox.write("job.fio", "[a]\nsize=64k\nfilename=x\n");
    let cases: [(&[&str], &str); 7] = [
        (&["curve", "unit.toml"], "say up to how many: --load-max 10"),
        (&["curve", "eda"], "say up to how many: --load-max 10"),
        (&["curve", "job.fio", "--load-max", "2"], "error[no-unit]"),
        (&["curve", "unit.toml", "--load-max", "2", "--closed"], "cannot be used with"),
        (&["curve", "unit.toml", "--load-max", "2", "--load-from", "3"], "begin with fewer"),
        (&["curve", "unit.toml", "--at", "x"], "--load-max"),
        (&["suite", "begin", "unit.toml", "--to", "0"], "0 is not in 1.."),
    ];
    for (args, expected) in cases {
        let outcome = sandbox.plimsoll(args);
        assert_eq!(outcome.code, 2, "{args:?}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(expected), "{args:?}: {}", outcome.stderr);
    }
}

/// What a thread asked the kernel for on files of a component.
#[derive(Default)]
struct Calls {
    /// By the name of the call; removals of folders and files by themselves.
    n: BTreeMap<String, u32>,
    bytes: u64,
}

/// Returns what strace saw of the threads that read or write files of units, by component. A call
/// that another thread's stands between is on two lines, of which the first has its file.
fn calls_by_component(trace: &str) -> Vec<(&'static str, Calls)> {
    let mut threads: BTreeMap<&str, (&'static str, Calls)> = BTreeMap::new();
    for line in trace.lines() {
        let Some((thread, rest)) = line.split_once(' ') else { continue };
        let call = rest.trim_start();
        let moved = || call.rsplit_once(" = ")?.1.parse::<u64>().ok();
        if let Some(resumed) = call.strip_prefix("<... ") {
            if let Some((_, calls)) = threads.get_mut(thread)
                && (resumed.starts_with("pread64") || resumed.starts_with("pwrite64"))
            {
                calls.bytes += moved().expect(line);
            }
            continue;
        }
        let of_unit = |args: &&str| args.contains("/jobset-0001/");
        let found = call.split_once('(').filter(|(_, args)| of_unit(args));
        let Some((name, args)) = found else { continue };
        let component = if args.contains("/frontend-") { "frontend" } else { "backend" };
        let (_, calls) = threads.entry(thread).or_insert((component, Calls::default()));
        let name = match name {
            "unlinkat" if args.contains("AT_REMOVEDIR") => "rmdir",
            "openat" if args.contains("O_CREAT") => "create",
            name => name,
        };
        *calls.n.entry(name.to_owned()).or_default() += 1;
        if ["pread64", "pwrite64"].contains(&name) && !args.contains("<unfinished") {
            calls.bytes += moved().expect(line);
        }
    }
    let all = threads.into_values();
    all.filter(|(_, calls)| calls.n.get("pread64").is_some_and(|n| *n > 100)).collect()
}

/// The look-alike of EDA for ten seconds on files of this host, counted by strace: each process at
/// its rate, the published shares within half a percentage point, and bytes per second.
#[track_caller]
fn check_eda(sandbox: &Sandbox, host: &str) {
    let seconds = 10.0;
    let mut strace = sandbox.command(std::path::Path::new("/usr/bin/strace"));
    strace.args(["-f", "-y", "-s0", "-e", "trace=file,fchmod,pread64,pwrite64", "-o", "calls"]);
    let run = ["run", "eda.toml", "--remap", "/mnt/vol=vol", "--no-progress"];
    strace.arg(env!("CARGO_BIN_EXE_plimsoll")).args(run);
    let outcome = common::outcome(&mut strace);
    assert!([0, 3].contains(&outcome.code), "{}{}", outcome.stdout, outcome.stderr);
    let trace = std::fs::read_to_string(sandbox.path("calls")).expect("strace wrote it");
    let processes = calls_by_component(&trace);
    let n_of = |name| processes.iter().filter(|it| it.0 == name).count();
    assert_eq!((n_of("frontend"), n_of("backend")), (3, 2), "{host}: {}", outcome.stderr);
    let shares = |component| -> &[(&str, f64)] {
        match component {
            // Reads and writes are those of whole files, too, and two kinds remove.
            "frontend" => &[
                ("newfstatat", 39.0),
                ("faccessat2", 15.0),
                ("pwrite64", 25.0),
                ("pread64", 15.0),
                ("create", 2.0),
                ("fchmodat", 1.0),
                ("mkdirat", 1.0),
                ("unlinkat", 2.0),
            ],
            _ => &[("pread64", 50.0), ("pwrite64", 50.0)],
        }
    };
    let mut bytes = 0;
    for (component, calls) in &processes {
        let n = |name: &str| f64::from(*calls.n.get(name).unwrap_or(&0));
        let all: f64 = shares(component).iter().map(|(name, _)| n(name)).sum();
        let asked = if *component == "frontend" { 100.0 } else { 75.0 };
        assert!((all / seconds / asked - 1.0).abs() < 0.01, "{host}: {component}: {:?}", calls.n);
        for (name, pct) in shares(component) {
            let share = 100.0 * n(name) / all;
            assert!((share - pct).abs() < 0.5, "{host}: {component}: {name}: {share} %");
        }
        bytes += calls.bytes;
    }
    // 7.2 to 7.3 MB/s; that of 1,500 transfers of two sizes is within 3 % of it.
    let mb_s = bytes as f64 / seconds / 1e6;
    assert!((mb_s / 7.25 - 1.0).abs() < 0.03, "{host}: {mb_s} MB/s");
}

/// Counts the files in a folder and all below it.
fn files_below(folder: &std::path::Path) -> usize {
    let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("one"));
    let count = |entry: std::fs::DirEntry| {
        let is_folder = entry.file_type().expect("it is there").is_dir();
        if is_folder { files_below(&entry.path()) } else { 1 }
    };
    entries.map(count).sum()
}

/// A volume that carries less than the load asks for is no measurement of that load.
#[test]
fn a_throttled_volume_makes_a_load_invalid() {
    let sandbox = Sandbox::new();
    let text =
        include_str!("../../../docs/workloads/eda.toml").replace("folders = 137", "folders = 2");
    sandbox.write("eda.toml", text.replace("\"60s\"", "\"0s\""));
    // A job set does 270 reads and writes a second; a P10 carries 500, a P6 240.
    for (disk, is_valid) in [("P10", true), ("P6", false)] {
        let volume = "mount = \"/mnt/vol\"\ncache = \"None\"";
        let design = format!("edition = \"2018\"\n[[volume]]\n{volume}\ndisk = \"{disk}\"\n");
        sandbox.write("d.toml", design);
        let args = ["run", "eda.toml", "--on", "d.toml", "--virtual", "--no-progress"];
        let outcome = sandbox.plimsoll(&args);
        let said = outcome.stdout + &outcome.stderr;
        assert_eq!(outcome.code, if is_valid { 0 } else { 3 }, "{said}");
        assert_eq!(said.contains("rates: not achieved: 93.3 % of 450"), !is_valid, "{said}");
    }
}

/// What is published of EDA is what the kernel is asked for, on a host that is busy otherwise, too.
#[test]
fn eda_is_what_the_kernel_sees() {
    if !std::path::Path::new("/usr/bin/strace").exists() {
        testing::skipped!("no strace: `apt-get install strace`");
        return;
    }
    let sandbox = Sandbox::new();
    // A tenth of the front end's folders, and two of the back end's.
    let text = include_str!("../../../docs/workloads/eda.toml");
    let text =
        text.replace("folders = 240", "folders = 24").replace("folders = 137", "folders = 2");
    sandbox.write("eda.toml", text.replace("\"60s\"", "\"0s\"").replace("\"300s\"", "\"10s\""));
    std::fs::create_dir(sandbox.path("vol")).expect("the sandbox is ours");
    let probe = common::outcome(
        sandbox.command(std::path::Path::new("/usr/bin/strace")).args(["-o", "probe", "true"]),
    );
    if probe.stderr.contains("Operation not permitted") {
        testing::skipped!("strace may not trace here");
        return;
    }
    let layout = ["run", "eda.toml", "--remap", "/mnt/vol=vol", "--set", "runtime=1s"];
    let laid_out = sandbox.plimsoll(&[&layout[..], &["--no-progress"]].concat());
    assert!([0, 3].contains(&laid_out.code), "{}", laid_out.stderr);
    let n_files = || files_below(&sandbox.path("vol"));
    let n_at_first = n_files();
    check_eda(&sandbox, "as it is");
    assert!(n_files().abs_diff(n_at_first) * 100 <= n_at_first, "{n_at_first}, {}", n_files());
    if testing::has_program("stress-ng") {
        let mut stress = sandbox.command(std::path::Path::new("stress-ng"));
        let mut stress = stress.args(["--cpu", "2", "--timeout", "20s", "--quiet"]).spawn();
        let stress = stress.as_mut().expect("it is installed");
        check_eda(&sandbox, "busy");
        // It ends its own processes.
        let pid = stress.id().to_string();
        common::outcome(sandbox.command(std::path::Path::new("kill")).arg(pid));
        stress.wait().expect("it ends");
    }
}
