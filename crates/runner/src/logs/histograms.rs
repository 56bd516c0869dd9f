//! The histogram log of one worker: what was added to the completion latencies per interval.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use dialects::fio::output::log::histogram_line;
use hist::{Histogram, coarsen_fio_bins};
use plan::{Direction, Job, PerDir};
use worker::Meters;

use super::file::LogFile;

/// Takes differences of a worker's histograms at equal distances.
#[derive(Debug)]
pub(super) struct HistogramLog {
    meters: Arc<Meters>,
    window_ns: u64,
    coarseness: u32,
    block_bytes: PerDir<u64>,
    seen: [Histogram; 3],
    /// End of the current interval; `None` before the measured time.
    due_ns: Option<u64>,
}

impl HistogramLog {
    /// Makes the log of a worker, if its job asks for one with an interval.
    pub(super) fn new(job: &Job, meters: &Arc<Meters>) -> Option<Self> {
        let logs = &job.logs;
        if logs.histogram.is_none() || logs.histogram_window_ms == 0 {
            return None;
        }
        let block_bytes = |dir| {
            let sizes = job.workloads().map(|workload| workload.block_size[dir].max());
            u64::from(sizes.max().unwrap_or(0))
        };
        Some(HistogramLog {
            meters: Arc::clone(meters),
            window_ns: u64::from(logs.histogram_window_ms) * 1_000_000,
            coarseness: u32::from(logs.histogram_coarseness),
            block_bytes: PerDir {
                read: block_bytes(Direction::Read),
                write: block_bytes(Direction::Write),
                trim: block_bytes(Direction::Trim),
            },
            seen: Default::default(),
            due_ns: None,
        })
    }

    /// Ends the interval if it is over. Returns when to come back.
    pub(super) fn tick(&mut self, now_ns: u64, zero_ms: u64, file: &mut LogFile) -> Option<u64> {
        let since_ns = self.measured_since_ns()?;
        let due_ns = *self.due_ns.get_or_insert(since_ns.saturating_add(self.window_ns));
        if now_ns < due_ns {
            return Some(due_ns);
        }
        self.put(now_ns, zero_ms, file);
        // From the schedule, so that intervals do not drift.
        let next_ns = due_ns + ((now_ns - due_ns) / self.window_ns + 1) * self.window_ns;
        self.due_ns = Some(next_ns);
        Some(next_ns)
    }

    /// Writes what has come since the last interval ended.
    pub(super) fn put(&mut self, now_ns: u64, zero_ms: u64, file: &mut LogFile) {
        let Some(since_ns) = self.measured_since_ns() else { return };
        let time_ms = zero_ms + now_ns.saturating_sub(since_ns) / 1_000_000;
        for dir in Direction::ALL {
            let clat = &self.meters.dir(dir).clat;
            let seen = &mut self.seen[dir as usize];
            if clat.count() == seen.count() {
                continue;
            }
            let now = clat.snapshot();
            let bins = now.delta_since(seen).to_fio_bins();
            *seen = now;
            let bins = coarsen_fio_bins(&bins, self.coarseness);
            let block_bytes = self.block_bytes[dir];
            file.add(|text| {
                histogram_line(text, time_ms, dir, block_bytes, &bins)
                    .expect("a string takes every text");
            });
        }
    }

    fn measured_since_ns(&self) -> Option<u64> {
        let since_ns = self.meters.measured_since_ns.load(Relaxed);
        (since_ns != 0 && since_ns != u64::MAX).then_some(since_ns)
    }
}
