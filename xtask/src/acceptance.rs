//! docs/acceptance.md and docs/errata.md: every figure of the source documents, from a run.
//!
//! The run is a test of `volume`, which fails when a page is not what came out.

use anyhow::Result;

use crate::process;

/// Makes the test write the pages.
const WRITE: &str = "PLIMSOLL_ACCEPTANCE_WRITE";

/// Writes both pages.
pub(crate) fn run() -> Result<()> {
    let args = ["test", "--quiet", "--locked", "-p", "volume", "--test", "acceptance"];
    process::run(process::cargo(&args).env(WRITE, "1"))
}
