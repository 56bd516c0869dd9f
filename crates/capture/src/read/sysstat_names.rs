//! The figures of sysstat by all the names that they had.
//!
//! Columns have moved and were renamed: `avgqu-sz` is `aqu-sz` since 11.5.7, `kB_read/s` is
//! `rkB/s` in the extended report, and `sadf` has its own. One table serves all of them.

use crate::sample::Rates;

/// A figure of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DeviceFigure {
    ReadIops,
    WriteIops,
    DiscardIops,
    FlushIops,
    /// Transfers of all kinds, discards included.
    AllIops,
    ReadBytes,
    WriteBytes,
    DiscardBytes,
    /// Bytes of the whole report.
    ReadTotal,
    WriteTotal,
    DiscardTotal,
    ReadMerged,
    WriteMerged,
    ReadMs,
    WriteMs,
    AllMs,
    Queue,
    BusyPercent,
}

const KIB: f64 = 1024.0;
const MIB: f64 = 1024.0 * 1024.0;
/// Sectors and blocks of sysstat are of 512 bytes whatever the device has.
const SECTOR: f64 = 512.0;

/// Returns what a name means, and how much one of its units is.
pub(super) fn what(name: &str) -> Option<(DeviceFigure, f64)> {
    let found = match name {
        // The second of each is of the whole host.
        "r/s" | "rtps" => (DeviceFigure::ReadIops, 1.0),
        "w/s" | "wtps" => (DeviceFigure::WriteIops, 1.0),
        "d/s" => (DeviceFigure::DiscardIops, 1.0),
        "f/s" => (DeviceFigure::FlushIops, 1.0),
        "tps" => (DeviceFigure::AllIops, 1.0),
        "rkB/s" | "kB_read/s" | "rkB" => (DeviceFigure::ReadBytes, KIB),
        "rMB/s" | "MB_read/s" => (DeviceFigure::ReadBytes, MIB),
        "rsec/s" | "Blk_read/s" | "rd_sec/s" | "rd_sec" | "bread/s" => {
            (DeviceFigure::ReadBytes, SECTOR)
        }
        "wkB/s" | "kB_wrtn/s" | "wkB" => (DeviceFigure::WriteBytes, KIB),
        "wMB/s" | "MB_wrtn/s" => (DeviceFigure::WriteBytes, MIB),
        "wsec/s" | "Blk_wrtn/s" | "wr_sec/s" | "wr_sec" | "bwrtn/s" => {
            (DeviceFigure::WriteBytes, SECTOR)
        }
        "dkB/s" | "kB_dscd/s" | "dkB" => (DeviceFigure::DiscardBytes, KIB),
        "dMB/s" | "MB_dscd/s" => (DeviceFigure::DiscardBytes, MIB),
        "dsec/s" | "Blk_dscd/s" | "dc_sec" => (DeviceFigure::DiscardBytes, SECTOR),
        // Whole MB (`MB_read`) are too coarse to tell the length of a report, which these are for.
        "kB_read" => (DeviceFigure::ReadTotal, KIB),
        "kB_wrtn" => (DeviceFigure::WriteTotal, KIB),
        "kB_dscd" => (DeviceFigure::DiscardTotal, KIB),
        "Blk_read" => (DeviceFigure::ReadTotal, SECTOR),
        "Blk_wrtn" => (DeviceFigure::WriteTotal, SECTOR),
        "Blk_dscd" => (DeviceFigure::DiscardTotal, SECTOR),
        "rrqm/s" => (DeviceFigure::ReadMerged, 1.0),
        "wrqm/s" => (DeviceFigure::WriteMerged, 1.0),
        "r_await" => (DeviceFigure::ReadMs, 1.0),
        "w_await" => (DeviceFigure::WriteMs, 1.0),
        "await" => (DeviceFigure::AllMs, 1.0),
        "aqu-sz" | "avgqu-sz" => (DeviceFigure::Queue, 1.0),
        "%util" | "util" | "util-percent" => (DeviceFigure::BusyPercent, 1.0),
        _ => return None,
    };
    Some(found)
}

/// Returns whether a figure counts bytes, which may be printed with a unit of their own.
pub(super) fn is_size(what: DeviceFigure) -> bool {
    match what {
        DeviceFigure::ReadBytes
        | DeviceFigure::WriteBytes
        | DeviceFigure::DiscardBytes
        | DeviceFigure::ReadTotal
        | DeviceFigure::WriteTotal
        | DeviceFigure::DiscardTotal => true,
        DeviceFigure::ReadIops
        | DeviceFigure::WriteIops
        | DeviceFigure::DiscardIops
        | DeviceFigure::FlushIops
        | DeviceFigure::AllIops
        | DeviceFigure::ReadMerged
        | DeviceFigure::WriteMerged
        | DeviceFigure::ReadMs
        | DeviceFigure::WriteMs
        | DeviceFigure::AllMs
        | DeviceFigure::Queue
        | DeviceFigure::BusyPercent => false,
    }
}

/// Puts a figure into its place.
pub(super) fn put(rates: &mut Rates, what: DeviceFigure, value: f64) {
    let place = match what {
        DeviceFigure::ReadIops => &mut rates.read.iops,
        DeviceFigure::WriteIops => &mut rates.write.iops,
        DeviceFigure::DiscardIops => &mut rates.discard.iops,
        DeviceFigure::FlushIops => &mut rates.flushes,
        DeviceFigure::AllIops => &mut rates.all.iops,
        DeviceFigure::ReadBytes => &mut rates.read.bytes,
        DeviceFigure::WriteBytes => &mut rates.write.bytes,
        DeviceFigure::DiscardBytes => &mut rates.discard.bytes,
        DeviceFigure::ReadTotal => &mut rates.read.total_bytes,
        DeviceFigure::WriteTotal => &mut rates.write.total_bytes,
        DeviceFigure::DiscardTotal => &mut rates.discard.total_bytes,
        DeviceFigure::ReadMerged => &mut rates.read.merged,
        DeviceFigure::WriteMerged => &mut rates.write.merged,
        DeviceFigure::ReadMs => &mut rates.read.latency_ms,
        DeviceFigure::WriteMs => &mut rates.write.latency_ms,
        DeviceFigure::AllMs => &mut rates.all.latency_ms,
        DeviceFigure::Queue => &mut rates.queue,
        DeviceFigure::BusyPercent => {
            rates.busy_share = Some(value / 100.0);
            return;
        }
    };
    *place = Some(value);
}

/// By how much each percentage of the processors is rounded at most: they have two digits.
const PERCENT_ROUNDING: f64 = 0.005;

/// Returns the share that so many rounded percentages make up: their rounding alone may lift it
/// above all.
pub(super) fn busy_share(n_percents: usize, percent: f64) -> f64 {
    let is_rounding = percent <= 100.0 + n_percents as f64 * PERCENT_ROUNDING * 1.001;
    if is_rounding { percent.min(100.0) / 100.0 } else { percent / 100.0 }
}

/// Returns whether a figure of the processors is time in use; idle, waiting and stolen are not.
/// Time of guests is counted with that of users already.
pub(super) fn is_busy_cpu(name: &str) -> bool {
    matches!(
        name.trim_start_matches('%'),
        "user" | "usr" | "nice" | "system" | "sys" | "irq" | "soft"
    )
}
