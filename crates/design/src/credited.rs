//! Which caps of a design carry a need on burst credits, by the series that was captured.
//!
//! Those are caps of disks. Credits of machines, which several volumes share, are not counted.

use volume::design::{Backing, Burst, Limit};
use volume::limits::credit::{Credits, Levels};
use volume::limits::{Bound, CapUse, Done, Flow, Scope, path, together};
use volume::{CapKind, Design};

use crate::need::{Demand, Need, PhaseNeed};
use crate::uses::{ROUNDING, times};

/// What credits do for a need.
#[derive(Clone, Debug, Default)]
pub(crate) struct Credited {
    /// Caps with credits, and how often they carry what is asked.
    caps: Vec<(Bound, Scope, String, f64)>,
    /// Volumes and phases that the series covers.
    covered: Vec<(u16, String)>,
    /// The design with those bursts alone that carry the need; `None` without a series.
    bursting: Option<Design>,
}

impl Credited {
    /// Looks at every cap of the disks of each volume.
    pub(crate) fn new(design: &Design, need: &Need, hit_ratios: &[f64]) -> Self {
        let mut credited = Credited::default();
        let Some(demand) = &need.series else { return credited };
        for (idx, (volume, load)) in need.volumes.iter().zip(&demand.loads).enumerate() {
            for phase in &volume.phases {
                if demand.covers(idx, phase.iops) {
                    credited.covered.push((idx as u16, phase.phase.clone()));
                }
            }
            let io = load.iter().map(|load| PhaseNeed { iops: 1.0, ..load.clone() });
            let io: Vec<PhaseNeed> = io.collect();
            let of_io = sums(design, idx, &io, hit_ratios[idx]);
            let names = need.phases();
            let asked = |name: &&str| {
                let phases: Vec<PhaseNeed> =
                    volume.phases.iter().filter(|it| it.phase == **name).cloned().collect();
                let is_covered = phases.iter().all(|it| demand.covers(idx, it.iops));
                (sums(design, idx, &phases, hit_ratios[idx]), is_covered)
            };
            let of_phases: Vec<(Vec<(CapUse, f64)>, bool)> = names.iter().map(asked).collect();
            let all = of_phases.iter().flat_map(|(sums, _)| sums).chain(&of_io);
            for (cap, _) in all {
                let Some(credits) = cap.credits else { continue };
                if credited.times(cap).is_some() {
                    continue;
                }
                let of = |sums: &[(CapUse, f64)]| {
                    sums.iter().find(|(known, _)| is_same(known, cap)).map_or(0.0, |it| it.1)
                };
                let phases = of_phases.iter().map(|(sums, covered)| (of(sums), *covered));
                let on_credits = BurstCap {
                    credits,
                    window_s: design.bucket_window_ns as f64 / 1e9,
                    demand,
                    volume: idx,
                    per_io: of(&of_io),
                    phases: phases.collect(),
                };
                let times = on_credits.times();
                credited.caps.push((cap.bound, cap.scope, cap.name.clone(), times));
            }
        }
        credited.bursting = Some(credited.bursting(design));
        credited
    }

    /// Returns how many times its load the credits of a cap carry; `None` without any.
    pub(crate) fn times(&self, cap: &CapUse) -> Option<f64> {
        let mut caps = self.caps.iter();
        let key = (cap.bound, cap.scope, &cap.name);
        caps.find(|(bound, scope, name, _)| (*bound, *scope, name) == key).map(|it| it.3)
    }

    /// Returns what comes of the loads of a phase, with the credits that carry the need.
    pub(crate) fn done(&self, design: &Design, phase: &str, flows: &[Flow]) -> Vec<Done> {
        let Some(bursting) = &self.bursting else { return together(design, flows) };
        let is_covered = |volume: u16| self.covered.iter().any(|it| *it == (volume, phase.into()));
        let mut flows = flows.to_vec();
        for flow in &mut flows {
            flow.load.with_credits = is_covered(flow.volume);
        }
        together(bursting, &flows)
    }

    fn bursting(&self, design: &Design) -> Design {
        let mut design = design.clone();
        for (idx, volume) in design.volumes.iter_mut().enumerate() {
            let Backing::Disks(stripe) = &mut volume.backing else { continue };
            let carries = |kind: CapKind| {
                let key = (Bound::Cap(kind), Scope::Volume(idx as u16));
                let mut caps = self.caps.iter().filter(|it| (it.0, it.1) == key);
                caps.all(|it| it.3 >= 1.0 - ROUNDING)
            };
            let (has_iops, has_bytes) = (carries(CapKind::DiskIops), carries(CapKind::DiskBytes));
            for disk in &mut stripe.disks {
                keep(&mut disk.cap.iops, has_iops);
                keep(&mut disk.write_iops, has_iops);
                keep(&mut disk.cap.bytes, has_bytes);
            }
        }
        let vm = design.vm.iter_mut();
        for vm in vm {
            let caps = [Some(&mut vm.uncached), Some(&mut vm.cached), vm.cached_write.as_mut()];
            for cap in caps.into_iter().flatten() {
                keep(&mut cap.iops, false);
                keep(&mut cap.bytes, false);
            }
            keep(&mut vm.egress, false);
        }
        for client in &mut design.clients {
            keep(&mut client.egress, false);
        }
        design
    }
}

/// Takes the burst from a limit whose credits do not carry the need; one without an end stays.
fn keep(limit: &mut Option<Limit>, is_kept: bool) {
    let Some(limit) = limit else { return };
    limit.burst = limit.burst.filter(|Burst { bucket, .. }| is_kept || bucket.is_none());
}

fn is_same(a: &CapUse, b: &CapUse) -> bool {
    (a.bound, a.scope, &a.name) == (b.bound, b.scope, &b.name)
}

/// Returns what loads ask of a volume's own caps.
fn sums(design: &Design, idx: usize, loads: &[PhaseNeed], hit_ratio: f64) -> Vec<(CapUse, f64)> {
    let mut all: Vec<(CapUse, f64)> = Vec::new();
    for flow in loads.iter().flat_map(|load| load.flows(idx as u16, hit_ratio)) {
        for cap in path::caps(design, flow.volume, &flow.load) {
            if cap.scope != Scope::Volume(idx as u16) {
                continue;
            }
            let used = flow.demand.unwrap_or(0.0) * cap.per_io;
            match all.iter_mut().find(|(known, _)| is_same(known, &cap)) {
                Some((_, sum)) => *sum += used,
                None => all.push((cap, used)),
            }
        }
    }
    all
}

/// A cap with credits that one volume alone uses.
#[derive(Clone, Debug)]
pub(crate) struct BurstCap<'a> {
    pub(crate) credits: Credits,
    pub(crate) window_s: f64,
    pub(crate) demand: &'a Demand,
    pub(crate) volume: usize,
    /// What an I/O of the series takes of it.
    pub(crate) per_io: f64,
    /// What each phase asks per second, and whether the series covers it. For other loads it is not
    /// known
    /// how long it lasts: it is carried at the sustained rate.
    pub(crate) phases: Vec<(f64, bool)>,
}

/// Most halvings in which a factor is found.
const N_HALVINGS: usize = 60;

/// Part of a factor to which it is found: far below the least difference that ranks.
const FACTOR_STEP: f64 = 1e-12;

impl BurstCap<'_> {
    /// Returns how many times all that is asked the rates carry, however long credits last.
    fn times_max(&self) -> f64 {
        let Credits { base, burst, .. } = self.credits;
        let of = |(used, covered): &(f64, bool)| times(if *covered { burst } else { base }, *used);
        self.phases.iter().map(of).fold(f64::INFINITY, f64::min)
    }

    fn carries_series(&self, factor: f64) -> bool {
        let mut levels = Levels::new(self.credits.base, Some(self.credits), self.window_s);
        let asked = |iops: f64| iops * factor * self.per_io;
        let mut periods = self.demand.periods.iter();
        periods.all(|period| levels.pass(asked(period.iops[self.volume]), period.span_s))
    }

    /// Returns whether credits carry what is asked.
    pub(crate) fn holds(&self) -> bool {
        self.times_max() >= 1.0 - ROUNDING && self.carries_series(1.0)
    }

    /// Returns the most times that what is asked is carried on credits.
    pub(crate) fn times(&self) -> f64 {
        let most = self.times_max();
        if most.is_infinite() || self.carries_series(most) {
            return most;
        }
        let (mut low, mut high) = (0.0, most);
        for _ in 0..N_HALVINGS {
            if high - low <= low * FACTOR_STEP {
                break;
            }
            let middle = f64::midpoint(low, high);
            *(if self.carries_series(middle) { &mut low } else { &mut high }) = middle;
        }
        low
    }
}
