//! Where a curve bends: Kneedle.
//!
//! V. Satopaa et al., "Finding a 'Kneedle' in a Haystack", 2011. Latency over load rises ever
//! faster, so both axes are scaled to 0..1 and turned round, and the distance from the diagonal is
//! looked at; a local maximum from which it falls far enough is a knee.
//!
//! A knee depends on how far the curve goes. So all of them are returned, with the sensitivity and
//! with what they become when points are left out. The load line does not depend on the range, and
//! comes first in a report.

use super::is_curve;

/// The knees of a curve, and how much they can be trusted.
#[derive(Clone, Debug, PartialEq)]
pub struct Knees {
    /// How far the distance must fall after a candidate, in mean steps of load. Usually 1.
    pub sensitivity: f64,
    /// Smallest and largest load of the curve.
    pub range: (f64, f64),
    /// Every knee, in ascending order of load; empty where there is none.
    pub knees: Vec<Knee>,
    /// The loads of the knees after leaving out the last point, and the last two.
    pub truncated: Vec<Vec<f64>>,
    /// Smallest and largest load of a knee when any one point is left out.
    pub leave_one_out: Option<(f64, f64)>,
}

/// A bend.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Knee {
    /// Its load.
    pub load: f64,
    /// Its latency.
    pub latency: f64,
    /// Distance from the diagonal, 0 to 1: how sharp the bend is.
    pub distance: f64,
}

impl Knees {
    /// Returns the loads of the knees.
    pub fn loads(&self) -> Vec<f64> {
        self.knees.iter().map(|knee| knee.load).collect()
    }
}

/// Latency at the slowest point over that at the fastest one from which on a curve has a bend: a
/// curve is scaled before bends are looked for, so that the noise of a level one looks like them.
const RISE_MIN: f64 = 1.2;

/// Finds the knees of `points` (load, latency). None with fewer than three points, where loads do
/// not ascend, or where latency rises by less than a fifth.
///
/// # Panics
/// If the sensitivity is not above 0: every point would be a knee.
pub fn knees(points: &[(f64, f64)], sensitivity: f64) -> Option<Knees> {
    assert!(sensitivity > 0.0, "knees are looked for with the sensitivity {sensitivity}");
    let found = find(points, sensitivity)?;
    let loads = |points: &[(f64, f64)]| -> Vec<f64> {
        let found = find(points, sensitivity).unwrap_or_default();
        found.iter().map(|knee| knee.load).collect()
    };
    let n = points.len();
    let truncated = (1..=2).map(|cut| loads(&points[..n.saturating_sub(cut)])).collect();
    let left_out = (0..n).flat_map(|idx| loads(&[&points[..idx], &points[idx + 1..]].concat()));
    let leave_one_out = left_out.fold(None, |range: Option<(f64, f64)>, load| {
        let (low, high) = range.unwrap_or((load, load));
        Some((low.min(load), high.max(load)))
    });
    let range = (points[0].0, points[n - 1].0);
    Some(Knees { sensitivity, range, knees: found, truncated, leave_one_out })
}

fn find(points: &[(f64, f64)], sensitivity: f64) -> Option<Vec<Knee>> {
    if points.len() < 3 || !is_curve(points) {
        return None;
    }
    let (x_min, x_span) = span(points.iter().map(|point| point.0))?;
    let (y_min, y_span) = span(points.iter().map(|point| point.1))?;
    if y_min + y_span < RISE_MIN * y_min {
        return None;
    }
    // Turned round: from the highest load to the lowest.
    let distances: Vec<f64> =
        points.iter().rev().map(|(x, y)| (x - x_min) / x_span - (y - y_min) / y_span).collect();
    let fall = sensitivity / (points.len() - 1) as f64;
    let is_peak =
        |idx: usize| distances[idx] >= distances[idx - 1] && distances[idx] >= distances[idx + 1];
    let peaks: Vec<usize> = (1..points.len() - 1).filter(|idx| is_peak(*idx)).collect();
    let mut knees = Vec::new();
    for &peak in &peaks {
        let distance = distances[peak];
        let is_higher = |idx: &&usize| **idx > peak && distances[**idx] > distance;
        let end = peaks.iter().find(is_higher).copied().unwrap_or(points.len());
        if distances[peak..end].iter().any(|after| *after < distance - fall) {
            let (load, latency) = points[points.len() - 1 - peak];
            knees.push(Knee { load, latency, distance });
        }
    }
    knees.reverse();
    Some(knees)
}

/// Returns the smallest value and the distance to the largest; none if that is 0.
fn span(values: impl Iterator<Item = f64> + Clone) -> Option<(f64, f64)> {
    let min = values.clone().fold(f64::INFINITY, f64::min);
    let max = values.fold(f64::NEG_INFINITY, f64::max);
    (max > min).then_some((min, max - min))
}
