//! Test configurations of Iometer, as a user runs them.

mod common;
#[path = "common/iometer.rs"]
mod iometer;

use std::path::Path;

use common::Sandbox;
use iometer::CONFIG;
use record::Record;

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("config.icf", CONFIG);
    sandbox
}

/// A P30 does 5,000 I/Os and 200 MB a second.
#[test]
fn a_configuration_runs_on_an_emulated_disk() {
    let sandbox = sandbox();
    let p30 = "[[volume]]\nmount = \"/mnt/p30\"\ndisk = \"P30\"\ncache = \"None\"\n";
    sandbox.write("p30.toml", p30);
    // As programs of Windows write it.
    let wide = format!("\u{feff}{}", CONFIG.replace('\n', "\r\n"));
    let wide: Vec<u8> = wide.encode_utf16().flat_map(u16::to_le_bytes).collect();
    sandbox.write("wide.icf", wide);
    for name in ["config.icf", "wide.icf"] {
        let args = ["run", name, "--remap", "C:=/mnt/p30", "--on", "p30.toml", "--virtual"];
        let outcome = sandbox.plimsoll(&[&args[..], &["--json", "--no-progress"]].concat());
        let record = Record::from_json(outcome.success()).expect("a record");
        let steps: Vec<&str> = record.steps.iter().map(|step| &*step.name).collect();
        assert_eq!(steps, ["8K; 75% reads", "64K; reads"]);
        let [mixed, reads] = &record.jobs[..] else { panic!("{:?}", record.jobs) };
        let per_s = |n: u64| n as f64 / 5.0;
        let iops = per_s(mixed.n_ios());
        assert!((iops / 5_000.0 - 1.0).abs() < 0.02, "{iops} IOPS");
        let read_share = mixed.dirs.read.n_ios as f64 / mixed.n_ios() as f64;
        assert!((read_share - 0.75).abs() < 0.01, "{read_share} of the I/Os are reads");
        let bytes_per_s = per_s(reads.dirs.read.io_bytes);
        assert!((bytes_per_s / 200e6 - 1.0).abs() < 0.02, "{bytes_per_s} B/s");
        assert_eq!(reads.dirs.write.n_ios, 0);
    }
}

/// On a folder the tool works in a file of its own name.
#[test]
fn a_configuration_runs_on_a_folder() {
    let sandbox = sandbox();
    std::fs::create_dir(sandbox.path("data")).expect("a folder");
    let args = ["run", "config.icf", "--remap", "C:=data", "--set", "runtime=200ms"];
    let more = ["--set", "ramp_time=0", "--set", "size=1m", "--json", "--no-progress"];
    let outcome = sandbox.plimsoll(&[&args[..], &more].concat());
    let record = Record::from_json(&outcome.stdout).expect("a record");
    assert_eq!(record.jobs.len(), 2, "{}", outcome.stderr);
    assert!(record.jobs.iter().all(|job| job.dirs.read.n_ios > 0 && job.error_errno == 0));
    let made = std::fs::metadata(sandbox.path("data/iobw.tst")).expect("it was made");
    assert_eq!(made.len(), 1 << 20);
}

#[test]
fn it_is_checked_and_translated() {
    let sandbox = sandbox();
    let checked = sandbox.plimsoll(&["check", "config.icf"]);
    assert!(checked.success().contains("2 steps"), "{}", checked.stdout);
    assert!(checked.stderr.contains("`--remap 'C:=/mnt/data'`"), "{}", checked.stderr);
    let refused = sandbox.plimsoll(&["run", "config.icf"]);
    assert_eq!(refused.code, 2, "{}", refused.stdout);
    assert!(refused.stderr.contains("target `C: \"data\"` is nothing"), "{}", refused.stderr);
    let remap = ["--remap", "C:=/mnt/c"];
    let to_fio = [&["translate", "config.icf", "--to", "fio"][..], &remap].concat();
    let fio = sandbox.plimsoll(&to_fio).success().to_owned();
    for line in ["rw=randrw", "rwmixread=75", "iodepth=32", "filename=/mnt/c/iobw.tst", "bs=64k"] {
        assert!(fio.lines().any(|it| it == line), "{line}: {fio}");
    }
    sandbox.write("config.fio", &fio);
    sandbox.plimsoll(&["check", "config.fio"]).success();
}

const FIO: &str = "\
[global]
filename=/mnt/p30/data
size=1g
direct=1
ioengine=libaio
norandommap
runtime=5
ramp_time=1
time_based
[oltp]
rw=randrw
rwmixread=75
bs=8k
iodepth=32
[scan]
stonewall
rw=read
bs=64k
iodepth=32
rate_iops=100
";

/// A job file becomes a configuration, which says in its first lines what it leaves out, and runs.
#[test]
fn a_job_file_becomes_a_configuration_that_runs() {
    let sandbox = sandbox();
    sandbox.write("jobs.fio", FIO);
    let done = sandbox.plimsoll(&["translate", "jobs.fio", "--to", "iometer", "-o", "jobs.icf"]);
    assert_eq!((done.code, &*done.stdout), (0, ""), "{}", done.stderr);
    let text = std::fs::read_to_string(sandbox.path("jobs.icf")).expect("a file");
    let lost: Vec<&str> =
        done.stderr.lines().filter_map(|line| line.strip_prefix("lost: ")).collect();
    let [file, rate] = &lost[..] else { panic!("{}", done.stderr) };
    assert!(file.contains("`/mnt/p30/iobw.tst`, in place of `/mnt/p30/data`"), "{file}");
    assert!(rate.contains("`rate_iops=100`"), "{rate}");
    let (head, _) = text.split_once("\n'TEST SETUP ").expect("a section");
    let remarks = head.strip_prefix("Version 1.1.0 \n' lost: ").expect("the version");
    // Lines of the tool are short.
    let remarks = remarks.replace("\n'   ", " ");
    assert_eq!(remarks.split("\n' lost: ").collect::<Vec<_>>(), lost);
    let p30 = "[[volume]]\nmount = \"/mnt/p30\"\ndisk = \"P30\"\ncache = \"None\"\n";
    sandbox.write("p30.toml", p30);
    let args = ["run", "jobs.icf", "--on", "p30.toml", "--virtual", "--json", "--no-progress"];
    let outcome = sandbox.plimsoll(&args);
    let record = Record::from_json(outcome.success()).expect("a record");
    let steps: Vec<&str> = record.steps.iter().map(|step| &*step.name).collect();
    assert_eq!(steps, ["oltp", "scan"]);
    let [oltp, scan] = &record.jobs[..] else { panic!("{:?}", record.jobs) };
    let read_share = oltp.dirs.read.n_ios as f64 / oltp.n_ios() as f64;
    assert!((read_share - 0.75).abs() < 0.01, "{read_share} of the I/Os are reads");
    assert!((oltp.n_ios() as f64 / 25_000.0 - 1.0).abs() < 0.02, "{} I/Os in 5 s", oltp.n_ios());
    assert!((scan.dirs.read.io_bytes as f64 / 1e9 - 1.0).abs() < 0.02, "not 200 MB a second");
}

/// What is in no configuration is refused, with the reason, and nothing is written.
#[test]
fn what_is_no_configuration_is_refused() {
    let sandbox = sandbox();
    sandbox.write("a.fio", "[j]\nfilename=/dev/sdb\nrw=trim\n");
    let done = sandbox.plimsoll(&["translate", "a.fio", "--to", "iometer", "-o", "a.icf"]);
    assert_eq!(done.code, 2, "{}", done.stdout);
    assert!(done.stderr.contains("`j` is left out: Iometer has no trims"), "{}", done.stderr);
    assert!(!sandbox.path("a.icf").exists());
    // Languages have one name each.
    let done = sandbox.plimsoll(&["translate", "a.fio", "--to", "icf"]);
    assert_eq!(done.code, 2, "{}", done.stdout);
    assert!(done.stderr.contains("iometer"), "{}", done.stderr);
}

/// As scripts call the tool, twice; and results read by the number of a column.
#[test]
fn its_command_line_appends_to_its_results() {
    let sandbox = sandbox();
    sandbox
        .write("p30.toml", "[[volume]]\nmount = \"/mnt/p30\"\ndisk = \"P30\"\ncache = \"None\"\n");
    let options = ["--remap", "C:=/mnt/p30", "--on", "p30.toml", "--virtual", "--no-progress"];
    let first = ["iometer", "/c", "config.icf", "/r", "results.csv", "/t", "15"];
    sandbox.plimsoll(&[&first[..], &options].concat()).success();
    let second = ["iometer", "config.icf", "results.csv"];
    sandbox.plimsoll(&[&second[..], &options].concat()).success();
    let text = std::fs::read_to_string(sandbox.path("results.csv")).expect("results");
    assert_eq!(text.matches("'Test Type,Test Description\n0,nightly\n").count(), 2);
    assert_eq!(text.matches("'End Test\n").count(), 2);
    let all: Vec<Vec<&str>> = text
        .lines()
        .filter(|line| line.starts_with("ALL,"))
        .map(|line| line.split(',').collect())
        .collect();
    assert_eq!(all.len(), 4);
    let number = |cell: &str| cell.parse::<f64>().expect("a number");
    assert_eq!((all[0][2], all[1][2]), ("8K; 75% reads", "64K; reads"));
    assert!((number(all[0][6]) / 5_000.0 - 1.0).abs() < 0.02, "{}", all[0][6]);
    // 200 MB a second; 32 in flight at 3,052 a second take 10.5 ms.
    assert!((number(all[1][13]) / 200.0 - 1.0).abs() < 0.02, "{}", all[1][13]);
    assert!((number(all[1][18]) / 10.49 - 1.0).abs() < 0.03, "{}", all[1][18]);
    assert_eq!(all[0][47], "32");
    let old = ["run", "config.icf", "--iometer-results", "old.csv", "--iometer-version"];
    sandbox.plimsoll(&[&old[..], &["2008.06.18"], &options].concat()).success();
    let old = std::fs::read_to_string(sandbox.path("old.csv")).expect("results");
    assert!(old.contains("Write IOps,MBps,Read MBps,Write MBps,Transactions per Second"), "{old}");
}

#[test]
fn mistakes_of_its_command_line_are_reported_and_nothing_is_run() {
    let sandbox = sandbox();
    sandbox.write("notes.txt", "mine\n");
    sandbox.write("a.fio", "[a]\nrw=read\nsize=1m\nioengine=null\n");
    std::fs::create_dir(sandbox.path("data")).expect("a folder");
    for (args, expected) in [
        (&["iometer", "/c", "config.icf"][..], "a file for the results are needed"),
        (&["iometer", "/c", "config.icf", "/r"], "`/r` has no value"),
        (&["iometer", "a", "b", "c"], "`c` is one argument too many"),
        (&["iometer", "config.icf", "notes.txt", "--remap", "C:=x"], "holds something else than"),
        (
            &["iometer", "config.icf", "config.icf", "--remap", "C:=x"],
            "the result would replace it",
        ),
        (&["iometer", "config.icf", "no/where.csv", "--remap", "C:=x"], "no such file"),
        (
            &["iometer", "config.icf", "data/iobw.tst", "--remap", "C:=data"],
            "`data/iobw.tst` is a target of a job",
        ),
        // What the run is then refused for.
        (&["iometer", "config.icf", "results.csv", "--remap", "C:=data", "--readonly"], "writes"),
        (&["iometer", "a.fio", "results.csv"], "`a.fio` is no test configuration of iometer"),
    ] {
        let outcome = sandbox.plimsoll(args);
        assert_eq!(outcome.code, 2, "{args:?}: {}{}", outcome.stdout, outcome.stderr);
        let words: Vec<&str> = outcome.stderr.split_whitespace().collect();
        assert!(words.join(" ").to_lowercase().contains(expected), "{args:?}: {}", outcome.stderr);
    }
    assert_eq!(std::fs::read(sandbox.path("notes.txt")).expect("it is there"), b"mine\n");
    for name in ["x", "results.csv", "data/iobw.tst"] {
        assert!(!sandbox.path(name).exists(), "`{name}` was made");
    }
}

/// Rows that do not fit are not added in part: those of earlier runs stay as they are, and the new
/// ones follow on standard output.
#[test]
fn results_on_a_full_disk_are_whole_or_not_there() {
    let sandbox = sandbox();
    sandbox
        .write("p30.toml", "[[volume]]\nmount = \"/mnt/p30\"\ndisk = \"P30\"\ncache = \"None\"\n");
    std::fs::create_dir(sandbox.path("disk")).expect("a folder");
    let script = r#"set -e
        mount -t tmpfs -o size=64k none disk || exit 77
        run() {
            "$0" iometer config.icf "$1" --remap C:=/mnt/p30 --on p30.toml --virtual --no-progress
        }
        run disk/results.csv > /dev/null
        cp disk/results.csv before.csv
        head -c 1m /dev/zero > disk/rest 2> /dev/null || true
        for name in results.csv new.csv; do
            status=0
            run disk/$name > said || status=$?
            [ $status = 1 ] || { echo "$name: status $status"; exit 1; }
            grep -q "'Test Type,Test Description" said
        done
        cmp disk/results.csv before.csv
        [ ! -e disk/new.csv ]"#;
    let mut unshare = sandbox.command(Path::new("unshare"));
    unshare.args(["--mount", "--map-root-user", "--propagation", "private", "sh", "-c"]);
    match unshare.args([script, env!("CARGO_BIN_EXE_plimsoll")]).output() {
        Ok(run) if run.stderr.starts_with(b"unshare") || run.status.code() == Some(77) => {
            testing::skipped!("{}", String::from_utf8_lossy(&run.stderr));
        }
        Err(error) => testing::skipped!("no unshare here: {error}"),
        Ok(run) => assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr)),
    }
}
