//! Network volumes and the machines that reach them.

use std::cmp::Ordering;

use serde_json::{Map, Value, json};
use volume::CapKind;
use volume::limits::bound::least;
use volume::limits::size::{bytes_of_megabits, seconds_to_move};
use volume::limits::surface::{self, Ends, SizeModel};
use volume::limits::{Bound, network, queue};

use crate::answer::Answer;
use crate::table::{Case, number, numbers};

const MS: f64 = 1e-3;
const KIB: f64 = 1024.0;
const MIB: f64 = 1_048_576.0;

pub(crate) fn quota(case: &Case) -> Answer {
    let (target, per_tib) = (case.num("target_mib_s"), case.num("mib_s_per_tib"));
    let quota_tib = network::quota_tib(target, per_tib);
    let volume = network::volume_throughput(quota_tib, per_tib, target);
    Answer::new().with("quota_tib", quota_tib).binds(volume.binds)
}

pub(crate) fn volume_cap(case: &Case) -> Answer {
    let (quota_tib, per_tib) = (case.num("quota_tib"), case.num("mib_s_per_tib"));
    let volume = network::volume_throughput(quota_tib, per_tib, case.num("ceiling_mib_s"));
    Answer::new()
        .with("level_mib_s", network::level_throughput(quota_tib, per_tib))
        .with("throughput_mib_s", volume.rate)
        .binds(volume.binds)
}

pub(crate) fn manual_qos(case: &Case) -> Answer {
    let volumes = case.nums("assigned_mib_s");
    let assigned = network::assign(case.num("pool_tib"), case.num("mib_s_per_tib"), &volumes);
    let used = least(None, &[(Bound::Cap(CapKind::Pool), assigned.pool)]);
    Answer::new()
        .with("pool_mib_s", assigned.pool)
        .with("assigned_sum_mib_s", assigned.sum)
        .with("fits", assigned.fits)
        .binds(used.binds)
}

pub(crate) fn slots(case: &Case) -> Answer {
    let of = |connections: &f64| {
        let (n_clients, per_connection) = (case.num("clients"), case.num("slots_per_connection"));
        network::slots(n_clients as u32, *connections as u32, per_connection as u32)
    };
    let slots: Vec<u64> = case.nums("nconnect").iter().map(of).collect();
    let answer = Answer::new().with("slots", slots.clone());
    let Some(wanted) = case.opt("wanted_ops_s") else {
        // At more I/Os in flight than one connection takes: what do more connections change?
        let in_flight = slots[0] as f64 * 2.0;
        let rates: Vec<f64> =
            slots.iter().map(|&slots| network::slot_rate(slots, Some(in_flight), MS)).collect();
        let latencies: Vec<f64> =
            rates.iter().map(|&rate| queue::latency_s(in_flight, rate)).collect();
        let more = if rates[1] > rates[0] { "higher with nconnect" } else { "same" };
        let faster = if latencies[1] < latencies[0] { "lower with nconnect" } else { "same" };
        return answer.with("iops", more).with("latency", faster);
    };
    let latency_s = case.num("latency_ms") * MS;
    let rate = |slots: &u64| network::slot_rate(*slots, None, latency_s);
    let most: Vec<f64> = slots.iter().map(rate).collect();
    let met: Vec<_> = most
        .iter()
        .map(|&most| least(Some(wanted), &[(Bound::Cap(CapKind::NfsSlots), most)]))
        .collect();
    let meets: Vec<bool> = met.iter().map(|met| met.binds == Bound::Nothing).collect();
    let answer = answer.with("ops_s_max", most).with("meets", meets);
    met.iter().fold(answer, |answer, met| answer.binds(met.binds))
}

pub(crate) fn slots_needed(case: &Case) -> Answer {
    let pairs = case.nums("iops").into_iter().zip(case.nums("latency_ms"));
    let slots: Vec<u64> = pairs.map(|(iops, ms)| network::slots_needed(iops, ms * MS)).collect();
    let answer = Answer::new().with("slots", slots.clone());
    match case.opt("clients") {
        Some(n_clients) => {
            let each = network::slots_per_client(slots[0], n_clients as u64);
            answer.with("slots_per_client", each)
        }
        None => answer,
    }
}

pub(crate) fn calls(case: &Case) -> Answer {
    let list = if case.has("rsize_kib_list") { "rsize_kib_list" } else { "rsize_kib" };
    let transfers: Vec<u64> = case.nums(list).iter().map(|kib| (kib * KIB) as u64).collect();
    let ios = case.nums("io_kib");
    let transfer = |idx: usize| *transfers.get(idx).unwrap_or(&transfers[0]);
    let calls = ios.iter().enumerate();
    let calls = calls.map(|(idx, kib)| network::calls((kib * KIB) as u64, transfer(idx)));
    let best = network::best_transfer_bytes((ios[0] * KIB) as u64, &transfers);
    Answer::new().with("rpcs", calls.collect::<Vec<_>>()).with("best_rsize_bytes", best)
}

pub(crate) fn window(case: &Case) -> Answer {
    let pairs = case.nums("mib_s").into_iter().zip(case.nums("rtt_ms"));
    let window = |(mib_s, ms): (f64, f64)| network::window_bytes(mib_s * MIB, ms * MS) / KIB;
    Answer::new().with("window_kib", pairs.map(window).collect::<Vec<_>>())
}

pub(crate) fn cards(case: &Case) -> Answer {
    let n_machines = case.num("vms");
    let each = bytes_of_megabits(case.num("nic_mbit_s")) / MIB;
    let mut answer = Answer::new().with("each_mib_s", each).with("egress_mib_s", n_machines * each);
    if let Some(volume) = case.opt("volume_mib_s") {
        let card = least(Some(volume), &[(Bound::Cap(CapKind::VmEgress), n_machines * each)]);
        answer = answer.with("per_client_mib_s", volume / n_machines).binds(card.binds);
    }
    match case.opt("ops_s") {
        Some(ops) => answer.with("per_client_ops_s", ops / n_machines),
        None => answer,
    }
}

/// What is read comes in, which no card meters; what is written goes out.
pub(crate) fn card_direction(case: &Case) -> Answer {
    let egress = bytes_of_megabits(case.num("nic_mbit_s")) / MIB;
    let (read, write) = (case.num("read_mib_s"), case.num("write_mib_s"));
    let sent = least(Some(write), &[(Bound::Cap(CapKind::VmEgress), egress)]);
    let received = least(Some(read), &[]);
    Answer::new()
        .with("egress_mib_s", egress)
        .with("read_exceeds_nic", read > egress)
        .with("write_within_nic", sent.binds == Bound::Nothing)
        .with("read_over_nic", surface::share_of(read, egress))
        .binds(received.binds)
        .binds(sent.binds)
}

pub(crate) fn iops_to_throughput(case: &Case) -> Answer {
    let (iops, io_kib) = (case.num("iops"), case.num("io_kib"));
    let mut caps = vec![(Bound::Cap(CapKind::VolumeIops), iops)];
    let ceiling = case.opt("ceiling_mib_s");
    caps.extend(
        ceiling.map(|mib_s| (Bound::Cap(CapKind::VolumeCeiling), queue::rate(mib_s * KIB, io_kib))),
    );
    let least = least(None, &caps);
    let mib_s = surface::throughput(least.rate, io_kib) / KIB;
    let answer = Answer::new().with("throughput_mib_s", mib_s).binds(least.binds);
    match ceiling {
        Some(ceiling) => answer.with("ceiling_pct", surface::share_of(mib_s, ceiling) * 100.0),
        None => answer,
    }
}

pub(crate) fn spec_point(case: &Case) -> Answer {
    let (ops, mib_s) = (case.num("ops_s"), case.num("mib_s"));
    let answer = Answer::new()
        .with("mean_op_kib", mib_s * KIB / ops)
        .with("concurrency", queue::in_flight(ops, case.num("latency_ms") * MS));
    match case.opt("ceiling_mib_s") {
        Some(ceiling) => answer
            .with("ceiling_pct", surface::share_of(mib_s, ceiling) * 100.0)
            .binds(least(None, &[(Bound::Cap(CapKind::VolumeCeiling), ceiling)]).binds),
        None => answer,
    }
}

pub(crate) fn measured(case: &Case) -> Answer {
    let (mib_s, ceiling) = (case.num("mib_s"), case.num("ceiling_mib_s"));
    let answer = Answer::new()
        .with("iops", queue::rate(mib_s * KIB, case.num("io_kib")))
        .with("ceiling_pct", surface::share_of(mib_s, ceiling) * 100.0)
        .binds(Bound::Cap(CapKind::VolumeCeiling));
    match case.opt("vm_egress_mbit_s") {
        Some(mbit_s) => {
            let senders = network::senders(mib_s * MIB, bytes_of_megabits(mbit_s));
            answer.with("vms_min_for_egress", senders)
        }
        None => answer,
    }
}

pub(crate) fn mix_random(case: &Case) -> Answer {
    let (read, write) = (case.num("read_iops"), case.num("write_iops"));
    let sweep = surface::sweep(case.num("step_pct") as u32);
    let all: Vec<f64> =
        sweep.iter().map(|&share| surface::mix_random(read, write, share)).collect();
    let mut at = Map::new();
    for pct in [100, 75, 50, 25, 0] {
        let iops = surface::mix_random(read, write, f64::from(pct) / 100.0);
        at.insert(pct.to_string(), json!(iops));
    }
    let mib_s = |iops: f64| surface::throughput(iops, case.num("io_kib")) / KIB;
    Answer::new()
        .with("points", sweep.len())
        .with("read_mib_s", mib_s(read))
        .with("write_mib_s", mib_s(write))
        .with("iops_at_read_pct", at)
        .with("monotone", all.windows(2).all(|pair| pair[1] < pair[0]))
        .binds(Bound::Cap(CapKind::VolumeIops))
}

pub(crate) fn mix_ends(case: &Case) -> Answer {
    let io_kib = case.num("io_kib");
    let iops = |key: &str| queue::rate(case.num(key) * KIB, io_kib);
    let end = |read_share: f64| {
        let (read, write) = (case.num("read_mib_s"), case.num("write_mib_s"));
        surface::mix_sequential(read, write, read.max(write), read_share).binds
    };
    Answer::new()
        .with("points", surface::sweep(case.num("step_pct") as u32).len())
        .with("read_iops", iops("read_mib_s"))
        .with("write_iops", iops("write_mib_s"))
        .binds(end(1.0))
        .binds(end(0.0))
}

pub(crate) fn mix_sequential(case: &Case) -> Answer {
    let io_kib = case.num("io_kib");
    let ceiling = crate::rig::sequential_ceiling(&case.edition, io_kib);
    let mib_s = |per_s: Option<u64>| per_s.map_or(f64::INFINITY, |per_s| per_s as f64 / MIB);
    let (read, write) = (mib_s(ceiling.read_bytes_per_s), mib_s(ceiling.write_bytes_per_s));
    let half = surface::mix_sequential(read, write, mib_s(ceiling.total_bytes_per_s), 0.5);
    Answer::new()
        .with("points", surface::sweep(case.num("step_pct") as u32).len())
        .with("read_iops", queue::rate(read * KIB, io_kib))
        .with("write_iops", queue::rate(write * KIB, io_kib))
        .with("mib_s_at_read_pct_50", half.rate)
        .with("harmonic_50_wrong", surface::mix_random(read, write, 0.5))
        .binds(half.binds)
}

pub(crate) fn size_model(case: &Case) -> Answer {
    let sizes = case.nums("io_kib");
    let fit = |key: &str| {
        let iops = case.nums(key);
        SizeModel::fit((sizes[0], iops[0]), (sizes[1], iops[1]))
    };
    let (read, write) = (fit("read_iops"), fit("write_iops"));
    let ratio = |model: SizeModel| model.iops(sizes[1]) / model.iops(sizes[0]);
    let mib_ratio = |model: SizeModel| ratio(model) * sizes[1] / sizes[0];
    Answer::new()
        .with("read_a_us", read.per_io_s * 1e6)
        .with("read_b_us_per_kib", read.per_kib_s * 1e6)
        .with("write_a_us", write.per_io_s * 1e6)
        .with("write_b_us_per_kib", write.per_kib_s * 1e6)
        .with("read_iops_ratio", ratio(read))
        .with("write_iops_ratio", ratio(write))
        .with("read_mib_ratio", mib_ratio(read))
        .with("write_mib_ratio", mib_ratio(write))
}

fn ends(value: &Value) -> Ends {
    Ends { read: number(&value["read_mib_s"]), write: number(&value["write_mib_s"]) }
}

pub(crate) fn crossing(case: &Case) -> Answer {
    let share = surface::crossing(ends(case.get("cached")), ends(case.get("uncached")));
    Answer::new().with("crossing_read_fraction", share).with("inside", share.is_some())
}

pub(crate) fn compare(case: &Case) -> Answer {
    let (a, b) = (ends(case.get("a")), ends(case.get("b")));
    let word = |a: f64, b: f64| match a.total_cmp(&b) {
        Ordering::Less => "a<b",
        Ordering::Equal => "a=b",
        Ordering::Greater => "a>b",
    };
    let answer =
        Answer::new().with("write", word(a.write, b.write)).with("read", word(a.read, b.read));
    match case.get("b").get("cache").and_then(Value::as_str) {
        Some("cached") => answer.with("compared_with", "tests with caching"),
        Some(_) => answer.with("compared_with", "tests without caching"),
        None => answer,
    }
}

pub(crate) fn ratio(case: &Case) -> Answer {
    let reduction = surface::reduction(case.num("a"), case.num("b"));
    Answer::new().with("value", reduction * 100.0)
}

pub(crate) fn ratio_pair(case: &Case) -> Answer {
    let pairs = numbers(case.get("a")).into_iter().zip(numbers(case.get("b")));
    let ratios: Vec<f64> = pairs.map(|(a, b)| surface::share_of(a, b)).collect();
    Answer::new().with("ratio", ratios)
}

pub(crate) fn unit(case: &Case) -> Answer {
    let bytes_per_s = case.opt("mbit_s").map(bytes_of_megabits);
    let bytes_per_s = bytes_per_s.unwrap_or_else(|| case.num("mib_s") * MIB);
    Answer::new()
        .with("mb_s", bytes_per_s / 1e6)
        .with("mib_s", bytes_per_s / MIB)
        .with("gib_s", bytes_per_s / (MIB * KIB))
}

pub(crate) fn fill_time(case: &Case) -> Answer {
    let bytes = case.num("total_gib") * KIB * MIB;
    let elapsed_s = case.num("elapsed_s");
    let at_ceiling_s = seconds_to_move(bytes, case.num("ceiling_mib_s") * MIB);
    Answer::new()
        .with("elapsed_h", elapsed_s / 3600.0)
        .with("needed_mib_s", queue::rate(bytes, elapsed_s) / MIB)
        .with("hours_at_ceiling", at_ceiling_s / 3600.0)
}

pub(crate) fn scan_time(case: &Case) -> Answer {
    let seconds = seconds_to_move(case.num("tib") * MIB * MIB, case.num("mib_s") * MIB);
    Answer::new().with("seconds", seconds).with("hours", seconds / 3600.0)
}

/// Random small I/O at the measured ceilings, and large I/O at the ceiling of bytes, in a closed
/// loop.
pub(crate) fn fio(case: &Case) -> Answer {
    let in_flight = case.num("numjobs") * case.num("iodepth");
    let mib_s = |iops: f64| surface::throughput(iops, 8.0) / KIB;
    let ms = |iops: f64| queue::latency_s(in_flight, iops) / MS;
    let (read, write) = (case.num("read_iops_8k"), case.num("write_iops_8k"));
    let large = queue::rate(case.num("ceiling_mib_s") * KIB, 64.0);
    Answer::new()
        .with("outstanding", in_flight)
        .with("read_latency_ms", ms(read))
        .with("read_mib_s", mib_s(read))
        .with("write_latency_ms", ms(write))
        .with("write_mib_s", mib_s(write))
        .with("iops_64k", large)
        .with("latency_64k_ms", ms(large))
}

pub(crate) fn outstanding(case: &Case) -> Answer {
    let n_devices = case.num("sds") as u32;
    let threads = case.get("threads").as_object().expect("an object");
    let mut answer = Answer::new();
    for (run, threads) in threads {
        let depth = volume::limits::stripe::queue_depth(n_devices, number(threads));
        answer = answer.with(run, depth);
    }
    answer
}
