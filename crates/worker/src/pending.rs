//! What has completed and is not in the meters yet.
//!
//! Meters are for readers on other threads: adding to them one by one costs several times what a
//! note costs here. So completions gather and are added together: at the end of each batch, or,
//! where a batch is one operation, after a short time ([`Worker::gather_meters`]) or when a reader
//! asks ([`Worker::publish`]).
//!
//! [`Worker::gather_meters`]: crate::Worker::gather_meters
//!
//! [`Worker::publish`]: crate::Worker::publish

use hist::LiveHistogram;
use plan::report::Reporting;

use crate::meters::{DirMeters, RunLength};

/// Runs that are kept at most.
const N_RUNS_MAX: usize = 64;

/// Operations that were chosen together, handed over together and seen together: their latencies
/// are equal.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Run {
    pub(crate) start_ns: u64,
    pub(crate) submit_ns: u64,
    pub(crate) done_ns: u64,
    pub(crate) n_ios: u64,
    pub(crate) bytes: u64,
}

impl Run {
    /// From choice to completion.
    pub(crate) fn latency_ns(&self) -> u64 {
        self.done_ns.saturating_sub(self.start_ns)
    }
}

/// Completions of one direction.
#[derive(Debug)]
pub(crate) struct Pending {
    runs: Box<[Run; N_RUNS_MAX]>,
    n_runs: usize,
    pub(crate) response: RunLength,
}

impl Pending {
    pub(crate) fn new() -> Self {
        let runs = Box::new([Run::default(); N_RUNS_MAX]);
        Pending { runs, n_runs: 0, response: RunLength::default() }
    }

    /// Returns what has gathered.
    pub(crate) fn runs(&self) -> &[Run] {
        &self.runs[..self.n_runs]
    }

    /// Returns whether there is no room for another operation.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.n_runs == N_RUNS_MAX
    }

    /// Notes a completion. There is room for it.
    #[inline]
    pub(crate) fn note(&mut self, start_ns: u64, submit_ns: u64, done_ns: u64, bytes: u64) {
        self.note_run(Run { start_ns, submit_ns, done_ns, n_ios: 1, bytes });
    }

    /// Notes completions of the same latency. There is room for them.
    #[inline]
    pub(crate) fn note_run(&mut self, noted: Run) {
        if let Some(last) = self.n_runs.checked_sub(1) {
            let run = &mut self.runs[last];
            if run.start_ns == noted.start_ns
                && run.submit_ns == noted.submit_ns
                && run.done_ns == noted.done_ns
            {
                run.n_ios += noted.n_ios;
                run.bytes += noted.bytes;
                return;
            }
        }
        if let Some(run) = self.runs.get_mut(self.n_runs) {
            *run = noted;
            self.n_runs += 1;
        }
    }

    /// Adds the latencies to their histograms, but for those that are not wanted.
    pub(crate) fn time(&mut self, meters: &DirMeters, reporting: &Reporting) {
        if !reporting.disable_slat {
            self.put(&meters.slat, |run| run.submit_ns.saturating_sub(run.start_ns));
        }
        if !reporting.disable_clat {
            self.put(&meters.clat, |run| run.done_ns.saturating_sub(run.submit_ns));
        }
        if !reporting.disable_lat {
            self.put(&meters.lat, Run::latency_ns);
        }
        self.response.flush(&meters.response);
    }

    #[inline]
    fn put(&self, into: &LiveHistogram, latency_ns: impl Fn(&Run) -> u64) {
        match self.runs() {
            [run] => into.record_n(latency_ns(run), run.n_ios),
            runs => into.record_all(runs.iter().map(|run| (latency_ns(run), run.n_ios))),
        }
    }

    /// Forgets what has been added.
    pub(crate) fn clear(&mut self) {
        self.n_runs = 0;
    }
}
