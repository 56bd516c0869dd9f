//! `plimsoll catalog list`.

use std::sync::Arc;

use ::catalog::{Cloud, Disk, Edition, Figure, Item, NetworkFact, Price, Source, Vm};
use clap::ValueEnum;

use super::{CatalogChoice, OWN_MACHINE, json, prices, text};
use crate::exit::{Exit, Failure};
use crate::stream;

/// List disks, machine sizes, network volumes or prices
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// What to list.
    what: Option<ListedTable>,

    /// Only lines with all of these words in name, kind, cloud, and of prices region, part or term.
    #[arg(value_name = "WORD")]
    filter: Vec<String>,

    #[command(flatten)]
    which: CatalogChoice,

    /// Say where each line comes from.
    #[arg(long)]
    sources: bool,

    /// Print all figures as JSON (`plimsoll.catalog/1`).
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
MB/s are 10^6 bytes per second here; `plimsoll catalog show` has every figure
as published. The last column of machines is the most that the network card
sends. Machines of Google Cloud have limits by type of disk; those of reads of
pd-ssd are shown. `~` marks an approximate price, `=` one that is derived as
the note below it says.

Examples:
  plimsoll catalog list disks premium
  plimsoll catalog list disks --edition 2018 --sources
  plimsoll catalog list vms d8s_
  plimsoll catalog list vms gcp n2-
  plimsoll catalog list prices P30
  plimsoll catalog list prices gp3 us-east-1
  plimsoll catalog list volumes --json | jq '.volumes[].scope'";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ListedTable {
    /// Disk tiers and types.
    Disks,
    /// Machine sizes.
    Vms,
    /// Levels, limits and measurements of network volumes.
    Volumes,
    /// Prices, each of one day and one origin.
    Prices,
}

/// A line, and its sources.
type Line<'e> = (Vec<String>, Vec<&'e Arc<Source>>);

/// Runs the command.
pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let what = args.what.ok_or_else(|| {
        Failure::wrong_use("what to list is missing")
            .hint("disks, vms, volumes or prices: plimsoll catalog list disks")
    })?;
    let catalog = args.which.load()?;
    let edition = args.which.edition(&catalog)?;
    let words: Vec<String> = args.filter.iter().map(|word| word.to_lowercase()).collect();
    let fits = |texts: &[&str]| {
        let text = texts.join(" ").to_lowercase();
        words.iter().all(|word| text.contains(word))
    };
    let of_item = |item: &Item| {
        let word = |name| item.word(name).unwrap_or("");
        fits(&[&item.name, word("family"), word("cloud")])
    };
    let disks = edition.disks().iter().filter(|disk| of_item(disk));
    let vms = edition.vms().iter().filter(|vm| of_item(vm));
    let facts = edition.network_volumes().iter();
    let facts = facts.filter(|fact| fits(&[&fact.scope, &fact.parameter]));
    let whose = |price: &Price| price.cloud.map_or("", Cloud::as_str);
    let of_price = |price: &&Price| {
        let region = price.region.as_deref().unwrap_or("");
        fits(&[&price.name, region, price.part.as_str(), price.term.as_str(), whose(price)])
    };
    // Prices are read only where they are asked for.
    let prices = || edition.prices().iter().filter(of_price);
    if args.json {
        let page = match what {
            ListedTable::Disks => json::items("disks", edition, disks.map(|disk| &**disk)),
            ListedTable::Vms => json::items("vms", edition, vms.map(|vm| &**vm)),
            ListedTable::Volumes => json::facts(edition, facts),
            ListedTable::Prices => json::prices(edition, prices()),
        };
        stream::print(&page)?;
        return Ok(Exit::Fine);
    }
    let page = match what {
        ListedTable::Disks => {
            page(&DISKS, &DISK_NUMBERS, &disks.map(disk).collect::<Vec<_>>(), args)
        }
        ListedTable::Vms => page(&VMS, &VM_NUMBERS, &vms.map(vm).collect::<Vec<_>>(), args),
        ListedTable::Volumes => {
            page(&FACTS, &[false; 3], &facts.map(fact).collect::<Vec<_>>(), args)
        }
        ListedTable::Prices => priced(prices(), args),
    };
    let Some(page) = page else { return Err(nothing(edition, args)) };
    stream::print(&page)?;
    Ok(Exit::Fine)
}

/// Lays prices out; `None` where there are none.
fn priced<'e>(prices: impl Iterator<Item = &'e Price>, args: &Args) -> Option<String> {
    let mut known = Vec::new();
    let mut page = prices::page(prices, true, &mut known);
    if args.sources {
        page = format!("{page}\n{}", text::sources(&known));
    }
    (!known.is_empty()).then_some(page)
}

const FACTS: [&str; 3] = ["about", "figure", "value"];

fn fact(fact: &NetworkFact) -> Line<'_> {
    let cells = vec![
        fact.scope.strip_prefix("surface.").unwrap_or(&fact.scope).to_owned(),
        fact.parameter.clone(),
        fact.figure.to_string(),
    ];
    (cells, vec![&fact.figure.source])
}

/// Lays lines out as a table; `None` where there are none.
fn page(header: &[&str], is_number: &[bool], lines: &[Line<'_>], args: &Args) -> Option<String> {
    let names = header.iter().map(|&name| name.to_owned()).collect();
    let rows: Vec<Vec<String>> =
        std::iter::once(names).chain(lines.iter().map(|line| line.0.clone())).collect();
    let mut page = String::new();
    let mut known: Vec<&Arc<Source>> = Vec::new();
    for (idx, line) in text::table(&rows, is_number).into_iter().enumerate() {
        page.push_str(&line);
        page.push('\n');
        let of_line = idx.checked_sub(1).and_then(|idx| lines.get(idx));
        if let Some((_, of_line)) = of_line.filter(|_| args.sources) {
            let keys: Vec<&str> = of_line.iter().map(|source| source.key.as_str()).collect();
            page.push_str(&text::wrapped("    ", &keys.join(", ")));
            text::collect(&mut known, of_line.clone());
        }
    }
    if args.sources {
        page.push('\n');
        page.push_str(&text::sources(&known));
    }
    (!lines.is_empty()).then_some(page)
}

fn nothing(edition: &Edition, args: &Args) -> Failure {
    let name = edition.info.name;
    let filter = &args.filter;
    let lacks = |word: &String| {
        edition.lacks_machines_of(word).or_else(|| edition.lacks_machines_like(word))
    };
    if args.what == Some(ListedTable::Vms)
        && let Some(lack) = filter.iter().find_map(lacks)
    {
        return Failure::wrong_use(lack).hint(OWN_MACHINE);
    }
    if filter.is_empty() {
        return Failure::wrong_use(format!("edition {name} has none of these"));
    }
    let text = format!("nothing in edition {name} has `{}`", filter.join("` and `"));
    Failure::wrong_use(text).hint("leave the words out to see all lines")
}

const DISKS: [&str; 6] = ["disk", "kind", "GiB", "IOPS", "MB/s", "cache"];
const DISK_NUMBERS: [bool; 6] = [false, false, true, true, true, false];

fn disk(disk: &Disk) -> Line<'_> {
    let cells = vec![
        disk.name.clone(),
        disk.family().to_owned(),
        range(disk, [disk.size(), disk.size_min(), disk.size_max()], text::value),
        range(
            disk,
            [disk.iops(), disk.iops_base().or(disk.iops_min()), disk.iops_max()],
            text::value,
        ),
        range(
            disk,
            [
                disk.throughput(),
                disk.throughput_base().or(disk.throughput_min()),
                disk.throughput_max(),
            ],
            text::mb_s,
        ),
        disk.word("cache").unwrap_or("-").to_owned(),
    ];
    (cells, disk.sources())
}

/// Prints a fixed figure, or the least and the most that can be chosen.
fn range(
    disk: &Disk,
    [fixed, least, most]: [Option<&Figure>; 3],
    print: fn(Option<&Figure>) -> String,
) -> String {
    match (fixed.or(least), fixed.or(most)) {
        (None, None) if disk.is_free() => "by size".to_owned(),
        (Some(low), Some(high)) if low.per_s < high.per_s => {
            format!("{}-{}", print(Some(low)), print(Some(high)))
        }
        (None, Some(high)) => format!("<={}", print(Some(high))),
        (low, high) => print(high.or(low)),
    }
}

/// The type of disk whose limits stand for a machine of Google Cloud, which has some by type.
const OF_GOOGLE: &str = "pd-ssd";

const VMS: [&str; 9] = ["size", "vCPU", "GiB", "disk", "IOPS", "MB/s", "cached", "MB/s", "Mb/s"];
const VM_NUMBERS: [bool; 9] = [false, true, true, true, true, true, true, true, true];

fn vm(vm: &Vm) -> Line<'_> {
    let memory = vm.memory().map(|figure| figure.per_s as f64 / f64::from(1 << 30));
    let memory = memory.map_or("-".to_owned(), |gib| {
        let text = format!("{gib:.1}");
        text.strip_suffix(".0").map_or(text.clone(), ToOwned::to_owned)
    });
    let cells = vec![
        vm.name.strip_prefix("Standard_").unwrap_or(&vm.name).to_owned(),
        text::value(vm.vcpus()),
        memory,
        text::value(vm.max_data_disks()),
        text::value(vm.uncached_iops().or(vm.limit_of(OF_GOOGLE, "read_iops"))),
        text::mb_s(vm.uncached_throughput().or(vm.limit_of(OF_GOOGLE, "read_throughput"))),
        text::value(vm.cached_iops()),
        text::mb_s(vm.cached_throughput()),
        text::value(vm.egress()),
    ];
    (cells, vm.sources())
}
