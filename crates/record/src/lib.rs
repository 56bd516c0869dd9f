//! The nouns that come out of a run: [`Record`] and what it is made of, and its versioned JSON.
//!
//! A record says what was measured, under which conditions, and what went wrong. Of all that is
//! merged, workers and groups and hosts, it holds histograms, not percentiles.
//!
//! Words about a record that several outputs share are here, too: `figures.rs`, `curve_words.rs`,
//! `suite_words.rs`.
//!
//! Never here: measuring, averaging of averages, what one output alone says.
//!
//! Tests: `tests/`.

pub mod caps;
pub mod composite;
mod counts;
pub mod curve;
mod curve_words;
pub mod disk;
pub mod emulation;
pub mod figures;
mod figures_json;
pub mod group;
mod histograms;
pub mod host;
pub mod interval;
pub mod job;
mod joined;
pub mod json;
mod latency;
pub mod listed;
#[cfg(test)]
mod misuse;
mod number;
mod parts;
pub mod place;
mod record;
pub mod scale_out;
pub mod step;
pub mod suite;
mod suite_words;
pub mod validity;

pub use caps::{
    CapCountRecord, CapDirectionRecord, CapPeriod, CapRecord, CapStationRecord, CapTraitsRecord,
    CapsRecord, FillingRecord,
};
pub use composite::{ComponentRecord, OfUnitRecord, UnitsRecord};
pub use counts::LatencyCounts;
pub use curve::{
    CannotTell, CarriedRecord, CarriedState, CurvePointRecord, CurveRecord, CurveTargetRecord,
    IntervalRecord, KneesRecord, Lever, LineVerdict, LoadLineRecord, ScalabilityRecord, SearchEnd,
    is_same_load,
};
pub use curve_words::load_words;
pub use disk::DiskRecord;
pub use emulation::{BurstRecord, DesignChangeRecord, EmulationRecord};
pub use figures::{Figure, FigureUnit, Figures};
pub use group::DIRECTIONS;
pub use host::{ClockRecord, HostRecord};
pub use interval::{
    CpuShares, HostSecond, Interval, IntervalDir, IntervalLatency, IntervalResponse,
    IntervalSeries, LoadShares,
};
pub use job::{
    ArrivalsRecord, ChangingRateRecord, DirRecord, DisabledRecord, EngineQueueRecord, EngineRecord,
    IoPriorityRecord, JobRecord, LatencyTargetRecord, PerDirRecord, PrintRecord, PriorityRecord,
    Samples, SeriesRecord, SteadyRecord,
};
pub use joined::{JoinedLatency, LatencyKind};
pub use json::ReadError;
pub use listed::{Latency, ListedLatencies, ListedLatency};
pub use parts::compare_parts;
pub use place::{DeviceRecord, NetworkRecord, PlaceRecord};
pub use record::{
    HostShareRecord, LOG_FAILED, LOG_INCOMPLETE, LossRecord, Note, NoteSeverity, Outcome, Record,
    SCHEMA, StartRecord,
};
pub use scale_out::{Binds, ScaleOutPointRecord, ScaleOutRecord};
pub use step::{IoErrorRecord, StepRecord};
pub use suite::{
    ConditionUnit, NeedConditionRecord, NeedRecord, NeedVerdict, PublishedRecord, PublishedUnit,
    StepPurpose, SuiteFigureRecord, SuiteRecord, SuiteRoundsRecord, SuiteRowRecord,
    SuiteSourceRecord, SuiteStepRecord,
};
pub use validity::{
    DiskUseDir, DiskUseRecord, GateRecord, PauseRecord, PausesRecord, SUSTAINED_SHARE,
    SteadyRuleRecord, StepConditions, StepValidity, UntilSteadyRecord, Verdict,
};
