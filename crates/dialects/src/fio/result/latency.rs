//! A latency as fio prints it: moments, and percentiles or bins.

use hist::{FioMoments, Histogram};
use record::ListedLatency;
use serde_json::Value;

use super::fields::{float, int};

/// Reads `clat_ns` and its like: a histogram where there are bins, else what is listed.
pub(super) fn latency(of: &Value) -> Result<(Histogram, Option<ListedLatency>), String> {
    let n = int(of, "N");
    if n == 0 {
        return Ok((Histogram::new(), None));
    }
    let moments = FioMoments {
        min_ns: int(of, "min"),
        max_ns: int(of, "max"),
        mean_ns: float(of, "mean"),
        stdev_ns: float(of, "stddev"),
    };
    if let Some(bins) = of["bins"].as_object().filter(|bins| !bins.is_empty()) {
        let pair = |(value, n): (&String, &Value)| Some((value.parse().ok()?, n.as_u64()?));
        let bins: Option<Vec<(u64, u64)>> = bins.iter().map(pair).collect();
        let bins = bins.ok_or("a bin is no pair of whole numbers")?;
        let n_in_bins = bins.iter().fold(0_u64, |sum, (_, n)| sum.saturating_add(*n));
        if n_in_bins != n {
            return Err(format!("its bins hold {n_in_bins} values, but {n} were counted"));
        }
        return Ok((Histogram::from_fio_bins(&bins, &moments), None));
    }
    let mut percentiles = Vec::new();
    for (percentile, value) in of["percentile"].as_object().into_iter().flatten() {
        let pair = percentile.parse().ok().zip(value.as_u64());
        percentiles.push(pair.ok_or_else(|| format!("percentile `{percentile}` is no number"))?);
    }
    percentiles.sort_by(|a: &(f64, u64), b| a.0.total_cmp(&b.0));
    let FioMoments { min_ns, max_ns, mean_ns, stdev_ns } = moments;
    Ok((
        Histogram::new(),
        Some(ListedLatency { n, min_ns, max_ns, mean_ns, stdev_ns, percentiles }),
    ))
}
