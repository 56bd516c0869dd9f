//! One system of volumes shared by the workers of a run, in time that passes.
//!
//! Whoever waits drives the system: of the waiting workers one leads, sleeps until just before the
//! next event, spins to it, and hands out what completed; the others sleep until it wakes them. So
//! a single worker at depth 1 gets its completion on its own thread without a wake-up in between,
//! and any number of workers costs one timer.
//!
//! The lock around the system is the exception to the rule that workers lock nothing: the volumes
//! of a machine share its caps, so what one worker asks for delays the others.

use std::num::NonZeroU64;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::Thread;
use std::time::Duration;

use plan::op::{Completion, Op};
use volume::{Done, System};

use crate::Wait;

use super::{VolumeRange, WaitAccount, WaitMark, route};

/// Sleeps end this long before the event, on the wall's clock; the rest is spun. Twice what waking
/// up takes on an idle virtual machine (about 50 us).
const SPIN_NS: u64 = 100_000;

/// Reads the clock that the system runs on, nanoseconds.
pub type ReadClock = Arc<dyn Fn() -> u64 + Send + Sync>;

/// A system of volumes in time that passes, shared by workers.
pub struct Volumes {
    state: Mutex<State>,
    /// The leader sleeps no longer than until then.
    leader_until_ns: AtomicU64,
    now_ns: ReadClock,
    /// Wall-clock seconds per second of the clock.
    time_scale: f64,
}

struct State {
    system: System,
    members: Vec<Seat>,
    /// The worker that drives the system while all wait.
    leader: Option<usize>,
    /// Reused by every poll.
    done: Vec<Done>,
    n_caps: usize,
}

/// What a worker has in flight and what has come back.
struct Seat {
    flights: Box<[Flight]>,
    done: Vec<Completion>,
    account: WaitAccount,
    thread: Option<Thread>,
    /// Completions it waits for; `None` while it does not wait.
    min: Option<usize>,
    is_measured: Box<dyn Fn(u64) -> bool + Send>,
    /// The caller's name for it.
    number: u32,
}

#[derive(Clone, Copy, Default)]
struct Flight {
    submit_ns: u64,
    result: i32,
}

/// A worker's part in the volumes.
pub struct Member {
    volumes: Arc<Volumes>,
    idx: usize,
    places: Vec<VolumeRange>,
    through: bool,
}

impl Volumes {
    /// Shares a system. `now_ns` is the clock of its time; `time_scale` says how many wall-clock
    /// seconds pass per second of it.
    ///
    /// # Panics
    /// If that is no number above 0.
    pub fn new(system: System, now_ns: ReadClock, time_scale: f64) -> Arc<Self> {
        let has_length = time_scale.is_finite() && time_scale > 0.0;
        assert!(has_length, "a second of the volumes takes {time_scale} s");
        let n_caps = system.caps().len();
        Arc::new(Volumes {
            state: Mutex::new(State {
                system,
                members: Vec::new(),
                leader: None,
                done: Vec::new(),
                n_caps,
            }),
            leader_until_ns: AtomicU64::new(u64::MAX),
            now_ns,
            time_scale,
        })
    }

    /// Lets worker `number` of the run join, whose files lie at `places`. `through` makes its
    /// writes bypass caches; I/Os that complete when `is_measured` says so are counted.
    ///
    /// # Panics
    /// If the worker has joined before, has nothing in flight, or a file that ends beyond 64 bits.
    pub fn join(
        self: &Arc<Self>,
        number: u32,
        queue_depth: u32,
        places: Vec<VolumeRange>,
        through: bool,
        is_measured: Box<dyn Fn(u64) -> bool + Send>,
    ) -> Member {
        assert!(queue_depth > 0, "worker {number} joins with nothing in flight");
        for VolumeRange { base_bytes, len_bytes, .. } in &places {
            let is_within = base_bytes.checked_add(*len_bytes).is_some();
            assert!(is_within, "{len_bytes} B from {base_bytes} B on end beyond 64 bits");
        }
        let mut state = self.lock();
        let is_new = state.members.iter().all(|seat| seat.number != number);
        assert!(is_new, "worker {number} joins twice");
        let account = WaitAccount::new(state.n_caps);
        let member_idx = state.members.len();
        state.members.push(Seat {
            flights: vec![Flight::default(); queue_depth as usize].into_boxed_slice(),
            done: Vec::with_capacity(queue_depth as usize),
            account,
            thread: None,
            min: None,
            is_measured,
            number,
        });
        Member { volumes: Arc::clone(self), idx: member_idx, places, through }
    }

    /// Returns what the I/Os of worker `number` waited for, as [`WaitAccount::end`] does; `None` if
    /// none was measured.
    pub fn account(&self, number: u32) -> Option<Vec<WaitMark>> {
        let state = self.lock();
        let seat = state.members.iter().find(|seat| seat.number == number)?;
        seat.account.end(&state.system, (self.now_ns)())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A worker that panicked has left the counters as they were; they are still valid.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sleeps until shortly before the clock shows what `until_ns` returns, then spins. Returns
    /// early when woken.
    fn wait_until(&self, until_ns: &dyn Fn() -> u64) {
        let spin_ns = (SPIN_NS as f64 / self.time_scale) as u64;
        let now_ns = (self.now_ns)();
        let left_ns = until_ns().saturating_sub(now_ns);
        if left_ns > spin_ns {
            let nap_ns = ((left_ns - spin_ns) as f64 * self.time_scale) as u64;
            std::thread::park_timeout(Duration::from_nanos(nap_ns));
            return;
        }
        while (self.now_ns)() < until_ns() {
            std::hint::spin_loop();
        }
    }
}

impl State {
    /// Takes what has completed by `now_ns`, and wakes who waited for it.
    fn advance(&mut self, now_ns: u64, own_idx: usize) {
        let State { system, members, done, .. } = self;
        done.clear();
        system.poll(now_ns, done);
        for of_io in done.iter() {
            let (member_idx, slot) = ((of_io.id >> 32) as usize, of_io.id as u32);
            let Some(seat) = members.get_mut(member_idx) else { continue };
            let flight = seat.flights[slot as usize];
            seat.done.push(Completion { slot, result: flight.result });
            if (seat.is_measured)(of_io.at_ns) {
                seat.account.note(system, now_ns);
                let tally = seat.account.tally_mut();
                tally.add(of_io, of_io.at_ns.saturating_sub(flight.submit_ns));
                tally.add_lateness(now_ns.saturating_sub(of_io.at_ns));
            }
            if member_idx != own_idx
                && seat.min.is_some_and(|min| seat.done.len() >= min)
                && let Some(thread) = &seat.thread
            {
                thread.unpark();
            }
        }
    }

    fn submit(&mut self, now_ns: u64, member: &Member, ops: &[Op]) {
        let seat = &mut self.members[member.idx];
        for op in ops {
            let id = (member.idx as u64) << 32 | u64::from(op.slot);
            match route(op, &member.places, member.through, id) {
                Ok(io) => {
                    let result = op.len.min(i32::MAX as u32) as i32;
                    seat.flights[op.slot as usize] = Flight { submit_ns: now_ns, result };
                    self.system.submit(now_ns, io);
                }
                Err(result) => seat.done.push(Completion { slot: op.slot, result }),
            }
        }
    }

    /// Wakes a waiting member to lead in place of one that goes.
    fn pass_the_lead(&mut self, from_idx: usize) {
        if self.leader != Some(from_idx) {
            return;
        }
        self.leader = None;
        let others = self.members.iter().enumerate();
        let mut waiting = others.filter(|(idx, seat)| *idx != from_idx && seat.min.is_some());
        if let Some(thread) = waiting.next().and_then(|(_, seat)| seat.thread.as_ref()) {
            thread.unpark();
        }
    }
}

impl Member {
    /// Submits `ops`, waits as `wait` says, and appends completions to `done`.
    pub(super) fn exchange(&self, ops: &[Op], wait: Wait, done: &mut Vec<Completion>) {
        let volumes = &*self.volumes;
        let own_idx = self.idx;
        let min = wait.min as usize;
        let mut state = volumes.lock();
        let mut now_ns = (volumes.now_ns)();
        let deadline_ns = wait.timeout_ns.map_or(u64::MAX, |ns| now_ns.saturating_add(ns));
        state.submit(now_ns, self, ops);
        loop {
            state.advance(now_ns, own_idx);
            let own = &mut state.members[own_idx];
            if own.done.len() >= min || now_ns >= deadline_ns {
                done.append(&mut own.done);
                own.min = None;
                state.pass_the_lead(own_idx);
                return;
            }
            own.min = Some(min);
            if own.thread.is_none() {
                own.thread = Some(std::thread::current());
                // Or a sleep may end 50 us late by the kernel's leave.
                let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
            }
            let next_ns = state.system.next_event_ns().unwrap_or(u64::MAX);
            let until_ns = next_ns.min(deadline_ns);
            let leader = *state.leader.get_or_insert(own_idx);
            if leader == own_idx {
                volumes.leader_until_ns.store(until_ns, Release);
                drop(state);
                volumes.wait_until(&|| volumes.leader_until_ns.load(Acquire).min(deadline_ns));
            } else {
                if next_ns < volumes.leader_until_ns.load(Acquire) {
                    volumes.leader_until_ns.store(next_ns, Release);
                    if let Some(thread) = &state.members[leader].thread {
                        thread.unpark();
                    }
                }
                drop(state);
                volumes.wait_until(&|| deadline_ns);
            }
            state = volumes.lock();
            now_ns = (volumes.now_ns)();
        }
    }
}
