//! `plimsoll provision`: what it prints is what plimsoll and shells take.

mod common;
#[path = "common/loop_device.rs"]
mod loop_device;

use std::path::Path;

use common::{Outcome, Sandbox, outcome};
use loop_device::LoopDevice;

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

/// One disk of the user's own, with a file system.
const ONE_DISK: &str = "[[volume]]\nmount = \"/mnt/data\"\ndisk = { size = \"1GiB\" }\n";

/// Runs the script for a disk, with programs that replace those of the host. What would make the
/// file system only says so.
fn make_on(sandbox: &Sandbox, disk: &str, programs: &[(&str, &str)]) -> Outcome {
    let folder = sandbox.path("bin");
    let _of_the_last_call = std::fs::remove_dir_all(&folder);
    std::fs::create_dir(&folder).expect("a folder");
    let all = [&[("mkfs.xfs", "echo made")], programs].concat();
    for (name, lines) in all {
        let path = format!("bin/{name}");
        sandbox.write(&path, format!("#!/bin/sh\n{lines}\n"));
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(sandbox.path(&path), mode).expect("it is ours");
    }
    let path = format!("{}:/usr/sbin:/usr/bin:/sbin:/bin", folder.display());
    outcome(
        sandbox.command(Path::new("sh")).arg("make.sh").env("PATH", path).env("DATA_DISKS", disk),
    )
}

#[test]
fn only_a_disk_that_is_known_to_be_empty_is_written_to() {
    let sandbox = Sandbox::new();
    sandbox.write("own.toml", ONE_DISK);
    sandbox.plimsoll(&["provision", "own.toml", "--as", "mdadm", "-o", "make.sh"]).success();
    sandbox.write("disk", vec![0; 16 << 20]);
    let Some(disk) = LoopDevice::new(&sandbox.path("disk")) else { return };
    let is_made = |made: &Outcome| made.stdout.contains("made\n");
    let empty = make_on(&sandbox, disk.path(), &[]);
    assert!(is_made(&empty), "{}{}", empty.stdout, empty.stderr);
    for (programs, expected) in [
        (&[("blkid", "exit 4")][..], "blkid cannot tell what it holds (status 4)"),
        (&[("blkid", "exit 127")], "blkid cannot tell what it holds (status 127)"),
        (&[("blkid", "echo no such option >&2; exit 2")], "no such option"),
        (&[("dd", "exit 1")], "it cannot be read"),
        (&[("blockdev", "exit 1")], "its size cannot be read"),
    ] {
        let refused = make_on(&sandbox, disk.path(), programs);
        let said = format!("{}{}", refused.stdout, refused.stderr);
        assert!(refused.code != 0 && !is_made(&refused) && said.contains(expected), "{said}");
    }
    // The magic number of ext2, and with it that of romfs: each alone, and both.
    let (ext2, romfs) = ((1080, &b"\x53\xef"[..]), (0, &b"-rom1fs-"[..]));
    for (signatures, expected) in [
        (&[romfs][..], "is left alone: it holds something"),
        (&[ext2, romfs], "is left alone: it holds several formats"),
    ] {
        let mut bytes = vec![0; 1 << 20];
        for (at, magic) in signatures {
            bytes[*at..at + magic.len()].copy_from_slice(magic);
        }
        let file = std::fs::File::options().write(true).open(disk.path()).expect("it is ours");
        std::os::unix::fs::FileExt::write_all_at(&file, &bytes, 0).expect("it takes them");
        file.sync_all().expect("it takes them");
        let refused = make_on(&sandbox, disk.path(), &[]);
        let said = format!("{}{}", refused.stdout, refused.stderr);
        assert!(refused.code != 0 && !is_made(&refused) && said.contains(expected), "{said}");
        // How to look comes first.
        let place = |word| said.find(word).unwrap_or_else(|| panic!("no `{word}`: {said}"));
        assert!(place("lsblk -f") < place("wipefs --all"), "{said}");
    }
}

/// A region of a design is as likely misspelt as one of the command line: what to write is said.
#[test]
fn a_region_that_is_not_known_brings_what_to_write() {
    let sandbox = Sandbox::new();
    let refused = |region: &str, hint: &str| {
        let design = format!(
            "cloud = \"azure\"\nregion = \"{region}\"\n[vm]\nsize = \"D2s_v3\"\n[[volume]]\n\
             mount = \"/a\"\ndisk = \"P30\"\ncache = \"None\"\n"
        );
        sandbox.write("a.toml", design);
        let outcome = sandbox.plimsoll(&["provision", "a.toml", "--as", "terraform"]);
        let first = format!("error: no prices of region `{region}` of Microsoft Azure\n");
        assert!(outcome.mistake().starts_with(&first), "{}", outcome.stderr);
        assert!(outcome.stderr.contains(hint), "{}", outcome.stderr);
    };
    refused("westeurpe", "hint: did you mean `region = \"westeurope\"`");
    refused("zzz", "hint: there are prices with `region = \"australiacentral\"`, or one of ");
}
