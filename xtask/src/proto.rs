//! `cargo xtask proto`: the fleet's messages as Rust, from their description.

use anyhow::Result;

use crate::process;

/// Writes `crates/fleet/src/wire.rs`. The generator is a workspace of its own: nothing else needs
/// it.
pub(crate) fn run() -> Result<()> {
    let manifest = process::root().join("crates/fleet/codegen/Cargo.toml");
    let manifest = manifest.to_string_lossy();
    process::run(&mut process::cargo(&["run", "-q", "--locked", "--manifest-path", &manifest]))
}
