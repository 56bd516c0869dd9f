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

/// Most samples that the intervals of a step are evened to: those of a simulated year are joined.
const N_EVEN_MAX: u64 = 20_000;

/// Returns the intervals of a step after its ramp, without a last one that was cut off.
pub fn measured(record: &Record, step_idx: u32) -> Vec<&Interval> {
    let of_step = |it: &&Interval| it.step_idx == step_idx && !it.ramp;
    let mut intervals: Vec<&Interval> = record.intervals.iter().filter(of_step).collect();
    if is_last_cut_off(&intervals) {
        intervals.pop();
    }
    intervals
}

/// Returns whether the last of the intervals of one step was cut off by its end.
pub fn is_last_cut_off(intervals: &[&Interval]) -> bool {
    let usual_ms = usual_ms(intervals.iter().map(|it| it.length_ms)) as f64;
    let last = intervals.last().filter(|_| intervals.len() > 1);
    last.is_some_and(|last| (last.length_ms as f64) < usual_ms * LENGTH_SHARE_MIN)
}

/// Returns intervals in pieces of about equal length: the usual one, or a longer one where there
/// were more than 20,000 of it. A longer interval is several pieces that all went as it did,
/// shorter ones are joined: then the highest percentile stands for all. What is left at the end is
/// left out. Only the figures of directions are kept.
pub fn evened(intervals: &[&Interval]) -> Vec<Interval> {
    let total_ms = intervals.iter().fold(0_u64, |sum, it| sum.saturating_add(it.length_ms));
    let usual_ms = usual_ms(intervals.iter().map(|it| it.length_ms));
    let wanted_ms = usual_ms.max(total_ms.div_ceil(N_EVEN_MAX)).max(1) as f64;
    let mut even: Vec<Interval> = Vec::with_capacity(intervals.len());
    let mut open: Option<Interval> = None;
    for interval in intervals {
        let joined = match open.take() {
            Some(mut joined) => {
                join(&mut joined, interval);
                joined
            }
            None => Interval { series: Vec::new(), cpu: None, host: None, ..(*interval).clone() },
        };
        let n = joined.length_ms as f64 / wanted_ms;
        if n < LENGTH_SHARE_MIN {
            open = Some(joined);
            continue;
        }
        let n = n.round().clamp(1.0, PIECES_MAX) as u64;
        even.extend((0..n).map(|idx| piece(&joined, idx, n)));
    }
    // Less than a sample, unless it is all there is.
    if even.is_empty() {
        even.extend(open);
    }
    even
}

/// Returns the mean length of samples, seconds; 0 without any.
pub fn sample_s(samples: &[Interval]) -> f64 {
    let total_ms = samples.iter().fold(0_u64, |sum, it| sum.saturating_add(it.length_ms));
    total_ms as f64 / 1000.0 / samples.len().max(1) as f64
}

/// Returns one of `n` equal pieces of an interval. Counts are whole, and add up.
fn piece(interval: &Interval, idx: u64, n: u64) -> Interval {
    let until = |all: u64, idx: u64| (u128::from(all) * u128::from(idx) / u128::from(n)) as u64;
    let part = |all: u64| until(all, idx + 1) - until(all, idx);
    let start_ms = interval.end_ms.saturating_sub(interval.length_ms);
    let mut piece = Interval {
        end_ms: start_ms + until(interval.length_ms, idx + 1),
        length_ms: part(interval.length_ms),
        ..interval.clone()
    };
    for dir in [&mut piece.dirs.read, &mut piece.dirs.write, &mut piece.dirs.trim] {
        dir.n_ios = part(dir.n_ios);
        dir.io_bytes = part(dir.io_bytes);
    }
    piece
}

/// Adds the interval that follows.
fn join(interval: &mut Interval, next: &Interval) {
    interval.end_ms = next.end_ms;
    interval.length_ms += next.length_ms;
    let dirs = &mut interval.dirs;
    let pairs = [
        (&mut dirs.read, &next.dirs.read),
        (&mut dirs.write, &next.dirs.write),
        (&mut dirs.trim, &next.dirs.trim),
    ];
    for (dir, next) in pairs {
        dir.n_ios += next.n_ios;
        dir.io_bytes += next.io_bytes;
        dir.latency.keep_larger(&next.latency);
        match (&mut dir.response, &next.response) {
            (Some(response), Some(next)) => response.latency.keep_larger(&next.latency),
            (None, Some(next)) => dir.response = Some(next.clone()),
            (_, None) => {}
        }
    }
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
