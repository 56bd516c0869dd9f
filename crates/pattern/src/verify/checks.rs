//! Which checks a job's workload allows.

use plan::Job;
use plan::files::Size;

/// What is checked besides the contents, the place and the header itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checks {
    /// The seed in the header, which names the write.
    pub header_seed: bool,
    /// The number of the write, where the job knows it.
    pub write_sequence: bool,
    /// Blocks are trimmed after they were written, and then checked.
    pub trims: bool,
    /// Trimmed blocks must read as zeros.
    pub trimmed_is_zero: bool,
    /// A later write may replace an earlier one, so the [`WriteLog`](super::WriteLog) must look
    /// for overlaps.
    pub may_overwrite: bool,
}

/// Decides what is checked for a job: fio's rules, which scripts rely on.
///
/// The seed is not checked, unless asked for, when the job does not write, when blocks are read
/// back while it writes, when it may write a block twice, and when it only verifies. The number is
/// checked only for jobs that write blocks of one size and do not repeat for a time; and then not,
/// unless asked for, when writes in flight may overtake each other, and when it only verifies.
pub fn effective_checks(job: &Job) -> Checks {
    let (verify, workload) = (&job.verify, &job.workload);
    let writes = workload.access.write;
    let overlap_risk = has_overlap_risk(job);

    let seed_by_default = writes && verify.backlog == 0 && !overlap_risk && !verify.verify_only;
    let may_overtake =
        !workload.no_repeats && !job.issues_one_at_a_time() && job.load.queue_depth > 1;
    let sequence_by_default =
        !(may_overtake || verify.verify_only || verify.regenerate && overlap_risk);
    let sequence_known =
        writes && job.block_size_min() == job.block_size_max() && !job.limits.time_based;

    Checks {
        header_seed: verify.check_header_seed.unwrap_or(seed_by_default),
        write_sequence: sequence_known
            && verify.check_write_sequence.unwrap_or(sequence_by_default),
        trims: verify.method.is_some() && workload.trim_backlog > 0 && workload.trim_pct > 0,
        trimmed_is_zero: verify.trimmed_is_zero,
        may_overwrite: overlap_risk || may_overwrite_otherwise(job),
    }
}

/// fio's rule for blocks that may be written twice in one pass.
fn has_overlap_risk(job: &Job) -> bool {
    let workload = &job.workload;
    let exceeds_size = match (job.files.io_size, job.files.size) {
        (None, _) => false,
        (Some(Size::Bytes(io_size)), Some(Size::Bytes(size)))
        | (Some(Size::Zones(io_size)), Some(Size::Zones(size))) => io_size > size,
        (Some(Size::Percent(io_size)), Some(Size::Percent(size))) => io_size > size,
        (Some(_), _) => true,
    };
    !workload.no_repeats
        || workload.sequential_step_bytes != 0
        || workload.ios_per_draw > 1
        || exceeds_size
}

/// What else makes a worker write a block twice. fio does not look for it, and reports good blocks
/// as bad for some of these jobs.
fn may_overwrite_otherwise(job: &Job) -> bool {
    let workload = &job.workload;
    let aligned_below_size = workload
        .block_align
        .write
        .is_some_and(|align| workload.access.random && align < workload.block_size.write.max());
    job.limits.time_based
        || job.limits.loops > 1
        || workload.block_unaligned
        || aligned_below_size
        || job.files.file_size_bytes.is_some()
}
