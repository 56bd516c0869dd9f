//! What one network volume carries at most, whatever its quota.

use std::ops::Range;

use catalog::{Edition, Surface, VolumeKind};
use plan::Diagnostic;
use plan::keys::Keys;

use super::Ceiling;
use super::parser::Parser;
use super::service::{Service, Sized};

/// Returns the ceilings of one volume: the published one, those that were measured, and in their
/// place those that the design states.
pub(super) fn ceiling(
    keys: &mut Keys<'_>,
    kind: VolumeKind,
    level: Option<&str>,
    parser: &mut Parser<'_, '_>,
) -> Ceiling {
    let edition = parser.edition;
    let service = level.map_or(Service::AzureFiles, Service::of_level);
    let surfaces = match service {
        Service::AzureFiles => edition.surfaces(kind),
        // No source has measured volumes of these.
        Service::GoogleVolumes | Service::FsxOntap => Vec::new(),
    };
    let chosen = mix(keys, &surfaces, parser);
    let mut ceiling = published(edition, service, kind, level);
    if let Some(chosen) = &chosen {
        measured(&mut ceiling, chosen, &surfaces);
    }
    state(&mut ceiling, keys, parser);
    // Without a level all that can be said is that there is none. Volumes of a file system have
    // what that has, and no ceiling of their own.
    if level.is_some() && chosen.is_some() && service != Service::FsxOntap {
        warn_unknown(&ceiling, kind, &keys.at, parser);
    }
    ceiling
}

/// Returns the published ceiling, that of both directions together.
fn published(
    edition: &Edition,
    service: Service,
    kind: VolumeKind,
    level: Option<&str>,
) -> Ceiling {
    let scope = Sized::Volume(kind).scope(service);
    let of_level = level.map(|level| format!("throughput_max.{level}"));
    let of_level = of_level.and_then(|parameter| edition.fact(scope, &parameter));
    let total = [edition.fact(scope, "throughput_max"), of_level];
    let total_bytes_per_s = total.into_iter().flatten().map(|figure| figure.per_s).min();
    Ceiling { total_bytes_per_s, ..Ceiling::default() }
}

/// Adds what was measured. Where none of it was chosen, each side is the lowest of all.
fn measured(ceiling: &mut Ceiling, chosen: &[&Surface<'_>], surfaces: &[Surface<'_>]) {
    let lowest = |of: fn(&Surface<'_>) -> Option<u64>| {
        // A chosen load speaks for the sides that it was measured for, all loads for the others.
        let chosen = chosen.iter().filter_map(|surface| of(surface)).min();
        chosen.or_else(|| surfaces.iter().filter_map(of).min())
    };
    ceiling.read_iops = lowest(|surface| surface.read_iops.map(|figure| figure.per_s));
    ceiling.write_iops = lowest(|surface| surface.write_iops.map(|figure| figure.per_s));
    ceiling.read_bytes_per_s = lowest(|surface| surface.read_bytes.map(|figure| figure.per_s));
    ceiling.write_bytes_per_s = lowest(|surface| surface.write_bytes.map(|figure| figure.per_s));
    let mixed = mixed(chosen, surfaces);
    ceiling.total_bytes_per_s = ceiling.total_bytes_per_s.into_iter().chain(mixed).min();
}

/// Reads `ceiling = { read_iops = 200000, write = "2400MiB/s", mixed = "3600MiB/s" }`: what was
/// measured elsewhere, on a volume of the user's own.
fn state(ceiling: &mut Ceiling, keys: &mut Keys<'_>, parser: &mut Parser<'_, '_>) {
    let Some(mut own) = keys.table("ceiling", parser.findings) else { return };
    let findings = &mut *parser.findings;
    let counts = ["read_iops", "write_iops"].map(|name| own.count(name, findings));
    let rates = ["read", "write", "mixed"].map(|name| own.rate(name, findings));
    if own.is_empty() {
        let text = "`ceiling` needs `read_iops`, `write_iops`, `read`, `write` or `mixed`";
        findings.error("missing-key", &own.at, text);
    }
    for (_, at) in counts.iter().chain(&rates).flatten().filter(|(per_s, _)| *per_s == 0) {
        findings.error("out-of-range", at, "a ceiling of 0: leave it out for no ceiling");
    }
    let [read_iops, write_iops] = counts;
    let [read, write, mixed] = rates;
    for (side, stated) in [
        (&mut ceiling.read_iops, read_iops),
        (&mut ceiling.write_iops, write_iops),
        (&mut ceiling.read_bytes_per_s, read),
        (&mut ceiling.write_bytes_per_s, write),
        (&mut ceiling.total_bytes_per_s, mixed),
    ] {
        *side = stated.map(|(per_s, _)| per_s).or(*side);
    }
    own.finish(findings);
}

/// Returns what a mix of large reads and writes was measured to carry, the lowest where several
/// were: of the chosen loads, or of all where no chosen one moves bytes. A mix of one load says
/// nothing about another one's, whose reads alone may carry more.
fn mixed(chosen: &[&Surface<'_>], surfaces: &[Surface<'_>]) -> Option<u64> {
    let of = |surface: &Surface<'_>| surface.mixed_bytes.map(|figure| figure.per_s);
    let moves = |surface: &&&Surface<'_>| {
        surface.read_bytes.or(surface.write_bytes).or(surface.mixed_bytes).is_some()
    };
    if chosen.iter().any(|surface| moves(&surface)) {
        return chosen.iter().filter_map(|surface| of(surface)).min();
    }
    surfaces.iter().filter_map(of).min()
}

/// Reports which ceilings were not measured in this edition, and what holds in their place.
fn warn_unknown(
    ceiling: &Ceiling,
    kind: VolumeKind,
    at: &Range<usize>,
    parser: &mut Parser<'_, '_>,
) {
    let of_operations = match (ceiling.read_iops, ceiling.write_iops) {
        (Some(_), Some(_)) => None,
        (Some(read), None) => Some((
            "writes",
            format!("they are held to the {} of reads, which they stay below", thousands(read)),
        )),
        (None, Some(_)) => Some(("reads", "they are not limited".to_owned())),
        (None, None) => Some(("reads and writes", "they are not limited".to_owned())),
    };
    let which = match (ceiling.read_bytes_per_s, ceiling.write_bytes_per_s) {
        (Some(_), Some(_)) => None,
        (Some(_), None) => Some("writes"),
        (None, Some(_)) => Some("reads"),
        (None, None) => Some("reads and writes"),
    };
    let of_bytes = which.map(|which| match ceiling.total_bytes_per_s {
        Some(total) => (which, format!("only {} of both together hold", mib_s(total))),
        None => (which, "they are not limited".to_owned()),
    });
    let edition = parser.edition.info.name;
    let whose = format!("a {} volume carries is unknown in edition {edition}", kind.as_str());
    if let Some((what, instead)) = of_operations {
        let text = format!("how many {what} per second {whose}: {instead}");
        parser.findings.warn("unknown-figure", at, text);
    }
    if let Some((what, instead)) = of_bytes {
        let text = format!("how many MiB/s of {what} alone {whose}: {instead}");
        parser.findings.warn("unknown-figure", at, text);
    }
}

fn thousands(per_s: u64) -> String {
    units::format_count(per_s)
}

fn mib_s(bytes_per_s: u64) -> String {
    format!("{} MiB/s", thousands(bytes_per_s >> 20))
}

/// Reads `mix = "random-8k"`, a list of such, or `"published"`, which leaves measurements out and
/// returns `None`.
fn mix<'s, 'c>(
    keys: &mut Keys<'_>,
    surfaces: &'s [Surface<'c>],
    parser: &mut Parser<'_, '_>,
) -> Option<Vec<&'s Surface<'c>>> {
    let Some(value) = keys.get("mix") else { return Some(Vec::new()) };
    let (one, list) = (std::slice::from_ref(value), value.get_ref().as_array());
    let values: Vec<_> = match list {
        Some(list) => list.iter().collect(),
        None => one.iter().collect(),
    };
    let mut chosen = Vec::new();
    for value in values {
        let Some(name) = value.get_ref().as_str() else {
            let text = "`mix` is a load's name in quotes, or a list of such";
            parser.findings.error("wrong-type", &value.span(), text);
            continue;
        };
        if name == "published" {
            return None;
        }
        if let Some(surface) = surfaces.iter().find(|surface| surface.name == name) {
            chosen.push(surface);
            continue;
        }
        let names: Vec<&str> = surfaces.iter().map(|surface| surface.name).collect();
        let help = format!("measured were {}; or published", names.join(", "));
        let finding = Diagnostic::error("unknown-mix", format!("unknown load `{name}` in `mix`"));
        parser.findings.add(finding.help(help), &value.span());
    }
    Some(chosen)
}
