//! The host cache in closed form: hits, the disk behind it, warm-up.

use super::compose::alone;
use super::path;
use crate::design::{Backing, CacheMode, Design};
use crate::load::Load;

/// What the host cache makes of reads at random places of a working set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WorkingSet {
    /// Share of the reads that hit once the cache is as warm as it gets.
    pub hit_ratio: f64,
    /// How it gets there from cold.
    pub warm_up: WarmUp,
}

impl WorkingSet {
    /// Makes that of a volume under reads as large and as many at once as those of a load; `None`
    /// where no cache works for the volume.
    ///
    /// # Panics
    /// If there is no such volume, or the set has no size.
    pub fn new(design: &Design, volume: u16, load: &Load, bytes: f64) -> Option<Self> {
        let n_volumes = design.volumes.len();
        assert!(usize::from(volume) < n_volumes, "volume {volume} of {n_volumes}");
        let Backing::Disks(stripe) = &design.volumes[usize::from(volume)].backing else {
            return None;
        };
        if path::mode_at_work(design, stripe) == CacheMode::None {
            return None;
        }
        assert!(bytes > 0.0 && bytes.is_finite(), "{bytes} is no size of a working set");
        let cache_bytes = design.vm.as_ref().and_then(|vm| vm.cache_bytes)? as f64;
        let reads = |hit_ratio| {
            let load = Load { read_share: 1.0, hit_ratio, ..*load };
            alone(design, volume, &load).bytes_per_s
        };
        let warm_up =
            WarmUp { bytes, disk_bytes_per_s: reads(0.0), cached_bytes_per_s: reads(1.0) };
        Some(WorkingSet { hit_ratio: (cache_bytes / bytes).min(1.0), warm_up })
    }

    /// Returns the time from cold until the cache holds what it will hold of the set, but for a
    /// hundredth of the set where all of it fits, in seconds.
    pub fn warm_s(&self) -> f64 {
        self.warm_up.seconds_to(self.hit_ratio.min(0.99))
    }
}

/// Warm-up under reads at random places: dc/dt = min(disk, cached x (1 − c)) / bytes read from.
///
/// At first the disk is all that fills the cache; from the share on at which misses under the
/// cached cap are fewer, what is still cold shrinks by 1/e each tau.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WarmUp {
    bytes: f64,
    disk_bytes_per_s: f64,
    cached_bytes_per_s: f64,
}

impl WarmUp {
    /// Returns the warm share up to which it grows in a straight line.
    pub fn linear_until(&self) -> f64 {
        (1.0 - self.disk_bytes_per_s / self.cached_bytes_per_s).max(0.0)
    }

    /// Returns how long the straight line takes, seconds.
    pub fn linear_s(&self) -> f64 {
        self.linear_until() * self.bytes / self.disk_bytes_per_s
    }

    /// Returns the time constant behind it, seconds.
    pub fn tau_s(&self) -> f64 {
        self.bytes / self.cached_bytes_per_s
    }

    /// Returns when a share below 1 is warm, seconds from the start.
    ///
    /// # Panics
    /// If it is no such share.
    pub fn seconds_to(&self, warm: f64) -> f64 {
        assert!((0.0..1.0).contains(&warm), "{warm} is no share below 1");
        let linear_until = self.linear_until();
        if warm <= linear_until {
            return warm * self.bytes / self.disk_bytes_per_s;
        }
        self.linear_s() + self.tau_s() * ((1.0 - linear_until) / (1.0 - warm)).ln()
    }
}
