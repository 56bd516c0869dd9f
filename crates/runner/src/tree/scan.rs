//! Looks at what is there of a tree.

use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

use pattern::tree::Tree;
use rustix::fs::{AtFlags, FileType};
use rustix::io::Errno;
use units::system_text;
use worker::{FileFlags, TreeState};

use super::refusal::refused;
use crate::control::Control;
use crate::setup_error::SetupError;

/// Names of control files in the anchor of a tree, next to its folders.
const OF_CONTROL: [&str; 3] =
    [super::control::NAME, super::control::NEW_NAME, super::control::NO_DISMOUNT_NAME];

/// What a name leads to, not followed.
enum Entry {
    Nothing,
    Folder,
    File(u64),
    Other,
}

fn entry_at(anchor: BorrowedFd<'_>, path: &[u8]) -> Result<Entry, SetupError> {
    match rustix::fs::statat(anchor, path, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(facts) => Ok(match FileType::from_raw_mode(facts.st_mode) {
            FileType::Directory => Entry::Folder,
            FileType::RegularFile => Entry::File(u64::try_from(facts.st_size).unwrap_or(0)),
            _ => Entry::Other,
        }),
        Err(Errno::NOENT) => Ok(Entry::Nothing),
        Err(errno) => {
            Err(unsafe_name(format!("cannot look at `{}`: {}", shown(path), system_text(errno))))
        }
    }
}

fn shown(path: &[u8]) -> String {
    String::from_utf8_lossy(path).into_owned()
}

/// Refuses to go below a name that is not what it should be.
fn unsafe_name(message: String) -> SetupError {
    refused(libc::ELOOP, message)
}

/// Ends a look at a tree, which may have millions of files, when the run is to end. What was seen
/// until then does not apply to the rest.
fn goes_on(control: &Control) -> Result<(), SetupError> {
    if control.is_stopped() {
        return Err(refused(libc::ECANCELED, "interrupted while its files were listed".to_owned()));
    }
    Ok(())
}

/// Returns which of the folders are there. Anything else by a folder's name is refused: a symbolic
/// link would lead out of the anchor.
fn folders_there(
    tree: &Tree,
    anchor: BorrowedFd<'_>,
    control: &Control,
    note: &mut dyn FnMut(u32, bool),
) -> Result<(), SetupError> {
    let mut path = Vec::new();
    // Of the level above: below a folder that is missing nothing is.
    let mut is_there = vec![false; tree.n_folders() as usize];
    for folder in 0..tree.n_folders() {
        goes_on(control)?;
        let above = tree.parent(folder);
        if above.is_some_and(|above| !is_there[above as usize]) {
            note(folder, false);
            continue;
        }
        path.clear();
        tree.push_folder_path(folder, &mut path);
        let exists = match entry_at(anchor, &path)? {
            Entry::Folder => true,
            Entry::Nothing => false,
            Entry::File(_) | Entry::Other => {
                return Err(unsafe_name(format!(
                    "`{}` below the anchor is not a folder, and is not followed",
                    shown(&path)
                )));
            }
        };
        is_there[folder as usize] = exists;
        note(folder, exists);
    }
    Ok(())
}

/// Returns whether the folders are there that the state says, and no links in their place.
pub(super) fn folders_agree(
    state: &TreeState,
    anchor: impl AsFd,
    control: &Control,
) -> Result<bool, SetupError> {
    let mut agree = true;
    folders_there(state.tree(), anchor.as_fd(), control, &mut |folder, exists| {
        agree &= state.has_folder(folder) == exists;
    })?;
    Ok(agree)
}

/// Sets a state to what is there.
pub(super) fn scan(
    state: &TreeState,
    anchor: impl AsFd,
    control: &Control,
) -> Result<(), SetupError> {
    let anchor = anchor.as_fd();
    let mut note = |folder, exists| state.set_folder(folder, exists);
    folders_there(state.tree(), anchor, control, &mut note)?;
    let tree = state.tree();
    let mut path = Vec::new();
    for folder in (0..tree.n_folders()).filter(|folder| state.has_folder(*folder)) {
        for file in tree.files_in(folder) {
            goes_on(control)?;
            path.clear();
            tree.push_file_path(file, &mut path);
            let now_bytes = match entry_at(anchor, &path)? {
                Entry::File(bytes) => Some(bytes),
                Entry::Nothing => None,
                Entry::Folder | Entry::Other => {
                    return Err(unsafe_name(format!(
                        "`{}` below the anchor is not a file, and is left alone",
                        shown(&path)
                    )));
                }
            };
            state.set_file(file, FileFlags::of_size(now_bytes, tree.size_bytes(file)));
        }
    }
    Ok(())
}

/// Returns what lies in an anchor by names of the tree's first level, and by other names.
pub(super) fn entries(anchor: &Path, tree: &Tree) -> std::io::Result<(u64, u64)> {
    let (mut n_ours, mut n_others) = (0, 0);
    let mut names = std::collections::HashSet::new();
    for folder in tree.level(0) {
        let mut name = Vec::new();
        tree.push_folder_name(folder, &mut name);
        names.insert(name);
    }
    for entry in std::fs::read_dir(anchor)? {
        let name = entry?.file_name();
        let name = std::os::unix::ffi::OsStrExt::as_bytes(name.as_os_str());
        if names.contains(name) {
            n_ours += 1;
        } else if !OF_CONTROL.iter().any(|known| name == known.as_bytes()) {
            n_others += 1;
        }
    }
    Ok((n_ours, n_others))
}
