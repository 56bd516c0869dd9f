//! When the next operation may go: rates and think time.
//!
//! A rate is a schedule: operation k is due at a time that depends on k and the rate alone. The
//! worker issues what is due, never drains the queue for it, and after a stall catches up; the
//! response time counts from the due time, so the stall cannot hide.

use pattern::{Arrivals, PatternError};
use plan::load::{Load, Rate, ThinkCount};
use plan::{Direction, Job};

/// From this rate on (operations per second) the worker does not wait for each operation by itself.
///
/// A timer costs a core 3 us on bare metal and 15 us on a virtual machine; at 20,000 per second
/// that is up to a third of it, and far more than the operation.
const GROUP_FROM_PER_S: u64 = 20_000;

/// How long it then waits at least: operations due meanwhile go together, up to this much late. The
/// response time counts from when each was due, so it shows.
const GROUP_NS: u64 = 100_000;

/// Rates and think time of one worker. Times are the driver's.
#[derive(Debug)]
pub(crate) struct Gate {
    rates: [Option<Arrivals>; 3],
    any_rate: bool,
    /// Least wait for a due operation; 0 waits for each.
    group_ns: u64,
    issued: [bool; 3],
    think: Option<Think>,
    /// Added to due times: the start, and pauses that do not count against the rate.
    shift_ns: u64,
    rate_ignores_think_time: bool,
}

/// What the gate says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pass {
    /// Go. Under a rate the operation was due at the time given.
    Go(Direction, Option<u64>),
    /// Nothing before this time.
    Until(u64),
    /// Nothing before all in flight has completed.
    Drain,
}

#[derive(Debug)]
struct Think {
    pause_ns: u64,
    spin_ns: u64,
    every_ios: u64,
    every_io_time_ns: u64,
    count: ThinkCount,
    n_counted: u64,
    io_since_ns: u64,
    /// A pause is owed once the queue is empty.
    owed: bool,
    until_ns: u64,
}

impl Gate {
    pub(crate) fn new(job: &Job, seed: u64) -> Result<Self, PatternError> {
        let load: &Load = &job.load;
        let mut rates = [None, None, None];
        for dir in Direction::ALL {
            if let Some(rate) = load.rate[dir] {
                rates[dir as usize] = Some(Arrivals::new(load.arrivals, rate, seed, dir as u64)?);
            }
        }
        let mut issued = [false; 3];
        for dir in job.issued_directions() {
            issued[dir as usize] = true;
        }
        let any_rate = Direction::ALL
            .iter()
            .any(|dir| issued[*dir as usize] && rates[*dir as usize].is_some());
        let think = (load.think.pause_ns > 0).then(|| Think {
            pause_ns: load.think.pause_ns,
            spin_ns: load.think.spin_ns.min(load.think.pause_ns),
            every_ios: u64::from(load.think.every_ios.max(1)),
            every_io_time_ns: load.think.every_io_time_ns,
            count: load.think.count,
            n_counted: 0,
            io_since_ns: 0,
            owed: false,
            until_ns: 0,
        });
        Ok(Gate {
            rates,
            any_rate,
            group_ns: if rate_per_s(job) >= GROUP_FROM_PER_S { GROUP_NS } else { 0 },
            issued,
            think,
            shift_ns: 0,
            rate_ignores_think_time: load.rate_ignores_think_time,
        })
    }

    /// Sets the time from which schedules and pauses count.
    pub(crate) fn start(&mut self, now_ns: u64) {
        self.shift_ns = now_ns;
        if let Some(think) = &mut self.think {
            think.io_since_ns = now_ns;
        }
    }

    /// Says whether a rate is set for a direction that the job issues.
    pub(crate) fn has_rate(&self) -> bool {
        self.any_rate
    }

    /// Says whether anything at all may hold operations back.
    pub(crate) fn is_open(&self) -> bool {
        !self.any_rate && self.think.is_none()
    }

    /// Asks for an operation of `dir` at `now_ns`, `idle` when nothing is in flight.
    ///
    /// A mixed job whose chosen direction is not due yet may go on with the other one if that is:
    /// so both rates hold, whatever the mix.
    pub(crate) fn ask(&mut self, dir: Direction, now_ns: u64, idle: bool) -> Pass {
        if let Some(pass) = self.ask_think(now_ns, idle) {
            return pass;
        }
        let Some(due_ns) = self.due_ns(dir) else { return Pass::Go(dir, None) };
        if due_ns <= now_ns {
            return Pass::Go(dir, Some(due_ns));
        }
        let other = match dir {
            Direction::Read => Direction::Write,
            _ => Direction::Read,
        };
        if !self.issued[other as usize] || dir == Direction::Trim {
            return Pass::Until(due_ns.max(now_ns + self.group_ns));
        }
        match self.due_ns(other) {
            None => Pass::Go(other, None),
            Some(other_ns) if other_ns <= now_ns => Pass::Go(other, Some(other_ns)),
            Some(other_ns) => Pass::Until(due_ns.min(other_ns).max(now_ns + self.group_ns)),
        }
    }

    fn due_ns(&self, dir: Direction) -> Option<u64> {
        self.rates[dir as usize].as_ref().map(|rate| rate.due_ns() + self.shift_ns)
    }

    fn ask_think(&mut self, now_ns: u64, idle: bool) -> Option<Pass> {
        let think = self.think.as_mut()?;
        if think.every_io_time_ns > 0 && now_ns >= think.io_since_ns + think.every_io_time_ns {
            think.owed = true;
        }
        if think.owed {
            if !idle {
                return Some(Pass::Drain);
            }
            think.owed = false;
            think.until_ns = now_ns + think.pause_ns;
            think.io_since_ns = think.until_ns;
            if self.rate_ignores_think_time {
                self.shift_ns += think.pause_ns;
            }
        }
        (now_ns < think.until_ns).then_some(Pass::Until(think.until_ns))
    }

    /// Returns until when a pause is spent spinning: its first part.
    pub(crate) fn spin_until_ns(&self) -> u64 {
        match &self.think {
            Some(think) if think.spin_ns > 0 => {
                think.until_ns.saturating_sub(think.pause_ns) + think.spin_ns
            }
            _ => 0,
        }
    }

    /// Counts an issued operation of `len` bytes.
    #[inline]
    pub(crate) fn issued(&mut self, dir: Direction, len: u32) {
        if let Some(rate) = &mut self.rates[dir as usize] {
            rate.advance(len);
        }
        self.count_think(ThinkCount::Issue);
    }

    /// Counts a completed operation.
    #[inline]
    pub(crate) fn completed(&mut self) {
        self.count_think(ThinkCount::Complete);
    }

    #[inline]
    fn count_think(&mut self, what: ThinkCount) {
        if let Some(think) = &mut self.think
            && think.count == what
            && think.every_io_time_ns == 0
        {
            think.n_counted += 1;
            if think.n_counted % think.every_ios == 0 {
                think.owed = true;
            }
        }
    }
}

/// Returns the operations per second that a job's rates ask for, over all its directions.
fn rate_per_s(job: &Job) -> u64 {
    let of_dir = |dir| match job.load.rate[dir] {
        Some(Rate::Iops(per_s)) => per_s,
        Some(Rate::Bytes(per_s)) => per_s / u64::from(job.block_size_min()).max(1),
        None => 0,
    };
    job.issued_directions().map(of_dir).sum()
}
