//! Real time around the model: each request completes when the model says.
//!
//! Any thread submits; one thread waits for the next completion and sends the replies. A request
//! counts from the moment it arrived, so what handing it over costs is part of the modelled time
//! and not on top of it. A wait is slept but for its end, which is spun: a sleeper wakes late by
//! tens of microseconds.
//!
//! Locks are taken in this order: what a crash takes back ([`Undo`]), then the model.

use std::io;
use std::num::NonZeroU64;
use std::ops::Range;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use volume::{
    CapId, ChangeError, Design, Done, Io, IoKind, Start, Stations, Status, System, SystemOptions,
};

use crate::clock::now_ns;
use crate::priority;
use crate::store::undo::{Lost, Undo};
use crate::waits::Waits;

/// The end of a wait that is spun, nanoseconds. A sleep ends this late at worst on an idle machine.
const SPIN_NS: u64 = 50_000;

/// I/Os in the model at once; more wait outside. Above what the kernel has in flight
/// (`fuse::BACKGROUND_MAX`) and what the slots of a network client allow (16 x 128).
pub const WAITING_MAX: usize = 4096;

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// At its modelled time.
    Done(Done),
    /// The machine crashed, or its end came, before it was done.
    Lost,
}

/// What is called when a request has ended, on the pacing thread: it must not wait.
pub type Reply = Box<dyn FnOnce(Outcome) + Send>;

/// A range on a volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// First byte.
    pub address: u64,
    /// Length in bytes.
    pub len_bytes: u32,
}

/// Something to be done at its modelled time.
#[derive(Clone, Debug)]
pub struct Request {
    /// What to do.
    pub kind: IoKind,
    /// Position of the volume in the design.
    pub volume: u16,
    /// Position of the client in the design, 0 where there is none.
    pub client: u16,
    /// Where; ends when the last part has ended. At least one.
    pub extents: Vec<Extent>,
    /// When it arrived, by [`crate::clock::now_ns`].
    pub arrived_ns: u64,
}

impl Request {
    /// Makes a request of one extent for the only client.
    pub fn new(kind: IoKind, volume: u16, extent: Extent, arrived_ns: u64) -> Self {
        Request { kind, volume, client: 0, extents: vec![extent], arrived_ns }
    }
}

/// A request in the model.
struct Waiting {
    reply: Reply,
    n_extents_left: usize,
    volume: u16,
    /// When the model took it in, by the model's time.
    submitted_ns: u64,
}

struct Queue {
    system: System,
    /// Requests by the number that the model knows them by.
    waiting: Vec<Option<Waiting>>,
    free: Vec<usize>,
    /// Requests that the model has no room for.
    outside: std::collections::VecDeque<(Request, Reply)>,
    /// The model's time, which never goes back.
    time_ns: u64,
    is_crashed: bool,
    is_stopped: bool,
    /// What the completed I/Os have waited, by volume.
    waits: Vec<Waits>,
    done: Vec<Done>,
    flushed: Vec<(u16, Range<u64>)>,
    /// What is answered at a time of its own, past the model.
    timed: Option<(u64, Reply)>,
    /// Why old contents could not be forgotten.
    settle_error: Option<io::Error>,
}

struct Shared {
    undo: Arc<Mutex<Undo>>,
    queue: Mutex<Queue>,
    wake: Condvar,
    /// When the next completion is due; what the pacing thread waits for.
    due_ns: AtomicU64,
}

/// What a machine's caps and I/Os are doing.
#[derive(Debug)]
pub(crate) struct Look {
    /// The model's own.
    pub(crate) status: Status,
    /// By volume.
    pub(crate) waits: Vec<Waits>,
}

/// The model in real time. Stops when dropped; what waits then is lost.
pub struct Pacer {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

/// What a crash took.
#[derive(Clone, Debug, Default)]
pub(crate) struct Crashed {
    /// What was only in the cache, by the model: volume and addresses.
    pub(crate) dirty: Vec<(u16, Range<u64>)>,
    /// What was taken back.
    pub(crate) lost: Vec<Lost>,
    /// Why not all could be taken back.
    pub(crate) error: Option<String>,
}

impl Pacer {
    /// Starts the model of a design, with its pacing thread.
    pub(crate) fn start(design: &Design, start: Start, undo: Arc<Mutex<Undo>>) -> io::Result<Self> {
        let options = SystemOptions { n_waiting_max: WAITING_MAX, start, seed: design.seed };
        let mut queue = Queue {
            system: System::new(design, &options),
            waiting: (0..WAITING_MAX).map(|_| None).collect(),
            free: (0..WAITING_MAX).rev().collect(),
            outside: std::collections::VecDeque::new(),
            time_ns: now_ns(),
            is_crashed: false,
            is_stopped: false,
            waits: vec![Waits::default(); design.volumes.len()],
            done: Vec::with_capacity(WAITING_MAX),
            flushed: Vec::new(),
            timed: None,
            settle_error: None,
        };
        // From the first question on the model keeps what reached the disk.
        queue.system.take_flushed(&mut queue.flushed);
        let shared = Arc::new(Shared {
            undo,
            queue: Mutex::new(queue),
            wake: Condvar::new(),
            due_ns: AtomicU64::new(u64::MAX),
        });
        let pacing = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("pacer".to_owned());
        let thread = thread.spawn(move || pacing.run())?;
        Ok(Pacer { shared, thread: Some(thread) })
    }

    /// Hands a request to the model. The reply is called exactly once, possibly before this
    /// returns: if the machine has crashed.
    pub fn submit(&self, request: Request, reply: Reply) {
        let mut queue = lock(&self.shared.queue);
        if queue.is_crashed || queue.is_stopped {
            drop(queue);
            reply(Outcome::Lost);
            return;
        }
        queue.take_in(request, reply);
        self.shared.plan(&queue);
    }

    /// Hands a write to the model, which counts it as dirty from now on. What reached the disk
    /// before is settled first, so that `undo` knows this write apart from it: the caller keeps
    /// the old contents and writes before it lets go of `undo`, without which nothing is settled
    /// and no reply is called.
    pub(crate) fn submit_dirty(&self, undo: &mut Undo, request: Request, reply: Reply) {
        let mut queue = lock(&self.shared.queue);
        if queue.is_crashed || queue.is_stopped {
            drop(queue);
            reply(Outcome::Lost);
            return;
        }
        queue.take_in(request, reply);
        queue.settle(undo);
        self.shared.plan(&queue);
    }

    /// Answers at a time that the model has no part in. One at a time: an earlier one is lost.
    pub(crate) fn answer_at(&self, due_ns: u64, reply: Reply) {
        let mut queue = lock(&self.shared.queue);
        let timed = (due_ns, reply);
        let lost = if queue.is_stopped { Some(timed) } else { queue.timed.replace(timed) };
        self.shared.plan(&queue);
        drop(queue);
        if let Some((_, reply)) = lost {
            reply(Outcome::Lost);
        }
    }

    /// Does something to the model.
    pub(crate) fn with<R>(&self, act: impl FnOnce(&mut System, u64) -> R) -> R {
        let mut queue = lock(&self.shared.queue);
        let time_ns = queue.advance(now_ns());
        let result = act(&mut queue.system, time_ns);
        self.shared.plan(&queue);
        result
    }

    /// Looks at the caps and at what the volumes' I/Os have waited for them.
    pub(crate) fn look(&self) -> Look {
        let mut queue = lock(&self.shared.queue);
        let time_ns = queue.advance(now_ns());
        Look { status: queue.system.status(time_ns), waits: queue.waits.clone() }
    }

    /// Changes the design under the requests that wait.
    pub(crate) fn change(&self, design: &Design) -> Result<(), ChangeError> {
        self.with(|system, time_ns| system.change(time_ns, design))
    }

    /// Crashes the machine: what waits is lost, and what only the cache had is taken back.
    pub(crate) fn crash(&self, n_volumes: u16) -> Crashed {
        let mut undo = lock(&self.shared.undo);
        let mut queue = lock(&self.shared.queue);
        let ended = queue.collect(&mut undo);
        let time_ns = queue.time_ns;
        let Queue { system, .. } = &mut *queue;
        let dirty = (0..n_volumes)
            .flat_map(|volume| system.dirty(volume).map(move |range| (volume, range)))
            .collect();
        system.crash(time_ns);
        queue.is_crashed = true;
        let lost_requests = queue.drain();
        let (lost, outcome) = undo.roll_back();
        let outcome = queue.settle_error.take().map_or(outcome, Err);
        self.shared.plan(&queue);
        drop(queue);
        drop(undo);
        for (reply, done) in ended {
            reply(Outcome::Done(done));
        }
        for reply in lost_requests {
            reply(Outcome::Lost);
        }
        Crashed { dirty, lost, error: outcome.err().map(|error| error.to_string()) }
    }

    /// Starts the crashed machine again.
    pub(crate) fn restart(&self) {
        let mut queue = lock(&self.shared.queue);
        let time_ns = queue.advance(now_ns());
        queue.system.restart(time_ns);
        queue.is_crashed = false;
        self.shared.plan(&queue);
    }
}

impl Drop for Pacer {
    fn drop(&mut self) {
        let lost = {
            let mut queue = lock(&self.shared.queue);
            queue.is_stopped = true;
            self.shared.due_ns.store(0, Release);
            self.shared.wake.notify_all();
            queue.drain()
        };
        for reply in lost {
            reply(Outcome::Lost);
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl std::fmt::Debug for Pacer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pacer").finish_non_exhaustive()
    }
}

impl Queue {
    /// Moves the model's time to now, or leaves it where it is if it is ahead.
    fn advance(&mut self, now_ns: u64) -> u64 {
        self.time_ns = self.time_ns.max(now_ns);
        self.time_ns
    }

    fn take_in(&mut self, request: Request, reply: Reply) {
        let n_needed = request.extents.len().max(1);
        if self.free.len() < n_needed || !self.outside.is_empty() {
            self.outside.push_back((request, reply));
            return;
        }
        let Some(slot) = self.free.pop() else { return };
        let time_ns = self.advance(request.arrived_ns);
        let Request { kind, volume, client, extents, .. } = request;
        for extent in &extents {
            let Extent { address, len_bytes } = *extent;
            let id = slot as u64;
            let io = Io { id, kind, volume, client, offset_bytes: address, len_bytes };
            self.system.submit(time_ns, io);
        }
        let n_extents_left = extents.len();
        let waiting = Waiting { reply, n_extents_left, volume, submitted_ns: time_ns };
        self.waiting[slot] = Some(waiting);
    }

    /// Moves the model to now and returns the replies that are due. What reached the disk until
    /// now is settled before.
    fn collect(&mut self, undo: &mut Undo) -> Vec<(Reply, Done)> {
        // Time stays where it is while nothing is due: a request that is on its way counts from
        // before now.
        let is_due = self.system.next_event_ns().is_some_and(|due_ns| due_ns <= now_ns());
        let time_ns = if is_due { self.advance(now_ns()) } else { self.time_ns };
        let mut done = std::mem::take(&mut self.done);
        self.system.poll(time_ns, &mut done);
        self.settle(undo);
        let mut ended: Vec<_> = done.iter().filter_map(|done| self.end(*done)).collect();
        if let Some((due_ns, reply)) = self.timed.take_if(|(due_ns, _)| *due_ns <= now_ns()) {
            ended.push((reply, past_the_model(due_ns)));
        }
        done.clear();
        self.done = done;
        while !self.free.is_empty() {
            let Some((request, reply)) = self.outside.pop_front() else { break };
            self.take_in(Request { arrived_ns: time_ns, ..request }, reply);
        }
        ended
    }

    /// Returns when the next thing is due.
    fn next_due_ns(&self) -> u64 {
        let timed_ns = self.timed.as_ref().map_or(u64::MAX, |(due_ns, _)| *due_ns);
        self.system.next_event_ns().unwrap_or(u64::MAX).min(timed_ns)
    }

    /// Forgets the old contents of what reached the disk.
    fn settle(&mut self, undo: &mut Undo) {
        self.system.take_flushed(&mut self.flushed);
        for (volume, addresses) in self.flushed.drain(..) {
            // What cannot be forgotten would be taken back by a crash, which is then to be told.
            let settled = undo.settle(volume, &addresses);
            self.settle_error = self.settle_error.take().or(settled.err());
        }
    }

    fn end(&mut self, done: Done) -> Option<(Reply, Done)> {
        let slot = usize::try_from(done.id).ok()?;
        let waiting = self.waiting.get_mut(slot)?.as_mut()?;
        if let Some(waits) = self.waits.get_mut(usize::from(waiting.volume)) {
            waits.count(&done, waiting.submitted_ns);
        }
        waiting.n_extents_left = waiting.n_extents_left.saturating_sub(1);
        if waiting.n_extents_left > 0 {
            return None;
        }
        let waiting = self.waiting[slot].take()?;
        self.free.push(slot);
        Some((waiting.reply, done))
    }

    /// Takes out the replies of all requests.
    fn drain(&mut self) -> Vec<Reply> {
        let mut replies = Vec::new();
        for slot in 0..self.waiting.len() {
            if let Some(waiting) = self.waiting[slot].take() {
                self.free.push(slot);
                replies.push(waiting.reply);
            }
        }
        replies.extend(self.timed.take().map(|(_, reply)| reply));
        replies.extend(self.outside.drain(..).map(|(_, reply)| reply));
        replies
    }
}

impl Shared {
    /// Wakes the pacing thread if something is due before what it waits for.
    fn plan(&self, queue: &Queue) {
        let due_ns = queue.next_due_ns();
        if due_ns < self.due_ns.load(Acquire) {
            self.due_ns.store(due_ns, Release);
            self.wake.notify_one();
        }
    }

    fn run(&self) {
        // A sleep may end this much late by the kernel's leave: 50 us unless said otherwise.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        priority::go_ahead();
        loop {
            let ended = {
                let mut undo = lock(&self.undo);
                let mut queue = lock(&self.queue);
                if queue.is_stopped {
                    return;
                }
                let ended = queue.collect(&mut undo);
                let due_ns = queue.next_due_ns();
                self.due_ns.store(due_ns, Release);
                ended
            };
            let is_idle = ended.is_empty();
            for (reply, done) in ended {
                reply(Outcome::Done(done));
            }
            if is_idle {
                self.wait();
            }
        }
    }

    /// Waits until what is due next is due, or something else is due earlier.
    fn wait(&self) {
        let mut queue = lock(&self.queue);
        loop {
            let due_ns = self.due_ns.load(Acquire);
            let left_ns = due_ns.saturating_sub(now_ns());
            if queue.is_stopped || left_ns == 0 {
                return;
            }
            if left_ns <= SPIN_NS {
                break;
            }
            let nap = Duration::from_nanos(left_ns - SPIN_NS);
            let woken = self.wake.wait_timeout(queue, nap);
            queue = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
        drop(queue);
        while now_ns() < self.due_ns.load(Acquire) {
            std::hint::spin_loop();
        }
    }
}

/// The end of what the model has no part in.
fn past_the_model(at_ns: u64) -> Done {
    Done { id: 0, at_ns, held_by: CapId::NONE, held_ns: 0, stations: Stations::default() }
}

/// Locks; a thread that panicked left nothing half done that would matter more than going on.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
