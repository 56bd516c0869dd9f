//! Running the program that is tried, and reading what it says.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::options::Options;
use crate::process;

/// The program, and a folder for what it reads.
pub(crate) struct Program {
    path: PathBuf,
    scratch: PathBuf,
}

/// What came of a run.
pub(crate) struct Answer {
    /// Exit code; none where a signal ended it.
    pub(crate) code: Option<i32>,
    /// What it printed as JSON; null where it is none.
    pub(crate) record: Value,
    /// What it said beside.
    pub(crate) said: String,
}

impl Program {
    /// Builds the release, unless another program is named.
    pub(crate) fn new(options: &Options) -> Result<Program> {
        let path = if let Some(path) = &options.program {
            path.clone()
        } else {
            process::run(&mut process::cargo(&["build", "--release", "-q", "-p", "plimsoll"]))?;
            crate::process::root().join("target/release/plimsoll")
        };
        ensure!(path.is_file(), "there is no program `{}`", path.display());
        let scratch = std::env::temp_dir().join(format!("plimsoll-trust-{}", std::process::id()));
        std::fs::create_dir_all(&scratch)
            .with_context(|| format!("cannot make `{}`", scratch.display()))?;
        Ok(Program { path, scratch })
    }

    /// Writes a file that the program is to read.
    pub(crate) fn file(&self, name: &str, text: &str) -> Result<PathBuf> {
        let path = self.scratch.join(name);
        std::fs::write(&path, text)
            .with_context(|| format!("cannot write `{}`", path.display()))?;
        Ok(path)
    }

    /// Starts the program; nothing of it is kept.
    pub(crate) fn start(&self, args: &[&str]) -> Result<Child> {
        let mut command = Command::new(&self.path);
        command.args(args).args(["--json", "--no-store", "--no-progress"]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let line = process::command_line(&command);
        command.spawn().with_context(|| format!("cannot start `{line}`"))
    }

    /// Runs the program to its end.
    pub(crate) fn answer(&self, args: &[&str]) -> Result<Answer> {
        let answer = Answer::of(&self.start(args)?.wait_with_output()?);
        // Refused: then nothing was tried.
        ensure!(answer.code != Some(2), "`plimsoll {}`: {}", args.join(" "), answer.said);
        Ok(answer)
    }

    /// Runs a job file of this text.
    pub(crate) fn run_job(&self, text: &str, more: &[&str]) -> Result<Answer> {
        let job = self.file("job.fio", text)?;
        let args = [&["run", path_text(&job)?], more].concat();
        self.answer(&args)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // What is left in the folder for temporary files is no result.
        let _left = std::fs::remove_dir_all(&self.scratch);
    }
}

/// Returns a path as text.
pub(crate) fn path_text(path: &Path) -> Result<&str> {
    path.to_str().with_context(|| format!("`{}` is no text", path.display()))
}

/// Names the loads between which a line lies, or went.
fn interval_text(line: &Value) -> String {
    let bound = |key: &str| line["interval"][key].as_f64();
    bound("low")
        .zip(bound("high"))
        .map_or_else(String::new, |(low, high)| format!(", between {low:.0} and {high:.0}"))
}

impl Answer {
    pub(crate) fn of(output: &Output) -> Answer {
        Answer {
            code: output.status.code(),
            record: serde_json::from_slice(&output.stdout).unwrap_or(Value::Null),
            said: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Returns the load line; none where there is none.
    pub(crate) fn line(&self) -> Option<f64> {
        self.record["curve"]["line"]["load"].as_f64()
    }

    /// Returns whether it admits that it cannot tell.
    pub(crate) fn cannot_tell(&self) -> bool {
        self.code == Some(3)
    }

    /// Returns the line or what is there instead.
    pub(crate) fn line_text(&self) -> String {
        let code = self.code.map_or_else(|| "a signal".to_owned(), |code| code.to_string());
        let code = format!("{code}{}", self.rows_text());
        let line = &self.record["curve"]["line"];
        match self.line() {
            Some(line) => format!("{line:.0} (exit {code})"),
            None => match line["reason"].as_str() {
                Some(reason) => format!("none ({reason}{}, exit {code})", interval_text(line)),
                None => format!("none (exit {code})"),
            },
        }
    }

    /// Names the verdicts of rows of a suite: they count for the exit code beside the line.
    fn rows_text(&self) -> String {
        let rows = self.record["suite"]["rows"].as_array().cloned().unwrap_or_default();
        let verdicts = rows.iter().filter(|row| row["preparation"] != true);
        let verdicts = verdicts.filter_map(|row| row["verdict"].as_str());
        let mut counts: std::collections::BTreeMap<&str, u32> = std::collections::BTreeMap::new();
        for verdict in verdicts.filter(|it| !matches!(*it, "valid" | "not assessed")) {
            *counts.entry(verdict).or_default() += 1;
        }
        counts.iter().map(|(verdict, n)| format!(", {n} rows {verdict}")).collect()
    }

    /// Names the checks that failed, and the warnings.
    pub(crate) fn alarms(&self) -> Vec<String> {
        let array = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let steps = array(&self.record["validity"]);
        let gates = steps.iter().flat_map(|step| array(&step["gates"]));
        let failed = gates.filter(|gate| gate["verdict"] == "failed");
        let failed = failed.map(|gate| {
            let text = |key: &str| gate[key].as_str().unwrap_or("").to_owned();
            format!("{}: {}", text("name"), text("reason"))
        });
        let notes = array(&self.record["notes"]);
        let notes = notes.iter().filter(|note| note["severity"] != "info");
        let notes = notes.map(|note| note["code"].as_str().unwrap_or("").to_owned());
        let mut all: Vec<String> = failed.chain(notes).collect();
        if !matches!(self.code, Some(0 | 3)) {
            all.push(format!("exit {:?}: {}", self.code, self.said.lines().next().unwrap_or("")));
        }
        all
    }
}
