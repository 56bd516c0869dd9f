//! The result of a benchmark suite, in a record whose steps are its measurements.

use serde::{Deserialize, Serialize};

use crate::figures_json::{Fields as _, InJson, OfRow, OfSync};
use crate::{Figure, Figures, IntervalRecord, ScaleOutRecord};

/// A benchmark procedure and its result. The measurements themselves are the record's steps; those
/// of its load curve, if it has one, are beside them, with [`crate::CurveRecord`].
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct SuiteRecord {
    /// Its name.
    pub name: String,
    /// One line about it.
    pub title: String,
    /// Too short for more than a first look.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub indicative: bool,
    /// Share of its sizes and times that was used, where that was not all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<f64>,
    /// What else was changed: parameter and value, as typed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<(String, String)>,
    /// Measurements of each step.
    pub n_repeats: u32,
    /// Seed of the order in which repeats were taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order_seed: Option<u64>,
    /// Where the procedure and the published figures come from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<SuiteSourceRecord>,
    /// What each step of the record was for, in their order.
    pub steps: Vec<SuiteStepRecord>,
    /// What came out, in the order of the suite.
    pub rows: Vec<SuiteRowRecord>,
    /// What others measured, to compare with what was measured here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub published: Vec<PublishedRecord>,
    /// What was asked of the disk, and the answers: needs of the user's own, or targets that the
    /// suite's sources publish.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<NeedRecord>,
    /// How it grew with the hosts, where it was measured with several numbers of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scale_out: Vec<ScaleOutRecord>,
    /// Rounds until steady, where the suite has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds: Option<SuiteRoundsRecord>,
}

/// Whether a disk does what it must.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum NeedVerdict {
    /// Every condition is kept.
    #[serde(rename = "met")]
    Met,
    /// A condition is broken.
    #[serde(rename = "not met")]
    NotMet,
    /// The measurements do not decide it.
    #[default]
    #[serde(rename = "cannot tell")]
    CannotTell,
}

impl NeedVerdict {
    /// Returns the verdict in words.
    pub fn words(self) -> &'static str {
        match self {
            NeedVerdict::Met => "met",
            NeedVerdict::NotMet => "not met",
            NeedVerdict::CannotTell => "cannot tell",
        }
    }
}

/// What a disk must do, and whether it does.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct NeedRecord {
    /// As typed, or the conditions of a published target.
    pub need: String,
    /// Row that it is judged by.
    pub label: String,
    /// Whether the disk does it.
    pub verdict: NeedVerdict,
    /// Each thing that must hold, with what was measured in the measurement that decided.
    pub conditions: Vec<NeedConditionRecord>,
    /// All figures of that measurement; none where nothing was measured.
    #[serde(default, skip_serializing_if = "Figures::is_empty")]
    pub figures: Figures,
    /// Why it is not met or cannot be decided; of one that is met, what else was seen. May be
    /// empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// Measurements.
    pub n_measured: u32,
    /// Those of them that broke a condition.
    #[serde(default)]
    pub n_failed: u32,
    /// The document that it is from, by its id; empty for a need of the user's own.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub source: String,
}

/// One thing that must hold.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct NeedConditionRecord {
    /// Such as `p99 < 2ms` or `IOPS >= 5000`.
    pub condition: String,
    /// Unit of bound and value.
    pub unit: ConditionUnit,
    /// What is asked: at most of a latency, at least of a rate.
    pub bound: f64,
    /// What was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// It holds; none where that cannot be decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_kept: Option<bool>,
}

/// What a condition counts in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum ConditionUnit {
    /// Nanoseconds of a latency.
    #[serde(rename = "ns")]
    Nanoseconds,
    /// Operations per second.
    #[default]
    #[serde(rename = "IOPS")]
    Iops,
    /// Bytes per second.
    #[serde(rename = "B/s")]
    BytesPerS,
}

/// A document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuiteSourceRecord {
    /// How the suite names it.
    pub id: String,
    /// Its title.
    pub document: String,
    /// When it was written, as it says itself.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub date: String,
    /// The part of it that is meant.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub section: String,
    /// Where it is.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub url: String,
}

/// What a step of a suite was for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepPurpose {
    /// To make ready for others: it is no result.
    Prepare,
    /// To measure a row.
    Measure,
    /// To find out how many workers a row takes: it is left out of the row.
    Workers,
    /// To measure a point of the load curve.
    Curve,
}

/// What a step was for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuiteStepRecord {
    /// Step of the record.
    pub step_idx: u32,
    /// Row that it belongs to.
    pub label: String,
    /// What for.
    pub purpose: StepPurpose,
    /// Which of the repeats, or of the rounds, from 0.
    pub repeat_idx: u32,
}

/// One row: a step, or the median of its repeats.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SuiteRowRecord {
    /// What it is called.
    pub label: String,
    /// It made ready for others, and is no result.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub preparation: bool,
    /// Steps of the record that count.
    pub steps: Vec<u32>,
    /// Figures of all I/Os.
    #[serde(flatten, with = "OfRow")]
    pub figures: Figures<SuiteFigureRecord>,
    /// Latencies of what made writes durable (`fsync`, `fdatasync`).
    #[serde(flatten, with = "OfSync")]
    pub sync: Figures<SuiteFigureRecord>,
    /// Time measured, nanoseconds, of all its steps together.
    pub measured_ns: u64,
    /// One or two words: `valid`, or what is wrong.
    pub verdict: String,
    /// The first check that failed, in a sentence; empty where none did.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

/// A figure, the median of repeats.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct SuiteFigureRecord {
    /// Its median.
    pub median: f64,
    /// Range that holds the median of all such runs; none below six repeats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<IntervalRecord>,
}

impl InJson for SuiteFigureRecord {
    type Json = Self;

    fn in_json(self, _: Figure) -> Self {
        self
    }
}

/// What a published figure counts in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PublishedUnit {
    /// Operations per second.
    #[serde(rename = "IOPS")]
    Iops,
    /// Binary megabytes per second.
    #[serde(rename = "MiB/s")]
    MibPerS,
    /// Decimal megabytes per second.
    #[serde(rename = "MB/s")]
    MbPerS,
}

impl PublishedUnit {
    /// Returns the unit as it is printed.
    pub fn words(self) -> &'static str {
        match self {
            PublishedUnit::Iops => "IOPS",
            PublishedUnit::MibPerS => "MiB/s",
            PublishedUnit::MbPerS => "MB/s",
        }
    }
}

/// What others published, for reference: other machines, other volumes, never a mark to pass.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PublishedRecord {
    /// Row that it is compared with.
    pub label: String,
    /// What it counts in.
    pub unit: PublishedUnit,
    /// The published value.
    pub value: f64,
    /// It was more than that.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub above: bool,
    /// The same figure, measured here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub here: Option<f64>,
    /// What it was measured on.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub on: String,
    /// The document, by its id.
    pub source: String,
}

/// Rounds of all steps until one of them was steady.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SuiteRoundsRecord {
    /// The step that was watched.
    pub tracked: String,
    /// Its I/Os per second, round by round.
    pub iops: Vec<f64>,
    /// First round of the steady window, from 0; none where it never was steady.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steady_from: Option<u32>,
    /// Rounds in the window.
    pub window: u32,
}
