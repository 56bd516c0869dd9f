//! Reports every failed operation of a job with `error_dump`.

use std::path::PathBuf;
use std::sync::mpsc::Sender;

use crate::step_event::StepEvent;
use crate::worker_event::WorkerEvent;
use engine::{Engine, EngineError, Layer, Wait};
use plan::op::{Completion, Op};
use units::system_text;

/// Most errors reported per worker. A device in trouble fails a million operations a second.
const ERRORS_MAX: u32 = 1000;

/// An engine that reports each failed operation. Reporting allocates, so only jobs with
/// `error_dump` have it.
pub(crate) struct ErrorDump {
    engine: Box<dyn Engine>,
    /// Operations in flight, by slot.
    in_flight: Vec<Option<Op>>,
    paths: Vec<PathBuf>,
    job: String,
    n_reported: u32,
    events: Sender<StepEvent>,
}

impl ErrorDump {
    /// Watches an engine of a job. `paths` names its files.
    pub(crate) fn new(
        engine: Box<dyn Engine>,
        queue_depth: u32,
        paths: Vec<PathBuf>,
        job: String,
        events: Sender<StepEvent>,
    ) -> Self {
        let in_flight = vec![None; queue_depth as usize];
        ErrorDump { engine, in_flight, paths, job, n_reported: 0, events }
    }

    #[cold]
    fn report(&mut self, completion: Completion) {
        let op = self.in_flight.get(completion.slot as usize).copied().flatten();
        let Some(op) = op.filter(|_| self.n_reported < ERRORS_MAX) else { return };
        self.n_reported += 1;
        let what = op.kind.direction().map_or("sync", plan::Direction::name);
        let target = self.paths.get(op.file.0 as usize);
        let target = target.map_or_else(String::new, |path| path.display().to_string());
        let error = system_text(std::io::Error::from_raw_os_error(-completion.result));
        let (job, len, offset) = (&self.job, op.len, op.offset);
        let text =
            format!("job `{job}`: {what} of {len} B at offset {offset} of `{target}`: {error}");
        // The step outlives its threads; if it is gone, no receiver is left.
        let _gone = self.events.send(StepEvent::Worker(WorkerEvent::Error { text }));
    }
}

impl Layer for ErrorDump {
    fn below(&self) -> &dyn Engine {
        self.engine.as_ref()
    }

    fn below_mut(&mut self) -> &mut dyn Engine {
        self.engine.as_mut()
    }

    fn exchange_through(
        &mut self,
        ops: &[Op],
        wait: Wait,
        done: &mut Vec<Completion>,
    ) -> Result<(), EngineError> {
        for op in ops {
            if let Some(slot) = self.in_flight.get_mut(op.slot as usize) {
                *slot = Some(*op);
            }
        }
        let n_before = done.len();
        self.engine.exchange(ops, wait, done)?;
        for completion in &done[n_before..] {
            if completion.result < 0 {
                self.report(*completion);
            }
        }
        Ok(())
    }
}
