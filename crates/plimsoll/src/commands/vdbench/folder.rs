//! The output directory: made once, and every text goes to the end of its page at once.

use std::collections::HashSet;
use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use dialects::vdbench::output::{Moment, PAGES};
use units::system_text;

use crate::exit::Failure;
use crate::result_file;

/// Number of directories that `-o dir+` can make.
const NUMBERED_MAX: u32 = 999;
/// Name of the record beside the pages, without its ending.
pub(super) const RECORD: &str = "plimsoll";
/// What every page of results begins with, and every record. Nothing else is ever removed.
const PAGE_START: &[u8] = b"<title>Vdbench ";
const RECORD_START: &[u8] = b"{\n  \"schema\":";

/// An output directory.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    /// As in titles of pages.
    pub(super) name: String,
    /// The first failure to write.
    broken: Option<String>,
    /// It was not there before.
    pub(super) is_new: bool,
    /// Files that were made here: nothing else is written to.
    own: HashSet<String>,
    /// Held as long as pages are written, so that no other run takes the directory.
    _lock: Option<File>,
}

/// What a directory is made for.
#[derive(Clone, Copy, Debug)]
pub(super) struct FolderUse {
    /// There will be a record, too.
    pub(super) has_record: bool,
    /// Earlier results stay: a directory with some is refused.
    pub(super) keeps_results: bool,
}

impl Folder {
    /// Makes the directory that `-o` means. Pages of results in it are removed, where they may be.
    pub(super) fn make(
        wanted: &str,
        now: &Moment,
        FolderUse { has_record, keeps_results }: FolderUse,
    ) -> Result<Self, Failure> {
        if wanted.is_empty() {
            return Err(Failure::wrong_use("`-o` names no output directory").hint("write `-o DIR`"));
        }
        let path = if let Some(stem) = wanted.strip_suffix('+') {
            refuse_among_devices(wanted, Path::new(stem))?;
            return Folder::numbered(stem);
        } else if let Some(stem) = wanted.strip_suffix(".tod") {
            PathBuf::from(format!("{stem}.{}", now.compact()))
        } else {
            PathBuf::from(wanted)
        };
        refuse_among_devices(wanted, &path.join(PAGES[0]))?;
        let is_new = !path.exists();
        fs::create_dir_all(&path).map_err(|error| cannot(&path, &error))?;
        let lock = lock(&path)?;
        let earlier = results(&path).map_err(|error| cannot(&path, &error))?;
        if let Some(result) = earlier.first().filter(|_| keeps_results) {
            let result = result.display();
            let message = format!("`{result}` is there already, and `--readonly` removes nothing");
            return Err(Failure::wrong_use(message)
                .hint("name another output directory: -o DIR, or -o DIR+")
                .hint("or leave out `--readonly`"));
        }
        earlier.iter().try_for_each(fs::remove_file).map_err(|error| cannot(&path, &error))?;
        refuse_others(&path, has_record)?;
        Ok(Folder { is_new, _lock: lock, ..Folder::at(path) })
    }

    /// Makes the first of `dir001` to `dir999` that is not there.
    fn numbered(stem: &str) -> Result<Self, Failure> {
        for number in 1..=NUMBERED_MAX {
            let path = PathBuf::from(format!("{stem}{number:03}"));
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent).map_err(|error| cannot(parent, &error))?;
            }
            match fs::create_dir(&path) {
                Ok(()) => {
                    let lock = lock(&path)?;
                    return Ok(Folder { is_new: true, _lock: lock, ..Folder::at(path) });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(cannot(&path, &error)),
            }
        }
        let message = format!("`{stem}001` to `{stem}{NUMBERED_MAX}` are there already");
        Err(Failure::wrong_use(message).hint("remove old results, or name another directory"))
    }

    fn at(path: PathBuf) -> Self {
        let name = path.file_name().map_or_else(
            || path.to_string_lossy().into_owned(),
            |name| name.to_string_lossy().into_owned(),
        );
        Folder { path, name, is_new: false, broken: None, own: HashSet::new(), _lock: None }
    }

    /// Returns the full path.
    pub(super) fn full_path(&self) -> String {
        let full = fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
        full.to_string_lossy().into_owned()
    }

    /// Adds to the end of pages. Returns the first failure ever, once: the run goes on, and what
    /// the console shows is all there is then.
    pub(super) fn add(&mut self, pages: &[(String, String)]) -> Option<String> {
        let mut first = None;
        for (page, text) in pages {
            if let Err(error) = self.append(page, text) {
                first = first.or(self.note(page, &error));
            }
        }
        first
    }

    /// Adds to the end of a page, which is made if it was not.
    fn append(&mut self, page: &str, text: &str) -> io::Result<()> {
        let path = self.path.join(file_name(page));
        let is_own = self.own.contains(page);
        let file = File::options().append(true).create(true).create_new(!is_own).open(path);
        file.map_err(|error| if is_own { error } else { foreign(error) })?
            .write_all(text.as_bytes())?;
        if !is_own {
            self.own.insert(page.to_owned());
        }
        Ok(())
    }

    /// Writes pages anew. Returns the first failure ever, once.
    pub(super) fn replace(&mut self, pages: &[(String, String)]) -> Option<String> {
        let mut first = None;
        for (page, text) in pages {
            if let Err(error) = self.put(page, text) {
                first = first.or(self.note(page, &error));
            }
        }
        first
    }

    /// Remembers what could not be written. Returns it if it is the first ever.
    pub(super) fn note(&mut self, page: &str, error: &io::Error) -> Option<String> {
        if self.broken.is_some() {
            return None;
        }
        let problem =
            format!("cannot write to `{}`: {}", self.path.join(page).display(), system_text(error));
        self.broken = Some(problem.clone());
        Some(problem)
    }

    /// Returns what could not be written first, if anything.
    pub(super) fn broken(&self) -> Option<&str> {
        self.broken.as_deref()
    }

    /// Writes a file whole, or not at all.
    pub(super) fn put(&mut self, name: &str, text: &str) -> io::Result<()> {
        let path = self.path.join(file_name(name));
        if !self.own.contains(name) && path.symlink_metadata().is_ok() {
            return Err(foreign(io::ErrorKind::AlreadyExists.into()));
        }
        result_file::write_between(&path, text.as_bytes())?;
        self.own.insert(name.to_owned());
        Ok(())
    }
}

/// Longest name of a file, bytes: that of Linux's file systems.
const FILE_NAME_MAX: usize = 255;

/// Returns the name of a page's file. The page has the name of a definition, which may hold
/// anything: it stays one file in this directory.
fn file_name(page: &str) -> String {
    let plain = |c: char| if c == '/' || c.is_control() { '_' } else { c };
    let name: String = page.chars().map(plain).collect();
    if name.len() <= FILE_NAME_MAX {
        return name;
    }
    let ending = [".histogram.html", ".stdout.html", ".html"];
    let ending = ending.into_iter().find(|ending| name.ends_with(ending)).unwrap_or_default();
    let stem = name.floor_char_boundary(FILE_NAME_MAX - ending.len());
    format!("{}{ending}", &name[..stem])
}

/// Says of a file that is there already whose it is not.
fn foreign(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::AlreadyExists => {
            io::Error::other("it holds a file that no run wrote, which is left alone")
        }
        _ => error,
    }
}

/// Takes a directory for this run alone. Where a file system has no locks, others are not kept out.
fn lock(path: &Path) -> Result<Option<File>, Failure> {
    let Ok(folder) = File::open(path) else { return Ok(None) };
    match folder.try_lock() {
        Ok(()) => Ok(Some(folder)),
        Err(TryLockError::Error(_)) => Ok(None),
        Err(TryLockError::WouldBlock) => {
            let message = format!("another run writes to `{}` now", path.display());
            Err(Failure::wrong_use(message)
                .hint("name another output directory: -o DIR, or -o DIR+"))
        }
    }
}

/// Refuses a directory with a file that is not of a run, but has the name of one that every run
/// writes.
fn refuse_others(path: &Path, has_record: bool) -> Result<(), Failure> {
    let record = has_record.then(|| format!("{RECORD}.json"));
    let names = PAGES.iter().map(|page| (*page).to_owned()).chain(record);
    for name in names {
        let other = path.join(name);
        if other.symlink_metadata().is_ok() {
            let message = format!("`{}` exists, and no run wrote it", other.display());
            return Err(
                Failure::wrong_use(message).hint("move it away, or name another one: -o DIR")
            );
        }
    }
    Ok(())
}

/// Refuses a directory in which this file, or which itself, would lie among devices.
fn refuse_among_devices(wanted: &str, path: &Path) -> Result<(), Failure> {
    result_file::refuse_among_devices(path).map_err(|error| cannot(Path::new(wanted), &error))
}

fn cannot(path: &Path, error: &io::Error) -> Failure {
    Failure::wrong_use(format!(
        "cannot make the output directory `{}`: {}",
        path.display(),
        system_text(error)
    ))
    .hint("name another one: -o DIR")
}

/// Returns earlier results: files named `*.html` that begin as pages do and, where there is such a
/// page, the records beside them. What is in folders below is none.
fn results(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let (mut pages, mut records) = (Vec::new(), Vec::new());
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        if !entry.file_type()?.is_file() {
            continue;
        }
        let is_html = path.extension().is_some_and(|extension| extension == "html");
        if is_html && begins(&path, PAGE_START) {
            pages.push(path);
        } else if is_record(&entry.file_name().to_string_lossy()) && begins(&path, RECORD_START) {
            records.push(path);
        }
    }
    if pages.is_empty() {
        records.clear();
    }
    pages.append(&mut records);
    Ok(pages)
}

/// Returns whether a file is named as a record: `plimsoll.json`, `plimsoll-002.json`.
fn is_record(name: &str) -> bool {
    let number = name.strip_prefix(RECORD).and_then(|rest| rest.strip_suffix(".json"));
    number.is_some_and(|number| {
        let digits = number.strip_prefix('-').unwrap_or(number);
        number.is_empty() || number.len() > digits.len() && is_number(digits)
    })
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn begins(path: &Path, start: &[u8]) -> bool {
    let mut found = vec![0; start.len()];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut found));
    read.is_ok() && found == start
}
