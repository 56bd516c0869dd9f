//! The results of a capture: [`needs_of`], and every sample as a table.

mod compute;
mod phase;
mod series;
mod weighted;

pub use compute::{NoIo, needs_of};
pub use phase::Phases;
pub use series::series_csv;
