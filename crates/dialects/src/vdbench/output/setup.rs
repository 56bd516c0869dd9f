//! What the pages of a whole run need to know before it.

use super::raw::{Layout, Megabyte};
use crate::vdbench::parsed::{FileNames, ReportFiles};

/// What the outputs depend on besides the runs.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Name of the output directory as given.
    pub folder: String,
    /// Its full path.
    pub folder_path: String,
    /// Columns.
    pub layout: Layout,
    /// What a megabyte is.
    pub megabyte: Megabyte,
    /// Name and version of the program, for the head of summary.html.
    pub program: String,
    /// Number of the process.
    pub pid: u32,
    /// Hosts.
    pub hosts: Vec<SetupHost>,
    /// Definitions that have pages though no run uses them.
    pub file_names: FileNames,
    /// Upper limits of the histogram's buckets, nanoseconds; empty is
    /// [`HISTOGRAM_LIMITS_US`](super::HISTOGRAM_LIMITS_US).
    pub histogram_ns: Vec<u64>,
    /// Which pages there are (`report=`).
    pub detail: ReportFiles,
    /// Ends everything after a run whose shares are off by more percent (`abort_failed_skew`).
    pub abort_skew_pct: Option<f64>,
    /// Warns of more I/Os per second and slave (`ios_per_jvm`).
    pub ios_per_slave_max: Option<u64>,
    /// What parmfile.html lists.
    pub copied: Vec<String>,
    /// What parmscan.html lists.
    pub scanned: Vec<String>,
}

/// A host, as far as pages show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetupHost {
    /// Its label.
    pub label: String,
    /// Processes that Vdbench would start there (`jvms=`): each has pages, and its part of the
    /// host's jobs.
    pub n_slaves: u32,
    /// More of them than were asked for, because of the largest rate: how many storage definitions
    /// the host has. `None` where the number was not raised.
    pub raised_for_sds: Option<usize>,
    /// Where it is; `None` is this machine.
    pub system: Option<String>,
}

impl SetupHost {
    /// Returns whether a slave is one of its own, by name: `host-0`.
    pub(super) fn has_slave(&self, slave: &str) -> bool {
        slave.rsplit_once('-').is_some_and(|(host, _)| host == self.label)
    }

    /// Returns the line that says so.
    pub(super) fn raised_line(&self) -> Option<String> {
        let n_sds = self.raised_for_sds?;
        Some(format!(
            "Adjusted default JVM count for host={} from jvms=1 to jvms={} because of iorate= and \
             a total of {n_sds} sds.",
            self.label, self.n_slaves
        ))
    }
}
