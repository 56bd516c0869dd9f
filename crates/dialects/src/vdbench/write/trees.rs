//! What comes back of work on structures of files.

use std::collections::BTreeSet;

use plan::Job;
use plan::op::OpKind;
use plan::tree::{Activity, FileIo, TreeSpec, TreeTask, TreeWork};

use super::words::{io_word, operation_word, rounded, select_words, size_words};
use crate::translation::Translation;

/// What a task has noted of itself is kept under these names.
pub(super) const READ_PCT: &str = "tree:read_pct";
pub(super) const MASKS: &str = "tree:masks";
pub(super) const FORMAT: &str = "tree:format";

/// Notes what is not said of one kind of operation and the structure it works on.
pub(super) fn losses(
    was: &TreeWork,
    task: &TreeTask,
    is_job: &Job,
    noted: &BTreeSet<&'static str>,
    to: &mut Translation,
) {
    let Some(is) = &is_job.tree else {
        to.lose(format!("work on a structure of files in `{}`", was.tree.anchor));
        return;
    };
    structure(&was.tree, &is.tree, noted, to);
    match (&was.target, &is.target) {
        (Some(was), Some(is)) => structure(was, is, noted, to),
        (Some(target), None) => to.lose(format!("`target={}`", target.anchor)),
        (None, _) => {}
    }
    if was.open != is.open {
        to.lose(format!("how files in `{}` are opened: {:?}", was.tree.anchor, was.open));
    }
    let Activity::Operations(tasks) = &is.activity else { return };
    let [is_task] = &tasks[..] else { return };
    operation(task, is_task, noted, to);
}

fn operation(was: &TreeTask, is: &TreeTask, noted: &BTreeSet<&'static str>, to: &mut Translation) {
    let moves = was.moves_bytes();
    let pct = |task: &TreeTask| match (task.operation, task.read_pct) {
        (_, Some(pct)) => Some(pct),
        (OpKind::Read, None) => Some(100.0),
        (OpKind::Write, None) => Some(0.0),
        _ => None,
    };
    let is_kind_kept = match (pct(was), pct(is)) {
        (Some(was), Some(is)) => (was - is).abs() < 0.011,
        (None, None) => was.operation == is.operation,
        (Some(_), None) | (None, Some(_)) => false,
    };
    let io = |task: &TreeTask| match task.io {
        // Removing a file first is a walk from its start.
        FileIo::Sequential { delete: true, .. } => {
            FileIo::Sequential { nonzero: false, delete: true }
        }
        io => io,
    };
    let stop = was.stop_after.map(|it| format!("{it:?}")).unwrap_or_default();
    let select = was.select == is.select || select_words(&was.select) == select_words(&is.select);
    let size = size_words(&was.block_size) == size_words(&is.block_size);
    let kind = match was.read_pct {
        Some(pct) => format!("rdpct={}", rounded(pct)),
        None => format!("operation={}", operation_word(was.operation)),
    };
    for (is_kept, text) in [
        (is_kind_kept || noted.contains(READ_PCT), kind),
        (!moves || io(was) == io(is), format!("fileio={}", io_word(was.io))),
        (!moves || size, format!("xfersize={}", size_words(&was.block_size))),
        (select, format!("fileselect={}", select_words(&was.select))),
        (was.stop_after == is.stop_after, format!("stopafter={stop}")),
    ] {
        if !is_kept {
            to.lose(format!("`{text}`"));
        }
    }
}

fn structure(was: &TreeSpec, is: &TreeSpec, noted: &BTreeSet<&'static str>, to: &mut Translation) {
    let masks = |it: &TreeSpec| (it.file_mask.clone(), it.folder_mask.clone());
    for (is_kept, text) in [
        (was.anchor == is.anchor, format!("anchor={}", was.anchor)),
        (was.create_parents == is.create_parents || is.create_parents, "create_anchors".to_owned()),
        (was.depth == is.depth, format!("depth={}", was.depth)),
        (was.width == is.width, format!("width={}", was.width)),
        (was.files == is.files, format!("files={}", was.files)),
        (was.bottom_only == is.bottom_only, "distribution=".to_owned()),
        (was.sizes == is.sizes, format!("sizes={:?}", was.sizes)),
        (was.total_bytes == is.total_bytes, format!("totalsize={}", was.total_bytes)),
        (
            was.working_set_bytes == is.working_set_bytes,
            format!("workingsetsize={}", was.working_set_bytes),
        ),
        (was.seed == is.seed, format!("seed of the structure {}", was.seed)),
        (
            was.share == is.share || is.share.1 <= 1,
            format!("host {} of {}", was.share.0, was.share.1),
        ),
        (masks(was) == masks(is) || noted.contains(MASKS), format!("mask={}", was.file_mask)),
    ] {
        if !is_kept {
            to.lose(format!("`{text}` of `{}`", was.anchor));
        }
    }
}

/// A format that was written.
#[derive(Debug)]
pub(super) struct WrittenFormat {
    pub(super) work: TreeWork,
    pub(super) n_threads: u32,
    pub(super) noted: BTreeSet<&'static str>,
}

/// Notes what is not said of a format.
pub(super) fn format_losses(was: &WrittenFormat, formats: &[Job], to: &mut Translation) {
    let anchor = &was.work.tree.anchor;
    let of = |job: &&Job| job.tree.as_ref().is_some_and(|it| it.tree.anchor == *anchor);
    let alike = formats.iter().filter(of);
    let is_same = |job: &Job| {
        job.tree.as_ref().is_some_and(|it| it.activity == was.work.activity)
            && job.n_workers == was.n_threads
    };
    let Some(job) = alike.clone().find(|job| is_same(job)).or(alike.clone().next()) else {
        to.lose(format!("the format of `{anchor}`"));
        return;
    };
    if !is_same(job) && !was.noted.contains(FORMAT) {
        to.lose(format!("how `{anchor}` is formatted: {:?}", was.work.activity));
    }
    if let Some(is) = &job.tree {
        structure(&was.work.tree, &is.tree, &was.noted, to);
    }
}
