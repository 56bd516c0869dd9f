//! Disks and stripes without a machine in front of them.

use serde_json::Value;
use volume::design::{Backing, Disk, Limit};
use volume::limits::credit::Credits;
use volume::limits::size::published_mb_s;
use volume::limits::{Bound, Load, Scope, stripe, together};
use volume::{CapKind, Start, System, SystemOptions};

use super::product::{
    DEEP, Design, KIB, MB, MIB, MS, SMALL, TIB, advised, at_depth, binds_first, cap, design, disks,
    first, flow, is_met, left, reads,
};
use crate::answer::{Answer, Outcome};
use crate::rig::{Rig, S, Stream, steady};
use crate::table::{Case, number};

const OF_2018: &str = "edition='2018'";

fn one(top: &str, disk: &str) -> Design {
    design(top, "", &[disks(disk, 1, "None")])
}

/// Returns the first disk of a design.
fn disk(design: &Design) -> &Disk {
    match &design.volumes[0].backing {
        Backing::Disks(stripe) => &stripe.disks[0],
        Backing::Network(_) => panic!("a disk"),
    }
}

fn run_binds(answer: Answer, rig: &Rig) -> Answer {
    answer.binds(rig.binds().unwrap_or(Bound::QueueDepth))
}

/// A P30 at one size, by each reading of its MB, and as the guide's table prints it.
pub(crate) fn io_size(case: &Case) -> Outcome {
    let size_bytes = case.num("io_kib") as u64 * KIB;
    let mb_bytes = match case.text("unit") {
        "binary" => MIB,
        "decimal" => 1_000_000,
        "kib1000" => 1_024_000,
        _ => {
            let done = first(&one(OF_2018, "P30"), &reads(size_bytes));
            let per_s = done.first().expect("a cap").per_s;
            let (iops, mb_s) = published_mb_s(done.iops, size_bytes as f64, done.binds, per_s);
            let answer = Answer::new().with("iops", iops).with("throughput_mb_s", mb_s);
            return Outcome::said(answer.binds(done.binds));
        }
    };
    let design = one(&format!("{OF_2018}\nmb_bytes={mb_bytes}"), "P30");
    let answer = |iops: f64, bytes_per_s: f64| {
        Answer::new().with("iops", iops).with("throughput_mb_s", bytes_per_s / mb_bytes as f64)
    };
    let done = first(&design, &reads(size_bytes));
    let rig = steady(&design, vec![Stream::new(128, size_bytes)]);
    let seen = rig.seen(0);
    Outcome::both(
        answer(done.iops, done.bytes_per_s).binds(done.binds),
        run_binds(answer(seen.iops, seen.bytes_per_s), &rig),
    )
}

/// Equal disks side by side, of the guide.
pub(crate) fn stripe_sum(case: &Case) -> Outcome {
    let count = case.num("disks") as u64;
    let (machine, disk) = if case.id == "P-40" { ("size='D14'", "HDD-1TB") } else { ("", "P30") };
    let design_of = |count, more: &str| {
        design(OF_2018, machine, &[format!("{}{more}", disks(disk, count, "None"))])
    };
    let whole = design_of(count, "");
    let done = first(&whole, &reads(SMALL));
    let large = first(&whole, &reads(64 * KIB));
    // A stream over a stripe of as many columns as the dialog makes: it is on those disks alone.
    let dialog = u64::from(stripe::DIALOG_COLUMNS_MAX);
    let stream = first(&design_of(count.min(dialog), ""), &reads(SMALL));
    let columns = match &whole.volumes[0].backing {
        Backing::Disks(stripe) => stripe.columns,
        Backing::Network(_) => 0,
    };
    let said = Answer::new()
        .with("iops", done.iops)
        .with("throughput_mb_s", large.bytes_per_s / MB)
        .with("columns", columns)
        .with("ui_columns_max", dialog)
        .with("iops_one_stream_8_columns", stream.iops);
    let said = if case.binds.is_empty() { said } else { said.binds(done.binds) };
    let run = |design: &Design, size| steady(design, vec![Stream::new(DEEP * 4, size)]);
    let seen = Answer::new()
        .with("iops", run(&whole, SMALL).seen(0).iops)
        .with("throughput_mb_s", run(&whole, 64 * KIB).seen(0).bytes_per_s / MB);
    let has_stream = case.expect.get("iops_one_stream_8_columns").is_some();
    let seen = if has_stream {
        // The first GiB of such a stripe lies on its first columns.
        let columns = design_of(count, &format!("\ncolumns={dialog}"));
        let stream = Stream { warm_bytes: 1 << 30, ..Stream::new(DEEP, SMALL) };
        let rig = steady(&columns, vec![stream]);
        seen.with("iops_one_stream_8_columns", rig.seen(0).iops)
    } else {
        seen
    };
    Outcome::both(said, seen)
}

/// The fewest disks for a need, as `limits --demand` advises them.
pub(crate) fn count_disks(case: &Case) -> Outcome {
    let need = Some(case.num("need_iops"));
    let disks = advised(&one(OF_2018, "P30"), reads(SMALL), need, " x P30");
    Outcome::said(Answer::new().with("disks", disks))
}

pub(crate) fn stripe_io(case: &Case) -> Outcome {
    let keys = format!(
        "{}\nchunk='{}KiB'",
        disks("P30", case.num("disks") as u64, "None"),
        case.num("chunk_kib")
    );
    let design = design(OF_2018, "", &[keys]);
    let size_bytes = case.num("io_bytes") as u64;
    let at = |align: f64| {
        let load = Load { align_bytes: Some(align as u64), ..reads(size_bytes) };
        first(&design, &load)
    };
    let all: Vec<_> = case.nums("align_bytes").into_iter().map(at).collect();
    let each = |of: &dyn Fn(&volume::limits::Done) -> f64| all.iter().map(of).collect::<Vec<_>>();
    // No part of these I/Os is longer than what counts as one.
    let said = Answer::new()
        .with("sub_ios", each(&|done| cap(done, CapKind::DiskIops).0.per_io))
        .with("iops_side", each(&|done| cap(done, CapKind::DiskIops).1))
        .with("mb_side_iops", each(&|done| cap(done, CapKind::DiskBytes).1))
        .with("app_iops", each(&|done| done.iops))
        .binds(all[0].binds);
    let run = |align: f64| {
        let stream = Stream { align_bytes: align as u64, ..Stream::new(DEEP, size_bytes) };
        steady(&design, vec![stream])
    };
    let rigs: Vec<Rig> = case.nums("align_bytes").into_iter().map(run).collect();
    let rates: Vec<f64> = rigs.iter().map(|rig| rig.seen(0).iops).collect();
    Outcome::both(said, run_binds(Answer::new().with("app_iops", rates), &rigs[0]))
}

/// What a note of `limits --queue-depth` says.
pub(crate) fn stripe_busy(case: &Case) -> Outcome {
    let (n_disks, queue_depth) = (case.num("disks") as u32, case.num("queue_depth") as u32);
    let busy_max = stripe::busy_max(n_disks, queue_depth);
    Outcome::said(
        Answer::new()
            .with("busy_max", busy_max)
            .with("idle_min", n_disks - busy_max)
            .with("busy_expected_random", stripe::busy_expected(n_disks, queue_depth)),
    )
}

/// In flight until the disks of a stripe bind, as `limits --queue-depth 1` advises.
pub(crate) fn stripe_queue(case: &Case) -> Outcome {
    let design = design(OF_2018, "", &[disks("P30", case.num("disks") as u64, "None")]);
    let depth = advised(&design, at_depth(reads(SMALL), 1), None, " in flight");
    Outcome::said(Answer::new().with("queue_depth", depth))
}

/// In flight for a rate at a latency: what one of them carries, and what `limits` advises.
pub(crate) fn queue_depth(case: &Case) -> Outcome {
    let latency = format!("\nlatency='{}us'", case.num("latency_ms") * 1000.0);
    let need = case.num("iops");
    let design = if case.source == "S2" && need > 5000.0 {
        let volume = "service='Premium'\nquota='70.3125TiB'";
        design("edition='2019'", "", &[format!("{volume}{latency}")])
    } else {
        design(OF_2018, "", &[format!("{}{latency}", disks("P30", 1, "None"))])
    };
    let load = at_depth(reads(SMALL), 1);
    let threads = advised(&design, load, Some(need), " in flight");
    let each = first(&design, &load).iops;
    Outcome::said(Answer::new().with("queue_depth", need / each).with("threads", threads))
}

/// I/Os of a second on a P10, in units of 256 KiB.
pub(crate) fn io_units(case: &Case) -> Outcome {
    let mb_bytes = case.opt("mb_bytes").unwrap_or(MB);
    let keys = format!("{}\nburst='none'", disks("P10", 1, "None"));
    let design = design(&format!("mb_bytes={mb_bytes}"), "", &[keys]);
    let units = |done: &volume::limits::Done| cap(done, CapKind::DiskIops).0.per_io;
    let Some(groups) = case.input.get("ops").and_then(Value::as_array) else {
        let done = first(&design, &reads((case.num("io_kib") * KIB as f64) as u64));
        return Outcome::said(Answer::new().with("units", units(&done)));
    };
    let size = |group: &Value| number(&group["io_kib"]) as u64 * KIB;
    let count = |group: &Value| number(&group["count"]);
    let flows: Vec<_> =
        groups.iter().map(|group| flow(0, reads(size(group)), Some(count(group)))).collect();
    let all = together(&design, &flows);
    let counted: f64 = all.iter().zip(groups).map(|(done, of)| units(done) * count(of)).sum();
    let carried: f64 = all.iter().map(|done| done.bytes_per_s).sum();
    let short = all.iter().find(|done| !is_met(done));
    let said = Answer::new()
        .with("units", counted)
        .with("throughput_mb_s", carried / mb_bytes)
        .with("throttled", short.is_some())
        .binds(binds_first(short.unwrap_or(&all[0])));
    let streams = groups.iter().map(|group| Stream::at_rate(count(group), size(group))).collect();
    let rig = steady(&design, streams);
    let carried: f64 = (0..groups.len()).map(|idx| rig.seen(idx).bytes_per_s).sum();
    let seen = Answer::new().with("throughput_mb_s", carried / mb_bytes);
    Outcome::both(said, seen.binds(rig.binds().unwrap_or(Bound::Nothing)))
}

/// An emulated P30 in a closed loop.
pub(crate) fn closed_loop(case: &Case) -> Outcome {
    let latency = format!("\nlatency='{}ms'", case.num("base_latency_ms"));
    let design = design(OF_2018, "", &[format!("{}{latency}", disks("P30", 1, "None"))]);
    let size_bytes = case.num("io_kib") as u64 * KIB;
    let depth = case.num("queue_depth") as u64;
    let done = first(&design, &at_depth(reads(size_bytes), depth));
    let rig = steady(&design, vec![Stream::new(depth as usize, size_bytes)]);
    let seen = rig.seen(0);
    let answer = |iops: f64, latency_s: f64| {
        Answer::new().with("iops", iops).with("mean_latency_ms", latency_s / MS)
    };
    Outcome::both(
        answer(done.iops, done.latency_s.expect("a depth")).binds(done.binds),
        run_binds(answer(seen.iops, seen.mean_latency_s), &rig),
    )
}

/// Returns the credits of a limit, as the notes of `limits` count with them.
fn credits(limit: Option<&Limit>) -> Credits {
    let limit = limit.expect("a limit");
    let burst = limit.burst.expect("a burst");
    let bucket = burst.bucket.expect("credits") as f64;
    Credits { base: limit.per_s as f64, burst: burst.per_s as f64, bucket }
}

/// What `limits` carries of small reads with credits and without. Credits hold a load for which
/// these differ.
fn with_and_without(design: &Design) -> (f64, f64) {
    let with = Load { with_credits: true, ..reads(SMALL) };
    (first(design, &with).iops, first(design, &reads(SMALL)).iops)
}

fn held_by_credits(answer: Answer, rates: (f64, f64)) -> Answer {
    if rates.0 > rates.1 { answer.named("credits") } else { answer.named("none") }
}

pub(crate) fn burst(case: &Case) -> Outcome {
    let tier = if case.num("base_iops") > 1000.0 { "P20" } else { "P4" };
    let design = one("", tier);
    let own = credits(disk(&design).cap.iops.as_ref());
    let (with, without) = with_and_without(&design);
    let demand = case.num("demand_iops");
    let (high, low) = (with.min(demand), without.min(demand));
    let (burst_s, all_s) = (own.burst_s(demand), case.num("duration_s"));
    let said = Answer::new()
        .with("bucket", own.bucket)
        .with("burst_seconds", burst_s)
        .with("iops_phases", vec![high, low])
        .with("total_ios", high * burst_s + low * (all_s - burst_s))
        .with("idle_refill_s", own.refill_s());
    Outcome::both(held_by_credits(said, (high, low)), burst_run(case, &own))
}

/// A disk with these credits and no limit of bytes, second by second. One I/O of 2 MiB counts as
/// eight, so that the run needs an eighth of them.
fn burst_run(case: &Case, own: &Credits) -> Answer {
    let keys = format!(
        "disk={{ size='512GiB', iops={}, burst_iops={}, io_unit='256KiB' }}",
        own.base, own.burst
    );
    let design = design("", "", &[keys]);
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
        if second > 1 && rate < own.burst * 0.98 && burst_s.is_none() {
            burst_s = Some((second - 1) as f64);
        }
        rates.push(rate);
    }
    let phases = (rates[10], rates[rates.len() - 1]);
    let seen = Answer::new()
        .with("burst_seconds", burst_s)
        .with("iops_phases", vec![phases.0, phases.1])
        .with("total_ios", rig.n_done() as f64 * n_units);
    held_by_credits(seen, phases)
}

/// What comes back per second of rest: as `limits` notes it, and in a run that spends some credits
/// and then rests.
pub(crate) fn accrual(case: &Case) -> Outcome {
    let (mut said, mut seen) = (Vec::new(), Vec::new());
    for tier in ["P1", "P20"] {
        let design = one("", tier);
        let own = credits(disk(&design).cap.iops.as_ref());
        said.push(own.bucket / own.refill_s());
        let options = SystemOptions { n_waiting_max: 60_000, start: Start::Cold, seed: 7 };
        let mut system = System::new(&design, &options);
        let stream = Stream::new(1, SMALL);
        for id in 0..50_000 {
            system.submit(0, stream.io(id, id));
        }
        system.poll(15 * S, &mut Vec::new());
        let of_iops = system.caps().iter().position(|cap| cap.kind == CapKind::DiskIops);
        let of_iops = of_iops.expect("a cap");
        let left_at = |seconds: u64| {
            let usage = &system.usage(seconds * S)[of_iops];
            usage.credits.expect("credits").left as f64
        };
        // The last of them ended at 14.3 s, and neither account is full again at 20 s.
        seen.push((left_at(20) - left_at(16)) / 4.0);
    }
    assert!(case.nums("used_iops").iter().all(|used| *used == 0.0), "{}: rests", case.id);
    Outcome::both(
        Answer::new().with("accrual_per_s", said),
        Answer::new().with("accrual_per_s", seen),
    )
}

/// Volumes of gp2 by their size, which gives 3 IOPS per GiB and 100 at least.
pub(crate) fn gp2(case: &Case) -> Outcome {
    let of = |base: &f64| {
        let gib = (base / 3.0).floor();
        design("", "", &[format!("disk='gp2'\nsize='{gib}GiB'")])
    };
    let designs: Vec<Design> = case.nums("base_iops").iter().map(of).collect();
    let all: Vec<Credits> =
        designs.iter().map(|design| credits(disk(design).cap.iops.as_ref())).collect();
    let burst = case.num("burst_iops");
    let said = Answer::new()
        .with("burst_seconds", all.iter().map(|all| all.burst_s(burst)).collect::<Vec<_>>())
        .with("refill_seconds", all.iter().map(Credits::refill_s).collect::<Vec<_>>());
    Outcome::said(held_by_credits(said, with_and_without(&designs[0])))
}

/// How long a scan of an st1 volume takes at what it carries, which its credits outlast.
pub(crate) fn scan_time(case: &Case) -> Outcome {
    let tib = case.num("tib");
    let design = design("", "", &[format!("disk='st1'\nsize='{tib}TiB'")]);
    let load = Load { is_sequential: true, with_credits: true, ..reads(MIB) };
    let done = first(&design, &load);
    let seconds = tib * TIB / done.bytes_per_s;
    let lasts = credits(disk(&design).cap.bytes.as_ref()).burst_s(done.bytes_per_s);
    assert!(lasts >= seconds, "credits last for {lasts} s of {seconds}");
    assert!(
        left(&done) >= done.iops && done.caps.iter().all(|(cap, _)| cap.scope == Scope::Volume(0))
    );
    Outcome::said(Answer::new().with("seconds", seconds).with("hours", seconds / 3600.0))
}
