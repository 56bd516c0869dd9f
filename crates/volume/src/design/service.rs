//! What network volumes and pools may be, by file service and service level: sizes, and throughput
//! that follows from them. Figures are the catalogue's.

use std::ops::RangeInclusive;

use catalog::{Cloud, Edition, Figure, VolumeKind};

/// The level whose throughput is bought apart from its size.
pub const FLEXIBLE: &str = "flexible";

/// A network file service, one of each cloud.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Service {
    /// Azure NetApp Files: a level is bought by the pool, throughput follows from quotas or is
    /// assigned by hand.
    AzureFiles,
    /// Google Cloud NetApp Volumes: the same, by quotas alone.
    GoogleVolumes,
    /// Amazon FSx for NetApp ONTAP: a file system is bought with capacity, throughput and
    /// operations, which its volumes share.
    FsxOntap,
}

impl Service {
    /// All of them.
    pub const ALL: [Service; 3] = units::all_of!(Service: AzureFiles, GoogleVolumes, FsxOntap);

    /// Returns the service of a cloud.
    pub fn of_cloud(cloud: Cloud) -> Self {
        match cloud {
            Cloud::Azure => Service::AzureFiles,
            Cloud::Aws => Service::FsxOntap,
            Cloud::Gcp => Service::GoogleVolumes,
        }
    }

    /// Returns the service of a level, by the name that tables give it.
    pub fn of_level(level: &str) -> Self {
        let begins = |service: &Service| level.starts_with(service.level_prefix());
        let named = [Service::GoogleVolumes, Service::FsxOntap].into_iter().find(begins);
        named.unwrap_or(Service::AzureFiles)
    }

    /// Returns whose it is.
    pub fn cloud(self) -> Cloud {
        match self {
            Service::AzureFiles => Cloud::Azure,
            Service::GoogleVolumes => Cloud::Gcp,
            Service::FsxOntap => Cloud::Aws,
        }
    }

    /// Returns its full name.
    pub fn title(self) -> &'static str {
        match self {
            Service::AzureFiles => "Azure NetApp Files",
            Service::GoogleVolumes => "Google Cloud NetApp Volumes",
            Service::FsxOntap => "Amazon FSx for NetApp ONTAP",
        }
    }

    /// Says whether the throughput of its pools may be assigned to volumes by hand.
    pub fn has_manual(self) -> bool {
        self == Service::AzureFiles
    }

    /// Returns in what steps the size of its pools is bought, or of its file systems, bytes.
    pub fn size_step(self) -> u64 {
        match self {
            Service::AzureFiles | Service::GoogleVolumes => 1 << 40,
            Service::FsxOntap => 1 << 30,
        }
    }

    /// Returns what the names of its levels begin with in tables.
    fn level_prefix(self) -> &'static str {
        match self {
            Service::AzureFiles => "",
            Service::GoogleVolumes => "volumes-",
            Service::FsxOntap => "fsx-ontap-",
        }
    }
}

/// Returns the name that a level has within its service, of that in tables: `premium`,
/// `single-az-gen1`.
pub fn own_name(level: &str) -> &str {
    &level[Service::of_level(level).level_prefix().len()..]
}

/// Returns a level as designs have it: `Premium`, `NetApp Volumes Premium`, `FSx for ONTAP
/// Single-AZ gen1`.
pub fn level_title(level: &str) -> String {
    let mut letters = own_name(level).chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    let own: String = first.into_iter().chain(letters).collect();
    match Service::of_level(level) {
        Service::AzureFiles => own,
        Service::GoogleVolumes => format!("NetApp Volumes {own}"),
        Service::FsxOntap => {
            let own = own.replace("-az", "-AZ").replace("-gen", " gen");
            format!("FSx for ONTAP {own}")
        }
    }
}

/// Finds a level by its name in tables or by its title; case does not count.
pub fn level_of<'e>(edition: &'e Edition, text: &str) -> Option<&'e str> {
    let is_it = |level: &&str| {
        level.eq_ignore_ascii_case(text) || level_title(level).eq_ignore_ascii_case(text)
    };
    Service::ALL.into_iter().flat_map(|service| levels(edition, service)).find(is_it)
}

/// Returns the name under which the capacity of a level has its price.
pub fn price_name(level: &str) -> String {
    match Service::of_level(level) {
        Service::AzureFiles | Service::GoogleVolumes => format!("netapp-{level}"),
        Service::FsxOntap => level.to_owned(),
    }
}

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
    pub(crate) fn scope(self, service: Service) -> &'static str {
        match (service, self) {
            (Service::AzureFiles, Sized::Pool) => "pool",
            (Service::AzureFiles, Sized::Volume(VolumeKind::Regular)) => "volume.regular",
            (Service::AzureFiles, Sized::Volume(VolumeKind::Large)) => "volume.large",
            (Service::GoogleVolumes, Sized::Pool) => "volumes.pool",
            (Service::GoogleVolumes, Sized::Volume(VolumeKind::Regular)) => {
                "volumes.volume.regular"
            }
            (Service::GoogleVolumes, Sized::Volume(VolumeKind::Large)) => "volumes.volume.large",
            (Service::FsxOntap, Sized::Pool) => "fsx-ontap.ssd",
            (Service::FsxOntap, Sized::Volume(VolumeKind::Regular)) => "fsx-ontap.volume.regular",
            (Service::FsxOntap, Sized::Volume(VolumeKind::Large)) => "fsx-ontap.volume.large",
        }
    }

    pub(crate) fn about(self, service: Service) -> &'static str {
        match self {
            Sized::Pool if service == Service::FsxOntap => "a file system",
            Sized::Pool => "a pool",
            Sized::Volume(VolumeKind::Regular) => "a regular volume",
            Sized::Volume(VolumeKind::Large) => "a large volume",
        }
    }
}

/// Returns the names of a service's levels, in small letters: those with throughput by size,
/// lowest first as the tables have them, then the one whose throughput is bought apart.
pub fn levels(edition: &Edition, service: Service) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for fact in edition.network_volumes() {
        let Some(name) = fact.scope.strip_prefix("level.") else { continue };
        if Service::of_level(name) == service && !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Says whether a service has volumes of a kind: large ones where a source gives their size.
pub fn has_kind(edition: &Edition, service: Service, kind: VolumeKind) -> bool {
    let scope = Sized::Volume(kind).scope(service);
    kind == VolumeKind::Regular || edition.fact(scope, "size_min").is_some()
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
pub fn sizes(edition: &Edition, service: Service, what: Sized) -> RangeInclusive<u64> {
    let fact = |parameter| edition.fact(what.scope(service), parameter).map(|it| it.per_s);
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

/// Returns the most throughput that a pool of a size has, bytes per second; `None` where it does
/// not follow from the size.
pub fn pool_throughput(edition: &Edition, level: &str, bytes: u64) -> Option<u64> {
    if level == FLEXIBLE {
        return flexible_throughput(edition, bytes).map(|range| *range.end());
    }
    throughput_of_size(edition, level, bytes)
}

/// Returns the size of the least pool or file system that can be bought for quotas of so many bytes
/// and so much throughput, in whole steps of its service, bytes. Throughput of 0 asks for none, and
/// is the only one that is known of file systems. `None` where none is large enough, or what it has
/// is not known.
pub fn least_pool(edition: &Edition, level: &str, quota_bytes: u64, per_s: u64) -> Option<u64> {
    let service = Service::of_level(level);
    let range = sizes(edition, service, Sized::Pool);
    let step = service.size_step();
    let mut n_steps = quota_bytes.max(*range.start()).div_ceil(step);
    let most = range.end() / step;
    if per_s > 0 {
        let of = |n_steps: u64| pool_throughput(edition, level, n_steps * step);
        n_steps = n_steps.max((per_s / of(1)?.max(1)).saturating_sub(1));
        while n_steps <= most && of(n_steps)? < per_s {
            n_steps += 1;
        }
    }
    (n_steps <= most).then(|| n_steps * step)
}

/// A pair of file servers as it is sold, with what it carries.
#[derive(Clone, Copy, Debug)]
pub struct FileServer<'e> {
    /// Throughput under which it is sold, MB/s.
    pub throughput_mb_s: u64,
    /// What its network and its disks both carry, without bursts.
    pub throughput: &'e Figure,
    /// Operations per second that it passes to its disks, without bursts.
    pub iops: &'e Figure,
}

/// Returns the file servers that a level of [`Service::FsxOntap`] is sold with, the smallest first,
/// as far as their limits are known.
pub fn file_servers<'e>(edition: &'e Edition, level: &str) -> Vec<FileServer<'e>> {
    let generation = level.rsplit('-').next().unwrap_or_default();
    let prefix = format!("fsx-ontap-{generation}.throughput.");
    let mut found: Vec<FileServer<'e>> = Vec::new();
    for fact in edition.network_volumes().iter().filter(|fact| fact.parameter == "disk_iops") {
        let sold = fact.scope.strip_prefix(&prefix).and_then(|text| text.parse().ok());
        let of = |parameter| edition.fact(&fact.scope, parameter);
        let both = of("network_throughput").zip(of("disk_throughput"));
        let Some((throughput_mb_s, (network, disks))) = sold.zip(both) else { continue };
        let throughput = if network.per_s < disks.per_s { network } else { disks };
        found.push(FileServer { throughput_mb_s, throughput, iops: &fact.figure });
    }
    found.sort_by_key(|server| server.throughput_mb_s);
    found.dedup_by_key(|server| server.throughput_mb_s);
    found
}

/// Returns how many operations per second a file system of so many GiB may be bought with: from
/// what comes with its capacity. `None` where no source says.
pub fn provisioned_iops(edition: &Edition, gib: u64) -> Option<RangeInclusive<u64>> {
    let fact = |parameter| edition.fact("fsx-ontap.ssd", parameter).map(|figure| figure.value);
    let (per_gib, most) = (fact("iops_per_gib")?, fact("iops_max")?);
    let included = (per_gib * gib as f64).min(most);
    Some(included.ceil() as u64..=most as u64)
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
        assert_eq!(mib_s("volumes-premium", 2048), Some(128.0));
        let azure = levels(current(), Service::AzureFiles);
        assert_eq!(azure, ["standard", "premium", "ultra", FLEXIBLE]);
    }

    #[test]
    fn a_level_is_found_by_its_name_and_by_its_title() {
        for (level, title) in [
            ("premium", "Premium"),
            ("volumes-premium", "NetApp Volumes Premium"),
            ("fsx-ontap-single-az-gen1", "FSx for ONTAP Single-AZ gen1"),
        ] {
            assert_eq!(level_title(level), title);
            assert_eq!(level_of(current(), &title.to_uppercase()), Some(level));
            assert_eq!(level_of(current(), level), Some(level));
        }
        assert_eq!(level_of(current(), "volumes"), None);
    }

    #[test]
    fn file_servers_carry_what_is_published_of_the_first_generation() {
        let all = file_servers(current(), "fsx-ontap-multi-az-gen1");
        let figures = |server: &FileServer<'_>| {
            (server.throughput_mb_s, server.throughput.per_s / 1_000_000, server.iops.per_s)
        };
        let all: Vec<_> = all.iter().map(figures).collect();
        assert_eq!(all.first(), Some(&(128, 128, 6_000)));
        assert_eq!(all.last(), Some(&(2048, 2048, 80_000)));
        assert_eq!(all.len(), 5);
        assert!(file_servers(current(), "fsx-ontap-multi-az-gen2").is_empty());
        assert_eq!(provisioned_iops(current(), 1024), Some(3_072..=160_000));
        assert_eq!(provisioned_iops(current(), 100_000), Some(160_000..=160_000));
    }

    #[test]
    fn a_flexible_pool_has_a_least_throughput_and_a_most_by_size() {
        let range = |tib: u64| flexible_throughput(current(), tib << 40).expect("a level");
        assert_eq!(range(1), (128 * MIB)..=(640 * MIB));
        assert_eq!(range(3), (128 * MIB)..=(1920 * MIB));
    }

    /// Checks how many GiB are bought for quotas of so many GiB and so many MiB/s.
    #[track_caller]
    fn check_pool(level: &str, (quota_gib, mib_s): (u64, u64), gib: Option<u64>) {
        let bought = least_pool(current(), level, quota_gib << 30, mib_s * MIB);
        assert_eq!(bought.map(|bytes| bytes >> 30), gib, "{level}: {quota_gib} GiB, {mib_s} MiB/s");
    }

    #[test]
    fn a_pool_is_bought_in_whole_steps_of_its_service() {
        // Ultra has 128 MiB/s for each TiB, Flexible up to 640.
        check_pool("ultra", (100, 0), Some(1024));
        check_pool("ultra", (1024, 128), Some(1024));
        check_pool("ultra", (1025, 128), Some(2048));
        check_pool("ultra", (100, 129), Some(2048));
        check_pool("ultra", (100, 640), Some(5120));
        check_pool(FLEXIBLE, (100, 640), Some(1024));
        check_pool(FLEXIBLE, (100, 641), Some(2048));
        // From 1 to 2,048 TiB of Azure, from 2 to 200 of Google Cloud.
        check_pool("standard", (2048 << 10, 0), Some(2048 << 10));
        check_pool("standard", ((2048 << 10) + 1, 0), None);
        check_pool("ultra", (100, 2048 * 128 + 1), None);
        check_pool("volumes-premium", (100, 0), Some(2048));
        check_pool("volumes-premium", (100, 129), Some(3072));
        check_pool("volumes-premium", (200 << 10, 0), Some(200 << 10));
        check_pool("volumes-premium", ((200 << 10) + 1, 0), None);
        // A file system in GiB.
        check_pool("fsx-ontap-single-az-gen1", (1500, 0), Some(1500));
        check_pool("fsx-ontap-single-az-gen1", (100, 0), Some(1024));
    }
}
