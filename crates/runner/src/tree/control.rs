//! The control file of an anchor: which tree was made there, and what is there of it.
//!
//! Text of a few lines, replaced as a whole. While something changes the tree the file says
//! `state=open`: whoever finds that after a kill looks at the disk instead.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use plan::tree::{FileSizes, TreeSpec};
use worker::{FileFlags, TreeState};

/// Name of the control file: that of Vdbench, whose scripts look for it.
pub(super) const NAME: &str = "vdb_control.file";

/// Name of the file that becomes the control file.
pub(super) const NEW_NAME: &str = "vdb_control.new";

/// First line of a control file of ours.
const HEAD: &str = "plimsoll tree 1";

/// Largest control file that is read: that of 128 million files in the worst order.
const BYTES_MAX: u64 = 1 << 30;

/// What an anchor's control file says.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Control {
    /// Structure, without name, anchor and what limits its use.
    pub(super) structure: TreeSpec,
    /// What is there; `None` where nobody knows.
    pub(super) contents: Option<Contents>,
}

/// What is there, as runs of equal letters.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(super) struct Contents {
    folders: Vec<(u32, u8)>,
    files: Vec<(u32, u8)>,
}

/// What was found in place of a control file.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Found {
    Nothing,
    Ours(Box<Control>),
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
        sizes: spec.sizes.clone(),
        file_mask: spec.file_mask.clone(),
        folder_mask: spec.folder_mask.clone(),
        seed: spec.seed,
        ..TreeSpec::default()
    }
}

/// Describes a structure in one line, for messages and for the file.
pub(super) fn describe(structure: &TreeSpec) -> String {
    let TreeSpec { depth, width, files, seed, .. } = structure;
    let sizes = match &structure.sizes {
        FileSizes::Fixed(bytes) => bytes.to_string(),
        FileSizes::Average(bytes) => format!("average:{bytes}"),
        FileSizes::Split(parts) => {
            let parts = parts.iter().map(|(bytes, share)| format!("{bytes}*{share}"));
            parts.collect::<Vec<_>>().join("+")
        }
    };
    let distribution = if structure.bottom_only { "bottom" } else { "all" };
    format!(
        "depth={depth} width={width} files={files} distribution={distribution} sizes={sizes} \
         seed={seed}"
    )
}

/// Reads the control file of an anchor.
///
/// # Errors
/// When it cannot be read, or is ours and damaged.
pub(super) fn read(anchor: &Path) -> Result<Found, String> {
    let path = anchor.join(NAME);
    let facts = match std::fs::symlink_metadata(&path) {
        Ok(facts) => facts,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Found::Nothing),
        Err(error) => return Err(format!("cannot read `{}`: {error}", path.display())),
    };
    if !facts.is_file() || facts.len() > BYTES_MAX {
        return Ok(Found::OfOthers);
    }
    let text = std::fs::read(&path)
        .map_err(|error| format!("cannot read `{}`: {error}", path.display()))?;
    let Ok(text) = String::from_utf8(text) else { return Ok(Found::OfOthers) };
    if !text.starts_with(HEAD) {
        return Ok(Found::OfOthers);
    }
    let control = parse(&text);
    let damaged = || {
        format!(
            "`{}` is damaged: remove what lies in `{}` yourself, or name another anchor",
            path.display(),
            anchor.display()
        )
    };
    Ok(Found::Ours(Box::new(control.ok_or_else(damaged)?)))
}

fn parse(text: &str) -> Option<Control> {
    let (body, sum) = text.trim_end().rsplit_once("\nsum=")?;
    if u64::from_str_radix(sum, 16).ok()? != checksum(body.as_bytes()) {
        return None;
    }
    let mut structure = TreeSpec::default();
    let mut contents = Contents::default();
    let mut is_closed = false;
    for line in body.lines().skip(1) {
        let (key, value) = line.split_once('=')?;
        match key {
            "file_mask" => value.clone_into(&mut structure.file_mask),
            "folder_mask" => value.clone_into(&mut structure.folder_mask),
            "state" => is_closed = value == "closed",
            "folders" => contents.folders = parse_runs(value)?,
            "files" => contents.files = parse_runs(value)?,
            "depth" => parse_structure(line, &mut structure)?,
            _ => return None,
        }
    }
    Some(Control { structure, contents: is_closed.then_some(contents) })
}

fn parse_structure(line: &str, structure: &mut TreeSpec) -> Option<()> {
    for word in line.split(' ') {
        let (key, value) = word.split_once('=')?;
        match key {
            "depth" => structure.depth = value.parse().ok()?,
            "width" => structure.width = value.parse().ok()?,
            "files" => structure.files = value.parse().ok()?,
            "seed" => structure.seed = value.parse().ok()?,
            "distribution" => structure.bottom_only = value == "bottom",
            "sizes" => structure.sizes = parse_sizes(value)?,
            _ => return None,
        }
    }
    Some(())
}

fn parse_sizes(text: &str) -> Option<FileSizes> {
    if let Some(bytes) = text.strip_prefix("average:") {
        return Some(FileSizes::Average(bytes.parse().ok()?));
    }
    if let Ok(bytes) = text.parse() {
        return Some(FileSizes::Fixed(bytes));
    }
    let parts = text.split('+').map(|part| {
        let (bytes, share) = part.split_once('*')?;
        Some((bytes.parse().ok()?, share.parse().ok()?))
    });
    Some(FileSizes::Split(parts.collect::<Option<Vec<_>>>()?))
}

fn parse_runs(text: &str) -> Option<Vec<(u32, u8)>> {
    let runs = text.split(',').filter(|run| !run.is_empty()).map(|run| {
        let (number, letter) = run.split_at_checked(run.len() - 1)?;
        Some((number.parse().ok()?, *letter.as_bytes().first()?))
    });
    runs.collect()
}

/// Returns the letter of a file: `n` is not there, `z` is empty, `p` is written in part, `f` has
/// its whole size.
fn letter(flags: FileFlags) -> u8 {
    match flags {
        FileFlags { exists: false, .. } => b'n',
        FileFlags { is_full: true, .. } => b'f',
        FileFlags { has_data: true, .. } => b'p',
        _ => b'z',
    }
}

fn flags(letter: u8) -> FileFlags {
    FileFlags {
        exists: letter != b'n',
        has_data: matches!(letter, b'p' | b'f'),
        is_full: letter == b'f',
    }
}

impl Contents {
    /// Sets a state of nothing to these contents. Returns false, having set part of them, where
    /// they do not fit the tree.
    pub(super) fn apply(&self, state: &TreeState) -> bool {
        let tree = state.tree();
        let (mut folder, mut file) = (0_u32, 0_u32);
        for (n, letter) in &self.folders {
            for _ in 0..*n {
                if folder >= tree.n_folders() {
                    return false;
                }
                state.set_folder(folder, *letter == b'e');
                folder += 1;
            }
        }
        for (n, letter) in &self.files {
            for _ in 0..*n {
                if file >= tree.n_files() {
                    return false;
                }
                let mut flags = flags(*letter);
                flags.has_data &= tree.size_bytes(file) > 0;
                state.set_file(file, flags);
                file += 1;
            }
        }
        folder == tree.n_folders() && file == tree.n_files()
    }
}

/// Writes the control file of an anchor: with the contents of a state, or saying that they are
/// about to change.
pub(super) fn write(
    anchor: &Path,
    structure: &TreeSpec,
    contents: Option<&TreeState>,
) -> std::io::Result<()> {
    let TreeSpec { file_mask, folder_mask, .. } = structure;
    let state = if contents.is_some() { "closed" } else { "open" };
    let mut text = format!(
        "{HEAD}\n{}\nfile_mask={file_mask}\nfolder_mask={folder_mask}\nstate={state}",
        describe(structure)
    );
    if let Some(state) = contents {
        let tree = state.tree();
        let folder_letter = |folder| if state.has_folder(folder) { b'e' } else { b'n' };
        text.push_str("\nfolders=");
        push_runs((0..tree.n_folders()).map(folder_letter), &mut text);
        text.push_str("\nfiles=");
        push_runs((0..tree.n_files()).map(|file| letter(state.file(file))), &mut text);
    }
    let sum = checksum(text.as_bytes());
    let _infallible = writeln!(text, "\nsum={sum:016x}");
    let (new, path) = (anchor.join(NEW_NAME), anchor.join(NAME));
    let written = put(&new, &text, true).and_then(|()| std::fs::rename(&new, &path));
    if written.is_err() {
        let _may_be_missing = std::fs::remove_file(&new);
    }
    match written {
        // A full disk has no room for another file, but this text is shorter than what is there.
        Err(error) if is_full(&error) && contents.is_none() => put(&path, &text, false),
        written => written,
    }
}

fn is_full(error: &std::io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENOSPC | libc::EDQUOT))
}

/// Writes a text into a file, which is made if `creates`, and makes it durable.
fn put(path: &Path, text: &str, creates: bool) -> std::io::Result<()> {
    let mut options = File::options();
    options.write(true).create(creates).truncate(creates).custom_flags(libc::O_NOFOLLOW);
    let mut file = options.open(path)?;
    file.write_all(text.as_bytes())?;
    file.set_len(text.len() as u64)?;
    file.sync_all()
}

fn push_runs(letters: impl Iterator<Item = u8>, text: &mut String) {
    let mut run = (0_u32, 0_u8);
    let mut push = |(n, letter): (u32, u8)| {
        if n > 0 {
            let _infallible = write!(text, "{n}{},", char::from(letter));
        }
    };
    for letter in letters {
        if letter == run.1 {
            run.0 += 1;
        } else {
            push(run);
            run = (1, letter);
        }
    }
    push(run);
}

/// Finds what was cut off or mixed up, not what was forged.
fn checksum(bytes: &[u8]) -> u64 {
    units::fnv1a(bytes.iter().copied())
}
