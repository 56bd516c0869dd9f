//! The load curve: latency over what was carried, the limit, the load line, knees and, where the
//! points bracket its peak, the scalability law.

use std::cmp::Ordering;

use analysis::{Limit, Limits, Point, series};
use record::{
    CarriedState, CurvePointRecord, CurveRecord, Figure, Figures, Lever, Record, ScalabilityRecord,
    is_same_load, load_words,
};
use units::format_iops;

use super::over_time::Source;
use crate::axis;
use crate::spec::{Axis, ChartSpec, Colour, DashStyle, Marker, Rule, Series, Span, SpanKind};
use crate::table::{Cell, Table};
use crate::words::round_latency;

/// A point with its figures: of those that a record of before does not list, what its step says.
struct Probe<'a> {
    point: &'a CurvePointRecord,
    figures: Figures,
}

/// A line of the chart: the figure, its colour, stroke and marker.
pub(super) type Line = (Figure, Colour, DashStyle, Marker);

/// The figures of a latency, the fastest share of I/Os first but for the mean.
pub(super) const LINES: [Line; 5] = [
    (Figure::Mean, Colour::Of(1), DashStyle::DashDot, Marker::Diamond),
    (Figure::P50, Colour::Shade(0, 0), DashStyle::Dot, Marker::TriangleUp),
    (Figure::P99, Colour::Shade(0, 1), DashStyle::Solid, Marker::Circle),
    (Figure::P99_9, Colour::Shade(0, 2), DashStyle::Dash, Marker::Square),
    (Figure::Max, Colour::Shade(0, 3), DashStyle::Dot, Marker::TriangleDown),
];

/// Returns the charts of a curve; none where the record has no curve, or none of its points
/// carried anything.
pub(crate) fn charts(source: &Source<'_>) -> Vec<ChartSpec> {
    let Some(curve) = &source.record.curve else { return Vec::new() };
    let probes = probes(source.record, curve);
    if probes.is_empty() {
        return Vec::new();
    }
    let mut charts = vec![latency(source, curve, &probes)];
    if curve.lever != Lever::Rate {
        charts.push(rate_over_depth(source, curve, &probes));
    }
    charts
}

/// Returns the points that carried something, by load, each load's in the order of measurement.
fn probes<'a>(record: &Record, curve: &'a CurveRecord) -> Vec<Probe<'a>> {
    let carried = curve.points.iter().filter(|point| point.figures.iops() > 0.0);
    let probe = |point: &'a CurvePointRecord| {
        let measured = match curve.lever {
            Lever::Rate => Point::of_open(record, point.step_idx, point.load),
            // Each process has a rate of its own, and the point has its figures.
            Lever::Units => None,
            Lever::QueueDepth | Lever::Workers => Point::of_closed(record, point.step_idx),
        };
        let measured = measured.map(|it| it.figures()).unwrap_or_default();
        let figures = Figures::each(|it| point.figures.get(it).or(measured.get(it)));
        Probe { point, figures }
    };
    let mut probes: Vec<Probe<'a>> = carried.map(probe).collect();
    probes.sort_by(|a, b| by_load(a, b));
    probes
}

fn by_load(a: &Probe<'_>, b: &Probe<'_>) -> Ordering {
    a.point.load.total_cmp(&b.point.load).then(a.point.step_idx.cmp(&b.point.step_idx))
}

fn latency(source: &Source<'_>, curve: &CurveRecord, probes: &[Probe<'_>]) -> ChartSpec {
    let usable = usable(probes);
    let mut series: Vec<Series> =
        LINES.into_iter().flat_map(|line| self::lines(line, &usable, curve)).collect();
    series.extend(not_usable(probes, curve.lever));
    series.retain(|it| it.y.iter().any(Option::is_some));
    series.extend(curve.scalability.as_ref().map(|law| by_little(law, probes)));
    let mut rules = limit_rules(curve);
    rules.extend(line_rules(curve));
    let frame = Frame::of(curve, probes, &rules);
    let inside = |it: &Series| -> Vec<f64> {
        let points = it.x.iter().zip(&it.y).filter(|(x, _)| frame.holds_iops(**x));
        points.filter_map(|(_, y)| *y).filter(|ns| frame.holds_ns(*ns)).collect()
    };
    let values: Vec<f64> = series
        .iter()
        .flat_map(inside)
        .chain(rules.iter().filter(|rule| rule.is_across).map(|rule| rule.at))
        .collect();
    let is_outside = |probe: &&Probe<'_>| !frame.holds(probe);
    let n_outside = probes.iter().filter(is_outside).count();
    let what = curve.lever.latency();
    ChartSpec {
        id: format!("{}-curve", source.id),
        title: "Load curve".to_owned(),
        about: about(what, probes),
        height_px: 440,
        x: Axis { range: frame.iops_max.map(|end| (0.0, end)), ..axis::iops() },
        y: axis::latency(what, values.into_iter()),
        series,
        spans: line_span(curve).into_iter().collect(),
        rules,
        cells: None,
        notes: notes(curve, probes, n_outside),
        source: source.line.to_owned(),
        thinned: None,
        table: table(curve, probes),
    }
}

fn about(what: &str, probes: &[Probe<'_>]) -> String {
    let points = || probes.iter().map(|probe| probe.point);
    let n_void = points().filter(|point| point.void.is_some()).count();
    let n_broken = points().filter(|point| !point.passed && point.void.is_none()).count();
    let mut text = format!(
        "Latency ({what}) over the rate that was carried, in {} points; {n_broken} of them broke a \
         limit",
        probes.len(),
    );
    if n_void > 0 {
        text += &format!(", and {n_void} are not usable");
    }
    text + "."
}

/// Times the latency of the slowest point that kept the limits, and of the limits, up to which a
/// point that broke them is in the frame.
const BEYOND_NS: f64 = 10.0;

/// Times the highest rate of the points that kept the limits up to which one that broke them is in
/// the frame.
const BEYOND_IOPS: f64 = 1.5;

/// What of a curve is in its picture: where it keeps its limits and where it breaks them, not how
/// far a hopeless overload went, which would squeeze the rest into a corner.
struct Frame {
    /// None where all is inside.
    iops_max: Option<f64>,
    ns_max: f64,
}

impl Frame {
    fn of(curve: &CurveRecord, probes: &[Probe<'_>], rules: &[Rule]) -> Self {
        let kept = || probes.iter().filter(|probe| probe.point.passed);
        let most = |values: &mut dyn Iterator<Item = f64>| values.fold(0.0, f64::max);
        let ns_kept = most(&mut kept().map(|probe| probe.figures.get(Figure::Max).unwrap_or(0.0)));
        let ns_limit = most(&mut rules.iter().filter(|rule| rule.is_across).map(|rule| rule.at));
        if ns_kept <= 0.0 {
            return Frame { iops_max: None, ns_max: f64::INFINITY };
        }
        let iops_kept = most(&mut kept().map(|probe| probe.figures.iops()));
        let interval = curve.line.interval.filter(|_| curve.lever == Lever::Rate);
        let iops_kept = interval.map_or(iops_kept, |it| iops_kept.max(it.high));
        let end = iops_kept * BEYOND_IOPS;
        let is_beyond = |probe: &Probe<'_>| probe.figures.iops() > end;
        Frame {
            iops_max: probes.iter().any(is_beyond).then_some(end),
            ns_max: ns_kept.max(ns_limit * BEYOND_NS),
        }
    }

    fn holds_iops(&self, iops: f64) -> bool {
        self.iops_max.is_none_or(|end| iops <= end)
    }

    fn holds_ns(&self, ns: f64) -> bool {
        ns <= self.ns_max
    }

    /// Returns whether a point is in the picture with all its latencies but the largest, which is
    /// one operation.
    fn holds(&self, probe: &Probe<'_>) -> bool {
        self.holds_iops(probe.figures.iops())
            && [Figure::P99_9, Figure::P99]
                .iter()
                .find_map(|it| probe.figures.get(*it))
                .is_none_or(|ns| self.holds_ns(ns))
    }
}

/// Returns the points that neither the host nor the generator spoiled.
fn usable<'p, 'a>(probes: &'p [Probe<'a>]) -> Vec<&'p Probe<'a>> {
    probes.iter().filter(|probe| probe.point.void.is_none()).collect()
}

/// Returns what was spoiled, apart from lines and bands, which are those of the volume.
fn not_usable(probes: &[Probe<'_>], lever: Lever) -> Option<Series> {
    let void: Vec<&Probe<'_>> = probes.iter().filter(|it| it.point.void.is_some()).collect();
    (!void.is_empty()).then(|| Series {
        name: format!("{}, not usable", Figure::P99.head()),
        colour: Colour::Plain,
        marker: Some(Marker::Cross),
        x: void.iter().map(|probe| round3(probe.figures.iops())).collect(),
        y: void.iter().map(|probe| probe.figures.get(Figure::P99)).collect(),
        texts: void.iter().map(|probe| text(probe.point, lever)).collect(),
        ..Series::default()
    })
}

/// Returns the points of a figure; where loads were repeated, the line through their medians beside
/// them, in a band from the lowest to the highest: a line through each would go to and fro.
fn lines(line: Line, probes: &[&Probe<'_>], curve: &CurveRecord) -> Vec<Series> {
    let points = self::line(line, probes, curve);
    let of_load: Vec<&[&Probe<'_>]> =
        probes.chunk_by(|a, b| is_same_load(a.point.load, b.point.load)).collect();
    if of_load.len() == probes.len() {
        return vec![points];
    }
    let (figure, colour, dash, _) = line;
    let mut joined =
        Series { name: figure.head().to_owned(), colour, dash, is_line: true, ..Series::default() };
    for probes in of_load {
        let values: Vec<f64> = probes.iter().filter_map(|it| it.figures.get(figure)).collect();
        let rates: Vec<f64> = probes.iter().map(|probe| probe.figures.iops()).collect();
        let Some(rate) = series::median(&rates) else { continue };
        let ends = values.iter().fold(None, |ends: Option<(f64, f64)>, value| {
            let (low, high) = ends.unwrap_or((*value, *value));
            Some((low.min(*value), high.max(*value)))
        });
        joined.x.push(round3(rate));
        joined.y.push(series::median(&values));
        joined.ends.push(ends);
    }
    vec![Series { is_line: false, ..points }, joined]
}

fn line(line: Line, probes: &[&Probe<'_>], curve: &CurveRecord) -> Series {
    let (figure, colour, dash, marker) = line;
    let broken = probes.iter().enumerate().filter(|(_, probe)| !probe.point.passed);
    Series {
        name: figure.head().to_owned(),
        colour,
        dash,
        marker: Some(marker),
        is_line: true,
        x: probes.iter().map(|probe| round3(probe.figures.iops())).collect(),
        y: probes.iter().map(|probe| probe.figures.get(figure)).collect(),
        hollow: broken.map(|(idx, _)| idx).collect(),
        texts: probes.iter().map(|probe| text(probe.point, curve.lever)).collect(),
        ..Series::default()
    }
}

/// What the pointer shows: the load, and why the point failed.
fn text(point: &CurvePointRecord, lever: Lever) -> String {
    let load = match lever {
        Lever::Rate => format!("offered {} IOPS", format_iops(point.load)),
        Lever::QueueDepth => format!("{:.0} in flight", point.load),
        Lever::Workers => format!("{:.0} workers", point.load),
        Lever::Units => format!("{:.0} units", point.load),
    };
    match point.broken.as_slice() {
        [] => load,
        broken => format!("{load}: {}", broken.join("; ")),
    }
}

/// The law's latency, from Little: I/Os in flight over their rate. To the measured range only.
fn by_little(law: &ScalabilityRecord, probes: &[Probe<'_>]) -> Series {
    let points = law_points(law, probes);
    Series {
        name: "scalability law".to_owned(),
        colour: Colour::Of(2),
        dash: DashStyle::Dash,
        is_line: true,
        x: points.iter().map(|(_, rate)| round3(*rate)).collect(),
        y: points.iter().map(|(depth, rate)| Some((depth / rate * 1e9).round())).collect(),
        ..Series::default()
    }
}

/// Points of a fitted line.
const FIT_POINTS: u32 = 60;

/// Returns (I/Os in flight, rate) of the law from the lowest to the highest measured load.
fn law_points(law: &ScalabilityRecord, probes: &[Probe<'_>]) -> Vec<(f64, f64)> {
    let (Some(first), Some(last)) = (probes.first(), probes.last()) else { return Vec::new() };
    let (low, high) = (first.point.load.max(1.0), last.point.load.max(1.0));
    let depth = |idx: u32| low * (high / low).powf(f64::from(idx) / f64::from(FIT_POINTS));
    let rate = |n: f64| {
        let divisor = 1.0 + law.contention * (n - 1.0) + law.coherency * n * (n - 1.0);
        law.rate_iops_of_one * n / divisor
    };
    (0..=FIT_POINTS).map(depth).map(|n| (n, rate(n))).collect()
}

fn limit_rules(curve: &CurveRecord) -> Vec<Rule> {
    let Ok(limits) = curve.limits.parse::<Limits>() else { return Vec::new() };
    let rule = |limit: &Limit| match limit {
        Limit::Latency { figure, ns_max } => Some(Rule {
            is_across: true,
            at: *ns_max as f64,
            text: format!("{figure} < {}", round_latency(*ns_max as f64)),
            colour: Colour::Bad,
            dash: DashStyle::Solid,
        }),
        Limit::Achieved { .. } => None,
    };
    limits.all.iter().filter_map(rule).collect()
}

/// The load line, upright at what it carried, and the candidates for a knee.
fn line_rules(curve: &CurveRecord) -> Vec<Rule> {
    let upright = |at: f64, text: String, colour, dash| Rule {
        is_across: false,
        at: round3(at),
        text,
        colour,
        dash,
    };
    let mut rules = Vec::new();
    if let Some((iops, rate)) = curve.line_iops().zip(curve.rate_words()) {
        rules.push(upright(iops, format!("load line {rate}"), Colour::Good, DashStyle::Solid));
    }
    for (idx, rate) in curve.knees.iter().flat_map(|it| &it.rates_iops).enumerate() {
        let text = if idx == 0 { "knee".to_owned() } else { String::new() };
        rules.push(upright(*rate, text, Colour::Plain, DashStyle::Dot));
    }
    rules
}

/// The interval of the load line, where the load is a rate.
fn line_span(curve: &CurveRecord) -> Option<Span> {
    let interval = curve.line.interval.filter(|_| curve.lever == Lever::Rate)?;
    Some(Span { from: interval.low, to: interval.high, text: String::new(), kind: SpanKind::Range })
}

fn notes(curve: &CurveRecord, probes: &[Probe<'_>], n_outside: usize) -> Vec<String> {
    let mut notes = Vec::new();
    if n_outside > 0 {
        notes.push(format!(
            "{} far beyond the limits above or beside the picture: a double click shows all, and \
             the table has them.",
            if n_outside == 1 {
                "One point lies".to_owned()
            } else {
                format!("{n_outside} points lie")
            }
        ));
    }
    let is_repeated = |pair: &[Probe<'_>]| is_same_load(pair[0].point.load, pair[1].point.load);
    if probes.windows(2).any(is_repeated) {
        notes.push(
            "Loads that were repeated: lines go through their medians, and bands reach from \
             their lowest to their highest."
                .to_owned(),
        );
    }
    let usable = usable(probes);
    if usable.iter().any(|probe| !probe.point.passed) {
        notes.push("Hollow points broke a limit; the table says which.".to_owned());
    }
    if usable.len() < probes.len() {
        notes.push(
            "Crosses are points that the host or the load generator spoiled: no line goes through \
             them, and the table says why."
                .to_owned(),
        );
    }
    let between = curve.interval_words();
    notes.extend(between.map(|between| format!("The load line lies {between}.")));
    if let Some(knees) = curve.knees.as_ref().filter(|knees| !knees.rates_iops.is_empty()) {
        let (low, high) = knees.range_iops;
        let mut note = format!(
            "Where a curve bends depends on how far it goes: this one from {} to {} IOPS",
            format_iops(low),
            format_iops(high)
        );
        if let Some((low, high)) = knees.leave_one_out_iops {
            let (low, high) = (format_iops(low), format_iops(high));
            note.push_str(&format!("; without any one point, between {low} and {high}"));
        }
        notes.push(format!("{note}."));
    }
    notes.extend(coarse_steps(curve));
    notes
}

/// Returns where a closed load was turned up in steps so coarse that they show in what is carried
/// at round latencies.
fn coarse_steps(curve: &CurveRecord) -> impl Iterator<Item = String> {
    curve.carried.iter().filter(|it| it.state == CarriedState::Reached).filter_map(|it| {
        let [under, over] = curve.coarse_step(it.latency_mean_ns)?;
        Some(format!(
            "Between {} and {} {} nothing was measured: what is carried at a mean of {} is known \
             no finer than between {} and {} IOPS.",
            load_words(under.load),
            load_words(over.load),
            curve.lever.unit(),
            round_latency(it.latency_mean_ns as f64),
            format_iops(under.figures.iops()),
            format_iops(over.figures.iops()),
        ))
    })
}

fn table(curve: &CurveRecord, probes: &[Probe<'_>]) -> Table {
    let words = [("measured for", "purpose"), ("limits", "broken")];
    let mut table = Table::new(&[curve.lever.column()]).figures(Figure::OF_JOB).and(&words);
    for probe in probes {
        let point = probe.point;
        let kept = if point.passed { "kept".to_owned() } else { point.outcome_words() };
        let mut row = vec![Cell::Number(point.load, load_words(point.load))];
        row.extend(Cell::figures(&probe.figures, Figure::OF_JOB));
        row.extend([Cell::text(point.purpose.as_str()), Cell::text(kept)]);
        table.rows.push(row);
    }
    table
}

/// A closed curve over its lever, with the scalability law where it was fitted.
fn rate_over_depth(source: &Source<'_>, curve: &CurveRecord, probes: &[Probe<'_>]) -> ChartSpec {
    let mut loads: Vec<f64> = probes.iter().map(|probe| probe.point.load).collect();
    loads.dedup();
    let usable = usable(probes);
    let broken = usable.iter().enumerate().filter(|(_, probe)| !probe.point.passed);
    let mut series = vec![Series {
        name: Figure::Iops.head().to_owned(),
        colour: Colour::Of(0),
        marker: Some(Marker::Circle),
        is_line: true,
        x: usable.iter().map(|probe| probe.point.load).collect(),
        y: usable.iter().map(|probe| Some(round3(probe.figures.iops()))).collect(),
        hollow: broken.map(|(idx, _)| idx).collect(),
        texts: usable.iter().map(|probe| text(probe.point, curve.lever)).collect(),
        ..Series::default()
    }];
    let mut notes = Vec::new();
    let mut spans = Vec::new();
    if let Some(law) = &curve.scalability {
        let points = law_points(law, probes);
        series.push(Series {
            name: "scalability law".to_owned(),
            colour: Colour::Of(2),
            dash: DashStyle::Dash,
            is_line: true,
            x: points.iter().map(|(depth, _)| round3(*depth)).collect(),
            y: points.iter().map(|(_, rate)| Some(round3(*rate))).collect(),
            ..Series::default()
        });
        let peak = law.peak_interval;
        let text = "peak by the law".to_owned();
        spans.push(Span { from: peak.low, to: peak.high, text, kind: SpanKind::Range });
        notes.push(format!(
            "The scalability law is drawn over the measured range only. By it the rate is highest \
             with {:.0} in flight, between {:.0} and {:.0} with a probability of {}.",
            law.peak_depth,
            peak.low,
            peak.high,
            units::format_percent(peak.coverage)
        ));
    }
    let mut table = Table::new(&[(curve.lever.unit(), "load")]).figures(&[Figure::Iops]);
    for probe in probes {
        let load = Cell::Number(probe.point.load, load_words(probe.point.load));
        table.rows.push(vec![load, Cell::iops(probe.figures.iops())]);
    }
    ChartSpec {
        id: format!("{}-depth", source.id),
        title: format!(
            "Rate over {}",
            match curve.lever {
                Lever::Workers => "workers",
                Lever::Units => "units of load",
                Lever::Rate | Lever::QueueDepth => "I/Os in flight",
            }
        ),
        about: "What each load carried.".to_owned(),
        height_px: 320,
        x: load_axis(curve.lever, &loads),
        y: axis::iops(),
        series,
        spans,
        rules: Vec::new(),
        cells: None,
        notes,
        source: source.line.to_owned(),
        thinned: None,
        table,
    }
}

/// Lays loads out; texts closer than a third would overlap and are left out.
fn load_axis(lever: Lever, loads: &[f64]) -> Axis {
    let all = axis::powers(lever.unit(), loads, load_words);
    Axis { ticks: axis::powers("", &thinned_loads(loads), load_words).ticks, ..all }
}

/// Returns loads that are at least a third apart.
fn thinned_loads(loads: &[f64]) -> Vec<f64> {
    let mut kept: Vec<f64> = Vec::new();
    for load in loads {
        if kept.last().is_none_or(|last| load / last > 1.35) {
            kept.push(*load);
        }
    }
    kept
}

fn round3(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}
