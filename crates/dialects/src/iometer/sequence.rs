//! The runs of a configuration, in the order of the tool.

use std::sync::Arc;

use super::config::{Config, Manager, Steps, TestType, Worker};

/// A run: for a time, workers do what one of their access specifications says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// Which of their specifications the workers have, from 0. A worker with fewer of them idles.
    pub spec_idx: usize,
    /// Outstanding I/Os per target and worker, where they are turned up.
    pub queue_depth: Option<u32>,
    /// The workers that take part, in the order of the file.
    pub workers: Arc<[ActiveWorker]>,
}

/// A worker that takes part in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ActiveWorker {
    /// Its manager, from 0.
    pub manager_idx: usize,
    /// Which of the manager's workers it is, from 0.
    pub worker_idx: usize,
    /// It has the first so many of its targets, 1 or more.
    pub n_targets: usize,
}

/// Lists the runs: for each position in the sequence of specifications what the test type turns up.
pub fn runs(config: &Config) -> impl Iterator<Item = Run> + '_ {
    let workers = config.managers.iter().flat_map(|manager| &manager.workers);
    let n_specs = workers.map(|worker| worker.specs.len()).max().unwrap_or(0);
    (0..n_specs).flat_map(move |spec_idx| {
        rounds(config).into_iter().map(move |(queue_depth, workers)| Run {
            spec_idx,
            queue_depth,
            workers,
        })
    })
}

/// A run with its jobs, of which there is at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeasuredRun {
    /// Outstanding I/Os per target and worker, where they are turned up.
    pub queue_depth: Option<u32>,
    /// A job for each target of each worker that has I/O to do.
    pub jobs: Vec<JobOfRun>,
}

/// What a worker does to one of its targets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobOfRun {
    /// The worker's manager, from 0.
    pub manager_idx: usize,
    /// Which of the manager's workers it is, from 0.
    pub worker_idx: usize,
    /// Which of its targets, from 0.
    pub target_idx: usize,
    /// The access specification.
    pub spec: String,
}

/// Lists the runs in which something is done, with the jobs of each: those of the access
/// specifications that are wanted, where some are named.
pub fn measured<'a>(
    config: &'a Config,
    wanted: &'a [String],
) -> impl Iterator<Item = MeasuredRun> + 'a {
    let of = move |run: Run| {
        let mut jobs = Vec::new();
        for &ActiveWorker { manager_idx, worker_idx, n_targets } in run.workers.iter() {
            let worker = &config.managers[manager_idx].workers[worker_idx];
            let spec = worker.specs.get(run.spec_idx).map(|(name, _)| name);
            let has_work = |name: &&String| {
                let is_wanted = wanted.is_empty() || wanted.contains(name);
                let has_lines = || config.spec(name).is_some_and(|spec| !spec.lines.is_empty());
                is_wanted && !worker.is_of_network && has_lines()
            };
            let Some(spec) = spec.filter(has_work) else { continue };
            jobs.extend((0..n_targets).map(|target_idx| JobOfRun {
                manager_idx,
                worker_idx,
                target_idx,
                spec: spec.clone(),
            }));
        }
        (!jobs.is_empty()).then_some(MeasuredRun { queue_depth: run.queue_depth, jobs })
    };
    runs(config).filter_map(of)
}

/// Outstanding I/Os, where they are turned up, and workers with their numbers of targets.
type Round = (Option<u32>, Arc<[ActiveWorker]>);

/// Lists what the test type does with each specification.
fn rounds(config: &Config) -> Vec<Round> {
    let Config { test, managers, .. } = config;
    let everything = || active(managers, usize::MAX, usize::MAX);
    let of_targets = |n_workers: usize| grown(test.targets, |n| active(managers, n_workers, n));
    let of_workers = || grown(test.workers, |n| active(managers, n, usize::MAX));
    let groups: Vec<Arc<[ActiveWorker]>> = match test.test_type {
        TestType::Normal | TestType::CycleQueueDepths => vec![everything()],
        TestType::CycleTargets | TestType::CycleQueueDepthsAndTargets => of_targets(usize::MAX),
        TestType::CycleWorkers => of_workers(),
        TestType::CycleWorkersAndTargets => {
            // The largest of the workers that take part stands for their number.
            let last = |group: &Arc<[ActiveWorker]>| group.iter().map(|it| it.worker_idx).max();
            let numbers = of_workers().into_iter().filter_map(|group| last(&group));
            numbers.flat_map(|last_idx| of_targets(last_idx + 1)).collect()
        }
        TestType::IncrementTargetsParallel => grown(test.targets, |n| filled(managers, |_| n)),
        TestType::IncrementTargetsSerial => grown(test.targets, |n| {
            let mut left = n;
            filled(managers, |manager| {
                let own = n_targets(manager).min(left);
                left -= own;
                own
            })
        }),
    };
    match test.test_type {
        TestType::CycleQueueDepths | TestType::CycleQueueDepthsAndTargets => {
            let with_depths = |group: Arc<[ActiveWorker]>| {
                depths(test.queue_depths).map(move |depth| (Some(depth), group.clone()))
            };
            groups.into_iter().flat_map(with_depths).collect()
        }
        TestType::Normal
        | TestType::CycleTargets
        | TestType::CycleWorkers
        | TestType::CycleWorkersAndTargets
        | TestType::IncrementTargetsParallel
        | TestType::IncrementTargetsSerial => {
            groups.into_iter().map(|group| (None, group)).collect()
        }
    }
}

fn depths(steps: Steps) -> impl Iterator<Item = u32> {
    let within = move |depth: &u32| *depth <= steps.end;
    std::iter::successors(Some(steps.start), move |depth| steps.after(*depth)).take_while(within)
}

/// Returns what is active with each of these numbers of something, until it grows no more.
fn grown(
    steps: Steps,
    mut of: impl FnMut(usize) -> Arc<[ActiveWorker]>,
) -> Vec<Arc<[ActiveWorker]>> {
    let mut groups: Vec<Arc<[ActiveWorker]>> = Vec::new();
    let mut number = Some(steps.start);
    while let Some(n) = number {
        let group = of(n as usize);
        if groups.last() == Some(&group) {
            break;
        }
        groups.push(group);
        number = steps.after(n);
    }
    groups
}

/// Returns the first workers of each manager, with the first of their targets.
fn active(managers: &[Manager], n_workers: usize, n_targets: usize) -> Arc<[ActiveWorker]> {
    let of_manager = |(manager_idx, manager): (usize, &Manager)| {
        let own = manager.workers.iter().take(n_workers).enumerate();
        let own = own.map(move |(worker_idx, worker)| ActiveWorker {
            manager_idx,
            worker_idx,
            n_targets: worker.targets.len().min(n_targets),
        });
        own.collect::<Vec<_>>()
    };
    managers.iter().enumerate().flat_map(of_manager).filter(|it| it.n_targets > 0).collect()
}

/// Fills so many targets of each manager, worker by worker.
fn filled(
    managers: &[Manager],
    mut n_targets: impl FnMut(&Manager) -> usize,
) -> Arc<[ActiveWorker]> {
    let mut all = Vec::new();
    for (manager_idx, manager) in managers.iter().enumerate() {
        let mut left = n_targets(manager);
        for (worker_idx, worker) in manager.workers.iter().enumerate() {
            let n_targets = worker.targets.len().min(left);
            left -= n_targets;
            if n_targets > 0 {
                all.push(ActiveWorker { manager_idx, worker_idx, n_targets });
            }
        }
    }
    all.into()
}

fn n_targets(manager: &Manager) -> usize {
    manager.workers.iter().map(|worker: &Worker| worker.targets.len()).sum()
}
