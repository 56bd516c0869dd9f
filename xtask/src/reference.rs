//! Reference pages that are made from code, so that they cannot drift from it.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::{process, workspace};

/// Where the pages lie, relative to the workspace root.
const DIR: &str = "docs/reference";

/// Writes every page.
pub(crate) fn run() -> Result<()> {
    write(&process::root().join(DIR))
}

/// Checks that every page is what the code makes of it.
pub(crate) fn check() -> Result<()> {
    let fresh_dir = workspace::target_dir()?.join("reference");
    if fresh_dir.exists() {
        fs::remove_dir_all(&fresh_dir)?;
    }
    write(&fresh_dir)?;
    let committed_dir = process::root().join(DIR);
    let fresh = read(&fresh_dir)?;
    let committed = read(&committed_dir)?;
    for (name, text) in &fresh {
        let is_current = committed.iter().any(|page| page.0 == *name && page.1 == *text);
        ensure!(is_current, "{DIR}/{name} is not what the code says: run `cargo xtask reference`");
    }
    for (name, _) in &committed {
        let is_made = fresh.iter().any(|(made, _)| made == name);
        ensure!(is_made, "{DIR}/{name} is made by no code: remove it");
    }
    Ok(())
}

fn write(dir: &Path) -> Result<()> {
    fs::create_dir_all(dir)?;
    workspace::build_program()?;
    let mut program = Command::new(workspace::program()?);
    process::run(program.args(["reference", "--dir"]).arg(dir).current_dir(process::root()))
}

/// Reads a folder's files, with their names.
fn read(dir: &Path) -> Result<Vec<(String, String)>> {
    let entries = fs::read_dir(dir).with_context(|| format!("cannot list {}", dir.display()))?;
    let mut pages = Vec::new();
    for entry in entries {
        let entry = entry?;
        let text = fs::read_to_string(entry.path())?;
        pages.push((entry.file_name().to_string_lossy().into_owned(), text));
    }
    Ok(pages)
}
