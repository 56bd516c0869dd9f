//! The connections: gRPC over whatever carries bytes both ways.
//!
//! Within a connection an agent is always the one that dials, also over the pipes of an ssh client
//! and where it is called itself ([`call`]): the controller takes each for a connection that came
//! in.

use tokio::io::{AsyncRead, AsyncWrite};

pub mod agent;
pub mod call;
pub mod callee;
pub mod controller;
pub mod dial;
pub mod door;
mod foreign;
pub mod place;
pub mod relay;
pub mod tls;

/// What carries the bytes of a session.
pub trait Duplex: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> Duplex for T {}

/// Largest message that is read, bytes: a frame of a host with thousands of jobs. What is larger
/// ends the connection.
const MESSAGE_BYTES_MAX: usize = 64 << 20;

/// The same with what a relay puts around it.
const PASSED_BYTES_MAX: usize = MESSAGE_BYTES_MAX + 1024;

/// Messages that wait for a connection before their sender waits: a minute of frames.
const MAILBOX: usize = 64;
