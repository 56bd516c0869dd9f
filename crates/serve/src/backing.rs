//! The folder that holds the data of an emulated machine's volumes.
//!
//! ```text
//! DIR/data/           the files: of the only volume, or one folder per mount path
//! DIR/undo            what a crash would take back; of no use without the process, or a rollback
//! DIR/rollback        what a crash has begun to take back; left by a process that was killed in it
//! DIR/crashes         how many crashes the data have been through
//! DIR/log             what the serving process had to say
//! DIR/volumes         mount paths and sizes of the volumes that the data belong to
//! DIR/lock            held while a process serves
//! ```
//!
//! Files are ordinary sparse files with their names, owners and times, so that a killed process
//! loses nothing and the data can be looked at without us.

mod claim;

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{FlockOperation, flock, statvfs};
use units::system_text;

use crate::durable;
use crate::holders::{Holder, holders};
use crate::store::rollback::Marker;

/// Why a backing cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum BackingError {
    /// Another process serves it.
    #[error("`{}` is in use by another process that serves a volume", path.display())]
    InUse {
        /// The folder.
        path: PathBuf,
    },
    /// The folder holds something else.
    #[error("`{}` holds files, but no volume", path.display())]
    Foreign {
        /// The folder.
        path: PathBuf,
    },
    /// It is something else than a folder.
    #[error("`{}` is not a folder", path.display())]
    NotFolder {
        /// What was named.
        path: PathBuf,
    },
    /// A mount path of the design is none.
    #[error("volume `{mount}` has no mount path that a folder could have")]
    MountPath {
        /// What the design says.
        mount: String,
    },
    /// The disk has no room at all.
    #[error("the disk under `{}` is full", path.display())]
    Full {
        /// The folder.
        path: PathBuf,
    },
    /// The data are those of other volumes.
    #[error(
        "`{}` holds the data of another design, with {}; this one has {}",
        path.display(),
        has.join(", "),
        asked.join(", ")
    )]
    OtherVolumes {
        /// The folder.
        path: PathBuf,
        /// Mount paths that the data belong to.
        has: Vec<String>,
        /// Mount paths of the design.
        asked: Vec<String>,
    },
    /// The data are those of a volume of another size.
    #[error(
        "`{}` holds the data of `{mount}` with {} MiB; this design gives it {} MiB",
        path.display(),
        has_bytes >> 20,
        asked_bytes >> 20
    )]
    OtherSize {
        /// The folder.
        path: PathBuf,
        /// The volume.
        mount: String,
        /// Size that the data were written with, bytes.
        has_bytes: u64,
        /// Size in the design.
        asked_bytes: u64,
    },
    /// The system refused.
    #[error("`{}` cannot be used: {}", path.display(), system_text(source))]
    Io {
        /// What was opened.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// A backing folder, held by this process.
#[derive(Debug)]
pub struct Backing {
    dir: PathBuf,
    takes_other_sizes: bool,
    lock: File,
}

impl Drop for Backing {
    fn drop(&mut self) {
        // A program that is being started holds a copy of all open files until it really begins,
        // and closing ours alone would leave the lock with it.
        let _ = flock(&self.lock, FlockOperation::Unlock);
    }
}

impl Backing {
    /// Opens a folder, or makes it: readable by its owner only.
    pub fn open(dir: &Path) -> Result<Self, BackingError> {
        let io = |source: io::Error| classify(dir, source);
        if dir.exists() && !dir.is_dir() {
            return Err(BackingError::NotFolder { path: dir.to_owned() });
        }
        fs::DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(io)?;
        let dir = dir.canonicalize().map_err(io)?;
        let lock_path = dir.join("lock");
        let is_new = !lock_path.exists();
        // The folder may be a file system of its own.
        let is_ours = |name: &OsStr| name == "lost+found";
        let mut found = fs::read_dir(&dir).map_err(io)?.flatten();
        if is_new && found.any(|entry| !is_ours(&entry.file_name())) {
            return Err(BackingError::Foreign { path: dir });
        }
        let mut options = OpenOptions::new();
        let lock = options.create(true).truncate(false).write(true).mode(0o600).open(&lock_path);
        let lock = lock.map_err(io)?;
        if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err() {
            return Err(BackingError::InUse { path: dir });
        }
        let backing = Backing { dir, takes_other_sizes: false, lock };
        backing.close_to_others().map_err(io)?;
        fs::create_dir_all(backing.data()).map_err(io)?;
        backing.probe()?;
        Ok(backing)
    }

    /// Closes the folder to other users, if it is ours: files that programs and clients make below
    /// `data` have the owners that they name, setuid included, and must be reached through the
    /// volumes only.
    fn close_to_others(&self) -> io::Result<()> {
        let found = fs::metadata(&self.dir)?;
        let is_ours = found.uid() == rustix::process::geteuid().as_raw();
        if is_ours && found.mode() & 0o077 != 0 {
            fs::set_permissions(&self.dir, fs::Permissions::from_mode(0o700))?;
        }
        Ok(())
    }

    /// Returns whether a process serves from a folder now.
    pub fn is_in_use(dir: &Path) -> bool {
        let lock = File::open(dir.join("lock"));
        lock.is_ok_and(|lock| flock(&lock, FlockOperation::NonBlockingLockShared).is_err())
    }

    /// Returns the processes that serve from a folder now: those of other users only for root.
    pub fn servers(dir: &Path) -> Vec<Holder> {
        // A path leads to its file's name as processes have it open.
        dir.join("lock").canonicalize().map_or_else(|_| Vec::new(), |lock| holders(&lock))
    }

    /// Writes something, so that a full disk is found before a volume is served from it.
    fn probe(&self) -> Result<(), BackingError> {
        let path = self.dir.join("probe");
        let probed = fs::write(&path, [1; 4096]);
        let removed = fs::remove_file(&path);
        probed.and(removed).map_err(|source| classify(&self.dir, source))
    }

    /// Returns the folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Returns the bytes that the file system of the folder has room for; `None` if it does not
    /// tell.
    pub(crate) fn free_bytes(&self) -> Option<u64> {
        let found = statvfs(&self.dir).ok()?;
        Some(found.f_bavail.saturating_mul(found.f_frsize))
    }

    /// Returns the folder of the files.
    pub fn data(&self) -> PathBuf {
        self.dir.join("data")
    }

    /// Returns the file for messages of a process without a terminal.
    pub fn log(&self) -> PathBuf {
        self.dir.join("log")
    }

    /// Returns the place for the marker of a rollback.
    pub(crate) fn marker(&self) -> Marker {
        Marker::new(&self.dir)
    }

    /// Goes on with the rollback of a crash in which a process was killed. Returns the bytes that
    /// the crash took.
    pub(crate) fn resume(&self) -> Result<Option<u64>, BackingError> {
        let resumed = self.marker().resume(&self.undo_path(), &self.data());
        resumed.map_err(|source| classify(&self.dir, source))
    }

    fn crashes_path(&self) -> PathBuf {
        self.dir.join("crashes")
    }

    /// Returns how many crashes the data have been through.
    pub(crate) fn n_crashes(&self) -> Result<u64, BackingError> {
        let path = self.crashes_path();
        let read = match fs::read_to_string(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
            read => read,
        };
        let parse = |text: String| {
            let no_number = |_| {
                io::Error::new(
                    io::ErrorKind::InvalidData,
                    "it does not hold a \
             number",
                )
            };
            text.trim().parse().map_err(no_number)
        };
        read.and_then(parse).map_err(|source| classify(&path, source))
    }

    /// Notes how many crashes the data have been through, with the one that begins. When this
    /// returns it lasts.
    pub(crate) fn note_crashes(&self, n_crashes: u64) -> io::Result<()> {
        durable::replace(&self.dir, "crashes", format!("{n_crashes}\n").as_bytes())
    }

    fn undo_path(&self) -> PathBuf {
        self.dir.join("undo")
    }

    /// Opens the file for what a crash takes back, empty.
    pub(crate) fn undo(&self) -> Result<File, BackingError> {
        let path = self.undo_path();
        let mut options = OpenOptions::new();
        let options = options.create(true).truncate(true).read(true).write(true).mode(0o600);
        options.open(&path).map_err(|source| classify(&path, source))
    }

    /// Makes the folders of volumes and returns them: the whole of `data` for one volume, a folder
    /// by mount path for each of several.
    pub fn volume_dirs(&self, mounts: &[&str]) -> Result<Vec<PathBuf>, BackingError> {
        if mounts.len() == 1 {
            return Ok(vec![self.data()]);
        }
        let dir = |mount: &&str| {
            let path = self.data().join(relative(mount)?);
            fs::create_dir_all(&path).map_err(|source| classify(&path, source))?;
            Ok(path)
        };
        mounts.iter().map(dir).collect()
    }
}

/// Turns an error into the clearest.
fn classify(path: &Path, source: io::Error) -> BackingError {
    if matches!(source.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) {
        return BackingError::Full { path: path.to_owned() };
    }
    BackingError::Io { path: path.to_owned(), source }
}

/// Returns a mount path below a root.
pub(crate) fn relative(mount: &str) -> Result<PathBuf, BackingError> {
    let mut path = PathBuf::new();
    for component in Path::new(mount).components() {
        match component {
            Component::Normal(name) => path.push(name),
            Component::RootDir | Component::CurDir => {}
            _ => return Err(BackingError::MountPath { mount: mount.to_owned() }),
        }
    }
    if path.as_os_str().is_empty() {
        return Err(BackingError::MountPath { mount: mount.to_owned() });
    }
    Ok(path)
}

/// Returns the bytes that the files below a folder occupy. Goes neither into other file systems nor
/// into the folders of other volumes.
pub(crate) fn occupied(dir: &Path, others: &[PathBuf]) -> io::Result<u64> {
    let device = fs::metadata(dir)?.dev();
    let mut linked = HashSet::new();
    let mut n_sectors = 0;
    let mut dirs = vec![dir.to_owned()];
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(&dir)? {
            let found = entry?.path();
            let attributes = match fs::symlink_metadata(&found) {
                Ok(attributes) => attributes,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            };
            if attributes.is_dir() {
                let is_other = attributes.dev() != device || others.contains(&found);
                dirs.extend((!is_other).then_some(found));
            } else if attributes.is_file()
                && (attributes.nlink() == 1 || linked.insert(attributes.ino()))
            {
                n_sectors += attributes.blocks();
            }
        }
    }
    Ok(n_sectors * 512)
}
