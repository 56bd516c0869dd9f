//! The clock of a run: nanoseconds since an origin, from the CPU's time stamp counter where the
//! kernel trusts it, else from `CLOCK_MONOTONIC`.
//!
//! The kernel's own verdict decides: if its clock source is `tsc`, the counter is constant,
//! synchronous over the CPUs and does not stop. Reading it costs about half of a `clock_gettime`.

use std::time::Duration;

/// How long the counter is compared with the kernel's clock. 20 ms bound the error of the rate by
/// the two reading errors (under 1 us each): 0.01 %.
const CALIBRATION: Duration = Duration::from_millis(20);

/// Bits behind the binary point of the factor from ticks to nanoseconds.
const SHIFT: u32 = 32;

/// A monotonic clock. Cheap to copy; all copies agree.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    source: Source,
    origin: u64,
    /// Wall-clock seconds per second of this clock, unless they are the same.
    slowness: Option<f64>,
}

#[derive(Clone, Copy, Debug)]
enum Source {
    /// Nanoseconds are `ticks * factor >> SHIFT`.
    Tsc {
        factor: u64,
    },
    Monotonic,
}

impl Clock {
    /// Starts a clock at zero. Takes 20 ms where the counter must be calibrated.
    pub(crate) fn start() -> Self {
        match tsc_is_trusted().then(calibrate).flatten() {
            Some(factor) => {
                Clock { source: Source::Tsc { factor }, origin: ticks(), slowness: None }
            }
            None => Self::start_monotonic(),
        }
    }

    /// Starts a clock at zero that reads `CLOCK_MONOTONIC`.
    pub(crate) fn start_monotonic() -> Self {
        Clock { source: Source::Monotonic, origin: monotonic_ns(), slowness: None }
    }

    /// Returns the clock at a slower pace: `slowness` wall-clock seconds, above 0, are a second of
    /// it. Below 1 it is faster.
    pub(crate) fn slowed(mut self, slowness: f64) -> Self {
        let is_pace = slowness.is_finite() && slowness > 0.0;
        assert!(is_pace, "a second of a slowed clock takes {slowness} s");
        if let Source::Tsc { factor } = &mut self.source {
            *factor = (*factor as f64 / slowness) as u64;
        }
        self.slowness = Some(self.slowness.unwrap_or(1.0) * slowness);
        self
    }

    /// Returns how long a time on this clock is on the wall's.
    pub(crate) fn wall_time(&self, ns: u64) -> Duration {
        Duration::from_nanos(match self.slowness {
            Some(slowness) => (ns as f64 * slowness) as u64,
            None => ns,
        })
    }

    /// Returns the nanoseconds since the start.
    #[inline]
    pub(crate) fn now_ns(&self) -> u64 {
        match self.source {
            Source::Tsc { factor } => {
                let passed = ticks().wrapping_sub(self.origin);
                ((u128::from(passed) * u128::from(factor)) >> SHIFT) as u64
            }
            Source::Monotonic => {
                let passed_ns = monotonic_ns().wrapping_sub(self.origin);
                match self.slowness {
                    Some(slowness) => (passed_ns as f64 / slowness) as u64,
                    None => passed_ns,
                }
            }
        }
    }

    /// Returns what this clock reads when `CLOCK_MONOTONIC` reads `at_ns`; 0 for what was before
    /// its start.
    pub(crate) fn at_monotonic(&self, at_ns: u64) -> u64 {
        let (now_ns, kernel_ns) = (self.now_ns(), monotonic_ns());
        let pace = |ns: u64| self.slowness.map_or(ns, |slowness| (ns as f64 / slowness) as u64);
        match at_ns.checked_sub(kernel_ns) {
            Some(left_ns) => now_ns.saturating_add(pace(left_ns)),
            None => now_ns.saturating_sub(pace(kernel_ns - at_ns)),
        }
    }

    /// Returns `tsc` or `monotonic`.
    pub(crate) fn source_name(&self) -> &'static str {
        match self.source {
            Source::Tsc { .. } => "tsc",
            Source::Monotonic => "monotonic",
        }
    }

    /// Measures what one reading costs, in nanoseconds: the least mean of several short rows.
    pub(crate) fn read_cost_ns(&self) -> u64 {
        const READS: u64 = 64;
        (0..8)
            .map(|_| {
                let begin = self.now_ns();
                for _ in 0..READS {
                    std::hint::black_box(self.now_ns());
                }
                (self.now_ns() - begin) / (READS + 1)
            })
            .min()
            .unwrap_or(0)
    }
}

/// Reads a clock of the kernel. By the C library: rustix takes the same 30 ns, but looks for the
/// kernel's code by itself and crashes under valgrind, where there is none.
fn read(clock: libc::clockid_t) -> libc::timespec {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes one `timespec`. Both clocks exist on every Linux, so it cannot fail.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    time
}

fn monotonic_ns() -> u64 {
    let time = read(libc::CLOCK_MONOTONIC);
    // The kernel's monotonic clock starts near zero at boot and both parts are never negative.
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn ticks() -> u64 {
    // SAFETY: reads a register; present on every x86-64 CPU.
    unsafe { core::arch::x86_64::_rdtsc() }
}

#[cfg(not(target_arch = "x86_64"))]
#[inline]
fn ticks() -> u64 {
    monotonic_ns()
}

/// Returns whether the kernel itself keeps time by the counter.
fn tsc_is_trusted() -> bool {
    cfg!(target_arch = "x86_64")
        && std::fs::read_to_string(
            "/sys/devices/system/clocksource/clocksource0/current_clocksource",
        )
        .is_ok_and(|name| name.trim() == "tsc")
}

/// Returns nanoseconds per tick as a fixed-point factor, or `None` if the counter does not advance.
fn calibrate() -> Option<u64> {
    let (ticks_begin, ns_begin) = paired();
    std::thread::sleep(CALIBRATION);
    let (ticks_end, ns_end) = paired();
    let passed = ticks_end.checked_sub(ticks_begin).filter(|ticks| *ticks > 0)?;
    u64::try_from((u128::from(ns_end - ns_begin) << SHIFT) / u128::from(passed)).ok()
}

/// Reads both clocks as close together as the machine lets us: the tightest of several tries.
fn paired() -> (u64, u64) {
    let mut best = (u64::MAX, 0, 0);
    for _ in 0..32 {
        let before = ticks();
        let ns = monotonic_ns();
        let after = ticks();
        let gap = after.wrapping_sub(before);
        if gap < best.0 {
            best = (gap, before + gap / 2, ns);
        }
    }
    (best.1, best.2)
}

/// Returns the milliseconds since the Unix epoch. A label for records and logs, never a measure.
pub(crate) fn unix_ms() -> u64 {
    let time = read(libc::CLOCK_REALTIME);
    // A clock set before 1970 shows as the epoch.
    u64::try_from(time.tv_sec).unwrap_or(0) * 1000 + time.tv_nsec as u64 / 1_000_000
}

/// Lets timers of this thread fire when they are due instead of up to 50 us later.
pub(crate) fn sharpen_timers() {
    // SAFETY: changes a property of the calling thread only; a failure leaves the default.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1_u64) };
}
