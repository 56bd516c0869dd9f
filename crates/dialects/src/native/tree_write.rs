//! `[step.job.tree]` of a plan.

use std::fmt::Write;

use plan::tree::{
    Activity, FileIo, FileSizes, SelectFilter, SelectOrder, StopAfter, TreeSpec, TreeTask, TreeWork,
};
use plan::workload::BlockSize;

use super::text::quoted;
use super::tree_words::{FILTERS, IO, ORDERS, word_for};

/// Writes what a job does in a tree, behind the job's parameters.
pub(super) fn work(work: &TreeWork, text: &mut String) {
    text.push_str("\n[step.job.tree]\n");
    spec(&work.tree, text);
    let open = &work.open;
    let flags =
        [("direct", open.direct), ("dsync", open.dsync), ("fsync_on_close", open.fsync_on_close)];
    for (key, _) in flags.into_iter().filter(|(_, on)| *on) {
        let _ = writeln!(text, "{key} = true");
    }
    if open.raw_bits > 0 {
        let _ = writeln!(text, "open_flag_bits = {}", open.raw_bits);
    }
    if let Some(target) = &work.target {
        text.push_str("\n[step.job.tree.target]\n");
        spec(target, text);
    }
    match &work.activity {
        Activity::Operations(tasks) => {
            for task in tasks {
                write_task(task, text);
            }
        }
        Activity::Format(format) => {
            text.push_str("\n[step.job.tree.format]\n");
            let flags = [
                ("clean", format.clean),
                ("create", format.create),
                ("folders_only", format.folders_only),
            ];
            for (key, on) in flags {
                let _ = writeln!(text, "{key} = {on}");
            }
            let _ = writeln!(text, "block_size = \"{}B\"", format.block_bytes);
        }
    }
}

fn spec(tree: &TreeSpec, text: &mut String) {
    let usual = TreeSpec::default();
    let _ = writeln!(text, "anchor = {}", quoted(&tree.anchor));
    for (key, value, usual) in [
        ("name", &tree.name, &usual.name),
        ("file_mask", &tree.file_mask, &usual.file_mask),
        ("folder_mask", &tree.folder_mask, &usual.folder_mask),
    ] {
        if value != usual {
            let _ = writeln!(text, "{key} = {}", quoted(value));
        }
    }
    let (depth, width, files) = (tree.depth, tree.width, tree.files);
    let _ = writeln!(text, "depth = {depth}\nwidth = {width}\nfiles = {files}");
    let _ = writeln!(text, "sizes = {}", quoted(&sizes_text(&tree.sizes)));
    if tree.create_parents {
        text.push_str("create_parents = true\n");
    }
    if !tree.bottom_only {
        text.push_str("files_in_all_folders = true\n");
    }
    for (key, bytes) in [("total", tree.total_bytes), ("working_set", tree.working_set_bytes)] {
        if bytes > 0 {
            let _ = writeln!(text, "{key} = \"{bytes}B\"");
        }
    }
    if tree.share != usual.share {
        let _ = writeln!(text, "share = [{}, {}]", tree.share.0, tree.share.1);
    }
    if tree.seed != usual.seed {
        let _ = writeln!(text, "seed = {}", tree.seed);
    }
}

fn sizes_text(sizes: &FileSizes) -> String {
    match sizes {
        FileSizes::Fixed(bytes) => format!("{bytes}B"),
        FileSizes::Average(bytes) => format!("average {bytes}B"),
        FileSizes::Split(parts) => {
            let words: Vec<String> =
                parts.iter().map(|(bytes, pct)| format!("{bytes}B/{pct}")).collect();
            words.join(" ")
        }
    }
}

fn write_task(task: &TreeTask, text: &mut String) {
    text.push_str("\n[[step.job.tree.task]]\n");
    if !task.name.is_empty() {
        let _ = writeln!(text, "name = {}", quoted(&task.name));
    }
    let _ = writeln!(text, "operation = {}", quoted(task.operation.name()));
    let _ = writeln!(text, "weight = {:?}", task.weight);
    if let Some(pct) = task.read_pct {
        let _ = writeln!(text, "read_pct = {pct:?}");
    }
    let io = match task.io {
        FileIo::Sequential { delete: true, .. } => {
            FileIo::Sequential { nonzero: false, delete: true }
        }
        io @ (FileIo::Random { .. } | FileIo::Sequential { .. }) => io,
    };
    let order = task.select.order;
    let kind = std::mem::discriminant(&order);
    let order_word = word_for(&ORDERS, |it| std::mem::discriminant(it) == kind);
    let midpoint = match order {
        SelectOrder::Random | SelectOrder::Seq | SelectOrder::SeqNz => String::new(),
        SelectOrder::Poisson(midpoint) | SelectOrder::Skewed(midpoint) => format!(" {midpoint}"),
    };
    let _ = writeln!(text, "io = \"{}\"", word_for(&IO, |it| *it == io));
    let _ = writeln!(text, "select = \"{order_word}{midpoint}\"");
    if task.select.once {
        text.push_str("once = true\n");
    }
    if task.select.filter != SelectFilter::Any {
        let filter = word_for(&FILTERS, |it| *it == task.select.filter);
        let _ = writeln!(text, "filter = \"{filter}\"");
    }
    let _ = writeln!(text, "block_size = {}", quoted(&block_size_text(&task.block_size)));
    match task.stop_after {
        Some(StopAfter::Ios(n)) => {
            let _ = writeln!(text, "stop_after_ios = {n}");
        }
        Some(StopAfter::Pct(pct)) => {
            let _ = writeln!(text, "stop_after_pct = {pct:?}");
        }
        None => {}
    }
}

fn block_size_text(size: &BlockSize) -> String {
    let joined = |words: Vec<String>| words.join(" ");
    match size {
        BlockSize::Fixed(bytes) => format!("{bytes}B"),
        BlockSize::Range { min, max } => format!("{min}B-{max}B step {min}B"),
        BlockSize::Stepped { min, max, step } => format!("{min}B-{max}B step {step}B"),
        BlockSize::Split(parts) => {
            joined(parts.iter().map(|(bytes, pct)| format!("{bytes}B/{pct}")).collect())
        }
        BlockSize::Weighted(parts) => {
            joined(parts.iter().map(|(bytes, weight)| format!("{bytes}B/{weight}")).collect())
        }
    }
}
