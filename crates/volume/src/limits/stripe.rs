//! Disks side by side: how an I/O splits, how many disks a queue keeps busy.

use super::size::io_units;
use crate::load::Load;

/// Most columns that the Windows Server Manager dialog makes (guide, line 274). PowerShell takes
/// as many as there are disks.
pub const DIALOG_COLUMNS_MAX: u32 = 8;

/// Smallest step between offsets that is looked at, bytes: a sector.
const SECTOR_BYTES: u64 = 512;

/// Places in a chunk that are looked at: those of sectors in 2 TiB.
const PLACES_MAX: u64 = 1 << 32;

/// Sizes of an I/O in a chunk from which on no cut is looked for: not one of a million is cut.
const CHUNK_SIZES_MAX: u64 = 1 << 20;

/// What one I/O becomes on the disks of a stripe, on average over its places.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Split {
    /// I/Os on disks.
    pub sub_ios: f64,
    /// I/Os that these count as, after unit accounting.
    pub units: f64,
}

/// Returns what an I/O splits into that starts at any multiple of `align_bytes`, each as likely.
///
/// It is cut at chunk boundaries: 1 + (size − align) / chunk on average where it is no longer than
/// a chunk. Offsets are taken in steps of a sector at least.
///
/// # Panics
/// If there is no byte to split, or there are more places to look at than 2^32.
pub fn split(
    size_bytes: u64,
    align_bytes: u64,
    chunk_bytes: u64,
    unit_bytes: Option<u64>,
) -> Split {
    let chunk_bytes = chunk_bytes.max(SECTOR_BYTES);
    let align_bytes = align_bytes.max(SECTOR_BYTES);
    // Places repeat after the smallest common multiple of alignment and chunk.
    let n_places = chunk_bytes / units::gcd(align_bytes, chunk_bytes);
    assert!(size_bytes > 0, "an I/O without bytes is split");
    assert!(n_places <= PLACES_MAX, "{n_places} places in a chunk of {chunk_bytes} B");
    let (mut sub_ios, mut units) = (0, 0);
    for place_idx in 0..n_places {
        let start = place_idx * align_bytes % chunk_bytes;
        let first = size_bytes.min(chunk_bytes - start);
        let rest = size_bytes - first;
        let last = rest % chunk_bytes;
        sub_ios += 1 + rest / chunk_bytes + u64::from(last > 0);
        units +=
            io_units(first, unit_bytes) + rest / chunk_bytes * io_units(chunk_bytes, unit_bytes);
        units += if last > 0 { io_units(last, unit_bytes) } else { 0 };
    }
    let mean = |sum: u64| sum as f64 / n_places as f64;
    Split { sub_ios: mean(sub_ios), units: mean(units) }
}

/// Returns what an I/O of a load splits into. Mixed sizes are taken for the two multiples of their
/// step beside their mean, which cross as many chunk boundaries as any others of this mean.
///
/// # Panics
/// As [`split`].
pub fn split_load(load: &Load, chunk_bytes: u64, unit_bytes: Option<u64>) -> Split {
    let size_bytes = load.size_bytes;
    let Some(step_bytes) = load.step_bytes else {
        let align_bytes = load.align_bytes.unwrap_or(size_bytes);
        return one_size(size_bytes, align_bytes, chunk_bytes, unit_bytes);
    };
    let below = (size_bytes / step_bytes * step_bytes).max(step_bytes);
    let above_share = size_bytes.saturating_sub(below) as f64 / step_bytes as f64;
    let first = one_size(below, step_bytes, chunk_bytes, unit_bytes);
    if above_share <= 0.0 {
        return first;
    }
    let second = one_size(below + step_bytes, step_bytes, chunk_bytes, unit_bytes);
    let mean = |first: f64, second: f64| first + (second - first) * above_share;
    Split { sub_ios: mean(first.sub_ios, second.sub_ios), units: mean(first.units, second.units) }
}

/// Returns what an I/O splits into; where chunks are far larger than it, it is cut nowhere.
fn one_size(size_bytes: u64, align_bytes: u64, chunk_bytes: u64, unit_bytes: Option<u64>) -> Split {
    if chunk_bytes > size_bytes.saturating_mul(CHUNK_SIZES_MAX) {
        return Split { sub_ios: 1.0, units: io_units(size_bytes, unit_bytes) as f64 };
    }
    split(size_bytes, align_bytes, chunk_bytes, unit_bytes)
}

/// Returns the most disks that a queue keeps busy.
pub fn busy_max(n_disks: u32, queue_depth: u32) -> u32 {
    n_disks.min(queue_depth)
}

/// Returns how many disks are busy on average if each I/O in flight falls on any of them:
/// n (1 − (1 − 1/n)^q).
///
/// # Panics
/// If there is no disk.
pub fn busy_expected(n_disks: u32, queue_depth: u32) -> f64 {
    assert!(n_disks > 0, "{queue_depth} I/Os are in flight on no disk");
    let n = f64::from(n_disks);
    n * (1.0 - (1.0 - 1.0 / n).powi(queue_depth.cast_signed()))
}
