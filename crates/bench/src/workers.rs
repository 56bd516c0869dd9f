//! How many workers issue a load: as many as it takes until the device, and not a core, is the
//! limit.
//!
//! A worker that used all of its core while a load was not carried says nothing about the device:
//! the load is measured again with twice as many workers, up to the processors. The least number is
//! kept beyond which no more is carried. What was measured with too few counts for nothing, so that
//! an answer never mixes the limit of a core with that of the device; what was carried counts, with
//! however few.
//!
//! Pure: what was seen comes from the caller.

use record::{Note, NoteSeverity};

/// A worker this busy has nothing left to issue more with. Below the limit at which a result is
/// called client-bound: it is better to try more than to fall short.
const BUSY: f64 = 0.9;

/// More is carried from this factor on: rates of the same load vary by a few percent.
const RISE: f64 = 1.05;

/// No more workers are tried after this many increases that did not carry more.
const N_IN_VAIN_MAX: u32 = 2;

/// What a measurement says of the workers that made it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WorkerUsage {
    /// Operations completed per second.
    pub achieved_iops: f64,
    /// More workers may carry more: the load was not carried, or is a closed one.
    pub is_short: bool,
    /// Processor time of the busiest worker over its time; none where it says nothing.
    pub busy_share: Option<f64>,
    /// Workers there were.
    pub n_workers: u32,
    /// I/Os in flight at most, over all workers.
    pub in_flight_max: u32,
    /// Processors that the program may use.
    pub n_cpus: u32,
}

/// What to make of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counts {
    /// It counts.
    Yes,
    /// It says nothing about the device: measure again, with another number of workers.
    No,
}

/// What a number of workers carried, and what more of them did.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Trial {
    /// So many workers at first.
    n_before: u32,
    /// What they carried, operations per second.
    before_iops: f64,
    /// So many then.
    n_after: u32,
    /// What these carried.
    after_iops: f64,
}

impl Trial {
    fn rises(self) -> bool {
        self.after_iops > self.before_iops * RISE
    }
}

/// How many workers issue a load.
#[derive(Clone, Debug, PartialEq)]
pub struct Workers {
    /// Each worker of the plan is divided among so many.
    n_parts: u32,
    /// What fewer did, while more are tried: their parts, and what was seen of them.
    before: Option<(u32, WorkerUsage)>,
    n_in_vain: u32,
    /// The last trial that came to an end.
    last: Option<Trial>,
    is_fixed: bool,
}

impl Default for Workers {
    fn default() -> Self {
        Workers { n_parts: 1, before: None, n_in_vain: 0, last: None, is_fixed: false }
    }
}

impl Workers {
    /// Keeps the workers that the plan has.
    pub fn fixed() -> Self {
        Workers { is_fixed: true, ..Workers::default() }
    }

    /// Returns among how many to divide each worker of the plan; none leaves it as it is.
    pub fn n_parts(&self) -> Option<u32> {
        (!self.is_fixed).then_some(self.n_parts)
    }

    /// Returns the workers that are kept, where more than at first were tried.
    pub fn n_kept(&self) -> Option<u32> {
        let trial = self.last?;
        Some(if self.n_in_vain > 0 { trial.n_before } else { trial.n_after })
    }

    /// Returns how many workers issued something, and why, where more than at first were tried.
    pub fn note(&self, what: &str) -> Option<Note> {
        let Trial { n_before, before_iops, n_after, after_iops } = self.last?;
        let workers = |n: u32| if n == 1 { "1 worker".to_owned() } else { format!("{n} workers") };
        let (before, after) = (workers(n_before), workers(n_after));
        let [before_iops, after_iops] = [before_iops, after_iops].map(units::format_iops);
        let used = if n_before == 1 { "used all of its core" } else { "used all of their cores" };
        let is_kept = self.n_in_vain == 0;
        let message = if is_kept {
            format!(
                "{after} issued {what}: {before} {used} at {before_iops} IOPS, {after} carried \
                 {after_iops}"
            )
        } else {
            format!(
                "{before} issued {what}: more than {before_iops} IOPS were not carried by {after} \
                 either ({after_iops})"
            )
        };
        Some(Note { severity: NoteSeverity::Info, code: "workers".to_owned(), message })
    }

    /// Returns whether the next measurement is to show if more workers carry more. Where others
    /// disturb it, it does not, and must not be taken.
    pub fn is_trying(&self) -> bool {
        self.before.is_some()
    }

    /// Takes what was measured with [`Workers::n_parts`] and says whether it counts.
    pub fn take(&mut self, seen: &WorkerUsage) -> Counts {
        if let Some((n_parts, before)) = self.before.take() {
            let trial = Trial {
                n_before: before.n_workers,
                before_iops: before.achieved_iops,
                n_after: seen.n_workers,
                after_iops: seen.achieved_iops,
            };
            if seen.n_workers <= before.n_workers {
                // This work is not divided.
                (self.n_parts, self.is_fixed) = (n_parts, true);
                return Counts::Yes;
            }
            self.last = Some(trial);
            if seen.is_short && !trial.rises() {
                (self.n_parts, self.n_in_vain) = (n_parts, self.n_in_vain + 1);
                return Counts::Yes;
            }
            self.n_in_vain = 0;
        }
        if !self.wants_more(seen) {
            return Counts::Yes;
        }
        self.before = Some((self.n_parts, *seen));
        let of_plan = (seen.n_workers / self.n_parts.max(1)).max(1);
        self.n_parts = (2 * self.n_parts).min(seen.n_cpus.div_ceil(of_plan));
        Counts::No
    }

    fn wants_more(&self, seen: &WorkerUsage) -> bool {
        !self.is_fixed
            && self.n_in_vain < N_IN_VAIN_MAX
            && seen.is_short
            && seen.busy_share.is_some_and(|share| share >= BUSY)
            && seen.n_workers < seen.n_cpus.min(seen.in_flight_max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A device that carries so much, and cores that issue so much each.
    struct World {
        device_iops: f64,
        core_iops: f64,
        n_cpus: u32,
        depth: u32,
        is_divisible: bool,
    }

    const WORLD: World =
        World { device_iops: 1e6, core_iops: 300e3, n_cpus: 16, depth: 256, is_divisible: true };

    impl World {
        fn seen(&self, workers: &Workers, offered_iops: f64) -> WorkerUsage {
            let n_parts = workers.n_parts().unwrap_or(1);
            let n_workers = if self.is_divisible { n_parts.min(self.n_cpus) } else { 1 };
            let most = self.core_iops * f64::from(n_workers);
            let achieved_iops = offered_iops.min(self.device_iops).min(most);
            WorkerUsage {
                achieved_iops,
                is_short: achieved_iops < offered_iops,
                busy_share: Some(achieved_iops / most),
                n_workers,
                in_flight_max: self.depth,
                n_cpus: self.n_cpus,
            }
        }

        /// Measures a load until it counts; returns what was carried, and how often it took.
        fn measure(&self, workers: &mut Workers, offered_iops: f64) -> (f64, u32) {
            for n in 1..20 {
                let seen = self.seen(workers, offered_iops);
                if workers.take(&seen) == Counts::Yes {
                    return (seen.achieved_iops, n);
                }
            }
            panic!("it never counts");
        }
    }

    #[track_caller]
    fn check(world: &World, offered_iops: f64, carried_iops: f64, n_parts: u32, n_measured: u32) {
        let mut workers = Workers::default();
        let measured = world.measure(&mut workers, offered_iops);
        assert_eq!(measured, (carried_iops, n_measured));
        assert_eq!(workers.n_parts(), Some(n_parts));
    }

    #[test]
    fn workers_are_added_until_the_device_is_the_limit() {
        check(&WORLD, 10e6, 1e6, 4, 3);
        check(&World { core_iops: 20e3, ..WORLD }, 10e6, 320e3, 16, 5);
        check(&World { core_iops: 20e3, n_cpus: 3, ..WORLD }, 10e6, 60e3, 3, 3);
        // What is carried needs no more.
        check(&WORLD, 500e3, 500e3, 2, 2);
        check(&WORLD, 290e3, 290e3, 1, 1);
    }

    #[test]
    fn a_slow_device_takes_no_trial() {
        check(&World { device_iops: 12e3, ..WORLD }, 10e6, 12e3, 1, 1);
    }

    #[test]
    fn there_are_never_more_than_processors_or_ios() {
        check(&World { n_cpus: 1, ..WORLD }, 10e6, 300e3, 1, 1);
        check(&World { depth: 1, ..WORLD }, 10e6, 300e3, 1, 1);
    }

    #[test]
    fn the_least_number_is_kept_where_more_carry_no_more() {
        // The device is a little slower than a core.
        let world = World { device_iops: 295e3, ..WORLD };
        let mut workers = Workers::default();
        for _ in 0..4 {
            let (carried_iops, _) = world.measure(&mut workers, 10e6);
            assert_eq!((carried_iops, workers.n_parts()), (295e3, Some(1)));
        }
        // It is known by now.
        assert_eq!(world.measure(&mut workers, 10e6).1, 1);
        assert_eq!(workers.n_kept(), Some(1));
    }

    #[test]
    fn one_trial_in_vain_does_not_end_them() {
        let mut workers = Workers::default();
        let slow = World { device_iops: 295e3, ..WORLD };
        slow.measure(&mut workers, 10e6);
        assert_eq!(WORLD.measure(&mut workers, 10e6), (1e6, 3));
    }

    #[test]
    fn what_cannot_be_divided_is_tried_once() {
        let world = World { is_divisible: false, ..WORLD };
        let mut workers = Workers::default();
        assert_eq!(world.measure(&mut workers, 10e6), (300e3, 2));
        assert_eq!(world.measure(&mut workers, 10e6), (300e3, 1));
    }

    #[test]
    fn a_fixed_number_stays() {
        let mut workers = Workers::fixed();
        assert_eq!(WORLD.measure(&mut workers, 10e6), (300e3, 1));
        assert_eq!(workers.n_parts(), None);
    }
}
