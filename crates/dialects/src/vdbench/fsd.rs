//! File system definitions.

use std::collections::{HashMap, HashSet};

use super::findings::{Findings, Place};
use super::general::begins_with_y;
use super::openflags::open_flags;
use super::params::Param;
use super::repeat;
use super::run::OpenFlags;
use super::scan::Scan;
use super::section::Meaning::{Begin, Int, Nothing, Own, Same};
use super::section::Name::{Any, Full, Stem};
use super::section::{self, Definition, Section};
use super::sense::{BYTES, COUNT, FREE};

type Row = section::Row<FsdEntry>;

/// Most files of one folder.
const FILES_PER_FOLDER_MAX: i64 = 10_000_000;

/// A file system definition as written.
#[derive(Clone, Debug)]
pub(super) struct FsdEntry {
    pub(super) name: String,
    pub(super) place: Place,
    pub(super) anchor: String,
    pub(super) depth: i64,
    pub(super) width: i64,
    pub(super) files: i64,
    pub(super) bottom_only: bool,
    /// One size; sizes and percentages; or an average and 0.
    pub(super) sizes: Vec<f64>,
    /// `None` is all.
    pub(super) total_bytes: Option<i64>,
    /// 0 is all.
    pub(super) working_set_bytes: i64,
    pub(super) is_shared: bool,
    pub(super) mask: Option<(String, String)>,
    pub(super) open: OpenFlags,
    count: Option<(i64, i64)>,
    written: Vec<&'static str>,
}

impl Default for FsdEntry {
    fn default() -> Self {
        FsdEntry {
            name: "default".to_owned(),
            place: Place::NONE,
            anchor: String::new(),
            depth: 1,
            width: 1,
            files: 10,
            bottom_only: true,
            sizes: vec![4096.0],
            total_bytes: None,
            working_set_bytes: 0,
            is_shared: false,
            mask: None,
            open: OpenFlags::default(),
            count: None,
            written: Vec::new(),
        }
    }
}

pub(super) static SECTION: Section<FsdEntry> = Section {
    name: "fsd",
    what: "a file system definition: a structure of folders and files",
    ends: &["rd", "wd", "fwd", "sd"],
    lead: "fsd=fsd1,anchor=/data/t",
    rows: &[
        Row::new(Full("fsd"), Begin).set_where_written().doc(
            "name or default",
            "Begins a file system definition; fsd=default sets what later ones have.",
            "fsd=fsd1,anchor=/data/t,depth=2,width=4,files=100,sizes=64k",
        ),
        Row::new(Any("anchor"), Own(FREE, anchor)).set_where_written().doc(
            "folder; required",
            "The folder that holds the structure. It is made if it is not there.",
            "fsd=fsd1,anchor=/data/tree",
        ),
        Row::new(Any("journal"), Nothing).doc(
            "folder",
            "Where the journal of data validation lies, which does not run yet.",
            "journal=/tmp",
        ),
        Row::new(Any("host"), Own(FREE, no_host)).set_where_written().doc(
            "none",
            "A mistake here: fwd.host says where work runs.",
            "fwd=fwd1,fsd=fsd1,host=host1",
        ),
        Row::new(Full("hd"), Same("host")),
        Row::new(Any("width"), Int(COUNT, |it, n_folders| it.width = n_folders)).doc(
            "folders; 1",
            "Folders in each folder.",
            "width=8",
        ),
        Row::new(Any("depth"), Int(COUNT, |it, n_levels| it.depth = n_levels)).doc(
            "levels; 1",
            "Levels of folders below the anchor.",
            "depth=3",
        ),
        Row::new(Any("sizes"), Own(BYTES, sizes)).doc(
            "bytes; (bytes,pct,..); (average,0); 4k",
            "File sizes: one, several with their percentages, or random ones around an average.",
            "sizes=(4k,50,1m,50)",
        ),
        Row::new(Any("shared"), Own(FREE, shared)).doc(
            "yes or no; no",
            "Several hosts use the structure: each every n-th file.",
            "shared=yes",
        ),
        Row::new(Any("wss"), Same("workingsetsize")),
        Row::new(Any("workingsetsize"), Own(BYTES, working_set)).set_where_written().doc(
            "bytes, or (bytes,divisor); all",
            "Works on a random part of the files that holds this.",
            "workingsetsize=1g",
        ),
        Row::new(Any("total_size"), Same("totalsize")),
        Row::new(Any("totalsize"), Own(FREE, total_size)).set_where_written().doc(
            "bytes; all",
            "Uses only as many files as hold this.",
            "totalsize=10g",
        ),
        Row::new(Any("files"), Int(COUNT, |it, n_files| it.files = n_files)).doc(
            "count; 10",
            "Files in each folder that holds any.",
            "files=1000",
        ),
        Row::new(Any("distribution"), Own(FREE, distribution)).doc(
            "bottom or all; bottom",
            "Whether only the lowest folders hold files, or all of them.",
            "distribution=all",
        ),
        Row::new(Any("cleanup"), Own(FREE, no_cleanup)).doc(
            "any",
            "No parameter any more, and a mistake: rd.format= says it.",
            "cleanup=yes",
        ),
        Row::new(Any("openflags"), Own(FREE, |it, p, s| it.open = open_flags(p, s))).doc(
            "as sd.openflags; none",
            "How its files are opened.",
            "openflags=o_direct",
        ),
        Row::new(Full("log"), Nothing).doc("any", "Undocumented; without effect.", "log=x"),
        Row::new(Any("count"), Own(FREE, |it, p, s| it.count = repeat::count(p, s)))
            .set_where_written()
            .doc(
                "(first,how many)",
                "Makes so many definitions: the number goes to the end of name and anchor.",
                "fsd=fsd,anchor=/data/t,count=(1,4)",
            ),
        Row::new(Full("dedupratio"), Own(FREE, no_dedup)).set_where_written().doc(
            "ratio",
            "Deduplication is a general parameter, and a mistake here.",
            "dedupratio=2,dedupunit=4k",
        ),
        Row::new(Stem("dedup"), Own(FREE, no_dedup)).set_where_written(),
        Row::new(Full("mask"), Own(FREE, mask)).doc(
            "(file,folder); vdb_f%04d.file, vdb.%d_%d.dir",
            "Names of files and folders; they begin with vdb and end in .file and .dir.",
            "mask=(vdb%d.file,vdb%d_%d.dir)",
        ),
        // For `--set`, which wants keywords in full.
        Row::new(Full("size"), Same("sizes")),
    ],
};

/// Reads the file system definitions.
pub(super) fn read(scan: &mut Scan<'_>) -> Vec<FsdEntry> {
    let mut fsds = SECTION.read(scan).all;
    for entry in &fsds {
        check(entry, scan);
    }
    check_anchors(&mut fsds, scan);
    repeat_all(&mut fsds, &mut scan.findings);
    fsds
}

impl Definition for FsdEntry {
    fn begin(default: &Self, param: &Param, scan: &mut Scan<'_>) -> Self {
        scan.known.is_files = true;
        let name = scan.name_of(param);
        if scan.known.general.settings.validate && name.len() > 8 && name != "default" {
            let message = format!("with data validation an FSD name has at most 8 bytes: {name}");
            scan.findings.error(param.place, "wrong-name", message);
        }
        FsdEntry { name, place: param.place, written: Vec::new(), ..default.clone() }
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn write(&mut self, key: &'static str) {
        self.written.push(key);
    }

    fn is_set(&self, row: &Row, _: bool) -> bool {
        row.is_set(&self.written)
    }
}

fn anchor(entry: &mut FsdEntry, param: &Param, scan: &mut Scan<'_>) {
    let anchor = param.word(&mut scan.findings).unwrap_or_default();
    entry.anchor = scan.remap(anchor);
}

fn sizes(entry: &mut FsdEntry, param: &Param, scan: &mut Scan<'_>) {
    if param.number(&mut scan.findings).is_some() {
        entry.sizes.clone_from(&param.values.numbers);
    }
}

fn shared(entry: &mut FsdEntry, param: &Param, scan: &mut Scan<'_>) {
    entry.is_shared = begins_with_y(param.word(&mut scan.findings).unwrap_or("no"));
}

fn working_set(entry: &mut FsdEntry, param: &Param, scan: &mut Scan<'_>) {
    entry.working_set_bytes = scan.divided(param);
}

fn total_size(entry: &mut FsdEntry, param: &Param, scan: &mut Scan<'_>) {
    let size = scan.divided(param);
    if size < 0 {
        scan.wrong(param, "bytes: a percentage is only for run definitions");
    }
    entry.total_bytes = Some(size);
}

fn distribution(entry: &mut FsdEntry, param: &Param, scan: &mut Scan<'_>) {
    match param.word(&mut scan.findings) {
        Some("bottom") => entry.bottom_only = true,
        Some("all") => entry.bottom_only = false,
        _ => scan.wrong(param, "bottom or all"),
    }
}

fn no_host(_: &mut FsdEntry, param: &Param, scan: &mut Scan<'_>) {
    let message = "no 'host=' parameter is allowed for a file system definition";
    let help = "write `host=` into the workload definition (`fwd=`)";
    scan.findings.error_help(param.key_place, "not-in-fsd", message, help);
}

fn no_cleanup(_: &mut FsdEntry, param: &Param, scan: &mut Scan<'_>) {
    let message = "'cleanup=' parameter is obsolete";
    scan.findings.error_help(param.key_place, "not-in-fsd", message, "use `format=` of the run");
}

fn no_dedup(_: &mut FsdEntry, param: &Param, scan: &mut Scan<'_>) {
    let message = "file system definitions have no dedup parameters of their own";
    let help = "write them before the first definition, for everything";
    scan.findings.error_help(param.key_place, "not-in-fsd", message, help);
}

fn mask(entry: &mut FsdEntry, param: &Param, scan: &mut Scan<'_>) {
    let mask = match param.values.words.as_slice() {
        [file] => Some((file.clone(), "vdb.%d_%d.dir".to_owned())),
        [file, folder] => Some((file.clone(), folder.clone())),
        _ => None,
    };
    let is_fine = |(file, folder): &(String, String)| {
        file.starts_with("vdb")
            && folder.starts_with("vdb")
            && file.strip_suffix(".file").is_some()
            && folder.strip_suffix(".dir").is_some()
    };
    entry.mask = mask.filter(is_fine);
    if entry.mask.is_none() {
        scan.wrong(param, "masks that begin with `vdb` and end in `.file` and `.dir`");
    }
}

fn check(entry: &FsdEntry, scan: &mut Scan<'_>) {
    let is_kind = scan.is_kind();
    let findings = &mut scan.findings;
    if entry.anchor.is_empty() {
        findings.error_help(
            entry.place,
            "missing-anchor",
            format!("directory name required for fsd={}", entry.name),
            "write `anchor=` with a folder",
        );
    }
    if is_kind && (entry.depth < 1 || entry.width < 1) {
        let message = format!("fsd={}: depth= and width= are at least 1", entry.name);
        findings.error(entry.place, "wrong-value", message);
    }
    if entry.sizes.len() == 2 && entry.sizes[1] == 0.0 {
        return;
    }
    if entry.files <= 0 {
        let message = format!("fsd={}: 'files=' must be greater than zero", entry.name);
        findings.error(entry.place, "wrong-value", message);
    }
    if entry.files > FILES_PER_FOLDER_MAX {
        let message = format!("fsd={}: more than 10 million files in a single folder", entry.name);
        findings.error_help(entry.place, "too-many-files", message, "add folders");
    }
    if entry.sizes.len() == 1 {
        return;
    }
    let total: f64 = entry.sizes.iter().skip(1).step_by(2).sum();
    if !entry.sizes.len().is_multiple_of(2) || total as i64 != 100 {
        findings.error_help(
            entry.place,
            "wrong-sizes",
            format!("fsd={}: percentages of 'sizes=' must add up to 100", entry.name),
            "write one size, or pairs such as (4k,70,8k,30)",
        );
    }
}

/// Writes an anchor in one way wherever several definitions name it.
fn unite_anchors(fsds: &mut [FsdEntry], scan: &Scan<'_>) {
    let mut first_ways: HashMap<String, String> = HashMap::new();
    for entry in fsds.iter_mut().filter(|entry| !entry.anchor.is_empty()) {
        let real = scan.loader.real_path(&entry.anchor);
        let first = first_ways.entry(real).or_insert_with(|| entry.anchor.clone());
        entry.anchor.clone_from(first);
    }
}

/// An anchor may not lie within another.
fn check_anchors(fsds: &mut [FsdEntry], scan: &mut Scan<'_>) {
    if scan.is_kind() {
        unite_anchors(fsds, scan);
    }
    let folder = |anchor: &str| {
        let real = scan.is_kind().then(|| scan.loader.real_path(anchor));
        format!("{}/", real.as_deref().unwrap_or(anchor))
    };
    let mut anchors: Vec<(String, usize)> = (fsds.iter().enumerate())
        .filter(|(_, entry)| !entry.anchor.is_empty())
        .map(|(idx, entry)| (folder(&entry.anchor), idx))
        .collect();
    anchors.sort();
    for pair in anchors.windows(2) {
        if pair[0].0 != pair[1].0 && pair[1].0.starts_with(&pair[0].0) {
            let (outer, inner) = (&fsds[pair[0].1], &fsds[pair[1].1]);
            let message = format!(
                "anchors may not be parents or children of each other: fsd={} and fsd={}",
                outer.name, inner.name
            );
            let help = "give each file system definition a folder of its own";
            scan.findings.error_help(inner.place, "nested-anchors", message, help);
        }
    }
}

/// Carries `count=` out, and looks for equal names.
fn repeat_all(fsds: &mut Vec<FsdEntry>, findings: &mut Findings) {
    let (mut plain, mut doubles) = (HashSet::new(), Vec::new());
    for entry in fsds.iter() {
        let name = entry.name.to_ascii_lowercase();
        if plain.contains(&name) {
            doubles.push((entry.name.clone(), entry.place));
        }
        if entry.count.is_none() {
            plain.insert(name);
        }
    }
    repeat::carry_out(
        fsds,
        |entry| entry.count,
        |entry, numbers, n_others| {
            if n_others + (numbers.end - numbers.start) as usize > repeat::DEFINITIONS_MAX {
                findings.too_many(entry.place, "file system definitions", repeat::DEFINITIONS_MAX);
                return Vec::new();
            }
            let copy = |number: i64| FsdEntry {
                count: None,
                name: format!("{}{number}", entry.name),
                anchor: format!("{}{number}", entry.anchor),
                ..entry.clone()
            };
            numbers.map(copy).collect()
        },
    );
    let mut names = HashSet::new();
    for entry in fsds.iter() {
        if !names.insert(&entry.name) && doubles.iter().all(|(name, _)| *name != entry.name) {
            doubles.push((entry.name.clone(), entry.place));
        }
    }
    for (name, place) in doubles {
        let message = format!("duplicate FSD names not allowed: {name}");
        let help = "give each file system definition a name of its own";
        findings.error_help(place, "duplicate-name", message, help);
    }
}
