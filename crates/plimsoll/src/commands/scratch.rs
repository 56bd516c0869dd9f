//! A scratch folder that is made and removed.

use std::fs;
use std::path::{Path, PathBuf};

use rustix::fs::{FallocateFlags, Mode, OFlags};
use units::system_text;

use crate::exit::Failure;
use crate::result_file;
use crate::stream;

/// Space that must stay free: a measurement must not fill a disk that others use.
const FREE_BYTES_MIN: u64 = 256 << 20;

/// Bytes worked on in its place where the volume is emulated, unless given: none are written.
pub(super) const EMULATED_BYTES: u64 = 16 << 30;

/// What a scratch folder is made for, in words and names.
#[derive(Clone, Copy, Debug)]
pub(super) struct Purpose {
    /// The command, such as `demo`: `plimsoll demo`.
    pub(super) command: &'static str,
    /// Name of the file in it.
    pub(super) file_name: &'static str,
    /// What to write to name another folder.
    pub(super) other_folder: &'static str,
    /// What to write for a smaller file, up to its size.
    pub(super) size_option: &'static str,
}

impl Purpose {
    /// What the name of the folder starts with; the number of the process follows.
    fn prefix(self) -> String {
        format!("plimsoll-{}-", self.command)
    }
}

/// A folder of our own, removed with the scratch file in it.
#[derive(Debug)]
pub(super) struct Scratch {
    dir: PathBuf,
    purpose: Purpose,
}

impl Scratch {
    /// Makes the folder in the first of the places that can be written to.
    pub(super) fn make(places: &[PathBuf], purpose: Purpose) -> Result<Self, Failure> {
        let name = format!("{}{}", purpose.prefix(), std::process::id());
        for dir in places.iter().flat_map(|place| leftovers(place, purpose)) {
            print_leftover(&dir, purpose);
        }
        let mut problem = String::new();
        for place in places {
            let dir = place.join(&name);
            let made = result_file::refuse_among_devices(&dir).and_then(|()| fs::create_dir(&dir));
            match made {
                Ok(()) => return Ok(Scratch { dir, purpose }),
                Err(error) => {
                    problem =
                        format!("cannot write to `{}`: {}", place.display(), system_text(&error));
                }
            }
        }
        let hint = format!("name a folder to write to: {}", purpose.other_folder);
        Err(Failure::wrong_use(problem).hint(hint))
    }

    /// Refuses one where nothing may be written.
    pub(super) fn refused() -> Failure {
        let message = "a scratch file has to be written before it is read";
        Failure::wrong_use(message).hint("name a file or device to read")
    }

    /// Returns the folder.
    pub(super) fn dir(&self) -> &Path {
        &self.dir
    }

    /// Returns the scratch file, or one of several by its name.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.dir.join(file_name(self.purpose, name))
    }

    /// Returns the bytes that are free, if that is known.
    pub(super) fn free_bytes(&self) -> Option<u64> {
        let stat = rustix::fs::statvfs(&self.dir).ok()?;
        Some(stat.f_bavail.saturating_mul(stat.f_frsize).saturating_sub(FREE_BYTES_MIN))
    }

    /// Reserves the blocks of a scratch file and gives them all back, so that the volume below can
    /// release them, if the file system passes that on.
    pub(super) fn purge(&self, name: &str, size_bytes: u64) -> std::io::Result<()> {
        let flags = OFlags::CREATE | OFlags::RDWR;
        let file = rustix::fs::open(self.file(name), flags, Mode::RUSR | Mode::WUSR)?;
        rustix::fs::fallocate(&file, FallocateFlags::empty(), 0, size_bytes)?;
        let punch = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        rustix::fs::fallocate(&file, punch, 0, size_bytes)?;
        rustix::fs::ftruncate(&file, 0)?;
        Ok(())
    }

    /// Refuses files of a size that would nearly fill the file system.
    pub(super) fn check_space(&self, size_bytes: u64, n_files: u64) -> Result<(), Failure> {
        // Where free space is not known, the run finds out.
        let Ok(stat) = rustix::fs::statvfs(&self.dir) else { return Ok(()) };
        let free_bytes = stat.f_bavail.saturating_mul(stat.f_frsize);
        let all_bytes = size_bytes.saturating_mul(n_files);
        if free_bytes >= all_bytes.saturating_add(FREE_BYTES_MIN) {
            return Ok(());
        }
        let shown = units::format_bytes;
        let place = self.dir.parent().unwrap_or(&self.dir).display();
        let Purpose { command, other_folder, size_option, .. } = self.purpose;
        let message = format!(
            "the {command} needs {} in `{place}`, and {} that stay free, but {} are free",
            shown(all_bytes),
            shown(FREE_BYTES_MIN),
            shown(free_bytes)
        );
        let failure =
            Failure::wrong_use(message).hint(format!("name another folder: {other_folder}"));
        Err(match smaller(free_bytes, n_files) {
            Some(size) => failure.hint(format!("or take a smaller file: {size_option}{size}")),
            None => failure,
        })
    }

    /// Returns whether a file here can be opened for direct I/O.
    pub(super) fn takes_direct(&self) -> bool {
        let path = self.dir.join(self.purpose.file_name);
        let flags = OFlags::CREATE | OFlags::RDWR | OFlags::DIRECT;
        rustix::fs::open(&path, flags, Mode::RUSR | Mode::WUSR).is_ok()
    }
}

/// Smallest file that is proposed: below, nothing is measured but caches.
const PROPOSED_BYTES_MIN: u64 = 16 << 20;

/// Returns the size of files that fit into what is free, as it is written; nothing where none does.
fn smaller(free_bytes: u64, n_files: u64) -> Option<String> {
    let each = free_bytes.saturating_sub(FREE_BYTES_MIN) / n_files.max(1);
    (each >= PROPOSED_BYTES_MIN).then(|| format!("{}m", 1_u64 << (each >> 20).ilog2()))
}

/// Returns whether direct I/O takes blocks of 512 bytes here; where that cannot be tried, a run
/// finds out.
pub(super) fn takes_512(file: &str) -> bool {
    let Ok(file) = rustix::fs::open(file, OFlags::RDONLY | OFlags::DIRECT, Mode::empty()) else {
        return true;
    };
    let mut memory = vec![0_u8; 8192];
    let start = memory.as_ptr().align_offset(4096);
    let Some(block) = memory.get_mut(start..start.saturating_add(512)) else { return true };
    rustix::io::pread(&file, block, 512) != Err(rustix::io::Errno::INVAL)
}

/// Returns the name of a scratch file; of several each has its own behind it.
fn file_name(purpose: Purpose, name: &str) -> String {
    match name {
        "" => purpose.file_name.to_owned(),
        name => format!("{}-{name}", purpose.file_name),
    }
}

/// Returns the scratch folders here whose command has ended without removing them.
fn leftovers(place: &Path, purpose: Purpose) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(place) else { return Vec::new() };
    let prefix = purpose.prefix();
    let is_left = |entry: &fs::DirEntry| {
        let name = entry.file_name();
        let pid = name.to_str().and_then(|name| name.strip_prefix(prefix.as_str()));
        let pid = pid.and_then(|pid| pid.parse::<u32>().ok());
        pid.is_some_and(|pid| !Path::new("/proc").join(pid.to_string()).exists())
    };
    entries.flatten().filter(is_left).map(|entry| entry.path()).collect()
}

/// Prints how to remove what a killed command left. It is never removed unasked: the number of a
/// process on another host says nothing here.
fn print_leftover(dir: &Path, purpose: Purpose) {
    let (dir, command) = (dir.display(), purpose.command);
    stream::print_message(&format!(
        "note: `{dir}` is left over from a {command} that was killed\nhint: remove it: rm -r \
         '{dir}'\n"
    ));
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Only what we make: the files, and the folder if nothing else is in it.
        for entry in fs::read_dir(&self.dir).into_iter().flatten().flatten() {
            let name = entry.file_name();
            if name.to_str().is_some_and(|name| name.starts_with(self.purpose.file_name)) {
                let _ = fs::remove_file(entry.path());
            }
        }
        let _ = fs::remove_dir(&self.dir);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEMO: Purpose = Purpose {
        command: "demo",
        file_name: "plimsoll-demo.scratch",
        other_folder: "plimsoll demo --dir DIR",
        size_option: "plimsoll demo --size ",
    };

    #[test]
    fn a_smaller_file_that_is_proposed_fits() {
        let mib = 1 << 20;
        assert_eq!(smaller(4 * mib, 1), None);
        assert_eq!(smaller(264 * mib, 1), None);
        assert_eq!(smaller(512 * mib, 1).as_deref(), Some("256m"));
        assert_eq!(smaller(511 * mib, 1).as_deref(), Some("128m"));
        assert_eq!(smaller(511 * mib, 2).as_deref(), Some("64m"));
    }

    #[test]
    fn only_folders_of_runs_that_have_ended_are_left() {
        let place = tempfile::tempdir().expect("a folder");
        // No process has the largest number.
        let left = place.path().join(format!("plimsoll-demo-{}", u32::MAX));
        let running = place.path().join(format!("plimsoll-demo-{}", std::process::id()));
        for dir in [&left, &running, &place.path().join("plimsoll-demo-notes")] {
            fs::create_dir(dir).expect("it is ours");
        }
        assert_eq!(leftovers(place.path(), DEMO), std::slice::from_ref(&left));
        print_leftover(&left, DEMO);
        assert!(left.exists(), "nothing is removed unasked");
    }
}
