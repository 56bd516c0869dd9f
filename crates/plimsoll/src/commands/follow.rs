//! A run that is followed while it goes on: lines of JSON, metrics, a page in the browser.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;

use live::address::{self, Token};
use live::collector::{self, Address, Sender, Sending};
use live::http::{Serve, Server};
use live::tui::Tui;
use live::{About, HostSoFar, Live, LoadNow, Shared, line};
use plan::Plan;
use record::{HostShareRecord, Interval, JobRecord, LoadShares, Record};
use runner::{Control, HostLoad, JobsSoFar, RunEvent, RunOptions};
use units::system_text;

use crate::env::OTLP_HEADERS;
use crate::exit::{Exit, Failure};
use crate::sink::Sink;
use crate::{clock, stream};

/// How a run is followed.
#[derive(Clone, Debug, Default, clap::Args)]
pub(super) struct FollowArgs {
    /// Print a line of JSON for each second (`plimsoll.stream/1`), or write them to FILE.
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true,
          default_missing_value = "-", help_heading = HEADING)]
    json_stream: Option<String>,

    /// Show the run in a browser: prints the link. `:7421` is a port of this host alone.
    #[arg(long, value_name = "ADDRESS", value_parser = address::parse, help_heading = HEADING)]
    watch: Option<SocketAddr>,

    /// Serve metrics for Prometheus at http://ADDRESS/metrics. `:9421` is a port of this host
    /// alone.
    #[arg(long, value_name = "ADDRESS", value_parser = address::parse, help_heading = HEADING)]
    metrics: Option<SocketAddr>,

    /// Send metrics to a collector of OpenTelemetry, each second: OTLP over HTTP, such as
    /// http://collector:4318. `:4318` is a port of this host.
    #[arg(long, value_name = "URL", value_parser = collector::parse, help_heading = HEADING)]
    otlp: Option<Address>,

    /// Show the run in this terminal: jobs and hosts, the worst first. Keys: p pauses the picture,
    /// q ends the run, h shows help.
    #[arg(long, conflicts_with = "progress", help_heading = HEADING)]
    tui: bool,
}

/// Where help lists them.
const HEADING: &str = "While it runs";

/// Lines that wait for a slow reader: ten minutes.
const LINES_MAX: usize = 600;

impl FollowArgs {
    /// Returns whether anything follows the run.
    pub(super) fn is_asked(&self) -> bool {
        let FollowArgs { json_stream, watch, metrics, otlp, tui } = self;
        json_stream.is_some() || watch.is_some() || metrics.is_some() || otlp.is_some() || *tui
    }

    /// Returns whether the terminal is taken.
    pub(super) fn takes_terminal(&self) -> bool {
        self.tui
    }

    /// Returns whether standard output is taken by lines.
    pub(super) fn takes_stdout(&self) -> bool {
        self.json_stream.as_deref() == Some("-")
    }
}

/// Feeds the model of a run, and what shows it.
#[derive(Debug)]
pub(super) struct Follower {
    shared: Shared,
    lines: Option<LineWriter>,
    _server: Option<Server>,
    _sending: Option<Sending>,
    _terminal: Option<Terminal>,
    n_steps: u32,
    has_begun: bool,
    /// The step that the hosts of this run are at.
    step_of_hosts: Option<u32>,
    /// Of hosts: what is shown once it is known what each did.
    interval: Option<Interval>,
}

impl Follower {
    /// Begins, if anything is to follow the runs of this command.
    pub(super) fn begin(
        args: &FollowArgs,
        plan: &Plan,
        options: &RunOptions,
        control: &Arc<Control>,
    ) -> Result<Option<Self>, Failure> {
        if !args.is_asked() {
            return Ok(None);
        }
        let about = About {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            command: options.command.clone(),
            plan: dialects::native::write(plan).text,
            started_unix_ms: clock::report_time().unix_ms,
            machine: runner::describe_host(),
            hosts: Vec::new(),
        };
        let lines = match args.json_stream.as_deref() {
            None => None,
            Some(path) => {
                let path = Some(path).filter(|path| *path != "-");
                Some(LineWriter::begin(Sink::open_beside(path, plan, options.read_only)?)?)
            }
        };
        let shared = Shared::new(Live::new(about));
        let server = Self::serve(args, &shared)?;
        let sending = args.otlp.as_ref().map(|address| send(address, &shared)).transpose()?;
        let terminal = args.tui.then(|| Terminal::take(&shared, control)).transpose()?;
        Ok(Some(Follower {
            shared,
            lines,
            _server: server,
            _sending: sending,
            _terminal: terminal,
            n_steps: 0,
            has_begun: false,
            step_of_hosts: None,
            interval: None,
        }))
    }

    fn serve(args: &FollowArgs, shared: &Shared) -> Result<Option<Server>, Failure> {
        let failed = |what: &str, error: std::io::Error| {
            let text = format!("cannot {what}: {}", system_text(&error));
            Failure::wrong_use(text).with(Exit::RunFailed)
        };
        let listen = |address: SocketAddr| {
            let failed = |error| {
                failed(&format!("listen on {address}"), error)
                    .hint("name another port, or 0 for one that is free")
            };
            let listener = address::listen(address).map_err(failed)?;
            let bound = listener.local_addr().map_err(failed)?;
            Ok::<_, Failure>((listener, bound))
        };
        let mut serve = Vec::new();
        if let Some(address) = args.watch {
            let (listener, bound) = listen(address)?;
            let token = Token::draw().map_err(|error| failed("draw a token", error))?;
            stream::print_message(&format!("watch: {}\n", token.link(bound)));
            serve.push(Serve::Page(listener, token));
        }
        if let Some(address) = args.metrics {
            let (listener, bound) = listen(address)?;
            stream::print_message(&format!("metrics: http://{bound}/metrics\n"));
            serve.push(Serve::Metrics(listener));
        }
        if serve.is_empty() {
            return Ok(None);
        }
        Server::start(shared, serve).map(Some).map_err(|error| failed("serve pages", error))
    }

    /// Names the hosts that the load comes from.
    pub(super) fn set_hosts(&mut self, names: Vec<String>) {
        if !self.has_begun {
            self.shared.change(|live| live.set_hosts(names));
        }
    }

    /// Begins one of the command's runs.
    pub(super) fn begin_run(&mut self, plan: &Plan) {
        self.n_steps = u32::try_from(plan.steps.len()).unwrap_or(u32::MAX);
        self.step_of_hosts = None;
        self.shared.change(Live::begin_run);
        if !self.has_begun {
            self.has_begun = true;
            self.print(line::begin);
        }
    }

    /// Takes what happens.
    pub(super) fn event(&mut self, event: &RunEvent<'_>) {
        match event {
            RunEvent::StepStarted { step_idx, name, n_workers, .. } => {
                self.begin_step(*step_idx, name, *n_workers);
            }
            RunEvent::Interval(interval) => self.interval = Some((*interval).clone()),
            RunEvent::JobsSoFar(so_far) => {
                let Some(interval) = self.interval.take() else { return };
                let JobsSoFar { jobs, n_in_flight, load, .. } = so_far;
                let load = load.map(|HostLoad { busy_share, own_share, steal_share, .. }| {
                    LoadNow { busy_share, own_share, steal_share }
                });
                let host = HostSoFar { name: "", jobs, n_in_flight, load, lost: None };
                let hosts = [host];
                // None of them: there are too many to be asked every second.
                self.second(&interval, if jobs.is_empty() { &[] } else { &hosts });
            }
            RunEvent::StepEnded { jobs, .. } => {
                let host = HostSoFar { name: "", jobs, n_in_flight: &[], load: None, lost: None };
                self.end_step(&[host]);
            }
            RunEvent::Note(note) => self.shared.change(|live| live.note(note)),
            RunEvent::Layout { .. }
            | RunEvent::Paused { .. }
            | RunEvent::CommandEnded { .. }
            | RunEvent::StepSkipped { .. }
            | RunEvent::IoError(_)
            | RunEvent::StepReady { .. }
            | RunEvent::Tree { .. }
            | RunEvent::TreeMade { .. }
            | RunEvent::OtherTree { .. }
            | RunEvent::Status(_)
            | RunEvent::SeriesSoFar(_)
            | RunEvent::StatusAsked(_)
            | RunEvent::Report(_) => {}
        }
    }

    /// Takes a second of several hosts together.
    pub(super) fn interval_of_hosts(&mut self, interval: &Interval) {
        if let Some(before) = self.interval.replace(interval.clone()) {
            self.second(&before, &[]);
        }
    }

    /// Takes the record of several hosts as it stands.
    pub(super) fn record_of_hosts(&mut self, record: &Record) {
        let Some(interval) = self.interval.take() else { return };
        let in_flight = in_flight_of(record);
        let hosts = hosts_of(record, &in_flight);
        self.go_to_step(interval.step_idx, record, &hosts);
        self.second(&interval, &hosts);
    }

    /// Takes the record of several hosts at the end of their run.
    pub(super) fn end_of_hosts(&mut self, record: &Record) {
        let hosts = hosts_of(record, &[]);
        let last = record.jobs.iter().map(|job| job.step_idx).max().unwrap_or(0);
        self.go_to_step(last, record, &hosts);
        if let Some(interval) = self.interval.take() {
            self.second(&interval, &hosts);
        }
        self.end_step(&hosts);
    }

    /// Ends with the record. Returns false where lines could not be written.
    pub(super) fn end(mut self, record: &Record) -> bool {
        self.shared.end(record);
        self.lines.take().is_none_or(|lines| lines.end(record))
    }

    /// Begins the steps up to this one: hosts do not say when they begin one.
    fn go_to_step(&mut self, step_idx: u32, record: &Record, hosts: &[HostSoFar<'_>]) {
        let next = self.step_of_hosts.map_or(0, |idx| idx + 1);
        for idx in next..=step_idx {
            if self.step_of_hosts.is_some() {
                self.end_step(hosts);
            }
            self.step_of_hosts = Some(idx);
            let of_step = record.jobs.iter().filter(|job| job.step_idx == idx);
            let n_workers = of_step.map(|job| job.n_workers).sum();
            let name = record.steps.iter().find(|step| step.step_idx == idx);
            let name = name.map_or(String::new(), |step| step.name.clone());
            self.begin_step(idx, &name, n_workers);
        }
    }

    fn begin_step(&mut self, step_idx: u32, name: &str, n_workers: u32) {
        let n_steps = self.n_steps;
        self.shared.change(|live| live.begin_step(step_idx, n_steps, name, n_workers));
        self.print(line::step);
    }

    fn second(&mut self, interval: &Interval, hosts: &[HostSoFar<'_>]) {
        self.shared.change(|live| live.second(interval, hosts));
        self.print(|live| line::second(live, false));
    }

    /// Takes what was done since the last second.
    fn end_step(&mut self, hosts: &[HostSoFar<'_>]) {
        let has_rest = self.shared.change(|live| {
            live.end_step(hosts);
            line::has_rest(live)
        });
        if has_rest {
            self.print(|live| line::second(live, true));
        }
    }

    fn print(&mut self, text: impl Fn(&Live) -> String) {
        if let Some(lines) = &mut self.lines {
            lines.send(text(&self.shared.lock()));
        }
    }
}

/// Sends metrics to a collector from now on.
fn send(address: &Address, shared: &Shared) -> Result<Sending, Failure> {
    let headers = OTLP_HEADERS.get().unwrap_or_default();
    let headers = collector::parse_headers(&headers).map_err(|why| {
        Failure::wrong_use(format!("{}: {why}", OTLP_HEADERS.name))
            .hint("write api-key=VALUE,other=VALUE, with %20 for a blank")
    })?;
    let started_unix_ms = shared.lock().about().started_unix_ms;
    let place = address.to_string();
    let sender = Sender {
        address: address.clone(),
        headers,
        instance: format!("{started_unix_ms}-{}", std::process::id()),
        now_unix_ns: || clock::report_time().unix_ms * 1_000_000,
        on_change: Box::new(move |what| {
            stream::print_message(&format!("otlp: the collector at {place} {what}\n"));
        }),
    };
    Sending::start(shared, sender).map_err(|error| {
        let text = format!("cannot reach the collector at {address}: {}", system_text(&error));
        Failure::wrong_use(text)
            .with(Exit::RunFailed)
            .hint("name where it takes OTLP over HTTP, most often port 4318; 4317 is that of gRPC")
    })
}

/// Returns how the jobs of each host stand. What they have in flight is that of their entries, in
/// order; none where it is not known.
fn hosts_of<'a>(record: &'a Record, in_flight: &'a [Vec<u64>]) -> Vec<HostSoFar<'a>> {
    let hosts = record.hosts.iter().enumerate().map(|(idx, host)| HostSoFar {
        name: &host.name,
        jobs: &host.record.jobs,
        n_in_flight: in_flight.get(idx).map_or(&[], |it| it),
        load: host.record.intervals.last().and_then(load_in),
        lost: host.lost.as_ref().map(|loss| &*loss.reason),
    });
    hosts.collect()
}

/// Returns how busy a host was in a second.
fn load_in(second: &Interval) -> Option<LoadNow> {
    let LoadShares { busy_share, own_share, steal_share } = second.host.as_ref()?.load?;
    Some(LoadNow { busy_share, own_share, steal_share })
}

/// Returns what the entries of each host had in flight at the end of its last second. Of several
/// entries of one job the first has all of it.
fn in_flight_of(record: &Record) -> Vec<Vec<u64>> {
    let of_host = |host: &HostShareRecord| {
        let last = host.record.intervals.last();
        let Some((second, now)) = last.and_then(|it| Some((it, it.host.as_ref()?))) else {
            return Vec::new();
        };
        let mut left = now.n_in_flight.clone();
        let of_entry = |job: &JobRecord| {
            let is_now = job.step_idx == second.step_idx && host.lost.is_none();
            if is_now { left.remove(&job.name).unwrap_or(0) } else { 0 }
        };
        host.record.jobs.iter().map(of_entry).collect()
    };
    record.hosts.iter().map(of_host).collect()
}

/// The terminal while a run is shown in it. What is said meanwhile is said when it is free again.
#[derive(Debug)]
struct Terminal(Option<Tui>);

impl Terminal {
    fn take(shared: &Shared, control: &Arc<Control>) -> Result<Self, Failure> {
        let asked = Arc::clone(control);
        let tui = Tui::start(shared, Box::new(move || asked.request_stop()));
        let tui = tui.map_err(|error| {
            let why = system_text(&error);
            Failure::wrong_use(format!("`--tui` needs a terminal: {why}"))
                .hint("without one, `--watch :7421` shows the run in a browser")
        })?;
        stream::hold();
        Ok(Terminal(Some(tui)))
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        drop(self.0.take());
        stream::release();
    }
}

/// Writes lines in a thread of its own: a reader that is slow must not hold up the run.
#[derive(Debug)]
struct LineWriter {
    to: SyncSender<String>,
    /// Returns whether it wrote all that its reader wanted.
    thread: JoinHandle<bool>,
    n_lost: u64,
}

impl LineWriter {
    fn begin(mut sink: Sink) -> Result<Self, Failure> {
        let (to, lines) = sync_channel::<String>(LINES_MAX);
        let thread = std::thread::Builder::new().name("lines".to_owned());
        let thread = thread.spawn(move || {
            let written = lines.iter().try_for_each(|line| sink.write_part(&line));
            let lost = written.err().filter(|error| error.kind() != ErrorKind::BrokenPipe);
            if let Some(error) = &lost {
                let why = system_text(error);
                stream::print_message(&format!(
                    "error: the run goes on without lines: cannot write to {sink}: {why}\n"
                ));
            }
            lost.is_none()
        });
        let thread = thread.map_err(|error| {
            let text = format!("cannot write lines: no thread: {}", system_text(&error));
            Failure::wrong_use(text).with(Exit::RunFailed)
        })?;
        Ok(LineWriter { to, thread, n_lost: 0 })
    }

    fn send(&mut self, line: String) {
        match self.to.try_send(line) {
            Ok(()) => {}
            Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => self.n_lost += 1,
        }
    }

    /// Writes the last line, and waits until all are written. Returns false where one could not be,
    /// which was reported; a reader that has seen enough is no failure.
    fn end(self, record: &Record) -> bool {
        let _writer_has_ended = self.to.send(line::end(record, self.n_lost));
        drop(self.to);
        self.thread.join().unwrap_or(false)
    }
}
