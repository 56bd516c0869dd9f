//! The figures of sysstat by all the names that they had.
//!
//! Columns have moved and were renamed: `avgqu-sz` is `aqu-sz` since 11.5.7, `kB_read/s` is
//! `rkB/s` in the extended report, and `sadf` has its own. One table serves all of them.

use crate::sample::Rates;

/// A figure of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    ReadIops,
    WriteIops,
    DiscardIops,
    FlushIops,
    /// Transfers of all kinds, discards included.
    AllIops,
    ReadBytes,
    WriteBytes,
    DiscardBytes,
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
pub(super) fn what(name: &str) -> Option<(What, f64)> {
    let found = match name {
        // The second of each is of the whole host.
        "r/s" | "rtps" => (What::ReadIops, 1.0),
        "w/s" | "wtps" => (What::WriteIops, 1.0),
        "d/s" => (What::DiscardIops, 1.0),
        "f/s" => (What::FlushIops, 1.0),
        "tps" => (What::AllIops, 1.0),
        "rkB/s" | "kB_read/s" | "rkB" => (What::ReadBytes, KIB),
        "rMB/s" | "MB_read/s" => (What::ReadBytes, MIB),
        "rsec/s" | "Blk_read/s" | "rd_sec/s" | "rd_sec" | "bread/s" => (What::ReadBytes, SECTOR),
        "wkB/s" | "kB_wrtn/s" | "wkB" => (What::WriteBytes, KIB),
        "wMB/s" | "MB_wrtn/s" => (What::WriteBytes, MIB),
        "wsec/s" | "Blk_wrtn/s" | "wr_sec/s" | "wr_sec" | "bwrtn/s" => (What::WriteBytes, SECTOR),
        "dkB/s" | "kB_dscd/s" | "dkB" => (What::DiscardBytes, KIB),
        "dMB/s" | "MB_dscd/s" => (What::DiscardBytes, MIB),
        "dsec/s" | "Blk_dscd/s" | "dc_sec" => (What::DiscardBytes, SECTOR),
        "rrqm/s" => (What::ReadMerged, 1.0),
        "wrqm/s" => (What::WriteMerged, 1.0),
        "r_await" => (What::ReadMs, 1.0),
        "w_await" => (What::WriteMs, 1.0),
        "await" => (What::AllMs, 1.0),
        "aqu-sz" | "avgqu-sz" => (What::Queue, 1.0),
        "%util" | "util" | "util-percent" => (What::BusyPercent, 1.0),
        _ => return None,
    };
    Some(found)
}

/// Puts a figure into its place.
pub(super) fn put(rates: &mut Rates, what: What, value: f64) {
    let place = match what {
        What::ReadIops => &mut rates.read.iops,
        What::WriteIops => &mut rates.write.iops,
        What::DiscardIops => &mut rates.discard.iops,
        What::FlushIops => &mut rates.flushes,
        What::AllIops => &mut rates.all.iops,
        What::ReadBytes => &mut rates.read.bytes,
        What::WriteBytes => &mut rates.write.bytes,
        What::DiscardBytes => &mut rates.discard.bytes,
        What::ReadMerged => &mut rates.read.merged,
        What::WriteMerged => &mut rates.write.merged,
        What::ReadMs => &mut rates.read.latency_ms,
        What::WriteMs => &mut rates.write.latency_ms,
        What::AllMs => &mut rates.all.latency_ms,
        What::Queue => &mut rates.queue,
        What::BusyPercent => {
            rates.busy_share = Some(value / 100.0);
            return;
        }
    };
    *place = Some(value);
}

/// Returns whether a figure of the processors is time in use; idle, waiting and stolen are not.
/// Time of guests is counted with that of users already.
pub(super) fn is_busy_cpu(name: &str) -> bool {
    matches!(
        name.trim_start_matches('%'),
        "user" | "usr" | "nice" | "system" | "sys" | "irq" | "soft"
    )
}
