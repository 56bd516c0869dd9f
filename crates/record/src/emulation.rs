//! Runs on emulated volumes: on what. Which of its caps held a job: `caps.rs`.

use serde::{Deserialize, Serialize};

/// What stood in for the targets of a run.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct EmulationRecord {
    /// `virtual`: time jumped from event to event. `real`: it passed, see `time_scale`.
    pub time: String,
    /// Seconds that passed for one second of the record; 1 unless asked for. Without meaning in
    /// virtual time.
    #[serde(deserialize_with = "crate::number::number_or_null")]
    pub time_scale: f64,
    /// Name of the design.
    pub design: String,
    /// FNV-1a (64 bit, hexadecimal) of the text that the design was read from.
    pub design_hash: String,
    /// Designs that took over while the run went on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<DesignChangeRecord>,
    /// Edition of the catalogue that its limits come from.
    pub edition: String,
    /// FNV-1a (64 bit, hexadecimal) of the user's own tables, which counted before the catalogue's;
    /// empty where there were none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub catalog_hash: String,
    /// Host cache at the start: `cold`, or `warm` with the files in it as far as they fit.
    pub cache: String,
    /// Folders that the volumes are mounted at, in the order of the design.
    pub mounts: Vec<String>,
    /// Burst credits: of the volumes together, and of the machine; empty where there are none.
    /// Where the design was changed, of the first one that has some.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bursts: Vec<BurstRecord>,
    /// What the host's cache for the volumes holds; 0 where there is none.
    #[serde(default)]
    pub host_cache_bytes: u64,
    /// Mounts of the volumes that use it; empty also in records of before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cached_mounts: Vec<String>,
    /// Mounts of the volumes whose latency without load is constant by the design; empty also in
    /// records of before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub constant_latency_mounts: Vec<String>,
}

/// A design that took the place of another one during a run.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct DesignChangeRecord {
    /// When, nanoseconds after the start of the run.
    pub at_ns: u64,
    /// Name of the design.
    pub design: String,
    /// As [`EmulationRecord::design_hash`].
    pub design_hash: String,
}

impl EmulationRecord {
    /// Reports that latencies are assumed constant, where they are: as a sentence that is shown
    /// with percentiles.
    pub fn constant_latency(&self) -> Option<String> {
        let whose = match self.constant_latency_mounts.as_slice() {
            [] => return None,
            constant if constant.len() == self.mounts.len() => String::new(),
            constant => format!(" of {}", constant.join(", ")),
        };
        Some(format!(
            "latency without load{whose} is assumed constant: percentiles show waiting only, not \
             how a real volume's latency spreads"
        ))
    }

    /// Names the design and those that took over: `p20.toml`, `p20.toml, from 10 s on p40.toml`.
    pub fn designs(&self) -> String {
        let mut text = self.design.clone();
        for change in &self.changes {
            let at_s = change.at_ns as f64 / 1e9;
            text.push_str(&format!(", from {at_s} s on {}", change.design));
        }
        text
    }
}

/// Burst credits: more than the baseline is carried while they last.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct BurstRecord {
    /// Whose: `volumes` or `machine`.
    pub whose: String,
    /// Operations per second that are carried for ever.
    pub baseline_iops: f64,
    /// Operations beyond the baseline that full accounts hold; 0 without such credits.
    pub credit_ios: f64,
    /// Bytes per second that are carried for ever.
    pub baseline_bytes_s: f64,
    /// Bytes beyond the baseline that full accounts hold; 0 without such credits.
    pub credit_bytes: f64,
}
