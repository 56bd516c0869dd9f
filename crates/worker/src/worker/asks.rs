//! What a worker is asked for.

use plan::files::Durability;
use plan::load::Load;

use super::Worker;
use crate::paths::{JobFeatures, TreeUse};

impl Worker {
    /// Describes what the worker is asked for. All that a job says of its load and of durability is
    /// decided here; what else there is has its own part of the worker, which is asked.
    pub(crate) fn asks(&self) -> JobFeatures {
        let job = &self.job;
        let &Load {
            // How much is in flight and by whom; what is handed over and taken at once.
            queue_depth: _,
            spreads: _,
            spread_workers_max: _,
            n_deeper: _,
            walks_together: _,
            submit_batch,
            complete_min,
            complete_max,
            queue_depth_low,
            // The gate knows of rates and pauses.
            rate: _,
            rate_total_iops: _,
            rate_closed: _,
            rate_periods: _,
            arrivals: _,
            rate_ignores_think_time: _,
            think: _,
            // Looked at now and then, not for each operation.
            rate_min: _,
            rate_cycle_ns: _,
            // The source leaves out what is not of its share.
            share: _,
            // The search, the flow and what watches know of theirs.
            latency_target: _,
            latency_max_ns: _,
            flow: _,
            // Other threads carry out what the worker issues; it issues the same.
            offload: _,
            serialize_overlap,
            last_io_waits,
        } = &job.load;
        JobFeatures {
            choice: self.source.choice(),
            has_rate: self.gate.has_rate(),
            is_timed: self.source.is_timed(),
            thinks: self.gate.has_think_time(),
            is_in_flow: self.flow.is_some(),
            in_tree: self.tree.as_ref().map_or(TreeUse::Nothing, |tree| tree.work()),
            verifies: self.verifying.is_on(),
            serializes: serialize_overlap,
            last_io_waits,
            refills_low: queue_depth_low.is_some(),
            in_portions: complete_min.is_some() || complete_max.is_some(),
            in_batches: submit_batch.is_some(),
            one_by_one: self.pace.is_one_by_one(),
            polls: complete_min == Some(0),
            syncs: syncs(&job.durability),
            writes_after_trims: job.workload.access.trim_then_write,
            searches_depth: self.search.is_some(),
            watches: self.watches_any(),
            raises: self.raising.is_some(),
            counts_series: self.tally.counts_series,
            counts_touched: self.meters.touched().is_some(),
            defers_meters: self.tally.gathers_ns == u64::MAX,
        }
    }
}

/// Returns whether operations are followed by flushes while the job goes on.
fn syncs(durability: &Durability) -> bool {
    let &Durability {
        fsync_every,
        fdatasync_every,
        sync_file_range_every,
        sync_file_range_flags: _,
        barrier_every,
        // At the end of a pass, which is a phase of its own.
        end_fsync: _,
        end_syncfs: _,
    } = durability;
    let every = [fsync_every, fdatasync_every, sync_file_range_every, barrier_every];
    every.iter().any(|every| *every > 0)
}
