//! Needs: what a capture comes to, and the file that a person can write as well.
//!
//! A [`Figure`] is a set of percentiles with a [`Label`] and its source. Percentiles of rates are
//! over time; those of shares and latencies are over I/Os.

mod compute;
mod figure;
mod phase;
mod series;
mod toml_form;

use serde::{Deserialize, Serialize};

pub use compute::needs_of;
pub use figure::{Amount, Figure, Label};
pub use phase::{PhaseRule, Window};
pub use series::series_csv;

/// Name and version of the form. The number rises when a key changes its meaning.
pub const SCHEMA: &str = "plimsoll.needs/1";

/// What an application asks of its storage.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Needs {
    /// [`SCHEMA`]; may be left out by hand.
    #[serde(default = "schema")]
    pub schema: String,
    /// What they are of.
    #[serde(default)]
    pub name: String,
    /// The file beside this one that holds every sample, for replays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series: Option<String>,
    /// Processors of the host that was captured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus: Option<u32>,
    /// Where the figures come from.
    #[serde(default, rename = "source", skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<NeedSource>,
    /// What is to be known of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Volumes and what they hold.
    #[serde(default, rename = "volume")]
    pub volumes: Vec<NeedVolume>,
    /// How the load differs over the day.
    #[serde(default, rename = "phase")]
    pub phases: Vec<NeedPhase>,
}

fn schema() -> String {
    SCHEMA.to_owned()
}

/// Where figures come from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NeedSource {
    /// A file as it was named, or `live`.
    pub name: String,
    /// What form it has.
    pub form: String,
    /// Which clock its moments are of: `local`, `utc`, `relative` or `none`.
    pub clock: String,
}

/// A volume.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NeedVolume {
    /// Its name, as the phases have it.
    pub name: String,
    /// How much it must hold, GiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity_gib: Option<Amount>,
    /// How much of that is in use, GiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used_gib: Option<Amount>,
}

/// A part of the day, or all of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NeedPhase {
    /// `normal`, `peak` or `off-peak`.
    pub name: String,
    /// When it is, as `09:00-17:00`; empty: whenever no other phase is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hours: Vec<String>,
    /// How much of it was captured, seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub captured_s: Option<f64>,
    /// Processor time in use, percent of all processors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_percent: Option<Figure>,
    /// Memory that programs hold, GiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_gib: Option<Figure>,
    /// The same in percent of what the host has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_percent: Option<Figure>,
    /// What each volume is asked for.
    #[serde(default, rename = "volume")]
    pub volumes: Vec<NeedLoad>,
}

/// What a volume is asked for in a phase.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NeedLoad {
    /// Name of the volume.
    pub name: String,
    /// I/Os per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iops: Option<Figure>,
    /// Throughput, 10^6 bytes per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throughput_mb_s: Option<Figure>,
    /// Size of an I/O, KiB. Never guessed: without it, it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub io_size_kib: Option<Figure>,
    /// Reads among reads and writes, percent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_percent: Option<Figure>,
    /// I/Os that do not follow on the one before, percent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub random_percent: Option<Figure>,
    /// From issue to completion, milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ms: Option<Figure>,
    /// I/Os in flight.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_depth: Option<Figure>,
    /// I/Os of the fullest tenth of a second over those of the mean one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub burst_peak_to_mean: Option<Amount>,
    /// Variance over mean of the I/Os of a tenth of a second; 1 where they are independent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub burst_dispersion: Option<Amount>,
}

/// Why a file of needs cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NeedsError(String);

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

impl NeedPhase {
    /// Returns the figures of the host with the names of their keys, in the order of the file.
    pub fn figures(&self) -> [(&'static str, Option<&Figure>); 3] {
        [
            ("cpu_percent", self.cpu_percent.as_ref()),
            ("memory_gib", self.memory_gib.as_ref()),
            ("memory_percent", self.memory_percent.as_ref()),
        ]
    }
}

impl Needs {
    /// Reads a file of needs.
    ///
    /// # Errors
    /// What is wrong, where, in the words of TOML; and volumes and phases that do not fit.
    pub fn parse(text: &str) -> Result<Needs, NeedsError> {
        let needs: Needs = toml::from_str(text).map_err(|error| NeedsError(error.to_string()))?;
        if needs.schema != SCHEMA {
            let text = format!("`schema` is `{}`: expected `{SCHEMA}`", needs.schema);
            return Err(NeedsError(text));
        }
        for phase in &needs.phases {
            PhaseRule::check(&phase.name, &phase.hours).map_err(NeedsError)?;
            let known = |name: &str| needs.volumes.iter().any(|volume| volume.name == name);
            if let Some(load) = phase.volumes.iter().find(|load| !known(&load.name)) {
                let text = format!(
                    "phase `{}` names volume `{}`, of which there is no `[[volume]]`",
                    phase.name, load.name
                );
                return Err(NeedsError(text));
            }
        }
        Ok(needs)
    }

    /// Prints them as a file that [`Needs::parse`] reads.
    pub fn to_toml(&self) -> String {
        toml_form::print(self)
    }
}
