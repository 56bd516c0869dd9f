//! `plimsoll agent`: runs this host's part of a load, for a controller on another one.

mod inspect;
mod relay;

use std::collections::BTreeSet;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dialects::native::Native;
use dialects::{Dialect as _, LowerOptions, Overrides, Parsed, ReadPlan, Request, fio};
use fleet::agent::{Agent, EndReason, Event, ORPHAN_NS};
use fleet::net::dial::{Line, LineNews, Ways, dial};
use fleet::serve::{Runs, ServeError, serve, serve_line};
use fleet::token::Token;
use fleet::wire::{Assignment, Inspect, Said};
use plan::load::Share;
use plan::{Diagnostic, Plan, Severity};
use record::NoteSeverity;
use runner::{Control, DetailedIntervals, RunError, RunEvent, RunOptions, Stop};
use tokio::sync::Notify;

use super::dial_in::{address, no_token};
use super::execute;
use super::fio::report::{layout, note_line};
use super::hosts::host_name;
use super::validate;
use crate::exit::{Exit, Failure};
use crate::loader::{HostLoader, ReadOnce};
use crate::signals::Signals;
use crate::stream;

/// Run this host's part of a load, as a controller says
///
/// `plimsoll run --hosts` starts agents over ssh by itself. For `plimsoll run --agents` they are
/// started by srun, mpirun, Kubernetes or by hand, and dial in.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Dial the controller that listens there, `HOST:PORT`. Of several, with commas between them,
    /// the first that has room: relays, and the controller itself.
    #[arg(long, value_name = "ADDRESS", value_parser = address, value_delimiter = ',')]
    #[arg(requires = "token_file", required_unless_present = "stdio")]
    join: Vec<String>,

    /// Run no load; listen there for up to 256 agents, and forward their traffic to the controller
    /// over one connection.
    #[arg(long, value_name = "ADDRESS", value_parser = address, requires = "join")]
    relay: Option<String>,

    /// The controller's token. Only its owner may be able to use the file.
    #[arg(long, value_name = "FILE", requires = "join")]
    token_file: Option<PathBuf>,

    /// How long to wait for the controller.
    #[arg(long, value_name = "TIME", default_value = "5m", requires = "join")]
    #[arg(value_parser = units::parse_duration)]
    join_limit: Duration,

    /// Speak with the controller over standard input and output.
    #[arg(long, conflicts_with = "join", requires = "name")]
    stdio: bool,

    /// Name of this host in the controller's messages and results; the host's own unless given.
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// Run as fio does: folders of files are made where they are missing, and a device may be
    /// another program's, too.
    #[arg(long, hide = true)]
    as_fio: bool,

    /// Where the client of fio mode calls from, with its port.
    #[arg(long, hide = true, requires = "as_fio")]
    called_from: Option<String>,

    /// Remove this folder, and this program in it: it was sent here for one run.
    #[arg(long, value_name = "FOLDER", hide = true)]
    remove: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  plimsoll run job.fio --hosts vm1,vm[2-8]      starts this on each of the hosts
  srun -N 24 plimsoll agent --join 10.0.0.5:7420 --token-file t";

/// Time between two records that are sent, milliseconds.
const REPORT_INTERVAL_MS: u64 = 1000;

/// How generated names are built unless the job says.
const NAME_FORMAT: &str = "$jobname.$jobnum.$filenum";

/// What intervals hold where the controller wants all of it.
const DETAILED: DetailedIntervals = DetailedIntervals { interval_ns: 1_000_000_000, cpu: true };

/// The file that the controller's plan is read as.
const PLAN: &str = "<plan of the controller>";

/// Runs the command.
pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let failed = |text: String| Failure::wrong_use(text).with(Exit::RunFailed);
    if let Some(folder) = &args.remove {
        // At once: whatever ends this process, nothing is left. What cannot be removed stays.
        let _ = std::fs::remove_file(folder.join("plimsoll"));
        let _ = std::fs::remove_dir(folder);
    }
    let control = Arc::new(Control::new());
    let _signals = Signals::listen(&control)?;
    let token = args
        .token_file
        .as_deref()
        .map(Token::read)
        .transpose()
        .map_err(|error| no_token(&error))?;
    let ways = (!args.join.is_empty()).then(|| Ways::new(args.join.clone()));
    if let (Some(listen), Some(ways), Some(token)) = (&args.relay, &ways, &token) {
        return relay::run(args, listen, (ways, token), &control);
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| failed(format!("cannot wait for messages: {error}")))?;
    // By it the controller knows an agent that calls again: in pods, process numbers are alike.
    let incarnation = RandomState::new().build_hasher().finish();
    let version = env!("CARGO_PKG_VERSION").to_owned();
    let name = args.name.clone().unwrap_or_else(host_name);
    let runs = Arc::new(HostRuns {
        name: name.clone(),
        signals: Arc::clone(&control),
        has_begun: AtomicBool::new(false),
        now: Mutex::default(),
        was_sent: args.remove.is_some(),
        is_as_fio: args.as_fio,
        client: args.called_from.as_deref().and_then(client_address),
    });
    let asked = Arc::new(Notify::new());
    let (heard, of_signals) = (Arc::clone(&asked), Arc::clone(&runs));
    control.tell_stops(Box::new(move || {
        of_signals.now().control.request_stop();
        heard.notify_one();
    }));
    let new_agent = || Agent::new(name, version, incarnation, fleet::monotonic_ns());
    let served = runtime.block_on(async {
        if let (Some(ways), Some(token)) = (&ways, &token) {
            let joined = join(args, ways, token, new_agent, Arc::clone(&runs));
            tokio::select! {
                served = joined => served,
                () = interrupted(&runs, &asked) => Err("stopped before a run began".to_owned()),
            }
        } else {
            let io = tokio::io::join(tokio::io::stdin(), tokio::io::stdout());
            match serve(io, new_agent(), Arc::<HostRuns>::clone(&runs)).await {
                Err(error) if args.as_fio => {
                    stream::print_message(&client_is_gone(&error, runs.has_begun.load(Relaxed)));
                    Ok(())
                }
                served => served.map_err(|error| error.to_string()),
            }
        }
    });
    // A thread of it waits for standard input, which may never end.
    runtime.shutdown_background();
    let is_stopped = control.stop() != Stop::No && !runs.has_begun.load(Relaxed);
    let exit = if is_stopped { Exit::Interrupted } else { Exit::RunFailed };
    served.map(|()| Exit::Fine).map_err(|text| failed(text).with(exit))
}

/// Returns what a server of fio mode says of a client that is gone before its time: no error of
/// the server's, which waits for the next one.
fn client_is_gone(error: &ServeError, has_begun: bool) -> String {
    let jobs = if has_begun { "its jobs were ended" } else { "nothing was run for it" };
    match error {
        ServeError::Open(_)
        | ServeError::Ended(
            EndReason::Disconnected | EndReason::NotThere { .. } | EndReason::Barred { .. },
        ) => {
            format!("fio: the client is gone: {jobs}\n")
        }
        ServeError::Ended(EndReason::Silent { silence_s }) => {
            format!("fio: nothing came from the client for {silence_s} s: {jobs}\n")
        }
        ServeError::Ended(EndReason::Unwanted { reason }) => {
            format!("fio: the client says: {reason}\n")
        }
    }
}

/// Dials the controller, and serves it.
async fn join(
    args: &Args,
    ways: &Ways,
    token: &Token,
    new_agent: impl FnOnce() -> Agent,
    runs: Arc<HostRuns>,
) -> Result<(), String> {
    let waits = |reason: &str| stream::print_message(&waiting(ways, reason, args.join_limit));
    let session = dial(ways, token, args.join_limit, &waits).await;
    let session = session.map_err(|error| error.to_string())?;
    let says = |news: &LineNews| stream::print_message(&said(*news, &ways.text()));
    let line = Line { ways, token, says: &says };
    serve_line(session, new_agent(), runs, &line).await.map_err(|error| error.to_string())
}

/// Returns what is said while the controller is not there.
fn waiting(ways: &Ways, reason: &str, limit: Duration) -> String {
    let limit = units::format_duration(limit);
    let ways = ways.text();
    // What is to be started where, of several, is the user's to know.
    let listen = if ways.contains(',') { "ADDRESS" } else { &ways };
    format!(
        "waiting for the controller at {ways}: {reason}\n\
         trying for {limit} (--join-limit); there, start `plimsoll run` with `--agents N \
         --listen {listen}` and the same token file\n"
    )
}

/// Returns what is said of the connection to the controller.
fn said(news: LineNews, address: &str) -> String {
    match news {
        LineNews::Lost => {
            let limit_s = ORPHAN_NS / 1_000_000_000;
            format!("the connection to {address} ended: calling again, for {limit_s} s\n")
        }
        LineNews::Back(away) => {
            format!("connected to {address} again after {:.1} s\n", away.as_secs_f64())
        }
    }
}

/// Waits for a signal, as long as there is no run that heeds it.
async fn interrupted(runs: &HostRuns, asked: &Notify) {
    loop {
        asked.notified().await;
        if !runs.has_begun.load(Relaxed) {
            return;
        }
    }
}

/// Runs an agent's part on this host.
struct HostRuns {
    /// What the controller calls this host.
    name: String,
    /// What signals ask of the agent.
    signals: Arc<Control>,
    /// The controller has given something to do.
    has_begun: AtomicBool,
    /// The run that it has given last.
    now: Mutex<RunNow>,
    /// This program is not the one that is installed here.
    was_sent: bool,
    /// Runs are as fio's.
    is_as_fio: bool,
    /// The address of the client, where it has one.
    client: Option<IpAddr>,
}

/// A run that goes on.
#[derive(Default)]
struct RunNow {
    control: Arc<Control>,
    /// How often the controller has asked for its end.
    n_stops: u32,
}

impl HostRuns {
    fn now(&self) -> MutexGuard<'_, RunNow> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl HostRuns {
    /// Reads the plan, or the file of this host that has it.
    fn plan(&self, assignment: &Assignment) -> Result<Plan, Vec<String>> {
        let path = &assignment.plan_file;
        if path.is_empty() {
            return plan_of(assignment);
        }
        if !self.is_as_fio {
            return Err(vec![format!(
                "`{path}`: only `plimsoll fio --server` runs files of its own"
            )]);
        }
        let wishes =
            LowerOptions { sections: &[], readonly: assignment.read_only, overrides: None };
        let Parsed { mut plan, diagnostics, refusals } =
            fio::parse_file(path, &wishes, &HostLoader);
        let findings: Vec<Diagnostic> = diagnostics.into_iter().chain(refusals).collect();
        if findings.iter().any(|finding| finding.severity == Severity::Error) {
            let text = |text: String| format!("`{path}`: {text}");
            return Err(texts(&findings).into_iter().map(text).collect());
        }
        runner::draw_apart(&mut plan, assignment.host_idx);
        Ok(plan)
    }

    /// Returns how it is run here.
    fn options(&self, assignment: &Assignment) -> Result<RunOptions, String> {
        let validation =
            assignment.validation.as_ref().map(|it| validate::from_wire(it, &self.name));
        Ok(RunOptions {
            command: assignment.command.clone(),
            allow_mounted: assignment.allow_mounted,
            overwrite_filesystem: assignment.overwrite_filesystem,
            read_only: assignment.read_only,
            forbid_uring: execute::forbids_uring(),
            report_interval_ms: Some(REPORT_INTERVAL_MS),
            has_host_seconds: true,
            waits_for_start: true,
            create_parents: self.is_as_fio,
            shares_devices: self.is_as_fio,
            waits_for_turn: assignment.awaits_turn,
            detailed_intervals: assignment.is_detailed.then_some(DETAILED),
            validation: validation.transpose()?,
            ..RunOptions::default()
        })
    }
}

impl Runs for HostRuns {
    fn begin(&self) {
        let mut now = self.now();
        *now = RunNow::default();
        // A signal between two runs ends the next one.
        let n_signals = match self.signals.stop() {
            Stop::No => 0,
            Stop::Soon => 1,
            Stop::Now => 2,
        };
        (0..n_signals).for_each(|_| now.control.request_stop());
    }

    fn run(&self, assignment: &Assignment, tell: &dyn Fn(Event)) {
        self.has_begun.store(true, Relaxed);
        let mut plan = match self.plan(assignment) {
            Ok(plan) => plan,
            Err(findings) => return tell(Event::Refused(findings)),
        };
        if let Some(client) = self.client {
            name_after(client, &mut plan);
        }
        let (mut laid_out, is_as_fio) = (BTreeSet::new(), self.is_as_fio);
        let options = match self.options(assignment) {
            Ok(options) => options,
            Err(finding) => return tell(Event::Refused(vec![finding])),
        };
        let mut ended = None;
        let control = Arc::clone(&self.now().control);
        if assignment.validation.as_ref().is_some_and(|it| it.verifies_first) {
            let findings = validate::verified_first(&plan, &options, &control);
            if !findings.is_empty() {
                return tell(Event::Refused(findings));
            }
        }
        let outcome = runner::run(&plan, &options, &control, &mut |event| match event {
            RunEvent::Layout { job, done_bytes, total_bytes, .. } => {
                if is_as_fio && laid_out.insert(job.to_owned()) {
                    let text = layout(&plan, job, total_bytes);
                    tell(Event::Said(Said { text, is_error: false }));
                }
                tell(Event::Progress(done_bytes, total_bytes));
            }
            RunEvent::Note(note) if is_as_fio => {
                let is_error = note.severity == NoteSeverity::Error;
                tell(Event::Said(Said { text: note_line(note), is_error }));
            }
            RunEvent::StepReady { step_idx } => tell(Event::Ready(step_idx)),
            RunEvent::Report(record) => {
                tell(Event::Report(Box::new(record.clone())));
                if let Some(step_idx) = ended.take() {
                    tell(Event::StepEnded(step_idx));
                }
            }
            // Said once all that was measured in it is on its way.
            RunEvent::StepEnded { step_idx, .. } => ended = Some(step_idx),
            RunEvent::Note(_)
            | RunEvent::Paused { .. }
            | RunEvent::CommandEnded { .. }
            | RunEvent::StepSkipped { .. }
            | RunEvent::IoError(_)
            | RunEvent::StepStarted { .. }
            | RunEvent::Tree { .. }
            | RunEvent::TreeMade { .. }
            | RunEvent::OtherTree { .. }
            | RunEvent::Status(_)
            | RunEvent::JobsSoFar(_)
            | RunEvent::SeriesSoFar(_)
            | RunEvent::Interval(_)
            | RunEvent::StatusAsked(_) => {}
        });
        tell(match outcome {
            Ok(record) => Event::Ended(Box::new(record)),
            Err(RunError::Refused { findings, .. }) => Event::Refused(texts(&findings)),
        });
    }

    fn lay_out(&self, step_idx: u32) {
        self.now().control.lay_out_step(step_idx);
    }

    fn start_step(&self, step_idx: u32, at_ns: u64) {
        self.now().control.start_step(step_idx, at_ns);
    }

    fn stop(&self, is_now: bool) {
        let mut now = self.now();
        while now.n_stops < if is_now { 2 } else { 1 } {
            now.n_stops += 1;
            now.control.request_stop();
        }
    }

    fn inspect(&self, request: &Inspect) -> Vec<u8> {
        let facts = inspect::facts(request, self.was_sent);
        serde_json::to_vec(&facts)
            .expect("every map key is text, and writing to memory does not fail")
    }
}

/// Returns the address that a connection comes from; none where it is a socket's.
fn client_address(from: &str) -> Option<IpAddr> {
    from.parse().ok().map(|from: SocketAddr| from.ip())
}

/// Lets generated names in a folder begin with the client's address, as on fio's servers: clients
/// do not work on each other's files.
fn name_after(client: IpAddr, plan: &mut Plan) {
    for job in plan.jobs_mut() {
        let files = &mut job.files;
        if files.unique_per_host && !files.directories.is_empty() {
            let usual = files.name_format.as_deref().unwrap_or(NAME_FORMAT);
            files.name_format = Some(format!("{client}.{usual}"));
        }
    }
}

/// Reads the plan of the controller.
fn plan_of(assignment: &Assignment) -> Result<Plan, Vec<String>> {
    let text = assignment.plan_toml.clone().into_bytes();
    let loader = ReadOnce::default().with_file(PLAN, text);
    let request = Request {
        files: &[PLAN.to_owned()],
        sections: &[],
        overrides: &Overrides::default(),
        all_hosts_local: false,
        is_to_run: true,
    };
    let ReadPlan { parsed, .. } = Native.read(&request, &loader);
    let findings: Vec<Diagnostic> = parsed.diagnostics.into_iter().chain(parsed.refusals).collect();
    if findings.iter().any(|finding| finding.severity == Severity::Error) {
        return Err(texts(&findings));
    }
    let mut plan = parsed.plan;
    keep_own_jobs(&mut plan, assignment).map_err(|text| vec![text])?;
    let Assignment { host_idx, n_hosts, is_split, .. } = *assignment;
    if !is_split {
        runner::draw_apart(&mut plan, host_idx);
        return Ok(plan);
    }
    if host_idx >= n_hosts {
        return Err(vec![format!("it is to be host {host_idx} of {n_hosts}, counted from 0")]);
    }
    runner::divide(&plan, Share { idx: host_idx, n: n_hosts }).map_err(|findings| texts(&findings))
}

/// Leaves the jobs of other hosts out, where each job has its host; what a step may do in all is
/// divided among those that have a part in it.
fn keep_own_jobs(plan: &mut Plan, assignment: &Assignment) -> Result<(), String> {
    let Assignment { host_idx, job_hosts, .. } = assignment;
    if job_hosts.is_empty() {
        return Ok(());
    }
    let n_jobs = plan.jobs().count();
    if n_jobs != job_hosts.len() {
        return Err(format!("the plan has {n_jobs} jobs, and hosts for {}", job_hosts.len()));
    }
    let mut left = &job_hosts[..];
    for step in &mut plan.steps {
        let (hosts, behind) = left.split_at(step.jobs.len());
        left = behind;
        let n_hosts = hosts.iter().collect::<BTreeSet<_>>().len().max(1) as u64;
        let mut hosts = hosts.iter();
        step.jobs.retain(|_| hosts.next() == Some(host_idx));
        let amount = &mut step.amount_max;
        for bytes in [&mut amount.total_bytes, &mut amount.read_bytes, &mut amount.write_bytes] {
            *bytes = bytes.div_ceil(n_hosts);
        }
    }
    Ok(())
}

/// Returns what is wrong, with what to do about it.
fn texts(findings: &[Diagnostic]) -> Vec<String> {
    let errors = findings.iter().filter(|finding| finding.severity == Severity::Error);
    let text = |finding: &Diagnostic| {
        // No controller may have commands run here.
        let helps = finding.help.iter().filter(|help| !help.contains("--allow-commands"));
        let helps = helps.map(|help| format!("; {help}"));
        format!("{}{}", finding.message, helps.collect::<String>())
    };
    errors.map(text).collect()
}
