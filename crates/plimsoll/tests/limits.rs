//! `plimsoll limits`.

mod common;

use common::Sandbox;
use insta::assert_snapshot;

/// The machine and disks of the Premium Storage guide's benchmarks.
const DS14: &str = r#"
name = "DS14"
edition = "2018"
[vm]
size = "DS14"
[[volume]]
mount = "/mnt/nocache"
disk = "P30"
count = 10
cache = "None"
[[volume]]
mount = "/mnt/readcache"
disk = "P30"
cache = "ReadOnly"
"#;

const P30: &str = "edition = '2018'\n[[volume]]\nmount = '/a'\ndisk = 'P30'\ncache = 'None'\n";

fn limits(design: &str, args: &[&str]) -> common::Outcome {
    let sandbox = Sandbox::new();
    sandbox.write("design.toml", design);
    sandbox.plimsoll(&[&["limits", "design.toml"], args].concat())
}

#[test]
fn a_table_names_what_binds_and_what_lifts_it() {
    assert_snapshot!(limits(DS14, &["--size", "8k,1m", "--read", "0,100"]).success(), @r#"
    DS14 (edition 2018, Standard_DS14)

    /mnt/nocache: 10 x P30, no host cache
       size read      IOPS     MB/s  binds             next              margin
      8 KiB   0%    50,000    409.6  disk_iops         vm_uncached_iops     +0%
      8 KiB 100%    50,000    409.6  disk_iops         vm_uncached_iops     +0%
      1 MiB   0%       500    524.3  vm_uncached_bytes disk_bytes         +281%
      1 MiB 100%       500    524.3  vm_uncached_bytes disk_bytes         +281%
      disk_iops is lifted by both one more P30 and a larger machine: Standard_GS5:
                             55,000 IOPS, where disk_iops binds; or both 10 x P40
                             and a larger machine: Standard_GS5: 75,000 IOPS, where
                             disk_iops binds (at 8 KiB, 0 % reads)
      vm_uncached_bytes is lifted by a larger machine: Standard_GS5: 1,907 IOPS,
                                     where disk_bytes binds (at 1 MiB, 0 % reads)
      note: counted with a load spread evenly over 10 disks; a run at random places
            evens out within 100 ms (`bucket_window_ms`), and carries less with a
            shorter window
      note: 10 columns: the dialog of Windows Server makes 8 at most, and a stream
            then gets 8 disks' share; PowerShell makes them all

    /mnt/readcache: P30, ReadOnly host cache
       size read  hit      IOPS     MB/s  binds             next              margin
      8 KiB   0%    -     5,000       41  disk_iops         disk_bytes         +388%
      8 KiB 100%    0     5,000       41  disk_iops         disk_bytes         +388%
      8 KiB 100%    1    64,000    524.3  vm_cached_iops    vm_cached_bytes      +0%
      1 MiB   0%    -     190.7      200  disk_bytes        vm_cached_bytes    +162%
      1 MiB 100%    0     190.7      200  disk_bytes        vm_cached_bytes    +162%
      1 MiB 100%    1       500    524.3  vm_cached_bytes   vm_cached_iops      x128
      disk_iops is lifted by one more P30: 10,000 IOPS, where disk_iops binds; or
                             P40: 7,500 IOPS, where disk_iops binds (at 8 KiB, 0 %
                             reads)
      vm_cached_iops is lifted by a larger machine: Standard_GS5: 160,000 IOPS,
                                  where vm_cached_iops binds (at 8 KiB, 100 % reads)
      disk_bytes is lifted by one more P30: 381.5 IOPS, where disk_bytes binds; or
                              P40: 238.4 IOPS, where disk_bytes binds (at 1 MiB, 0 %
                              reads)
      vm_cached_bytes is lifted by a larger machine: Standard_GS5: 1,526 IOPS, where
                                   vm_cached_bytes binds (at 1 MiB, 100 % reads)

    All volumes at once, each under the same load
       size read  hit      IOPS     MB/s  what binds them
      8 KiB   0%    -    50,000    409.6  vm_uncached_iops
      8 KiB 100%    0    50,000    409.6  vm_uncached_iops
      8 KiB 100%    1   114,000    933.9  disk_iops + vm_cached_iops
      1 MiB   0%    -       500    524.3  vm_uncached_bytes
      1 MiB 100%    0       500    524.3  vm_uncached_bytes
      1 MiB 100%    1     1,000    1,049  vm_uncached_bytes + vm_cached_bytes
    "#);
}

#[test]
fn caps_of_reads_and_of_writes_alone_are_told_apart() {
    let design = "[[volume]]\nmount = '/a'\ndisk = 'pd-standard'\nsize = '1TiB'\n";
    assert_snapshot!(limits(design, &["--size", "4k", "--read", "30,60"]).success(), @r#"
    design.toml (edition current, no machine in front)

    /a: pd-standard, no host cache
       size read      IOPS     MB/s  binds             next              margin
      4 KiB  30%     2,194        9  disk_iops/w       disk_iops/r         +17%
      4 KiB  60%     1,280      5.2  disk_iops/r       disk_iops/w        +200%
      /r counts reads alone, /w writes alone
      disk_iops/w is lifted by `size = "2048GiB"`: 4,389 IOPS, where disk_iops/w
                               binds; or one more pd-standard: 4,389 IOPS, where
                               disk_iops/w binds (at 4 KiB, 30 % reads)
      disk_iops/r is lifted by `size = "2048GiB"`: 2,560 IOPS, where disk_iops/r
                               binds; or one more pd-standard: 2,560 IOPS, where
                               disk_iops/r binds (at 4 KiB, 60 % reads)
    "#);
}

#[test]
fn the_published_table_of_one_disk() {
    let args = ["--size", "8k,32k,64k,1m", "--read", "100", "--mb", "published"];
    assert_snapshot!(limits(P30, &args).success(), @r#"
    design.toml (edition 2018, no machine in front)

    /a: P30, no host cache
       size read      IOPS     MB/s  binds             next              margin
      8 KiB 100%     5,000       40  disk_iops         disk_bytes         +388%
     32 KiB 100%     5,000      160  disk_iops         disk_bytes          +22%
     64 KiB 100%     3,200      200  disk_bytes        disk_iops           +64%
      1 MiB 100%       200      200  disk_bytes        disk_iops          +555%
      disk_iops is lifted by one more P30: 10,000 IOPS, where disk_iops binds; or
                             P40: 7,500 IOPS, where disk_iops binds (at 8 KiB, 100 %
                             reads)
      disk_bytes is lifted by one more P30: 6,400 IOPS, where disk_bytes binds; or
                              P40: 4,000 IOPS, where disk_bytes binds (at 64 KiB,
                              100 % reads)
    "#);
}

/// Needs of both volumes, of which the second is not met: the page, and the rules at its end.
fn two_needs() -> (String, String) {
    let args = [
        "--demand",
        "iops=50000,read=0,on=/mnt/nocache",
        "--demand",
        "iops=70000,read=100,hit=1,on=/mnt/readcache",
    ];
    let outcome = limits(DS14, &args);
    assert_eq!(outcome.code, 4, "{}", outcome.stderr);
    let (page, rules) = outcome.stdout.split_once("\nRules that apply\n").expect("rules");
    (page.to_owned(), rules.to_owned())
}

#[test]
fn needs_are_asked_at_once() {
    assert_snapshot!(two_needs().0, @r#"
    DS14 (edition 2018, Standard_DS14)

    /mnt/nocache: 10 x P30, no host cache
    needs 50,000 IOPS of 8 KiB, 0 % reads: met
      cap                        carries IOPS   need  headroom  what
      disk_iops                        50,000  100 %       +0%  10 x P30
      vm_uncached_iops                 50,000  100 %       +0%  Standard_DS14
      vm_uncached_bytes                64,000   78 %      +28%  Standard_DS14
      disk_bytes                      244,141   20 %     +388%  10 x P30
      the first cap in the way is disk_iops (10 x P30), at 50,000 IOPS; the next is
      vm_uncached_iops (Standard_DS14), at the same rate
        in flight         IOPS    latency  held by
                1        1,000    1.00 ms  queue_depth
                2        2,000    1.00 ms  queue_depth
                4        4,000    1.00 ms  queue_depth
                8        8,000    1.00 ms  queue_depth
               16       16,000    1.00 ms  queue_depth
               32       32,000    1.00 ms  queue_depth
               64       50,000    1.28 ms  disk_iops
              128       50,000    2.56 ms  disk_iops
              256       50,000    5.12 ms  disk_iops
        up to 50 in flight take 1.00 ms, the latency without load; each more only
        waits longer; the need takes 50 in flight on average
      disk_iops is lifted by:
        - both one more P30 and a larger machine: Standard_GS5: 55,000 IOPS, where
          disk_iops binds; price not known: no price of `Standard_GS5` without a
          region
        - both 10 x P40 and a larger machine: Standard_GS5: 75,000 IOPS, where
          disk_iops binds; price not known: no price of `Standard_GS5` without a
          region

    /mnt/readcache: P30, ReadOnly host cache
    needs 70,000 IOPS of 8 KiB, 100 % reads: not met: 64,000 IOPS, 524.3 MB/s
      cap                        carries IOPS   need  headroom  what
      vm_cached_iops                   64,000  109 %       -9%  Standard_DS14
      vm_cached_bytes                  64,000  109 %       -9%  Standard_DS14
      vm_cached_iops (Standard_DS14) throttles it to 64,000 IOPS, 91 % of the need;
      the next is vm_cached_bytes (Standard_DS14), at the same rate
        in flight         IOPS    latency  held by
                1       10,000     100 µs  queue_depth
                2       20,000     100 µs  queue_depth
                4       40,000     100 µs  queue_depth
                8       64,000     125 µs  vm_cached_iops
               16       64,000     250 µs  vm_cached_iops
               32       64,000     500 µs  vm_cached_iops
        up to 6 in flight take 100 µs, the latency without load; each more only
        waits longer
      vm_cached_iops is lifted by:
        - a larger machine: Standard_GS5: 160,000 IOPS, where vm_cached_iops binds;
          price not known: no price of `Standard_GS5` without a region
    "#);
}

#[test]
fn rules_of_the_guides_stand_below_the_needs() {
    assert_snapshot!(two_needs().1, @r#"
      /mnt/nocache: no host cache (None)
          100 % are writes, which ReadOnly sends to the disk all the same (Azure
          Premium Storage: design for high performance, 2018)
      /mnt/nocache: a stripe unit of 64 KiB
          64 KiB for transactions, 256 KiB for I/Os that smaller units would cut
          (Azure Premium Storage: design for high performance, 2018)
      /mnt/nocache: on Windows make the 10 columns with PowerShell
          the dialog of Server Manager makes 8 at most (Azure Premium Storage:
          design for high performance, 2018)
      /mnt/nocache: keep at least 50 in flight
          50000 IOPS at 1.00 ms without load (Little's law: in flight = rate x
          latency)
      /mnt/nocache: 8 to 16 in flight on each disk for all they carry
          80 to 160 over 10 disks; with fewer some are idle (Azure Premium Storage:
          design for high performance, 2018)
      /mnt/nocache: Oracle: DB_BLOCK_SIZE near 8 KiB
          it sets the size of the database's I/Os; small ones are for transactions,
          and give the most operations (Azure Premium Storage: design for high
          performance, 2018)
      /mnt/nocache: SQL Server: a MAXDOP of at least 50 for a query that is to do
      all of it
          a query takes at most MAXDOP cores, which read at once; one thread alone
          keeps one in flight, unless it reads ahead (Azure Premium Storage: design
          for high performance, 2018)
      /mnt/readcache: warm the cache before it counts, after every start of the
      machine
          it starts cold; the design assumes that 100 % of reads at random places
          hit it (Azure Premium Storage: design for high performance, 2018)
      /mnt/readcache: file system barriers may be off
          under None and ReadOnly every write goes to the disk (Azure documentation,
          premium storage performance, 2021-06-29)
      /mnt/readcache: 8 to 16 in flight on each disk for all they carry
          fewer leave the disk idle, many more only wait (Azure Premium Storage:
          design for high performance, 2018)
      /mnt/readcache: Oracle: DB_BLOCK_SIZE near 8 KiB
          it sets the size of the database's I/Os; small ones are for transactions,
          and give the most operations (Azure Premium Storage: design for high
          performance, 2018)
      /mnt/readcache: SQL Server: a MAXDOP of at least 7 for a query that is to do
      all of it
          a query takes at most MAXDOP cores, which read at once; one thread alone
          keeps one in flight, unless it reads ahead (Azure Premium Storage: design
          for high performance, 2018)
      Linux: install the newest storage drivers that the distribution has for the
      cloud before anything is measured
          old ones do not reach what premium disks carry (Azure Premium Storage:
          design for high performance, 2018)
      stop what uses a disk before its cache mode is changed
          a change detaches and attaches the disk; of the system's disk it restarts
          the machine (Azure Premium Storage: design for high performance, 2018)
    "#);
}

/// The log takes few I/Os and many bytes, the data the other way round: each leaves to the other
/// what that needs, though it is more than an equal share.
#[test]
fn what_one_volume_leaves_is_the_others() {
    let design = "[vm]\nsize='E16ds_v5'\n[[volume]]\nmount='/data'\ndisk='P40'\ncount=4\n\
                  cache='None'\n[[volume]]\nmount='/log'\ndisk='P30'\ncount=2\ncache='None'\n";
    let ask = |data: &str| {
        let log = "mb_s=250,size=64k,read=0,on=/log";
        limits(design, &["--demand", log, "--demand", data])
    };
    let met = ask("iops=18000,size=8k,read=70,on=/data");
    assert_eq!((met.code, met.stdout.matches(": met").count()), (0, 2), "{}", met.stdout);
    // 25,600 of the machine less 3,815 of the log are 21,785.
    assert!(met.stdout.contains("vm_uncached_iops                 21,785"), "{}", met.stdout);
    let missed = ask("iops=22000,size=8k,read=70,on=/data");
    assert_eq!(missed.code, 4);
    assert!(missed.stdout.contains("70 % reads: not met: 21,785 IOPS"), "{}", missed.stdout);
}

#[test]
fn a_queue_depth_and_credits() {
    let p20 = P30.replace("P30", "P20").replace("2018", "current");
    let args = ["--size", "8k", "--read", "100", "--queue-depth", "2", "--burst"];
    assert_snapshot!(limits(&p20, &args).success(), @r#"
    design.toml (edition current, no machine in front)

    /a: P20, no host cache
       size read      IOPS     MB/s  binds             next              margin
      8 KiB 100%     2,000     16.4  queue_depth       disk_iops           +75%
      queue_depth is lifted by 4 in flight: 3,500 IOPS, where disk_iops binds (at 8
                               KiB, 100 % reads)
      note: the disk bursts to 3,500 IOPS: full credits last 30m at that load, and
            idle time fills them in 15m39s
      note: the disk bursts to 170 MB/s: full credits last 30m at that load, and
            idle time fills them in 4m
      note: the latency without load is assumed constant, 1.00 ms: rates at a depth
            are only as accurate as it; `latency` in the design changes it
    "#);
}

#[test]
fn a_working_set_says_what_hits_and_how_long_it_takes() {
    let page = |args: &[&str]| {
        let outcome = limits(DS14, &[&["--size", "1m", "--read", "100"], args].concat());
        outcome.success().split_whitespace().collect::<Vec<_>>().join(" ")
    };
    // 200 GiB at 524.288 MB/s: 61.9 % of them at the disk's 200 MB/s, and from then on the rest
    // shrinks by 1/e each 409.6 s: 664.2 s and 409.6 x ln(0.3815 / 0.01) = 1,491.5 s.
    let fits = page(&["--working-set", "200g"]);
    assert!(fits.contains("holds all of 200 GiB in the end"), "{fits}");
    assert!(fits.contains("bring in 99 % of it in 35m56s"), "{fits}");
    // Half of twice the cache's 576 GiB.
    let half = page(&["--working-set", "1152g"]);
    assert!(half.contains("1 MiB 100% 0.5 "), "{half}");
    assert!(half.contains("holds 50 % of"), "{half}");
    let outcome = limits(P30, &["--working-set", "1g"]);
    assert_eq!(outcome.code, 2, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("no volume of the design has one"), "{}", outcome.stderr);
}

#[test]
fn json_has_every_cap_with_its_origin() {
    let outcome = limits(P30, &["--json", "--size", "64k", "--read", "100"]);
    let page: serde_json::Value = serde_json::from_str(outcome.success()).expect("JSON");
    assert_eq!(page["schema"], "plimsoll.limits/1");
    let row = &page["volumes"][0]["rows"][0];
    assert_eq!(row["binds"], "disk_bytes");
    assert_eq!(row["bytes_per_s"].as_f64(), Some(200e6));
    assert_eq!(row["caps"][1]["cap"], "disk_iops");
    assert!(row["caps"][0]["origin"].as_str().expect("text").contains("200 MB/s"), "{row}");
    assert_eq!(row["lifted_by"][0]["change"], "one more P30");
}

#[test]
fn errata_are_reported_without_a_design() {
    let sandbox = Sandbox::new();
    let outcome = sandbox.plimsoll(&["limits", "--errata"]);
    let text = outcome.success();
    assert!(text.contains("$1,548.00") && text.contains("P-44"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let outcome = sandbox.plimsoll(&["limits", "--errata", "--json"]);
    let page: serde_json::Value = serde_json::from_str(outcome.success()).expect("JSON");
    assert!(page["errata"].as_array().is_some_and(|all| all.len() > 20));
}

#[track_caller]
fn refused(design: &str, args: &[&str], parts: &[&str]) {
    let outcome = limits(design, args);
    assert_eq!(outcome.code, 2, "{}", outcome.stderr);
    assert!(outcome.stdout.is_empty(), "{}", outcome.stdout);
    for part in parts {
        assert!(outcome.stderr.contains(part), "no `{part}` in\n{}", outcome.stderr);
    }
}

#[test]
fn mistakes_end_with_code_2() {
    let unknown = P30.replace("'P30'", "'P31'");
    refused(&unknown, &[], &["P31", "design.toml:4", "P30"]);
    refused("[[volume]", &[], &["design.toml:1"]);
    refused(P30, &["--size", "8x"], &["8x"]);
    refused(P30, &["--read", "101"], &["0 to 100"]);
    for depth in ["0", "1000001", "x"] {
        refused(P30, &["--queue-depth", depth], &["expected 1 to 1000000 I/Os in flight"]);
    }
    refused(P30, &["--demand", "size=8k"], &["iops="]);
    refused(DS14, &["--demand", "iops=1"], &["on=MOUNT"]);
    refused(DS14, &["--demand", "iops=1,on=/mnt/nocach"], &["/mnt/nocache"]);
    let sandbox = Sandbox::new();
    assert_eq!(sandbox.plimsoll(&["limits"]).code, 2);
    assert_eq!(sandbox.plimsoll(&["limits", "no-such.toml"]).code, 2);
}

/// Azure NetApp Files as benchmarked in 2019, when only reads of a regular volume were.
const ANF_2019: &str = "edition = '2019'\n[[volume]]\nmount = '/a'\nservice = 'Premium'\n\
                        quota = '70.3125TiB'\n";

#[test]
fn what_is_unknown_of_a_network_volume_is_held_or_reported() {
    let args = ["--json", "--size", "8k", "--read", "100,50,0"];
    let outcome = limits(ANF_2019, &args);
    assert!(outcome.stderr.contains("unknown-figure"), "{}", outcome.stderr);
    let page: serde_json::Value = serde_json::from_str(outcome.success()).expect("JSON");
    for row in page["volumes"][0]["rows"].as_array().expect("rows") {
        assert!(row["iops"].as_f64().expect("a rate") <= 300_000.0, "{row}");
        let origin = row["caps"][0]["origin"].as_str().expect("text");
        assert!(origin.contains("of writes it is unknown"), "{row}");
    }
    let warnings = page["warnings"].as_array().expect("warnings");
    assert!(warnings.iter().all(|warning| warning["code"] == "unknown-figure"), "{warnings:?}");
    assert!(!warnings.is_empty());
}

#[test]
fn a_need_that_is_not_met_has_a_code_and_what_meets_it() {
    let outcome = limits(P30, &["--demand", "iops=30000,size=8k"]);
    assert_eq!(outcome.code, 4, "{}", outcome.stderr);
    assert!(outcome.stdout.contains("not met"), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("6 x P30: 30,000 IOPS"), "{}", outcome.stdout);
    // A change is judged by what it carries, not by what is needed, in whichever MB.
    for mb in ["decimal", "published"] {
        let outcome = limits(P30, &["--demand", "iops=6000,size=8k", "--mb", mb]);
        let page = outcome.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        for change in ["one more P30: 10,000 IOPS, where disk_iops binds; USD 136.09", "P40: 7,500"]
        {
            assert!(page.contains(change), "{page}");
        }
    }
    assert_eq!(limits(P30, &["--demand", "iops=5000,size=8k"]).code, 0);
    let outcome = limits(P30, &["--demand", "iops=5000,hit=0.9"]);
    assert!(outcome.success().contains("`hit=` has no effect"), "{}", outcome.stdout);
}

/// 5,000 of 6,000 IOPS, and prices of East US: a P40 instead is 259.05 less 135.17.
#[test]
fn a_need_that_is_not_met_says_what_throttling_does_and_what_a_change_costs() {
    let today = P30.replace("2018", "current");
    let need = ["--demand", "iops=6000,size=8k"];
    let outcome = limits(&today, &[&need[..], &["--region", "eastus"]].concat());
    let page = outcome.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "disk_iops (P30) throttles it to 5,000 IOPS, 83 % of the need; the next is disk_bytes \
         (P30), at 24,414 IOPS",
        "4 4,000 1.00 ms queue_depth 8 5,000 1.60 ms disk_iops 16 5,000 3.20 ms disk_iops",
        "up to 5 in flight take 1.00 ms",
        "disk_iops is lifted by, the cheapest first: - P40: 7,500 IOPS, where disk_iops binds; USD \
         123.88 a month more - one more P30: 10,000 IOPS, where disk_iops binds; USD 135.17 a \
         month more",
    ] {
        assert!(page.contains(part), "no `{part}` in\n{page}");
    }
    let json = ["--region", "eastus", "--json"];
    let outcome = limits(&today, &[&need[..], &json[..]].concat());
    let page: serde_json::Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    let of = &page["demands"][0];
    assert_eq!(of["carried_share"].as_f64(), Some(5.0 / 6.0));
    assert_eq!(of["by_depth"][3]["queue_depth"], 8);
    assert_eq!(of["by_depth"][3]["latency_s"].as_f64(), Some(0.0016));
    assert_eq!(of["caps"][0]["asked_share"].as_f64(), Some(1.2));
    assert_eq!(of["lifted_by"][0]["change"], "P40");
    assert_eq!(of["lifted_by"][0]["usd_more_per_month"].as_f64(), Some(123.88));
    // Without a region no price is known, which is said.
    let outcome = limits(&today, &need);
    assert!(outcome.stdout.contains("note: prices are by region: name one"), "{}", outcome.stdout);
    refused(
        &today,
        &[&need[..], &["--region", "eastuss"]].concat(),
        &["eastuss", "`--region eastus`"],
    );
    refused(&today, &["--region", "eastus"], &["--demand"]);
}

/// With a cap below a whole number in flight, no row says less than the sentence below it.
#[test]
fn rows_and_words_round_alike() {
    let text = "[[volume]]\nmount='/a'\ndisk={ size='1TiB', iops=3200, throughput='1000MB/s' }\n\
                latency='1ms'\n";
    let outcome = limits(text, &["--demand", "iops=4000,size=8k"]);
    let page = outcome.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(page.contains("2 2,000 1.00 ms queue_depth 4 3,200 1.25 ms disk_iops"), "{page}");
    assert!(page.contains("up to 3 in flight take 1.00 ms"), "{page}");
}

#[test]
fn a_verdict_that_hangs_on_the_bytes_of_a_mb_says_so() {
    let need = ["--demand", "iops=3200,size=64k"];
    let hangs = "the verdict depends on how many bytes a published MB has";
    for more in [&[][..], &["--mb", "published"]] {
        let outcome = limits(P30, &[&need, more].concat());
        assert_eq!(outcome.code, 4, "{}", outcome.stderr);
        let page = outcome.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(page.contains("not met: 3,052 IOPS, 200 MB/s"), "{page}");
        assert!(page.contains(hangs), "{page}");
        assert!(page.contains("of 1,048,576 bytes: met, 3,200 IOPS"), "{page}");
    }
    let binary = format!("mb_bytes = 1048576\n{P30}");
    let outcome = limits(&binary, &[&need[..], &["--json"]].concat());
    let page: serde_json::Value = serde_json::from_str(outcome.success()).expect("JSON");
    let met: Vec<_> = (0..3).map(|idx| &page["demands"][0]["readings"][idx]["is_met"]).collect();
    assert_eq!(met, [false, false, true], "{page}");
    // What every reading meets, or none does, is no question of units.
    for need in ["iops=3000,size=64k", "iops=3300,size=64k"] {
        let outcome = limits(P30, &["--demand", need]);
        assert!(!outcome.stdout.contains("verdict depends"), "{}", outcome.stdout);
    }
    // 16,000 of 16 KiB are 262.1 MB/s, against 256 of a machine.
    let ds4 = "edition='2018'\n[vm]\nsize='DS4'\n[[volume]]\nmount='/a'\ndisk='P30'\ncount=4\n\
               cache='None'\n";
    let outcome = limits(ds4, &["--demand", "iops=16000,size=16k"]);
    assert_eq!(outcome.code, 4, "{}", outcome.stderr);
    assert!(outcome.stdout.contains("verdict depends"), "{}", outcome.stdout);
}

#[test]
fn needs_that_contradict_themselves_are_refused() {
    refused(P30, &["--demand", "iops=16k,mb_s=3"], &["one of iops=, mb_s=, mib_s= and rate="]);
    refused(P30, &["--demand", "iops=1,000"], &["16000 or 16k"]);
    refused(P30, &["--demand", "iops=1", "--size", "8k"], &["--size"]);
    refused(P30, &["--demand", "iops=1", "--read", "70"], &["--read"]);
}

#[test]
fn bursts_of_aws_machines_are_reported() {
    let text = "[vm]\nsize='m5.large'\n[[volume]]\nmount='/a'\ndisk='gp3'\nsize='1TiB'\n";
    let outcome = limits(text, &["--burst", "--size", "8k", "--read", "100"]);
    let page = outcome.success();
    assert!(page.contains("m5.large bursts to 18,750 IOPS and 593.8 MB/s"), "{page}");
    let network = "[vm]\nsize='D32s_v4'\n[[volume]]\nmount='/a'\nservice='Ultra'\nquota='4TiB'\n";
    let outcome = limits(network, &["--size", "8k", "--read", "100"]);
    assert!(!outcome.success().contains("bursts"), "{}", outcome.stdout);
}

#[test]
fn a_mistake_is_reported_once() {
    for (text, code) in [
        ("[[volume]]\nmount='/d'\ndisk={size='1 parsec', iops=5000}\n", "bad-value"),
        ("[[volume]\nmount='/d'\ndisk='P30'\n", "syntax"),
    ] {
        let outcome = limits(text, &[]);
        assert_eq!(outcome.code, 2, "{text}: {}", outcome.stderr);
        let errors: Vec<_> = outcome.stderr.matches("error[").collect();
        assert_eq!(errors.len(), 1, "{text}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(&format!("error[{code}]")), "{}", outcome.stderr);
    }
}

#[test]
fn what_is_not_a_design_is_reported_once() {
    let job = "[a]\nfilename=/tmp/x\nrw=read\nsize=1m\n";
    refused(job, &[], &["is a job file of fio, not a design"]);
    refused("a = \"\0\"", &[], &["is not text"]);
    let sandbox = Sandbox::new();
    sandbox.write("design.toml", P30);
    let outcome = sandbox.plimsoll(&["run", "design.toml"]);
    assert_eq!(outcome.code, 2);
    assert!(outcome.stderr.contains("`design.toml` is a design, not a job"), "{}", outcome.stderr);
    sandbox.write("one.toml", "[volume]\nmount = \"/data\"\ndisk = \"P30\"\n");
    for command in ["check", "run"] {
        let outcome = sandbox.plimsoll(&[command, "one.toml"]);
        assert_eq!(outcome.code, 2);
        let text = outcome.stderr.replace('\n', " ");
        assert_eq!(text.matches("error").count(), 1, "{command}: {text}");
        assert!(text.contains("line 1: write `[[volume]]`"), "{command}: {text}");
    }
    // fio's sections may have any name.
    sandbox.write("job.fio", "[volume]\nsize=4096\n");
    assert_eq!(sandbox.plimsoll(&["check", "job.fio"]).code, 0);
}
