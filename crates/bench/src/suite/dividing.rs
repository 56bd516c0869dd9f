//! A row of which a core, and not the device, was the limit: it is measured again, its queue
//! divided among more workers, until more of them carry no more.

use analysis::gates::of_step;
use analysis::steady::SteadyRule;
use record::{Note, Record};

use super::rows::Running;
use crate::sweep::{n_workers, seen};
use crate::workers::{Counts, Workers};

/// A row that may want more workers.
#[derive(Clone, Debug)]
pub struct Dividing {
    label: String,
    /// Measurements that count, as many as the suite wants.
    n_wanted: usize,
    workers: Workers,
    is_settled: bool,
}

impl Dividing {
    /// Begins with a row as it was measured.
    pub fn new(running: &Running, label: &str) -> Self {
        let n_wanted = running.steps_of(label).len();
        let workers = Workers::default();
        Dividing { label: label.to_owned(), n_wanted, workers, is_settled: false }
    }

    /// Looks at the row's last measurement. Returns among how many to divide each of its workers in
    /// the next one; none where no more is wanted.
    pub fn next(&mut self, running: &mut Running, record: &Record) -> Option<u32> {
        if !self.is_settled {
            let last = running.steps_of(&self.label).pop()?;
            let gates = of_step(record, last, true, &SteadyRule::default());
            let seen = seen(record, last, &gates, true)?;
            if self.workers.take(&seen) == Counts::No {
                return self.workers.n_parts();
            }
            self.is_settled = true;
        }
        self.keep(running, record)?;
        let is_short = running.steps_of(&self.label).len() < self.n_wanted;
        self.workers.n_parts().filter(|_| is_short)
    }

    /// Ends it, wherever it is. Says how many workers there are, and why.
    pub fn end(self, running: &mut Running, record: &Record) -> Option<Note> {
        self.keep(running, record)?;
        self.workers.note(&format!("`{}`", self.label))
    }

    /// Leaves out what other numbers of workers measured than the one that is kept; none where no
    /// other was tried.
    fn keep(&self, running: &mut Running, record: &Record) -> Option<()> {
        let n_kept = self.workers.n_kept()?;
        running.set_aside(&self.label, |step_idx| n_workers(record, step_idx) != n_kept);
        Some(())
    }
}
