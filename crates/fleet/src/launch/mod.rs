//! What starts agents on other hosts. A launcher starts `plimsoll agent`, and no more: it knows
//! nothing of runs.

use crate::hosts::Host;

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
}
