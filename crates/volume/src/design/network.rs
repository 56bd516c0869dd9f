//! Network volumes and their pools.

use std::ops::Range;

use catalog::{Figure, VolumeKind};
use plan::Diagnostic;
use plan::keys::{Keys, Located};

use super::parser::{ParsedVolume, Parser};
use super::service::{self, Sized};
use super::{Backing, Limit, NetworkVolume, Pool, PoolBuild, Volume, VolumeBuild, medium_latency};

/// Origin of throughput that was assigned to a volume.
pub(crate) const BY_HAND: &str = "assigned by hand";

const TIB: f64 = (1_u64 << 40) as f64;

/// Largest transfer of one call, where the catalogue does not say.
const TRANSFER_BYTES_MAX: u64 = 262_144;

/// A pool, and what its volumes are checked against.
pub(super) struct ParsedPool {
    pub(super) pool: Pool,
    pub(super) size_bytes: u64,
    level: String,
    is_manual: bool,
}

/// Reads `[[pool]]`.
pub(super) fn pools(list: Vec<Keys<'_>>, parser: &mut Parser<'_, '_>) -> Vec<ParsedPool> {
    let mut pools: Vec<ParsedPool> = Vec::new();
    for keys in list {
        let at = keys.at.clone();
        let Some(pool) = pool(keys, parser) else { continue };
        if pools.iter().any(|known| known.pool.name == pool.pool.name) {
            let text = format!("two pools are named `{}`", pool.pool.name);
            parser.findings.error("duplicate-name", &at, text);
        }
        pools.push(pool);
    }
    pools
}

fn pool(mut keys: Keys<'_>, parser: &mut Parser<'_, '_>) -> Option<ParsedPool> {
    let at = keys.at.clone();
    let name = keys.text("name", parser.findings);
    let level = level(&mut keys, parser);
    let size = keys.bytes("size", parser.findings);
    let manual = match keys.text("qos", parser.findings) {
        None | Some(("auto", _)) => false,
        Some(("manual", _)) => true,
        Some((other, at)) => {
            let text = format!("`qos` is `{other}`, expected auto or manual");
            parser.findings.error("bad-value", &at, text);
            false
        }
    };
    let throughput = keys.rate("throughput", parser.findings);
    for (key, is_there) in [("name", name.is_some()), ("size", size.is_some())] {
        if !is_there && keys.get(key).is_none() {
            parser.findings.error("missing-key", &at, format!("a pool needs `{key}`"));
        }
    }
    keys.finish(parser.findings);
    let (name, level, (size_bytes, size_at)) = (name?.0.to_owned(), level?, size?);
    let edition = parser.edition;
    in_range(size_bytes, &size_at, Sized::Pool, parser);
    let throughput = if level == service::FLEXIBLE {
        flexible(throughput, size_bytes, &at, parser)?
    } else {
        if let Some((_, at)) = throughput {
            let text = format!("the throughput of a {level} pool follows from its size");
            parser.findings.error("bad-value", &at, text);
        }
        let figure = edition.fact(&format!("level.{level}"), "throughput_per_tib")?;
        times(figure, size_bytes, &level, parser)
    };
    let is_manual = manual || level == service::FLEXIBLE;
    let build = PoolBuild { level: capitalised(&level), size_bytes, is_manual };
    Some(ParsedPool { pool: Pool { name, throughput, build }, size_bytes, level, is_manual })
}

/// Reads the throughput of a pool whose throughput is bought apart from its size.
fn flexible(
    asked: Option<Located<u64>>,
    size_bytes: u64,
    at: &Range<usize>,
    parser: &mut Parser<'_, '_>,
) -> Option<Limit> {
    let most = parser.edition.fact("level.flexible", "throughput_max_per_tib")?;
    let range = service::flexible_throughput(parser.edition, size_bytes)?;
    let Some((per_s, at)) = asked else {
        parser.findings.error("missing-key", at, "a flexible pool needs `throughput`");
        return None;
    };
    if !range.contains(&per_s) {
        let (from, to) = (range.start() >> 20, range.end() >> 20);
        let text = format!("a flexible pool of this size has {from} to {to} MiB/s");
        parser.findings.error("out-of-range", &at, text);
    }
    Some(Limit { per_s, burst: None, origin: parser.origin("Flexible, provisioned", most) })
}

/// Reads `service`, and returns it in small letters.
fn level(keys: &mut Keys<'_>, parser: &mut Parser<'_, '_>) -> Option<String> {
    let Some((text, at)) = keys.text("service", parser.findings) else {
        if keys.get("service").is_none() {
            let text = "needs `service`: Standard, Premium or Ultra";
            parser.findings.error("missing-key", &keys.at, text);
        }
        return None;
    };
    let name = text.to_lowercase();
    let edition = parser.edition;
    if service::levels(edition).contains(&name.as_str()) {
        return Some(name);
    }
    let finding = if edition.levels().next().is_none() {
        let text = format!("edition {} has no network volumes", edition.info.name);
        Diagnostic::error("unknown-sku", text).help("use edition = \"current\" or \"2019\"")
    } else {
        let text = format!("unknown service level `{text}`");
        Diagnostic::error("unknown-sku", text).help("levels are Standard, Premium, Ultra, Flexible")
    };
    parser.findings.add(finding, &at);
    None
}

/// Reads a network volume.
pub(super) fn volume(
    mut keys: Keys<'_>,
    pools: &[ParsedPool],
    parser: &mut Parser<'_, '_>,
) -> Option<ParsedVolume> {
    let at = keys.at.clone();
    let pool = pool_of(&mut keys, pools, parser);
    // In a pool the level is the pool's.
    let has_level = keys.get("service").is_some() || keys.get("pool").is_none();
    let named = if has_level { level(&mut keys, parser) } else { None };
    let level = named.clone().or_else(|| pool.map(|idx| pools[idx].level.clone()));
    let quota = keys.bytes("quota", parser.findings);
    if quota.is_none() && keys.get("quota").is_none() {
        parser.findings.error("missing-key", &at, "a network volume needs `quota`");
    }
    let large = keys.flag("large", parser.findings);
    let kind = if large { VolumeKind::Large } else { VolumeKind::Regular };
    let assigned = keys.rate("throughput", parser.findings);
    let transfer = transfer(&mut keys, parser);
    let ceiling = super::ceiling::ceiling(&mut keys, kind, level.as_deref(), parser);
    let latency = parser.latency(&mut keys, "latency", medium_latency("network").latency);
    keys.finish(parser.findings);
    let (level, (quota_bytes, quota_at)) = (level?, quota?);
    in_range(quota_bytes, &quota_at, Sized::Volume(kind), parser);
    if let Some(pool) = pool.map(|idx| &pools[idx]).filter(|pool| pool.level != level) {
        let text = format!("a {level} volume in the {} pool `{}`", pool.level, pool.pool.name);
        parser.findings.error("bad-value", &at, text);
    }
    let manual = pool.is_some_and(|idx| pools[idx].is_manual);
    let by_hand = assigned.as_ref().map(|(per_s, _)| *per_s);
    let quota = throughput(assigned, manual, quota_bytes, &level, &at, parser)?;
    let backing = NetworkVolume {
        level: capitalised(&level),
        quota,
        ceiling,
        pool: pool.map(|idx| idx as u16),
        transfer_bytes: transfer,
    };
    let volume = Volume {
        mount: String::new(),
        capacity_bytes: quota_bytes,
        backing: Backing::Network(backing),
        latency,
        cache_latency: latency,
        build: VolumeBuild { is_large: large, ..VolumeBuild::default() },
    };
    let pool = pool.map(|idx| (idx as u16, quota_bytes, by_hand));
    Some(ParsedVolume { volume, mount_at: at.clone(), disks: None, pool, at })
}

fn pool_of(
    keys: &mut Keys<'_>,
    pools: &[ParsedPool],
    parser: &mut Parser<'_, '_>,
) -> Option<usize> {
    let (name, at) = keys.text("pool", parser.findings)?;
    let idx = pools.iter().position(|pool| pool.pool.name == name);
    if idx.is_none() {
        let text = format!("no [[pool]] is named `{name}`");
        let near = catalog::nearest(name, pools.iter().map(|pool| pool.pool.name.as_str()));
        let mut finding = Diagnostic::error("unknown-pool", text);
        if let Some(near) = near.first() {
            finding = finding.help(format!("did you mean `{near}`?"));
        }
        parser.findings.add(finding, &at);
    }
    idx
}

/// Returns what the volume may carry by its quota, or by hand.
fn throughput(
    assigned: Option<Located<u64>>,
    manual: bool,
    quota_bytes: u64,
    level: &str,
    at: &Range<usize>,
    parser: &mut Parser<'_, '_>,
) -> Option<Limit> {
    if !manual {
        if let Some((_, at)) = assigned {
            let finding =
                Diagnostic::error("bad-value", "`throughput` needs a pool with manual QoS");
            parser.findings.add(finding.help("set qos = \"manual\" in its [[pool]]"), &at);
        }
        let scope = format!("level.{level}");
        let Some(figure) = parser.edition.fact(&scope, "throughput_per_tib") else {
            let text = format!("a {level} volume needs a pool with manual QoS");
            parser.findings.error("missing-key", at, text);
            return None;
        };
        return Some(times(figure, quota_bytes, level, parser));
    }
    let Some((per_s, assigned_at)) = assigned else {
        let text = "a volume in a pool with manual QoS needs `throughput`";
        parser.findings.error("missing-key", at, text);
        return None;
    };
    let range = service::assignable(parser.edition);
    if !range.contains(&per_s) {
        let (least, most) = (range.start() >> 20, range.end() >> 20);
        let text = format!("`throughput` is from {least} to {most} MiB/s");
        parser.findings.error("out-of-range", &assigned_at, text);
    }
    Some(Limit { per_s: per_s.max(1), burst: None, origin: BY_HAND.to_owned() })
}

/// Returns a level's throughput for a size.
fn times(figure: &Figure, bytes: u64, level: &str, parser: &Parser<'_, '_>) -> Limit {
    let whose = format!("{} x {} TiB", capitalised(level), bytes as f64 / TIB);
    let per_s = service::times(figure, bytes);
    Limit { per_s, burst: None, origin: parser.origin(&whose, figure) }
}

fn in_range(bytes: u64, at: &Range<usize>, of: Sized, parser: &mut Parser<'_, '_>) {
    let range = service::sizes(parser.edition, of);
    if range.contains(&bytes) {
        return;
    }
    let (least, most) = (*range.start(), *range.end());
    let gib = (bytes as f64 / f64::from(1 << 30) * 1000.0).round() / 1000.0;
    let text = format!("{} has {} to {} GiB, not {gib}", of.about(), least >> 30, most >> 30);
    let mut finding = Diagnostic::error("out-of-range", text);
    let large = *service::sizes(parser.edition, Sized::Volume(VolumeKind::Large)).end();
    if of == Sized::Volume(VolumeKind::Regular) && (most + 1..=large).contains(&bytes) {
        finding = finding.help("set large = true");
    }
    parser.findings.add(finding, at);
}

fn transfer(keys: &mut Keys<'_>, parser: &mut Parser<'_, '_>) -> u32 {
    let most = parser.edition.fact("client", "rsize_wsize_max");
    let most = most.map_or(TRANSFER_BYTES_MAX, |figure| figure.per_s);
    let Some((bytes, at)) = keys.bytes("transfer", parser.findings) else { return most as u32 };
    if !(4096..=most).contains(&bytes) {
        let text = format!("`transfer` is {bytes} bytes, expected 4096 to {most}");
        parser.findings.error("out-of-range", &at, text);
        return most as u32;
    }
    bytes as u32
}

fn capitalised(level: &str) -> String {
    let mut letters = level.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
