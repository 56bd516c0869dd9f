//! A run that may change nothing (`--readonly`): finds what the plan would change, before anything
//! starts.
//!
//! `plan::change` defines what a job changes by itself. The layout decides what it changes because
//! a file is missing or too short.

use std::path::{Path, PathBuf};

use engine::FileKind;
use plan::change::{self, Change, Scope};
use plan::{Diagnostic, Job, Plan, Step};

use crate::bind::{BoundFile, BoundPlan, BoundWorker};
use crate::facts::Facts;
use crate::findings::{FILES_SHOWN_MAX, Findings};
use crate::options::RunOptions;
use crate::outputs::{self, Written};
use crate::prepare::{self, FileNow};

/// Code of a file that would have to be made or extended; fio has words of its own for it.
pub const LAYOUT: &str = "read-only-layout";

/// Returns everything that the plan would change on this host's files and devices, and around them.
pub(crate) fn check(
    plan: &Plan,
    bound: &BoundPlan,
    facts: &Facts,
    options: &RunOptions,
) -> Vec<Diagnostic> {
    let mut findings = Findings::default();
    findings.extend(around(plan));
    findings.extend(outputs(plan, bound, options));
    for worker in bound.workers() {
        add_of_worker(worker, facts, &mut findings);
    }
    findings.into_shown()
}

/// Returns what the plan would change around its targets: the commands that it runs, and settings
/// of this host.
pub(crate) fn around(plan: &Plan) -> Vec<Diagnostic> {
    let of_step = |step: &Step| {
        let commands = step.exec_before.iter().chain(&step.exec_after);
        let name = &step.name;
        let of_command =
            |command: &String| refusal(&format!("step `{name}` runs `{command}`"), LEAVE_OUT);
        commands.map(of_command).collect::<Vec<_>>()
    };
    let of_job = |job: &Job| {
        let name = &job.name;
        let of_change = |change: Change| {
            let Change { verb, by, .. } = &change;
            (change.scope == Scope::Host)
                .then(|| refusal(&format!("job `{name}` {verb} `{by}`"), LEAVE_OUT))
        };
        change::changes(job).into_iter().filter_map(of_change).collect::<Vec<_>>()
    };
    plan.steps
        .iter()
        .flat_map(|step| of_step(step).into_iter().chain(step.jobs.iter().flat_map(of_job)))
        .collect()
}

const LEAVE_OUT: &str = "leave that out of the job, or leave out `--readonly`";

fn refusal(what: &str, help: &str) -> Diagnostic {
    Diagnostic::error("read-only-run", format!("{what}, and writing is forbidden here")).help(help)
}

/// Adds what a worker would change on its targets.
fn add_of_worker(worker: &BoundWorker, facts: &Facts, findings: &mut Findings) {
    let job = worker.job.as_ref();
    let name = &job.name;
    let mut changes_targets = false;
    for Change { scope, verb, by } in &change::changes(job) {
        match scope {
            // Said once for the plan.
            Scope::Host => {}
            Scope::Tree => {
                let anchor = job.tree.as_ref().map_or("", |work| &work.tree.anchor);
                findings.add(refusal(
                    &format!("job `{name}` {verb} `{by}` below `{anchor}`"),
                    "leave out `--readonly`, or keep to read, getattr, access, open and close on \
                     files that are there",
                ));
                changes_targets = true;
            }
            Scope::Targets => {
                for file in worker.files.iter().take(FILES_SHOWN_MAX + 1) {
                    let path = file.path.display();
                    let by = if by.is_empty() { String::new() } else { format!(" ({by})") };
                    let finding = refusal(
                        &format!("job `{name}` {verb} `{path}`{by}"),
                        "leave out `--readonly`, or let the job only read",
                    );
                    findings.add_of_file(name, finding);
                    changes_targets = true;
                }
            }
        }
    }
    if !changes_targets {
        let made = worker.files.iter().filter_map(|file| layout(worker, file, facts));
        made.take(FILES_SHOWN_MAX + 1).for_each(|finding| findings.add_of_file(name, finding));
    }
}

/// Returns what a job that only reads would make of a file that is missing or too short.
fn layout(worker: &BoundWorker, file: &BoundFile, facts: &Facts) -> Option<Diagnostic> {
    let job = worker.job.as_ref();
    let facts = facts.get(&file.path);
    let missing = facts.is_none_or(|facts| facts.kind == FileKind::Missing);
    let size_bytes = facts.map_or(0, |facts| facts.size_bytes);
    // What jobs before would make is not there, since they are refused, too.
    let kind = if missing { FileKind::Missing } else { file.kind };
    let file = BoundFile { kind, ..file.clone() };
    let is_laid_out =
        prepare::layout_of(worker, &file, FileNow { missing, size_bytes }, false).is_some();
    let is_made =
        missing && !job.engine.kind.is_idle() && prepare::file_spec(job, &file).open.create;
    if !is_laid_out && !is_made {
        return None;
    }
    let (name, path) = (&job.name, file.path.display());
    let message = if missing {
        format!("job `{name}` makes `{path}`, which is missing, and writing is forbidden here")
    } else {
        format!(
            "job `{name}` extends `{path}` from {size_bytes} to {} B, and writing is forbidden \
             here",
            file.needed_bytes()
        )
    };
    let help = "leave out `--readonly`, or name a file that is there and as large as that";
    Some(Diagnostic::error(LAYOUT, message).help(help))
}

/// Returns whether a file or folder lies, or would lie, in a folder that the plan measures in.
pub fn is_in_target(plan: &Plan, path: &Path) -> bool {
    let path = real_path(path);
    areas(plan).iter().any(|area| path.starts_with(area))
}

/// Returns the path without links, as far as it is there.
pub fn real_path(path: &Path) -> PathBuf {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let real = |there: &Path| {
        let below = whole.strip_prefix(there).ok()?;
        let real = std::fs::canonicalize(there).ok()?;
        Some(real.join(below).components().collect())
    };
    whole.ancestors().find_map(real).unwrap_or_else(|| whole.clone())
}

/// Returns the folders that the plan measures in.
fn areas(plan: &Plan) -> Vec<PathBuf> {
    let of_job = |job: &Job| {
        let trees = job.tree.iter().flat_map(|work| [Some(&work.tree), work.target.as_ref()]);
        let anchors = trees.flatten().map(|tree| tree.anchor.clone());
        let named = job.files.directories.iter().chain(&job.files.open_dir).cloned();
        anchors.chain(named).collect::<Vec<_>>()
    };
    plan.jobs().flat_map(of_job).map(|folder| real_path(Path::new(&folder))).collect()
}

/// Refuses logs and the like that would be written where the plan measures, or over a file that
/// is there.
pub(crate) fn outputs(plan: &Plan, bound: &BoundPlan, options: &RunOptions) -> Vec<Diagnostic> {
    let areas = areas(plan);
    let mut findings = Findings::default();
    for written in &outputs::of(bound, options) {
        if let Some(finding) = output(written, &areas) {
            findings.add_of_file(&written.who, finding);
        }
    }
    findings.into_shown()
}

/// Refuses one of them.
fn output(written: &Written, areas: &[PathBuf]) -> Option<Diagnostic> {
    let Written { who, option, path, is_added } = written;
    if path.is_file() {
        let shown = path.display();
        let what = if *is_added {
            format!("{who} adds to `{shown}` what `{option}` writes")
        } else {
            format!("{who} replaces `{shown}` by what `{option}` writes")
        };
        return Some(refusal(&what, "name a new file, or leave out `--readonly`"));
    }
    let folder = real_path(written.folder());
    areas.iter().any(|area| folder.starts_with(area)).then(|| {
        refusal(
            &format!("{who} writes files of `{option}` into `{}`, a target", folder.display()),
            "name another folder for them, or leave out `--readonly`",
        )
    })
}
