//! What one network volume carries, as measured: by the mix of reads and writes, and by size.
//!
//! Measured ceilings are no guarantees. Figures are of the Azure NetApp Files benchmark pages.

use super::bound::{Achieved, Bound, least};
use crate::cap::CapKind;

/// Returns small random I/Os per second under a mix: 1 / (r/R + w/W).
///
/// Falls steadily towards writes where R is above W, as measured.
pub fn mix_random(read_iops: f64, write_iops: f64, read_share: f64) -> f64 {
    1.0 / (read_share / read_iops + (1.0 - read_share) / write_iops)
}

/// Returns large sequential throughput under a mix: min(R/r, W/w, C).
///
/// The harmonic form is wrong here: at half and half it lies 20 % below what was measured.
pub fn mix_sequential(read: f64, write: f64, total: f64, read_share: f64) -> Achieved {
    let over = |cap: f64, share: f64| if share > 0.0 { cap / share } else { f64::INFINITY };
    let caps = [over(read, read_share), over(write, 1.0 - read_share), total];
    least(None, &caps.map(|cap| (Bound::Cap(CapKind::VolumeCeiling), cap)))
}

/// Returns the read shares of a sweep in steps, from pure reads to pure writes.
pub fn sweep(step_pct: u32) -> Vec<f64> {
    let step = step_pct.clamp(1, 100);
    (0..=100 / step).map(|idx| 1.0 - f64::from(idx * step) / 100.0).collect()
}

/// Service time of one I/O by its size: a + b x KiB.
///
/// Two measured points fit exactly. Beyond them it gives the order only: at 64 KiB it is off by a
/// quarter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SizeModel {
    /// Seconds per I/O.
    pub per_io_s: f64,
    /// Seconds per KiB.
    pub per_kib_s: f64,
}

impl SizeModel {
    /// Fits two points, each I/O size in KiB and I/Os per second.
    pub fn fit(small: (f64, f64), large: (f64, f64)) -> Self {
        let per_kib_s = (1.0 / large.1 - 1.0 / small.1) / (large.0 - small.0);
        SizeModel { per_io_s: 1.0 / small.1 - per_kib_s * small.0, per_kib_s }
    }

    /// Returns I/Os per second at a size.
    pub fn iops(&self, io_kib: f64) -> f64 {
        1.0 / (self.per_io_s + self.per_kib_s * io_kib)
    }
}

/// Read and write ends of a measured surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ends {
    /// Pure reads.
    pub read: f64,
    /// Pure writes.
    pub write: f64,
}

/// Returns the read share at which two surfaces cross, each a straight line between its ends, if it
/// lies between pure writes and pure reads.
pub fn crossing(a: Ends, b: Ends) -> Option<f64> {
    let share = (b.write - a.write) / ((a.read - a.write) - (b.read - b.write));
    (share > 0.0 && share < 1.0).then_some(share)
}

/// Returns throughput of I/Os of one size, in the unit of the size per second.
pub fn throughput(iops: f64, size: f64) -> f64 {
    iops * size
}

/// Returns the share of a ceiling that a rate uses.
pub fn share_of(rate: f64, ceiling: f64) -> f64 {
    rate / ceiling
}

/// Returns how much less a rate is than another: 0.08 is 8 % less.
pub fn reduction(to: f64, from: f64) -> f64 {
    1.0 - to / from
}
