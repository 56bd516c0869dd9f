//! What the sections of a file know of those before them.

use plan::verify::{DedupeSets, FlipFlop};

use super::findings::SourceRange;
use super::head::Head;
use super::parsed::{Host, Settings};
use super::run::SetCount;
use super::written;

/// What is known once general parameters and hosts are read; later sections add to the flags.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    pub(super) general: General,
    pub(super) hosts: Vec<HostEntry>,
    /// Pairs of storage definitions and hosts.
    pub(super) n_luns: usize,
    /// File system definitions are in use.
    pub(super) is_files: bool,
    /// A trace is replayed.
    pub(super) is_replay: bool,
}

/// General parameters as written.
#[derive(Clone, Debug, Default)]
pub(super) struct General {
    pub(super) settings: Settings,
    pub(super) dedup: Dedup,
    /// Journal recovery was asked for.
    pub(super) is_recovery: bool,
    /// `compratio=` or `compression=` was written.
    pub(super) has_compratio: bool,
    /// `fwd_thread_adjust=no`.
    pub(super) no_thread_adjust: bool,
}

/// Deduplication as asked for in general or by a storage definition.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Dedup {
    pub(super) is_on: bool,
    pub(super) ratio: Option<f64>,
    pub(super) unit_bytes: u64,
    pub(super) sets: Option<SetCount>,
    pub(super) flip_flop: Option<FlipFlop>,
    pub(super) hot_sets: Vec<(u32, u32)>,
    pub(super) place: Option<SourceRange>,
}

impl Dedup {
    /// Returns what is asked for, once it is checked.
    pub(super) fn sets(&self) -> DedupeSets {
        DedupeSets {
            ratio: self.ratio.unwrap_or(1.0),
            unit_bytes: written::unit_bytes(self.unit_bytes),
            sets: self.sets.unwrap_or(SetCount::Pct(5.0)),
            flip_flop: self.flip_flop.unwrap_or(FlipFlop::None),
            hot_sets: self.hot_sets.clone(),
        }
    }
}

/// A host as written.
#[derive(Clone, Debug, Default)]
pub(super) struct HostEntry {
    /// Named as written behind `hd=`.
    pub(super) head: Head,
    pub(super) host: Host,
    pub(super) clients: i64,
    /// `jvms=` as a number of its own: Vdbench may raise it.
    pub(super) has_jvms: bool,
    /// Names and addresses that cannot be resolved, in the kind mode.
    pub(super) unresolved: Vec<(String, SourceRange)>,
}

impl Known {
    /// Returns the positions of the hosts that a pattern fits, by label or address.
    pub(super) fn hosts_of(&self, pattern: &str) -> impl Iterator<Item = usize> {
        let is_meant = move |entry: &HostEntry| {
            fits(pattern, &entry.host.label) || fits(pattern, &entry.host.system)
        };
        self.hosts.iter().enumerate().filter(move |(_, entry)| is_meant(entry)).map(|(idx, _)| idx)
    }
}

/// Returns whether a pattern that may end in `*` fits a name.
pub(super) fn fits(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(stem) => name.starts_with(stem),
        None => pattern == name,
    }
}
