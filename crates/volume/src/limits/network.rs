//! Network volumes: throughput from quota and level, pools, and the client's side.

use super::bound::{Achieved, Bound, least};
use crate::cap::CapKind;

/// Calls in flight on one connection (concurrency page of Azure NetApp Files).
pub const SLOTS_PER_CONNECTION: u32 = 128;

/// Most connections of one mount (`nconnect`).
pub const CONNECTIONS_MAX: u32 = 16;

/// Bytes of a call besides data, about: what a read sends.
pub const CALL_BYTES: f64 = 200.0;

/// Largest transfer of one call, bytes (rsize, wsize).
pub const TRANSFER_BYTES_MAX: u64 = 262_144;

/// Fewest slots that a client can do with.
pub const SLOTS_MIN: u64 = 2;

/// Returns the throughput of a quota at a service level, in the level's unit.
pub fn level_throughput(quota_tib: f64, per_tib: f64) -> f64 {
    quota_tib * per_tib
}

/// Returns the quota in TiB that gives a throughput at a service level.
pub fn quota_tib(throughput: f64, per_tib: f64) -> f64 {
    throughput / per_tib
}

/// Returns what one volume carries: the smaller of quota times level and of its ceiling.
pub fn volume_throughput(quota_tib: f64, per_tib: f64, ceiling: f64) -> Achieved {
    let by_quota = level_throughput(quota_tib, per_tib);
    least(
        None,
        &[
            (Bound::Cap(CapKind::VolumeQuota), by_quota),
            (Bound::Cap(CapKind::VolumeCeiling), ceiling),
        ],
    )
}

/// What the volumes of a pool were assigned by hand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Assigned {
    /// What the pool has.
    pub pool: f64,
    /// What its volumes have together.
    pub sum: f64,
    /// It is no more than the pool has.
    pub fits: bool,
}

/// Adds up what the volumes of a pool were assigned.
pub fn assign(pool_tib: f64, per_tib: f64, volumes: &[f64]) -> Assigned {
    let pool = level_throughput(pool_tib, per_tib);
    let sum: f64 = volumes.iter().sum();
    Assigned { pool, sum, fits: sum <= pool }
}

/// Returns the calls that clients keep in flight at most.
pub fn slots(n_clients: u32, connections: u32, slots_per_connection: u32) -> u64 {
    u64::from(n_clients) * u64::from(connections) * u64::from(slots_per_connection)
}

/// Returns the rate that slots allow at a latency: min(depth, slots) / latency.
pub fn slot_rate(slots: u64, in_flight: Option<f64>, latency_s: f64) -> f64 {
    in_flight.unwrap_or(f64::INFINITY).min(slots as f64) / latency_s
}

/// Returns the slots that a rate needs at a latency.
pub fn slots_needed(iops: f64, latency_s: f64) -> u64 {
    super::queue::threads(super::queue::in_flight(iops, latency_s))
}

/// Returns the slots that each of several clients needs, which is no less than it can do with.
pub fn slots_per_client(slots: u64, n_clients: u64) -> u64 {
    slots.div_ceil(n_clients.max(1)).max(SLOTS_MIN)
}

/// Returns the calls that one I/O becomes.
pub fn calls(io_bytes: u64, transfer_bytes: u64) -> u64 {
    io_bytes.div_ceil(transfer_bytes.max(1)).max(1)
}

/// Returns the transfer size with the fewest calls for an I/O; of equals the smallest.
pub fn best_transfer_bytes(io_bytes: u64, choices: &[u64]) -> Option<u64> {
    choices.iter().copied().min_by_key(|&choice| (calls(io_bytes, choice), choice))
}

/// Returns the bytes in flight that fill a connection: bandwidth times round trip. The window of
/// TCP must be no smaller.
pub fn window_bytes(bytes_per_s: f64, round_trip_s: f64) -> f64 {
    bytes_per_s * round_trip_s
}

/// Returns how many machines can send so much together. What they receive is not metered.
pub fn senders(bytes_per_s: f64, egress_bytes_per_s: f64) -> u64 {
    super::bound::count_for(bytes_per_s, egress_bytes_per_s)
}
