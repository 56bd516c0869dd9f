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
    let fits = |value: f64| value.is_finite() && value >= 0.0 && value <= most * (1.0 + ROUNDING);
    if fits(value) {
        return Ok(());
    }
    let number = crate::number(value);
    // What is just out of range has all its digits: without them it is in range.
    let is_rounded_in = number.parse().is_ok_and(fits);
    let number = if is_rounded_in { format!("{value:e}") } else { number };
    Err(format!("`{key}`{what} is {number}, expected 0 to {}", crate::number(most)))
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
    let mut before: Option<(&str, f64)> = None;
    for (name, value) in figure.ascending() {
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

/// How much less than IOPS x latency may be in flight: figures are rounded, as a share.
const LITTLE_TOLERANCE: f64 = 0.10;

/// Checks the figures of a load against each other. Returns what contradicts itself, each with the
/// key that it stands at.
///
/// What was counted is as it was: only with a part that a person wrote can it be a mistake.
pub(crate) fn check_load(load: &NeedLoad) -> Vec<(&'static str, String)> {
    [("throughput_mb_s", check_rates(load)), ("queue_depth", check_queue(load))]
        .into_iter()
        .filter_map(|(key, text)| Some((key, text?)))
        .collect()
}

/// Returns three figures of which a person wrote one at least; none unless all are there.
fn written(figures: [Option<&Figure>; 3]) -> Option<[&Figure; 3]> {
    let [Some(one), Some(two), Some(three)] = figures else { return None };
    let all = [one, two, three];
    all.iter().any(|figure| figure.label == Label::Assumed).then_some(all)
}

/// Checks IOPS, size and throughput.
fn check_rates(load: &NeedLoad) -> Option<String> {
    let rates = [&load.iops, &load.io_size_kib, &load.throughput_mb_s].map(Option::as_ref);
    let [iops, size, throughput] = written(rates)?;
    let name = &load.name;
    let of = |number: f64| crate::number(number);
    let mb_of = |iops: f64, kib: f64| iops * kib * 1024.0 / 1e6;
    if let (Some(iops), Some(kib), Some(mb)) =
        (iops.constant(), size.constant(), throughput.constant())
    {
        let product = mb_of(iops, kib);
        let is_same = product.max(mb) <= product.min(mb) * (1.0 + MB_TOLERANCE);
        return (!is_same).then(|| {
            format!(
                "volume `{name}`: {} IOPS x {} KiB is {product:.1} MB/s, but its `throughput_mb_s` \
                 is {}: leave that out, or `io_size_kib`, which is then worked out",
                of(iops),
                of(kib),
                of(mb)
            )
        });
    }
    // At every moment bytes are at least I/Os times the smallest size, so each percentile is.
    let smallest = size.values().into_iter().filter_map(|(_, value)| value);
    let smallest = smallest.fold(f64::INFINITY, f64::min);
    let pairs = iops.values().into_iter().zip(throughput.values());
    let mut pairs = pairs.filter_map(|((at, iops), (_, mb))| Some((at, iops?, mb?)));
    let is_short =
        |(_, iops, mb): &(&str, f64, f64)| mb_of(*iops, smallest) > mb * (1.0 + MB_TOLERANCE);
    let (at, iops, mb) = pairs.find(is_short)?;
    Some(format!(
        "volume `{name}`: {at} of {} IOPS x {} KiB is {:.1} MB/s, but its `throughput_mb_s` is {}: \
         raise that, or lower IOPS or size",
        of(iops),
        of(smallest),
        mb_of(iops, smallest),
        of(mb)
    ))
}

/// Checks that what is in flight carries the IOPS at the latency: Little's law. More in flight than
/// they come to is no mistake, since a person writes how much there may be.
fn check_queue(load: &NeedLoad) -> Option<String> {
    let figures = [&load.iops, &load.latency_ms, &load.queue_depth].map(Option::as_ref);
    let [iops, latency, depth] = written(figures)?;
    let (iops, ms, depth) = (iops.constant()?, latency.constant()?, depth.constant()?);
    let in_flight = iops * ms / 1e3;
    if in_flight <= depth * (1.0 + LITTLE_TOLERANCE) {
        return None;
    }
    let of = |number: f64| crate::number(number);
    Some(format!(
        "volume `{}`: {} IOPS of {} ms are {} I/Os in flight, but its `queue_depth` is {}, with \
         which {} ms allow {} IOPS: leave one of the three out",
        load.name,
        of(iops),
        of(ms),
        of(in_flight),
        of(depth),
        of(ms),
        of(depth / ms * 1e3)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_out_of_range_is_printed_so() {
        for (key, value, expected) in [
            ("used_gib", -1e-20, "`used_gib` is -1e-20, expected 0 to 1e15"),
            ("used_gib", -2.5, "`used_gib` is -2.5, expected 0 to 1e15"),
            ("cpu_percent", 100.00001, "`cpu_percent` is 1.0000001e2, expected 0 to 100"),
            ("cpu_percent", f64::NAN, "`cpu_percent` is nan, expected 0 to 100"),
        ] {
            assert_eq!(check_number(key, "", value), Err(expected.to_owned()));
        }
        assert_eq!(check_number("used_gib", "", 0.0), Ok(()));
    }
}
