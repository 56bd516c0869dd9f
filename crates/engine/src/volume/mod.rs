//! Volumes that are computed, not stored: operations become [`Io`]s of a [`volume::System`].
//!
//! [`Volumes`] shares one system among the workers of a run, in real time or slower; the engine
//! over it keeps no data. [`VolumeRange`], [`route`] and [`Tally`] also serve a driver in virtual
//! time.

mod engine;
mod host;

pub use engine::VolumeEngine;
pub use host::{Member, ReadClock, Volumes, WaitAccount};

use plan::Direction;
use plan::op::{Op, OpClass, SyncScope};
use volume::{CapId, CapKind, DirtyLevel, Done, Io, IoKind, Stations, System};

/// Where the bytes of a file lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VolumeRange {
    /// Position of the volume in the design.
    pub volume: u16,
    /// Position of the design's client that reaches it, on a network volume; else 0.
    pub client: u16,
    /// Address of the file's first byte.
    pub base_bytes: u64,
    /// Bytes from there; what lies beyond does not fit the volume.
    pub len_bytes: u64,
}

/// Where a tree of files lies: each file has room for the largest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeRange {
    /// All of it.
    pub range: VolumeRange,
    /// Bytes from the start of a file to that of the next.
    pub file_bytes: u64,
}

/// Returns an operation in a tree as its volume sees it, as [`route`] does.
pub fn route_in_tree(op: &Op, place: &TreeRange, through: bool, id: u64) -> Result<Io, i32> {
    let TreeRange { range, file_bytes } = place;
    if op.kind.class() == OpClass::File {
        let (volume, client) = (range.volume, range.client);
        return Ok(Io { id, kind: IoKind::Call, volume, client, offset_bytes: 0, len_bytes: 0 });
    }
    let offset = u64::from(op.file.0).saturating_mul(*file_bytes).saturating_add(op.offset);
    let whole = [*range];
    route(&Op { file: plan::op::FileIdx(0), offset, ..*op }, &whole, through, id)
}

/// Returns the operation as its volume sees it, or the result of one that never gets there: beyond
/// the end of what the volume holds, or without effect on it.
///
/// `through` makes writes bypass the caches (`O_SYNC`). `sync_file_range` starts the write-back of
/// a page cache, which is not emulated, so it does nothing.
#[inline]
pub fn route(op: &Op, places: &[VolumeRange], through: bool, id: u64) -> Result<Io, i32> {
    let Some(place) = places.get(op.file.0 as usize) else { return Err(-libc::EBADF) };
    let kind = match op.kind.class() {
        OpClass::Bytes(Direction::Read) => IoKind::Read,
        OpClass::Bytes(Direction::Write) if through => IoKind::WriteThrough,
        OpClass::Bytes(Direction::Write) => IoKind::Write,
        OpClass::Bytes(Direction::Trim) => IoKind::Trim,
        OpClass::Sync(SyncScope::All | SyncScope::Data) => IoKind::Flush,
        OpClass::Sync(SyncScope::Range) => return Err(0),
        OpClass::File => return Err(-libc::EOPNOTSUPP),
    };
    if op.offset.saturating_add(u64::from(op.len)) > place.len_bytes {
        return Err(if kind == IoKind::Read { 0 } else { -libc::ENOSPC });
    }
    Ok(Io {
        id,
        kind,
        volume: place.volume,
        client: place.client,
        offset_bytes: place.base_bytes + op.offset,
        len_bytes: if kind == IoKind::Flush { 0 } else { op.len },
    })
}

/// What a worker's I/Os waited for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Nanoseconds by cap, in the order of the system's list; the last is for no cap.
    held_ns: Box<[u64]>,
    /// Sum of the latencies, nanoseconds.
    io_time_ns: u64,
    /// Sum of the times by which completions were handed out too late, nanoseconds.
    late_ns: u64,
    /// What any of them came through.
    stations: Stations,
}

impl Tally {
    /// Makes an empty tally of a system with so many caps.
    pub fn new(n_caps: usize) -> Self {
        Tally { held_ns: vec![0; n_caps + 1].into_boxed_slice(), ..Tally::default() }
    }

    /// Counts one I/O.
    #[inline]
    pub fn add(&mut self, done: &Done, latency_ns: u64) {
        // `CapId::NONE` is beyond all caps.
        let cap_idx = usize::from(done.held_by.0).min(self.held_ns.len() - 1);
        self.held_ns[cap_idx] += done.held_ns;
        self.io_time_ns += latency_ns;
        self.stations = self.stations.and(done.stations);
    }

    /// Returns the time that I/Os waited for a cap, nanoseconds.
    pub fn held_ns(&self, cap: CapId) -> u64 {
        self.held_ns.get(usize::from(cap.0)).copied().unwrap_or(0)
    }

    /// Counts that an I/O's completion was handed out this long after its modelled time.
    #[inline]
    pub fn add_lateness(&mut self, late_ns: u64) {
        self.late_ns += late_ns;
    }

    /// Returns by which share the measured latencies are too long, because this host was late: 0 in
    /// virtual time.
    pub fn late_share(&self) -> f64 {
        if self.io_time_ns == 0 { 0.0 } else { self.late_ns as f64 / self.io_time_ns as f64 }
    }

    /// Returns whether one of the I/Os came to where there are caps of this kind.
    pub fn met(&self, kind: CapKind) -> bool {
        self.stations.have(kind)
    }

    /// Returns the sum of the latencies, nanoseconds.
    pub fn io_time_ns(&self) -> u64 {
        self.io_time_ns
    }
}

/// What the caps of a system had given by a moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UsageMark {
    at_ns: u64,
    /// Share of its capacity that each cap has given since the start.
    shares: Vec<f64>,
    /// What each cap has carried since the start: operations (in units) or bytes.
    used: Vec<u64>,
    dirty: DirtyLevel,
}

/// How what is dirty in a write-back cache grew between two moments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DirtyGrowth {
    /// Bytes per second.
    pub bytes_per_s: f64,
    /// Bytes, over the whole time.
    pub bytes: f64,
    /// From the later moment on, until writes wait for the disks, if it goes on growing as fast;
    /// infinite where it does not grow. What is written again while it is dirty makes it longer.
    pub lasts_s: f64,
    /// Bytes that there was still room for at the later moment.
    pub left_bytes: f64,
    /// Bytes that may be dirty.
    pub full_bytes: f64,
    /// So many because no more ranges are followed; half of the cache is more.
    pub is_by_ranges: bool,
    /// Bytes that were written to it between the moments.
    pub written_bytes: f64,
    /// Seconds between them.
    pub passed_s: f64,
}

impl UsageMark {
    /// Reads a system that started at time 0.
    pub fn of(system: &System, now_ns: u64) -> Self {
        let usage = system.usage(now_ns);
        let shares = usage.iter().map(|usage| usage.capacity_share).collect();
        let used = usage.iter().map(|usage| usage.used).collect();
        UsageMark { at_ns: now_ns, shares, used, dirty: system.dirty_level() }
    }

    /// Returns the time since an earlier mark of the same system.
    fn passed_ns(&self, earlier: &UsageMark) -> u64 {
        let (UsageMark { at_ns, used, .. }, before_ns) = (self, earlier.at_ns);
        assert!(before_ns <= *at_ns, "caps at {at_ns} ns are compared with {before_ns} ns");
        let (n_caps, n_before) = (used.len(), earlier.used.len());
        assert_eq!(n_caps, n_before, "{n_caps} caps are compared with {n_before}");
        at_ns - before_ns
    }

    /// Returns how what is dirty grew after `earlier`.
    ///
    /// # Panics
    /// If that is a later mark, or one of another system.
    pub fn dirty_since(&self, earlier: &UsageMark) -> DirtyGrowth {
        let passed_s = self.passed_ns(earlier).max(1) as f64 / 1e9;
        let (now, before) = (&self.dirty, &earlier.dirty);
        let (n_now, n_before) = (now.written_bytes, before.written_bytes);
        assert!(n_now >= n_before, "{n_before} B were written, and later {n_now} B");
        let (end, begin) = (now.bytes as f64, before.bytes as f64);
        let full_bytes = now.full_bytes as f64;
        let left_bytes = (full_bytes - end).max(0.0);
        let grown = end - begin;
        let lasts_s = if grown > 0.0 { left_bytes / grown * passed_s } else { f64::INFINITY };
        DirtyGrowth {
            bytes_per_s: grown / passed_s,
            bytes: grown,
            lasts_s,
            left_bytes,
            full_bytes,
            is_by_ranges: now.is_by_ranges,
            written_bytes: (n_now - n_before) as f64,
            passed_s,
        }
    }

    /// Returns what each cap carried per second after `earlier`, in the order of the system's list.
    ///
    /// # Panics
    /// As [`UsageMark::dirty_since`].
    pub fn rates_since(&self, earlier: &UsageMark) -> Vec<f64> {
        let passed_ns = self.passed_ns(earlier).max(1) as f64;
        let pairs = self.used.iter().zip(&earlier.used);
        pairs.map(|(end, begin)| end.saturating_sub(*begin) as f64 * 1e9 / passed_ns).collect()
    }

    /// Returns the share of its capacity that each cap gave after `earlier`, in the order of the
    /// system's list.
    ///
    /// # Panics
    /// As [`UsageMark::dirty_since`].
    pub fn since(&self, earlier: &UsageMark) -> Vec<f64> {
        let passed_ns = self.passed_ns(earlier) as f64;
        if passed_ns == 0.0 {
            return vec![0.0; self.shares.len()];
        }
        let (end_ns, begin_ns) = (self.at_ns as f64, earlier.at_ns as f64);
        let pairs = self.shares.iter().zip(&earlier.shares);
        pairs.map(|(end, begin)| ((end * end_ns - begin * begin_ns) / passed_ns).max(0.0)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_stays_written() {
        let mark = |at_ns, written_bytes| {
            let dirty = DirtyLevel { written_bytes, ..DirtyLevel::default() };
            UsageMark { at_ns, dirty, ..UsageMark::default() }
        };
        assert_eq!(mark(2, 8192).dirty_since(&mark(1, 4096)).written_bytes as u64, 4096);
        testing::check_wrong_calls(&[("less", "8192 B were written, and later 4096 B", &|| {
            _ = mark(2, 4096).dirty_since(&mark(1, 8192));
        })]);
    }
}
