//! The result of a sweep, from its points.

use analysis::curve::{UslFit, depth_for, knees, overall_response_time};
use analysis::gates::Backlog;
use analysis::limit::LatencyFigure;
use analysis::search::{LimitMove, LineEnd, LoadLine, Reason, Search};
use analysis::{Limit, Limits, Point, series, stats};
use plan::load::Arrivals;
use record::{
    CannotTell, CarriedRecord, CarriedState, CurvePointRecord, CurveRecord, CurveTargetRecord,
    Figure, IntervalRecord, KneesRecord, LineVerdict, LoadLineRecord, ScalabilityRecord, SearchEnd,
    is_same_load, load_words,
};
use units::format_percent;

use crate::lever::Lever;

/// Mean latencies that people ask for.
const ROUND_LATENCIES_NS: [u64; 3] = [1_000_000, 2_000_000, 10_000_000];

/// Sensitivity of the search for knees.
pub(crate) const KNEE_SENSITIVITY: f64 = 1.0;

/// A point, with the histogram that it was read from.
#[derive(Clone, Debug)]
pub(crate) struct Measured {
    pub(crate) point: CurvePointRecord,
    pub(crate) histogram: Option<Point>,
}

/// Returns the record of one point.
pub(crate) fn point(
    step_idx: u32,
    load: f64,
    purpose: &str,
    measured: Option<&Point>,
    broken: Vec<String>,
) -> CurvePointRecord {
    CurvePointRecord {
        step_idx,
        load,
        purpose: purpose.to_owned(),
        passed: broken.is_empty(),
        broken,
        void: None,
        figures: measured.map(Point::figures).unwrap_or_default(),
    }
}

/// Returns what a point has where a limit is broken, such as `p99 12.4ms, not < 10ms`.
pub(crate) fn broken_limit(limit: &Limit, point: &Point) -> String {
    let figure = limit.figure(&point.measured());
    match (limit, figure) {
        (Limit::Latency { figure: name, .. }, Some(ns)) => {
            format!("{name} {}, not {}", milliseconds(ns), bound(limit))
        }
        (Limit::Achieved { share_min }, Some(share)) => {
            let (share, least) = (format_percent(share), format_percent(*share_min));
            format!("achieved {share}, not > {least}")
        }
        (_, None) => format!("`{limit}` has no figure"),
    }
}

/// Reports that a load was not carried because ever more of it waited; none where it did not.
pub(crate) fn grown_backlog(backlog: Backlog) -> Option<String> {
    let Backlog { start, end, .. } = backlog;
    let is_grown = backlog.pressure() > 1.0;
    is_grown.then(|| format!("the backlog grew from {start} to {end} operations"))
}

/// The part of a limit behind its figure.
fn bound(limit: &Limit) -> String {
    let text = limit.to_string();
    text.find('<').map_or(text.clone(), |at| text[at..].to_owned())
}

fn milliseconds(ns: f64) -> String {
    match ns / 1e6 {
        ms if ms >= 100.0 => format!("{ms:.0}ms"),
        ms if ms >= 10.0 => format!("{ms:.1}ms"),
        ms => format!("{ms:.3}ms"),
    }
}

/// Returns the curve of the points so far. `total` turns a load of the search into one over all
/// workers.
pub(crate) fn curve(
    lever: Lever,
    limits: &Limits,
    search: &Search,
    measured: &[Measured],
    total: impl Fn(f64) -> f64,
) -> CurveRecord {
    let (arrivals, in_flight_max) = match lever {
        Lever::Rate { arrivals, in_flight_max } => {
            (Some(arrivals_name(arrivals).to_owned()), Some(u64::from(in_flight_max)))
        }
        Lever::QueueDepth | Lever::Workers => (None, None),
    };
    let mut curve = CurveRecord {
        lever: lever.recorded(),
        arrivals,
        in_flight_max,
        limits: limits.to_string(),
        points: measured.iter().map(|it| it.point.clone()).collect(),
        line: line(search, measured, lever, &total),
        ..CurveRecord::default()
    };
    // Points whose latency does not follow the load, or is the host's, bend nowhere.
    let is_noise = curve.line.reason.is_some_and(|reason| match reason {
        CannotTell::Host | CannotTell::NotOfLoad | CannotTell::Unsteady => true,
        CannotTell::FewOperations | CannotTell::Probes => false,
    });
    if is_noise {
        return curve;
    }
    let has_line = matches!(curve.line.verdict(), LineVerdict::Line(_) | LineVerdict::Above(_));
    let measured = &*standing(measured, &curve);
    let grid: Vec<f64> = search.curve_loads().into_iter().map(&total).collect();
    // What was measured after the curve may have moved the line below its end.
    let line = curve.line.load;
    let is_carried = |load: f64| line.is_none_or(|line| load <= line);
    let is_on_grid = |load: f64| {
        is_carried(load) && (grid.is_empty() || grid.iter().any(|it| is_same_load(*it, load)))
    };
    let on_grid = by_rate(measured, is_on_grid);
    curve.carried = ROUND_LATENCIES_NS.iter().map(|ns| carried(measured, *ns)).collect();
    curve.scalability = if lever.is_open() { None } else { scalability(measured) };
    if !has_line {
        // How far the curve goes is chance.
        return curve;
    }
    curve.overall_response_ns = if lever.is_open() {
        overall_response_time(&on_grid)
    } else {
        overall_response_time(&latency_by_load(measured, is_on_grid))
    };
    curve.knees = knees(&on_grid, KNEE_SENSITIVITY).map(|found| KneesRecord {
        sensitivity: found.sensitivity,
        range_iops: found.range,
        rates_iops: found.loads(),
        leave_one_out_iops: found.leave_one_out,
    });
    curve
}

/// Returns the points that figures are read off: those that say something of their load and are
/// not contradicted.
pub(crate) fn standing<'a>(measured: &'a [Measured], curve: &CurveRecord) -> Vec<&'a Measured> {
    measured.iter().filter(|it| curve.stands(&it.point)).collect()
}

fn arrivals_name(arrivals: Arrivals) -> &'static str {
    match arrivals {
        Arrivals::Linear => "fixed",
        Arrivals::Poisson => "poisson",
        Arrivals::Uniform => "uniform",
    }
}

fn line(
    search: &Search,
    measured: &[Measured],
    lever: Lever,
    total: &impl Fn(f64) -> f64,
) -> LoadLineRecord {
    let line = search.line();
    let load = line.load.map(total);
    let first_fail = line.first_fail.map(total);
    let at = |wanted: Option<f64>| {
        measured
            .iter()
            .map(|it| &it.point)
            .filter(move |point| wanted.is_some_and(|wanted| is_same_load(point.load, wanted)))
            .filter(|point| point.void.is_none())
    };
    let median = |figure: Figure| {
        let passed = at(load).filter(|it| it.passed);
        series::median(&passed.filter_map(|it| it.figures.get(figure)).collect::<Vec<f64>>())
    };
    let achieved_iops = median(Figure::Iops);
    let bytes_per_s = median(Figure::BytesPerS);
    LoadLineRecord {
        end: match line.end {
            LineEnd::Bracketed => SearchEnd::Bracketed,
            LineEnd::NothingFailed => SearchEnd::NothingFailed,
            LineEnd::NothingPassed => SearchEnd::NothingPassed,
            LineEnd::CannotTell(_) => SearchEnd::CannotTell,
            LineEnd::Unfinished => SearchEnd::Unfinished,
        },
        reason: match line.end {
            LineEnd::CannotTell(reason) => Some(reason_of(reason)),
            LineEnd::Bracketed
            | LineEnd::NothingFailed
            | LineEnd::NothingPassed
            | LineEnd::Unfinished => None,
        },
        why: why_not(&line, search, |load| {
            format!("{} {}", load_words(total(load)), lever.recorded().unit())
        }),
        load,
        first_fail,
        interval: line.interval.map(|it| IntervalRecord {
            low: total(it.low),
            high: total(it.high),
            coverage: it.coverage,
        }),
        broken: at(first_fail).find(|it| !it.passed).map_or(Vec::new(), |it| it.broken.clone()),
        achieved_iops,
        // Of the same thing as the line itself: where that is a rate, bytes at that rate.
        bytes_per_s: match (load, achieved_iops) {
            (Some(load), Some(achieved)) if lever.is_open() && achieved > 0.0 => {
                bytes_per_s.map(|bytes_per_s| bytes_per_s / achieved * load)
            }
            _ => bytes_per_s,
        },
        n_probes: search.n_searched() as u32,
        dips: line.dips.into_iter().map(total).collect(),
    }
}

fn reason_of(reason: Reason) -> CannotTell {
    match reason {
        Reason::Host => CannotTell::Host,
        Reason::FewOperations => CannotTell::FewOperations,
        Reason::NotOfLoad => CannotTell::NotOfLoad,
        Reason::Unsteady => CannotTell::Unsteady,
        Reason::Probes => CannotTell::Probes,
    }
}

/// Returns why there is no line; empty where there is one. `words_of` gives a load of the search
/// with its unit.
fn why_not(line: &LoadLine, search: &Search, words_of: impl Fn(f64) -> String) -> String {
    let LineEnd::CannotTell(reason) = line.end else { return String::new() };
    let n_taken = search.taken().len();
    let words = reason_of(reason).words();
    match reason {
        Reason::Host => {
            let n_at_fault = search.n_host_at_fault();
            let carried = line.at_least.map(|load| format!("; {} were carried", words_of(load)));
            format!(
                "{words} in {n_at_fault} of {n_taken} measurements{}",
                carried.unwrap_or_default()
            )
        }
        Reason::FewOperations => words.to_owned(),
        Reason::NotOfLoad => {
            let (n_failed, n) = line.n_failed_below;
            if n_failed == 0 {
                return format!(
                    "{words}: the same loads sometimes failed and were sometimes \
                carried"
                );
            }
            format!(
                "{words}: of {n} measurements well below the highest load that was carried \
                     {n_failed} broke a limit"
            )
        }
        Reason::Unsteady => match line.drift {
            Some(LimitMove::Up) => {
                format!("{words}: more was carried at the end than at the start")
            }
            Some(LimitMove::Down) => {
                format!("{words}: less was carried at the end than at the start")
            }
            None => words.to_owned(),
        },
        // One or two is what chance does.
        Reason::Probes if line.n_by_turns > 2 => format!(
            "{words} after {n_taken} of them: {} loads were carried at one time and not at \
             another, so that what was measured was not steady itself",
            line.n_by_turns
        ),
        Reason::Probes => {
            // Where nothing that was tried bounds the line from above there is no interval.
            let open = line.at_least.filter(|_| line.interval.is_none());
            let least = open.map(|load| format!("; {} at least are carried", words_of(load)));
            format!("{words} after {n_taken} of them{}", least.unwrap_or_default())
        }
    }
}

/// Returns (achieved rate, mean latency) as [`by_load`]. Loads whose rate does not ascend are left
/// out, as behind a peak.
fn by_rate(measured: &[&Measured], is_wanted: impl Fn(f64) -> bool) -> Vec<(f64, f64)> {
    let mut curve: Vec<(f64, f64)> = Vec::new();
    for (rate, mean) in by_load(measured, is_wanted) {
        if curve.last().is_none_or(|last| last.0 < rate) {
            curve.push((rate, mean));
        }
    }
    curve
}

/// Returns (load, mean latency) in ascending order: a closed load's own axis, on which every point
/// counts, also where the rate no longer ascends.
fn latency_by_load(measured: &[&Measured], is_wanted: impl Fn(f64) -> bool) -> Vec<(f64, f64)> {
    let mut loads: Vec<f64> =
        measured.iter().map(|it| it.point.load).filter(|load| is_wanted(*load)).collect();
    loads.sort_by(f64::total_cmp);
    loads.dedup();
    let means = by_load(measured, is_wanted);
    // Nothing to pair where a load has no whole point.
    if means.len() != loads.len() {
        return Vec::new();
    }
    loads.into_iter().zip(means).map(|(load, (_, mean))| (load, mean)).collect()
}

/// Rates of neighbours this near to each other leave nothing to look for between them.
const NEAR: f64 = 1.05;

/// Returns a load of a closed search, in I/Os in flight per worker, between two that are no
/// neighbours and whose rates are far apart, of which the first keeps a round latency and the
/// second does not. `of_one` is what one of the search comes to over all workers.
pub(crate) fn load_between(measured: &[&Measured], of_one: f64) -> Option<f64> {
    let mut loads: Vec<f64> = measured.iter().map(|it| it.point.load).collect();
    loads.sort_by(f64::total_cmp);
    loads.dedup();
    let by_load = by_load(measured, |_| true);
    if by_load.len() != loads.len() {
        return None;
    }
    ROUND_LATENCIES_NS.iter().find_map(|latency_ns| {
        let over = by_load.iter().position(|point| point.1 > *latency_ns as f64)?;
        let under = over.checked_sub(1)?;
        let (low, high) = (loads[under] / of_one, loads[over] / of_one);
        let middle = f64::midpoint(low, high).floor();
        let is_far = by_load[over].0 > NEAR * by_load[under].0;
        (is_far && middle > low && middle < high).then_some(middle)
    })
}

/// Returns values that never fall and are as near to the given ones as can be: neighbours that fall
/// take their mean (pool adjacent violators).
fn isotonic(values: &[f64]) -> Vec<f64> {
    let mut pools: Vec<(f64, usize)> = Vec::new();
    for value in values {
        let mut pool = (*value, 1);
        while let Some((mean, n)) = pools.pop_if(|(mean, _)| *mean > pool.0) {
            let n_all = pool.1 + n;
            pool = ((pool.0 * pool.1 as f64 + mean * n as f64) / n_all as f64, n_all);
        }
        pools.push(pool);
    }
    pools.into_iter().flat_map(|(mean, n)| std::iter::repeat_n(mean, n)).collect()
}

/// Returns the rate at which there is a mean latency, and how it is known: between the two loads of
/// which the first one keeps it. A rate that no longer ascends is no obstacle: what is more only
/// waits.
fn rate_at(by_load: &[(f64, f64)], latency_ns: f64) -> (CarriedState, Option<f64>) {
    let highest = by_load.iter().map(|point| point.0).reduce(f64::max);
    let (Some(highest), Some(first)) = (highest, by_load.first()) else {
        return (CarriedState::Unknown, None);
    };
    // Rates of a real volume go up and down a little: what was measured at no more is carried.
    let kept = by_load.iter().filter(|point| point.1 <= latency_ns).map(|point| point.0);
    let kept = kept.fold(0.0, f64::max);
    // Nor does one slow point below others that keep it decide: it is as fast as those together.
    let means = isotonic(&by_load.iter().map(|point| point.1).collect::<Vec<f64>>());
    let pooled = by_load.iter().zip(means).map(|(point, mean)| (point.0, mean));
    let by_load = &*pooled.collect::<Vec<(f64, f64)>>();
    let Some(over) = by_load.iter().position(|point| point.1 > latency_ns) else {
        return (CarriedState::Above, Some(highest));
    };
    let Some(under) = over.checked_sub(1) else {
        if kept > 0.0 {
            return (CarriedState::Reached, Some(kept));
        }
        return (CarriedState::Below, Some(first.0));
    };
    let (low, high) = (by_load[under], by_load[over]);
    let part = (latency_ns - low.1) / (high.1 - low.1);
    (CarriedState::Reached, Some((low.0 + part * (high.0 - low.0)).max(kept)))
}

/// Returns (achieved rate, mean latency) per load in ascending order: the median of a load's
/// probes, so that a repeated point counts once.
fn by_load(measured: &[&Measured], is_wanted: impl Fn(f64) -> bool) -> Vec<(f64, f64)> {
    let loads = measured.iter().map(|it| it.point.load);
    let mut loads: Vec<f64> = loads.filter(|load| is_wanted(*load)).collect();
    loads.sort_by(f64::total_cmp);
    loads.dedup();
    let mut curve: Vec<(f64, f64)> = Vec::new();
    for load in loads {
        let at: Vec<&Point> = measured
            .iter()
            .filter(|it| is_same_load(it.point.load, load))
            .filter_map(|it| it.histogram.as_ref())
            .collect();
        let rates: Vec<f64> = at.iter().map(|point| point.achieved_iops).collect();
        let means: Vec<f64> =
            at.iter().filter_map(|it| it.by_rate(LatencyFigure::Mean)).map(|it| it.1).collect();
        curve.extend(series::median(&rates).zip(series::median(&means)));
    }
    curve
}

pub(crate) fn carried(measured: &[&Measured], latency_ns: u64) -> CarriedRecord {
    let (state, rate_iops) = rate_at(&by_load(measured, |_| true), latency_ns as f64);
    // The same mix at every load: bytes are in proportion to operations.
    let io_bytes = measured.iter().find_map(|it| {
        let figures = &it.point.figures;
        Some(figures.get(Figure::BytesPerS)? / Some(figures.iops()).filter(|iops| *iops > 0.0)?)
    });
    let bytes_per_s = rate_iops.zip(io_bytes).map(|(rate, bytes)| rate * bytes);
    CarriedRecord { latency_mean_ns: latency_ns, state, rate_iops, bytes_per_s }
}

/// Adds by Little's law how many I/Os in flight a rate takes at the best latency, and whether it
/// was achieved at all: from the points that stand, of the least load the median.
pub fn add_target(curve: &mut CurveRecord, rate_iops: f64) {
    let standing: Vec<&CurvePointRecord> =
        curve.points.iter().filter(|point| curve.stands(point)).collect();
    let mean_ns = |point: &CurvePointRecord| point.figures.get(Figure::Mean).filter(|ns| *ns > 0.0);
    let timed = standing.iter().filter_map(|point| Some((point.load, mean_ns(point)?)));
    let timed: Vec<(f64, f64)> = timed.collect();
    let Some(least) = timed.iter().map(|point| point.0).reduce(f64::min) else { return };
    let means = timed.iter().filter(|point| is_same_load(point.0, least)).map(|point| point.1);
    let Some(latency_mean_ns) = series::median(&means.collect::<Vec<f64>>()) else { return };
    let Some(depth) = depth_for(rate_iops, latency_mean_ns) else { return };
    let highest_iops = standing.iter().map(|point| point.figures.iops()).fold(0.0, f64::max);
    let depth = u64::from(depth);
    curve.target = Some(CurveTargetRecord { rate_iops, latency_mean_ns, depth, highest_iops });
}

fn scalability(measured: &[&Measured]) -> Option<ScalabilityRecord> {
    let mut points: Vec<(f64, f64)> =
        measured.iter().map(|it| (it.point.load, it.point.figures.iops())).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    points.dedup_by(|next, kept| next.0 <= kept.0);
    let fit = UslFit::of(&points).ok()?;
    let stats::Interval { low, high, coverage } = fit.peak_interval;
    Some(ScalabilityRecord {
        rate_iops_of_one: fit.usl.of_one,
        contention: fit.usl.contention,
        coherency: fit.usl.coherency,
        peak_depth: fit.peak_n,
        peak_interval: IntervalRecord { low, high, coverage },
    })
}

#[cfg(test)]
mod tests {
    use analysis::search::SearchOptions;
    use record::Figures;

    use super::*;

    #[test]
    fn a_rate_is_answered_from_points_that_stand() {
        let point = |load: f64, mean_ns: f64, iops: f64| CurvePointRecord {
            load,
            passed: true,
            figures: Figures::each(|figure| match figure {
                Figure::Mean => Some(mean_ns),
                Figure::Iops => Some(iops),
                _ => None,
            }),
            ..CurvePointRecord::default()
        };
        let void = CurvePointRecord {
            void: Some("862 operations, and p99 needs 1000".to_owned()),
            ..point(1.0, 347_629.0, 9_000.0)
        };
        let points = vec![void, point(1.0, 129_000.0, 7_000.0), point(2.0, 300_000.0, 6_500.0)];
        let mut curve = CurveRecord { points, ..CurveRecord::default() };
        add_target(&mut curve, 20_000.0);
        let target = curve.target.expect("an answer");
        // 20,000 x 129 us = 2.58, rounded up.
        assert_eq!((target.latency_mean_ns, target.depth), (129_000.0, 3));
        assert_eq!(target.highest_iops as u64, 7_000);
    }

    /// A search that ran out, of which nothing bounds the line from above.
    #[test]
    fn a_line_that_nothing_bounds_is_said_as_a_least_one() {
        let search = Search::new(SearchOptions::rate(100.0)).expect("options");
        let line = LoadLine {
            end: LineEnd::CannotTell(Reason::Probes),
            at_least: Some(121_000.0),
            interval: None,
            ..search.line()
        };
        let words_of = |load: f64| format!("{} IOPS", load_words(load));
        let why = why_not(&line, &search, words_of);
        let expected = "the measurements ran out after 0 of them; 121 k IOPS at least are carried";
        assert_eq!(why, expected);
        let interval = Some(stats::Interval { low: 1.0, high: 2.0, coverage: 0.95 });
        let why = why_not(&LoadLine { interval, ..line }, &search, words_of);
        assert_eq!(why, "the measurements ran out after 0 of them");
    }
}
