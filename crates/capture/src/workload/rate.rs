//! Rates as a plan has them.

/// Digits of a rate.
const RATE_DIGITS: i32 = 4;

/// Returns what a printed rate can be off by, as a share.
pub(super) fn rate_rounding() -> f64 {
    10_f64.powi(1 - RATE_DIGITS)
}

/// Prints a rate with its digits.
pub(super) fn rate_text(rate: f64) -> String {
    let digits = (RATE_DIGITS - 1 - rate.max(1e-9).log10().floor() as i32).clamp(0, 12) as usize;
    let text = format!("{rate:.digits$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}
