//! Designs that carry a need, by rank.

use std::cmp::Reverse;

use volume::CacheMode;
use volume::design::{Interface, LOCAL};

use crate::price::Price;

/// Disks that were chosen for a volume.
#[derive(Clone, Debug, PartialEq)]
pub struct ChosenDisks {
    /// Tier or type; [`LOCAL`] for disks of the machine itself.
    pub disk: String,
    /// How many, side by side.
    pub n_disks: u32,
    /// Host cache.
    pub cache: CacheMode,
    /// Stripe unit.
    pub chunk_bytes: u64,
    /// Size of each.
    pub size_bytes: u64,
    /// The type leaves the size open.
    pub is_sized: bool,
    /// Operations of each, where they are chosen.
    pub iops: Option<u64>,
    /// Bytes per second of each, where they are chosen.
    pub throughput: Option<u64>,
    /// What they cost.
    pub price: Price,
}

impl ChosenDisks {
    /// Returns whether they are disks of the machine itself.
    pub fn is_local(&self) -> bool {
        self.disk == LOCAL
    }

    /// Returns what all of them hold.
    pub fn capacity_bytes(&self) -> u64 {
        self.size_bytes * u64::from(self.n_disks)
    }
}

/// A design that carries a need.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranked {
    /// Machine size.
    pub machine: String,
    /// How it reaches its disks, where it is not its usual way.
    pub interface: Option<Interface>,
    /// What it costs.
    pub machine_price: Price,
    /// Disks by volume.
    pub volumes: Vec<ChosenDisks>,
    /// What all of it costs.
    pub price: Price,
    /// By how much the tightest cap is larger than the load on it: 0.25 is a quarter.
    pub headroom: f64,
    /// Machines and disks.
    pub n_parts: u32,
}

/// Steps of headroom that count as one: below is rounding.
pub(crate) const HEADROOM_STEP: f64 = 1e-9;

impl Ranked {
    /// Returns what it is ranked by, and then by name.
    #[expect(clippy::type_complexity, reason = "the order of a ranking, part by part")]
    pub fn rank(&self) -> (Price, Reverse<i64>, u32, &str, Vec<(&str, u32, bool)>) {
        let steps = (self.headroom / HEADROOM_STEP).round().min(1e18) as i64;
        let name = |it: &ChosenDisks| it.cache != CacheMode::None;
        let disks = self.volumes.iter().map(|it| (it.disk.as_str(), it.n_disks, name(it)));
        (self.price, Reverse(steps), self.n_parts, &self.machine, disks.collect())
    }

    /// Returns whether another one has the same machine and types of disk.
    pub(crate) fn is_of_same_kind(&self, other: &Ranked) -> bool {
        let names = |it: &Ranked| it.volumes.iter().map(|it| it.disk.clone()).collect::<Vec<_>>();
        self.machine == other.machine && names(self) == names(other)
    }
}

/// Which designs are wanted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Wanted<'a> {
    /// All.
    All,
    /// Those of which all is known.
    Known,
    /// Those of which nothing is unknown but whether the machine has the processors and the memory
    /// that are asked for, below a price. They are ranked as if it had.
    SizeUnknown {
        /// The price.
        below: Price,
        /// The series of the machines, as in [`crate::group::MachineSize::series`].
        series: &'a str,
        /// The least processors of the machines.
        vcpus: f64,
    },
}

/// The best designs so far, in order; of each machine and types of disk the best.
#[derive(Debug)]
pub(crate) struct TopDesigns {
    n_kept: usize,
    below: Option<Price>,
    is_known_only: bool,
    designs: Vec<Ranked>,
}

impl TopDesigns {
    /// Keeps so many of the designs that are wanted.
    pub(crate) fn new(n_kept: usize, wanted: Wanted<'_>) -> Self {
        let (is_known_only, below) = match wanted {
            Wanted::All => (false, None),
            Wanted::Known => (true, None),
            Wanted::SizeUnknown { below, .. } => (true, Some(below)),
        };
        TopDesigns { n_kept, below, is_known_only, designs: Vec::new() }
    }

    /// Returns how many designs are kept.
    pub(crate) fn n_kept(&self) -> usize {
        self.n_kept
    }

    /// Returns whether no design of this price, or a higher one, is wanted or among the best.
    pub(crate) fn is_beyond(&self, price: Price) -> bool {
        if self.is_known_only && price.is_open || self.below.is_some_and(|below| price >= below) {
            return true;
        }
        self.designs.len() >= self.n_kept
            && self.designs.last().is_some_and(|worst| price > worst.price)
    }

    /// Takes a design in if it is among the best.
    pub(crate) fn offer(&mut self, design: Ranked) {
        let of_kind = self.designs.iter().position(|known| known.is_of_same_kind(&design));
        if let Some(idx) = of_kind {
            if self.designs[idx].rank() <= design.rank() {
                return;
            }
            self.designs.remove(idx);
        }
        let at = self.designs.partition_point(|known| known.rank() <= design.rank());
        self.designs.insert(at, design);
        self.designs.truncate(self.n_kept);
    }

    pub(crate) fn take(self) -> Vec<Ranked> {
        self.designs
    }
}
