//! The search: every level, kind and way to give throughput of each volume, with bounds.

use catalog::VolumeKind;

use super::ask::{Ask, ask};
use super::machines::{Fleet, Machines, Traffic, fleets};
use super::pools::{PoolSum, Pools, VolumeOption};
use super::rank::{BestDesigns, ChosenPool, ChosenVolume, Qos, Ranked};
use crate::market::Market;
use crate::need::{Need, NeedError};
use crate::price::Price;

/// Most volumes of one need: each tries every level, kind and way to give throughput.
pub const VOLUMES_MAX: usize = 8;

/// Most machines that are tried where their number is open.
pub const MACHINES_MAX: u32 = 64;

/// How to search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// So much more than is asked must every cap carry: 0.2 is a fifth.
    pub headroom: f64,
    /// How many designs to keep, at least 1.
    pub n_kept: usize,
    /// How many machines there are.
    pub machines: Machines,
}

impl Default for Options {
    fn default() -> Self {
        Options { headroom: 0.0, n_kept: 10, machines: Machines::Exactly(1) }
    }
}

/// Why there is nothing to search.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NetworkError {
    /// The need is none.
    #[error(transparent)]
    Need(#[from] NeedError),
    /// More volumes than are searched.
    #[error("{n_volumes} network volumes: at most {VOLUMES_MAX} are searched together")]
    TooManyVolumes {
        /// As asked.
        n_volumes: usize,
    },
    /// The edition has no such volumes.
    #[error("edition {edition} has no network volumes")]
    NoLevels {
        /// As asked.
        edition: String,
    },
}

/// What a search found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SearchResult {
    /// The best designs, each the best of its machine and levels, in order.
    pub designs: Vec<Ranked>,
    /// Machine sizes that carry the traffic, in the number that they may be.
    pub n_machines: usize,
    /// Service levels that were looked at.
    pub n_levels: usize,
}

/// Searches the best designs for a need, all of whose volumes are network volumes.
pub fn search(
    market: &Market<'_>,
    need: &Need,
    options: &Options,
) -> Result<SearchResult, NetworkError> {
    check(need)?;
    let asked = need.times(1.0 + options.headroom);
    let mut pools = Pools::new(market, need.volumes.len());
    let n_levels = pools.levels.len();
    if n_levels == 0 {
        return Err(NetworkError::NoLevels { edition: market.terms.edition.clone() });
    }
    let mut asks = Vec::new();
    let mut ways = Vec::new();
    for volume in 0..asked.volumes.len() {
        let (first, of_volume) = ways_of(market, &asked, volume, &pools);
        let Some(first) = first.filter(|_| !of_volume.is_empty()) else {
            return Ok(SearchResult { n_levels, ..SearchResult::default() });
        };
        asks.push(first);
        ways.push(of_volume);
    }
    let traffic = Traffic::of(market, &asks.iter().collect::<Vec<_>>());
    let fleets = fleets(market, &asked, &traffic, options.machines);
    let n_machines = fleets.len();
    let classes = classes(fleets);
    let best = BestDesigns::new(options.n_kept.max(1));
    let sums = vec![PoolSum::default(); pools.places.len()];
    let mut walk = Walk { pools: &mut pools, ways: &ways, traffic, classes, best };
    walk.from(&mut Vec::new(), &sums);
    let mut designs = walk.best.designs;
    for design in &mut designs {
        design.headroom = (design.headroom + 1.0) * (1.0 + options.headroom) - 1.0;
    }
    Ok(SearchResult { designs, n_machines, n_levels })
}

fn check(need: &Need) -> Result<(), NetworkError> {
    need.check()?;
    let n_volumes = need.volumes.len();
    if n_volumes > VOLUMES_MAX {
        return Err(NetworkError::TooManyVolumes { n_volumes });
    }
    Ok(())
}

/// Returns every way to have a volume, and what it asks of the machines, which is the same in all.
fn ways_of(
    market: &Market<'_>,
    need: &Need,
    volume: usize,
    pools: &Pools<'_, '_>,
) -> (Option<Ask>, Vec<VolumeOption>) {
    let mut first = None;
    let mut ways = Vec::new();
    for (idx, level) in pools.levels.iter().enumerate() {
        let kinds = [VolumeKind::Regular, VolumeKind::Large].into_iter();
        for kind in kinds.filter(|kind| pools.has_kind(*kind)) {
            let Some(ask) = ask(market, need, volume, level, kind) else { continue };
            ways.extend(pools.ways(idx, kind, &ask, need.volumes[volume].capacity_gib));
            first.get_or_insert(ask);
        }
    }
    (first, ways)
}

/// Sorts machines by what is not known of their price, and each class by price: only within a class
/// does the rest of a design leave the order as it is.
fn classes(fleets: Vec<Fleet<'_>>) -> Vec<Vec<Fleet<'_>>> {
    let mut classes: Vec<Vec<Fleet<'_>>> = Vec::new();
    for fleet in fleets {
        let flags = |it: &Fleet<'_>| (it.price.is_open, it.price.is_unpriced);
        match classes.iter_mut().find(|class| flags(&class[0]) == flags(&fleet)) {
            Some(class) => class.push(fleet),
            None => classes.push(vec![fleet]),
        }
    }
    for class in &mut classes {
        class.sort_by(|a, b| (a.price, &a.size.name).cmp(&(b.price, &b.size.name)));
    }
    classes
}

/// Goes through the ways of all volumes.
struct Walk<'a, 'm, 'e> {
    pools: &'a mut Pools<'m, 'e>,
    ways: &'a [Vec<VolumeOption>],
    traffic: Traffic,
    classes: Vec<Vec<Fleet<'m>>>,
    best: BestDesigns,
}

impl<'a> Walk<'a, '_, '_> {
    /// Tries every way of the next volume and of those behind it.
    fn from(&mut self, taken: &mut Vec<&'a VolumeOption>, sums: &[PoolSum]) {
        let ways = self.ways;
        let Some(next) = ways.get(taken.len()) else {
            self.offer(taken, sums);
            return;
        };
        for way in next {
            let place = way.place;
            // Of places that are alike the first is taken first.
            let is_another = self.pools.places[place].is_another;
            if is_another && sums[place - 1].is_empty() {
                continue;
            }
            let mut sums = sums.to_vec();
            sums[place] = sums[place].with(way);
            // Pools only grow with what comes behind.
            let Some(price) = self.price(&sums) else { continue };
            if self.is_beyond(price) {
                continue;
            }
            taken.push(way);
            self.from(taken, &sums);
            taken.pop();
        }
    }

    /// Returns what all pools cost; `None` where one would be too large.
    fn price(&mut self, sums: &[PoolSum]) -> Option<Price> {
        let mut price = Price::default();
        for (place, sum) in sums.iter().enumerate().filter(|(_, sum)| !sum.is_empty()) {
            price = price + self.pools.bought(place, sum)?.price;
        }
        Some(price)
    }

    /// Returns whether no design with pools of this price, or dearer ones, is among the best.
    fn is_beyond(&self, pools: Price) -> bool {
        let cheapest = |class: &Vec<Fleet<'_>>| {
            class.iter().map(|fleet| fleet.price).reduce(Price::floor).unwrap_or_default()
        };
        self.classes.iter().all(|class| self.best.is_beyond(cheapest(class) + pools))
    }

    /// Offers the machines that are cheap enough with these volumes.
    fn offer(&mut self, taken: &[&VolumeOption], sums: &[PoolSum]) {
        let Some((pools, volumes, net_times)) = self.pools(taken, sums) else { return };
        let pools_price = pools.iter().fold(Price::default(), |sum, pool| sum + pool.price);
        for class in &self.classes {
            for fleet in class {
                let price = fleet.price + pools_price;
                if self.best.is_beyond(price) {
                    break;
                }
                let at_most = fleet.times.min(net_times);
                let (connections, times) = self.traffic.connections(fleet.n_machines, at_most);
                let n_parts = fleet.n_machines as usize + pools.len() + volumes.len();
                self.best.offer(Ranked {
                    machine: fleet.size.name.clone(),
                    n_machines: fleet.n_machines,
                    connections,
                    machine_price: fleet.price,
                    pools: pools.clone(),
                    volumes: volumes.clone(),
                    price,
                    headroom: times - 1.0,
                    n_parts: n_parts as u32,
                });
            }
        }
    }

    /// Returns the pools and volumes, and how often the tightest of them holds what is asked.
    fn pools(
        &mut self,
        taken: &[&VolumeOption],
        sums: &[PoolSum],
    ) -> Option<(Vec<ChosenPool>, Vec<ChosenVolume>, f64)> {
        let mut pools: Vec<ChosenPool> = Vec::new();
        let none = ChosenVolume { pool: 0, quota_gib: 0, is_large: false, throughput_mib_s: None };
        let mut volumes = vec![none; taken.len()];
        let mut least = taken.iter().map(|way| way.times).fold(f64::INFINITY, f64::min);
        for (at, sum) in sums.iter().enumerate().filter(|(_, sum)| !sum.is_empty()) {
            let pool = self.pools.bought(at, sum)?;
            let members = (0..taken.len()).filter(|idx| taken[*idx].place == at);
            let members: Vec<usize> = members.collect();
            let ways: Vec<&VolumeOption> = members.iter().map(|idx| taken[*idx]).collect();
            let (times, given) = self.pools.give(&pool, &ways);
            least = least.min(times);
            for (idx, (quota_gib, mib_s)) in members.into_iter().zip(given) {
                volumes[idx] = ChosenVolume {
                    pool: pools.len(),
                    quota_gib,
                    is_large: taken[idx].is_large,
                    throughput_mib_s: (pool.qos == Qos::Manual).then_some(mib_s),
                };
            }
            pools.push(pool);
        }
        Some((pools, volumes, least))
    }
}

/// Least part of a need that is looked for.
const PART_MIN: f64 = 1e-6;

/// Steps of halving: the part is found to a millionth.
const N_STEPS: usize = 20;

/// Looks for the design that carries the largest part of the I/Os; `None` where not even a trickle
/// of them is carried, for capacity, latency, processors or memory.
pub fn nearest(
    market: &Market<'_>,
    need: &Need,
    options: &Options,
) -> Result<Option<(f64, Ranked)>, NetworkError> {
    let one = Options { n_kept: 1, ..*options };
    let of = |part: f64| {
        let found = search(market, &need.times(part), &one)?;
        Ok::<_, NetworkError>(found.designs.into_iter().next())
    };
    let Some(mut design) = of(PART_MIN)? else { return Ok(None) };
    let (mut low, mut high) = (PART_MIN, 1.0);
    for _ in 0..N_STEPS {
        let middle = f64::midpoint(low, high);
        match of(middle)? {
            Some(better) => (low, design) = (middle, better),
            None => high = middle,
        }
    }
    Ok(Some((low, design)))
}
