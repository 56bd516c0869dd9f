//! The checks of a run. Each is a function of plain figures and says what it could not judge.

mod credits;
mod errors;
mod footprint;
mod generator;
mod little;
mod mount;
mod network;
mod of_record;
mod offered;
mod shared_disk;
mod steadiness;

pub use credits::{BurstKnowledge, CreditInputs, CreditUnit, credits, is_sustained};
pub use errors::{ErrorInputs, errors};
pub use footprint::{CacheSize, FootprintInputs, PageCacheInputs, footprint, page_cache};
pub use generator::{
    GeneratorInputs, HostShares, IS_TRANSIENT, LateCount, PauseInputs, WaitInputs, culprit,
    generator,
};
pub use little::{FlightInputs, little, queue_depth};
pub use mount::{MountRemark, mount_remarks};
pub use network::{SocketInputs, socket_buffers};
pub use of_record::{StepSeries, of_step, worst_backlog};
pub(crate) use of_record::{active_ns, worker_cpu_share};
pub use offered::{Backlog, Behind, OfferedInputs, offered};
pub use shared_disk::shared_disk;
pub use steadiness::{SteadyInputs, steadiness};

use units::format_percent as pct;
