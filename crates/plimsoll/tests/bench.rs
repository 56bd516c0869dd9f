//! `plimsoll bench` and `plimsoll suite`: suites from start to answer.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use common::{Outcome, Sandbox};
use record::{Figure, Outcome as Ended, Record, StepPurpose, SuiteRecord, SuiteStepRecord};

/// A disk of 1 TiB whose latency does not vary.
const P30: &str = "\
edition = \"2018\"

[[volume]]
mount = \"/mnt/p30\"
disk = \"P30\"
latency = \"1ms\"
";

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("p30.toml", P30);
    fs::create_dir(sandbox.path("volume")).expect("a folder");
    sandbox
}

fn design(name: &str) -> String {
    let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/designs").join(name);
    path.to_str().expect("text").to_owned()
}

/// Short steps are not always found steady, which ends with 3.
#[track_caller]
fn record(outcome: &Outcome) -> Record {
    assert!(matches!(outcome.code, 0 | 3), "{}{}", outcome.stdout, outcome.stderr);
    Record::from_json(&outcome.stdout).expect("a record")
}

#[track_caller]
fn suite(record: &Record) -> &SuiteRecord {
    record.suite.as_ref().expect("a suite")
}

/// Checks a row's I/Os per second to a percent.
#[track_caller]
fn check_iops(suite: &SuiteRecord, label: &str, expected: f64) {
    let row = suite.rows.iter().find(|row| row.label == label).expect("a row");
    let iops = row.medians().iops();
    assert!((iops / expected - 1.0).abs() < 0.01, "{label}: {iops}, and not {expected}");
}

#[track_caller]
fn check_80_columns(text: &str) {
    let long = text.lines().find(|line| line.chars().count() > 80);
    assert_eq!(long, None, "{text}");
}

#[test]
fn the_quick_suite_shows_what_a_disk_is_sold_as() {
    let args = ["bench", "--on", "p30.toml", "--virtual", "--no-progress", "--json"];
    let record = record(&sandbox().plimsoll(&args));
    let found = suite(&record);
    assert!(found.indicative && found.scale.is_none());
    for pattern in ["read", "write", "mix"] {
        check_iops(found, &format!("random {pattern} 8k"), 5_000.0);
        // 200 MB/s of 64 KiB each.
        check_iops(found, &format!("sequential {pattern} 64k"), 200e6 / 65_536.0);
    }
    let curve = record.curve.as_ref().expect("a load line");
    let line = curve.line.load.expect("it is found");
    assert!((4_500.0..=5_000.0).contains(&line), "{line}");
    // Six patterns, and a step for each point.
    assert_eq!(record.steps.len(), 6 + curve.points.len());
    assert!(curve.points.iter().enumerate().all(|(idx, at)| at.step_idx as usize == idx + 6));
    let measures = |step: &&SuiteStepRecord| step.purpose == StepPurpose::Measure;
    let purposes = found.steps.iter().filter(measures).count();
    assert_eq!(purposes, 6);
    // What is judged of a curve alone is judged of a suite's.
    let judged = record.line_validity().expect("the measurement at the line is judged");
    let at_line = curve.points.iter().find(|point| point.step_idx == judged.step_idx);
    assert_eq!(at_line.map(|point| point.load), curve.line.load);
    assert!(!judged.gates.is_empty());
}

#[test]
fn the_answer_fits_a_terminal() {
    let args = ["bench", "--on", "p30.toml", "--virtual", "--no-progress"];
    let sandbox = sandbox();
    let outcome = sandbox.plimsoll(&args);
    let text = outcome.success();
    check_80_columns(text);
    // The answer comes first, with its interval.
    let first = text.lines().next().expect("an answer");
    assert!(first.starts_with("p30.toml carries ") && first.contains(" IOPS (at least "), "{text}");
    for part in ["verdict: indicative", "random mix 8k", "load line: ", "o mean, * p99"] {
        assert!(text.contains(part), "`{part}` is missing:\n{text}");
    }
}

#[track_caller]
fn pages(sandbox: &Sandbox) -> Vec<String> {
    let names = fs::read_dir(sandbox.path(".")).expect("it is there").flatten();
    let names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| Path::new(name).extension().is_some_and(|it| it == "html")).collect()
}

#[test]
fn a_page_of_charts_is_left_behind() {
    let sandbox = sandbox();
    let args = ["bench", "--on", "p30.toml", "--virtual", "--no-progress", "--scale", "0.2"];
    let reported = sandbox.plimsoll(&args);
    let [page] = &pages(&sandbox)[..] else { panic!("one page: {}", reported.stderr) };
    assert!(page.starts_with("plimsoll-quick-"), "{page}");
    let text = fs::read_to_string(sandbox.path(page)).expect("it is there");
    assert!(text.contains("a first look") && text.contains("random mix 8k"));
    fs::remove_file(sandbox.path(page)).expect("it is ours");
    sandbox.plimsoll(&[&args[..], &["--report", "none"]].concat());
    sandbox.plimsoll(&[&args[..], &["--json"]].concat());
    assert_eq!(pages(&sandbox), Vec::<String>::new());
    sandbox.plimsoll(&[&args[..], &["--report", "mine.html"]].concat());
    assert_eq!(pages(&sandbox), ["mine.html"]);
    // Published figures are on the page beside ours.
    let on = design("ds14.toml");
    let args = ["bench", "--on", &on, "--virtual", "--suite", "premium-storage", "--scale", "0.02"];
    sandbox.plimsoll(&[&args[..], &["--report", "mine.html", "--no-progress"]].concat());
    let text = fs::read_to_string(sandbox.path("mine.html")).expect("it is there");
    assert!(text.contains("more than 64.0 k IOPS"), "published figures are missing");
}

/// The published 50,000 writes, 64,000 cached reads and more than 100,000 of both come out, after
/// a warm-up that is seen to warm.
#[test]
fn a_cache_is_warmed_before_it_is_measured() {
    let on = design("ds14.toml");
    let args = ["bench", "--on", &on, "--virtual", "--suite", "premium-storage"];
    // A step of 3 s: what is left in the buckets at its start no longer shows.
    let args = [&args[..], &["--scale", "0.1", "--no-progress", "--json"]].concat();
    let record = record(&sandbox().plimsoll(&args));
    let found = suite(&record);
    assert_eq!(found.scale, Some(0.1));
    let prepared: Vec<(&str, &str)> = found
        .rows
        .iter()
        .filter(|row| row.preparation)
        .map(|row| (row.label.as_str(), row.verdict.as_str()))
        .collect();
    assert_eq!(prepared, [("warm-up, one pass", "done"), ("warm-up until steady", "steady")]);
    let rate = |label: &str| {
        let row = found.rows.iter().find(|row| row.label == label).expect("a row");
        (row.medians().get(Figure::BytesPerS).unwrap_or(0.0) / 1e6, row.medians().iops())
    };
    // One pass comes from the disk (200 MB/s), then the cache answers (512 MB/s).
    assert!((rate("warm-up, one pass").0 / 200.0 - 1.0).abs() < 0.02);
    assert!(rate("warm-up until steady").0 > 500.0);
    let near = |label: &str, published: f64| {
        let iops = rate(label).1;
        assert!((iops / published - 1.0).abs() < 0.05, "{label}: {iops}");
    };
    near("most random writes 8k", 50_000.0);
    near("most random reads 8k", 64_000.0);
    assert!(rate("reads and writes 4k").1 > 100_000.0);
    // Published figures stand beside ours.
    let published =
        found.published.iter().find(|it| it.label == "most random reads 8k").expect("it is");
    assert_eq!((published.value, published.above), (64_000.0, true));
    let here = published.here.expect("it was measured");
    assert!((here - rate("most random reads 8k").1).abs() < 1.0);
}

#[test]
fn repeats_have_intervals() {
    let set = ["--set", "time=1s,ramp=0s", "--repeat", "6", "--seed", "5"];
    let args = ["bench", "--on", "p30.toml", "--virtual", "--no-progress", "--suite", "anf-large"];
    let args = [&args[..], &set, &["--json"]].concat();
    let record = record(&sandbox().plimsoll(&args));
    let found = suite(&record);
    assert_eq!((found.n_repeats, found.order_seed), (6, Some(5)));
    assert_eq!(found.steps.len(), 24);
    for row in &found.rows {
        assert_eq!(row.steps.len(), 6, "{}", row.label);
        let interval =
            row.figures.get(Figure::Iops).and_then(|it| it.interval).expect("six make one");
        assert!(interval.coverage > 0.95);
        assert!((interval.low..=interval.high).contains(&row.medians().iops()));
    }
    let labels: Vec<&str> = found.steps.iter().map(|step| step.label.as_str()).collect();
    let changes = labels.windows(2).filter(|pair| pair[0] != pair[1]).count();
    assert!(changes > 8, "the order is mixed: {labels:?}");
}

#[test]
fn rounds_go_on_until_they_are_steady() {
    let set = ["--set", "bs=4k:64k,read_pct=100:0,time=1s", "--suite", "snia-iops"];
    let args = ["bench", "--on", "p30.toml", "--virtual", "--no-progress", "--json"];
    let record = record(&sandbox().plimsoll(&[&args[..], &set].concat()));
    let found = suite(&record);
    let rounds = found.rounds.as_ref().expect("it has rounds");
    assert_eq!((rounds.iops.len(), rounds.steady_from), (5, Some(0)));
    assert_eq!(record.steps.len(), 5 * 4);
    check_iops(found, "mix, 4k, 0% read", 5_000.0);
    assert!(found.rows.iter().all(|row| row.steps.len() == 5));
}

/// All that a suite says is measured, and has a verdict.
#[test]
fn every_suite_runs_on_an_emulated_volume() {
    let suites = [
        ("quick", "p30.toml"),
        ("io-size", "p30.toml"),
        ("scale-up", "anf-premium.toml"),
        ("anf-2019", "anf-premium.toml"),
        ("anf-linux-regular", "anf-premium.toml"),
        ("anf-regular", "anf-premium.toml"),
        ("anf-large", "anf-premium.toml"),
        ("premium-storage", "ds14.toml"),
        ("snia-iops", "p30.toml"),
    ];
    let sandbox = sandbox();
    for (name, on) in suites {
        let shown = sandbox.plimsoll(&["suite", "show", name, "--json"]);
        let shown: serde_json::Value = serde_json::from_str(shown.success()).expect("JSON");
        let mut labels: Vec<&str> = shown["steps"]
            .as_array()
            .expect("steps")
            .iter()
            .map(|step| step["label"].as_str().expect("a label"))
            .filter(|label| !label.ends_with(", 1 conn"))
            .map(|label| label.trim_end_matches(", 8 conn"))
            .collect();
        let on = design(on);
        let args = ["bench", "--on", &on, "--virtual", "--no-progress", "--json"];
        let args = [&args[..], &["--suite", name, "--scale", "0.005"]].concat();
        let record = record(&sandbox.plimsoll(&args));
        let found = suite(&record);
        let mut rows: Vec<&str> = found.rows.iter().map(|row| row.label.as_str()).collect();
        labels.sort_unstable();
        rows.sort_unstable();
        assert_eq!(rows, labels, "{name}");
        for row in &found.rows {
            assert!(!row.verdict.is_empty() && row.medians().iops() > 0.0, "{name}: {row:?}");
        }
        assert_eq!(record.curve.is_some(), name == "quick");
    }
}

/// One volume lives through all rounds: what the first has brought into a cache is there in the
/// second.
#[test]
fn rounds_find_the_cache_as_the_one_before_left_it() {
    let sandbox = sandbox();
    sandbox.write(
        "cached.toml",
        "[vm]\nsize = \"DS14\"\n[[volume]]\nmount = \"/mnt/data\"\ndisk = \"P30\"\n\
         cache = \"ReadOnly\"\n",
    );
    sandbox.write(
        "rounds.toml",
        "schema = \"plimsoll.suite/1\"\nname = \"rounds\"\n[prepare]\nsize = \"400m\"\n\
         [rounds]\ntracked = \"reads\"\nmax = 2\nwindow = 2\n\
         [[part]]\nname = \"reads\"\nrw = \"read\"\nbs = \"64k\"\ntime = \"1s\"\nramp = \"0s\"\n",
    );
    let args = ["bench", "--on", "cached.toml", "--virtual", "--no-progress", "--json"];
    let record = record(&sandbox.plimsoll(&[&args[..], &["--suite", "rounds.toml"]].concat()));
    let rounds = suite(&record).rounds.as_ref().expect("it has rounds");
    let [cold, warm] = rounds.iops[..] else { panic!("two rounds: {:?}", rounds.iops) };
    assert!(warm > cold * 1.5, "{cold} from the disk, and {warm} from the cache");
}

/// What was measured before a kill is kept, and marked.
#[test]
fn a_killed_bench_leaves_what_it_has_measured() {
    let sandbox = sandbox();
    let text = "\
schema = \"plimsoll.suite/1\"
name = \"mine\"
[prepare]
size = \"4m\"
[[part]]
name = \"reads\"
rw = \"randread\"
time = \"1100ms\"
ramp = \"0s\"
[[part]]
name = \"writes\"
rw = \"randwrite\"
time = \"1h\"
ramp = \"0s\"
";
    sandbox.write("mine.toml", text);
    let mut command = sandbox.command(Path::new(env!("CARGO_BIN_EXE_plimsoll")));
    command.args(["bench", "volume", "--no-progress", "--suite", "mine.toml"]);
    command.args(["--store", "kept.db", "--report", "none"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    let kept = || {
        let shown = sandbox.plimsoll(&["show", "last", "--json", "--store", "kept.db"]);
        Record::from_json(&shown.stdout).ok()
    };
    let has_reads = |record: &Record| {
        let rows = record.suite.iter().flat_map(|suite| &suite.rows);
        rows.into_iter().any(|row| row.label == "reads" && row.medians().iops() > 0.0)
    };
    let tries = (0..1_200).take_while(|_| !kept().is_some_and(|record| has_reads(&record)));
    tries.for_each(|_| std::thread::sleep(Duration::from_millis(50)));
    child.kill().expect("it is ours");
    child.wait().expect("it ends");
    let record = kept().expect("what was measured");
    assert!(has_reads(&record), "{:?}", record.suite);
    let list = sandbox.plimsoll(&["runs", "--json", "--store", "kept.db"]);
    let list: serde_json::Value = serde_json::from_str(list.success()).expect("JSON");
    let state = list.to_string();
    assert!(state.contains("\"state\":\"interrupted\""), "{state}");
}

/// What is short enough for a test on files.
const SHORT: [&str; 5] = [
    "bench",
    "--no-progress",
    "--set",
    "size=8m,time=150ms,ramp=10ms,fill_time=5s,point_time=100ms,limit=p50 < 30s",
    "--suite",
];

/// A suite of our own with a curve of two points.
fn short_suite(sandbox: &Sandbox) {
    let text = "\
schema = \"plimsoll.suite/1\"
name = \"mine\"
[[part]]
name = \"reads\"
rw = \"randread\"
[[part]]
name = \"writes\"
rw = \"write\"
[curve]
limit = \"p99 < 10ms\"
start = 50
points = 1
repeat = 1
probes_max = 2
";
    sandbox.write("mine.toml", text);
}

#[test]
fn a_folder_is_measured_and_left_as_it_was() {
    let sandbox = sandbox();
    short_suite(&sandbox);
    fs::write(sandbox.path("volume/mine.txt"), "mine").expect("it is ours");
    let args = [&SHORT[..], &["mine.toml", "volume", "--json"]].concat();
    let outcome = sandbox.plimsoll(&args);
    let record =
        Record::from_json(&outcome.stdout).unwrap_or_else(|_| panic!("{}", outcome.stderr));
    let labels: Vec<&str> = suite(&record).rows.iter().map(|row| row.label.as_str()).collect();
    assert_eq!(labels, ["fill", "reads", "writes"]);
    assert!(suite(&record).rows[0].preparation);
    assert!(record.curve.is_some(), "{}", outcome.stderr);
    let left: Vec<_> = fs::read_dir(sandbox.path("volume")).expect("it is there").collect();
    assert_eq!(left.len(), 1, "the scratch file is removed");
    // What it does, how long that takes and what becomes of the file is said at the start.
    let [what, place, end] = &outcome.stderr.lines().take(3).collect::<Vec<_>>()[..] else {
        panic!("{}", outcome.stderr)
    };
    assert!(what.contains(" steps and a load line (the most I/O with p50 < 30"), "{what}");
    assert!(what.contains("; about ") && what.ends_with(", more with repeats"), "{what}");
    assert!(place.contains(": a scratch file, which is removed at the end; up to "), "{place}");
    assert_eq!(*end, "Ctrl-C ends it early and keeps what was measured");
    assert_eq!(fs::read_to_string(sandbox.path("volume/mine.txt")).expect("it is there"), "mine");
}

#[test]
fn a_file_that_was_there_is_only_read() {
    let sandbox = sandbox();
    short_suite(&sandbox);
    let before = vec![7_u8; 4 << 20];
    sandbox.write("volume/there", &before);
    let args = [&SHORT[..], &["mine.toml", "volume/there", "--json"]].concat();
    let outcome = sandbox.plimsoll(&args);
    let record =
        Record::from_json(&outcome.stdout).unwrap_or_else(|_| panic!("{}", outcome.stderr));
    let labels: Vec<&str> = suite(&record).rows.iter().map(|row| row.label.as_str()).collect();
    assert_eq!(labels, ["reads"]);
    assert!(outcome.stderr.contains("there: which is only read; "), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("1 step that writes is left out"), "{}", outcome.stderr);
    assert_eq!(fs::read(sandbox.path("volume/there")).expect("it is there"), before);
}

#[test]
fn an_interrupted_bench_says_what_it_has_and_tidies_up() {
    let sandbox = sandbox();
    let mut command = sandbox.command(Path::new(env!("CARGO_BIN_EXE_plimsoll")));
    command.args(["bench", "volume", "--no-progress", "--json", "--suite", "io-size"]);
    command.args(["--set", "size=4m,time=1h,ramp=0s"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    // It is at its first step when the fill has made the file.
    let is_filled = || {
        let dirs = fs::read_dir(sandbox.path("volume")).expect("it is there").flatten();
        let mut sizes = dirs.filter_map(|dir| {
            fs::metadata(dir.path().join("plimsoll-bench.scratch")).ok().map(|it| it.len())
        });
        sizes.any(|size| size == 4 << 20)
    };
    let tries = (0..6_000).take_while(|_| !is_filled());
    tries.for_each(|_| std::thread::sleep(Duration::from_millis(20)));
    let pid = rustix::process::Pid::from_raw(i32::try_from(child.id()).expect("a number"));
    let signal = rustix::process::Signal::INT;
    rustix::process::kill_process(pid.expect("it runs"), signal).expect("it is ours");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130));
    let text = String::from_utf8(output.stdout).expect("text");
    let record = Record::from_json(&text).expect("what was measured");
    assert_eq!(record.outcome, Ended::Interrupted);
    assert_eq!(suite(&record).rows[0].label, "fill");
    let left = fs::read_dir(sandbox.path("volume")).expect("it is there").count();
    assert_eq!(left, 0, "the scratch file is removed");
}

#[track_caller]
fn check_refused(args: &[&str], expected: &[&str]) {
    let sandbox = sandbox();
    let reported = sandbox.plimsoll(&[&["bench"], args].concat()).mistake();
    assert!(reported.ends_with("exit code 2\n"), "{reported}");
    for part in expected {
        assert!(reported.contains(part), "`{part}` is missing: {reported}");
    }
    assert_eq!(fs::read_dir(sandbox.path("volume")).expect("it is there").count(), 0);
}

#[test]
fn what_cannot_be_measured_is_reported() {
    check_refused(&[], &["no target is given", "plimsoll bench DIR"]);
    check_refused(&["nowhere"], &["`nowhere`: No such file or directory"]);
    check_refused(&["volume", "--suite", "quik"], &["no suite `quik`", "did you mean `quick`?"]);
    check_refused(&["volume", "--suite", "none.toml"], &["cannot read suite `none.toml`"]);
    check_refused(&["volume", "--set", "speed=1"], &["a suite has no parameter `speed`"]);
    check_refused(&["volume", "--scale", "3"], &["a share above 0 and up to 1"]);
    let too_large = ["volume", "--set", "size=999999t"];
    check_refused(&too_large, &["are free", "--set size="]);
    let other = ["/mnt/x", "--on", "p30.toml", "--virtual"];
    check_refused(&other, &["`/mnt/x` is not on a volume of", "/mnt/p30"]);
    let one_kind = ["--on", "p30.toml", "--virtual", "--suite", "premium-storage"];
    check_refused(&one_kind, &["has no volume for `cached`", "cached=/mnt/a"]);
    check_refused(&["volume", "--readonly"], &["has to be written before it is read"]);
}

/// What is left out of a file that is only read has the reason and the remedy of what was typed.
#[test]
fn what_only_writes_is_refused_for_the_reason_that_was_given() {
    let sandbox = sandbox();
    sandbox.write("data", vec![b'x'; 1 << 20]);
    let text = "schema = \"plimsoll.suite/1\"\nname = \"mine\"\n[[part]]\nname = \"writes\"\n\
                rw = \"randwrite\"\nbs = \"4k\"\n";
    sandbox.write("mine.toml", text);
    for what in [["--suite", "mine.toml"], ["--need", "iops=10,read=0"]] {
        let mistake = |more: &[&str]| {
            sandbox.plimsoll(&[&["bench", "data"][..], &what, more].concat()).mistake()
        };
        let kept = mistake(&[]);
        assert!(kept.contains("the target may not be overwritten"), "{kept}");
        assert!(kept.contains("hint: `--overwrite` measures writes, too"), "{kept}");
        let asked = mistake(&["--readonly"]);
        assert!(asked.contains("and `--readonly` is given"), "{asked}");
        assert!(asked.contains("hint: leave out `--readonly`"), "{asked}");
    }
    let data = fs::read(sandbox.path("data")).expect("it is there");
    assert!(data.iter().all(|byte| *byte == b'x'));
}

#[test]
fn a_folder_that_may_not_be_written_to_is_reported() {
    let reported = sandbox().plimsoll(&["bench", "/proc"]).mistake();
    assert!(
        reported.contains("cannot write to `/proc`") && reported.contains("exit code 2"),
        "{reported}"
    );
}

#[test]
fn suites_are_listed_shown_and_begun() {
    let sandbox = sandbox();
    let list = sandbox.plimsoll(&["suite", "list"]);
    assert!(list.success().contains("premium-storage    most reads"), "{}", list.stdout);
    check_80_columns(list.success());
    let shown = sandbox.plimsoll(&["suite", "show", "snia-iops"]);
    assert!(shown.success().contains("56 steps, about 23h20m"), "{}", shown.stdout);
    check_80_columns(shown.success());
    let shown = sandbox.plimsoll(&["suite", "show", "quick", "--json", "--scale", "0.5"]);
    let value: serde_json::Value = serde_json::from_str(shown.success()).expect("JSON");
    assert_eq!(value["steps"].as_array().map(Vec::len), Some(6));
    assert_eq!(value["steps"][0]["time_ns"], 3_000_000_000_u64);
    let new = sandbox.plimsoll(&["suite", "new", "nightly", "--from", "io-size"]);
    new.success();
    let shown = sandbox.plimsoll(&["suite", "show", "nightly.toml"]);
    assert!(shown.success().starts_with("nightly: block sizes"), "{}", shown.stdout);
    let again = sandbox.plimsoll(&["suite", "new", "nightly"]).mistake();
    assert!(again.contains("cannot write to `nightly.toml`"), "{again}");
    // What `suite show --fio` prints, fio's own parser of ours takes.
    let jobs = sandbox.plimsoll(&["suite", "show", "premium-storage", "--fio"]);
    sandbox.write("suite.fio", jobs.success());
    let checked = sandbox.plimsoll(&["check", "suite.fio"]);
    checked.success();
}

#[test]
fn mistakes_in_a_suite_are_reported_with_their_place() {
    let sandbox = sandbox();
    let text =
        "schema = \"plimsoll.suite/1\"\nname = \"mine\"\n[[part]]\nname = \"a\"\nrw = \"red\"\n";
    sandbox.write("mine.toml", text);
    let reported = sandbox.plimsoll(&["bench", "volume", "--suite", "mine.toml"]).mistake();
    assert!(reported.contains("mine.toml:5") && reported.contains("`rw` is `red`"), "{reported}");
}

#[test]
fn suites_and_curves_are_compared() {
    let sandbox = sandbox();
    sandbox.write("slow.toml", P30.replace("P30", "P20"));
    let keep = |design: &str, name: &str, more: &[&str]| {
        let base = ["--on", design, "--virtual", "--no-progress", "--store", "runs.db"];
        let outcome = sandbox.plimsoll(&[more, &base, &["--name", name]].concat());
        assert!(matches!(outcome.code, 0 | 3), "{}", outcome.stderr);
    };
    let six = ["bench", "--suite", "anf-large", "--set", "time=1s", "--repeat", "6"];
    keep("p30.toml", "fast", &six);
    keep("slow.toml", "slow", &six);
    let args = ["compare", "fast", "slow", "--store", "runs.db", "--fail-if-worse", "5%"];
    let found = sandbox.plimsoll(&[&args[..], &["--metric", "iops", "--anyway"]].concat());
    assert_eq!(found.code, 4, "{}{}", found.stdout, found.stderr);
    assert!(found.stdout.contains("\n8k random read"), "{}", found.stdout);
    let curve = ["curve", "/mnt/p30", "--time", "5s", "--points", "2", "--arrivals", "fixed"];
    let curve = [&curve[..], &["--repeat", "6"]].concat();
    keep("p30.toml", "line", &curve);
    keep("p30.toml", "again", &curve);
    let found = sandbox.plimsoll(&["compare", "line", "again", "--store", "runs.db"]);
    let text = found.success();
    assert!(text.contains("load line") && text.contains("at load 1000"), "{text}");
    let mixed = sandbox.plimsoll(&["compare", "line", "fast", "--store", "runs.db"]).mistake();
    assert!(mixed.contains("is a load curve") && mixed.contains("is a suite"), "{mixed}");
}

/// Asks needs of the P30, and returns the exit code and the record.
fn ask(needs: &[&str], more: &[&str]) -> (i32, Record) {
    let needs = needs.iter().flat_map(|need| ["--need", need]);
    let args = ["bench", "--on", "p30.toml", "--virtual", "--no-progress", "--json"];
    let args: Vec<&str> = args.into_iter().chain(needs).chain(more.iter().copied()).collect();
    let outcome = sandbox().plimsoll(&args);
    let record = Record::from_json(&outcome.stdout);
    (outcome.code, record.unwrap_or_else(|error| panic!("{error}: {}", outcome.stderr)))
}

/// Checks the answer to one need: exit code, verdict, measurements, and what each condition came
/// to.
#[track_caller]
fn check_need(need: &str, more: &[&str], expected: (i32, &str, u32), kept: &[Option<bool>]) {
    let (code, record) = ask(&[need], more);
    let answer = &suite(&record).needs[0];
    let seen = (code, answer.verdict.words(), answer.n_measured);
    assert_eq!(seen, expected, "{need}: {answer:?}");
    let seen: Vec<Option<bool>> = answer.conditions.iter().map(|it| it.is_kept).collect();
    assert_eq!(seen, kept, "{need}: {answer:?}");
}

/// A P30 does 5,000 I/Os and 200 MB a second, each in a millisecond.
#[test]
fn a_need_is_met_not_met_or_undecided() {
    let kept = [Some(true), Some(true)];
    check_need("iops=3000,p99<5ms", &[], (0, "met", 1), &kept);
    check_need("IOPS=3000, P99 < 5 ms, BS = 16 KiB, Read = 70 %", &[], (0, "met", 1), &kept);
    check_need("mb_s=150,bs=1m,seq,mean<100ms", &[], (0, "met", 1), &kept);
    // A failure is measured again before it is believed.
    check_need("iops=9000,p99<5ms", &[], (4, "not met", 2), &[Some(false), Some(false)]);
    check_need("iops=3000,p99<900us", &[], (4, "not met", 2), &[Some(true), Some(false)]);
    check_need("mb_s=400,bs=1m,seq", &[], (4, "not met", 2), &[Some(false)]);
    // 300 operations have three beyond p99.
    let short = ["--set", "time=100ms,ramp=0s"];
    check_need("iops=3000,p99<5ms", &short, (3, "cannot tell", 1), &[Some(true), None]);
}

#[test]
fn several_needs_have_an_answer_each_and_the_worst_is_the_exit_code() {
    let (code, record) = ask(&["iops=3000,p99<5ms", "iops=9000"], &[]);
    let found = suite(&record);
    let verdicts: Vec<&str> = found.needs.iter().map(|it| it.verdict.words()).collect();
    assert_eq!((code, verdicts.as_slice()), (4, &["met", "not met"][..]));
    let reason = &found.needs[1].reason;
    assert!(reason.contains("IOPS, not 9000; "), "{reason}");
    assert!(reason.contains("held back by disk_iops"), "{reason}");
    assert_eq!(record.steps.len(), 3);
}

#[test]
fn answers_to_needs_are_printed_kept_and_on_the_page() {
    let sandbox = sandbox();
    let args = ["bench", "--on", "p30.toml", "--virtual", "--no-progress", "--report", "a.html"];
    let args = [&args[..], &["--need", "iops=3000,p99<5ms"]].concat();
    let outcome = sandbox.plimsoll_keeping(&args);
    outcome.success();
    let shown = sandbox.plimsoll_keeping(&["show", "last"]);
    for text in [&outcome.stdout, &shown.stdout] {
        assert!(text.contains("need iops=3000,p99<5ms: met\n"), "{text}");
        assert!(text.contains("p99 < 5ms: ") && text.contains(", kept\n"), "{text}");
        check_80_columns(text);
    }
    let page = fs::read_to_string(sandbox.path("a.html")).expect("a page");
    assert!(page.contains("Is it good enough?") && page.contains(": met."));
}

#[test]
fn mistakes_are_reported_before_anything_runs() {
    let sandbox = sandbox();
    sandbox.write("old", vec![0_u8; 1 << 20]);
    for (args, expected) in [
        (&["--need", "p99<2ms"][..], "how much is needed is missing"),
        (&["--need", "iops=5000", "--suite", "etcd"], "--suite"),
        (&["--need", "iops=5000", "--set", "bs=4k"], "`--set bs=` does not go with `--need`"),
        (&["--need", "iops=5000", "--repeat", "3"], "`--repeat` is for suites"),
        (&["--need", "iops=5000,p99.99999<2ms"], "`--set time=8h20m`"),
        (&["--need", "iops=5000,read=0"], "may not be overwritten"),
        (&["--suite", "etcd", "--scale", "0.001"], "suite `etcd` only writes, and the target"),
        (&["--suite", "snia-iops"], "`--overwrite` measures writes, too; the contents are lost"),
    ] {
        let outcome = sandbox.plimsoll(&[&["bench", "old"], args].concat());
        assert_eq!(outcome.code, 2, "{args:?}: {}", outcome.stdout);
        assert!(outcome.stderr.contains(expected), "{args:?}: {}", outcome.stderr);
    }
}

/// Checks that a need which is kept for now has no answer: everywhere with the same words.
#[track_caller]
fn check_borrowed(design: &str, (need, more): (&str, &[&str]), row: &str, reason: &str) {
    let sandbox = Sandbox::new();
    sandbox.write("disk.toml", design);
    let args = ["bench", "--on", "disk.toml", "--virtual", "--no-progress", "--need", need];
    let args = [&args[..], more, &["--report", "a.html"]].concat();
    let outcome = sandbox.plimsoll_keeping(&args);
    assert_eq!(outcome.code, 3, "{}{}", outcome.stdout, outcome.stderr);
    let shown = sandbox.plimsoll_keeping(&["show", "last"]);
    let because = format!("because it was kept, but may not last: {reason}");
    for text in [&outcome.stdout, &shown.stdout] {
        assert!(text.contains(&format!("need {need}: cannot tell\n")), "{text}");
        let words: Vec<&str> = text.split_whitespace().collect();
        assert!(words.join(" ").contains(&because), "{text}");
        check_80_columns(text);
    }
    let page = fs::read_to_string(sandbox.path("a.html")).expect("a page");
    assert!(page.contains(": cannot tell.") && page.contains("may not last"));
    let outcome = sandbox.plimsoll(&[&args[..], &["--json"]].concat());
    let record = Record::from_json(&outcome.stdout).expect("a record");
    let found = suite(&record);
    assert_eq!((outcome.code, found.needs[0].verdict.words()), (3, "cannot tell"));
    assert_eq!(found.rows[0].verdict, row);
}

/// A gp2 of 100 GiB does 300 I/Os per second, and up to 3,000 from credits.
#[test]
fn what_only_credits_carry_does_not_meet_a_need() {
    let gp2 = "[[volume]]\nmount = \"/m\"\ndisk = \"gp2\"\nsize = \"100GiB\"\n";
    check_borrowed(gp2, ("iops=2500,p99<5ms", &[]), "credits?", "credits possible: 24");
    let sandbox = Sandbox::new();
    sandbox.write("disk.toml", gp2);
    let args = ["bench", "--on", "disk.toml", "--virtual", "--no-progress", "--need", "iops=250"];
    assert!(sandbox.plimsoll(&args).success().contains("need iops=250: met\n"));
}

/// A closed load takes all that credits give. What was asked for is less than the disk does
/// without them, so the rate is met; how long syncs take without them was not measured.
#[test]
fn credits_do_not_matter_where_less_than_the_baseline_is_asked() {
    let sandbox = Sandbox::new();
    let gp2 = "[[volume]]\nmount = \"/m\"\ndisk = \"gp2\"\nsize = \"100GiB\"\n";
    sandbox.write("gp2.toml", gp2);
    let limits = ["iops > 300", "iops > 200, p99 < 10ms", "iops > 310", "mb_s > 2.4", "mb_s > 3"];
    let head = "schema = \"plimsoll.suite/1\"\nname = \"mine\"\ntitle = \"mine\"\n[[source]]\n\
                id = \"own\"\ndocument = \"own\"\n[[part]]\nname = \"reads\"\nrw = \"randread\"\n\
                bs = \"8k\"\niodepth = 8\ntime = \"20s\"\n";
    let targets = limits.map(|it| format!("[[part.target]]\nsource = \"own\"\nlimit = \"{it}\"\n"));
    sandbox.write("mine.toml", format!("{head}{}", targets.concat()));
    let args = ["bench", "--on", "gp2.toml", "--virtual", "--no-progress", "--json", "--suite"];
    let outcome = sandbox.plimsoll(&[&args[..], &["mine.toml"]].concat());
    let record = Record::from_json(&outcome.stdout).expect("a record");
    let found = suite(&record);
    assert_eq!(found.rows[0].verdict, "credits?");
    let verdicts: Vec<&str> = found.needs.iter().map(|it| it.verdict.words()).collect();
    let expected = ["met", "cannot tell", "cannot tell", "met", "cannot tell"];
    assert_eq!((outcome.code, &verdicts[..]), (3, &expected[..]));
}

/// The cache takes writes at once, and the disk 5,000 of them per second.
const CACHED: &str = "[vm]\nsize = \"D8s_v3\"\nburst = \"none\"\n\n[[volume]]\nmount = \"/m\"\n\
    disk = \"P30\"\ncache = \"ReadWrite\"\n";

#[test]
fn what_holds_until_a_cache_is_dirty_does_not_meet_a_need() {
    let need = "iops=8000,bs=4k,read=0";
    let reason = "writes are taken so fast for another 1h3";
    check_borrowed(CACHED, (need, &["--set", "size=100g"]), "cache fills", reason);
    // What fits into the cache is never waited for.
    let sandbox = Sandbox::new();
    sandbox.write("disk.toml", CACHED);
    let args = ["bench", "--on", "disk.toml", "--virtual", "--no-progress", "--need", need];
    let outcome = sandbox.plimsoll(&[&args[..], &["--set", "size=1g"]].concat());
    assert!(outcome.success().contains(": met\n"), "{}", outcome.stdout);
}

#[test]
fn a_load_line_of_a_cache_that_fills_says_so() {
    let sandbox = Sandbox::new();
    sandbox.write("disk.toml", CACHED);
    let args = ["curve", "--on", "disk.toml", "--virtual", "--no-progress", "--json", "--rw"];
    let more = ["randwrite", "--bs", "4k", "--size", "100g", "--points", "2", "--time", "5s"];
    let outcome = sandbox.plimsoll(&[&args[..], &more].concat());
    let record = record(&outcome);
    let note = record.notes.iter().find(|note| note.code == "line-on-write-cache");
    let note = note.unwrap_or_else(|| panic!("{:?}", record.notes));
    assert!(note.message.starts_with("the load line does not last: writes are"), "{note:?}");
}

/// One I/O per second: how many of them are due in a time is chance.
#[test]
fn few_arrivals_are_not_said_to_be_most_of_the_rate() {
    let (code, record) = ask(&["iops=1"], &["--set", "time=600s"]);
    let condition = &suite(&record).needs[0].conditions[0];
    let (value, words) = (condition.value.expect("a rate"), condition.kept_words());
    assert_eq!((code, value < 0.95), (0, true), "{value}");
    assert_eq!(words, "kept: so few random arrivals are within three standard deviations");
    let (code, record) = ask(&["iops=0.5"], &["--set", "time=600s"]);
    let need = &suite(&record).needs[0];
    assert_eq!((code, need.verdict.words()), (0, "met"), "{need:?}");
}

/// How long it takes says nothing of a disk: only that all of it is there.
#[test]
fn a_suite_with_targets_answers_them() {
    let sandbox = sandbox();
    let args = ["bench", "volume", "--suite", "etcd", "--no-progress", "--json"];
    let outcome = sandbox.plimsoll(&[&args[..], &["--set", "time=200ms,ramp=0s,size=4m"]].concat());
    assert!(matches!(outcome.code, 0 | 3 | 4), "{}", outcome.stderr);
    let record = Record::from_json(&outcome.stdout).expect("a record");
    let found = suite(&record);
    let asked: Vec<&str> = found.needs.iter().map(|it| it.need.as_str()).collect();
    assert_eq!(asked, ["sync p99 < 10ms", "IOPS >= 50"]);
    assert!(
        found.rows.iter().filter(|row| !row.preparation).all(|row| row.sync_figures().is_some())
    );
}
