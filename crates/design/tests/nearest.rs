//! What comes nearest to a need that nothing carries.

use catalog::{Catalog, Cloud};
use design::{Lack, Market, Nearest, Need, Options, PhaseNeed, Terms, VolumeNeed, nearest};

/// Of machines whose limits no source gives the largest part would be that of their disks alone.
#[test]
fn a_design_with_an_unknown_limit_is_not_the_nearest() {
    for (cloud, region) in [(Cloud::Aws, "us-east-1"), (Cloud::Gcp, "us-central1")] {
        let terms = Terms::new(cloud, Some(region));
        let market = Market::new(Catalog::built_in(), terms).expect("a market");
        let phase = PhaseNeed {
            phase: "peak".to_owned(),
            iops: 90e6,
            size_bytes: 8192,
            read_share: 0.7,
            random_share: 1.0,
            ..PhaseNeed::default()
        };
        let volume = VolumeNeed {
            mount: "/data".to_owned(),
            capacity_gib: 100.0,
            phases: vec![phase],
            ..VolumeNeed::default()
        };
        let need = Need { volumes: vec![volume], ..Need::default() };
        let found = nearest(&market, &need, &Options::default()).expect("a need");
        let Nearest::Part { of: Lack::Ios, part, design } = found else { panic!("{found:?}") };
        assert!(part > 0.0 && part < 1.0, "{part}");
        assert!(!design.price.is_open, "{region}: {design:?}");
    }
}
