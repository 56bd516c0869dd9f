//! A captured series against the caps of a machine, which its volumes share.

use crate::credited::BurstCap;
use crate::group::Caps;
use crate::need::{Demand, Need};
use crate::uses::{N_MACHINE, ROUNDING, times};

/// A series, and what a machine carries.
#[derive(Debug)]
pub(crate) struct OnMachine<'a> {
    demand: &'a Demand,
    caps: &'a Caps,
    window_s: f64,
    /// Most I/Os per second of each volume.
    most: Vec<f64>,
    /// Whether the series covers the load of a volume, by phase and volume.
    covered: Vec<Vec<bool>>,
}

impl<'a> OnMachine<'a> {
    /// Makes one of a need; `None` where nothing was captured.
    pub(crate) fn of(need: &'a Need, caps: &'a Caps, window_s: f64) -> Option<Self> {
        let demand = need.series.as_ref()?;
        let most = |idx: usize| demand.periods.iter().map(|it| it.iops[idx]).fold(0.0, f64::max);
        let n_volumes = need.volumes.len();
        let of_phase = |name| (0..n_volumes).map(|idx| need.is_covered(name, idx)).collect();
        let covered = need.phases().into_iter().map(of_phase).collect();
        let most = (0..n_volumes).map(most).collect();
        Some(OnMachine { demand, caps, window_s, most, covered })
    }

    /// Says whether the machine carries the first volumes: `uses` by phase, `per_io` by volume.
    pub(crate) fn is_carried(
        &self,
        uses: &[[f64; N_MACHINE]],
        per_io: &[[f64; N_MACHINE]],
    ) -> bool {
        (0..N_MACHINE).all(|cap| {
            self.sustained(cap, uses, per_io) >= 1.0 - ROUNDING
                || self.on_credits(cap, uses, per_io).is_some_and(|it| it.holds())
        })
    }

    /// Returns how many times all of it the machine carries.
    pub(crate) fn times(&self, uses: &[[f64; N_MACHINE]], per_io: &[[f64; N_MACHINE]]) -> f64 {
        let of_cap = |cap: usize| {
            let sustained = self.sustained(cap, uses, per_io);
            let on_credits = self.on_credits(cap, uses, per_io);
            on_credits.map_or(sustained, |it| it.times().max(sustained))
        };
        (0..N_MACHINE).map(of_cap).fold(f64::INFINITY, f64::min)
    }

    fn sustained(&self, cap: usize, uses: &[[f64; N_MACHINE]], per_io: &[[f64; N_MACHINE]]) -> f64 {
        let per_s = self.caps.per_s[cap];
        let of_phases = uses.iter().map(|uses| times(per_s, uses[cap]));
        let of_phases = of_phases.fold(f64::INFINITY, f64::min);
        // The sum of what each asks at most is an upper end, without a look at every period.
        let most: f64 = per_io.iter().zip(&self.most).map(|(uses, most)| uses[cap] * most).sum();
        if per_s.is_infinite() || times(per_s, most) >= of_phases {
            return of_phases;
        }
        of_phases.min(times(per_s, self.demand.sustained(&weights(cap, per_io))))
    }

    fn on_credits(
        &self,
        cap: usize,
        uses: &[[f64; N_MACHINE]],
        per_io: &[[f64; N_MACHINE]],
    ) -> Option<BurstCap<'a>> {
        let credits = self.caps.credits[cap]?;
        let n_volumes = per_io.len();
        let phase = |(uses, covered): (&[f64; N_MACHINE], &Vec<bool>)| {
            (uses[cap], covered[..n_volumes].iter().all(|it| *it))
        };
        Some(BurstCap {
            credits,
            window_s: self.window_s,
            demand: self.demand,
            per_io: weights(cap, per_io),
            phases: uses.iter().zip(&self.covered).map(phase).collect(),
        })
    }
}

/// Returns what an I/O of each volume takes of a cap.
fn weights(cap: usize, per_io: &[[f64; N_MACHINE]]) -> Vec<(usize, f64)> {
    per_io.iter().enumerate().map(|(volume, uses)| (volume, uses[cap])).collect()
}
