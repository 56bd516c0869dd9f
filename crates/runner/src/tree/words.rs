//! What went wrong in a tree, in words.

use plan::op::{Op, OpKind};
use plan::tree::{IN_TARGET, TreeWork};
use worker::{Failure, FailureKind, Stuck};

/// Says why a worker on a tree failed.
pub(crate) fn failure_text(work: &TreeWork, failure: &Failure) -> String {
    let reason = std::io::Error::from_raw_os_error(failure.errno);
    let FailureKind::Stuck(stuck) = failure.kind else {
        let Some(op) = &failure.op else { return reason.to_string() };
        let path = path_of(work, op);
        let what = op.kind.name();
        let what = match op.len {
            0 => format!("{what} of `{path}`"),
            len => format!("{what} of {len} B at offset {} of `{path}`", op.offset),
        };
        return match failure.errno {
            libc::ENOSPC => format!("{what}: no space left; free some, or make the tree smaller"),
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

fn stuck_text(work: &TreeWork, stuck: Stuck) -> String {
    let (tree, name) = (&work.tree.name, stuck.operation.name());
    let lacks = match stuck.operation {
        OpKind::Mkdir => "a folder that is missing",
        OpKind::Rmdir => "a folder that is empty",
        OpKind::Create => "a file that is missing in a folder that is there",
        OpKind::Write => "a file to write, or a folder to write one in",
        OpKind::Read | OpKind::Copy | OpKind::Move => "a file that is written in full",
        _ => "a file",
    };
    if stuck.n_tried == 0 {
        let remedy = match stuck.operation {
            OpKind::Mkdir | OpKind::Create => "nothing is left to make",
            _ => "let a format make the tree first",
        };
        return format!("{name}: tree `{tree}` has not {lacks}, and nobody makes one: {remedy}");
    }
    format!(
        "{name}: {} tries in a row found no file or folder of tree `{tree}` that fits; the \
         operation needs {lacks}: use fewer threads or another fileselect, or let other \
         operations keep up",
        stuck.n_tried
    )
}

/// Returns the path of what an operation of a job works on.
pub(crate) fn path_of(work: &TreeWork, op: &Op) -> String {
    let is_second = op.file.0 & IN_TARGET != 0;
    let number = op.file.0 & !IN_TARGET;
    let spec = if is_second { work.target.as_ref().unwrap_or(&work.tree) } else { &work.tree };
    let Ok(tree) = pattern::tree::Tree::new(spec) else { return spec.anchor.clone() };
    let mut path = Vec::new();
    match op.kind {
        OpKind::Mkdir | OpKind::Rmdir if number < tree.n_folders() => {
            tree.push_folder_path(number, &mut path);
        }
        _ if number < tree.n_files() => tree.push_file_path(number, &mut path),
        _ => {}
    }
    format!("{}/{}", spec.anchor.trim_end_matches('/'), String::from_utf8_lossy(&path))
}
