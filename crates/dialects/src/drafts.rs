//! Steps and jobs as they were read, beside the sections in which their parameters stand: what no
//! parameter says, for the languages whose steps are more than a list of jobs.

use plan::job::Part;
use plan::load::{Limits, Load};
use plan::{Job, Step};

use crate::Parsed;

/// A step as read, before its jobs have their meaning.
pub(crate) struct StepDraft {
    pub(crate) step: Step,
    pub(crate) jobs: Vec<JobDraft>,
}

/// What a job has besides parameters. Its section is followed by one for each of its parts.
#[derive(Default)]
pub(crate) struct JobDraft {
    pub(crate) parts: Vec<Part>,
    pub(crate) tree: Option<plan::tree::TreeWork>,
    /// It lays out the files of a unit: it takes the time that takes, as fast as it can.
    pub(crate) is_layout: bool,
    /// Its anchor is its only folder.
    pub(crate) is_of_unit: bool,
}

/// Gives the lowered plan what no parameter says: parts, trees, and
/// what steps say.
pub(crate) fn fold(parsed: &mut Parsed, steps: Vec<StepDraft>) {
    let lowered = std::mem::take(&mut parsed.plan.steps);
    let mut jobs = lowered.into_iter().flat_map(|step| step.jobs);
    for StepDraft { mut step, jobs: drafts } in steps {
        for draft in drafts {
            let Some(mut job) = jobs.next() else { return };
            for mut part in draft.parts {
                let Some(Job { workload, .. }) = jobs.next() else { return };
                part.workload = workload;
                job.parts.push(part);
            }
            if draft.tree.is_some() {
                plan::tree::ENGINE_NAME.clone_into(&mut job.engine.name);
            }
            if draft.is_layout {
                // What `--set` says is about the load.
                job.limits = Limits::default();
                job.load = Load::default();
            }
            job.tree = draft.tree;
            if draft.is_of_unit
                && let Some(work) = &mut job.tree
            {
                // Where an option that names a folder is refused, the unit keeps its own.
                let folders = std::mem::take(&mut job.files.directories);
                if let Some(folder) = folders.into_iter().next() {
                    work.tree.anchor = folder;
                }
            }
            step.jobs.push(job);
        }
        parsed.plan.steps.push(step);
    }
}
