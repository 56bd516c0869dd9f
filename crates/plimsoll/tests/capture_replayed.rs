//! A job of fio on a device that is held to its rates, captured, and replayed on the design that is
//! found for it.

mod common;
#[path = "common/logs.rs"]
mod logs;
#[path = "common/loop_device.rs"]
mod loop_device;
#[path = "common/rehearsal.rs"]
#[allow(dead_code, reason = "a part is used here")]
mod rehearsal;
#[path = "common/watch.rs"]
mod watch;

use std::fs;
use std::path::Path;

use common::{Sandbox, outcome};
use logs::{Load, Logs, has_loggers, result};
use loop_device::LoopDevice;
use rehearsal::Rehearsal;

/// A volume that carries 800 I/Os a second, between a P10 (500) and a P15 (1,100), without more in
/// its first second.
const TODAY: &str = "bucket_window_ms = 10\n[[volume]]\nmount = \"/data\"\ncache = \"None\"\n\
                     disk = { size = \"1GiB\", iops = 800, throughput = \"100MB/s\" }\n";

/// Of places that may come again, so that large I/Os find room to the end.
const JOB: &str = "[app]\nrw=randrw\nrwmixread=75\nbssplit=8k/50:12k/50\ndirect=1\n\
                   norandommap=1\nioengine=libaio\niodepth=8\nsize=60m\ntime_based=1\nruntime=8\n";

/// Runs in one of which the host must not pause: fio counts a pause in its mean, a median does not.
const N_TRIES: usize = 3;

/// Tiers of one family.
const DISKS: &str = "P4,P6,P10,P15,P20,P30";

/// Returns the figures of a phase and volume in a file of needs, as JSON.
fn median(sandbox: &Sandbox, needs: &str, requirement: &str) -> f64 {
    let json = sandbox.plimsoll(&["needs", needs, "--json"]);
    let json: serde_json::Value = serde_json::from_str(json.success()).expect("JSON");
    let rows = json["checklists"][0]["rows"].as_array().expect("rows");
    let row = rows.iter().find(|row| row["requirement"] == requirement).expect("a row");
    row["p50"].as_f64().expect("a median")
}

/// Captured live and by iostat at once: rates, size and mix are fio's own, within 2 %. Replayed in
/// virtual time, the chosen design carries what was captured, and the next cheaper disk does not.
#[test]
fn a_captured_job_is_carried_by_the_chosen_design_and_by_none_below() {
    let needed = ["fio", "losetup"];
    if !needed.into_iter().all(testing::has_program) || !has_loggers() {
        return;
    }
    let Some(rehearsal) = Rehearsal::mount(TODAY) else { return };
    let sandbox = &rehearsal.0;
    sandbox.write("mnt/image", vec![0; 64 << 20]);
    let Some(device) = LoopDevice::direct(&sandbox.path("mnt/image")) else { return };
    sandbox.write("job.fio", JOB);
    let mut differences = Vec::new();
    while differences.last().is_none_or(|share| *share > 0.02) {
        assert!(differences.len() < N_TRIES, "rates differ from fio's: {differences:?}");
        differences.push(difference(sandbox, &device));
    }
    replay(sandbox);
}

/// Runs and captures the job. Its I/Os, bytes, size and mix are checked; returns by how much the
/// medians of rates differ from fio's means, as a share.
fn difference(sandbox: &Sandbox, device: &LoopDevice) -> f64 {
    let name = device.name();
    let logs = Logs::begin(sandbox, &[name]);
    let mut fio = sandbox.command(Path::new("fio"));
    let fio = fio.arg("--filename").arg(device.path()).args(["--output-format=json", "job.fio"]);
    let fio = outcome(fio);
    assert_eq!(fio.code, 0, "{}", fio.stderr);
    logs.end();
    let counted = Load::of_result(&fio);
    Load::captured(sandbox, "live.series.csv", name).assert_is("live", &counted);
    Load::from_log(sandbox, "iostat.json", name).assert_is("iostat", &counted);
    // Without the samples, so that no design counts on credits which last longer than the job.
    let peak = ["--device", name, "--phase", "peak=00:00-24:00"];
    let needs = sandbox.plimsoll(&[&["capture", "--from", "iostat.json"], &peak[..]].concat());
    sandbox.write("iostat.toml", needs.success());
    let job = &result(&fio)["jobs"][0];
    let rate = |key: &str| -> f64 {
        ["read", "write"].iter().filter_map(|direction| job[direction][key].as_f64()).sum()
    };
    let mut differs: f64 = 0.0;
    for needs in ["live.toml", "iostat.toml"] {
        let iops = median(sandbox, needs, "max. transactions per second") / rate("iops");
        let bytes = median(sandbox, needs, "mean throughput") * 1e6 / rate("bw_bytes");
        differs = differs.max((iops - 1.0).abs()).max((bytes - 1.0).abs());
    }
    differs
}

/// Finds a design for `iostat.toml`, and runs the needs on it and on the one below.
fn replay(sandbox: &Sandbox) {
    let design = ["design", "iostat.toml", "--region", "westeurope", "--disk", DISKS];
    let found = [&design[..], &["--explain", "1", "--json", "-o", "best.toml"]].concat();
    let found = sandbox.plimsoll(&found);
    let found: serde_json::Value = serde_json::from_str(found.success()).expect("JSON");
    let rejected = found["explained"]["cheaper_rejected"].as_array().expect("a list");
    let changes = rejected.iter().filter_map(|it| it["change"].as_str());
    let disk = changes.filter_map(|it| it.split_once(" at ")).map(|(disk, _)| disk).next();
    let disk = disk.unwrap_or_else(|| panic!("no cheaper disk in {rejected:?}"));
    let best = fs::read_to_string(sandbox.path("best.toml")).expect("it was written");
    let chosen = found["clouds"][0]["designs"][0]["volumes"][0]["disk"].as_str().expect("a disk");
    let (was, is) = (format!("disk = \"{chosen}\""), format!("disk = \"{disk}\""));
    assert!(best.contains(&was), "{best}");
    // Credits begin full and last longer than this run, so that none are counted.
    let with = |disk: &str| best.replace(&was, &format!("{disk}\nburst = \"none\""));
    sandbox.write("best.toml", with(&was));
    sandbox.write("cheaper.toml", with(&is));
    for (on, code) in [("best.toml", 0), ("cheaper.toml", 4)] {
        sandbox.plimsoll_keeping(&["run", "iostat.toml", "--on", on, "--virtual", "--no-progress"]);
        let said = sandbox.plimsoll_keeping(&["confirm", "best.toml", "--run", "last"]);
        assert_eq!(said.code, code, "{on}: {}{}", said.stdout, said.stderr);
    }
}
