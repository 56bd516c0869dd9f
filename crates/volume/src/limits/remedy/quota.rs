//! More throughput for a network volume: of its quota, its pool or a higher level.

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
        let now = pool.throughput.per_s / MIB;
        self.keep_least_number((now, now.max(1) * TIMES_MAX), self.wanted(), |tries, mib_s| {
            let mut design = tries.design.clone();
            design.pools[usize::from(idx)].throughput.per_s = mib_s * MIB;
            Some((format!("a pool of {}", rate(mib_s * MIB)), design, tries.flows.to_vec()))
        });
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
            Backing::Network(network) if network.pool == Some(idx) => Some((position, network)),
            _ => None,
        })
    }

    /// What a pool has free is given first; the rest is another volume's, or a larger pool's.
    fn quota_in_pool(&mut self, idx: u16, scale: Scale) {
        let has = scale.per_s + self.pool_free(idx);
        let now = scale.now();
        // In a pool that is as large as it takes.
        let grown = |tries: &Self, number: u64| {
            let per_s = scale.per_s(number);
            let mut design = tries.with_quota(|_| per_s);
            let pool = &mut design.pools[usize::from(idx)].throughput;
            pool.per_s += per_s.saturating_sub(has);
            let (all, own) = (rate(pool.per_s), rate(per_s));
            let change = format!("a pool of {all}, {own} of them for the volume");
            Some((change, design, tries.flows.to_vec()))
        };
        let range = (now, now.max(1).saturating_mul(TIMES_MAX));
        let Some(wanted) = self.wanted_number(range, &grown) else { return };
        let fits = scale.number(has);
        let given = wanted.min(fits);
        if given > now {
            let all = if given < wanted { ", all that its pool has free" } else { "" };
            let design = self.with_quota(|_| scale.per_s(given));
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

    fn quota_alone(&mut self, network: &NetworkVolume, scale: Scale) {
        let most = size_max(self.design, network, scale.capacity_bytes) / GIB;
        let now = scale.now();
        let range = (now, most.min(now.max(1).saturating_mul(TIMES_MAX)));
        self.keep_least_number(range, self.wanted(), |tries, number| {
            let mut design = tries.with_quota(|_| scale.per_s(number));
            if !scale.is_by_hand {
                design.volumes[tries.volume_idx()].capacity_bytes = number * GIB;
            }
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

/// Returns how large a volume of such a size may become without being of another kind.
fn size_max(design: &Design, network: &NetworkVolume, capacity_bytes: u64) -> u64 {
    let Some(edition) = design.rows() else { return u64::MAX };
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
