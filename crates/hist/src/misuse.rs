//! What a wrong caller meets: each check that stays on in release, failed on purpose.

use crate::histogram::{Histogram, Moments};
use crate::{FIO_N_BINS, N_BUCKETS, bucket_bounds, bucket_mid_ns, coarsen_fio_bins};

fn three() -> Histogram {
    let mut hist = Histogram::new();
    hist.record_n(10, 3);
    hist
}

#[test]
fn a_wrong_call_panics() {
    let moments = Moments { sum_ns: 1, sum_squares: 1, min_ns: 1, max_ns: 1 };
    testing::check_wrong_calls(&[
        ("bounds of no bucket", "bucket 7424 of 7424", &|| _ = bucket_bounds(N_BUCKETS)),
        ("the middle of no bucket", "bucket 9999 of 7424", &|| _ = bucket_mid_ns(9999)),
        ("rank 0", "rank 0 of 3 values", &|| _ = three().index_at_rank(0)),
        ("a rank beyond the last", "rank 4 of 3 values", &|| _ = three().index_at_rank(4)),
        ("buckets beyond the last", "2 buckets from 7423 on", &|| {
            _ = Histogram::from_counts(N_BUCKETS - 1, vec![1, 1], &moments);
        }),
        ("a range that ends before it begins", "5 to 4", &|| three().cover(5, 4)),
        ("a range beyond the last bucket", "0 to 7424", &|| three().cover(0, N_BUCKETS)),
        ("bins that are not fio's", "29 bins, and fio has 1856", &|| {
            _ = coarsen_fio_bins(&[0; 29], 1);
        }),
    ]);
    assert_eq!(coarsen_fio_bins(&[1; FIO_N_BINS], 6), [64; 29]);
}
