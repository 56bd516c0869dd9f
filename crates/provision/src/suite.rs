//! A suite of `plimsoll bench` that measures each promise by itself.

use std::fmt::Write as _;

use plan::keys::quoted;
use volume::design::{Promised, Volume};

use crate::form::{Form, Refusal};
use crate::job::{WORKER_IOPS, access, block, issued_bytes, issued_iops};
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
    let workers = (iops / WORKER_IOPS).ceil().clamp(1.0, 16.0);
    let is_sequential = promised.random_share < 0.5;
    let kind = access(promised.read_share, is_sequential);
    let depth = depth(promised, iops, volume);
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
        let _ = writeln!(text, "read_pct = {:.2}", promised.read_share * 100.0);
    }
    let per_worker = (depth / workers).ceil().clamp(1.0, DEPTH_MAX);
    let _ = write!(
        text,
        "iodepth = {per_worker:.0}\njobs = {workers:.0}\n\n[[part.target]]\nlimit = \"iops > {:.3}",
        iops * KEPT_SHARE
    );
    if let Some(ns) = promised.latency_ns {
        let _ = write!(text, ", mean < {}us", ns.div_ceil(1000));
    }
    text.push_str("\"\nsource = \"design\"\n");
    text
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
