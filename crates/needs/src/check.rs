//! What figures cannot be, alone and together.

use crate::{Amount, Figure, Label, NeedLoad};

/// Largest figure of any kind; more is no I/O of one machine.
const MOST: f64 = 1e15;

/// Smallest I/O, KiB: a byte, rounded up to the digits of the file.
const IO_SIZE_KIB_MIN: f64 = 0.001;

/// Rounding that makes nothing greater than something else, as a share.
const ROUNDING: f64 = 1e-9;

/// Published units of a megabyte differ by so much, as a share.
const MB_TOLERANCE: f64 = 0.05;

/// Returns the largest value that a key's figure may have, by the unit at its end.
fn most(key: &str) -> f64 {
    if key.ends_with("_percent") { 100.0 } else { MOST }
}

fn check_number(key: &str, what: &str, value: f64) -> Result<(), String> {
    let most = most(key);
    if value.is_finite() && value >= 0.0 && value <= most * (1.0 + ROUNDING) {
        return Ok(());
    }
    let (number, most) = (crate::number(value), crate::number(most));
    Err(format!("`{key}`{what} is {number}, expected 0 to {most}"))
}

/// Checks a figure: its numbers are in range, and no percentile is above a later one.
///
/// # Errors
/// Returns what contradicts what.
pub fn check_figure(key: &str, figure: &Figure) -> Result<(), String> {
    let known = figure.values().into_iter().filter_map(|(name, value)| Some((name, value?)));
    let known: Vec<(&str, f64)> = known.collect();
    if known.is_empty() {
        let text = format!("`{key}` has no number: write one, or {{ p50 = .., p99 = .. }}");
        return Err(text);
    }
    for (name, value) in &known {
        check_number(key, &format!(", {name}"), *value)?;
    }
    let order = [
        ("min", figure.min),
        ("p50", figure.p50),
        ("p90", figure.p90),
        ("p99", figure.p99),
        ("max", figure.max),
    ];
    let mut before: Option<(&str, f64)> = None;
    for (name, value) in order {
        let Some(value) = value else { continue };
        if let Some((other, smaller)) = before
            && smaller > value * (1.0 + ROUNDING)
        {
            let (smaller, value) = (crate::number(smaller), crate::number(value));
            return Err(format!("`{key}`: {other} is {smaller}, above {name}, which is {value}"));
        }
        before = Some((name, value));
    }
    let is_outside = |mean: &f64| {
        figure.min.is_some_and(|min| *mean < min * (1.0 - ROUNDING))
            || figure.max.is_some_and(|max| *mean > max * (1.0 + ROUNDING))
    };
    if let Some(mean) = figure.mean.filter(is_outside) {
        let mean = crate::number(mean);
        return Err(format!("`{key}`: the mean is {mean}, which is not between min and max"));
    }
    let largest = known.iter().fold(0.0, |largest: f64, (_, value)| largest.max(*value));
    if key == "io_size_kib" && largest < IO_SIZE_KIB_MIN {
        return Err(format!("`{key}` is 0: leave it out where it is not known"));
    }
    Ok(())
}

/// Checks an amount: it is in range.
///
/// # Errors
/// Returns what it is, and what is expected.
pub fn check_amount(key: &str, amount: &Amount) -> Result<(), String> {
    check_number(key, "", amount.value)
}

/// Checks IOPS, size and throughput of a load against each other. What was counted is as it was:
/// only with a part that a person wrote can it be a mistake.
pub(crate) fn check_load(load: &NeedLoad) -> Result<(), String> {
    let (Some(iops), Some(size), Some(throughput)) =
        (&load.iops, &load.io_size_kib, &load.throughput_mb_s)
    else {
        return Ok(());
    };
    if [iops, size, throughput].iter().all(|figure| figure.label != Label::Assumed) {
        return Ok(());
    }
    // At every moment bytes are at least I/Os times the smallest size, so each percentile is.
    let smallest = size.values().into_iter().filter_map(|(_, value)| value);
    let smallest = smallest.fold(f64::INFINITY, f64::min);
    for ((name, iops), (_, throughput)) in iops.values().into_iter().zip(throughput.values()) {
        let Some((iops, throughput)) = iops.zip(throughput) else { continue };
        let least = iops * smallest * 1024.0 / 1e6;
        if least > throughput * (1.0 + MB_TOLERANCE) {
            let (iops, size) = (crate::number(iops), crate::number(smallest));
            let (least, throughput) = (format!("{least:.1}"), crate::number(throughput));
            return Err(format!(
                "volume `{}`: {name} of {iops} IOPS x {size} KiB is {least} MB/s, but its \
                 `throughput_mb_s` is {throughput}: raise that, or lower IOPS or size",
                load.name
            ));
        }
    }
    Ok(())
}
