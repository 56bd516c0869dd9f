//! How much of what the disks did in a step this process asked for.
//!
//! The kernel counts for each process what it made devices read and write (`/proc/self/io`,
//! proc_pid_io(5)), and for each disk what came of all processes. The difference is others' work.
//! The two agree only where a file system submits in the context of its caller and adds no more
//! than a little of its journal: on block devices themselves, ext2 to ext4, and xfs.

use std::fs;
use std::path::Path;

use plan::files::{Durability, SyncMode};
use plan::{EngineWork, Job};
use record::{DiskUseDir, DiskUseRecord};

use super::{BlockStat, Disk, DiskSampler, parent_of};
use crate::bind::BoundWorker;
use crate::clock::Clock;

/// Bytes of a sector: the kernel counts in these whatever the device has.
const SECTOR_BYTES: u64 = 512;

/// File systems that submit in the context of their caller, as `statfs(2)` names them: ext2 to
/// ext4, and xfs.
const OF_CALLER: [i64; 2] = [0xef53, 0x5846_5342];

/// Watches the disks below the targets of a step.
pub(crate) struct DiskWatch {
    disks: DiskSampler,
    own: OwnIo,
    /// What this process writes is all that it makes the disks write, and at that time.
    knows_own_writes: bool,
}

impl DiskWatch {
    /// Finds the disks and begins to watch. None where there are none, or where the kernel does not
    /// say what this process asked for.
    pub(crate) fn start<'a>(
        workers: impl Iterator<Item = &'a BoundWorker> + Clone,
        has_journal: bool,
    ) -> Option<Self> {
        let disks = DiskSampler::start(workers.clone());
        if disks.disks.is_empty() || !disks.counts_callers {
            return None;
        }
        let mut jobs = workers.map(|worker| &worker.job);
        let knows_own_writes = !has_journal && jobs.all(|job| writes_as_asked(job));
        Some(DiskWatch { disks, own: OwnIo::now()?, knows_own_writes })
    }

    /// Begins anew with the same disks.
    pub(crate) fn restart(mut self) -> Option<Self> {
        for disk in &mut self.disks.disks {
            disk.at_start = BlockStat::read(&disk.folder)?;
        }
        self.disks.clock = Clock::start_monotonic();
        Some(DiskWatch { own: OwnIo::now()?, ..self })
    }

    /// Returns what was done since the start; none where a disk has vanished.
    pub(crate) fn finish(&self) -> Option<DiskUseRecord> {
        let length_ms = self.disks.clock.now_ns() / 1_000_000;
        let deltas: Option<Vec<_>> = self.disks.disks.iter().map(Disk::since_start).collect();
        let (own, deltas) = (OwnIo::now()?.since(self.own), deltas?);
        let busy_ms = deltas.iter().map(|it| it.busy_ms).max().unwrap_or(0);
        let sum = |of: fn(&BlockStat) -> u64| deltas.iter().map(of).sum::<u64>();
        let dir = |n_ios, sectors: u64, own_bytes| DiskUseDir {
            n_ios,
            bytes: sectors.saturating_mul(SECTOR_BYTES),
            own_bytes,
        };
        let write = dir(sum(|it| it.write_ios), sum(|it| it.write_sectors), own.write_bytes);
        Some(DiskUseRecord {
            disks: self.disks.disks.iter().map(|disk| disk.name.clone()).collect(),
            length_ms,
            busy_share: (busy_ms as f64 / length_ms.max(1) as f64).min(1.0),
            read: dir(sum(|it| it.read_ios), sum(|it| it.read_sectors), own.read_bytes),
            write,
            knows_own_writes: self.knows_own_writes,
        })
    }
}

/// Returns whether what a job writes reaches its disks as it is written, and nothing beside it.
fn writes_as_asked(job: &Job) -> bool {
    let is_direct = job.engine.kind.traits().work == EngineWork::Bytes && job.files.direct;
    let has_syncs = job.durability != Durability::default()
        || job.files.sync != SyncMode::None
        || job.files.fsync_on_close;
    !job.modifies() || is_direct && !has_syncs && job.tree.is_none()
}

/// Returns whether reads and direct writes of a file count for the process that asks for them.
pub(super) fn counts_caller(path: &Path) -> bool {
    let facts = rustix::fs::statfs(path).or_else(|_| rustix::fs::statfs(parent_of(path)));
    facts.is_ok_and(|it| OF_CALLER.contains(&it.f_type))
}

/// What this process has asked devices for since it began, bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct OwnIo {
    read_bytes: u64,
    write_bytes: u64,
}

impl OwnIo {
    fn now() -> Option<Self> {
        OwnIo::parse(&fs::read_to_string("/proc/self/io").ok()?)
    }

    fn parse(text: &str) -> Option<Self> {
        let value = |name: &str| {
            let mut lines = text.lines().filter_map(|line| line.split_once(": "));
            lines.find(|(known, _)| *known == name)?.1.trim().parse().ok()
        };
        Some(OwnIo { read_bytes: value("read_bytes")?, write_bytes: value("write_bytes")? })
    }

    fn since(self, earlier: OwnIo) -> OwnIo {
        OwnIo {
            read_bytes: self.read_bytes.saturating_sub(earlier.read_bytes),
            write_bytes: self.write_bytes.saturating_sub(earlier.write_bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_process_asked_for() {
        let text = "rchar: 5\nwchar: 6\nsyscr: 1\nsyscw: 1\nread_bytes: 4096\nwrite_bytes: 512\n\
                    cancelled_write_bytes: 0\n";
        let own = OwnIo { read_bytes: 4096, write_bytes: 512 };
        assert_eq!(OwnIo::parse(text), Some(own));
        assert_eq!(OwnIo::parse("rchar: 5\n"), None);
        assert_eq!(OwnIo::parse("read_bytes: x\nwrite_bytes: 1\n"), None);
    }

    #[test]
    fn which_writes_are_known() {
        let check = |change: fn(&mut Job), expected: bool| {
            let mut job = Job::default();
            job.engine.kind = plan::EngineKind::Uring;
            job.workload.access.write = true;
            job.files.direct = true;
            change(&mut job);
            assert_eq!(writes_as_asked(&job), expected, "{job:?}");
        };
        check(|_| {}, true);
        check(|job| job.files.direct = false, false);
        check(|job| job.durability.fsync_every = 1, false);
        check(|job| job.durability.end_fsync = true, false);
        check(|job| job.files.sync = SyncMode::Sync, false);
        check(|job| job.files.fsync_on_close = true, false);
        check(|job| job.engine.kind = plan::EngineKind::Mmap, false);
        check(|job| (job.files.direct, job.workload.access.write) = (false, false), true);
    }
}
