//! A design with network volumes, as a file.

use volume::Design;
use volume::design::parse_with;

use super::rank::{ChosenPool, ChosenVolume, Qos, Ranked};
use crate::make::{head, quoted};
use crate::market::{Market, Terms};
use crate::need::Need;

/// A pool as it is written.
pub(super) struct PoolText<'a> {
    pub(super) level: &'a str,
    pub(super) qos: Qos,
    pub(super) size_tib: u64,
    pub(super) throughput_mib_s: Option<u64>,
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
    for pool in pools {
        text.push_str(&format!(
            "\n[[pool]]\nname = \"{}\"\nservice = \"{}\"\nsize = \"{}TiB\"\nqos = \"{}\"\n",
            pool_name(pool),
            title(pool.level),
            pool.size_tib,
            pool.qos.as_str()
        ));
        if let Some(mib_s) = pool.throughput_mib_s {
            text.push_str(&format!("throughput = \"{mib_s}MiB/s\"\n"));
        }
    }
    for (asked, volume) in need.volumes.iter().zip(volumes) {
        text.push_str(&format!(
            "\n[[volume]]\nmount = {}\npool = \"{}\"\nquota = \"{}GiB\"\n",
            quoted(&asked.mount),
            pool_name(&pools[volume.pool]),
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

fn pool_name(pool: &PoolText<'_>) -> String {
    format!("{}-{}", pool.level, pool.qos.as_str())
}

/// Returns a level with a capital, as it is written.
fn title(level: &str) -> String {
    let mut letters = level.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

impl ChosenPool {
    /// Returns its level with a capital: `Premium`.
    pub fn title(&self) -> String {
        title(&self.level)
    }
}

/// Returns a design as TOML, which every command that takes a design reads.
pub fn toml(terms: &Terms, need: &Need, ranked: &Ranked, name: &str) -> String {
    let of_pool = |pool: &'_ ChosenPool| (pool.qos, pool.size_tib, pool.throughput_mib_s);
    let pools: Vec<PoolText<'_>> = ranked
        .pools
        .iter()
        .map(|pool| {
            let (qos, size_tib, throughput_mib_s) = of_pool(pool);
            PoolText { level: &pool.level, qos, size_tib, throughput_mib_s }
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
