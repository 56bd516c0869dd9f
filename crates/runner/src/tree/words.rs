//! What went wrong in a tree, in words.

use plan::op::{Op, OpKind};
use plan::tree::{Activity, IN_TARGET, SelectFilter, TreeWork};
use units::system_text;
use worker::{Failure, FailureKind, Stuck};

/// Returns why a worker on a tree failed.
pub(crate) fn failure_text(work: &TreeWork, failure: &Failure) -> String {
    let reason = system_text(std::io::Error::from_raw_os_error(failure.errno));
    let FailureKind::Stuck(stuck) = failure.kind else {
        let Some(op) = &failure.op else {
            return match &work.activity {
                Activity::Format(_) if failure.kind == FailureKind::Io => format!(
                    "tree `{}` is not made where another one was removed: {reason}",
                    work.tree.name
                ),
                Activity::Operations(_) | Activity::Format(_) => reason,
            };
        };
        let path = path_of(work, op);
        let what = op.kind.name();
        let what = match op.len {
            0 => format!("{what} of `{path}`"),
            len => format!("{what} of {len} B at offset {} of `{path}`", op.offset),
        };
        return match failure.errno {
            libc::ENOSPC | libc::EDQUOT => {
                format!("{what}: no space left; free some, or make the tree smaller")
            }
            libc::EINVAL if work.open.direct => format!(
                "{what}: refused, as direct I/O is where it does not fit the blocks of the device \
                 or the file system has none"
            ),
            _ if failure.kind == FailureKind::NothingMoved => {
                format!("{what}: nothing moved, the file ends before it")
            }
            _ => format!("{what}: {reason}"),
        };
    };
    stuck_text(work, stuck)
}

/// Returns why work on a tree found nothing to do.
pub(crate) fn stuck_text(work: &TreeWork, stuck: Stuck) -> String {
    let name = stuck.operation.name();
    if stuck.n_tried > 0 {
        return unlucky_text(work, stuck);
    }
    format!("{name}: {}", nothing_text(work, stuck))
}

/// Returns why none that fits can exist.
fn nothing_text(work: &TreeWork, stuck: Stuck) -> String {
    let (tree, there) = (&work.tree.name, stuck.there);
    let n_folders = work.tree.n_folders().unwrap_or(0);
    let n_files = work.tree.n_files().unwrap_or(0);
    match stuck.operation {
        OpKind::Mkdir => {
            format!(
                "all {n_folders} folders of tree `{tree}` exist already: nothing is left to make"
            )
        }
        OpKind::Create if there.n_folders > 0 => {
            format!("all {n_files} files of tree `{tree}` exist already: nothing is left to make")
        }
        OpKind::Create | OpKind::Write if there.n_folders == 0 => format!(
            "none of the {n_folders} folders of tree `{tree}` exists to make files in: let a \
             format make them first"
        ),
        OpKind::Rmdir => format!("no folder of tree `{tree}` exists that could be removed"),
        OpKind::Readdir | OpKind::Statfs | OpKind::Pathconf => {
            format!("no folder of tree `{tree}` exists: let a format make them first")
        }
        _ => {
            let lacks = lacks(stuck);
            let has = has(stuck, n_files);
            let remedy = remedy(stuck);
            format!(
                "tree `{tree}` has no {lacks}, and nothing in this step makes one: {has}; {remedy}"
            )
        }
    }
}

/// Returns what was tried without success.
fn unlucky_text(work: &TreeWork, stuck: Stuck) -> String {
    let (tree, name, n) = (&work.tree.name, stuck.operation.name(), stuck.n_tried);
    let has = has(stuck, work.tree.n_files().unwrap_or(0));
    if let (OpKind::Copy | OpKind::Move, Some(target), Some(spec)) =
        (stuck.operation, stuck.target, &work.target)
        && target.n_folders == 0
    {
        let target = &spec.name;
        return format!(
            "{name}: none of the folders of tree `{target}`, where files of tree `{tree}` go, \
             exists: let a format make them first"
        );
    }
    let what = match stuck.operation {
        OpKind::Mkdir => "folder that is missing",
        OpKind::Rmdir => "folder that is empty",
        OpKind::Create => "file that is missing in a folder that exists",
        OpKind::Rename => "file with a free name for files of its size",
        _ => lacks(stuck),
    };
    let remedy = match stuck.filter {
        SelectFilter::Empty | SelectFilter::NotFull => remedy(stuck),
        SelectFilter::Any | SelectFilter::Present | SelectFilter::Full => {
            "use fewer threads or another fileselect, or let other operations keep up"
        }
    };
    format!(
        "{name}: {n} tries in a row found no {what} in tree `{tree}` that no other worker holds: \
         {has}; {remedy}"
    )
}

/// Names what an operation on files needs.
fn lacks(stuck: Stuck) -> &'static str {
    match (stuck.operation, stuck.filter) {
        (_, SelectFilter::Empty) => "file that is empty (fileselect=empty)",
        (_, SelectFilter::NotFull) => "file that is not full (fileselect=notfull)",
        (_, SelectFilter::Present) => "file that is there",
        (_, SelectFilter::Full) => "file that is written in full (fileselect=full)",
        (
            OpKind::Read
            | OpKind::Copy
            | OpKind::Move
            | OpKind::MapRead
            | OpKind::MapWrite
            | OpKind::Truncate,
            _,
        ) => "file that is written in full",
        (OpKind::Write, _) => "file to write",
        _ => "file",
    }
}

fn has(stuck: Stuck, n_files: u64) -> String {
    let there = stuck.there;
    format!("{} of its {n_files} files exist, {} are full", there.n_files, there.n_full)
}

fn remedy(stuck: Stuck) -> &'static str {
    match stuck.filter {
        SelectFilter::Empty | SelectFilter::NotFull if stuck.there.n_files > 0 => {
            "leave the fileselect out, or let files be created without being written"
        }
        SelectFilter::Empty | SelectFilter::NotFull => {
            "let files be created first (operation create), or leave the fileselect out"
        }
        SelectFilter::Any | SelectFilter::Present | SelectFilter::Full => {
            "let a format make the tree first"
        }
    }
}

/// Returns the path of what an operation of a job works on.
pub(crate) fn path_of(work: &TreeWork, op: &Op) -> String {
    let is_second = op.file.0 & IN_TARGET != 0;
    let number = op.file.0 & !IN_TARGET;
    let spec = if is_second { work.target.as_ref().unwrap_or(&work.tree) } else { &work.tree };
    let Ok(tree) = pattern::tree::Tree::new(spec) else { return spec.anchor.clone() };
    let mut path = Vec::new();
    if op.kind.is_on_folder() {
        if number < tree.n_folders() {
            tree.push_folder_path(number, &mut path);
        }
    } else if number < tree.n_files() {
        tree.push_file_path(number, &mut path);
    }
    format!("{}/{}", spec.anchor.trim_end_matches('/'), String::from_utf8_lossy(&path))
}
