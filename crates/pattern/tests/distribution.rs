//! The shapes of uneven spreads.

mod common;

use common::{region, workload};
use pattern::distribution::Spread;
use pattern::{Offsets, PatternError, Rng};
use plan::workload::{Distribution, Workload};
use plan::{Direction, PerDir};

const N_DRAWS: u32 = 200_000;

/// Returns how often each of `n_blocks` comes up.
fn histogram(distribution: &Distribution, n_blocks: u64) -> Vec<u32> {
    let mut spread = Spread::new(distribution, n_blocks, 4096, 11, 0).unwrap();
    let mut rng = Rng::new(5);
    let mut n_by_block = vec![0; n_blocks as usize];
    for _ in 0..N_DRAWS {
        n_by_block[spread.next(&mut rng) as usize] += 1;
    }
    n_by_block
}

/// Asserts that sorted counts follow the weights of ranks.
#[track_caller]
fn check_ranks(distribution: &Distribution, weight: impl Fn(u64) -> f64) {
    let n = 1000;
    let mut counts = histogram(distribution, n);
    counts.sort_unstable_by(|a, b| b.cmp(a));
    let sum: f64 = (1..=n).map(&weight).sum();
    for (rank, &got) in (1..=n).zip(&counts).take(20) {
        let expected = f64::from(N_DRAWS) * weight(rank) / sum;
        let tolerance = 5.0 * expected.sqrt() + 0.01 * expected;
        assert!((f64::from(got) - expected).abs() < tolerance, "rank {rank}: {got}, {expected}");
    }
}

#[test]
fn zipf_has_the_weights_of_its_ranks() {
    for theta in [0.5, 0.99, 1.0, 1.2, 2.5] {
        let distribution = Distribution::Zipf { theta, centre: None };
        // Below 0.9 neighbouring ranks are too close for sorting to tell them apart.
        if theta > 0.9 {
            check_ranks(&distribution, |rank| (rank as f64).powf(-theta));
        }
        let counts = histogram(&distribution, 1000);
        let n_hottest = f64::from(*counts.iter().max().unwrap());
        let sum: f64 = (1..=1000).map(|rank| f64::from(rank).powf(-theta)).sum();
        let expected = f64::from(N_DRAWS) / sum;
        assert!((n_hottest / expected - 1.0).abs() < 0.05, "{theta}: {n_hottest}, {expected}");
    }
}

#[test]
fn pareto_keeps_its_rule() {
    for h in [0.1, 0.2, 0.4] {
        let mut counts = histogram(&Distribution::Pareto { h, centre: None }, 1000);
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let hot: u32 = counts[..(h * 1000.0) as usize].iter().sum();
        let share = f64::from(hot) / f64::from(N_DRAWS);
        assert!((share - (1.0 - h)).abs() < 0.02, "{h}: {share}");
    }
}

#[test]
fn hot_blocks_are_spread_and_the_hottest_lies_at_the_centre() {
    let centre = Some(0.25);
    for distribution in
        [Distribution::Zipf { theta: 1.2, centre }, Distribution::Pareto { h: 0.1, centre }]
    {
        let counts = histogram(&distribution, 1000);
        let hottest = (0..1000).max_by_key(|&block| counts[block]).unwrap();
        assert_eq!(hottest, 250);
        // The hundred hottest lie in both halves.
        let mut blocks: Vec<usize> = (0..1000).collect();
        blocks.sort_unstable_by_key(|&block| std::cmp::Reverse(counts[block]));
        let n_lower = blocks[..100].iter().filter(|&&block| block < 500).count();
        assert!((30..70).contains(&n_lower), "{n_lower}");
    }
}

#[test]
fn normal_has_its_mean_and_deviation() {
    for (centre, mean) in [(None, 500.0), (Some(0.3), 300.0)] {
        let counts = histogram(&Distribution::Normal { deviation_pct: 5.0, centre }, 1000);
        let moment = |power: i32| {
            let sum: f64 = (0..1000)
                .map(|block| f64::from(counts[block]) * (block as f64 + 0.5 - mean).powi(power))
                .sum();
            sum / f64::from(N_DRAWS)
        };
        assert!(moment(1).abs() < 0.6, "{}", moment(1));
        assert!((moment(2).sqrt() - 50.0).abs() < 0.6, "{}", moment(2).sqrt());
    }
}

#[test]
fn normal_stays_inside_at_the_extremes() {
    for centre in [0.0, 0.5, 1.0] {
        let deviation =
            |deviation_pct| Distribution::Normal { deviation_pct, centre: Some(centre) };
        assert!(histogram(&deviation(100.0), 64).iter().all(|&n| n > 0));
        let counts = histogram(&deviation(0.0), 64);
        assert_eq!(counts[((centre * 64.0) as usize).min(63)], N_DRAWS);
    }
}

#[test]
fn zones_have_their_shares() {
    let percent = Distribution::Zoned(vec![(60, 10), (30, 20), (8, 30), (2, 40)]);
    let counts = histogram(&percent, 1000);
    for (blocks, share) in [(0..100, 0.6), (100..300, 0.3), (300..600, 0.08), (600..1000, 0.02)] {
        let got = f64::from(counts[blocks].iter().sum::<u32>()) / f64::from(N_DRAWS);
        assert!((got - share).abs() < 0.005, "{got} for {share}");
    }
    let bytes = Distribution::ZonedAbs(vec![(80, 4096 * 10), (20, 4096 * 90), (10, 4096)]);
    let counts = histogram(&bytes, 100);
    let hot = f64::from(counts[..10].iter().sum::<u32>()) / f64::from(N_DRAWS);
    assert!((hot - 0.8).abs() < 0.005, "{hot}");
}

#[test]
fn listed_blocks_come_over_and_over() {
    let distribution = PerDir::all(Distribution::Sequence(vec![2, 0, 1]));
    let workload = Workload { distribution, ..workload("randread") };
    let mut offsets = Offsets::new(&workload, region(64), 1, 0).unwrap();
    let blocks: Vec<u64> =
        (0..7).filter_map(|_| offsets.next(Direction::Read)).map(|e| e.offset / 4096).collect();
    assert_eq!(blocks, [2, 0, 1, 2, 0, 1, 2]);
}

#[test]
fn a_listed_sequence_moves_on_within_the_region() {
    let distribution = PerDir::all(Distribution::Sequence(vec![2, 0, 1]));
    let workload = Workload { distribution, sequence_advances: true, ..workload("randread") };
    let mut offsets = Offsets::new(&workload, region(32), 1, 0).unwrap();
    let blocks: Vec<u64> =
        (0..9).filter_map(|_| offsets.next(Direction::Read)).map(|e| e.offset / 4096).collect();
    // A third cycle would read block 8 of 8: it starts over instead.
    assert_eq!(blocks, [2, 0, 1, 5, 3, 4, 2, 0, 1]);
}

/// Asserts the share of the draws, in percent, that fall into the first share of the region.
#[track_caller]
fn check_front(distribution: &Distribution, first_pct: f64, expected_pct: f64) {
    const N_BLOCKS: u64 = 1_000_000;
    const N_DRAWS: u32 = 200_000;
    let mut spread = Spread::new(distribution, N_BLOCKS, 4096, 1, 0).unwrap();
    let mut rng = Rng::new(1);
    let end = (first_pct / 100.0 * N_BLOCKS as f64) as u64;
    let n_front = (0..N_DRAWS).filter(|_| spread.next(&mut rng) < end).count();
    let got_pct = n_front as f64 / f64::from(N_DRAWS) * 100.0;
    assert!((got_pct - expected_pct).abs() < 0.5, "{got_pct} %, expected {expected_pct} %");
}

#[test]
fn exponential_spreads_wrap_at_the_end() {
    // The share before x of an exponential distribution with mean m, wrapped at 1:
    // (1 - e^(-x/m)) / (1 - e^(-1/m)).
    for (midpoint, first_pct) in
        [(3.0_f64, 10.0), (3.0, 33.3), (3.0, 66.7), (1.0, 50.0), (9.0, 5.0)]
    {
        let share = (1.0 - (-first_pct / 100.0 * midpoint).exp()) / (1.0 - (-midpoint).exp());
        let distribution = Distribution::Exponential { mean: 1.0 / midpoint };
        check_front(&distribution, first_pct, share * 100.0);
    }
}

#[test]
fn power_spreads_lean_to_the_start() {
    let power = |exponent| Distribution::Power { exponent };
    check_front(&power(1.0), 30.0, 30.0);
    check_front(&power(3.0), 1.0, 21.54);
    check_front(&power(3.0), 10.0, 46.42);
    check_front(&power(3.0), 50.0, 79.37);
}

#[test]
fn the_hot_set_stays_the_same_in_every_pass() {
    let distribution = PerDir::all(Distribution::Zipf { theta: 2.0, centre: None });
    let workload = Workload { distribution, ..workload("randread") };
    let mut offsets = Offsets::new(&workload, region(1 << 20), 1, 0).unwrap();
    let mut hottest = || {
        let mut n_by_offset = std::collections::HashMap::new();
        for _ in 0..1000 {
            *n_by_offset.entry(offsets.next(Direction::Read).unwrap().offset).or_insert(0) += 1;
        }
        offsets.next_pass();
        n_by_offset.into_iter().max_by_key(|&(_, n)| n).unwrap().0
    };
    assert_eq!(hottest(), hottest());
}

#[test]
fn largest_domains_do_not_overflow() {
    for distribution in [
        Distribution::Zipf { theta: 1.1, centre: None },
        Distribution::Zipf { theta: 700.0, centre: Some(1.0) },
        Distribution::Pareto { h: 0.001, centre: None },
        Distribution::Normal { deviation_pct: 100.0, centre: Some(1.0) },
        Distribution::Exponential { mean: 1.0 / 3.0 },
        Distribution::Exponential { mean: 1e300 },
        Distribution::Power { exponent: 3.0 },
        Distribution::Zoned(vec![(1, 100)]),
    ] {
        for n_blocks in [1, 2, 3, (1 << 50) + 1, (1 << 63) - 1] {
            let mut spread = Spread::new(&distribution, n_blocks, 1, 1, 0).unwrap();
            let mut rng = Rng::new(1);
            assert!((0..1000).all(|_| spread.next(&mut rng) < n_blocks), "{distribution:?}");
        }
    }
}

#[test]
fn parameters_out_of_range_are_refused() {
    #[track_caller]
    fn check(distribution: &Distribution, expected: &str) {
        let error = Spread::new(distribution, 100, 4096, 1, 0).unwrap_err();
        assert!(matches!(error, PatternError::Distribution { .. }));
        assert_eq!(error.to_string(), expected);
    }
    let centre = None;
    check(&Distribution::Zipf { theta: 0.0, centre }, "zipf distribution: 0 is out of range");
    check(&Distribution::Pareto { h: 1.0, centre }, "pareto distribution: 1 is out of range");
    check(
        &Distribution::Normal { deviation_pct: f64::NAN, centre },
        "normal distribution: NaN is out of range",
    );
    check(&Distribution::Exponential { mean: 0.0 }, "exponential distribution: 0 is out of range");
    check(&Distribution::Power { exponent: 0.5 }, "power distribution: 0.5 is out of range");
    check(
        &Distribution::Zoned(vec![(100, 0)]),
        "zoned distribution: 0 zones that hold a block is out of range",
    );
}
