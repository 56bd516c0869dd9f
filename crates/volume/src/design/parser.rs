//! Reads a design from TOML and looks its limits up.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use catalog::{Catalog, Cloud, Edition, Exactness, Figure};
use plan::keys::{Findings, Keys, Located};
use plan::{Diagnostic, Severity};
use toml::de::DeTable;

use super::{
    Burst, Design, FileSystem, Latency, Limit, Pool, Volume, check, client, disks, network,
    promised, vm,
};

/// Code of the finding that there is no such edition.
const NO_EDITION: &str = "unknown-edition";

/// Code of what is no TOML.
const SYNTAX: &str = "syntax";

/// Code of the note that no host cache is stated.
pub(super) const CACHE_DEFAULT: &str = "cache-default";

/// Edition where a design names none.
const EDITION_DEFAULT: &str = "current";

/// Bytes of a published MB where the source does not state how many, unless the design does.
pub const MB_BYTES_DEFAULT: u64 = 1_000_000;

/// Bytes that a published MB has been found to have: 10^6, 1,000 KiB, 2^20.
pub const MB_READINGS: [u64; 3] = [MB_BYTES_DEFAULT, 1_024_000, 1_048_576];

/// Time for which an idle cap keeps what it did not use, unless the design says.
///
/// How providers count within a second is not published. A cap begins without any, so that the
/// first seconds of a run do not carry more than the rest.
pub const BUCKET_WINDOW_NS_DEFAULT: u64 = 100_000_000;

/// Findings that another edition might not have.
const OF_EDITION: [&str; 4] = ["not-cacheable", "not-premium", "too-many-disks", "unknown-mix"];

/// Longest latency that makes sense, nanoseconds: 10 s.
const LATENCY_NS_MAX: u64 = 10_000_000_000;

/// Most volumes, clients or pools of one design: operations name them by 16 bits.
pub(super) const PARTS_MAX: usize = 1000;

/// Reads a design, with limits from the built-in catalogue.
///
/// Returns all findings at once, each with its place; the design only if none of them is an error.
/// The text is the one that spans point into, as source 0.
pub fn parse(text: &str) -> (Option<Design>, Vec<Diagnostic>) {
    parse_with(text, Catalog::built_in())
}

/// Reads a design, with limits from the given catalogue.
pub fn parse_with(text: &str, catalog: &Arc<Catalog>) -> (Option<Design>, Vec<Diagnostic>) {
    parse_again(text, catalog, None)
}

/// Reads a design as it would be if a published MB, where the source does not state its bytes, had
/// so many; what the design says of it does not count. `None` if it is none, or cannot be then.
pub fn parse_in_mb(text: &str, catalog: &Arc<Catalog>, mb_bytes: u64) -> Option<Design> {
    parse_again(text, catalog, Some(mb_bytes)).0
}

fn parse_again(
    text: &str,
    catalog: &Arc<Catalog>,
    as_mb_bytes: Option<u64>,
) -> (Option<Design>, Vec<Diagnostic>) {
    let mut findings = Findings::new(text);
    let (root, errors) = DeTable::parse_recoverable(text);
    for error in errors {
        let at = error.span().unwrap_or(0..0);
        findings.error(SYNTAX, &at, error.message().lines().collect::<Vec<_>>().join(", "));
    }
    let keys = Keys::new(root.get_ref(), 0..0);
    let design = Parser::read(keys, catalog, as_mb_bytes, &mut findings);
    let (mut findings, has_error) = findings.finish();
    drop_what_follows_from_syntax(&mut findings);
    if findings.iter().any(|finding| finding.code == NO_EDITION) {
        // The rest was read with another edition: what stands is what no edition would change.
        let stands = |finding: &Diagnostic| {
            finding.severity == Severity::Error && !OF_EDITION.contains(&finding.code)
        };
        findings.retain(stands);
    }
    // What is taken for granted is of interest once there is a design.
    findings.retain(|finding| !has_error || finding.code != CACHE_DEFAULT);
    (design.filter(|_| !has_error), findings)
}

/// Of a line that cannot be read the first mistake is reported. What seems to be missing may stand
/// there, and the head of a table to which keys belong.
fn drop_what_follows_from_syntax(findings: &mut Vec<Diagnostic>) {
    let line = |finding: &Diagnostic| finding.span.as_ref().map(|span| span.line);
    let is_syntax = |finding: &Diagnostic| finding.code == SYNTAX;
    let unread: BTreeSet<_> = findings.iter().filter(|one| is_syntax(one)).map(line).collect();
    if unread.is_empty() {
        return;
    }
    let mut reported = BTreeSet::new();
    findings.retain(|finding| match line(finding) {
        line if unread.contains(&line) => is_syntax(finding) && reported.insert(line),
        _ => !matches!(finding.code, "missing-key" | "unknown-key"),
    });
}

/// The tables of a design, which are not read yet.
struct Lists<'k> {
    vm: Option<Keys<'k>>,
    pools: Vec<Keys<'k>>,
    clients: Vec<Keys<'k>>,
    volumes: Vec<Keys<'k>>,
    promises: Vec<Keys<'k>>,
}

impl<'k> Lists<'k> {
    /// Finds them; none where there are too many.
    fn read(keys: &mut Keys<'k>, findings: &mut Findings<'_>) -> Option<Self> {
        let vm = keys.table("vm", findings);
        let pools = keys.tables("pool", findings);
        let clients = keys.tables("client", findings);
        let volumes = keys.tables("volume", findings);
        let promises = keys.tables("promise", findings);
        for (what, list, most) in [
            ("pool", &pools, PARTS_MAX),
            ("client", &clients, PARTS_MAX),
            ("volume", &volumes, PARTS_MAX),
            ("promise", &promises, promised::PROMISES_MAX),
        ] {
            if let Some(first_over) = list.get(most) {
                let text = format!("more than {most} of [[{what}]]");
                findings.error("out-of-range", &first_over.at, text);
                return None;
            }
        }
        Some(Lists { vm, pools, clients, volumes, promises })
    }
}

/// What the parts of a design are read with.
pub(super) struct Parser<'p, 'a> {
    pub(super) edition: &'p Edition,
    /// Bytes of a published MB whose size the source does not state.
    mb_bytes: u64,
    /// Whether it was reported that a host cache is not stated.
    pub(super) has_told_of_cache: bool,
    pub(super) findings: &'p mut Findings<'a>,
}

impl<'p, 'a> Parser<'p, 'a> {
    /// Makes one that looks figures up for a design that was read before.
    pub(super) fn again(
        edition: &'p Edition,
        mb_bytes: u64,
        findings: &'p mut Findings<'a>,
    ) -> Self {
        Parser { edition, mb_bytes, has_told_of_cache: true, findings }
    }

    fn read<'k>(
        mut keys: Keys<'k>,
        catalog: &'p Arc<Catalog>,
        as_mb_bytes: Option<u64>,
        findings: &'p mut Findings<'a>,
    ) -> Option<Design> {
        let name = keys.text("name", findings).map_or("", |(name, _)| name).to_owned();
        let edition = edition(&mut keys, catalog, findings);
        let stated_mb_bytes = mb_bytes(&mut keys, findings);
        let mb_bytes = as_mb_bytes.unwrap_or(stated_mb_bytes);
        let bucket_window_ns = bucket_window_ns(&mut keys, findings);
        let seed = keys.count("seed", findings).map_or(1, |(seed, _)| seed);
        let cloud = cloud(&mut keys, findings);
        let region = region(&mut keys, findings);
        let lists = Lists::read(&mut keys, findings)?;
        let is_without_volume = lists.volumes.is_empty();
        let at = keys.at.clone();
        keys.finish(findings);
        // Under an unknown edition the rest is read as under the usual one, to find its mistakes.
        let edition = edition.or_else(|| catalog.edition(EDITION_DEFAULT))?;
        let mut parser = Parser { edition, mb_bytes, has_told_of_cache: false, findings };
        let pools = network::pools(lists.pools, &mut parser);
        let clients = client::clients(lists.clients, &mut parser);
        let mut parsed = Vec::new();
        for keys in lists.volumes {
            parsed.extend(parser.volume(keys, &pools));
        }
        let uses: Vec<_> = parsed.iter().filter_map(|volume| volume.disks.as_ref()).collect();
        if lists.vm.is_none() {
            check::no_cache(&uses, &mut parser);
        }
        // Clients have network cards of their own.
        let has_network = clients.is_empty() && parsed.iter().any(|volume| volume.disks.is_none());
        let vm = lists.vm.map(|keys| vm::vm(keys, &uses, has_network, &mut parser));
        let machine = vm.as_ref().and_then(|vm| parser.edition.vm(&vm.size));
        check::clouds(&parsed, !clients.is_empty(), machine, &mut parser);
        if let Some((cloud, at)) = &cloud {
            check::cloud((*cloud, at), &parsed, machine, &mut parser);
        }
        check::mounts(&parsed, &mut parser);
        check::names(&parsed, &mut parser);
        let promises = promised::promises(lists.promises, &parsed, &mut parser);
        check::disks(&parsed, &mut parser);
        check::pools(&parsed, &pools, &mut parser);
        if is_without_volume {
            let text = "a design needs at least one [[volume]]";
            parser.findings.error("missing-key", &at, text);
        }
        Some(Design {
            name,
            edition: parser.edition.info.name.to_owned(),
            catalog: Arc::clone(catalog),
            cloud: cloud.map(|(cloud, _)| cloud),
            region,
            vm,
            volumes: parsed.into_iter().map(|volume| volume.volume).collect(),
            clients,
            pools: pools.into_iter().map(|pool| pool.pool).collect::<Vec<Pool>>(),
            promises,
            seed,
            mb_bytes,
            bucket_window_ns,
        })
    }

    fn volume(
        &mut self,
        mut keys: Keys<'_>,
        pools: &[network::ParsedPool],
    ) -> Option<ParsedVolume> {
        let mount = keys.text("mount", self.findings);
        if mount.is_none() && keys.get("mount").is_none() {
            let text = "a volume needs `mount`, the folder that its files are below";
            self.findings.error("missing-key", &keys.at, text);
        }
        let mount = mount.and_then(|mount| check::mount(mount, self));
        let name = volume_name(&mut keys, self.findings);
        let file_system = file_system(&mut keys, self.findings);
        let is_network = keys.get("service").is_some() || keys.get("quota").is_some();
        let is_pool = keys.get("pool").is_some();
        let parsed = if is_network || is_pool {
            network::volume(keys, pools, self)
        } else {
            disks::volume(keys, self)
        };
        let (mut parsed, mount) = (parsed?, mount?);
        parsed.volume.mount = mount.0;
        parsed.mount_at = mount.1;
        parsed.volume.build.name = name;
        parsed.volume.build.file_system = file_system;
        Some(parsed)
    }

    /// Returns what a figure is in operations or bytes per second.
    pub(super) fn per_s(&self, figure: &Figure) -> u64 {
        per_s(figure, self.mb_bytes)
    }

    /// Makes a limit of a figure, with its origin for people.
    pub(super) fn limit(&self, whose: &str, figure: &Figure, burst: Option<Burst>) -> Limit {
        Limit { per_s: self.per_s(figure), burst, origin: self.origin(whose, figure) }
    }

    /// Returns a figure's origin for people.
    pub(super) fn origin(&self, whose: &str, figure: &Figure) -> String {
        let remark = match figure.exactness {
            Exactness::Exact | Exactness::About | Exactness::AtLeast => String::new(),
            Exactness::UnitUnclear => {
                format!(", with MB taken as {} bytes", units_of_thousand(self.mb_bytes))
            }
            Exactness::RoundedDown => ", rounded down".to_owned(),
            Exactness::Derived => ", derived".to_owned(),
        };
        format!("{whose}: {figure}{remark} ({}, {})", figure.source.title, figure.date())
    }

    /// Reads `latency = "1ms"` or `latency = { mean = "1ms", spread = 0.3 }`.
    pub(super) fn latency(
        &mut self,
        keys: &mut Keys<'_>,
        name: &'static str,
        default: Latency,
    ) -> Latency {
        let is_table = keys.get(name).is_some_and(|value| value.get_ref().is_table());
        let (mean, spread) = if is_table {
            let Some(mut inner) = keys.table(name, self.findings) else { return default };
            let mean = inner.duration("mean", self.findings);
            if mean.is_none() && inner.get("mean").is_none() {
                self.findings.error("missing-key", &inner.at, format!("`{name}` needs `mean`"));
            }
            let spread = inner.number("spread", self.findings);
            inner.finish(self.findings);
            (mean, spread)
        } else {
            (keys.duration(name, self.findings), None)
        };
        let Some((mean, at)) = mean else { return default };
        let mean_ns = units::nanoseconds(mean);
        if mean_ns > LATENCY_NS_MAX {
            self.findings.error("out-of-range", &at, format!("`{name}` is longer than 10 s"));
        }
        let spread = match spread {
            Some((spread, at)) if !(0.0..=10.0).contains(&spread) => {
                self.findings.error("out-of-range", &at, "`spread` is from 0 to 10");
                0.0
            }
            Some((spread, _)) => spread,
            None => 0.0,
        };
        Latency { mean_ns, spread }
    }

    /// Reports of a name that the catalogue does not have, with those that look like it.
    pub(super) fn unknown<'n>(
        &mut self,
        what: &str,
        name: &str,
        at: &Range<usize>,
        known: impl IntoIterator<Item = &'n str>,
    ) {
        let edition = self.edition.info.name;
        let text = format!("unknown {what} `{name}` in edition {edition}");
        let near: Vec<String> = catalog::nearest(name, known)
            .iter()
            .map(|near| format!("`{}`", near.strip_prefix("Standard_").unwrap_or(near)))
            .collect();
        let help = match near.as_slice() {
            _ if what == "machine size" && self.edition.lacks_machines_like(name).is_some() => {
                let lack = self.edition.lacks_machines_like(name).unwrap_or_default();
                format!(
                    "{lack}: instead of `size` give the figures that are published for it, such as \
                     `uncached = {{ iops = 15000, throughput = \"240MB/s\" }}`"
                )
            }
            [] => {
                let kind = if what == "disk" { "disks" } else { "vms" };
                format!("`plimsoll catalog list {kind}` shows what there is")
            }
            _ => format!("did you mean {}?", near.join(" or ")),
        };
        self.findings.add(Diagnostic::error("unknown-sku", text).help(help), at);
    }
}

/// A volume, and what is checked across volumes.
pub(super) struct ParsedVolume {
    pub(super) volume: Volume,
    /// Where its mount stands.
    pub(super) mount_at: Range<usize>,
    /// What it takes of a machine.
    pub(super) disks: Option<DiskUse>,
    /// What it takes of its pool: position, quota in bytes, throughput assigned by hand.
    pub(super) pool: Option<(u16, u64, Option<u64>)>,
    /// Where the volume's table stands.
    pub(super) at: Range<usize>,
}

/// The disks of one volume, as the machine sees them.
pub(super) struct DiskUse {
    /// In the machine itself.
    pub(super) is_local: bool,
    pub(super) n_disks: u32,
    pub(super) name: String,
    pub(super) cloud: String,
    pub(super) family: String,
    /// Where a host cache is asked for that the disk can have.
    pub(super) cache_at: Option<Range<usize>>,
    pub(super) at: Range<usize>,
}

fn edition<'p>(
    keys: &mut Keys<'_>,
    catalog: &'p Catalog,
    findings: &mut Findings<'_>,
) -> Option<&'p Edition> {
    let (name, at) = keys.text("edition", findings).unwrap_or((EDITION_DEFAULT, 0..0));
    let edition = catalog.edition(name);
    if edition.is_none() {
        let known: Vec<&str> = catalog::EDITIONS.iter().map(|info| info.name).collect();
        let help = format!("editions are {}", known.join(", "));
        let finding = Diagnostic::error(NO_EDITION, format!("unknown edition `{name}`"));
        findings.add(finding.help(help), &at);
    }
    edition
}

/// Reads the cloud that a design is to be built in.
fn cloud(keys: &mut Keys<'_>, findings: &mut Findings<'_>) -> Option<Located<Cloud>> {
    let (text, at) = keys.text("cloud", findings)?;
    let cloud = Cloud::from_text(text);
    if cloud.is_none() {
        let known: Vec<String> = Cloud::ALL.map(|cloud| cloud.as_str().to_lowercase()).to_vec();
        let text = format!("`cloud` is `{text}`, expected one of {}", known.join(", "));
        findings.error("bad-value", &at, text);
    }
    cloud.map(|cloud| (cloud, at))
}

/// Reads the region. Whether there is one of that name is asked where prices are, which take long
/// to read.
fn region(keys: &mut Keys<'_>, findings: &mut Findings<'_>) -> Option<String> {
    let (text, at) = keys.text("region", findings)?;
    let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if text.is_empty() || !text.chars().all(is_part) {
        let text = format!("`region` is `{text}`, expected a name such as westeurope or eu-west-1");
        findings.error("bad-value", &at, text);
        return None;
    }
    Some(text.to_owned())
}

/// Reads what a volume's disks are named after.
fn volume_name(keys: &mut Keys<'_>, findings: &mut Findings<'_>) -> String {
    let Some((name, at)) = keys.text("name", findings) else { return String::new() };
    if name.trim().is_empty() || name.contains(char::is_control) {
        let text = "`name` of a volume is a word, such as \"data\"";
        findings.error("bad-value", &at, text);
    }
    name.to_owned()
}

fn file_system(keys: &mut Keys<'_>, findings: &mut Findings<'_>) -> Option<FileSystem> {
    let (text, at) = keys.text("file_system", findings)?;
    let found = FileSystem::ALL.into_iter().find(|known| known.as_str() == text);
    if found.is_none() {
        let known = FileSystem::ALL.map(FileSystem::as_str).join(" or ");
        let text = format!("`file_system` is `{text}`, expected {known}");
        findings.error("bad-value", &at, text);
    }
    found
}

/// Returns what a figure is in operations or bytes per second, with so many bytes to an MB whose
/// size the source does not state. At least 1.
pub(crate) fn per_s(figure: &Figure, mb_bytes: u64) -> u64 {
    let per_s = match figure.exactness {
        Exactness::UnitUnclear => (figure.value * mb_bytes as f64).round() as u64,
        Exactness::Exact
        | Exactness::RoundedDown
        | Exactness::About
        | Exactness::AtLeast
        | Exactness::Derived => figure.per_s,
    };
    per_s.max(1)
}

fn mb_bytes(keys: &mut Keys<'_>, findings: &mut Findings<'_>) -> u64 {
    let Some((bytes, at)) = keys.count("mb_bytes", findings) else { return MB_BYTES_DEFAULT };
    if !MB_READINGS.contains(&bytes) {
        let text = format!("`mb_bytes` is {bytes}, expected 1000000, 1024000 or 1048576");
        findings.error("out-of-range", &at, text);
    }
    bytes
}

fn bucket_window_ns(keys: &mut Keys<'_>, findings: &mut Findings<'_>) -> u64 {
    const MS: std::ops::RangeInclusive<u64> = 1..=10_000;
    let Some((ms, at)) = keys.count("bucket_window_ms", findings) else {
        return BUCKET_WINDOW_NS_DEFAULT;
    };
    if !MS.contains(&ms) {
        let text = format!("`bucket_window_ms` is {ms}, expected {} to {}", MS.start(), MS.end());
        findings.error("out-of-range", &at, text);
    }
    ms.clamp(*MS.start(), *MS.end()) * 1_000_000
}

/// Prints a number with commas between thousands.
pub(super) fn units_of_thousand(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> = digits
        .as_bytes()
        .rchunks(3)
        .rev()
        .map(|group| std::str::from_utf8(group).unwrap_or(""))
        .collect();
    groups.join(",")
}
