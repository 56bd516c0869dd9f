//! `[step.job.tree]` of a plan.

use std::fmt::Write;

use plan::keys::quoted;
use plan::tree::{
    Activity, Before, FileSizes, Format, Mixing, OwnTrees, Select, SelectFilter, StopAfter,
    TreeOpen, TreeSpec, TreeTask, TreeWork,
};
use plan::workload::BlockSize;

use super::tree_words::{before_word, filter_word, io_word, locality_words, order_words};

/// Writes what a job does in a tree, behind the job's parameters.
pub(super) fn work(work: &TreeWork, text: &mut String) {
    // All fields are named here and below, so that none is forgotten.
    let TreeWork { tree, target, open, activity, mixing } = work;
    text.push_str("\n[step.job.tree]\n");
    spec(tree, text);
    let TreeOpen { direct, dsync, fsync_on_close, raw_bits } = *open;
    let flags = [("direct", direct), ("dsync", dsync), ("fsync_on_close", fsync_on_close)];
    for (key, _) in flags.into_iter().filter(|(_, on)| *on) {
        let _ = writeln!(text, "{key} = true");
    }
    if raw_bits > 0 {
        let _ = writeln!(text, "open_flag_bits = {raw_bits}");
    }
    match mixing {
        Mixing::Drawn => {}
        Mixing::Dealt => text.push_str("dealt = true\n"),
    }
    if let Some(target) = target {
        text.push_str("\n[step.job.tree.target]\n");
        spec(target, text);
    }
    match activity {
        Activity::Operations(tasks) => {
            for task in tasks {
                write_task(task, text);
            }
        }
        Activity::Format(format) => {
            text.push_str("\n[step.job.tree.format]\n");
            let Format { clean, create, folders_only, block_bytes } = *format;
            let flags = [("clean", clean), ("create", create), ("folders_only", folders_only)];
            for (key, on) in flags {
                let _ = writeln!(text, "{key} = {on}");
            }
            let _ = writeln!(text, "block_size = \"{block_bytes}B\"");
        }
    }
}

fn spec(tree: &TreeSpec, text: &mut String) {
    let TreeSpec {
        name,
        anchor,
        create_parents,
        depth,
        width,
        files,
        bottom_only,
        bare_folders,
        sizes,
        file_mask,
        folder_mask,
        used_files,
        total_bytes,
        working_set_bytes,
        share,
        seed,
        own,
    } = tree;
    let usual = TreeSpec::default();
    let _ = writeln!(text, "anchor = {}", quoted(anchor));
    for (key, value, usual) in [
        ("name", name, &usual.name),
        ("file_mask", file_mask, &usual.file_mask),
        ("folder_mask", folder_mask, &usual.folder_mask),
    ] {
        if value != usual {
            let _ = writeln!(text, "{key} = {}", quoted(value));
        }
    }
    let _ = writeln!(text, "depth = {depth}\nwidth = {width}\nfiles = {files}");
    let _ = writeln!(text, "sizes = {}", quoted(&sizes_text(sizes)));
    if *create_parents {
        text.push_str("create_parents = true\n");
    }
    if !bottom_only {
        text.push_str("files_in_all_folders = true\n");
    }
    for (key, n) in [("bare_folders", u64::from(*bare_folders)), ("used_files", *used_files)] {
        if n > 0 {
            let _ = writeln!(text, "{key} = {n}");
        }
    }
    if let Some(OwnTrees { unit, component, n_per_unit }) = own {
        let (unit, component) = (quoted(unit), quoted(component));
        let _ = writeln!(
            text,
            "own = {{ unit = {unit}, component = {component}, per_unit = {n_per_unit} }}"
        );
    }
    for (key, bytes) in [("total", total_bytes), ("working_set", working_set_bytes)] {
        if *bytes > 0 {
            let _ = writeln!(text, "{key} = \"{bytes}B\"");
        }
    }
    if *share != usual.share {
        let _ = writeln!(text, "share = [{}, {}]", share.0, share.1);
    }
    if *seed != usual.seed {
        let _ = writeln!(text, "seed = {seed}");
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
    let TreeTask {
        name,
        weight,
        operation,
        read_pct,
        io,
        select,
        hot_places,
        block_size,
        stop_after,
        before,
        recycles,
    } = task;
    text.push_str("\n[[step.job.tree.task]]\n");
    if !name.is_empty() {
        let _ = writeln!(text, "name = {}", quoted(name));
    }
    let _ = writeln!(text, "operation = {}", quoted(operation.name()));
    let _ = writeln!(text, "weight = {weight:?}");
    if let Some(pct) = read_pct {
        let _ = writeln!(text, "read_pct = {pct:?}");
    }
    let Select { order, once, filter } = *select;
    let _ = writeln!(text, "io = \"{}\"", io_word(*io));
    let _ = writeln!(text, "select = \"{}\"", order_words(order));
    if once {
        text.push_str("once = true\n");
    }
    if filter != SelectFilter::Any {
        let _ = writeln!(text, "filter = \"{}\"", filter_word(filter));
    }
    if let Some(hot) = hot_places {
        let _ = writeln!(text, "hot_places = \"{}\"", locality_words(*hot));
    }
    let _ = writeln!(text, "block_size = {}", quoted(&block_size_text(block_size)));
    if *before != Before::Nothing {
        let _ = writeln!(text, "before = \"{}\"", before_word(*before));
    }
    if *recycles {
        text.push_str("recycles = true\n");
    }
    match stop_after {
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
