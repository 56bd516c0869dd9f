//! The Universal Scalability Law, fitted only where the points bracket its peak.
//!
//! `X(N) = g N / (1 + s (N - 1) + k N (N - 1))`, with the throughput `g` of one, contention `s`
//! and coherency `k`; its peak is at `sqrt((1 - s) / k)` (N. Gunther, perfdynamics.com). Fitted by
//! least squares of relative errors.
//!
//! Where the peak is not bracketed the fit is worth nothing: of simulated curves up to 32, whose
//! peak is at 49, fits place it between 32 and 30,574. So there is none then, and never a figure
//! beyond the points.

use crate::stats::{Interval, t_quantile};

/// Fewest points of a fit.
pub const N_POINTS_MIN: usize = 6;

/// The parameters of the law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Usl {
    /// Throughput of one (`g`).
    pub of_one: f64,
    /// Contention (`s`): the share of work that waits for others.
    pub contention: f64,
    /// Coherency (`k`): the cost of agreeing, per pair.
    pub coherency: f64,
}

impl Usl {
    /// Returns the throughput of `n`.
    pub fn throughput(&self, n: f64) -> f64 {
        self.of_one * n / self.divisor(n)
    }

    /// Returns where throughput is highest; none where it rises for ever.
    pub fn peak_n(&self) -> Option<f64> {
        let square = (1.0 - self.contention) / self.coherency;
        (square > 0.0 && square.is_finite()).then(|| square.sqrt())
    }

    fn divisor(&self, n: f64) -> f64 {
        1.0 + self.contention * (n - 1.0) + self.coherency * n * (n - 1.0)
    }
}

/// A fit, with what it is worth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UslFit {
    /// The parameters.
    pub usl: Usl,
    /// Where throughput is highest.
    pub peak_n: f64,
    /// Its interval, 95 %.
    pub peak_interval: Interval,
    /// Smallest and largest `N` that was measured: the fit holds between them only.
    pub range: (f64, f64),
    /// Standard deviation of the points from the fit, as a share.
    pub error_share: f64,
}

/// Why there is no fit.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum UslError {
    /// Too few points.
    #[error("{n_points} points are too few for a fit; it takes {N_POINTS_MIN}")]
    TooFewPoints {
        /// Points there are.
        n_points: usize,
    },
    /// A figure is not above 0, or `N` does not ascend.
    #[error("the points are not a curve of throughput: N ascends, and all figures are above 0")]
    NotACurve,
    /// The points do not show a peak.
    #[error("throughput may still rise beyond {n_max}: measure until it falls")]
    PeakNotBracketed {
        /// Largest `N` that was measured.
        n_max: f64,
    },
}

/// How many standard deviations the last point must lie below the highest to show that throughput
/// has passed its peak.
const FALL_ERRORS: f64 = 2.0;

/// Least fall from the highest point to the last that shows a peak, as a share. A volume at a cap
/// is level but for how its periods are cut.
const FALL_MIN: f64 = 0.005;

impl UslFit {
    /// Fits the law to points (`N`, throughput) in ascending order of `N`.
    pub fn of(points: &[(f64, f64)]) -> Result<Self, UslError> {
        if points.len() < N_POINTS_MIN {
            return Err(UslError::TooFewPoints { n_points: points.len() });
        }
        let is_positive = points.iter().all(|(n, x)| *n > 0.0 && *x > 0.0);
        if !is_positive || !super::is_curve(points) {
            return Err(UslError::NotACurve);
        }
        let (n_min, n_max) = (points[0].0, points[points.len() - 1].0);
        let unbracketed = UslError::PeakNotBracketed { n_max };
        let (usl, inverse) = fit(points).ok_or(unbracketed)?;
        let peak_n = usl.peak_n().ok_or(unbracketed)?;
        let errors = points.iter().map(|(n, x)| (usl.throughput(*n) / x - 1.0).powi(2));
        let n_free = (points.len() - 3) as f64;
        let error_share = (errors.sum::<f64>() / n_free).sqrt();
        // The peak's error follows from those of contention and coherency.
        let slopes = [0.0, -1.0 / (2.0 * usl.coherency * peak_n), -peak_n / (2.0 * usl.coherency)];
        let variance: f64 =
            (0..9).map(|at| slopes[at / 3] * inverse[at / 3][at % 3] * slopes[at % 3]).sum();
        let t = t_quantile(0.975, n_free).ok_or(unbracketed)?;
        let half_width = t * error_share * variance.max(0.0).sqrt();
        let (low, high) = (peak_n - half_width, peak_n + half_width);
        let highest = points.iter().map(|point| point.1).fold(0.0, f64::max);
        let fall = 1.0 - points[points.len() - 1].1 / highest;
        let has_fallen = fall > 0.0 && fall > FALL_ERRORS * error_share;
        let is_peak_seen = high <= n_max || has_fallen && peak_n < n_max;
        if !is_peak_seen || fall < FALL_MIN || peak_n <= n_min {
            return Err(unbracketed);
        }
        let peak_interval = Interval { low, high, coverage: 0.95 };
        Ok(UslFit { usl, peak_n, peak_interval, range: (n_min, n_max), error_share })
    }
}

type Matrix = [[f64; 3]; 3];

/// Steps of the iteration; it doubles its digits with each, from a start within a few percent.
const N_STEPS: u32 = 50;

/// Returns the parameters, and the inverse of their normal matrix.
fn fit(points: &[(f64, f64)]) -> Option<(Usl, Matrix)> {
    let mut usl = start(points)?;
    let mut inverse = None;
    for _ in 0..N_STEPS {
        let rows = points.iter().map(|(n, x)| {
            let modelled = usl.throughput(*n);
            let by_divisor = -modelled / usl.divisor(*n) / x;
            let slopes =
                [n / usl.divisor(*n) / x, by_divisor * (n - 1.0), by_divisor * n * (n - 1.0)];
            (slopes, 1.0 - modelled / x)
        });
        let (step, found) = least_squares(rows)?;
        inverse = Some(found);
        usl = Usl {
            of_one: usl.of_one + step[0],
            contention: usl.contention + step[1],
            coherency: usl.coherency + step[2],
        };
    }
    let figures = [usl.of_one, usl.contention, usl.coherency];
    let is_usable = figures.iter().all(|figure| figure.is_finite()) && usl.of_one > 0.0;
    inverse.filter(|_| is_usable).map(|inverse| (usl, inverse))
}

/// Returns a first guess: `N / X` is a polynomial in `N`, linear in its three factors.
fn start(points: &[(f64, f64)]) -> Option<Usl> {
    let rows = points.iter().map(|(n, x)| ([x / n, x / n * (n - 1.0), x * (n - 1.0)], 1.0));
    let ([one, contention, coherency], _) = least_squares(rows)?;
    (one > 0.0).then(|| Usl {
        of_one: 1.0 / one,
        contention: contention / one,
        coherency: coherency / one,
    })
}

/// Solves `sum (slopes * result - value)^2` for its least, and returns the inverse of the normal
/// matrix too. None where the points do not tell the parameters apart.
fn least_squares(rows: impl Iterator<Item = ([f64; 3], f64)>) -> Option<([f64; 3], Matrix)> {
    let mut normal = [[0.0; 3]; 3];
    let mut right = [0.0; 3];
    for (slopes, value) in rows {
        for i in 0..3 {
            right[i] += slopes[i] * value;
            for j in 0..3 {
                normal[i][j] += slopes[i] * slopes[j];
            }
        }
    }
    let inverse = inverted(&normal)?;
    Some((inverse.map(|row| (0..3).map(|j| row[j] * right[j]).sum()), inverse))
}

/// Inverts a symmetric positive matrix by Gauss and Jordan, after scaling its diagonal to 1: its
/// entries differ by many orders of magnitude.
fn inverted(matrix: &Matrix) -> Option<Matrix> {
    let scale = [matrix[0][0].sqrt(), matrix[1][1].sqrt(), matrix[2][2].sqrt()];
    let mut left = [[0.0; 3]; 3];
    let mut right = [[0.0; 3]; 3];
    for i in 0..3 {
        right[i][i] = 1.0;
        for j in 0..3 {
            left[i][j] = matrix[i][j] / (scale[i] * scale[j]);
        }
    }
    for pivot in 0..3 {
        let by = left[pivot][pivot];
        if !(by.abs() > 1e-14 && by.is_finite()) {
            return None;
        }
        left[pivot] = left[pivot].map(|value| value / by);
        right[pivot] = right[pivot].map(|value| value / by);
        for row in (0..3).filter(|row| *row != pivot) {
            let times = left[row][pivot];
            for column in 0..3 {
                left[row][column] -= times * left[pivot][column];
                right[row][column] -= times * right[pivot][column];
            }
        }
    }
    for i in 0..3 {
        for j in 0..3 {
            right[i][j] /= scale[i] * scale[j];
        }
    }
    Some(right)
}
