//! Failed I/Os: one `data_errors=` counts for all jobs of a parameter file.

use std::fmt::Write;

use plan::param::Field;
use plan::{Direction, Job, Plan, job_fields};

use super::Writer;
use crate::vdbench::values::NS_PER_S;
use crate::vdbench::written::DATA_ERRORS_MAX;

/// What `data_errors=` says.
const SURVIVED: &[Field] = job_fields![errors.continue_read, errors.n_errors_max, errors.quiet_ns];

/// As good as no limit: the largest count that Vdbench takes.
const UNLIMITED: u64 = 2_147_483_647;

/// After how many failed I/Os everything ends, and after how many seconds without another one.
type Limit = (u64, Option<u64>);

/// The `data_errors=` of a parameter file.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DataErrors {
    /// That of the first job; `None` until there is one.
    limit: Option<Limit>,
    /// There is one worker: the end of its job is the end of everything.
    is_alone: bool,
}

impl DataErrors {
    pub(super) fn of(plan: &Plan) -> Self {
        let n_workers: u32 = plan.jobs().map(|job| job.n_workers.max(1)).sum();
        DataErrors { limit: None, is_alone: n_workers <= 1 }
    }
}

impl Writer {
    /// Settles what becomes of failed I/Os of a job, whose values are those at hand.
    pub(in crate::vdbench::write) fn errors(&mut self, job: &Job) {
        let own = limit_of(job);
        let (n_max, quiet_s) = *self.data_errors.limit.get_or_insert(own);
        if own != (n_max, quiet_s) {
            self.lose(
                SURVIVED,
                "how many failed I/Os each job survives: `data_errors` counts for all of them",
            );
        } else if job.errors.n_errors_max.is_none()
            && !survives(job).all(|goes_on| goes_on == (n_max > 1))
        {
            self.lose(
                SURVIVED,
                "failed reads that are survived and writes that are not, or the reverse: the first \
                 failed I/O ends everything",
            );
        }
        // In Vdbench the number alone decides.
        self.is_the_same(SURVIVED);
        self.end_of_others(job, n_max);
    }

    /// Settles what goes on after a failed I/O: in Vdbench nothing.
    fn end_of_others(&mut self, job: &Job, n_max: u64) {
        let exit_all = job_fields![errors.exit_all_on_error];
        match (job.errors.exit_all_on_error, self.data_errors.is_alone) {
            (true, _) => self.works_out(exit_all, true),
            (false, true) => self.is_the_same(exit_all),
            (false, false) => self
                .lose(exit_all, "jobs that go on when another has failed: Vdbench ends everything"),
        }
        if job.errors.fails_in_the_end {
            self.works_out(job_fields![errors.fails_in_the_end], true);
        } else if n_max == 1 {
            self.is_the_same(job_fields![errors.fails_in_the_end]);
        } else {
            self.lose(
                job_fields![errors.fails_in_the_end],
                "jobs that have met failed I/Os and are as good as others: Vdbench runs nothing \
                 after them, and ends with an error",
            );
        }
    }

    /// Writes what all jobs survive, once they are known.
    pub(in crate::vdbench::write) fn close_errors(&mut self) {
        let _ = match self.data_errors.limit {
            None | Some((DATA_ERRORS_MAX, None)) => Ok(()),
            Some((n_max, None)) => writeln!(self.general, "data_errors={n_max}"),
            Some((n_max, Some(s))) => writeln!(self.general, "data_errors=({n_max},{s})"),
        };
    }
}

/// Returns after how many failed I/Os a job is over.
fn limit_of(job: &Job) -> Limit {
    let errors = &job.errors;
    let n_max = match errors.n_errors_max {
        Some(n_max) => n_max.max(1),
        None if survives(job).all(|goes_on| goes_on) => UNLIMITED,
        None => 1,
    };
    let quiet_s = errors.quiet_ns.map(|ns| ns.div_ceil(NS_PER_S));
    (n_max, quiet_s.filter(|_| n_max > 1))
}

/// Returns for each direction of a job whether it goes on after a failed I/O.
fn survives(job: &Job) -> impl Iterator<Item = bool> {
    let errors = &job.errors;
    let goes_on = |dir| match dir {
        Direction::Read => errors.continue_read,
        Direction::Write | Direction::Trim => errors.continue_write,
    };
    let is_done =
        |dir: &Direction| job.tree.is_some() || job.issued_directions().any(|it| it == *dir);
    Direction::ALL.into_iter().filter(is_done).map(goes_on)
}
