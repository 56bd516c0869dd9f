//! A demand that changes, period by period, against every cap of a design with its credits.
//!
//! Within a period all that is asked is even. Caps with credits are gone through as emulated
//! volumes count: [`Levels`]. All credits begin full. A cap without any is short where more is
//! asked than it sustains.

use std::collections::BTreeMap;

use needs::{IoSizes, Requirements, SeriesLoad, SeriesSample};
use volume::Design;
use volume::limits::CapUse;
use volume::limits::credit::Levels;

use crate::credited::{CapSum, series_flows, sums};
use crate::judge::hit_ratios;
use crate::need::{Demand, Need, Period, PhaseNeed, SERIES_PHASE};
use crate::uses::ROUNDING;

/// Makes a demand of samples by volume name, with what an I/O of each is, for the volumes of
/// requirements in their order; with the growth of their loads.
pub fn demand(
    requirements: &Requirements,
    samples: &BTreeMap<String, Vec<SeriesSample>>,
    loads: &[Option<SeriesLoad>],
) -> Demand {
    let none = Vec::new();
    let rows: Vec<&Vec<SeriesSample>> =
        requirements.volumes.iter().map(|it| samples.get(&it.name).unwrap_or(&none)).collect();
    // Samples of volumes may end at different times: a period lasts until the next one's end.
    let mut ends_s: Vec<f64> = Vec::new();
    for rows in &rows {
        let mut end_s = 0.0;
        for sample in *rows {
            end_s += sample.span_s;
            ends_s.push(end_s);
        }
    }
    ends_s.sort_by(f64::total_cmp);
    ends_s.dedup_by(|a, b| *a - *b < PERIOD_MIN_S);
    let mut periods: Vec<Period> = Vec::new();
    let mut start_s = 0.0;
    for end_s in ends_s {
        periods.push(Period { span_s: end_s - start_s, iops: Vec::new() });
        start_s = end_s;
    }
    for (rows, volume) in rows.iter().zip(&requirements.volumes) {
        let (mut at, mut until_s, mut now_s) = (0, 0.0, 0.0);
        for period in &mut periods {
            let middle_s = now_s + period.span_s / 2.0;
            now_s += period.span_s;
            while at < rows.len() && until_s + rows[at].span_s <= middle_s {
                until_s += rows[at].span_s;
                at += 1;
            }
            period.iops.push(rows.get(at).map_or(0.0, |it| it.rate(volume.load_growth)));
        }
    }
    let load = |load: &SeriesLoad| PhaseNeed {
        phase: SERIES_PHASE.to_owned(),
        iops: 1.0,
        size_bytes: load.size_bytes.round().max(1.0) as u64,
        step_bytes: Some(IoSizes::new(None, load.size_bytes).step_bytes().into()),
        read_share: load.read_share,
        random_share: load.random_share,
        queue_depth: None,
    };
    let loads = loads.iter().map(|it| it.as_ref().map(load)).collect();
    let short_s_max = start_s * requirements.percentile.rest();
    Demand { loads, periods, short_s_max, n_again: 0 }
}

/// Periods shorter than this are rounding of their ends, seconds.
const PERIOD_MIN_S: f64 = 1e-6;

/// A cap over time.
#[derive(Clone, Debug, PartialEq)]
pub struct CapOverTime {
    /// The cap, at its sustained rate.
    pub cap: CapUse,
    /// The load on it per second, by period.
    pub asked: Vec<f64>,
    /// What is left of its credits at the end of each period; empty where it has none.
    pub left: Vec<f64>,
    /// The first period that it does not carry.
    pub short_at: Option<usize>,
    /// How long those last that it does not carry, seconds.
    pub short_s: f64,
    /// It carries the demand: it is short no longer than a cap may be.
    pub is_carried: bool,
    /// How many times in a row it carries the demand, with the credits that the last time left:
    /// [`REPEATS_MAX`] stands for ever.
    pub n_repeats: u32,
}

/// Times in a row after which a series is taken to be carried for ever.
pub const REPEATS_MAX: u32 = 100;

impl CapOverTime {
    /// Returns the largest load on it, as a share of its sustained rate.
    pub fn most(&self) -> f64 {
        self.asked.iter().copied().fold(0.0, f64::max) / self.cap.per_s
    }

    /// Returns the most of its full credits that is spent at any time; `None` where it has none.
    pub fn spent_max(&self) -> Option<f64> {
        let full = self.cap.credits?.bucket;
        Some(full - self.left.iter().copied().fold(full, f64::min))
    }

    /// Returns whether it spends credits.
    pub fn spends(&self) -> bool {
        self.cap.credits.is_some() && self.most() > 1.0 + ROUNDING
    }
}

/// Returns every cap of a design under a demand, the one that is asked most of first.
///
/// # Panics
/// If the design, the need and the demand have not as many volumes.
pub fn over_time(design: &Design, need: &Need, demand: &Demand) -> Vec<CapOverTime> {
    let (n_volumes, n_loads) = (design.volumes.len(), demand.loads.len());
    assert_eq!(n_volumes, n_loads, "{n_volumes} volumes, and loads of {n_loads}");
    let hit_ratios = hit_ratios(design, need);
    let window_s = design.bucket_window_ns as f64 / 1e9;
    let of_io = sums(design, &series_flows(demand, &hit_ratios, |_| 1.0));
    let one = |sum: CapSum| walk(sum.cap, demand, &sum.by_volume, window_s);
    let mut all: Vec<CapOverTime> = of_io.into_iter().map(one).collect();
    all.sort_by(|a, b| b.most().total_cmp(&a.most()));
    all
}

/// Goes through the periods of one cap.
fn walk(cap: CapUse, demand: &Demand, per_io: &[(usize, f64)], window_s: f64) -> CapOverTime {
    let asked: Vec<(f64, f64)> = demand.asked(per_io).collect();
    let mut levels = Levels::new(cap.per_s, cap.credits, window_s);
    let mut pass = |asked: f64, span_s: f64| match cap.credits {
        Some(_) => (levels.pass(asked, span_s), levels.left()),
        None => (Demand::is_sustained(asked, cap.per_s), None),
    };
    let (mut left, mut short_at, mut short_s) = (Vec::new(), None, 0.0);
    for (idx, (asked, span_s)) in asked.iter().enumerate() {
        let (is_carried, of_credits) = pass(*asked, *span_s);
        left.extend(of_credits);
        if !is_carried {
            short_at = short_at.or(Some(idx));
            short_s += span_s;
        }
    }
    let is_sustained = demand.sustained(per_io) <= cap.per_s * (1.0 + ROUNDING);
    let is_carried = is_sustained || demand.may_be_short(short_s);
    let mut n_repeats = u32::from(is_carried);
    let mut before = left.last().copied();
    while is_carried && n_repeats < REPEATS_MAX {
        let (mut short_s, mut now) = (0.0, None);
        for (asked, span_s) in &asked {
            let (is_carried, of_credits) = pass(*asked, *span_s);
            short_s += if is_carried { 0.0 } else { *span_s };
            now = of_credits;
        }
        if !(is_sustained || demand.may_be_short(short_s)) {
            break;
        }
        // A pass that leaves as much as the one before is like all that follow.
        n_repeats = if now >= before { REPEATS_MAX } else { n_repeats + 1 };
        before = now;
    }
    let asked = asked.into_iter().map(|it| it.0).collect();
    CapOverTime { cap, asked, left, short_at, short_s, is_carried, n_repeats }
}

#[cfg(test)]
mod tests {
    use super::*;
    use volume::limits::credit::Credits;
    use volume::limits::{Bound, Scope};

    /// A cap of 100 a second, of 200 on 150 credits, under rates of one second each.
    fn walked(asked: &[f64], short_s_max: f64) -> CapOverTime {
        let (bound, scope) = (Bound::Cap(volume::CapKind::DiskIops), Scope::Volume(0));
        let credits = Some(Credits { base: 100.0, burst: 200.0, bucket: 150.0 });
        let (name, origin, side) = (String::new(), String::new(), None);
        let cap = CapUse { bound, scope, name, side, per_s: 100.0, per_io: 1.0, origin, credits };
        let period = |iops: &f64| Period { span_s: 1.0, iops: vec![*iops] };
        let periods = asked.iter().map(period).collect();
        let demand = Demand { periods, short_s_max, ..Demand::default() };
        walk(cap, &demand, &[(0, 1.0)], 0.0)
    }

    #[test]
    fn the_first_period_that_is_not_carried_is_said() {
        let it = walked(&[200.0, 40.0, 200.0, 120.0, 250.0], 0.0);
        assert_eq!((it.n_repeats, it.is_carried), (0, false));
        assert_eq!(
            (it.left.as_slice(), it.short_at, it.short_s),
            (&[50.0, 110.0, 10.0, 0.0, 0.0][..], Some(3), 2.0)
        );
        assert!(it.spends());
        // In two of the five seconds the percentile that is asked for allows it to be short.
        assert!(walked(&[200.0, 40.0, 200.0, 120.0, 250.0], 2.0).is_carried);
    }

    #[track_caller]
    fn check_repeats(asked: [f64; 2], expected: u32) {
        let it = walked(&asked, 0.0);
        assert_eq!((it.short_at, it.n_repeats), (None, expected));
    }

    #[test]
    fn how_often_in_a_row_credits_carry_a_series_is_said() {
        // Each time takes 100 out and brings 70 in: 120 are left, then 90, which are not enough.
        check_repeats([200.0, 30.0], 2);
        check_repeats([200.0, 0.0], REPEATS_MAX);
        check_repeats([200.0, 90.0], 1);
        check_repeats([90.0, 100.0], REPEATS_MAX);
    }
}
