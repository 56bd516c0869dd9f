//! I/O size: units that an I/O counts as, and the megabytes of published tables.

use super::bound::Bound;

/// I/O size of transactions in the Premium Storage guide (its line 139).
pub const OLTP_IO_BYTES: u64 = 8 << 10;

/// I/O size of a data warehouse in the same guide (line 140).
pub const WAREHOUSE_IO_BYTES: u64 = 1 << 20;

/// Returns how many I/Os one of this length counts as: one for each begun unit.
///
/// Premium SSD and Standard SSD count pieces of 256 KiB (disk types page). `None` counts each I/O
/// once. An I/O without bytes counts once as well.
pub fn io_units(len_bytes: u64, unit_bytes: Option<u64>) -> u64 {
    unit_bytes.map_or(1, |unit_bytes| len_bytes.div_ceil(unit_bytes.max(1)).max(1))
}

/// Bytes of one MB where bytes bind in the tables of the Premium Storage guide, which print KB /
/// 1,000 where I/Os do: no single reading gives all figures of its table.
const PUBLISHED_MB_BYTES: f64 = 1_048_576.0;

/// Bytes that one MB of a published figure may have, tried in this order.
const PUBLISHED_BYTES: [f64; 3] = [1e6, 1_024_000.0, 1_048_576.0];

/// Returns I/Os and MB per second as the tables of the Premium Storage guide print them, for a rate
/// of I/Os that a cap binds.
///
/// Where bytes bind, `cap` is the cap in bytes per second, and its published figure is the whole
/// number of MB that it is, in the first reading that gives one.
///
/// # Panics
/// If an I/O has no byte.
pub fn published_mb_s(iops: f64, size_bytes: f64, binds: Bound, cap: f64) -> (f64, f64) {
    assert!(size_bytes > 0.0, "an I/O of {size_bytes} B");
    let is_bytes = matches!(binds, Bound::Cap(kind) if !kind.counts_operations());
    if !is_bytes {
        return (iops, iops * size_bytes / 1024.0 / 1000.0);
    }
    let is_whole = |bytes: &f64| (cap / bytes).fract().abs() < 1e-9;
    let mb_bytes = PUBLISHED_BYTES.into_iter().find(is_whole).unwrap_or(1e6);
    let mb_s = iops * size_bytes / mb_bytes;
    (mb_s * PUBLISHED_MB_BYTES / size_bytes, mb_s)
}
