//! What comes before the workers of a step, on a thread of its own: files are laid out, and trees
//! are looked at. The thread reports to the loop of the step, which goes on hearing of requests
//! meanwhile, also where the kernel holds the thread.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use plan::Job;
use units::system_text;

use crate::bind::BoundStep;
use crate::context::StepContext;
use crate::control::Control;
use crate::event::RunEvent;
use crate::layout_progress::LayoutProgress;
use crate::prepare::{self, LayoutRules};
use crate::setup_error::{SetupError, caught};
use crate::step_event::StepEvent;
use crate::tree::StepTrees;

/// What a prepared step starts with.
pub(crate) struct Prepared {
    /// Why workers cannot start, one for each worker.
    pub(crate) errors: Vec<Option<SetupError>>,
    pub(crate) trees: StepTrees,
}

/// The thread that prepares a step.
pub(crate) struct Preparation {
    step: Arc<BoundStep>,
    /// Ends the thread. It is not the run's: a step that is left at once leaves its thread behind.
    control: Arc<Control>,
    /// Lets the thread go on after a report.
    goes_on: Sender<()>,
    thread: Result<JoinHandle<Result<Prepared, SetupError>>, SetupError>,
}

impl Preparation {
    /// Starts to prepare a step. Its last event is [`StepEvent::Prepared`], whatever happens.
    pub(crate) fn start(
        context: &StepContext<'_>,
        step: Arc<BoundStep>,
        events: &Sender<StepEvent>,
    ) -> Self {
        let (goes_on, reported) = channel();
        let control = Arc::new(Control::new());
        // Before the thread begins: it would lay out a file, or not, as it is scheduled.
        pass_stop(context.control, &control);
        let work = Work {
            step: Arc::clone(&step),
            rules: context.volumes.is_none().then(|| LayoutRules::of(context.options)),
            control: Arc::clone(&control),
            events: events.clone(),
            reported,
            #[cfg(test)]
            double: context.options.prepare_double,
        };
        let thread = std::thread::Builder::new().name("preparation".to_owned());
        let thread = thread.spawn(move || work.run()).map_err(|error| {
            events.send(StepEvent::Prepared).expect("the step holds a receiver");
            let errno = error.raw_os_error().unwrap_or(libc::EAGAIN);
            let why = system_text(&error);
            SetupError {
                errno,
                message: format!("cannot start a thread: {why}; raise `ulimit -u`"),
            }
        });
        Preparation { step, control, goes_on, thread }
    }

    /// Returns the step and what its workers start with, once the thread has sent its last event.
    pub(crate) fn finish(self) -> (Arc<BoundStep>, Result<Prepared, SetupError>) {
        let join = |thread: JoinHandle<_>| thread.join().expect("its panics are caught");
        (self.step, self.thread.and_then(join))
    }

    /// Passes a report on, and lets the thread go on, unless an end was asked for meanwhile.
    pub(crate) fn report(
        &self,
        progress: &LayoutProgress,
        of_run: &Control,
        on_event: &mut dyn FnMut(RunEvent<'_>),
    ) {
        let LayoutProgress { job, path, done_bytes, total_bytes, is_last } = progress;
        on_event(RunEvent::Layout {
            job: &job.name,
            path,
            done_bytes: *done_bytes,
            total_bytes: *total_bytes,
            is_last: *is_last,
        });
        self.obey(of_run);
        self.goes_on.send(()).expect("the thread waits for it");
    }

    /// Ends the thread, as soon as the kernel lets it, where the run is to end.
    pub(crate) fn obey(&self, of_run: &Control) {
        pass_stop(of_run, &self.control);
    }
}

/// Asks for the end of a preparation where that of the run is asked for.
fn pass_stop(of_run: &Control, own: &Control) {
    if of_run.is_stopped() {
        own.request_stop();
    }
}

/// What the thread works on.
struct Work {
    step: Arc<BoundStep>,
    /// Of layouts; `None` where the files of the step are on emulated volumes.
    rules: Option<LayoutRules>,
    control: Arc<Control>,
    events: Sender<StepEvent>,
    /// The last report was passed on.
    reported: Receiver<()>,
    #[cfg(test)]
    double: Option<fn()>,
}

impl Work {
    fn run(self) -> Result<Prepared, SetupError> {
        let prepared = caught(|| self.prepare());
        // If the step has been left, nothing takes it.
        let _gone = self.events.send(StepEvent::Prepared);
        prepared.map_err(|message| SetupError::of_panic("the preparation", &message))
    }

    fn prepare(&self) -> Prepared {
        #[cfg(test)]
        if let Some(double) = self.double {
            double();
        }
        let mut reports = Reports::default();
        let mut report = |progress| {
            if reports.is_due(&progress) {
                let _gone = self.events.send(StepEvent::Layout(progress));
                let _gone = self.reported.recv();
            }
        };
        let errors = match self.rules {
            Some(rules) => prepare::step(&self.step, rules, &self.control, &mut report),
            None => self.step.workers.iter().map(|_| None).collect(),
        };
        Prepared { errors, trees: StepTrees::prepare(&self.step, &self.control) }
    }
}

/// Which reports of a layout are passed on: the thread waits for each of them, which takes some
/// 10 us, as much as a small file.
#[derive(Default)]
struct Reports {
    /// The job that the last one was about, and how many bytes were done.
    last: Option<(Arc<Job>, u64)>,
}

impl Reports {
    /// Bytes from one report to the next.
    const BYTES: u64 = 1 << 20;

    /// Returns whether a report is passed on: there is one for each job and for the end.
    fn is_due(&mut self, progress: &LayoutProgress) -> bool {
        let LayoutProgress { job, done_bytes, total_bytes, .. } = progress;
        let is_due = done_bytes >= total_bytes
            || self.last.as_ref().is_none_or(|(last, last_bytes)| {
                !Arc::ptr_eq(last, job) || *done_bytes >= last_bytes + Self::BYTES
            });
        if is_due {
            self.last = Some((Arc::clone(job), *done_bytes));
        }
        is_due
    }
}
