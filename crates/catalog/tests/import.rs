//! Published tables, read and compared with what is known.

use catalog::import::{self, ReadTable, TableDiff, TableForm, TableKind};
use catalog::{Catalog, Exactness};
use proptest::prelude::*;

#[track_caller]
fn read(text: &str) -> ReadTable {
    import::read(text).expect("a table")
}

#[track_caller]
fn compare(text: &str) -> TableDiff {
    let edition = catalog::edition("current").expect("an edition");
    import::compare(read(text), edition, false)
}

/// Returns the cells of one row as `column value`, by comma.
#[track_caller]
fn cells(read: &ReadTable, name: &str) -> String {
    let row = read.rows.iter().find(|row| row.name == name).expect("a row");
    let cells: Vec<String> =
        row.cells.iter().map(|(column, cell)| format!("{column} {cell}")).collect();
    cells.join(", ")
}

/// The old form of series pages: pairs in one cell.
const OLD_PAGE: &str = "\
## D-series
| Size | vCPU | Memory: GiB | Temp storage (SSD) GiB | Max data disks | Max cached and temp \
storage throughput: IOPS/MBps (cache size in GiB) | Max uncached disk throughput: \
IOPS/MBps | Max burst \
uncached disk throughput: IOPS/MBps<sup>1</sup> | Max NICs/ Expected network bandwidth (Mbps) |
|---|---|:--:|---|---|---|---|---|---|
| Standard_D2s_v3 | 2 | 8 | 16 | 4 | 4000/32 (50) | 3200/48 | 4000/200 | 2/1000 |
| Standard_D8s_v3<sup>2</sup> | 8 | 32 | 64 | 16 | 16000/128 (200) | 12800/192 | 16000/400 \
| 4/4000 |
| Standard_D9s_v3 | 9 | 36 | 72 | 16 | - | 14000/200 | N/A | 4/4000 |

<sup>1</sup> Bursts for up to 30 minutes.
";

/// The newer form: one table per kind of resource, a column per number.
const NEW_PAGE: &str = "\
| Size Name | vCPUs (Qty.) | Memory (GiB) |
| --- | --- | --- |
| Standard_D2s_v6 | 2 | 8 |
| Standard_D32s_v6 | 32 | 128 |

| Size Name | Max Remote Storage Disks (Qty.) | Uncached Premium SSD IOPS | Uncached Premium SSD \
Throughput (MBps) | Uncached Ultra Disk and Premium SSD v2 IOPS | Uncached Ultra Disk and Premium \
SSD v2 Throughput (MBps) |
| --- | --- | --- | --- | --- | --- |
| Standard_D32s_v6 | 32 | 51,200 | 1,696 | 66,667 | 1,984 |

| Size Name | Max NICs (Qty.) | Max Network Bandwidth (Mb/s) |
| --- | --- | --- |
| Standard_D2s_v6 | 2 | 12500+ |
";

#[test]
fn old_pages_have_pairs_in_one_cell() {
    let page = read(OLD_PAGE);
    assert_eq!((page.form, page.rows.len()), (TableForm::Markdown, 3));
    assert_eq!(
        cells(&page, "Standard_D8s_v3"),
        "cache_gib 200, cached_iops 16000, cached_mb_s 128, egress_mbit_s 4000, max_data_disks 16, \
         memory_gib 32, uncached_burst_iops 16000, uncached_burst_mb_s 400, uncached_iops 12800, \
         uncached_mb_s 192, vcpus 8"
    );
    assert!(!cells(&page, "Standard_D9s_v3").contains("burst"), "N/A is unknown");
    assert_eq!(page.ignored, ["Temp storage (SSD) GiB"]);
}

#[test]
fn new_pages_spread_a_size_over_tables() {
    let page = read(NEW_PAGE);
    assert_eq!(page.rows.len(), 2);
    assert_eq!(
        cells(&page, "Standard_D32s_v6"),
        "max_data_disks 32, memory_gib 128, uncached_iops 51200, uncached_mb_s 1696, \
         v2_iops 66667, v2_mb_s 1984, vcpus 32"
    );
    assert_eq!(cells(&page, "Standard_D2s_v6"), "egress_mbit_s 12500, memory_gib 8, vcpus 2");
}

#[test]
fn the_go_map_gives_floors_and_no_burst_of_machines() {
    let map = read(
        "var NodeInfoMap = map[string]NodeInfo{\n\
         \"standard_ds14\": {SkuName: \"Standard_DS14\", MaxDataDiskCount: 64, VCpus: 16, \
         MaxBurstIops: 51200, MaxIops: 51200, MaxBwMbps: 488, MaxBurstBwMbps: 488},\n}\n\
         var DiskSkuMap = map[string]map[string]DiskSkuInfo{\n\"premium_lrs\": {\n\
         \"p20\": DiskSkuInfo{StorageAccountType: \"Premium_LRS\", DiskSize: \"P20\", \
         MaxAllowedShares: 3, MaxBurstIops: 3500, MaxIops: 2300, MaxBwMbps: 150, \
         MaxBurstBwMbps: 170, MaxSizeGiB: 512},\n\
         \"p30\": DiskSkuInfo{StorageAccountType: \"Premium_LRS\", DiskSize: \"P30\", \
         MaxAllowedShares: 5, MaxBurstIops: 5000, MaxIops: 5000, MaxBwMbps: 200, \
         MaxBurstBwMbps: 200, MaxSizeGiB: 1024},\n},\n}\n",
    );
    assert_eq!(map.form, TableForm::GoMap);
    let ds14 = cells(&map, "Standard_DS14");
    assert_eq!(ds14, "max_data_disks 64, uncached_iops 51200, uncached_mib_s_floor 488, vcpus 16");
    let p20 = "burst_iops 3500, burst_mb_s 170, iops 2300, max_shares 3, mb_s 150, size_gib 512";
    assert_eq!(cells(&map, "P20"), p20);
    assert_eq!(cells(&map, "P30"), "iops 5000, max_shares 5, mb_s 200, size_gib 1024");
    let edition = catalog::edition("current").expect("an edition");
    let diff = import::compare(map, edition, false);
    assert_eq!((diff.n_same, diff.rejected.len(), diff.changed.len()), (3, 0, 0));
}

#[test]
fn known_and_new_rows_are_separated() {
    let diff = compare(OLD_PAGE);
    assert_eq!((diff.n_read, diff.n_same, diff.rejected.len()), (3, 1, 0));
    let new: Vec<&str> = diff.new.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(new, ["Standard_D9s_v3"]);
    // The burst of a D2s_v3 is the one thing of it that was unknown.
    let changed: Vec<String> = diff
        .changed
        .iter()
        .map(|change| format!("{} {} {:?}", change.name, change.property, change.before))
        .collect();
    let expected = ["uncached_burst_iops", "uncached_burst_throughput"];
    assert_eq!(changed, expected.map(|property| format!("Standard_D2s_v3 {property} None")));
}

#[test]
fn an_unclear_mb_is_settled_by_known_bytes() {
    let diff = compare(OLD_PAGE);
    let d2s = diff.taken.iter().find(|row| row.name == "Standard_D2s_v3").expect("taken");
    // 32 MBps of the cache are 32,768,000 bytes by the interface's own answer; 48 are decimal.
    assert_eq!(
        (d2s.cells["cached_mb_s"].as_str(), d2s.cells["uncached_mb_s"].as_str()),
        ("32*1024000", "48*1000000")
    );
    let d9s = diff.taken.iter().find(|row| row.name == "Standard_D9s_v3").expect("taken");
    assert_eq!(d9s.cells["uncached_mb_s"], "200", "the size of its MB is not published");
}

#[track_caller]
fn check_rejected(row: &str, expected: &str) {
    let text = format!("name,vcpus,uncached_iops,uncached_mb_s,max_data_disks\n{row}\n");
    let diff = compare(&text);
    let why: Vec<&str> = diff.rejected.iter().map(|rejected| rejected.why.as_str()).collect();
    assert_eq!(why.len(), 1, "{diff:?}");
    assert!(why[0].contains(expected), "{why:?}");
    assert!(diff.taken.is_empty() && diff.rejected[0].line == 2, "{diff:?}");
}

#[test]
fn rows_that_cannot_be_are_rejected_with_the_reason() {
    check_rejected(
        "Standard_D2s_v3,2,3201,48,4",
        "uncached_iops is 3,201 IOPS, known is 3,200 IOPS",
    );
    check_rejected("Standard_D2s_v3,2,3200,45,4", "more than 5 % apart");
    check_rejected("Standard_D2s_v3,2,many,48,4", "uncached_iops: `many` is not a number");
    check_rejected("Standard_D2s_v3,2,3200,-48,4", "uncached_mb_s: `-48` is not a number");
    check_rejected("Standard_D2s_v3,2,3200", "3 cells, expected 5");
    check_rejected(",2,3200,48,4", "no name");
    let of_others = |header: &str, row: &str| {
        let diff = compare(&format!("name,cloud,vcpus,{header}\n{row}\n"));
        diff.rejected.first().map(|rejected| rejected.why.clone())
    };
    let why = of_others("cached_iops", "q9.large,AWS,4,1000").expect("it is rejected");
    assert!(why.starts_with("`cached_iops` is a figure of machines of Azure"), "{why}");
    assert!(of_others("pd_ssd_read_iops", "n9-standard-4,,4,15000").is_none());
    assert!(of_others("pd_ssd_read_iops", "Standard_D9s_v3,,4,15000").is_some());
    // 2.4 % off is what a map that counts otherwise gives.
    let near = "name,vcpus,uncached_mb_s\nStandard_D2s_v3,2,49\n";
    assert_eq!(compare(near).rejected, []);
}

/// Compares one row of a machine and says what is doubted, as `column why`.
#[track_caller]
fn check_doubted(header: &str, row: &str, expected: &[&str]) {
    let text = format!("name,{header}\n{row}\n");
    let edition = catalog::edition("current").expect("an edition");
    let of = |diff: &TableDiff| -> Vec<String> {
        let doubted = diff.doubted.iter();
        doubted.map(|it| format!("{} {} {} {}", it.line, it.column, it.figure, it.why)).collect()
    };
    let diff = compare(&text);
    assert_eq!(of(&diff), expected);
    assert_eq!(diff.rejected.len(), usize::from(!expected.is_empty()), "{diff:?}");
    assert_eq!(diff.taken.len(), usize::from(expected.is_empty()), "{diff:?}");
    let accepted = import::compare(read(&text), edition, true);
    assert_eq!((of(&accepted), accepted.taken.len()), (of(&diff), 1));
}

#[test]
fn unknown_figures_that_are_hard_to_believe_are_doubted() {
    let disk = "iops,mb_s,size_gib";
    check_doubted(disk, "P31,6000,220,1500", &[]);
    check_doubted(disk, "P31,~0,220,1500", &["2 iops ~0 IOPS is nothing"]);
    let most = "2 iops 9,000,000 IOPS is more than 10 times the most known, 20,000 IOPS";
    check_doubted(disk, "P31,9000000,220,1500", &[most]);
    let least = "2 mb_s 2 MB/s is less than a tenth of the least known, 25 MB/s";
    check_doubted(disk, "P31,6000,2,1500", &[least]);
    let large = "2 iops 20 IOPS with 220 MB/s makes 11000000 bytes per operation, expected 512 to \
                 4194304";
    check_doubted(disk, "P31,20,220,1500", &[large]);
    let small = "2 iops 100,000 IOPS with 25 MB/s makes 250 bytes per operation, expected 512 to \
                 4194304";
    check_doubted(disk, "P31,100000,25,1500", &[small]);
    // Of a size that is known, too: only its burst was unknown.
    let machine = "vcpus,uncached_burst_iops,uncached_burst_mb_s";
    check_doubted(machine, "Standard_D2s_v3,2,4000,200", &[]);
    let least =
        "2 uncached_burst_iops 400 IOPS is less than a tenth of the least known, 10,000 IOPS";
    check_doubted(machine, "Standard_D2s_v3,2,400,200", &[least]);
}

#[test]
fn contradictions_within_a_table_are_rejected() {
    let diff = compare("name,uncached_iops,vcpus\nStandard_X1,100,1\nStandard_X1,200,1\n");
    assert_eq!((diff.new.len(), diff.rejected.len()), (1, 1));
    assert_eq!(diff.rejected[0].why, "uncached_iops is 200 here and 100 in line 2");
}

#[test]
fn what_is_accepted_is_a_change() {
    let text = "name,uncached_iops,vcpus\nStandard_D2s_v3,4000,2\n";
    let edition = catalog::edition("current").expect("an edition");
    let diff = import::compare(read(text), edition, true);
    assert_eq!((diff.rejected.len(), diff.changed.len()), (0, 1));
    let before = diff.changed[0].before.as_ref().map(|figure| figure.per_s);
    assert_eq!((before, diff.changed[0].after.per_s), (Some(3200), 4000));
}

#[test]
fn rows_of_other_kinds_are_reported() {
    let diff = compare(
        "account_type,tier,size_gib,iops,mb_s\nPremiumV2_LRS,P,65536,,\nPremium_LRS,P1,4,120,25\n",
    );
    assert_eq!((diff.n_lines, diff.n_read, diff.left_out.len()), (2, 1, 1));
    assert_eq!(diff.left_out[0].name, "PremiumV2_LRS P");
}

#[test]
fn types_by_their_rules_are_compared() {
    let diff = compare(
        "type,read_iops_per_gib,throughput_per_gib_mib_s,usd_per_gib_month\n\
         pd-standard,0.75,0.12,0.04\npd-nonsuch,1,0.5,0.1\n",
    );
    assert_eq!((diff.n_same, diff.new.len()), (1, 1), "{diff:?}");
}

#[test]
fn facts_of_network_volumes_are_compared_within_their_edition() {
    let diff = compare(
        "scope,parameter,value,unit,edition,source\n\
         level.premium,throughput_per_tib,64,MiB/s per TiB,today,page\n\
         level.premium,throughput_per_tib,96,MiB/s per TiB,today,page\n\
         volume.regular,throughput_max,9000,MiB/s,today,page\n\
         level.basic,throughput_per_tib,8,MiB/s per TiB,,page\n\
         level.premium,throughput_per_tib,64,MiB/s per TiB,eda-module,page\n\
         level.premium,throughput_per_tib,64,furlongs,today,page\n",
    );
    assert_eq!((diff.n_lines, diff.n_same, diff.left_out.len()), (6, 1, 1), "{diff:?}");
    assert_eq!(diff.new[0].name, "level.basic");
    assert_eq!(diff.left_out[0].why, "of edition 2023, not current");
    let whys: Vec<&str> = diff.rejected.iter().map(|row| row.why.as_str()).collect();
    assert!(whys.last().is_some_and(|why| why.ends_with("unknown unit `furlongs`")), "{whys:?}");
    let n_other = diff.changed.len() + diff.rejected.len() + diff.new.len();
    assert_eq!(n_other, 4, "{diff:?}");
    // Units in the words of the pages.
    let diff = compare(
        "scope,parameter,value,unit,edition,source\n\
         level.flexible,throughput_max_per_tib,640,MiB/s per TiB of pool,today,page\n\
         client,nconnect_max,16,connections,today,page\n\
         client,rsize_wsize_max,262144,bytes,today,page\n",
    );
    assert_eq!((diff.n_lines, diff.n_same), (3, 3), "{diff:?}");
}

#[test]
fn prices_are_compared_by_amount_and_region() {
    let diff = compare(
        "tier,size_gib,usd,per,region\nP30,1024,135.17,month,eastus\n\
         P40,2048,240,month,eastus\nP50,4096,1,month,eastus\n\
         P60,8192,0,month,\nP70,16384,9,,\nP30,1024,1.5,month,moon\n",
    );
    assert_eq!((diff.n_same, diff.new.len(), diff.left_out.len()), (1, 1, 1), "{diff:?}");
    let changed: Vec<(&str, f64, f64)> =
        diff.repriced.iter().map(|it| (&*it.name, it.before_usd, it.after_usd)).collect();
    assert_eq!(changed, [("P40", 259.05, 240.0)]);
    let whys: Vec<&str> = diff.rejected.iter().map(|row| row.why.as_str()).collect();
    assert_eq!(
        whys,
        ["implausible: 1 USD, known are 495.57 per month", "its time or quantity is not stated"]
    );
}

/// A thing may be billed by several meters: prices of one are held against prices of the same.
#[test]
fn prices_are_compared_by_part_and_term() {
    let diff = compare(
        "name,part,above,up_to,usd,per,term,region\n\
         gp3,,,,0.08,GiB-month,,us-east-1\n\
         gp3,iops,3000,,0.006,IOPS-month,,us-east-1\n\
         gp3,,,,0.005,IOPS-month,,us-east-1\n\
         n2-standard-8,,,,178.6514,month,1y,us-central1\n\
         gp3,iop,3000,,0.006,IOPS-month,,us-east-1\n\
         n2-standard-8,,,,178.6514,month,2y,us-central1\n\
         gp3,capacity,,,0.08,IOPS-month,,us-east-1\n\
         gp3,iops,x,,0.08,IOPS-month,,us-east-1\n",
    );
    assert_eq!((diff.n_same, diff.new.len()), (3, 0), "{diff:?}");
    let changed: Vec<(&str, f64, f64)> =
        diff.repriced.iter().map(|it| (&*it.name, it.before_usd, it.after_usd)).collect();
    assert_eq!(changed, [("gp3", 0.005, 0.006)]);
    let whys: Vec<&str> = diff.rejected.iter().map(|row| row.why.as_str()).collect();
    assert_eq!(
        whys,
        [
            "unknown part `iop`, expected capacity, iops, throughput, operations, pool, pool \
             reads, pool writes, vcpus",
            "unknown term `2y`, expected on-demand, 1y, 3y",
            "a price of capacity cannot be per `IOPS-month`",
            "`x` is not a quantity",
        ]
    );
}

/// What a table has of several dates is that of the newest, and no row goes without a word.
#[test]
fn of_rows_of_several_dates_the_newest_counts() {
    let reported = |rows: &[import::RejectedRow]| -> Vec<String> {
        rows.iter().map(|row| format!("{} {}: {}", row.line, row.name, row.why)).collect()
    };
    let diff = compare(
        "name,usd,per,region,date\nZ1,3,month,here,2024-01-31\nZ1,4,month,here,2025-01-01\n\
         Z1,9,month,there,2023-01-01\nZ2,6,month,here,2025-01-01\nZ2,5,month,here,2024-01-01\n",
    );
    let taken: Vec<&str> = diff.taken.iter().map(|row| row.cells["usd"].as_str()).collect();
    assert_eq!((taken, diff.n_lines), (vec!["4", "9", "6"], 5), "{diff:?}");
    let older = [
        "2 Z1: of 2024-01-31; the one of 2025-01-01 in line 3 is used",
        "6 Z2: of 2024-01-01; the one of 2025-01-01 in line 5 is used",
    ];
    assert_eq!(reported(&diff.left_out), older);
    assert!(diff.taken.iter().all(|row| !row.cells.contains_key("date")), "{diff:?}");

    let diff = compare("tier,iops,date\nZ1,500,2024\nZ1,600,2025\n");
    assert_eq!((diff.taken.len(), diff.taken[0].cells["iops"].as_str()), (1, "600"));

    // Without dates that have an order, nothing is picked.
    for dates in [["", ""], ["about 2016", "undated"], ["2025", "2025-03-01"], ["2025", "2025"]] {
        let [first, second] = dates;
        let diff =
            compare(&format!("name,usd,per,date\nZ1,3,month,{first}\nZ1,4,month,{second}\n"));
        assert!(diff.taken.is_empty(), "{dates:?}: {diff:?}");
        let rest = "and there is no date to choose by: keep only the right one";
        let whys = [
            format!("2 Z1: 3 USD here and 4 in line 3, {rest}"),
            format!("3 Z1: 4 USD here and 3 in line 2, {rest}"),
        ];
        assert_eq!(reported(&diff.rejected), whys, "{dates:?}");
    }
}

#[test]
fn texts_without_a_table_are_reported() {
    for text in ["", "hello", "a,b\n1,2\n", "| a | b |\n|---|---|\n| 1 | 2 |\n", "{}"] {
        assert!(import::read(text).is_err(), "{text}");
    }
}

#[test]
fn what_was_taken_comes_back_from_a_folder() {
    let diff = compare(OLD_PAGE);
    let table = import::table(&diff.taken, TableKind::Vms, "page").expect("a table");
    assert_eq!(import::table(&diff.taken, TableKind::Disks, "page"), None);
    let sources = import::with_source("", "page", "a page", "2026-01-01");
    let sources = import::with_source(&sources, "page", "the page", "2026-01-02");
    let tables =
        vec![("sources.csv".to_owned(), sources), ("current/vms-page.csv".to_owned(), table)];
    let catalog = Catalog::with(tables).expect("what we wrote");
    let edition = catalog.edition("current").expect("an edition");
    let new = edition.vm("D9s_v3").and_then(|vm| vm.uncached_iops()).expect("a figure");
    assert_eq!(
        (new.per_s, new.source.title.as_str(), new.date()),
        (14_000, "the page", "2026-01-02")
    );
    let known = edition.vm("D2s_v3").expect("a size");
    let cached = known.cached_throughput().expect("a figure");
    assert_eq!((cached.per_s, cached.exactness), (32_768_000, Exactness::Exact));
    // What the built-in tables say stays behind it, and they do not change.
    assert!(known.figures_of("cached_throughput").len() > 1);
    assert!(catalog::edition("current").expect("an edition").vm("D9s_v3").is_none());
}

#[test]
fn mistakes_of_a_folder_are_reported_with_their_lines() {
    let table = |path: &str, text: &str| vec![(path.to_owned(), text.to_owned())];
    let mistakes = |path: &str, text: &str| {
        let errors = Catalog::with(table(path, text)).expect_err("mistakes");
        errors.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let text = "name,uncached_iops,colour,source\nX,ten,red,csi\nY,1,red,unlisted\nZ,1\n";
    assert_eq!(
        mistakes("current/vms-mine.csv", text),
        [
            "current/vms-mine.csv:1: unknown column `colour`",
            "current/vms-mine.csv:2: `X`, uncached_iops: `ten` is not a number from 0 to 10^15",
            "current/vms-mine.csv:3: source `unlisted` is not in sources.csv",
            "current/vms-mine.csv:4: 2 cells, expected 4",
        ]
    );
    let unknown = ["1999/vms-mine.csv:1: a table lies in the folder of an edition"];
    assert_eq!(mistakes("1999/vms-mine.csv", "name,source\n"), unknown);
    let unnamed = "a table is named disks-, vms-, network-, prices-, hourly-, \
                   reserved- or sustained-SOMETHING.csv";
    let unnamed = [format!("2018/mine.csv:1: {unnamed}")];
    assert_eq!(mistakes("2018/mine.csv", "name,source\n"), unnamed);
}

fn words() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "|",
        "---",
        "\n",
        ",",
        "Size",
        "name",
        "vcpus",
        "uncached_iops",
        "SkuName:",
        "{",
        "}",
        "<sup>",
        "</sup>",
        "<",
        "1/2 (3)",
        "(",
        "1e999",
        "-1",
        "*",
        "~",
        "é",
        "Max data disks",
        "\"",
        "NodeInfo",
    ]);
    prop::collection::vec(word, 0..60).prop_map(|words| words.concat())
}

proptest! {
    #[test]
    fn no_text_makes_the_import_panic(text in prop_oneof![words(), any::<String>()]) {
        if let Ok(read) = import::read(&text) {
            let edition = catalog::edition("2018").expect("an edition");
            let diff = import::compare(read, edition, false);
            let n_out = diff.taken.len() + diff.rejected.len();
            prop_assert!(n_out <= diff.n_read, "{diff:?}");
            // What was taken is fit to be read back.
            for kind in [TableKind::Vms, TableKind::Disks] {
                let Some(table) = import::table(&diff.taken, kind, "csi") else { continue };
                let path = format!("2018/{}-mine.csv", kind.as_str());
                let catalog = Catalog::with(vec![(path, table.clone())]);
                prop_assert!(catalog.is_ok(), "{:?} {table}", catalog.err());
            }
        }
    }
}

#[test]
fn a_limit_that_reads_and_writes_share_is_known_by_either_name() {
    let header = "type,read_iops_per_gib,write_iops_per_gib,throughput_per_gib_mib_s\n";
    let same = compare(&format!("{header}pd-ssd,30,30,0.48\npd-balanced,6,6,0.28\n"));
    assert_eq!((same.n_same, same.changed.len(), same.doubted.len()), (2, 0, 0), "{same:?}");
    let table = import::table(&same.taken, TableKind::Disks, "t").expect("a table");
    assert!(
        table.starts_with("name,cloud,iops_per_gib,mib_s_per_gib,source\npd-ssd,GCP,30,"),
        "{table}"
    );
    // Another figure for one direction is a change of what is known, and not something new.
    let other = compare(&format!("{header}pd-ssd,30,25,0.48\n"));
    let before = other.changed[0].before.as_ref().map(|figure| figure.per_s);
    assert_eq!((other.changed.len(), before), (1, Some(30)), "{other:?}");
    // A name without a family is compared with all of them.
    let far = compare(&format!("{header}pd-new,99999,30,0.48\n"));
    assert!(far.rejected[0].why.ends_with("read_iops_per_gib"), "{far:?}");
}

#[test]
fn another_name_of_a_disk_finds_it() {
    let diff = compare("type,iops_per_gib,iops_max\nio2 Block Express,1000,256000\n");
    assert_eq!((diff.n_same, diff.new.len()), (1, 0), "{diff:?}");
    let table = import::table(&diff.taken, TableKind::Disks, "t").expect("a table");
    assert!(table.contains("io2,AWS,"), "{table}");
}

/// Compares two rows for a gp3, of two editions, with an edition of the catalogue.
fn gp3_of(edition: &str, rows: &str) -> TableDiff {
    let table = format!("type,edition,iops_base,iops_max,throughput_max_mib_s\n{rows}");
    import::compare(read(&table), catalog::edition(edition).expect("an edition"), false)
}

const OLDER: &str = "gp3,older,3000,16000,1000\n";
const NEWER: &str = "gp3,2025-09,3000,80000,2000\n";

#[test]
fn of_several_editions_of_a_row_the_one_that_is_known_is_meant() {
    let both = format!("{OLDER}{NEWER}");
    for (edition, line, why) in [
        ("current", 2, "of `older`; what edition current has is that of `2025-09`"),
        ("2023", 3, "of `2025-09`; what edition 2023 has is that of `older`"),
    ] {
        let diff = gp3_of(edition, &both);
        assert_eq!((diff.n_same, diff.rejected.len()), (1, 0), "{diff:?}");
        let left_out = &diff.left_out[0];
        assert_eq!((left_out.line, left_out.why.as_str()), (line, why));
    }
    // Alone, or of the same edition, a row is what it was.
    assert_eq!(gp3_of("current", NEWER).n_same, 1);
    assert_eq!(gp3_of("current", OLDER).rejected.len(), 1);
    let twice = gp3_of("current", &format!("{NEWER}gp3,2025-09,3000,90000,2000\n"));
    assert_eq!(twice.rejected[0].why, "iops_max is 90000 here and 80000 in line 2");
}

#[test]
fn an_edition_that_is_ours_is_followed_and_an_unclear_one_is_reported() {
    let diff = gp3_of("2023", "gp3,today,3000,80000,2000\ngp3,eda-module,3000,16000,1000\n");
    assert_eq!((diff.n_same, diff.left_out.len()), (1, 1), "{diff:?}");
    assert_eq!(diff.left_out[0].why, "of edition current, not 2023");
    let diff = gp3_of("current", "gp9,a,3000,16000,1000\ngp9,b,3000,80000,2000\n");
    assert_eq!((diff.new.len(), diff.rejected.len()), (0, 2), "{diff:?}");
    let why = "the table has it of `a` and `b`, and none is what edition current has: keep only \
               the right one";
    assert_eq!(diff.rejected[0].why, why);
}

#[test]
fn printed_prices_are_of_so_many_for_a_month() {
    let table = "item,quantity,usd_per_month_printed,status\nStandard_DS13,1,1003.66,ok\n\
                 HDD-1TB,32,1638.4,ok\nP30,4,544.34,ok\ndesign total,,1544.34,erratum\n\
                 Standard_D14,1,1600,ok\n";
    let edition = catalog::edition("2018").expect("an edition");
    let diff = import::compare(read(table), edition, false);
    assert_eq!((diff.n_same, diff.left_out.len(), diff.new.len()), (3, 1, 1), "{diff:?}");
    assert_eq!(diff.left_out[0].why, "its quantity is not stated");
    assert_eq!(diff.new[0].name, "Standard_D14");
    let p30 = diff.taken.iter().find(|row| row.name == "P30").expect("taken");
    assert_eq!(p30.cells["usd"], "136.085");
}

/// Tables that the catalogue was made from say nothing new.
#[test]
fn what_the_catalogue_was_made_from_changes_nothing() {
    for table in [
        // The map gives a size with processors switched off those of the whole one.
        "name,vcpus,max_data_disks,uncached_iops,uncached_mib_s_floor\n\
         Standard_DS13-4_v2,8,32,25600,366\n",
        // An instance that does not burst has its own rates as those of bursts.
        "instance_type,vcpus,base_iops,base_throughput_mb_s,max_iops,max_throughput_mb_s,bursts\n\
         a1.4xlarge,16,20000,437.5,20000,437.5,no\na1.large,2,4000,65.625,20000,437.5,yes\n",
        // Types whose limits are chosen are no tiers.
        "account_type,tier,size_gib,iops,mb_s\nPremiumV2_LRS,P,65536,,\nUltraSSD_LRS,U,65536,,\n\
         Premium_LRS,P1,4,120,25\n",
    ] {
        let diff = compare(table);
        assert_eq!(diff.n_same, diff.n_read, "{diff:?}");
        assert!(diff.n_read > 0, "{table}");
    }
}

#[test]
fn a_table_that_says_whose_a_machine_is_is_believed() {
    let text = "name,cloud,vcpus,uncached_iops,uncached_mb_s\nn9-standard-16,gcp,16,15000,240\n";
    let found = read(text);
    assert!(found.ignored.is_empty(), "{:?}", found.ignored);
    let taken = compare(text).taken;
    let table = import::table(&taken, TableKind::Vms, "own").expect("a table");
    assert!(table.starts_with("name,cloud,"), "{table}");
    assert!(table.contains("\nn9-standard-16,GCP,"), "{table}");
    let other = read("name,cloud,vcpus,uncached_iops\nn9-standard-16,Gogle,16,15000\n");
    assert_eq!(other.rejected[0].why, "cloud `Gogle`, expected Azure, AWS, GCP");
}

/// Checks why a table is refused whole, and what it says to write instead.
#[track_caller]
fn refused(text: &str, why: &str, instead: &str) {
    let error = import::read(text).expect_err("it is refused");
    assert_eq!(error.to_string(), why);
    let import::ImportError::OtherKind { help, .. } = error else { panic!("{error}") };
    assert_eq!(help, instead);
}

#[test]
fn figures_that_a_machine_never_has_are_refused_with_the_right_name() {
    refused(
        "name,vcpus,iops,mb_s\nn9-standard-16,16,15000,240\n",
        "line 1, column 12: `iops` is a figure of disks, and the table is one of machines: it has \
         `vcpus`",
        "name it `uncached_iops`, or `cached_iops` for what goes through the host cache",
    );
    // Whichever comes first.
    refused(
        "name,burst_mb_s,max_data_disks\nn9,240,16\n",
        "line 1, column 6: `burst_mb_s` is a figure of disks, and the table is one of machines: it \
         has `max_data_disks`",
        "name it `uncached_burst_mb_s`, or `cached_burst_mb_s` for what goes through the host \
         cache",
    );
    refused(
        "name,uncached_iops,size_gib\nn9,240,16\n",
        "line 1, column 20: `size_gib` is a figure of disks, and the table is one of machines: it \
         has `uncached_iops`",
        "leave it out, or put the disks into a file of their own",
    );
}
