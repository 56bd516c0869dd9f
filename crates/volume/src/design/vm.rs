//! The machine of a design.

use catalog::{Figure, Vm as Size};
use plan::Diagnostic;
use plan::keys::{Findings, Keys};

use super::parser::{DiskUse, Parser};
use super::{Backing, Burst, Cap, Design, Limit, OWN_MACHINE, Vm, client};

/// A full bucket of a machine's credits lasts this long at the burst rate, seconds. Derived, as for
/// disks: published is that bursting lasts at most 30 minutes.
const BURST_S: u64 = 1800;

/// Families of disks that newer machines have caps of their own for.
const V2_FAMILIES: [&str; 2] = ["Premium SSD v2", "Ultra Disk"];

/// Reads `[vm]`: a size of the catalogue, figures of its own, or a size with some figures replaced.
/// `has_network` says that volumes are reached through its network card.
pub(super) fn vm(
    mut keys: Keys<'_>,
    uses: &[&DiskUse],
    has_network: bool,
    parser: &mut Parser<'_, '_>,
) -> Vm {
    let at = keys.at.clone();
    let named = keys.text("size", parser.findings);
    let bursts = bursts(&mut keys, parser);
    let mut vm = Vm { size: OWN_MACHINE.to_owned(), ..Vm::default() };
    let mut known = true;
    let mut size = None;
    if let Some((name, name_at)) = &named {
        size = parser.edition.vm(name);
        if let Some(size) = size {
            let attached = uses.iter().filter(|disks| !disks.is_local);
            let families: Vec<&str> = attached.map(|disks| disks.family.as_str()).collect();
            vm = from_size(size, &families, bursts, parser);
            if lacks_v2(size, &families) {
                let text = format!(
                    "the limits of {} for {} are unknown: those for older premium disks are taken",
                    size.name,
                    V2_FAMILIES.join(" and ")
                );
                parser.findings.warn("unknown-figure", name_at, text);
            }
        } else {
            known = false;
            let edition = parser.edition;
            let names = edition.vms().iter().map(|vm| vm.name.as_str());
            parser.unknown("machine size", name, name_at, names);
        }
    }
    let own_uncached = own_cap(&mut keys, "uncached", parser);
    let own_cached = own_cap(&mut keys, "cached", parser);
    let own_write = own_cap(&mut keys, "cached_write", parser);
    if named.is_none() && own_uncached.is_none() && own_cached.is_none() {
        let text = "[vm] needs `size`, or figures of its own in `uncached` and `cached`";
        parser.findings.error("missing-key", &at, text);
    }
    vm.uncached = own_uncached.unwrap_or(vm.uncached);
    if let Some(cap) = own_cached {
        vm.cached = cap;
        vm.cached_write = None;
    }
    vm.cached_write = own_write.or(vm.cached_write);
    if let Some((bytes, _)) = keys.bytes("cache", parser.findings) {
        vm.cache_bytes = Some(bytes);
    }
    let egress = written(&mut keys, "egress");
    if let Some((per_s, _)) = keys.rate("egress", parser.findings) {
        vm.egress = Some(own_limit(per_s, None, egress.as_deref()));
    }
    if let (Some(size), Some((_, name_at)), None) = (size, &named, &vm.egress)
        && has_network
    {
        let text = client::unknown_egress(size);
        parser.findings.warn("unknown-figure", name_at, text);
    }
    if let Some((n_disks, _)) = keys.count("max_data_disks", parser.findings) {
        vm.max_data_disks = Some(u32::try_from(n_disks).unwrap_or(u32::MAX));
    }
    keys.finish(parser.findings);
    if known {
        let at = named.map_or(at, |(_, at)| at);
        fits(&vm, size, uses, &at, parser);
    }
    vm
}

fn bursts(keys: &mut Keys<'_>, parser: &mut Parser<'_, '_>) -> bool {
    match keys.text("burst", parser.findings) {
        None | Some(("credit", _)) => true,
        Some(("none", _)) => false,
        Some((other, at)) => {
            let text = format!("`burst` of a machine is `{other}`, expected credit or none");
            parser.findings.error("bad-value", &at, text);
            true
        }
    }
}

/// Returns what the catalogue says of a size for the disks of a design, with bursts if its own
/// machine has any; `None` for an edition that there is not.
pub(crate) fn machine_of(design: &Design, own: &Vm, size: &Size) -> Option<Vm> {
    let edition = design.rows()?;
    let mut findings = Findings::new("");
    let parser = Parser::again(edition, design.mb_bytes, &mut findings);
    let families: Vec<&str> = design
        .volumes
        .iter()
        .filter_map(|volume| match &volume.backing {
            Backing::Disks(stripe) => stripe.disks.first(),
            Backing::Network(_) => None,
        })
        .map(|disk| edition.disk(&disk.sku).map_or("", |sku| sku.family()))
        .collect();
    let caps = [&own.uncached, &own.cached];
    let limits = caps.into_iter().flat_map(|cap| [&cap.iops, &cap.bytes]).flatten();
    let bursts = limits.into_iter().any(|limit| limit.burst.is_some());
    Some(from_size(size, &families, bursts, &parser))
}

fn from_size(size: &Size, families: &[&str], bursts: bool, parser: &Parser<'_, '_>) -> Vm {
    // How long a machine of AWS bursts is not published, so none is modelled.
    let bursts = bursts && size.cloud() == "Azure";
    let short = size.name.strip_prefix("Standard_").unwrap_or(&size.name);
    let cap = |iops: Option<&Figure>, bytes: Option<&Figure>, burst: [Option<&Figure>; 2]| {
        let limit = |figure: &Figure, burst: Option<&Figure>| {
            let burst = burst
                .filter(|_| bursts)
                .and_then(|burst| credits(parser.per_s(figure), parser.per_s(burst), BURST_S));
            parser.limit(short, figure, burst)
        };
        Cap {
            iops: iops.map(|figure| limit(figure, burst[0])),
            bytes: bytes.map(|figure| limit(figure, burst[1])),
        }
    };
    let is_v2 = |family: &&str| V2_FAMILIES.contains(family);
    let all_v2 = !families.is_empty() && families.iter().all(is_v2) && size.v2_iops().is_some();
    let uncached = if all_v2 {
        cap(size.v2_iops(), size.v2_throughput(), [None, None])
    } else {
        let burst = [size.uncached_burst_iops(), size.uncached_burst_throughput()];
        cap(size.uncached_iops(), size.uncached_throughput(), burst)
    };
    let burst = [size.cached_burst_iops(), size.cached_burst_throughput()];
    let cached = cap(size.cached_iops(), size.cached_throughput(), burst);
    // Where writes have the same cap as reads, both share it.
    let is_own =
        |figure: &&Figure| size.cached_throughput().map(|read| read.per_s) != Some(figure.per_s);
    let cached_write = size
        .cached_write_throughput()
        .filter(is_own)
        .map(|figure| cap(size.cached_iops(), Some(figure), [None, None]));
    Vm {
        size: size.name.clone(),
        uncached,
        cached,
        cached_write,
        cache_bytes: size.cache().map(|figure| figure.per_s),
        egress: size.egress().map(|figure| parser.limit(short, figure, None)),
        max_data_disks: size.max_data_disks().map(|figure| figure.per_s as u32),
    }
}

/// Says whether a size has limits of its own for the disks of newer types, as those of Azure from
/// the sixth generation on, which are not known.
fn lacks_v2(size: &Size, families: &[&str]) -> bool {
    const GENERATION: u32 = 6;
    let generation = size.name.rsplit_once("_v").and_then(|(_, number)| number.parse().ok());
    size.cloud() == "Azure"
        && generation.is_some_and(|generation: u32| generation >= GENERATION)
        && size.v2_iops().is_none()
        && families.iter().any(|family| V2_FAMILIES.contains(family))
}

/// Returns the credits above a rate; `None` if the burst is not above it.
pub(super) fn credits(base: u64, burst: u64, seconds: u64) -> Option<Burst> {
    let above = burst.checked_sub(base).filter(|above| *above > 0)?;
    Some(Burst { per_s: burst, bucket: Some(above.saturating_mul(seconds)) })
}

/// Makes a limit of the design's own, `written` as it stands there.
pub(super) fn own_limit(per_s: u64, burst: Option<Burst>, written: Option<&str>) -> Limit {
    let says = "as the design says";
    let origin = written.map_or_else(|| says.to_owned(), |text| format!("{says}: {text}"));
    Limit { per_s: per_s.max(1), burst, origin }
}

/// Returns a value as it is written, if it is text.
pub(super) fn written(keys: &mut Keys<'_>, name: &'static str) -> Option<String> {
    keys.get(name)?.get_ref().as_str().map(str::to_owned)
}

/// Reads a pair of limits: `{ iops = 50000, throughput = "512MB/s" }`, perhaps with bursting.
pub(super) fn own_cap(
    keys: &mut Keys<'_>,
    name: &'static str,
    parser: &mut Parser<'_, '_>,
) -> Option<Cap> {
    let mut inner = keys.table(name, parser.findings)?;
    let cap = limits_of(&mut inner, parser);
    if cap == Cap::default() {
        let text = format!("`{name}` needs `iops` or `throughput`");
        parser.findings.error("missing-key", &inner.at, text);
    }
    inner.finish(parser.findings);
    Some(cap)
}

/// A rate of the design, with its place.
type Rate = Option<(u64, std::ops::Range<usize>)>;

/// Reads limits stated by the design itself.
pub(super) fn limits_of(keys: &mut Keys<'_>, parser: &mut Parser<'_, '_>) -> Cap {
    let findings = &mut *parser.findings;
    let throughput = written(keys, "throughput");
    let iops = keys.count("iops", findings);
    let bytes = keys.rate("throughput", findings);
    let burst_iops = keys.count("burst_iops", findings);
    let burst_bytes = keys.rate("burst_throughput", findings);
    let time = keys.duration("burst_time", findings);
    let seconds = time.map_or(BURST_S, |(time, _)| time.as_secs());
    let mut limit = |base: Rate, burst: Rate, written: Option<&str>| {
        let Some((base, at)) = base else {
            if let Some((_, at)) = burst {
                findings.error("missing-key", &at, "bursting needs the sustained rate beside it");
            }
            return None;
        };
        if base == 0 {
            findings.error("out-of-range", &at, "a limit of nothing: leave it out for no limit");
        }
        let credit = burst.and_then(|(burst, at)| {
            let credit = credits(base, burst, seconds);
            if credit.is_none() {
                findings.error("out-of-range", &at, "bursting is not above the sustained rate");
            }
            credit
        });
        Some(own_limit(base, credit, written))
    };
    Cap {
        iops: limit(iops, burst_iops, None),
        bytes: limit(bytes, burst_bytes, throughput.as_deref()),
    }
}

/// Says which machine takes so many disks: the one with the fewest places among those of the same
/// provider, or the one with the most.
fn who_takes(n_disks: u64, size: Option<&Size>, parser: &Parser<'_, '_>) -> String {
    let places = |other: &Size| other.max_data_disks().map_or(0, |most| most.per_s);
    let is_like = |other: &&Size| size.is_none_or(|size| size.cloud() == other.cloud());
    let others = || parser.edition.vms().iter().filter(is_like);
    let short = |size: &Size| size.name.trim_start_matches("Standard_").to_owned();
    let fitting = others().filter(|other| places(other) >= n_disks);
    let most = others().map(places).max().unwrap_or(0);
    match fitting.min_by_key(|other| places(other)) {
        Some(other) => format!(
            "{} takes {}; or put fewer, larger disks into a stripe",
            short(other),
            places(other)
        ),
        None if most > 0 => {
            format!("no size takes more than {most}: put fewer, larger disks into a stripe")
        }
        None => "put fewer, larger disks into a stripe".to_owned(),
    }
}

/// Checks that the machine takes the disks, and that what matters of it is known.
fn fits(
    vm: &Vm,
    size: Option<&Size>,
    uses: &[&DiskUse],
    at: &std::ops::Range<usize>,
    parser: &mut Parser<'_, '_>,
) {
    let short = vm.size.strip_prefix("Standard_").unwrap_or(&vm.size);
    let n_disks: u64 = uses.iter().map(|disks| u64::from(disks.n_disks)).sum();
    if let Some(most) = vm.max_data_disks.filter(|most| n_disks > u64::from(*most)) {
        let text = format!("{n_disks} disks are more than {short} takes: {most}");
        let help = who_takes(n_disks, size, parser);
        parser.findings.add(Diagnostic::error("too-many-disks", text).help(help), at);
    }
    for disks in uses {
        let Some(size) = size else { break };
        let is_premium = disks.family.starts_with("Premium") || disks.family == "Ultra Disk";
        if is_premium && size.takes_premium() == Some(false) {
            let text = format!("{short} takes no premium disks such as {}", disks.name);
            parser.findings.error("not-premium", &disks.at, text);
        }
    }
    if uses.is_empty() {
        return;
    }
    let edition = parser.edition.info.name;
    let cached_at = uses.iter().find_map(|disks| disks.cache_at.clone());
    if let Some(cache_at) = cached_at {
        let is_capped = vm.cached.iops.is_some() || vm.cached.bytes.is_some();
        if !is_capped || vm.cache_bytes.is_none() {
            let what = if is_capped { "size of the host cache" } else { "limit of cached disks" };
            let text = format!("the {what} of {short} is unknown in edition {edition}");
            let help = "give `cached = { iops = ..., throughput = ... }` and `cache = ...` under \
                        [vm], or use cache = \"None\"";
            let finding = Diagnostic::error("unknown-figure", text).help(help);
            parser.findings.add(finding, &cache_at);
        }
    }
    // What a design leaves out of its own figures is without a limit, and meant to be.
    let of_size = [("IOPS", &vm.uncached.iops), ("throughput", &vm.uncached.bytes)];
    for (what, limit) in of_size.iter().filter(|_| size.is_some()) {
        if limit.is_none() {
            let text = format!(
                "the {what} limit of {short} is unknown in edition {edition}: it is left out"
            );
            parser.findings.warn("unknown-figure", at, text);
        }
    }
}
