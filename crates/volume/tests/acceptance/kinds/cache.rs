//! The host cache, and both paths of a machine at once.

use volume::CapKind;
use volume::limits::cache::WorkingSet;
use volume::limits::{Bound, Done, Flow, Load, alone, together};

use super::product::{
    DEEP, Design, KIB, LARGE, MB, MIB, MS, SMALL, cap, design, disks, ds14, first, flow, hits,
    is_met, reads, warmed, within_a_gib, writes,
};
use crate::answer::{Answer, Outcome};
use crate::rig::{Rig, S, Stream};
use crate::table::Case;

const OF_2018: &str = "edition='2018'";

/// Volumes of docs/designs/ds14.toml.
const STRIPED: u16 = 0;
const CACHED: u16 = 1;

fn run_binds(answer: Answer, rig: &Rig) -> Answer {
    answer.binds(rig.binds().unwrap_or(Bound::Nothing))
}

/// Returns which of two caps of a run is used up.
fn full(rig: &Rig, kind: CapKind) -> Bound {
    if rig.used(kind) > 0.98 { Bound::Cap(kind) } else { Bound::Nothing }
}

/// Reads that all hit.
pub(crate) fn vm_cached_limit(case: &Case) -> Outcome {
    let (design, volume, size) = if case.id == "M-03" {
        // In I/Os so small that bytes do not bind.
        let machine = "size='D8s_v3'\nburst='none'";
        (design("", machine, &[disks("P30", 1, "ReadOnly")]), 0, 4096)
    } else {
        (ds14(), CACHED, case.num("io_kib") as u64 * KIB)
    };
    let done = alone(&design, volume, &hits(size));
    let stream = within_a_gib(DEEP, size).on(volume.into());
    let rig = warmed(&design, vec![stream]);
    Outcome::both(
        Answer::new().with("iops", done.iops).binds(done.binds),
        run_binds(Answer::new().with("iops", rig.seen(0).iops), &rig),
    )
}

/// The cached disk and the stripe of the guide's machine, both driven as far as they go.
pub(crate) fn cached_plus_uncached(case: &Case) -> Outcome {
    let in_bytes = case.has("cached_mb_s");
    let size = if in_bytes { 64 * KIB } else { SMALL };
    let design = ds14();
    let all =
        together(&design, &[flow(CACHED, hits(size), None), flow(STRIPED, reads(size), None)]);
    let streams = vec![within_a_gib(DEEP, size).on(1), Stream::new(DEEP, size)];
    let rig = warmed(&design, streams);
    let (key, unit) = if in_bytes { ("throughput_mb_s", MB) } else { ("iops", size as f64) };
    let total = |bytes: f64| Answer::new().with(key, bytes / unit);
    let seen = (0..2).map(|idx| rig.seen(idx).bytes_per_s).sum();
    let kinds = if in_bytes {
        [CapKind::VmCachedBytes, CapKind::VmUncachedBytes]
    } else {
        [CapKind::VmCachedIops, CapKind::DiskIops]
    };
    Outcome::both(
        total(all.iter().map(|done| done.bytes_per_s).sum())
            .binds(all[0].binds)
            .binds(all[1].binds),
        total(seen).binds(full(&rig, kinds[0])).binds(full(&rig, kinds[1])),
    )
}

/// Throughput in MB of 10^6 bytes of a machine whose own are others.
pub(crate) fn in_megabytes(case: &Case) -> Outcome {
    let size = 64 * KIB;
    let design = ds14();
    let (volume, load, stream) = if case.has("disks") {
        let stream = Stream { read_share: 0.0, ..Stream::new(DEEP, size) };
        (STRIPED, writes(size), stream)
    } else {
        (CACHED, hits(size), within_a_gib(DEEP, size).on(1))
    };
    let done = alone(&design, volume, &load);
    let rig = warmed(&design, vec![stream]);
    let answer = |bytes_per_s: f64| Answer::new().with("throughput_mb_s", bytes_per_s / MB);
    Outcome::both(
        answer(done.bytes_per_s).binds(done.binds),
        run_binds(answer(rig.seen(0).bytes_per_s), &rig),
    )
}

/// Cached and uncached disks of one machine, each asked for all it has. The cached ones are warm.
pub(crate) fn cached_plus_uncached_disks(case: &Case) -> Outcome {
    let per_disk = case.num("disk_iops");
    let n_cached = case.num("cached_disks") as usize;
    let n_volumes = n_cached + case.num("uncached_disks") as usize;
    let mode = |idx| if idx < n_cached { "ReadOnly" } else { "None" };
    let volumes: Vec<String> = (0..n_volumes).map(|idx| disks("P30", 1, mode(idx))).collect();
    let design = design("", "size='D8s_v3'\nburst='none'", &volumes);
    let load = |idx| if idx < n_cached { hits(SMALL) } else { reads(SMALL) };
    let flows: Vec<Flow> =
        (0..n_volumes).map(|idx| flow(idx as u16, load(idx), Some(per_disk))).collect();
    let all = together(&design, &flows);
    let sum = |part: &[Done]| part.iter().map(|done| done.iops).sum::<f64>();
    let (cached, uncached) = (sum(&all[..n_cached]), sum(&all[n_cached..]));
    let of_cached = cap(&all[0], CapKind::VmCachedIops).0.per_s;
    let of_uncached = cap(&all[n_cached], CapKind::VmUncachedIops).0.per_s;
    let short = all.iter().find(|done| !is_met(done));
    let said = Answer::new()
        .with("achieved_iops", cached + uncached)
        .with("cached_iops", cached)
        .with("uncached_iops", uncached)
        .with("cached_consumed_pct", cached / of_cached * 100.0)
        .with("uncached_consumed_pct", uncached / of_uncached * 100.0)
        .with("vm_total_iops", of_cached + of_uncached)
        .binds(short.map_or(Bound::Nothing, |done| done.binds));
    let stream = |idx: usize| {
        let stream = Stream::at_rate(per_disk, SMALL).on(idx);
        if idx < n_cached { Stream { warm_bytes: 1 << 30, ..stream } } else { stream }
    };
    let rig = warmed(&design, (0..n_volumes).map(stream).collect());
    let sum = |from: usize, to: usize| (from..to).map(|idx| rig.seen(idx).iops).sum::<f64>();
    let (cached, uncached) = (sum(0, n_cached), sum(n_cached, n_volumes));
    let is_met = cached + uncached > case.num("demand_iops") * 0.99;
    let bound = if is_met { Bound::Nothing } else { rig.binds().unwrap_or(Bound::Nothing) };
    let seen = Answer::new()
        .with("achieved_iops", cached + uncached)
        .with("cached_iops", cached)
        .with("uncached_iops", uncached)
        .with("cached_consumed_pct", rig.used(CapKind::VmCachedIops) * 100.0)
        .with("uncached_consumed_pct", rig.used(CapKind::VmUncachedIops) * 100.0)
        .binds(bound);
    Outcome::both(said, seen)
}

/// The guide's fio jobs on its machine.
pub(crate) fn fio_bench(case: &Case) -> Outcome {
    let in_flight = (case.num("jobs") * case.num("iodepth")) as usize;
    let size = case.num("io_kib") as u64 * KIB;
    let design = ds14();
    let (volume, load, stream) = if case.has("cached_iops") {
        (CACHED, hits(size), within_a_gib(in_flight, size).on(1))
    } else {
        let stream = Stream { read_share: 0.0, ..Stream::new(in_flight, size) };
        (STRIPED, writes(size), stream)
    };
    let done = alone(&design, volume, &Load { queue_depth: Some(in_flight as u32), ..load });
    let one_disk = alone(&design, CACHED, &reads(size)).iops;
    let rig = warmed(&design, vec![stream]);
    let seen = rig.seen(0);
    let answer = |iops: f64, latency_s: f64, bytes_per_s: f64| {
        Answer::new()
            .with("iops", iops)
            .with("mean_latency_ms", latency_s / MS)
            .with("throughput_mb_s", bytes_per_s / MB)
    };
    Outcome::both(
        answer(done.iops, done.latency_s.expect("a depth"), done.bytes_per_s)
            .with("ratio_to_one_p30", done.iops / one_disk)
            .binds(done.binds),
        run_binds(answer(seen.iops, seen.mean_latency_s, seen.bytes_per_s), &rig),
    )
}

/// Writers at a rate on the stripe, readers of the warm disk, at once.
pub(crate) fn fio_mix(case: &Case) -> Outcome {
    let size = case.num("io_kib") as u64 * KIB;
    let asked = case.num("writers") * case.num("rate_iops_per_writer");
    let design = ds14();
    let all = together(
        &design,
        &[flow(STRIPED, writes(size), Some(asked)), flow(CACHED, hits(size), None)],
    );
    let floor = case.expect["printed_floor_iops"].as_f64().expect("a number");
    let answer = |writes: f64, reads: f64| {
        Answer::new()
            .with("write_iops", writes)
            .with("read_iops_max", reads)
            .with("total_iops_max", writes + reads)
            .with("printed_floor_iops", floor.min(writes + reads))
            .with("read_iops_needed", floor - writes)
    };
    let writes = Stream { read_share: 0.0, ..Stream::at_rate(asked, size) };
    let rig = warmed(&design, vec![writes, within_a_gib(512, size).on(1)]);
    let (writes, reads) = (rig.seen(0).iops, rig.seen(1).iops);
    let is_met = writes > asked * 0.99;
    Outcome::both(
        answer(all[0].iops, all[1].iops).binds(all[0].binds).binds(all[1].binds),
        answer(writes, reads)
            .binds(if is_met { Bound::Nothing } else { full(&rig, CapKind::DiskIops) })
            .binds(full(&rig, CapKind::VmCachedIops)),
    )
}

/// Reads of a share that hits beside writes, on a P10.
pub(crate) fn load(case: &Case) -> Outcome {
    let design = design(OF_2018, "size='DS14'", &[disks("P10", 1, "ReadOnly")]);
    let rate = |mb_s: f64| mb_s * MB / LARGE as f64;
    let hit_ratio = case.num("hit_ratio");
    let asked = rate(case.num("read_mb_s"));
    let written = case.opt("write_mb_s").map(rate);
    let cached = Load { hit_ratio, ..reads(LARGE) };
    let all = together(&design, &[flow(0, cached, Some(asked)), flow(0, writes(LARGE), written)]);
    let on_disk = |done: &Done| {
        let bytes = done.caps.iter().find(|(cap, _)| cap.bound == Bound::Cap(CapKind::DiskBytes));
        bytes.map_or(0.0, |(cap, _)| cap.per_io * done.iops)
    };
    let carried: f64 = all.iter().map(on_disk).sum();
    let of_disk = cap(&all[1], CapKind::DiskBytes).0.per_s;
    let said = Answer::new()
        .with("disk_load_mb_s", carried / MB)
        .with("disk_utilisation", carried / of_disk)
        .with("fits", all.iter().all(is_met))
        .with("write_mb_s_max", all[1].bytes_per_s / MB)
        // What is used up, also where it is just enough.
        .binds(super::product::binds_first(&all[1]));
    let reads = Stream::at_rate(asked, LARGE);
    let reads = Stream { warm_share: hit_ratio, warm_bytes: 1 << 30, ..reads };
    let writes = written.map_or(Stream::new(64, LARGE), |rate| Stream::at_rate(rate, LARGE));
    let writes = Stream { read_share: 0.0, warm_bytes: 1 << 30, ..writes };
    let mut rig = Rig::new(&design, vec![reads, writes]);
    if hit_ratio > 0.0 {
        rig.system.warm(0, 0, 1 << 30);
    }
    rig.run(2 * S).reset();
    rig.run(10 * S);
    let used = rig.used(CapKind::DiskBytes);
    let seen = if written.is_some() {
        let load = used * of_disk / MB;
        Answer::new().with("disk_load_mb_s", load).with("disk_utilisation", used)
    } else {
        Answer::new().with("write_mb_s_max", rig.seen(1).bytes_per_s / MB)
    };
    Outcome::both(said, run_binds(seen, &rig))
}

/// What `limits --working-set` says.
pub(crate) fn fit(case: &Case) -> Outcome {
    let bytes = case.num("working_set_gib") * (1 << 30) as f64;
    let set = WorkingSet::new(&ds14(), CACHED, &reads(SMALL), bytes).expect("a cache");
    let fits = set.hit_ratio >= 1.0;
    Outcome::said(Answer::new().with("fits", fits).with("hit_ratio_steady", set.hit_ratio))
}

/// The guide's disk behind a machine of the row's own cached cap.
fn to_warm(case: &Case) -> Design {
    let cached = case.num("cached_bytes_per_s");
    let machine = format!("cached={{ throughput='{cached}B/s' }}\ncache='576GiB'");
    design(OF_2018, &machine, &[disks("P30", 1, "ReadOnly")])
}

pub(crate) fn warm_up(case: &Case) -> Outcome {
    let design = to_warm(case);
    let set = WorkingSet::new(&design, 0, &reads(MIB), case.num("file_bytes")).expect("a cache");
    let curve = set.warm_up;
    assert!((case.num("target_warm") - 0.99).abs() < 1e-9, "{}: what the note says", case.id);
    let cold = |seconds: f64| {
        let since = (seconds - curve.linear_s()) / curve.tau_s();
        (1.0 - curve.linear_until()) * (-since).exp()
    };
    // At first the disk holds a cold cache's reads, and in the end the cached path.
    let at = |hit_ratio| first(&design, &Load { hit_ratio, ..reads(MIB) }).binds;
    let said = Answer::new()
        .with("linear_until_fraction", curve.linear_until())
        .with("linear_seconds", curve.linear_s())
        .with("tau_seconds", curve.tau_s())
        .with("target_seconds", set.warm_s())
        .with("cold_fraction_at_check", cold(case.num("check_at_s")))
        .binds(at(0.0))
        .binds(at(1.0));
    Outcome::both(said, warm_up_run(case, &design))
}

/// Random reads of a whole file, cold at first, until the share asked for is warm. A miss is what
/// reaches the disk, and each block misses once.
fn warm_up_run(case: &Case, design: &Design) -> Answer {
    let per_s = case.num("disk_bytes_per_s");
    let warm_bytes = (case.num("file_bytes") / MIB as f64) as u64 * MIB;
    let stream = Stream { warm_bytes, ..Stream::new(128, MIB) };
    let mut rig = Rig::new(design, vec![stream]);
    rig.reset();
    let mut first = None;
    let (mut seconds, limit_s) = (0, case.num("check_at_s") as u64);
    while seconds < limit_s {
        rig.run(S);
        seconds += 1;
        first.get_or_insert(rig.binds().unwrap_or(Bound::Nothing));
        let read = rig.used(CapKind::DiskBytes) * per_s * seconds as f64;
        if read >= case.num("target_warm") * warm_bytes as f64 {
            break;
        }
    }
    rig.reset();
    rig.run(S);
    Answer::new()
        .with("target_seconds", seconds as f64)
        .binds(first.unwrap_or(Bound::Nothing))
        .binds(full(&rig, CapKind::VmCachedBytes))
}

/// A P30 behind a machine with this cached cap.
fn behind_cache(case: &Case) -> Design {
    let machine = format!("cached={{ iops={} }}\ncache='576GiB'", case.num("cached_iops"));
    design(OF_2018, &machine, &[disks("P30", 1, "ReadOnly")])
}

/// I/Os of which a share goes to what is warm, and the others to places never read before.
fn run_behind(design: &Design, hit_ratio: f64, read_share: f64) -> Rig {
    let stream = within_a_gib(DEEP, SMALL);
    warmed(design, vec![Stream { warm_share: hit_ratio, read_share, ..stream }])
}

pub(crate) fn misses(case: &Case) -> Outcome {
    let design = behind_cache(case);
    let (mut said, mut seen) = (Answer::new(), Answer::new());
    let (mut rates, mut run_rates) = (Vec::new(), Vec::new());
    for hit_ratio in case.nums("hit_ratio") {
        let done = first(&design, &Load { hit_ratio, ..reads(SMALL) });
        rates.push(done.iops);
        said = said.binds(done.binds);
        let rig = run_behind(&design, hit_ratio, 1.0);
        run_rates.push(rig.seen(0).iops);
        seen = run_binds(seen, &rig);
    }
    Outcome::both(said.with("iops", rates), seen.with("iops", run_rates))
}

pub(crate) fn mix(case: &Case) -> Outcome {
    let design = behind_cache(case);
    let (hit_ratio, read_share) = (case.num("hit_ratio"), 1.0 - case.num("write_fraction"));
    let done = first(&design, &Load { hit_ratio, ..Load::new(SMALL, read_share) });
    let rig = run_behind(&design, hit_ratio, read_share);
    Outcome::both(
        Answer::new().with("iops", done.iops).binds(done.binds),
        run_binds(Answer::new().with("iops", rig.seen(0).iops), &rig),
    )
}
