//! The `plimsoll` command: arguments, exit codes, rendering of diagnostics, progress, wiring.
//!
//! One file per command under `commands/`. What a command needs of the outside world is here and
//! nowhere else: `env` names every environment variable, `loader` reads files for the parsers,
//! `signals` turns SIGINT into a request to stop, `clock` reads the time of day. Data goes to
//! standard output, everything else to standard error (`stream`).
//!
//! Never here: parsing of job files (`dialects`), the run itself (`runner`), output of other tools
//! (`dialects::fio::output`).
//!
//! Started through a link named `fio` it behaves as `plimsoll fio`.
//!
//! Tests: `tests/`, which run the built binary, and beside the pure modules.

mod clock;
mod commands;
mod diagnostics;
mod env;
mod exit;
mod fill;
mod limited;
mod loader;
mod plan_json;
mod plan_text;
mod progress;
mod signals;
mod stream;
mod summary;

use std::process::ExitCode;

/// musl's own allocator takes a lock per call, which shows when thousands of workers start.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let args: Vec<std::ffi::OsString> = std::env::args_os().collect();
    match commands::dispatch(&args) {
        Ok(exit) => exit.code(),
        Err(failure) => failure.report(),
    }
}
