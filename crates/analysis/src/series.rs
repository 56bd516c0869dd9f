//! Small figures of a series of equally spaced values.
//!
//! All return none where a value is missing or not finite: a gap in a series must not become a
//! number.

/// Returns the arithmetic mean; none without values or with one that is not finite.
pub fn mean(values: &[f64]) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    mean.is_finite().then_some(mean)
}

/// Returns the median: the middle value, or the mean of the two middle ones.
pub fn median(values: &[f64]) -> Option<f64> {
    let sorted = sorted(values)?;
    let middle = sorted.len() / 2;
    match sorted.len() % 2 {
        1 => Some(sorted[middle]),
        _ => Some(f64::midpoint(sorted[middle - 1], sorted[middle])),
    }
}

/// Returns the sample standard deviation (n - 1); none with fewer than two values.
pub fn stdev(values: &[f64]) -> Option<f64> {
    let mean = mean(values).filter(|_| values.len() > 1)?;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Some((squares / (values.len() - 1) as f64).sqrt())
}

/// Returns the slope per step of the least-squares line; none with fewer than two values.
pub fn slope(values: &[f64]) -> Option<f64> {
    let mean = mean(values).filter(|_| values.len() > 1)?;
    // Around the centre, where the sums of the textbook form lose no digits.
    let center = (values.len() - 1) as f64 / 2.0;
    let (mut products, mut squares) = (0.0, 0.0);
    for (idx, value) in values.iter().enumerate() {
        let distance = idx as f64 - center;
        products += distance * (value - mean);
        squares += distance * distance;
    }
    Some(products / squares)
}

/// Returns the lag-1 autocorrelation, -1 to 1: how much a value resembles the one before it.
///
/// `sum (y_i - m)(y_{i+1} - m) / sum (y_i - m)^2`. None with fewer than three values, or where all
/// are equal.
pub fn autocorrelation(values: &[f64]) -> Option<f64> {
    let mean = mean(values).filter(|_| values.len() > 2)?;
    let (products, squares) = lag_products(values, mean);
    (squares > 0.0).then(|| products / squares)
}

/// Returns the sums of the products of neighbours and of the squares, as distances from `mean`.
pub(crate) fn lag_products(values: &[f64], mean: f64) -> (f64, f64) {
    let products = values.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum();
    let squares = values.iter().map(|value| (value - mean).powi(2)).sum();
    (products, squares)
}

/// Returns the medians of `n_rounds` stretches of equal length; what is left over at the start is
/// not used. None with fewer values than rounds.
///
/// The median, because it may be taken of percentiles too, whose means say nothing.
pub fn rounds(values: &[f64], n_rounds: usize) -> Option<Vec<f64>> {
    let round_len = values.len().checked_div(n_rounds).filter(|len| *len > 0)?;
    let left_over = values.len() - round_len * n_rounds;
    values[left_over..].chunks_exact(round_len).map(median).collect()
}

/// Returns the values in ascending order; none if there is none, or one is not finite.
pub(crate) fn sorted(values: &[f64]) -> Option<Vec<f64>> {
    if values.is_empty() || !values.iter().all(|value| value.is_finite()) {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    Some(sorted)
}
