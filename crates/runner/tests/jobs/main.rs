//! Whole runs of job files on temporary files: what users see of each option that acts.

#![expect(clippy::print_stdout, reason = "a skipped test says so")]

mod bench;
mod devices;
mod failures;
mod files;
mod process;
mod read_only;
mod running;
mod steps;
