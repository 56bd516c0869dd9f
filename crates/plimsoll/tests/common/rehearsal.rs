//! A mounted volume for tests of the command.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::common::{Outcome, Sandbox};

/// A sandbox with a mounted volume in `mnt`. Unmounted when dropped.
pub(crate) struct Rehearsal(pub(crate) Sandbox);

impl Rehearsal {
    /// Mounts a design; says why it cannot where there is no FUSE.
    pub(crate) fn mount(design: &str) -> Option<Self> {
        let sandbox = Sandbox::new();
        fs::create_dir(sandbox.path("mnt")).unwrap();
        sandbox.write("design.toml", design);
        if !Path::new("/dev/fuse").exists() {
            testing::skipped!("there is no FUSE here");
            return None;
        }
        let rehearsal = Rehearsal(sandbox);
        rehearsal.mount_again().success();
        Some(rehearsal)
    }

    pub(crate) fn mount_again(&self) -> Outcome {
        self.0.plimsoll(&["rehearse", "mount", "design.toml", "mnt", "--backing", "data"])
    }

    pub(crate) fn rehearse(&self, args: &[&str]) -> Outcome {
        self.0.plimsoll(&[&["rehearse"], args].concat())
    }

    /// Kills the serving process, as `kill -9` does, and waits until it has gone.
    pub(crate) fn kill(&self) {
        Self::kill_pid(&self.server());
    }

    /// Returns the number of the serving process: who holds the lock.
    pub(crate) fn server(&self) -> OsString {
        let lock = fs::canonicalize(self.0.path("data/lock")).unwrap();
        let holds = |process: &fs::DirEntry| {
            let fds = fs::read_dir(process.path().join("fd")).into_iter().flatten().flatten();
            fds.into_iter().any(|fd| fs::read_link(fd.path()).is_ok_and(|to| to == lock))
        };
        let found = fs::read_dir("/proc").unwrap().flatten().find(holds);
        found.expect("a process serves").file_name()
    }

    pub(crate) fn kill_pid(pid: &OsStr) {
        assert!(Command::new("kill").arg("-9").arg(pid).status().unwrap().success());
        Self::wait_for_the_end_of(pid);
    }

    pub(crate) fn wait_for_the_end_of(pid: &OsStr) {
        while Path::new("/proc").join(pid).join("fd/0").exists() {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Rehearsal {
    fn drop(&mut self) {
        let unmounted = self.rehearse(&["unmount", "mnt", "--lazy"]);
        assert!(unmounted.code == 0 || std::thread::panicking(), "{}", unmounted.stderr);
    }
}
