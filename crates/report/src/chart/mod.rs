//! One file per kind of chart: from records to [`crate::ChartSpec`]s.

pub(crate) mod comparison;
pub(crate) mod convergence;
pub(crate) mod curve;
pub(crate) mod heat;
pub(crate) mod loads;
pub(crate) mod operations;
pub(crate) mod over_time;
pub(crate) mod percentiles;
pub(crate) mod sweep;
