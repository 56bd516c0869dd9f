//! Real time around the model: each request completes when the model says.
//!
//! Any thread submits; one thread waits for the next completion and sends the replies. A request
//! counts from the moment it was made, so what bringing it here costs is part of the modelled time
//! and not on top of it. A wait is slept but for its end, which is spun: a sleeper wakes late by
//! tens of microseconds. What the answers of a program were late by its next requests make up for
//! ([`crate::loops`]).
//!
//! The model stays behind the clock by the overhead of a request ([`Overhead`]), or it would have
//! gone past the moment that a request was made at whenever another one ended meanwhile. Answers
//! are on time nevertheless: the model promises an end as soon as it is certain, a medium's latency
//! ahead.
//!
//! Locks are taken in this order: what a crash takes back ([`Undo`]), the model, where files lie.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::io;
use std::num::NonZeroU64;
use std::ops::Range;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use units::system_text;
use volume::{
    ChangeError, Design, Done, Io, IoKind, Promise, Start, Status, System, SystemOptions,
};

use crate::clock::now_ns;
use crate::extent::Extent;
use crate::extent::Ino;
use crate::lock::lock;
use crate::loops::{Loops, RequestTime};
use crate::overhead::{self, Overhead};
use crate::priority;
use crate::store::undo::{self, Lost, Undo};
use crate::waits::{Lateness, Waits};

/// The end of a wait that is spun, nanoseconds. A sleep ends this late at worst on an idle machine.
const SPIN_NS: u64 = 50_000;

/// How long before the earliest promise that may come of it something in the model is handled:
/// longer than a sleep ends late.
const AHEAD_NS: u64 = 200_000;

/// I/Os in the model at once; more wait outside. Above what the kernel has in flight
/// (`fuse::BACKGROUND_MAX`) and what the slots of a network client allow (16 x 128).
pub const WAITING_MAX: usize = 4096;

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// At its modelled time.
    Done,
    /// The machine crashed, or its end came, before it was done.
    Lost,
}

/// What is called when a request has ended, on the pacing thread: it must not wait.
pub type Reply = Box<dyn FnOnce(Outcome) + Send>;

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
    /// When it came, and whose it is.
    pub arrival: Arrival,
}

/// When a request came, and whose it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// When it was made, as far as the overhead tells, by [`crate::clock::now_ns`].
    pub made_ns: u64,
    /// The program that waits for it: a number that no other one has meanwhile. `None` where
    /// no program waits, or it is not known which.
    pub program: Option<u64>,
}

impl Request {
    /// Makes a request of one extent for the only client, whose answer no program waits for.
    pub fn new(kind: IoKind, volume: u16, extent: Extent, made_ns: u64) -> Self {
        let arrival = Arrival { made_ns, program: None };
        Request { kind, volume, client: 0, extents: vec![extent], arrival }
    }
}

/// A request in the model.
struct Waiting {
    /// `None` once it was answered.
    reply: Option<Reply>,
    /// Extents whose end has not come by the clock.
    n_unanswered: usize,
    /// Extents that the model has not brought to their end.
    n_extents_left: usize,
    volume: u16,
    /// When the model took it in, by the model's time.
    submitted_ns: u64,
    /// Whose it is, and how it counts for that program.
    program: Option<(u64, RequestTime)>,
}

struct Queue {
    system: System,
    /// Requests by the number that the model knows them by.
    waiting: Vec<Option<Waiting>>,
    free: Vec<usize>,
    /// Requests that the model has no room for.
    outside: VecDeque<(Request, Reply)>,
    /// When extents will end, and their requests, the next first.
    promised: BinaryHeap<Reverse<(u64, u64)>>,
    /// The model's time, which never goes back.
    time_ns: u64,
    /// How long before an end its promise is made at the latest.
    latency_min_ns: u64,
    loops: Loops,
    is_crashed: bool,
    is_stopped: bool,
    /// What the completed I/Os have waited, by volume.
    waits: Vec<Waits>,
    lateness: Lateness,
    done: Vec<Done>,
    promises: Vec<Promise>,
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
    /// When something is due next; what the pacing thread waits for.
    due_ns: AtomicU64,
    overhead: Overhead,
}

/// When something is due next, by the clock.
#[derive(Clone, Copy, Debug)]
struct Due {
    /// To the moment.
    exact_ns: u64,
    /// By about then.
    about_ns: u64,
}

impl Due {
    fn first_ns(self) -> u64 {
        self.exact_ns.min(self.about_ns)
    }
}

/// What a machine's caps and I/Os are doing.
#[derive(Debug)]
pub(crate) struct ModelState {
    /// The model's own.
    pub(crate) status: Status,
    /// By volume.
    pub(crate) waits: Vec<Waits>,
    pub(crate) lateness: Lateness,
}

/// The model in real time. Stops when dropped; what waits then is lost.
pub struct Pacer {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

/// What a crash took.
#[derive(Clone, Debug, Default)]
pub(crate) struct Crashed {
    /// What was only in the cache, by the model, in order.
    pub(crate) dirty: Vec<Lost>,
    /// What was taken back.
    pub(crate) lost: Vec<Lost>,
    /// Why not all could be taken back.
    pub(crate) error: Option<String>,
}

impl Pacer {
    /// Starts the model of a design, with its pacing thread.
    pub(crate) fn start(design: &Design, start: Start, undo: Arc<Mutex<Undo>>) -> io::Result<Self> {
        let options = SystemOptions { n_waiting_max: WAITING_MAX, start, seed: design.seed };
        let system = System::new(design, &options);
        let mut queue = Queue {
            latency_min_ns: system.latency_min_ns(),
            system,
            waiting: (0..WAITING_MAX).map(|_| None).collect(),
            free: (0..WAITING_MAX).rev().collect(),
            outside: VecDeque::new(),
            promised: BinaryHeap::with_capacity(WAITING_MAX),
            time_ns: now_ns(),
            loops: Loops::default(),
            is_crashed: false,
            is_stopped: false,
            waits: vec![Waits::default(); design.volumes.len()],
            lateness: Lateness::default(),
            done: Vec::with_capacity(WAITING_MAX),
            promises: Vec::with_capacity(WAITING_MAX),
            flushed: Vec::new(),
            timed: None,
            settle_error: None,
        };
        // From the first question on the model keeps what reached the disk, and promises.
        queue.system.take_flushed(&mut queue.flushed);
        queue.system.take_promises(&mut queue.promises);
        let shared = Arc::new(Shared {
            undo,
            queue: Mutex::new(queue),
            wake: Condvar::new(),
            due_ns: AtomicU64::new(u64::MAX),
            overhead: Overhead::default(),
        });
        let pacing = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("pacer".to_owned());
        let thread = thread.spawn(move || pacing.run())?;
        Ok(Pacer { shared, thread: Some(thread) })
    }

    /// Answers the request that is being handled when [`overhead::WAIT_NS`] have passed: one by
    /// which the overhead is measured.
    pub(crate) fn answer_probe(&self, send: impl FnOnce() + Send + 'static) {
        self.answer_at(now_ns() + overhead::WAIT_NS, Box::new(move |_: Outcome| send()));
    }

    /// Returns the overhead of the requests that come here.
    pub(crate) fn overhead(&self) -> &Overhead {
        &self.shared.overhead
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

    /// Hands a write to the model, and returns the parts of it that do not count as dirty: they
    /// have found no room in the cache, or there is none. What reached the disk before is settled
    /// first, so that `undo` knows this write apart from it: the caller keeps the old contents of
    /// what is dirty and writes before it lets go of `undo`, without which nothing is settled and
    /// no reply is called.
    pub(crate) fn submit_write(
        &self,
        undo: &mut Undo,
        request: Request,
        reply: Reply,
    ) -> Vec<Range<u64>> {
        let mut queue = lock(&self.shared.queue);
        if queue.is_crashed || queue.is_stopped {
            drop(queue);
            reply(Outcome::Lost);
            return Vec::new();
        }
        let (volume, extents) = (request.volume, request.extents.clone());
        queue.take_in(request, reply);
        queue.settle(undo);
        // What is not in the model yet is as dirty as can be, until it is.
        let is_inside = queue.outside.is_empty();
        let clean = if is_inside { queue.clean(volume, &extents) } else { Vec::new() };
        self.shared.plan(&queue);
        clean
    }

    /// Passes to the model what `undo` has forgotten since files no longer have it. No time passes.
    pub(crate) fn discard(&self, undo: &mut Undo) {
        let cleared = undo.take_cleared();
        if cleared.is_empty() {
            return;
        }
        let mut queue = lock(&self.shared.queue);
        for (volume, addresses) in cleared {
            queue.system.discard(volume, addresses);
        }
        queue.settle(undo);
        // Flushes may have waited for that only.
        queue.take_promises();
        self.shared.plan(&queue);
    }

    /// Does something if nothing of a volume is dirty, before anything can become so.
    pub(crate) fn if_clean(&self, volume: u16, act: impl FnOnce()) {
        let _undo = lock(&self.shared.undo);
        let queue = lock(&self.shared.queue);
        if queue.outside.is_empty() && queue.system.dirty(volume).next().is_none() {
            act();
        }
    }

    /// Answers at a time that does not depend on the model. Only one at a time: a second one
    /// replaces the first.
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

    /// Looks at the caps and at what the volumes' I/Os have waited for them, all that were
    /// answered until now.
    pub(crate) fn snapshot(&self) -> ModelState {
        let mut undo = lock(&self.shared.undo);
        let mut queue = lock(&self.shared.queue);
        let ended = queue.collect(&mut undo, 0);
        let time_ns = queue.advance(now_ns());
        let (status, waits) = (queue.system.status(time_ns), queue.waits.clone());
        let state = ModelState { status, waits, lateness: queue.lateness };
        self.shared.plan(&queue);
        drop(queue);
        drop(undo);
        for reply in ended {
            reply(Outcome::Done);
        }
        state
    }

    /// Changes the design under the requests that wait.
    pub(crate) fn change(&self, design: &Design) -> Result<(), ChangeError> {
        let mut queue = lock(&self.shared.queue);
        let time_ns = queue.advance(now_ns());
        let changed = queue.system.change(time_ns, design);
        queue.latency_min_ns = queue.system.latency_min_ns();
        queue.take_promises();
        self.shared.plan(&queue);
        changed
    }

    /// Crashes the machine: what waits is lost, and what only the cache had is taken back. `owner`
    /// says which file an address of a volume belongs to, and where in it; it is asked while no
    /// program can let go of a deleted file.
    pub(crate) fn crash(
        &self,
        n_volumes: u16,
        owner: &dyn Fn(u16, u64) -> Option<(Ino, u64)>,
    ) -> Crashed {
        let mut undo = lock(&self.shared.undo);
        let mut queue = lock(&self.shared.queue);
        assert_eq!(usize::from(n_volumes), queue.waits.len(), "all volumes crash");
        let ended = queue.collect(&mut undo, 0);
        let time_ns = queue.time_ns;
        // What never came into the model has found no room in its cache, and was not answered.
        for (request, _) in std::mem::take(&mut queue.outside) {
            queue.settle_clean(&mut undo, &request);
        }
        let Queue { system, .. } = &mut *queue;
        let dirty = (0..n_volumes)
            .flat_map(|volume| system.dirty(volume).map(move |range| (volume, range)))
            .filter_map(|(volume, range)| {
                let (ino, offset) = owner(volume, range.start)?;
                Some(Lost { volume, ino, offset, len: range.end - range.start })
            })
            .collect();
        let dirty = undo::merge(dirty);
        system.crash(time_ns);
        queue.is_crashed = true;
        let lost_requests = queue.drain();
        let (lost, outcome) = undo.roll_back();
        let outcome = queue.settle_error.take().map_or(outcome, Err);
        self.shared.plan(&queue);
        drop(queue);
        drop(undo);
        for reply in ended {
            reply(Outcome::Done);
        }
        for reply in lost_requests {
            reply(Outcome::Lost);
        }
        Crashed { dirty, lost, error: outcome.err().map(system_text) }
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

    /// Takes a request into the model, or keeps it outside while there is no room, or others wait
    /// for it.
    fn take_in(&mut self, request: Request, reply: Reply) {
        // What has no extent would never end.
        assert!(!request.extents.is_empty(), "a request has an extent");
        let volume = request.volume;
        assert!(usize::from(volume) < self.waits.len(), "no volume {volume}");
        if self.has_room(&request) && self.outside.is_empty() {
            self.begin(request, reply);
        } else {
            self.outside.push_back((request, reply));
        }
    }

    fn has_room(&self, request: &Request) -> bool {
        request.extents.len() <= self.free.len()
    }

    /// Hands a request to the model, which has room for it.
    fn begin(&mut self, request: Request, reply: Reply) {
        let Some(slot) = self.free.pop() else { return };
        let Request { kind, volume, client, extents, arrival } = request;
        let part_ns = part_ns(self.latency_min_ns);
        let begin = |program| (program, self.loops.begin(program, arrival.made_ns, part_ns));
        let program = arrival.program.map(begin);
        let time_ns = self.advance(program.map_or(arrival.made_ns, |(_, made)| made.at_ns));
        for extent in &extents {
            let Extent { address, len_bytes } = *extent;
            let id = slot as u64;
            let io = Io { id, kind, volume, client, offset_bytes: address, len_bytes };
            self.system.submit(time_ns, io);
        }
        let n = extents.len();
        let waiting = Waiting {
            reply: Some(reply),
            n_unanswered: n,
            n_extents_left: n,
            volume,
            submitted_ns: time_ns,
            program,
        };
        self.waiting[slot] = Some(waiting);
        self.take_promises();
    }

    fn take_promises(&mut self) {
        self.system.take_promises(&mut self.promises);
        let promises = self.promises.drain(..).map(|promise| Reverse((promise.at_ns, promise.id)));
        self.promised.extend(promises);
    }

    /// Moves the model to what it is behind the clock and returns the replies that are due. What
    /// reached the disk until then is settled before.
    fn collect(&mut self, undo: &mut Undo, behind_ns: u64) -> Vec<Reply> {
        let now_ns = now_ns();
        let until_ns = now_ns.saturating_sub(behind_ns);
        let mut done = std::mem::take(&mut self.done);
        // Time goes from one event to the next and stays there: a request that is on its way
        // counts from before now.
        while let Some(event_ns) = self.system.next_event_ns().filter(|at_ns| *at_ns <= until_ns) {
            let time_ns = self.advance(event_ns);
            self.system.poll(time_ns, &mut done);
        }
        self.settle(undo);
        self.take_promises();
        let mut ended = Vec::new();
        while self.promised.peek().is_some_and(|first| first.0.0 <= now_ns) {
            let Some(Reverse((at_ns, id))) = self.promised.pop() else { break };
            self.lateness.count(now_ns - at_ns);
            ended.extend(self.answer(id, at_ns, now_ns));
        }
        for done in done.drain(..) {
            ended.extend(self.end(done, now_ns));
        }
        self.done = done;
        if let Some((_, reply)) = self.timed.take_if(|(due_ns, _)| *due_ns <= now_ns) {
            ended.push(reply);
        }
        while self.outside.front().is_some_and(|(request, _)| self.has_room(request)) {
            let Some((request, reply)) = self.outside.pop_front() else { break };
            let arrival = Arrival { made_ns: self.time_ns, ..request.arrival };
            let request = Request { arrival, ..request };
            let taken = request.clone();
            self.begin(request, reply);
            self.settle_clean(undo, &taken);
        }
        ended
    }

    /// Returns the parts of extents that are not dirty.
    fn clean(&self, volume: u16, extents: &[Extent]) -> Vec<Range<u64>> {
        let clean = |Extent { address, len_bytes }: &Extent| {
            let end = address.saturating_add(u64::from(*len_bytes));
            self.system.clean(volume, *address..end)
        };
        extents.iter().flat_map(clean).collect()
    }

    /// Forgets the old contents of what a write was to make dirty and has not.
    fn settle_clean(&mut self, undo: &mut Undo, request: &Request) {
        if !matches!(request.kind, IoKind::Write | IoKind::WriteThrough) {
            return;
        }
        for addresses in self.clean(request.volume, &request.extents) {
            let settled = undo.settle(request.volume, &addresses);
            self.settle_error = self.settle_error.take().or(settled.err());
        }
    }

    /// Returns when the next thing is due.
    fn next_due(&self, behind_ns: u64) -> Due {
        let timed_ns = self.timed.as_ref().map_or(u64::MAX, |(due_ns, _)| *due_ns);
        let promised_ns = self.promised.peek().map_or(u64::MAX, |first| first.0.0);
        let exact_ns = timed_ns.min(promised_ns);
        let Some(event_ns) = self.system.next_event_ns() else {
            return Due { exact_ns, about_ns: u64::MAX };
        };
        // What happens in the model by then brings no end before another latency has passed.
        match self.latency_min_ns.checked_sub(AHEAD_NS) {
            Some(rest_ns) => {
                Due { exact_ns, about_ns: event_ns.saturating_add(rest_ns.max(behind_ns)) }
            }
            None => Due {
                exact_ns: exact_ns.min(event_ns.saturating_add(behind_ns)),
                about_ns: u64::MAX,
            },
        }
    }

    /// Forgets the old contents of what reached the disk.
    fn settle(&mut self, undo: &mut Undo) {
        self.system.take_flushed(&mut self.flushed);
        for (volume, addresses) in self.flushed.drain(..) {
            // What cannot be forgotten would be rolled back by a crash, which must then be
            // reported.
            let settled = undo.settle(volume, &addresses);
            self.settle_error = self.settle_error.take().or(settled.err());
        }
    }

    /// An extent's end has come by the clock. Returns the reply of a request that waits for none.
    fn answer(&mut self, id: u64, due_ns: u64, now_ns: u64) -> Option<Reply> {
        let waiting = self.waiting.get_mut(usize::try_from(id).ok()?)?.as_mut()?;
        waiting.n_unanswered = waiting.n_unanswered.saturating_sub(1);
        let reply = if waiting.n_unanswered > 0 { None } else { waiting.reply.take() };
        if let (Some((program, made)), Some(_)) = (waiting.program, &reply) {
            self.loops.end(program, made, due_ns, now_ns);
        }
        reply
    }

    /// The model has brought an extent to its end. Frees the place of a request that has ended
    /// altogether, and returns its reply if it has none yet.
    fn end(&mut self, done: Done, now_ns: u64) -> Option<Reply> {
        let slot = usize::try_from(done.id).ok()?;
        let waiting = self.waiting.get_mut(slot)?.as_mut()?;
        if let Some(waits) = self.waits.get_mut(usize::from(waiting.volume)) {
            waits.count(&done, waiting.submitted_ns);
        }
        waiting.n_extents_left -= 1;
        if waiting.n_extents_left > 0 {
            return None;
        }
        self.free.push(slot);
        let Waiting { reply, program, .. } = self.waiting[slot].take()?;
        if let (Some((program, made)), Some(_)) = (program, &reply) {
            self.loops.end(program, made, done.at_ns, now_ns);
        }
        reply
    }

    /// Takes out the replies of all requests.
    fn drain(&mut self) -> Vec<Reply> {
        let mut replies = Vec::new();
        for slot in 0..self.waiting.len() {
            if let Some(waiting) = self.waiting[slot].take() {
                self.free.push(slot);
                replies.extend(waiting.reply);
            }
        }
        self.promised.clear();
        self.loops.clear();
        replies.extend(self.timed.take().map(|(_, reply)| reply));
        replies.extend(self.outside.drain(..).map(|(_, reply)| reply));
        replies
    }
}

impl Shared {
    /// Returns how far the model stays behind the clock: by as much as requests count as made
    /// before they are read, as long as it can promise that far ahead.
    fn behind_ns(&self, queue: &Queue) -> u64 {
        let early_ns = self.overhead.length_ns() + part_ns(queue.latency_min_ns);
        early_ns.min(queue.latency_min_ns)
    }

    /// Wakes the pacing thread if something is due before what it waits for.
    fn plan(&self, queue: &Queue) {
        let due_ns = queue.next_due(self.behind_ns(queue)).first_ns();
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
                let behind_ns = self.behind_ns(&queue);
                queue.collect(&mut undo, behind_ns)
            };
            if ended.is_empty() {
                self.wait();
            }
            for reply in ended {
                reply(Outcome::Done);
            }
        }
    }

    /// Waits until what is due next is due, or something else is due earlier.
    fn wait(&self) {
        let mut queue = lock(&self.queue);
        loop {
            let due = queue.next_due(self.behind_ns(&queue));
            self.due_ns.store(due.first_ns(), Release);
            let now_ns = now_ns();
            if queue.is_stopped || due.first_ns() <= now_ns {
                return;
            }
            let until_ns = due.exact_ns.saturating_sub(SPIN_NS).min(due.about_ns);
            let Some(nap_ns) = until_ns.checked_sub(now_ns).filter(|nap_ns| *nap_ns > 0) else {
                break;
            };
            let woken = self.wake.wait_timeout(queue, Duration::from_nanos(nap_ns));
            queue = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
        drop(queue);
        while now_ns() < self.due_ns.load(Acquire) {
            std::hint::spin_loop();
        }
    }
}

/// Returns how much of what answers were late is made up for in one request: an eighth of what a
/// disk takes at least, so that no answer comes much earlier than that.
fn part_ns(latency_min_ns: u64) -> u64 {
    latency_min_ns / 8
}
