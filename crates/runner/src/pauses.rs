//! An extra thread that sleeps for a fixed period and notes how late it wakes, as jHiccup does:
//! what delayed it delayed the workers, too, and must not be taken for the storage's latency.
//!
//! Where others had the processor, the kernel says so (`schedstat`), and the workers' own waits are
//! in their results. What is left are times in which the process stood still: it was stopped, or a
//! hypervisor gave its processor to others.
//!
//! Cost: one wake-up in 5 ms, 5 to 25 us each (the larger where an idle processor of a virtual
//! machine must be woken): 0.1 to 0.5 % of one processor. A period of 1 ms, as jHiccup's, took
//! 1.8 %. It allocates and locks nothing while it watches.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::JoinHandle;
use std::time::Duration;

use hist::LiveHistogram;
use record::{PauseRecord, PausesRecord};

use crate::clock::{Clock, sharpen_timers};

/// Distance of the moments at which it looks.
const PERIOD_NS: u64 = 5_000_000;

/// Delay from which on it is asked for the reason. Timers of a virtual machine are up to 0.1 ms
/// late as a rule.
const ASKED_NS: u64 = 1_000_000;

/// Shortest pause that is kept by itself.
const KEPT_NS: u64 = 10_000_000;

/// Pauses kept by themselves.
const N_KEPT: usize = 16;

/// Stack of the thread: its frames are shallow.
const STACK_BYTES: usize = 64 << 10;

/// The thread, while it watches.
#[derive(Debug)]
pub(crate) struct PauseWatch {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<LongestPauses>>,
}

#[derive(Debug)]
struct Shared {
    stop: AtomicBool,
    still: Box<LiveHistogram>,
    waited: Box<LiveHistogram>,
}

/// The longest pauses so far.
#[derive(Clone, Copy, Debug, Default)]
struct LongestPauses {
    pauses: [PauseRecord; N_KEPT],
    n: usize,
}

impl PauseWatch {
    /// Begins to watch. What happens before `from_ns` on `clock`, such as in a ramp, is left out.
    /// `None` where the thread cannot be made: then nothing is known of pauses.
    pub(crate) fn start(clock: Clock, from_ns: u64) -> Option<Self> {
        let shared = Arc::new(Shared {
            stop: AtomicBool::new(false),
            still: LiveHistogram::new(),
            waited: LiveHistogram::new(),
        });
        let watched = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("pauses".to_owned())
            .stack_size(STACK_BYTES)
            .spawn(move || watch(&watched, clock, from_ns))
            .ok()?;
        Some(PauseWatch { shared, thread: Some(thread) })
    }

    /// Returns what was seen so far, without the list of pauses.
    pub(crate) fn so_far(&self) -> PausesRecord {
        PausesRecord {
            period_ns: PERIOD_NS,
            still: self.shared.still.snapshot(),
            waited: self.shared.waited.snapshot(),
            longest: Vec::new(),
        }
    }

    /// Ends it, and returns what was seen. Takes a period at most.
    pub(crate) fn finish(mut self) -> PausesRecord {
        self.shared.stop.store(true, Relaxed);
        let kept = self.thread.take().and_then(|thread| thread.join().ok()).unwrap_or_default();
        let mut longest = kept.pauses[..kept.n].to_vec();
        longest.sort_by_key(|pause| pause.end_ms);
        PausesRecord { longest, ..self.so_far() }
    }
}

impl Drop for PauseWatch {
    fn drop(&mut self) {
        self.shared.stop.store(true, Relaxed);
    }
}

impl LongestPauses {
    /// Keeps a pause, if it is one of the longest.
    fn keep(&mut self, pause: PauseRecord) {
        if self.n < N_KEPT {
            self.pauses[self.n] = pause;
            self.n += 1;
            return;
        }
        let shortest = self.pauses.iter_mut().min_by_key(|it| it.length_ms);
        if let Some(shortest) = shortest.filter(|it| it.length_ms < pause.length_ms) {
            *shortest = pause;
        }
    }
}

/// Looks at the clock at equal distances until it is asked to stop.
fn watch(shared: &Shared, run_clock: Clock, from_ns: u64) -> LongestPauses {
    sharpen_timers();
    // Its own time is the wall's, also where a run's is slowed.
    let clock = Clock::start_monotonic();
    let ramp_ns = run_clock.wall_time(from_ns.saturating_sub(run_clock.now_ns())).as_nanos() as u64;
    let mut kept = LongestPauses::default();
    let mut waits = Waits::open();
    let mut due_ns = clock.now_ns() + PERIOD_NS;
    while !shared.stop.load(Relaxed) {
        std::thread::sleep(Duration::from_nanos(due_ns.saturating_sub(clock.now_ns())));
        let now_ns = clock.now_ns();
        let late_ns = now_ns.saturating_sub(due_ns);
        let is_still = is_still(late_ns, waits.passed(late_ns));
        let delays = if is_still { &shared.still } else { &shared.waited };
        let pause_from_ns = due_ns.max(ramp_ns);
        // Every moment that was missed meanwhile.
        while due_ns <= now_ns {
            if due_ns >= ramp_ns {
                delays.record(now_ns - due_ns);
            }
            due_ns += PERIOD_NS;
        }
        let length_ns = now_ns.saturating_sub(pause_from_ns);
        if is_still && length_ns >= KEPT_NS {
            let end_ms = run_clock.now_ns() / 1_000_000;
            kept.keep(PauseRecord { end_ms, length_ms: length_ns / 1_000_000 });
        }
    }
    kept
}

/// Returns whether a delay is one in which the process stood still: waits for a processor explain
/// less than half of it.
fn is_still(late_ns: u64, waited_ns: u64) -> bool {
    late_ns >= ASKED_NS && waited_ns < late_ns / 2
}

/// How long this thread has waited for a processor.
struct Waits {
    file: Option<File>,
    seen_ns: u64,
    /// Small delays since then, of which each may have been a wait.
    small_ns: u64,
}

impl Waits {
    /// Begins to count for the calling thread.
    fn open() -> Self {
        let file = File::open("/proc/thread-self/schedstat").ok();
        let mut waits = Waits { file, seen_ns: 0, small_ns: 0 };
        waits.seen_ns = waits.read().unwrap_or(0);
        waits
    }

    /// Returns how much of a delay that has just ended were waits for a processor, at most. Without
    /// the kernel's counts all of it may have been.
    fn passed(&mut self, late_ns: u64) -> u64 {
        if late_ns < ASKED_NS {
            self.small_ns += late_ns;
            return late_ns;
        }
        let Some(now_ns) = self.read() else { return late_ns };
        let before_ns = std::mem::replace(&mut self.seen_ns, now_ns);
        let small_ns = std::mem::take(&mut self.small_ns);
        now_ns.saturating_sub(before_ns).saturating_sub(small_ns)
    }

    /// Reads the kernel's count: the second number.
    fn read(&self) -> Option<u64> {
        let mut text = [0; 64];
        let n = self.file.as_ref()?.read_at(&mut text, 0).ok()?;
        let text = std::str::from_utf8(text.get(..n)?).ok()?;
        text.split_ascii_whitespace().nth(1)?.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delay_is_a_pause_unless_others_had_the_processor() {
        let ms = 1_000_000;
        assert!(is_still(400 * ms, 0));
        assert!(is_still(400 * ms, 199 * ms));
        assert!(!is_still(400 * ms, 200 * ms));
        assert!(!is_still(ms - 1, 0), "timers are a little late as a rule");
    }

    #[test]
    fn the_longest_pauses_are_kept() {
        let mut kept = LongestPauses::default();
        for length_ms in 1..=40 {
            kept.keep(PauseRecord { end_ms: 100, length_ms });
        }
        let mut lengths: Vec<u64> = kept.pauses.iter().map(|pause| pause.length_ms).collect();
        lengths.sort_unstable();
        assert_eq!(lengths, (25..=40).collect::<Vec<u64>>());
    }

    #[test]
    fn moments_are_counted_at_equal_distances() {
        let clock = Clock::start_monotonic();
        let watch = PauseWatch::start(clock, clock.now_ns()).expect("a thread");
        std::thread::sleep(Duration::from_millis(100));
        let passed_ns = clock.now_ns();
        let record = watch.finish();
        let n = record.still.count() + record.waited.count();
        // However late it woke: every moment that has passed counts, those since the last wake-up
        // and before the thread began excepted.
        assert!(n <= passed_ns / PERIOD_NS + 2, "{n} in {passed_ns} ns");
        assert!(n >= 1, "{n}");
        assert_eq!(record.period_ns, PERIOD_NS);
    }
}
