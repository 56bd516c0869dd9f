//! Composite workloads: what came of units of load, component by component.

use serde::{Deserialize, Serialize};

use crate::figures_json::{Fields as _, OfPoint};
use crate::{Figures, Verdict};

/// What the workers of a job are processes of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OfUnitRecord {
    /// Name of the unit, such as `jobset`.
    pub unit: String,
    /// Units of load.
    pub n_units: u32,
    /// Operations per second asked of each process; `None` without a rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
}

/// What came of a number of units of load: of a measured step, over its measured time.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct UnitsRecord {
    /// Step of the record.
    pub step_idx: u32,
    /// Name of the unit.
    pub unit: String,
    /// How many there were.
    pub n_units: u32,
    /// All components together.
    pub all: ComponentRecord,
    /// The components, in the order of the file.
    pub components: Vec<ComponentRecord>,
    /// Furthest that the part of a component in all operations done is from its part in those asked
    /// for, as a share of the latter; `None` with one component, or one without a rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub balance_off_share: Option<f64>,
    /// Whether the rates asked for were achieved: not assessed where none was asked for, or too few
    /// operations were due to tell.
    pub gates: Verdict,
    /// What was not achieved, or why that is not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub broken: Vec<String>,
}

/// What the processes of a component did.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct ComponentRecord {
    /// Its name; empty of all together.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Its processes over all units.
    pub n_processes: u32,
    /// Operations per second asked for; `None` without a rate, or if any component has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_iops: Option<f64>,
    /// Operations done over those asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub achieved_share: Option<f64>,
    /// The same of the process that achieved least; `None` where it is not known of all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process_share_min: Option<f64>,
    /// Its part in all operations asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_part: Option<f64>,
    /// Its part in all operations done.
    pub done_part: f64,
    /// What was achieved; latencies count from when an operation was due, without a rate from its
    /// beginning.
    #[serde(flatten, with = "OfPoint")]
    pub figures: Figures,
}

impl UnitsRecord {
    /// Returns whether the rates asked for were achieved; `None` where that is not known.
    pub fn holds(&self) -> Option<bool> {
        match self.gates {
            Verdict::Passed => Some(true),
            Verdict::Failed => Some(false),
            Verdict::NotAssessed => None,
        }
    }
}
