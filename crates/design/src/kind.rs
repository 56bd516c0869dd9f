//! Types of disk, as a design file makes them.

use std::sync::Arc;

use catalog::{Cacheable, Catalog, Disk as Sku, Edition};
use volume::Design;
use volume::design::{Backing, Disk, Provisioned, needs_premium, parse_in_mb};
use volume::limits::stripe::split_load;

use crate::need::VolumeNeed;
use crate::uses::ROUNDING;

/// Stripe units that are used: for small I/Os, and for those that it would cut.
///
/// The Premium Storage guide advises 64 KiB for transactions and 256 KiB for data warehouses.
pub const CHUNKS_BYTES: [u64; 2] = [64 << 10, 256 << 10];

/// Size of a type that leaves it open, where it is only looked at, bytes.
const SIZE_LOOKED_AT: u64 = 1 << 40;

/// A tier of disks, or a type whose size or limits are chosen.
pub(crate) struct DiskKind<'e> {
    pub(crate) sku: &'e Sku,
    /// One such disk behind no machine, with the least of what is chosen.
    pub(crate) frame: Design,
    pub(crate) disk: Disk,
    /// Which of the classes it is of that a machine may have limits of its own for.
    pub(crate) class: usize,
    pub(crate) may_cache: bool,
    pub(crate) needs_premium: bool,
    /// Most operations per second that can be chosen on machines that are not built on Nitro.
    pub(crate) iops_max_without_nitro: Option<u64>,
}

impl<'e> DiskKind<'e> {
    /// Makes one; `None` where no design can have such a disk.
    pub(crate) fn new(
        (edition, catalog): (&'e Edition, &Arc<Catalog>),
        mb_bytes: u64,
        sku: &'e Sku,
        class: usize,
    ) -> Option<Self> {
        let mut text = format!(
            "edition = \"{}\"\n[[volume]]\nmount = \"/v\"\ndisk = \"{}\"\ncache = \"None\"\n",
            edition.info.name, sku.name
        );
        if let Some(kit) = Provisioned::of(edition, mb_bytes, sku) {
            let size = SIZE_LOOKED_AT.clamp(kit.size_min(), kit.size_max());
            text.push_str(&format!("size = \"{size}B\"\n"));
            let iops = kit.iops_range(size).map(|range| *range.start());
            let bytes = kit.throughput_range(size, iops).map(|range| *range.start());
            if let Some(iops) = iops {
                text.push_str(&format!("iops = {iops}\n"));
            }
            if let Some(bytes) = bytes {
                text.push_str(&format!("throughput = \"{bytes}B/s\"\n"));
            }
        }
        let frame = parse_in_mb(&text, catalog, mb_bytes)?;
        let Backing::Disks(stripe) = &frame.volumes.first()?.backing else { return None };
        let disk = stripe.disks.first()?.clone();
        let may_cache = sku.cacheable() != Cacheable::No;
        let needs_premium = needs_premium(sku.family());
        let iops_max_without_nitro = sku.iops_max_without_nitro().map(|figure| figure.per_s);
        Some(DiskKind { sku, frame, disk, class, may_cache, needs_premium, iops_max_without_nitro })
    }

    /// Says whether a machine that is not built on Nitro has it with so many operations.
    pub(crate) fn fits_without_nitro(&self, iops: Option<u64>) -> bool {
        let most = self.iops_max_without_nitro.unwrap_or(u64::MAX);
        iops.is_none_or(|iops| iops <= most)
    }

    /// Returns whether all its limits are known that hold an I/O back.
    pub(crate) fn is_known(&self) -> bool {
        let is_counted_in_bytes = self.disk.merging == volume::design::Merging::Units;
        (self.disk.cap.iops.is_some() || is_counted_in_bytes) && self.disk.cap.bytes.is_some()
    }
}

/// Returns the stripe unit for the load of a volume: the one that cuts its I/Os least, and the
/// smallest of such.
pub(crate) fn chunk_bytes(need: &VolumeNeed) -> u64 {
    // A larger unit cuts no I/O into more parts.
    let parts = |chunk_bytes: u64| -> f64 {
        let phases = need.phases.iter();
        phases.map(|phase| split_load(&phase.load(), chunk_bytes, None).sub_ios).sum()
    };
    let largest = CHUNKS_BYTES[CHUNKS_BYTES.len() - 1];
    let fewest = parts(largest) * (1.0 + ROUNDING);
    CHUNKS_BYTES.into_iter().find(|chunk| parts(*chunk) <= fewest).unwrap_or(largest)
}
