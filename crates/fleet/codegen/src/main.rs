//! Writes `src/wire.rs` of the fleet crate from `proto/fleet.proto`: `cargo xtask proto`.

use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let fleet = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let descriptors = protox::compile(["fleet.proto"], [fleet.join("proto")])?;
    let out = fleet.join("../../target/fleet-codegen");
    std::fs::create_dir_all(&out)?;
    tonic_prost_build::configure().out_dir(&out).compile_fds(descriptors)?;
    let text = std::fs::read_to_string(out.join("plimsoll.fleet.v1.rs"))?;
    let header = "//! The messages of `proto/fleet.proto`, as `cargo xtask proto` writes them.\n\n";
    std::fs::write(fleet.join("src/wire.rs"), format!("{header}{text}"))?;
    Ok(())
}
