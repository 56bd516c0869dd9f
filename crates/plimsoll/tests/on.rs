//! `plimsoll run --on DESIGN`: job files on emulated volumes.

mod common;

use std::path::{Path, PathBuf};

use common::{Outcome, Sandbox};
use record::{JobRecord, Record};

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/designs").join(name)
}

/// Runs a job file on a design, both of the examples.
#[track_caller]
fn run(job: &str, design: &str, more: &[&str]) -> Outcome {
    let (job, design) = (example(job), example(design));
    let paths = [&job, &design].map(|path| path.to_str().expect("text"));
    let args = [&["run", paths[0], "--on", paths[1], "--virtual"], more].concat();
    Sandbox::new().plimsoll(&args)
}

#[track_caller]
fn record(outcome: &Outcome) -> Record {
    Record::from_json(outcome.success()).expect("a record")
}

fn iops(job: &JobRecord) -> f64 {
    job.dirs.iter().map(|(_, dir)| dir.rate_iops()).sum()
}

#[track_caller]
fn close(what: &str, found: f64, expected: f64) {
    assert!((found / expected - 1.0).abs() <= 0.02, "{what}: {found:.1}, expected {expected}");
}

fn binding(job: &JobRecord) -> &str {
    job.caps.as_ref().and_then(|caps| caps.binding.as_deref()).unwrap_or("nothing")
}

/// As the documents' machine, published for 8 KiB.
const SHORT: [&str; 5] = ["--json", "--set", "runtime=12", "--set", "ramp_time=2"];

#[test]
fn ten_striped_disks_write_at_the_sum_of_their_caps() {
    let record = record(&run("ds14-write.fio", "ds14.toml", &SHORT));
    close("writes", iops(&record.jobs[0]), 50_000.0);
    let mean_ms = record.jobs[0].dirs.write.lat.mean_ns().unwrap_or(0.0) / 1e6;
    close("mean latency", mean_ms, 20.48);
}

#[test]
fn a_warm_cache_reads_beyond_its_disk() {
    let more = [&SHORT[..], &["--cache", "warm"]].concat();
    let record = record(&run("ds14-read.fio", "ds14.toml", &more));
    close("reads", iops(&record.jobs[0]), 64_000.0);
    assert!(binding(&record.jobs[0]).starts_with("vm_cached_"), "{}", binding(&record.jobs[0]));
    let emulation = record.emulation.expect("it is said that nothing real was measured");
    assert_eq!(emulation.cache, "warm");
    assert_eq!(emulation.design, "DS14 with ten striped disks and a cached one");
    assert_eq!(emulation.design_hash.len(), 16);
}

#[test]
fn both_paths_of_the_machine_add_up() {
    let more = [&SHORT[..], &["--cache", "warm"]].concat();
    let record = record(&run("ds14-both.fio", "ds14.toml", &more));
    let (read, write) = (iops(&record.jobs[0]), iops(&record.jobs[1]));
    close("writes", write, 50_000.0);
    assert!(read + write >= 100_000.0, "{read} + {write}");
}

#[test]
fn both_paths_of_the_machine_add_up_in_bytes() {
    let more = [&SHORT[..], &["--cache", "warm"]].concat();
    let record = record(&run("ds14-throughput.fio", "ds14.toml", &more));
    for job in &record.jobs {
        // 512 MB/s as published are 500 MiB/s.
        close(&job.name, iops(job), 500.0 * 16.0);
    }
}

/// Checks the figure of one P30 for blocks of this size.
#[track_caller]
fn check_size(block: &str, expected: f64) {
    let sandbox = Sandbox::new();
    let design = example("p30.toml");
    sandbox.write(
        "job.fio",
        "[j]\ndirectory=/mnt/p30\nsize=20g\nrw=randread\nioengine=libaio\ndirect=1\niodepth=64\n\
         time_based=1\nramp_time=2\nruntime=12\n",
    );
    let block = format!("bs={block}");
    let design = design.to_str().expect("text");
    let args = ["run", "job.fio", "--on", design, "--virtual", "--json", "--set", &block];
    close(&block, iops(&record(&sandbox.plimsoll(&args)).jobs[0]), expected);
}

#[test]
fn one_p30_carries_what_is_published() {
    check_size("8k", 5000.0);
    check_size("32k", 5000.0);
    check_size("64k", 200e6 / 65536.0);
    check_size("1024k", 200e6 / 1_048_576.0);
}

#[test]
fn the_summary_names_the_caps_and_that_it_is_simulated() {
    let outcome = run("ds14-write.fio", "ds14.toml", &["--set", "runtime=3", "--no-progress"]);
    let text = outcome.success();
    for part in [
        "simulated on `DS14",
        "latency without load is assumed constant",
        "held by",
        "disk_iops /mnt/nocache",
        "next:",
        "% away",
    ] {
        assert!(text.contains(part), "`{part}` is missing in\n{text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

/// The quota is what a user can lift; the job waited for slots most of the time.
#[test]
fn a_share_that_is_the_slots_too_says_so() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "design.toml",
        "edition = \"2019\"\n[[volume]]\nmount = \"/a\"\nservice = \"Premium\"\n\
         quota = \"4TiB\"\n[[client]]\nname = \"only\"\nnconnect = 4\nslots = 16\n\
         round_trip = \"1ms\"\n",
    );
    let job = "[n]\nfilename=/a/f\nsize=1g\nrw=randread\nbs=256k\nioengine=libaio\ndirect=1\n\
               iodepth=200\ntime_based\nruntime=10\n";
    sandbox.write("job.fio", job);
    let outcome =
        sandbox.plimsoll(&["run", "job.fio", "--on", "design.toml", "--virtual", "--no-progress"]);
    let words = outcome.success().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("held by volume_quota /a ("), "{words}");
    assert!(words.contains(", with the slots it fills, "), "{words}");
}

#[test]
fn fios_json_comes_out_as_of_a_real_run() {
    let more = ["--set", "runtime=2", "--fio-json"];
    let outcome = run("ds14-write.fio", "ds14.toml", &more);
    let page: serde_json::Value = serde_json::from_str(outcome.success()).expect("JSON");
    let iops = page["jobs"][0]["write"]["iops"].as_f64().unwrap_or(0.0);
    assert!(iops > 45_000.0, "{iops}");
}

#[test]
fn the_same_seed_gives_the_same_record() {
    let run = || {
        let mut record =
            record(&run("ds14-write.fio", "ds14.toml", &["--json", "--set", "runtime=1"]));
        record.started_unix_ms = 0;
        record.jobs.iter_mut().for_each(|job| job.started_unix_ms = 0);
        record.host = record::HostRecord::default();
        record
    };
    let (first, second) = (run(), run());
    assert!(first == second, "{}\n{}", first.to_json(), second.to_json());
}

/// Runs two seconds at depth 4 on a P30, each second of which takes this many.
fn run_in_time(time_scale: &str) -> Outcome {
    let sandbox = Sandbox::new();
    sandbox.write(
        "job.fio",
        "[j]\ndirectory=/mnt/p30\nsize=1g\nrw=randread\nbs=8k\niodepth=4\nioengine=libaio\n\
         direct=1\ntime_based=1\nruntime=2\n",
    );
    let design = example("p30.toml");
    let design = design.to_str().expect("text");
    let args = ["run", "job.fio", "--on", design, "--time-scale", time_scale, "--json"];
    sandbox.plimsoll(&args)
}

#[test]
fn completions_that_come_late_are_not_to_be_trusted() {
    // No machine wakes up within a microsecond.
    let outcome = run_in_time("0.001");
    assert_eq!(outcome.code, 3, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("--time-scale 10"), "{}", outcome.stderr);
    let record = Record::from_json(&outcome.stdout).expect("a record");
    assert!(record.notes.iter().any(|note| note.code == "late-completions"), "{:?}", record.notes);
}

#[test]
fn time_may_pass_slower_than_the_clock_and_faster() {
    let outcome = run_in_time("0.5");
    let record = Record::from_json(&outcome.stdout).expect("a record");
    let is_late = record.notes.iter().any(|note| note.code == "late-completions");
    let is_disturbed = is_late || outcome.stderr.contains("client-bound");
    assert!(outcome.code == 0 || is_disturbed && outcome.code == 3, "{}", outcome.stderr);
    // Completions may come late on a busy machine, never early.
    let rate_iops = iops(&record.jobs[0]);
    assert!(rate_iops > 40.0 && rate_iops < 4400.0, "{rate_iops}");
    assert!(record.jobs[0].runtime_ns >= 2_000_000_000, "{}", record.jobs[0].runtime_ns);
    let emulation = record.emulation.expect("an emulation");
    assert_eq!((emulation.time.as_str(), emulation.time_scale), ("real", 0.5));
}

/// Checks what is said about a mistake.
#[track_caller]
fn check_mistake(job: &str, args: &[&str], expected: &[&str]) {
    let sandbox = Sandbox::new();
    sandbox.write("job.fio", job);
    sandbox.write("bad.toml", "[[volume]]\nmount = \"/mnt/a\"\ndisk = \"P31\"\n");
    let design = example("p30.toml");
    let design = design.to_str().expect("text");
    let args: Vec<&str> =
        args.iter().map(|arg| if *arg == "P30" { design } else { *arg }).collect();
    let outcome = sandbox.plimsoll(&[&["run", "job.fio"], &args[..]].concat());
    let text = outcome.mistake();
    for part in expected.iter().chain(&["exit code 2"]) {
        assert!(text.contains(part), "`{part}` is missing in\n{text}");
    }
}

#[test]
fn mistakes_are_reported_before_anything_runs() {
    let job = "[j]\nfilename=/data/f\nsize=1g\nrw=randread\n";
    let on_p30 = ["--on", "P30", "--virtual"];
    check_mistake(job, &on_p30, &["target-on-no-volume", "`/mnt/p30`", "--remap /data=/mnt/p30"]);
    check_mistake(job, &["--virtual"], &["--on <DESIGN>"]);
    check_mistake(job, &["--cache", "warm"], &["--on <DESIGN>"]);
    check_mistake(job, &["--on", "none.toml"], &["cannot read design `none.toml`"]);
    check_mistake(job, &["--on", "bad.toml", "--virtual"], &["P31", "P30"]);
    check_mistake(job, &["--on", "P30", "--time-scale", "0"], &["expected 0.001 to 1000"]);
    let verifies = "[j]\nfilename=/mnt/p30/f\nsize=1m\nrw=write\nverify=md5\n";
    check_mistake(verifies, &["--on", "P30"], &["emulated-no-data", "plimsoll rehearse mount"]);
}

#[test]
fn remap_brings_a_job_onto_a_volume() {
    let sandbox = Sandbox::new();
    sandbox.write("job.fio", "[j]\nfilename=/data/f\nsize=1g\nrw=randread\nbs=8k\nruntime=1\n");
    let design = example("p30.toml");
    let design = design.to_str().expect("text");
    let args =
        ["run", "job.fio", "--on", design, "--virtual", "--remap", "/data=/mnt/p30", "--json"];
    assert!(iops(&record(&sandbox.plimsoll(&args)).jobs[0]) > 100.0);
    assert!(!sandbox.path("f").exists());
}

#[test]
fn unknown_ceilings_of_a_network_volume_stand_in_the_record() {
    let sandbox = Sandbox::new();
    let design = "edition = '2019'\n[[volume]]\nmount = '/mnt/a'\nservice = 'Premium'\n\
                  quota = '70.3125TiB'\n";
    sandbox.write("anf.toml", design);
    let job = "[mix]\nfilename=/mnt/a/f\nsize=1g\nrw=randrw\nbs=8k\niodepth=512\n\
               ioengine=libaio\ndirect=1\ntime_based=1\nruntime=1\n";
    sandbox.write("mix.fio", job);
    let outcome = sandbox.plimsoll(&["run", "mix.fio", "--on", "anf.toml", "--virtual", "--json"]);
    let record = record(&outcome);
    let reported = record.notes.iter().filter(|note| note.code == "unknown-figure").count();
    assert_eq!(reported, 2, "{:?}", record.notes);
    assert!(iops(&record.jobs[0]) <= 300_000.0 * 1.02, "{}", iops(&record.jobs[0]));
}

#[test]
fn the_limit_beside_a_cap_is_the_one_that_held() {
    let sandbox = Sandbox::new();
    sandbox.write("p20.toml", "[[volume]]\nmount='/d'\ndisk='P20'\ncache='None'\n");
    let ultra = "edition='2024'\n[[volume]]\nmount='/d'\nservice='Ultra'\nquota='60TiB'\n\
                 mix='random-8k'\n";
    sandbox.write("ultra.toml", ultra);
    let job = |rw: &str| {
        format!(
            "[j]\nfilename=/d/f\nsize=1g\nrw={rw}\nbs=8k\niodepth=1024\nioengine=libaio\n\
             direct=1\ntime_based=1\nruntime=2\n"
        )
    };
    sandbox.write("read.fio", job("randread"));
    sandbox.write("mix.fio", job("randrw\nrwmixread=70"));
    let run = |job: &str, design: &str, json: &[&str]| {
        sandbox.plimsoll(&[&["run", job, "--on", design, "--virtual"], json].concat())
    };
    // Credits let the disk burst to 3,500; it sustains 2,300.
    let burst = run("read.fio", "p20.toml", &[]);
    let line = burst.stdout.replace('\u{a0}', " ");
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(line.contains("2300/s sustained, 3500/s in bursts"), "{}", burst.stdout);
    // Reads alone come to 293,000; the mix is what both leave to each other.
    let of = |job: &str| {
        let record = record(&run(job, "ultra.toml", &["--json"]));
        let cap = record.jobs[0].caps.as_ref().expect("caps").caps[0].clone();
        assert_eq!(cap.kind, "volume_iops");
        close(job, iops(&record.jobs[0]), cap.per_s as f64 * cap.used_share);
        cap.per_s as f64
    };
    close("reads", of("read.fio"), 293_000.0);
    close("mix", of("mix.fio"), 196_395.0);
}

/// A job of reads at random places, or as `rw` says, on `/d`.
fn job_on_d(options: &str) -> String {
    let options = options.replace(' ', "\n");
    format!(
        "[j]\nfilename=/d/f\nsize=10g\nioengine=libaio\ndirect=1\niodepth=64\ntime_based=1\n\
         {options}\n"
    )
}

/// 512 MiB come from a disk of 500/s into the cache of a machine, in about half a minute.
#[test]
fn caps_that_bind_one_after_the_other_are_shown() {
    let sandbox = Sandbox::new();
    let volume = "[[volume]]\nmount='/d'\ndisk='S10'\ncache='ReadWrite'\n";
    sandbox.write("d.toml", format!("[vm]\nsize='Standard_D4s_v3'\n{volume}"));
    let job = job_on_d("rw=randread bs=32k runtime=60").replace("size=10g", "size=512m");
    sandbox.write("j.fio", &job);
    let args = ["run", "j.fio", "--on", "d.toml", "--virtual", "--cache", "cold"];
    let said = sandbox.plimsoll(&args).stdout.replace('\u{a0}', " ");
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = "held by disk_iops /d (500/s) 50.2 % of the I/O time; at times: vm_cached_bytes \
                (62.5 MiB/s), 45.3 %; next: disk_bytes /d (60.0 MB/s), 85.1 % away";
    assert!(said.contains(line), "{said}");
}

#[test]
fn a_design_that_takes_over_is_in_the_record_and_what_cannot_is_reported_before() {
    let sandbox = Sandbox::new();
    let disk = |disk: &str| format!("[[volume]]\nmount='/d'\ndisk='{disk}'\ncache='None'\n");
    sandbox.write("p20.toml", disk("P20"));
    sandbox.write("p40.toml", disk("P40"));
    sandbox.write("two.toml", disk("P20") + "count=2\n");
    sandbox.write("j.fio", job_on_d("rw=randread bs=8k runtime=20"));
    let run = |then: &str, json: &[&str]| {
        let args = ["run", "j.fio", "--on", "p20.toml", "--virtual", "--then", then];
        sandbox.plimsoll(&[&args[..], json].concat())
    };
    let changed = run("10s=p40.toml", &["--json"]);
    let record = record(&changed);
    let emulation = record.emulation.as_ref().expect("emulated");
    assert_eq!(emulation.designs(), "p20.toml, from 10 s on p40.toml");
    assert_ne!(emulation.changes[0].design_hash, emulation.design_hash);
    let caps = record.jobs[0].caps.as_ref().expect("caps");
    assert_eq!(
        caps.caps.iter().find(|cap| cap.kind == "disk_iops").map(|cap| cap.per_s),
        Some(7500)
    );
    assert!(run("10s=p40.toml", &[]).success().contains("from 10 s on p40.toml"));
    let late = run("30s=p40.toml", &[]);
    let said = late.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("which was to take over after 30s, did not"), "{}", late.stdout);
    let refused = run("10s=two.toml", &[]);
    assert_eq!((refused.code, refused.stdout.as_str()), (2, ""));
    assert!(refused.stderr.contains("`two.toml` cannot take over"), "{}", refused.stderr);
}

#[test]
fn large_operations_draw_on_credits_by_their_units() {
    let sandbox = Sandbox::new();
    sandbox.write("gp2.toml", "[[volume]]\nmount='/d'\ndisk='gp2'\nsize='100GiB'\n");
    // Four units each: 512 of them a second, where 300 are sustained.
    sandbox.write("large.fio", job_on_d("rw=randread bs=1m runtime=30"));
    let outcome = sandbox.plimsoll(&["run", "large.fio", "--on", "gp2.toml", "--virtual"]);
    let said = outcome.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("128 IOPS, which count as 512, are above the baseline of 300"), "{said}");
}

#[test]
fn sequential_operations_count_together_on_disks_that_merge_them() {
    let sandbox = Sandbox::new();
    sandbox.write("gp3.toml", "[[volume]]\nmount='/d'\ndisk='gp3'\nsize='500GiB'\n");
    let of = |rw: &str| {
        sandbox.write("j.fio", job_on_d(&format!("rw={rw} bs=8k runtime=5")));
        let args = ["run", "j.fio", "--on", "gp3.toml", "--virtual", "--json"];
        iops(&record(&sandbox.plimsoll(&args)).jobs[0])
    };
    close("sequential", of("read"), 16_000.0);
    close("random", of("randread"), 3_000.0);
    let limits = sandbox.plimsoll(&["limits", "gp3.toml", "--size", "8k", "--sequential"]);
    assert!(limits.success().contains("16,000"), "{}", limits.stdout);
}

/// A need says which share of its reads a cache answers: the disk behind it has the rest to do.
#[test]
fn reads_that_a_need_counts_on_the_cache_for_hit_it() {
    let sandbox = Sandbox::new();
    let needs = |hit_percent: &str| {
        format!(
            "schema = \"plimsoll.needs/1\"\nname = \"shop\"\npeak_factor = 1\n[[volume]]\n\
             name = \"data\"\ncapacity_gib = 500\nhit_percent = {hit_percent}\n[[phase]]\n\
             name = \"peak\"\n[[phase.volume]]\nname = \"data\"\niops = 20000\nio_size_kib = 8\n\
             read_percent = 100\nrandom_percent = 100\n"
        )
    };
    let design = "edition='2018'\n[vm]\nsize='DS14'\n[[volume]]\nmount='/data'\ndisk='P30'\n\
                  cache='ReadOnly'\n";
    sandbox.write("design.toml", design);
    // Of the disk's 5,000 I/Os a tenth of 20,000 are asked, or half.
    for (hit_percent, asked_of_disk, is_carried) in [("90", 2000.0, true), ("50", 5000.0, false)] {
        sandbox.write("needs.toml", needs(hit_percent));
        let args = ["run", "needs.toml", "--on", "design.toml", "--virtual", "--json"];
        // A run that falls short says so by its exit code.
        let record = Record::from_json(&sandbox.plimsoll(&args).stdout).expect("a record");
        let caps = &record.jobs[0].caps.as_ref().expect("caps").caps;
        let disk = caps.iter().find(|cap| cap.kind == "disk_iops").expect("the disk's cap");
        let used = disk.per_s as f64 * disk.used_share;
        assert!((used / asked_of_disk - 1.0).abs() < 0.03, "{hit_percent}: {used}, {caps:?}");
        let rate = iops(&record.jobs[0]);
        assert_eq!(rate > 20_000.0 * 0.995, is_carried, "{hit_percent}: {rate}");
    }
}
