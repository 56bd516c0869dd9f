//! What the printed formats have in common: rows per direction, and the totals of a group.

use std::borrow::Cow;

use hist::Histogram;
use record::{DirRecord, DiskRecord, IoPriorityRecord, JobRecord, PriorityRecord, Record};

/// `eta` of an entry that has ended: fio's largest integer.
pub(super) const ETA_FINISHED: u64 = i32::MAX as u64;

/// One direction of an entry, as printed.
pub(super) struct Row<'a> {
    /// `read`, `write`, `trim` or `mixed`.
    pub(super) name: &'static str,
    pub(super) dir: Cow<'a, DirRecord>,
}

/// Returns the directions of an entry as its `unified_rw_reporting` asks for them.
///
/// Three rows, or the one called `mixed`, or all four.
pub(super) fn rows(job: &JobRecord) -> Vec<Row<'_>> {
    let mixed = || Row { name: "mixed", dir: Cow::Owned(job.mixed()) };
    let separate = job.dirs.iter().map(|(name, dir)| Row { name, dir: Cow::Borrowed(dir) });
    match job.print.unified.as_str() {
        "mixed" => vec![mixed()],
        "both" => separate.chain([mixed()]).collect(),
        _ => separate.collect(),
    }
}

/// Runtime in whole milliseconds, rounded up, so that a direction with I/O never has 0.
pub(super) fn runtime_ms(dir: &DirRecord) -> u64 {
    dir.runtime_ns.div_ceil(1_000_000)
}

/// Bytes per second, from the runtime that is printed beside it.
pub(super) fn rate_bytes(dir: &DirRecord) -> u64 {
    per_second(dir.io_bytes, runtime_ms(dir))
}

/// Whole operations per second, from the runtime that is printed beside it.
pub(super) fn rate_iops(dir: &DirRecord) -> u64 {
    per_second(dir.n_ios, runtime_ms(dir))
}

/// Operations per second with their fraction.
pub(super) fn rate_iops_exact(dir: &DirRecord) -> f64 {
    match runtime_ms(dir) {
        0 => 0.0,
        ms => 1000.0 * dir.n_ios as f64 / ms as f64,
    }
}

fn per_second(count: u64, ms: u64) -> u64 {
    let rate = (u128::from(count) * 1000).checked_div(u128::from(ms)).unwrap_or(0);
    u64::try_from(rate).unwrap_or(u64::MAX)
}

/// Sums of a reporting group in one direction.
pub(super) struct GroupRow {
    pub(super) name: &'static str,
    pub(super) io_bytes: u64,
    /// Smallest and largest rate of the entries with I/O, bytes per second.
    pub(super) rate_min: u64,
    pub(super) rate_max: u64,
    pub(super) run_min_ms: u64,
    pub(super) run_max_ms: u64,
}

impl GroupRow {
    /// All bytes over the longest runtime, bytes per second.
    pub(super) fn rate_total(&self) -> u64 {
        per_second(self.io_bytes, self.run_max_ms)
    }

    /// Share of a mean bandwidth in the group's total, percent, at most 100.
    pub(super) fn share_pct(&self, bandwidth_kib_s: f64) -> f64 {
        match self.rate_total() {
            0..1024 => 100.0,
            total => (bandwidth_kib_s * 100.0 / (total as f64 / 1024.0)).min(100.0),
        }
    }

    fn add(&mut self, dir: &DirRecord) {
        let (rate, run_ms) = (rate_bytes(dir), runtime_ms(dir));
        if run_ms == 0 {
            return;
        }
        if self.run_max_ms == 0 {
            (self.rate_min, self.run_min_ms) = (rate, run_ms);
        }
        self.io_bytes = self.io_bytes.saturating_add(dir.io_bytes);
        self.rate_min = self.rate_min.min(rate);
        self.rate_max = self.rate_max.max(rate);
        self.run_min_ms = self.run_min_ms.min(run_ms);
        self.run_max_ms = self.run_max_ms.max(run_ms);
    }
}

/// A reporting group.
pub(super) struct Group<'a> {
    pub(super) id: u32,
    pub(super) rows: Vec<GroupRow>,
    /// The first entry: how to print.
    pub(super) first: &'a JobRecord,
}

impl Group<'_> {
    /// Returns the share of an entry's mean bandwidth in its group, percent.
    pub(super) fn share_pct(&self, name: &str, bandwidth_kib_s: f64) -> f64 {
        let row = self.rows.iter().find(|row| row.name == name);
        row.map_or(100.0, |row| row.share_pct(bandwidth_kib_s))
    }
}

/// Returns the groups of a record in the order in which they first occur.
pub(super) fn groups(record: &Record) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for job in &record.jobs {
        let known = groups.iter().position(|group| group.id == job.group_id);
        let idx = known.unwrap_or(groups.len());
        if known.is_none() {
            groups.push(Group { id: job.group_id, rows: Vec::new(), first: job });
        }
        for row in rows(job) {
            group_row(&mut groups[idx].rows, row.name).add(&row.dir);
        }
    }
    groups
}

fn group_row<'a>(rows: &'a mut Vec<GroupRow>, name: &'static str) -> &'a mut GroupRow {
    let idx = rows.iter().position(|row| row.name == name).unwrap_or(rows.len());
    if idx == rows.len() {
        rows.push(GroupRow {
            name,
            io_bytes: 0,
            rate_min: 0,
            rate_max: 0,
            run_min_ms: 0,
            run_max_ms: 0,
        });
    }
    &mut rows[idx]
}

/// Returns the group of an entry.
pub(super) fn group_of<'a, 'b>(groups: &'a [Group<'b>], job: &JobRecord) -> &'a Group<'b> {
    let group = groups.iter().find(|group| group.id == job.group_id);
    group.expect("the groups were made from all entries of the record")
}

/// Shares of depths or batches, percent. A share above 0 is at least 0.1, as fio prints it.
pub(super) fn level_shares(counts: &[u64; 7]) -> [f64; 7] {
    let total = counts.iter().fold(0_u64, |sum, count| sum.saturating_add(*count));
    counts.map(|count| share_pct(count, total, 0.1))
}

/// Share in percent; at least `floor_pct` when there is anything at all.
pub(super) fn share_pct(count: u64, total: u64, floor_pct: f64) -> f64 {
    if count == 0 || total == 0 {
        0.0
    } else {
        (count as f64 * 100.0 / total as f64).max(floor_pct)
    }
}

/// Completion latencies of all directions: what fio's latency tables are made from.
pub(super) fn clat_of_all(job: &JobRecord) -> Histogram {
    let mut clat = job.dirs.read.clat.clone();
    clat.merge(&job.dirs.write.clat);
    clat.merge(&job.dirs.trim.clat);
    clat
}

/// Latencies of the operations of one priority, as printed.
pub(super) struct PriorityRow<'a> {
    pub(super) priority: IoPriorityRecord,
    /// `clat`, or `lat` where the job asks for percentiles of that.
    pub(super) kind: &'static str,
    pub(super) hist: &'a Histogram,
    /// Share of the direction's operations, percent.
    pub(super) share_pct: f64,
}

/// Returns the priorities with operations; none unless there are two, as in fio.
pub(super) fn priority_rows<'a>(job: &JobRecord, dir: &'a DirRecord) -> Vec<PriorityRow<'a>> {
    let in_total = job.print.lat_percentiles;
    let (kind, all) = if in_total { ("lat", &dir.lat) } else { ("clat", &dir.clat) };
    let row = |of: &'a PriorityRecord| {
        let hist = if in_total { &of.lat } else { &of.clat };
        let share_pct = share_pct(hist.count(), all.count(), 0.0);
        PriorityRow { priority: of.priority, kind, hist, share_pct }
    };
    let rows = dir.priorities.iter().map(row).filter(|row| !row.hist.is_empty());
    let rows: Vec<PriorityRow<'_>> = rows.collect();
    if rows.len() < 2 { Vec::new() } else { rows }
}

/// CPU time in user mode and in the kernel, percent of the runtime of all workers.
pub(super) fn cpu_pct(job: &JobRecord) -> (f64, f64) {
    if job.runtime_ns == 0 {
        return (0.0, 0.0);
    }
    let share = |cpu_ns: u64| cpu_ns as f64 * 100.0 / job.runtime_ns as f64;
    (share(job.cpu_user_ns), share(job.cpu_system_ns))
}

/// Returns the means of a device's members and the highest utilisation among them: what fio
/// prints as `aggr_*`. None for a device without members.
pub(super) fn members_mean(disk: &DiskRecord) -> Option<DiskRecord> {
    let n_members = disk.members.len() as u64;
    if n_members == 0 {
        return None;
    }
    let mean = |value: fn(&DiskRecord) -> u64| {
        disk.members.iter().fold(0_u64, |sum, disk| sum.saturating_add(value(disk))) / n_members
    };
    let util_max = disk.members.iter().map(|disk| disk.util_pct).fold(0.0, f64::max);
    Some(DiskRecord {
        name: String::new(),
        read_ios: mean(|disk| disk.read_ios),
        write_ios: mean(|disk| disk.write_ios),
        read_sectors: mean(|disk| disk.read_sectors),
        write_sectors: mean(|disk| disk.write_sectors),
        read_merges: mean(|disk| disk.read_merges),
        write_merges: mean(|disk| disk.write_merges),
        read_ticks_ms: mean(|disk| disk.read_ticks_ms),
        write_ticks_ms: mean(|disk| disk.write_ticks_ms),
        in_queue_ms: mean(|disk| disk.in_queue_ms),
        util_pct: util_max.min(100.0),
        members: Vec::new(),
    })
}

/// Returns the devices to print: none if every entry has them switched off.
pub(super) fn printed_disks(record: &Record) -> &[DiskRecord] {
    let wanted = record.jobs.iter().any(|job| !job.print.disabled.disk_util);
    if wanted { &record.disks } else { &[] }
}
