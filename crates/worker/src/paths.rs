//! Which way operations take through a worker.
//!
//! There is one way that every job can take, operation by operation ([`Issue::General`],
//! [`Complete::General`]), and there are short ones for what most jobs ask. Which ones a worker
//! takes is decided here, once, when it starts, from one description of all that its job asks for
//! ([`JobFeatures`]). [`Paths::of`] destructures the description completely, and so is what the
//! plan says of load and durability where it is made: what is new there does not compile before it
//! is decided whether a short way serves it, too.
//!
//! Tests: below, every short way against the general one, over all that selects it.

use crate::source::Choice;

/// What the job of a worker asks for, as far as it decides which way its operations take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct JobFeatures {
    /// How the next operations are chosen.
    pub(crate) choice: Choice,
    /// A rate holds operations back.
    pub(crate) has_rate: bool,
    /// Operations are due at recorded times, or by rates of parts.
    pub(crate) is_timed: bool,
    /// Pauses.
    pub(crate) thinks: bool,
    /// Keeps pace with other workers.
    pub(crate) is_in_flow: bool,
    /// What it does in a tree of files.
    pub(crate) in_tree: TreeUse,
    /// What is read is checked, and what is written remembered.
    pub(crate) verifies: bool,
    /// I/O that overlaps one in flight is held back.
    pub(crate) serializes: bool,
    /// The last I/O of a pass waits for all others.
    pub(crate) last_io_waits: bool,
    /// The queue is refilled when it has fallen to a depth.
    pub(crate) refills_low: bool,
    /// The job says how many completions are taken before the next operations begin.
    pub(crate) in_portions: bool,
    /// The job says how many operations go over at once.
    pub(crate) in_batches: bool,
    /// Each operation ends before the next begins.
    pub(crate) one_by_one: bool,
    /// Completions are looked for, never waited for.
    pub(crate) polls: bool,
    /// Writes are followed by syncs.
    pub(crate) syncs: bool,
    /// A write follows each trim.
    pub(crate) writes_after_trims: bool,
    /// Looks for the depth that meets a latency.
    pub(crate) searches_depth: bool,
    /// Each completion is looked at: logs, a largest latency, latencies by priority.
    pub(crate) watches: bool,
    /// Operations have priorities of their own.
    pub(crate) raises: bool,
    /// Operations are counted by part and kind.
    pub(crate) counts_series: bool,
    /// The blocks that were touched are counted.
    pub(crate) counts_touched: bool,
    /// Meters follow when they are asked for, not after every batch.
    pub(crate) defers_meters: bool,
}

/// What a job does in a tree of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TreeUse {
    /// It is on no tree.
    Nothing,
    /// One task, which reads or writes files: most of its operations are on a file that is open.
    FileIo,
    /// Anything else.
    Other,
}

/// How operations are chosen and issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Issue {
    /// One by one, with all that may hold one back or follow from it.
    General,
    /// Several of one file and one direction at once.
    Batches,
    /// Several of parts that take turns at once.
    Turns,
    /// One by one, with nothing but a flow to ask.
    OneByOne,
    /// In a tree of files: those on an open file with nothing to ask, all others as in general.
    FileIo,
}

/// What becomes of completions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Complete {
    /// All that may follow from one.
    General,
    /// They are counted and timed, by part and kind where the worker counts so.
    Counts,
    /// In a tree of files: reads and writes are counted and timed, and their kind follows from
    /// their direction. Of all others anything may follow.
    FileIo,
}

/// The ways that a worker's operations take, and how it goes about them.
///
/// The first three are ways: whichever is taken, the same operations go over at the same times and
/// the same is counted. The other four are no ways but part of what the job asks for: they change
/// which operations go over when, and what is counted. So the general way keeps to them, and a
/// table in the tests says what they are for each thing that a job can ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Paths {
    pub(crate) issue: Issue,
    pub(crate) complete: Complete,
    /// One operation may take the place of another in one step ([`Worker::swap`]).
    pub(crate) swaps: bool,
    /// Nothing but the depth holds operations back: completions are taken as batches go over.
    pub(crate) is_by_depth: bool,
    /// One operation takes the place of another at once, and the queue stays full: nothing else
    /// holds operations back, and the job does not say how many end before the next begins.
    pub(crate) takes_places: bool,
    /// The queue is filled before completions are taken: the job says how large batches are.
    pub(crate) fills_first: bool,
    /// Operations that are late although there was room are late because of whoever drives the
    /// worker: nothing else holds them back.
    pub(crate) counts_late: bool,
}

impl Paths {
    /// Of a worker that has not started.
    pub(crate) const BEFORE: Paths = Paths {
        issue: Issue::General,
        complete: Complete::General,
        swaps: false,
        is_by_depth: false,
        takes_places: false,
        fills_first: false,
        counts_late: false,
    };

    /// Chooses the shortest ways that give what is asked for.
    pub(crate) fn of(asks: &JobFeatures) -> Self {
        let &JobFeatures {
            choice,
            has_rate,
            is_timed,
            thinks,
            is_in_flow,
            in_tree,
            verifies,
            serializes,
            last_io_waits,
            refills_low,
            in_portions,
            in_batches,
            one_by_one,
            polls,
            syncs,
            writes_after_trims,
            searches_depth,
            watches,
            raises,
            counts_series,
            counts_touched,
            defers_meters,
        } = asks;
        let waits = has_rate || thinks || verifies;
        let is_issued_plainly = !(waits || is_timed || serializes || last_io_waits || syncs);
        let is_counted_only =
            !(waits || is_timed || writes_after_trims || searches_depth || watches);
        let is_on_tree = in_tree != TreeUse::Nothing;
        let issue = match (in_tree, choice) {
            _ if !is_issued_plainly => Issue::General,
            (TreeUse::FileIo, _) if !is_in_flow => Issue::FileIo,
            (TreeUse::FileIo | TreeUse::Other, _) => Issue::General,
            (TreeUse::Nothing, Choice::Batches) if !is_in_flow => Issue::Batches,
            (TreeUse::Nothing, Choice::Turns) => Issue::Turns,
            (TreeUse::Nothing, Choice::Batches | Choice::OneByOne) => Issue::OneByOne,
        };
        let complete = match in_tree {
            _ if !is_counted_only => Complete::General,
            TreeUse::Nothing => Complete::Counts,
            TreeUse::FileIo => Complete::FileIo,
            TreeUse::Other => Complete::General,
        };
        let is_alike = !(raises || counts_series || counts_touched);
        Paths {
            issue,
            complete,
            swaps: issue == Issue::Batches
                && is_counted_only
                && is_alike
                && defers_meters
                && !(refills_low || polls),
            is_by_depth: is_issued_plainly && is_counted_only && !is_on_tree,
            takes_places: !(has_rate || is_timed || thinks || refills_low || in_portions),
            fills_first: (refills_low || in_portions || in_batches) && !(polls || one_by_one),
            counts_late: (has_rate || is_timed)
                && !(thinks || is_in_flow || verifies || is_on_tree || serializes),
        }
    }

    /// Takes the ways that every job can take, whatever is asked for. What is no way stays as the
    /// job asks for it.
    #[cfg(test)]
    pub(crate) fn general(asks: &JobFeatures) -> Self {
        let (issue, complete) = (Issue::General, Complete::General);
        Paths { issue, complete, swaps: false, ..Paths::of(asks) }
    }
}

#[cfg(test)]
mod tests;
