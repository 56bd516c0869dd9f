//! Which cap held a job, and how far the next one is.

use record::CapDirectionRecord::{Both, Reads, Writes};
use record::CapRecord;
use volume::CacheMode;
use volume::design::Vm;

use crate::bench::{Bench, cap, close, design, ds14, iops, one_p30, p30};

const RANDREAD: &str = "rw=randread\nioengine=libaio\ndirect=1\nsize=10g\ntime_based=1\n\
                        ramp_time=2\nruntime=12\n";

#[test]
fn the_binding_cap_and_the_next_one_are_named() {
    let text = format!("[j]\nfilename=/mnt/p30/f\nbs=32k\niodepth=64\n{RANDREAD}");
    let record = Bench::new(one_p30()).run(&text);
    let caps = record.jobs[0].caps.as_ref().unwrap();
    assert_eq!(caps.binding.as_deref(), Some("disk_iops /mnt/p30"));
    assert_eq!(caps.next.as_deref(), Some("disk_bytes /mnt/p30"));
    // 64 in flight at 5,000 per second take 12.8 ms each, of which 1 ms is the disk's latency.
    close("share held", caps.caps[0].held_share, 11.8 / 12.8, 0.02);
    close("used", caps.caps[0].used_share, 1.0, 0.02);
    // 5,000 of 32 KiB are 156.25 of 200 MiB/s.
    close("distance", caps.next_away_share.unwrap(), 1.0 - 0.78125, 0.02);
    close("I/O time", caps.io_time_ns as f64 / 1e9, 64.0 * 12.0, 0.02);
}

/// No account ends a burst on demand: it is what the disk gives.
#[test]
fn a_burst_on_demand_is_the_limit() {
    let mut design = one_p30();
    let volume::design::Backing::Disks(stripe) = &mut design.volumes[0].backing else {
        unreachable!()
    };
    let cap = &mut stripe.disks[0].cap;
    let burst = |per_s| Some(volume::design::Burst { per_s, bucket: None });
    cap.iops.as_mut().unwrap().burst = burst(30_000);
    cap.bytes.as_mut().unwrap().burst = burst(1_000_000_000);
    let text = format!("[j]\nfilename=/mnt/p30/f\nbs=8k\niodepth=64\n{RANDREAD}");
    let record = Bench::new(design).run(&text);
    close("IOPS", iops(&record.jobs[0]), 30_000.0, 0.02);
    let caps = record.jobs[0].caps.as_ref().unwrap();
    assert_eq!(caps.binding.as_deref(), Some("disk_iops /mnt/p30"));
    assert_eq!((caps.caps[0].per_s, caps.caps[0].burst_per_s), (30_000, 0));
    close("used", caps.caps[0].used_share, 1.0, 0.02);
    // 30,000 of 8 KiB are 245.8 of 1,000 MB/s.
    assert_eq!(caps.next.as_deref(), Some("disk_bytes /mnt/p30"));
    close("distance", caps.next_away_share.unwrap(), 1.0 - 0.24576, 0.02);
}

#[test]
fn a_shallow_queue_is_held_by_nothing() {
    let text = format!("[j]\nfilename=/mnt/p30/f\nbs=8k\niodepth=2\n{RANDREAD}");
    let record = Bench::new(one_p30()).run(&text);
    let caps = record.jobs[0].caps.as_ref().unwrap();
    assert_eq!(caps.binding, None);
    assert_eq!(caps.next.as_deref(), Some("disk_iops /mnt/p30"));
    close("distance", caps.next_away_share.unwrap(), 0.6, 0.02);
}

#[test]
fn a_machine_in_front_of_a_disk_binds() {
    let vm = Vm { size: "DS1".to_owned(), uncached: cap(3200, 32_000_000), ..Vm::default() };
    let disks = vec![p30("/mnt/p30", 1, CacheMode::None)];
    let text = format!("[j]\nfilename=/mnt/p30/f\nbs=8k\niodepth=32\n{RANDREAD}");
    let record = Bench::new(design(Some(vm), disks)).run(&text);
    close("IOPS", iops(&record.jobs[0]), 3200.0, 0.02);
    let caps = record.jobs[0].caps.as_ref().unwrap();
    assert_eq!(caps.binding.as_deref(), Some("vm_uncached_iops"));
    assert_eq!(caps.next.as_deref(), Some("vm_uncached_bytes"));
}

/// The I/Os of a small disk wait for the machine more often than for the disk, where both give all
/// they have: each waits for its turn at the machine. But the disk is what the small volume has no
/// more of; of the machine it would get more.
#[test]
fn a_turn_at_a_cap_that_others_fill_is_not_what_binds() {
    let mut small = p30("/mnt/small", 1, CacheMode::None);
    let volume::design::Backing::Disks(stripe) = &mut small.backing else { unreachable!() };
    stripe.disks[0].cap = cap(400, 100 << 20);
    let vm = Vm { size: "own".to_owned(), uncached: cap(4400, 1 << 30), ..Vm::default() };
    let design = design(Some(vm), vec![small, p30("/mnt/big", 8, CacheMode::None)]);
    let text = format!(
        "[global]\nbs=8k\niodepth=64\n{RANDREAD}[small]\nfilename=/mnt/small/f\n[big]\n\
         filename=/mnt/big/f\n"
    );
    let record = Bench::new(design).run(&text);
    let [small, big] = [0, 1].map(|idx| record.jobs[idx].caps.as_ref().unwrap());
    assert_eq!(small.binding.as_deref(), Some("disk_iops /mnt/small"), "{small:#?}");
    assert_eq!(small.binding_too, [""; 0]);
    // The large volume has disks to spare.
    assert_eq!(big.binding.as_deref(), Some("vm_uncached_iops"));
    assert_eq!(big.binding_too, [""; 0]);
}

#[test]
fn workers_of_a_group_are_added() {
    let text = format!(
        "[j]\nfilename=/mnt/p30/f\nbs=8k\niodepth=16\nnumjobs=4\ngroup_reporting=1\n{RANDREAD}"
    );
    let record = Bench::new(one_p30()).run(&text);
    assert_eq!(record.jobs.len(), 1);
    let caps = record.jobs[0].caps.as_ref().unwrap();
    close("I/O time", caps.io_time_ns as f64 / 1e9, 64.0 * 12.0, 0.02);
    close("share held", caps.caps[0].held_share, 11.8 / 12.8, 0.02);
    close("used", caps.caps[0].used_share, 1.0, 0.02);
}

#[test]
fn disks_that_a_file_does_not_reach_lend_it_nothing() {
    // Sixteen disks, eight columns: a file lies on the first eight, one chunk on the first.
    let mut volume = p30("/mnt/data", 16, CacheMode::None);
    let volume::design::Backing::Disks(stripe) = &mut volume.backing else { unreachable!() };
    stripe.columns = 8;
    let of = |size: &str, mix: &str| {
        let text =
            format!("[j]\nfilename=/mnt/data/f\nbs=8k\niodepth=256\n{RANDREAD}size={size}\n{mix}");
        let record = Bench::new(design(None, vec![volume.clone()])).run(&text);
        let caps = record.jobs[0].caps.clone().expect("what held it");
        let cap = caps.binding_cap().expect("a cap").clone();
        assert_eq!(cap.name, "disk_iops /mnt/data");
        (iops(&record.jobs[0]), cap)
    };
    let (rate_iops, cap) = of("10g", "");
    close("eight disks", rate_iops, 40_000.0, 0.02);
    assert_eq!((cap.n_disks, cap.per_s), (8, 40_000));
    let (rate_iops, cap) = of("64k", "");
    close("one disk", rate_iops, 5_000.0, 0.02);
    assert_eq!((cap.n_disks, cap.per_s), (1, 5_000));
    // Four of five operations on a fifth of the first columns: some disks are busier than others.
    let (_, cap) = of("512k", "random_distribution=zoned:80/20:20/80\n");
    assert_eq!((cap.n_disks, cap.per_s), (8, 40_000));
    close("busiest", cap.busiest_used_share, 1.0, 0.02);
    assert!(cap.used_share < 0.8, "{}", cap.used_share);
}

/// The documents' example: ten striped disks without cache for writes, one with it for reads.
const DS14_JOBS: &str = "\
[global]
ioengine=libaio
direct=1
bs=8k
size=30g
iodepth=256
time_based=1
ramp_time=5
runtime=20
[write]
directory=/mnt/nocache
rw=randwrite
numjobs=4
group_reporting=1
[read]
new_group=1
directory=/mnt/readcache
rw=randread
numjobs=4
group_reporting=1
";

#[test]
fn the_two_paths_of_a_machine_add_up() {
    let volumes = vec![
        p30("/mnt/nocache", 10, CacheMode::None),
        p30("/mnt/readcache", 1, CacheMode::ReadOnly),
    ];
    let record = Bench::warm(design(Some(ds14()), volumes)).run(DS14_JOBS);
    let [write, read] = [&record.jobs[0], &record.jobs[1]].map(iops);
    close("writes", write, 50_000.0, 0.02);
    close("reads", read, 64_000.0, 0.02);
    assert!(write + read >= 100_000.0);
    let binding = |idx: usize| record.jobs[idx].caps.as_ref().unwrap().binding.clone().unwrap();
    assert_eq!(binding(0), "disk_iops /mnt/nocache");
    assert_eq!(binding(1), "vm_cached_iops");
    // The writes take nearly all that the machine gives past its cache; the reads never get there.
    let next = record.jobs[0].caps.as_ref().unwrap().next.as_deref();
    assert_eq!(next, Some("vm_uncached_iops"));
    // 64,000 of 8 KiB are the 500 MiB/s of cached bytes: both give all they have.
    let read_caps = record.jobs[1].caps.as_ref().unwrap();
    assert_eq!(
        (&*read_caps.binding_too, &read_caps.next),
        (&["vm_cached_bytes".to_owned()][..], &None)
    );
    let names = record.jobs[1].caps.as_ref().unwrap().caps.iter().map(|cap| cap.name.as_str());
    assert_eq!(names.collect::<Vec<_>>(), ["vm_cached_iops", "vm_cached_bytes"]);
    assert_eq!(record.emulation.as_ref().unwrap().cache, "warm");
}

#[test]
fn only_caps_that_a_jobs_own_io_met_are_its_next() {
    let volumes = || {
        vec![
            p30("/mnt/nocache", 10, CacheMode::None),
            p30("/mnt/readonly", 1, CacheMode::ReadOnly),
            p30("/mnt/readwrite", 1, CacheMode::ReadWrite),
        ]
    };
    // Beside it, another job takes nearly all that the machine gives past its cache.
    let kinds = |bench: Bench, place: &str, rw: &str| {
        let text = format!(
            "[global]\nioengine=libaio\ndirect=1\nbs=8k\nsize=1g\ntime_based=1\nruntime=2\n\
             [other]\ndirectory=/mnt/nocache\nrw=randwrite\niodepth=256\n\
             [own]\ndirectory={place}\nrw={rw}\niodepth=1\n"
        );
        let record = bench.run(&text);
        let caps = record.jobs[1].caps.as_ref().unwrap();
        for cap in &caps.caps {
            let as_before = CapRecord { traits: None, ..cap.clone() };
            assert_eq!(cap.traits, Some(as_before.traits()), "{}", cap.name);
        }
        let mut kinds: Vec<_> = caps.caps.iter().map(|cap| cap.kind.clone()).collect();
        kinds.sort();
        (caps.next.clone().unwrap(), kinds)
    };
    let at_cache = ["vm_cached_bytes", "vm_cached_iops"];
    let at_disks = ["disk_bytes", "disk_iops", "vm_uncached_bytes", "vm_uncached_iops"];
    let all = ["disk_bytes", "disk_iops"].iter().chain(&at_cache).chain(&at_disks[2..]);
    let all: Vec<&str> = all.copied().collect();
    let machine = |cache| design(Some(ds14()), cache);
    let (next, met) = kinds(Bench::warm(machine(volumes())), "/mnt/readonly", "randread");
    assert!(next.starts_with("vm_cached"), "{next}");
    assert_eq!(met, at_cache);
    for (place, rw, expected) in [
        ("/mnt/readonly", "randread", &all[..]),
        ("/mnt/readonly", "randwrite", &all[..]),
        ("/mnt/readwrite", "randwrite", &all[..]),
        ("/mnt/nocache", "randread", &at_disks[..]),
    ] {
        let (next, met) = kinds(Bench::new(machine(volumes())), place, rw);
        // What a write-back cache takes goes to the machine's disks later: it comes faster here.
        let expected_next =
            if place == "/mnt/readwrite" { "vm_cached_iops" } else { "vm_uncached_iops" };
        assert_eq!(next, expected_next, "{place} {rw}");
        assert_eq!(met, expected, "{place} {rw}");
    }
}

/// D8s_v3 before one P30 with a write-back cache: the machine's cached cap holds the writes, and
/// the disk only what the cache sends on.
#[test]
fn a_disk_behind_a_write_back_cache_does_not_bind_while_the_cache_fills() {
    let vm = Vm {
        size: "D8s_v3".to_owned(),
        uncached: cap(12_800, 192_000_000),
        cached: cap(16_000, 128_000_000),
        cache_bytes: Some(200 << 30),
        ..Vm::default()
    };
    let design = design(Some(vm), vec![p30("/m/v", 1, CacheMode::ReadWrite)]);
    let of = |load: &str| {
        let text = format!(
            "[j]\nfilename=/m/v/f\nrw=randwrite\nbs=4k\nioengine=libaio\ndirect=1\nsize=100g\n\
             time_based=1\nramp_time=2\nruntime=10\n{load}\n"
        );
        let record = Bench::new(design.clone()).run(&text);
        record.jobs[0].caps.clone().expect("caps")
    };
    let closed = of("iodepth=16");
    assert_eq!(closed.binding.as_deref(), Some("vm_cached_iops"), "{closed:#?}");
    assert_eq!(closed.binding_too, [""; 0]);
    assert_ne!(closed.next.as_deref(), Some("disk_iops /m/v"));
    // 16,000 come in and 5,000 go on, and 16.8 million ranges may be dirty.
    let filling = closed.filling.expect("it fills");
    close("more", filling.bytes_per_s, 11_000.0 * 4096.0, 0.02);
    close("lasts", filling.lasts_s, f64::from(1 << 24) / 11_000.0 - 12.0, 0.02);
    assert_eq!(filling.held_by, "disk_iops /m/v");
    let rated = of("iodepth=16\nrate_iops=8000");
    assert_eq!(rated.binding, None, "{rated:#?}");
    assert_ne!(rated.next.as_deref(), Some("disk_iops /m/v"));
    close("more", rated.filling.expect("it fills").bytes_per_s, 3_000.0 * 4096.0, 0.02);
    let calm = of("iodepth=16\nrate_iops=3000");
    assert_eq!(calm.filling, None, "{calm:#?}");
    assert_eq!(calm.next.as_deref(), Some("disk_iops /m/v"));
}

/// A machine whose cache has caps of its own for writes.
#[test]
fn a_cap_of_one_direction_says_so() {
    let vm = Vm {
        size: "own".to_owned(),
        cached: cap(2000, 1 << 30),
        cached_write: Some(cap(1000, 1 << 30)),
        uncached: cap(4000, 1 << 30),
        cache_bytes: Some(100 << 30),
        ..Vm::default()
    };
    let disks = vec![p30("/mnt/p30", 1, CacheMode::ReadWrite)];
    let text = format!(
        "[j]\nfilename=/mnt/p30/f\nbs=8k\niodepth=32\n{}",
        RANDREAD.replace("rw=randread", "rw=randrw")
    );
    let record = Bench::new(design(Some(vm), disks)).run(&text);
    let caps = record.jobs[0].caps.as_ref().unwrap();
    let said = |what: &str| {
        let is_it = |cap: &&CapRecord| cap.kind == "vm_cached_iops" && cap.name.contains(what);
        caps.caps.iter().find(is_it).map(|cap| cap.direction)
    };
    assert_eq!(said("read"), Some(Some(Reads)), "{caps:#?}");
    assert_eq!(said("write"), Some(Some(Writes)), "{caps:#?}");
    let of_disk = caps.caps.iter().find(|cap| cap.name == "disk_iops /mnt/p30");
    assert_eq!(of_disk.unwrap().direction, Some(Both));
}
