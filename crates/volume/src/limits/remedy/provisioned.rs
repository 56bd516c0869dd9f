//! Limits of a disk that can simply be set.

use super::{Change, Tries};
use crate::cap::CapKind;
use crate::design::{Disk, Provisioned};

const GIB: f64 = (1_u64 << 30) as f64;

impl Tries<'_> {
    /// Tries the keys `iops` and `throughput`, then `size`, as far as the type has them.
    pub(super) fn provisioned(&mut self, kind: CapKind) {
        let Some(stripe) = self.stripe() else { return };
        let Some(disk) = stripe.disks.first() else { return };
        let Some(kit) = Provisioned::new(self.design, &disk.sku) else { return };
        let n_disks = stripe.disks.len() as f64;
        let need = |kind: CapKind| {
            let cap = self.cap(kind)?;
            // Without a need so much that the next cap is reached: more would bring nothing.
            let goal = self.goal.unwrap_or(self.rate * self.factor());
            Some((goal * cap.per_io / n_disks - 1e-6).ceil() as u64)
        };
        let (need_iops, need_bytes) = (need(CapKind::DiskIops), need(CapKind::DiskBytes));
        let most_iops = kit.iops_max(disk.size_bytes);
        let iops = raised(disk.cap.iops.as_ref().map(|cap| cap.per_s), need_iops, most_iops);
        let of = |iops: Option<u64>| kit.throughput_max(disk.size_bytes, iops);
        let now_iops = disk.cap.iops.as_ref().map(|cap| cap.per_s);
        let now_bytes = disk.cap.bytes.as_ref().map(|cap| cap.per_s);
        let bytes = raised(now_bytes, need_bytes, of(now_iops));
        let with_most = iops.or(now_iops);
        let bytes_with_iops = raised(now_bytes, need_bytes, of(most_iops.or(with_most)));
        // Throughput may be bounded by operations; then both are raised.
        let both = bytes_with_iops.map(|bytes| {
            let asked = if kind == CapKind::DiskIops { with_most } else { now_iops.max(need_iops) };
            let least = kit.iops_for(bytes).max(asked);
            (least.map(|least| least.min(most_iops.unwrap_or(least))), Some(bytes))
        });
        let single = match kind {
            CapKind::DiskIops => (iops, None),
            _ => (None, bytes),
        };
        let choices = [Some(single), both].into_iter().flatten();
        let changes: Vec<Change> =
            choices.filter_map(|choice| self.chosen(&kit, disk, choice)).collect();
        if !self.keep_least(changes) {
            self.larger_size(&kit, disk);
        }
    }

    /// Returns the design with limits chosen, and how they are written.
    fn chosen(
        &self,
        kit: &Provisioned<'_>,
        disk: &Disk,
        (iops, bytes): (Option<u64>, Option<u64>),
    ) -> Option<Change> {
        if iops.is_none() && bytes.is_none() {
            return None;
        }
        let asked = kit.asked(&disk.cap);
        let cap = kit.cap(disk.size_bytes, iops.or(asked.0), bytes.or(asked.1))?;
        let size = format!("{:.0} GiB", disk.size_bytes as f64 / GIB);
        let mut keys = Vec::new();
        if let Some(iops) = iops.filter(|iops| asked.0 != Some(*iops)) {
            let is_most = kit.iops_max(disk.size_bytes) == Some(iops);
            let most = if is_most { format!(" (the most for {size})") } else { String::new() };
            keys.push(format!("`iops = {iops}`{most}"));
        }
        if let Some(bytes) = bytes {
            let now = cap.iops.as_ref().map(|cap| cap.per_s);
            let is_most = kit.throughput_max(disk.size_bytes, now) == Some(bytes);
            let most = match now.filter(|_| is_most) {
                Some(now) => format!(" (the most for {now} IOPS)"),
                None => String::new(),
            };
            keys.push(format!("`throughput = \"{}\"`{most}", written(bytes)));
        }
        let design = self.with_stripe(|stripe| {
            stripe.disks.iter_mut().for_each(|disk| disk.cap = cap.clone());
        });
        Some((keys.join(" and "), design))
    }

    /// Tries larger sizes of a type whose limits follow from the size: for a need the least that
    /// meets it, in whole GiB.
    fn larger_size(&mut self, kit: &Provisioned<'_>, disk: &Disk) {
        let mut changes = Vec::new();
        let (mut below, mut size_bytes) = (disk.size_bytes, disk.size_bytes);
        while size_bytes < kit.size_max() {
            size_bytes = size_bytes.saturating_mul(2).min(kit.size_max());
            let Some(change) = self.sized(kit, disk, size_bytes) else { continue };
            if self.goal.is_some() && self.meets_need(&change) {
                let least = self.least_size(kit, disk, (below, size_bytes));
                changes.push(self.sized(kit, disk, least).unwrap_or(change));
                break;
            }
            below = size_bytes;
            changes.push(change);
        }
        self.keep_least(changes);
    }

    /// Returns the least size that meets the need, between one that does not and one that does.
    fn least_size(&self, kit: &Provisioned<'_>, disk: &Disk, (below, enough): (u64, u64)) -> u64 {
        const GIB_SHIFT: u32 = 30;
        let (mut below, mut least) = (below >> GIB_SHIFT, enough.div_ceil(1 << GIB_SHIFT));
        while least - below > 1 {
            let middle = below.midpoint(least);
            let change = self.sized(kit, disk, middle << GIB_SHIFT);
            if change.is_some_and(|change| self.meets_need(&change)) {
                least = middle;
            } else {
                below = middle;
            }
        }
        (least << GIB_SHIFT).min(enough)
    }

    /// Returns the design with disks of a size, and how that is written.
    fn sized(&self, kit: &Provisioned<'_>, disk: &Disk, size_bytes: u64) -> Option<Change> {
        let asked = kit.asked(&disk.cap);
        let cap = kit.cap(size_bytes, asked.0, asked.1)?;
        let change = format!("`size = \"{:.0}GiB\"`", size_bytes as f64 / GIB);
        let design = self.with_stripe(|stripe| {
            for disk in &mut stripe.disks {
                (disk.cap, disk.size_bytes) = (cap.clone(), size_bytes);
                disk.write_iops = kit.write_iops(size_bytes);
            }
        });
        Some((change, design))
    }
}

/// Returns a limit raised to a need, or to the most; `None` where it is there already.
fn raised(now: Option<u64>, need: Option<u64>, most: Option<u64>) -> Option<u64> {
    let most = most?;
    let wanted = need.map_or(most, in_units).min(most);
    (wanted > now.unwrap_or(0)).then_some(wanted)
}

/// Rounds up what is counted in millions to whole millions: a figure in single bytes per second is
/// none that one would write.
fn in_units(need: u64) -> u64 {
    const MB: u64 = 1_000_000;
    if need < MB { need } else { need.div_ceil(MB) * MB }
}

/// Writes a throughput as a design takes it.
fn written(bytes_per_s: u64) -> String {
    if bytes_per_s.is_multiple_of(1_000_000) {
        format!("{}MB/s", bytes_per_s / 1_000_000)
    } else if bytes_per_s.is_multiple_of(1 << 20) {
        format!("{}MiB/s", bytes_per_s >> 20)
    } else {
        format!("{}KiB/s", bytes_per_s >> 10)
    }
}
