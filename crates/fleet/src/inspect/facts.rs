//! What an agent finds out about its host.

use record::{HostRecord, PlaceRecord};
use serde::{Deserialize, Serialize};

/// A host as it is before a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HostFacts {
    /// Version of the program that looked.
    pub program_version: String,
    /// The program was sent there: it is not installed, or another one is.
    pub was_sent: bool,
    /// What the installed program calls itself, such as `plimsoll 0.1.0`; empty where there is
    /// none.
    pub installed: String,
    /// The machine.
    pub host: HostRecord,
    /// What the kernel drew when it started; the same on hosts that run on one kernel.
    pub boot_id: String,
    /// Both clocks, read at one moment.
    pub clock: ClockReading,
    /// What the agent's process may use.
    pub limits: LimitFacts,
    /// The way to the controller; `None` where that is not known.
    pub link: Option<LinkFacts>,
    /// What else the host does.
    pub load: LoadFacts,
    /// Where the targets lie.
    pub targets: Vec<TargetFacts>,
    /// What keeps the plan from running there.
    pub refusals: Vec<String>,
    /// What there is to say about a plan that may run.
    pub remarks: Vec<String>,
}

/// A moment by both clocks of a host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ClockReading {
    /// `CLOCK_MONOTONIC`, nanoseconds.
    pub monotonic_ns: u64,
    /// The time of day, nanoseconds since 1970.
    pub unix_ns: i64,
}

impl ClockReading {
    /// Reads both clocks of this host.
    pub fn now() -> Self {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::Realtime);
        let unix_ns = time.tv_sec.saturating_mul(1_000_000_000).saturating_add(time.tv_nsec);
        ClockReading { monotonic_ns: crate::monotonic_ns(), unix_ns }
    }
}

/// What a process may use.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LimitFacts {
    /// Open files; `None` without a limit.
    pub open_files: Option<u64>,
    /// What that may be raised to.
    pub open_files_max: Option<u64>,
    /// Bytes of locked memory.
    pub locked_bytes: Option<u64>,
    /// Why `io_uring` may not be used; empty where it may.
    pub uring_refusal: String,
}

/// A network interface.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LinkFacts {
    /// Its name.
    pub interface: String,
    /// What its driver says that it carries in one direction, bytes per second.
    pub bytes_s: Option<f64>,
}

/// What a host does beside the agent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LoadFacts {
    /// Load average of the last minute.
    pub load_average: Option<f64>,
    /// Share of all processors' time that other programs used, 0 to 1.
    pub busy_share: Option<f64>,
    /// Share of it that the hypervisor gave to others.
    pub steal_share: Option<f64>,
}

/// What is at a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThereFacts {
    /// It was not looked at.
    #[default]
    Unknown,
    /// Nothing.
    Missing,
    /// Not even the folder that it would be in.
    NoFolder,
    /// A file of so many bytes.
    File(u64),
    /// Something else, such as a device.
    Other,
}

/// A place on which targets lie.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TargetFacts {
    /// The target, or the first of those at this place.
    pub path: String,
    /// The place.
    pub place: PlaceRecord,
    /// Bytes that this user may still use there; `None` where that is not known, as of a device.
    pub free_bytes: Option<u64>,
    /// What is there.
    pub there: ThereFacts,
    /// Bytes that the plan's files will need there beyond what they have.
    pub layout_bytes: u64,
    /// What a device is in use for.
    pub uses: Vec<String>,
    /// Why it cannot be worked on; empty where it can.
    pub problem: String,
}
