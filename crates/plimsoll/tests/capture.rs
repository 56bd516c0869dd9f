//! `plimsoll capture`: logs of real programs and the host itself, while a load of our own runs.

mod common;
#[path = "common/watch.rs"]
mod watch;

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use common::Sandbox;
use insta::assert_snapshot;
use rustix::fs::inotify::WatchFlags;
use watch::Watch;

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
    assert_eq!(outcome.stderr, "");
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

#[test]
fn needs_go_to_standard_output_as_toml_or_json() {
    let sandbox = Sandbox::new();
    sandbox.write("iostat.log", LOG);
    let toml = sandbox.plimsoll(&["capture", "--from", "iostat.log"]);
    assert!(toml.success().contains("schema = \"plimsoll.needs/1\""), "{}", toml.stdout);
    let json = sandbox.plimsoll(&["capture", "--from", "iostat.log", "--json"]);
    assert!(json.success().contains("\"schema\": \"plimsoll.needs/1\""), "{}", json.stdout);
}

#[test]
fn mistakes_say_what_to_do() {
    let sandbox = Sandbox::new();
    sandbox.write("iostat.log", LOG);
    sandbox.write("empty", "");
    sandbox.write("other", "hello\n");
    sandbox.write("first.log", LOG.split_inclusive("99.00\n").next().expect("a report"));
    for (args, parts) in [
        (&["--from", "empty"][..], &["`empty`: it is empty"][..]),
        (&["--from", "other"], &["`other`: its content is of no known form: iostat, "]),
        (&["--from", "absent"], &["`absent`: No such file"]),
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
        (
            &["--for", "1s", "--cgroup", "no-such-group"],
            &["`no-such-group` is not a control group that counts I/O", "/sys/fs/cgroup"],
        ),
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

#[test]
fn a_log_that_is_partly_broken_says_so_in_its_exit_code() {
    let sandbox = Sandbox::new();
    sandbox.write("iostat.log", LOG.replace("sda 300.00", "sda 3OO.00"));
    let outcome = sandbox.plimsoll(&["capture", "--from", "iostat.log", "-o", "needs.toml"]);
    assert_eq!(outcome.code, 3, "{}", outcome.stderr);
    let place = "iostat.log:15: not read: `3OO.00` is no figure";
    assert!(outcome.stderr.contains(place), "{}", outcome.stderr);
}

/// A loop device over a file, while it lives.
struct LoopDevice(String);

impl LoopDevice {
    fn new(file: &Path) -> Option<Self> {
        let made = Command::new("losetup").args(["--find", "--show"]).arg(file).output().ok()?;
        let name = String::from_utf8_lossy(&made.stdout).trim().to_owned();
        if !made.status.success() {
            testing::skipped!("no loop devices here");
        }
        made.status.success().then_some(LoopDevice(name))
    }

    fn name(&self) -> &str {
        self.0.trim_start_matches("/dev/")
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        let _ = Command::new("losetup").arg("--detach").arg(&self.0).status();
    }
}

/// Ends a program as Ctrl-C does, and waits for it.
fn interrupt(child: &mut Child) {
    let pid = child.id().to_string();
    let _ = Command::new("kill").args(["-INT", &pid]).status();
    child.wait().expect("it is ours");
}

/// Longest wait for a program to say something. It takes as long as its interval, a second.
const PATIENCE: Duration = Duration::from_mins(1);

/// Waits until a file has so many reports.
fn await_reports(path: &Path, mark: &str, n_reports: usize) {
    let folder = path.parent().expect("a file of a folder");
    let changes = Watch::new(folder, WatchFlags::CREATE | WatchFlags::MODIFY);
    let has_all = changes.wait_until(PATIENCE, || {
        // A file of sadc is no text.
        let bytes = std::fs::read(path).unwrap_or_default();
        !bytes.is_empty() && String::from_utf8_lossy(&bytes).matches(mark).count() >= n_reports
    });
    assert!(has_all, "{} has no {n_reports} reports", path.display());
}

/// Starts a program that writes a log of a report a second.
fn log_by(sandbox: &Sandbox, program: &str, args: &[&str], name: &str) -> Child {
    let file = File::create(sandbox.path(name)).expect("the folder is ours");
    let mut command = sandbox.command(Path::new(program));
    command.args(args).stdout(file).env("LC_ALL", "C");
    command.spawn().expect("the program is there")
}

/// What a load came to: I/Os and bytes of reads and writes.
#[derive(Debug)]
struct Load {
    n_reads: f64,
    n_writes: f64,
    read_bytes: f64,
    write_bytes: f64,
}

impl Load {
    /// Adds up the samples of a volume beside a file of needs. I/Os without a direction count as
    /// reads.
    fn captured(sandbox: &Sandbox, name: &str, volume: &str) -> Load {
        let text = std::fs::read_to_string(sandbox.path(name)).expect("it was written");
        let mut load = Load { n_reads: 0.0, n_writes: 0.0, read_bytes: 0.0, write_bytes: 0.0 };
        for line in text.lines().filter(|line| line.starts_with(&format!("{volume},"))) {
            let fields: Vec<Option<f64>> =
                line.split(',').skip(3).map(|field| field.parse().ok()).collect();
            let [n_ios, n_reads, n_writes, read_bytes, write_bytes, _] = fields[..] else {
                panic!("{line}");
            };
            load.n_reads += n_reads.or(n_ios).unwrap_or(0.0);
            load.n_writes += n_writes.unwrap_or(0.0);
            load.read_bytes += read_bytes.unwrap_or(0.0);
            load.write_bytes += write_bytes.unwrap_or(0.0);
        }
        load
    }

    fn n_ios(&self) -> f64 {
        self.n_reads + self.n_writes
    }

    fn bytes(&self) -> f64 {
        self.read_bytes + self.write_bytes
    }

    /// Reads what a run counted itself.
    fn of_result(stdout: &str) -> Load {
        let text = &stdout[stdout.find('{').expect("JSON")..];
        let result: serde_json::Value = serde_json::from_str(text).expect("JSON");
        let of = |direction: &str, key: &str| {
            result["jobs"][0][direction][key].as_f64().expect("it is counted")
        };
        Load {
            n_reads: of("read", "total_ios"),
            n_writes: of("write", "total_ios"),
            read_bytes: of("read", "io_bytes"),
            write_bytes: of("write", "io_bytes"),
        }
    }
}

#[track_caller]
fn assert_within(what: &str, found: f64, expected: f64) {
    let ratio = found / expected;
    assert!((0.98..=1.02).contains(&ratio), "{what}: {found} instead of {expected}");
}

/// Runs a job of 400 IOPS of mixed sizes for five seconds, and logs it by the host's counters,
/// iostat, vmstat and sadc, which all begin before and end after it. Returns the job's own result.
fn logged(sandbox: &Sandbox, device: &LoopDevice, run: impl Fn() -> common::Outcome) -> Load {
    let job = format!(
        "[oltp]\nfilename={}\nrw=randrw\nrwmixread=75\nbssplit=8k/80:32k/20\ndirect=1\n\
         ioengine=libaio\niodepth=8\nrate_iops=300,100\nruntime=5\ntime_based\n",
        device.0
    );
    sandbox.write("load.fio", job);
    let name = device.name();
    let mut live = sandbox
        .command(Path::new(env!("CARGO_BIN_EXE_plimsoll")))
        .args(["capture", "--for", "10m", "--device", name, "-o", "live.toml"])
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .expect("the binary was built");
    let iostat_args = ["-x", "-t", "-o", "JSON", name, "1"];
    let mut iostat = log_by(sandbox, "iostat", &iostat_args, "iostat.json");
    let mut vmstat = log_by(sandbox, "vmstat", &["-t", "-w", "1"], "vmstat.txt");
    let mut sadc = log_by(sandbox, SADC, &["-S", "DISK", "1", "sa"], "sadc.out");
    let mut said = BufReader::new(live.stderr.take().expect("it is a pipe"));
    let mut line = String::new();
    said.read_line(&mut line).expect("it says that it began");
    assert!(line.contains("capturing for 10m"), "{line}");
    let iostat_log = sandbox.path("iostat.json");
    await_reports(&iostat_log, "timestamp", 1);
    await_reports(&sandbox.path("vmstat.txt"), "\n", 3);
    await_reports(&sandbox.path("sa"), "", 1);
    let outcome = run();
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    let so_far = std::fs::read_to_string(&iostat_log).expect("it is there");
    // The report that was open, and a whole one: sadc ticks at another time of the second.
    await_reports(&iostat_log, "timestamp", so_far.matches("timestamp").count() + 2);
    [&mut live, &mut iostat, &mut vmstat, &mut sadc].into_iter().for_each(interrupt);
    Load::of_result(&outcome.stdout)
}

const SADC: &str = "/usr/lib/sysstat/sadc";

/// Returns a sandbox with a loop device; says that the test was skipped if something is missing.
fn loop_device() -> Option<(Sandbox, LoopDevice)> {
    if !["iostat", "sadf", "vmstat", "losetup"].into_iter().all(testing::has_program) {
        return None;
    }
    if !Path::new(SADC).is_file() {
        testing::skipped!("`{SADC}` is not installed");
        return None;
    }
    let sandbox = Sandbox::new();
    sandbox.write("image", vec![0; 64 << 20]);
    let device = LoopDevice::new(&sandbox.path("image"))?;
    Some((sandbox, device))
}

/// Captures a log, and returns what it says of a device.
fn from_log(sandbox: &Sandbox, log: &str, device: &str) -> Load {
    let outcome =
        sandbox.plimsoll(&["capture", "--from", log, "--device", device, "-o", "log.toml"]);
    outcome.success();
    Load::captured(sandbox, "log.series.csv", device)
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
    let iostat = from_log(&sandbox, "iostat.json", device.name());
    for (source, found) in [("live", live), ("iostat", iostat)] {
        assert_within(&format!("writes, {source}"), found.n_writes, load.n_writes);
        assert_within(&format!("bytes, {source}"), found.write_bytes, load.write_bytes);
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
    let mut sadf = sandbox.command(Path::new("sadf"));
    let sadf = common::outcome(sadf.args(["-j", "sa", "--", "-d"]).env("LC_ALL", "C"));
    sandbox.write("sadf.json", sadf.success());
    let name = device.name();
    for (source, found) in [
        ("live", Load::captured(&sandbox, "live.series.csv", name)),
        ("iostat", from_log(&sandbox, "iostat.json", name)),
        ("sadf", from_log(&sandbox, "sadf.json", name)),
    ] {
        let within = |what: &str, of: &dyn Fn(&Load) -> f64| {
            assert_within(&format!("{what}, {source}"), of(&found), of(&load));
        };
        within("I/Os", &Load::n_ios);
        within("bytes", &Load::bytes);
        within("size", &|load| load.bytes() / load.n_ios());
        within("mix by bytes", &|load| load.read_bytes / load.bytes());
        if source != "sadf" {
            within("mix", &|load| load.n_reads / load.n_ios());
        }
    }
    // vmstat knows the host only: what the load did, and all else.
    let outcome = sandbox.plimsoll(&["capture", "--from", "vmstat.txt", "-o", "log.toml"]);
    outcome.success();
    let host = Load::captured(&sandbox, "log.series.csv", "whole host");
    assert!(host.bytes() >= load.bytes() * 0.98, "{host:?} of {load:?}");
}
