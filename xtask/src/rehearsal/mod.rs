//! One emulated P30 in all of its forms: simulated, in-process, mounted, exported.
//!
//! The same cases in each, judged by what the source documents print. The mount is measured by
//! Debian's fio, the export by our NFS client. `docs/rehearse.md` holds the table.
//!
//! Where it is allowed, all programs of the check run with a real-time priority: other work on the
//! machine would else be measured with them.

mod cases;
mod forms;
mod options;
mod table;

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::{process, workspace};
use cases::{CASES, Case};
use forms::{FORMS, Form, Service};
use options::Options;
use table::Line;

/// The design: the sizes of the documents are binary, and so are their megabytes (200 x 1,024 / 64
/// = 3,200).
const DESIGN: &str = "\
name = \"one P30\"
edition = \"2018\"
mb_bytes = 1048576

[[volume]]
mount = \"/mnt/p30\"
disk = \"P30\"
cache = \"None\"
";

/// What a program is started with to come before all ordinary ones.
const FIRST: [&str; 3] = ["chrt", "--fifo", "1"];

/// Where and how the runs are made.
pub(crate) struct Bench {
    plimsoll: PathBuf,
    /// Holds the design, the job files and the data.
    folder: PathBuf,
    seconds: u32,
    is_first: bool,
}

/// Runs the command with its options. Fails where a form misses.
pub(crate) fn run(args: &[&str]) -> Result<()> {
    if args == ["--help"] {
        print!("{}", options::USAGE);
        return Ok(());
    }
    let options = Options::parse(args)?;
    process::run(&mut process::cargo(&["build", "--release", "--locked", "-p", "plimsoll"]))?;
    let target = workspace::target_dir()?;
    let folder = target.join("rehearsal");
    fs::create_dir_all(&folder)?;
    fs::write(folder.join("design.toml"), DESIGN)?;
    let seconds = options.seconds;
    let plimsoll = target.join("release/plimsoll");
    let bench = Bench { plimsoll, folder, seconds, is_first: can_be_first() };
    let mut forms = Vec::new();
    for form in FORMS.iter().filter(|form| options.takes(form)) {
        match form.lacks() {
            None => forms.push(form),
            Some(what) => println!("skipped: {}: {what}", form.name),
        }
    }
    let mut lines: Vec<Line> = CASES.iter().map(Line::new).collect();
    for form in &forms {
        let service = form.serve(&bench)?;
        for (case, line) in CASES.iter().zip(&mut lines) {
            let iops = bench.measure(form, case, &service);
            let iops = iops.with_context(|| format!("{}, {}", form.name, case.name()))?;
            println!("{}", line.add(form, iops));
        }
        service.end(&bench)?;
    }
    println!("\n{}", table::text(&forms, &lines));
    if options.write {
        table::write(&forms, &lines, &bench)?;
    }
    let n_missed = lines.iter().map(Line::n_missed).sum::<usize>();
    ensure!(n_missed == 0, "{n_missed} figures are out of their tolerance");
    Ok(())
}

/// Returns whether programs may be started with a real-time priority.
fn can_be_first() -> bool {
    let tried = Command::new(FIRST[0]).args(&FIRST[1..]).arg("true").stderr(Stdio::null()).status();
    tried.is_ok_and(|status| status.success())
}

impl Bench {
    /// Returns a command for a program, which comes before ordinary ones where that is allowed.
    fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = if self.is_first {
            let mut command = Command::new(FIRST[0]);
            command.args(&FIRST[1..]).arg(program);
            command
        } else {
            Command::new(program)
        };
        command.current_dir(&self.folder).stdin(Stdio::null());
        command
    }

    /// Runs one case in one form. Returns I/Os per second.
    fn measure(&self, form: &Form, case: &Case, service: &Service) -> Result<f64> {
        let job = self.folder.join("job.fio");
        fs::write(&job, case.job(self.seconds, &service.place()))?;
        let text = said(&mut form.command(self, &job))?;
        let start = text.find('{').context("no JSON in the output")?;
        let page: Value = serde_json::from_str(&text[start..]).context("the output is no JSON")?;
        let job = &page["jobs"][0];
        if job["error"] != 0 {
            bail!("the job failed: {}", job["error"]);
        }
        job["read"]["iops"].as_f64().context("no figure in the output")
    }
}

/// Runs a command and returns what it printed. A run that doubts its own figures (late completions)
/// has them anyway: they are judged here.
fn said(command: &mut Command) -> Result<String> {
    const IN_DOUBT: i32 = 3;
    let line = process::command_line(command);
    let output = process::unstored(command).output();
    let output = output.with_context(|| format!("cannot start `{line}`"))?;
    if !output.status.success() && output.status.code() != Some(IN_DOUBT) {
        bail!("`{line}` failed: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr));
    }
    String::from_utf8(output.stdout).with_context(|| format!("`{line}` printed no UTF-8"))
}
