//! Disks, stripes, virtual machines and queue depths.

use serde_json::{Value, json};
use volume::CapKind;
use volume::limits::bound::{count_for, first_come, headroom, least, water_fill};
use volume::limits::size::{Megabyte, at_size, io_units, second};
use volume::limits::{Bound, queue, stripe, surface};

use crate::answer::Answer;
use crate::table::{Case, number};

const MS: f64 = 1e-3;
const KIB: f64 = 1024.0;

pub(crate) fn io_size(case: &Case) -> Answer {
    let reading = match case.text("unit") {
        "binary" => Megabyte::Binary,
        "decimal" => Megabyte::Decimal,
        "kib1000" => Megabyte::Kib1000,
        _ => Megabyte::Published,
    };
    let io_kib = case.num("io_kib");
    let at = at_size(case.num("disk_iops"), case.num("disk_mb_s"), io_kib, reading);
    Answer::new().with("iops", at.iops).with("throughput_mb_s", at.mb_s).binds(at.binds)
}

pub(crate) fn stripe_sum(case: &Case) -> Answer {
    let n_disks = case.num("disks") as u32;
    let iops = case.num("disk_iops");
    let dialog = stripe::DIALOG_COLUMNS_MAX;
    let one_stream = stripe::sum(stripe::stream_disks(n_disks, dialog), iops);
    let answer = Answer::new()
        .with("iops", stripe::sum(n_disks, iops))
        .with("columns", stripe::stream_disks(n_disks, n_disks))
        .with("ui_columns_max", dialog)
        .with("iops_one_stream_8_columns", one_stream);
    let answer = match case.opt("disk_mb_s") {
        Some(mb_s) => answer.with("throughput_mb_s", stripe::sum(n_disks, mb_s)),
        None => answer,
    };
    if case.binds.is_empty() { answer } else { answer.binds(Bound::Cap(CapKind::DiskIops)) }
}

pub(crate) fn count_disks(case: &Case) -> Answer {
    Answer::new().with("disks", count_for(case.num("need_iops"), case.num("disk_iops")))
}

pub(crate) fn stripe_io(case: &Case) -> Answer {
    let (n_disks, size_bytes) = (case.num("disks") as u32, case.num("io_bytes") as u64);
    let chunk_bytes = (case.num("chunk_kib") * KIB) as u64;
    let rates = |align: f64| {
        let split = stripe::split(size_bytes, align as u64, chunk_bytes, Some(256 << 10));
        let bytes_per_s = case.num("disk_mb_s") * 1e6;
        (split, stripe::rate(n_disks, case.num("disk_iops"), bytes_per_s, size_bytes, split))
    };
    let all: Vec<_> = case.nums("align_bytes").into_iter().map(rates).collect();
    Answer::new()
        .with("sub_ios", all.iter().map(|all| all.0.sub_ios).collect::<Vec<_>>())
        .with("iops_side", all.iter().map(|all| all.1.by_iops).collect::<Vec<_>>())
        .with("mb_side_iops", all.iter().map(|all| all.1.by_bytes).collect::<Vec<_>>())
        .with("app_iops", all.iter().map(|all| all.1.iops).collect::<Vec<_>>())
        .binds(all[0].1.binds)
}

pub(crate) fn stripe_busy(case: &Case) -> Answer {
    let (n_disks, queue_depth) = (case.num("disks") as u32, case.num("queue_depth") as u32);
    let busy_max = stripe::busy_max(n_disks, queue_depth);
    Answer::new()
        .with("busy_max", busy_max)
        .with("idle_min", n_disks - busy_max)
        .with("busy_expected_random", stripe::busy_expected(n_disks, queue_depth))
}

pub(crate) fn stripe_queue(case: &Case) -> Answer {
    let n_disks = case.num("disks") as u32;
    let answer = Answer::new();
    if case.has("per_disk_min") {
        let depth = |key: &str| stripe::queue_depth(n_disks, case.num(key));
        return answer
            .with("queue_depth_low", depth("per_disk_min"))
            .with("queue_depth_high", depth("per_disk_max"));
    }
    let per_disk = queue::in_flight(case.num("disk_iops"), case.num("latency_ms") * MS);
    answer.with("queue_depth", stripe::queue_depth(n_disks, per_disk))
}

/// Demand, virtual machine and disks in one of the two units.
pub(crate) fn vm_plus_disk(case: &Case) -> Answer {
    let unit = if case.has("vm_iops") { "iops" } else { "mb_s" };
    let demand = case.opt(&format!("demand_{unit}"));
    let vm = case.num(&format!("vm_{unit}"));
    let disks = case.list("disks").iter();
    let disks = disks.map(|disk| stripe::sum(number(&disk["count"]) as u32, number(&disk[unit])));
    let n_disks: f64 = case.list("disks").iter().map(|disk| number(&disk["count"])).sum();
    let least = least(demand, &[(of_disk(unit), disks.sum()), (of_vm(unit), vm)]);
    let share = water_fill(&vec![f64::INFINITY; n_disks as usize], least.rate)[0];
    Answer::new()
        .with(&format!("achieved_{unit}"), least.rate)
        .with(&format!("cap_{unit}"), least.cap)
        .with(&format!("share_{unit}_each"), share)
        .with(&format!("vm_headroom_{unit}"), vm - least.rate)
        .binds(least.binds)
}

fn of_disk(unit: &str) -> Bound {
    if unit == "iops" { Bound::Cap(CapKind::DiskIops) } else { Bound::Cap(CapKind::DiskBytes) }
}

fn of_vm(unit: &str) -> Bound {
    if unit == "iops" {
        Bound::Cap(CapKind::VmUncachedIops)
    } else {
        Bound::Cap(CapKind::VmUncachedBytes)
    }
}

pub(crate) fn vm_plus_disk_series(case: &Case) -> Answer {
    let all: Vec<_> = case
        .nums("counts")
        .iter()
        .map(|count| {
            let disks = stripe::sum(*count as u32, case.num("disk_iops"));
            let vm = case.num("vm_iops");
            least(
                None,
                &[
                    (Bound::Cap(CapKind::DiskIops), disks),
                    (Bound::Cap(CapKind::VmUncachedIops), vm),
                ],
            )
        })
        .collect();
    let answer = Answer::new().with("cap_iops", all.iter().map(|all| all.cap).collect::<Vec<_>>());
    all.iter().fold(answer, |answer, all| answer.binds(all.binds))
}

/// The need in bytes against the machine's cap in two readings of its MB.
pub(crate) fn vm_plus_disk_io(case: &Case) -> Answer {
    let need = surface::throughput(case.num("need_iops"), case.num("io_bytes"));
    let vm_mb_s = case.num("vm_mb_s");
    let caps = |reading: Megabyte| {
        let disks = case.num("disk_mb_s") * 1e6;
        let vm = vm_mb_s * reading.bytes();
        least(
            Some(need),
            &[(Bound::Cap(CapKind::DiskBytes), disks), (Bound::Cap(CapKind::VmUncachedBytes), vm)],
        )
    };
    let (decimal, kib1000) = (caps(Megabyte::Decimal), caps(Megabyte::Kib1000));
    let knee = volume::limits::size::knee_bytes(case.num("need_iops"), decimal.cap);
    Answer::new()
        .with("need_bytes_per_s", need)
        .with("knee_bytes_decimal", knee)
        .with("fits_decimal", decimal.binds == Bound::Nothing)
        .with("fits_kib1000", kib1000.binds == Bound::Nothing)
        .with("headroom_kib1000_pct", headroom(kib1000.cap, need) * 100.0)
        .binds(decimal.binds)
}

pub(crate) fn vm_pair(case: &Case) -> Answer {
    let disk = (Bound::Cap(CapKind::DiskIops), case.num("disk_iops"));
    let path = |bound: Bound, key: &str| least(None, &[disk, (bound, case.num(key))]);
    let uncached = path(Bound::Cap(CapKind::VmUncachedIops), "vm_uncached_iops");
    let cached = path(Bound::Cap(CapKind::VmCachedIops), "vm_cached_iops");
    Answer::new()
        .with("uncached_iops", uncached.rate)
        .with("cached_iops", cached.rate)
        .binds(uncached.binds)
        .binds(cached.binds)
}

pub(crate) fn water_fill_case(case: &Case) -> Answer {
    let (needs, vm) = (case.nums("disk_mb_s"), case.num("vm_mb_s"));
    let shares = first_come(&needs, vm);
    let disks = needs.iter().sum();
    let least = least(
        None,
        &[(Bound::Cap(CapKind::DiskBytes), disks), (Bound::Cap(CapKind::VmUncachedBytes), vm)],
    );
    let answer = Answer::new().with("total_mb_s", shares.iter().sum::<f64>());
    answer.with("shares_mb_s", shares).binds(least.binds)
}

pub(crate) fn vm_cached_limit(case: &Case) -> Answer {
    let mut caps = vec![(Bound::Cap(CapKind::VmCachedIops), case.num("cached_iops"))];
    if case.has("cached_mb_s") {
        let bytes_per_s = case.num("cached_mb_s") * case.num("mb_bytes");
        caps.push((Bound::Cap(CapKind::VmCachedBytes), bytes_per_s / (case.num("io_kib") * KIB)));
    }
    let least = least(None, &caps);
    Answer::new().with("iops", least.rate).binds(least.binds)
}

/// Two paths with caps of their own, which add.
pub(crate) fn cached_plus_uncached(case: &Case) -> Answer {
    if case.has("cached_mb_s") {
        let cached = least(None, &[(Bound::Cap(CapKind::VmCachedBytes), case.num("cached_mb_s"))]);
        let uncached =
            least(None, &[(Bound::Cap(CapKind::VmUncachedBytes), case.num("uncached_mb_s"))]);
        let total = Answer::new().with("throughput_mb_s", cached.rate + uncached.rate);
        return total.binds(cached.binds).binds(uncached.binds);
    }
    let cached = least(None, &[(Bound::Cap(CapKind::VmCachedIops), case.num("cached_iops"))]);
    let uncached = least(None, &[(Bound::Cap(CapKind::DiskIops), case.num("uncached_iops"))]);
    let total = Answer::new().with("iops", cached.rate + uncached.rate);
    total.binds(cached.binds).binds(uncached.binds)
}

pub(crate) fn cached_plus_uncached_disks(case: &Case) -> Answer {
    let disks = |key: &str| stripe::sum(case.num(key) as u32, case.num("disk_iops"));
    let cached_cap = case.num("vm_cached_iops");
    let uncached_cap = case.num("vm_uncached_iops");
    let cached =
        least(Some(disks("cached_disks")), &[(Bound::Cap(CapKind::VmCachedIops), cached_cap)]);
    let uncached = least(
        Some(disks("uncached_disks")),
        &[(Bound::Cap(CapKind::VmUncachedIops), uncached_cap)],
    );
    let binds = if cached.binds == Bound::Nothing { uncached.binds } else { cached.binds };
    Answer::new()
        .with("achieved_iops", cached.rate + uncached.rate)
        .with("cached_iops", cached.rate)
        .with("uncached_iops", uncached.rate)
        .with("cached_consumed_pct", cached.rate / cached_cap * 100.0)
        .with("uncached_consumed_pct", uncached.rate / uncached_cap * 100.0)
        .with("vm_total_iops", cached_cap + uncached_cap)
        .binds(binds)
}

pub(crate) fn mb_unit(case: &Case) -> Answer {
    let bytes_per_s = case.num("mb") * case.num("mb_bytes");
    let mut caps = Vec::new();
    if case.has("disks") {
        let disks = stripe::sum(case.num("disks") as u32, case.num("disk_mb_s") * 1e6);
        caps = vec![
            (Bound::Cap(CapKind::DiskBytes), disks),
            (Bound::Cap(CapKind::VmUncachedBytes), bytes_per_s),
        ];
    }
    if caps.is_empty() {
        caps.push((Bound::Cap(CapKind::VmCachedBytes), bytes_per_s));
    }
    let least = least(None, &caps);
    Answer::new().with("throughput_mb_s", least.rate / 1e6).binds(least.binds)
}

pub(crate) fn io_unit(case: &Case) -> Answer {
    let unit_bytes = (case.num("unit_kib") * KIB) as u64;
    if !case.has("ops") {
        let len_bytes = (case.num("io_kib") * KIB) as u64;
        return Answer::new().with("units", io_units(len_bytes, Some(unit_bytes)));
    }
    let pair = |op: &Value| (number(&op["count"]) as u64, (number(&op["io_kib"]) * KIB) as u64);
    let ios: Vec<_> = case.list("ops").iter().map(pair).collect();
    let mb_bytes = case.opt("mb_bytes").unwrap_or(1e6);
    let bytes_per_s = case.opt("disk_mb_s").map(|mb_s| mb_s * mb_bytes);
    let second = second(&ios, unit_bytes, case.num("disk_iops"), bytes_per_s);
    Answer::new()
        .with("units", second.units)
        .with("throughput_mb_s", second.bytes as f64 / mb_bytes)
        .with("throttled", second.throttled)
        .binds(second.binds)
}

pub(crate) fn queue_depth(case: &Case) -> Answer {
    let in_flight = queue::in_flight(case.num("iops"), case.num("latency_ms") * MS);
    Answer::new().with("queue_depth", in_flight).with("threads", queue::threads(in_flight))
}

pub(crate) fn queue_depth_inverse(case: &Case) -> Answer {
    let settle = |ms: &f64| queue::settle(case.num("concurrency"), ms * MS, &[]);
    let all: Vec<_> = case.nums("latency_ms").iter().map(settle).collect();
    let iops: Vec<f64> = all.iter().map(|settled| settled.iops).collect();
    Answer::new().with("iops", iops).binds(all[0].binds)
}

/// Caps of one disk at an I/O size, as rates of I/Os.
fn disk_caps(case: &Case) -> [(Bound, f64); 2] {
    let bytes_per_s = case.num("disk_mb_s") * 1e6;
    let by_bytes = bytes_per_s / (case.num("io_kib") * KIB);
    [
        (Bound::Cap(CapKind::DiskIops), case.num("disk_iops")),
        (Bound::Cap(CapKind::DiskBytes), by_bytes),
    ]
}

pub(crate) fn closed_loop(case: &Case) -> Answer {
    let base_latency_s = case.num("base_latency_ms") * MS;
    // Of equal rates the cap binds: it is listed before the depth.
    let settled = queue::settle(case.num("queue_depth"), base_latency_s, &disk_caps(case));
    Answer::new()
        .with("iops", settled.iops)
        .with("mean_latency_ms", settled.latency_s / MS)
        .binds(settled.binds)
}

/// Latency of a medium that the fio jobs of the guide do not state; far below what they queue.
const FIO_BASE_LATENCY_S: f64 = 1e-3;

pub(crate) fn fio_bench(case: &Case) -> Answer {
    let in_flight = case.num("jobs") * case.num("iodepth");
    let io_bytes = case.num("io_kib") * KIB;
    let caps = if case.has("cached_iops") {
        let by_bytes = case.num("cached_mb_s") * case.num("mb_bytes") / io_bytes;
        vec![
            (Bound::Cap(CapKind::VmCachedIops), case.num("cached_iops")),
            (Bound::Cap(CapKind::VmCachedBytes), by_bytes),
        ]
    } else {
        let disk = &case.list("disks")[0];
        let disks = stripe::sum(number(&disk["count"]) as u32, number(&disk["iops"]));
        let by_bytes = case.num("vm_mb_s") * 1e6 / io_bytes;
        vec![
            (Bound::Cap(CapKind::DiskIops), disks),
            (Bound::Cap(CapKind::VmUncachedIops), case.num("vm_iops")),
            (Bound::Cap(CapKind::VmUncachedBytes), by_bytes),
        ]
    };
    let settled = queue::settle(in_flight, FIO_BASE_LATENCY_S, &caps);
    let p30 = super::lookups::disk_iops("2018", "P30");
    Answer::new()
        .with("iops", settled.iops)
        .with("mean_latency_ms", settled.latency_s / MS)
        .with("throughput_mb_s", surface::throughput(settled.iops, io_bytes) / 1e6)
        .with("ratio_to_one_p30", settled.iops / p30)
        .binds(settled.binds)
}

pub(crate) fn fio_mix(case: &Case) -> Answer {
    let asked = stripe::sum(case.num("writers") as u32, case.num("rate_iops_per_writer"));
    let writes = least(Some(asked), &[(Bound::Cap(CapKind::DiskIops), case.num("uncached_iops"))]);
    let reads = least(None, &[(Bound::Cap(CapKind::VmCachedIops), case.num("cached_iops"))]);
    let floor = case.expect["printed_floor_iops"].as_f64().expect("a number");
    let printed_floor_is_met = writes.rate + reads.rate >= floor;
    Answer::new()
        .with("write_iops", writes.rate)
        .with("read_iops_max", reads.rate)
        .with("total_iops_max", writes.rate + reads.rate)
        .with("printed_floor_iops", if printed_floor_is_met { json!(floor) } else { Value::Null })
        .with("read_iops_needed", floor - writes.rate)
        .binds(writes.binds)
        .binds(reads.binds)
}

pub(crate) fn headroom_case(case: &Case) -> Answer {
    let need = case.num("need_iops");
    let (disk, vm) = (case.num("disk_iops"), case.num("vm_iops"));
    let least = least(
        None,
        &[(Bound::Cap(CapKind::DiskIops), disk), (Bound::Cap(CapKind::VmUncachedIops), vm)],
    );
    Answer::new()
        .with("disk_headroom_pct", headroom(disk, need) * 100.0)
        .with("vm_headroom_pct", headroom(vm, need) * 100.0)
        .binds(least.binds)
}
