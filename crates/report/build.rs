//! Packs the script that draws the charts, so that the program grows by 0.4 MB and not by 1.3 MB.

use std::path::PathBuf;

const SCRIPT: &str = "vendor/plotly.js/plotly-cartesian.min.js";

#[expect(clippy::disallowed_methods, reason = "cargo says by the environment where to write")]
fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={SCRIPT}");
    let script = std::fs::read(SCRIPT).expect("the script is part of the sources");
    let packed = miniz_oxide::deflate::compress_to_vec(&script, 9);
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it"));
    std::fs::write(out.join("plotly.js.z"), packed).expect("cargo's folder takes files");
}
