//! What the catalogue says.

use catalog::{Edition, Figure, Item};
use volume::CapKind;

use super::product::{KIB, cap, design, disks, first, parse, reads};
use crate::answer::{Answer, Outcome};
use crate::table::Case;

const GIB: f64 = 1_073_741_824.0;
const MIB: f64 = 1_048_576.0;

fn edition(name: &str) -> &'static Edition {
    // The training module on EDA workloads has an edition named by its year.
    let name = if name == "eda-module" { "2023" } else { name };
    catalog::edition(name).expect("an edition")
}

/// Adds a figure in the unit it was published in; one that is unknown stays out.
fn put(answer: Answer, key: &str, figure: Option<&Figure>) -> Answer {
    match figure {
        Some(figure) => answer.with(key, figure.value),
        None => answer,
    }
}

pub(crate) fn disk(case: &Case) -> Outcome {
    let (name, tier) = (case.text("edition"), case.text("disk"));
    let disk = edition(name).disk(tier).expect("a tier");
    let answer = put(Answer::new(), "size_gib", disk.size());
    let answer = put(answer, "iops", disk.iops());
    let answer = put(answer, "throughput_mb_s", disk.throughput());
    // The size of I/Os at which both limits of a design of this disk carry as many.
    let design = design(&format!("edition='{name}'"), "", &[disks(tier, 1, "None")]);
    let done = first(&design, &reads(8 * KIB));
    let per_s = |kind| cap(&done, kind).0.per_s;
    let knee = per_s(CapKind::DiskBytes) / per_s(CapKind::DiskIops);
    Outcome::said(answer.with("knee_bytes", knee))
}

pub(crate) fn vm(case: &Case) -> Outcome {
    let vm = edition(case.text("edition")).vm(case.text("vm")).expect("a size");
    let figure = |property: &str| Item::figure(vm, property);
    let properties = [
        ("vcpus", "vcpus"),
        ("memory_gib", "memory"),
        ("local_ssd_gib", "local_ssd"),
        ("os_disk_gib", "os_disk"),
        ("max_data_disks", "max_data_disks"),
        ("cache_gib", "cache"),
        ("iops", "uncached_iops"),
        ("throughput_mb_s", "uncached_throughput"),
        ("cached_iops_per_core", "cached_iops_per_core"),
        ("cached_mb_s_per_core", "cached_throughput_per_core"),
        ("cached_iops", "cached_iops"),
        ("cached_mb_s", "cached_throughput"),
    ];
    let add = |answer, (key, property): (&str, &str)| put(answer, key, figure(property));
    Outcome::said(properties.into_iter().fold(Answer::new(), add))
}

pub(crate) fn network_volume(case: &Case) -> Outcome {
    let edition = edition(case.text("edition"));
    let mut answer = Answer::new();
    let fact = |scope: &str, parameter: &str| edition.fact(scope, parameter);
    for (kind, scope) in [("regular", "volume.regular"), ("large", "volume.large")] {
        let sizes = [("min", "size_min"), ("max", "size_max")];
        for (end, parameter) in sizes {
            let Some(size) = fact(scope, parameter) else { continue };
            let gib = size.per_s as f64 / GIB;
            answer = answer.with(&format!("{kind}_{end}_gib"), gib);
            answer = answer.with(&format!("{kind}_{end}_tib"), gib / 1024.0);
        }
        if let Some(throughput) = fact(scope, "throughput_max") {
            answer = answer.with(&format!("{kind}_mib_s"), throughput.per_s as f64 / MIB);
        }
        let surface = format!("surface.{kind}.random");
        answer = put(answer, &format!("{kind}_read_iops"), fact(&surface, "read_iops"));
        answer = put(answer, &format!("{kind}_write_iops"), fact(&surface, "write_iops"));
    }
    if !case.has("volume") {
        return Outcome::said(answer);
    }
    let design = parse(&format!(
        "edition='{}'\n[[volume]]\nmount='/v0'\nservice='Ultra'\nquota='100TiB'\n",
        case.text("edition")
    ));
    let done = first(&design, &reads(64 * KIB));
    let answer = Answer::new().with("throughput_mib_s", done.bytes_per_s / MIB);
    Outcome::said(answer.binds(done.binds))
}

/// The smallest tier of premium disks that holds so much.
pub(crate) fn tier(case: &Case) -> Outcome {
    let edition = edition(case.text("edition"));
    let tiers = edition.disks().iter().filter(|disk| disk.family() == "Premium SSD");
    let sized: Vec<_> = tiers.filter_map(|disk| Some((disk.size()?.per_s, &disk.name))).collect();
    let pick = |gib: &f64| {
        let holds = sized.iter().filter(|(bytes, _)| *bytes as f64 >= gib * GIB);
        holds.min_by_key(|(bytes, _)| *bytes).map(|(_, name)| name.as_str())
    };
    let picked: Vec<_> = case.nums("size_gib").iter().map(pick).collect();
    Outcome::said(Answer::new().with("tier", picked))
}
