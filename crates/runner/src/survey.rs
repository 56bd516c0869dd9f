//! What a plan would find on this host: where its targets lie, how much room there is, and what
//! would keep it from running. Nothing is changed.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use engine::FileKind;
use engine::mounts::{self, Mount};
use plan::tree::{Activity, TreeWork};
use plan::{Diagnostic, Job, Plan};
use record::PlaceRecord;
use rustix::fs::Access;

use crate::bind::{self, BoundPlan};
use crate::folders::folder_of;
use crate::options::RunOptions;
use crate::{places, run};

/// Targets that are described: more are a fleet of folders, too many to read.
const TARGETS_MAX: usize = 64;

/// What a plan would find.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Survey {
    /// The folders that its files lie in, its devices, and its exports.
    pub targets: Vec<SurveyedTarget>,
    /// What is to be said about the plan here; with an error it would not run.
    pub findings: Vec<Diagnostic>,
}

/// A folder, device or export that targets are in.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SurveyedTarget {
    /// Its path, as the plan names it.
    pub path: PathBuf,
    /// What it lies on.
    pub place: PlaceRecord,
    /// Bytes that this user may still use there; `None` for what is no file system.
    pub free_bytes: Option<u64>,
    /// Bytes that all files of the plan at this place need beyond what they have.
    pub layout_bytes: u64,
    /// What a device is in use for.
    pub uses: Vec<String>,
    /// Why it cannot be worked on; `None` where it can, or where the findings say it.
    pub problem: Option<String>,
}

/// Looks at what a plan would find here.
pub fn survey(plan: &Plan, options: &RunOptions) -> Survey {
    let (bound, findings) = run::look(plan, options);
    let table = mounts::table();
    let mut targets: Vec<SurveyedTarget> = Vec::new();
    let mut seen = HashSet::new();
    for path in paths(plan) {
        let target = if is_device(&path) { path.clone() } else { folder(&path) };
        if targets.len() < TARGETS_MAX && seen.insert(target.clone()) {
            targets.push(look_at(&table, &target));
        }
    }
    let layout_bytes = layout_bytes(&bound, &table);
    for target in &mut targets {
        target.layout_bytes = layout_bytes.get(&target.place.path).copied().unwrap_or(0);
    }
    let exports = places::of_plan(&bound).into_iter();
    let exports = exports.filter(|it| it.file_system.is_empty() && it.network.is_some());
    targets.extend(exports.map(|place| SurveyedTarget {
        path: PathBuf::from(&place.path),
        place,
        ..SurveyedTarget::default()
    }));
    Survey { targets, findings }
}

/// Looks at a folder, file or device by itself.
pub fn survey_path(path: &Path) -> SurveyedTarget {
    let target = look_at(&mounts::table(), path);
    let shown = path.display();
    let problem = match engine::inspect(path) {
        Err(error) => Some(error.to_string()),
        Ok(facts) if facts.kind == FileKind::Missing => Some(format!("`{shown}` does not exist")),
        Ok(facts) if facts.kind == FileKind::Directory => {
            let may_write = rustix::fs::access(path, Access::WRITE_OK);
            may_write.err().map(|errno| {
                format!(
                    "`{shown}` takes no files: {}",
                    units::system_text(std::io::Error::from(errno))
                )
            })
        }
        Ok(_) => None,
    };
    SurveyedTarget { problem, ..target }
}

/// Returns every path of this host that the plan works on; of a tree, what will be in its anchor.
fn paths(plan: &Plan) -> impl Iterator<Item = PathBuf> {
    let is_here = |job: &&Job| !job.engine.kind.is_idle() && !job.engine.kind.is_remote();
    plan.jobs().filter(is_here).flat_map(|job| {
        let trees = job.tree.iter().flat_map(|work| [Some(&work.tree), work.target.as_ref()]);
        let anchors = trees.flatten().map(|tree| Path::new(&tree.anchor).join("file"));
        anchors.chain(bind::job_paths(job))
    })
}

fn is_device(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|facts| facts.file_type().is_block_device())
}

/// Returns the folder of a file, without a slash behind it.
fn folder(path: &Path) -> PathBuf {
    let folder = folder_of(path);
    if folder == OsStr::new("") {
        PathBuf::from(".")
    } else {
        Path::new(folder).components().collect()
    }
}

fn look_at(table: &[Mount], path: &Path) -> SurveyedTarget {
    let is_device = is_device(path);
    let on = places::resolved(path);
    let free_bytes = rustix::fs::statvfs(&on).ok().filter(|_| !is_device);
    let free_bytes = free_bytes.map(|facts| facts.f_bavail.saturating_mul(facts.f_frsize));
    let uses = match engine::inspect(path) {
        Ok(facts) if is_device => {
            let uses = facts.uses.iter().map(ToString::to_string);
            let above = facts.stacked.iter().map(|it| format!("below `{}`", it.display()));
            uses.chain(above).collect()
        }
        Ok(_) | Err(_) => Vec::new(),
    };
    let place = places::of_path(table, path, is_device).unwrap_or_default();
    let path = path.to_owned();
    SurveyedTarget { path, place, free_bytes, layout_bytes: 0, uses, problem: None }
}

/// Returns what the files of a plan need beyond what they have, by the places that they lie on.
fn layout_bytes(bound: &BoundPlan, table: &[Mount]) -> HashMap<String, u64> {
    let mut sizes: HashMap<&Path, u64> = HashMap::new();
    let mut trees: HashMap<PathBuf, u64> = HashMap::new();
    for worker in bound.workers() {
        let kind = worker.job.engine.kind;
        if kind.is_idle() || kind.is_remote() {
            continue;
        }
        if let Some(TreeWork { tree, activity: Activity::Format(_), .. }) = &worker.job.tree {
            let bytes = tree.expected_bytes().unwrap_or(0.0) as u64;
            trees.insert(PathBuf::from(&tree.anchor), bytes);
        }
        let is_file = |kind: FileKind| matches!(kind, FileKind::Regular | FileKind::Missing);
        for file in worker.files.iter().filter(|file| is_file(file.kind)) {
            let size_bytes = sizes.entry(&file.path).or_default();
            *size_bytes = (*size_bytes).max(file.laid_out_bytes());
        }
    }
    let mut by_place: HashMap<String, u64> = HashMap::new();
    let files = sizes.into_iter().map(|(path, bytes)| {
        let has_bytes = fs::metadata(path).map_or(0, |facts| facts.blocks().saturating_mul(512));
        (path.to_owned(), bytes.saturating_sub(has_bytes))
    });
    for (path, bytes) in files.chain(trees).filter(|(_, bytes)| *bytes > 0) {
        if let Some(mount) = mounts::of_path(table, &places::resolved(&path)) {
            let of_place = by_place.entry(mount.at.display().to_string()).or_default();
            *of_place = of_place.saturating_add(bytes);
        }
    }
    by_place
}
