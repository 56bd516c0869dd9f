//! Statistics of few values: intervals that say how far a figure can be trusted.

mod batch;
mod distribution;
mod interval;
mod ranks;

pub use batch::{AUTOCORRELATION_MAX, BatchMeans, N_BATCHES_MIN};
pub use distribution::{normal_quantile, t_quantile};
pub(crate) use interval::must_be_coverage;
pub use interval::{Interval, mean_interval, median_interval, median_ranks};
pub(crate) use ranks::{pair_interval, paired_interval};
