//! The intervals of a step: when one ends, and what was counted in it.
//!
//! In real time they are cut by a thread of their own. The thread that reports, prints and stores
//! them may wait for seconds on a slow disk, perhaps the measured one: it takes the intervals that
//! were cut meanwhile afterwards, and loses none.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;

use record::Interval;

use crate::clock::Clock;
use crate::context::StepContext;
use crate::cpu::CpuSampler;
use crate::options::RunOptions;
use crate::seat::Seat;
use crate::series::{SeriesSampler, SeriesSoFar};
use crate::status::IntervalSampler;
use crate::step_event::StepEvent;

/// Length of an interval of the record.
const INTERVAL_NS: u64 = 1_000_000_000;

/// Shortest interval, nanoseconds.
const INTERVAL_MIN_NS: u64 = 1_000_000;

/// Intervals of one length in a step whose intervals grow: as many as two hours have seconds. Then
/// they are twice as long until the step is twice as old, and so on.
const N_EQUAL_INTERVALS: u64 = 7200;

/// When intervals end: every second, unless another length is asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Schedule {
    started_ns: u64,
    ramp_end_ns: u64,
    since_ns: u64,
    next_ns: u64,
    length_ns: u64,
    /// They become longer with the step, so that a simulated year fits into memory.
    grows: bool,
    /// They add up to what the step did: the last one ends when its workers have.
    is_detailed: bool,
}

impl Schedule {
    /// Begins the first interval of a step that starts at `now_ns`.
    pub(crate) fn new(now_ns: u64, ramp_end_ns: u64, options: &RunOptions) -> Self {
        let detailed = options.detailed_intervals;
        let length_ns = detailed.map_or(INTERVAL_NS, |it| it.interval_ns.max(INTERVAL_MIN_NS));
        // The first one is what a ramp has beyond whole ones, so that one ends when it does.
        let ramp_ns = ramp_end_ns.saturating_sub(now_ns);
        let first_ns = match ramp_ns % length_ns {
            INTERVAL_MIN_NS.. if detailed.is_none() => ramp_ns % length_ns,
            _ => length_ns,
        };
        Schedule {
            started_ns: now_ns,
            ramp_end_ns,
            since_ns: now_ns,
            next_ns: now_ns + first_ns,
            length_ns,
            grows: options.is_virtual() && detailed.is_none(),
            is_detailed: detailed.is_some(),
        }
    }

    /// Returns whether an interval ends now, if the workers' time is over at `ends_ns`. If it does,
    /// the next one has begun: from the schedule, so that intervals do not drift.
    fn ends(&mut self, now_ns: u64, ends_ns: Option<u64>) -> bool {
        assert!(now_ns >= self.since_ns, "no interval ends before it has begun");
        if now_ns < self.next_ns {
            return false;
        }
        let soon_ns = self.next_ns + self.length_ns / 2;
        if self.is_detailed && ends_ns.is_some_and(|ends_ns| ends_ns <= soon_ns.max(now_ns)) {
            // The last one: it ends when the workers have.
            self.next_ns = u64::MAX;
            return false;
        }
        if self.grows && now_ns >= self.started_ns + N_EQUAL_INTERVALS * self.length_ns {
            self.length_ns *= 2;
        }
        self.next_ns += self.length_ns * ((now_ns - self.next_ns) / self.length_ns + 1);
        true
    }

    /// Returns whether what is left when the workers have ended is an interval: not if it is too
    /// short to say anything. Detailed ones add up to what the step did.
    fn is_last(&self, now_ns: u64) -> bool {
        let from_ns = self.next_ns.saturating_sub(self.length_ns);
        let is_long = now_ns > from_ns.saturating_add(self.length_ns / 10);
        now_ns > self.since_ns && (is_long || self.is_detailed)
    }
}

/// What is counted from interval to interval.
pub(crate) struct Counters {
    sampler: IntervalSampler,
    step_idx: u32,
    details: Option<Details>,
}

/// What only detailed intervals hold.
struct Details {
    series: SeriesSampler,
    cpu: Option<CpuSampler>,
}

impl Counters {
    /// Begins to count what the workers in `seats` do.
    pub(crate) fn new(
        seats: &[Seat<'_>],
        sampler: IntervalSampler,
        context: &StepContext<'_>,
    ) -> Self {
        let options = context.options;
        let details = options.detailed_intervals.map(|it| Details {
            series: SeriesSampler::new(seats.iter().map(Seat::counters)),
            cpu: (it.cpu && !options.is_virtual()).then(CpuSampler::start),
        });
        Counters { sampler, step_idx: context.step_idx, details }
    }
}

/// The intervals of a step, one after the other.
pub(crate) struct Cuts {
    schedule: Schedule,
    counters: Counters,
}

impl Cuts {
    pub(crate) fn new(schedule: Schedule, counters: Counters) -> Self {
        Cuts { schedule, counters }
    }

    /// Returns when the next interval ends; `u64::MAX` for the last one.
    pub(crate) fn next_ns(&self) -> u64 {
        self.schedule.next_ns
    }

    /// Ends the interval that is over, if one is.
    pub(crate) fn tick(&mut self, now_ns: u64, ends_ns: Option<u64>) -> Option<Interval> {
        self.schedule.ends(now_ns, ends_ns).then(|| self.cut(now_ns))
    }

    /// Ends the last interval, if there is something of it.
    pub(crate) fn last(&mut self, now_ns: u64) -> Option<Interval> {
        self.schedule.is_last(now_ns).then(|| self.cut(now_ns))
    }

    /// Returns what was done until now, where intervals hold it.
    pub(crate) fn so_far(&self) -> Option<SeriesSoFar<'_>> {
        self.counters.details.as_ref().map(|details| details.series.so_far())
    }

    fn cut(&mut self, now_ns: u64) -> Interval {
        let Counters { sampler, step_idx, details } = &mut self.counters;
        // At once, since the counters go on; distributions take longer.
        let series = details.as_mut().map(|details| details.series.sample());
        let mut interval = sampler.sample(now_ns, 0, *step_idx);
        interval.series = series.unwrap_or_default();
        let since_ns = std::mem::replace(&mut self.schedule.since_ns, now_ns);
        // One that ends with the ramp is seen to end a little after it.
        interval.ramp = since_ns.midpoint(now_ns) < self.schedule.ramp_end_ns;
        let cpu = details.as_mut().and_then(|details| details.cpu.as_mut());
        interval.cpu = cpu.and_then(CpuSampler::sample);
        interval
    }
}

/// The thread that ends intervals when they should.
pub(crate) struct Cutter {
    shared: Arc<Shared>,
    thread: JoinHandle<Cuts>,
    /// To tell by what was done until now.
    series: Option<SeriesSampler>,
}

#[derive(Debug)]
struct Shared {
    stop: AtomicBool,
    /// When the workers' time is over; `u64::MAX` where it is not limited.
    ends_ns: AtomicU64,
}

impl Cutter {
    /// Hands the intervals of a step to a thread of their own, which sends each to `events` when it
    /// has ended.
    ///
    /// # Errors
    /// When there is none to be had: the intervals, for the caller to cut.
    pub(crate) fn start(
        cuts: Cuts,
        seats: &[Seat<'_>],
        clock: Clock,
        ends_ns: Option<u64>,
        events: Sender<StepEvent>,
    ) -> Result<Self, Box<Cuts>> {
        let ends_ns = AtomicU64::new(ends_ns.unwrap_or(u64::MAX));
        let shared = Arc::new(Shared { stop: AtomicBool::new(false), ends_ns });
        let series = cuts
            .counters
            .details
            .is_some()
            .then(|| SeriesSampler::new(seats.iter().map(Seat::counters)));
        let watched = Arc::clone(&shared);
        // A closure that cannot be run is lost, and what it holds with it.
        let (to_thread, given) = channel();
        let thread = std::thread::Builder::new().name("intervals".to_owned()).spawn(move || {
            let cuts: Cuts = given.recv().expect("they are given after the thread was made");
            cut_all(cuts, &watched, clock, &events)
        });
        match thread {
            Ok(thread) => {
                // The thread waits for it.
                let _gone = to_thread.send(cuts);
                Ok(Cutter { shared, thread, series })
            }
            Err(_) => Err(Box::new(cuts)),
        }
    }

    /// Reports when the workers' time is over, as far as is known now.
    pub(crate) fn set_end(&self, ends_ns: Option<u64>) {
        self.shared.ends_ns.store(ends_ns.unwrap_or(u64::MAX), Relaxed);
    }

    /// Returns what was done until now, where intervals hold it.
    pub(crate) fn so_far(&self) -> Option<SeriesSoFar<'_>> {
        self.series.as_ref().map(SeriesSampler::so_far)
    }

    /// Ends the thread, after which no interval is sent any more. Returns the one that goes on;
    /// of a thread that panicked none.
    pub(crate) fn finish(self) -> Option<Cuts> {
        self.shared.stop.store(true, Relaxed);
        self.thread.thread().unpark();
        self.thread.join().ok()
    }
}

/// Ends intervals until it is asked to stop.
fn cut_all(mut cuts: Cuts, shared: &Shared, clock: Clock, to: &Sender<StepEvent>) -> Cuts {
    while !shared.stop.load(Relaxed) {
        let now_ns = clock.now_ns();
        let ends_ns = match shared.ends_ns.load(Relaxed) {
            u64::MAX => None,
            ends_ns => Some(ends_ns),
        };
        if let Some(interval) = cuts.tick(now_ns, ends_ns) {
            // Whoever takes them lives as long as this thread.
            let _gone = to.send(StepEvent::Interval(Box::new(interval), now_ns));
        }
        match cuts.next_ns() {
            u64::MAX => std::thread::park(),
            next_ns => {
                let now_ns = clock.now_ns();
                std::thread::park_timeout(clock.wall_time(next_ns.saturating_sub(now_ns)));
            }
        }
    }
    cuts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_ends_after_it_has_begun() {
        let schedule = Schedule::new(9, 9, &RunOptions::default());
        testing::check_wrong_calls(&[("before", "no interval ends before it has begun", &|| {
            schedule.clone().ends(8, None);
        })]);
    }
}
