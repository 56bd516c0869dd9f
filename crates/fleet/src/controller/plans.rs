//! Plans that agents have each for themselves.

use super::Controller;
use crate::wire::Assignment;

/// The plan of one agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OwnPlan {
    /// One in the program's own notation, which it is sent.
    Sent(String),
    /// A job file of its host.
    Theirs(String),
}

impl OwnPlan {
    /// Puts it in the place of what all have.
    pub(super) fn put_into(&self, assignment: &mut Assignment) {
        match self {
            OwnPlan::Sent(plan) => assignment.plan_toml.clone_from(plan),
            OwnPlan::Theirs(path) => assignment.plan_file.clone_from(path),
        }
    }
}

impl Controller {
    /// Gives each agent a plan of its own, in the place of the assignment's; none where there are
    /// none. Steps of the same number begin together.
    #[must_use]
    pub fn with_plans(self, plans: Vec<OwnPlan>) -> Self {
        Controller { plans, ..self }
    }
}
