//! `plimsoll capture`: logs of real programs and the host itself, while a load of our own runs.

mod common;
#[path = "common/logs.rs"]
mod logs;
#[path = "common/loop_device.rs"]
mod loop_device;
#[path = "common/watch.rs"]
mod watch;

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use common::{Outcome, Sandbox};
use insta::assert_snapshot;
use logs::{Load, Logs, assert_within, has_loggers};
use loop_device::LoopDevice;

/// A log of two minutes of a busy disk; the first report is since the host started.
const LOG: &str = "\
Linux 6.1.0 (db01) \t2026-11-21 \t_x86_64_\t(2 CPU)

2026-11-21T08:59:00+0000
avg-cpu:  %user   %nice %system %iowait  %steal   %idle
          40.00    0.00   10.00    0.00    0.00   50.00

Device r/s rkB/s r_await w/s wkB/s w_await aqu-sz %util
sda 9999.00 9999.00 9.00 9999.00 9999.00 9.00 9.00 99.00

2026-11-21T09:00:00+0000
avg-cpu:  %user   %nice %system %iowait  %steal   %idle
          20.00    0.00    5.00    5.00    0.00   70.00

Device r/s rkB/s r_await w/s wkB/s w_await aqu-sz %util
sda 300.00 2400.00 1.00 100.00 800.00 2.00 0.50 30.00

2026-11-21T09:01:00+0000
avg-cpu:  %user   %nice %system %iowait  %steal   %idle
          60.00    0.00   15.00    5.00    0.00   20.00

Device r/s rkB/s r_await w/s wkB/s w_await aqu-sz %util
sda 3000.00 24000.00 1.00 1000.00 8000.00 2.00 5.00 99.00

";

#[test]
fn a_log_becomes_a_file_of_needs() {
    let sandbox = Sandbox::new();
    sandbox.write("iostat.log", LOG);
    let phase = "--phase=peak=09:00-17:00";
    let outcome = sandbox.plimsoll(&["capture", "--from", "iostat.log", phase, "-o", "needs.toml"]);
    assert_snapshot!(outcome.success());
    assert_eq!(
        outcome.stderr,
        "note: iostat.log: the first report is left out: it is the average since the host started; \
         if the tool ran with `-y`, which leaves that one out, add `--keep-first`\n\
         note: iostat.log: the figures include the I/O of other processes: it does not tell them \
         apart\n"
    );
    let read = |name: &str| std::fs::read_to_string(sandbox.path(name)).expect("it was written");
    assert_snapshot!(read("needs.toml"));
    // A minute of 300 reads and 100 writes a second of 8 KiB.
    assert_eq!(
        read("needs.series.csv"),
        "volume,end,span_s,ios,reads,writes,read_bytes,write_bytes,in_flight\n\
         sda,2026-11-21 09:00:00,60,24000,18000,6000,147456000,49152000,0.5\n\
         sda,2026-11-21 09:01:00,60,240000,180000,60000,1474560000,491520000,5\n"
    );
}

/// Samples are many, needs are few: a disk without room for the former does not cost the latter.
#[test]
fn samples_that_cannot_be_written_do_not_cost_the_needs() {
    let sandbox = Sandbox::new();
    sandbox.write("iostat.log", LOG);
    std::os::unix::fs::symlink("/dev/full", sandbox.path("needs.series.csv")).expect("a link");
    let outcome = sandbox.plimsoll(&["capture", "--from", "iostat.log", "-o", "needs.toml"]);
    assert_eq!(outcome.code, 1, "{}{}", outcome.stdout, outcome.stderr);
    assert!(outcome.stderr.contains("`needs.series.csv`"), "{}", outcome.stderr);
    let needs = std::fs::read_to_string(sandbox.path("needs.toml")).expect("it was written");
    assert!(needs.contains("sda") && !needs.contains("series.csv"), "{needs}");
}

#[test]
fn needs_go_to_standard_output_as_toml_or_json() {
    let sandbox = Sandbox::new();
    sandbox.write("iostat.log", LOG);
    let toml = sandbox.plimsoll(&["capture", "--from", "iostat.log"]);
    assert!(toml.success().contains("schema = \"plimsoll.needs/1\""), "{}", toml.stdout);
    let json = sandbox.plimsoll(&["capture", "--from", "iostat.log", "--json"]);
    assert!(json.success().contains("\"schema\": \"plimsoll.needs/1\""), "{}", json.stdout);
}

/// Writes folders as those of control groups that do not count I/O.
fn write_groups(sandbox: &Sandbox) {
    for (file, text) in [
        ("v1/tasks", ""),
        ("v2/cgroup.controllers", "cpu io memory\n"),
        ("v2/db/cgroup.controllers", "cpu\n"),
        ("v2/db/part/cgroup.controllers", "\n"),
    ] {
        let path = sandbox.path(file);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }
}

/// Writes a log that was turned upside down: all of it, and its tables of devices.
fn write_turned(sandbox: &Sandbox) {
    let turned: Vec<&str> = LOG.lines().rev().collect();
    sandbox.write("turned.log", turned.join("\n"));
    let devices_only = |line: &&&str| line.starts_with(['D', 's', '2']);
    let turned: Vec<&str> = turned.iter().filter(devices_only).copied().collect();
    sandbox.write("turned-d.log", turned.join("\n"));
}

#[test]
fn mistakes_say_what_to_do() {
    let sandbox = Sandbox::new();
    sandbox.write("iostat.log", LOG);
    sandbox.write("empty", "");
    sandbox.write("other", "hello\n");
    let counters =
        r#""(PDH-CSV 4.0)","\\H\Processor(_Total)\% Processor Time","\\H\Laufwerk(D:)\Lesen/s""#;
    let rows = "\"11/21/2018 09:00:00\",\"5\",\"9\"\n\"11/21/2018 09:00:15\",\"5\",\"9\"\n";
    sandbox.write("counters.csv", format!("{counters}\n{rows}"));
    write_groups(&sandbox);
    write_turned(&sandbox);
    sandbox.write("first.log", LOG.split_inclusive("99.00\n").next().expect("a report"));
    for (args, parts) in [
        (&["--from", "empty"][..], &["`empty`: it is empty"][..]),
        (&["--from", "other"], &["`other`: its content is of no known form: iostat, "]),
        (&["--from", "absent"], &["`absent`: No such file"]),
        (
            &["--from", "counters.csv"],
            &[
                "note: counters.csv:1: no column is the I/O of a disk under a name that is known",
                r"the first of the others is `\\H\Laufwerk(D:)\Lesen/s`",
                "no I/O was captured",
            ],
        ),
        (&["--from", "turned.log"], &["its lines are in reverse order", "as with `tac`"]),
        (&["--from", "turned-d.log"], &["its lines are in reverse order"]),
        (&["--from", "first.log"], &["the average since the host started", "add `--keep-first`"]),
        (
            &["--from", "iostat.log", "--device", "sdb"],
            &["no device is called `sdb`", "devices found: sda"],
        ),
        (
            &["--from", "iostat.log", "-o", "iostat.log"],
            &["`iostat.log` is an input: the needs would replace it", "another file"],
        ),
        (&["--from", "iostat.log", "--phase", "busy=9-17"], &["write normal, peak or off-peak"]),
        // Known before anything is read.
        (
            &["--for", "10h", "--phase", "peak=9-17", "--phase", "normal=16-18"],
            &[
                "16:00 is in phase peak and in normal",
                "give each minute of the day to one `--phase`",
            ],
        ),
        (
            &["--for", "1s", "--cgroup", "no-such-group"],
            &["`no-such-group` is not a control group that counts I/O", "/sys/fs/cgroup"],
        ),
        (&["--for", "1s", "--cgroup", "v1"], &["version 1", "below /sys/fs/cgroup/blkio"]),
        (&["--for", "1s", "--cgroup", "v2/db"], &["`echo +io > v2/cgroup.subtree_control`"]),
        (&["--for", "1s", "--cgroup", "v2/db/part"], &["no `io` is in v2/db/cgroup.controllers"]),
        (&["--for", "1s", "--device", "no-such-disk"], &["no device is called `no-such-disk`"]),
        (&[], &["--from"]),
    ] {
        let mistake = sandbox.plimsoll(&[&["capture"], args].concat()).mistake();
        assert!(mistake.ends_with("exit code 2\n"), "{mistake}");
        for part in parts {
            assert!(mistake.contains(part), "{part}: {mistake}");
        }
    }
    let left = std::fs::read_to_string(sandbox.path("iostat.log")).expect("it is there");
    assert_eq!(left, LOG);
}

/// Checks what is said of a phase in which there is nothing, and that no file is written.
#[track_caller]
fn check_phase(args: &[&str], parts: &[&str]) {
    let sandbox = Sandbox::new();
    sandbox.write("iostat.log", LOG);
    sandbox.write("vmstat.log", vmstat(3));
    let all = [&["capture", "-o", "needs.toml"], args].concat();
    let mistake = sandbox.plimsoll(&all).mistake();
    assert!(mistake.ends_with("exit code 2\n"), "{mistake}");
    for part in parts {
        assert!(mistake.contains(part), "{part}: {mistake}");
    }
    for name in ["needs.toml", "needs.series.csv"] {
        assert!(!sandbox.path(name).exists(), "{name} is written");
    }
}

#[test]
fn a_phase_in_which_nothing_was_captured_is_a_mistake() {
    // The first report is left out: a minute before 09:00 and one behind it.
    let covered = "nothing was captured in it: the samples are from 2026-11-21 08:59:00 to \
                   2026-11-21 09:01:00";
    let hint = "give the phase hours in which there are samples";
    let one = ["--from", "iostat.log", "--phase", "peak=10-17"];
    check_phase(&one, &[&format!("phase peak (10:00-17:00): {covered}"), hint]);
    let two = ["--from", "iostat.log", "--phase", "peak=9-17", "--phase", "normal=17-20,6-8"];
    check_phase(&two, &[&format!("phase normal (17:00-20:00,06:00-08:00): {covered}")]);
    let without_times = ["--from", "vmstat.log", "--every", "10s", "--phase", "peak=10-17"];
    check_phase(&without_times, &["nothing was captured in it: the source has no times of day"]);
    // Before a watch of a second: of two hours, one at least is another one.
    let watch = ["--for", "1s", "--phase", "peak=0-1", "--phase", "normal=12-13"];
    check_phase(&watch, &["): a watch of 1s that begins at ", "does not reach it", "`--for`"]);
}

/// Returns a log of vmstat without times, of so many lines.
fn vmstat(n_lines: usize) -> String {
    let line = " 1 0 0 9 9 9 0 0 2000 1000 10 20 20 10 60 8 2\n";
    let head = "procs --\n r b swpd free buff cache si so bi bo in cs us sy id wa st\n";
    format!("{head}{}", line.repeat(n_lines))
}

/// A minute of vmstat, two lines a second, without `-t`: how long it was must be said.
#[test]
fn a_log_without_times_is_as_long_as_a_person_says() {
    let sandbox = Sandbox::new();
    sandbox.write("vmstat.log", vmstat(121));
    let mistake = sandbox.plimsoll(&["capture", "--from", "vmstat.log"]).mistake();
    let part = "`vmstat.log`: its reports have no times, and nothing in it says how far apart";
    assert!(mistake.contains(part) && mistake.contains("add `--every 10s`"), "{mistake}");
    let every = ["capture", "--from", "vmstat.log", "--every", "500ms", "-o", "needs.toml"];
    let outcome = sandbox.plimsoll(&every);
    assert!(outcome.success().starts_with("normal (1m captured)"), "{}", outcome.stdout);
    let series = std::fs::read_to_string(sandbox.path("needs.series.csv")).expect("it is written");
    // Half a second of 2,000 and 1,000 KiB/s.
    assert_eq!(series.lines().nth(1), Some("whole host,1.000,0.5,,,,1024000,512000,"));
    let needs = std::fs::read_to_string(sandbox.path("needs.toml")).expect("it is written");
    assert!(needs.contains("clock = \"relative\""), "{needs}");
}

#[test]
fn a_log_that_is_partly_broken_says_so_in_its_exit_code() {
    let sandbox = Sandbox::new();
    sandbox.write("iostat.log", LOG.replace("sda 300.00", "sda 3OO.00"));
    let outcome = sandbox.plimsoll(&["capture", "--from", "iostat.log", "-o", "needs.toml"]);
    assert_eq!(outcome.code, 3, "{}", outcome.stderr);
    let place = "iostat.log:15: not read: `3OO.00` is not a number";
    assert!(outcome.stderr.contains(place), "{}", outcome.stderr);
}

/// Runs a job of 400 IOPS of mixed sizes for five seconds beside all loggers. Returns the job's own
/// result.
fn logged(sandbox: &Sandbox, device: &LoopDevice, run: impl Fn() -> Outcome) -> Load {
    let job = format!(
        "[oltp]\nfilename={}\nrw=randrw\nrwmixread=75\nbssplit=8k/80:32k/20\ndirect=1\n\
         ioengine=libaio\niodepth=8\nrate_iops=300,100\nruntime=5\ntime_based\n",
        device.path()
    );
    sandbox.write("load.fio", job);
    let logs = Logs::begin(sandbox, &[device.name()]);
    let outcome = run();
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    logs.end();
    Load::of_result(&outcome)
}

/// Returns a sandbox with a loop device; says that the test was skipped if something is missing.
fn loop_device() -> Option<(Sandbox, LoopDevice)> {
    if !has_loggers() || !testing::has_program("losetup") {
        return None;
    }
    let sandbox = Sandbox::new();
    sandbox.write("image", vec![0; 64 << 20]);
    let device = LoopDevice::new(&sandbox.path("image"))?;
    Some((sandbox, device))
}

/// A file system on a device of its own, while it lives.
struct Mount(PathBuf);

impl Mount {
    fn new(sandbox: &Sandbox, device: &LoopDevice) -> Option<Self> {
        let is_done = |name: &str, args: &[&str]| {
            let mut command = sandbox.command(Path::new(name));
            command.args(args).status().is_ok_and(|status| status.success())
        };
        if !is_done("mkfs.ext4", &["-q", device.path()]) {
            testing::skipped!("no file system can be made here");
            return None;
        }
        let folder = sandbox.path("mnt");
        std::fs::create_dir(&folder).expect("a folder");
        if !is_done("mount", &[device.path(), "mnt"]) {
            testing::skipped!("nothing can be mounted here");
            return None;
        }
        Some(Mount(folder))
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount").arg(&self.0).status();
    }
}

/// Returns the space in use, MiB, that a watch of a mount says, during which something happens.
fn used_mib(sandbox: &Sandbox, meanwhile: impl FnOnce()) -> f64 {
    let mut watch = sandbox.command(Path::new(env!("CARGO_BIN_EXE_plimsoll")));
    watch.args(["capture", "--for", "1m", "--mount", "mnt", "--json"]).stderr(Stdio::piped());
    let mut watch = watch.stdout(Stdio::piped()).spawn().expect("it starts");
    // It says so once it has looked.
    let mut said = BufReader::new(watch.stderr.take().expect("a pipe"));
    let mut line = String::new();
    said.read_line(&mut line).expect("a line");
    assert!(line.starts_with("capturing for 1m"), "{line}");
    meanwhile();
    let pid = rustix::process::Pid::from_child(&watch);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("it runs");
    let done = watch.wait_with_output().expect("it ends");
    let needs: serde_json::Value = serde_json::from_slice(&done.stdout).expect("needs");
    needs["volume"][0]["used_gib"]["value"].as_f64().expect("space in use") * 1024.0
}

/// A file of 16 MiB that comes during the watch counts, and so does one that goes.
#[test]
fn the_space_in_use_is_the_larger_of_before_and_after_the_watch() {
    let sandbox = Sandbox::new();
    sandbox.write("image", vec![0; 64 << 20]);
    let Some(device) = LoopDevice::new(&sandbox.path("image")) else { return };
    let Some(_mount) = Mount::new(&sandbox, &device) else { return };
    let file = sandbox.path("mnt/file");
    let fill = || {
        let mut written = std::fs::File::create(&file).expect("a file");
        written.write_all(&vec![7; 16 << 20]).expect("there is room");
        written.sync_all().expect("it is on the device");
    };
    let empty = used_mib(&sandbox, || ());
    let grown = used_mib(&sandbox, fill);
    let shrunk = used_mib(&sandbox, || std::fs::remove_file(&file).expect("it is there"));
    for used in [grown, shrunk] {
        assert!((used - empty - 16.0).abs() < 1.0, "{empty}, {grown}, {shrunk}");
    }
}

/// A run of our own. Before it, the guard of devices looks for file systems, which reads: writes
/// alone are the load's.
#[test]
fn the_writes_of_a_run_are_captured_as_they_were() {
    let Some((sandbox, device)) = loop_device() else { return };
    let load = logged(&sandbox, &device, || {
        sandbox.plimsoll(&["fio", "load.fio", "--output-format=json"])
    });
    let live = Load::captured(&sandbox, "live.series.csv", device.name());
    let iostat = Load::from_log(&sandbox, "iostat.json", device.name());
    for (source, found) in [("live", live), ("iostat", iostat)] {
        assert_within(&format!("writes, {source}"), found.n_writes, load.n_writes, 0.02);
        assert_within(&format!("bytes, {source}"), found.write_bytes, load.write_bytes, 0.02);
    }
}

/// A job of fio by the host's counters, iostat and sadf: I/Os, bytes, size and mix agree with what
/// fio counted, within 2 %.
#[test]
fn a_job_of_fio_is_captured_as_it_was() {
    if !testing::has_program("fio") {
        return;
    }
    let Some((sandbox, device)) = loop_device() else { return };
    let load = logged(&sandbox, &device, || {
        let mut fio = sandbox.command(Path::new("fio"));
        common::outcome(fio.args(["load.fio", "--output-format=json"]))
    });
    let name = device.name();
    Load::captured(&sandbox, "live.series.csv", name).assert_is("live", &load);
    for log in ["iostat.json", "sadf.json"] {
        Load::from_log(&sandbox, log, name).assert_is(log, &load);
    }
    // vmstat knows the host only: what the load did, and all else.
    let host = Load::from_log(&sandbox, "vmstat.txt", "whole host");
    assert!(host.bytes() >= load.bytes() * 0.98, "{host:?} of {load:?}");
}
