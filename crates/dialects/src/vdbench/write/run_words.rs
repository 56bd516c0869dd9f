//! What a run definition names, on its way.

use super::writer::WrittenJob;

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

/// What a run definition names.
#[derive(Default)]
pub(super) struct RunWords {
    pub(super) workloads: Vec<Defined>,
    /// Jobs, and the positions of their workloads.
    pub(super) written: Vec<(WrittenJob, Vec<usize>)>,
    /// Of all workloads together, I/Os per second; `None` is as fast as it goes.
    pub(super) rate_iops: Option<f64>,
    /// Shares of the workloads in the run, and whether they differ or are kept.
    pub(super) shares: Vec<f64>,
    pub(super) is_shared: bool,
    pub(super) is_tree: bool,
    /// Some jobs have a rate and others none: shares are rates, and 0 is none.
    pub(super) is_rate_of_some: bool,
}

impl RunWords {
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
}
