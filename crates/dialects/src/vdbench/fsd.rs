//! File system definitions.

use std::collections::{HashMap, HashSet};

use super::findings::Findings;
use super::general::begins_with_y;
use super::head::Head;
use super::number_rule::{BYTES, COUNT, FREE};
use super::openflags::open_flags;
use super::params::Param;
use super::repeat;
use super::run::OpenFlags;
use super::scan::Scan;
use super::section::Meaning::{Begin, Int, Nothing, Own, Same, Word};
use super::section::Name::{Any, Full, Stem};
use super::section::{self, Definition, Section};

type Row = section::Row<FsdEntry>;

/// Most files of one folder.
const FILES_PER_FOLDER_MAX: i64 = 10_000_000;

with_defaults! {
    /// A file system definition as written.
    #[derive(Clone, Debug)]
    pub(super) struct FsdEntry {
        pub(super) head: Head = Head::default(),
        pub(super) anchor: String = String::new(),
        pub(super) depth: i64 = 1,
        pub(super) width: i64 = 1,
        pub(super) files: i64 = 10,
        pub(super) bottom_only: bool = true,
        /// One size; sizes and percentages; or an average and 0.
        pub(super) sizes: Vec<f64> = vec![4096.0],
        /// `None` is all.
        pub(super) total_bytes: Option<i64> = None,
        /// 0 is all.
        pub(super) working_set_bytes: i64 = 0,
        pub(super) is_shared: bool = false,
        pub(super) mask: Option<(String, String)> = None,
        pub(super) open: OpenFlags = OpenFlags::default(),
        pub(super) journal: Option<String> = None,
        count: Option<(i64, i64)> = None,
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
        Row::new(Any("journal"), Word(|it, folder| it.journal = Some(folder.to_owned()))).doc(
            "folder",
            "Where the journal of data validation lies. The first one that is written is that of \
             all, those of storage definitions before.",
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
            "Names of files and folders; they begin with vdb and end in .file and .dir. Vdbench \
             wants numbers with zeros.",
            "mask=(vdb_f%04d.file,vdb_%02d_%02d.dir)",
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
    fn begin(default: &Self, head: Head, _: &Param, scan: &mut Scan<'_>) -> Self {
        scan.known.is_files = true;
        scan.check_length("an FSD", &head);
        FsdEntry { head, ..default.clone() }
    }

    fn head(&mut self) -> &mut Head {
        &mut self.head
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
    let n_of = |part: &str, (file, folder): &(String, String)| {
        (file.matches(part).count(), folder.matches(part).count())
    };
    let is_framed = |(file, folder): &(String, String)| {
        [file, folder].iter().all(|mask| mask.starts_with("vdb"))
            && file.strip_suffix(".file").is_some()
            && folder.strip_suffix(".dir").is_some()
    };
    let has_zeros = |mask: &(String, String)| matches!(n_of("%0", mask), (1.., 2..));
    let is_kind = scan.is_kind();
    let is_fine = |mask: &(String, String)| {
        is_framed(mask) && if is_kind { n_of("%", mask) == (1, 2) } else { has_zeros(mask) }
    };
    entry.mask = mask.filter(is_fine);
    match &entry.mask {
        None => {
            let wanted = "masks that begin with `vdb` and end in `.file` and `.dir`, with one \
                          number and two: (vdb_f%04d.file,vdb_%02d_%02d.dir)";
            scan.wrong(param, wanted);
        }
        Some(mask) if !has_zeros(mask) => {
            let message = "Vdbench takes numbers with zeros only, such as `%04d`, one in the mask \
                           of files and two in that of folders, which has to be written: it would \
                           end here";
            let help = "write mask=(vdb_f%04d.file,vdb_%02d_%02d.dir) for Vdbench to take it";
            scan.findings.warning(param.place, "mask-without-zeros", message, help);
        }
        Some(_) => {}
    }
}

fn check(entry: &FsdEntry, scan: &mut Scan<'_>) {
    let is_kind = scan.is_kind();
    let findings = &mut scan.findings;
    if entry.anchor.is_empty() {
        let message = format!("directory name required for fsd={}", entry.head.name);
        let help = "write `anchor=` with a folder";
        findings.error_help(entry.head.place, "missing-anchor", message, help);
    }
    if is_kind && (entry.depth < 1 || entry.width < 1) {
        let message = format!("fsd={}: depth= and width= are at least 1", entry.head.name);
        findings.error(entry.head.place, "wrong-value", message);
    }
    if entry.sizes.len() == 2 && entry.sizes[1] == 0.0 {
        return;
    }
    if entry.files <= 0 {
        let message = format!("fsd={}: 'files=' must be greater than zero", entry.head.name);
        findings.error(entry.head.place, "wrong-value", message);
    }
    if entry.files > FILES_PER_FOLDER_MAX {
        let message =
            format!("fsd={}: more than 10 million files in a single folder", entry.head.name);
        findings.error_help(entry.head.place, "too-many-files", message, "add folders");
    }
    if entry.sizes.len() == 1 {
        return;
    }
    let total: f64 = entry.sizes.iter().skip(1).step_by(2).sum();
    if !entry.sizes.len().is_multiple_of(2) || total as i64 != 100 {
        let message =
            format!("fsd={}: percentages of 'sizes=' must add up to 100", entry.head.name);
        let help = "write one size, or pairs such as (4k,70,8k,30)";
        findings.error_help(entry.head.place, "wrong-sizes", message, help);
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
                outer.head.name, inner.head.name
            );
            let help = "give each file system definition a folder of its own";
            scan.findings.error_help(inner.head.place, "nested-anchors", message, help);
        }
    }
}

/// Carries `count=` out, and looks for equal names.
fn repeat_all(fsds: &mut Vec<FsdEntry>, findings: &mut Findings) {
    let (mut plain, mut doubles) = (HashSet::new(), Vec::new());
    for entry in fsds.iter() {
        let name = entry.head.name.to_ascii_lowercase();
        if plain.contains(&name) {
            doubles.push((entry.head.name.clone(), entry.head.place));
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
                findings.too_many(
                    entry.head.place,
                    "file system definitions",
                    repeat::DEFINITIONS_MAX,
                );
                return Vec::new();
            }
            let copy = |number: i64| {
                let mut copy = FsdEntry { count: None, ..entry.clone() };
                copy.head.name.push_str(&number.to_string());
                copy.anchor.push_str(&number.to_string());
                copy
            };
            numbers.map(copy).collect()
        },
    );
    let mut names = HashSet::new();
    for entry in fsds.iter() {
        if !names.insert(&entry.head.name)
            && doubles.iter().all(|(name, _)| *name != entry.head.name)
        {
            doubles.push((entry.head.name.clone(), entry.head.place));
        }
    }
    for (name, place) in doubles {
        let message = format!("duplicate FSD names not allowed: {name}");
        let help = "give each file system definition a name of its own";
        findings.error_help(place, "duplicate-name", message, help);
    }
}
