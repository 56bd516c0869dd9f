//! Did others use the disks meanwhile?
//!
//! A disk that serves others has less left for this run, and the figures of a run do not show
//! whether the disk was slow or shared. What others asked for counts by the larger of its share of
//! the bytes and of the operations, and only for the time in which the disk had work: of a disk
//! that is idle as a rule, others take nothing away.

use record::{DiskUseDir, DiskUseRecord};
use units::{format_percent as pct, format_rate_mib_s};

use super::IS_TRANSIENT;
use crate::gate::{Gate, GateName};

/// Share of the disks' time that others may take, as of processors. What it costs a run is at most
/// about that much: a disk that serves many at once often gives both what they ask for.
const OTHERS_MAX: f64 = 0.1;

/// Shortest time that is judged, milliseconds: below it a single burst of the kernel's own may be
/// all there is.
const MS_MIN: u64 = 900;

/// Judges what others did with the disks.
pub fn shared_disk(disk_use: &DiskUseRecord) -> Gate {
    let name = GateName::SharedDisk;
    if disk_use.length_ms < MS_MIN {
        let reason = "it takes 1 s to judge whether others used the disks";
        return Gate::unknown(name, reason);
    }
    let (of, taken) = (disk_use.disks.join(", "), taken(disk_use));
    let length_s = disk_use.length_ms as f64 / 1e3;
    let rate = |dir: DiskUseDir| dir.others_bytes() as f64 / length_s;
    let read_bytes_s = rate(disk_use.read);
    let write_bytes_s = disk_use.knows_own_writes.then(|| rate(disk_use.write));
    let figures = [
        ("others_disk_share", taken),
        ("disk_busy_share", disk_use.busy_share),
        ("others_read_bytes_s", read_bytes_s),
        ("others_write_bytes_s", write_bytes_s.unwrap_or(f64::NAN)),
    ];
    if taken <= OTHERS_MAX {
        let reason = if disk_use.knows_own_writes {
            format!("others took {} of the time of {of}", pct(taken))
        } else {
            format!(
                "others' reads took {} of the time of {of}; whose writes they are is not known",
                pct(taken)
            )
        };
        return Gate::passed(name, reason).with(&figures);
    }
    let rates = [("read", Some(read_bytes_s)), ("wrote", write_bytes_s)];
    let rates = rates.into_iter().filter_map(|(word, rate)| Some((word, rate?)));
    // A direction with next to nothing of it explains nothing.
    let least = 0.01 * (read_bytes_s + write_bytes_s.unwrap_or(0.0));
    let rates = rates.filter(|(_, rate)| *rate >= least);
    let rates: Vec<String> =
        rates.map(|(word, rate)| format!("{word} {}", format_rate_mib_s(rate))).collect();
    let reason = format!(
        "{} of the time of {of} went to others (limit {}); others used the disk ({})",
        pct(taken),
        pct(OTHERS_MAX),
        rates.join(" and ")
    );
    Gate::failed(name, reason).with(&figures).with(&[(IS_TRANSIENT, 1.0)])
}

/// Returns the share of the disks' time that others took, 0 to 1. Writes whose owner is not known
/// count as this process's.
fn taken(disk_use: &DiskUseRecord) -> f64 {
    let DiskUseRecord { read, write, .. } = *disk_use;
    let of_others = |dir: DiskUseDir| (dir.others_bytes() as f64, dir.others_ios());
    let of_writes = if disk_use.knows_own_writes { of_others(write) } else { (0.0, 0.0) };
    let of_reads = of_others(read);
    let share = |part: f64, whole: u64| if whole > 0 { part / whole as f64 } else { 0.0 };
    let of_bytes = share(of_reads.0 + of_writes.0, read.bytes.saturating_add(write.bytes));
    let of_ios = share(of_reads.1 + of_writes.1, read.n_ios.saturating_add(write.n_ios));
    disk_use.busy_share * of_bytes.max(of_ios)
}
