//! Latency histograms: record, merge, quantile, codec; and fio's views of them.
//!
//! Owns the bucket layout (log-linear, 128 buckets per octave, all of `u64`, worst midpoint error
//! 0.4 %), the histogram that a worker writes while a sampler reads ([`LiveHistogram`]), the plain
//! one that is merged, kept and printed ([`Histogram`]), its versioned bytes, the running mean
//! and deviation of interval samples ([`Stats`]), and the quantiles of the normal distribution.
//!
//! Count, sum and sum of squares are exact integers beside the buckets, so mean and deviation do
//! not depend on bucket width, and merging and subtracting lose nothing.
//!
//! It never reads a clock, does I/O, or knows what a latency was measured from: values are
//! nanoseconds by name only. Serialised JSON belongs to `record`.
//!
//! Tests: `tests/` (against hdrhistogram, brute force and real fio's figures).

mod bucket;
mod codec;
mod fio;
mod histogram;
mod live;
#[cfg(test)]
mod misuse;
mod normal;
mod stats;

pub use bucket::{N_BUCKETS, SUB_BUCKET_BITS, bucket_bounds, bucket_index, bucket_mid_ns};
pub use codec::DecodeError;
pub use fio::{
    FIO_LATENCY_KEYS, FIO_LATENCY_KEYS_MS, FIO_N_BINS, FioLatencyTable, FioMoments,
    coarsen_fio_bins, fio_bucket_value,
};
pub use histogram::Histogram;
pub use live::{LiveHistogram, Zeroed};
pub use normal::normal_quantile;
pub use stats::Stats;
