//! Events of a run, for its caller.

use std::path::Path;

use record::{Interval, IoErrorRecord, JobRecord, Note, Record};

use crate::jobs_so_far::JobsSoFar;
use crate::series::SeriesSoFar;
use crate::status::Status;

/// Code of the note about a tree of which only a part is there.
pub const TREE_INCOMPLETE: &str = "tree-incomplete";

/// What happens during a run, for progress and live views.
#[derive(Debug)]
pub enum RunEvent<'a> {
    /// Something the user should know now.
    Note(&'a Note),
    /// A file is being laid out.
    Layout {
        /// Name of the job that needs it.
        job: &'a str,
        /// The file.
        path: &'a Path,
        /// Bytes written of all files to be laid out.
        done_bytes: u64,
        /// Bytes to write in all.
        total_bytes: u64,
        /// The file is complete.
        is_last: bool,
    },
    /// A pause before a step. Sent several times a second.
    Paused {
        /// Step, from 0.
        step_idx: u32,
        /// What is left of the pause, nanoseconds.
        left_ns: u64,
    },
    /// A command before or after a step has ended.
    CommandEnded {
        /// Step, from 0.
        step_idx: u32,
        /// The command.
        command: &'a str,
        /// What it wrote to its two outputs.
        output: &'a str,
        /// It succeeded.
        ok: bool,
    },
    /// A step is left out; a note says so too.
    StepSkipped {
        /// Step, from 0.
        step_idx: u32,
        /// Its name.
        name: &'a str,
        /// Why.
        reason: &'a str,
    },
    /// An operation failed, of a job with a limit to its errors.
    IoError(&'a IoErrorRecord),
    /// The workers of a step start.
    StepStarted {
        /// Step, from 0.
        step_idx: u32,
        /// Its name; empty where it has none.
        name: &'a str,
        /// Rate that followed from another step, I/Os per second over all jobs.
        rate_iops: Option<f64>,
        /// Workers.
        n_workers: u32,
    },
    /// The workers of a step are ready and wait for [`crate::Control::start_step`]. Sent only with
    /// [`crate::RunOptions::waits_for_start`].
    StepReady {
        /// Step, from 0.
        step_idx: u32,
    },
    /// What is there of a tree of files, before the workers of a step start and after they ended.
    Tree {
        /// Its anchor as the plan names it.
        anchor: &'a str,
        /// Files with their whole size.
        n_files: u64,
        /// Folders.
        n_folders: u64,
        /// Bytes of these files.
        size_bytes: u64,
        /// Files that were opened in the step so far.
        n_opened: u64,
        /// Bytes of these files.
        opened_bytes: u64,
        /// The step is about to start.
        is_start: bool,
        /// At the start: the step works on a part of the tree that no step completes, or there is
        /// no room for the whole of it. A note with [`TREE_INCOMPLETE`] follows in the end.
        incomplete: Option<&'a str>,
    },
    /// A part of a tree is there now, made by this step. Of a format each is reported once, in this
    /// order; a part that was there before is reported, too.
    TreeMade {
        /// Its anchor as the plan names it.
        anchor: &'a str,
        /// What is there.
        part: TreePart,
    },
    /// Another structure lies in an anchor, and a format of the step is about to remove it first.
    OtherTree {
        /// The anchor as the plan names it.
        anchor: &'a str,
        /// Files that are there of it.
        n_files: u64,
        /// Folders that are there of it.
        n_folders: u64,
    },
    /// How it looks now.
    Status(&'a Status),
    /// What was done until the end of the next [`RunEvent::Interval`], which follows at once. Sent
    /// only with [`crate::RunOptions::detailed_intervals`].
    SeriesSoFar(&'a SeriesSoFar<'a>),
    /// One second of the run, or as long as [`crate::RunOptions::detailed_intervals`] says.
    Interval(&'a Interval),
    /// How the jobs of the step stand at the end of the [`RunEvent::Interval`] just before. Sent
    /// only with [`crate::RunOptions::follows_jobs`].
    JobsSoFar(&'a JobsSoFar),
    /// The record as it would be if the run ended now. CPU time, samples and failures of workers
    /// that still run are not known yet.
    Report(&'a Record),
    /// The same, because it was asked for with [`crate::Control::request_status`].
    StatusAsked(&'a Record),
    /// The workers of a step have ended.
    StepEnded {
        /// Step, from 0.
        step_idx: u32,
        /// Results of its workers, one each.
        jobs: &'a [JobRecord],
    },
}

/// What of a tree is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TreePart {
    /// The folder that holds it.
    Anchor,
    /// All folders of a format.
    Folders,
    /// All files of a format, of which not all are written yet.
    Files,
}
