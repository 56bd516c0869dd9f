//! Composite workloads from the file to the result.

mod common;

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
