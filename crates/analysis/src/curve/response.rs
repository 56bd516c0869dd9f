//! Overall response time: one figure for a whole curve.

use super::is_curve;

/// Returns the mean latency over the span of loads: the area under the curve over its width.
///
/// `sum (l_i + l_{i+1}) / 2 (x_{i+1} - x_i) / (x_n - x_1)`. No point at the origin is added: with
/// this form published results come out to their last digit. It does not depend on the unit of
/// load, and does depend on how far the curve goes, so it belongs beside the curve. It is no SPEC
/// metric. None with fewer than two points, or where loads do not ascend.
pub fn overall_response_time(points: &[(f64, f64)]) -> Option<f64> {
    let ((first, _), (last, _)) = (points.first()?, points.last()?);
    if points.len() < 2 || !is_curve(points) {
        return None;
    }
    let strip = |pair: &[(f64, f64)]| f64::midpoint(pair[0].1, pair[1].1) * (pair[1].0 - pair[0].0);
    Some(points.windows(2).map(strip).sum::<f64>() / (last - first))
}
