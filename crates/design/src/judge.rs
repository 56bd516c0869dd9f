//! What a design does with a need.

use volume::Design;
use volume::design::{Backing, CacheMode, Volume};
use volume::limits::{CapUse, Done, Flow, path};

use crate::credited::{CapSum, Credited, series_flows, sums};
use crate::need::{COVERED, Demand, Need, SERIES_PHASE, VolumeNeed, hit_ratio};
use crate::uses::{ROUNDING, times};

/// A cap with the load on it in one phase.
#[derive(Clone, Debug, PartialEq)]
pub struct CapAsked {
    /// The cap.
    pub cap: CapUse,
    /// What all volumes ask of it per second, in its own unit.
    pub used: f64,
    /// Part by which that may be above what it sustains: samples have more digits than needs.
    pub leeway: f64,
    /// How often its credits carry what is asked, all of a captured series among it; `None` where
    /// there are none, or no series.
    pub times_on_credits: Option<f64>,
}

impl CapAsked {
    /// Returns by how much the cap is larger than what is asked: 0.25 is a quarter.
    pub fn headroom(&self) -> f64 {
        self.times() - 1.0
    }

    /// Returns which share of what the cap carries is asked of it: 1 is all. With credits that is
    /// the share of the largest series of the same shape that they carry.
    pub fn share(&self) -> f64 {
        1.0 / self.times()
    }

    /// Says whether it is credits that carry what is asked: the sustained rate does not.
    pub fn is_on_credits(&self) -> bool {
        let carries = |times: f64| times >= 1.0 - ROUNDING;
        !carries(self.sustained()) && carries(self.times())
    }

    fn sustained(&self) -> f64 {
        times(self.cap.per_s * (1.0 + self.leeway), self.used)
    }

    fn times(&self) -> f64 {
        let sustained = self.sustained();
        self.times_on_credits.map_or(sustained, |on_credits| on_credits.max(sustained))
    }
}

/// What a design does in one phase.
#[derive(Clone, Debug, PartialEq)]
pub struct PhaseJudged {
    /// Name of the phase.
    pub phase: String,
    /// What is asked.
    pub flows: Vec<Flow>,
    /// What comes of it, by flow.
    pub done: Vec<Done>,
    /// Every cap with a load, the tightest first.
    pub caps: Vec<CapAsked>,
}

impl PhaseJudged {
    /// Returns whether all of it is carried.
    pub fn is_met(&self) -> bool {
        let mut pairs = self.flows.iter().zip(&self.done);
        pairs.all(|(flow, done)| done.iops >= flow.demand.unwrap_or(0.0) * (1.0 - ROUNDING))
    }
}

/// What a design does with a need.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// By phase.
    pub phases: Vec<PhaseJudged>,
    /// Volumes that are too small: position, capacity asked, capacity there, GiB.
    pub too_small: Vec<(usize, f64, f64)>,
    /// Volumes whose latency without load is too long: position, asked and there, milliseconds.
    pub too_slow: Vec<(usize, f64, f64)>,
    /// Share of reads at random places that hit the host cache, by volume.
    pub hit_ratios: Vec<f64>,
}

impl Judged {
    /// Returns whether the design carries the need.
    pub fn is_met(&self) -> bool {
        let is_large_and_fast = self.too_small.is_empty() && self.too_slow.is_empty();
        is_large_and_fast && self.phases.iter().all(PhaseJudged::is_met)
    }

    /// Returns the tightest cap with its phase; `None` where nothing is asked.
    pub fn tightest(&self) -> Option<(&PhaseJudged, &CapAsked)> {
        let all = self.phases.iter().filter_map(|phase| Some((phase, phase.caps.first()?)));
        all.min_by(|(_, a), (_, b)| a.headroom().total_cmp(&b.headroom()))
    }

    /// Returns by how much the tightest cap is larger than the load on it; infinite where
    /// nothing is asked.
    pub fn headroom(&self) -> f64 {
        self.tightest().map_or(f64::INFINITY, |(_, cap)| cap.headroom())
    }
}

/// Returns what a design does with a need whose volumes it has, in the same order.
///
/// # Panics
/// If it has not as many volumes.
pub fn judge(design: &Design, need: &Need) -> Judged {
    let (n_volumes, n_asked) = (design.volumes.len(), need.volumes.len());
    assert_eq!(n_volumes, n_asked, "{n_asked} volumes are asked, the design has {n_volumes}");
    let hit_ratios = hit_ratios(design, need);
    let credited = Credited::new(design, need, &hit_ratios);
    let of_phase = |name: &str| of_phase(design, name, need.flows(name, &hit_ratios), &credited);
    let mut phases: Vec<PhaseJudged> = need.phases().into_iter().map(of_phase).collect();
    let captured = need.series.as_ref().and_then(|demand| {
        let is_on_disks = |it: &Volume| matches!(it.backing, Backing::Disks(_));
        let is_searched = design.volumes.iter().all(is_on_disks);
        is_searched.then(|| of_series(design, demand, &hit_ratios, &credited))
    });
    // Where the phases ask as much of every cap, it says nothing new.
    let headroom =
        |phase: &PhaseJudged| phase.caps.first().map_or(f64::INFINITY, CapAsked::headroom);
    let of_phases = phases.iter().map(headroom).fold(f64::INFINITY, f64::min);
    phases.extend(captured.filter(|captured| headroom(captured) < of_phases - ROUNDING));
    let mut judged =
        Judged { phases, too_small: Vec::new(), too_slow: Vec::new(), hit_ratios: Vec::new() };
    for (idx, (volume, asked)) in design.volumes.iter().zip(&need.volumes).enumerate() {
        let capacity_gib = volume.capacity_bytes as f64 / f64::from(1 << 30);
        if capacity_gib < asked.capacity_gib * (1.0 - ROUNDING) {
            judged.too_small.push((idx, asked.capacity_gib, capacity_gib));
        }
        let Some(most_ms) = asked.latency_ms_max else { continue };
        let latency_ms = judged.phases.iter().map(|phase| latency_ms(design, idx, &phase.flows));
        let latency_ms = latency_ms.fold(0.0, f64::max);
        if latency_ms > most_ms * (1.0 + ROUNDING) {
            judged.too_slow.push((idx, most_ms, latency_ms));
        }
    }
    judged.hit_ratios = hit_ratios;
    judged
}

/// Returns the share of reads at random places that hit, by volume. Those of a known working set
/// share the cache by its size.
pub(crate) fn hit_ratios(design: &Design, need: &Need) -> Vec<f64> {
    let cached_gib = |idx: usize| {
        let Backing::Disks(stripe) = &design.volumes[idx].backing else { return None };
        let is_cached = stripe.disks.iter().any(|disk| disk.cache != CacheMode::None);
        is_cached.then(|| need.volumes[idx].cached_gib())
    };
    let sets: Vec<Option<f64>> = (0..need.volumes.len()).map(cached_gib).collect();
    let total: f64 = sets.iter().flatten().sum();
    let cache_bytes = design.vm.as_ref().and_then(|vm| vm.cache_bytes);
    let shared = hit_ratio(cache_bytes, total);
    let ratio = |(set, volume): (&Option<f64>, &VolumeNeed)| {
        let of_set = if volume.cached_gib() > 0.0 { shared } else { 0.0 };
        set.map_or(0.0, |_| volume.hit_share.unwrap_or(of_set))
    };
    sets.iter().zip(&need.volumes).map(ratio).collect()
}

/// Returns the mean latency of a volume without load, milliseconds.
fn latency_ms(design: &Design, volume: usize, flows: &[Flow]) -> f64 {
    let on_it = || flows.iter().filter(|flow| usize::from(flow.volume) == volume);
    let rates: f64 = on_it().filter_map(|flow| flow.demand).sum();
    let weighed = |flow: &Flow| {
        flow.demand.unwrap_or(0.0) * path::latency_s(design, flow.volume, &flow.load) * 1e3
    };
    if rates > 0.0 { on_it().map(weighed).sum::<f64>() / rates } else { 0.0 }
}

fn of_phase(design: &Design, name: &str, flows: Vec<Flow>, credited: &Credited) -> PhaseJudged {
    let done = credited.done(design, name, &flows);
    let asked = |sum: CapSum| CapAsked {
        used: sum.by_volume.iter().map(|it| it.1).sum(),
        leeway: 0.0,
        times_on_credits: credited.times(&sum.cap),
        cap: sum.cap,
    };
    let mut caps: Vec<CapAsked> = sums(design, &flows).into_iter().map(asked).collect();
    caps.sort_by(|a, b| a.headroom().total_cmp(&b.headroom()));
    PhaseJudged { phase: name.to_owned(), flows, done, caps }
}

/// Holds what was captured against every cap: the rate that all of it stays within, but for the
/// time in which a cap may be short. Volumes have theirs at different times.
fn of_series(
    design: &Design,
    demand: &Demand,
    hit_ratios: &[f64],
    credited: &Credited,
) -> PhaseJudged {
    let asked = |sum: CapSum| CapAsked {
        used: demand.most(&sum.by_volume),
        leeway: COVERED,
        times_on_credits: credited.times(&sum.cap),
        cap: sum.cap,
    };
    let of_io = sums(design, &series_flows(demand, hit_ratios, |_| 1.0));
    let mut caps: Vec<CapAsked> = of_io.into_iter().map(asked).collect();
    caps.sort_by(|a, b| a.headroom().total_cmp(&b.headroom()));
    let flows = series_flows(demand, hit_ratios, |volume| demand.most(&[(volume, 1.0)]));
    let mut done = credited.done(design, SERIES_PHASE, &flows);
    let part = caps.first().map_or(1.0, |cap| (cap.headroom() + 1.0).min(1.0));
    for (done, flow) in done.iter_mut().zip(&flows) {
        done.iops = flow.demand.unwrap_or(0.0) * part;
    }
    PhaseJudged { phase: SERIES_PHASE.to_owned(), flows, done, caps }
}
