//! The search for the load line: the highest load that keeps the limits.
//!
//! [`Search`] returns one load after the other to try, and takes the result; who probes, in real or
//! virtual time, does not matter. A probe is *carried*, *failed* or *void*: the generator was at
//! fault, or too few operations lie beyond the percentile of a limit. A void probe is repeated, up
//! to a limit.
//!
//! No single answer decides. All answers together give a probability distribution of the line
//! (`belief`), which allows for failures by chance, alone or several in a row.
//!
//! 1. Coarse: the load grows by `factor` until the line is more likely below than above (or
//!    shrinks, if it is so at first); by two such steps at once while limits are hardly pressed.
//! 2. Narrow: between the highest load that is more likely carried than not and the lowest one that
//!    is not. What an overloaded probe achieved is a first guess of the line; then how hard the
//!    limits were pressed at both ends; then the middle. An end in doubt is probed again, after a
//!    load that should be carried where it has just failed; where it turns out to be none, the
//!    search goes on from there, and doubles again if nothing above has failed.
//! 3. Confirm: both ends are probed in turn, `n_repeats` times at least, until the line lies
//!    between them with a probability of [`SURE`].
//! 4. Curve: equally spaced loads up to the line, in the order asked for.
//! 5. Control: both ends once more, to see whether the limit has moved meanwhile; where it seems to
//!    have, some more, for one that goes to and fro comes back.
//!
//! There is no line where the answers do not follow the load, or fit a limit that moves better than
//! one that stands still: [`LineEnd::CannotTell`] says so.
//!
//! Sources: doubling after P. Shivam et al., "Cutting corners: workbench automation for server
//! benchmarking", USENIX ATC'08; the rest in `belief`.

mod belief;
mod line;
#[cfg(test)]
mod misuse;
mod narrow;
mod options;

use std::collections::BTreeMap;

use crate::random::shuffle;

use belief::Belief;
pub use line::{LimitMove, LineEnd, LoadLine, MOVED_SURE, Reason};
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
    /// To see whether an end of the bracket repeats.
    Confirm,
    /// For the curve.
    Curve,
    /// A point of the curve failed below the line: once more.
    Again,
    /// To see whether the line is still where it was.
    Control,
}

/// What a probe said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// All limits and gates were kept.
    Carried,
    /// A limit was broken, or something failed.
    Failed,
    /// Void: the generator or its host was late, slow or stolen.
    HostAtFault,
    /// Void: too few operations lie beyond a limit's percentile, however long it lasted.
    FewOperations,
}

impl Answer {
    /// Returns whether the load was carried; none where the probe is void.
    pub fn is_carried(self) -> Option<bool> {
        match self {
            Answer::Carried => Some(true),
            Answer::Failed => Some(false),
            Answer::HostAtFault | Answer::FewOperations => None,
        }
    }
}

/// What came of a probe.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProbeResult {
    /// What it said.
    pub answer: Answer,
    /// What was achieved, in the unit of the load; none where that means nothing (queue depth).
    pub achieved: Option<f64>,
    /// How hard the limits were pressed ([`crate::Limits::pressure`]); helps to narrow faster.
    pub pressure: Option<f64>,
}

/// A search at work.
///
/// ```
/// use analysis::search::{Answer, ProbeResult, Search, SearchOptions};
///
/// let mut search = Search::new(SearchOptions::rate(100.0))?;
/// while let Some(probe) = search.next_probe() {
///     // Here a volume that carries 5,000, and no more is known of it.
///     let answer = if probe.load <= 5_000.0 { Answer::Carried } else { Answer::Failed };
///     search.take(ProbeResult { answer, achieved: None, pressure: None });
/// }
/// let line = search.line();
/// assert!(line.load.is_some_and(|load| (4_950.0..=5_000.0).contains(&load)));
/// # Ok::<(), analysis::search::SearchError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Search {
    options: SearchOptions,
    belief: Belief,
    /// By load in units of `options.step`.
    tallies: BTreeMap<u64, Tally>,
    next: Option<(u64, Purpose)>,
    taken: Vec<(Probe, ProbeResult)>,
    /// Width of the bracket before the last guess, as a ratio.
    width_before: Option<f64>,
    /// Guesses by what an overloaded probe achieved.
    n_by_achieved: u32,
    /// Rates of overloaded probes that the belief has taken.
    n_hints: u32,
    /// Probes in a row that said nothing.
    n_nothing: u32,
    /// Probes taken when the limit was first suspected to move, and has been ever since.
    suspected_at: Option<usize>,
    /// What the search came to, and the loads still to be measured for the curve.
    found: Option<FinalPhase>,
}

/// What is left to do when the search has ended.
#[derive(Clone, Debug)]
struct FinalPhase {
    end: LineEnd,
    /// The line that the curve goes up to, in units.
    line: Option<u64>,
    /// The ends to be probed once more at the end.
    ends: Option<(u64, u64)>,
    /// Loads still to be measured, the next one last.
    points: Vec<u64>,
    /// Probes taken when the curve began.
    n_taken: usize,
    /// Which way the limit has moved, if it has; found out when all is measured.
    drift: Option<LimitMove>,
}

/// The probes of one load that said something.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    n_carried: u32,
    n_failed: u32,
    /// Of the last probe.
    achieved: Option<f64>,
    /// Of the last probe.
    pressure: Option<f64>,
}

impl Tally {
    fn add(&mut self, is_carried: bool, result: &ProbeResult) {
        let count = if is_carried { &mut self.n_carried } else { &mut self.n_failed };
        *count += 1;
        self.achieved = result.achieved.filter(|achieved| achieved.is_finite());
        self.pressure = result.pressure.filter(|pressure| pressure.is_finite());
    }

    fn n(&self) -> u32 {
        self.n_carried + self.n_failed
    }
}

/// Probability with which the line lies between the ends of a bracket that is done.
pub const SURE: f64 = 0.95;

/// The same where an answer contradicts another one, or there is no load to compare with.
const SURE_IN_TROUBLE: f64 = 0.99;

/// Doubt in an end at which it is probed again before anything between the ends.
const DOUBT_MAX: f64 = 0.25;

/// A line that is soft is not found any finer by going on: from so many probes near it on, an
/// interval of [`SOFT_WIDTH`] tolerances is enough.
const N_NEAR_MAX: usize = 14;
const SOFT_WIDTH: f64 = 4.0;

/// How far above a soft line one load is tried where nothing that was tried bounds it, as a share:
/// the line is softer than that nowhere, and an interval that ends there is an answer.
const BOUND: f64 = 0.1;

/// Rates of overloaded probes that the belief takes: one volume's say the same each time.
const N_HINTS_MAX: u32 = 2;

/// Probes from which on the limit is suspected to move, each time some more are taken.
const N_DRIFT_MIN: usize = 18;

/// Probes after which a lasting suspicion of a moved limit is accepted: a limit that goes to and
/// fro comes back.
const N_DRIFT_MORE: usize = 6;

/// Void probes in a row after which the search ends.
const N_NOTHING_MAX: u32 = 10;

/// Probes with a generator at fault, and a quarter of all, that are why a search found nothing.
const N_HOST_MIN: usize = 3;

/// Probes of the ends after the curve, at most.
const N_CONTROLS_MAX: usize = 6;

impl Search {
    /// Sets a search up. Fails if the options contradict each other.
    pub fn new(options: SearchOptions) -> Result<Self, SearchError> {
        options.check()?;
        let mut search = Search {
            options,
            belief: Belief::new(&options),
            tallies: BTreeMap::new(),
            next: None,
            taken: Vec::new(),
            width_before: None,
            n_by_achieved: 0,
            n_hints: 0,
            n_nothing: 0,
            suspected_at: None,
            found: None,
        };
        search.next = search.plan();
        Ok(search)
    }

    /// Returns the next load to try; none when the search is over. Asking twice gives the same.
    pub fn next_probe(&self) -> Option<Probe> {
        let (units, purpose) = self.next?;
        Some(Probe { idx: self.taken.len() as u32, load: self.load(units), purpose })
    }

    /// Takes the result of the probe that [`Search::next_probe`] asked for.
    ///
    /// # Panics
    /// If it asked for none: the search is over.
    pub fn take(&mut self, result: ProbeResult) {
        let asked = self.next_probe().zip(self.next);
        let n = self.taken.len();
        assert!(asked.is_some(), "{:?} of no probe: the search ended after {n}", result.answer);
        let Some((probe, (units, _))) = asked else { return };
        self.taken.push((probe, result));
        let Some(is_carried) = result.answer.is_carried() else {
            self.n_nothing += 1;
            let is_hopeless = result.answer == Answer::FewOperations
                || self.n_nothing >= N_NOTHING_MAX
                || self.taken.len() >= 2 * self.options.n_taken_max() as usize;
            if is_hopeless {
                self.give_up();
            } else if self.found.is_none() && self.is_out_of_probes() {
                self.next = self.plan();
            }
            return;
        };
        self.n_nothing = 0;
        self.tallies.entry(units).or_default().add(is_carried, &result);
        self.belief.take(probe.load, is_carried);
        let room = 1.0 - 3.0 * self.options.tolerance;
        let overload =
            result.achieved.filter(|it| !is_carried && *it > 0.0 && *it < probe.load * room);
        if let Some(achieved) = overload.filter(|_| self.n_hints < N_HINTS_MAX) {
            self.n_hints += 1;
            self.belief.hint(achieved);
        }
        self.next = self.plan();
    }

    /// Asks for one more load when all is measured: where a figure is read off the curve and its
    /// points lie far apart. It is no point of [`Search::curve_loads`], and moves no line. Before
    /// the curve nothing happens.
    ///
    /// # Panics
    /// If the load is none that the search may try.
    pub fn also(&mut self, load: f64) {
        let SearchOptions { min, max, .. } = self.options;
        assert!((min..=max).contains(&load), "a load of {load}, between {min} and {max}");
        let units = self.options.units(load);
        let Some(found) = self.found.as_mut() else { return };
        found.points.insert(0, units);
        if self.next.is_none() {
            self.next = self.plan();
        }
    }

    /// Ends the search: who probes cannot go on. What was found stands.
    pub fn abandon(&mut self) {
        if self.found.is_none() {
            self.end_with(LineEnd::CannotTell(Reason::Host));
        }
        self.give_up();
    }

    /// Returns all probes so far, in the order in which they were made.
    pub fn taken(&self) -> &[(Probe, ProbeResult)] {
        &self.taken
    }

    /// Returns the equally spaced loads of the curve in ascending order, those that were measured
    /// on the way to the line among them; empty before the curve begins.
    pub fn curve_loads(&self) -> Vec<f64> {
        let Some(line) = self.found.as_ref().and_then(|found| found.line) else {
            return Vec::new();
        };
        self.grid(line).map(|units| self.load(units)).collect()
    }

    /// Returns how many loads were tried before the curve: repeats of a load are none.
    pub fn n_searched(&self) -> usize {
        let n_taken = self.found.as_ref().map_or(self.taken.len(), |found| found.n_taken);
        let loads = self.taken[..n_taken].iter().map(|(probe, _)| self.options.units(probe.load));
        loads.collect::<std::collections::BTreeSet<u64>>().len()
    }

    fn load(&self, units: u64) -> f64 {
        units as f64 * self.options.step
    }

    fn tally(&self, units: u64) -> Tally {
        self.tallies.get(&units).copied().unwrap_or_default()
    }

    /// Probability that the line is below a load.
    fn below(&self, units: u64) -> f64 {
        self.belief.below(self.load(units))
    }

    /// Counts the probes of the curve.
    fn n_of_curve(&self) -> usize {
        let is_of_curve = |purpose| match purpose {
            Purpose::Curve | Purpose::Again => true,
            Purpose::Coarse | Purpose::Narrow | Purpose::Confirm | Purpose::Control => false,
        };
        self.taken.iter().filter(|(probe, _)| is_of_curve(probe.purpose)).count()
    }

    /// Returns whether as many probes were made to find the line as may be. Those of the curve are
    /// none of them; controls are, where the search goes on after them.
    fn is_out_of_probes(&self) -> bool {
        self.taken.len() - self.n_of_curve() >= self.options.n_probes_max as usize
    }

    /// Returns the highest measured load that is more likely carried than not, and the lowest one
    /// that is not: the line is between them.
    fn ends(&self) -> (Option<u64>, Option<u64>) {
        let mut low = None;
        for units in self.tallies.keys() {
            if self.below(*units) > 0.5 {
                return (low, Some(*units));
            }
            low = Some(*units);
        }
        (low, None)
    }

    /// Decides what to try next.
    fn plan(&mut self) -> Option<(u64, Purpose)> {
        if self.found.is_none() {
            match self.step() {
                Step::Probe(units, purpose) => return Some((units, purpose)),
                Step::End(end) => self.end_with(end),
            }
        }
        let next = self.curve_step().or_else(|| self.drift_step());
        if next.is_some() {
            return next;
        }
        self.judge_drift();
        if self.is_overturned() {
            self.found = None;
            return self.plan();
        }
        None
    }

    /// Returns whether what was measured after the search says that the line is elsewhere, and
    /// there are probes left to find it.
    fn is_overturned(&self) -> bool {
        let is_line = |found: &FinalPhase| found.ends.is_some() && found.drift.is_none();
        let may_go_on = !self.is_out_of_probes();
        // Where an end has turned out to be none, the next load that was carried may lie far below
        // the line although it is well known: one beside it is measured first.
        let (low, high) = self.ends();
        let is_narrow =
            low.and_then(|low| self.stands(low)).zip(high).is_some_and(|(low, high)| {
                self.is_narrow(low, high) && self.near_belief(low, high).is_none()
            });
        self.found.as_ref().is_some_and(is_line) && may_go_on && !is_narrow
    }

    /// Steps 1 to 3.
    fn step(&mut self) -> Step {
        let n = self.taken.len();
        let ends = self.ends();
        if self.is_out_of_probes() {
            return Step::End(self.out_of_probes(ends));
        }
        if n >= N_DRIFT_MIN && n.is_multiple_of(6) && self.has_drifted() {
            return Step::End(LineEnd::CannotTell(Reason::Unsteady));
        }
        let (units_min, units_max) = (self.options.units_min(), self.options.units_max());
        match ends {
            (None, None) => Step::Probe(self.options.units_start(), Purpose::Coarse),
            (Some(low), None) => {
                if self.below(low) > DOUBT_MAX {
                    return Step::Probe(self.apart(low, low), Purpose::Confirm);
                }
                let next = self.options.grown(low, self.tally(low).pressure).min(units_max);
                if next > low {
                    return Step::Probe(next, Purpose::Coarse);
                }
                Step::End(LineEnd::NothingFailed)
            }
            (None, Some(high)) => {
                let next = self.options.shrunk(high).max(units_min);
                if next < high {
                    return Step::Probe(next, Purpose::Coarse);
                }
                let is_sure = self.below(high) >= SURE_IN_TROUBLE;
                if is_sure && self.tally(high).n() >= self.options.n_repeats {
                    return Step::End(LineEnd::NothingPassed);
                }
                Step::Probe(high, Purpose::Confirm)
            }
            (Some(low), Some(high)) => self.between(low, high),
        }
    }

    /// Steps 2 and 3.
    fn between(&mut self, low: u64, high: u64) -> Step {
        let (doubt_low, doubt_high) = (self.below(low), 1.0 - self.below(high));
        if self.options.is_close(low, high) {
            let (n_low, n_high) = (self.tally(low).n(), self.tally(high).n());
            let n_least = n_low.min(n_high);
            let sure = if self.is_contradicted(low, high) { SURE_IN_TROUBLE } else { SURE };
            let is_sure = doubt_low + doubt_high <= 1.0 - sure;
            let is_repeated = n_least >= self.options.n_repeats;
            let is_soft = is_repeated && self.is_soft();
            if (is_repeated && is_sure) || (is_soft && self.is_known(low, high)) {
                return Step::End(LineEnd::Bracketed);
            }
            if let Some(above) = self.bound_above(low, high).filter(|_| is_soft) {
                return Step::Probe(self.apart(above, low), Purpose::Confirm);
            }
            // In turn until both are repeated, then the one that is in more doubt.
            let takes_low = if n_least < self.options.n_repeats && n_low != n_high {
                n_low < n_high
            } else if n_least < self.options.n_repeats {
                self.last() == Some(high)
            } else {
                doubt_low > doubt_high
            };
            let wanted = if takes_low { low } else { high };
            return Step::Probe(self.apart(wanted, low), Purpose::Confirm);
        }
        if let Some(next) = self.near_belief(low, high) {
            return Step::Probe(next, Purpose::Narrow);
        }
        if doubt_high > DOUBT_MAX {
            return Step::Probe(self.apart(high, low), Purpose::Confirm);
        }
        if doubt_low > DOUBT_MAX {
            return Step::Probe(self.apart(low, low), Purpose::Confirm);
        }
        Step::Probe(self.narrow(low, high), Purpose::Narrow)
    }

    /// Returns a load that is probably carried, or probably not, where the line is known far better
    /// than by the measured loads around it: chance has failed or carried one near it.
    fn near_belief(&self, low: u64, high: u64) -> Option<u64> {
        let ends = (self.belief.quantile(0.05), self.belief.quantile(0.95));
        let width = SOFT_WIDTH * self.options.tolerance;
        if ends.1 - ends.0 > width * ends.0 {
            return None;
        }
        let (from, to) = (self.options.units(ends.0), self.options.units(ends.1));
        let is_inside = |units: u64| low < units && units < high;
        if is_inside(from) && !self.options.is_close(low, from) {
            return Some(from);
        }
        // Nearer than that, the middle does.
        let is_far = (high as f64) > to as f64 * (1.0 + width);
        (is_inside(to) && is_far).then_some(to)
    }

    /// Returns the load that was probed last.
    fn last(&self) -> Option<u64> {
        self.taken.last().map(|(probe, _)| self.options.units(probe.load))
    }

    /// Returns a load to probe in place of one that has failed just now: what made it may last.
    /// `low` should be carried; where it is the same, one below is taken.
    fn apart(&self, wanted: u64, low: u64) -> u64 {
        let has_failed = self.taken.last().is_some_and(|(_, it)| it.answer == Answer::Failed);
        if self.last() != Some(wanted) || !has_failed {
            return wanted;
        }
        if wanted != low {
            return low;
        }
        self.tallies.range(..low).next_back().map_or(low, |(units, _)| *units)
    }

    /// Returns whether a load below the line has failed, or one above it was carried.
    fn is_contradicted(&self, low: u64, high: u64) -> bool {
        self.tallies.range(..=low).any(|(_, tally)| tally.n_failed > 0)
            || self.tallies.range(high..).any(|(_, tally)| tally.n_carried > 0)
    }

    /// Returns whether the line has been probed often, and is known as well as it can be.
    fn is_soft(&self) -> bool {
        let (low, high) = (self.belief.quantile(0.05), self.belief.quantile(0.95));
        let width = SOFT_WIDTH * self.options.tolerance;
        let near = |probe: &Probe| probe.load > low * 0.9 && probe.load < high * 1.1;
        let n_near = self.taken.iter().filter(|(probe, _)| near(probe)).count();
        n_near >= N_NEAR_MAX && high - low <= width.max(0.02) * low
    }

    /// Returns a load above a soft line where what was tried leaves too much of the belief beyond:
    /// that all failures were chance. More answers near the line say little about that.
    fn bound_above(&self, low: u64, high: u64) -> Option<u64> {
        let above = self.options.units(self.load(low) * (1.0 + BOUND));
        let above = above.max(high).min(self.options.units_max());
        (above >= high && 1.0 - self.below(above) > (1.0 - SURE) / 4.0).then_some(above)
    }

    /// Returns the result of a search that must not go on.
    fn out_of_probes(&self, ends: (Option<u64>, Option<u64>)) -> LineEnd {
        self.why_no_line(ends.0.zip(ends.1)).map_or(LineEnd::Bracketed, LineEnd::CannotTell)
    }

    /// Returns why a search that had to end has no line.
    fn why_not(&self) -> Reason {
        let of = |answer| self.taken.iter().filter(move |(_, it)| it.answer == answer).count();
        let n_host = of(Answer::HostAtFault);
        if of(Answer::FewOperations) > 0 {
            Reason::FewOperations
        } else if n_host >= N_HOST_MIN && 4 * n_host >= self.taken.len() {
            Reason::Host
        } else if self.drift(self.drift_odds_min()).is_some() {
            Reason::Unsteady
        } else if self.is_out_of_order() {
            Reason::NotOfLoad
        } else {
            Reason::Probes
        }
    }

    /// Ends a search whose probes are void. What was found before stands.
    fn give_up(&mut self) {
        if self.found.is_none() {
            self.end_with(LineEnd::CannotTell(self.why_not()));
        }
        if let Some(found) = &mut self.found {
            found.points.clear();
            found.ends = None;
        }
        self.next = None;
        self.judge_drift();
    }

    fn end_with(&mut self, end: LineEnd) {
        let end = match end {
            LineEnd::Bracketed | LineEnd::NothingPassed if self.is_out_of_order() => {
                LineEnd::CannotTell(Reason::NotOfLoad)
            }
            LineEnd::NothingPassed if self.falls_with_load() => {
                LineEnd::CannotTell(Reason::NotOfLoad)
            }
            end => end,
        };
        let (low, high) = self.ends();
        let line = match end {
            LineEnd::Bracketed | LineEnd::NothingFailed => low.and_then(|low| self.stands(low)),
            LineEnd::NothingPassed | LineEnd::CannotTell(_) | LineEnd::Unfinished => None,
        };
        let ends = low.zip(high).filter(|_| end == LineEnd::Bracketed);
        let points = line.map_or(Vec::new(), |line| self.curve_points(line));
        let n_taken = self.taken.len();
        let is_unsteady = end == LineEnd::CannotTell(Reason::Unsteady);
        let drift = if is_unsteady { self.drift(self.drift_odds_min()) } else { None };
        self.found = Some(FinalPhase { end, line, ends, points, n_taken, drift });
    }

    /// Returns the equally spaced loads up to the line, in ascending order.
    fn grid(&self, line: u64) -> impl Iterator<Item = u64> {
        let n = u64::from(self.options.n_curve_points);
        let mut last = 0;
        let grid =
            (1..=n).map(move |k| (u128::from(line) * u128::from(k)).div_ceil(u128::from(n)) as u64);
        grid.filter(move |units| *units > std::mem::replace(&mut last, *units))
    }

    /// Returns the loads of the curve that have to be measured, the first one last. One that has
    /// only failed is measured again.
    fn curve_points(&self, line: u64) -> Vec<u64> {
        let stands = |units: &u64| self.tally(*units).n_carried > 0;
        let mut points: Vec<u64> = self.grid(line).filter(|units| !stands(units)).collect();
        match self.options.order {
            PointOrder::Ascending => points.reverse(),
            PointOrder::Descending => {}
            PointOrder::Shuffled { seed } => shuffle(&mut points, seed),
        }
        // Of a search that went on after its curve, as many as are left.
        let n_left = (self.options.n_of_curve_max() as usize).saturating_sub(self.n_of_curve());
        points.split_off(points.len().saturating_sub(n_left))
    }

    /// Steps 4 and 5.
    fn curve_step(&mut self) -> Option<(u64, Purpose)> {
        let has_room = self.n_of_curve() < self.options.n_of_curve_max() as usize;
        if let Some((probe, result)) = self.taken.last()
            && probe.purpose == Purpose::Curve
            && result.answer == Answer::Failed
            && has_room
        {
            let units = self.options.units(probe.load);
            return Some((units, Purpose::Again));
        }
        let found = self.found.as_mut()?;
        if has_room && let Some(units) = found.points.pop() {
            return Some((units, Purpose::Curve));
        }
        let (low, high) = found.ends?;
        let since = found.n_taken;
        let controls =
            || self.taken.iter().skip(since).filter(|(it, _)| it.purpose == Purpose::Control);
        let n = controls().count();
        // One each; more where they say something else than before.
        let is_new = |probe: &Probe, it: &ProbeResult| {
            let is_low = self.options.units(probe.load) == low;
            it.answer.is_carried().is_some_and(|carried| carried != is_low)
        };
        let is_contradicted = controls().any(|(probe, it)| is_new(probe, it));
        if n >= N_CONTROLS_MAX || (n >= 2 && !is_contradicted) {
            return None;
        }
        let moved = match self.ends() {
            (Some(low), Some(high)) if n >= 2 => self.near_belief(low, high),
            _ => None,
        };
        Some((moved.unwrap_or(if n.is_multiple_of(2) { low } else { high }), Purpose::Control))
    }

    /// Returns whether the limit is suspected to move, and was already some probes ago.
    fn has_drifted(&mut self) -> bool {
        let n = self.taken.len();
        self.suspected_at =
            self.drift(self.drift_odds_min()).map(|_| self.suspected_at.unwrap_or(n));
        self.suspected_at.is_some_and(|at| n >= at + N_DRIFT_MORE)
    }

    /// After step 5: a suspicion that the limit moves is looked into, as long as it lasts.
    fn drift_step(&mut self) -> Option<(u64, Purpose)> {
        let is_line = self.found.as_ref().is_some_and(|found| found.ends.is_some());
        if !is_line || self.is_out_of_probes() || self.has_drifted() || self.suspected_at.is_none()
        {
            return None;
        }
        let (low, high) = (self.ends().0?, self.ends().1?);
        let next = if self.last() == Some(low) { high } else { low };
        Some((self.near_belief(low, high).unwrap_or(next), Purpose::Control))
    }
}

/// What comes next.
enum Step {
    /// A probe.
    Probe(u64, Purpose),
    /// Nothing: the search is over.
    End(LineEnd),
}
