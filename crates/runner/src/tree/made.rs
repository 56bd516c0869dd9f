//! What formats are to make and have made: whether there is room for it, and what is there, said
//! once.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::Arc;

use plan::tree::Activity;
use worker::{CompleteParts, TreeJob};

use super::StepTrees;
use super::anchor::Anchor;
use super::previous::PreviousTree;
use crate::event::{RunEvent, TreePart};

/// The formats of a step, and what was said of them.
#[derive(Default)]
pub(crate) struct Formats {
    /// In the order of their anchors.
    jobs: Vec<(Arc<TreeJob>, CompleteParts)>,
}

impl StepTrees {
    /// Finds the trees that their file systems have no room for. A file system that compresses may
    /// have it, so the format goes on.
    pub(super) fn look_for_room(&mut self) {
        let mut needed_bytes: BTreeMap<u64, u64> = BTreeMap::new();
        for (path, job) in self.by_anchor() {
            let (Ok(facts), Ok(room)) = (path.metadata(), rustix::fs::statvfs(&path)) else {
                continue;
            };
            let total_bytes = job.format_status().map_or(0, |status| status.bytes.1);
            // What is there of the tree is kept, or removed first.
            let more_bytes = total_bytes.saturating_sub(job.state().full_bytes());
            let former = self.anchors.get(&path).and_then(Anchor::former);
            let former_bytes = former.map_or(0, |former| former.state.full_bytes());
            let more_bytes = more_bytes.saturating_sub(former_bytes);
            let needed_bytes = needed_bytes.entry(facts.dev()).or_default();
            *needed_bytes = needed_bytes.saturating_add(more_bytes);
            let free_bytes = room.f_bavail.saturating_mul(room.f_frsize);
            let Some(anchor) = self.anchors.get_mut(&path) else { continue };
            if more_bytes > 0 && *needed_bytes > free_bytes {
                anchor.incomplete.get_or_insert_with(|| {
                    format!(
                        "tree `{}` in `{}` needs {more_bytes} B more, but its file system has \
                         {free_bytes} B free: the format fails once that is full; free some, or \
                         make the tree smaller",
                        anchor.spec.name, anchor.spec.anchor
                    )
                });
            }
        }
    }

    /// Lets formats make their trees that have removed what lay there before. To be called again
    /// and again while the step runs and this returns that a format waits, and in the end.
    pub(crate) fn let_formats_make(&mut self) -> bool {
        if self.anchors.values().all(|anchor| anchor.former().is_none()) {
            return false;
        }
        let mut waits = false;
        for (path, job) in self.by_anchor() {
            let Some(anchor) = self.anchors.get_mut(&path) else { continue };
            let is_due = |former: &PreviousTree| former.trouble.is_none() && job.has_removed();
            if !anchor.former().is_some_and(is_due) {
                waits |= anchor.former().is_some_and(|former| former.trouble.is_none());
                continue;
            }
            let replaced = anchor.replace_former();
            let Some(former) = &mut anchor.former else { continue };
            let errno = match replaced {
                Ok(()) => {
                    former.is_replaced = true;
                    0
                }
                Err(error) => {
                    former.trouble = Some(error.message);
                    error.errno
                }
            };
            job.let_make(errno);
        }
        waits
    }

    /// Returns the formats of the step by their anchors.
    pub(super) fn by_anchor(&self) -> BTreeMap<PathBuf, Arc<TreeJob>> {
        let seats = self.jobs.values().filter_map(|seat| seat.as_ref().ok());
        let formats =
            seats.filter(|seat| matches!(seat.shared.work().activity, Activity::Format(_)));
        formats.map(|seat| (seat.anchor.clone(), Arc::clone(&seat.shared))).collect()
    }

    /// Returns the formats of the step.
    pub(crate) fn formats(&self) -> Formats {
        let jobs = self.by_anchor().into_values();
        Formats { jobs: jobs.map(|job| (job, CompleteParts::default())).collect() }
    }
}

impl Formats {
    /// Reports what was made since the last time.
    pub(crate) fn report(&mut self, on_event: &mut dyn FnMut(RunEvent<'_>)) {
        for (job, reported) in &mut self.jobs {
            if reported.files {
                continue;
            }
            let made = job.made_whole();
            let anchor = job.work().tree.anchor.as_str();
            if made.folders && !reported.folders {
                on_event(RunEvent::TreeMade { anchor, part: TreePart::Folders });
            }
            if made.files {
                on_event(RunEvent::TreeMade { anchor, part: TreePart::Files });
            }
            *reported = made;
        }
    }
}
