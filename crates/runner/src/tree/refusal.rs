//! Why an anchor cannot be used.

use std::path::Path;

use engine::EngineError;
use units::system_text;

use crate::setup_error::SetupError;

/// Makes an error of the set-up.
pub(super) fn refused(errno: i32, message: String) -> SetupError {
    SetupError { errno, message }
}

pub(super) fn of_io(what: &str, path: &Path, error: &std::io::Error) -> SetupError {
    let errno = error.raw_os_error().unwrap_or(libc::EIO);
    let path = path.display().to_string();
    let text = format!("{what} `{path}`: {}", system_text(error));
    let source = std::io::Error::from_raw_os_error(errno);
    let hint = match errno {
        libc::ENOENT => None,
        libc::ENOSPC | libc::EDQUOT => Some("free some space, or name another anchor".to_owned()),
        _ => EngineError::File { action: "use", path, source }.hint(),
    };
    refused(errno, hint.map_or_else(|| text.clone(), |hint| format!("{text}; {hint}")))
}

/// Says below which anchor something is that cannot be used.
pub(super) fn below(anchor: &Path, error: &SetupError) -> SetupError {
    refused(error.errno, format!("`{}`: {}", anchor.display(), error.message))
}
