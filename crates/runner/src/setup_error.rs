//! Why a worker could not start.

use std::panic::AssertUnwindSafe;

use engine::EngineError;

/// Why a worker could not start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SetupError {
    pub(crate) errno: i32,
    pub(crate) message: String,
}

impl SetupError {
    /// Returns what is said of a thread that panicked, in its own words.
    pub(crate) fn of_panic(what: &str, message: &str) -> Self {
        let message = format!(
            "a fault of this program ended {what}, and the run with it: {message}; please report it"
        );
        SetupError { errno: libc::EIO, message }
    }
}

/// Runs the work of a thread. Returns the words of its panic, if it panics: what it works on is
/// dropped on the way out, and what it shares are single numbers.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    std::panic::catch_unwind(AssertUnwindSafe(work)).map_err(|payload| {
        let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
        text.unwrap_or_else(|| "without a word".to_owned())
    })
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
