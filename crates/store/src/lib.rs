//! The run store: one SQLite file that keeps every run, written as the run goes.
//!
//! A run is there from its start on. While it goes, its intervals are appended and the record as it
//! stands is renewed; when it ends, its final record takes that place. A run whose program was
//! killed is found as interrupted by the next program that looks, with what was measured until
//! then.
//!
//! Several programs may write at once: SQLite's write-ahead log lets readers go on, and a writer
//! waits for another one. Nothing here is on the path of an I/O.
//!
//! Never here: measuring, text for people.
//!
//! Tests: `tests/`.

mod find;
mod live;
mod meta;
#[cfg(test)]
mod misuse;
mod owner;
mod runs;
mod schema;
mod select;
mod series;

pub use find::{FindError, RunSelector};
pub use live::{Begin, Imported, Live};
pub use runs::{Filter, RunRow, STEPS_MAX, Source, State, StepFigures, Totals};
pub use select::{RunsSelector, can_be_found, is_name};

use std::fs;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags};
use units::system_text;

/// How long one program waits for another one that writes.
const BUSY: Duration = Duration::from_secs(30);

/// What SQLite takes at once for the file by which programs share a store.
const SHARED_BYTES: u64 = 32 << 10;

/// The store's file in a folder of the user's data, such as `~/.local/share`.
pub const FILE: &str = "plimsoll/runs.db";

/// Why the store could not be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file or its folder cannot be made or opened.
    #[error("cannot open the run store {}: {}", path.display(), system_text(source))]
    Open {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The file is no run store.
    #[error("{} is not a run store: it is {what}", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What it is instead.
        what: String,
    },
    /// The file was written by a newer version.
    #[error(
        "{} was written by a newer version of plimsoll (its layout is {found}, \
         this one knows {known})", path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Number of its layout.
        found: i64,
        /// Number of the newest layout that this version knows.
        known: i64,
    },
    /// Nothing more fits onto the disk that the store is on.
    #[error(
        "the disk of the run store {} is full: make room there (what was kept before is still \
         there)", path.display()
    )]
    DiskFull {
        /// The store's file.
        path: PathBuf,
    },
    /// SQLite could not do what was asked: read-only file, damage.
    #[error("the run store: {0}")]
    Sql(#[from] rusqlite::Error),
    /// What lies in the store cannot be read.
    #[error("run {id} in the store is damaged: {what}")]
    Damaged {
        /// The run.
        id: i64,
        /// What is wrong.
        what: String,
    },
}

/// An open store.
#[derive(Debug)]
pub struct Store {
    db: Connection,
    path: PathBuf,
}

/// Header of a file of SQLite, bytes (<https://sqlite.org/fileformat.html>).
const HEADER_BYTES: u64 = 100;

impl Store {
    /// Opens a store, and makes it where there is none: the file for its owner only, as commands
    /// and names of machines stand in it.
    pub fn open(path: &Path) -> Result<Store, StoreError> {
        let failed = |source| StoreError::Open { path: path.to_owned(), source };
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        if let Some(folder) = folder {
            let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
            made.map_err(failed)?;
        }
        // One at a time makes the file and brings it to the newest layout. The folder is locked and
        // not the file: to close a file that SQLite has open takes its locks away.
        let turn = fs::File::open(folder.unwrap_or(Path::new("."))).map_err(failed)?;
        turn.lock().map_err(failed)?;
        let mut options = fs::OpenOptions::new();
        match options.write(true).create_new(true).mode(0o600).open(path) {
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
                return Err(failed(error));
            }
            _ => {}
        }
        // A device would be overwritten.
        let metadata = fs::metadata(path).map_err(failed)?;
        match metadata.file_type() {
            // SQLite takes a file that ends within its first header for an empty one.
            kind if kind.is_file() && (1..HEADER_BYTES).contains(&metadata.len()) => {
                return Err(schema::no_sqlite(path));
            }
            kind if kind.is_file() => {}
            kind if kind.is_dir() => {
                return Err(failed(std::io::ErrorKind::IsADirectory.into()));
            }
            _ => return Err(failed(std::io::Error::other("it is no file"))),
        }
        Store::set_up(Connection::open(path)?, path)
    }

    /// Opens a store that is there, to read. Returns `None` where there is none. One on a read-only
    /// file system or on a full disk can be read, too, if this version's layout is in it.
    pub fn open_existing(path: &Path) -> Result<Option<Store>, StoreError> {
        match fs::metadata(path) {
            Ok(_) if is_on_read_only(path) => Store::set_up(unchanging(path)?, path).map(Some),
            Ok(_) => match Store::open(path) {
                Err(StoreError::DiskFull { .. }) => Store::set_up(alone(path)?, path).map(Some),
                opened => opened.map(Some),
            },
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(StoreError::Open { path: path.to_owned(), source }),
        }
    }

    fn set_up(mut db: Connection, path: &Path) -> Result<Store, StoreError> {
        db.busy_timeout(BUSY)?;
        schema::migrate(&mut db, path).map_err(|error| error.at(path))?;
        Ok(Store { db, path: path.to_owned() })
    }

    /// Returns where the store is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl StoreError {
    /// Returns what this means for a store in this place: SQLite says of a full disk, as of much
    /// else, that I/O failed where a file was to grow that it shares with others.
    fn at(self, path: &Path) -> Self {
        let StoreError::Sql(error) = &self else { return self };
        let is_full = match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => true,
            Some(ErrorCode::SystemIoFailure) => rustix::fs::statvfs(path)
                .is_ok_and(|disk| disk.f_bavail * disk.f_frsize < SHARED_BYTES),
            _ => false,
        };
        if is_full { StoreError::DiskFull { path: path.to_owned() } } else { self }
    }
}

/// Returns whether a file lies where nothing can be written: an archive, a snapshot.
fn is_on_read_only(path: &Path) -> bool {
    let flag = rustix::fs::StatVfsMountFlags::RDONLY;
    rustix::fs::statvfs(path).is_ok_and(|found| found.f_flag.contains(flag))
}

/// Opens a file for this program alone, which takes no file to share it by.
fn alone(path: &Path) -> Result<Connection, StoreError> {
    let db = Connection::open(path)?;
    db.pragma_update(None, "locking_mode", "exclusive")?;
    Ok(db)
}

/// Opens a file that nothing changes, without the log beside it that readers otherwise share.
fn unchanging(path: &Path) -> Result<Connection, StoreError> {
    let mut uri = "file:".to_owned();
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => {
                uri.push(char::from(*byte));
            }
            other => uri.push_str(&format!("%{other:02X}")),
        }
    }
    uri.push_str("?immutable=1");
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    Ok(Connection::open_with_flags(uri, flags)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The way to a store on a read-only file system, which a test cannot mount.
    #[test]
    fn a_store_that_is_not_changed_is_read_and_not_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("100% of it? #1.db");
        drop(Store::open(&path).unwrap());
        let before = fs::read(&path).unwrap();
        let store = Store::set_up(unchanging(&path).unwrap(), &path).unwrap();
        assert!(store.runs(&Filter::default()).unwrap().is_empty());
        let refused = store.delete(1);
        assert!(matches!(refused, Err(StoreError::Sql(_))), "{refused:?}");
        drop(store);
        assert_eq!(fs::read(&path).unwrap(), before);
        assert!(!is_on_read_only(&path));
    }
}
