//! The output directory: made once, and every text goes to the end of its page at once.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use dialects::vdbench::output::Moment;

use crate::exit::Failure;

/// Number of directories that `-o dir+` can make.
const NUMBERED_MAX: u32 = 999;
/// Name of the record beside the pages, without its ending.
pub(super) const RECORD: &str = "plimsoll";
/// What every page of results begins with. Nothing else is ever removed.
const PAGE_START: &[u8] = b"<title>Vdbench ";

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
}

impl Folder {
    /// Makes the directory that `-o` means. Pages of results in it are removed.
    pub(super) fn make(wanted: &str, now: &Moment) -> Result<Self, Failure> {
        if wanted.is_empty() {
            return Err(Failure::wrong_use("`-o` names no output directory").hint("write `-o DIR`"));
        }
        let path = if let Some(stem) = wanted.strip_suffix('+') {
            return Folder::numbered(stem);
        } else if let Some(stem) = wanted.strip_suffix(".tod") {
            PathBuf::from(format!("{stem}.{}", now.compact()))
        } else {
            PathBuf::from(wanted)
        };
        let is_new = !path.exists();
        fs::create_dir_all(&path).map_err(|error| cannot(&path, &error))?;
        remove_pages(&path).map_err(|error| cannot(&path, &error))?;
        Ok(Folder { is_new, ..Folder::at(path) })
    }

    /// Makes the first of `dir001` to `dir999` that is not there.
    fn numbered(stem: &str) -> Result<Self, Failure> {
        for number in 1..=NUMBERED_MAX {
            let path = PathBuf::from(format!("{stem}{number:03}"));
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent).map_err(|error| cannot(parent, &error))?;
            }
            match fs::create_dir(&path) {
                Ok(()) => return Ok(Folder { is_new: true, ..Folder::at(path) }),
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
        Folder { path, name, is_new: false, broken: None }
    }

    /// Returns the full path.
    pub(super) fn full_path(&self) -> String {
        let full = fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
        full.to_string_lossy().into_owned()
    }

    /// Adds to the end of pages. Returns the first failure ever, once: the run goes on, and what
    /// the console shows is all there is then.
    pub(super) fn add(&mut self, pages: &[(String, String)]) -> Option<String> {
        let written = pages.iter().map(|(page, text)| (page, append(&self.path.join(page), text)));
        let failed: Vec<(&String, io::Error)> =
            written.filter_map(|(page, written)| Some((page, written.err()?))).collect();
        failed.into_iter().find_map(|(page, error)| self.note(page, &error))
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
        let problem = format!("cannot write to `{}`: {error}", self.path.join(page).display());
        self.broken = Some(problem.clone());
        Some(problem)
    }

    /// Returns what could not be written first, if anything.
    pub(super) fn broken(&self) -> Option<&str> {
        self.broken.as_deref()
    }

    /// Writes a file whole, or not at all.
    pub(super) fn put(&self, name: &str, text: &str) -> io::Result<()> {
        let (path, part) = (self.path.join(name), self.path.join(format!("{name}.part")));
        let written = fs::write(&part, text).and_then(|()| fs::rename(&part, &path));
        if written.is_err() {
            let _ = fs::remove_file(&part);
        }
        written
    }
}

fn append(path: &Path, text: &str) -> io::Result<()> {
    File::options().append(true).create(true).open(path)?.write_all(text.as_bytes())
}

fn cannot(path: &Path, error: &io::Error) -> Failure {
    Failure::wrong_use(format!("cannot make the output directory `{}`: {error}", path.display()))
        .hint("name another one: -o DIR")
}

/// Removes earlier results: files named `*.html` that begin as pages do and, where there was such a
/// page, the records beside them. What is in folders below stays.
fn remove_pages(folder: &Path) -> io::Result<()> {
    let (mut pages, mut records) = (Vec::new(), Vec::new());
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        if !entry.file_type()?.is_file() {
            continue;
        }
        let is_html = path.extension().is_some_and(|extension| extension == "html");
        if is_html && is_page(&path) {
            pages.push(path);
        } else if is_record(&entry.file_name().to_string_lossy()) {
            records.push(path);
        }
    }
    if pages.is_empty() {
        records.clear();
    }
    pages.iter().chain(&records).try_for_each(fs::remove_file)
}

/// Says whether a file is named as a record: `plimsoll.json`, `plimsoll-002.json`.
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

fn is_page(path: &Path) -> bool {
    let mut start = [0; PAGE_START.len()];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && start == *PAGE_START
}
