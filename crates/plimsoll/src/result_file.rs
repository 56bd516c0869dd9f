//! Files that hold a result: written under a temporary name in the same folder, and renamed when
//! they are complete.
//!
//! A full disk leaves no part of a result, and an existing file of that name stays as it was. Where
//! nothing can be renamed (a device, a pipe, a file with several names, a folder that takes no new
//! file) the result goes straight to its place.

use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind, Seek, SeekFrom, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt, fchown};
use std::path::{Path, PathBuf};

use engine::{PartFile, devices};
use units::system_text;

use crate::exit::{Exit, Failure};

/// A file for a result. What had its name stays until there is something to write.
#[derive(Debug)]
pub(crate) struct ResultFile {
    /// As it was named.
    path: PathBuf,
    /// What is written to; none before the first piece, if it is written under a temporary name.
    file: Option<File>,
    /// Where links lead: the name that the whole file gets.
    place: PathBuf,
    /// Something was written: the next piece goes behind it.
    is_begun: bool,
    /// What is there stays, and pieces go behind it: others may add to the same file meanwhile.
    is_added_to: bool,
}

/// Writes a result into a file, whole or not at all.
///
/// # Errors
/// Returns what the system says, or that the path is a block device; see [`not_written`].
pub(crate) fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    ResultFile::open(path)?.write(bytes)
}

/// Does the same between two measurements: it does not wait for the disk, which may have much to
/// write of the first one.
pub(crate) fn write_between(path: &Path, bytes: &[u8]) -> io::Result<()> {
    beside(path, bytes, false).map(drop)
}

/// Refuses to make a file where devices have their names: a mistyped one would lie in memory, and
/// be taken for a device.
pub(crate) fn refuse_among_devices(path: &Path) -> io::Result<()> {
    if devices::would_hold(path) {
        let why = format!("only devices belong in {}, and no file is made there", devices::FOLDER);
        return Err(io::Error::other(why));
    }
    Ok(())
}

/// Writes a result into a file that must not be there yet, whole or not at all.
pub(crate) fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    refuse_among_devices(path)?;
    let mut file = File::create_new(path)?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    written.inspect_err(|_| {
        let _ = fs::remove_file(path);
    })
}

impl ResultFile {
    /// Makes sure that a file can be written, and changes nothing.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let (place, is_replaceable) = place_of(path);
        let mut file = None;
        if path.as_os_str().as_encoded_bytes().ends_with(b"/") {
            return Err(ErrorKind::IsADirectory.into());
        }
        match fs::metadata(path) {
            Ok(facts) => {
                if facts.file_type().is_block_device() {
                    let why = "it is a block device, and its contents would be lost";
                    return Err(io::Error::other(why));
                }
                if facts.is_file() {
                    refuse_among_devices(&place)?;
                }
                // A user who may not write to it may not replace it, either.
                let there = File::options().write(true).open(path)?;
                let is_alone = facts.is_file() && facts.nlink() == 1;
                if !(is_replaceable && is_alone && part_of(&place, Some(&facts)).is_ok()) {
                    file = Some(there);
                }
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                refuse_among_devices(&place)?;
                drop(part_of(&place, None)?);
            }
            Err(error) => return Err(error),
        }
        let path = path.to_owned();
        Ok(ResultFile { path, file, place, is_begun: false, is_added_to: false })
    }

    /// Does the same for a file that is added to. What is missing is made with the first piece.
    pub(crate) fn open_to_add(path: &Path) -> io::Result<Self> {
        let opened = ResultFile::open(path)?;
        let is_other = fs::metadata(path).is_ok_and(|facts| !facts.is_file());
        let file = opened.file.filter(|_| is_other);
        Ok(ResultFile { file, is_added_to: true, ..opened })
    }

    /// Returns the file's name as it was given.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a piece: all of it, or nothing that stays.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.file {
            Some(file) => append(file, bytes, self.is_begun)?,
            None if self.is_added_to => add(&self.place, bytes)?,
            None => self.file = Some(beside(&self.place, bytes, true)?),
        }
        self.is_begun = true;
        Ok(())
    }
}

/// Writes behind what is there, or in its place. What could not be written whole is cut off again,
/// as far as it can be.
fn append(file: &mut File, bytes: &[u8], is_behind: bool) -> io::Result<()> {
    let facts = file.metadata()?;
    if !facts.is_file() {
        return file.write_all(bytes);
    }
    if !is_behind {
        file.set_len(0)?;
    }
    let before = if is_behind { facts.len() } else { 0 };
    let written = file.write_all(bytes);
    if written.is_err() {
        let _ = file.set_len(before);
        let _ = file.seek(SeekFrom::Start(before));
    }
    written
}

/// Writes behind what is there, at once and with a sync; a file that is missing is made. What could
/// not be written whole is cut off again.
fn add(place: &Path, bytes: &[u8]) -> io::Result<()> {
    let is_new = !place.exists();
    let mut file = File::options().append(true).create(true).open(place)?;
    let before = file.metadata()?.len();
    let written = append(&mut file, bytes, true).and_then(|()| {
        file.sync_all().inspect_err(|_| {
            let _ = file.set_len(before);
        })
    });
    written.inspect_err(|_| {
        if is_new && before == 0 {
            let _ = fs::remove_file(place);
        }
    })
}

/// Writes a file under a temporary name and renames it, with `is_on_disk` after a sync: a server
/// may report only then that there is no room. Returns it, open at the end of what was written.
fn beside(place: &Path, bytes: &[u8], is_on_disk: bool) -> io::Result<File> {
    let facts = fs::metadata(place).ok();
    let mut part = part_of(place, facts.as_ref())?;
    part.file().write_all(bytes)?;
    if is_on_disk {
        part.file().sync_all()?;
    }
    match part.put() {
        Ok(file) => return Ok(file),
        Err(error) if facts.is_none() => return Err(error),
        Err(_) => {}
    }
    // A file that is mounted, or that a folder's sticky bit protects, keeps its name.
    let mut straight = File::options().write(true).open(place)?;
    append(&mut straight, bytes, false)?;
    Ok(straight)
}

/// Makes the temporary file, with owner and permissions of the file that it will replace.
fn part_of(place: &Path, replaced: Option<&Metadata>) -> io::Result<PartFile> {
    let mut part = PartFile::beside(place)?;
    if let Some(facts) = replaced {
        fchown(part.file(), Some(facts.uid()), Some(facts.gid()))?;
        part.file().set_permissions(facts.permissions())?;
    }
    Ok(part)
}

/// Links that are followed at most, as the kernel does.
const LINKS_MAX: usize = 40;

/// Follows links to where a file is or will be. Also returns false where they lead to what the
/// process has open (`/dev/stdout`): that must be written to, and not replaced.
fn place_of(path: &Path) -> (PathBuf, bool) {
    let mut place = path.to_owned();
    for _ in 0..LINKS_MAX {
        if place.starts_with("/proc") || place.starts_with("/dev/fd") {
            return (place, false);
        }
        match fs::read_link(&place) {
            Ok(to) => place = place.parent().unwrap_or(Path::new("")).join(to),
            Err(_) => return (place, true),
        }
    }
    (place, false)
}

/// Reports that a result could not be written, and what to do about it. A name that cannot be
/// written to is wrong use; a disk that is full, or fails, is a failure.
pub(crate) fn not_written(path: &Path, error: &io::Error) -> Failure {
    let (exit, hint) = match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
            (Exit::RunFailed, "make room there, or name a file on another disk")
        }
        ErrorKind::NotFound => (Exit::WrongUse, "make the folder, or name one that is there"),
        ErrorKind::AlreadyExists => (Exit::WrongUse, "it exists already: name another file"),
        ErrorKind::NotADirectory => (Exit::WrongUse, "name a file in a folder"),
        ErrorKind::IsADirectory => (Exit::WrongUse, "it is a folder: name a file in it"),
        ErrorKind::PermissionDenied => {
            (Exit::WrongUse, "name a file in a folder that you may write to")
        }
        ErrorKind::ReadOnlyFilesystem => {
            (Exit::WrongUse, "that file system is read-only: name a file on another one")
        }
        ErrorKind::InvalidFilename => (Exit::WrongUse, "name a file with a shorter name"),
        ErrorKind::Other => (Exit::WrongUse, "name a file in another folder"),
        _ => (Exit::RunFailed, "name another file"),
    };
    let message = format!("cannot write to `{}`: {}", path.display(), system_text(error));
    Failure::wrong_use(message).with(exit).hint(hint)
}

#[cfg(test)]
mod tests {
    use testing::names_in;

    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn what_has_the_name_stays_until_there_is_something_to_write() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("result");
        drop(ResultFile::open(&path).expect("it may be made"));
        assert!(names_in(folder.path()).is_empty());
        fs::write(&path, "before").expect("it is ours");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("it is ours");
        let mut file = ResultFile::open(&path).expect("it may be replaced");
        assert_eq!(fs::read(&path).expect("it is there"), b"before");
        file.write(b"one, ").expect("there is room");
        file.write(b"two").expect("there is room");
        assert_eq!(fs::read(&path).expect("it is there"), b"one, two");
        let mode = fs::metadata(&path).expect("it is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o640);
        assert_eq!(names_in(folder.path()), ["result"]);
    }

    #[test]
    fn what_is_added_to_stays_and_is_made_with_the_first_piece() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("result");
        let mut files = [0, 1].map(|_| ResultFile::open_to_add(&path).expect("it may be made"));
        assert!(names_in(folder.path()).is_empty());
        // Each behind what the other has added.
        for (idx, text) in [(0, "one, "), (1, "two, "), (0, "three")] {
            files[idx].write(text.as_bytes()).expect("there is room");
        }
        assert_eq!(fs::read_to_string(&path).expect("it is there"), "one, two, three");
        assert_eq!(names_in(folder.path()), ["result"]);
        let mut null = ResultFile::open_to_add(Path::new("/dev/null")).expect("it takes all");
        null.write(b"text").expect("it takes all");
    }

    #[test]
    fn links_and_other_names_lead_to_what_was_written() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        symlink("there", at("link")).expect("it is ours");
        for text in ["made", "replaced"] {
            write(&at("link"), text.as_bytes()).expect("there is room");
            assert_eq!(fs::read_to_string(at("there")).expect("it is there"), text);
            assert!(at("link").is_symlink());
        }
        fs::hard_link(at("there"), at("other")).expect("it is ours");
        write(&at("there"), b"both").expect("there is room");
        assert_eq!(fs::read(at("other")).expect("it is there"), b"both");
        assert_eq!(names_in(folder.path()), ["link", "other", "there"]);
    }

    #[test]
    fn a_hint_names_the_cause() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        fs::write(at("file"), "").expect("it is ours");
        let path = |path: &str| at(path);
        for (path, kind) in [
            (path("absent/result"), ErrorKind::NotFound),
            (path("file/result"), ErrorKind::NotADirectory),
            (path("."), ErrorKind::IsADirectory),
            (path("new/"), ErrorKind::IsADirectory),
            (path("/dev/full"), ErrorKind::StorageFull),
        ] {
            let error = write(&path, b"text").expect_err("it cannot be written");
            assert_eq!(error.kind(), kind, "{}: {error}", path.display());
        }
    }

    #[test]
    fn a_new_file_replaces_none() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("suite.toml");
        write_new(&path, b"first").expect("there is room");
        let error = write_new(&path, b"second").expect_err("it is there");
        assert_eq!(error.kind(), ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&path).expect("it is there"), b"first");
    }
}
