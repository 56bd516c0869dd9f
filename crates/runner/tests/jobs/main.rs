//! Whole runs of job files on temporary files: what users see of each option that acts.

mod bench;
mod devices;
mod failures;
mod files;
mod process;
mod read_only;
mod running;
mod steps;
