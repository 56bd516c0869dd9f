//! Advice, ordering claims and contradictions of the sources.

use serde_json::Value;
use volume::CapKind;
use volume::design::{Backing, CacheMode};
use volume::limits::size::{OLTP_IO_BYTES, WAREHOUSE_IO_BYTES};
use volume::limits::{Flow, Load, together};

use super::product::{KIB, MIB, ds14, first, parse, reads, warmed, within_a_gib};
use super::{ready_made, search};
use crate::answer::{Answer, Outcome};
use crate::rig::Stream;
use crate::table::Case;

pub(crate) fn rule(case: &Case) -> Outcome {
    Outcome::said(match case.text("rule") {
        "max_data_disks_2x_vcpu" => {
            let sizes = ["DS14", "GS5"].map(max_data_disks);
            Answer::new().with("max_data_disks", sizes.to_vec())
        }
        "max_stripe_members" => Answer::new()
            .with("ds_series", max_data_disks("DS14"))
            .with("gs_series", max_data_disks("GS5")),
        "default_host_cache" => default_host_cache(case.text("edition")),
        "stripe_unit_kib" => return search::stripe_unit(),
        "maxdop" => return search::most_threads(case),
        // The sizes that `limits` answers for unless it is given others.
        "io_size_kib" => Answer::new()
            .with("oltp_kib", OLTP_IO_BYTES / KIB)
            .with("dw_kib", WAREHOUSE_IO_BYTES / KIB),
        "bench_runtime_s" => bench_runtime(),
        "mix_points" => {
            let points = |step: &f64| 1 + (100.0 / step) as u32;
            let points: Vec<_> = case.nums("step_pct").iter().map(points).collect();
            return Outcome::Arithmetic(Answer::new().with("points", points));
        }
        "peak_factor_min" => ready_made::peak_factor(),
        "requirement_checklist" => ready_made::checklist(),
        "vdbench_run_default" => ready_made::run_defaults(),
        "vdbench_matrix" => ready_made::matrix(),
        "max_combined_throughput_preset" => return most_throughput(),
        "fio_presets" => ready_made::presets(),
        "bench_layout" => bench_layout(case),
        rule => panic!("{}: no answer to `{rule}`", case.id),
    })
}

fn max_data_disks(size: &str) -> u64 {
    let vm = catalog::edition("2018").and_then(|edition| edition.vm(size)).expect("a size");
    vm.max_data_disks().expect("published").per_s
}

/// What the parser says of a disk whose cache is not stated, beside what the guide's errata say.
fn default_host_cache(edition: &str) -> Answer {
    let toml = format!("edition='{edition}'\n[[volume]]\nmount='/v0'\ndisk='P30'\n");
    let (_, findings) = volume::design::parse(&toml);
    let note = findings.iter().find(|finding| finding.code == "cache-default");
    let help = note.map(|note| note.help.join(" ")).unwrap_or_default();
    let mut answer = Answer::new();
    if help.contains("say which") {
        answer = answer.with("data_disk", "must be set explicitly");
    }
    if help.contains("the disk of the system has ReadWrite") {
        answer = answer.with("os_disk", "ReadWrite");
    }
    answer
}

/// Returns I/O size and depth of the job in docs/designs for the most throughput of [`ds14`].
fn throughput_job() -> (u64, u32) {
    let text = include_str!("../../../../../docs/designs/ds14-throughput.fio");
    let value = |key: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(key));
        line.unwrap_or_else(|| panic!("no `{key}`"))
    };
    let size_kib: u64 = value("bs=").trim_end_matches('k').parse().expect("KiB");
    (size_kib * KIB, value("iodepth=").parse().expect("a depth"))
}

/// The ready-made job fills both paths of the machine: the stripe stands first in the design.
fn most_throughput() -> Outcome {
    let (size_bytes, queue_depth) = throughput_job();
    let design = ds14();
    let load = |read_share: f64| Load {
        hit_ratio: read_share,
        queue_depth: Some(queue_depth),
        ..Load::new(size_bytes, read_share)
    };
    let flow = |(volume, read_share)| Flow { volume, load: load(read_share), demand: None };
    let all = together(&design, &[(1, 1.0), (0, 0.0)].map(flow));
    let answer = |bytes_per_s: f64| {
        Answer::new()
            .with("io_kib", size_bytes / KIB)
            .with("queue_depth", queue_depth)
            .with("throughput_mb_s", bytes_per_s / 1e6)
    };
    let depth = queue_depth as usize;
    let writes = Stream { read_share: 0.0, ..Stream::new(depth, size_bytes) };
    let rig = warmed(&design, vec![within_a_gib(depth, size_bytes).on(1), writes]);
    let is_full = |kind: CapKind| rig.used(kind) > 0.98;
    assert!(is_full(CapKind::VmCachedBytes) && is_full(CapKind::VmUncachedBytes), "not filled");
    Outcome::both(
        answer(all.iter().map(|done| done.bytes_per_s).sum())
            .binds(all[0].binds)
            .binds(all[1].binds),
        answer(rig.seen(0).bytes_per_s + rig.seen(1).bytes_per_s),
    )
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

/// A short run shows what a P30 sustains: with credits `limits` answers as it does without.
fn bench_runtime() -> Answer {
    let job = include_str!("../../../../../docs/designs/ds14-write.fio");
    let seconds = job.lines().find_map(|line| line.strip_prefix("runtime="));
    let seconds: u64 = seconds.expect("a run time").parse().expect("seconds");
    let design = parse("[[volume]]\nmount='/v0'\ndisk='P30'\ncache='None'\n");
    let rate = |with_credits| first(&design, &Load { with_credits, ..reads(8 * KIB) }).iops;
    let is_sustained = rate(true) <= rate(false);
    Answer::new().with("runtime_s", seconds).with("valid_without_burst_credits", is_sustained)
}

pub(crate) fn ordering(case: &Case) -> Outcome {
    match case.id.as_str() {
        // The transfer size does not matter where the volume's bytes bind and not its calls.
        "E-14" => {
            let rates = [64, 256].map(|kib: u64| {
                let client = "[[client]]\nnconnect=8\n".repeat(10);
                let design = parse(&format!(
                    "edition='2023'\n[[volume]]\nmount='/v0'\nservice='Ultra'\n\
                     quota='101TiB'\nlarge=true\nmix='sequential-256k'\nlatency='2ms'\n\
                     transfer='{kib}KiB'\n{client}"
                ));
                first(&design, &reads(MIB)).iops
            });
            let is_similar = (rates[0] / rates[1] - 1.0).abs() < 0.05;
            let effect = if is_similar { "similar" } else { "differs" };
            Outcome::said(Answer::new().with("effect", effect))
        }
        "E-07" => Outcome::Waits(
            "an attribute cache (nocto, actimeo): the kernel's client answers from it before any \
             call that a volume sees. Of the three changes nconnect alone is N-15; the source \
             draws all of them, without a figure",
        ),
        "E-08" => Outcome::Waits(
            "NFSv4.1: engine, exports and designs speak NFSv3 only. The source draws both, without \
             a figure or a reason that a model could follow",
        ),
        id => panic!("{id}: no answer to this ordering"),
    }
}

pub(crate) fn note(case: &Case) -> Outcome {
    let Some(erratum) = crate::erratum_of(&case.id) else { return one_client(case) };
    let printed: Vec<Value> = erratum.printed.iter().map(|&text| Value::from(text)).collect();
    let said = Answer::new().with("printed_values", printed);
    let Some(n_machines) = case.opt("vms") else { return Outcome::said(said) };
    let design = parse(&format!(
        "edition='2024'\n[[volume]]\nmount='/v0'\nservice='Ultra'\nquota='100TiB'\n\
         mix='published'\n{}",
        "[[client]]\nvm='D32s_v5'\n".repeat(n_machines as usize)
    ));
    let done = first(&design, &Load::new(64 * KIB, 0.0));
    let egress = super::product::cap(&done, CapKind::VmEgress).0.per_s;
    Outcome::said(said.with("egress_mib_s", egress / MIB as f64))
}

/// What one client was measured to reach, by the catalogue.
fn one_client(case: &Case) -> Outcome {
    let edition = catalog::edition("current").expect("an edition");
    let scope = format!("client.{}.nconnect-{}", case.text("vm"), case.num("nconnect"));
    let add = |answer: Answer, parameter: &&str| match edition.fact(&scope, parameter) {
        Some(figure) => answer.with(parameter, figure.value),
        None => answer,
    };
    let parameters =
        ["read_mib_s", "write_mib_s", "read_iops", "write_iops", "read_gain", "write_gain"];
    Outcome::said(parameters.iter().fold(Answer::new(), add))
}
