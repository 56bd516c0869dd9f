//! A run as it goes on: one model of it, and the views that show it.
//!
//! [`Live`] is fed once a second with what the record itself is made of: the jobs of each host as
//! they would stand in the record if the run ended now. What a second did is the difference of two
//! such states, so the seconds add up to the record, and the last state is the record's. It serves
//! one host and many alike.
//!
//! Views: `line.rs` writes it for programs, a line of JSON per second; `metrics.rs` for Prometheus
//! and OpenTelemetry; `http.rs` serves both that and `page.rs`, the page in the browser;
//! `collector.rs` sends metrics to who does not ask for them; `tui.rs` shows `screen.rs` in the
//! terminal.
//!
//! Its memory is bounded by the number of hosts, jobs and kinds of operation: finished steps leave
//! their sums only, and seconds become longer ones as the run goes on ([`History`]).
//!
//! Never here: measuring, judging, the run itself. Tests: below each file, `tests/`, and those of
//! `plimsoll` with whole runs.

pub mod address;
mod background;
pub mod collector;
mod counts;
mod history;
pub mod http;
pub mod line;
pub mod metrics;
mod model;
mod page;
mod screen;
mod table;
pub mod tui;
mod view;

pub use counts::{Counts, OpName};
pub use history::History;
pub use model::{About, HostNow, HostSoFar, JobNow, Live, LoadNow, OpNow, StepNow};
pub use view::Shared;
