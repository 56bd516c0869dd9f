//! Volumes made of disks.

use std::ops::Range;

use catalog::{Cacheable, Cloud, Disk as Sku, Figure};
use plan::Diagnostic;
use plan::keys::{Keys, Located};
use toml::de::DeValue;

use super::parser::{CACHE_DEFAULT, DiskUse, ParsedVolume, Parser};
use super::{
    Backing, Burst, CacheMode, Cap, Disk, LOCAL, Local, Merging, OWN_DISK, Stripe, Volume,
    VolumeBuild, WriteCosts, free, medium_latency, vm,
};

/// Most disks in one stripe: more than any machine takes.
const DISKS_MAX: u64 = 1024;

/// Bytes on one disk before the next one's turn, where a design does not say: what the design
/// guide advises for transaction processing.
const CHUNK_BYTES: u64 = 64 << 10;

/// Reads a volume of disks.
pub(super) fn volume(mut keys: Keys<'_>, parser: &mut Parser<'_, '_>) -> Option<ParsedVolume> {
    let at = keys.at.clone();
    let source = source(&mut keys, parser);
    let (n_disks, count_at) = n_disks(&mut keys, source.as_ref(), parser);
    let cache = cache(&mut keys, source.as_ref(), parser);
    let chunk_bytes = chunk(&mut keys, parser);
    let columns = columns(&mut keys, n_disks, parser);
    let is_stated_local = keys.flag("local", parser.findings);
    let local = source.as_ref().and_then(|source| source.local().cloned());
    let is_local = is_stated_local || local.is_some();
    let base = source.as_ref().and_then(|source| parser.take_base(source.sku()?));
    let base = base.map(|()| n_disks);
    let disk = match &source {
        Some(Source { what: DiskSource::Sku(sku), .. }) => from_sku(sku, base, &mut keys, parser),
        Some(Source { what: DiskSource::Own(own), .. }) => Some(own.as_ref().clone()),
        Some(Source { what: DiskSource::Local(local), .. }) => Some(local.disk.clone()),
        None => {
            // Known keys, so that they are not called unknown on top of the mistake.
            for name in ["size", "iops", "throughput", "burst", "performance_plus"] {
                keys.get(name);
            }
            None
        }
    };
    let family = source.as_ref().map_or("", |source| source.family());
    // Disks that cannot have it were reported where the limits were looked up.
    let has_performance_plus =
        keys.get("performance_plus").is_some_and(|value| value.get_ref().as_bool() == Some(true));
    let of_medium = local.as_ref().map_or(medium_latency(family).latency, |local| local.latency);
    let latency = parser.latency(&mut keys, "latency", of_medium);
    let in_cache = medium_latency("host cache").latency;
    let cache_latency = parser.latency(&mut keys, "cache_latency", in_cache);
    keys.finish(parser.findings);
    let (source, mut disk) = (source?, disk?);
    let cache_at = cacheable(&source, cache.as_ref(), parser);
    disk.cache = cache.map_or(CacheMode::None, |cache| cache.0);
    if let Some(cache_at) = cache_at.as_ref().filter(|_| is_local) {
        let text = "a local disk has no host cache: it is in the machine itself";
        let finding = Diagnostic::error("not-cacheable", text);
        parser.findings.add(finding.help("use cache = \"None\""), cache_at);
    }
    let uses = DiskUse {
        is_local,
        n_disks: if is_local { 0 } else { n_disks },
        n_local: if local.is_some() { n_disks } else { 0 },
        name: disk.sku.clone(),
        cloud: source.cloud(),
        family: source.family().to_owned(),
        iops: disk.cap.iops.as_ref().map(|limit| limit.per_s),
        cache_at,
        at: count_at.unwrap_or(source.at),
    };
    let capacity_bytes = disk.size_bytes.saturating_mul(u64::from(n_disks));
    let (disks, has_machine_base) = (vec![disk; n_disks as usize], base.is_some());
    let stripe = Stripe { disks, chunk_bytes, columns, is_local, has_machine_base };
    let volume = Volume {
        mount: String::new(),
        capacity_bytes,
        backing: Backing::Disks(stripe),
        latency,
        cache_latency,
        build: VolumeBuild { has_performance_plus, ..VolumeBuild::default() },
    };
    let mount_at = at.clone();
    Some(ParsedVolume { volume, mount_at, disks: Some(uses), service: None, pool: None, at })
}

/// Where a volume's disks come from.
struct Source<'p> {
    what: DiskSource<'p>,
    at: Range<usize>,
    /// Number of disks where a list says it.
    n_listed: Option<u32>,
}

enum DiskSource<'p> {
    Sku(&'p Sku),
    Own(Box<Disk>),
    Local(Box<Local>),
}

impl<'p> Source<'p> {
    /// Returns the tier or type of the catalogue, if it is one.
    fn sku(&self) -> Option<&'p Sku> {
        match &self.what {
            DiskSource::Sku(sku) => Some(sku),
            DiskSource::Own(_) | DiskSource::Local(_) => None,
        }
    }

    fn family(&self) -> &str {
        match &self.what {
            DiskSource::Sku(sku) => sku.family(),
            DiskSource::Own(_) | DiskSource::Local(_) => "",
        }
    }

    /// Returns the disks of the machine, if it is these.
    fn local(&self) -> Option<&Local> {
        match &self.what {
            DiskSource::Local(local) => Some(local),
            DiskSource::Sku(_) | DiskSource::Own(_) => None,
        }
    }

    fn cloud(&self) -> Option<Cloud> {
        match &self.what {
            DiskSource::Sku(sku) => sku.cloud(),
            DiskSource::Own(_) | DiskSource::Local(_) => None,
        }
    }
}

/// Reads `disk = "P30"`, `disk = { size = ..., iops = ... }` or `disks = ["P30", "P30"]`.
fn source<'p>(keys: &mut Keys<'_>, parser: &mut Parser<'p, '_>) -> Option<Source<'p>> {
    let listed = keys.get("disks");
    let named = keys.get("disk");
    let Some(value) = named else {
        let Some(value) = listed else {
            let text = "a volume needs `disk`, or `service` and `quota`";
            parser.findings.error("missing-key", &keys.at, text);
            return None;
        };
        return list(value.get_ref(), &value.span(), parser);
    };
    if let Some(listed) = listed {
        let text = "`disk` and `disks` exclude one another";
        parser.findings.error("bad-value", &listed.span(), text);
    }
    let at = value.span();
    if value.get_ref().is_table() {
        let own = own(keys.table("disk", parser.findings)?, parser)?;
        return Some(Source { what: DiskSource::Own(Box::new(own)), at, n_listed: None });
    }
    let (name, at) = keys.text("disk", parser.findings)?;
    if name == LOCAL {
        let local = local(&at, parser)?;
        return Some(Source { what: DiskSource::Local(Box::new(local)), at, n_listed: None });
    }
    let sku = sku(name, &at, parser)?;
    Some(Source { what: DiskSource::Sku(sku), at, n_listed: None })
}

/// Looks up the disks of the machine that the design names.
fn local(at: &Range<usize>, parser: &mut Parser<'_, '_>) -> Option<Local> {
    let Some(size) = parser.machine else {
        let text = "`disk = \"local\"` takes the disks of the machine, and no known size is named";
        let help = "name a size of the catalogue under [vm], or give figures: `local = true` and \
                    `disk = { size = \"600GiB\", iops = 75000, throughput = \"1000MB/s\" }`";
        parser.findings.add(Diagnostic::error("no-machine", text).help(help), at);
        return None;
    };
    let found = Local::with(size, parser);
    let short = size.name.trim_start_matches("Standard_");
    if found.is_none() {
        let edition = parser.edition.info.name;
        let text = format!("no local disks of {short} are known in edition {edition}");
        let help = "take another machine or disk, or give figures: `local = true` and \
                    `disk = { size = \"600GiB\", iops = 75000, throughput = \"1000MB/s\" }`";
        parser.findings.add(Diagnostic::error("no-local-disk", text).help(help), at);
    }
    found
}

fn sku<'p>(name: &str, at: &Range<usize>, parser: &mut Parser<'p, '_>) -> Option<&'p Sku> {
    let edition = parser.edition;
    let sku = edition.disk(name);
    if sku.is_none() {
        parser.unknown("disk", name, at, edition.disks().iter().map(|sku| sku.name.as_str()));
    }
    sku
}

/// Reads a list of disks, which must be equal.
fn list<'p>(
    value: &DeValue<'_>,
    at: &Range<usize>,
    parser: &mut Parser<'p, '_>,
) -> Option<Source<'p>> {
    let names = value.as_array().filter(|names| !names.is_empty());
    let Some(names) = names else {
        let text = "`disks` is a list of names, such as [\"P30\", \"P30\"]";
        parser.findings.error("wrong-type", at, text);
        return None;
    };
    let mut first: Option<&Sku> = None;
    let mut is_equal = true;
    for name in names {
        let Some(text) = name.get_ref().as_str() else {
            parser.findings.error("wrong-type", &name.span(), "a disk's name is text in quotes");
            is_equal = false;
            continue;
        };
        let found = sku(text, &name.span(), parser);
        match (first, found) {
            (None, Some(_)) => first = found,
            (Some(first), Some(found)) if first.name != found.name => {
                let text =
                    format!("a stripe needs equal disks: {} beside {}", found.name, first.name);
                let help = "a stripe carries as much as its slowest disk times their number";
                let finding = Diagnostic::error("unequal-disks", text).help(help);
                parser.findings.add(finding, &name.span());
                is_equal = false;
            }
            (_, None) => is_equal = false,
            _ => {}
        }
    }
    if names.len() as u64 > DISKS_MAX {
        let text = format!("a volume of {} disks: at most {DISKS_MAX}", names.len());
        parser.findings.error("out-of-range", at, text);
        return None;
    }
    let n_listed = Some(names.len() as u32);
    first.filter(|_| is_equal).map(|sku| Source {
        what: DiskSource::Sku(sku),
        at: at.clone(),
        n_listed,
    })
}

/// Reads a disk that the design itself describes.
fn own(mut keys: Keys<'_>, parser: &mut Parser<'_, '_>) -> Option<Disk> {
    let name = keys.text("name", parser.findings).map_or(OWN_DISK, |(name, _)| name).to_owned();
    let size = keys.bytes("size", parser.findings);
    let cap = vm::limits_of(&mut keys, parser);
    let io_unit = keys.bytes("io_unit", parser.findings);
    if size.is_none() && keys.get("size").is_none() {
        parser.findings.error(
            "missing-key",
            &keys.at,
            "a disk with figures of your own needs \
         `size`",
        );
    }
    if let Some((0, at)) = &io_unit {
        parser.findings.error("out-of-range", at, "`io_unit` is zero");
    }
    keys.finish(parser.findings);
    let (size_bytes, at) = size?;
    if size_bytes == 0 {
        parser.findings.error("out-of-range", &at, "a disk of size 0");
    }
    let io_unit_bytes = io_unit.map(|(bytes, _)| bytes);
    Some(Disk {
        sku: name,
        cap,
        write_iops: None,
        write_costs: WriteCosts::default(),
        io_unit_bytes,
        merging: Merging::None,
        size_bytes,
        cache: CacheMode::None,
    })
}

fn n_disks(
    keys: &mut Keys<'_>,
    source: Option<&Source<'_>>,
    parser: &mut Parser<'_, '_>,
) -> (u32, Option<Range<usize>>) {
    let listed = source.and_then(|source| source.n_listed);
    let Some((count, at)) = keys.count("count", parser.findings) else {
        return (listed.unwrap_or(1), None);
    };
    if !(1..=DISKS_MAX).contains(&count) {
        let text = format!("`count` is {count}, expected 1 to {DISKS_MAX}");
        parser.findings.error("out-of-range", &at, text);
        // One, so that nothing is said of a number that was not meant.
        return (1, Some(at));
    }
    if listed.is_some_and(|listed| u64::from(listed) != count) {
        parser.findings.error("bad-value", &at, "`count` is not the number of disks listed");
    }
    (count as u32, Some(at))
}

fn cache(
    keys: &mut Keys<'_>,
    source: Option<&Source<'_>>,
    parser: &mut Parser<'_, '_>,
) -> Option<Located<CacheMode>> {
    let Some((text, at)) = keys.text("cache", parser.findings) else {
        if keys.get("cache").is_none() {
            note_default_cache(source, &keys.at, parser);
        }
        return None;
    };
    let mode = match text.to_lowercase().as_str() {
        "none" => CacheMode::None,
        "readonly" => CacheMode::ReadOnly,
        "readwrite" => CacheMode::ReadWrite,
        _ => {
            let text = format!("`cache` is `{text}`, expected None, ReadOnly or ReadWrite");
            parser.findings.error("bad-value", &at, text);
            return None;
        }
    };
    Some((mode, at))
}

/// Tells, once per design, that a disk which can have a host cache is taken to have none: its
/// provider's own default is stated in several ways.
fn note_default_cache(source: Option<&Source<'_>>, at: &Range<usize>, parser: &mut Parser<'_, '_>) {
    let Some(source) = source else { return };
    let is_2018 = parser.edition.info.name == "2018";
    let has_default = match &source.what {
        DiskSource::Sku(sku) => {
            sku.cacheable() != Cacheable::No && sku.cloud() == Some(Cloud::Azure)
        }
        DiskSource::Own(_) => is_2018,
        DiskSource::Local(_) => false,
    };
    if !has_default || parser.has_noted_cache {
        return;
    }
    parser.has_noted_cache = true;
    let text = "`cache` is not stated: None is assumed";
    let mut finding = Diagnostic::note(CACHE_DEFAULT, text);
    if is_2018 {
        finding = finding.help(
            "the design guide gives two defaults for data disks, ReadOnly in its text and None in \
             its table; the disk of the system has ReadWrite",
        );
    }
    let help = "say which: cache = \"None\", \"ReadOnly\" or \"ReadWrite\"";
    parser.findings.add(finding.help(help), at);
}

/// Returns where a host cache is asked for; reports one on a disk that cannot have it.
fn cacheable(
    source: &Source<'_>,
    cache: Option<&Located<CacheMode>>,
    parser: &mut Parser<'_, '_>,
) -> Option<Range<usize>> {
    let (mode, at) = cache.filter(|(mode, _)| *mode != CacheMode::None)?;
    let DiskSource::Sku(sku) = &source.what else { return Some(at.clone()) };
    if sku.cacheable() != Cacheable::No {
        return Some(at.clone());
    }
    let text = format!("{} cannot have the host cache {mode:?}", sku.name);
    let why = match sku.size() {
        Some(_) => "disks of 4,096 GiB and more have none".to_owned(),
        None => format!("{} has none", sku.family()),
    };
    let finding = Diagnostic::error("not-cacheable", text);
    parser.findings.add(finding.help(format!("{why}; use cache = \"None\"")), at);
    None
}

fn chunk(keys: &mut Keys<'_>, parser: &mut Parser<'_, '_>) -> u64 {
    let Some((bytes, at)) = keys.bytes("chunk", parser.findings) else { return CHUNK_BYTES };
    if !bytes.is_power_of_two() || !(4096..=1 << 30).contains(&bytes) {
        let text = format!("`chunk` is {bytes} bytes, expected a power of two, 4 KiB to 1 GiB");
        parser.findings.error("out-of-range", &at, text);
        return CHUNK_BYTES;
    }
    bytes
}

fn columns(keys: &mut Keys<'_>, n_disks: u32, parser: &mut Parser<'_, '_>) -> u32 {
    let Some((columns, at)) = keys.count("columns", parser.findings) else { return n_disks };
    let is_whole = columns > 0 && u64::from(n_disks) % columns == 0;
    if !is_whole {
        let text = format!("`columns` is {columns}, expected a divisor of the {n_disks} disks");
        parser.findings.error("out-of-range", &at, text);
        return n_disks;
    }
    columns as u32
}

/// Makes a disk of a tier or type. `base` is among how many disks what the machine has once for
/// all of the type is divided, where they have it.
fn from_sku(
    sku: &Sku,
    base: Option<u32>,
    keys: &mut Keys<'_>,
    parser: &mut Parser<'_, '_>,
) -> Option<Disk> {
    let io_unit_bytes = sku.io_unit().map(|figure| figure.per_s);
    let (cap, write_iops, size_bytes) = if let Some(size) = sku.size() {
        for name in ["size", "iops", "throughput"] {
            if let Some(value) = keys.get(name) {
                let text = format!("`{name}` of {} is fixed by the tier", sku.name);
                let help = free::where_open(name, sku, parser);
                let finding = Diagnostic::error("bad-value", text).help(help);
                parser.findings.add(finding, &value.span());
            }
        }
        (tier_cap(sku, keys, parser), None, size.per_s)
    } else {
        free::disk(sku, base, keys, parser)?
    };
    Some(Disk {
        sku: sku.name.clone(),
        cap,
        write_iops,
        write_costs: WriteCosts::default(),
        io_unit_bytes,
        merging: free::merging(sku),
        size_bytes,
        cache: CacheMode::None,
    })
}

fn tier_cap(sku: &Sku, keys: &mut Keys<'_>, parser: &mut Parser<'_, '_>) -> Cap {
    let mut base = [sku.iops(), sku.throughput()];
    if keys.flag("performance_plus", parser.findings) {
        let plus = [sku.plus_iops(), sku.plus_throughput()];
        if plus[0].is_some() {
            base = plus;
        } else {
            let text = format!("{} has no performance plus", sku.name);
            parser.findings.error("bad-value", &keys.at, text);
        }
    }
    let burst = bursts(sku, base, keys, parser);
    let limit = |idx: usize| base[idx].map(|figure| parser.limit(&sku.name, figure, burst[idx]));
    let cap = Cap { iops: limit(0), bytes: limit(1) };
    for (what, figure) in [("IOPS", &cap.iops), ("throughput", &cap.bytes)] {
        if figure.is_none() {
            let edition = parser.edition.info.name;
            let text = format!(
                "the {what} limit of {} is unknown in edition {edition}: it is left out",
                sku.name
            );
            parser.findings.warn("unknown-figure", &keys.at, text);
        }
    }
    cap
}

/// Reads `burst`, and returns bursting above operations and bytes.
fn bursts(
    sku: &Sku,
    base: [Option<&Figure>; 2],
    keys: &mut Keys<'_>,
    parser: &mut Parser<'_, '_>,
) -> [Option<Burst>; 2] {
    let asked = keys.text("burst", parser.findings);
    let kind = asked.as_ref().map_or("credit", |(kind, _)| *kind);
    let above = match kind {
        "none" => return [None, None],
        "credit" => [sku.burst_iops(), sku.burst_throughput()],
        "on-demand" => [sku.ondemand_iops(), sku.ondemand_throughput()],
        _ => {
            let at = asked.map_or(keys.at.clone(), |(_, at)| at);
            let text = format!("`burst` is `{kind}`, expected credit, on-demand or none");
            parser.findings.error("bad-value", &at, text);
            return [None, None];
        }
    };
    if let Some((_, at)) = asked.filter(|_| above[0].is_none()) {
        let text = format!("{} has no {kind} bursting", sku.name);
        parser.findings.error("no-such-burst", &at, text);
    }
    let seconds = sku.burst_time().filter(|_| kind == "credit").map(|time| time.per_s);
    [0, 1].map(|idx| {
        let (base, burst) = (parser.per_s(base[idx]?), parser.per_s(above[idx]?));
        match seconds {
            Some(seconds) => vm::credits(base, burst, seconds),
            None => Some(Burst { per_s: burst, bucket: None }).filter(|_| burst > base),
        }
    })
}
