//! Whole runs on trees of files: what operations leave on disk, and what stands against them.

#![expect(clippy::print_stdout, reason = "a skipped test says so")]

mod bench;
mod formats;
mod harm;
mod million;
mod operations;
mod shares;
