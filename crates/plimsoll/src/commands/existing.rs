//! Targets that were there before: the same for every command that makes its own jobs. They are
//! written to with `--overwrite` only, and must hold what is to be read.

use std::fs;
use std::os::unix::fs::FileTypeExt;

use units::system_text;

use crate::exit::Failure;

/// Why a target is only read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReadOnly {
    /// `--readonly` is given.
    Asked,
    /// It was there before, and `--overwrite` is not given.
    Kept,
}

impl ReadOnly {
    /// Returns the reason, to stand behind what is not done.
    pub(super) fn words(self) -> &'static str {
        match self {
            ReadOnly::Asked => "`--readonly` is given",
            ReadOnly::Kept => "the target may not be overwritten",
        }
    }

    /// Returns what to do to have it written to.
    pub(super) fn remedy(self) -> &'static str {
        match self {
            ReadOnly::Asked => {
                "leave out `--readonly` to measure writes, too; on a file or device they take \
                 `--overwrite`"
            }
            ReadOnly::Kept => "`--overwrite` measures writes, too; the contents are lost",
        }
    }

    /// Refuses what only writes; `what` names it.
    pub(super) fn refusal(self, what: &str) -> Failure {
        let message = format!("{what}, and {}", self.words());
        let failure = Failure::wrong_use(message).hint(self.remedy());
        match self {
            ReadOnly::Asked => failure,
            ReadOnly::Kept => failure.hint("a folder gets a scratch file of its own"),
        }
    }
}

/// What a target is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExistingTarget {
    /// A folder.
    Folder,
    /// A file of so many bytes.
    File(u64),
    /// A block device of so many bytes.
    Device(u64),
}

/// Finds out what a target is, and whether a file or device can be opened and holds an I/O of
/// `block_bytes`. `smaller` says what makes I/Os smaller; empty where nothing does.
pub(super) fn find(
    target: &str,
    block_bytes: u64,
    smaller: &str,
) -> Result<ExistingTarget, Failure> {
    let facts = fs::metadata(target).map_err(|error| {
        Failure::wrong_use(format!("`{target}`: {}", system_text(&error)))
            .hint("name a folder, a device or a file")
            .hint("`--on DESIGN` takes a path on an emulated volume")
    })?;
    if facts.is_dir() {
        return Ok(ExistingTarget::Folder);
    }
    let is_device = facts.file_type().is_block_device();
    if !is_device && !facts.is_file() {
        let message = format!("`{target}` is neither a folder, nor a file or block device");
        return Err(Failure::wrong_use(message));
    }
    let there_bytes = size_of(target).map_err(|error| {
        Failure::wrong_use(format!("cannot open `{target}`: {}", system_text(&error)))
            .hint("name one that you may read, or ask its owner for the permission")
    })?;
    if there_bytes == 0 {
        let (what, hint) = if is_device {
            ("has no size", "a device that holds nothing cannot be measured")
        } else {
            ("is empty", "name a folder: a scratch file is made in it")
        };
        return Err(Failure::wrong_use(format!("`{target}` {what}")).hint(hint));
    }
    if there_bytes < block_bytes {
        let (there, block) = (units::format_bytes(there_bytes), units::format_bytes(block_bytes));
        let message = format!("`{target}` has {there}, and I/Os of {block} are to be measured");
        let hint = "name a larger one, or a folder: a scratch file is made in it";
        let failure = Failure::wrong_use(message).hint(hint);
        return Err(if smaller.is_empty() { failure } else { failure.hint(smaller) });
    }
    Ok(if is_device {
        ExistingTarget::Device(there_bytes)
    } else {
        ExistingTarget::File(there_bytes)
    })
}

/// Returns the size of a file or device.
fn size_of(path: &str) -> std::io::Result<u64> {
    use std::io::{Seek, SeekFrom};
    fs::File::open(path)?.seek(SeekFrom::End(0))
}

/// Returns whether a target may be written to. `is_ours` is one that the command makes itself, such
/// as a scratch file; files and devices that were there before hold something.
pub(super) fn may_write(is_ours: bool, overwrite: bool) -> bool {
    is_ours || overwrite
}

/// Refuses to write to a target that was there before, unless it may be.
pub(super) fn check_overwrite(target: &str, overwrite: bool) -> Result<(), Failure> {
    if may_write(false, overwrite) {
        return Ok(());
    }
    let message = format!("`{target}` exists and would be overwritten");
    Err(Failure::wrong_use(message)
        .hint("name a folder: a scratch file is made in it")
        .hint("or allow it with --overwrite; its contents are lost"))
}
