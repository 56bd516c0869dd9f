//! Disks behind a machine, without its cache.

use volume::CapKind;
use volume::limits::bound::headroom as above;
use volume::limits::{Bound, Flow, Load, together};

use super::product::{
    DEEP, Design, LARGE, MB, SMALL, binds_first, cap, design, disks, first, flow, hits, is_met,
    left, need, reads, warmed, within_a_gib,
};
use crate::answer::{Answer, Outcome};
use crate::rig::{Rig, Stream, steady};
use crate::table::Case;

const OF_2018: &str = "edition='2018'";

/// The design that a row names: its edition, machine and volumes.
fn of_row(case: &Case) -> Design {
    let stripe = |disk: &str, count| vec![disks(disk, count, "None")];
    let apart = |disk: &str, count| vec![disks(disk, 1, "None"); count];
    let (top, machine, volumes) = match case.id.as_str() {
        "P-30" => (OF_2018, "DS1", stripe("P30", 1)),
        "P-31" => (OF_2018, "DS4", stripe("P30", 1)),
        "P-32" => (OF_2018, "DS4", stripe("P40", 1)),
        "P-33" => (OF_2018, "DS4", stripe("P30", 2)),
        "P-42" | "O-03" => (OF_2018, "DS13", stripe("P30", 4)),
        "P-74" => (OF_2018, "DS14", stripe("P30", 10)),
        "M-01" => ("", "D8s_v3", apart("E30", 3)),
        "M-02" => ("", "D8s_v3", apart("P30", 3)),
        "M-15" => ("", "DS4", apart("P30", 2)),
        "M-16" => ("", "DS1", apart("P10", 1)),
        id => panic!("{id}: which design?"),
    };
    // What is sustained is asked for; credits have rows of their own.
    let volumes: Vec<String> = volumes.iter().map(|keys| format!("{keys}\nburst='none'")).collect();
    design(top, &format!("size='{machine}'\nburst='none'"), &volumes)
}

fn sum(all: &[volume::limits::Done]) -> f64 {
    all.iter().map(|done| done.iops).sum()
}

/// A demand on a machine with disks, in I/Os or in bytes; what each volume has of it.
pub(crate) fn vm_plus_disk(case: &Case) -> Outcome {
    let design = of_row(case);
    let is_iops = case.has("vm_iops");
    let (unit, size) = if is_iops { ("iops", SMALL) } else { ("mb_s", LARGE) };
    let in_ios = if is_iops { 1.0 } else { MB / size as f64 };
    let demand = case.opt(&format!("demand_{unit}"));
    let n_volumes = design.volumes.len();
    let each = demand.map(|demand| demand * in_ios / n_volumes as f64);
    let flows: Vec<Flow> = (0..n_volumes).map(|idx| flow(idx as u16, reads(size), each)).collect();
    let all = together(&design, &flows);
    let short = all.iter().find(|done| !is_met(done));
    let achieved = sum(&all) / in_ios;
    let mut said = Answer::new()
        .with(&format!("achieved_{unit}"), achieved)
        .with(&format!("share_{unit}_each"), all[0].iops / in_ios)
        .binds(short.map_or(Bound::Nothing, |done| done.binds));
    if n_volumes == 1 {
        said = said.with(&format!("cap_{unit}"), left(&all[0]) / in_ios);
    }
    if case.expect.get("vm_headroom_mb_s").is_some() {
        let of_machine = cap(&all[0], CapKind::VmUncachedBytes).0.per_s / MB;
        said = said.with("vm_headroom_mb_s", of_machine - achieved);
    }
    let streams = (0..n_volumes).map(|idx| match each {
        Some(each) => Stream::at_rate(each, size).on(idx),
        None => Stream::new(DEEP * 4, size).on(idx),
    });
    let rig = steady(&design, streams.collect());
    let of_volumes: Vec<f64> = (0..n_volumes).map(|idx| rig.seen(idx).iops / in_ios).collect();
    let achieved: f64 = of_volumes.iter().sum();
    let seen = Answer::new().with(&format!("share_{unit}_each"), of_volumes[0]);
    let seen = match demand {
        Some(demand) => {
            let is_met = achieved >= demand * 0.995;
            let bound = if is_met { Bound::Nothing } else { rig.binds().unwrap_or(Bound::Nothing) };
            seen.with(&format!("achieved_{unit}"), achieved).binds(bound)
        }
        None => run_binds(seen.with(&format!("cap_{unit}"), achieved), &rig),
    };
    Outcome::both(said, seen)
}

fn run_binds(answer: Answer, rig: &Rig) -> Answer {
    answer.binds(rig.binds().unwrap_or(Bound::Nothing))
}

pub(crate) fn vm_plus_disk_series(case: &Case) -> Outcome {
    let (mut said, mut seen) = (Answer::new(), Answer::new());
    let (mut rates, mut run_rates) = (Vec::new(), Vec::new());
    for count in case.nums("counts") {
        let design = design(OF_2018, "size='DS13'", &[disks("P30", count as u64, "None")]);
        let done = first(&design, &reads(SMALL));
        rates.push(done.iops);
        said = said.binds(done.binds);
        let rig = steady(&design, vec![Stream::new(DEEP, SMALL)]);
        run_rates.push(rig.seen(0).iops);
        seen = run_binds(seen, &rig);
    }
    Outcome::both(said.with("cap_iops", rates), seen.with("cap_iops", run_rates))
}

/// A need in bytes against the machine's cap in two readings of its MB.
pub(crate) fn vm_plus_disk_io(case: &Case) -> Outcome {
    let size_bytes = case.num("io_bytes") as u64;
    let asked = case.num("need_iops");
    let at = |mb_bytes: u64| {
        let per_s = case.num("vm_mb_s") as u64 * mb_bytes;
        let machine = format!("uncached={{ iops=25600, throughput='{per_s}B/s' }}");
        let design = design(OF_2018, &machine, &[disks("P30", 4, "None")]);
        need(&design, reads(size_bytes), asked)
    };
    let (decimal, kib1000) = (at(1_000_000), at(1_024_000));
    let per_io = |done: &volume::limits::Done| left(done) * size_bytes as f64;
    Outcome::said(
        Answer::new()
            .with("need_bytes_per_s", asked * size_bytes as f64)
            .with("knee_bytes_decimal", per_io(&decimal) / asked)
            .with("fits_decimal", is_met(&decimal))
            .with("fits_kib1000", is_met(&kib1000))
            .with("headroom_kib1000_pct", above(left(&kib1000), asked) * 100.0)
            .binds(decimal.binds),
    )
}

/// The same disk without cache, and from a warm cache.
pub(crate) fn vm_pair(_: &Case) -> Outcome {
    // In I/Os so small that bytes do not bind.
    let size = 4096;
    let of = |cache| design("", "size='D2s_v3'\nburst='none'", &[disks("P30", 1, cache)]);
    let (plain, cached) = (of("None"), of("ReadOnly"));
    let (uncached, warm) = (first(&plain, &reads(size)), first(&cached, &hits(size)));
    let said = Answer::new()
        .with("uncached_iops", uncached.iops)
        .with("cached_iops", warm.iops)
        .binds(uncached.binds)
        .binds(warm.binds);
    let of_plain = steady(&plain, vec![Stream::new(DEEP, size)]);
    let of_cached = warmed(&cached, vec![within_a_gib(DEEP, size)]);
    let seen = Answer::new()
        .with("uncached_iops", of_plain.seen(0).iops)
        .with("cached_iops", of_cached.seen(0).iops);
    Outcome::both(said, run_binds(run_binds(seen, &of_plain), &of_cached))
}

/// What one disk carries alone, and what a second one adds to it behind the machine.
pub(crate) fn first_and_second(case: &Case) -> Outcome {
    let design = of_row(case);
    let in_ios = MB / LARGE as f64;
    let flows: Vec<Flow> = [0, 1].map(|idx| flow(idx, reads(LARGE), None)).to_vec();
    let one = first(&design, &reads(LARGE)).iops / in_ios;
    let all = together(&design, &flows);
    let total = sum(&all) / in_ios;
    let said = Answer::new()
        .with("total_mb_s", total)
        .with("shares_mb_s", vec![one, total - one])
        .binds(all[1].binds);
    let streams = |n: usize| (0..n).map(|idx| Stream::new(DEEP, LARGE).on(idx)).collect();
    let (one, both) = (steady(&design, streams(1)), steady(&design, streams(2)));
    let one = one.seen(0).iops / in_ios;
    let total = (both.seen(0).iops + both.seen(1).iops) / in_ios;
    let seen = Answer::new().with("total_mb_s", total).with("shares_mb_s", vec![one, total - one]);
    Outcome::both(said, run_binds(seen, &both))
}

/// A machine and disks with credits, in the MB of 2^20 bytes in which the machine's stand.
pub(crate) fn vm_burst(case: &Case) -> Outcome {
    let mib_s = (1 << 20) as f64 / LARGE as f64;
    let tier = if case.nums("disk_mb_s")[0] > 200.0 { "P50" } else { "P4" };
    let of = |machine: &str| design("mb_bytes=1048576", machine, &vec![disks(tier, 1, "None"); 3]);
    let (bursting, plain) = (of("size='L8s_v2'"), of("size='L8s_v2'\nburst='none'"));
    let caps = case.nums("disk_mb_s");
    let demands = case.nums("demand_mb_s");
    // A disk of which all is asked that it has is asked for as much as it takes.
    let demand = |idx: usize| (demands[idx] < caps[idx]).then(|| demands[idx] * mib_s);
    let flows = |with_credits| -> Vec<Flow> {
        let load = Load { with_credits, ..reads(LARGE) };
        (0..3).map(|idx| flow(idx as u16, load, demand(idx))).collect()
    };
    let with = together(&bursting, &flows(true));
    let without = together(&plain, &flows(false));
    let one = first(&bursting, &Load { with_credits: true, ..reads(LARGE) });
    let said = Answer::new()
        .with("with_credits_mb_s", sum(&with) / mib_s)
        .with("without_credits_mb_s", sum(&without) / mib_s)
        .with("one_disk_burst_mb_s", one.iops / mib_s);
    let short = with.iter().find(|done| !is_met(done));
    let said = match short {
        Some(done) => said.binds(done.binds),
        None => said.binds(Bound::Nothing).binds(without[0].binds),
    };
    let run = |design: &Design| {
        let streams = (0..3).map(|idx| Stream::at_rate(demands[idx] * mib_s, LARGE).on(idx));
        let rig = steady(design, streams.collect());
        (0..3).map(|idx| rig.seen(idx).iops / mib_s).sum::<f64>()
    };
    let seen = Answer::new().with("with_credits_mb_s", run(&bursting));
    let seen = if short.is_some() { seen } else { seen.with("without_credits_mb_s", run(&plain)) };
    Outcome::both(said, seen)
}

/// How far the caps lie above a need.
pub(crate) fn headroom(case: &Case) -> Outcome {
    let asked = case.num("need_iops");
    let done = need(&of_row(case), reads(SMALL), asked);
    let pct = |kind| above(cap(&done, kind).1, asked) * 100.0;
    Outcome::said(
        Answer::new()
            .with("disk_headroom_pct", pct(CapKind::DiskIops))
            .with("vm_headroom_pct", pct(CapKind::VmUncachedIops))
            .binds(binds_first(&done)),
    )
}
