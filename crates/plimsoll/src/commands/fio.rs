//! `plimsoll fio`, and the program under the name `fio`: fio's command line, output and exit codes.
//!
//! What belongs to the report goes to the output, which a script reads: only reports in the formats
//! asked for, and in the normal format what fio itself prints there. Standard error stays empty
//! unless something is wrong, because scripts treat any text there as a failure.

mod client;
mod eta;
mod place;
pub(super) mod report;
mod server;
mod status_file;

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

use analysis::Rules;
use dialects::Parsed;
use dialects::fio::output::{COMPAT_VERSION, packed_log};
use dialects::fio::{self, CommandLine, Switches};
use plan::files::Size;
use plan::{Diagnostic, Job, Plan, Severity, param};
use record::{Outcome, Record};
use runner::{Control, READ_ONLY_LAYOUT, RunError, RunEvent, RunOptions};

use super::judge::judge;
use super::{execute, input};
use crate::diagnostics::{self, Texts};
use crate::exit::{Exit, Failure};
use crate::limited;
use crate::loader::HostLoader;
use crate::signals::Signals;
use crate::sink::Sink;
use crate::stream;

use report::FioSession;
use status_file::StatusFile;
use units::system_text;

/// Behave as fio: its command line, its output, its exit codes
#[derive(Debug, clap::Args)]
#[command(disable_help_flag = true, after_help = EXAMPLES)]
pub(super) struct Args {
    /// fio's arguments; `--help` lists them.
    #[arg(value_name = "ARGS", trailing_var_arg = true, allow_hyphen_values = true)]
    pub(super) args: Vec<OsString>,
}

const EXAMPLES: &str = "\
A link named `fio` to this program does the same. Exit codes are fio's: 1 for a
mistake, else the number of failed jobs, 128 after a signal.

Examples:
  plimsoll fio --name=8krandomreads --rw=randread --direct=1 --ioengine=libaio \\
    --bs=8k --numjobs=4 --iodepth=128 --size=4G --runtime=600 --group_reporting
  plimsoll fio --output-format=json --output=out.json job.fio
  ln -s $(which plimsoll) /usr/local/bin/fio";

const FAILED: Exit = Exit::Fio(1);
const SIGNALLED: Exit = Exit::Fio(128);

/// Runs fio's command line, without the program's name.
pub(super) fn run(args: &[OsString]) -> Result<Exit, Failure> {
    let args: Vec<String> = args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect();
    let CommandLine { switches, parsed, showcmd } = fio::parse_args(&args, &HostLoader);
    if let Some(exit) = answer(&switches)? {
        return Ok(exit);
    }
    let joined = args.join(" ");
    let texts = Texts { sources: &parsed.plan.sources, command_line: &joined };
    if is_wrong(&parsed.diagnostics, &switches) {
        print_mistakes(&parsed.diagnostics, texts);
        return Ok(FAILED);
    }
    if switches.parse_only {
        return Ok(Exit::Fio(0));
    }
    if switches.showcmd {
        stream::print(&showcmd)?;
        return Ok(Exit::Fio(0));
    }
    if let Some(exit) = elsewhere(&switches, &parsed, &joined)? {
        return Ok(exit);
    }
    if parsed.plan.jobs().next().is_none() && parsed.refusals.iter().any(|it| it.code == "no-jobs")
    {
        stream::print(&help())?;
        stream::print_message("No job(s) defined\n");
        return Ok(FAILED);
    }
    if is_wrong(&parsed.refusals, &switches) {
        print_mistakes(&parsed.refusals, texts);
        return Ok(FAILED);
    }
    let options = run_options(&switches);
    let unsized_jobs = parsed.plan.jobs().filter(|job| lacks_size(job));
    let findings: Vec<Diagnostic> = unsized_jobs.map(size_unknown).collect();
    if !findings.is_empty() {
        print_mistakes(&findings, texts);
        return Ok(exit_of_unsized(&parsed.plan, &options));
    }
    measure(&switches, &parsed, &options, texts)
}

/// Does what runs on other hosts, or for them.
fn elsewhere(
    switches: &Switches,
    parsed: &Parsed,
    command_line: &str,
) -> Result<Option<Exit>, Failure> {
    let wrong = |text: &str| Err(Failure::wrong_use(text).with(FAILED));
    match (&switches.server, switches.clients.is_empty()) {
        (Some(_), false) => wrong("`--server` waits for clients, and `--client` is one: give one"),
        (Some(at), true) => match &switches.daemonize {
            Some(pid_file) => server::daemonize(switches, at, pid_file).map(Some),
            None => server::serve(switches, at).map(Some),
        },
        (None, _) if switches.daemonize.is_some() => {
            wrong("`--daemonize` is for a server: write `--server` beside it")
        }
        (None, true) => Ok(None),
        (None, false) => {
            let options = run_options(switches);
            client::run(switches, parsed.clone(), &options, command_line).map(Some)
        }
    }
}

/// Returns whether a job moves nothing, without an end: `run` takes it, by its time.
fn lacks_size(job: &Job) -> bool {
    let files = &job.files;
    let has_size =
        files.file_size_bytes.is_some() || !matches!(files.size, None | Some(Size::Bytes(0)));
    job.engine.kind.is_idle()
        && job.logs.read_replay.is_empty()
        && files.names.iter().all(|name| !Path::new(name).exists())
        && !has_size
}

/// Returns fio's message for such a job.
fn size_unknown(job: &Job) -> Diagnostic {
    let text = format!("{}: you need to specify size=", job.name);
    Diagnostic::error("size-unknown", text)
}

/// Returns fio's exit code for a plan with such jobs: the others may not be able to start, either.
fn exit_of_unsized(plan: &Plan, options: &RunOptions) -> Exit {
    let of_unsized = plan.jobs().filter(|job| lacks_size(job));
    let n_unsized: u64 = of_unsized.map(|job| u64::from(job.n_workers)).sum();
    let mut others = plan.clone();
    others.steps.iter_mut().for_each(|step| step.jobs.retain(|job| !lacks_size(job)));
    let n_others = match runner::check(&others, options) {
        Ok(()) => 0,
        Err(RunError::Refused { n_workers, .. }) => n_workers,
    };
    exit_of_refused(plan, n_unsized + n_others)
}

/// Returns fio's exit code for a plan of which so many workers cannot start. A folder of
/// `directory=` that is missing is a mistake of the file.
fn exit_of_refused(plan: &Plan, n_workers: u64) -> Exit {
    let is_folder = |name: &String| Path::new(name).is_dir();
    let mut here = plan.jobs().filter(|job| !job.engine.kind.is_remote());
    if !here.all(|job| job.files.directories.iter().all(is_folder)) {
        return FAILED;
    }
    Exit::Fio(u8::try_from(n_workers.max(1)).unwrap_or(u8::MAX))
}

/// Answers the switches that only ask for something.
fn answer(switches: &Switches) -> Result<Option<Exit>, Failure> {
    if switches.help {
        stream::print(&help())?;
    } else if switches.version {
        stream::print(&format!("{COMPAT_VERSION}\n"))?;
    } else if let Some(name) = &switches.cmdhelp {
        let name = if name.is_empty() { "all" } else { name };
        stream::print(&param::cmdhelp(name))?;
    } else if let Some(what) = &switches.enghelp {
        match fio::enghelp(what) {
            Ok(text) => stream::print(&text)?,
            Err(message) => {
                stream::print(&format!("{message}\n"))?;
                return Ok(Some(FAILED));
            }
        }
    } else if let Some(path) = &switches.inflate_log {
        return inflate(path).map(Some);
    } else {
        return Ok(None);
    }
    Ok(Some(Exit::Fio(0)))
}

/// Prints the lines of a compressed log as they are unpacked, which is as they are read.
fn inflate(path: &str) -> Result<Exit, Failure> {
    let (mut written, mut unread) = (Ok(()), None);
    let unpacked = limited::open(Path::new(path)).map_err(system_text).and_then(|(mut from, _)| {
        let mut read = |piece: &mut [u8]| {
            from.read(piece).unwrap_or_else(|error| {
                unread = Some(system_text(error));
                0
            })
        };
        let mut take = |lines: &str| {
            written = stream::print(lines);
            written.is_ok()
        };
        packed_log::unpack_to(&mut read, &mut take).map_err(|error| error.to_string())
    });
    match unread.map_or(unpacked, Err) {
        Ok(()) => Exit::Fio(0).once(written),
        Err(error) => {
            stream::print_message(&format!("fio: log `{path}`: {error}\n"));
            Ok(FAILED)
        }
    }
}

fn help() -> String {
    format!("{COMPAT_VERSION}\n{}", fio::usage())
}

fn is_wrong(findings: &[Diagnostic], switches: &Switches) -> bool {
    let fatal = if switches.warnings_fatal { Severity::Warning } else { Severity::Error };
    findings.iter().any(|finding| finding.severity >= fatal)
}

/// Prints mistakes only; notes would hide them.
fn print_mistakes(findings: &[Diagnostic], texts: Texts<'_>) {
    let wrong: Vec<&Diagnostic> =
        findings.iter().filter(|finding| finding.severity > Severity::Note).collect();
    diagnostics::print_all(&wrong, texts);
}

/// Returns what is decided besides the plan.
fn run_options(switches: &Switches) -> RunOptions {
    RunOptions {
        command: execute::command(),
        read_only: switches.readonly,
        counts_refused: true,
        allow_mounted: switches.allow_mounted_write,
        overwrite_filesystem: switches.overwrite_filesystem,
        forbid_uring: execute::forbids_uring(),
        create_parents: true,
        // As fio: several programs work on one device on purpose.
        shares_devices: true,
        // As fio: who names the file trusts it.
        allow_commands: true,
        aux_dir: switches.aux_path.clone().map(Into::into),
        status_interval_ms: switches.eta_interval_ms,
        report_interval_ms: switches.status_interval_ms,
        bandwidth_log: switches.bandwidth_log.clone().map(|prefix| match prefix.as_str() {
            "" => "agg".to_owned(),
            _ => prefix,
        }),
        ..RunOptions::default()
    }
}

fn measure(
    switches: &Switches,
    parsed: &Parsed,
    options: &RunOptions,
    texts: Texts<'_>,
) -> Result<Exit, Failure> {
    let control = Arc::new(Control::new());
    let signals = Signals::listen(&control).map_err(|failure| failure.with(FAILED))?;
    let output = switches.output.as_deref();
    let sink = Sink::open_beside(output, &parsed.plan, switches.readonly)
        .map_err(|failure| failure.with(FAILED))?;
    let mut session = FioSession::new(switches, &parsed.plan, sink);
    session.start(&input::findings(parsed), texts)?;
    let _status_file = StatusFile::watch(&control);
    let mut n_failed = 0;
    let outcome = runner::run(&parsed.plan, options, &control, &mut |event| {
        if let RunEvent::StepEnded { jobs, .. } = &event {
            // One each, before a group becomes one entry.
            n_failed += jobs.iter().filter(|job| job.error_errno != 0).count();
        }
        session.signal(signals.last());
        session.event(&event);
    });
    session.signal(signals.last());
    let record = match outcome {
        Ok(mut record) => {
            judge(&mut record, &Rules::default());
            record
        }
        Err(RunError::Refused { findings, n_workers }) => {
            if findings.iter().any(|finding| finding.code == READ_ONLY_LAYOUT) {
                stream::print_message("fio: refusing extend of file due to read-only\n");
            }
            print_mistakes(&findings, texts);
            return Ok(exit_of_refused(&parsed.plan, n_workers));
        }
    };
    exit(&record, n_failed).once(session.finish(&record))
}

/// Returns fio's exit code, the number of failed workers as far as a byte goes; or 1 where logs are
/// lost, which fio does not count.
fn exit(record: &Record, n_failed: usize) -> Exit {
    match record.outcome {
        Outcome::Interrupted => SIGNALLED,
        Outcome::Complete if execute::lacks_logs(record) => Exit::Fio(1),
        Outcome::Complete => Exit::Fio(0),
        Outcome::Failed | Outcome::Partial => {
            Exit::Fio(u8::try_from(n_failed.max(1)).unwrap_or(u8::MAX))
        }
    }
}

#[cfg(test)]
mod tests {
    use record::{LOG_INCOMPLETE, Note, NoteSeverity};

    use super::*;

    #[test]
    fn lost_logs_reach_the_exit_code() {
        let note = |code: &str| Note {
            severity: NoteSeverity::Error,
            code: code.to_owned(),
            message: "log `a` ends early".to_owned(),
        };
        let of = |notes| exit(&Record { notes, ..Record::default() }, 0);
        assert!(matches!(of(vec![]), Exit::Fio(0)));
        assert!(matches!(of(vec![note(LOG_INCOMPLETE)]), Exit::Fio(1)));
    }
}
