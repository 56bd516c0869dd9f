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

mod allocator;
mod built;
mod clock;
mod commands;
mod diagnostics;
mod env;
mod exit;
mod fill;
mod inputs;
mod limited;
mod loader;
mod plan_json;
mod plan_text;
mod progress;
mod result_file;
mod signals;
mod sink;
mod stream;
mod summary;

use std::process::ExitCode;

use allocator::OrEnd;
use exit::{Exit, Failure};
use units::system_text;

/// musl's own allocator takes a lock per call, which shows when thousands of workers start.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: OrEnd<mimalloc::MiMalloc> = OrEnd(mimalloc::MiMalloc);

#[cfg(not(target_env = "musl"))]
#[global_allocator]
static ALLOCATOR: OrEnd<std::alloc::System> = OrEnd(std::alloc::System);

/// Stack of the thread that does everything but the I/O: what Linux gives a program unless
/// `ulimit -s` says otherwise. It takes memory as far as it is used only.
const STACK_BYTES: usize = 8 << 20;

/// Hands over to a thread with a stack of its own: the definition of all commands alone takes more
/// than `ulimit -s 64` leaves, and a stack that overflows ends a program without a word.
fn main() -> ExitCode {
    allocator::prepare();
    let thread = std::thread::Builder::new().name("plimsoll".to_owned()).stack_size(STACK_BYTES);
    let outcome = match thread.spawn(command) {
        Ok(thread) => thread.join(),
        Err(error) => {
            let failure =
                Failure::wrong_use(format!("cannot start a thread: {}", system_text(&error)));
            let hint = "raise `ulimit -u`, `ulimit -v`, or the limits of the container";
            return failure.with(Exit::RunFailed).hint(hint).report();
        }
    };
    // Its panic has been reported by then.
    outcome.unwrap_or(ExitCode::from(PANICKED))
}

/// Exit code of a program that panicked, as Rust has it.
const PANICKED: u8 = 101;

/// Does what the arguments say.
fn command() -> ExitCode {
    let args: Vec<std::ffi::OsString> = std::env::args_os().collect();
    match commands::dispatch(&args) {
        Ok(exit) => exit.code(),
        Err(failure) => failure.report(),
    }
}
