//! The bucket layout: no gap, no overlap, and the promised error.

use hist::{N_BUCKETS, bucket_bounds, bucket_index, bucket_mid_ns};
use proptest::prelude::*;

#[track_caller]
fn check(value: u64, index: usize, bounds: (u64, u64)) {
    assert_eq!(bucket_index(value), index);
    assert_eq!(bucket_bounds(index), bounds);
}

#[test]
fn known_buckets() {
    check(0, 0, (0, 0));
    check(127, 127, (127, 127));
    check(128, 128, (128, 128));
    check(255, 255, (255, 255));
    check(257, 256, (256, 257));
    check(1_000, 506, (1_000, 1_003));
    check(u64::MAX, N_BUCKETS - 1, (255 << 56, u64::MAX));
}

#[test]
fn buckets_follow_each_other_without_gap() {
    assert_eq!(N_BUCKETS, 7424);
    for index in 1..N_BUCKETS {
        let (lo, hi) = bucket_bounds(index);
        assert_eq!(lo, bucket_bounds(index - 1).1 + 1);
        assert_eq!((bucket_index(lo), bucket_index(hi)), (index, index));
    }
}

#[test]
fn midpoint_is_within_0_4_percent_of_both_ends() {
    for index in 1..N_BUCKETS {
        let (lo, hi) = bucket_bounds(index);
        let mid = bucket_mid_ns(index);
        let worst = (mid - lo).max(hi - mid) as f64 / lo as f64;
        assert!(worst <= 0.004, "bucket {index}: {worst}");
    }
}

proptest! {
    #[test]
    fn every_value_is_inside_its_bucket(bits in 0..64_u32, raw: u64) {
        let value = raw >> bits;
        let (lo, hi) = bucket_bounds(bucket_index(value));
        prop_assert!(lo <= value && value <= hi);
    }
}
