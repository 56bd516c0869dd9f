//! The file: what an application asks for, per volume and phase of the day.

use serde::{Serialize, Serializer};

use crate::{Amount, Figure, Percentile, PhaseName};

/// Name and version of the form. The number rises when a key changes its meaning.
pub const SCHEMA: &str = "plimsoll.needs/1";

/// Largest factor of growth or peak: a larger number is a percentage by mistake.
pub const FACTOR_MAX: f64 = 100.0;

/// What an application asks of its storage.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Needs {
    /// Name and version of the form.
    pub schema: Schema,
    /// What they are of.
    pub name: String,
    /// The file beside this one that holds every sample, for replays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub series: Option<String>,
    /// The percentile that a design must carry.
    pub percentile: Percentile,
    /// How much larger all volumes and loads will be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub growth: Option<Growth>,
    /// How many times the normal load a peak is, where no peak phase says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak_factor: Option<f64>,
    /// Processors of the host that was captured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpus: Option<u32>,
    /// What the machine must have.
    #[serde(skip_serializing_if = "MachineNeed::is_empty")]
    pub machine: MachineNeed,
    /// Where the figures come from.
    #[serde(rename = "source", skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<NeedSource>,
    /// What is to be known of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Volumes and what they hold.
    #[serde(rename = "volume")]
    pub volumes: Vec<NeedVolume>,
    /// How the load differs over the day.
    #[serde(rename = "phase")]
    pub phases: Vec<NeedPhase>,
}

/// [`SCHEMA`]: there is no other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Schema;

impl Serialize for Schema {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(SCHEMA)
    }
}

/// How many times as large something will be.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Growth {
    /// What volumes hold.
    pub capacity: f64,
    /// I/Os, bytes, processors and memory.
    pub load: f64,
}

impl Default for Growth {
    fn default() -> Self {
        Growth { capacity: 1.0, load: 1.0 }
    }
}

/// What the machine must have, beside what its volumes ask of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct MachineNeed {
    /// Processors, as many as a machine's size lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpus: Option<Amount>,
    /// Memory, GiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_gib: Option<Amount>,
}

impl MachineNeed {
    /// Returns whether nothing is wanted.
    pub fn is_empty(&self) -> bool {
        self.amounts().iter().all(|(_, amount)| amount.is_none())
    }

    /// Returns its amounts with the names of their keys, in the order of the file.
    pub fn amounts(&self) -> [(&'static str, Option<&Amount>); 2] {
        [("cpus", self.cpus.as_ref()), ("memory_gib", self.memory_gib.as_ref())]
    }
}

/// Where figures come from.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct NeedSource {
    /// A file as it was named, or `live`.
    pub name: String,
    /// What form it has.
    pub form: String,
    /// Which clock its moments are of: `local`, `utc`, `relative` or `none`.
    pub clock: String,
}

impl NeedSource {
    /// Returns whether it has samples without moments: nothing says how long they lasted.
    pub fn has_unknown_lengths(&self) -> bool {
        // Without moments fio's I/O log has no samples.
        self.clock == "none" && self.form != "fio iolog"
    }
}

/// What a volume is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum VolumeUse {
    /// What is kept: tables, files.
    #[default]
    Data,
    /// A log that is written from its start to its end.
    Log,
    /// What may be lost: sort areas, scratch.
    Temp,
}

impl VolumeUse {
    /// All of them.
    pub const ALL: [VolumeUse; 3] = units::all_of!(VolumeUse: Data, Log, Temp);

    /// Returns its word in files.
    pub fn word(self) -> &'static str {
        match self {
            VolumeUse::Data => "data",
            VolumeUse::Log => "log",
            VolumeUse::Temp => "temp",
        }
    }
}

/// A volume.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct NeedVolume {
    /// Its name, as the phases have it.
    pub name: String,
    /// What it is for; as data where nothing is said.
    #[serde(rename = "use", skip_serializing_if = "Option::is_none")]
    pub usage: Option<VolumeUse>,
    /// How much it must hold, GiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacity_gib: Option<Amount>,
    /// How much of that is in use, GiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used_gib: Option<Amount>,
    /// How much of it is read again and again, GiB: what a cache must hold to answer reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub working_set_gib: Option<Amount>,
    /// Reads that a cache answers, percent, in place of a working set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hit_percent: Option<Amount>,
    /// Longest latency that is wanted, milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_ms_max: Option<Amount>,
    /// Several machines work on it: only a network volume can hold it.
    #[serde(rename = "shared", skip_serializing_if = "std::ops::Not::not")]
    pub is_shared: bool,
    /// How much larger it will be, in place of what holds for all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub growth: Option<Growth>,
}

impl NeedVolume {
    /// Returns its amounts with the names of their keys, in the order of the file.
    pub fn amounts(&self) -> [(&'static str, Option<&Amount>); 5] {
        [
            ("capacity_gib", self.capacity_gib.as_ref()),
            ("used_gib", self.used_gib.as_ref()),
            ("working_set_gib", self.working_set_gib.as_ref()),
            ("hit_percent", self.hit_percent.as_ref()),
            ("latency_ms_max", self.latency_ms_max.as_ref()),
        ]
    }
}

/// A part of the day, or all of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct NeedPhase {
    /// Which one it is.
    pub name: PhaseName,
    /// When it is, as `09:00-17:00`; empty: whenever no other phase is.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hours: Vec<String>,
    /// How much of it was captured, seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub captured_s: Option<f64>,
    /// Processor time in use, percent of all processors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_percent: Option<Figure>,
    /// Memory that programs hold, GiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_gib: Option<Figure>,
    /// The same in percent of what the host has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_percent: Option<Figure>,
    /// What each volume is asked for.
    #[serde(rename = "volume")]
    pub volumes: Vec<NeedLoad>,
}

impl NeedPhase {
    /// Returns the figures of the host with the names of their keys, in the order of the file.
    pub fn figures(&self) -> [(&'static str, Option<&Figure>); 3] {
        [
            ("cpu_percent", self.cpu_percent.as_ref()),
            ("memory_gib", self.memory_gib.as_ref()),
            ("memory_percent", self.memory_percent.as_ref()),
        ]
    }

    /// Returns what a volume is asked for in it.
    pub fn load(&self, volume: &str) -> Option<&NeedLoad> {
        self.volumes.iter().find(|load| load.name == volume)
    }
}

/// What a volume is asked for in a phase.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct NeedLoad {
    /// Name of the volume.
    pub name: String,
    /// I/Os per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iops: Option<Figure>,
    /// Throughput, 10^6 bytes per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throughput_mb_s: Option<Figure>,
    /// Size of an I/O, KiB. Never guessed: without it, it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub io_size_kib: Option<Figure>,
    /// Reads among reads and writes, percent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_percent: Option<Figure>,
    /// I/Os that do not follow on the one before, percent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub random_percent: Option<Figure>,
    /// From issue to completion, milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_ms: Option<Figure>,
    /// I/Os in flight.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_depth: Option<Figure>,
    /// I/Os of the fullest tenth of a second over those of the mean one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub burst_peak_to_mean: Option<Amount>,
    /// Variance over mean of the I/Os of a tenth of a second; 1 where they are independent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub burst_dispersion: Option<Amount>,
}

impl NeedLoad {
    /// Returns its figures with the names of their keys, in the order of the file.
    pub fn figures(&self) -> [(&'static str, Option<&Figure>); 7] {
        [
            ("iops", self.iops.as_ref()),
            ("throughput_mb_s", self.throughput_mb_s.as_ref()),
            ("io_size_kib", self.io_size_kib.as_ref()),
            ("read_percent", self.read_percent.as_ref()),
            ("random_percent", self.random_percent.as_ref()),
            ("latency_ms", self.latency_ms.as_ref()),
            ("queue_depth", self.queue_depth.as_ref()),
        ]
    }

    /// Returns its single figures with the names of their keys, in the order of the file.
    pub fn amounts(&self) -> [(&'static str, Option<&Amount>); 2] {
        [
            ("burst_peak_to_mean", self.burst_peak_to_mean.as_ref()),
            ("burst_dispersion", self.burst_dispersion.as_ref()),
        ]
    }
}

/// Folder below which a design mounts a volume whose name is no path.
pub const MOUNTS: &str = "/mnt";

/// Returns the folder that stands for a volume in jobs: `/data` for `data`, and the name itself
/// where it is a path. A character that would have to be quoted in a job file or a command is `-`:
/// `/D-` for `D:`.
pub fn mount(volume: &str) -> String {
    let is_kept = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '/');
    let plain: String = volume.chars().map(|c| if is_kept(c) { c } else { '-' }).collect();
    let parts: Vec<&str> =
        plain.split('/').filter(|part| !matches!(*part, "" | "." | "..")).collect();
    if parts.is_empty() { "/data".to_owned() } else { format!("/{}", parts.join("/")) }
}

/// Returns where a design mounts a volume: at [`mount`] where its name is an absolute path, else
/// there below [`MOUNTS`].
pub fn design_mount(volume: &str) -> String {
    let folder = mount(volume);
    let is_path = volume.starts_with('/') && !volume.trim_matches('/').is_empty();
    if is_path { folder } else { format!("{MOUNTS}{folder}") }
}

impl Needs {
    /// Returns a phase by its name.
    pub fn phase(&self, name: PhaseName) -> Option<&NeedPhase> {
        self.phases.iter().find(|phase| phase.name == name)
    }

    /// Returns how much larger a volume will be.
    pub fn growth_of(&self, volume: &NeedVolume) -> Growth {
        volume.growth.or(self.growth).unwrap_or_default()
    }
}
