//! One look at a folder in place of one at each of its files.
//!
//! A job may name a million files that are still to be made. To ask for each is a round trip per
//! file on a network file system; a listing of their folder tells that they are missing all at
//! once. What is listed is asked for one by one, as before.

use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::control::Control;

/// Files in one folder from which on it is listed. Below, asking costs about as much.
const FILES_MIN: usize = 16;

/// Entries per file asked for that a listing is given: a folder that holds much more than the job
/// names costs more to list than its files to ask for.
const ENTRIES_PER_FILE: usize = 4;

/// What some folders hold.
#[derive(Debug, Default)]
pub(crate) struct Folders {
    /// Names in lower case: on some file systems case does not matter, and what might be there is
    /// asked for.
    names: HashMap<OsString, HashSet<OsString>>,
}

/// Returns what a path holds before its last name, as it is written: much cheaper than its parent.
pub(crate) fn folder_of(path: &Path) -> &OsStr {
    let bytes = path.as_os_str().as_bytes();
    let end = bytes.iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1);
    OsStr::from_bytes(&bytes[..end])
}

impl Folders {
    /// Lists the folders that many of the paths are in. One that cannot be listed is left out.
    pub(crate) fn of(paths: impl Iterator<Item = impl AsRef<Path>>, control: &Control) -> Self {
        let mut n_files: HashMap<OsString, usize> = HashMap::new();
        // Most follow others of the same folder.
        let (mut last, mut n_of_last) = (OsString::new(), 0);
        for path in paths.take_while(|_| !control.is_stopped()) {
            let folder = folder_of(path.as_ref());
            if folder != last.as_os_str() {
                *n_files.entry(std::mem::replace(&mut last, folder.to_owned())).or_default() +=
                    std::mem::take(&mut n_of_last);
            }
            n_of_last += 1;
        }
        *n_files.entry(last).or_default() += n_of_last;
        let many = n_files.into_iter().filter(|(_, n)| *n >= FILES_MIN);
        let names = many.filter_map(|(folder, n)| {
            let listed = list(Path::new(&folder), n.saturating_mul(ENTRIES_PER_FILE), control)?;
            Some((folder, listed))
        });
        Folders { names: names.collect() }
    }

    /// Notes that a folder is missing: it holds nothing.
    pub(crate) fn add_missing(&mut self, folder: &OsStr) {
        self.names.insert(folder.to_owned(), HashSet::new());
    }

    /// Returns whether there is certainly no such file. Where that is not known: no.
    pub(crate) fn lack(&self, path: &Path) -> bool {
        if self.names.is_empty() {
            return false;
        }
        let folder = folder_of(path);
        let name = &path.as_os_str().as_bytes()[folder.len()..];
        match self.names.get(folder) {
            Some(_) if matches!(name, b"" | b"." | b"..") => false,
            Some(names) if names.is_empty() => true,
            Some(names) if name.iter().any(u8::is_ascii_uppercase) => {
                !names.contains(&OsStr::from_bytes(name).to_ascii_lowercase())
            }
            Some(names) => !names.contains(OsStr::from_bytes(name)),
            None => false,
        }
    }
}

/// Returns the names in a folder, or `None` if they are more than `n_max`, cannot be listed, or the
/// run is to end.
fn list(folder: &Path, n_max: usize, control: &Control) -> Option<HashSet<OsString>> {
    let shown = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let mut names = HashSet::new();
    for entry in std::fs::read_dir(shown).ok()? {
        // Where names have letters whose case is not that of ASCII, asking is safer.
        let name = entry.ok()?.file_name();
        if names.len() == n_max || !name.is_ascii() || control.is_stopped() {
            return None;
        }
        names.insert(name.to_ascii_lowercase());
    }
    Some(names)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    /// Makes a folder with `present`; returns which of `n` files `f0`, `f1` ... it surely lacks.
    fn lacking(present: &[&str], n: usize) -> Vec<usize> {
        let folder = tempfile::tempdir().expect("a folder");
        for name in present {
            std::fs::write(folder.path().join(name), "").expect("a file");
        }
        let paths: Vec<PathBuf> = (0..n).map(|idx| folder.path().join(format!("f{idx}"))).collect();
        let folders = Folders::of(paths.iter(), &Control::new());
        (0..n).filter(|idx| folders.lack(&paths[*idx])).collect()
    }

    #[test]
    fn what_a_listing_lacks_is_missing() {
        let all_but = |there: &[usize]| (0..20).filter(|n| !there.contains(n)).collect::<Vec<_>>();
        assert_eq!(lacking(&[], 20), all_but(&[]));
        assert_eq!(lacking(&["f3", "f19", "other"], 20), all_but(&[3, 19]));
        // It may be the same file, in whatever case it was written.
        assert_eq!(lacking(&["F7"], 20), all_but(&[7]));
    }

    #[test]
    fn what_is_not_certain_is_asked_for() {
        assert_eq!(lacking(&[], FILES_MIN - 1), Vec::<usize>::new());
        assert_eq!(lacking(&["é"], 20), Vec::<usize>::new());
        let many: Vec<String> = (0..100).map(|n| format!("x{n}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(lacking(&many, 20), Vec::<usize>::new());
        assert_eq!(lacking(&many, 40).len(), 40);
        let nowhere = (0..20).map(|idx| PathBuf::from(format!("/no/such/folder/{idx}")));
        let nowhere: Vec<PathBuf> = nowhere.collect();
        let folders = Folders::of(nowhere.iter(), &Control::new());
        assert!(!folders.lack(&nowhere[0]));
    }
}
