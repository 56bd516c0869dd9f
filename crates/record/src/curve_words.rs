//! What a load curve says, in words: the same on the terminal, in Markdown and on a page.
//!
//! A sentence begins small and has no full stop; a load is without its unit, see [`Lever::unit`].

use std::collections::BTreeMap;
use std::fmt::Write as _;

use units::{format_iops, format_latency_ns, format_mib_s, format_percent};

use crate::{
    CarriedRecord, CarriedState, CurvePointRecord, CurveRecord, Figure, Lever, LineVerdict,
};

/// Prints a load, a rate or I/Os in flight: whole below 10,000, above with three digits.
pub fn load_words(load: f64) -> String {
    if load >= 10_000.0 { format_iops(load) } else { format!("{load:.0}") }
}

impl Lever {
    /// Returns the unit of a load, as it stands behind the number.
    pub fn unit(self) -> &'static str {
        match self {
            Lever::Rate => "IOPS",
            Lever::QueueDepth => "in flight",
            Lever::Workers => "workers",
            Lever::Units => "units",
        }
    }

    /// Returns the head of a column of loads, and its name for programs.
    pub fn column(self) -> (&'static str, &'static str) {
        match self {
            Lever::Rate => ("offered", "offered_iops"),
            Lever::QueueDepth => ("in flight", "in_flight"),
            Lever::Workers => ("workers", "n_workers"),
            Lever::Units => ("units", "n_units"),
        }
    }

    /// Returns what latencies count from under such a load.
    pub fn latency(self) -> &'static str {
        match self {
            Lever::Rate | Lever::Units => "response time",
            Lever::QueueDepth | Lever::Workers => "service time",
        }
    }
}

impl CurvePointRecord {
    /// Returns what came of it: `carried`, what broke, or why it is void.
    pub fn outcome_words(&self) -> String {
        match (&self.void, self.passed) {
            (Some(reason), _) => format!("not usable: {reason}"),
            (None, true) => "carried".to_owned(),
            (None, false) => self.broken.join("; "),
        }
    }
}

impl CurveRecord {
    /// Returns the rate of the load line without its unit: of an open load the one that was
    /// offered, of a closed one what was achieved; none without a line.
    pub fn rate_words(&self) -> Option<String> {
        let iops = self.line_iops()?;
        Some(if self.lever == Lever::Rate { load_words(iops) } else { format_iops(iops) })
    }

    /// Returns the load line: `4975 IOPS (38.9 MiB/s)`, of a closed load `5.00 k IOPS (39.1 MiB/s)
    /// at 8 in flight`; without what is in brackets where that is not known, or not asked for.
    pub fn line_words(&self, load: f64, with_bytes: bool) -> String {
        let mut text = self.rate_words().unwrap_or_else(|| load_words(load)) + " IOPS";
        if let Some(bytes_per_s) = self.line.bytes_per_s.filter(|_| with_bytes) {
            let _ = write!(text, " ({} MiB/s)", format_mib_s(bytes_per_s));
        }
        if self.lever != Lever::Rate {
            let _ = write!(text, " at {} {}", load_words(load), self.lever.unit());
        }
        text
    }

    /// Returns the lowest load that was tried, with its unit; `nothing` where none was.
    pub fn lowest_words(&self) -> String {
        let lowest = self.points.iter().map(|point| point.load).reduce(f64::min);
        let shown = |load| format!("{} {}", load_words(load), self.lever.unit());
        lowest.map_or("nothing".to_owned(), shown)
    }

    /// Returns the answer: `load line: 4975 IOPS (38.9 MiB/s) with p99 < 10ms`, or why there is
    /// none.
    pub fn headline(&self) -> String {
        let limits = &self.limits;
        let why_not = || format!("{} (limits: {limits})", self.line.why_not());
        match self.line.verdict() {
            LineVerdict::Line(load) => {
                format!("load line: {} with {limits}", self.line_words(load, true))
            }
            LineVerdict::Above(load) => {
                format!("load line: above {}; nothing broke {limits}", self.line_words(load, true))
            }
            LineVerdict::Below => {
                format!("load line: none; even {} break {limits}", self.lowest_words())
            }
            LineVerdict::CannotTell(_) => format!("load line: cannot tell: {}", why_not()),
            LineVerdict::Unfinished => format!("load line: not found: {}", why_not()),
        }
    }

    /// Returns where the line lies, and how probable that is: `between 4975 and 5020 IOPS with a
    /// probability of 87.5 % or more`; none without an interval.
    pub fn interval_words(&self) -> Option<String> {
        let interval = self.line.interval?;
        let (low, high) = (load_words(interval.low), load_words(interval.high));
        let mut text = format!("between {low} and {high} {}", self.lever.unit());
        if interval.coverage > 0.0 {
            let share = format_percent(interval.coverage);
            let _ = write!(text, " with a probability of {share} or more");
        }
        Some(text)
    }

    /// Returns where above the line limits were kept in some measurements, and broken in others.
    pub fn by_turns_words(&self) -> Option<String> {
        let (first_fail, highest) = self.by_turns()?;
        let (from, unit) = (load_words(first_fail), self.lever.unit());
        let at = if highest > first_fail {
            format!("from {from} to {} {unit}", load_words(highest))
        } else {
            format!("at {from} {unit}")
        };
        Some(format!("{at} some measurements kept the limits and some did not"))
    }

    /// Returns all that the curve says behind [`CurveRecord::headline`], sentence by sentence.
    pub fn sentences(&self) -> Vec<String> {
        let first_broken = self.line.first_fail.zip(self.line.broken.first());
        let sentences = [
            self.search_words(),
            self.void_words(),
            first_broken.map(|(load, broken)| {
                format!("at {} {}: {broken}", load_words(load), self.lever.unit())
            }),
            self.by_turns_words(),
            self.dips_words(),
            self.carried_words(),
            self.overall_response_ns.map(|ns| {
                format!("mean latency over the curve: {}", format_latency_ns(ns.round() as u64))
            }),
            self.knees_words(),
            self.target_words(),
            self.law_words(),
        ];
        sentences.into_iter().flatten().collect()
    }

    /// Returns where the line lies and how many loads were tried for it, where it is not what was
    /// tried that is the answer.
    fn search_words(&self) -> Option<String> {
        let line = &self.line;
        let were = if line.n_probes == 1 { "load was" } else { "loads were" };
        let room = |room| format!(", with up to {room} in flight per worker");
        let room = self.in_flight_max.map_or_else(String::new, room);
        let tried = |what| format!("{} {were} tried to find {what}{room}", line.n_probes);
        match self.interval_words() {
            Some(between) => Some(format!("by all measurements {between}; {}", tried("it"))),
            None => line.load.is_none().then(|| tried("one")),
        }
    }

    /// Returns how many measurements are void, and why.
    fn void_words(&self) -> Option<String> {
        let mut reasons: BTreeMap<&str, u32> = BTreeMap::new();
        for reason in self.points.iter().filter_map(|point| point.void.as_deref()) {
            // Without its figures, which differ.
            let reason = reason.split(" (").next().unwrap_or(reason);
            *reasons.entry(reason.split(':').next().unwrap_or(reason)).or_default() += 1;
        }
        let n_void: u32 = reasons.values().sum();
        let mut reasons: Vec<(&str, u32)> = reasons.into_iter().collect();
        reasons.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
        let reasons: Vec<String> = match &*reasons {
            [] => return None,
            [(only, _)] => vec![(*only).to_owned()],
            several => several.iter().map(|(reason, n)| format!("{reason} ({n})")).collect(),
        };
        let is_over = self.line.verdict() != LineVerdict::Unfinished;
        let then = if is_over { " and were repeated" } else { "" };
        let (n, reasons) = (self.points.len(), reasons.join(", "));
        Some(format!("{n_void} of {n} measurements are not usable{then}: {reasons}"))
    }

    fn dips_words(&self) -> Option<String> {
        let dips: Vec<String> = self.line.dips.iter().map(|load| load_words(*load)).collect();
        let said = || format!("below the line these loads failed, twice each: {}", dips.join(", "));
        (!dips.is_empty()).then(said)
    }

    fn carried_words(&self) -> Option<String> {
        let parts: Vec<String> =
            self.carried.iter().filter_map(|it| self.carried_at_words(it)).collect();
        // Nothing is known of a curve without a whole point.
        (!parts.is_empty()).then(|| format!("carried at a mean latency of {}", parts.join("; ")))
    }

    fn carried_at_words(&self, carried: &CarriedRecord) -> Option<String> {
        let ms = carried.latency_mean_ns / 1_000_000;
        let rate = format_iops(carried.rate_iops?);
        let moved = format_mib_s(carried.bytes_per_s?);
        match carried.state {
            CarriedState::Reached => {
                let step = self.coarse_step_words(carried).unwrap_or_default();
                Some(format!("{ms} ms: {rate} IOPS, {moved} MiB/s{step}"))
            }
            CarriedState::Above if self.lever == Lever::Units => {
                Some(format!("{ms} ms: not reached ({rate} IOPS, {moved} MiB/s are faster)"))
            }
            CarriedState::Above => Some(format!("{ms} ms: above {rate} IOPS, {moved} MiB/s")),
            CarriedState::Below => Some(format!("{ms} ms: nothing measured is as fast")),
            CarriedState::Unknown => None,
        }
    }

    /// Returns what the next load carried, where the load could be turned up in steps only.
    fn coarse_step_words(&self, carried: &CarriedRecord) -> Option<String> {
        let [_, over] = self.coarse_step(carried.latency_mean_ns)?;
        Some(format!(
            " ({} {}, the next load measured, carry {} at {})",
            load_words(over.load),
            self.lever.unit(),
            format_iops(over.figures.iops()),
            over.figures.shown(Figure::Mean)?,
        ))
    }

    fn knees_words(&self) -> Option<String> {
        let knees = self.knees.as_ref().filter(|knees| !knees.rates_iops.is_empty())?;
        let rates: Vec<String> = knees.rates_iops.iter().map(|rate| format_iops(*rate)).collect();
        let mut sentence = format!("it bends at {} IOPS", rates.join(" and "));
        if let Some((low, high)) = knees.leave_one_out_iops.filter(|(low, high)| low < high) {
            let (low, high) = (format_iops(low), format_iops(high));
            let _ = write!(sentence, " ({low} to {high} when a point is left out)");
        }
        Some(sentence)
    }

    fn target_words(&self) -> Option<String> {
        let target = self.target.as_ref()?;
        let rate = load_words(target.rate_iops);
        let depth = units::plural(target.depth, "I/O");
        let latency = format_latency_ns(target.latency_mean_ns.round() as u64);
        let reached = if target.highest_iops < target.rate_iops {
            format!("; no more than {} were achieved at any load", load_words(target.highest_iops))
        } else {
            "; more where it grows under load".to_owned()
        };
        Some(format!(
            "{rate} IOPS take {depth} in flight at the best latency, {latency}: rate x \
             latency{reached}"
        ))
    }

    fn law_words(&self) -> Option<String> {
        let law = self.scalability?;
        let (peak, low, high) = (law.peak_depth, law.peak_interval.low, law.peak_interval.high);
        Some(format!(
            "the rate is highest with {peak:.0} in flight ({low:.0} to {high:.0}, by the \
             scalability law)"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CannotTell, CurveTargetRecord, IntervalRecord, LoadLineRecord, SearchEnd};

    fn curve(lever: Lever, end: SearchEnd, load: Option<f64>) -> CurveRecord {
        CurveRecord {
            lever,
            limits: "p99 < 10ms".to_owned(),
            points: vec![CurvePointRecord { load: 4.0, ..CurvePointRecord::default() }],
            line: LoadLineRecord {
                end,
                load,
                achieved_iops: Some(12_345.6),
                bytes_per_s: Some(f64::from(1 << 20)),
                ..LoadLineRecord::default()
            },
            ..CurveRecord::default()
        }
    }

    #[track_caller]
    fn check(lever: Lever, end: SearchEnd, load: Option<f64>, expected: &str) {
        assert_eq!(curve(lever, end, load).headline(), expected);
    }

    #[test]
    fn the_answer_says_what_the_line_is_of() {
        let (open, depth) = (Lever::Rate, Lever::QueueDepth);
        let open_line = "load line: 4975 IOPS (1.00 MiB/s) with p99 < 10ms";
        check(open, SearchEnd::Bracketed, Some(4975.0), open_line);
        let closed = "load line: 12.3 k IOPS (1.00 MiB/s) at 8 in flight with p99 < 10ms";
        check(depth, SearchEnd::Bracketed, Some(8.0), closed);
        let above = "load line: above 12.3 k IOPS (1.00 MiB/s) at 8 workers; nothing broke p99 < \
                     10ms";
        check(Lever::Workers, SearchEnd::NothingFailed, Some(8.0), above);
        check(
            open,
            SearchEnd::NothingPassed,
            None,
            "load line: none; even 4 IOPS break p99 < 10ms",
        );
        let cannot = "load line: cannot tell: the measurements ran out (limits: p99 < 10ms)";
        check(open, SearchEnd::CannotTell, None, cannot);
        let unfinished = "load line: not found: the search was not finished (limits: p99 < 10ms)";
        check(open, SearchEnd::Unfinished, None, unfinished);
    }

    #[test]
    fn an_interval_says_how_probable_it_is_where_that_is_known() {
        let mut curve = curve(Lever::Rate, SearchEnd::Bracketed, Some(4975.0));
        assert_eq!(curve.interval_words(), None);
        let mut interval = IntervalRecord { low: 4975.0, high: 50_200.0, coverage: 0.875 };
        curve.line.interval = Some(interval);
        let sure = "between 4975 and 50.2 k IOPS with a probability of 87.5 % or more";
        assert_eq!(curve.interval_words().as_deref(), Some(sure));
        interval.coverage = 0.0;
        curve.line.interval = Some(interval);
        assert_eq!(curve.interval_words().as_deref(), Some("between 4975 and 50.2 k IOPS"));
        let sentences = curve.sentences();
        assert_eq!(
            sentences,
            ["by all measurements between 4975 and 50.2 k IOPS; 0 loads were tried to find it"]
        );
    }

    #[test]
    fn a_rate_takes_one_io_or_several() {
        let mut curve = curve(Lever::QueueDepth, SearchEnd::NothingFailed, Some(4.0));
        let mut words = |depth| {
            let target = CurveTargetRecord {
                rate_iops: 2_000.0,
                latency_mean_ns: 129_000.0,
                depth,
                highest_iops: 9_000.0,
            };
            curve.target = Some(target);
            curve.target_words().expect("an answer")
        };
        let rest = "in flight at the best latency, 129 µs: rate x latency; more where it grows \
                    under load";
        assert_eq!(words(1), format!("2000 IOPS take 1 I/O {rest}"));
        assert_eq!(words(3), format!("2000 IOPS take 3 I/Os {rest}"));
    }

    #[test]
    fn what_says_nothing_is_counted_by_its_reason() {
        let mut curve = curve(Lever::Rate, SearchEnd::CannotTell, None);
        curve.line.reason = Some(CannotTell::Host);
        let void = |reason: &str| CurvePointRecord {
            void: Some(reason.to_owned()),
            ..CurvePointRecord::default()
        };
        curve.points.extend([void("late (3 %)"), void("late (5 %)"), void("few: 7")]);
        let sentences = curve.sentences();
        let expected = [
            "0 loads were tried to find one",
            "3 of 4 measurements are not usable and were repeated: late (2), few (1)",
        ];
        assert_eq!(sentences, expected);
        assert_eq!(curve.points[1].outcome_words(), "not usable: late (3 %)");
    }
}
