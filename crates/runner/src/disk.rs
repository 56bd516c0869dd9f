//! What the kernel counted on the block devices below the targets, as differences over the run.
//!
//! A file stands on the device of its file system, a block device on itself; partitions count as
//! their disk, and devices made of others (md, dm) carry those as members. File systems without a
//! device of their own (tmpfs, overlayfs, NFS) have no entry. A device that vanishes during the run
//! loses its entry and nothing else.

mod usage;

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use engine::FileKind;
use plan::Job;
use record::DiskRecord;

use crate::bind::BoundWorker;
use crate::clock::Clock;
use crate::folders::folder_of;

pub(crate) use usage::DiskWatch;

/// Files of one folder that are looked at: all others of it lie on the same devices.
const FILES_OF_FOLDER_MAX: u32 = 64;

/// Levels of devices on devices that are followed.
const DEPTH_MAX: u32 = 8;

/// The devices below a plan's targets, with their counters at the start.
pub(crate) struct DiskSampler {
    disks: Vec<Disk>,
    /// The kernel counts what is done on all of them for the process that asks for it.
    counts_callers: bool,
    clock: Clock,
}

/// One device.
#[derive(Debug)]
struct Disk {
    name: String,
    /// Its folder in sysfs.
    folder: PathBuf,
    at_start: BlockStat,
    members: Vec<Disk>,
}

impl DiskSampler {
    /// Finds the devices below the targets of some workers and reads their counters.
    pub(crate) fn start<'a>(workers: impl Iterator<Item = &'a BoundWorker>) -> Self {
        let mut seen = HashSet::new();
        let mut disks = Vec::new();
        let mut counts_callers = true;
        let watched = workers.filter(|worker| uses_disks(&worker.job));
        let mut n_looked_at: HashMap<&OsStr, u32> = HashMap::new();
        for file in watched.flat_map(|worker| &worker.files) {
            let n_of_folder = n_looked_at.entry(folder_of(&file.path)).or_default();
            *n_of_folder += 1;
            if file.kind != FileKind::Block && *n_of_folder > FILES_OF_FOLDER_MAX {
                continue;
            }
            if let Some(device) = device_of(&file.path)
                && seen.insert(device)
                && let Some(folder) = disk_folder(device)
                && !disks.iter().any(|disk: &Disk| disk.folder == folder)
            {
                disks.extend(Disk::open(folder, DEPTH_MAX));
                counts_callers &= file.kind == FileKind::Block || usage::counts_caller(&file.path);
            }
        }
        DiskSampler { disks, counts_callers, clock: Clock::start_monotonic() }
    }

    /// Returns what was counted since the start.
    pub(crate) fn finish(&self) -> Vec<DiskRecord> {
        let elapsed_ms = self.clock.now_ns() / 1_000_000;
        self.disks.iter().filter_map(|disk| disk.record(elapsed_ms)).collect()
    }
}

impl Disk {
    fn open(folder: PathBuf, depth_left: u32) -> Option<Self> {
        let name = folder.file_name()?.to_string_lossy().into_owned();
        let at_start = BlockStat::read(&folder)?;
        let mut members = Vec::new();
        if depth_left > 0 {
            let mut folders: Vec<PathBuf> = fs::read_dir(folder.join("slaves"))
                .into_iter()
                .flatten()
                .filter_map(|entry| fs::canonicalize(entry.ok()?.path()).ok())
                .map(whole_disk)
                .collect();
            folders.sort();
            folders.dedup();
            members = folders.into_iter().filter_map(|at| Disk::open(at, depth_left - 1)).collect();
        }
        Some(Disk { name, folder, at_start, members })
    }

    /// Returns what was counted since the start; none where it has vanished.
    fn since_start(&self) -> Option<BlockStat> {
        Some(BlockStat::read(&self.folder)?.since(&self.at_start))
    }

    fn record(&self, elapsed_ms: u64) -> Option<DiskRecord> {
        let delta = self.since_start()?;
        let members = self.members.iter().filter_map(|member| member.record(elapsed_ms)).collect();
        Some(delta.record(&self.name, elapsed_ms, members))
    }
}

/// The kernel's counters of a block device since it exists (`Documentation/block/stat.rst`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct BlockStat {
    read_ios: u64,
    read_merges: u64,
    read_sectors: u64,
    read_ticks_ms: u64,
    write_ios: u64,
    write_merges: u64,
    write_sectors: u64,
    write_ticks_ms: u64,
    busy_ms: u64,
    in_queue_ms: u64,
}

impl BlockStat {
    fn read(folder: &Path) -> Option<Self> {
        BlockStat::parse(&fs::read_to_string(folder.join("stat")).ok()?)
    }

    fn parse(text: &str) -> Option<Self> {
        let mut fields = text.split_ascii_whitespace().map(|word| word.parse::<u64>().ok());
        let mut next = || fields.next().flatten();
        Some(BlockStat {
            read_ios: next()?,
            read_merges: next()?,
            read_sectors: next()?,
            read_ticks_ms: next()?,
            write_ios: next()?,
            write_merges: next()?,
            write_sectors: next()?,
            write_ticks_ms: next()?,
            busy_ms: {
                let _in_flight = next()?;
                next()?
            },
            in_queue_ms: next()?,
        })
    }

    /// Returns the differences. A counter that went backwards belongs to a new device: zero.
    fn since(&self, earlier: &BlockStat) -> BlockStat {
        BlockStat {
            read_ios: self.read_ios.saturating_sub(earlier.read_ios),
            read_merges: self.read_merges.saturating_sub(earlier.read_merges),
            read_sectors: self.read_sectors.saturating_sub(earlier.read_sectors),
            read_ticks_ms: self.read_ticks_ms.saturating_sub(earlier.read_ticks_ms),
            write_ios: self.write_ios.saturating_sub(earlier.write_ios),
            write_merges: self.write_merges.saturating_sub(earlier.write_merges),
            write_sectors: self.write_sectors.saturating_sub(earlier.write_sectors),
            write_ticks_ms: self.write_ticks_ms.saturating_sub(earlier.write_ticks_ms),
            busy_ms: self.busy_ms.saturating_sub(earlier.busy_ms),
            in_queue_ms: self.in_queue_ms.saturating_sub(earlier.in_queue_ms),
        }
    }

    fn record(&self, name: &str, elapsed_ms: u64, members: Vec<DiskRecord>) -> DiskRecord {
        let util_pct = 100.0 * self.busy_ms as f64 / elapsed_ms.max(1) as f64;
        DiskRecord {
            name: name.to_owned(),
            read_ios: self.read_ios,
            write_ios: self.write_ios,
            read_sectors: self.read_sectors,
            write_sectors: self.write_sectors,
            read_merges: self.read_merges,
            write_merges: self.write_merges,
            read_ticks_ms: self.read_ticks_ms,
            write_ticks_ms: self.write_ticks_ms,
            in_queue_ms: self.in_queue_ms,
            // The kernel counts in ticks of its timer, which a short run can exceed by one.
            util_pct: util_pct.min(100.0),
            members,
        }
    }
}

/// Returns whether a job's devices are to be reported. Operations on names are not what a device
/// counts.
fn uses_disks(job: &Job) -> bool {
    job.reporting.disk_util && job.engine.kind.opens_files_here()
}

/// Returns major and minor number of the device that holds `path`, or will hold it when made.
pub(crate) fn device_of(path: &Path) -> Option<(u32, u32)> {
    let meta = fs::metadata(path).or_else(|_| fs::metadata(parent_of(path))).ok()?;
    let kind = meta.file_type();
    let device = if kind.is_block_device() {
        meta.rdev()
    } else if kind.is_file() || kind.is_dir() {
        meta.dev()
    } else {
        return None;
    };
    Some((libc::major(device), libc::minor(device)))
}

/// Returns the folder that holds a file, or will hold it when made.
fn parent_of(path: &Path) -> &Path {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

/// Returns the folder of a device in sysfs, of its disk if it is a partition.
pub(crate) fn disk_folder((major, minor): (u32, u32)) -> Option<PathBuf> {
    fs::canonicalize(format!("/sys/dev/block/{major}:{minor}")).ok().map(whole_disk)
}

/// Returns the disk of a partition, and any other device as it is.
fn whole_disk(folder: PathBuf) -> PathBuf {
    match folder.parent() {
        Some(disk) if folder.join("partition").exists() => disk.to_owned(),
        _ => folder,
    }
}

#[cfg(test)]
mod tests;
