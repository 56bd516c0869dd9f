//! The same job by the real fio and by ours: what must be equal is equal.
//!
//! How many I/Os and bytes, which blocks, which sizes, which mix, which keys, and the arithmetic
//! from latencies to bins and percentiles. Times are compared in `against_fio_timing.rs`.
//! Without fio on this machine each test says that it was skipped.

#[path = "common/against.rs"]
mod against;
mod common;

use std::collections::BTreeMap;

use against::{
    Line, NEWER, ProgramOutput, both, drop_options_without_value, jobs, quantile, real_fio, shape,
    tally,
};
use common::Sandbox;
use serde_json::Value;

const DIRS: [&str; 3] = ["read", "write", "trim"];

/// Latency of every I/O with its place, and nothing else.
const LOG: [&str; 2] = ["--write_lat_log={logs}", "--log_offset=1"];

/// Runs a job of these words, which get a file and the log of all I/Os.
#[track_caller]
fn logged(sandbox: &Sandbox, words: &str) -> Option<[ProgramOutput; 2]> {
    let mut args = vec!["--name=a", "--filename=f"];
    args.extend(LOG);
    let words: Vec<String> = words.split_whitespace().map(|word| format!("--{word}")).collect();
    args.extend(words.iter().map(String::as_str));
    both(sandbox, &args)
}

/// Returns direction, offset and size of each I/O, sorted.
fn places(said: &ProgramOutput) -> Vec<(u64, u64, u64)> {
    let mut places: Vec<_> =
        said.log("lat").iter().map(|line| (line.dir, line.offset, line.size_bytes)).collect();
    places.sort_unstable();
    places
}

/// Checks that both do the same I/Os in the same places, each as often as the other.
#[track_caller]
fn same_io(words: &str) {
    let sandbox = Sandbox::new();
    let Some([fio, ours]) = logged(&sandbox, words) else { return };
    for dir in DIRS {
        for key in ["total_ios", "io_bytes", "io_kbytes", "short_ios"] {
            let pointer = format!("/{dir}/{key}");
            assert_eq!(ours.count(&pointer), fio.count(&pointer), "{words}: {pointer}");
        }
    }
    assert!(!places(&ours).is_empty(), "{words}: nothing was done");
    assert_eq!(places(&ours), places(&fio), "{words}");
}

#[test]
fn sequential_jobs_do_the_same_io() {
    same_io("rw=read bs=4k size=1m");
    same_io("rw=write bs=4k size=1m ioengine=libaio iodepth=8 direct=1");
    same_io("rw=read:4k bs=4k size=1m ioengine=io_uring iodepth=4");
    same_io("rw=read bs=12k size=1m");
    same_io("rw=write bs=64k,16k size=1m io_size=1536k");
    same_io("rw=read bs=4k size=256k loops=3");
    same_io("rw=read bs=4k size=1m offset=256k number_ios=70");
    same_io("rw=write bs=4k size=512k offset_increment=512k numjobs=2 group_reporting");
    same_io("rw=trim bs=4k size=1m ioengine=null");
    same_io("rw=trimwrite bs=4k size=256k ioengine=null");
}

#[test]
fn random_jobs_touch_each_block_once() {
    same_io("rw=randread bs=4k size=4m ioengine=io_uring iodepth=16 direct=1");
    same_io("rw=randwrite bs=4k size=1m ioengine=libaio iodepth=8 direct=1");
    same_io("rw=randread bs=16k size=1m offset=1m");
    same_io("rw=randread bs=4k size=1m loops=2");
    same_io("rw=randread bs=4k size=256k io_size=768k");
    same_io("rw=randwrite bs=4k size=1m random_generator=lfsr");
    same_io("rw=randread bs=4k size=1m numjobs=3 group_reporting");
    same_io("rw=randtrim bs=4k size=1m ioengine=null");
}

#[test]
fn random_mixes_touch_each_block_once() {
    let words = "rw=randrw rwmixread=70 bs=4k size=16m ioengine=null";
    let sandbox = Sandbox::new();
    let Some(both) = logged(&sandbox, words) else { return };
    for said in both {
        let blocks = tally(said.log("lat").iter().map(|line| line.offset / 4096));
        assert_eq!(blocks.len(), 4096, "{} reaches all", said.who);
        assert!(blocks.values().all(|count| *count == 1), "{} repeats", said.who);
        close(&format!("{}: share of reads", said.who), share_of_reads(&said), 0.7, 0.03);
    }
}

/// Checks that mixed sizes reach every sector once.
#[track_caller]
fn covers(words: &str) {
    let sandbox = Sandbox::new();
    let Some(both) = logged(&sandbox, &format!("{words} size=4m ioengine=null")) else {
        return;
    };
    for said in both {
        let mut ends: Vec<(u64, u64)> =
            said.log("lat").iter().map(|line| (line.offset, line.size_bytes)).collect();
        ends.sort_unstable();
        let mut end = 0;
        for (offset, size) in ends {
            assert_eq!(offset, end, "{} {words}: a gap or a repeat", said.who);
            end += size;
        }
        assert_eq!(end, 4 << 20, "{} {words}: not all", said.who);
        assert_eq!(said.count("/read/io_bytes") + said.count("/write/io_bytes"), end, "{words}");
    }
}

#[test]
fn mixed_sizes_reach_every_block_once() {
    covers("rw=randread bsrange=4k-32k");
    covers("rw=randread bssplit=4k/50:8k/30:64k/20");
    covers("rw=randwrite bsrange=512-64k");
    covers("rw=read bssplit=4k/50:8k/50");
    covers("rw=randrw bsrange=4k-16k");
}

#[test]
fn random_trimwrite_writes_where_it_trimmed() {
    let words = "rw=randtrimwrite bs=4k size=4m ioengine=null";
    let sandbox = Sandbox::new();
    let Some(both) = logged(&sandbox, words) else { return };
    for said in both {
        let lines = said.log("lat");
        assert_eq!((said.count("/trim/total_ios"), said.count("/write/total_ios")), (1024, 1024));
        for pair in lines.chunks(2) {
            assert_eq!((pair[0].dir, pair[1].dir), (2, 1), "{}: {pair:?}", said.who);
            assert_eq!(pair[0].offset, pair[1].offset, "{}: {pair:?}", said.who);
        }
        assert_eq!(tally(lines.iter().map(|line| line.offset)).len(), 1024, "{}", said.who);
    }
}

/// Checks that as many I/Os are in flight as in fio when one is handed over, to a percent of all.
#[track_caller]
fn same_depths(words: &str) {
    for engine in ["libaio", "io_uring"] {
        let sandbox = Sandbox::new();
        sandbox.write("f", vec![1; 8 << 20]);
        let words = format!("size=8m rw=randread bs=4k direct=1 iodepth=32 {words}");
        let words = words.split_whitespace().map(|word| format!("--{word}"));
        let engine = format!("--ioengine={engine}");
        let args: Vec<String> = ["--name=a", "--filename=f", &engine]
            .map(str::to_owned)
            .into_iter()
            .chain(words)
            .collect();
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let Some([fio, ours]) = both(&sandbox, &args) else { return };
        for depth in ["1", "2", "4", "8", "16", "32", ">=64"] {
            let share =
                |printed: &ProgramOutput| printed.number(&format!("/iodepth_level/{depth}"));
            let (fio, ours) = (share(&fio), share(&ours));
            assert!(
                (fio - ours).abs() <= 1.0,
                "{args:?}, depth {depth}: fio {fio} %, ours {ours} %"
            );
        }
    }
}

#[test]
fn batches_keep_the_depth_that_fio_keeps() {
    same_depths("iodepth_batch=4");
    same_depths("iodepth_batch_complete=8");
    same_depths("iodepth_batch_complete_max=1");
    same_depths("iodepth_low=8");
    same_depths("iodepth_batch=4 iodepth_low=8");
    same_depths("iodepth_batch=8 iodepth_batch_complete=8 iodepth_low=16");
}

#[track_caller]
fn close(what: &str, value: f64, wanted: f64, bound: f64) {
    assert!((value - wanted).abs() <= bound, "{what}: {value}, wanted {wanted} within {bound}");
}

fn share_of_reads(said: &ProgramOutput) -> f64 {
    let reads = said.number("/read/total_ios");
    reads / (reads + said.number("/write/total_ios"))
}

/// Returns the share of each size among the I/Os of a direction.
fn size_shares(lines: &[Line], dir: u64) -> BTreeMap<u64, f64> {
    let sizes: Vec<u64> =
        lines.iter().filter(|line| line.dir == dir).map(|line| line.size_bytes).collect();
    let n = sizes.len() as f64;
    tally(sizes).into_iter().map(|(size, count)| (size, count as f64 / n)).collect()
}

/// Enough draws that a share is known to 1.5 percent, four standard deviations.
const DRAWS: &str = "ioengine=null size=4m norandommap number_ios=20000 io_size=16g";

#[test]
fn sizes_and_mixes_have_the_same_shares() {
    for (words, read_share) in [
        ("rw=randrw rwmixread=70 bssplit=4k/50:8k/30:64k/20", 0.7),
        ("rw=randrw rwmixwrite=10 bssplit=4k/90:16k/10,8k/25:32k/75", 0.9),
        ("rw=randrw bsrange=4k-16k", 0.5),
    ] {
        let sandbox = Sandbox::new();
        let Some([fio, ours]) = logged(&sandbox, &format!("{words} {DRAWS}")) else {
            return;
        };
        close(words, share_of_reads(&fio), read_share, 0.02);
        close(words, share_of_reads(&ours), read_share, 0.02);
        let (fio, ours) = (fio.log("lat"), ours.log("lat"));
        assert_eq!(ours.len(), 20_000, "{words}");
        for dir in [0, 1] {
            let (fio, ours) = (size_shares(&fio, dir), size_shares(&ours, dir));
            assert!(ours.keys().eq(fio.keys()), "{words}: {ours:?} and {fio:?}");
            for (size, share) in &fio {
                // The fewest draws are 2,000 writes: four deviations of a half are 4.5 %.
                close(&format!("{words}: {size} B of {dir}"), ours[size], *share, 0.045);
            }
        }
    }
}

/// Returns which share of the I/Os the hottest 1, 10, 51, 102, 256 and 512 of 1024 blocks get.
fn hit_shares(said: &ProgramOutput) -> Vec<f64> {
    let lines = said.log("lat");
    let mut counts: Vec<u64> =
        tally(lines.iter().map(|line| line.offset / 4096)).into_values().collect();
    counts.sort_unstable_by(|left, right| right.cmp(left));
    [1, 10, 51, 102, 256, 512]
        .iter()
        .map(|n_hot| counts.iter().take(*n_hot).sum::<u64>() as f64 / lines.len() as f64)
        .collect()
}

#[test]
fn hot_blocks_get_the_same_shares() {
    for distribution in [
        "random",
        "zipf:1.2",
        "pareto:0.2",
        "normal:20",
        "normal:0",
        "normal:80",
        "zoned:60/10:30/20:10/70",
        "zoned_abs:60/1m:30/1m:10/2m",
    ] {
        let words = format!("rw=randread bs=4k random_distribution={distribution} {DRAWS}");
        let sandbox = Sandbox::new();
        let Some([fio, ours]) = logged(&sandbox, &words) else { return };
        for (fio, ours) in hit_shares(&fio).iter().zip(hit_shares(&ours)) {
            // fio's zipf is an approximation, up to 2 % above the sum of the terms, and its wide
            // normal has a flatter top.
            close(distribution, ours, *fio, 0.045);
        }
    }
}

/// Returns fio's bucket of a latency by the middle that it reports (facts of its format: 64
/// buckets per power of two, single values below 128).
fn bucket_middle_ns(latency_ns: u64) -> u64 {
    let shift = (64 - latency_ns.leading_zeros()).saturating_sub(7);
    if shift == 0 {
        return latency_ns;
    }
    ((latency_ns >> shift) << shift) + (1 << (shift - 1))
}

/// Reads `bins` of a latency object.
fn bins(latency: &Value) -> BTreeMap<u64, u64> {
    let bins = latency["bins"].as_object().expect("json+ has bins");
    bins.iter()
        .map(|(middle, count)| (middle.parse().expect("ns"), count.as_u64().expect("a count")))
        .collect()
}

/// Checks one latency object against the log of the same I/Os.
#[track_caller]
fn agrees(what: &str, latency: &Value, logged_ns: &[u64]) {
    let counts = bins(latency);
    assert_eq!(counts, tally(logged_ns.iter().map(|ns| bucket_middle_ns(*ns))), "{what}: bins");
    for (share, value) in latency["percentile"].as_object().expect("percentiles") {
        let recomputed = quantile(&counts, share.parse().expect("a share"));
        assert_eq!(value.as_u64(), Some(recomputed), "{what}: percentile {share}");
    }
    let n = logged_ns.len() as f64;
    let mean = logged_ns.iter().sum::<u64>() as f64 / n;
    let squares: f64 = logged_ns.iter().map(|ns| (*ns as f64 - mean).powi(2)).sum();
    let float = |key: &str| latency[key].as_f64().expect("a number");
    assert_eq!(latency["N"].as_u64(), Some(logged_ns.len() as u64), "{what}");
    assert_eq!(latency["min"].as_u64(), logged_ns.iter().min().copied(), "{what}: min");
    assert_eq!(latency["max"].as_u64(), logged_ns.iter().max().copied(), "{what}: max");
    close(&format!("{what}: mean"), float("mean"), mean, mean * 1e-6);
    let deviation = (squares / (n - 1.0)).sqrt();
    close(&format!("{what}: stddev"), float("stddev"), deviation, deviation * 1e-4);
}

#[test]
fn the_same_latencies_make_the_same_bins_percentiles_means_and_deviations() {
    let percentiles = "lat_percentiles=1 clat_percentiles=1 slat_percentiles=1 \
                       percentile_list=0.1:1:25:50:90:99:99.9:99.99:100";
    for load in [
        "rw=randrw ioengine=io_uring iodepth=8 direct=1 bs=4k size=4m",
        "rw=randread ioengine=libaio iodepth=4 direct=1 bs=4k size=4m",
        "rw=randrw ioengine=null iodepth=4 bs=4k size=8m",
    ] {
        let words = format!("{load} {percentiles}");
        let sandbox = Sandbox::new();
        let Some(both) = logged(&sandbox, &words) else { return };
        for said in both {
            for kind in ["lat", "clat", "slat"] {
                let lines = said.log(kind);
                for (dir, name) in (0..).zip(DIRS) {
                    let logged_ns: Vec<u64> = lines
                        .iter()
                        .filter(|line| line.dir == dir)
                        .map(|line| line.latency_ns)
                        .collect();
                    let latency = &said.page["jobs"][0][name][format!("{kind}_ns")];
                    if logged_ns.is_empty() {
                        assert_eq!(latency["N"].as_u64(), Some(0), "{} {name}", said.who);
                    } else {
                        agrees(&format!("{} {load} {name} {kind}", said.who), latency, &logged_ns);
                    }
                }
            }
        }
    }
}

/// Checks that our JSON has fio's keys with fio's types, and no others but the newer ones.
#[track_caller]
fn same_keys(args: &[&str]) {
    let sandbox = Sandbox::new();
    let Some([fio, mut ours]) = both(&sandbox, args) else { return };
    drop_options_without_value(&mut ours.page);
    let [mut fio_types, mut our_types] = [BTreeMap::new(), BTreeMap::new()];
    shape("", &fio.page, &mut fio_types);
    shape("", &ours.page, &mut our_types);
    for (path, kind) in &fio_types {
        assert_eq!(our_types.get(path), Some(kind), "{args:?}: `{path}`");
    }
    let known = |path: &str| fio_types.contains_key(path) || NEWER.contains(&path);
    let more: Vec<&String> = our_types.keys().filter(|path| !known(path.as_str())).collect();
    assert!(more.is_empty(), "{args:?}: fio has no {more:?}");
    for (ours, fio) in jobs(&ours.page).zip(jobs(&fio.page)) {
        for key in ["jobname", "groupid", "error", "desc", "job options"] {
            assert_eq!(ours[key], fio[key], "{args:?}: {key}");
        }
    }
    assert_eq!(jobs(&ours.page).count(), jobs(&fio.page).count(), "{args:?}");
    assert_eq!(ours.page["global options"], fio.page["global options"], "{args:?}");
}

/// A job that reads and writes, on a file that is there.
const SMALL: [&str; 5] = ["--name=a", "--filename=f", "--size=1m", "--rw=randrw", "--bs=4k"];

#[test]
fn json_has_fios_keys_and_types() {
    let small = |more: &[&'static str]| [&SMALL[..], more].concat();
    same_keys(&small(&[]));
    same_keys(&small(&["--ioengine=io_uring", "--iodepth=4", "--direct=1"]));
    same_keys(&small(&[
        "--ioengine=null",
        "--iodepth=2",
        "--lat_percentiles=1",
        "--slat_percentiles=1",
    ]));
    same_keys(&small(&["--numjobs=3", "--group_reporting", "--description=three of a kind"]));
    same_keys(&small(&["--fsync=16", "--unified_rw_reporting=1"]));
    same_keys(&small(&["--unified_rw_reporting=both"]));
    same_keys(&small(&["--disable_lat=1", "--disable_slat=1", "--clat_percentiles=0"]));
    same_keys(&small(&["--disable_clat=1"]));
    same_keys(&small(&["--gtod_reduce=1", "--disk_util=0"]));
    same_keys(&small(&["--percentile_list=50:99.5", "--continue_on_error=io"]));
    same_keys(&small(&["--rate_iops=5000", "--stonewall", "--name=b", "--rw=write", "--size=64k"]));
    same_keys(&["--bs=8k", "--name=a", "--size=64k", "--new_group", "--name=b", "--size=64k"]);
    same_keys(&["--name=a", "--ioengine=null", "--size=1m", "--rw=trim"]);
}

#[test]
fn json_of_a_steady_state_has_fios_keys_and_types() {
    same_keys(&[
        "--name=a",
        "--ioengine=null",
        "--size=1g",
        "--rw=randread",
        "--rate_iops=1000",
        "--time_based",
        "--runtime=4",
        "--steadystate=iops:50%",
        "--steadystate_duration=2",
    ]);
}

#[test]
fn a_job_file_has_the_same_options() {
    if real_fio().is_none() {
        return;
    }
    let sandbox = Sandbox::new();
    let job = "[global]\nbs=8k\ndirect=0\nioengine=psync\nsize=256k\nfilename=f\n\n[first]\n\
               rw=write\nend_fsync=1\n\n[second]\nstonewall\nrw=randread\nthread\n";
    sandbox.write("job.fio", job);
    let Some([fio, mut ours]) = both(&sandbox, &["job.fio"]) else { return };
    drop_options_without_value(&mut ours.page);
    assert_eq!(ours.page["global options"], fio.page["global options"]);
    for (ours, fio) in jobs(&ours.page).zip(jobs(&fio.page)) {
        for key in ["jobname", "groupid", "job options"] {
            assert_eq!(ours[key], fio[key], "{key}");
        }
    }
}

#[test]
fn json_stays_json_whatever_is_said_beside_it() {
    let sandbox = Sandbox::new();
    for words in [
        "runtime=2sec size=64k",
        "ioengine=posixaio size=64k",
        "rw=randread norandommap=1 random_distribution=zipf:1.2 size=64k loops=2",
        "time_based size=64k",
        "size=64k latency_target=1ms latency_window=100ms latency_percentile=99 ioengine=null \
         iodepth=4 time_based runtime=1",
        "size=1m rate_min=100g rate=1g ioengine=null time_based runtime=2",
        "filename=/dev/null rw=read size=64k",
        "filename=/proc/self/mem rw=read size=64k",
        "filename=/dev/full rw=write size=64k",
        "rw=read readonly filename=absent size=64k allow_file_create=0",
        "rw=write verify=crc32c size=64k iodepth=2",
        "bs=3000 direct=1 size=64k",
        "prio=9 size=64k",
        "ioengine=nothing_like_this",
        "no_such_option=1",
    ] {
        let words: Vec<String> = words.split_whitespace().map(|word| format!("--{word}")).collect();
        let mut args = vec!["--output-format=json", "--name=a"];
        args.extend(words.iter().map(String::as_str));
        let outcome = sandbox.fio(&args);
        if outcome.stdout.is_empty() {
            assert_ne!(outcome.code, 0, "{words:?}: silence is no success");
            assert_ne!(outcome.stderr, "", "{words:?}");
            continue;
        }
        let page: Value = serde_json::from_str(&outcome.stdout)
            .unwrap_or_else(|error| panic!("{words:?}: {error}\n{}", outcome.stdout));
        let failed = jobs(&page).any(|job| job["error"].as_i64() != Some(0));
        assert_eq!(outcome.code != 0, failed, "{words:?}: {}", outcome.stderr);
    }
}

/// Returns class, level and number of I/Os of each priority of a direction.
fn priorities(said: &ProgramOutput, dir: &str, latency: &str) -> Vec<(u64, u64, u64)> {
    let all = said.page["jobs"][0][dir]["prios"].as_array();
    let number = |value: &Value| value.as_u64().expect("a whole number");
    let of = |of: &Value| {
        let keys = of.as_object().expect("an object").keys().map(String::as_str);
        let newer = ["priohint"];
        let keys: Vec<&str> = keys.filter(|key| !newer.contains(key)).collect();
        assert_eq!(tally(keys), tally(["prioclass", "prio", latency]), "{}", said.who);
        let n_binned: u64 =
            of[latency]["bins"].as_object().map_or(0, |bins| bins.values().map(number).sum());
        let n = number(&of[latency]["N"]);
        assert!(n_binned == n || of[latency].get("bins").is_none(), "{}", said.who);
        (number(&of["prioclass"]), number(&of["prio"]), n)
    };
    all.map_or(Vec::new(), |all| all.iter().map(of).collect())
}

/// Checks that both show the same priorities, and I/Os of each in the same shares.
///
/// Which I/Os are raised is each program's own choice: of `n` I/Os a share may be off by five times
/// the deviation of so many draws.
#[track_caller]
fn same_priorities(words: &str, latency: &str, expected: &[(&str, usize)]) {
    let sandbox = Sandbox::new();
    let words = format!("ioengine=libaio iodepth=4 size=8m {words}");
    let Some([fio, ours]) = logged(&sandbox, &words) else { return };
    for dir in ["read", "write", "trim", "mixed"] {
        let (theirs, own) = (priorities(&fio, dir, latency), priorities(&ours, dir, latency));
        let n_expected = expected.iter().find(|(name, _)| *name == dir).map_or(0, |found| found.1);
        assert_eq!(own.len(), n_expected, "{words}: {own:?}");
        assert_eq!(own.len(), theirs.len(), "{words}: {theirs:?}");
        let n = ours.count(&format!("/{dir}/total_ios"));
        assert!(own.is_empty() || own.iter().map(|of| of.2).sum::<u64>() == n, "{words}: {own:?}");
        for (own, theirs) in own.iter().zip(&theirs) {
            assert_eq!((own.0, own.1), (theirs.0, theirs.1), "{words}");
            let bound = 5.0 * (2.0 * n as f64).sqrt();
            assert!((own.2 as f64 - theirs.2 as f64).abs() < bound, "{words}: {own:?} {theirs:?}");
        }
    }
}

#[test]
fn priorities_of_single_ios_are_shown_alike() {
    let check = same_priorities;
    check(
        "rw=randrw cmdprio_percentage=40 cmdprio_class=2 cmdprio=3",
        "clat_ns",
        &[("read", 2), ("write", 2)],
    );
    check(
        "rw=randrw prioclass=2 prio=5 cmdprio_percentage=30,0 cmdprio_class=3",
        "clat_ns",
        &[("read", 2)],
    );
    check(
        "rw=randread cmdprio_bssplit=4k/25/2/1:4k/50/3/2:8k/50 lat_percentiles=1",
        "lat_ns",
        &[("read", 3)],
    );
    check(
        "rw=randrw unified_rw_reporting=1 cmdprio_percentage=40 cmdprio_class=2,3 cmdprio=1",
        "clat_ns",
        &[("mixed", 3)],
    );
    check("rw=randread cmdprio_percentage=100 cmdprio_class=2", "clat_ns", &[]);
    check("rw=randread prio=4 numjobs=2 group_reporting", "clat_ns", &[]);
}
