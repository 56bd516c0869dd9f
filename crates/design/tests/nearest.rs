//! What comes nearest to a need that nothing carries.

use catalog::{Arch, Catalog, Cloud};
use design::{
    Lack, Market, Nearest, Need, Options, PhaseNeed, Terms, VolumeNeed, nearest, search,
    unsized_machines,
};

/// Random I/Os of 8 KiB on one volume, 70 % reads.
fn need(iops: f64, capacity_gib: f64) -> Need {
    let phase = PhaseNeed {
        phase: "peak".to_owned(),
        iops,
        size_bytes: 8192,
        read_share: 0.7,
        random_share: 1.0,
        ..PhaseNeed::default()
    };
    let volume = VolumeNeed {
        mount: "/data".to_owned(),
        capacity_gib,
        phases: vec![phase],
        ..VolumeNeed::default()
    };
    Need { volumes: vec![volume], ..Need::default() }
}

/// Of machines whose limits no source gives the largest part would be that of their disks alone.
#[test]
fn a_design_with_an_unknown_limit_is_not_the_nearest() {
    for (cloud, region) in [(Cloud::Aws, "us-east-1"), (Cloud::Gcp, "us-central1")] {
        let terms = Terms::new(cloud, Some(region));
        let market = Market::new(Catalog::built_in(), terms).expect("a market");
        let need = need(90e6, 100.0);
        let found = nearest(&market, &need, &Options::default()).expect("a need");
        let Nearest::Part { of: Lack::Ios, part, design } = found else { panic!("{found:?}") };
        assert!(part > 0.0 && part < 1.0, "{part}");
        assert!(!design.price.is_open, "{region}: {design:?}");
    }
}

/// In westeurope three P15 (USD 41.82 each) carry the load. E8bs_v5 (0.712 an hour) has 64 GiB;
/// what E8as_v6 (0.577) has stands in no table.
#[test]
fn a_cheaper_machine_whose_memory_is_not_known_is_found_beside_those_that_are_ranked() {
    let terms = Terms::new(Cloud::Azure, Some("westeurope"));
    let market = Market::new(Catalog::built_in(), terms).expect("a market");
    let need = Need { memory_gib: Some(64.0), ..need(3000.0, 200.0) };
    let options = Options { n_kept: 1, ..Options::default() };
    let best = search(&market, &need, &options).expect("a need").designs.remove(0);
    assert_eq!((best.machine.as_str(), cents(best.price.usd())), ("Standard_E8bs_v5", 64_522));
    let unsized_of = |need: &Need, best| unsized_machines(&market, need, &options, best);
    let found = unsized_of(&need, best.price).expect("a need").expect("a machine");
    // One of each series: of E, whose known sizes have 8 GiB for each processor, with 8 of these.
    let of_e = found.designs.iter().find(|it| it.machine.starts_with("Standard_E"));
    let of_e = of_e.expect("the series E");
    assert_eq!((of_e.machine.as_str(), cents(of_e.price.usd())), ("Standard_E8as_v6", 54_667));
    assert_eq!((of_e.volumes[0].disk.as_str(), of_e.volumes[0].n_disks), ("P15", 3));
    assert!(found.designs.iter().all(|it| it.price.is_open), "each is marked");
    assert!(found.designs.is_sorted_by_key(|it| it.price), "{found:?}");
    let edition = Catalog::built_in().edition("current").expect("the current one");
    let of_azure = edition.vms().iter().filter(|size| size.cloud() == Some(Cloud::Azure));
    let of_intel = of_azure.filter(|size| size.arch() != Some(Arch::Arm));
    assert_eq!(found.n_machines, of_intel.filter(|size| size.memory().is_none()).count());
    // Nothing of the kind is cheaper than the cheapest, and where no memory is asked none is apart.
    let cheaper = design::Price { is_open: false, ..found.designs[0].price };
    assert_eq!(unsized_of(&need, cheaper).expect("a need"), None);
    let any = Need { memory_gib: None, ..need };
    assert_eq!(unsized_of(&any, best.price).expect("a need"), None);
}

fn cents(usd: f64) -> u64 {
    (usd * 100.0).round() as u64
}
