//! Why a worker could not start.

use engine::EngineError;

/// Why a worker could not start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SetupError {
    pub(crate) errno: i32,
    pub(crate) message: String,
}

impl From<&EngineError> for SetupError {
    fn from(error: &EngineError) -> Self {
        let message = match error.hint() {
            Some(hint) => format!("{error}; {hint}"),
            None => error.to_string(),
        };
        SetupError { errno: error.errno().unwrap_or(libc::EIO), message }
    }
}
