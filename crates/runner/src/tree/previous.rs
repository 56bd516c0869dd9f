//! A structure that a control file describes and that no job asks for any more: a format removes it
//! before it makes its own.

use std::path::Path;
use std::sync::Arc;

use engine::tree::Anchored;
use pattern::tree::Tree;
use plan::tree::TreeSpec;
use worker::TreeState;

use super::refusal::{below, refused};
use super::scan;
use crate::control::Control;
use crate::setup_error::SetupError;

/// What is there of another structure.
///
/// The control file describes it until all of it is gone, so that whoever comes after a kill knows
/// what lies there; only then is anything of the new structure made.
pub(super) struct PreviousTree {
    /// The structure, with name and anchor of the one that is asked for.
    pub(super) spec: TreeSpec,
    pub(super) state: Arc<TreeState>,
    /// It is gone, and the control file says so.
    pub(super) is_replaced: bool,
    /// Why the control file cannot say so.
    pub(super) trouble: Option<String>,
}

impl PreviousTree {
    /// Looks at what is there of a structure; `None` where nothing is.
    pub(super) fn find(
        anchor: &Path,
        structure: &TreeSpec,
        asked: &TreeSpec,
        control: &Control,
    ) -> Result<Option<PreviousTree>, SetupError> {
        let invalid = |error: pattern::tree::TreeError| refused(libc::EINVAL, error.to_string());
        let tree = Tree::new(structure).map_err(invalid)?;
        let state = TreeState::new(tree.clone());
        find_tree(&state, anchor, control)?;
        if state.counts() == (0, 0, 0) {
            return Ok(None);
        }
        let (name, place) = (asked.name.clone(), asked.anchor.clone());
        let spec = TreeSpec { name, anchor: place, ..structure.clone() };
        Ok(Some(PreviousTree { spec, state: Arc::new(state), is_replaced: false, trouble: None }))
    }
}

/// Finds out what is there of a tree.
pub(super) fn find_tree(
    state: &TreeState,
    anchor: &Path,
    control: &Control,
) -> Result<(), SetupError> {
    let anchored =
        Anchored::open(state.tree().clone(), anchor).map_err(|error| SetupError::from(&error))?;
    scan::scan(state, &anchored.anchor, control).map_err(|error| below(anchor, &error))
}
