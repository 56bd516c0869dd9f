//! Network volumes and their pools.

use std::ops::Range;

use catalog::{Edition, Figure, VolumeKind};
use plan::Diagnostic;
use plan::keys::{Findings, Keys, Located};

use super::parser::{ParsedVolume, Parser, per_s};
use super::service::{self, FileServer, Service, Sized};
use super::{
    Backing, BoughtFileServer, Limit, NetworkVolume, Pool, PoolBuild, Volume, VolumeBuild,
    medium_latency,
};

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
        None | Some(("auto", _)) => None,
        Some(("manual", at)) => Some(at),
        Some((other, at)) => {
            let text = format!("`qos` is `{other}`, expected auto or manual");
            parser.findings.error("bad-value", &at, text);
            None
        }
    };
    let throughput = keys.rate("throughput", parser.findings);
    let iops = keys.count("iops", parser.findings);
    for (key, is_there) in [("name", name.is_some()), ("size", size.is_some())] {
        if !is_there && keys.get(key).is_none() {
            parser.findings.error("missing-key", &at, format!("a pool needs `{key}`"));
        }
    }
    keys.finish(parser.findings);
    let (name, level, (size_bytes, size_at)) = (name?.0.to_owned(), level?, size?);
    let service = Service::of_level(&level);
    in_range(size_bytes, &size_at, (service, Sized::Pool), parser);
    if let Some(at) = manual.as_ref().filter(|_| !service.has_manual()) {
        let text = format!("throughput of {} is not assigned by hand", service.title());
        let finding = Diagnostic::error("bad-value", text);
        parser.findings.add(finding.help("leave `qos` out"), at);
    }
    if let Some((_, at)) = iops.as_ref().filter(|_| service != Service::FsxOntap) {
        let text = format!("operations per second of {} are not bought", service.title());
        parser.findings.error("bad-value", at, text);
    }
    let is_manual = manual.is_some() || level == service::FLEXIBLE;
    let title = service::level_title(&level);
    let build = PoolBuild { level: title, size_bytes, is_manual, file_server: None };
    let pool = if service == Service::FsxOntap {
        file_system((name, build), &level, (throughput, iops), &at, parser)?
    } else {
        let throughput = of_pool(throughput, &level, size_bytes, &at, parser)?;
        Pool { name, throughput, iops: None, build }
    };
    Some(ParsedPool { pool, size_bytes, level, is_manual })
}

/// Returns the throughput of a pool: what follows from its size, or what was bought.
fn of_pool(
    asked: Option<Located<u64>>,
    level: &str,
    size_bytes: u64,
    at: &Range<usize>,
    parser: &mut Parser<'_, '_>,
) -> Option<Limit> {
    if level == service::FLEXIBLE {
        return flexible(asked, size_bytes, at, parser);
    }
    if let Some((_, at)) = asked {
        let text = format!("the throughput of a {level} pool follows from its size");
        parser.findings.error("bad-value", &at, text);
    }
    let figure = parser.edition.fact(&format!("level.{level}"), "throughput_per_tib")?;
    Some(times(figure, size_bytes, level, parser))
}

/// Reads the file servers and disks of a file system, which its volumes share.
fn file_system(
    (name, build): (String, PoolBuild),
    level: &str,
    (throughput, iops): (Option<Located<u64>>, Option<Located<u64>>),
    at: &Range<usize>,
    parser: &mut Parser<'_, '_>,
) -> Option<Pool> {
    let servers = service::file_servers(parser.edition, level);
    if servers.is_empty() {
        let text = format!("the limits of the file servers of {} are unknown", build.level);
        let finding = Diagnostic::error("unknown-figure", text);
        parser.findings.add(finding.help("known are those of the first generation, gen1"), at);
        return None;
    }
    let Some((per_s, throughput_at)) = throughput else {
        let text = "a file system needs `throughput`, such as \"512MB/s\"";
        parser.findings.error("missing-key", at, text);
        return None;
    };
    let known: Vec<String> =
        servers.iter().map(|server| format!("{} MB/s", server.throughput_mb_s)).collect();
    let Some(server) = servers.iter().find(|it| it.throughput_mb_s * 1_000_000 == per_s) else {
        let text = format!("no file servers of {} with this throughput are known", build.level);
        let finding = Diagnostic::error("out-of-range", text);
        parser
            .findings
            .add(finding.help(format!("known are {}", known.join(", "))), &throughput_at);
        return None;
    };
    let gib = build.size_bytes >> 30;
    let range = service::provisioned_iops(parser.edition, gib)?;
    let bought = match iops {
        None => *range.start(),
        Some((iops, at)) => {
            if !range.contains(&iops) {
                let (least, most) = (range.start(), range.end());
                let text = format!("`iops` is {iops}, expected {least} to {most}");
                let finding = Diagnostic::error("out-of-range", text);
                let help = format!("{least} come with {gib} GiB; leave `iops` out for these");
                parser.findings.add(finding.help(help), &at);
            }
            iops
        }
    };
    let whose = format!("{}, {} MB/s", build.level, server.throughput_mb_s);
    let (edition, mb_bytes) = (parser.edition, parser.mb_bytes());
    let limits = file_server_limits(edition, mb_bytes, server, bought, &whose);
    let throughput_mb_s = server.throughput_mb_s;
    let file_server = Some(BoughtFileServer { throughput_mb_s, iops: bought });
    let (throughput, iops) = limits;
    Some(Pool { name, throughput, iops: Some(iops), build: PoolBuild { file_server, ..build } })
}

/// Returns what file servers carry with disks of so many operations per second: bytes, and the
/// lower of both operations.
pub(crate) fn file_server_limits(
    edition: &Edition,
    mb_bytes: u64,
    server: &FileServer<'_>,
    bought_iops: u64,
    whose: &str,
) -> (Limit, Limit) {
    let mut findings = Findings::new("");
    let parser = Parser::again(edition, mb_bytes, &mut findings);
    let (bytes_per_s, iops_per_s) = carried_by(server, bought_iops, mb_bytes);
    let origin = parser.origin(whose, server.throughput);
    let throughput = Limit { per_s: bytes_per_s, burst: None, origin };
    let origin = if iops_per_s == bought_iops {
        format!("{whose}: provisioned")
    } else {
        parser.origin(whose, server.iops)
    };
    let iops = Limit { per_s: iops_per_s, burst: None, origin };
    (throughput, iops)
}

/// Returns what file servers carry with disks of so many operations per second: bytes and
/// operations per second, with so many bytes to a published MB.
pub fn carried_by(server: &FileServer<'_>, bought_iops: u64, mb_bytes: u64) -> (u64, u64) {
    let (bytes, iops) = (per_s(server.throughput, mb_bytes), per_s(server.iops, mb_bytes));
    (bytes, iops.min(bought_iops).max(1))
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
    let edition = parser.edition;
    if let Some(level) = service::level_of(edition, text) {
        return Some(level.to_owned());
    }
    let finding = if edition.levels().next().is_none() {
        let text = format!("edition {} has no network volumes", edition.info.name);
        Diagnostic::error("unknown-sku", text).help("use edition = \"current\" or \"2019\"")
    } else {
        let text = format!("unknown service level `{text}`");
        let is_known = |level: &&str| {
            Service::of_level(level) != Service::FsxOntap
                || !service::file_servers(edition, level).is_empty()
        };
        let known = Service::ALL.into_iter().flat_map(|it| service::levels(edition, it));
        let known = known.filter(is_known);
        let known: Vec<String> = known.map(service::level_title).collect();
        Diagnostic::error("unknown-sku", text).help(format!("levels are {}", known.join(", ")))
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
    let service = Service::of_level(&level);
    in_range(quota_bytes, &quota_at, (service, Sized::Volume(kind)), parser);
    if !service::has_kind(parser.edition, service, kind) {
        let text = format!("large volumes of {} are not in the catalogue", service.title());
        let finding = Diagnostic::error("unknown-figure", text);
        parser.findings.add(finding.help("leave `large` out"), &at);
    }
    if let Some(pool) = pool.map(|idx| &pools[idx]).filter(|pool| pool.level != level) {
        let text = format!(
            "a volume of level {level} in pool `{}` of level {}",
            pool.pool.name, pool.level
        );
        parser.findings.error("bad-value", &at, text);
    }
    let manual = pool.is_some_and(|idx| pools[idx].is_manual);
    let by_hand = assigned.as_ref().map(|(per_s, _)| *per_s);
    let quota = match service {
        Service::FsxOntap => {
            shared(assigned, pool.is_some(), &at, parser);
            None
        }
        Service::AzureFiles | Service::GoogleVolumes => {
            Some(throughput(assigned, manual, quota_bytes, &level, &at, parser)?)
        }
    };
    let backing = NetworkVolume {
        level: service::level_title(&level),
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
    let service = Some(service);
    Some(ParsedVolume { volume, mount_at: at.clone(), disks: None, service, pool, at })
}

/// Checks a volume of a file system, whose throughput all its volumes share.
fn shared(
    assigned: Option<Located<u64>>,
    is_in_pool: bool,
    at: &Range<usize>,
    parser: &mut Parser<'_, '_>,
) {
    if let Some((_, at)) = assigned {
        let text = "volumes of a file system share its throughput";
        let finding = Diagnostic::error("bad-value", text);
        parser.findings.add(finding.help("set `throughput` in its [[pool]]"), &at);
    }
    if !is_in_pool {
        let text = "a volume of FSx for ONTAP needs `pool`: the [[pool]] that is its file system";
        parser.findings.error("missing-key", at, text);
    }
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
            let text = format!("a volume of level {level} needs a pool with manual QoS");
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
    let whose = format!("{} x {} TiB", service::level_title(level), bytes as f64 / TIB);
    let per_s = service::times(figure, bytes);
    Limit { per_s, burst: None, origin: parser.origin(&whose, figure) }
}

fn in_range(
    bytes: u64,
    at: &Range<usize>,
    (service, of): (Service, Sized),
    parser: &mut Parser<'_, '_>,
) {
    let range = service::sizes(parser.edition, service, of);
    if range.contains(&bytes) {
        return;
    }
    let (least, most) = (*range.start(), *range.end());
    let gib = (bytes as f64 / f64::from(1 << 30) * 1000.0).round() / 1000.0;
    let about = of.about(service);
    let text = format!("{about} has {} to {} GiB, not {gib}", least >> 30, most >> 30);
    let mut finding = Diagnostic::error("out-of-range", text);
    let large = Sized::Volume(VolumeKind::Large);
    let large = *service::sizes(parser.edition, service, large).end();
    let is_regular = of == Sized::Volume(VolumeKind::Regular);
    let has_large = service::has_kind(parser.edition, service, VolumeKind::Large);
    if is_regular && has_large && (most + 1..=large).contains(&bytes) {
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
