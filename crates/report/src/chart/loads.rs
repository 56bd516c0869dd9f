//! Latency over load of steps that do the same I/O, each at another load: a curve of Vdbench, a
//! ramp of queue depths or workers.

use export::Run;
use record::Figure;

use super::curve::LINES;
use super::sweep::{Shape, empty, kind_words, shapes_of, table_of};
use crate::axis;
use crate::spec::{ChartSpec, Colour, DashStyle, Marker, Series};
use crate::words::round_bytes;

/// Fewest loads that are a curve.
const LOADS_MIN: usize = 3;

/// Least ratio of the I/Os in flight at the highest load to those at the lowest: what is nearer is
/// one load, measured again.
const SPREAD_MIN: f64 = 1.5;

/// Draws latency over the rate: all figures of one kind of I/O, or the p99 of several; none where
/// no kind was measured at several loads.
pub(crate) fn chart(runs: &[Run], source: &str) -> Option<ChartSpec> {
    let shapes = shapes_of(runs);
    let mut curves = curves(&shapes);
    let n_more = curves.len().saturating_sub(Marker::ALL.len());
    curves.truncate(Marker::ALL.len());
    let (series, about) = match curves.as_slice() {
        [] => return None,
        [only] => (figures(only), format!("Latency over the rate of {}.", only.name)),
        several => (
            several.iter().enumerate().map(p99).collect(),
            "The latency that 99 of 100 I/Os keep (p99), over the rate of each kind of I/O."
                .to_owned(),
        ),
    };
    let shown: Vec<Shape> = curves.iter().flat_map(|it| &it.shapes).copied().cloned().collect();
    let values: Vec<f64> = series.iter().flat_map(|it| &it.y).copied().flatten().collect();
    let mut notes = Vec::new();
    if n_more > 0 {
        notes.push(format!("{n_more} more kinds of I/O were measured at several loads."));
    }
    Some(ChartSpec {
        id: "loads".to_owned(),
        title: "Latency over load".to_owned(),
        about,
        height_px: 400,
        y: axis::latency("latency", values.into_iter()),
        series,
        notes,
        source: source.to_owned(),
        ..empty(table_of(&shown))
    })
}

/// Steps of one kind of I/O, the lowest load first.
struct LoadSteps<'a> {
    name: String,
    shapes: Vec<&'a Shape>,
}

/// What steps of one kind have in common.
type Kind<'a> = (Option<u64>, Option<u32>, Option<bool>, Option<bool>, &'a str);

fn kind(shape: &Shape) -> Kind<'_> {
    // Mixed sizes are the same where the steps are of one name.
    let stem = shape.name.split([' ', '(']).next().unwrap_or_default().trim_end_matches('_');
    let stem = if shape.block_size.is_some() { "" } else { stem };
    (shape.block_size, shape.read_pct, shape.is_random, shape.is_direct, stem)
}

/// Returns the kinds of I/O that were measured at several loads, those with most steps first.
fn curves(shapes: &[Shape]) -> Vec<LoadSteps<'_>> {
    let mut kinds: Vec<Kind<'_>> = Vec::new();
    for shape in shapes {
        if !kinds.contains(&kind(shape)) {
            kinds.push(kind(shape));
        }
    }
    let of_kind = |of: &Kind<'_>| {
        let own = shapes.iter().filter(|shape| kind(shape) == *of);
        let mut shapes: Vec<&Shape> = own.filter(|shape| in_flight(shape) > 0.0).collect();
        shapes.sort_by(|a, b| in_flight(a).total_cmp(&in_flight(b)));
        let (low, high) = (in_flight(shapes.first()?), in_flight(shapes.last()?));
        let is_curve = shapes.len() >= LOADS_MIN && high / low >= SPREAD_MIN;
        is_curve.then(|| LoadSteps { name: name(of), shapes })
    };
    let mut curves: Vec<LoadSteps<'_>> = kinds.iter().filter_map(of_kind).collect();
    curves.sort_by_key(|curve| std::cmp::Reverse(curve.shapes.len()));
    curves
}

/// Returns the I/Os in flight by Little's law: of open and of closed loads what orders them, also
/// where the rate no longer rises.
fn in_flight(shape: &Shape) -> f64 {
    let latency_ns = shape.figures.get(Figure::Mean).or(shape.figures.get(Figure::P50));
    shape.figures.iops() * latency_ns.unwrap_or(0.0) / 1e9
}

fn name((block_size, read_pct, is_random, _, stem): &Kind<'_>) -> String {
    let size = block_size.map_or_else(|| format!("{stem}, mixed sizes"), round_bytes);
    let kind = read_pct.map_or_else(String::new, |pct| kind_words(*is_random, pct));
    let joint = if kind.starts_with(|first: char| first.is_ascii_digit()) { "," } else { "" };
    format!("{size}{joint} {kind}").trim_end().to_owned()
}

fn line(figure: Figure, of: &LoadSteps<'_>) -> Series {
    let iops = |shape: &&Shape| (shape.figures.iops() * 1000.0).round() / 1000.0;
    Series {
        is_line: true,
        x: of.shapes.iter().map(iops).collect(),
        y: of.shapes.iter().map(|shape| shape.figures.get(figure)).collect(),
        texts: of.shapes.iter().map(|shape| shape.name.clone()).collect(),
        ..Series::default()
    }
}

fn figures(of: &LoadSteps<'_>) -> Vec<Series> {
    let series = LINES.map(|(figure, colour, dash, marker)| Series {
        name: figure.head().to_owned(),
        colour,
        dash,
        marker: Some(marker),
        ..line(figure, of)
    });
    series.into_iter().filter(|it| it.y.iter().any(Option::is_some)).collect()
}

fn p99((idx, of): (usize, &LoadSteps<'_>)) -> Series {
    const DASHES: [DashStyle; 4] =
        [DashStyle::Solid, DashStyle::Dash, DashStyle::Dot, DashStyle::DashDot];
    Series {
        name: of.name.clone(),
        colour: Colour::Of(idx as u8),
        dash: DASHES[idx % DASHES.len()],
        marker: Some(Marker::ALL[idx % Marker::ALL.len()]),
        ..line(Figure::P99, of)
    }
}
