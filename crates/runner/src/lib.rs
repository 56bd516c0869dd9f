//! Executes a plan on this host: binds it to files, prepares them, runs its workers on threads,
//! samples them, and returns a [`record::Record`] whatever happens.
//!
//! The way in is [`run`]. `bind.rs` (pure) says which worker uses which bytes of which file;
//! `prepare.rs` makes and checks files, on the thread of `preparation.rs`; `thread.rs` drives one
//! worker against one engine; `step.rs` prepares a step, starts its workers, watches and stops
//! them; `collect.rs` turns what they counted into the record.
//!
//! Never here: what the load looks like (that is `worker`), how I/O is issued (`engine`), text for
//! people (`plimsoll`).
//!
//! Tests: `tests/`, whole runs on temporary files.

mod after;
mod alone;
mod amount;
mod bind;
mod bytes;
mod claims;
mod clock;
mod collect;
mod context;
mod control;
mod cpu;
mod disk;
mod divide;
mod emulation;
mod error_dump;
mod error_watch;
mod event;
mod exports;
mod facts;
mod file_locks;
mod findings;
mod folders;
mod footprint;
mod host;
mod intervals;
mod jobs_so_far;
mod journal;
mod layout_progress;
mod logs;
mod memory;
#[cfg(test)]
mod misuse;
mod open_dir;
mod options;
mod outputs;
mod overlaps;
mod parts;
mod pauses;
mod places;
mod portions;
mod preparation;
mod prepare;
mod process;
mod read_only;
mod remarks;
mod replay;
mod resources;
mod run;
mod running;
mod seat;
mod series;
mod setup_error;
mod shell;
mod so_far;
mod spread;
mod status;
mod steady;
mod step;
mod step_event;
mod steps;
mod survey;
mod targets;
mod thread;
mod tree;
mod verify_check;
mod verify_notes;
mod verify_pool;
mod verify_state;
mod virtual_time;
mod watch;
mod worker_event;

pub use bind::{WORKERS_MAX, changed_paths, paths as target_paths};
pub use control::{Control, Stop};
pub use cpu::{HostLoad, load_while};
pub use divide::{divide, draw_apart};
pub use emulation::{DesignChange, EmulatedTime, Emulation, whole_path};
pub use event::{RunEvent, TREE_INCOMPLETE, TreePart};
pub use host::describe as describe_host;
pub use jobs_so_far::JobsSoFar;
pub use journal::{
    BlockFinding, JournalError, LastWrite, TargetVerification, Verification, VerifyOptions,
    verify_journal,
};
pub use memory::NO_MEMORY;
pub use options::{DetailedIntervals, ExistingJournal, RunOptions, UntilSteady, Validation};
pub use pattern::journal::{BlockState, Judged, SectorContent, Stamp, Verdict};
pub use places::{Link, link};
pub use read_only::{LAYOUT as READ_ONLY_LAYOUT, is_in_target, real_path};
pub use run::{RunError, VALIDATE_FAILED, VALIDATED, check, run};
pub use series::SeriesSoFar;
pub use spread::may_spread;
pub use status::Status;
pub use steps::rate_of_point;
pub use survey::{Survey, SurveyedTarget, survey, survey_path};
pub use worker::{DoneOf, FormatStatus};
