//! Files on NFS exports: what they are before a job works on them.

use std::path::Path;

use engine::nfs::Export;
use engine::{EngineError, TargetFacts};
use plan::nfs::NfsSpec;
use plan::{Diagnostic, Job, Plan};

use crate::bind;
use crate::control::Control;
use crate::facts::Facts;
use crate::findings::Findings;

/// Exports that were mounted to look at them, each once.
#[derive(Default)]
pub(crate) struct Exports {
    mounted: Vec<(NfsSpec, Export)>,
}

impl Exports {
    /// Looks at a file of the job's export.
    ///
    /// # Errors
    /// When the export cannot be mounted, or the server does not tell.
    pub(crate) fn probe(&mut self, job: &Job, path: &Path) -> Result<TargetFacts, EngineError> {
        let spec = &job.engine.nfs;
        let known = self.mounted.iter().position(|(mounted, _)| mounted == spec);
        let index = if let Some(index) = known {
            index
        } else {
            self.mounted.push((spec.clone(), Export::mount(&job.engine)?));
            self.mounted.len() - 1
        };
        self.mounted[index].1.probe(path)
    }
}

/// Looks at every file of the plan that is on an export. One finding per export that cannot be
/// used, however many files are on it.
pub(crate) fn probe(plan: &Plan, control: &Control, facts: &mut Facts, findings: &mut Findings) {
    let mut exports = Exports::default();
    for job in plan.jobs().filter(|job| job.engine.kind.is_remote()) {
        if job.engine.nfs.url.is_none() {
            let text = format!(
                "job `{}` uses the engine `{}`, but names no export",
                job.name, job.engine.name
            );
            let finding = Diagnostic::error("export-missing", text);
            findings.add(finding.help("set `nfs_url=nfs://HOST/PATH`"));
            bind::job_paths(job).take(1).for_each(|path| facts.note_unreadable(path));
            continue;
        }
        for path in bind::job_paths(job).take_while(|_| !control.is_stopped()) {
            if facts.get(&path).is_some() {
                continue;
            }
            match exports.probe(job, &path) {
                Ok(of_path) => {
                    facts.insert(path, of_path);
                }
                Err(error) => {
                    facts.note_unreadable(path);
                    let finding = Diagnostic::error("export-unusable", error.to_string());
                    findings.add(match error.hint() {
                        Some(hint) => finding.help(hint),
                        None => finding,
                    });
                    break;
                }
            }
        }
    }
}
