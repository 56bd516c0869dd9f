//! The files that a job finds instead of naming them (`opendir`).

use std::borrow::Cow;
use std::io;
use std::path::Path;

use plan::{Diagnostic, Plan};
use units::system_text;

use crate::control::Control;

/// Most files taken from a folder: what a worker can hold open and a user can have meant.
const FILES_MAX: usize = 1 << 20;

/// Returns the plan with the files of each job's folder among its names, and what went wrong, with
/// the position of the job. Not all of them once the run is to end.
pub(crate) fn expand<'a>(
    plan: &'a Plan,
    control: &Control,
) -> (Cow<'a, Plan>, Vec<(usize, Diagnostic)>) {
    if plan.jobs().all(|job| job.files.open_dir.is_none()) {
        return (Cow::Borrowed(plan), Vec::new());
    }
    let mut plan = plan.clone();
    let mut findings = Vec::new();
    for (job_idx, job) in plan.jobs_mut().enumerate() {
        let Some(folder) = &job.files.open_dir else { continue };
        let mut found = Vec::new();
        match collect(Path::new(folder), control, &mut found) {
            Ok(()) if found.is_empty() => {
                let text = format!("job `{}` finds no files in `{folder}`", job.name);
                let help = "name a folder that holds files, or use `directory=` to make some";
                findings.push((job_idx, Diagnostic::error("folder-empty", text).help(help)));
            }
            Ok(()) => {
                found.sort();
                job.files.names.append(&mut found);
            }
            Err(error) => {
                let text = format!(
                    "job `{}` cannot read the folder `{folder}`: {}",
                    job.name,
                    system_text(&error)
                );
                let help = "check the name and the permissions";
                findings.push((job_idx, Diagnostic::error("folder-unreadable", text).help(help)));
            }
        }
    }
    (Cow::Owned(plan), findings)
}

/// Adds the regular files below a folder. Links are not followed.
fn collect(folder: &Path, control: &Control, found: &mut Vec<String>) -> io::Result<()> {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder)? {
            if control.is_stopped() {
                return Ok(());
            }
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_dir() {
                folders.push(entry.path());
            } else if kind.is_file() && found.len() < FILES_MAX {
                // A name that is not text cannot be written in a plan.
                found.extend(entry.path().to_str().map(str::to_owned));
            }
        }
    }
    Ok(())
}
