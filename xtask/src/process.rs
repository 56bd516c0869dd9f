//! Running other programs, with errors that name the whole command line.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

/// Returns the folder that holds the workspace's Cargo.toml.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace root")
}

/// Returns a command for the cargo that runs this program, in the workspace root.
pub(crate) fn cargo(args: &[&str]) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.args(args).current_dir(root());
    command
}

/// Keeps what a command runs out of the developer's run store.
pub(crate) fn unstored(command: &mut Command) -> &mut Command {
    command.env("PLIMSOLL_STORE", "")
}

/// Runs a command with our own standard streams. Fails when it cannot start or does not succeed.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let line = command_line(command);
    let status = unstored(command).status().with_context(|| format!("cannot start `{line}`"))?;
    if !status.success() {
        bail!("`{line}` failed: {status}");
    }
    Ok(())
}

/// Runs a command and returns its standard output. Its standard error is shown only on failure.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let line = command_line(command);
    let output = unstored(command).output().with_context(|| format!("cannot start `{line}`"))?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        bail!("`{line}` failed: {}\n{}", output.status, stderr.trim_end());
    }
    String::from_utf8(output.stdout).with_context(|| format!("`{line}` printed no UTF-8"))
}

/// Returns whether a program of this name lies on `PATH`.
pub(crate) fn on_path(program: &str) -> bool {
    std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|dir| dir.join(program).is_file()))
}

/// Returns the command as a user would type it: the program's file name, then its arguments.
pub(crate) fn command_line(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let name = program.file_name().unwrap_or(OsStr::new("?"));
    let mut line = name.to_string_lossy().into_owned();
    for arg in command.get_args() {
        let arg = arg.to_string_lossy();
        let quote = if arg.contains(' ') { "'" } else { "" };
        write!(line, " {quote}{arg}{quote}").expect("a string takes every write");
    }
    line
}
