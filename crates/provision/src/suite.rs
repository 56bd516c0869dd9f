//! A suite of `plimsoll bench` that measures each promise by itself.

use std::fmt::Write as _;

use plan::keys::quoted;
use volume::design::{Promised, Volume};

use crate::form::{Form, Refusal};
use crate::job::{
    Share, WORKER_IOPS, access, block, hits_bytes, issued_bytes, issued_iops, shares,
};
use crate::parts::{Parts, slug};
use crate::quote;

/// Share of a promise from which on it is kept: as everywhere in plimsoll.
const KEPT_SHARE: f64 = 0.95;

/// I/Os in flight over what the medium alone would need: a volume below its caps shows them then.
const DEPTH_FACTOR: f64 = 2.0;

/// Most of a promised latency that I/Os in flight may come to by themselves.
const LATENCY_SHARE_MAX: f64 = 0.9;

/// I/Os in flight of a worker at most.
const DEPTH_MAX: f64 = 1024.0;

/// Prints the suite.
pub(crate) fn text(parts: &Parts<'_>) -> Result<String, Refusal> {
    let design = parts.design;
    if design.promises.is_empty() {
        return Err(Refusal::Nothing { what: "promise that could be measured" });
    }
    let mounts: Vec<&Volume> = design
        .volumes
        .iter()
        .filter(|volume| design.promises.iter().any(|it| it.volume == volume.mount))
        .collect();
    let names: Vec<(String, &Volume)> =
        mounts.iter().map(|volume| (place_of(parts, volume), *volume)).collect();
    let places: Vec<String> = names
        .iter()
        .map(|(name, volume)| format!("{name}={}", quote::shell(&volume.mount)))
        .collect();
    let mut text = format!(
        "# {}\n# {}\n# A promise counts as kept from {} of it on. Each is measured by itself; \
         `--as job` offers those of\n# one phase at once.\n#   plimsoll bench {} --suite \
         THIS_FILE\n\
         schema = \"plimsoll.suite/1\"\nname = {}\ntitle = {}\n\n[[source]]\nid = \"design\"\n\
         document = {}\n",
        quote::comment(&parts.title(Form::Suite)),
        Form::Suite.checked(),
        units::format_percent_whole(KEPT_SHARE),
        quote::comment(&places.join(" ")),
        quoted(&slug(&design.name)),
        quoted(&format!("what is promised of {}", design.name)),
        quoted(&design.name),
    );
    for (name, volume) in &names {
        let _ = write!(
            text,
            "\n[[place]]\nname = {}\nwhat = {}\n",
            quoted(name),
            quoted(&volume.mount)
        );
    }
    text.push_str("\n[prepare]\nsize = \"auto\"\nsize_max = \"16g\"\nfill_time = \"2m\"\n");
    text.push_str("\n[defaults]\nramp = \"5s\"\ntime = \"60s\"\n");
    for (idx, promised) in design.promises.iter().enumerate() {
        let volume = names.iter().find(|(_, volume)| volume.mount == promised.volume);
        if let Some((place, volume)) = volume {
            text.push_str(&part(promised, idx, place, volume));
        }
    }
    Ok(text)
}

/// Returns what a volume's place is called.
fn place_of(parts: &Parts<'_>, volume: &Volume) -> String {
    let of_disks = parts.volumes.iter().map(|it| (it.volume, &it.slug));
    let mut all = of_disks.chain(parts.networks.iter().map(|it| (it.volume, &it.slug)));
    all.find(|(known, _)| known.mount == volume.mount)
        .map_or(String::new(), |(_, slug)| slug.clone())
}

fn part(promised: &Promised, idx: usize, place: &str, volume: &Volume) -> String {
    let iops = issued_iops(promised);
    let shares = shares(promised);
    // What every part is but for the reads that the host cache is to answer.
    let rest = shares.iter().find(|share| !share.is_hits).or(shares.first());
    let (read, random) = rest.map_or((1.0, 1.0), |share| (share.read, share.random));
    let kind = access(read, random < 0.5);
    let phase = if promised.phase.is_empty() { "promised" } else { &promised.phase };
    let name = format!("{} {phase} {} {}", idx + 1, promised.volume, block(issued_bytes(promised)));
    let mut text = format!(
        "\n[[part]]\nname = {}\nplace = {}\nrw = {}\nbs = {}\n",
        quoted(&quote::comment(&name)),
        quoted(place),
        quoted(kind),
        quoted(&block(issued_bytes(promised))),
    );
    if matches!(kind, "rw" | "randrw") {
        let _ = writeln!(text, "read_pct = {:.2}", read * 100.0);
    }
    let depth = depth(promised, iops, volume);
    if shares.iter().any(|share| share.is_hits) {
        for share in &shares {
            text.push_str(&load(promised, *share, iops * share.of_ios, depth * share.of_ios));
        }
    } else {
        let (depth, workers) = in_flight(iops, depth);
        let _ = write!(text, "iodepth = {depth:.0}\njobs = {workers:.0}\n");
    }
    let limit = iops * KEPT_SHARE;
    let _ = write!(text, "\n[[part.target]]\nlimit = \"iops > {limit:.3}");
    if let Some(ns) = promised.latency_ns {
        let _ = write!(text, ", mean < {}us", ns.div_ceil(1000));
    }
    text.push_str("\"\nsource = \"design\"\n");
    text
}

/// Prints one of the loads that a promise with a host cache is made of. Each has its rate: reads
/// that hit would else take the places in flight of those that do not.
fn load(promised: &Promised, share: Share, iops: f64, depth: f64) -> String {
    let (depth, workers) = in_flight(iops, depth);
    let rate = (iops / workers).ceil().max(1.0);
    let of = if share.is_hits {
        let bytes = hits_bytes(promised, iops).div_ceil(1 << 20);
        format!("name = \"from the cache\"\nrw = \"randread\"\nsize = \"{bytes}m\"\n")
    } else {
        "name = \"from the disks\"\n".to_owned()
    };
    format!(
        "\n[[part.load]]\n{of}iodepth = {depth:.0}\njobs = {workers:.0}\nrate_iops = {rate:.0}\n"
    )
}

/// Returns how many I/Os each worker keeps in flight, and how many workers offer a rate.
fn in_flight(iops: f64, depth: f64) -> (f64, f64) {
    let workers = (iops / WORKER_IOPS).ceil().clamp(1.0, 16.0);
    ((depth / workers).ceil().clamp(1.0, DEPTH_MAX), workers)
}

/// Returns how many I/Os are kept in flight: twice what the medium alone needs for the rate, and no
/// more than keep the promised latency at that rate (Little's law).
fn depth(promised: &Promised, iops: f64, volume: &Volume) -> f64 {
    let alone = iops * volume.latency.mean_ns as f64 / 1e9;
    let wanted = (alone * DEPTH_FACTOR).ceil().max(1.0);
    match promised.latency_ns {
        Some(ns) => wanted.min((iops * ns as f64 / 1e9 * LATENCY_SHARE_MAX).floor()).max(1.0),
        None => wanted,
    }
}
