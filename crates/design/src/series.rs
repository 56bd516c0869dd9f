//! A demand that changes, period by period, against every cap of a design with its credits.
//!
//! Within a period all that is asked is even. Each cap is gone through as emulated volumes count:
//! [`Levels`]. All credits begin full.

use std::collections::BTreeMap;

use needs::{Requirements, SeriesLoad, SeriesSample};
use volume::Design;
use volume::limits::credit::Levels;
use volume::limits::{CapUse, path};

use crate::judge::hit_ratios;
use crate::need::{Demand, Need, Period, PhaseNeed};
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
        phase: "series".to_owned(),
        iops: 1.0,
        size_bytes: load.size_bytes.round().max(1.0) as u64,
        read_share: load.read_share,
        random_share: load.random_share,
        queue_depth: None,
    };
    Demand { loads: loads.iter().map(|it| it.as_ref().map(load)).collect(), periods }
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
    /// How many times in a row it carries all periods, with the credits that the last time left:
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
    let mut all: Vec<CapOverTime> = Vec::new();
    for (idx, load) in demand.loads.iter().enumerate() {
        let Some(load) = load else { continue };
        let one = PhaseNeed { iops: 1.0, ..load.clone() };
        for flow in one.flows(idx as u16, hit_ratios[idx]) {
            for cap in path::caps(design, flow.volume, &flow.load) {
                let per_io = cap.per_io * flow.demand.unwrap_or(0.0);
                let key = |it: &CapUse| (it.bound, it.scope, it.name.clone());
                let at = all.iter().position(|known| key(&known.cap) == key(&cap));
                let at = at.unwrap_or_else(|| {
                    let asked = vec![0.0; demand.periods.len()];
                    let left = Vec::new();
                    all.push(CapOverTime { cap, asked, left, short_at: None, n_repeats: 0 });
                    all.len() - 1
                });
                for (sum, period) in all[at].asked.iter_mut().zip(&demand.periods) {
                    *sum += per_io * period.iops[idx];
                }
            }
        }
    }
    let window_s = design.bucket_window_ns as f64 / 1e9;
    for it in &mut all {
        walk(it, &demand.periods, window_s);
    }
    all.sort_by(|a, b| b.most().total_cmp(&a.most()));
    all
}

/// Goes through the periods of one cap.
fn walk(it: &mut CapOverTime, periods: &[Period], window_s: f64) {
    let mut levels = Levels::new(it.cap.per_s, it.cap.credits, window_s);
    for (idx, (asked, period)) in it.asked.iter().zip(periods).enumerate() {
        let is_carried = levels.pass(*asked, period.span_s);
        if it.short_at.is_none() && !is_carried {
            it.short_at = Some(idx);
        }
        it.left.extend(levels.left());
    }
    if it.short_at.is_some() {
        return;
    }
    let pass = |levels: &mut Levels| {
        it.asked.iter().zip(periods).all(|(asked, period)| levels.pass(*asked, period.span_s))
    };
    it.n_repeats = 1;
    while it.n_repeats < REPEATS_MAX {
        let before = levels.left();
        if !pass(&mut levels) {
            break;
        }
        // A pass that leaves as much as the one before is like all that follow.
        let is_steady = levels.left() >= before;
        it.n_repeats = if is_steady { REPEATS_MAX } else { it.n_repeats + 1 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use volume::limits::credit::Credits;
    use volume::limits::{Bound, Scope};

    #[test]
    fn the_first_period_that_is_not_carried_is_said() {
        let (bound, scope) = (Bound::Cap(volume::CapKind::DiskIops), Scope::Volume(0));
        let credits = Some(Credits { base: 100.0, burst: 200.0, bucket: 150.0 });
        let (name, origin) = (String::new(), String::new());
        let cap = CapUse { bound, scope, name, per_s: 100.0, per_io: 1.0, origin, credits };
        let asked = vec![200.0, 40.0, 200.0, 120.0, 250.0];
        let mut it = CapOverTime { cap, asked, left: Vec::new(), short_at: None, n_repeats: 0 };
        walk(&mut it, &vec![Period { span_s: 1.0, iops: Vec::new() }; 5], 0.0);
        assert_eq!(it.n_repeats, 0);
        assert_eq!(
            (it.left.as_slice(), it.short_at),
            (&[50.0, 110.0, 10.0, 0.0, 0.0][..], Some(3))
        );
        assert!(it.spends());
    }

    #[track_caller]
    fn check_repeats(asked: [f64; 2], expected: u32) {
        let (bound, scope) = (Bound::Cap(volume::CapKind::DiskIops), Scope::Volume(0));
        let credits = Some(Credits { base: 100.0, burst: 200.0, bucket: 150.0 });
        let (name, origin) = (String::new(), String::new());
        let cap = CapUse { bound, scope, name, per_s: 100.0, per_io: 1.0, origin, credits };
        let (asked, left) = (asked.to_vec(), Vec::new());
        let mut it = CapOverTime { cap, asked, left, short_at: None, n_repeats: 0 };
        walk(&mut it, &[1.0, 1.0].map(|span_s| Period { span_s, iops: Vec::new() }), 0.0);
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
