//! The results of a capture: [`needs_of`], and every sample as a table.

mod compute;
mod phase;
mod series;
mod weighted;

pub use compute::{EmptyPhase, NoIo, check_phases, needs_of};
pub use phase::{MissedPhase, Phases};
pub use series::series_csv;
