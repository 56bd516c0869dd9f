//! What fio prints, from a [`record::Record`]: `normal`, `json`, `json+`, `terse`, the status
//! line and the log files.
//!
//! All of it is pure: times of day come in as arguments, text goes out. Layouts, key orders, types,
//! units and roundings are those of fio 3.42, because scripts and parsers depend on each of them.
//! Where fio is wrong in a way that no reader can want, it is not followed: no log text inside
//! JSON, no nameless entries, no depth shares above 100 %.
//!
//! Facts: fio's HOWTO and the output of real runs. Tests: `tests/fio_output*.rs`; where fio is
//! installed they compare with what it prints.

pub mod log;
pub mod packed_log;

mod clients;
pub(crate) mod ctime;
mod eta;
mod json;
mod json_text;
mod latency;
mod model;
mod normal;
mod start;
mod terse;
mod text;

pub use clients::{ClientResult, client_start_lines, clients_json, clients_normal, clients_terse};
pub use eta::{EtaStatus, JobState, eta_line};
pub use json::{JsonOptions, json};
pub use normal::normal;
pub use start::{layout_line, start_lines};
pub use terse::{TerseVersion, terse};

/// The version of fio that the formats follow, as printed where fio prints its own.
///
/// Readers take it apart (`fio-` and two numbers) to choose a layout, and the terse formats carry
/// it in field 2, so it names the fio whose layout is followed and not this program.
pub const COMPAT_VERSION: &str = "fio-3.42";

/// When a report is made: the only time of day in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ReportTime {
    /// Milliseconds since the Unix epoch.
    pub unix_ms: u64,
    /// Seconds that local time is ahead of UTC; negative west of Greenwich.
    pub utc_offset_s: i32,
}
