//! Each check has a run that trips it and nothing else, in virtual time on volumes whose truth is
//! known. What virtual time cannot show, such as a tired load generator, is put into the record of
//! a run that passes everything.

use std::sync::Arc;

use analysis::steady::SteadyRule;
use analysis::{Rules, assess};
use record::{NetworkRecord, PlaceRecord, Record, StepValidity, Verdict};
use runner::{DesignChange, UntilSteady};
use volume::{CacheMode, Design};

use crate::bench::{Bench, cap, design, ds14, one_p30, p30, plan};

const S: u64 = 1_000_000_000;

/// Random reads of 8 KiB in a file of 20 GiB for a minute, with these lines more.
fn reads(more: &str) -> String {
    format!(
        "[j]\ndirectory=/mnt/p30\nsize=20g\nrw=randread\nbs=8k\nioengine=libaio\ndirect=1\n\
         iodepth=32\ntime_based=1\nruntime=60\n{more}\n"
    )
}

/// One disk of this many I/Os per second.
fn disk(iops: u64) -> Design {
    let mut design = one_p30();
    if let volume::design::Backing::Disks(stripe) = &mut design.volumes[0].backing {
        stripe.disks[0].cap = cap(iops, 200 << 20);
    }
    design
}

fn changing(from: Design, changes: &[(u64, u64)]) -> Bench {
    let change = |(at_s, iops): &(u64, u64)| DesignChange {
        at_ns: at_s * S,
        design: Arc::new(disk(*iops)),
        design_hash: String::new(),
    };
    Bench { changes: changes.iter().map(change).collect(), ..Bench::new(from) }
}

#[track_caller]
fn judged(record: &Record, rules: &Rules) -> StepValidity {
    let mut steps = assess(record, rules);
    assert_eq!(steps.len(), 1);
    steps.remove(0)
}

/// Checks which checks of a record fail, with a part of the first one's reason.
#[track_caller]
fn check(record: &Record, rules: &Rules, expected: &[&str], reason: &str) -> StepValidity {
    let validity = judged(record, rules);
    let failed: Vec<&str> = validity.with(Verdict::Failed).map(|gate| gate.name.as_str()).collect();
    assert_eq!(failed, expected, "{:#?}", validity.gates);
    if let Some(gate) = validity.with(Verdict::Failed).next() {
        assert!(gate.reason.contains(reason), "{}", gate.reason);
        assert!(gate.next_step.is_some());
    }
    validity
}

fn names(validity: &StepValidity, verdict: Verdict) -> Vec<&str> {
    validity.with(verdict).map(|gate| gate.name.as_str()).collect()
}

#[test]
fn a_good_run_passes_every_check_that_applies() {
    let rules = Rules::default();
    let closed = Bench::new(one_p30()).run(&reads(""));
    let validity = check(&closed, &rules, &[], "");
    let expected = ["errors", "steady", "queue-depth", "generator", "littles-law", "footprint"];
    assert_eq!(names(&validity, Verdict::Passed), expected);
    assert_eq!(names(&validity, Verdict::NotAssessed), Vec::<&str>::new());
    assert!(validity.is_valid);
    // The law was checked with what was counted: 32 in flight all the time.
    let in_flight = closed.jobs[0].in_flight_mean.expect("it was counted");
    assert!((in_flight - 32.0).abs() < 0.1, "{in_flight}");
    let open = Bench::new(one_p30()).run(&reads("rate_iops=2000\nrate_process=poisson"));
    let validity = check(&open, &rules, &[], "");
    let expected = ["errors", "steady", "offered", "generator", "littles-law", "footprint"];
    assert_eq!(names(&validity, Verdict::Passed), expected);
}

#[test]
fn a_short_run_is_not_assessed_and_no_failure() {
    let record = Bench::new(one_p30()).run(&reads("runtime=10"));
    let validity = check(&record, &Rules::default(), &[], "");
    assert_eq!(names(&validity, Verdict::NotAssessed), ["steady"]);
    assert!(validity.is_valid);
    // A window that is asked for is judged, however short.
    let rules = Rules { window_s: Some(5.0), ..Rules::default() };
    let validity = check(&record, &rules, &[], "");
    assert!(names(&validity, Verdict::Passed).contains(&"steady"));
    assert_eq!(validity.window_ms, Some((5_000, 10_000)));
}

#[test]
fn a_volume_whose_limit_changes_in_the_middle_is_not_steady() {
    let record = changing(disk(5_000), &[(60, 3_500)]).run(&reads("runtime=120"));
    let validity = check(&record, &Rules::default(), &["steady"], "IOPS");
    let at_s = validity.gate("steady").and_then(|gate| gate.figure("change_at_s"));
    assert!(at_s.is_some_and(|at_s| (58.0..=62.0).contains(&at_s)), "{at_s:?}");
    assert!(validity.is_valid, "it measured what was asked for");
    // There and back again: the beginning and the end are alike.
    let there_and_back = changing(disk(5_000), &[(40, 4_000), (80, 5_000)]);
    check(&there_and_back.run(&reads("runtime=120")), &Rules::default(), &["steady"], "IOPS");
    // Nor is one that changes early: what was before is no warm-up.
    for at_s in [10, 45] {
        let early = changing(disk(5_000), &[(at_s, 3_500)]).run(&reads("runtime=120"));
        let validity = check(&early, &Rules::default(), &["steady"], "IOPS fell from 5");
        let found_s = validity.gate("steady").and_then(|gate| gate.figure("change_at_s"));
        assert!(found_s.is_some_and(|it| (it - at_s as f64).abs() <= 5.0), "{found_s:?}");
    }
    // Of two changes the first one decides.
    let twice = changing(disk(4_200), &[(30, 1_200), (77, 500)]).run(&reads("runtime=90"));
    let validity = check(&twice, &Rules::default(), &["steady"], "IOPS fell from 4");
    let at_s = validity.gate("steady").and_then(|gate| gate.figure("change_at_s"));
    assert!(at_s.is_some_and(|it| (28.0..=32.0).contains(&it)), "{at_s:?}");
    // Wider limits let it pass, and a window after the change.
    let record = changing(disk(5_000), &[(30, 4_600)]).run(&reads("runtime=90"));
    let steady = SteadyRule { range_pct: 40.0, slope_pct: 40.0, ..SteadyRule::default() };
    check(&record, &Rules { steady, ..Rules::default() }, &[], "");
    check(&record, &Rules { window_s: Some(50.0), ..Rules::default() }, &[], "");
}

#[test]
fn a_warm_up_is_found_and_left_out() {
    let record = changing(disk(1_500), &[(30, 5_000)]).run(&reads("runtime=240"));
    let whole = Rules { warm_up_s: Some(0.0), ..Rules::default() };
    check(&record, &whole, &["steady"], "IOPS");
    // The figures are a mixture of both levels, and the verdict says so.
    let reason = "IOPS rose from 1500 to 5000 at 30 s";
    let validity = check(&record, &Rules::default(), &["steady"], reason);
    let found_ms = validity.warm_up_ms.expect("it was found");
    assert!((30_000..=35_000).contains(&found_ms), "{found_ms} ms");
    assert_eq!(validity.window_ms, Some((found_ms, 240_000)));
    let given = Rules { warm_up_s: Some(40.0), ..Rules::default() };
    assert_eq!(check(&record, &given, &[], "").warm_up_ms, Some(40_000));
}

#[test]
fn a_rate_that_is_not_carried() {
    let record = Bench::new(one_p30()).run(&reads("rate_iops=6000"));
    let validity = check(&record, &Rules::default(), &["offered"], "of 6000 IOPS were achieved");
    assert!(!validity.is_valid);
    let steady = validity.gate("steady").expect("it was looked at");
    assert_eq!(steady.verdict, Verdict::NotAssessed, "what waits grows: {}", steady.reason);
    let arrivals = record.jobs[0].arrivals.as_ref().expect("there was a rate");
    let off = arrivals.backlog_end.abs_diff(60_000);
    assert!(off < 600, "{} wait of the 60,000 that were not carried", arrivals.backlog_end);
    assert_eq!(arrivals.n_late, 0, "the volume was late, not the generator");
}

#[test]
fn a_queue_that_is_not_kept_full() {
    let job = reads("").replace("libaio", "psync").replace("runtime=60", "runtime=60\niodepth=8");
    let record = Bench::new(one_p30()).run(&job);
    check(&record, &Rules::default(), &["queue-depth"], "a queue depth of 8 was asked for");
}

#[test]
fn a_footprint_that_a_cache_holds() {
    let cached = design(Some(ds14()), vec![p30("/mnt/p30", 1, CacheMode::ReadOnly)]);
    let mut record = Bench::new(cached).run(&reads("rate_iops=1000"));
    check(&record, &Rules::default(), &["footprint"], "the host cache holds 576 GiB");
    // With a warm cache its figures are wanted.
    if let Some(emulation) = &mut record.emulation {
        emulation.cache = "warm".to_owned();
    }
    check(&record, &Rules::default(), &[], "");
    // 60,000 reads of 8 KiB, each at another place.
    assert_eq!(record.conditions[0].touched_bytes, Some(60_000 * 8192));
}

/// Of hot spots less is touched than of a whole file. `n` draws at random reach all but
/// `exp(-n / blocks)` of a zone.
#[test]
fn what_hot_spots_touch_is_counted() {
    let zoned = "random_distribution=zoned:90/1:10/99\nnorandommap=1\nrate_iops=4000";
    for more in ["", "filename=f\nnumjobs=2\nrate_iops=2000"] {
        let record = Bench::new(one_p30()).run(&reads(&format!("{zoned}\n{more}")));
        let n = 240_000.0;
        let reached = |draws: f64, blocks: f64| blocks * (1.0 - (-draws / blocks).exp());
        let blocks = 20.0 * f64::from(1 << 17);
        let expected = reached(n * 0.9, blocks * 0.01) + reached(n * 0.1, blocks * 0.99);
        let touched = record.conditions[0].touched_bytes.expect("it was counted") as f64 / 8192.0;
        assert!((touched / expected - 1.0).abs() < 0.03, "{touched} blocks, and not {expected}");
    }
    // The same of a zipf distribution is judged, where it was not assessed before.
    let record = Bench::new(one_p30()).run(&reads("random_distribution=zipf:1.2"));
    let rules = Rules { cache_bytes: Some(20 << 30), ..Rules::default() };
    check(&record, &rules, &["footprint"], "were touched");
}

/// Makes a volume's disk carry so much for ever, and twice as much on this many credits.
fn let_burst(volume: &mut volume::design::Volume, per_s: u64, credits: u64) {
    if let volume::design::Backing::Disks(stripe) = &mut volume.backing {
        let limit = stripe.disks[0].cap.iops.as_mut().expect("it has one");
        limit.per_s = per_s;
        limit.burst = Some(volume::design::Burst { per_s: 2 * per_s, bucket: Some(credits) });
    }
}

#[test]
fn credits_of_one_volume_are_not_anothers() {
    let mut two = one_p30();
    two.volumes.push(p30("/mnt/b", 1, CacheMode::None));
    let_burst(&mut two.volumes[0], 4_000, 1_000_000);
    let_burst(&mut two.volumes[1], 1_000, 100_000);
    let jobs = |runtime_s: u32| {
        format!(
            "[global]\nsize=20g\nrw=randread\nbs=8k\nioengine=libaio\ndirect=1\niodepth=32\n\
             time_based=1\nruntime={runtime_s}\n[a]\ndirectory=/mnt/p30\nrate_iops=500\n\
             [b]\ndirectory=/mnt/b\nrate_iops=1500\n"
        )
    };
    let credits = |record: &Record| {
        let validity = judged(record, &Rules::default());
        validity.gate("credits").cloned().expect("the disks have credits")
    };
    // Together they are far below what the two carry for ever; one of them is not.
    let short = credits(&Bench::new(two.clone()).run(&jobs(60)));
    assert_eq!(short.verdict, Verdict::NotAssessed);
    assert!(short.reason.contains("1500 IOPS on /mnt/b are above"), "{}", short.reason);
    let lasts_s = short.figure("lasts_s").expect("it is given");
    assert!((195.0..=205.0).contains(&lasts_s), "{lasts_s}");
    let long = credits(&Bench::new(two.clone()).run(&jobs(240)));
    assert_eq!(long.verdict, Verdict::Failed, "{}", long.reason);
    let below = jobs(60).replace("rate_iops=1500", "rate_iops=900");
    assert_eq!(credits(&Bench::new(two.clone()).run(&below)).verdict, Verdict::Passed);
    // Whose credits were spent is not known of two designs, and that is said.
    let change =
        DesignChange { at_ns: S, design: Arc::new(two.clone()), design_hash: String::new() };
    let changed = Bench { changes: vec![change], ..Bench::new(two) };
    let changed = credits(&changed.run(&jobs(60)));
    assert_eq!(changed.verdict, Verdict::NotAssessed);
    assert!(changed.reason.contains("changed during the run"), "{}", changed.reason);
}

#[test]
fn credits_that_may_run_out() {
    let mut bursting = one_p30();
    let_burst(&mut bursting.volumes[0], 1_000, 100_000);
    let short = Bench::new(bursting.clone()).run(&reads(""));
    let validity = check(&short, &Rules::default(), &[], "");
    let credits = validity.gate("credits").expect("the disk has credits");
    assert_eq!(credits.verdict, Verdict::NotAssessed);
    assert!(credits.reason.contains("credits possible"), "{}", credits.reason);
    // Of two accounts that are drawn on, the one that is empty first.
    let both = |base_iops| {
        let mut both = one_p30();
        if let volume::design::Backing::Disks(stripe) = &mut both.volumes[0].backing {
            let burst = |per_s, bucket| Some(volume::design::Burst { per_s, bucket: Some(bucket) });
            let cap = &mut stripe.disks[0].cap;
            let iops = cap.iops.as_mut().expect("it has one");
            (iops.per_s, iops.burst) = (base_iops, burst(2_000, 1_000_000));
            let bytes = cap.bytes.as_mut().expect("it has one");
            (bytes.per_s, bytes.burst) = (15_000_000, burst(20_000_000, 138_400_000));
        }
        both
    };
    let validity = check(&Bench::new(both(1_900)).run(&reads("")), &Rules::default(), &[], "");
    let lasts_s = validity.gate("credits").and_then(|gate| gate.figure("lasts_s"));
    // 16.4 of 15 MB/s for 100 s, and 2,000 of 1,900 I/Os for 10,000 s.
    assert!(lasts_s.is_some_and(|lasts_s| (95.0..105.0).contains(&lasts_s)), "{lasts_s:?}");
    // The 1,831 I/Os that 15 MB/s are live on the other account: 784,000 of it are left.
    let longer = Bench::new(both(1_000)).run(&reads("runtime=240"));
    let validity = check(&longer, &Rules::default(), &["credits"], "fell from");
    let credits = validity.gate("credits").expect("the disk has credits");
    let [fell_at_s, lasts_s] = ["fell_at_s", "lasts_s"].map(|name| credits.figure(name).unwrap());
    assert!((98.0..=102.0).contains(&fell_at_s), "{fell_at_s}");
    assert!((1_170.0..=1_195.0).contains(&lasts_s), "{lasts_s}");
    assert!(credits.reason.contains("1831 IOPS at the end are above"), "{}", credits.reason);
    let next_step = credits.next_step.as_deref().unwrap_or_default();
    assert!(next_step.starts_with("run until all credits have run out"), "{next_step}");
    // Below the baseline none are spent.
    let slow = Bench::new(bursting.clone()).run(&reads("rate_iops=500"));
    let validity = check(&slow, &Rules::default(), &[], "");
    assert!(names(&validity, Verdict::Passed).contains(&"credits"));
    // They last for 100 s: what comes after that is steady, and the fall is no warm-up.
    let long = Bench::new(bursting).run(&reads("runtime=240"));
    let validity = check(&long, &Rules::default(), &["steady", "credits"], "IOPS fell");
    let fell_at_s = validity.gate("credits").and_then(|gate| gate.figure("fell_at_s"));
    assert!(fell_at_s.is_some_and(|at_s| (98.0..=102.0).contains(&at_s)), "{fell_at_s:?}");
}

/// A record as of real time and a real disk, which passes every check.
fn real(more: &str) -> Record {
    let mut record = Bench::new(one_p30()).run(&reads(more));
    record.emulation = None;
    record.host.memory_bytes = 64 << 30;
    record.conditions[0].host_busy_share = Some(0.3);
    record.conditions[0].host_steal_share = Some(0.0);
    for job in &mut record.jobs {
        job.polls = false;
    }
    record
}

/// Changes a good record of real time, and checks what fails then.
#[track_caller]
fn trips(change: impl FnOnce(&mut Record), expected: &[&str], reason: &str) -> StepValidity {
    let rules = Rules { cache_bytes: Some(1 << 20), ..Rules::default() };
    let mut record = real("rate_iops=2000");
    check(&record, &rules, &[], "");
    change(&mut record);
    check(&record, &rules, expected, reason)
}

#[test]
fn a_load_generator_at_its_limit() {
    let late = |record: &mut Record| {
        if let Some(arrivals) = &mut record.jobs[0].arrivals {
            arrivals.n_late = 6_000;
        }
    };
    assert!(!trips(late, &["generator"], "5.0 % of the operations were submitted late").is_valid);
    let stolen = |record: &mut Record| record.conditions[0].host_steal_share = Some(0.1);
    trips(stolen, &[], "");
    let stolen = |record: &mut Record| record.conditions[0].host_steal_share = Some(0.2);
    trips(stolen, &["generator"], "the hypervisor took the processor (steal 20.0 %)");
    let busy = |record: &mut Record| record.jobs[0].cpu_user_ns = 59 * S;
    trips(busy, &["generator"], "a worker was busy for 98.3 %");
    // One that polls is always busy, which says nothing.
    let polls = |record: &mut Record| {
        record.jobs[0].cpu_user_ns = 59 * S;
        record.jobs[0].polls = true;
    };
    trips(polls, &[], "");
}

#[test]
fn what_does_not_add_up() {
    let off = |record: &mut Record| {
        record.jobs[0].in_flight_mean = record.jobs[0].in_flight_mean.map(|mean| mean * 1.05);
    };
    assert!(!trips(off, &["littles-law"], "off by 4.8 %").is_valid);
    let failed = |record: &mut Record| record.jobs[0].n_errors = 7;
    assert!(!trips(failed, &["errors"], "7 of 120007 operations failed").is_valid);
}

#[test]
fn what_answers_in_place_of_the_storage() {
    let buffered = |record: &mut Record| record.jobs[0].is_direct = Some(false);
    assert!(trips(buffered, &["page-cache"], "speed of memory").is_valid);
    let small = Rules { cache_bytes: Some(2 << 30), ..Rules::default() };
    check(&real("rate_iops=2000"), &small, &["footprint"], "storage's own cache holds 2.00 GiB");
    let validity = judged(&real("rate_iops=2000"), &Rules::default());
    assert_eq!(names(&validity, Verdict::NotAssessed), ["footprint"], "how large is not known");
}

#[test]
fn mounts_and_the_way_to_them() {
    let mounted = |options: &str, file_system: &str| PlaceRecord {
        path: "/mnt/v".to_owned(),
        file_system: file_system.to_owned(),
        mount_options: options.to_owned(),
        ..PlaceRecord::default()
    };
    let writes = |record: &mut Record| {
        record.places = vec![mounted("rw,nobarrier", "xfs")];
        record.jobs[0].dirs.write.n_ios = 1;
    };
    trips(writes, &["mount-options"], "flushes are not sent");
    // What only costs is part of what was measured, and reported.
    let synced = |record: &mut Record| record.places = vec![mounted("rw,sync", "xfs")];
    let validity = trips(synced, &[], "");
    let gate = validity.gate("mount-options").expect("there is a mount");
    assert!(gate.reason.contains("every write waits"), "{}", gate.reason);
    let far = |record: &mut Record| {
        let network = NetworkRecord {
            server: "10.0.0.4".to_owned(),
            n_connections: 1,
            link_bytes_s: Some(4.7e9),
            round_trip_ns: Some(1e6),
            ..NetworkRecord::default()
        };
        record.places = vec![PlaceRecord { network: Some(network), ..PlaceRecord::default() }];
        let buffers = [("net.ipv4.tcp_rmem", "4096 131072 6291456")];
        let buffers = buffers.iter().chain(&[("net.ipv4.tcp_wmem", "4096 16384 4194304")]);
        let buffers = buffers.map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
        record.host.sysctls = buffers.collect();
    };
    trips(far, &["socket-buffers"], "net.ipv4.tcp_wmem allows 4.00 MiB per connection");
}

#[test]
fn a_step_runs_on_until_it_is_steady() {
    let until = UntilSteady {
        rule: SteadyRule { range_pct: 5.0, slope_pct: 2.0, ..SteadyRule::default() },
        window_ns: 20 * S,
        limit_ns: 300 * S,
    };
    let run_job = |bench: &Bench, more: &str| {
        let plan = plan(&reads(more));
        bench.try_plan(&plan, |options| options.until_steady = Some(until)).expect("it can run")
    };
    let run = |bench: &Bench| run_job(bench, "runtime=300");
    let record = run(&Bench::new(one_p30()));
    let found = record.conditions[0].until_steady.expect("it was asked for");
    assert_eq!((found.limit_ms, found.attained_ms), (300_000, Some(20_000)));
    let restless: Vec<(u64, u64)> =
        (1..30).map(|n| (n * 10, if n % 2 == 0 { 1_500 } else { 5_000 })).collect();
    let record = run(&changing(disk(1_500), &restless));
    let found = record.conditions[0].until_steady.expect("it was asked for");
    assert_eq!(found.attained_ms, None);
    assert!(record.elapsed_ns >= 300 * S);
    // Rises for 45 s, and is steady when the window holds nothing of it that matters.
    let ramping: Vec<(u64, u64)> = (1..10).map(|n| (n * 5, 1_500 + n * 400)).collect();
    let record = run(&changing(disk(1_500), &ramping));
    let found = record.conditions[0].until_steady.expect("it was asked for");
    let attained_ms = found.attained_ms.expect("it settled");
    assert!((55_000..=66_000).contains(&attained_ms), "{attained_ms} ms");
    assert!(record.elapsed_ns < 70 * S);
    // Under a rate that is carried, and under one whose response times rise while the disk does
    // the same all the time.
    for (rate, expected_ms) in [(4_000, Some(20_000)), (5_200, None)] {
        let rated = format!("runtime=60\nrate_iops={rate}");
        let record = run_job(&Bench::new(one_p30()), &rated);
        let found = record.conditions[0].until_steady.expect("it was asked for");
        assert_eq!(found.attained_ms, expected_ms, "{rate} per second");
    }
}

/// While a cold cache fills, the level is an even one of the disk's: no pass that only misses is
/// steady, and none of it belongs to the window that is.
#[test]
fn a_step_that_fills_a_cold_cache_runs_on_until_it_is_full() {
    let until = UntilSteady { rule: SteadyRule::default(), window_ns: 10 * S, limit_ns: 300 * S };
    let volumes = || vec![p30("/mnt/p30", 1, CacheMode::ReadOnly)];
    let run = |bench: Bench, more: &str| {
        let plan = plan(&reads(&format!("size=1g\nruntime=300\n{more}")));
        bench.try_plan(&plan, |options| options.until_steady = Some(until)).expect("it can run")
    };
    let attained_ms = |record: &Record| {
        let found = record.conditions[0].until_steady.expect("it was asked for");
        found.attained_ms.expect("it settles")
    };
    // 131,072 blocks at 5,000 per second are 26.2 s of misses, in order or not.
    for walk in ["rw=randread", "rw=read"] {
        let record = run(Bench::new(design(Some(ds14()), volumes())), walk);
        let ms = attained_ms(&record);
        assert!((36_000..45_000).contains(&ms), "{walk}: {ms} ms");
        let last = record.intervals.last().expect("it was sampled");
        assert!(last.dirs.read.n_ios > 20_000, "{walk}: {} reads", last.dirs.read.n_ios);
    }
    // A cache that is full from the start, and one that no read fills, delay nothing.
    let warm = run(Bench::warm(design(Some(ds14()), volumes())), "");
    assert_eq!(attained_ms(&warm), 10_000);
    let writes = run(Bench::new(design(Some(ds14()), volumes())), "rw=randwrite");
    assert_eq!(attained_ms(&writes), 10_000);
}
