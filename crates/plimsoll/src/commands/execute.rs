//! Runs a plan with progress and prints what came out: the part that `run` and `demo` share.

use std::sync::Arc;
use std::time::Duration;

use analysis::Rules;
use analysis::assess::Standing;
use dialects::fio::output::{COMPAT_VERSION, JsonOptions, json};
use fleet::run::{Fleet, FleetError, FleetEvent, ReportCause};
use fleet::stops::Stops;
use plan::{Diagnostic, Plan};
use record::{LOG_FAILED, LOG_INCOMPLETE, Note, Outcome, Record};
use runner::{Control, Emulation, NO_MEMORY, RunError, RunEvent, RunOptions};

use super::follow::{FollowArgs, Follower};
use super::hosts;
use super::judge::judge;
use super::keep::{KeepArgs, Keeper};
use crate::clock::Stopwatch;
use crate::diagnostics::{self, Texts};
use crate::exit::{Exit, Failure};
use crate::progress::{Progress, ProgressMode};
use crate::signals::Signals;
use crate::sink::Sink;
use crate::{clock, env, stream, summary};

/// What is printed, and where.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Results")]
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

    #[command(flatten)]
    pub(super) follow: FollowArgs,

    /// Results are printed otherwise; the summary, only where they are not to be trusted.
    #[arg(skip)]
    pub(super) is_quiet: bool,
}

/// Permissions to do harm.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
#[command(next_help_heading = "Safety")]
pub(super) struct SafetyArgs {
    /// Write to block devices that are mounted. Their contents are lost.
    #[arg(long)]
    pub(super) allow_mounted_write: bool,

    /// Write to block devices that hold a partition table or file system. The contents are lost.
    #[arg(long)]
    pub(super) overwrite_filesystem: bool,

    /// Refuse everything that changes something: jobs that write, trim, create, extend or remove
    /// files; commands; settings of the host; results and logs in the place of a file that is
    /// there.
    #[arg(long, conflicts_with_all = ["allow_mounted_write", "overwrite_filesystem"])]
    pub(super) readonly: bool,

    /// Run the commands in files, such as exec_prerun= of fio and startcmd= of Vdbench.
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
    let options = options(emulation, result, safety);
    run_judged(plan, &options, result, &Rules::default(), &mut |_| Ok(()))
}

/// What is done with a record besides printing it.
pub(super) type Then<'a> = dyn FnMut(&Record) -> Result<(), Failure> + 'a;

/// Does the same with options, and rules for the verdicts, of the caller's, and `then` something
/// with what came out.
pub(super) fn run_judged(
    plan: &Plan,
    options: &RunOptions,
    result: &ResultArgs,
    rules: &Rules,
    then: &mut Then<'_>,
) -> Result<Exit, Failure> {
    run_by(plan, options, result, rules, then, &mut |session| session.measure(plan, options))
}

/// Runs the plan on other hosts, and prints what they did together.
pub(super) fn run_on_hosts(
    fleet: &Fleet,
    plan: &Plan,
    options: &RunOptions,
    result: &ResultArgs,
    rules: &Rules,
    then: &mut Then<'_>,
) -> Result<Exit, Failure> {
    run_by(plan, options, result, rules, then, &mut |session| session.measure_on(fleet, plan))
}

/// Runs the plan in the way that `measure` has, keeps what came out, and prints it.
fn run_by(
    plan: &Plan,
    options: &RunOptions,
    result: &ResultArgs,
    rules: &Rules,
    then: &mut Then<'_>,
    measure: &mut dyn FnMut(&mut Session) -> Result<Record, Failure>,
) -> Result<Exit, Failure> {
    let mut sink = Sink::open_beside(result.output.as_deref(), plan, options.read_only)?;
    if result.follow.takes_stdout() && sink.is_stdout() && (result.json || result.fio_json) {
        let text = "`--json-stream` and the result would both be on standard output";
        return Err(Failure::wrong_use(text)
            .hint("write one of them to a file: --json-stream=FILE, or --output FILE"));
    }
    let mut session = Session::begin(plan, options, result, "")?;
    session.rules = *rules;
    let record = measure(&mut session)?;
    let is_kept = session.finish(&record);
    // None of the two is lost because the other cannot be written.
    let printed = print(&record, result, &mut sink);
    then(&record)?;
    printed.map(|exit| exit.if_kept(is_kept))
}

/// Reports everything that would keep a plan from running; nothing is run or written.
pub(super) fn check(plan: &Plan, options: &RunOptions, result: &ResultArgs) -> Result<(), Failure> {
    drop(Sink::open_beside(result.output.as_deref(), plan, options.read_only)?);
    check_plan(plan, options)
}

/// The same, whatever is done with the result.
pub(super) fn check_plan(plan: &Plan, options: &RunOptions) -> Result<(), Failure> {
    runner::check(plan, options)
        .map_err(|RunError::Refused { findings, .. }| refused(plan, &findings))
}

/// Reports why a plan was refused.
fn refused(plan: &Plan, findings: &[Diagnostic]) -> Failure {
    let reported: Vec<_> = findings.iter().collect();
    diagnostics::print_all(&reported, Texts { sources: &plan.sources, command_line: "" });
    // The same plan would run on a larger host.
    let lacks_memory = findings.iter().any(|finding| finding.code == NO_MEMORY);
    Failure::silent(if lacks_memory { Exit::RunFailed } else { Exit::WrongUse })
}

/// Returns what is decided besides the plan.
pub(super) fn options(
    emulation: Option<Emulation>,
    result: &ResultArgs,
    safety: SafetyArgs,
) -> RunOptions {
    RunOptions {
        command: command(),
        allow_mounted: safety.allow_mounted_write,
        read_only: safety.readonly,
        overwrite_filesystem: safety.overwrite_filesystem,
        forbid_uring: forbids_uring(),
        allow_commands: safety.allow_commands,
        status_interval_ms: result.status_interval.unwrap_or(0),
        report_interval_ms: result.keep.report_interval_ms(emulation.as_ref()),
        follows_jobs: result.follow.is_asked(),
        emulation,
        ..RunOptions::default()
    }
}

/// Prints a record as asked for, and returns what it says as an exit code.
pub(super) fn print(
    record: &Record,
    result: &ResultArgs,
    sink: &mut Sink,
) -> Result<Exit, Failure> {
    let text = if result.json {
        record.to_json()
    } else if result.fio_json {
        let now = clock::report_time();
        json(record, JsonOptions { plus: false, version: COMPAT_VERSION, now })
    } else {
        summary_beside(record)
    };
    // Standard output may be that of lines of JSON, the last of them with the outcome.
    let show = |text: &str| {
        if result.follow.takes_stdout() {
            stream::print_message(text);
            return Ok(());
        }
        stream::print(text)
    };
    if result.is_quiet {
        if exit(record) != Exit::Fine {
            stream::print_message(&summary_beside(record));
        }
        let written = if sink.is_stdout() { Ok(()) } else { sink.write(&text) };
        return exit(record).once(written);
    }
    if sink.is_stdout() {
        return exit(record).once(show(&text));
    }
    let mut written = sink.write(&text);
    if result.json || result.fio_json {
        written = written.and_then(|()| show(&summary_beside(record)));
    }
    exit(record).once(written)
}

/// Returns a run's summary without the notes that stand above it already.
fn summary_beside(record: &Record) -> String {
    let is_shown = |note: &Note| diagnostics::was_printed_there(&note.message);
    if !record.notes.iter().any(is_shown) {
        return summary::summary(record);
    }
    let mut record = record.clone();
    record.notes.retain(|note| !is_shown(note));
    summary::summary(&record)
}

/// What to do at an event of a run, by decision of the caller.
pub(super) enum EventReply {
    /// Nothing.
    Nothing,
    /// This is printed.
    Tell(String),
    /// This is printed, and the steps after the one that has ended are left out.
    EndWith(String),
    /// This is stored, in place of what was stored before.
    Keep(Box<Record>),
}

/// What has hosts run something, until it is asked to end, and says what happens.
pub(super) type RunOnHosts<'a> =
    dyn FnMut(&Stops, &mut dyn FnMut(FleetEvent<'_>)) -> Result<Record, FleetError> + 'a;

/// The runs of one command: progress is shown, signals are heard, and what comes is kept.
#[derive(Debug)]
pub(super) struct Session {
    control: Arc<Control>,
    signals: Signals,
    progress: Progress,
    kept: Keeper,
    follower: Option<Follower>,
    /// What happens during a run is kept as it happens.
    is_followed: bool,
    /// An unfinished series is stored now and then; in virtual time it is quick to repeat.
    keeps_series: bool,
    /// When it was kept last.
    kept_last: Option<Stopwatch>,
    has_said_stopping: bool,
    /// Progress is wanted.
    shows_progress: bool,
    /// What runs are judged by.
    rules: Rules,
}

/// Time between two records of a series: what a killed one loses at most.
const KEEP_INTERVAL: Duration = Duration::from_secs(2);

impl Session {
    /// Begins one of several runs, whose common record is kept with [`Session::keep`]. `about` says
    /// what they measure.
    pub(super) fn begin_series(
        plan: &Plan,
        options: &RunOptions,
        result: &ResultArgs,
        about: &str,
    ) -> Result<Self, Failure> {
        if result.follow.takes_stdout() {
            let text = "`--json-stream` needs a file here: standard output has the answer";
            return Err(Failure::wrong_use(text).hint("write --json-stream=FILE"));
        }
        let session = Session::begin(plan, options, result, about)?;
        Ok(Session { is_followed: false, ..session })
    }

    /// Begins. The plan is what is kept of the command's runs.
    pub(super) fn begin(
        plan: &Plan,
        options: &RunOptions,
        result: &ResultArgs,
        about: &str,
    ) -> Result<Self, Failure> {
        let when = match (result.no_progress, result.progress) {
            _ if result.follow.takes_terminal() => ProgressMode::Never,
            (true, _) => ProgressMode::Never,
            (_, true) => ProgressMode::Plain,
            _ => ProgressMode::Auto,
        };
        let control = Arc::new(Control::new());
        Ok(Session {
            signals: Signals::listen(&control)?,
            progress: Progress::new(when, result.status_interval),
            kept: Keeper::begin(&result.keep, options, plan, about),
            follower: Follower::begin(&result.follow, plan, options, &control)?,
            control,
            is_followed: true,
            keeps_series: options.report_interval_ms.is_some(),
            kept_last: None,
            has_said_stopping: false,
            shows_progress: !result.no_progress,
            rules: Rules::default(),
        })
    }

    /// Runs a plan, and judges what came out. One that is refused is not kept.
    pub(super) fn measure(&mut self, plan: &Plan, options: &RunOptions) -> Result<Record, Failure> {
        self.measure_with(plan, options, &mut |_| EventReply::Nothing)
    }

    /// Runs a plan, and calls the caller with each event.
    pub(super) fn measure_with(
        &mut self,
        plan: &Plan,
        options: &RunOptions,
        also: &mut dyn FnMut(&RunEvent<'_>) -> EventReply,
    ) -> Result<Record, Failure> {
        let Session {
            control,
            signals,
            progress,
            kept,
            follower,
            is_followed,
            has_said_stopping,
            rules,
            ..
        } = self;
        if let Some(it) = follower {
            it.begin_run(plan);
        }
        let outcome = runner::run(plan, options, control, &mut |event| {
            say_stopping(signals, has_said_stopping, progress);
            progress.event(&event);
            if let Some(it) = follower {
                it.event(&event);
            }
            if let RunEvent::StatusAsked(record) = &event {
                progress.print(&summary::summary(record));
            }
            kept.follow(*is_followed, &event);
            match also(&event) {
                EventReply::Nothing => {}
                EventReply::Tell(text) => progress.print(&text),
                EventReply::EndWith(text) => {
                    progress.print(&text);
                    control.request_end_after_step();
                }
                EventReply::Keep(record) => kept.event(&RunEvent::Report(&record)),
            }
        });
        let findings = match outcome {
            Ok(mut record) => {
                judge(&mut record, rules);
                return Ok(record);
            }
            Err(RunError::Refused { findings, .. }) => findings,
        };
        progress.print("");
        if self.kept_last.is_none() {
            std::mem::take(kept).forget();
        }
        Err(refused(plan, &findings))
    }

    /// Runs the plan on other hosts, and judges what came out, of each host and of all.
    pub(super) fn measure_on(&mut self, fleet: &Fleet, plan: &Plan) -> Result<Record, Failure> {
        let names = fleet.launcher.names();
        self.measure_by(names, plan, &mut |stops, on_event| fleet.run(stops, on_event))
            .map_err(hosts::failure)
    }

    /// Does the same with what `run` has hosts of these names do.
    pub(super) fn measure_by(
        &mut self,
        names: Vec<String>,
        plan: &Plan,
        run: &mut RunOnHosts<'_>,
    ) -> Result<Record, FleetError> {
        let Session {
            control,
            signals,
            progress,
            kept,
            follower,
            is_followed,
            has_said_stopping,
            rules,
            ..
        } = self;
        if let Some(follower) = follower {
            follower.set_hosts(names);
            follower.begin_run(plan);
        }
        let stops = hosts::stops_of(control);
        let mut teller = hosts::Teller::default();
        let started = Stopwatch::start();
        let outcome = run(&stops, &mut |event| {
            say_stopping(signals, has_said_stopping, progress);
            match event {
                FleetEvent::Lobby(news) => progress.print(&hosts::came(news)),
                FleetEvent::News(news, names) => teller.tell(news, names, progress),
                FleetEvent::TakenBack(n_agents, seconds) => {
                    progress.print(&hosts::taken_back(n_agents, seconds));
                }
                FleetEvent::LedgerFailed(error) => {
                    progress.print(&format!("warning: the run cannot be resumed: {error}\n"));
                }
                FleetEvent::Interval(interval) => {
                    let elapsed_ns =
                        u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX);
                    let status = hosts::status_of(interval, plan, elapsed_ns);
                    progress.event(&RunEvent::Status(&status));
                    kept.follow(*is_followed, &RunEvent::Interval(interval));
                    if let Some(it) = follower {
                        it.interval_of_hosts(interval);
                    }
                }
                FleetEvent::Report(record, cause) => {
                    kept.follow(*is_followed, &RunEvent::Report(record));
                    if let (Some(it), ReportCause::Second) = (&mut *follower, cause) {
                        it.record_of_hosts(record);
                    }
                }
            }
        });
        progress.print("");
        match outcome {
            Ok(mut record) => {
                if let Some(it) = follower {
                    it.end_of_hosts(&record);
                }
                judge_hosts(&mut record, rules);
                Ok(record)
            }
            Err(error) => {
                if self.kept_last.is_none() {
                    std::mem::take(kept).forget();
                }
                Err(error)
            }
        }
    }

    /// Returns whether a signal asked for the end.
    pub(super) fn is_stopped(&self) -> bool {
        self.control.stop() != runner::Stop::No
    }

    /// Says something between two runs.
    pub(super) fn print(&self, text: &str) {
        self.progress.print(text);
    }

    /// Says a note of the record at once.
    pub(super) fn print_note(&self, note: &Note) {
        self.progress.print_note(note);
    }

    /// Prints how far a series has come between two of its runs, unless no progress is wanted.
    pub(super) fn print_progress(&self, text: &str) {
        if self.shows_progress {
            self.progress.print(text);
        }
    }

    /// Returns whether it is time to keep what there is: a long series is not written anew for
    /// every one of its measurements.
    pub(super) fn is_due(&self) -> bool {
        let is_old = |last: Stopwatch| last.elapsed() >= KEEP_INTERVAL;
        self.keeps_series && self.kept_last.is_none_or(is_old)
    }

    /// Keeps what there is so far.
    pub(super) fn keep(&mut self, record: &Record) {
        self.kept_last = Some(Stopwatch::start());
        self.kept.event(&RunEvent::Report(record));
    }

    /// Ends, and keeps the record. Returns false where that, or lines of it, were asked for and
    /// could not be written.
    #[must_use]
    pub(super) fn finish(self, record: &Record) -> bool {
        drop(self.progress);
        let is_followed = self.follower.is_none_or(|follower| follower.end(record));
        let stored = self.kept.finish(record);
        is_followed && stored.is_as_asked
    }
}

/// Says once that a signal came.
fn say_stopping(signals: &Signals, has_said: &mut bool, progress: &mut Progress) {
    if signals.last().is_some() && !*has_said {
        *has_said = true;
        progress.print("stopping; a second signal stops at once\n");
    }
}

/// Judges what came out of several hosts: each, and all together.
pub(super) fn judge_hosts(record: &mut Record, rules: &Rules) {
    for host in &mut record.hosts {
        judge(&mut host.record, rules);
    }
    judge(record, rules);
}

/// Returns what the record says about the run as an exit code.
fn exit(record: &Record) -> Exit {
    match record.outcome {
        Outcome::Complete if lacks_logs(record) => Exit::RunFailed,
        Outcome::Failed => Exit::RunFailed,
        Outcome::Partial => Exit::Invalid,
        Outcome::Interrupted => Exit::Interrupted,
        Outcome::Complete => match Standing::of(record) {
            Standing::Sound | Standing::Caution => Exit::Fine,
            Standing::NotMet => Exit::Missed,
            Standing::CannotTell | Standing::Invalid => Exit::Invalid,
        },
    }
}

/// Returns whether a log that was asked for could not be written, or not all of it.
pub(super) fn lacks_logs(record: &Record) -> bool {
    record.notes.iter().any(|note| [LOG_FAILED, LOG_INCOMPLETE].contains(&&*note.code))
}

/// Returns the command and its arguments, for the record.
pub(super) fn command() -> Vec<String> {
    std::env::args_os().map(|arg| arg.to_string_lossy().into_owned()).collect()
}

/// Returns whether the environment forbids `io_uring`.
pub(super) fn forbids_uring() -> bool {
    env::FORBID_URING.get().is_some_and(|value| value != "0" && !value.is_empty())
}
