//! `--output-format=terse`: one line per entry, fields joined by `;`, read by position.

use std::fmt::Write as _;

use hist::Histogram;
use record::{DiskRecord, JobRecord, Record};

use super::latency::{LatencyKind, PERCENTILES_MAX, shown_percentiles};
use super::model::{self, Group, Row};
use super::text::finite;

/// Layout of the line (`--terse-version`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TerseVersion {
    /// Reads, writes, trims; no fio version; the description on a line of its own.
    V2,
    /// Reads and writes. The default, and what `--minimal` means.
    V3,
    /// Reads, writes, trims.
    V4,
    /// As 4, with the samples of bandwidth and IOPS.
    V5,
}

impl TerseVersion {
    /// Returns the version of a number, if there is one.
    pub fn from_number(number: u32) -> Option<Self> {
        match number {
            2 => Some(TerseVersion::V2),
            3 => Some(TerseVersion::V3),
            4 => Some(TerseVersion::V4),
            5 => Some(TerseVersion::V5),
            _ => None,
        }
    }

    /// Returns the number: the first field of each line.
    pub fn number(self) -> u32 {
        match self {
            TerseVersion::V2 => 2,
            TerseVersion::V3 => 3,
            TerseVersion::V4 => 4,
            TerseVersion::V5 => 5,
        }
    }
}

/// Returns a record in fio's terse form, a line per entry.
///
/// Latencies are in microseconds (cut, not rounded, where they are whole), sizes in KiB, rates in
/// KiB/s. `fio_version` is field 2 from version 3 on ([`super::COMPAT_VERSION`]).
pub fn terse(record: &Record, version: TerseVersion, fio_version: &str) -> String {
    let groups = model::groups(record);
    let mut text = String::new();
    for job in &record.jobs {
        let mut line = Line { text: &mut text, version };
        line.head(job, fio_version);
        line.rows(job, model::group_of(&groups, job));
        line.resources(job);
        line.latency_table(job);
        // Version 2 is older than these fields.
        if version != TerseVersion::V2 {
            for disk in model::printed_disks(record) {
                line.disk(disk);
            }
        }
        line.tail(job);
    }
    text
}

struct Line<'a> {
    text: &'a mut String,
    version: TerseVersion,
}

/// Appends a field.
macro_rules! field {
    ($line:expr, $($format:tt)*) => {{
        $line.text.push(';');
        let _ = write!($line.text, $($format)*);
    }};
}

impl Line<'_> {
    fn head(&mut self, job: &JobRecord, fio_version: &str) {
        let _ = write!(self.text, "{}", self.version.number());
        if self.version != TerseVersion::V2 {
            field!(self, "{fio_version}");
        }
        // Readers split at each `;`, so a name must not bring its own.
        field!(self, "{};{};{}", one_field(&job.name), job.group_id, job.error_errno);
    }

    fn rows(&mut self, job: &JobRecord, group: &Group<'_>) {
        for row in model::rows(job) {
            if row.name != "trim" || self.version != TerseVersion::V3 {
                self.row(job, group, &row);
            }
        }
    }

    fn row(&mut self, job: &JobRecord, group: &Group<'_>, row: &Row<'_>) {
        let dir = &row.dir;
        field!(self, "{}", dir.io_bytes / 1024);
        field!(self, "{}", model::rate_bytes(dir) / 1024);
        field!(self, "{};{}", model::rate_iops(dir), model::runtime_ms(dir));
        self.latency(&dir.slat);
        self.latency(&dir.clat);
        let (hist, kind) = if job.print.lat_percentiles {
            (&dir.lat, LatencyKind::Lat)
        } else {
            (&dir.clat, LatencyKind::Clat)
        };
        self.percentiles(hist, job, kind);
        self.latency(&dir.lat);
        let bandwidth = &dir.bandwidth_kib_s;
        let share = if bandwidth.n == 0 { 0.0 } else { group.share_pct(row.name, bandwidth.mean) };
        field!(self, "{};{};{share:.6}%", bandwidth.min, bandwidth.max);
        field!(self, "{:.6};{:.6}", finite(bandwidth.mean), finite(bandwidth.stdev));
        if self.version == TerseVersion::V5 {
            let iops = &dir.iops;
            field!(self, "{};{};{}", bandwidth.n, iops.min, iops.max);
            field!(self, "{:.6};{:.6};{}", finite(iops.mean), finite(iops.stdev), iops.n);
        }
    }

    /// Appends minimum, maximum, mean and deviation in microseconds.
    fn latency(&mut self, hist: &Histogram) {
        field!(self, "{}", hist.min_ns().unwrap_or(0) / 1000);
        field!(self, "{}", hist.max_ns().unwrap_or(0) / 1000);
        field!(self, "{:.6}", hist.mean_ns().unwrap_or(0.0) / 1000.0);
        field!(self, "{:.6}", hist.stdev_ns().unwrap_or(0.0) / 1000.0);
    }

    /// Appends twenty percentiles in microseconds; unused ones are `0%=0`.
    ///
    /// A direction without values keeps the names and has zeros.
    fn percentiles(&mut self, hist: &Histogram, job: &JobRecord, kind: LatencyKind) {
        let wanted = job.print.lat_percentiles || job.print.clat_percentiles;
        let percentiles = match shown_percentiles(hist, job, kind) {
            Some(percentiles) => percentiles,
            None if wanted => super::latency::percentile_list(job),
            None => Vec::new(),
        };
        for (percentile, value_ns) in percentiles.iter().zip(hist.fio_percentiles(&percentiles)) {
            field!(self, "{percentile:.6}%={}", value_ns / 1000);
        }
        for _ in percentiles.len()..PERCENTILES_MAX {
            field!(self, "0%=0");
        }
    }

    fn resources(&mut self, job: &JobRecord) {
        let (user_pct, system_pct) = model::cpu_pct(job);
        field!(self, "{user_pct:.6}%;{system_pct:.6}%;{}", job.context_switches);
        field!(self, "{};{}", job.major_faults, job.minor_faults);
        for share in model::level_shares(&job.depth_levels) {
            field!(self, "{share:.1}%");
        }
    }

    fn latency_table(&mut self, job: &JobRecord) {
        let mut table = model::clat_of_all(job).fio_latency_table();
        // These formats are older than nanoseconds: what is below a microsecond is below two.
        table.us[0] += table.ns.iter().sum::<u64>();
        let total = job.n_ios();
        for count in table.us.into_iter().chain(table.ms) {
            field!(self, "{:.2}%", model::share_pct(count, total, 0.01));
        }
    }

    fn disk(&mut self, disk: &DiskRecord) {
        self.disk_fields(&one_field(&disk.name), disk);
        if let Some(mean) = model::members_mean(disk) {
            self.disk_fields("slaves", &mean);
        }
    }

    fn disk_fields(&mut self, name: &str, disk: &DiskRecord) {
        field!(self, "{name};{};{}", disk.read_ios, disk.write_ios);
        field!(self, "{};{}", disk.read_merges, disk.write_merges);
        field!(self, "{};{}", disk.read_ticks_ms, disk.write_ticks_ms);
        field!(self, "{};{:.2}%", disk.in_queue_ms, finite(disk.util_pct));
    }

    fn tail(&mut self, job: &JobRecord) {
        if job.print.continue_on_error {
            field!(self, "{};{}", job.n_errors, job.error_errno);
        }
        if let Some(description) = job.description.as_ref().filter(|text| !text.is_empty()) {
            if self.version == TerseVersion::V2 {
                self.text.push('\n');
            }
            field!(self, "{}", description.replace('\n', " "));
        }
        self.text.push('\n');
    }
}

/// Returns a text that stays one field.
fn one_field(text: &str) -> String {
    text.replace([';', '\n'], " ")
}
