//! Whole runs on trees of files: what operations leave on disk, and what stands against them.

#![expect(clippy::print_stdout, reason = "a skipped test says so")]
#![expect(
    clippy::disallowed_methods,
    reason = "long tests and the process that is killed are asked for by variables, and timed"
)]

mod bench;
mod contents;
mod errors;
mod formats;
mod harm;
mod million;
mod operations;
mod shares;
mod units;
