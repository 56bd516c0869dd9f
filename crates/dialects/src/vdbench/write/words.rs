//! How Vdbench writes values.

use std::fmt::Write;

use plan::files::SyncMode;
use plan::job::RateOf;
use plan::load::{Arrivals, RatePeriods};
use plan::tree::{FileIo, Select, SelectFilter, SelectOrder};
use plan::workload::BlockSize;

use crate::vdbench::file_words::{FILE_IO, MIDPOINT, SELECT, SelectWord};

/// Returns how I/Os are spaced, behind a comma, unless it is as usual.
pub(super) fn distribution_words(
    arrivals: Arrivals,
    has_rate: bool,
    periods: Option<&RatePeriods>,
) -> &'static str {
    match (periods, arrivals) {
        (Some(periods), _) if periods.in_spikes => ",distribution=spike",
        (Some(_), Arrivals::Linear) => ",distribution=(deterministic,variable)",
        (Some(_), Arrivals::Uniform) => ",distribution=(uniform,variable)",
        (Some(_), Arrivals::Poisson) => ",distribution=variable",
        (None, Arrivals::Uniform) => ",distribution=uniform",
        (None, Arrivals::Linear) if has_rate => ",distribution=deterministic",
        (None, Arrivals::Poisson | Arrivals::Linear) => "",
    }
}

/// Returns the rate of a curve with its points.
pub(super) fn curve_words(points: &[RateOf]) -> String {
    let pcts: Vec<String> = points.iter().map(|of| rounded(of.pct)).collect();
    let mut text = format!("curve,curve=({})", pcts.join(","));
    if let Some(ns) = points.first().and_then(|of| of.stop_above_ns) {
        let _ = write!(text, ",stopcurve={}", rounded(ns as f64 / 1e6));
    }
    text
}

/// Vdbench takes `o_sync` for `o_dsync`; the bits say what is meant.
pub(super) fn open_flags(direct: bool, sync: SyncMode, fsync_on_close: bool) -> String {
    let flags = [
        ("o_direct", direct),
        ("o_dsync", sync == SyncMode::Dsync),
        ("0x101000", sync == SyncMode::Sync),
        ("fsync", fsync_on_close),
    ];
    let flags: Vec<&str> = flags.iter().filter(|(_, on)| *on).map(|(flag, _)| *flag).collect();
    match flags[..] {
        [] => String::new(),
        [flag] => format!(",openflags={flag}"),
        _ => format!(",openflags=({})", flags.join(",")),
    }
}

pub(super) fn size_words(size: &BlockSize) -> String {
    let listed = |parts: Vec<String>| format!("({})", parts.join(","));
    match size {
        BlockSize::Fixed(bytes) => bytes.to_string(),
        BlockSize::Range { min, max } => format!("({min},{max},{min})"),
        BlockSize::Stepped { min, max, step } => format!("({min},{max},{step})"),
        BlockSize::Split(parts) => {
            listed(parts.iter().map(|(bytes, pct)| format!("{bytes},{pct}")).collect())
        }
        BlockSize::Weighted(parts) => {
            let total: f64 = parts.iter().map(|part| f64::from(part.1)).sum();
            let share = |weight: u32| rounded(100.0 * f64::from(weight) / total);
            let words = parts.iter().map(|(bytes, weight)| format!("{bytes},{}", share(*weight)));
            listed(words.collect())
        }
    }
}

pub(super) fn io_word(io: FileIo) -> String {
    let row = FILE_IO.iter().find(|(_, _, known)| *known == io);
    match *row.expect("each way through a file has words") {
        (first, "", _) => first.to_owned(),
        (first, second, _) => format!("({first},{second})"),
    }
}

pub(super) fn select_words(select: &Select) -> String {
    let Select { order, once, filter } = *select;
    let word = |meaning| {
        let row = SELECT.iter().find(|(_, known)| *known == meaning);
        row.expect("each choice of files has a word").0.to_owned()
    };
    let (order, midpoint) = match order {
        SelectOrder::Random | SelectOrder::Seq | SelectOrder::SeqNz => (order, None),
        SelectOrder::Poisson(midpoint) => (SelectOrder::Poisson(MIDPOINT), Some(midpoint)),
        SelectOrder::Skewed(midpoint) => (SelectOrder::Skewed(MIDPOINT), Some(midpoint)),
        // The writer lists it as lost.
        SelectOrder::Hot(_) => (SelectOrder::Random, None),
    };
    let mut words = vec![word(SelectWord::Order(order))];
    words.extend(midpoint.map(rounded));
    if once {
        words.push(word(SelectWord::Once));
    }
    match filter {
        // The writer lists it as lost.
        SelectFilter::Any | SelectFilter::Present => {}
        SelectFilter::Empty | SelectFilter::Full | SelectFilter::NotFull => {
            words.push(word(SelectWord::Filter(filter)));
        }
    }
    let text = words.join(",");
    if text.contains(',') { format!("({text})") } else { text }
}

/// Writes a number with at most two decimals.
pub(super) fn rounded(number: f64) -> String {
    let text = format!("{number:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Writes a rate, with as many decimals as one that is small needs: 0 would be none.
pub(super) fn rate_words(iops: f64) -> String {
    let n_decimals = if iops < 1.0 { 6 } else { 2 };
    let text = format!("{iops:.n_decimals$}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Returns whether a text can stand within quotes.
pub(super) fn is_sayable(text: &str) -> bool {
    !text.contains('"') && !text.contains(char::is_control)
}

/// Returns whether two decimals say a number exactly.
pub(super) fn is_exact(number: f64) -> bool {
    rounded(number).parse() == Ok(number)
}

/// Quotes a value that Vdbench would take apart.
pub(super) fn value(text: &str) -> String {
    let is_plain = !text.contains([' ', ',', '=', '(', ')']);
    if is_plain { text.to_owned() } else { format!("\"{text}\"") }
}

/// Keeps a name on its line.
pub(super) fn comment(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}
