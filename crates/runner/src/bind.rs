//! Binds a plan to a host: which worker uses which bytes of which file.
//!
//! Pure: what is known of the host comes in as [`Facts`] by path. All mistakes are reported
//! at once.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine::FileKind;
use pattern::rng::{Rng, Stream, derive};
use plan::files::{FileType, Size};
use plan::replay::Recording;
use plan::{Diagnostic, EngineWork, Job, Plan, change};
use worker::FileRegion;

use crate::control::Control;
use crate::facts::Facts;
use crate::findings::{FILES_SHOWN_MAX, Findings};
use crate::parts;

/// Largest file: what an offset of the kernel can name.
const FILE_BYTES_MAX: u128 = i64::MAX as u128;

/// Most workers of a run, those of all its steps together. Each takes a thread, and some KiB from
/// when the plan is bound; a number behind which there is no machine must not fill the memory.
pub const WORKERS_MAX: u64 = 65_536;

/// A plan in which every worker knows its files and regions.
#[derive(Clone, Debug, Default)]
pub(crate) struct BoundPlan {
    /// Steps in order.
    pub(crate) steps: Vec<Arc<BoundStep>>,
}

/// Jobs that run together.
#[derive(Clone, Debug, Default)]
pub(crate) struct BoundStep {
    /// Workers in the order of the plan.
    pub(crate) workers: Vec<BoundWorker>,
}

impl BoundPlan {
    /// Returns the workers of all steps.
    pub(crate) fn workers(&self) -> impl Iterator<Item = &BoundWorker> {
        self.steps.iter().flat_map(|step| &step.workers)
    }
}

/// One worker with its files.
#[derive(Clone, Debug)]
pub(crate) struct BoundWorker {
    /// The job.
    pub(crate) job: Arc<Job>,
    /// Position among the workers of the job.
    pub(crate) worker_idx: u32,
    /// Files in order.
    pub(crate) files: Vec<BoundFile>,
    /// Bytes of I/O per pass.
    pub(crate) amount_bytes: u64,
    /// Seed of the worker's random numbers.
    pub(crate) seed: u64,
}

/// A file or device and the part of it that a worker uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BoundFile {
    /// Where it is.
    pub(crate) path: PathBuf,
    /// What it is, or will be once the jobs before have made it.
    pub(crate) kind: FileKind,
    /// Part used.
    pub(crate) region: FileRegion,
    /// Size it has, or will have once the jobs before have made it; 0 if it does not exist.
    pub(crate) size_bytes: u64,
    /// It, or the file system it is on, takes no writes.
    pub(crate) read_only: bool,
    /// Bytes behind the last whole block that the file has nevertheless when it is laid out; all of
    /// them where the job works on names.
    pub(crate) rest_bytes: u64,
}

impl BoundFile {
    /// Returns the size the file must have before the run.
    pub(crate) fn needed_bytes(&self) -> u64 {
        self.region.offset_bytes + self.region.len_bytes
    }

    /// Returns the size that the file is laid out with: what was asked for, not only whole blocks.
    pub(crate) fn laid_out_bytes(&self) -> u64 {
        self.needed_bytes() + self.rest_bytes
    }
}

/// Returns every path that the plan names, without duplicates, in order.
pub fn paths(plan: &Plan) -> impl Iterator<Item = PathBuf> {
    let mut seen = HashSet::new();
    plan.jobs().flat_map(job_paths).filter(move |path| seen.insert(path.clone()))
}

/// Returns every path of this host whose contents the plan changes, likewise. Jobs with more
/// workers than a run takes are left out: they are refused.
pub fn changed_paths(plan: &Plan) -> impl Iterator<Item = PathBuf> {
    let is_meant = |job: &&Job| {
        job.engine.kind.opens_files_here()
            && u64::from(job.n_workers) <= WORKERS_MAX
            && change::changes_targets(job)
    };
    let mut seen = HashSet::new();
    let paths = plan.jobs().filter(is_meant).flat_map(job_paths);
    paths.filter(move |path| seen.insert(path.clone()))
}

/// Reports that the plan has more workers than a run takes. To be asked before anything is made for
/// each of them.
pub(crate) fn too_many_workers(plan: &Plan) -> Option<Diagnostic> {
    let n_workers: u64 = plan.jobs().map(|job| u64::from(job.n_workers)).sum();
    if n_workers <= WORKERS_MAX {
        return None;
    }
    let largest = plan.jobs().max_by_key(|job| job.n_workers)?;
    let (name, n_of_it) = (&largest.name, largest.n_workers);
    let who = if u64::from(n_of_it) == n_workers {
        format!("job `{name}` has {n_workers} workers")
    } else {
        format!("the jobs have {n_workers} workers, {n_of_it} of them `{name}`")
    };
    let text = format!("{who}, but a run takes {WORKERS_MAX} at most");
    let finding = Diagnostic::error("too-many-workers", text);
    Some(finding.help("lower `numjobs`, or split the jobs over several runs"))
}

/// Returns every path that the job names, in order.
pub(crate) fn job_paths(job: &Job) -> impl Iterator<Item = PathBuf> {
    (0..job.n_workers).flat_map(move |idx| worker_paths(job, idx))
}

/// Binds the plan. The result is usable only if no diagnostic is an error, and no end was asked for
/// meanwhile.
pub(crate) fn bind(
    plan: &Plan,
    facts: &Facts,
    run_seed: u64,
    control: &Control,
) -> (BoundPlan, Vec<Diagnostic>) {
    let mut bound = BoundPlan::default();
    let mut findings = Findings::default();
    let mut planned = HashMap::new();
    let (n_workers, mut n_before): (u64, u64) =
        (plan.jobs().map(|job| u64::from(job.n_workers)).sum(), 0);
    for step in &plan.steps {
        let mut bound_step = BoundStep::default();
        for job in &step.jobs {
            let [job, deeper] = by_depth(job);
            for worker_idx in 0..job.n_workers {
                let is_deeper = worker_idx + job.load.n_deeper >= job.n_workers;
                let job = if is_deeper { &deeper } else { &job };
                let binder =
                    Binder { job, worker_idx, facts, planned: &planned, run_seed, n_before };
                // Clones of a job with mistakes would only repeat them.
                let Some(worker) = binder.worker(control, &mut findings) else { break };
                if n_before + 1 < n_workers {
                    note_planned(&worker, &mut planned);
                }
                bound_step.workers.push(worker);
                n_before += 1;
            }
        }
        bound.steps.push(Arc::new(bound_step));
    }
    (bound, findings.into_shown())
}

/// Returns the job of its first workers, and of those with one I/O more in flight.
fn by_depth(job: &Job) -> [Arc<Job>; 2] {
    let first = Arc::new(job.clone());
    if job.load.n_deeper == 0 {
        return [Arc::clone(&first), first];
    }
    let mut deeper = job.clone();
    deeper.load.queue_depth += 1;
    [first, Arc::new(deeper)]
}

/// Remembers the files that a worker will bring to a size, for the jobs after it.
fn note_planned(worker: &BoundWorker, planned: &mut HashMap<OsString, u64>) {
    let kind = worker.job.engine.kind;
    let leaves_files = !kind.is_idle() && !kind.is_of_names();
    let is_file = |file: &&BoundFile| matches!(file.kind, FileKind::Regular | FileKind::Missing);
    if !leaves_files || worker.job.files.fill_device || worker.job.files.unlink {
        return;
    }
    for file in worker.files.iter().filter(is_file) {
        let size_bytes = planned.entry(file.path.clone().into_os_string()).or_default();
        *size_bytes = (*size_bytes).max(file.laid_out_bytes());
    }
}

/// Returns the files of one worker in order.
///
/// Those on a server are shown, and distinguished, by the address of their export.
fn worker_paths(job: &Job, worker_idx: u32) -> Paths<'_> {
    let paths = named_paths(job, worker_idx);
    match &job.engine.nfs.url {
        Some(url) if job.engine.kind.is_remote() => {
            let folder = PathBuf::from(url.folder());
            Box::new(paths.map(move |path| folder.join(path.strip_prefix("/").unwrap_or(&path))))
        }
        _ => paths,
    }
}

/// Paths, made as they are asked for: a job may have millions.
type Paths<'a> = Box<dyn ExactSizeIterator<Item = PathBuf> + 'a>;

fn named_paths(job: &Job, worker_idx: u32) -> Paths<'_> {
    if job.tree.is_some() {
        return Box::new(std::iter::empty());
    }
    let files = &job.files;
    if let Some(recording) = recording(job, worker_idx) {
        return Box::new(recording.files.iter().map(|file| plain(PathBuf::from(&file.name))));
    }
    if !files.names.is_empty() {
        let directory = files.directories.first();
        return Box::new(files.names.iter().map(move |name| under(directory, name)));
    }
    let directory = match files.directories.len() {
        0 => None,
        n => Some(&files.directories[worker_idx as usize % n]),
    };
    let names = GeneratedNames::new(job, worker_idx);
    Box::new((0..files.n_files.max(1)).map(move |idx| under(directory, &names.of_file(idx))))
}

/// Returns what a worker replays, if its job replays anything.
fn recording(job: &Job, worker_idx: u32) -> Option<&Recording> {
    let recordings = &job.workload.recordings;
    let n_recordings = recordings.len().max(1);
    recordings.get(worker_idx as usize % n_recordings).map(AsRef::as_ref)
}

fn under(directory: Option<&String>, name: &str) -> PathBuf {
    plain(match directory {
        Some(directory) if !Path::new(name).is_absolute() => Path::new(directory).join(name),
        _ => PathBuf::from(name),
    })
}

/// Returns a path without what changes nothing in it, `//` and `/.`: paths are compared by their
/// bytes, and two spellings of one must be one file.
fn plain(path: PathBuf) -> PathBuf {
    let bytes = path.as_os_str().as_bytes();
    let is_plain = !bytes.ends_with(b"/")
        && !bytes.ends_with(b"/.")
        && !bytes.windows(2).any(|pair| pair == b"//")
        && !bytes.windows(3).any(|part| part == b"/./");
    if is_plain { path } else { path.components().collect() }
}

/// File names of a worker from the job's pattern; `$jobname.$jobnum.$filenum` unless it has one.
struct GeneratedNames {
    /// What stands before, between and after the numbers of the file.
    pieces: Vec<String>,
}

impl GeneratedNames {
    fn new(job: &Job, worker_idx: u32) -> Self {
        let format = job.files.name_format.as_deref().unwrap_or("$jobname.$jobnum.$filenum");
        let words: [(&str, Option<String>); 4] = [
            ("$jobname", Some(job.name.replace('/', "_"))),
            ("$jobnum", Some(worker_idx.to_string())),
            ("$filenum", None),
            ("$clientuid", Some(String::new())),
        ];
        let (mut pieces, mut piece) = (Vec::new(), String::new());
        let mut rest = format;
        'scan: while let Some(next) = rest.chars().next() {
            for (word, value) in &words {
                let named = rest.get(..word.len());
                if named.is_some_and(|named| named.eq_ignore_ascii_case(word)) {
                    match value {
                        Some(value) => piece.push_str(value),
                        None => pieces.push(std::mem::take(&mut piece)),
                    }
                    rest = &rest[word.len()..];
                    continue 'scan;
                }
            }
            piece.push(next);
            rest = &rest[next.len_utf8()..];
        }
        pieces.push(piece);
        GeneratedNames { pieces }
    }

    fn of_file(&self, file_idx: u32) -> String {
        match self.pieces.as_slice() {
            [before, after] => format!("{before}{file_idx}{after}"),
            pieces => pieces.join(&file_idx.to_string()),
        }
    }
}

struct Binder<'a> {
    job: &'a Arc<Job>,
    worker_idx: u32,
    facts: &'a Facts,
    /// Sizes of the files that workers before this one will have made.
    planned: &'a HashMap<OsString, u64>,
    run_seed: u64,
    n_before: u64,
}

impl Binder<'_> {
    /// Binds a worker, unless its job has mistakes, or the run is to end.
    fn worker(&self, control: &Control, findings: &mut Findings) -> Option<BoundWorker> {
        let paths = worker_paths(self.job, self.worker_idx);
        let n_files = paths.len() as u64;
        let of_parts = parts::check(self.job);
        let mut is_bound = of_parts.is_empty();
        findings.extend(of_parts);
        let mut files = Vec::with_capacity(paths.len());
        let mut n_unbound = 0;
        for (file_idx, path) in paths.enumerate() {
            if control.is_stopped() {
                return None;
            }
            match self.file(path, file_idx as u64, n_files) {
                Ok(file) => files.push(file),
                Err(error) => {
                    findings.add_of_file(&self.job.name, error);
                    is_bound = false;
                    n_unbound += 1;
                }
            }
            if n_unbound > FILES_SHOWN_MAX {
                break;
            }
        }
        if !is_bound {
            return None;
        }
        let whole = match recording(self.job, self.worker_idx) {
            Some(recording) => recording.total_bytes(),
            None => sum_bytes(files.iter().map(|file| file.region.len_bytes)),
        };
        let amount_bytes = match self.job.files.io_size {
            Some(Size::Bytes(bytes)) => bytes,
            // Of what was asked for, not of its whole blocks.
            Some(Size::Percent(percent)) => {
                let rest = sum_bytes(files.iter().map(|file| file.rest_bytes));
                share(whole.saturating_add(rest), percent)
            }
            Some(Size::Zones(zones)) => zones.saturating_mul(self.zone_bytes()),
            None => match (self.job.files.file_size_bytes, self.job.files.size) {
                // With sizes per file, `size` limits the amount alone.
                (Some(_), Some(Size::Bytes(bytes))) if bytes > 0 => whole.min(bytes),
                (_, Some(Size::Bytes(_) | Size::Percent(_) | Size::Zones(_)) | None) => whole,
            },
        };
        Some(BoundWorker {
            job: Arc::clone(self.job),
            worker_idx: self.worker_idx,
            files,
            amount_bytes,
            seed: self.seed(),
        })
    }

    /// Gives each worker of the plan its own seed; the same in every run unless it varies.
    fn seed(&self) -> u64 {
        let base = self.job.workload.seed;
        let base = if self.job.workload.seed_varies { base ^ self.run_seed } else { base };
        derive(base, Stream::Worker, self.n_before)
    }

    fn zone_bytes(&self) -> u64 {
        self.job.workload.strided.map_or(0, |zones| zones.zone_size_bytes)
    }

    fn file(&self, path: PathBuf, file_idx: u64, n_files: u64) -> Result<BoundFile, Diagnostic> {
        let facts = self.facts.get(&path);
        let kind = facts.map_or(FileKind::Missing, |facts| facts.kind);
        let planned_bytes = self.planned.get(path.as_os_str()).copied().unwrap_or(0);
        let kind = match kind {
            FileKind::Missing if planned_bytes > 0 => FileKind::Regular,
            kind => kind,
        };
        let size_bytes = facts.map_or(0, |facts| facts.size_bytes).max(planned_bytes);
        let read_only = facts.is_some_and(|facts| facts.read_only);
        if let EngineWork::Names(op) = self.job.engine.kind.traits().work {
            // No byte of it is read or written; but what is looked at or removed has its size.
            let region = FileRegion { offset_bytes: 0, len_bytes: 0 };
            let is_made = op.needs_existing() && !op.is_of_directories();
            let is_made = is_made && kind == FileKind::Missing && self.has_size();
            let rest_bytes = if is_made {
                self.region_bytes(&path, kind, size_bytes, 0, file_idx, n_files)?
            } else {
                0
            };
            return Ok(BoundFile { path, kind, region, size_bytes, read_only, rest_bytes });
        }
        self.check_kind(&path, kind)?;
        if let Some(recording) = recording(self.job, self.worker_idx) {
            let len_bytes = recording.files[file_idx as usize].size_bytes;
            self.check_end(&path, u128::from(len_bytes))?;
            if kind == FileKind::Block && len_bytes > size_bytes {
                return Err(self.too_small(&path, len_bytes, size_bytes));
            }
            let region = FileRegion { offset_bytes: 0, len_bytes };
            return Ok(BoundFile { path, kind, region, size_bytes, read_only, rest_bytes: 0 });
        }
        let mut offset_bytes = self.offset(&path, size_bytes)?;
        let mut wanted =
            self.region_bytes(&path, kind, size_bytes, offset_bytes, file_idx, n_files)?;
        self.check_end(&path, u128::from(offset_bytes) + u128::from(wanted))?;
        if kind == FileKind::Block && self.job.files.spares_first_block {
            let spared_bytes =
                u64::from(self.job.block_size_max()).saturating_sub(offset_bytes).min(wanted);
            offset_bytes += spared_bytes;
            wanted -= spared_bytes;
        }
        let len_bytes = self.whole_blocks(&path, wanted)?;
        if (kind == FileKind::Block) && offset_bytes + len_bytes > size_bytes {
            return Err(self.too_small(&path, offset_bytes + len_bytes, size_bytes));
        }
        let region = FileRegion { offset_bytes, len_bytes };
        if let Some(finding) = parts::too_small(self.job, &path, region) {
            return Err(finding);
        }
        let rest_bytes = if kind == FileKind::Block { 0 } else { wanted - len_bytes };
        Ok(BoundFile { path, kind, region, size_bytes, read_only, rest_bytes })
    }

    fn check_kind(&self, path: &Path, kind: FileKind) -> Result<(), Diagnostic> {
        let job = &self.job.name;
        let shown = path.display();
        if kind == FileKind::Directory {
            return Err(Diagnostic::error(
                "target-is-directory",
                format!("job `{job}` names `{shown}`, which is a directory"),
            )
            .help(format!("name a file, or set `directory={shown}` to make files in it")));
        }
        let expected = match self.job.files.file_type {
            FileType::Any => return Ok(()),
            FileType::Regular => matches!(kind, FileKind::Regular | FileKind::Missing),
            FileType::Block => kind == FileKind::Block,
            FileType::Character => kind == FileKind::Character,
        };
        if expected {
            return Ok(());
        }
        Err(Diagnostic::error(
            "target-of-other-kind",
            format!("job `{job}` expects another kind of target than `{shown}` is"),
        )
        .help("remove `filetype`, or name a target of that kind"))
    }

    /// Returns where the region begins.
    fn offset(&self, path: &Path, size_bytes: u64) -> Result<u64, Diagnostic> {
        let files = &self.job.files;
        let block = u64::from(self.job.block_size_min()).max(1);
        let resolve = |size: Size| match size {
            Size::Bytes(bytes) => u128::from(bytes),
            Size::Percent(percent) => {
                let align =
                    if files.offset_align_bytes > 0 { files.offset_align_bytes } else { block };
                u128::from(share(size_bytes, percent)).next_multiple_of(u128::from(align))
            }
            Size::Zones(zones) => u128::from(zones) * u128::from(self.zone_bytes()),
        };
        let step = resolve(files.offset_increment);
        let start = resolve(files.offset) + u128::from(self.worker_idx) * step;
        self.check_end(path, start)?;
        let start = start as u64;
        Ok(if files.append { start.max(size_bytes) } else { start })
    }

    /// Refuses what ends where no file can.
    fn check_end(&self, path: &Path, end_bytes: u128) -> Result<(), Diagnostic> {
        if end_bytes <= FILE_BYTES_MAX {
            return Ok(());
        }
        let (job, shown) = (&self.job.name, path.display());
        let text = format!(
            "job `{job}` addresses {end_bytes} B of `{shown}`, but no file is larger than \
             {FILE_BYTES_MAX} B"
        );
        let help = "lower `offset`, `offset_increment`, `numjobs` or `size`";
        Err(Diagnostic::error("size-too-large", text).help(help))
    }

    /// Returns the bytes of the region before rounding to blocks.
    fn region_bytes(
        &self,
        path: &Path,
        kind: FileKind,
        size_bytes: u64,
        offset_bytes: u64,
        file_idx: u64,
        n_files: u64,
    ) -> Result<u64, Diagnostic> {
        let files = &self.job.files;
        let rest = size_bytes.saturating_sub(offset_bytes);
        if let Some((min, max)) = files.file_size_bytes {
            let whole = self.drawn_size(min, max, file_idx);
            return Ok(match files.size {
                Some(Size::Percent(percent)) => share(whole, percent),
                // Limits the amount, and not each file.
                Some(Size::Bytes(_) | Size::Zones(_)) | None => whole,
            });
        }
        match files.size {
            Some(Size::Bytes(0)) | None => {}
            Some(Size::Bytes(bytes)) => return Ok(bytes / n_files),
            Some(Size::Percent(percent)) => {
                if size_bytes > 0 {
                    return Ok(share(size_bytes, percent).min(rest));
                }
            }
            Some(Size::Zones(zones)) => return Ok(zones.saturating_mul(self.zone_bytes())),
        }
        if self.is_endless(kind) {
            let most = u64::from(u32::MAX) * u64::from(self.job.block_size_max());
            return Ok(most.min((FILE_BYTES_MAX as u64).saturating_sub(offset_bytes)));
        }
        if rest > 0 {
            return Ok(rest);
        }
        let job = &self.job.name;
        let shown = path.display();
        if size_bytes > 0 {
            return Err(self.too_small(path, offset_bytes + 1, size_bytes));
        }
        Err(Diagnostic::error(
            "size-unknown",
            format!("job `{job}` gives no size, and `{shown}` does not exist or is empty"),
        )
        .help("set `size=`, for example `size=1g`, or name an existing file or device"))
    }

    /// Returns whether the job says how large its files are, whatever is there.
    fn has_size(&self) -> bool {
        let files = &self.job.files;
        let is_whole = match files.size {
            Some(Size::Bytes(bytes)) => bytes > 0,
            Some(Size::Zones(_)) => true,
            Some(Size::Percent(_)) | None => false,
        };
        is_whole || files.file_size_bytes.is_some()
    }

    /// Returns whether the target has no size of its own and needs none: the null engine, a
    /// character device, or a device that is to be filled.
    fn is_endless(&self, kind: FileKind) -> bool {
        (self.job.engine.kind.is_idle() && kind == FileKind::Missing)
            || kind == FileKind::Character
            || (self.job.files.fill_device && !(kind == FileKind::Block))
    }

    /// Draws a size between the two, whole multiples of the smallest block, by seed and position.
    fn drawn_size(&self, min: u64, max: u64, file_idx: u64) -> u64 {
        if max <= min {
            return min;
        }
        let mut rng = Rng::new(derive(self.seed(), Stream::File, file_idx));
        let drawn = min + rng.bounded(max - min + 1);
        let block = u64::from(self.job.block_size_min()).max(1);
        (drawn / block * block).max(min)
    }

    fn whole_blocks(&self, path: &Path, wanted: u64) -> Result<u64, Diagnostic> {
        let smallest = u64::from(self.job.block_size_min()).max(1);
        if wanted < smallest {
            let job = &self.job.name;
            let shown = path.display();
            return Err(Diagnostic::error(
                "size-too-small",
                format!(
                    "job `{job}` has {wanted} B of `{shown}` to work on, less than one block of \
                     {smallest} B"
                ),
            )
            .help("raise `size`, or lower `bs` or the number of files"));
        }
        Ok(wanted / smallest * smallest)
    }

    fn too_small(&self, path: &Path, end_bytes: u64, size_bytes: u64) -> Diagnostic {
        let job = &self.job.name;
        let shown = path.display();
        Diagnostic::error(
            "target-too-small",
            format!("job `{job}` addresses {end_bytes} B, but `{shown}` holds {size_bytes} B"),
        )
        .help("lower `size` or `offset`, or use `size=100%`")
    }
}

/// Adds up sizes of files that may be more than all together can be.
fn sum_bytes(sizes: impl Iterator<Item = u64>) -> u64 {
    sizes.fold(0, u64::saturating_add)
}

fn share(bytes: u64, percent: u8) -> u64 {
    u64::try_from(u128::from(bytes) * u128::from(percent) / 100).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use plan::{EngineKind, Step};

    use super::*;

    #[track_caller]
    fn check(workers: &[&[u32]], expected: Option<&str>) {
        let job = |n_workers: &u32| Job { n_workers: *n_workers, ..Job::default() };
        let step =
            |of_step: &&[u32]| Step { jobs: of_step.iter().map(job).collect(), ..Step::default() };
        let plan = Plan { steps: workers.iter().map(step).collect(), ..Plan::default() };
        assert_eq!(too_many_workers(&plan).map(|it| it.message).as_deref(), expected);
    }

    #[test]
    fn two_spellings_of_a_path_are_one_file() {
        let folder = "/mnt//a/".to_owned();
        for (directory, name, expected) in [
            (None, "/mnt//a/./f", "/mnt/a/f"),
            (None, "/mnt/a/f/", "/mnt/a/f"),
            (None, "/mnt/a/f/.", "/mnt/a/f"),
            (None, "./f", "./f"),
            (None, "/mnt/a/../f", "/mnt/a/../f"),
            (Some(&folder), "f", "/mnt/a/f"),
        ] {
            assert_eq!(under(directory, name).as_os_str(), expected);
        }
    }

    /// Binds two workers of a job without facts. Returns the first thing that is wrong.
    fn bound(engine: EngineKind, offset: u64, increment: u64, size: Option<u64>) -> Option<String> {
        let mut job = Job { name: "a".to_owned(), n_workers: 2, ..Job::default() };
        job.engine.kind = engine;
        (job.files.offset, job.files.offset_increment) =
            (Size::Bytes(offset), Size::Bytes(increment));
        job.files.size = size.map(Size::Bytes);
        let plan =
            Plan { steps: vec![Step { jobs: vec![job], ..Step::default() }], ..Plan::default() };
        let (_, findings) = bind(&plan, &Facts::default(), 0, &Control::new());
        findings.first().map(|finding| finding.message.clone())
    }

    #[test]
    fn what_ends_where_no_file_can_is_refused() {
        const LAST: u64 = i64::MAX as u64 - 4095;
        let far = 7_000_000_000_000_000_000;
        let beyond = |bytes: &str, file: &str| {
            Some(format!(
                "job `a` addresses {bytes} B of `{file}`, but no file is larger than \
                 9223372036854775807 B"
            ))
        };
        for (engine, offset, increment, size, expected) in [
            (EngineKind::Sync, LAST - 1, 0, Some(4096), None),
            (EngineKind::Sync, LAST, 0, Some(4096), beyond("9223372036854775808", "a.0.0")),
            (EngineKind::Sync, far, far, Some(4096), beyond("14000000000000000000", "a.1.0")),
            (EngineKind::Sync, far, 0, Some(far), beyond("14000000000000000000", "a.0.0")),
            (EngineKind::Null, LAST - 1, 0, None, None),
        ] {
            let found = bound(engine, offset, increment, size);
            assert_eq!(found, expected, "{engine:?}: {size:?} from {offset} + {increment} on");
        }
    }

    #[test]
    fn a_run_has_no_more_workers_than_documented() {
        check(&[], None);
        check(&[&[1, 32_767], &[32_768]], None);
        check(&[&[65_537]], Some("job `` has 65537 workers, but a run takes 65536 at most"));
        check(
            &[&[1, 32_768], &[32_768]],
            Some("the jobs have 65537 workers, 32768 of them ``, but a run takes 65536 at most"),
        );
        let (most, n_workers) = (u32::MAX, 2 * u64::from(u32::MAX));
        let text = format!(
            "the jobs have {n_workers} workers, {most} of them ``, but a run takes 65536 at most"
        );
        check(&[&[most, most]], Some(&text));
    }
}
