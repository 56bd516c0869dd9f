//! The random order of blocks: a bijection on every domain, as random as a shuffle.

mod common;

use common::runs_deviation;
use pattern::Permutation;
use pattern::permutation::DOMAIN_MAX;
use proptest::prelude::*;

/// Asserts that the blocks `0..n` come out once each.
#[track_caller]
fn check_bijection(n: u64, key: u64) {
    let order = Permutation::new(n, key);
    let mut is_seen = vec![false; n as usize];
    for idx in 0..n {
        let block = order.get(idx);
        assert!(block < n, "block {block} of {n}");
        assert!(!std::mem::replace(&mut is_seen[block as usize], true), "block {block} twice");
    }
}

#[test]
fn small_domains() {
    for n in 1..=300 {
        check_bijection(n, n * 77);
    }
}

#[test]
fn squares_powers_and_their_neighbours() {
    for n in [1023, 1024, 1025, 4095, 4096, 4097, 65_535, 65_536, 65_537, 99_855, 99_856, 99_857] {
        check_bijection(n, 5);
    }
}

#[test]
fn the_largest_domain_stays_in_range() {
    for n in [DOMAIN_MAX, DOMAIN_MAX - 1, (1 << 62) + 1, 3_037_000_499 * 3_037_000_499] {
        let order = Permutation::new(n, 9);
        let mut blocks: Vec<u64> =
            (0..1000).flat_map(|i| [order.get(i), order.get(n - 1 - i)]).collect();
        assert!(blocks.iter().all(|&b| b < n));
        blocks.sort_unstable();
        blocks.dedup();
        assert_eq!(blocks.len(), 2000);
    }
}

#[test]
fn keys_change_the_order() {
    let (a, b) = (Permutation::new(1000, 1), Permutation::new(1000, 2));
    let n_same = (0..1000).filter(|&i| a.get(i) == b.get(i)).count();
    assert!(n_same < 10, "{n_same} of 1000 in the same place");
}

#[test]
fn every_order_of_five_blocks_comes_up() {
    let mut n_by_order = std::collections::BTreeMap::new();
    for key in 0..12_000 {
        let order = Permutation::new(5, key);
        let blocks: [u64; 5] = std::array::from_fn(|i| order.get(i as u64));
        *n_by_order.entry(blocks).or_insert(0_u32) += 1;
    }
    assert_eq!(n_by_order.len(), 120);
    // 100 on average. Halves of two and three values mix slowly: even to within a factor of three.
    assert!(n_by_order.values().all(|n| (33..300).contains(n)), "{n_by_order:?}");
}

#[test]
fn each_place_of_each_block_comes_up_evenly() {
    let n = 64;
    let n_keys = 20_000;
    let mut n_by_place = vec![0_u32; (n * n) as usize];
    for key in 0..n_keys {
        let order = Permutation::new(n, key);
        for idx in 0..n {
            n_by_place[(idx * n + order.get(idx)) as usize] += 1;
        }
    }
    let expected = n_keys as f64 / n as f64;
    let chi_square: f64 =
        n_by_place.iter().map(|&k| (f64::from(k) - expected).powi(2) / expected).sum();
    // (n - 1)^2 degrees of freedom for a table with fixed margins.
    let freedom = ((n - 1) * (n - 1)) as f64;
    assert!((chi_square - freedom).abs() < 5.0 * (2.0 * freedom).sqrt(), "{chi_square}");
}

#[test]
fn small_orders_pass_the_runs_test_as_often_as_a_shuffle() {
    for n in [50, 256, 1000] {
        let n_keys = 1000;
        let n_failed = (0..n_keys)
            .filter(|&key| {
                let order = Permutation::new(n, key);
                let blocks: Vec<u64> = (0..n).map(|idx| order.get(idx)).collect();
                runs_deviation(&blocks).abs() > 1.96
            })
            .count();
        // 5 % of true shuffles fail a test at p = 0.05: 50 of 1000, standard deviation 7.
        assert!((15..90).contains(&n_failed), "{n_failed} of {n_keys} orders of {n} blocks");
    }
}

#[test]
fn distances_between_neighbours_are_even() {
    for n in [4096, 65_535, 65_536, 1_000_003, 1 << 24, 1 << 40] {
        for lag in [1, 2, 7] {
            let order = Permutation::new(n, 3);
            let n_draws = n.min(50_000);
            let mut n_by_distance = [0_u32; 256];
            for idx in lag..n_draws {
                let distance = (order.get(idx) + n - order.get(idx - lag)) % n;
                n_by_distance[(u128::from(distance) * 256 / u128::from(n)) as usize] += 1;
            }
            let expected = (n_draws - lag) as f64 / 256.0;
            let chi_square: f64 =
                n_by_distance.iter().map(|&k| (f64::from(k) - expected).powi(2) / expected).sum();
            // 255 degrees of freedom: standard deviation 22.6.
            assert!(chi_square < 255.0 + 5.0 * 22.6, "{n} blocks, lag {lag}: {chi_square}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn is_a_bijection(n in 1_u64..3_000, key: u64) {
        check_bijection(n, key);
    }

    #[test]
    fn two_indices_never_share_a_block(n in 2_u64..=DOMAIN_MAX, key: u64, i: u64, j: u64) {
        let (i, j) = (i % n, j % n);
        let order = Permutation::new(n, key);
        prop_assert!(order.get(i) < n);
        prop_assert_eq!(i == j, order.get(i) == order.get(j));
    }
}
