//! Which file falls on which volume of a design, and at which addresses.
//!
//! Pure but for the current folder, which relative paths start at. No file is looked at.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;
use std::path::{Path, PathBuf};

use engine::volume::{TreeRange, VolumeRange};
use engine::{FileKind, TargetFacts};
use plan::tree::TreeWork;
use plan::{Diagnostic, Plan};
use units::format_bytes;
use volume::Design;

use crate::bind::{self, BoundFile, BoundPlan, BoundWorker};
use crate::control::Control;
use crate::facts::Facts;

use super::clients::{self, anchor_of, volume_of, whole_path};

/// Files start at multiples of this, as file systems and partition tools align them, so that blocks
/// do not straddle chunks of a stripe by accident.
const ALIGN_BYTES: u64 = 1 << 20;

/// Blocks of the disks, as direct I/O sees them.
const SECTOR_BYTES: u32 = 512;

/// The places of a plan's files.
#[derive(Clone, Debug, Default)]
pub(crate) struct Placement {
    by_path: BTreeMap<PathBuf, VolumeRange>,
    /// Clients by the names of the jobs that run on them.
    clients: HashMap<String, Range<u16>>,
}

/// Returns what is known of the plan's files: they are there and empty, on a volume that has room.
/// The path of a mount itself is the volume as a device. A path on no volume is an error.
pub(crate) fn facts(plan: &Plan, design: &Design, control: &Control) -> (Facts, Vec<Diagnostic>) {
    let mut facts = Facts::default();
    let mut findings = Vec::new();
    for path in bind::paths(plan).take_while(|_| !control.is_stopped()) {
        let Some(volume_idx) = volume_of(design, &path) else {
            findings.push(on_no_volume(&path, design));
            continue;
        };
        let volume = &design.volumes[volume_idx];
        let is_volume = whole_path(&path) == whole_path(Path::new(&volume.mount));
        let (kind, size_bytes) = if is_volume {
            (FileKind::Block, volume.capacity_bytes)
        } else {
            (FileKind::Regular, 0)
        };
        let of_path = TargetFacts {
            path: path.clone(),
            kind,
            size_bytes,
            allocated_bytes: 0,
            written_bytes: size_bytes,
            logical_block_bytes: SECTOR_BYTES,
            direct: None,
            discards: true,
            read_only: false,
            free_bytes: None,
            uses: Vec::new(),
            unread: None,
            stacked: Vec::new(),
            is_held: false,
            contents: engine::Contents::Nothing,
            device: (0, 0),
        };
        facts.insert(path, of_path);
    }
    (facts, findings)
}

fn on_no_volume(path: &Path, design: &Design) -> Diagnostic {
    let mounts: Vec<_> = design.volumes.iter().map(|v| format!("`{}`", v.mount)).collect();
    let text = format!(
        "`{}` is not on a volume of the design, whose mounts are {}",
        path.display(),
        mounts.join(", ")
    );
    let finding = Diagnostic::error("target-on-no-volume", text);
    let Some(first) = design.volumes.first() else { return finding };
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.display().to_string(),
        _ => return finding.help(format!("set `directory={}`", first.mount)),
    };
    finding.help(format!("for example `--remap {folder}={}`", first.mount))
}

impl Placement {
    /// Returns how many bytes the plan's files on some volumes have.
    pub(crate) fn bytes_on(&self, is_one: impl Fn(u16) -> bool) -> f64 {
        let places = self.by_path.values().filter(|place| is_one(place.volume));
        places.map(|place| place.len_bytes as f64).sum()
    }

    /// Gives every file of the plan its addresses, in the order of the plan.
    pub(crate) fn new(
        bound: &BoundPlan,
        design: &Design,
        control: &Control,
    ) -> (Self, Vec<Diagnostic>) {
        let mut space: Vec<Space> = design.volumes.iter().map(|_| Space::default()).collect();
        let (clients, mut findings) = clients::of_jobs(bound, design);
        let mut placement = Placement { clients, ..Placement::default() };
        let needs = needs(bound);
        placement.place_trees(bound, design, &mut space, &mut findings);
        for step in &bound.steps {
            let mut removed: HashMap<&Path, (usize, u64)> = HashMap::new();
            for worker in &step.workers {
                for file in worker.files.iter().take_while(|_| !control.is_stopped()) {
                    let Some(volume_idx) = volume_of(design, &file.path) else { continue };
                    let capacity_bytes = design.volumes[volume_idx].capacity_bytes;
                    let space = &mut space[volume_idx];
                    let place = match placement.by_path.get(&file.path) {
                        Some(place) => *place,
                        None if file.kind == FileKind::Block => {
                            let volume = volume_idx as u16;
                            VolumeRange {
                                volume,
                                client: 0,
                                base_bytes: 0,
                                len_bytes: capacity_bytes,
                            }
                        }
                        None => {
                            let left_bytes = capacity_bytes.saturating_sub(space.used_bytes);
                            let len_bytes = match needs.get(file.path.as_path()) {
                                Some(Need::Bytes(bytes)) => *bytes,
                                _ => {
                                    left_bytes / n_filling(step.workers.iter(), volume_idx, design)
                                }
                            };
                            space.place(volume_idx, len_bytes)
                        }
                    };
                    if placement.by_path.insert(file.path.clone(), place).is_none()
                        && space.used_bytes > capacity_bytes
                        && file.kind != FileKind::Block
                        && !space.is_reported
                    {
                        space.is_reported = true;
                        findings.push(volume_full(worker, space.used_bytes, design, volume_idx));
                    }
                    if worker.job.files.unlink && file.kind != FileKind::Block {
                        removed.insert(&file.path, (volume_idx, place.len_bytes));
                    }
                }
            }
            for (volume_idx, len_bytes) in removed.into_values() {
                space[volume_idx].used_bytes -= len_bytes.min(space[volume_idx].used_bytes);
            }
        }
        (placement, findings)
    }

    /// Gives every tree of the plan its addresses, and reports the first that is on no volume or
    /// does not fit.
    fn place_trees(
        &mut self,
        bound: &BoundPlan,
        design: &Design,
        space: &mut [Space],
        findings: &mut Vec<Diagnostic>,
    ) {
        for worker in bound.workers() {
            let (Some(work), Some(anchor)) = (&worker.job.tree, anchor_of(worker)) else {
                continue;
            };
            if self.by_path.contains_key(&anchor) {
                continue;
            }
            let Some(volume_idx) = volume_of(design, &anchor) else {
                findings.push(on_no_volume(&anchor, design));
                return;
            };
            let room_bytes = work.tree.n_files().unwrap_or(0).saturating_mul(file_bytes(work));
            let space = &mut space[volume_idx];
            let used_bytes = space.used_bytes + work.tree.expected_bytes().unwrap_or(0.0) as u64;
            self.by_path.insert(anchor, space.place(volume_idx, room_bytes));
            space.used_bytes = used_bytes;
            if used_bytes > design.volumes[volume_idx].capacity_bytes && !space.is_reported {
                space.is_reported = true;
                findings.push(volume_full(worker, used_bytes, design, volume_idx));
            }
        }
    }

    /// Returns where the tree of a worker lies, if its job works on one.
    pub(crate) fn tree_of(&self, worker: &BoundWorker) -> Option<TreeRange> {
        let work = worker.job.tree.as_ref()?;
        let range = self.of(worker).first().copied()?;
        Some(TreeRange { range, file_bytes: file_bytes(work) })
    }

    /// Returns the places of a worker's files, in their order; of one that works on a tree, that of
    /// the tree.
    pub(crate) fn of(&self, worker: &BoundWorker) -> Vec<VolumeRange> {
        let clients = self.clients.get(&worker.job.name);
        let client = clients.map_or(0, |of| clients::of_worker(of, worker.worker_idx));
        let place = |file: &BoundFile| {
            let (place, path) = (self.by_path.get(&file.path), file.path.display());
            assert!(place.is_some(), "`{path}` was placed on no volume");
            place.map(|place| VolumeRange { client, ..*place })
        };
        if let Some(anchor) = anchor_of(worker) {
            let place = self.by_path.get(&anchor);
            return place.map(|place| VolumeRange { client, ..*place }).into_iter().collect();
        }
        worker.files.iter().filter_map(place).collect()
    }

    /// Returns all places, by path.
    pub(crate) fn all(&self) -> impl Iterator<Item = VolumeRange> + '_ {
        self.by_path.values().copied()
    }
}

/// Returns the room of each file of a tree: whole pages.
fn file_bytes(work: &TreeWork) -> u64 {
    work.tree.sizes.bytes_max().max(1).next_multiple_of(4096)
}

/// What is taken of a volume.
#[derive(Clone, Debug, Default)]
struct Space {
    /// Bytes of the files on it.
    used_bytes: u64,
    /// Where the next file goes. Beyond the capacity where alignment leaves gaps: a file system
    /// would fill those.
    next_bytes: u64,
    is_reported: bool,
}

impl Space {
    fn place(&mut self, volume_idx: usize, len_bytes: u64) -> VolumeRange {
        let base_bytes = self.next_bytes;
        let end_bytes = base_bytes.saturating_add(len_bytes);
        self.next_bytes = end_bytes.checked_next_multiple_of(ALIGN_BYTES).unwrap_or(u64::MAX);
        self.used_bytes = self.used_bytes.saturating_add(len_bytes);
        VolumeRange { volume: volume_idx as u16, client: 0, base_bytes, len_bytes }
    }
}

/// What a file takes of its volume.
enum Need {
    Bytes(u64),
    /// All that is left (`fill_device`).
    Rest,
}

/// Returns what every file of the plan will take at most.
fn needs(bound: &BoundPlan) -> HashMap<&Path, Need> {
    let mut needs: HashMap<&Path, Need> = HashMap::new();
    for worker in bound.workers() {
        for file in worker.files.iter().filter(|file| file.kind != FileKind::Block) {
            if fills(worker) {
                needs.insert(&file.path, Need::Rest);
                continue;
            }
            let bytes = file.needed_bytes();
            match needs.entry(&file.path).or_insert(Need::Bytes(0)) {
                Need::Bytes(known) => *known = (*known).max(bytes),
                Need::Rest => {}
            }
        }
    }
    needs
}

/// Returns whether a worker writes until its volume is full.
fn fills(worker: &BoundWorker) -> bool {
    let files = &worker.job.files;
    files.fill_device && !matches!(files.size, Some(plan::files::Size::Bytes(1..)))
}

/// Returns how many files share what is left of a volume.
fn n_filling<'a>(
    workers: impl Iterator<Item = &'a BoundWorker>,
    volume_idx: usize,
    design: &Design,
) -> u64 {
    let filling = workers.filter(|worker| fills(worker)).flat_map(|worker| &worker.files);
    let on_volume = filling.filter(|file| volume_of(design, &file.path) == Some(volume_idx));
    let paths: HashSet<&Path> = on_volume.map(|file| file.path.as_path()).collect();
    (paths.len() as u64).max(1)
}

fn volume_full(
    worker: &BoundWorker,
    used_bytes: u64,
    design: &Design,
    volume_idx: usize,
) -> Diagnostic {
    let volume = &design.volumes[volume_idx];
    let text = format!(
        "job `{}` brings the files on `{}` to {}, but the volume holds {}",
        worker.job.name,
        volume.mount,
        format_bytes(used_bytes),
        format_bytes(volume.capacity_bytes)
    );
    Diagnostic::error("volume-full", text)
        .help("lower `size`, `nrfiles` or `numjobs`, or provision a larger volume")
}
