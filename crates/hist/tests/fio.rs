//! fio's bins, percentiles and latency tables, against brute force and figures of the real one.

mod common;

use common::{histogram_of, latencies};
use hist::{
    FIO_LATENCY_KEYS, FIO_N_BINS, FioLatencyTable, FioMoments, Histogram, coarsen_fio_bins,
    fio_bucket_value,
};
use proptest::prelude::*;

/// The published layout: below 128 a bin each, then 64 per octave, the last from 2^34 - 2^27 on.
fn bin_by_search(value: u64) -> usize {
    let starts = (0..FIO_N_BINS as u64).map(|bin| match bin {
        0..128 => bin,
        _ => (64 + bin % 64) << (bin / 64 - 1),
    });
    starts.take_while(|&start| start <= value).count() - 1
}

#[test]
fn bin_values_are_middles() {
    let values = [0, 127, 128, 129, 192, 1855, 9999].map(fio_bucket_value);
    assert_eq!(values, [0, 127, 129, 131, 258, 17_112_760_320, 17_112_760_320]);
}

#[test]
fn values_beyond_17_s_saturate_the_last_bin() {
    let bins = histogram_of(&[1 << 34, u64::MAX]).to_fio_bins();
    assert_eq!((bins.len(), bins[FIO_N_BINS - 1]), (FIO_N_BINS, 2));
    assert_eq!(histogram_of(&[u64::MAX]).fio_percentiles(&[50.0]), [17_112_760_320]);
}

/// Expected ranks come from a C program with x86 `long double`, as fio computes.
#[track_caller]
fn check_rank(percentile: f64, count: u64, rank: u64) {
    let mut hist = Histogram::new();
    hist.record_n(10, rank);
    hist.record_n(20, count - rank);
    assert_eq!(hist.fio_percentiles(&[percentile]), [10]);
    let mut hist = Histogram::new();
    hist.record_n(10, rank - 1);
    hist.record_n(20, count - (rank - 1));
    assert_eq!(hist.fio_percentiles(&[percentile]), [20]);
}

#[test]
fn ranks_round_as_on_x86() {
    check_rank(0.001, 1, 1);
    check_rank(0.001, 100_000, 2);
    check_rank(0.001, 1_000_000, 11);
    check_rank(33.3, 1_000, 333);
    check_rank(33.3, u64::MAX, 6_142_765_776_545_280_164);
    check_rank(50.0, 3, 2);
    check_rank(66.6, 123_457, 82_223);
    check_rank(95.0, 1_000_000, 950_000);
    check_rank(99.0, 100_000, 99_000);
    check_rank(99.9, 1_000, 1_000);
    check_rank(99.9, u64::MAX, 18_428_297_329_635_843_112);
    check_rank(99.95, 10_000, 9_996);
    check_rank(99.95, 100_000, 99_951);
    check_rank(99.95, 1_000_000, 999_501);
    check_rank(100.0, u64::MAX, u64::MAX);
}

#[test]
fn percentiles_of_the_ends() {
    let hist = histogram_of(&[200, 300]);
    assert_eq!(hist.fio_percentiles(&[0.0, 1e-200, 100.0, 150.0]), [0, 201, 302, 302]);
    assert_eq!(Histogram::new().fio_percentiles(&[50.0]), [0]);
}

#[track_caller]
fn check_table(latency_ns: u64, place: impl Fn(&mut FioLatencyTable) -> &mut u64) {
    let mut expected = FioLatencyTable::default();
    *place(&mut expected) = 1;
    assert_eq!(histogram_of(&[latency_ns]).fio_latency_table(), expected);
}

#[test]
fn latency_table_counts_below_each_key() {
    check_table(0, |t| &mut t.ns[0]);
    check_table(2, |t| &mut t.ns[1]);
    check_table(999, |t| &mut t.ns[9]);
    check_table(1_000, |t| &mut t.us[0]);
    check_table(1_999, |t| &mut t.us[0]);
    check_table(250_000, |t| &mut t.us[7]);
    check_table(999_999, |t| &mut t.us[9]);
    check_table(1_000_000, |t| &mut t.ms[0]);
    check_table(1_999_999_999, |t| &mut t.ms[10]);
    check_table(2_000_000_000, |t| &mut t.ms[11]);
    check_table(u64::MAX, |t| &mut t.ms[11]);
}

#[test]
fn coarser_bins_keep_the_total() {
    let bins = histogram_of(&[1, 2, 3, 4]).to_fio_bins();
    let coarse = coarsen_fio_bins(&bins, 2);
    assert_eq!((coarse.len(), coarse[0], coarse[1]), (464, 3, 1));
    assert_eq!(coarsen_fio_bins(&bins, 99).len(), 29);
}

proptest! {
    #[test]
    fn bins_agree_with_brute_force(values in latencies()) {
        let mut expected = vec![0; FIO_N_BINS];
        for &value in &values { expected[bin_by_search(value)] += 1; }
        prop_assert_eq!(histogram_of(&values).to_fio_bins(), expected);
    }

    #[test]
    fn percentiles_agree_with_brute_force(values in latencies(), percents in 1..=100_u64) {
        prop_assume!(!values.is_empty());
        let hist = histogram_of(&values);
        let mut cumulative = 0;
        let mut bins = hist.to_fio_bins().into_iter();
        let reached = bins.position(|n| {
            cumulative += n;
            cumulative * 100 >= percents * hist.count()
        });
        // Products that are whole only without rounding are the table's business, above.
        prop_assume!(!(percents * hist.count()).is_multiple_of(100));
        prop_assert_eq!(
            hist.fio_percentiles(&[percents as f64]),
            [fio_bucket_value(reached.unwrap())]
        );
    }

    #[test]
    fn latency_table_is_complete_and_nearly_exact(values in latencies()) {
        let table = histogram_of(&values).fio_latency_table();
        let entries = table.ns.iter().chain(&table.us).chain(&table.ms);
        prop_assert_eq!(entries.sum::<u64>(), values.len() as u64);
        let mut below = 0;
        for (entry, key) in table.us.iter().zip(FIO_LATENCY_KEYS) {
            let key_ns = key * 1000;
            let near = |v: u64| v.abs_diff(key_ns) <= key_ns / 100;
            below += entry;
            let exact = values.iter().filter(|&&v| (1000..key_ns).contains(&v)).count() as u64;
            let slack = values.iter().filter(|&&v| near(v)).count() as u64;
            prop_assert!(below.abs_diff(exact) <= slack);
        }
    }
}

/// Returns a histogram as fio's `json+` shows it.
fn printed(hist: &Histogram) -> (Vec<(u64, u64)>, FioMoments) {
    let bins = hist.to_fio_bins().into_iter().enumerate().filter(|(_, n)| *n > 0);
    let bins = bins.map(|(bin, n)| (fio_bucket_value(bin), n)).collect();
    let moments = FioMoments {
        min_ns: hist.min_ns().unwrap_or(0),
        max_ns: hist.max_ns().unwrap_or(0),
        mean_ns: hist.mean_ns().unwrap_or(0.0),
        stdev_ns: hist.stdev_ns().unwrap_or(0.0),
    };
    (bins, moments)
}

proptest! {
    #[test]
    fn what_fio_printed_is_read_back(
        values in prop::collection::vec(1_u64..17_000_000_000, 1..200),
    ) {
        let hist = histogram_of(&values);
        let (bins, moments) = printed(&hist);
        let back = Histogram::from_fio_bins(&bins, &moments);
        prop_assert_eq!(back.count(), hist.count());
        prop_assert_eq!(back.min_ns(), hist.min_ns());
        prop_assert_eq!(back.max_ns(), hist.max_ns());
        prop_assert_eq!(back.to_fio_bins(), hist.to_fio_bins());
        let (mean, back_mean) = (moments.mean_ns, back.mean_ns().unwrap());
        prop_assert!((back_mean - mean).abs() <= mean * 1e-9 + 1.0, "{} {}", back_mean, mean);
        let percentiles = [1.0, 50.0, 99.0, 99.9];
        prop_assert_eq!(back.fio_percentiles(&percentiles), hist.fio_percentiles(&percentiles));
        prop_assert_eq!(Histogram::decode(&back.encode()), Ok(back));
    }
}

#[test]
fn bins_that_contradict_their_moments_make_no_nonsense() {
    let lie = FioMoments { min_ns: 9, max_ns: 3, mean_ns: 1e9, stdev_ns: 1e18 };
    let hist = Histogram::from_fio_bins(&[(129, 2), (700, 1)], &lie);
    assert_eq!(hist.count(), 3);
    assert!(hist.mean_ns().unwrap() <= 704.0, "{hist:?}");
    assert!(Histogram::from_fio_bins(&[], &lie).is_empty());
}
