//! What an application asks of its storage: the file of needs, and the rates that a design must
//! carry.
//!
//! [`Needs`] is the file: volumes, phases of the day, and what each volume is asked for in each
//! phase. A capture writes it, and a person can. A [`Figure`] is a set of percentiles with a
//! [`Label`] and its source; percentiles of rates are over time, those of shares and latencies
//! over I/Os. [`parse`] reads it with all mistakes and their places, [`Needs::to_toml`] prints it.
//!
//! [`requirements()`] turns needs into what a design must carry: one rate per volume and phase,
//! with growth and peak, each with the reason for it.
//!
//! Never here: reading logs (`capture` does), and which machine or disk carries a need.
//!
//! Tests: `tests/all`, and beside the modules.

mod check;
mod checklist;
mod figure;
mod io_sizes;
mod needs;
mod phase;
mod read;
mod requirements;
mod series;
mod write;

pub use check::{check_amount, check_figure};
pub use checklist::{Checklist, ChecklistRow, Statistic, checklists};
pub use figure::{Amount, Figure, Label, Percentile};
pub use io_sizes::IoSizes;
pub use needs::{
    FACTOR_MAX, Growth, MOUNTS, MachineNeed, NeedLoad, NeedPhase, NeedSource, NeedVolume, Needs,
    SCHEMA, VolumeUse, design_mount, mount,
};
pub use phase::{HoursClash, MINUTES_PER_DAY, PhaseName, PhaseRule, Window, check_hours};
pub use read::{declares, parse};
pub use requirements::{
    LoadRequirement, MachineRequirement, PEAK_FACTOR, Requirements, VolumeRequirement, requirements,
};
pub use series::{SERIES_HEAD, SeriesLoad, SeriesSample, read_series, series_load, series_path};
pub use write::{is_printed_as_0, number};
