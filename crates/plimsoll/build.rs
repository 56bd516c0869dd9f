//! Tells the program what it is built from: commit, target and compiler, for `--version`.
//!
//! Only an optimised build knows its commit. Another would be compiled anew with each commit, and
//! all its tests with it, for a line that no test reads.

use std::path::Path;
use std::process::Command;
use std::{env, io};

#[expect(clippy::disallowed_methods, reason = "cargo tells a build script by variables only")]
fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=PLIMSOLL_COMMIT");
    let variable = |name| env::var(name).unwrap_or_default();
    let source = match variable("PLIMSOLL_COMMIT") {
        said if !said.is_empty() => said,
        _ if variable("PROFILE") == "release" => from_git(Path::new("."))?,
        _ => "not recorded by a build for tests".to_owned(),
    };
    println!("cargo::rustc-env=PLIMSOLL_BUILT_FROM={source}");
    println!("cargo::rustc-env=PLIMSOLL_BUILT_FOR={}", variable("TARGET"));
    let compiler = output(Command::new(variable("RUSTC")).arg("--version")).unwrap_or_default();
    println!("cargo::rustc-env=PLIMSOLL_BUILT_BY={compiler}");
    Ok(())
}

/// Returns the commit that a package's folder is at, and whether the files that the program is made
/// of are those of it.
pub(crate) fn from_git(package: &Path) -> io::Result<String> {
    let git = |args: &[&str]| output(Command::new("git").args(args).current_dir(package));
    // An archive of the sources may lie in a repository of something else.
    let is_ours = git(&["ls-files", "--error-unmatch", "build.rs"]).is_some();
    let Some(commit) = git(&["rev-parse", "--short=12", "HEAD"]).filter(|_| is_ours) else {
        return Ok("not known: built without its git repository".to_owned());
    };
    let branch = git(&["symbolic-ref", "--quiet", "HEAD"]).unwrap_or_default();
    for name in ["HEAD", "logs/HEAD", "packed-refs", &branch] {
        watch(&package.join(git(&["rev-parse", "--git-path", name]).unwrap_or_default()));
    }
    let crates = package.join("..");
    let mut sources = vec![crates.join("../Cargo.toml"), crates.join("../Cargo.lock")];
    for entry in crates.read_dir()? {
        let package = entry?.path();
        sources.extend(["src", "data", "build.rs", "Cargo.toml"].map(|name| package.join(name)));
    }
    sources.retain(|path| path.exists());
    for source in &sources {
        watch(source);
    }
    let mut status = Command::new("git");
    status.arg("-C").arg(package).args(["status", "--porcelain", "--"]);
    let state = match output(status.args(&sources)).as_deref() {
        Some("") => "its sources unchanged",
        Some(_) => "with changes that are not in it",
        None => "not known whether changed since",
    };
    Ok(format!("{commit}, {state}"))
}

/// Runs this again when the path changes. Cargo takes one that is not there for changed each time.
fn watch(path: &Path) {
    if path.exists() {
        println!("cargo::rerun-if-changed={}", path.display());
    }
}

/// Returns what a command printed, if it could be started and succeeded.
fn output(command: &mut Command) -> Option<String> {
    let output = command.output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
