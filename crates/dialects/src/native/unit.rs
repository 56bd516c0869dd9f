//! `[unit]` of a plan: a composite workload. A unit of load is a list of components, each of which
//! is a mix of operations on files of its own, at a rate of its own, by so many processes.
//!
//! It becomes two steps: one that lays out the files of all processes, and one in which they work.
//! A component is one job of each, with a worker for each process, and a tree of files for each
//! worker ([`OwnTrees`]).

use std::collections::BTreeSet;
use std::ops::Range;

use plan::keys::{Findings, Keys};
use plan::tree::{
    Activity, FileSizes, Format, Mixing, OwnTrees, TreeOpen, TreeSpec, TreeTask, TreeWork,
};

use super::mix::{self, Mix};
use super::text::value;
use super::tree_read::{above_0, count_from_1, sizes};
use crate::Overrides;
use crate::sections::RawOption;

/// Most units of load: their folders have four digits.
const LOAD_MAX: u32 = 9999;

/// Most processes of a component over all units, as many as a run has workers.
pub const PROCESSES_MAX: u64 = 65_536;

/// Largest file that is read or written as a whole: it is one transfer, for which each process has
/// a buffer.
const WHOLE_BYTES_MAX: u64 = 64 << 20;

/// Bytes per write while files are laid out.
pub(super) const LAYOUT_BYTES: u32 = 128 << 10;

/// Names of further files per 100, where files are made and removed.
const SPARE_PCT: u32 = 10;

/// Folders that are made and removed, where any are.
const BARE_FOLDERS: u32 = 16;

/// What a plan says of its unit.
pub(super) struct Unit {
    /// How many there are.
    pub(super) load: u32,
    pub(super) components: Vec<Component>,
    /// Keys of all measured jobs: when they begin and end.
    pub(super) options: Vec<(&'static str, String)>,
    /// Where the unit stands.
    pub(super) at: Range<usize>,
}

/// One component.
pub(super) struct Component {
    pub(super) name: String,
    pub(super) name_at: Range<usize>,
    pub(super) n_processes: u32,
    /// Operations per second of each process.
    pub(super) rate: Option<f64>,
    /// What is late because of the operations before is not made up.
    pub(super) is_closed: bool,
    /// Largest I/O, bytes.
    pub(super) block_bytes: u32,
    /// What its processes do.
    pub(super) work: TreeWork,
    /// Parameters of its jobs, by our names.
    pub(super) keys: Vec<RawOption>,
}

/// Reads a unit. `options` makes parameters of the keys that a component does not know.
pub(super) fn read(
    mut keys: Keys<'_>,
    overrides: Option<&Overrides>,
    findings: &mut Findings<'_>,
    options: &mut dyn FnMut(&Keys<'_>, &mut Findings<'_>) -> Vec<RawOption>,
) -> Unit {
    let at = keys.at.clone();
    let name = name(&mut keys, "a unit", findings).0;
    let _of_readers = keys.text("description", findings);
    let anchor = anchor(&mut keys, findings);
    let written = count_from_1(&mut keys, "load", findings).unwrap_or(1);
    if written > LOAD_MAX {
        let text = format!("`load` is {written}, expected at most {LOAD_MAX}");
        findings.error("out-of-range", &at, text);
    }
    let wanted = overrides.and_then(|overrides| overrides.load);
    if wanted.is_some_and(|load| load > LOAD_MAX) {
        findings.error("out-of-range", &at, format!("`--load` is at most {LOAD_MAX}"));
    }
    let load = wanted.unwrap_or(written).min(LOAD_MAX);
    let options_of_time = times(&mut keys, findings);
    let components = keys.tables("component", findings);
    if components.is_empty() {
        findings.error("missing-key", &at, "a unit needs at least one [[unit.component]]");
    }
    keys.finish(findings);
    let place = Place { unit: name, anchor, load };
    let read = components.into_iter().map(|keys| component(keys, &place, findings, options));
    let components: Vec<Component> = read.collect();
    let mut names = BTreeSet::new();
    for component in &components {
        if !names.insert(&component.name) && !component.name.is_empty() {
            let text = format!("two components are named `{}`", component.name);
            findings.error("same-name", &component.name_at, text);
        }
    }
    Unit { load, components, options: options_of_time, at }
}

/// Where units lie, and how many there are.
struct Place {
    unit: String,
    anchor: String,
    load: u32,
}

/// Reads when the measured time begins and ends.
fn times(keys: &mut Keys<'_>, findings: &mut Findings<'_>) -> Vec<(&'static str, String)> {
    let mut options = Vec::new();
    for name in ["runtime", "ramp_time"] {
        match keys.duration(name, findings) {
            Some((time, _)) => options.push((name, format!("{}us", time.as_micros()))),
            None if name == "runtime" && keys.get(name).is_none() => {
                let text =
                    "a unit needs `runtime`, such as \"300s\": its load has no end of its own";
                findings.error("missing-key", &keys.at, text);
            }
            None => {}
        }
    }
    options
}

fn anchor(keys: &mut Keys<'_>, findings: &mut Findings<'_>) -> String {
    let anchor = value(keys.text("anchor", findings));
    if anchor.is_none() && keys.get("anchor").is_none() {
        let text = "a unit needs `anchor`, the folder that holds its files";
        findings.error("missing-key", &keys.at, text);
    }
    anchor.unwrap_or_default().to_owned()
}

/// Reads the name of a folder.
fn name(keys: &mut Keys<'_>, what: &str, findings: &mut Findings<'_>) -> (String, Range<usize>) {
    let Some((name, at)) = keys.text("name", findings) else {
        if keys.get("name").is_none() {
            findings.error("missing-key", &keys.at, format!("{what} needs `name`"));
        }
        return (String::new(), keys.at.clone());
    };
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if name.is_empty() || !name.chars().all(is_plain) {
        let text = format!(
            "`name` is `{name}`: it names folders, so that it consists of letters, digits, `-` \
             and `_`"
        );
        findings.error("bad-value", &at, text);
    }
    (name.to_owned(), at)
}

fn component(
    mut keys: Keys<'_>,
    place: &Place,
    findings: &mut Findings<'_>,
    options: &mut dyn FnMut(&Keys<'_>, &mut Findings<'_>) -> Vec<RawOption>,
) -> Component {
    let at = keys.at.clone();
    let (name, name_at) = name(&mut keys, "a component", findings);
    let instances_at = keys.get("instances").map_or(at.clone(), toml::Spanned::span);
    let n_per_unit = count_from_1(&mut keys, "instances", findings).unwrap_or(1);
    let n_processes = u64::from(n_per_unit) * u64::from(place.load);
    if n_processes > PROCESSES_MAX {
        let text = format!(
            "{} units with {n_per_unit} `instances` are {n_processes} processes, expected at most \
             {PROCESSES_MAX}",
            place.load
        );
        findings.error("out-of-range", &instances_at, text);
    }
    let rate = above_0(&mut keys, "rate", findings);
    let is_closed = is_closed(&mut keys, rate.is_some(), findings);
    let open = TreeOpen {
        direct: keys.flag("direct", findings),
        dsync: keys.flag("dsync", findings),
        fsync_on_close: keys.flag("fsync_on_close", findings),
        raw_bits: 0,
    };
    let mix = mix::read(&mut keys, findings);
    let files = if let Some(keys) = keys.table("files", findings) {
        files(keys, &mix, findings)
    } else {
        let text = "a component needs [unit.component.files], the files that it works on";
        findings.error("missing-key", &at, text);
        TreeSpec::default()
    };
    let Mix { tasks, whole_at, .. } = mix;
    let (largest, block_bytes) = largest(&tasks, &files);
    if let Some(whole_at) = whole_at.filter(|_| largest > WHOLE_BYTES_MAX) {
        let text = format!(
            "`read_file`, `write_file` and `copyfile` move a file in one transfer: the largest \
             has {largest} B, expected at most {WHOLE_BYTES_MAX} B; use `read` and `write`"
        );
        findings.error("out-of-range", &whole_at, text);
    }
    let tree = TreeSpec {
        name: name.clone(),
        anchor: place.anchor.clone(),
        own: Some(OwnTrees { unit: place.unit.clone(), component: name.clone(), n_per_unit }),
        ..files
    };
    let tasks = tasks.into_iter().map(|task| mix::with_whole_files(task, largest)).collect();
    let work = TreeWork {
        tree,
        target: None,
        open,
        activity: Activity::Operations(tasks),
        mixing: Mixing::Dealt,
    };
    let n_processes = n_processes.min(PROCESSES_MAX) as u32;
    let keys = options(&keys, findings);
    Component { name, name_at, n_processes, rate, is_closed, block_bytes, work, keys }
}

/// Reads whether what is late is made up.
fn is_closed(keys: &mut Keys<'_>, has_rate: bool, findings: &mut Findings<'_>) -> bool {
    match keys.text("pacing", findings) {
        None => false,
        Some(("closed", _)) => true,
        Some(("open", at)) => {
            if !has_rate {
                let text = "`pacing` is `open`, and there is no `rate` at which operations are due";
                findings.error("missing-key", &at, text);
            }
            false
        }
        Some((other, at)) => {
            let text = format!("`pacing` is `{other}`, expected `open` or `closed`");
            findings.error("bad-value", &at, text);
            false
        }
    }
}

/// Returns the size of the largest file, and the largest I/O, bytes.
fn largest(tasks: &[TreeTask], files: &TreeSpec) -> (u64, u32) {
    let largest = match &files.sizes {
        FileSizes::Fixed(_) | FileSizes::Average(_) => files.sizes.bytes_max(),
        FileSizes::Split(parts) => {
            parts.iter().filter(|part| part.1 > 0.0).map(|part| part.0).max().unwrap_or(0)
        }
    };
    let of_tasks = tasks.iter().filter(|task| task.moves_bytes());
    let of_tasks = of_tasks.map(|task| task.block_size.max()).max().unwrap_or(1);
    let whole = tasks.iter().any(mix::moves_whole_files);
    let whole = if whole { largest.min(WHOLE_BYTES_MAX) as u32 } else { 1 };
    (largest, of_tasks.max(whole).max(1))
}

/// Reads the name space of a component.
fn files(mut keys: Keys<'_>, mix: &Mix, findings: &mut Findings<'_>) -> TreeSpec {
    let at = keys.at.clone();
    let usual = TreeSpec::default();
    let n_folders = count_from_1(&mut keys, "folders", findings).unwrap_or(1);
    let per_folder = count_from_1(&mut keys, "files_per_folder", findings);
    if per_folder.is_none() && keys.get("files_per_folder").is_none() {
        findings.error("missing-key", &at, "[unit.component.files] needs `files_per_folder`");
    }
    let per_folder = u64::from(per_folder.unwrap_or(1));
    let sizes_at = keys.get("sizes").map_or(at.clone(), toml::Spanned::span);
    let sizes = sizes(&mut keys, findings);
    if sizes.is_none() && keys.get("sizes").is_none() {
        findings.error("missing-key", &at, "[unit.component.files] needs `sizes`");
    }
    let moves_bytes = mix.tasks.iter().any(TreeTask::moves_bytes);
    if moves_bytes && sizes.as_ref().is_some_and(|sizes| sizes.mean_bytes() <= 0.0) {
        let text = "`sizes` leaves all files empty, and the mix reads or writes them";
        findings.error("out-of-range", &sizes_at, text);
    }
    let takes_two = mix.tasks.iter().any(TreeTask::takes_two);
    let has_pairs =
        u64::from(n_folders) * per_folder > 1 && !matches!(sizes, Some(FileSizes::Average(_)));
    if takes_two && !has_pairs {
        let text = "`rename` and `copyfile` need several files of the same size: at least two \
                    files, and `sizes` without `average`";
        findings.error("out-of-range", &sizes_at, text);
    }
    let spare = value(keys.count("spare_pct", findings));
    let spare_pct = spare.unwrap_or(if mix.makes_files { SPARE_PCT.into() } else { 0 });
    let bare = value(keys.count("bare_folders", findings));
    let bare = bare.unwrap_or(if mix.makes_folders { BARE_FOLDERS.into() } else { 0 });
    if mix.makes_files && spare_pct == 0 {
        findings.error(
            "out-of-range",
            &at,
            "`spare_pct` is 0, and the mix needs names of files that are not there",
        );
    }
    if mix.makes_folders && bare == 0 {
        findings.error("out-of-range", &at, "`bare_folders` is 0, and the mix makes folders");
    }
    keys.finish(findings);
    let n_spare = (per_folder * spare_pct.min(1000)).div_ceil(100);
    let bare_folders = bare.min(u64::from(u32::MAX)) as u32;
    let spec = TreeSpec {
        depth: 1,
        width: n_folders.saturating_add(bare_folders),
        files: per_folder + n_spare,
        bare_folders,
        sizes: sizes.unwrap_or(usual.sizes),
        ..TreeSpec::default()
    };
    if spec.n_files().is_none() {
        let text = format!(
            "these are more than {} files or folders of a process; lower `folders` or \
             `files_per_folder`",
            plan::tree::ENTRIES_MAX
        );
        findings.error("out-of-range", &at, text);
    }
    TreeSpec { used_files: u64::from(n_folders) * per_folder, ..spec }
}

impl Component {
    /// Returns the work of the measured step: all names of files are in use.
    pub(super) fn measured(&self) -> TreeWork {
        let tree = TreeSpec { used_files: 0, ..self.work.tree.clone() };
        TreeWork { tree, ..self.work.clone() }
    }

    /// Returns the work that lays the files out: names that are spare stay free.
    pub(super) fn layout(&self) -> TreeWork {
        TreeWork {
            open: TreeOpen::default(),
            activity: Activity::Format(Format {
                clean: false,
                create: true,
                folders_only: false,
                block_bytes: LAYOUT_BYTES,
            }),
            mixing: Mixing::Drawn,
            ..self.work.clone()
        }
    }
}
