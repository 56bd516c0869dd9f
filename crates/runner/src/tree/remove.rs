//! Removes a structure that a control file describes and that nobody asks for any more.

use std::path::Path;

use engine::tree::Anchored;
use pattern::tree::Tree;
use plan::tree::TreeSpec;
use rustix::fs::AtFlags;
use rustix::io::Errno;
use worker::TreeState;

use super::anchor::{of_io, refused};
use super::scan;
use crate::prepare::SetupError;

/// Removes the files and folders of a structure that are there, and nothing else: a folder that
/// holds something of others stays.
pub(super) fn old(
    anchor: &Path,
    structure: &TreeSpec,
    is_stopped: &dyn Fn() -> bool,
) -> Result<(), SetupError> {
    let invalid = |error: pattern::tree::TreeError| refused(libc::EINVAL, error.to_string());
    let tree = Tree::new(structure).map_err(invalid)?;
    let state = TreeState::new(tree.clone());
    let anchored =
        Anchored::open(tree.clone(), anchor).map_err(|error| SetupError::from(&error))?;
    let unread = |message| refused(libc::ELOOP, format!("`{}`: {message}", anchor.display()));
    scan::scan(&state, &anchored.anchor).map_err(unread)?;
    let mut path = Vec::new();
    let failed = |path: &[u8], errno: Errno| {
        let place = anchor.join(String::from_utf8_lossy(path).as_ref());
        of_io("cannot remove", &place, &errno.into())
    };
    let stopped = || refused(libc::EINTR, "interrupted while the old structure was removed".into());
    for file in (0..tree.n_files()).filter(|file| state.file(*file).exists) {
        if is_stopped() {
            return Err(stopped());
        }
        path.clear();
        tree.push_file_path(file, &mut path);
        rustix::fs::unlinkat(&anchored.anchor, path.as_slice(), AtFlags::empty())
            .map_err(|errno| failed(&path, errno))?;
    }
    for folder in (0..tree.n_folders()).rev().filter(|folder| state.has_folder(*folder)) {
        if is_stopped() {
            return Err(stopped());
        }
        path.clear();
        tree.push_folder_path(folder, &mut path);
        match rustix::fs::unlinkat(&anchored.anchor, path.as_slice(), AtFlags::REMOVEDIR) {
            Ok(()) | Err(Errno::NOTEMPTY) => {}
            Err(errno) => return Err(failed(&path, errno)),
        }
    }
    Ok(())
}
