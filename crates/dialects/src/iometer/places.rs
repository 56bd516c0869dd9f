//! The files of a job as targets: devices by their names, and folders, on each of which Iometer has
//! one file.

use std::collections::HashMap;

use plan::files::Size;
use plan::workload::Workload;
use plan::{Job, Span, job_fields};

use super::config::Target;
use super::file::LINE_BYTES_MAX;
use crate::devices::is_device;
use crate::read_back::narrow;
use crate::translation::{Translation, lun_bytes, luns, n_luns};

/// Most files of a job that are written.
const LUNS_MAX: u64 = 4096;

/// Files that lie behind others begin at a multiple of this, as pages do.
const ALIGN_BYTES: u64 = 4096;

/// Where a job works.
#[derive(Clone, Debug)]
pub(super) struct Places {
    /// Its targets, each once.
    pub(super) targets: Vec<Target>,
    /// The files that each of them stands for.
    files: Vec<Vec<String>>,
    /// Its files, of those that are another one in Iometer.
    renamed: Vec<String>,
    /// Most files that one target stands for.
    n_per_target: u64,
}

impl Places {
    /// Returns the targets of a job, or why it has none.
    pub(super) fn of(job: &Job) -> Result<Self, String> {
        if n_luns(job) > LUNS_MAX {
            return Err("it has too many files, each of which would be a target".to_owned());
        }
        let (targets, files, renamed) = (Vec::new(), Vec::new(), Vec::new());
        let mut places = Places { targets, files, renamed, n_per_target: 1 };
        for lun in luns(job) {
            let target = Target { name: name_of(&lun)?, span: Span::default() };
            if target.path() != lun {
                places.renamed.push(lun.clone());
            }
            let known = places.targets.iter().position(|it| it.name == target.name);
            if let Some(idx) = known {
                places.files[idx].push(lun);
            } else {
                places.targets.push(target);
                places.files.push(vec![lun]);
            }
        }
        let n_max = places.files.iter().map(Vec::len).max();
        places.n_per_target = n_max.ok_or("it has no files")? as u64;
        Ok(places)
    }

    /// Returns a job that does to the first target what this one does to each of its files, and
    /// lists what is otherwise.
    pub(super) fn of_first(
        &self,
        job: &Job,
        extents: &mut Extents,
        to: &mut Translation,
    ) -> Result<Job, String> {
        let mut own = Job { options: Vec::new(), ..job.clone() };
        if let [part] = &job.parts[..] {
            let (seed, seed_varies) = (job.workload.seed, job.workload.seed_varies);
            own.workload = Workload { seed, seed_varies, ..part.workload.clone() };
            own.load.rate_total_iops = part.rate_iops.or(own.load.rate_total_iops);
            own.parts.clear();
        }
        own.files.names = self.targets.iter().take(1).map(Target::path).collect();
        own.files.n_files = 1;
        own.n_workers = 1;
        if own.files.directories.len() <= 1 {
            own.files.directories.clear();
        }
        if let Some(bytes) = lun_bytes(job) {
            own.files.size = Some(Size::Bytes(bytes.saturating_mul(self.n_per_target)));
            own.files.file_size_bytes = own.files.file_size_bytes.filter(|(min, max)| min != max);
        }
        let depth = if job.issues_one_at_a_time() { 1 } else { job.load.queue_depth };
        let n_targets = self.targets.len() as u32;
        own.load.queue_depth = (depth / n_targets).max(1);
        if own.load.queue_depth * n_targets != depth {
            to.lose_fields(
                job_fields![load.queue_depth, n_workers],
                format!(
                    "{depth} I/Os in flight over {n_targets} targets (`{}`): Iometer has {} for \
                     each",
                    job.name, own.load.queue_depth
                ),
            );
        }
        let start_bytes = extents.put(self, &mut own, to);
        self.renaming(job, &own, start_bytes, to);
        narrow(job, &mut own, "Iometer", to)?;
        Ok(own)
    }

    /// Lists the files that are others.
    fn renaming(&self, job: &Job, own: &Job, start_bytes: u64, to: &mut Translation) {
        let Some(first) = self.renamed.first() else { return };
        let of_folder = own.files.names.concat();
        let from = match start_bytes {
            0 => String::new(),
            bytes => format!(" from byte {bytes} on, behind those of other jobs,"),
        };
        let more = match self.renamed.len() {
            1 => format!("in place of `{first}`"),
            n => format!("in place of `{first}` and {} more, and as large as all of them", n - 1),
        };
        to.lose_fields(
            job_fields![
                files.names,
                files.directories,
                files.n_files,
                files.size,
                files.offset,
                files.file_size_bytes
            ],
            format!("file names: a folder has one file in Iometer, `{of_folder}`,{from} {more}"),
        );
        if self.renamed.len() > 1 {
            // All that are in flight are on the one file.
            to.do_without(job_fields![load.queue_depth]);
        }
        if own.files.size.is_none() {
            let loss = format!(
                "no size (`{}`): Iometer fills the drive with `{of_folder}` unless `Disk maximum \
                 size` says otherwise",
                job.name
            );
            to.lose(loss);
        }
    }
}

/// Where the files of several jobs lie in the one that each folder has.
#[derive(Debug, Default)]
pub(super) struct Extents {
    /// First bytes of files, by the target that stands for them.
    starts: HashMap<(String, Vec<String>), u64>,
    /// Where what each target stands for ends; `None` is not known.
    ends: HashMap<String, Option<u64>>,
}

impl Extents {
    /// Puts the files of a job behind those of the jobs before, if it has others, and lists it
    /// where both have the same bytes. Returns where they begin.
    fn put(&mut self, places: &Places, own: &mut Job, to: &mut Translation) -> u64 {
        let names = places.targets.iter().map(|target| target.name.clone());
        let keys: Vec<(String, Vec<String>)> = names.zip(places.files.iter().cloned()).collect();
        let known = keys.iter().find_map(|key| self.starts.get(key).copied());
        // Devices, and a file that has the name already, stay as they are.
        let is_fixed = places.renamed.is_empty();
        let behind = keys.iter().filter_map(|(name, _)| self.ends.get(name).copied().flatten());
        let start = known.unwrap_or(if is_fixed { 0 } else { behind.max().unwrap_or(0) });
        let shares = |key: &(String, Vec<String>)| match self.starts.get(key) {
            Some(own_start) => *own_start != start,
            None => self.ends.get(&key.0).is_some_and(|end| end.is_none_or(|end| end > start)),
        };
        if let Some((name, files)) = keys.iter().find(|key| shares(key)) {
            to.lose_fields(
                job_fields![files.names, files.offset],
                format!(
                    "files of several jobs: the file of `{name}` in Iometer has the bytes of \
                     `{}` and of others in the same place",
                    files[0]
                ),
            );
        }
        let end = match (own.files.offset, own.files.size) {
            (Size::Bytes(offset), Some(Size::Bytes(bytes))) => {
                own.files.offset = Size::Bytes(offset.saturating_add(start));
                let end = start.saturating_add(offset).saturating_add(bytes);
                end.checked_next_multiple_of(ALIGN_BYTES)
            }
            (Size::Bytes(_) | Size::Percent(_) | Size::Zones(_), _) => None,
        };
        for key in keys {
            let known = self.ends.entry(key.0.clone()).or_insert(Some(0));
            *known = known.zip(end).map(|(known, end)| known.max(end));
            self.starts.entry(key).or_insert(start);
        }
        start
    }
}

/// Returns Iometer's name of a target that is, or has, this file.
fn name_of(lun: &str) -> Result<String, String> {
    let is_same = |name: &str| {
        let target = Target { name: name.to_owned(), span: Span::default() };
        target.path() == lun
    };
    if lun.contains(char::is_control) {
        return Err("its paths have line ends".to_owned());
    }
    if is_device(lun) {
        let name = lun.strip_prefix("/dev/").unwrap_or(lun);
        return if is_same(name) {
            Ok(name.to_owned())
        } else {
            Err(format!("Iometer has no name for `{lun}`: say the device, as in /dev/sdb"))
        };
    }
    let drive = lun.get(..2).filter(|drive| crate::windows::has_drive(drive));
    let (folder, _) = lun.rsplit_once('/').unwrap_or_default();
    let name = match drive {
        Some(drive) => drive,
        None if lun.starts_with('/') && folder.is_empty() => "/",
        None if lun.starts_with('/') => folder,
        None if is_disk_of_windows(lun) && is_same(lun) => lun,
        None => {
            return Err(format!(
                "`{lun}` is in no folder that Iometer knows: say where, as with `--set \
                 directory=/mnt/data`"
            ));
        }
    };
    // A blank stands before it.
    if name.len() >= LINE_BYTES_MAX {
        return Err(format!("the folder of `{lun}` is longer than a line of Iometer's"));
    }
    // A file system may stand behind a folder.
    if name.contains(" [") {
        return Err(format!("Iometer takes the folder of `{lun}` for another"));
    }
    Ok(name.to_owned())
}

/// Returns whether a name is one that Iometer has for disks of Windows: a number, and the name
/// behind a colon.
fn is_disk_of_windows(lun: &str) -> bool {
    lun.contains(':') || lun.starts_with("PHYSICALDRIVE")
}
