//! Volumes in time that passes, shared by the threads of a run.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use engine::volume::{VolumeEngine, VolumeRange, Volumes};
use engine::{Arena, ArenaSpec, Engine, EngineError, FileTable, TablePolicy};
use plan::files::SyncMode;
use record::CapsRecord;
use worker::Meters;

use crate::bind::{BoundPlan, BoundWorker};
use crate::clock::Clock;

use super::attribution::CapTable;
use super::placement::Placement;
use super::spec::Emulation;
use super::start::start_system;

/// The volumes of a run and where its files lie on them.
#[derive(Clone)]
pub(crate) struct SharedVolumes {
    volumes: Arc<Volumes>,
    caps: Arc<CapTable>,
    placement: Arc<Placement>,
}

impl SharedVolumes {
    /// Makes the volumes as they are before the first step.
    pub(crate) fn new(
        emulation: &Emulation,
        placement: Placement,
        bound: &BoundPlan,
        clock: Clock,
    ) -> Self {
        let system = start_system(emulation, &placement, bound);
        let caps = CapTable::new(&system, &emulation.design);
        let read_clock = Arc::new(move || clock.now_ns());
        SharedVolumes {
            volumes: Volumes::new(system, read_clock, emulation.time_scale()),
            caps: Arc::new(caps),
            placement: Arc::new(placement),
        }
    }

    /// Returns the part in the volumes of a worker, which is number `number` of the plan.
    pub(crate) fn seat(
        &self,
        bound: &BoundWorker,
        number: u32,
        meters: Arc<Meters>,
    ) -> VolumesSeat {
        let job = bound.job.as_ref();
        VolumesSeat {
            volumes: Arc::clone(&self.volumes),
            number,
            queue_depth: job.load.queue_depth.max(1),
            places: self.placement.of(bound),
            through: job.files.sync != SyncMode::None,
            one_by_one: job.issues_one_at_a_time(),
            meters,
        }
    }

    /// Returns which caps held a worker, and by which share its latencies are too long because this
    /// host was late; `None` if its measured time has not begun.
    pub(crate) fn caps_of(&self, bound: &BoundWorker, number: u32) -> Option<(CapsRecord, f64)> {
        let marks = self.volumes.account(number)?;
        let late_share = marks.last().map_or(0.0, |mark| mark.tally.late_share());
        let places = self.placement.of(bound);
        Some((self.caps.record(&marks, &self.placement, &places), late_share))
    }
}

/// A worker's part in the volumes, before its engine is built.
pub(crate) struct VolumesSeat {
    volumes: Arc<Volumes>,
    number: u32,
    queue_depth: u32,
    places: Vec<VolumeRange>,
    through: bool,
    one_by_one: bool,
    meters: Arc<Meters>,
}

impl VolumesSeat {
    /// Builds the engine.
    ///
    /// # Errors
    /// When there is no memory for its buffers.
    pub(crate) fn engine(self, arena: &ArenaSpec) -> Result<Box<dyn Engine>, EngineError> {
        let meters = self.meters;
        let is_measured = move |now_ns| {
            let since_ns = meters.measured_since_ns.load(Relaxed);
            since_ns != 0 && now_ns >= since_ns
        };
        let (number, depth) = (self.number, self.queue_depth);
        let member =
            self.volumes.join(number, depth, self.places, self.through, Box::new(is_measured));
        let files = FileTable::new(Vec::new(), TablePolicy::default())?;
        let arena = Arena::new(arena)?;
        Ok(Box::new(VolumeEngine::new(member, files, arena, depth, self.one_by_one)))
    }
}
