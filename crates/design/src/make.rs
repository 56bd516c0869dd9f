//! A design that was found, as a file.

use std::sync::Arc;

use catalog::Catalog;
use plan::Severity;
use plan::keys::quoted;
use volume::design::{MB_BYTES_DEFAULT, Promised, parse_with};
use volume::limits::Scope;
use volume::{CacheMode, Design};

use crate::judge::judge;
use crate::market::{Market, Terms};
use crate::need::Need;
use crate::rank::{ChosenDisks, Ranked};
use crate::series::over_time;

const KIB: u64 = 1 << 10;
const GIB: u64 = 1 << 30;

/// Returns what stands at the top of a design's file.
pub(crate) fn head(terms: &Terms, name: &str) -> String {
    let mut text = format!("name = {}\nedition = \"{}\"\n", quoted(name), terms.edition);
    if let Some(region) = &terms.region {
        let cloud = terms.cloud.as_str().to_lowercase();
        text.push_str(&format!("cloud = \"{cloud}\"\nregion = {}\n", quoted(region)));
    }
    if terms.mb_bytes != MB_BYTES_DEFAULT {
        text.push_str(&format!("mb_bytes = {}\n", terms.mb_bytes));
    }
    text
}

/// Returns a design as TOML, which every command that takes a design reads.
pub fn toml(terms: &Terms, need: &Need, ranked: &Ranked, name: &str) -> String {
    let mut text = head(terms, name);
    text.push_str(&format!("\n[vm]\nsize = \"{}\"\n", ranked.machine));
    if let Some(interface) = ranked.interface {
        text.push_str(&format!("interface = \"{}\"\n", interface.as_str()));
    }
    for (asked, chosen) in need.volumes.iter().zip(&ranked.volumes) {
        text.push_str(&format!("\n[[volume]]\nmount = {}\n", quoted(&asked.mount)));
        volume(chosen, &mut text);
    }
    text
}

/// Returns what a design of disks must carry as the promises of its file. What it carries on burst
/// credits is promised for as long as takes as much of them as the captured series does.
pub fn promises(design: &Design, need: &Need) -> String {
    let judged = judge(design, need);
    let over_time = match &need.series {
        Some(demand) if demand.loads.len() == design.volumes.len() => {
            over_time(design, need, demand)
        }
        Some(_) | None => Vec::new(),
    };
    let lasts_s = |volume: usize, phase: &str| {
        let phase = judged.phases.iter().find(|it| it.phase == phase)?;
        let on_credits = phase.caps.iter().filter(|it| it.is_on_credits());
        let met = on_credits.filter(|it| match it.cap.scope {
            Scope::Volume(own) => usize::from(own) == volume,
            Scope::Machine | Scope::Pool(_) | Scope::Clients => true,
        });
        let lasts_s = met.filter_map(|asked| {
            let walked = over_time.iter().find(|it| it.cap.is_same(&asked.cap))?;
            Some(walked.spent_max()? / (asked.used - asked.cap.per_s))
        });
        lasts_s.min_by(f64::total_cmp)
    };
    all_promises(need, &judged.hit_ratios, lasts_s)
}

/// Returns the same of a design of network volumes, which have neither host cache nor credits.
pub fn promises_network(need: &Need) -> String {
    all_promises(need, &vec![0.0; need.volumes.len()], |_, _| None)
}

/// Prints promises, with the share of reads at random places that the host cache answers, by
/// volume, and the seconds for which a volume carries its load of a phase on credits.
fn all_promises(
    need: &Need,
    hit_ratios: &[f64],
    lasts_s: impl Fn(usize, &str) -> Option<f64>,
) -> String {
    let mut text = String::new();
    for (idx, (volume, hit_share)) in need.volumes.iter().zip(hit_ratios).enumerate() {
        for phase in volume.phases.iter().filter(|phase| phase.iops > 0.0) {
            // Whole seconds that are carried for certain.
            let lasts_s = lasts_s(idx, &phase.phase).map(|it| it.floor().max(1.0) as u64);
            let promised = Promised {
                volume: volume.mount.clone(),
                phase: phase.phase.clone(),
                iops: phase.iops,
                io_size_bytes: phase.size_bytes as f64,
                read_share: phase.read_share,
                random_share: phase.random_share,
                hit_share: hit_share * phase.random_share,
                latency_ns: volume.latency_ms_max.map(|ms| (ms * 1e6).round() as u64),
                lasts_ns: lasts_s.map(|it| it * 1_000_000_000),
            };
            text.push_str(&format!("\n{promised}"));
        }
    }
    text
}

fn volume(chosen: &ChosenDisks, text: &mut String) {
    text.push_str(&format!("disk = \"{}\"\n", chosen.disk));
    if chosen.n_disks > 1 {
        text.push_str(&format!("count = {}\n", chosen.n_disks));
    }
    if chosen.is_sized {
        text.push_str(&format!("size = \"{}GiB\"\n", chosen.size_bytes / GIB));
    }
    if let Some(iops) = chosen.iops {
        text.push_str(&format!("iops = {iops}\n"));
    }
    if let Some(bytes) = chosen.throughput {
        text.push_str(&format!("throughput = \"{}\"\n", rate(bytes)));
    }
    let cache = match chosen.cache {
        CacheMode::None => "None",
        CacheMode::ReadOnly => "ReadOnly",
        CacheMode::ReadWrite => "ReadWrite",
    };
    text.push_str(&format!("cache = \"{cache}\"\n"));
    if chosen.n_disks > 1 {
        text.push_str(&format!("chunk = \"{}KiB\"\n", chosen.chunk_bytes / KIB));
    }
}

/// Prints a rate in the largest unit that it is a whole number of.
pub(crate) fn rate(bytes_per_s: u64) -> String {
    let units = [(1 << 20, "MiB/s"), (1_000_000, "MB/s")];
    let whole = units.into_iter().find(|(unit, _)| bytes_per_s.is_multiple_of(*unit));
    whole.map_or_else(
        || format!("{bytes_per_s}B/s"),
        |(unit, name)| format!("{}{name}", bytes_per_s / unit),
    )
}

/// Reads a design that was found; `None` if it is none, which would be a mistake of the search.
pub fn parse(market: &Market<'_>, need: &Need, ranked: &Ranked) -> Option<Design> {
    parse_text(&toml(&market.terms, need, ranked, "found"), &market.catalog)
}

/// Returns what is not known of a design that was found: what every command that takes its file
/// warns of.
pub fn unknowns(market: &Market<'_>, need: &Need, ranked: &Ranked) -> Vec<String> {
    let text = toml(&market.terms, need, ranked, "found");
    let findings = parse_with(&text, &market.catalog).1;
    let warnings = findings.into_iter().filter(|it| it.severity == Severity::Warning);
    warnings.map(|it| it.message).collect()
}

fn parse_text(text: &str, catalog: &Arc<Catalog>) -> Option<Design> {
    parse_with(text, catalog).0
}
