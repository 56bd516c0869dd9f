//! What this command reads: no result may replace it.
//!
//! Files that users name pass one of two readers, the [loader](crate::loader) and
//! [`crate::limited`], which note them here; results are opened as a [sink](crate::sink::Sink),
//! which asks. So a command need not say which of its arguments are files.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::exit::Failure;

static READ: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Notes a file that is read, or measured.
pub(crate) fn note(path: &Path) {
    let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
    if !read.iter().any(|known| known == path) {
        read.push(path.to_owned());
    }
}

/// Refuses a result in the place of a file that was noted, and in a file called `-`, which is meant
/// to be the standard output. Devices and pipes hold nothing that is replaced.
pub(crate) fn refuse(output: &Path) -> Result<(), Failure> {
    if output == Path::new("-") {
        return Err(Failure::wrong_use("`-` is no name for a file").hint(
            "/dev/stdout is the standard output, which most commands print to anyway; a file of \
             that name is ./-",
        ));
    }
    let is_file = std::fs::metadata(output).is_ok_and(|facts| facts.is_file());
    let read = READ.lock().unwrap_or_else(PoisonError::into_inner);
    if !is_file || !read.iter().any(|input| is_same(input, output)) {
        return Ok(());
    }
    let message =
        format!("`{}` is what this command reads: the result would replace it", output.display());
    Err(Failure::wrong_use(message).hint("name another file for the result"))
}

/// Refuses a result in a file that holds something, as nothing may be changed (`--readonly`, which
/// then "replaces nothing"). An empty one, as `mktemp` makes it, holds nothing.
pub(crate) fn refuse_to_change(output: &Path, what_it_does: &str) -> Result<(), Failure> {
    if !std::fs::metadata(output).is_ok_and(|facts| facts.is_file() && facts.len() > 0) {
        return Ok(());
    }
    let message =
        format!("`{}` is there already, and `--readonly` {what_it_does}", output.display());
    Err(Failure::wrong_use(message)
        .hint("name a new file for the result, or leave out `--readonly`"))
}

/// Returns whether two paths lead to one file or device, or will once it is there.
pub(crate) fn is_same(one: &Path, other: &Path) -> bool {
    match (std::fs::metadata(one), std::fs::metadata(other)) {
        (Ok(one), Ok(other)) => (one.dev(), one.ino()) == (other.dev(), other.ino()),
        (Err(_), Err(_)) => {
            let whole = |path: &Path| std::path::absolute(path).ok();
            whole(one).is_some_and(|one| whole(other) == Some(one))
        }
        _ => false,
    }
}
