//! A latency as fio prints it: moments, and percentiles or bins.

use hist::{FioMoments, Histogram};
use record::ListedLatency;
use serde_json::Value;

use super::ResultError;
use super::fields::Fields;

/// A histogram where there are bins, else what is listed.
pub(super) type Read = (Histogram, Option<ListedLatency>);

/// Reads `clat_ns` and its like. Before 3.17 fio did not say how many values there were (`N`);
/// then it is `n_ios`, unless a latency has bins, or was not measured.
pub(super) fn latency(of: &Fields<'_>, n_ios: u64) -> Result<Read, ResultError> {
    let bins = bins(of)?;
    let n_in_bins = bins.iter().fold(0_u64, |sum, (_, n)| sum.saturating_add(*n));
    let n = match (of.has("N"), n_in_bins) {
        (true, _) => of.count("N")?,
        (false, 0) if of.number("max")? == 0.0 => 0,
        (false, 0) => n_ios,
        (false, n) => n,
    };
    if n == 0 {
        return Ok((Histogram::new(), None));
    }
    of.need(&["min", "max", "mean"])?;
    let moments = FioMoments {
        min_ns: of.count("min")?,
        max_ns: of.count("max")?,
        mean_ns: of.amount("mean")?,
        stdev_ns: of.amount("stddev")?,
    };
    if moments.min_ns > moments.max_ns {
        return Err(of.wrong("max", &format!("at least the least value, {}", moments.min_ns)));
    }
    if !bins.is_empty() {
        if n_in_bins != n {
            let wanted = format!("as many values as the bins hold, {n_in_bins}");
            return Err(of.wrong("N", &wanted));
        }
        return Ok((Histogram::from_fio_bins(&bins, &moments), None));
    }
    let percentiles = percentiles(of)?;
    let listed = ListedLatency {
        n,
        min_ns: Some(moments.min_ns),
        max_ns: Some(moments.max_ns),
        mean_ns: moments.mean_ns,
        stdev_ns: Some(moments.stdev_ns),
        percentiles,
    };
    Ok((Histogram::new(), Some(listed)))
}

fn bins(of: &Fields<'_>) -> Result<Vec<(u64, u64)>, ResultError> {
    let bins = of.object("bins")?;
    let pair = |(value, _): (&String, &Value)| {
        let value_ns =
            value.parse().map_err(|_| bins.wrong(value, "a count under a whole number"))?;
        Ok((value_ns, bins.count(value)?))
    };
    bins.pairs().map(pair).collect()
}

/// Returns the percentiles that are listed, 0 to 100, with their values in nanoseconds, by
/// percentile.
pub(super) fn percentiles(of: &Fields<'_>) -> Result<Vec<(f64, u64)>, ResultError> {
    let listed = of.object("percentile")?;
    let mut percentiles: Vec<(f64, u64)> = Vec::new();
    // Up to 3.16 fio filled its list of twenty up with entries of this name.
    for (key, _) in listed.pairs().filter(|(key, _)| *key != "0.00") {
        let percentile = key.parse().ok().filter(|it| (0.0..=100.0).contains(it));
        let percentile =
            percentile.ok_or_else(|| listed.wrong(key, "a value under a number from 0 to 100"))?;
        listed.need(&[key])?;
        percentiles.push((percentile, listed.count(key)?));
    }
    percentiles.sort_by(|a, b| a.0.total_cmp(&b.0));
    if let Some(at) = percentiles.windows(2).find(|pair| pair[0].1 > pair[1].1) {
        let wanted = format!("values that rise, but after {} comes {}", at[0].1, at[1].1);
        return Err(of.wrong("percentile", &wanted));
    }
    Ok(percentiles)
}
