//! The same cases by runs of the real [`volume::System`] in virtual time.

use serde_json::Value;
use volume::CapKind;
use volume::design::{CacheMode, Cap, Ceiling, Client, Design, Pool, Volume};
use volume::limits::{Bound, credit};

use super::rules;
use crate::answer::Answer;
use crate::rig::{self, Rig, S, Stream, brief, cap, design, disks, network, steady, vm};
use crate::table::{Case, number};

const KIB: f64 = 1024.0;
const MIB: f64 = 1_048_576.0;
const MB: f64 = 1e6;
const MS: f64 = 1e-3;

/// Size of I/Os where I/Os are counted, and where bytes are.
const SMALL: u64 = 8 << 10;
const LARGE: u64 = 64 << 10;

/// In flight where the depth shall not bind.
const DEEP: usize = 1024;

/// Runs a case, if its kind can be run.
pub(crate) fn answer(case: &Case) -> Option<Answer> {
    let answer = match case.kind.as_str() {
        "io_size" => io_size(case)?,
        "emulator_closed_loop" => closed_loop(case),
        "rule" if case.text("rule") == "max_combined_throughput_preset" => most_throughput(),
        "vm_plus_disk" => vm_plus_disk(case),
        "vm_plus_disk_series" => vm_plus_disk_series(case),
        "stripe" => stripe(case),
        "stripe_io" => stripe_io(case),
        "fio_bench" => fio_bench(case),
        "fio_mix" => fio_mix(case),
        "vm_pair" => vm_pair(case),
        "cached_plus_uncached" => cached_plus_uncached(case),
        "cached_plus_uncached_disks" => cached_plus_uncached_disks(case),
        "cache" => cache_load(case),
        "cache_reads" => cache_reads(case),
        "cache_mix" => cache_mix(case),
        "cache_warmup" => warm_up(case),
        "burst_credit" => burst(case),
        "io_units" => io_units(case)?,
        "vm_burst" => vm_burst(case),
        "anf_volume_cap" => volume_cap(case),
        "anf_manual_qos" => manual_qos(case),
        "nfs_slots" => nfs_slots(case)?,
        "mix_random" => mix_random(case),
        "mix_seq" => mix_sequential(case),
        "fio_anf" => fio_anf(case),
        _ => return None,
    };
    Some(answer)
}

fn with_binds(answer: Answer, rig: &Rig, otherwise: Bound) -> Answer {
    answer.binds(rig.binds().unwrap_or(otherwise))
}

/// One disk at one size; the published mode is a way to print, not to run.
fn io_size(case: &Case) -> Option<Answer> {
    let mb_bytes = match case.text("unit") {
        "binary" => MIB,
        "decimal" => MB,
        "kib1000" => 1_024_000.0,
        _ => return None,
    };
    let cap = cap(case.num("disk_iops"), case.num("disk_mb_s") * mb_bytes);
    let design = design(None, vec![disks(1, cap, CacheMode::None)]);
    let size_bytes = (case.num("io_kib") * KIB) as u64;
    let rig = steady(&design, vec![Stream::new(128, size_bytes)]);
    let seen = rig.seen(0);
    let answer =
        Answer::new().with("iops", seen.iops).with("throughput_mb_s", seen.bytes_per_s / mb_bytes);
    Some(with_binds(answer, &rig, Bound::QueueDepth))
}

fn closed_loop(case: &Case) -> Answer {
    let cap = cap(case.num("disk_iops"), case.num("disk_mb_s") * MB);
    let mut volume = disks(1, cap, CacheMode::None);
    volume.latency.mean_ns = (case.num("base_latency_ms") * MS * S as f64) as u64;
    let size_bytes = (case.num("io_kib") * KIB) as u64;
    let stream = Stream::new(case.num("queue_depth") as usize, size_bytes);
    let rig = steady(&design(None, vec![volume]), vec![stream]);
    let seen = rig.seen(0);
    let answer =
        Answer::new().with("iops", seen.iops).with("mean_latency_ms", seen.mean_latency_s / MS);
    with_binds(answer, &rig, Bound::QueueDepth)
}

/// Disks of a case as volumes of one disk each, with caps in one of the two units.
fn volumes(case: &Case, unit: &str, of: f64) -> Vec<Volume> {
    let mut volumes = Vec::new();
    for group in case.list("disks") {
        let per_s = number(&group[unit]) * of;
        let cap = if unit == "iops" { cap(per_s, 0.0) } else { cap(0.0, per_s) };
        for _ in 0..number(&group["count"]) as u64 {
            volumes.push(disks(1, cap.clone(), CacheMode::None));
        }
    }
    volumes
}

fn vm_plus_disk(case: &Case) -> Answer {
    let is_iops = case.has("vm_iops");
    let (unit, of, size) = if is_iops { ("iops", 1.0, SMALL) } else { ("mb_s", MB, LARGE) };
    let per_s = case.num(&format!("vm_{unit}")) * of;
    let cap = if is_iops { cap(per_s, 0.0) } else { cap(0.0, per_s) };
    let volumes = volumes(case, unit, of);
    let n_volumes = volumes.len();
    let demand = case.opt(&format!("demand_{unit}"));
    let in_ios = if is_iops { 1.0 } else { MB / size as f64 };
    let streams = (0..n_volumes).map(|idx| match demand {
        Some(demand) => Stream::at_rate(demand * in_ios / n_volumes as f64, size).on(idx),
        None => Stream::new(DEEP, size).on(idx),
    });
    let rig = steady(&design(vm(cap, Cap::default()), volumes), streams.collect());
    let of_volumes: Vec<f64> = (0..n_volumes).map(|idx| rig.seen(idx).iops / in_ios).collect();
    let achieved: f64 = of_volumes.iter().sum();
    let answer = Answer::new().with("share_iops_each", of_volumes[0]);
    match demand {
        Some(demand) => {
            let is_met = achieved >= demand * 0.995;
            let bound = if is_met { Bound::Nothing } else { rig.binds().unwrap_or(Bound::Nothing) };
            answer.with(&format!("achieved_{unit}"), achieved).binds(bound)
        }
        None => with_binds(answer.with(&format!("cap_{unit}"), achieved), &rig, Bound::Nothing),
    }
}

fn vm_plus_disk_series(case: &Case) -> Answer {
    let vm_iops = case.num("vm_iops");
    let mut answer = Answer::new();
    let mut rates = Vec::new();
    for count in case.nums("counts") {
        let disk = cap(case.num("disk_iops"), 0.0);
        let volumes = vec![disks(count as u32, disk, CacheMode::None)];
        let design = design(vm(cap(vm_iops, 0.0), Cap::default()), volumes);
        let rig = steady(&design, vec![Stream::new(DEEP, SMALL)]);
        rates.push(rig.seen(0).iops);
        answer = with_binds(answer, &rig, Bound::Nothing);
    }
    answer.with("cap_iops", rates)
}

fn stripe(case: &Case) -> Answer {
    let n_disks = case.num("disks") as u32;
    let run = |cap: Cap, size: u64| {
        let design = design(None, vec![disks(n_disks, cap, CacheMode::None)]);
        steady(&design, vec![Stream::new(DEEP * 4, size)])
    };
    let small = run(cap(case.num("disk_iops"), 0.0), SMALL);
    let answer = Answer::new().with("iops", small.seen(0).iops);
    let answer = match case.opt("disk_mb_s") {
        Some(mb_s) => {
            let large = run(cap(0.0, mb_s * MB), LARGE);
            answer.with("throughput_mb_s", large.seen(0).bytes_per_s / MB)
        }
        None => answer,
    };
    if case.binds.is_empty() { answer } else { with_binds(answer, &small, Bound::Nothing) }
}

fn stripe_io(case: &Case) -> Answer {
    let n_disks = case.num("disks") as u32;
    let cap = cap(case.num("disk_iops"), case.num("disk_mb_s") * MB);
    let design = design(None, vec![disks(n_disks, cap, CacheMode::None)]);
    let mut rates = Vec::new();
    let mut first = None;
    for align in case.nums("align_bytes") {
        let mut stream = Stream::new(DEEP, case.num("io_bytes") as u64);
        stream.align_bytes = align as u64;
        let rig = steady(&design, vec![stream]);
        rates.push(rig.seen(0).iops);
        first.get_or_insert(rig.binds().unwrap_or(Bound::Nothing));
    }
    Answer::new().with("app_iops", rates).binds(first.expect("an alignment"))
}

/// A cached volume whose first part is warm.
fn warmed(design: &Design, stream: Stream) -> Rig {
    let mut rig = Rig::new(design, vec![stream]);
    rig.system.warm(stream.volume, 0, stream.warm_bytes);
    rig.run(2 * S).reset();
    rig.run(10 * S);
    rig
}

/// Reads and writes within the first GiB of a volume.
fn within_a_gib(queue_depth: usize, size_bytes: u64) -> Stream {
    Stream { warm_bytes: 1 << 30, ..Stream::new(queue_depth, size_bytes) }
}

fn fio_bench(case: &Case) -> Answer {
    let in_flight = (case.num("jobs") * case.num("iodepth")) as usize;
    let size = (case.num("io_kib") * KIB) as u64;
    let rig = if case.has("cached_iops") {
        let cached = cap(case.num("cached_iops"), case.num("cached_mb_s") * case.num("mb_bytes"));
        let volumes = vec![disks(1, cap(5000.0, 200.0 * MB), CacheMode::ReadOnly)];
        let design = design(vm(Cap::default(), cached), volumes);
        warmed(&design, within_a_gib(in_flight, size))
    } else {
        let group = &case.list("disks")[0];
        let disk = cap(number(&group["iops"]), 0.0);
        let volumes = vec![disks(number(&group["count"]) as u32, disk, CacheMode::None)];
        let uncached = cap(case.num("vm_iops"), case.num("vm_mb_s") * MB);
        let design = design(vm(uncached, Cap::default()), volumes);
        steady(&design, vec![Stream { read_share: 0.0, ..Stream::new(in_flight, size) }])
    };
    let seen = rig.seen(0);
    let answer = Answer::new()
        .with("iops", seen.iops)
        .with("mean_latency_ms", seen.mean_latency_s / MS)
        .with("throughput_mb_s", seen.bytes_per_s / MB);
    with_binds(answer, &rig, Bound::QueueDepth)
}

/// Writers at a rate on a stripe without cache, readers on a warm disk, at once.
fn fio_mix(case: &Case) -> Answer {
    let size = (case.num("io_kib") * KIB) as u64;
    let asked = case.num("writers") * case.num("rate_iops_per_writer");
    let striped = disks(10, cap(case.num("uncached_iops") / 10.0, 0.0), CacheMode::None);
    let cached = disks(1, cap(5000.0, 0.0), CacheMode::ReadOnly);
    let machine = vm(Cap::default(), cap(case.num("cached_iops"), 0.0));
    let writes = Stream { read_share: 0.0, ..Stream::at_rate(asked, size) };
    let reads = within_a_gib(512, size).on(1);
    let mut rig = Rig::new(&design(machine, vec![striped, cached]), vec![writes, reads]);
    rig.system.warm(1, 0, reads.warm_bytes);
    rig.run(2 * S).reset();
    rig.run(10 * S);
    let (writes, reads) = (rig.seen(0).iops, rig.seen(1).iops);
    let is_met = writes > asked * 0.99;
    let is_full = rig.used(CapKind::VmCachedIops) > 0.98;
    Answer::new()
        .with("write_iops", writes)
        .with("read_iops_max", reads)
        .with("total_iops_max", writes + reads)
        .binds(if is_met { Bound::Nothing } else { Bound::Cap(CapKind::DiskIops) })
        .binds(if is_full { Bound::Cap(CapKind::VmCachedIops) } else { Bound::Nothing })
}

fn vm_pair(case: &Case) -> Answer {
    let machine = vm(cap(case.num("vm_uncached_iops"), 0.0), cap(case.num("vm_cached_iops"), 0.0));
    let disk = cap(case.num("disk_iops"), 0.0);
    let design = |mode| design(machine.clone(), vec![disks(1, disk.clone(), mode)]);
    let uncached = steady(&design(CacheMode::None), vec![Stream::new(DEEP, SMALL)]);
    let cached = warmed(&design(CacheMode::ReadOnly), within_a_gib(DEEP, SMALL));
    let answer = Answer::new()
        .with("uncached_iops", uncached.seen(0).iops)
        .with("cached_iops", cached.seen(0).iops);
    with_binds(with_binds(answer, &uncached, Bound::Nothing), &cached, Bound::Nothing)
}

/// A warm cached disk and a stripe without cache, both driven as far as they go.
fn cached_plus_uncached(case: &Case) -> Answer {
    let in_bytes = case.has("cached_mb_s");
    let (of, size) = if in_bytes { (MB, LARGE) } else { (1.0, SMALL) };
    let unit = if in_bytes { "mb_s" } else { "iops" };
    let pair = |per_s: f64| if in_bytes { cap(0.0, per_s) } else { cap(per_s, 0.0) };
    let cached_cap = case.num(&format!("cached_{unit}")) * of;
    let uncached_cap = case.num(&format!("uncached_{unit}")) * of;
    // The table names what holds the uncached side: the disks by I/Os, the machine by bytes.
    let (vm_cap, disk_cap) =
        if in_bytes { (uncached_cap, 0.0) } else { (0.0, uncached_cap / 10.0) };
    let volumes = vec![
        disks(1, pair(5000.0 * of), CacheMode::ReadOnly),
        disks(10, pair(disk_cap), CacheMode::None),
    ];
    let streams = vec![within_a_gib(DEEP, size), Stream::new(DEEP, size).on(1)];
    let mut rig = Rig::new(&design(vm(pair(vm_cap), pair(cached_cap)), volumes), streams);
    rig.system.warm(0, 0, 1 << 30);
    rig.run(2 * S).reset();
    rig.run(10 * S);
    let full = |kind: CapKind| {
        if rig.used(kind) > 0.98 { Bound::Cap(kind) } else { Bound::Nothing }
    };
    let (first, second) = (rig.seen(0), rig.seen(1));
    if in_bytes {
        let total = (first.bytes_per_s + second.bytes_per_s) / MB;
        return Answer::new()
            .with("throughput_mb_s", total)
            .binds(full(CapKind::VmCachedBytes))
            .binds(full(CapKind::VmUncachedBytes));
    }
    Answer::new()
        .with("iops", first.iops + second.iops)
        .binds(full(CapKind::VmCachedIops))
        .binds(full(CapKind::DiskIops))
}

/// The ready-made job for the most throughput, on the design that it is for, warm.
fn most_throughput() -> Answer {
    let (size, queue_depth) = rules::throughput_job();
    let writes = Stream { read_share: 0.0, ..Stream::new(queue_depth as usize, size) };
    let streams = vec![within_a_gib(queue_depth as usize, size).on(1), writes];
    let mut rig = Rig::new(&rules::ds14(), streams);
    rig.system.warm(1, 0, 1 << 30);
    rig.run(2 * S).reset();
    rig.run(10 * S);
    let total = (rig.seen(0).bytes_per_s + rig.seen(1).bytes_per_s) / MB;
    let is_full = |kind: CapKind| rig.used(kind) > 0.98;
    assert!(is_full(CapKind::VmCachedBytes) && is_full(CapKind::VmUncachedBytes), "{total} MB/s");
    Answer::new()
        .with("io_kib", size as f64 / KIB)
        .with("queue_depth", queue_depth)
        .with("throughput_mb_s", total)
}

/// Every disk is asked for all it has. Cached disks are cold: their I/Os reach the disk.
fn cached_plus_uncached_disks(case: &Case) -> Answer {
    let per_disk = case.num("disk_iops");
    let n_cached = case.num("cached_disks") as usize;
    let n_uncached = case.num("uncached_disks") as usize;
    let (cached_cap, uncached_cap) = (case.num("vm_cached_iops"), case.num("vm_uncached_iops"));
    let mut volumes = Vec::new();
    let mut streams = Vec::new();
    for idx in 0..n_cached + n_uncached {
        let is_cached = idx < n_cached;
        let mode = if is_cached { CacheMode::ReadOnly } else { CacheMode::None };
        volumes.push(disks(1, cap(per_disk, 0.0), mode));
        let stream = Stream::at_rate(per_disk, SMALL).on(idx);
        streams.push(if is_cached { Stream { warm_bytes: 1 << 30, ..stream } } else { stream });
    }
    let machine = vm(cap(uncached_cap, 0.0), cap(cached_cap, 0.0));
    let mut rig = Rig::new(&design(machine, volumes), streams);
    for idx in 0..n_cached {
        rig.system.warm(idx as u16, 0, 1 << 30);
    }
    rig.run(2 * S).reset();
    rig.run(10 * S);
    let sum = |from: usize, to: usize| (from..to).map(|idx| rig.seen(idx).iops).sum::<f64>();
    let (cached, uncached) = (sum(0, n_cached), sum(n_cached, n_cached + n_uncached));
    let is_met = cached + uncached > case.num("demand_iops") * 0.99;
    Answer::new()
        .with("achieved_iops", cached + uncached)
        .with("cached_iops", cached)
        .with("uncached_iops", uncached)
        .with("cached_consumed_pct", rig.used(CapKind::VmCachedIops) * 100.0)
        .with("uncached_consumed_pct", rig.used(CapKind::VmUncachedIops) * 100.0)
        .binds(if is_met { Bound::Nothing } else { rig.binds().unwrap_or(Bound::Nothing) })
}

/// Reads of a share that hits and writes, on a disk that both just fill.
fn cache_load(case: &Case) -> Answer {
    let disk = case.num("disk_mb_s") * MB;
    let machine = vm(Cap::default(), cap(0.0, 100.0 * disk));
    let design = design(machine, vec![disks(1, cap(0.0, disk), CacheMode::ReadOnly)]);
    let rate = |mb_s: f64| mb_s * MB / LARGE as f64;
    let hits = case.num("hit_ratio");
    let reads = Stream::at_rate(rate(case.num("read_mb_s")), LARGE);
    let reads = Stream { warm_share: hits, warm_bytes: 1 << 30, ..reads };
    let writes = match case.opt("write_mb_s") {
        Some(mb_s) => Stream::at_rate(rate(mb_s), LARGE),
        None => Stream::new(64, LARGE),
    };
    let writes = Stream { read_share: 0.0, warm_bytes: 1 << 30, ..writes };
    let mut rig = Rig::new(&design, vec![reads, writes]);
    if hits > 0.0 {
        rig.system.warm(0, 0, 1 << 30);
    }
    rig.run(2 * S).reset();
    rig.run(10 * S);
    let used = rig.used(CapKind::DiskBytes);
    let answer = if case.has("write_mb_s") {
        Answer::new().with("disk_load_mb_s", used * disk / MB).with("disk_utilisation", used)
    } else {
        Answer::new().with("write_mb_s_max", rig.seen(1).bytes_per_s / MB)
    };
    answer.binds(rig.binds().unwrap_or(Bound::Nothing))
}

/// A warm disk behind the machine's cached cap, with a share of I/Os to places never read before.
fn behind_cache(case: &Case, hit_ratio: f64, read_share: f64) -> Rig {
    let machine = vm(Cap::default(), cap(case.num("cached_iops"), 0.0));
    let disk = disks(1, cap(case.num("disk_iops"), 0.0), CacheMode::ReadOnly);
    let stream = within_a_gib(DEEP, SMALL);
    let stream = Stream { warm_share: hit_ratio, read_share, ..stream };
    warmed(&design(machine, vec![disk]), stream)
}

fn cache_reads(case: &Case) -> Answer {
    let mut answer = Answer::new();
    let mut rates = Vec::new();
    for hit_ratio in case.nums("hit_ratio") {
        let rig = behind_cache(case, hit_ratio, 1.0);
        rates.push(rig.seen(0).iops);
        answer = with_binds(answer, &rig, Bound::Nothing);
    }
    answer.with("iops", rates)
}

fn cache_mix(case: &Case) -> Answer {
    let rig = behind_cache(case, case.num("hit_ratio"), 1.0 - case.num("write_fraction"));
    with_binds(Answer::new().with("iops", rig.seen(0).iops), &rig, Bound::Nothing)
}

/// Random reads of a whole file, cold at first, until the share asked for is warm. A miss is what
/// reaches the disk, and each block misses once.
fn warm_up(case: &Case) -> Answer {
    let size: u64 = 1_000_000;
    let file_bytes = case.num("file_bytes");
    let cached = cap(0.0, case.num("cached_bytes_per_s"));
    let disk = cap(0.0, case.num("disk_bytes_per_s"));
    let design = design(vm(Cap::default(), cached), vec![disks(1, disk, CacheMode::ReadOnly)]);
    // In blocks of the cache, so that a block is read whole.
    let block = 1 << 20;
    let warm_bytes = (file_bytes / size as f64) as u64 * block;
    let stream = Stream { warm_bytes, ..Stream::new(128, block) };
    let scale = block as f64 / size as f64;
    let mut rig = Rig::new(&design, vec![stream]);
    rig.reset();
    let (mut seconds, mut linear_until) = (0, None);
    let limit_s = case.num("check_at_s") as u64;
    let mut read_before = 0.0;
    while seconds < limit_s {
        rig.run(S);
        seconds += 1;
        let read = rig.used(CapKind::DiskBytes) * case.num("disk_bytes_per_s") * seconds as f64;
        // The straight line ends where a second brings less than the disk could.
        if linear_until.is_none() && read - read_before < case.num("disk_bytes_per_s") * 0.98 {
            linear_until = Some((read / warm_bytes as f64, (seconds - 1) as f64));
        }
        read_before = read;
        if read >= case.num("target_warm") * warm_bytes as f64 {
            break;
        }
    }
    let (_, linear_s) = linear_until.expect("it ends");
    Answer::new()
        .with("linear_seconds_simulated", linear_s / scale)
        .with("target_seconds", seconds as f64 / scale)
        .binds(Bound::Cap(CapKind::DiskBytes))
        .binds(rig.binds().unwrap_or(Bound::Cap(CapKind::VmCachedBytes)))
}

fn burst(case: &Case) -> Answer {
    let (base, most) = (case.num("base_iops"), case.num("burst_iops"));
    let bucket = (most - base) * credit::AZURE_BURST_S;
    let cap = Cap { iops: rig::credits(base, most, bucket), bytes: None };
    let design = design(None, vec![disks(1, cap, CacheMode::None)]);
    // One I/O of 2 MiB counts as eight, so that the run needs an eighth of them.
    let n_units = 8.0;
    let stream = Stream::at_rate(case.num("demand_iops") / n_units, 2 << 20);
    let mut rig = Rig::new(&design, vec![stream]);
    rig.reset();
    let mut burst_s = None;
    let (mut before, mut rates) = (0, Vec::new());
    for second in 1..=case.num("duration_s") as u64 {
        rig.run(S);
        let now = rig.n_done();
        let rate = (now - before) as f64 * n_units;
        before = now;
        if second > 1 && rate < most * 0.98 && burst_s.is_none() {
            burst_s = Some((second - 1) as f64);
        }
        rates.push(rate);
    }
    Answer::new()
        .with("burst_seconds", burst_s)
        .with("iops_phases", vec![rates[10], rates[rates.len() - 1]])
        .with("total_ios", rig.n_done() as f64 * n_units)
        .binds(if burst_s.is_some() { Bound::Credits } else { Bound::Nothing })
}

/// A second's I/Os each second, for ten seconds: more than fits falls behind.
fn io_units(case: &Case) -> Option<Answer> {
    let groups = case.input.get("ops")?.as_array()?;
    let mb_s = case.opt("disk_mb_s").unwrap_or(0.0) * case.opt("mb_bytes").unwrap_or(MB);
    let design = design(None, vec![disks(1, cap(case.num("disk_iops"), mb_s), CacheMode::None)]);
    let stream = |group: &Value| {
        let size = (number(&group["io_kib"]) * KIB) as u64;
        Stream::at_rate(number(&group["count"]), size)
    };
    let rig = steady(&design, groups.iter().map(stream).collect());
    let carried: f64 = (0..groups.len()).map(|idx| rig.seen(idx).bytes_per_s).sum();
    let answer = Answer::new().with("throughput_mb_s", carried / MIB);
    Some(answer.binds(rig.binds().unwrap_or(Bound::Nothing)))
}

fn vm_burst(case: &Case) -> Answer {
    let (demands, caps) = (case.nums("demand_mb_s"), case.nums("disk_mb_s"));
    let run = |vm_mb_s: f64| {
        let volumes = caps.iter().map(|mb_s| disks(1, cap(0.0, mb_s * MB), CacheMode::None));
        let stream =
            |(idx, mb_s): (usize, &f64)| Stream::at_rate(mb_s * MB / LARGE as f64, LARGE).on(idx);
        let streams = demands.iter().enumerate().map(stream).collect();
        let machine = vm(cap(0.0, vm_mb_s * MB), Cap::default());
        let rig = steady(&design(machine, volumes.collect()), streams);
        let total: f64 = (0..demands.len()).map(|idx| rig.seen(idx).bytes_per_s).sum();
        (total / MB, rig)
    };
    let (with, with_rig) = run(case.num("vm_burst_mb_s"));
    let (without, without_rig) = run(case.num("vm_base_mb_s"));
    let answer =
        Answer::new().with("with_credits_mb_s", with).with("without_credits_mb_s", without);
    if with_rig.used(CapKind::DiskBytes) > 0.98 {
        return answer.binds(Bound::Cap(CapKind::DiskBytes));
    }
    let answer = with_binds(answer, &with_rig, Bound::Nothing);
    with_binds(answer, &without_rig, Bound::Nothing)
}

fn volume_cap(case: &Case) -> Answer {
    let quota = case.num("quota_tib") * case.num("mib_s_per_tib") * MIB;
    let ceiling = case.num("ceiling_mib_s") * MIB;
    let ceiling = Ceiling { total_bytes_per_s: Some(ceiling as u64), ..Ceiling::default() };
    let design = design(None, vec![network(quota, ceiling, None)]);
    let rig = brief(&design, vec![Stream::new(DEEP, LARGE)]);
    let answer = Answer::new().with("throughput_mib_s", rig.seen(0).bytes_per_s / MIB);
    with_binds(answer, &rig, Bound::Nothing)
}

/// Volumes that could do more than the pool has, if they did not share it.
fn manual_qos(case: &Case) -> Answer {
    let pool = case.num("pool_tib") * case.num("mib_s_per_tib") * MIB;
    let assigned = case.nums("assigned_mib_s");
    let volumes = assigned.iter().map(|mib_s| network(mib_s * MIB, Ceiling::default(), Some(0)));
    let mut design = design(None, volumes.collect());
    let throughput = rig::limit(pool).expect("a pool");
    design.pools = vec![Pool { name: "pool".to_owned(), throughput }];
    let streams = (0..assigned.len()).map(|idx| Stream::new(256, LARGE).on(idx));
    let rig = brief(&design, streams.collect());
    let sum: f64 = (0..assigned.len()).map(|idx| rig.seen(idx).bytes_per_s).sum();
    let is_full = rig.used(CapKind::Pool) > 0.98;
    let bound = if is_full { Bound::Cap(CapKind::Pool) } else { Bound::Nothing };
    Answer::new().with("assigned_sum_mib_s", sum / MIB).binds(bound)
}

/// One of the clients with each number of connections, at the latency given.
fn nfs_slots(case: &Case) -> Option<Answer> {
    let wanted = case.opt("wanted_ops_s")?;
    let n_clients = case.num("clients");
    let mut answer = Answer::new();
    let mut meets = Vec::new();
    for connections in case.nums("nconnect") {
        let mut design = design(None, vec![network(1e12, Ceiling::default(), None)]);
        design.volumes[0].latency.mean_ns = (case.num("latency_ms") * MS * S as f64) as u64;
        design.clients = vec![Client {
            name: "client".to_owned(),
            connections: connections as u16,
            slots_per_connection: case.num("slots_per_connection") as u16,
            ..Client::default()
        }];
        let rig = brief(&design, vec![Stream::at_rate(wanted / n_clients, SMALL)]);
        let is_met = rig.seen(0).iops > wanted / n_clients * 0.995;
        meets.push(is_met);
        let full = rig.used(CapKind::NfsSlots) > 0.0 && !is_met;
        answer = answer.binds(if full { Bound::Cap(CapKind::NfsSlots) } else { Bound::Nothing });
    }
    Some(answer.with("meets", meets))
}

/// A volume with measured ceilings, at a read share.
fn on_surface(ceiling: Ceiling, read_share: f64, size: u64) -> Rig {
    let design = design(None, vec![network(1e12, ceiling, None)]);
    let stream = Stream { read_share, ..Stream::new(DEEP, size) };
    brief(&design, vec![stream])
}

fn mix_random(case: &Case) -> Answer {
    let ceiling = Ceiling {
        read_iops: Some(case.num("read_iops") as u64),
        write_iops: Some(case.num("write_iops") as u64),
        ..Ceiling::default()
    };
    let size = (case.num("io_kib") * KIB) as u64;
    let mut at = serde_json::Map::new();
    let mut rates = Vec::new();
    for pct in [100, 75, 50, 25, 0] {
        let iops = on_surface(ceiling, f64::from(pct) / 100.0, size).seen(0).iops;
        at.insert(pct.to_string(), iops.into());
        rates.push(iops);
    }
    Answer::new()
        .with("iops_at_read_pct", at)
        .with("monotone", rates.windows(2).all(|pair| pair[1] < pair[0]))
}

fn mix_sequential(case: &Case) -> Answer {
    let ceiling = Ceiling {
        read_iops: None,
        write_iops: None,
        ..rig::sequential_ceiling(&case.edition, case.num("io_kib"))
    };
    let size = (case.num("io_kib") * KIB) as u64;
    let run = |read_share: f64| on_surface(ceiling, read_share, size);
    let half = run(0.5);
    let answer = Answer::new()
        .with("read_iops", run(1.0).seen(0).iops)
        .with("write_iops", run(0.0).seen(0).iops)
        .with("mib_s_at_read_pct_50", half.seen(0).bytes_per_s / MIB);
    with_binds(answer, &half, Bound::Nothing)
}

fn fio_anf(case: &Case) -> Answer {
    let in_flight = (case.num("numjobs") * case.num("iodepth")) as usize;
    let ceiling = Ceiling {
        read_iops: Some(case.num("read_iops_8k") as u64),
        write_iops: Some(case.num("write_iops_8k") as u64),
        total_bytes_per_s: Some((case.num("ceiling_mib_s") * MIB) as u64),
        ..Ceiling::default()
    };
    let design = design(None, vec![network(1e12, ceiling, None)]);
    let run = |read_share: f64, size: u64| {
        let stream = Stream { read_share, ..Stream::new(in_flight, size) };
        brief(&design, vec![stream]).seen(0)
    };
    let (read, write, large) = (run(1.0, SMALL), run(0.0, SMALL), run(1.0, LARGE));
    Answer::new()
        .with("read_latency_ms", read.mean_latency_s / MS)
        .with("read_mib_s", read.bytes_per_s / MIB)
        .with("write_latency_ms", write.mean_latency_s / MS)
        .with("write_mib_s", write.bytes_per_s / MIB)
        .with("iops_64k", large.iops)
        .with("latency_64k_ms", large.mean_latency_s / MS)
}
