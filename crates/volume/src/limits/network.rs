//! The client's side of network volumes: connections, calls in flight, and what a call costs.

/// Most connections of one mount (`nconnect`).
pub(super) const CONNECTIONS_MAX: u32 = 16;

/// Bytes of a call besides data, about: what a read sends.
pub(super) const CALL_BYTES: f64 = 200.0;

/// Returns the calls that clients keep in flight at most.
pub(super) fn slots(n_clients: u32, connections: u32, slots_per_connection: u32) -> u64 {
    u64::from(n_clients) * u64::from(connections) * u64::from(slots_per_connection)
}

/// Returns the calls that one I/O becomes.
pub(super) fn calls(io_bytes: u64, transfer_bytes: u64) -> u64 {
    io_bytes.div_ceil(transfer_bytes.max(1)).max(1)
}
