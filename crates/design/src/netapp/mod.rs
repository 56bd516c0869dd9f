//! Designs with volumes of a network file service (Azure NetApp Files, Google Cloud NetApp Volumes,
//! Amazon FSx for NetApp ONTAP), which several machines share: by exact search.
//!
//! Chosen are the service level, the kind and the quota of each volume, throughput by quota or by
//! hand, the capacity pools, the machine size, how many machines there are, and their connections.
//! Volumes of one level and way to give throughput share one pool. Of Amazon FSx chosen are the
//! file systems, as many as there are volumes at most: which volumes each has, its file servers,
//! its capacity and the operations of its disks. The rank is that of disks: price, then headroom,
//! then fewer parts.
//!
//! How much of each cap an I/O uses comes from `judge` for a design of one volume; what a size may
//! be
//! and what throughput it has is [`volume::design::service`]'s word.
//!
//! Why it is exact: a pool is bought in whole TiB and its price rises with its size, so that the
//! least size that carries its volumes is enough to look at; so is the least number of machines of
//! one size. Of a file system every size of file servers is tried, and every capacity that can be
//! the cheapest. Every volume tries every level, kind and way to give throughput. A branch is left
//! where the pools so far, with the cheapest machines, are dearer than the worst design that is
//! kept. In a pool that is paid for, throughput is given out so that the tightest volume has most.
//!
//! Tests: `tests/network.rs`, equal to trying every design, on random catalogues.

mod advice;
mod ask;
mod machines;
mod make;
mod pools;
mod rank;
mod reject;
mod search;

pub use advice::advice;
pub use machines::Machines;
pub use make::{parse, toml};
pub use rank::{ChosenPool, ChosenVolume, Qos, Ranked};
pub use reject::rejected;
pub use search::{MACHINES_MAX, NetworkError, Options, SearchResult, VOLUMES_MAX, nearest, search};
