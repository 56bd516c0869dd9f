//! The cheapest designs that carry a need: machine, disks, stripe and host cache, by exact search.
//!
//! A [`Need`] has the load of each volume in each phase. A [`Market`] is what a region sells:
//! machines in groups of equal limits, and disk types. [`search()`] returns the best designs, each
//! the best of its machine and types of disk: lowest price first, then most headroom, then fewest
//! parts. [`judge()`] returns what any design does with a need, [`explain`] why and what lifts it
//! at which price, [`bill`] makes it an order.
//!
//! No limit is defined here. How much of each cap an I/O uses comes from [`volume::limits::path`]
//! for a design of one volume; a machine's caps are those that a design file with its name gets.
//! The
//! search adds and compares these numbers.
//!
//! Never here: reading files, a clock, printing, and a second copy of any rule of limits or prices.
//!
//! Tests: `tests/`: equal to trying every design, on random catalogues.

pub mod advice;
pub mod bill;
mod candidate;
mod credited;
pub mod estate;
pub mod explain;
mod filled;
mod from_needs;
mod group;
mod judge;
mod kind;
mod lift;
mod local;
mod make;
mod market;
#[cfg(test)]
mod misuse;
mod nearest;
mod need;
pub mod netapp;
mod on_local;
mod on_machine;
mod price;
mod rank;
mod reject;
mod search;
pub mod series;
mod unsized_machines;
mod uses;

pub use filled::{Filled, Part, filled};
pub use from_needs::{SearchInput, asked};
pub use judge::{CapAsked, Judged, PhaseJudged, judge};
pub use kind::CHUNKS_BYTES;
pub use lift::{Changed, Lift, cheapest_lift};
pub use make::{parse, promises, promises_network, toml, unknowns};
pub use market::{Market, MarketError, Terms};
pub use nearest::{Lack, Nearest, nearest};
pub use need::{Demand, Need, NeedError, Period, PhaseNeed, SERIES_PHASE, VolumeNeed, VolumeUse};
pub use price::Price;
pub use rank::{ChosenDisks, Ranked};
pub use reject::{Rejected, Rejection, rejected};
pub use search::{Options, SearchResult, search, search_watched};
pub use unsized_machines::{UnsizedMachines, n_unsized_below, unsized_machines};
