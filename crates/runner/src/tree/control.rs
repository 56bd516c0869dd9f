//! The control file of an anchor: which tree was made there, and what is there of it.
//!
//! It is that of Vdbench 5.04.07, so that its trees are ours and ours are its: a structure, a line
//! per folder, a line per run of files in the same state, and the sum of all characters. The file
//! is replaced as a whole. While something changes the tree it says `when start`: a run that finds
//! that after a kill looks at the disk instead.
//!
//! Vdbench reads two words of the first line. What it does not write down, the masks of names and
//! the seed, stands behind them.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use engine::PartFile;
use pattern::tree::Tree;
use plan::tree::{FileSizes, TreeSpec};
use units::system_text;
use worker::{FileFlags, TreeState};

/// Name of the control file.
pub(super) const NAME: &str = "vdb_control.file";

/// Name of the file that becomes the control file.
pub(super) const NEW_NAME: &str = "vdb_control.new";

/// A file that Vdbench puts beside its control file.
pub(super) const NO_DISMOUNT_NAME: &str = "no_dismount.txt";

/// How a control file begins that an earlier version wrote, whose files had other numbers.
const OLDER_HEAD: &str = "plimsoll tree ";

/// Largest control file that is read: that of 128 million files in the worst order.
const BYTES_MAX: u64 = 1 << 30;

/// What an anchor's control file says.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Control {
    /// Structure, without name, anchor and what limits its use. Masks and seed are those of
    /// `ControlFile::Ours` alone where Vdbench wrote it; see [`Control::fits`].
    pub(super) structure: TreeSpec,
    /// Masks and seed are known.
    has_names: bool,
    /// What is there; `None` where that is not known.
    pub(super) contents: Option<Contents>,
}

/// What is there.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(super) struct Contents {
    folders: Vec<bool>,
    /// Files in a row that are in the same state.
    files: Vec<(u32, FileState)>,
}

/// State of a file as the control file has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FileState {
    Missing,
    Full,
    Bytes(u64),
}

/// What was found in place of a control file.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ControlFile {
    Nothing,
    /// Of this program, or of Vdbench.
    Ours(Box<Control>),
    /// Of an earlier version of this program.
    Older,
    /// A control file that others made.
    OfOthers,
}

/// Returns what of a specification decides which folders and files there are.
pub(super) fn structure_of(spec: &TreeSpec) -> TreeSpec {
    TreeSpec {
        depth: spec.depth,
        width: spec.width,
        files: spec.files,
        bottom_only: spec.bottom_only,
        bare_folders: spec.bare_folders,
        sizes: spec.sizes.clone(),
        file_mask: spec.file_mask.clone(),
        folder_mask: spec.folder_mask.clone(),
        seed: spec.seed,
        ..TreeSpec::default()
    }
}

/// Describes a structure in one line, for messages.
pub(super) fn describe(structure: &TreeSpec) -> String {
    let TreeSpec { depth, width, files, .. } = structure;
    let sizes = match &structure.sizes {
        FileSizes::Fixed(bytes) => bytes.to_string(),
        FileSizes::Average(bytes) => format!("({bytes},0)"),
        FileSizes::Split(parts) => {
            let parts = parts.iter().map(|(bytes, share)| format!("{bytes},{share}"));
            format!("({})", parts.collect::<Vec<_>>().join(","))
        }
    };
    let TreeSpec { file_mask, folder_mask, .. } = structure;
    let defaults = plan::tree::DEFAULT_MASKS;
    let mask = if (file_mask.as_str(), folder_mask.as_str()) == defaults {
        String::new()
    } else {
        format!(" mask=({file_mask},{folder_mask})")
    };
    format!(
        "depth={depth} width={width} files={files} distribution={} sizes={sizes}{mask}",
        distribution(structure)
    )
}

fn distribution(structure: &TreeSpec) -> &'static str {
    if structure.bottom_only { "bottom" } else { "all" }
}

/// Returns the sizes as the control file lists them: whole bytes and whole percent.
fn listed_sizes(sizes: &FileSizes) -> Vec<u64> {
    match sizes {
        FileSizes::Fixed(bytes) => vec![*bytes],
        FileSizes::Average(bytes) => vec![*bytes, 0],
        FileSizes::Split(parts) => {
            parts.iter().flat_map(|(bytes, share)| [*bytes, *share as u64]).collect()
        }
    }
}

fn sizes_listed(listed: &[u64]) -> Option<FileSizes> {
    match listed {
        [] => None,
        [bytes] => Some(FileSizes::Fixed(*bytes)),
        [bytes, 0] => Some(FileSizes::Average(*bytes)),
        pairs if pairs.len().is_multiple_of(2) => {
            let parts = pairs.chunks_exact(2).map(|pair| (pair[0], pair[1] as f64));
            Some(FileSizes::Split(parts.collect()))
        }
        _ => None,
    }
}

/// Reads the control file of an anchor.
///
/// # Errors
/// When it cannot be read, or is damaged.
pub(super) fn read(anchor: &Path) -> Result<ControlFile, String> {
    let path = anchor.join(NAME);
    let facts = match std::fs::symlink_metadata(&path) {
        Ok(facts) => facts,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Ok(ControlFile::Nothing);
        }
        Err(error) => {
            return Err(format!("cannot read `{}`: {}", path.display(), system_text(&error)));
        }
    };
    if !facts.is_file() || facts.len() > BYTES_MAX {
        return Ok(ControlFile::OfOthers);
    }
    let text = std::fs::read(&path)
        .map_err(|error| format!("cannot read `{}`: {}", path.display(), system_text(&error)))?;
    let Ok(text) = String::from_utf8(text) else { return Ok(ControlFile::OfOthers) };
    if text.starts_with(OLDER_HEAD) {
        return Ok(ControlFile::Older);
    }
    if !text.starts_with("when ") {
        return Ok(ControlFile::OfOthers);
    }
    let damaged = || {
        format!(
            "`{}` is damaged: remove what lies in `{}` yourself, or name another anchor",
            path.display(),
            anchor.display()
        )
    };
    Ok(ControlFile::Ours(Box::new(parse(&text).ok_or_else(damaged)?)))
}

fn parse(text: &str) -> Option<Control> {
    let (body, sum) = text.trim_end().rsplit_once("\nchecksum:")?;
    if sum.trim().parse::<u64>().ok()? != checksum(body) {
        return None;
    }
    let mut structure = TreeSpec::default();
    let mut contents = Contents::default();
    let mut sizes = Vec::new();
    let (mut is_closed, mut has_names) = (false, false);
    let mut lines = body.lines();
    for line in lines.by_ref() {
        let mut words = line.split_whitespace();
        let (key, value) = (words.next()?, words.next()?);
        match key {
            "when" => {
                is_closed = value == "end";
                has_names = parse_names(words, &mut structure)?;
            }
            "depth" => structure.depth = value.parse().ok()?,
            "width" => structure.width = value.parse().ok()?,
            "files" => structure.files = value.parse().ok()?,
            "dist" => structure.bottom_only = value == "bottom",
            "size" => sizes.push(value.parse().ok()?),
            "directory" => break,
            _ => return None,
        }
    }
    structure.sizes = sizes_listed(&sizes)?;
    for line in lines.by_ref() {
        match line.as_bytes().first()? {
            b'y' => contents.folders.push(true),
            b'n' => contents.folders.push(false),
            _ => break,
        }
    }
    for line in lines {
        contents.add_files(line)?;
    }
    Some(Control { structure, has_names, contents: is_closed.then_some(contents) })
}

/// Reads what this program adds to the first line. Returns whether it is there.
fn parse_names<'a>(words: impl Iterator<Item = &'a str>, structure: &mut TreeSpec) -> Option<bool> {
    let mut is_there = false;
    for (key, value) in words.filter_map(|word| word.split_once('=')) {
        match key {
            "file_mask" => structure.file_mask = decoded(value)?,
            "folder_mask" => structure.folder_mask = decoded(value)?,
            "bare" => structure.bare_folders = value.parse().ok()?,
            "seed" => {
                structure.seed = value.parse().ok()?;
                is_there = true;
            }
            _ => {}
        }
    }
    Some(is_there)
}

impl Control {
    /// Returns whether a tree of this structure is the one that is described.
    pub(super) fn fits(&self, asked: &TreeSpec) -> bool {
        let listed = TreeSpec {
            sizes: sizes_listed(&listed_sizes(&asked.sizes)).unwrap_or(asked.sizes.clone()),
            ..asked.clone()
        };
        self.named_as(asked) == listed
    }

    /// Returns the structure; with masks and seed of the one that is asked for, where the file does
    /// not tell them.
    pub(super) fn named_as(&self, asked: &TreeSpec) -> TreeSpec {
        if self.has_names {
            return self.structure.clone();
        }
        TreeSpec {
            file_mask: asked.file_mask.clone(),
            folder_mask: asked.folder_mask.clone(),
            seed: asked.seed,
            ..self.structure.clone()
        }
    }
}

impl Contents {
    /// Adds the files that a line describes.
    fn add_files(&mut self, line: &str) -> Option<()> {
        let mut words = line.split_whitespace();
        let word = words.next()?;
        let (n, state) = match word {
            "=" => (words.next()?.parse().ok()?, self.files.last()?.1),
            _ if word.starts_with('n') => (1, FileState::Missing),
            _ if word.starts_with('f') => (1, FileState::Full),
            _ => (1, FileState::Bytes(word.parse().ok()?)),
        };
        match self.files.last_mut() {
            Some(last) if last.1 == state => last.0 = last.0.checked_add(n)?,
            _ => self.files.push((n, state)),
        }
        Some(())
    }

    /// Sets a state of nothing to these contents. Returns false, having set part of them, where
    /// they do not fit the tree.
    pub(super) fn apply(&self, state: &TreeState) -> bool {
        let tree = state.tree();
        let n_files: u64 = self.files.iter().map(|run| u64::from(run.0)).sum();
        if self.folders.len() != tree.n_folders() as usize || n_files != u64::from(tree.n_files()) {
            return false;
        }
        for (folder, exists) in (0..).zip(&self.folders) {
            state.set_folder(folder, *exists);
        }
        let files = self.files.iter().flat_map(|(n, of_file)| (0..*n).map(move |_| of_file));
        for (file, of_file) in (0..).zip(files) {
            let whole_bytes = tree.size_bytes(file);
            let now_bytes = match of_file {
                FileState::Missing => None,
                FileState::Full => Some(whole_bytes),
                FileState::Bytes(bytes) => Some(*bytes),
            };
            state.set_file(file, FileFlags::of_size(now_bytes, whole_bytes));
        }
        true
    }
}

/// Writes the control file of an anchor: with the contents of a state, or saying that they are
/// about to change.
pub(super) fn write(
    anchor: &Path,
    structure: &TreeSpec,
    contents: Option<&TreeState>,
) -> std::io::Result<()> {
    let when = if contents.is_some() { "end" } else { "start" };
    let mut text = head(when, anchor, structure);
    match contents {
        Some(state) => push_contents(state, anchor, &mut text),
        None => text.push_str("\ndirectory status 0\nfile status 0"),
    }
    let sum = checksum(&text);
    // A blank at the end, as Vdbench has it.
    let _infallible = writeln!(text, "\nchecksum: {sum} ");
    let path = anchor.join(NAME);
    match PartFile::replace(&path, NEW_NAME, 0o666, text.as_bytes()) {
        // A full disk has no room for another file, but this text is shorter than what is there.
        Err(error) if is_full(&error) && contents.is_none() => overwrite(&path, &text),
        written => written,
    }
}

/// Returns the lines that tell the structure, in ASCII: Java reads them in whatever it takes for
/// the locale's characters.
fn head(when: &str, anchor: &Path, structure: &TreeSpec) -> String {
    let TreeSpec { depth, width, files, seed, .. } = structure;
    let file_mask = encoded(&structure.file_mask);
    let folder_mask = encoded(&structure.folder_mask);
    let anchor: String = anchor.to_string_lossy().chars().map(plain).collect();
    let bare = match structure.bare_folders {
        0 => String::new(),
        n => format!(" bare={n}"),
    };
    let mut text = format!(
        "when  {when} anchor={anchor} plimsoll file_mask={file_mask} folder_mask={folder_mask} \
         seed={seed}{bare}\ndepth {depth}\nwidth {width}\nfiles {files}\ndist  {}",
        distribution(structure)
    );
    for size in listed_sizes(&structure.sizes) {
        let _infallible = write!(text, "\nsize  {size}");
    }
    text
}

fn plain(c: char) -> char {
    if c.is_ascii_graphic() { c } else { '?' }
}

/// Marks a character of a mask that could not stand in a line of words, by six digits behind it.
const MARK: char = '~';

fn encoded(mask: &str) -> String {
    let mut text = String::new();
    for c in mask.chars() {
        if c.is_ascii_graphic() && c != MARK {
            text.push(c);
        } else {
            let _infallible = write!(text, "{MARK}{:06x}", u32::from(c));
        }
    }
    text
}

fn decoded(text: &str) -> Option<String> {
    let mut parts = text.split(MARK);
    let mut mask = parts.next()?.to_owned();
    for part in parts {
        let (digits, rest) = part.split_at_checked(6)?;
        mask.push(char::from_u32(u32::from_str_radix(digits, 16).ok()?)?);
        mask.push_str(rest);
    }
    Some(mask)
}

fn push_contents(state: &TreeState, anchor: &Path, text: &mut String) {
    let tree = state.tree();
    let _infallible = write!(text, "\ndirectory status {}", tree.n_folders());
    for folder in 0..tree.n_folders() {
        text.push_str(if state.has_folder(folder) { "\ny" } else { "\nn" });
    }
    let _infallible = write!(text, "\nfile status {}", tree.n_files());
    let mut last = None;
    let mut n_more = 0_u32;
    for file in 0..tree.n_files() {
        let now = match state.file(file) {
            FileFlags { exists: false, .. } => FileState::Missing,
            FileFlags { is_full: true, .. } => FileState::Full,
            FileFlags { has_data: true, .. } => FileState::Bytes(bytes_of(tree, file, anchor)),
            _ => FileState::Bytes(0),
        };
        if last == Some(now) {
            n_more += 1;
            continue;
        }
        push_repeats(&mut n_more, text);
        let _infallible = match now {
            FileState::Missing => write!(text, "\nn"),
            FileState::Full => write!(text, "\nf"),
            FileState::Bytes(bytes) => write!(text, "\n{bytes}"),
        };
        last = Some(now);
    }
    push_repeats(&mut n_more, text);
}

fn push_repeats(n_more: &mut u32, text: &mut String) {
    if *n_more > 0 {
        let _infallible = write!(text, "\n= {n_more}");
    }
    *n_more = 0;
}

/// Returns the size of a file that is written in part. Few are, so that each is looked at.
fn bytes_of(tree: &Tree, file: u32, anchor: &Path) -> u64 {
    let mut path = Vec::new();
    tree.push_file_path(file, &mut path);
    let path = anchor.join(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(&path));
    std::fs::symlink_metadata(path).map_or(0, |facts| facts.len())
}

fn is_full(error: &std::io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENOSPC | libc::EDQUOT))
}

/// Writes a text into a file that is there, durably.
fn overwrite(path: &Path, text: &str) -> std::io::Result<()> {
    let mut file = File::options().write(true).custom_flags(libc::O_NOFOLLOW).open(path)?;
    file.write_all(text.as_bytes())?;
    file.set_len(text.len() as u64)?;
    file.sync_all()
}

/// Finds what was cut off or mixed up, not what was forged: the sum of all characters but the ends
/// of lines, as Vdbench adds them up.
fn checksum(text: &str) -> u64 {
    let chars = text.encode_utf16().filter(|unit| *unit != u16::from(b'\n'));
    chars.map(u64::from).sum()
}
