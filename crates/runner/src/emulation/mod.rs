//! Runs on emulated volumes: a plan's files fall on the volumes of a design instead of this host's.
//!
//! `refuse.rs` says what such a run cannot do; `placement.rs` gives every file its addresses. The
//! workers are the same as on real files: driven by [`crate::virtual_time`] where nothing waits, or
//! by their threads with the engine `volume`.

mod attribution;
mod clients;
mod placement;
mod refuse;
mod shared;
mod spec;
mod start;
mod takeover;

pub(crate) use attribution::CapTable;
pub use clients::whole_path;
pub(crate) use placement::{Placement, facts};
pub(crate) use refuse::of as refusals;
pub(crate) use shared::{SharedVolumes, VolumesSeat};
pub use spec::{DesignChange, EmulatedTime, Emulation};
pub(crate) use start::{start_system, without_batches};
pub(crate) use takeover::change;
