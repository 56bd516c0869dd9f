//! What a design can do, in closed form: against worked figures, and against runs of the same
//! design in virtual time.

use volume::CapKind;
use volume::design::{CacheMode, Cap, Ceiling, Client, Design};
use volume::limits::{Bound, Flow, Load, Remedy, alone, remedies, remedies_among, together};

use crate::rig::{self, Stream, brief, cap, design, disks, network, steady, vm};

const KIB: u64 = 1024;
const MB: f64 = 1e6;

fn parse(text: &str) -> Design {
    let (design, findings) = volume::design::parse(text);
    design.unwrap_or_else(|| panic!("{findings:?}"))
}

/// Checks rate and binding cap of reads on the first volume.
#[track_caller]
fn check(toml: &str, size_kib: u64, expected: (f64, Bound)) {
    let done = alone(&parse(toml), 0, &Load::new(size_kib * KIB, 1.0));
    assert!((done.iops / expected.0 - 1.0).abs() < 1e-3, "{} is not {}", done.iops, expected.0);
    assert_eq!(done.binds, expected.1, "{:?}", done.caps);
}

const P30: &str = "edition='2018'\n[[volume]]\nmount='/a'\ndisk='P30'\ncache='None'\n";

#[test]
fn one_disk_at_every_size() {
    check(P30, 8, (5000.0, Bound::Cap(CapKind::DiskIops)));
    check(P30, 32, (5000.0, Bound::Cap(CapKind::DiskIops)));
    check(P30, 64, (200e6 / 65536.0, Bound::Cap(CapKind::DiskBytes)));
    check(P30, 1024, (200e6 / 1_048_576.0, Bound::Cap(CapKind::DiskBytes)));
}

#[test]
fn the_machine_stands_before_the_disk() {
    let text = |vm: &str, count: u32| {
        format!(
            "edition='2018'\n[vm]\nsize='{vm}'\n[[volume]]\nmount='/a'\ndisk='P30'\ncache='None'\n\
             count={count}\n"
        )
    };
    check(&text("DS1", 1), 8, (3200.0, Bound::Cap(CapKind::VmUncachedIops)));
    check(&text("DS13", 4), 8, (20_000.0, Bound::Cap(CapKind::DiskIops)));
    check(&text("DS13", 5), 8, (25_000.0, Bound::Cap(CapKind::DiskIops)));
    check(&text("DS13", 6), 8, (25_600.0, Bound::Cap(CapKind::VmUncachedIops)));
    check(&text("DS4", 1), 64, (200e6 / 65536.0, Bound::Cap(CapKind::DiskBytes)));
}

#[test]
fn the_next_cap_stands_behind_the_first() {
    let text = "edition='2018'\n[vm]\nsize='DS13'\n[[volume]]\nmount='/a'\ndisk='P30'\ncount=4\n\
                cache='None'\n";
    let done = alone(&parse(text), 0, &Load::new(8 * KIB, 1.0));
    let (next, margin) = done.next().expect("a next cap");
    assert_eq!(next.bound, Bound::Cap(CapKind::VmUncachedIops));
    assert!((margin - 0.28).abs() < 1e-9, "{margin}");
}

/// Checks that a load settles in a run where the closed form says, and at the same cap.
#[track_caller]
fn agrees(design: &Design, load: &Load, stream: Stream) {
    let expected = alone(design, 0, load);
    let mut rig = rig::Rig::new(design, vec![stream]);
    rig.system.warm(0, 0, stream.warm_bytes.min(1 << 30));
    rig.run(2 * rig::S).reset();
    rig.run(10 * rig::S);
    let iops = rig.seen(0).iops;
    assert!((iops / expected.iops - 1.0).abs() < 0.02, "{iops} is not {expected:?}");
    let bound = rig.binds().unwrap_or(Bound::QueueDepth);
    assert_eq!(bound, expected.binds, "{expected:?}");
}

#[test]
fn a_run_settles_where_the_closed_form_says() {
    let machine = vm(cap(12_800.0, 192.0 * MB), cap(16_000.0, 128.0 * MB));
    let stripe = |mode| disks(4, cap(5000.0, 200.0 * MB), mode);
    for (mode, hits) in [(CacheMode::None, 0.0), (CacheMode::ReadOnly, 0.7)] {
        let design = design(machine.clone(), vec![stripe(mode)]);
        for size_bytes in [8 * KIB, 64 * KIB, 256 * KIB] {
            for read_share in [0.0, 0.6, 1.0] {
                let load = Load { hit_ratio: hits, ..Load::new(size_bytes, read_share) };
                let stream = Stream {
                    read_share,
                    warm_share: if mode == CacheMode::None { 1.0 } else { hits },
                    warm_bytes: 1 << 30,
                    ..Stream::new(512, size_bytes)
                };
                // Under a cache a write behind the warm part is a write like any other.
                agrees(&design, &load, stream);
            }
        }
    }
}

#[test]
fn volumes_at_once_share_their_machine() {
    let machine = vm(cap(12_800.0, 0.0), Cap::default());
    let volumes = vec![
        disks(1, cap(5000.0, 0.0), CacheMode::None),
        disks(3, cap(5000.0, 0.0), CacheMode::None),
    ];
    let design = design(machine, volumes);
    let flow = |volume| Flow { volume, load: Load::new(8 * KIB, 1.0), demand: None };
    let done = together(&design, &[flow(0), flow(1)]);
    // Four disks share 12,800 alike.
    assert!((done[0].iops - 3200.0).abs() < 1e-6, "{done:?}");
    assert!((done[1].iops - 9600.0).abs() < 1e-6, "{done:?}");
    assert!(done.iter().all(|done| done.binds == Bound::Cap(CapKind::VmUncachedIops)));
    let rig = steady(&design, vec![Stream::new(256, 8 * KIB), Stream::new(512, 8 * KIB).on(1)]);
    for (idx, done) in done.iter().enumerate() {
        let iops = rig.seen(idx).iops;
        assert!((iops / done.iops - 1.0).abs() < 0.03, "{iops} is not {}", done.iops);
    }
}

#[test]
fn unlike_volumes_share_bytes_alike() {
    let machine = vm(cap(3_200.0, 48e6), Cap::default());
    let volumes = vec![disks(1, cap(5000.0, 200e6), CacheMode::None); 2];
    let design = design(machine, volumes);
    let flow = |volume, size| Flow { volume, load: Load::new(size, 1.0), demand: None };
    let done = together(&design, &[flow(0, 8 * KIB), flow(1, 1024 * KIB)]);
    assert!((done[0].iops - 24e6 / 8192.0).abs() < 1e-6, "{done:?}");
    assert!((done[1].iops - 24e6 / 1_048_576.0).abs() < 1e-6, "{done:?}");
    assert!(done.iter().all(|done| done.binds == Bound::Cap(CapKind::VmUncachedBytes)));
}

/// Eleven disks have shares alike, and of the cached one only the writes come there: 50,000 / 11 of
/// them are 30 % of its I/Os.
#[test]
fn a_cached_volume_shares_with_what_its_cache_does_not_answer() {
    let machine = vm(cap(50_000.0, 0.0), cap(64_000.0, 0.0));
    let volumes = vec![
        disks(10, cap(5000.0, 0.0), CacheMode::None),
        disks(1, cap(5000.0, 0.0), CacheMode::ReadOnly),
    ];
    let design = design(machine, volumes);
    let load = Load { hit_ratio: 1.0, ..Load::new(8 * KIB, 0.7) };
    let flow = |volume| Flow { volume, load, demand: None };
    let done = together(&design, &[flow(0), flow(1)]);
    assert!((done[0].iops - 500_000.0 / 11.0).abs() < 1e-6, "{done:?}");
    assert!((done[1].iops - 50_000.0 / 11.0 / 0.3).abs() < 1e-6, "{done:?}");
    // Asked for less than its share, the rest is the others'.
    let asked = Flow { demand: Some(10_000.0), ..flow(1) };
    let done = together(&design, &[flow(0), asked]);
    assert!((done[0].iops - 47_000.0).abs() < 1e-6, "{done:?}");
    assert_eq!(done[1].binds, Bound::Nothing);
}

#[test]
fn a_volume_that_needs_less_leaves_the_rest() {
    let machine = vm(cap(10_000.0, 0.0), Cap::default());
    let volumes = vec![disks(1, cap(8000.0, 0.0), CacheMode::None); 2];
    let design = design(machine, volumes);
    let flow = |volume, demand| Flow { volume, load: Load::new(8 * KIB, 1.0), demand };
    let done = together(&design, &[flow(0, Some(3000.0)), flow(1, None)]);
    assert_eq!(done[0].binds, Bound::Nothing);
    assert!((done[0].iops - 3000.0).abs() < 1e-6, "{done:?}");
    assert!((done[1].iops - 7000.0).abs() < 1e-6, "{done:?}");
}

#[test]
fn a_network_volume_agrees_with_a_run() {
    let ceiling = Ceiling {
        read_iops: Some(50_000),
        write_iops: Some(20_000),
        read_bytes_per_s: Some(3_600_000_000),
        write_bytes_per_s: Some(2_400_000_000),
        total_bytes_per_s: Some(3_600_000_000),
    };
    let mut design = design(None, vec![network(2e9, ceiling, None)]);
    design.clients = vec![Client {
        name: "client".to_owned(),
        round_trip_ns: 1_000_000,
        connections: 1,
        slots_per_connection: 64,
        egress: rig::limit(500e6),
        ..Client::default()
    }];
    let mut seen = Vec::new();
    for (size_bytes, read_share) in
        [(8 * KIB, 1.0), (64 * KIB, 0.5), (256 * KIB, 0.0), (1024 * KIB, 1.0)]
    {
        let expected = alone(&design, 0, &Load::new(size_bytes, read_share));
        let stream = Stream { read_share, ..Stream::new(1024, size_bytes) };
        let rig = brief(&design, vec![stream]);
        let iops = rig.seen(0).iops;
        assert!((iops / expected.iops - 1.0).abs() < 0.03, "{iops} is not {expected:?}");
        seen.push(expected.binds);
    }
    assert!(
        seen.contains(&Bound::Cap(CapKind::NfsSlots))
            && seen.contains(&Bound::Cap(CapKind::VmEgress)),
        "{seen:?}"
    );
}

#[test]
fn a_queue_depth_binds_before_the_caps() {
    let load = Load { queue_depth: Some(4), ..Load::new(8 * KIB, 1.0) };
    let volume = disks(1, cap(5000.0, 200.0 * MB), CacheMode::None);
    let done = alone(&design(None, vec![volume]), 0, &load);
    assert_eq!(done.binds, Bound::QueueDepth);
    assert!((done.iops - 4000.0).abs() < 1e-6);
    assert!((done.latency_s.expect("known") - 1e-3).abs() < 1e-9);
}

/// Changes that lift what binds reads of a size.
fn changes(toml: &str, size_kib: u64) -> Vec<(String, f64)> {
    let load = Load { hit_ratio: 0.5, ..Load::new(size_kib * KIB, 1.0) };
    let found = remedies(&parse(toml), 0, &load);
    found.into_iter().map(|remedy| (remedy.change, remedy.after.iops)).collect()
}

#[test]
fn changes_are_tried_before_they_are_reported() {
    let text = |vm: &str| {
        format!(
            "edition='2018'\n[vm]\nsize='{vm}'\n[[volume]]\nmount='/a'\ndisk='P30'\ncache='None'\n"
        )
    };
    let on_ds4 = changes(&text("DS4"), 64);
    let names: Vec<&str> = on_ds4.iter().map(|(change, _)| change.as_str()).collect();
    // The guide's own remedies: one more P30, or a P40.
    assert!(names.contains(&"one more P30") && names.contains(&"P40"), "{names:?}");
    let p40 = on_ds4.iter().find(|(change, _)| change == "P40").expect("listed");
    assert!((p40.1 * 65536.0 / 1e6 - 250.0).abs() < 1e-6, "{on_ds4:?}");
    let on_ds1 = changes(&text("DS1"), 8);
    assert!(on_ds1.iter().any(|(change, _)| change.starts_with("a larger machine")), "{on_ds1:?}");
    assert!(on_ds1.iter().all(|(_, iops)| *iops > 3200.0), "{on_ds1:?}");
}

#[test]
fn a_size_lifts_what_follows_from_it() {
    // Of Google's disks no largest size is known here; of sc1 it is.
    for (disk, size_kib, iops) in
        [("pd-standard", 256, 960.0), ("pd-balanced", 4, 12_000.0), ("sc1", 1024, 23.4)]
    {
        let text = format!("[[volume]]\nmount='/a'\ndisk='{disk}'\nsize='1000GiB'\n");
        let found = changes(&text, size_kib);
        let size = found.iter().find(|(change, _)| change == "`size = \"2000GiB\"`");
        let size = size.unwrap_or_else(|| panic!("{disk}: {found:?}"));
        assert!((size.1 - iops).abs() < iops * 0.005, "{disk}: {found:?}");
    }
}

/// Returns the changes for needs of 8 KiB reads, each with its volume, that are named for the
/// first.
fn for_needs(toml: &str, needs: &[(u16, f64)]) -> Vec<Remedy> {
    let flow = |(volume, iops): &(u16, f64)| Flow {
        volume: *volume,
        load: Load::new(8 * KIB, 1.0),
        demand: Some(*iops),
    };
    let flows: Vec<Flow> = needs.iter().map(flow).collect();
    remedies_among(&parse(toml), &flows, 0)
}

#[test]
fn what_can_be_set_is_set_first() {
    let first = |disk: &str| {
        let text = format!("[[volume]]\nmount='/a'\n{disk}\n");
        changes(&text, 8).first().map(|(change, _)| change.clone()).unwrap_or_default()
    };
    // As far as the throughput goes that comes with it, 125 MB/s and 125 MiB/s.
    assert_eq!(first("disk='PremiumV2'\nsize='100GiB'"), "`iops = 15259`");
    assert_eq!(first("disk='gp3'\nsize='100GiB'"), "`iops = 16000`");
    assert_eq!(
        first("disk='io2'\nsize='50GiB'\niops=1000"),
        "`iops = 50000` (the most for 50 GiB)"
    );
    let ultra = "disk='Ultra'\nsize='50GiB'\niops=1000\nthroughput='250MB/s'";
    assert_eq!(first(ultra), "`iops = 30518`");
    assert_eq!(first("disk='gp2'\nsize='1TiB'"), "`size = \"2048GiB\"`");
    // At the most of its size, a larger one; at the most of all, only another disk lifts it.
    let at_most = |size: u32, iops: u32| {
        first(&format!("disk='PremiumV2'\nsize='{size}GiB'\niops={iops}\nthroughput='2000MB/s'"))
    };
    assert_eq!(at_most(100, 50_000), "`size = \"160GiB\"` and `iops = 80000`");
    assert_eq!(at_most(160, 80_000), "one more PremiumV2");
}

#[test]
fn throughput_that_operations_bound_takes_both_keys() {
    let text = "[[volume]]\nmount='/a'\ndisk='PremiumV2'\nsize='1TiB'\nthroughput='750MB/s'\n";
    let found = changes(text, 1024);
    let (change, iops) = &found[0];
    assert!(change.contains("`iops = 8000`") && change.contains("\"2000MB/s\""), "{found:?}");
    assert!((iops * 1_048_576.0 / 2e9 - 1.0).abs() < 1e-6, "{found:?}");
}

#[test]
fn the_smallest_change_that_meets_a_need_is_shown() {
    let found = for_needs(P30, &[(0, 30_000.0)]);
    let six = found.iter().find(|remedy| remedy.change == "6 x P30").expect("six of them");
    assert_eq!(six.is_enough, Some(true));
    let text = "[[volume]]\nmount='/a'\ndisk='PremiumV2'\nsize='1TiB'\n";
    let found = for_needs(text, &[(0, 30_000.0)]);
    assert!(found[0].change.starts_with("`iops = 30000`"), "{found:?}");
    assert_eq!(found[0].is_enough, Some(true));
    assert!(found.iter().all(|remedy| remedy.is_enough.is_some()));
}

#[test]
fn a_larger_tier_has_the_megabytes_of_the_design() {
    for (mb_bytes, expected) in [(1_000_000, 238.42), (1_024_000, 244.14), (1_048_576, 250.0)] {
        let found = changes(&format!("mb_bytes={mb_bytes}\n{P30}"), 1024);
        let p40 = found.iter().find(|(change, _)| change == "P40").expect("listed");
        assert!((p40.1 - expected).abs() < 0.01, "{mb_bytes}: {found:?}");
    }
    let text = "mb_bytes=1048576\n[[volume]]\nmount='/a'\ndisk='PremiumV2'\nsize='1TiB'\n";
    let most = changes(&format!("{text}iops=80000\n"), 1024);
    let (design, findings) = volume::design::parse(&format!("{text}iops=80000\n"));
    assert!(design.is_some() && most[0].0.contains("throughput"), "{findings:?} {most:?}");
}

/// Ten disks and their machine that bind at the same rate: neither alone brings anything.
const TIED: &str = "edition='2018'\n[vm]\nsize='DS14'\n[[volume]]\nmount='/a'\ndisk='P30'\n\
                    count=10\ncache='None'\n";

#[test]
fn where_no_change_alone_is_enough_pairs_are_tried() {
    let found = for_needs(TIED, &[(0, 50_000.0)]);
    let names: Vec<&str> = found.iter().map(|remedy| remedy.change.as_str()).collect();
    assert!(names.contains(&"both one more P30 and a larger machine: Standard_GS5"), "{names:?}");
    assert!(names.iter().all(|name| name.starts_with("both ")), "{names:?}");
    assert!(found.iter().all(|remedy| remedy.iops > 50_000.0), "{found:?}");
    // For a need, as much of both as it takes.
    let found = for_needs(TIED, &[(0, 60_000.0)]);
    let twelve = "both 12 x P30 and a larger machine: Standard_GS5";
    let pair = found.iter().find(|remedy| remedy.change == twelve).expect("listed");
    assert_eq!((pair.iops.round(), pair.is_enough), (60_000.0, Some(true)));
    // One that is enough alone is named without pairs.
    let found = for_needs(P30, &[(0, 30_000.0)]);
    assert!(found.iter().all(|remedy| !remedy.change.starts_with("both")), "{found:?}");
}

#[test]
fn what_lifts_nothing_beside_the_other_needs_is_not_reported() {
    let text = "edition='2018'\n[vm]\nsize='DS1'\n[[volume]]\nmount='/a'\ndisk='P20'\n\
                cache='None'\n[[volume]]\nmount='/b'\ndisk='P30'\ncache='None'\n";
    // Alone, a second disk lifts it to what the machine has; beside the other, the machine binds.
    let alone = for_needs(text, &[(0, 3000.0)]);
    assert!(alone.iter().any(|remedy| remedy.change == "one more P20"), "{alone:?}");
    let beside = for_needs(text, &[(0, 3000.0), (1, 1600.0)]);
    assert!(beside.iter().all(|remedy| remedy.change.contains("machine")), "{beside:?}");
}

#[test]
fn a_pool_without_room_gives_what_another_volume_has() {
    let text = |first: u32| {
        format!(
            "[[pool]]\nname='p'\nservice='Ultra'\nsize='10TiB'\nqos='manual'\n\
             [[volume]]\nmount='/a'\npool='p'\nquota='1TiB'\nthroughput='{first}MiB/s'\n\
             [[volume]]\nmount='/b'\npool='p'\nquota='4TiB'\nthroughput='1024MiB/s'\n"
        )
    };
    // 300 MiB/s are needed, of 1,280.
    let need = [(0, 300.0 * 128.0)];
    let found: Vec<String> =
        for_needs(&text(256), &need).into_iter().map(|remedy| remedy.change).collect();
    assert_eq!(found[0], "44.0 MiB/s taken from /b", "{found:?}");
    // Of both together 1,324 MiB/s, and Ultra has 128 for each TiB.
    assert_eq!(found[1], "a pool of 11 TiB with 300 MiB/s assigned to the volume", "{found:?}");
    assert_eq!(found.len(), 2, "the pool has none free: {found:?}");
    let found = for_needs(&text(200), &need);
    assert_eq!(found[0].change, "256 MiB/s assigned to the volume, all that its pool has free");
    assert_eq!((found[0].is_enough, found[1].is_enough), (Some(false), Some(true)));
    let found = for_needs(&text(200), &[(0, 220.0 * 128.0)]);
    assert_eq!(found[0].change, "220 MiB/s assigned to the volume");
    assert_eq!(found.len(), 1, "{found:?}");
    // The other needs what it has.
    let found = for_needs(&text(256), &[(0, 300.0 * 128.0), (1, 1024.0 * 128.0)]);
    assert!(found.iter().all(|remedy| remedy.change.starts_with("a pool")), "{found:?}");
}

/// Checks the only change that is named for 8 KiB reads on a volume of a pool.
#[track_caller]
fn check_pool(pool: &str, volume: &str, iops: f64, expected: &str) {
    let text = format!("[[pool]]\nname='p'\n{pool}\n[[volume]]\nmount='/a'\npool='p'\n{volume}\n");
    let found = for_needs(&text, &[(0, iops)]);
    let named: Vec<&str> = found.iter().map(|remedy| remedy.change.as_str()).collect();
    assert_eq!(named, [expected], "{pool} {volume}");
    assert!(found[0].iops >= iops, "{found:?}");
}

/// 128 IOPS of 8 KiB are 1 MiB/s.
#[test]
fn a_larger_pool_is_one_that_can_be_bought() {
    // Ultra has 128 MiB/s for each TiB, 16,384 IOPS; a need that is met is lifted by a TiB more.
    let ultra = "service='Ultra'\nsize='1TiB'";
    for (iops, expected) in [
        (16_000.0, "a pool of 2 TiB with a quota of 2048GiB"),
        (20_000.0, "a pool of 2 TiB with a quota of 1250GiB"),
        (40_000.0, "a pool of 3 TiB with a quota of 2500GiB"),
    ] {
        check_pool(ultra, "quota='1TiB'", iops, expected);
    }
    // What the pool has is not bought again.
    check_pool("service='Ultra'\nsize='2TiB'", "quota='1TiB'", 20_000.0, "a quota of 1250GiB");
    // Half a TiB is not sold: the next size has 2.
    let half = "service='Ultra'\nsize='1.5TiB'";
    check_pool(half, "quota='1.5TiB'", 30_000.0, "a pool of 2 TiB with a quota of 1875GiB");
    // Premium of Google Cloud has 64 MiB/s for each TiB: 200 take 3.125.
    let google = "service='NetApp Volumes Premium'\nsize='2TiB'";
    check_pool(google, "quota='2TiB'", 25_600.0, "a pool of 4 TiB with a quota of 3200GiB");
    // By hand Standard has 16 for each TiB: 100 take 6.25.
    let by_hand = "service='Standard'\nsize='4TiB'\nqos='manual'";
    let expected = "a pool of 7 TiB with 100 MiB/s assigned to the volume";
    check_pool(by_hand, "quota='1TiB'\nthroughput='64MiB/s'", 12_800.0, expected);
    // Flexible is bought with up to 640 for each TiB.
    let flexible = "service='Flexible'\nsize='1TiB'\nthroughput='128MiB/s'";
    for (iops, expected) in [
        (38_400.0, "a pool of 1 TiB and 300 MiB/s with 300 MiB/s assigned to the volume"),
        (89_600.0, "a pool of 2 TiB and 700 MiB/s with 700 MiB/s assigned to the volume"),
    ] {
        check_pool(flexible, "quota='1TiB'\nthroughput='128MiB/s'", iops, expected);
    }
}

/// Returns the machine that is named for a load on so many disks, if any.
fn larger(vm: &str, disk: &str, count: u32) -> Option<String> {
    let text =
        format!("[vm]\nsize='{vm}'\n[[volume]]\nmount='/a'\n{disk}\ncount={count}\ncache='None'\n");
    let mut found = changes(&text, 8).into_iter();
    found.find_map(|(change, _)| Some(change.strip_prefix("a larger machine: ")?.to_owned()))
}

#[test]
fn a_larger_machine_is_larger_and_no_older() {
    let gp3 = "disk='gp3'\nsize='1TiB'\niops=16000\nthroughput='1000MiB/s'";
    assert_eq!(larger("m5.large", gp3, 4).as_deref(), Some("m5.xlarge"));
    assert_eq!(larger("m6g.large", gp3, 4).as_deref(), Some("m6g.xlarge"));
    assert_eq!(larger("D8s_v3", "disk='P30'", 16).as_deref(), Some("Standard_D16s_v3"));
    let edition = catalog::edition("current").expect("an edition");
    for own in ["DS14", "D64s_v3", "m5.24xlarge", "r5.24xlarge", "c5.9xlarge", "a1.large"] {
        let own = edition.vm(own).expect("a size");
        let (disk, count) =
            if own.cloud() == Some(catalog::Cloud::Aws) { (gp3, 20) } else { ("disk='P30'", 32) };
        let Some(other) = larger(&own.name, disk, count) else { continue };
        let other = edition.vm(&other).expect("a size");
        let per_s = |figure: Option<&catalog::Figure>| figure.map(|figure| figure.per_s);
        assert!(per_s(other.vcpus()) >= per_s(own.vcpus()), "{} {}", own.name, other.name);
        assert!(per_s(other.memory()) >= per_s(own.memory()), "{} {}", own.name, other.name);
        let arm = |size: &catalog::Vm| size.name.contains("g.") || size.name.starts_with("a1.");
        assert!(arm(other) == arm(own), "{} {}", own.name, other.name);
    }
}

/// Behind an m5.4xlarge a gp3 can be provisioned with 80,000 IOPS, and the machine carries 18,750.
#[test]
fn no_more_is_provisioned_than_reaches_the_next_cap() {
    let text = "[vm]\nsize='m5.4xlarge'\n[[volume]]\nmount='/a'\ndisk='gp3'\nsize='1TiB'\n";
    let found = remedies(&parse(text), 0, &Load::new(4 * KIB, 1.0));
    let first = found.first().expect("a remedy");
    assert_eq!(first.change, "`iops = 18750`", "{found:?}");
    assert!((first.iops - 18_750.0).abs() < 1.0, "{found:?}");
}

/// Returns the messages and helps of a design that is refused.
fn refused(text: &str) -> String {
    let (design, findings) = volume::design::parse(text);
    assert!(design.is_none(), "it was taken: {text}");
    format!("{findings:?}")
}

/// Of a size that limits follow from, no more than reaches the next cap; of figures in the design,
/// the keys that say them.
#[test]
fn advice_without_a_need_is_the_least_that_reaches_the_next_cap() {
    let first = |text: &str| {
        let (change, iops) = changes(text, 4).into_iter().next().expect("a change");
        (change, iops.round())
    };
    let ssd =
        "[vm]\nuncached = { iops = 40000 }\n[[volume]]\nmount='/a'\ndisk='pd-ssd'\nsize='1TiB'\n";
    // 30 for each GiB, and 6,000 of the machine.
    assert_eq!(first(ssd), ("`size = \"1134GiB\"`".to_owned(), 40_000.0));
    let own = "[[volume]]\nmount='/a'\ndisk = { size = '1TiB', iops = 10000 }\n";
    assert_eq!(first(own).0, "one more disk of that kind");
    let behind = format!("[vm]\nuncached = {{ iops = 8000 }}\n{own}");
    let larger = "a larger machine: `[vm] uncached = { iops = 10000 }`";
    assert_eq!(first(&behind), (larger.to_owned(), 10_000.0));
}

#[test]
fn throughput_that_operations_bound_says_how_many_it_takes() {
    let gp3 =
        "[[volume]]\nmount='/a'\ndisk='gp3'\nsize='2TiB'\niops=3000\nthroughput='1000MiB/s'\n";
    let found = refused(gp3);
    for part in ["gp3 with 3000 IOPS is from 125 to 750 MiB/s", "`iops = 4000` allows that much"] {
        assert!(found.contains(part), "{found}");
    }
}

#[test]
fn what_the_catalogue_lacks_is_said_with_the_way_out() {
    let volume = "[[volume]]\nmount='/a'\ndisk='pd-ssd'\nsize='1TiB'\n";
    let found = refused(&format!("edition='2018'\n[vm]\nsize='n2-standard-16'\n{volume}"));
    for part in ["no machines of Google Cloud", "uncached = {"] {
        assert!(found.contains(part), "{found}");
    }
    let found = refused("[[volume]]\nmount='D:'\ndisk='P30'\ncache='None'\n");
    assert!(found.contains("a drive is a path here"), "{found}");
}

#[test]
fn reads_and_writes_of_a_disk_may_have_limits_of_their_own() {
    let text = "[[volume]]\nmount='/a'\ndisk='pd-standard'\nsize='1TiB'\n";
    for (read_share, iops) in [(1.0, 768.0), (0.0, 1536.0), (0.5, 1536.0)] {
        check_mix(text, read_share, iops);
    }
}

/// Checks the rate of 4 KiB on the first volume, and that a run settles there.
#[track_caller]
fn check_mix(text: &str, read_share: f64, iops: f64) {
    let design = parse(text);
    let done = alone(&design, 0, &Load::new(4 * KIB, read_share));
    assert!((done.iops / iops - 1.0).abs() < 1e-3, "{} is not {iops}", done.iops);
    let stream = Stream { read_share, ..Stream::new(256, 4 * KIB) };
    let seen = steady(&design, vec![stream]).seen(0).iops;
    assert!((seen / iops - 1.0).abs() < 0.03, "{seen} is not {iops}");
}

/// A machine's own disk is behind none of its caps for disks that are attached to it.
#[test]
fn a_local_disk_is_behind_no_cap_of_its_machine() {
    let text = "[vm]\nsize='E16ds_v5'\n[[volume]]\nmount='/temp'\nlocal=true\n\
                disk={ size='600GiB', iops=75000, throughput='1000MB/s' }\n";
    check_mix(text, 1.0, 75_000.0);
    let cached = text.replace("local=true", "local=true\ncache='ReadOnly'");
    assert!(refused(&cached).contains("a local disk has no host cache"));
}

/// One without limits of its own shares the cached path of its machine, reads and writes alike.
#[test]
fn a_local_disk_without_limits_shares_the_cached_path() {
    let text = "edition='2018'\n[vm]\nsize='DS14'\n[[volume]]\nmount='/temp'\ndisk='local'\n";
    check_mix(text, 1.0, 64_000.0);
    check_mix(text, 0.0, 64_000.0);
    // Two volumes share it by their disks.
    let design = parse(&format!("{text}[[volume]]\nmount='/d'\ndisk='P30'\ncache='ReadOnly'\n"));
    let hits = Load { hit_ratio: 1.0, ..Load::new(4 * KIB, 1.0) };
    let flow = |volume, load| Flow { volume, load, demand: None };
    let both = [flow(0, Load::new(4 * KIB, 1.0)), flow(1, hits)];
    for done in together(&design, &both) {
        assert!((done.iops / 32_000.0 - 1.0).abs() < 1e-6, "{done:?}");
    }
}

/// Random numbers by seed.
struct Dice(u64);

impl Dice {
    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        self.0 = rig::mix64(self.0);
        all[(self.0 % all.len() as u64) as usize]
    }
}

/// Keys of a volume with one limit or number taken back by its smallest step; `None` for a change
/// of another kind, or back to what it was.
///
/// With `by` 0 the keys are those of the change itself.
fn less_by(by: u32, volume: &Volume, change: &str) -> Option<Volume> {
    let mut less = volume.clone();
    let quoted = change.strip_prefix('`').and_then(|rest| rest.split_once('`'));
    if let Some((set, rest)) = quoted {
        // What several keys change has no one step: tests/chosen.rs takes each of them back.
        if rest.contains('`') {
            return None;
        }
        let by = u64::from(by);
        let (key, value) = set.split_once(" = ")?;
        let value = value.trim_matches('"');
        if key == "count" {
            less.count = value.parse::<u32>().ok()? - by as u32;
            return Some(less);
        }
        let digits = value.trim_end_matches(|c: char| !c.is_ascii_digit());
        let number: u64 = digits.parse().ok()?;
        let unit = &value[digits.len()..];
        let quote = if unit.is_empty() { "" } else { "\"" };
        less.keys.retain(|(known, _)| known != key);
        less.keys.push((key.to_owned(), format!("{quote}{}{unit}{quote}", number - by)));
        return Some(less);
    }
    if let Some(n_disks) = change.strip_suffix(&format!(" x {}", volume.disk)) {
        less.count = n_disks.parse::<u32>().ok()? - by;
        return Some(less);
    }
    let tier = change.rsplit(' ').next()?;
    let tiers = ["P10", "P15", "P20", "P30", "P40", "P50", "P60", "P70", "P80"];
    let at = tiers.iter().position(|known| *known == tier)?;
    if change.contains("machine") || change.contains("more") {
        return None;
    }
    tiers[at - by as usize].clone_into(&mut less.disk);
    Some(less)
}

/// A volume of disks as a design has it.
#[derive(Clone, Debug)]
struct Volume {
    disk: String,
    count: u32,
    keys: Vec<(String, String)>,
}

impl Volume {
    fn draw(dice: &mut Dice) -> Volume {
        let tiers = ["P10", "P15", "P20", "P30", "P40", "gp3", "gp2", "PremiumV2", "io2", "Ultra"];
        let disk = dice.one_of(&tiers).to_owned();
        let key = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        let mut keys = Vec::new();
        if !disk.starts_with('P') || disk == "PremiumV2" {
            keys.push(key("size", dice.one_of(&["'200GiB'", "'1TiB'", "'3TiB'"])));
        }
        if matches!(&*disk, "io2" | "Ultra") {
            keys.push(key("iops", dice.one_of(&["1000", "4000"])));
        }
        if disk == "Ultra" {
            keys.push(key("throughput", dice.one_of(&["'100MB/s'", "'200MB/s'"])));
        }
        Volume { disk, count: dice.one_of(&[1, 1, 2, 4]), keys }
    }

    fn toml(&self) -> String {
        let keys: String =
            self.keys.iter().map(|(key, value)| format!("{key} = {value}\n")).collect();
        format!(
            "[[volume]]\nmount='/a'\ndisk='{}'\ncount={}\ncache='None'\n{keys}",
            self.disk, self.count
        )
    }
}

/// Of what meets a need, one disk less, the next smaller tier, or a limit that is one less of what
/// it is written in, does not.
#[test]
fn no_less_than_what_is_advised_meets_a_need() {
    let mut seen: Vec<String> = Vec::new();
    for seed in 0..400 {
        let mut dice = Dice(seed);
        let volume = Volume::draw(&mut dice);
        let load =
            Load::new(dice.one_of(&[4, 8, 64, 256, 1024]) * KIB, dice.one_of(&[0.0, 0.7, 1.0]));
        let design = parse(&volume.toml());
        let rate = alone(&design, 0, &load).iops;
        let need = (rate * dice.one_of(&[1.1, 1.5, 2.0, 3.7])).round().max(rate.ceil() + 1.0);
        let flow = Flow { volume: 0, load, demand: Some(need) };
        for remedy in remedies_among(&design, &[flow], 0) {
            if remedy.is_enough != Some(true) {
                continue;
            }
            let carries = |volume: &Volume| {
                // Less than the type has at least is refused.
                let (design, _) = volume::design::parse(&volume.toml());
                design.map_or(0.0, |design| alone(&design, 0, &load).iops)
            };
            if let Some(applied) = less_by(0, &volume, &remedy.change) {
                let (carried, change) = (carries(&applied), &remedy.change);
                let is_enough = carried >= need * (1.0 - 1e-9);
                assert!(is_enough, "seed {seed}: {need}, {change} carries {carried}");
            }
            let Some(less) = less_by(1, &volume, &remedy.change) else { continue };
            let carried = carries(&less);
            let (change, text) = (&remedy.change, less.toml());
            assert!(
                carried < need * (1.0 - 1e-9),
                "seed {seed}: {need} of {load:?} are advised {change}, this carries {carried}:\n\
                 {text}"
            );
            let kind = change.split(|c: char| c.is_ascii_digit()).next().unwrap_or("").to_owned();
            if !seen.contains(&kind) {
                seen.push(kind);
            }
        }
    }
    let has = |kind: &str| seen.iter().any(|known| known.starts_with(kind));
    assert!(["`iops", "`throughput", "`size", "P", ""].into_iter().all(has), "{seen:?}");
}
