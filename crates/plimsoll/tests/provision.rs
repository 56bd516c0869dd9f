//! `plimsoll provision`: what it prints is what plimsoll and shells take.

mod common;

use common::Sandbox;

/// Four disks behind a machine that carries them, and what they promise.
const BEST: &str = r#"
name = "four P30"
cloud = "azure"
region = "westeurope"

[vm]
size = "DS13"

[[volume]]
name = "data"
mount = "/mnt/data"
disk = "P30"
count = 4
cache = "None"

[[volume]]
name = "log"
mount = "/mnt/log"
disk = "P20"
cache = "None"

[[promise]]
volume = "/mnt/data"
phase = "peak"
iops = 16000
io_size_kib = 8
read_percent = 70
latency_ms = 5

[[promise]]
volume = "/mnt/log"
phase = "peak"
throughput_mb_s = 60
io_size_kib = 64
read_percent = 0
random_percent = 0
"#;

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("best.toml", BEST);
    sandbox
}

fn provisioned(sandbox: &Sandbox, form: &str) -> String {
    sandbox.plimsoll(&["provision", "best.toml", "--as", form]).success().to_owned()
}

#[test]
fn the_job_runs_as_it_is() {
    let sandbox = sandbox();
    sandbox.write("promised.fio", provisioned(&sandbox, "job"));
    sandbox.plimsoll(&["check", "promised.fio"]).success();
    let run =
        ["run", "promised.fio", "--on", "best.toml", "--virtual", "--set", "runtime=5", "--json"];
    let outcome = sandbox.plimsoll(&run);
    let record: serde_json::Value = serde_json::from_str(&outcome.stdout).expect("a record");
    let names: Vec<&str> = record["jobs"]
        .as_array()
        .expect("jobs")
        .iter()
        .filter_map(|job| job["name"].as_str())
        .collect();
    assert_eq!(names, ["peak /mnt/data 8k", "peak /mnt/log 64k"]);
}

#[test]
fn the_suite_is_measured_as_it_is() {
    let sandbox = sandbox();
    sandbox.write("best.suite.toml", provisioned(&sandbox, "suite"));
    sandbox.plimsoll(&["suite", "show", "best.suite.toml"]).success();
    let bench = [
        "bench",
        "data=/mnt/data",
        "log=/mnt/log",
        "--on",
        "best.toml",
        "--virtual",
        "--suite",
        "best.suite.toml",
        "--set",
        "time=5s",
        "--json",
    ];
    let outcome = sandbox.plimsoll(&bench);
    let record: serde_json::Value = serde_json::from_str(outcome.success()).expect("a record");
    let needs = record["suite"]["needs"].as_array().expect("what is asked").clone();
    let verdicts: Vec<&str> = needs.iter().filter_map(|need| need["verdict"].as_str()).collect();
    assert_eq!(verdicts, ["met", "met"], "{needs:?}");
}

#[test]
fn a_form_of_another_cloud_is_refused_with_those_that_fit() {
    let outcome = sandbox().plimsoll(&["provision", "best.toml", "--as", "gcloud"]);
    assert_eq!(outcome.code, 2);
    assert!(outcome.stderr.contains("`gcloud` is not for Microsoft Azure"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("bicep, terraform, azure-cli"), "{}", outcome.stderr);
}

#[test]
fn a_region_that_there_is_not_is_refused() {
    let sandbox = sandbox();
    sandbox.write("other.toml", BEST.replace("westeurope", "westeurop"));
    let outcome = sandbox.plimsoll(&["provision", "other.toml", "--as", "bicep"]);
    assert_eq!(outcome.code, 2);
    assert!(outcome.stderr.contains("westeurope"), "{}", outcome.stderr);
}

#[test]
fn a_text_is_written_to_a_file() {
    let sandbox = sandbox();
    sandbox.plimsoll(&["provision", "best.toml", "--as", "mdadm", "-o", "make.sh"]).success();
    let script = std::fs::read_to_string(sandbox.path("make.sh")).expect("a script");
    assert!(script.contains("--raid-devices=4 --chunk=64K"), "{script}");
}

/// Every command of docs/provision.md, but the last, which confirm's tests run.
#[test]
fn the_commands_of_the_page_work() {
    let page = include_str!("../../../docs/provision.md");
    let commands: Vec<&str> = page.lines().filter(|line| line.starts_with("plimsoll ")).collect();
    assert_eq!(commands.len(), 6);
    let sandbox = sandbox();
    for command in &commands {
        let command = command.split('#').next().unwrap_or("").trim();
        let (command, file) = command.split_once(" > ").unwrap_or((command, ""));
        let mut args: Vec<&str> = command.split_whitespace().skip(1).collect();
        if args[0] == "run" {
            args.extend(["--set", "runtime=2"]);
        }
        if args[0] == "confirm" {
            continue;
        }
        let outcome = sandbox.plimsoll(&args);
        assert_eq!(outcome.code, 0, "{command}: {}", outcome.stderr);
        if !file.is_empty() {
            sandbox.write(file, &outcome.stdout);
        }
    }
}

/// What does not fit is not built: by what the catalogue knows of disks and machines.
#[test]
fn disks_that_do_not_fit_the_machine_are_refused() {
    let sandbox = Sandbox::new();
    let refused = |machine: &str, disk: &str, words: &str| {
        let design = format!("[vm]\nsize = \"{machine}\"\n[[volume]]\nmount = \"/a\"\n{disk}\n");
        sandbox.write("wrong.toml", design);
        let outcome = sandbox.plimsoll(&["provision", "wrong.toml", "--as", "terraform"]);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""), "{}", outcome.stderr);
        assert_eq!(outcome.stderr.matches("error[").count(), 1, "{}", outcome.stderr);
        assert!(outcome.stderr.contains(words), "{words}: {}", outcome.stderr);
    };
    let none = "cache = \"None\"";
    let no_premium = "D2_v3 takes no premium disks such as";
    refused("D2_v3", &format!("disk = \"P30\"\n{none}"), no_premium);
    let v2 = "disk = \"PremiumV2\"\nsize = \"1TiB\"";
    refused("D2_v3", &format!("{v2}\n{none}"), no_premium);
    let read_only = "cache = \"ReadOnly\"";
    refused("D2s_v3", &format!("{v2}\n{read_only}"), "PremiumV2 cannot have the host cache");
    refused("D2s_v3", &format!("disk = \"P50\"\n{read_only}"), "P50 cannot have the host cache");
    let five = format!("disk = \"P30\"\ncount = 5\n{none}");
    refused("D2s_v3", &five, "5 disks are more than D2s_v3 takes: 4");
    refused("m5.large", &format!("disk = \"P30\"\n{none}"), "P30 is of Azure, and the machine");
}
