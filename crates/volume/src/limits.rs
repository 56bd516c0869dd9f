//! What a design can do, in closed form: every rule by itself, and all of them for a [`Design`].
//!
//! The rules are small pure functions over rates (`f64`, per second). [`compose`] puts them
//! together: which cap binds a load on each volume and which one comes next. [`remedy`] finds the
//! change that lifts the first. A run of [`crate::System`] must settle at the same figures.
//!
//! What a demand that changes leaves of a cap and its credits is in [`credit`], cap by cap. Never
//! here: caches as they warm, which depend on what came before.
//!
//! Tests: `tests/acceptance`, which drives every figure of the source documents through these
//! rules, and whole designs against runs in virtual time.
//!
//! [`Design`]: crate::Design

pub mod bound;
pub mod cache;
pub mod compose;
pub mod credit;
mod depth;
mod flow;
mod network;
pub mod path;
mod queue;
pub mod remedy;
pub mod size;
pub mod stripe;

pub use bound::Bound;
pub use compose::{alone, together};
pub use depth::{AtDepth, at_depth, by_depth};
pub use flow::{CapUse, Done, Scope, Side};
pub use remedy::{PriceOf, Remedy, remedies, remedies_among, remedies_by};

pub use crate::load::{Flow, Load};
