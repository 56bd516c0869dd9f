//! The intervals of a run as figures that each stand for the same time.
//!
//! A host that pauses or a reporter that is late makes one interval longer than the others. What
//! happened in it is part of the run and counts for as long as it lasted. Only a last interval that
//! the end of a step cut off is left out: its figures are mostly noise.

use record::{Interval, Record};

/// A last interval shorter than this share of the usual length was cut off by the end.
const LENGTH_SHARE_MIN: f64 = 0.9;

/// Most pieces of the usual length that one interval counts as: an hour of seconds. Only a record
/// that no run wrote has a longer one.
pub const PIECES_MAX: f64 = 3600.0;

/// Returns the intervals of a step after its ramp, without a last one that was cut off.
pub fn measured(record: &Record, step_idx: u32) -> Vec<&Interval> {
    let of_step = |it: &&Interval| it.step_idx == step_idx && !it.ramp;
    let mut intervals: Vec<&Interval> = record.intervals.iter().filter(of_step).collect();
    if is_last_cut_off(&intervals) {
        intervals.pop();
    }
    intervals
}

/// Says whether the last of the intervals of one step was cut off by its end.
pub fn is_last_cut_off(intervals: &[&Interval]) -> bool {
    let usual_ms = usual_ms(intervals.iter().map(|it| it.length_ms)) as f64;
    let last = intervals.last().filter(|_| intervals.len() > 1);
    last.is_some_and(|last| (last.length_ms as f64) < usual_ms * LENGTH_SHARE_MIN)
}

/// Returns the usual length of intervals, milliseconds: the median, of two in the middle the longer
/// one. A single long one does not move it.
pub fn usual_ms(lengths_ms: impl Iterator<Item = u64>) -> u64 {
    let mut lengths_ms: Vec<u64> = lengths_ms.collect();
    lengths_ms.sort_unstable();
    lengths_ms.get(lengths_ms.len() / 2).copied().unwrap_or(0)
}

/// A figure over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sampled {
    /// Its mean, each interval weighed by its length. 0 without any.
    pub mean: f64,
    /// Its values, each for one interval of the usual length: a longer interval stands as often as
    /// it is longer, shorter ones are joined.
    pub samples: Vec<f64>,
}

impl Sampled {
    /// Gathers the figures of intervals, with the length of each in milliseconds.
    pub fn of(figures: &[(u64, f64)]) -> Self {
        let usual_ms = usual_ms(figures.iter().map(|(length_ms, _)| *length_ms)).max(1) as f64;
        let mut samples = Vec::with_capacity(figures.len());
        let (mut all, mut open) = ((0.0, 0.0), (0.0, 0.0));
        for (length_ms, value) in figures {
            let length_ms = (*length_ms).max(1) as f64;
            all = (all.0 + length_ms, all.1 + length_ms * value);
            open = (open.0 + length_ms, open.1 + length_ms * value);
            // Periods of a clock differ a little.
            if open.0 >= usual_ms * LENGTH_SHARE_MIN {
                let n = (open.0 / usual_ms).round().clamp(1.0, PIECES_MAX) as usize;
                samples.extend(std::iter::repeat_n(open.1 / open.0, n));
                open = (0.0, 0.0);
            }
        }
        Sampled { mean: if all.0 > 0.0 { all.1 / all.0 } else { 0.0 }, samples }
    }
}

impl From<&[f64]> for Sampled {
    /// Takes samples of equal lengths.
    fn from(samples: &[f64]) -> Self {
        Sampled { mean: crate::series::mean(samples).unwrap_or(0.0), samples: samples.to_vec() }
    }
}

/// Returns the rate of something in an interval, per second.
pub fn per_s(interval: &Interval, count: u64) -> f64 {
    count as f64 * 1000.0 / interval.length_ms.max(1) as f64
}
