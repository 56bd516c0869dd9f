//! Logs, traces and counters in, needs out. One file per family of formats.

mod bad_input;
mod cloud;
mod common;
mod counters;
mod live;
mod memory;
mod needs;
mod perfmon;
mod samples;
mod seeds;
mod texts;
mod traces;
mod workload;
