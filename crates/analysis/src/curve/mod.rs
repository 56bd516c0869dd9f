//! Figures of a curve: what is measured at several loads of one volume.
//!
//! The functions take pairs (load, latency) in ascending order of load, in any units. Each returns
//! none rather than a figure that the points do not carry, and none extrapolates.

mod depth;
mod knee;
mod point;
mod response;
mod usl;

pub use depth::depth_for;
pub use knee::{Knees, knees};
pub use point::Point;
pub use response::overall_response_time;
pub use usl::{N_POINTS_MIN, Usl, UslError, UslFit};

/// Returns whether pairs are finite and their loads strictly ascend.
fn is_curve(points: &[(f64, f64)]) -> bool {
    points.iter().all(|(load, latency)| load.is_finite() && latency.is_finite())
        && points.windows(2).all(|pair| pair[0].0 < pair[1].0)
}
