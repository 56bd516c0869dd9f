//! `plimsoll agent`: runs this host's part of a load, for a controller on another one.

use std::sync::{Arc, Mutex, PoisonError};

use dialects::loader::Overlay;
use dialects::native::Native;
use dialects::{Dialect as _, Overrides, ReadPlan, Request};
use fleet::agent::{Agent, Event};
use fleet::serve::{Runs, serve};
use fleet::wire::Assignment;
use plan::load::Share;
use plan::{Diagnostic, Plan, Severity};
use runner::{Control, RunError, RunEvent, RunOptions};

use super::execute;
use crate::clock;
use crate::exit::{Exit, Failure};
use crate::loader::HostLoader;
use crate::signals::Signals;

/// Run this host's part of a load, as a controller says
///
/// `plimsoll run --hosts` starts agents over ssh by itself.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Speak with the controller over standard input and output.
    #[arg(long, required = true)]
    stdio: bool,

    /// Name of this host in the controller's messages and results.
    #[arg(long, value_name = "NAME")]
    name: String,
}

const EXAMPLES: &str = "\
Examples:
  plimsoll run job.fio --hosts vm1,vm[2-8]      starts this on each of the hosts";

/// Time between two records that are sent, milliseconds.
const REPORT_INTERVAL_MS: u64 = 1000;

/// The file that the controller's plan is read as.
const PLAN: &str = "<plan of the controller>";

/// Runs the command.
pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let failed = |text: String| Failure::wrong_use(text).with(Exit::RunFailed);
    let control = Arc::new(Control::new());
    let _signals = Signals::listen(&control)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| failed(format!("cannot wait for messages: {error}")))?;
    let incarnation = clock::moment().unix_ms ^ u64::from(std::process::id()) << 44;
    let version = env!("CARGO_PKG_VERSION").to_owned();
    let agent = Agent::new(args.name.clone(), version, incarnation, fleet::monotonic_ns());
    let runs = Arc::new(HostRuns { control: Arc::clone(&control), stops: Mutex::new(0) });
    let served = runtime.block_on(async {
        let io = tokio::io::join(tokio::io::stdin(), tokio::io::stdout());
        serve(io, agent, runs).await
    });
    // A thread of it waits for standard input, which may never end.
    runtime.shutdown_background();
    served.map(|()| Exit::Fine).map_err(failed)
}

/// Runs an agent's part on this host.
struct HostRuns {
    control: Arc<Control>,
    /// How often the controller has asked for the end.
    stops: Mutex<u32>,
}

impl Runs for HostRuns {
    fn run(&self, assignment: &Assignment, tell: &dyn Fn(Event)) {
        let plan = match plan_of(assignment) {
            Ok(plan) => plan,
            Err(findings) => return tell(Event::Refused(findings)),
        };
        let options = RunOptions {
            command: assignment.command.clone(),
            allow_mounted: assignment.allow_mounted,
            overwrite_filesystem: assignment.overwrite_filesystem,
            read_only: assignment.read_only,
            forbid_uring: execute::forbids_uring(),
            report_interval_ms: Some(REPORT_INTERVAL_MS),
            waits_for_start: true,
            ..RunOptions::default()
        };
        let outcome = runner::run(&plan, &options, &self.control, &mut |event| match event {
            RunEvent::Layout { done_bytes, total_bytes, .. } => {
                tell(Event::Progress(done_bytes, total_bytes));
            }
            RunEvent::StepReady { step_idx } => tell(Event::Ready(step_idx)),
            RunEvent::Report(record) => tell(Event::Report(Box::new(record.clone()))),
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
            | RunEvent::StatusAsked(_)
            | RunEvent::StepEnded { .. } => {}
        });
        tell(match outcome {
            Ok(record) => Event::Ended(Box::new(record)),
            Err(RunError::Refused { findings, .. }) => Event::Refused(texts(&findings)),
        });
    }

    fn start_step(&self, step_idx: u32, at_ns: u64) {
        self.control.start_step(step_idx, at_ns);
    }

    fn stop(&self, is_now: bool) {
        let mut stops = self.stops.lock().unwrap_or_else(PoisonError::into_inner);
        while *stops < if is_now { 2 } else { 1 } {
            *stops += 1;
            self.control.request_stop();
        }
    }
}

/// Reads the plan of the controller.
fn plan_of(assignment: &Assignment) -> Result<Plan, Vec<String>> {
    let text = assignment.plan_toml.clone().into_bytes();
    let loader =
        Overlay { host: HostLoader, files: vec![(PLAN.to_owned(), Ok(text))], env: Vec::new() };
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

/// Returns what is wrong, with what to do about it.
fn texts(findings: &[Diagnostic]) -> Vec<String> {
    let errors = findings.iter().filter(|finding| finding.severity == Severity::Error);
    let text = |finding: &Diagnostic| {
        let helps = finding.help.iter().map(|help| format!("; {help}"));
        format!("{}{}", finding.message, helps.collect::<String>())
    };
    errors.map(text).collect()
}
