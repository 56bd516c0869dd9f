//! How much is carried at a latency, such as IOPS at 1 ms.

use super::is_curve;

/// The load at which a latency is reached.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LoadAt {
    /// Between two measured points, on the straight line that joins them.
    Reached {
        /// The load.
        load: f64,
        /// The curve comes below the latency again at a higher load: the figure is the first
        /// crossing.
        comes_back: bool,
    },
    /// Even the largest measured load is faster: the load lies above this.
    Above(f64),
    /// Even the smallest measured load is slower: the load lies below this.
    Below(f64),
    /// No points, or loads do not ascend.
    Unknown,
}

/// Finds the load at which the latency of `points` (load, latency) first exceeds `latency`.
pub fn load_at(points: &[(f64, f64)], latency: f64) -> LoadAt {
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return LoadAt::Unknown };
    if !is_curve(points) || !latency.is_finite() {
        return LoadAt::Unknown;
    }
    let Some(over) = points.iter().position(|point| point.1 > latency) else {
        return LoadAt::Above(last.0);
    };
    let Some(under) = over.checked_sub(1) else { return LoadAt::Below(first.0) };
    let (low, high) = (points[under], points[over]);
    let part = (latency - low.1) / (high.1 - low.1);
    let comes_back = points[over..].iter().any(|point| point.1 <= latency);
    LoadAt::Reached { load: low.0 + part * (high.0 - low.0), comes_back }
}
