//! Disks whose size and limits are chosen: number, size and limits as one choice.
//!
//! Of all that carry what is wanted, the one with the fewest disks; of these the smallest; of these
//! the one with fewest operations, and then with least throughput. Disks, size and limits that are
//! there are kept: what is on them stays.

use super::{Cleared, Remedy, SHORT_MAX, Tries};
use crate::design::{Design, Disk, Provisioned, Stripe};

const GIB: u64 = 1 << 30;

/// Throughput that is tried of a type without a published most, bytes per second: 1 TiB/s, which
/// no disk with a published one comes near.
const BYTES_TRIED_MAX: u64 = 1 << 40;

/// What can be chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Choice {
    n_disks: usize,
    size_bytes: u64,
    /// Operations per second; `None` where they follow from the rest.
    iops: Option<u64>,
    /// Bytes per second; `None` where they follow from the rest.
    bytes_per_s: Option<u64>,
}

/// All choices for a volume.
struct Choices<'t, 'd> {
    tries: &'t Tries<'d>,
    kit: Provisioned<'d>,
    disk: Disk,
    now: Choice,
    /// Disks are added by so many.
    step: usize,
}

impl Tries<'_> {
    /// Returns whether the disks of the volume are of a type whose size or limits are chosen.
    pub(super) fn is_chosen(&self) -> bool {
        self.stripe().is_some_and(|stripe| Provisioned::new(self.design, &stripe).is_some())
    }

    /// Keeps the least choice that brings what is wanted, or else as much as there is, with up to
    /// so many more disks. Beside it, where another cap is in the way, the least that takes the
    /// first one out of it.
    pub(super) fn choice(&mut self, n_more: usize) {
        let Some(choices) = Choices::new(self) else { return };
        let wanted = self.wanted();
        let best = choices.counts(n_more).map(|n_disks| choices.left(choices.most(n_disks)));
        let best = best.fold(0.0, f64::max).min(wanted);
        let is_done = |remedy: &Remedy| remedy.is_enough != Some(false);
        let mut found = choices.tried(n_more, best);
        let mut cleared = None;
        if let Some((choice, remedy)) = &found
            && !remedy.as_ref().is_some_and(is_done)
        {
            if best >= wanted * (1.0 - SHORT_MAX) {
                cleared = choices.cleared(*choice);
            }
            // Another cap holds before: no more than it takes to get there.
            let rate = remedy.as_ref().map(|remedy| remedy.iops);
            found = rate.and_then(|rate| choices.tried(n_more, rate)).or(found);
        }
        self.found.extend(found.and_then(|(_, remedy)| remedy));
        self.cleared.extend(cleared);
    }
}

impl<'t, 'd> Choices<'t, 'd> {
    /// Returns those of the volume of a load; `None` where nothing can be chosen.
    fn new(tries: &'t Tries<'d>) -> Option<Self> {
        let stripe = tries.stripe()?;
        let disk = stripe.disks.first()?.clone();
        let kit = Provisioned::new(tries.design, &stripe)?;
        let (iops, bytes_per_s) = kit.asked(&disk.cap);
        let (n_disks, size_bytes) = (stripe.disks.len(), disk.size_bytes);
        let now = Choice { n_disks, size_bytes, iops, bytes_per_s };
        Some(Choices { tries, kit, disk, now, step: step(&stripe) })
    }

    fn counts(&self, n_more: usize) -> impl Iterator<Item = usize> {
        (self.now.n_disks..=self.now.n_disks + n_more).step_by(self.step)
    }

    /// Returns the most of so many disks.
    fn most(&self, n_disks: usize) -> Choice {
        self.of_size(n_disks, self.kit.size_max().max(self.now.size_bytes))
    }

    /// Returns the most of disks of a size.
    fn of_size(&self, n_disks: usize, size_bytes: u64) -> Choice {
        let iops = self.kit.iops_max(size_bytes).max(self.now.iops);
        self.of_iops(n_disks, size_bytes, iops)
    }

    /// Returns the most of disks with so many operations. Throughput is sold in whole units.
    fn of_iops(&self, n_disks: usize, size_bytes: u64, iops: Option<u64>) -> Choice {
        let range = self.kit.throughput_range(size_bytes, iops);
        let unit = self.kit.throughput_unit();
        let most = range.map(|range| (*range.end()).min(BYTES_TRIED_MAX) / unit * unit);
        Choice { n_disks, size_bytes, iops, bytes_per_s: most.max(self.now.bytes_per_s) }
    }

    /// Returns the rate that the disks of a choice leave to the load; 0 where it takes from others.
    fn left(&self, choice: Choice) -> f64 {
        let Some(design) = self.design(choice) else { return 0.0 };
        let tried = self.tries.tried("", &design, self.tries.flows);
        if tried.is_harmless { tried.disks_left } else { 0.0 }
    }

    /// Returns the least choice that leaves a rate to the load.
    fn least(&self, n_more: usize, wanted: f64) -> Option<Choice> {
        let is_enough = |choice: Choice| self.left(choice) >= wanted * (1.0 - SHORT_MAX);
        let n_disks = self.counts(n_more).find(|n_disks| is_enough(self.most(*n_disks)))?;
        let now_gib = self.now.size_bytes / GIB;
        let sized = |more_gib: u64| match more_gib {
            0 => self.now.size_bytes,
            more => (now_gib + more) * GIB,
        };
        let most_gib = (self.kit.size_max() / GIB).saturating_sub(now_gib);
        let more_gib = first(most_gib, |more| is_enough(self.of_size(n_disks, sized(more))));
        let size_bytes = sized(more_gib);
        let mut choice = self.of_size(n_disks, size_bytes);
        if let Some((now, most)) = self.now.iops.zip(choice.iops) {
            let of_iops = |more: u64| self.of_iops(n_disks, size_bytes, Some(now + more));
            choice = of_iops(first(most - now, |more| is_enough(of_iops(more))));
        }
        if let Some((now, most)) = self.now.bytes_per_s.zip(choice.bytes_per_s) {
            let unit = self.kit.throughput_unit();
            let of_units = |more: u64| match more {
                0 => Choice { bytes_per_s: Some(now), ..choice },
                more => {
                    Choice { bytes_per_s: Some(((now / unit + more) * unit).min(most)), ..choice }
                }
            };
            let most = most.div_ceil(unit) - now / unit;
            choice = of_units(first(most, |more| is_enough(of_units(more))));
        }
        Some(choice)
    }

    /// Returns the least choice that leaves a rate, and the change, if it lifts what is carried.
    fn tried(&self, n_more: usize, wanted: f64) -> Option<(Choice, Option<Remedy>)> {
        let choice = self.least(n_more, wanted)?;
        let (text, design) = (self.text(choice), self.design(choice)?);
        Some((choice, self.tries.tried(&text, &design, self.tries.flows).remedy))
    }

    fn cleared(&self, choice: Choice) -> Option<Cleared> {
        let design = self.design(choice)?;
        Some(Cleared { change: self.text(choice), design, flows: self.tries.flows.to_vec() })
    }

    /// Returns the design with a choice; `None` if that cannot be.
    fn design(&self, choice: Choice) -> Option<Design> {
        let Choice { n_disks, size_bytes, iops, bytes_per_s } = choice;
        let cap = self.kit.of_disks(n_disks).cap(size_bytes, iops, bytes_per_s)?;
        let write_iops = self.kit.write_iops(size_bytes);
        let disk = Disk { cap, write_iops, size_bytes, ..self.disk.clone() };
        let mut design = self.tries.with_stripe(|stripe| {
            if step(stripe) == 1 {
                stripe.columns += (n_disks - self.now.n_disks) as u32;
            }
            stripe.disks = vec![disk; n_disks];
        });
        let volume = &mut design.volumes[self.tries.volume_idx()];
        volume.capacity_bytes = size_bytes.saturating_mul(n_disks as u64);
        Some(design)
    }

    /// Writes what a choice changes as keys of a design.
    fn text(&self, choice: Choice) -> String {
        let now = self.now;
        let mut keys = Vec::new();
        if choice.n_disks != now.n_disks {
            keys.push(format!("`count = {}`", choice.n_disks));
        }
        if choice.size_bytes != now.size_bytes {
            keys.push(format!("`size = \"{}GiB\"`", choice.size_bytes / GIB));
        }
        if let Some(iops) = choice.iops.filter(|iops| now.iops != Some(*iops)) {
            keys.push(format!("`iops = {iops}`"));
        }
        if let Some(bytes) = choice.bytes_per_s.filter(|bytes| now.bytes_per_s != Some(*bytes)) {
            keys.push(format!("`throughput = \"{}\"`", super::provisioned::written(bytes)));
        }
        match keys.split_last() {
            Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
            _ => keys.concat(),
        }
    }
}

/// Returns by how many disks a stripe grows: columns that do not go over all disks stay, and take
/// as many disks more.
fn step(stripe: &Stripe) -> usize {
    let columns = stripe.columns as usize;
    if columns < stripe.disks.len() { columns.max(1) } else { 1 }
}

/// Returns the smallest number up to `most` that is enough; of `most` it is known.
fn first(most: u64, is_enough: impl Fn(u64) -> bool) -> u64 {
    if is_enough(0) {
        return 0;
    }
    let (mut below, mut most) = (0, most);
    while most - below > 1 {
        let middle = below.midpoint(most);
        *(if is_enough(middle) { &mut most } else { &mut below }) = middle;
    }
    most
}
