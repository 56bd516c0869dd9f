//! What a job does in a structure of files, in words.

use plan::op::OpKind;
use plan::tree::{
    Activity, FileIo, FileSizes, SelectFilter, SelectOrder, StopAfter, TreeSpec, TreeTask, TreeWork,
};
use units::{format_bytes, plural};

use super::{block_words, exact_bytes};

/// Returns which folders and files there are.
pub(super) fn structure(tree: &TreeSpec) -> Vec<String> {
    let mut facts = Vec::new();
    if !tree.name.is_empty() {
        facts.push(tree.name.clone());
    }
    let where_files =
        if tree.bottom_only { "in each of the lowest folders" } else { "in each folder" };
    facts.push(format!("depth {}", tree.depth));
    facts.push(format!("width {}", tree.width));
    facts.push(format!("{} {where_files}", plural(tree.files, "file")));
    if let (Some(n_files), Some(n_folders)) = (tree.n_files(), tree.n_folders()) {
        facts.push(format!("{} in {}", plural(n_files, "file"), plural(n_folders, "folder")));
    }
    facts.push(match &tree.sizes {
        FileSizes::Fixed(bytes) => format!("{} each", exact_bytes(*bytes)),
        FileSizes::Average(bytes) => format!("{} on average", exact_bytes(*bytes)),
        FileSizes::Split(parts) => {
            let words: Vec<String> = parts
                .iter()
                .map(|(bytes, pct)| format!("{} ({pct} %)", exact_bytes(*bytes)))
                .collect();
            format!("sizes {}", words.join(" "))
        }
    });
    if let Some(bytes) = tree.expected_bytes() {
        facts.push(format!("{} in all", format_bytes(bytes as u64)));
    }
    if tree.total_bytes > 0 {
        facts.push(format!("of which {} are used", format_bytes(tree.total_bytes)));
    }
    if tree.working_set_bytes > 0 {
        facts.push(format!("a working set of {}", format_bytes(tree.working_set_bytes)));
    }
    if tree.share.1 > 1 {
        facts.push(format!("every {}. file, from number {}", tree.share.1, tree.share.0 + 1));
    }
    facts
}

/// Returns how files are opened.
pub(super) fn open(work: &TreeWork) -> Vec<String> {
    let open = &work.open;
    let flags = [
        (open.direct, "direct"),
        (open.dsync, "each write's data durable (O_DSYNC)"),
        (open.fsync_on_close, "fsync before closing"),
    ];
    let mut facts: Vec<String> =
        flags.iter().filter(|(on, _)| *on).map(|(_, text)| (*text).to_owned()).collect();
    if facts.is_empty() {
        facts.push("through the page cache".to_owned());
    }
    facts
}

/// Returns what is done, one entry for each operation.
pub(super) fn activity(work: &TreeWork) -> Vec<String> {
    match &work.activity {
        Activity::Format(format) => {
            let mut facts = Vec::new();
            if format.clean {
                facts.push("removes what is there".to_owned());
            }
            if format.create {
                let what = if format.folders_only { "folders" } else { "folders and files" };
                let kept = if format.clean { "makes" } else { "completes" };
                facts.push(format!("{kept} {what}"));
                facts.push(format!("writes of {}", exact_bytes(u64::from(format.block_bytes))));
            }
            facts
        }
        Activity::Operations(tasks) => {
            let total: f64 = tasks.iter().map(|task| task.weight).sum();
            let share = |task: &TreeTask| match tasks.len() {
                1 => String::new(),
                _ => format!(" ({} %)", (1e4 * task.weight / total).round() / 100.0),
            };
            tasks.iter().map(|task| format!("{}{}", task_words(task), share(task))).collect()
        }
    }
}

fn task_words(task: &TreeTask) -> String {
    let mut words = match (task.operation, task.read_pct) {
        (OpKind::Read | OpKind::Write, Some(0.0)) => "write".to_owned(),
        (OpKind::Read | OpKind::Write, Some(100.0)) => "read".to_owned(),
        (OpKind::Read | OpKind::Write, Some(pct)) => {
            format!("{pct} % reads and {} % writes", ((100.0 - pct) * 1e6).round() / 1e6)
        }
        (OpKind::Stat, _) => "getattr".to_owned(),
        (operation, _) => operation.name().to_owned(),
    };
    if task.moves_bytes() {
        let io = match task.io {
            FileIo::Random { shared: false } => "at random places",
            FileIo::Random { shared: true } => "at random places, by several threads at once",
            FileIo::Sequential { delete: true, .. } => "from start to end, then delete",
            FileIo::Sequential { nonzero: true, .. } => "from a random place to the end",
            FileIo::Sequential { .. } => "from start to end",
        };
        words = format!("{words} of {} {io}", block_words(&task.block_size));
    }
    match task.stop_after {
        Some(StopAfter::Ios(n)) => words.push_str(&format!(", {} per file", plural(n, "I/O"))),
        Some(StopAfter::Pct(pct)) => words.push_str(&format!(", {pct} % of each file")),
        None => {}
    }
    let order = match task.select.order {
        SelectOrder::Random => "files at random",
        SelectOrder::Seq => "files in turn",
        SelectOrder::SeqNz => "files in turn from a random one",
        SelectOrder::Poisson(_) | SelectOrder::Skewed(_) => "some files more than others",
    };
    let filter = match task.select.filter {
        SelectFilter::Any => "",
        SelectFilter::Empty => ", those that are empty",
        SelectFilter::Full => ", those that are full",
        SelectFilter::NotFull => ", those that are not full",
    };
    let once = if task.select.once { ", each once" } else { "" };
    format!("{words}, {order}{filter}{once}")
}
