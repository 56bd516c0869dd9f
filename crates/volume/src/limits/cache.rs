//! The host cache in closed form: hits, the disk behind it, warm-up.

use super::bound::{Achieved, Bound, least};
use crate::cap::CapKind;
use crate::design::CacheMode;

/// Returns the share of uniformly random reads that hit once the cache is as warm as it gets.
pub fn hit_ratio(cache_bytes: f64, working_set_bytes: f64) -> f64 {
    (cache_bytes / working_set_bytes).min(1.0)
}

/// Returns the share of I/Os on a cached disk that reach the disk: misses and writes.
///
/// Under ReadWrite writes come later: at the rate of the flush, which is at most theirs; with every
/// block written once it is theirs, and that is returned.
pub fn disk_share(read_share: f64, hit_ratio: f64, mode: CacheMode) -> f64 {
    let hit_ratio = if mode == CacheMode::None { 0.0 } else { hit_ratio };
    read_share * (1.0 - hit_ratio) + (1.0 - read_share)
}

/// Returns what reads and writes, in any rate, put on the disk.
pub fn disk_load(reads: f64, writes: f64, hit_ratio: f64, mode: CacheMode) -> f64 {
    let all = reads + writes;
    if all > 0.0 { all * disk_share(reads / all, hit_ratio, mode) } else { 0.0 }
}

/// Returns the most writes that the disk takes beside reads of which a share hits.
pub fn write_room(disk: f64, reads: f64, hit_ratio: f64, mode: CacheMode) -> f64 {
    (disk - disk_load(reads, 0.0, hit_ratio, mode)).max(0.0)
}

/// Returns the rate behind a ReadOnly cache: the disk over the share that reaches it, and the
/// machine's cached cap.
pub fn rate(disk_iops: f64, cached_iops: f64, read_share: f64, hit_ratio: f64) -> Achieved {
    let share = disk_share(read_share, hit_ratio, CacheMode::ReadOnly);
    let by_disk = if share > 0.0 { disk_iops / share } else { f64::INFINITY };
    least(
        None,
        &[
            (Bound::Cap(CapKind::VmCachedIops), cached_iops),
            (Bound::Cap(CapKind::DiskIops), by_disk),
        ],
    )
}

/// Warm-up under random reads of a file: dc/dt = min(disk, cached x (1 − c)) / file.
///
/// At first the disk is all that fills the cache; from the share on at which misses under the
/// cached cap are fewer, what is still cold shrinks by 1/e each tau.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WarmUp {
    file_bytes: f64,
    disk_bytes_per_s: f64,
    cached_bytes_per_s: f64,
}

impl WarmUp {
    /// Takes the file's size and the two caps.
    pub fn new(file_bytes: f64, disk_bytes_per_s: f64, cached_bytes_per_s: f64) -> Self {
        WarmUp { file_bytes, disk_bytes_per_s, cached_bytes_per_s }
    }

    /// Returns the warm share up to which it grows in a straight line.
    pub fn linear_until(&self) -> f64 {
        (1.0 - self.disk_bytes_per_s / self.cached_bytes_per_s).max(0.0)
    }

    /// Returns how long the straight line takes, seconds.
    pub fn linear_s(&self) -> f64 {
        self.linear_until() * self.file_bytes / self.disk_bytes_per_s
    }

    /// Returns the time constant behind it, seconds.
    pub fn tau_s(&self) -> f64 {
        self.file_bytes / self.cached_bytes_per_s
    }

    /// Returns what holds it back at a time.
    pub fn binds_at(&self, seconds: f64) -> Bound {
        if seconds < self.linear_s() {
            Bound::Cap(CapKind::DiskBytes)
        } else {
            Bound::Cap(CapKind::VmCachedBytes)
        }
    }

    /// Returns when a share below 1 is warm, seconds from the start.
    pub fn seconds_to(&self, warm: f64) -> f64 {
        let linear_until = self.linear_until();
        if warm <= linear_until {
            return warm * self.file_bytes / self.disk_bytes_per_s;
        }
        self.linear_s() + self.tau_s() * ((1.0 - linear_until) / (1.0 - warm)).ln()
    }

    /// Returns the share that is still cold after a time.
    pub fn cold_at(&self, seconds: f64) -> f64 {
        let linear_s = self.linear_s();
        if seconds <= linear_s {
            return 1.0 - seconds * self.disk_bytes_per_s / self.file_bytes;
        }
        (1.0 - self.linear_until()) * (-(seconds - linear_s) / self.tau_s()).exp()
    }
}

/// Default of the disk a system starts from, in every edition.
pub const OS_DISK_MODE: CacheMode = CacheMode::ReadWrite;

/// Returns the default of data disks; `None` where the edition's source contradicts itself, so that
/// a design must say it.
///
/// The guide of 2018 says ReadOnly in its text and None in its table.
pub fn data_disk_mode(edition: &str) -> Option<CacheMode> {
    (edition != "2018").then_some(CacheMode::None)
}
