//! What a running machine says about itself.

use std::sync::Mutex;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use volume::design::Backing as Medium;
use volume::{CacheMode, CapCount, CapKind, CapStation, CapStatus, CapTraits, CapUsage, Design};

use crate::clock::now_ns;
use crate::lock::lock;
use crate::pacer::ModelState;
use crate::waits::{Lateness, Waits};

/// Name and version of the page.
pub const SCHEMA: &str = "plimsoll.rehearse/1";

/// Time that the rates of a status cover: about this, at most twice as long.
pub(crate) const RECENT: Duration = Duration::from_secs(1);

/// A look at a machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MachineStatus {
    /// [`SCHEMA`].
    pub schema: String,
    /// Name of the design.
    pub design: String,
    /// Edition of the catalogue that its limits are from.
    pub edition: String,
    /// What tells the user's own tables from others; `None` where there are none.
    #[serde(default)]
    pub catalog_hash: Option<String>,
    /// Where it is served: a mount point, or an address.
    pub place: String,
    /// Folder that holds the data.
    pub backing: String,
    /// Whether it has crashed and not been started again.
    pub is_crashed: bool,
    /// Whether the disk under the backing was found full.
    pub is_disk_full: bool,
    /// The process that serves it.
    pub pid: u32,
    /// I/Os that were asked for and are not done.
    pub n_waiting: u64,
    /// How late this host was with its answers.
    pub lateness: LatenessReport,
    /// Its volumes.
    pub volumes: Vec<VolumeReport>,
    /// The caps that its volumes can meet, in the order of the design.
    pub caps: Vec<CapReport>,
    /// The machine's host cache, where a disk uses it.
    pub cache: Option<CacheReport>,
    /// Where clients reach it; `None` where it is mounted.
    #[serde(default)]
    pub export: Option<ExportReport>,
}

/// An export to the network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExportReport {
    /// Address and port.
    pub address: String,
    /// Machines that are connected.
    pub clients: Vec<ClientReport>,
}

/// A machine that is connected to an export.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientReport {
    /// Its address.
    pub address: String,
    /// The design's client that it is; `None` where the design has none.
    pub name: Option<String>,
    /// Its connections.
    pub n_connections: u64,
}

/// How late answers were over the last second or so: parts of I/Os, handed out 0.2 ms or more after
/// their modelled time. The volumes are better than such answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LatenessReport {
    /// Answers.
    pub n_answers: u64,
    /// Those that were late.
    pub n_late: u64,
    /// What those were late by on average, nanoseconds.
    pub late_ns_mean: u64,
}

/// A host cache.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheReport {
    /// How much it can hold, bytes.
    pub size_bytes: u64,
    /// How much it holds, bytes.
    pub held_bytes: u64,
    /// How much of it has not reached a disk yet, bytes.
    pub dirty_bytes: u64,
    /// Reads that it answered.
    pub n_hits: u64,
    /// Reads that went on to a disk.
    pub n_misses: u64,
    /// Whether it began with the data that are there, which count as held from their first read
    /// on.
    #[serde(default)]
    pub is_warm: bool,
}

impl From<volume::CacheStatus> for CacheReport {
    fn from(cache: volume::CacheStatus) -> Self {
        CacheReport {
            size_bytes: cache.size_bytes,
            held_bytes: cache.held_bytes,
            dirty_bytes: cache.dirty_bytes,
            n_hits: cache.n_hits,
            n_misses: cache.n_misses,
            is_warm: cache.is_warm,
        }
    }
}

/// A volume.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VolumeReport {
    /// Mount path in the design.
    pub mount: String,
    /// What it is made of: `10 x P30, ReadOnly`.
    pub medium: String,
    /// Provisioned size, bytes.
    pub capacity_bytes: u64,
    /// What its files occupy, bytes.
    pub used_bytes: u64,
    /// What is in a ReadWrite cache and not on its disks, bytes: a crash would lose it.
    pub dirty_bytes: u64,
    /// How much of that goes to the disks at once, since its cache was changed, bytes.
    pub leaving_bytes: u64,
    /// Flushes (`fsync`) that wait for it now.
    pub n_flushes: u32,
    /// Name of the cap that holds what goes to the disks now; `None` where none does.
    pub disks_held_by: Option<String>,
    /// What its I/Os waited for most over the last second or so; `None` where none waited.
    pub recent_wait: Option<WaitReport>,
}

/// What a volume's I/Os wait for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WaitReport {
    /// Name of the cap that they waited for longest in all.
    pub cap: String,
    /// Mean wait for it per I/O of the volume, nanoseconds.
    pub wait_ns_mean: u64,
    /// Mean latency of the volume's I/Os, with the wait, nanoseconds.
    pub latency_ns_mean: u64,
}

/// A cap.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CapReport {
    /// Its name, short and unique.
    pub name: String,
    /// What it limits, such as `disk_iops`.
    pub kind: String,
    /// What it counts.
    pub counts: CapCount,
    /// It is one of a disk, of which a volume may have many.
    pub is_of_disk: bool,
    /// Volume that it belongs to; `None` where several share it.
    pub volume: Option<u16>,
    /// Operations or bytes per second, sustained; calls at once for `nfs_slots`.
    pub per_s: u64,
    /// Operations or bytes per second over the last second or so; for `nfs_slots` the calls that
    /// were under way at once, on average.
    pub recent_per_s: f64,
    /// Share of that time in which it held something back, 0 to 1.
    pub recent_held_share: f64,
    /// The same since the machine's start.
    pub held_share: f64,
    /// What waits for it now.
    pub n_waiting: u64,
    /// Burst credits left.
    pub credits_left: Option<u64>,
    /// Burst credits of a full bucket.
    pub credits_full: Option<u64>,
    /// Where the figure comes from.
    pub origin: String,
}

/// The last states of the caps, to tell what happens now from what happened since the start.
#[derive(Debug)]
pub(crate) struct Recent {
    start_ns: u64,
    /// The older one first.
    states: Mutex<[Option<ModelState>; 2]>,
}

impl Recent {
    /// Starts with the machine.
    pub(crate) fn new() -> Self {
        Recent { start_ns: now_ns(), states: Mutex::default() }
    }

    pub(crate) fn keep(&self, state: ModelState) {
        let mut states = lock(&self.states);
        states.swap(0, 1);
        states[1] = Some(state);
    }
}

/// Returns what each volume's I/Os have waited for since the state before the last.
pub(crate) fn waits(recent: &Recent, now: &ModelState) -> Vec<Option<WaitReport>> {
    let states = lock(&recent.states);
    let before = states.iter().flatten().next();
    let none = Waits::default();
    let wait = |(idx, waits): (usize, &Waits)| {
        let before = before.and_then(|state| state.waits.get(idx)).unwrap_or(&none);
        let waits = waits.since(before);
        let (cap, held_ns) = waits.longest()?;
        Some(WaitReport {
            cap: now.status.caps.get(cap)?.info.name.clone(),
            wait_ns_mean: held_ns / waits.n_ios.max(1),
            latency_ns_mean: waits.latency_ns / waits.n_ios.max(1),
        })
    };
    now.waits.iter().enumerate().map(wait).collect()
}

/// Returns how late the answers since the state before the last were.
pub(crate) fn lateness(recent: &Recent, now: &ModelState) -> LatenessReport {
    let states = lock(&recent.states);
    let before = states.iter().flatten().next().map(|state| state.lateness);
    let Lateness { n_answers, n_late, late_ns } = now.lateness.since(before.unwrap_or_default());
    LatenessReport { n_answers, n_late, late_ns_mean: late_ns.checked_div(n_late).unwrap_or(0) }
}

/// Returns whether a design has anything that can meet a cap of a kind: its machine may have caps
/// for disks, caches or network volumes that are not there.
fn is_met(kind: CapKind, design: &Design) -> bool {
    let mut media = design.volumes.iter().map(|volume| &volume.backing);
    match kind.traits().station {
        CapStation::Disks => media.any(|medium| matches!(medium, Medium::Disks(_))),
        CapStation::Cache => media.any(|medium| match medium {
            Medium::Disks(stripe) => stripe.disks.iter().any(|disk| disk.cache != CacheMode::None),
            Medium::Network(_) => false,
        }),
        CapStation::Network => media.any(|medium| matches!(medium, Medium::Network(_))),
    }
}

/// Describes the caps now, with their rates since the state before the last: all, or those that the
/// only volume which is shown can meet.
pub(crate) fn caps(
    recent: &Recent,
    now: &ModelState,
    design: &Design,
    only: Option<usize>,
) -> Vec<CapReport> {
    let now = &now.status;
    let states = lock(&recent.states);
    let before = states.iter().flatten().next().map(|state| &state.status);
    let since_start_s = |at_ns: u64| at_ns.saturating_sub(recent.start_ns) as f64 / 1e9;
    let cap = |(idx, cap): (usize, &CapStatus)| {
        let same =
            |old: &&volume::Status| old.caps.get(idx).is_some_and(|o| o.info.name == cap.info.name);
        let before =
            before.filter(same).map(|old| (since_start_s(old.now_ns), &old.caps[idx].usage));
        let CapTraits { counts, is_of_disk, .. } = cap.info.kind.traits();
        let carried = |usage: &CapUsage, at_s: f64| match counts {
            CapCount::Slots => usage.capacity_share * cap.info.per_s as f64 * at_s,
            CapCount::Units | CapCount::Weighed | CapCount::Bytes => usage.used as f64,
        };
        let (from_s, used, held_s) = before.map_or((0.0, 0.0, 0.0), |(at_s, usage)| {
            (at_s, carried(usage, at_s), usage.held_share * at_s)
        });
        let now_s = since_start_s(now.now_ns);
        let passed_s = (now_s - from_s).max(1e-9);
        let held_s = cap.usage.held_share * now_s - held_s;
        CapReport {
            name: cap.info.name.clone(),
            kind: cap.info.kind.name().to_owned(),
            counts,
            is_of_disk,
            // By position among the volumes that are shown.
            volume: cap.info.volume.map(|volume| if only.is_some() { 0 } else { volume }),
            per_s: cap.info.per_s,
            recent_per_s: (carried(&cap.usage, now_s) - used).max(0.0) / passed_s,
            recent_held_share: (held_s / passed_s).clamp(0.0, 1.0),
            held_share: cap.usage.held_share,
            n_waiting: cap.n_waiting,
            credits_left: cap.usage.credits.map(|credits| credits.left),
            credits_full: cap.usage.credits.map(|credits| credits.full),
            origin: cap.info.origin.clone(),
        }
    };
    let is_shown = |cap: &CapStatus| match (cap.info.volume, only) {
        (Some(volume), Some(only)) => usize::from(volume) == only,
        _ => true,
    };
    let met = |(_, cap): &(usize, &CapStatus)| {
        cap.in_force && is_met(cap.info.kind, design) && is_shown(cap)
    };
    now.caps.iter().enumerate().filter(met).map(cap).collect()
}
