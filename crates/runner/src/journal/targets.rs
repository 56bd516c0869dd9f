//! The targets of a run that a journal is kept of, and what cannot be validated. Pure, except that
//! links are followed.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use pattern::journal::{FRAME_BYTES_MAX, Header, SECTOR_BYTES, TARGETS_MAX, Target};
use pattern::tree::Tree;
use plan::op::OpKind;
use plan::tree::{Activity, TreeSpec, TreeTask, TreeWork};
use plan::{Diagnostic, EngineWork, Job};

use crate::bind::{BoundPlan, BoundWorker};
use crate::findings::Findings;
use crate::options::{ExistingJournal, RunOptions};
use crate::read_only::real_path;

use super::replayed::header;

/// Targets, and their numbers by the path that jobs name.
#[derive(Debug, Default)]
pub(crate) struct Targets {
    /// By number.
    pub(crate) all: Vec<Target>,
    numbers: HashMap<PathBuf, u32>,
    /// Files of a tree that are more than a journal has; it has none of them then.
    n_too_many: Option<u64>,
}

/// What workers do to a file.
#[derive(Debug, Default)]
struct Found {
    /// Bytes that all I/Os are multiples of, in length and place.
    block_bytes: u64,
    /// Where they end.
    end: u64,
    is_of_tree: bool,
}

impl Found {
    fn has(&mut self, unit: u64) {
        self.block_bytes = units::gcd(self.block_bytes, unit);
    }
}

/// Adds the files of a tree, in units of which its I/Os are multiples. Returns their number where
/// they are too many.
fn of_tree(spec: &TreeSpec, unit: u64, found: &mut BTreeMap<PathBuf, Found>) -> Option<u64> {
    // Nothing is read or written, or what is wrong with it is said elsewhere.
    let tree = Tree::new(spec).ok().filter(|_| unit > 0)?;
    if u64::from(tree.n_files()) + found.len() as u64 > TARGETS_MAX as u64 {
        return Some(tree.n_files().into());
    }
    for (file, path) in (0..).zip(paths_of(spec, &tree)) {
        let size_bytes = tree.size_bytes(file);
        if size_bytes > 0 {
            let found = found.entry(path).or_default();
            found.has(units::gcd(unit, size_bytes));
            found.end = found.end.max(size_bytes);
            found.is_of_tree = true;
        }
    }
    None
}

/// Iterates over the paths of a tree's files, by their numbers.
fn paths_of<'a>(spec: &TreeSpec, tree: &'a Tree) -> impl Iterator<Item = PathBuf> + use<'a> {
    let anchor = real_path(Path::new(&spec.anchor));
    (0..tree.n_files()).map(move |file| {
        let mut name = Vec::new();
        tree.push_file_path(file, &mut name);
        anchor.join(OsStr::from_bytes(&name))
    })
}

/// Returns a tree without what says only which of its files are worked on.
fn structure(spec: &TreeSpec) -> TreeSpec {
    TreeSpec {
        name: String::new(),
        create_parents: false,
        used_files: 0,
        total_bytes: 0,
        working_set_bytes: 0,
        share: (0, 1),
        own: None,
        ..spec.clone()
    }
}

/// Returns the largest number of bytes that all I/Os on files of a tree are multiples of, but for
/// those that files end within; 0 where there are none.
fn tree_unit(work: &TreeWork) -> u64 {
    match &work.activity {
        Activity::Format(format) if format.create && !format.folders_only => {
            u64::from(format.block_bytes)
        }
        Activity::Format(_) => 0,
        Activity::Operations(tasks) => {
            let of_tasks = tasks.iter().filter(|task| task.moves_bytes());
            let sizes = of_tasks.flat_map(|task| sizes_of(&task.block_size));
            sizes.fold(0, |unit, size| units::gcd(unit, u64::from(size)))
        }
    }
}

impl Targets {
    /// Collects the targets of a plan. A block is as long as the smallest I/O, so that each is
    /// written as a whole.
    pub(crate) fn of(bound: &BoundPlan) -> Self {
        let mut found: BTreeMap<PathBuf, Found> = BTreeMap::new();
        let mut real_paths: HashMap<PathBuf, PathBuf> = HashMap::new();
        let mut trees: Vec<(TreeSpec, u64)> = Vec::new();
        for worker in bound.workers() {
            if let Some(work) = &worker.job.tree {
                let tree = (structure(&work.tree.of_worker(worker.worker_idx)), tree_unit(work));
                if !trees.contains(&tree) {
                    trees.push(tree);
                }
            }
            let unit = unit_bytes(&worker.job);
            for file in &worker.files {
                let real = real_paths
                    .entry(file.path.clone())
                    .or_insert_with(|| real_path(&file.path))
                    .clone();
                let found = found.entry(real).or_default();
                found.has(units::gcd(unit, file.region.offset_bytes));
                found.end = found.end.max(file.needed_bytes()).max(file.size_bytes);
            }
        }
        let n_too_many = trees.iter().find_map(|(spec, unit)| of_tree(spec, *unit, &mut found));
        let mut targets = Targets { n_too_many, ..Targets::default() };
        for (path, Found { block_bytes, end, is_of_tree }) in found {
            targets.all.push(Target {
                is_of_tree,
                path: path.to_string_lossy().into_owned(),
                block_bytes: u32::try_from(block_bytes).unwrap_or(0),
                n_blocks: end.checked_div(block_bytes).unwrap_or(0),
            });
            targets.numbers.insert(path, targets.all.len() as u32 - 1);
        }
        for (named, real) in real_paths {
            if let Some(number) = targets.numbers.get(&real) {
                targets.numbers.insert(named, *number);
            }
        }
        targets
    }

    /// Gives targets the numbers that they have in an earlier journal, whose others stay.
    ///
    /// # Errors
    /// Which one is not there, or differs in its blocks or, where `is_same` asks for it, in its
    /// size.
    pub(crate) fn follow(&mut self, earlier: &[Target], is_same: bool) -> Result<(), Mismatch> {
        let mut all = earlier.to_vec();
        let mut numbers = Vec::with_capacity(self.all.len());
        for target in &self.all {
            let Some(number) = all.iter().position(|other| other.path == target.path) else {
                return Err(Mismatch::Unknown { target: target.clone() });
            };
            let other = &mut all[number];
            let mismatch = || (other.clone(), target.clone());
            if !target.block_bytes.is_multiple_of(other.block_bytes) {
                let (earlier, target) = mismatch();
                return Err(Mismatch::Blocks { earlier, target });
            }
            // Blocks stay as short as they were.
            let n_each = u64::from(target.block_bytes / other.block_bytes);
            if is_same && other.n_blocks / n_each != target.n_blocks {
                let (earlier, target) = mismatch();
                return Err(Mismatch::Size { earlier, target });
            }
            other.n_blocks = other.n_blocks.max(target.n_blocks * n_each);
            numbers.push(number as u32);
        }
        for number in self.numbers.values_mut() {
            *number = numbers.get(*number as usize).copied().unwrap_or(u32::MAX);
        }
        self.all = all;
        Ok(())
    }

    /// Returns the numbers of a worker's files, in order.
    pub(crate) fn of_worker(&self, worker: &BoundWorker) -> Vec<u32> {
        let number = |path: &Path| self.numbers.get(path).copied().unwrap_or(u32::MAX);
        if let Some(work) = &worker.job.tree {
            let spec = work.tree.of_worker(worker.worker_idx);
            let has_any = self.all.iter().any(|target| target.is_of_tree);
            let tree = Tree::new(&spec).ok().filter(|_| has_any);
            let of_tree = |tree: &Tree| paths_of(&spec, tree).map(|path| number(&path)).collect();
            return tree.as_ref().map(of_tree).unwrap_or_default();
        }
        worker.files.iter().map(|file| number(&file.path)).collect()
    }
}

/// Why a run cannot go on with a journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Mismatch {
    /// It is not of a target of the run.
    Unknown { target: Target },
    /// A target has blocks there that those of the run are no multiple of.
    Blocks { earlier: Target, target: Target },
    /// A target has another size there.
    Size { earlier: Target, target: Target },
}

impl Mismatch {
    /// Says so of a journal whose targets these are.
    pub(crate) fn finding(&self, journal: &Path, earlier: &[Target]) -> Diagnostic {
        let journal = journal.display();
        let size = |it: &Target| it.n_blocks * u64::from(it.block_bytes);
        let (text, help) = match self {
            Mismatch::Unknown { target } => {
                let few = earlier.iter().take(3).map(|it| format!("`{}`", it.path));
                let mut of = few.collect::<Vec<_>>().join(", ");
                if earlier.len() > 3 {
                    of.push_str(&format!(" and {} more", earlier.len() - 3));
                }
                let text = format!(
                    "the journal `{journal}` is of another run: it is of {of}, and this run has \
                     `{}`",
                    target.path
                );
                (text, "name the journal of this run, or begin a new one")
            }
            Mismatch::Blocks { earlier, target } => {
                let text = format!(
                    "`{}` has blocks of {} B in the journal `{journal}`, and of {} B in this run",
                    target.path, earlier.block_bytes, target.block_bytes
                );
                (text, "use the block sizes of the run that began it, or begin a new journal")
            }
            Mismatch::Size { earlier, target } => {
                let text = format!(
                    "`{}` has {} B in the journal `{journal}`, and {} B in this run",
                    target.path,
                    size(earlier),
                    size(target)
                );
                (text, "use the size of the run that began it, or begin a new journal")
            }
        };
        Diagnostic::error("journal-cannot-go-on", text).help(help)
    }
}

/// Returns the largest number of bytes that all I/Os of a job are multiples of, in length and
/// place, counted from its region.
fn unit_bytes(job: &Job) -> u64 {
    job.workloads().fold(0, |unit, workload| {
        let issued = workload.access.issued();
        issued.fold(unit, |unit, dir| {
            let sizes = &workload.block_size[dir];
            let unit = sizes_of(sizes).fold(unit, |unit, size| units::gcd(unit, u64::from(size)));
            units::gcd(unit, u64::from(workload.block_align[dir].unwrap_or(0)))
        })
    })
}

/// Returns sizes that all sizes of a kind are sums of.
fn sizes_of(sizes: &plan::workload::BlockSize) -> impl Iterator<Item = u32> {
    use plan::workload::BlockSize;
    match sizes {
        BlockSize::Fixed(size) => vec![*size],
        BlockSize::Range { min, .. } => vec![*min],
        BlockSize::Split(parts) => parts.iter().map(|part| part.0).collect(),
        BlockSize::Weighted(parts) => parts.iter().map(|part| part.0).collect(),
        BlockSize::Stepped { min, step, .. } => vec![*min, *step],
    }
    .into_iter()
}

/// Returns what stands against the validation that a run asks for.
pub(crate) fn refusals(bound: &BoundPlan, options: &RunOptions) -> Vec<Diagnostic> {
    let Some(validation) = &options.validation else { return Vec::new() };
    if options.emulation.is_some() {
        let text = "`--validate` checks what was written, but the volume of `--on` keeps no data";
        let finding = Diagnostic::error("validate-no-data", text);
        return vec![
            finding.help(
                "`plimsoll rehearse mount DESIGN FOLDER` keeps it: run the job on that folder",
            ),
        ];
    }
    let mut findings = Findings::default();
    let firsts = bound.workers().filter(|worker| worker.worker_idx == 0);
    for job in firsts.map(|worker| worker.job.as_ref()) {
        findings.extend(of_job(job));
    }
    let mut targets = Targets::of(bound);
    let (of_trees, others): (Vec<_>, Vec<_>) =
        targets.all.iter().partition(|target| target.is_of_tree);
    for target in others {
        findings.extend(of_target(target));
    }
    // One file of a tree stands for all.
    findings.extend(of_trees.into_iter().find_map(of_target));
    findings.extend(too_many(&targets));
    let mut findings = findings.into_shown();
    let journal = validation.journal.as_ref().filter(|_| validation.existing.is_gone_on_with());
    if let Some(path) = journal.filter(|_| findings.is_empty()) {
        findings.extend(of_earlier(path, validation.existing, &mut targets).err());
    }
    findings
}

/// Gives targets the numbers that they have in the journal that a run goes on with.
///
/// # Errors
/// Why it cannot.
pub(crate) fn of_earlier(
    path: &Path,
    existing: ExistingJournal,
    targets: &mut Targets,
) -> Result<(), Diagnostic> {
    let header = header(path).map_err(|error| {
        Diagnostic::error("journal-cannot-go-on", error.to_string())
            .help("name the journal of an earlier run, or begin a new one")
    })?;
    let is_same = existing == ExistingJournal::ContinueSame;
    targets.follow(&header.targets, is_same).map_err(|it| it.finding(path, &header.targets))
}

/// Returns why a job cannot be validated.
fn of_job(job: &Job) -> Option<Diagnostic> {
    let moves_names =
        |task: &TreeTask| matches!(task.operation, OpKind::Rename | OpKind::Copy | OpKind::Move);
    let (why, help) = if let Some(work) = &job.tree {
        match &work.activity {
            Activity::Operations(tasks) if tasks.iter().any(moves_names) => (
                "renames, copies or moves files, whose blocks name the file",
                "leave those operations out",
            ),
            Activity::Operations(_) | Activity::Format(_) => return None,
        }
    } else if job.verify.method.is_some() {
        ("has `verify`, whose headers take the same place", "leave one out: `--set verify=0`")
    } else if job.access().trim {
        ("trims, after which a block may hold anything", "leave the trims out")
    } else if job.files.unlink || job.files.unlink_each_loop {
        ("removes its files", "leave out `unlink`: what was written is verified there")
    } else if job.workloads().any(|workload| workload.block_unaligned) {
        ("has blocks of any length", "leave out `bs_unaligned`")
    } else {
        match job.engine.kind.traits().work {
            EngineWork::Bytes | EngineWork::MappedBytes => return None,
            EngineWork::Nothing => ("moves no data", "use an engine that reads and writes"),
            EngineWork::ServerBytes => {
                ("reaches its server by itself", "mount the export, and name the mount")
            }
            EngineWork::Space(_) | EngineWork::Names(_) => {
                ("neither reads nor writes data", "use an engine that reads and writes")
            }
        }
    };
    let text = format!("job `{}` {why}, which `--validate` cannot check", job.name);
    Some(Diagnostic::error("validate-cannot", text).help(help))
}

/// Returns that there are more files than a journal has.
fn too_many(targets: &Targets) -> Option<Diagnostic> {
    let header = Header { runs: Vec::new(), targets: targets.all.clone() };
    let has_room = header.size_bytes() + ROOM_FOR_RUNS_BYTES <= FRAME_BYTES_MAX;
    let n_files = targets.n_too_many.or((!has_room).then_some(header.targets.len() as u64))?;
    let text = format!(
        "a tree has {n_files} files, but `--validate` checks {TARGETS_MAX} at most, with names of \
         16 MiB in all"
    );
    Some(Diagnostic::error("validate-too-many", text).help("validate a smaller tree"))
}

/// What the names of targets leave for the numbers of runs in the first frame of a journal: those
/// of 8,000 runs that go on with it.
const ROOM_FOR_RUNS_BYTES: usize = 64 << 10;

/// Returns why a target cannot have stamped blocks.
fn of_target(target: &Target) -> Option<Diagnostic> {
    let Target { path, block_bytes, n_blocks: _, is_of_tree } = target;
    if path.contains(char::REPLACEMENT_CHARACTER) {
        let text = format!("the name of `{path}` is not UTF-8, and a journal holds names");
        return Some(Diagnostic::error("validate-name", text).help("name it by a link"));
    }
    if *block_bytes > 0 && block_bytes.is_multiple_of(SECTOR_BYTES as u32) {
        return None;
    }
    let text = format!(
        "the I/Os on `{path}` are multiples of {block_bytes} B, but `--validate` needs whole \
         sectors of {SECTOR_BYTES} B"
    );
    let what = if *is_of_tree {
        "sizes of transfers and files of"
    } else {
        "block sizes, alignments and offsets of"
    };
    let help = format!("use {what} a multiple of {SECTOR_BYTES} B");
    Some(Diagnostic::error("validate-block-size", text).help(help))
}
