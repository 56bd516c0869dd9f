//! Axes: which values are marked, and what stands there.

use record::Figure;

use crate::spec::{Axis, Quantity, Scale, Tick};
use crate::words::round_latency;

/// A rate of I/Os from zero.
pub(crate) fn iops() -> Axis {
    Axis { quantity: Quantity::Rate, ..rate(Figure::Iops) }
}

/// A rate of bytes from zero.
pub(crate) fn mib_per_s() -> Axis {
    rate(Figure::BytesPerS)
}

fn rate(figure: Figure) -> Axis {
    Axis { title: figure.head().to_owned(), ..Axis::default() }
}

/// Marks within a decade, and up to how many decades all of them fit.
const STEPS: [(f64, &[f64]); 3] =
    [(2.2, &[1.0, 2.0, 5.0]), (4.0, &[1.0, 3.0]), (f64::INFINITY, &[1.0])];

/// Least ratio of the ends of an axis of latencies.
const RATIO_MIN: f64 = 8.0;

/// Latencies, by their logarithm; values in nanoseconds, marks in the unit that fits.
pub(crate) fn latency(title: &str, values_ns: impl Iterator<Item = f64>) -> Axis {
    let (low, high) = ends(values_ns.filter(|ns| *ns > 0.0));
    // Room for a point at the edge, and for values that are all the same.
    let (mut low, mut high) = (low.max(1.0) / 1.5, high.max(1.0) * 1.5);
    // A scale needs two marks at least.
    if high / low < RATIO_MIN {
        let middle = (low * high).sqrt();
        (low, high) = (middle / RATIO_MIN.sqrt(), middle * RATIO_MIN.sqrt());
    }
    let n_decades = (high / low).log10();
    let steps = STEPS.into_iter().find(|(most, _)| n_decades <= *most).map_or(&[][..], |it| it.1);
    let mut ticks = Vec::new();
    for decade in 0..12 {
        for step in steps {
            let at = step * 10_f64.powi(decade);
            if (low..=high).contains(&at) {
                ticks.push(Tick { at, text: round_latency(at) });
            }
        }
    }
    let (title, range) = (title.to_owned(), Some((low, high)));
    Axis {
        title,
        scale: Scale::Log,
        quantity: Quantity::LatencyNs,
        ticks,
        range,
        ..Axis::default()
    }
}

/// Most marks along time: they must fit a narrow screen.
const TIME_TICKS_MAX: f64 = 6.0;

/// Time since the start of the run, seconds; from where the first interval begins.
pub(crate) fn time(start_s: f64, end_s: f64) -> Axis {
    let steps = [
        0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 900.0, 1800.0,
        3600.0, 7200.0, 14_400.0, 43_200.0, 86_400.0,
    ];
    let length_s = (end_s - start_s).max(0.0);
    let fits = |step: &f64| length_s / step <= TIME_TICKS_MAX;
    let step = steps.into_iter().find(fits).unwrap_or(length_s / TIME_TICKS_MAX);
    let (first, last) =
        if step > 0.0 { ((start_s / step).ceil() as u32, (end_s / step) as u32) } else { (0, 0) };
    let tick = |idx: u32| {
        let at = f64::from(idx) * step;
        Tick { at, text: clock(at) }
    };
    Axis {
        title: "time since the start".to_owned(),
        scale: Scale::Fitted,
        quantity: Quantity::TimeS,
        ticks: (first..=last).map(tick).collect(),
        range: Some((start_s, end_s)),
        ..Axis::default()
    }
}

impl Axis {
    /// Time since a start, seconds, with marks at round times.
    pub fn time(start_s: f64, end_s: f64) -> Self {
        time(start_s, end_s)
    }
}

/// Says a time as `0`, `15 s`, `1:30 min`, `2 h`.
fn clock(at_s: f64) -> String {
    let whole = at_s.round() as u64;
    if at_s <= 0.0 {
        return "0".to_owned();
    }
    if at_s < 60.0 {
        return format!("{} s", (at_s * 10.0).round() / 10.0);
    }
    let (big, small, unit) = if whole < 3600 {
        (whole / 60, whole % 60, "min")
    } else {
        (whole / 3600, whole / 60 % 60, "h")
    };
    if small == 0 { format!("{big} {unit}") } else { format!("{big}:{small:02} {unit}") }
}

/// Shares of operations, so that each further nine takes as much room: `x = 1 / (1 - share)`.
pub(crate) fn percentile(n_max: f64) -> Axis {
    let texts = ["0 %", "90 %", "99 %", "99.9 %", "99.99 %", "99.999 %", "99.9999 %"];
    let tick =
        |(idx, text): (usize, &&str)| Tick { at: 10_f64.powi(idx as i32), text: (*text).into() };
    let ticks = texts.iter().enumerate().map(tick).filter(|tick| tick.at <= n_max.max(1.0));
    Axis {
        title: "share of the operations that were as fast".to_owned(),
        scale: Scale::Log,
        quantity: Quantity::Nines,
        ticks: ticks.collect(),
        range: Some((0.9, n_max.max(10.0) * 1.5)),
        ..Axis::default()
    }
}

/// Powers of two or other positive numbers that are few: each is marked.
pub(crate) fn powers(title: &str, values: &[f64], text: impl Fn(f64) -> String) -> Axis {
    let (low, high) = ends(values.iter().copied());
    let ticks = values.iter().map(|at| Tick { at: *at, text: text(*at) }).collect();
    let range = Some((low.max(f64::MIN_POSITIVE) / 1.2, high.max(f64::MIN_POSITIVE) * 1.2));
    Axis { title: title.to_owned(), scale: Scale::Log, ticks, range, ..Axis::default() }
}

/// Names.
pub(crate) fn categories(title: &str, names: Vec<String>) -> Axis {
    let title = title.to_owned();
    Axis { title, scale: Scale::Categories, categories: names, ..Axis::default() }
}

/// Returns the smallest and the largest value; 1 for both where there is none.
fn ends(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) = values
        .filter(|value| value.is_finite())
        .fold((f64::INFINITY, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
    if low.is_finite() { (low, high) } else { (1.0, 1.0) }
}

/// Numbers from 1, such as rounds.
pub(crate) fn numbers(title: &str, n: usize) -> Axis {
    let step = n.div_ceil(10).max(1);
    let tick = |number: usize| Tick { at: number as f64, text: number.to_string() };
    Axis {
        title: title.to_owned(),
        scale: Scale::Fitted,
        ticks: (1..=n).step_by(step).map(tick).collect(),
        range: Some((0.5, n as f64 + 0.5)),
        ..Axis::default()
    }
}

/// Numbers laid out evenly, each of them marked.
pub(crate) fn marked(title: &str, values: &[f64], text: impl Fn(f64) -> String) -> Axis {
    let (low, high) = ends(values.iter().copied());
    let room = (high - low).max(1.0) * 0.05;
    let ticks = values.iter().map(|at| Tick { at: *at, text: text(*at) }).collect();
    let range = Some((low - room, high + room));
    Axis { title: title.to_owned(), scale: Scale::Fitted, ticks, range, ..Axis::default() }
}
