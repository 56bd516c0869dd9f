//! More throughput for a network volume: of its quota, its pool or a higher level.

use super::{Change, Tries};
use crate::cap::CapKind;
use crate::design::{BY_HAND, Backing, Design, Limit, NetworkVolume};

/// Least that a volume is left with when another takes from it, bytes per second: what can be
/// assigned at least.
const LEFT_MIN: u64 = 1 << 20;

const MIB: f64 = (1_u64 << 20) as f64;

impl Tries<'_> {
    /// Tries so much more throughput of the volume that the need is met, or the next cap reached.
    pub(super) fn quota(&mut self) {
        let Some(network) = self.network() else { return };
        let wanted = self.wanted(&network.quota);
        match network.pool {
            Some(idx) => self.quota_in_pool(idx, &network, wanted),
            None => self.quota_alone(&network, wanted),
        }
    }

    /// Tries a larger pool.
    pub(super) fn pool(&mut self) {
        let Some(idx) = self.network().and_then(|network| network.pool) else { return };
        let Some(pool) = self.design.pools.get(usize::from(idx)) else { return };
        let wanted = self.wanted(&pool.throughput);
        let mut design = self.design.clone();
        design.pools[usize::from(idx)].throughput.per_s = wanted;
        self.keep(format!("a pool of {}", rate(wanted)), design);
    }

    /// Returns what a pool has that none of its volumes was given, bytes per second.
    pub(super) fn pool_free(&self, idx: u16) -> u64 {
        let of_pool = self.in_pool(idx).map(|(_, network)| network.quota.per_s);
        let pool = self.design.pools.get(usize::from(idx));
        pool.map_or(0, |pool| pool.throughput.per_s).saturating_sub(of_pool.sum())
    }

    /// Returns so much of a limit as the need takes, or as reaches the next cap, in whole MiB/s: as
    /// it is printed, and can be asked for.
    fn wanted(&self, limit: &Limit) -> u64 {
        let missing = self.goal.map(|goal| goal - self.rate).zip(self.cap(CapKind::VolumeQuota));
        let wanted = match missing {
            Some((iops, cap)) => limit.per_s as f64 + iops * cap.per_io,
            None => limit.per_s as f64 * self.factor(),
        };
        // What floating point adds to a whole number is no more than that.
        ((wanted - 1.0) / MIB).ceil() as u64 * MIB as u64
    }

    fn in_pool(&self, idx: u16) -> impl Iterator<Item = (usize, &NetworkVolume)> {
        let volumes = self.design.volumes.iter().enumerate();
        volumes.filter_map(move |(position, volume)| match &volume.backing {
            Backing::Network(network) if network.pool == Some(idx) => Some((position, network)),
            _ => None,
        })
    }

    /// What a pool has free is given first; the rest is another volume's, or a larger pool's.
    fn quota_in_pool(&mut self, idx: u16, network: &NetworkVolume, wanted: u64) {
        let per_s = network.quota.per_s;
        let free = self.pool_free(idx);
        let given = wanted.min(per_s + free);
        if given > per_s {
            let by_size = self.volume().capacity_bytes as f64 * given as f64 / per_s as f64;
            let mut change = if network.quota.origin == BY_HAND {
                format!("{} assigned to the volume", rate(given))
            } else {
                format!("a quota of {}", whole_gib(by_size))
            };
            if given < wanted {
                change.push_str(", all that its pool has free");
            }
            let design = self.with_network(|network| network.quota.per_s = given);
            self.keep(change, design);
        }
        let missing = wanted.saturating_sub(per_s + free);
        if missing == 0 {
            return;
        }
        if network.quota.origin == BY_HAND {
            let own = self.volume_idx();
            let mut givers: Vec<(usize, u64)> = self
                .in_pool(idx)
                .filter(|(position, _)| *position != own)
                .map(|(position, other)| (position, other.quota.per_s))
                .collect();
            givers.sort_by_key(|(_, per_s)| std::cmp::Reverse(*per_s));
            let moves = givers.iter().map(|giver| self.taken(*giver, missing, wanted));
            let moves: Vec<Change> = moves.collect();
            self.keep_least(moves);
        }
        let mut design = self.with_network(|network| network.quota.per_s = wanted);
        let pool = &mut design.pools[usize::from(idx)].throughput;
        pool.per_s += missing;
        let change =
            format!("a pool of {}, {} of them for the volume", rate(pool.per_s), rate(wanted));
        self.keep(change, design);
    }

    /// Returns the design with throughput taken from another volume of the pool.
    fn taken(&self, (position, has): (usize, u64), missing: u64, wanted: u64) -> Change {
        let moved = missing.min(has.saturating_sub(LEFT_MIN));
        let mut design =
            self.with_network(|network| network.quota.per_s = wanted - (missing - moved));
        if let Backing::Network(giver) = &mut design.volumes[position].backing {
            giver.quota.per_s -= moved;
        }
        (format!("{} taken from {}", rate(moved), design.volumes[position].mount), design)
    }

    fn quota_alone(&mut self, network: &NetworkVolume, wanted: u64) {
        let factor = wanted as f64 / network.quota.per_s as f64;
        let capacity_bytes = self.volume().capacity_bytes;
        let bytes = (capacity_bytes as f64 * factor).ceil() as u64;
        if bytes <= size_max(self.design, capacity_bytes) {
            let design = self.with_network(|network| network.quota.per_s = wanted);
            self.keep(format!("a quota of {}", whole_gib(bytes as f64)), design);
        }
        if let Some((level, ratio)) = next_level(self.design, &network.level) {
            let raise = |network: &mut NetworkVolume| {
                network.quota.per_s = (network.quota.per_s as f64 * ratio) as u64;
            };
            self.keep(format!("level {level}"), self.with_network(raise));
        }
    }
}

/// Prints a size in so many GiB that it is no less, as a design takes it.
fn whole_gib(bytes: f64) -> String {
    const GIB: f64 = (1_u64 << 30) as f64;
    format!("{}GiB", ((bytes - 1.0) / GIB).ceil())
}

fn rate(bytes_per_s: u64) -> String {
    units::format_rate_mib_s(bytes_per_s as f64)
}

/// Returns how large a volume of such a size may become without being of another kind.
fn size_max(design: &Design, capacity_bytes: u64) -> u64 {
    let Some(edition) = design.rows() else { return u64::MAX };
    let of = |scope| edition.fact(scope, "size_max").map_or(u64::MAX, |figure| figure.per_s);
    let regular = of("volume.regular");
    if capacity_bytes <= regular { regular } else { of("volume.large") }
}

/// Returns the next service level and how much more it gives.
fn next_level(design: &Design, level: &str) -> Option<(String, f64)> {
    let edition = design.rows()?;
    let of = |name: &str| {
        let found = edition.levels().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, figure)| figure.value)
    };
    let own = of(level)?;
    let higher = edition.levels().filter(|(_, figure)| figure.value > own);
    let (name, figure) = higher.min_by(|a, b| a.1.value.total_cmp(&b.1.value))?;
    let mut title = name.to_owned();
    if let Some(first) = title.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    Some((title, figure.value / own))
}
