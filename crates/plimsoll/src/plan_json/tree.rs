//! What a job does in a tree of files, as JSON: the words are those of our own plans.
//!
//! All fields are named, so that a new one does not compile until it is decided here.

use dialects::native::{before_word, filter_word, io_word, locality_words, order_words};
use plan::tree::{
    Activity, FileSizes, Format, Mixing, OwnTrees, Select, StopAfter, TreeOpen, TreeSpec, TreeTask,
    TreeWork,
};
use serde_json::{Value, json};

use super::block_size_json;

/// Describes the tree, and what is done in it.
pub(super) fn work(work: &TreeWork) -> Value {
    let TreeWork { tree, target, open, activity, mixing } = work;
    let TreeOpen { direct, dsync, fsync_on_close, raw_bits } = *open;
    let (tasks, format) = match activity {
        Activity::Operations(tasks) => (tasks.iter().map(task).collect(), Value::Null),
        Activity::Format(format) => (Vec::new(), format_json(*format)),
    };
    json!({
        "structure": spec(tree),
        "target": target.as_ref().map(spec),
        "open": {
            "direct": direct,
            "dsync": dsync,
            "fsync_on_close": fsync_on_close,
            "open_flag_bits": raw_bits,
        },
        "tasks": tasks,
        "dealt": *mixing == Mixing::Dealt,
        "format": format,
    })
}

fn spec(tree: &TreeSpec) -> Value {
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
        share: (host, n_hosts),
        seed,
        own,
    } = tree;
    json!({
        "name": name,
        "anchor": anchor,
        "create_parents": create_parents,
        "depth": depth,
        "width": width,
        "files": files,
        "files_in_all_folders": !bottom_only,
        "sizes": match sizes {
            FileSizes::Fixed(bytes) => json!({ "bytes": bytes }),
            FileSizes::Average(bytes) => json!({ "average_bytes": bytes }),
            FileSizes::Split(parts) => {
                let part = |(bytes, pct): &(u64, f64)| json!({ "bytes": bytes, "pct": pct });
                json!(parts.iter().map(part).collect::<Vec<_>>())
            }
        },
        "file_mask": file_mask,
        "folder_mask": folder_mask,
        "bare_folders": bare_folders,
        "used_files": used_files,
        "total_bytes": total_bytes,
        "working_set_bytes": working_set_bytes,
        "share": [host, n_hosts],
        "seed": seed,
        "own": own.as_ref().map(|own| {
            let OwnTrees { unit, component, n_per_unit } = own;
            json!({ "unit": unit, "component": component, "per_unit": n_per_unit })
        }),
    })
}

fn task(task: &TreeTask) -> Value {
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
    let Select { order, once, filter } = *select;
    json!({
        "name": name,
        "weight": weight,
        "operation": operation.name(),
        "read_pct": read_pct,
        "io": io_word(*io),
        "select": order_words(order),
        "hot_places": hot_places.map(locality_words),
        "once": once,
        "filter": filter_word(filter),
        "before": before_word(*before),
        "recycles": recycles,
        "block_size": block_size_json(block_size),
        "stop_after": stop_after.map(|after| match after {
            StopAfter::Ios(n_ios) => json!({ "n_ios": n_ios }),
            StopAfter::Pct(pct) => json!({ "pct": pct }),
        }),
    })
}

fn format_json(format: Format) -> Value {
    let Format { clean, create, folders_only, block_bytes } = format;
    json!({
        "clean": clean,
        "create": create,
        "folders_only": folders_only,
        "block_bytes": block_bytes,
    })
}
