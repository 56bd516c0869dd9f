//! Caps of disks and of machines, in a closed loop.

use crate::common::*;
use volume::design::CacheMode;

/// A closed loop of 8 KiB against one P30: depth, operations a second, milliseconds.
#[track_caller]
fn check_depth(queue_depth: u64, iops: f64, latency_ms: f64) {
    let outcome = run_one(&one_p30(), Load::writes(queue_depth, 8 * KIB));
    near(outcome.iops, iops, 0.1);
    near(outcome.latency_ms, latency_ms, 0.1);
}

#[test]
fn the_queue_depth_curve_of_one_p30() {
    check_depth(1, 1_000.0, 1.0);
    check_depth(4, 4_000.0, 1.0);
    check_depth(5, 5_000.0, 1.0);
    check_depth(16, 5_000.0, 3.2);
    check_depth(128, 5_000.0, 25.6);
}

/// Block size against one P30: operations and bytes a second, and the cap that binds.
#[track_caller]
fn check_size(len_bytes: u64, iops: f64, binding: &str) {
    let design = one_p30();
    let outcome = run_one(&design, Load::reads(32, len_bytes));
    near(outcome.iops, iops, 0.5);
    near(outcome.bytes_per_s, iops * len_bytes as f64, 0.5);
    let binding_idx = outcome.binding().expect("a cap binds");
    assert_eq!(system(&design).caps()[binding_idx].name, binding);
}

#[test]
fn operations_or_bytes_bind_by_size() {
    check_size(8 * KIB, 5_000.0, "disk /data[0] P30 iops");
    check_size(32 * KIB, 5_000.0, "disk /data[0] P30 iops");
    check_size(64 * KIB, 3_051.76, "disk /data[0] P30 bytes");
    check_size(MIB, 190.73, "disk /data[0] P30 bytes");
}

#[test]
fn two_striped_disks_carry_twice() {
    let disks = || vec![p30(CacheMode::None); 2];
    let design = design(None, vec![volume("/data", disks())]);
    let outcome = run_one(&design, Load::reads(128, 8 * KIB));
    near(outcome.iops, 10_000.0, 0.5);
}
