//! More throughput for a network volume: of its quota, its pool or a higher level.
//!
//! Pools are named as they are sold, in whole steps of their service: the least that meets a need,
//! or a step more where none is left to be met.

use catalog::{Edition, VolumeKind};

use super::{Change, Tries};
use crate::design::service::{self, FileServer, Service, Sized};
use crate::design::{
    BY_HAND, Backing, BoughtFileServer, Design, NetworkVolume, file_server_limits,
};

/// Least that a volume is left with when another takes from it, bytes per second: what can be
/// assigned at least.
const LEFT_MIN: u64 = 1 << 20;

const MIB: u64 = 1 << 20;

const GIB: u64 = 1 << 30;

/// How many times as much throughput is tried at most.
const TIMES_MAX: u64 = 1024;

/// Throughput of a volume by the number that is written for it.
#[derive(Clone, Copy)]
struct Scale {
    /// Throughput is assigned, in MiB/s; else it follows from the size, in GiB.
    is_by_hand: bool,
    per_s: u64,
    capacity_bytes: u64,
}

impl Scale {
    /// Returns the number that the volume has, rounded down.
    fn now(self) -> u64 {
        if self.is_by_hand { self.per_s / MIB } else { self.capacity_bytes / GIB }
    }

    /// Returns the throughput of a number, bytes per second.
    fn per_s(self, number: u64) -> u64 {
        if self.is_by_hand {
            return number.saturating_mul(MIB);
        }
        let per_s = u128::from(number) * u128::from(GIB) * u128::from(self.per_s);
        u64::try_from(per_s / u128::from(self.capacity_bytes.max(1))).unwrap_or(u64::MAX)
    }

    /// Returns the largest number of so much throughput.
    fn number(self, per_s: u64) -> u64 {
        if self.is_by_hand {
            return per_s / MIB;
        }
        let number = u128::from(per_s) * u128::from(self.capacity_bytes);
        u64::try_from(number / u128::from(self.per_s.max(1)) / u128::from(GIB)).unwrap_or(u64::MAX)
    }

    /// Returns how a number is written.
    fn words(self, number: u64) -> String {
        if self.is_by_hand {
            format!("{} assigned to the volume", rate(self.per_s(number)))
        } else {
            format!("a quota of {number}GiB")
        }
    }
}

impl Tries<'_> {
    /// Tries so much more throughput of the volume that the need is met, or the next cap reached.
    pub(super) fn quota(&mut self) {
        let Some(network) = self.network() else { return };
        let Some(quota) = &network.quota else { return };
        let scale = Scale {
            is_by_hand: quota.origin == BY_HAND,
            per_s: quota.per_s,
            capacity_bytes: self.volume().capacity_bytes,
        };
        match network.pool {
            Some(idx) => self.quota_in_pool(idx, scale),
            None => self.quota_alone(&network, scale),
        }
    }

    /// Tries a larger pool.
    pub(super) fn pool(&mut self) {
        let Some(idx) = self.network().and_then(|network| network.pool) else { return };
        let Some(pool) = self.design.pools.get(usize::from(idx)) else { return };
        if let Some(bought) = pool.build.file_server {
            return self.file_system(usize::from(idx), bought);
        }
        let Some(most) = self.pool_most(idx) else { return };
        let range = (pool.throughput.per_s / MIB, most / MIB);
        self.keep_least_number(range, self.wanted(), |tries, mib_s| {
            let (change, design) = tries.with_pool(tries.design.clone(), idx, mib_s * MIB)?;
            Some((change, design, tries.flows.to_vec()))
        });
    }

    /// Returns the most throughput that a larger pool is tried with, bytes per second: for a need
    /// that of the largest one; else of the pool as large as it is, where it has room, or of one a
    /// step larger. `None` where it is not known.
    fn pool_most(&self, idx: u16) -> Option<u64> {
        let pool = self.design.pools.get(usize::from(idx))?;
        let edition = self.design.rows()?;
        let level = service::level_of(edition, &pool.build.level)?;
        let of = |bytes| service::pool_throughput(edition, level, bytes);
        let largest = largest_pool(edition, level);
        if self.goal.is_some() {
            return of(largest);
        }
        let own = of(pool.build.size_bytes)?;
        if own > pool.throughput.per_s {
            return Some(own);
        }
        of(next_step(level, pool.build.size_bytes).min(largest))
    }

    /// Returns a design with the least pool, no smaller than it is, that holds its volumes and has
    /// so much throughput, and what is bought; `None` where none is large enough.
    fn with_pool(&self, mut design: Design, idx: u16, per_s: u64) -> Option<Change> {
        let quotas = design.volumes.iter().filter(|volume| match &volume.backing {
            Backing::Network(network) => network.pool == Some(idx),
            Backing::Disks(_) => false,
        });
        let quotas: u64 = quotas.map(|volume| volume.capacity_bytes).sum();
        let pool = design.pools.get_mut(usize::from(idx))?;
        let edition = self.design.rows()?;
        let level = service::level_of(edition, &pool.build.level)?;
        let bytes = quotas.max(pool.build.size_bytes);
        let bytes = service::least_pool(edition, level, bytes, per_s)?;
        pool.build.size_bytes = bytes;
        let size = format!("a pool of {} TiB", units::format_count(bytes >> 40));
        if level == service::FLEXIBLE {
            pool.throughput.per_s = per_s;
            return Some((format!("{size} and {}", rate(per_s)), design));
        }
        pool.throughput.per_s = service::pool_throughput(edition, level, bytes)?;
        Some((size, design))
    }

    /// Tries more operations of a file system's disks, and its file servers that carry more.
    fn file_system(&mut self, idx: usize, bought: BoughtFileServer) {
        let (design, mb_bytes) = (self.design, self.design.mb_bytes);
        let Some(edition) = design.rows() else { return };
        let build = &design.pools[idx].build;
        let Some(level) = service::level_of(edition, &build.level) else { return };
        let servers = service::file_servers(edition, level);
        let with = |server: &FileServer<'_>, iops: u64| {
            let mut design = design.clone();
            let pool = &mut design.pools[idx];
            let whose = format!("{}, {} MB/s", pool.build.level, server.throughput_mb_s);
            let limits = file_server_limits(edition, mb_bytes, server, iops, &whose);
            pool.throughput = limits.0;
            pool.iops = Some(limits.1);
            let throughput_mb_s = server.throughput_mb_s;
            pool.build.file_server = Some(BoughtFileServer { throughput_mb_s, iops });
            design
        };
        let own = servers.iter().find(|it| it.throughput_mb_s == bought.throughput_mb_s);
        if let Some(server) = own {
            let range = (bought.iops, server.iops.per_s);
            self.keep_least_number(range, self.wanted(), |tries, iops| {
                let change = format!("{} IOPS provisioned", units::format_count(iops));
                Some((change, with(server, iops), tries.flows.to_vec()))
            });
        }
        let larger = servers.iter().filter(|it| it.throughput_mb_s > bought.throughput_mb_s);
        let changes = larger.map(|server| {
            let change = format!("file servers of {} MB/s", server.throughput_mb_s);
            (change, with(server, bought.iops))
        });
        let changes: Vec<Change> = changes.collect();
        self.keep_least(changes);
    }

    /// Returns what a pool has that none of its volumes was given, bytes per second.
    pub(super) fn pool_free(&self, idx: u16) -> u64 {
        let of_pool = self.in_pool(idx).filter_map(|(_, network)| network.quota.as_ref());
        let of_pool = of_pool.map(|quota| quota.per_s);
        let pool = self.design.pools.get(usize::from(idx));
        pool.map_or(0, |pool| pool.throughput.per_s).saturating_sub(of_pool.sum())
    }

    fn in_pool(&self, idx: u16) -> impl Iterator<Item = (usize, &NetworkVolume)> {
        let volumes = self.design.volumes.iter().enumerate();
        volumes.filter_map(move |(position, volume)| match &volume.backing {
            Backing::Network(network) => (network.pool == Some(idx)).then_some((position, network)),
            Backing::Disks(_) => None,
        })
    }

    /// What a pool has free is given first; the rest is another volume's, or a larger pool's.
    fn quota_in_pool(&mut self, idx: u16, scale: Scale) {
        let free = self.pool_free(idx);
        let has = scale.per_s + free;
        let now = scale.now();
        let (Some(network), Some(most)) = (self.network(), self.pool_most(idx)) else { return };
        let pool = self.design.pools[usize::from(idx)].throughput.per_s;
        let most = scale.number(most.saturating_sub(pool - free - scale.per_s));
        // In a pool that is as large as it takes.
        let grown = |tries: &Self, number: u64| {
            let per_s = scale.per_s(number);
            let design = tries.with_number(scale, number);
            let wanted = pool + per_s.saturating_sub(has);
            let (bought, design) = tries.with_pool(design, idx, wanted)?;
            let change = format!("{bought} with {}", scale.words(number));
            Some((change, design, tries.flows.to_vec()))
        };
        let range = (now, most.min(self.number_max(&network, scale)));
        let Some(wanted) = self.wanted_number(range, &grown) else { return };
        let fits = scale.number(has);
        let given = wanted.min(fits);
        if given > now {
            let all = if given < wanted { ", all that its pool has free" } else { "" };
            let design = self.with_number(scale, given);
            self.keep(format!("{}{all}", scale.words(given)), design);
        }
        if wanted <= fits {
            return;
        }
        let missing = scale.per_s(wanted) - has;
        if scale.is_by_hand {
            let own = self.volume_idx();
            let mut givers: Vec<(usize, u64)> = self
                .in_pool(idx)
                .filter(|(position, _)| *position != own)
                .filter_map(|(position, other)| Some((position, other.quota.as_ref()?.per_s)))
                .collect();
            givers.sort_by_key(|(_, per_s)| std::cmp::Reverse(*per_s));
            let wanted = scale.per_s(wanted);
            let moves = givers.iter().map(|giver| self.taken(*giver, missing, wanted));
            let moves: Vec<Change> = moves.collect();
            self.keep_least(moves);
        }
        if let Some((change, design, _)) = grown(self, wanted) {
            self.keep(change, design);
        }
    }

    /// Returns the design with throughput taken from another volume of the pool.
    fn taken(&self, (position, has): (usize, u64), missing: u64, wanted: u64) -> Change {
        let moved = missing.min(has.saturating_sub(LEFT_MIN));
        let mut design = self.with_quota(|_| wanted - (missing - moved));
        if let Backing::Network(giver) = &mut design.volumes[position].backing
            && let Some(quota) = &mut giver.quota
        {
            quota.per_s -= moved;
        }
        (format!("{} taken from {}", rate(moved), design.volumes[position].mount), design)
    }

    /// Returns the design with another throughput of the volume, made of the one that it has.
    fn with_quota(&self, change: impl FnOnce(u64) -> u64) -> Design {
        self.with_network(|network| {
            if let Some(quota) = &mut network.quota {
                quota.per_s = change(quota.per_s);
            }
        })
    }

    /// Returns the design with another number of the volume.
    fn with_number(&self, scale: Scale, number: u64) -> Design {
        let mut design = self.with_quota(|_| scale.per_s(number));
        if !scale.is_by_hand {
            design.volumes[self.volume_idx()].capacity_bytes = number * GIB;
        }
        design
    }

    /// Returns the largest number that the volume is tried with. One without a pool is alone in the
    /// least that it fits in, and without a need that is not met in one of a step more.
    fn number_max(&self, network: &NetworkVolume, scale: Scale) -> u64 {
        let Some(edition) = self.design.rows() else { return u64::MAX };
        let times = scale.now().max(1).saturating_mul(TIMES_MAX);
        if scale.is_by_hand {
            return times.min(service::assignable(edition).end() / MIB);
        }
        let mut most = size_max(edition, network, scale.capacity_bytes);
        let level = service::level_of(edition, &network.level);
        if let Some(level) = level.filter(|_| network.pool.is_none() && self.goal.is_none()) {
            most = most.min(next_step(level, scale.capacity_bytes));
        }
        times.min(most / GIB)
    }

    fn quota_alone(&mut self, network: &NetworkVolume, scale: Scale) {
        let range = (scale.now(), self.number_max(network, scale));
        self.keep_least_number(range, self.wanted(), |tries, number| {
            let design = tries.with_number(scale, number);
            Some((scale.words(number), design, tries.flows.to_vec()))
        });
        let levels = higher_levels(self.design, network).into_iter();
        let changes: Vec<Change> = levels
            .map(|(level, ratio)| {
                let mut design = self.with_quota(|per_s| (per_s as f64 * ratio) as u64);
                if let Backing::Network(network) = &mut design.volumes[self.volume_idx()].backing {
                    network.level.clone_from(&level);
                }
                (format!("level {level}"), design)
            })
            .collect();
        self.keep_least(changes);
    }
}

fn rate(bytes_per_s: u64) -> String {
    units::format_rate_mib_s(bytes_per_s as f64)
}

/// Returns the next size above one that pools of a level are sold in, bytes.
fn next_step(level: &str, bytes: u64) -> u64 {
    let step = Service::of_level(level).size_step();
    (bytes / step + 1) * step
}

fn largest_pool(edition: &Edition, level: &str) -> u64 {
    *service::sizes(edition, Service::of_level(level), Sized::Pool).end()
}

/// Returns how large a volume of such a size may become without being of another kind.
fn size_max(edition: &Edition, network: &NetworkVolume, capacity_bytes: u64) -> u64 {
    let service = service_of(edition, network);
    let of = |kind| *service::sizes(edition, service, Sized::Volume(kind)).end();
    let regular = of(VolumeKind::Regular);
    if capacity_bytes <= regular { regular } else { of(VolumeKind::Large) }
}

fn service_of(edition: &Edition, network: &NetworkVolume) -> Service {
    let level = service::level_of(edition, &network.level);
    level.map_or(Service::AzureFiles, Service::of_level)
}

/// Returns the higher service levels, lowest first, and how much more each gives.
fn higher_levels(design: &Design, network: &NetworkVolume) -> Vec<(String, f64)> {
    let Some(edition) = design.rows() else { return Vec::new() };
    let service = service_of(edition, network);
    let of_service = || edition.levels().filter(|(level, _)| Service::of_level(level) == service);
    let own = service::level_of(edition, &network.level);
    let own = of_service().find(|(level, _)| Some(*level) == own);
    let Some(own) = own.map(|(_, figure)| figure.value) else { return Vec::new() };
    let ratio =
        |(name, figure): (&str, &catalog::Figure)| (service::level_title(name), figure.value / own);
    let mut higher: Vec<(String, f64)> =
        of_service().map(ratio).filter(|(_, ratio)| *ratio > 1.0).collect();
    higher.sort_by(|a, b| a.1.total_cmp(&b.1));
    higher
}
