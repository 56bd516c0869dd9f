//! The built-in tables: complete, and true to their sources.

use std::collections::HashSet;

use catalog::{
    Arch, Cacheable, Cloud, EDITIONS, Edition, Exactness, Figure, Term, Unit, Vm, VolumeKind,
};

fn edition(name: &str) -> &'static Edition {
    catalog::edition(name).expect("an edition")
}

#[test]
fn every_figure_has_source_and_date_and_every_item_a_cloud() {
    for info in EDITIONS {
        let edition = edition(info.name);
        let items = edition.disks().iter().map(|disk| &**disk);
        for item in items.chain(edition.vms().iter().map(|vm| &**vm)) {
            assert!(item.word("cloud").is_some(), "{} of {} has no cloud", item.name, info.name);
            for (property, figures) in item.figures() {
                for figure in figures {
                    check_figure(&format!("{} {property}", item.name), figure);
                }
            }
        }
        for fact in edition.network_volumes() {
            check_figure(&format!("{} {}", fact.scope, fact.parameter), &fact.figure);
        }
        for price in edition.prices() {
            assert!(price.usd > 0.0 && !price.source.date.is_empty(), "{price:?}");
        }
    }
}

#[track_caller]
fn check_figure(what: &str, figure: &Figure) {
    assert!(!figure.source.title.is_empty() && !figure.date().is_empty(), "{what}: {figure:?}");
    assert!(figure.value > 0.0, "{what}: a figure of nothing is an unknown one: {figure:?}");
    assert!(figure.range().contains(&figure.per_s), "{what}: {figure:?}");
    let is_rate = matches!(figure.unit, Unit::MbPerS | Unit::MibPerS | Unit::BytesPerS);
    assert!(!is_rate || figure.per_s >= 1_000_000, "{what}: {figure:?}");
}

#[test]
fn names_are_unique_and_found() {
    for info in EDITIONS {
        let edition = edition(info.name);
        let names: HashSet<String> =
            edition.vms().iter().map(|vm| vm.name.to_lowercase()).collect();
        assert_eq!(names.len(), edition.vms().len());
        assert!(edition.vms().iter().all(|vm| edition.vm(&vm.name) == Some(vm)));
        let names: HashSet<&str> = edition.disks().iter().map(|disk| disk.name.as_str()).collect();
        assert_eq!(names.len(), edition.disks().len());
        assert!(edition.disks().iter().all(|disk| edition.disk(&disk.name) == Some(disk)));
    }
}

#[test]
fn names_are_looked_up_kindly() {
    let current = edition("current");
    for name in ["DS14", "standard_ds14", "Standard_DS14", " ds14 "] {
        assert_eq!(current.vm(name).map(|vm| vm.name.as_str()), Some("Standard_DS14"), "{name}");
    }
    for name in ["UltraSSD_LRS", "ultra", "Ultra Disk"] {
        assert_eq!(current.disk(name).map(|disk| disk.name.as_str()), Some("Ultra"), "{name}");
    }
    // A SKU of many tiers names none of them.
    assert_eq!(current.disk("Premium_LRS"), None);
    let names = || edition("current").vms().iter().map(|vm| vm.name.as_str());
    assert_eq!(catalog::nearest("D32s_v33", names()).first(), Some(&"Standard_D32s_v3"));
    assert_eq!(catalog::nearest("", names()), Vec::<&str>::new());
    assert_eq!(catalog::nearest("no such thing at all", names()), Vec::<&str>::new());
}

#[test]
fn the_tables_are_whole() {
    let current = edition("current");
    for (cloud, n_vms, n_disks) in
        [(Cloud::Azure, 1087, 41), (Cloud::Aws, 1400, 5), (Cloud::Gcp, 568, 7)]
    {
        let vms = current.vms().iter().filter(|vm| vm.cloud() == Some(cloud));
        let disks = current.disks().iter().filter(|disk| disk.cloud() == Some(cloud));
        assert_eq!((vms.count(), disks.count()), (n_vms, n_disks), "{cloud}");
    }
    let n_prices = |per: &str, term: Term| {
        current.prices().iter().filter(|price| &*price.per == per && price.term == term).count()
    };
    // As many as the sources have cells.
    assert_eq!(n_prices("hour", Term::OnDemand), 64_888 + 7_495 + 7_407);
    assert_eq!(n_prices("year", Term::ThreeYears), 1_280);
    assert_eq!(
        (n_prices("month", Term::OneYear), n_prices("month", Term::ThreeYears)),
        (1_948, 1_948)
    );
    assert_eq!(edition("2018").disks().len(), 8);
    assert_eq!(edition("2018").vms().len(), 6);
    // Every machine size but those of AWS that no volume can be attached to has an uncached cap; of
    // Google's the older families have caps by type of disk.
    let has_none = |vm: &&Vm| vm.uncached_iops().is_none() && vm.cloud() != Some(Cloud::Gcp);
    assert_eq!(current.vms().iter().filter(has_none).count(), 19);
    let has_some = |vm: &&Vm| vm.limit_of("pd-balanced", "read_iops").is_some();
    assert_eq!(current.vms().iter().filter(has_some).count(), 244);
}

#[track_caller]
fn disk(edition: &str, name: &str, expected: &str) {
    let disk = self::edition(edition).disk(name).expect("a disk");
    let figures = [
        disk.size(),
        disk.iops(),
        disk.throughput(),
        disk.burst_iops(),
        disk.burst_throughput(),
        disk.ondemand_iops(),
        disk.plus_iops(),
        disk.io_unit(),
    ];
    let figures = figures.map(|figure| figure.map_or("-".to_owned(), ToString::to_string));
    assert_eq!(format!("{} {:?}", figures.join(" | "), disk.cacheable()), expected);
}

#[test]
fn disks_are_as_published() {
    disk(
        "current",
        "P1",
        "4 GiB | 120 IOPS | 25 MB/s | 3,500 IOPS | 170 MB/s | - | - | 256 KiB Yes",
    );
    disk(
        "current",
        "P20",
        "512 GiB | 2,300 IOPS | 150 MB/s | 3,500 IOPS | 170 MB/s | - | - | 256 KiB Yes",
    );
    disk(
        "current",
        "P30",
        "1,024 GiB | 5,000 IOPS | 200 MB/s | - | - | 30,000 IOPS | 8,000 IOPS | 256 KiB Yes",
    );
    disk(
        "current",
        "P50",
        "4,096 GiB | 7,500 IOPS | 250 MB/s | - | - | 30,000 IOPS | 20,000 IOPS | 256 KiB No",
    );
    disk(
        "current",
        "P80",
        "32,767 GiB | 20,000 IOPS | 900 MB/s | - | - | 30,000 IOPS | 20,000 IOPS | 256 KiB No",
    );
    disk(
        "current",
        "E30",
        "1,024 GiB | 500 IOPS | 100 MB/s | 1,000 IOPS | 250 MB/s | - | 1,500 IOPS | 256 KiB Yes",
    );
    disk("current", "S60", "8,192 GiB | 1,300 IOPS | 300 MB/s | - | - | - | - | - No");
    disk("2018", "P30", "1,024 GB | 5,000 IOPS | 200 MB/s | - | - | - | - | 256 KiB Unknown");
    disk("2018", "P50", "4,095 GB | 7,500 IOPS | 250 MB/s | - | - | - | - | 256 KiB Unknown");
    disk("2018", "HDD-1TB", "1,024 GB | 500 IOPS | 60 MB/s | - | - | - | - | - Unknown");
}

#[track_caller]
fn vm(edition: &str, name: &str, expected: &str) {
    let vm = self::edition(edition).vm(name).expect("a machine size");
    let figures = [
        vm.vcpus(),
        vm.max_data_disks(),
        vm.uncached_iops(),
        vm.uncached_throughput(),
        vm.cached_iops(),
        vm.cached_throughput(),
        vm.cache(),
        vm.egress(),
    ];
    let figures = figures.map(|figure| figure.map_or("-".to_owned(), ToString::to_string));
    assert_eq!(figures.join(" | "), expected);
}

#[test]
fn machines_are_as_published() {
    vm("2018", "DS14", "16 | 32 | 50,000 IOPS | 512 MB/s | 64,000 IOPS | 512 MB/s | 576 GB | -");
    vm(
        "2018",
        "GS5",
        "32 | 64 | 80,000 IOPS | 2,000 MB/s | 160,000 IOPS | 1,600 MB/s | 4,224 GB | -",
    );
    vm("2018", "DS1", "- | - | 3,200 IOPS | - | - | - | - | -");
    vm(
        "current",
        "DS14",
        "16 | 64 | 51,200 IOPS | 512 MB/s | 64,000 IOPS | 512 MB/s | 576 GiB | 8,000 Mb/s",
    );
    vm(
        "current",
        "DS4",
        "8 | 32 | 25,600 IOPS | 256 MB/s | 32,000 IOPS | 256 MB/s | 344 GiB | 4,000 Mb/s",
    );
    vm(
        "current",
        "D8s_v3",
        "8 | 16 | 12,800 IOPS | 192 MB/s | 16,000 IOPS | 128 MB/s | 200 GiB | 4,000 Mb/s",
    );
    vm("current", "D32s_v4", "32 | 32 | 51,200 IOPS | 768 MB/s | - | - | - | 16,000 Mb/s");
    vm("current", "E104is_v5", "104 | 64 | 120,000 IOPS | 4,000 MB/s | - | - | - | 100,000 Mb/s");
    vm("current", "m5.large", "2 | 27 | 3,600 IOPS | 81.25 MB/s | - | - | - | 750 Mb/s");
}

#[track_caller]
fn bytes(edition: &str, name: &str, property: &str, per_s: u64, exactness: Exactness) {
    let vm = self::edition(edition).vm(name).expect("a machine size");
    let figure = vm.figure(property).expect("a known figure");
    assert_eq!((figure.per_s, figure.exactness), (per_s, exactness));
}

#[test]
fn a_published_mb_is_what_it_was_found_to_be() {
    use Exactness::{Derived, Exact, RoundedDown, UnitUnclear};
    bytes("2018", "DS14", "uncached_throughput", 524_288_000, Exact);
    bytes("2018", "DS14", "cached_throughput", 524_288_000, Derived);
    bytes("current", "DS14", "cached_throughput", 524_288_000, Exact);
    bytes("current", "DS14", "uncached_throughput", 512_000_000, Exact);
    bytes("current", "D2s_v3", "cached_throughput", 32_768_000, Exact);
    bytes("current", "D64s_v3", "cached_throughput", 1_048_576_000, Exact);
    bytes("current", "NC16as_T4_v3", "cached_throughput", 480 << 20, Exact);
    bytes("current", "DC8s_v3", "uncached_throughput", 201_326_592, Exact);
    bytes("current", "L8s_v2", "uncached_throughput", 160 << 20, Exact);
    bytes("current", "D8s_v3", "cached_throughput", 128_000_000, UnitUnclear);
    bytes("current", "A0", "uncached_throughput", 24_000_000, Exact);
    bytes("current", "D2_v2", "cached_write_throughput", 49_152_000, Exact);
    bytes("current", "Standard_D16s_v3", "uncached_throughput", 366 << 20, RoundedDown);
    bytes("current", "a1.large", "uncached_throughput", 65_625_000, Exact);
}

#[test]
fn an_impossible_answer_stays_unknown_and_says_why() {
    let vm = edition("current").vm("DC8s_v3").expect("a machine size");
    assert_eq!((vm.cached_iops(), vm.cached_throughput()), (None, None));
    assert!(vm.notes.iter().any(|note| note.text.contains("taken as unknown")), "{vm:?}");
}

#[test]
fn processors_that_are_switched_off_do_not_hide_the_published_number() {
    let vm = edition("current").vm("DS11-1_v2").expect("a machine size");
    let vcpus = vm.figures_of("vcpus").iter().map(|figure| (figure.value, figure.exactness));
    assert_eq!(vcpus.collect::<Vec<_>>(), [(1.0, Exactness::Derived), (2.0, Exactness::Exact)]);
}

#[test]
fn an_edition_has_the_limits_of_its_time() {
    let most =
        |name: &str| edition(name).disk("gp3").and_then(|gp3| gp3.figure("iops_max").cloned());
    let most = |name: &str| most(name).map(|figure| figure.value);
    assert_eq!((most("2023"), most("2024"), most("current")), (Some(16e3), Some(16e3), Some(80e3)));
}

#[test]
fn what_sources_disagree_on_stays_visible() {
    let vm = edition("current").vm("DS14").expect("a machine size");
    let throughputs = vm.figures_of("uncached_throughput");
    assert_eq!(throughputs.iter().map(|figure| figure.value).collect::<Vec<_>>(), [512.0, 488.0]);
    // The two must agree within what each leaves open.
    assert!(throughputs[1].range().contains(&throughputs[0].per_s), "{throughputs:?}");
}

/// Where sources of a machine contradict one another, and data/README.md says which one is used.
const DECIDED: [(&str, &str); 4] = [
    ("Standard_E2bs_v5", "uncached_iops"),
    ("Standard_E2bds_v5", "uncached_iops"),
    ("Standard_E112ibs_v5", "uncached_throughput"),
    ("Standard_E112ibds_v5", "uncached_throughput"),
];

/// Sources of one machine agree: operations exactly, bytes within 5 % (`import` asks the same).
#[test]
fn sources_agree_with_one_another() {
    for vm in edition("current").vms() {
        for (property, figures) in vm.figures() {
            let first = &figures[0];
            // What was derived stands before what it corrects.
            if first.exactness == Exactness::Derived {
                continue;
            }
            for other in figures[1..].iter().filter(|_| !DECIDED.contains(&(&vm.name, property))) {
                let ratio = other.per_s as f64 / first.per_s as f64;
                let limit = if property.ends_with("_iops") { 0.0 } else { 0.05 };
                assert!((ratio - 1.0).abs() <= limit, "{} {property}: {figures:?}", vm.name);
            }
        }
    }
}

#[test]
fn network_volumes_are_as_published() {
    let current = edition("current");
    let levels: Vec<_> =
        current.levels().map(|(name, figure)| (name, figure.per_s >> 20)).collect();
    assert_eq!(levels[..3], [("standard", 16), ("premium", 64), ("ultra", 128)]);
    let google = [("volumes-standard", 16), ("volumes-premium", 64), ("volumes-extreme", 128)];
    assert_eq!(levels[3..], google);
    let limit = |edition: &str, scope: &str, parameter: &str| {
        self::edition(edition).fact(scope, parameter).map(ToString::to_string).unwrap_or_default()
    };
    assert_eq!(limit("current", "volume.regular", "size_min"), "50 GiB");
    assert_eq!(limit("2023", "volume.regular", "size_min"), "100 GiB");
    assert_eq!(limit("eda-module", "volume.large", "throughput_max"), "10,240 MiB/s");
    assert_eq!(limit("current", "volume.large", "throughput_max"), "12,800 MiB/s");
    assert_eq!(limit("2019", "volume.regular", "throughput_max"), "4,500 MiB/s");
    assert_eq!(limit("2018", "volume.regular", "throughput_max"), "");
    let names = |edition: &str| -> Vec<String> {
        let surfaces = self::edition(edition).surfaces(VolumeKind::Regular);
        surfaces.iter().map(|surface| surface.name.to_owned()).collect()
    };
    assert_eq!(names("2019"), ["random-8k-2019"]);
    assert!(names("current").len() > names("2024").len());
    let surfaces = edition("2024").surfaces(VolumeKind::Regular);
    let surface = surfaces.iter().find(|surface| surface.name == "random-8k").expect("measured");
    let iops = [surface.read_iops, surface.write_iops].map(|figure| figure.map(|f| f.per_s));
    assert_eq!(iops, [Some(293_000), Some(111_000)]);
}

#[test]
fn prices_keep_their_origin() {
    let price = |edition: &str, name: &str, region: Option<&str>| {
        let mut prices = self::edition(edition).prices_of(name);
        prices.find(|price| price.region.as_deref() == region).map(|price| price.usd)
    };
    assert_eq!(price("current", "DS14", Some("eastus")), Some(1.542));
    assert_eq!(price("current", "GS5", Some("eastus")), None);
    assert_eq!(price("current", "GS5", Some("westeurope")), Some(9.99));
    assert_eq!(price("2018", "P30", None), Some(136.085));
    let origins: Vec<_> =
        edition("current").prices_of("P30").map(|price| price.source.date.as_str()).collect();
    assert_eq!(origins, ["undated (about 2026)", "2024-07-01", "2020-02-05", "about 2016"]);
    let vmc = edition("current").prices_of("P30").find(|price| price.source.key == "vmc");
    assert!(vmc.is_some_and(|price| !price.is_currency_stated));
}

#[test]
fn only_large_disks_are_known_not_to_be_cached() {
    for disk in edition("current").disks() {
        let is_tier = disk.size().is_some();
        let is_large = disk.size().is_some_and(|size| size.per_s >= 4096 << 30);
        if is_tier {
            assert_eq!(disk.cacheable() == Cacheable::No, is_large, "{}", disk.name);
        }
    }
}

#[test]
fn sizes_with_fewer_processors_have_the_number_in_their_name() {
    let edition = catalog::edition("current").expect("an edition");
    for (name, vcpus) in
        [("DS14-4_v2", 4), ("E96-24ads_v5", 24), ("M64-16ms", 16), ("M8-2ms", 2), ("DS14_v2", 16)]
    {
        let size = edition.vm(name).expect("a size");
        assert_eq!(size.vcpus().map(|figure| figure.per_s), Some(vcpus), "{name}");
    }
}

#[test]
fn names_of_another_number_are_near() {
    let edition = catalog::edition("current").expect("an edition");
    let disks = edition.disks().iter().map(|disk| disk.name.as_str());
    assert_eq!(catalog::nearest("P99", disks), ["P80", "P70", "P60"]);
    let vms = || edition.vms().iter().map(|vm| vm.name.as_str());
    assert_eq!(catalog::nearest("DS77", vms()).first(), Some(&"Standard_DS14"));
    assert_eq!(catalog::nearest("c5.giant", vms()), ["c5.large", "c5.metal", "c5.xlarge"]);
    assert_eq!(catalog::nearest("Standard_NC6_promo", vms()).first(), Some(&"Standard_NC6s_v3"));
    assert!(catalog::nearest("zz9", vms()).is_empty());
    assert!(catalog::nearest("Nope", vms()).is_empty());
}

#[test]
fn two_interfaces_of_a_name_keep_their_limits_apart() {
    let vm = edition("current").vm("E8bs_v5").expect("a machine size");
    let text = |figure: Option<&Figure>| figure.map(ToString::to_string).unwrap_or_default();
    // SCSI counts, which any machine has.
    assert_eq!(text(vm.uncached_iops()), "24,200 IOPS");
    assert_eq!(text(vm.nvme_iops()), "33,000 IOPS");
    assert_eq!(text(vm.v2_iops()), "32,400 IOPS");
    assert_eq!(text(vm.nvme_v2_iops()), "44,200 IOPS");
    // A size with one interface has its limits in the usual place.
    let vm = edition("current").vm("D8s_v6").expect("a machine size");
    assert_eq!(
        (text(vm.uncached_iops()), vm.word("interface")),
        ("12,800 IOPS".into(), Some("NVMe"))
    );
}

#[test]
fn machines_of_google_have_limits_by_type_of_disk() {
    let limit = |name: &str, disk: &str, side: &str| {
        let vm = edition("current").vm(name).expect("a machine size");
        vm.limit_of(disk, side).map(ToString::to_string).unwrap_or_default()
    };
    assert_eq!(limit("n2-standard-8", "pd-ssd", "read_iops"), "15,000 IOPS");
    assert_eq!(limit("c2-standard-60", "pd-ssd", "write_iops"), "15,000 IOPS");
    assert_eq!(limit("c2-standard-60", "pd-ssd", "read_throughput"), "1,200 MiB/s");
    // A misprint is no figure.
    assert_eq!(limit("a2-ultragpu-8g", "pd-standard", "read_throughput"), "");
    assert_eq!(limit("c4-standard-8", "pd-ssd", "read_iops"), "");
}

#[test]
fn the_architecture_is_known_of_nearly_all_machines() {
    let vms = edition("current").vms();
    let unknown = vms.iter().filter(|vm| vm.arch().is_none());
    let families: std::collections::BTreeSet<_> =
        unknown.map(|vm| vm.word("family").unwrap_or(&vm.name)).collect();
    let expected = ["c4n", "ct3", "ct3p", "ct5l", "ct5lp", "ct5p", "ct6e", "m4n", "tpu7x"];
    assert_eq!(families.into_iter().collect::<Vec<_>>(), expected);
    let arch = |name: &str| edition("current").vm(name).and_then(Vm::arch);
    assert_eq!(arch("c4a-standard-8"), Some(Arch::Arm));
    assert_eq!(arch("m7g.large"), Some(Arch::Arm));
    assert_eq!(arch("D16pds_v5"), Some(Arch::Arm));
    assert_eq!(arch("D16ds_v5"), Some(Arch::X86));
}

#[test]
fn every_price_has_a_cloud_and_every_cloud_its_regions() {
    let current = edition("current");
    let without: Vec<_> = current.prices().iter().filter(|price| price.cloud.is_none()).collect();
    assert!(without.is_empty(), "{without:?}");
    let n_regions = Cloud::ALL.map(|cloud| current.regions(cloud).len());
    assert_eq!(n_regions, [57, 21, 16]);
}

/// What is billed by tiers in one region is so in all, at prices that fall by the same shares. Some
/// first tiers are printed rounded.
#[test]
fn meters_are_the_same_in_every_region() {
    use std::collections::BTreeMap;
    let mut of_region: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for price in edition("current").prices_of("io2") {
        let region = price.region.as_deref().expect("stated");
        of_region.entry(region).or_default().push(price.usd);
    }
    for (region, usd) in of_region {
        let [capacity, first, second, third] = usd[..] else { panic!("{region}: {usd:?}") };
        assert!(capacity > 0.0);
        assert!((second / first - 0.7).abs() < 0.005, "{region}: {usd:?}");
        assert!((third / first - 0.49).abs() < 0.005, "{region}: {usd:?}");
    }
}
