//! The same arguments for the real fio and for ours, in one folder, and what both said.
#![allow(dead_code, reason = "each test binary uses the part that it needs")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::common::{Sandbox, outcome};

/// Where Debian and most others put fio.
const FIO: &str = "/usr/bin/fio";

/// What one of the two programs said and logged.
pub(crate) struct ProgramOutput {
    /// Its name in messages.
    pub(crate) who: &'static str,
    /// Its JSON.
    pub(crate) page: Value,
    /// What stands before `_lat.1.log` and the like, with the folder.
    logs: PathBuf,
}

/// One line of a latency log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Line {
    /// 0 read, 1 write, 2 trim.
    pub(crate) dir: u64,
    pub(crate) offset: u64,
    pub(crate) size_bytes: u64,
    pub(crate) latency_ns: u64,
}

/// Returns the real fio, or says why the test was skipped.
pub(crate) fn real_fio() -> Option<&'static Path> {
    let fio = Path::new(FIO);
    if fio.exists() {
        return Some(fio);
    }
    testing::skipped!("there is no {FIO} to compare with");
    None
}

/// Runs both programs with these arguments and `json+`; `None` where there is no fio.
///
/// `{logs}` in an argument becomes a prefix of log files, another one for each program.
#[track_caller]
pub(crate) fn both(sandbox: &Sandbox, args: &[&str]) -> Option<[ProgramOutput; 2]> {
    let fio = real_fio()?;
    Some([said(sandbox, "fio", fio, args), said(sandbox, "plimsoll", &ours(sandbox), args)])
}

/// Returns our program under the name `fio`.
pub(crate) fn ours(sandbox: &Sandbox) -> PathBuf {
    let link = sandbox.path("bin-fio/fio");
    if !link.exists() {
        std::fs::create_dir_all(sandbox.path("bin-fio")).expect("the folder is ours");
        let binary = env!("CARGO_BIN_EXE_plimsoll");
        std::os::unix::fs::symlink(binary, &link).expect("a link");
    }
    link
}

#[track_caller]
fn said(sandbox: &Sandbox, who: &'static str, program: &Path, args: &[&str]) -> ProgramOutput {
    let args: Vec<String> = args.iter().map(|arg| arg.replace("{logs}", who)).collect();
    let mut command = sandbox.command(program);
    command.arg("--output-format=json+").args(&args);
    let outcome = outcome(&mut command);
    let page = serde_json::from_str(&outcome.stdout).unwrap_or_else(|error| {
        panic!("{who} {args:?}: {error}\n{}{}", outcome.stdout, outcome.stderr)
    });
    ProgramOutput { who, page, logs: sandbox.path(who) }
}

impl ProgramOutput {
    /// Returns a value of the first job, such as `/read/total_ios`; zero where there is none.
    pub(crate) fn number(&self, pointer: &str) -> f64 {
        self.page["jobs"][0].pointer(pointer).and_then(Value::as_f64).unwrap_or(0.0)
    }

    /// Returns a whole number of the first job.
    pub(crate) fn count(&self, pointer: &str) -> u64 {
        self.page["jobs"][0].pointer(pointer).and_then(Value::as_u64).unwrap_or(0)
    }

    /// Reads `PREFIX_KIND.N.log` of every job; the jobs need `log_offset`.
    #[track_caller]
    pub(crate) fn log(&self, kind: &str) -> Vec<Line> {
        let mut lines = Vec::new();
        for job in 1.. {
            let path = format!("{}_{kind}.{job}.log", self.logs.display());
            let Ok(text) = std::fs::read_to_string(&path) else {
                assert!(job > 1, "{} wrote no {path}", self.who);
                break;
            };
            lines.extend(text.lines().map(line));
        }
        lines
    }
}

/// Reads `time, value, direction, size, offset, priority`.
#[track_caller]
fn line(text: &str) -> Line {
    let field: Vec<u64> = text
        .split(',')
        .map(|field| field.trim().parse().unwrap_or_else(|_| panic!("`{text}`")))
        .collect();
    Line { latency_ns: field[1], dir: field[2], size_bytes: field[3], offset: field[4] }
}

/// Counts equal things.
pub(crate) fn tally<T: Ord>(items: impl IntoIterator<Item = T>) -> BTreeMap<T, u64> {
    let mut counts = BTreeMap::new();
    for item in items {
        *counts.entry(item).or_insert(0) += 1;
    }
    counts
}

/// Returns the first value whose cumulative count reaches this share, as fio defines it.
pub(crate) fn quantile(counts: &BTreeMap<u64, u64>, share_pct: f64) -> u64 {
    let n: u64 = counts.values().sum();
    let wanted = share_pct / 100.0 * n as f64;
    let mut seen = 0;
    for (value, count) in counts {
        seen += count;
        if seen as f64 >= wanted {
            return *value;
        }
    }
    0
}

/// Sends a signal by its name to a process.
#[track_caller]
pub(crate) fn signal(name: &str, pid: u32) {
    let pid = pid.to_string();
    let status = Command::new("kill").args(["-s", name, &pid]).status().expect("kill is there");
    assert!(status.success(), "kill -s {name} {pid}");
}

/// What newer versions of fio print and fio 3.33 does not.
pub(crate) const NEWER: [&str; 5] = [
    "jobs.job_start",
    "jobs.latency_target_ns",
    "jobs.latency_window_us",
    "disk_util.read_sectors",
    "disk_util.write_sectors",
];

/// Lists key paths with the type of their values. Bins, whose keys are latencies, count as one.
pub(crate) fn shape(path: &str, value: &Value, types: &mut BTreeMap<String, String>) {
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_f64() => "float",
        Value::Number(_) => "int",
        Value::String(_) => "text",
        Value::Array(items) => {
            for item in items {
                shape(path, item, types);
            }
            "list"
        }
        Value::Object(members) => {
            for (key, member) in members {
                let key = if path.ends_with("bins") { "NS" } else { key };
                let dot = if path.is_empty() { "" } else { "." };
                shape(&format!("{path}{dot}{key}"), member, types);
            }
            "object"
        }
    };
    let seen = types.entry(path.to_owned()).or_default();
    if !seen.contains(kind) {
        seen.push_str(kind);
    }
}

/// Drops `"thread" : ""`: newer versions of fio print it, fio 3.33 leaves it out.
pub(crate) fn drop_options_without_value(page: &mut Value) {
    for job in page["jobs"].as_array_mut().expect("jobs") {
        if let Some(options) = job.get_mut("job options").and_then(Value::as_object_mut) {
            options.retain(|_, value| value != "");
        }
    }
}

pub(crate) fn jobs(page: &Value) -> impl Iterator<Item = &Value> {
    page["jobs"].as_array().expect("jobs").iter()
}
