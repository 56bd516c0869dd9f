//! What a step depends on besides its run.

use plan::job::Source;

use crate::Loader;

/// What a step depends on besides its run.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// The step that looked for the maximum of the curve which the run is a point of.
    pub curve_step_idx: Option<u32>,
    /// Reporting group of the step's first job; the others follow it.
    pub first_group_id: u32,
    /// Reads the file of `pattern=`.
    pub loader: &'a dyn Loader,
    /// The texts that the run comes from, in which mistakes have their places.
    pub sources: &'a [Source],
}
