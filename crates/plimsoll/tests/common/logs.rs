//! A load beside which the host is logged by us, iostat, vmstat and sadc, and what the logs say.
#![allow(dead_code, reason = "each test binary uses the part that it needs")]

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::fs::inotify::WatchFlags;

use crate::common::{self, Outcome, Sandbox};
use crate::watch::Watch;

/// Debian has it in no folder of `PATH`.
const SADC: &str = "/usr/lib/sysstat/sadc";

/// Longest wait for a program to say something. It takes as long as its interval, a second.
const PATIENCE: Duration = Duration::from_mins(1);

/// Says whether the programs that log are there; that the test was skipped if not.
pub(crate) fn has_loggers() -> bool {
    if !["iostat", "sadf", "vmstat"].into_iter().all(testing::has_program) {
        return false;
    }
    let is_there = Path::new(SADC).is_file();
    if !is_there {
        testing::skipped!("`{SADC}` is not installed");
    }
    is_there
}

/// Programs that log devices, a report a second.
pub(crate) struct Logs<'a> {
    sandbox: &'a Sandbox,
    programs: Vec<Child>,
}

impl<'a> Logs<'a> {
    /// Starts a capture of our own into `live.toml`, and the others; returns when all of them have
    /// begun.
    pub(crate) fn begin(sandbox: &'a Sandbox, devices: &[&str]) -> Self {
        let mut logs = Logs { sandbox, programs: Vec::new() };
        let named: Vec<&str> = devices.iter().flat_map(|name| ["--device", name]).collect();
        logs.watch("live.toml", &named);
        let iostat = [&["-x", "-t", "-o", "JSON"], devices, &["1"]].concat();
        logs.start("iostat", &iostat, "iostat.json");
        logs.start("vmstat", &["-t", "-w", "1"], "vmstat.txt");
        logs.start(SADC, &["-S", "DISK", "1", "sa"], "sadc.out");
        logs.await_reports("iostat.json", "timestamp", 1);
        logs.await_reports("vmstat.txt", "\n", 3);
        logs.await_reports("sa", "", 1);
        logs
    }

    /// Starts one more capture of our own, and returns when it watches.
    pub(crate) fn watch(&mut self, output: &str, scope: &[&str]) {
        let mut live = self.sandbox.command(Path::new(env!("CARGO_BIN_EXE_plimsoll")));
        live.args(["capture", "--for", "10m", "-o", output]).args(scope);
        live.stderr(Stdio::piped()).stdout(Stdio::null());
        let mut live = live.spawn().expect("the binary was built");
        let mut said = BufReader::new(live.stderr.take().expect("it is a pipe"));
        let mut line = String::new();
        said.read_line(&mut line).expect("it says that it began");
        assert!(line.contains("capturing for 10m"), "{line}");
        // What it says at its end is read by nothing here, and must not stop it.
        let rest = std::thread::spawn(move || std::io::copy(&mut said, &mut std::io::sink()));
        drop(rest);
        self.programs.push(live);
    }

    /// Waits until what was done so far is in every log, ends them, and makes `sadf.json`.
    pub(crate) fn end(mut self) {
        let so_far = std::fs::read_to_string(self.sandbox.path("iostat.json"));
        let n_reports = so_far.expect("it is there").matches("timestamp").count();
        // The report that was open, and a whole one: sadc ticks at another time of the second.
        self.await_reports("iostat.json", "timestamp", n_reports + 2);
        self.programs.iter_mut().for_each(interrupt);
        let mut sadf = self.sandbox.command(Path::new("sadf"));
        let sadf = common::outcome(sadf.args(["-j", "sa", "--", "-d"]).env("LC_ALL", "C"));
        self.sandbox.write("sadf.json", sadf.success());
    }

    /// Starts a program that writes a log.
    fn start(&mut self, program: &str, args: &[&str], name: &str) {
        let file = File::create(self.sandbox.path(name)).expect("the folder is ours");
        // What a shell starts in the background ignores Ctrl-C; these must not.
        let mut command = self.sandbox.command(Path::new("env"));
        command.args(["--default-signal=INT", program]).args(args).stdout(file).env("LC_ALL", "C");
        self.programs.push(command.spawn().expect("the program is there"));
    }

    /// Waits until a log has so many reports.
    fn await_reports(&self, name: &str, mark: &str, n_reports: usize) {
        let path = self.sandbox.path(name);
        let folder = path.parent().expect("a file of a folder");
        let changes = Watch::new(folder, WatchFlags::CREATE | WatchFlags::MODIFY);
        let has_all = changes.wait_until(PATIENCE, || {
            // A file of sadc is no text.
            let bytes = std::fs::read(&path).unwrap_or_default();
            !bytes.is_empty() && String::from_utf8_lossy(&bytes).matches(mark).count() >= n_reports
        });
        assert!(has_all, "{name} has no {n_reports} reports");
    }
}

impl Drop for Logs<'_> {
    fn drop(&mut self) {
        for program in &mut self.programs {
            // Those that ended by themselves are none of ours any more.
            if matches!(program.try_wait(), Ok(None)) {
                interrupt(program);
            }
        }
    }
}

/// Ends a program as Ctrl-C does, and waits for it.
fn interrupt(child: &mut Child) {
    let pid = child.id().to_string();
    let _ = Command::new("kill").args(["-INT", &pid]).status();
    child.wait().expect("it is ours");
}

/// What a load came to: I/Os and bytes of reads and writes.
#[derive(Debug)]
pub(crate) struct Load {
    pub(crate) n_reads: f64,
    pub(crate) n_writes: f64,
    pub(crate) read_bytes: f64,
    pub(crate) write_bytes: f64,
}

impl Load {
    /// Adds up the samples of a volume beside a file of needs. I/Os without a direction count as
    /// reads.
    pub(crate) fn captured(sandbox: &Sandbox, name: &str, volume: &str) -> Load {
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

    /// Captures a log, and returns what it says of a device.
    pub(crate) fn from_log(sandbox: &Sandbox, log: &str, device: &str) -> Load {
        let outcome =
            sandbox.plimsoll(&["capture", "--from", log, "--device", device, "-o", "log.toml"]);
        outcome.success();
        Load::captured(sandbox, "log.series.csv", device)
    }

    pub(crate) fn n_ios(&self) -> f64 {
        self.n_reads + self.n_writes
    }

    pub(crate) fn bytes(&self) -> f64 {
        self.read_bytes + self.write_bytes
    }

    /// Reads what a run counted itself.
    pub(crate) fn of_result(outcome: &Outcome) -> Load {
        let job = &result(outcome)["jobs"][0];
        let of = |direction: &str, key: &str| job[direction][key].as_f64().expect("it is counted");
        Load {
            n_reads: of("read", "total_ios"),
            n_writes: of("write", "total_ios"),
            read_bytes: of("read", "io_bytes"),
            write_bytes: of("write", "io_bytes"),
        }
    }

    /// Checks that this agrees with what a job counted itself, within 2 %: I/Os, bytes, size and
    /// mix.
    #[track_caller]
    pub(crate) fn assert_is(&self, source: &str, job: &Load) {
        let within = |what: &str, of: &dyn Fn(&Load) -> f64| {
            assert_within(&format!("{what}, {source}"), of(self), of(job), 0.02);
        };
        within("I/Os", &Load::n_ios);
        within("bytes", &Load::bytes);
        within("size", &|load| load.bytes() / load.n_ios());
        within("mix by bytes", &|load| load.read_bytes / load.bytes());
        // sar counts reads and writes together.
        if self.n_writes > 0.0 {
            within("mix", &|load| load.n_reads / load.n_ios());
        }
    }
}

/// Returns the JSON of a run in fio's form.
pub(crate) fn result(outcome: &Outcome) -> serde_json::Value {
    let text = &outcome.stdout[outcome.stdout.find('{').expect("JSON")..];
    serde_json::from_str(text).expect("JSON")
}

/// Checks that a figure differs from another one by no more than a share of it.
#[track_caller]
pub(crate) fn assert_within(what: &str, found: f64, expected: f64, share: f64) {
    let ratio = found / expected;
    assert!((ratio - 1.0).abs() <= share, "{what}: {found} instead of {expected}");
}
