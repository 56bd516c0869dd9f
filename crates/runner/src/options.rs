//! What the caller of a run decides besides the plan.

use std::path::PathBuf;

use analysis::steady::SteadyRule;

use crate::emulation::Emulation;

/// What the caller decides besides the plan.
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// The command and its arguments, for the record.
    pub command: Vec<String>,
    /// Write to devices that are mounted, whatever the job says.
    pub allow_mounted: bool,
    /// Write to devices that hold a partition table or a file system, whatever the job says.
    pub overwrite_filesystem: bool,
    /// Let others hold a device while a step writes to it, and write to it, too, as fio does. It is
    /// asked about anyway when the step begins.
    pub shares_devices: bool,
    /// Refuse every job that changes anything: its targets, or something around them.
    pub read_only: bool,
    /// Count the workers of the jobs that cannot start, for [`crate::RunError::Refused`].
    pub counts_refused: bool,
    /// Behave as if the kernel had no io_uring.
    pub forbid_uring: bool,
    /// Make missing folders above files, as fio does. Otherwise a mistyped path is an error.
    pub create_parents: bool,
    /// Folder for verify state files; `None` is the current one.
    pub aux_dir: Option<PathBuf>,
    /// Folder for logs with relative names; `None` is the current one.
    pub log_dir: Option<PathBuf>,
    /// Time between [`crate::RunEvent::Status`], milliseconds; 0 is 1000.
    pub status_interval_ms: u64,
    /// Time between [`crate::RunEvent::Report`], milliseconds; `None` makes none.
    pub report_interval_ms: Option<u64>,
    /// Volumes that stand in for this host's files and devices.
    pub emulation: Option<Emulation>,
    /// Run the commands around steps and jobs. Otherwise a plan with any is refused.
    pub allow_commands: bool,
    /// Intervals of another length, with what each job did by part and kind of operation.
    pub detailed_intervals: Option<DetailedIntervals>,
    /// Say with each interval how the jobs stand: [`crate::RunEvent::JobsSoFar`].
    pub follows_jobs: bool,
    /// Intervals say what this host was at: [`record::Interval::host`]. Not in virtual time.
    pub has_host_seconds: bool,
    /// Each step ends as soon as it is steady.
    pub until_steady: Option<UntilSteady>,
    /// The workers of each step begin at a moment that the caller names with
    /// [`crate::Control::start_step`]. Virtual time has no such moment: nothing waits there.
    pub waits_for_start: bool,
    /// The files of each step are laid out once [`crate::Control::lay_out_step`] lets them: another
    /// host may lay out the same ones. Virtual time has no files.
    pub waits_for_turn: bool,
    /// Prefix of logs of the whole run's bandwidth (fio `--bandwidth-log`).
    pub bandwidth_log: Option<String>,
    /// What is written says which write it is of, and what is read is compared.
    pub validation: Option<Validation>,
    /// Makes the engines in place of the real ones.
    #[cfg(test)]
    pub(crate) double: Option<MakeTestEngine>,
    /// Called first by the thread that prepares a step.
    #[cfg(test)]
    pub(crate) prepare_double: Option<fn()>,
}

/// What makes an engine for a job in a test.
#[cfg(test)]
pub(crate) type MakeTestEngine =
    fn(&plan::Job, engine::FileTable, engine::Arena) -> Box<dyn engine::Engine>;

impl RunOptions {
    /// Returns whether time is that of emulated volumes.
    pub(crate) fn is_virtual(&self) -> bool {
        self.emulation.as_ref().is_some_and(Emulation::is_virtual)
    }

    /// Returns the time between [`crate::RunEvent::Status`], nanoseconds.
    pub(crate) fn status_interval_ns(&self) -> u64 {
        match self.status_interval_ms {
            0 => 1_000_000_000,
            ms => ms * 1_000_000,
        }
    }
}

/// How data is validated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Validation {
    /// Where the journal is kept; `None` keeps none, and what was written is known to this run
    /// alone.
    pub journal: Option<PathBuf>,
    /// A write is issued when the journal durably says so.
    pub is_ahead: bool,
    /// What becomes of a journal that is there.
    pub existing: ExistingJournal,
    /// All that was written is read and compared when the steps have ended.
    pub reads_back: bool,
}

/// What becomes of a journal that is there when a run begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExistingJournal {
    /// Nothing runs.
    #[default]
    Refuse,
    /// It is replaced; a file that is no journal is not.
    Replace,
    /// The run goes on with it, which must be of all its targets: what it says is known of them.
    /// What was in flight is settled by what is there.
    Continue,
    /// The same, and each target must be of the size that it has there.
    ContinueSame,
}

impl ExistingJournal {
    /// Returns whether the run goes on with it.
    pub(crate) fn is_gone_on_with(self) -> bool {
        match self {
            ExistingJournal::Refuse | ExistingJournal::Replace => false,
            ExistingJournal::Continue | ExistingJournal::ContinueSame => true,
        }
    }
}

/// When a step that runs until it is steady ends. How long it may take is the plan's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UntilSteady {
    /// Rounds and limits: IOPS and the 99th percentile of latency of each direction must keep them.
    pub rule: SteadyRule,
    /// Length of the window that the rounds make up, nanoseconds.
    pub window_ns: u64,
    /// Longest time, nanoseconds; for the record.
    pub limit_ns: u64,
}

/// What intervals hold beside the counts of the whole run.
///
/// The first begins with the step, ramp included; the last ends with it, so that the intervals of a
/// step add up to what it did. One that would end with the time of the step's workers ends when
/// they have ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DetailedIntervals {
    /// Length, nanoseconds, at least a millisecond.
    pub interval_ns: u64,
    /// With what this host's processors did.
    pub cpu: bool,
}
