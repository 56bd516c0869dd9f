//! Runs on agents that dial in: the arguments, and the port.

use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::time::Duration;

use fleet::hosts::{self, Host};
use fleet::launch::Launcher;
use fleet::launch::dial_in::DialIn;
use fleet::launch::ssh::Ssh;
use fleet::run::Fleet;
use fleet::token::{Token, TokenError};
use plan::Plan;
use runner::RunOptions;
use units::system_text;

use super::hosts::{ELSEWHERE, HostsArgs, assignment_of, check};
use crate::exit::{Exit, Failure};
use crate::stream;

/// Agents that something else starts.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Many hosts")]
pub(super) struct DialInArgs {
    /// Run on N agents that connect to this host, started by `plimsoll agent --join`.
    #[arg(long, value_name = "N", group = ELSEWHERE, requires = "token_file")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=hosts::HOSTS_MAX as i64))]
    agents: Option<u32>,

    /// Where agents dial in, `HOST:PORT`. With port 0 the system chooses one, which is printed.
    #[arg(long, value_name = "ADDRESS", default_value = LISTEN, requires = "agents")]
    #[arg(value_parser = address)]
    listen: String,

    /// The token that agents must have, too; made where the file is not there.
    #[arg(long, value_name = "FILE", requires = "agents")]
    token_file: Option<PathBuf>,

    /// How long agents may take to dial in.
    #[arg(long, value_name = "TIME", default_value = "5m", requires = "agents")]
    #[arg(value_parser = units::parse_duration)]
    wait: Duration,
}

/// Where agents dial in unless said otherwise: from this host alone.
const LISTEN: &str = "127.0.0.1:7420";

/// Where a load is to come from. Nothing was called or listened for yet.
#[derive(Debug)]
pub(super) enum Source<'a> {
    /// Hosts that are called over ssh.
    Ssh(Ssh, Vec<Host>),
    /// So many agents that dial in, with the token of a file.
    Agents(&'a DialInArgs, u32, &'a Path),
}

impl Source<'_> {
    /// Returns how many hosts there are to be.
    pub(super) fn n_hosts(&self) -> usize {
        match self {
            Source::Ssh(_, hosts) => hosts.len(),
            Source::Agents(_, n_agents, _) => *n_agents as usize,
        }
    }

    /// Returns the option that says so.
    pub(super) fn option(&self) -> &'static str {
        match self {
            Source::Ssh(..) => "--hosts",
            Source::Agents(..) => "--agents",
        }
    }

    /// Opens the port where agents dial in, and says what to start.
    pub(super) fn open(self) -> Result<Launcher, Failure> {
        match self {
            Source::Ssh(ssh, hosts) => Ok(Launcher::Ssh(ssh, hosts)),
            Source::Agents(args, n_agents, file) => {
                args.dial_in(n_agents as usize, file).map(Launcher::DialIn)
            }
        }
    }
}

impl DialInArgs {
    /// Returns where a load is to come from; `None` where this host carries it.
    pub(super) fn source<'a>(
        &'a self,
        hosts: &HostsArgs,
        options: &RunOptions,
    ) -> Result<Option<Source<'a>>, Failure> {
        if let Some((ssh, hosts)) = hosts.called(options)? {
            return Ok(Some(Source::Ssh(ssh, hosts)));
        }
        let (Some(n_agents), Some(file)) = (self.agents, &self.token_file) else {
            return Ok(None);
        };
        check("--agents", options)?;
        hosts.policy_of(n_agents as usize)?;
        Ok(Some(Source::Agents(self, n_agents, file)))
    }

    /// Returns whether agents are to dial in.
    pub(super) fn is_given(&self) -> bool {
        self.agents.is_some()
    }

    /// Calls hosts or opens the port, and makes what is to be run; `None` where this host carries
    /// the load.
    pub(super) fn fleet(
        &self,
        hosts: &HostsArgs,
        plan: &Plan,
        options: &RunOptions,
        is_split: bool,
    ) -> Result<Option<Fleet>, Failure> {
        let Some(source) = self.source(hosts, options)? else { return Ok(None) };
        let n_hosts = source.n_hosts();
        let assignment = assignment_of(n_hosts, plan, options, is_split)?;
        let (launcher, policy) = (source.open()?, hosts.on_loss);
        Ok(Some(Fleet { launcher, assignment, policy, plans: Vec::new(), ledger: None }))
    }

    /// Opens the port, and says what to start.
    fn dial_in(&self, n_agents: usize, file: &Path) -> Result<DialIn, Failure> {
        let (token, is_new) = Token::read_or_create(file).map_err(|error| no_token(&error))?;
        let file = file.display();
        if is_new {
            stream::print_message(&format!("made the token `{file}`: the agents need this file\n"));
        }
        let listen = &self.listen;
        let refused = |error: std::io::Error| {
            let text = format!("cannot listen at `{listen}`: {}", system_text(&error));
            Failure::wrong_use(text).with(Exit::RunFailed)
        };
        let listener = TcpListener::bind(listen).map_err(refused)?;
        let at = join_address(listener.local_addr().map_err(refused)?);
        stream::print_message(&format!(
            "waiting for {n_agents} agents: start each with \
             `plimsoll agent --join {at} --token-file {file}`\n"
        ));
        Ok(DialIn { listener, token, n_agents, wait: self.wait })
    }
}

/// Reads where to listen or to dial.
pub(super) fn address(text: &str) -> Result<String, String> {
    let wrong = "write HOST:PORT, such as 10.0.0.5:7420 or [fd00::7]:7420";
    let (host, port) = text.rsplit_once(':').ok_or(wrong)?;
    let is_plain = !host.is_empty() && (!host.contains(':') || host.starts_with('['));
    if !is_plain || port.parse::<u16>().is_err() {
        return Err(wrong.to_owned());
    }
    Ok(text.to_owned())
}

/// Returns where agents dial: where every address of this host is listened at, its name.
pub(super) fn join_address(at: SocketAddr) -> String {
    if !at.ip().is_unspecified() {
        return at.to_string();
    }
    let name = rustix::system::uname();
    format!("{}:{}", name.nodename().to_string_lossy(), at.port())
}

/// Reports why there is no token.
pub(super) fn no_token(error: &TokenError) -> Failure {
    let failure = Failure::wrong_use(error.to_string());
    match error.remedy() {
        Some(remedy) => failure.hint(format!("type `{remedy}`")),
        None => failure,
    }
}
