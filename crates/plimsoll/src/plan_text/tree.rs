//! What a job does in a structure of files, in words.

use plan::Job;
use plan::op::OpKind;
use plan::tree::{
    Activity, Before, FileIo, FileSizes, Locality, OwnTrees, SelectFilter, SelectOrder, StopAfter,
    TreeSpec, TreeTask, TreeWork,
};
use units::{format_bytes, format_percent_exact, plural};

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
    if tree.used_files > 0 {
        facts.push(format!("of which {} are made", tree.used_files));
    }
    if tree.bare_folders > 0 {
        facts.push(format!("{} of the folders without files", tree.bare_folders));
    }
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

/// Returns how many processes there are of a component, and at which rate they work.
pub(super) fn processes(job: &Job, own: &OwnTrees) -> Vec<String> {
    let OwnTrees { unit, component: _, n_per_unit } = own;
    let n_units = job.n_workers / (*n_per_unit).max(1);
    let each = format!("{n_per_unit} for each of {} of {unit}", plural(n_units, "unit"));
    let mut facts = vec![process_words(job.n_workers), each];
    if let Some(rate) = job.load.rate_total_iops {
        let own = rate / f64::from(job.n_workers.max(1));
        facts.push(format!("{} operations per second each", (own * 100.0).round() / 100.0));
        facts.push(format!("{} in all", (rate * 100.0).round() / 100.0));
        if job.load.rate_closed {
            facts.push("closed: what is late is not made up".to_owned());
        }
    }
    facts
}

fn process_words(n: u32) -> String {
    if n == 1 { "1 process".to_owned() } else { format!("{n} processes") }
}

/// Returns what units of a composite workload come to in a step: their processes, and the rate of
/// all or what is laid out; nothing of other steps.
pub(super) fn units(jobs: &[Job]) -> Vec<String> {
    let of_units = jobs.iter().filter_map(|job| {
        let work = job.tree.as_ref()?;
        Some((job, work, work.tree.own.as_ref()?))
    });
    let of_units: Vec<_> = of_units.collect();
    let Some((job, _, own)) = of_units.first() else { return Vec::new() };
    let n_units = (job.n_workers / own.n_per_unit.max(1)).max(1);
    let n_processes: u32 = of_units.iter().map(|(job, ..)| job.n_workers).sum();
    let bytes = of_units.iter().map(|(job, work, _)| match work.activity {
        Activity::Format(_) => {
            let files = work.tree.used_files as f64 * work.tree.sizes.mean_bytes();
            files * f64::from(job.n_workers)
        }
        Activity::Operations(_) => 0.0,
    });
    let bytes: f64 = bytes.sum();
    let rate: f64 = of_units.iter().filter_map(|(job, ..)| job.load.rate_total_iops).sum();
    let mut facts =
        vec![format!("{} of {}", plural(n_units, "unit"), own.unit), process_words(n_processes)];
    if bytes > 0.0 {
        let each = format_bytes((bytes / f64::from(n_units)) as u64);
        facts.push(format!("files of {each} each, {} in all", format_bytes(bytes as u64)));
    }
    if rate > 0.0 {
        facts.push(format!("{} operations per second", (rate * 100.0).round() / 100.0));
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
                _ => format!(" ({})", format_percent_exact(task.weight / total, 2)),
            };
            tasks.iter().map(|task| format!("{}{}", task_words(task), share(task))).collect()
        }
    }
}

/// Returns whether a task works at the end of files.
fn ends_files(task: &TreeTask) -> bool {
    task.before == Before::CutsEnd || task.operation == OpKind::Truncate
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
        let io = if ends_files(task) { "at the end" } else { io };
        let hot = match (task.io, task.hot_places) {
            (FileIo::Random { .. }, Some(hot)) if !ends_files(task) => {
                let Locality { ops_pct, of_pct } = hot;
                format!(", {ops_pct} % of them in the first {of_pct} % of a file")
            }
            (FileIo::Random { .. } | FileIo::Sequential { .. }, _) => String::new(),
        };
        words = format!("{words} of {} {io}{hot}", block_words(&task.block_size));
    }
    words.push_str(match task.before {
        Before::Nothing => "",
        Before::ReadsPlace => ", read before",
        Before::ReadsOther => ", another file read before",
        Before::CutsEnd => ", cut off before",
    });
    match task.stop_after {
        Some(StopAfter::Ios(n)) => words.push_str(&format!(", {} per file", plural(n, "I/O"))),
        Some(StopAfter::Pct(pct)) => words.push_str(&format!(", {pct} % of each file")),
        None => {}
    }
    let order = match task.select.order {
        SelectOrder::Random => "files at random".to_owned(),
        SelectOrder::Seq => "files in turn".to_owned(),
        SelectOrder::SeqNz => "files in turn from a random one".to_owned(),
        SelectOrder::Poisson(_) | SelectOrder::Skewed(_) => {
            "some files more than others".to_owned()
        }
        SelectOrder::Hot(Locality { ops_pct, of_pct }) => {
            format!("{ops_pct} % of the time the first {of_pct} % of the files")
        }
    };
    let filter = match task.select.filter {
        SelectFilter::Any => "",
        SelectFilter::Present => ", those that are there",
        SelectFilter::Empty => ", those that are empty",
        SelectFilter::Full => ", those that are full",
        SelectFilter::NotFull => ", those that are not full",
    };
    let once = if task.select.once { ", each once" } else { "" };
    format!("{words}, {order}{filter}{once}")
}
