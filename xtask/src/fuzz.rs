//! Fuzzing of one target, with libFuzzer through cargo-fuzz.
//!
//! Both it and the nightly compiler that it needs are optional. The bodies of the targets are
//! also compiled by `cargo xtask ci`, so that they compile where they are not run.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::{process, workspace};

/// Time to fuzz when none is given, in minutes.
const MINUTES_DEFAULT: u64 = 10;

/// Fuzzes one target until it finds something or its time is over.
pub(crate) fn run(args: &[&str]) -> Result<()> {
    let (target, minutes) = match args {
        [target] => (*target, MINUTES_DEFAULT),
        [target, "--minutes", minutes] => {
            let minutes = minutes.parse().context("`--minutes` takes a whole number")?;
            (*target, minutes)
        }
        _ => bail!("usage: cargo xtask fuzz TARGET [--minutes N]"),
    };
    let root = process::root();
    if !root.join(format!("fuzz/fuzz_targets/{target}.rs")).is_file() {
        bail!("no such target: `{target}`; they are the files in fuzz/fuzz_targets/");
    }
    check_tools()?;
    let target_dir = workspace::target_dir()?.join("fuzz");
    let mut fuzz = Command::new("rustup");
    fuzz.args(["run", "nightly", "cargo", "fuzz", "run", target]);
    // What it learns goes into the first folder; the second holds what it starts from.
    let corpus = root.join("fuzz/corpus").join(target);
    fs::create_dir_all(&corpus)?;
    fuzz.arg(corpus);
    let seeds = root.join("fuzz/seeds").join(target);
    if seeds.is_dir() {
        fuzz.arg(seeds);
    }
    fuzz.arg("--").arg(format!("-max_total_time={}", minutes * 60)).arg("-timeout=10");
    if target.starts_with("fio_") {
        fuzz.arg(format!("-dict={}", write_words(&target_dir)?.display()));
    }
    fuzz.current_dir(root).env("CARGO_TARGET_DIR", target_dir).env_remove("RUSTUP_TOOLCHAIN");
    process::run(&mut fuzz).with_context(|| {
        format!("what it found lies in fuzz/artifacts/{target}: add it to the crate's tests")
    })
}

/// Writes the words of fio's language for libFuzzer, which would need hours to find them.
fn write_words(dir: &Path) -> Result<PathBuf> {
    let reference = process::root().join("docs/reference/parameters.md");
    let page = fs::read_to_string(&reference)
        .with_context(|| format!("cannot read {}", reference.display()))?;
    let mut words = String::new();
    for names in page.lines().filter_map(|line| line.strip_prefix("- fio: ")) {
        for name in names.split('`').skip(1).step_by(2) {
            writeln!(words, "\"{name}\"").expect("a string takes every write");
        }
    }
    fs::create_dir_all(dir)?;
    let path = dir.join("fio.dict");
    fs::write(&path, words).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(path)
}

fn check_tools() -> Result<()> {
    let mut missing = Vec::new();
    let toolchains = process::output(Command::new("rustup").args(["toolchain", "list"]));
    if !toolchains.is_ok_and(|list| list.lines().any(|name| name.starts_with("nightly"))) {
        missing.push("rustup toolchain install nightly --profile minimal");
    }
    if !process::on_path("cargo-fuzz") {
        missing.push("cargo install cargo-fuzz --locked");
    }
    if !missing.is_empty() {
        bail!("fuzzing needs more tools; run first:\n  {}", missing.join("\n  "));
    }
    Ok(())
}
