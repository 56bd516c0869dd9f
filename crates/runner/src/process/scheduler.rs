//! The I/O scheduler of the device below a target.

use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::error::ProcessError;

/// Sets the scheduler of the device that `target` is or lies on. It stays set after the run.
pub(super) fn set(name: &str, target: &Path) -> Result<(), ProcessError> {
    let refused = |known: &str, source| ProcessError::Scheduler {
        name: name.to_owned(),
        path: target.display().to_string(),
        known: known.to_owned(),
        source,
    };
    let file = switch_of(target).map_err(|source| refused("", source))?;
    let known = || std::fs::read_to_string(&file).unwrap_or_default().trim().to_owned();
    std::fs::write(&file, name).map_err(|source| refused(&known(), source))?;
    // Old kernels take an unknown name without a word.
    if known().split_whitespace().any(|word| word == format!("[{name}]") || word == name) {
        return Ok(());
    }
    Err(refused(&known(), io::Error::from_raw_os_error(libc::EINVAL)))
}

/// Returns the file in /sys that switches the scheduler. A partition has its disk's.
fn switch_of(target: &Path) -> io::Result<PathBuf> {
    let facts = std::fs::metadata(target)?;
    let is_device = facts.file_type().is_block_device();
    let device = if is_device { facts.rdev() } else { facts.dev() };
    let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
    let folder = PathBuf::from(format!("/sys/dev/block/{major}:{minor}"));
    let candidates = ["queue/scheduler", "../queue/scheduler"].map(|part| folder.join(part));
    let found = candidates.into_iter().find(|path| path.exists());
    found.ok_or_else(|| io::Error::from_raw_os_error(libc::ENODEV))
}
