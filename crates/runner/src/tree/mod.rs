//! Trees of files in a step: finds out what is there, gives it to the workers, and writes down in
//! the end what they left.
//!
//! Only what bears the names of the tree is touched, and only below an anchor whose control file
//! says that it was made for it, or that holds nothing by such names.

mod anchor;
mod control;
mod made;
mod previous;
mod refusal;
mod scan;
mod words;

pub(crate) use anchor::among_devices;
pub(crate) use made::Formats;
pub(crate) use words::{failure_text, path_of, stuck_text};

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

use engine::tree::{Anchored, TreeAccess};
use engine::{Arena, Engine, EngineError};
use pattern::tree::{InUse, Tree, TreeError};
use plan::Job;
use plan::op::OpKind;
use plan::tree::{Activity, Before, TreeSpec, TreeWork};
use record::NoteSeverity;
use worker::{TreeJob, TreeState};

use self::anchor::{Anchor, Purpose};
use self::refusal::refused;
use crate::bind::{BoundStep, BoundWorker};
use crate::control::Control;
use crate::event::{RunEvent, TREE_INCOMPLETE, TreePart};
use crate::setup_error::SetupError;

/// The trees of a step.
#[derive(Default)]
pub(crate) struct StepTrees {
    /// By path.
    anchors: BTreeMap<PathBuf, Anchor>,
    /// By job and tree of it; see [`key`].
    jobs: HashMap<(usize, u32), Result<TreeSeat, SetupError>>,
}

/// The states of trees on emulated volumes, by anchor: they last from step to step.
pub(crate) type EmulatedTrees = HashMap<String, Arc<TreeState>>;

/// What the workers of a job need to work on its trees.
#[derive(Clone, Debug)]
pub(crate) struct TreeSeat {
    pub(crate) shared: Arc<TreeJob>,
    anchor: PathBuf,
    second: Option<PathBuf>,
}

impl StepTrees {
    /// Prepares the trees of a step; not all of them once the run is to end.
    pub(crate) fn prepare(step: &BoundStep, control: &Control) -> Self {
        let mut trees = StepTrees::default();
        let purposes = purposes(step);
        for worker in &step.workers {
            let Some(work) = &worker.job.tree else { continue };
            let key = key(worker, work);
            if !trees.jobs.contains_key(&key) {
                let work = work.of_worker(worker.worker_idx);
                let seat = trees.seat(&work, &worker.job, &purposes, control);
                trees.jobs.insert(key, seat);
            }
        }
        trees.look_for_room();
        trees
    }

    /// Prepares the trees of a step on emulated volumes: there is nothing of them but their states.
    pub(crate) fn emulated(step: &BoundStep, states: &mut EmulatedTrees) -> Self {
        let mut trees = StepTrees::default();
        for worker in &step.workers {
            let Some(work) = &worker.job.tree else { continue };
            trees.jobs.entry(key(worker, work)).or_insert_with(|| {
                let work = work.of_worker(worker.worker_idx);
                emulated_seat(work, worker.job.workload.seed, states)
            });
        }
        trees
    }

    fn seat(
        &mut self,
        work: &TreeWork,
        job: &Job,
        purposes: &BTreeMap<String, Purpose>,
        control: &Control,
    ) -> Result<TreeSeat, SetupError> {
        let of_all = job.tree.iter().flat_map(|work| [Some(&work.tree), work.target.as_ref()]);
        for spec in of_all.flatten().filter(|spec| spec.own.is_some() && work.modifies()) {
            anchor::make_for_own(spec)?;
        }
        let anchor = self.anchor(&work.tree, purposes, control)?;
        if matches!(work.activity, Activity::Format(_)) {
            return self.seat_of_format(work, job, anchor);
        }
        let second = match &work.target {
            Some(target) => Some(self.anchor(target, purposes, control)?),
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
        let of_first = self.in_use(&anchor, &work.tree)?;
        let of_second = second.as_ref().and_then(state);
        let shared = TreeJob::new(work.clone(), of_first, of_second, job.workload.seed);
        Ok(TreeSeat { shared: Arc::new(shared), anchor, second })
    }

    /// Returns the seat of a job that makes, completes or removes a tree. What lies there of
    /// another structure is its second tree, at the same anchor.
    fn seat_of_format(
        &self,
        work: &TreeWork,
        job: &Job,
        anchor: PathBuf,
    ) -> Result<TreeSeat, SetupError> {
        if self.by_anchor().contains_key(&anchor) {
            let message = format!(
                "job `{}` formats the anchor `{}`, as another job of the same step does: one is \
                 enough",
                job.name, work.tree.anchor
            );
            return Err(refused(libc::EBUSY, message));
        }
        let of_first = self.in_use(&anchor, &work.tree)?;
        let former = self.anchors.get(&anchor).and_then(Anchor::former);
        let target = former.map(|former| former.spec.clone());
        let work = TreeWork { target, ..work.clone() };
        let second = former.map(|_| anchor.clone());
        let of_second = former.map(|former| Arc::clone(&former.state));
        let shared = TreeJob::new(work, of_first, of_second, job.workload.seed);
        Ok(TreeSeat { shared: Arc::new(shared), anchor, second })
    }

    /// Returns the state of the tree at an anchor, and which files of it are in use.
    fn in_use(
        &self,
        anchor: &PathBuf,
        spec: &TreeSpec,
    ) -> Result<(Arc<TreeState>, InUse), SetupError> {
        let Some(anchor) = self.anchors.get(anchor) else {
            return Err(refused(libc::EINVAL, "the anchor is lost".to_owned()));
        };
        let in_use = InUse::new(anchor.state.tree(), spec)
            .map_err(|error| refused(libc::EINVAL, error.to_string()))?;
        Ok((Arc::clone(&anchor.state), in_use))
    }

    /// Opens an anchor, or finds the one that another job has opened.
    fn anchor(
        &mut self,
        spec: &TreeSpec,
        purposes: &BTreeMap<String, Purpose>,
        control: &Control,
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
        let anchor = Anchor::open(spec, purpose, control)?;
        let path = anchor.path.clone();
        self.anchors.insert(path.clone(), anchor);
        Ok(path)
    }

    /// Returns what a worker needs if its job is on a tree, or why it cannot start.
    pub(crate) fn seat_of(&self, worker: &BoundWorker) -> (Option<TreeSeat>, Option<SetupError>) {
        let Some(work) = &worker.job.tree else { return (None, None) };
        match self.jobs.get(&key(worker, work)) {
            Some(Ok(seat)) => (Some(seat.clone()), None),
            Some(Err(error)) => (None, Some(error.clone())),
            None => (None, None),
        }
    }

    /// Reports what is there.
    pub(crate) fn report(&self, is_start: bool, on_event: &mut dyn FnMut(RunEvent<'_>)) {
        for anchor in self.anchors.values() {
            if is_start && anchor.is_new {
                let (anchor, part) = (anchor.spec.anchor.as_str(), TreePart::Anchor);
                on_event(RunEvent::TreeMade { anchor, part });
            }
            let former = anchor.former();
            let lies_there = former.map_or(&anchor.state, |former| &former.state);
            let (n_there, n_files, n_folders) = lies_there.counts();
            let size_bytes = lies_there.full_bytes();
            if is_start && former.is_some() {
                let anchor = anchor.spec.anchor.as_str();
                on_event(RunEvent::OtherTree { anchor, n_files: n_there, n_folders });
            }
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
        let incomplete = incomplete.map(|text| (NoteSeverity::Warning, TREE_INCOMPLETE, text));
        let remarks = self.anchors.values().flat_map(Anchor::close);
        let remarks = remarks.map(|text| (NoteSeverity::Warning, "tree", text));
        incomplete.chain(remarks).collect()
    }
}

/// Returns what workers on the same tree for the same job have in common: the address of the job,
/// which lives as long as the step, and where each worker has a tree of its own its number.
fn key(worker: &BoundWorker, work: &TreeWork) -> (usize, u32) {
    let tree_idx = if work.tree.own.is_some() { worker.worker_idx } else { 0 };
    (Arc::as_ptr(&worker.job) as usize, tree_idx)
}

/// Returns the seat of a job on an emulated volume.
fn emulated_seat(
    work: TreeWork,
    seed: u64,
    states: &mut EmulatedTrees,
) -> Result<TreeSeat, SetupError> {
    let invalid = |error: TreeError| refused(libc::EINVAL, error.to_string());
    let anchor = work.tree.anchor.clone();
    let state = match states.get(&anchor) {
        Some(state) => Arc::clone(state),
        None => Arc::new(TreeState::new(Tree::new(&work.tree).map_err(invalid)?)),
    };
    states.insert(anchor.clone(), Arc::clone(&state));
    let in_use = InUse::new(state.tree(), &work.tree).map_err(invalid)?;
    let shared = TreeJob::new(work, (state, in_use), None, seed);
    Ok(TreeSeat { shared: Arc::new(shared), anchor: PathBuf::from(anchor), second: None })
}

/// Returns what all jobs of a step together do in each anchor.
fn purposes(step: &BoundStep) -> BTreeMap<String, Purpose> {
    let mut purposes: BTreeMap<String, Purpose> = BTreeMap::new();
    let work_of =
        |worker: &BoundWorker| Some(worker.job.tree.as_ref()?.of_worker(worker.worker_idx));
    for work in step.workers.iter().filter_map(work_of) {
        let of_work = Purpose::of(&work);
        let entry = purposes.entry(work.tree.anchor.clone()).or_default();
        *entry = entry.and(of_work);
        if let Some(target) = &work.target {
            let entry = purposes.entry(target.anchor.clone()).or_default();
            *entry = entry.and(Purpose { modifies: true, operates: true, ..Purpose::default() });
        }
    }
    purposes
}

impl TreeSeat {
    /// Returns what the job does; of a format, the target is what it removes first, if that is
    /// another structure.
    pub(crate) fn work(&self) -> &TreeWork {
        self.shared.work()
    }

    /// Builds the engine of one worker.
    pub(crate) fn engine(&self, arena: Arena) -> Result<Box<dyn Engine>, EngineError> {
        let open =
            |path: &PathBuf, state: &Arc<TreeState>| Anchored::open(state.tree().clone(), path);
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
            let reads = |task: &plan::tree::TreeTask| match task.before {
                Before::Nothing | Before::CutsEnd => {
                    !matches!(task.operation, OpKind::Write | OpKind::Truncate) || mixed(task)
                }
                Before::ReadsPlace | Before::ReadsOther => true,
            };
            let read = tasks.iter().any(reads);
            (read, write)
        }
    };
    TreeAccess { read, write, open: work.open, copy_bytes: work.block_size_max() }
}
