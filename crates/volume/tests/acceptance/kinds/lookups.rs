//! What the catalogue says.

use catalog::{Edition, Figure, Item, VolumeKind};
use volume::CapKind;
use volume::limits::size::knee_bytes;

use crate::answer::Answer;
use crate::table::Case;

const GIB: f64 = 1_073_741_824.0;
const MIB: f64 = 1_048_576.0;

fn edition(name: &str) -> &'static Edition {
    // The training module on EDA workloads has an edition named by its year.
    let name = if name == "eda-module" { "2023" } else { name };
    catalog::edition(name).expect("an edition")
}

/// Returns the I/Os per second of a tier.
pub(crate) fn disk_iops(edition_name: &str, tier: &str) -> f64 {
    let disk = edition(edition_name).disk(tier).expect("a tier");
    disk.iops().expect("published").per_s as f64
}

/// Adds a figure in the unit it was published in; one that is unknown stays out.
fn put(answer: Answer, key: &str, figure: Option<&Figure>) -> Answer {
    match figure {
        Some(figure) => answer.with(key, figure.value),
        None => answer,
    }
}

pub(crate) fn disk(case: &Case) -> Answer {
    let disk = edition(case.text("edition")).disk(case.text("disk")).expect("a tier");
    let (iops, throughput) = (disk.iops(), disk.throughput());
    let answer = put(Answer::new(), "size_gib", disk.size());
    let answer = put(put(answer, "iops", iops), "throughput_mb_s", throughput);
    match (iops, throughput) {
        (Some(iops), Some(throughput)) => {
            answer.with("knee_bytes", knee_bytes(iops.per_s as f64, throughput.per_s as f64))
        }
        _ => answer,
    }
}

pub(crate) fn vm(case: &Case) -> Answer {
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
    properties.into_iter().fold(Answer::new(), add)
}

pub(crate) fn network_volume(case: &Case) -> Answer {
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
        return answer;
    }
    let kind = VolumeKind::Regular;
    let most = fact(&format!("volume.{}", kind.as_str()), "throughput_max").expect("published");
    let answer = answer.with("throughput_mib_s", most.value);
    answer.binds(volume::limits::Bound::Cap(CapKind::VolumeCeiling))
}

/// The smallest tier of premium disks that holds so much.
pub(crate) fn tier(case: &Case) -> Answer {
    let edition = edition(case.text("edition"));
    let tiers = edition.disks().iter().filter(|disk| disk.family() == "Premium SSD");
    let sized: Vec<_> = tiers.filter_map(|disk| Some((disk.size()?.per_s, &disk.name))).collect();
    let pick = |gib: &f64| {
        let holds = sized.iter().filter(|(bytes, _)| *bytes as f64 >= gib * GIB);
        holds.min_by_key(|(bytes, _)| *bytes).map(|(_, name)| name.as_str())
    };
    let picked: Vec<_> = case.nums("size_gib").iter().map(pick).collect();
    Answer::new().with("tier", picked)
}
