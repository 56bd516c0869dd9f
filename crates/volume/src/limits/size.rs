//! I/O size: units that an I/O counts as, the three megabytes, and what a pair of caps carries.

use super::bound::{Bound, least};
use crate::cap::CapKind;

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

/// What was asked of a disk in one second, and whether it carries that.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Second {
    /// I/Os after unit accounting.
    pub units: u64,
    /// Bytes.
    pub bytes: u64,
    /// More than a cap of the disk.
    pub throttled: bool,
    /// The cap with the largest share used.
    pub binds: Bound,
}

/// Adds up a second's I/Os, given as (count, length in bytes), against a disk's caps per second.
pub fn second(ios: &[(u64, u64)], unit_bytes: u64, iops: f64, bytes_per_s: Option<f64>) -> Second {
    let units = ios.iter().map(|(count, len)| count * io_units(*len, Some(unit_bytes))).sum();
    let bytes: u64 = ios.iter().map(|(count, len)| count * len).sum();
    let by_units = units as f64 / iops;
    let by_bytes = bytes_per_s.map_or(0.0, |cap| bytes as f64 / cap);
    let binds = if by_units >= by_bytes {
        Bound::Cap(CapKind::DiskIops)
    } else {
        Bound::Cap(CapKind::DiskBytes)
    };
    Second { units, bytes, throttled: by_units.max(by_bytes) > 1.0, binds }
}

/// Returns the I/O size at which both caps bind; below it I/Os bind, above it bytes.
pub fn knee_bytes(iops: f64, bytes_per_s: f64) -> f64 {
    bytes_per_s / iops
}

/// How "MB" is read. Published tables mean three different things by it, up to 4.9 % apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Megabyte {
    /// 10^6 bytes.
    Decimal,
    /// 2^20 bytes.
    Binary,
    /// 1,000 KiB, as older tables of virtual machines: 1,024,000 bytes.
    Kib1000,
    /// As the Premium Storage guide prints: a rate that I/Os bind is KB / 1,000, one that bytes
    /// bind is MB x 1,024 KB. No single reading gives all figures of its table.
    Published,
}

impl Megabyte {
    /// Returns the bytes of one MB where bytes bind.
    pub fn bytes(self) -> f64 {
        match self {
            Megabyte::Decimal => 1e6,
            Megabyte::Binary | Megabyte::Published => f64::from(1 << 20),
            Megabyte::Kib1000 => 1_024_000.0,
        }
    }

    /// Returns a rate in MB/s from I/Os per second and their size in KiB.
    fn rate(self, iops: f64, io_kib: f64, binds: Bound) -> f64 {
        match self {
            Megabyte::Published if binds == Bound::Cap(CapKind::DiskIops) => iops * io_kib / 1000.0,
            _ => iops * io_kib * 1024.0 / self.bytes(),
        }
    }
}

/// What a pair of caps carries at one I/O size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AtSize {
    /// I/Os per second.
    pub iops: f64,
    /// Megabytes per second, as they were read.
    pub mb_s: f64,
    /// Which of the two caps binds.
    pub binds: Bound,
}

/// Returns what a published pair of caps carries at one I/O size: the smaller of the I/Os and of
/// the bytes over the size.
pub fn at_size(iops: f64, mb_s: f64, io_kib: f64, reading: Megabyte) -> AtSize {
    let by_bytes = mb_s * reading.bytes() / (io_kib * 1024.0);
    let least = least(
        None,
        &[(Bound::Cap(CapKind::DiskIops), iops), (Bound::Cap(CapKind::DiskBytes), by_bytes)],
    );
    let mb_s = reading.rate(least.rate, io_kib, least.binds);
    AtSize { iops: least.rate, mb_s, binds: least.binds }
}

/// Returns bytes per second from megabits per second, as network cards are sold: 10^6 bit.
pub fn bytes_of_megabits(mbit_s: f64) -> f64 {
    mbit_s * 1e6 / 8.0
}

/// Returns how long it takes to move so many bytes, in seconds.
pub fn seconds_to_move(bytes: f64, bytes_per_s: f64) -> f64 {
    bytes / bytes_per_s
}

/// Bytes that one MB of a published figure may have, tried in this order.
const PUBLISHED_BYTES: [f64; 3] = [1e6, 1_024_000.0, 1_048_576.0];

/// Returns I/Os and MB per second as [`Megabyte::Published`] has them, for a rate of I/Os that a
/// cap binds.
///
/// Where bytes bind, `cap` is the cap in bytes per second, and its published figure is the whole
/// number of MB that it is, in the first reading that gives one.
pub fn published_mb_s(iops: f64, size_bytes: f64, binds: Bound, cap: f64) -> (f64, f64) {
    let is_bytes = matches!(binds, Bound::Cap(kind) if !kind.counts_operations());
    if !is_bytes {
        return (iops, iops * size_bytes / 1024.0 / 1000.0);
    }
    let is_whole = |bytes: &f64| (cap / bytes).fract().abs() < 1e-9;
    let mb_bytes = PUBLISHED_BYTES.into_iter().find(is_whole).unwrap_or(1e6);
    let mb_s = iops * size_bytes / mb_bytes;
    (mb_s * Megabyte::Published.bytes() / size_bytes, mb_s)
}
