//! The machine of a design.

use catalog::{Cloud, Edition, Figure, Vm as Size};
use plan::Diagnostic;
use plan::keys::{Findings, Keys, Located};

use super::parser::{DiskUse, Parser};
use super::{Backing, Burst, Cap, Design, Limit, Local, OWN_MACHINE, Vm};

/// A full bucket of a machine's credits lasts this long at the burst rate, seconds. Derived, as for
/// disks: published is that bursting lasts at most 30 minutes.
const BURST_S: u64 = 1800;

/// Families of disks that newer machines have caps of their own for.
const V2_FAMILIES: [&str; 2] = ["Premium SSD v2", ULTRA_FAMILY];

/// Disks that some sizes of Azure take and others do not.
const ULTRA_FAMILY: &str = "Ultra Disk";

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
    let interface = interface(&mut keys, parser);
    let over = interface.as_ref().map(|(over, _)| *over);
    let mut vm = Vm { size: OWN_MACHINE.to_owned(), ..Vm::default() };
    let mut known = true;
    let mut size = None;
    if let Some((name, name_at)) = &named {
        size = parser.edition.vm(name);
        if let Some(size) = size {
            vm = of_catalog(size, name_at, uses, (bursts, interface), parser);
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
        let text = "[vm] needs `size`, or figures of your own in `uncached` and `cached`";
        parser.findings.error("missing-key", &at, text);
    }
    vm.interface = over;
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
        let text = unknown_egress(size);
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

/// Returns the figures in the catalogue of a size for the disks of a design, and tells what it
/// leaves
/// open.
fn of_catalog(
    size: &Size,
    at: &std::ops::Range<usize>,
    uses: &[&DiskUse],
    (bursts, interface): (bool, Option<Located<Interface>>),
    parser: &mut Parser<'_, '_>,
) -> Vm {
    let attached = uses.iter().filter(|disks| !disks.is_local);
    let disks: Vec<Attached<'_>> =
        attached.map(|disks| Attached::new(&disks.name, &disks.family)).collect();
    if let Some((wanted, at)) = &interface {
        wanted.check(size, at, parser);
    }
    let over = interface.map(|(wanted, _)| wanted);
    let vm = from_size(size, &disks, Choice { bursts, over }, parser);
    note_unknown_types(size, &disks, at, parser);
    if lacks_v2(size, &disks) {
        let text = format!(
            "the limits of {} for {} are unknown: those for older premium disks are used",
            size.name,
            V2_FAMILIES.join(" and ")
        );
        parser.findings.warn("unknown-figure", at, text);
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

/// Returns the figures in the catalogue of a size for the disks of a design, with bursts if its own
/// machine has any; `None` for an edition that there is not.
pub(crate) fn machine_of(design: &Design, own: &Vm, size: &Size) -> Option<Vm> {
    let edition = design.rows()?;
    let disks: Vec<&str> = design
        .volumes
        .iter()
        .filter_map(|volume| match &volume.backing {
            Backing::Disks(stripe) if !stripe.is_local => Some(stripe.disks.first()?.sku.as_str()),
            Backing::Disks(_) | Backing::Network(_) => None,
        })
        .collect();
    let caps = [&own.uncached, &own.cached];
    let limits = caps.into_iter().flat_map(|cap| [&cap.iops, &cap.bytes]).flatten();
    let bursts = limits.into_iter().any(|limit| limit.burst.is_some());
    let over = own.interface.filter(|over| over.is_of(size));
    Some(machine_with(edition, design.mb_bytes, size, &disks, bursts, over))
}

/// Returns the figures in the catalogue of a size with remote disks of these types, named as the
/// catalogue does; `has_bursts` takes credits where the size has some, `over` is the interface
/// where it is not the size's usual one.
///
/// What is not known is `None`, as where a design leaves it out.
pub fn machine_with(
    edition: &Edition,
    mb_bytes: u64,
    size: &Size,
    disks: &[&str],
    has_bursts: bool,
    over: Option<Interface>,
) -> Vm {
    let mut findings = Findings::new("");
    let parser = Parser::again(edition, mb_bytes, &mut findings);
    let family = |name: &str| edition.disk(name).map_or("", |sku| sku.family());
    let disks: Vec<Attached<'_>> =
        disks.iter().map(|name| Attached::new(name, family(name))).collect();
    from_size(size, &disks, Choice { bursts: has_bursts, over }, &parser)
}

/// What a machine's caps depend on of a volume's disks.
struct Attached<'d> {
    name: &'d str,
    family: &'d str,
}

impl<'d> Attached<'d> {
    fn new(name: &'d str, family: &'d str) -> Self {
        Attached { name, family }
    }

    fn is_v2(&self) -> bool {
        V2_FAMILIES.contains(&self.family)
    }
}

/// What a design chooses of a size.
#[derive(Clone, Copy)]
struct Choice {
    bursts: bool,
    /// The interface; `None` takes the size's usual one.
    over: Option<Interface>,
}

/// How a machine reaches its disks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interface {
    /// Over the bus that older sizes have.
    Scsi,
    /// As NVMe devices.
    Nvme,
}

impl Interface {
    /// Both of them.
    pub const ALL: [Interface; 2] = units::all_of!(Interface: Scsi, Nvme);

    /// Reads its name, in capitals or not.
    pub fn from_text(text: &str) -> Option<Self> {
        Interface::ALL.into_iter().find(|known| known.as_str().eq_ignore_ascii_case(text))
    }

    /// Returns whether the limits of a size over it are known.
    pub fn is_of(self, size: &Size) -> bool {
        let known = size.word("interface").unwrap_or("");
        known.split(' ').any(|word| word == self.as_str())
    }

    /// Returns its name in a design.
    pub fn as_str(self) -> &'static str {
        match self {
            Interface::Scsi => "SCSI",
            Interface::Nvme => "NVMe",
        }
    }

    /// Refuses an interface that no source gives the limits of a size for.
    fn check(self, size: &Size, at: &std::ops::Range<usize>, parser: &mut Parser<'_, '_>) {
        if self.is_of(size) {
            return;
        }
        let known = size.word("interface").unwrap_or("");
        let text = format!(
            "the limits of {} over {} are unknown in edition {}",
            size.name,
            self.as_str(),
            parser.edition.info.name
        );
        let help = match known {
            "" => "leave `interface` out for those that are known".to_owned(),
            _ => format!("known are those over {known}"),
        };
        parser.findings.add(Diagnostic::error("unknown-figure", text).help(help), at);
    }
}

/// Reads `interface`.
fn interface(keys: &mut Keys<'_>, parser: &mut Parser<'_, '_>) -> Option<Located<Interface>> {
    let (text, at) = keys.text("interface", parser.findings)?;
    let found = Interface::from_text(text);
    if found.is_none() {
        let text = format!("`interface` is `{text}`, expected SCSI or NVMe");
        parser.findings.error("bad-value", &at, text);
    }
    found.map(|found| (found, at))
}

/// Notes what the limits of a machine by type of disk leave open.
fn note_unknown_types(
    size: &Size,
    disks: &[Attached<'_>],
    at: &std::ops::Range<usize>,
    parser: &mut Parser<'_, '_>,
) {
    if size.cloud() != Some(Cloud::Gcp) {
        return;
    }
    let mut reported: Vec<&str> = Vec::new();
    for disk in disks.iter().filter(|disk| !disk.family.is_empty()) {
        if reported.contains(&disk.name) {
            continue;
        }
        reported.push(disk.name);
        let sides = SIDES.map(|sides| sides.map(|side| size.limit_of(disk.name, side)));
        if lacks_limits(size, disk.name) {
            let text = format!(
                "the limits of {} for disks of type {} are unknown in edition {}: they are left \
                 out unless `uncached` states them",
                size.name, disk.name, parser.edition.info.name
            );
            parser.findings.warn("unknown-figure", at, text);
        }
        for [read, write] in sides {
            let (Some(read), Some(write)) = (read, write) else { continue };
            if read.per_s != write.per_s {
                let text = format!(
                    "{} carries {read} of reads and {write} of writes of {}: the lower holds for \
                     both",
                    size.name, disk.name
                );
                parser.findings.add(Diagnostic::note("lower-limit", text), at);
            }
        }
    }
}

/// Returns whether no limit of a size is known for a type of disk, where a cloud has them by type.
pub fn lacks_limits(size: &Size, disk: &str) -> bool {
    size.cloud() == Some(Cloud::Gcp)
        && size.uncached_iops().is_none()
        && SIDES.iter().flatten().all(|side| size.limit_of(disk, side).is_none())
}

/// Limits by type of disk, of reads and of writes: operations, and bytes.
const SIDES: [[&str; 2]; 2] =
    [["read_iops", "write_iops"], ["read_throughput", "write_throughput"]];

/// Returns the lowest limits of a machine that has some by type of disk. Reads and writes share
/// them, so that no mix is promised more than one direction alone may have.
fn by_type(size: &Size, disks: &[Attached<'_>], short: &str, parser: &Parser<'_, '_>) -> Cap {
    let lowest = |sides: [&str; 2]| {
        let figures = disks
            .iter()
            .flat_map(|disk| sides.map(|side| size.limit_of(disk.name, side)))
            .flatten();
        let lowest = figures.min_by_key(|figure| figure.per_s)?;
        Some(parser.limit(short, lowest, None))
    };
    Cap { iops: lowest(SIDES[0]), bytes: lowest(SIDES[1]) }
}

fn from_size(
    size: &Size,
    disks: &[Attached<'_>],
    Choice { bursts, over }: Choice,
    parser: &Parser<'_, '_>,
) -> Vm {
    // How long a machine of AWS bursts is not published, so none is modelled.
    let bursts = bursts && size.cloud() == Some(Cloud::Azure);
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
    let all_v2 = !disks.is_empty() && disks.iter().all(Attached::is_v2) && size.v2_iops().is_some();
    let [iops, bytes, burst_iops, burst_bytes] = remote_figures(size, all_v2, over);
    let mut uncached = cap(iops, bytes, [burst_iops, burst_bytes]);
    if size.cloud() == Some(Cloud::Gcp) {
        let of_types = by_type(size, disks, short, parser);
        uncached.iops = of_types.iops.or(uncached.iops);
        uncached.bytes = of_types.bytes.or(uncached.bytes);
    }
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
        interface: None,
    }
}

/// Returns what a size does with remote disks: operations, bytes, and both while credits last.
fn remote_figures(size: &Size, is_v2: bool, over: Option<Interface>) -> [Option<&Figure>; 4] {
    let usual = ["iops", "throughput", "burst_iops", "burst_throughput"];
    let of = |prefix: &str| usual.map(|what| size.figure(&format!("{prefix}{what}")));
    // Sizes that have one interface have its limits as their usual ones.
    let is_nvme = over == Some(Interface::Nvme) && size.nvme_iops().is_some();
    match (is_nvme, is_v2) {
        (false, false) => of("uncached_"),
        (false, true) => of("v2_"),
        (true, false) => of("nvme_"),
        (true, true) => of("nvme_v2_"),
    }
}

/// Returns whether a size has limits of its own for the disks of newer types, as those of Azure
/// from the sixth generation on, which are not known.
fn lacks_v2(size: &Size, disks: &[Attached<'_>]) -> bool {
    const GENERATION: u32 = 6;
    let generation = size.name.rsplit_once("_v").and_then(|(_, number)| number.parse().ok());
    size.cloud() == Some(Cloud::Azure)
        && generation.is_some_and(|generation: u32| generation >= GENERATION)
        && size.v2_iops().is_none()
        && disks.iter().any(Attached::is_v2)
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
            findings.error("out-of-range", &at, "a limit of 0: leave it out for no limit");
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

/// Returns which machine takes so many disks: the one with the fewest places among those of the
/// same provider, or the one with the most.
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

/// Returns whether disks of a family need a machine that takes premium disks.
pub fn needs_premium(family: &str) -> bool {
    family.starts_with("Premium") || family == ULTRA_FAMILY
}

/// Refuses disks that a machine cannot have attached, or not with so many operations.
fn attaches(size: &Size, short: &str, uses: &[&DiskUse], parser: &mut Parser<'_, '_>) {
    for disks in uses {
        let Some(sku) = parser.edition.disk(&disks.name) else { continue };
        let (name, at) = (&sku.name, &disks.at);
        if size.attaches(sku.class()) == Some(false) {
            let text = format!("{short} takes no {name}");
            let finding = Diagnostic::error("not-attachable", text);
            let help = format!("`plimsoll catalog show {short}` says which disks it takes");
            parser.findings.add(finding.help(help), at);
        }
        let most = size.iops_max_of(sku);
        let beyond = disks.iops.zip(most).filter(|(iops, most)| iops > most);
        if let Some((iops, most)) = beyond {
            let text = format!(
                "{short} is not built on Nitro: a volume of {name} has at most {} IOPS on it, not \
                 {}",
                units::format_count(most),
                units::format_count(iops)
            );
            let finding = Diagnostic::error("not-attachable", text);
            let help = "stripe several volumes, or take a machine that is built on Nitro";
            parser.findings.add(finding.help(help), at);
        }
    }
}

/// Warns where no source says whether a machine takes disks of a family, or on Google Cloud of a
/// type.
fn note_unknown_attachment(
    size: &Size,
    short: &str,
    uses: &[&DiskUse],
    at: &std::ops::Range<usize>,
    parser: &mut Parser<'_, '_>,
) {
    let is_unknown = |class: &str| match size.cloud() {
        Some(Cloud::Azure) if class == ULTRA_FAMILY => size.attaches(class).is_none(),
        Some(Cloud::Azure) => needs_premium(class) && size.takes_premium().is_none(),
        // What has limits there is attached there.
        Some(Cloud::Gcp) => size.attaches(class).is_none() && lacks_limits(size, class),
        Some(Cloud::Aws) | None => false,
    };
    let mut families: Vec<&str> = Vec::new();
    for disks in uses.iter().filter(|disks| !disks.is_local && disks.cloud.is_some()) {
        let class = if size.cloud() == Some(Cloud::Gcp) { &disks.name } else { &disks.family };
        if is_unknown(class) && !families.contains(&class.as_str()) {
            families.push(class);
        }
    }
    for family in families {
        let text = format!(
            "no source of the catalogue says whether {short} takes {family}: look it up before it \
             is bought"
        );
        parser.findings.warn("unknown-figure", at, text);
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
    let n_local: u64 = uses.iter().map(|disks| u64::from(disks.n_local)).sum();
    if let Some(local) = size.filter(|_| n_local > 0).and_then(|size| Local::with(size, parser)) {
        if n_local > u64::from(local.n_disks) {
            let text = format!("{n_local} local disks, and {short} has {}", local.n_disks);
            parser.findings.error("too-many-disks", at, text);
        }
        if !local.is_known(vm) {
            let edition = parser.edition.info.name;
            let text = format!(
                "the limits of the local disks of {short} are unknown in edition {edition}: they \
                 are left out"
            );
            parser.findings.warn("unknown-figure", at, text);
        }
    }
    for disks in uses {
        let Some(size) = size else { break };
        if needs_premium(&disks.family) && size.takes_premium() == Some(false) {
            let text = format!("{short} takes no premium disks such as {}", disks.name);
            parser.findings.error("not-premium", &disks.at, text);
        }
    }
    if let Some(size) = size {
        attaches(size, short, uses, parser);
        note_unknown_attachment(size, short, uses, at, parser);
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
    // For Google's machines it was noted by type of disk.
    for (what, limit) in
        of_size.iter().filter(|_| size.is_some_and(|it| it.cloud() != Some(Cloud::Gcp)))
    {
        if limit.is_none() {
            let text = format!(
                "the {what} limit of {short} is unknown in edition {edition}: it is left out"
            );
            parser.findings.warn("unknown-figure", at, text);
        }
    }
}

/// Reports that a machine's network card is left out, as its limit is unknown.
pub(super) fn unknown_egress(size: &Size) -> String {
    format!("the network limit of {} is unknown, so it has none", size.name)
}
