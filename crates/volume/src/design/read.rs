//! Reads a design from TOML.

use std::sync::Arc;

use catalog::{Catalog, Cloud, Edition};
use plan::keys::{Findings, Keys, Located, read_toml};
use plan::{Diagnostic, Severity};

use super::parser::{
    CACHE_DEFAULT, MB_BYTES_DEFAULT, MB_READINGS, PARTS_MAX, ParsedVolume, Parser,
};
use super::{Design, FileSystem, Pool, check, client, disks, network, promised, vm};

/// Code of the finding that there is no such edition.
const NO_EDITION: &str = "unknown-edition";

/// Edition where a design names none.
const EDITION_DEFAULT: &str = "current";

/// Time for which an idle cap keeps what it did not use, unless the design says.
///
/// How providers count within a second is not published. A cap begins without any, so that the
/// first seconds of a run do not carry more than the rest.
pub const BUCKET_WINDOW_NS_DEFAULT: u64 = 100_000_000;

/// Findings that another edition might not have.
const OF_EDITION: [&str; 5] =
    ["not-attachable", "not-cacheable", "not-premium", "too-many-disks", "unknown-mix"];

/// Reads a design, with limits from the built-in catalogue.
///
/// Returns all findings at once, each with its place; the design only if none of them is an error.
/// The text is the one that spans point into, as source 0.
pub fn parse(text: &str) -> (Option<Design>, Vec<Diagnostic>) {
    parse_with(text, Catalog::built_in())
}

/// Reads a design, with limits from the given catalogue.
pub fn parse_with(text: &str, catalog: &Arc<Catalog>) -> (Option<Design>, Vec<Diagnostic>) {
    parse_as(text, catalog, ReadAs::default())
}

/// What is not in the text of a design, or does not count.
#[derive(Clone, Copy, Debug)]
pub struct ReadAs<'a> {
    /// Edition of the catalogue where the design names none.
    pub edition: &'a str,
    /// Bytes of a published MB of which the source does not state them, whatever the design says.
    pub mb_bytes: Option<u64>,
}

impl Default for ReadAs<'_> {
    fn default() -> Self {
        ReadAs { edition: EDITION_DEFAULT, mb_bytes: None }
    }
}

/// Reads a design as it would be if a published MB, where the source does not state its bytes, had
/// so many; what the design says of it does not count. `None` if it is none, or cannot be then.
pub fn parse_in_mb(text: &str, catalog: &Arc<Catalog>, mb_bytes: u64) -> Option<Design> {
    parse_as(text, catalog, ReadAs { mb_bytes: Some(mb_bytes), ..ReadAs::default() }).0
}

/// Reads a design, with limits from the given catalogue, as it is said.
pub fn parse_as(
    text: &str,
    catalog: &Arc<Catalog>,
    read_as: ReadAs<'_>,
) -> (Option<Design>, Vec<Diagnostic>) {
    let (design, mut findings) =
        read_toml(text, |keys, findings| read(keys, catalog, read_as, findings));
    let has_error = design.is_none();
    if findings.iter().any(|finding| finding.code == NO_EDITION) {
        // The rest was read with another edition: what stands is what no edition would change.
        let stands = |finding: &Diagnostic| {
            finding.severity == Severity::Error && !OF_EDITION.contains(&finding.code)
        };
        findings.retain(stands);
    }
    // What is taken for granted is of interest once there is a design.
    findings.retain(|finding| !has_error || finding.code != CACHE_DEFAULT);
    (design.flatten(), findings)
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

fn read(
    mut keys: Keys<'_>,
    catalog: &Arc<Catalog>,
    read_as: ReadAs<'_>,
    findings: &mut Findings<'_>,
) -> Option<Design> {
    let name = keys.text("name", findings).map_or("", |(name, _)| name).to_owned();
    let edition = edition(&mut keys, catalog, read_as.edition, findings);
    let stated_mb_bytes = mb_bytes(&mut keys, findings);
    let mb_bytes = read_as.mb_bytes.unwrap_or(stated_mb_bytes);
    let bucket_window_ns = bucket_window_ns(&mut keys, findings);
    let seed = keys.count("seed", findings).map_or(1, |(seed, _)| seed);
    let cloud = cloud(&mut keys, findings);
    let region = region(&mut keys, findings);
    let mut lists = Lists::read(&mut keys, findings)?;
    let is_without_volume = lists.volumes.is_empty();
    let at = keys.at.clone();
    keys.finish(findings);
    // Under an unknown edition the rest is read as under the usual one, to find its mistakes.
    let edition = edition.or_else(|| catalog.edition(EDITION_DEFAULT))?;
    let mut parser = Parser::new(edition, mb_bytes, findings);
    parser.bases_taken = lists.vm.as_ref().map(|_| Vec::new());
    let named = lists.vm.as_mut().and_then(|vm| vm.get("size")?.get_ref().as_str());
    parser.machine = named.and_then(|name| edition.vm(name));
    let pools = network::pools(lists.pools, &mut parser);
    let (clients, machines) = client::clients(lists.clients, &mut parser);
    let mut parsed = Vec::new();
    for keys in lists.volumes {
        parsed.extend(volume(keys, &pools, &mut parser));
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
    check::clients(&machines, &parsed, &mut parser);
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
    mut keys: Keys<'_>,
    pools: &[network::ParsedPool],
    parser: &mut Parser<'_, '_>,
) -> Option<ParsedVolume> {
    let mount = keys.text("mount", parser.findings);
    if mount.is_none() && keys.get("mount").is_none() {
        let text = "a volume needs `mount`, the folder that its files are below";
        parser.findings.error("missing-key", &keys.at, text);
    }
    let mount = mount.and_then(|mount| check::mount(mount, parser));
    let name = volume_name(&mut keys, parser.findings);
    let file_system = file_system(&mut keys, parser.findings);
    let is_network = keys.get("service").is_some() || keys.get("quota").is_some();
    let is_pool = keys.get("pool").is_some();
    let parsed = if is_network || is_pool {
        network::volume(keys, pools, parser)
    } else {
        disks::volume(keys, parser)
    };
    let (mut parsed, mount) = (parsed?, mount?);
    parsed.volume.mount = mount.0;
    parsed.mount_at = mount.1;
    parsed.volume.build.name = name;
    parsed.volume.build.file_system = file_system;
    Some(parsed)
}

fn edition<'p>(
    keys: &mut Keys<'_>,
    catalog: &'p Catalog,
    usual: &str,
    findings: &mut Findings<'_>,
) -> Option<&'p Edition> {
    let (name, at) = keys.text("edition", findings).unwrap_or((usual, 0..0));
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
