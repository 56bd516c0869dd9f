//! A design with network volumes, as a file.

use plan::keys::quoted;
use volume::Design;
use volume::design::service::{Service, level_title};
use volume::design::{BoughtFileServer, parse_with};

use super::rank::{ChosenPool, ChosenVolume, Qos, Ranked};
use crate::make::head;
use crate::market::{Market, Terms};
use crate::need::Need;

const GIB_PER_TIB: u64 = 1024;

/// A pool as it is written.
pub(super) struct PoolText<'a> {
    pub(super) level: &'a str,
    pub(super) qos: Qos,
    pub(super) size_gib: u64,
    pub(super) throughput_mib_s: Option<u64>,
    pub(super) file_server: Option<BoughtFileServer>,
}

/// A volume as it is written.
pub(super) struct VolumeText {
    pub(super) pool: usize,
    pub(super) quota_gib: u64,
    pub(super) is_large: bool,
    pub(super) throughput_mib_s: Option<u64>,
}

/// The machines as they are written.
pub(super) struct MachineText<'a> {
    /// `None` is one whose card sends anything.
    pub(super) size: Option<&'a str>,
    pub(super) count: u32,
    pub(super) connections: u32,
}

/// What the card of a machine without a size sends: far more than any.
const ANY_EGRESS: &str = "1000000MiB/s";

/// Returns the text of a design.
pub(super) fn text(
    terms: &Terms,
    need: &Need,
    name: &str,
    (pools, volumes, machine): (&[PoolText<'_>], &[VolumeText], &MachineText<'_>),
) -> String {
    let mut text = head(terms, name);
    let names: Vec<String> = (0..pools.len()).map(|idx| pool_name(pools, idx)).collect();
    for (pool, name) in pools.iter().zip(&names) {
        text.push_str(&format!(
            "\n[[pool]]\nname = \"{name}\"\nservice = \"{}\"\nsize = \"{}\"\n",
            level_title(pool.level),
            size(pool.size_gib)
        ));
        if Service::of_level(pool.level).has_manual() {
            text.push_str(&format!("qos = \"{}\"\n", pool.qos.as_str()));
        }
        if let Some(mib_s) = pool.throughput_mib_s {
            text.push_str(&format!("throughput = \"{mib_s}MiB/s\"\n"));
        }
        if let Some(server) = pool.file_server {
            let BoughtFileServer { throughput_mb_s, iops } = server;
            text.push_str(&format!("throughput = \"{throughput_mb_s}MB/s\"\niops = {iops}\n"));
        }
    }
    for (asked, volume) in need.volumes.iter().zip(volumes) {
        text.push_str(&format!(
            "\n[[volume]]\nmount = {}\npool = \"{}\"\nquota = \"{}GiB\"\n",
            quoted(&asked.mount),
            names[volume.pool],
            volume.quota_gib
        ));
        if volume.is_large {
            text.push_str("large = true\n");
        }
        if let Some(mib_s) = volume.throughput_mib_s {
            text.push_str(&format!("throughput = \"{mib_s}MiB/s\"\n"));
        }
    }
    text.push_str("\n[[client]]\nname = \"machine\"\n");
    match machine.size {
        Some(size) => text.push_str(&format!("vm = \"{size}\"\n")),
        None => text.push_str(&format!("egress = \"{ANY_EGRESS}\"\n")),
    }
    if machine.count > 1 {
        text.push_str(&format!("count = {}\n", machine.count));
    }
    text.push_str(&format!("nconnect = {}\n", machine.connections));
    text
}

/// Returns the name of a pool, which is another one's of no other, and short enough for tables.
fn pool_name(pools: &[PoolText<'_>], idx: usize) -> String {
    let PoolText { level, qos, .. } = &pools[idx];
    if Service::of_level(level).has_manual() {
        return format!("{level}-{}", qos.as_str());
    }
    let name = level.trim_start_matches("fsx-ontap-");
    match pools[..idx].iter().filter(|other| other.level == *level).count() {
        0 => name.to_owned(),
        n_before => format!("{name}-{}", n_before + 1),
    }
}

/// Returns a size as it is written.
fn size(gib: u64) -> String {
    if gib.is_multiple_of(GIB_PER_TIB) {
        format!("{}TiB", gib / GIB_PER_TIB)
    } else {
        format!("{gib}GiB")
    }
}

impl ChosenPool {
    /// Returns its level as designs have it: `Premium`.
    pub fn title(&self) -> String {
        level_title(&self.level)
    }

    /// Returns its size in the unit that it is bought in: `4 TiB`, `1,100 GiB`.
    pub fn size(&self) -> String {
        let (number, unit) = if self.size_gib.is_multiple_of(GIB_PER_TIB) {
            (self.size_gib / GIB_PER_TIB, "TiB")
        } else {
            (self.size_gib, "GiB")
        };
        format!("{} {unit}", units::format_count(number))
    }
}

/// Returns a design as TOML, which every command that takes a design reads.
pub fn toml(terms: &Terms, need: &Need, ranked: &Ranked, name: &str) -> String {
    let of_pool =
        |pool: &'_ ChosenPool| (pool.qos, pool.size_gib, pool.throughput_mib_s, pool.file_server);
    let pools: Vec<PoolText<'_>> = ranked
        .pools
        .iter()
        .map(|pool| {
            let (qos, size_gib, throughput_mib_s, file_server) = of_pool(pool);
            PoolText { level: &pool.level, qos, size_gib, throughput_mib_s, file_server }
        })
        .collect();
    let of_volume = |volume: &ChosenVolume| VolumeText {
        pool: volume.pool,
        quota_gib: volume.quota_gib,
        is_large: volume.is_large,
        throughput_mib_s: volume.throughput_mib_s,
    };
    let volumes: Vec<VolumeText> = ranked.volumes.iter().map(of_volume).collect();
    let machine = MachineText {
        size: Some(&ranked.machine),
        count: ranked.n_machines,
        connections: ranked.connections,
    };
    text(terms, need, name, (&pools, &volumes, &machine))
}

/// Reads a design that was found; `None` if it is none, which would be a mistake of the search.
pub fn parse(market: &Market<'_>, need: &Need, ranked: &Ranked) -> Option<Design> {
    parse_with(&toml(&market.terms, need, ranked, "found"), &market.catalog).0
}
