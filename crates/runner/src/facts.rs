//! What is known of the plan's targets before it runs.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use engine::{FileKind, TargetFacts};

use crate::folders::{Folders, folder_of};

/// Facts by path, as the plan writes it. A job may have millions of files that are still to be
/// made: of those in one folder one is looked at, and the others are as that one.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    by_path: HashMap<OsString, TargetFacts>,
    /// Of one missing file per folder.
    of_missing: HashMap<OsString, TargetFacts>,
    /// What cannot be looked at.
    unreadable: HashSet<PathBuf>,
    folders: Folders,
}

impl Facts {
    /// Makes room for the facts of files in folders some of which were listed.
    pub(crate) fn in_folders(folders: Folders) -> Self {
        Facts { folders, ..Facts::default() }
    }

    /// Adds what is known of a target.
    pub(crate) fn insert(&mut self, path: PathBuf, facts: TargetFacts) {
        if facts.kind == FileKind::Missing && self.folders.lack(&path) {
            self.of_missing.insert(folder_of(&path).to_owned(), facts);
        } else {
            self.by_path.insert(path.into_os_string(), facts);
        }
    }

    /// Adds what is known of a target whose folder is missing, too: all others in it are as that.
    pub(crate) fn insert_with_folder(&mut self, path: PathBuf, facts: TargetFacts) {
        self.folders.add_missing(folder_of(&path));
        self.insert(path, facts);
    }

    /// Notes that a target cannot be looked at.
    pub(crate) fn note_unreadable(&mut self, path: PathBuf) {
        self.unreadable.insert(path);
    }

    /// Returns whether that was tried in vain.
    pub(crate) fn is_unreadable(&self, path: &Path) -> bool {
        self.unreadable.contains(path)
    }

    /// Returns what is known of a target; of a missing one that may be under a sibling's name.
    pub(crate) fn get(&self, path: &Path) -> Option<&TargetFacts> {
        if let Some(facts) = self.by_path.get(path.as_os_str()) {
            return Some(facts);
        }
        if self.of_missing.is_empty() || !self.folders.lack(path) {
            return None;
        }
        self.of_missing.get(folder_of(path))
    }
}

impl FromIterator<(PathBuf, TargetFacts)> for Facts {
    fn from_iter<T: IntoIterator<Item = (PathBuf, TargetFacts)>>(of_paths: T) -> Self {
        let mut facts = Facts::default();
        of_paths.into_iter().for_each(|(path, of_path)| facts.insert(path, of_path));
        facts
    }
}
