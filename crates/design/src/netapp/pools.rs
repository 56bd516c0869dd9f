//! Capacity pools and file systems: the cheapest that carries volumes, its price, and how
//! throughput is given out.

use std::cmp::Reverse;
use std::collections::HashMap;

use catalog::VolumeKind;
use catalog::cost::Storage;
use volume::design::service::{
    FLEXIBLE, FileServer, Service, Sized, assignable, file_servers, flexible_throughput, has_kind,
    least_pool, levels, price_name, provisioned_iops, sizes, throughput_of_size,
};
use volume::design::{BoughtFileServer, carried_by};

use super::ask::Ask;
use super::rank::{ChosenPool, Qos};
use crate::market::Market;
use crate::price::Price;
use crate::uses::{ROUNDING, times};

const GIB: u64 = 1 << 30;
const MIB: u64 = 1 << 20;
const TIB: u64 = 1 << 40;

/// Steps of headroom that count as one: below is rounding.
const TIMES_STEP: f64 = 1e-9;

/// Halvings after which throughput is given out to the last GiB or MiB/s.
const N_STEPS: usize = 80;

/// One way to have a volume.
#[derive(Clone, Debug)]
pub(super) struct VolumeOption {
    /// Position of its pool in [`Pools::places`].
    pub(super) place: usize,
    /// Position of the level.
    level: usize,
    pub(super) is_large: bool,
    /// Least and largest quota, GiB: by capacity, kind and, with throughput by quota, by that.
    quota_gib: (u64, u64),
    /// Least and most that is assigned by hand, MiB/s.
    mib_s: (u64, u64),
    /// What is asked, bytes per second.
    throughput: f64,
    /// Bytes and operations per second of a file system, by phase of the need.
    shared: Vec<(f64, f64)>,
    /// How often its ceilings hold what is asked.
    pub(super) times: f64,
    /// What it carries at most is not known.
    is_open: bool,
}

/// Where volumes may be: pools of a level and way to give throughput, and of file systems as many
/// as there are volumes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PoolChoice {
    level: usize,
    pub(super) qos: Qos,
    /// It is like the place before it: taken only where that one is.
    pub(super) is_another: bool,
}

/// What pools may be, in one market.
pub(super) struct Pools<'m, 'e> {
    market: &'m Market<'e>,
    service: Service,
    pub(super) levels: Vec<&'e str>,
    pub(super) places: Vec<PoolChoice>,
    /// File servers by level, the smallest first: how they are sold, bytes and operations per
    /// second.
    servers: Vec<Vec<(u64, f64, u64)>>,
    /// Prices by level, size, throughput and operations.
    prices: HashMap<(usize, u64, u64, u64), Price>,
}

/// Volumes that share a pool.
#[derive(Clone, Debug, Default)]
pub(super) struct PoolSum {
    n_volumes: u32,
    quota_gib: u64,
    mib_s: u64,
    shared: Vec<(f64, f64)>,
    is_open: bool,
}

impl PoolSum {
    /// Adds a volume.
    pub(super) fn with(&self, way: &VolumeOption) -> PoolSum {
        let mut shared = self.shared.clone();
        shared.resize(shared.len().max(way.shared.len()), (0.0, 0.0));
        for (sum, own) in shared.iter_mut().zip(&way.shared) {
            *sum = (sum.0 + own.0, sum.1 + own.1);
        }
        PoolSum {
            n_volumes: self.n_volumes + 1,
            quota_gib: self.quota_gib.saturating_add(way.quota_gib.0),
            mib_s: self.mib_s.saturating_add(way.mib_s.0),
            shared,
            is_open: self.is_open || way.is_open,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.n_volumes == 0
    }

    /// Returns the most bytes and operations per second of any phase.
    fn most(&self) -> (f64, f64) {
        let most = |a: (f64, f64), b: &(f64, f64)| (a.0.max(b.0), a.1.max(b.1));
        self.shared.iter().fold((0.0, 0.0), most)
    }
}

impl<'m, 'e> Pools<'m, 'e> {
    /// Looks up what there is for so many volumes.
    pub(super) fn new(market: &'m Market<'e>, n_volumes: usize) -> Self {
        let service = Service::of_cloud(market.terms.cloud);
        let mut levels = levels(market.edition, service);
        let of_level = |level: &&str| file_servers(market.edition, level);
        // Without their limits no file servers carry anything.
        levels.retain(|level| service != Service::FsxOntap || !of_level(level).is_empty());
        let mut places = Vec::new();
        for level in 0..levels.len() {
            let put = |(qos, is_another)| places.push(PoolChoice { level, qos, is_another });
            match service {
                Service::AzureFiles => {
                    [(Qos::Auto, false), (Qos::Manual, false)].into_iter().for_each(put);
                }
                Service::GoogleVolumes => [(Qos::Auto, false)].into_iter().for_each(put),
                Service::FsxOntap => {
                    (0..n_volumes).map(|idx| (Qos::Shared, idx > 0)).for_each(put);
                }
            }
        }
        let mb_bytes = market.terms.mb_bytes;
        let server = |it: &FileServer<'_>| {
            let (bytes, iops) = carried_by(it, u64::MAX, mb_bytes);
            (it.throughput_mb_s, bytes as f64, iops)
        };
        let servers = levels.iter().map(|level| of_level(level).iter().map(server).collect());
        let servers = servers.collect();
        Pools { market, service, levels, places, servers, prices: HashMap::new() }
    }

    /// Says whether there are volumes of a kind.
    pub(super) fn has_kind(&self, kind: VolumeKind) -> bool {
        has_kind(self.market.edition, self.service, kind)
    }

    /// Returns every way to have a volume of a level and kind that asks for so much.
    pub(super) fn ways(
        &self,
        level: usize,
        kind: VolumeKind,
        ask: &Ask,
        gib: f64,
    ) -> Vec<VolumeOption> {
        let edition = self.market.edition;
        let range = sizes(edition, self.service, Sized::Volume(kind));
        let quota_max = *range.end() / GIB;
        let capacity = (gib * (1.0 - ROUNDING)).ceil() as u64;
        let quota_min = capacity.max(range.start().div_ceil(GIB));
        let assignable = assignable(edition);
        let mut ways = Vec::new();
        for (place, PoolChoice { qos, .. }) in self.places.iter().enumerate() {
            if self.places[place].level != level {
                continue;
            }
            let mut way = VolumeOption {
                place,
                level,
                is_large: kind == VolumeKind::Large,
                quota_gib: (quota_min, quota_max),
                mib_s: (0, 0),
                throughput: ask.throughput,
                shared: ask.shared.clone(),
                times: ask.times,
                is_open: ask.is_open,
            };
            let is_there = match qos {
                Qos::Auto => self.quota(&way, 1.0).map(|gib| way.quota_gib.0 = gib).is_some(),
                Qos::Manual => {
                    let wanted = (ask.throughput * (1.0 - ROUNDING) / MIB as f64).ceil() as u64;
                    let least = assignable.start().div_ceil(MIB).max(1);
                    way.mib_s = (wanted.max(least), assignable.end() / MIB);
                    way.mib_s.0 <= way.mib_s.1 && self.is_known(level)
                }
                Qos::Shared => true,
            };
            if is_there && way.quota_gib.0 <= quota_max && way.times >= 1.0 - ROUNDING {
                ways.push(way);
            }
        }
        ways
    }

    /// Returns whether something tells what throughput pools of a level have.
    fn is_known(&self, level: usize) -> bool {
        self.levels[level] == FLEXIBLE || self.throughput(level, TIB).is_some()
    }

    fn throughput(&self, level: usize, bytes: u64) -> Option<u64> {
        throughput_of_size(self.market.edition, self.levels[level], bytes)
    }

    /// Returns the least quota, GiB, with which a volume has so many times what it asks for by its
    /// quota, and holds what it must; `None` where throughput does not follow from the quota, or
    /// none is large enough.
    fn quota(&self, way: &VolumeOption, factor: f64) -> Option<u64> {
        let of = |gib: u64| self.throughput(way.level, gib * GIB);
        let wanted = way.throughput * factor * (1.0 - ROUNDING);
        let per_gib = of(1024)? as f64 / 1024.0;
        let mut gib = ((wanted / per_gib) as u64).saturating_sub(1).max(way.quota_gib.0);
        if gib > way.quota_gib.1 {
            return None;
        }
        while (of(gib)? as f64) < wanted {
            gib += 1;
        }
        (gib <= way.quota_gib.1).then_some(gib)
    }

    /// Returns the least size of a pool, GiB, and its throughput, MiB/s, where that is bought
    /// apart. `None` where none is large enough.
    fn least(&self, level: usize, qos: Qos, sum: &PoolSum) -> Option<(u64, Option<u64>)> {
        let edition = self.market.edition;
        let name = self.levels[level];
        let quota_bytes = sum.quota_gib.saturating_mul(GIB);
        if name == FLEXIBLE {
            let mib_s = sum.mib_s.max(*flexible_throughput(edition, TIB)?.start() / MIB);
            let bytes = least_pool(edition, name, quota_bytes, mib_s.saturating_mul(MIB))?;
            return Some((bytes / GIB, Some(mib_s)));
        }
        let mib_s = if qos == Qos::Manual { sum.mib_s } else { 0 };
        let bytes = least_pool(edition, name, quota_bytes, mib_s.saturating_mul(MIB))?;
        Some((bytes / GIB, None))
    }

    /// Returns the pool that is bought for the volumes of a place: the least, and where throughput
    /// is bought apart all of it that costs no more.
    pub(super) fn bought(&mut self, place: usize, sum: &PoolSum) -> Option<ChosenPool> {
        let PoolChoice { level, qos, .. } = self.places[place];
        let mut pool = match qos {
            Qos::Auto | Qos::Manual => self.pool(level, qos, sum)?,
            Qos::Shared => self.file_system(level, sum)?,
        };
        pool.price.is_open |= sum.is_open;
        Some(pool)
    }

    fn pool(&mut self, level: usize, qos: Qos, sum: &PoolSum) -> Option<ChosenPool> {
        let (size_gib, throughput_mib_s) = self.least(level, qos, sum)?;
        let name = self.levels[level].to_owned();
        let (price, file_server) = (Price::default(), None);
        let mut pool =
            ChosenPool { level: name, qos, size_gib, throughput_mib_s, file_server, price };
        pool.price = self.price(level, &pool);
        if let Some(mut low) = throughput_mib_s {
            let range = flexible_throughput(self.market.edition, size_gib * GIB)?;
            let mut beyond = *range.end() / MIB + 1;
            while low + 1 < beyond {
                let middle = low.midpoint(beyond);
                pool.throughput_mib_s = Some(middle);
                if self.price(level, &pool) <= pool.price {
                    low = middle;
                } else {
                    beyond = middle;
                }
            }
            pool.throughput_mib_s = Some(low);
        }
        Some(pool)
    }

    /// Returns the file system that is bought for volumes. File servers come in few sizes, and all
    /// are tried. Operations of disks come with capacity, and more are bought apart: what both cost
    /// is a straight line over the capacity, up to the one that all come with. So its ends are
    /// enough, and the GiB before the last, from which on some of a GiB's operations are too many.
    fn file_system(&mut self, level: usize, sum: &PoolSum) -> Option<ChosenPool> {
        let edition = self.market.edition;
        let (bytes, iops) = sum.most();
        let quota_bytes = sum.quota_gib.saturating_mul(GIB);
        let least = least_pool(edition, self.levels[level], quota_bytes, 0)? / GIB;
        let most = *sizes(edition, self.service, Sized::Pool).end() / GIB;
        let wanted = (iops * (1.0 - ROUNDING)).ceil() as u64;
        let included = |gib: u64| provisioned_iops(edition, gib).map(|range| *range.start());
        // The least capacity that comes with all of them.
        let (mut low, mut high) = (least, most);
        while low < high {
            let middle = low.midpoint(high);
            if included(middle)? >= wanted { high = middle } else { low = middle + 1 }
        }
        let with_all = low;
        let mut best: Option<(Price, Reverse<i64>, ChosenPool)> = None;
        for idx in 0..self.servers[level].len() {
            let (throughput_mb_s, server_bytes, server_iops) = self.servers[level][idx];
            for size_gib in [least, with_all.saturating_sub(1), with_all] {
                if !(least..=most).contains(&size_gib) {
                    continue;
                }
                let bought = wanted.max(included(size_gib)?);
                if bought > *provisioned_iops(edition, size_gib)?.end() {
                    continue;
                }
                let of_iops = times(bought.min(server_iops) as f64, iops);
                let times = times(server_bytes, bytes).min(of_iops);
                if times < 1.0 - ROUNDING {
                    continue;
                }
                let mut pool = ChosenPool {
                    level: self.levels[level].to_owned(),
                    qos: Qos::Shared,
                    size_gib,
                    throughput_mib_s: None,
                    file_server: Some(BoughtFileServer { throughput_mb_s, iops: bought }),
                    price: Price::default(),
                };
                pool.price = self.price(level, &pool);
                let rank = (pool.price, Reverse((times / TIMES_STEP).round().min(1e18) as i64));
                if best.as_ref().is_none_or(|(price, steps, _)| rank < (*price, *steps)) {
                    best = Some((rank.0, rank.1, pool));
                }
            }
        }
        best.map(|(.., pool)| pool)
    }

    /// Returns what a pool costs.
    fn price(&mut self, level: usize, pool: &ChosenPool) -> Price {
        let market = self.market;
        let server = pool.file_server;
        let iops = server.map_or(0, |it| it.iops);
        let throughput = server.map_or(0, |it| it.throughput_mb_s);
        let throughput = pool.throughput_mib_s.unwrap_or(throughput);
        let key = (level, pool.size_gib, throughput, iops);
        *self.prices.entry(key).or_insert_with(|| price_of(market, pool))
    }

    /// Gives a pool's throughput out so that the volume with the least beyond what it asks for has
    /// most. Returns how often the tightest has what it asks for, and of each volume the quota,
    /// GiB, and what is assigned, MiB/s.
    pub(super) fn give(&self, pool: &ChosenPool, ways: &[&VolumeOption]) -> (f64, Vec<(u64, u64)>) {
        let level = self.levels.iter().position(|name| *name == pool.level);
        let level = level.expect("a pool is of a level");
        if let Some(server) = pool.file_server {
            let sum = ways.iter().fold(PoolSum::default(), |sum, way| sum.with(way));
            let (bytes, iops) = sum.most();
            let own = self.servers[level].iter().find(|it| it.0 == server.throughput_mb_s);
            let (_, server_bytes, server_iops) = own.expect("the servers were found here");
            let of_iops = times(server.iops.min(*server_iops) as f64, iops);
            let given = ways.iter().map(|way| (way.quota_gib.0, 0)).collect();
            return (times(*server_bytes, bytes).min(of_iops), given);
        }
        let bytes = pool.size_gib * GIB;
        let has_mib_s = pool.throughput_mib_s;
        let has_mib_s = has_mib_s.or(self.throughput(level, bytes).map(|per_s| per_s / MIB));
        let has_mib_s = has_mib_s.unwrap_or(0);
        // What a factor takes, quotas and by hand; `None` where a volume cannot have it.
        let taken = |factor: f64| -> Option<Vec<(u64, u64)>> {
            let of = |way: &&VolumeOption| match pool.qos {
                Qos::Auto | Qos::Shared => Some((self.quota(way, factor)?, 0)),
                Qos::Manual => {
                    let wanted = way.throughput * factor * (1.0 - ROUNDING) / MIB as f64;
                    let mib_s = (wanted.ceil() as u64).max(way.mib_s.0);
                    (mib_s <= way.mib_s.1).then_some((way.quota_gib.0, mib_s))
                }
            };
            let all: Vec<(u64, u64)> = ways.iter().map(of).collect::<Option<_>>()?;
            let gib: u64 = all.iter().map(|(gib, _)| gib).sum();
            let mib_s: u64 = all.iter().map(|(_, mib_s)| mib_s).sum();
            (gib <= pool.size_gib && mib_s <= has_mib_s).then_some(all)
        };
        let mut best = taken(1.0).expect("the pool carries its volumes");
        let asked: f64 = ways.iter().map(|way| way.throughput).sum();
        if asked > 0.0 {
            let all = (has_mib_s * MIB) as f64 / asked;
            let (mut low, mut high) = (1.0, all.max(1.0) * (1.0 + ROUNDING));
            for _ in 0..N_STEPS {
                let middle = f64::midpoint(low, high);
                match taken(middle) {
                    Some(more) => (low, best) = (middle, more),
                    None => high = middle,
                }
            }
        }
        let own = |(way, (gib, mib_s)): (&&VolumeOption, &(u64, u64))| {
            let per_s = match pool.qos {
                Qos::Auto | Qos::Shared => self.throughput(level, gib * GIB).unwrap_or(0),
                Qos::Manual => mib_s * MIB,
            };
            times(per_s as f64, way.throughput)
        };
        let least = ways.iter().zip(&best).map(own).fold(f64::INFINITY, f64::min);
        (least, best)
    }
}

/// Returns what a pool costs in a market.
pub(super) fn price_of(market: &Market<'_>, pool: &ChosenPool) -> Price {
    let bought = pool.file_server;
    let of_pool = pool.throughput_mib_s.unwrap_or(0) * MIB;
    let of_servers = bought.map(|it| it.throughput_mb_s as f64 * 1e6);
    let storage = Storage {
        name: price_name(&pool.level),
        count: 1,
        capacity_gib: pool.size_gib as f64,
        throughput_bytes: of_servers.unwrap_or(of_pool as f64),
        iops: bought.map_or(0.0, |it| it.iops as f64),
        ..Storage::default()
    };
    let price = market.price(storage);
    // What else has no price ranks as capacity without one: less stands before more.
    let of_servers = bought.map(|it| it.throughput_mb_s.saturating_add(it.iops));
    let over = pool.throughput_mib_s.or(of_servers).filter(|_| price.is_unpriced).unwrap_or(0);
    Price { unpriced_gib: price.unpriced_gib.saturating_add(over), ..price }
}
