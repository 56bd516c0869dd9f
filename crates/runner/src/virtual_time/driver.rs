//! The loop of virtual time.

use std::sync::atomic::Ordering::Relaxed;

use record::NoteSeverity;
use volume::Done;

use crate::event::RunEvent;
use crate::intervals::Cuts;
use crate::logs::InlineLogs;
use crate::running::{Obeyed, Running};
use crate::seat::{SeatState, delay_ns};
use crate::status::IntervalSampler;
use crate::worker_event::WorkerEvent;

use super::lane::{Lane, Stepped};
use super::wakeups::Wakeups;
use super::world::World;

/// How often a group is asked whether it is steady; a real run looks as often.
const STEADY_TICK_NS: u64 = 50_000_000;

/// Rounds of the loop between looks at the wall's clock and at requests to stop: a millisecond or
/// less.
const ROUNDS_PER_LOOK: u32 = 1024;

/// Rounds in which the time may stand still: more than operations can be in flight. A design in
/// which I/Os take no time at all would stand still for ever.
const STILL_ROUNDS_MAX: u32 = 10_000_000;

/// The loop and what it works on.
pub(super) struct Driver<'w> {
    world: &'w mut World,
    /// One per worker; `None` for one that could not start or has ended.
    lanes: Vec<Option<Lane>>,
    wakeups: Wakeups,
    /// Workers that have something to do now.
    ready: Vec<u32>,
    /// Reused by every poll.
    done: Vec<Done>,
    /// Events since the last look at the world outside.
    n_rounds: u32,
    /// Rounds since the time last moved.
    n_still: u32,
}

/// What happens at set times besides I/O.
struct Timers {
    seconds: Cuts,
    second_ns: u64,
    steady_ns: u64,
    logs_ns: u64,
    /// Earliest of them.
    next_ns: u64,
}

/// What is shown while the wall's time passes.
struct ProgressView {
    live: IntervalSampler,
    next_wall_ns: u64,
}

impl<'w> Driver<'w> {
    pub(super) fn new(world: &'w mut World, lanes: Vec<Option<Lane>>) -> Self {
        let n_workers = lanes.len();
        let done = world.system.done_list();
        Driver {
            world,
            lanes,
            wakeups: Wakeups::new(n_workers),
            ready: Vec::with_capacity(n_workers),
            done,
            n_rounds: 0,
            n_still: 0,
        }
    }

    /// Runs the workers until all have ended.
    pub(super) fn run(
        &mut self,
        running: &mut Running<'_>,
        logs: &mut Option<InlineLogs>,
        on_event: &mut dyn FnMut(RunEvent<'_>),
    ) {
        let now_ns = self.world.now_ns;
        let wall_ns = running.context.clock.now_ns();
        let status_ns = running.context.options.status_interval_ns();
        let seconds = running.first_interval(now_ns);
        let mut show =
            ProgressView { live: running.sampler(now_ns), next_wall_ns: wall_ns + status_ns };
        let mut timers = Timers { seconds, second_ns: 0, steady_ns: 0, logs_ns: 0, next_ns: 0 };
        self.tick(running, &mut timers, logs, on_event);
        self.start_waiting(running);
        let mut goes_on = self.obey(running);
        while goes_on && !running.is_over() {
            self.act(running);
            if let Some(logs) = logs {
                logs.pump();
            }
            if self.n_rounds >= ROUNDS_PER_LOOK && !self.look_outside(running, &mut show, on_event)
            {
                break;
            }
            if !self.ready.is_empty() || running.is_over() {
                continue;
            }
            if !self.advance(timers.next_ns) {
                self.give_up(running);
                continue;
            }
            if self.world.now_ns >= timers.next_ns {
                self.tick(running, &mut timers, logs, on_event);
                // What handles the event of an interval may have asked for the end.
                goes_on = self.obey(running);
            }
        }
        self.publish();
        let now_ns = self.world.now_ns;
        running.end_last_interval(timers.seconds, now_ns, on_event);
        if let Some(logs) = logs.take() {
            running.notes.extend(logs.finish(now_ns));
        }
    }

    /// Goes on, past events after which no worker is to be asked what to do, to the next one that
    /// does. Returns false if there will be none, or only without time passing.
    #[inline]
    fn advance(&mut self, timers_ns: u64) -> bool {
        loop {
            let wakeup_ns = self.wakeups.next_ns();
            if !self.go_on(timers_ns, wakeup_ns) {
                return false;
            }
            self.n_rounds += 1;
            let is_stuck = self.n_still >= STILL_ROUNDS_MAX;
            let is_alone = self.world.now_ns < timers_ns.min(wakeup_ns);
            if is_stuck || !is_alone || !self.swap() {
                self.wake();
                return !is_stuck;
            }
            if self.n_rounds >= ROUNDS_PER_LOOK {
                return true;
            }
        }
    }

    /// Lets time pass to the next event, and takes what has completed. Returns false if there will
    /// be none.
    #[inline]
    fn go_on(&mut self, timers_ns: u64, wakeup_ns: u64) -> bool {
        let world = &mut *self.world;
        let event_ns = world.system.next_event_ns().unwrap_or(u64::MAX);
        if event_ns.min(wakeup_ns) == u64::MAX {
            // Only timers are left, which go on for ever.
            return false;
        }
        let mut next_ns = wakeup_ns.min(timers_ns).max(world.now_ns);
        self.done.clear();
        if event_ns <= next_ns {
            next_ns = world.system.poll_next(world.now_ns, next_ns, &mut self.done);
        }
        self.n_still = if next_ns > world.now_ns { 0 } else { self.n_still + 1 };
        world.now_ns = next_ns;
        true
    }

    /// Lets the only worker act for which something has happened, if it need not be asked what to
    /// do.
    #[inline]
    fn swap(&mut self) -> bool {
        let [done] = self.done.as_slice() else { return false };
        let lane_idx = lane_idx(done);
        let Some(Some(lane)) = self.lanes.get_mut(lane_idx as usize) else { return false };
        let Some(until_ns) = lane.swap(done, &mut self.world.system) else { return false };
        if until_ns != u64::MAX {
            self.wakeups.set(lane_idx, until_ns);
        }
        true
    }

    /// Gathers the workers that have something to do: by what has completed, or by the time.
    #[inline]
    fn wake(&mut self) {
        let now_ns = self.world.now_ns;
        for done in &self.done {
            let lane_idx = lane_idx(done);
            let Some(Some(lane)) = self.lanes.get_mut(lane_idx as usize) else { continue };
            if lane.take(done, &mut self.world.system) {
                self.ready.push(lane_idx);
            }
        }
        if self.wakeups.next_ns() > now_ns {
            return;
        }
        let n_before = self.ready.len();
        self.wakeups.take(now_ns, &mut self.ready);
        let lanes = &mut self.lanes;
        let mut is_new =
            |lane_idx: u32| lanes[lane_idx as usize].as_mut().is_some_and(Lane::mark_ready);
        let mut kept = n_before;
        for idx in n_before..self.ready.len() {
            let lane_idx = self.ready[idx];
            if is_new(lane_idx) {
                self.ready[kept] = lane_idx;
                kept += 1;
            }
        }
        self.ready.truncate(kept);
    }

    /// Lets every worker act that has something to do.
    #[inline]
    fn act(&mut self, running: &mut Running<'_>) {
        let mut idx = 0;
        // Ends of workers may add others while they are gone through.
        while let Some(lane_idx) = self.ready.get(idx).copied() {
            idx += 1;
            let Some(lane) = &mut self.lanes[lane_idx as usize] else { continue };
            match lane.step(self.world.now_ns, &mut self.world.system) {
                Stepped::Waits(until_ns) => self.wakeups.set(lane_idx, until_ns),
                Stepped::Ends => self.end(lane_idx, running),
            }
        }
        self.ready.clear();
    }

    /// Takes the result of a worker that has ended, with all that follows for the others.
    #[cold]
    fn end(&mut self, lane_idx: u32, running: &mut Running<'_>) {
        self.publish();
        let idx = lane_idx as usize;
        let Some(lane) = self.lanes[idx].take() else { return };
        self.wakeups.set(lane_idx, u64::MAX);
        let number = running.context.n_workers_before + lane_idx;
        let result = Box::new(lane.into_result(self.world, number));
        running.take(WorkerEvent::Ended { idx, result });
        self.start_waiting(running);
        self.heed_stops(running);
    }

    /// Brings the meters up to date, for whoever reads them now.
    fn publish(&mut self) {
        for lane in self.lanes.iter_mut().flatten() {
            lane.publish();
        }
    }

    /// Starts workers whose time has come.
    fn start_waiting(&mut self, running: &mut Running<'_>) {
        running.start_waiting();
        for (idx, seat) in running.seats.iter().enumerate() {
            let Some(lane) = &mut self.lanes[idx] else { continue };
            if seat.state == SeatState::Running && !lane.is_released {
                lane.is_released = true;
                let delay_ns = delay_ns(seat.bound);
                if delay_ns > 0 && !lane.is_stopped {
                    self.wakeups.set(idx as u32, self.world.now_ns + delay_ns);
                } else if lane.mark_ready() {
                    self.ready.push(idx as u32);
                }
            }
        }
    }

    /// Passes requests to stop on to the workers.
    fn heed_stops(&mut self, running: &Running<'_>) {
        for (idx, seat) in running.seats.iter().enumerate() {
            let Some(lane) = &mut self.lanes[idx] else { continue };
            if seat.signals.stop.load(Relaxed) && !lane.is_stopped {
                lane.stop();
                if lane.is_released && lane.mark_ready() {
                    self.ready.push(idx as u32);
                }
            }
        }
    }

    /// Does what is due by the time.
    fn tick(
        &mut self,
        running: &mut Running<'_>,
        timers: &mut Timers,
        logs: &mut Option<InlineLogs>,
        on_event: &mut dyn FnMut(RunEvent<'_>),
    ) {
        self.publish();
        let now_ns = self.world.now_ns;
        timers.second_ns = running.tick_interval(&mut timers.seconds, now_ns, on_event);
        timers.steady_ns = u64::MAX;
        if !running.steady.is_empty() {
            timers.steady_ns = (now_ns / STEADY_TICK_NS + 1) * STEADY_TICK_NS;
            running.check_steady(now_ns);
            self.heed_stops(running);
        }
        if running.ends_with_intervals() {
            self.heed_stops(running);
        }
        if running.next_look_ns() != u64::MAX {
            running.check_ends(now_ns);
            self.heed_stops(running);
        }
        timers.steady_ns = timers.steady_ns.min(running.next_look_ns());
        timers.logs_ns = logs.as_mut().map_or(u64::MAX, |logs| logs.tick(now_ns));
        if self.world.next_change_ns() <= now_ns
            && let Some(why) = self.world.change()
        {
            let text = format!("the design was not changed: {why}");
            running.notes.push((NoteSeverity::Error, "design-not-changed", text));
        }
        timers.next_ns = timers.second_ns.min(timers.steady_ns).min(timers.logs_ns);
        timers.next_ns = timers.next_ns.min(self.world.next_change_ns());
    }

    /// Obeys requests to end the step or the run. Returns false to leave at once.
    fn obey(&mut self, running: &mut Running<'_>) -> bool {
        match running.obey_control() {
            Obeyed::GoesOn => true,
            Obeyed::Ends => {
                self.start_waiting(running);
                self.heed_stops(running);
                true
            }
            Obeyed::LeavesNow => false,
        }
    }

    /// Looks at the world outside: requests, and whoever watches. Returns false to leave at once.
    #[cold]
    fn look_outside(
        &mut self,
        running: &mut Running<'_>,
        show: &mut ProgressView,
        on_event: &mut dyn FnMut(RunEvent<'_>),
    ) -> bool {
        self.n_rounds = 0;
        if !self.obey(running) {
            return false;
        }
        if running.context.control.take_status() {
            self.publish();
            let now_ns = self.world.now_ns;
            let so_far = running.context.so_far;
            let record = so_far.record(now_ns, &running.jobs_now(now_ns), &running.intervals);
            on_event(RunEvent::StatusAsked(&record));
        }
        let wall_ns = running.context.clock.now_ns();
        if wall_ns >= show.next_wall_ns {
            show.next_wall_ns = wall_ns + running.context.options.status_interval_ns();
            self.publish();
            let now_ns = self.world.now_ns;
            let status = running.status(&show.live.sample(now_ns, 0, 0), now_ns);
            on_event(RunEvent::Status(&status));
        }
        true
    }

    /// Ends all workers: nothing will ever happen again, or the time stands still.
    #[cold]
    fn give_up(&mut self, running: &mut Running<'_>) {
        let text = if self.n_still >= STILL_ROUNDS_MAX {
            "the time stands still: the volumes have neither a latency nor a cap; give them a \
             `latency`"
        } else {
            "the workers wait for I/O that never completes"
        };
        running.notes.push((NoteSeverity::Error, "virtual-stuck", text.to_owned()));
        for idx in 0..self.lanes.len() {
            if let Some(lane) = &mut self.lanes[idx] {
                lane.fail(libc::EDEADLK);
                self.end(idx as u32, running);
            }
        }
        self.ready.clear();
    }
}

/// Returns the worker that an operation is of.
#[inline]
fn lane_idx(done: &Done) -> u32 {
    (done.id >> 32) as u32
}
