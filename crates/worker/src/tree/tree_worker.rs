//! What one worker does in a tree.

use std::sync::Arc;

use pattern::rng::{Rng, Stream};
use pattern::{Deck, PatternError};
use plan::tree::{Activity, Mixing};

use super::shared::FormatWorker;
use super::shared::TreeJob;
use super::task::Task;
use super::traits::TaskTraits;
use super::{Admission, Next, TreeOp, Verdict};
use crate::paths::TreeUse;

/// One worker's hand in a tree: at most one operation at a time.
#[derive(Debug)]
pub(crate) struct TreeWorker {
    job: Arc<TreeJob>,
    work: TreeAssignment,
    /// The operation that was handed over.
    in_flight: Option<TreeOp>,
    /// What is asked for next has been let through by rates and flows.
    admitted: Option<Admission>,
    /// Nothing was free for what is due: it is handed on to others of the job.
    is_waiting: bool,
    /// It looks out for what others hand on.
    is_watching: bool,
    /// Times in a row that nothing could be done.
    n_waits: u32,
    /// What is asked for that was begun, and how much may be.
    n_asked: u64,
    n_asked_max: u64,
    has_ended: bool,
}

#[derive(Debug)]
enum TreeAssignment {
    Format(FormatWorker),
    Tasks {
        tasks: Vec<Task>,
        /// The task that is being worked on.
        now_idx: usize,
        /// Tasks that have nothing left to do.
        has_left: Vec<bool>,
        rng: Rng,
        /// Deals the tasks, where they are not drawn.
        deck: Option<Deck>,
        /// What the task was asked for has been handed over.
        was_asked: bool,
    },
}

/// The first pause when nothing can be done, and the longest: they double. Short against the
/// latency of an operation on a disk, long against a look at the tree.
const WAIT_NS: (u64, u64) = (20_000, 2_000_000);

/// How often a worker looks whether others hand on something: short against the time between two
/// operations of a rate that one worker could not do in its sleep.
const WATCH_NS: u64 = 500_000;

impl TreeWorker {
    /// Makes the hand of a worker and counts it as at work.
    ///
    /// It ends after `n_asked_max` operations that are asked for.
    pub(crate) fn new(
        job: Arc<TreeJob>,
        worker_seed: u64,
        n_asked_max: Option<u64>,
    ) -> Result<Self, PatternError> {
        let work = match &job.work.activity {
            Activity::Format(format) => TreeAssignment::Format(FormatWorker::new(*format)),
            Activity::Operations(specs) => {
                let tasks: Result<Vec<Task>, PatternError> = (0..)
                    .zip(specs)
                    .map(|(idx, spec)| Task::new(&job, idx, spec, worker_seed))
                    .collect();
                let tasks = tasks?;
                if tasks.is_empty() {
                    return Err(PatternError::NoFiles);
                }
                let deck = match job.work.mixing {
                    Mixing::Dealt => Deck::new(tasks.iter().map(Task::weight)),
                    Mixing::Drawn => None,
                };
                TreeAssignment::Tasks {
                    deck,
                    was_asked: false,
                    has_left: vec![false; tasks.len()],
                    tasks,
                    now_idx: usize::MAX,
                    rng: Rng::for_stream(worker_seed, Stream::Mix, 0),
                }
            }
        };
        let tree_worker = TreeWorker {
            job,
            work,
            in_flight: None,
            admitted: None,
            is_waiting: false,
            is_watching: false,
            n_waits: 0,
            n_asked: 0,
            n_asked_max: n_asked_max.unwrap_or(u64::MAX),
            has_ended: false,
        };
        tree_worker.count_at_work(true);
        Ok(tree_worker)
    }

    fn count_at_work(&self, begins: bool) {
        let TreeAssignment::Tasks { tasks, .. } = &self.work else { return };
        for task in tasks {
            self.job.state.count_at_work(TaskTraits::effects(task.spec()), begins);
        }
    }

    /// Counts the worker as no longer at work.
    pub(crate) fn end(&mut self) {
        if !std::mem::replace(&mut self.has_ended, true) {
            self.count_at_work(false);
            self.wait(false);
            self.end_watch();
        }
    }

    /// Returns whether the next operation must be let through first.
    pub(crate) fn asks_first(&self) -> bool {
        let is_ending = match &self.work {
            TreeAssignment::Format(format) => format.is_ending(),
            TreeAssignment::Tasks { tasks, now_idx, .. } => {
                tasks.get(*now_idx).is_some_and(Task::is_ending)
            }
        };
        self.admitted.is_none() && !is_ending
    }

    /// Returns whether all that may be asked for has been.
    pub(crate) fn is_spent(&self) -> bool {
        self.n_asked >= self.n_asked_max
    }

    /// Lets the next operation through.
    pub(crate) fn admit(&mut self, leave: Admission) {
        self.admitted = Some(leave);
    }

    /// Returns whether what is due may be handed on: a single task, so that all that is asked for
    /// is alike.
    pub(crate) fn may_hand_on(&self) -> bool {
        matches!(&self.work, TreeAssignment::Tasks { tasks, .. } if tasks.len() == 1)
    }

    /// Returns whether what is due is handed on, because nothing is free for it.
    pub(crate) fn is_waiting(&self) -> bool {
        self.is_waiting
    }

    fn wait(&mut self, waits: bool) {
        if self.is_waiting != waits {
            self.is_waiting = waits;
            self.job.overdue.count_waiting(waits);
        }
    }

    /// Hands on an operation that was due. Returns false where there is no room.
    pub(crate) fn hand_on(&mut self, due_ns: u64) -> bool {
        self.wait(true);
        self.job.overdue.put(due_ns)
    }

    /// Takes what was let through and has not begun, to hand it on.
    pub(crate) fn give_up(&mut self) -> Option<Admission> {
        self.admitted.take()
    }

    /// Looks for something free while what is due is handed on. Returns whether it was found, or
    /// nothing can be any more, which [`TreeWorker::next`] tells.
    pub(crate) fn find_free(&mut self) -> bool {
        let TreeAssignment::Tasks { tasks, .. } = &mut self.work else { return true };
        let is_free =
            tasks.iter_mut().all(|task| !matches!(task.prepare(&self.job), Some(Next::Later)));
        if is_free {
            self.wait(false);
            self.n_waits = 0;
        } else {
            self.n_waits = self.n_waits.saturating_add(1);
        }
        is_free
    }

    /// Takes what others of the job handed on.
    pub(crate) fn take_over(&mut self) -> Option<Admission> {
        let due_ns = self.job.overdue.take()?;
        Some(Admission { due_ns: Some(due_ns), is_counted: true })
    }

    /// Returns until when to sleep before the next turn of its own at `until_ns`.
    pub(crate) fn sleep_until(&mut self, until_ns: u64, now_ns: u64) -> u64 {
        let has_file = matches!(&self.work, TreeAssignment::Tasks { tasks, .. }
            if tasks.first().is_some_and(Task::is_at_work));
        if !has_file || !self.job.overdue.has_waiting() {
            self.end_watch();
            return until_ns;
        }
        self.is_watching = self.is_watching || self.job.overdue.may_watch();
        if self.is_watching { until_ns.min(now_ns + WATCH_NS) } else { until_ns }
    }

    fn end_watch(&mut self) {
        if std::mem::replace(&mut self.is_watching, false) {
            self.job.overdue.end_watch();
        }
    }

    /// Returns what is worked at.
    pub(crate) fn work(&self) -> TreeUse {
        match &self.work {
            TreeAssignment::Tasks { tasks, .. } => match &tasks[..] {
                [task] if task.does_io() => TreeUse::FileIo,
                _ => TreeUse::Other,
            },
            TreeAssignment::Format(_) => TreeUse::Other,
        }
    }

    /// Returns what [`TreeWorker::next`] would, where that is an operation on the open file of the
    /// only task. `None` leaves it to that. Only where no rate and no flow has to be asked.
    #[inline]
    pub(crate) fn next_io(&mut self) -> Option<TreeOp> {
        let TreeAssignment::Tasks { tasks, .. } = &mut self.work else { return None };
        let [task] = &mut tasks[..] else { return None };
        if self.n_asked >= self.n_asked_max || self.admitted.is_some() {
            return None;
        }
        let op = task.next_io()?;
        self.n_asked += 1;
        self.in_flight = Some(op);
        Some(op)
    }

    /// Returns the next operation.
    pub(crate) fn next(&mut self) -> Next {
        let next = match &mut self.work {
            TreeAssignment::Format(format) => format.next(&self.job),
            TreeAssignment::Tasks { tasks, now_idx, has_left, rng, deck, was_asked } => {
                let choice = Choice { now_idx, has_left, rng, deck, was_asked };
                choice.next(&self.job, tasks)
            }
        };
        let Next::Op(op) = next else {
            let is_waiting = matches!(next, Next::Later);
            self.n_waits = if is_waiting { self.n_waits.saturating_add(1) } else { 0 };
            return next;
        };
        self.n_waits = 0;
        self.in_flight = Some(op);
        self.n_asked += u64::from(op.is_asked);
        next
    }

    /// Takes the leave for an operation that is asked for; any other needs none.
    #[inline]
    pub(crate) fn take_leave(&mut self) -> Admission {
        self.admitted.take().unwrap_or_default()
    }

    /// Returns how long to pause when nothing can be done.
    pub(crate) fn wait_ns(&self) -> u64 {
        let (first_ns, most_ns) = WAIT_NS;
        (first_ns << self.n_waits.min(10)).min(most_ns)
    }

    /// Returns the operation in flight.
    pub(crate) fn in_flight(&self) -> Option<TreeOp> {
        self.in_flight
    }

    /// Takes what became of the operation in flight: its error number, 0 for none.
    pub(crate) fn completed(&mut self, errno: i32) -> Verdict {
        let Some(op) = self.in_flight.take() else { return Verdict::Done };
        match &mut self.work {
            TreeAssignment::Format(format) => format.completed(&self.job, &op, errno),
            TreeAssignment::Tasks { tasks, .. } => match tasks.get_mut(usize::from(op.task)) {
                Some(task) => task.completed(&self.job, &op, errno),
                None => Verdict::Done,
            },
        }
    }
}

/// Which of several tasks is worked on.
struct Choice<'a> {
    now_idx: &'a mut usize,
    has_left: &'a mut [bool],
    rng: &'a mut Rng,
    deck: &'a mut Option<Deck>,
    was_asked: &'a mut bool,
}

impl Choice<'_> {
    /// Returns the next operation. A task goes on until what is asked for is done; then the next
    /// one is chosen among those that have something left. One that was dealt ends what it began
    /// first, as closing its file; one that was drawn does when it is drawn again, as in Vdbench.
    fn next(mut self, job: &TreeJob, tasks: &mut [Task]) -> Next {
        for _ in 0..=tasks.len() {
            let is_ending = tasks.get(*self.now_idx).is_some_and(Task::is_ending);
            if *self.was_asked && !is_ending {
                *self.was_asked = false;
                *self.now_idx = usize::MAX;
            }
            if *self.now_idx >= tasks.len() {
                let Some(chosen) = self.choose(tasks) else { return Next::Done };
                *self.now_idx = chosen;
            }
            let next = tasks[*self.now_idx].next(job);
            let was_asked = matches!(&next, Next::Op(op) if op.is_asked) && tasks.len() > 1;
            let is_done = matches!(next, Next::Done);
            // What it needs others of the same hand make or remove: they come first.
            let is_later = matches!(next, Next::Later);
            if is_later && self.deck.as_mut().is_some_and(Deck::postpone) {
                *self.now_idx = usize::MAX;
                continue;
            }
            if is_done {
                self.has_left[*self.now_idx] = true;
            }
            *self.was_asked |= was_asked && self.deck.is_some();
            if is_done || (was_asked && self.deck.is_none()) {
                *self.now_idx = usize::MAX;
            }
            if !is_done {
                return next;
            }
        }
        Next::Later
    }

    fn choose(&mut self, tasks: &[Task]) -> Option<usize> {
        match self.deck {
            Some(deck) => deal(deck, self.has_left, self.rng),
            None => draw(tasks, self.has_left, self.rng),
        }
    }
}

/// Deals a task that has something left.
fn deal(deck: &mut Deck, has_left: &[bool], rng: &mut Rng) -> Option<usize> {
    // Two decks have each task at least once.
    (0..2 * deck.n_cards()).map(|_| deck.deal(rng)).find(|task| !has_left[*task])
}

/// Draws a task in proportion to the weights.
fn draw(tasks: &[Task], has_left: &[bool], rng: &mut Rng) -> Option<usize> {
    let weights = || {
        let all = tasks.iter().zip(has_left);
        all.map(|(task, has_left)| if *has_left { 0.0 } else { task.weight() })
    };
    let total: f64 = weights().sum();
    let mut rest = rng.unit_f64() * total;
    let mut last = None;
    for (idx, weight) in weights().enumerate().filter(|it| it.1 > 0.0) {
        last = Some(idx);
        if rest < weight {
            break;
        }
        rest -= weight;
    }
    last
}
