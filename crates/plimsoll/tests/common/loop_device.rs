//! Block devices over files, for tests that need a device of their own.
#![allow(dead_code, reason = "each test binary uses the part that it needs")]

use std::path::Path;
use std::process::Command;

/// A loop device over a file, while it lives.
pub(crate) struct LoopDevice(String);

impl LoopDevice {
    /// Makes one; says that the test was skipped where there are none.
    pub(crate) fn new(file: &Path) -> Option<Self> {
        Self::with(file, &[])
    }

    /// Makes one whose I/Os reach the file at once, several at a time.
    pub(crate) fn direct(file: &Path) -> Option<Self> {
        Self::with(file, &["--direct-io=on"])
    }

    fn with(file: &Path, options: &[&str]) -> Option<Self> {
        let mut losetup = Command::new("losetup");
        let made = losetup.args(["--find", "--show"]).args(options).arg(file).output().ok();
        let made = made.filter(|made| made.status.success());
        if made.is_none() {
            testing::skipped!("no loop devices here");
        }
        let path = String::from_utf8_lossy(&made?.stdout).trim().to_owned();
        Some(LoopDevice(path))
    }

    /// Returns its path, `/dev/loop0`.
    pub(crate) fn path(&self) -> &str {
        &self.0
    }

    /// Returns its name, `loop0`.
    pub(crate) fn name(&self) -> &str {
        self.0.trim_start_matches("/dev/")
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        let _ = Command::new("losetup").arg("--detach").arg(&self.0).status();
    }
}
