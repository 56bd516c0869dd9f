//! Block sizes and the mix of directions: shares, room, determinism.

mod common;

use common::workload;
use pattern::{Mix, Sizes};
use plan::Direction;
use plan::workload::BlockSize;
use proptest::prelude::*;

use Direction::{Read, Trim, Write};

const N_DRAWS: u32 = 100_000;

/// Asserts the shares of sizes, in percent, among many draws.
#[track_caller]
fn check_shares(size: &BlockSize, room_bytes: u64, expected: &[(u32, f64)]) {
    let mut sizes = Sizes::new(size, false, 1, 0).unwrap();
    let mut n_by_size = std::collections::BTreeMap::new();
    for _ in 0..N_DRAWS {
        *n_by_size.entry(sizes.next(room_bytes)).or_insert(0_u32) += 1;
    }
    assert!(n_by_size.keys().eq(expected.iter().map(|(bytes, _)| bytes)), "{n_by_size:?}");
    for (bytes, share) in expected {
        let got = f64::from(n_by_size[bytes]) / f64::from(N_DRAWS) * 100.0;
        assert!((got - share).abs() < 0.6, "{bytes} B: {got} %, expected {share} %");
    }
}

#[test]
fn shares_of_a_split() {
    let split = BlockSize::Split(vec![(4096, 10), (65_536, 50), (32_768, 40)]);
    check_shares(&split, u64::MAX, &[(4096, 10.0), (32_768, 40.0), (65_536, 50.0)]);
}

#[test]
fn what_fits_keeps_its_relative_share() {
    let split = BlockSize::Split(vec![(4096, 10), (65_536, 50), (32_768, 40)]);
    check_shares(&split, 40_000, &[(4096, 20.0), (32_768, 80.0)]);
    check_shares(&split, 5000, &[(4096, 100.0)]);
    check_shares(&split, 1000, &[(1000, 100.0)]);
}

#[test]
fn multiples_of_the_smallest_are_equally_likely() {
    let range = BlockSize::Range { min: 4096, max: 16_384 };
    let expected = [4096, 8192, 12_288, 16_384].map(|bytes| (bytes, 25.0));
    check_shares(&range, u64::MAX, &expected);
    check_shares(&range, 9000, &[(4096, 50.0), (8192, 50.0)]);
}

#[test]
fn weights_are_finer_than_percent() {
    let thirds = BlockSize::Weighted(vec![(4096, 333), (16_384, 0), (8192, 333), (65_536, 334)]);
    check_shares(&thirds, u64::MAX, &[(4096, 33.3), (8192, 33.3), (65_536, 33.4)]);
    check_shares(&thirds, 10_000, &[(4096, 50.0), (8192, 50.0)]);
    let weights = BlockSize::Weighted(vec![(512, 1), (4096, u32::MAX), (8192, u32::MAX)]);
    let mut sizes = Sizes::new(&weights, false, 1, 0).unwrap();
    assert!((0..N_DRAWS).all(|_| sizes.next(u64::MAX) > 512));
}

#[test]
fn steps_count_from_the_smallest() {
    let steps = BlockSize::Stepped { min: 512, max: 9000, step: 4096 };
    check_shares(&steps, u64::MAX, &[(512, 33.3), (4608, 33.3), (8704, 33.3)]);
    check_shares(&steps, 5000, &[(512, 50.0), (4608, 50.0)]);
    check_shares(&steps, 100, &[(100, 100.0)]);
}

#[test]
fn unaligned_ranges_take_any_size() {
    let range = BlockSize::Range { min: 1000, max: 1999 };
    let mut sizes = Sizes::new(&range, true, 1, 0).unwrap();
    let seen: std::collections::BTreeSet<u32> = (0..20_000).map(|_| sizes.next(u64::MAX)).collect();
    assert_eq!((seen.len(), seen.first(), seen.last()), (1000, Some(&1000), Some(&1999)));
}

#[test]
fn sizes_that_cannot_be_drawn_are_refused() {
    for size in [
        BlockSize::Fixed(0),
        BlockSize::Range { min: 2, max: 1 },
        BlockSize::Split(vec![]),
        BlockSize::Split(vec![(4096, 0)]),
        BlockSize::Weighted(vec![(4096, 0)]),
        BlockSize::Stepped { min: 512, max: 4096, step: 0 },
        BlockSize::Stepped { min: 4096, max: 512, step: 512 },
    ] {
        assert!(Sizes::new(&size, false, 1, 0).is_err(), "{size:?}");
    }
}

#[track_caller]
fn check_mix(rw: &str, expected: &[Direction]) {
    let mut mix = Mix::new(workload(rw).access, 50.0, 1);
    let got: Vec<Direction> = expected.iter().map(|_| mix.next()).collect();
    assert_eq!(got, expected);
}

#[test]
fn directions_of_unmixed_walks() {
    check_mix("read", &[Read, Read]);
    check_mix("randwrite", &[Write, Write]);
    check_mix("trim", &[Trim, Trim]);
    check_mix("randtrimwrite", &[Trim, Write, Trim, Write]);
}

#[test]
fn share_of_reads() {
    for read_pct in [0.0, 0.5, 1.0, 30.0, 33.3, 50.0, 99.0, 100.0] {
        let mut mix = Mix::new(workload("randrw").access, read_pct, 3);
        let n_reads = (0..N_DRAWS).filter(|_| mix.next() == Read).count();
        let share = n_reads as f64 / f64::from(N_DRAWS) * 100.0;
        assert!((share - read_pct).abs() < 0.5, "{share} for {read_pct}");
    }
}

proptest! {
    #[test]
    fn sizes_stay_in_bounds(
        min in 1_u32..100_000,
        extra in 0_u32..100_000,
        room in 1_u64..400_000,
        seed: u64,
        unaligned: bool,
    ) {
        let range = BlockSize::Range { min, max: min + extra };
        let mut sizes = Sizes::new(&range, unaligned, seed, 0).unwrap();
        for _ in 0..50 {
            let bytes = sizes.next(room);
            prop_assert!(bytes > 0 && u64::from(bytes) <= room);
            prop_assert!(bytes >= min || u64::from(bytes) == room);
            prop_assert!(bytes <= min + extra);
        }
    }
}
