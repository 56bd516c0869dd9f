//! May a target be written to that was there before? The same for every command that makes its own
//! jobs: only with `--overwrite`.

use crate::exit::Failure;

/// What is said of a target that is only read.
pub(super) const READ_ONLY: &str = "the target may not be written over";

/// Says whether a target may be written to. `is_ours` is one that the command makes itself, such as
/// a scratch file; files and devices that were there before hold something.
pub(super) fn may_write(is_ours: bool, overwrite: bool) -> bool {
    is_ours || overwrite
}

/// Refuses to write to a target that was there before, unless it may be.
pub(super) fn check(target: &str, overwrite: bool) -> Result<(), Failure> {
    if may_write(false, overwrite) {
        return Ok(());
    }
    let message = format!("`{target}` is there, and would be written over");
    Err(Failure::wrong_use(message)
        .hint("name a folder: a scratch file is made in it")
        .hint("or say so: --overwrite; what is in it is lost"))
}
