//! When operations are due under a rate that changes.

use pattern::{Arrivals, Periods};
use plan::load::{Arrivals as Spacing, Rate, RatePeriod, RatePeriods};
use proptest::prelude::*;

const S: u64 = 1_000_000_000;

fn rates(periods: &[(f64, f64)], in_spikes: bool) -> RatePeriods {
    let period = |(rate, seconds): &(f64, f64)| RatePeriod {
        rate: *rate,
        duration_ns: (seconds * 1e9) as u64,
    };
    RatePeriods { periods: periods.iter().map(period).collect(), in_spikes }
}

/// Returns when the first `n` operations are due, at the largest rate as given.
fn due(rates: &RatePeriods, spacing: Spacing, n: usize) -> Vec<u64> {
    let mut periods = Periods::new(rates).expect("a rate above 0");
    let rate = Rate::Iops(rates.rate_max() as u64);
    let mut arrivals = Arrivals::new(spacing, rate, 1, 0).expect("a rate");
    let mut next = || {
        let due_ns = periods.due_ns(arrivals.due_up_ns());
        arrivals.advance(4096);
        due_ns
    };
    (0..n).map(|_| next()).collect()
}

/// Counts the operations due in each of the first `n` seconds.
fn per_second(due: &[u64], n: usize) -> Vec<usize> {
    let of_second = |second: usize| due.iter().filter(|ns| (**ns / S) as usize == second).count();
    (0..n).map(of_second).collect()
}

#[test]
fn each_second_gets_its_rate_over_and_over() {
    #[track_caller]
    fn check(periods: &[(f64, f64)], expected: &[usize]) {
        for in_spikes in [false, true] {
            let due = due(&rates(periods, in_spikes), Spacing::Linear, 5000);
            assert_eq!(per_second(&due, expected.len()), expected, "in spikes: {in_spikes}");
        }
    }
    check(&[(100.0, 2.0), (300.0, 1.0), (7.0, 1.0)], &[100, 100, 300, 7, 100, 100, 300, 7, 100]);
    check(&[(0.0, 2.0), (900.0, 1.0)], &[0, 0, 900, 0, 0, 900, 0, 0, 900]);
    check(&[(1.0, 1.0), (999.0, 1.0), (0.0, 1.0)], &[1, 999, 0, 1, 999, 0, 1]);
    check(&[(250.0, 0.5), (750.0, 0.5)], &[500; 9]);
    check(&[(300.0, 1.0)], &[300; 9]);
}

#[test]
fn operations_are_even_within_a_period_and_across_its_end() {
    let due = due(&rates(&[(2.0, 1.0), (4.0, 1.0)], false), Spacing::Linear, 8);
    let in_ms: Vec<u64> = due.iter().map(|ns| ns / 1_000_000).collect();
    assert_eq!(in_ms, [0, 500, 1000, 1250, 1500, 1750, 2000, 2500]);
}

#[test]
fn spikes_start_with_their_second() {
    let due = due(&rates(&[(3.0, 1.0), (0.0, 1.0), (2.0, 1.0)], true), Spacing::Linear, 8);
    assert_eq!(due, [0, 0, 0, 2 * S, 2 * S, 3 * S, 3 * S, 3 * S]);
}

#[test]
fn random_arrivals_keep_the_mean_of_every_period() {
    let due = due(&rates(&[(10.0, 1.0), (1000.0, 1.0)], false), Spacing::Poisson, 505_000);
    let n_slow = due.iter().filter(|ns| (*ns / S).is_multiple_of(2)).count() as f64;
    let n_cycles = (due[due.len() - 1] / (2 * S)) as f64;
    // Of some 5000 and 500,000 independent events: seven deviations, one of them 70 and 700.
    assert!((n_slow - 10.0 * n_cycles).abs() < 500.0, "{n_slow} in {n_cycles} slow seconds");
    assert!((n_cycles - 500.0).abs() < 5.0, "{n_cycles} cycles");
}

#[test]
fn many_cycles_pass_at_once() {
    let mut periods = Periods::new(&rates(&[(1.0, 1e-6), (3.0, 1e-6)], false)).expect("a rate");
    // Two thirds of the largest rate on average, a century of it at once.
    let century_ns = 100 * 365 * 86_400 * S;
    assert_eq!(periods.due_ns(century_ns), century_ns / 2 * 3);
}

#[test]
fn without_a_rate_there_is_nothing() {
    assert!(Periods::new(&rates(&[], false)).is_none());
    assert!(Periods::new(&rates(&[(0.0, 5.0)], false)).is_none());
    assert!(Periods::new(&rates(&[(5.0, 0.0)], false)).is_none());
    assert!(Periods::new(&rates(&[(f64::NAN, 5.0)], false)).is_none());
}

proptest! {
    #[test]
    fn times_never_fall_and_nothing_overflows(
        written in proptest::collection::vec((0.0_f64..1e18, 0_u64..u64::MAX), 1..9),
        mut asked in proptest::collection::vec(any::<u64>(), 1..40),
        in_spikes: bool,
    ) {
        let period = |(rate, duration_ns): (f64, u64)| RatePeriod { rate, duration_ns };
        let rates = RatePeriods { periods: written.into_iter().map(period).collect(), in_spikes };
        asked.sort_unstable();
        if let Some(mut periods) = Periods::new(&rates) {
            let due: Vec<u64> = asked.iter().map(|ns| periods.due_ns(*ns)).collect();
            prop_assert!(due.is_sorted());
            let at_most = |(due, asked): (&u64, &u64)| in_spikes || due >= asked;
            prop_assert!(due.iter().zip(&asked).all(at_most), "no earlier than at the largest");
        }
    }
}
