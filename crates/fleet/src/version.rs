//! Which agents a controller drives.

use std::fmt;

use crate::wire::{Assignment, Hello};
use crate::{PROTOCOL_MAJOR, PROTOCOL_MINOR};

/// A version of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version {
    /// Those of another one do not understand each other.
    pub major: u32,
    /// Rises with every message and field that is new.
    pub minor: u32,
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl Version {
    /// What this program speaks.
    pub const OWN: Version = Version { major: PROTOCOL_MAJOR, minor: PROTOCOL_MINOR };

    /// Returns why a controller of this version does not drive an agent that says this; `None`
    /// where it does: the agent speaks the same major version, and this minor version or the one
    /// before, for which a controller leaves out what is new.
    pub fn unfit(self, hello: &Hello) -> Option<String> {
        let theirs = Version { major: hello.protocol_major, minor: hello.protocol_minor };
        let behind = self.minor.checked_sub(theirs.minor);
        if theirs.major == self.major && matches!(behind, Some(0 | 1)) {
            return None;
        }
        Some(format!(
            "the agent's plimsoll {} speaks protocol {theirs}, the controller's {self}: install \
             the same version on both",
            hello.program_version
        ))
    }
}

/// Returns what an agent is asked to do that its version would pass over in silence.
pub fn lacking(assignment: &Assignment, hello: &Hello) -> Option<String> {
    let is_lacking = assignment.validation.is_some() && hello.protocol_minor < VALIDATION_MINOR;
    is_lacking.then(|| {
        format!(
            "the agent's plimsoll {} does not validate data: install the controller's version",
            hello.program_version
        )
    })
}

/// The first minor version that knows [`Assignment::validation`].
const VALIDATION_MINOR: u32 = 8;
