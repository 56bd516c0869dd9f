//! Test configurations of Iometer, as a user runs them.

mod common;

use common::Sandbox;
use record::Record;

/// A configuration of one worker on a drive: 75 % random reads of 8 KiB, then reads of 64 KiB in
/// sequence.
const CONFIG: &str = "Version 1.1.0 \n'TEST SETUP ====\n'Test Description\n\tnightly\n'Run Time\n\
    '\thours      minutes    seconds\n\t0          0          5\n'Ramp Up Time (s)\n\t1\n\
    'Test Type\n\tNORMAL\n'END test setup\n'ACCESS SPECIFICATIONS ====\n\
    'Access specification name,default assignment\n\t8K; 75% reads,NONE\n\
    'size,% of size,% reads,% random,delay,burst,align,reply\n\t8192,100,75,100,0,1,0,0\n\
    'Access specification name,default assignment\n\t64K; reads,NONE\n\
    'size,% of size,% reads,% random,delay,burst,align,reply\n\t65536,100,100,0,0,1,0,0\n\
    'END access specifications\n'MANAGER LIST ====\n'Manager ID, manager name\n\t1,HOST\n\
    'Manager network address\n\tlocalhost\n'Worker\n\tWorker 1\n'Worker type\n\tDISK\n\
    'Default target settings for worker\n\
    'Number of outstanding IOs,test connection rate,transactions per connection\n\
    \t32,DISABLED,1\n'Disk maximum size,starting sector\n\t2097152,0\n\
    'End default target settings for worker\n'Assigned access specs\n\t8K; 75% reads\n\
    \t64K; reads\n'End assigned access specs\n'Target assignments\n'Target\n\tC: \"data\"\n\
    'Target type\n\tDISK\n'End target\n'End target assignments\n'End worker\n'End manager\n\
    'END manager list\nVersion 1.1.0 \n";

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
        (&["iometer", "a.fio", "results.csv"], "`a.fio` is no test configuration of iometer"),
    ] {
        let outcome = sandbox.plimsoll(args);
        assert_eq!(outcome.code, 2, "{args:?}: {}{}", outcome.stdout, outcome.stderr);
        let words: Vec<&str> = outcome.stderr.split_whitespace().collect();
        assert!(words.join(" ").to_lowercase().contains(expected), "{args:?}: {}", outcome.stderr);
    }
    assert_eq!(std::fs::read(sandbox.path("notes.txt")).expect("it is there"), b"mine\n");
    assert!(!sandbox.path("x").exists() && !sandbox.path("results.csv").exists());
}
