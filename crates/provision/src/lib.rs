//! A design as what is typed to build it, and to verify it.
//!
//! [`text`] prints a [`Design`] in one of the [`Form`]s: templates and commands of the clouds, the
//! set-up of stripes and file systems on Linux and Windows, mounts of network volumes, and jobs
//! that measure what the design promises. What the design does not say (who administers it, which
//! network, which image) is a variable at the top of the text; nothing is made up.
//!
//! Names and paths of a design are text of a user's: [`quote`] writes them so that no form takes a
//! part of them for its own syntax.
//!
//! [`confirm`] holds runs against what the design promises.
//!
//! Never here: an account, a network, a file, a figure of a limit that the design does not have.
//!
//! Tests: `tests/`; what is printed for Linux is also run in the emulated machine of
//! `cargo xtask kernel-test`.

mod aws;
mod azure;
pub mod confirm;
mod form;
mod fsx;
mod gcp;
mod hcl;
mod job;
mod linux;
#[cfg(test)]
mod misuse;
mod netapp_volumes;
mod nfs;
mod parts;
pub mod quote;
mod suite;
mod terraform;
mod text;
mod variable;
mod windows;

pub use form::{Form, Refusal};
pub use job::WORKER_IOPS;
pub use text::text;
