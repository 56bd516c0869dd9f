//! What a caller must not do: each ends with a panic that says what is wrong, in release as well.

use std::panic::catch_unwind;

use volume::design::{Backing, Latency, NetworkVolume};
use volume::limits::cache::WorkingSet;
use volume::limits::{Flow, Load, alone, together};
use volume::{CacheMode, Design};

use crate::common::{cap, design, limit, one_p30, p30, system, vm, volume};

#[track_caller]
fn check(act: impl FnOnce() + std::panic::UnwindSafe, expected: &str) {
    let panic = catch_unwind(act).expect_err("it is accepted");
    let text = panic.downcast_ref::<String>().cloned();
    let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
    let text = text.unwrap_or_default();
    assert!(text.contains(expected), "`{text}` does not say `{expected}`");
}

fn asked(load: Load, demand: Option<f64>) {
    together(&one_p30(), &[Flow { volume: 0, load, demand }]);
}

#[test]
fn a_load_is_one() {
    let load = Load::new(8192, 1.0);
    check(move || drop(alone(&one_p30(), 1, &load)), "volume 1 of 1");
    check(move || asked(Load { size_bytes: 0, ..load }, None), "has bytes");
    check(move || asked(Load { align_bytes: Some(0), ..load }, None), "multiples");
    check(move || asked(Load { read_share: 1.01, ..load }, None), "1.01 is no share of reads");
    check(move || asked(Load { read_share: f64::NAN, ..load }, None), "NaN is no share");
    check(move || asked(Load { hit_ratio: -0.1, ..load }, None), "-0.1 is no share of hits");
    check(move || asked(Load { queue_depth: Some(0), ..load }, None), "none in flight");
    check(move || asked(load, Some(-1.0)), "is no rate");
    check(move || asked(load, Some(f64::NAN)), "is no rate");
}

fn cached() -> Design {
    let vm = vm(cap(5_000, 1 << 30), cap(5_000, 1 << 30), 1 << 30);
    design(Some(vm), vec![volume("/data", vec![p30(CacheMode::ReadOnly)])])
}

#[test]
fn a_working_set_has_a_size() {
    let made = |bytes| WorkingSet::new(&cached(), 0, &Load::new(8192, 1.0), bytes);
    check(move || _ = made(0.0), "0 is no size");
    check(move || _ = made(f64::INFINITY), "inf is no size");
    let warm_up = made(1e9).expect("a cache").warm_up;
    check(move || _ = warm_up.seconds_to(1.0), "1 is no share below 1");
}

#[test]
fn a_design_names_what_is_there() {
    let mut unknown = one_p30();
    unknown.volumes[0].backing = Backing::Network(NetworkVolume {
        level: "own".to_owned(),
        quota: limit(1 << 20),
        ceiling: volume::design::Ceiling::default(),
        pool: Some(0),
        transfer_bytes: 1 << 20,
    });
    check(move || drop(system(&unknown)), "`/data` is in a pool that is missing");
    let mut wide = one_p30();
    wide.volumes[0].latency = Latency { mean_ns: 1_000_000, spread: f64::NAN };
    check(move || drop(system(&wide)), "a latency spreads by NaN");
    let many = design(None, vec![volume("/data", vec![p30(CacheMode::None); 65_535])]);
    check(move || drop(system(&many)), "65535 disks are more than can be numbered");
}

#[test]
fn ranges_have_a_beginning_and_an_end() {
    check(|| system(&cached()).warm(0, u64::MAX, 2), "ends within 64 bits");
    #[expect(clippy::reversed_empty_ranges, reason = "the mistake that is to be found")]
    check(|| system(&cached()).discard(0, 8192..4096), "begins before it ends");
}
