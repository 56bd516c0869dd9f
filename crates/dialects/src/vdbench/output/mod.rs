//! What Vdbench prints: rows, pages, console lines and flatfiles.
//!
//! All of it is pure: times of day come in as [`Moment`]s, text goes out. Widths, roundings and
//! column names are those of 5.04.07 and, where asked for, of the versions from 5.03 on, because
//! scripts find figures by position or by name. Where Vdbench is wrong in a way that no reader can
//! want, it is not followed: no `NaN`, no `avg_2-1`, no maximum that is carried over from an
//! earlier interval. A run of a single interval without warmup shows it as `avg_1-1`.
//!
//! The way in: [`Report`] turns the events of a run into text for the console and for pages. What
//! it is made of, rows and lines of flatfiles from figures, is public for readers and tests.
//!
//! Tests: `tests/vdbench_output*.rs`; where a folder of real output is present they reprint it.

mod anchors;
mod asked;
mod counters;
mod files;
mod flatfile;
mod histogram;
mod jobs;
mod members;
mod number;
mod page;
mod raw;
mod report;
mod samples;
mod setup;
mod stats;
mod time;
mod words;

pub use counters::{Counters, misc_line};
pub use files::{
    FileFigures, OpFigures, file_columns, file_header, file_row, file_skew_header, file_skew_row,
    file_spread_rows,
};
pub use flatfile::{
    RunSettings, file_flatfile_head, file_flatfile_row, raw_flatfile_head, raw_flatfile_row,
    reqrate,
};
pub use histogram::{HISTOGRAM_LIMITS_US, block, file_histogram, raw_histograms};
pub use jobs::{host_labels, host_paths, job_names};
pub use raw::{
    Layout, Megabyte, RawFigures, Skew, raw_header, raw_row, raw_skew_header, raw_skew_row,
};
pub(super) use report::OTHER_PAGES;
pub use report::{AnchorPart, Ending, LunSeen, Output, PAGES, Report, TreeSeen};
pub use setup::{Setup, SetupHost};
pub use stats::{OPERATIONS, OpStats, RowStats, Totals, operation_name, operation_of};
pub use time::Moment;
pub use words::Words;
