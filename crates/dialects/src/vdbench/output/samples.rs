//! Samples put together to the intervals that a run asks for.

use record::{Interval, IntervalSeries};

use super::stats::weighted;

/// Adds a later sample.
pub(super) fn append(interval: &mut Interval, later: &Interval) {
    let (step, later_step) = (interval.step_idx, later.step_idx);
    assert!(step == later_step, "samples of the steps {step} and {later_step} are one interval");
    let (end_ms, later_ms) = (interval.end_ms, later.end_ms);
    assert!(end_ms <= later_ms, "a sample until {later_ms} ms comes after one until {end_ms} ms");
    interval.cpu = match (interval.cpu, later.cpu) {
        (Some(mine), Some(theirs)) => {
            Some(weighted(mine, interval.length_ms as f64, theirs, later.length_ms as f64))
        }
        (mine, theirs) => mine.or(theirs),
    };
    interval.end_ms = later.end_ms;
    interval.length_ms = interval.length_ms.saturating_add(later.length_ms);
    interval.ramp &= later.ramp;
    for series in &later.series {
        let known = interval.series.iter_mut().find(|known| is_same(known, series));
        match known {
            Some(known) => add(known, series),
            None => interval.series.push(series.clone()),
        }
    }
}

fn is_same(a: &IntervalSeries, b: &IntervalSeries) -> bool {
    (&a.job, &a.part, &a.op) == (&b.job, &b.part, &b.op)
}

fn add(sum: &mut IntervalSeries, series: &IntervalSeries) {
    sum.n_ios = sum.n_ios.saturating_add(series.n_ios);
    sum.io_bytes = sum.io_bytes.saturating_add(series.io_bytes);
    sum.latency_ns_sum = sum.latency_ns_sum.saturating_add(series.latency_ns_sum);
    sum.latency_ns2_sum += series.latency_ns2_sum;
    sum.latency_ns_max = sum.latency_ns_max.max(series.latency_ns_max);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_that_do_not_follow_each_other_are_reported() {
        let sample = |step_idx, end_ms| Interval { step_idx, end_ms, ..Interval::default() };
        let join = |a: &Interval, b: &Interval| append(&mut a.clone(), b);
        testing::check_wrong_calls(&[
            ("of two steps", "samples of the steps 0 and 1 are one interval", &|| {
                join(&sample(0, 5), &sample(1, 6));
            }),
            ("turned round", "a sample until 5 ms comes after one until 6 ms", &|| {
                join(&sample(0, 6), &sample(0, 5));
            }),
        ]);
        join(&sample(0, 5), &sample(0, 5));
    }
}
