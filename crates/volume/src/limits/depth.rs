//! What a load does with so many I/Os in flight: its rate, and the latency that this makes.
//!
//! With few in flight, latency sets the rate: N / latency. From the depth on at which a cap binds
//! the rate stays, and each further I/O in flight waits: N / rate. Both are Little's law, so that
//! rate times latency is the number in flight at every depth. A stripe is counted with its load
//! spread evenly: for some seconds at random places eight slow disks carry up to 4 % less.

use super::bound::Bound;
use super::compose::together;
use crate::design::Design;
use crate::load::Flow;

/// Most I/Os in flight that a table goes up to.
const DEPTH_MAX: u32 = 1 << 20;

/// Depths in a table beyond the first at which a cap binds: they show how latency grows.
const N_BEYOND: usize = 2;

/// A load with so many I/Os in flight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AtDepth {
    /// I/Os in flight.
    pub queue_depth: u32,
    /// I/Os per second.
    pub iops: f64,
    /// Mean latency, seconds.
    pub latency_s: f64,
    /// What holds the rate.
    pub binds: Bound,
}

/// Returns what one of several loads does with so many I/Os in flight and no other bound on its
/// rate, beside the load of the others.
///
/// # Panics
/// If there is no such flow, none is in flight, or a flow names a volume that is not there.
pub fn at_depth(design: &Design, flows: &[Flow], flow_idx: usize, queue_depth: u32) -> AtDepth {
    let mut flows = flows.to_vec();
    let flow = &mut flows[flow_idx];
    (flow.demand, flow.load.queue_depth) = (None, Some(queue_depth));
    let done = together(design, &flows).swap_remove(flow_idx);
    let latency_s = done.latency_s.unwrap_or(f64::INFINITY);
    AtDepth { queue_depth, iops: done.iops, latency_s, binds: done.binds }
}

/// Returns the same for 1, 2, 4 and so on in flight, until a cap binds and some depths beyond.
///
/// # Panics
/// As [`at_depth`].
pub fn by_depth(design: &Design, flows: &[Flow], flow_idx: usize) -> Vec<AtDepth> {
    let mut table: Vec<AtDepth> = Vec::new();
    let mut queue_depth = 1;
    let mut n_beyond = 0;
    while queue_depth <= DEPTH_MAX && n_beyond <= N_BEYOND {
        let row = at_depth(design, flows, flow_idx, queue_depth);
        n_beyond += usize::from(row.binds != Bound::QueueDepth);
        table.push(row);
        queue_depth *= 2;
    }
    table
}
