//! Seconds of a run as points of a chart: every one of them, or few that hide nothing.
//!
//! Many seconds become one point with their mean, and a band from their smallest to their largest
//! value, so that a stall of one second stays visible whatever the length of the run. Points never
//! mix steps, ramp and measurement, or what lies on both sides of a gap.

use std::ops::Range;

use analysis::sampled::{is_last_cut_off, per_s, usual_ms};
use record::{Interval, IntervalDir, Record};

use crate::view::preparations;

/// Most points along time, unless steps or gaps divide it further: more than a screen tells apart.
pub(crate) const POINTS_MAX: usize = 400;

/// A pause longer than this share of the usual interval is a gap.
const GAP_SHARE_MIN: f64 = 0.5;

/// An interval this many times as long as those around it is drawn from its start to its end.
const LONG_MIN: f64 = 1.5;

/// Intervals to each side that count as around it. A long simulation goes on in longer ones: these
/// have neighbours of their length.
const N_AROUND: usize = 3;

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
    /// Where it starts, if it is much longer than its neighbours: it is drawn from there.
    pub(crate) long_from_s: Option<f64>,
}

impl<'a> Seconds<'a> {
    /// Takes the intervals of all results out of a record, for at most so many points.
    pub(crate) fn of(record: &'a Record, n_points_max: usize) -> Self {
        let preparations = preparations(record);
        let is_result = |it: &&Interval| !preparations.contains(&it.step_idx);
        let all: Vec<&Interval> = record.intervals.iter().filter(is_result).collect();
        let usual_ms = usual_ms(all.iter().map(|it| it.length_ms));
        let intervals = whole(&all);
        let n_left_out = all.len() - intervals.len();
        let per_point = intervals.len().div_ceil(n_points_max.max(1)).max(1);
        let mut points = Vec::new();
        let mut from = 0;
        while from < intervals.len() {
            let is_same = |at: usize| belongs(intervals[at - 1], intervals[at], usual_ms);
            let mut to = from + 1;
            while to < intervals.len() && to - from < per_point && is_same(to) {
                to += 1;
            }
            let is_after_gap = from > 0 && is_gap(intervals[from - 1], intervals[from], usual_ms);
            let is_long = to == from + 1 && is_long(&intervals, from);
            let long_from_s = is_long.then(|| start_s(intervals[from]));
            let at_s = end_s(intervals[to - 1]);
            points.push(Point { of: from..to, at_s, is_after_gap, long_from_s });
            from = to;
        }
        Seconds { intervals, points, n_left_out }
    }

    /// Returns the length of the longest interval that is drawn from its start to its end, seconds.
    pub(crate) fn longest_s(&self) -> Option<f64> {
        let long = self.points.iter().filter_map(|point| Some(point.at_s - point.long_from_s?));
        long.max_by(f64::total_cmp)
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
            let rate = |it: &Interval| per_s(it, count(it));
            let n: u64 = own.iter().map(|it| count(it)).fold(0, u64::saturating_add);
            let length_ms: u64 = own.iter().map(|it| it.length_ms).fold(0, u64::saturating_add);
            let middle = n as f64 * 1000.0 / length_ms.max(1) as f64;
            Level::of(middle, own.iter().map(|it| rate(it)))
        };
        self.points.iter().map(level).collect()
    }

    /// Returns a figure that cannot be averaged, such as a percentile of each second: the median
    /// over time, the smallest and the largest of the seconds. None where no second has one.
    pub(crate) fn figures(&self, figure: impl Fn(&Interval) -> Option<u64>) -> Vec<Option<Level>> {
        let level = |point: &Point| {
            let own = self.of_point(point).iter();
            let mut known: Vec<(u64, u64)> =
                own.filter_map(|it| Some((figure(it)?, it.length_ms.max(1)))).collect();
            known.sort_unstable();
            let middle = median_over_time(&known)?;
            Some(Level::of(middle as f64, known.into_iter().map(|(ns, _)| ns as f64)))
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

/// Returns the value that holds for half of the time, of values in ascending order with how long
/// each holds.
fn median_over_time(known: &[(u64, u64)]) -> Option<u64> {
    let all: u64 = known.iter().map(|(_, length_ms)| *length_ms).fold(0, u64::saturating_add);
    let mut passed: u64 = 0;
    let is_beyond = |(_, length_ms): &&(u64, u64)| {
        passed = passed.saturating_add(*length_ms);
        passed > all / 2
    };
    known.iter().find(is_beyond).map(|(value, _)| *value)
}

/// Returns intervals without what the ends of steps cut off.
fn whole<'a>(all: &[&'a Interval]) -> Vec<&'a Interval> {
    let is_one = |a: &&Interval, b: &&Interval| a.step_idx == b.step_idx && a.ramp == b.ramp;
    let own = |stretch: &[&Interval]| stretch.len() - usize::from(is_last_cut_off(stretch));
    let stretches = all.chunk_by(is_one);
    stretches.flat_map(|stretch| stretch[..own(stretch)].to_vec()).collect()
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

/// Returns whether an interval is much longer than those around it.
fn is_long(intervals: &[&Interval], at: usize) -> bool {
    let around = at.saturating_sub(N_AROUND)..(at + N_AROUND + 1).min(intervals.len());
    let usual_ms = usual_ms(intervals[around].iter().map(|it| it.length_ms));
    intervals[at].length_ms as f64 >= usual_ms as f64 * LONG_MIN
}

fn belongs(before: &Interval, after: &Interval, usual_ms: u64) -> bool {
    before.ramp == after.ramp && !is_gap(before, after, usual_ms)
}

fn is_gap(before: &Interval, after: &Interval, usual_ms: u64) -> bool {
    let start_ms = after.end_ms.saturating_sub(after.length_ms);
    let pause_ms = start_ms.saturating_sub(before.end_ms);
    before.step_idx != after.step_idx || pause_ms as f64 > usual_ms as f64 * GAP_SHARE_MIN
}
