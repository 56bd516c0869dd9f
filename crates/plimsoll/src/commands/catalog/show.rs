//! `plimsoll catalog show`.

use std::fmt::Write as _;

use ::catalog::{Edition, Exactness, Figure, Item, Part, Unit};
use units::format_count;
use volume::design::service::{self, Service};

use super::{CatalogChoice, OWN_MACHINE, json, prices, text};
use crate::exit::{Exit, Failure};
use crate::stream;

/// Show everything that is known of a disk, machine size or service level, with its sources
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Tier, type, size or level; `Standard_` may be left out.
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,

    #[command(flatten)]
    which: CatalogChoice,

    /// Print all figures as JSON (`plimsoll.catalog/1`).
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Figures are shown as published. Where a published MB may mean three things, the
line below says how many bytes per second it can be. Each price has its date;
`~` means approximate, `=` derived as the note below it says. Figures that no
source gives are listed under `not known`.

Examples:
  plimsoll catalog show P30
  plimsoll catalog show DS14 --edition 2018
  plimsoll catalog show PremiumV2 gp3 premium
  plimsoll catalog show E8bs_v5 n2-standard-8
  plimsoll catalog show m5.large --json";

/// Runs the command.
pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let catalog = args.which.load()?;
    let edition = args.which.edition(&catalog)?;
    let mut unknown = None;
    let mut pages = Vec::new();
    let mut items = Vec::new();
    for name in &args.names {
        if let Some(item) = find(edition, name) {
            items.push(item);
            pages.push(page(item, edition));
        } else if let Some(page) = level(edition, name).or_else(|| priced(edition, name)) {
            pages.push(page);
        } else {
            // What is known is shown first, so that the mistake stands last on the screen.
            unknown.get_or_insert(name);
        }
    }
    if args.json {
        stream::print(&json::items("items", edition, items.into_iter()))?;
    } else {
        stream::print(&pages.join("\n"))?;
    }
    unknown.map_or(Ok(Exit::Fine), |name| Err(not_found(edition, name)))
}

fn find<'e>(edition: &'e Edition, name: &str) -> Option<&'e Item> {
    let disk = edition.disk(name).map(|disk| &**disk);
    disk.or_else(|| edition.vm(name).map(|vm| &**vm))
}

fn not_found(edition: &Edition, name: &str) -> Failure {
    if let Some(lack) = edition.lacks_machines_like(name) {
        let text = format!("unknown name `{name}`: {lack}");
        return Failure::wrong_use(text).hint(OWN_MACHINE);
    }
    let disks = edition.disks().iter().map(|disk| disk.name.as_str());
    let vms = edition.vms().iter().map(|vm| vm.name.as_str());
    let near = ::catalog::nearest(name, disks.chain(vms));
    let edition = edition.info.name;
    let failure = Failure::wrong_use(format!("unknown name `{name}` in edition {edition}"));
    if near.is_empty() {
        return failure.hint("`plimsoll catalog list disks` and `list vms` have all names");
    }
    let short = |near: &&str| format!("`{}`", near.strip_prefix("Standard_").unwrap_or(near));
    let near: Vec<String> = near.iter().map(short).collect();
    failure.hint(format!("did you mean {}?", near.join(" or ")))
}

fn page(item: &Item, edition: &Edition) -> String {
    let mut page = item.name.clone();
    for word in [item.word("family"), item.word("cloud")].into_iter().flatten() {
        let _ = write!(page, ", {word}");
    }
    let _ = writeln!(page, " (edition {})\n", edition.info.name);
    for (property, figures) in item.figures() {
        for (idx, figure) in figures.iter().enumerate() {
            let label = if idx == 0 { words(property) } else { String::new() };
            page.push_str(&row(&label, figure));
        }
    }
    for (label, column) in WORDS {
        if let Some(word) = item.word(column) {
            let _ = writeln!(page, "  {label:<27}{word}");
        }
    }
    if !item.notes.is_empty() {
        page.push_str("\nnotes\n");
        for note in &item.notes {
            let text = format!("{} ({})", note.text, note.source.key);
            page.push_str(&text::wrapped("  ", &text));
        }
    }
    let mut known = item.sources();
    let of_family = edition.prices_of(item.word("family").unwrap_or_default());
    let of_family = of_family.filter(|price| price.part == Part::Operations);
    let all = edition.prices_of(&item.name).chain(of_family);
    let prices = prices::page(all, false, &mut known);
    let lacks = lacks(item, edition, prices.is_empty());
    if !lacks.is_empty() {
        page.push_str("\nnot known\n");
        page.extend(lacks.iter().map(|lack| text::wrapped("  ", lack)));
    }
    if !prices.is_empty() {
        let _ = write!(page, "\nprices\n{prices}");
    }
    let _ = write!(page, "\n{}", text::sources(&known));
    page
}

/// Words of an item that are shown, with their labels.
const WORDS: [(&str, &str); 11] = [
    ("host cache", "cache"),
    ("takes", "attaches"),
    ("does not take", "refuses"),
    ("built on Nitro", "nitro"),
    ("processors", "arch"),
    ("interface", "interface"),
    ("status", "status"),
    ("local disks are", "local_type"),
    ("local SSD included", "local_ssd_included"),
    ("shares its processors", "shared_cpu"),
    ("accelerator", "accelerator"),
];

/// Returns what of an item matters and no source gives.
fn lacks(item: &Item, edition: &Edition, has_no_price: bool) -> Vec<&'static str> {
    let mut lacks = Vec::new();
    if let Some(vm) = edition.vm(&item.name).filter(|_| edition.disk(&item.name).is_none()) {
        let has = |figure: &str| item.figure(figure).is_some();
        let has_limits =
            has("uncached_iops") || LIMITED.iter().any(|it| vm.limit_of(it, "read_iops").is_some());
        let is_cached = vm.takes_premium() == Some(true) && item.word("cache") != Some("no");
        lacks.extend(
            [
                (!has_limits).then_some(
                    "the limits of its disks together: a design accepts figures of your own, \
                     `[vm] uncached = { iops = 15000, throughput = \"240MB/s\" }`",
                ),
                (is_cached && !has("cached_iops")).then_some("the limits of disks with host cache"),
                (!has("max_data_disks")).then_some("how many disks it takes"),
                (!has("memory")).then_some("its memory"),
                (!has("egress")).then_some("what its network card sends"),
            ]
            .into_iter()
            .flatten(),
        );
    }
    if has_no_price {
        lacks.push("any price");
    }
    lacks
}

/// Types of disk that machines of Google Cloud have limits for.
const LIMITED: [&str; 4] = ["pd-standard", "pd-balanced", "pd-ssd", "pd-extreme"];

/// Returns a property's name as people write it.
fn words(property: &str) -> String {
    const WORDS: [(&str, &str); 8] = [
        ("iops", "IOPS"),
        ("ssd", "SSD"),
        ("vcpus", "vCPUs"),
        ("os", "OS"),
        ("io", "I/O"),
        ("nvme", "NVMe"),
        ("pd", "PD"),
        ("ha", "HA"),
    ];
    let word = |word| WORDS.iter().find(|(plain, _)| *plain == word).map_or(word, |known| known.1);
    property.split('_').map(word).collect::<Vec<_>>().join(" ")
}

/// Prints a figure, and for a rate what it is in bytes per second.
fn row(label: &str, figure: &Figure) -> String {
    let text = figure.to_string();
    let mut row = format!("  {label:<26} {text:<25}  {}", figure.source.key);
    if figure.exactness == Exactness::Derived {
        row.push_str(", derived");
    }
    row.push('\n');
    let is_rate = matches!(
        figure.unit,
        Unit::MbPerS | Unit::MibPerS | Unit::MibPerSRoundedDown | Unit::MbitPerS
    );
    if is_rate {
        let (low, high) = figure.range().into_inner();
        let bytes = if low == high {
            format!("{} B/s", format_count(low))
        } else {
            format!("{} to {} B/s", format_count(low), format_count(high))
        };
        let _ = writeln!(row, "  {:<27}= {bytes}", "");
    }
    row
}

/// Shows a name that only prices are known of.
fn priced(edition: &Edition, name: &str) -> Option<String> {
    let first = edition.prices_of(name).next()?;
    let mut page = first.name.to_string();
    if let Some(cloud) = first.cloud {
        let _ = write!(page, ", {cloud}");
    }
    let _ = writeln!(page, " (edition {})\n\nnot known", edition.info.name);
    page.push_str("  any figure but its prices\n\nprices\n");
    let mut known = Vec::new();
    page.push_str(&prices::page(edition.prices_of(name), false, &mut known));
    let _ = write!(page, "\n{}", text::sources(&known));
    Some(page)
}

/// Shows a service level of network volumes.
fn level(edition: &Edition, name: &str) -> Option<String> {
    let level = service::level_of(edition, name)?;
    let scope = format!("level.{level}");
    let facts: Vec<_> =
        edition.network_volumes().iter().filter(|fact| fact.scope == scope).collect();
    if facts.is_empty() {
        return None;
    }
    let mut page = format!("{name}, service level (edition {})\n\n", edition.info.name);
    let mut known = Vec::new();
    for fact in facts {
        page.push_str(&row(&words(&fact.parameter), &fact.figure));
        if !fact.note.is_empty() {
            page.push_str(&text::wrapped(&format!("  {:<27}", ""), &fact.note));
        }
        text::collect(&mut known, vec![&fact.figure.source]);
    }
    let priced = service::price_name(level);
    let prices = edition.prices_of(&priced);
    let prices = prices::page(prices, false, &mut known);
    if !prices.is_empty() {
        let of = match Service::of_level(level) {
            Service::AzureFiles | Service::GoogleVolumes => ", of the capacity of the pool",
            Service::FsxOntap => ", of the parts of a file system",
        };
        let _ = write!(page, "\nprices{of}\n{prices}");
    }
    let _ = write!(page, "\n{}", text::sources(&known));
    Some(page)
}
