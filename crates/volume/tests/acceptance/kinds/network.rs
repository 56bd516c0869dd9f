//! Network volumes and the machines that reach them.

use serde_json::{Map, json};
use volume::CapKind;
use volume::design::Design;
use volume::limits::{Bound, Done, Load, Scope, together};

use super::product::{
    DEEP, KIB, MIB, MS, SMALL, at_depth, cap, first, flow, is_met, need, parse, reads, writes,
};
use crate::answer::{Answer, Outcome};
use crate::rig::{Rig, Stream, brief};
use crate::table::Case;

/// Sizes in which network volumes are published.
const MIB_S: f64 = MIB as f64;

/// Size of I/Os where bytes are counted.
const LARGE: u64 = 64 * KIB;

/// One network volume, alone or with clients.
#[track_caller]
fn volume(edition: &str, keys: &str, clients: &str) -> Design {
    parse(&format!("edition='{edition}'\n[[volume]]\nmount='/v0'\n{keys}\n{clients}"))
}

/// As many equal clients.
fn clients(count: u64, keys: &str) -> String {
    format!("[[client]]\n{keys}\n").repeat(count as usize)
}

/// The largest regular volume and the large one of the documents, of which only ceilings matter.
const REGULAR: &str = "service='Ultra'\nquota='100TiB'";
const BIG: &str = "service='Ultra'\nquota='101TiB'\nlarge=true";

fn run_binds(answer: Answer, rig: &Rig) -> Answer {
    answer.binds(rig.binds().unwrap_or(Bound::Nothing))
}

/// The quota that gives a throughput at the level's rate for one TiB, and what binds with it.
pub(crate) fn quota(case: &Case) -> Outcome {
    let of = |tib: f64| {
        let design = volume("2019", &format!("service='Premium'\nquota='{tib}TiB'"), "");
        first(&design, &reads(LARGE))
    };
    let tib = case.num("target_mib_s") * MIB_S / of(1.0).bytes_per_s;
    Outcome::said(Answer::new().with("quota_tib", tib).binds(of(tib).binds))
}

pub(crate) fn volume_cap(case: &Case) -> Outcome {
    let (edition, keys) = match case.id.as_str() {
        "E-12" => ("2023", format!("{BIG}\nmix='published'")),
        "N-01" => ("2024", format!("{REGULAR}\nmix='published'")),
        "M-18" => ("current", "service='Premium'\nquota='2TiB'".to_owned()),
        "M-19" => ("current", "service='Premium'\nquota='100GiB'".to_owned()),
        id => panic!("{id}: which volume?"),
    };
    let design = volume(edition, &keys, "");
    let done = first(&design, &reads(LARGE));
    let level = cap(&done, CapKind::VolumeQuota).0.per_s;
    let rig = brief(&design, vec![Stream::new(DEEP, LARGE)]);
    let throughput = |per_s: f64| Answer::new().with("throughput_mib_s", per_s / MIB_S);
    Outcome::both(
        throughput(done.bytes_per_s).with("level_mib_s", level / MIB_S).binds(done.binds),
        run_binds(throughput(rig.seen(0).bytes_per_s), &rig),
    )
}

/// The volumes of docs/designs/pool.toml, which have all of their pool.
pub(crate) fn manual_qos(_: &Case) -> Outcome {
    let design = parse(include_str!("../../../../../docs/designs/pool.toml"));
    let n_volumes = design.volumes.len();
    let flows: Vec<_> = (0..n_volumes).map(|idx| flow(idx as u16, reads(LARGE), None)).collect();
    let all = together(&design, &flows);
    let (pool, _) = cap(&all[0], CapKind::Pool);
    let sum: f64 = all.iter().map(|done| done.bytes_per_s).sum();
    // What they share and leave nothing of.
    let is_used_up = |done: &Done| {
        let shared = done.caps.iter().filter(|(cap, _)| matches!(cap.scope, Scope::Pool(_)));
        let used_up = |(_, left): &&(_, f64)| *left <= done.iops * (1.0 + 1e-9);
        shared.filter(used_up).map(|(cap, _)| cap.bound).next()
    };
    let shared: Vec<Option<Bound>> = all.iter().map(is_used_up).collect();
    let bound = shared.iter().copied().reduce(|a, b| a.filter(|_| a == b)).flatten();
    let said = Answer::new()
        .with("pool_mib_s", pool.per_s / MIB_S)
        .with("assigned_sum_mib_s", sum / MIB_S)
        .with("fits", sum <= pool.per_s * (1.0 + 1e-9))
        .binds(bound.unwrap_or(Bound::Nothing));
    let streams = (0..n_volumes).map(|idx| Stream::new(256, LARGE).on(idx));
    let rig = brief(&design, streams.collect());
    let sum: f64 = (0..n_volumes).map(|idx| rig.seen(idx).bytes_per_s).sum();
    let is_full = rig.used(CapKind::Pool) > 0.98;
    let bound = if is_full { Bound::Cap(CapKind::Pool) } else { Bound::Nothing };
    Outcome::both(said, Answer::new().with("assigned_sum_mib_s", sum / MIB_S).binds(bound))
}

/// The same I/Os in flight from machines that are farther away.
pub(crate) fn farther(case: &Case) -> Outcome {
    let latencies = case.nums("latency_ms");
    let depth = case.num("concurrency") as u64;
    let at = |ms: &f64| {
        let keys = format!("{REGULAR}\nmix='published'\nlatency='{}us'", latencies[0] * 1000.0);
        let way = (ms - latencies[0]) * 1000.0;
        volume("2019", &keys, &clients(1, &format!("round_trip='{way}us'\nnconnect=8")))
    };
    let designs: Vec<Design> = latencies.iter().map(at).collect();
    let ask = |design: &Design| first(design, &at_depth(reads(SMALL), depth));
    let all: Vec<Done> = designs.iter().map(ask).collect();
    let said = all.iter().map(|done| done.iops).collect::<Vec<_>>();
    let run =
        |design: &Design| brief(design, vec![Stream::new(depth as usize, SMALL)]).seen(0).iops;
    let seen = designs.iter().map(run).collect::<Vec<_>>();
    Outcome::both(
        Answer::new().with("iops", said).binds(all[0].binds),
        Answer::new().with("iops", seen),
    )
}

pub(crate) fn slots(case: &Case) -> Outcome {
    let n_clients = case.num("clients") as u64;
    let latency_ms = case.opt("latency_ms").unwrap_or(1.0);
    let of = |n_clients: u64, connections: f64| {
        let slots = case.num("slots_per_connection");
        let keys = format!("{BIG}\nmix='published'\nlatency='{latency_ms}ms'");
        let client = format!("nconnect={connections}\nslots={slots}");
        volume("2023", &keys, &clients(n_clients, &client))
    };
    let designs: Vec<Design> =
        case.nums("nconnect").iter().map(|connections| of(n_clients, *connections)).collect();
    let of_slots =
        |design: &Design| cap(&first(design, &reads(SMALL)), CapKind::NfsSlots).0.clone();
    let slots: Vec<_> = designs.iter().map(of_slots).collect();
    let counts: Vec<f64> = slots.iter().map(|slots| slots.per_s).collect();
    let answer = Answer::new().with("slots", counts.clone());
    let Some(wanted) = case.opt("wanted_ops_s") else {
        // At more I/Os in flight than one connection takes: what do more connections change?
        let load = at_depth(reads(SMALL), counts[0] as u64 * 2);
        let all: Vec<Done> = designs.iter().map(|design| first(design, &load)).collect();
        let more = if all[1].iops > all[0].iops { "higher with nconnect" } else { "same" };
        let faster = all[1].latency_s < all[0].latency_s;
        let faster = if faster { "lower with nconnect" } else { "same" };
        return Outcome::said(answer.with("iops", more).with("latency", faster));
    };
    let all: Vec<Done> = designs.iter().map(|design| need(design, reads(SMALL), wanted)).collect();
    let said = answer
        .with("ops_s_max", slots.iter().map(volume::limits::CapUse::rate).collect::<Vec<_>>())
        .with("meets", all.iter().map(is_met).collect::<Vec<_>>());
    let said = all.iter().fold(said, |said, done| said.binds(done.binds));
    // In the run one of the clients, with its part of what is wanted.
    let mut seen = Answer::new();
    let mut meets = Vec::new();
    for connections in case.nums("nconnect") {
        let asked = wanted / n_clients as f64;
        let rig = brief(&of(1, connections), vec![Stream::at_rate(asked, SMALL)]);
        let is_met = rig.seen(0).iops > asked * 0.995;
        meets.push(is_met);
        let full = !is_met && rig.used(CapKind::NfsSlots) > 0.0;
        seen = seen.binds(if full { Bound::Cap(CapKind::NfsSlots) } else { Bound::Nothing });
    }
    Outcome::both(said, seen.with("meets", meets))
}

/// The fewest slots with which `limits --demand` says that a rate is met.
pub(crate) fn slots_needed(case: &Case) -> Outcome {
    let sizes: &[u64] = if case.has("clients") { &[8] } else { &[8, 8, 256, 256] };
    let of = |((iops, ms), kib): ((f64, f64), &u64)| {
        let asked = |slots: u64| {
            let keys = format!("{BIG}\nmix='published'\nlatency='{}us'", ms * 1000.0);
            let design = volume("current", &keys, &clients(1, &format!("slots={slots}")));
            is_met(&need(&design, reads(kib * KIB), iops))
        };
        (1..=4096).find(|slots| asked(*slots)).expect("some are enough")
    };
    let pairs = case.nums("iops").into_iter().zip(case.nums("latency_ms"));
    let slots: Vec<u64> = pairs.zip(sizes).map(of).collect();
    let said = Answer::new().with("slots", slots.clone());
    Outcome::said(match case.opt("clients") {
        Some(n_clients) => {
            let least = case.num("min_slots_per_client") as u64;
            said.with("slots_per_client", slots[0].div_ceil(n_clients as u64).max(least))
        }
        None => said,
    })
}

/// Calls of one I/O: what it costs of a volume's measured I/Os.
pub(crate) fn calls(case: &Case) -> Outcome {
    let list = if case.has("rsize_kib_list") { "rsize_kib_list" } else { "rsize_kib" };
    let transfers = case.nums(list);
    let calls = |io_kib: f64, transfer_kib: f64| {
        let keys = format!("{REGULAR}\ntransfer='{transfer_kib}KiB'\nmix='random'");
        let done = first(&volume("2023", &keys, ""), &reads(io_kib as u64 * KIB));
        cap(&done, CapKind::VolumeIops).0.per_io
    };
    let ios = case.nums("io_kib");
    let transfer = |idx: usize| *transfers.get(idx).unwrap_or(&transfers[0]);
    let all: Vec<f64> =
        ios.iter().enumerate().map(|(idx, kib)| calls(*kib, transfer(idx))).collect();
    let best = transfers
        .iter()
        .min_by(|a, b| calls(ios[0], **a).total_cmp(&calls(ios[0], **b)))
        .map(|kib| kib * KIB as f64);
    Outcome::said(Answer::new().with("rpcs", all).with("best_rsize_bytes", best))
}

/// What the cards of machines send together, by the catalogue.
pub(crate) fn cards(case: &Case) -> Outcome {
    let n_machines = case.num("vms");
    let (edition, keys, machine) = match case.id.as_str() {
        "E-05" => ("2023", format!("{BIG}\nmix='published'"), "D16s_v5"),
        "A-04" => ("2019", REGULAR.to_owned(), "D32s_v3"),
        id => panic!("{id}: which machines?"),
    };
    let client = format!("vm='{machine}'\nnconnect=8");
    let design = volume(edition, &keys, &clients(n_machines as u64, &client));
    let done = first(&design, &writes(LARGE));
    let egress = cap(&done, CapKind::VmEgress).0.per_s / MIB_S;
    let said = Answer::new().with("each_mib_s", egress / n_machines).with("egress_mib_s", egress);
    let Some(carried) = case.opt("volume_mib_s") else { return Outcome::said(said) };
    let done = need(&design, writes(LARGE), carried * MIB_S / LARGE as f64);
    let said = said.with("per_client_mib_s", done.bytes_per_s / MIB_S / n_machines);
    let said = said.with("per_client_ops_s", case.num("ops_s") / n_machines);
    Outcome::said(said.binds(done.binds))
}

/// What is read comes in, which no card meters; what is written goes out.
pub(crate) fn card_direction(case: &Case) -> Outcome {
    let keys = format!("{REGULAR}\nmix='published'");
    let design = volume("2024", &keys, &clients(1, "vm='D32s_v4'\nnconnect=8"));
    let egress = cap(&first(&design, &writes(LARGE)), CapKind::VmEgress).0.per_s / MIB_S;
    let (read, write) = (case.num("read_mib_s"), case.num("write_mib_s"));
    let asked = |load: Load, mib_s: f64| need(&design, load, mib_s * MIB_S / LARGE as f64);
    let (received, sent) = (asked(reads(LARGE), read), asked(writes(LARGE), write));
    Outcome::said(
        Answer::new()
            .with("egress_mib_s", egress)
            .with("read_exceeds_nic", is_met(&received) && received.bytes_per_s / MIB_S > egress)
            .with("write_within_nic", is_met(&sent))
            .with("read_over_nic", received.bytes_per_s / MIB_S / egress)
            .binds(received.binds)
            .binds(sent.binds),
    )
}

/// Small I/Os at what was measured, in bytes.
pub(crate) fn iops_to_throughput(case: &Case) -> Outcome {
    let (edition, keys, is_read) = match case.id.as_str() {
        "A-05" => ("2019", "service='Premium'\nquota='70.3125TiB'".to_owned(), true),
        "E-15a" => ("2023", format!("{BIG}\nmix='random'"), false),
        // The text's figure; the table's stands in the catalogue.
        "E-15b" => {
            let own = format!("ceiling={{ read_iops={} }}", case.num("iops"));
            ("2023", format!("{BIG}\nmix='random'\n{own}"), true)
        }
        id => panic!("{id}: which volume?"),
    };
    let size = case.num("io_kib") as u64 * KIB;
    let design = volume(edition, &keys, "");
    let load = if is_read { reads(size) } else { writes(size) };
    let done = first(&design, &load);
    // The ceiling of all that a volume moves, without what was measured of one kind.
    let of_all =
        volume(edition, &format!("{}\nmix='published'", keys.split("\nmix").next().unwrap()), "");
    let ceiling = cap(&first(&of_all, &reads(size)), CapKind::VolumeCeiling).0.per_s;
    let stream = Stream { read_share: load.read_share, ..Stream::new(DEEP, size) };
    let rig = brief(&design, vec![stream]);
    let answer = |per_s: f64| {
        Answer::new()
            .with("throughput_mib_s", per_s / MIB_S)
            .with("ceiling_pct", per_s / ceiling * 100.0)
    };
    Outcome::both(answer(done.bytes_per_s).binds(done.binds), answer(rig.seen(0).bytes_per_s))
}

/// Large I/Os at what was measured on the large volume.
pub(crate) fn measured(case: &Case) -> Outcome {
    let size = case.num("io_kib") as u64 * KIB;
    let load = if case.has("vm_egress_mbit_s") { writes(size) } else { reads(size) };
    let keys = format!("{BIG}\nmix='sequential-256k'");
    let done = first(&volume("2023", &keys, ""), &load);
    let all = first(&volume("2023", &format!("{BIG}\nmix='published'"), ""), &load);
    let ceiling = cap(&all, CapKind::VolumeCeiling).0.per_s;
    let said = Answer::new()
        .with("iops", done.iops)
        .with("ceiling_pct", done.bytes_per_s / ceiling * 100.0)
        .binds(done.binds);
    // The fewest machines whose cards do not bind.
    let with = |count: u64| {
        let design = volume("2023", &keys, &clients(count, "vm='D32s_v3'\nnconnect=8"));
        first(&design, &load).binds == done.binds
    };
    let machines = (1..100).find(|count| with(*count));
    let stream = Stream { read_share: load.read_share, ..Stream::new(DEEP, size) };
    let rig = brief(&volume("2023", &keys, ""), vec![stream]);
    let seen = Answer::new().with("iops", rig.seen(0).iops);
    Outcome::both(said.with("vms_min_for_egress", machines), run_binds(seen, &rig))
}

/// The loads of the 2024 benchmarks that a row is about.
fn of_2024(case: &Case) -> Design {
    let mix = match case.id.as_str() {
        "N-03" => "random-4k-cached",
        "N-04" | "N-08" => "random-4k",
        "N-05" => "random-8k",
        "N-09" => "sequential-64k-cached",
        "N-10" => "sequential-64k",
        "N-11" => "sequential-256k",
        id => panic!("{id}: which load?"),
    };
    volume("2024", &format!("{REGULAR}\nmix='{mix}'"), "")
}

fn of_case(case: &Case, read_share: f64) -> Load {
    Load::new(case.num("io_kib") as u64 * KIB, read_share)
}

/// Read shares of a sweep in steps, from pure reads to pure writes.
fn sweep(step_pct: f64) -> Vec<f64> {
    let n_steps = (100.0 / step_pct) as u32;
    (0..=n_steps).map(|idx| 1.0 - f64::from(idx) * step_pct / 100.0).collect()
}

pub(crate) fn mix_random(case: &Case) -> Outcome {
    let design = of_2024(case);
    let at = |read_share: f64| first(&design, &of_case(case, read_share));
    let all: Vec<Done> = sweep(case.num("step_pct")).into_iter().map(at).collect();
    let falls = |rates: &[f64]| rates.windows(2).all(|pair| pair[1] < pair[0]);
    let rates: Vec<f64> = all.iter().map(|done| done.iops).collect();
    let parts = |rate: &dyn Fn(f64) -> f64| {
        let part = |pct: &u32| (pct.to_string(), json!(rate(f64::from(*pct) / 100.0)));
        [100, 75, 50, 25, 0].iter().map(part).collect::<Map<_, _>>()
    };
    let mut said = Answer::new()
        .with("points", all.len())
        .with("read_mib_s", all[0].bytes_per_s / MIB_S)
        .with("write_mib_s", all[all.len() - 1].bytes_per_s / MIB_S)
        .with("iops_at_read_pct", parts(&|share| at(share).iops))
        .with("monotone", falls(&rates));
    // One cap binds at every mix.
    let bound = all[0].binds;
    said =
        said.binds(if all.iter().all(|done| done.binds == bound) { bound } else { Bound::Nothing });
    let run = |read_share: f64| {
        let load = of_case(case, read_share);
        let stream = Stream { read_share, ..Stream::new(DEEP, load.size_bytes) };
        brief(&design, vec![stream]).seen(0).iops
    };
    let seen = parts(&run);
    let rates: Vec<f64> = [1.0, 0.5, 0.0].into_iter().map(run).collect();
    let seen = Answer::new().with("iops_at_read_pct", seen).with("monotone", falls(&rates));
    Outcome::both(
        if case.binds.is_empty() { Answer { binds: Vec::new(), ..said } } else { said },
        seen,
    )
}

pub(crate) fn mix_ends(case: &Case) -> Outcome {
    let design = of_2024(case);
    let ends = [1.0, 0.0].map(|read_share| first(&design, &of_case(case, read_share)));
    let run = |read_share: f64| {
        let load = of_case(case, read_share);
        let stream = Stream { read_share, ..Stream::new(DEEP, load.size_bytes) };
        brief(&design, vec![stream]).seen(0).iops
    };
    let said = Answer::new()
        .with("points", sweep(case.num("step_pct")).len())
        .with("read_iops", ends[0].iops)
        .with("write_iops", ends[1].iops)
        .binds(ends[0].binds)
        .binds(ends[1].binds);
    Outcome::both(said, Answer::new().with("read_iops", run(1.0)).with("write_iops", run(0.0)))
}

pub(crate) fn mix_sequential(case: &Case) -> Outcome {
    let design = of_2024(case);
    let [read, half, write] =
        [1.0, 0.5, 0.0].map(|read_share| first(&design, &of_case(case, read_share)));
    let harmonic = 2.0 / (1.0 / read.bytes_per_s + 1.0 / write.bytes_per_s);
    let said = Answer::new()
        .with("points", sweep(case.num("step_pct")).len())
        .with("read_iops", read.iops)
        .with("write_iops", write.iops)
        .with("mib_s_at_read_pct_50", half.bytes_per_s / MIB_S)
        .with("harmonic_50_wrong", harmonic / MIB_S)
        .binds(half.binds);
    let run = |read_share: f64| {
        let load = of_case(case, read_share);
        let stream = Stream { read_share, ..Stream::new(DEEP, load.size_bytes) };
        brief(&design, vec![stream])
    };
    let half = run(0.5);
    let seen = Answer::new()
        .with("read_iops", run(1.0).seen(0).iops)
        .with("write_iops", run(0.0).seen(0).iops)
        .with("mib_s_at_read_pct_50", half.seen(0).bytes_per_s / MIB_S);
    Outcome::both(said, run_binds(seen, &half))
}

/// How long the fill takes at what the volume carries.
pub(crate) fn fill_time(case: &Case) -> Outcome {
    let bytes = case.num("total_gib") * 1024.0 * MIB_S;
    let done = first(&volume("2019", REGULAR, ""), &writes(LARGE));
    let elapsed_s = case.num("elapsed_s");
    Outcome::said(
        Answer::new()
            .with("elapsed_h", elapsed_s / 3600.0)
            .with("needed_mib_s", bytes / elapsed_s / MIB_S)
            .with("hours_at_ceiling", bytes / done.bytes_per_s / 3600.0),
    )
}

/// Small I/O at what was measured on the regular volume, and large I/O at its ceiling, in a closed
/// loop.
pub(crate) fn fio(case: &Case) -> Outcome {
    let depth = (case.num("numjobs") * case.num("iodepth")) as u64;
    let design = volume("2023", &format!("{REGULAR}\nmix='random'"), "");
    let answer = |of: &dyn Fn(Load) -> (f64, f64)| {
        let (read, write, large) = (of(reads(SMALL)), of(writes(SMALL)), of(reads(LARGE)));
        let mib_s = |iops: f64| iops * SMALL as f64 / MIB_S;
        Answer::new()
            .with("read_latency_ms", read.1 / MS)
            .with("read_mib_s", mib_s(read.0))
            .with("write_latency_ms", write.1 / MS)
            .with("write_mib_s", mib_s(write.0))
            .with("iops_64k", large.0)
            .with("latency_64k_ms", large.1 / MS)
    };
    let said = answer(&|load| {
        let done = first(&design, &at_depth(load, depth));
        (done.iops, done.latency_s.expect("a depth"))
    });
    let seen = answer(&|load| {
        let stream = Stream::new(depth as usize, load.size_bytes);
        let seen = brief(&design, vec![Stream { read_share: load.read_share, ..stream }]).seen(0);
        (seen.iops, seen.mean_latency_s)
    });
    Outcome::both(said.with("outstanding", depth), seen)
}
