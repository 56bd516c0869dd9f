//! What happens to a step: the closed set of events that its loop takes.

use record::Interval;

use crate::layout_progress::LayoutProgress;
use crate::worker_event::WorkerEvent;

/// One event, from whichever thread it comes.
pub(crate) enum StepEvent {
    /// Files are being laid out.
    Layout(LayoutProgress),
    /// Files and trees are as the workers need them, or it is known why not; or the thread that
    /// prepares the step has panicked. `Preparation` has what came of it.
    Prepared,
    /// A worker is ready, has ended, or reports something; or its thread has panicked.
    Worker(WorkerEvent),
    /// An interval has ended, at this time in nanoseconds.
    Interval(Box<Interval>, u64),
    /// Something was asked for from outside; [`crate::Control`] holds what.
    Control,
    /// The time has come for which the loop was waiting.
    Due,
}
