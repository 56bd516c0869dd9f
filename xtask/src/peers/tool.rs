//! One run of one program: what it reports, and what the kernel counted for it.

use std::fs::File;
use std::io::Read as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{Command, ExitStatus};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use super::rows::{Measure, Peer, Phase, Row};
use crate::process;

/// Exit code of a run that was measured and does not stand for the target: a row keeps one core
/// busy on purpose, and `plimsoll run` says that the load was bound by it.
const CANNOT_TELL: i32 = 3;

/// Files of a row beside fio, and of one beside mdtest, which takes less time for each.
const N_FILES: u32 = 5000;
const N_FILES_OF_MDTEST: u32 = 20_000;

/// Largest difference between the IOPS reported and I/Os divided by time. Both round: a run of
/// a second has 0.1 % in its milliseconds alone.
const IOPS_TOLERANCE: f64 = 0.01;

/// The programs of a comparison, and where they run.
#[derive(Clone)]
pub(crate) struct Bench {
    pub(crate) plimsoll: PathBuf,
    pub(crate) bare_loop: PathBuf,
    /// Device or file that is read.
    pub(crate) target: PathBuf,
    pub(crate) seconds: u32,
    /// The one core that everything runs on.
    pub(crate) core: u32,
    /// Holds job files and outputs.
    pub(crate) folder: PathBuf,
    /// Where rows make files of their own.
    pub(crate) files: PathBuf,
    /// mdtest, where one was named.
    pub(crate) mdtest: Option<PathBuf>,
    /// How many files a row makes.
    pub(crate) n_files: u32,
}

/// What one run came to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outcome {
    iops: f64,
    n_ios: u64,
    cpu_ns: u64,
    peak_bytes: u64,
}

impl Outcome {
    /// Returns what the row is judged by.
    pub(crate) fn value(&self, measure: Measure) -> f64 {
        match measure {
            Measure::Iops => self.iops,
            Measure::IosPerCpuSecond => self.n_ios as f64 * 1e9 / self.cpu_ns as f64,
            Measure::CpuNsPerIo => self.cpu_ns as f64 / self.n_ios as f64,
            Measure::PeakBytesAbove(bytes) => self.peak_bytes.saturating_sub(bytes) as f64,
        }
    }
}

impl Bench {
    /// Runs our tool on the row's job file.
    pub(crate) fn run_ours(&self, row: &Row) -> Result<Outcome> {
        match row.peer {
            Peer::JobFile(_) => {
                // Vdbench reads no environment variables.
                self.run_for_record(&format!("{}.parm", row.name), &self.put_in(row.job))
            }
            Peer::Fio | Peer::Bare(..) => {
                self.run_job(row, Command::new(&self.plimsoll).arg("fio"))
            }
            Peer::Mdtest(_) => {
                self.clear_files()?;
                self.run_for_record(&format!("{}.fio", row.name), row.job)
            }
        }
    }

    /// Runs the row's peer.
    pub(crate) fn run_peer(&self, row: &Row) -> Result<Outcome> {
        match row.peer {
            Peer::Fio => self.run_job(row, &mut Command::new("fio")),
            Peer::Bare(kind, depth) => {
                let mut command = Command::new(&self.bare_loop);
                command.arg(kind).arg(&self.target).arg(depth.to_string());
                command.arg(self.seconds.to_string());
                let (text, outcome) = self.run(&command)?;
                outcome.with_counts(&serde_json::from_str(&text).context("not JSON")?)
            }
            Peer::JobFile(job) => self.run_for_record(&format!("{}.fio", row.name), job),
            Peer::Mdtest(phase) => self.run_mdtest(phase),
        }
    }

    /// Returns the bench for a row, with as many files as it is to have.
    pub(crate) fn of_row(&self, row: &Row, seconds: u32) -> Bench {
        let n_files = match row.peer {
            Peer::Mdtest(_) => N_FILES_OF_MDTEST,
            Peer::Fio | Peer::Bare(..) | Peer::JobFile(_) => N_FILES,
        };
        Bench { seconds, n_files, ..self.clone() }
    }

    /// Runs one phase of mdtest by one process; others that it needs are not measured.
    fn run_mdtest(&self, phase: Phase) -> Result<Outcome> {
        self.clear_files()?;
        let (options, heading): (&[&str], &str) = match phase {
            Phase::Create => (&[], "File creation"),
            Phase::Stat => (&["-T"], "File stat"),
            Phase::Read => (&["-w", "4096", "-E", "-e", "4096"], "File read"),
            Phase::Remove => (&["-w", "4096", "-r"], "File removal"),
        };
        let program = self.mdtest.as_ref().context("`--mdtest` names no program")?;
        let mut command = Command::new(program);
        // Open MPI starts nothing as root unless it is said twice.
        command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
        command.args(["-F", "-C"]).args(options).arg("-n").arg(self.n_files.to_string());
        let (text, outcome) = self.run(command.arg("-d").arg(self.files()))?;
        let iops = mdtest_rate(&text, heading).with_context(|| format!("no rate: {text}"))?;
        Ok(Outcome { iops, n_ios: u64::from(self.n_files), ..outcome })
    }

    /// Runs a file of any dialect by `plimsoll run`, for the record it prints.
    fn run_for_record(&self, name: &str, text: &str) -> Result<Outcome> {
        let path = self.folder.join(name);
        std::fs::write(&path, text)?;
        let (text, outcome) =
            self.run(Command::new(&self.plimsoll).args(["run", "--json"]).arg(path))?;
        let record = parse_json(&text)?;
        ensure!(record["outcome"] == "complete", "the run ended {}", record["outcome"]);
        let job = record["jobs"].as_array().and_then(|jobs| jobs.first()).context("no job")?;
        let counts = ["read", "write"].iter().filter_map(|dir| job["dirs"][*dir]["n_ios"].as_u64());
        let n_ios: u64 = counts.sum();
        let runtime_ns = job["runtime_ns"].as_f64().context("no `runtime_ns`")?;
        ensure!(n_ios > 0 && runtime_ns > 0.0, "nothing was read or written");
        Ok(Outcome { iops: n_ios as f64 * 1e9 / runtime_ns, n_ios, ..outcome })
    }

    /// Puts target and seconds into a parameter file.
    fn put_in(&self, text: &str) -> String {
        let target = self.target.display().to_string();
        text.replace("PEERS_TARGET", &target).replace("PEERS_SECONDS", &self.seconds.to_string())
    }

    /// Runs a job file by one of the tools that read such, for what it prints.
    fn run_job(&self, row: &Row, tool: &mut Command) -> Result<Outcome> {
        let path = self.folder.join(format!("{}.fio", row.name));
        std::fs::write(&path, row.job)?;
        self.clear_files()?;
        tool.arg("--output-format=json").arg(path);
        let (text, outcome) = self.run(tool)?;
        let record = parse_json(&text)?;
        let job = record["jobs"].as_array().and_then(|jobs| jobs.first()).context("no job")?;
        ensure!(job["error"] == 0, "the job failed: {}", job["error"]);
        outcome.with_counts(&job["read"])
    }

    /// Returns the folder of files that rows make for themselves.
    fn files(&self) -> PathBuf {
        self.files.join("peers-files")
    }

    /// Empties that folder.
    fn clear_files(&self) -> Result<()> {
        let files = self.files();
        if files.exists() {
            std::fs::remove_dir_all(&files)?;
        }
        Ok(std::fs::create_dir(&files)?)
    }

    /// Runs a command pinned to the core. Returns its standard output and the kernel's counts.
    pub(crate) fn run(&self, inner: &Command) -> Result<(String, Outcome)> {
        let mut command = Command::new("taskset");
        command.args(["-c", &self.core.to_string()]).arg(inner.get_program());
        command.args(inner.get_args()).envs(inner.get_envs().filter_map(|(k, v)| Some((k, v?))));
        command.env("PEERS_FILES", self.files());
        command.env("PEERS_N_FILES", self.n_files.to_string());
        command.env("PEERS_TARGET", &self.target).env("PEERS_SECONDS", self.seconds.to_string());
        let out_path = self.folder.join("stdout");
        command.current_dir(&self.folder).stdout(File::create(&out_path)?);
        let line = process::command_line(&command);
        let child = process::unstored(&mut command).spawn();
        let child = child.with_context(|| format!("cannot start `{line}`"))?;
        let (status, usage) = wait(child.id()).with_context(|| format!("cannot await `{line}`"))?;
        let mut text = String::new();
        File::open(&out_path)?.read_to_string(&mut text)?;
        if !status.success() && status.code() != Some(CANNOT_TELL) {
            bail!("`{line}` failed: {status}\n{}", text.trim_end());
        }
        Ok((text, usage))
    }
}

impl Outcome {
    /// Adds what the program reports, once its own numbers agree with each other.
    fn with_counts(self, counts: &Value) -> Result<Outcome> {
        let number = |key: &str| counts[key].as_f64().with_context(|| format!("no `{key}`"));
        let (iops, n_ios, runtime_ms) = (number("iops")?, number("total_ios")?, number("runtime")?);
        ensure!(n_ios > 0.0 && runtime_ms > 0.0, "nothing was read");
        let counted = n_ios * 1000.0 / runtime_ms;
        let is_same = (iops / counted - 1.0).abs() <= IOPS_TOLERANCE;
        ensure!(is_same, "{iops:.0} IOPS reported, {n_ios} I/Os in {runtime_ms} ms counted");
        Ok(Outcome { iops, n_ios: n_ios as u64, ..self })
    }
}

/// Returns the files per second of a row of mdtest's summary.
fn mdtest_rate(text: &str, heading: &str) -> Option<f64> {
    let summary = text.split("SUMMARY rate").nth(1)?;
    let row = summary.lines().find_map(|line| line.trim_start().strip_prefix(heading))?;
    row.split_whitespace().next()?.parse().ok().filter(|rate| *rate > 0.0)
}

/// Reads what a tool printed as JSON. fio may print notes before it.
pub(crate) fn parse_json(text: &str) -> Result<Value> {
    let start = text.find('{').context("no JSON in the output")?;
    serde_json::from_str(&text[start..]).context("the output is no JSON")
}

/// Awaits a child. Returns how it ended and what it used, with the children it awaited itself.
fn wait(pid: u32) -> Result<(ExitStatus, Outcome)> {
    let mut status = 0;
    // SAFETY: `rusage` is plain integers, for which zero bytes are valid.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    loop {
        // SAFETY: both pointers are to live variables, which the call writes.
        let waited = unsafe { libc::wait4(pid as i32, &raw mut status, 0, &raw mut usage) };
        if waited >= 0 {
            break;
        }
        let error = std::io::Error::last_os_error();
        if error.kind() != std::io::ErrorKind::Interrupted {
            return Err(error.into());
        }
    }
    let ns = |time: libc::timeval| time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1000;
    let outcome = Outcome {
        iops: 0.0,
        n_ios: 0,
        cpu_ns: ns(usage.ru_utime) + ns(usage.ru_stime),
        peak_bytes: usage.ru_maxrss as u64 * 1024,
    };
    Ok((ExitStatus::from_raw(status), outcome))
}

#[cfg(test)]
mod tests {
    use super::mdtest_rate;

    #[test]
    fn rates_of_mdtest_are_those_of_its_summary() {
        let text = "-- started --\nFile stat 7\n\nSUMMARY rate (in ops/sec): (of 1 iterations)\n   \
                    Operation                     Max            Min\n   \
                    ---                           ---            ---\n   \
                    File creation              131482.884     131482.884\n   \
                    File stat                       0.000          0.000\n";
        assert_eq!(mdtest_rate(text, "File creation"), Some(131_482.884));
        // A phase that was not asked for.
        assert_eq!(mdtest_rate(text, "File stat"), None);
        assert_eq!(mdtest_rate(text, "File removal"), None);
    }
}
