//! A file that is written under a temporary name and gets its own name when it is complete.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// A file under a temporary name next to its final place. Unless [`put`](Self::put) moves it to
/// that place, it is removed when it is dropped: an error on the way leaves nothing behind, and an
/// existing file of that name stays as it is.
#[derive(Debug)]
pub struct PartFile {
    file: File,
    path: RemovedOnDrop,
    place: PathBuf,
}

/// The path of a file that is removed with this value, unless it was taken.
#[derive(Debug)]
struct RemovedOnDrop(Option<PathBuf>);

impl Drop for RemovedOnDrop {
    fn drop(&mut self) {
        if let Some(path) = self.0.take() {
            let _may_be_gone = fs::remove_file(path);
        }
    }
}

impl PartFile {
    /// Makes a file for a place that several processes may write to, under a name that no other
    /// file has. A killed process leaves it behind.
    ///
    /// # Errors
    /// What the system says; [`ErrorKind::IsADirectory`] for a path without a last name.
    pub fn beside(place: &Path) -> io::Result<Self> {
        if place.file_name().is_none() {
            return Err(ErrorKind::IsADirectory.into());
        }
        let pid = std::process::id();
        let mut number = 0;
        loop {
            let path = place.with_file_name(format!(".plimsoll-{pid}-{number}.part"));
            match Self::create(place, path, 0o666) {
                // Of a process that had the same number and was killed.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => number += 1,
                made => return made,
            }
        }
    }

    /// Replaces the file at a place, through a temporary file named `name` next to it. When this
    /// returns the contents are on the disk. `mode` is that of `open(2)`, less the umask. For
    /// places that one process at a time writes to: what a killed one left under that name is
    /// replaced, and no link is followed.
    ///
    /// # Errors
    /// What the system says; the place is as it was then.
    pub fn replace(place: &Path, name: &str, mode: u32, contents: &[u8]) -> io::Result<()> {
        let mut part = Self::named(place, name, mode)?;
        part.file.write_all(contents)?;
        part.file.sync_all()?;
        part.put().map(drop)
    }

    fn named(place: &Path, name: &str, mode: u32) -> io::Result<Self> {
        let path = place.with_file_name(name);
        match Self::create(place, path.clone(), mode) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                fs::remove_file(&path)?;
                Self::create(place, path, mode)
            }
            made => made,
        }
    }

    fn create(place: &Path, path: PathBuf, mode: u32) -> io::Result<Self> {
        let file = OpenOptions::new().write(true).create_new(true).mode(mode).open(&path)?;
        Ok(PartFile { file, path: RemovedOnDrop(Some(path)), place: place.to_owned() })
    }

    /// Returns the file to write to.
    pub fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// Gives the file its place, instead of what has it. Returns it, open behind what was written.
    /// It is not made durable: who needs that calls `sync_all` before.
    ///
    /// # Errors
    /// What the system says; the file is removed then.
    pub fn put(mut self) -> io::Result<File> {
        if let Some(path) = &self.path.0 {
            fs::rename(path, &self.place)?;
        }
        self.path.0 = None;
        Ok(self.file)
    }
}

#[cfg(test)]
mod tests {
    use testing::names_in;

    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn the_place_changes_when_the_file_is_whole() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = folder.path().join("place");
        fs::write(&place, "before").expect("it is ours");
        let makes: [fn(&Path) -> io::Result<PartFile>; 2] =
            [PartFile::beside, |place| PartFile::named(place, "place.part", 0o600)];
        for (make, text) in makes.into_iter().zip(["one", "two"]) {
            let before = fs::read(&place).expect("it is there");
            let mut part = make(&place).expect("there is room");
            part.file().write_all(b"never seen").expect("there is room");
            assert_eq!(names_in(folder.path()).len(), 2);
            drop(part);
            assert_eq!(names_in(folder.path()), ["place"]);
            assert_eq!(fs::read(&place).expect("it is there"), before);
            let mut part = make(&place).expect("there is room");
            part.file().write_all(text.as_bytes()).expect("there is room");
            part.put().expect("there is room").write_all(b" and more").expect("there is room");
            assert_eq!(names_in(folder.path()), ["place"]);
            let after = fs::read_to_string(&place).expect("it is there");
            assert_eq!(after, format!("{text} and more"));
        }
    }

    #[test]
    fn what_cannot_be_renamed_leaves_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = folder.path().join("place");
        fs::create_dir(&place).expect("it is ours");
        let part = PartFile::beside(&place).expect("there is room");
        let error = part.put().expect_err("a folder has the name");
        assert_eq!(error.kind(), ErrorKind::IsADirectory);
        assert_eq!(names_in(folder.path()), ["place"]);
    }

    #[test]
    fn what_a_killed_process_left_is_replaced_and_no_link_is_followed() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        fs::write(at("other"), "stays").expect("it is ours");
        symlink("other", at("place.part")).expect("it is ours");
        PartFile::replace(&at("place"), "place.part", 0o600, b"whole").expect("there is room");
        assert_eq!(fs::read(at("other")).expect("it is there"), b"stays");
        assert_eq!(fs::read(at("place")).expect("it is there"), b"whole");
        assert_eq!(names_in(folder.path()), ["other", "place"]);
    }
}
