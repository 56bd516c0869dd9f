//! The files that a trace names: which there are, and how large.

use std::collections::HashMap;

use super::Scope;

/// Most files that are known by name: each takes about 100 B.
const FILES_MAX: usize = 4 << 20;

/// A file or folder, by its place in [`Files`].
pub(super) type FileIdx = u32;

/// What a trace shows of a file.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FileFacts {
    /// Bytes, where they were shown.
    pub(super) size_bytes: Option<u64>,
    /// Where the bytes end that were moved.
    pub(super) end_bytes: u64,
    pub(super) is_folder: bool,
    /// Whether it is there; `None` where nothing shows it.
    pub(super) exists: Option<bool>,
}

impl FileFacts {
    /// Returns the bytes that it has at least.
    pub(super) fn bytes(&self) -> u64 {
        self.size_bytes.unwrap_or(0).max(self.end_bytes)
    }
}

/// The files of a trace.
#[derive(Debug, Default)]
pub(super) struct Files {
    by_path: HashMap<String, FileIdx>,
    facts: Vec<FileFacts>,
    /// Calls on files beyond the limit, and on those that do not count.
    pub(super) n_beyond: u64,
    pub(super) n_elsewhere: u64,
}

impl Files {
    /// Returns a file that counts, noted where it is new.
    pub(super) fn find(&mut self, path: &str, scope: &Scope) -> Option<FileIdx> {
        if let Some(idx) = self.by_path.get(path) {
            return Some(*idx);
        }
        if !scope.holds(path) {
            self.n_elsewhere += 1;
            return None;
        }
        if self.facts.len() == FILES_MAX {
            self.n_beyond += 1;
            return None;
        }
        let idx = self.facts.len() as FileIdx;
        self.by_path.insert(path.to_owned(), idx);
        self.facts.push(FileFacts::default());
        Some(idx)
    }

    pub(super) fn at(&mut self, idx: FileIdx) -> &mut FileFacts {
        &mut self.facts[idx as usize]
    }

    /// Notes what a call shows of a file, such as `{st_mode=S_IFREG|0644, st_size=20000, ...}`.
    pub(super) fn note_shown(&mut self, idx: FileIdx, shown: &str) {
        let facts = self.at(idx);
        facts.exists = Some(true);
        facts.is_folder |= shown.contains("S_IFDIR");
        if !facts.is_folder
            && let Some((_, size)) = shown.split_once("_size=")
        {
            let n_digits = size.bytes().take_while(u8::is_ascii_digit).count();
            facts.size_bytes = size[..n_digits].parse().ok().or(facts.size_bytes);
        }
    }

    /// Gives a file another name.
    pub(super) fn rename(&mut self, from: FileIdx, to: FileIdx) {
        let facts = *self.at(from);
        self.at(from).exists = Some(false);
        *self.at(to) = FileFacts { exists: Some(true), ..facts };
    }

    /// Returns all files with their folders' names.
    pub(super) fn all(&self) -> impl Iterator<Item = (FileIdx, &str, &FileFacts)> {
        self.by_path.iter().map(|(path, idx)| {
            let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
            (*idx, folder, &self.facts[*idx as usize])
        })
    }
}

/// Puts a path behind the folder that it starts from, without `.`, `..` and doubled slashes.
pub(super) fn joined(folder: &str, path: &str) -> String {
    let folder = if path.starts_with('/') { "" } else { folder };
    let mut names: Vec<&str> = Vec::new();
    for name in folder.split('/').chain(path.split('/')) {
        match name {
            "" | "." => {}
            ".." if names.last().is_some_and(|last| *last != "..") => {
                names.pop();
            }
            ".." if path.starts_with('/') || folder.starts_with('/') => {}
            name => names.push(name),
        }
    }
    let root = if path.starts_with('/') || folder.starts_with('/') { "/" } else { "" };
    format!("{root}{}", names.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(folder: &str, path: &str, expected: &str) {
        assert_eq!(joined(folder, path), expected, "{folder} {path}");
    }

    #[test]
    fn paths_are_joined() {
        check("/a/b", "c", "/a/b/c");
        check("/a/b", "../c/./d", "/a/c/d");
        check("/a/b", "/c//d/", "/c/d");
        check("/", "../..", "/");
        check("", "a/../b", "b");
        check("", "../b", "../b");
    }

    #[test]
    fn what_a_call_shows_is_noted() {
        let mut files = Files::default();
        let idx = files.find("/d/f", &Scope::default()).unwrap();
        files.note_shown(idx, "{st_mode=S_IFREG|0644, st_size=20000, ...}");
        assert_eq!((files.at(idx).size_bytes, files.at(idx).is_folder), (Some(20_000), false));
        files.note_shown(idx, "{stx_mode=S_IFREG|0644, stx_size=7, ...}");
        assert_eq!(files.at(idx).bytes(), 7);
        let folder = files.find("/d", &Scope::default()).unwrap();
        files.note_shown(folder, "{st_mode=S_IFDIR|0755, st_size=4096, ...}");
        assert_eq!((files.at(folder).size_bytes, files.at(folder).is_folder), (None, true));
    }
}
