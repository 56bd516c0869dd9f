//! Capacity pools: the least size that carries volumes, its price, and how throughput is given out.

use std::collections::HashMap;

use catalog::VolumeKind;
use catalog::cost::Storage;
use volume::design::service::{
    FLEXIBLE, Sized, assignable, flexible_throughput, levels, sizes, throughput_of_size,
};

use super::ask::Ask;
use super::rank::{ChosenPool, Qos};
use crate::market::Market;
use crate::price::Price;
use crate::uses::{ROUNDING, times};

const GIB: u64 = 1 << 30;
const MIB: u64 = 1 << 20;
const TIB: u64 = 1 << 40;

/// Halvings after which throughput is given out to the last GiB or MiB/s.
const N_STEPS: usize = 80;

/// One way to have a volume.
#[derive(Clone, Debug)]
pub(super) struct VolumeOption {
    /// Position of the level.
    pub(super) level: usize,
    pub(super) qos: Qos,
    pub(super) is_large: bool,
    /// Least and largest quota, GiB: by capacity, kind and, with throughput by quota, by that.
    pub(super) quota_gib: (u64, u64),
    /// Least and most that is assigned by hand, MiB/s.
    pub(super) mib_s: (u64, u64),
    /// What is asked, bytes per second.
    pub(super) throughput: f64,
    /// How often its ceilings hold what is asked.
    pub(super) times: f64,
}

/// What pools may be, in one market.
pub(super) struct Pools<'m, 'e> {
    market: &'m Market<'e>,
    pub(super) levels: Vec<&'e str>,
    /// Prices by level, size and throughput.
    prices: HashMap<(usize, u64, u64), Price>,
}

/// Volumes that share a pool.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PoolSum {
    n_volumes: u32,
    quota_gib: u64,
    mib_s: u64,
}

impl PoolSum {
    /// Adds a volume.
    pub(super) fn with(self, way: &VolumeOption) -> PoolSum {
        PoolSum {
            n_volumes: self.n_volumes + 1,
            quota_gib: self.quota_gib.saturating_add(way.quota_gib.0),
            mib_s: self.mib_s.saturating_add(way.mib_s.0),
        }
    }

    pub(super) fn is_empty(self) -> bool {
        self.n_volumes == 0
    }
}

impl<'m, 'e> Pools<'m, 'e> {
    pub(super) fn new(market: &'m Market<'e>) -> Self {
        Pools { market, levels: levels(market.edition), prices: HashMap::new() }
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
        let range = sizes(edition, Sized::Volume(kind));
        let quota_max = *range.end() / GIB;
        let capacity = (gib * (1.0 - ROUNDING)).ceil() as u64;
        let quota_min = capacity.max(range.start().div_ceil(GIB));
        let assignable = assignable(edition);
        let mut ways = Vec::new();
        for qos in Qos::ALL {
            let mut way = VolumeOption {
                level,
                qos,
                is_large: kind == VolumeKind::Large,
                quota_gib: (quota_min, quota_max),
                mib_s: (0, 0),
                throughput: ask.throughput,
                times: ask.times,
            };
            let is_there = match qos {
                Qos::Auto => self.quota(&way, 1.0).map(|gib| way.quota_gib.0 = gib).is_some(),
                Qos::Manual => {
                    let wanted = (ask.throughput * (1.0 - ROUNDING) / MIB as f64).ceil() as u64;
                    let least = assignable.start().div_ceil(MIB).max(1);
                    way.mib_s = (wanted.max(least), assignable.end() / MIB);
                    way.mib_s.0 <= way.mib_s.1 && self.is_known(level)
                }
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

    /// Returns the least size of a pool, TiB, and its throughput, MiB/s, where that is bought
    /// apart. `None` where none is large enough.
    fn least(&self, level: usize, qos: Qos, sum: PoolSum) -> Option<(u64, Option<u64>)> {
        let edition = self.market.edition;
        let range = sizes(edition, Sized::Pool);
        let mut tib = (sum.quota_gib.div_ceil(1024)).max(range.start().div_ceil(TIB));
        let most = range.end() / TIB;
        if self.levels[level] == FLEXIBLE {
            let of = |tib: u64| flexible_throughput(edition, tib * TIB);
            let mib_s = sum.mib_s.max(*of(1)?.start() / MIB);
            while tib <= most && *of(tib)?.end() < mib_s * MIB {
                tib += 1;
            }
            return (tib <= most).then_some((tib, Some(mib_s)));
        }
        if qos == Qos::Manual {
            let per_tib = self.throughput(level, TIB)?;
            tib = tib.max((sum.mib_s * MIB / per_tib.max(1)).saturating_sub(1));
            while tib <= most && self.throughput(level, tib * TIB)? < sum.mib_s * MIB {
                tib += 1;
            }
        }
        (tib <= most).then_some((tib, None))
    }

    /// Returns the pool that is bought for volumes: the least, and where throughput is bought apart
    /// all of it that costs no more.
    pub(super) fn bought(&mut self, level: usize, qos: Qos, sum: PoolSum) -> Option<ChosenPool> {
        let (size_tib, mut throughput_mib_s) = self.least(level, qos, sum)?;
        let price = self.price(level, size_tib, throughput_mib_s);
        if let Some(mut low) = throughput_mib_s {
            let range = flexible_throughput(self.market.edition, size_tib * TIB)?;
            let mut beyond = *range.end() / MIB + 1;
            while low + 1 < beyond {
                let middle = low.midpoint(beyond);
                if self.price(level, size_tib, Some(middle)) <= price {
                    low = middle;
                } else {
                    beyond = middle;
                }
            }
            throughput_mib_s = Some(low);
        }
        let level = self.levels[level].to_owned();
        Some(ChosenPool { level, qos, size_tib, throughput_mib_s, price })
    }

    /// Returns what a pool costs.
    fn price(&mut self, level: usize, tib: u64, mib_s: Option<u64>) -> Price {
        let (market, name) = (self.market, self.levels[level]);
        let key = (level, tib, mib_s.unwrap_or(0));
        *self.prices.entry(key).or_insert_with(|| {
            let storage = Storage {
                name: format!("netapp-{name}"),
                count: 1,
                capacity_gib: (tib * 1024) as f64,
                throughput_bytes: (mib_s.unwrap_or(0) * MIB) as f64,
                ..Storage::default()
            };
            let price = market.price(storage);
            // Throughput without a price ranks as capacity without one: less stands before more.
            let over = mib_s.filter(|_| price.is_unpriced).unwrap_or(0);
            Price { unpriced_gib: price.unpriced_gib.saturating_add(over), ..price }
        })
    }

    /// Gives a pool's throughput out so that the volume with the least beyond what it asks for has
    /// most. Returns how often the tightest has what it asks for, and of each volume the quota,
    /// GiB, and what is assigned, MiB/s.
    pub(super) fn give(&self, pool: &ChosenPool, ways: &[&VolumeOption]) -> (f64, Vec<(u64, u64)>) {
        let level = self.levels.iter().position(|name| *name == pool.level);
        let level = level.expect("a pool is of a level");
        let bytes = pool.size_tib * TIB;
        let has_mib_s = pool.throughput_mib_s;
        let has_mib_s = has_mib_s.or(self.throughput(level, bytes).map(|per_s| per_s / MIB));
        let has_mib_s = has_mib_s.unwrap_or(0);
        // What a factor takes, quotas and by hand; `None` where a volume cannot have it.
        let taken = |factor: f64| -> Option<Vec<(u64, u64)>> {
            let of = |way: &&VolumeOption| match pool.qos {
                Qos::Auto => Some((self.quota(way, factor)?, 0)),
                Qos::Manual => {
                    let wanted = way.throughput * factor * (1.0 - ROUNDING) / MIB as f64;
                    let mib_s = (wanted.ceil() as u64).max(way.mib_s.0);
                    (mib_s <= way.mib_s.1).then_some((way.quota_gib.0, mib_s))
                }
            };
            let all: Vec<(u64, u64)> = ways.iter().map(of).collect::<Option<_>>()?;
            let gib: u64 = all.iter().map(|(gib, _)| gib).sum();
            let mib_s: u64 = all.iter().map(|(_, mib_s)| mib_s).sum();
            (gib <= pool.size_tib * 1024 && mib_s <= has_mib_s).then_some(all)
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
                Qos::Auto => self.throughput(level, gib * GIB).unwrap_or(0),
                Qos::Manual => mib_s * MIB,
            };
            times(per_s as f64, way.throughput)
        };
        let least = ways.iter().zip(&best).map(own).fold(f64::INFINITY, f64::min);
        (least, best)
    }
}
