//! Which volume of a design a path is on, and which client each job runs on. Only jobs with files
//! on network volumes run on any.
//!
//! Pure.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::path::{Component, Path, PathBuf};

use plan::Diagnostic;
use volume::Design;
use volume::design::Backing;

use crate::bind::{BoundPlan, BoundWorker};

/// Returns the clients by the names of their jobs, whose workers they have in turn, and what stands
/// against the choice: a job that no client runs, and a client that runs no job.
pub(super) fn of_jobs(
    bound: &BoundPlan,
    design: &Design,
) -> (HashMap<String, Range<u16>>, Vec<Diagnostic>) {
    let mut by_job: HashMap<String, Range<u16>> = HashMap::new();
    let mut used = HashSet::new();
    let mut lost = HashSet::new();
    let mut findings = Vec::new();
    for worker in bound.workers() {
        let job = &worker.job.name;
        if lost.contains(job) || !is_remote(worker, design) {
            continue;
        }
        if let Some(clients) = by_job.get(job) {
            used.insert(of_worker(clients, worker.worker_idx));
        } else if let Some(clients) = design.clients_of(job) {
            used.insert(of_worker(&clients, worker.worker_idx));
            by_job.insert(job.clone(), clients);
        } else {
            lost.insert(job.clone());
            findings.push(on_no_client(job, design));
        }
    }
    let is_idle = |idx: usize| !used.contains(&(idx as u16));
    // In a plan without files on network volumes no client means anything.
    if !by_job.is_empty() {
        findings.extend(
            (0..design.clients.len()).filter(|&idx| is_idle(idx)).map(|idx| idle(design, idx)),
        );
    }
    (by_job, findings)
}

/// Returns the client that a worker of a job runs on, of those that the job has.
pub(super) fn of_worker(clients: &Range<u16>, worker_idx: u32) -> u16 {
    clients.start + (worker_idx % clients.len().max(1) as u32) as u16
}

fn is_remote(worker: &BoundWorker, design: &Design) -> bool {
    let of_files = worker.files.iter().filter_map(|file| volume_of(design, &file.path));
    let of_tree = anchor_of(worker).and_then(|anchor| volume_of(design, &anchor));
    let volumes = of_files.chain(of_tree);
    volumes.into_iter().any(|idx| matches!(design.volumes[idx].backing, Backing::Network(_)))
}

/// Returns the folder of a worker's tree.
pub(super) fn anchor_of(worker: &BoundWorker) -> Option<PathBuf> {
    let work = worker.job.tree.as_ref()?;
    Some(PathBuf::from(work.tree.of_worker(worker.worker_idx).anchor))
}

fn on_no_client(job: &str, design: &Design) -> Diagnostic {
    let names: Vec<_> = design.clients.iter().map(|client| format!("`{}`", client.name)).collect();
    let text = format!(
        "job `{job}` runs on no client of the design, whose clients {} all name their jobs",
        names.join(", ")
    );
    Diagnostic::error("job-on-no-client", text)
        .help("add it to the `jobs` of a [[client]], or leave `jobs` out of one: it runs the rest")
}

fn idle(design: &Design, idx: usize) -> Diagnostic {
    let client = &design.clients[idx];
    let has_fewer = client.n_following > 0
        || idx.checked_sub(1).is_some_and(|before| design.clients[before].n_following > 0);
    if has_fewer {
        let text = format!("client `{}` of the design has no worker of its job", client.name);
        return Diagnostic::note("client-without-job", text)
            .help("workers are spread over equal clients: give the job more, as `numjobs`");
    }
    if client.jobs.is_empty() {
        let text = format!("client `{}` of the design runs no job", client.name);
        return Diagnostic::note("client-without-job", text)
            .help("give it `jobs = [\"NAME\"]`: others run on the first client without `jobs`");
    }
    let names: Vec<_> = client.jobs.iter().map(|name| format!("`{name}`")).collect();
    let text = format!(
        "client `{}` of the design runs no job: no job on a network volume is named {}, or an \
         earlier client runs it",
        client.name,
        names.join(" or ")
    );
    Diagnostic::warning("client-without-job", text)
}

/// Returns the volume whose mount path is the longest that the path lies below.
pub(super) fn volume_of(design: &Design, path: &Path) -> Option<usize> {
    let path = whole_path(path);
    let mounts = design.volumes.iter().map(|volume| whole_path(Path::new(&volume.mount)));
    let fitting = mounts.enumerate().filter(|(_, mount)| path.starts_with(mount));
    fitting.max_by_key(|(_, mount)| mount.components().count()).map(|(idx, _)| idx)
}

/// Returns a path from the root on, without `.` and `..`. Links are not followed: the folders need
/// not exist.
pub fn whole_path(path: &Path) -> PathBuf {
    let mut whole = PathBuf::new();
    for part in std::path::absolute(path).unwrap_or_else(|_| path.to_owned()).components() {
        match part {
            Component::ParentDir => {
                whole.pop();
            }
            part => whole.push(part),
        }
    }
    whole
}
