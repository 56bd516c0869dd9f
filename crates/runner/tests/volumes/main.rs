//! Whole runs of job files on emulated volumes, in virtual time.

mod bench;
mod caps;
mod figures;
mod refusals;
mod semantics;
