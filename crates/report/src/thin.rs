//! Seconds of a run as points of a chart: every one of them, or few that hide nothing.
//!
//! Many seconds become one point with their mean, and a band from their smallest to their largest
//! value, so that a stall of one second stays visible whatever the length of the run. Points never
//! mix steps, ramp and measurement, or what lies on both sides of a gap.

use std::ops::Range;

use record::{Interval, IntervalDir, Record};

/// Most points along time, unless steps or gaps divide it further: more than a screen tells apart.
pub(crate) const POINTS_MAX: usize = 400;

/// A last interval shorter than this share of the longest was cut off by the end of its step: its
/// rate is mostly noise.
const LENGTH_SHARE_MIN: f64 = 0.5;

/// A pause longer than this share of an interval is a gap.
const GAP_SHARE_MIN: f64 = 0.5;

/// The intervals of a run, and how they become points.
#[derive(Debug)]
pub(crate) struct Seconds<'a> {
    pub(crate) intervals: Vec<&'a Interval>,
    /// Which intervals make a point.
    pub(crate) points: Vec<Point>,
    /// Cut-off intervals that were left out.
    pub(crate) n_left_out: usize,
}

/// Intervals that are drawn as one point.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Point {
    pub(crate) of: Range<usize>,
    /// Its end, seconds after the start of the run.
    pub(crate) at_s: f64,
    /// The line does not reach it from the point before.
    pub(crate) is_after_gap: bool,
}

impl<'a> Seconds<'a> {
    /// Takes the intervals out of a record, for at most so many points.
    pub(crate) fn of(record: &'a Record, n_points_max: usize) -> Self {
        let longest_ms = record.intervals.iter().map(|it| it.length_ms).max().unwrap_or(0);
        let is_full = |it: &&Interval| it.length_ms as f64 >= longest_ms as f64 * LENGTH_SHARE_MIN;
        let intervals: Vec<&Interval> = record.intervals.iter().filter(is_full).collect();
        let n_left_out = record.intervals.len() - intervals.len();
        let per_point = intervals.len().div_ceil(n_points_max.max(1)).max(1);
        let mut points = Vec::new();
        let mut from = 0;
        while from < intervals.len() {
            let is_same = |at: usize| belongs(intervals[at - 1], intervals[at], longest_ms);
            let mut to = from + 1;
            while to < intervals.len() && to - from < per_point && is_same(to) {
                to += 1;
            }
            let is_after_gap = from > 0 && is_gap(intervals[from - 1], intervals[from], longest_ms);
            points.push(Point { of: from..to, at_s: end_s(intervals[to - 1]), is_after_gap });
            from = to;
        }
        Seconds { intervals, points, n_left_out }
    }

    /// Returns whether points stand for several intervals.
    pub(crate) fn is_thinned(&self) -> bool {
        self.points.len() < self.intervals.len()
    }

    pub(crate) fn of_point(&self, point: &Point) -> &[&'a Interval] {
        &self.intervals[point.of.clone()]
    }

    /// Returns the start of the first interval, seconds after the start of the run.
    pub(crate) fn start_s(&self) -> f64 {
        self.intervals.first().map_or(0.0, |first| start_s(first))
    }

    /// Returns the end of the last interval, seconds after the start of the run.
    pub(crate) fn end_s(&self) -> f64 {
        self.intervals.last().map_or(0.0, |last| end_s(last))
    }

    /// Returns the mean, the smallest and the largest rate of each point. A second without I/O has
    /// a rate of zero.
    pub(crate) fn rates(&self, count: impl Fn(&Interval) -> u64) -> Vec<Level> {
        let level = |point: &Point| {
            let own = self.of_point(point);
            let rate = |it: &Interval| count(it) as f64 * 1000.0 / it.length_ms.max(1) as f64;
            let n: u64 = own.iter().map(|it| count(it)).fold(0, u64::saturating_add);
            let length_ms: u64 = own.iter().map(|it| it.length_ms).fold(0, u64::saturating_add);
            let middle = n as f64 * 1000.0 / length_ms.max(1) as f64;
            Level::of(middle, own.iter().map(|it| rate(it)))
        };
        self.points.iter().map(level).collect()
    }

    /// Returns a figure that cannot be averaged, such as a percentile of each second: the median,
    /// the smallest and the largest of the seconds. None where no second has one.
    pub(crate) fn figures(&self, figure: impl Fn(&Interval) -> Option<u64>) -> Vec<Option<Level>> {
        let level = |point: &Point| {
            let known = self.of_point(point).iter().filter_map(|it| figure(it));
            let mut values: Vec<f64> = known.map(|ns| ns as f64).collect();
            values.sort_by(f64::total_cmp);
            let middle = *values.get(values.len() / 2)?;
            Some(Level::of(middle, values.into_iter()))
        };
        self.points.iter().map(level).collect()
    }
}

/// A point's value, and the ends of what it stands for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Level {
    pub(crate) middle: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Level {
    fn of(middle: f64, values: impl Iterator<Item = f64>) -> Self {
        let start = Level { middle, low: middle, high: middle };
        values.fold(start, |level, value| Level {
            low: level.low.min(value),
            high: level.high.max(value),
            ..level
        })
    }
}

/// Sums something over directions.
pub(crate) fn total(interval: &Interval, of: impl Fn(&IntervalDir) -> u64) -> u64 {
    interval.dirs.iter().map(|(_, dir)| of(dir)).fold(0, u64::saturating_add)
}

/// Returns the end of an interval, seconds after the start of the run.
pub(crate) fn end_s(interval: &Interval) -> f64 {
    interval.end_ms as f64 / 1000.0
}

/// Returns the start of an interval, seconds after the start of the run.
pub(crate) fn start_s(interval: &Interval) -> f64 {
    interval.end_ms.saturating_sub(interval.length_ms) as f64 / 1000.0
}

fn belongs(before: &Interval, after: &Interval, longest_ms: u64) -> bool {
    before.ramp == after.ramp && !is_gap(before, after, longest_ms)
}

fn is_gap(before: &Interval, after: &Interval, longest_ms: u64) -> bool {
    let start_ms = after.end_ms.saturating_sub(after.length_ms);
    let pause_ms = start_ms.saturating_sub(before.end_ms);
    before.step_idx != after.step_idx || pause_ms as f64 > longest_ms as f64 * GAP_SHARE_MIN
}
