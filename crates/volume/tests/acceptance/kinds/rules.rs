//! Advice, ordering claims and contradictions of the sources.

use serde_json::Value;
use volume::design::{Backing, CacheMode};
use volume::limits::bound::least;
use volume::limits::{Bound, Flow, Load, cache, credit, network, size, stripe, surface, together};
use volume::{CapKind, Design};

use crate::answer::{Answer, Outcome};
use crate::table::{Case, number};

const KIB: u64 = 1024;

pub(crate) fn rule(case: &Case) -> Outcome {
    let answer = match case.text("rule") {
        "max_data_disks_2x_vcpu" => {
            let sizes = ["DS14", "GS5"].map(max_data_disks);
            Answer::new().with("max_data_disks", sizes.to_vec())
        }
        "max_stripe_members" => Answer::new()
            .with("ds_series", max_data_disks("DS14"))
            .with("gs_series", max_data_disks("GS5")),
        "default_host_cache" => default_host_cache(case.text("edition")),
        "stripe_unit_kib" => Answer::new()
            .with("oltp_kib", stripe::OLTP_CHUNK_BYTES / KIB)
            .with("dw_kib", stripe::WAREHOUSE_CHUNK_BYTES / KIB),
        "io_size_kib" => Answer::new()
            .with("oltp_kib", size::OLTP_IO_BYTES / KIB)
            .with("dw_kib", size::WAREHOUSE_IO_BYTES / KIB),
        "bench_runtime_s" => bench_runtime(),
        "mix_points" => {
            let points = |step: &f64| surface::sweep(*step as u32).len();
            let points: Vec<_> = case.nums("step_pct").iter().map(points).collect();
            Answer::new().with("points", points)
        }
        "maxdop" | "peak_factor_min" | "requirement_checklist" => {
            return Outcome::Waits("requirements");
        }
        "vdbench_run_default" | "vdbench_matrix" => return Outcome::Waits(super::VDBENCH),
        "max_combined_throughput_preset" => most_throughput(case),
        "fio_presets" => return Outcome::Waits("ready-made jobs"),
        "bench_layout" => bench_layout(case),
        rule => panic!("{}: no answer to `{rule}`", case.id),
    };
    answer.into()
}

fn max_data_disks(size: &str) -> u64 {
    let vm = catalog::edition("2018").and_then(|edition| edition.vm(size)).expect("a size");
    vm.max_data_disks().expect("published").per_s
}

fn default_host_cache(edition: &str) -> Answer {
    let word = |mode: Option<CacheMode>| match mode {
        Some(CacheMode::ReadWrite) => "ReadWrite",
        Some(CacheMode::ReadOnly) => "ReadOnly",
        Some(CacheMode::None) => "None",
        None => "must be set explicitly",
    };
    Answer::new()
        .with("os_disk", word(Some(cache::OS_DISK_MODE)))
        .with("data_disk", word(cache::data_disk_mode(edition)))
}

/// The design of the guide's benchmarks, as docs/designs has it: the stripe first.
pub(super) fn ds14() -> Design {
    let text = include_str!("../../../../../docs/designs/ds14.toml");
    let (design, findings) = volume::design::parse(text);
    design.unwrap_or_else(|| panic!("{findings:?}"))
}

/// Returns I/O size and depth of the job in docs/designs for the most throughput of [`ds14`].
pub(super) fn throughput_job() -> (u64, u32) {
    let text = include_str!("../../../../../docs/designs/ds14-throughput.fio");
    let value = |key: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(key));
        line.unwrap_or_else(|| panic!("no `{key}`"))
    };
    let size_kib: u64 = value("bs=").trim_end_matches('k').parse().expect("KiB");
    (size_kib * KIB, value("iodepth=").parse().expect("a depth"))
}

/// The ready-made job fills both paths of the machine.
fn most_throughput(case: &Case) -> Answer {
    let (size_bytes, queue_depth) = throughput_job();
    let load = |read_share: f64| Load {
        hit_ratio: read_share,
        queue_depth: Some(queue_depth),
        ..Load::new(size_bytes, read_share)
    };
    let flow = |(volume, read_share)| Flow { volume, load: load(read_share), demand: None };
    let all = together(&ds14(), &[(1, 1.0), (0, 0.0)].map(flow));
    let total: f64 = all.iter().map(|done| done.bytes_per_s).sum();
    let is_filled = all.iter().all(|done| {
        let bytes = [CapKind::VmCachedBytes, CapKind::VmUncachedBytes].map(Bound::Cap);
        bytes.contains(&done.binds)
    });
    assert!(is_filled, "{}: {all:?}", case.id);
    Answer::new()
        .with("io_kib", size_bytes / KIB)
        .with("queue_depth", queue_depth)
        .with("throughput_mb_s", total / 1e6)
        .binds(all[0].binds)
        .binds(all[1].binds)
}

fn bench_layout(case: &Case) -> Answer {
    let design = ds14();
    let vm = design.vm.as_ref().expect("a machine");
    let known = case.text("vm").trim_start_matches("Standard_");
    assert!(vm.size.ends_with(known), "{} is not {known}", vm.size);
    assert_eq!(vm.max_data_disks.map(f64::from), case.opt("max_data_disks"));
    let count = |mode: CacheMode| {
        let disks = design.volumes.iter().flat_map(|volume| match &volume.backing {
            Backing::Disks(stripe) => stripe.disks.as_slice(),
            Backing::Network(_) => &[],
        });
        disks.filter(|disk| disk.cache == mode).count()
    };
    let (striped, cached) = (count(CacheMode::None), count(CacheMode::ReadOnly));
    Answer::new()
        .with("disks", striped + cached)
        .with("striped_none", striped)
        .with("read_only", cached)
}

/// A short run shows what a P30 sustains, because it has no credits to spend.
fn bench_runtime() -> Answer {
    let p30 = catalog::edition("current").and_then(|edition| edition.disk("P30")).expect("a tier");
    let base = p30.iops().expect("published").per_s as f64;
    let burst = p30.burst_iops().map(|figure| figure.per_s as f64);
    Answer::new()
        .with("runtime_s", credit::SHORT_RUN_S)
        .with("valid_without_burst_credits", credit::short_run_is_representative(burst, base))
}

pub(crate) fn ordering(case: &Case) -> Outcome {
    match case.id.as_str() {
        // The transfer size does not matter where the volume's bytes bind and not its calls.
        "E-14" => {
            let rates = [64, 256].map(|kib: u64| {
                let calls = network::calls(size::WAREHOUSE_IO_BYTES, kib * KIB) as f64;
                let slots = network::slots(10, 8, network::SLOTS_PER_CONNECTION);
                let by_slots = network::slot_rate(slots, None, 2e-3) / calls;
                let ceiling = case_ceiling_bytes() / size::WAREHOUSE_IO_BYTES as f64;
                least(
                    None,
                    &[
                        (Bound::Cap(CapKind::VolumeCeiling), ceiling),
                        (Bound::Cap(CapKind::NfsSlots), by_slots),
                    ],
                )
                .rate
            });
            let is_similar = (rates[0] / rates[1] - 1.0).abs() < 0.05;
            Answer::new().with("effect", if is_similar { "similar" } else { "differs" }).into()
        }
        "E-07" => Outcome::Waits("an attribute cache (nocto, actimeo): it is the kernel client's"),
        "E-08" => Outcome::Waits("NFSv4.1: engine, exports and designs speak NFSv3 only"),
        id => panic!("{id}: no answer to this ordering"),
    }
}

/// Ceiling of the large volume that the claim is about.
fn case_ceiling_bytes() -> f64 {
    let edition = catalog::edition("2023").expect("an edition");
    edition.fact("volume.large", "throughput_max").expect("published").per_s as f64
}

pub(crate) fn note(case: &Case) -> Outcome {
    let Some(erratum) = volume::errata::of_case(&case.id) else {
        return one_client(case).into();
    };
    let printed: Vec<Value> = erratum.printed.iter().map(|&text| Value::from(text)).collect();
    let answer = Answer::new().with("printed_values", printed);
    match (case.opt("vms"), case.input.get("nic_mbit_s")) {
        (Some(n_machines), Some(mbit_s)) => {
            let each = size::bytes_of_megabits(number(mbit_s)) / f64::from(1 << 20);
            answer.with("egress_mib_s", n_machines * each).into()
        }
        _ => answer.into(),
    }
}

/// What one client was measured to reach. Where its network card would let more out than it wrote,
/// it is the client that binds.
fn one_client(case: &Case) -> Answer {
    let edition = catalog::edition("current").expect("an edition");
    let scope = format!("client.{}.nconnect-{}", case.text("vm"), case.num("nconnect"));
    let measured = |parameter: &str| edition.fact(&scope, parameter).map(|figure| figure.value);
    let parameters =
        ["read_mib_s", "write_mib_s", "read_iops", "write_iops", "read_gain", "write_gain"];
    let mut answer = Answer::new();
    for parameter in parameters {
        if let Some(value) = measured(parameter) {
            answer = answer.with(parameter, value);
        }
    }
    let egress_mib_s = size::bytes_of_megabits(case.num("nic_mbit_s")) / f64::from(1 << 20);
    if measured("write_mib_s").is_some_and(|write_mib_s| write_mib_s < egress_mib_s) {
        answer.binds.push("client");
    }
    answer
}
