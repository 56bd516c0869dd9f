//! Trees of files in a step: finds out what is there, gives it to the workers, and writes down in
//! the end what they left.
//!
//! Only what bears the names of the tree is touched, and only below an anchor whose control file
//! says that it was made for it, or that holds nothing by such names.

mod anchor;
mod control;
mod remove;
mod scan;
mod words;

pub(crate) use words::{failure_text, path_of};

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

use engine::tree::{Anchored, TreeAccess};
use engine::{Arena, Engine, EngineError};
use pattern::tree::InUse;
use plan::Job;
use plan::op::OpKind;
use plan::tree::{Activity, TreeSpec, TreeWork};
use record::NoteSeverity;
use worker::TreeJob;

use self::anchor::{Anchor, Purpose, refused};
use crate::bind::{BoundStep, BoundWorker};
use crate::control::Stop;
use crate::prepare::SetupError;
use crate::run::RunEvent;
use crate::step::StepContext;

/// The trees of a step.
#[derive(Default)]
pub(crate) struct StepTrees {
    /// By path.
    anchors: BTreeMap<PathBuf, Anchor>,
    /// By address of the job, which lives as long as the step.
    jobs: HashMap<usize, Result<TreeSeat, SetupError>>,
}

/// What the workers of a job need to work on its trees.
#[derive(Clone, Debug)]
pub(crate) struct TreeSeat {
    pub(crate) shared: Arc<TreeJob>,
    anchor: PathBuf,
    second: Option<PathBuf>,
}

impl StepTrees {
    /// Prepares the trees of a step.
    pub(crate) fn prepare(context: &StepContext<'_>, step: &BoundStep) -> Self {
        let mut trees = StepTrees::default();
        let purposes = purposes(step);
        let is_stopped = || context.control.stop() != Stop::No;
        for worker in &step.workers {
            let Some(work) = &worker.job.tree else { continue };
            let key = key(worker);
            if !trees.jobs.contains_key(&key) {
                let seat = trees.seat(work, &worker.job, &purposes, &is_stopped);
                trees.jobs.insert(key, seat);
            }
        }
        trees
    }

    fn seat(
        &mut self,
        work: &TreeWork,
        job: &Job,
        purposes: &BTreeMap<String, Purpose>,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<TreeSeat, SetupError> {
        let anchor = self.anchor(&work.tree, purposes, is_stopped)?;
        let second = match &work.target {
            Some(target) => Some(self.anchor(target, purposes, is_stopped)?),
            None => None,
        };
        let needs_target =
            |task: &plan::tree::TreeTask| matches!(task.operation, OpKind::Copy | OpKind::Move);
        if let Activity::Operations(tasks) = &work.activity
            && tasks.iter().any(needs_target)
            && second.as_ref().is_none_or(|second| *second == anchor)
        {
            let message =
                format!("job `{}` copies or moves files, but not to another tree", job.name);
            return Err(refused(libc::EINVAL, message));
        }
        let state = |path: &PathBuf| self.anchors.get(path).map(|it| Arc::clone(&it.state));
        let Some(of_first) = state(&anchor) else {
            return Err(refused(libc::EINVAL, "the anchor is lost".to_owned()));
        };
        let of_second = second.as_ref().and_then(state);
        let in_use = InUse::new(of_first.tree(), &work.tree)
            .map_err(|error| refused(libc::EINVAL, error.to_string()))?;
        let of_first = (of_first, in_use);
        let shared = TreeJob::new(work.clone(), of_first, of_second, job.workload.seed);
        Ok(TreeSeat { shared: Arc::new(shared), anchor, second })
    }

    /// Opens an anchor, or finds the one that another job has opened.
    fn anchor(
        &mut self,
        spec: &TreeSpec,
        purposes: &BTreeMap<String, Purpose>,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<PathBuf, SetupError> {
        let whole = std::fs::canonicalize(&spec.anchor).unwrap_or_default();
        if let Some(known) = self.anchors.get(&whole) {
            if control::structure_of(spec) != control::structure_of(&known.spec) {
                let message = format!(
                    "trees `{}` and `{}` differ, but have the same anchor `{}`",
                    known.spec.name, spec.name, spec.anchor
                );
                return Err(refused(libc::EINVAL, message));
            }
            return Ok(whole);
        }
        let purpose = purposes.get(&spec.anchor).copied().unwrap_or_default();
        let anchor = Anchor::open(spec, purpose, is_stopped)?;
        let path = anchor.path.clone();
        self.anchors.insert(path.clone(), anchor);
        Ok(path)
    }

    /// Returns what a worker needs if its job is on a tree, or why it cannot start.
    pub(crate) fn seat_of(&self, worker: &BoundWorker) -> (Option<TreeSeat>, Option<SetupError>) {
        match self.jobs.get(&key(worker)) {
            Some(Ok(seat)) => (Some(seat.clone()), None),
            Some(Err(error)) => (None, Some(error.clone())),
            None => (None, None),
        }
    }

    /// Tells what is there.
    pub(crate) fn tell(&self, is_start: bool, on_event: &mut dyn FnMut(RunEvent<'_>)) {
        for anchor in self.anchors.values() {
            let (_, n_files, n_folders) = anchor.state.counts();
            let size_bytes = anchor.state.full_bytes();
            let incomplete = anchor.incomplete.as_deref().filter(|_| is_start);
            let (n_opened, opened_bytes) = if is_start { (0, 0) } else { anchor.state.opened() };
            let anchor = anchor.spec.anchor.as_str();
            on_event(RunEvent::Tree {
                anchor,
                n_files,
                n_folders,
                size_bytes,
                n_opened,
                opened_bytes,
                is_start,
                incomplete,
            });
        }
    }

    /// Writes down what is there. Returns notes for the record.
    pub(crate) fn close(&self) -> Vec<(NoteSeverity, &'static str, String)> {
        let incomplete = self.anchors.values().filter_map(|anchor| anchor.incomplete.clone());
        let incomplete =
            incomplete.map(|text| (NoteSeverity::Warning, crate::TREE_INCOMPLETE, text));
        let remarks = self.anchors.values().flat_map(Anchor::close);
        let remarks = remarks.map(|text| (NoteSeverity::Warning, "tree", text));
        incomplete.chain(remarks).collect()
    }
}

fn key(worker: &BoundWorker) -> usize {
    Arc::as_ptr(&worker.job) as usize
}

/// Returns what all jobs of a step together do in each anchor.
fn purposes(step: &BoundStep) -> BTreeMap<String, Purpose> {
    let mut purposes: BTreeMap<String, Purpose> = BTreeMap::new();
    for work in step.workers.iter().filter_map(|worker| worker.job.tree.as_ref()) {
        let of_work = Purpose::of(work);
        let entry = purposes.entry(work.tree.anchor.clone()).or_default();
        *entry = entry.and(of_work);
        if let Some(target) = &work.target {
            let entry = purposes.entry(target.anchor.clone()).or_default();
            *entry = entry.and(Purpose { modifies: true, ..Purpose::default() });
        }
    }
    purposes
}

impl TreeSeat {
    /// Builds the engine of one worker.
    pub(crate) fn engine(&self, arena: Arena) -> Result<Box<dyn Engine>, EngineError> {
        let open = |path: &PathBuf, state: &Arc<worker::TreeState>| {
            Anchored::open(state.tree().clone(), path)
        };
        let first = open(&self.anchor, self.shared.state())?;
        let second = match (&self.second, self.shared.second()) {
            (Some(path), Some(state)) => Some(open(path, state)?),
            _ => None,
        };
        engine::tree::on_tree(
            first,
            second,
            access(self.shared.work()),
            plan::tree::ENGINE_NAME,
            arena,
        )
    }
}

/// Returns how the files of a job are opened: for what its tasks do with them.
fn access(work: &TreeWork) -> TreeAccess {
    let (read, write) = match &work.activity {
        Activity::Format(_) => (false, true),
        Activity::Operations(tasks) => {
            let mixed = |task: &plan::tree::TreeTask| task.read_pct.is_some_and(|pct| pct > 0.0);
            let writes = |task: &plan::tree::TreeTask| {
                task.moves_bytes() && task.modifies() || task.operation == OpKind::Write
            };
            let write = tasks.iter().any(writes);
            let read = tasks.iter().any(|task| task.operation != OpKind::Write || mixed(task));
            (read, write)
        }
    };
    TreeAccess { read, write, open: work.open, copy_bytes: work.block_size_max() }
}
