//! The files that a run writes other than its targets: logs, records of I/O, dumps.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use engine::devices;
use plan::change::{self, OutputFile};
use plan::{Diagnostic, Job};

use crate::bind::BoundPlan;
use crate::findings::Findings;
use crate::logs;
use crate::options::RunOptions;

/// A file other than the targets that a run writes.
pub(crate) struct Written {
    /// Of whom: a job, or the whole run.
    pub(crate) who: String,
    /// What asks for it.
    pub(crate) option: &'static str,
    /// Where it is; a folder where its name is one of our own.
    pub(crate) path: PathBuf,
    /// It is written behind what is there.
    pub(crate) is_added: bool,
}

impl Written {
    /// Returns the folder that it is in.
    pub(crate) fn folder(&self) -> &Path {
        let is_folder = self.path.as_os_str().is_empty() || self.path.is_dir();
        let folder = if is_folder { Some(self.path.as_path()) } else { self.path.parent() };
        folder.filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."))
    }
}

/// Returns all that users ask for. Commands and states of verification are not among them: both go
/// with changes of their own.
pub(crate) fn of(bound: &BoundPlan, options: &RunOptions) -> Vec<Written> {
    let (log_dir, aux_dir) = folders(options);
    let mut all = Vec::new();
    for (_, path) in logs::bandwidth_log_paths(options) {
        let who = "the run".to_owned();
        all.push(Written { who, option: "--bandwidth-log", path, is_added: false });
    }
    for (number, worker) in (1..).zip(bound.workers()) {
        let job = worker.job.as_ref();
        let who = || who(job);
        // A job that only makes its files opens no logs.
        let names = if job.files.create_only { Vec::new() } else { logs::names(job, number) };
        for (option, name) in names {
            let (path, is_added) = (log_dir.join(name), !job.logs.per_worker);
            all.push(Written { who: who(), option, path, is_added });
        }
        for OutputFile { option, path } in change::outputs(job) {
            let folder = if path.is_empty() { aux_dir } else { log_dir };
            let path = folder.join(path);
            // A record of I/O is written behind what is there.
            all.push(Written { who: who(), option, path, is_added: true });
        }
    }
    all
}

/// Returns what goes with changes: the output of a job's commands, and the state that its
/// verification saves.
fn of_changes(job: &Job, options: &RunOptions) -> Vec<Written> {
    let (log_dir, aux_dir) = folders(options);
    let process = &job.process;
    let saves_state =
        job.verify.state_save && job.verify.method.is_some() && job.workload.access.write;
    let wanted = [
        ("exec_prerun", log_dir, process.exec_before.is_some()),
        ("exec_postrun", log_dir, process.exec_after.is_some()),
        ("verify_state_save", aux_dir, saves_state),
    ];
    let wanted = wanted.into_iter().filter(|(.., is_wanted)| *is_wanted);
    let of = |(option, folder, _): (&'static str, &Path, _)| Written {
        who: who(job),
        option,
        path: folder.to_owned(),
        is_added: false,
    };
    wanted.map(of).collect()
}

fn who(job: &Job) -> String {
    format!("job `{}`", job.name)
}

/// Returns the folders of logs, and of other files.
fn folders(options: &RunOptions) -> (&Path, &Path) {
    let here = Path::new("");
    (options.log_dir.as_deref().unwrap_or(here), options.aux_dir.as_deref().unwrap_or(here))
}

/// Refuses files in the place of devices: a mistyped one would become a file in memory.
pub(crate) fn among_devices(bound: &BoundPlan, options: &RunOptions) -> Vec<Diagnostic> {
    let mut all = of(bound, options);
    all.extend(bound.workers().flat_map(|worker| of_changes(&worker.job, options)));
    let mut findings = Findings::default();
    // Thousands of workers may have their logs in one folder.
    let mut is_of_devices: HashMap<&Path, bool> = HashMap::new();
    for written in &all {
        let Written { who, option, path, .. } = written;
        let folder = written.folder();
        let is_in_it = *is_of_devices
            .entry(folder)
            .or_insert_with(|| devices::would_hold(&folder.join("file")));
        // What there is of devices, and a pipe, is written to.
        let is_made = || match std::fs::metadata(path) {
            Ok(facts) => facts.is_file() || facts.is_dir(),
            Err(_) => true,
        };
        if !is_in_it || !is_made() {
            continue;
        }
        let shown = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        let message = format!(
            "{who} writes a file of `{option}` to `{}`, and only devices belong in {}",
            shown.display(),
            devices::FOLDER
        );
        let finding = Diagnostic::error("output-among-devices", message);
        findings.add_of_file(who, finding.help("name a file in another folder"));
    }
    findings.into_shown()
}
