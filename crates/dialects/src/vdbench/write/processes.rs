//! Jobs that are one storage definition under several processes.

use plan::Job;

/// Returns the jobs of a step with those made one that do the same on the same files, as processes
/// of Vdbench do, and of how many the largest is made.
pub(super) fn joined(jobs: &[Job]) -> (Vec<Job>, usize) {
    let mut joined: Vec<(Job, usize)> = Vec::new();
    for job in jobs {
        match joined.iter_mut().find(|(other, _)| is_alike(other, job)) {
            Some((other, n_joined)) => {
                add(other, job);
                *n_joined += 1;
            }
            None => joined.push((job.clone(), 1)),
        }
    }
    let n_max = joined.iter().map(|(_, n_joined)| *n_joined).max().unwrap_or(1);
    (joined.into_iter().map(|(job, _)| job).collect(), n_max)
}

/// Returns whether two jobs differ in their threads and rates alone.
fn is_alike(job: &Job, other: &Job) -> bool {
    let names = |job: &Job| job.parts.iter().map(|part| part.name.clone()).collect::<Vec<_>>();
    !job.parts.is_empty()
        && job.tree.is_none()
        && base(&job.name) == base(&other.name)
        && job.files == other.files
        && names(job) == names(other)
}

/// Returns a name without the process behind it: `sd1` of `sd1/localhost-2`.
pub(super) fn base(name: &str) -> &str {
    name.split_once('/').map_or(name, |(base, _)| base)
}

fn add(job: &mut Job, other: &Job) {
    job.name = base(&job.name).to_owned();
    let sum = |own: Option<f64>, more: Option<f64>| own.zip(more).map(|(own, more)| own + more);
    if job.issues_one_at_a_time() {
        job.n_workers = job.n_workers.saturating_add(other.n_workers);
    } else {
        job.load.queue_depth = job.load.queue_depth.saturating_add(other.load.queue_depth);
    }
    job.load.rate_total_iops = sum(job.load.rate_total_iops, other.load.rate_total_iops);
    for (part, more) in job.parts.iter_mut().zip(&other.parts) {
        part.weight += more.weight;
        part.rate_iops = sum(part.rate_iops, more.rate_iops);
    }
}
