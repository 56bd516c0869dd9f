//! Limits of a disk that can simply be set.

use super::{Remedy, Step, Tries};
use crate::cap::CapKind;
use crate::design::{Disk, Limit, Provisioned};

const GIB: f64 = (1_u64 << 30) as f64;

impl Tries<'_> {
    /// Tries the keys `iops` and `throughput`, then `size`, as far as the type has them, and then
    /// both together. What a need takes is [`Tries::choice`].
    pub(super) fn provisioned(&mut self, kind: CapKind) {
        let Some(stripe) = self.stripe() else { return };
        let Some(disk) = stripe.disks.first() else { return };
        let Some(kit) = Provisioned::new(self.design, &stripe) else { return };
        let n_before = self.found.len();
        let mut is_lifted = self.one_limit(kind, &kit, disk);
        let is_enough = |remedy: &Remedy| remedy.is_enough == Some(true);
        let has_enough = |tries: &Self| tries.found[n_before..].iter().any(is_enough);
        if !is_lifted || (self.goal.is_some() && !has_enough(self)) {
            let alone = self.found.split_off(n_before);
            is_lifted |= self.both_limits(&kit, disk);
            // What is not enough is of use only where both are not either.
            if !has_enough(self) && !alone.is_empty() {
                self.found.splice(n_before.., alone);
            }
        }
        if !is_lifted {
            let n_before = self.found.len();
            self.larger_size(&kit, disk);
            if self.found.len() == n_before {
                self.choice(0);
            }
        }
    }

    /// Tries the limit that binds.
    fn one_limit(&mut self, kind: CapKind, kit: &Provisioned<'_>, disk: &Disk) -> bool {
        let now = |limit: &Option<Limit>| limit.as_ref().map_or(0, |limit| limit.per_s);
        let now_iops = now(&disk.cap.iops);
        let wanted = self.wanted();
        if kind == CapKind::DiskIops {
            let Some(most) = kit.iops_max(disk.size_bytes) else { return false };
            return self.keep_least_number((now_iops, most), wanted, |tries, iops| {
                tries.chosen(kit, disk, (Some(iops), None))
            });
        }
        let Some(most) = kit.throughput_max(disk.size_bytes, Some(now_iops)) else { return false };
        let unit = kit.throughput_unit();
        let range = (now(&disk.cap.bytes) / unit, most.div_ceil(unit));
        self.keep_least_number(range, wanted, |tries, n_units| {
            tries.chosen(kit, disk, (None, Some((n_units * unit).min(most))))
        })
    }

    /// Tries both limits: the throughput may be bounded by the operations, and either may bind once
    /// the other is raised.
    fn both_limits(&mut self, kit: &Provisioned<'_>, disk: &Disk) -> bool {
        let now = |limit: &Option<Limit>| limit.as_ref().map_or(0, |limit| limit.per_s);
        let (now_iops, now_bytes) = (now(&disk.cap.iops), now(&disk.cap.bytes));
        let most_iops = kit.iops_max(disk.size_bytes);
        let most = most_iops.zip(kit.throughput_max(disk.size_bytes, most_iops));
        let Some((most_iops, most)) = most.filter(|(_, most)| *most > now_bytes) else {
            return false;
        };
        let unit = kit.throughput_unit();
        let range = (now_bytes / unit, most.div_ceil(unit));
        let with_most_iops = |tries: &Self, n_units: u64| {
            tries.chosen(kit, disk, (Some(most_iops), Some((n_units * unit).min(most))))
        };
        let Some(at_most) = self.tried_number(range.1, &with_most_iops) else { return false };
        let wanted = self.wanted().min(at_most.disks_left);
        let n_units = self.least_number(range, wanted, &with_most_iops, |tried| tried.disks_left);
        let bytes = (n_units * unit).min(most);
        let least_iops = kit.iops_for(bytes).unwrap_or(0).max(now_iops).max(1);
        let range = (least_iops.min(most_iops) - 1, most_iops);
        self.keep_least_number(range, wanted, |tries, iops| {
            tries.chosen(kit, disk, (Some(iops), Some(bytes)))
        })
    }

    /// Returns the design with limits chosen, and how they are written.
    fn chosen(
        &self,
        kit: &Provisioned<'_>,
        disk: &Disk,
        (iops, bytes): (Option<u64>, Option<u64>),
    ) -> Option<Step> {
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
        Some((keys.join(" and "), design, self.flows.to_vec()))
    }

    /// Tries larger sizes of a type whose limits follow from the size, in whole GiB: up to twice as
    /// large where no need says.
    fn larger_size(&mut self, kit: &Provisioned<'_>, disk: &Disk) {
        const GIB_SHIFT: u32 = 30;
        let largest = kit.size_max() >> GIB_SHIFT;
        let now = disk.size_bytes >> GIB_SHIFT;
        let most = if self.goal.is_some() { largest } else { largest.min(now.max(1) * 2) };
        let wanted = self.goal.unwrap_or(f64::INFINITY);
        self.keep_least_number((now, most), wanted, |tries, size_gib| {
            tries.sized(kit, disk, size_gib << GIB_SHIFT)
        });
    }

    /// Returns the design with disks of a size, and how that is written.
    fn sized(&self, kit: &Provisioned<'_>, disk: &Disk, size_bytes: u64) -> Option<Step> {
        let asked = kit.asked(&disk.cap);
        let cap = kit.cap(size_bytes, asked.0, asked.1)?;
        let change = format!("`size = \"{:.0}GiB\"`", size_bytes as f64 / GIB);
        let design = self.with_stripe(|stripe| {
            for disk in &mut stripe.disks {
                (disk.cap, disk.size_bytes) = (cap.clone(), size_bytes);
                disk.write_iops = kit.write_iops(size_bytes);
            }
        });
        Some((change, design, self.flows.to_vec()))
    }
}

/// Writes a throughput as a design takes it.
pub(super) fn written(bytes_per_s: u64) -> String {
    if bytes_per_s.is_multiple_of(1_000_000) {
        format!("{}MB/s", bytes_per_s / 1_000_000)
    } else if bytes_per_s.is_multiple_of(1 << 20) {
        format!("{}MiB/s", bytes_per_s >> 20)
    } else {
        format!("{}KiB/s", bytes_per_s >> 10)
    }
}
