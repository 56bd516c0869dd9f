//! What a run is made on instead of this host's files and devices, and how the record says it.

use std::sync::Arc;

use record::{BurstRecord, DesignChangeRecord, EmulationRecord, Note};
use volume::Design;
use volume::design::{Backing, CacheMode, Cap, Limit};

use super::takeover::refuse_change;

/// What a run is made on instead of this host's files and devices.
#[derive(Clone, Debug)]
pub struct Emulation {
    /// The volumes.
    pub design: Arc<Design>,
    /// Hash of the text that the design was read from, for the record.
    pub design_hash: String,
    /// The host caches hold the plan's files at the start, as far as they fit.
    pub is_warm: bool,
    /// How time passes.
    pub time: EmulatedTime,
    /// Designs that take over while the run goes on, in virtual time; in the order of their times.
    pub changes: Vec<DesignChange>,
    /// What is not known of the volumes, for the record. The reader of the design reported it
    /// already.
    pub notes: Vec<Note>,
}

/// Another design that takes over during a run, as when volumes are provisioned anew.
#[derive(Clone, Debug)]
pub struct DesignChange {
    /// When, nanoseconds after the start of the run.
    pub at_ns: u64,
    /// The same volumes at the same places, with other limits.
    pub design: Arc<Design>,
    /// Hash of the text that it was read from, for the record.
    pub design_hash: String,
}

/// How time passes on emulated volumes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum EmulatedTime {
    /// It jumps from event to event.
    Virtual,
    /// As on a clock that is slower than the wall's by this factor, above 0; 1 is real time.
    Real(f64),
}

impl Emulation {
    /// Checks that each design can take the place of the one before it.
    ///
    /// Returns the position of one that cannot, and why.
    pub fn check_changes(&self) -> Result<(), (usize, String)> {
        let mut old = &self.design;
        for (idx, change) in self.changes.iter().enumerate() {
            refuse_change(old, &change.design).map_err(|why| (idx, why))?;
            old = &change.design;
        }
        Ok(())
    }

    /// Returns whether time is that of the volumes, not of a clock.
    pub fn is_virtual(&self) -> bool {
        self.time == EmulatedTime::Virtual
    }

    /// Returns how many wall-clock seconds pass per second of the run's clock.
    pub(crate) fn time_scale(&self) -> f64 {
        match self.time {
            EmulatedTime::Virtual => 1.0,
            EmulatedTime::Real(scale) => scale,
        }
    }

    /// Returns the burst credits of the first of the designs that has some.
    fn bursts(&self) -> Vec<BurstRecord> {
        let designs = [&self.design].into_iter().chain(self.changes.iter().map(|it| &it.design));
        designs.map(|design| bursts(design)).find(|bursts| !bursts.is_empty()).unwrap_or_default()
    }

    /// Makes the record of a run that has come this far, nanoseconds after its start.
    pub(crate) fn record(&self, now_ns: u64) -> EmulationRecord {
        let time = if self.is_virtual() { "virtual" } else { "real" };
        EmulationRecord {
            time: time.to_owned(),
            time_scale: self.time_scale(),
            design: self.design.name.clone(),
            design_hash: self.design_hash.clone(),
            changes: self.changes.iter().filter(|it| it.at_ns < now_ns).map(change).collect(),
            edition: self.design.edition.clone(),
            catalog_hash: self.design.catalog.own_hash().unwrap_or_default(),
            cache: if self.is_warm { "warm" } else { "cold" }.to_owned(),
            mounts: self.design.volumes.iter().map(|volume| volume.mount.clone()).collect(),
            bursts: self.bursts(),
            host_cache_bytes: host_cache_bytes(&self.design),
            cached_mounts: cached(&self.design).map(|volume| volume.mount.clone()).collect(),
            constant_latency_mounts: self.design.constant_latency_mounts(),
        }
    }

    /// Returns what the host cache holds that reads of this file fill, bytes; 0 where there is
    /// none, or it is full from the start.
    pub(crate) fn cold_cache_bytes(&self, path: &std::path::Path) -> u64 {
        let is_cached = cached(&self.design).any(|volume| path.starts_with(&volume.mount));
        if self.is_warm || !is_cached { 0 } else { host_cache_bytes(&self.design) }
    }
}

fn change(change: &DesignChange) -> DesignChangeRecord {
    DesignChangeRecord {
        at_ns: change.at_ns,
        design: change.design.name.clone(),
        design_hash: change.design_hash.clone(),
    }
}

/// Returns the burst credits of one design: those of its volumes together, and of its machine.
fn bursts(design: &Design) -> Vec<BurstRecord> {
    let disks = design.volumes.iter().filter_map(|volume| match &volume.backing {
        Backing::Disks(stripe) => Some(stripe.disks.iter().map(|disk| &disk.cap)),
        Backing::Network(_) => None,
    });
    let of_volumes = credits("volumes", disks.flatten());
    let of_machine = credits("machine", design.vm.iter().map(|vm| &vm.uncached));
    [of_volumes, of_machine].into_iter().flatten().collect()
}

/// Adds up caps and their credits; `None` without credits. A burst without a bucket lasts.
fn credits<'a>(whose: &str, caps: impl Iterator<Item = &'a Cap>) -> Option<BurstRecord> {
    let mut sum = BurstRecord { whose: whose.to_owned(), ..BurstRecord::default() };
    let add = |limit: &Option<Limit>, baseline: &mut f64, credit: &mut f64| {
        let Some(limit) = limit else { return };
        *baseline += limit.per_s as f64;
        *credit += limit.burst.and_then(|burst| burst.bucket).unwrap_or(0) as f64;
    };
    for cap in caps {
        add(&cap.iops, &mut sum.baseline_iops, &mut sum.credit_ios);
        add(&cap.bytes, &mut sum.baseline_bytes_s, &mut sum.credit_bytes);
    }
    (sum.credit_ios > 0.0 || sum.credit_bytes > 0.0).then_some(sum)
}

/// Returns what the machine's cache holds for volumes that use it.
fn host_cache_bytes(design: &Design) -> u64 {
    let held = design.vm.as_ref().and_then(|vm| vm.cache_bytes);
    cached(design).next().and(held).unwrap_or(0)
}

/// Returns the volumes that use the machine's cache.
fn cached(design: &Design) -> impl Iterator<Item = &volume::design::Volume> {
    design.volumes.iter().filter(|volume| match &volume.backing {
        Backing::Disks(stripe) => stripe.disks.iter().any(|it| it.cache != CacheMode::None),
        Backing::Network(_) => false,
    })
}
