//! Takes the script that draws the charts out of `plotly` and packs it for the library.
//!
//! `plotly` is needed here only: neither it nor what it depends on becomes part of the program,
//! which grows by the packed script, 1.4 MB, and not by the 6.8 MB of both scripts that
//! `Plot::offline_js_sources` returns.

use std::path::PathBuf;

const OPENING: &str = "<script type=\"text/javascript\">";
const CLOSING: &str = "</script>";

#[expect(clippy::disallowed_methods, reason = "cargo says by the environment where to write")]
fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let sources = plotly::Plot::offline_js_sources();
    // The first block is plotly.js; the second, for formulas, is left out.
    let script = sources.split_once(OPENING).and_then(|(_, rest)| rest.split_once(CLOSING));
    let (script, _) = script.expect("plotly's first script is plotly.js");
    assert!(script.contains("plotly.js v"), "plotly's first script is plotly.js");
    let packed = miniz_oxide::deflate::compress_to_vec(script.as_bytes(), 7);
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it"));
    std::fs::write(out.join("plotly.js.z"), packed).expect("cargo's folder takes files");
}
