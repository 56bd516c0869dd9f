//! What machines have of disks in themselves.

use catalog::{Edition, Vm as Size};
use volume::design::Local;

/// The different local disks that machines have, to be searched.
#[derive(Debug, Default)]
pub(crate) struct Locals {
    all: Vec<Local>,
}

impl Locals {
    /// Returns the position of those of a size; `None` where none are known.
    pub(crate) fn of(&mut self, edition: &Edition, mb_bytes: u64, size: &Size) -> Option<usize> {
        let local = Local::of(edition, mb_bytes, size)?;
        let known = self.all.iter().position(|known| figures(known) == figures(&local));
        Some(known.unwrap_or_else(|| {
            self.all.push(local);
            self.all.len() - 1
        }))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub(crate) fn get(&self, idx: usize) -> &Local {
        &self.all[idx]
    }
}

/// What the search looks at of local disks.
fn figures(local: &Local) -> impl PartialEq {
    let per_s = |limit: &Option<volume::Limit>| limit.as_ref().map(|limit| limit.per_s);
    let disk = &local.disk;
    let caps = [&disk.cap.iops, &disk.cap.bytes, &disk.write_iops].map(per_s);
    (local.n_disks, disk.size_bytes, caps, disk.write_costs, local.latency.mean_ns)
}
