//! When the next operation may go: rates and think time.
//!
//! A rate is a schedule: operation k is due at a time that depends on k and the rate alone. The
//! worker issues what is due, never drains the queue for it, and after a stall catches up; the
//! response time counts from the due time, so the stall cannot hide. A closed one (`rate_closed`)
//! does not catch up: what the operations before made late is due when it can go.

use pattern::{Arrivals, PatternError, Periods};
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
    /// One schedule for everything, in place of `rates`.
    total: Option<IopsSchedule>,
    any_rate: bool,
    /// Least wait for a due operation; 0 waits for each.
    group_ns: u64,
    issued: [bool; 3],
    /// Whichever direction is due may go, whatever the mix has drawn: so both rates hold. Not where
    /// what comes next is settled, as in a recording.
    may_switch: bool,
    think: Option<Think>,
    /// Added to due times: the start, and pauses that do not count against the rate.
    shift_ns: u64,
    rate_ignores_think_time: bool,
    /// What is late because of the operations before is not made up.
    is_closed: bool,
    /// The worker was sent to wait for the next operation: what is late then is the timer's.
    is_awaited: bool,
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
    pub(crate) fn new(job: &Job, worker_idx: u32, seed: u64) -> Result<Self, PatternError> {
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
        let total = match shared_rate_iops(job) {
            Some(rate_iops) => {
                let mut total = IopsSchedule::new(job, rate_iops, worker_idx, seed, TOTAL_IDX)?;
                if let Some(periods) = load.rate_periods.as_ref().and_then(Periods::new) {
                    total.change_by(periods);
                }
                Some(total)
            }
            None => None,
        };
        let any_rate = total.is_some()
            || Direction::ALL
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
            total,
            any_rate,
            group_ns: if rate_per_s(job) >= GROUP_FROM_PER_S { GROUP_NS } else { 0 },
            issued,
            may_switch: job.parts.is_empty() && job.workload.recordings.is_empty(),
            think,
            shift_ns: 0,
            rate_ignores_think_time: load.rate_ignores_think_time,
            is_closed: load.rate_closed,
            is_awaited: false,
        })
    }

    /// Sets the time from which schedules and pauses count.
    pub(crate) fn start(&mut self, now_ns: u64) {
        self.shift_ns = now_ns;
        if let Some(think) = &mut self.think {
            think.io_since_ns = now_ns;
        }
    }

    /// Returns whether a rate is set for a direction that the job issues.
    pub(crate) fn has_rate(&self) -> bool {
        self.any_rate
    }

    /// Returns whether the job pauses.
    pub(crate) fn has_think_time(&self) -> bool {
        self.think.is_some()
    }

    /// Returns how many operations of `len` bytes are due at `at_ns` and not issued.
    pub(crate) fn backlog(&self, at_ns: u64, len: u32) -> u64 {
        let after_ns = at_ns.saturating_sub(self.shift_ns);
        if let Some(total) = &self.total {
            return total.n_due(after_ns);
        }
        let rates = self.rates.iter().zip(self.issued).filter(|(_, issued)| *issued);
        rates.filter_map(|(rate, _)| rate.as_ref()).map(|rate| n_due(rate, after_ns, len)).sum()
    }

    /// Returns whether anything at all may hold operations back.
    pub(crate) fn is_open(&self) -> bool {
        !self.any_rate && self.think.is_none()
    }

    /// Returns whether one schedule of operations, of whatever size and direction, is all that
    /// holds them back: then any worker can do what is due by it.
    pub(crate) fn is_one_schedule(&self) -> bool {
        let is_plain = self.think.is_none() && !self.is_closed;
        self.total.is_some() && is_plain && self.rates.iter().all(Option::is_none)
    }

    /// Asks for an operation of `dir` at `now_ns`, `idle` when nothing is in flight.
    ///
    /// A mixed job whose chosen direction is not due yet may go on with the other one if that is,
    /// and if the mix has it at all: so both rates hold, whatever the mix.
    pub(crate) fn ask(&mut self, dir: Direction, now_ns: u64, idle: bool) -> Pass {
        if let Some(pass) = self.ask_think(now_ns, idle) {
            return pass;
        }
        if let Some(total) = &self.total {
            let due_ns = total.due_ns() + self.shift_ns;
            if due_ns > now_ns {
                self.is_awaited = true;
                return Pass::Until(due_ns.max(now_ns + self.group_ns));
            }
            if self.is_closed && !self.is_awaited {
                self.shift_ns += now_ns - due_ns;
                return Pass::Go(dir, Some(now_ns));
            }
            return Pass::Go(dir, Some(due_ns));
        }
        let Some(due_ns) = self.due_ns(dir) else { return Pass::Go(dir, None) };
        if due_ns <= now_ns {
            return Pass::Go(dir, Some(due_ns));
        }
        let other = match dir {
            Direction::Read => Direction::Write,
            Direction::Write | Direction::Trim => Direction::Read,
        };
        if !self.may_switch || !self.issued[other as usize] || dir == Direction::Trim {
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
        if let Some(total) = &mut self.total {
            total.advance();
        }
        self.is_awaited = false;
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

/// Units of an operation in a schedule of I/Os per second. A schedule of bytes counts any unit: in
/// billionths of an operation also a rate with a fraction is exact for longer than a run lasts.
const UNITS_PER_IO: u32 = 1_000_000_000;

/// Separates the random gaps of a job's total rate from those of its directions.
const TOTAL_IDX: u64 = 3;

/// When the operations of one worker are due under a rate that the workers of its job share.
#[derive(Clone, Debug)]
pub(crate) struct IopsSchedule {
    arrivals: Arrivals,
    /// Added to due times, so that the workers of a job take even turns.
    phase_ns: u64,
    /// How the rate changes, if it does.
    changing: Option<Box<Periods>>,
    due_ns: u64,
}

impl IopsSchedule {
    /// Makes the schedule of a worker of `job`. `idx` tells schedules of the same worker apart.
    pub(crate) fn new(
        job: &Job,
        rate_iops: f64,
        worker_idx: u32,
        seed: u64,
        idx: u64,
    ) -> Result<Self, PatternError> {
        let of_worker = rate_iops / f64::from(job.n_workers.max(1));
        // A rate that is no number becomes 0, which is refused.
        let units_per_s = Rate::Bytes((of_worker * f64::from(UNITS_PER_IO)).round() as u64);
        let mut arrivals = Arrivals::new(job.load.arrivals, units_per_s, seed, idx)?;
        let is_even = job.load.arrivals == plan::load::Arrivals::Linear;
        if !is_even {
            // A random process has its first gap before the first operation.
            arrivals.advance(UNITS_PER_IO);
        }
        let phase_ns = if is_even { f64::from(worker_idx) * 1e9 / rate_iops } else { 0.0 };
        let phase_ns = phase_ns as u64;
        let due_ns = arrivals.due_ns().saturating_add(phase_ns);
        Ok(IopsSchedule { arrivals, phase_ns, changing: None, due_ns })
    }

    /// Lets the rate, which becomes the largest, change over time. Before the first operation.
    fn change_by(&mut self, periods: Periods) {
        self.changing = Some(Box::new(periods));
        self.settle();
    }

    /// Returns when the next operation is due, in nanoseconds after the start.
    #[inline]
    pub(crate) fn due_ns(&self) -> u64 {
        self.due_ns
    }

    /// Goes on to the next operation.
    #[inline]
    pub(crate) fn advance(&mut self) {
        self.arrivals.advance(UNITS_PER_IO);
        self.due_ns = self.arrivals.due_ns().saturating_add(self.phase_ns);
        if self.changing.is_some() {
            self.settle();
        }
    }

    /// Finds out when the next operation is due by a rate that changes. Rounded up, an operation at
    /// the end of a period is not taken for the last one before it.
    #[cold]
    fn settle(&mut self) {
        let phase_ns = self.phase_ns + u64::from(self.phase_ns > 0);
        let at_max_ns = self.arrivals.due_up_ns().saturating_add(phase_ns);
        if let Some(changing) = &mut self.changing {
            self.due_ns = changing.due_ns(at_max_ns);
        }
    }

    /// Returns how many operations are due at `at_ns`.
    pub(crate) fn n_due(&self, at_ns: u64) -> u64 {
        let at_ns = self.changing.as_ref().map_or(at_ns, |changing| changing.at_max_ns(at_ns));
        n_due(&self.arrivals, at_ns.saturating_sub(self.phase_ns), UNITS_PER_IO)
    }
}

/// Operations of a backlog that are counted one by one; what lies beyond follows by proportion.
const N_COUNTED_MAX: u64 = 100_000;

/// Returns how many operations of `len` bytes of a schedule are due before `at_ns`.
fn n_due(arrivals: &Arrivals, at_ns: u64, len: u32) -> u64 {
    let first_ns = arrivals.due_ns();
    let mut next = arrivals.clone();
    for n_due in 0..N_COUNTED_MAX {
        if next.due_ns() >= at_ns {
            return n_due;
        }
        next.advance(len);
    }
    let counted_ns = next.due_ns().saturating_sub(first_ns).max(1);
    let all_ns = at_ns.saturating_sub(first_ns);
    (all_ns as f64 / counted_ns as f64 * N_COUNTED_MAX as f64) as u64
}

/// Returns the rate that a job's parts without one of their own share, I/Os per second; `None`
/// where there is no limit.
fn shared_rate_iops(job: &Job) -> Option<f64> {
    let total = job.load.rate_total_iops?;
    let own: f64 = job.parts.iter().filter_map(|part| part.rate_iops).sum();
    let shares = job.parts.is_empty() || job.parts.iter().any(|part| part.rate_iops.is_none());
    (shares && leaves_rest(job)).then_some(total - own)
}

/// Returns whether the rates of a job's parts leave anything of its total to those without one.
/// What rounding leaves is nothing.
pub(crate) fn leaves_rest(job: &Job) -> bool {
    let own: f64 = job.parts.iter().filter_map(|part| part.rate_iops).sum();
    let leaves = |total: f64| own == 0.0 || total - own > 1e-6 * total;
    job.load.rate_total_iops.is_none_or(leaves)
}

/// Returns the operations per second that a job's rates ask of one worker.
fn rate_per_s(job: &Job) -> u64 {
    if let Some(total) = shared_rate_iops(job) {
        return (total / f64::from(job.n_workers.max(1))) as u64;
    }
    let of_dir = |dir| match job.load.rate[dir] {
        Some(Rate::Iops(per_s)) => per_s,
        Some(Rate::Bytes(per_s)) => per_s / u64::from(job.block_size_min()).max(1),
        None => 0,
    };
    job.issued_directions().map(of_dir).sum()
}
