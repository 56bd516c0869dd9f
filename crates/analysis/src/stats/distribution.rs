//! Quantiles of Student's distribution, by bisection of its integral.
//!
//! Bisection instead of a rational approximation: an interval is made once per figure, so speed
//! does not matter, and there is no table of constants to mistype.

pub use hist::normal_quantile;

/// Steps of bisection: each halves the range, and a 64-bit number has 53 digits.
const N_STEPS: u32 = 60;

/// Returns the value below which Student's t with `n_free` degrees of freedom lies with
/// probability `p`. None unless `0 < p < 1` and `n_free > 0`.
pub fn t_quantile(p: f64, n_free: f64) -> Option<f64> {
    if !(p > 0.0 && p < 1.0 && n_free > 0.0 && n_free.is_finite()) {
        return None;
    }
    if p < 0.5 {
        return t_quantile(1.0 - p, n_free).map(|t| -t);
    }
    let (mut low, mut high) = (0.0, 1.0);
    while upper_tail(high, n_free) > 1.0 - p && high < 1e300 {
        high *= 2.0;
    }
    for _ in 0..N_STEPS {
        let middle = f64::midpoint(low, high);
        if upper_tail(middle, n_free) > 1.0 - p { low = middle } else { high = middle }
    }
    Some(f64::midpoint(low, high))
}

/// Returns the probability that t lies above `t`, for `t >= 0`.
fn upper_tail(t: f64, n_free: f64) -> f64 {
    let square = t * t;
    0.5 * incomplete_beta(square / (n_free + square), n_free / (n_free + square), 0.5, n_free / 2.0)
}

/// Returns `1 - I_x(a, b)`, the upper part of the regularised incomplete beta function; `rest` is
/// `1 - x`, given apart because it would lose its digits.
fn incomplete_beta(x: f64, rest: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 {
        return 1.0;
    }
    if rest <= 0.0 {
        return 0.0;
    }
    let front = (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * rest.ln()).exp();
    // The fraction converges fast on one side of the mean only.
    if x < (a + 1.0) / (a + b + 2.0) {
        1.0 - front * beta_fraction(x, a, b) / a
    } else {
        front * beta_fraction(rest, b, a) / b
    }
}

/// The continued fraction of the incomplete beta function, by Lentz's method.
fn beta_fraction(x: f64, a: f64, b: f64) -> f64 {
    let nonzero = |value: f64| if value.abs() < 1e-300 { 1e-300 } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / nonzero(1.0 - (a + b) * x / (a + 1.0));
    let mut result = d;
    for step in 1..1000_u32 {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        for term in [even, odd] {
            d = 1.0 / nonzero(1.0 + term * d);
            c = nonzero(1.0 + term / c);
            result *= c * d;
        }
        if (c * d - 1.0).abs() < 1e-15 {
            break;
        }
    }
    result
}

/// Returns the logarithm of the gamma function for `x > 0`: Stirling's series after moving `x`
/// above 16, where its next term is below 1e-17.
pub(super) fn ln_gamma(x: f64) -> f64 {
    let mut x = x;
    let mut moved = 0.0;
    while x < 16.0 {
        moved += x.ln();
        x += 1.0;
    }
    let inverse = 1.0 / x;
    let square = inverse * inverse;
    let series = inverse
        * (1.0 / 12.0
            - square
                * (1.0 / 360.0
                    - square * (1.0 / 1260.0 - square * (1.0 / 1680.0 - square / 1188.0))));
    (x - 0.5) * x.ln() - x + 0.5 * (2.0 * std::f64::consts::PI).ln() + series - moved
}

/// Returns the probability that of `n` throws of a coin fewer than `k` show heads.
pub(super) fn coin_below(k: usize, n: usize) -> f64 {
    let n_log = ln_gamma(n as f64 + 1.0);
    let terms = (0..k.min(n + 1)).map(|i| {
        let chosen = n_log - ln_gamma(i as f64 + 1.0) - ln_gamma((n - i) as f64 + 1.0);
        (chosen - n as f64 * std::f64::consts::LN_2).exp()
    });
    terms.sum()
}
