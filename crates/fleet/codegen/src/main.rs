//! Makes the fleet crate's messages from `proto/fleet.proto`, as Rust without a header, in the
//! folder that the argument names: `cargo xtask proto` does the rest.

use std::path::{Path, PathBuf};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let fleet = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let out: PathBuf = std::env::args_os().nth(1).ok_or("name a folder to write to")?.into();
    let descriptors = protox::compile(["fleet.proto"], [fleet.join("proto")])?;
    std::fs::create_dir_all(&out)?;
    tonic_prost_build::configure().out_dir(&out).compile_fds(descriptors)?;
    Ok(())
}
