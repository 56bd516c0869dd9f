//! How the jobs of a step stand while it runs, for whoever follows them.

use record::JobRecord;

use crate::cpu::HostLoad;

/// How the jobs of a step stand.
#[derive(Clone, Debug, Default)]
pub struct JobsSoFar {
    /// Step, from 0.
    pub step_idx: u32,
    /// Its workers as they would stand in the record if the step ended now, one each. CPU time,
    /// samples and failures of workers that still run are not known yet. Empty where the step has
    /// so many workers that to look at all of them every second would take too long.
    pub jobs: Vec<JobRecord>,
    /// Operations that each of them had in flight when the last ones completed; 0 of one that does
    /// not run.
    pub n_in_flight: Vec<u64>,
    /// How busy this host was since the call before; `None` where it is not known, and in virtual
    /// time.
    pub load: Option<HostLoad>,
}
