//! Runs on other hosts: the arguments, and what is said while they go.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use dialects::Dialect as _;
use dialects::native::Native;
use fleet::controller::{DEAD_NS, LossPolicy, News};
use fleet::hosts::{self, Host, HostsError};
use fleet::launch::ssh::{Program, Ssh};
use fleet::lobby::LobbyNews;
use fleet::run::FleetError;
use fleet::stops::Stops;
use fleet::wire::Assignment;
use plan::load::Share;
use plan::{Diagnostic, Plan};
use record::Interval;
use runner::{Control, RunEvent, RunOptions, Status};
use units::system_text;

use super::{seed, validate};
use crate::exit::{Exit, Failure};
use crate::limited;
use crate::progress::Progress;
use crate::stream;

/// Where a load comes from.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Many hosts")]
pub(super) struct HostsArgs {
    /// Run on these hosts at once, over ssh: `vm1,vm[2-8]`, or `@FILE` with a host per line. A path
    /// is each host's own. `user@host:port` names another login.
    #[arg(long, value_name = "HOSTS", group = ELSEWHERE)]
    pub(super) hosts: Option<String>,

    /// What to do when a host is lost: `continue` with the others, `abort`, or go on while there
    /// are at least N.
    #[arg(long, value_name = "WHAT", default_value = "continue", value_parser = policy)]
    #[arg(requires = ELSEWHERE)]
    pub(super) on_loss: LossPolicy,

    /// The ssh client, with arguments of its own; ssh unless given.
    #[arg(long, value_name = "COMMAND", requires = "hosts")]
    ssh: Option<String>,
}

/// The options that have a load come from other hosts: one of them.
pub(super) const ELSEWHERE: &str = "elsewhere";

/// Longest list of hosts that is read: ten thousand of the longest names.
const LIST_BYTES_MAX: u64 = 4 << 20;

/// Reads what to do when a host is lost.
fn policy(text: &str) -> Result<LossPolicy, String> {
    match text {
        "continue" => Ok(LossPolicy::Continue),
        "abort" => Ok(LossPolicy::Abort),
        number => match number.parse() {
            Ok(n) if n > 0 => Ok(LossPolicy::AtLeast(n)),
            _ => Err("write continue, abort, or the least number of hosts, such as 3".to_owned()),
        },
    }
}

impl HostsArgs {
    /// Takes an option of the command line of a language whose files name their hosts. Returns
    /// false if it is none of these; `value` returns the argument that follows it.
    pub(super) fn take(
        &mut self,
        option: &str,
        value: &mut dyn FnMut() -> Result<String, Failure>,
    ) -> Result<bool, Failure> {
        match option {
            "--ssh" => self.ssh = Some(value()?),
            "--on-loss" => self.on_loss = policy(&value()?).map_err(Failure::wrong_use)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Names hosts that are called over ssh, by this client where one is named.
    pub(super) fn over_ssh(hosts: &str, ssh: Option<&str>) -> Self {
        let (hosts, ssh) = (Some(hosts.to_owned()), ssh.map(str::to_owned));
        HostsArgs { hosts, ssh, ..HostsArgs::default() }
    }

    /// Returns the hosts, and how they are called; `None` where none are named.
    pub(super) fn called(&self, options: &RunOptions) -> Result<Option<(Ssh, Vec<Host>)>, Failure> {
        let Some(list) = &self.hosts else { return Ok(None) };
        check("--hosts", options)?;
        let hosts = Self::listed(list)?;
        self.policy_of(hosts.len())?;
        Ok(Some((self.ssh()?, hosts)))
    }

    /// Returns what to do when one of so many hosts is lost.
    pub(super) fn policy_of(&self, n_hosts: usize) -> Result<LossPolicy, Failure> {
        if let LossPolicy::AtLeast(n) = self.on_loss
            && n as usize > n_hosts
        {
            let text = format!("`--on-loss {n}` wants more hosts than the {n_hosts} named");
            return Err(Failure::wrong_use(text));
        }
        Ok(self.on_loss)
    }

    /// Returns how hosts are called.
    pub(super) fn ssh(&self) -> Result<Ssh, Failure> {
        let path = std::env::current_exe()
            .map_err(|error| Failure::wrong_use(format!("cannot find this program: {error}")))?;
        let program = Program::read(&path).map_err(|error| {
            Failure::wrong_use(format!("cannot read this program, {}: {error}", path.display()))
        })?;
        let command = self.ssh.as_deref().unwrap_or("ssh");
        let command = command.split_whitespace().map(str::to_owned).collect();
        Ok(Ssh { command, program })
    }

    /// Reads the hosts of an option.
    fn listed(list: &str) -> Result<Vec<Host>, Failure> {
        let (place, text) = match list.strip_prefix('@') {
            Some(path) => (path, {
                let read = limited::read_text(path.as_ref(), LIST_BYTES_MAX);
                read.map_err(|error| {
                    let why = system_text(&error);
                    Failure::wrong_use(format!("cannot read the hosts of `{path}`: {why}"))
                })?
            }),
            None => ("--hosts", list.to_owned()),
        };
        hosts::parse(&text).map_err(|errors| {
            let line =
                |it: &HostsError| format!("{place}:{}:{}: {}", it.line, it.column, it.message);
            Failure::wrong_use(errors.iter().map(line).collect::<Vec<_>>().join("\n"))
        })
    }
}

/// Returns what each of so many hosts is to do. If it is split, they do together what one would do.
pub(super) fn assignment_of(
    n_hosts: usize,
    plan: &Plan,
    options: &RunOptions,
    is_split: bool,
) -> Result<Assignment, Failure> {
    let mut plan = plan.clone();
    if is_split {
        let n = n_hosts.max(1) as u32;
        runner::divide(&plan, Share { idx: 0, n }).map_err(|findings| refused(&findings))?;
        seed::fix(&mut plan);
    }
    Ok(Assignment {
        plan_toml: Native.write(&plan).text,
        is_split,
        // What they divide they have in common.
        awaits_turn: is_split,
        allow_mounted: options.allow_mounted,
        overwrite_filesystem: options.overwrite_filesystem,
        read_only: options.read_only,
        command: options.command.clone(),
        validation: options.validation.as_ref().map(validate::to_wire),
        ..Assignment::default()
    })
}

/// Reports what an option with hosts does not go with.
pub(super) fn check(option: &str, options: &RunOptions) -> Result<(), Failure> {
    if options.emulation.is_some() {
        let text = format!("`{option}` runs on real files, `--on` on an emulated volume");
        return Err(Failure::wrong_use(text).hint("leave one of them out"));
    }
    if options.until_steady.is_some() {
        let text = format!("`--until-steady` judges one host: it does not go with `{option}`");
        return Err(Failure::wrong_use(text).hint("set a runtime: --set runtime=2m"));
    }
    if options.allow_commands {
        let text = "`--allow-commands` does not reach other hosts: no command runs there";
        return Err(Failure::wrong_use(text));
    }
    Ok(())
}

/// Says what cannot be divided among hosts.
fn refused(findings: &[Diagnostic]) -> Failure {
    let texts: Vec<&str> = findings.iter().map(|finding| finding.message.as_str()).collect();
    let failure = Failure::wrong_use(texts.join("; "));
    match findings.iter().find_map(|finding| finding.help.first()) {
        Some(help) => failure.hint(help.clone()),
        None => failure,
    }
}

/// Returns what this host calls itself.
pub(super) fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// Returns what is said of agents that come.
pub(super) fn came(news: &LobbyNews) -> String {
    match news {
        LobbyNews::Came(name, n, of) => format!("`{name}` has come: {n} of {of}\n"),
        LobbyNews::Left(name, n, of) => format!("`{name}` is gone again: {n} of {of}\n"),
    }
}

/// Returns what is said of a run that was taken back.
pub(super) fn taken_back(n_agents: usize, seconds: u64) -> String {
    format!("took back a run of {n_agents} agents, {seconds} s after it began\n")
}

/// Passes on to hosts what a run is asked to end by.
pub(super) fn stops_of(control: &Control) -> Arc<Stops> {
    let stops = Arc::new(Stops::new());
    let asked = Arc::clone(&stops);
    control.tell_stops(Box::new(move || asked.ask()));
    stops
}

/// Returns what is said of it, one line; none of what shows in the progress.
pub(super) fn said(news: &News, names: &[String]) -> Option<String> {
    let name = |idx: &usize| &names[*idx];
    Some(match news {
        News::Away(idx, reason) => {
            let limit_s = DEAD_NS / 1_000_000_000;
            format!("`{}`: {reason}; it has {limit_s} s to call again\n", name(idx))
        }
        News::Suspect(idx) => format!("`{}` has been silent for two seconds\n", name(idx)),
        News::Back(idx, silence_ns) => {
            format!("`{}` is back after {:.1} s\n", name(idx), *silence_ns as f64 / 1e9)
        }
        News::Lost(idx, reason) => format!("`{}` is lost: {reason}\n", name(idx)),
        // Those that keep the run from beginning are its error.
        News::Refused(..)
        | News::Absent(..)
        | News::Sent(..)
        | News::Came(..)
        | News::Progress(..)
        | News::Starts(..)
        | News::Ended(..)
        | News::Said(..)
        | News::Frame(_) => return None,
    })
}

/// How far each host is with what all do before the run, bytes done and in all.
#[derive(Debug, Default)]
struct Amounts(BTreeMap<usize, (u64, u64)>);

impl Amounts {
    /// Takes how far a host is, and returns how far all are.
    fn add(&mut self, idx: usize, done: u64, total: u64) -> (u64, u64) {
        self.0.insert(idx, (done, total));
        let sum =
            |(a, b): (u64, u64), (c, d): &(u64, u64)| (a.saturating_add(*c), b.saturating_add(*d));
        self.0.values().fold((0, 0), sum)
    }

    /// Returns who they are, as text.
    fn hosts(&self) -> String {
        units::plural(self.0.len(), "host")
    }
}

/// Tells the user what happens to hosts.
#[derive(Debug, Default)]
pub(super) struct Teller {
    sent: Amounts,
    laid_out: Amounts,
}

impl Teller {
    /// Shows it where the progress is, or prints it.
    pub(super) fn tell(&mut self, news: &News, names: &[String], progress: &mut Progress) {
        if let News::Sent(idx, done, total) = *news {
            let (done, total) = self.sent.add(idx, done, total);
            let percent = u128::from(done) * 100 / u128::from(total.max(1));
            let to = self.sent.hosts();
            progress.line(&format!("sending the program to {to} {percent:3} %"));
        } else if let News::Progress(idx, done, total) = *news {
            let (done_bytes, total_bytes) = self.laid_out.add(idx, done, total);
            let path = format!("on {}", self.laid_out.hosts());
            let (job, path, is_last) = ("", Path::new(&path), true);
            let layout = RunEvent::Layout { job, path, done_bytes, total_bytes, is_last };
            progress.event(&layout);
        } else if let Some(text) = said(news, names) {
            progress.print(&text);
        }
    }
}

/// Reports why no host ran anything.
pub(super) fn failure(error: FleetError) -> Failure {
    match error {
        FleetError::Listen(text) => Failure::wrong_use(text).with(Exit::RunFailed),
        FleetError::Wait(_) => Failure::wrong_use(error.to_string()).with(Exit::RunFailed),
        FleetError::OpenFiles { wanted, .. } => {
            Failure::wrong_use(error.to_string()).with(Exit::RunFailed).hint(format!(
                "raise the hard limit (`ulimit -Hn {wanted}` as root), or name fewer hosts"
            ))
        }
        FleetError::TooFew(text) => Failure::wrong_use(text)
            .with(Exit::RunFailed)
            .hint("wait longer with --wait, or begin with fewer: --on-loss N"),
        FleetError::Ledger(error) => Failure::wrong_use(error.to_string()),
        FleetError::Stopped => Failure::wrong_use(error.to_string()).with(Exit::Interrupted),
        FleetError::Refused(hosts) => {
            for (host, findings) in &hosts {
                for finding in findings {
                    stream::print_message(&format!("error: `{host}`: {finding}\n"));
                }
            }
            let text = "nothing was run: not all hosts can run their part";
            Failure::wrong_use(text).with(Exit::RunFailed)
        }
    }
}

/// Returns how a second of all hosts looks in the progress.
pub(super) fn status_of(interval: &Interval, plan: &Plan, elapsed_ns: u64) -> Status {
    let n_hosts = interval.n_hosts.unwrap_or(1);
    Status {
        step_idx: interval.step_idx,
        n_steps: plan.steps.len() as u32,
        n_running: n_hosts,
        n_workers: n_hosts,
        ramp: interval.ramp,
        elapsed_ns,
        ..Status::of(interval)
    }
}
