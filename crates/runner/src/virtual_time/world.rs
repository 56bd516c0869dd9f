//! The volumes of a run in virtual time.

use std::ops::Range;
use std::time::Duration;

use record::NoteSeverity;
use volume::System;

use crate::bind::BoundPlan;
use crate::emulation::{self, CapTable, DesignChange, Emulation, Placement, start_system};
use crate::tree::EmulatedTrees;

/// When the first step starts. Not 0, which stands for "not yet" in what workers count.
const START_NS: u64 = 1;

/// A large page on x86-64 and on ARM with pages of 4 KiB; a multiple of every small one.
const LARGE_PAGE_BYTES: usize = 2 << 20;

/// The volumes of a run and their time.
pub(crate) struct World {
    pub(super) system: System,
    pub(super) caps: CapTable,
    pub(super) placement: Placement,
    /// Designs that take over later, the next one last.
    pub(super) changes: Vec<DesignChange>,
    /// What is there of trees of files.
    pub(super) trees: EmulatedTrees,
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
        let trees = EmulatedTrees::new();
        World { system, caps, placement, changes, trees, now_ns: START_NS }
    }

    /// Returns when the next design takes over; `u64::MAX` if none will.
    pub(super) fn next_change_ns(&self) -> u64 {
        self.changes.last().map_or(u64::MAX, |change| change.at_ns)
    }

    /// Puts the designs in force whose time has come. Returns why one cannot be.
    pub(super) fn change(&mut self) -> Option<String> {
        let mut failed = None;
        while self.next_change_ns() <= self.now_ns {
            let Some(DesignChange { design, .. }) = self.changes.pop() else { break };
            match emulation::change(&mut self.system, self.now_ns, &design) {
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
