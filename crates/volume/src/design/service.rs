//! What network volumes and pools may be, by service level: sizes, and throughput that follows from
//! them. Figures are the catalogue's.

use std::ops::RangeInclusive;

use catalog::{Edition, Figure, VolumeKind};

/// The level whose throughput is bought apart from its size.
pub const FLEXIBLE: &str = "flexible";

const TIB: f64 = (1_u64 << 40) as f64;

const MIB: u64 = 1 << 20;

/// What has a smallest and a largest size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sized {
    /// A capacity pool.
    Pool,
    /// A volume of a kind.
    Volume(VolumeKind),
}

impl Sized {
    pub(crate) fn scope(self) -> &'static str {
        match self {
            Sized::Pool => "pool",
            Sized::Volume(VolumeKind::Regular) => "volume.regular",
            Sized::Volume(VolumeKind::Large) => "volume.large",
        }
    }

    pub(crate) fn about(self) -> &'static str {
        match self {
            Sized::Pool => "a pool",
            Sized::Volume(VolumeKind::Regular) => "a regular volume",
            Sized::Volume(VolumeKind::Large) => "a large volume",
        }
    }
}

/// Returns the names of the levels, in small letters: those with throughput by size, lowest first
/// as the tables have them, then the one whose throughput is bought apart.
pub fn levels(edition: &Edition) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    let of_level = |scope| str::strip_prefix(scope, "level.");
    for fact in edition.network_volumes() {
        if let Some(name) = of_level(&fact.scope).filter(|name| !names.contains(name)) {
            names.push(name);
        }
    }
    names
}

/// Returns what a size has at a level, bytes per second, at least 1; `None` where throughput does
/// not follow from the size.
pub fn throughput_of_size(edition: &Edition, level: &str, bytes: u64) -> Option<u64> {
    let figure = edition.fact(&format!("level.{level}"), "throughput_per_tib")?;
    Some(times(figure, bytes))
}

/// Returns a level's throughput for a size, bytes per second, at least 1.
pub(super) fn times(figure: &Figure, bytes: u64) -> u64 {
    ((figure.per_s as f64 * (bytes as f64 / TIB)).round() as u64).max(1)
}

/// Returns the smallest and the largest size, bytes.
pub fn sizes(edition: &Edition, what: Sized) -> RangeInclusive<u64> {
    let fact = |parameter| edition.fact(what.scope(), parameter).map(|figure| figure.per_s);
    fact("size_min").unwrap_or(1)..=fact("size_max").unwrap_or(u64::MAX >> 1)
}

/// Returns what may be assigned to a volume by hand, bytes per second.
pub fn assignable(edition: &Edition) -> RangeInclusive<u64> {
    let fact = |parameter| edition.fact("volume.regular", parameter).map(|figure| figure.per_s);
    fact("manual_qos_min").unwrap_or(MIB)..=fact("throughput_max").unwrap_or(u64::MAX)
}

/// Returns what throughput a pool of the level [`FLEXIBLE`] may be bought with, bytes per second;
/// `None` in an edition that does not have the level.
pub fn flexible_throughput(edition: &Edition, pool_bytes: u64) -> Option<RangeInclusive<u64>> {
    let least = edition.fact("level.flexible", "throughput_min")?.per_s;
    let most = edition.fact("level.flexible", "throughput_max_per_tib")?;
    Some(least..=times(most, pool_bytes).max(least))
}

/// Returns the most connections of one mount (`nconnect`); `None` where no source says.
pub fn connections_max(edition: &Edition) -> Option<u64> {
    edition.fact("client", "nconnect_max").map(|figure| figure.per_s)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn current() -> &'static Edition {
        catalog::edition("current").expect("an edition")
    }

    #[test]
    fn throughput_follows_from_the_size_at_three_levels() {
        let mib_s = |level, gib: u64| {
            throughput_of_size(current(), level, gib << 30).map(|per_s| per_s as f64 / MIB as f64)
        };
        assert_eq!(mib_s("standard", 1024), Some(16.0));
        assert_eq!(mib_s("premium", 2048), Some(128.0));
        assert_eq!(mib_s("ultra", 100), Some(12.5));
        assert_eq!(mib_s(FLEXIBLE, 1024), None);
        assert_eq!(levels(current()), ["standard", "premium", "ultra", FLEXIBLE]);
    }

    #[test]
    fn a_flexible_pool_has_a_least_throughput_and_a_most_by_size() {
        let range = |tib: u64| flexible_throughput(current(), tib << 40).expect("a level");
        assert_eq!(range(1), (128 * MIB)..=(640 * MIB));
        assert_eq!(range(3), (128 * MIB)..=(1920 * MIB));
    }
}
