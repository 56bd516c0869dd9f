//! How written data compresses: all of it alike, in Vdbench.

use std::fmt::Write;
use std::ops::Range;

use plan::param::Field;
use plan::{Step, job_fields};

use super::shares::compress_ratio;
use super::words::rounded;
use super::writer::Writer;

/// What `compratio=` says.
const RATIO: &[Field] = job_fields![buffers.compress_pct, buffers.compress_ratio];

/// The loss where jobs differ.
const DIFFERS: &str = "compression that differs between jobs: `compratio` counts for all";

impl Writer {
    /// Reports how the data of these jobs compresses, whose values lie there.
    pub(super) fn compression(&mut self, step: &Step, ranges: &[Range<usize>]) {
        let writes = |job: &&plan::Job| job.access().write;
        let ratio = step.jobs.iter().filter(writes).find_map(compress_ratio);
        let ratio = ratio.or_else(|| step.jobs.iter().find_map(compress_ratio));
        if self.compress_ratio.is_none()
            && let Some(ratio) = ratio
        {
            self.compress_ratio = Some(ratio);
            let _ = writeln!(self.general, "compratio={}", rounded(ratio));
        }
        for (job, range) in step.jobs.iter().zip(ranges) {
            let is_alike = match (compress_ratio(job), self.compress_ratio) {
                (Some(own), Some(all)) => (own - all).abs() < 0.011,
                (None, None) => true,
                (Some(_), None) | (None, Some(_)) => false,
            };
            self.at = range.clone();
            let is_said = is_alike && self.compress_ratio.is_some();
            self.works_out(RATIO, is_said);
            if !is_said && job.access().write {
                self.writes_plainly |= compress_ratio(job).is_none();
                if self.compress_ratio.is_some() {
                    self.lose(RATIO, DIFFERS);
                }
            }
        }
    }

    /// Notes what became of data that was written before a job said how its own compresses.
    pub(super) fn close_compression(&mut self) {
        if self.writes_plainly && self.compress_ratio.is_some() {
            self.to.lose_fields(RATIO, DIFFERS);
        }
    }
}
