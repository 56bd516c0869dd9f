//! How what a suite measures grows with the number of hosts that drive the volume.

use serde::{Deserialize, Serialize};

/// A step of a suite, by the number of hosts.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct ScaleOutRecord {
    /// The step.
    pub label: String,
    /// What came out, the fewest hosts first.
    pub points: Vec<ScaleOutPointRecord>,
}

/// What so many hosts did.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct ScaleOutPointRecord {
    /// Hosts.
    pub n_hosts: u32,
    /// Label of the row of the suite that has the figures of all hosts together.
    pub row: String,
    /// Operations per second over those of the fewest hosts; `None` where these did nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speed_up: Option<f64>,
    /// Operations per second of the slowest host.
    pub host_iops_min: f64,
    /// The same of the host in the middle; of two the mean.
    pub host_iops_median: f64,
    /// The same of the fastest host.
    pub host_iops_max: f64,
    /// From the common start until the first host had done its part, nanoseconds.
    pub first_done_ns: u64,
    /// The same of the last host.
    pub last_done_ns: u64,
    /// What the limit was.
    pub binds: Binds,
    /// What says so, in a sentence.
    pub why: String,
}

/// What limits hosts that drive a volume together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Binds {
    /// The hosts: their load generators are the limit, or are kept from their work.
    Clients,
    /// The hosts' links to the volume.
    Links,
    /// The volume, or what all hosts share on the way to it.
    Volume,
    /// What each host asks for: its queue depth at this latency, or its rate.
    Load,
    /// That is not known.
    #[default]
    Unknown,
}

impl Binds {
    /// Returns it in a word.
    pub fn word(self) -> &'static str {
        match self {
            Binds::Clients => "clients",
            Binds::Links => "links",
            Binds::Volume => "volume",
            Binds::Load => "load",
            Binds::Unknown => "unknown",
        }
    }
}
