//! The way of a request: what it takes from a program to us and back.
//!
//! Who waits for an answer waits for the way as well, so a request counts as made by so much
//! earlier than it was read from the kernel. The way is measured when mounting, with requests that
//! are as a small read in all but the model: the same system calls and buffers, the same threads
//! that are woken after the same wait. (An attribute that only we know is asked for, so that there
//! need be no file.)

use std::ffi::OsStr;
use std::path::Path;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};

use rustix::fs::getxattr;

use crate::clock::now_ns;
use crate::pacer::{Outcome, Pacer};

/// The attribute that is asked for.
const NAME: &str = "user.plimsoll.way";

/// Length of its value: that of a small read, bytes.
const VALUE_BYTES: usize = 8192;

/// How long an answer is kept back: as long as a disk takes, after which processors are asleep.
const WAIT_NS: u64 = 1_000_000;

/// How often it is asked for.
const N_PROBES: usize = 64;

/// Longest way that is made up for. Far above what a calm machine takes; more means that the
/// machine was busy all the time, and is no measure of a calm one.
const MAX_NS: u64 = 100_000;

/// The way of a mount's requests.
#[derive(Debug, Default)]
pub(crate) struct Way {
    length_ns: AtomicU64,
    is_being_measured: AtomicBool,
}

impl Way {
    /// Returns its length, nanoseconds; 0 until it is known.
    pub(crate) fn length_ns(&self) -> u64 {
        self.length_ns.load(Relaxed)
    }

    /// Says whether an attribute is the one to measure with.
    pub(crate) fn is_asked_by(&self, name: &OsStr) -> bool {
        name == NAME && self.is_being_measured.load(Relaxed)
    }

    /// Measures the way to a mount, from now on counted: the lower quartile.
    ///
    /// The shortest would do for one request in sixty. With the quartile three of four are on time
    /// or late, and one is early by the little that the fastest quarter differs in.
    pub(crate) fn measure(&self, mount: &Path) {
        self.is_being_measured.store(true, Relaxed);
        let mut value = [0; VALUE_BYTES];
        let mut once = |_| {
            let start_ns = now_ns();
            getxattr(mount, NAME, &mut value).ok()?;
            (now_ns() - start_ns).checked_sub(WAIT_NS)
        };
        let mut ways_ns: Vec<u64> = (0..N_PROBES).filter_map(&mut once).collect();
        self.is_being_measured.store(false, Relaxed);
        ways_ns.sort_unstable();
        let way_ns = ways_ns.get(ways_ns.len() / 4).copied().unwrap_or(0);
        self.length_ns.store(way_ns.min(MAX_NS), Relaxed);
    }
}

/// Answers the request that is being handled when [`WAIT_NS`] have passed.
pub(super) fn answer(pacer: &Pacer, send: impl FnOnce(Vec<u8>) + Send + 'static) {
    let value = vec![0; VALUE_BYTES];
    let reply = move |_: Outcome| send(value);
    pacer.answer_at(now_ns() + WAIT_NS, Box::new(reply));
}
