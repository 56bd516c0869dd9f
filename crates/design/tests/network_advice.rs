//! The rules about NFS: each where it applies, and where it does not.

use catalog::{Catalog, Cloud};
use design::netapp::{self, Machines, Options};
use design::{Market, Need, PhaseNeed, Terms, VolumeNeed, judge};

/// Returns the rules for a volume of so much at one load, on so many machines.
fn rules(gib: f64, machines: u32, load: PhaseNeed) -> Vec<String> {
    let catalog = Catalog::built_in();
    let terms = Terms {
        machines: vec!["Standard_D32s_v5".to_owned()],
        ..Terms::new(Cloud::Azure, Some("westeurope"))
    };
    let market = Market::new(catalog, terms).expect("a market");
    let volume = VolumeNeed {
        mount: "/mnt/data".to_owned(),
        capacity_gib: gib,
        is_shared: true,
        phases: vec![load],
        ..VolumeNeed::default()
    };
    let need = Need { volumes: vec![volume], ..Need::default() };
    let options = Options { machines: Machines::Exactly(machines), ..Options::default() };
    let found = netapp::search(&market, &need, &options).expect("a need");
    let best = found.designs.first().expect("a design");
    let design = netapp::parse(&market, &need, best).expect("what is found is a design");
    let all = netapp::advice(&design, &need, &judge(&design, &need));
    assert!(all.iter().all(|it| !it.reason.is_empty() && !it.source.is_empty()), "{all:#?}");
    all.into_iter().map(|it| it.rule).collect()
}

fn load(iops: f64, size_kib: u64, read_share: f64) -> PhaseNeed {
    PhaseNeed {
        phase: "peak".to_owned(),
        iops,
        size_bytes: size_kib << 10,
        read_share,
        ..PhaseNeed::default()
    }
}

#[track_caller]
fn check(rule: &str, applies: &[String], does_not: &[String]) {
    assert!(applies.iter().any(|it| it.contains(rule)), "`{rule}` is not in {applies:#?}");
    assert!(!does_not.iter().any(|it| it.contains(rule)), "`{rule}` is in {does_not:#?}");
}

#[test]
fn each_rule_has_a_case_for_it_and_one_against() {
    let small = rules(100.0, 1, load(1_000.0, 8, 0.7));
    let large_ios = rules(100.0, 1, load(500.0, 256, 0.7));
    let read_only = rules(100.0, 4, load(1_000.0, 8, 1.0));
    let written = rules(100.0, 4, load(1_000.0, 8, 0.7));
    let deep = rules(100.0, 1, load(100_000.0, 4, 1.0));
    let many = rules(100.0, 8, load(1_000.0, 8, 0.7));
    let fast = rules(100.0, 4, load(40_000.0, 64, 0.7));
    let full = rules(4000.0, 1, load(1_000.0, 8, 0.7));
    let huge = rules(110_000.0, 1, load(1_000.0, 8, 0.7));
    check("rsize=262144,wsize=262144", &large_ios, &small);
    check("mount with nocto,actimeo=600", &read_only, &written);
    check("leave nocto and long actimeo out", &written, &small);
    check("tcp_max_slot_table_entries", &deep, &small);
    check("keep all machines together at 3000 calls", &many, &small);
    check("keep its quota", &fast, &full);
    check("one large volume", &huge, &full);
    check("nconnect=8", &small, &[]);
}
