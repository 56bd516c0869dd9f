//! A design with network volumes, and what it is ranked by.

use std::cmp::Reverse;

use volume::design::BoughtFileServer;

use crate::price::Price;

/// How the throughput of a pool is given to its volumes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Qos {
    /// By their quotas.
    Auto,
    /// By hand.
    Manual,
    /// Not at all: they share it.
    Shared,
}

impl Qos {
    /// All of them.
    pub const ALL: [Qos; 3] = units::all_of!(Qos: Auto, Manual, Shared);

    /// Returns its word in design files.
    pub fn as_str(self) -> &'static str {
        match self {
            Qos::Auto => "auto",
            Qos::Manual => "manual",
            Qos::Shared => "shared",
        }
    }
}

/// A capacity pool, or a file system, that was chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct ChosenPool {
    /// Service level, in small letters.
    pub level: String,
    /// How its throughput is given out.
    pub qos: Qos,
    /// Size, GiB; of a pool whole TiB.
    pub size_gib: u64,
    /// Throughput, MiB/s, where it is bought apart from the size.
    pub throughput_mib_s: Option<u64>,
    /// The file servers of a file system.
    pub file_server: Option<BoughtFileServer>,
    /// What it costs.
    pub price: Price,
}

/// A network volume that was chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChosenVolume {
    /// Position of its pool.
    pub pool: usize,
    /// Quota, GiB.
    pub quota_gib: u64,
    /// It is a large volume.
    pub is_large: bool,
    /// Throughput that is assigned by hand, MiB/s.
    pub throughput_mib_s: Option<u64>,
}

/// A design with network volumes that carries a need.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranked {
    /// Size of the machines, which all reach all volumes.
    pub machine: String,
    /// How many there are.
    pub n_machines: u32,
    /// Connections of each (`nconnect`).
    pub connections: u32,
    /// What all machines cost.
    pub machine_price: Price,
    /// Capacity pools.
    pub pools: Vec<ChosenPool>,
    /// Volumes, in the order of the need.
    pub volumes: Vec<ChosenVolume>,
    /// What all of it costs.
    pub price: Price,
    /// By how much the tightest cap is larger than the load on it: 0.25 is a quarter.
    pub headroom: f64,
    /// Machines, pools and volumes.
    pub n_parts: u32,
}

/// Steps of headroom that count as one: below is rounding.
const HEADROOM_STEP: f64 = 1e-9;

/// What a ranking goes by, part by part.
pub(super) type Rank<'a> = (Price, Reverse<i64>, u32, u32, &'a str, Vec<(&'a str, Qos, bool)>);

impl Ranked {
    /// Returns the service level of each volume.
    pub fn levels(&self) -> Vec<&str> {
        let level = |volume: &ChosenVolume| self.pools[volume.pool].level.as_str();
        self.volumes.iter().map(level).collect()
    }

    /// Returns what it is ranked by, and then by what is simpler, and by name.
    pub(super) fn rank(&self) -> Rank<'_> {
        let steps = (self.headroom / HEADROOM_STEP).round().min(1e18) as i64;
        let way =
            |volume: &ChosenVolume, level| (level, self.pools[volume.pool].qos, volume.is_large);
        let ways = self.volumes.iter().zip(self.levels()).map(|(it, level)| way(it, level));
        let ways = ways.collect();
        (self.price, Reverse(steps), self.n_parts, self.connections, &self.machine, ways)
    }

    /// Returns whether another one has the same machine and levels.
    fn is_of_same_kind(&self, other: &Ranked) -> bool {
        self.machine == other.machine && self.levels() == other.levels()
    }
}

/// The best designs so far, in order; of each machine and levels the best.
#[derive(Debug)]
pub(super) struct BestDesigns {
    n_kept: usize,
    pub(super) designs: Vec<Ranked>,
}

impl BestDesigns {
    pub(super) fn new(n_kept: usize) -> Self {
        BestDesigns { n_kept, designs: Vec::new() }
    }

    /// Returns whether no design of this price, or a higher one, is among the best any more.
    pub(super) fn is_beyond(&self, price: Price) -> bool {
        self.designs.len() >= self.n_kept
            && self.designs.last().is_some_and(|worst| price > worst.price)
    }

    /// Takes a design in if it is among the best.
    pub(super) fn offer(&mut self, design: Ranked) {
        if let Some(idx) = self.designs.iter().position(|known| known.is_of_same_kind(&design)) {
            if self.designs[idx].rank() <= design.rank() {
                return;
            }
            self.designs.remove(idx);
        }
        let at = self.designs.partition_point(|known| known.rank() <= design.rank());
        self.designs.insert(at, design);
        self.designs.truncate(self.n_kept);
    }
}
