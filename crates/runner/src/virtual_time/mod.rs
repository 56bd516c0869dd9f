//! Runs the workers of a step in virtual time: a loop over the events of the volumes, the workers
//! and the clock of the record, on one thread. Nothing waits; what a worker is given as the time is
//! the time of the event.
//!
//! The workers are those of a real run, and so is all that follows from their ends
//! ([`crate::running`]). What a thread would spend on issuing and reaping I/O takes no time here.

mod driver;
mod lane;
mod wakeups;

use std::ops::Range;
use std::time::Duration;

use record::NoteSeverity;
use volume::{Design, Start, System, SystemOptions};

use crate::bind::{BoundPlan, BoundStep};
use crate::emulation::{CapTable, DesignChange, Emulation, Placement, start_system};
use crate::logs::LogSetup;
use crate::run::RunEvent;
use crate::running::{Running, flow_groups};
use crate::seat::{Seat, SeatState};
use crate::step::{StepContext, StepOutcome};
use crate::verify_notes;

use driver::Driver;
use lane::Lane;

/// When the first step starts. Not 0, which stands for "not yet" in what workers count.
const START_NS: u64 = 1;

/// A large page on x86-64 and on ARM with pages of 4 KiB; a multiple of every small one.
const LARGE_PAGE_BYTES: usize = 2 << 20;

/// Options of a system that nothing is submitted to.
const SMALLEST: SystemOptions = SystemOptions { n_waiting_max: 1, start: Start::Cold, seed: 0 };

/// The volumes of a run and their time.
pub(crate) struct World {
    system: System,
    caps: CapTable,
    placement: Placement,
    /// Designs that take over later, the next one last.
    changes: Vec<DesignChange>,
    /// Virtual time since the start of the run.
    pub(crate) now_ns: u64,
}

impl World {
    /// Makes the volumes as they are before the first step.
    pub(crate) fn new(emulation: &Emulation, placement: Placement, bound: &BoundPlan) -> Self {
        let system = start_system(emulation, &placement, bound);
        system.cache_memory().into_iter().for_each(ask_for_large_pages);
        let caps = CapTable::new(&system, &emulation.design);
        let mut changes = emulation.changes.clone();
        changes.sort_by_key(|change| std::cmp::Reverse(change.at_ns));
        World { system, caps, placement, changes, now_ns: START_NS }
    }

    /// Returns when the next design takes over; `u64::MAX` if none will.
    fn next_change_ns(&self) -> u64 {
        self.changes.last().map_or(u64::MAX, |change| change.at_ns)
    }

    /// Puts the designs in force whose time has come. Returns why one cannot be.
    fn change(&mut self) -> Option<String> {
        let mut failed = None;
        while self.next_change_ns() <= self.now_ns {
            let Some(DesignChange { design, .. }) = self.changes.pop() else { break };
            match change(&mut self.system, self.now_ns, &design) {
                Ok(()) => self.caps = CapTable::new(&self.system, &design),
                Err(why) => failed = failed.or(Some(why)),
            }
        }
        failed
    }

    /// Returns what is to be said of designs whose time did not come.
    pub(crate) fn changes_left(&self) -> Option<(NoteSeverity, &'static str, String)> {
        let next = self.changes.last()?;
        let after = units::format_duration(Duration::from_nanos(next.at_ns));
        let ended = units::format_duration(Duration::from_nanos(self.now_ns));
        let text = format!(
            "the run ended after {ended}: `{}`, which was to take over after {after}, did not",
            next.design.name
        );
        Some((NoteSeverity::Warning, "design-not-changed", text))
    }
}

/// Puts another design in force, with caps of the same kinds. Returns why it cannot be.
fn change(system: &mut System, now_ns: u64, design: &Design) -> Result<(), String> {
    if System::new(design, &SMALLEST).caps().len() != system.caps().len() {
        return Err("it has other caps, not others of the same kind".to_owned());
    }
    system.change(now_ns, design).map_err(|error| error.to_string())
}

/// Says why a design cannot take another one's place during a run, if it cannot.
pub(crate) fn refuse_change(old: &Design, new: &Design) -> Result<(), String> {
    change(&mut System::new(old, &SMALLEST), 0, new)
}

/// Asks the kernel to back memory by large pages, whose addresses processors translate without
/// reading page tables, which takes as long as the look-up itself. Where the kernel does not do it,
/// runs are slower and nothing else.
fn ask_for_large_pages(memory: Range<usize>) {
    let start = memory.start.next_multiple_of(LARGE_PAGE_BYTES);
    let end = memory.end / LARGE_PAGE_BYTES * LARGE_PAGE_BYTES;
    if start < end {
        let address = std::ptr::without_provenance_mut(start);
        // SAFETY: the pages lie within memory of ours, and the advice changes nothing of what it
        // holds.
        unsafe { libc::madvise(address, end - start, libc::MADV_HUGEPAGE) };
    }
}

/// Runs a step to its end.
pub(crate) fn run_step(
    context: &StepContext<'_>,
    step: &BoundStep,
    world: &mut World,
    on_event: &mut dyn FnMut(RunEvent<'_>),
) -> StepOutcome {
    let n_workers = step.workers.len();
    let depth_max = step.workers.iter().map(|bound| bound.job.load.queue_depth).max();
    let mut logs = LogSetup::new(context.clock, context.zero_unix_ms, context.log_dir(), n_workers)
        .with_room(depth_max.unwrap_or(1) as usize);
    let mut flows = flow_groups(step);
    let mut seats = Vec::with_capacity(n_workers);
    let mut lanes = Vec::with_capacity(n_workers);
    for (idx, bound) in step.workers.iter().enumerate() {
        let mut seat = Seat::new(bound, None);
        if context.options.detailed_intervals.is_some() {
            seat.count_by_series();
        }
        let number = context.n_workers_before + idx as u32;
        let mut lane = None;
        if !bound.job.files.create_only {
            match seat.build(context, number, flows.remove(&idx), &mut logs) {
                Ok((worker, _)) => {
                    let places = world.placement.of(bound);
                    lane = Some(Lane::new(idx, bound, worker, places, world));
                    seat.state = SeatState::Waiting;
                }
                Err(error) => seat.setup_error = Some(error),
            }
        }
        seats.push(seat);
        lanes.push(lane);
    }
    // Of workers that do not start: the others of their flow would wait for them.
    drop(flows);
    let mut running = Running::new(context, seats, world.now_ns);
    running.notes = verify_notes::of_step(step);
    Driver::new(world, lanes).run(&mut running, &mut logs.inline(), on_event);
    running.into_outcome(world.now_ns)
}
