//! Runs the built binary in a folder of its own.
#![allow(dead_code, reason = "each test binary uses the part that it needs")]

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A folder in which the binary runs. It is removed with everything in it.
pub(crate) struct Sandbox {
    dir: tempfile::TempDir,
}

/// What came of a command.
pub(crate) struct Outcome {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Sandbox {
    /// Makes a folder on the disk of the build, which takes direct I/O where /tmp may not.
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
        Sandbox { dir }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), bytes).expect("the folder is ours");
    }

    /// Runs `plimsoll` with these arguments.
    pub(crate) fn plimsoll(&self, args: &[&str]) -> Outcome {
        outcome(self.command(Path::new(env!("CARGO_BIN_EXE_plimsoll"))).args(args))
    }

    /// Does the same with a run store, in the folder.
    pub(crate) fn plimsoll_keeping(&self, args: &[&str]) -> Outcome {
        let mut command = self.command(Path::new(env!("CARGO_BIN_EXE_plimsoll")));
        outcome(command.env("PLIMSOLL_STORE", self.path("runs.db")).args(args))
    }

    /// Makes a sandbox with two runs of the same jobs in its store: `one` and `two`.
    pub(crate) fn with_runs(job: &str) -> Self {
        let sandbox = Sandbox::new();
        sandbox.write("job.fio", job);
        for name in ["one", "two"] {
            let run =
                sandbox.plimsoll_keeping(&["run", "--no-progress", "--name", name, "job.fio"]);
            run.success();
        }
        sandbox
    }

    /// Runs the binary through a link named `fio`.
    pub(crate) fn fio(&self, args: &[&str]) -> Outcome {
        let link = self.path("fio");
        if !link.exists() {
            symlink(env!("CARGO_BIN_EXE_plimsoll"), &link).expect("a link");
        }
        outcome(self.command(&link).args(args))
    }

    /// Writes `job.fio` and runs `plimsoll run` with it.
    pub(crate) fn run(&self, job: &str) -> Outcome {
        self.write("job.fio", job);
        self.plimsoll(&["run", "--no-progress", "job.fio"])
    }

    pub(crate) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.dir.path()).stdin(Stdio::null());
        command.env_remove("PLIMSOLL_FORBID_URING").env("TZ", "UTC").env("PLIMSOLL_STORE", "");
        command
    }
}

/// Runs a command to its end. Whatever it prints, errors of the system are in words alone.
#[track_caller]
pub(crate) fn outcome(command: &mut Command) -> Outcome {
    let output = command.output().expect("the binary was built");
    let outcome = Outcome {
        code: output.status.code().expect("it ends by itself"),
        stdout: String::from_utf8(output.stdout).expect("text"),
        stderr: String::from_utf8(output.stderr).expect("text"),
    };
    for text in [&outcome.stdout, &outcome.stderr] {
        assert!(!text.contains("(os error "), "a number that says nothing: {text}");
    }
    outcome
}

impl Outcome {
    /// Returns what a user sees of a mistake, and the exit code. Nothing may stand in the data.
    #[track_caller]
    pub(crate) fn mistake(&self) -> String {
        assert_eq!(self.stdout, "", "a mistake prints no data");
        format!("{}exit code {}\n", self.stderr, self.code)
    }

    /// Returns what was printed by a command that did what was asked. Beside other tests a run may
    /// have been kept from its work, or its disk used by them, which it says and ends with 3.
    #[track_caller]
    pub(crate) fn success(&self) -> &str {
        let words: Vec<&str> = [&*self.stdout, &*self.stderr]
            .into_iter()
            .flat_map(str::split_ascii_whitespace)
            .collect();
        let text = words.join(" ");
        let is_disturbed = ["client-bound", "disk shared", "others used the disk"];
        let is_host = self.code == 3 && is_disturbed.iter().any(|it| text.contains(it));
        assert!(self.code == 0 || is_host, "{}: {}{}", self.code, self.stdout, self.stderr);
        &self.stdout
    }
}
