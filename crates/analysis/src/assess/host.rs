//! Checks of the load generator and the host it runs on.

use record::JobRecord;

use super::{NOTHING_MEASURED, Step, time_ns};
use crate::gate::{Gate, GateName};
use crate::gates::{
    GeneratorInputs, HostShares, LateCount, PauseInputs, WaitInputs, active_ns, generator,
    worker_cpu_share,
};

/// Wait for a processor that is part of waking up where no other task is ready, nanoseconds: about
/// three times what was seen on virtual machines.
const WAKE_UP_NS: u64 = 15_000;

/// The same of a host most of whose processors are idle: the processor that a thread is woken on
/// has halted, and a virtual one must first be given back by its hypervisor. Two virtual machines
/// took 55 and 69 us at 100 operations a second, with nothing else at work.
const WAKE_UP_IDLE_NS: u64 = 75_000;

/// Processors that are busy or stolen, as a share, up to which a thread that wakes up finds an idle
/// one as a rule.
const IDLE_BUSY_MAX: f64 = 0.25;

/// What timers of a virtual machine are late by as a rule, nanoseconds: no wait.
const TIMER_NS: u64 = 100_000;

/// Shortest pause that counts: as [`record::ArrivalsRecord::n_late`] counts operations.
const PAUSE_NS_MIN: u64 = 1_000_000;

impl Step<'_> {
    /// Judges whether the load generator could do what was asked of it.
    pub(super) fn generator(&self) -> Option<Gate> {
        if self.is_virtual() {
            let name = GateName::Generator;
            let passes = !self.is_null();
            return passes.then(|| {
                Gate::passed(
                    name,
                    "in virtual time the generator takes no \
            time",
                )
            });
        }
        if self.jobs.iter().all(|job| job.runtime_ns == 0) {
            return Some(Gate::unknown(GateName::Generator, NOTHING_MEASURED));
        }
        let window_s = self.jobs.iter().map(|job| time_ns(job) / 1e9).fold(0.0, f64::max);
        let gate = generator(&GeneratorInputs {
            is_open: self.open().next().is_some(),
            is_null: self.is_null(),
            window_s: Some(window_s),
            filled_share: self.filled_share(),
            host: self.host_shares(),
            late: self.late(),
            waits: self.waits(),
            pauses: self.pauses(),
            ..GeneratorInputs::of_jobs(&self.jobs)
        });
        Some(gate)
    }

    /// Returns the CPU time of all workers over that of the processors that they may use; none
    /// where workers poll, which fill theirs whatever they do.
    fn filled_share(&self) -> Option<f64> {
        let n_cpus = self.record.host.n_cpus;
        if n_cpus == 0 || self.jobs.iter().any(|job| job.polls) {
            return None;
        }
        let used = |job: &&JobRecord| worker_cpu_share(job) * f64::from(job.n_workers);
        let n_used: f64 = self.jobs.iter().map(used).sum();
        Some(n_used / f64::from(n_cpus))
    }

    fn host_shares(&self) -> Option<HostShares> {
        let conditions = self.conditions?;
        Some(HostShares {
            busy: conditions.host_busy_share?,
            own: conditions.own_busy_share,
            others_user: conditions.others_user_share,
            steal: conditions.host_steal_share.unwrap_or(0.0),
        })
    }

    fn late(&self) -> Option<LateCount> {
        let counts = self.open().fold(LateCount::default(), |sum, (job, arrivals)| LateCount {
            n_late: sum.n_late.saturating_add(arrivals.n_late),
            n_due: sum.n_due.saturating_add(job.n_ios()),
        });
        (counts.n_due > 0).then_some(counts)
    }

    /// Returns what waits for a processor did to the operations.
    fn waits(&self) -> Option<WaitInputs> {
        let counted = |job: &&&JobRecord| job.n_cpu_slices > 0 && active_ns(job) > 0;
        let jobs: Vec<&&JobRecord> = self.jobs.iter().filter(counted).collect();
        let wake_up_ns = self.wake_up_ns();
        let beyond_ns = |job: &JobRecord| {
            job.cpu_wait_ns.saturating_sub(job.n_cpu_slices.saturating_mul(wake_up_ns)) as f64
        };
        let shares = jobs.iter().map(|job| beyond_ns(job) / active_ns(job) as f64);
        let share_max = shares.max_by(f64::total_cmp)?;
        let n_ios = self.jobs.iter().map(|job| job.n_ios()).sum::<u64>().max(1) as f64;
        let n_waits = jobs.iter().map(|job| job.n_cpu_slices).sum::<u64>().max(1) as f64;
        let wait_ns = jobs.iter().map(|job| job.cpu_wait_ns).sum::<u64>() as f64;
        Some(WaitInputs {
            share_max,
            per_io_ns: jobs.iter().map(|job| beyond_ns(job)).sum::<f64>() / n_ios,
            latency_ns_mean: self.latency_ns_mean().unwrap_or(f64::INFINITY),
            wait_ns_mean: wait_ns / n_waits,
            long_share: self.long_share(),
        })
    }

    /// Returns the wait for a processor that is part of waking up on this host.
    fn wake_up_ns(&self) -> u64 {
        match self.host_shares() {
            Some(HostShares { busy, steal, .. }) if busy + steal <= IDLE_BUSY_MAX => {
                WAKE_UP_IDLE_NS
            }
            Some(_) | None => WAKE_UP_NS,
        }
    }

    /// Returns the share of the time at which a thread that woke up waited for a processor for
    /// longer than half of what operations take.
    fn long_share(&self) -> Option<f64> {
        let pauses = self.conditions?.pauses.as_ref()?;
        let latency_ns = self.latency_ns_median()?;
        pauses.waited_share((latency_ns / 2).max(TIMER_NS))
    }

    /// Returns how the process stood still, of pauses that operations notice.
    fn pauses(&self) -> Option<PauseInputs> {
        let pauses = self.conditions?.pauses.as_ref()?;
        let latency_ns = self.latency_ns_median().unwrap_or(0);
        let share = pauses.still_share(latency_ns.max(PAUSE_NS_MIN))?;
        let n_moments = pauses.still.count().saturating_add(pauses.waited.count());
        Some(PauseInputs { share, n_moments, longest_ns: pauses.still.max_ns().unwrap_or(0) })
    }

    /// Returns the mean of what the target took, all operations together; none without any.
    pub(super) fn latency_ns_mean(&self) -> Option<f64> {
        let all = self.jobs.iter().flat_map(|job| job.dirs.iter()).map(|(_, dir)| &dir.lat);
        let (n, sum_ns) = all.fold((0_u64, 0.0), |(n, sum_ns), lat| {
            (n.saturating_add(lat.count()), sum_ns + lat.sum_ns() as f64)
        });
        (n > 0).then(|| sum_ns / n as f64)
    }

    /// Returns the median of what the target took, the least of the directions.
    fn latency_ns_median(&self) -> Option<u64> {
        let all = self.jobs.iter().flat_map(|job| job.dirs.iter());
        all.filter_map(|(_, dir)| dir.lat.quantile(0.5)).min()
    }
}
