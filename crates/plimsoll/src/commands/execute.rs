//! Runs a plan with progress and prints what came out: the part that `run` and `demo` share.

use std::sync::Arc;

use dialects::fio::output::{COMPAT_VERSION, JsonOptions, json};
use plan::Plan;
use record::{NoteSeverity, Outcome, Record};
use runner::{Control, Emulation, RunError, RunOptions};

use super::keep::{KeepArgs, Kept};
use crate::diagnostics::{self, Texts};
use crate::exit::{Exit, Failure};
use crate::progress::{Progress, When};
use crate::signals::Signals;
use crate::stream::Sink;
use crate::{clock, env, stream, summary};

/// What is printed, and where.
#[derive(Clone, Debug, Default, clap::Args)]
pub(super) struct ResultArgs {
    /// Print the record as JSON (`plimsoll.record/1`).
    #[arg(long, conflicts_with = "fio_json")]
    pub(super) json: bool,

    /// Print fio's JSON, for scripts made for it.
    #[arg(long)]
    pub(super) fio_json: bool,

    /// Write the result to FILE. With JSON in it, the table is still printed.
    #[arg(long, value_name = "FILE")]
    pub(super) output: Option<String>,

    /// Time between lines of progress where there is no terminal; 5s unless given.
    #[arg(long, value_name = "TIME", value_parser = interval_ms)]
    pub(super) status_interval: Option<u64>,

    /// Show progress as plain lines, also on a terminal.
    #[arg(long, conflicts_with = "no_progress")]
    pub(super) progress: bool,

    /// Show no progress.
    #[arg(long)]
    pub(super) no_progress: bool,

    #[command(flatten)]
    pub(super) keep: KeepArgs,
}

/// Permissions to do harm.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub(super) struct SafetyArgs {
    /// Write to block devices that are mounted. What is on them is lost.
    #[arg(long)]
    pub(super) allow_mounted_write: bool,

    /// Write to block devices that hold a partition table or file system. It is lost.
    #[arg(long)]
    pub(super) overwrite_filesystem: bool,

    /// Refuse jobs that change anything: that write, trim, make or remove.
    #[arg(long)]
    pub(super) readonly: bool,

    /// Run the commands that files want to run, such as Vdbench's startcmd= and endcmd=.
    #[arg(long)]
    pub(super) allow_commands: bool,
}

/// Shortest time between lines of progress.
const INTERVAL_MS_MIN: u128 = 100;

fn interval_ms(text: &str) -> Result<u64, String> {
    let interval = units::parse_duration(text).map_err(|error| error.to_string())?;
    if interval.as_millis() < INTERVAL_MS_MIN {
        return Err(format!("the shortest is {INTERVAL_MS_MIN}ms"));
    }
    u64::try_from(interval.as_millis()).map_err(|_| "too long".to_owned())
}

/// Runs the plan, on this machine's files or on emulated volumes, and prints the result.
pub(super) fn run(
    plan: &Plan,
    emulation: Option<Emulation>,
    result: &ResultArgs,
    safety: SafetyArgs,
) -> Result<Exit, Failure> {
    let mut sink = Sink::open(result.output.as_deref())?;
    let options = RunOptions {
        command: command(),
        allow_mounted: safety.allow_mounted_write,
        read_only: safety.readonly,
        overwrite_filesystem: safety.overwrite_filesystem,
        forbid_uring: forbids_uring(),
        allow_commands: safety.allow_commands,
        status_interval_ms: result.status_interval.unwrap_or(0),
        report_interval_ms: result.keep.report_interval_ms(emulation.as_ref()),
        emulation,
        ..RunOptions::default()
    };
    let record = measure(plan, &options, result)?;
    let text = if result.json {
        record.to_json()
    } else if result.fio_json {
        let now = clock::report_time();
        json(&record, JsonOptions { plus: false, version: COMPAT_VERSION, now })
    } else {
        summary::summary(&record)
    };
    let mut written = sink.write(&text);
    if !sink.is_stdout() && (result.json || result.fio_json) {
        written = written.and_then(|()| stream::print(&summary::summary(&record)));
    }
    exit(&record).once(written)
}

/// Runs the plan while progress is shown and signals are heard.
fn measure(plan: &Plan, options: &RunOptions, result: &ResultArgs) -> Result<Record, Failure> {
    let when = match (result.no_progress, result.progress) {
        (true, _) => When::Never,
        (_, true) => When::Plain,
        _ => When::Auto,
    };
    let control = Arc::new(Control::new());
    let signals = Signals::listen(&control);
    let mut progress = Progress::new(when, result.status_interval);
    let mut is_told = false;
    let mut kept = Kept::begin(&result.keep, options, plan);
    let outcome = runner::run(plan, options, &control, &mut |event| {
        if signals.last().is_some() && !is_told {
            is_told = true;
            progress.tell("stopping; a second signal stops at once\n");
        }
        progress.event(&event);
        kept.event(&event);
    });
    drop(progress);
    match outcome {
        Ok(record) => {
            kept.finish(&record);
            Ok(record)
        }
        Err(RunError::Refused(findings)) => {
            kept.forget();
            let findings: Vec<_> = findings.iter().collect();
            diagnostics::tell(&findings, Texts { sources: &plan.sources, command_line: "" });
            Err(Failure::silent(Exit::WrongUse))
        }
    }
}

/// Returns what the record says about the run as an exit code.
fn exit(record: &Record) -> Exit {
    match record.outcome {
        Outcome::Failed => Exit::RunFailed,
        Outcome::Interrupted => Exit::Interrupted,
        Outcome::Complete => {
            let is_bad = record.notes.iter().any(|note| note.severity == NoteSeverity::Error);
            if is_bad { Exit::Invalid } else { Exit::Fine }
        }
    }
}

/// Returns the command and its arguments, for the record.
pub(super) fn command() -> Vec<String> {
    std::env::args_os().map(|arg| arg.to_string_lossy().into_owned()).collect()
}

/// Says whether the environment forbids `io_uring`.
pub(super) fn forbids_uring() -> bool {
    env::FORBID_URING.get().is_some_and(|value| value != "0" && !value.is_empty())
}
