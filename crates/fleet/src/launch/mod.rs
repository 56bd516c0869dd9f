//! What brings agents on other hosts to a run. A launcher starts `plimsoll agent`, or calls it
//! where it listens, and no more: it knows nothing of runs.

use crate::hosts::Host;

pub mod called;
pub mod client;
pub mod dial_in;
pub mod ssh;

/// Where the agents of a run come from.
#[derive(Debug)]
pub enum Launcher {
    /// They are started over ssh, one on each of these hosts.
    Ssh(ssh::Ssh, Vec<Host>),
    /// Something else starts them, and they dial in.
    DialIn(dial_in::DialIn),
    /// They listen, and are called.
    Called(called::Called),
}

impl Launcher {
    /// Returns how many agents it has.
    pub fn n_agents(&self) -> usize {
        match self {
            Launcher::Ssh(_, hosts) => hosts.len(),
            Launcher::DialIn(door) => door.n_agents,
            Launcher::Called(called) => called.servers.len(),
        }
    }

    /// Returns the names of the hosts, as far as they are known before a run: agents that dial in
    /// have theirs when they come.
    pub fn names(&self) -> Vec<String> {
        match self {
            Launcher::Ssh(_, hosts) => hosts.iter().map(ToString::to_string).collect(),
            Launcher::DialIn(_) => Vec::new(),
            Launcher::Called(called) => called.names(),
        }
    }
}
