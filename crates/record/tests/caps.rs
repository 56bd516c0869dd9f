//! What is said to hold a job, from caps as they were used.

use record::{
    CapCountRecord, CapDirectionRecord, CapPeriod, CapRecord, CapStationRecord, CapTraitsRecord,
    CapsRecord, DirRecord, FillingRecord, JobRecord, compare_parts,
};

fn cap(name: &str, held_ns: u64, used_share: f64) -> CapRecord {
    let (kind, mount) = name.split_once(' ').map_or((name, None), |(kind, at)| (kind, Some(at)));
    CapRecord {
        name: name.to_owned(),
        kind: kind.to_owned(),
        mount: mount.map(str::to_owned),
        per_s: 1000,
        n_disks: 1,
        held_ns,
        used_share,
        busiest_used_share: used_share,
        part: 1.0,
        ..CapRecord::default()
    }
}

#[track_caller]
fn check(caps: &[CapRecord], expected: &[&str]) {
    let record = CapsRecord::new(1_000_000, caps.to_vec(), None);
    let named: Vec<&String> = record.binding.iter().chain(&record.binding_too).collect();
    assert_eq!(named, expected, "{record:#?}");
}

#[test]
fn a_cap_that_leaves_a_hundredth_binds_as_well() {
    check(&[cap("disk_iops /a", 900_000, 1.0), cap("vm_uncached_iops", 0, 0.9)], &["disk_iops /a"]);
    let both = ["disk_iops /a", "vm_uncached_iops"];
    check(&[cap("disk_iops /a", 900_000, 1.0), cap("vm_uncached_iops", 0, 0.992)], &both);
    check(&[cap("disk_iops /a", 900_000, 1.0), cap("vm_uncached_iops", 0, 0.988)], &both[..1]);
}

#[test]
fn a_cap_behind_a_cache_binds_where_the_cache_can_take_no_more() {
    let behind = CapRecord { is_behind_cache: true, ..cap("disk_iops /a", 0, 0.998) };
    let caps = vec![cap("vm_cached_iops", 900_000, 1.0), behind];
    let record = CapsRecord::new(1_000_000, caps, None);
    assert_eq!(record.binding_too, Vec::<String>::new(), "there is room for more");
    let record = record.with_full_cache(true);
    let named = (record.binding.as_deref(), record.binding_too);
    assert_eq!(named, (Some("disk_iops /a"), vec!["vm_cached_iops".to_owned()]));
}

/// A file is read that comes into a cache: in the first half disks hold it, later the machine.
#[test]
fn caps_that_bind_one_after_the_other_are_named() {
    #[track_caller]
    fn check(lengths: [u64; 2], n_ios: [u64; 2], expected: &[&str]) {
        let record = |disk: (u64, f64), vm: (u64, f64)| {
            let caps = vec![cap("disk_iops /a", disk.0, disk.1), cap("vm_cached_iops", vm.0, vm.1)];
            CapsRecord::new(1_000_000, caps, None)
        };
        let period = |idx: usize, caps: CapsRecord| CapPeriod {
            length_ns: lengths[idx],
            n_ios: n_ios[idx],
            caps,
        };
        let periods = [
            period(0, record((900_000, 1.0), (0, 0.2))),
            period(1, record((0, 0.1), (900_000, 1.0))),
        ];
        let whole = record((450_000, 0.55), (450_000, 0.6)).with_periods(&periods);
        let named: Vec<&String> = whole.binding.iter().chain(&whole.binding_at_times).collect();
        assert_eq!(named, expected, "{whole:#?}");
        assert_eq!((&whole.binding_too[..], whole.next.is_some()), (&[][..], expected.len() == 1));
    }
    let both = ["vm_cached_iops", "disk_iops /a"];
    check([1, 1], [1, 1], &both);
    // A tenth of the time counts, and so does a tenth of the I/Os.
    check([1, 9], [1, 99], &both);
    check([1, 99], [1, 9], &both);
    check([5, 95], [5, 95], &both[..1]);
}

/// A worker that read so many bytes, on a volume of so many disks.
fn worker(mount: &str, n_disks: u32, io_bytes: u64) -> JobRecord {
    let own = CapRecord { n_disks, ..cap(&format!("disk_iops {mount}"), 0, 0.1) };
    let caps = CapsRecord::new(1_000_000, vec![own, cap("pool", 500_000, 1.0)], None);
    let mut job = JobRecord { caps: Some(caps), ..JobRecord::default() };
    job.dirs.read = DirRecord { io_bytes, n_ios: io_bytes, ..DirRecord::default() };
    job
}

#[test]
fn a_part_is_of_what_each_disk_has() {
    let mut workers = vec![worker("/a", 4, 800), worker("/b", 1, 200), worker("/b", 1, 200)];
    compare_parts(&mut workers);
    let part = |job: &JobRecord| {
        let caps = job.caps.as_ref().expect("caps");
        caps.caps.iter().find(|cap| cap.name == "pool").expect("the pool").part
    };
    let parts: Vec<f64> = workers.iter().map(part).collect();
    // 1,200 over five disks are 240 each: four have 200 each, one 400.
    let expected = [200.0 / 240.0, 400.0 / 240.0, 400.0 / 240.0];
    for (part, expected) in parts.iter().zip(expected) {
        assert!((part - expected).abs() < 1e-9, "{parts:?}");
    }
}

/// A mount may be called what it likes: the record says whose operations a cap counts.
#[test]
fn a_part_is_of_the_direction_that_the_cap_counts() {
    #[track_caller]
    fn check(name: &str, direction: Option<CapDirectionRecord>, expected: [f64; 2]) {
        let worker = |n_reads: u64, n_writes: u64| {
            let counted = CapRecord { direction, ..cap(name, 500_000, 1.0) };
            let caps = CapsRecord::new(1_000_000, vec![counted], None);
            let mut job = JobRecord { caps: Some(caps), ..JobRecord::default() };
            job.dirs.read = DirRecord { n_ios: n_reads, ..DirRecord::default() };
            job.dirs.write = DirRecord { n_ios: n_writes, ..DirRecord::default() };
            job
        };
        let mut workers = [worker(300, 0), worker(100, 400)];
        compare_parts(&mut workers);
        let parts = workers.map(|job| job.caps.expect("caps").caps[0].part);
        let is_near = |(part, expected): (f64, f64)| (part - expected).abs() < 1e-9;
        assert!(parts.into_iter().zip(expected).all(is_near), "{name}: {parts:?}");
    }
    use CapDirectionRecord::{Both, Reads, Writes};
    let (both, reads) = ([300.0 / 400.0, 500.0 / 400.0], [300.0 / 200.0, 100.0 / 200.0]);
    check("disk_iops /all reads", Some(Both), both);
    check("vm_cached_iops", Some(Reads), reads);
    check("vm_cached_iops", Some(Writes), [0.0, 2.0]);
    // Earlier records.
    check("disk_iops /a", None, both);
    check("disk_iops /a reads", None, reads);
    check("disk_iops /a writes", None, [0.0, 2.0]);
}

#[test]
fn how_long_rates_last_is_said_in_words() {
    let filling = |lasts_s: f64, never_fills: bool| FillingRecord {
        bytes_per_s: 1_048_576.0,
        lasts_s,
        held_by: "disk_iops /a".to_owned(),
        never_fills,
        followed_bytes: None,
    };
    let words = |lasts_s: f64| filling(lasts_s, false).words().expect("it fills");
    assert_eq!(
        words(90.0),
        "for another 1m30s at this rate, until half of the host cache is dirty: 1.00 MiB/s more \
         come in than go to the disks, held by disk_iops /a"
    );
    assert!(words(0.4).starts_with("no longer: 1.00 MiB/s more came"), "{}", words(0.4));
    assert_eq!(filling(90.0, true).words(), None);
    let small = FillingRecord { followed_bytes: Some(64 << 30), ..filling(90.0, false) };
    let words = small.words().expect("it fills");
    let part = "until 64.0 GiB of the host cache are dirty, as many small writes as the simulation";
    assert!(words.starts_with(&format!("for another 1m30s at this rate, {part}")), "{words}");
}

#[test]
fn what_a_cap_counts_is_said_by_the_record_and_in_old_ones_by_its_name() {
    use CapCountRecord::{Bytes, Operations, Slots};
    use CapStationRecord::{Cache, Disks, Network};
    let name = |kind: &str| cap(kind, 0, 0.0).traits();
    let traits = |counts, station| CapTraitsRecord { counts, station };
    for (kind, expected) in [
        ("disk_iops", traits(Operations, Disks)),
        ("disk_bytes", traits(Bytes, Disks)),
        ("vm_cached_iops", traits(Operations, Cache)),
        ("vm_cached_bytes", traits(Bytes, Cache)),
        ("vm_uncached_iops", traits(Operations, Disks)),
        ("vm_uncached_bytes", traits(Bytes, Disks)),
        ("volume_quota", traits(Bytes, Network)),
        ("volume_iops", traits(Operations, Network)),
        ("volume_ceiling", traits(Bytes, Network)),
        ("pool", traits(Bytes, Network)),
        ("pool_iops", traits(Operations, Network)),
        ("vm_egress", traits(Bytes, Network)),
        ("nfs_slots", traits(Slots, Network)),
    ] {
        assert_eq!(name(kind), expected, "{kind}");
    }
    // A kind that no name says.
    let own = traits(Slots, Disks);
    let new = CapRecord { traits: Some(own), ..cap("disk_tags /a", 0, 1.0) };
    assert_eq!(new.traits(), own);
}

/// A disk of 500 that bursts to 3,500 carries 2,000: it is further away than one that is 0.7 full.
#[test]
fn a_cap_in_a_burst_is_as_far_as_its_burst_rate() {
    let bursting = CapRecord { per_s: 500, burst_per_s: 3500, ..cap("disk_iops /a", 0, 4.0) };
    let caps =
        vec![cap("vm_cached_bytes", 900_000, 1.0), bursting, cap("vm_uncached_bytes", 0, 0.4)];
    let next = |caps: Vec<CapRecord>| {
        let record = CapsRecord::new(1_000_000, caps, None);
        (record.next.expect("one"), record.next_away_share.expect("it is known"))
    };
    let (name, away) = next(caps.clone());
    assert!(name == "disk_iops /a" && (away - (1.0 - 4.0 / 7.0)).abs() < 1e-9, "{name} {away}");
    let fuller = CapRecord { used_share: 0.7, busiest_used_share: 0.7, ..caps[2].clone() };
    assert_eq!(next(vec![caps[0].clone(), caps[1].clone(), fuller]).0, "vm_uncached_bytes");
}

/// Of 1,100 sustained and 3,500 in bursts 3,498 were done.
#[test]
fn a_cap_in_a_burst_is_used_up_by_its_burst() {
    let whole = units::format_percent_whole;
    let cap = CapRecord { per_s: 1100, burst_per_s: 3500, used_share: 3.18, ..Default::default() };
    assert_eq!(cap.used_words(whole), "100 % of its burst rate");
    let within = CapRecord { used_share: 0.98, ..cap };
    assert_eq!(within.used_words(whole), "98 %");
}
