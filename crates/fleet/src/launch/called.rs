//! Agents that listen, and that the controller calls.

use std::sync::Arc;

use crate::net::place::ListenAddress;
use crate::token::Token;

/// An agent that listens.
#[derive(Clone, Debug)]
pub struct Server {
    /// What it is called in messages and results.
    pub name: String,
    /// Where it listens.
    pub place: ListenAddress,
}

/// Where agents listen, and what they must have.
#[derive(Debug)]
pub struct Called {
    /// The agents.
    pub servers: Vec<Server>,
    /// What lets the controller in.
    pub token: Arc<Token>,
}

impl Called {
    /// Returns what the agents are called.
    pub fn names(&self) -> Vec<String> {
        self.servers.iter().map(|server| server.name.clone()).collect()
    }
}
