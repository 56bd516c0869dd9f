//! The seed of a run, where the run has one and not each of its jobs: of Vdbench's files, and with
//! `--seed`.

use std::hash::{BuildHasher, Hasher, RandomState};

use plan::Plan;

/// The option that a record has the seed in, by fio's name.
const OPTION: &str = "randseed";

/// Draws a seed that differs from run to run: 32 bits, so that it can be typed.
pub(super) fn drawn() -> u64 {
    RandomState::new().build_hasher().finish() >> 32
}

/// Draws now what each run of a job would draw: hosts that do a load together have the same
/// sequence.
pub(super) fn fix(plan: &mut Plan) {
    for job in plan.jobs_mut().filter(|job| job.workload.seed_varies) {
        job.workload.seed = drawn();
        job.workload.seed_varies = false;
    }
}

/// Lets everything in a plan be drawn from a seed, which the record of its run shows among the
/// options of each job.
pub(super) fn set(plan: &mut Plan, seed: u64) {
    for job in plan.jobs_mut() {
        job.workload.seed = seed;
        job.workload.seed_varies = false;
        job.options.retain(|(name, _)| name != OPTION);
        job.options.push((OPTION.to_owned(), seed.to_string()));
    }
}
