//! The search for the load line: the highest load that keeps the limits.
//!
//! [`Search`] asks for one load after the other and takes what came of it; who probes, and whether
//! in real or virtual time, it does not know.
//!
//! 1. Coarse: the load grows by `factor` until a probe fails (or shrinks, if the first one fails);
//!    by two such steps at once while the limits are hardly pressed.
//! 2. Narrow: the bracket [last pass, first fail] shrinks until it is within `tolerance`. What an
//!    overloaded probe achieved is a first guess of the line; then how hard the limits were
//!    pressed at both ends; then the middle.
//! 3. Confirm: both ends are probed `n_repeats` times. A pass that does not repeat moves the line
//!    down; a fail that does not repeat moves the upper end up.
//! 4. Curve: equally spaced loads up to the line, in the order asked for.
//!
//! It assumes that above a load that fails all fail, which real volumes do not always keep: a point
//! of the curve that fails below the line, twice, is listed in [`LoadLine::dips`].
//!
//! Sources: doubling and bisection after P. Shivam et al., "Cutting corners: workbench automation
//! for server benchmarking", USENIX ATC'08.

mod edges;
mod narrow;
mod options;

use std::collections::BTreeMap;

use crate::random::shuffle;
use crate::stats::Interval;

use edges::{Edges, Tally};
pub use options::{PointOrder, SearchError, SearchOptions};

/// A load to try.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Probe {
    /// Position in the order of all probes, from 0.
    pub idx: u32,
    /// The load: offered rate or queue depth, as the search was set up.
    pub load: f64,
    /// What for.
    pub purpose: Purpose,
}

/// What a probe is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To find a load that passes and one that fails.
    Coarse,
    /// To narrow the bracket.
    Narrow,
    /// To see whether an end of the bracket repeats, and from where on all fails.
    Confirm,
    /// For the curve.
    Curve,
    /// A point of the curve failed below the line: once more.
    Again,
}

/// What came of a probe.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProbeResult {
    /// All limits and gates were kept.
    pub passed: bool,
    /// What was achieved, in the unit of the load; none where that means nothing (queue depth).
    pub achieved: Option<f64>,
    /// How hard the limits were pressed ([`crate::Limits::pressure`]); helps to narrow faster.
    pub pressure: Option<f64>,
}

/// A search at work.
///
/// ```
/// use analysis::search::{ProbeResult, Search, SearchOptions};
///
/// let mut search = Search::new(SearchOptions::rate(100.0))?;
/// while let Some(probe) = search.next_probe() {
///     // Here a volume that carries 5,000, and no more is known of it.
///     let passed = probe.load <= 5_000.0;
///     search.take(ProbeResult { passed, achieved: None, pressure: None });
/// }
/// let line = search.line();
/// assert!(line.load.is_some_and(|load| (4_950.0..=5_000.0).contains(&load)));
/// # Ok::<(), analysis::search::SearchError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Search {
    options: SearchOptions,
    /// By load in units of `options.step`.
    tallies: BTreeMap<u64, Tally>,
    next: Option<(u64, Purpose)>,
    taken: Vec<(Probe, ProbeResult)>,
    /// Width of the bracket before the last guess, as a ratio.
    width_before: Option<f64>,
    /// Guesses by what an overloaded probe achieved.
    n_by_achieved: u32,
    /// What the bracket was when the curve began, and the loads still to be measured for it.
    curve: Option<(Edges, Vec<u64>)>,
}

impl Search {
    /// Sets a search up. Fails if the options contradict each other.
    pub fn new(options: SearchOptions) -> Result<Self, SearchError> {
        options.check()?;
        let mut search = Search {
            options,
            tallies: BTreeMap::new(),
            next: None,
            taken: Vec::new(),
            width_before: None,
            n_by_achieved: 0,
            curve: None,
        };
        search.next = search.plan();
        Ok(search)
    }

    /// Returns the next load to try; none when the search is over. Asking twice gives the same.
    pub fn next_probe(&self) -> Option<Probe> {
        let (units, purpose) = self.next?;
        let load = units as f64 * self.options.step;
        Some(Probe { idx: self.taken.len() as u32, load, purpose })
    }

    /// Takes the result of the probe that [`Search::next_probe`] asked for. Without one, nothing
    /// happens.
    pub fn take(&mut self, result: ProbeResult) {
        let (Some(probe), Some((units, _))) = (self.next_probe(), self.next) else { return };
        self.taken.push((probe, result));
        self.tallies.entry(units).or_default().add(&result);
        self.next = self.plan();
    }

    /// Asks for one more load when all is measured: where a figure is read off the curve and its
    /// points lie far apart. It is no point of [`Search::curve_loads`], and moves no line. Before
    /// the curve nothing happens.
    pub fn also(&mut self, load: f64) {
        let units = self.options.units(load);
        let Some((_, points)) = self.curve.as_mut() else { return };
        points.insert(0, units);
        if self.next.is_none() {
            self.next = self.plan();
        }
    }

    /// Returns all probes so far, in the order in which they were made.
    pub fn taken(&self) -> &[(Probe, ProbeResult)] {
        &self.taken
    }

    /// Returns the equally spaced loads of the curve in ascending order, those that were measured
    /// on the way to the line among them; empty before the curve begins.
    pub fn curve_loads(&self) -> Vec<f64> {
        let Some((edges, _)) = &self.curve else { return Vec::new() };
        self.grid(edges).map(|units| units as f64 * self.options.step).collect()
    }

    /// Returns what is known of the load line so far.
    pub fn line(&self) -> LoadLine {
        let edges = self.curve.as_ref().map_or_else(|| Edges::of(&self.tallies), |curve| curve.0);
        let load = |units: u64| units as f64 * self.options.step;
        let n_fresh = |units: u64| self.tally(units).n().saturating_sub(1);
        let interval = match (edges.pass, edges.fails_all) {
            (Some(low), Some(high)) => {
                // Each end was chosen by its first result; only the repeats are evidence.
                let doubt = |units| 0.5_f64.powi(n_fresh(units) as i32);
                let coverage = (1.0 - doubt(low) - doubt(high)).max(0.0);
                Some(Interval { low: load(low), high: load(high), coverage })
            }
            _ => None,
        };
        LoadLine {
            load: edges.pass.map(load),
            first_fail: edges.fail.map(load),
            interval,
            end: self.end(&edges),
            dips: self.dips(&edges).map(load).collect(),
        }
    }

    fn end(&self, edges: &Edges) -> LineEnd {
        match (edges.pass, edges.fail) {
            (Some(pass), Some(fail)) if self.options.is_close(pass, fail) => LineEnd::Bracketed,
            (Some(pass), None) if pass >= self.options.units_max() => LineEnd::NothingFailed,
            (None, Some(fail)) if fail <= self.options.units_min() => LineEnd::NothingPassed,
            _ => LineEnd::Unfinished,
        }
    }

    /// Returns the loads below the line that failed every time, at least twice.
    fn dips(&self, edges: &Edges) -> impl Iterator<Item = u64> {
        let below = edges.pass.map_or(0, |pass| pass);
        let dips = self.tallies.range(..below).filter(|(_, tally)| tally.n_pass == 0);
        dips.filter(|(_, tally)| tally.n_fail > 1).map(|(units, _)| *units)
    }

    fn tally(&self, units: u64) -> Tally {
        self.tallies.get(&units).copied().unwrap_or_default()
    }

    /// Decides what to try next.
    fn plan(&mut self) -> Option<(u64, Purpose)> {
        if self.curve.is_none() {
            let edges = Edges::of(&self.tallies);
            let n_taken = self.taken.len();
            if n_taken < self.options.n_probes_max as usize
                && let Some(next) = self.bracket_step(&edges)
            {
                return Some(next);
            }
            self.curve = Some((edges, self.curve_points(&edges)));
        }
        self.curve_step()
    }

    /// Steps 1 to 3.
    fn bracket_step(&mut self, edges: &Edges) -> Option<(u64, Purpose)> {
        let (units_min, units_max) = (self.options.units_min(), self.options.units_max());
        let (pass, fail) = match (edges.pass, edges.fail) {
            (None, None) => return Some((self.options.units_start(), Purpose::Coarse)),
            (Some(pass), None) => {
                let next = self.options.grown(pass, self.tally(pass).pressure).min(units_max);
                return (next > pass).then_some((next, Purpose::Coarse));
            }
            (None, Some(fail)) => {
                let next = self.options.shrunk(fail).max(units_min);
                return (next < fail).then_some((next, Purpose::Coarse));
            }
            (Some(pass), Some(fail)) => (pass, fail),
        };
        if !self.options.is_close(pass, fail) {
            return Some((self.narrow(pass, fail), Purpose::Narrow));
        }
        if self.tally(pass).n_pass < self.options.n_repeats {
            return Some((pass, Purpose::Confirm));
        }
        let Some(fails_all) = edges.fails_all else {
            // The lowest failing load has passed as well: where do all fail?
            let last = self.tallies.last_key_value().map_or(fail, |(units, _)| *units);
            let next = self.options.a_step_above(last).min(units_max);
            return (next > last).then_some((next, Purpose::Confirm));
        };
        let doubtful = edges.doubtful.unwrap_or(pass);
        if doubtful > pass && !self.options.is_close(doubtful, fails_all) {
            return Some((self.above_doubt(doubtful, fails_all, pass), Purpose::Confirm));
        }
        let n_fail = self.tally(fails_all).n_fail;
        (n_fail < self.options.n_repeats).then_some((fails_all, Purpose::Confirm))
    }

    /// Returns a load between one that passed by chance, as it seems, and one far above it: a
    /// tolerance higher, and twice as far with each that passes too.
    fn above_doubt(&self, doubtful: u64, fails_all: u64, pass: u64) -> u64 {
        let n_passed = self.tallies.range(pass + 1..).filter(|(_, tally)| tally.n_pass > 0).count();
        let steps = 2.0_f64.powi(n_passed.clamp(1, 64) as i32 - 1);
        let next = (doubtful as f64 * (1.0 + self.options.tolerance * steps)) as u64;
        if next < fails_all { next.max(doubtful + 1) } else { narrow::middle(doubtful, fails_all) }
    }

    /// Returns how many loads were tried before the curve: repeats of a load are none.
    pub fn n_searched(&self) -> usize {
        let before = |probe: &Probe| !matches!(probe.purpose, Purpose::Curve | Purpose::Again);
        let loads = self.taken.iter().filter(|(probe, _)| before(probe));
        let loads = loads.map(|(probe, _)| self.options.units(probe.load));
        loads.collect::<std::collections::BTreeSet<u64>>().len()
    }

    /// Returns the equally spaced loads up to the line, in ascending order.
    fn grid(&self, edges: &Edges) -> impl Iterator<Item = u64> {
        let line = edges.pass.unwrap_or(0);
        let n = u64::from(self.options.n_curve_points);
        let mut last = 0;
        let grid =
            (1..=n).map(move |k| (u128::from(line) * u128::from(k)).div_ceil(u128::from(n)) as u64);
        grid.filter(move |units| *units > std::mem::replace(&mut last, *units))
    }

    /// Returns the loads of the curve that have to be measured, in that order.
    fn curve_points(&self, edges: &Edges) -> Vec<u64> {
        let measured = |units: &u64| self.tallies.contains_key(units);
        let mut points: Vec<u64> = self.grid(edges).filter(|units| !measured(units)).collect();
        match self.options.order {
            PointOrder::Ascending => points.reverse(),
            PointOrder::Descending => {}
            PointOrder::Shuffled { seed } => shuffle(&mut points, seed),
        }
        points
    }

    /// Step 4. The points are taken from the end of the list.
    fn curve_step(&mut self) -> Option<(u64, Purpose)> {
        if let Some((probe, result)) = self.taken.last()
            && probe.purpose == Purpose::Curve
            && !result.passed
        {
            let units = self.options.units(probe.load);
            return Some((units, Purpose::Again));
        }
        let (_, points) = self.curve.as_mut()?;
        points.pop().map(|units| (units, Purpose::Curve))
    }
}

/// How far the search came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineEnd {
    /// The line lies between `load` and `first_fail`, within the tolerance.
    Bracketed,
    /// Even the largest load of the search passed: the line lies above.
    NothingFailed,
    /// Even the smallest load of the search failed.
    NothingPassed,
    /// The search is not over, or the number of probes was its limit.
    Unfinished,
}

/// The load line: the highest load that keeps the limits.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadLine {
    /// The highest load below all failing ones, whose every probe passed.
    pub load: Option<f64>,
    /// The lowest load of which a probe failed.
    pub first_fail: Option<f64>,
    /// From `load` to the lowest load whose every probe failed. It holds the line, as the load
    /// that passes every other time, with a probability of at least `1 - 2^-a - 2^-b`, where `a`
    /// and `b` count how often the ends were repeated: 50 % with 3 measurements of each, 94 % with
    /// 6, 97 % with 7.
    pub interval: Option<Interval>,
    /// How far the search came.
    pub end: LineEnd,
    /// Loads of the curve below the line that failed, and failed again. Where there is one, the
    /// volume is not simply slower under more load, and the line needs this beside it.
    pub dips: Vec<f64>,
}
