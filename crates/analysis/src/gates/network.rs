//! Do socket buffers hold what a network path carries?
//!
//! A connection moves at most one window per round trip. Linux grows the window up to
//! `tcp_rmem[2]` and what is sent up to `tcp_wmem[2]`; about half of a buffer is data, the rest the
//! kernel's own bookkeeping (`tcp_adv_win_scale`, tcp(7)). `rmem_max` and `wmem_max` hold for
//! programs that set their buffers themselves.

use units::{format_bytes, format_latency_ns, format_rate_mib_s};

use crate::gate::{Gate, GateName};

/// What socket buffers are judged by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SocketInputs {
    /// Bytes per second that the path should carry in one direction, over all connections: that of
    /// the interface or of the volume, whichever is less.
    pub bandwidth_bytes_s: f64,
    /// Round trip time, nanoseconds.
    pub round_trip_ns: f64,
    /// Connections that share the load.
    pub n_connections: u32,
    /// `net.ipv4.tcp_rmem`: least, initial and largest receive buffer; none if unknown.
    pub tcp_rmem: Option<[u64; 3]>,
    /// `net.ipv4.tcp_wmem`: the same for sending.
    pub tcp_wmem: Option<[u64; 3]>,
    /// `net.core.rmem_max`; none if unknown.
    pub rmem_max: Option<u64>,
    /// `net.core.wmem_max`; none if unknown.
    pub wmem_max: Option<u64>,
    /// The connections' buffers are set by the program, so `rmem_max` and `wmem_max` hold instead
    /// of the largest automatic size.
    pub is_set_by_program: bool,
}

/// Share of a buffer that is data.
const DATA_SHARE: f64 = 0.5;

/// Judges whether bandwidth x round trip fits into the largest socket buffers.
pub fn socket_buffers(inputs: &SocketInputs) -> Gate {
    let name = GateName::SocketBuffers;
    let n = f64::from(inputs.n_connections.max(1));
    let flight_bytes = inputs.bandwidth_bytes_s * inputs.round_trip_ns / 1e9 / n;
    let limits = if inputs.is_set_by_program {
        [("net.core.rmem_max", inputs.rmem_max), ("net.core.wmem_max", inputs.wmem_max)]
    } else {
        let largest = |sizes: Option<[u64; 3]>| sizes.map(|sizes| sizes[2]);
        [
            ("net.ipv4.tcp_rmem", largest(inputs.tcp_rmem)),
            ("net.ipv4.tcp_wmem", largest(inputs.tcp_wmem)),
        ]
    };
    let known = limits.iter().filter_map(|(sysctl, limit)| limit.map(|limit| (*sysctl, limit)));
    let Some((sysctl, limit)) = known.min_by_key(|(_, limit)| *limit) else {
        return Gate::unknown(name, "the limits of socket buffers are not known");
    };
    if !(flight_bytes > 0.0 && flight_bytes.is_finite()) {
        return Gate::unknown(name, "bandwidth or round trip time is not known");
    }
    let needed_bytes = (flight_bytes / DATA_SHARE).ceil();
    let window_bytes = limit as f64 * DATA_SHARE;
    let possible_bytes_s = window_bytes * n / (inputs.round_trip_ns / 1e9);
    let round_trip = format_latency_ns(inputs.round_trip_ns as u64);
    let figures = [
        ("flight_bytes", flight_bytes),
        ("needed_bytes", needed_bytes),
        ("limit_bytes", limit as f64),
        ("possible_bytes_s", possible_bytes_s),
    ];
    let connections = match inputs.n_connections {
        0 | 1 => "1 connection carries".to_owned(),
        n => format!("{n} connections carry"),
    };
    let is_kept = limit as f64 >= needed_bytes;
    let reason = if is_kept {
        format!(
            "{sysctl} allows {} per connection, and {} are under way in {round_trip}",
            format_bytes(limit),
            format_bytes(flight_bytes as u64)
        )
    } else {
        format!(
            "{sysctl} allows {} per connection, so {connections} {} at {round_trip}; for {} \
             set it to {} or more, or use more connections",
            format_bytes(limit),
            format_rate_mib_s(possible_bytes_s),
            format_rate_mib_s(inputs.bandwidth_bytes_s),
            needed_bytes as u64
        )
    };
    Gate::judged(name, is_kept, reason).with(&figures)
}
