//! What holds for every load: nothing is lost, no cap is exceeded, and results depend on the
//! operations alone.

use proptest::prelude::*;

use crate::common::*;
use volume::design::{Backing, CacheMode, Ceiling, Client, Latency, NetworkVolume, Stripe};
use volume::{CapKind, Design, Done, Io, IoKind, System};

/// Designs that between them use everything.
fn any_design() -> impl Strategy<Value = Design> {
    let modes = [CacheMode::None, CacheMode::ReadOnly, CacheMode::ReadWrite];
    let latency = (1_u64..3_000_000, prop_oneof![Just(0.0), 0.05..1.0_f64]);
    let volumes = proptest::collection::vec((1_usize..5, 0_usize..4), 1..4);
    (volumes, latency, 100_u64..20_000, any::<u64>()).prop_map(
        move |(volumes, (mean_ns, spread), iops, seed)| {
            let volumes = volumes.into_iter().enumerate().map(|(idx, (n_disks, kind))| {
                let mount = format!("/v{idx}");
                let mut one = match modes.get(kind) {
                    Some(mode) => {
                        let mut one = disk(cap(iops, iops * 20_000), *mode);
                        one.cap.iops = Some(bursting(iops, iops * 2, Some(iops)));
                        volume(&mount, vec![one; n_disks])
                    }
                    None => network(&mount, iops),
                };
                one.latency = Latency { mean_ns, spread };
                one
            });
            let machine = vm(cap(iops * 3, iops * 50_000), cap(iops * 5, iops * 99_999), 64 * MIB);
            let mut design = design(Some(machine), volumes.collect());
            design.seed = seed;
            design.clients = vec![Client {
                name: "c".to_owned(),
                round_trip_ns: mean_ns / 3,
                connections: 2,
                slots_per_connection: 4,
                egress: Some(limit(iops * 10_000)),
                ..Client::default()
            }];
            design
        },
    )
}

fn network(mount: &str, iops: u64) -> volume::design::Volume {
    let ceiling = Ceiling {
        read_iops: Some(iops * 3),
        write_iops: Some(iops),
        total_bytes_per_s: Some(iops * 30_000),
        ..Ceiling::default()
    };
    let quota = limit(iops * 40_000);
    let network = NetworkVolume {
        level: "any".to_owned(),
        quota: Some(quota),
        ceiling,
        pool: None,
        transfer_bytes: 65_536,
    };
    volume::design::Volume { backing: Backing::Network(network), ..volume(mount, Vec::new()) }
}

/// Operations with the time since the one before.
fn any_operations() -> impl Strategy<Value = Vec<(u64, Io)>> {
    let kinds = prop_oneof![
        4 => Just(IoKind::Read),
        4 => Just(IoKind::Write),
        1 => Just(IoKind::WriteThrough),
        1 => Just(IoKind::Flush),
        1 => Just(IoKind::Trim),
    ];
    let gap_ns = prop_oneof![Just(0), 0_u64..1_000_000, 0_u64..100_000_000];
    let one = (gap_ns, kinds, any::<u16>(), 0_u64..(256 << 20), 1_u32..400_000);
    proptest::collection::vec(one, 1..150).prop_map(|operations| {
        let with_id = operations.into_iter().enumerate();
        with_id
            .map(|(id, (gap_ns, kind, volume, offset_bytes, len_bytes))| {
                let len_bytes = if kind == IoKind::Flush { 0 } else { len_bytes };
                let id = id as u64;
                (gap_ns, Io { id, kind, volume, client: 0, offset_bytes, len_bytes })
            })
            .collect()
    })
}

/// Submits everything, polling between as asked, and returns what came out.
fn run(design: &Design, operations: &[(u64, Io)], polls: &[u64]) -> (Vec<Done>, System) {
    let mut system = system(design);
    let mut done = Vec::new();
    let mut now_ns = 0;
    system.poll(0, &mut done); // time begins here
    let mut polls = polls.iter().cycle();
    for (gap_ns, io) in operations {
        let until_ns = now_ns + gap_ns;
        while let Some(step_ns) = polls.next().filter(|step_ns| **step_ns <= until_ns - now_ns) {
            now_ns += step_ns;
            system.poll(now_ns, &mut done);
        }
        now_ns = until_ns;
        let volume = io.volume % design.volumes.len() as u16;
        system.submit(now_ns, Io { volume, ..*io });
    }
    while system.n_waiting() > 0 {
        now_ns = system.next_event_ns().expect("something is under way").max(now_ns);
        system.poll(now_ns, &mut done);
    }
    // Completions that the last submissions let pass are still to be had.
    system.poll(now_ns, &mut done);
    (done, system)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn everything_completes_exactly_once_in_order_of_time(
        design in any_design(),
        operations in any_operations(),
    ) {
        let (done, system) = run(&design, &operations, &[u64::MAX]);
        let mut ids: Vec<u64> = done.iter().map(|done| done.id).collect();
        ids.sort_unstable();
        prop_assert!(ids.iter().copied().eq(0..operations.len() as u64));
        prop_assert!(done.windows(2).all(|pair| pair[0].at_ns <= pair[1].at_ns));
        let mut submitted_ns = vec![0; operations.len()];
        operations.iter().enumerate().fold(0, |now_ns, (idx, (gap_ns, _))| {
            submitted_ns[idx] = now_ns + gap_ns;
            now_ns + gap_ns
        });
        for done in &done {
            let took_ns = done.at_ns - submitted_ns[done.id as usize];
            prop_assert!(done.held_ns <= took_ns);
            let names_cap = usize::from(done.held_by.0) < system.caps().len();
            prop_assert_eq!(names_cap, done.held_ns > 0);
        }
    }

    #[test]
    fn polling_more_often_changes_nothing(
        design in any_design(),
        operations in any_operations(),
        polls in proptest::collection::vec(1_u64..3_000_000, 1..10),
    ) {
        let (one, _) = run(&design, &operations, &[u64::MAX]);
        let (other, _) = run(&design, &operations, &polls);
        prop_assert_eq!(&one, &other);
        let (again, _) = run(&design, &operations, &[u64::MAX]);
        prop_assert_eq!(one, again);
    }

    #[test]
    fn every_end_is_promised_ahead(design in any_design(), operations in any_operations()) {
        let mut system = system(&design);
        let (mut done, mut promises, mut now_ns) = (Vec::new(), Vec::new(), 0);
        system.take_promises(&mut promises);
        let ahead_ns = system.latency_min_ns();
        let mut operations = operations.iter().peekable();
        let mut due_ns = operations.peek().map(|(gap_ns, _)| *gap_ns);
        loop {
            let event_ns = system.next_event_ns().map(|event_ns| event_ns.max(now_ns));
            let Some(next_ns) = [event_ns, due_ns].into_iter().flatten().min() else { break };
            now_ns = next_ns;
            if due_ns == Some(now_ns) {
                let (_, io) = operations.next().expect("it is due");
                let volume = io.volume % design.volumes.len() as u16;
                system.submit(now_ns, Io { volume, ..*io });
                due_ns = operations.peek().map(|(gap_ns, _)| now_ns + gap_ns);
            } else {
                system.poll(now_ns, &mut done);
            }
            let n_known = promises.len();
            system.take_promises(&mut promises);
            for promise in &promises[n_known..] {
                prop_assert!(promise.at_ns >= now_ns + ahead_ns);
            }
        }
        system.poll(now_ns, &mut done);
        let mut promised: Vec<_> = promises.iter().map(|it| (it.at_ns, it.id)).collect();
        let mut ended: Vec<_> = done.iter().map(|done| (done.at_ns, done.id)).collect();
        promised.sort_unstable();
        ended.sort_unstable();
        prop_assert_eq!(promised, ended);
    }

    #[test]
    fn no_cap_carries_more_than_its_rate_and_its_allowance(
        design in any_design(),
        operations in any_operations(),
    ) {
        let (done, system) = run(&design, &operations, &[u64::MAX]);
        let end_ns = done.last().expect("there are operations").at_ns;
        for (cap, usage) in system.caps().iter().zip(system.usage(end_ns)) {
            if matches!(cap.kind, CapKind::NfsSlots | CapKind::VolumeIops) {
                continue;
            }
            // The largest piece is one operation of two units, or 400,000 bytes and a header.
            let largest = if cap.kind.counts_operations() { 2 } else { 400_200 };
            let credits = usage.credits.map_or(0, |credits| credits.full);
            let per_s = u128::from(cap.per_s);
            let rate = per_s * u128::from(end_ns) / u128::from(S);
            let carried = rate + u128::from(credits + largest) + 1;
            prop_assert!(u128::from(usage.used) <= carried, "{}: {}", cap.name, usage.used);
            prop_assert!((0.0..=1.0).contains(&usage.held_share), "{}", usage.held_share);
        }
    }
}

/// One step against a write-back cache of 64 KiB of addresses: what to do, where, how long, and the
/// time until then.
fn any_write_backs() -> impl Strategy<Value = Vec<(IoKind, u64, u32, u64)>> {
    let kinds = prop_oneof![
        6 => Just(IoKind::Write),
        1 => Just(IoKind::WriteThrough),
        1 => Just(IoKind::Flush),
    ];
    let gap_ns = prop_oneof![Just(0), 0_u64..3_000_000, 0_u64..2_000_000_000];
    proptest::collection::vec((kinds, 0_u64..60_000, 1_u32..5_000, gap_ns), 1..100)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    /// Byte by byte: which write each holds, in the cache and on the disk.
    #[test]
    fn dirty_is_what_was_written_and_not_flushed(
        n_disks in 1_usize..4,
        // With room for all, and for so few ranges that writes find none.
        cache_bytes in prop_oneof![Just(GIB), KIB..100 * KIB],
        steps in any_write_backs(),
    ) {
        let machine = vm(cap(50_000, 1 << 29), cap(64_000, 1 << 29), cache_bytes);
        let disks = vec![p30(CacheMode::ReadWrite); n_disks];
        let mut striped = volume("/data", disks);
        let Backing::Disks(stripe) = &mut striped.backing else { unreachable!() };
        stripe.chunk_bytes = 4 * KIB;
        let mut system = system(&design(Some(machine), vec![striped]));
        let (mut cached, mut on_disk) = (vec![0_usize; 65_536], vec![0_usize; 65_536]);
        let (mut flushed, mut done, mut now_ns) = (Vec::new(), Vec::new(), 0);
        system.take_flushed(&mut flushed);
        for (idx, &(kind, offset_bytes, len_bytes, gap_ns)) in steps.iter().enumerate() {
            now_ns += gap_ns;
            done.clear();
            system.poll(now_ns, &mut done);
            system.take_flushed(&mut flushed);
            for (_, range) in flushed.drain(..) {
                let range = range.start as usize..range.end as usize;
                on_disk[range.clone()].copy_from_slice(&cached[range]);
            }
            for done in &done {
                // What a flush or a write through had to bring to the disk is there.
                let (kind, offset, len, _) = steps[done.id as usize];
                let range = match kind {
                    IoKind::Flush => 0..65_536,
                    IoKind::WriteThrough => offset as usize..offset as usize + len as usize,
                    _ => continue,
                };
                let holds = |at: usize| on_disk[at] == cached[at] || cached[at] > done.id as usize;
                prop_assert!(range.clone().all(holds));
            }
            let is_flush = kind == IoKind::Flush;
            if !is_flush {
                let start = offset_bytes as usize;
                cached[start..start + len_bytes as usize].fill(idx + 1);
            }
            let len_bytes = if is_flush { 0 } else { len_bytes };
            let id = idx as u64;
            system.submit(now_ns, Io { id, kind, volume: 0, client: 0, offset_bytes, len_bytes });
            let mut dirty = vec![false; 65_536];
            system.dirty(0).for_each(|range| {
                dirty[range.start as usize..range.end as usize].fill(true);
            });
            // What finds no room in the cache counts as on its disk at once.
            let wrote = offset_bytes..offset_bytes + u64::from(len_bytes);
            for range in system.clean(0, wrote) {
                prop_assert!(cache_bytes < GIB);
                let range = range.start as usize..range.end as usize;
                prop_assert!(range.clone().all(|at| !dirty[at]));
                on_disk[range.clone()].copy_from_slice(&cached[range]);
            }
            prop_assert!((0..65_536).all(|at| dirty[at] || cached[at] == on_disk[at]));
            prop_assert!((0..65_536).all(|at| !dirty[at] || cached[at] > 0));
        }
    }
}

/// The same design with other rates, modes and latencies.
fn altered(design: &Design, factor: u64, mode: CacheMode) -> Design {
    let mut other = design.clone();
    for volume in &mut other.volumes {
        volume.latency.mean_ns /= factor;
        match &mut volume.backing {
            Backing::Disks(stripe) => stripe.disks.iter_mut().for_each(|disk| {
                disk.cache = mode;
                disk.cap.iops = Some(limit(500 * factor));
                disk.cap.bytes = None;
            }),
            Backing::Network(network) => network.quota = Some(limit(1_000_000 * factor)),
        }
    }
    other.clients[0].connections = factor as u16;
    other
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn changes_and_crashes_lose_nothing_else(
        design in any_design(),
        operations in any_operations(),
        changes in proptest::collection::vec((0_usize..150, 1_u64..9, 0_usize..4), 0..6),
    ) {
        let mut system = system(&design);
        let (mut done, mut n_lost, mut now_ns) = (Vec::new(), 0, 0);
        for (idx, (gap_ns, io)) in operations.iter().enumerate() {
            now_ns += gap_ns;
            for (_, factor, mode) in changes.iter().filter(|change| change.0 == idx) {
                let modes = [CacheMode::None, CacheMode::ReadOnly, CacheMode::ReadWrite];
                if let Some(mode) = modes.get(*mode) {
                    let other = altered(&design, *factor, *mode);
                    system.change(now_ns, &other).expect("the same shape");
                } else {
                    system.poll(now_ns, &mut done);
                    n_lost += system.n_waiting();
                    system.crash(now_ns);
                    prop_assert_eq!(system.n_waiting(), 0);
                    system.restart(now_ns);
                }
            }
            let volume = io.volume % design.volumes.len() as u16;
            system.submit(now_ns, Io { volume, ..*io });
        }
        while system.n_waiting() > 0 {
            now_ns = system.next_event_ns().expect("something is under way").max(now_ns);
            system.poll(now_ns, &mut done);
        }
        system.poll(now_ns, &mut done);
        let mut ids: Vec<u64> = done.iter().map(|done| done.id).collect();
        ids.sort_unstable();
        ids.dedup();
        prop_assert_eq!(ids.len(), done.len());
        prop_assert_eq!(done.len() + n_lost, operations.len());
        prop_assert!(done.windows(2).all(|pair| pair[0].at_ns <= pair[1].at_ns));
    }
}

#[test]
fn no_period_carries_more_than_the_rate_and_the_allowance() {
    // Bursts of 2,000 operations every second against 5,000 a second.
    let mut system = system(&one_p30());
    let mut done = Vec::new();
    for second in 0..20_u64 {
        for id in 0..2_000 {
            let id = second * 2_000 + id;
            let kind = IoKind::Read;
            let io = Io { id, kind, volume: 0, client: 0, offset_bytes: 0, len_bytes: 512 };
            system.submit(second * S, io);
        }
    }
    system.poll(100 * S, &mut done);
    for from in 0..done.len() {
        for n in [10, 100, 1_000, 5_000] {
            let Some(last) = done.get(from + n) else { continue };
            let period_ns = last.at_ns - done[from].at_ns;
            let allowance = 500 + 1;
            let carried = 5_000 * u128::from(period_ns) / u128::from(S) + allowance;
            assert!(n as u128 <= carried, "{n} operations in {period_ns} ns");
        }
    }
}

#[test]
fn a_year_passes_without_drift() {
    // Four gigabytes at a time against 7 MB and 3 bytes a second: 51,400 operations in a year.
    let rate = 7_000_003_u64;
    let len_bytes = u32::MAX;
    let mut one = disk(cap(1, rate), CacheMode::None);
    one.cap.iops = None;
    let design = design(None, vec![volume("/data", vec![one])]);
    let mut system = system(&design);
    let year_ns = 365 * 86_400 * S;
    let io = |id| Io { id, kind: IoKind::Read, volume: 0, client: 0, offset_bytes: 0, len_bytes };
    (0..4).for_each(|id| system.submit(0, io(id)));
    let mut done = Vec::new();
    let (mut now_ns, mut n) = (0, 0_u64);
    while now_ns < year_ns {
        now_ns = system.next_event_ns().expect("a closed loop");
        done.clear();
        system.poll(now_ns, &mut done);
        for done in &done {
            // To the nanosecond: the n-th leaves when n of them have been paid for.
            let nanoseconds = u128::from(n) * u128::from(len_bytes) * u128::from(S);
            let left_ns = nanoseconds.div_ceil(u128::from(rate)) as u64;
            assert_eq!(done.at_ns, left_ns + MS);
            n += 1;
            system.submit(now_ns, io(n + 3));
        }
    }
    assert!(n > 51_000);
}

#[test]
fn latencies_have_the_mean_and_the_spread_asked_for() {
    let mut one = volume("/data", vec![p30(CacheMode::None)]);
    let Backing::Disks(Stripe { disks, .. }) = &mut one.backing else { unreachable!() };
    disks[0].cap = volume::design::Cap::default();
    one.latency = Latency { mean_ns: MS, spread: 0.3 };
    let mut system = system(&design(None, vec![one]));
    let mut done = Vec::new();
    for id in 0..200_000_u64 {
        let io = Io { id, kind: IoKind::Read, volume: 0, client: 0, offset_bytes: 0, len_bytes: 1 };
        system.submit(id * S, io);
        system.poll((id + 1) * S - 1, &mut done);
    }
    let n = done.len() as f64;
    let took = |done: &Done| (done.at_ns - done.id * S) as f64 / MS as f64;
    let mean = done.iter().map(took).sum::<f64>() / n;
    let variance = done.iter().map(|done| (took(done) - mean).powi(2)).sum::<f64>() / n;
    near(mean, 1.0, 0.5);
    near(variance.sqrt(), 0.3, 1.5);
    // The 99th percentile of a log-normal distribution of that shape.
    let mut all: Vec<f64> = done.iter().map(took).collect();
    all.sort_unstable_by(f64::total_cmp);
    let sigma = 1.09_f64.ln().sqrt();
    near(all[198_000], (2.326_348 * sigma - sigma * sigma / 2.0).exp(), 1.5);
}
