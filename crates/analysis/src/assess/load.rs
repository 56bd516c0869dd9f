//! Checks of the load: was it the one asked for, and was it the storage that was measured?

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::time::Duration;

use record::{
    ArrivalsRecord, CapCountRecord, CapRecord, EmulationRecord, EngineQueueRecord, JobRecord,
    SUSTAINED_SHARE,
};

use super::{NOTHING_MEASURED, Step, time_ns};
use crate::advice::RATE_CHANGES;
use crate::gate::{Gate, GateName, GateVerdict};
use crate::gates::{
    Backlog, Behind, BurstKnowledge, CreditInputs, CreditUnit, FlightInputs, OfferedInputs,
    credits, little, offered, queue_depth,
};
use crate::limit::Limits;

/// Time from which on a rate that was missed is judged by its limits alone where time is real.
const S_MIN: f64 = 10.0;

/// What a moment at the end of a shorter time may leave undone, seconds of the load: a pause of the
/// host, a hiccup of the target. At most half of the time.
const MOMENT_S: f64 = 0.25;

/// Operations from which on the rate of one of several jobs, or of one worker, is judged by itself.
const N_DUE_MIN: f64 = 100.0;

/// Shortest time over which a queue depth is judged: in a shorter one a hiccup of a millisecond is
/// more than what may be missing.
const DEPTH_S_MIN: f64 = 0.02;

/// Longest that credits of a cloud's disks last, seconds.
const CREDITS_S_MAX: f64 = 3_600.0;

/// Models under which clouds present their disks.
const CLOUD_DISKS: [&str; 4] =
    ["Virtual Disk", "MSFT NVMe", "Amazon Elastic Block Store", "PersistentDisk"];

/// Bytes of a MiB.
const MIB: f64 = 1_048_576.0;

/// Returns whether a cap is one of bytes, not of operations.
fn counts_bytes(cap: &CapRecord) -> bool {
    cap.traits().counts == CapCountRecord::Bytes
}

impl Step<'_> {
    /// Returns whether the rate that a job was asked for changed.
    pub(super) fn follows_rate(&self) -> bool {
        self.open().any(|(_, arrivals)| arrivals.changing.is_some())
    }

    /// Judges burst credits, of targets that have or may have some.
    pub(super) fn credits(&self, is_carried: bool) -> Option<Gate> {
        let gate = self.credits_of_targets()?;
        Some(if self.follows_rate() && !is_carried {
            let reason = "the rate that was asked for changed and was not carried: a fall of it \
            looks like an end of credits";
            Gate::unknown(GateName::Credits, reason).with(&[(RATE_CHANGES, 1.0)])
        } else {
            gate
        })
    }

    fn credits_of_targets(&self) -> Option<Gate> {
        if let Some(emulation) = &self.record.emulation {
            return (!emulation.bursts.is_empty()).then(|| self.emulated_credits(emulation));
        }
        let models = self.record.places.iter().filter_map(|place| place.device.as_ref());
        let is_cloud = |model: &str| CLOUD_DISKS.iter().any(|name| model.contains(name));
        models.into_iter().find(|device| is_cloud(&device.model))?;
        let (iops, sample_s) = self.all_samples(|dir| dir.n_ios);
        let knowledge = BurstKnowledge::Unknown { lasts_s_max: CREDITS_S_MAX };
        let unit = CreditUnit::Iops;
        Some(credits(&CreditInputs {
            unit,
            iops: &iops,
            sample_s,
            counted_per_s: None,
            place: None,
            knowledge,
            follows_rate: self.follows_rate(),
        }))
    }

    /// Judges whether rates hold only until a write-back cache of an emulated volume is dirty. The
    /// job whose cache is full first decides.
    pub(super) fn write_cache(&self) -> Option<Gate> {
        let fillings = self.jobs.iter().filter_map(|job| job.caps.as_ref()?.filling.as_ref());
        let fillings = fillings.filter(|filling| !filling.never_fills);
        let first = fillings.min_by(|a, b| a.lasts_s.total_cmp(&b.lasts_s))?;
        let reason = format!("writes are taken so fast {}", first.words()?);
        let gate = Gate::unknown(GateName::WriteCache, reason);
        Some(gate.with(&[("lasts_s", first.lasts_s)]))
    }

    /// Judges the credits of emulated volumes and their machine: each cap by its own load, since
    /// caps do not share credits.
    fn emulated_credits(&self, emulation: &EmulationRecord) -> Gate {
        let name = GateName::Credits;
        if !emulation.changes.is_empty() {
            let reason = "the design was changed during the run: whose credits were spent is not \
            known";
            return Gate::unknown(name, reason);
        }
        // Of the accounts in use, the one that will be empty first; of those that are empty, the
        // last to end; else operations before bytes.
        let lasts_s = |gate: &Gate| gate.figure("lasts_s").unwrap_or(f64::INFINITY);
        let mut gates: Vec<Gate> =
            self.credits_by_cap().into_iter().map(|(_, gate)| gate).collect();
        gates.sort_by(|a, b| {
            let fell_at_s = |gate: &Gate| gate.figure("fell_at_s").unwrap_or(0.0);
            let later = fell_at_s(b).total_cmp(&fell_at_s(a));
            b.verdict
                .rank()
                .cmp(&a.verdict.rank())
                .then(lasts_s(a).total_cmp(&lasts_s(b)))
                .then(later)
        });
        let sustained = gates.iter().filter_map(|gate| gate.figure(SUSTAINED_SHARE));
        let sustained = sustained.reduce(f64::min);
        let mut gates = gates.into_iter();
        let Some(mut worst) = gates.next() else {
            return Gate::passed(name, "no operation reached a cap with burst credits");
        };
        // The account that carries the least of the load decides how much of it lasts.
        for figure in worst.figures.iter_mut().filter(|it| it.name == SUSTAINED_SHARE) {
            figure.value = sustained.unwrap_or(figure.value);
        }
        // The level after one account has ended may still use credits of another.
        let is_ended = worst.verdict == GateVerdict::Failed;
        match gates.find(|gate| is_ended && gate.figure("lasts_s").is_some()) {
            Some(other) => {
                let lasts_s = lasts_s(&other);
                let reason = format!("{}; {}", worst.reason, other.reason);
                Gate { reason, ..worst }.with(&[("lasts_s", lasts_s)])
            }
            None => worst,
        }
    }

    /// Judges each account of credits that was drawn on, beside its cap.
    pub(super) fn credits_by_cap(&self) -> Vec<(&CapRecord, Gate)> {
        let met = self.caps_with_credits();
        met.iter().map(|cap| (*cap, self.credits_of(cap, &met))).collect()
    }

    /// Judges the credits of one of the caps that were met.
    fn credits_of(&self, cap: &CapRecord, met: &[&CapRecord]) -> Gate {
        let is_bytes = counts_bytes(cap);
        let (unit, scale) =
            if is_bytes { (CreditUnit::MibPerS, MIB) } else { (CreditUnit::Iops, 1.0) };
        let (samples, sample_s) =
            self.all_samples(if is_bytes { |dir| dir.io_bytes } else { |dir| dir.n_ios });
        let per_s: Vec<f64> = samples.iter().map(|sample| sample / scale).collect();
        let n_alike = met.iter().filter(|other| counts_bytes(other) == is_bytes).count();
        let is_alone = n_alike == 1 && self.n_mounts() <= 1;
        let place = cap.mount.as_deref().unwrap_or("the machine");
        let baseline_iops = cap.per_s as f64 / scale;
        credits(&CreditInputs {
            unit,
            iops: &per_s,
            sample_s,
            counted_per_s: Some(cap.used_share * baseline_iops),
            place: (!is_alone).then_some(place),
            knowledge: BurstKnowledge::Known {
                baseline_iops,
                credit_ios: cap.credit as f64 / scale,
            },
            follows_rate: self.follows_rate(),
        })
    }

    /// Returns the caps with credits that jobs met, each once, those of operations first.
    fn caps_with_credits(&self) -> Vec<&CapRecord> {
        let mut caps: Vec<&CapRecord> = Vec::new();
        for cap in self.jobs.iter().filter_map(|job| job.caps.as_ref()).flat_map(|it| &it.caps) {
            let is_known = caps.iter().any(|known| known.name == cap.name);
            if cap.credit > 0 && cap.used_share > 0.0 && !is_known {
                caps.push(cap);
            }
        }
        caps.sort_by_key(|cap| counts_bytes(cap));
        caps
    }

    /// Returns how many volumes the jobs' operations went to.
    fn n_mounts(&self) -> usize {
        let caps = self.jobs.iter().filter_map(|job| job.caps.as_ref()).flat_map(|it| &it.caps);
        let mounts: BTreeSet<&str> = caps.filter_map(|cap| cap.mount.as_deref()).collect();
        mounts.len()
    }

    /// Returns the jobs with an open load.
    pub(super) fn open(&self) -> impl Iterator<Item = (&JobRecord, &ArrivalsRecord)> {
        self.jobs.iter().filter_map(|job| job.arrivals.as_ref().map(|arrivals| (*job, arrivals)))
    }

    /// Judges whether open loads were carried: all together, and each job's, which a sum would
    /// hide. A job that ended before it measured anything, as one that is stopped in its ramp, was
    /// offered nothing.
    pub(super) fn offered(&self) -> Option<Gate> {
        self.open().next()?;
        let measured: Vec<_> = self.open().filter(|(job, _)| job.runtime_ns > 0).collect();
        if measured.is_empty() {
            return Some(Gate::unknown(GateName::Offered, NOTHING_MEASURED));
        }
        let whole = self.offered_of(&measured);
        let names: BTreeSet<&str> = measured.iter().map(|(job, _)| &*job.name).collect();
        let parts = names.into_iter().filter_map(|name| {
            let own = measured.iter().filter(|(job, _)| job.name == name).copied();
            let own: Vec<_> = own.collect();
            let due = |(job, arrivals): &(&JobRecord, &ArrivalsRecord)| {
                arrivals.offered_iops * time_ns(job) / 1e9
            };
            let n_due: f64 = own.iter().map(due).sum();
            (n_due >= N_DUE_MIN).then(|| (name, self.offered_of(&own)))
        });
        let worst = parts.min_by_key(|(_, gate)| Reverse(gate.verdict.rank()));
        let hidden = worst.filter(|(_, gate)| gate.verdict.rank() > whole.verdict.rank());
        Some(hidden.map_or(whole, |(name, gate)| Gate {
            reason: format!("`{name}`: {}", gate.reason),
            ..gate
        }))
    }

    /// Judges whether the loads of these jobs were carried.
    fn offered_of(&self, measured: &[(&JobRecord, &ArrivalsRecord)]) -> Gate {
        let mut sum = OfferedInputs {
            offered_iops: 0.0,
            achieved_iops: 0.0,
            worker_share_min: None,
            backlog_start: 0,
            backlog_end: 0,
            window_s: 0.0,
            behind: behind(measured),
        };
        for (job, arrivals) in measured {
            let window_s = time_ns(job) / 1e9;
            let achieved_iops = job.n_ios() as f64 / window_s;
            let offered_iops = least_offered(arrivals, window_s);
            if job.n_workers == 1 && job.n_ios() as f64 >= N_DUE_MIN {
                let share = achieved_iops / offered_iops;
                sum.worker_share_min =
                    Some(sum.worker_share_min.map_or(share, |least: f64| least.min(share)));
            }
            sum.offered_iops += offered_iops;
            sum.achieved_iops += achieved_iops;
            sum.backlog_start += arrivals.backlog_start;
            sum.backlog_end += arrivals.backlog_end;
            sum.window_s = sum.window_s.max(window_s);
        }
        let backlog = Backlog {
            start: sum.backlog_start,
            end: sum.backlog_end,
            n_due: sum.offered_iops * sum.window_s,
            is_random: measured.iter().any(|(_, arrivals)| arrivals.spacing != "even"),
        };
        if sum.backlog_end.saturating_sub(sum.backlog_start) as f64 <= backlog.noise() {
            sum.backlog_end = sum.backlog_end.min(sum.backlog_start);
        }
        let mut gate = offered(&sum);
        if let Some(cap) = sum.behind.and_then(|_| binding_cap(measured)) {
            gate.reason = format!("{}; held by {cap}", gate.reason);
        }
        let is_short = !self.is_virtual() && sum.window_s < S_MIN;
        if gate.verdict == GateVerdict::Failed && is_short && !self.is_far_below(&sum) {
            let reason = format!(
                "{}; {:.1} s are too short to distinguish it from a short delay",
                gate.reason, sum.window_s
            );
            return Gate::unknown(GateName::Offered, reason);
        }
        gate
    }

    /// Returns whether less was done in a short time than a moment's delay and what was in flight
    /// at the end explain.
    fn is_far_below(&self, sum: &OfferedInputs) -> bool {
        let latency_s = self.latency_ns_mean().unwrap_or(0.0) / 1e9;
        let moment_s = (MOMENT_S + latency_s).min(sum.window_s / 2.0);
        let least = Limits::ACHIEVED_SHARE_MIN - moment_s / sum.window_s;
        sum.achieved_iops < sum.offered_iops * least
    }

    /// Judges whether closed loads kept their depth.
    pub(super) fn queue_depth(&self) -> Option<Gate> {
        // What the null engine is handed over has ended when the call returns: it keeps nothing.
        let keeps_full = |job: &&JobRecord| {
            // A rate that changes holds back as well, and there is no one rate to say so.
            let has_rate = job.dirs.iter().any(|(_, dir)| dir.response.is_some());
            let is_held_back = has_rate || job.arrivals.is_some() || job.latency_target.is_some();
            !is_held_back && !job.pauses && !job.engine_traits().is_idle
        };
        let closed: Vec<&JobRecord> = self.jobs.iter().copied().filter(keeps_full).collect();
        let in_flight: Option<f64> = closed.iter().map(|job| job.in_flight_mean).sum();
        if closed.is_empty() || in_flight.is_none() {
            return None;
        }
        if closed.iter().any(|job| job.n_errors > 0 || job.error_errno != 0) {
            let reason = "operations failed: what was in flight until then is no queue depth";
            return Some(Gate::unknown(GateName::QueueDepth, reason));
        }
        let asked: f64 =
            closed.iter().map(|job| f64::from(job.queue_depth) * f64::from(job.n_workers)).sum();
        let inputs = FlightInputs { in_flight, ..flight(&closed) };
        let service_s = inputs.service_ns.unwrap_or(0.0) / 1e9;
        if inputs.window_s < DEPTH_S_MIN.max(100.0 * service_s) {
            let time = |s: f64| units::format_duration(Duration::from_secs_f64(s));
            let (window, service) = (time(inputs.window_s), time(service_s));
            let reason = format!("{window} are too short for operations of {service}");
            return Some(Gate::unknown(GateName::QueueDepth, reason));
        }
        let n_workers = closed.iter().map(|job| job.n_workers).sum();
        let gate = queue_depth(asked, n_workers, &inputs);
        Some(if gate.verdict == GateVerdict::Failed {
            gate.advised(refill_advice(&closed))
        } else {
            gate
        })
    }

    /// Judges whether in flight = rate x time in the queue.
    pub(super) fn little(&self) -> Option<Gate> {
        let name = GateName::Little;
        if self.jobs.iter().all(|job| job.in_flight_mean.is_none()) {
            // Not counted, as in results that another program printed.
            return None;
        }
        if self.jobs.iter().any(|job| job.n_errors > 0) {
            return Some(Gate::unknown(name, "operations failed, whose times are not recorded"));
        }
        if self.jobs.iter().any(|job| job.print.disabled.lat) {
            return Some(Gate::unknown(name, "latencies were not recorded"));
        }
        let in_flight: Option<f64> = self.jobs.iter().map(|job| job.in_flight_mean).sum();
        Some(little(&FlightInputs { in_flight, ..flight(&self.jobs) }))
    }
}

/// Returns what keeps the depth, by what the jobs that missed it use.
fn refill_advice(jobs: &[&JobRecord]) -> &'static str {
    let has = |job: &JobRecord, queue| job.engine_traits().queue == queue;
    if jobs.iter().any(|job| has(job, EngineQueueRecord::OneByOne)) {
        return "this engine ends an operation before it begins the next: use ioengine=io_uring \
                with direct=1, or more workers (numjobs)";
    }
    let is_buffered = |job: &JobRecord| job.is_direct == Some(false);
    if jobs.iter().any(|job| has(job, EngineQueueRecord::Kernel) && is_buffered(job)) {
        return "buffered I/O ends within the call that submits it: add direct=1, or use more \
                workers (numjobs)";
    }
    "the workers refill the queue too slowly, as the calls that submit take long: use more workers \
     (numjobs) with fewer I/Os in flight each"
}

/// Returns since when rates that change were not followed, if they were not.
fn behind(measured: &[(&JobRecord, &ArrivalsRecord)]) -> Option<Behind> {
    let changing = || measured.iter().filter_map(|(_, arrivals)| arrivals.changing);
    let since_ns = changing().filter_map(|it| it.behind_since_ns).min()?;
    let delay_ns_max = changing().map(|it| it.delay_ns_max).max().unwrap_or(0);
    Some(Behind { since_s: since_ns as f64 / 1e9, delay_s_max: delay_ns_max as f64 / 1e9 })
}

/// Returns the cap of an emulated volume that held the first job of those that were behind, if one
/// did.
fn binding_cap<'a>(measured: &[(&'a JobRecord, &ArrivalsRecord)]) -> Option<&'a str> {
    let is_behind = |arrivals: &ArrivalsRecord| {
        arrivals.changing.is_some_and(|it| it.behind_since_ns.is_some())
    };
    let mut jobs = measured.iter().filter(|(_, arrivals)| is_behind(arrivals));
    jobs.find_map(|(job, _)| Some(&*job.caps.as_ref()?.binding_cap()?.name))
}

/// Returns the rate that was offered at least: random arrivals in a short time may be fewer than
/// the rate says, which is no fault of the volume. Three standard deviations of their
/// number are allowed.
fn least_offered(arrivals: &ArrivalsRecord, window_s: f64) -> f64 {
    let n_due = arrivals.offered_iops * window_s;
    let allowed = if arrivals.spacing == "even" { 0.0 } else { 3.0 * n_due.sqrt() };
    ((n_due - allowed).max(1.0) / window_s).min(arrivals.offered_iops)
}

/// Adds up rates and times in the queue over the whole time of each job, from the choice of an
/// operation on: one in submission occupies its place, and so do syncs and what leads to an
/// operation in a tree of files.
fn flight(jobs: &[&JobRecord]) -> FlightInputs {
    let (mut rate_iops, mut in_flight, mut window_s) = (0.0, 0.0, 0.0_f64);
    let mut latency_ns_max = 0;
    for job in jobs {
        let time_ns = time_ns(job);
        if time_ns <= 0.0 {
            continue;
        }
        let of_dirs = || job.dirs.iter().map(|(_, dir)| &dir.lat);
        let of_series = || job.series.iter().map(|series| &series.lat);
        let latencies: Vec<&hist::Histogram> =
            if job.series.is_empty() { of_dirs().collect() } else { of_series().collect() };
        for latency in latencies.into_iter().chain([&job.sync]) {
            rate_iops += latency.count() as f64 * 1e9 / time_ns;
            in_flight += latency.sum_ns() as f64 / time_ns;
            latency_ns_max = latency_ns_max.max(latency.max_ns().unwrap_or(0));
        }
        window_s = window_s.max(time_ns / 1e9);
    }
    let service_ns = (rate_iops > 0.0).then(|| in_flight / rate_iops * 1e9);
    let completed_iops = rate_iops;
    FlightInputs { in_flight: None, completed_iops, service_ns, window_s, latency_ns_max }
}
