//! The result of a search.

use crate::stats::Interval;

use super::belief::Belief;
use super::{Answer, SURE, Search, SearchOptions, Tally};

/// How far the search came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineEnd {
    /// The line lies in the interval.
    Bracketed,
    /// Even the largest load of the search passed: the line lies above.
    NothingFailed,
    /// Even the smallest load of the search failed.
    NothingPassed,
    /// The answers show no line.
    CannotTell(Reason),
    /// The search is not over.
    Unfinished,
}

/// Why there is no line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The generator or its host was at fault in too many probes.
    Host,
    /// Too few operations lie beyond a limit's percentile.
    FewOperations,
    /// Loads far below others that were carried failed too often: the load is not the cause.
    NotOfLoad,
    /// The limit moved during the search.
    Unsteady,
    /// The number of probes ended the search.
    Probes,
}

/// The load line: the highest load that keeps the limits.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadLine {
    /// The highest measured load that is more likely carried than not. None without a line.
    pub load: Option<f64>,
    /// The lowest measured load that is more likely not carried.
    pub first_fail: Option<f64>,
    /// Where the line lies by all probes together, and with which probability, [`SURE`] or more:
    /// between the two measured loads around it, or a little further where these are less sure, but
    /// never beyond the loads that were tried. Of a limit that moved, where it went:
    /// [`MOVED_SURE`]. Of a search that ran out of probes, where the line is by those that were
    /// made; none where nothing that was tried bounds it.
    pub interval: Option<Interval>,
    /// The highest measured load that was carried, and lies below the line with a probability of
    /// [`SURE`] or more; also where there is no line.
    pub at_least: Option<f64>,
    /// Loads that were carried at one time and failed at another.
    pub n_by_turns: usize,
    /// How far the search came.
    pub end: LineEnd,
    /// Loads of the curve below the line that failed, and failed again. Where there is one, the
    /// volume is not simply slower under more load, and the line needs this beside it.
    pub dips: Vec<f64>,
    /// How often loads well below the line failed, and how often they were probed; of several
    /// failures in a row the first one counts.
    pub n_failed_below: (usize, usize),
    /// Which way the limit moved meanwhile, if it did.
    pub drift: Option<LimitMove>,
}

/// Which way a limit moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitMove {
    /// More is carried now.
    Up,
    /// Less is.
    Down,
}

/// Failures below this share of the line are not caused by the load: the width over which the line
/// is soft is nearer to it.
const WELL_BELOW: f64 = 0.9;

/// Largest share of failures without regard to the load with which a line is still found.
const TROUBLE_MAX: f64 = 0.2;

/// Failures count as independent of the load if chance explains them with less than this
/// probability.
const CHANCE_MAX: f64 = 0.002;

/// Highest probability that is reported, because the model of the answers does not cover every
/// cause.
const COVERAGE_MAX: f64 = 0.99;

/// Where even the lowest load fails: a load this many times higher must not press the limits less
/// than this share of what the lowest one does.
const FAR: u64 = 4;
const FALLS_MIN: f64 = 0.5;

/// Probability from which on failures count as independent of the load.
const CHAOS_MAX: f64 = 0.7;

/// Widest interval with which a search ends by itself, as a share of the load.
const WIDTH_MAX: f64 = 0.1;

/// Widest interval of a line that is given, whatever ended the search, as a share of the load.
const WIDTH_LAST: f64 = 0.2;

/// The same in steps, for loads so low that a few steps are more.
const STEPS_LAST: f64 = 2.0;

/// What rounding may take from a share of the belief.
const ROUNDING: f64 = 1e-9;

/// Share of the belief that must lie within [`WIDTH_MAX`]. The interval that is printed holds
/// [`SURE`], and may be wider.
const WIDTH_SHARE: f64 = 0.9;

/// How a limit may have moved over all probes.
#[derive(Clone, Copy, Debug)]
enum Movement {
    /// One way, by so much as the logarithm, from the first probe on until this share of them was
    /// made.
    OneWay { by: f64, until: f64 },
    /// At once, by so much as the logarithm, when this share of the probes was made.
    Once { by: f64, at: f64 },
    /// To and fro, as on a shared host: the number of swings, and where in a swing it begins.
    ToAndFro { n_swings: f64, from: f64 },
}

/// Probability with which the interval of a limit that moved holds its whole way, as simulated.
pub const MOVED_SURE: f64 = 0.8;

/// Share of the probability of each end of the way that lies outside the interval, on either side.
const MOVED_OUTSIDE: f64 = 0.04;

/// Movements that explain the answers less well than the best one by this factor are left out of
/// that interval.
const MOVEMENT_ODDS_MIN: f64 = 0.01;

/// A limit that swings by no more than this counts as standing still.
const SWING: f64 = 0.03;

impl Movement {
    const fn by(by: f64, until: f64) -> Self {
        Movement::OneWay { by, until }
    }

    const fn once(by: f64, at: f64) -> Self {
        Movement::Once { by, at }
    }

    const fn swings(n_swings: f64, from: f64) -> Self {
        Movement::ToAndFro { n_swings, from }
    }

    /// Returns how much more a load weighed when this share of the probes was made than it does
    /// at the end, as the logarithm.
    fn at(self, made: f64) -> f64 {
        match self {
            Movement::OneWay { by, until } => by * (1.0 - made / until).max(0.0),
            Movement::Once { by, at } => {
                if made < at {
                    by
                } else {
                    0.0
                }
            }
            Movement::ToAndFro { n_swings, from } => {
                SWING * (std::f64::consts::TAU * (n_swings * (1.0 - made) + from)).sin()
            }
        }
    }
}

/// Limits that moved so far that no one line says what is carried: more is now, or less.
const UP: [Movement; 4] = [
    Movement::by(0.09, 1.0),
    Movement::by(0.13, 1.0),
    Movement::by(0.09, 0.6),
    Movement::by(0.13, 0.6),
];
const DOWN: [Movement; 4] = [
    Movement::by(-0.09, 1.0),
    Movement::by(-0.13, 1.0),
    Movement::by(-0.09, 0.6),
    Movement::by(-0.13, 0.6),
];

/// Limits that count as standing still: the interval around a line is as wide. They move in the
/// shapes of those that do not, and at once, as with the clock of a processor: how well a shape
/// fits must not count for how far it goes.
const STEADY: [Movement; 15] = [
    Movement::by(0.0, 1.0),
    Movement::by(-0.03, 1.0),
    Movement::by(0.03, 1.0),
    Movement::by(-0.05, 1.0),
    Movement::by(0.05, 1.0),
    Movement::by(-0.03, 0.6),
    Movement::by(0.03, 0.6),
    Movement::by(-0.05, 0.6),
    Movement::by(0.05, 0.6),
    Movement::once(-0.04, 0.25),
    Movement::once(0.04, 0.25),
    Movement::once(-0.04, 0.5),
    Movement::once(0.04, 0.5),
    Movement::once(-0.04, 0.75),
    Movement::once(0.04, 0.75),
];
const SWINGS: [Movement; 14] = [
    Movement::swings(0.5, 0.0),
    Movement::swings(0.5, 0.5),
    Movement::swings(1.0, 0.0),
    Movement::swings(1.0, 0.25),
    Movement::swings(1.0, 0.5),
    Movement::swings(1.0, 0.75),
    Movement::swings(1.5, 0.0),
    Movement::swings(1.5, 0.25),
    Movement::swings(1.5, 0.5),
    Movement::swings(1.5, 0.75),
    Movement::swings(2.0, 0.0),
    Movement::swings(2.0, 0.25),
    Movement::swings(2.0, 0.5),
    Movement::swings(2.0, 0.75),
];

/// Room around the line in which it may have moved, as a factor.
const DRIFT_ROOM: f64 = 1.3;

/// How much better than a limit that stands still a moving one must explain the answers.
const DRIFT_ODDS_MIN: f64 = 3.3;

/// The same, for a suspicion to last.
const DRIFT_ODDS_KEPT: f64 = 1.4;

impl Search {
    /// Returns what is known of the load line so far.
    pub fn line(&self) -> LoadLine {
        let (low, high) = self.ends();
        let end = self.end();
        let is_line = matches!(end, LineEnd::Bracketed | LineEnd::NothingFailed);
        let units = low.and_then(|low| self.stands(low)).filter(|_| is_line);
        let bracket = units.zip(high).filter(|_| end == LineEnd::Bracketed);
        let interval = match end {
            LineEnd::CannotTell(Reason::Unsteady) => Some(self.swept()),
            LineEnd::CannotTell(Reason::Probes) => {
                low.zip(high).and_then(|(low, high)| self.interval(low, high))
            }
            LineEnd::Bracketed
            | LineEnd::NothingFailed
            | LineEnd::NothingPassed
            | LineEnd::Unfinished
            | LineEnd::CannotTell(Reason::Host | Reason::FewOperations | Reason::NotOfLoad) => {
                bracket.and_then(|(low, high)| self.interval(low, high))
            }
        };
        LoadLine {
            load: units.map(|units| self.load(units)),
            first_fail: high.map(|units| self.load(units)),
            interval,
            at_least: self.at_least(),
            n_by_turns: self.by_turns(),
            end,
            dips: self.dips(units.unwrap_or(0)).map(|units| self.load(units)).collect(),
            n_failed_below: self.failed_below(low.unwrap_or(0)),
            drift: self.found.as_ref().and_then(|found| found.drift),
        }
    }

    fn end(&self) -> LineEnd {
        let Some(found) = &self.found else { return LineEnd::Unfinished };
        if found.drift.is_some() {
            return LineEnd::CannotTell(Reason::Unsteady);
        }
        let ends = self.ends();
        let bracket = ends.0.and_then(|low| self.stands(low)).zip(ends.1);
        match found.end {
            // A later measurement may contradict it.
            LineEnd::Bracketed => {
                self.why_no_line(bracket).map_or(LineEnd::Bracketed, LineEnd::CannotTell)
            }
            end => end,
        }
    }

    fn at_least(&self) -> Option<f64> {
        let mut carried = self.tallies.iter().rev().filter(|(_, tally)| tally.n_carried > 0);
        let sure = carried.find(|(units, _)| self.below(**units) <= 1.0 - SURE);
        sure.map(|(units, _)| self.load(*units))
    }

    fn by_turns(&self) -> usize {
        let tallies = self.tallies.values();
        tallies.filter(|tally| tally.n_carried > 0 && tally.n_failed > 0).count()
    }

    /// Returns the highest load from one down that was carried.
    pub(super) fn stands(&self, low: u64) -> Option<u64> {
        let mut carried = self.tallies.range(..=low).rev();
        carried.find(|(_, tally)| tally.n_carried > 0).map(|(units, _)| *units)
    }

    /// Returns the bracket of two measured loads, wider where it holds less than [`SURE`] of the
    /// belief, and how much it holds; none where so much is not held between loads that were
    /// tried. What lies beyond those is what was believed before any answer, and no evidence.
    fn interval(&self, line: u64, first_fail: u64) -> Option<Interval> {
        let held = |(low, high): (f64, f64)| self.belief.below(high) - self.belief.below(low);
        let mut ends = (self.load(line), self.load(first_fail));
        if held(ends) < SURE {
            let (low, high) = self.widened(line, first_fail, SURE);
            let (lowest, highest) = self.tried(line, first_fail);
            ends = (low.max(lowest), high.min(highest));
        }
        let coverage = held(ends).clamp(0.0, COVERAGE_MAX);
        (coverage >= SURE - ROUNDING).then_some(Interval { low: ends.0, high: ends.1, coverage })
    }

    /// Returns the lowest load that was carried more often than not, and the highest one that
    /// failed more often than not; a bracket's where there is none beyond.
    fn tried(&self, line: u64, first_fail: u64) -> (f64, f64) {
        let carried = self.tallies.range(..line).find(|(_, it)| it.n_carried > it.n_failed);
        let above = self.tallies.range(first_fail..).rev();
        let failed = above.into_iter().find(|(_, it)| it.n_failed > it.n_carried);
        let load =
            |found: Option<(&u64, &Tally)>, other| self.load(found.map_or(other, |it| *it.0));
        (load(carried, line), load(failed, first_fail))
    }

    /// Returns whether a bracket says where the line is: its interval is known, and no wider than
    /// [`WIDTH_LAST`].
    pub(super) fn is_known(&self, low: u64, high: u64) -> bool {
        self.interval(low, high).is_some_and(|Interval { low, high, .. }| {
            high - low <= (WIDTH_LAST * low).max(STEPS_LAST * self.options.step)
        })
    }

    /// Returns the loads between which a limit that moved was from the first probe to the last, by
    /// every movement that explains the answers nearly as well as the best one. Above the highest
    /// load that was tried there is no evidence, whatever is left of the belief there.
    fn swept(&self) -> Interval {
        let highest = self.tallies.keys().next_back().map_or(0.0, |units| self.load(*units));
        let beliefs = UP.iter().chain(&DOWN).map(|it| (it.at(0.0), self.belief_if(*it)));
        let beliefs: Vec<(f64, Belief)> = beliefs.collect();
        let best = beliefs.iter().map(|(_, it)| it.evidence()).fold(f64::NEG_INFINITY, f64::max);
        let (mut low, mut high) = (f64::INFINITY, 0.0_f64);
        for (moved, belief) in &beliefs {
            if belief.evidence() >= best + MOVEMENT_ODDS_MIN.ln() {
                // The end of the way, and its start.
                for factor in [1.0, (-moved).exp()] {
                    low = low.min(belief.quantile(MOVED_OUTSIDE) * factor);
                    high = high.max(belief.quantile(1.0 - MOVED_OUTSIDE).min(highest) * factor);
                }
            }
        }
        Interval { low, high, coverage: MOVED_SURE }
    }

    /// Returns two measured loads, moved apart until either side leaves no more than half of the
    /// rest outside.
    fn widened(&self, low: u64, high: u64, share: f64) -> (f64, f64) {
        let outside = (1.0 - share) / 2.0;
        let low = self.load(low).min(self.belief.quantile(outside));
        (low, self.load(high).max(self.belief.quantile(1.0 - outside)))
    }

    /// Returns whether a line is known so well that nothing more needs to be measured.
    pub(super) fn is_narrow(&self, low: u64, high: u64) -> bool {
        let is_within = || {
            let (low, high) = self.widened(low, high, WIDTH_SHARE);
            high - low <= WIDTH_MAX * low
        };
        self.is_known(low, high) && (self.options.is_close(low, high) || is_within())
    }

    /// Returns why there is no line between two measured loads, if there are two, where nothing
    /// more is measured; none where there is one.
    pub(super) fn why_no_line(&self, bracket: Option<(u64, u64)>) -> Option<Reason> {
        let is_narrow = |(low, high)| self.is_narrow(low, high);
        if bracket.is_some_and(is_narrow) {
            return None;
        }
        let reason = self.why_not();
        let is_known = |(low, high)| self.is_known(low, high);
        let is_line = reason == Reason::Probes && bracket.is_some_and(is_known);
        (!is_line).then_some(reason)
    }

    /// Returns the loads below the line that failed every time, at least twice.
    fn dips(&self, line: u64) -> impl Iterator<Item = u64> {
        let dips = self.tallies.range(..line).filter(|(_, tally)| tally.n_carried == 0);
        dips.filter(|(_, tally)| tally.n_failed > 1).map(|(units, _)| *units)
    }

    /// Counts the failures well below a load, and the probes there. Of several in a row only the
    /// first one counts: what made it fail may have lasted.
    fn failed_below(&self, line: u64) -> (usize, usize) {
        let bound = line as f64 * self.options.step * WELL_BELOW;
        let (mut n_failed, mut n, mut had_failed) = (0, 0, false);
        for (probe, result) in &self.taken {
            let Some(is_carried) = result.answer.is_carried() else { continue };
            if probe.load < bound && (is_carried || !had_failed) {
                n += 1;
                n_failed += usize::from(!is_carried);
            }
            had_failed = !is_carried;
        }
        (n_failed, n)
    }

    /// Returns whether failures do not depend on the load: loads well below the line failed more
    /// often than by chance, or loads well above it were carried.
    pub(super) fn is_out_of_order(&self) -> bool {
        let (low, high) = self.ends();
        let (n_failed, n) = self.failed_below(low.unwrap_or(0));
        let above = high.map_or(u64::MAX, |high| (high as f64 / WELL_BELOW) as u64);
        let above = self.tallies.range(above..);
        let n_carried: u32 = above.map(|(_, tally)| tally.n_carried).sum();
        let is_by_chance = tail(n_failed, n, TROUBLE_MAX) >= CHANCE_MAX;
        n_carried >= 2 || !is_by_chance || self.belief.in_chaos() > CHAOS_MAX
    }

    /// Returns which way the limit moved, where that explains the answers so many times better
    /// than one that stands still.
    pub(super) fn drift(&self, odds_min: f64) -> Option<LimitMove> {
        let of = |is_seen: fn(&Tally) -> bool| {
            self.tallies.iter().filter(move |(_, tally)| is_seen(tally)).map(|(units, _)| *units)
        };
        let highest_carried = of(|tally| tally.n_carried > 0).next_back();
        if highest_carried < of(|tally| tally.n_failed > 0).next() {
            return None; // nothing contradicts a limit that stands still
        }
        let up = self.evidence_of(&UP);
        let down = self.evidence_of(&DOWN);
        let steady = self.evidence_of(&STEADY);
        let best = up.iter().chain(&down).chain(&steady).copied().fold(f64::NEG_INFINITY, f64::max);
        let sum = |evidence: &[f64]| evidence.iter().map(|it| (it - best).exp()).sum::<f64>();
        let (up, down, steady) = (sum(&up), sum(&down), sum(&steady));
        let moved = (up + down) / (UP.len() + DOWN.len()) as f64;
        let n_still = (STEADY.len() + SWINGS.len()) as f64;
        let has_moved = |still: f64| moved > odds_min * still / n_still;
        // Most searches end here: answers that only go to and fro fit a limit that stands still.
        if !has_moved(steady) || !has_moved(steady + sum(&self.evidence_of(&SWINGS))) {
            return None;
        }
        Some(if up > down { LimitMove::Up } else { LimitMove::Down })
    }

    /// Returns how well each movement explains the answers, as logarithms of one measure.
    fn evidence_of(&self, movements: &[Movement]) -> Vec<f64> {
        movements.iter().map(|movement| self.belief_if(*movement).evidence()).collect()
    }

    /// Returns what is believed about where the limit is at the end, if it has moved so.
    fn belief_if(&self, movement: Movement) -> Belief {
        // What is far from the line says the same of all.
        let (low, high) = (self.belief.quantile(0.001), self.belief.quantile(0.999));
        let (min, max) = (low / DRIFT_ROOM, high * DRIFT_ROOM);
        let options = SearchOptions { min, max, start: (low * high).sqrt(), ..self.options };
        let n = self.taken.len().max(2) as f64;
        let mut belief = Belief::new(&options);
        for (idx, (probe, result)) in self.taken.iter().enumerate() {
            let Some(is_carried) = result.answer.is_carried() else { continue };
            // What the load is against the limit as it is at the end.
            let moved = movement.at(idx as f64 / (n - 1.0));
            belief.take(probe.load * moved.exp(), is_carried);
        }
        belief
    }

    /// Returns whether the limits are pressed less at a far higher load than at the lowest one:
    /// where nothing is carried, the load is then not what breaks them.
    pub(super) fn falls_with_load(&self) -> bool {
        let Some((lowest, tally)) = self.tallies.first_key_value() else { return false };
        let Some(pressure) = tally.pressure else { return false };
        let far = self.tallies.range(lowest.saturating_mul(FAR)..);
        far.filter_map(|(_, tally)| tally.pressure).any(|it| it < pressure * FALLS_MIN)
    }

    /// Finds out whether the limit has moved, when all is measured.
    pub(super) fn judge_drift(&mut self) {
        let has_line = self.found.as_ref().is_some_and(|found| found.end == LineEnd::Bracketed);
        let drift = if has_line { self.drift(self.drift_odds_min()) } else { None };
        if let Some(found) = self.found.as_mut().filter(|_| has_line) {
            found.drift = drift;
        }
    }

    /// Returns the odds from which on the limit is said to move: lower where it is suspected.
    pub(super) fn drift_odds_min(&self) -> f64 {
        if self.suspected_at.is_some() { DRIFT_ODDS_KEPT } else { DRIFT_ODDS_MIN }
    }

    /// Counts the probes whose generator was at fault.
    pub fn n_host_at_fault(&self) -> usize {
        self.taken.iter().filter(|(_, it)| it.answer == Answer::HostAtFault).count()
    }
}

/// Returns the probability of so many or more of `n` where each comes with `share`.
fn tail(n_found: usize, n: usize, share: f64) -> f64 {
    let mut p = (1.0 - share).powi(n as i32);
    let mut sum = 0.0;
    for k in 0..n_found {
        sum += p;
        p *= (n - k) as f64 / (k + 1) as f64 * share / (1.0 - share);
    }
    1.0 - sum
}
