//! Was the load generator the limit, or was it kept from its work?
//!
//! Judged by what it did to the measurement, not by bare shares: operations submitted late, time in
//! which the process stood still, time in which workers waited for a processor, workers that had
//! no time to spare. Shares of the host's processors then say who it was.

use std::time::Duration;

use units::format_duration;

use crate::gate::{Gate, GateName};

use super::pct;

/// What the generator's own state is judged by. Shares are 0 to 1; none where unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GeneratorInputs {
    /// Operations have times at which they are due.
    pub is_open: bool,
    /// Nothing but the generator is at work (the null engine): its own speed is what is measured,
    /// and only what others do to it spoils that.
    pub is_null: bool,
    /// Length of the measured time, seconds; none if unknown: then all that is given counts.
    pub window_s: Option<f64>,
    /// CPU time of the busiest worker over its run time. Leave it out for workers that poll: they
    /// are always busy.
    pub worker_cpu_share_max: Option<f64>,
    /// CPU time of all workers over that of the processors that they may use.
    pub filled_share: Option<f64>,
    /// What the host's processors did.
    pub host: Option<HostShares>,
    /// Operations that were submitted later than a tick after they were due, although there was
    /// room in flight, and all that were due: the generator's own delay.
    pub late: Option<LateCount>,
    /// Waits of the workers for a processor.
    pub waits: Option<WaitInputs>,
    /// Times in which the whole process stood still.
    pub pauses: Option<PauseInputs>,
}

/// Shares of the time of all processors of a host.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HostShares {
    /// Not idle, without what hypervisors took.
    pub busy: f64,
    /// Part of it that this process used; none if unknown.
    pub own: Option<f64>,
    /// Part of it that other programs used in user mode: what the kernel does may be for us.
    pub others_user: Option<f64>,
    /// Given to others by hypervisors.
    pub steal: f64,
}

/// Operations that were submitted late.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LateCount {
    /// So many were late.
    pub n_late: u64,
    /// Of so many.
    pub n_due: u64,
}

/// How workers waited for a processor while they were ready to run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WaitInputs {
    /// Time in waits beyond the usual wake-ups of the worker that waited most, over its time.
    pub share_max: f64,
    /// The same of all workers over their operations, nanoseconds.
    pub per_io_ns: f64,
    /// Mean latency of these, nanoseconds.
    pub latency_ns_mean: f64,
    /// Mean of the waits of all workers, nanoseconds, the usual wake-ups among them.
    pub wait_ns_mean: f64,
    /// Share of the time at which a thread that woke up waited for longer than operations take:
    /// others had the processor for so long. None where nothing is known of that.
    pub long_share: Option<f64>,
}

impl WaitInputs {
    /// Returns by what share throughput is too low at most. A worker that waits keeps one
    /// completion waiting, and the others as far as the wait is long against the latency: the
    /// device works on them meanwhile.
    fn effect_max(self) -> f64 {
        let Some(long_share) = self.long_share else { return self.share_max };
        let of_one = self.per_io_ns / self.latency_ns_mean;
        let of_others = self.wait_ns_mean / self.latency_ns_mean;
        self.share_max.min(long_share + of_one + self.share_max * of_others)
    }
}

/// How the process stood still: stopped, or without a processor that a hypervisor gave to others.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PauseInputs {
    /// Share of the time at which it could not have acted for longer than operations take.
    pub share: f64,
    /// Moments of which that is a share.
    pub n_moments: u64,
    /// The longest pause, nanoseconds.
    pub longest_ns: u64,
}

/// A worker this busy has no time left to notice a completion when it happens.
const WORKER_CPU_MAX: f64 = 0.95;

/// A host this busy makes workers wait for a processor, and the kernel's threads too, whose waits
/// look like the storage's.
const HOST_CPU_MAX: f64 = 0.95;

/// Workers that use this share of their processors leave none for other threads: the thread that
/// looks for pauses then waits for a processor itself.
const FILLED_MIN: f64 = 0.85;

/// Stolen time that spoils any measurement. Less is judged by what it did.
const STEAL_MAX: f64 = 0.1;

/// Stolen time that explains pauses, as a share of them.
const STOLEN_OF_STILL_MIN: f64 = 0.25;

/// Late operations reach the 99th percentile from here on; so do those that are due while the
/// process stands still.
const LATE_MAX: f64 = 0.01;

/// Fewest late operations, or moments in which the process stood still, that are more than one
/// hiccup.
const N_LATE_MIN: u64 = 10;
const N_STILL_MIN: u64 = 3;

/// Time in which the process stands still that a closed load does not show: it has that much less
/// throughput, and few operations are in flight meanwhile.
const STILL_CLOSED_MAX: f64 = 0.02;

/// What waits for a processor may change throughput by.
const WAIT_MAX: f64 = 0.05;

/// Waits per operation by which its latency may be wrong: a share of it, and not less than the
/// kernel takes to wake a thread on an idle processor of a virtual machine.
const WAIT_OF_LATENCY_MAX: f64 = 0.2;
const WAIT_PER_IO_NS_MIN: f64 = 50_000.0;

/// Waits that may be wrong by a few wake-ups do not count at all.
const WAIT_MIN: f64 = 0.005;

/// Shortest time that is judged: below it only what is far beyond the limits.
const S_MIN: f64 = 0.9;

/// This many times its limit, a figure decides however short the measurement is.
const OVERWHELMING: f64 = 10.0;

/// A host that is less busy has a free processor for a thread that waits.
const ROOM_MAX: f64 = 0.6;

/// Share of the processors from which on other programs are named.
const OTHERS_MIN: f64 = 0.05;

/// What keeps a generator from its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    /// The process stood still, and no hypervisor reports stolen time.
    Stopped,
    /// Hypervisors gave the processor to others.
    Stolen,
    /// Other programs had it.
    Others,
    /// Workers waited for one while there were others: by where the scheduler put them, or for the
    /// kernel's own work.
    Scheduler,
    /// This job uses all processors of the host.
    OwnHost,
    /// One worker uses all of its processor.
    OwnWorker,
    /// Nothing of these: the calls that submit took long.
    Calls,
}

impl Cause {
    /// Returns what to do about it.
    fn advice(self) -> &'static str {
        match self {
            Cause::Stopped => {
                "repeat the run: the process was stopped (Ctrl-Z, a debugger, a frozen container), \
                 or its machine was"
            }
            Cause::Stolen => "use a machine with dedicated processors, or measure at another time",
            Cause::Others => "end the other programs, or measure on a dedicated host",
            Cause::Scheduler => {
                "bind the workers to dedicated processors (cpus_allowed), or measure on an idle \
                host"
            }
            Cause::OwnHost => {
                "this job needs more processors: use a larger host, or load from several"
            }
            Cause::OwnWorker => "this job needs more workers (numjobs): one core was the limit",
            Cause::Calls => {
                "the calls that submit took long: use more workers (numjobs), or fewer I/Os in \
                 flight"
            }
        }
    }

    /// Returns whether it may be gone when the measurement is repeated.
    fn passes(self) -> bool {
        match self {
            Cause::Stopped | Cause::Stolen | Cause::Others | Cause::Scheduler => true,
            Cause::OwnHost | Cause::OwnWorker | Cause::Calls => false,
        }
    }
}

/// Returns who was at fault, and on which of several hosts: the last clause of the reason of a
/// check that failed.
pub fn culprit(reason: &str) -> String {
    let named = reason.strip_prefix('`').and_then(|rest| rest.split_once("`: "));
    let (host, reason) = named.map_or((None, reason), |(host, reason)| (Some(host), reason));
    let clause = reason.rsplit("; ").next().unwrap_or(reason);
    let clause = clause.strip_prefix(CLIENT_BOUND).unwrap_or(clause);
    match host {
        Some(host) => format!("on `{host}` {clause}"),
        None => clause.to_owned(),
    }
}

/// What a reason begins with.
const CLIENT_BOUND: &str = "client-bound: ";

/// Name of the figure that is 1 where a repeated measurement may be undisturbed.
pub const IS_TRANSIENT: &str = "is_transient";

/// Judges whether the generator could do what was asked of it. If not, the result is client-bound:
/// nothing of the storage follows from it.
pub fn generator(inputs: &GeneratorInputs) -> Gate {
    let figures = inputs.figures();
    if figures.is_empty() {
        return Gate::unknown(GateName::Generator, "the generator's load is not known");
    }
    let is_short = inputs.window_s.is_some_and(|window_s| window_s < S_MIN);
    let broken = inputs.broken(if is_short { OVERWHELMING } else { 1.0 });
    if broken.is_empty() {
        let name = GateName::Generator;
        let gate = match inputs.window_s.filter(|_| is_short) {
            Some(s) => {
                Gate::unknown(name, format!("{s:.1} s are too short to judge it: 1 s is enough"))
            }
            None => Gate::passed(name, inputs.passed_reason()),
        };
        return gate.with(&figures).with(&inputs.remarks());
    }
    let cause = inputs.cause();
    let mut reason = format!("{CLIENT_BOUND}{}", broken.join("; "));
    if let Some(who) = inputs.who(cause) {
        reason = format!("{reason}; {who}");
    }
    let is_transient = if cause.passes() { 1.0 } else { 0.0 };
    let gate = Gate::failed(GateName::Generator, reason).advised(cause.advice());
    gate.with(&figures).with(&[(IS_TRANSIENT, is_transient)])
}

impl GeneratorInputs {
    fn figures(&self) -> Vec<(&'static str, f64)> {
        let late = self.late.map(LateCount::share);
        let known = [
            ("worker_cpu_share_max", self.worker_cpu_share_max),
            ("filled_cpu_share", self.filled_share),
            ("host_cpu_share", self.host.map(|host| host.busy)),
            ("own_cpu_share", self.host.and_then(|host| host.own)),
            ("others_cpu_share", self.host.and_then(|host| host.others_user)),
            ("steal_share", self.host.map(|host| host.steal)),
            ("late_share", late),
            ("cpu_wait_share_max", self.waits.map(|waits| waits.share_max)),
            ("cpu_wait_ns_per_io", self.waits.map(|waits| waits.per_io_ns)),
            ("still_share", self.pauses.map(|pauses| pauses.share)),
            ("still_ns_max", self.pauses.map(|pauses| pauses.longest_ns as f64)),
        ];
        known.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }

    /// Returns what exceeds its limit by so many times.
    fn broken(&self, times: f64) -> Vec<String> {
        let all = [
            self.broken_pauses(times),
            self.broken_late(times),
            self.broken_waits(times),
            self.broken_processors(times),
        ];
        all.into_iter().flatten().collect()
    }

    fn broken_pauses(&self, times: f64) -> Option<String> {
        let pauses = self.pauses?;
        let n_still = pauses.share * pauses.n_moments as f64;
        let is_broken =
            pauses.share > self.still_max() * times && n_still.round() as u64 >= N_STILL_MIN;
        is_broken.then(|| {
            format!(
                "the process was paused for {} of the time, for up to {} at once",
                pct(pauses.share),
                time(pauses.longest_ns)
            )
        })
    }

    /// Returns whether shares of processors mean something: in a shorter time a single wait may be
    /// all there is.
    fn is_judged(&self, times: f64) -> bool {
        times <= 1.0 || self.window_s.is_some_and(|s| s >= S_MIN / 3.0)
    }

    fn still_max(&self) -> f64 {
        if self.is_open { LATE_MAX } else { STILL_CLOSED_MAX }
    }

    fn broken_late(&self, times: f64) -> Option<String> {
        let late = self.late.filter(|late| late.n_late >= N_LATE_MIN && !self.is_null)?;
        let is_broken = late.share() > LATE_MAX * times;
        is_broken.then(|| {
            format!("{} of the operations were submitted late (limit 1 %)", pct(late.share()))
        })
    }

    fn broken_waits(&self, times: f64) -> Option<String> {
        let is_meant = self.is_judged(times) && (!self.is_null || self.others() > OTHERS_MIN);
        let waits = self.waits.filter(|_| is_meant)?;
        let of_latency = waits.per_io_ns / waits.latency_ns_mean;
        let is_long = !self.is_null
            && of_latency > WAIT_OF_LATENCY_MAX * times
            && waits.per_io_ns > WAIT_PER_IO_NS_MIN
            && waits.share_max > WAIT_MIN;
        let effect = waits.effect_max();
        let is_broken = effect > WAIT_MAX * times || is_long;
        is_broken.then(|| {
            if is_long && effect <= WAIT_MAX {
                let per_io = time(waits.per_io_ns as u64);
                return format!("an operation waited {per_io} for a processor on average");
            }
            let (share, cost) = (pct(waits.share_max), pct(effect));
            format!(
                "workers waited for a processor for {share} of their time, which costs up to \
                 {cost} of the throughput (limit {})",
                pct(WAIT_MAX)
            )
        })
    }

    /// Returns which processors have nothing to spare. None can be so by ten times: these limits
    /// are the same at any length.
    fn broken_processors(&self, times: f64) -> Option<String> {
        let mut broken = Vec::new();
        let limit = |share: f64| format!("{} (limit {})", pct(share), pct(WORKER_CPU_MAX));
        let worker = self.worker_cpu_share_max.filter(|_| !self.is_null);
        if let Some(share) = worker.filter(|it| *it > WORKER_CPU_MAX) {
            broken.push(format!("a worker was busy for {}", limit(share)));
        }
        let host = self.host.filter(|_| !self.is_null || self.others() > OTHERS_MIN);
        if let Some(host) = host.filter(|host| host.busy > HOST_CPU_MAX) {
            broken.push(format!("the host was busy for {}", limit(host.busy)));
        }
        if let Some(host) = self.host.filter(|host| host.steal > STEAL_MAX) {
            broken.push(format!("{} of the processors' time was stolen", pct(host.steal)));
        }
        (self.is_judged(times) && !broken.is_empty()).then(|| broken.join("; "))
    }

    /// Finds out who it was: the weightiest evidence first.
    fn cause(&self) -> Cause {
        let host = self.host.unwrap_or_default();
        let is_still = self.broken_pauses(1.0).is_some();
        let still_share = self.pauses.map_or(0.0, |pauses| pauses.share);
        let others = self.others();
        let own = host.own.unwrap_or(0.0);
        // What looks for pauses waits for a processor, too. Others who have all of them explain the
        // short ones.
        let longest_ns = self.pauses.map_or(0, |pauses| pauses.longest_ns);
        let are_others = host.busy > HOST_CPU_MAX && others > own && longest_ns < PAUSE_NAMED_NS;
        if are_others && host.steal <= STEAL_MAX {
            return Cause::Others;
        }
        // Of two processors or more, one alone may be taken: then the host's share is smaller than
        // the pauses.
        if host.steal > STEAL_MAX || is_still && host.steal > still_share * STOLEN_OF_STILL_MIN {
            return Cause::Stolen;
        }
        let is_filled = self.filled_share.is_some_and(|share| share > FILLED_MIN)
            || host.busy > HOST_CPU_MAX && own > others;
        let is_own_host = !self.is_null && is_filled;
        if is_still && !is_own_host {
            return Cause::Stopped;
        }
        let has_waited = self.broken_waits(1.0).is_some() || host.busy > HOST_CPU_MAX;
        let is_worker_full = self.worker_cpu_share_max.is_some_and(|it| it > WORKER_CPU_MAX);
        if has_waited && others > OTHERS_MIN && others >= own / 4.0 {
            return Cause::Others;
        }
        if is_own_host {
            return Cause::OwnHost;
        }
        if host.busy > HOST_CPU_MAX || has_waited && !is_worker_full {
            let has_room = self.host.is_some() && host.busy < ROOM_MAX;
            return match others > own {
                true => Cause::Others,
                false if has_room => Cause::Scheduler,
                false => Cause::OwnHost,
            };
        }
        if is_worker_full {
            return Cause::OwnWorker;
        }
        // Late without waits: its processor was taken for moments, or it was in a call.
        let is_stolen = host.steal > LATE_MAX;
        if is_stolen {
            return Cause::Stolen;
        }
        if others > OTHERS_MIN { Cause::Others } else { Cause::Calls }
    }

    /// Returns the share of the processors that others used: in user mode for sure.
    fn others(&self) -> f64 {
        let Some(host) = self.host else { return 0.0 };
        host.others_user.unwrap_or_else(|| (host.busy - host.own.unwrap_or(host.busy)).max(0.0))
    }

    /// Returns who had the processor.
    fn who(&self, cause: Cause) -> Option<String> {
        let host = self.host.unwrap_or_default();
        match cause {
            Cause::Stolen => {
                Some(format!("the hypervisor took the processor (steal {})", pct(host.steal)))
            }
            Cause::Others => {
                Some(format!("other programs used the processor ({})", pct(self.others())))
            }
            Cause::Stopped => Some("the process was stopped".to_owned()),
            Cause::OwnHost => match self.filled_share {
                Some(share) if host.busy <= HOST_CPU_MAX => {
                    Some(format!("this job used {} of the processors that it may use", pct(share)))
                }
                Some(_) | None => {
                    Some(format!("this job itself used {} of all processors", pct(host.own?)))
                }
            },
            Cause::Scheduler => {
                Some(format!("workers waited on a host that was {} busy", pct(host.busy)))
            }
            Cause::OwnWorker | Cause::Calls => None,
        }
    }

    fn passed_reason(&self) -> String {
        match self.pauses.filter(|pauses| pauses.longest_ns >= PAUSE_NAMED_NS) {
            Some(pauses) => format!(
                "the generator had capacity left, but the process was paused once for {}: \
                 latencies of that length are not the storage's",
                time(pauses.longest_ns)
            ),
            None => "the generator had capacity left".to_owned(),
        }
    }

    /// A pause that stands out among the latencies is named also where it moves no figure.
    fn remarks(&self) -> Vec<(&'static str, f64)> {
        let has_long_pause = self.pauses.is_some_and(|pauses| pauses.longest_ns >= PAUSE_NAMED_NS);
        if has_long_pause { vec![("n_remarks", 1.0)] } else { Vec::new() }
    }
}

/// Shortest pause that is named in a run that is valid anyway: it is the largest latency that
/// is shown.
const PAUSE_NAMED_NS: u64 = 100_000_000;

fn time(ns: u64) -> String {
    format_duration(Duration::from_nanos(ns))
}

impl LateCount {
    fn share(self) -> f64 {
        self.n_late as f64 / self.n_due.max(1) as f64
    }
}
