//! When operations are due: exact, without drift, at the rate's mean.

use pattern::{Arrivals, PatternError};
use plan::load::{Arrivals as Spacing, Rate};
use proptest::prelude::*;

const NS_PER_S: u128 = 1_000_000_000;

#[track_caller]
fn check_linear(rate: Rate, len: u32, expected_ns: &[u64]) {
    let mut arrivals = Arrivals::new(Spacing::Linear, rate, 1, 0).unwrap();
    for &due_ns in expected_ns {
        assert_eq!(arrivals.due_ns(), due_ns);
        arrivals.advance(len);
    }
}

#[test]
fn evenly_spaced_operations() {
    check_linear(Rate::Iops(1000), 4096, &[0, 1_000_000, 2_000_000]);
    check_linear(Rate::Iops(3), 4096, &[0, 333_333_333, 666_666_666, 1_000_000_000]);
    check_linear(Rate::Iops(3_000_000_000), 4096, &[0, 0, 0, 1, 1, 1, 2]);
}

#[test]
fn evenly_spaced_bytes() {
    check_linear(Rate::Bytes(4096), 4096, &[0, 1_000_000_000, 2_000_000_000]);
    check_linear(Rate::Bytes(3), 1, &[0, 333_333_333, 666_666_666, 1_000_000_000]);
    check_linear(Rate::Bytes(u64::MAX), u32::MAX, &[0, 0, 0]);
}

#[test]
fn poisson_keeps_its_mean_and_spreads() {
    for rate in [1000, 600_000, 50_000_000] {
        let mut arrivals = Arrivals::new(Spacing::Poisson, Rate::Iops(rate), 2, 0).unwrap();
        // The deviation of the mean of 4 million gaps is 0.05 %.
        let n = 4_000_000_u32;
        let mut n_short = 0;
        let mean_ns = 1e9 / rate as f64;
        for _ in 0..n {
            let before_ns = arrivals.due_ns();
            arrivals.advance(4096);
            n_short += u32::from(((arrivals.due_ns() - before_ns) as f64) < mean_ns);
        }
        let mean_ratio = arrivals.due_ns() as f64 / (f64::from(n) * mean_ns);
        assert!((mean_ratio - 1.0).abs() < 0.001, "{rate}: {mean_ratio}");
        // 1 - 1/e of exponential gaps are below their mean.
        let share = f64::from(n_short) / f64::from(n);
        assert!((share - 0.632).abs() < 0.02, "{rate}: {share}");
    }
}

#[test]
fn even_gaps_keep_their_mean_and_end_at_twice_it() {
    let mut arrivals = Arrivals::new(Spacing::Uniform, Rate::Iops(1000), 2, 0).unwrap();
    let n = 1_000_000_u32;
    let mut n_short = 0;
    for _ in 0..n {
        let before_ns = arrivals.due_ns();
        arrivals.advance(4096);
        let gap_ns = arrivals.due_ns() - before_ns;
        assert!(gap_ns <= 2_000_000, "{gap_ns}");
        n_short += u32::from(gap_ns < 1_000_000);
    }
    let mean_ratio = arrivals.due_ns() as f64 / (f64::from(n) * 1e6);
    assert!((mean_ratio - 1.0).abs() < 0.003, "{mean_ratio}");
    let share = f64::from(n_short) / f64::from(n);
    assert!((share - 0.5).abs() < 0.005, "{share}");
}

#[test]
fn directions_of_a_poisson_process_differ() {
    let due_ns = |idx| {
        let mut arrivals = Arrivals::new(Spacing::Poisson, Rate::Iops(1000), 2, idx).unwrap();
        arrivals.advance(4096);
        arrivals.due_ns()
    };
    assert_ne!(due_ns(0), due_ns(1));
    assert_eq!(due_ns(1), due_ns(1));
}

#[test]
fn a_rate_of_zero_is_refused() {
    for rate in [Rate::Iops(0), Rate::Bytes(0)] {
        let error = Arrivals::new(Spacing::Linear, rate, 1, 0).unwrap_err();
        assert_eq!(error, PatternError::ZeroRate);
    }
}

proptest! {
    #[test]
    fn linear_is_exact(
        rate in 1_u64..20_000_000_000,
        lens in prop::collection::vec(1_u32.., 1..200),
    ) {
        let mut ops = Arrivals::new(Spacing::Linear, Rate::Iops(rate), 1, 0).unwrap();
        let mut bytes = Arrivals::new(Spacing::Linear, Rate::Bytes(rate), 1, 0).unwrap();
        let mut n_bytes = 0_u128;
        for (op_idx, &len) in lens.iter().enumerate() {
            let exact_ns = |amount: u128| (amount * NS_PER_S / u128::from(rate)) as u64;
            prop_assert_eq!(ops.due_ns(), exact_ns(op_idx as u128));
            prop_assert_eq!(bytes.due_ns(), exact_ns(n_bytes));
            ops.advance(len);
            bytes.advance(len);
            n_bytes += u128::from(len);
        }
    }
}
