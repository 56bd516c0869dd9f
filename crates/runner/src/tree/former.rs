//! A structure that a control file describes and that no job asks for any more: a format removes it
//! before it makes its own.

use std::path::Path;
use std::sync::Arc;

use engine::tree::Anchored;
use pattern::tree::Tree;
use plan::tree::TreeSpec;
use worker::TreeState;

use super::anchor::{Anchor, of_io, refused};
use super::{StepTrees, control, scan};
use crate::control::Control;
use crate::prepare::SetupError;

/// What is there of another structure.
///
/// The control file describes it until all of it is gone, so that whoever comes after a kill knows
/// what lies there; only then is anything of the new structure made.
pub(super) struct Former {
    /// The structure, with name and anchor of the one that is asked for.
    pub(super) spec: TreeSpec,
    pub(super) state: Arc<TreeState>,
    /// It is gone, and the control file says so.
    pub(super) is_replaced: bool,
    /// Why the control file cannot say so.
    pub(super) trouble: Option<String>,
}

impl Former {
    /// Looks at what is there of a structure; `None` where nothing is.
    pub(super) fn find(
        anchor: &Path,
        structure: &TreeSpec,
        asked: &TreeSpec,
        control: &Control,
    ) -> Result<Option<Former>, SetupError> {
        let invalid = |error: pattern::tree::TreeError| refused(libc::EINVAL, error.to_string());
        let tree = Tree::new(structure).map_err(invalid)?;
        let state = TreeState::new(tree.clone());
        look(&state, anchor, control)?;
        if state.counts() == (0, 0, 0) {
            return Ok(None);
        }
        let (name, place) = (asked.name.clone(), asked.anchor.clone());
        let spec = TreeSpec { name, anchor: place, ..structure.clone() };
        Ok(Some(Former { spec, state: Arc::new(state), is_replaced: false, trouble: None }))
    }
}

/// Finds out what is there of a tree.
pub(super) fn look(state: &TreeState, anchor: &Path, control: &Control) -> Result<(), SetupError> {
    let anchored =
        Anchored::open(state.tree().clone(), anchor).map_err(|error| SetupError::from(&error))?;
    scan::scan(state, &anchored.anchor, control).map_err(|error| below(anchor, &error))
}

/// Says below which anchor something is that cannot be used.
pub(super) fn below(anchor: &Path, error: &SetupError) -> SetupError {
    refused(error.errno, format!("`{}`: {}", anchor.display(), error.message))
}

impl Anchor {
    /// Returns what is there and not gone yet of another structure.
    pub(super) fn former(&self) -> Option<&Former> {
        self.former.as_ref().filter(|former| !former.is_replaced)
    }

    /// Writes down that the other structure is gone, and finds what was left in its folders.
    fn replace_former(&self) -> Result<(), SetupError> {
        // While workers run: who asks for the end has the format end as far as it is.
        look(&self.state, &self.path, &Control::new())?;
        control::write(&self.path, &control::structure_of(&self.spec), None)
            .map_err(|error| of_io("cannot write the control file of", &self.path, &error))
    }
}

impl StepTrees {
    /// Lets formats make their trees that have removed what lay there before. To be called again
    /// and again while the step runs, and in the end.
    pub(crate) fn let_formats_make(&mut self) {
        if self.anchors.values().all(|anchor| anchor.former().is_none()) {
            return;
        }
        for (path, job) in self.by_anchor() {
            let Some(anchor) = self.anchors.get_mut(&path) else { continue };
            let is_due = |former: &Former| former.trouble.is_none() && job.has_removed();
            if !anchor.former().is_some_and(is_due) {
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
    }
}
