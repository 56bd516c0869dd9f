//! What a run definition names, on its way.

use std::collections::BTreeMap;
use std::ops::Range;

use plan::Job;
use plan::tree::TreeSpec;

/// A workload definition.
#[derive(Default)]
pub(super) struct Defined {
    pub(super) title: String,
    /// Without what it works on.
    pub(super) said: String,
    pub(super) targets: Vec<String>,
    /// All behind its name.
    pub(super) body: String,
    pub(super) name: String,
}

/// A job that a run definition does.
pub(super) struct WrittenJob<'a> {
    pub(super) job: &'a Job,
    /// Its values among those of the writer.
    pub(super) at: Range<usize>,
    /// Names of its storage definitions.
    pub(super) storage: Vec<String>,
    /// Positions of its workloads.
    pub(super) workloads: Vec<usize>,
}

/// What a run definition names.
#[derive(Default)]
pub(super) struct RunWords<'a> {
    pub(super) workloads: Vec<Defined>,
    pub(super) written: Vec<WrittenJob<'a>>,
    /// Structures of files that it works on, by the names of their definitions.
    pub(super) structures: BTreeMap<String, TreeSpec>,
    /// Of all workloads together, I/Os per second; `None` is as fast as it goes.
    pub(super) rate_iops: Option<f64>,
    /// Shares of the workloads in the run, and whether they differ or are kept.
    pub(super) shares: Vec<f64>,
    pub(super) is_shared: bool,
    pub(super) is_tree: bool,
    /// Some jobs have a rate and others none: shares are rates, and 0 is none.
    pub(super) is_rate_of_some: bool,
    /// Shares of the workloads as they are written, percent.
    pub(super) pcts: Vec<f64>,
    /// Processes that each storage definition is divided among.
    pub(super) n_processes: usize,
    /// Its workloads have shares, rates or priorities of their own: Vdbench keeps them in step.
    pub(super) is_controlled: bool,
}

impl RunWords<'_> {
    /// Adds a workload and returns its position; one that several jobs share works on the targets
    /// of all of them.
    pub(super) fn add(
        &mut self,
        title: &str,
        body: String,
        targets: &[String],
        share: f64,
    ) -> usize {
        let position =
            self.workloads.iter().position(|other| other.title == title && other.said == body);
        let idx = position.filter(|_| !targets.is_empty()).unwrap_or_else(|| {
            self.shares.push(0.0);
            self.workloads.push(Defined {
                title: title.to_owned(),
                said: body,
                ..Default::default()
            });
            self.workloads.len() - 1
        });
        self.shares[idx] += share;
        let workload = &mut self.workloads[idx];
        workload.targets.extend_from_slice(targets);
        workload.body = match workload.targets.as_slice() {
            [] => workload.said.clone(),
            targets => format!("sd=({}){}", targets.join(","), workload.said),
        };
        idx
    }
    /// Returns what all workloads of a job have together, when each has so much on all its targets.
    pub(super) fn sum_of(&self, written: &WrittenJob<'_>, of_workload: &[f64]) -> f64 {
        let of = |idx: &usize| {
            let n_targets = self.workloads[*idx].targets.len().max(1) as f64;
            of_workload[*idx] * written.storage.len().max(1) as f64 / n_targets
        };
        written.workloads.iter().map(of).sum()
    }
}
