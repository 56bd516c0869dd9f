//! Runs job files in a folder of their own.

use std::path::{Path, PathBuf};

use dialects::LowerOptions;
use dialects::NO_HOST;
use dialects::fio::parse_text;
use plan::{Diagnostic, Plan};
use record::{JobRecord, Record};
use runner::{Control, RunError, RunEvent, RunOptions};

/// A folder that is removed with everything in it.
pub(crate) struct Bench {
    folder: tempfile::TempDir,
}

impl Bench {
    /// Makes a folder that other users may look into.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        open_to_all(folder.path());
        Bench { folder }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Makes a file of this many KiB with something in it.
    pub(crate) fn file(&self, name: &str, kib: usize) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("in the folder")).expect("ours");
        std::fs::write(&path, vec![7; kib << 10]).expect("ours");
        path
    }

    pub(crate) fn exists(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    /// Reads a job file in which `@` stands for the folder.
    #[track_caller]
    pub(crate) fn plan(&self, text: &str) -> Plan {
        let text = text.replace('@', self.folder.path().to_str().expect("text"));
        let parsed = parse_text("test.fio", &text, &LowerOptions::default(), &NO_HOST);
        assert!(!parsed.has_errors(), "{:?}", parsed.diagnostics);
        parsed.plan
    }

    /// Runs a job file.
    #[track_caller]
    pub(crate) fn run(&self, text: &str) -> Record {
        self.run_with(text, &Control::new(), &mut |_| {})
    }

    /// Runs a job file and watches it.
    #[track_caller]
    pub(crate) fn run_with(
        &self,
        text: &str,
        control: &Control,
        on_event: &mut dyn FnMut(RunEvent<'_>),
    ) -> Record {
        runner::run(&self.plan(text), &self.options(), control, on_event).expect("it can run")
    }

    /// Runs a plan, with what `change` changes of the options, and watches it.
    #[track_caller]
    pub(crate) fn run_plan(
        &self,
        plan: &Plan,
        change: impl FnOnce(&mut RunOptions),
        on_event: &mut dyn FnMut(RunEvent<'_>),
    ) -> Record {
        self.run_controlled(plan, change, &Control::new(), on_event)
    }

    /// Does the same with a control that the caller has.
    #[track_caller]
    pub(crate) fn run_controlled(
        &self,
        plan: &Plan,
        change: impl FnOnce(&mut RunOptions),
        control: &Control,
        on_event: &mut dyn FnMut(RunEvent<'_>),
    ) -> Record {
        let mut options = self.options();
        change(&mut options);
        runner::run(plan, &options, control, on_event).expect("it can run")
    }

    /// Returns why a job file is refused.
    #[track_caller]
    pub(crate) fn refusal(&self, text: &str) -> Vec<Diagnostic> {
        self.refusal_of(&self.plan(text))
    }

    /// Returns why a plan is refused to who has given no permissions.
    #[track_caller]
    pub(crate) fn refusal_of(&self, plan: &Plan) -> Vec<Diagnostic> {
        let options = RunOptions { allow_commands: false, ..self.options() };
        match runner::run(plan, &options, &Control::new(), &mut |_| {}) {
            Err(RunError::Refused { findings, .. }) => findings,
            Ok(record) => panic!("it ran: {:?}", record.outcome),
        }
    }

    fn options(&self) -> RunOptions {
        RunOptions {
            aux_dir: Some(self.folder.path().to_owned()),
            log_dir: Some(self.folder.path().to_owned()),
            status_interval_ms: 20,
            create_parents: true,
            allow_commands: true,
            ..RunOptions::default()
        }
    }
}

fn open_to_all(folder: &Path) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(folder, PermissionsExt::from_mode(0o755)).expect("ours");
}

/// I/Os of all directions.
pub(crate) fn n_ios(job: &JobRecord) -> u64 {
    job.dirs.read.n_ios + job.dirs.write.n_ios + job.dirs.trim.n_ios
}

/// Runs a command; says whether it succeeded.
pub(crate) fn command(words: &[&str]) -> Option<String> {
    let output = std::process::Command::new(words[0]).args(&words[1..]).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
